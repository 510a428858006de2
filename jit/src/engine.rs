//! The tracing engine: what happens at hot loops.
//!
//! A [`Jit`] is the [`Tracer`] of one program and is shared by all threads that run it. When a loop is hot it is recorded
//! with the facts about masks that hold at that moment, optimised and compiled, and from then on entered at every round
//! that finds these facts again. Rounds with other facts make another version; the last one that is allowed assumes nothing.

use crate::abort::Abort;
use crate::backend::{Backend, Executable};
use crate::cache::{CodeCache, Room};
use crate::ir::{ExitId, Region};
use crate::passes::optimise;
use crate::record::{EntryFacts, MaskFact, record};
use crate::{stress, worker};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::interp::native::{ENTRY_WORDS, FRAME_WORDS, Pause, ResumeFrame, Tracer};
use spmdvm_vm::program::FuncId;
use spmdvm_vm::verify::EntryKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

/// What decides when and how loops are compiled; see [`Settings::default`] for the usual values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Rounds that a loop is interpreted before it is compiled.
    pub hot: u32,
    /// Most versions of a loop, by what holds at its head.
    pub versions: usize,
    /// Entries after which a version is judged by how it was left.
    pub trial: u64,
    /// Compile on another thread while the interpreter goes on? Otherwise the thread that finds a loop hot compiles it,
    /// which makes what is compiled when a matter of the program alone.
    pub background: bool,
    /// Most bytes of machine code that the program may have at a time. A loop for which there is no room is interpreted.
    pub code_limit: usize,
    /// Leave compiled code at random, by this seed? For tests: see [`stress`].
    pub stress: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { hot: 40, versions: 3, trial: 200, background: true, code_limit: 64 << 20, stress: None }
    }
}

impl Settings {
    /// Compiles every loop in its first round and never gives one up: what tests use.
    pub fn eager() -> Settings {
        Settings { hot: 0, trial: u64::MAX, background: false, ..Settings::default() }
    }
}

/// Rounds that are interpreted while a loop is being compiled, before it is asked about again.
const PENDING: u32 = 256;

/// Rounds until a loop that cannot be compiled is asked about again.
const NEVER: u32 = u32::MAX;

/// Rounds of an entry in which there was a poll: so many at most come between two.
const POLL: i64 = 1024;

/// Least work of an entry, in instructions of the IR, that makes up for entering: about 300 ns against 2 ns for each that the
/// interpreter would execute.
const WORTHWHILE: u64 = 150;

/// Mask words that are kept on the stack of the host.
const WORDS: usize = 160;

/// The JIT of one program.
pub struct Jit {
    /// Itself, for the thread that compiles.
    this: Weak<Jit>,
    backend: Box<dyn Backend>,
    settings: Settings,
    loops: OnceLock<Box<[RwLock<Loop>]>>,
    cache: CodeCache,
}

/// A loop and its compiled versions.
#[derive(Default)]
struct Loop {
    versions: Vec<Arc<Version>>,
    aborted: Option<Abort>,
    /// The function, and the instruction at the loop's head; known once the loop is hot.
    at: Option<(FuncId, u32)>,
    /// Is a version being compiled?
    pending: bool,
}

/// A compiled region and when it may be entered.
struct Version {
    facts: EntryFacts,
    region: Arc<Region>,
    code: Box<dyn Executable>,
    exits: Box<[Landing]>,
    counters: Box<[AtomicU64]>,
    entries: AtomicU64,
    /// Units of fuel counted in the code: about the rounds.
    rounds: AtomicU64,
    words: usize,
    time: Duration,
    _room: Room,
}

/// Where an exit leads.
struct Landing {
    frames: Box<[LandingFrame]>,
    taken: AtomicU64,
    /// Is it how the loop ends, or is left for a moment only?
    expected: bool,
}

struct LandingFrame {
    function: FuncId,
    pc: u32,
    at: u32,
    entries: Box<[EntryKind]>,
}

