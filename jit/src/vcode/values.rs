//! Values in the form in which an instruction wants them, and in memory.

use super::Target;
use super::inst::{Base, Inst as Machine, Mem};
use super::lower::{Location, Lower};
use crate::ir::{Inst, Type, Value};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

impl<T: Target> Lower<'_, T> {
    /// How many vectors lanes of so many bytes fill.
    pub fn n_pieces(&self, size: usize) -> usize {
        (self.lanes * size).div_ceil(T::VECTOR_BYTES)
    }

    /// Bytes of these vectors.
    pub fn piece_bytes(&self, size: usize) -> usize {
        (self.lanes * size).clamp(16, T::VECTOR_BYTES)
    }

    /// How many lanes each of them has.
    pub fn lanes_in_piece(&self, size: usize) -> usize {
        self.lanes.min(T::VECTOR_BYTES / size)
    }

    /// A number in a general register.
    pub fn imm(&mut self, bits: u64) -> VReg {
        T::imm(self, bits)
    }

    /// Loads 64 bits.
    pub fn load_word(&mut self, from: Mem) -> VReg {
        T::load_scalar(self, Ty::U64, from)
    }

    /// Stores 64 bits.
    pub fn store_word(&mut self, to: Mem, x: VReg) {
        T::store_scalar(self, Ty::U64, to, x);
    }

    /// The address of memory.
    pub fn address_of(&mut self, mem: Mem) -> VReg {
        T::address_of(self, mem)
    }

    /// A uniform value that is in a general register.
    pub fn gpr(&mut self, v: Value) -> VReg {
        match (self.values.constant(v), &self.locations[v.index()]) {
            (Some(bits), _) => T::imm(self, bits),
            (_, &Location::One(r)) => r,
            // It was loaded to a vector only, and what takes it is left to the runtime, which takes a scalar.
            _ => match self.splats[v.index()] {
                Some(x) => T::first_of(self, x, self.region.ty(v).ty),
                None => unreachable!("{v} has not been computed"),
            },
        }
    }

    /// A uniform value in a register of its class.
    pub fn scalar(&mut self, v: Value) -> VReg {
        let ty = self.region.ty(v).ty;
        match self.values.constant(v) {
            Some(bits) if T::class_of(ty) == RegClass::Float => {
                let from = self.pool_of(bits, ty.size());
                T::load_scalar(self, ty, from)
            }
            _ => self.gpr(v),
        }
    }

    /// A constant's place in memory.
    pub fn pool_of(&mut self, bits: u64, size: usize) -> Mem {
        Mem::at(Base::Pool, self.code.constant(&bits.to_le_bytes()[..size]))
    }

    /// Where the pool has a vector of bytes 1.
    pub(crate) fn ones(&mut self) -> i32 {
        self.code.constant(&vec![1; T::VECTOR_BYTES])
    }

    /// A mask in its register; a uniform bool in all lanes.
    pub fn mask(&mut self, v: Value) -> VReg {
        if let Some(bits) = self.values.mask_bits(v) {
            return T::mask_of_constant(self, bits);
        }
        if !self.region.ty(v).is_varying() {
            let x = self.gpr(v);
            return T::mask_of_bool(self, x);
        }
        match self.locations[v.index()] {
            Location::One(r) => r,
            _ => unreachable!("{v} has not been computed"),
        }
    }

    /// Piece `i` of a value of elements of so many bytes that is no mask.
    pub fn piece(&mut self, v: Value, size: usize, i: usize) -> VReg {
        if let Some(bits) = self.values.constant_lanes(v) {
            return self.constant_vector(bits, size);
        }
        if !self.region.ty(v).is_varying() {
            return self.splats[v.index()].unwrap_or_else(|| self.splat_here(v));
        }
        match &self.locations[v.index()] {
            Location::Pieces(pieces) => pieces[i],
            Location::Nowhere if self.demand.is_late(v) => self.late_pieces(v)[i],
            _ => unreachable!("{v} has not been computed"),
        }
    }

    /// The same constant in all lanes.
    pub fn constant_vector(&mut self, bits: u64, size: usize) -> VReg {
        if bits == 0 {
            return self.zero();
        }
        let bytes = self.piece_bytes(size);
        // Of smaller elements there are several in what machines put everywhere without ado.
        let (bits, size) = match size {
            1 => ((bits & 0xff) * 0x0101_0101, 4),
            2 => ((bits & 0xffff) * 0x0001_0001, 4),
            _ => (bits, size),
        };
        let from = self.pool_of(bits, size);
        T::broadcast_from(self, from, size, bytes)
    }

    /// A vector of zeros.
    pub fn zero(&mut self) -> VReg {
        // The allocator gives the same register to both, whatever it holds.
        let r = self.code.vector();
        self.code.push(Machine::Zero(r));
        r
    }

    /// Makes the vector of a uniform value, if it is demanded.
    pub(super) fn splat_if_demanded(&mut self, v: Value) {
        let is_there = self.splats[v.index()].is_some();
        if self.demand.is_demanded_as_vector(v) && self.values.constant(v).is_none() && !is_there {
            self.splats[v.index()] = Some(self.splat_here(v));
        }
    }

    /// Makes the vector of a uniform value.
    fn splat_here(&mut self, v: Value) -> VReg {
        let (x, ty) = (self.scalar(v), self.region.ty(v).ty);
        T::broadcast(self, x, ty)
    }

    /// Loads a value from where it lies as in a frame: lane after lane, with room for whole vectors.
    pub(super) fn load_result(&mut self, inst: &Inst, from: Mem) {
        let Some(v) = inst.result else { return };
        let ty = self.region.ty(v);
        let size = ty.ty.size();
        if !ty.is_varying() {
            let x = T::load_scalar(self, ty.ty, from);
            return self.set(inst, x);
        }
        let bytes = self.piece_bytes(size);
        let mut pieces = (0..self.n_pieces(size))
            .map(|i| T::load_vector(self, bytes, from.plus((T::VECTOR_BYTES * i) as i32)))
            .collect();
        if ty.ty == Ty::Bool {
            let mask = T::mask_of_bytes(self, std::mem::take(&mut pieces));
            return self.set(inst, mask);
        }
        self.set_pieces(inst, pieces);
    }

    /// Stores a value as it lies in a frame: lane after lane, in whole vectors.
    pub fn store_whole(&mut self, v: Value, to: Mem) {
        let ty = self.region.ty(v);
        if !ty.is_varying() {
            let x = self.scalar(v);
            return T::store_scalar(self, ty.ty, to, x);
        }
        self.store_as(v, ty, to);
    }

    /// Stores a value as one of a type, which may vary although the value does not.
    pub(super) fn store_as(&mut self, v: Value, ty: Type, to: Mem) {
        let (size, is_varying) = (ty.ty.size(), self.region.ty(v).is_varying());
        if !ty.is_varying() {
            return self.store_whole(v, to);
        }
        let bytes = self.piece_bytes(size);
        let at = |i: usize| to.plus((T::VECTOR_BYTES * i) as i32);
        if ty.ty == Ty::Bool {
            let mask = self.mask(v);
            for (i, x) in T::bytes_of_mask(self, mask).into_iter().enumerate() {
                T::store_vector(self, bytes, at(i), x);
            }
            return;
        }
        if is_varying {
            for i in 0..self.n_pieces(size) {
                let x = self.piece(v, size, i);
                T::store_vector(self, bytes, at(i), x);
            }
            return;
        }
        let x = match self.values.constant(v) {
            Some(bits) => self.constant_vector(bits, size),
            None => {
                let x = self.scalar(v);
                T::broadcast(self, x, ty.ty)
            }
        };
        for i in 0..self.n_pieces(size) {
            T::store_vector(self, bytes, at(i), x);
        }
    }
}
