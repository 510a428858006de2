//! Calls that keep all registers.
//!
//! A region calls the runtime rarely (a poll once in a thousand rounds) but from hot loops, and a call of the platform's
//! convention destroys every vector register: whatever lives across it would be spilled in every round. So a region calls
//! *stubs*, which save what they destroy, call the runtime, and leave its answer in memory. They are made once per back end.

use super::code::refused;
use crate::backend::CompileError;
use crate::lowering::runtime::Callee;
use cranelift_codegen::Context as Compilation;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use std::mem::ManuallyDrop;

/// The stubs of a back end, by address.
pub(super) struct Stubs {
    /// See [`Callee::General`]. Takes the context, the instruction and the scratch memory.
    pub general: i64,
    /// See [`Callee::Load`]. Takes the context, the access and the scratch memory.
    pub load: i64,
    /// See [`Callee::Store`]. Likewise.
    pub store: i64,
    /// See [`Callee::Poll`]. Takes the context, and what tells baseline code to end or 0.
    pub poll: i64,
    /// See [`Callee::Interpret`]. Takes the context, the instruction, its frame's offset and a mask.
    pub interpret: i64,
    /// See [`Callee::Call`]. Takes the context, the exit and a mask.
    pub call: i64,
    module: ManuallyDrop<JITModule>,
}

// SAFETY: the module is not used after the stubs have been made but to free its memory.
unsafe impl Send for Stubs {}
// SAFETY: as above.
unsafe impl Sync for Stubs {}

impl Drop for Stubs {
    fn drop(&mut self) {
        // SAFETY: taken once, here; every region that calls the stubs holds them.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

/// The signature of a stub that takes so many words, the last of them the address for the runtime's answer.
pub(super) fn signature(words: usize) -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params.extend((0..words).map(|_| AbiParam::new(types::I64)));
    signature
}

impl Stubs {
    /// Makes the stubs.
    pub fn new(isa: &OwnedTargetIsa) -> Result<Stubs, CompileError> {
        let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
        match define_all(&mut module) {
            Ok(ids) => {
                let addresses = ids.map(|id| module.get_finalized_function(id) as i64);
                let [general, load, store, poll, interpret, call] = addresses;
                Ok(Stubs { general, load, store, poll, interpret, call, module: ManuallyDrop::new(module) })
            }
            Err(error) => {
                // SAFETY: no code of the module has been given out.
                unsafe { module.free_memory() };
                Err(error)
            }
        }
    }
}

fn define_all(module: &mut JITModule) -> Result<[FuncId; 6], CompileError> {
    let ids = [
        define(module, Callee::General, 3)?,
        define(module, Callee::Load, 3)?,
        define(module, Callee::Store, 3)?,
        define(module, Callee::Poll, 3)?,
        define(module, Callee::Interpret, 4)?,
        define(module, Callee::Call, 3)?,
    ];
    module.finalize_definitions().map_err(refused)?;
    Ok(ids)
}

/// Defines the stub of a function that takes so many words and gives 32 bits.
fn define(module: &mut JITModule, target: Callee, words: usize) -> Result<FuncId, CompileError> {
    let mut compilation = Compilation::new();
    compilation.func.signature = signature(words + 1);
    let mut memory = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut compilation.func, &mut memory);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let params = b.block_params(block).to_vec();
    let mut callee = Signature::new(module.isa().default_call_conv());
    callee.params.extend((0..words).map(|_| AbiParam::new(types::I64)));
    callee.returns.push(AbiParam::new(types::I32));
    let callee = b.import_signature(callee);
    let target = b.ins().iconst(types::I64, target.address());
    let call = b.ins().call_indirect(callee, target, &params[..words]);
    let answer = b.inst_results(call)[0];
    b.ins().store(MemFlagsData::trusted(), answer, params[words], 0);
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(module.isa().frontend_config());
    let id = module.declare_anonymous_function(&compilation.func.signature).map_err(refused)?;
    module.define_function(id, &mut compilation).map_err(refused)?;
    Ok(id)
}
