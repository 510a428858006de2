//! Memory accesses at host addresses that have been checked. The machine's masked accesses touch nothing of inactive lanes, and do
//! not fail for what is not there.

use super::fused::takes_instead;
use super::inst::{Arg, Base, Cond, Mem, Size};
use super::level::Level;
use super::select::{Select, class_of, imm8};
use super::values::{form_of, sized};
use crate::ir::{Inst, Kind, Region, Value};
use crate::lowering::{AddressSum, Forms};
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Where stores of inactive lanes go, in the scratch memory.
const OWN_AT: i32 = 0;

/// Most bytes that are cleared without calling the runtime.
const MOST_CLEARED: u32 = 1024;

/// The forms of operands that instructions take.
pub(super) const fn forms<L: Level>() -> Forms {
    Forms {
        sets_flags,
        takes_flags,
        takes_address: takes_address::<L>,
        index_scales: &[1, 2, 4, 8],
        takes_vector,
        exits_write_lanes: true,
        // Where masks are in general registers, these are few.
        masks_of_one_at_exits: if L::HAS_MASKS { 2 } else { 1 },
        takes_instead: takes_instead::<L>,
    }
}

/// Returns whether the address of an access can be an operand. What the runtime is called for wants it as a value.
fn takes_address<L: Level>(kind: Kind) -> bool {
    let far = |stride: i32| stride.unsigned_abs() >= 1 << 24;
    match kind {
        Kind::LoadStrided { stride, .. } | Kind::StoreStrided { stride, .. } => !far(stride),
        Kind::Clear { bytes } => bytes <= MOST_CLEARED,
        Kind::LoadPacked { ty } | Kind::StorePacked { ty } => L::HAS_MASKS || ty.size() >= 4,
        Kind::Atomic { .. } => true,
        _ => kind.is_plain_load() || kind.is_plain_store(),
    }
}

/// Returns whether an instruction is a comparison that sets the flags.
pub(super) fn sets_flags(region: &Region, inst: &Inst) -> bool {
    match inst.kind {
        Kind::AnyLane => true,
        Kind::Op { op: Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ty, .. } => {
            !region.ty(inst.args[0]).is_varying() && (ty.is_int() || matches!(ty, Ty::F32 | Ty::F64))
        }
        _ => false,
    }
}

/// Returns whether an instruction selects one of two integers by a uniform condition.
fn takes_flags(region: &Region, inst: &Inst) -> bool {
    let selects = |ty| class_of(ty) == RegClass::Int && inst.result.is_some_and(|v| !region.ty(v).is_varying());
    matches!(inst.kind, Kind::Op { op: Op::Select, ty, .. } if selects(ty))
}

/// Returns whether an instruction wants a uniform argument as a vector.
fn takes_vector(region: &Region, inst: &Inst, arg: Value) -> bool {
    let ty = region.ty(arg);
    let varying = inst.result.is_some_and(|v| region.ty(v).is_varying());
    let by_lane = matches!(inst.kind, Kind::Splat)
        || matches!(inst.kind, Kind::Op { op, .. } if !matches!(op, Op::Insert | Op::Shuffle | Op::Extract | Op::Iota));
    varying && by_lane && !ty.is_varying() && ty.ty != Ty::Bool
}

