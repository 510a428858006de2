//! Calling exported functions.

use crate::binding::Pointer;
use crate::error::{ArgumentError, CallError, TrapError};
use crate::module::Module;
use crate::profile::Profiler;
use crate::value::{Array, Value};
use spmdvm_frontend::lower::map_wrapper;
use spmdvm_vm::check::Checker;
use spmdvm_vm::interp::{Arg, LaneValues, Machine, Results, Stepping};
use spmdvm_vm::memory::{offset_of, region_of};
use spmdvm_vm::observe::{Observer, View};
use spmdvm_vm::program::{Export, ExportParam, FuncId, HostType, HostValue};
use spmdvm_vm::trap::Trap;
use spmdvm_vm::types::{Shape, Ty};
use spmdvm_vm::{Activity, RegionName, Watch};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Takes the text of prints.
type Sink = Box<dyn FnMut(&str) + Send>;

/// One call, with what goes along with it.
pub struct Run<'m> {
    module: &'m Module,
    mask: u64,
    output: Option<Sink>,
    interrupt: Option<Arc<AtomicBool>>,
    watch: Option<Watch>,
    timeout: Option<Duration>,
    profiler: Option<Arc<Mutex<Profiler>>>,
    activity: Option<Arc<Activity>>,
    budget: Option<Arc<AtomicU64>>,
}

/// Elements of the host at a fixed distance from each other.
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    /// The first element.
    pub start: *mut u8,
    /// Bytes from one element to the next; 0 repeats one element, and it may be negative.
    pub stride: isize,
    /// Number of elements.
    pub len: usize,
    /// Element type.
    pub ty: Ty,
}

impl<'m> Run<'m> {
    /// A call with all lanes on and prints to standard output.
    pub fn new(module: &'m Module) -> Run<'m> {
        let timeout = module.options().limits.timeout;
        Run {
            module,
            mask: u64::MAX,
            output: None,
            interrupt: None,
            watch: None,
            timeout,
            profiler: None,
            activity: None,
            budget: None,
        }
    }

    /// The lanes that are active at the start; bit *i* is lane *i*.
    #[must_use]
    pub fn mask(self, mask: u64) -> Run<'m> {
        Run { mask, ..self }
    }

    /// Where prints go; each call gets the whole text of one print.
    #[must_use]
    pub fn output(self, sink: impl FnMut(&str) + Send + 'static) -> Run<'m> {
        Run { output: Some(Box::new(sink)), ..self }
    }

    /// The flag that interrupts the call while it is true.
    #[must_use]
    pub fn interrupt(self, flag: Arc<AtomicBool>) -> Run<'m> {
        Run { interrupt: Some(flag), ..self }
    }

    /// A function that is called before each look at that flag, by the thread that looks, every few thousand turns of
    /// loops; and every few milliseconds while the thread of the call waits for tasks. It is for hosts that must keep
    /// up what raises the flag.
    #[must_use]
    pub fn watch(self, watch: impl Fn() + Send + Sync + 'static) -> Run<'m> {
        Run { watch: Some(Arc::new(watch)), ..self }
    }

    /// How long the call may take, instead of what the module's limits say: for a call that is one part of a larger one.
    #[must_use]
    pub fn timeout(self, timeout: Option<Duration>) -> Run<'m> {
        Run { timeout, ..self }
    }

