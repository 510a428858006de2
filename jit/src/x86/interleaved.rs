//! Strided accesses whose lanes lie between one another's, as those to the members of records do, done together (interleaved access
//! groups).
//!
//! Of a group of loads whole vectors are loaded, from the first element of all to the last, of which permutations make the lanes of each.
//! Of a group of stores permutations make what memory is to hold, in whole vectors; what lies between and belongs to none of them is
//! left as it is, by masks. Whether that takes less time than to do each by itself is estimated.
//!
//! # Order
//!
//! A group of loads is done where its first stands. Between them stands nothing that writes to memory, may leave the region, or checks
//! whether a later one may be done: where the first is reached, so are all, and all that lies from their first element to their last
//! may be read. (Other threads may write meanwhile: what a program may see then it still may, as in [`passes::loads`].)
//!
//! A group of stores is done where its last stands. Between them stands nothing but pure instructions, so nothing that reads memory and no
//! exit finds it without what they store. They store to different bytes, so it does not matter in which order.
//!
//! [`passes::loads`]: crate::passes::loads

use super::inst::{Arg, Mem, Size};
use super::level::Level;
use super::memory::masked_store;
use super::select::Select;
use super::strided::Row;
use super::values::sized;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::AddressSum;
use crate::vcode::Location;
use foldhash::{HashMap, HashSet};
use regalloc2::VReg;
use std::ops::Range;

/// Most vectors that a group is loaded from, or stored to: they take registers.
const MOST_VECTORS: usize = 16;

// What operations take, in tenths of a nanosecond of an AMD EPYC of the fourth generation: a permutation or load of 64 bytes or fewer,
// storing 32 bytes (a vector, or under a mask, which takes longer for 64 bytes than twice for 32), and loading or storing an element.
const WIDE: usize = 3;
const NARROW: usize = 2;
const HALF: usize = 4;
const MASKED: usize = 5;
const ELEMENT: usize = 2;

/// The groups of stores of a block, as far as it has been translated.
#[derive(Default)]
pub(super) struct Groups {
    /// By the place of a group's last store.
    last: HashMap<usize, Vec<Member>>,
    /// The places of the others.
    waiting: HashSet<usize>,
}

/// An access of a group.
#[derive(Clone, Copy)]
struct Member {
    /// Its place in the block.
    at: usize,
    /// How many elements it lies behind the first of the group that was found.
    distance: isize,
}

/// Where a strided access is.
#[derive(Clone, Copy, PartialEq)]
struct Place {
    /// What addresses of a group have in common.
    origin: Origin,
    index: Option<(Value, u8)>,
    disp: i64,
}

/// What an address is counted from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Address(Value),
    /// Where a pointer leads to.
    Pointer(Value),
    /// The memory of frames.
    Frames,
}

/// An element: its vector, and its place there.
type Element = (usize, usize);

/// Elements by their places; what is nobody's may be anything.
type Wanted = Vec<Option<Element>>;

/// How vectors are made of the elements of others, by permutations of two each.
///
/// Elements are collected by halves of the sources, from each for as many results at once as a vector holds: for *n* results of all
/// elements of *n* sources, n·log₂ n permutations rather than n·(n-1), if *n* is a power of two.
#[derive(Debug)]
struct Plan {
    lanes: usize,
    /// What each vector holds: the sources, then what the steps make.
    held: Vec<Wanted>,
    steps: Vec<Step>,
    results: Vec<usize>,
}

/// A permutation.
#[derive(Debug)]
struct Step {
    of: [usize; 2],
    /// By place: the number of an element, those of the second vector from `lanes` on.
    choice: Vec<usize>,
}

impl Plan {
    fn new(sources: usize, lanes: usize, wanted: &[Wanted]) -> Plan {
        let whole = |source| (0..lanes).map(|at| Some((source, at))).collect();
        let held = (0..sources).map(whole).collect();
        let mut plan = Plan { lanes, held, steps: Vec::new(), results: Vec::new() };
        plan.results = plan.collect(0..sources, wanted, true);
        plan
    }

