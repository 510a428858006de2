//! Compiling, and what a compiled module offers.

use crate::errors;
use crate::function::Function;
use pyo3::exceptions::{PyAttributeError, PyFileNotFoundError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use spmdvm::Show;
use spmdvm::{CompileError, Engine, Fp, JitSettings, Limits, Options, Width};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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
/// Made by `spmdvm.compile`. `module.f` (or `module["f"]`, if the name is taken) is the exported function `f`. A module may
/// be called from any thread. It pickles as its source and options.
#[pyclass(frozen, module = "spmdvm", weakref)]
pub struct Module {
    compiled: Arc<Compiled>,
    functions: PyOnceLock<Vec<Py<Function>>>,
}

/// Compiles a program.
///
/// `source_or_path` is a path (`os.PathLike`, or a string that ends in .ispc or names a file) or the text of a program.
/// Raises `CompileError` with all diagnostics if the program is wrong, `FileNotFoundError` if there is no such file.
///
/// width: lanes of the gang, 1 to 64 in powers of two; "native": as many float lanes as this CPU's vectors have.
/// engine: "auto" (the fastest that runs here), "interp", or a JIT: "x86" (native code for machines with AVX-512), "clif"
///     (native code for others), "ir" (what they make code from, interpreted: for tests). docs/jit.md says what each needs.
/// fp: "contract" (a*b+c is fused), "strict" or "fast".
/// check: check mode; not available yet.
/// include_paths: folders for #include. Programs given as text include only from there.
/// defines: macros, name to value.
/// fuel: loop iterations and calls that one call may take; over arrays, for each stretch of evenly spaced elements.
/// timeout: seconds that one call may take.
/// memory: bytes that the program may allocate.
/// task_threads: threads that run the tasks a program launches; None: as many as there are cores. With 1, tasks run in
///     order, one after another. Results do not depend on it, unless tasks race.
/// jit: settings of the JIT by name, such as {"hot": 10, "background": False, "one_lane": False}; docs/jit.md has the table.
///     Results do not depend on them.
/// hints: put hints about performance among the module's `warnings`: what goes lane by lane in loops.
#[pyfunction]
#[pyo3(signature = (source_or_path, *, width=None, engine="auto", fp="contract", check=false, include_paths=None,
    defines=None, fuel=None, timeout=None, memory=None, task_threads=None, jit=None, hints=false),
    text_signature = "(source_or_path, *, width=16, engine='auto', fp='contract', check=False, include_paths=(), \
    defines={}, fuel=None, timeout=None, memory=None, task_threads=None, jit={}, hints=False)")]
#[allow(clippy::too_many_arguments)]
pub fn compile(
    py: Python<'_>,
    source_or_path: &Bound<'_, PyAny>,
    width: Option<&Bound<'_, PyAny>>,
    engine: &str,
    fp: &str,
    check: bool,
    include_paths: Option<&Bound<'_, PyAny>>,
    defines: Option<&Bound<'_, PyDict>>,
    fuel: Option<u64>,
    timeout: Option<f64>,
    memory: Option<u64>,
    task_threads: Option<NonZeroUsize>,
    jit: Option<&Bound<'_, PyDict>>,
    hints: bool,
) -> PyResult<Module> {
    if check {
        return Err(PyValueError::new_err("check=True: check mode is not available yet"));
    }
    let options = Options {
        width: width.map_or(Ok(Width::DEFAULT), parse_width)?,
        engine: engine.parse::<Engine>().map_err(PyValueError::new_err)?,
        fp: fp.parse::<Fp>().map_err(PyValueError::new_err)?,
        include_paths: parse_include_paths(include_paths)?,
        defines: parse_names("defines", defines)?,
        hints,
        limits: Limits { fuel, timeout: parse_timeout(timeout)?, memory },
        threads: task_threads.map(NonZeroUsize::get),
        jit: parse_jit(parse_names("jit", jit)?)?,
        lazy: true,
        ..Options::default()
    };
    match parse_source(source_or_path)? {
        Input::Text(text) => build(py, STRING_NAME.into(), text, options),
        Input::File(path) => {
            let source = read(py, &path)?;
            let module = py.detach(|| spmdvm::Module::compile_file(&path, &options));
            finish(py, module, path.display().to_string(), source, true)
        }
    }
}

