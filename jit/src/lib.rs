//! The tracing JIT: hot loops become native code.
//!
//! | module | what |
//! |---|---|
//! | [`ir`] | the trace IR: regions in SSA form |
//! | [`dominance`] | dominators of a region's blocks |
//! | [`backend`] | the trait of back ends |
//! | [`exec_ir`] | the back end `ir`: interprets regions by the scalar meanings |

pub mod abort;
pub mod analysis;
pub mod backend;
pub mod dominance;
pub mod exec_ir;
pub mod ir;
pub mod record;

use std::fmt;

/// Why an engine cannot run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCompiled {
    /// This build has no such engine.
    NoSuchEngine(String),
}

impl fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCompiled::NoSuchEngine(name) => {
                write!(
                    f,
                    "the engine `{name}` is not built yet; use `interp` (or `auto`, which takes the best there is)"
                )
            }
        }
    }
}

impl std::error::Error for NotCompiled {}

/// Is an engine (`ir`, `clif`, `x86`) available in this build? For now none is, and the answer says so.
pub fn available(engine: &str) -> Result<(), NotCompiled> {
    Err(NotCompiled::NoSuchEngine(engine.to_owned()))
}
