//! What must be computed, and in which form.
//!
//! Only effects and what leaves the region ask for values; what nobody asks for is not computed. Uniform conditions that only
//! branches and guards ask for are computed there, in the flags. Uniform values that vectors are computed with are needed as
//! vectors too, made once, where the value is.

use super::layout::Layout;
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
    /// Whether it is needed in its own form.
    own: Vec<bool>,
    /// Whether a uniform value is needed as a vector.
    splat: Vec<bool>,
    /// How often it is asked for.
    uses: Vec<u32>,
    /// Whether it is made where it is asked for.
    late: Vec<bool>,
    /// Whether it stands in one place only.
    single: Vec<bool>,
}

impl Needs {
    pub fn new(region: &Region, dominators: &Dominators, layout: &Layout) -> Needs {
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
        let needs = Needs {
            definitions,
            own: vec![false; n],
            splat: vec![false; n],
            uses: vec![0; n],
            late: Vec::new(),
            single: single(region),
        };
        let mut search = Search { region, dominators, needs, todo: Vec::new() };
        search.roots();
        while let Some(v) = search.todo.pop() {
            search.follow(v);
        }
        search.needs.late = late(region, &search.needs.definitions, layout);
        search.needs
    }

    /// Returns whether a value is made wherever something asks for it, and not where it is defined.
    pub fn is_late(&self, v: Value) -> bool {
        self.late[v.index()]
    }

    pub fn is_needed(&self, v: Value) -> bool {
        self.own[v.index()]
    }

    pub fn is_needed_as_vector(&self, v: Value) -> bool {
        self.splat[v.index()]
    }

    /// The conditions that must all be true for a branch to go its first way, tested one after another: a comparison and a branch are
    /// one operation of the machine, and a bool takes two more.
    pub fn conjuncts(&self, region: &Region, block: BlockId, condition: Value) -> Vec<Value> {
        let (mut todo, mut found) = (vec![condition], Vec::new());
        while let Some(v) = todo.pop() {
            let both = match self.definitions[v.index()] {
                Definition::Inst(home, i) if home == block && self.single[v.index()] => {
                    Some(&region.block(home).insts[i])
                }
                _ => None,
            };
            match both.filter(|inst| matches!(inst.kind, Kind::Op { op: Op::And, ty: Ty::Bool, .. })) {
                Some(both) => todo.extend(both.args.iter().rev()),
                None => found.push(v),
            }
        }
        found
    }

    /// Returns whether a value is asked for in one place only.
    pub fn is_used_once(&self, v: Value) -> bool {
        self.uses[v.index()] == 1
    }
}

/// By value: whether it stands in one place of instructions, ends of blocks and snapshots only.
fn single(region: &Region) -> Vec<bool> {
    let mut times = vec![0u32; region.types.len()];
    let mut count = |v: Value| times[v.index()] += 1;
    for block in &region.blocks {
        block.insts.iter().flat_map(|inst| &inst.args).copied().for_each(&mut count);
        block.end.edges().flat_map(|edge| &edge.args).copied().for_each(&mut count);
        if let End::Branch { cond, .. } = block.end {
            count(cond);
        }
    }
    region.exits.iter().flat_map(|exit| exit.values()).for_each(count);
    times.iter().map(|&n| n == 1).collect()
}

/// By value: vectors with another element in one lane that nothing in their loop asks for but exits. An exit can write the element
/// by itself.
fn late(region: &Region, definitions: &[Definition], layout: &Layout) -> Vec<bool> {
    let depth = |id: BlockId| layout.depths[id.index()];
    let mut late = vec![false; definitions.len()];
    for &id in layout.order.iter().filter(|&&id| depth(id) > 0) {
        for inst in &region.block(id).insts {
            let is_constant =
                |&v: &Value| definition(region, definitions, v).is_some_and(|inst| matches!(inst.kind, Kind::Const(_)));
            if let (Kind::Op { op: Op::Insert, ty, .. }, Some(v)) = (inst.kind, inst.result) {
                late[v.index()] = !matches!(ty, Ty::Bool | Ty::F16) && !inst.args[1..].iter().any(is_constant);
            }
        }
    }
    // What is asked for by something late is asked for where that is.
    while late.contains(&true) {
        let before = late.clone();
        for &id in &layout.order {
            let block = region.block(id);
            let insts = block.insts.iter().filter(|inst| !inst.result.is_some_and(|v| before[v.index()]));
            let handed_on = block.end.edges().flat_map(|edge| &edge.args);
            for &v in insts.flat_map(|inst| &inst.args).chain(handed_on) {
                if let Definition::Inst(home, _) = definitions[v.index()] {
                    late[v.index()] &= depth(id) < depth(home);
                }
            }
        }
        if late == before {
            break;
        }
    }
    late
}

