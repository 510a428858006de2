//! Fuel: counted in a register, and in the context where the region is left or calls what looks at it.

use super::translate::Translator;
use crate::ir::{ExitId, Inst, Kind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};
use spmdvm_vm::interp::native::Context;
use std::mem::offset_of;
use std::sync::Arc;

impl Translator<'_> {
    /// Counts so many units of fuel.
    pub(super) fn tick(&mut self, units: u32, exit: ExitId) {
        let ticks = self.b.use_var(self.ticks);
        let [poll, out, count, go_on] = [(); 4].map(|()| self.b.create_block());
        let is_left = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, ticks, i64::from(units));
        // No edge goes from a fork to a join: Cranelift's register allocator does better so.
        self.b.ins().brif(is_left, count, &[], poll, &[]);

        self.b.set_cold_block(poll);
        self.b.switch_to_block(poll);
        let context = self.context;
        let retired = self.retired.map_or(0, |retired| Arc::as_ptr(retired) as i64);
        let retired = self.b.ins().iconst(types::I64, retired);
        let wanted = self.b.ins().iconst(types::I64, i64::from(units));
        self.store_ticks();
        let may_go_on = self.call(self.stubs.poll, &[context, retired, wanted]);
        self.load_ticks();
        self.b.ins().brif(may_go_on, go_on, &[], out, &[]);

        self.b.set_cold_block(out);
        self.b.switch_to_block(out);
        self.leave_cold(exit);

        self.b.switch_to_block(count);
        let ticks = self.b.ins().iadd_imm_s(ticks, -i64::from(units));
        self.b.def_var(self.ticks, ticks);
        self.b.ins().jump(go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// Counts as many units as are left, but at most as many as an instruction asks for.
    pub(super) fn ticks(&mut self, inst: &Inst, each: u32) {
        let most = self.scalar(inst.args[0]);
        let ticks = self.b.use_var(self.ticks);
        let none = self.b.ins().iconst(types::I64, 0);
        let left = self.b.ins().smax(ticks, none);
        let left = self.b.ins().ushr_imm_u(left, i64::from(Kind::ticks_shift(each)));
        let n = self.b.ins().umin(left, most);
        let used = self.b.ins().imul_imm_s(n, i64::from(each));
        let ticks = self.b.ins().isub(ticks, used);
        self.b.def_var(self.ticks, ticks);
        if let Some(result) = inst.result {
            self.record(self.plan.scalar_slot(result), n);
        }
    }

    pub(super) fn load_ticks(&mut self) {
        let at = offset_of!(Context, ticks) as i32;
        let ticks = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.context, at);
        self.b.def_var(self.ticks, ticks);
    }

    pub(super) fn store_ticks(&mut self) {
        let (ticks, at) = (self.b.use_var(self.ticks), offset_of!(Context, ticks) as i32);
        self.b.ins().store(MemFlagsData::trusted(), ticks, self.context, at);
    }
}
