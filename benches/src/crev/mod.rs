//! The seven benchmarks of "Function Call Re-Vectorization" (Moreira, Collange, Pereira; PPoPP 2017), section 4.
//!
//! Each is a program in `examples/crev` with an exported function per variant, all with the same parameters; a generator of
//! inputs ([`problems`], from the [`inputs`] of the paper); and the same algorithm in plain Rust ([`seq`]), the outside yardstick
//! that every variant's result is compared with. [`count`] counts what a variant executes.

pub mod count;
pub mod inputs;
pub mod problems;
pub mod seq;

use count::Counts;
use problems::{Argument, Data, Problem, Sizes};
use spmdvm::{Module, Options, Run, Value};
use std::path::PathBuf;
use std::time::Instant;

/// A benchmark.
pub struct Benchmark {
    /// Its name in the paper.
    pub name: &'static str,
    /// Its program, without `.ispc`.
    pub file: &'static str,
    /// What the names of its exported functions begin with.
    pub prefix: &'static str,
    /// What they end with.
    pub variants: &'static [&'static str],
    /// Makes its input.
    pub problem: fn(&Sizes) -> Problem,
}

/// All seven, in the order of the paper's figure 11. Warp-synchronous sorts are not obvious; the paper has none either.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "bk",
        file: "book_filter",
        prefix: "filter",
        variants: &["seq", "naive", "par", "launch", "crev"],
        problem: problems::book_filter,
    },
    Benchmark {
        name: "sm",
        file: "string_matching",
        prefix: "search",
        variants: &["seq", "par", "launch", "crev"],
        problem: problems::string_matching,
    },
    Benchmark {
        name: "bf",
        file: "bellman_ford",
        prefix: "paths",
        variants: &["seq", "par", "launch", "crev"],
        problem: problems::bellman_ford,
    },
    Benchmark {
        name: "df",
        file: "depth_first_search",
        prefix: "search",
        variants: &["seq", "par", "launch", "crev"],
        problem: problems::depth_first_search,
    },
    Benchmark {
        name: "le",
        file: "leader_election",
        prefix: "elect",
        variants: &["seq", "par", "launch", "crev"],
        problem: problems::leader_election,
    },
    Benchmark {
        name: "qs",
        file: "quicksort",
        prefix: "quicksort",
        variants: &["seq", "launch", "crev"],
        problem: problems::quicksort,
    },
    Benchmark {
        name: "ms",
        file: "mergesort",
        prefix: "mergesort",
        variants: &["seq", "launch", "crev"],
        problem: problems::mergesort,
    },
];

/// The benchmark of a name.
pub fn benchmark(name: &str) -> Option<&'static Benchmark> {
    BENCHMARKS.iter().find(|benchmark| benchmark.name == name)
}

/// What a call gave.
pub struct Outcome {
    /// The contents of the outputs.
    pub outputs: Vec<Data>,
    /// How long the call took.
    pub seconds: f64,
}

impl Benchmark {
    /// Where its program is.
    pub fn path(&self) -> PathBuf {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/crev");
        folder.join(self.file).with_extension("ispc")
    }

    /// Compiles its program.
    pub fn compile(&self, options: &Options) -> Result<Module, String> {
        Module::compile_file(self.path(), options).map_err(|e| e.to_string())
    }

    /// Calls a variant.
    pub fn call(&self, module: &Module, variant: &str, problem: &Problem) -> Result<Outcome, String> {
        let name = format!("{}_{variant}", self.prefix);
        with_arguments(problem, |values| Run::new(module).call(&name, values).map(drop).map_err(|e| e.to_string()))
    }

    /// Calls a variant and counts what it executes.
    pub fn count(&self, module: &Module, variant: &str, problem: &Problem) -> Result<(Outcome, Counts), String> {
        let name = format!("{}_{variant}", self.prefix);
        let export = module.overloads(&name).next().ok_or_else(|| format!("there is no `{name}`"))?;
        let mut counts = Counts::new(module.program());
        let outcome = with_arguments(problem, |values| {
            let result = Run::new(module).call_observed(export, values, &mut counts);
            result.map(drop).map_err(|e| e.to_string())
        })?;
        Ok((outcome, counts))
    }
}

/// Calls with fresh outputs, which come back.
fn with_arguments(problem: &Problem, call: impl FnOnce(&[Value<'_>]) -> Result<(), String>) -> Result<Outcome, String> {
    let mut buffers: Vec<Option<Data>> = problem.arguments.iter().map(Argument::fresh).collect();
    let arguments = problem.arguments.iter().zip(&mut buffers);
    let values: Vec<Value<'_>> = arguments.map(|(argument, buffer)| argument.value(buffer.as_mut())).collect();
    let start = Instant::now();
    call(&values)?;
    let seconds = start.elapsed().as_secs_f64();
    drop(values);
    let arguments = problem.arguments.iter().zip(buffers);
    let outputs = arguments.filter_map(|(argument, buffer)| buffer.filter(|_| argument.is_output())).collect();
    Ok(Outcome { outputs, seconds })
}