    /// Has the interpreter run the call, under the eyes of a profiler. Results are the same.
    #[must_use]
    pub fn profile(self, profiler: Arc<Mutex<Profiler>>) -> Run<'m> {
        Run { profiler: Some(profiler), ..self }
    }

    /// Has what the call does counted while it runs.
    #[must_use]
    pub fn activity(self, activity: Arc<Activity>) -> Run<'m> {
        Run { activity: Some(activity), ..self }
    }

    /// Takes fuel from here, instead of what the module's limits say, and leaves there what it has not used: for a call that is one
    /// part of a larger one.
    #[must_use]
    pub fn fuel(self, budget: Arc<AtomicU64>) -> Run<'m> {
        Run { budget: Some(budget), ..self }
    }

    /// Calls the export of this name that fits the arguments.
    pub fn call(self, name: &str, args: &[Value<'_>]) -> Result<Option<Value<'static>>, CallError> {
        let export = self.module.resolve(name, args).map_err(CallError::Argument)?;
        self.call_export(export, args)
    }

    /// Calls an export of the module. Missing trailing arguments take their defaults.
    pub fn call_export(mut self, export: &Export, args: &[Value<'_>]) -> Result<Option<Value<'static>>, CallError> {
        check_arguments(export, args, self.module.lanes()).map_err(CallError::Argument)?;
        if let Some((module, export)) = self.instance(export)? {
            return self.on(&module).call_export(&export, args);
        }
        self.module.check_linked_for(export)?;
        let (module, profiler) = (self.module, self.profiler.take());
        self.run(export, args, |machine, function, args, mask| {
            execute(module, machine, function, args, mask, profiler.as_deref())
        })
    }

    /// [`call_export`](Self::call_export) under the eyes of an observer.
    pub fn call_observed(
        mut self,
        export: &Export,
        args: &[Value<'_>],
        observer: &mut impl Observer,
    ) -> Result<Option<Value<'static>>, CallError> {
        check_arguments(export, args, self.module.lanes()).map_err(CallError::Argument)?;
        if let Some((module, export)) = self.instance(export)? {
            return self.on(&module).call_observed(&export, args, observer);
        }
        self.module.check_linked_for(export)?;
        self.run(export, args, |machine, function, args, mask| {
            machine.call_observed(function, args, mask, observer).map(|r| first(&r))
        })
    }

    /// Begins a call, to be executed step by step on the interpreter, and hands it to a session. Neither a time limit nor the
    /// flag that interrupts ends it; tasks run at their launch. What it has done when the session ends stays done.
    pub fn call_stepped<R>(
        mut self,
        export: &Export,
        args: &[Value<'_>],
        session: impl FnOnce(Stepping<'_>) -> R,
    ) -> Result<R, CallError> {
        check_arguments(export, args, self.module.lanes()).map_err(CallError::Argument)?;
        if let Some((module, export)) = self.instance(export)? {
            return self.on(&module).call_stepped(&export, args, session);
        }
        self.module.check_linked_for(export)?;
        (self.interrupt, self.watch) = (None, None);
        let mut answer = None;
        self.run(export, args, |machine, function, args, mask| {
            answer = Some(session(machine.begin(function, args, mask)?));
            Ok(None)
        })?;
        Ok(answer.expect("a call that began had its session"))
    }

    /// The same as a call like any other: what the session gives at its end is how the call ends, for which it is asked to go there.
    pub fn call_by_steps(
        mut self,
        export: &Export,
        args: &[Value<'_>],
        session: impl FnOnce(Stepping<'_>) -> Result<Option<LaneValues>, Trap>,
    ) -> Result<Option<Value<'static>>, CallError> {
        check_arguments(export, args, self.module.lanes()).map_err(CallError::Argument)?;
        if let Some((module, export)) = self.instance(export)? {
            return self.on(&module).call_by_steps(&export, args, session);
        }
        self.module.check_linked_for(export)?;
        (self.interrupt, self.watch) = (None, None);
        self.run(export, args, |machine, function, args, mask| session(machine.begin(function, args, mask)?))
    }

    /// The module that runs an export, if that is another one. Compiling it takes of the call's time.
    fn instance(&mut self, export: &Export) -> Result<Option<(Module, Export)>, CallError> {
        let start = Instant::now();
        let deadline = self.timeout.and_then(|timeout| start.checked_add(timeout));
        let (interrupt, watch) = (self.interrupt.as_ref(), self.watch.as_ref());
        let found = self.module.module_of(export, interrupt, watch, deadline).map_err(CallError::Compile)?;
        if found.is_some() && self.module.pool().binds() {
            let message = format!("{}(): a polymorphic function cannot be called while memory is bound", export.name);
            return Err(CallError::Argument(ArgumentError { parameter: String::new(), message, is_type: false }));
        }
        if found.is_some() {
            self.timeout = self.timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        }
        Ok(found)
    }

    /// The same call on another module.
    fn on(self, module: &Module) -> Run<'_> {
        let Run { mask, output, interrupt, watch, timeout, profiler, activity, budget, module: _ } = self;
        Run { module, mask, output, interrupt, watch, timeout, profiler, activity, budget }
    }

    fn run(
        mut self,
        export: &Export,
        args: &[Value<'_>],
        call: impl FnOnce(&mut Machine, FuncId, &[Arg<'_>], u64) -> Result<Option<LaneValues>, Trap>,
    ) -> Result<Option<Value<'static>>, CallError> {
        self.module.check_engine()?;
        let module = self.module;
        let trapped = |trap| CallError::Trap(TrapError::new(trap, module.program()));
        let mut lease = module.pool().lease().map_err(trapped)?;
        let machine = lease.machine();
        self.prepare(machine);
        let mut mapped = Mapped { machine, pointers: Vec::new() };
        let mut vm_args = Vec::with_capacity(args.len());
        for (value, param) in args.iter().zip(&export.params) {
            vm_args.push(mapped.argument(value, param).map_err(trapped)?);
        }
        for param in &export.params[args.len()..] {
            vm_args.push(Arg::Word(param.default.unwrap_or(0)));
        }
        let mut record = export.result_size().map(|bytes| vec![0u8; bytes]);
        if let Some(record) = &mut record {
            let name = mapped.machine.memory().name("result");
            vm_args.push(Arg::Word(mapped.map(record.as_mut_ptr(), record.len(), true, name).map_err(trapped)?));
        }
        let result = call(mapped.machine, export.function, &vm_args, self.mask);
        self.settle(mapped.machine);
        let result = result.map_err(trapped)?;
        if let Some(record) = record {
            return Ok(Some(Value::Record(record)));
        }
        let is_pointer = matches!(export.result, Some(HostValue::Array { .. }));
        Ok(result.map(|result| match host_value(result) {
            Value::Scalar { bits, .. } if is_pointer => {
                let in_argument = args.iter().zip(&vm_args).position(|(value, arg)| match (value, arg) {
                    (Value::Array(_), Arg::Word(start)) => region_of(*start) == region_of(bits),
                    _ => false,
                });
                let pointer = Pointer::from_address(bits);
                let offset = offset_of(bits);
                Value::Pointer(in_argument.map_or(pointer, |index| pointer.in_argument(index, offset)))
            }
            value => value,
        }))
    }

    fn prepare(&mut self, machine: &mut Machine) {
        match self.output.take() {
            Some(mut sink) => machine.set_output(move |text| sink(text)),
            None => machine.set_output(|text| print!("{text}")),
        }
        machine.set_interrupt(self.interrupt.take().unwrap_or_default());
        machine.set_watch(self.watch.take());
        let budget = self.budget.as_ref().map(|budget| budget.load(Ordering::Relaxed));
        machine.set_limits(budget.or(self.module.options().limits.fuel), self.timeout);
        machine.set_activity(self.activity.take());
    }

    /// Leaves the fuel that the call has not used.
    fn settle(&self, machine: &Machine) {
        if let Some(budget) = &self.budget {
            let left = machine.limits().fuel.unwrap_or(u64::MAX).saturating_sub(machine.fuel_used());
            budget.store(left, Ordering::Relaxed);
        }
    }

    /// Maps an export with varying parameters over arrays, element by element, all lanes of the gang busy.
    ///
    /// `args` has one entry per parameter: elements for a varying one, a scalar or an array for a uniform one. `result`
    /// receives the results where `mask` (elements of `bool`) is true, or everywhere.
    ///
    /// # Safety
    /// All elements of `args`, `result` and `mask` (each at least `n` of them) and all arrays may be read, and those of
    /// `result` and writable arrays written, while the call lasts.
    pub unsafe fn map(
        self,
        export: &Export,
        args: &[MapArg],
        result: Option<Strided>,
        mask: Option<Strided>,
        n: usize,
    ) -> Result<(), CallError> {
        let (module, profiler) = (self.module, self.profiler.clone());
        // SAFETY: the caller's promise.
        unsafe {
            self.map_by(export, (args, result, mask, n), move |machine, function, words| {
                execute(module, machine, function, words, u64::MAX, profiler.as_deref()).map(drop)
            })
        }
    }

    /// [`map`](Self::map) as a call that is executed step by step; see [`call_by_steps`](Self::call_by_steps).
    ///
    /// # Safety
    /// As for `map`.
    pub unsafe fn map_by_steps(
        mut self,
        export: &Export,
        args: &[MapArg],
        result: Option<Strided>,
        mask: Option<Strided>,
        n: usize,
        session: impl FnOnce(Stepping<'_>) -> Result<(), Trap>,
    ) -> Result<(), CallError> {
        (self.interrupt, self.watch) = (None, None);
        // SAFETY: the caller's promise.
        unsafe {
            self.map_by(export, (args, result, mask, n), |machine, function, words| {
                session(machine.begin(function, words, u64::MAX)?)
            })
        }
    }

    /// Maps, and has `call` call the mapping function.
    ///
    /// # Safety
    /// As for `map`.
    unsafe fn map_by(
        mut self,
        export: &Export,
        (args, result, mask, n): (&[MapArg], Option<Strided>, Option<Strided>, usize),
        call: impl FnOnce(&mut Machine, FuncId, &[Arg<'_>]) -> Result<(), Trap>,
    ) -> Result<(), CallError> {
        if let Some((module, export)) = self.instance(export)? {
            // SAFETY: the caller's promise.
            return unsafe { self.on(&module).map_by(&export, (args, result, mask, n), call) };
        }
        self.module.check_linked_for(export)?;
        self.module.check_engine()?;
        let module = self.module;
        let trapped = |trap| CallError::Trap(TrapError::new(trap, module.program()));
        let function = map_function(module, export).ok_or_else(|| {
            CallError::Argument(ArgumentError {
                parameter: String::new(),
                message: format!("`{}` has no varying parameter or result, so it cannot be mapped", export.name),
                is_type: false,
            })
        })?;
        let mut lease = module.pool().lease().map_err(trapped)?;
        let machine = lease.machine();
        self.prepare(machine);
        let mut mapped = Mapped { machine, pointers: Vec::new() };
        let mut words = Vec::new();
        for (arg, param) in args.iter().zip(&export.params) {
            match arg {
                MapArg::Uniform(bits) => words.push(Arg::Word(*bits)),
                MapArg::Varying(elements) => {
                    words.extend(mapped.strided(*elements, n, false, &param.name).map_err(trapped)?);
                }
                MapArg::Array { start, bytes, writable } => {
                    words.push(Arg::Word(
                        mapped.map(*start, *bytes, *writable, mapped.array_name(param)).map_err(trapped)?,
                    ));
                }
            }
        }
        if let Some(elements) = result {
            words.extend(mapped.strided(elements, n, true, "result").map_err(trapped)?);
        }
        match mask {
            Some(elements) => words.extend(mapped.strided(elements, n, false, "where").map_err(trapped)?),
            None => words.extend([Arg::Word(0), Arg::Word(0)]),
        }
        words.push(Arg::Word(n as u64));
        let done = call(mapped.machine, function, &words);
        self.settle(mapped.machine);
        let Err(trap) = done else { return Ok(()) };
        // The mapping function's result is how far it came.
        let first = (!trap.stack.is_empty()).then(|| mapped.machine.last_results(function).word(0, 0));
        Err(CallError::Trap(TrapError::new(trap, module.program()).of_elements(
            first,
            module.options().width.lanes(),
            n,
        )))
    }
}

/// An argument of [`Run::map`].
#[derive(Clone, Copy, Debug)]
pub enum MapArg {
    /// One value for all elements, as bits.
    Uniform(u64),
    /// One value per element.
    Varying(Strided),
    /// Memory that all elements see.
    Array {
        /// Its first byte.
        start: *mut u8,
        /// Its size.
        bytes: usize,
        /// Whether the program may write to it.
        writable: bool,
    },
}

/// The function that maps an export over arrays: `NAME$map`, made by the front end for exports with varying parameters.
fn map_function(module: &Module, export: &Export) -> Option<FuncId> {
    let name = &module.program().functions[export.function.0 as usize].name;
    module.program().function(&format!("{name}{}", map_wrapper::SUFFIX))
}

/// The host arrays mapped for one call; they are unmapped when it ends.
struct Mapped<'a> {
    machine: &'a mut Machine,
    pointers: Vec<u64>,
}

impl Mapped<'_> {
    fn argument<'v>(&mut self, value: &'v Value<'_>, param: &ExportParam) -> Result<Arg<'v>, Trap> {
        Ok(match value {
            Value::Scalar { bits, .. } => Arg::Word(*bits),
            Value::Lanes { words, .. } => Arg::Words(words),
            Value::Pointer(pointer) => Arg::Word(pointer.address()),
            // Checked to be no argument.
            Value::Record(_) => Arg::Word(0),
            Value::Array(array) => {
                Arg::Word(self.map(array.start, array.bytes, array.writable, self.array_name(param))?)
            }
        })
    }

    /// The name of an array argument, with what messages about its indices need to know.
    fn array_name(&self, param: &ExportParam) -> RegionName {
        match &param.value {
            HostValue::Array { elem, .. } => self.machine.memory().array_name(&param.name, &elem.array_shape()),
            _ => self.machine.memory().name(&param.name),
        }
    }

    fn map(&mut self, start: *mut u8, bytes: usize, writable: bool, name: RegionName) -> Result<u64, Trap> {
        // SAFETY: an `Array` promises that its memory stays; `Strided` memory is the caller's promise.
        let pointer = unsafe { self.machine.map_host(start, bytes, writable, name) }?;
        self.pointers.push(pointer);
        Ok(pointer)
    }

    /// Maps the memory that `n` elements span; gives the pointer to the first and the stride.
    fn strided(&mut self, e: Strided, n: usize, writable: bool, name: &str) -> Result<[Arg<'static>; 2], Trap> {
        let steps = n.saturating_sub(1) as isize;
        let span = e.stride * steps;
        let bytes = if n == 0 { 0 } else { span.unsigned_abs() + e.ty.size() };
        let low = e.start.wrapping_offset(span.min(0));
        let name = self.machine.memory().name(name);
        let pointer = self.map(low, bytes, writable, name)?;
        let first = spmdvm_vm::sem::padd(pointer, -(span.min(0)) as i64);
        Ok([Arg::Word(first), Arg::Word(e.stride as u64)])
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        for &pointer in &self.pointers {
            self.machine.unmap(pointer);
        }
    }
}

/// Calls a function, in check mode with a checker watching, and with a profiler if there is one.
fn execute(
    module: &Module,
    machine: &mut Machine,
    function: FuncId,
    args: &[Arg<'_>],
    mask: u64,
    profiler: Option<&Mutex<Profiler>>,
) -> Result<Option<LaneValues>, Trap> {
    let checks = module.options().check;
    let mut profiler = profiler.map(|profiler| profiler.lock().unwrap_or_else(PoisonError::into_inner));
    if checks.is_empty() {
        let results = match &mut profiler {
            Some(profiler) => machine.call_observed(function, args, mask, &mut **profiler),
            None => machine.call(function, args, mask),
        };
        return results.map(|results| first(&results));
    }
    let mut checker = Checker::new(checks);
    let mut observers = Both { checker: &mut checker, profiler: profiler.as_deref_mut() };
    let result = machine.call_observed(function, args, mask, &mut observers).map(|results| first(&results));
    module.reports().keep(module.program(), checker);
    result
}

/// Check mode, and a profiler that sees the same instructions.
struct Both<'a> {
    checker: &'a mut Checker,
    profiler: Option<&'a mut Profiler>,
}

impl Observer for Both<'_> {
    fn before(&mut self, view: &View<'_>) {
        self.checker.before(view);
        self.profiler.iter_mut().for_each(|profiler| profiler.before(view));
    }

    fn after(&mut self, view: &View<'_>) {
        self.profiler.iter_mut().for_each(|profiler| profiler.after(view));
        self.checker.after(view);
    }

    fn entered(&mut self, view: &View<'_>) {
        self.profiler.iter_mut().for_each(|profiler| profiler.entered(view));
        self.checker.entered(view);
    }

    fn unset_lanes(&mut self, view: &View<'_>) -> Vec<u64> {
        self.checker.unset_lanes(view)
    }
}

/// The function's result, if it has one.
fn first(results: &Results<'_>) -> Option<LaneValues> {
    (!results.is_empty()).then(|| results.lanes(0))
}

fn host_value(lanes: LaneValues) -> Value<'static> {
    match lanes.shape {
        Shape::Uniform => Value::Scalar { ty: lanes.ty, bits: lanes.words[0] },
        Shape::Varying => Value::Lanes { ty: lanes.ty, words: lanes.words },
    }
}

/// Checks that the arguments fit the export's parameters.
pub(crate) fn check_arguments(export: &Export, args: &[Value<'_>], lanes: usize) -> Result<(), ArgumentError> {
    let needed = export.params.iter().filter(|p| p.default.is_none()).count();
    if args.len() < needed || args.len() > export.params.len() {
        let n = export.params.len();
        let expected = if needed == n { format!("{n}") } else { format!("{needed} to {n}") };
        let plural = if expected == "1" { "" } else { "s" };
        let message = format!("{}() takes {expected} argument{plural}, but {} were given", export.name, args.len());
        return Err(ArgumentError { parameter: String::new(), message, is_type: true });
    }
    args.iter().zip(&export.params).try_for_each(|(value, param)| check_argument(export, param, value, lanes))
}

fn check_argument(export: &Export, param: &ExportParam, value: &Value<'_>, lanes: usize) -> Result<(), ArgumentError> {
    let wrong = |is_type, expected: String| {
        let message =
            format!("{}(): `{}` expects {expected}, but was given {}", export.name, param.name, value.describe());
        Err(ArgumentError { parameter: param.name.clone(), message, is_type })
    };
    match (&param.value, value) {
        (HostValue::Uniform(ty), Value::Scalar { ty: given, .. }) if ty == given => Ok(()),
        (HostValue::Uniform(ty), _) => wrong(true, format!("a scalar of type {ty}")),
        (HostValue::Varying(ty), Value::Scalar { ty: given, .. }) if ty == given => Ok(()),
        (HostValue::Varying(ty), Value::Lanes { ty: given, words }) if ty == given => match words.len() == lanes {
            true => Ok(()),
            false => wrong(false, format!("one value for each of the {lanes} lanes")),
        },
        (HostValue::Varying(ty), _) => wrong(true, format!("a scalar, or one value per lane, of type {ty}")),
        (HostValue::Array { elem, writable, .. }, Value::Array(array)) => {
            if array.ty.is_some_and(|ty| !holds(elem, ty)) {
                return wrong(true, format!("an array of {}", type_name(elem)));
            }
            if *writable && !array.writable {
                return wrong(false, "an array that can be written (the parameter is not `const`)".into());
            }
            check_length(export, param, elem, array)
        }
        (HostValue::Array { .. }, Value::Pointer(pointer)) if pointer.argument().is_none() => Ok(()),
        (HostValue::Array { elem, .. }, _) => wrong(true, format!("an array of {}", type_name(elem))),
    }
}

fn check_length(export: &Export, param: &ExportParam, elem: &HostType, array: &Array<'_>) -> Result<(), ArgumentError> {
    let reference = matches!(param.value, HostValue::Array { reference: true, .. });
    let too_short = reference && (array.bytes as u64) < elem.size();
    if !too_short {
        return Ok(());
    }
    let message = format!(
        "{}(): `{}` is a reference to {} bytes, but the array has only {}",
        export.name,
        param.name,
        elem.size(),
        array.bytes
    );
    Err(ArgumentError { parameter: param.name.clone(), message, is_type: false })
}

/// Returns whether memory of elements of type `ty` can be seen as `elem`.
pub(crate) fn holds(elem: &HostType, ty: Ty) -> bool {
    match elem {
        HostType::Scalar(t) => *t == ty,
        HostType::Enum(_) => matches!(ty, Ty::U32 | Ty::I32),
        HostType::Array(inner, _) => holds(inner, ty),
        HostType::Struct { fields, .. } => fields.iter().all(|(_, _, t)| holds(t, ty)),
        HostType::Pointer => ty == Ty::U64,
        HostType::Byte => true,
    }
}

/// An element type as messages name it.
pub(crate) fn type_name(elem: &HostType) -> String {
    match elem {
        HostType::Scalar(t) => t.to_string(),
        HostType::Enum(name) => format!("enum {name} (u32)"),
        HostType::Array(..) => array_name(elem),
        HostType::Struct { name, size, .. } => format!("struct {name} ({size} bytes each)"),
        HostType::Pointer => "pointers (u64)".into(),
        HostType::Byte => "bytes".into(),
    }
}

/// The type of nested arrays as declarations write it: the outermost length first; one that is open is not written.
fn array_name(mut elem: &HostType) -> String {
    let mut lengths = String::new();
    while let HostType::Array(inner, n) = elem {
        lengths += &if *n == 0 { "[]".into() } else { format!("[{n}]") };
        elem = inner;
    }
    type_name(elem) + &lengths
}
