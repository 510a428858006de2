//! Random functions: what is at hand while one is made, and its statements.

use super::Generator;
use super::memory::{Fields, Pointer};
use super::ops::{random_bits, random_ty};
use spmdvm_vm::builder::{FunctionBuilder, Label};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{Inst, Reg};
use spmdvm_vm::types::{Shape, Ty};
use spmdvm_vm::verify::EntryKind;

/// Deepest nesting of constructs.
const MAX_DEPTH: usize = 4;

pub(super) struct FunctionGenerator<'g> {
    pub g: &'g mut Generator,
    pub b: FunctionBuilder,
    /// Registers that may be written at any time; they have a value from the start.
    pub variables: Vec<Reg>,
    /// Registers that have a value here: variables, and temporaries of the enclosing regions.
    pub values: Vec<Reg>,
    /// Pointers to known objects that have a value here.
    pub pointers: Vec<Pointer>,
    /// Variables in frame memory, each accessed only as what it is.
    pub fields: Option<Fields>,
    /// Kinds of entries on the mask stack here.
    pub entries: Vec<EntryKind>,
    /// Where to go on when no lane is left.
    pub on_empty: Label,
    /// How often the current place runs, at most.
    pub weight: u64,
    /// Instructions executed so far, at most.
    pub cost: u64,
    pub depth: usize,
    /// Statements left to make.
    pub budget: usize,
}

impl FunctionGenerator<'_> {
    pub fn generate(g: &mut Generator, name: &str, budget: usize) {
        let mut b = FunctionBuilder::new(name);
        let on_empty = b.label();
        let mut f = FunctionGenerator {
            g,
            b,
            variables: Vec::new(),
            values: Vec::new(),
            pointers: Vec::new(),
            fields: None,
            entries: Vec::new(),
            on_empty,
            weight: 1,
            cost: 0,
            depth: 0,
            budget,
        };
        f.header();
        f.statements(budget);
        f.b.bind(on_empty);
        f.b.ret();
        let cost = f.cost + f.b.len() as u64;
        let function = f.b.finish();
        g.program.functions.push(function);
        g.costs.push(cost);
    }

    fn random_shape(&mut self) -> Shape {
        if self.g.rng.chance(2, 3) { Shape::Varying } else { Shape::Uniform }
    }

    /// Parameters, variables with their first values, results, and addresses of globals and frame memory.
    fn header(&mut self) {
        for i in 0..1 + self.g.rng.below(4) {
            let (shape, ty) = (self.random_shape(), random_ty(&mut self.g.rng));
            let r = self.b.param(shape, ty, &format!("p{i}"));
            self.variables.push(r);
            self.values.push(r);
        }
        for i in 0..6 + self.g.rng.below(8) {
            let (shape, ty) = (self.random_shape(), random_ty(&mut self.g.rng));
            let source = self.operand(ty, (shape == Shape::Uniform).then_some(shape));
            let r = self.b.named(shape, ty, &format!("x{i}"));
            self.b.mov(r, source);
            self.variables.push(r);
            self.values.push(r);
        }
        let lane = self.b.reg(Shape::Varying, Ty::I32);
        self.push(Inst { dst: lane, ..Inst::new(Op::Iota, Ty::I32) });
        self.values.push(lane);
        for i in 0..1 + self.g.rng.below(self.variables.len().min(6)) {
            let r = self.variables[self.variables.len() - 1 - i];
            self.b.result(r);
        }
        self.addresses();
    }

    /// Appends an instruction and counts its cost.
    pub fn push(&mut self, inst: Inst) {
        self.b.push(inst);
        self.cost += self.weight;
    }

    /// A register with a value of this type, and of this shape if one is asked for.
    pub fn operand(&mut self, ty: Ty, shape: Option<Shape>) -> Reg {
        let fits = |r: &Reg| self.b.ty(*r) == ty && shape.is_none_or(|s| self.b.shape(*r) == s);
        let found: Vec<Reg> = self.values.iter().copied().filter(fits).collect();
        if !found.is_empty() && self.g.rng.chance(6, 7) {
            return *self.g.rng.pick(&found);
        }
        match shape {
            Some(Shape::Varying) => {
                if ty.is_int() && self.g.rng.chance(1, 2) || self.g.rng.chance(1, 3) {
                    return self.varied(ty);
                }
                let source = self.operand(ty, Some(Shape::Uniform));
                let r = self.b.reg(Shape::Varying, ty);
                self.b.mov(r, source);
                self.values.push(r);
                r
            }
            _ => {
                let bits = random_bits(&mut self.g.rng, ty);
                self.b.constant(ty, bits)
            }
        }
    }

    /// A register whose lanes differ: some number from each lane's index.
    fn varied(&mut self, ty: Ty) -> Reg {
        let lane = self.b.reg(Shape::Varying, Ty::I32);
        self.push(Inst { dst: lane, ..Inst::new(Op::Iota, Ty::I32) });
        let factor = self.b.constant(Ty::I32, random_bits(&mut self.g.rng, Ty::I32));
        let op = *self.g.rng.pick(&[Op::Mul, Op::Sub, Op::Xor, Op::Add]);
        let mixed = self.b.binary(op, Ty::I32, lane, factor);
        let r = self.b.elementwise(Op::Convert, ty, Ty::I32, &[mixed]);
        self.values.push(r);
        r
    }

    /// A varying condition, which often differs between lanes.
    pub fn condition(&mut self) -> Reg {
        if self.g.rng.chance(1, 3) {
            return self.operand(Ty::Bool, Some(Shape::Varying));
        }
        let a = self.operand(Ty::I32, Some(Shape::Varying));
        let b = self.operand(Ty::I32, None);
        let op = *self.g.rng.pick(&[Op::Lt, Op::Ge, Op::Ne, Op::Eq]);
        let r = self.b.binary(op, Ty::I32, a, b);
        self.values.push(r);
        r
    }

    /// Makes up to `n` statements. False if the last one leaves with all lanes, so that nothing may follow.
    pub fn statements(&mut self, n: usize) -> bool {
        for _ in 0..n {
            if self.budget == 0 || self.cost > super::MAX_COST / 4 {
                return true;
            }
            self.budget -= 1;
            if !self.statement() {
                return false;
            }
        }
        true
    }

    fn statement(&mut self) -> bool {
        let nests = self.depth < MAX_DEPTH && self.weight < 600;
        let weights = [60, 16, if nests { 14 } else { 0 }, 7, 5, 2, 2];
        match self.g.rng.weighted(&weights) {
            0 => self.table_operation(),
            1 => self.memory_statement(),
            2 => self.construct(),
            3 => return self.leave(),
            4 => self.call(),
            5 if self.g.options.printing => self.print(),
            _ => self.check(),
        }
        true
    }

    /// Makes statements in a region of their own: temporaries are forgotten after it, and lanes that are all gone go on at
    /// `on_empty`. False as for [`statements`](Self::statements).
    pub fn region(&mut self, on_empty: Label, times: u64) -> bool {
        let (values, pointers) = (self.values.len(), self.pointers.len());
        let outer = std::mem::replace(&mut self.on_empty, on_empty);
        let weight = self.weight;
        self.weight *= times;
        self.depth += 1;
        let n = 1 + self.g.rng.below(8);
        let goes_on = self.statements(n);
        self.depth -= 1;
        self.weight = weight;
        self.on_empty = outer;
        self.values.truncate(values);
        self.pointers.truncate(pointers);
        goes_on
    }
}
