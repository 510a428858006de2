//! The grammar of the command line.

use crate::{Failure, words};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use spmdvm::{Checks, Code, Engine, Fp, JitSettings, Limits, Options, Severity, Width};
use spmdvm_oracle::generate::Dialect;
use spmdvm_oracle::trace::Until;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Run SPMD programs safely on any CPU.
#[derive(Parser)]
#[command(name = "spmdvm", version, arg_required_else_help = true)]
pub struct Cli {
    /// What applies to every subcommand.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every subcommand.
#[derive(Args)]
pub struct Global {
    /// Lanes of the gang: 1, 2, 4, 8, 16, 32 or 64
    #[arg(long, global = true, default_value = "16", value_parser = parse_width, value_delimiter = ',',
        allow_negative_numbers = true)]
    pub width: Vec<Width>,
    /// Whether the width was given, rather than left at its default.
    #[arg(skip)]
    pub width_is_given: bool,
    /// Whether the floating-point mode was given.
    #[arg(skip)]
    pub fp_is_given: bool,
    /// The engine: interp, ir, clif, x86 (needs AVX-512 or AVX2) or auto, the fastest that runs here
    #[arg(long, global = true, default_value = "auto", value_delimiter = ',')]
    pub engine: Vec<Engine>,
    /// Whether an engine was given.
    #[arg(skip)]
    pub engine_is_given: bool,
    /// Floating-point mode: contract, strict or fast
    #[arg(long, global = true, default_value = "contract")]
    pub fp: Fp,
    /// A folder that `#include` searches
    #[arg(short = 'I', long = "include", global = true, value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Keep `#include` below the program's folder and the include folders, for programs that are not trusted
    #[arg(long, global = true)]
    pub sandbox_includes: bool,
    /// Define a macro
    #[arg(short = 'D', long = "define", global = true, value_name = "NAME[=VALUE]", value_parser = parse_define)]
    pub define: Vec<(String, String)>,
    /// Stop after so many loop iterations and calls
    #[arg(long, global = true, allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub fuel: Option<u64>,
    /// Stop after so many seconds
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_timeout, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Bytes the program may allocate
    #[arg(long, global = true, value_name = "BYTES", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub memory: Option<u64>,
    /// Threads that run tasks; with 1 they run in order, one after another [default: all cores]
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = from_one)]
    pub threads: Option<NonZeroUsize>,
    /// Change a setting of the JIT, such as hot=10 or one_lane=off
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub jit: Vec<(String, String)>,
    /// Leave out warnings with this code, such as W0009 (`#pragma ignore warning(W0009)` does so for a line)
    #[arg(long, global = true, value_name = "CODE", value_parser = warning_code)]
    pub no_warn: Vec<Code>,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print a stage of the compilation instead: tokens, ast, hir or bytecode; or after a run, of the JIT: stats, trace, ir, asm
    #[arg(long, global = true, value_name = "STAGE")]
    pub dump: Option<String>,
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Compile a program and call one of its exported functions
    Run(RunArgs),
    /// Compile a program and report errors and warnings
    ///
    /// @FILE stands for the arguments that a file holds.
    Check(CheckArgs),
    /// Write the header that declares a program's exported functions for C and C++, as ISPC's `-h` does
    ///
    /// @FILE stands for the arguments that a file holds.
    Header {
        /// An SPMD source
        file: PathBuf,
        /// Where to write (default: print it)
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
    /// Show a program's bytecode as text, or write it as a file
    Disasm {
        /// An SPMD source, or a bytecode file
        file: PathBuf,
        /// Write the binary form here instead (`.txt` or `.spmdasm`: the text form)
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
    /// Assemble the text form of bytecode, verify it, and write the binary form
    Asm {
        /// The text
        file: PathBuf,
        /// Where to write (default: beside the text, ending in `.spmdb`)
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
    /// Call a function and show every instruction with the value of every lane
    ///
    /// --json prints lines of JSON (docs/trace.md); -o writes them to a file, which --read shows and --diff compares.
    Trace(TraceArgs),
    /// Step through a call, line by line or instruction by instruction, forwards and backwards (docs/stepper.md)
    ///
    /// Commands are asked for, or read from standard input. The name of the function may stand before its arguments.
    Debug(DebugArgs),
    /// Type SPMD code and see all lanes
    ///
    /// What is not typed but comes from a file (`spmdvm repl < session`) is answered line by line.
    Repl {
        /// Programs to load first
        files: Vec<PathBuf>,
        /// Stop at the first error, with an exit code
        #[arg(long)]
        batch: bool,
    },
    /// Edit, run and step through programs on a page in the browser, which is served to this machine alone (docs/playground.md)
    ///
    /// The address that is printed has a token in it, without which nothing is answered. Programs get 20 seconds, 20,000,000,000
    /// turns of loops and calls, and 1 GiB, if --timeout, --fuel and --memory do not say otherwise. --width, --engine and --fp are what the
    /// page begins with.
    Play(PlayArgs),
    /// Run programs written in the convention of ISPC's functional tests
    ///
    /// --width and --engine take lists (4,8,16). The last line is `N passed, M failed, K skipped`.
    Conform(ConformArgs),
    /// Run the calls in programs (`// call: f(a=iota:i32:40, n=40)`) on the reference VM and on other back ends, and report
    /// where they differ (docs/oracle.md)
    ///
    /// --width takes a list (4,8,16), and so does --engine: our engines that are held against the interpreter (all, if no other back
    /// end is given). Nothing is fused (--fp strict), and back ends get 10 seconds, if not said otherwise. Exit code 1: something differs.
    Compare(CompareArgs),
    /// Print what the calls in a program leave behind, a line of JSON each: what other back ends are to give (docs/oracle.md)
    Outcome(OutcomeArgs),
    /// Hold our engines or another back end against the outcomes of a frozen corpus of programs (tests/corpus/README.md)
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Make a program small that shows something, such as a difference between back ends, and keep it valid, defined and
    /// showing it (docs/oracle.md)
    ///
    /// A program is interesting if the command given with --cmd ends with exit code 0 for it, or if a comparison (--compare, --ispc,
    /// --engine, as for `spmdvm compare`) still shows a difference of the same kind. Ctrl-C ends it; the smallest program so
    /// far is written.
    Reduce(ReduceArgs),
    /// Run a µ-SIMD program, the semantics of re-vectorised calls (docs/usimd.md)
    Usimd(UsimdArgs),
    /// Write a random program that is well defined, always ends and prints a checksum of all it has computed (docs/oracle.md)
    Gen(GenArgs),
    /// Run random programs on all engines, or on other back ends, for as long as you like, and keep what differs (docs/oracle.md)
    Fuzz(FuzzArgs),
    /// Make a folder with a program to start from, a Python script that runs it, and a test
    New {
        /// The folder, whose name is the program's
        name: PathBuf,
    },
    /// Say which engines run on this machine, and why not the others
    Doctor,
    /// Print what completes the command line in a shell: `spmdvm completions bash > ~/.local/share/bash-completion/completions/spmdvm`
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all subcommands
    Man {
        /// The folder to write to
        folder: Option<PathBuf>,
    },
    /// Explain a diagnostic (E0001, W0002, …), a trap (out_of_bounds, …) or what check mode finds (race, …)
    Explain {
        /// Its code or name; without one, all are listed
        code: Option<String>,
    },
}

/// `check`.
#[derive(Args)]
pub struct CheckArgs {
    /// The programs
    #[arg(required_unless_present = "all")]
    pub files: Vec<PathBuf>,
    /// Check all programs of a compilation database (compile_commands.json), each with its own -I, -D and --target
    #[arg(long, value_name = "FILE")]
    pub all: Option<PathBuf>,
    /// Only print which files each program includes, as rules of `make` (or JSON)
    #[arg(long)]
    pub depends: bool,
    /// Link the programs to one, and report what is declared but defined nowhere (else each is checked by itself, and
    /// another file or the host may have that)
    #[arg(long, conflicts_with_all = ["all", "depends"])]
    pub link: bool,
    /// Leave out hints about performance (W0900 and up; `#pragma ignore warning(perf)` does so for what follows)
    #[arg(long)]
    pub no_hints: bool,
}

/// A call of a function of a program.
#[derive(Args)]
pub struct CallArgs {
    /// A source to be linked with it; may be given several times
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// A shared library, such as libm.so.6, with functions that the program declares `extern "C"`. They can do anything: the
    /// program is not in a sandbox any more
    #[arg(long, value_name = "LIBRARY")]
    pub host: Vec<String>,
    /// The exported function to call (needed if there are several)
    #[arg(long, short)]
    pub entry: Option<String>,
    /// Arguments, in order or as NAME=VALUE: numbers, @file.npy, zeros:f32:1024, ones:…, iota:i32:64, random:f32:64:SEED, [1,2,3].
    /// Arrays of rows: zeros:f32:240x320; arrays of archives: @file.npz, @file.npz:NAME
    #[arg(allow_negative_numbers = true)]
    pub args: Vec<String>,
    /// An argument by its name, as NAME=VALUE among the arguments is
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub named: Vec<String>,
    /// Set a global variable, or supply an `extern` one: NAME=VALUE, with values as for arguments
    #[arg(long = "global", value_name = "NAME=VALUE")]
    pub globals: Vec<String>,
    /// Lanes that are active at the start, as a bit mask
    #[arg(long, value_name = "BITS", value_parser = parse_mask)]
    pub mask: Option<u64>,
}

/// `run`.
#[derive(Args)]
pub struct RunArgs {
    /// An SPMD source, or a bytecode file
    pub file: PathBuf,
    /// What to call.
    #[command(flatten)]
    pub call: CallArgs,
    /// Write an array argument, a global variable or `result` to a file afterwards: .npy, .npz (several go to one archive), or .png
    /// for an array of rows
    #[arg(short, long = "output", value_name = "NAME=FILE")]
    pub output: Vec<String>,
    /// Check the run: report uses of values that were never stored, accesses out of bounds with all lanes, reads of inactive lanes,
    /// races and more (docs/check.md). LIST names what to look for: default, all, or kinds such as race,overflow
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "default",
        value_parser = parse_checks)]
    pub check: Option<Checks>,
    /// Tell afterwards what became of a line of the source: compiled or not, why, and what takes time
    #[arg(long, value_name = "LINE")]
    pub explain: Vec<usize>,
    /// Tell how long it took to compile and to run
    #[arg(long)]
    pub time: bool,
    /// Run on the interpreter and tell how often each line is executed, with how many lanes active, and its share of the time
    #[arg(long, conflicts_with = "check")]
    pub profile: bool,
    /// Tell now and then how long it has been running
    #[arg(long)]
    pub progress: bool,
    /// Print nothing but what the program prints
    #[arg(short, long)]
    pub quiet: bool,
}