impl Jit {
    /// A JIT with a back end.
    pub fn new(backend: Box<dyn Backend>, settings: Settings) -> Arc<Jit> {
        let cache = CodeCache::new(settings.code_limit);
        Arc::new_cyclic(|this| Jit { this: this.clone(), backend, settings, loops: OnceLock::new(), cache })
    }

    /// The version of a loop that may be entered, or what to do without one.
    fn version(&self, pause: &Pause<'_>, site: &RwLock<Loop>, facts: &Holding<'_>) -> Result<Arc<Version>, u32> {
        {
            let found = site.read().unwrap_or_else(PoisonError::into_inner);
            if found.aborted.is_some() {
                return Err(NEVER);
            }
            if let Some(version) = found.versions.iter().find(|v| facts.satisfy(&v.facts)) {
                return Ok(Arc::clone(version));
            }
        }
        self.order(pause, site, facts)
    }

    /// Has a version made for the state at hand.
    fn order(&self, pause: &Pause<'_>, site: &RwLock<Loop>, facts: &Holding<'_>) -> Result<Arc<Version>, u32> {
        let mut found = site.write().unwrap_or_else(PoisonError::into_inner);
        if found.pending {
            return Err(PENDING);
        }
        if let Some(there) = found.versions.iter().find(|v| facts.satisfy(&v.facts)) {
            return Ok(Arc::clone(there));
        }
        let last = found.versions.len() + 1 >= self.settings.versions;
        let at = (pause.function(), pause.pc());
        let order = Order { prepared: pause.prepared(), site: pause.site(), at, facts: facts.observe(last) };
        found.at = Some(at);
        if let (true, Some(this)) = (self.settings.background, self.this.upgrade()) {
            found.pending = true;
            drop(found);
            worker::run(Box::new(move || this.fill(&order)));
            return Err(PENDING);
        }
        found.deliver(self.make(&order)).ok_or(NEVER)
    }

    /// Compiles what was ordered, on the thread for that, and sees to it that the loop is asked about again.
    fn fill(&self, order: &Order) {
        let made = self.make(order);
        if let Some(site) = self.loops.get().and_then(|l| l.get(order.site)) {
            let mut found = site.write().unwrap_or_else(PoisonError::into_inner);
            found.pending = false;
            let rounds = if found.deliver(made).is_some() { 0 } else { NEVER };
            order.prepared.set_countdown(order.site, rounds);
        }
    }

    fn make(&self, order: &Order) -> Result<Version, Abort> {
        // A defect of the compiler is not to end the process: the loop is interpreted.
        let made = catch_unwind(AssertUnwindSafe(|| self.try_make(order)));
        made.unwrap_or_else(|_| Err(Abort::Invalid("the compiler panicked".into())))
    }

