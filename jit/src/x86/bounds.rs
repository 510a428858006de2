//! What bounds are made of: the indices that lie in a memory region.

use super::inst::{Arg, Cond, Mem, Size};
use super::level::Level;
use super::select::{Select, imm8};
use crate::ir::{Inst, Kind, SPARE_INDICES, Value};
use crate::lowering::{ends, has_code};
use foldhash::HashMap;
use iced_x86::{Code, OpKind};
use regalloc2::VReg;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

/// What bounds are of: a pointer, what its index is multiplied by, the displacement, and the index's type.
pub type Of = (Value, u32, i64, Ty);

/// How many indices are in bounds by some pointers, as far as a block has computed that.
#[derive(Default)]
pub struct Spans {
    /// The index behind the last one, by the length and the bytes that it needs: whatever its type holds.
    end: HashMap<(Of, Value), (u32, VReg)>,
    /// By the length and the bytes needed.
    known: HashMap<(Of, Value, u32), VReg>,
}

/// A least index in bounds, and what it is made from.
#[derive(Clone, Copy)]
pub struct Least {
    /// The signed offset of the pointer, displaced.
    start: VReg,
    index: VReg,
}

impl<L: Level> Select<'_, L> {
    /// Indices in bounds, if they can be computed in words.
    pub(super) fn index_bound(&mut self, inst: &Inst) -> bool {
        let x = match inst.kind {
            Kind::IndexLow { scale, disp, ty } if has_code(disp) => {
                let low = self.least((inst.args[0], scale, disp, ty)).index;
                // An index is wanted beside its distance from this: an addition overwrites none of its operands.
                let negative = self.negated(Size::G64, low);
                if let Some(v) = inst.result {
                    self.local.negatives.insert(v, negative);
                }
                low
            }
            Kind::IndexSpan { scale, disp, need, ty } if has_code(disp) => {
                self.index_span([inst.args[0], inst.args[1]], scale, disp, need, ty)
            }
            _ => return false,
        };
        self.set(inst, x);
        true
    }

    /// The signed offset of a pointer, displaced.
    pub(super) fn displaced_offset(&mut self, pointer: Value, disp: i64) -> VReg {
        let by = Arg::Imm(OpKind::Immediate8, 64 - OFFSET_BITS as i64);
        let x = self.gpr(pointer);
        let x = self.gpr_over(Code::Shl_rm64_imm8, Size::G64, x, by);
        let x = self.gpr_over(Code::Sar_rm64_imm8, Size::G64, x, by);
        self.displaced(x, disp)
    }

    /// A number plus a constant.
    fn displaced(&mut self, x: VReg, disp: i64) -> VReg {
        match i32::try_from(disp) {
            Ok(0) => x,
            Ok(disp) => self.address_of(Mem::reg(x, disp)),
            Err(_) => {
                let disp = self.imm(disp as u64);
                self.gpr_binary(Code::Add_rm64_r64, Size::G64, x, disp)
            }
        }
    }

    /// The quotient by a constant, rounded down.
    fn quotient(&mut self, x: VReg, scale: u32) -> VReg {
        let shifted = |s: &mut Self, x, by: u32| s.gpr_over(Code::Sar_rm64_imm8, Size::G64, x, imm8(by as u8));
        if scale.is_power_of_two() {
            let by = scale.trailing_zeros();
            return if by == 0 { x } else { shifted(self, x, by) };
        }
        let (sign, by) = (shifted(self, x, 63), self.imm(scale.into()));
        let (quotient, remainder) = (self.code.gpr(), self.code.gpr());
        self.divide_machine(Code::Idiv_rm64, Size::G64, [x, sign, by], quotient, remainder);
        // The machine rounds towards 0: where something negative is left, one too many.
        let less = shifted(self, remainder, 63);
        self.gpr_binary(Code::Add_rm64_r64, Size::G64, quotient, less)
    }

    /// See [`Kind::IndexLow`]. How many are in bounds is mostly asked next, which takes it again.
    fn least(&mut self, of: Of) -> Least {
        let (pointer, scale, disp, ty) = of;
        if let Some(&least) = self.local.least.get(&of) {
            return least;
        }
        let start = self.displaced_offset(pointer, disp);
        let least = Least { start, index: self.low(start, scale, ty) };
        self.local.least.insert(of, least);
        least
    }

    /// The quotient rounded up, with its sign changed, within the type.
    fn low(&mut self, start: VReg, scale: u32, ty: Ty) -> VReg {
        let x = self.quotient(start, scale);
        let x = self.negated(Size::G64, x);
        let (least, greatest) = ends(ty);
        let x = if least == i64::MIN { x } else { self.at_least(x, least) };
        if greatest == i64::MAX { x } else { self.at_most(x, greatest) }
    }

    /// See [`Kind::IndexSpan`]. A least index that was cut to the type's greatest is above all that count.
    fn index_span(&mut self, [pointer, len]: [Value; 2], scale: u32, disp: i64, need: u32, ty: Ty) -> VReg {
        if (scale, ty) == (1, Ty::I64) {
            // The least one is where the region begins, and no end of the type is near.
            let len = self.gpr(len);
            let n = self.displaced(len, 1 - i64::from(need));
            return self.at_least(n, 0);
        }
        let of = (pointer, scale, disp, ty);
        if let Some(readable) = self.length_for_reading(pointer, len)
            && let Some(&all) = self.local.spans.known.get(&(of, readable, need))
        {
            return self.writable_span(all, readable, len);
        }
        let Least { start, index: low } = self.least(of);
        let end = self.behind_last(of, start, len, need);
        let end = self.at_most(end, ends(ty).1 - SPARE_INDICES + 1);
        let n = self.gpr_binary(Code::Sub_rm64_r64, Size::G64, end, low);
        let n = self.at_least(n, 0);
        self.local.spans.known.insert((of, len, need), n);
        n
    }

    /// The bytes that may be read of a pointer's region, if a length is of those that may be written: all of them, or none.
    fn length_for_reading(&self, pointer: Value, len: Value) -> Option<Value> {
        let inst = self.values.inst(len).filter(|inst| inst.kind == Kind::RegionLen { write: true })?;
        (inst.args[0] == pointer).then_some(inst.args[1])
    }

    /// How many indices are in bounds for writing, if they are `all` for reading.
    fn writable_span(&mut self, all: VReg, readable: Value, writable: Value) -> VReg {
        let (readable, writable) = (self.gpr(readable), self.gpr(writable));
        let none = self.imm(0);
        self.compare(Size::G64, readable, writable);
        self.choose(Cond::EQUAL, all, none)
    }

    /// The index behind the last one from which on there are so many bytes. One that needs whole elements more comes as many before.
    fn behind_last(&mut self, of: Of, start: VReg, len: Value, need: u32) -> VReg {
        let (_, scale, ..) = of;
        let (need, element) = (i64::from(need), i64::from(scale));
        if let Some(&(other, end)) = self.local.spans.end.get(&(of, len)) {
            let more = i64::from(other) - need;
            if let Some(by) = i32::try_from(more / element).ok().filter(|_| more % element == 0) {
                return self.address_of(Mem::reg(end, by));
            }
        }
        let bytes = self.gpr(len);
        let bytes = self.displaced(bytes, element - need);
        let bytes = self.gpr_binary(Code::Sub_rm64_r64, Size::G64, bytes, start);
        let end = self.quotient(bytes, scale);
        self.local.spans.end.insert((of, len), (need as u32, end));
        end
    }

    fn at_least(&mut self, x: VReg, least: i64) -> VReg {
        self.limited(Cond::GREATER, x, least)
    }

    fn at_most(&mut self, x: VReg, most: i64) -> VReg {
        self.limited(Cond::LESS, x, most)
    }

    /// A number, if a condition holds between it and a limit; else that.
    fn limited(&mut self, cond: Cond, x: VReg, limit: i64) -> VReg {
        match i32::try_from(limit) {
            Ok(immediate) => {
                self.compare_imm(Size::G64, x, immediate);
                // (No flags change.)
                let limit = self.imm(limit as u64);
                self.choose(cond, x, limit)
            }
            Err(_) => {
                let limit = self.imm(limit as u64);
                self.larger(cond, x, limit)
            }
        }
    }
}