/// `conform`.
#[derive(Args)]
pub struct ConformArgs {
    /// Programs, and folders whose `.ispc` files are all run
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Leave out the files of these names (with or without `.ispc`)
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "NAME")]
    pub skip: Vec<String>,
    /// Check each run too (docs/check.md): a program in which something is found fails, even if its results are as expected
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "default",
        value_parser = parse_checks)]
    pub check: Option<Checks>,
}

/// `outcome`.
#[derive(Args)]
pub struct OutcomeArgs {
    /// A program with calls in comments
    pub file: PathBuf,
}

/// What counts as equal.
#[derive(Args)]
pub struct RuleArgs {
    /// How many units in the last place floats may differ: N, or NAME=N for an array or `result` [default: 0]
    #[arg(long, value_name = "[NAME=]N")]
    pub ulp: Vec<String>,
    /// Leave out calls that trap, for back ends that have no traps
    #[arg(long)]
    pub ignore_traps: bool,
    /// Do not compare what is printed
    #[arg(long)]
    pub ignore_prints: bool,
}

/// Other back ends.
#[derive(Args)]
pub struct BackendArgs {
    /// A back end: a command that prints the outcome as JSON, or as lines (`a: 1 2 3`). {source}, {width}, {entry} and {input} (a JSON
    /// file with the call) stand for what it is to run
    #[arg(long, value_name = "COMMAND")]
    pub cmd: Vec<String>,
    /// Compilers.
    #[command(flatten)]
    pub compilers: CompilerArgs,
}

