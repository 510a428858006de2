//! What the copy of a counted loop computes from how far it has come.
//!
//! The copy counts its *progress* `k`, which grows in every round by the size of the counter's step and is 0 after the last one
//! (so that nothing but it is needed to tell that). The parameters of the head that change by a constant are not handed from
//! round to round: they are their last value plus a multiple of `k`, in wrapping arithmetic.
//!
//! So are addresses: the last one plus a multiple of `k`, which is an operand of the access itself. There an index of 32 bits is
//! made one of 64, so it must not wrap around: its last value is computed in 64 bits beforehand (`rounds` is below 2³² and steps
//! are below 2²⁹), and if it is not what 32 bits hold, the loop with the checks runs. Values in between lie between the two.
//! Of addresses that differ by constants only the first one is computed: one comparison tells that none of their indices wraps around
//! where that of the first one does not.
//!
//! If the copy can be left by nothing but its polls, the fuel of its rounds is counted before the first one, and there are no more
//! rounds than fuel is left for without a poll. So are the frames that its rounds pass over: nothing else in it asks for their numbers.

use super::{Change, Changes, Counted, DEPTH, InAdvance, small};
use crate::ir::{Inst, Kind, Type, Value};
use crate::passes::make::Maker;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// Vectors that may live through a loop which keeps more in registers for being faster.
const MOST_KEPT: usize = 8;

/// Something that changes by a constant.
#[derive(Clone, Copy)]
struct Linear {
    /// Before `begin`, in the copy's first round, and then after its last round; less `plus`.
    end: Value,
    plus: i64,
    /// By how much it changes in a part of a round, of which there are as many as the size of the counter's step.
    factor: i64,
}

/// What an integer is in a round: values times factors, and a constant.
#[derive(Default)]
struct Sum {
    terms: Vec<(Value, i64)>,
    constant: i64,
    /// The integers of 32 bits that are made ones of 64 in it, and the factors of these.
    indices: Vec<(Index, i64)>,
}

/// An integer of 32 bits; the sum is the same modulo 2³².
struct Index {
    value: Value,
    sum: Sum,
}

/// Addresses that differ by constants, counted from the first of them.
struct Group {
    sum: Sum,
    first: Value,
    factor: i64,
    /// By how much indices of the others are below and above that of the first, where one index makes the difference.
    low: i64,
    high: i64,
}

impl Group {
    /// By how much the index of another address differs from that of the first, if nothing else that is no constant does.
    fn index_distance(&self, other: &Sum) -> Option<i64> {
        let ([(a, a_factor)], [(b, b_factor)]) = (&self.sum.indices[..], &other.indices[..]) else { return None };
        let alike = a_factor == b_factor && a.sum.terms == b.sum.terms && !a.sum.terms.is_empty();
        let plain = a.sum.indices.is_empty() && b.sum.indices.is_empty();
        let distance = b.sum.constant.checked_sub(a.sum.constant)?;
        (alike && plain && small(distance)).then_some(distance)
    }

    /// Returns whether no index of the group wraps around where that of the first one does not. `None` if they are the same.
    fn is_together(&self, m: &mut Maker<'_>, index: Value) -> Option<Value> {
        let width = self.high - self.low;
        if width == 0 {
            return None;
        }
        let least = if m.region.ty(index).ty.is_signed() { i64::from(i32::MIN) } else { 0 };
        let above = m.cast(Op::Bitcast, index, Ty::U32);
        let lowest = m.with(Op::Add, Ty::U32, above, (self.low - least) as u32 as u64);
        Some(m.with(Op::Le, Ty::U32, lowest, (i64::from(u32::MAX) - width) as u64))
    }
}

/// How the copy computes what changes.
pub(super) struct Progress {
    /// The progress in the first round.
    pub first: Value,
    /// The size of the counter's step, a power of two.
    unit: u64,
    /// The binary logarithm of how much the progress grows while the counter changes by 1.
    scale: u32,
    /// The factors of addresses.
    strides: Vec<i64>,
    /// By the value in the loop that was copied, in the order of definitions.
    linear: Vec<(Value, Linear)>,
    /// What does not change, in all lanes.
    splats: Vec<(Value, Value)>,
}

impl Progress {
    /// Of a copy whose counter has a step of this size.
    pub fn new(unit: u64) -> Progress {
        Progress { first: Value(u32::MAX), unit, scale: 0, strides: Vec::new(), linear: Vec::new(), splats: Vec::new() }
    }

