//! The subcommands, one module each.

mod backends;
mod bytecode;
mod check;
mod compare;
mod conform;
mod corpus;
mod database;
mod debug;
mod depends;
mod doctor;
mod explain;
mod fuzz;
mod generate;
mod globals;
mod header;
mod manual;
mod new;
mod outcome;
mod play;
mod reduce;
mod run;
mod trace;
mod usimd;

use crate::cli::{CallArgs, Cli, Command, Global};
use crate::{Failure, files};
use spmdvm::tools::{self, VerifiedProgram};
use spmdvm::{CallError, CompileError, Export, Module, Options, Source};
use std::path::{Path, PathBuf};

/// Carries out a command line.
pub fn dispatch(cli: &Cli) -> Result<(), Failure> {
    if !matches!(cli.command, Command::Conform(_) | Command::Compare(_) | Command::Reduce(_) | Command::Fuzz(_)) {
        cli.global.check_single()?;
    }
    for folder in cli.global.include.iter().filter(|folder| !folder.is_dir()) {
        eprintln!("warning: -I: there is no folder {}", folder.display());
    }
    match &cli.command {
        Command::Run(args) => run::run(&cli.global, args),
        Command::Check(args) if args.link => check::check_linked(&cli.global, args),
        Command::Check(args) => check::check(&cli.global, args),
        Command::Header { file, output } => header::header(&cli.global, file, output.as_deref()),
        Command::Disasm { file, output } => bytecode::disasm(&cli.global, file, output.as_deref()),
        Command::Asm { file, output } => bytecode::asm(file, output.as_deref()),
        Command::Trace(args) => trace::trace(&cli.global, args),
        Command::Debug(args) => debug::debug(&cli.global, args),
        Command::Repl { files, batch } => crate::interactive::repl(&cli.global, files, *batch),
        Command::Conform(args) => conform::conform(&cli.global, args),
        Command::Compare(args) => compare::compare(&cli.global, args),
        Command::Corpus(command) => corpus::corpus(&cli.global, command),
        Command::Outcome(args) => outcome::outcome(&cli.global, args),
        Command::Reduce(args) => reduce::reduce(&cli.global, args),
        Command::Usimd(args) => usimd::usimd(&cli.global, args),
        Command::Gen(args) => generate::generate(&cli.global, args),
        Command::Fuzz(args) => fuzz::fuzz(&cli.global, args),
        Command::Play(args) => play::play(&cli.global, args),
        Command::New { name } => new::new(name),
        Command::Doctor => doctor::doctor(&cli.global.options()),
        Command::Completions { shell } => {
            manual::completions(*shell);
            Ok(())
        }
        Command::Man { folder } => manual::man(folder.as_deref()),
        Command::Explain { code } => explain::explain(code.as_deref()),
    }
}

/// A module from an SPMD source, or from bytecode in its binary or text form.
pub fn load(path: &Path, options: &Options, color: bool) -> Result<Module, Failure> {
    let bytes = files::bytes(path)?;
    let is_text_form = path.extension().is_some_and(|e| e == "spmdasm" || e == "txt");
    if bytes.starts_with(&tools::binary::MAGIC) {
        let program = tools::binary::decode(&bytes)
            .map_err(|e| Failure::Program(format!("{} is not a valid bytecode file: {e}", path.display())))?;
        return Ok(Module::from_program(verify(program)?, options));
    }
    if is_text_form {
        return Ok(Module::from_program(assemble(path, &files::text(path)?)?, options));
    }
    let compiled = match path.is_file() {
        true => Module::compile_file(path, options),
        // What can be read only once: a pipe, the terminal.
        false => Module::compile(&path.display().to_string(), &String::from_utf8_lossy(&bytes), options),
    };
    let module = compiled.map_err(|e| compile_failure(&e, path, color))?;
    eprint!("{}", module.render_warnings(color));
    Ok(module)
}

