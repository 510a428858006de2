//! The machine that code is made for.

use crate::backend::{Rule, Unavailable};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

/// How code is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether Cranelift's own optimiser runs. Regions have been optimised, and this one moves constants out of loops, where
    /// they are spilled: compiling takes half as long again, and the code is a little slower (`benches/regions.rs`).
    pub optimise: bool,
    /// Whether registers are allocated in one pass. Compiling takes a third of the time; the code is two to three times as slow.
    pub quick: bool,
    /// Instructions of a region from which on it has baseline code (made quickly) first, where that is asked for.
    pub baseline_from: usize,
    /// Processor features not to use although the machine has them, by Cranelift's names (`has_fma`).
    pub without: Vec<&'static str>,
    /// A rule of selection to do without, for tests.
    pub without_rule: Option<Rule>,
}

impl Default for Options {
    fn default() -> Options {
        // So many take two or three milliseconds to compile well.
        Options { optimise: false, quick: false, baseline_from: 200, without: Vec::new(), without_rule: None }
    }
}

/// What Cranelift is to make code for, and how.
pub(super) fn isa(options: &Options) -> Result<OwnedTargetIsa, Unavailable> {
    let mut flags = settings::builder();
    let mut set =
        |name: &str, value: &str| flags.set(name, value).map_err(|e| Unavailable::Cranelift(format!("{name}: {e}")));
    set("opt_level", if options.optimise { "speed" } else { "none" })?;
    set("regalloc_algorithm", if options.quick { "single_pass" } else { "backtracking" })?;
    set("is_pic", "false")?;
    set("use_colocated_libcalls", "false")?;
    set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" })?;
    // Code never unwinds, its frames are small, and nobody walks them.
    set("unwind_info", "false")?;
    set("enable_probestack", "false")?;
    let mut builder = cranelift_native::builder().map_err(|e| Unavailable::Cranelift(e.to_owned()))?;
    for feature in &options.without {
        builder.set(feature, "false").map_err(|e| Unavailable::Cranelift(format!("{feature}: {e}")))?;
    }
    let isa = builder.finish(settings::Flags::new(flags)).map_err(|e| Unavailable::Cranelift(e.to_string()))?;
    let host = Features::of(&*isa);
    if !host.vectors {
        return Err(Unavailable::Needs("SSE4.1"));
    }
    Ok(isa)
}

/// What translation must know of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// Whether it has the vector instructions that translation assumes (x86-64: SSE4.1).
    pub vectors: bool,
    /// Whether there is a fused multiplication and addition.
    pub fma: bool,
    /// Whether there is a blend by the top bit of each lane.
    pub blend: bool,
}

impl Features {
    pub fn of(isa: &dyn cranelift_codegen::isa::TargetIsa) -> Features {
        let has = |name: &str| isa.isa_flags().iter().any(|v| v.name == name && v.as_bool() == Some(true));
        match isa.name() {
            "x64" => Features { vectors: has("has_sse41"), fma: has("has_fma"), blend: true },
            _ => Features { vectors: true, fma: true, blend: false },
        }
    }
}
