//! Faults of the recorder and of passes: what a region is after one that is wrong.
//!
//! Regions stay well formed, so that the verifier of the IR says nothing and back ends compile what is wrong.

use super::defs::{Def, Defs};
use super::licm::{Loops, definitions};
use super::make::Maker;
use crate::dominance::Dominators;
use crate::ir::{BlockId, Edge, EntryMask, Exit, ExitId, ExitReason, Inst, Kind, Region, Type, Value};
use spmdvm_vm::faults::{Fault, Turns, planted};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// What a fault does after its pass.
#[derive(Clone, Copy)]
pub enum Act {
    /// Another instruction for one that it concerns.
    Inst(InsteadOf),
    /// Another state at an exit: of the exits of a block, by the one before it.
    Exit(AtExit),
    /// Another edge into a block.
    Edge(OnEdge),
    /// Anything.
    Region(fn(&mut Region, &mut Turns)),
}

type InsteadOf = fn(&Facts, &Inst) -> Option<Instead>;
type AtExit = fn(&Facts, &Exit, Option<&Exit>) -> Option<Exit>;
type OnEdge = fn(&Facts, &Region, &Edge) -> Option<Edge>;

/// An instruction, and a constant that is to be one of its arguments.
pub struct Instead {
    inst: Inst,
    constant: Option<(usize, Ty, u64)>,
}

/// What is known of a region.
pub struct Facts {
    types: Vec<Type>,
    defs: Defs,
    /// The execution mask with which the region is entered, if something asks for it.
    entry_mask: Option<Value>,
    /// How many values there were before the pass.
    values_before: usize,
    /// What leads back to the head of a loop.
    back_edges: Vec<BlockId>,
}

macro_rules! faults {
    ($($name:literal, $part:literal, $what:literal, $act:expr;)*) => {
        /// The faults.
        pub static TABLE: &[Fault<Act>] = &[$(Fault { name: $name, part: $part, what: $what, act: $act }),*];
    };
}

