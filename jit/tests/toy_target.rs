//! A third target: a machine that does not exist, to try what every target gets from `vcode`, and to show what one has to bring.
//!
//! The machine (`harness/machine.rs`) has vectors of 16 bytes; the target holds masks in general registers, adds, and tests masks; all
//! else is done by the runtime. Its code is interpreted, so it runs on every processor. `docs/internals/targets.md` goes through it.

mod harness;

use harness::Host;
use harness::generate::Generator;
use harness::machine::{self, CONTEXT, Do, FRAME, FUEL, POOL, SPARE, SPARE_BASE, STACK};
use harness::values::Rng;
use regalloc2::{Allocation, MachineEnv, PReg, PRegSet, RegClass, VReg};
use spmdvm_jit::backend::{Backend, CompileError, Executable};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{ExitId, Inst, Kind, Region};
use spmdvm_jit::vcode::{
    self, ANSWER_AT, Assembler, Base, Callee, Forms, Frame, Loaded, Lower, Mem, Regular, StubArea, StubValue,
    StubWrite, Target, VCode,
};
use spmdvm_vm::Op;
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::types::{Ty, Width};
use std::mem::offset_of;
use std::sync::{Arc, LazyLock};

/// General registers and vectors that are allocated: the first ones.
const ALLOCATED: [usize; 2] = [10, 7];
/// The vector that exits write with.
const SPARE_VECTOR: u8 = 7;

/// Its instructions.
type Made = Regular<Do>;

struct Toy;

/// Has a region execute an instruction; gives its result, if it is to have one of a class.
fn put(s: &mut Lower<'_, Toy>, what: Do, class: Option<RegClass>, uses: &[VReg], mem: Option<Mem>, n: u64) -> VReg {
    let def = class.map(|class| s.code.reg(class));
    s.push(Made { what, def, uses: uses.to_vec(), mem, n });
    def.unwrap_or(VReg::invalid())
}

const INT: Option<RegClass> = Some(RegClass::Int);
const VECTOR: Option<RegClass> = Some(RegClass::Float);

impl Target for Toy {
    type Inst = Made;
    /// Whether the flag is to be set.
    type Cond = bool;
    type Assembler<'a> = Asm;
    type Local = ();

    const FORMS: Forms = Forms { sets_flags: |_, inst| inst.kind == Kind::AnyLane, ..Forms::PLAIN };
    const VECTOR_BYTES: usize = 16;
    const MASK: RegClass = RegClass::Int;

