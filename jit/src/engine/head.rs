//! Where regions begin: heads of loops and functions, which the interpreter counts, and places to which regions lead.
//!
//! Regions lead to heads some million times a second, so the way there takes no lock and counts no references: a head is found in a table
//! by its place, and what may be entered there is a list of its own, which whoever changes the loop writes anew.

use super::hot_loop::Loop;
use super::landing::Leads;
use super::version::{Change, Version};
use crate::profile::ProgramPoint;
use crate::record::{leads_on, parts_regions};
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use arc_swap::{ArcSwap, Cache, Guard};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::interp::native::RegisterSlot;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Inst, Program};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

/// Versions of a loop that may be entered, those with more facts first.
pub(super) type Enterable = Vec<Arc<Version>>;

/// A place at which regions may begin, and what has become of it.
pub(super) struct Head {
    pub at: ProgramPoint,
    /// Its hot count, if the interpreter counts how often it comes there.
    pub hot_count: Option<usize>,
    /// Whether a call or return stands there, or what parts regions, which is executed before native code goes on.
    pub is_way: bool,
    /// How many instructions of the bytecode are left there until the function returns, with the return, if the
    /// interpreter does them in less time than entering a region takes; 0 if they are more, or the interpreter counts
    /// how often it comes there.
    pub tail: u32,
    /// How often regions may lead there until it is asked what to do.
    countdown: AtomicU32,
    /// How often it was asked what to do while code was being made for it.
    pub asked: AtomicU64,
    state: RwLock<Loop>,
    /// What `state` says of it.
    enterable: ArcSwap<Enterable>,
}

/// Most instructions that the interpreter does before a return rather than that a region begins there.
const LONGEST_TAIL: usize = 5;

/// How many instructions there are from a place to the return of its function, with that, if they are few and none
/// takes long; else 0.
fn tail(rest: &[Inst]) -> u32 {
    let is_short = |op| {
        let plain = matches!(op, Op::Mov | Op::Assign | Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Select);
        plain || matches!(op, Op::MaskEndif | Op::EverywhereEnd | Op::LoopEnd)
    };
    let before = rest.iter().take(LONGEST_TAIL).take_while(|inst| is_short(inst.op)).count();
    if rest.get(before).is_some_and(|inst| inst.op == Op::Ret) { before as u32 + 1 } else { 0 }
}

/// In how many sets of two places are at hand, as a power of two: each has the two that were kept last.
const AT_HAND: u32 = 8;

/// The heads that a thread has come to just now, by the place where the interpreter stands there, and what may be
/// entered at them: to look whether that has changed takes less than to take hold of it again.
pub(super) struct AtHand {
    places: Box<[[Option<Place>; 2]; 1 << AT_HAND]>,
    /// What a region that was called has left to be done, once those that have called are left too.
    pub left: Option<Left>,
    /// How far down the machine's stack may be where a call of native code is made, by address, once one may be made.
    pub deepest: Option<usize>,
    /// While an entry is timed to compare two versions: the one that is entered by its facts, and the one that runs in its place. That is
    /// so for what it calls, too, if it comes to itself.
    pub compared: Option<[Arc<Version>; 2]>,
    /// Calls that were shown for the last call that was no fast call, and that one: if it is measured, they take time for that.
    pub shown: u64,
    /// What fast calls enter, by the number of the call, and whether it is made in one lane.
    ready: Vec<Ready>,
    /// How many calls have been made while there was no room for that yet.
    looked: u32,
    /// Versions that have made calls: they may be doing so, and stay until none is.
    held: Vec<Arc<Version>>,
}

/// What a fast call enters until so many entries of that have begun, if it is made in these lanes: of those which are one, or of those
/// which are several.
#[derive(Default)]
struct Ready {
    call: u64,
    lanes: Lanes,
    until: u64,
    version: Option<Arc<Version>>,
}

/// Sets of lanes.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    Only(u64),
    Not(u64),
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes::Not(0)
    }
}

impl Lanes {
    #[inline(always)]
    fn have(self, mask: u64) -> bool {
        match self {
            Lanes::Only(lanes) => mask == lanes,
            Lanes::Not(lanes) => mask != lanes,
        }
    }
}

