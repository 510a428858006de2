//! Compiled programs.

use crate::error::{ArgumentError, CallError, CompileError};
use crate::options::{Engine, Fp, Options};
use crate::pool::Pool;
use crate::run::Run;
use crate::value::Value;
use spmdvm_frontend::compile::{self, Compilation, CompileOptions, Input, Instances, Stage};
use spmdvm_frontend::diag::Diagnostic;
use spmdvm_frontend::lower::FpMode;
use spmdvm_frontend::source::SourceMap;
use spmdvm_jit::Jit;
use spmdvm_vm::program::Export;
use spmdvm_vm::{GlobalId, PreparedProgram, Program, VerifiedProgram};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A compiled program, ready to be called from any thread. Cheap to clone; clones share globals.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    program: VerifiedProgram,
    options: Options,
    warnings: Vec<Diagnostic>,
    sources: Arc<SourceMap>,
    pool: Pool,
    jit: Option<Arc<Jit>>,
    /// Exports to be compiled at their first call.
    deferred: Option<Deferred>,
}

/// Exported instances of polymorphic functions that are compiled when they are called.
struct Deferred {
    /// Name and text of the program.
    source: (String, String),
    /// The folder of its file, for what it includes.
    folder: Option<PathBuf>,
    /// By the name of the instance: a module with that instance.
    modules: HashMap<String, OnceLock<Result<Module, CompileError>>>,
}

impl Deferred {
    /// What a compilation has left out; `None` if that is nothing.
    fn new(compilation: &Compilation, input: Input<'_>) -> Option<Deferred> {
        if compilation.deferred.is_empty() {
            return None;
        }
        let (source, folder) = match input {
            Input::Text { name, text } => ((name.to_owned(), text.to_owned()), None),
            Input::File(path) => {
                let name = path.display().to_string();
                let (_, file) = compilation.sources.files().find(|(_, file)| file.name == name)?;
                let text = file.text.to_string();
                ((name, text), Some(path.parent().unwrap_or(Path::new("")).to_owned()))
            }
        };
        let modules = compilation.deferred.iter().map(|name| (name.clone(), OnceLock::new())).collect();
        Some(Deferred { source, folder, modules })
    }
}

/// What `auto` stands for: the first that has a back end for the machine; else the interpreter.
const AUTO: [Engine; 2] = [Engine::X86, Engine::Clif];

/// The program ready to run on the engine that was asked for; an engine that is not there is reported at the first call.
fn prepare(program: &VerifiedProgram, options: &Options) -> (PreparedProgram, Option<Arc<Jit>>) {
    let wanted: &[Engine] = match &options.engine {
        Engine::Auto => &AUTO,
        Engine::Interp => &[],
        engine => std::slice::from_ref(engine),
    };
    let made = wanted.iter().find_map(|e| spmdvm_jit::prepare(program, e.name(), options.jit.clone()).ok());
    made.map_or_else(|| (program.clone().into(), None), |(prepared, jit)| (prepared, Some(jit)))
}

impl Module {
    /// Compiles source text; `name` is what messages call it. `#include` reads only from the given include paths.
    pub fn compile(name: &str, text: &str, options: &Options) -> Result<Module, CompileError> {
        Module::from_input(Input::Text { name, text }, options)
    }

    /// Compiles a file. `#include` reads below the file's folder and from the include paths.
    pub fn compile_file(path: impl AsRef<Path>, options: &Options) -> Result<Module, CompileError> {
        Module::from_input(Input::File(path.as_ref()), options)
    }

    fn from_input(input: Input<'_>, options: &Options) -> Result<Module, CompileError> {
        let mut compile_options = options.to_compile_options();
        if options.lazy {
            compile_options.instances = Instances::Only(Vec::new());
        }
        let mut compilation = compile::compile(input, &compile_options);
        if let Some(program) = &compilation.program
            && !compilation.deferred.is_empty()
            && crate::pool::is_stateful(program)
        {
            // All instances must see the same globals.
            compile_options.instances = Instances::All;
            compilation = compile::compile(input, &compile_options);
        }
        let deferred = Deferred::new(&compilation, input);
        let sources = Arc::new(compilation.sources);
        match compilation.program {
            Some(program) => Ok(Module::new(program, options, compilation.diagnostics, sources, deferred)),
            None => Err(CompileError { diagnostics: compilation.diagnostics, sources }),
        }
    }

