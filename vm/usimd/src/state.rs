//! The state of the machine: the septuple M(Θ, β, Σ, Π, Λ, P, pc) of figure 2.

use super::program::{Pc, Program, Var};
use super::threads::Threads;
use super::well_formed::WellFormed;

/// The septuple. P is what the state was made of and never changes.
#[derive(Clone, Debug)]
pub struct State<'p> {
    /// Θ: the active threads.
    pub active: Threads,
    /// β: the threads' local memories.
    pub bank: Bank,
    /// Σ: shared memory.
    pub shared: Vec<i64>,
    /// Π: the branches whose threads have not met yet, innermost last.
    pub sync: Vec<SyncEntry>,
    /// Λ: the contexts that `everywhere` left, innermost last. The first stands for the whole run.
    pub contexts: Vec<Context>,
    /// The program counter.
    pub pc: Pc,
    checked: &'p WellFormed,
    width: usize,
}

/// An element of Π: (l_id, Θdone, l_next, Θtodo).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncEntry {
    /// The branch that parted threads.
    pub branch: Pc,
    /// Threads that have reached the meeting point.
    pub done: Threads,
    /// Where the waiting threads go on.
    pub next: Pc,
    /// Threads that wait.
    pub todo: Threads,
}

/// An element of Λ: (Θ, Π).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The threads that were active.
    pub active: Threads,
    /// The branches that were open.
    pub sync: Vec<SyncEntry>,
}

/// What a variable holds in one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing yet.
    Unset,
    /// Nothing: a `shfl` read from a thread outside the mask.
    Lost {
        /// The `shfl`.
        pc: Pc,
        /// The thread it read from.
        lane: i64,
    },
    /// A number.
    Value(i64),
}

impl Cell {
    /// The number, if it holds one.
    pub fn value(self) -> Option<i64> {
        match self {
            Cell::Value(c) => Some(c),
            Cell::Unset | Cell::Lost { .. } => None,
        }
    }
}

/// β: for each thread its local memory σ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    cells: Vec<Cell>,
    variables: usize,
}

impl Bank {
    fn new(width: usize, variables: usize) -> Bank {
        Bank { cells: vec![Cell::Unset; width * variables], variables }
    }

    /// What a variable holds in a thread.
    pub fn get(&self, thread: usize, v: Var) -> Cell {
        self.cells[thread * self.variables + v]
    }

    pub(super) fn set(&mut self, thread: usize, v: Var, cell: Cell) {
        self.cells[thread * self.variables + v] = cell;
    }
}

impl<'p> State<'p> {
    /// The beginning: all threads on, nothing in local memories, Λ = [(Θall, ∅)].
    pub fn new(checked: &'p WellFormed, width: usize) -> State<'p> {
        let program = checked.program();
        let all = Threads::all(width);
        State {
            active: all,
            bank: Bank::new(width, program.variables.len()),
            shared: program.shared.clone(),
            sync: Vec::new(),
            contexts: vec![Context { active: all, sync: Vec::new() }],
            pc: 0,
            checked,
            width,
        }
    }

    /// The number of threads.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Θall.
    pub fn all(&self) -> Threads {
        Threads::all(self.width)
    }

    /// Θmask: the threads that were active before the innermost `everywhere`.
    pub fn mask(&self) -> Threads {
        self.contexts.last().map_or(Threads::NONE, |context| context.active)
    }

    /// P.
    pub fn program(&self) -> &'p Program {
        self.checked.program()
    }

    /// P with its control flow.
    pub fn checked(&self) -> &'p WellFormed {
        self.checked
    }
}
