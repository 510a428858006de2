//! The rules of selection: which instructions of the IR have machine code, and where it is made.

use super::X86;
use super::env::TICKS;
use super::fused::Fused;
use super::inst::{Arg, Base, Cond, Mem, Plain, Size};
use super::level::Level;
use super::values::broadcast;
use crate::backend::{Rule, Rules};
use crate::exec_ir::meaning::zeros;
use crate::ir::{Inst, Kind};
use crate::lowering::Comparison;
use crate::vcode::Lower;
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::mem::offset_of;

/// A region on its way to machine instructions.
pub(super) type Select<'a, L> = Lower<'a, X86<L>>;

/// Translates an instruction, if there is a rule for it.
pub(super) fn select<L: Level>(s: &mut Select<'_, L>, inst: &Inst) -> bool {
    match Fused::of::<L>(&s.values, s.block, inst) {
        None | Some(Fused::AnyMissing { .. }) => {}
        Some(fused) => return s.fused(inst, fused),
    }
    match inst.kind {
        Kind::FrameHost { at, .. } => {
            let base = s.load_word(Mem::at(Base::Context, offset_of!(Context, memory_base) as i32));
            let offset = s.imm(at);
            let x = s.gpr_binary(Code::Add_rm64_r64, Size::G64, base, offset);
            s.set(inst, x);
        }
        Kind::Op { op, ty, from } => return s.op(inst, op, ty, from),
        Kind::Zeros => {
            let x = s.imm(zeros());
            s.set(inst, x);
        }
        Kind::LoadedPointer { .. } => {
            let x = s.gpr(inst.args[2]);
            s.set(inst, x);
        }
        Kind::RawBits { ty, from } => s.raw_bits(inst, ty, from),
        Kind::Splat => s.splat(inst),
        Kind::MaskBits => {
            let mask = s.mask(inst.args[0]);
            let bits = s.bits_of_mask(mask);
            s.set(inst, bits);
        }
        Kind::MaskFromBits => {
            let bits = s.gpr(inst.args[0]);
            let mask = s.mask_of_bits(bits);
            s.set(inst, mask);
        }
        Kind::AnyLane => {
            let Some(cond) = s.flags_of(inst) else { return false };
            let x = s.bool_of(cond);
            s.set(inst, x);
        }
        Kind::Ticks { each } => s.ticks(inst, each),
        Kind::Count(n) => {
            let counters = s.load_word(Mem::at(Base::Context, offset_of!(Context, counters) as i32));
            s.plain(Code::Inc_rm64, &[Arg::Mem(Mem::reg(counters, 8 * n as i32))]);
        }
        Kind::FramePass => {
            let passed_over = Mem::at(Base::Context, offset_of!(Context, passed_over) as i32);
            s.plain(Code::Inc_rm64, &[Arg::Mem(passed_over)]);
        }
        Kind::FramePasses { each } => {
            let mut n = s.gpr(inst.args[0]);
            if each != 1 {
                let each = s.imm(u64::from(each));
                n = s.gpr_binary(Code::Imul_r64_rm64, Size::G64, n, each);
            }
            let passed_over = Mem::at(Base::Context, offset_of!(Context, passed_over) as i32);
            s.plain(Code::Add_rm64_r64, &[Arg::Mem(passed_over), Arg::Use(n, Size::G64)]);
        }
        Kind::Load { ty } if s.is_spread(inst) && s.loads_spread(inst, ty) => s.load_in_all_lanes(inst, ty),
        Kind::Load { .. }
        | Kind::LoadLanes { .. }
        | Kind::LoadStrided { .. }
        | Kind::LoadPacked { .. }
        | Kind::Gather { .. } => return s.load(inst),
        Kind::Store { .. }
        | Kind::StoreLanes { .. }
        | Kind::StoreStrided { .. }
        | Kind::StoreMasked { .. }
        | Kind::StorePacked { .. }
        | Kind::Scatter { .. }
        | Kind::Clear { .. } => return s.store(inst),
        Kind::Atomic { op, ty } => return s.atomic(inst, op, ty),
        Kind::Reduce { op, ty } => return s.reduce(inst, op, ty),
        Kind::IndexLow { .. } | Kind::IndexSpan { .. } => return s.index_bound(inst),
        Kind::RegionBase | Kind::RegionLen { .. } if s.region.ty(inst.args[0]).is_varying() => s.ask_regions(inst),
        Kind::RegionBase | Kind::RegionLen { .. } | Kind::HostAddress { .. } => s.ask_region(inst),
        _ => return false,
    }
    true
}