/// [`load`], linked with other sources.
pub fn load_with(path: &Path, others: &[PathBuf], options: &Options, color: bool) -> Result<Module, Failure> {
    if others.is_empty() {
        return load(path, options, color);
    }
    let mut texts = Vec::new();
    for path in std::iter::once(path).chain(others.iter().map(PathBuf::as_path)) {
        let bytes = files::bytes(path)?;
        if bytes.starts_with(&tools::binary::MAGIC) {
            return Err(Failure::usage(format!("--with links sources, and {} is bytecode", path.display())));
        }
        texts.push((path, String::from_utf8_lossy(&bytes).into_owned()));
    }
    let sources: Vec<Source<'_>> = texts.iter().map(|(path, text)| Source::Read { path, text }).collect();
    let module = Module::compile_all(&sources, options).map_err(|e| compile_failure(&e, path, color))?;
    eprint!("{}", module.render_warnings(color));
    Ok(module)
}

/// The options with what shared libraries provide.
pub fn with_libraries(options: Options, libraries: &[String]) -> Result<Options, Failure> {
    libraries.iter().try_fold(options, |options, path| {
        // SAFETY: whoever names a library has been told that the program can do anything with it.
        let loaded = unsafe { options.with_host_library(path) };
        loaded.map_err(|why| Failure::usage(format!("--host: {why}")))
    })
}

/// A failed compilation as a failure of the command: one that was stopped is like a run that was.
pub fn compile_failure(error: &CompileError, path: &Path, color: bool) -> Failure {
    match error.stopped() {
        Some(_) => Failure::Trap(error.render(color)),
        None => Failure::Program(error.render(color) + &files::note(path)),
    }
}

/// Assembles and verifies a text.
pub fn assemble(path: &Path, text: &str) -> Result<VerifiedProgram, Failure> {
    let program = tools::asm::assemble(text).map_err(|errors| {
        let lines = errors.iter().map(|e| format!("{}:{e}\n", path.display()));
        Failure::Program(lines.collect())
    })?;
    verify(program)
}

fn verify(program: tools::Program) -> Result<VerifiedProgram, Failure> {
    tools::verify(program)
        .map_err(|errors| Failure::Program(errors.iter().map(|e| format!("malformed program: {e}\n")).collect()))
}

/// Fails if the command line asks for another width than bytecode has, or for lanes that there are not.
pub fn check_lanes(global: &Global, call: &CallArgs, module: &Module) -> Result<(), Failure> {
    let (lanes, asked) = (module.lanes(), global.lanes());
    if global.width_is_given && asked != lanes {
        return Err(Failure::usage(format!(
            "--width: the bytecode is for {lanes} lanes, not {asked}; leave the option out"
        )));
    }
    let beyond = call.mask.and_then(|mask| mask.checked_shr(lanes as u32)).is_some_and(|lanes| lanes != 0);
    match beyond {
        true => Err(Failure::usage(format!("--mask has more lanes than the {lanes} of the gang"))),
        false => Ok(()),
    }
}

/// The export to call: the one asked for, or the only one.
pub fn entry<'m>(module: &'m Module, name: Option<&str>) -> Result<&'m Export, Failure> {
    let list = || {
        let lines = module.exports().iter().map(|e| format!("\n  {}", e.declaration));
        lines.collect::<String>()
    };
    match (name, module.exports()) {
        (Some(name), exports) => exports
            .iter()
            .find(|e| e.name == name)
            .ok_or_else(|| Failure::Usage(format!("--entry: no function `{name}` is exported; there are:{}", list()))),
        (None, [only]) => Ok(only),
        (None, []) => Err(Failure::usage("the program exports no function: put `export` before one")),
        (None, _) => Err(Failure::Usage(format!("choose a function with --entry:{}", list()))),
    }
}

pub use explain::explanation;
pub use run::interrupt_flag;

/// A failed call as text.
pub fn call_failure_text(error: CallError, color: bool) -> String {
    match error {
        CallError::Trap(trap) => trap.render(color),
        CallError::Compile(error) => error.render(color),
        other => format!("{other}\n"),
    }
}

/// A failed call as a failure of the command.
pub fn call_failure(error: CallError, global: &Global) -> Failure {
    match error {
        CallError::Trap(trap) => Failure::Trap(trap.render(global.color())),
        CallError::Compile(error) if error.stopped().is_none() => Failure::Program(error.render(global.color())),
        other => Failure::usage(other.to_string()),
    }
}
