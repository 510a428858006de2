//! What is to be made of the arms of some roots: which pairs are fused, and whether that pays.

use super::{Arms, Chosen, Root, cost, selecting};
use crate::ir::{End, Kind, Region, Value};
use crate::passes::defs::Defs;
use spmdvm_vm::isa::{Form, Op};
use std::collections::{HashMap, HashSet};

/// Most pairs of a plan.
const MAX_PAIRS: usize = 400;

/// Most plans for the roots of a mask.
const MAX_PLANS: usize = 8;

/// What stands at the same place in the first and in the second arm.
pub(super) type Pair = (Value, Value);

/// What is made of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fusion {
    Selected,
    /// The operation on merged operands, of which there are so many.
    Fused {
        kind: Kind,
        operands: [Pair; 3],
        n: usize,
    },
}

/// The values of a block, and what uses each.
pub(super) struct Uses {
    /// Results of pure instructions of the block, with the results of those that use them.
    own: HashMap<Value, Vec<Value>>,
    /// Values that something else uses: an effect, a snapshot, the end of a block, another block.
    elsewhere: Vec<bool>,
}

impl Uses {
    pub fn of(region: &Region, block: usize) -> Uses {
        let mut uses = Uses { own: HashMap::new(), elsewhere: vec![false; region.types.len()] };
        for (b, other) in region.blocks.iter().enumerate() {
            for inst in &other.insts {
                match inst.result.filter(|_| b == block && inst.kind.is_pure()) {
                    Some(result) => uses.note(result, &inst.args),
                    None => inst.args.iter().for_each(|v| uses.elsewhere[v.index()] = true),
                }
            }
            let condition = if let End::Branch { cond, .. } = &other.end { Some(cond) } else { None };
            let handed = other.end.edges().flat_map(|edge| &edge.args);
            handed.chain(condition).for_each(|v| uses.elsewhere[v.index()] = true);
        }
        region.exits.iter().flat_map(|exit| exit.values()).for_each(|v| uses.elsewhere[v.index()] = true);
        uses
    }

    fn note(&mut self, result: Value, args: &[Value]) {
        self.own.insert(result, Vec::new());
        args.iter().for_each(|arg| {
            if let Some(users) = self.own.get_mut(arg) {
                users.push(result);
            }
        });
    }

    fn is_own(&self, v: Value) -> bool {
        self.own.contains_key(&v)
    }

    /// Those of some values of the block that nothing needs but one another when some results are computed in another way.
    fn dying(&self, values: &HashSet<Value>, replaced: &HashSet<Value>) -> HashSet<Value> {
        let mut values = values.clone();
        loop {
            let dying = self.without(&values, replaced);
            if dying.len() == values.len() {
                return dying;
            }
            values = dying;
        }
    }

    /// Some values without those that something else uses directly.
    fn without(&self, values: &HashSet<Value>, replaced: &HashSet<Value>) -> HashSet<Value> {
        let gone = |v: &Value| values.contains(v) || replaced.contains(v);
        let dies = |v: &&Value| {
            let own = self.own.get(*v).filter(|_| !self.elsewhere[v.index()]);
            own.is_some_and(|users| users.iter().all(gone))
        };
        values.iter().filter(dies).copied().collect()
    }
}

/// What is made of the pairs of some roots.
pub(super) struct Plan<'a> {
    region: &'a Region,
    defs: &'a Defs,
    uses: &'a Uses,
    arms: Arms,
    /// Pairs that may not be fused: it would not save an operation.
    kept: HashSet<Pair>,
    fusions: HashMap<Pair, Fusion>,
    /// The pairs in the order in which they were decided.
    order: Vec<Pair>,
    /// Results that a fused pair stands for.
    fused: HashSet<Value>,
    /// `select`s that were looked through.
    passed: HashSet<Value>,
}

