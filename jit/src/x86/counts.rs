//! Counters in a register.
//!
//! A counter in memory costs a load, an addition and a store in every round of a loop, and threads that run one region contend for
//! it. So up to 16 counters, those of the innermost loops first, are lanes of a vector register that is never allocated; what a
//! block counts between two ways out of it is one addition. They are added to memory, and begin anew, where the region is left
//! and where it asks for fuel, which comes before 32 bits are full.

use super::build::{Build, at, sized};
use super::emit::{Emitter, Label};
use super::env::{CONTEXT, COUNTS, SPARE, SPARE_BASE};
use super::inst::{Arg, Base, Form, Mem};
use super::layout::Layout;
use super::select::Select;
use crate::ir::{BlockId, Kind, Region};
use iced_x86::{Code, Register};
use spmdvm_vm::interp::native::Context;
use std::mem::offset_of;

/// Counters in the register.
pub(super) const MOST: usize = 16;

/// The counters that the register has, by lane.
pub(super) fn chosen(region: &Region, layout: &Layout) -> Vec<u32> {
    let mut found: Vec<(usize, u32)> = Vec::new();
    // The entry block's calls would destroy the register.
    for id in layout.order.iter().filter(|&&id| id != BlockId(0)) {
        for inst in &region.block(*id).insts {
            if let Kind::Count(n) = inst.kind {
                found.push((layout.depths[id.index()], n));
            }
        }
    }
    found.sort_by_key(|&(depth, n)| (std::cmp::Reverse(depth), n));
    let mut counters = Vec::new();
    for (_, n) in found {
        if counters.len() < MOST && !counters.contains(&n) {
            counters.push(n);
        }
    }
    counters
}

impl Select<'_> {
    /// Counts one more.
    pub fn count(&mut self, n: u32) {
        match self.flow.counters.iter().position(|&c| c == n).filter(|_| self.block != BlockId(0)) {
            Some(lane) => self.pending[lane] += 1,
            None => {
                let counters = self.load_64(Mem::fixed(CONTEXT, offset_of!(Context, counters) as i32));
                self.plain(Code::Inc_rm64, &[Arg::Mem(Mem::reg(counters, 8 * n as i32))]);
            }
        }
    }

    /// Counts what is to be counted before a way out.
    pub fn count_pending(&mut self) {
        if self.pending == [0; MOST] {
            return;
        }
        let bytes: Vec<u8> = std::mem::take(&mut self.pending).iter().flat_map(|n| n.to_le_bytes()).collect();
        let more = Arg::Mem(Mem::at(Base::Pool, self.flow.constant(&bytes)));
        let args = [Arg::Fixed(COUNTS), Arg::Fixed(COUNTS), more];
        self.plain(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, &args);
    }
}

impl Emitter<'_> {
    /// Adds the counters in the register to those in memory, if there are any.
    pub fn add_counts(&mut self) -> Result<(), String> {
        if !self.flow.counters.is_empty() {
            self.jump(&[0xe8], Label::AddCounts);
        }
        Ok(())
    }

    pub fn clear_counts(&mut self) -> Result<(), String> {
        if self.flow.counters.is_empty() { Ok(()) } else { self.zero(COUNTS) }
    }

    /// What `add_counts` calls. It leaves the registers that are allocated alone.
    pub fn counts_adder(&mut self) -> Result<(), String> {
        if self.flow.counters.is_empty() {
            return Ok(());
        }
        self.counts_at = self.at;
        // The scratch memory, above the address to return to.
        let scratch = |lane: usize| at(Register::RSP, 8 + 4 * lane as i32);
        self.put(Build::new(Code::EVEX_Vmovups_zmmm512_k1z_zmm).mem(scratch(0)).reg(COUNTS))?;
        let counters = at(CONTEXT, offset_of!(Context, counters) as i32);
        self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE_BASE).mem(counters))?;
        for (lane, &n) in self.flow.counters.iter().enumerate() {
            self.put(Build::new(Code::Mov_r32_rm32).reg(sized(SPARE, Form::G32)).mem(scratch(lane)))?;
            // Other threads that run the region add theirs.
            self.put(Build::new(Code::Add_rm64_r64).mem(at(SPARE_BASE, 8 * n as i32)).reg(SPARE).locked())?;
        }
        self.clear_counts()?;
        self.put(Build::new(Code::Retnq))
    }
}
