//! What defines each value: for rules that look at the operands of operands.

use crate::ir::{Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;

/// An instruction that defines a value, by what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Def {
    /// What it does.
    pub kind: Kind,
    args: [Value; 3],
}

impl Def {
    /// The operation, if it is one of the table.
    pub fn op(&self) -> Option<Op> {
        match self.kind {
            Kind::Op { op, .. } => Some(op),
            _ => None,
        }
    }

    /// An argument.
    pub fn arg(&self, i: usize) -> Value {
        self.args[i]
    }
}

/// Definitions by value; none for parameters and for instructions with more than three arguments.
#[derive(Clone, Debug)]
pub(crate) struct Defs(Vec<Option<Def>>);

impl Defs {
    /// Of a region in which nothing has been looked at yet.
    pub fn none(region: &Region) -> Defs {
        Defs(vec![None; region.types.len()])
    }

    /// Of all instructions of a region.
    pub fn of(region: &Region) -> Defs {
        let mut defs = Defs::none(region);
        region.blocks.iter().flat_map(|b| &b.insts).for_each(|inst| defs.note(inst));
        defs
    }

    /// Notes an instruction.
    pub fn note(&mut self, inst: &Inst) {
        let Some(v) = inst.result else { return };
        if self.0.len() <= v.index() {
            self.0.resize(v.index() + 1, None);
        }
        let mut args = [v; 3];
        if inst.args.len() <= 3 {
            args[..inst.args.len()].copy_from_slice(&inst.args);
            self.0[v.index()] = Some(Def { kind: inst.kind, args });
        }
    }

    /// What defines a value.
    pub fn get(&self, v: Value) -> Option<Def> {
        self.0.get(v.index()).copied().flatten()
    }

    /// The definition of a value, if it is this operation.
    pub fn as_op(&self, v: Value, op: Op) -> Option<Def> {
        self.get(v).filter(|d| d.op() == Some(op))
    }

    /// The uniform value of which a value is a splat.
    pub fn splat(&self, v: Value) -> Option<Value> {
        self.get(v).filter(|d| matches!(d.kind, Kind::Splat)).map(|d| d.arg(0))
    }

    /// The bits of a value that is a constant, in one lane or in all.
    pub fn known(&self, v: Value) -> Option<u64> {
        match self.get(v)?.kind {
            Kind::Const(bits) => Some(bits),
            Kind::Splat => self.known(self.splat(v)?),
            _ => None,
        }
    }
}