    /// The module that runs an export: another one, compiled at the first call, for an instance of a polymorphic function that
    /// was left out of this one.
    pub(crate) fn module_of(&self, export: &Export) -> Result<Option<(Module, Export)>, CompileError> {
        let Some(deferred) = &self.inner.deferred else { return Ok(None) };
        let name = &self.program().functions[export.function.0 as usize].name;
        let Some(made) = deferred.modules.get(name) else { return Ok(None) };
        let module = made.get_or_init(|| {
            let (options, source) = (self.options(), &deferred.source);
            let mut compile_options = options.to_compile_options();
            compile_options.include_paths.splice(0..0, deferred.folder.clone());
            compile_options.instances = Instances::Only(vec![name.clone()]);
            let compilation = compile::compile(Input::Text { name: &source.0, text: &source.1 }, &compile_options);
            let sources = Arc::new(compilation.sources);
            match compilation.program {
                Some(program) => Ok(Module::new(program, options, compilation.diagnostics, sources, None)),
                None => Err(CompileError { diagnostics: compilation.diagnostics, sources }),
            }
        });
        let module = module.clone()?;
        let function = module.program().function(name);
        let found = module.exports().iter().find(|e| Some(e.function) == function).cloned();
        Ok(found.map(|export| (module, export)))
    }

    /// A stage of the compilation of a file as text: `tokens`, `ast`, `hir` or `bytecode`.
    pub fn dump_stage(path: impl AsRef<Path>, options: &Options, stage: &str) -> Result<String, String> {
        let Some(stage) = Stage::from_name(stage) else {
            let names: Vec<&str> = Stage::NAMES.iter().map(|s| s.0).collect();
            return Err(format!("there is no stage `{stage}`; choose one of {}", names.join(", ")));
        };
        compile::dump(Input::File(path.as_ref()), &options.to_compile_options(), stage)
            .map_err(|failed| CompileError::from(failed).to_string())
    }

    /// The type of the last expression statement of a function of a program: for interactive tools.
    pub fn type_of_last_expression(text: &str, function: &str, options: &Options) -> Result<String, CompileError> {
        let input = Input::Text { name: "<session>", text };
        compile::type_of_last_expression(input, &options.to_compile_options(), function).map_err(CompileError::from)
    }

    /// A module of a program made elsewhere (assembled, or read from its binary form). The program's own width holds.
    pub fn from_program(program: VerifiedProgram, options: &Options) -> Module {
        let options = options.clone().with_width(program.width);
        Module::new(program, &options, Vec::new(), Arc::new(SourceMap::default()), None)
    }

    fn new(
        program: VerifiedProgram,
        options: &Options,
        warnings: Vec<Diagnostic>,
        sources: Arc<SourceMap>,
        deferred: Option<Deferred>,
    ) -> Module {
        let (prepared, jit) = prepare(&program, options);
        let pool = Pool::new(&program, prepared, options);
        Module { inner: Arc::new(Inner { program, options: options.clone(), warnings, sources, pool, jit, deferred }) }
    }

    /// The bytecode.
    pub fn program(&self) -> &Arc<Program> {
        self.inner.program.program()
    }

    /// The bytecode with the verifier's word for it.
    pub fn verified(&self) -> &VerifiedProgram {
        &self.inner.program
    }

