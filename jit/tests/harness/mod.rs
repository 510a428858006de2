//! A stage for back ends: a program whose loop pauses, so that regions run on a real context.
//!
//! The program has a bank of registers of every type and shape, and an array of every type. A test fills them, runs a
//! region on several back ends from the same state, and compares all that can be seen: exit, registers, masks, counters,
//! fuel and memory, NaNs equal.
#![allow(dead_code)]

pub mod arms;
pub mod by_hand;
pub mod cases;
pub mod checks;
pub mod crowd;
pub mod generate;
pub mod kernels;
pub mod machine;
pub mod masked;
pub mod passing;
pub mod trees;
pub mod values;

use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::clif::Clif;
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{
    Builder, CallSite, EntryKind, EntryState, Exit, ExitReason, FrameState, Kind, RegState, Region, Type, Value,
};
use spmdvm_jit::x86::{Avx2, Avx512};
use spmdvm_vm::interp::native::{Context, Pause, RegisterSlot, Tracer};
use spmdvm_vm::memory::RegionName;
use spmdvm_vm::program::{FuncId, Reg};
use spmdvm_vm::types::{Shape, Ty, Width};
use spmdvm_vm::{Arg, FunctionBuilder, Limits, Machine, Op, PreparedProgram, Program, verify};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Registers of each type and shape.
pub const BANK: usize = 4;
/// Elements of each array.
pub const ELEMENTS: usize = 160;
/// Counters of a region.
pub const COUNTERS: usize = 40;
/// Words that masks may take.
pub const WORDS: usize = 32;

type Job = Box<dyn FnMut(&mut Pause<'_>) + Send>;

#[derive(Default)]
struct Stage(Mutex<Option<Job>>);

impl Tracer for Stage {
    fn at_head(&self, pause: &mut Pause<'_>) -> u32 {
        if let Some(mut job) = self.0.lock().unwrap().take() {
            job(pause);
        }
        0
    }
}

/// A register of the bank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BankRegister {
    pub reg: Reg,
    pub at: u32,
    pub ty: Type,
}

/// What a region starts from.
#[derive(Clone)]
pub struct Input {
    /// For every register of the bank, a word for every lane.
    pub registers: Vec<Vec<u64>>,
    pub words: Vec<u64>,
    pub ticks: i64,
    /// For every array, its elements.
    pub arrays: Vec<Vec<u64>>,
    /// Whether the run must end when it is polled.
    pub interrupted: bool,
}

/// What a region leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub exit: u32,
    pub registers: Vec<Vec<u64>>,
    pub words: Vec<u64>,
    pub counters: Vec<u64>,
    pub ticks: i64,
    pub arrays: Vec<Vec<u64>>,
}

pub struct Host {
    pub width: Width,
    pub function: FuncId,
    pub frame_bytes: u32,
    pub bank: Vec<BankRegister>,
    /// For every type, the pointer to its array.
    pub pointers: Vec<u64>,
    storage: Arc<Mutex<Vec<Vec<u64>>>>,
    machine: Machine,
    stage: Arc<Stage>,
    interrupt: Arc<AtomicBool>,
    /// Of the calls whose arguments are looked at.
    sites: Arc<Mutex<HashMap<u32, CallSite>>>,
}

fn program(width: Width) -> (Program, Vec<Reg>) {
    let mut b = FunctionBuilder::new("host");
    let mut regs = Vec::new();
    for ty in Ty::ALL {
        for shape in [Shape::Uniform, Shape::Varying] {
            regs.extend((0..BANK).map(|_| b.param(shape, ty, "")));
        }
    }
    let (i, one, c) = (b.reg(Shape::Uniform, Ty::I32), b.constant(Ty::I32, 1), b.reg(Shape::Uniform, Ty::Bool));
    let two = b.constant(Ty::I32, 2);
    b.frame_slot(64, 8);
    b.mov(i, one);
    let head = b.label();
    b.bind(head);
    let binary = |op, ty, dst, x, y| spmdvm_vm::program::Inst {
        dst,
        src: [x, y, Reg::NONE],
        ..spmdvm_vm::program::Inst::new(op, ty)
    };
    b.push(binary(Op::Lt, Ty::I32, c, i, two));
    b.push(binary(Op::Add, Ty::I32, i, i, one));
    b.control(Op::BrTrue, Some(c), head);
    b.ret();
    (Program { width, functions: vec![b.finish()], ..Program::default() }, regs)
}

