//! A compiled region: its module, its memory, and how it is entered.

use super::host::{Features, Options};
use super::stubs::Stubs;
use super::translate::{self, Held};
use crate::backend::Executable;
use crate::ir::{ExitId, Region};
use cranelift_codegen::Context as Compilation;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use spmdvm_vm::interp::native::Context;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// What a region becomes: it gives the number of its exit.
type Entry = unsafe extern "C" fn(*mut Context) -> u32;

/// The code of a region.
pub(super) struct Code {
    entry: Entry,
    /// Holds the memory of the code. Taken out only to free it.
    module: ManuallyDrop<JITModule>,
    /// What the code refers to by address.
    _held: Vec<Held>,
    _stubs: Arc<Stubs>,
    bytes: usize,
    listing: Option<String>,
}

// SAFETY: the module is not used after compilation but to free its memory, and the code is never written again.
unsafe impl Send for Code {}
// SAFETY: as above; running the code touches only what its context refers to.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here; nobody runs the code, for that would need a reference to `self`.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

impl Executable for Code {
    unsafe fn run(&self, context: &mut Context) -> ExitId {
        // SAFETY: the caller's promise; the entry is the translation of the region, for this signature.
        ExitId(unsafe { (self.entry)(context) })
    }

    fn code_bytes(&self) -> usize {
        self.bytes
    }

    fn listing(&self) -> Option<String> {
        self.listing.clone()
    }
}

/// Translates, compiles and loads a region.
pub(super) fn compile(
    isa: &OwnedTargetIsa,
    stubs: &Arc<Stubs>,
    options: &Options,
    region: &Region,
) -> Result<Code, String> {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.push(AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I32));
    let mut compilation = Compilation::new();
    compilation.func.signature = signature;
    compilation.set_disasm(options.listing);
    let mut memory = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut compilation.func, &mut memory);
    let held = translate::region(region, Features::of(&**isa), isa.frontend_config(), stubs, builder)?;
    load(isa, compilation, held, stubs.clone())
}

fn load(
    isa: &OwnedTargetIsa,
    mut compilation: Compilation,
    held: Vec<Held>,
    stubs: Arc<Stubs>,
) -> Result<Code, String> {
    let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), default_libcall_names()));
    let made = make(&mut module, &mut compilation);
    let (entry, bytes) = match made {
        Ok(made) => made,
        Err(error) => {
            // SAFETY: no code of the module has been given out.
            unsafe { module.free_memory() };
            return Err(error);
        }
    };
    let listing = compilation.compiled_code().and_then(|code| code.vcode.clone());
    // SAFETY: the function has this signature.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
    Ok(Code { entry, module: ManuallyDrop::new(module), _held: held, _stubs: stubs, bytes, listing })
}

/// Compiles into a module; gives the address and the size of the code.
fn make(module: &mut JITModule, compilation: &mut Compilation) -> Result<(*const u8, usize), String> {
    let id = module.declare_anonymous_function(&compilation.func.signature).map_err(|e| e.to_string())?;
    let mut control = ControlPlane::default();
    module.define_function_with_control_plane(id, compilation, &mut control).map_err(|e| format!("{e:?}"))?;
    let bytes = compilation.compiled_code().map_or(0, |code| code.code_buffer().len());
    module.finalize_definitions().map_err(|e| e.to_string())?;
    Ok((module.get_finalized_function(id), bytes))
}
