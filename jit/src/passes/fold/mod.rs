//! Computes what depends on constants alone, and replaces operations by simpler ones that give the same bits.
//!
//! The recorder folds what it can see; more becomes constant, or the operand of its own inverse, when parameters disappear
//! and blocks are joined. Every constant is computed by `vm::sem`, so there is no second meaning to disagree with.
//!
//! # Rules
//!
//! A rule looks at one instruction and the definitions of its operands, and gives a value that is there already, a constant,
//! or one other instruction in its place. It is applied again to what it gave, a few times at most, and blocks are visited in
//! reverse postorder, so operands (but for those that come around a loop) have been simplified before.
//!
//! *All types.* An elementwise operation on constants is a constant. One whose operands are all splats is a splat of the
//! uniform operation. A splat among other operands is replaced by its uniform value, which the operation broadcasts.
//!
//! *Integers* ([`ints`]). Constants stand on the right; `x - c` is `x + -c`; constants of chains of additions, of shifts, of
//! masks of bits are joined; identities and absorbing elements disappear; a product with a power of two is a shift;
//! comparisons of a value with itself are decided. All of them hold modulo 2ⁿ, so wrapping changes nothing.
//!
//! *Floats* have few identities: `x + 0` is not `x` for −0, and even `x * 1` and `x - 0` differ from it for the one NaN that arithmetic
//! is not to pass on (invariant S3). These two are `x` where arithmetic or a comparison asks for them, to which all NaNs are alike.
//! Else only what is about the sign is simplified, `abs(-x)` is `abs(x)`; and a quotient by a power of two
//! is a product, where that of the reciprocal is one too: both round the same number.
//!
//! *Addresses.* One in an array of a frame plus a constant is another, if that lies in the array:
//! [`mem2reg`](super::mem2reg) knows then what is accessed there.
//!
//! *Conversions* ([`convert`]). One after another becomes one where the first loses nothing, or the second keeps no more
//! than what the first has kept.
//!
//! *Lanes.* A lane of a splat is its uniform value, one of `iota` its number, also where which lane it is turns out later.
//!
//! *Masks* ([`masks`]). Lattice laws of `and`, `or`, `not`; the inner one of two nested `select`s, where the outer mask
//! decides it; a choice between the two operands of a comparison is `min` or `max`; votes and bits of known masks. What implies
//! what is found by a bounded search through conjunctions, and from what comparisons of the same operands say of each other.
//!
//! *Control.* A branch on a constant, or with two equal edges, is a jump; one on `not c` has its edges exchanged. A guard of
//! `true` disappears; one of `false` ends its block in its exit.
//!
//! # What it keeps
//!
//! Only pure instructions are replaced, by pure ones, at the same place; a divisor stays as far from 0 as it was. Constants
//! are kept once each, at the start of the entry block. Blocks that cannot be reached any more are left to
//! [`params`](super::params), results that nobody uses to [`dead`](super::dead).

mod convert;
mod ints;
mod masks;

pub(crate) use ints::{exchanged, opposite};

use super::defs::{Def, Defs};
use super::{fraction_bits, identity, is_float_arithmetic, replace};
use crate::dominance::Dominators;
use crate::exec_ir::meaning::normalised;
use crate::ir::{BlockId, Edge, End, Inst, Kind, Region, Type, Value};
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::sem;
use spmdvm_vm::types::Ty;

/// How often rules are applied to what a rule gave.
const MAX_STEPS: usize = 6;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let order = Dominators::new(region).order().to_vec();
    let mut folder = Folder::new(region);
    for &b in &order {
        folder.block(b);
    }
    folder.finish();
}

/// What a rule makes of an instruction.
enum Rewrite {
    /// A value that is there, of the same element type; a uniform one for all lanes.
    Value(Value),
    /// A constant, in all lanes.
    Const(u64),
    /// Another instruction with a result of the same type.
    Inst(Kind, Vec<Value>),
}

/// An operation on one type.
fn plain(op: Op, ty: Ty, args: &[Value]) -> Rewrite {
    Rewrite::Inst(Kind::Op { op, ty, from: ty }, args.to_vec())
}