faults! {
    "record-inner-mask", "record", "an inner mask is the outer one: its condition is forgotten", Act::Inst(|f, i| {
        (is_op(i, Op::And) && f.is_mask(i)).then(|| with_args(i, vec![i.args[0], i.args[0]]))
    });
    "record-blend", "record", "an assignment under a mask is made in all lanes", Act::Inst(|f, i| {
        (is_op(i, Op::Select) && f.is_varying(i)).then(|| with_args(i, vec![i.args[0], i.args[1], i.args[1]]))
    });
    "record-blend-arms", "record", "an assignment under a mask is made in the lanes that are off", Act::Inst(|f, i| {
        (is_op(i, Op::Select) && f.is_varying(i)).then(|| with_args(i, vec![i.args[0], i.args[2], i.args[1]]))
    });
    "record-store-mask", "record", "stores take the mask with which the loop was entered", Act::Inst(|f, i| {
        let in_a_row = matches!(i.kind, Kind::StoreMasked { .. } | Kind::StorePacked { .. });
        let stores = in_a_row || matches!(i.kind, Kind::StoreAny { .. } | Kind::Scatter { .. });
        let (mask, rest) = i.args.split_last().filter(|_| stores)?;
        let wide = f.entry_mask.filter(|wide| wide != mask)?;
        Some(with_args(i, [rest, &[wide]].concat()))
    });
    "record-exit-mask", "record", "a snapshot has the mask with which the loop was entered", Act::Exit(|f, exit, _| {
        let mut exit = exit.clone();
        let frame = exit.frames.last_mut()?;
        frame.mask = f.entry_mask.filter(|&wide| wide != frame.mask)?;
        Some(exit)
    });
    "record-exit-else", "record", "a snapshot forgets the lanes that wait in an entry of the mask stack", Act::Exit(|_, exit, _| {
        let mut exit = exit.clone();
        let entry = exit.frames.last_mut()?.entries.iter_mut().rfind(|e| e.restore != e.other)?;
        entry.other = entry.restore;
        Some(exit)
    });
    "record-exit-register", "record", "a register of a snapshot holds what it held at the exit before", Act::Exit(|_, exit, before| {
        let (mut exit, before) = (exit.clone(), before?.frames.last()?);
        let frame = exit.frames.last_mut().filter(|frame| frame.at == before.at && frame.function == before.function)?;
        let older = |reg| before.regs.iter().find(|r| r.reg == reg).map(|r| r.value);
        let stale = frame.regs.iter_mut().find(|r| older(r.reg).is_some_and(|v| v != r.value))?;
        stale.value = older(stale.reg)?;
        Some(exit)
    });
    "record-exit-caller", "record", "a snapshot in a callee forgets a register of its caller", Act::Exit(|_, exit, _| {
        let mut exit = exit.clone();
        let (_, callers) = exit.frames.split_last_mut()?;
        callers.iter_mut().rev().find_map(|frame| frame.regs.pop())?;
        Some(exit)
    });
    "params-stale", "params", "a varying value that a loop changes is handed on as it was in the round before", Act::Edge(|f, region, edge| {
        let params = &region.block(edge.to).params;
        let pairs = edge.args.iter().zip(params);
        let at = pairs.enumerate().find(|(_, (arg, param))| arg != param && f.type_of(**param).is_varying())?.0;
        let mut edge = f.back_edges.contains(&edge.to).then(|| edge.clone())?;
        edge.args[at] = params[at];
        Some(edge)
    });
    "straighten-exchanged", "straighten", "two values of one type change places between blocks", Act::Edge(|f, _, edge| {
        let ty = |i: usize| f.type_of(edge.args[i]);
        let pairs = (1..edge.args.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let (a, b) = pairs.into_iter().find(|&(a, b)| ty(a) == ty(b) && edge.args[a] != edge.args[b])?;
        let mut edge = edge.clone();
        edge.args.swap(a, b);
        Some(edge)
    });
    "fold-narrowing", "fold", "an integer that is made smaller and larger again keeps its upper bits", Act::Inst(|f, i| {
        let (Kind::Op { op: Op::Convert, ty, from }, inner) = (i.kind, f.defs.as_op(*i.args.first()?, Op::Convert)?) else { return None };
        let Kind::Op { from: first, .. } = inner.kind else { return None };
        (first == ty && ty.is_int() && from.is_int() && from.size() < ty.size()).then(|| copy_of(f, i, inner.arg(0))).flatten()
    });
    "fold-not-less", "fold", "the opposite of `lt` of floats is `ge`, also for NaNs", Act::Inst(|f, i| {
        let inner = f.defs.get(*i.args.first().filter(|_| is_op(i, Op::Not))?)?;
        let Kind::Op { op, ty, from } = inner.kind else { return None };
        let op = match op {
            Op::Lt => Op::Ge,
            Op::Le => Op::Gt,
            Op::Gt => Op::Le,
            Op::Ge => Op::Lt,
            _ => return None,
        };
        ty.is_float().then(|| Inst { kind: Kind::Op { op, ty, from }, ..with_args(i, vec![inner.arg(0), inner.arg(1)]).inst }.into())
    });
    "fold-wrap-around", "fold", "`x + c < y` is `x < y - c`, also where one of them wraps around", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Lt | Op::Le | Op::Gt | Op::Ge, ty, .. } = i.kind else { return None };
        let sum = f.defs.as_op(i.args[0], Op::Add).filter(|_| ty.is_int())?;
        let (c, limit) = (f.defs.known(sum.arg(1))?, f.defs.known(i.args[1])?);
        Some(Instead { constant: Some((1, ty, limit.wrapping_sub(c))), ..with_args(i, vec![sum.arg(0), i.args[1]]) })
    });
    "fold-plus-zero", "fold", "`x + 0` is `x`, also for floats", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Add, ty, .. } = i.kind else { return None };
        (ty.is_float() && f.defs.known(i.args[1])? == 0).then(|| copy_of(f, i, i.args[0])).flatten()
    });
    "fold-times-zero", "fold", "`x * 0` is `0`, also for floats", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Mul, ty, .. } = i.kind else { return None };
        (ty.is_float() && f.defs.known(i.args[1])? == 0).then(|| copy_of(f, i, i.args[1])).flatten()
    });
    "fold-minimum", "fold", "the operands of `min` and `max` of floats may be exchanged", Act::Inst(|_, i| {
        let Kind::Op { op: Op::Min | Op::Max, ty, .. } = i.kind else { return None };
        ty.is_float().then(|| with_args(i, vec![i.args[1], i.args[0]]))
    });
    "fold-shift-count", "fold", "a shift by a constant that is too large gives 0", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Shl | Op::Shr, ty, .. } = i.kind else { return None };
        let count = f.defs.known(i.args[1])?;
        let zero = Kind::Op { op: Op::And, ty, from: ty };
        let inst = Inst { kind: zero, ..i.clone() };
        (count >= 8 * ty.size() as u64).then_some(Instead { inst, constant: Some((1, ty, 0)) })
    });
    "mem2reg-stale-cell", "mem2reg", "a snapshot has what a cell of memory held at the exit before", Act::Exit(|_, exit, before| {
        let mut exit = exit.clone();
        let older = |cell| before?.cells.iter().find(|(known, _)| *known == cell).map(|(_, v)| *v);
        let stale = exit.cells.iter_mut().find(|(cell, v)| older(*cell).is_some_and(|old| old != *v))?;
        stale.1 = older(stale.0)?;
        Some(exit)
    });
    "mem2reg-lost-cell", "mem2reg", "a snapshot forgets a cell of memory", Act::Exit(|_, exit, _| {
        let mut exit = exit.clone();
        exit.cells.pop()?;
        Some(exit)
    });
    "gvn-second-argument", "gvn", "instructions are equal that differ in their second argument", Act::Region(|region, turns| {
        unite(region, turns, |a, b| {
            let binary = a.args.len() == 2 && !matches!(a.kind, Kind::Gather { .. });
            binary && a.args[0] == b.args[0] && a.args[1] != b.args[1]
        });
    });
    "gvn-loads", "gvn", "a load is made once though something was stored since", Act::Region(unite_loads);
    "gvn-commutes", "gvn", "differences, shifts and comparisons are equal with their arguments exchanged", Act::Region(|region, turns| {
        unite(region, turns, |a, b| a.args.len() == 2 && a.args[0] == b.args[1] && a.args[1] == b.args[0] && a.args[0] != a.args[1]);
    });
    "guards-divisor", "guards", "the test for a zero divisor is left out", Act::Region(|region, turns| {
        drop_guards(region, turns, |reason| matches!(reason, ExitReason::ZeroDivisor { .. }));
    });
    "guards-bounds", "guards", "a test for bounds is left out", Act::Region(|region, turns| {
        drop_guards(region, turns, ExitReason::is_bounds);
    });
    "strength_reduction-factor", "strength_reduction", "the factor that stands for a divisor is one too small", Act::Inst(|f, i| {
        let Kind::Op { op: Op::MulHi, ty, .. } = i.kind else { return None };
        Some(Instead { constant: Some((1, ty, f.defs.known(i.args[1])?.wrapping_sub(1))), ..with_args(i, i.args.clone()) })
    });
    "strength_reduction-shift", "strength_reduction", "the shift after the multiplication is one too small", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Shr, ty, .. } = i.kind else { return None };
        let of_product = |v| f.defs.as_op(v, Op::MulHi).is_some();
        let is_sum = |sum: Def| of_product(sum.arg(0)) || of_product(sum.arg(1));
        let count = f.defs.known(i.args[1]).filter(|&n| n > 0)?;
        let follows = of_product(i.args[0]) || f.defs.as_op(i.args[0], Op::Add).is_some_and(is_sum);
        follows.then(|| Instead { constant: Some((1, ty, count - 1)), ..with_args(i, i.args.clone()) })
    });
    "strength_reduction-toward-zero", "strength_reduction", "quotients of negative numbers are rounded down", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Sub, ty, .. } = i.kind else { return None };
        let sign = f.defs.as_op(i.args[1], Op::Shr)?;
        let is_sign = ty.is_signed() && f.defs.known(sign.arg(1)) == Some(8 * ty.size() as u64 - 1) && i.result?.index() >= f.values_before;
        is_sign.then(|| Instead { constant: Some((1, ty, 0)), ..with_args(i, i.args.clone()) })
    });
    "pointer_induction-stays", "pointer_induction", "a pointer that a loop advances is where it was before the loop", Act::Inst(|f, i| {
        let is_new = is_op(i, Op::PAdd) && i.result?.index() >= f.values_before;
        is_new.then(|| Instead { constant: Some((1, Ty::I64, 0)), ..with_args(i, i.args.clone()) })
    });
    "pointer_induction-step", "pointer_induction", "a pointer is handed on as it was in the round before", Act::Edge(|f, region, edge| {
        let params = &region.block(edge.to).params;
        let at = params.iter().position(|v| v.index() >= f.values_before)?;
        let mut edge = f.back_edges.contains(&edge.to).then(|| edge.clone())?;
        edge.args[at] = params[at];
        Some(edge)
    });
    "bounds-one-more", "bounds", "one index more is in bounds", Act::Inst(|_, i| match i.kind {
        Kind::IndexSpan { scale, disp, need, ty } if need >= scale => {
            Some(Inst { kind: Kind::IndexSpan { scale, disp, need: need - scale, ty }, ..i.clone() }.into())
        }
        _ => None,
    });
    "bounds-one-before", "bounds", "the index before the first is in bounds", Act::Inst(|_, i| match i.kind {
        Kind::IndexLow { scale, disp, ty } => {
            Some(Inst { kind: Kind::IndexLow { scale, disp: disp.wrapping_add(scale as i64), ty }, ..i.clone() }.into())
        }
        _ => None,
    });
    "licm-load", "licm", "a load leaves a loop that stores", Act::Region(hoist_loads);
    "predictive_commoning-stale", "predictive_commoning", "a round hands on what it got, not what it has stored or loaded", Act::Edge(|f, region, edge| {
        let params = &region.block(edge.to).params;
        let is_new = |v: &Value| v.index() >= f.values_before;
        let at = params.iter().position(is_new).filter(|&at| !is_new(&edge.args[at]))?;
        let mut edge = f.back_edges.contains(&edge.to).then(|| edge.clone())?;
        edge.args[at] = params[at];
        Some(edge)
    });
    "fuse-arms", "fuse", "operands are selected from the wrong arms", Act::Inst(|f, i| {
        let is_new = is_op(i, Op::Select) && i.result?.index() >= f.values_before;
        is_new.then(|| with_args(i, vec![i.args[0], i.args[2], i.args[1]]))
    });
    "lone-checks-begin", "lone_checks", "a check for one index does not look below the region", Act::Inst(|f, i| {
        let is_new = is_op(i, Op::Or) && i.result?.index() >= f.values_before;
        is_new.then(|| with_args(i, vec![i.args[1], i.args[1]]))
    });
    "lone-checks-end", "lone_checks", "a check for one index does not look behind the region", Act::Inst(|f, i| {
        let is_new = is_op(i, Op::Or) && i.result?.index() >= f.values_before;
        is_new.then(|| with_args(i, vec![i.args[0], i.args[0]]))
    });
    "narrow-shift", "narrow", "what is shifted to the right in fewer bits has one more of them above", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Shr, ty, .. } = i.kind else { return None };
        let count = f.defs.known(i.args[1]).filter(|&n| n > 0 && i.result.is_some_and(|v| v.index() >= f.values_before))?;
        Some(Instead { constant: Some((1, ty, count - 1)), ..with_args(i, i.args.clone()) })
    });
    "implied_checks-limit", "implied_checks", "what is inside an array goes the way of what is below the program's limit", Act::Inst(|f, i| {
        let is_new = is_op(i, Op::Min) && i.result?.index() >= f.values_before;
        is_new.then(|| copy_of(f, i, i.args[1])).flatten()
    });
    "implied_checks-room", "implied_checks", "the elements before a pointer count as if they were behind it", Act::Inst(|f, i| {
        let is_rest = is_op(i, Op::Sub) && i.result?.index() >= f.values_before && f.defs.known(i.args[0]) != Some(0);
        is_rest.then(|| copy_of(f, i, i.args[0])).flatten()
    });
    "loop_versioning-one-more", "loop_versioning", "a loop that ends below its limit does a round too many without tests", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Add, ty: Ty::U64, .. } = i.kind else { return None };
        let less_one = f.defs.known(i.args[1]) == Some(u64::MAX) && i.result?.index() >= f.values_before;
        less_one.then(|| Instead { constant: Some((1, Ty::U64, 0)), ..with_args(i, i.args.clone()) })
    });
    "loop_versioning-first", "loop_versioning", "the rounds without tests begin one too late", Act::Inst(|f, i| {
        let Kind::Op { op: Op::Sub, ty: Ty::U64, .. } = i.kind else { return None };
        let rounds = f.defs.as_op(i.args[1], Op::Shl).filter(|_| f.defs.known(i.args[0]) == Some(0))?;
        let unit = 1 << f.defs.known(rounds.arg(1))?;
        (i.result?.index() >= f.values_before)
            .then(|| Instead { constant: Some((0, Ty::U64, unit)), ..with_args(i, i.args.clone()) })
    });
    "dont_care-lanes", "dont_care", "gathers do not clear inactive lanes though somebody sees them", Act::Inst(|_, i| match i.kind {
        Kind::Gather { ty, index, scale, clears: true } if ty != Ty::Bool => {
            Some(Inst { kind: Kind::Gather { ty, index, scale, clears: false }, ..i.clone() }.into())
        }
        _ => None,
    });
    "dead-register", "dead", "a register that the loop has changed is missing from a snapshot", Act::Exit(|_, exit, _| {
        let mut exit = exit.clone();
        exit.frames.last_mut()?.regs.pop()?;
        Some(exit)
    });
    "dead-store", "dead", "of two stores to one array the first is taken for useless", Act::Region(drop_stores);
}

