//! Atomic operations on one element, at an aligned address that has been checked.

use super::inst::{Arg, Size};
use super::level::Level;
use super::select::Select;
use crate::ir::Inst;
use iced_x86::{Code, Register};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

impl<L: Level> Select<'_, L> {
    pub(super) fn atomic(&mut self, inst: &Inst, op: Op, ty: Ty) -> bool {
        let is_wide = ty.size() == 8;
        let form = if is_wide { Size::G64 } else { Size::G32 };
        let code = match (op, is_wide) {
            (Op::AtomicAdd | Op::AtomicSub, false) => Code::Xadd_rm32_r32,
            (Op::AtomicAdd | Op::AtomicSub, true) => Code::Xadd_rm64_r64,
            (Op::AtomicSwap, false) => Code::Xchg_rm32_r32,
            (Op::AtomicSwap, true) => Code::Xchg_rm64_r64,
            (Op::AtomicCas, false) => Code::Cmpxchg_rm32_r32,
            (Op::AtomicCas, true) => Code::Cmpxchg_rm64_r64,
            _ => return false,
        };
        let to = Arg::Mem(self.address(inst.args[0]));
        let (mut x, old) = (self.gpr(inst.args[1]), self.code.gpr());
        if op == Op::AtomicSub {
            x = self.negated(form, x);
        }
        if op == Op::AtomicCas {
            let next = Arg::Use(self.gpr(inst.args[2]), form);
            self.plain(code, &[to, next, Arg::Both { use_: x, def: old, register: Register::RAX }]);
        } else {
            self.plain(code, &[to, Arg::Tied { from: x, to: old, form }]);
        }
        self.set(inst, old);
        true
    }
}

/// Returns whether an instruction of the encoder is one of these, and asks for the memory alone.
pub(super) fn is_locked(code: Code) -> bool {
    matches!(code, Code::Xadd_rm32_r32 | Code::Xadd_rm64_r64 | Code::Cmpxchg_rm32_r32 | Code::Cmpxchg_rm64_r64)
}
