//! The assembler: instructions whose registers are known, by iced-x86.
//!
//! A frame has, above the words for the runtime, room for the counters and the stack pointer of the caller. Exit stubs
//! write with registers that are never allocated.

use super::X86;
use super::atomics::is_locked;
use super::build::{Build, Moves, at, sized};
use super::env::{self, CONTEXT, FRAME, OWN_BYTES, SPARE, SPARE_BASE, SPARE_MASK, TICKS};
use super::inst::{Arg, Base, Cond, Mem, Plain, Size};
use super::level::Level;
use super::stubs::{ARGUMENTS, Stubs};
use super::values::broadcast;
use crate::backend::CompileError;
use crate::ir::ExitId;
use crate::lowering::{Area, Logic};
use crate::vcode::{ANSWER_AT, Assembler, Callee, Frame, StubArea, StubValue, StubWrite};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, RegClass, SpillSlot};
use spmdvm_vm::interp::native::Context;
use std::marker::PhantomData;
use std::mem::offset_of;

/// Bytes of the stack's guard page.
const PAGE: i32 = 4096;

/// Registers that belong to the caller, in the order in which they are pushed.
const SAVED: [Register; 6] = [Register::RBP, Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

/// An instruction, in fewer bytes if its constant fits into one. Comparisons with 0 test a register for itself.
fn shortened(mut instruction: Instruction) -> Instruction {
    let (short, zero) = match instruction.code() {
        Code::Add_rm64_imm32 => (Code::Add_rm64_imm8, None),
        Code::Add_rm32_imm32 => (Code::Add_rm32_imm8, None),
        Code::Sub_rm64_imm32 => (Code::Sub_rm64_imm8, None),
        Code::Sub_rm32_imm32 => (Code::Sub_rm32_imm8, None),
        Code::And_rm64_imm32 => (Code::And_rm64_imm8, None),
        Code::And_rm32_imm32 => (Code::And_rm32_imm8, None),
        Code::Or_rm64_imm32 => (Code::Or_rm64_imm8, None),
        Code::Or_rm32_imm32 => (Code::Or_rm32_imm8, None),
        Code::Xor_rm64_imm32 => (Code::Xor_rm64_imm8, None),
        Code::Xor_rm32_imm32 => (Code::Xor_rm32_imm8, None),
        Code::Cmp_rm64_imm32 => (Code::Cmp_rm64_imm8, Some(Code::Test_rm64_r64)),
        Code::Cmp_rm32_imm32 => (Code::Cmp_rm32_imm8, Some(Code::Test_rm32_r32)),
        Code::Imul_r64_rm64_imm32 => (Code::Imul_r64_rm64_imm8, None),
        Code::Imul_r32_rm32_imm32 => (Code::Imul_r32_rm32_imm8, None),
        _ => return instruction,
    };
    let last = instruction.op_count() - 1;
    let constant = instruction.immediate(last) as i32;
    match zero {
        Some(test) if constant == 0 && instruction.op0_kind() == OpKind::Register => {
            instruction.set_code(test);
            instruction.set_op1_kind(OpKind::Register);
            instruction.set_op1_register(instruction.op0_register());
        }
        _ if i8::try_from(constant).is_ok() => {
            let is_long = instruction.op_kind(last) == OpKind::Immediate32to64;
            instruction.set_code(short);
            instruction.set_op_kind(last, if is_long { OpKind::Immediate8to64 } else { OpKind::Immediate8to32 });
            instruction.set_immediate8(constant as u8);
        }
        _ => {}
    }
    instruction
}

/// Nothing, or why not.
type Done = Result<(), CompileError>;

/// Code that is being written.
pub struct Asm<'a, L> {
    /// The counters that are in a register, by lane.
    pub(super) counters: &'a [u32],
    stubs: &'a Stubs,
    encoder: Encoder,
    /// Bytes so far, counted from the first constant.
    pub(super) at: usize,
    entry: usize,
    frame: Frame,
    /// Calls of what adds the counters to memory: where their distances are.
    pub(super) adder_calls: Vec<usize>,
    level: PhantomData<L>,
}