/// Changes a region as the fault that is planted does after a pass; before it there were so many values.
pub(super) fn after(pass: &str, region: &mut Region, values_before: usize) {
    let Some(fault) = planted(TABLE).filter(|fault| fault.part == pass) else { return };
    let (facts, mut turns) = (Facts::of(region, values_before), Turns::default());
    match fault.act {
        Act::Inst(act) => other_insts(region, &facts, &mut turns, act),
        Act::Exit(act) => other_exits(region, &facts, &mut turns, act),
        Act::Edge(act) => {
            let old = region.clone();
            let edges = region.blocks.iter_mut().flat_map(|block| block.end.edges_mut());
            edges.for_each(|edge| turns.put(edge, act(&facts, &old, &edge.clone())));
        }
        Act::Region(act) => act(region, &mut turns),
    }
}

impl Facts {
    fn of(region: &Region, values_before: usize) -> Facts {
        let is_entry_mask = |inst: &&Inst| inst.kind == Kind::EntryMask(EntryMask::Execution);
        let entry_mask = region.blocks[0].insts.iter().find(is_entry_mask).and_then(|inst| inst.result);
        let dominators = Dominators::new(region);
        let leads_back = |from: BlockId, to: BlockId| dominators.is_reachable(from) && dominators.dominates(to, from);
        let blocks = region.blocks.iter().enumerate().map(|(i, block)| (BlockId(i as u32), block));
        let edges = blocks.flat_map(|(from, block)| block.end.edges().map(move |edge| (from, edge.to)));
        let back_edges = edges.filter(|&(from, to)| leads_back(from, to)).map(|(_, to)| to).collect();
        Facts { types: region.types.clone(), defs: Defs::of(region), entry_mask, values_before, back_edges }
    }

