//! Functions through which hosts run an exported task.
//!
//! A task has hidden parameters that its launch gives it, which hosts know nothing of. So an export of a task `NAME` stands
//! for a function `NAME$launch`, which has the declared parameters only and launches one task.

use super::Lowerer;
use spmdvm_vm::program::{Inst, Reg, TASK_PARAMS};
use spmdvm_vm::{FuncId, Function, FunctionBuilder, Op, Ty};

/// Lets the exports of tasks launch them.
pub(super) fn add_all(lowerer: &mut Lowerer) {
    for export in &mut lowerer.program.exports {
        let task = &lowerer.functions[export.function.0 as usize];
        if task.is_task {
            let wrapper = wrap(task, export.function);
            export.function = FuncId(lowerer.functions.len() as u32);
            lowerer.functions.push(wrapper);
        }
    }
}

fn wrap(task: &Function, id: FuncId) -> Function {
    let mut b = FunctionBuilder::new(format!("{}$launch", task.name));
    b.set_span(task.spans.first().copied().unwrap_or_default());
    let declared = &task.regs[TASK_PARAMS as usize..task.n_params as usize];
    let params: Vec<Reg> =
        declared.iter().map(|r| b.param(r.shape, r.ty, r.name.as_deref().unwrap_or_default())).collect();
    let one = b.constant(Ty::I32, 1);
    let args = b.list(&[&[one; 3], &params[..]].concat());
    b.push(Inst { aux: id.0, args, ..Inst::new(Op::Launch, Ty::Bool) });
    b.ret();
    b.finish()
}