impl<L: Level> Select<'_, L> {
    /// The operand at a host address.
    pub(super) fn address(&mut self, v: Value) -> Mem {
        let AddressSum { base, index, disp } = AddressSum::of(&self.values, &L::FORMS, self.block, v);
        let base = self.gpr(base);
        let (index, scale) = match index {
            Some((v, scale)) => (Some(self.gpr(v)), scale),
            None => (None, 1),
        };
        Mem { index, scale, ..Mem::reg(base, disp) }
    }

    /// A load, if its address can be an operand.
    pub(super) fn load(&mut self, inst: &Inst) -> bool {
        if !takes_address::<L>(inst.kind) {
            return false;
        }
        let from = self.address(inst.args[0]);
        match inst.kind {
            Kind::Load { ty } => {
                let x = self.load_scalar(ty, from);
                self.set(inst, x);
            }
            Kind::LoadLanes { ty: Ty::Bool } => {
                let bytes = (0..self.n_pieces(1)).map(|i| self.load_lanes(1, from, i)).collect();
                let mask = self.mask_of_bytes(bytes);
                self.set(inst, mask);
            }
            Kind::LoadLanes { ty } => {
                let pieces = (0..self.n_pieces(ty.size())).map(|i| self.load_lanes(ty.size(), from, i)).collect();
                self.set_pieces(inst, pieces);
            }
            Kind::LoadStrided { ty, stride } => self.load_strided(inst, ty, stride, from),
            Kind::LoadPacked { ty } => self.load_packed(inst, ty, from),
            Kind::Gather { .. } => self.gather(inst),
            _ => return false,
        }
        true
    }

    /// Likewise, a store.
    pub(super) fn store(&mut self, inst: &Inst) -> bool {
        let args = &inst.args;
        if !takes_address::<L>(inst.kind) {
            return false;
        }
        let to = self.address(args[0]);
        match inst.kind {
            Kind::Store { ty } => {
                let x = self.scalar(args[1]);
                self.store_scalar(ty, to, x);
            }
            Kind::StoreLanes { ty } => {
                if self.fills_vector(ty.size()) {
                    self.store_whole(args[1], to);
                } else {
                    self.store_masked(ty, to, args[1], None);
                }
            }
            Kind::StoreMasked { ty } => self.store_masked(ty, to, args[1], Some(args[2])),
            Kind::StorePacked { ty } => self.store_packed(inst, ty, to),
            Kind::StoreStrided { ty, stride } => self.store_strided(inst, ty, stride, to),
            Kind::Scatter { ty, .. } if self.is_for_gathers(ty) => self.scatter_lanes(inst),
            Kind::Scatter { ty, index, scale } => {
                let mut at = self.addresses(inst, index, scale, true);
                self.taken_apart(ty, args[2], |s, l| s.address_of_lane(&mut at, l));
            }
            Kind::Clear { bytes } => self.clear(to, bytes),
            _ => return false,
        }
        true
    }

    pub(super) fn full_mask(&mut self) -> VReg {
        let bits = self.imm(self.region.width.full_mask());
        self.mask_of_bits(bits)
    }

    /// Piece `i` of lanes that lie one after another; of a gang that fills no vector, no more than its lanes.
    fn load_lanes(&mut self, size: usize, from: Mem, i: usize) -> VReg {
        if self.fills_vector(size) {
            return self.load_vector(self.form(size), from.plus((L::VECTOR_BYTES * i) as i32));
        }
        // Not under a mask: to memory, such an access is as long as the vector. One of the next lanes would wait for it.
        self.load_few(self.lanes * size, from)
    }

    /// Loads 1, 2, 4 or 8 bytes; the rest of the vector is 0.
    fn load_few(&mut self, bytes: usize, from: Mem) -> VReg {
        let mem = Arg::Mem(from);
        let code = match bytes {
            8 => return self.vector(Code::EVEX_Vmovsd_xmm_k1z_m64, Size::X, &[mem]),
            4 => return self.vector(Code::EVEX_Vmovss_xmm_k1z_m32, Size::X, &[mem]),
            2 => Code::EVEX_Vpinsrw_xmm_xmm_r32m16_imm8,
            _ => Code::EVEX_Vpinsrb_xmm_xmm_r32m8_imm8,
        };
        let zero = self.zero();
        self.vector(code, Size::X, &[Arg::Use(zero, Size::X), mem, imm8(0)])
    }

    /// Stores the first 1, 2, 4 or 8 bytes of a vector.
    fn store_few(&mut self, bytes: usize, to: Mem, x: VReg) {
        let (to, x) = (Arg::Mem(to), Arg::Use(x, Size::X));
        match bytes {
            8 => self.plain(Code::EVEX_Vmovsd_m64_k1_xmm, &[to, x]),
            4 => self.plain(Code::EVEX_Vmovss_m32_k1_xmm, &[to, x]),
            2 => self.plain(Code::EVEX_Vpextrw_r32m16_xmm_imm8, &[to, x, imm8(0)]),
            _ => self.plain(Code::EVEX_Vpextrb_r32m8_xmm_imm8, &[to, x, imm8(0)]),
        }
    }

    /// Stores small elements of the lanes of a mask, one by one: those of others go to memory of the code's own.
    fn store_few_masked(&mut self, ty: Ty, to: Mem, v: Value, mask: Value) {
        self.code.needs_scratch(OWN_AT as usize + 8);
        let (mask, base) = (self.mask(mask), self.address_of(to));
        let own = self.address_of(Mem::at(Base::Scratch, OWN_AT));
        self.taken_apart(ty, v, |s, lane| {
            let (code, form) =
                if lane < 32 { (Code::Bt_rm32_imm8, Size::G32) } else { (Code::Bt_rm64_imm8, Size::G64) };
            let there = s.address_of(Mem::reg(base, (lane * ty.size()) as i32));
            s.plain(code, &[Arg::Use(mask, form), imm8(lane as u8)]);
            // The bit is in the carry.
            Mem::reg(s.choose(Cond::BELOW, there, own), 0)
        });
    }

    /// Of a mask that is constant: whether piece `i` is a whole vector of lanes that are in it, or none of them is.
    pub(super) fn known_part(&self, mask: Value, size: usize, i: usize) -> Option<bool> {
        let n = self.lanes_in_piece(size);
        let all = u64::MAX >> (64 - n);
        match self.values.mask_bits(mask)? >> (i * n) & all {
            0 => Some(false),
            part if part == all && self.fills_vector(size) => Some(true),
            _ => None,
        }
    }

    /// Of a mask that is constant, and has the first lanes of piece `i` alone: their bytes, if masks are vectors, and a few
    /// moves do what takes AMD's processors up to forty operations under a mask.
    pub(super) fn first_bytes(&self, mask: Value, size: usize, i: usize) -> Option<usize> {
        let n = self.lanes_in_piece(size);
        let part = self.values.mask_bits(mask)? >> (i * n) & u64::MAX >> (64 - n);
        let bytes = part.count_ones() as usize * size;
        let is_few = !L::HAS_MASKS && size >= 4 && bytes <= 16;
        (is_few && part != 0 && part & (part + 1) == 0).then_some(bytes)
    }

    /// Loads 4, 8, 12 or 16 bytes; the rest of the vector is 0.
    pub(super) fn load_first_bytes(&mut self, bytes: usize, from: Mem) -> VReg {
        match bytes {
            16 => self.load_vector(Size::X, from),
            12 => {
                let two = self.load_few(8, from);
                let third = [Arg::Use(two, Size::X), Arg::Mem(from.plus(8)), imm8(2 << 4)];
                self.vector(Code::EVEX_Vinsertps_xmm_xmm_xmmm32_imm8, Size::X, &third)
            }
            _ => self.load_few(bytes, from),
        }
    }

    /// Stores the first 4, 8, 12 or 16 bytes of a vector.
    fn store_first_bytes(&mut self, bytes: usize, to: Mem, x: VReg) {
        match bytes {
            16 => self.store_vector(Size::X, to, x),
            12 => {
                self.store_few(8, to, x);
                let third = [Arg::Mem(to.plus(8)), Arg::Use(x, Size::X), imm8(2)];
                self.plain(Code::EVEX_Vextractps_rm32_xmm_imm8, &third);
            }
            _ => self.store_few(bytes, to, x),
        }
    }

    /// Stores the lanes of a mask, or all.
    fn store_masked(&mut self, ty: Ty, to: Mem, v: Value, mask: Option<Value>) {
        let (size, form) = (ty.size(), self.form(ty.size()));
        if let Some(mask) = mask.filter(|_| !L::HAS_MASKS && size < 4) {
            return self.store_few_masked(ty, to, v, mask);
        }
        for i in 0..self.n_pieces(size) {
            let known = mask.and_then(|mask| self.known_part(mask, size, i));
            if known == Some(false) {
                continue;
            }
            let x = match ty {
                Ty::Bool => {
                    let mask = self.mask(v);
                    self.bytes_of_mask(mask)[i]
                }
                _ => self.piece(v, size, i),
            };
            let to = to.plus((L::VECTOR_BYTES * i) as i32);
            if known == Some(true) {
                self.store_vector(form, to, x);
                continue;
            }
            let Some(mask) = mask else {
                self.store_few(self.lanes * size, to, x);
                continue;
            };
            if let Some(bytes) = self.first_bytes(mask, size, i) {
                self.store_first_bytes(bytes, to, x);
                continue;
            }
            let mask = self.mask(mask);
            let part = self.mask_part(mask, size, i);
            let args = [Arg::Mem(to), Arg::Use(x, form)];
            self.plain_masked(sized(masked_store(size), form), &args, part, false);
        }
    }

    fn clear(&mut self, to: Mem, bytes: u32) {
        let zero = self.zero();
        let mut at = 0;
        for size in [64, 32, 16, 8, 4].into_iter().filter(|&size| size as usize <= L::VECTOR_BYTES) {
            while bytes - at >= size {
                let to = to.plus(at as i32);
                match size {
                    8 => self.store_scalar(Ty::F64, to, zero),
                    4 => self.store_scalar(Ty::F32, to, zero),
                    _ => self.store_vector(form_of(size as usize), to, zero),
                }
                at += size;
            }
        }
        if at < bytes {
            let zero = self.imm(0);
            (at..bytes).for_each(|at| self.store_scalar(Ty::U8, to.plus(at as i32), zero));
        }
    }

    pub(super) fn set_lanes(&mut self, inst: &Inst, ty: Ty, pieces: Vec<VReg>) {
        if ty == Ty::Bool {
            let mask = self.mask_of_bytes(pieces);
            return self.set(inst, mask);
        }
        self.set_pieces(inst, pieces);
    }

    /// Stores each lane of a value at its address, ascending.
    pub(super) fn taken_apart(&mut self, ty: Ty, v: Value, mut address: impl FnMut(&mut Self, usize) -> Mem) {
        let size = ty.size();
        let n = (16 / size).min(self.lanes);
        let bytes = (ty == Ty::Bool).then(|| {
            let mask = self.mask(v);
            self.bytes_of_mask(mask)
        });
        for first in (0..self.lanes).step_by(n) {
            let x = match bytes {
                Some(ref bytes) => self.part_of(bytes, first, n),
                None => self.chunk(v, size, first, n),
            };
            for l in 0..n {
                let to = Arg::Mem(address(self, first + l));
                let (x, lane) = (Arg::Use(x, Size::X), imm8(l as u8));
                match (size, l) {
                    (4, 0) => self.plain(Code::EVEX_Vmovss_m32_k1_xmm, &[to, x]),
                    (8, 0) => self.plain(Code::EVEX_Vmovsd_m64_k1_xmm, &[to, x]),
                    (8, _) => self.plain(Code::EVEX_Vmovhpd_m64_xmm, &[to, x]),
                    (4, _) => self.plain(Code::EVEX_Vextractps_rm32_xmm_imm8, &[to, x, lane]),
                    (2, _) => self.plain(Code::EVEX_Vpextrw_r32m16_xmm_imm8, &[to, x, lane]),
                    _ => self.plain(Code::EVEX_Vpextrb_r32m8_xmm_imm8, &[to, x, lane]),
                }
            }
        }
    }
}

/// The instruction that moves elements of so many bytes under a mask.
pub(super) fn masked_move(size: usize) -> Code {
    match size {
        1 => Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
        2 => Code::EVEX_Vmovdqu16_xmm_k1z_xmmm128,
        4 => Code::EVEX_Vmovups_xmm_k1z_xmmm128,
        _ => Code::EVEX_Vmovupd_xmm_k1z_xmmm128,
    }
}

/// The instruction that stores elements of so many bytes under a mask.
pub(super) fn masked_store(size: usize) -> Code {
    match size {
        1 => Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
        2 => Code::EVEX_Vmovdqu16_xmmm128_k1z_xmm,
        4 => Code::EVEX_Vmovups_xmmm128_k1z_xmm,
        _ => Code::EVEX_Vmovupd_xmmm128_k1z_xmm,
    }
}
