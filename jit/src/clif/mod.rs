//! The back end `clif`: native code by Cranelift.
//!
//! | module | what |
//! |---|---|
//! | `host` | the machine: which instructions there are, how code is to be made |
//! | `code` | a compiled region: its module, its memory, how it is entered |
//! | `plan` | what is known before translation: lane widths of masks, who uses what where |
//! | `homes` | which values live in memory between blocks |
//! | `translate` | the walk over blocks and instructions |
//! | `demand` | getting values: from the cache, or by translating what computes them |
//! | `scalar`, `vector`, `convert`, `divide`, `masks`, `lanes`, `memory`, `bounds`, `gather`, `checked` | instructions |
//! | `constants` | constant vectors |
//! | `edges`, `fuel` | between blocks; counting |
//! | `exits`, `writes`, `exit_stubs` | leaving the region: where, what is written, and how exits share the code for it |
//! | `general` | instructions without code of their own |
//! | `stubs` | how native code calls `lowering::runtime` |
//!
//! `docs/internals/back-ends.md` explains pieces, lane widths and the order of code.

mod bounds;
mod checked;
mod code;
mod constants;
mod convert;
mod demand;
mod divide;
mod edges;
mod exit_stubs;
mod exit_values;
mod exits;
#[cfg(feature = "planted-faults")]
pub(crate) mod faults;
mod fuel;
mod gather;
mod general;
mod half;
mod homes;
mod host;
mod lanes;
mod masks;
mod memory;
mod plan;
mod scalar;
mod stubs;
mod translate;
mod vector;

pub use host::Options;

use crate::backend::{Backend, CompileError, Executable, Unavailable};
use crate::ir::Region;
use code::Maker;
use std::sync::Arc;
use stubs::Stubs;

/// The back end.
pub struct Clif {
    optimised: Arc<Maker>,
    /// Makes baseline code.
    quick: Option<Arc<Maker>>,
    baseline_from: usize,
}

impl Clif {
    /// A back end for this machine; the error says why it has none.
    pub fn new() -> Result<Clif, Unavailable> {
        Clif::with(Options::default())
    }

    /// A back end that makes code in another way than the default.
    pub fn with(options: Options) -> Result<Clif, Unavailable> {
        let isa = host::isa(&options)?;
        let without = options.without_rule;
        let stubs = Arc::new(Stubs::new(&isa).map_err(Unavailable::Stubs)?);
        let quick = || {
            let isa = host::isa(&Options { quick: true, ..options.clone() })?;
            Ok::<_, Unavailable>(Arc::new(Maker { isa, stubs: Arc::clone(&stubs), of_baseline: true, without }))
        };
        let quick = if options.quick { None } else { Some(quick()?) };
        Ok(Clif {
            optimised: Arc::new(Maker { isa, stubs, of_baseline: false, without }),
            quick,
            baseline_from: options.baseline_from,
        })
    }
}

impl Backend for Clif {
    fn name(&self) -> &'static str {
        "clif"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
        Ok(Box::new(self.optimised.compile(region)?))
    }

    fn compile_baseline(&self, region: &Arc<Region>) -> Option<Box<dyn Executable>> {
        let size: usize = region.blocks.iter().map(|b| b.insts.len()).sum();
        let maker = self.quick.as_ref().filter(|_| size >= self.baseline_from)?;
        Some(Box::new(maker.compile(Arc::clone(region)).ok()?))
    }
}
