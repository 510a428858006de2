//! One file at one width on one engine: compile, call, compare.

use super::convention::{Input, Kind, Signature, signature, skip_rule};
use spmdvm::{CallError, CompileError, Export, HostType, HostValue, Module, Options, Run, Severity, Value};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Elements of every array that a test gets: four times the widest gang.
const ELEMENTS: usize = 256;

/// Kept of what a test prints; a comparison needs no more, and a runaway program must not fill memory.
const PRINTED_BYTES: usize = 1 << 20;

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed {
        /// What kind of failure: a word for tools.
        stage: &'static str,
        /// What happened, in one line.
        reason: String,
    },
    /// A rule, or the command line, says that it is not to be run here.
    Skipped(String),
}

impl Outcome {
    /// The file cannot be read.
    pub fn unreadable(error: &std::io::Error) -> Outcome {
        failed("read", format!("cannot be read: {error}")).into()
    }
}

/// A failure on its way up.
struct Failed {
    stage: &'static str,
    reason: String,
}

impl From<Failed> for Outcome {
    fn from(Failed { stage, reason }: Failed) -> Outcome {
        Outcome::Failed { stage, reason }
    }
}

fn failed(stage: &'static str, reason: impl Into<String>) -> Failed {
    Failed { stage, reason: reason.into() }
}

/// Runs one program. A panic of ours is reported like any other failure.
pub fn run(path: &Path, text: &str, options: &Options) -> Outcome {
    match skip_rule(text, options.width) {
        Ok(None) => {}
        Ok(Some(rule)) => return Outcome::Skipped(format!("skipped on {rule}")),
        Err(reason) => return failed("convention", reason).into(),
    }
    let attempt = || {
        let trial = Trial::new(path, text, options)?;
        trial.judge()?;
        trial.judge_findings()
    };
    match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(Ok(())) => Outcome::Passed,
        Ok(Err(failure)) => failure.into(),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            failed("panic", format!("internal error: {}", said.unwrap_or("a panic"))).into()
        }
    }
}

/// A compiled test.
struct Trial {
    signature: &'static Signature,
    module: Module,
    lanes: usize,
}

impl Trial {
    fn new(path: &Path, text: &str, options: &Options) -> Result<Trial, Failed> {
        let signature = signature(text).ok_or_else(|| {
            failed("convention", "declares no test function (f_v, f_f, …, print_fuf) with `export` or `task`")
        })?;
        let mut options = options.clone();
        options.defines.push(("TEST_SIG".into(), signature.number.to_string()));
        let module = Module::compile_file(path, &options).map_err(|e| compile_failure(&e))?;
        let mut trial = Trial { signature, module, lanes: options.width.lanes() };
        let entries = missing_entries(&trial);
        if !entries.is_empty() {
            trial.module = compile_with(path, text, &entries, options)?;
        }
        Ok(trial)
    }

    fn judge(&self) -> Result<(), Failed> {
        match self.signature.kind {
            Kind::Values => self.judge_values(),
            Kind::Size => self.judge_size(),
            Kind::Prints => self.judge_prints(),
        }
    }

    fn judge_values(&self) -> Result<(), Failed> {
        let mut returned = [-1e20f32; ELEMENTS];
        let mut inputs = Inputs::new(self.signature.inputs);
        let mut args = vec![Value::slice_mut(&mut returned)];
        args.extend(inputs.values());
        self.call(self.signature.name, &args, None)?;
        self.compare(&returned[..self.lanes])
    }

    fn judge_size(&self) -> Result<(), Failed> {
        let size = self.module.exports().iter().find_map(|e| struct_size(e, self.signature.name));
        let size = size.ok_or_else(|| failed("convention", "no exported function takes a pointer to `f_sz`"))?;
        self.compare(&[size as f32])
    }

    /// Fails if check mode has found something; without it there is nothing.
    fn judge_findings(&self) -> Result<(), Failed> {
        let report = self.module.report();
        match report.findings() {
            [] => Ok(()),
            [only] => Err(failed("check", only.to_string())),
            [first, rest @ ..] => Err(failed("check", format!("{first}, and {} more", rest.len()))),
        }
    }

