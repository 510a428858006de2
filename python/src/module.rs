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
use spmdvm::{Checks, Code, CompileError, FindingKind, Limits, Options, Source, Width};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a source string is called in messages.
const STRING_NAME: &str = "<string>";

/// A compiled program with the texts it came from.
pub struct Compiled {
    pub module: spmdvm::Module,
    /// The sources, the main one first.
    sources: Vec<Text>,
}

/// A source of a program.
#[derive(Clone)]
struct Text {
    /// The path, if it is a file; else what messages call it.
    name: String,
    text: String,
    is_file: bool,
}

/// A compiled module: its exported functions are its attributes.
///
/// Made by `spmdvm.compile` and `spmdvm.compile_file`. `module.f` (or `module["f"]`, if the name is taken) is the
/// exported function `f`. A module may be called from any thread. It pickles as its source and options; what is in its
/// globals is not carried.
#[pyclass(frozen, module = "spmdvm", weakref)]
pub struct Module {
    pub compiled: Arc<Compiled>,
    functions: PyOnceLock<Vec<Py<Function>>>,
    /// The program that the stepper runs, if it is another one.
    by_steps: PyOnceLock<Option<Arc<Compiled>>>,
}

/// Compiles the text of a program.
///
/// `source` is text; if it is an `os.PathLike`, `compile_file` compiles that file. A string is never taken for a path. A list
/// of them is compiled to one program: each source by itself (with its own macros and `static`s), then all are linked; instead of
/// a text it may hold `(name, text)`, with the name that messages show.
/// Raises `CompileError` with all diagnostics if the program is wrong. Warnings are issued as `CompileWarning` and kept
/// in the module's `warnings`.
///
/// width: lanes of the gang, 1 to 64 in powers of two; "native": as many float lanes as this CPU's vectors have.
/// engine: "auto" (the fastest that runs here), "interp", or a JIT: "x86" (native code for machines with AVX-512 or AVX2), "clif"
///     (native code for others), "ir" (what they make code from, interpreted: for tests). docs/jit.md says what each needs.
/// fp: "contract" (a*b+c is fused), "strict" (nothing is) or "fast" (and x/u of a uniform u is x*(1/u)).
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
/// host: functions that the program may call, for what it declares `extern "C"`: a dictionary of callables by name (also function
///     pointers of ctypes or cffi), the path of a shared library, or a list of these. Callables see pointers as numpy arrays, and
///     varying parameters as arrays of the active lanes' values (numbers, lane after lane, with `per_lane`); what they raise
///     ends the call as it is. Functions in C can do anything: memory is not safe any more. docs/python.md says more.
///
/// Limits that always hold: calls nest at most 65,536 deep, and their variables take at most 64 MiB of stack (and 64
/// MiB more for those that lie in memory); a task has as much.
#[pyfunction]
#[pyo3(signature = (source, **options), text_signature = "(source, *, width=16, engine='auto', fp='contract', \
    check=False, include_paths=(), sandbox_includes=None, defines={}, fuel=None, timeout=None, memory=None, \
    task_threads=None, jit={}, hints=False, no_warn=(), host=None)")]
pub fn compile(py: Python<'_>, source: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Module> {
    let module = _compile_silently(py, source, options)?;
    module.warn(py)?;
    Ok(module)
}

