//! Compiling, and what a compiled module offers.

use crate::errors;
use crate::function::Function;
use crate::globals::Globals;
use crate::interrupt;
use crate::options::{self, Pairs};
use crate::pointer::Pointer;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyAttributeError, PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use spmdvm::Show;
use spmdvm::{Checks, Code, CompileError, FindingKind, Limits, Options, Width};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a source string is called in messages.
const STRING_NAME: &str = "<string>";

/// A compiled program with the text it came from.
pub struct Compiled {
    pub module: spmdvm::Module,
    name: String,
    source: String,
    /// Is `name` the path of a file?
    is_file: bool,
}

/// A compiled module: its exported functions are its attributes.
///
/// Made by `spmdvm.compile` and `spmdvm.compile_file`. `module.f` (or `module["f"]`, if the name is taken) is the
/// exported function `f`. A module may be called from any thread. It pickles as its source and options; what is in its
/// globals is not carried.
#[pyclass(frozen, module = "spmdvm", weakref)]
pub struct Module {
    compiled: Arc<Compiled>,
    functions: PyOnceLock<Vec<Py<Function>>>,
}

/// Compiles the text of a program.
///
/// `source` is text; if it is an `os.PathLike`, `compile_file` compiles that file. A string is never taken for a path.
/// Raises `CompileError` with all diagnostics if the program is wrong. Warnings are issued as `CompileWarning` and kept
/// in the module's `warnings`.
///
/// width: lanes of the gang, 1 to 64 in powers of two; "native": as many float lanes as this CPU's vectors have.
/// engine: "auto" (the fastest that runs here), "interp", or a JIT: "x86" (native code for machines with AVX-512), "clif"
///     (native code for others), "ir" (what they make code from, interpreted: for tests). docs/jit.md says what each needs.
/// fp: "contract" (a*b+c is fused), "strict" or "fast".
/// check: True: every call is watched on the reference interpreter, which gives the same results, and `module.report()` lists what
///     is wrong: values that were never stored, accesses out of bounds with all lanes, reads of inactive lanes, races and
///     more. "all" or a list of kinds looks for others too; docs/check.md has the table.
/// include_paths: folders for #include. Programs given as text include only from there.
/// sandbox_includes: keep #include below the file's folder and the include paths? None: for text yes, for files no.
/// defines: macros, name to value.
/// fuel: loop iterations and calls that one call may take; over arrays, for each stretch of evenly spaced elements.
///     None: no limit.
/// timeout: seconds that one call may take, and that compiling may take. None: no limit.
/// memory: bytes that the program may allocate, its globals included. None: 4 GiB.
/// task_threads: threads that run the tasks a program launches; None: as many as there are cores. With 1, tasks run in
///     order, one after another. Results do not depend on it, unless tasks race.
/// jit: settings of the JIT by name, such as {"hot": 10, "background": False, "one_lane": False}; docs/jit.md has the table.
///     Results do not depend on them.
/// hints: put hints about performance among the module's `warnings`: what goes lane by lane in loops.
/// no_warn: codes of warnings that are not wanted, such as ["W0212"].
///
/// Limits that always hold: calls nest at most 65,536 deep, and their variables take at most 64 MiB of stack (and 64
/// MiB more for those that lie in memory); a task has as much.
#[pyfunction]
#[pyo3(signature = (source, **options), text_signature = "(source, *, width=16, engine='auto', fp='contract', \
    check=False, include_paths=(), sandbox_includes=None, defines={}, fuel=None, timeout=None, memory=None, \
    task_threads=None, jit={}, hints=False)")]
pub fn compile(py: Python<'_>, source: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Module> {
    let options = options::parse("compile", options)?;
    let Ok(text) = source.cast::<PyString>() else {
        let path = source.hasattr("__fspath__")?.then(|| source.extract::<PathBuf>()).transpose()?;
        return match path {
            Some(path) => build_file(py, &path, options),
            None => Err(PyTypeError::new_err(format!(
                "compile() expects the text of a program, but was given {}",
                crate::scalar::describe(source)
            ))),
        };
    };
    let no_text = |_| {
        let message = "compile(): the text holds half of a surrogate pair, which is no character";
        PyValueError::new_err(message)
    };
    let text: String = text.extract().map_err(no_text)?;
    if text.trim_end().ends_with(".ispc") && !text.contains(['\n', '\r']) {
        let message = format!(
            "compile() takes the text of a program, and {} looks like the path of a file; \
             use spmdvm.compile_file(path)",
            options::show(source)
        );
        return Err(PyValueError::new_err(message));
    }
    let module = build(py, STRING_NAME.into(), text, options)?;
    module.warn(py)?;
    Ok(module)
}