    /// Finds out how many rounds there will be, of one and so many, and where they end; counts what each of them does in
    /// advance, if that can be. Where there may be none, gives the condition that there are some.
    pub fn begin(&mut self, m: &mut Maker<'_>, rounds: Value, in_advance: Option<InAdvance>) -> Option<Value> {
        let most = m.with(Op::Add, Ty::U64, rounds, 1);
        let n = match in_advance {
            Some(InAdvance { units, .. }) => m.inst(Kind::Ticks { each: units }, &[most], Type::uniform(Ty::U64)),
            None => most,
        };
        if let Some(InAdvance { frames: each @ 1.., .. }) = in_advance {
            m.to.push(Inst { kind: Kind::FramePasses { each }, args: vec![n], result: None });
        }
        let end = m.with(Op::Shl, Ty::U64, n, self.unit.trailing_zeros() as u64);
        self.scale = scale_for(&self.strides);
        let none = m.constant(Ty::U64, 0);
        let scaled = m.with(Op::Shl, Ty::U64, end, self.scale as u64);
        self.first = m.op(Op::Sub, Ty::U64, &[none, scaled]);
        let mut ends: HashMap<(Value, i64), Value> = HashMap::new();
        for (_, linear) in &mut self.linear {
            let last =
                ends.entry((linear.end, linear.factor)).or_insert_with(|| plus(m, linear.end, end, linear.factor));
            linear.end = *last;
        }
        in_advance.map(|_| m.with(Op::Ne, Ty::U64, n, 0))
    }

    /// By how much what changes by so much in a round changes while the counter changes by 1.
    fn factor(&self, step: i64) -> Option<i64> {
        let unit = self.unit as i64;
        (step % unit == 0).then_some(step / unit)
    }

    /// Finds what can be computed from the progress; makes the conditions under which that is exact.
    pub fn follow(
        &mut self,
        of: &mut Counted<'_>,
        (rounds, changes): (Value, &mut Changes),
        to: &mut Vec<Inst>,
        made: &mut HashMap<Value, Value>,
    ) -> Option<Vec<Value>> {
        for (i, p) in of.region.block(of.head()).params.clone().into_iter().enumerate() {
            let ty = of.region.ty(p);
            let step = of.parameter_step(p, i).filter(|_| ty == Type::uniform(ty.ty) && ty.ty.is_int());
            if let Some(factor) = step.and_then(|s| self.factor(s)) {
                self.linear.push((p, Linear { end: of.handed[i], plus: 0, factor }));
            }
        }
        // Indices, by how much they change, and how much further one of their group is.
        let mut narrow: Vec<(Value, i64, i64)> = Vec::new();
        let mut conditions = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for address in addresses(of) {
            let mut indices = Vec::new();
            let step = of.wide_step(address, DEPTH, &mut indices).filter(|&s| small(s));
            let Some(factor) = step.and_then(|s| self.factor(s)) else { continue };
            self.strides.push(factor);
            if !indices.iter().all(|&(_, step)| small(step)) {
                continue;
            }
            let sum = of.sum(address);
            let near = groups.iter_mut().find_map(|group| {
                let alike = group.sum.terms == sum.terms && group.factor == factor;
                let plus = sum.constant.checked_sub(group.sum.constant)?;
                (alike && plus.unsigned_abs() < 1 << 20).then_some((group, plus))
            });
            if let Some((group, plus)) = near {
                match group.index_distance(&sum) {
                    Some(distance) => {
                        (group.low, group.high) = (group.low.min(distance), group.high.max(distance));
                    }
                    None => {
                        let Some(first) = of.next_round(address, to, made) else { continue };
                        let mut m = Maker { region: of.region, to };
                        let there = m.with(Op::Add, Ty::U64, group.first, plus as u64);
                        conditions.push(m.op(Op::Eq, Ty::U64, &[there, first]));
                        narrow.extend(indices.into_iter().map(|(index, step)| (index, step, 0)));
                    }
                }
                self.linear.push((address, Linear { end: group.first, plus, factor }));
            } else {
                let Some(first) = of.next_round(address, to, made) else { continue };
                narrow.extend(indices.into_iter().map(|(index, step)| (index, step, 0)));
                groups.push(Group { sum, first, factor, low: 0, high: 0 });
                self.linear.push((address, Linear { end: first, plus: 0, factor }));
            }
        }
        for group in groups {
            let [(Index { value, .. }, _)] = group.sum.indices[..] else { continue };
            let index = of.next_round(value, to, made)?;
            conditions.extend(group.is_together(&mut Maker { region: of.region, to }, index));
            for (_, step, plus) in narrow.iter_mut().filter(|(v, ..)| *v == value) {
                let (out, further) =
                    if *step > 0 { (group.high, *plus < group.high) } else { (group.low, *plus > group.low) };
                *plus = if further { out } else { *plus };
            }
        }
        narrow.sort_unstable();
        narrow.dedup();
        self.spread(of, to);
        // Of those that change alike, the one that is nearest to the end of their type.
        let mut outermost: Vec<(Ty, i64, Value)> = Vec::new();
        for (v, step, plus) in narrow {
            let (ty, mut first) = (of.region.ty(v).ty, of.next_round(v, to, made)?);
            let mut m = Maker { region: of.region, to };
            if plus != 0 {
                first = m.with(Op::Add, ty, first, plus as u64);
            }
            match outermost.iter_mut().find(|o| (o.0, o.1) == (ty, step)) {
                Some((.., out)) => {
                    let op = if step > 0 { Op::Max } else { Op::Min };
                    *out = m.op(op, ty, &[*out, first]);
                }
                None => outermost.push((ty, step, first)),
            }
        }
        for (_, step, first) in outermost {
            let mut m = Maker { region: of.region, to };
            let change = changes.of(&mut m, rounds, step);
            conditions.push(does_not_wrap(&mut m, first, change));
        }
        Some(conditions)
    }

