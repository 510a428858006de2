//! Runs programs: picks the rule for each step, counts, and stops when the fuel is used up.

use super::control::{self, Rule, Step};
use super::data;
use super::error::{Error, ErrorKind};
use super::program::{Inst, Operand};
use super::state::{Bank, State};
use super::threads::Threads;
use super::well_formed::WellFormed;

/// How to run a program.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Threads of the warp, 1 to 64.
    pub width: usize,
    /// Most instructions that may be executed.
    pub fuel: u64,
    /// The order in which rule TL goes through the threads; empty for ascending.
    pub order: Vec<usize>,
}

impl RunOptions {
    /// Instructions a run may execute if nothing else is said.
    pub const FUEL: u64 = 10_000_000;

    /// A run with so many threads.
    pub fn with_width(width: usize) -> RunOptions {
        RunOptions { width, fuel: RunOptions::FUEL, order: Vec::new() }
    }
}

/// What a run leaves: rule SP's (Θ, β, Σ), and the counts.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Θ.
    pub active: Threads,
    /// β.
    pub bank: Bank,
    /// Σ.
    pub shared: Vec<i64>,
    /// What was counted.
    pub statistics: Statistics,
}

/// Counts that the machine keeps as it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Instructions executed.
    pub steps: u64,
    /// Tasks created at each depth of calls: each thread that executes a function's body is one. The first are the
    /// threads of the program itself.
    pub tasks: Vec<u64>,
    /// The most tasks that have waited at once: threads in all contexts of Λ together.
    pub most_waiting: usize,
    /// The most contexts Λ has held at once.
    pub most_contexts: usize,
    /// The most activation records there were at once: bodies entered and not left, and the program itself.
    pub most_activations: usize,
    /// The most branches Π has held at once, those in Λ not counted.
    pub most_branches: usize,
}

/// Runs a program to its end.
pub fn run(program: &WellFormed, options: &RunOptions) -> Result<Outcome, Box<Error>> {
    run_observed(program, options, |_, _| {})
}

/// Runs a program and shows each step, with the state after it.
pub fn run_observed(
    program: &WellFormed,
    options: &RunOptions,
    mut see: impl FnMut(&Step, &State<'_>),
) -> Result<Outcome, Box<Error>> {
    check_width(program, options.width)?;
    let mut machine = Machine::new(program, options);
    loop {
        let step = machine.step().map_err(Box::new)?;
        see(&step, &machine.state);
        if step.rule == Rule::Sp {
            let State { active, bank, shared, .. } = machine.state;
            return Ok(Outcome { active, bank, shared, statistics: machine.statistics });
        }
    }
}

fn check_width(program: &WellFormed, width: usize) -> Result<(), Error> {
    match program.program().width {
        Some(wanted) if wanted != width => {
            let message = format!("the program is written for {wanted} threads, not for {width}");
            Err(Error::new(ErrorKind::Width, 0..0, message))
        }
        _ => Ok(()),
    }
}

struct Machine<'p> {
    state: State<'p>,
    options: &'p RunOptions,
    statistics: Statistics,
    /// Bodies entered and not left, beside the program itself.
    activations: usize,
}

impl<'p> Machine<'p> {
    fn new(program: &'p WellFormed, options: &'p RunOptions) -> Machine<'p> {
        let state = State::new(program, options.width);
        let mut machine = Machine { state, options, statistics: Statistics::default(), activations: 0 };
        machine.count_tasks();
        machine.count_stacks();
        machine
    }

    fn step(&mut self) -> Result<Step, Error> {
        self.burn()?;
        let (pc, before) = (self.state.pc, self.state.active);
        let (rule, taken) = self.apply()?;
        self.count_stacks();
        let active = if rule == Rule::Ee { self.state.active } else { before };
        Ok(Step { pc, rule, active, taken })
    }

    /// Applies the rule for P[pc]. Gives it with the threads that jump, if it is a jump.
    fn apply(&mut self) -> Result<(Rule, Option<Threads>), Error> {
        let m = &mut self.state;
        let active = m.active;
        let program = m.program();
        Ok(match program.code[m.pc] {
            Inst::Stop => (control::sp(m)?, None),
            Inst::Jmp(l) => (control::jp(m, l), Some(active)),
            Inst::Bz(v, l) => {
                let (zero, others) = control::split(m, v)?;
                let rule = match (zero.is_empty(), others.is_empty()) {
                    (_, true) => control::bt(m, l),
                    (true, _) => control::bf(m),
                    _ => control::bd(m, zero, others, l),
                };
                (rule, Some(zero))
            }
            Inst::JmpMask(v, l) => match m.mask().contains(one_thread(m, v)?) {
                true => (control::ba(m, l), Some(active)),
                false => (control::bi(m), Some(Threads::NONE)),
            },
            Inst::Sync => {
                let pc = m.pc;
                let rule = match control::own_entry(m, pc).map(|entry| entry.todo.is_empty()) {
                    Some(false) => control::ss(m),
                    Some(true) => control::si_sync(m),
                    None => control::sn(m),
                };
                (rule, None)
            }
            Inst::Everywhere => (control::eb(m), None),
            Inst::EndEverywhere => (control::ee(m)?, None),
            Inst::Enter(_) => (self.enter(), None),
            Inst::Leave => (self.leave(), None),
            Inst::Data(ref data) => {
                data::tl(m, data, &self.options.order)?;
                (control::it(m), None)
            }
        })
    }

    fn enter(&mut self) -> Rule {
        self.activations += 1;
        self.count_tasks();
        self.state.pc += 1;
        Rule::Mark
    }

    fn leave(&mut self) -> Rule {
        self.activations -= 1;
        self.state.pc += 1;
        Rule::Mark
    }

    fn burn(&mut self) -> Result<(), Error> {
        if self.statistics.steps == self.options.fuel {
            let message = format!("the program has not ended after {} instructions", self.options.fuel);
            let span = self.state.program().spans[self.state.pc].clone();
            return Err(Error::new(ErrorKind::OutOfFuel, span, message).label("it would go on here"));
        }
        self.statistics.steps += 1;
        Ok(())
    }

    fn count_tasks(&mut self) {
        let tasks = &mut self.statistics.tasks;
        tasks.resize(tasks.len().max(self.activations + 1), 0);
        tasks[self.activations] += self.state.active.len() as u64;
    }

    fn count_stacks(&mut self) {
        let (state, counts) = (&self.state, &mut self.statistics);
        let waiting = state.contexts.iter().map(|context| context.active.len()).sum();
        counts.most_waiting = counts.most_waiting.max(waiting);
        counts.most_contexts = counts.most_contexts.max(state.contexts.len());
        counts.most_branches = counts.most_branches.max(state.sync.len());
        counts.most_activations = counts.most_activations.max(self.activations + 1);
    }
}

/// The one thread that a `jmp_mask` asks about.
fn one_thread(m: &State<'_>, v: Operand) -> Result<i64, Error> {
    let mut asked = None;
    for t in m.active.iter() {
        let here = data::operand(m, t, v)?;
        match asked {
            Some((first, there)) if there != here => {
                let message = "`jmp_mask` asks about one thread, but the threads disagree which";
                let label = format!("it is {there} in thread {first}, {here} in thread {t}");
                return Err(Error::new(ErrorKind::Disagreement, m.program().spans[m.pc].clone(), message).label(label));
            }
            _ => asked = asked.or(Some((t, here))),
        }
    }
    Ok(asked.map_or(-1, |(_, lane)| lane))
}
