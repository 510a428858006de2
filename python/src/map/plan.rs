//! The runs that a call over arrays is made of.

use super::operands::Operand;
use crate::execute::Context;
use crate::interrupt::Watch;
use spmdvm::tools::Stepping;
use spmdvm::{CallError, Export, MapArg, Run, Strided, Trap};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An axis: how many elements, and the stride of each operand.
#[derive(Clone)]
struct Axis {
    len: usize,
    strides: Vec<isize>,
    /// The axes of the shape that became this one, outermost first: their lengths and numbers.
    origins: Vec<(usize, usize)>,
}

/// Everything a run needs, without Python objects.
pub struct Plan {
    /// Number of axes of the shape.
    n_axes: usize,
    /// Axes besides the inner one.
    outer: Vec<Axis>,
    /// The axis that one run of the program goes along.
    inner: Axis,
    /// The operands: inputs, then the result, then the mask.
    operands: Vec<Operand>,
    n_inputs: usize,
    has_result: bool,
    has_mask: bool,
}

// SAFETY: the pointers lead to arrays that the caller of the plan keeps alive; the program accesses them as raw memory.
unsafe impl Send for Plan {}
// SAFETY: as above; a plan is only read.
unsafe impl Sync for Plan {}

/// What went wrong, and in which part.
pub struct Failure {
    pub error: CallError,
    row: usize,
    start: usize,
}

/// The elements that failed: the first and the last one's indices in the shape.
pub struct FailedElements {
    pub first: Vec<usize>,
    pub last: Vec<usize>,
    row: usize,
    at: usize,
}

/// A range in pieces of whole gangs, each about as long as [`Pieces::TIME`] lasts: for who wants to hear of each.
struct Pieces {
    rest: Range<usize>,
    width: usize,
    gangs: usize,
    began: Option<Instant>,
}

impl Pieces {
    const TIME: Duration = Duration::from_millis(20);
    /// With two gangs a piece has a round of a loop behind it, at which it looks whether it must end.
    const FEWEST: usize = 2;

    fn new(rest: Range<usize>, width: usize) -> Pieces {
        Pieces { rest, width, gangs: Pieces::FEWEST, began: None }
    }

    /// The next piece; the one before has been done meanwhile.
    fn next(&mut self) -> Option<Range<usize>> {
        if let Some(took) = self.began.map(|began| began.elapsed()) {
            if took < Pieces::TIME / 2 {
                self.gangs = self.gangs.saturating_mul(4);
            } else if took > 2 * Pieces::TIME {
                self.gangs = (self.gangs / 4).max(Pieces::FEWEST);
            }
        }
        self.began = Some(Instant::now());
        let end = self.rest.start.saturating_add(self.gangs.saturating_mul(self.width)).min(self.rest.end);
        let piece = std::mem::replace(&mut self.rest.start, end)..end;
        (!piece.is_empty()).then_some(piece)
    }
}

/// An inner axis shorter than this gives way to a longer one.
const SHORT_AXIS: usize = 64;

impl Plan {
    pub fn new(shape: &[usize], inputs: Vec<Operand>, result: Option<Operand>, mask: Option<Operand>) -> Plan {
        let (n_inputs, has_result, has_mask) = (inputs.len(), result.is_some(), mask.is_some());
        let operands: Vec<Operand> = inputs.into_iter().chain(result).chain(mask).collect();
        let strides: Vec<Vec<isize>> = operands.iter().map(|o| o.broadcast_strides(shape)).collect();
        let axis = |i: usize| Axis {
            len: shape[i],
            strides: strides.iter().map(|s| s[i]).collect(),
            origins: vec![(shape[i], i)],
        };
        let mut outer = coalesce((0..shape.len()).map(axis).collect());
        if outer.last().is_some_and(|axis| axis.len < SHORT_AXIS) {
            let longest = (0..outer.len()).max_by_key(|&i| outer[i].len).unwrap_or(0);
            let axis = outer.remove(longest);
            outer.push(axis);
        }
        let single = || Axis { len: 1, strides: vec![0; operands.len()], origins: vec![] };
        let inner = outer.pop().unwrap_or_else(single);
        Plan { n_axes: shape.len(), outer, inner, operands, n_inputs, has_result, has_mask }
    }