    fn registers() -> &'static MachineEnv {
        static REGISTERS: LazyLock<MachineEnv> = LazyLock::new(|| {
            let all = |n, class| (0..n).fold(PRegSet::empty(), |set, i| set.with(PReg::new(i, class)));
            let sets = [all(ALLOCATED[0], RegClass::Int), all(ALLOCATED[1], RegClass::Float), PRegSet::empty()];
            let none = [PRegSet::empty(); 3];
            MachineEnv {
                preferred_regs_by_class: sets,
                non_preferred_regs_by_class: none,
                scratch_by_class: [None; 3],
                fixed_stack_slots: vec![],
            }
        });
        &REGISTERS
    }

    fn inverted(cond: bool) -> bool {
        !cond
    }

    fn select(s: &mut Lower<'_, Toy>, inst: &Inst) -> bool {
        let (Kind::Op { op: Op::Add, ty, .. }, Some(v)) = (inst.kind, inst.result) else { return false };
        match (s.region.ty(v).is_varying(), ty) {
            (false, _) if ty.is_int() => {
                let [a, b] = [0, 1].map(|i| s.gpr(inst.args[i]));
                let sum = put(s, Do::Add, INT, &[a, b], None, 0);
                s.set(inst, sum);
            }
            (true, Ty::I32 | Ty::U32 | Ty::F32) if inst.args.iter().all(|&a| s.region.ty(a).is_varying()) => {
                let what = if ty == Ty::F32 { Do::AddFloats } else { Do::AddInts };
                let sums = (0..s.n_pieces(4)).map(|i| {
                    let [a, b] = [0, 1].map(|arg| s.piece(inst.args[arg], 4, i));
                    put(s, what, VECTOR, &[a, b], None, 0)
                });
                let sums = sums.collect();
                s.set_pieces(inst, sums);
            }
            _ => return false,
        }
        true
    }

    fn flags(s: &mut Lower<'_, Toy>, inst: &Inst) -> Option<bool> {
        let mask = s.mask(inst.args[0]);
        put(s, Do::Test, None, &[mask], None, 0);
        Some(true)
    }

    fn test(s: &mut Lower<'_, Toy>, x: VReg) -> bool {
        put(s, Do::TestByte, None, &[x], None, 0);
        true
    }

    fn imm(s: &mut Lower<'_, Toy>, bits: u64) -> VReg {
        put(s, Do::Imm, INT, &[], None, bits)
    }

    fn address_of(s: &mut Lower<'_, Toy>, mem: Mem) -> VReg {
        put(s, Do::Address, INT, &[], Some(mem), 0)
    }

    fn load_scalar(s: &mut Lower<'_, Toy>, ty: Ty, from: Mem) -> VReg {
        let x = put(s, Do::Load, INT, &[], Some(from), ty.size() as u64);
        if ty == Ty::Bool { put(s, Do::Truth, INT, &[x], None, 1) } else { x }
    }

    fn store_scalar(s: &mut Lower<'_, Toy>, ty: Ty, to: Mem, x: VReg) {
        put(s, Do::Store, None, &[x], Some(to), ty.size() as u64);
    }

    fn load_vector(s: &mut Lower<'_, Toy>, _: usize, from: Mem) -> VReg {
        put(s, Do::LoadVector, VECTOR, &[], Some(from), 16)
    }

    fn store_vector(s: &mut Lower<'_, Toy>, _: usize, to: Mem, x: VReg) {
        put(s, Do::StoreVector, None, &[x], Some(to), 16);
    }

    fn broadcast(s: &mut Lower<'_, Toy>, x: VReg, ty: Ty) -> VReg {
        put(s, Do::Splat, VECTOR, &[x], None, ty.size() as u64)
    }

    fn first_of(_: &mut Lower<'_, Toy>, _: VReg, _: Ty) -> VReg {
        unreachable!("nothing is loaded to a vector only")
    }

    fn mask_of_bool(s: &mut Lower<'_, Toy>, x: VReg) -> VReg {
        let all = put(s, Do::Truth, INT, &[x], None, u64::MAX);
        Toy::mask_of_bits(s, all)
    }

    fn mask_of_bits(s: &mut Lower<'_, Toy>, bits: VReg) -> VReg {
        put(s, Do::And, INT, &[bits], None, s.region.width.full_mask())
    }

    fn mask_of_bytes(s: &mut Lower<'_, Toy>, bytes: Vec<VReg>) -> VReg {
        let none = s.imm(0);
        let add = |s: &mut _, so_far, (i, &x): (usize, &VReg)| {
            put(s, Do::BitsOfBytes, INT, &[x, so_far], None, 16 * i as u64)
        };
        let bits = bytes.iter().enumerate().fold(none, |so_far, x| add(s, so_far, x));
        Toy::mask_of_bits(s, bits)
    }

    fn bytes_of_mask(s: &mut Lower<'_, Toy>, mask: VReg) -> Vec<VReg> {
        (0..s.n_pieces(1)).map(|i| put(s, Do::BytesOfBits, VECTOR, &[mask], None, 16 * i as u64)).collect()
    }

    fn assembler<'a>(&'a self, _: &'a VCode<Toy>, frame: Frame, entry: usize) -> Asm {
        Asm { bytes: Vec::new(), frame, entry }
    }

    fn patch(bytes: &mut [u8], jump: usize, to: usize) -> Result<(), CompileError> {
        bytes[jump + 8..jump + 16].copy_from_slice(&(to as u64).to_le_bytes());
        Ok(())
    }

    fn load(&self, code: Loaded) -> Result<Box<dyn Executable>, CompileError> {
        Ok(Box::new(Code(code)))
    }
}

/// What writes its instructions down.
struct Asm {
    bytes: Vec<u8>,
    frame: Frame,
    entry: usize,
}

impl Asm {
    fn emit(&mut self, what: Do, registers: [u8; 3], disp: i32, n: u64) -> usize {
        let at = self.at();
        self.bytes.extend(machine::encode(what, registers, disp, n));
        at
    }

    /// A spilled register's place.
    fn slot(&self, a: Allocation) -> i32 {
        8 * a.as_stack().expect("it is spilled").index() as i32
    }

    /// Makes something in a spare register.
    fn spare(&mut self, what: Do, spare: u8, of: u8, disp: i32, n: u64) -> u8 {
        self.emit(what, [spare, of, 0], disp, n);
        spare
    }

