//! The passes over a region, in their order. Each keeps the invariants of the IR; debug builds verify after each.
//!
//! | pass | what |
//! |---|---|
//! | [`params`] | parameters that always bring the same value disappear |
//! | [`straighten`] | blocks with one predecessor join it, if they are all that follows |
//! | [`fold`] | what depends on constants is computed, what has a simpler form gets it |
//! | [`mem2reg`] | cells of private memory become values |
//! | [`sink_frames`] | memory of frames for which only exits ask is entered there |
//! | [`gvn`] | equal pure instructions are computed once |
//! | [`guards`] | guards, branches and masks that earlier ones decide disappear |
//! | [`strength_reduction`] | divisions by what is constant or does not change in a loop become multiplications |
//! | [`pointer_induction`] | pointers that loops advance are a pointer from before and a distance |
//! | [`elements`] | what is accessed by pointers to elements is accessed by the elements' numbers |
//! | [`bounds`] | checks of bounds that others imply disappear, those by one index are merged |
//! | [`pointers`] | what is asked about the memory of pointers that change in a loop is asked about where they come from |
//! | [`licm`] | pure instructions leave loops that do not change them |
//! | [`loads`] | what has been loaded, or stored, on the way is not loaded again |
//! | [`mask_words`] | masks of lanes that wait for their turns are words |
//! | [`implied_checks`] | tests of the program decide checks of bounds, too |
//! | [`addresses`] | scaled indices are computed where memory is accessed, as parts of addresses |
//! | [`sink`] | what only a cold block needs, or one behind a loop, is computed there |
//! | [`fuse`] | arms that compute the same on different operands become one |
//! | [`loop_versioning`] | counted loops check their range once and run without checks |
//! | [`predictive_commoning`] | what a round of a loop has loaded, or stored, the next one does not load again |
//! | [`lone_checks`] | checks of bounds by pointers that are checked once take fewer instructions |
//! | [`ticks`] | fuel of several places in a block is counted at the first |
//! | [`narrow`] | vectors of integers of which only low bits count become narrower |
//! | [`rematerialise`] | what only snapshots need is computed anew before calls |
//! | [`nan_bits`] | bits of floats are as they are where nobody can tell one NaN from another |
//! | [`dont_care`] | gathers do not clear don't-care lanes: inactive ones that nobody sees |
//! | [`dead`] | what nothing uses disappears, registers that did not change too |
//!
//! None of them moves anything across an effect, and pure instructions cannot fail, so traps and effects stay what they
//! were: a guard can only come earlier, where leaving it has the interpreter do the same instructions. Every use in a
//! snapshot counts as a use at the instruction that may leave by it.

pub mod addresses;
pub mod bounds;
pub mod dead;
pub(crate) mod defs;
pub mod dont_care;
pub mod elements;
#[cfg(feature = "planted-faults")]
pub(crate) mod faults;
pub mod fold;
pub mod fuse;
pub mod guards;
pub mod gvn;
pub mod implied_checks;
pub mod last_gang;
pub mod licm;
pub mod loads;
pub mod lone_checks;
pub mod loop_versioning;
pub(crate) mod make;
pub mod mask_words;
pub mod mem2reg;
pub mod nan_bits;
pub mod narrow;
pub mod params;
pub mod pointer_induction;
pub mod pointers;
pub mod predictive_commoning;
mod ranges;
pub mod rematerialise;
pub mod same_pointers;
mod sink;
pub mod sink_frames;
pub mod straighten;
pub mod strength_reduction;
mod sums;
pub mod ticks;

use crate::abort::{Abort, Defect};
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Value, verify};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// A pass and its name.
pub type Pass = (&'static str, fn(&mut Region));

/// The passes in their order.
pub const PASSES: &[Pass] = &[
    ("params", params::run),
    ("straighten", straighten::run),
    ("fold", fold::run),
    ("params", params::run),
    ("straighten", straighten::run),
    ("mem2reg", mem2reg::run),
    ("fold", fold::run),
    ("sink_frames", sink_frames::run),
    ("gvn", gvn::run),
    ("guards", guards::run),
    ("last_gang", last_gang::run),
    ("strength_reduction", strength_reduction::run),
    ("fold", fold::run),
    ("params", params::run),
    ("straighten", straighten::run),
    ("same_pointers", same_pointers::run),
    ("pointer_induction", pointer_induction::run),
    ("elements", elements::run),
    ("bounds", bounds::run),
    ("pointers", pointers::run),
    ("licm", licm::run),
    ("gvn", gvn::run),
    ("loads", loads::run),
    ("dead", dead::run),
    ("mask_words", mask_words::run),
    ("implied_checks", implied_checks::run),
    ("addresses", addresses::run),
    ("sink", sink::run),
    ("fuse", fuse::run),
    ("loop_versioning", loop_versioning::run),
    ("predictive_commoning", predictive_commoning::run),
    ("lone_checks", lone_checks::run),
    ("ticks", ticks::run),
    ("narrow", narrow::run),
    ("rematerialise", rematerialise::run),
    ("nan_bits", nan_bits::run),
    ("dont_care", dont_care::run),
    ("dead", dead::run),
];

/// Runs all passes.
pub fn optimise(region: &mut Region) -> Result<(), Abort> {
    #[cfg(feature = "planted-faults")]
    faults::after("record", region, 0);
    check(region, "record")?;
    for (name, pass) in PASSES {
        #[cfg(feature = "planted-faults")]
        let n_values = region.types.len();
        pass(region);
        #[cfg(feature = "planted-faults")]
        faults::after(name, region, n_values);
        check(region, name)?;
    }
    Ok(())
}

/// Returns whether an operation compares numbers.
fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

/// Returns whether an operation is arithmetic of floats, if they are what it is of: it gives NaN if an operand is one, whichever.
fn is_float_arithmetic(op: Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Mul | Op::FDiv | Op::Fma | Op::Sqrt)
}