    /// Vectors that hold what is wanted of some sources: where it is wanted, or at any place.
    fn collect(&mut self, from: Range<usize>, wanted: &[Wanted], in_place: bool) -> Vec<usize> {
        if from.len() == 1 {
            let only = from.start;
            return wanted.iter().map(|wanted| self.made([Some(only), None], wanted, in_place)).collect();
        }
        let middle = from.start + from.len() / 2;
        let low = self.shared(from.start..middle, wanted);
        let high = self.shared(middle..from.end, wanted);
        let both = low.into_iter().zip(high).zip(wanted);
        both.map(|((low, high), wanted)| self.made([low, high], wanted, in_place)).collect()
    }

    /// By what is wanted: a vector that holds what is from some sources, for as many as it can.
    fn shared(&mut self, from: Range<usize>, wanted: &[Wanted]) -> Vec<Option<usize>> {
        let mut packs: Vec<Wanted> = Vec::new();
        let mut pack_of = Vec::new();
        for wanted in wanted {
            let own: Wanted = wanted.iter().copied().filter(|e| e.is_some_and(|(v, _)| from.contains(&v))).collect();
            if own.is_empty() {
                pack_of.push(None);
                continue;
            }
            match packs.last_mut() {
                Some(pack) if pack.len() + own.len() <= self.lanes => pack.extend(own),
                _ => packs.push(own),
            }
            pack_of.push(Some(packs.len() - 1));
        }
        let made = self.collect(from, &packs, false);
        pack_of.into_iter().map(|pack| pack.map(|pack| made[pack])).collect()
    }

    /// A vector of elements of one or two.
    fn made(&mut self, of: [Option<usize>; 2], wanted: &Wanted, in_place: bool) -> usize {
        let (first, second) = match of {
            [Some(first), Some(second)] => (first, second),
            [Some(only), None] | [None, Some(only)] => (only, only),
            [None, None] => return 0,
        };
        // All that each holds is by its place, so that what is wanted behind the last is not taken to be there.
        let is_there = wanted.iter().zip(&self.held[first]).all(|(want, have)| want.is_none() || want == have);
        if first == second && (!in_place || is_there) {
            return first;
        }
        let place = |vector: usize, e: Element| self.held[vector].iter().position(|&have| have == Some(e));
        let number = |e: Element| place(first, e).or_else(|| place(second, e).map(|at| self.lanes + at));
        // An element is in one of the two; what is nobody's stays.
        let element = |at: usize| wanted.get(at).copied().flatten().and_then(number).unwrap_or(at);
        let choice = (0..self.lanes).map(element).collect();
        self.steps.push(Step { of: [first, second], choice });
        self.held.push((0..self.lanes).map(|at| wanted.get(at).copied().flatten()).collect());
        self.held.len() - 1
    }

    /// Which sources it takes elements of.
    fn sources(&self) -> Vec<usize> {
        let n = self.held.len() - self.steps.len();
        let uses = |v: usize| self.results.contains(&v) || self.steps.iter().any(|step| step.of.contains(&v));
        (0..n).filter(|&v| uses(v)).collect()
    }
}

/// What a load or permutation of a vector takes.
fn cost(form: Size) -> usize {
    if form == Size::Z { WIDE } else { NARROW }
}

/// A mask of places.
fn mask_of(wanted: &[Option<Element>]) -> u64 {
    wanted.iter().enumerate().filter(|(_, e)| e.is_some()).fold(0, |mask, (at, _)| mask | 1 << at)
}

/// The parts of a vector that are stored: the first element, how many, and which of them.
fn parts(row: Row, wanted: &Wanted) -> Vec<(usize, usize, u64)> {
    let full = |n: usize| u64::MAX >> (64 - n);
    let all = mask_of(wanted);
    if all == full(row.lanes) || row.form() != Size::Z {
        return Some((0, row.lanes, all)).filter(|_| all != 0).into_iter().collect();
    }
    let half = row.lanes / 2;
    let parts = [0, half].map(|first| (first, half, all >> first & full(half)));
    parts.into_iter().filter(|&(.., mask)| mask != 0).collect()
}

/// What each vector of a group of stores is to hold: elements are lanes of the members.
fn placed(rows: &[Row]) -> Vec<Wanted> {
    let mut wanted = vec![vec![None; rows[0].lanes]; rows[0].vectors()];
    for (member, row) in rows.iter().enumerate() {
        for lane in 0..row.lanes {
            let (vector, at) = row.place(lane);
            wanted[vector][at] = Some((member, lane));
        }
    }
    wanted
}

