//! Who demands what, and in which form.
//!
//! Only effects and what leaves the region demand values; what nobody demands is not computed. What else a form can save depends on
//! the target ([`Forms`]). Where comparisons set flags, uniform conditions that only branches and guards demand are computed there, and
//! those of selections in their block.
//! Uniform values that vectors are computed with are demanded as vectors too, made once, where the value is; but in the
//! cold blocks that use them, if no other block does and the value's own is not cold.

use super::exit_only::exit_only;
use super::{Area, Definition, ExitValue, Layout, Values, exit_writes};
use crate::ir::{BlockId, End, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Which forms of values the instructions of a target take as operands.
#[derive(Clone, Copy)]
pub struct Forms {
    /// Returns whether an instruction leaves a bool in flags that a branch tests.
    pub sets_flags: fn(&Region, &Inst) -> bool,
    /// Returns whether an instruction takes its first argument, a bool, from flags, as a branch does.
    pub takes_flags: fn(&Region, &Inst) -> bool,
    /// Returns whether an instruction takes its first argument, an address, as a sum of a base, an index and a displacement.
    pub takes_address: fn(Kind) -> bool,
    /// What the index of an address may be multiplied by.
    pub index_scales: &'static [u8],
    /// Returns whether an instruction takes a uniform argument as a vector.
    pub takes_vector: fn(&Region, &Inst, Value) -> bool,
    /// Whether exits can write one lane of a vector.
    pub exits_write_lanes: bool,
    /// Of how many masks at most exits make another one that nothing else asks for; 0 if they make none.
    pub masks_of_one_at_exits: usize,
    /// What an instruction of a block takes in place of its arguments, where one instruction of the machine does what it and others of
    /// its block do. They are computed for themselves only if something else demands them.
    pub takes_instead: fn(&Values<'_>, BlockId, &Inst) -> Option<Vec<Value>>,
}

impl Forms {
    /// Of a target whose instructions take every operand in a register of its own.
    pub const PLAIN: Forms = Forms {
        sets_flags: |_, _| false,
        takes_flags: |_, _| false,
        takes_address: |_| false,
        index_scales: &[],
        takes_vector: |_, _, _| false,
        exits_write_lanes: false,
        masks_of_one_at_exits: 0,
        takes_instead: |_, _, _| None,
    };
}

/// By value.
pub(crate) struct Demand {
    forms: Forms,
    /// Whether it is demanded, in whatever form.
    any: Vec<bool>,
    /// Whether it is demanded in its own form.
    own: Vec<bool>,
    /// Whether a uniform value is demanded as a vector where it is.
    vector: Vec<bool>,
    /// How often it is demanded.
    uses: Vec<u32>,
    /// Whether it is made where it is demanded.
    late: Vec<bool>,
    /// Whether only exits demand it, which compute it.
    left_to_exits: Vec<bool>,
}

impl Demand {
    pub fn new(values: &Values<'_>, layout: &Layout, forms: Forms) -> Demand {
        let n = values.region.types.len();
        let late = if forms.exits_write_lanes { late(values, layout) } else { vec![false; n] };
        let left_to_exits = exit_only(values, layout, &forms);
        let none = || vec![false; n];
        let (any, own, vector, uses) = (none(), none(), none(), vec![0; n]);
        let demand = Demand { forms, any, own, vector, uses, late, left_to_exits };
        let mut search = Search { values, demand, todo: Vec::new() };
        search.roots();
        while let Some(v) = search.todo.pop() {
            search.follow(v);
        }
        search.demand
    }

    /// Returns whether a value is made wherever something demands it, and not where it is defined.
    pub fn is_late(&self, v: Value) -> bool {
        self.late[v.index()]
    }

    /// The lane and the element that an exit writes in the place of a vector: those by which it differs from what the place has.
    pub fn written_lane(&self, values: &Values<'_>, area: Area, at: u64, v: Value) -> Option<(Value, Value)> {
        let inst = values.inst(v).filter(|_| self.is_late(v))?;
        let is_there = area == Area::Frame && values.in_frame(inst.args[0]).map(u64::from) == Some(at);
        is_there.then_some((inst.args[1], inst.args[2]))
    }

    /// Returns whether only exits demand a value, which compute it when they are taken.
    pub fn is_left_to_exits(&self, v: Value) -> bool {
        self.left_to_exits[v.index()]
    }

    pub fn is_demanded(&self, v: Value) -> bool {
        self.any[v.index()]
    }

    /// Returns whether a uniform value is demanded as a vector only.
    pub fn is_demanded_as_vector_only(&self, v: Value) -> bool {
        self.vector[v.index()] && !self.own[v.index()]
    }

    /// Returns whether the vector of a uniform value is made where the value is.
    pub fn is_demanded_as_vector(&self, v: Value) -> bool {
        self.vector[v.index()]
    }

    /// Returns whether a value is demanded in one place only.
    pub fn is_used_once(&self, v: Value) -> bool {
        self.uses[v.index()] == 1
    }

    /// The conditions that must all be true for a branch to go its first way, tested one after another: a comparison and a branch are
    /// one operation of the machine, and a bool takes two more.
    pub fn conjuncts(&self, values: &Values<'_>, block: BlockId, condition: Value) -> Vec<Value> {
        let (mut todo, mut found) = (vec![condition], Vec::new());
        while let Some(v) = todo.pop() {
            let both = values.inst_in(block, v).filter(|_| values.stands_once(v));
            match both.filter(|inst| matches!(inst.kind, Kind::Op { op: Op::And, ty: Ty::Bool, .. })) {
                Some(both) => todo.extend(both.args.iter().rev()),
                None => found.push(v),
            }
        }
        found
    }
}

/// By value: vectors with another element in one lane that nothing in their loop demands but exits (or nothing at all, if they are in
/// none). An exit can write the element by itself.
fn late(values: &Values<'_>, layout: &Layout) -> Vec<bool> {
    let region = values.region;
    let depth = |id: BlockId| layout.depths[id.index()];
    let mut late = vec![false; region.types.len()];
    for &id in &layout.order {
        for inst in &region.block(id).insts {
            let is_constant = |&v: &Value| values.constant(v).is_some();
            if let (Kind::Op { op: Op::Insert, ty, .. }, Some(v)) = (inst.kind, inst.result) {
                late[v.index()] = !matches!(ty, Ty::Bool | Ty::F16) && !inst.args[1..].iter().any(is_constant);
            }
        }
    }
    // What is demanded by something late is demanded where that is.
    while late.contains(&true) {
        let before = late.clone();
        for &id in &layout.order {
            let block = region.block(id);
            let insts = block.insts.iter().filter(|inst| !inst.result.is_some_and(|v| before[v.index()]));
            let handed_on = block.end.edges().flat_map(|edge| &edge.args);
            for &v in insts.flat_map(|inst| &inst.args).chain(handed_on) {
                if let Definition::Inst(home, _) = values.definition(v) {
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

/// A host address as the operands of a target have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressSum {
    pub base: Value,
    /// What is added, and how often.
    pub index: Option<(Value, u8)>,
    pub disp: i32,
}

/// Displacements stay below this in magnitude: there must be room for those of pieces and lanes, which are added to them.
const FARTHEST: u32 = 1 << 29;

impl AddressSum {
    /// Takes an address apart, as far as it is computed in the block of the access; what comes from elsewhere has been moved there
    /// to be at hand. Constants are taken from any sum, so that all accesses to one array keep one address at hand.
    pub fn of(values: &Values<'_>, forms: &Forms, block: BlockId, v: Value) -> AddressSum {
        let constant = |v: Value| values.constant(v).map(|bits| bits as i64);
        let is_sum = |inst: &&Inst| matches!(inst.kind, Kind::Op { op: Op::Add, ty: Ty::U64 | Ty::I64, .. });
        let mut sum = AddressSum { base: v, index: None, disp: 0 };
        while let Some(inst) = values.inst(sum.base).filter(is_sum) {
            let (a, b) = (inst.args[0], inst.args[1]);
            let disp = constant(b).and_then(|d| i32::try_from(d).ok()).and_then(|d| d.checked_add(sum.disp));
            let disp = disp.filter(|disp| disp.unsigned_abs() < FARTHEST);
            if let Some(disp) = disp {
                sum = AddressSum { base: a, disp, ..sum };
                continue;
            }
            let is_elsewhere = values.inst_in(block, sum.base).is_none();
            let is_known = constant(a).is_some() || constant(b).is_some();
            if sum.index.is_some() || is_elsewhere || is_known || forms.index_scales.is_empty() {
                break;
            }
            let scaled = values.inst_in(block, whatever_type(values, block, b)).and_then(|inst| {
                let by = inst.args.get(1).and_then(|&by| constant(by))?;
                let by = match inst.kind {
                    Kind::Op { op: Op::Shl, ty: Ty::U64 | Ty::I64, .. } => 1u8.checked_shl(u32::try_from(by).ok()?)?,
                    Kind::Op { op: Op::Mul, ty: Ty::U64 | Ty::I64, .. } => u8::try_from(by).ok()?,
                    _ => return None,
                };
                (forms.index_scales.contains(&by) && constant(inst.args[0]).is_none()).then_some((inst.args[0], by))
            });
            sum = AddressSum { base: a, index: Some(scaled.unwrap_or((b, 1))), ..sum };
        }
        while let Some(nearer) = sum.with_nearer_index(values, block) {
            sum = nearer;
        }
        sum.counted_from_first_host(values).unwrap_or(sum)
    }

    /// The same address, if it is one in frames, counted from the first of these that the region computes: all of them take one register.
    fn counted_from_first_host(self, values: &Values<'_>) -> Option<AddressSum> {
        let Kind::FrameHost { at, .. } = values.inst(self.base)?.kind else { return None };
        let (base, first) = values.frame_host()?;
        let distance = i32::try_from(at.wrapping_sub(first) as i64).ok()?;
        let disp = distance.checked_add(self.disp).filter(|disp| disp.unsigned_abs() < FARTHEST)?;
        Some(AddressSum { base, disp, ..self })
    }

    /// The same sum, without what is added to the index or changes nothing but its type.
    fn with_nearer_index(self, values: &Values<'_>, block: BlockId) -> Option<AddressSum> {
        let (index, scale) = self.index?;
        let inst = values.inst_in(block, index)?;
        let Kind::Op { op, ty, from } = inst.kind else { return None };
        if !ty.is_int() || ty.size() != 8 {
            return None;
        }
        match op {
            Op::Convert | Op::Bitcast if from.is_int() && from.size() == 8 => {
                Some(AddressSum { index: Some((inst.args[0], scale)), ..self })
            }
            Op::Add => {
                let by = i32::try_from(values.constant(inst.args[1])? as i64).ok()?;
                let disp = by.checked_mul(i32::from(scale))?.checked_add(self.disp)?;
                let near = disp.unsigned_abs() < FARTHEST && values.constant(inst.args[0]).is_none();
                near.then_some(AddressSum { index: Some((inst.args[0], scale)), disp, ..self })
            }
            _ => None,
        }
    }

    fn values(self) -> impl Iterator<Item = Value> {
        [Some(self.base), self.index.map(|(v, _)| v)].into_iter().flatten()
    }
}

/// What a value is in a block, before its bits got another type of integers.
fn whatever_type(values: &Values<'_>, block: BlockId, mut v: Value) -> Value {
    while let Some(inst) = values.inst_in(block, v)
        && matches!(inst.kind, Kind::Op { op: Op::Bitcast, ty: Ty::U64 | Ty::I64, from: Ty::U64 | Ty::I64 })
    {
        v = inst.args[0];
    }
    v
}

struct Search<'a, 'r> {
    values: &'a Values<'r>,
    demand: Demand,
    todo: Vec<Value>,
}

impl Search<'_, '_> {
    fn roots(&mut self) {
        let region = self.values.region;
        for &id in self.values.dominators.order() {
            let block = region.block(id);
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
                    let all = self.demand.conjuncts(self.values, id, *cond);
                    all.into_iter().for_each(|cond| self.condition(cond));
                }
                End::Jump(_) => {}
            }
        }
    }

    fn exit(&mut self, exit: crate::ir::ExitId) {
        for write in exit_writes(self.values.region, exit) {
            match write.what {
                ExitValue::Value(_, v) => match self.demand.written_lane(self.values, write.area, write.at, v) {
                    Some((lane, x)) => [lane, x].into_iter().for_each(|v| self.by_exit(v)),
                    None => self.by_exit(v),
                },
                ExitValue::Word(v) => self.by_exit(v),
                ExitValue::MaskBits(v) => self.by_exit(self.values.bits_of_mask(v).unwrap_or(v)),
                ExitValue::Zero => {}
            }
        }
    }

    /// An exit demands a value, or what it computes that from.
    fn by_exit(&mut self, v: Value) {
        match self.values.inst(v).filter(|_| self.demand.left_to_exits[v.index()]) {
            Some(inst) => inst.args.iter().for_each(|&arg| self.by_exit(arg)),
            None => self.own(v),
        }
    }

    fn own(&mut self, v: Value) {
        self.demand.own[v.index()] = true;
        self.any(v);
    }

    fn any(&mut self, v: Value) {
        self.demand.uses[v.index()] += 1;
        if !std::mem::replace(&mut self.demand.any[v.index()], true) {
            self.todo.push(v);
        }
    }

    /// Returns whether a block uses a value so seldom that it makes its vector by itself, if no other has it made.
    fn is_cold_use(&self, block: BlockId, v: Value) -> bool {
        let is_cold = |b: BlockId| self.values.region.block(b).cold;
        is_cold(block) && self.values.definition(v).block().is_some_and(|home| !is_cold(home))
    }

    /// What an instruction demands.
    fn args(&mut self, block: BlockId, inst: &Inst) {
        let forms = self.demand.forms;
        let instead = (forms.takes_instead)(self.values, block, inst);
        let mut rest = instead.as_deref().unwrap_or(&inst.args);
        if (forms.takes_address)(inst.kind)
            && let Some((&address, others)) = rest.split_first()
        {
            AddressSum::of(self.values, &forms, block, address).values().for_each(|v| self.own(v));
            rest = others;
        }
        if (forms.takes_flags)(self.values.region, inst)
            && let Some((&cond, others)) = rest.split_first()
            && self.values.inst_in(block, cond).is_some()
        {
            self.condition(cond);
            rest = others;
        }
        for &a in rest {
            match (forms.takes_vector)(self.values.region, inst, a) {
                true => {
                    self.demand.vector[a.index()] |= !self.is_cold_use(block, a);
                    self.any(a);
                }
                false => self.own(a),
            }
        }
    }

    /// A branch, guard or selection demands a value.
    fn condition(&mut self, v: Value) {
        let Definition::Inst(block, i) = self.values.definition(v) else { return self.own(v) };
        let inst = &self.values.region.block(block).insts[i];
        match inst.kind {
            Kind::Op { op: Op::Not, ty: Ty::Bool, .. } => self.condition(inst.args[0]),
            _ if (self.demand.forms.sets_flags)(self.values.region, inst) => {
                self.args(block, inst);
            }
            _ => self.own(v),
        }
    }

    /// What a value that is demanded demands itself.
    fn follow(&mut self, v: Value) {
        let region = self.values.region;
        match self.values.definition(v) {
            Definition::None => {}
            Definition::Param(block, at) => {
                for &from in self.values.dominators.order() {
                    for edge in region.block(from).end.edges().filter(|e| e.to == block) {
                        self.own(edge.args[at]);
                    }
                }
            }
            Definition::Inst(b, i) => {
                let inst = &region.block(b).insts[i];
                if inst.kind.is_pure() || inst.kind.is_plain_load() {
                    self.args(b, inst);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Exit, ExitReason, Type};
    use spmdvm_vm::program::FuncId;
    use spmdvm_vm::types::Width;

    #[test]
    fn addresses_in_frames_are_counted_from_one_of_them() {
        let mut b = Builder::new(Width::DEFAULT, FuncId(0), 0);
        let host = |at| Kind::FrameHost { function: FuncId(0), at, within: None };
        let hosts = [64, 1024, 0, 1 << 40].map(|at| b.inst(host(at), &[], Type::uniform(Ty::U64)));
        let eight = b.constant(Ty::U64, 8);
        let next = b.block();
        b.jump(next, &[]);
        b.switch_to(next);
        let sum = b.op(Op::Add, Ty::U64, &[hosts[1], eight]);
        let exit = b.exit(Exit {
            frames: Vec::new(),
            cells: Vec::new(),
            live: Vec::new(),
            reason: ExitReason::Return,
            fuel: 0,
        });
        b.end(End::Exit(exit));
        let values = Values::new(&b.region);
        let found = [hosts[0], hosts[1], hosts[2], sum, hosts[3]].map(|v| {
            let AddressSum { base, disp, .. } = AddressSum::of(&values, &Forms::PLAIN, next, v);
            (base, disp)
        });
        assert_eq!(found, [(hosts[0], 0), (hosts[0], 960), (hosts[0], -64), (hosts[0], 968), (hosts[3], 0)]);
    }
}