impl<'a, L: Level> Asm<'a, L> {
    pub(super) fn new(counters: &'a [u32], stubs: &'a Stubs, frame: Frame, entry: usize) -> Asm<'a, L> {
        let (encoder, adder_calls) = (Encoder::new(64), Vec::new());
        Asm { counters, stubs, encoder, at: entry, entry, frame, adder_calls, level: PhantomData }
    }

    pub(super) fn put(&mut self, build: Build) -> Done {
        let mut instruction = shortened(L::encoded(build.0)?);
        // An exchange with memory is locked without being told.
        instruction.set_has_lock_prefix(is_locked(instruction.code()));
        let written = self.encoder.encode(&instruction, self.at as u64);
        self.at += written.map_err(|e| CompileError::Encoding(format!("{:?}: {e}", instruction.code())))?;
        Ok(())
    }

    /// Before a store under a mask in a vector, of which processors with AVX2 alone make dozens of steps: passes over it if the mask is
    /// empty, as those of rare conditions mostly are.
    fn pass_over_empty_store(&mut self, store: &Build) -> Done {
        let test = match store.0.code() {
            Code::VEX_Vmaskmovps_m128_xmm_xmm => Code::VEX_Vtestps_xmm_xmmm128,
            Code::VEX_Vmaskmovps_m256_ymm_ymm => Code::VEX_Vtestps_ymm_ymmm256,
            Code::VEX_Vmaskmovpd_m128_xmm_xmm => Code::VEX_Vtestpd_xmm_xmmm128,
            Code::VEX_Vmaskmovpd_m256_ymm_ymm => Code::VEX_Vtestpd_ymm_ymmm256,
            _ => return Ok(()),
        };
        let mask = store.0.op1_register();
        self.put(Build::new(test).reg(mask).reg(mask))?;
        let length = Encoder::new(64).encode(&store.0, 0);
        let length = length.map_err(|e| CompileError::Encoding(format!("{:?}: {e}", store.0.code())))?;
        [0x70 | Cond::EQUAL.0, length as u8].into_iter().for_each(|byte| self.encoder.write_u8(byte));
        self.at += 2;
        Ok(())
    }

    /// Bytes of an instruction, then 32 bits for a distance; gives where these are.
    pub(super) fn open(&mut self, bytes: &[u8]) -> usize {
        bytes.iter().for_each(|&b| self.encoder.write_u8(b));
        (0..4).for_each(|_| self.encoder.write_u8(0));
        self.at += bytes.len() + 4;
        self.at - 4
    }

    fn jump_if(&mut self, cond: Cond) -> usize {
        self.open(&[0x0f, 0x80 | cond.0])
    }

    /// Where the counters lie in the frame while the runtime is called.
    pub(super) fn counts_at(&self) -> MemoryOperand {
        at(Register::RSP, self.frame.bytes - OWN_BYTES)
    }

    fn word_at(&self, word: i32) -> MemoryOperand {
        at(Register::RSP, self.frame.words + word)
    }

    pub(super) fn scratch_at(&self, place: i32) -> MemoryOperand {
        at(Register::RSP, self.frame.scratch + place)
    }

    fn spill_at(slot: SpillSlot) -> MemoryOperand {
        at(Register::RSP, 8 * slot.index() as i32)
    }

    fn ticks_at() -> MemoryOperand {
        at(CONTEXT, offset_of!(Context, ticks) as i32)
    }

    fn load_ticks(&mut self) -> Done {
        self.put(Build::new(Code::Mov_r64_rm64).reg(TICKS).mem(Self::ticks_at()))
    }

    fn store_ticks(&mut self) -> Done {
        self.put(Build::new(Code::Mov_rm64_r64).mem(Self::ticks_at()).reg(TICKS))
    }

    /// Calls a stub; `SPARE_BASE` leads it to the words.
    fn call_stub(&mut self, stub: u64) -> Done {
        let words = self.word_at(0);
        self.put(Build::new(Code::Lea_r64_m).reg(SPARE_BASE).mem(words))?;
        self.put(Build::new(Code::Mov_r64_imm64).reg(SPARE).imm(OpKind::Immediate64, stub as i64))?;
        self.put(Build::new(Code::Call_rm64).reg(SPARE))
    }

    /// Makes a vector 0.
    pub(super) fn clear(&mut self, register: Register) -> Done {
        let x = sized(register, Size::X);
        self.put(Build::new(Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32).reg(x).reg(x).reg(x))
    }

    fn slot(&self, a: Allocation) -> Result<MemoryOperand, CompileError> {
        a.as_stack().map(|slot| Self::spill_at(slot)).ok_or_else(|| nowhere("an operand is nowhere"))
    }

    fn memory(
        &self,
        mem: Mem,
        index: Size,
        broadcast: bool,
        next: &mut impl FnMut(Size) -> Result<Register, CompileError>,
    ) -> Result<MemoryOperand, CompileError> {
        let (base, disp, size) = match mem.base {
            Base::Reg(_) => (next(Size::G64)?, mem.disp, 1),
            Base::Context => (CONTEXT, mem.disp, 1),
            Base::Frame => (FRAME, mem.disp, 1),
            Base::Scratch => (Register::RSP, self.frame.scratch + mem.disp, 1),
            Base::Words => (Register::RSP, self.frame.words + mem.disp, 1),
            // The constants begin where the region does.
            Base::Pool => (Register::RIP, mem.disp, 8),
        };
        let index = match mem.index {
            Some(_) => next(index)?,
            None => Register::None,
        };
        Ok(MemoryOperand::new(base, index, mem.scale as u32, disp as i64, size, broadcast, Register::None))
    }
}

