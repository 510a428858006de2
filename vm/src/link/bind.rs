//! Functions of the host in the place of imports.

use crate::builder::FunctionBuilder;
use crate::isa::Op;
use crate::program::{FuncId, Function, Import, Inst, Item, Program, Reg};
use crate::types::Ty;
use crate::verify::{VerifiedProgram, VerifyError, verify_joined};

/// The program in which calls of imports are calls of the host, which provides those for which `provides` is true. It is asked
/// for imports that a host can provide.
pub fn bind(
    program: &VerifiedProgram,
    provides: impl Fn(&Import) -> bool,
) -> Result<VerifiedProgram, Vec<VerifyError>> {
    let provided = program.imports.iter().enumerate().filter(|(_, import)| import.host.is_some() && provides(import));
    let functions: Vec<(usize, FuncId)> = provided
        .filter_map(|(i, import)| match import.symbol.item {
            Item::Function(id) => Some((i, id)),
            Item::Global(_) => None,
        })
        .collect();
    if functions.is_empty() {
        return Ok(program.clone());
    }
    let mut bound = Program::clone(program.program());
    let mut facts: Vec<_> = (0..bound.functions.len()).map(|i| Some(program.shared_facts(FuncId(i as u32)))).collect();
    for (import, id) in functions {
        let stub = &mut bound.functions[id.0 as usize];
        *stub = call(stub, import as u32);
        facts[id.0 as usize] = None;
    }
    verify_joined(bound, facts)
}

/// Returns whether a function only calls the host.
pub(super) fn is_bound(function: &Function) -> bool {
    function.code.iter().any(|inst| inst.op == Op::HostCall)
}

/// A function that calls the host as an import, with the parameters and results of the stub that it takes the place of.
fn call(stub: &Function, import: u32) -> Function {
    let mut b = FunctionBuilder::new(stub.name.clone());
    b.set_span(stub.spans.first().copied().unwrap_or_default());
    let declared = &stub.regs[..stub.n_params as usize];
    let params: Vec<Reg> =
        declared.iter().map(|r| b.param(r.shape, r.ty, r.name.as_deref().unwrap_or_default())).collect();
    let results: Vec<Reg> = stub.results.iter().map(|&r| b.reg(stub.reg(r).shape, stub.reg(r).ty)).collect();
    let (args, rets) = (b.list(&params), b.list(&results));
    b.push(Inst { aux: import, args, rets, ..Inst::new(Op::HostCall, Ty::Bool) });
    results.into_iter().for_each(|r| b.result(r));
    b.ret();
    b.finish()
}
