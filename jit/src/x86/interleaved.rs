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

use super::avx2::permutation::{self, Choice, Order, Pick, Recipe};
use super::inst::{Arg, Mem, Size};
use super::level::Level;
use super::memory::masked_store;
use super::select::{Select, imm8};
use super::strided::Row;
use super::values::sized;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::AddressSum;
use crate::vcode::Location;
use foldhash::{HashMap, HashSet};
use iced_x86::Code;
use regalloc2::VReg;
use std::ops::Range;

/// Most vectors that a group is loaded from, or stored to: they take registers.
fn most_vectors<L: Level>() -> usize {
    (L::N_VECTORS + 2) / 2
}

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

/// What permutes the elements of two vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum By {
    /// One instruction, whatever is wanted.
    One,
    /// [`permutation`], of elements of so many bytes.
    Several { size: usize },
}

impl By {
    /// The most that two vectors hold is arranged by: what is wanted of them, wherever it is easily had.
    fn arranged(self, lanes: usize, elements: Vec<usize>) -> Vec<Option<usize>> {
        match self {
            By::One => {
                let mut choice: Vec<Option<usize>> = elements.into_iter().map(Some).collect();
                choice.resize(lanes, None);
                choice
            }
            By::Several { size } => {
                let parts = size / 4;
                let elements: Vec<usize> = elements.into_iter().flat_map(|e| parts * e..parts * (e + 1)).collect();
                let choice = permutation::arranged(&elements, parts == 2);
                choice.iter().step_by(parts).map(|e| e.map(|e| e / parts)).collect()
            }
        }
    }

    /// How many instructions a permutation takes.
    fn instructions(self, choice: &[Option<usize>]) -> usize {
        match self {
            By::One => 1,
            By::Several { size } => Recipe::of(&in_fours(choice, size)).instructions(),
        }
    }
}

/// The elements of a permutation as elements of 4 bytes.
fn in_fours(choice: &[Option<usize>], size: usize) -> Choice {
    let parts = size / 4;
    std::array::from_fn(|at| choice[at / parts].map(|e| parts * e + at % parts))
}

/// How vectors are made of the elements of others, by permutations of two each.
///
/// Elements are collected by halves of the sources, from each for as many results at once as a vector holds: for *n* results of all
/// elements of *n* sources, n·log₂ n permutations rather than n·(n-1), if *n* is a power of two.
#[derive(Debug)]
pub(super) struct Plan {
    lanes: usize,
    by: By,
    /// By the source, the vector that holds its elements.
    origins: Vec<usize>,
    /// What each vector holds: the sources, then what the steps make.
    held: Vec<Wanted>,
    steps: Vec<Step>,
    results: Vec<usize>,
}

/// A permutation.
#[derive(Debug)]
struct Step {
    of: [usize; 2],
    /// By place: the number of an element, those of the second vector from `lanes` on; what is nobody's may be anything.
    choice: Vec<Option<usize>>,
}

impl Plan {
    pub(super) fn new(by: By, sources: usize, lanes: usize, wanted: &[Wanted]) -> Plan {
        let whole = |source| (0..lanes).map(|at| Some((source, at))).collect();
        let made = |spread: bool| {
            let held = (0..sources).map(whole).collect();
            let origins = (0..sources).collect();
            let mut plan = Plan { lanes, by, origins, held, steps: Vec::new(), results: Vec::new() };
            if spread {
                (0..sources).for_each(|source| plan.spread(source, wanted));
            }
            plan.results = plan.collect(0..sources, wanted, true);
            plan
        };
        match by {
            By::One => made(false),
            By::Several { .. } => [false, true].map(made).into_iter().min_by_key(Plan::instructions).expect("two"),
        }
    }

    /// Brings each element of a source to the place where it is wanted, in whatever vectors, if no two are wanted at the same: then
    /// they have only to be blended.
    fn spread(&mut self, source: usize, wanted: &[Wanted]) {
        let mut choice = vec![None; self.lanes];
        for wanted in wanted {
            for (at, e) in wanted.iter().enumerate() {
                let Some((_, element)) = e.filter(|&(of, _)| of == source) else { continue };
                let elsewhere = choice.iter().enumerate().any(|(there, &e)| there != at && e == Some(element));
                if elsewhere || choice[at].is_some_and(|other| other != element) {
                    return;
                }
                choice[at] = Some(element);
            }
        }
        self.held.push(choice.iter().map(|e| e.map(|e| (source, e))).collect());
        self.origins[source] = self.held.len() - 1;
        self.steps.push(Step { of: [source; 2], choice });
    }

    /// How many instructions it takes.
    fn instructions(&self) -> usize {
        self.steps.iter().map(|step| self.by.instructions(&step.choice)).sum()
    }

