//! From instructions with registers to bytes.
//!
//! The code lies behind the constants it uses. A frame has, from the stack pointer up: scratch memory, what is spilled, the words
//! for the runtime, the stack pointer of the caller. Ways out are written after all blocks, from wherever the register allocator
//! has put what they need.

use super::build::{Build, Moves, at, sized};
use super::env::{self, CONTEXT, FRAME, SPARE, SPARE_BASE, TICKS};
use super::flow::Flow;
use super::inst::{Arg, Base, Cond, Form, Inst, Mem, Plain};
use super::stubs::{ARGUMENTS, Stubs};
use crate::native::runtime::Callee;
use iced_x86::{Code, Encoder, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, Block, Edit, Function, InstOrEdit, Output};
use spmdvm_vm::interp::native::Context;
use std::mem::offset_of;

/// Where the words for the runtime lie from their beginning: four arguments, then its answer.
pub(super) const ANSWER_AT: i32 = 32;
const WORDS_BYTES: i32 = 40;

/// Bytes of the stack's guard page.
const PAGE: i32 = 4096;

/// Most bytes of a frame; the stacks of some threads are not much larger.
const MOST_FRAME: i32 = 256 << 10;

/// What a region became.
pub(super) struct Emitted {
    /// Constants, then code.
    pub bytes: Vec<u8>,
    /// Where the code begins.
    pub entry: usize,
}

/// Somewhere in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Block(usize),
    /// By index into [`Emitter::cold`].
    Cold(usize),
    /// After a piece of cold code.
    Back(usize),
    /// Where the region is left.
    Leave,
    /// What adds the counters to memory.
    AddCounts,
}

/// Code that is written after all blocks.
enum Cold {
    /// Leaves by a way out; where its operands are.
    Out(usize, Vec<Allocation>),
    /// Asks the runtime for fuel, and leaves by another piece of cold code or goes back.
    Poll(usize),
}

pub(super) struct Emitter<'a> {
    pub flow: &'a Flow,
    output: &'a Output,
    stubs: &'a Stubs,
    encoder: Encoder,
    /// Bytes so far.
    pub at: usize,
    blocks: Vec<usize>,
    /// Of a block that does nothing: where it leads to.
    passed_on: Vec<Option<usize>>,
    cold: Vec<Cold>,
    cold_at: Vec<usize>,
    back_at: Vec<usize>,
    /// The epilogue, once it has been written.
    pub leave_at: Option<usize>,
    /// What adds the counters to memory.
    pub counts_at: usize,
    /// Places of 32 bits to be filled with a distance.
    fixups: Vec<(usize, Label)>,
    spills: i32,
    words: i32,
    pub frame: i32,
}

/// Writes the code of a region.
pub(super) fn emit(flow: &Flow, output: &Output, stubs: &Stubs) -> Result<Emitted, String> {
    let spills = flow.scratch as i32;
    let words = spills + 8 * output.num_spillslots as i32;
    let frame = (words + WORDS_BYTES + 8 + 63) / 64 * 64;
    if frame > MOST_FRAME {
        return Err("its frame on the machine's stack would be too large".into());
    }
    let entry = flow.pool.len().next_multiple_of(64);
    let mut e = Emitter {
        flow,
        output,
        stubs,
        encoder: Encoder::new(64),
        at: entry,
        blocks: vec![0; flow.num_blocks()],
        passed_on: passed_on(flow, output),
        cold: Vec::new(),
        cold_at: Vec::new(),
        back_at: Vec::new(),
        leave_at: None,
        counts_at: 0,
        fixups: Vec::new(),
        spills,
        words,
        frame,
    };
    e.prologue()?;
    let order: Vec<usize> = {
        let there = |&b: &usize| e.passed_on[b].is_none();
        let blocks = || (0..flow.num_blocks()).filter(there);
        blocks().filter(|&b| !flow.cold[b]).chain(blocks().filter(|&b| flow.cold[b])).collect()
    };
    for (i, &block) in order.iter().enumerate() {
        e.block(block, order.get(i + 1).copied())?;
    }
    let mut i = 0;
    while i < e.cold.len() {
        e.cold_code(i)?;
        i += 1;
    }
    e.counts_adder()?;
    e.finish(entry)
}