    /// Makes vectors of the floats that do not change where instructions of the loop would, if there is room for them beside
    /// the vectors that live through it.
    fn spread(&mut self, of: &mut Counted<'_>, to: &mut Vec<Inst>) {
        if of.vectors_kept() > MOST_KEPT {
            return;
        }
        let mut uniform: Vec<Value> = of.spread_operands().collect();
        uniform.sort_unstable();
        uniform.dedup();
        uniform.retain(|&v| {
            let ty = of.region.ty(v);
            !ty.is_varying() && ty.ty.is_float() && !of.is_inside(v) && of.defs.known(v).is_none()
        });
        for v in uniform {
            let ty = Type::varying(of.region.ty(v).ty);
            let all = Maker { region: of.region, to }.inst(Kind::Splat, &[v], ty);
            self.splats.push((v, all));
        }
    }

    /// Notes the vector of a value that does not change.
    pub fn spread_as(&mut self, v: Value, all: Value) {
        self.splats.push((v, all));
    }

    /// What something that is computed from the progress is in the first round, before [`begin`](Progress::begin); and by how much it
    /// changes in a round.
    pub fn first_of(&self, m: &mut Maker<'_>, v: Value) -> Option<(Value, i64)> {
        let &(_, linear) = self.linear.iter().find(|&&(of, _)| of == v)?;
        let first =
            if linear.plus == 0 { linear.end } else { m.with(Op::Add, Ty::U64, linear.end, linear.plus as u64) };
        Some((first, linear.factor * self.unit as i64))
    }

    /// Returns whether a value of the loop is computed from the progress.
    pub fn derives(&self, v: Value) -> bool {
        self.linear.iter().any(|&(of, _)| of == v)
    }

    /// What a parameter of the head will be after the last round, if it is computed from the progress.
    pub fn last(&self, p: Value) -> Option<Value> {
        self.linear.iter().find(|&&(of, _)| of == p).map(|&(_, linear)| linear.end)
    }

    /// Computes all that is computed from the progress.
    pub fn derive(&self, m: &mut Maker<'_>, progress: Value, to: &mut HashMap<Value, Value>) {
        for &(v, linear) in &self.linear {
            let sum = plus_part(m, linear.end, progress, linear.factor, self.scale);
            let ty = m.region.ty(v).ty;
            to.insert(v, if linear.plus == 0 { sum } else { m.with(Op::Add, ty, sum, linear.plus as u64) });
        }
    }

    /// Has an instruction take vectors of what does not change.
    pub fn use_splats(&self, inst: &mut Inst, varies: bool) {
        if matches!(inst.kind, Kind::Op { op, .. } if varies && !crosses_lanes(op)) {
            for arg in &mut inst.args {
                *arg = self.splats.iter().find(|&(of, _)| of == arg).map_or(*arg, |&(_, all)| all);
            }
        }
    }

