//! Memory accesses at host addresses that have been checked. The machine's masked accesses touch nothing of inactive lanes, and do
//! not fail for what is not there.

use super::flow::{Arg, Base, Form, Inst as Machine, Mem, Plain};
use super::needs::{Sum, has_operand};
use super::select::Select;
use super::values::{form_of, sized};
use crate::ir::{Inst, Kind, Value};
use iced_x86::Code;
use regalloc2::VReg;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

impl Select<'_> {
    /// The operand at a host address.
    fn address(&mut self, v: Value) -> Mem {
        let Sum { base, index, disp } = Sum::of(self.region, &self.needs.definitions, self.block, v);
        let base = self.gpr(base);
        let (index, scale) = match index {
            Some((v, scale)) => (Some((self.gpr(v), Form::G64)), scale),
            None => (None, 1),
        };
        Mem { index, scale, ..Mem::reg(base, disp) }
    }

    /// The operand at a host address, with room for a vector of indices.
    fn plain_address(&mut self, v: Value) -> Mem {
        let mem = self.address(v);
        if mem.index.is_none() { mem } else { Mem::reg(self.address_of(mem), 0) }
    }

    pub fn load(&mut self, inst: &Inst) -> Result<(), String> {
        if !has_operand(inst.kind) {
            return self.general(inst);
        }
        let from = match inst.kind {
            Kind::LoadStrided { .. } | Kind::Gather { .. } => self.plain_address(inst.args[0]),
            _ => self.address(inst.args[0]),
        };
        match inst.kind {
            Kind::Load { ty } => {
                let x = self.load_scalar(ty, from);
                self.set(inst, x);
            }
            Kind::LoadLanes { ty: Ty::Bool } => {
                let bytes = self.load_lanes(1, from, 0);
                let mask = self.mask_of_bytes(bytes);
                self.set(inst, mask);
            }
            Kind::LoadLanes { ty } => {
                let pieces = (0..self.n_pieces(ty.size())).map(|i| self.load_lanes(ty.size(), from, i)).collect();
                self.set_pieces(inst, pieces);
            }
            Kind::LoadStrided { ty, stride } => {
                let all = self.full_mask();
                let mut pieces = Vec::new();
                for access in self.strides(ty, stride, from) {
                    let (zero, part) = (self.zero(), self.lanes_of_mask(all, access.first));
                    pieces.push(self.gather(ty, &access, zero, part));
                }
                self.set_pieces(inst, pieces);
            }
            Kind::Gather { ty, index, scale, .. } => {
                let (mask, mut parts, mut bytes) = (self.mask(inst.args[2]), Vec::new(), 0);
                for access in self.indexed(ty, inst.args[1], index, scale, from).ok_or("an index has no code")? {
                    let (zero, part) = (self.zero(), self.lanes_of_mask(mask, access.first));
                    parts.push(self.gather(ty, &access, zero, part));
                    bytes = access.n * ty.size();
                }
                let pieces = self.joined(parts, bytes);
                self.set_pieces(inst, pieces);
            }
            _ => return Err("no load".into()),
        }
        Ok(())
    }

    pub fn store(&mut self, inst: &Inst) -> Result<(), String> {
        let args = &inst.args;
        if !has_operand(inst.kind) {
            return self.general(inst);
        }
        let to = match inst.kind {
            Kind::StoreStrided { .. } | Kind::Scatter { .. } => self.plain_address(args[0]),
            _ => self.address(args[0]),
        };
        match inst.kind {
            Kind::Store { ty } => {
                let x = self.scalar(args[1]);
                self.store_scalar(ty, to, x);
            }
            Kind::StoreLanes { ty } => {
                let narrow = self.lanes * ty.size() < 16;
                if narrow {
                    let all = self.full_mask();
                    self.store_masked(ty, to, args[1], all);
                } else {
                    self.store_whole(args[1], to);
                }
            }
            Kind::StoreMasked { ty } => {
                let mask = self.mask(args[2]);
                self.store_masked(ty, to, args[1], mask);
            }
            Kind::StoreStrided { ty, stride } => {
                let all = self.full_mask();
                for (i, access) in self.strides(ty, stride, to).into_iter().enumerate() {
                    let (x, part) = (self.piece(args[1], ty.size(), i), self.mask_part(all, ty.size(), i));
                    self.scatter(ty, &access, x, part);
                }
            }
            Kind::Scatter { ty, index, scale } => {
                let (mask, value) = (self.mask(args[3]), args[2]);
                for access in self.indexed(ty, args[1], index, scale, to).ok_or("an index has no code")? {
                    let x = self.chunk(value, ty.size(), access.first, access.n);
                    let part = self.lanes_of_mask(mask, access.first);
                    self.scatter(ty, &access, x, part);
                }
            }
            Kind::Clear { bytes } => self.clear(to, bytes),
            _ => return Err("no store".into()),
        }
        Ok(())
    }

    fn full_mask(&mut self) -> VReg {
        let bits = self.imm(self.region.width.full_mask());
        self.mask_of_bits(bits)
    }

    /// Piece `i` of lanes that lie one after another; of a gang that fills no vector, no more than its lanes.
    fn load_lanes(&mut self, size: usize, from: Mem, i: usize) -> VReg {
        if self.lanes * size >= 16 {
            return self.load_vector(self.form(size), from.plus(64 * i as i32));
        }
        let mask = self.full_mask();
        self.vector_masked(masked_move(size), Form::X, &[Arg::Mem(from)], mask)
    }

    fn store_masked(&mut self, ty: Ty, to: Mem, v: Value, mask: VReg) {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let code = match size {
            1 => Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
            2 => Code::EVEX_Vmovdqu16_xmmm128_k1z_xmm,
            4 => Code::EVEX_Vmovups_xmmm128_k1z_xmm,
            _ => Code::EVEX_Vmovupd_xmmm128_k1z_xmm,
        };
        for i in 0..self.n_pieces(size) {
            let x = if ty == Ty::Bool { self.bytes_of_mask(v) } else { self.piece(v, size, i) };
            let part = self.mask_part(mask, size, i);
            let args = [Some(Arg::Mem(to.plus(64 * i as i32))), Some(Arg::Use(x, form)), None, None];
            let plain = Plain { code: sized(code, form), args, mask: Some(part), ..Plain::default() };
            self.flow.push(Machine::Plain(Box::new(plain)));
        }
    }

    fn clear(&mut self, to: Mem, bytes: u32) {
        let zero = self.zero();
        let mut at = 0;
        for size in [64, 32, 16, 8, 4] {
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

    /// Accesses of lanes at a stride, vector after vector.
    fn strides(&mut self, ty: Ty, stride: i32, from: Mem) -> Vec<Access> {
        let n = self.lanes_in_piece(ty.size());
        let accesses = (0..self.n_pieces(ty.size())).map(|i| {
            let mut bytes = [0; 64];
            for (l, to) in bytes.chunks_exact_mut(4).enumerate().take(n) {
                to.copy_from_slice(&(stride * (i * n + l) as i32).to_le_bytes());
            }
            let at = self.flow.constant(&bytes);
            let index = self.load_vector(form_of(n * 4), Mem::at(Base::Pool, at));
            Access { mem: Mem { index: Some((index, form_of(n * 4))), ..from }, first: i * n, n, wide: false }
        });
        accesses.collect()
    }

    /// Accesses by an index, as many lanes at a time as a vector has room for, both of elements and of indices.
    fn indexed(&mut self, ty: Ty, at: Value, index: Ty, scale: u32, from: Mem) -> Option<Vec<Access>> {
        let machine = matches!(scale, 1 | 2 | 4 | 8);
        let wide = index != Ty::I32 || !machine;
        let n = self.lanes_in_piece(if wide { 8 } else { ty.size() });
        let form = form_of(n * if wide { 8 } else { 4 });
        let mut accesses = Vec::new();
        for first in (0..self.lanes).step_by(n) {
            let x = self.chunk(at, index.size(), first, n);
            let x = if wide { self.resized(x, n, index, 8) } else { x };
            let x = match machine {
                true => x,
                false => {
                    let by = self.constant_arg(scale as u64, 8);
                    self.int_vector(Op::Mul, Ty::I64, form, &[Arg::Use(x, form), by])?
                }
            };
            let scale = if machine { scale as u8 } else { 1 };
            accesses.push(Access { mem: Mem { index: Some((x, form)), scale, ..from }, first, n, wide });
        }
        Some(accesses)
    }

    /// Loads lanes under a mask; the others stay as they are in `before`.
    fn gather(&mut self, ty: Ty, access: &Access, before: VReg, mask: VReg) -> VReg {
        let code = match (ty.size(), access.wide) {
            (4, false) => Code::EVEX_Vpgatherdd_xmm_k1_vm32x,
            (4, true) => Code::EVEX_Vpgatherqd_xmm_k1_vm64x,
            (_, false) => Code::EVEX_Vpgatherdq_xmm_k1_vm32x,
            (_, true) => Code::EVEX_Vpgatherqq_xmm_k1_vm64x,
        };
        let (to, form) = (self.flow.vector(), form_of(access.n * ty.size()));
        let args = [Some(Arg::Tied { from: before, to, form }), Some(Arg::Mem(access.mem)), None, None];
        self.spend_mask(sized(code, access.larger(ty)), args, mask);
        to
    }

    /// Stores lanes under a mask, ascending.
    fn scatter(&mut self, ty: Ty, access: &Access, x: VReg, mask: VReg) {
        let code = match (ty.size(), access.wide) {
            (4, false) => Code::EVEX_Vpscatterdd_vm32x_k1_xmm,
            (4, true) => Code::EVEX_Vpscatterqd_vm64x_k1_xmm,
            (_, false) => Code::EVEX_Vpscatterdq_vm32x_k1_xmm,
            (_, true) => Code::EVEX_Vpscatterqq_vm64x_k1_xmm,
        };
        let form = form_of(access.n * ty.size());
        let args = [Some(Arg::Mem(access.mem)), Some(Arg::Use(x, form)), None, None];
        self.spend_mask(sized(code, access.larger(ty)), args, mask);
    }

    /// An instruction that clears the bits of its mask as it goes.
    fn spend_mask(&mut self, code: Code, args: [Option<Arg>; 4], mask: VReg) {
        let spent = Some(self.flow.mask());
        self.flow.push(Machine::Plain(Box::new(Plain { code, args, mask: Some(mask), spent, zeroing: false })));
    }
}

/// Some lanes of a gather or scatter.
struct Access {
    mem: Mem,
    first: usize,
    n: usize,
    /// Have indices 64 bits?
    wide: bool,
}

impl Access {
    /// The form of the larger of its two vectors.
    fn larger(&self, ty: Ty) -> Form {
        form_of(self.n * ty.size().max(if self.wide { 8 } else { 4 }))
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