/// For how many calls they are kept, as a power of two.
const READY: u32 = 7;

/// Calls after which it pays to make room for them.
const MANY_CALLS: u32 = 64;

/// Versions that are held beyond which all are let go of when none makes a call.
const HELD: usize = 64;

/// What follows from the entry of a version.
pub(super) struct Left {
    pub head: Arc<Head>,
    pub version: Arc<Version>,
    pub change: Box<Change>,
    pub leads: Leads,
}

/// One of them.
pub(super) struct Place {
    /// [`Pause::place`](spmdvm_vm::interp::native::Pause::place).
    at: usize,
    pub head: Arc<Head>,
    /// So many instructions there are left to the interpreter, before native code goes on.
    pub before: u32,
    /// The versions that were entered last of those that are held.
    pub held: [usize; 2],
    enterable: Cache<Enterables, Arc<Enterable>>,
}

/// What may be entered at a head, and changes.
struct Enterables(Arc<Head>);

impl Deref for Enterables {
    type Target = ArcSwap<Enterable>;

    fn deref(&self) -> &ArcSwap<Enterable> {
        &self.0.enterable
    }
}

/// All heads of a program.
#[derive(Default)]
pub(super) struct Heads(OnceLock<Table>);

/// Heads by their place.
struct Table {
    /// Those that the interpreter counts.
    counted: Box<[Arc<Head>]>,
    /// By function, and by instruction; for functions that have heads.
    functions: Box<[OnceLock<Places>]>,
}

/// The places of a function.
struct Places {
    heads: Box<[OnceLock<Arc<Head>>]>,
    /// The place for which a version was ordered last that somebody waits for.
    ordered: AtomicU32,
}

impl Places {
    fn new(count: usize) -> Places {
        Places { heads: (0..count).map(|_| OnceLock::new()).collect(), ordered: AtomicU32::new(0) }
    }

    fn head(&self, pc: u32) -> Option<&Arc<Head>> {
        self.heads.get(pc as usize)?.get()
    }
}

impl Head {
    fn new(at: ProgramPoint, hot_count: Option<usize>, program: &Program, countdown: u32) -> Arc<Head> {
        let rest = program.functions[at.0.0 as usize].code.get(at.1 as usize..).unwrap_or_default();
        let is_way = rest.first().is_some_and(|inst| leads_on(inst.op) || parts_regions(inst.op));
        let tail = if hot_count.is_none() { tail(rest) } else { 0 };
        let (countdown, asked) = (AtomicU32::new(countdown), AtomicU64::new(0));
        let (state, enterable) = (RwLock::default(), ArcSwap::default());
        Arc::new(Head { at, hot_count, is_way, tail, countdown, asked, state, enterable })
    }

    /// Returns whether there is nothing that the interpreter does before native code goes on.
    #[inline]
    pub fn begins_at_once(&self) -> bool {
        !self.is_way && self.tail == 0
    }

    /// Returns whether regions may lead here without asking what to do.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.countdown.load(Ordering::Relaxed) == 0
    }

    /// A region has led here. Returns whether it is to be asked what to do.
    pub fn is_due(&self) -> bool {
        let left = self.countdown.load(Ordering::Relaxed);
        if left != 0 {
            self.countdown.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// It is asked again after so many rounds, or as many more ways that lead here.
    pub fn wait(&self, rounds: u32) {
        if rounds != 0 || self.countdown.load(Ordering::Relaxed) != 0 {
            self.countdown.store(rounds, Ordering::Relaxed);
        }
    }

    /// The versions that may be entered; they stay while the guard does.
    pub fn enterable(&self) -> Guard<Arc<Enterable>> {
        self.enterable.load()
    }

    /// What is known of it.
    pub fn read(&self) -> RwLockReadGuard<'_, Loop> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, unless another thread changes it.
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, Loop>> {
        super::unless_taken(self.state.try_read())
    }

    /// What is known of it, to be changed.
    pub fn write(&self) -> Changing<'_> {
        Changing { head: self, state: self.state.write().unwrap_or_else(PoisonError::into_inner) }
    }

    /// The same, unless another thread is at it.
    pub fn try_write(&self) -> Option<Changing<'_>> {
        Some(Changing { head: self, state: super::unless_taken(self.state.try_write())? })
    }
}

