//! Conversions of pieces between element types.

use super::demand::lane_type;
use super::plan::LaneWidth;
use super::translate::Translator;
use crate::ir::Value;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use spmdvm_vm::types::Ty;

/// Translates one piece of an intermediate value.
type Source<'s, 't, 'a> = &'s mut dyn FnMut(&mut Translator<'a>, usize) -> clif::Value;

impl<'a> Translator<'a> {
    /// Piece `i` of a value converted to a type that is not bool; `None` if there is no code.
    pub(super) fn convert_piece(&mut self, v: Value, from: Ty, ty: Ty, i: usize) -> Option<clif::Value> {
        if from == Ty::F16 || ty == Ty::F16 {
            return match (from, ty) {
                (Ty::F16, Ty::F16) => Some(self.piece(v, i)),
                (Ty::F16, Ty::F32) => Some(self.floats_of_halves(v, i)),
                (Ty::F32, Ty::F16) => Some(self.halves_of_floats(v, i)),
                _ => None,
            };
        }
        Some(match (from, ty) {
            _ if from == ty => self.piece(v, i),
            (Ty::Bool, _) => self.number_of_mask(v, ty, i),
            (Ty::F32, Ty::F64) => {
                let x = self.piece(v, i / 2);
                let x = if i.is_multiple_of(2) { x } else { self.high_half(x) };
                self.b.ins().fvpromote_low(x)
            }
            (Ty::F64, Ty::F32) => {
                let low = self.piece(v, 2 * i);
                let low = self.b.ins().fvdemote(low);
                let Some(high) = self.piece_beyond(v, 8, 2 * i + 1) else { return Some(low) };
                let high = self.b.ins().fvdemote(high);
                self.low_halves(low, high)
            }
            _ if from.is_float() && ty.is_float() => return None,
            _ if from.is_float() => self.int_of_float(v, from, ty, i),
            _ if ty.is_float() => self.float_of_int(v, from, ty, i),
            _ => self.resized(v, from, ty.size(), i),
        })
    }

    /// Piece `i` of a value of elements of `size` bytes, unless the gang ends before.
    fn piece_beyond(&mut self, v: Value, size: usize, i: usize) -> Option<clif::Value> {
        (i < self.plan.pieces(size)).then(|| self.piece(v, i))
    }

    /// A mask as numbers 0 and 1.
    fn number_of_mask(&mut self, v: Value, ty: Ty, i: usize) -> clif::Value {
        let mask = self.mask(v, LaneWidth::of(ty.size()), i);
        let one = match ty {
            Ty::F32 => 1f32.to_bits() as u64,
            Ty::F64 => 1f64.to_bits(),
            _ => 1,
        };
        let mask = self.as_type(mask, lane_type(ty));
        let one = self.constant_vector(lane_type(ty), one);
        self.b.ins().band(mask, one)
    }

    /// Piece `i` of an integer in `size` bytes: extended by its sign, or cut.
    pub(super) fn resized(&mut self, v: Value, from: Ty, size: usize, i: usize) -> clif::Value {
        self.resize(from.is_signed(), from.size(), size, i, &mut |t, i| t.piece(v, i))
    }

    /// Piece `i` of integers of `from` bytes that `source` gives, in `to` bytes.
    pub(super) fn resize(
        &mut self,
        signed: bool,
        from: usize,
        to: usize,
        i: usize,
        source: Source<'_, '_, 'a>,
    ) -> clif::Value {
        if from == to {
            return source(self, i);
        }
        if from < to {
            let x = self.resize(signed, from, to / 2, i / 2, source);
            return self.widened(signed, !i.is_multiple_of(2), x);
        }
        let low = self.resize(signed, from, 2 * to, 2 * i, source);
        let has_high = 2 * i + 1 < self.plan.pieces(2 * to);
        let high = if has_high { self.resize(signed, from, 2 * to, 2 * i + 1, source) } else { low };
        self.cut(low, high)
    }

    /// The low halves of the lanes of two pieces, as one.
    fn cut(&mut self, low: clif::Value, high: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(low);
        if ty == types::I64X2 {
            return self.even_halves(low, high);
        }
        // What is left fits, so that narrowing saturates nothing.
        let keep = self.constant_vector(ty, (1 << (ty.lane_bits() / 2)) - 1);
        let (low, high) = (self.b.ins().band(low, keep), self.b.ins().band(high, keep));
        self.b.ins().unarrow(low, high)
    }

    /// The upper 64 bits of a vector, moved down.
    pub(super) fn high_half(&mut self, x: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(x);
        let bytes = self.as_type(x, types::I8X16);
        let picks = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
        let x = self.shuffled(bytes, bytes, picks);
        self.as_type(x, ty)
    }

    /// The lower 64 bits of two vectors, as one.
    pub(super) fn low_halves(&mut self, low: clif::Value, high: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(low);
        let (low, high) = (self.as_type(low, types::I8X16), self.as_type(high, types::I8X16));
        let picks = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
        let x = self.shuffled(low, high, picks);
        self.as_type(x, ty)
    }

    /// The low or high two lanes of 32-bit integers as doubles.
    pub(super) fn double_of(&mut self, signed: bool, high: bool, x: clif::Value) -> clif::Value {
        let x = if high { self.high_half(x) } else { x };
        // Cranelift has instructions for just these pairs.
        if signed {
            let x = self.b.ins().swiden_low(x);
            self.b.ins().fcvt_from_sint(types::F64X2, x)
        } else {
            let x = self.b.ins().uwiden_low(x);
            self.b.ins().fcvt_from_uint(types::F64X2, x)
        }
    }

    /// Two doubles as 32-bit integers in the low two lanes.
    pub(super) fn int_of_double(&mut self, signed: bool, x: clif::Value) -> clif::Value {
        let zero = self.constant_vector(types::I64X2, 0);
        if signed {
            let x = self.b.ins().fcvt_to_sint_sat(types::I64X2, x);
            self.b.ins().snarrow(x, zero)
        } else {
            let x = self.b.ins().fcvt_to_uint_sat(types::I64X2, x);
            self.b.ins().uunarrow(x, zero)
        }
    }

    fn float_of_int(&mut self, v: Value, from: Ty, ty: Ty, i: usize) -> clif::Value {
        let signed = from.is_signed();
        match (from.size(), ty) {
            (8, Ty::F64) => {
                let x = self.piece(v, i);
                if signed {
                    self.b.ins().fcvt_from_sint(types::F64X2, x)
                } else {
                    self.b.ins().fcvt_from_uint(types::F64X2, x)
                }
            }
            // Through double it would be rounded twice.
            (8, _) => {
                let convert = move |t: &mut Self, x: &[clif::Value]| t.scalar_from_int(signed, types::F32, x[0]);
                let low = self.piece(v, 2 * i);
                let low = self.lane_by_lane(ty, &[low], convert);
                let Some(high) = self.piece_beyond(v, 8, 2 * i + 1) else { return low };
                let high = self.lane_by_lane(ty, &[high], convert);
                self.low_halves(low, high)
            }
            (_, Ty::F64) => {
                let x = self.resized(v, from, 4, i / 2);
                self.double_of(signed, !i.is_multiple_of(2), x)
            }
            (4, _) if !signed => {
                let x = self.piece(v, i);
                self.b.ins().fcvt_from_uint(types::F32X4, x)
            }
            _ => {
                let x = self.resized(v, from, 4, i);
                self.b.ins().fcvt_from_sint(types::F32X4, x)
            }
        }
    }

    fn int_of_float(&mut self, v: Value, from: Ty, ty: Ty, i: usize) -> clif::Value {
        let signed = ty.is_signed();
        match ty.size() {
            8 => {
                let convert = move |t: &mut Self, x: &[clif::Value]| t.scalar_to_int(signed, types::I64, x[0]);
                if from == Ty::F64 {
                    let x = self.piece(v, i);
                    return self.lane_by_lane(ty, &[x], convert);
                }
                let x = self.piece(v, i / 2);
                let x = if i.is_multiple_of(2) { x } else { self.high_half(x) };
                let pair = self.b.ins().fvpromote_low(x);
                self.lane_by_lane(ty, &[pair], convert)
            }
            4 => self.int32_of_float(v, from, signed, i),
            // Saturated in 32 bits, then at the ends of the type; then it fits.
            size => {
                let bits = 8 * size as u32;
                let (least, most) =
                    if signed { (-1i64 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
                self.resize(signed, 4, size, i, &mut |t, i| {
                    let x = t.int32_of_float(v, from, true, i);
                    let (least, most) =
                        (t.constant_vector(types::I32X4, least as u64), t.constant_vector(types::I32X4, most as u64));
                    let x = t.b.ins().smax(x, least);
                    t.b.ins().smin(x, most)
                })
            }
        }
    }

    fn int32_of_float(&mut self, v: Value, from: Ty, signed: bool, i: usize) -> clif::Value {
        if from == Ty::F32 {
            let x = self.piece(v, i);
            return if signed {
                self.b.ins().fcvt_to_sint_sat(types::I32X4, x)
            } else {
                self.b.ins().fcvt_to_uint_sat(types::I32X4, x)
            };
        }
        let low = self.piece(v, 2 * i);
        let low = self.int_of_double(signed, low);
        let Some(high) = self.piece_beyond(v, 8, 2 * i + 1) else { return low };
        let high = self.int_of_double(signed, high);
        self.low_halves(low, high)
    }
}
