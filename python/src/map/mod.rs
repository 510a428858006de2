//! Functions of varying scalars, called like numpy's ufuncs.
//!
//! A call chooses the overload by dtype, takes arguments as memory ([`operands`]) and broadcasts them, sees to it that
//! what is written does not change what is read ([`overlap`], [`target`]), and then runs the program over one long axis
//! after another ([`plan`]): axes that lie in memory one behind the other are merged first, so that for contiguous
//! arrays there is one run. What arguments carry besides numbers ([`containers`](crate::containers)) goes around it.

mod operands;
mod overlap;
mod plan;
mod target;

use crate::array::{self, Wanted};
use crate::attached::Attached;
use crate::bind::{self, Bindings};
use crate::containers::Containers;
use crate::convert::{self, as_array};
use crate::dtype;
use crate::errors::{self, Element};
use crate::execute::execute;
use crate::function::{Function, is_mapped, no_overload};
use crate::host;
use crate::module::Compiled;
use crate::scalar::{self, describe};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use operands::{Kept, Operand, broadcast};
pub use plan::{Failure, Plan};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};
use spmdvm::{Export, HostValue, Ty};
use target::Target;

/// What stands beside the arguments.
struct Extras<'py> {
    out: Option<Bound<'py, PyUntypedArray>>,
    mask: Option<Bound<'py, PyUntypedArray>>,
}

/// The same, as given.
struct Given<'py> {
    out: Option<Bound<'py, PyAny>>,
    mask: Option<Bound<'py, PyAny>>,
    threads: usize,
}

/// Calls a function that has mapped overloads.
pub fn call(
    py: Python<'_>,
    function: &Function,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
    attached: Attached,
) -> PyResult<Py<PyAny>> {
    let (kwargs, mut given) = split(py, function, kwargs)?;
    let chosen = choose(function, args, kwargs.as_ref())?;
    let varying = chosen.varying();
    let containers = Containers::find(py, &function.name, &varying, given.out.as_ref(), given.mask.as_ref())?;
    if let Some(containers) = &containers {
        [given.out, given.mask] = containers.extras()?;
    }
    let extras = Extras::new(&function.name, &given)?;
    let result = run(py, function, &chosen, extras, given.threads, attached)?;
    containers.map_or(Ok(result.clone_ref(py)), |containers| containers.wrap(result))
}

/// Runs an overload over plain arrays.
fn run<'py>(
    py: Python<'py>,
    function: &Function,
    chosen: &Chosen<'_, 'py>,
    extras: Extras<'py>,
    threads: usize,
    mut attached: Attached,
) -> PyResult<Py<PyAny>> {
    let export = chosen.export;
    let mut kept = Kept::default();
    let mut inputs = chosen.operands(&function.compiled, &mut kept)?;
    let mut mask = extras.mask.as_ref().map(|mask| kept.array(mask, Ty::Bool));
    let shape = broadcast(export, &inputs, mask.as_ref(), extras.out.as_ref())?;
    let stepper = attached.stepper.take();
    if stepper.is_some() {
        // One run for all elements.
        inputs.iter_mut().chain(&mut mask).try_for_each(|operand| kept.spread(py, operand, &shape))?;
    }
    let supplied = overlap::supplied(&function.compiled.module);
    overlap::separate(py, export, &mut kept, &mut inputs, mask.as_mut(), &supplied)?;
    let result = match export.result {
        None if extras.out.is_some() => {
            return Err(PyTypeError::new_err(format!("{}() has no result, so it takes no `out`", export.name)));
        }
        None => None,
        Some(HostValue::Varying(ty)) => {
            let what = (export, &extras, &supplied[..]);
            Some(Target::new(py, what, &shape, ty, &mut kept, &inputs, mask.as_mut())?)
        }
        Some(_) => return Err(unsupported(export, "a uniform result of varying parameters")),
    };
    let module = &function.compiled.module;
    let threads = if module.is_stateful() { 1 } else { allowed_threads(export, threads, &inputs)? };
    // A profiler sees one thing after another.
    let threads = if attached.is_profiled() { 1 } else { threads };
    let is_scalar = shape.is_empty();
    let mask_array = mask.as_ref().and_then(|mask| kept.source(mask).cloned());
    let plan = Plan::new(&shape, inputs, result.as_ref().map(|t| kept.array(&t.memory, t.ty)), mask);
    let width = module.options().width.lanes();
    attached.progress = attached.progress.map(|progress| progress.over(plan.n_elements()));
    let lending = host::lend(module, kept.arrays());
    let done = match stepper {
        Some(stepper) => stepper.map(py, module, export, &plan),
        None => execute(py, module, attached, |context| Ok(plan.run(context, export, threads, width))),
    };
    lending.end(kept.arrays());
    let done = done?;
    if let Err(failure) = done {
        let element = element(py, export, &plan, &failure)?;
        return Err(errors::mapped_error(py, failure.error, element));
    }
    match result {
        None => Ok(py.None()),
        Some(target) => target.finish(py, is_scalar, extras.out, mask_array.as_ref()),
    }
}