    /// The options it was compiled with.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Warnings of the compilation.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.inner.warnings
    }

    /// The warnings as text with source snippets.
    pub fn render_warnings(&self, color: bool) -> String {
        let render = |d| spmdvm_frontend::diag::render(d, &self.inner.sources, color);
        self.inner.warnings.iter().map(render).collect()
    }

    /// The exported functions. Several may share a name (overloads).
    pub fn exports(&self) -> &[Export] {
        &self.program().exports
    }

    /// The exported functions of this name.
    pub fn overloads(&self, name: &str) -> impl Iterator<Item = &Export> {
        self.exports().iter().filter(move |e| e.name == name)
    }

    /// The bytecode as text for people.
    pub fn disassemble(&self) -> String {
        spmdvm_vm::asm::disassemble(self.program(), spmdvm_vm::asm::Style::Human)
    }

    /// The files that diagnostics point into.
    pub fn sources(&self) -> &SourceMap {
        &self.inner.sources
    }

    /// The bytes of a global variable, between calls.
    pub fn read_global(&self, name: &str) -> Option<Vec<u8>> {
        let (id, size) = self.global(name)?;
        let mut lease = self.pool().lease().ok()?;
        let machine = lease.machine();
        let mut bytes = vec![0; size];
        machine.memory().read_bytes(machine.global(id), &mut bytes).then_some(bytes)
    }

    /// Sets the bytes of a global variable; `false` if there is none of that name and size, or it is constant.
    pub fn write_global(&self, name: &str, bytes: &[u8]) -> bool {
        let Some((id, size)) = self.global(name) else { return false };
        let Ok(mut lease) = self.pool().lease() else { return false };
        let machine = lease.machine();
        size == bytes.len() && machine.memory().write_bytes(machine.global(id), bytes)
    }

    fn global(&self, name: &str) -> Option<(GlobalId, usize)> {
        let i = self.program().globals.iter().position(|g| g.name == name)?;
        Some((GlobalId(i as u32), self.program().globals[i].size as usize))
    }

    /// The name of the engine that runs the module: `auto` is resolved.
    pub fn engine_name(&self) -> &'static str {
        match self.options().engine {
            Engine::Auto => self.inner.jit.as_ref().map_or(Engine::Interp.name(), |jit| jit.engine()),
            engine => engine.name(),
        }
    }

    /// The JIT that runs the module's hot loops, if its engine has one: for its report.
    pub fn jit(&self) -> Option<&Jit> {
        self.inner.jit.as_deref()
    }

    /// The modules of instances that were compiled at their first call.
    pub(crate) fn instances(&self) -> Vec<Module> {
        let mut made: Vec<_> = self.inner.deferred.iter().flat_map(|deferred| &deferred.modules).collect();
        made.sort_by_key(|(name, _)| *name);
        made.into_iter().filter_map(|(_, module)| module.get()?.as_ref().ok().cloned()).collect()
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.inner.pool
    }

    /// Calls an exported function with all lanes on. Prints go to standard output.
    pub fn call<'v>(&self, name: &str, args: &[Value<'v>]) -> Result<Option<Value<'static>>, CallError> {
        Run::new(self).call(name, args)
    }

    /// The engine that runs this module: the one asked for, or why it cannot.
    pub fn check_engine(&self) -> Result<(), CallError> {
        match self.options().engine {
            Engine::Auto | Engine::Interp => Ok(()),
            _ if self.inner.jit.is_some() => Ok(()),
            engine => spmdvm_jit::available(engine.name()).map_err(|e| CallError::Engine(e.to_string())),
        }
    }

    /// The export of this name whose parameters these arguments fit; among several, the first.
    pub(crate) fn resolve(&self, name: &str, args: &[Value<'_>]) -> Result<&Export, ArgumentError> {
        let mut first_error = None;
        for export in self.overloads(name) {
            match crate::run::check_arguments(export, args) {
                Ok(()) => return Ok(export),
                Err(e) => first_error = first_error.or(Some(e)),
            }
        }
        Err(first_error.unwrap_or_else(|| self.no_such_export(name)))
    }

    fn no_such_export(&self, name: &str) -> ArgumentError {
        let mut names: Vec<&str> = self.exports().iter().map(|e| e.name.as_str()).collect();
        names.dedup();
        let close = spmdvm_frontend::diag::closest(name, names.iter().copied());
        let hint = match close {
            Some(close) => format!("; did you mean `{close}`?"),
            None if names.is_empty() => "; it exports nothing (put `export` before a function)".into(),
            None => format!("; it exports {}", names.join(", ")),
        };
        let message = format!("the module exports no function `{name}`{hint}");
        ArgumentError { parameter: String::new(), message, is_type: false }
    }
}

impl Options {
    fn to_compile_options(&self) -> CompileOptions {
        CompileOptions {
            width: self.width,
            fp: match self.fp {
                Fp::Contract => FpMode::Contract,
                Fp::Strict => FpMode::Strict,
                Fp::Fast => FpMode::Fast,
            },
            include_paths: self.include_paths.clone(),
            defines: self.defines.clone(),
            headers: self.headers.clone(),
            hints: self.hints,
            instances: Instances::All,
        }
    }
}

impl From<Compilation> for CompileError {
    fn from(failed: Compilation) -> CompileError {
        CompileError { diagnostics: failed.diagnostics, sources: Arc::new(failed.sources) }
    }
}
