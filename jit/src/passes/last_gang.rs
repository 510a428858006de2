//! A gang with fewer lanes than it could have is the last one.
//!
//! `foreach` from `i` to `n` goes over whole gangs of `W` lanes while `i ≤ n - W`, and then over the `n - i` lanes that are left. Code for
//! such a gang is recorded as that of any round: behind it there are the questions whether a whole gang follows, and how many lanes are
//! left, and ways back for when they say so. They never do:
//!
//! ```text
//! i ≤ n - W ─ no ─► n - i > 0 ─ yes ─► gang of n - i lanes ─► i + W ≤ n - W ─ no ─► n - (i + W) > 0 ─ no ─► …
//!                                              ▲                    └─ yes ─┐                └─ yes ─┐
//!                                              └────────────────────────────┴────────────────────────┘
//! ```
//!
//! # Rules
//!
//! Of some parameters of blocks it is shown that each is beyond `n - W`, in all rounds: what ways into the blocks bring is such a
//! parameter, or has been compared with `n - W` on that way, and found beyond it; or else the way is one that a question below
//! would have to say yes for. (Who comes by such a way first has come by another one before. So there is none who does.) If `p` is
//! beyond `n - W`, and `a ≥ W`, neither `p + a ≤ n - W` nor `n - (p + a) > 0`: these questions are answered with no. Where a number
//! has been found beyond `n - W` and below `n`, votes whether lanes are left, and whether some lack, are answered with yes.
//!
//! Nothing wraps around: `n` is a number of 32 bits, and so are those that parameters begin with; what is added to them takes at most
//! 2¹⁶, so it would take 2⁴⁶ rounds. Loops end with their last gang then: what they would hand on for others is not there any more.

use super::defs::{Def, Defs};
use super::guards::only_ways;
use crate::dominance::Dominators;
use crate::ir::{BlockId, End, Kind, Region, Value};
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Most parameters that hand a number on to one another.
const MAX_PARAMS: usize = 12;

/// Most that is added to one at once.
const MAX_STEP: i64 = 1 << 16;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let defs = Defs::of(region);
    if !branches(region).any(|cond| whole(&defs, cond).is_some()) {
        return;
    }
    let claims: Vec<(Value, Limit)> = branches(region).filter_map(|cond| claim(&defs, cond)).collect();
    let facts = Facts::new(region, defs);
    let mut answered = vec![false; region.types.len()];
    for (p, limit) in claims {
        let Some(params) = facts.beyond(p, limit) else { continue };
        for cond in branches(region).filter(|&cond| facts.is_never(cond, limit, &params)) {
            answered[cond.index()] = true;
        }
    }
    let lanes = region.width.lanes() as i64;
    for &b in facts.dominators.order() {
        let block = &mut region.blocks[b.index()];
        let End::Branch { cond, then, other } = &block.end else { continue };
        if answered[cond.index()] {
            block.end = End::Jump(other.clone());
        } else if facts.is_won(*cond, (b, None), lanes) {
            block.end = End::Jump(then.clone());
        }
    }
}

fn branches(region: &Region) -> impl Iterator<Item = Value> {
    region.blocks.iter().filter_map(|block| match &block.end {
        End::Branch { cond, .. } => Some(*cond),
        End::Jump(_) | End::Exit(_) => None,
    })
}

/// The last number at which a whole gang begins: so many less than another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Limit {
    n: Value,
    lanes: i64,
}

/// A number plus a constant.
fn sum(defs: &Defs, v: Value) -> (Value, i64) {
    let plus = |op| defs.as_op(v, op).and_then(|def| Some((def.arg(0), defs.known(def.arg(1))? as i64)));
    match (plus(Op::Add), plus(Op::Sub)) {
        (Some((x, a)), _) if a.abs() <= MAX_STEP => (x, a),
        (_, Some((x, a))) if a.abs() <= MAX_STEP => (x, -a),
        _ => (v, 0),
    }
}

/// Of a question whether a whole gang begins at a number: that, and the limit.
fn whole(defs: &Defs, cond: Value) -> Option<(Value, Limit)> {
    let le = defs.get(cond).filter(|def| matches!(def.kind, Kind::Op { op: Op::Le, ty: Ty::I64, .. }))?;
    let (n, less) = sum(defs, le.arg(1));
    let is_short = matches!(defs.get(n)?.kind, Kind::Op { op: Op::Convert, ty: Ty::I64, from: Ty::I32 });
    (is_short && less < 0).then_some((le.arg(0), Limit { n, lanes: -less }))
}

/// Of such a question about a parameter some rounds later: what it may be shown of.
fn claim(defs: &Defs, cond: Value) -> Option<(Value, Limit)> {
    let (x, limit) = whole(defs, cond)?;
    let (p, a) = sum(defs, x);
    (a >= limit.lanes && defs.get(p).is_none()).then_some((p, limit))
}

/// What leads to a block: from where, with the condition of the branch there and what that is then.
type Way = (BlockId, Option<(Value, bool)>);

struct Facts {
    defs: Defs,
    dominators: Dominators,
    /// By block: the condition that has let it be entered, if there is one way to it.
    entered: Vec<Option<(Value, bool)>>,
    /// By parameter: what ways bring.
    brought: HashMap<Value, Vec<(Way, Value)>>,
}

