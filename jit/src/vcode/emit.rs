//! From instructions with registers to bytes.
//!
//! The code lies behind the constants it uses. A frame has, from the stack pointer up: what is spilled, scratch memory, the words
//! for the runtime, what is the target's own. Exit stubs are written after all blocks, from wherever the register allocator
//! has put what they need.

use super::code::VCode;
use super::halves::{self, Whole};
use super::inst::{ExitStub, Inst, StubWrite};
use super::saves::Saves;
use super::{Assembler, Callee, Target};
use crate::backend::{CompileError, Limit};
use crate::ir::ExitId;
use regalloc2::{Allocation, Block, Edit, Function, Inst as Index, InstOrEdit, Output};

/// Bytes of the words for the runtime: four arguments and an answer.
const WORDS_BYTES: i32 = 40;

/// Most bytes of a frame; the stacks of some threads are not much larger.
const MOST_FRAME: i32 = 256 << 10;

/// Most steps of a test that is repeated, the branch included.
const MOST_REPEATED: usize = 4;

/// Where things lie in the frame on the stack, from the stack pointer up. What is spilled begins there.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Scratch memory, at a multiple of 64.
    pub scratch: i32,
    /// The words for the runtime.
    pub words: i32,
    /// All bytes: a multiple of 64. The last ones are the [target's own](Target::OWN_BYTES).
    pub bytes: i32,
}

/// What a region became.
pub struct Emitted {
    /// Constants, then code.
    pub bytes: Vec<u8>,
    /// Where the code begins.
    pub entry: usize,
    /// Its frame on the stack.
    pub frame: Frame,
}

/// Somewhere in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Block(usize),
    /// By index into [`Emitter::cold`].
    Cold(usize),
    /// After a piece of cold code.
    Back(usize),
    /// Where the region is left.
    Leave,
}

/// Code that is written after all blocks.
enum Cold {
    /// Leaves by a side exit; where its operands are.
    Exit(usize, Vec<Allocation>),
    /// Leaves by an exit that has been written.
    Written(ExitId),
    /// Asks the runtime for so much fuel, and leaves by another piece of cold code or goes back.
    Poll(usize, u32),
}

struct Emitter<'a, T: Target> {
    code: &'a VCode<T>,
    output: &'a Output,
    saves: Saves,
    asm: T::Assembler<'a>,
    blocks: Vec<usize>,
    /// Of a block that does nothing: where it leads to.
    passed_on: Vec<Option<usize>>,
    cold: Vec<Cold>,
    cold_at: Vec<usize>,
    back_at: Vec<usize>,
    /// The epilogue, once it has been written.
    leave_at: Option<usize>,
    /// Jumps whose distances are open, by what the assembler calls them.
    fixups: Vec<(usize, Label)>,
    /// What registers hold where blocks begin, and now.
    halves: Option<Vec<Whole>>,
    whole: Option<Whole>,
    /// Whether what is being written is cold.
    is_cold: bool,
}

/// Writes the code of a region.
pub(super) fn emit<T: Target>(target: &T, code: &VCode<T>, output: &Output) -> Result<Emitted, CompileError> {
    let saves = Saves::of(code, output);
    let scratch = (8 * saves.words as i32 + 63) / 64 * 64;
    let words = scratch + code.scratch as i32;
    let frame = Frame { scratch, words, bytes: (words + WORDS_BYTES + T::OWN_BYTES + 63) / 64 * 64 };
    if frame.bytes > MOST_FRAME {
        return Err(CompileError::TooLarge(Limit::StackFrame));
    }
    let entry = code.pool.len().next_multiple_of(64);
    let mut e = Emitter {
        code,
        output,
        saves,
        asm: target.assembler(code, frame, entry),
        blocks: vec![0; code.num_blocks()],
        passed_on: passed_on(code, output),
        cold: Vec::new(),
        cold_at: Vec::new(),
        back_at: Vec::new(),
        leave_at: None,
        fixups: Vec::new(),
        halves: halves::at_blocks(code, output),
        whole: None,
        is_cold: false,
    };
    e.asm.prologue()?;
    let mut order: Vec<usize> = {
        let there = |&b: &usize| e.passed_on[b].is_none();
        let blocks = || (0..code.num_blocks()).filter(there);
        blocks().filter(|&b| !code.cold[b]).chain(blocks().filter(|&b| code.cold[b])).collect()
    };
    let tops = e.rotate_loops(&mut order);
    for (i, &block) in order.iter().enumerate() {
        if tops[block] {
            e.asm.align();
        }
        e.block(block, order.get(i + 1).copied())?;
    }
    let mut i = 0;
    while i < e.cold.len() {
        e.cold_code(i)?;
        i += 1;
    }
    e.finish(entry, frame)
}