/// How the members of a group lie, in their order.
fn rows(row: Row, members: &[Member]) -> Vec<Row> {
    let distances = || members.iter().map(|member| member.distance);
    let (least, most) = (distances().min().unwrap_or(0), distances().max().unwrap_or(0));
    let around = |d: isize| ((d - least) as usize, (most - d) as usize);
    distances().map(around).map(|(before, behind)| Row { before, behind, ..row }).collect()
}

impl<L: Level> Select<'_, L> {
    /// Loads the lanes of a group that begins with a load, if there is one and it takes less time. Returns whether it has.
    pub(super) fn load_group(&mut self, inst: &Inst, row: Row, from: Mem) -> bool {
        if !L::HAS_MASKS {
            return false;
        }
        let members = self.members(inst, row, |kind| kind.is_pure() || kind.is_plain_load());
        let Some((first, _)) = members.split_first().filter(|(_, others)| !others.is_empty()) else { return false };
        debug_assert_eq!(first.distance, 0, "a group begins with the load that it was looked for from");
        let rows = rows(row, &members);
        if rows[0].vectors() * self.n_pieces(row.size) > MOST_VECTORS {
            return false;
        }
        let wanted: Vec<Wanted> =
            rows.iter().map(|row| (0..row.lanes).map(|lane| Some(row.place(lane))).collect()).collect();
        let plan = Plan::new(rows[0].vectors(), row.lanes, &wanted);
        let each = cost(row.form());
        let alone = if row.pays() { (2 * row.vectors() - 1) * each } else { row.lanes * ELEMENT };
        if (plan.sources().len() + plan.steps.len()) * each >= members.len() * alone {
            return false;
        }
        let bytes = (row.lanes * row.size) as i32 * row.step as i32;
        let mut made = vec![Vec::new(); members.len()];
        for piece in 0..self.n_pieces(row.size) {
            let from = from.plus(bytes * piece as i32);
            let mut vectors: Vec<Option<VReg>> = vec![None; rows[0].vectors()];
            for v in plan.sources() {
                vectors[v] = Some(self.load_vector(row.form(), rows[0].vector(from, v)));
            }
            let results = self.carry_out(row, &plan, vectors);
            made.iter_mut().zip(results).for_each(|(made, x)| made.extend(x));
        }
        let insts = &self.region.block(self.block).insts;
        for (member, pieces) in members.iter().zip(made) {
            self.set_pieces(&insts[member.at], pieces);
        }
        true
    }

    /// Does a strided store, if it is one of a group, with that: where the last of them stands. Returns whether it has been, or will be.
    pub(super) fn store_group(&mut self, inst: &Inst, row: Row, to: Mem) -> bool {
        let Some(at) = self.place_in_block(inst).filter(|_| L::HAS_MASKS) else { return false };
        if self.local.groups.waiting.contains(&at) {
            return true;
        }
        let members = match self.local.groups.last.remove(&at) {
            Some(members) => members,
            None => {
                let members = self.members(inst, row, Kind::is_pure);
                if !self.pays_to_store(row, &members) {
                    return false;
                }
                members
            }
        };
        match members.split_last() {
            Some((last, others)) if last.at != at => {
                self.local.groups.waiting.extend(others.iter().map(|member| member.at));
                self.local.groups.last.insert(last.at, members);
            }
            _ => self.store_together(row, &members, to),
        }
        true
    }

    fn pays_to_store(&self, row: Row, members: &[Member]) -> bool {
        let rows = rows(row, members);
        if rows[0].vectors() > MOST_VECTORS {
            return false;
        }
        let wanted = placed(&rows);
        let plan = Plan::new(rows.len(), row.lanes, &wanted);
        let part = |&(_, n, mask): &(usize, usize, u64)| match mask.count_ones() as usize == n {
            true => (n * row.size).div_ceil(32) * HALF,
            false => MASKED,
        };
        let stores: usize = wanted.iter().flat_map(|wanted| parts(row, wanted)).map(|p| part(&p)).sum();
        plan.steps.len() * cost(row.form()) + stores < members.len() * row.lanes * ELEMENT
    }

    /// Stores a group; `to` is the address of the last one.
    fn store_together(&mut self, row: Row, members: &[Member], to: Mem) {
        let rows = rows(row, members);
        let wanted = placed(&rows);
        let plan = Plan::new(rows.len(), row.lanes, &wanted);
        let insts = &self.region.block(self.block).insts;
        let bytes = (row.lanes * row.size) as i32 * row.step as i32;
        for piece in 0..self.n_pieces(row.size) {
            let lanes = members.iter().map(|member| Some(self.piece(insts[member.at].args[1], row.size, piece)));
            let lanes = lanes.collect();
            let made = self.carry_out(row, &plan, lanes);
            let to = to.plus(bytes * piece as i32);
            for (v, (x, wanted)) in made.into_iter().zip(&wanted).enumerate() {
                let Some(x) = x else { continue };
                let to = rows[rows.len() - 1].vector(to, v);
                for (first, n, mask) in parts(row, wanted) {
                    let x = self.part(x, row.form(), first * row.size, n * row.size);
                    let part = Row { lanes: n, ..row };
                    self.store_part(part, mask, to.plus((first * row.size) as i32), x);
                }
            }
        }
    }

    /// Stores some elements of a vector.
    fn store_part(&mut self, row: Row, mask: u64, to: Mem, x: VReg) {
        let form = row.form();
        if mask.count_ones() as usize == row.lanes {
            return self.store_vector(form, to, x);
        }
        let mask = self.mask_of_constant(mask);
        let args = [Arg::Mem(to), Arg::Use(x, form)];
        self.plain_masked(sized(masked_store(row.size), form), &args, mask, false);
    }

    /// The results of a plan; what it takes nothing of need not be there.
    fn carry_out(&mut self, row: Row, plan: &Plan, mut vectors: Vec<Option<VReg>>) -> Vec<Option<VReg>> {
        for Step { of: [first, second], choice } in &plan.steps {
            let made = vectors[*first].zip(vectors[*second]).map(|(first, second)| {
                let choice = self.choices(row, |at| choice[at]);
                self.permute(row, first, choice, Arg::Use(second, row.form()))
            });
            vectors.push(made);
        }
        plan.results.iter().map(|&v| vectors[v]).collect()
    }

    /// The strided accesses like one, from it on, whose elements lie between its own. `passes` tells what else may stand between them.
    fn members(&self, inst: &Inst, row: Row, passes: impl Fn(Kind) -> bool) -> Vec<Member> {
        let insts = &self.region.block(self.block).insts;
        let Some(first) = self.place_in_block(inst) else { return Vec::new() };
        let here = self.place_of(inst);
        let mut members = vec![Member { at: first, distance: 0 }];
        for (at, other) in insts.iter().enumerate().skip(first + 1) {
            let distance = self.distance(inst, here, other, row);
            let distance = distance.filter(|&d| members.iter().all(|m| is_between(m.distance, d, row.step)));
            match distance {
                Some(distance) => members.push(Member { at, distance }),
                None if passes(other.kind) || other.kind.only_counts() => {}
                None => break,
            }
        }
        members
    }

    /// How many elements an access lies behind another one like it, if that is known and its result is wanted still.
    fn distance(&self, inst: &Inst, here: Place, other: &Inst, row: Row) -> Option<isize> {
        let is_like = match (inst.kind, other.kind) {
            (Kind::LoadStrided { stride, .. }, Kind::LoadStrided { ty, stride: own })
            | (Kind::StoreStrided { stride, .. }, Kind::StoreStrided { ty, stride: own }) => {
                stride == own && ty.size() == row.size
            }
            _ => false,
        };
        let is_wanted = |v: Value| self.demand.is_demanded(v) && matches!(self.locations[v.index()], Location::Nowhere);
        if !is_like || !other.result.is_none_or(is_wanted) {
            return None;
        }
        let there = self.place_of(other);
        let bytes = there.disp.wrapping_sub(here.disp) as isize;
        let same = Place { disp: 0, ..there } == Place { disp: 0, ..here };
        (same && bytes % row.size as isize == 0).then_some(bytes / row.size as isize)
    }

    fn place_in_block(&self, inst: &Inst) -> Option<usize> {
        self.region.block(self.block).insts.iter().position(|other| std::ptr::eq(other, inst))
    }

    fn place_of(&self, inst: &Inst) -> Place {
        let AddressSum { base, index, disp } = AddressSum::of(&self.values, &L::FORMS, self.block, inst.args[0]);
        let (origin, own) = match self.values.inst(base).map(|inst| (inst.kind, &inst.args[..])) {
            Some((Kind::HostAddress { disp: own }, &[pointer, _])) => (Origin::Pointer(pointer), own),
            Some((Kind::FrameHost { at, .. }, _)) => (Origin::Frames, at as i64),
            _ => (Origin::Address(base), 0),
        };
        Place { origin, index, disp: own.wrapping_add(disp.into()) }
    }
}

