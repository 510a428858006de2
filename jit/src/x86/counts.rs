//! Counters in a register.
//!
//! A counter in memory costs a load, an addition and a store in every round of a loop, and threads that run one region
//! contend for it. So up to 16 counters, those of the innermost loops first, are lanes of a vector register that is never
//! allocated; what a block counts is one addition, which side exits on the way make themselves, and a block leaves its counts to
//! those that come next if these count, too. They are added to memory, and begin anew, where the region is left and where it asks for fuel,
//! which comes before 32 bits are full.

use super::assembler::Asm;
use super::build::{Build, at, sized};
use super::env::{CONTEXT, COUNTS, SPARE, SPARE_BASE, SPARE_MASK};
use super::inst::Size;
use super::level::Level;
use crate::backend::CompileError;
use iced_x86::{Code, MemoryOperand, OpKind, Register};
use spmdvm_vm::interp::native::Context;
use std::mem::offset_of;

impl<L: Level> Asm<'_, L> {
    /// Adds to the counters in the register what the pool has from a place on.
    pub(super) fn add_to_counts(&mut self, place: i32) -> Result<(), CompileError> {
        let more = MemoryOperand::new(Register::RIP, Register::None, 1, place as i64, 8, false, Register::None);
        let form = self.counters_form();
        let (code, counts) = match form {
            Size::Z => (Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, COUNTS),
            _ => (Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32, sized(COUNTS, form)),
        };
        self.put(Build::new(code).reg(counts).reg(counts).mem(more))
    }

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
        let counters = at(CONTEXT, offset_of!(Context, counters) as i32);
        self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE_BASE).mem(counters))?;
        // Of threads that add at the same time some may be lost. With a locked addition for each counter, short regions spent half of
        // their time here.
        let (all, part) = (self.counters, self.counters_form());
        let lanes = if part == Size::Z { 8 } else { 4 };
        for (i, counters) in all.chunks(lanes).enumerate() {
            let (extract, form) = match part {
                Size::Z => (Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, Size::Y),
                _ => (Code::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8, Size::X),
            };
            let half = sized(if i == 0 { COUNTS } else { L::SPARE_VECTOR }, form);
            if i != 0 {
                let extract = Build::new(extract).reg(half).reg(sized(COUNTS, part));
                self.put(extract.imm(OpKind::Immediate8, i as i64))?;
            }
            match counters.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
                true => self.add_in_a_row(half, counters, part)?,
                false => self.add_one_by_one(half, counters)?,
            }
        }
        self.clear_counts()?;
        self.put(Build::new(Code::Retnq))
    }

    /// How much of the register is used, so that no more is than is needed: see `vcode::halves`.
    fn counters_form(&self) -> Size {
        if self.counters.len() > 8 { Size::Z } else { Size::Y }
    }

    /// Adds counters, which lie in a row in memory and fill no more than so much of a vector there.
    fn add_in_a_row(&mut self, half: Register, counters: &[u32], form: Size) -> Result<(), CompileError> {
        let (memory, sum) = (at(SPARE_BASE, 8 * counters[0] as i32), sized(L::SPARE_VECTOR, form));
        let (widen, add, store) = match form {
            Size::Z => (
                Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
                Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
                Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
            ),
            _ => (
                Code::EVEX_Vpmovzxdq_ymm_k1z_xmmm128,
                Code::EVEX_Vpaddq_ymm_k1z_ymm_ymmm256b64,
                Code::EVEX_Vmovdqu64_ymmm256_k1z_ymm,
            ),
        };
        let (lanes, narrow) = ((1i64 << counters.len()) - 1, sized(SPARE, Size::G32));
        self.put(Build::new(Code::Mov_r32_imm32).reg(narrow).imm(OpKind::Immediate32, lanes))?;
        self.put(Build::new(Code::VEX_Kmovd_kr_r32).reg(SPARE_MASK).reg(narrow))?;
        self.put(Build::new(widen).reg(sum).reg(half))?;
        self.put(Build::new(add).reg(sum).reg(sum).mem(memory).mask(SPARE_MASK, true))?;
        self.put(Build::new(store).mem(memory).reg(sum).mask(SPARE_MASK, false))
    }

    /// Adds counters that do not.
    fn add_one_by_one(&mut self, half: Register, counters: &[u32]) -> Result<(), CompileError> {
        // The scratch memory, above the address to return to. In halves: of 512 bits that have just been stored, a part is long in coming
        // on Intel's processors.
        let scratch = |asm: &Self, lane: usize| asm.scratch_at(8 + 4 * lane as i32);
        let store = match half.is_ymm() {
            true => Code::EVEX_Vmovups_ymmm256_k1z_ymm,
            false => Code::EVEX_Vmovups_xmmm128_k1z_xmm,
        };
        self.put(Build::new(store).mem(scratch(self, 0)).reg(half))?;
        for (lane, &n) in counters.iter().enumerate() {
            self.put(Build::new(Code::Mov_r32_rm32).reg(sized(SPARE, Size::G32)).mem(scratch(self, lane)))?;
            self.put(Build::new(Code::Add_rm64_r64).mem(at(SPARE_BASE, 8 * n as i32)).reg(SPARE))?;
        }
        Ok(())
    }
}