impl<L: Level> Select<'_, L> {
    /// Returns whether a uniform result is demanded in all lanes of a vector.
    fn is_spread(&self, inst: &Inst) -> bool {
        inst.result.is_some_and(|v| self.demand.is_demanded_as_vector(v))
    }

    /// Returns whether a value is loaded to all lanes of a vector at once. An integer that is wanted in a general register as well is
    /// loaded there: what is loaded twice could be different in one and the other.
    fn loads_spread(&self, inst: &Inst, ty: Ty) -> bool {
        // Of smaller ones the first element would not be what a register has.
        let only = |v| self.demand.is_demanded_as_vector_only(v);
        class_of(ty) == RegClass::Float || ty.is_int() && ty.size() >= 4 && inst.result.is_some_and(only)
    }

    /// Loads a uniform value to all lanes of a vector; of a float the first of them is the uniform value.
    fn load_in_all_lanes(&mut self, inst: &Inst, ty: Ty) {
        let from = Arg::Mem(self.address(inst.args[0]));
        let form = self.form(ty.size());
        let x = self.vector(broadcast(ty.size(), form), form, &[from]);
        if let Some(v) = inst.result {
            self.splats[v.index()] = Some(x);
        }
        if class_of(ty) == RegClass::Float {
            self.set(inst, x);
        }
    }

    fn ticks(&mut self, inst: &Inst, each: u32) {
        let most = self.gpr(inst.args[0]);
        let ticks = self.def(Code::Mov_r64_rm64, (RegClass::Int, Size::G64), &[Arg::Fixed(TICKS)]);
        let zero = self.imm(0);
        let mut left = self.larger(Cond::GREATER, ticks, zero);
        let by = Kind::ticks_shift(each);
        if by != 0 {
            left = self.gpr_over(Code::Shr_rm64_imm8, Size::G64, left, imm8(by as u8));
        }
        let n = self.larger(Cond::BELOW, left, most);
        let mut used = n;
        if each != 1 {
            let each = self.imm(u64::from(each));
            used = self.gpr_binary(Code::Imul_r64_rm64, Size::G64, n, each);
        }
        self.plain(Code::Sub_rm64_r64, &[Arg::Fixed(TICKS), Arg::Use(used, Size::G64)]);
        self.set(inst, n);
    }

    /// Of two integers of 64 bits the one for which a condition holds.
    pub(super) fn larger(&mut self, cond: Cond, a: VReg, b: VReg) -> VReg {
        self.compare(Size::G64, a, b);
        self.choose(cond, a, b)
    }

    /// Adds an instruction of the encoder.
    pub(super) fn plain(&mut self, code: Code, args: &[Arg]) {
        self.push(Plain::new(code, args));
    }

    /// Likewise, one that writes the lanes of a mask only.
    pub(super) fn plain_masked(&mut self, code: Code, args: &[Arg], mask: VReg, zeroing: bool) {
        self.push(Plain { mask: Some(mask), zeroing, ..Plain::new(code, args) });
    }

    /// The flags of an instruction that [`sets_flags`](super::memory::sets_flags), if there is a rule for it.
    pub(super) fn flags_of(&mut self, inst: &Inst) -> Option<Cond> {
        match inst.kind {
            Kind::Op { op, ty, .. } if self.has_rule(Rules::Scalar, op) => {
                Some(self.compare_scalars(Comparison::of(op)?, ty, inst.args[0], inst.args[1]))
            }
            Kind::AnyLane => {
                if let Some(fused) = self.fused_flags(inst) {
                    return Some(fused);
                }
                let mask = self.mask(inst.args[0]);
                Some(self.any_lane(mask))
            }
            _ => None,
        }
    }

    /// Returns whether there is this rule of selection: a test may do without it.
    pub(super) fn has_rule(&self, rules: Rules, op: Op) -> bool {
        self.target.without != Some(Rule { rules, op })
    }
}

/// The class of registers that uniform values of a type are in.
pub(super) fn class_of(ty: Ty) -> RegClass {
    if matches!(ty, Ty::F32 | Ty::F64) { RegClass::Float } else { RegClass::Int }
}

/// An immediate operand of 8 bits.
pub(super) fn imm8(x: u8) -> Arg {
    Arg::Imm(OpKind::Immediate8, x as i64)
}