/// What is known of a head while it changes; afterwards the head has the versions that may be entered then.
pub(super) struct Changing<'a> {
    head: &'a Head,
    state: RwLockWriteGuard<'a, Loop>,
}

impl Deref for Changing<'_> {
    type Target = Loop;

    fn deref(&self) -> &Loop {
        &self.state
    }
}

impl DerefMut for Changing<'_> {
    fn deref_mut(&mut self) -> &mut Loop {
        &mut self.state
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let now = self.state.enterable();
        let before = self.head.enterable.load();
        let is_same = before.len() == now.len() && before.iter().zip(now).all(|(a, b)| Arc::ptr_eq(a, b));
        drop(before);
        if !is_same {
            self.head.enterable.store(Arc::new(now.to_vec()));
        }
    }
}

impl AtHand {
    /// None so far. (The array is made on the stack first, which is not to be room that others are asked for.)
    #[cold]
    #[inline(never)]
    pub fn new() -> Box<AtHand> {
        let places = Box::new([const { [const { None }; 2] }; 1 << AT_HAND]);
        let (ready, held) = (Vec::new(), Vec::new());
        Box::new(AtHand { places, left: None, deepest: None, compared: None, shown: 0, ready, looked: 0, held })
    }

    /// Returns whether so much is held that it is better to begin anew.
    pub fn is_full(&self) -> bool {
        self.held.len() > HELD
    }

    /// Holds a version that is entered at a place at hand.
    #[cold]
    pub fn hold(&mut self, at: usize, version: Arc<Version>) {
        if let Some(place) = self.find(at) {
            place.held = [Arc::as_ptr(&version).addr(), place.held[0]];
        }
        if !self.held.iter().any(|held| Arc::ptr_eq(held, &version)) {
            self.held.push(version);
        }
    }

    /// What a fast call, by its number, enters in these lanes, with these arguments, if that is known.
    #[inline(always)]
    pub fn ready(
        &self,
        call: u64,
        mask: u64,
        argument: impl Fn(RegisterSlot) -> Option<u64>,
    ) -> Option<*const Version> {
        let ready = self.ready.get(ready_at(call, mask))?;
        if ready.call != call || !ready.lanes.have(mask) {
            return None;
        }
        // Who finds another then notes it.
        let version = ready.version.as_ref()?;
        let suits = version.begun() < ready.until && version.finds_constants(argument) == Some(true);
        suits.then_some(Arc::as_ptr(version))
    }

    /// It has to be found what a fast call enters. Returns whether that was so the last time that it, or another in its place, was made.
    pub fn is_found_again(&mut self, call: u64, mask: u64) -> bool {
        let Some(ready) = self.ready.get_mut(ready_at(call, mask)) else {
            self.looked += 1;
            if self.looked == MANY_CALLS {
                self.ready.resize_with(2 << READY, Ready::default);
            }
            return false;
        };
        let is_again = ready.call == call;
        (ready.call, ready.until) = (call, 0);
        is_again
    }

    /// Until so many of its entries have begun, a fast call that has been found again enters a version in these lanes, of which `mask` is
    /// one set.
    pub fn make_ready(&mut self, call: u64, mask: u64, lanes: Lanes, until: u64, version: &Arc<Version>) {
        self.ready[ready_at(call, mask)] = Ready { call, lanes, until, version: Some(Arc::clone(version)) };
    }

    /// A version that is held.
    pub fn held(&self, version: *const Version) -> Option<&Arc<Version>> {
        self.held.iter().find(|held| Arc::as_ptr(held) == version)
    }

    /// The head at a place, if that is at hand.
    #[inline]
    pub fn find(&mut self, at: usize) -> Option<&mut Place> {
        let [last, before] = &mut self.places[set(at)];
        let is_last = last.as_ref().is_some_and(|place| place.at == at);
        let place = if is_last { last } else { before };
        place.as_mut().filter(|place| place.at == at)
    }

