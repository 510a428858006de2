//! What must be computed, and in which form.
//!
//! Only effects and what leaves the region ask for values; what nobody asks for is not computed. Uniform conditions that only
//! branches and guards ask for are computed there, in the flags. Uniform values that vectors are computed with are needed as
//! vectors too, made once, where the value is.

use crate::dominance::Dominators;
use crate::ir::{BlockId, End, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Where a value is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definition {
    None,
    Param(BlockId, usize),
    Inst(BlockId, usize),
}

/// By value.
pub(super) struct Needs {
    pub definitions: Vec<Definition>,
    /// Is it needed in its own form?
    own: Vec<bool>,
    /// Is a uniform value needed as a vector?
    splat: Vec<bool>,
    /// How often it is asked for.
    uses: Vec<u32>,
}

impl Needs {
    pub fn new(region: &Region, dominators: &Dominators) -> Needs {
        let n = region.types.len();
        let mut definitions = vec![Definition::None; n];
        for &id in dominators.order() {
            let block = region.block(id);
            for (i, p) in block.params.iter().enumerate() {
                definitions[p.index()] = Definition::Param(id, i);
            }
            for (i, inst) in block.insts.iter().enumerate() {
                if let Some(v) = inst.result {
                    definitions[v.index()] = Definition::Inst(id, i);
                }
            }
        }
        let needs = Needs { definitions, own: vec![false; n], splat: vec![false; n], uses: vec![0; n] };
        let mut search = Search { region, dominators, needs, todo: Vec::new() };
        search.roots();
        while let Some(v) = search.todo.pop() {
            search.follow(v);
        }
        search.needs
    }

    pub fn is_needed(&self, v: Value) -> bool {
        self.own[v.index()]
    }

    pub fn is_needed_as_vector(&self, v: Value) -> bool {
        self.splat[v.index()]
    }

    /// Is a value asked for in one place only?
    pub fn is_used_once(&self, v: Value) -> bool {
        self.uses[v.index()] == 1
    }
}

struct Search<'a> {
    region: &'a Region,
    dominators: &'a Dominators,
    needs: Needs,
    todo: Vec<Value>,
}

/// The instruction that defines a value.
pub(super) fn definition<'r>(region: &'r Region, definitions: &[Definition], v: Value) -> Option<&'r Inst> {
    match definitions[v.index()] {
        Definition::Inst(b, i) => Some(&region.block(b).insts[i]),
        _ => None,
    }
}

/// Is it a comparison that sets the flags?
pub(super) fn sets_flags(region: &Region, inst: &Inst) -> bool {
    match inst.kind {
        Kind::AnyLane => true,
        Kind::Op { op: Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ty, .. } => {
            !region.ty(inst.args[0]).is_varying() && (ty.is_int() || matches!(ty, Ty::F32 | Ty::F64))
        }
        _ => false,
    }
}

impl Search<'_> {
    fn roots(&mut self) {
        for &id in self.dominators.order() {
            let block = self.region.block(id);
            for inst in &block.insts {
                if let Kind::Guard { exit } = inst.kind {
                    self.condition(inst.args[0]);
                    self.exit(exit);
                } else if !inst.kind.is_pure() && !inst.kind.is_plain_load() {
                    inst.args.iter().for_each(|&a| self.own(a));
                    if let Some(exit) = inst.kind.exit() {
                        self.exit(exit);
                    }
                }
            }
            match &block.end {
                End::Exit(exit) => self.exit(*exit),
                End::Branch { cond, .. } => self.condition(*cond),
                End::Jump(_) => {}
            }
        }
    }

    fn exit(&mut self, exit: crate::ir::ExitId) {
        let region = self.region;
        region.exits[exit.index()].values().for_each(|v| self.own(v));
    }

    fn own(&mut self, v: Value) {
        self.needs.uses[v.index()] += 1;
        if !std::mem::replace(&mut self.needs.own[v.index()], true) {
            self.todo.push(v);
        }
    }

    fn splat(&mut self, v: Value) {
        self.needs.splat[v.index()] = true;
        self.own(v);
    }

    fn inst(&self, v: Value) -> Option<&'_ Inst> {
        definition(self.region, &self.needs.definitions, v)
    }

    /// A branch or guard asks for a value.
    fn condition(&mut self, v: Value) {
        let Some(inst) = self.inst(v) else { return self.own(v) };
        let (kind, args) = (inst.kind, inst.args.clone());
        match kind {
            Kind::Op { op: Op::Not, ty: Ty::Bool, .. } => self.condition(args[0]),
            _ if sets_flags(self.region, inst) => args.iter().for_each(|&a| self.own(a)),
            _ => self.own(v),
        }
    }

    /// What a value that is needed needs itself.
    fn follow(&mut self, v: Value) {
        let region = self.region;
        match self.needs.definitions[v.index()] {
            Definition::None => {}
            Definition::Param(block, at) => {
                for &from in self.dominators.order() {
                    for edge in region.block(from).end.edges().filter(|e| e.to == block) {
                        self.own(edge.args[at]);
                    }
                }
            }
            Definition::Inst(b, i) => {
                let inst = &region.block(b).insts[i];
                if !inst.kind.is_pure() && !inst.kind.is_plain_load() {
                    return;
                }
                for &a in &inst.args {
                    if wants_vector(region, inst, a) { self.splat(a) } else { self.own(a) }
                }
            }
        }
    }
}

/// Does an instruction want a uniform argument as a vector?
fn wants_vector(region: &Region, inst: &Inst, arg: Value) -> bool {
    let ty = region.ty(arg);
    let varying = inst.result.is_some_and(|v| region.ty(v).is_varying());
    let by_lane = matches!(inst.kind, Kind::Splat)
        || matches!(inst.kind, Kind::Op { op, .. } if !matches!(op, Op::Insert | Op::Shuffle | Op::Extract | Op::Iota));
    varying && by_lane && !ty.is_varying() && ty.ty != Ty::Bool
}