/// As `compile`, but warnings are only kept, not issued: Python's way of ignoring them (`warnings.catch_warnings`) is for programs
/// with one thread.
#[pyfunction]
#[pyo3(signature = (source, **options))]
pub fn _compile_silently(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Module> {
    let options = options::parse("compile", options)?;
    if source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() {
        return build(py, several("compile", source)?, options);
    }
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
    let text = program_text(text)?;
    build(py, vec![Text { name: STRING_NAME.into(), text, is_file: false }], options)
}

/// The text of a program that a string holds.
fn program_text(given: &Bound<'_, PyString>) -> PyResult<String> {
    let no_text = |_| {
        let message = "compile(): the text holds half of a surrogate pair, which is no character";
        PyValueError::new_err(message)
    };
    let text: String = given.extract().map_err(no_text)?;
    if text.trim_end().ends_with(".ispc") && !text.contains(['\n', '\r']) {
        let message = format!(
            "compile() takes the text of a program, and {} looks like the path of a file; \
             use spmdvm.compile_file(path)",
            options::show(given.as_any())
        );
        return Err(PyValueError::new_err(message));
    }
    Ok(text)
}

/// The sources of a list: texts, names with texts, and paths, of which the files are read.
fn several(function: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Text>> {
    let mut sources = Vec::new();
    for (i, source) in given.try_iter()?.enumerate() {
        let source = source?;
        let wrong = || {
            PyTypeError::new_err(format!(
                "{function}(): source {} must be a text, a path, or a tuple of name and text, not {}",
                i + 1,
                crate::scalar::describe(&source)
            ))
        };
        if let Ok(text) = source.cast::<PyString>() {
            let name = format!("<string {}>", i + 1);
            sources.push(Text { name, text: program_text(text)?, is_file: false });
        } else if let Ok(pair) = source.cast::<PyTuple>() {
            let (name, text): (String, Bound<'_, PyString>) = pair.extract().map_err(|_| wrong())?;
            sources.push(Text { name, text: program_text(&text)?, is_file: false });
        } else if source.hasattr("__fspath__")? {
            sources.push(read_source(source.py(), &source.extract::<PathBuf>()?)?);
        } else {
            return Err(wrong());
        }
    }
    match sources.is_empty() {
        true => Err(PyValueError::new_err(format!("{function}(): there is no source in the list"))),
        false => Ok(sources),
    }
}

/// The text of a file. Messages call it by its path.
fn read_source(py: Python<'_>, path: &Path) -> PyResult<Text> {
    check_readable(py, path)?;
    let bytes = py.detach(|| std::fs::read(path))?;
    Ok(Text { name: path.display().to_string(), text: String::from_utf8_lossy(&bytes).into_owned(), is_file: true })
}

impl Text {
    fn input(&self) -> Source<'_> {
        match self.is_file {
            true => Source::Read { path: Path::new(&self.name), text: &self.text },
            false => Source::Text { name: &self.name, text: &self.text },
        }
    }
}

/// Compiles a file.
///
/// `path` is a string or an `os.PathLike`. `#include` reads what the process may, unless `sandbox_includes=True`
/// keeps it below the file's folder and `include_paths`. Raises `OSError` if the file cannot be read. The options are those
/// of `compile`, and:
///
/// sources: paths of more files. Each is compiled by itself, then all are linked to one program. What one needs of another it
///     declares (`extern`), best in a header that both include. Files that have not changed are not compiled again.
#[pyfunction]
#[pyo3(signature = (path, **options), text_signature = "(path, *, sources=(), width=16, engine='auto', fp='contract', \
    check=False, include_paths=(), sandbox_includes=None, defines={}, fuel=None, timeout=None, memory=None, \
    task_threads=None, jit={}, hints=False, no_warn=(), host=None)")]
pub fn compile_file(py: Python<'_>, path: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Module> {
    let options = options.map(|options| options.copy()).transpose()?;
    let sources = options.as_ref().map_or(Ok(None), |options| options.get_item("sources"))?;
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
    let others = sources.map_or(Ok(Vec::new()), |sources| other_files(&sources))?;
    let module = if others.is_empty() {
        build_file(py, &path, options)?
    } else {
        let files = std::iter::once(path).chain(others);
        build(py, files.map(|path| read_source(py, &path)).collect::<PyResult<_>>()?, options)?
    };
    module.warn(py)?;
    Ok(module)
}

/// The paths that `sources` is a list of.
fn other_files(sources: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    let wrong = |expected: &str, given: &Bound<'_, PyAny>| {
        PyTypeError::new_err(format!("sources{expected}, not {}", options::show(given)))
    };
    let no_list = sources.is_instance_of::<PyString>() || sources.hasattr("__fspath__")?;
    let Some(list) = sources.try_iter().ok().filter(|_| !no_list) else {
        return Err(wrong(" must be a list of paths", sources));
    };
    let path = |path: PyResult<Bound<'_, PyAny>>| {
        let path = path?;
        path.extract().map_err(|_| wrong(": each must be a path", &path))
    };
    list.map(path).collect()
}

/// Fails with an `OSError` if there is no file to be read at a path.
fn check_readable(py: Python<'_>, path: &Path) -> PyResult<()> {
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
    })
}