    fn type_of(&self, v: Value) -> Type {
        self.types[v.index()]
    }

    fn is_varying(&self, inst: &Inst) -> bool {
        inst.result.is_some_and(|v| self.type_of(v).is_varying())
    }

    fn is_mask(&self, inst: &Inst) -> bool {
        inst.result.is_some_and(|v| self.type_of(v) == Type::MASK)
            && inst.args.iter().all(|&v| self.type_of(v) == Type::MASK)
    }
}

impl From<Inst> for Instead {
    fn from(inst: Inst) -> Instead {
        Instead { inst, constant: None }
    }
}

fn is_op(inst: &Inst, wanted: Op) -> bool {
    matches!(inst.kind, Kind::Op { op, .. } if op == wanted)
}

fn with_args(inst: &Inst, args: Vec<Value>) -> Instead {
    Inst { args, ..inst.clone() }.into()
}

/// An instruction that gives a value that there is, if it is of the right type and shape.
fn copy_of(facts: &Facts, inst: &Inst, v: Value) -> Option<Instead> {
    let ty = facts.type_of(inst.result?);
    let copy = Inst { kind: Kind::Op { op: Op::Mov, ty: ty.ty, from: ty.ty }, args: vec![v], result: inst.result };
    let splat = Inst { kind: Kind::Splat, ..copy.clone() };
    match facts.type_of(v) {
        given if given == ty => Some(copy.into()),
        given if given.ty == ty.ty && ty.is_varying() => Some(splat.into()),
        _ => None,
    }
}