impl<'a> Plan<'a> {
    /// A plan that pays, if there is one.
    pub fn best(region: &Region, defs: &Defs, uses: &Uses, arms: Arms, roots: &[Root]) -> Option<Chosen> {
        let mut kept = HashSet::new();
        for _ in 0..MAX_PLANS {
            let mut plan = Plan {
                region,
                defs,
                uses,
                arms,
                kept,
                fusions: HashMap::new(),
                order: Vec::new(),
                fused: HashSet::new(),
                passed: HashSet::new(),
            };
            let gain: i32 = roots.iter().map(|root| plan.root(root)).sum();
            if gain <= 0 {
                return None;
            }
            let (candidates, replaced) = plan.candidates(roots);
            let dying = uses.dying(&candidates, &replaced);
            if plan.fused_pairs().all(|pair| is_in(&dying, pair)) {
                let ends = roots.iter().map(|root| plan.through(root.pair)).collect();
                return Some(Chosen { arms, fusions: plan.fusions, dying, ends });
            }
            // What lives on for the sake of another such pair may well die when that one is selected.
            let first = uses.without(&candidates, &replaced);
            kept = plan
                .fused_pairs()
                .filter(|pair| !is_in(&first, pair))
                .copied()
                .chain(plan.kept.iter().copied())
                .collect();
        }
        None
    }

    fn fused_pairs(&self) -> impl Iterator<Item = &Pair> {
        self.order.iter().filter(|pair| matches!(self.fusions.get(pair), Some(Fusion::Fused { .. })))
    }

    /// What may not be needed any more when the fused roots are computed in the new way, and their results.
    fn candidates(&self, roots: &[Root]) -> (HashSet<Value>, HashSet<Value>) {
        let mut replaced = HashSet::new();
        let mut values: HashSet<Value> = self.fused.union(&self.passed).copied().collect();
        for root in roots.iter().filter(|root| self.is_fused(root)) {
            replaced.insert(root.result);
            values.extend(root.old.map(|(_, inner)| inner));
        }
        self.operands_left(roots).for_each(|v| {
            values.remove(&v);
        });
        (values, replaced)
    }

    /// What the new instructions use.
    fn operands_left(&self, roots: &[Root]) -> impl Iterator<Item = Value> {
        let left = |pair: &Pair| !matches!(self.fusions.get(pair), Some(Fusion::Fused { .. }));
        let operands = self.fusions.values().flat_map(|fusion| match fusion {
            Fusion::Fused { operands, n, .. } => &operands[..*n],
            Fusion::Selected => &[],
        });
        let old = roots.iter().filter_map(|root| root.old).map(|(old, _)| old);
        operands.filter(move |pair| left(pair)).flat_map(|&(a, b)| [a, b]).chain(old)
    }

    fn is_fused(&self, root: &Root) -> bool {
        let pair = self.through(root.pair);
        matches!(self.fusions.get(&pair), Some(Fusion::Fused { .. }))
    }

    /// Decides about a root; gives what is saved.
    fn root(&mut self, root: &Root) -> i32 {
        let pair = self.under(root.pair);
        let own = selecting(self.region.ty(root.result).ty);
        match self.fusions.get(&pair) {
            Some(Fusion::Fused { .. }) => return own,
            Some(Fusion::Selected) => return 0,
            None => {}
        }
        match self.try_fuse(pair, own) {
            Some(spent) => own - spent,
            // The root stays, and selects what it selected.
            None => 0,
        }
    }

    /// Decides about a pair; gives what it costs beyond computing both of its values.
    fn fuse(&mut self, pair: Pair) -> i32 {
        if self.is_same(pair) || self.fusions.contains_key(&pair) {
            return 0;
        }
        let own = selecting(self.region.ty(pair.0).ty);
        self.try_fuse(pair, own).unwrap_or_else(|| {
            self.note(pair, Fusion::Selected);
            own
        })
    }

    /// Fuses a pair if that costs less than to select it: gives what it costs.
    fn try_fuse(&mut self, pair: Pair, selecting: i32) -> Option<i32> {
        let (kind, operands, n) = self.operands(pair)?;
        let operands = operands.map(|operand| self.under(operand));
        let decided = self.order.len();
        self.note(pair, Fusion::Fused { kind, operands, n });
        let spent: i32 = operands[..n].iter().map(|&operand| self.fuse(operand)).sum();
        let spent = spent - self.saved(kind);
        if spent < selecting {
            return Some(spent);
        }
        for pair in self.order.split_off(decided) {
            if let Some(Fusion::Fused { .. }) = self.fusions.remove(&pair) {
                self.fused.remove(&pair.0);
                self.fused.remove(&pair.1);
            }
        }
        None
    }

