//! The back end `clif`: native code by Cranelift.
//!
//! | module | what |
//! |---|---|
//! | `host` | the machine: which instructions there are, how code is to be made |
//! | `code` | a compiled region: its module, its memory, how it is entered |
//! | `plan` | what is known before translation: grains of masks, who uses what where |
//! | `translate` | the walk over blocks and instructions |
//! | `demand` | getting values: from the cache, or by translating what computes them |
//! | `scalar`, `vector`, `convert`, `divide`, `masks`, `lanes`, `memory`, `checked` | instructions |
//! | `exits` | leaving the region |
//! | `general` | instructions without code of their own |
//! | `runtime`, `stubs` | what native code calls, and how |
//!
//! ARCHITECTURE ("The JIT's back ends") explains pieces, grains and the order of code.

mod checked;
mod code;
mod convert;
mod demand;
mod divide;
mod exits;
mod general;
mod host;
mod lanes;
mod masks;
mod memory;
mod plan;
mod runtime;
mod scalar;
mod stubs;
mod translate;
mod vector;

pub use host::Options;

use crate::backend::{Backend, Executable};
use crate::ir::Region;
use cranelift_codegen::isa::OwnedTargetIsa;
use std::sync::Arc;
use stubs::Stubs;

/// The back end.
pub struct Clif {
    isa: OwnedTargetIsa,
    stubs: Arc<Stubs>,
    options: Options,
}

impl Clif {
    /// A back end for this machine; the error says why it has none.
    pub fn new() -> Result<Clif, String> {
        Clif::with(Options::default())
    }

    /// A back end that makes code in another way than the default.
    pub fn with(options: Options) -> Result<Clif, String> {
        let isa = host::isa(&options)?;
        let stubs = Arc::new(Stubs::new(&isa)?);
        Ok(Clif { isa, stubs, options })
    }
}

impl Backend for Clif {
    fn name(&self) -> &'static str {
        "clif"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, String> {
        Ok(Box::new(code::compile(&self.isa, &self.stubs, &self.options, &region)?))
    }
}
