//! Where a run is to stop: at lines, if a condition holds in some active lane, and where a variable changes.

use crate::expr::{Expr, Scope, number};
use crate::lines::{LinePlace, Lines};
use crate::recording::Probe;
use crate::variables::{Lanes, bytes, register};
use spmdvm::vm::isa::Effect;
use spmdvm::vm::{FuncId, Op, Reg, View};
use spmdvm::{Export, Shape, Ty};
use spmdvm_oracle::number::{Number, shown};
use std::fmt;

/// A line to stop at.
#[derive(Clone, Debug)]
pub struct Break {
    /// The line; stops at its beginning.
    pub place: LinePlace,
    /// As it was asked for.
    pub text: String,
    /// Stops only if this is true in an active lane.
    pub condition: Option<(String, Expr)>,
}

/// A variable to watch: stops behind the instruction that changes it.
#[derive(Clone, Debug)]
pub struct Watch {
    /// As it was asked for.
    pub text: String,
    /// What is watched.
    pub target: Target,
    /// In this lane alone.
    pub lane: Option<usize>,
}

/// What a [`Watch`] watches.
#[derive(Clone, Debug)]
pub enum Target {
    /// A register of a function, in calls with so many calls around them.
    Register {
        /// The function.
        function: FuncId,
        /// The number of calls.
        depth: usize,
        /// The register.
        reg: Reg,
    },
    /// Bytes in memory.
    Memory {
        /// The first byte.
        address: u64,
        /// The number of bytes.
        bytes: usize,
        /// What they are, if they are one number.
        ty: Option<Ty>,
    },
}

/// A stop with its number.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The number by which it is deleted.
    pub id: u32,
    /// What it is.
    pub kind: Kind,
}

/// The kinds of stops.
#[derive(Clone, Debug)]
pub enum Kind {
    /// At a line.
    Break(Break),
    /// At a change.
    Watch(Watch),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Break(Break { text, condition: None, .. }) => write!(f, "{}: break at {text}", self.id),
            Kind::Break(Break { text, condition: Some((condition, _)), .. }) => {
                write!(f, "{}: break at {text} if {condition}", self.id)
            }
            Kind::Watch(Watch { text, .. }) => write!(f, "{}: watch {text}", self.id),
        }
    }
}

/// Why a run has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The stop's number.
    pub id: u32,
    /// More about it: the lanes in which the condition holds, or what is wrong with it; what changed.
    pub what: String,
}

/// Looks for stops.
pub struct Stops<'a> {
    lines: &'a Lines,
    export: &'a Export,
    stops: &'a [Stop],
    /// What the watched variables held before the instruction that may change them.
    before: Vec<Option<Vec<u64>>>,
    /// Why the last position that was found is one.
    pub hit: Option<Hit>,
}

impl<'a> Stops<'a> {
    /// Looks for these, in a call of an export.
    pub fn new(lines: &'a Lines, export: &'a Export, stops: &'a [Stop]) -> Stops<'a> {
        Stops { lines, export, stops, before: vec![None; stops.len()], hit: None }
    }

    fn is_hit(&self, stop: &Stop, before: Option<Vec<u64>>, view: &View<'_>) -> Option<String> {
        match &stop.kind {
            Kind::Break(at) => {
                let place = self.lines.place(view.function_id(), view.pc());
                let here = place == Some(at.place) && self.lines.begins(view.function_id(), view.pc());
                if here { holds(at, Scope { view, export: self.export, lines: self.lines }) } else { None }
            }
            Kind::Watch(watch) => {
                let before = before?;
                let after = watch.target.value(view)?;
                change(watch, &before, &after, view, self.lines)
            }
        }
    }
}

impl Probe for Stops<'_> {
    fn arrived(&mut self, view: &View<'_>, _: u64) -> bool {
        let mut hit = None;
        for at in 0..self.stops.len() {
            let before = self.before[at].take();
            let what = self.is_hit(&self.stops[at], before, view);
            hit = hit.or(what.map(|what| Hit { id: self.stops[at].id, what }));
        }
        let is_hit = hit.is_some();
        self.hit = hit.or(self.hit.take());
        is_hit
    }

    fn leaving(&mut self, view: &View<'_>, _: u64) {
        for (stop, before) in self.stops.iter().zip(&mut self.before) {
            *before = match &stop.kind {
                Kind::Watch(watch) => watch.target.before(view),
                Kind::Break(_) => None,
            };
        }
    }
}