    fn saved(&self, kind: Kind) -> i32 {
        match kind {
            Kind::Op { op, ty, from } => cost(op, ty, from),
            _ => 0,
        }
    }

    fn note(&mut self, pair: Pair, fusion: Fusion) {
        if let Fusion::Fused { .. } = fusion {
            self.fused.extend([pair.0, pair.1]);
        }
        self.fusions.insert(pair, fusion);
        self.order.push(pair);
    }

    /// The operation that both values of a pair are results of, and its operands, if it may be fused.
    fn operands(&self, pair: Pair) -> Option<(Kind, [Pair; 3], usize)> {
        let (a, b) = pair;
        let free = |v: &Value| self.uses.is_own(*v) && !self.fused.contains(v);
        let (x, y) = (self.defs.get(a)?, self.defs.get(b)?);
        let Kind::Op { op, .. } = x.kind else { return None };
        let varies = [a, b].iter().all(|&v| self.region.ty(v).is_varying());
        if x.kind != y.kind || !varies || !is_elementwise(op) || self.kept.contains(&pair) {
            return None;
        }
        if a == b || !free(&a) || !free(&b) || self.order.len() >= MAX_PAIRS {
            return None;
        }
        let n = op.info().sig.src.len();
        let mut operands: [Pair; 3] = std::array::from_fn(|i| (x.arg(i), y.arg(i)));
        if op.info().commutative {
            let swapped = [(x.arg(0), y.arg(1)), (x.arg(1), y.arg(0))];
            let same = |pairs: &[Pair]| pairs.iter().filter(|&&pair| self.is_same(self.through(pair))).count();
            if same(&swapped) > same(&operands[..2]) {
                operands[..2].copy_from_slice(&swapped);
            }
        }
        let counts = matches!(op, Op::Shl | Op::Shr) && !self.is_same(self.through(operands[1]));
        (!counts).then_some((x.kind, operands, n))
    }

    fn is_same(&self, (a, b): Pair) -> bool {
        let value = |v| self.defs.splat(v).unwrap_or(v);
        value(a) == value(b)
    }

    /// The pair with `select`s looked through whose outcome is known in the lanes of the arm.
    fn under(&mut self, pair: Pair) -> Pair {
        let ends = self.through(pair);
        let passed = self.path(pair.0, true).chain(self.path(pair.1, false));
        let passed: Vec<Value> = passed.filter(|&v| v != ends.0 && v != ends.1).collect();
        self.passed.extend(passed);
        ends
    }

    fn through(&self, pair: Pair) -> Pair {
        let end = |v, first| self.path(v, first).last().unwrap_or(v);
        (end(pair.0, true), end(pair.1, false))
    }

    /// A value and what it is in the lanes of an arm, through one `select` after another.
    fn path(&self, v: Value, first: bool) -> impl Iterator<Item = Value> {
        std::iter::successors(Some(v), move |&v| self.step(v, first))
    }

    /// What a `select` gives in the lanes of an arm, if that is known.
    fn step(&self, v: Value, first: bool) -> Option<Value> {
        let select = self.defs.as_op(v, Op::Select)?;
        let here = select.arg(0);
        if !self.region.ty(here).is_varying() {
            return None;
        }
        let taken = match self.arms.second {
            _ if here == self.arms.first => first,
            Some(second) if here == second => !first,
            _ => return None,
        };
        Some(if taken { select.arg(1) } else { select.arg(2) })
    }
}

fn is_in(values: &HashSet<Value>, pair: &Pair) -> bool {
    values.contains(&pair.0) && values.contains(&pair.1)
}

fn is_elementwise(op: Op) -> bool {
    matches!(op.info().form, Form::Unary | Form::Binary | Form::Ternary | Form::Compare)
        || matches!(op, Op::Select | Op::Convert | Op::Bitcast)
}