    /// Number of elements.
    pub fn n_elements(&self) -> u64 {
        self.outer.iter().chain([&self.inner]).map(|axis| axis.len as u64).product()
    }

    /// Runs over everything, on so many threads: one of them is this one, which watches while it waits for the others.
    pub fn run(&self, context: &Context<'_>, export: &Export, threads: usize, width: usize) -> Result<(), Failure> {
        let rows: usize = self.outer.iter().map(|axis| axis.len).product();
        if rows == 0 || self.inner.len == 0 {
            return Ok(());
        }
        // Parts begin where a gang begins, so that gangs are the same for every number of threads.
        let parts: Vec<_> = if rows >= threads {
            split_range(rows, threads, 1).map(|rows| (rows, 0..self.inner.len)).collect()
        } else {
            split_range(self.inner.len, threads, width).map(|range| (0..rows, range)).collect()
        };
        if let [(rows, range)] = &parts[..] {
            return self.run_part(context, export, rows.clone(), range.clone(), width);
        }
        let n_parts = parts.len();
        // Threads take parts until none is left, so that all are done however many threads there can be.
        let (parts, results) = (Mutex::new(parts.into_iter().enumerate()), Mutex::new(Vec::new()));
        let work = || {
            let take = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some((part, (rows, range))) = take() {
                let result = self.run_part(context, export, rows, range, width);
                results.lock().unwrap_or_else(PoisonError::into_inner).push((part, result));
            }
        };
        let (look, (done, ends)) = (context.watch().look(), channel::<()>());
        std::thread::scope(|scope| {
            for _ in 1..n_parts {
                let (done, work) = (done.clone(), &work);
                let started = std::thread::Builder::new().spawn_scoped(scope, move || {
                    work();
                    drop(done);
                });
                if started.is_err() {
                    break;
                }
            }
            work();
            drop(done);
            while ends.recv_timeout(Watch::BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                look.now();
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(part, _)| *part);
        results.into_iter().try_for_each(|(_, result)| result)
    }

    fn run_part(
        &self,
        context: &Context<'_>,
        export: &Export,
        rows: Range<usize>,
        range: Range<usize>,
        width: usize,
    ) -> Result<(), Failure> {
        let limit = context.fuel_limit();
        for row in rows {
            let Some(progress) = context.progress() else {
                self.run_piece(context.run(), export, row, &range)?;
                continue;
            };
            // Pieces share the fuel that a row has without them.
            let budget = limit.map(|fuel| Arc::new(AtomicU64::new(fuel)));
            let mut pieces = Pieces::new(range.clone(), width);
            while let Some(piece) = pieces.next() {
                let run = context.run();
                let run = match &budget {
                    Some(budget) => run.fuel(Arc::clone(budget)),
                    None => run,
                };
                self.run_piece(run, export, row, &piece)?;
                progress.add(piece.len() as u64);
                context.watch().look().now();
            }
        }
        Ok(())
    }

    /// Runs over everything step by step; `None` if that is not one run.
    pub fn step(
        &self,
        run: Run<'_>,
        export: &Export,
        session: impl FnOnce(Stepping<'_>) -> Result<(), Trap>,
    ) -> Option<Result<(), Failure>> {
        if !self.outer.is_empty() {
            return None;
        }
        let range = 0..self.inner.len;
        let (args, result, mask) = self.arguments(0, &range);
        // SAFETY: as in `run_piece`.
        let done = unsafe { run.map_by_steps(export, &args, result, mask, range.len(), session) };
        Some(done.map_err(|error| Failure { error, row: 0, start: 0 }))
    }

    fn run_piece(&self, run: Run<'_>, export: &Export, row: usize, range: &Range<usize>) -> Result<(), Failure> {
        let (args, result, mask) = self.arguments(row, range);
        // SAFETY: the elements lie in arrays that broadcast to this shape and are kept alive; the result is writable.
        let done = unsafe { run.map(export, &args, result, mask, range.len()) };
        done.map_err(|error| Failure { error, row, start: range.start })
    }

    /// What a run is called with: the arguments, where results go, and which elements are wanted.
    fn arguments(&self, row: usize, range: &Range<usize>) -> (Vec<MapArg>, Option<Strided>, Option<Strided>) {
        let elements: Vec<Strided> = (0..self.operands.len()).map(|k| self.elements(k, row, range)).collect();
        let args: Vec<MapArg> = (0..self.n_inputs)
            .map(|k| match self.operands[k].uniform {
                Some(arg) => arg,
                None => MapArg::Varying(elements[k]),
            })
            .collect();
        let result = self.has_result.then(|| elements[self.n_inputs]);
        let mask = self.has_mask.then(|| elements[elements.len() - 1]);
        (args, result, mask)
    }

    /// The elements of an operand in a row.
    fn elements(&self, operand: usize, row: usize, range: &Range<usize>) -> Strided {
        let stride = self.inner.strides[operand];
        let outer: isize = self.positions(row).map(|(axis, at)| axis.strides[operand] * at as isize).sum();
        let offset = outer + stride * range.start as isize;
        let Operand { start, ty, .. } = self.operands[operand];
        Strided { start: start.wrapping_offset(offset), stride, len: range.len(), ty }
    }

    /// Where on each outer axis a row lies.
    fn positions(&self, mut row: usize) -> impl Iterator<Item = (&Axis, usize)> {
        self.outer.iter().rev().map(move |axis| {
            let at = row % axis.len;
            row /= axis.len;
            (axis, at)
        })
    }

    /// Which elements failed, if the trap concerns some.
    pub fn place(&self, failure: &Failure) -> Option<FailedElements> {
        let CallError::Trap(trap) = &failure.error else { return None };
        let elements = trap.elements()?;
        let (row, at) = (failure.row, failure.start + elements.start);
        let last = failure.start + elements.end - 1;
        Some(FailedElements { first: self.index(row, at), last: self.index(row, last), row, at })
    }

    /// The index of an element in the shape.
    fn index(&self, row: usize, at: usize) -> Vec<usize> {
        let mut index = vec![0; self.n_axes];
        for (axis, mut at) in self.positions(row).chain([(&self.inner, at)]) {
            for &(len, origin) in axis.origins.iter().rev() {
                index[origin] = at % len;
                at /= len;
            }
        }
        index
    }

    /// The bits of a scalar argument for the first of the elements that failed; `None` for an array that all see.
    pub fn value(&self, input: usize, place: &FailedElements) -> Option<u64> {
        let operand = &self.operands[input];
        match operand.uniform {
            Some(MapArg::Uniform(bits)) => Some(bits),
            Some(_) => None,
            None => Some(operand.read(self.elements(input, place.row, &(place.at..place.at + 1)).start)),
        }
    }
}

impl FailedElements {
    /// Returns whether it is one element, and known.
    pub fn is_one(&self) -> bool {
        self.first == self.last
    }
}

/// Leaves out axes of length 1, sorts the others by stride, and merges those that lie one behind the other.
fn coalesce(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.retain(|axis| axis.len != 1);
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.strides.iter().map(|s| s.unsigned_abs()).sum::<usize>()));
    let mut merged: Vec<Axis> = Vec::new();
    for axis in axes {
        match merged.last_mut() {
            Some(last) if last.strides.iter().zip(&axis.strides).all(|(&o, &i)| o == i * axis.len as isize) => {
                let origins = last.origins.iter().chain(&axis.origins).copied().collect();
                *last = Axis { len: last.len * axis.len, strides: axis.strides, origins };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// Cuts `0..n` into at most `parts` ranges whose borders are multiples of `grain`.
fn split_range(n: usize, parts: usize, grain: usize) -> impl Iterator<Item = Range<usize>> {
    let grains = n.div_ceil(grain);
    let parts = parts.clamp(1, grains.max(1));
    (0..parts).map(move |i| {
        let border = |i: usize| (grains * i / parts * grain).min(n);
        border(i)..border(i + 1)
    })
}