/// Returns whether accesses so many elements behind another are of different elements of one record.
fn is_between(a: isize, b: isize, step: isize) -> bool {
    a != b && a.abs_diff(b) < step.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a plan gives.
    fn carried_out(plan: &Plan, sources: usize) -> Vec<Vec<Element>> {
        let whole = |source| (0..plan.lanes).map(|at| (source, at)).collect();
        let mut vectors: Vec<Vec<Element>> = (0..sources).map(whole).collect();
        for Step { of: [first, second], choice } in &plan.steps {
            let both = [&vectors[*first][..], &vectors[*second]].concat();
            vectors.push(choice.iter().map(|&e| both[e]).collect());
        }
        plan.results.iter().map(|&v| vectors[v].clone()).collect()
    }

    /// Groups of some members of records.
    fn groups() -> impl Iterator<Item = Vec<Row>> {
        let shapes = [2, 4, 8, 16, 32].into_iter().flat_map(|lanes| (2..=9).map(move |step| (lanes, step)));
        let chosen =
            |step: usize| (1u32..1 << step).filter(move |bits| step < 6 || bits % 7 == 0 || bits + 1 == 1 << step);
        let members = |bits: u32| (0..9).filter(move |at| bits >> at & 1 != 0);
        let member = |at, distance: u32| Member { at, distance: distance as isize };
        shapes.flat_map(move |(lanes, step)| {
            let signs = [step as isize, -(step as isize)];
            chosen(step).flat_map(move |bits| {
                let members: Vec<Member> =
                    members(bits).enumerate().map(|(at, distance)| member(at, distance)).collect();
                signs.map(|step| rows(Row { size: 4, lanes, step, before: 0, behind: 0 }, &members))
            })
        })
    }

    #[test]
    fn all_members_are_picked() {
        for rows in groups() {
            let wanted: Vec<Wanted> =
                rows.iter().map(|row| (0..row.lanes).map(|lane| Some(row.place(lane))).collect()).collect();
            let plan = Plan::new(rows[0].vectors(), rows[0].lanes, &wanted);
            let made = carried_out(&plan, rows[0].vectors());
            let made: Vec<Wanted> = made.into_iter().map(|x| x.into_iter().map(Some).collect()).collect();
            assert_eq!(made, wanted, "{rows:?}");
            assert!(plan.steps.len() <= rows.len() * rows[0].vectors(), "{rows:?}");
        }
    }

    /// Every lane is stored once, at its place, and nothing else is.
    #[test]
    fn all_members_are_placed() {
        for rows in groups() {
            let (first, wanted) = (rows[0], placed(&rows));
            let plan = Plan::new(rows.len(), first.lanes, &wanted);
            let made = carried_out(&plan, rows.len());
            let mut memory = vec![Vec::new(); first.vectors() * first.lanes];
            for (v, (made, wanted)) in made.iter().zip(&wanted).enumerate() {
                for (from, n, mask) in parts(Row { size: 64 / first.lanes, ..first }, wanted) {
                    for at in (0..n).filter(|at| mask >> at & 1 != 0) {
                        memory[first.start(v) + from + at].push(made[from + at]);
                    }
                }
            }
            let mut want = vec![Vec::new(); memory.len()];
            for (member, row) in rows.iter().enumerate() {
                for lane in 0..row.lanes {
                    let from_first = if row.step < 0 { row.lanes - 1 - lane } else { lane };
                    want[row.before + from_first * row.step.unsigned_abs()].push((member, lane));
                }
            }
            assert_eq!(memory, want, "{rows:?}");
        }
    }

    /// Where the number of members is a power of two, each vector is halved and joined as often as that has factors.
    #[test]
    fn whole_groups_take_few_permutations() {
        for (step, permutations) in [(2, 2), (3, 6), (4, 8), (8, 24)] {
            let members: Vec<Member> = (0..step).map(|at| Member { at: at as usize, distance: at }).collect();
            let rows = rows(Row { size: 4, lanes: 16, step, before: 0, behind: 0 }, &members);
            assert_eq!(Plan::new(rows.len(), 16, &placed(&rows)).steps.len(), permutations, "{step}");
        }
    }
}
