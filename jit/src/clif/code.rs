//! A compiled region: its module, its memory, and how it is entered.

use super::host::Features;
use super::stubs::Stubs;
use super::translate::{self, Means};
use crate::backend::{BackendStage, CompileError, Executable, Rule, stage};
use crate::ir::{ExitId, Region};
use crate::lowering::{Held, Retired};
use cranelift_codegen::Context as Compilation;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use spmdvm_vm::interp::native::Context;
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// What a region becomes: it gives the number of its exit.
type Entry = unsafe extern "C" fn(*mut Context) -> u32;

/// The code of a region.
pub(super) struct Code {
    entry: Entry,
    /// Holds the memory of the code. Taken out only to free it.
    module: ManuallyDrop<JITModule>,
    /// What the code refers to by address.
    _held: Vec<Held>,
    /// Holds the stubs that the code calls, and makes the listing.
    maker: Arc<Maker>,
    /// Of baseline code: whether its runs are to end.
    retired: Option<Retired>,
    region: Arc<Region>,
    bytes: usize,
    listing: OnceLock<Option<String>>,
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

    fn retire(&self) {
        if let Some(retired) = &self.retired {
            retired.store(true, Ordering::Relaxed);
        }
    }

    fn code_bytes(&self) -> usize {
        self.bytes
    }

    fn listing(&self) -> Option<String> {
        // Made when it is asked for, by compiling once more: it costs as much as the code.
        let make = || {
            let (mut compilation, _held) = self.maker.translate(&self.region, self.retired.as_ref()).ok()?;
            compilation.set_disasm(true);
            let compiled = compilation.compile(&*self.maker.isa, &mut ControlPlane::default()).ok()?;
            compiled.vcode.clone()
        };
        self.listing.get_or_init(make).clone()
    }
}

/// What code is made with.
pub(super) struct Maker {
    pub isa: OwnedTargetIsa,
    pub stubs: Arc<Stubs>,
    /// Whether better code is to take the place of what it makes.
    pub of_baseline: bool,
    /// The rule of selection that a test does without.
    pub without: Option<Rule>,
}

impl Maker {
    /// Translates, compiles and loads a region.
    pub fn compile(self: &Arc<Self>, region: Arc<Region>) -> Result<Code, CompileError> {
        let retired = self.of_baseline.then(Retired::default);
        let (mut compilation, held) = stage(BackendStage::Selection, || self.translate(&region, retired.as_ref()))?;
        let mut module = JITModule::new(JITBuilder::with_isa(self.isa.clone(), default_libcall_names()));
        // Cranelift panics where it has no rule for an instruction. Tests look for such places; should one be left, the
        // loop is interpreted.
        let (entry, bytes) = match stage(BackendStage::Cranelift, || make(&mut module, &mut compilation)) {
            Ok(made) => made,
            Err(error) => {
                // SAFETY: no code of the module has been given out.
                unsafe { module.free_memory() };
                return Err(error);
            }
        };
        // SAFETY: the function has this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
        let module = ManuallyDrop::new(module);
        Ok(Code { entry, module, _held: held, maker: self.clone(), retired, region, bytes, listing: OnceLock::new() })
    }

    /// A region as Cranelift's function, and what it refers to.
    fn translate(&self, region: &Region, retired: Option<&Retired>) -> Result<(Compilation, Vec<Held>), CompileError> {
        let mut compilation = Compilation::new();
        let signature = &mut compilation.func.signature;
        *signature = Signature::new(self.isa.default_call_conv());
        signature.params.push(AbiParam::new(types::I64));
        signature.returns.push(AbiParam::new(types::I32));
        let mut memory = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut compilation.func, &mut memory);
        let (features, without) = (Features::of(&*self.isa), self.without);
        let means = Means { features, stubs: &self.stubs, retired, without };
        let held = translate::region(region, means, self.isa.frontend_config(), builder)?;
        #[cfg(feature = "planted-faults")]
        super::faults::spoil(&mut compilation.func);
        Ok((compilation, held))
    }
}

/// Compiles into a module; gives the address and the size of the code.
fn make(module: &mut JITModule, compilation: &mut Compilation) -> Result<(*const u8, usize), CompileError> {
    let id = module.declare_anonymous_function(&compilation.func.signature).map_err(refused)?;
    let mut control = ControlPlane::default();
    module.define_function_with_control_plane(id, compilation, &mut control).map_err(refused)?;
    let bytes = compilation.compiled_code().map_or(0, |code| code.code_buffer().len());
    module.finalize_definitions().map_err(refused)?;
    Ok((module.get_finalized_function(id), bytes))
}

/// What Cranelift says.
pub(super) fn refused(error: ModuleError) -> CompileError {
    CompileError::Cranelift(format!("{error:?}"))
}
