//! Where a call spends its work, line by line: how often each line was executed, with how many lanes, and for how long.
//!
//! A [`Profiler`] watches the reference interpreter, which then runs all of the call. Counts are exact. Times are estimates: of every so
//! many instructions, drawn at random, one is timed; operations that may take long (copies, prints, functions of the host) all are.
//!
//! *How often.* A line is executed once more when control comes back to it. In the bytecode that is when one of the line's *anchors*
//! is executed that does not lie behind the last one of this call of the function: a loop has jumped back. Anchors are instructions
//! that the compiler has not moved out of loops: those that are not pure, or that assign to a variable; if a line has none of these, its
//! last instruction. What merely ends a construct (`mask.endif`) executes no line.

use spmdvm_frontend::lower::map_wrapper;
use spmdvm_frontend::prelude::FILES;
use spmdvm_vm::isa::{Effect, Op};
use spmdvm_vm::observe::{Observer, View};
use spmdvm_vm::program::{Function, Program};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// What was counted on a line of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineCount {
    /// The file, as messages call it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// How often the line was executed, by gangs. Under an empty mask nothing is.
    pub count: u64,
    /// The lanes that were active when it was, summed up.
    pub active: u64,
    /// The lanes that there are, summed up: `count` times the width.
    pub possible: u64,
    /// Instructions of the bytecode, those of library functions that the line calls among them.
    pub instructions: u64,
    /// Of these, those in functions of the library.
    pub in_library: u64,
    /// Time in these instructions, estimated.
    pub time: Duration,
}

/// How busy the lanes were that computed an element of an array of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaneShare {
    /// The address of the element.
    pub address: usize,
    /// Active lanes, summed up over the instructions that led to what was stored there.
    pub active: u64,
    /// All lanes, summed up likewise.
    pub possible: u64,
}

/// What a [`Profiler`] has seen.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The lines that were executed, by file and number.
    pub lines: Vec<LineCount>,
    /// Elements of arrays and globals that were stored, by address; none unless [`Profiler::of_elements`] was asked for.
    pub elements: Vec<LaneShare>,
    /// Lanes of the gang.
    pub width: usize,
    /// Instructions that were timed.
    pub samples: u64,
}

/// Most elements whose lanes are noted.
const MAX_ELEMENTS: usize = 1 << 22;

/// So many instructions are all timed, then one of [`SPACING`] on average.
const TIMED_AT_FIRST: u64 = 20_000;
const SPACING: u32 = 16;

/// No instruction takes longer but those that are all timed: if one has, the machine was busy with something else.
const LONGEST: Duration = Duration::from_micros(20);

/// Counts what happens on each line; see the module's documentation.
pub struct Profiler {
    lines: Vec<Line>,
    /// Numbers of lines, by file and line of the program at hand.
    numbers: HashMap<(u32, u32), u32>,
    /// The program at hand, as an address that is compared only, and what is known of its functions.
    program: usize,
    functions: Vec<Option<Places>>,
    /// The calls that are active, outermost first.
    calls: Vec<Call>,
    clock: Clock,
    elements: Option<Elements>,
    width: usize,
}

#[derive(Default)]
struct Line {
    count: LineCount,
    nanoseconds: f64,
}

/// What each instruction of a function counts for.
struct Places {
    is_library: bool,
    sites: Vec<Site>,
    /// Number of different lines.
    n_lines: usize,
}

#[derive(Clone, Copy)]
struct Site {
    /// Number of the line among all lines; [`NOWHERE`] if it has none.
    line: u32,
    /// Number among the function's.
    local: u32,
    is_anchor: bool,
    is_structure: bool,
    /// Whether how long it takes depends on its operands.
    is_long: bool,
}

const NOWHERE: u32 = u32::MAX;

/// A call of a function.
#[derive(Default)]
struct Call {
    function: u32,
    /// The line that executes.
    line: u32,
    /// By line of the function: the last anchor that was executed, from 1; 0 for none.
    last: Vec<u32>,
}

impl Default for Profiler {
    fn default() -> Profiler {
        Profiler::new()
    }
}

impl Profiler {
    /// A profiler that has seen nothing.
    pub fn new() -> Profiler {
        Profiler {
            lines: Vec::new(),
            numbers: HashMap::new(),
            program: 0,
            functions: Vec::new(),
            calls: Vec::new(),
            clock: Clock::new(),
            elements: None,
            width: 0,
        }
    }