impl Emitter<'_> {
    pub fn put(&mut self, build: Build) -> Result<(), String> {
        let instruction = build.0;
        self.at +=
            self.encoder.encode(&instruction, self.at as u64).map_err(|e| format!("{:?}: {e}", instruction.code()))?;
        Ok(())
    }

    /// Bytes of an instruction, then 32 bits that lead to a label.
    pub fn jump(&mut self, bytes: &[u8], to: Label) {
        bytes.iter().for_each(|&b| self.encoder.write_u8(b));
        (0..4).for_each(|_| self.encoder.write_u8(0));
        self.at += bytes.len() + 4;
        self.fixups.push((self.at - 4, to));
    }

    fn jump_if(&mut self, cond: Cond, to: Label) {
        self.jump(&[0x0f, 0x80 | cond.0], to);
    }

    pub fn jump_always(&mut self, to: Label) {
        self.jump(&[0xe9], to);
    }

    fn word_at(&self, word: i32) -> MemoryOperand {
        at(Register::RSP, self.words + word)
    }

    fn spill_at(&self, slot: regalloc2::SpillSlot) -> MemoryOperand {
        at(Register::RSP, self.spills + 8 * slot.index() as i32)
    }

    fn ticks_at() -> MemoryOperand {
        at(CONTEXT, offset_of!(Context, ticks) as i32)
    }

    fn load_ticks(&mut self) -> Result<(), String> {
        self.put(Build::new(Code::Mov_r64_rm64).reg(TICKS).mem(Self::ticks_at()))
    }

    pub fn store_ticks(&mut self) -> Result<(), String> {
        self.put(Build::new(Code::Mov_rm64_r64).mem(Self::ticks_at()).reg(TICKS))
    }

    fn prologue(&mut self) -> Result<(), String> {
        for &r in &SAVED {
            self.put(Build::new(Code::Push_r64).reg(r))?;
        }
        let (sp, whole) = (Register::RSP, self.frame as i64);
        self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE).reg(sp))?;
        // Page by page, so that a stack that ends here meets its guard page, and never what lies beyond.
        for page in 1..=self.frame / PAGE {
            let touched = at(SPARE, -page * PAGE);
            self.put(Build::new(Code::Or_rm32_imm8).mem(touched).imm(OpKind::Immediate8to32, 0))?;
        }
        self.put(Build::new(Code::Sub_rm64_imm32).reg(sp).imm(OpKind::Immediate32to64, whole))?;
        self.put(Build::new(Code::And_rm64_imm8).reg(sp).imm(OpKind::Immediate8to64, -64))?;
        self.put(Build::new(Code::Mov_rm64_r64).mem(at(sp, self.frame - 8)).reg(SPARE))?;
        self.put(Build::new(Code::Mov_r64_rm64).reg(CONTEXT).reg(Register::RDI))?;
        let base = at(CONTEXT, offset_of!(Context, base) as i32);
        self.put(Build::new(Code::Mov_r64_rm64).reg(FRAME).mem(base))?;
        self.clear_counts()?;
        self.load_ticks()
    }

    fn block(&mut self, block: usize, next: Option<usize>) -> Result<(), String> {
        self.blocks[block] = self.at;
        let (flow, output) = (self.flow, self.output);
        for step in output.block_insts_and_edits(flow, Block::new(block)) {
            match step {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.move_value(*from, *to)?,
                InstOrEdit::Inst(i) => {
                    let allocs = output.inst_allocs(i);
                    self.inst(&flow.insts[i.index()], allocs, next)?;
                }
            }
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst, allocs: &[Allocation], next: Option<usize>) -> Result<(), String> {
        match inst {
            Inst::Plain(plain) => self.plain(plain, allocs)?,
            Inst::Zero(_) => {
                let r = allocs.first().and_then(|a| a.as_reg()).map(env::register).ok_or("no register for zeros")?;
                self.zero(r)?;
            }
            Inst::Move { .. } => {
                if let &[from, to] = allocs
                    && from != to
                {
                    self.move_value(from, to)?;
                }
            }
            Inst::Jump(to, _) => {
                let to = self.leads_to(*to);
                if Some(to) != next {
                    self.jump_always(Label::Block(to));
                }
            }
            Inst::Branch(cond, then, other) => {
                let (then, other) = (self.leads_to(*then), self.leads_to(*other));
                if Some(then) == next {
                    self.jump_if(cond.inverted(), Label::Block(other));
                } else {
                    self.jump_if(*cond, Label::Block(then));
                    if Some(other) != next {
                        self.jump_always(Label::Block(other));
                    }
                }
            }
            Inst::Guard(cond, way) => {
                let out = self.cold(Cold::Out(*way, allocs.to_vec()));
                self.jump_if(*cond, Label::Cold(out));
            }
            Inst::GuardCall(way) => {
                let out = self.cold(Cold::Out(*way, allocs.to_vec()));
                let answer = self.word_at(ANSWER_AT);
                self.put(Build::new(Code::Cmp_rm32_imm8).mem(answer).imm(OpKind::Immediate8to32, 0))?;
                self.jump_if(Cond::EQUAL, Label::Cold(out));
            }
            Inst::Tick(way) => {
                let out = self.cold(Cold::Out(*way, allocs.to_vec()));
                let poll = self.cold(Cold::Poll(out));
                self.put(Build::new(Code::Sub_rm64_imm8).reg(TICKS).imm(OpKind::Immediate8to64, 1))?;
                self.jump_if(Cond::LESS, Label::Cold(poll));
                self.back_at[poll] = self.at;
            }
            Inst::Call(callee) => {
                self.store_ticks()?;
                self.call(self.stubs.of(*callee))?;
                self.load_ticks()?;
            }
            Inst::CallLosing(callee) => {
                self.store_ticks()?;
                self.put(Build::new(Code::Mov_r64_rm64).reg(Register::RDI).reg(CONTEXT))?;
                for (i, r) in ARGUMENTS.into_iter().enumerate() {
                    let word = self.word_at(8 * i as i32);
                    self.put(Build::new(Code::Mov_r64_rm64).reg(r).mem(word))?;
                }
                self.put(Build::new(Code::VEX_Vzeroupper))?;
                self.put(
                    Build::new(Code::Mov_r64_imm64).reg(Register::RAX).imm(OpKind::Immediate64, callee.address()),
                )?;
                self.put(Build::new(Code::Call_rm64).reg(Register::RAX))?;
                let answer = self.word_at(ANSWER_AT);
                self.put(Build::new(Code::Mov_rm64_r64).mem(answer).reg(Register::RAX))?;
                self.clear_counts()?;
                self.load_ticks()?;
            }
            Inst::Leave(way) => self.way_out(*way, allocs)?,
        }
        Ok(())
    }

    /// Makes a vector 0.
    pub fn zero(&mut self, register: Register) -> Result<(), String> {
        let x = sized(register, Form::X);
        self.put(Build::new(Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32).reg(x).reg(x).reg(x))
    }

    /// Where a jump to a block ends up.
    fn leads_to(&self, block: Block) -> usize {
        self.passed_on[block.index()].unwrap_or(block.index())
    }

    fn cold(&mut self, code: Cold) -> usize {
        self.cold.push(code);
        self.cold_at.push(0);
        self.back_at.push(0);
        self.cold.len() - 1
    }

    fn cold_code(&mut self, i: usize) -> Result<(), String> {
        self.cold_at[i] = self.at;
        match &mut self.cold[i] {
            Cold::Out(way, allocs) => {
                let (way, allocs) = (*way, std::mem::take(allocs));
                self.way_out(way, &allocs)
            }
            Cold::Poll(out) => {
                let out = *out;
                // As it was: the runtime counts the unit itself.
                self.put(Build::new(Code::Add_rm64_imm8).reg(TICKS).imm(OpKind::Immediate8to64, 1))?;
                self.store_ticks()?;
                self.add_counts()?;
                let word = self.word_at(0);
                self.put(Build::new(Code::Mov_rm64_imm32).mem(word).imm(OpKind::Immediate32to64, 0))?;
                self.call(self.stubs.of(Callee::Poll))?;
                self.load_ticks()?;
                let answer = self.word_at(ANSWER_AT);
                self.put(Build::new(Code::Cmp_rm32_imm8).mem(answer).imm(OpKind::Immediate8to32, 0))?;
                self.jump_if(Cond::EQUAL, Label::Cold(out));
                self.jump_always(Label::Back(i));
                Ok(())
            }
        }
    }

    /// Calls a stub; `SPARE_BASE` leads it to the words.
    fn call(&mut self, stub: u64) -> Result<(), String> {
        let words = self.word_at(0);
        self.put(Build::new(Code::Lea_r64_m).reg(SPARE_BASE).mem(words))?;
        self.put(Build::new(Code::Mov_r64_imm64).reg(SPARE).imm(OpKind::Immediate64, stub as i64))?;
        self.put(Build::new(Code::Call_rm64).reg(SPARE))
    }

    fn move_value(&mut self, from: Allocation, to: Allocation) -> Result<(), String> {
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
            (None, None) => Err("a move from memory to memory".into()),
        }
    }

    pub fn slot(&self, a: Allocation) -> Result<MemoryOperand, String> {
        a.as_stack().map(|slot| self.spill_at(slot)).ok_or_else(|| "an operand is nowhere".into())
    }

    fn plain(&mut self, plain: &Plain, allocs: &[Allocation]) -> Result<(), String> {
        let mut allocs = allocs.iter();
        // A register of another class would be encoded as if it were one of the right class.
        let mut next = |form: Form| -> Result<Register, String> {
            let reg = allocs.next().and_then(|a| a.as_reg()).filter(|r| r.class() == form.class());
            let whole =
                reg.map(env::register).ok_or_else(|| format!("{:?}: an operand is in no register", plain.code))?;
            Ok(sized(whole, form))
        };
        let mut build = Build::new(plain.code);
        for arg in plain.args.iter().flatten() {
            build = match *arg {
                Arg::Def(_, form) | Arg::Use(_, form) => build.reg(next(form)?),
                Arg::Tied { form, .. } => {
                    next(form)?;
                    build.reg(next(form)?)
                }
                Arg::Fixed(register) => build.reg(register),
                Arg::Both { .. } => {
                    next(Form::G64)?;
                    next(Form::G64)?;
                    build
                }
                Arg::Mem(mem) => {
                    let mem = self.memory(mem, &mut next)?;
                    build.mem(mem)
                }
                Arg::Imm(kind, value) => build.imm(kind, value),
            };
        }
        if plain.mask.is_some() {
            build = build.mask(next(Form::K)?, plain.zeroing);
        }
        self.put(build)
    }

    fn memory(
        &self,
        mem: Mem,
        next: &mut impl FnMut(Form) -> Result<Register, String>,
    ) -> Result<MemoryOperand, String> {
        let (base, disp, size) = match mem.base {
            Base::Reg(_) => (next(Form::G64)?, mem.disp, 1),
            Base::Fixed(register) => (register, mem.disp, 1),
            Base::Scratch => (Register::RSP, mem.disp, 1),
            Base::Words => (Register::RSP, self.words + mem.disp, 1),
            // The constants begin where the region does.
            Base::Pool => (Register::RIP, mem.disp, 8),
        };
        let index = match mem.index {
            Some(_) => next(Form::G64)?,
            None => Register::None,
        };
        Ok(MemoryOperand::new(base, index, mem.scale as u32, disp as i64, size, mem.broadcast, Register::None))
    }
}