    /// Something that an exit writes, in a register: its own or a spare one.
    fn bring(&mut self, class: RegClass, from: Allocation) -> u8 {
        match (from.as_reg(), class) {
            (Some(r), _) => r.hw_enc() as u8,
            (None, RegClass::Float) => self.spare(Do::LoadVector, SPARE_VECTOR, STACK, self.slot(from), 16),
            (None, _) => self.spare(Do::Load, SPARE, STACK, self.slot(from), 8),
        }
    }
}

type Done = Result<(), CompileError>;

const FUEL_AT: i32 = offset_of!(Context, ticks) as i32;

impl Assembler<Toy> for Asm {
    fn at(&self) -> usize {
        self.entry + self.bytes.len()
    }

    fn prologue(&mut self) -> Done {
        self.emit(Do::Load, [FRAME, CONTEXT, 0], offset_of!(Context, base) as i32, 8);
        self.emit(Do::Load, [FUEL, CONTEXT, 0], FUEL_AT, 8);
        Ok(())
    }

    fn epilogue(&mut self) -> Done {
        self.emit(Do::Return, [0; 3], 0, 0);
        Ok(())
    }

    fn inst(&mut self, inst: &Made, allocs: &[Allocation]) -> Done {
        let mut regs = allocs.iter().map(|a| a.as_reg().expect("operands are in registers").hw_enc() as u8);
        let a = if inst.def.is_some() || !inst.uses.is_empty() { regs.next().unwrap_or(0) } else { 0 };
        let rest: Vec<u8> = regs.collect();
        let (base, disp) = match inst.mem.map(|mem| (mem.base, mem.disp)) {
            None => (rest.first().copied().unwrap_or(0), 0),
            Some((Base::Reg(_), disp)) => (rest[rest.len() - 1], disp),
            Some((Base::Context, disp)) => (CONTEXT, disp),
            Some((Base::Frame, disp)) => (FRAME, disp),
            Some((Base::Scratch, disp)) => (STACK, self.frame.scratch + disp),
            Some((Base::Words, disp)) => (STACK, self.frame.words + disp),
            Some((Base::Pool, disp)) => (POOL, disp),
        };
        self.emit(inst.what, [a, base, rest.get(1).copied().unwrap_or(0)], disp, inst.n);
        Ok(())
    }

    fn zero(&mut self, to: Allocation) -> Done {
        self.emit(Do::ZeroVector, [to.as_reg().expect("a vector").hw_enc() as u8, 0, 0], 0, 0);
        Ok(())
    }

    fn move_value(&mut self, from: Allocation, to: Allocation) -> Done {
        let is_vector = from.as_reg().or(to.as_reg()).is_some_and(|r| r.class() == RegClass::Float);
        let pick = |vector, scalar| if is_vector { (vector, 16) } else { (scalar, 8) };
        let ((what, n), regs, at) = match (from.as_reg(), to.as_reg()) {
            (Some(a), Some(b)) => (pick(Do::MoveVector, Do::Move), [b.hw_enc() as u8, a.hw_enc() as u8, 0], 0),
            (Some(a), None) => (pick(Do::StoreVector, Do::Store), [a.hw_enc() as u8, STACK, 0], self.slot(to)),
            (None, Some(b)) => (pick(Do::LoadVector, Do::Load), [b.hw_enc() as u8, STACK, 0], self.slot(from)),
            (None, None) => unreachable!("moves have a register"),
        };
        self.emit(what, regs, at, n);
        Ok(())
    }

    fn jump(&mut self, cond: Option<bool>) -> Result<usize, CompileError> {
        let what = cond.map_or(Do::Jump, |set| if set { Do::JumpIf } else { Do::JumpUnless });
        Ok(self.emit(what, [0; 3], 0, 0))
    }

    fn jump_if_failed(&mut self) -> Result<usize, CompileError> {
        Ok(self.emit(Do::JumpIfFailed, [0; 3], self.frame.words + ANSWER_AT, 0))
    }

    fn tick(&mut self, units: u32) -> Result<usize, CompileError> {
        Ok(self.emit(Do::Tick, [0; 3], units as i32, 0))
    }

    fn poll(&mut self, units: u32) -> Done {
        self.emit(Do::Untick, [0; 3], units as i32, 0);
        for (i, word) in [0, u64::from(units)].into_iter().enumerate() {
            self.emit(Do::Imm, [SPARE, 0, 0], 0, word);
            self.emit(Do::Store, [SPARE, STACK, 0], self.frame.words + 8 * i as i32, 8);
        }
        self.call(Callee::Poll)
    }

    fn call(&mut self, callee: Callee) -> Done {
        self.emit(Do::Call, [0; 3], self.frame.words, callee as u64);
        Ok(())
    }

