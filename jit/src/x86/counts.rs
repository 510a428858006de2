//! Counters in a register.
//!
//! A counter in memory costs a load, an addition and a store in every round of a loop, and threads that run one region
//! contend for it. So up to 16 counters, those of the innermost loops first, are lanes of a vector register that is never
//! allocated; what a block counts between two side exits is one addition, and a block leaves its counts to those that come
//! next if these count, too. They are added to memory, and begin anew, where the region is left and where it asks for fuel,
//! which comes before 32 bits are full.

use super::assembler::Asm;
use super::build::{Build, at, sized};
use super::env::{CONTEXT, COUNTS, SPARE, SPARE_BASE};
use super::inst::{Arg, Base, Mem, Size};
use super::level::Level;
use super::select::Select;
use crate::backend::CompileError;
use iced_x86::{Code, OpKind};
use spmdvm_vm::interp::native::Context;
use std::mem::offset_of;

impl<L: Level> Select<'_, L> {
    /// Adds to the counters in the register.
    pub(super) fn count(&mut self, counts: &[u32]) {
        let bytes: Vec<u8> = counts.iter().flat_map(|n| n.to_le_bytes()).collect();
        let more = Arg::Mem(Mem::at(Base::Pool, self.code.constant(&bytes)));
        // No more than are needed: see `vcode::halves`.
        let (code, counts) = match self.code.counters.len() {
            ..=8 => (Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32, sized(COUNTS, Size::Y)),
            _ => (Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, COUNTS),
        };
        self.plain(code, &[Arg::Fixed(counts), Arg::Fixed(counts), more]);
    }
}

impl<L: Level> Asm<'_, L> {
    /// Adds the counters in the register to those in memory, if there are any.
    pub(super) fn add_counts(&mut self) {
        if !self.counters.is_empty() {
            let call = self.open(&[0xe8]);
            self.adder_calls.push(call);
        }
    }

    pub(super) fn clear_counts(&mut self) -> Result<(), CompileError> {
        if self.counters.is_empty() { Ok(()) } else { self.clear(COUNTS) }
    }

    /// Keeps the counters in the frame, while the runtime is called.
    pub(super) fn store_counts(&mut self) -> Result<(), CompileError> {
        match self.counters {
            [] => Ok(()),
            _ => self.put(Build::new(Code::EVEX_Vmovups_zmmm512_k1z_zmm).mem(self.counts_at()).reg(COUNTS)),
        }
    }

    /// Takes them up again.
    pub(super) fn load_counts(&mut self) -> Result<(), CompileError> {
        match self.counters {
            [] => Ok(()),
            _ => self.put(Build::new(Code::EVEX_Vmovups_zmm_k1z_zmmm512).reg(COUNTS).mem(self.counts_at())),
        }
    }

    /// What `add_counts` calls. It leaves the registers that are allocated alone.
    pub(super) fn counts_adder(&mut self) -> Result<(), CompileError> {
        if self.counters.is_empty() {
            return Ok(());
        }
        // The scratch memory, above the address to return to.
        let scratch = |asm: &Self, lane: usize| asm.scratch_at(8 + 4 * lane as i32);
        // In halves: of 512 bits that have just been stored, a part is long in coming on Intel's processors.
        let [all, half] = [COUNTS, L::SPARE_VECTOR].map(|register| sized(register, Size::Y));
        self.put(Build::new(Code::EVEX_Vmovups_ymmm256_k1z_ymm).mem(scratch(self, 0)).reg(all))?;
        if self.counters.len() > 8 {
            self.put(
                Build::new(Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8)
                    .reg(half)
                    .reg(COUNTS)
                    .imm(OpKind::Immediate8, 1),
            )?;
            self.put(Build::new(Code::EVEX_Vmovups_ymmm256_k1z_ymm).mem(scratch(self, 8)).reg(half))?;
        }
        let counters = at(CONTEXT, offset_of!(Context, counters) as i32);
        self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE_BASE).mem(counters))?;
        for (lane, &n) in self.counters.iter().enumerate() {
            self.put(Build::new(Code::Mov_r32_rm32).reg(sized(SPARE, Size::G32)).mem(scratch(self, lane)))?;
            // Of threads that add at the same time some may be lost. With a locked addition for each counter, short regions spent half of
            // their time here.
            self.put(Build::new(Code::Add_rm64_r64).mem(at(SPARE_BASE, 8 * n as i32)).reg(SPARE))?;
        }
        self.clear_counts()?;
        self.put(Build::new(Code::Retnq))
    }
}