/// The allocator has not done as it was told.
fn nowhere(what: &str) -> CompileError {
    CompileError::RegisterAllocation(what.into())
}

impl<L: Level> Assembler<X86<L>> for Asm<'_, L> {
    fn at(&self) -> usize {
        self.at
    }

    /// To a multiple of 32 bytes.
    fn align(&mut self) {
        // The longest instructions that do nothing.
        const NOTHING: [&[u8]; 8] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0],
            &[0x0f, 0x1f, 0x44, 0, 0],
            &[0x66, 0x0f, 0x1f, 0x44, 0, 0],
            &[0x0f, 0x1f, 0x80, 0, 0, 0, 0],
            &[0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
        ];
        while !self.at.is_multiple_of(32) {
            let nothing = NOTHING[(32 - self.at % 32).min(NOTHING.len()) - 1];
            nothing.iter().for_each(|&byte| self.encoder.write_u8(byte));
            self.at += nothing.len();
        }
    }

    fn prologue(&mut self) -> Done {
        for &r in &SAVED {
            self.put(Build::new(Code::Push_r64).reg(r))?;
        }
        let (sp, whole) = (Register::RSP, self.frame.bytes);
        self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE).reg(sp))?;
        // Page by page, so that a stack that ends here meets its guard page, and never what lies beyond.
        for page in 1..=whole / PAGE {
            let touched = at(SPARE, -page * PAGE);
            self.put(Build::new(Code::Or_rm32_imm8).mem(touched).imm(OpKind::Immediate8to32, 0))?;
        }
        self.put(Build::new(Code::Sub_rm64_imm32).reg(sp).imm(OpKind::Immediate32to64, whole as i64))?;
        self.put(Build::new(Code::And_rm64_imm8).reg(sp).imm(OpKind::Immediate8to64, -64))?;
        self.put(Build::new(Code::Mov_rm64_r64).mem(at(sp, whole - 8)).reg(SPARE))?;
        self.put(Build::new(Code::Mov_r64_rm64).reg(CONTEXT).reg(Register::RDI))?;
        let base = at(CONTEXT, offset_of!(Context, base) as i32);
        self.put(Build::new(Code::Mov_r64_rm64).reg(FRAME).mem(base))?;
        self.clear_counts()?;
        self.load_ticks()
    }

    fn epilogue(&mut self) -> Done {
        self.add_counts();
        self.put(Build::new(Code::Mov_r64_rm64).reg(Register::RSP).mem(at(Register::RSP, self.frame.bytes - 8)))?;
        for &r in SAVED.iter().rev() {
            self.put(Build::new(Code::Pop_r64).reg(r))?;
        }
        self.put(Build::new(Code::VEX_Vzeroupper))?;
        self.put(Build::new(Code::Retnq))
    }

    fn inst(&mut self, plain: &Plain, allocs: &[Allocation]) -> Done {
        let mut allocs = allocs.iter().copied();
        let mut next = || allocs.next().ok_or_else(|| nowhere("an instruction has too few operands"));
        // A register of another class would be encoded as if it were one of the right class.
        let register = |a: Allocation, form: Size| {
            let reg = a.as_reg().filter(|r| r.class() == form.class()).map(env::register);
            let whole = reg.ok_or_else(|| nowhere(&format!("{:?}: an operand is in no register", plain.code)))?;
            Ok(sized(whole, form))
        };
        let mut build = Build::new(plain.code);
        for arg in plain.args.iter().flatten() {
            build = match *arg {
                Arg::Def(_, form) | Arg::Use(_, form) => build.reg(register(next()?, form)?),
                Arg::Any(_, form) => match next()? {
                    spilled if spilled.is_stack() => build.mem(self.slot(spilled)?),
                    a => build.reg(register(a, form)?),
                },
                Arg::Tied { form, .. } => {
                    next()?;
                    build.reg(register(next()?, form)?)
                }
                Arg::Fixed(register) => build.reg(register),
                Arg::Both { .. } => {
                    next()?;
                    next()?;
                    build
                }
                Arg::Mem(mem) => build.mem(self.memory(mem, Size::G64, false, &mut |form| register(next()?, form))?),
                Arg::Lanes(mem, index) => {
                    build.mem(self.memory(mem, index, false, &mut |form| register(next()?, form))?)
                }
                Arg::Broadcast(mem) => {
                    build.mem(self.memory(mem, Size::G64, true, &mut |form| register(next()?, form))?)
                }
                Arg::Imm(kind, value) => build.imm(kind, value),
            };
        }
        if plain.mask.is_some() {
            build = build.mask(register(next()?, Size::K)?, plain.zeroing);
        }
        self.pass_over_empty_store(&build)?;
        self.put(build)
    }

    fn zero(&mut self, to: Allocation) -> Done {
        let r = to.as_reg().map(env::register).ok_or_else(|| nowhere("no register for zeros"))?;
        self.clear(r)
    }

    fn move_half(&mut self, from: Allocation, to: Allocation) -> Done {
        let to = to.as_reg().map(env::register).ok_or_else(|| nowhere("no register for half a vector"))?;
        let to = sized(to, Size::Y);
        match from.as_reg() {
            Some(from) => {
                let from = sized(env::register(from), Size::Y);
                self.put(Build::new(Code::EVEX_Vmovaps_ymm_k1z_ymmm256).reg(to).reg(from))
            }
            None => {
                let slot = self.slot(from)?;
                self.put(Build::new(Code::EVEX_Vmovups_ymm_k1z_ymmm256).reg(to).mem(slot))
            }
        }
    }

    fn move_value(&mut self, from: Allocation, to: Allocation) -> Done {
        match (from.as_reg(), to.as_reg()) {
            (Some(a), Some(b)) => {
                self.put(Build::new(Moves::of(a.class()).between).reg(env::register(b)).reg(env::register(a)))
            }
            (Some(a), None) => {
                let slot = self.slot(to)?;
                self.put(Build::new(Moves::of(a.class()).store).mem(slot).reg(env::register(a)))
            }
            (None, Some(b)) => {
                let slot = self.slot(from)?;
                self.put(Build::new(Moves::of(b.class()).load).reg(env::register(b)).mem(slot))
            }
            (None, None) => Err(nowhere("a move from memory to memory")),
        }
    }

    fn jump(&mut self, cond: Option<Cond>) -> Result<usize, CompileError> {
        Ok(match cond {
            Some(cond) => self.jump_if(cond),
            None => self.open(&[0xe9]),
        })
    }

    fn jump_if_failed(&mut self) -> Result<usize, CompileError> {
        let answer = self.word_at(ANSWER_AT);
        self.put(Build::new(Code::Cmp_rm32_imm8).mem(answer).imm(OpKind::Immediate8to32, 0))?;
        Ok(self.jump_if(Cond::EQUAL))
    }

    fn tick(&mut self, units: u32) -> Result<usize, CompileError> {
        self.put(Build::new(Code::Sub_rm64_imm8).reg(TICKS).imm(OpKind::Immediate8to64, units.into()))?;
        Ok(self.jump_if(Cond::LESS))
    }

    fn poll(&mut self, units: u32) -> Done {
        // As it was: the runtime counts the units itself.
        self.put(Build::new(Code::Add_rm64_imm8).reg(TICKS).imm(OpKind::Immediate8to64, units.into()))?;
        self.store_ticks()?;
        self.add_counts();
        for (i, what) in [0, i64::from(units)].into_iter().enumerate() {
            let word = self.word_at(8 * i as i32);
            self.put(Build::new(Code::Mov_rm64_imm32).mem(word).imm(OpKind::Immediate32to64, what))?;
        }
        self.call_stub(self.stubs.of(Callee::Poll))?;
        self.load_ticks()
    }

    fn call(&mut self, callee: Callee) -> Done {
        self.store_ticks()?;
        self.call_stub(self.stubs.of(callee))?;
        self.load_ticks()
    }

    fn call_losing(&mut self, callee: Callee) -> Done {
        self.store_ticks()?;
        self.store_counts()?;
        self.put(Build::new(Code::Mov_r64_rm64).reg(Register::RDI).reg(CONTEXT))?;
        for (i, r) in ARGUMENTS.into_iter().enumerate() {
            let word = self.word_at(8 * i as i32);
            self.put(Build::new(Code::Mov_r64_rm64).reg(r).mem(word))?;
        }
        self.put(Build::new(Code::VEX_Vzeroupper))?;
        self.put(Build::new(Code::Mov_r64_imm64).reg(Register::RAX).imm(OpKind::Immediate64, callee.address()))?;
        self.put(Build::new(Code::Call_rm64).reg(Register::RAX))?;
        let answer = self.word_at(ANSWER_AT);
        self.put(Build::new(Code::Mov_rm64_r64).mem(answer).reg(Register::RAX))?;
        self.load_counts()?;
        self.load_ticks()
    }

    fn write(&mut self, writes: &[StubWrite], allocs: &[Allocation]) -> Done {
        let mut allocs = allocs.iter().copied();
        let mut at_hand = Area::Frame;
        for write in writes {
            let registers: Vec<_> = write.what.registers().map(|r| (r.class(), allocs.next())).collect();
            let to = match write.area {
                StubArea::Scratch => self.scratch_at(write.at),
                StubArea::Words => self.word_at(write.at),
                StubArea::State(Area::Frame) => at(FRAME, write.at),
                StubArea::State(area) => {
                    if area != at_hand {
                        let base = at(CONTEXT, area.offset() as i32);
                        self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE_BASE).mem(base))?;
                        at_hand = area;
                    }
                    at(SPARE_BASE, write.at)
                }
            };
            self.write_value(write.what, &registers, to)?;
        }
        Ok(())
    }

    fn count(&mut self, place: i32) -> Done {
        self.add_to_counts(place)
    }

    fn exit(&mut self, exit: ExitId) -> Done {
        self.store_ticks()?;
        self.put(Build::new(Code::Mov_r32_imm32).reg(Register::EAX).imm(OpKind::Immediate32, exit.0 as i64))
    }

    fn finish(mut self) -> Result<Vec<u8>, CompileError> {
        let adder = self.at - self.entry;
        self.counts_adder()?;
        let mut bytes = self.encoder.take_buffer();
        debug_assert_eq!(self.entry + bytes.len(), self.at);
        for call in self.adder_calls {
            let call = call - self.entry;
            let distance = adder as i32 - (call as i32 + 4);
            bytes[call..call + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(bytes)
    }
}

/// The class of an operand of an exit, and where it is.
type ExitOperand = (RegClass, Option<Allocation>);

/// The instruction that stores the low bytes of a general register, so many, and the form of its operand.
fn general_store(size: usize) -> (Code, Size) {
    match size {
        1 => (Code::Mov_rm8_r8, Size::G8),
        2 => (Code::Mov_rm16_r16, Size::G16),
        4 => (Code::Mov_rm32_r32, Size::G32),
        _ => (Code::Mov_rm64_r64, Size::G64),
    }
}

impl<L: Level> Asm<'_, L> {
    fn write_value(&mut self, what: StubValue, from: &[ExitOperand], to: MemoryOperand) -> Done {
        match what {
            StubValue::Lane { size, of, .. } => self.write_lane(from, size, of, to),
            StubValue::Imm(bits, 8) if i32::try_from(bits as i64).is_err() => {
                self.put(Build::new(Code::Mov_r64_imm64).reg(SPARE).imm(OpKind::Immediate64, bits as i64))?;
                self.put(Build::new(Code::Mov_rm64_r64).mem(to).reg(SPARE))
            }
            StubValue::Imm(bits, size) => {
                let (code, kind) = match size {
                    1 => (Code::Mov_rm8_imm8, OpKind::Immediate8),
                    2 => (Code::Mov_rm16_imm16, OpKind::Immediate16),
                    4 => (Code::Mov_rm32_imm32, OpKind::Immediate32),
                    _ => (Code::Mov_rm64_imm32, OpKind::Immediate32to64),
                };
                self.put(Build::new(code).mem(to).imm(kind, bits as i64))
            }
            StubValue::Gpr(_, size) => {
                let r = self.bring(from.first())?;
                let (code, form) = general_store(size);
                self.put(Build::new(code).mem(to).reg(sized(r, form)))
            }
            StubValue::Vector(_, bytes) => {
                let r = self.bring(from.first())?;
                self.store_vector(r, bytes, to)
            }
            StubValue::SplatGpr(_, size, bytes, n) => {
                let r = self.bring(from.first())?;
                if !L::HAS_MASKS {
                    let x = sized(L::SPARE_VECTOR, Size::X);
                    self.put(Build::new(Code::EVEX_Vmovq_xmm_rm64).reg(x).reg(r))?;
                    self.put(Build::new(broadcast(size, Size::Z)).reg(L::SPARE_VECTOR).reg(x))?;
                    return self.store_copies(bytes, n, to);
                }
                let (code, form) = match size {
                    1 => (Code::EVEX_Vpbroadcastb_zmm_k1z_r32, Size::G32),
                    2 => (Code::EVEX_Vpbroadcastw_zmm_k1z_r32, Size::G32),
                    4 => (Code::EVEX_Vpbroadcastd_zmm_k1z_r32, Size::G32),
                    _ => (Code::EVEX_Vpbroadcastq_zmm_k1z_r64, Size::G64),
                };
                self.put(Build::new(code).reg(L::SPARE_VECTOR).reg(sized(r, form)))?;
                self.store_copies(bytes, n, to)
            }
            StubValue::SplatVector(_, size, bytes, n) => {
                let r = self.bring(from.first())?;
                self.put(Build::new(broadcast(size, Size::Z)).reg(L::SPARE_VECTOR).reg(sized(r, Size::X)))?;
                self.store_copies(bytes, n, to)
            }
            StubValue::SplatPool(place, size, bytes, n) => {
                let pool = MemoryOperand::new(Register::RIP, Register::None, 1, place as i64, 8, false, Register::None);
                self.put(Build::new(broadcast(size, Size::Z)).reg(L::SPARE_VECTOR).mem(pool))?;
                self.store_copies(bytes, n, to)
            }
            StubValue::Scratch(place, size @ (1 | 2 | 4 | 8)) => {
                self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE).mem(self.scratch_at(place)))?;
                let (code, form) = general_store(size);
                self.put(Build::new(code).mem(to).reg(sized(SPARE, form)))
            }
            StubValue::Scratch(place, bytes) => {
                let load = Build::new(Code::EVEX_Vmovups_zmm_k1z_zmmm512);
                self.put(load.reg(L::SPARE_VECTOR).mem(self.scratch_at(place)))?;
                self.store_vector(L::SPARE_VECTOR, bytes, to)
            }
            StubValue::SplatScratch(place, size, bytes, n) => {
                let splat = Build::new(broadcast(size, Size::Z));
                self.put(splat.reg(L::SPARE_VECTOR).mem(self.scratch_at(place)))?;
                self.store_copies(bytes, n, to)
            }
            StubValue::ScratchAddress => {
                self.put(Build::new(Code::Lea_r64_m).reg(SPARE).mem(self.scratch_at(0)))?;
                self.put(Build::new(Code::Mov_rm64_r64).mem(to).reg(SPARE))
            }
            StubValue::MaskBits(_) if !L::HAS_MASKS => {
                let r = self.bring(from.first())?;
                self.put(Build::new(Code::Mov_rm64_r64).mem(to).reg(r))
            }
            StubValue::MaskBits(_) => {
                let r = self.bring(from.first())?;
                self.put(Build::new(Code::VEX_Kmovq_m64_kr).mem(to).reg(r))
            }
            StubValue::MaskWith(logic, _) => {
                let r = self.bring(from.first())?;
                let code = if L::HAS_MASKS { Code::VEX_Kmovq_r64_kr } else { Code::Mov_r64_rm64 };
                if r != SPARE {
                    self.put(Build::new(code).reg(SPARE).reg(r))?;
                }
                let change = match logic {
                    Logic::Or => Code::Or_rm64_r64,
                    Logic::Xor => Code::Xor_rm64_r64,
                    _ => Code::And_rm64_r64,
                };
                if logic == Logic::OnlyFirst {
                    self.put(Build::new(Code::Not_rm64).reg(SPARE))?;
                }
                self.put(Build::new(change).mem(to).reg(SPARE))
            }
            StubValue::MaskFlip(lanes) => {
                self.put(Build::new(Code::Mov_r64_imm64).reg(SPARE).imm(OpKind::Immediate64, lanes as i64))?;
                self.put(Build::new(Code::Xor_rm64_r64).mem(to).reg(SPARE))
            }
            StubValue::MaskBytes(_, bytes, ones) if !L::HAS_MASKS => {
                self.write_mask_bytes(from.first(), bytes, ones, to)
            }
            // Lanes of a byte fill one vector at most.
            StubValue::MaskBytes(_, bytes, ones) => {
                let r = self.bring(from.first())?;
                let pool = MemoryOperand::new(Register::RIP, Register::None, 1, ones as i64, 8, false, Register::None);
                let load = Build::new(Code::EVEX_Vmovdqu8_zmm_k1z_zmmm512).reg(L::SPARE_VECTOR).mem(pool);
                self.put(load.mask(r, true))?;
                self.store_vector(L::SPARE_VECTOR, bytes, to)
            }
        }
    }

    /// Writes the bits of a word as bytes 0 or 1, eight at a time; the pool has ones.
    fn write_mask_bytes(&mut self, bits: Option<&ExitOperand>, bytes: usize, ones: i32, to: MemoryOperand) -> Done {
        let ones = MemoryOperand::new(Register::RIP, Register::None, 1, ones as i64, 8, false, Register::None);
        for first in (0..bytes).step_by(8) {
            let bits = self.bring(bits)?;
            let by = Build::new(Code::VEX_Rorx_r64_rm64_imm8).reg(SPARE).reg(bits);
            self.put(by.imm(OpKind::Immediate8, first as i64))?;
            self.put(Build::new(Code::VEX_Pdep_r64_r64_rm64).reg(SPARE).reg(SPARE).mem(ones))?;
            let to = MemoryOperand { displacement: to.displacement + first as i64, ..to };
            let (store, form) = general_store((bytes - first).min(8));
            self.put(Build::new(store).mem(to).reg(sized(SPARE, form)))?;
        }
        Ok(())
    }

    fn store_copies(&mut self, bytes: usize, n: usize, to: MemoryOperand) -> Done {
        for i in 0..n {
            let to = MemoryOperand { displacement: to.displacement + (i * bytes) as i64, ..to };
            self.store_vector(L::SPARE_VECTOR, bytes, to)?;
        }
        Ok(())
    }

    fn store_vector(&mut self, from: Register, bytes: usize, to: MemoryOperand) -> Done {
        let (code, form) = match bytes {
            // A cell of one or two bytes has others beside it.
            1 => (Code::EVEX_Vpextrb_r32m8_xmm_imm8, Size::X),
            2 => (Code::EVEX_Vpextrw_r32m16_xmm_imm8, Size::X),
            4 => (Code::EVEX_Vmovss_m32_k1_xmm, Size::X),
            8 => (Code::EVEX_Vmovsd_m64_k1_xmm, Size::X),
            16 => (Code::EVEX_Vmovups_xmmm128_k1z_xmm, Size::X),
            32 => (Code::EVEX_Vmovups_ymmm256_k1z_ymm, Size::Y),
            _ => (Code::EVEX_Vmovups_zmmm512_k1z_zmm, Size::Z),
        };
        let store = Build::new(code).mem(to).reg(sized(from, form));
        self.put(if bytes < 4 { store.imm(OpKind::Immediate8, 0) } else { store })
    }

    /// Writes an element in the lane whose number is the second operand.
    fn write_lane(&mut self, from: &[ExitOperand], size: usize, of: usize, to: MemoryOperand) -> Done {
        let lane = self.bring(from.get(1))?;
        let narrow = sized(SPARE, Size::G32);
        if lane != SPARE {
            self.put(Build::new(Code::Mov_r32_rm32).reg(narrow).reg(sized(lane, Size::G32)))?;
        }
        let most = (of - 1) as i64;
        self.put(Build::new(Code::And_rm32_imm8).reg(narrow).imm(OpKind::Immediate8to32, most))?;
        let to = MemoryOperand { index: SPARE, scale: size as u32, ..to };
        match from.first() {
            Some(&(RegClass::Int, Some(place))) => match place.as_reg() {
                Some(r) => {
                    let (code, form) = general_store(size);
                    self.put(Build::new(code).mem(to).reg(sized(env::register(r), form)))
                }
                // The spare general registers are taken.
                None => {
                    let (x, slot) = (sized(L::SPARE_VECTOR, Size::X), self.slot(place)?);
                    self.put(Build::new(Code::EVEX_Vmovq_xmm_rm64).reg(x).mem(slot))?;
                    self.store_vector(L::SPARE_VECTOR, size, to)
                }
            },
            x => {
                let x = self.bring(x)?;
                self.store_vector(x, size, to)
            }
        }
    }

    /// An operand in a register: its own, or a spare one.
    fn bring(&mut self, from: Option<&ExitOperand>) -> Result<Register, CompileError> {
        let (class, from) = from
            .and_then(|&(class, place)| Some((class, place?)))
            .ok_or_else(|| nowhere("an exit has too few operands"))?;
        if let Some(reg) = from.as_reg() {
            return Ok(env::register(reg));
        }
        let slot = self.slot(from)?;
        let spare = match class {
            RegClass::Int => SPARE,
            RegClass::Float => L::SPARE_VECTOR,
            RegClass::Vector => SPARE_MASK,
        };
        self.put(Build::new(Moves::of(class).load).reg(spare).mem(slot))?;
        Ok(spare)
    }
}
