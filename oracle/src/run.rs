//! Runs of test cases on our own engines.

use crate::outcome::{End, Outcome};
use crate::testcase::{Argument, Call, TestCase};
use crate::trace::{self, Sink};
use crate::words;
use spmdvm::vm::observe::Observer;
use spmdvm::{Array, CallError, Export, Module, Pointer, Run, TrapKind, Ty, Value};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs a test case on a module that its source was compiled to, within the module's limits. What a program leaves in its globals
/// is there at the next run on the same module: a program with state is compiled for each run.
pub fn run(case: &TestCase, module: &Module) -> Outcome {
    run_call(&case.call, module)
}

/// Runs a call; see [`run`].
pub fn run_call(call: &Call, module: &Module) -> Outcome {
    outcome(call, module, |run, export, values| run.call_export(export, values))
}

/// Runs a call on the interpreter, whatever the module's engine, under the eyes of an observer.
pub fn run_call_observed(call: &Call, module: &Module, observer: &mut impl Observer) -> Outcome {
    outcome(call, module, |run, export, values| run.call_observed(export, values, observer))
}

/// Runs a call on the interpreter and hands its trace to a sink.
pub fn record_call(call: &Call, module: &Module, sink: &mut dyn Sink) -> io::Result<()> {
    let mut written = Ok(());
    outcome(call, module, |run, export, values| {
        let recorded = trace::record(module, run, (export, values, call.mask), Arc::default(), sink);
        written = recorded.written;
        recorded.result.unwrap_or(Ok(None))
    });
    written
}

/// Hands the export that a call is of, and its arguments, to whoever makes the call in another way. `None` if no export takes
/// the arguments.
pub fn with_arguments<R>(call: &Call, module: &Module, work: impl FnOnce(&Export, &[Value<'_>]) -> R) -> Option<R> {
    let export = call.export(module)?;
    Some(work(export, &Memory::of(call).values(call)))
}

fn outcome(
    call: &Call,
    module: &Module,
    start: impl FnOnce(Run<'_>, &Export, &[Value<'_>]) -> Result<Option<Value<'static>>, CallError>,
) -> Outcome {
    let Some(export) = call.export(module) else {
        return Outcome::stopped(format!("no export takes the arguments of `{call}`"));
    };
    let mut memory = Memory::of(call);
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    let run = Run::new(module)
        .mask(call.mask)
        .output(move |text| sink.lock().unwrap_or_else(PoisonError::into_inner).push_str(text));
    let result = start(run, export, &memory.values(call));
    let (end, result) = match result {
        Ok(value) => (End::Returned, value.and_then(|value| words_of(export, value))),
        Err(error) => (end_of(error), None),
    };
    let printed = std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
    Outcome { end, result, arrays: memory.arrays(call), printed }
}

fn end_of(error: CallError) -> End {
    let CallError::Trap(error) = error else { return End::Stopped(error.to_string()) };
    let trap = error.trap();
    match trap.kind {
        TrapKind::OutOfFuel | TrapKind::Timeout | TrapKind::Interrupted => {
            End::Stopped(trap.kind.info().message.to_owned())
        }
        kind => End::Trapped { kind, lane: trap.lane },
    }
}

/// A result as words. An address is the offset into the argument that it lies in; others say nothing outside the run.
fn words_of(export: &Export, value: Value<'_>) -> Option<(Ty, Vec<u64>)> {
    match value {
        Value::Scalar { ty, bits } => Some((ty, vec![words::bits_of(ty, bits)])),
        Value::Lanes { ty, words } => Some((ty, words.iter().map(|&word| words::bits_of(ty, word)).collect())),
        Value::Record(bytes) => {
            let ty = words::result_type(export)?;
            Some((ty, elements(ty, &bytes)))
        }
        Value::Pointer(pointer) => pointer.argument().map(|(_, offset)| (Ty::I64, vec![offset as u64])),
        Value::Array(_) => None,
    }
}

/// The elements that lie in bytes.
fn elements(ty: Ty, bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(ty.size()).map(word).collect()
}

/// The memory of the arrays of a call.
struct Memory {
    /// By name: type, number of elements, and the bytes, in words so that they are aligned.
    arrays: HashMap<String, (Ty, usize, Vec<u64>)>,
}

impl Memory {
    fn of(call: &Call) -> Memory {
        let array = |(name, argument): &(String, Argument)| match argument {
            Argument::Array(ty, words) => Some((name.clone(), (*ty, words.len(), packed(*ty, words)))),
            _ => None,
        };
        Memory { arrays: call.arguments.iter().filter_map(array).collect() }
    }

    /// The arguments as values, which borrow this memory. A program may see an array as another type through an alias, as through any
    /// pointer.
    fn values<'m>(&'m mut self, call: &Call) -> Vec<Value<'m>> {
        let mut array = |name: &str, from: usize| -> Value<'m> {
            let Some((ty, n, data)) = self.arrays.get_mut(name) else { return Value::Pointer(Pointer::NULL) };
            let from = from.min(*n);
            let start = data.as_mut_ptr().cast::<u8>().wrapping_add(from * ty.size());
            // SAFETY: `start` and the bytes behind it lie in `data`, which holds at least `n` elements, and stays where it is and
            // is not looked at as long as `self` is borrowed.
            Value::Array(unsafe { Array::from_raw(start, (*n - from) * ty.size(), None, true) })
        };
        let value = |(name, argument): &(String, Argument)| match argument {
            Argument::Scalar(ty, bits) => Value::scalar(*ty, *bits),
            Argument::Lanes(ty, words) => Value::Lanes { ty: *ty, words: words.clone() },
            Argument::Array(..) => array(name, 0),
            Argument::Alias { of, from } => array(of, *from as usize),
            Argument::Null => Value::Pointer(Pointer::NULL),
        };
        call.arguments.iter().map(value).collect()
    }

    /// What is in the arrays, in the order of the arguments.
    fn arrays(&self, call: &Call) -> Vec<(String, Ty, Vec<u64>)> {
        let array = |(name, argument): &(String, Argument)| {
            let (Argument::Array(..), Some((ty, n, data))) = (argument, self.arrays.get(name)) else { return None };
            let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
            Some((name.clone(), *ty, elements(*ty, &bytes[..n * ty.size()])))
        };
        call.arguments.iter().filter_map(array).collect()
    }
}

/// Elements as they lie in memory.
fn packed(ty: Ty, words: &[u64]) -> Vec<u64> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(ty.size())).collect();
    bytes.chunks(8).map(word).collect()
}

/// Up to eight bytes as a word.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64)
}
