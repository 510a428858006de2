//! `spmdvm usimd`: runs a µ-SIMD program and shows its trace and what it leaves in shared memory.

use crate::cli::{Global, UsimdArgs};
use crate::{Failure, files};
use serde_json::{Value, json};
use spmdvm::usimd::{self, Entry, Error, Outcome, Row, RunOptions, Statistics, Trace, WellFormed};
use std::io::Write as _;

/// Threads where neither the command line nor the program says how many: as in the paper's example.
const WIDTH: usize = 4;

/// Cells of shared memory in a row of the listing.
const CELLS_PER_ROW: usize = 16;

/// Runs a program.
pub fn usimd(global: &Global, args: &UsimdArgs) -> Result<(), Failure> {
    let name = args.file.display().to_string();
    let text = files::text(&args.file)?;
    let render = |error: &Error| usimd::render_error(error, &name, &text, global.color());
    let program = usimd::assemble(&text).map_err(|errors| Failure::Program(errors.iter().map(render).collect()))?;
    let rows = if args.trace { args.rows } else { 0 };
    let (trace, result) = usimd::trace(&program, &options(global, &program), rows);
    let shown = match (global.json, &result) {
        (true, _) => as_json(&trace, &result, args).to_string() + "\n",
        (false, Ok(outcome)) => table(&trace, args) + &memory(&outcome.shared) + &counts(&outcome.statistics, args),
        (false, Err(_)) => table(&trace, args),
    };
    // A closed pipe ends the output, not the program.
    let _ = std::io::stdout().write_all(shown.as_bytes());
    result.map(drop).map_err(|error| Failure::Trap(render(&error)))
}

fn options(global: &Global, program: &WellFormed) -> RunOptions {
    let given = global.width_is_given.then_some(global.lanes());
    let width = given.or(program.program().width).unwrap_or(WIDTH);
    let options = RunOptions::with_width(width);
    RunOptions { fuel: global.fuel.unwrap_or(options.fuel), ..options }
}

fn table(trace: &Trace, args: &UsimdArgs) -> String {
    match (args.trace, trace.left_out) {
        (false, _) => String::new(),
        (true, 0) => trace.table() + "\n",
        (true, more) => format!("{}… and {more} more rows (--rows shows more)\n\n", trace.table()),
    }
}

/// Shared memory in rows, each with the address of its first cell.
fn memory(shared: &[i64]) -> String {
    let width = shared.iter().map(|c| c.to_string().len()).max().unwrap_or(0);
    let last = shared.len().saturating_sub(1).to_string().len();
    let rows = shared.chunks(CELLS_PER_ROW).enumerate().map(|(i, cells)| {
        let cells: String = cells.iter().map(|c| format!(" {c:>width$}")).collect();
        format!("{:>last$}:{cells}\n", i * CELLS_PER_ROW)
    });
    format!("Shared memory\n{}", rows.collect::<String>())
}

fn counts(counts: &Statistics, args: &UsimdArgs) -> String {
    if !args.counts {
        return String::new();
    }
    let tasks: Vec<String> = counts.tasks.iter().map(u64::to_string).collect();
    format!(
        "\nCounts\ninstructions executed: {}\ntasks at each depth of calls: {}\nmost tasks waiting: {}\n\
         most contexts: {}\nmost activation records: {}\nmost open branches: {}\n",
        counts.steps,
        tasks.join(", "),
        counts.most_waiting,
        counts.most_contexts,
        counts.most_activations,
        counts.most_branches,
    )
}

fn as_json(trace: &Trace, result: &Result<Outcome, Box<Error>>, args: &UsimdArgs) -> Value {
    let mut object = match result {
        Ok(outcome) => json!({ "shared": outcome.shared, "counts": counts_json(&outcome.statistics) }),
        Err(error) => json!({ "error": error.kind.name(), "message": error.message }),
    };
    if args.trace {
        object["trace"] = trace.rows.iter().map(|row| row_json(row, trace.width)).collect();
        object["rows_left_out"] = trace.left_out.into();
    }
    object
}

fn row_json(row: &Row, width: usize) -> Value {
    let entry = |entry: &Entry| match *entry {
        Entry::Value(value) => json!(value),
        Entry::Jumps(jumps) => json!(jumps),
        Entry::Nothing => Value::Null,
    };
    json!({
        "label": row.label,
        "instruction": row.instruction,
        "rule": format!("{:?}", row.rule),
        "variable": row.variable,
        "values": row.values.iter().map(entry).collect::<Vec<_>>(),
        "active": (0..width).map(|t| row.active.contains(t as i64)).collect::<Vec<_>>(),
    })
}

fn counts_json(counts: &Statistics) -> Value {
    json!({
        "steps": counts.steps,
        "tasks": counts.tasks,
        "most_waiting": counts.most_waiting,
        "most_contexts": counts.most_contexts,
        "most_activations": counts.most_activations,
        "most_branches": counts.most_branches,
    })
}