struct Folder<'a> {
    region: &'a mut Region,
    defs: Defs,
    /// What stands for each value.
    to: Vec<Value>,
    constants: HashMap<(Ty, u64), Value>,
    /// The constants' instructions.
    prologue: Vec<Inst>,
    /// The block so far.
    done: Vec<Inst>,
}

impl<'a> Folder<'a> {
    fn new(region: &'a mut Region) -> Self {
        let to = identity(region);
        let defs = Defs::none(region);
        Folder { region, defs, to, constants: HashMap::new(), prologue: Vec::new(), done: Vec::new() }
    }

    fn finish(mut self) {
        let mut insts = std::mem::take(&mut self.prologue);
        insts.append(&mut self.region.blocks[0].insts);
        self.region.blocks[0].insts = insts;
        replace(self.region, &self.to);
    }

    fn block(&mut self, b: BlockId) {
        let insts = std::mem::take(&mut self.region.blocks[b.index()].insts);
        self.done = Vec::with_capacity(insts.len());
        let mut left = None;
        for mut inst in insts {
            inst.args.iter_mut().for_each(|v| *v = self.to[v.index()]);
            match inst.kind {
                Kind::Guard { exit } => match self.defs.known(inst.args[0]) {
                    Some(0) => {
                        left = Some(End::Exit(exit));
                        break;
                    }
                    Some(_) => {}
                    None => self.done.push(inst),
                },
                _ => self.inst(inst),
            }
        }
        self.region.blocks[b.index()].insts = std::mem::take(&mut self.done);
        match left {
            Some(end) => self.region.blocks[b.index()].end = end,
            None => self.end(b),
        }
    }

    /// An instruction whose arguments have been replaced.
    fn inst(&mut self, mut inst: Inst) {
        let Some(result) = inst.result else { return self.done.push(inst) };
        if let Kind::Const(bits) = inst.kind {
            self.to[result.index()] = self.constant_from(self.region.ty(result).ty, bits, Some(result));
            return;
        }
        let ty = self.region.ty(result);
        for _ in 0..MAX_STEPS {
            match self.rule(&inst, ty) {
                None => break,
                Some(Rewrite::Inst(kind, args)) => {
                    let (kind, args) = self.shaped(kind, args, ty);
                    inst = Inst { kind, args, result: Some(result) };
                }
                Some(Rewrite::Const(bits)) => {
                    let c = self.constant(ty.ty, bits);
                    if !ty.is_varying() {
                        self.to[result.index()] = c;
                        return;
                    }
                    inst = Inst { kind: Kind::Splat, args: vec![c], result: Some(result) };
                }
                Some(Rewrite::Value(v)) if self.region.ty(v) == ty => {
                    self.to[result.index()] = v;
                    return;
                }
                Some(Rewrite::Value(v)) => inst = Inst { kind: Kind::Splat, args: vec![v], result: Some(result) },
            }
        }
        self.defs.note(&inst);
        self.done.push(inst);
    }

    /// An instruction with a varying result of which no operand varies any more: a splat of the uniform one.
    fn shaped(&mut self, kind: Kind, args: Vec<Value>, ty: Type) -> (Kind, Vec<Value>) {
        let splats =
            matches!(kind, Kind::Op { .. }) && ty.is_varying() && !args.iter().any(|&a| self.ty(a).is_varying());
        if !splats {
            return (kind, args);
        }
        let v = self.emit(kind, args, Type::uniform(ty.ty));
        (Kind::Splat, vec![v])
    }