impl<T: Target> Emitter<'_, T> {
    fn jump(&mut self, cond: Option<T::Cond>, to: Label) -> Result<(), CompileError> {
        let at = self.asm.jump(cond)?;
        self.fixups.push((at, to));
        Ok(())
    }

    /// Moves the heads of loops behind the blocks that lead back to them, where the way on stands behind the head: so a round takes one
    /// jump rather than two. Gives the blocks that rounds begin with then, which are hardly ever run into from above.
    fn rotate_loops(&self, order: &mut [usize]) -> Vec<bool> {
        let mut tops = vec![false; self.code.num_blocks()];
        let mut places = vec![usize::MAX; self.code.num_blocks()];
        order.iter().enumerate().for_each(|(at, &block)| places[block] = at);
        // Of loops one in another the inner one comes first.
        for end in 1..order.len() {
            let Some(Inst::Jump(head, _)) = self.last(order[end]) else { continue };
            let head = self.leads_to(*head);
            let at = places[head];
            // The entry stays where it is. From a cold block behind all others, a jump to one of them leads on, not back.
            if at == 0 || at >= end || order[at] != head || self.code.cold[order[end]] != self.code.cold[head] {
                continue;
            }
            let Some(Inst::Branch(_, then, other)) = self.last(head) else { continue };
            let goes_on = [then, other].map(|to| self.leads_to(*to) == order[at + 1]);
            if goes_on[0] != goes_on[1] {
                order[at..=end].rotate_left(1);
                (at..=end).for_each(|i| places[order[i]] = i);
                tops[order[at]] = true;
            }
        }
        tops
    }

    /// Returns whether a block does little but to test which way to go on, not seldom: where a jump would lead there, it is repeated, which
    /// saves the jump. Such is the head of a loop for each of the ways back to it.
    fn is_short_test(&self, block: usize) -> bool {
        let mut steps = self.output.block_insts_and_edits(self.code, Block::new(block));
        let is_short = |step: InstOrEdit<'_>| match step {
            InstOrEdit::Edit(_) => true,
            InstOrEdit::Inst(i) => {
                matches!(self.code.insts[i.index()], Inst::Plain(_) | Inst::Move { .. } | Inst::Branch(..))
            }
        };
        let is_test = matches!(self.last(block), Some(Inst::Branch(..)));
        is_test && !self.code.cold[block] && steps.by_ref().take(MOST_REPEATED).all(is_short) && steps.next().is_none()
    }

    /// The last instruction of a block.
    fn last(&self, block: usize) -> Option<&Inst<T>> {
        self.code.block_insns(Block::new(block)).iter().last().map(|i| &self.code.insts[i.index()])
    }

    fn block(&mut self, block: usize, next: Option<usize>) -> Result<(), CompileError> {
        self.blocks[block] = self.asm.at();
        self.whole = halves::at_block(&self.halves, Block::new(block));
        self.is_cold = self.code.cold[block];
        self.steps(block, next)
    }

    /// Writes what a block does, where another is to come next.
    fn steps(&mut self, block: usize, next: Option<usize>) -> Result<(), CompileError> {
        let (code, output) = (self.code, self.output);
        for step in output.block_insts_and_edits(code, Block::new(block)) {
            match step {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.move_value(*from, *to)?,
                InstOrEdit::Inst(i) => {
                    let (inst, allocs) = (&code.insts[i.index()], output.inst_allocs(i));
                    self.inst(i, inst, allocs, next)?;
                    if let Some(whole) = &mut self.whole {
                        whole.write(inst, allocs);
                    }
                }
            }
        }
        Ok(())
    }

    fn call_saving(&mut self, call: Index, callee: Callee) -> Result<(), CompileError> {
        let saved = self.saves.of_call(call);
        saved.iter().try_for_each(|&(r, slot)| self.asm.move_value(r, slot))?;
        self.asm.call_losing(callee)?;
        saved.iter().try_for_each(|&(r, slot)| self.asm.move_value(slot, r))
    }

    fn move_value(&mut self, from: Allocation, to: Allocation) -> Result<(), CompileError> {
        match self.whole.as_mut().is_some_and(|whole| whole.moves_half(from, to)) {
            true => self.asm.move_half(from, to),
            false => self.asm.move_value(from, to),
        }
    }

    fn inst(
        &mut self,
        i: Index,
        inst: &Inst<T>,
        allocs: &[Allocation],
        next: Option<usize>,
    ) -> Result<(), CompileError> {
        match inst {
            Inst::Plain(plain) => self.asm.inst(plain, allocs)?,
            Inst::Zero(_) => self.asm.zero(allocs[0])?,
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
                    match !self.is_cold && self.is_short_test(to) {
                        true => self.steps(to, next)?,
                        false => self.jump(None, Label::Block(to))?,
                    }
                }
            }
            Inst::Branch(cond, then, other) => {
                let (then, other) = (self.leads_to(*then), self.leads_to(*other));
                if Some(then) == next {
                    self.jump(Some(T::inverted(*cond)), Label::Block(other))?;
                } else {
                    self.jump(Some(*cond), Label::Block(then))?;
                    if Some(other) != next {
                        self.jump(None, Label::Block(other))?;
                    }
                }
            }
            Inst::Guard(cond, stub) => {
                let out = self.cold(Cold::Exit(*stub, allocs.to_vec()));
                self.jump(Some(*cond), Label::Cold(out))?;
            }
            Inst::GuardCall(stub) => {
                let out = self.cold(Cold::Exit(*stub, allocs.to_vec()));
                let at = self.asm.jump_if_failed()?;
                self.fixups.push((at, Label::Cold(out)));
            }
            Inst::Write(stub) => self.write(*stub, allocs)?,
            Inst::GuardWritten(exit) => {
                let out = self.cold(Cold::Written(*exit));
                let at = self.asm.jump_if_failed()?;
                self.fixups.push((at, Label::Cold(out)));
            }
            Inst::Count(place) => self.asm.count(*place)?,
            Inst::Tick(stub, units) => {
                let out = self.cold(Cold::Exit(*stub, allocs.to_vec()));
                let poll = self.cold(Cold::Poll(out, *units));
                let at = self.asm.tick(*units)?;
                self.fixups.push((at, Label::Cold(poll)));
                self.back_at[poll] = self.asm.at();
            }
            Inst::Call(callee) => self.asm.call(*callee)?,
            Inst::CallLosing(callee) => self.asm.call_losing(*callee)?,
            Inst::CallSaving(callee) => self.call_saving(i, *callee)?,
            Inst::Leave(stub) => self.exit(*stub, allocs)?,
        }
        Ok(())
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

    fn cold_code(&mut self, i: usize) -> Result<(), CompileError> {
        self.cold_at[i] = self.asm.at();
        match &mut self.cold[i] {
            Cold::Exit(stub, allocs) => {
                let (stub, allocs) = (*stub, std::mem::take(allocs));
                self.exit(stub, &allocs)
            }
            Cold::Written(exit) => {
                let exit = *exit;
                self.leave(exit)
            }
            Cold::Poll(out, units) => {
                let (out, units) = (*out, *units);
                self.asm.poll(units)?;
                let at = self.asm.jump_if_failed()?;
                self.fixups.push((at, Label::Cold(out)));
                self.jump(None, Label::Back(i))
            }
        }
    }

    /// Writes what an exit writes, and leaves.
    fn exit(&mut self, stub: usize, allocs: &[Allocation]) -> Result<(), CompileError> {
        self.write(stub, allocs)?;
        let ExitStub { exit, counts, .. } = self.code.exit_stubs[stub];
        counts.map_or(Ok(()), |place| self.asm.count(place))?;
        self.leave(exit)
    }

    /// Writes what an exit writes.
    fn write(&mut self, stub: usize, allocs: &[Allocation]) -> Result<(), CompileError> {
        let ExitStub { computed, writes, .. } = &self.code.exit_stubs[stub];
        let mut rest = allocs;
        let mut write = |asm: &mut T::Assembler<'_>, writes: &[StubWrite]| {
            let n = writes.iter().map(|write| write.what.registers().count()).sum();
            let (allocs, others) = rest.split_at(n);
            rest = others;
            asm.write(writes, allocs)
        };
        for operands in computed {
            write(&mut self.asm, operands)?;
            self.asm.call(Callee::General)?;
        }
        write(&mut self.asm, writes)
    }

    /// Leaves by an exit that has been written: the first time here, later there too.
    fn leave(&mut self, exit: ExitId) -> Result<(), CompileError> {
        self.asm.exit(exit)?;
        if self.leave_at.is_some() {
            return self.jump(None, Label::Leave);
        }
        self.leave_at = Some(self.asm.at());
        self.asm.epilogue()
    }

    fn finish(self, entry: usize, frame: Frame) -> Result<Emitted, CompileError> {
        let mut bytes = self.code.pool.clone();
        bytes.resize(entry, 0);
        bytes.extend(self.asm.finish()?);
        for (place, label) in self.fixups {
            let to = match label {
                Label::Block(b) => self.blocks[b],
                Label::Cold(i) => self.cold_at[i],
                Label::Back(i) => self.back_at[i],
                Label::Leave => self.leave_at.unwrap_or(entry),
            };
            T::patch(&mut bytes, place, to)?;
        }
        Ok(Emitted { bytes, entry, frame })
    }
}

/// Of each block that does nothing: where it leads to in the end.
fn passed_on<T: Target>(code: &VCode<T>, output: &Output) -> Vec<Option<usize>> {
    let n = code.num_blocks();
    let next = |block: usize| {
        let mut steps = output.block_insts_and_edits(code, Block::new(block));
        match (steps.next(), steps.next()) {
            (Some(InstOrEdit::Inst(i)), None) if block != 0 => match &code.insts[i.index()] {
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