impl Facts {
    fn new(region: &Region, defs: Defs) -> Facts {
        let dominators = Dominators::new(region);
        let mut brought: HashMap<Value, Vec<(Way, Value)>> = HashMap::new();
        for &b in dominators.order() {
            let end = &region.block(b).end;
            let conds = match end {
                End::Branch { cond, .. } => [Some((*cond, true)), Some((*cond, false))],
                End::Jump(_) | End::Exit(_) => [None; 2],
            };
            for (edge, cond) in end.edges().zip(conds) {
                for (&param, &arg) in region.block(edge.to).params.iter().zip(&edge.args) {
                    brought.entry(param).or_default().push(((b, cond), arg));
                }
            }
        }
        Facts { defs, dominators, entered: only_ways(region), brought }
    }

    /// The conditions that are known on a way, and what they are.
    fn known(&self, (from, cond): Way) -> impl Iterator<Item = (Value, bool)> {
        let mut at = Some(from);
        let blocks = std::iter::from_fn(move || {
            let block = at?;
            let parent = self.dominators.parent(block);
            at = Some(parent).filter(|&parent| parent != block);
            Some(block)
        });
        cond.into_iter().chain(blocks.filter_map(|b| self.entered[b.index()]))
    }

    /// The parameters, this one among them, that are shown to be beyond a limit.
    fn beyond(&self, p: Value, limit: Limit) -> Option<Vec<Value>> {
        let mut params = vec![p];
        let mut at = 0;
        while let Some(&param) = params.get(at) {
            for &(way, v) in self.brought.get(&param)? {
                let is_beyond = |(cond, truth): (Value, bool)| !truth && whole(&self.defs, cond) == Some((v, limit));
                let is_never = |(cond, truth): (Value, bool)| truth && self.is_never(cond, limit, &params);
                if params.contains(&v) || self.known(way).any(|known| is_beyond(known) || is_never(known)) {
                    continue;
                }
                if params.len() == MAX_PARAMS || !self.brought.contains_key(&v) {
                    return None;
                }
                params.push(v);
            }
            at += 1;
        }
        params.iter().all(|&param| self.is_short(param)).then_some(params)
    }

    /// Returns whether a condition is false as some parameters are beyond a limit.
    fn is_never(&self, cond: Value, limit: Limit, params: &[Value]) -> bool {
        let is_behind = |x: Value| {
            let (p, a) = sum(&self.defs, x);
            a >= limit.lanes && params.contains(&p)
        };
        let asks_for_whole = whole(&self.defs, cond).is_some_and(|(x, other)| other == limit && is_behind(x));
        asks_for_whole || self.left(cond).is_some_and(|(n, x)| n == limit.n && is_behind(x))
    }

    /// Of a question whether there are lanes left from a number on: the number behind the last lane, and that one.
    fn left(&self, cond: Value) -> Option<(Value, Value)> {
        let gt = self.defs.get(cond).filter(|def| matches!(def.kind, Kind::Op { op: Op::Gt, ty: Ty::I64, .. }))?;
        let difference = self.defs.as_op(gt.arg(0), Op::Sub)?;
        (self.defs.known(gt.arg(1)) == Some(0)).then_some((difference.arg(0), difference.arg(1)))
    }

    /// Returns whether a vote on the lanes that are left, whether there are any or whether some lack, is known to be won on a way: lanes
    /// are left, but no whole gang.
    fn is_won(&self, vote: Value, way: Way, lanes: i64) -> bool {
        let mask = self.defs.get(vote).filter(|def| matches!(def.kind, Kind::AnyLane)).map(|def| def.arg(0));
        let mask = mask.map(|mask| self.defs.as_op(mask, Op::Not).map_or(mask, |def| def.arg(0)));
        let Some(below) = mask.and_then(|mask| self.defs.as_op(mask, Op::Lt)) else { return false };
        let is_lane_number = self.defs.as_op(below.arg(0), Op::Iota).is_some();
        let is_cut = |def: &Def| matches!(def.kind, Kind::Op { op: Op::Convert, ty: Ty::I32, from: Ty::I64 });
        let count = self.defs.get(below.arg(1)).filter(is_cut).map(|def| def.arg(0));
        let Some(left) = count.and_then(|count| self.defs.as_op(count, Op::Sub)).filter(|_| is_lane_number) else {
            return false;
        };
        let (n, x) = (left.arg(0), left.arg(1));
        let is_left = |(cond, truth): (Value, bool)| truth && self.left(cond) == Some((n, x));
        let is_last = |(cond, truth): (Value, bool)| {
            !truth && whole(&self.defs, cond).is_some_and(|(y, limit)| y == x && limit.n == n && limit.lanes <= lanes)
        };
        self.known(way).any(is_left) && self.known(way).any(is_last) && self.is_short(x)
    }

    /// Returns whether a number begins with one of 32 bits, and grows by small constants alone.
    fn is_short(&self, v: Value) -> bool {
        let mut numbers = vec![sum(&self.defs, v).0];
        let mut at = 0;
        while let Some(&v) = numbers.get(at) {
            let is_short = match self.defs.get(v).map(|def| def.kind) {
                Some(Kind::Const(bits)) => i32::try_from(bits as i64).is_ok(),
                Some(Kind::Op { op: Op::Convert, ty: Ty::I64, from }) => from.is_int() && from.size() <= 4,
                _ => self.brought.contains_key(&v),
            };
            if !is_short || numbers.len() > MAX_PARAMS {
                return false;
            }
            for &(_, brought) in self.brought.get(&v).into_iter().flatten() {
                let (base, _) = sum(&self.defs, brought);
                if !numbers.contains(&base) {
                    numbers.push(base);
                }
            }
            at += 1;
        }
        true
    }
}
