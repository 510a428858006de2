//! What is asked about the memory region of a pointer, looked up where the runtime looks it up: [`RegionLookup`].
//!
//! As there, nothing is tested: every region number leads to an entry, and one that is not live has length 0, so the check of
//! bounds that follows fails. What a block asks about one pointer, and sums from it, is read from one entry, as long as nothing
//! between can end a region. The address is read after the length that it takes: loads are selected in order.

use super::inst::{Arg, Base, Mem, Plain, Size};
use super::level::Level;
use super::select::{Select, imm8};
use super::values::sized;
use crate::ir::{Inst, Kind, Value};
use iced_x86::{Code, OpKind};
use regalloc2::VReg;
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::memory::{RegionLookup, offset_of, region_of};
use spmdvm_vm::sem::OFFSET_BITS;

/// The bits of a region number that tell the entry of a chunk.
const IN_CHUNK: u32 = (1 << RegionLookup::CHUNK_BITS) - 1;

/// Where an entry has what is asked for.
fn field_of(kind: Kind) -> i32 {
    let field = match kind {
        Kind::RegionLen { write: false } => RegionLookup::READ_LEN_AT,
        Kind::RegionLen { write: true } => RegionLookup::WRITE_LEN_AT,
        _ => RegionLookup::BASE_AT,
    };
    field as i32
}