    /// The same, that also notes for each element of an array of the host, or of a global, how busy the lanes were that computed it.
    #[must_use]
    pub fn of_elements(self) -> Profiler {
        Profiler { elements: Some(Elements::default()), ..self }
    }

    /// What was seen so far.
    pub fn profile(&self) -> Profile {
        let of_line =
            |line: &Line| LineCount { time: Duration::from_nanos(line.nanoseconds as u64), ..line.count.clone() };
        let mut lines: Vec<LineCount> = self.lines.iter().map(of_line).filter(|line| line.instructions > 0).collect();
        lines.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        let found = self.elements.iter().flat_map(|elements| &elements.shares);
        let mut elements: Vec<LaneShare> =
            found.map(|(&address, &(active, possible))| LaneShare { address, active, possible }).collect();
        elements.sort_by_key(|share| share.address);
        Profile { lines, elements, width: self.width, samples: self.clock.samples }
    }

    /// Makes a program the one at hand.
    fn turn_to(&mut self, program: &Program) {
        let address = std::ptr::from_ref(program) as usize;
        if self.program != address {
            self.program = address;
            self.functions = program.functions.iter().map(|_| None).collect();
            self.numbers.clear();
            self.width = program.width.lanes();
        }
    }

    /// The number of a line, which it gets when it is first met.
    fn number(&mut self, program: &Program, file: u32, line: usize) -> u32 {
        let (lines, numbers) = (&mut self.lines, &mut self.numbers);
        *numbers.entry((file, line as u32)).or_insert_with(|| {
            let source = program.sources.get(file as usize);
            let name = source.map_or("", |source| source.name.as_str());
            // An instance that was compiled for other types has the same source.
            if let Some(known) = lines.iter().position(|l| l.count.line == line && l.count.file == name) {
                return known as u32;
            }
            let text = source.and_then(|source| source.text.lines().nth(line - 1)).unwrap_or("");
            let count = LineCount { file: name.into(), line, text: text.into(), ..LineCount::default() };
            lines.push(Line { count, nanoseconds: 0.0 });
            (lines.len() - 1) as u32
        })
    }

    fn places(&mut self, view: &View<'_>) -> Places {
        let (program, function) = (view.program(), view.function());
        let place = |pc: usize| {
            let span = *function.spans.get(pc)?;
            program.line_col(span).map(|(_, line, _)| (span.file, line))
        };
        let at: Vec<Option<(u32, usize)>> = (0..function.code.len()).map(place).collect();
        let is_of_library = |file: u32| {
            let name = program.sources.get(file as usize).map(|source| source.name.as_str());
            FILES.iter().any(|(library, _)| Some(*library) == name)
        };
        let is_library = at.iter().flatten().next().is_some_and(|&(file, _)| is_of_library(file));
        let mut locals: HashMap<(u32, usize), u32> = HashMap::new();
        let anchors = anchors(function, &at);
        let mut sites = Vec::with_capacity(at.len());
        for (pc, place) in at.iter().enumerate() {
            let op = function.code[pc].op;
            let (is_structure, is_long) = (is_structure(op), is_long(op));
            sites.push(match *place {
                Some((file, line)) if !is_library => {
                    let next = locals.len() as u32;
                    let local = *locals.entry((file, line)).or_insert(next);
                    let (line, is_anchor) = (self.number(program, file, line), anchors[pc]);
                    Site { line, local, is_anchor, is_structure, is_long }
                }
                _ => Site { line: NOWHERE, local: 0, is_anchor: false, is_structure, is_long },
            });
        }
        Places { is_library, sites, n_lines: locals.len() }
    }

    /// The number of calls around the one at hand, which is there.
    fn come_to(&mut self, view: &View<'_>, is_new: bool) -> usize {
        self.turn_to(view.program());
        let (function, depth) = (view.function_id().0, view.depth());
        if self.functions[function as usize].is_none() {
            self.functions[function as usize] = Some(self.places(view));
        }
        let n_lines = self.functions[function as usize].as_ref().map_or(0, |places| places.n_lines);
        if self.calls.len() > depth + 1 {
            self.calls.truncate(depth + 1);
        }
        while self.calls.len() <= depth {
            self.calls.push(Call { function: u32::MAX, line: NOWHERE, last: Vec::new() });
        }
        let call = &mut self.calls[depth];
        if is_new || call.function != function {
            (call.function, call.line) = (function, NOWHERE);
            call.last.clear();
            call.last.resize(n_lines, 0);
        }
        depth
    }
}

