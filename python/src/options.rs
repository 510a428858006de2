//! The options of `compile` and `compile_file`, each checked under its name.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use spmdvm::{Checks, Code, Engine, Fp, JitSettings, Options, Severity, Width};
use std::path::PathBuf;
use std::time::Duration;

/// The options by name, in the order in which they are documented.
const NAMES: [&str; 15] = [
    "width",
    "engine",
    "fp",
    "check",
    "include_paths",
    "sandbox_includes",
    "defines",
    "fuel",
    "timeout",
    "memory",
    "task_threads",
    "jit",
    "hints",
    "no_warn",
    "host",
];

/// Names and values.
pub type Pairs = Vec<(String, String)>;

/// The options that the keyword arguments of `function` mean.
pub fn parse(function: &str, given: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut options = Options { lazy: true, ..Options::default() };
    for (name, value) in given.into_iter().flatten() {
        set(&mut options, function, &name.extract::<String>()?, &value)?;
    }
    Ok(options)
}

fn set(options: &mut Options, function: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let limits = &mut options.limits;
    match name {
        "width" => options.width = width(value)?,
        "engine" => options.engine = choice(name, value, Engine::ALL)?,
        "fp" => options.fp = choice(name, value, Fp::ALL)?,
        "check" => options.check = checks(value)?,
        "include_paths" => options.include_paths = include_paths(value)?,
        "sandbox_includes" => options.sandbox_includes = sandbox_includes(name, value)?,
        "defines" => options.defines = macros(value)?,
        "fuel" => limits.fuel = whole(name, value, 0)?,
        "timeout" => limits.timeout = timeout(value)?,
        "memory" => limits.memory = whole(name, value, 0)?,
        "task_threads" => options.threads = whole(name, value, 1)?.map(|n| usize::try_from(n).unwrap_or(usize::MAX)),
        "jit" => options.jit = jit(pairs(name, value)?)?,
        "hints" => options.hints = flag(name, value)?,
        "no_warn" => options.no_warn = warnings(value)?,
        "host" => crate::host::provide(options, value)?,
        _ => {
            let hint = match spmdvm::tools::closest(name, NAMES) {
                Some(close) => format!("; did you mean `{close}`?"),
                None => format!("; its options are {}", NAMES.join(", ")),
            };
            return Err(PyTypeError::new_err(format!("{function}() has no option `{name}`{hint}")));
        }
    }
    Ok(())
}

/// A value as messages show it.
pub fn show(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "that".into(), |text| text.to_string());
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "..." }
}

/// The value is of the right type but means nothing, or is of a wrong type.
fn wrong(name: &str, expected: &str, value: &Bound<'_, PyAny>, is_type: bool) -> PyErr {
    let message = format!("{name} must be {expected}, not {}", show(value));
    if is_type { PyTypeError::new_err(message) } else { PyValueError::new_err(message) }
}

fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !value.is_instance_of::<PyBool>() {
        return Err(wrong(name, "True or False", value, true));
    }
    value.is_truthy()
}

fn choice<T: Copy + std::fmt::Display>(name: &str, value: &Bound<'_, PyAny>, all: &[T]) -> PyResult<T> {
    let text = value.cast::<PyString>().ok().map(|text| text.to_string());
    let found = all.iter().find(|choice| text.as_deref() == Some(&choice.to_string()));
    found.copied().ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|choice| format!("\"{choice}\"")).collect();
        let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
        wrong(name, &format!("{} or {last}", others.join(", ")), value, text.is_none())
    })
}

