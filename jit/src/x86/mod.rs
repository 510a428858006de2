//! The back end `x86`: wide vectors by AVX-512, for x86-64 on Unix.
//!
//! | module | what |
//! |---|---|
//! | `needs` | what must be computed, and in which form |
//! | `layout` | the order of blocks |
//! | `select` | the walk over blocks and instructions: from the trace IR to machine instructions |
//! | `values` | values in the form in which an instruction wants them |
//! | `scalar`, `vector`, `merge`, `masks`, `convert`, `divide`, `lanes`, `memory`, `strided`, `gather` | instructions |
//! | `bounds` | regions of memory and the indices in them |
//! | `exits` | leaving the region, and calling the runtime |
//! | `inst`, `flow` | machine instructions before registers are chosen, as regalloc2 wants them |
//! | `counts` | counters in a register |
//! | `renew` | new registers after calls |
//! | `env` | the machine's registers |
//! | `emit`, `ways_out`, `build` | from instructions with registers to bytes, by iced-x86 |
//! | `executable`, `stubs` | memory for code; calls of the runtime that keep all registers |
//!
//! `docs/internals/back-ends.md` says how values are held, and how a region is entered and left.

mod bounds;
mod build;
mod code;
mod convert;
mod counts;
mod divide;
mod emit;
mod env;
mod executable;
mod exits;
#[cfg(feature = "planted-faults")]
pub(crate) mod faults;
mod flow;
mod gather;
mod half;
mod inst;
mod lanes;
mod layout;
mod masks;
mod memory;
mod merge;
mod needs;
mod pointer;
mod renew;
mod scalar;
mod select;
mod shuffle;
mod strided;
mod stubs;
mod values;
mod vector;
mod ways_out;

use crate::backend::{Backend, Executable};
use crate::ir::Region;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use stubs::Stubs;

/// The same for all.
static STUBS: OnceLock<Result<Arc<Stubs>, String>> = OnceLock::new();

/// The back end.
pub struct X86 {
    stubs: Arc<Stubs>,
}

impl X86 {
    /// A back end for this machine; the error says why it has none.
    pub fn new() -> Result<X86, String> {
        match missing() {
            Some(missing) => Err(format!("it needs {missing}")),
            None => Ok(X86 { stubs: STUBS.get_or_init(|| Stubs::new().map(Arc::new)).clone()? }),
        }
    }
}

impl Backend for X86 {
    fn name(&self) -> &'static str {
        "x86"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, String> {
        // The allocator of registers panics where it meets what it does not expect. Tests look for such places; should one be
        // left, the loop is interpreted.
        match catch_unwind(AssertUnwindSafe(|| code::compile(region, &self.stubs))) {
            Ok(code) => Ok(Box::new(code?)),
            Err(_) => Err("the allocation of registers has failed".into()),
        }
    }
}

/// What the machine lacks.
#[cfg(all(target_arch = "x86_64", unix))]
fn missing() -> Option<&'static str> {
    let features = [
        ("AVX-512 F", is_x86_feature_detected!("avx512f")),
        ("AVX-512 BW", is_x86_feature_detected!("avx512bw")),
        ("AVX-512 CD", is_x86_feature_detected!("avx512cd")),
        ("AVX-512 DQ", is_x86_feature_detected!("avx512dq")),
        ("AVX-512 VL", is_x86_feature_detected!("avx512vl")),
        ("BMI1", is_x86_feature_detected!("bmi1")),
        ("BMI2", is_x86_feature_detected!("bmi2")),
        ("LZCNT", is_x86_feature_detected!("lzcnt")),
        ("POPCNT", is_x86_feature_detected!("popcnt")),
    ];
    features.into_iter().find(|(_, there)| !there).map(|(name, _)| name)
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn missing() -> Option<&'static str> {
    Some("an x86-64 processor and Unix")
}