impl Observer for Profiler {
    fn entered(&mut self, view: &View<'_>) {
        self.clock.stop(&mut self.lines);
        self.come_to(view, true);
    }

    fn before(&mut self, view: &View<'_>) {
        self.clock.stop(&mut self.lines);
        let depth = self.come_to(view, false);
        let (function, pc, mask) = (view.function_id().0 as usize, view.pc() as usize, view.mask());
        let Some(places) = &self.functions[function] else { return };
        let (site, in_library) = (places.sites[pc], places.is_library);
        let call = &mut self.calls[depth];
        let active = u64::from(mask.count_ones());
        if site.line != NOWHERE {
            call.line = site.line;
        }
        if site.is_anchor && mask != 0 {
            let last = &mut call.last[site.local as usize];
            if *last == 0 || pc < *last as usize {
                let count = &mut self.lines[site.line as usize].count;
                count.count += 1;
                count.active += active;
                count.possible += self.width as u64;
            }
            *last = pc as u32 + 1;
        }
        if let Some(elements) = self.elements.as_mut().filter(|_| mask != 0 && !site.is_structure) {
            elements.note(view, active, self.width as u64);
        }
        // What a library function does is done for the line that calls it.
        let line = self.calls.iter().rev().map(|call| call.line).find(|&line| line != NOWHERE);
        if let Some(line) = line {
            let count = &mut self.lines[line as usize].count;
            count.instructions += 1;
            count.in_library += u64::from(in_library);
            self.clock.start(line, site.is_long);
        }
    }

    fn after(&mut self, _: &View<'_>) {
        self.clock.stop(&mut self.lines);
    }
}

/// Returns whether an operation only ends or encloses what other instructions do.
fn is_structure(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        MaskElse
            | MaskEndif
            | LoopBegin
            | LoopNext
            | LoopBack
            | LoopEnd
            | SwitchEnd
            | Everywhere
            | EverywhereEnd
            | Jmp
            | Ret
    )
}

/// Returns whether an operation may take any time.
fn is_long(op: Op) -> bool {
    use Op::*;
    matches!(op, MemCopy | MemSet | Alloc | Free | Print | HostCall)
}

/// Which instructions tell that their lines are executed.
fn anchors(function: &Function, at: &[Option<(u32, usize)>]) -> Vec<bool> {
    let mut anchors = vec![false; at.len()];
    // The wrapper that maps a function over arrays executes no line: its loads and stores are the declaration's.
    if function.name.ends_with(map_wrapper::SUFFIX) {
        return anchors;
    }
    let mut writes = vec![0u32; function.regs.len()];
    function.code.iter().filter(|inst| !inst.dst.is_none()).for_each(|inst| writes[inst.dst.index()] += 1);
    let stays = |pc: usize| {
        let inst = &function.code[pc];
        inst.op.info().effect != Effect::Pure || (!inst.dst.is_none() && writes[inst.dst.index()] > 1)
    };
    let mut by_line: HashMap<(u32, usize), Vec<usize>> = HashMap::new();
    at.iter().enumerate().filter_map(|(pc, place)| Some((pc, (*place)?))).for_each(|(pc, place)| {
        by_line.entry(place).or_default().push(pc);
    });
    for pcs in by_line.values() {
        let real: Vec<usize> = pcs.iter().copied().filter(|&pc| !is_structure(function.code[pc].op)).collect();
        let staying: Vec<usize> = real.iter().copied().filter(|&pc| stays(pc)).collect();
        let jumps = pcs.iter().copied().filter(|&pc| matches!(function.code[pc].op, Op::Jmp | Op::Ret));
        let chosen = match (staying.is_empty(), real.last()) {
            (false, _) => staying,
            (true, Some(&last)) => vec![last],
            (true, None) => jumps.collect(),
        };
        chosen.into_iter().for_each(|pc| anchors[pc] = true);
    }
    anchors
}

/// Times instructions that are drawn at random.
struct Clock {
    /// The line and the weight of what is being timed, since when, and how long it can take.
    running: Option<(u32, u32, Instant, Duration)>,
    /// What reading the clock twice takes.
    own: Duration,
    seen: u64,
    samples: u64,
    until_next: u32,
    random: u32,
}

