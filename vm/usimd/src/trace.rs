//! Traces in the shape of figure 7: a row for each instruction executed.

use super::Error;
use super::control::{Rule, Step};
use super::machine::{Outcome, RunOptions, run_observed};
use super::program::Inst;
use super::state::{Cell, State};
use super::threads::Threads;
use super::well_formed::WellFormed;
use std::fmt::Write as _;

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The label before the instruction, if any.
    pub label: Option<String>,
    /// The instruction, as it is written.
    pub instruction: String,
    /// By which rule it was executed.
    pub rule: Rule,
    /// The variable it assigns.
    pub variable: Option<String>,
    /// Of each thread: the variable's value, or whether it jumps; empty if there is nothing to say.
    pub values: Vec<Entry>,
    /// The active threads.
    pub active: Threads,
}

/// What a row says about a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The variable's value; `*` if it has none.
    Value(Option<i64>),
    /// `T` if it jumps, `F` if not.
    Jumps(bool),
    /// The thread has no part in it.
    Nothing,
}

/// Runs a program and gives its trace, of which at most `max_rows` rows are kept, and how many others there were.
pub fn trace(program: &WellFormed, options: &RunOptions, max_rows: usize) -> (Trace, Result<Outcome, Box<Error>>) {
    let mut trace = Trace { width: options.width, rows: Vec::new(), left_out: 0 };
    let result = run_observed(program, options, |step, state| {
        // The `stop` that nobody wrote leaves no row.
        if state.program().is_implicit(step.pc) {
            return;
        }
        match trace.rows.len() < max_rows {
            true => trace.rows.push(row(step, state)),
            false => trace.left_out += 1,
        }
    });
    (trace, result)
}

fn row(step: &Step, state: &State<'_>) -> Row {
    let program = state.program();
    let variable = match &program.code[step.pc] {
        Inst::Data(data) => data.written(),
        _ => None,
    };
    let entry = |t: usize| match (variable, step.taken) {
        (Some(v), _) => Entry::Value(state.bank.get(t, v).value()),
        (None, Some(taken)) if step.active.contains(t as i64) => Entry::Jumps(taken.contains(t as i64)),
        _ => Entry::Nothing,
    };
    Row {
        label: program.labels.iter().find(|(_, pc)| **pc == step.pc).map(|(name, _)| name.clone()),
        instruction: program.text_of(step.pc).to_owned(),
        rule: step.rule,
        variable: variable.map(|v| program.variables[v].clone()),
        values: (0..state.width()).map(entry).collect(),
        active: step.active,
    }
}

/// The rows of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The number of threads.
    pub width: usize,
    /// The rows.
    pub rows: Vec<Row>,
    /// Rows that were not kept.
    pub left_out: usize,
}

impl Trace {
    /// The table: instruction, variable, what is said of each thread, active (✓) and inactive (•) threads.
    pub fn table(&self) -> String {
        let longest = |of: fn(&Row) -> usize, least: usize| self.rows.iter().map(of).max().unwrap_or(0).max(least);
        let label = longest(|row| row.label.as_deref().map_or(0, count), 0);
        let instruction = longest(|row| count(&row.instruction), "Instructions".len() - label.min(2));
        let variable = longest(|row| row.variable.as_deref().map_or(0, count), "Var".len());
        let last = self.width.saturating_sub(1).to_string().len();
        let value = longest(|row| row.values.iter().map(|e| count(&e.to_string())).max().unwrap_or(0), last);
        let mut text = String::new();
        let tid = |width: usize| format!("{:^1$}", "Tid", self.width * (width + 1) - 1);
        let numbers = |width: usize| self.each(|t| format!("{t:>width$}"));
        let left = label + 1 + instruction;
        let lines = [
            format!("{:<left$}  {:<variable$}  {}  {}", "", "", tid(value), tid(last)),
            format!("{:<left$}  {:<variable$}  {}  {}", "Instructions", "Var", numbers(value), numbers(last)),
        ];
        for line in lines {
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for row in &self.rows {
            let name = row.label.as_deref().unwrap_or("");
            let values = self.each(|t| format!("{:>value$}", row.values[t].to_string()));
            let marks = self.each(|t| format!("{:>last$}", if row.active.contains(t as i64) { "✓" } else { "•" }));
            let var = row.variable.as_deref().unwrap_or("");
            let line = format!("{name:<label$} {:<instruction$}  {var:<variable$}  {values}  {marks}", row.instruction);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    fn each(&self, of: impl Fn(usize) -> String) -> String {
        (0..self.width).map(of).collect::<Vec<_>>().join(" ")
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Entry::Value(Some(c)) => write!(f, "{c}"),
            Entry::Value(None) => f.write_str("*"),
            Entry::Jumps(true) => f.write_str("T"),
            Entry::Jumps(false) => f.write_str("F"),
            Entry::Nothing => Ok(()),
        }
    }
}

impl Cell {
    /// As the paper's tables show it: `*` if it has no value.
    pub fn shown(self) -> String {
        Entry::Value(self.value()).to_string()
    }
}
