//! The back end `x86`: wide vectors by AVX-512 or AVX2, for x86-64 on Unix. What is not about the machine is [`vcode`](crate::vcode).
//!
//! | module | what |
//! |---|---|
//! | `level` | the vector extensions that code is for |
//! | `target` | the description of the machine |
//! | `env` | its registers |
//! | `inst` | its instructions before registers are chosen |
//! | `select` | which instructions of the IR have code |
//! | `values` | the little instructions that values are made and moved with |
//! | `scalar`, `vector`, `half`, `merge`, `masks`, `convert`, `multiply`, `divide`, `pointer` | operations |
//! | `lanes`, `shuffle` | operations across lanes |
//! | `memory`, `strided`, `packed`, `gather`, `gather_lanes`, `bounds`, `regions` | memory |
//! | `tuning` | what differs between processors |
//! | `avx2` | what AVX2 has in place of instructions of AVX-512 |
//! | `ternary` | operations on bits that one instruction does together |
//! | `operands` | memory operands: loads and updates that are part of an operation |
//! | `counts` | counters in a register |
//! | `assembler`, `build` | from instructions with registers to bytes, by iced-x86 |
//! | `code`, `executable`, `stubs` | a compiled region; memory for code; calls of the runtime that keep all registers |
//!
//! A mask is one mask register, or, with AVX2, bits in a general register.

mod assembler;
mod atomics;
mod avx2;
mod bounds;
mod build;
mod bytes;
mod code;
mod convert;
mod counts;
mod divide;
mod env;
mod executable;
#[cfg(feature = "planted-faults")]
pub(crate) mod faults;
mod flags;
mod fused;
mod gather;
mod gather_lanes;
mod half;
mod inst;
mod interleaved;
mod lanes;
mod level;
mod masks;
mod memory;
mod merge;
mod multiply;
mod operands;
mod packed;
mod pointer;
mod regions;
mod scalar;
mod select;
mod shuffle;
mod strided;
mod stubs;
mod target;
mod ternary;
mod tuning;
mod values;
mod vector;

use crate::backend::{Backend, CompileError, Executable, Rule, Unavailable};
use crate::ir::Region;
use crate::vcode;
use level::Level;
pub use level::{V3, V4};
use std::marker::PhantomData;
use std::sync::Arc;
use stubs::Stubs;
use tuning::Tuning;

/// The back end for a level.
pub struct X86<L: Level> {
    stubs: Arc<Stubs>,
    /// The rule of selection that a test does without.
    without: Option<Rule>,
    tuning: Tuning,
    level: PhantomData<L>,
}

/// The back end for machines with AVX-512.
pub type Avx512 = X86<V4>;

/// The back end for machines with AVX2.
pub type Avx2 = X86<V3>;

/// The back end for this machine; the error says why it has none.
pub fn for_this_machine() -> Result<Box<dyn Backend>, Unavailable> {
    match Avx512::new() {
        Ok(best) => Ok(Box::new(best)),
        Err(_) => Avx2::new().map(|x86| Box::new(x86) as Box<dyn Backend>),
    }
}

impl<L: Level> X86<L> {
    /// A back end for this machine; the error says why it has none.
    pub fn new() -> Result<X86<L>, Unavailable> {
        match missing::<L>() {
            Some(missing) => Err(Unavailable::Needs(missing)),
            None => {
                let tuning = if L::HAS_MASKS { Tuning::of_this_machine() } else { Tuning::UNKNOWN };
                X86::for_listings().map(|x86| X86 { tuning, ..x86 })
            }
        }
    }

    /// A back end for a machine that this one need not be: its code can be looked at, and must not be run unless
    /// [`new`](X86::new) gives one, too.
    pub fn for_listings() -> Result<X86<L>, Unavailable> {
        let stubs = L::stubs().get_or_init(|| Stubs::new::<L>().map(Arc::new)).clone();
        let stubs = stubs.map_err(Unavailable::Stubs)?;
        Ok(X86 { stubs, without: None, tuning: Tuning::UNKNOWN, level: PhantomData })
    }

    /// Without a rule of selection: what it was for is executed by the runtime. For tests.
    pub fn without(self, rule: Rule) -> X86<L> {
        X86 { without: Some(rule), ..self }
    }
}

impl Avx512 {
    /// With what Intel's processors are quick at, or without, whichever this machine is. For tests.
    pub fn tuned_as_intels(self, intels: bool) -> Avx512 {
        X86 { tuning: Tuning { gathers: intels, compressing_stores: intels }, ..self }
    }
}

impl<L: Level> Backend for X86<L> {
    fn name(&self) -> &'static str {
        "x86"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
        vcode::compile(self, &region)
    }
}

/// What the machine lacks.
#[cfg(all(target_arch = "x86_64", unix))]
fn missing<L: Level>() -> Option<&'static str> {
    L::features().into_iter().find(|(_, there)| !there).map(|(name, _)| name)
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn missing<L: Level>() -> Option<&'static str> {
    Some("an x86-64 processor and Unix")
}
