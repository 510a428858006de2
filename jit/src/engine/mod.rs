//! The tracing engine: what happens at hot loops.
//!
//! A [`Jit`] is the [`Tracer`] of one program and is shared by all threads that run it. When a loop is hot, the interpreter
//! runs a little under observation; then the loop is recorded with the facts that hold at that moment and the variants that
//! the profile asks for, optimised and compiled, and from then on entered at every round that finds these facts again.
//! Rounds with other facts make another version; the last one that is allowed assumes nothing. A version of which a way that was
//! left out turns hot, or a variant fails, is recompiled, and the new one takes its place. What is compiled on another thread
//! is entered as baseline code first ([`tiers`]).

mod arguments;
mod calls;
mod clock;
mod contest;
mod follow;
mod head;
mod hot_loop;
mod landing;
mod report;
mod share;
mod tiers;
mod variants;
mod version;

pub use contest::Measured;
pub use report::{CounterReport, LoopReport, VersionReport};
pub use share::Instructions;

use crate::abort::{Abort, Stage};
use crate::advice::Advice;
use crate::backend::{Backend, Executable};
use crate::cache::CodeCache;
use crate::ir::Region;
use crate::passes::optimise;
use crate::profile::{Profile, ProgramPoint, Watcher};
use crate::record::{EntryFacts, record};
use crate::settings::{Settings, Variant};
use crate::stress;
use crate::sync::{Mutex, MutexGuard};
use crate::whole::Whole;
use crate::worker::{self, Need, When};
use arguments::Arguments;
use calls::{Calls, deepest};
use contest::{Contest, Without};
use follow::Visit;
use head::{AtHand, Head, Heads};
pub use hot_loop::Begins;
use hot_loop::{Holding, Loop};
use share::{Size, Sizes};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::interp::native::Pause;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, TryLockError, Weak};
use std::time::{Duration, Instant};
use tiers::{Made, Tiers};
use version::{Change, Special, Version, long};

/// Rounds that are interpreted while a loop is being compiled, before it is asked about again.
const PENDING: u32 = 256;

/// How often a loop is observed for a moment meanwhile.
const LOOKS: u32 = 8;

/// The parts of the instructions that are observed at most; so many of them always, more only if the loop has not gone round
/// often enough by then.
const OBSERVED_PARTS: u32 = 12;
const OBSERVED_ANYWAY: u32 = 4;
const OBSERVED_ROUNDS: u32 = 20;

/// The same when somebody looks again: at so many rounds, or these parts of the instructions at most.
const SECOND_LOOK_PARTS: u32 = 3;
const SECOND_LOOK_ROUNDS: u32 = 32;
const SECOND_LOOK_AT_ONCE: u32 = 128;

/// Most that an instruction takes under observation, if nothing else has the processor meanwhile.
const OBSERVED_TIME: Duration = Duration::from_micros(1);

/// How often a loop is recompiled with ways left out; then all are in it, for that takes less time than to find them one by one.
const PRUNED: u32 = 4;

/// A version counts as not used any more that has not been entered for so long: as a rule somebody looks at it more often, for which it
/// is left.
const UNUSED: Duration = Duration::from_millis(100);

/// Mask words for which a thread keeps room: those of a region, and of what it calls.
const WORDS: usize = 2048;

/// The JIT of one program.
pub struct Jit {
    /// Itself, for the thread that compiles.
    this: Weak<Jit>,
    backend: Box<dyn Backend>,
    settings: Settings,
    heads: Heads,
    /// What has been learnt of the program.
    advice: Mutex<Advice>,
    cache: CodeCache,
    /// What is known of the program, once something is compiled.
    whole: OnceLock<Whole>,
    /// How many instructions its functions and loops have.
    sizes: Sizes,
    /// Under stress: links that were followed.
    followed: AtomicU64,
    /// Instructions of the bytecode that compiled code has executed, about; and those that were executed under observation.
    native_instructions: AtomicU64,
    observed_instructions: AtomicU64,
    /// For tests: how long a run of a region is taken for.
    pretended: OnceLock<Pretended>,
}