    /// The progress after a round, and whether there is another round.
    pub fn advance(&self, m: &mut Maker<'_>, progress: Value) -> (Value, Value) {
        let then = m.with(Op::Add, Ty::U64, progress, self.unit << self.scale);
        (then, m.with(Op::Ne, Ty::U64, then, 0))
    }
}

/// The power of two by which the progress is counted so that no access multiplies its index by more than machines do.
fn scale_for(strides: &[i64]) -> u32 {
    let is_plain = |factor: u64| matches!(factor, 0 | 1 | 2 | 4 | 8);
    let factors = || strides.iter().map(|s| s.unsigned_abs());
    let common = factors().filter(|&f| f != 0).map(u64::trailing_zeros).min().unwrap_or(0);
    let helps = !factors().all(is_plain) && factors().all(|f| f >> common <= 8);
    if helps { common } else { 0 }
}

/// An integer plus a multiple of what the progress, counted by a power of two, is a multiple of.
fn plus_part(m: &mut Maker<'_>, x: Value, progress: Value, factor: i64, scale: u32) -> Value {
    let shared = if factor == 0 { scale } else { factor.trailing_zeros().min(scale) };
    let part = if shared == scale {
        progress
    } else {
        let signed = m.cast(Op::Bitcast, progress, Ty::I64);
        let part = m.with(Op::Shr, Ty::I64, signed, (scale - shared) as u64);
        m.cast(Op::Bitcast, part, Ty::U64)
    };
    plus(m, x, part, factor >> shared)
}

/// An integer plus a multiple of the progress, modulo the size of its type.
fn plus(m: &mut Maker<'_>, x: Value, progress: Value, factor: i64) -> Value {
    let ty = m.region.ty(x).ty;
    let progress = m.cast(Op::Convert, progress, ty);
    let change = match factor {
        0 => return x,
        1 => progress,
        f if f > 0 && (f as u64).is_power_of_two() => m.with(Op::Shl, ty, progress, f.trailing_zeros() as u64),
        f => m.with(Op::Mul, ty, progress, f as u64),
    };
    m.op(Op::Add, ty, &[x, change])
}

/// Returns whether the lanes of the operation's operands are not those of its result.
fn crosses_lanes(op: Op) -> bool {
    matches!(op, Op::Shuffle | Op::Extract | Op::Insert | Op::Iota)
}

