//! Memory accesses at host addresses that have been checked.
//!
//! An inactive lane must change nothing, and reads nothing that might not be there. Where lanes are accessed one by one, an
//! inactive one is led to memory of the function's own: a load finds 0 there, and a store is lost there. So there are no branches
//! in a scatter, nor in a gather by indices of 64 bits; `gather` has those by 32 bits.

use super::demand::{lane_type, mask_type, scalar_type};
use super::plan::LaneWidth;
use super::translate::Translator;
use crate::ir::{Cell, Inst, Kind, Value};
use crate::lowering::{Area, fits};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self as clif, AtomicRmwOp, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types,
};
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::isa::Op;
use spmdvm_vm::memory::RegionLookup;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;
use std::mem::offset_of;

/// Flags of accesses to memory of programs: checked, but not aligned.
pub(super) const UNALIGNED: MemFlagsData = MemFlagsData::new().with_notrap();

impl Translator<'_> {
    /// Translates a load or store.
    pub(super) fn access(&mut self, inst: &Inst) {
        let args = &inst.args;
        let address = self.scalar(args[0]);
        match (inst.kind, inst.result) {
            (Kind::Load { ty }, Some(result)) => {
                let x = self.b.ins().load(scalar_type(ty), UNALIGNED, address, 0);
                let x = if ty == Ty::Bool { self.b.ins().icmp_imm_s(IntCC::NotEqual, x, 0) } else { x };
                self.record(self.plan.scalar_slot(result), x);
            }
            (Kind::LoadLanes { ty }, Some(result)) => self.load_lanes(ty, address, result),
            (Kind::LoadStrided { ty, stride }, Some(result)) => self.load_strided(ty, stride, address, result),
            (Kind::Gather { ty, index, scale, .. }, Some(result)) => self.gather(inst, ty, index, scale, result),
            (Kind::LoadPacked { ty }, Some(result)) => self.load_packed(ty, address, args[1], result),
            (Kind::Store { .. }, _) => {
                let x = self.scalar(args[1]);
                self.b.ins().store(UNALIGNED, x, address, 0);
            }
            (Kind::StoreLanes { ty }, _) => self.store_lanes(ty, address, args[1]),
            (Kind::StoreStrided { ty, stride }, _) => self.store_strided(ty, stride, address, args[1]),
            (Kind::Clear { bytes }, _) => self.clear(address, bytes),
            (Kind::StoreMasked { ty }, _) => self.store_masked(ty, address, args[1], args[2]),
            (Kind::StorePacked { ty }, _) => self.store_packed(ty, address, args[1], args[2]),
            (Kind::Scatter { ty, index, scale }, _) => self.scatter(inst, ty, index, scale),
            _ => unreachable!("no access"),
        }
    }

    /// Translates an atomic operation. The host address is aligned.
    pub(super) fn atomic(&mut self, inst: &Inst, op: Op) {
        let [address, x] = [0, 1].map(|i| self.scalar(inst.args[i]));
        let ty = self.b.func.dfg.value_type(x);
        let rmw = |t: &mut Self, op| t.b.ins().atomic_rmw(ty, UNALIGNED, op, address, x);
        let old = match op {
            Op::AtomicAdd => rmw(self, AtomicRmwOp::Add),
            Op::AtomicSub => rmw(self, AtomicRmwOp::Sub),
            Op::AtomicSwap => rmw(self, AtomicRmwOp::Xchg),
            _ => {
                let next = self.scalar(inst.args[2]);
                self.b.ins().atomic_cas(UNALIGNED, address, x, next)
            }
        };
        if let Some(result) = inst.result {
            self.record(self.plan.scalar_slot(result), old);
        }
    }

    /// The scalar type that covers all lanes of a gang too narrow for a vector.
    fn narrow(&self, ty: Ty) -> Option<clif::Type> {
        match self.lanes * ty.size() {
            1 => Some(types::I8),
            2 => Some(types::I16),
            4 => Some(types::I32),
            8 => Some(types::I64),
            _ => None,
        }
    }

    /// Returns whether a load of all lanes is one of vectors.
    pub(super) fn loads_pieces(&self, ty: Ty) -> bool {
        ty != Ty::Bool && self.narrow(ty).is_none()
    }

    /// Piece `i` of what lies at an address, if it is loaded in vectors.
    pub(super) fn load_piece(&mut self, ty: Ty, address: Value, i: usize) -> clif::Value {
        let address = self.scalar(address);
        self.b.ins().load(lane_type(ty), UNALIGNED, address, 16 * i as i32)
    }

    fn load_lanes(&mut self, ty: Ty, address: clif::Value, result: Value) {
        self.take_result(result, |t, of, i| match t.narrow(ty) {
            None => t.b.ins().load(of, UNALIGNED, address, 16 * i as i32),
            Some(narrow) => {
                let x = t.b.ins().load(narrow, UNALIGNED, address, 0);
                let x = if narrow.bits() < 32 { t.b.ins().uextend(types::I32, x) } else { x };
                let vector = if narrow == types::I64 { types::I64X2 } else { types::I32X4 };
                let x = t.b.ins().scalar_to_vector(vector, x);
                t.as_type(x, of)
            }
        });
    }

    /// Each address is the first one's at a distance that is known. Elements of 32 bits that are near each other are picked out
    /// of two vectors for every four of them; others are loaded lane by lane.
    fn load_strided(&mut self, ty: Ty, stride: i32, address: clif::Value, result: Value) {
        let elements = (ty.size() == 4 && self.lanes >= 4 && stride % 4 == 0).then_some(stride / 4);
        if let Some(n @ (-3..=-1 | 2 | 3)) = elements {
            return self.take_result(result, |t, of, i| {
                let x = t.every_nth(n, address, 16 * n * i as i32);
                t.as_type(x, of)
            });
        }
        let pieces = self.computed_if(address, |t| t.gathered(ty, |_, l| (address, stride * l as i32)));
        self.take_result(result, |_, _, i| pieces[i]);
    }

    /// Four elements of 32 bits, each `n` from the last, from an address and an offset on. `n` is at most 3 up or down, and
    /// neither 0 nor 1. What is read lies between the first and the last of them.
    fn every_nth(&mut self, n: i32, address: clif::Value, at: i32) -> clif::Value {
        // Each vector holds two of them: the first begins or ends with one, the second ends or begins with one.
        let (starts, lanes) =
            if n > 0 { ([0, 3 * n - 3], [0, n, 4 + 3 - n, 4 + 3]) } else { ([-3, 3 * n], [3, 3 + n, 4 - n, 4]) };
        let [a, b] = starts.map(|start| self.b.ins().load(types::I8X16, UNALIGNED, address, at + 4 * start));
        let picks = std::array::from_fn(|byte| (4 * lanes[byte / 4] + byte as i32 % 4) as u8);
        self.shuffled(a, b, picks)
    }

    fn store_strided(&mut self, ty: Ty, stride: i32, address: clif::Value, v: Value) {
        let pieces = self.in_memory(v);
        let n = 16 / ty.size();
        for l in 0..self.lanes {
            let x = self.b.ins().extractlane(pieces[l / n], (l % n) as u8);
            self.b.ins().store(UNALIGNED, x, address, stride * l as i32);
        }
    }

    fn store_lanes(&mut self, ty: Ty, address: clif::Value, v: Value) {
        for (i, x) in self.in_memory(v).into_iter().enumerate() {
            let Some(narrow) = self.narrow(ty) else {
                self.b.ins().store(UNALIGNED, x, address, 16 * i as i32);
                continue;
            };
            let vector = mask_type(LaneWidth::of(narrow.bytes() as usize));
            let x = self.as_type(x, vector);
            let x = self.b.ins().extractlane(x, 0);
            self.b.ins().store(UNALIGNED, x, address, 0);
        }
    }

    fn clear(&mut self, address: clif::Value, bytes: u32) {
        let vectors = bytes / 16 * 16;
        for at in (0..vectors).step_by(16) {
            let zero = self.constant_vector(types::I64X2, 0);
            self.b.ins().store(UNALIGNED, zero, address, at as i32);
        }
        for at in vectors..bytes {
            let zero = self.b.ins().iconst(types::I8, 0);
            self.b.ins().store(UNALIGNED, zero, address, at as i32);
        }
    }

    /// Host address of byte 0 of a pointer's memory region.
    pub(super) fn region_base(&mut self, pointer: clif::Value) -> clif::Value {
        let entry = self.region_entry(pointer);
        self.b.ins().load(types::I64, MemFlagsData::trusted(), entry, RegionLookup::BASE_AT as i32)
    }

    /// A length of a pointer's memory region. What is read of the region later is read after it: an atomic load, which Cranelift
    /// neither merges nor moves.
    pub(super) fn region_len(&mut self, pointer: clif::Value, field: usize) -> clif::Value {
        let entry = self.region_entry(pointer);
        let at = self.b.ins().iadd_imm_s(entry, field as i64);
        self.b.ins().atomic_load(types::I64, MemFlagsData::trusted(), at)
    }

    /// `RegionBase` and `RegionLen`, of a pointer and the length that it takes.
    pub(super) fn ask_region(&mut self, kind: Kind, pointer: clif::Value, len: Option<clif::Value>) -> clif::Value {
        match (kind, len) {
            (Kind::RegionLen { write: false }, _) => self.region_len(pointer, RegionLookup::READ_LEN_AT),
            (Kind::RegionLen { write: true }, Some(readable)) => {
                let writable = self.region_len(pointer, RegionLookup::WRITE_LEN_AT);
                self.b.ins().band(readable, writable)
            }
            _ => self.region_base(pointer),
        }
    }

    /// Piece `i` of these of pointers that vary.
    pub(super) fn ask_regions(&mut self, inst: &Inst, i: usize) -> clif::Value {
        let args: Vec<_> = inst.args.iter().map(|&arg| self.piece(arg, i)).collect();
        let mut pair = args[0];
        for lane in 0..2 {
            let words: Vec<_> = args.iter().map(|&arg| self.b.ins().extractlane(arg, lane)).collect();
            let x = self.ask_region(inst.kind, words[0], words.get(1).copied());
            pair = self.b.ins().insertlane(pair, x, lane);
        }
        pair
    }

    /// The entry of a pointer's memory region, looked up as the table does ([`RegionLookup`]): every region number leads to
    /// an entry, and one that is not live has length 0.
    fn region_entry(&mut self, pointer: clif::Value) -> clif::Value {
        // Where the directory is does not change; what it holds may.
        let constant = MemFlagsData::trusted().with_readonly().with_can_move();
        let directory = self.b.ins().load(types::I64, constant, self.context, offset_of!(Context, regions) as i32);
        let number = self.b.ins().ushr_imm_u(pointer, (OFFSET_BITS + RegionLookup::CHUNK_BITS) as i64);
        let place = self.b.ins().ishl_imm_u(number, 3);
        let place = self.b.ins().iadd(directory, place);
        let chunk = self.b.ins().load(types::I64, MemFlagsData::trusted(), place, 0);
        let at = self.b.ins().ushr_imm_u(pointer, (OFFSET_BITS - RegionLookup::ENTRY_BITS) as i64);
        let mask = ((1u64 << RegionLookup::CHUNK_BITS) - 1) << RegionLookup::ENTRY_BITS;
        let at = self.b.ins().band_imm_u(at, mask as i64);
        self.b.ins().iadd(chunk, at)
    }

    /// The host address at an offset from where the memory of frames is told by.
    pub(super) fn frame_host(&mut self, at: u64) -> clif::Value {
        let base = self.base(Area::Memory);
        self.b.ins().iadd_imm_s(base, at as i64)
    }

    /// Writes what an exit says to a cell of memory.
    pub(super) fn store_cell(&mut self, cell: Cell, v: Value) {
        let address = self.frame_host(cell.at);
        if cell.ty.is_varying() {
            self.store_lanes(cell.ty.ty, address, v);
        } else {
            let x = self.scalar(v);
            self.b.ins().store(UNALIGNED, x, address, 0);
        }
    }

    /// Eight bytes of the function's own memory: `dummy` of loads holds 0, that of stores anything.
    pub(super) fn own_memory(&mut self, for_stores: bool) -> StackSlot {
        let slot = &mut self.own[for_stores as usize];
        *slot.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3))
        })
    }

    /// The addresses of the lanes of a gather or scatter, two to a piece; those of inactive lanes lead to own memory.
    fn addresses(&mut self, inst: &Inst, index: Ty, scale: u32, for_stores: bool) -> Vec<clif::Value> {
        let (index_value, mask) = (inst.args[1], inst.args[inst.args.len() - 1]);
        let all = self.values.is_full(mask);
        let own = self.own_memory(for_stores);
        let base = self.scalar(inst.args[0]);
        let base = self.b.ins().splat(types::I64X2, base);
        let own = self.b.ins().stack_addr(types::I64, own, 0);
        if !for_stores && !all {
            let zero = self.b.ins().iconst(types::I64, 0);
            self.b.ins().store(MemFlagsData::trusted(), zero, own, 0);
        }
        let own = self.b.ins().splat(types::I64X2, own);
        let scales = self.constant_vector(types::I64X2, scale as u64);
        (0..self.plan.pieces(8))
            .map(|i| {
                let x = self.resized(index_value, index, 8, i);
                let x = match scale {
                    1 => x,
                    _ if scale.is_power_of_two() => self.b.ins().ishl_imm_u(x, scale.trailing_zeros() as i64),
                    _ => self.b.ins().imul(x, scales),
                };
                let at = self.b.ins().iadd(base, x);
                if all {
                    return at;
                }
                let mask = self.mask(mask, LaneWidth::of(8), i);
                self.blend(mask, at, own)
            })
            .collect()
    }

    fn gather(&mut self, inst: &Inst, ty: Ty, index: Ty, scale: u32, result: Value) {
        if fits(index, scale) {
            return self.gather_indexed(inst, result);
        }
        let addresses = self.addresses(inst, index, scale, false);
        let pieces = self.gathered(ty, |t, l| (t.b.ins().extractlane(addresses[l / 2], (l % 2) as u8), 0));
        self.take_result(result, |_, _, i| pieces[i]);
    }

    fn scatter(&mut self, inst: &Inst, ty: Ty, index: Ty, scale: u32) {
        let addresses = self.addresses(inst, index, scale, true);
        let pieces = self.in_memory(inst.args[2]);
        let n = 16 / ty.size();
        for l in 0..self.lanes {
            let at = self.b.ins().extractlane(addresses[l / 2], (l % 2) as u8);
            let x = self.b.ins().extractlane(pieces[l / n], (l % n) as u8);
            self.b.ins().store(UNALIGNED, x, at, 0);
        }
    }

    fn load_packed(&mut self, ty: Ty, address: clif::Value, mask: Value, result: Value) {
        let addresses = self.packed_addresses(ty, address, mask, false);
        let pieces = self.gathered(ty, |_, l| (addresses[l], 0));
        self.take_result(result, |_, _, i| pieces[i]);
    }

    fn store_packed(&mut self, ty: Ty, address: clif::Value, v: Value, mask: Value) {
        let pieces = self.in_memory(v);
        let n = 16 / ty.size();
        for (l, at) in self.packed_addresses(ty, address, mask, true).into_iter().enumerate() {
            let x = self.b.ins().extractlane(pieces[l / n], (l % n) as u8);
            self.b.ins().store(UNALIGNED, x, at, 0);
        }
    }

    /// Where lanes are if each active one lies behind the active one before; inactive ones are in own memory.
    fn packed_addresses(&mut self, ty: Ty, first: clif::Value, mask: Value, for_stores: bool) -> Vec<clif::Value> {
        let bits = self.mask_bits(mask);
        let own = self.own_memory(for_stores);
        let own = self.b.ins().stack_addr(types::I64, own, 0);
        if !for_stores {
            let zero = self.b.ins().iconst(types::I64, 0);
            self.b.ins().store(MemFlagsData::trusted(), zero, own, 0);
        }
        let mut at = first;
        let addresses = (0..self.lanes).map(|l| {
            let bit = self.b.ins().ushr_imm_u(bits, l as i64);
            let bit = self.b.ins().band_imm_u(bit, 1);
            let address = self.b.ins().select(bit, at, own);
            let bytes = self.b.ins().ishl_imm_u(bit, ty.size().trailing_zeros() as i64);
            at = self.b.ins().iadd(at, bytes);
            address
        });
        addresses.collect()
    }

    /// If all lanes are active, vectors are stored; else runs of active lanes, and single ones. (To read, blend and write back
    /// would touch what inactive lanes must not: another thread may write there.)
    fn store_masked(&mut self, ty: Ty, address: clif::Value, v: Value, mask: Value) {
        let bits = self.mask_bits(mask);
        // Made before the paths part, for both need them.
        let pieces = self.in_memory(v);
        let (whole, lanes, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let all = self.b.ins().icmp_imm_s(IntCC::Equal, bits, self.region.width.full_mask() as i64);
        self.b.ins().brif(all, whole, &[], lanes, &[]);

        self.b.switch_to_block(whole);
        self.store_lanes(ty, address, v);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(lanes);
        let copy = self.in_scratch(&pieces);
        self.store_runs(ty, copy, address, bits, done);
        self.b.switch_to_block(done);
    }

    /// Stores the lanes whose bits are set from a copy in memory, in a loop: where as many lanes as fill a vector follow one
    /// another, a vector (so end the rows of arrays), else a lane, for masks of stores tend to be sparse.
    fn store_runs(&mut self, ty: Ty, copy: clif::Value, address: clif::Value, bits: clif::Value, done: clif::Block) {
        let size = ty.size() as i64;
        let turn = self.b.create_block();
        let left = self.b.append_block_param(turn, types::I64);
        self.b.ins().brif(bits, turn, &[bits.into()], done, &[]);
        self.b.switch_to_block(turn);
        let lane = self.b.ins().ctz(left);
        let offset = self.b.ins().ishl_imm_u(lane, size.trailing_zeros() as i64);
        let (from, to) = (self.b.ins().iadd(copy, offset), self.b.ins().iadd(address, offset));
        if self.lanes as i64 * size > 16 {
            let run = (1u64 << (16 / size)) - 1;
            let (several, one) = (self.b.create_block(), self.b.create_block());
            let first = self.b.ins().ushr(left, lane);
            let first = self.b.ins().band_imm_u(first, run as i64);
            let is_run = self.b.ins().icmp_imm_s(IntCC::Equal, first, run as i64);
            self.b.ins().brif(is_run, several, &[], one, &[]);
            self.b.switch_to_block(several);
            let x = self.b.ins().load(types::I8X16, UNALIGNED, from, 0);
            self.b.ins().store(UNALIGNED, x, to, 0);
            let these = self.b.ins().ishl(first, lane);
            let left = self.b.ins().band_not(left, these);
            self.b.ins().brif(left, turn, &[left.into()], done, &[]);
            self.b.switch_to_block(one);
        }
        let x = self.b.ins().load(scalar_type(ty), MemFlagsData::trusted(), from, 0);
        self.b.ins().store(UNALIGNED, x, to, 0);
        let less = self.b.ins().iadd_imm_s(left, -1);
        let left = self.b.ins().band(left, less);
        self.b.ins().brif(left, turn, &[left.into()], done, &[]);
    }
}