fn build_file(py: Python<'_>, path: &Path, options: Options) -> PyResult<Module> {
    check_readable(py, path)?;
    let name = path.display().to_string();
    let module = until_interrupted(py, options, |options| spmdvm::Module::compile_file(path, options))?;
    let source = module.as_ref().ok().and_then(|module| {
        let mut files = module.sources().files();
        files.find_map(|(_, file)| (file.name == name).then(|| file.text.to_string()))
    });
    let source = Text { name, text: source.unwrap_or_default(), is_file: true };
    finish(py, module, vec![source])
}

/// Compiles a text; several sources are linked.
fn build(py: Python<'_>, sources: Vec<Text>, options: Options) -> PyResult<Module> {
    let module = compile_sources(py, &sources, options)?;
    finish(py, module, sources)
}

fn compile_sources(
    py: Python<'_>,
    sources: &[Text],
    options: Options,
) -> PyResult<Result<spmdvm::Module, CompileError>> {
    match sources {
        [Text { name, text, is_file: false }] => {
            until_interrupted(py, options, |options| spmdvm::Module::compile(name, text, options))
        }
        several => {
            let inputs: Vec<Source<'_>> = several.iter().map(Text::input).collect();
            until_interrupted(py, options, |options| spmdvm::Module::compile_all(&inputs, options))
        }
    }
}

/// A compilation without the GIL that Ctrl-C ends.
fn until_interrupted<R: Send>(
    py: Python<'_>,
    options: Options,
    compile: impl FnOnce(&Options) -> R + Send,
) -> PyResult<R> {
    let watch = interrupt::Watch::start(py, None, None)?;
    let options = Options { interrupt: Some(watch.ctrl_c(py)), ..options };
    Ok(py.detach(|| compile(&options)))
}

fn finish(py: Python<'_>, module: Result<spmdvm::Module, CompileError>, sources: Vec<Text>) -> PyResult<Module> {
    let module = module.map_err(|error| errors::compile_error(py, &error))?;
    module.check_engine().map_err(|error| errors::call_error(py, error))?;
    Ok(Module::of(Arc::new(Compiled { module, sources })))
}

impl Compiled {
    /// The same program with all of its variables kept, for the stepper; `None` if calls of it could be told from calls
    /// of this one, or what it includes is no longer what it was.
    pub fn with_variables(&self, py: Python<'_>) -> PyResult<Option<Compiled>> {
        if !self.module.is_interchangeable() {
            return Ok(None);
        }
        let options = Options { keep_variables: true, ..self.module.options().clone() };
        let Ok(module) = compile_sources(py, &self.sources, options)? else { return Ok(None) };
        let texts = |module: &spmdvm::Module| -> Vec<(String, String)> {
            module.sources().files().map(|(_, file)| (file.name.to_string(), file.text.to_string())).collect()
        };
        let same = texts(&module) == texts(&self.module);
        Ok(same.then(|| Compiled { module, sources: self.sources.clone() }))
    }

    /// The name of the program: of its main source.
    fn name(&self) -> &str {
        self.sources.first().map_or("", |source| &source.name)
    }
}

impl Module {
    /// The Python object for a compiled program.
    pub fn of(compiled: Arc<Compiled>) -> Module {
        Module { compiled, functions: PyOnceLock::new(), by_steps: PyOnceLock::new() }
    }

    /// The program that the stepper runs.
    pub fn by_steps(&self, py: Python<'_>) -> PyResult<Arc<Compiled>> {
        let make = || Ok::<_, PyErr>(self.compiled.with_variables(py)?.map(Arc::new));
        Ok(Arc::clone(self.by_steps.get_or_try_init(py, make)?.as_ref().unwrap_or(&self.compiled)))
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
        match spmdvm::tools::closest(name, names.iter().copied()) {
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
        format!("<spmdvm module {:?}: {names}; width {}>", self.compiled.name(), self.width())
    }

    /// What notebooks show: the functions, and the source with what became of each line.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("spmdvm._html")?.getattr("module")?.call1((slf,))
    }

