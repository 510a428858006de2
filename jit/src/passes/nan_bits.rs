//! The bits of NaNs that nobody sees: they need not be those of the canonical one.
//!
//! Arithmetic gives any NaN, so what asks for the bits of a float gets those of the canonical NaN in place of any other (invariant S3):
//! two instructions for every vector. Functions that compute with the bits of their argument, as `exp` and `rsqrt` do, ask for them only
//! to make a float of them again, with which they multiply what is NaN anyway if the argument is.
//!
//! # Rules
//!
//! Of a float `x`, a value is *NaN with `x`* if it is `x`, or a sum, difference, product, quotient or root of which an operand is.
//! Which NaN `x` is cannot be told from a value made of its bits if each use of that value is
//!
//! - arithmetic of floats of which another operand is NaN with `x`: so is its result;
//! - a comparison of the bits, or of their sum with a constant, with a constant, whose answer is the same for all NaNs;
//! - a pure operation that computes each lane of its result from that lane of its operands, if it cannot be told from that result either.
//!
//! Snapshots, other blocks' parameters and all other instructions may tell. Then the bits are [`RawBits`](Kind::RawBits).

use super::defs::Defs;
use super::dont_care::is_by_lane;
use super::{fraction_bits, is_float_arithmetic};
use crate::ir::{End, Inst, Kind, Region, Value};
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::sem;
use spmdvm_vm::types::Ty;

/// Most values that are looked at for one.
const MOST: usize = 96;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let insts = || region.blocks.iter().flat_map(|b| &b.insts);
    if !insts().any(|inst| canonical(inst).is_some()) {
        return;
    }
    let bits: Vec<Value> = insts().filter_map(|inst| canonical(inst).and(inst.result)).collect();
    let uses = Uses::of(region);
    let raw: Vec<Value> = bits.into_iter().filter(|&v| uses.cannot_tell(v)).collect();
    for inst in region.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if let Some((ty, from)) = canonical(inst).filter(|_| inst.result.is_some_and(|v| raw.contains(&v))) {
            inst.kind = Kind::RawBits { ty, from };
        }
    }
}

/// The types of an instruction that gives the bits of a float.
fn canonical(inst: &Inst) -> Option<(Ty, Ty)> {
    match inst.kind {
        Kind::Op { op: Op::Bitcast, ty, from } if from.is_float() && ty.is_int() => Some((ty, from)),
        _ => None,
    }
}

/// Returns whether an operation on floats gives NaN if an operand is one.
fn passes_nan_on(op: Op) -> bool {
    is_float_arithmetic(op) || op == Op::Neg
}

/// Who uses which value.
struct Uses<'a> {
    region: &'a Region,
    defs: Defs,
    /// By value: the instructions that have it as an argument.
    by: Vec<Vec<&'a Inst>>,
    /// By value: whether something else has it.
    elsewhere: Vec<bool>,
}

impl<'a> Uses<'a> {
    fn of(region: &'a Region) -> Uses<'a> {
        let (mut by, mut elsewhere) = (vec![Vec::new(); region.types.len()], vec![false; region.types.len()]);
        region.exits.iter().flat_map(|exit| exit.values()).for_each(|v| elsewhere[v.index()] = true);
        for block in &region.blocks {
            for inst in &block.insts {
                inst.args.iter().for_each(|v| by[v.index()].push(inst));
            }
            if let End::Branch { cond, .. } = &block.end {
                elsewhere[cond.index()] = true;
            }
            block.end.edges().flat_map(|edge| &edge.args).for_each(|v| elsewhere[v.index()] = true);
        }
        Uses { region, defs: Defs::of(region), by, elsewhere }
    }

    /// Returns whether nobody can tell from these bits of a float which NaN it is.
    fn cannot_tell(&self, bits: Value) -> bool {
        let Some(float) = self.defs.get(bits).map(|def| def.arg(0)) else { return false };
        let mut search = Search { uses: self, bits, float, is_nan: HashMap::new(), looked_at: Vec::new() };
        search.cannot_tell(bits)
    }
}

struct Search<'a> {
    uses: &'a Uses<'a>,
    bits: Value,
    float: Value,
    /// By value, whether it is NaN with the float, as far as that has been asked.
    is_nan: HashMap<Value, bool>,
    looked_at: Vec<Value>,
}