/// Compiles a file.
///
/// `path` is a string or an `os.PathLike`. `#include` reads what the process may, unless `sandbox_includes=True`
/// keeps it below the file's folder and `include_paths`. Raises `OSError` if the file cannot be read. The options are those of `compile`, and:
///
/// sources: more files to be linked with it; not available yet.
#[pyfunction]
#[pyo3(signature = (path, **options), text_signature = "(path, *, sources=(), width=16, engine='auto', fp='contract', \
    check=False, include_paths=(), sandbox_includes=None, defines={}, fuel=None, timeout=None, memory=None, \
    task_threads=None, jit={}, hints=False)")]
pub fn compile_file(py: Python<'_>, path: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Module> {
    let options = options.map(|options| options.copy()).transpose()?;
    let sources = options.as_ref().map_or(Ok(None), |options| options.get_item("sources"))?;
    if sources.as_ref().map_or(Ok(false), |sources| sources.is_truthy())? {
        return Err(PyValueError::new_err("sources: linking several files is not available yet"));
    }
    if let (Some(options), Some(_)) = (&options, &sources) {
        options.del_item("sources")?;
    }
    let options = options::parse("compile_file", options.as_ref())?;
    if path.cast::<PyString>().is_ok_and(|text| text.to_string_lossy().contains(['\n', '\r'])) {
        let message =
            "compile_file() takes the path of a file, but was given several lines of text; use spmdvm.compile(text)";
        return Err(PyValueError::new_err(message));
    }
    let path: PathBuf = path.extract().map_err(|_| {
        let given = crate::scalar::describe(path);
        PyTypeError::new_err(format!("compile_file() expects the path of a file, but was given {given}"))
    })?;
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(PyValueError::new_err("compile_file(): the path holds a null character"));
    }
    build_file(py, &path, options)
}

fn build_file(py: Python<'_>, path: &Path, options: Options) -> PyResult<Module> {
    let given = path.as_os_str();
    let readable = py.detach(|| match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(std::io::Error::from_raw_os_error(libc::EISDIR)),
        Ok(found) if found.is_file() => std::fs::File::open(path).map(drop),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    });
    // With its number, `OSError` becomes the class for it.
    readable.map_err(|error| match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, given.to_owned()))
        }
        None => PyErr::from(error),
    })?;
    let name = path.display().to_string();
    let module = until_interrupted(py, options, |options| spmdvm::Module::compile_file(path, options))?;
    let source = module.as_ref().ok().and_then(|module| {
        let mut files = module.sources().files();
        files.find_map(|(_, file)| (file.name == name).then(|| file.text.to_string()))
    });
    let module = finish(py, module, name, source.unwrap_or_default(), true)?;
    module.warn(py)?;
    Ok(module)
}

fn build(py: Python<'_>, name: String, source: String, options: Options) -> PyResult<Module> {
    let module = until_interrupted(py, options, |options| spmdvm::Module::compile(&name, &source, options))?;
    finish(py, module, name, source, false)
}

/// A compilation without the GIL that Ctrl-C ends.
fn until_interrupted<R: Send>(
    py: Python<'_>,
    options: Options,
    compile: impl FnOnce(&Options) -> R + Send,
) -> PyResult<R> {
    let watch = interrupt::Watch::start(py, None)?;
    let options = Options { interrupt: Some(watch.ctrl_c(py)), ..options };
    Ok(py.detach(|| compile(&options)))
}

fn finish(
    py: Python<'_>,
    module: Result<spmdvm::Module, CompileError>,
    name: String,
    source: String,
    is_file: bool,
) -> PyResult<Module> {
    let module = module.map_err(|error| errors::compile_error(py, &error))?;
    module.check_engine().map_err(|error| errors::call_error(py, error))?;
    Ok(Module::of(Arc::new(Compiled { module, name, source, is_file })))
}

impl Module {
    /// The Python object for a compiled program.
    pub fn of(compiled: Arc<Compiled>) -> Module {
        Module { compiled, functions: PyOnceLock::new() }
    }

    /// Shows the compiler's warnings.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let module = &self.compiled.module;
        errors::warn(py, module.warnings(), module.sources())
    }

    /// The exported functions, made when first asked for.
    fn functions(&self, py: Python<'_>) -> PyResult<&[Py<Function>]> {
        let make = || {
            let find = |name: &str| Function::find(&self.compiled, name).map(|f| Py::new(py, f));
            self.names().into_iter().filter_map(find).collect::<PyResult<Vec<_>>>()
        };
        self.functions.get_or_try_init(py, make).map(Vec::as_slice)
    }

    /// The names of the exported functions, each once.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for export in self.compiled.module.exports() {
            if !names.contains(&export.name.as_str()) {
                names.push(&export.name);
            }
        }
        names
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<Option<Py<Function>>> {
        Ok(self.functions(py)?.iter().find(|f| f.get().name == name).map(|f| f.clone_ref(py)))
    }

    fn no_function(&self, name: &str) -> String {
        let names = self.names();
        match spmdvm::frontend::diag::closest(name, names.iter().copied()) {
            Some(close) => format!("the module exports no function `{name}`; did you mean `{close}`?"),
            None if names.is_empty() => {
                format!("the module exports no function `{name}`; it exports none (put `export` before a function)")
            }
            None => format!("the module exports no function `{name}`; it exports {}", names.join(", ")),
        }
    }
}