    /// A constant.
    fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.constant_from(ty, bits, None)
    }

    /// A constant; if it is not there yet, `own` becomes it, or a new value.
    fn constant_from(&mut self, ty: Ty, bits: u64, own: Option<Value>) -> Value {
        let bits = normalised(ty, bits);
        if let Some(&v) = self.constants.get(&(ty, bits)) {
            return v;
        }
        let v = own.unwrap_or_else(|| self.value(Type::uniform(ty)));
        let inst = Inst { kind: Kind::Const(bits), args: Vec::new(), result: Some(v) };
        self.defs.note(&inst);
        self.prologue.push(inst);
        self.constants.insert((ty, bits), v);
        v
    }

    /// A new value.
    fn value(&mut self, ty: Type) -> Value {
        let v = self.region.new_value(ty);
        self.to.push(v);
        v
    }

    /// A new instruction before the one that is looked at, itself simplified.
    fn emit(&mut self, kind: Kind, args: Vec<Value>, ty: Type) -> Value {
        let v = self.value(ty);
        self.inst(Inst { kind, args, result: Some(v) });
        self.to[v.index()]
    }

    fn ty(&self, v: Value) -> Type {
        self.region.ty(v)
    }

    fn known(&self, v: Value) -> Option<u64> {
        self.defs.known(v)
    }

    fn op(&self, v: Value, op: Op) -> Option<Def> {
        self.defs.as_op(v, op)
    }

    fn rule(&mut self, inst: &Inst, result: Type) -> Option<Rewrite> {
        match inst.kind {
            Kind::Op { op: Op::Shuffle, .. } => self.same_in_all_lanes(inst.args[0]),
            Kind::Op { op: Op::Extract, .. } => {
                self.same_in_all_lanes(inst.args[0]).or_else(|| self.lane_number(inst.args[0], inst.args[1]))
            }
            Kind::Op { op: Op::Iota | Op::Insert, .. } => None,
            Kind::Op { op, ty, from } => self
                .of_constants(op, ty, from, &inst.args)
                .or_else(|| self.of_splats(inst, result))
                .or_else(|| self.specific(op, ty, from, &inst.args)),
            Kind::Reduce { op: Op::ReduceMin | Op::ReduceMax | Op::ReduceAnd | Op::ReduceOr, ty } if !ty.is_float() => {
                self.same_in_all_lanes(inst.args[0])
            }
            Kind::RawBits { ty, from } => self.raw_bits(ty, from, &inst.args),
            Kind::AnyLane | Kind::MaskBits | Kind::MaskFromBits => self.vote(inst.kind, inst.args[0]),
            _ => None,
        }
    }

    fn specific(&mut self, op: Op, ty: Ty, from: Ty, args: &[Value]) -> Option<Rewrite> {
        if let Some(args) = self.without_neutral(op, ty, args) {
            return Some(Rewrite::Inst(Kind::Op { op, ty, from }, args));
        }
        match op {
            Op::Mov => Some(Rewrite::Value(args[0])),
            Op::Select => self.select(ty, args),
            Op::Convert | Op::Bitcast => self.convert(op, ty, from, args[0]),
            _ if ty == Ty::Bool => self.mask(op, args),
            _ if ty.is_int() => self.int(op, ty, args),
            Op::FDiv => self.quotient(ty, args),
            _ => self.unary(op, args[0]),
        }
    }

    /// The operands of arithmetic or a comparison of floats, without sums and products that change nothing but a NaN.
    fn without_neutral(&self, op: Op, ty: Ty, args: &[Value]) -> Option<Vec<Value>> {
        if !ty.is_float() || !(is_float_arithmetic(op) || op.info().form == Form::Compare) {
            return None;
        }
        let same: Vec<Value> = args.iter().map(|&v| self.same_number(v).unwrap_or(v)).collect();
        (same != args).then_some(same)
    }

    /// What a float is equal to, if it is `x - 0`, `x + -0` or `x * 1`: the same number, but maybe another NaN.
    fn same_number(&self, v: Value) -> Option<Value> {
        let (def, ty) = (self.defs.get(v)?, self.ty(v).ty);
        let (neutral, commutes) = match def.op()? {
            Op::Sub => (0, false),
            Op::Add => (1 << (8 * ty.size() - 1), true),
            Op::Mul => (sem::eval(Op::Convert, ty, Ty::I32, [1, 0, 0])?, true),
            _ => return None,
        };
        let is_neutral = |i: usize| self.known(def.arg(i)) == Some(neutral);
        let other = if is_neutral(1) { Some(0) } else { (commutes && is_neutral(0)).then_some(1) };
        other.map(|i| def.arg(i)).filter(|&x| self.ty(x) == self.ty(v))
    }

    /// A float divided by a power of two.
    fn quotient(&mut self, ty: Ty, args: &[Value]) -> Option<Rewrite> {
        let divisor = self.known(args[1])?;
        let fraction_bits = fraction_bits(ty);
        let sign = 1 << (8 * ty.size() - 1);
        let exponent = (divisor & !sign) >> fraction_bits;
        // Twice the bias, the exponent of 1.
        let twice = (sign >> fraction_bits) - 2;
        let is_power = divisor & ((1 << fraction_bits) - 1) == 0 && (1..twice).contains(&exponent);
        let reciprocal = is_power.then(|| divisor & sign | (twice - exponent) << fraction_bits)?;
        let reciprocal = self.constant(ty, reciprocal);
        Some(plain(Op::Mul, ty, &[args[0], reciprocal]))
    }

    fn same_in_all_lanes(&self, v: Value) -> Option<Rewrite> {
        self.defs.splat(v).map(Rewrite::Value)
    }

    /// What a lane holds in `iota`, or in a sum or difference of that and of what is the same in all lanes.
    fn lane_number(&mut self, v: Value, lane: Value) -> Option<Rewrite> {
        let inst = self.defs.get(v)?;
        let Kind::Op { op, ty, .. } = inst.kind else { return None };
        if !ty.is_int() || self.ty(lane).is_varying() {
            return None;
        }
        match op {
            Op::Iota => Some(Rewrite::Value(self.number_of_lane(lane, ty))),
            Op::Add | Op::Sub => {
                let is_lane = [0, 1].map(|i| self.op(inst.arg(i), Op::Iota).is_some());
                let uniform = |v: Value| if self.ty(v).is_varying() { self.defs.splat(v) } else { Some(v) };
                let same = [0, 1].map(|i| uniform(inst.arg(i)));
                if (0..2).any(|i| !is_lane[i] && same[i].is_none()) {
                    return None;
                }
                let of_lane = |i: usize| same[i].filter(|_| !is_lane[i]);
                let [a, b] = [0, 1].map(|i| of_lane(i).unwrap_or_else(|| self.number_of_lane(lane, ty)));
                Some(plain(op, ty, &[a, b]))
            }
            _ => None,
        }
    }

    /// The number of a lane that is named by a number modulo the number of lanes.
    fn number_of_lane(&mut self, lane: Value, ty: Ty) -> Value {
        let from = self.ty(lane).ty;
        let mask = self.constant(from, self.region.width.lanes() as u64 - 1);
        let number = self.emit(Kind::Op { op: Op::And, ty: from, from }, vec![lane, mask], Type::uniform(from));
        match from == ty {
            true => number,
            false => self.emit(Kind::Op { op: Op::Convert, ty, from }, vec![number], Type::uniform(ty)),
        }
    }

    fn of_constants(&self, op: Op, ty: Ty, from: Ty, args: &[Value]) -> Option<Rewrite> {
        let mut bits = [0; 3];
        for (bits, &a) in bits.iter_mut().zip(args) {
            *bits = self.known(a)?;
        }
        // A zero divisor stays: nothing is to be said about code behind a guard that always fails.
        let divides = op.info().form == Form::Checked && bits[1] == 0;
        sem::eval(op, ty, from, bits).filter(|_| !divides).map(Rewrite::Const)
    }

    /// An operation on operands that are all equal in all lanes, and splats among others.
    fn of_splats(&mut self, inst: &Inst, result: Type) -> Option<Rewrite> {
        if !result.is_varying() {
            return None;
        }
        let sources: Vec<Value> = inst.args.iter().map(|&a| self.defs.splat(a).unwrap_or(a)).collect();
        if sources == inst.args {
            return None;
        }
        Some(Rewrite::Inst(inst.kind, sources))
    }

    fn end(&mut self, b: BlockId) {
        let End::Branch { cond, then, other } = &self.region.blocks[b.index()].end else { return };
        let cond = self.to[cond.index()];
        let new = if then == other {
            End::Jump(then.clone())
        } else if let Some(bits) = self.known(cond) {
            End::Jump(if bits != 0 { then.clone() } else { other.clone() })
        } else if let Some(not) = self.op(cond, Op::Not) {
            let (then, other): (Edge, Edge) = (other.clone(), then.clone());
            End::Branch { cond: not.arg(0), then, other }
        } else {
            return;
        };
        self.region.blocks[b.index()].end = new;
    }
}