/// What stands for the functions that regions call: it writes to these registers.
struct Calls {
    /// By exit.
    sites: Arc<Mutex<HashMap<u32, CallSite>>>,
    results: Vec<BankRegister>,
    width: Width,
    made: u64,
    /// What they were given.
    given: u64,
}

/// Returns whether calls have their results in a register: the second of each kind.
pub fn is_of_results(place: &BankRegister) -> bool {
    place.reg.index() % BANK == 1
}

/// Makes a call, which gives what depends on how many there were before and on its arguments; some do not come back.
unsafe fn call(context: &mut Context, exit: u32, mask: u64) -> bool {
    // SAFETY: who runs a region has put it there.
    let calls = unsafe { &mut *context.caller.cast::<Calls>() };
    calls.made += 1;
    let lanes = |ty: Type| if ty.is_varying() { calls.width.lanes() } else { 1 };
    if let Some(site) = calls.sites.lock().unwrap().get(&exit) {
        let mut note =
            |word: u64| calls.given = (calls.given ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        note(mask);
        for &(at, ty) in &site.params {
            // SAFETY: the register lies in the stack and has this lane.
            let lane = |lane| unsafe { read(context.base.add((site.at + at) as usize), ty.ty, lane) };
            (0..lanes(ty)).map(lane).for_each(|word| note(if is_nan(ty.ty, word) { 0 } else { word }));
        }
    }
    let mut rng = values::Rng(calls.made ^ calls.given);
    context.ticks -= 1;
    if rng.chance(10) {
        return false;
    }
    for place in &calls.results {
        for lane in 0..if place.ty.is_varying() { calls.width.lanes() } else { 1 } {
            // SAFETY: the register lies in the frame and has this lane.
            unsafe { write(context.base.add(place.at as usize), place.ty.ty, lane, rng.value(place.ty.ty)) };
        }
    }
    true
}

impl Host {
    pub fn new(width: Width) -> Host {
        let (program, regs) = program(width);
        let function = program.function("host").unwrap();
        let stage = Arc::new(Stage::default());
        let prepared = PreparedProgram::traced(&verify(program).unwrap(), stage.clone(), 0);
        let places: Vec<RegisterSlot> = regs.iter().map(|&r| prepared.register(function, r)).collect();
        let frame_bytes = prepared.frame_bytes(function).unwrap() as u32;
        let limits = Limits { stack: 1 << 20, ..Limits::default() };
        let mut machine = Machine::new(prepared, limits).unwrap();
        let interrupt = Arc::new(AtomicBool::new(false));
        machine.set_interrupt(interrupt.clone());
        let mut storage: Vec<Vec<u64>> = Ty::ALL.iter().map(|_| vec![0; ELEMENTS]).collect();
        let map = |(ty, words): (&Ty, &mut Vec<u64>)| {
            let at = words.as_mut_ptr().cast();
            // SAFETY: the memory lives as long as the host, which drops its machine with it.
            unsafe { machine.map_host(at, ELEMENTS * ty.size(), true, RegionName::NONE) }.unwrap()
        };
        let pointers = Ty::ALL.iter().zip(&mut storage).map(map).collect();
        let storage = Arc::new(Mutex::new(storage));
        let place = |(i, p): (usize, &RegisterSlot)| BankRegister {
            reg: Reg(i as u32),
            at: p.at,
            ty: Type { shape: p.shape, ty: p.ty },
        };
        let bank = places.iter().enumerate().map(place).collect();
        Host { width, function, frame_bytes, bank, pointers, storage, machine, stage, interrupt, sites: Arc::default() }
    }

    /// The registers of a type.
    pub fn places(&self, ty: Type) -> Vec<BankRegister> {
        self.bank.iter().copied().filter(|p| p.ty == ty).collect()
    }

    pub fn lanes(&self, ty: Type) -> usize {
        if ty.is_varying() { self.width.lanes() } else { 1 }
    }

    pub fn pointer(&self, ty: Ty) -> u64 {
        self.pointers[ty as usize]
    }

    /// Does something while the interpreter is stopped at the head of the loop.
    pub fn paused<R: Send + 'static>(&mut self, mut job: impl FnMut(&mut Pause<'_>) -> R + Send + 'static) -> R {
        let result = Arc::new(Mutex::new(None));
        let slot = result.clone();
        *self.stage.0.lock().unwrap() = Some(Box::new(move |pause| *slot.lock().unwrap() = Some(job(pause))));
        let args = vec![Arg::Word(0); Ty::ALL.len() * 2 * BANK];
        let _ = self.machine.call(self.function, &args, u64::MAX);
        result.lock().unwrap().take().expect("the loop has paused")
    }

    /// An input with zeros everywhere.
    pub fn zeros(&self) -> Input {
        Input {
            registers: self.bank.iter().map(|p| vec![0; self.lanes(p.ty)]).collect(),
            words: vec![0; WORDS],
            ticks: 1000,
            arrays: Ty::ALL.iter().map(|_| vec![0; ELEMENTS]).collect(),
            interrupted: false,
        }
    }

    /// A random input; with few units of fuel and an interruption, the run may end at any poll.
    pub fn random_input(&self, rng: &mut values::Rng, interrupted: bool) -> Input {
        let mut input = self.zeros();
        for (place, words) in self.bank.iter().zip(&mut input.registers) {
            words.iter_mut().for_each(|w| *w = rng.value(place.ty.ty));
        }
        for (ty, words) in Ty::ALL.iter().zip(&mut input.arrays) {
            words.iter_mut().take(ELEMENTS).for_each(|w| *w = rng.value(*ty));
        }
        // Any lanes, or those from one to another.
        let run = |rng: &mut values::Rng| (u64::MAX >> rng.below(64)) & (u64::MAX << rng.below(64));
        for w in &mut input.words[..5] {
            *w = if rng.chance(30) { run(rng) } else { rng.word() } & self.width.full_mask();
        }
        input.words[4] %= 1 + self.width.lanes() as u64;
        input.ticks = if interrupted { rng.below(12) as i64 } else { 1000 };
        input.interrupted = interrupted;
        input
    }

    /// Runs a region from a state.
    pub fn run(&mut self, code: Arc<dyn Executable>, input: &Input) -> Outcome {
        let (bank, width, input) = (self.bank.clone(), self.width, input.clone());
        let (storage, interrupt, sites) = (self.storage.clone(), self.interrupt.clone(), self.sites.clone());
        self.paused(move |pause| {
            let mut words = [0; WORDS];
            let mut counters = vec![0u64; COUNTERS];
            let mut arrays = storage.lock().unwrap();
            for ((ty, to), from) in Ty::ALL.iter().zip(arrays.iter_mut()).zip(&input.arrays) {
                from.iter().enumerate().for_each(|(i, &w)| put(bytes_of(to), *ty, i, w));
            }
            let mut context = pause.enter(&mut words, counters.as_mut_ptr());
            let (own, before) = (context.ticks, pause.fuel_used());
            context.ticks = input.ticks;
            let frame = context.base;
            for (place, words) in bank.iter().zip(&input.registers) {
                for (lane, &w) in words.iter().enumerate() {
                    // SAFETY: the register lies in the frame and has this lane.
                    unsafe { write(frame.add(place.at as usize), place.ty.ty, lane, w) };
                }
            }
            for (i, &w) in input.words.iter().enumerate() {
                // SAFETY: `words` has as many.
                unsafe { context.words.add(i).write(w) };
            }
            let results = bank.iter().filter(|place| is_of_results(place)).copied().collect();
            let mut calls = Calls { sites: sites.clone(), results, width, made: 0, given: 0 };
            context.caller = std::ptr::from_mut(&mut calls).cast();
            context.call = Some(call);
            interrupt.store(input.interrupted, Ordering::Relaxed);
            // SAFETY: a region for this program's loop; the frame, words and counters suffice for those that tests make.
            let exit = unsafe { code.run(&mut context) };
            interrupt.store(false, Ordering::Relaxed);
            let ticks = context.ticks;
            counters.extend([std::mem::take(&mut context.passed_over), calls.made, calls.given]);
            let lanes = |p: &BankRegister| if p.ty.is_varying() { width.lanes() } else { 1 };
            // SAFETY: as above.
            let lane = |p: &BankRegister, l| unsafe { read(frame.add(p.at as usize), p.ty.ty, l) };
            let registers = bank.iter().map(|p| (0..lanes(p)).map(|l| lane(p, l)).collect()).collect();
            // The fuel was made up, so none is given back.
            context.ticks = 0;
            pause.leave(&context);
            // How large the slices are that follow depends on the time.
            let ticks = ticks - (pause.fuel_used() - before - own);
            let array = |(ty, words): (&Ty, &mut Vec<u64>)| {
                let bytes = bytes_of(words);
                (0..ELEMENTS).map(|i| get(bytes, *ty, i)).collect()
            };
            let arrays = Ty::ALL.iter().zip(arrays.iter_mut()).map(array).collect();
            Outcome { exit: exit.0, registers, words: words.to_vec(), counters, ticks, arrays }
        })
    }

    /// Runs a region on back ends and checks that they agree; gives the common outcome.
    pub fn agree(&mut self, region: &Arc<Region>, backends: &[&dyn Backend], input: &Input) -> Outcome {
        let codes: Vec<Arc<dyn Executable>> =
            backends.iter().map(|b| Arc::from(b.compile(region.clone()).unwrap())).collect();
        self.agree_codes(region, &codes, input)
    }

    /// [`agree`](Self::agree), on every back end.
    pub fn agree_everywhere(&mut self, region: &Arc<Region>, input: &Input) -> Outcome {
        let natives = natives();
        let backends: Vec<&dyn Backend> = std::iter::once(&Ir as _).chain(natives.iter().map(|n| &**n)).collect();
        self.agree(region, &backends, input)
    }

    /// [`agree`](Self::agree), of a region compiled before.
    pub fn agree_codes(&mut self, region: &Region, codes: &[Arc<dyn Executable>], input: &Input) -> Outcome {
        let sites = region.blocks.iter().flat_map(|b| &b.insts).filter_map(|inst| match inst.kind {
            Kind::Call { site, exit } => Some((exit.0, region.call_sites[site as usize].clone())),
            _ => None,
        });
        *self.sites.lock().unwrap() = sites.collect();
        let mut outcomes = codes.iter().map(|code| self.run(code.clone(), input)).collect::<Vec<_>>().into_iter();
        let first = outcomes.next().expect("there is a back end");
        outcomes.enumerate().for_each(|(i, other)| self.same(region, i + 1, &first, &other));
        self.sites.lock().unwrap().clear();
        first
    }

    /// Checks that two outcomes are equal; `name` and `region` are for the message.
    pub fn same(&self, region: &Region, name: usize, a: &Outcome, b: &Outcome) {
        assert_eq!(a.exit, b.exit, "{name}: exit of\n{region}");
        for ((place, x), y) in self.bank.iter().zip(&a.registers).zip(&b.registers) {
            let equal = x.iter().zip(y).all(|(&x, &y)| equal(place.ty.ty, x, y));
            assert!(
                equal,
                "{name}: at x{}, register {} {} of\n{region}\n  {x:x?}\n  {y:x?}",
                a.exit, place.reg.0, place.ty
            );
        }
        for ((ty, x), y) in Ty::ALL.iter().zip(&a.arrays).zip(&b.arrays) {
            for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
                assert!(equal(*ty, x, y), "{name}: {ty} array at {i}: {x:x} {y:x}\n{region}");
            }
        }
        assert_eq!((&a.words, &a.counters, a.ticks), (&b.words, &b.counters, b.ticks), "{name}:\n{region}");
    }
}