impl<L: Level> Select<'_, L> {
    /// `RegionBase`, `RegionLen` and `HostAddress`.
    pub(super) fn ask_region(&mut self, inst: &Inst) {
        let pointer = inst.args[0];
        let entry = self.region_entry(pointer);
        let x = self.load_in_order(entry.plus(field_of(inst.kind)));
        if let Kind::RegionLen { write: true } = inst.kind {
            // One that may be written to is as long for reading.
            let readable = self.gpr(inst.args[1]);
            let x = self.gpr_binary(Code::And_rm64_r64, Size::G64, x, readable);
            return self.set(inst, x);
        }
        let Kind::HostAddress { disp } = inst.kind else { return self.set(inst, x) };
        let known = self.constant(pointer).map(|bits| offset_of(bits).wrapping_add(disp));
        let x = match (known, i32::try_from(disp)) {
            (Some(offset), _) => match i32::try_from(offset) {
                Ok(0) => x,
                Ok(near) => self.address_of(Mem::reg(x, near)),
                Err(_) => {
                    let offset = self.imm(offset as u64);
                    self.gpr_binary(Code::Add_rm64_r64, Size::G64, x, offset)
                }
            },
            (None, Ok(near)) => {
                let offset = self.displaced_offset(pointer, 0);
                self.address_of(Mem { index: Some(offset), ..Mem::reg(x, near) })
            }
            (None, Err(_)) => {
                let offset = self.displaced_offset(pointer, disp);
                self.gpr_binary(Code::Add_rm64_r64, Size::G64, x, offset)
            }
        };
        self.set(inst, x);
    }

    /// `RegionBase` and `RegionLen` of pointers that vary.
    pub(super) fn ask_regions(&mut self, inst: &Inst) {
        let field = field_of(inst.kind);
        let mut pieces = match self.target.tuning.gathers {
            true => self.gather_of_entries(inst.args[0], field),
            false => self.load_of_entries(inst.args[0], field),
        };
        if let Kind::RegionLen { write: true } = inst.kind {
            let form = self.form(8);
            for (i, x) in pieces.iter_mut().enumerate() {
                let readable = Arg::Use(self.piece(inst.args[1], 8, i), form);
                let and = sized(Code::EVEX_Vpandq_xmm_k1z_xmm_xmmm128b64, form);
                *x = self.vector(and, form, &[Arg::Use(*x, form), readable]);
            }
        }
        self.set_pieces(inst, pieces);
    }

    /// A field of the entries of the lanes' regions, by the machine's gathers. They are loads that stay in order.
    fn gather_of_entries(&mut self, pointers: Value, field: i32) -> Vec<VReg> {
        let entries = self.entries_of_lanes(pointers);
        let nothing = self.imm(0);
        let fields = |s: &mut Self, entry| s.gather_words(Mem { index: Some(entry), ..Mem::reg(nothing, field) });
        entries.into_iter().map(|entry| fields(self, entry)).collect()
    }

    /// The addresses of the entries of the lanes' regions, in vectors.
    fn entries_of_lanes(&mut self, pointers: Value) -> Vec<VReg> {
        if let Some(entries) = self.lane_entries.get(&pointers) {
            return entries.clone();
        }
        let directory = self.load_in_order(Mem::at(Base::Context, std::mem::offset_of!(Context, regions) as i32));
        let form = self.form(8);
        let shift = sized(Code::EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8, form);
        let entry = |s: &mut Self, i: usize| {
            let pointer = s.piece(pointers, 8, i);
            let number = s.vector_imm(shift, form, pointer, (OFFSET_BITS + RegionLookup::CHUNK_BITS) as u8);
            let chunk = s.gather_words(Mem { index: Some(number), scale: 8, ..Mem::reg(directory, 0) });
            let place = s.vector_imm(shift, form, pointer, (OFFSET_BITS - RegionLookup::ENTRY_BITS) as u8);
            let in_chunk = s.constant_arg(u64::from(IN_CHUNK << RegionLookup::ENTRY_BITS), 8);
            let and = sized(Code::EVEX_Vpandq_xmm_k1z_xmm_xmmm128b64, form);
            let place = s.vector(and, form, &[Arg::Use(place, form), in_chunk]);
            let add = sized(Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64, form);
            s.vector(add, form, &[Arg::Use(chunk, form), Arg::Use(place, form)])
        };
        let entries: Vec<VReg> = (0..self.n_pieces(8)).map(|i| entry(self, i)).collect();
        self.lane_entries.insert(pointers, entries.clone());
        entries
    }

    /// The same as [`gather_of_entries`](Self::gather_of_entries), lane by lane.
    fn load_of_entries(&mut self, pointers: Value, field: i32) -> Vec<VReg> {
        self.code.needs_scratch(L::VECTOR_BYTES * self.n_pieces(8));
        let directory = self.load_in_order(Mem::at(Base::Context, std::mem::offset_of!(Context, regions) as i32));
        let mut words = self.words(pointers);
        for lane in 0..self.lanes {
            let pointer = self.word_of_lane(&mut words, lane);
            let entry = self.entry_at(directory, pointer);
            let x = self.load_in_order(entry.plus(field));
            self.store_word(Mem::at(Base::Scratch, 8 * lane as i32), x);
        }
        let form = self.form(8);
        (0..self.n_pieces(8))
            .map(|i| self.load_vector(form, Mem::at(Base::Scratch, (L::VECTOR_BYTES * i) as i32)))
            .collect()
    }

    /// The entry of the region of a pointer in a register.
    fn entry_at(&mut self, directory: VReg, pointer: VReg) -> Mem {
        let shifted = |s: &mut Self, by: u32| s.gpr_over(Code::Shr_rm64_imm8, Size::G64, pointer, imm8(by as u8));
        let number = shifted(self, OFFSET_BITS + RegionLookup::CHUNK_BITS);
        let chunk = self.load_in_order(Mem { index: Some(number), scale: 8, ..Mem::reg(directory, 0) });
        let place = shifted(self, OFFSET_BITS - RegionLookup::ENTRY_BITS);
        let mask = Arg::Imm(OpKind::Immediate32, (IN_CHUNK << RegionLookup::ENTRY_BITS) as i64);
        let place = self.gpr_over(Code::And_rm32_imm32, Size::G32, place, mask);
        Mem { index: Some(place), ..Mem::reg(chunk, 0) }
    }

    /// Loads 64 bits after what has been loaded before.
    fn load_in_order(&mut self, from: Mem) -> VReg {
        let to = self.code.gpr();
        let load = Plain::new(Code::Mov_r64_rm64, &[Arg::Def(to, Size::G64), Arg::Mem(from)]);
        self.push(Plain { in_order: true, ..load });
        to
    }

    /// The entry of a pointer's region.
    fn region_entry(&mut self, pointer: Value) -> Mem {
        let root = self.root_at_hand(pointer);
        if let Some(&entry) = self.entries.get(&root) {
            return entry;
        }
        let directory = self.load_in_order(Mem::at(Base::Context, std::mem::offset_of!(Context, regions) as i32));
        let entry = match self.constant(root) {
            Some(bits) => {
                let number = region_of(bits);
                let chunk = self.load_in_order(Mem::reg(directory, 8 * (number >> RegionLookup::CHUNK_BITS) as i32));
                Mem::reg(chunk, ((number & IN_CHUNK) << RegionLookup::ENTRY_BITS) as i32)
            }
            None => {
                let pointer = self.gpr(root);
                self.entry_at(directory, pointer)
            }
        };
        self.entries.insert(root, entry);
        entry
    }
}