/// The lanes in which a condition holds, as text; `None` if there is no active one.
fn holds(at: &Break, scope: Scope<'_, '_>) -> Option<String> {
    let view = scope.view;
    let Some((_, condition)) = &at.condition else { return Some(String::new()) };
    match number(condition, scope) {
        Err(error) => Some(format!("its condition cannot be computed: {error}")),
        Ok(value) => {
            let is_true = |&l: &usize| view.mask() >> l & 1 == 1 && value.word(l) != 0;
            let lanes: Vec<String> = (0..view.lanes()).filter(is_true).map(|l| l.to_string()).collect();
            match (lanes.len(), value.is_uniform) {
                (0, _) => None,
                (_, true) => Some("the condition holds".into()),
                (1, false) => Some(format!("the condition holds in lane {}", lanes[0])),
                _ => Some(format!("the condition holds in lanes {}", lanes.join(", "))),
            }
        }
    }
}

impl Target {
    /// What it holds, if the instruction that is to be executed may change it.
    fn before(&self, view: &View<'_>) -> Option<Vec<u64>> {
        let inst = view.inst();
        match *self {
            Target::Register { function, depth, reg } if inst.op == Op::Ret => {
                // It gives its results to the caller.
                let returns = view.depth() == depth + 1;
                let caller = if returns { view.stack().get(1).map(|frame| frame.function) } else { None };
                (caller == Some(function)).then(|| view.caller_register(reg)).flatten().map(|values| values.words)
            }
            Target::Register { reg, .. } => {
                let is_call = matches!(inst.op, Op::Call | Op::CallInd);
                let writes = inst.dst == reg || !is_call && view.function().list(inst.rets).contains(&reg);
                if writes { self.value(view) } else { None }
            }
            Target::Memory { .. } => {
                let may_write = matches!(inst.op.info().effect, Effect::Write | Effect::Effect);
                if may_write { self.value(view) } else { None }
            }
        }
    }

    /// What it holds, if it can be seen.
    fn value(&self, view: &View<'_>) -> Option<Vec<u64>> {
        match *self {
            Target::Register { function, depth, reg } => {
                let here = view.function_id() == function && view.depth() == depth;
                here.then(|| register(view, reg).words)
            }
            Target::Memory { address, bytes: n, .. } => {
                Some(bytes(view, address, n)?.iter().map(|&b| b as u64).collect())
            }
        }
    }
}

/// What has changed of a watched variable, as text.
fn change(watch: &Watch, before: &[u64], after: &[u64], view: &View<'_>, lines: &Lines) -> Option<String> {
    let Target::Register { reg, .. } = watch.target else {
        let what = match watch.target {
            Target::Memory { ty: Some(ty), .. } => {
                let number = |bytes: &[u64]| {
                    let bits = bytes.iter().rev().fold(0, |word, &byte| word << 8 | byte);
                    shown(Number(ty, bits))
                };
                format!("`{}`: {} → {}", watch.text, number(before), number(after))
            }
            _ => format!("`{}` has changed", watch.text),
        };
        return (before != after).then_some(what);
    };
    let decl = view.function().reg(reg);
    let is_uniform = decl.shape == Shape::Uniform;
    let lanes = |words: &[u64]| Lanes { ty: decl.ty, is_uniform, words: words.to_vec() };
    let (before, after) = (lanes(before), lanes(after));
    let is_wanted = |l: usize| is_uniform || watch.lane.is_none_or(|lane| lane == l);
    let differs = |&l: &usize| is_wanted(l) && before.word(l) != after.word(l);
    let n = if is_uniform { 1 } else { view.lanes() };
    let changed: Vec<usize> = (0..n).filter(differs).collect();
    let first = *changed.first()?;
    let of_lane = |l: usize| format!("{} → {}", before.text(l), after.text(l));
    let name = decl.name.as_ref().and_then(|name| lines.variable_name(name));
    let name = name.as_deref().unwrap_or(&watch.text);
    Some(match (is_uniform, changed.len()) {
        (true, _) => format!("`{name}`: {}", of_lane(first)),
        (false, 1) => format!("`{name}` in lane {first}: {}", of_lane(first)),
        (false, n) => format!("`{name}` in {n} lanes, first in lane {first}: {}", of_lane(first)),
    })
}