    /// What stands between the brackets of `module["…"]`.
    fn _ipython_key_completions_(&self) -> Vec<&str> {
        self.names()
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

    /// The text of the program; of a program of several sources that of the first one.
    #[getter]
    fn source(&self) -> &str {
        self.compiled.sources.first().map_or("", |source| &source.text)
    }

    /// The path of the program's file, or "<string>"; of a program of several sources that of the first one.
    #[getter]
    fn name(&self) -> &str {
        self.compiled.name()
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

    /// Says what became of each line of the source, and of the loops that were hot so far.
    ///
    /// Gives an `Explanation`: a text with the source and, under each line with code, whether it is native code, which
    /// variables differ between lanes, how memory is accessed, in how many rounds all lanes were active, and what to do;
    /// `lines` and `to_dict()` have the same as data, and notebooks show it as a page. Behind the source stands for each
    /// loop what was compiled in what time, how often it was entered and how it was left; `ir=True` adds the optimised code
    /// of each loop, `asm=True` machine code. A `profile` (of `Module.profile`) adds how often lines were executed, with
    /// how many of the lanes, and their shares of the time.
    ///
    /// With a number of a line instead what became of that line, as text: compiled or not and why, with which masks, how
    /// compiled code was left there, and what about it takes time.
    #[pyo3(
        signature = (line=None, *, ir=false, asm=false, profile=None),
        text_signature = "($self, line=None, *, ir=False, asm=False, profile=None)"
    )]
    fn explain<'py>(
        slf: &Bound<'py, Self>,
        line: Option<&Bound<'py, PyAny>>,
        ir: bool,
        asm: bool,
        profile: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let this = slf.get();
        let Some(given) = line else {
            let loops = this.loops(py, ir, asm);
            return py.import("spmdvm._explain")?.getattr("of_module")?.call1((slf, loops, profile));
        };
        let line: usize = given.extract().map_err(|_| {
            PyTypeError::new_err(format!("line must be the number of a line, not {}", options::show(given)))
        })?;
        let text = py.detach(|| this.compiled.module.explain_line(line)).map_err(PyValueError::new_err)?;
        py.import("spmdvm._html")?.getattr("Report")?.call1((text,))
    }

    /// What `explain` says of the loops.
    #[pyo3(name = "_loops", signature = (*, ir=false, asm=false), text_signature = "($self, *, ir=False, asm=False)")]
    fn loops(&self, py: Python<'_>, ir: bool, asm: bool) -> String {
        py.detach(|| self.compiled.module.jit_text(Show { ir, asm, ..Show::default() }))
    }

    /// Calls a function once and tells what each line of the source did: `profile("f", x, n)` for `f(x, n)`.
    ///
    /// `function` is a function of the module or its name; what follows are its arguments. Gives a `Profile`: rows with how often a
    /// line was executed, active lanes of possible lanes, and its share of the time; `profile.result` is the call's result.
    ///
    /// The interpreter runs the call, on one thread, tens of times as slowly as compiled code would; limits of the module hold. How
    /// often lines are executed, lanes and instructions are exact. Times are those of the interpreter, estimated from instructions
    /// that are drawn at random (one of 16, at first all).
    ///
    /// Raises what the call raises; TypeError and ValueError if there is no such function in the module.
    #[pyo3(signature = (function, /, *args, **kwargs), text_signature = "($self, function, /, *args, **kwargs)")]
    fn profile<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        crate::seeing::profile(slf, function, args, kwargs)
    }

    /// Calls a function once to step through it, forwards and backwards: `stepper("f", x, n)` for `f(x, n)`.
    ///
    /// `function` is a function of the module or its name; what follows are its arguments. Gives a `Stepper`, which stands before the
    /// first line. The reference interpreter runs the call. Arrays hold what they do at each step; if the stepper is closed before the
    /// call has returned, they are as they were.
    ///
    /// Raises TypeError and ValueError if there is no such function in the module, or it does not take these arguments.
    #[pyo3(signature = (function, /, *args, **kwargs), text_signature = "($self, function, /, *args, **kwargs)")]
    fn stepper<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("spmdvm._step")?.getattr("_of_module")?.call1((slf, function, args, kwargs))
    }

    /// Calls a function once, as fast as ever, and records its tasks: `timeline("f", x, n)` for `f(x, n)`.
    ///
    /// `function` is a function of the module or its name; what follows are its arguments. Gives a `Timeline`: which task ran on which
    /// thread from when to when; `timeline.plot_timeline()` draws it, and `timeline.result` is the call's result.
    ///
    /// Raises what the call raises; TypeError and ValueError if there is no such function in the module.
    #[pyo3(signature = (function, /, *args, **kwargs), text_signature = "($self, function, /, *args, **kwargs)")]
    fn timeline<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        crate::seeing::timeline(slf, function, args, kwargs)
    }

    /// What check mode has found in the calls so far, a list of `Finding`, each place once. Only modules that were compiled with
    /// `check` find anything. `str(finding)` shows its place in the source.
    #[pyo3(text_signature = "($self)")]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let report = py.detach(|| self.compiled.module.report());
        crate::report::findings(py, &report)
    }

    /// Facts about the program and what runs it: `engine`, `width`, numbers of `functions` and `instructions`, of
    /// `traces` (compiled versions of loops), their `code_bytes` (and the `code_limit`), `compile_seconds` (of which
    /// `first_seconds` until they could be entered) and `native_seconds` (spent in them, estimated from one entry in
    /// 64), how many instructions of the bytecode have been executed so far, about, in compiled code
    /// (`native_instructions`) and by the interpreter (`interpreted_instructions`), the share of the former
    /// (`native_share`), and `loops`: for every loop that was hot its `file`, `function`, `line`, `begins` (`loop`,
    /// `function`, or `rest` of one), `aborted` (why it is interpreted, or None), `aborted_line` (of the instruction
    /// that is the reason), `recompiles` (how often it was compiled anew), `measured` (what variants have been found to
    /// cost: `variant`, `function`, `line`, the seconds of a round `with` and `without` it, whether it was `dropped`),
    /// `looks` (how often somebody has looked whether its versions still suit what the program does, and for how many
    /// `look_seconds`) and `versions`, each with `seconds`, `first_seconds`, `baseline` (whether better code is still
    /// to come), `native_seconds`, `code_bytes`, `entries`, `exits` (how often it was left, by reason), `guards` (the
    /// same by instruction: `why`, `function`, `line`, `times`) and `variants`: every variant chosen in it (`variant`,
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
        if !options.hosts.is_empty() {
            return Err(PyTypeError::new_err("a module with functions of the host (`host=`) cannot be pickled"));
        }
        let mut include_paths = options.include_paths.clone();
        // What a file includes is found beside it.
        let files = self.compiled.sources.iter().filter(|source| source.is_file);
        let folders = files.map(|file| Path::new(&file.name).parent().unwrap_or(Path::new("")).to_owned());
        include_paths.splice(0..0, folders.collect::<Vec<_>>());
        let limits = &options.limits;
        let are_files = self.compiled.sources.iter().all(|source| source.is_file);
        let sandbox_includes = options.sandbox_includes.or(are_files.then_some(false));
        let (engine, fp) = (options.engine.name().into(), options.fp.name().into());
        let choices = (options.width.lanes() as u32, engine, fp, sandbox_includes);
        let bounds = (limits.fuel, limits.timeout.map(|t| t.as_secs_f64()), limits.memory, options.threads);
        let mut texts = self.compiled.sources.iter().map(|source| (source.name.clone(), source.text.clone()));
        let text = texts.next().unwrap_or_default();
        let no_warn: Vec<String> = options.no_warn.iter().map(|code| code.id().into()).collect();
        let checks = options.check.names().map(str::to_owned).collect();
        let names = (options.defines.clone(), options.jit.changes(), no_warn, checks);
        Ok((rebuild, (text, choices, include_paths, names, bounds, texts.collect())))
    }
}

type Texts = (String, String);
type Choices = (u32, String, String, Option<bool>);
type Bounds = (Option<u64>, Option<f64>, Option<u64>, Option<usize>);
type Names = (Pairs, Pairs, Vec<String>, Vec<String>);
type Pickled = (Texts, Choices, Vec<PathBuf>, Names, Bounds, Vec<Texts>);

/// Compiles a pickled module again.
#[pyfunction]
#[pyo3(signature = (text, choices, include_paths, names, bounds, others=Vec::new()))]
pub fn _rebuild(
    py: Python<'_>,
    text: Texts,
    choices: Choices,
    include_paths: Vec<PathBuf>,
    names: Names,
    bounds: Bounds,
    others: Vec<Texts>,
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
    let source = |(name, text)| Text { name, text, is_file: false };
    build(py, std::iter::once(text).chain(others).map(source).collect(), options)
}