/// Compilers as back ends.
#[derive(Args)]
pub struct CompilerArgs {
    /// Compare with the compiler ispc, found on PATH or at the path given
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "ispc")]
    pub ispc: Option<PathBuf>,
    /// The targets of ispc, of which those of each width are used [default: what this machine runs]
    #[arg(long, value_name = "TARGETS", value_delimiter = ',', requires = "ispc")]
    pub ispc_target: Vec<String>,
    /// The levels of optimisation of ispc
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "0,2", value_parser = clap::value_parser!(u32).range(0..=3))]
    pub ispc_opt: Vec<u32>,
    /// Compare with a translation to scalar C, one lane after the other, compiled by cc or the compiler at the path given
    #[arg(long, value_name = "CC", num_args = 0..=1, require_equals = true, default_missing_value = "cc")]
    pub c: Option<PathBuf>,
}

/// `compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// Programs with calls in comments
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The back ends.
    #[command(flatten)]
    pub backends: BackendArgs,
    /// A call in place of those in the files, such as 'f(a=iota:i32:40, n=40)'
    #[arg(long, value_name = "CALL")]
    pub call: Vec<String>,
    /// Of a difference, find the first statement behind which a value differs, by programs that print values (the back end must
    /// tell what is printed)
    #[arg(long)]
    pub bisect: bool,
    /// What counts as equal.
    #[command(flatten)]
    pub rules: RuleArgs,
}