/// The back ends that make machine code here.
pub fn natives() -> Vec<Box<dyn Backend>> {
    let clif = Box::new(Clif::new().unwrap()) as Box<dyn Backend>;
    std::iter::once(clif).chain(each_x86()).collect()
}

/// The back end of wide vectors as it is for each kind of processor whose instructions the machine has.
pub fn each_x86() -> impl Iterator<Item = Box<dyn Backend>> {
    let wide = [false, true].into_iter().filter_map(|intels| Some(Avx512::new().ok()?.tuned_as_intels(intels)));
    let avx2 = Avx2::new().ok().map(|x86| Box::new(x86) as Box<dyn Backend>);
    wide.map(|x86| Box::new(x86) as _).chain(avx2)
}

/// The back end of wide vectors, where the machine has them.
pub fn x86() -> Option<Box<dyn Backend>> {
    spmdvm_jit::x86::for_this_machine().ok()
}

/// That for AVX-512 where its code is only looked at: the machine need not have it.
pub fn x86_for_listings() -> Option<Avx512> {
    Avx512::for_listings().ok()
}

fn bytes_of(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: plain memory, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}

fn put(bytes: &mut [u8], ty: Ty, i: usize, word: u64) {
    bytes[i * ty.size()..][..ty.size()].copy_from_slice(&word.to_le_bytes()[..ty.size()]);
}