    /// Keeps the head at a place at hand, where so many instructions are left to the interpreter.
    pub fn keep(&mut self, at: usize, head: &Arc<Head>, before: u32) -> &mut Place {
        let enterable = Cache::new(Enterables(Arc::clone(head)));
        let set = &mut self.places[set(at)];
        set.swap(0, 1);
        set[0].insert(Place { at, head: Arc::clone(head), before, held: [0; 2], enterable })
    }
}

/// The set of which a place is one, of those at hand.
#[inline]
fn set(at: usize) -> usize {
    ((at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - AT_HAND)) as usize
}

/// Where it is kept what a fast call enters.
#[inline(always)]
fn ready_at(call: u64, mask: u64) -> usize {
    2 * (call as usize % (1 << READY)) + mask.is_power_of_two() as usize
}

/// The lanes in which a version is entered rather than those before it, if it is in these: one if these are, or several. None if that
/// depends on more.
pub(super) fn lanes_of(before: &[Arc<Version>], version: &Version, mask: u64) -> Option<Lanes> {
    if version.is_for_some_lanes() {
        return before.iter().all(|other| !other.suits_lanes(mask)).then_some(Lanes::Only(mask));
    }
    let mut others = 0;
    for other in before {
        match other.only_lanes(mask.is_power_of_two()) {
            Some(None) => {}
            Some(Some(lanes)) if others == 0 || others == lanes => others = lanes,
            _ => return None,
        }
    }
    Some(Lanes::Not(others))
}

impl Place {
    /// The version that a fast call of the function that begins there may enter in these lanes, with these arguments, if the interpreter
    /// has nothing to do before and nobody is to be asked; and those that come before it.
    #[inline(always)]
    pub fn called(
        &mut self,
        mask: u64,
        argument: impl Fn(RegisterSlot) -> Option<u64>,
    ) -> Option<(&[Arc<Version>], &Arc<Version>)> {
        if self.before != 0 || !self.head.is_open() {
            return None;
        }
        let versions = self.enterable.load();
        for (i, version) in versions.iter().enumerate() {
            match version.suits_call(mask, &argument) {
                Some(true) => return Some((&versions[..i], version)),
                Some(false) => {}
                None => return None,
            }
        }
        None
    }

    /// The versions that may be entered there.
    #[inline]
    pub fn enterable(&mut self) -> &Enterable {
        self.enterable.load()
    }
}

impl Heads {
    /// The heads that the interpreter counts, by hot count. Regions may lead there so often until they are asked about.
    pub fn counted(&self, prepared: impl FnOnce() -> PreparedProgram, hot: u32) -> &[Arc<Head>] {
        let table = self.0.get_or_init(|| {
            let prepared = prepared();
            let program = prepared.program();
            let counted = prepared.heads().enumerate();
            let counted = counted.map(|(hot_count, at)| Head::new(at, Some(hot_count), program, hot)).collect();
            let table = Table { counted, functions: program.functions.iter().map(|_| OnceLock::new()).collect() };
            for head in &table.counted {
                table.find_or_add(head.at, program, || Arc::clone(head));
            }
            table
        });
        &table.counted
    }

    /// The head at a place, if it is one.
    #[inline]
    pub fn find(&self, (function, pc): ProgramPoint) -> Option<&Arc<Head>> {
        self.places(function)?.head(pc)
    }

    /// The places of a function, if one of them is a head.
    #[inline]
    fn places(&self, function: FuncId) -> Option<&Places> {
        self.0.get()?.functions.get(function.0 as usize)?.get()
    }

    /// A version was ordered for a head, which waits for it.
    pub fn note_order(&self, (function, pc): ProgramPoint) {
        if let Some(places) = self.places(function) {
            places.ordered.store(pc, Ordering::Relaxed);
        }
    }

    /// Returns whether a version is being made for another place of the same function, which may hold this one.
    pub fn waits_for_another(&self, (function, pc): ProgramPoint) -> bool {
        self.places(function).is_some_and(|places| {
            let ordered = places.ordered.load(Ordering::Relaxed);
            let is_pending = |head: &Arc<Head>| head.try_read().is_none_or(|found| found.is_pending());
            ordered != pc && places.head(ordered).is_some_and(is_pending)
        })
    }