fn other_insts(region: &mut Region, facts: &Facts, turns: &mut Turns, act: InsteadOf) {
    for b in 0..region.blocks.len() {
        let mut insts = Vec::with_capacity(region.blocks[b].insts.len());
        for mut inst in std::mem::take(&mut region.blocks[b].insts) {
            if let Some(other) = act(facts, &inst)
                && turns.next()
            {
                inst = other.inst;
                if let Some((at, ty, bits)) = other.constant {
                    inst.args[at] = Maker { region, to: &mut insts }.constant(ty, bits);
                }
            }
            insts.push(inst);
        }
        region.blocks[b].insts = insts;
    }
}

/// Each exit gets a state of its own, for another instruction may leave by the same.
fn other_exits(region: &mut Region, facts: &Facts, turns: &mut Turns, act: AtExit) {
    for b in 1..region.blocks.len() {
        let mut before: Option<Exit> = None;
        for i in 0..region.blocks[b].insts.len() {
            let Some(id) = region.blocks[b].insts[i].kind.exit() else { continue };
            let exit = region.exits[id.index()].clone();
            if let Some(other) = act(facts, &exit, before.as_ref())
                && turns.next()
            {
                region.exits.push(other);
                let new = ExitId(region.exits.len() as u32 - 1);
                region.blocks[b].insts[i].kind.exit_mut().into_iter().for_each(|id| *id = new);
            }
            before = Some(exit);
        }
    }
}