fn build(py: Python<'_>, name: String, source: String, options: Options) -> PyResult<Module> {
    let module = py.detach(|| spmdvm::Module::compile(&name, &source, &options));
    finish(py, module, name, source, false)
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

enum Input {
    Text(String),
    File(PathBuf),
}

/// Is it a path or a program?
fn parse_source(given: &Bound<'_, PyAny>) -> PyResult<Input> {
    let Ok(text) = given.cast::<PyString>() else {
        return given.extract::<PathBuf>().map(Input::File).map_err(|_| {
            let message = format!(
                "compile() expects the text of a program or the path of a file, but was given {}",
                crate::scalar::describe(given)
            );
            PyTypeError::new_err(message)
        });
    };
    let text: String = text.extract()?;
    if text.contains(['\n', '{', ';']) {
        return Ok(Input::Text(text));
    }
    if text.ends_with(".ispc") || Path::new(&text).is_file() {
        return Ok(Input::File(text.into()));
    }
    let message = format!("{text:?} is neither the text of a program nor the path of a file that exists");
    Err(PyValueError::new_err(message))
}

/// The text of the file, with Python's own errors if it cannot be read.
fn read(py: Python<'_>, path: &Path) -> PyResult<String> {
    let bytes = py.detach(|| std::fs::read(path)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err((libc::ENOENT, "No such file or directory", path.display().to_string()))
        }
        _ => PyErr::from(error),
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse_width(given: &Bound<'_, PyAny>) -> PyResult<Width> {
    if let Ok(text) = given.cast::<PyString>() {
        if text == "native" {
            return Ok(native_width());
        }
    } else if let Some(width) = given.extract().ok().and_then(Width::new) {
        return Ok(width);
    }
    let message = format!("width must be 1, 2, 4, 8, 16, 32, 64 or \"native\", not {}", given.repr()?);
    Err(PyValueError::new_err(message))
}

/// As many lanes as this machine's vectors have `float`s.
fn native_width() -> Width {
    #[cfg(target_arch = "x86_64")]
    let lanes = match () {
        () if std::arch::is_x86_feature_detected!("avx512f") => 16,
        () if std::arch::is_x86_feature_detected!("avx2") => 8,
        () => 4,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let lanes = 4;
    Width::new(lanes).unwrap_or_default()
}

fn parse_include_paths(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<PathBuf>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("include_paths must be a list of paths, not one string"));
    }
    given.try_iter()?.map(|path| path?.extract()).collect()
}

fn parse_jit(changes: Vec<(String, String)>) -> PyResult<JitSettings> {
    let mut settings = JitSettings::default();
    for (name, value) in changes {
        settings.set(&name, &value).map_err(PyValueError::new_err)?;
    }
    Ok(settings)
}

/// Names and values of a dictionary: of the argument `what`.
fn parse_names(what: &str, given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let mut defines = Vec::new();
    for (name, value) in given.iter() {
        let name: String =
            name.extract().map_err(|_| PyTypeError::new_err(format!("{what}: names must be strings")))?;
        let value = match () {
            () if value.is_none() => String::new(),
            () if value.is_instance_of::<pyo3::types::PyBool>() => u8::from(value.is_truthy()?).to_string(),
            () => value.str()?.to_string(),
        };
        defines.push((name, value));
    }
    Ok(defines)
}

fn parse_timeout(given: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(seconds) = given else { return Ok(None) };
    if seconds.is_nan() || seconds < 0.0 {
        return Err(PyValueError::new_err(format!("timeout must be a number of seconds, not {seconds}")));
    }
    // Longer than any process lives.
    Ok(Duration::try_from_secs_f64(seconds).ok())
}

impl Module {
    /// The Python object for a compiled program.
    pub fn of(compiled: Arc<Compiled>) -> Module {
        Module { compiled, functions: PyOnceLock::new() }
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

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<Function>> {
        self.find(py, name)?.ok_or_else(|| PyKeyError::new_err(self.no_function(name)))
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
    fn explain(&self, py: Python<'_>, line: Option<usize>, ir: bool, asm: bool) -> PyResult<String> {
        let module = &self.compiled.module;
        match line {
            Some(line) => py.detach(|| module.explain_line(line)).map_err(PyValueError::new_err),
            None => Ok(py.detach(|| module.jit_text(Show { ir, asm, ..Show::default() }))),
        }
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
        let choices = (options.width.lanes() as u32, options.engine.name().into(), options.fp.name().into());
        let bounds = (limits.fuel, limits.timeout.map(|t| t.as_secs_f64()), limits.memory, options.threads);
        let text = (self.compiled.name.clone(), self.compiled.source.clone());
        let names = (options.defines.clone(), options.jit.changes());
        Ok((rebuild, (text, choices, include_paths, names, bounds)))
    }
}

type Texts = (String, String);
type Choices = (u32, String, String);
type Bounds = (Option<u64>, Option<f64>, Option<u64>, Option<usize>);
type Names = Vec<(String, String)>;
type Pickled = (Texts, Choices, Vec<PathBuf>, (Names, Names), Bounds);

/// Compiles a pickled module again.
#[pyfunction]
pub fn _rebuild(
    py: Python<'_>,
    text: Texts,
    choices: Choices,
    include_paths: Vec<PathBuf>,
    names: (Names, Names),
    bounds: Bounds,
) -> PyResult<Module> {
    let (fuel, timeout, memory, threads) = bounds;
    let (width, engine, fp) = choices;
    let options = Options {
        width: Width::new(width).unwrap_or_default(),
        engine: engine.parse().map_err(PyValueError::new_err)?,
        fp: fp.parse().map_err(PyValueError::new_err)?,
        include_paths,
        defines: names.0,
        jit: parse_jit(names.1)?,
        limits: Limits { fuel, timeout: parse_timeout(timeout)?, memory },
        threads,
        lazy: true,
        ..Options::default()
    };
    build(py, text.0, text.1, options)
}