    fn try_make(&self, order: &Order) -> Result<Version, Abort> {
        if self.cache.is_full() {
            return Err(Abort::CodeCacheFull(self.cache.limit()));
        }
        let start = Instant::now();
        let facts = order.facts.clone();
        let mut region = record(&order.prepared, order.at.0, order.at.1, &facts)?;
        optimise(&mut region)?;
        if let Some(seed) = self.settings.stress {
            stress::run(&mut region, seed);
        }
        let region = Arc::new(region);
        let code = self.backend.compile(Arc::clone(&region)).map_err(Abort::Backend)?;
        let _room = self.cache.take(code.code_bytes()).ok_or(Abort::CodeCacheFull(self.cache.limit()))?;
        let exits: Box<[Landing]> = region.exits.iter().map(Landing::new).collect();
        let own = FRAME_WORDS + facts.entries.len() * ENTRY_WORDS;
        let words = exits.iter().map(Landing::words).max().unwrap_or(0).max(own);
        let counters = region.counters.iter().map(|_| AtomicU64::new(0)).collect();
        let (entries, rounds) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Version { facts, region, code, exits, counters, entries, rounds, words, time: start.elapsed(), _room })
    }

    /// Runs a version and puts the interpreter where it ended; gives the next countdown.
    fn enter(&self, site: &RwLock<Loop>, pause: &mut Pause<'_>, version: &Version) -> u32 {
        if !pause.has_room(version.region.frame_bytes, version.region.depth) {
            return 0;
        }
        let mut few = [0u64; WORDS];
        let mut many = Vec::new();
        let words = if version.words <= WORDS {
            &mut few[..]
        } else {
            many.resize(version.words, 0);
            &mut many[..]
        };
        let mut context = pause.enter(words, version.counters.as_ptr().cast::<u64>().cast_mut());
        // After a poll in between there are more again; then the loop is long.
        let before = context.ticks;
        // SAFETY: the version was made for this loop; its facts hold, so its number of entries is right; there is room.
        let exit = unsafe { version.code.run(&mut context) };
        pause.leave(&context);
        let rounds = if before >= context.ticks { before - context.ticks } else { POLL };
        version.rounds.fetch_add(rounds as u64, Ordering::Relaxed);
        let landing = &version.exits[exit.index()];
        let frames: Vec<ResumeFrame<'_>> = landing.frames.iter().map(LandingFrame::resume).collect();
        // SAFETY: the exit's snapshot is the state that interpreting would have led to.
        unsafe { pause.resume(&frames, words) };
        landing.taken.fetch_add(1, Ordering::Relaxed);
        let entries = version.entries.fetch_add(1, Ordering::Relaxed) + 1;
        if entries == self.settings.trial { self.judge(site, version) } else { 0 }
    }

    /// Gives up a loop whose code is left before its end most of the time.
    fn judge(&self, site: &RwLock<Loop>, version: &Version) -> u32 {
        let early = |l: &&Landing| !l.expected;
        let left: u64 = version.exits.iter().filter(early).map(|l| l.taken.load(Ordering::Relaxed)).sum();
        if left * 2 < self.settings.trial {
            return self.judge_length(site, version);
        }
        let most = version.exits.iter().enumerate().filter(|(_, l)| !l.expected);
        let most = most.max_by_key(|(_, l)| l.taken.load(Ordering::Relaxed));
        let why = most.map_or("", |(i, _)| version.region.exits[i].why);
        let mut site = site.write().unwrap_or_else(PoisonError::into_inner);
        site.versions.clear();
        site.aborted = Some(Abort::LeavesTooOften(why));
        NEVER
    }
}

impl Jit {
    /// Gives up a loop that does too little each time it is entered.
    fn judge_length(&self, site: &RwLock<Loop>, version: &Version) -> u32 {
        let region = &version.region;
        let insts: usize = region.blocks.iter().filter(|b| !b.cold).map(|b| b.insts.len()).sum();
        let rounds = version.rounds.load(Ordering::Relaxed) / self.settings.trial;
        if (rounds + 1) * insts as u64 >= WORTHWHILE {
            return 0;
        }
        let mut site = site.write().unwrap_or_else(PoisonError::into_inner);
        site.versions.clear();
        site.aborted = Some(Abort::TooShort);
        NEVER
    }
}

impl Tracer for Jit {
    fn at_loop(&self, pause: &mut Pause<'_>) -> u32 {
        let loops = self.loops.get_or_init(|| (0..pause.n_loops()).map(|_| RwLock::default()).collect());
        let Some(site) = loops.get(pause.site()) else { return NEVER };
        let mut masks = [0u64; WORDS];
        let n = pause.entries().count();
        if FRAME_WORDS + n * ENTRY_WORDS > WORDS {
            return NEVER;
        }
        pause.write_masks(&mut masks);
        let facts = Holding { pause, masks: &masks, full: pause.program().width.full_mask() };
        match self.version(pause, site, &facts) {
            Ok(version) => self.enter(site, pause, &version),
            Err(rounds) => rounds,
        }
    }
}

impl Loop {
    /// Takes what was made of an order.
    fn deliver(&mut self, made: Result<Version, Abort>) -> Option<Arc<Version>> {
        match made {
            Ok(version) => {
                let version = Arc::new(version);
                self.versions.push(Arc::clone(&version));
                Some(version)
            }
            Err(why) => {
                self.aborted = Some(why);
                self.versions.clear();
                None
            }
        }
    }
}

