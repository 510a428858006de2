//! Counting what a program executes.

use spmdvm::Shape;
use spmdvm::vm::observe::{Observer, View};
use spmdvm::vm::program::{Function, Inst, Program, Reg};

/// How many instructions were executed, calls into the library included.
#[derive(Debug)]
pub struct Counts {
    /// All.
    pub instructions: u64,
    /// Those that have a varying operand: they read or write vectors.
    pub vector: u64,
    /// By function and instruction: whether it has a varying operand.
    is_vector: Vec<Vec<bool>>,
}

impl Counts {
    /// Nothing yet.
    pub fn new(program: &Program) -> Counts {
        let of_function = |f: &Function| f.code.iter().map(|inst| is_vector(f, inst)).collect();
        Counts { instructions: 0, vector: 0, is_vector: program.functions.iter().map(of_function).collect() }
    }
}

impl Observer for Counts {
    fn before(&mut self, view: &View<'_>) {
        self.instructions += 1;
        self.vector += u64::from(self.is_vector[view.function_id().0 as usize][view.pc() as usize]);
    }
}

fn is_vector(function: &Function, inst: &Inst) -> bool {
    let own = inst.src.iter().chain([&inst.dst]);
    let listed = function.list(inst.args).iter().chain(function.list(inst.rets));
    own.chain(listed).any(|reg: &Reg| !reg.is_none() && function.reg(*reg).shape == Shape::Varying)
}