/// `reduce`.
#[derive(Args)]
pub struct ReduceArgs {
    /// The program, with the calls in comments that show it
    pub file: PathBuf,
    /// A command that ends with exit code 0 if a program is interesting; {source} and {width} stand for its path and the lanes
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["compare", "ispc", "c"])]
    pub cmd: Option<String>,
    /// A back end, as `spmdvm compare --cmd` takes it: a program is interesting if the outcome differs
    #[arg(long, value_name = "COMMAND")]
    pub compare: Vec<String>,
    /// Compilers.
    #[command(flatten)]
    pub compilers: CompilerArgs,
    /// What counts as equal.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Where to write the small program [default: FILE with the ending .reduced.ispc]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// How many candidates are tried at the same time; the result is the same
    #[arg(short, long, default_value = "1", value_parser = from_one)]
    pub jobs: NonZeroUsize,
    /// End after so many seconds
    #[arg(long, value_parser = whole::<u64>)]
    pub seconds: Option<u64>,
    /// End after asking so often whether a program is interesting
    #[arg(long, value_parser = whole::<usize>)]
    pub trials: Option<usize>,
}

/// `trace`.
#[derive(Args)]
pub struct TraceArgs {
    /// An SPMD source, or a bytecode file
    #[arg(required_unless_present_any = ["read", "diff"])]
    pub file: Option<PathBuf>,
    /// What to call.
    #[command(flatten)]
    pub call: CallArgs,
    /// Stop showing after so many rows; with --until trap, how many to show before it
    #[arg(long, default_value_t = 1000, value_parser = whole::<usize>)]
    pub rows: usize,
    /// Show only instructions of this source line
    #[arg(long, value_parser = whole::<u32>)]
    pub line: Option<u32>,
    /// Show only instructions of this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Show only these lanes, and instructions where one of them is active
    #[arg(long, value_name = "LANES", value_delimiter = ',')]
    pub lanes: Option<Vec<u32>>,
    /// Show all functions, the standard library's too
    #[arg(long)]
    pub all: bool,
    /// Where to stop: line=N (before that line), steps=N (after so many instructions), or trap (show what leads to it)
    #[arg(long, value_name = "WHERE")]
    pub until: Option<Until>,
    /// Write the trace as lines of JSON to a file, compressed if the name ends in .gz (docs/trace.md)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show a trace that was written, instead of calling a function
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "diff"])]
    pub read: Option<PathBuf>,
    /// Compare two traces that were written, and show where they first differ
    #[arg(long, num_args = 2, value_names = ["A", "B"],
        conflicts_with_all = ["file", "output", "line", "function", "lanes", "until"])]
    pub diff: Vec<PathBuf>,
    /// How many instructions --diff shows before the difference
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = whole::<usize>)]
    pub context: usize,
}

/// `debug`.
#[derive(Args)]
pub struct DebugArgs {
    /// An SPMD source, or a bytecode file
    pub file: PathBuf,
    /// What to call.
    #[command(flatten)]
    pub call: CallArgs,
    /// End at the first command that is wrong or cannot be done, with exit code 1
    #[arg(long)]
    pub batch: bool,
    /// How many MiB of the run's past to keep
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = whole::<usize>)]
    pub keep: usize,
}

/// `play`.
#[derive(Args)]
pub struct PlayArgs {
    /// The port to serve on [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not show the page in the browser: only print its address
    #[arg(long)]
    pub no_open: bool,
    /// How many instructions of a call are recorded for stepping, at most
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = whole::<u64>)]
    pub steps: u64,
    /// How many MiB of a recording to keep
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = whole::<usize>)]
    pub keep: usize,
}

