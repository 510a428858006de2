//! How to compile and run.

use crate::host::Hosts;
use spmdvm_frontend::diag::Code;
pub use spmdvm_frontend::limits::Limits as ProgramLimits;
pub use spmdvm_jit::Settings as JitSettings;
use spmdvm_vm::check::Checks;
use spmdvm_vm::types::Width;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Options of a compilation and of the runs of its result.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Number of lanes of the gang (`programCount`).
    pub width: Width,
    /// Which engine runs the program.
    pub engine: Engine,
    /// Whether `a*b+c` is fused.
    pub fp: Fp,
    /// Folders searched by `#include`, besides the including file's.
    pub include_paths: Vec<PathBuf>,
    /// Whether `#include` is kept below the main file's folder and the include paths, for programs that are not trusted. `None`: that
    /// of programs given as text is, that of files may read what the process may.
    pub sandbox_includes: Option<bool>,
    /// Macros defined before the first line: name and replacement.
    pub defines: Vec<(String, String)>,
    /// Files that exist for `#include` only: name and text. They are found before any folder is searched.
    pub headers: Vec<(String, String)>,
    /// Whether there are to be hints about performance among the warnings: accesses to memory that go lane by lane in loops, and the like.
    pub hints: bool,
    /// Whether variables are computed that nothing reads, so that the stepper shows them: indices of `foreach` that only
    /// addresses are made of, for one. Results are the same.
    pub keep_variables: bool,
    /// Codes of warnings that are not wanted.
    pub no_warn: Vec<Code>,
    /// What check mode looks for in every call; without anything there is no check mode. With it, programs run on the
    /// reference interpreter, give the same bits, and [`Module::report`](crate::Module::report) tells what was found.
    pub check: Checks,
    /// Bounds on what a run may use, and on the time of a compilation.
    pub limits: Limits,
    /// Bounds on the size of programs.
    pub program_limits: ProgramLimits,
    /// The flag that ends a compilation while it is true. (Of runs, [`Run::interrupt`](crate::Run::interrupt) is told.)
    pub interrupt: Option<Arc<AtomicBool>>,
    /// How many threads run the tasks that a program launches; `None`: as many as the machine has cores; at most 1024.
    /// They are made when there are tasks for them. With one, tasks run at their launch, in the order of their indices.
    /// Results do not depend on it, unless tasks race.
    pub threads: Option<usize>,
    /// When and how engines with a JIT compile.
    pub jit: JitSettings,
    /// Whether an exported polymorphic function is compiled only for the types it is called with, each at the first such call. (A module
    /// with state is compiled for all types at once.) Calls go through [`Run`](crate::Run); the bytecode of the module itself
    /// has functions that trap in place of these.
    pub lazy: bool,
    /// Functions that programs may call: what they declare `extern "C"` (see [`with_host`](Self::with_host)).
    pub hosts: Hosts,
}

/// Bounds on one call. `None` means no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Loop iterations and calls, and every KiB that one instruction copies, fills, allocates, frees or prints, or that
    /// the local variables of a call take.
    pub fuel: Option<u64>,
    /// Time. It bounds the compilation of a program too, by itself, and what of it is compiled at a call together with that.
    pub timeout: Option<Duration>,
    /// Bytes that the program may allocate, with its globals; 4 GiB if not said. Calls nest 65,536 deep at most, and
    /// have 64 MiB for registers and as much for variables in memory.
    pub memory: Option<u64>,
}

macro_rules! named_choice {
    ($(#[$doc:meta])* $Name:ident, $what:literal { $( $(#[$vdoc:meta])* $Variant:ident = $text:literal, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $Name { $( $(#[$vdoc])* $Variant, )* }

        impl $Name {
            /// All choices.
            pub const ALL: &'static [$Name] = &[$( $Name::$Variant ),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $( $Name::$Variant => $text, )* }
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $Name {
            type Err = String;

            fn from_str(s: &str) -> Result<Self, String> {
                let found = $Name::ALL.iter().find(|choice| choice.name() == s);
                found.copied().ok_or_else(|| {
                    let names: Vec<_> = $Name::ALL.iter().map(|c| format!("`{c}`")).collect();
                    format!("there is no {} `{s}`; choose one of {}", $what, names.join(", "))
                })
            }
        }
    };
}

named_choice! {
    /// The engines. All give the same bits.
    Engine, "engine" {
        /// The fastest that is available.
        #[default]
        Auto = "auto",
        /// The reference interpreter.
        Interp = "interp",
        /// The interpreter of optimised traces.
        Ir = "ir",
        /// Native code through Cranelift, by vectors of 128 bits.
        Clif = "clif",
        /// Native code with wide vectors, where the machine has AVX-512 or AVX2.
        X86 = "x86",
    }
}

named_choice! {
    /// Floating-point modes.
    Fp, "floating-point mode" {
        /// `a*b+c` within one expression is fused, on every engine alike.
        #[default]
        Contract = "contract",
        /// Nothing is fused.
        Strict = "strict",
        /// As `contract`, and a division by a uniform value is a product with its reciprocal.
        Fast = "fast",
    }
}

impl Options {
    /// The number of threads that run tasks.
    pub fn task_threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores).clamp(1, spmdvm_vm::MAX_THREADS)
    }

    /// The options with another gang width.
    pub fn with_width(self, width: Width) -> Options {
        Options { width, ..self }
    }
}
