//! Runs one program on the interpreter and on every back end in every mode, at every width, and compares what can be seen:
//! results, the trap with its text and call stack, prints, the memory of both arguments, and globals through a later call.
//!
//! For tests of one thing each, which are written as `export void f(uniform int a[], uniform int b[], uniform int n)` and, if
//! they have globals, `export void peek(uniform int out[])`.

use crate::compiled::{jits, versions};
use spmdvm::{Array, CallError, Engine, JitSettings, Limits, Module, Options, Run, Value, Width};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// What a program is given.
#[derive(Clone)]
pub struct Input {
    /// The elements of `a`.
    pub a: Vec<i32>,
    /// The elements of `b`, unless it is a part of `a`.
    pub b: Vec<i32>,
    /// The element of `a` at which `b` begins, if it is a part of it.
    pub overlap: Option<usize>,
    /// The argument `n`.
    pub n: i32,
    /// The lanes that are on.
    pub mask: u64,
    /// Limits of each call.
    pub limits: Limits,
    /// How often `f` is called.
    pub calls: usize,
}

impl Default for Input {
    fn default() -> Input {
        Input {
            a: (0..80).collect(),
            b: (0..80).map(|i| i % 7 + 1).collect(),
            overlap: None,
            n: 80,
            mask: u64::MAX,
            limits: Limits { fuel: Some(1_000_000), ..Limits::default() },
            calls: 1,
        }
    }
}

/// What can be seen.
#[derive(Debug, PartialEq)]
pub struct Seen {
    /// How each call of `f` ended.
    pub ends: Vec<Option<String>>,
    /// What was printed.
    pub printed: String,
    /// The memory afterwards.
    pub a: Vec<i32>,
    /// The memory afterwards.
    pub b: Vec<i32>,
    /// What `peek` shows.
    pub globals: Vec<i32>,
}

/// The modes: at once, in every variant, and when hot, with all that takes time happening soon.
pub fn modes() -> [(&'static str, JitSettings); 4] {
    let soon = JitSettings {
        hot: 2,
        observe: 200,
        hot_exit: 1,
        same_arguments: 2,
        background: false,
        ..JitSettings::default()
    };
    let [eager, variants] = [JitSettings::eager(), JitSettings::eager_in_every_variant()];
    [("eager", eager), ("every variant", variants), ("soon", soon), ("links", JitSettings::eager_with_links(3))]
}

/// Calls `f`, then `peek`.
pub fn run(module: &Module, input: &Input) -> Seen {
    let (mut a, mut b) = (input.a.clone(), input.b.clone());
    let (start, len) = (a.as_mut_ptr(), a.len());
    // SAFETY: the vectors outlive the calls and are not touched meanwhile.
    let part =
        |start: *mut i32, len: usize| Value::Array(unsafe { Array::from_raw(start.cast(), 4 * len, None, true) });
    let second = match input.overlap {
        Some(at) => part(start.wrapping_add(at), len - at),
        None => part(b.as_mut_ptr(), b.len()),
    };
    let args = [part(start, len), second, input.n.into()];
    let printed = Arc::new(Mutex::new(String::new()));
    let mut ends = Vec::new();
    for _ in 0..input.calls {
        let sink = Arc::clone(&printed);
        let run = Run::new(module).mask(input.mask).output(move |text| sink.lock().unwrap().push_str(text));
        ends.push(trap_of(run.call("f", &args)));
    }
    let mut globals = vec![0; 80];
    if module.overloads("peek").next().is_some() {
        ends.push(module.call("peek", &[Value::slice_mut(&mut globals)]).err().map(|e| e.to_string()));
    }
    let printed = std::mem::take(&mut *printed.lock().unwrap());
    Seen { ends, printed, a, b, globals }
}

/// The trap that a call ended in, with its call stack and all it says.
pub fn trap_of<T>(end: Result<T, CallError>) -> Option<String> {
    match end {
        Ok(_) => None,
        Err(CallError::Trap(error)) => Some(format!("{error}: {:?}", error.trap())),
        Err(other) => panic!("{other}"),
    }
}

/// How often compiled code was left, by the reason.
pub type Left = HashMap<String, u64>;

/// Runs a program everywhere, each back end in another mode from one width and input to the next; panics where an engine
/// differs. Gives how compiled code was left, and what the interpreter
/// did at the last width for each input.
pub fn agree(text: &str, inputs: &[Input]) -> (Left, Vec<Seen>) {
    agree_at(&Width::ALL, text, inputs)
}

/// As [`agree`], at some widths.
pub fn agree_at(widths: &[Width], text: &str, inputs: &[Input]) -> (Left, Vec<Seen>) {
    let mut left = Left::new();
    let mut seen = Vec::new();
    for (w, &width) in widths.iter().enumerate() {
        seen.clear();
        for (i, input) in inputs.iter().enumerate() {
            let options =
                Options { width, engine: Engine::Interp, limits: input.limits, threads: Some(1), ..Options::default() };
            let module = Module::compile("test.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"));
            let expected = run(&module, input);
            for (engine, (mode, jit)) in jits().zip(modes().into_iter().cycle().skip(w + i)) {
                let options = Options { engine, jit, ..options.clone() };
                let module = Module::from_program(module.verified().clone(), &options);
                let came = run(&module, input);
                assert_eq!(came, expected, "width {width}, {engine}, {mode}, n = {}\n{text}", input.n);
                count(&module, &mut left);
            }
            seen.push(expected);
        }
    }
    (left, seen)
}

/// Adds how a module's code was left.
pub fn count(module: &Module, left: &mut Left) {
    for version in versions(module) {
        for (exit, n) in version.exits {
            *left.entry(version.region.exits[exit.index()].reason.to_string()).or_default() += n;
        }
    }
}
