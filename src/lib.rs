//! `spmdvm`: compile SPMD programs and run them.
//!
//! This crate is a thin facade over the front end, the virtual machine and the JIT; the Python module, the command line,
//! the tests and the benchmarks use nothing else. The crates behind it are no contract, so they are seen only with the feature
//! `internals`, which the oracle, the stepper, tests and benchmarks take. [`Module::compile`] turns source text into a
//! [`Module`]; its exported functions are called with [`Value`]s.
//!
//! ```
//! use spmdvm::{Module, Options, Value};
//! let source = "export void scale(uniform float a[], uniform int n, uniform float k) {
//!                   foreach (i = 0 ... n) a[i] *= k;
//!               }";
//! let module = Module::compile("scale.ispc", source, &Options::default()).unwrap();
//! let mut a = [1.0f32, 2.0, 3.0];
//! module.call("scale", &[Value::slice_mut(&mut a), 3i32.into(), 2.0f32.into()]).unwrap();
//! assert_eq!(a, [2.0, 4.0, 6.0]);
//! ```

mod binding;
mod check;
mod error;
mod foreign;
mod global;
mod host;
mod link;
mod module;
mod objects;
mod options;
mod pool;
mod profile;
mod report;
mod run;
pub mod shrunk;
pub mod tools;
pub mod usimd;
mod value;

pub use binding::{Binding, Pointer};
pub use check::{Finding, Report};
pub use error::{ArgumentError, CallError, CompileError, TrapError};
pub use global::{Global, GlobalMemory};
pub use host::{HostCall, HostClosure, HostError, Hosts};
pub use module::{Module, Part, PartKind, PromptInfo, Reading, ShownInfo, Source, Unread, VariableInfo};
pub use options::{Engine, Fp, JitSettings, Limits, Options, ProgramLimits};
pub use profile::{LaneShare, LineCount, Profile, Profiler};
pub use run::{MapArg, Run, Strided};
pub use value::{Array, Element, Value};

pub use spmdvm_jit::engine::Instructions;
pub use spmdvm_jit::report::{ExitInfo, LoopInfo, Show, SourceLocation, Totals, VariantInfo, VersionInfo};

pub use spmdvm_frontend::hir::{InfoKind, Shape as TypeShape, TypeInfo};

pub use spmdvm_frontend::diag::{Code, Diagnostic, LeftOut, Severity};
pub use spmdvm_vm::check::{Checks, FindingKind};
pub use spmdvm_vm::program::{Export, ExportParam, HostAccess, HostFunction, HostType, HostValue, Import};
pub use spmdvm_vm::stop::Stopped;
pub use spmdvm_vm::trap::{Trap, TrapKind};
pub use spmdvm_vm::types::{Shape, Ty, Width};
pub use spmdvm_vm::{Activity, Stretch};

/// The front end, for what the project itself is made of: no contract.
#[cfg(feature = "internals")]
pub use spmdvm_frontend as frontend;
/// The JIT: no contract either.
#[cfg(feature = "internals")]
pub use spmdvm_jit as jit;
/// The virtual machine: no contract either.
#[cfg(feature = "internals")]
pub use spmdvm_vm as vm;