    /// Compares with what the program itself expects.
    fn compare(&self, returned: &[f32]) -> Result<(), Failed> {
        let mut expected = [0f32; ELEMENTS];
        self.call(self.signature.kind.expectation(), &[Value::slice_mut(&mut expected)], None)?;
        let differing: Vec<usize> = (0..returned.len()).filter(|&i| returned[i] != expected[i]).collect();
        let Some(&first) = differing.first() else { return Ok(()) };
        let (is, should) = (returned[first], expected[first]);
        let mut reason = format!("lane {first} is {is:?}, but should be {should:?}");
        if is.to_string() == should.to_string() && !is.is_nan() {
            let _ = write!(reason, " ({:#010x}, {:#010x})", is.to_bits(), should.to_bits());
        }
        if differing.len() > 1 {
            let _ = write!(reason, " ({} of {} lanes differ)", differing.len(), returned.len());
        }
        Err(failed("values", reason))
    }

    fn judge_prints(&self) -> Result<(), Failed> {
        let printed = Printed::default();
        let mut inputs = Inputs::new(self.signature.inputs);
        self.call(self.signature.name, &inputs.values(), Some(&printed))?;
        self.call(self.signature.kind.expectation(), &[], Some(&printed))?;
        same_halves(&printed.text())
    }

    /// Calls the function of this name, or the entry that the convention's header makes for the task of this name.
    fn call(&self, name: &str, args: &[Value<'_>], printed: Option<&Printed>) -> Result<(), Failed> {
        let entry =
            entry_name(&self.module, name).ok_or_else(|| failed("convention", format!("exports no `{name}`")))?;
        let sink = printed.cloned();
        let run = Run::new(&self.module).output(move |text| {
            if let Some(printed) = &sink {
                printed.push(text);
            }
        });
        run.call(&entry, args).map(drop).map_err(|e| call_failure(&e))
    }
}

/// The name under which a test function is exported: its own, or that of the entry which launches it as a task.
fn entry_name(module: &Module, name: &str) -> Option<String> {
    let exported = |n: &String| module.overloads(n).next().is_some();
    [name.to_owned(), format!("{name}_cpu_entry_point")].into_iter().find(exported)
}

/// Text that exports what the program declares as tasks only (the convention's header does this for those who include it).
fn missing_entries(trial: &Trial) -> String {
    let signature = trial.signature;
    let is_missing = |name| entry_name(&trial.module, name).is_none();
    let mut text = String::new();
    let mut add = |name: &str, params: &[&str]| {
        let names: Vec<&str> =
            params.iter().map(|p| p.trim_end_matches("[]").rsplit(' ').next().unwrap_or(p)).collect();
        let (params, names) = (params.join(", "), names.join(", "));
        let _ = write!(text, "\nexport void {name}_cpu_entry_point({params}) {{ launch[1] {name}({names}); }}\n");
    };
    let mut params: Vec<&str> = signature.inputs.iter().map(|input| input.declaration()).collect();
    if signature.kind == Kind::Values {
        params.insert(0, "uniform float r[]");
    }
    if signature.kind != Kind::Size && is_missing(signature.name) {
        add(signature.name, &params);
    }
    match signature.kind {
        Kind::Prints if is_missing("print_result") => add("print_result", &[]),
        Kind::Values | Kind::Size if is_missing("result") => add("result", &["uniform float r[]"]),
        _ => {}
    }
    let takes_struct = |e: &Export| struct_size(e, signature.name).is_some();
    if signature.kind == Kind::Size && !trial.module.exports().iter().any(takes_struct) {
        text += "\nexport void size_of_f_sz(varying f_sz * uniform p) { }\n";
    }
    text
}

/// Compiles a program with entries added at its end.
fn compile_with(path: &Path, text: &str, entries: &str, mut options: Options) -> Result<Module, Failed> {
    options.include_paths.insert(0, path.parent().unwrap_or(Path::new("")).into());
    let name = path.display().to_string();
    Module::compile(&name, &format!("{text}{entries}"), &options).map_err(|e| compile_failure(&e))
}

/// The size of the struct of this name, if an export takes a pointer to one.
fn struct_size(export: &Export, name: &str) -> Option<u64> {
    export.params.iter().find_map(|param| match &param.value {
        HostValue::Array { elem: HostType::Struct { name: found, size, .. }, .. } => {
            found.split_whitespace().next_back().is_some_and(|word| word == name).then_some(*size)
        }
        _ => None,
    })
}

/// The arrays and scalars that tests get.
struct Inputs {
    wanted: &'static [Input],
    floats: [f32; ELEMENTS],
    doubles: [f64; ELEMENTS],
    ints: [i32; ELEMENTS],
}

impl Inputs {
    fn new(wanted: &'static [Input]) -> Inputs {
        let is_even = wanted.contains(&Input::EvenInts);
        let int = |i: usize| if is_even { 2 * (i + 1) } else { i + 5 };
        Inputs {
            wanted,
            floats: std::array::from_fn(|i| (i + 1) as f32),
            doubles: std::array::from_fn(|i| (i + 1) as f64),
            ints: std::array::from_fn(|i| int(i) as i32),
        }
    }