impl Clock {
    fn new() -> Clock {
        let once = |_| {
            let began = Instant::now();
            began.elapsed()
        };
        let own = (0..64).map(once).min().unwrap_or_default();
        Clock { running: None, own, seen: 0, samples: 0, until_next: 0, random: 0x9e37_79b9 }
    }

    /// An instruction of a line begins.
    #[inline]
    fn start(&mut self, line: u32, is_long: bool) {
        self.seen += 1;
        if is_long {
            self.running = Some((line, 1, Instant::now(), Duration::MAX));
            return;
        }
        if self.until_next > 0 {
            self.until_next -= 1;
            return;
        }
        let weight = if self.seen <= TIMED_AT_FIRST {
            1
        } else {
            // The next lies 1 to 2 * SPACING - 1 further on, so that no loop keeps pace with it.
            self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            self.until_next = (self.random >> 8) % (2 * SPACING - 1);
            SPACING
        };
        self.running = Some((line, weight, Instant::now(), LONGEST));
    }

    /// It has ended.
    #[inline]
    fn stop(&mut self, lines: &mut [Line]) {
        if let Some((line, weight, began, longest)) = self.running.take() {
            let time = began.elapsed().saturating_sub(self.own).min(longest);
            lines[line as usize].nanoseconds += time.as_nanos() as f64 * f64::from(weight);
            self.samples += 1;
        }
    }
}

/// How busy lanes were for each element that was stored.
#[derive(Default)]
struct Elements {
    /// Lanes so far: active, and all.
    total: (u64, u64),
    /// What it was at the last store of each instruction, and at the last store at all.
    at_store: HashMap<(u32, u32), (u64, u64)>,
    at_last: (u64, u64),
    shares: HashMap<usize, (u64, u64)>,
}

impl Elements {
    fn note(&mut self, view: &View<'_>, active: u64, width: u64) {
        self.total.0 += active;
        self.total.1 += width;
        if !matches!(view.inst().op, Op::Store | Op::StoreLane) {
            return;
        }
        let accesses = view.accesses();
        let Some(first) = accesses.first().and_then(|accessed| view.host_address(accessed)) else { return };
        let before = self.at_store.insert((view.function_id().0, view.pc()), self.total).unwrap_or(self.at_last);
        let work = (self.total.0 - before.0, self.total.1 - before.1);
        self.at_last = self.total;
        let rest = accesses.iter().skip(1).filter_map(|accessed| view.host_address(accessed));
        for address in std::iter::once(first).chain(rest) {
            if self.shares.len() < MAX_ELEMENTS || self.shares.contains_key(&address) {
                let share = self.shares.entry(address).or_default();
                (share.0, share.1) = (share.0 + work.0, share.1 + work.1);
            }
        }
    }
}

/// Lines that the table shows at most.
const SHOWN: usize = 40;

impl Profile {
    /// The time of all lines.
    pub fn time(&self) -> Duration {
        self.lines.iter().map(|line| line.time).sum()
    }

    /// Instructions of all lines.
    pub fn instructions(&self) -> u64 {
        self.lines.iter().map(|line| line.instructions).sum()
    }

    /// The lines that take most time, as a table.
    pub fn table(&self) -> String {
        let mut lines: Vec<&LineCount> = self.lines.iter().collect();
        lines.sort_by_key(|line| std::cmp::Reverse((line.time, line.instructions)));
        let percent = |part: f64, of: f64| if of > 0.0 { format!("{:.1}%", 100.0 * part / of) } else { "-".into() };
        let time = self.time().as_secs_f64();
        let mut text = String::from("   time         count  active lanes  in library  line\n");
        for line in lines.iter().take(SHOWN) {
            let (file, number, code) = (&line.file, line.line, line.text.trim());
            let _ = writeln!(
                text,
                "{:>7}  {:>12}  {:>12}  {:>10}  {file}:{number}  {code}",
                percent(line.time.as_secs_f64(), time),
                line.count,
                percent(line.active as f64, line.possible as f64),
                percent(line.in_library as f64, line.instructions as f64),
            );
        }
        if lines.len() > SHOWN {
            let _ = writeln!(text, "  … {} more lines", lines.len() - SHOWN);
        }
        let _ = writeln!(text, "{} instructions of the interpreter, which ran all of it", self.instructions());
        text
    }
}