fn width(value: &Bound<'_, PyAny>) -> PyResult<Width> {
    if value.cast::<PyString>().is_ok_and(|text| text == "native") {
        return Ok(native_width());
    }
    let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    let found = value.extract().ok().filter(|_| is_number).and_then(Width::new);
    let is_type = !is_number && !value.is_instance_of::<PyString>();
    found.ok_or_else(|| wrong("width", "1, 2, 4, 8, 16, 32, 64 or \"native\"", value, is_type))
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

/// A whole number from `least` up, or None.
fn whole(name: &str, value: &Bound<'_, PyAny>, least: u64) -> PyResult<Option<u64>> {
    if value.is_none() {
        return Ok(None);
    }
    let index = value.call_method0("__index__").ok().filter(|_| !value.is_instance_of::<PyBool>());
    let number = index.as_ref().and_then(|n| n.extract::<u64>().ok()).filter(|&n| n >= least);
    let expected = format!("None or a whole number from {least} to {}", u64::MAX);
    number.map(Some).ok_or_else(|| wrong(name, &expected, value, index.is_none()))
}

fn timeout(value: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    if value.is_none() {
        return Ok(None);
    }
    let is_number =
        value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() || value.hasattr("__float__")?;
    let seconds = value.extract::<f64>().ok().filter(|_| is_number && !value.is_instance_of::<PyBool>());
    match seconds {
        // A bound beyond what a duration holds is longer than any process lives.
        Some(seconds) if seconds >= 0.0 => Ok(Duration::try_from_secs_f64(seconds).ok()),
        _ => Err(wrong("timeout", "None or a number of seconds from 0 up", value, seconds.is_none())),
    }
}

/// The bound of a pickled module.
pub fn seconds(seconds: Option<f64>) -> Option<Duration> {
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn sandbox_includes(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if value.is_none() { Ok(None) } else { flag(name, value).map(Some) }
}

fn include_paths(value: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let expected = "a list of paths";
    let Some(paths) = value.try_iter().ok().filter(|_| !value.is_instance_of::<PyString>()) else {
        return Err(wrong("include_paths", expected, value, true));
    };
    let path = |path: PyResult<Bound<'_, PyAny>>| {
        let path = path?;
        path.extract().map_err(|_| wrong("include_paths: each", "a path", &path, true))
    };
    paths.map(path).collect()
}

/// Codes of warnings that are not wanted.
fn warnings(value: &Bound<'_, PyAny>) -> PyResult<Vec<Code>> {
    let expected = "a list of codes of warnings, such as [\"W0212\"]";
    let Some(codes) = value.try_iter().ok().filter(|_| !value.is_instance_of::<PyString>()) else {
        return Err(wrong("no_warn", expected, value, true));
    };
    let code = |given: PyResult<Bound<'_, PyAny>>| {
        let given = given?;
        let id =
            given.extract::<String>().map_err(|_| wrong("no_warn: each", "a code such as \"W0212\"", &given, true))?;
        let found = Code::from_id(&id).filter(|code| code.severity() == Severity::Warning);
        found.ok_or_else(|| wrong("no_warn: each", "the code of a warning", &given, false))
    };
    codes.map(code).collect()
}

/// What check mode looks for: False (nothing), True, a word, or several.
fn checks(value: &Bound<'_, PyAny>) -> PyResult<Checks> {
    let expected = "False, True, \"all\", or a list of kinds such as [\"default\", \"overflow\"]";
    if value.is_none() || value.is_instance_of::<PyBool>() {
        let on = !value.is_none() && value.is_truthy()?;
        return Ok(if on { Checks::by_default() } else { Checks::NONE });
    }
    let and = |set: Checks, word: &str| set.and(word).map_err(|why| PyValueError::new_err(format!("check: {why}")));
    if let Ok(word) = value.extract::<String>() {
        return and(Checks::NONE, &word);
    }
    let Ok(words) = value.try_iter() else { return Err(wrong("check", expected, value, true)) };
    let mut set = Checks::NONE;
    for word in words {
        let word = word?;
        let text: String = word.extract().map_err(|_| wrong("check: each", "the name of a kind", &word, true))?;
        set = and(set, &text)?;
    }
    Ok(set)
}

/// Settings of the JIT from names and values.
pub fn jit(changes: Pairs) -> PyResult<JitSettings> {
    let mut settings = JitSettings::default();
    for (name, value) in changes {
        settings.set(&name, &value).map_err(|why| PyValueError::new_err(format!("jit: {why}")))?;
    }
    Ok(settings)
}

/// Names and values of the dictionary that the option `option` is.
fn pairs(option: &str, value: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let no_dictionary = |_| wrong(option, "a dictionary", value, true);
    let dictionary = match value.cast::<PyDict>() {
        // A copy: while its values are turned into texts, others may change it.
        Ok(dictionary) => dictionary.copy()?,
        Err(_) => value.py().get_type::<PyDict>().call1((value,)).map_err(no_dictionary)?.cast_into::<PyDict>()?,
    };
    let mut list = Vec::new();
    for (name, value) in dictionary.iter() {
        let name: String = name.extract().map_err(|_| wrong(&format!("{option}: names"), "strings", &name, true))?;
        let value = match () {
            () if value.is_none() => String::new(),
            () if value.is_instance_of::<PyBool>() => u8::from(value.is_truthy()?).to_string(),
            () => value.str()?.to_string(),
        };
        list.push((name, value));
    }
    Ok(list)
}

/// Macros: a name, perhaps with parameters, and one line of text.
fn macros(value: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    let list = pairs("defines", value)?;
    for (name, text) in &list {
        let head = name.split_once('(').map_or(name.as_str(), |(head, _)| head);
        let mut characters = head.chars();
        let starts = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let is_name = starts && characters.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || name.contains(['\n', '\r']) || (name.len() > head.len() && !name.ends_with(')')) {
            return Err(PyValueError::new_err(format!(
                "defines: {name:?} is no name of a macro, such as N or SQUARE(x)"
            )));
        }
        if text.contains(['\n', '\r']) {
            return Err(PyValueError::new_err(format!("defines: the text of `{name}` must be one line")));
        }
    }
    Ok(list)
}