#[pymethods]
impl Module {
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<Function>> {
        self.find(py, name)?.ok_or_else(|| PyAttributeError::new_err(self.no_function(name)))
    }

    fn __getitem__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Py<Function>> {
        let Ok(name) = name.extract::<String>() else {
            let message = format!("functions of a module are found by their names, not by {}", options::show(name));
            return Err(PyTypeError::new_err(message));
        };
        self.find(py, &name)?.ok_or_else(|| PyKeyError::new_err(self.no_function(&name)))
    }

    fn __contains__(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    fn __dir__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let names = py.get_type::<PyAny>().call_method1("__dir__", (slf,))?.cast_into::<PyList>()?;
        slf.get().names().into_iter().try_for_each(|name| names.append(name))?;
        Ok(names)
    }

    fn __repr__(&self) -> String {
        let names = self.names();
        let names = if names.is_empty() { "exports nothing".into() } else { names.join(", ") };
        format!("<spmdvm module {:?}: {names}; width {}>", self.compiled.name, self.width())
    }

    /// The names of the exported functions.
    #[getter]
    fn exports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.names())
    }

    /// The compiler's warnings, a list of `Diagnostic`.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let module = &self.compiled.module;
        PyList::new(py, errors::diagnostics(py, module.warnings(), module.sources())?)
    }

    /// The program's global variables by name, as numpy views: a mapping (see `spmdvm.Globals`).
    #[getter]
    fn globals(&self) -> Globals {
        Globals::of(&self.compiled)
    }

    /// Gives the program the address of an array, to be stored in structs that are passed.
    ///
    /// `bind(array)` gives a `Pointer` to a C-contiguous array, which is good while the `Pointer` lives.
    /// `bind(record, field=array, …)` stores such addresses in the pointer fields of a record (an element of a
    /// structured array, `records[i]`, or an array of one) and keeps them for as long as the memory of the record
    /// lives or the field is bound anew. `None` stores null, and a `Pointer` its address. Gives the record.
    ///
    /// From then on calls of the module take turns, as if it had globals. Programs cannot use addresses that were
    /// stored otherwise: accesses trap (`BadPointer`).
    #[pyo3(signature = (target, /, **fields), text_signature = "($self, target, /, **fields)")]
    fn bind<'py>(
        slf: &Bound<'py, Self>,
        target: &Bound<'py, PyAny>,
        fields: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(fields) = fields {
            let function = slf.py().import("spmdvm._records")?.getattr("bind")?;
            return function.call1((slf, target, fields));
        }
        let Ok(array) = target.cast::<PyUntypedArray>() else {
            let given = crate::scalar::describe(target);
            return Err(PyTypeError::new_err(format!("bind() takes a numpy array, but was given {given}")));
        };
        Ok(Bound::new(slf.py(), Pointer::to_array(&slf.get().compiled, array)?)?.into_any())
    }

    /// The text of the program.
    #[getter]
    fn source(&self) -> &str {
        &self.compiled.source
    }

    /// The path of the program's file, or "<string>".
    #[getter]
    fn name(&self) -> &str {
        &self.compiled.name
    }

    /// The number of lanes of the gang.
    #[getter]
    fn width(&self) -> usize {
        self.compiled.module.options().width.lanes()
    }

    /// The bytecode as text.
    #[pyo3(text_signature = "($self)")]
    fn disassemble(&self, py: Python<'_>) -> String {
        py.detach(|| self.compiled.module.disassemble())
    }

    /// What the JIT did with the loops that were hot so far, as text: where each is, what was compiled in what time, how often
    /// it was entered and how it was left, or why it is interpreted. ir=True adds the optimised code of each loop, asm=True
    /// machine code. With line=N instead what became of that line of the source: compiled or not and why, with which masks, how
    /// compiled code was left there, and what about it takes time.
    #[pyo3(signature = (line=None, *, ir=false, asm=false), text_signature = "($self, line=None, *, ir=False, asm=False)")]
    fn explain(&self, py: Python<'_>, line: Option<&Bound<'_, PyAny>>, ir: bool, asm: bool) -> PyResult<String> {
        let module = &self.compiled.module;
        match line {
            Some(given) => {
                let line: usize = given.extract().map_err(|_| {
                    PyTypeError::new_err(format!("line must be the number of a line, not {}", options::show(given)))
                })?;
                py.detach(|| module.explain_line(line)).map_err(PyValueError::new_err)
            }
            None => Ok(py.detach(|| module.jit_text(Show { ir, asm, ..Show::default() }))),
        }
    }

    /// What check mode has found in the calls so far, a list of `Finding`, each place once. Only modules that were compiled with
    /// `check` find anything. `str(finding)` shows its place in the source.
    #[pyo3(text_signature = "($self)")]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let report = py.detach(|| self.compiled.module.report());
        crate::report::findings(py, &report)
    }

    /// Facts about the program and what runs it: `engine`, `width`, numbers of `functions` and `instructions`, of `traces`
    /// (compiled versions of loops), their `code_bytes` (and the `code_limit`), `compile_seconds` (of which `first_seconds` until
    /// they could be entered) and `native_seconds` (spent in them, estimated from one entry in 64), and `loops`: for every loop that
    /// was hot its `file`, `function`, `line`, `aborted` (why it is interpreted, or None), `aborted_line` (of the instruction that
    /// is the reason), `remakes` (how often it was compiled anew) and `versions`, each with `seconds`, `first_seconds`, `draft` (is
    /// better code still to come?), `native_seconds`, `code_bytes`, `entries`, `exits` (how often it was left, by reason), `guards`
    /// (the same by instruction: `why`, `function`, `line`, `times`) and `variants`: every variant chosen in it (`variant`,
    /// `function`, `line`, `hit`: how often it suited, `missed`: how often its test failed).
    #[pyo3(text_signature = "($self)")]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let module = &self.compiled.module;
        let program = module.program();
        let stats = PyDict::new(py);
        stats.set_item("engine", module.engine_name())?;
        stats.set_item("width", self.width())?;
        stats.set_item("functions", program.functions.len())?;
        stats.set_item("instructions", program.functions.iter().map(|f| f.code.len()).sum::<usize>())?;
        crate::stats::add_loops(module, &stats)?;
        Ok(stats)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let rebuild = py.import("spmdvm._spmdvm")?.getattr("_rebuild")?;
        let options = self.compiled.module.options();
        let mut include_paths = options.include_paths.clone();
        if self.compiled.is_file {
            // What the file includes is found beside it.
            include_paths.insert(0, Path::new(&self.compiled.name).parent().unwrap_or(Path::new("")).to_owned());
        }
        let limits = &options.limits;
        let sandbox_includes = options.sandbox_includes.or(self.compiled.is_file.then_some(false));
        let (engine, fp) = (options.engine.name().into(), options.fp.name().into());
        let choices = (options.width.lanes() as u32, engine, fp, sandbox_includes);
        let bounds = (limits.fuel, limits.timeout.map(|t| t.as_secs_f64()), limits.memory, options.threads);
        let text = (self.compiled.name.clone(), self.compiled.source.clone());
        let no_warn: Vec<String> = options.no_warn.iter().map(|code| code.id().into()).collect();
        let checks = options.check.names().map(str::to_owned).collect();
        let names = (options.defines.clone(), options.jit.changes(), no_warn, checks);
        Ok((rebuild, (text, choices, include_paths, names, bounds)))
    }
}