/// `corpus`.
#[derive(Subcommand)]
pub enum CorpusCommand {
    /// Run the corpus on our engines, and compare the traces of the interpreter
    Check {
        /// The corpus
        #[arg(default_value = CORPUS)]
        folder: PathBuf,
    },
    /// Run the corpus on another back end
    Run {
        /// The corpus
        #[arg(default_value = CORPUS)]
        folder: PathBuf,
        /// The back ends.
        #[command(flatten)]
        backends: BackendArgs,
        /// What counts as equal.
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Freeze the outcomes of programs that have none yet
    Freeze {
        /// The corpus
        #[arg(default_value = CORPUS)]
        folder: PathBuf,
    },
}

/// Where the corpus is.
const CORPUS: &str = "tests/corpus/v1";

/// `usimd`.
#[derive(Args)]
pub struct UsimdArgs {
    /// A listing
    pub file: PathBuf,
    /// Show each instruction executed, with the values of each thread
    #[arg(long)]
    pub trace: bool,
    /// Stop showing after so many rows
    #[arg(long, default_value_t = 1000, value_parser = whole::<usize>)]
    pub rows: usize,
    /// Show what the machine counted
    #[arg(long)]
    pub counts: bool,
}

/// What random programs are like.
#[derive(Args)]
pub struct ProgramArgs {
    /// Which program: the same seed and options give the same one everywhere
    #[arg(long, default_value_t = 1, value_parser = whole::<u64>)]
    pub seed: u64,
    /// About how many statements it has [default: 40]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10000))]
    pub size: Option<u32>,
    /// What it may contain: names, such as loops,switch, or changes of the default, such as -tasks,+halves
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub features: Option<String>,
    /// The language: ispc, with nothing that ISPC leaves open, or spmdvm [default: ispc; for `fuzz` on our own engines spmdvm]
    #[arg(long)]
    pub dialect: Option<Dialect>,
}

/// `gen`.
#[derive(Args)]
pub struct GenArgs {
    /// Which programs.
    #[command(flatten)]
    pub programs: ProgramArgs,
    /// Instead of a new program write a changed one that does the same in the calls in its comments: dead code under empty masks and
    /// unmet conditions, masks widened and narrowed where it cannot matter
    #[arg(long, value_name = "FILE", conflicts_with_all = ["size", "features", "dialect", "list_features"])]
    pub mutate: Option<PathBuf>,
    /// List the features
    #[arg(long)]
    pub list_features: bool,
    /// Write the program to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `fuzz`.
#[derive(Args)]
pub struct FuzzArgs {
    /// How long [default: until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = parse_timeout)]
    pub seconds: Option<f64>,
    /// After how many programs to end
    #[arg(long = "programs", value_name = "N", value_parser = whole::<u64>)]
    pub rounds: Option<u64>,
    /// Which programs.
    #[command(flatten)]
    pub programs: ProgramArgs,
    /// The back ends to compare with, instead of our own engines.
    #[command(flatten)]
    pub backends: BackendArgs,
    /// The folder for findings, kept programs and the state; a campaign that stands there goes on
    #[arg(short, long, value_name = "DIR", default_value = "spmdvm-fuzz")]
    pub output: PathBuf,
    /// Programs that run at the same time [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = from_one)]
    pub jobs: Option<NonZeroUsize>,
    /// Leave findings as large as they are
    #[arg(long)]
    pub no_reduce: bool,
    /// Stop at the first finding
    #[arg(long)]
    pub stop: bool,
}

impl CallArgs {
    /// The arguments: those in order, then those by name.
    pub fn words(&self) -> Result<Vec<String>, Failure> {
        match self.named.iter().find(|word| !word.contains('=')) {
            Some(word) => Err(Failure::usage(format!("--arg takes NAME=VALUE, such as n=100, not `{word}`"))),
            None => Ok(self.args.iter().chain(&self.named).cloned().collect()),
        }
    }
}

impl Cli {
    /// Reads the command line; ends the process if it is wrong or asks for help.
    pub fn read(args: impl Iterator<Item = OsString>) -> Result<Cli, Failure> {
        let args: Vec<OsString> = args.collect();
        let given = args.iter().map(|arg| arg.to_str().map(str::to_owned));
        let matches = match given.collect::<Option<Vec<String>>>() {
            Some(args) => Cli::command().get_matches_from(words::with_files(args)?),
            // Paths that are no text; files of arguments are not looked for among them.
            None => Cli::command().get_matches_from(args),
        };
        let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
        cli.global.fp_is_given = matches.value_source("fp") == Some(ValueSource::CommandLine);
        cli.global.engine_is_given = matches.value_source("engine") == Some(ValueSource::CommandLine);
        cli.global.width_is_given = matches.value_source("width") == Some(ValueSource::CommandLine);
        Ok(cli)
    }
}

impl Global {
    /// Fails if there are several widths or engines: only `conform` takes lists.
    pub fn check_single(&self) -> Result<(), Failure> {
        match (self.width.as_slice(), self.engine.as_slice()) {
            ([_], [_]) => Ok(()),
            ([_], _) => Err(Failure::usage("give one --engine: only `conform` and `compare` take several")),
            _ => Err(Failure::usage("give one --width: only `conform` and `compare` take several")),
        }
    }

