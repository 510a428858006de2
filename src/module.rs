//! Compiled programs.

use crate::check::{Report, Reports};
use crate::error::{ArgumentError, CallError, CompileError};
use crate::host::{Bound, Owner, provide};
use crate::options::{Engine, Fp, Options};
use crate::pool::Pool;
use crate::run::Run;
use crate::value::Value;
#[cfg(feature = "internals")]
use spmdvm_frontend::ast::TranslationUnit;
pub use spmdvm_frontend::compile::Input as Source;
pub use spmdvm_frontend::compile::prompt::{Part, PartKind, PromptInfo, Reading, ShownInfo, VariableInfo};
use spmdvm_frontend::compile::{self, Compilation, CompileOptions, Input, Instances, Stage};
use spmdvm_frontend::diag::{Diagnostic, LeftOut};
use spmdvm_frontend::lower::FpMode;
use spmdvm_frontend::source::SourceMap;
use spmdvm_jit::Jit;
use spmdvm_vm::program::{Export, Import, Item};
use spmdvm_vm::{FuncId, GlobalId, PreparedProgram, Program, VerifiedProgram, Watch};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

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
    /// Whether there are functions that are declared but defined nowhere.
    is_open: bool,
    /// By exported function: whether it can do without them. Found out at the first call.
    checked: Mutex<HashMap<FuncId, Result<(), CompileError>>>,
    /// What check mode has found.
    reports: Reports,
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
            Input::File(path) | Input::Read { path, .. } => {
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
        _ if !options.check.is_empty() => &[],
        Engine::Auto => &AUTO,
        Engine::Interp => &[],
        engine => std::slice::from_ref(engine),
    };
    for engine in wanted {
        if let Ok((prepared, jit)) = spmdvm_jit::prepare(program, engine.name(), options.jit.clone()) {
            return (prepared, Some(jit));
        }
    }
    (PreparedProgram::new(program), None)
}