type Texts = (String, String);
type Choices = (u32, String, String, Option<bool>);
type Bounds = (Option<u64>, Option<f64>, Option<u64>, Option<usize>);
type Names = (Pairs, Pairs, Vec<String>, Vec<String>);
type Pickled = (Texts, Choices, Vec<PathBuf>, Names, Bounds);

/// Compiles a pickled module again.
#[pyfunction]
pub fn _rebuild(
    py: Python<'_>,
    text: Texts,
    choices: Choices,
    include_paths: Vec<PathBuf>,
    names: Names,
    bounds: Bounds,
) -> PyResult<Module> {
    let (fuel, timeout, memory, threads) = bounds;
    let (width, engine, fp, sandbox_includes) = choices;
    let options = Options {
        width: Width::new(width).unwrap_or_default(),
        engine: engine.parse().map_err(PyValueError::new_err)?,
        fp: fp.parse().map_err(PyValueError::new_err)?,
        include_paths,
        sandbox_includes,
        defines: names.0,
        jit: options::jit(names.1)?,
        no_warn: names.2.iter().filter_map(|id| Code::from_id(id)).collect(),
        check: names.3.iter().filter_map(|name| FindingKind::from_name(name)).fold(Checks::NONE, Checks::with),
        limits: Limits { fuel, timeout: options::seconds(timeout), memory },
        threads,
        lazy: true,
        ..Options::default()
    };
    build(py, text.0, text.1, options)
}