    fn write(&mut self, writes: &[StubWrite], allocs: &[Allocation]) -> Done {
        let mut allocs = allocs.iter();
        for &StubWrite { area, at, what } in writes {
            let (base, at) = match area {
                StubArea::State(area) => {
                    let base = area.offset() as i32;
                    (self.spare(Do::Load, SPARE_BASE, CONTEXT, base, 8), at)
                }
                StubArea::Scratch => (STACK, self.frame.scratch + at),
                StubArea::Words => (STACK, self.frame.words + at),
            };
            let class = what.registers().next().map(|r| r.class());
            let x = class.map_or(SPARE, |class| self.bring(class, *allocs.next().expect("an operand")));
            // In which register, how many bytes at a time, and so many vectors or a scalar.
            let (x, bytes, n) = match what {
                StubValue::Imm(bits, size) => (self.spare(Do::Imm, SPARE, 0, 0, bits), size, 0),
                StubValue::Gpr(_, size) => (x, size, 0),
                StubValue::MaskBits(_) => (x, 8, 0),
                StubValue::MaskWith(..) | StubValue::MaskFlip(_) => unreachable!("exits make no masks"),
                StubValue::Vector(_, bytes) => (x, bytes, 1),
                StubValue::SplatGpr(_, size, bytes, n) => {
                    (self.spare(Do::Splat, SPARE_VECTOR, x, 0, size as u64), bytes, n)
                }
                StubValue::SplatPool(place, size, bytes, n) => {
                    self.spare(Do::Load, SPARE, POOL, place, size as u64);
                    (self.spare(Do::Splat, SPARE_VECTOR, SPARE, 0, size as u64), bytes, n)
                }
                StubValue::MaskBytes(_, bytes, _) => {
                    for first in (0..bytes).step_by(16) {
                        self.spare(Do::BytesOfBits, SPARE_VECTOR, x, 0, first as u64);
                        let n = (bytes - first).min(16) as u64;
                        self.emit(Do::StoreVector, [SPARE_VECTOR, base, 0], at + first as i32, n);
                    }
                    continue;
                }
                StubValue::Scratch(place, bytes) if bytes < 16 => {
                    (self.spare(Do::Load, SPARE, STACK, self.frame.scratch + place, bytes as u64), bytes, 0)
                }
                StubValue::Scratch(place, bytes) => (
                    self.spare(Do::LoadVector, SPARE_VECTOR, STACK, self.frame.scratch + place, bytes as u64),
                    bytes,
                    1,
                ),
                StubValue::SplatScratch(place, size, bytes, n) => {
                    self.spare(Do::Load, SPARE, STACK, self.frame.scratch + place, size as u64);
                    (self.spare(Do::Splat, SPARE_VECTOR, SPARE, 0, size as u64), bytes, n)
                }
                StubValue::ScratchAddress => (self.spare(Do::Address, SPARE, STACK, self.frame.scratch, 0), 8, 0),
                StubValue::SplatVector(..) | StubValue::Lane { .. } => {
                    unreachable!("uniform values are in general registers")
                }
            };
            let store = if n == 0 { Do::Store } else { Do::StoreVector };
            for i in 0..n.max(1) {
                self.emit(store, [x, base, 0], at + (bytes * i) as i32, bytes as u64);
            }
        }
        Ok(())
    }

    fn exit(&mut self, exit: ExitId) -> Done {
        self.emit(Do::SetExit, [0; 3], 0, exit.0 as u64);
        Ok(())
    }

    fn finish(self) -> Result<Vec<u8>, CompileError> {
        Ok(self.bytes)
    }
}

/// A region of the machine.
struct Code(Loaded);

impl Executable for Code {
    unsafe fn run(&self, context: &mut Context) -> ExitId {
        let emitted = &self.0.emitted;
        // SAFETY: the caller's promise.
        ExitId(unsafe { machine::run(&emitted.bytes, emitted.entry, emitted.frame.bytes as usize, context) })
    }
}

impl Backend for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
        vcode::compile(self, &region)
    }
}

#[test]
fn random_regions() {
    for lanes in [1, 4, 8, 16, 64] {
        let mut host = Host::new(Width::new(lanes).unwrap());
        for seed in 40_000_000_000..40_000_000_012 {
            let region = Arc::new(Generator::new(&host, seed + u64::from(lanes) * 1000).run());
            for run in 0..3 {
                let input = host.random_input(&mut Rng(seed + run), run == 2);
                host.agree(&region, &[&Ir, &Toy], &input);
            }
        }
    }
}