    /// Lanes of the gang.
    pub fn lanes(&self) -> usize {
        self.options().width.lanes()
    }

    /// The options of the facade, with the first width and engine given.
    pub fn options(&self) -> Options {
        Options {
            width: self.width.first().copied().unwrap_or_default(),
            engine: self.engine.first().copied().unwrap_or_default(),
            fp: self.fp,
            include_paths: self.include.clone(),
            sandbox_includes: self.sandbox_includes.then_some(true),
            defines: self.define.clone(),
            headers: Vec::new(),
            no_warn: self.no_warn.clone(),
            threads: self.threads.map(NonZeroUsize::get),
            limits: Limits {
                fuel: self.fuel,
                timeout: self.timeout.and_then(|s| Duration::try_from_secs_f64(s).ok()),
                memory: self.memory,
            },
            jit: self.jit_settings(),
            ..Options::default()
        }
    }

    fn jit_settings(&self) -> JitSettings {
        let mut settings = JitSettings::default();
        for (name, value) in &self.jit {
            // They have been tried when they were read.
            let _ = settings.set(name, value);
        }
        settings
    }

    /// Returns whether messages on standard error may be coloured.
    pub fn color(&self) -> bool {
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
    }
}

fn parse_width(s: &str) -> Result<Width, String> {
    s.parse().ok().and_then(Width::new).ok_or_else(|| "the width is one of 1, 2, 4, 8, 16, 32, 64".to_owned())
}

fn whole<T: FromStr>(s: &str) -> Result<T, String> {
    let is_number = !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let why = if is_number { "the number is too large" } else { "expected a whole number, such as 1000" };
    s.parse().map_err(|_| why.to_owned())
}

fn from_one(s: &str) -> Result<NonZeroUsize, String> {
    s.parse().map_err(|_| "expected a whole number from 1 on".to_owned())
}

fn parse_timeout(s: &str) -> Result<f64, String> {
    let seconds = s.parse().ok().filter(|&seconds: &f64| seconds >= 0.0);
    seconds.ok_or_else(|| "a time is a number of seconds, such as 2 or 0.5".to_owned())
}

/// A macro and its replacement, of `NAME` or `NAME=VALUE`.
pub fn parse_define(s: &str) -> Result<(String, String), String> {
    let (name, value) = s.split_once('=').unwrap_or((s, "1"));
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    match is_name {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err(format!("`{name}` cannot be the name of a macro")),
    }
}

fn parse_setting(s: &str) -> Result<(String, String), String> {
    let (name, value) = s.split_once('=').ok_or("a setting is a name and a value, such as hot=10")?;
    JitSettings::default().set(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

fn warning_code(text: &str) -> Result<Code, String> {
    let code = Code::from_id(text).filter(|code| code.severity() == Severity::Warning);
    code.ok_or_else(|| "this is no code of a warning (`spmdvm explain` lists them)".into())
}

fn parse_checks(s: &str) -> Result<Checks, String> {
    s.split(',').try_fold(Checks::NONE, Checks::and)
}

/// A mask of lanes, of a number such as `0b1011`.
pub fn parse_mask(s: &str) -> Result<u64, String> {
    let parsed = match (s.strip_prefix("0b"), s.strip_prefix("0x")) {
        (Some(bits), _) => u64::from_str_radix(bits, 2),
        (_, Some(hex)) => u64::from_str_radix(hex, 16),
        _ => s.parse(),
    };
    parsed.map_err(|_| "a mask is a number such as 0b1011, 0xff or 3".to_owned())
}