/// Threads would race for what the program may write to, whose atomic operations are for its tasks only.
fn allowed_threads(export: &Export, threads: usize, inputs: &[Operand]) -> PyResult<usize> {
    match inputs.iter().position(overlap::is_written) {
        Some(i) if threads != 1 => Err(PyValueError::new_err(format!(
            "{}(): `threads` must be 1, because all threads would write to `{}`; declare it `const` if it is only read",
            export.name,
            bind::label(&export.params[i], i)
        ))),
        _ => Ok(threads),
    }
}

/// Where a failure happened, as far as it is known.
fn element<'py>(py: Python<'py>, export: &Export, plan: &Plan, failure: &Failure) -> PyResult<Option<Element<'py>>> {
    let Some(place) = plan.place(failure) else { return Ok(None) };
    let (arguments, mut texts) = (PyDict::new(py), Vec::new());
    for (i, param) in export.params.iter().enumerate() {
        let (HostValue::Varying(ty) | HostValue::Uniform(ty)) = &param.value else { continue };
        if let Some(bits) = plan.value(i, &place).filter(|_| place.is_one()) {
            let label = bind::label(param, i);
            texts.push(format!("{label} = {}", scalar::text(*ty, bits)));
            arguments.set_item(label, scalar::to_python(py, *ty, bits)?)?;
        }
    }
    Ok(Some(Element { first: place.first, last: place.last, arguments, texts }))
}

fn unsupported(export: &Export, what: &str) -> PyErr {
    PyTypeError::new_err(format!("{}() cannot be called over arrays: it has {what}", export.name))
}

/// Takes `out`, `where` and `threads` out of the keyword arguments.
fn split<'py>(
    py: Python<'py>,
    function: &Function,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Option<Bound<'py, PyDict>>, Given<'py>)> {
    let mut given = Given { out: None, mask: None, threads: 1 };
    let Some(kwargs) = kwargs else { return Ok((None, given)) };
    let rest = kwargs.copy()?;
    let take = |key: &str| -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = rest.get_item(key)?;
        let is_parameter = function.exports().any(|e| e.params.iter().any(|p| p.name == key));
        if value.is_none() || is_parameter {
            return Ok(None);
        }
        rest.del_item(key)?;
        Ok(value.filter(|v| !v.is_none()))
    };
    given.out = take("out")?;
    given.mask = take("where")?.filter(|mask| !mask.is(PyBool::new(py, true)));
    if let Some(threads) = take("threads")? {
        let n: usize = threads.extract().map_err(|_| {
            let shown = crate::options::show(&threads);
            let name = &function.name;
            PyValueError::new_err(format!("{name}(): `threads` must be a number from 0 (all cores) up, not {shown}"))
        })?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        // All cores are several, so that no call is allowed on small machines only.
        given.threads = if n == 0 { cores().max(2) } else { n.min(1024) };
    }
    Ok((Some(rest), given))
}