/// The addresses of accesses in the cycle that are the same for all lanes.
fn addresses(of: &Counted<'_>) -> Vec<Value> {
    let accesses = of.insts().filter(|inst| inst.kind.is_plain_load() || inst.kind.is_plain_store());
    let mut all: Vec<Value> = accesses.map(|inst| of.source(inst.args[0])).filter(|&v| of.is_inside(v)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns whether an integer of 32 bits stays in its type while it changes by so much.
fn does_not_wrap(m: &mut Maker<'_>, first: Value, change: Value) -> Value {
    let ty = m.region.ty(first).ty;
    let wide = m.cast(Op::Convert, first, Ty::I64);
    let change = m.cast(Op::Bitcast, change, Ty::I64);
    let last = m.op(Op::Add, Ty::I64, &[wide, change]);
    let kept = m.cast(Op::Convert, last, ty);
    let kept = m.cast(Op::Convert, kept, Ty::I64);
    m.op(Op::Eq, Ty::I64, &[kept, last])
}

impl Counted<'_> {
    /// The operands that are made vectors where they are uniform: those of operations lane by lane.
    pub(super) fn spread_operands(&self) -> impl Iterator<Item = Value> {
        let varying = self.insts().filter(|inst| inst.result.is_some_and(|v| self.region.ty(v).is_varying()));
        let elementwise = varying.filter(|inst| matches!(inst.kind, Kind::Op { op, .. } if !crosses_lanes(op)));
        elementwise.flat_map(|inst| inst.args.iter().copied())
    }

    /// The number of vectors of 128 bits that live from round to round, or from before the loop.
    fn vectors_kept(&self) -> usize {
        let outer = self.insts().flat_map(|inst| inst.args.iter().copied()).filter(|&v| !self.is_inside(v));
        let mut kept: Vec<Value> = outer.chain(self.region.block(self.head()).params.iter().copied()).collect();
        kept.sort_unstable();
        kept.dedup();
        let varying = kept.into_iter().map(|v| self.region.ty(v)).filter(|ty| ty.is_varying());
        varying.map(|ty| (self.region.width.lanes() * ty.ty.size()).div_ceil(16)).sum()
    }

    /// An address as a sum, as if no index wrapped around.
    fn sum(&self, address: Value) -> Sum {
        let mut sum = Sum::default();
        self.add_to(&mut sum, address, 1, DEPTH);
        sum.terms.sort_unstable();
        sum
    }

    fn add_to(&self, sum: &mut Sum, v: Value, factor: i64, depth: usize) {
        let v = self.source(v);
        let known = |v| {
            let bits = self.defs.known(v)? as i64;
            Some(if self.region.ty(v).ty.size() == 4 { bits as i32 as i64 } else { bits })
        };
        if let Some(x) = known(v) {
            sum.constant = sum.constant.wrapping_add(factor.wrapping_mul(x));
            return;
        }
        let def = self.defs.get(v).filter(|_| depth > 0);
        match def.map(|def| (def, def.kind)) {
            Some((def, Kind::Op { op: Op::Add, .. })) => {
                (0..2).for_each(|i| self.add_to(sum, def.arg(i), factor, depth - 1));
            }
            Some((def, Kind::Op { op: Op::Shl, .. })) if known(def.arg(1)).is_some_and(|by| by < 32) => {
                self.add_to(sum, def.arg(0), factor << known(def.arg(1)).unwrap_or(0), depth - 1);
            }
            Some((def, Kind::Op { op: Op::Convert, ty: Ty::I64 | Ty::U64, from: Ty::I32 | Ty::U32 })) => {
                let mut index = Sum::default();
                self.add_to(&mut index, def.arg(0), 1, depth - 1);
                index.terms.sort_unstable();
                sum.terms.extend(index.terms.iter().map(|&(v, times)| (v, factor.wrapping_mul(times))));
                sum.constant = sum.constant.wrapping_add(factor.wrapping_mul(index.constant));
                sum.indices.push((Index { value: self.source(def.arg(0)), sum: index }, factor));
            }
            Some((def, Kind::Op { op: Op::Convert | Op::Bitcast, ty, from }))
                if from.is_int() && ty.is_int() && ty.size() <= from.size() =>
            {
                self.add_to(sum, def.arg(0), factor, depth - 1);
            }
            _ => sum.terms.push((v, factor)),
        }
    }

    /// By how much an integer of 64 bits changes from round to round, if the integers of 32 bits that it is made of (noted with
    /// their steps) do not wrap around.
    fn wide_step(&self, v: Value, depth: usize, narrow: &mut Vec<(Value, i64)>) -> Option<i64> {
        let def = match self.change(v, depth)? {
            Change::By(step) => return Some(step),
            Change::As(def) => def,
        };
        let Kind::Op { op, ty, from } = def.kind else { return None };
        if ty.size() != 8 || !ty.is_int() || self.region.ty(v).is_varying() {
            return None;
        }
        let mut of = |i: usize| self.wide_step(def.arg(i), depth - 1, narrow);
        Some(match op {
            Op::Add => of(0)?.wrapping_add(of(1)?),
            Op::Sub => of(0)?.wrapping_sub(of(1)?),
            Op::Mul => of(0)?.wrapping_mul(self.defs.known(def.arg(1))? as i64),
            Op::Shl => of(0)?.checked_shl(self.defs.known(def.arg(1))? as u32 % 64)?,
            Op::Bitcast | Op::Convert if from.is_int() && from.size() == 8 => of(0)?,
            Op::Convert if from.is_int() && from.size() == 4 => {
                let index = self.source(def.arg(0));
                let step = self.step(index, depth - 1)?;
                if step != 0 {
                    narrow.push((index, step));
                }
                step
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::scale_for;

    #[test]
    fn the_progress_counts_what_accesses_cannot_multiply_with() {
        assert_eq!(scale_for(&[64]), 6);
        assert_eq!(scale_for(&[-64, 0]), 6);
        assert_eq!(scale_for(&[16, 64, -128]), 4);
        assert_eq!(scale_for(&[12]), 2);
        // What accesses multiply with is counted by the counter's steps.
        assert_eq!(scale_for(&[1, 2, 4, 8]), 0);
        // Some would be left.
        assert_eq!(scale_for(&[4, 64]), 0);
        assert_eq!(scale_for(&[]), 0);
    }
}