/// Does work that does not poll, on another thread if something must be watched meanwhile and there can be one.
fn watched<R: Send>(watch: Option<&Watch>, work: impl Fn() -> R + Sync) -> R {
    const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
    let Some(watch) = watch else { return work() };
    std::thread::scope(|scope| {
        let (done, ends) = channel::<()>();
        let worker = std::thread::Builder::new().spawn_scoped(scope, || {
            // Dropped at the end, also by a panic.
            let _done = done;
            work()
        });
        let Ok(worker) = worker else { return work() };
        while ends.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
            watch();
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl Module {
    /// Compiles source text; `name` is what messages call it. `#include` reads only from the given include paths.
    pub fn compile(name: &str, text: &str, options: &Options) -> Result<Module, CompileError> {
        Module::from_input(Input::Text { name, text }, options)
    }

    /// The same, and shows the program's syntax tree if there is no error in it.
    #[cfg(feature = "internals")]
    pub fn compile_and_look(
        name: &str,
        text: &str,
        options: &Options,
        look: &(dyn Fn(&TranslationUnit<'_>) + Sync),
    ) -> Result<Module, CompileError> {
        let input = Input::Text { name, text };
        let compile = |compile_options: &CompileOptions| compile::compile_and_look(input, compile_options, look);
        Module::from_compilation(input, options, compile)
    }

    /// Compiles a file. `#include` reads what the process may, unless it is [sandboxed](Options::sandbox_includes).
    pub fn compile_file(path: impl AsRef<Path>, options: &Options) -> Result<Module, CompileError> {
        Module::from_input(Input::File(path.as_ref()), options)
    }

    /// Compiles several sources, each apart, and links them to one program. A source that was compiled before with the
    /// same options, and includes the same, is not compiled again.
    ///
    /// What all of them only declare stays open, as in a program of one source: a call of an export that needs such a
    /// function fails, and [`check_linked`](Self::check_linked) tells before.
    ///
    /// ```
    /// use spmdvm::{Module, Options, Source, Value};
    /// let main = "extern uniform float half(uniform float x);
    ///             export uniform float quarter(uniform float x) { return half(half(x)); }";
    /// let half = "uniform float half(uniform float x) { return 0.5f * x; }";
    /// let sources =
    ///     [Source::Text { name: "main.ispc", text: main }, Source::Text { name: "half.ispc", text: half }];
    /// let module = Module::compile_all(&sources, &Options::default()).unwrap();
    /// let result = module.call("quarter", &[3.0f32.into()]).unwrap();
    /// assert!(matches!(result, Some(Value::Scalar { bits, .. }) if f32::from_bits(bits as u32) == 0.75));
    /// ```
    pub fn compile_all(sources: &[Source<'_>], options: &Options) -> Result<Module, CompileError> {
        let compile_options = CompileOptions { object: true, ..options.to_compile_options() };
        let linked = crate::link::compile_and_link(sources, &compile_options)?;
        Module::new(linked.program, options, linked.warnings, Arc::new(linked.sources), None)
    }

    /// Fails if an exported function needs one that is declared but defined nowhere.
    pub fn check_linked(&self) -> Result<(), CompileError> {
        let exported = self.exports().iter().map(|export| export.function);
        crate::link::check(self.program(), exported, &self.options().hosts)
    }

    /// Fails if this export needs a function that is declared but defined nowhere.
    pub(crate) fn check_linked_for(&self, export: &Export) -> Result<(), CallError> {
        if !self.inner.is_open {
            return Ok(());
        }
        let mut checked = self.inner.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let check = || crate::link::check(self.program(), std::iter::once(export.function), &self.options().hosts);
        let result = checked.entry(export.function).or_insert_with(check);
        result.clone().map_err(CallError::Compile)
    }

    fn from_input(input: Input<'_>, options: &Options) -> Result<Module, CompileError> {
        Module::from_compilation(input, options, |compile_options| compile::compile(input, compile_options))
    }

    fn from_compilation(
        input: Input<'_>,
        options: &Options,
        compile: impl Fn(&CompileOptions) -> Compilation,
    ) -> Result<Module, CompileError> {
        let mut compile_options = options.to_compile_options();
        if options.lazy {
            compile_options.instances = Instances::Only(Vec::new());
        }
        let mut compilation = compile(&compile_options);
        if let Some(program) = &compilation.program
            && !compilation.deferred.is_empty()
            && crate::pool::is_indivisible(program)
        {
            // All instances must see the same globals.
            compile_options.instances = Instances::All;
            compilation = compile(&compile_options);
        }
        let deferred = Deferred::new(&compilation, input);
        Module::finish(compilation, options, deferred)
    }

    /// The module of a compilation.
    fn finish(compilation: Compilation, options: &Options, deferred: Option<Deferred>) -> Result<Module, CompileError> {
        let Some(program) = compilation.program else { return Err(compilation.into()) };
        Module::new(program, options, compilation.diagnostics, Arc::new(compilation.sources), deferred)
    }

    /// The module that runs an export: another one, compiled at the first call, for an instance of a polymorphic function that
    /// was left out of this one, by a compilation that the flag ends, or the deadline.
    pub(crate) fn module_of(
        &self,
        export: &Export,
        interrupt: Option<&Arc<AtomicBool>>,
        watch: Option<&Watch>,
        deadline: Option<Instant>,
    ) -> Result<Option<(Module, Export)>, CompileError> {
        let Some(deferred) = &self.inner.deferred else { return Ok(None) };
        let name = &self.program().functions[export.function.0 as usize].name;
        let Some(made) = deferred.modules.get(name) else { return Ok(None) };
        let module = match made.get() {
            Some(module) => module.clone()?,
            None => {
                let (options, source) = (self.options(), &deferred.source);
                let mut compile_options = options.to_compile_options();
                compile_options.include_paths.splice(0..0, deferred.folder.clone());
                compile_options.sandbox_includes.get_or_insert(deferred.folder.is_none());
                compile_options.instances = Instances::Only(vec![name.clone()]);
                (compile_options.interrupt, compile_options.deadline) = (interrupt.cloned(), deadline);
                let input = Input::Text { name: &source.0, text: &source.1 };
                let compile = || Module::finish(compile::compile(input, &compile_options), options, None);
                let module = watched(watch, compile);
                // What was stopped may work out the next time. Of two threads the first one's is kept.
                match &module {
                    Err(error) if error.stopped().is_some() => module?,
                    _ => made.get_or_init(|| module).clone()?,
                }
            }
        };
        let function = module.program().function(name);
        let found = module.exports().iter().find(|e| Some(e.function) == function).cloned();
        Ok(found.map(|export| (module, export)))
    }

    /// The header that declares a file's exported functions for C and C++, with the types they need, as ISPC would write it.
    /// `name` is what its first line calls it.
    pub fn header(path: impl AsRef<Path>, options: &Options, name: &str) -> Result<String, CompileError> {
        let input = Input::File(path.as_ref());
        compile::c_header(input, &options.to_compile_options(), name).map_err(|failed| CompileError::from(*failed))
    }

    /// The paths of the files that a file includes, directly or not, each once, in the order in which they are first met.
    pub fn includes(path: impl AsRef<Path>, options: &Options) -> Result<Vec<PathBuf>, CompileError> {
        let input = Input::File(path.as_ref());
        compile::includes(input, &options.to_compile_options()).map_err(|failed| CompileError::from(*failed))
    }

    /// A stage of the compilation of a file as text: `tokens`, `ast`, `hir` or `bytecode`.
    pub fn dump_stage(path: impl AsRef<Path>, options: &Options, stage: &str) -> Result<String, String> {
        let Some(stage) = Stage::from_name(stage) else {
            let names: Vec<&str> = Stage::NAMES.iter().map(|s| s.0).collect();
            return Err(format!("there is no stage `{stage}`; choose one of {}", names.join(", ")));
        };
        compile::dump(Input::File(path.as_ref()), &options.to_compile_options(), stage)
            .map_err(|failed| CompileError::from(*failed).to_string())
    }

    /// The type of the last expression statement of a function of a program: for interactive tools.
    pub fn type_of_last_expression(text: &str, function: &str, options: &Options) -> Result<String, CompileError> {
        let input = Input::Text { name: "<session>", text };
        compile::type_of_last_expression(input, &options.to_compile_options(), function)
            .map_err(|failed| (*failed).into())
    }

    /// Compiles a program that ends with what was typed at a prompt (see
    /// [`frontend::compile::prompt`](spmdvm_frontend::compile::prompt)): the header named `prompt` among the
    /// [headers](Options::headers) that the program includes. Its statements are the exported function
    /// [`PROMPT_FUNCTION`](spmdvm_frontend::ast::PROMPT_FUNCTION).
    pub fn compile_prompt(
        program: &str,
        prompt: &str,
        options: &Options,
    ) -> Result<(Module, PromptInfo), CompileError> {
        let compile_options = options.to_prompt_options(prompt);
        let (compilation, info) = compile::prompt::compile(program, &compile_options);
        Ok((Module::finish(compilation, options, None)?, info))
    }

    /// Compiles a text with all functions that it defines, whether anything calls them or not: for looking at them.
    pub fn compile_definitions(program: &str, options: &Options) -> Result<Module, CompileError> {
        let compile_options = CompileOptions { object: true, ..options.to_compile_options() };
        let compilation = compile::compile(Input::Text { name: "<session>", text: program }, &compile_options);
        Module::finish(compilation, options, None)
    }

    /// Takes apart what was typed at a prompt, for [`compile_prompt`](Self::compile_prompt).
    pub fn read_prompt(program: &str, prompt: &str, options: &Options) -> Result<Reading, Unread> {
        compile::prompt::read(program, &options.to_prompt_options(prompt)).map_err(|unread| match unread {
            compile::prompt::Unread::Unfinished(failed) => Unread::Unfinished((*failed).into()),
            compile::prompt::Unread::Wrong(failed) => Unread::Wrong((*failed).into()),
        })
    }

    /// A module of a program made elsewhere (assembled, or read from its binary form). The program's own width holds.
    ///
    /// # Panics
    /// If the host is to provide a function that it cannot, such as one with a varying parameter.
    pub fn from_program(program: VerifiedProgram, options: &Options) -> Module {
        let options = options.clone().with_width(program.width);
        let sources = Arc::new(SourceMap::default());
        Module::new(program, &options, Vec::new(), sources, None).unwrap_or_else(|error| panic!("{error}"))
    }

    fn new(
        program: VerifiedProgram,
        options: &Options,
        warnings: Vec<Diagnostic>,
        sources: Arc<SourceMap>,
        deferred: Option<Deferred>,
    ) -> Result<Module, CompileError> {
        let owner = Owner::new();
        let Bound { program, table } = provide(program, &options.hosts, owner)?;
        let (prepared, jit) = prepare(&program, options);
        let pool = Pool::new(&program, prepared, options, table, owner);
        let options = Options { interrupt: None, ..options.clone() };
        let is_function = |import: &Import| matches!(import.symbol.item, Item::Function(_));
        let (is_open, checked) = (program.imports.iter().any(is_function), Mutex::default());
        let reports = Reports::default();
        let inner = Inner { program, options, warnings, sources, pool, jit, deferred, is_open, checked, reports };
        Ok(Module { inner: Arc::new(inner) })
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
        spmdvm_frontend::diag::render_list(&self.inner.warnings, LeftOut::default(), &self.inner.sources, color)
    }

    /// Lanes of the gang.
    pub fn lanes(&self) -> usize {
        self.program().width.lanes()
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

    /// The bytes of a variable that outlives calls, also one that hosts do not see: for tools that carry values from
    /// one module to another. `None` if there is none of that name with memory of its own.
    pub fn read_state(&self, name: &str) -> Option<Vec<u8>> {
        let (id, size) = self.state(name)?;
        let mut lease = self.pool().lease().ok()?;
        let machine = lease.machine();
        let mut bytes = vec![0; size];
        machine.memory().read_bytes(machine.global(id), &mut bytes).then_some(bytes)
    }

    /// Sets what [`read_state`](Self::read_state) gives; `false` if there is none of that name and size, or it is
    /// constant.
    pub fn write_state(&self, name: &str, bytes: &[u8]) -> bool {
        let Some((id, size)) = self.state(name) else { return false };
        let Ok(mut lease) = self.pool().lease() else { return false };
        let machine = lease.machine();
        size == bytes.len() && machine.memory().write_bytes(machine.global(id), bytes)
    }

    /// The bytes at an address of the program's memory that outlives calls; `None` where there are fewer.
    pub fn read_memory(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut lease = self.pool().lease().ok()?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).ok()?;
        bytes.resize(length, 0);
        lease.machine().memory().read_bytes(address, &mut bytes).then_some(bytes)
    }

    /// What an address points into, of the variables that outlive calls: the name, and the offset in bytes.
    pub fn variable_at(&self, address: u64) -> Option<(&str, i64)> {
        let (region, offset) = (spmdvm_vm::memory::region_of(address), spmdvm_vm::memory::offset_of(address));
        let global = self.program().globals.get(region.checked_sub(1)? as usize)?;
        Some((&global.name, offset))
    }

    /// The address of a byte of a variable that outlives calls.
    pub fn address_of(&self, name: &str, offset: i64) -> Option<u64> {
        let (id, _) = self.state(name)?;
        Some(spmdvm_vm::sem::padd(spmdvm_vm::memory::region_start(id.0 + 1), offset))
    }

    /// The function whose value a program holds as this word: its name.
    pub fn function_at(&self, value: u64) -> Option<&str> {
        self.program().functions.get(value.checked_sub(1)? as usize).map(|function| function.name.as_str())
    }

    fn state(&self, name: &str) -> Option<(GlobalId, usize)> {
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

    /// What check mode has found in the calls so far, each place once; see [`Options::check`].
    pub fn report(&self) -> Report {
        let mut report = self.inner.reports.get();
        self.instances().iter().for_each(|instance| report.add(instance.report()));
        report
    }

    pub(crate) fn reports(&self) -> &Reports {
        &self.inner.reports
    }

    /// Returns whether anything that a call does outlasts it: there are globals that can change, or allocations. Calls then take
    /// turns.
    pub fn is_stateful(&self) -> bool {
        self.pool().is_stateful()
    }

    /// Returns whether calls of this module cannot be told from calls of another one that was made of the same sources:
    /// it has no state, nothing that the host supplies, and no findings of check mode.
    pub fn is_interchangeable(&self) -> bool {
        !self.is_stateful() && !crate::pool::is_indivisible(self.program()) && self.options().check.is_empty()
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
            engine if !self.options().check.is_empty() => Err(CallError::Engine(format!(
                "check mode runs on the reference interpreter, not on the engine `{engine}`"
            ))),
            _ if self.inner.jit.is_some() => Ok(()),
            engine => spmdvm_jit::available(engine.name()).map_err(|e| CallError::Engine(e.to_string())),
        }
    }

    /// The export of this name whose parameters these arguments fit; among several, the first.
    pub(crate) fn resolve(&self, name: &str, args: &[Value<'_>]) -> Result<&Export, ArgumentError> {
        let mut first_error = None;
        for export in self.overloads(name) {
            match crate::run::check_arguments(export, args, self.lanes()) {
                Ok(()) => return Ok(export),
                Err(e) => first_error = first_error.or(Some(e)),
            }
        }
        Err(first_error.unwrap_or_else(|| self.no_such_export(name)))
    }

    /// The error that there is no exported function of this name, with what it may have been meant to be.
    pub fn no_such_export(&self, name: &str) -> ArgumentError {
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

/// Why what was typed at a prompt cannot be taken apart.
#[derive(Debug)]
pub enum Unread {
    /// It ends in the middle of something: more may come. (The error is what is wrong if nothing does.)
    Unfinished(CompileError),
    /// It is wrong.
    Wrong(CompileError),
}

impl Options {
    fn to_prompt_options(&self, prompt: &str) -> CompileOptions {
        CompileOptions { prompt: Some(prompt.to_owned()), ..self.to_compile_options() }
    }

    fn fp_mode(&self) -> FpMode {
        match self.fp {
            Fp::Contract => FpMode::Contract,
            Fp::Strict => FpMode::Strict,
            Fp::Fast => FpMode::Fast,
        }
    }

    /// Has the whole library ready, so that no compilation takes longer than others.
    pub fn prepare_library(&self) {
        compile::prepare_library(self.width, self.fp_mode());
    }

    /// The same for the front end alone. The time that a compilation may take begins now.
    pub fn to_compile_options(&self) -> CompileOptions {
        // What is made once in a process is not the program's to pay.
        compile::prelude();
        CompileOptions {
            width: self.width,
            fp: self.fp_mode(),
            include_paths: self.include_paths.clone(),
            sandbox_includes: self.sandbox_includes,
            defines: self.defines.clone(),
            headers: self.headers.clone(),
            hints: self.hints,
            no_warn: self.no_warn.clone(),
            instances: Instances::All,
            object: false,
            check: !self.check.is_empty(),
            keep_variables: self.keep_variables,
            limits: self.program_limits,
            interrupt: self.interrupt.clone(),
            deadline: self.limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            prompt: None,
        }
    }
}

impl From<Compilation> for CompileError {
    fn from(failed: Compilation) -> CompileError {
        let Compilation { diagnostics, left_out, stopped, sources, .. } = failed;
        CompileError { diagnostics, left_out, stopped, sources: Arc::new(sources) }
    }
}
