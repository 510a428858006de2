//! What is known of globals without asking memory: their addresses, their sizes, and what constant ones hold.
//!
//! The number of a global's region is a matter of the program (`vm/src/memory`), so its address is a constant, and a register that is
//! written once, with an address, holds that wherever it is read. Memory that the host supplies is as large as the host says.

use super::Recorder;
use super::memory::Operand;
use super::state::State;
use crate::ir::Value;
use spmdvm_vm::memory::{offset_of, region_of};
use spmdvm_vm::program::{FuncId, Global, Reg};
use spmdvm_vm::types::Ty;

impl Recorder<'_> {
    /// The address of a global or function that a register of the entered frame holds throughout the region, if it does: it has been
    /// written before the head if it may be read from there on.
    pub(super) fn known_address(&self, function: FuncId, reg: Reg) -> Option<u64> {
        let analysis = self.analyses.get(&function)?;
        analysis.address(reg).filter(|_| analysis.is_live(self.head.1, reg))
    }

    /// Sets the registers of the entered frame that hold addresses of globals or functions. The entry block is being recorded.
    pub(super) fn known_addresses(&mut self, state: &mut State) {
        for reg in (0..state.top().regs.len() as u32).map(Reg) {
            if let Some(bits) = self.known_address(self.head.0, reg) {
                state.top_mut().regs[reg.index()] = Some(self.constant(Ty::U64, bits));
            }
        }
    }

    /// The bits of a pointer that leads to a global of the program, if they are known; and that.
    fn global_of(&self, pointer: Value) -> Option<(u64, &Global)> {
        let pointer = self.known(pointer)?;
        let global = self.program.globals.get((region_of(pointer) as usize).checked_sub(1)?)?;
        (!global.is_extern()).then_some((pointer, global))
    }

    /// The same, and how many bytes may be accessed there.
    pub(super) fn global_region(&self, pointer: Value, write: bool) -> Option<(u64, u64)> {
        let (pointer, global) = self.global_of(pointer)?;
        Some((pointer, if write && global.constant { 0 } else { global.size }))
    }

    /// What a load of one element gives, if that is known: an element of a constant.
    pub(super) fn constant_element(&mut self, at: &Operand) -> Option<Value> {
        let (index, _, scale) = self.index(at);
        let base = self.known(at.base)?;
        self.known(index)?;
        let index = self.convert(index, Ty::I64);
        let moved = (self.known(index)? as i64).checked_mul(i64::from(scale))?.checked_add(at.address.disp)?;
        let offset = u64::try_from(offset_of(base).checked_add(moved)?).ok()?;
        let (_, global) = self.global_of(at.base)?;
        let bits = global.constant_at(offset, at.ty.size() as u64)?;
        Some(self.constant(at.ty, if at.ty == Ty::Bool { u64::from(bits != 0) } else { bits }))
    }
}