/// Of each block that does nothing: where it leads to in the end.
fn passed_on(flow: &Flow, output: &Output) -> Vec<Option<usize>> {
    let n = flow.num_blocks();
    let next = |block: usize| {
        let mut steps = output.block_insts_and_edits(flow, Block::new(block));
        match (steps.next(), steps.next()) {
            (Some(InstOrEdit::Inst(i)), None) if block != 0 => match &flow.insts[i.index()] {
                Inst::Jump(to, _) => Some(to.index()),
                _ => None,
            },
            _ => None,
        }
    };
    let next: Vec<Option<usize>> = (0..n).map(next).collect();
    // Blocks that do nothing and lead to each other stay: a loop for ever.
    let end = |block: usize| (0..n).try_fold(block, |at, _| next[at].ok_or(at)).err().filter(|&end| end != block);
    (0..n).map(end).collect()
}

/// Registers that belong to the caller, in the order in which they are pushed.
pub(super) const SAVED: [Register; 6] =
    [Register::RBP, Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

impl Emitter<'_> {
    fn finish(mut self, entry: usize) -> Result<Emitted, String> {
        let mut bytes = self.flow.pool.clone();
        bytes.resize(entry, 0);
        bytes.extend(self.encoder.take_buffer());
        debug_assert_eq!(bytes.len(), self.at);
        for (place, label) in self.fixups {
            let to = match label {
                Label::Block(b) => self.blocks[b],
                Label::Cold(i) => self.cold_at[i],
                Label::Back(i) => self.back_at[i],
                Label::Leave => self.leave_at.ok_or("no way leads out")?,
                Label::AddCounts => self.counts_at,
            };
            let distance = to as i64 - (place as i64 + 4);
            let distance = i32::try_from(distance).map_err(|_| "the code is too large")?;
            bytes[place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(Emitted { bytes, entry })
    }
}