fn get(bytes: &[u8], ty: Ty, i: usize) -> u64 {
    let mut word = [0; 8];
    word[..ty.size()].copy_from_slice(&bytes[i * ty.size()..][..ty.size()]);
    u64::from_le_bytes(word)
}

unsafe fn write(at: *mut u8, ty: Ty, lane: usize, word: u64) {
    // SAFETY: the caller's promise.
    unsafe { put(std::slice::from_raw_parts_mut(at, (lane + 1) * ty.size()), ty, lane, word) }
}

unsafe fn read(at: *const u8, ty: Ty, lane: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { get(std::slice::from_raw_parts(at, (lane + 1) * ty.size()), ty, lane) }
}

fn is_nan(ty: Ty, word: u64) -> bool {
    match ty {
        Ty::F16 => spmdvm_vm::sem::f16::from_bits(word as u16).is_nan(),
        Ty::F32 => f32::from_bits(word as u32).is_nan(),
        Ty::F64 => f64::from_bits(word).is_nan(),
        _ => false,
    }
}

/// Equal bits, or two NaNs.
pub fn equal(ty: Ty, a: u64, b: u64) -> bool {
    a == b || is_nan(ty, a) && is_nan(ty, b)
}

/// Hands values on to a block: there they are not what registers of the frame hold, which a back end may leave in their places.
pub fn hand_on(b: &mut Builder, values: &[Value]) -> Vec<Value> {
    let block = b.block();
    let params = values.iter().map(|&v| b.param(block, b.region.ty(v))).collect();
    b.jump(block, values);
    b.switch_to(block);
    params
}

/// An exit with one frame.
pub fn exit(
    host: &Host,
    mask: Value,
    regs: Vec<(BankRegister, Value)>,
    entries: Vec<(Value, Value, Option<Value>)>,
) -> Exit {
    let regs = regs.iter().map(|&(p, value)| RegState { reg: p.reg, at: p.at, ty: p.ty, value, into: None }).collect();
    let entry = |&(restore, other, visiting): &_| EntryState { kind: EntryKind::Loop, restore, other, visiting };
    let entries = entries.iter().map(entry).collect();
    Exit {
        frames: vec![FrameState {
            function: host.function,
            pc: 1,
            at: 0,
            regs,
            mask,
            memory: None,
            unopened: None,
            entries,
        }],
        cells: Vec::new(),
        live: Vec::new(),
        reason: ExitReason::Numbered(0),
        fuel: 0,
    }
}