/// How many nanoseconds a run of a region with so many rounds is taken for.
pub type Pretended = fn(&Region, u64) -> u64;

/// Why a version is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// There is none, or what there is does not do.
    Needed,
    /// With more in it, it would lead on to others less often.
    Larger,
    /// A look has seen that the program does something else now.
    Seen,
}

/// A version of a loop to be made.
struct Order {
    prepared: PreparedProgram,
    head: Arc<Head>,
    facts: EntryFacts,
    /// The version whose place it takes, if any.
    replaces: Option<Arc<Version>>,
    /// Whether ways that were never taken are to be left out.
    prunes: bool,
    /// Whether it may be larger than usual.
    large: bool,
    /// If that is why it is made: since when it waits, and how often the version that it replaces had been entered by then.
    enlarges: Option<(Instant, u64)>,
    /// What is left out of it to be compared with the version whose place it may take.
    without: Option<Without>,
    /// A version that it has to compete with, as soon as it is there.
    opponent: Option<Arc<Version>>,
}

impl Order {
    /// Returns whether somebody waits for it. A new version with the constants of now, or with more in it, would only be
    /// better than what there is.
    fn is_needed(&self) -> bool {
        let is_better = self.facts.is_special() && self.replaces.is_none() || self.enlarges.is_some();
        !is_better && self.without.is_none()
    }

    /// How much it is needed.
    fn need(&self) -> Need {
        match &self.replaces {
            // What has failed is left soon each time that it is entered, and the interpreter goes on.
            Some(_) if self.is_needed() => {
                let since = Instant::now();
                Box::new(move || since.elapsed().as_nanos() as u64)
            }
            Some(version) => needed(version),
            None => {
                let head = Arc::clone(&self.head);
                Box::new(move || head.asked.load(Ordering::Relaxed) * worker::ASKED)
            }
        }
    }

    /// Returns whether it was to have more in it than a version that nobody has entered since: another has its head in it
    /// by now, or the program does something else.
    fn is_stale(&self) -> bool {
        let (Some((since, entries)), Some(version)) = (self.enlarges, &self.replaces) else { return false };
        since.elapsed() > UNUSED && version.entries.load(Ordering::Relaxed) == entries
    }
}

/// What to do at a loop's head.
enum Answer {
    Enter(Arc<Version>),
    /// Interpret so many rounds.
    Interpret(u32),
    /// Run under observation.
    Observe,
    /// The same for a moment, while the loop is being compiled.
    Look,
}

impl Jit {
    /// A JIT with a back end.
    pub fn new(backend: Box<dyn Backend>, settings: Settings) -> Arc<Jit> {
        let advice = Mutex::new(Advice::new(&settings));
        let cache = CodeCache::new(settings.code_limit);
        Arc::new_cyclic(|this| Jit {
            this: this.clone(),
            backend,
            settings,
            heads: Heads::default(),
            advice,
            cache,
            whole: OnceLock::new(),
            sizes: Sizes::default(),
            followed: AtomicU64::new(0),
            native_instructions: AtomicU64::new(0),
            observed_instructions: AtomicU64::new(0),
            pretended: OnceLock::new(),
        })
    }