    /// Vectors that hold what is wanted of some sources: where it is wanted, or at any place.
    fn collect(&mut self, from: Range<usize>, wanted: &[Wanted], in_place: bool) -> Vec<usize> {
        if from.len() == 1 {
            let only = self.origins[from.start];
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
        // An element is in one of the two.
        let numbers = wanted.iter().map(|e| e.and_then(number));
        let choice =
            if in_place { numbers.collect() } else { self.by.arranged(self.lanes, numbers.flatten().collect()) };
        let element = |e: usize| self.held[if e < self.lanes { first } else { second }][e % self.lanes];
        self.held.push(choice.iter().map(|e| e.and_then(element)).collect());
        self.steps.push(Step { of: [first, second], choice });
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
        let Some(by) = Self::permutes(row) else { return false };
        let members = self.members(inst, row, |kind| kind.is_pure() || kind.is_plain_load());
        // One alone is a group where there is no other way to make it of whole vectors.
        let is_group = |others: &[Member]| !others.is_empty() || by != By::One;
        let Some((first, _)) = members.split_first().filter(|(_, others)| is_group(others)) else { return false };
        debug_assert_eq!(first.distance, 0, "a group begins with the load that it was looked for from");
        let rows = rows(row, &members);
        if rows[0].vectors() * self.n_pieces(row.size) > most_vectors::<L>() {
            return false;
        }
        let wanted: Vec<Wanted> =
            rows.iter().map(|row| (0..row.lanes).map(|lane| Some(row.place(lane))).collect()).collect();
        let plan = Plan::new(by, rows[0].vectors(), row.lanes, &wanted);
        let each = cost(row.form());
        let is_whole = by == By::One && row.pays();
        let alone = if is_whole { (2 * row.vectors() - 1) * each } else { row.lanes * ELEMENT };
        if (plan.sources().len() + plan.instructions()) * each >= members.len() * alone {
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
        let (Some(at), Some(by)) = (self.place_in_block(inst), Self::permutes(row)) else { return false };
        if self.local.groups.waiting.contains(&at) {
            return true;
        }
        let members = match self.local.groups.last.remove(&at) {
            Some(members) => members,
            None => {
                let members = self.members(inst, row, Kind::is_pure);
                if !self.pays_to_store(by, row, &members) {
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
            _ => self.store_together(by, row, &members, to),
        }
        true
    }

    fn pays_to_store(&self, by: By, row: Row, members: &[Member]) -> bool {
        let rows = rows(row, members);
        if rows[0].vectors() > most_vectors::<L>() {
            return false;
        }
        let wanted = placed(&rows);
        // Stores under a mask take many times longer without registers of masks.
        if !L::HAS_MASKS && wanted.iter().flatten().any(Option::is_none) {
            return false;
        }
        let plan = Plan::new(by, rows.len(), row.lanes, &wanted);
        let part = |&(_, n, mask): &(usize, usize, u64)| match mask.count_ones() as usize == n {
            true => (n * row.size).div_ceil(32) * HALF,
            false => MASKED,
        };
        let stores: usize = wanted.iter().flat_map(|wanted| parts(row, wanted)).map(|p| part(&p)).sum();
        plan.instructions() * cost(row.form()) + stores < members.len() * row.lanes * ELEMENT
    }

    /// Stores a group; `to` is the address of the last one.
    fn store_together(&mut self, by: By, row: Row, members: &[Member], to: Mem) {
        let rows = rows(row, members);
        let wanted = placed(&rows);
        let plan = Plan::new(by, rows.len(), row.lanes, &wanted);
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

    /// What permutes vectors of such rows, if anything does.
    pub(super) fn permutes(row: Row) -> Option<By> {
        match L::HAS_MASKS {
            true => Some(By::One),
            false => (row.size >= 4 && row.form() == Size::Y).then_some(By::Several { size: row.size }),
        }
    }

    /// The results of a plan; what it takes nothing of need not be there.
    pub(super) fn carry_out(&mut self, row: Row, plan: &Plan, mut vectors: Vec<Option<VReg>>) -> Vec<Option<VReg>> {
        for Step { of: [first, second], choice } in &plan.steps {
            let made = vectors[*first].zip(vectors[*second]).map(|(first, second)| match plan.by {
                By::One => {
                    let choice = self.choices(row, |at| choice[at].unwrap_or(at));
                    self.permute(row, first, choice, Arg::Use(second, row.form()))
                }
                By::Several { size } => self.follow(Recipe::of(&in_fours(choice, size)), first, second),
            });
            vectors.push(made);
        }
        plan.results.iter().map(|&v| vectors[v]).collect()
    }

    fn follow(&mut self, recipe: Recipe, first: VReg, second: VReg) -> VReg {
        let [first, second] = [(first, recipe.before[0]), (second, recipe.before[1])]
            .map(|(x, order)| order.map_or(x, |order| self.in_order(order, x)));
        let [x, y] = [first, second].map(|r| Arg::Use(r, Size::Y));
        let number = |code, number: u8| (code, vec![x, y, imm8(number)]);
        let picked = recipe.pick.map(|pick| {
            let (code, args) = match pick {
                Pick::Blend(bits) => number(Code::VEX_Vblendps_ymm_ymm_ymmm256_imm8, bits),
                Pick::Shuffle(numbers) => number(Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8, numbers),
                Pick::Pairs(bits) => number(Code::VEX_Vshufpd_ymm_ymm_ymmm256_imm8, bits),
                Pick::Halves(numbers) => number(Code::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8, numbers),
                Pick::Interleave { upper: false } => (Code::VEX_Vunpcklps_ymm_ymm_ymmm256, vec![x, y]),
                Pick::Interleave { upper: true } => (Code::VEX_Vunpckhps_ymm_ymm_ymmm256, vec![x, y]),
            };
            self.vector(code, Size::Y, &args)
        });
        let made = picked.unwrap_or(if recipe.of_second { second } else { first });
        recipe.after.map_or(made, |order| self.in_order(order, made))
    }

    fn in_order(&mut self, order: Order, x: VReg) -> VReg {
        match order {
            Order::InHalves(numbers) => self.vector_imm(Code::VEX_Vpermilps_ymm_ymmm256_imm8, Size::Y, x, numbers),
            Order::Pairs(numbers) => self.vector_imm(Code::VEX_Vpermpd_ymm_ymmm256_imm8, Size::Y, x, numbers),
            Order::Any(elements) => {
                let eight = Row { size: 4, lanes: permutation::PLACES, step: 1, before: 0, behind: 0 };
                let numbers = self.choices(eight, |at| elements[at]);
                let args = [numbers, x].map(|r| Arg::Use(r, Size::Y));
                self.vector(Code::VEX_Vpermps_ymm_ymm_ymmm256, Size::Y, &args)
            }
        }
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
            // What is nobody's is an element of no source.
            let nobody = (usize::MAX, 0);
            vectors.push(choice.iter().map(|e| e.map_or(nobody, |e| both[e])).collect());
        }
        plan.results.iter().map(|&v| vectors[v].clone()).collect()
    }

    /// What permutes vectors of so many lanes.
    fn permutations(lanes: usize) -> Vec<By> {
        match lanes {
            4 => vec![By::One, By::Several { size: 8 }],
            8 => vec![By::One, By::Several { size: 4 }],
            _ => vec![By::One],
        }
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
            for by in permutations(rows[0].lanes) {
                let plan = Plan::new(by, rows[0].vectors(), rows[0].lanes, &wanted);
                let made = carried_out(&plan, rows[0].vectors());
                let made: Vec<Wanted> = made.into_iter().map(|x| x.into_iter().map(Some).collect()).collect();
                assert_eq!(made, wanted, "{rows:?}");
                let most = if by == By::One { rows.len() } else { rows.len() + 1 };
                assert!(plan.steps.len() <= most * rows[0].vectors(), "{rows:?}");
            }
        }
    }

    /// Every lane is stored once, at its place, and nothing else is.
    #[test]
    fn all_members_are_placed() {
        for rows in groups() {
            let (first, wanted) = (rows[0], placed(&rows));
            for by in permutations(first.lanes) {
                let plan = Plan::new(by, rows.len(), first.lanes, &wanted);
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
    }

    /// Where the number of members is a power of two, each vector is halved and joined as often as that has factors.
    #[test]
    fn whole_groups_take_few_permutations() {
        for (step, permutations) in [(2, 2), (3, 6), (4, 8), (8, 24)] {
            let members: Vec<Member> = (0..step).map(|at| Member { at: at as usize, distance: at }).collect();
            let rows = rows(Row { size: 4, lanes: 16, step, before: 0, behind: 0 }, &members);
            assert_eq!(Plan::new(By::One, rows.len(), 16, &placed(&rows)).steps.len(), permutations, "{step}");
        }
    }

    /// With AVX2, vectors of records are blended and each of the members' is permuted once, or they are interleaved.
    #[test]
    fn whole_groups_take_few_instructions() {
        let by = By::Several { size: 4 };
        for (step, load, store) in [(2, 4, 4), (3, 9, 9), (4, 12, 12)] {
            let members: Vec<Member> = (0..step).map(|at| Member { at: at as usize, distance: at }).collect();
            let rows = rows(Row { size: 4, lanes: 8, step, before: 0, behind: 0 }, &members);
            let wanted: Vec<Wanted> =
                rows.iter().map(|row| (0..row.lanes).map(|lane| Some(row.place(lane))).collect()).collect();
            assert_eq!(Plan::new(by, rows[0].vectors(), 8, &wanted).instructions(), load, "{step}");
            assert_eq!(Plan::new(by, rows.len(), 8, &placed(&rows)).instructions(), store, "{step}");
        }
    }
}
