//! What programs have reached: constructs of the language, operations with their types, shapes, masks and widths in the
//! interpreter, and what the JIT did.

use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};
use spmdvm::vm::isa::{OPS, Op};
use spmdvm::vm::observe::{Observer, View};
use spmdvm::vm::types::{Shape, Ty};
use spmdvm::{Engine, LoopInfo};
use std::collections::{BTreeMap, BTreeSet};

/// Which lanes were active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lanes {
    /// All.
    All,
    /// One of several.
    One,
    /// Some.
    Some,
}

impl Lanes {
    const ALL: [Lanes; 3] = [Lanes::All, Lanes::One, Lanes::Some];

    fn of(mask: u64, lanes: usize) -> Lanes {
        match mask {
            _ if mask == u64::MAX >> (64 - lanes) => Lanes::All,
            0 => Lanes::Some,
            _ if mask & (mask - 1) == 0 => Lanes::One,
            _ => Lanes::Some,
        }
    }
}

/// An operation as it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Executed(u64);

impl Executed {
    fn of(view: &View<'_>) -> Executed {
        let inst = view.inst();
        let shape = |at: usize| match view.function().regs.get(inst.src[at].index()) {
            Some(decl) if decl.shape == Shape::Varying => 2,
            Some(_) => 1,
            None => 0u64,
        };
        let shapes = (0..3).fold(0, |all, at| all * 3 + shape(at));
        let mask = Lanes::of(view.mask(), view.lanes()) as u64;
        let width = view.lanes().trailing_zeros() as u64;
        Executed(
            (((inst.op as u64 * 16 + inst.ty as u64) * 16 + inst.from as u64) * 27 + shapes) * 32 + mask * 8 + width,
        )
    }

    fn op(self) -> Option<Op> {
        Op::from_code((self.0 / 32 / 27 / 256) as u8)
    }

    fn ty(self) -> usize {
        (self.0 / 32 / 27 / 16 % 16) as usize
    }

    fn lanes(self) -> u64 {
        self.0 / 8 % 4
    }

    fn width(self) -> u64 {
        1 << (self.0 % 8)
    }

    /// The same at any width.
    fn at_any_width(self) -> u64 {
        self.0 / 8
    }
}

/// What has been reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    executed: FxHashSet<Executed>,
    /// The same at any width, to tell what is new.
    at_any_width: FxHashSet<u64>,
    /// By engine: what its JIT did.
    jit: BTreeSet<(String, String)>,
    /// What programs were made of.
    constructs: BTreeSet<String>,
}

