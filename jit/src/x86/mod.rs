//! The back end `x86`: wide vectors by AVX-512, for x86-64 on Unix. What is not about the machine is [`vcode`](crate::vcode).
//!
//! | module | what |
//! |---|---|
//! | `target` | the description of the machine |
//! | `env` | its registers |
//! | `inst` | its instructions before registers are chosen |
//! | `select` | which instructions of the IR have code |
//! | `values` | the little instructions that values are made and moved with |
//! | `scalar`, `vector`, `half`, `merge`, `masks`, `convert`, `divide`, `pointer` | operations |
//! | `lanes`, `shuffle` | operations across lanes |
//! | `memory`, `strided`, `packed`, `gather`, `gather_lanes`, `bounds`, `regions` | memory |
//! | `tuning` | what differs between processors |
//! | `operands` | memory operands: loads and updates that are part of an operation |
//! | `counts` | counters in a register |
//! | `assembler`, `build` | from instructions with registers to bytes, by iced-x86 |
//! | `code`, `executable`, `stubs` | a compiled region; memory for code; calls of the runtime that keep all registers |
//!
//! A mask is one mask register.

mod assembler;
mod atomics;
mod bounds;
mod build;
mod code;
mod convert;
mod counts;
mod divide;
mod env;
mod executable;
#[cfg(feature = "planted-faults")]
pub(crate) mod faults;
mod fused;
mod gather;
mod gather_lanes;
mod half;
mod inst;
mod interleaved;
mod lanes;
mod masks;
mod memory;
mod merge;
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
mod tuning;
mod values;
mod vector;

use crate::backend::{Backend, CompileError, Executable, Rule, Unavailable};
use crate::ir::Region;
use crate::vcode;
use std::sync::{Arc, OnceLock};
use stubs::Stubs;
use tuning::Tuning;

/// The same for all.
static STUBS: OnceLock<Result<Arc<Stubs>, CompileError>> = OnceLock::new();

/// The back end.
pub struct X86 {
    stubs: Arc<Stubs>,
    /// The rule of selection that a test does without.
    without: Option<Rule>,
    tuning: Tuning,
}

impl X86 {
    /// A back end for this machine; the error says why it has none.
    pub fn new() -> Result<X86, Unavailable> {
        match missing() {
            Some(missing) => Err(Unavailable::Needs(missing)),
            None => X86::for_listings().map(|x86| X86 { tuning: Tuning::of_this_machine(), ..x86 }),
        }
    }

    /// A back end for a machine that this one need not be: its code can be looked at, and must not be run unless
    /// [`new`](X86::new) gives one, too.
    pub fn for_listings() -> Result<X86, Unavailable> {
        let stubs = STUBS.get_or_init(|| Stubs::new().map(Arc::new)).clone();
        Ok(X86 { stubs: stubs.map_err(Unavailable::Stubs)?, without: None, tuning: Tuning::UNKNOWN })
    }
}

impl X86 {
    /// Without a rule of selection: what it was for is executed by the runtime. For tests.
    pub fn without(self, rule: Rule) -> X86 {
        X86 { without: Some(rule), ..self }
    }

    /// With the machine's own gathers and scatters, or without, whichever is the faster here. For tests.
    pub fn with_gathers(self, gathers: bool) -> X86 {
        X86 { tuning: Tuning { gathers }, ..self }
    }

    /// Returns whether it gathers and scatters by the machine's own instructions.
    pub fn has_gathers(&self) -> bool {
        self.tuning.gathers
    }
}

impl Backend for X86 {
    fn name(&self) -> &'static str {
        "x86"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
        vcode::compile(self, &region)
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