/// How many bits of a float are its fraction.
fn fraction_bits(ty: Ty) -> u32 {
    match ty {
        Ty::F16 => 10,
        Ty::F32 => 23,
        _ => 52,
    }
}

/// In debug builds, checks that the region is still valid.
fn check(region: &Region, after: &'static str) -> Result<(), Abort> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify(region).map_err(|e| {
        let why = format!("{e}\n{region}");
        Abort::Defect(Defect::InvalidRegion { after, why })
    })
}

/// The pointers to memory that does not end while the region is executed, if they lead to memory at all.
///
/// Where nothing is freed, memory that ends within a region is that of frames that it, or what it calls, has made. Pointers to it are
/// what makes such a frame gives, and what has been loaded, returned or otherwise got since the first one began. So those last that the
/// region was entered with, what it has loaded before any frame, and what is computed from these alone. A sum of a pointer and an
/// offset stays in the pointer's region (`vm::sem::padd`), wherever the offset comes from. Where something may be freed, that may be what
/// any pointer leads to, and none lasts.
pub(crate) struct Lasting {
    /// By value; nothing, if no memory ends within the region.
    values: Option<Vec<bool>>,
}

impl Lasting {
    pub(crate) fn new(region: &Region, dominators: &Dominators) -> Lasting {
        if !region.may_end_memory() {
            return Lasting { values: None };
        }
        let mut values = vec![false; region.types.len()];
        if region.may_free() {
            return Lasting { values: Some(values) };
        }
        let mut before_frames = true;
        for &b in dominators.order() {
            for inst in &region.block(b).insts {
                before_frames &= b == BlockId(0) && !region.makes_or_ends_memory(inst.kind);
                let is_given = inst.kind.is_pure() || before_frames;
                if let Some(result) = inst.result.filter(|_| is_given) {
                    let of_region = match inst.kind {
                        Kind::Op { op: Op::PAdd, .. } => &inst.args[..1],
                        _ => &inst.args[..],
                    };
                    values[result.index()] = of_region.iter().all(|arg| values[arg.index()]);
                }
            }
        }
        Lasting { values: Some(values) }
    }

    /// Returns whether all pointers are such.
    pub(crate) fn all(&self) -> bool {
        self.values.is_none()
    }

    /// Returns whether a value is such a pointer.
    pub(crate) fn has(&self, v: Value) -> bool {
        self.values.as_ref().is_none_or(|values| values.get(v.index()) == Some(&true))
    }

    /// Returns whether an equal instruction elsewhere may stand for this one. Facts about a region of memory hold as long as it
    /// exists; others hold for a while: see [`Quiet`].
    pub(crate) fn is_stable(&self, inst: &Inst) -> bool {
        match inst.kind {
            Kind::RegionBase | Kind::RegionLen { .. } | Kind::HostAddress { .. } => self.has(inst.args[0]),
            kind => kind.is_pure(),
        }
    }
}

/// Where no memory of frames begins or ends, and none is freed.
///
/// If a loop does neither, what is true of a pointer's memory where one of its blocks is executed is true in all that this block
/// dominates in the loop: who leaves the loop and comes back, comes by its header, and by that block again. So it is true at the
/// end of the block before the loop, if the pointer is at hand there.
#[derive(Default)]
pub(crate) struct Quiet {
    /// By loop.
    loops: Vec<bool>,
    /// By block: the outermost of the loops around it that are quiet. Nothing, if nobody asks.
    outermost: Vec<Option<usize>>,
}

impl Quiet {
    pub(crate) fn new(region: &Region, loops: &licm::Loops) -> Quiet {
        let is_quiet = |b: BlockId| !region.block(b).insts.iter().any(|inst| region.makes_or_ends_memory(inst.kind));
        let blocks = || (0..region.blocks.len() as u32).map(BlockId);
        let loud: Vec<BlockId> = blocks().filter(|&b| !is_quiet(b)).collect();
        let quiet: Vec<bool> = (0..loops.count()).map(|l| !loud.iter().any(|&b| loops.contains(l, b))).collect();
        let outermost = blocks().map(|b| loops.around(b).take_while(|&l| quiet[l]).last()).collect();
        Quiet { loops: quiet, outermost }
    }

    /// Returns whether a loop is quiet.
    pub(crate) fn is_quiet(&self, l: usize) -> bool {
        self.loops.get(l) == Some(&true)
    }

    /// The outermost quiet loop around a block.
    pub(crate) fn around(&self, block: BlockId) -> Option<usize> {
        self.outermost.get(block.index()).copied().flatten()
    }
}

/// What stands for each value, as [`replace`] takes it, while all stand for themselves.
pub(crate) fn identity(region: &Region) -> Vec<Value> {
    (0..region.types.len() as u32).map(Value).collect()
}

/// Replaces values everywhere. `to[v]` is what stands for `v`, itself replaced.
pub(crate) fn replace(region: &mut Region, to: &[Value]) {
    let new = |v: &mut Value| *v = to[v.index()];
    for block in &mut region.blocks {
        for inst in &mut block.insts {
            inst.args.iter_mut().for_each(new);
        }
        if let crate::ir::End::Branch { cond, .. } = &mut block.end {
            new(cond);
        }
        block.end.edges_mut().flat_map(|e| &mut e.args).for_each(new);
    }
    region.exits.iter_mut().flat_map(|e| e.values_mut()).for_each(new);
}