impl Coverage {
    /// Notes what an observed run executes.
    pub(super) fn observer(&mut self) -> impl Observer + '_ {
        Notes { coverage: self, noted: Vec::new() }
    }

    /// Notes what a program is made of.
    pub(super) fn add_constructs(&mut self, constructs: BTreeSet<String>) {
        self.constructs.extend(constructs);
    }

    /// Notes what an engine did with the loops of a program.
    pub(super) fn add_loops(&mut self, engine: Engine, loops: &[LoopInfo]) {
        let mut note = |what: String| {
            self.jit.insert((engine.to_string(), what));
        };
        for info in loops {
            for abort in [&info.aborted, &info.refused].into_iter().flatten() {
                note(format!("interpreted: {abort}"));
            }
            for version in &info.versions {
                version.exits.iter().for_each(|exit| note(format!("exit: {}", exit.reason)));
                for variant in &version.variants {
                    let outcomes =
                        [("hit", variant.hit), ("missed", variant.missed)].into_iter().filter(|(_, n)| *n > 0);
                    outcomes.for_each(|(outcome, _)| note(format!("variant: {:?} {outcome}", variant.variant)));
                }
            }
        }
    }

    /// Adds what another has; returns whether something of it is new (at another width alone is not).
    pub fn add(&mut self, other: &Coverage) -> bool {
        let before = self.at_any_width.len() + self.jit.len() + self.constructs.len();
        self.executed.extend(&other.executed);
        self.at_any_width.extend(&other.at_any_width);
        self.jit.extend(other.jit.iter().cloned());
        self.constructs.extend(other.constructs.iter().cloned());
        self.at_any_width.len() + self.jit.len() + self.constructs.len() > before
    }

    /// How many things have been reached.
    pub fn len(&self) -> usize {
        self.executed.len() + self.jit.len() + self.constructs.len()
    }

    /// Returns whether nothing has been reached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The [constructs](super::constructs) of the language that programs were made of.
    pub fn constructs(&self) -> &BTreeSet<String> {
        &self.constructs
    }

    /// Operations that were executed, with each of their types.
    pub fn operations(&self) -> BTreeSet<(&'static str, Ty)> {
        let typed = self.executed.iter().filter_map(|one| Some((one.op()?.info().name, *Ty::ALL.get(one.ty())?)));
        typed.collect()
    }

    /// All operations of the table with all their types.
    pub fn all_operations() -> BTreeSet<(&'static str, Ty)> {
        let typed = OPS.iter().flat_map(|row| match row.types.iter().next() {
            Some(_) => row.types.iter().map(|ty| (row.name, ty)).collect::<Vec<_>>(),
            None => vec![(row.name, Ty::Bool)],
        });
        typed.collect()
    }

    /// How many operations with their types were executed by which lanes.
    pub fn by_lanes(&self) -> Vec<(Lanes, usize)> {
        let count = |lanes: Lanes| {
            let of = self.executed.iter().filter(|one| one.lanes() == lanes as u64);
            of.map(|one| (one.op(), one.ty())).collect::<FxHashSet<_>>().len()
        };
        Lanes::ALL.iter().map(|&lanes| (lanes, count(lanes))).collect()
    }

    /// How many operations with their types were executed at which widths.
    pub fn by_width(&self) -> BTreeMap<u64, usize> {
        let mut found: BTreeMap<u64, FxHashSet<_>> = BTreeMap::new();
        for one in &self.executed {
            found.entry(one.width()).or_default().insert((one.op(), one.ty()));
        }
        found.into_iter().map(|(width, set)| (width, set.len())).collect()
    }

    /// What the JITs did: by engine.
    pub fn jit(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut by_engine: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (engine, what) in &self.jit {
            by_engine.entry(engine).or_default().push(what);
        }
        by_engine
    }

    /// It as JSON, to go on from.
    pub fn to_json(&self) -> Json {
        let mut executed: Vec<u64> = self.executed.iter().map(|one| one.0).collect();
        executed.sort_unstable();
        json!({ "executed": executed, "jit": self.jit, "constructs": self.constructs })
    }

    /// What [`to_json`](Self::to_json) gave; `None` if it is something else.
    pub fn from_json(json: &Json) -> Option<Coverage> {
        let executed = json.get("executed")?.as_array()?.iter().map(|n| n.as_u64().map(Executed));
        let executed: FxHashSet<Executed> = executed.collect::<Option<_>>()?;
        let jit = serde_json::from_value(json.get("jit")?.clone()).ok()?;
        let constructs = serde_json::from_value(json.get("constructs")?.clone()).ok()?;
        let at_any_width = executed.iter().map(|one| one.at_any_width()).collect();
        Some(Coverage { at_any_width, executed, jit, constructs })
    }
}

struct Notes<'c> {
    coverage: &'c mut Coverage,
    /// By function and instruction: the [`Lanes`] that have been noted, a bit each. Nearly all that is executed has been noted, and
    /// one program and width is observed.
    noted: Vec<Box<[u8]>>,
}

impl Notes<'_> {
    /// Returns whether these lanes of an instruction have been noted, and takes them as noted.
    fn knows(&mut self, view: &View<'_>, lanes: Lanes) -> bool {
        let (function, pc) = (view.function_id().0 as usize, view.pc() as usize);
        if self.noted.is_empty() {
            let functions = view.program().functions.iter();
            self.noted = functions.map(|function| vec![0; function.code.len()].into()).collect();
        }
        let (noted, bit) = (&mut self.noted[function][pc], 1 << lanes as u32);
        let knows = *noted & bit != 0;
        *noted |= bit;
        knows
    }
}

impl Observer for Notes<'_> {
    fn before(&mut self, view: &View<'_>) {
        if self.knows(view, Lanes::of(view.mask(), view.lanes())) {
            return;
        }
        let executed = Executed::of(view);
        if self.coverage.executed.insert(executed) {
            self.coverage.at_any_width.insert(executed.at_any_width());
        }
    }
}