/// A version of a loop to be made.
struct Order {
    prepared: PreparedProgram,
    site: usize,
    at: (FuncId, u32),
    facts: EntryFacts,
}

/// What holds at a loop's head right now.
struct Holding<'a> {
    pause: &'a Pause<'a>,
    masks: &'a [u64],
    full: u64,
}

impl Holding<'_> {
    fn satisfy(&self, facts: &EntryFacts) -> bool {
        let entries = self.masks[FRAME_WORDS..].chunks_exact(ENTRY_WORDS);
        facts.mask.holds(self.masks[0], self.full)
            && facts.entries.iter().zip(entries).all(|(f, e)| f.1.holds(e[0], self.full) && f.2.holds(e[1], self.full))
    }

    /// The facts to compile for: what holds, or nothing.
    fn observe(&self, nothing: bool) -> EntryFacts {
        let of = |mask| if nothing { MaskFact::Unknown } else { MaskFact::of(mask, self.full) };
        let entries = self.pause.entries().map(|(kind, restore, other)| (kind, of(restore), of(other))).collect();
        EntryFacts { mask: of(self.masks[0]), entries }
    }
}

impl Landing {
    fn new(exit: &crate::ir::Exit) -> Landing {
        let frames = exit.frames.iter().map(|f| LandingFrame {
            function: f.function,
            pc: f.pc,
            at: f.at,
            entries: f.entries.iter().map(|e| e.kind).collect(),
        });
        let expected = matches!(exit.why, "end of loop" | "poll" | "return");
        Landing { frames: frames.collect(), taken: AtomicU64::new(0), expected }
    }

    /// Mask words that the exit writes.
    fn words(&self) -> usize {
        self.frames.iter().map(|f| FRAME_WORDS + f.entries.len() * ENTRY_WORDS).sum()
    }
}

impl LandingFrame {
    fn resume(&self) -> ResumeFrame<'_> {
        ResumeFrame { function: self.function, pc: self.pc, at: self.at, entries: &self.entries }
    }
}

/// What a JIT did with a loop.
#[derive(Clone, Debug)]
pub struct LoopReport {
    /// The function, and the instruction at the loop's head.
    pub at: (FuncId, u32),
    /// Its compiled versions.
    pub versions: Vec<VersionReport>,
    /// Why it is not compiled, if it is not.
    pub aborted: Option<Abort>,
}

/// A compiled version of a loop.
#[derive(Clone, Debug)]
pub struct VersionReport {
    /// The optimised region.
    pub region: Arc<Region>,
    /// Time of recording and compiling.
    pub time: Duration,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// How often it was entered.
    pub entries: u64,
    /// How often it was left by each exit.
    pub exits: Vec<(ExitId, u64)>,
    /// Its counters.
    pub counters: Vec<u64>,
    /// The machine code as text, if it can be shown.
    pub listing: Option<String>,
}

impl Jit {
    /// Bytes of machine code that the program has now.
    pub fn code_bytes(&self) -> usize {
        self.cache.used()
    }

    /// What was done with every loop that was hot.
    pub fn report(&self) -> Vec<LoopReport> {
        let loops = self.loops.get().map(|l| &l[..]).unwrap_or_default();
        let read = loops.iter().map(|l| l.read().unwrap_or_else(PoisonError::into_inner));
        read.filter_map(|l| {
            let versions = l.versions.iter().map(|v| v.report()).collect();
            Some(LoopReport { at: l.at?, versions, aborted: l.aborted.clone() })
        })
        .collect()
    }
}

impl Version {
    fn report(&self) -> VersionReport {
        let exits = self.exits.iter().enumerate();
        VersionReport {
            region: Arc::clone(&self.region),
            time: self.time,
            code_bytes: self.code.code_bytes(),
            entries: self.entries.load(Ordering::Relaxed),
            exits: exits.map(|(i, l)| (ExitId(i as u32), l.taken.load(Ordering::Relaxed))).collect(),
            counters: self.counters.iter().map(|c| c.load(Ordering::Relaxed)).collect(),
            listing: self.code.listing(),
        }
    }
}