    /// The head at a place of a program, which is made one if it is none. Regions may lead there so often until it is asked about.
    pub fn find_or_add(&self, at: ProgramPoint, program: &Program, hot: u32) -> Option<&Arc<Head>> {
        self.0.get()?.find_or_add(at, program, || Head::new(at, None, program, hot))
    }

    /// Every head, those that the interpreter counts first.
    pub fn each(&self) -> Vec<Arc<Head>> {
        let table = self.0.get();
        let places = table.iter().flat_map(|table| &table.functions).filter_map(|function| function.get());
        let mut heads: Vec<_> =
            places.flat_map(|places| &places.heads).filter_map(|head| head.get()).cloned().collect();
        heads.sort_by_key(|head| (head.hot_count.is_none(), head.hot_count, head.at));
        heads
    }
}

impl Table {
    fn find_or_add(
        &self,
        (function, pc): ProgramPoint,
        program: &Program,
        new: impl FnOnce() -> Arc<Head>,
    ) -> Option<&Arc<Head>> {
        let function = function.0 as usize;
        let places = self.functions.get(function)?.get_or_init(|| Places::new(program.functions[function].code.len()));
        Some(places.heads.get(pc as usize)?.get_or_init(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::asm::assemble;

    fn program() -> Program {
        let text = ".width 4
func f(u0:i32) -> (u1) {
  var u1:i32
  u1 = mul.i32 u0, u0
  u1 = add.i32 u1, u0
  u1 = call f(u1)
  u1 = add.i32 u1, u0
  u1 = mov.i32 u1
  ret
}
";
        assemble(text).unwrap_or_else(|e| panic!("{e:?}"))
    }

    #[test]
    fn a_tail_is_what_leads_to_the_return() {
        let program = program();
        let tails = |counted| {
            let head = |pc| Head::new((FuncId(0), pc), counted, &program, 1);
            (0..7).map(|pc| head(pc).tail).collect::<Vec<_>>()
        };
        assert_eq!(tails(None), [0, 0, 0, 3, 2, 1, 0]);
        assert_eq!(tails(Some(0)), [0; 7]);
    }

    #[test]
    fn places_of_a_function_wait_for_what_is_being_made_of_it() {
        let verified = spmdvm_vm::verify::verify(program()).unwrap();
        let heads = Heads::default();
        heads.counted(|| PreparedProgram::new(&verified), 1);
        let [whole, rest] = [0, 4].map(|pc| heads.find_or_add((FuncId(0), pc), verified.program(), 1).unwrap());
        let waits = || [whole, rest].map(|head| heads.waits_for_another(head.at));
        heads.note_order(whole.at);
        assert_eq!(waits(), [false, false]);
        whole.write().pending = Some(std::process::id());
        assert_eq!(waits(), [false, true]);
        whole.write().pending = None;
        assert_eq!(waits(), [false, false]);
    }

    #[test]
    fn what_is_at_hand_is_what_the_head_has_now() {
        let program = program();
        let head = Head::new((FuncId(0), 3), None, &program, 1);
        let mut at_hand = AtHand::new();
        let mut held = |at| at_hand.find(at).map(|place| std::ptr::from_ref(place.enterable()));
        assert_eq!(held(40), None);
        at_hand.keep(40, &head, 0);
        let mut held = |at| at_hand.find(at).map(|place| std::ptr::from_ref(place.enterable()));
        let before = held(40);
        assert!(before.is_some() && held(40) == before);
        head.enterable.store(Arc::new(Vec::new()));
        assert_ne!(held(40), before);
        assert_eq!(held(40), Some(std::ptr::from_ref(&**head.enterable())));
        // Of the places of a set, the two later ones are at hand.
        let others: Vec<usize> = (41..).filter(|&at| set(at) == set(40)).take(2).collect();
        assert_eq!(held(others[0]), None);
        at_hand.keep(others[0], &head, 0);
        assert!([40, others[0]].iter().all(|&at| at_hand.find(at).is_some()));
        at_hand.keep(others[1], &head, 0);
        assert!(at_hand.find(40).is_none() && others.iter().all(|&at| at_hand.find(at).is_some()));
    }
}