    /// The arguments, in the order of the parameters.
    fn values(&mut self) -> Vec<Value<'_>> {
        let (mut floats, mut doubles, mut ints) =
            (Some(&mut self.floats), Some(&mut self.doubles), Some(&mut self.ints));
        let value = |input: &Input| match input {
            Input::Floats => Value::slice_mut(floats.take().expect("one array of floats")),
            Input::Doubles => Value::slice_mut(doubles.take().expect("one array of doubles")),
            Input::EvenInts | Input::IntsFromFive => Value::slice_mut(ints.take().expect("one array of ints")),
            Input::Float => Value::from(5f32),
            Input::Double => Value::from(5f64),
        };
        self.wanted.iter().map(value).collect()
    }
}

/// What a program printed.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<String>>);

impl Printed {
    fn push(&self, text: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < PRINTED_BYTES {
            all.push_str(text);
        }
    }

    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The first half of the lines must equal the second.
fn same_halves(text: &str) -> Result<(), Failed> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return Err(failed("prints", "prints nothing"));
    }
    if !lines.len().is_multiple_of(2) {
        return Err(failed("prints", format!("prints {} lines, which are no two halves", lines.len())));
    }
    let (printed, expected) = lines.split_at(lines.len() / 2);
    match (0..printed.len()).find(|&i| printed[i] != expected[i]) {
        None => Ok(()),
        Some(i) => {
            let (is, should) = (printed[i], expected[i]);
            Err(failed("prints", format!("printed line {} is {is:?}, but should be {should:?}", i + 1)))
        }
    }
}

/// The first error in one line.
fn compile_failure(error: &CompileError) -> Failed {
    let errors: Vec<_> = error.diagnostics().iter().filter(|d| d.severity == Severity::Error).collect();
    let Some(first) = errors.first() else { return failed("compile", "does not compile") };
    let mut reason = format!("{} {}", first.code.id(), first.message);
    if let Some(label) = first.labels.first() {
        let (file, line, column) = error.sources().locate(label.span);
        let _ = write!(reason, " ({file}:{line}:{column})");
    }
    if errors.len() > 1 {
        let _ = write!(reason, " and {} more", errors.len() - 1);
    }
    failed("compile", reason)
}

fn call_failure(error: &CallError) -> Failed {
    match error {
        CallError::Trap(trap) => failed("trap", format!("trap {}: {trap}", trap.trap().kind.name())),
        CallError::Argument(e) => failed("convention", e.to_string()),
        CallError::Engine(e) => failed("engine", e.clone()),
        CallError::Compile(e) => failed("compile", e.to_string()),
    }
}
