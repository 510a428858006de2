//! What is asked about the memory region of a pointer, looked up where the runtime looks it up: [`RegionLookup`].
//!
//! As there, nothing is tested: every region number leads to an entry, and one that is not live has length 0, so the check of
//! bounds that follows fails. What a block asks about one pointer, and sums from it, is read from one entry, as long as nothing
//! between can end a region. The address is read after the length that it takes: loads are selected in order.

use super::inst::{Arg, Base, Mem, Plain, Size};
use super::select::{Select, imm8};
use crate::ir::{Inst, Kind, Value};
use iced_x86::{Code, OpKind};
use regalloc2::VReg;
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::memory::{RegionLookup, offset_of, region_of};
use spmdvm_vm::sem::OFFSET_BITS;

impl Select<'_> {
    /// `RegionBase`, `RegionLen` and `HostAddress`.
    pub(super) fn ask_region(&mut self, inst: &Inst) {
        let pointer = inst.args[0];
        let entry = self.region_entry(pointer);
        let field = match inst.kind {
            Kind::RegionLen { write: false } => RegionLookup::READ_LEN_AT,
            Kind::RegionLen { write: true } => RegionLookup::WRITE_LEN_AT,
            _ => RegionLookup::BASE_AT,
        };
        let x = self.load_in_order(entry.plus(field as i32));
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
        let in_chunk = (1 << RegionLookup::CHUNK_BITS) - 1;
        let entry = match self.constant(root) {
            Some(bits) => {
                let number = region_of(bits);
                let chunk = self.load_in_order(Mem::reg(directory, 8 * (number >> RegionLookup::CHUNK_BITS) as i32));
                Mem::reg(chunk, ((number & in_chunk) << RegionLookup::ENTRY_BITS) as i32)
            }
            None => {
                let pointer = self.gpr(root);
                let shifted =
                    |s: &mut Self, by: u32| s.gpr_over(Code::Shr_rm64_imm8, Size::G64, pointer, imm8(by as u8));
                let number = shifted(self, OFFSET_BITS + RegionLookup::CHUNK_BITS);
                let chunk = self.load_in_order(Mem { index: Some(number), scale: 8, ..Mem::reg(directory, 0) });
                let place = shifted(self, OFFSET_BITS - RegionLookup::ENTRY_BITS);
                let mask = Arg::Imm(OpKind::Immediate32, (in_chunk << RegionLookup::ENTRY_BITS) as i64);
                let place = self.gpr_over(Code::And_rm32_imm32, Size::G32, place, mask);
                Mem { index: Some(place), ..Mem::reg(chunk, 0) }
            }
        };
        self.entries.insert(root, entry);
        entry
    }
}