/// A host address as the machine's operands have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub base: Value,
    /// What is added, and how often.
    pub index: Option<(Value, u8)>,
    pub disp: i32,
}

impl Sum {
    /// Takes an address apart, as far as it is computed in the block of the access; what comes from elsewhere has been moved there
    /// to be at hand.
    pub fn of(region: &Region, definitions: &[Definition], block: BlockId, v: Value) -> Sum {
        let made_here = |v: Value| match definitions[v.index()] {
            Definition::Inst(b, i) if b == block => Some(&region.block(b).insts[i]),
            _ => None,
        };
        let constant = |v: Value| match definition(region, definitions, v)?.kind {
            Kind::Const(bits) => Some(bits as i64),
            _ => None,
        };
        let is_sum = |inst: &&Inst| matches!(inst.kind, Kind::Op { op: Op::Add, ty: Ty::U64 | Ty::I64, .. });
        let mut sum = Sum { base: v, index: None, disp: 0 };
        while let Some(inst) = made_here(sum.base).filter(is_sum) {
            let (a, b) = (inst.args[0], inst.args[1]);
            let disp = constant(b).and_then(|d| i32::try_from(d).ok()).and_then(|d| d.checked_add(sum.disp));
            let disp = disp.filter(|disp| disp.unsigned_abs() < FARTHEST);
            if let Some(disp) = disp {
                sum = Sum { base: a, disp, ..sum };
                continue;
            }
            if sum.index.is_some() || constant(a).is_some() || constant(b).is_some() {
                break;
            }
            let scaled = made_here(b).and_then(|inst| {
                let by = inst.args.get(1).and_then(|&by| constant(by))?;
                match inst.kind {
                    Kind::Op { op: Op::Shl, ty: Ty::U64 | Ty::I64, .. } => (0..=3).contains(&by).then(|| 1 << by),
                    Kind::Op { op: Op::Mul, ty: Ty::U64 | Ty::I64, .. } => {
                        matches!(by, 1 | 2 | 4 | 8).then_some(by as u8)
                    }
                    _ => None,
                }
                .filter(|_| constant(inst.args[0]).is_none())
                .map(|by| (inst.args[0], by))
            });
            sum = Sum { base: a, index: Some(scaled.unwrap_or((b, 1))), ..sum };
        }
        sum
    }

    fn values(self) -> impl Iterator<Item = Value> {
        [Some(self.base), self.index.map(|(v, _)| v)].into_iter().flatten()
    }
}

/// Displacements stay below this in magnitude: there must be room for those of pieces and lanes, which are added to them.
const FARTHEST: u32 = 1 << 29;

/// Returns whether the address of an access can be an operand. What the runtime is called for wants it as a value.
pub(super) fn has_operand(kind: Kind) -> bool {
    let far = |stride: i32| stride.unsigned_abs() >= 1 << 24;
    match kind {
        Kind::LoadStrided { stride, .. } | Kind::StoreStrided { stride, .. } => !far(stride),
        Kind::Clear { bytes } => bytes <= MOST_CLEARED,
        _ => kind.is_plain_load() || kind.is_plain_store(),
    }
}

/// Most bytes that are cleared without calling the runtime.
const MOST_CLEARED: u32 = 1024;

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

/// Returns whether it is a comparison that sets the flags.
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
                    self.args(id, inst);
                    if let Some(exit) = inst.kind.exit() {
                        self.exit(exit);
                    }
                }
            }
            match &block.end {
                End::Exit(exit) => self.exit(*exit),
                End::Branch { cond, .. } => {
                    let all = self.needs.conjuncts(self.region, id, *cond);
                    all.into_iter().for_each(|cond| self.condition(cond));
                }
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

    /// What an instruction needs.
    fn args(&mut self, block: BlockId, inst: &Inst) {
        let mut rest = &inst.args[..];
        if has_operand(inst.kind)
            && let Some((&address, others)) = inst.args.split_first()
        {
            Sum::of(self.region, &self.needs.definitions, block, address).values().for_each(|v| self.own(v));
            rest = others;
        }
        for &a in rest {
            if wants_vector(self.region, inst, a) { self.splat(a) } else { self.own(a) }
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
                self.args(b, inst);
            }
        }
    }
}

/// Returns whether an instruction wants a uniform argument as a vector.
fn wants_vector(region: &Region, inst: &Inst, arg: Value) -> bool {
    let ty = region.ty(arg);
    let varying = inst.result.is_some_and(|v| region.ty(v).is_varying());
    let by_lane = matches!(inst.kind, Kind::Splat)
        || matches!(inst.kind, Kind::Op { op, .. } if !matches!(op, Op::Insert | Op::Shuffle | Op::Extract | Op::Iota));
    varying && by_lane && !ty.is_varying() && ty.ty != Ty::Bool
}