    /// The name of its back end.
    pub fn engine(&self) -> &'static str {
        self.backend.name()
    }

    /// The version of a loop that may be entered, or what to do without one.
    fn answer(&self, pause: &Pause<'_>, head: &Arc<Head>, held: &Holding<'_>, linked: bool) -> Answer {
        let Some(mut found) = head.try_write() else { return Answer::Interpret(PENDING) };
        if found.aborted.is_some() {
            if let Some(rounds) = found.rests() {
                return Answer::Interpret(rounds);
            }
            found.wake();
        }
        if found.is_pending() {
            head.asked.fetch_add(1, Ordering::Relaxed);
        }
        let observes = self.settings.observe != 0 && !(linked && self.has_seen(head.at));
        if found.is_pending() && found.looks < LOOKS && observes {
            found.looks += 1;
            return Answer::Look;
        }
        if let Some(version) = held.choose(&found.versions).cloned() {
            let for_one_lane = self.part_one_lane(pause, head, &mut found, held, &version);
            return Answer::Enter(for_one_lane.unwrap_or(version));
        }
        // What is being made of a function may hold its rest. Where a region makes all its calls, there is to be none behind each.
        let waits = || head.hot_count.is_none() && self.heads.waits_for_another(head.at);
        if found.is_pending() || found.refuses() || waits() {
            return Answer::Interpret(PENDING);
        }
        if observes && !std::mem::replace(&mut found.observed, true) {
            return Answer::Observe;
        }
        let last =
            found.versions.iter().filter(|v| !v.facts.is_special()).count() + 1 >= self.settings.versions as usize;
        let facts = held.observe(last || !self.settings.variants.has(Variant::AllActive));
        match self.order(pause, head, &mut found, facts, None, Why::Needed) {
            Some(version) => Answer::Enter(version),
            None if found.is_pending() || found.refused.is_some() => Answer::Interpret(PENDING),
            None => Answer::Interpret(found.rests().unwrap_or(PENDING)),
        }
    }

    /// A version that is about to be entered with one lane: has one for that made, if it is to be, once.
    fn part_one_lane(
        &self,
        pause: &Pause<'_>,
        head: &Arc<Head>,
        found: &mut Loop,
        held: &Holding<'_>,
        version: &Version,
    ) -> Option<Arc<Version>> {
        if !version.asks_for_one_lane() || found.is_pending() {
            return None;
        }
        let facts = held.observe_one_lane()?;
        version.ask_for_one_lane(false);
        let is_wanted = found.refused.is_none() && !found.has_version_for(&facts);
        is_wanted.then(|| self.order(pause, head, found, facts, None, Why::Needed)).flatten()
    }

    /// Has a version of the loop with its head at `at` made: now, or on the thread that compiles.
    fn order(
        &self,
        pause: &Pause<'_>,
        head: &Arc<Head>,
        found: &mut Loop,
        facts: EntryFacts,
        replaces: Option<Arc<Version>>,
        why: Why,
    ) -> Option<Arc<Version>> {
        let enlarges = why == Why::Larger;
        let opponent = match why {
            Why::Seen => replaces.clone(),
            Why::Needed | Why::Larger => replaces.as_ref().and_then(|version| found.end_trial(version)),
        };
        let prepared = pause.prepared();
        (found.at, found.begins) = (Some(head.at), begins(&prepared, head.at));
        let prunes = found.recompiles < PRUNED;
        let entries = replaces.as_ref().filter(|_| enlarges).map(|version| version.entries.load(Ordering::Relaxed));
        let order = Arc::new(Order {
            prepared,
            head: Arc::clone(head),
            facts,
            replaces,
            prunes,
            large: found.large || enlarges,
            enlarges: entries.map(|entries| (Instant::now(), entries)),
            without: None,
            opponent,
        });
        if let (true, Some(this)) = (self.settings.background, self.this.upgrade()) {
            let (when, ordered) = (if order.is_needed() { When::Soon } else { When::Idle }, Arc::clone(&order));
            // That thread waits for the lock that this one has. If there is none, this one makes the version, with the lock.
            if worker::run(when, order.need(), Box::new(move || this.fill(&ordered))).is_ok() {
                match when {
                    When::Soon => {
                        found.pending = Some(std::process::id());
                        self.heads.note_order(head.at);
                    }
                    When::Idle => found.begin_making(&order.facts),
                }
                return None;
            }
        }
        self.deliver(found, &order, self.make(&order))
    }

    /// What was ordered has been made, or could not be.
    fn deliver(&self, found: &mut Loop, order: &Order, made: Result<Version, Abort>) -> Option<Arc<Version>> {
        let version = found.deliver(made, order.replaces.as_ref());
        if let (Some(new), Some(old)) = (&version, &order.opponent)
            && self.measures()
            && !new.code.is_baseline()
            && may_compete(&new.region, &old.region)
            && let Some(what) = new.variants_beyond(old)
        {
            old.look_later(found.second_looks, Duration::ZERO);
            found.begin_contest(Contest::new(Arc::clone(new), Arc::clone(old), what, true));
        }
        version
    }

    /// Compiles what was ordered, on the thread for that, and sees to it that the loop is asked about again.
    fn fill(&self, order: &Order) {
        if self.is_timed() && order.is_stale() {
            return order.head.write().end_making(&order.facts);
        }
        let made = self.make(order);
        let mut found = order.head.write();
        if let Some(without) = &order.without {
            return self.begin_contest(&mut found, order, made, without);
        }
        if order.is_needed() {
            found.pending = None;
        } else {
            found.end_making(&order.facts);
        }
        let version = self.deliver(&mut found, order, made);
        if let Some(version) = version.filter(|v| v.code.is_baseline()) {
            self.improve_later(&version);
        }
        let rounds = found.rests().unwrap_or(0);
        order.head.wait(rounds);
        if let Some(hot_count) = order.head.hot_count {
            order.prepared.set_countdown(hot_count, rounds);
        }
    }

    fn make(&self, order: &Order) -> Result<Version, Abort> {
        if self.cache.is_full() {
            self.drop_resting_code();
        }
        if self.cache.is_full() {
            return Err(Abort::CodeCacheFull(self.cache.limit()));
        }
        let start = Instant::now();
        let mut advice = match self.advice() {
            Some(advice) => advice.clone(),
            None => Advice::new(&self.settings),
        };
        if !order.prunes {
            advice.forbid(Variant::Prune);
        }
        advice.large = order.large;
        if let Some(without) = &order.without {
            advice.dropped.extend(without.places.iter().map(|&at| (without.variant, at)));
        }
        let mut region = Stage::Record.run(|| {
            let whole = self.whole.get_or_init(|| Whole::new(order.prepared.program()));
            record(&order.prepared, order.head.at, &order.facts, &advice, whole)
        })?;
        let recorded = self.settings.keep_recorded.then(|| region.to_string());
        let region = Stage::Passes.run(|| {
            optimise(&mut region)?;
            if region.leaves_at_once() {
                return Err(Abort::NothingToCompile);
            }
            if let Some(seed) = self.settings.stress {
                stress::run(&mut region, seed);
            }
            Ok(Arc::new(region))
        })?;
        let before = start.elapsed();
        let code = Stage::BackEnd.run(|| match &order.without {
            Some(_) => Ok(Tiers::optimised(self.optimised_code(&region, start)?)),
            None => self.first_code(&region, start),
        })?;
        let arguments = Arguments::new(&region, &order.facts, &order.prepared, &self.settings);
        let (prepared, settings) = (&order.prepared, &self.settings);
        let mut version = Version::new(order.facts.clone(), region, code, arguments, prepared, settings, order.large);
        (version.recorded, version.before) = (recorded, before);
        version.note_losses(&advice);
        version.begins = begins(&order.prepared, order.head.at);
        if version.may_ask_for_one_lane() && advice.begins_alone(order.head.at, &advice.profile) {
            version.ask_for_one_lane(true);
        }
        version.size = Some(Size::of(&self.sizes, order.prepared.program(), &version.region, version.begins));
        Ok(version)
    }

    /// The code with which a region begins, being made since `start`.
    fn first_code(&self, region: &Arc<Region>, start: Instant) -> Result<Tiers, Abort> {
        // Without a thread that compiles, who waited for baseline code would wait for the optimised code too.
        let tiers = self.settings.tiers && self.settings.background;
        let baseline = tiers || self.settings.only_baseline;
        match baseline.then(|| self.backend.compile_baseline(region)).flatten() {
            Some(code) if self.settings.only_baseline => Ok(Tiers::optimised(self.made(code, start)?)),
            Some(code) => Ok(Tiers::baseline(self.made(code, start)?)),
            None => Ok(Tiers::optimised(self.optimised_code(region, start)?)),
        }
    }

    fn optimised_code(&self, region: &Arc<Region>, start: Instant) -> Result<Made, Abort> {
        self.made(self.backend.compile(Arc::clone(region)).map_err(Abort::Backend)?, start)
    }

    /// Makes room for code.
    fn made(&self, code: Box<dyn Executable>, start: Instant) -> Result<Made, Abort> {
        let room = self.cache.take(code.code_bytes()).or_else(|| {
            self.drop_resting_code();
            self.cache.take(code.code_bytes())
        });
        let room = room.ok_or(Abort::CodeCacheFull(self.cache.limit()))?;
        Ok(Made { code, time: start.elapsed(), room })
    }

    /// Drops the code of loops that are interpreted at the moment: others need its room.
    fn drop_resting_code(&self) {
        for head in self.heads.each() {
            if let Some(mut found) = head.try_write().filter(|found| found.aborted.is_some()) {
                found.versions.clear();
            }
        }
    }

    /// Has the optimised code made on the thread that compiles, after all that somebody waits for, unless nobody needs it by
    /// then.
    fn improve_later(&self, version: &Arc<Version>) {
        if version.code.promise() {
            let need = needed(version);
            let (this, version) = (self.this.clone(), Arc::downgrade(version));
            let job = move || {
                if let (Some(this), Some(version)) = (this.upgrade(), version.upgrade()) {
                    this.improve(&version);
                }
            };
            if let Err(job) = worker::run(When::Idle, need, Box::new(job)) {
                job();
            }
        }
    }

    /// Makes the optimised code that takes the place of baseline code. If it cannot be made, the baseline code stays, until it
    /// is tried again.
    fn improve(&self, version: &Version) {
        match Stage::BackEnd.run(|| self.optimised_code(&version.region, Instant::now())) {
            Ok(made) if !self.cache.is_full() => version.code.improve(made),
            _ => version.code.fail(),
        }
    }

    /// What has been learnt, unless another thread is at it.
    fn advice(&self) -> Option<MutexGuard<'_, Advice>> {
        unless_taken(self.advice.try_lock())
    }

    /// Runs the interpreter for a while, from a round of the loop with this head on, and adds what it does to the profile.
    fn observe(&self, pause: &mut Pause<'_>, head: ProgramPoint) -> u32 {
        // On a profile of its own, so that nobody waits for a program's instructions.
        let mut profile = Profile::default();
        let part = self.settings.observe.div_ceil(OBSERVED_PARTS);
        for i in 0..OBSERVED_PARTS {
            pause.observe(part, &mut Watcher(&mut profile));
            self.observed_instructions.fetch_add(part as u64, Ordering::Relaxed);
            if i + 1 >= OBSERVED_ANYWAY && profile.of(head).is_some_and(|seen| seen.times >= OBSERVED_ROUNDS) {
                break;
            }
        }
        self.note(profile);
        0
    }

    /// Observes a moment more. A loop may wait until others have been compiled, and what was seen at first is of a few gangs
    /// only.
    fn look(&self, pause: &mut Pause<'_>) -> u32 {
        let mut profile = Profile::default();
        let part = self.settings.observe.div_ceil(OBSERVED_PARTS);
        pause.observe(part, &mut Watcher(&mut profile));
        self.observed_instructions.fetch_add(part as u64, Ordering::Relaxed);
        self.note(profile);
        PENDING
    }

    /// Returns whether it is known what the program does at a place, because it was observed when another head was hot.
    fn has_seen(&self, at: ProgramPoint) -> bool {
        self.advice().is_some_and(|advice| advice.profile.of(at).is_some_and(|seen| seen.times >= OBSERVED_ROUNDS))
    }

    /// Adds to what has been seen.
    fn note(&self, profile: Profile) {
        if let Some(mut advice) = self.advice() {
            advice.profile.add(profile);
        }
    }

    /// Has a version with constants made. Beyond so many the arguments must have been the same for longer and longer,
    /// and the version takes the place of one that is entered no more.
    fn specialise(&self, pause: &Pause<'_>, head: &Arc<Head>, found: &mut Loop, special: Special) {
        let Special { facts, times } = special;
        if found.has_version_for(&facts) {
            return;
        }
        let Some(excess) = found.specialised.checked_sub(self.settings.recompiles) else {
            if !found.is_pending() && !found.refuses() {
                found.specialised += 1;
                self.order(pause, head, found, facts, None, Why::Needed);
            }
            return;
        };
        if times.trailing_zeros() > 2 * excess.min(15)
            && !found.is_pending()
            && !found.refuses()
            && let Some(outdated) = found.outdated(&facts)
        {
            found.specialised += 1;
            self.order(pause, head, found, facts, Some(outdated), Why::Needed);
        }
    }

    /// Looks for a moment at what the program does now, in a loop that has long been compiled. If other variants would
    /// suit it than those that were chosen, its version is recompiled.
    fn look_again(&self, pause: &mut Pause<'_>, head: &Arc<Head>, version: &Arc<Version>) {
        let Some(mut found) = head.try_write() else { return };
        let special = version.take_special();
        if special.is_none() && version.is_too_soon() && !version.fails() {
            return;
        }
        version.look_later(found.second_looks, Duration::ZERO);
        if self.settings.stress.is_some() {
            return;
        }
        if self.settings.observe == 0 || !found.has(version) || found.is_pending() || found.refused.is_some() {
            return version.begin_to_count();
        }
        let contest = self.measures().then(|| version.to_measure()).flatten();
        let fails = version.fails();
        if fails {
            drop(found);
            self.recompile(pause, head, version);
            return version.begin_to_count();
        }
        if self.advice().is_some_and(|advice| version.has_lost(&advice)) {
            self.order(pause, head, &mut found, version.facts.clone(), Some(Arc::clone(version)), Why::Needed);
            return version.begin_to_count();
        }
        let skipped = if found.recompiles < PRUNED { version.always_skipped() } else { Vec::new() };
        let suiting = version.suiting();
        version.begin_to_count();
        drop(found);
        let start = Instant::now();
        let mut profile = Profile::default();
        let part = self.settings.observe.div_ceil(OBSERVED_PARTS);
        let mut instructions = 0;
        while instructions < SECOND_LOOK_PARTS * part {
            let few = SECOND_LOOK_AT_ONCE.min(part);
            pause.observe(few, &mut Watcher(&mut profile));
            instructions += few;
            if profile.of(head.at).is_some_and(|seen| seen.times >= SECOND_LOOK_ROUNDS) {
                break;
            }
        }
        self.observed_instructions.fetch_add(instructions.into(), Ordering::Relaxed);
        let (mut changed, mut begins_alone) = (false, false);
        if let Some(mut advice) = self.advice() {
            begins_alone = advice.begins_alone(head.at, &profile);
            changed = advice.think_again(&profile, &suiting) | advice.forget_arms(&skipped, &profile);
            if special.is_some() {
                advice.begin_anew(&profile);
            }
        }
        let Some(mut found) = head.try_write().filter(|found| !found.is_pending()) else { return };
        if begins_alone && version.may_ask_for_one_lane() && !found.has_version_for_one_lane() {
            version.ask_for_one_lane(true);
        }
        found.second_looks = if changed { found.second_looks + 1 } else { found.second_looks / 2 };
        let took = start.elapsed().min(OBSERVED_TIME * instructions);
        version.look_later(found.second_looks, took);
        found.looks_again += 1;
        found.look_time += took;
        if let Some(special) = special {
            self.specialise(pause, head, &mut found, special);
        }
        if changed {
            self.order(pause, head, &mut found, version.facts.clone(), Some(Arc::clone(version)), Why::Seen);
        } else if let Some(what) = contest {
            self.order_contest(pause, head, &mut found, version, what);
        }
    }

    /// Returns whether time decides when something is done.
    fn is_timed(&self) -> bool {
        self.settings.measure && self.settings.background && self.settings.stress.is_none()
    }

    /// Returns whether the cost of variants is measured.
    fn measures(&self) -> bool {
        self.is_timed() || self.settings.measure && self.pretended.get().is_some()
    }

    /// For tests: takes runs for as long as this says, so that what is dropped for its cost is a matter of the program
    /// alone.
    pub fn pretend(&self, nanos: Pretended) {
        let _ = self.pretended.set(nanos);
    }

    /// Has a version made without some variants of another, to be compared with it, if that has run for long enough.
    fn order_contest(
        &self,
        pause: &Pause<'_>,
        head: &Arc<Head>,
        found: &mut Loop,
        version: &Arc<Version>,
        what: Without,
    ) {
        let own = std::process::id();
        found.end_idle_contest(version);
        let is_free = found.contest.is_none() && found.makes_contest != Some(own);
        let has_paid = version.has_paid(self.settings.background) || self.pretended.get().is_some();
        if !is_free || !has_paid || version.code.is_baseline() {
            return;
        }
        let order = Arc::new(Order {
            prepared: pause.prepared(),
            head: Arc::clone(head),
            facts: version.facts.clone(),
            replaces: Some(Arc::clone(version)),
            prunes: found.recompiles < PRUNED,
            large: version.is_large,
            enlarges: None,
            without: Some(what),
            opponent: None,
        });
        if let (true, Some(this)) = (self.settings.background, self.this.upgrade()) {
            let ordered = Arc::clone(&order);
            if worker::run(When::Idle, needed(version), Box::new(move || this.fill(&ordered))).is_ok() {
                found.makes_contest = Some(own);
            }
            return;
        }
        let made = self.make(&order);
        if let Some(without) = &order.without {
            self.begin_contest(found, &order, made, without);
        }
    }

    /// What was ordered to be compared is there, or could not be made.
    fn begin_contest(&self, found: &mut Loop, order: &Order, made: Result<Version, Abort>, without: &Without) {
        found.makes_contest = None;
        let Some(with) = &order.replaces else { return };
        match made.ok().filter(|made| may_compete(&with.region, &made.region)) {
            Some(other) => {
                other.look_later(found.second_looks, Duration::ZERO);
                found.begin_contest(Contest::new(Arc::clone(with), Arc::new(other), without.clone(), false));
            }
            None => with.note_measured(without),
        }
    }

    /// Runs one of two versions that are compared, and notes how long that takes.
    ///
    /// Calls are made as they always are, and their time and rounds are part of the entry's: what one of the two has inlined, the other
    /// one may call.
    fn contend(
        &self,
        pause: &mut Pause<'_>,
        head: &Arc<Head>,
        version: &Arc<Version>,
        at_hand: &mut Option<Box<AtHand>>,
        words: &mut [u64],
    ) -> Visit {
        let next = head.try_write().and_then(|found| {
            let contest = found.contest.as_ref().filter(|contest| Arc::ptr_eq(&contest.with, version))?;
            Some(contest.next())
        });
        let Some((side, runner)) = next else {
            // Another thread is at it, or there is none any more.
            if head.try_write().is_some_and(|found| found.contest.is_none()) {
                version.contend(false);
                version.look_later(0, Duration::ZERO);
            }
            let (_, leads) =
                version.enter(pause, words, &self.settings, &self.native_instructions, Some(u64::MAX >> 1), None);
            return Visit { rounds: 0, leads };
        };
        let calls = runner.calls.then(|| {
            let at_hand = at_hand.get_or_insert_with(AtHand::new);
            at_hand.deepest.get_or_insert_with(deepest);
            at_hand.compared = Some([version, &runner].map(Arc::clone));
            Calls { jit: self, at_hand }
        });
        let pruned = version.left_by_pruned();
        let (at_most, before, start) = (version.compared_rounds(), pause.fuel_used(), Instant::now());
        let (change, leads) =
            runner.enter(pause, words, &self.settings, &self.native_instructions, Some(at_most), calls);
        let took = start.elapsed();
        if let Some(at_hand) = at_hand {
            at_hand.compared = None;
            if let Some(left) = at_hand.left.take() {
                // It has been left in the midst of a call, for what is to be done there.
                return self.leave(pause, left);
            }
        }
        let rounds = (pause.fuel_used() - before).max(0) as u64 + 1;
        let nanos = match self.pretended.get() {
            Some(pretended) => pretended(&runner.region, rounds),
            None => took.as_nanos() as u64,
        };
        if version.left_by_pruned() != pruned
            && let Some(mut found) = head.try_write()
            && let Some(contest) = found.contest.as_mut().filter(|c| c.on_trial && Arc::ptr_eq(&c.with, version))
            && contest.forgive()
        {
            drop(found);
            return match change.as_deref() {
                Some(Change::Recompile) => Visit::interpret(self.recompile(pause, head, version)),
                _ => Visit { rounds: 0, leads },
            };
        }
        if let Some(mut found) = head.try_write()
            && let Some(contest) = found.contest.as_mut().filter(|contest| Arc::ptr_eq(&contest.with, version))
            && let Some(measured) = contest.add(side, nanos, rounds)
        {
            let variant = measured.variant;
            let dropped = found.end_contest(measured);
            version.look_later(found.second_looks, Duration::ZERO);
            if let (Some(contest), Some(mut advice)) = (dropped, self.advice()) {
                advice.lose(variant, &contest.what.places);
                contest.without.note_losses(&advice);
            }
        }
        Visit { rounds: 0, leads }
    }

    /// Recompiles a version that leads on to others all the time, with more in it. Meanwhile it does as well as before.
    fn enlarge(&self, pause: &Pause<'_>, head: &Arc<Head>, version: &Arc<Version>) {
        let Some(mut found) = head.try_write() else { return };
        let pays = !self.is_timed() || version.is_worth_enlarging();
        let is_free = !found.is_pending() && !found.is_making(&version.facts) && !found.refuses();
        if found.has(version) && !version.is_large && pays && is_free {
            self.order(pause, head, &mut found, version.facts.clone(), Some(Arc::clone(version)), Why::Larger);
        }
    }

    /// Recompiles a version, with what has been learnt from it, and with what the interpreter does now: where one new way is
    /// taken, there are others.
    fn recompile(&self, pause: &mut Pause<'_>, head: &Arc<Head>, version: &Arc<Version>) -> u32 {
        let allows = |found: &mut Loop| {
            let is_there = found.versions.iter().any(|v| Arc::ptr_eq(v, version));
            // Beyond so many, only a version that has run for long.
            let excess = found.recompiles.checked_sub(self.settings.recompiles);
            let has_paid = || self.is_timed() && version.has_paid(false);
            let may = excess.is_none_or(|excess| version.rounds() >= long(excess) || has_paid());
            is_there && !found.is_pending() && may && !found.refuses()
        };
        if !head.try_write().is_some_and(|mut found| allows(&mut found)) {
            return 0;
        }
        if self.settings.observe != 0 {
            self.observe(pause, version.at());
        }
        let Some(mut found) = head.try_write() else { return 0 };
        if !allows(&mut found) {
            return 0;
        }
        let Some(mut advice) = self.advice() else { return 0 };
        version.teach(&mut advice);
        drop(advice);
        found.recompiles += 1;
        self.order(pause, head, &mut found, version.facts.clone(), Some(Arc::clone(version)), Why::Needed);
        0
    }
}

/// How much something better than a version is needed: the time that it has run.
fn needed(version: &Arc<Version>) -> Need {
    let version = Arc::downgrade(version);
    Box::new(move || version.upgrade().map_or(0, |version| version.time()))
}

/// What begins at a place.
fn begins(prepared: &PreparedProgram, (function, pc): ProgramPoint) -> Begins {
    let code = &prepared.program().functions[function.0 as usize].code;
    let jumps_back = code[pc as usize..].iter().any(|inst| inst.op.info().sig.has_label() && inst.aux == pc);
    match pc {
        _ if jumps_back => Begins::Loop,
        0 => Begins::Function,
        _ => Begins::Rest,
    }
}

/// A lock, unless another thread has it: a program does not wait for what others do with its loops, and the child of a `fork`
/// may have been made while a thread that it does not have held a lock.
fn unless_taken<T>(tried: Result<T, TryLockError<T>>) -> Option<T> {
    match tried {
        Ok(lock) => Some(lock),
        Err(TryLockError::Poisoned(lock)) => Some(lock.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Returns whether one of two versions may take the place of the other: it is another one, and what is divided is not made whole.
fn may_compete(with: &Region, without: &Region) -> bool {
    with != without && (with.is_divided || !without.is_divided)
}