impl<'py> Extras<'py> {
    /// What was given, as arrays.
    fn new(name: &str, given: &Given<'py>) -> PyResult<Extras<'py>> {
        let mut extras = Extras { out: None, mask: None };
        if let Some(out) = &given.out {
            let message = || format!("{name}(): `out` expects a numpy array, but was given {}", describe(out));
            extras.out = Some(out.cast::<PyUntypedArray>().map_err(|_| PyTypeError::new_err(message()))?.clone());
        }
        if let Some(mask) = given.mask.as_ref().filter(|mask| !mask.is(PyBool::new(mask.py(), true))) {
            let array = as_array(mask, &|| format!("{name}(): `where`"))?;
            if dtype::element(&array.dtype()) != Some(Ty::Bool) {
                let message = format!("{name}(): `where` expects an array of bool, but was given {}", describe(mask));
                return Err(PyTypeError::new_err(message));
            }
            extras.mask = Some(array);
        }
        Ok(extras)
    }
}

/// The overload that was chosen, and its arguments: as given, and as the call takes them.
struct Chosen<'f, 'py> {
    export: &'f Export,
    given: Bindings<'py>,
    taken: Bindings<'py>,
}

/// The overload for these arguments: that with the same dtypes, else the nearest that numpy casts to safely.
fn choose<'f, 'py>(
    function: &'f Function,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Chosen<'f, 'py>> {
    let mut best: Option<(u32, Chosen)> = None;
    let mut reasons = Vec::new();
    for export in function.exports().filter(|e| is_mapped(e)) {
        let fit = bind::bind(export, args, kwargs).and_then(|given| {
            let mut taken = given.clone();
            Ok((fit(export, &mut taken)?, Chosen { export, given, taken }))
        });
        match fit {
            Ok((distance, chosen)) if best.as_ref().is_none_or(|(least, ..)| distance < *least) => {
                best = Some((distance, chosen));
            }
            Ok(_) => {}
            Err(error) => reasons.push((export, error)),
        }
    }
    best.map(|(_, chosen)| chosen).ok_or_else(|| no_overload(args.py(), reasons))
}

/// How far the arguments are from the parameters. What is no array and can be one becomes one.
fn fit(export: &Export, bound: &mut Bindings<'_>) -> PyResult<u32> {
    let mut distance = 0;
    for (i, (param, slot)) in export.params.iter().zip(bound).enumerate() {
        let place = || format!("{}(): `{}`", export.name, bind::label(param, i));
        let Some(given) = slot else { continue };
        let (taken, far) = match &param.value {
            HostValue::Varying(ty) => convert::elements(given, *ty, &place)?,
            HostValue::Uniform(ty) => (given.clone(), scalar::to_bits(given, *ty, &place)?.1),
            HostValue::Array { elem, reference, .. } if bind::is_pointer(given, elem, *reference) => (given.clone(), 0),
            HostValue::Array { elem, writable, reference } => {
                let wanted = Wanted { elem, writable: *writable, reference: *reference };
                (array::adopt(given, wanted, &place)?.0.into_any(), array::distance(given))
            }
        };
        *slot = Some(taken);
        distance += far;
    }
    Ok(distance)
}

impl<'py> Chosen<'_, 'py> {
    /// The arguments of varying parameters, with their names.
    fn varying(&self) -> Vec<(String, Bound<'py, PyAny>)> {
        let params = self.export.params.iter().zip(&self.given).enumerate();
        let varying = params.filter(|(_, (param, _))| matches!(param.value, HostValue::Varying(_)));
        varying.filter_map(|(i, (param, given))| Some((bind::label(param, i), given.clone()?))).collect()
    }

    fn operands(&self, compiled: &Compiled, kept: &mut Kept<'py>) -> PyResult<Vec<Operand>> {
        let mut inputs = Vec::new();
        for (i, (param, given)) in self.export.params.iter().zip(&self.taken).enumerate() {
            let place = || format!("{}(): `{}`", self.export.name, bind::label(param, i));
            inputs.push(match (&param.value, given) {
                (HostValue::Varying(ty), Some(given)) => kept.operand(given, *ty, &place)?,
                (HostValue::Uniform(ty), Some(given)) => Operand::word(scalar::to_bits(given, *ty, &place)?.0),
                (HostValue::Varying(ty), None) => kept.constant(param.default.unwrap_or_default(), *ty),
                (HostValue::Uniform(_), None) => Operand::word(param.default.unwrap_or_default()),
                (HostValue::Array { elem, reference, .. }, Some(given))
                    if bind::is_pointer(given, elem, *reference) =>
                {
                    Operand::word(bind::address(compiled, given, elem, &place)?)
                }
                (HostValue::Array { elem, writable, reference }, Some(given)) => {
                    let wanted = Wanted { elem, writable: *writable, reference: *reference };
                    kept.memory(given.cast::<PyUntypedArray>()?, wanted, &place)?
                }
                // Only scalars have defaults.
                (HostValue::Array { .. }, None) => Operand::word(0),
            });
        }
        Ok(inputs)
    }
}
