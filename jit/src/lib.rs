//! The tracing JIT: hot loops become native code.
//!
//! | module | what |
//! |---|---|
//! | [`engine`] | what happens at hot loops; statistics |
//! | [`report`] | what was done with loops, for people and programs to see |
//! | [`settings`] | when and how loops are compiled |
//! | [`profile`], [`advice`] | what was seen while interpreting, and which variants follow from it |
//! | [`record`], on [`analysis`] | from a hot loop to a region |
//! | `whole`: `frames`, `weights`, `unseen` | the whole program: private memory of frames and what of it may be read later; sizes of
//! functions; registers whose inactive lanes nobody sees |
//! | [`ir`] | the trace IR: regions in SSA form |
//! | `worker`, on `sync` | the thread that compiles while programs run |
//! | [`passes`] | optimisation |
//! | [`stress`] | for tests: exits taken at random |
//! | [`cache`] | the bound on machine code |
//! | [`abort`] | why a loop is not compiled |
//! | [`dominance`] | dominators of a region's blocks |
//! | [`backend`] | the trait of back ends |
//! | [`clif`] | the back end `clif`: native code by Cranelift |
//! | [`vcode`] | machine code of our own, but for the machine |
//! | [`x86`] | the back end `x86`: AVX-512 and AVX2 |
//! | `lowering` | what every back end needs, once |
//! | [`exec_ir`] | the back end `ir`: interprets regions by the scalar meanings |

pub mod abort;
pub mod advice;
pub mod analysis;
pub mod backend;
pub mod cache;
pub mod clif;
mod counted;
pub mod dominance;
pub mod engine;
pub mod exec_ir;
#[cfg(feature = "planted-faults")]
pub mod faults;
mod frames;
pub mod ir;
mod lowering;
pub mod passes;
pub mod profile;
pub mod record;
pub mod report;
pub mod settings;
pub mod stress;
mod sync;
mod unseen;
pub mod vcode;
mod weights;
mod whole;
mod worker;
pub mod x86;

pub use backend::{Backend, CompileError, Unavailable};
pub use engine::Jit;
pub use settings::{Settings, Variant, Variants};

use spmdvm_vm::{PreparedProgram, VerifiedProgram};
use std::fmt;
use std::sync::Arc;

/// Why an engine cannot run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCompiled {
    /// There is no back end of this name.
    NoSuchEngine(String),
    /// The engine cannot make code for this machine.
    NotHere {
        /// The engine.
        engine: String,
        /// What is missing.
        why: Unavailable,
    },
}

impl fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCompiled::NoSuchEngine(name) => {
                write!(f, "there is no JIT `{name}`; choose one of `ir`, `clif`, `x86`")
            }
            NotCompiled::NotHere { engine, why } => {
                write!(
                    f,
                    "the engine `{engine}` cannot make code for this machine: {why}; use `auto`, which takes the best there is"
                )
            }
        }
    }
}

impl std::error::Error for NotCompiled {}

/// The back end of an engine (`ir`, `clif`, `x86`), if it can make code for this machine.
pub fn backend(engine: &str) -> Result<Box<dyn Backend>, NotCompiled> {
    match engine {
        "ir" => Ok(Box::new(exec_ir::Ir)),
        "clif" => match clif::Clif::new() {
            Ok(clif) => Ok(Box::new(clif)),
            Err(why) => Err(NotCompiled::NotHere { engine: engine.to_owned(), why }),
        },
        "x86" => match x86::for_this_machine() {
            Ok(x86) => Ok(x86),
            Err(why) => Err(NotCompiled::NotHere { engine: engine.to_owned(), why }),
        },
        _ => Err(NotCompiled::NoSuchEngine(engine.to_owned())),
    }
}

/// Says why an engine cannot run here, if it cannot.
pub fn available(engine: &str) -> Result<(), NotCompiled> {
    backend(engine).map(drop)
}

/// Prepares a program whose hot loops this engine runs.
pub fn prepare(
    program: &VerifiedProgram,
    engine: &str,
    settings: Settings,
) -> Result<(PreparedProgram, Arc<Jit>), NotCompiled> {
    let hot = settings.hot;
    let jit = Jit::new(backend(engine)?, settings);
    let prepared = PreparedProgram::traced(program, jit.clone(), hot);
    Ok((prepared, jit))
}