/// Has the first of two instructions of a block that do the same stand for the second.
fn unite(region: &mut Region, turns: &mut Turns, equal: fn(&Inst, &Inst) -> bool) {
    let types = region.types.clone();
    let ty = |inst: &Inst| inst.result.map(|v| types[v.index()]);
    for block in &mut region.blocks {
        for i in 0..block.insts.len() {
            let (before, inst) = (&block.insts[..i], &block.insts[i]);
            let same = |a: &&Inst| a.kind == inst.kind && a.kind.is_pure() && ty(a) == ty(inst) && equal(a, inst);
            let other = before.iter().find(same).map(|a| Inst { result: inst.result, ..a.clone() });
            let other = other.filter(|other| matches!(other.kind, Kind::Op { .. }));
            turns.put(&mut block.insts[i], other);
        }
    }
}

/// Replaces a load by the one of the same address before it, though there is a store between them.
fn unite_loads(region: &mut Region, turns: &mut Turns) {
    let types = region.types.clone();
    for block in &mut region.blocks {
        for i in 0..block.insts.len() {
            let inst = &block.insts[i];
            let Some(result) = inst.result.filter(|_| inst.kind.is_plain_load()) else { continue };
            let Some(j) = block.insts[..i].iter().position(|a| a.kind == inst.kind && a.args == inst.args) else {
                continue;
            };
            let stored = block.insts[j..i].iter().any(|a| a.kind.is_plain_store());
            let ty = types[result.index()].ty;
            let copy = block.insts[j].result.map(|v| Inst {
                kind: Kind::Op { op: Op::Mov, ty, from: ty },
                args: vec![v],
                result: Some(result),
            });
            turns.put(&mut block.insts[i], copy.filter(|_| stored));
        }
    }
}

/// Removes the guards that are there for such a reason.
fn drop_guards(region: &mut Region, turns: &mut Turns, is_reason: impl Fn(ExitReason) -> bool) {
    let exits = &region.exits;
    for block in &mut region.blocks {
        block.insts.retain(|inst| match inst.kind {
            Kind::Guard { exit } => !is_reason(exits[exit.index()].reason) || !turns.next(),
            _ => true,
        });
    }
}

/// Removes a store that is followed, in its block, by one of the same kind to the same address or with the same base.
fn drop_stores(region: &mut Region, turns: &mut Turns) {
    for block in &mut region.blocks {
        let insts = block.insts.clone();
        let again = |i: usize| insts[i + 1..].iter().any(|b| b.kind == insts[i].kind && b.args[0] == insts[i].args[0]);
        let mut at = 0..;
        block.insts.retain(|inst| {
            let at = at.next().unwrap_or(0);
            !(inst.kind.is_plain_store() && again(at) && turns.next())
        });
    }
}

/// Moves loads from loops with stores to the blocks before, if their addresses are known there.
fn hoist_loads(region: &mut Region, turns: &mut Turns) {
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    let home = definitions(region);
    let has_store = |region: &Region, l: usize| {
        let blocks = region.blocks.iter().enumerate().filter(|(b, _)| loops.contains(l, BlockId(*b as u32)));
        blocks.flat_map(|(_, block)| &block.insts).any(|inst| inst.kind.is_plain_store())
    };
    for &b in dominators.order() {
        let Some(l) = loops.of(b).filter(|&l| has_store(region, l)) else { continue };
        let before = dominators.parent(loops.header(l));
        let movable = |inst: &Inst| {
            let scalars = matches!(inst.kind, Kind::Load { .. } | Kind::LoadLanes { .. });
            scalars && inst.args.iter().all(|v| dominators.dominates(home[v.index()], before))
        };
        let mut moved = Vec::new();
        region.blocks[b.index()].insts.retain(|inst| {
            let moves = movable(inst) && turns.next();
            moves.then(|| moved.push(inst.clone())).is_none()
        });
        region.blocks[before.index()].insts.extend(moved);
    }
}