impl Search<'_> {
    fn cannot_tell(&mut self, v: Value) -> bool {
        if self.looked_at.contains(&v) {
            return true;
        }
        self.looked_at.push(v);
        let uses = self.uses;
        self.looked_at.len() <= MOST
            && !uses.elsewhere[v.index()]
            && uses.by[v.index()].iter().all(|inst| self.cannot_tell_by(inst, v))
    }

    fn cannot_tell_by(&mut self, inst: &Inst, v: Value) -> bool {
        let of_result = |s: &mut Self| inst.result.is_some_and(|result| s.cannot_tell(result));
        match inst.kind {
            Kind::Op { op, ty, .. } if ty.is_float() && passes_nan_on(op) => {
                inst.args.iter().any(|&arg| self.is_nan(arg)) || of_result(self)
            }
            Kind::Op { op, ty, .. } if op.info().form == Form::Compare => self.is_same_for_all(op, ty, inst),
            Kind::Op { op: Op::Select, .. } if inst.args[0] == v => false,
            Kind::Op { op, .. } if is_by_lane(op) => of_result(self),
            Kind::Splat | Kind::RawBits { .. } => of_result(self),
            _ => false,
        }
    }

    /// Returns whether a value is NaN if the float is.
    fn is_nan(&mut self, v: Value) -> bool {
        if v == self.float {
            return true;
        }
        if let Some(&known) = self.is_nan.get(&v) {
            return known;
        }
        let def = self.uses.defs.get(v).filter(|_| self.is_nan.len() < MOST);
        // (Definitions do not go in circles.)
        let is_nan = match def.map(|def| (def, def.kind)) {
            Some((def, Kind::Op { op, ty, .. })) if ty.is_float() && passes_nan_on(op) => {
                // (In place of operands that there are not stands the result.)
                (0..3).map(|i| def.arg(i)).any(|arg| arg != v && self.is_nan(arg))
            }
            Some((def, Kind::Splat)) => self.is_nan(def.arg(0)),
            _ => false,
        };
        self.is_nan.insert(v, is_nan);
        is_nan
    }

    /// Returns whether a comparison of the bits has the same answer for all NaNs.
    fn is_same_for_all(&self, op: Op, ty: Ty, inst: &Inst) -> bool {
        let Some(limit) = self.uses.defs.known(inst.args[1]) else { return false };
        let Some(plus) = self.plus(inst.args[0]) else { return false };
        let fraction_bits = fraction_bits(self.uses.region.ty(self.float).ty);
        let sign = 1u64 << (8 * ty.size() - 1);
        let infinity = sign - (1 << fraction_bits);
        let all = sign | (sign - 1);
        // Of each sign the first and the last one; in between all lie if nothing wraps around.
        let order = if ty.is_signed() { sign } else { 0 };
        let mut answers = Vec::new();
        for sign in [0, sign] {
            let [first, last] =
                [infinity + 1, infinity | ((1 << fraction_bits) - 1)].map(|x| (x | sign).wrapping_add(plus) & all);
            if first ^ order > last ^ order {
                return false;
            }
            answers.extend([first, last].map(|x| sem::eval(op, ty, ty, [x, limit, 0])));
        }
        let ordered = matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge);
        ordered && answers[0].is_some() && answers.iter().all(|answer| *answer == answers[0])
    }

    /// What constant a value is more than the bits.
    fn plus(&self, v: Value) -> Option<u64> {
        if self.is_bits(v) {
            return Some(0);
        }
        let def = self.uses.defs.get(v)?;
        let constant = self.uses.defs.known(def.arg(1)).filter(|_| self.is_bits(def.arg(0)))?;
        match def.op()? {
            Op::Add => Some(constant),
            Op::Sub => Some(constant.wrapping_neg()),
            _ => None,
        }
    }

    /// Returns whether a value is the bits, with or without a sign.
    fn is_bits(&self, v: Value) -> bool {
        let unsigned = self.uses.defs.as_op(v, Op::Bitcast).map(|def| def.arg(0));
        [Some(v), unsigned].contains(&Some(self.bits))
    }
}
