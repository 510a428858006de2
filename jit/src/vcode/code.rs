//! The instructions of a region on virtual registers, in blocks: what regalloc2 works on.

use super::Target;
use super::inst::{ExitStub, Inst, MachInst};
use regalloc2::{
    Block, Function, Inst as Index, InstRange, Operand, OperandConstraint, OperandKind, OperandPos, PRegSet, RegClass,
    VReg,
};
use std::ops::Range;

/// Most registers that are made in the entry block so as not to be made in loops.
const MOST_EARLY: usize = 12;

/// The instructions of a region, in blocks.
pub struct VCode<T: Target> {
    pub(crate) insts: Vec<Inst<T>>,
    operands: Vec<Operand>,
    operand_ends: Vec<u32>,
    n_vregs: usize,
    ranges: Vec<InstRange>,
    succs: Vec<Vec<Block>>,
    pub(super) preds: Vec<Vec<Block>>,
    pub(super) params: Vec<Vec<VReg>>,
    pub(crate) cold: Vec<bool>,
    pub(crate) exit_stubs: Vec<ExitStub>,
    /// Constants, one after another.
    pub(super) pool: Vec<u8>,
    /// Bytes of scratch memory.
    pub(super) scratch: usize,
    /// The counters that are in a register, by lane.
    pub(crate) counters: Vec<u32>,
    /// What is to stand at the end of the entry block.
    early: Vec<Inst<T>>,
    current: Option<Block>,
    start: usize,
}

impl<T: Target> Default for VCode<T> {
    fn default() -> VCode<T> {
        VCode {
            insts: Vec::new(),
            operands: Vec::new(),
            operand_ends: Vec::new(),
            n_vregs: 0,
            ranges: Vec::new(),
            succs: Vec::new(),
            preds: Vec::new(),
            params: Vec::new(),
            cold: Vec::new(),
            exit_stubs: Vec::new(),
            pool: Vec::new(),
            scratch: 0,
            counters: Vec::new(),
            early: Vec::new(),
            current: None,
            start: 0,
        }
    }
}

impl<T: Target> VCode<T> {
    /// A new register.
    pub fn reg(&mut self, class: RegClass) -> VReg {
        self.n_vregs += 1;
        VReg::new(self.n_vregs - 1, class)
    }

    /// A new general register.
    pub fn gpr(&mut self) -> VReg {
        self.reg(RegClass::Int)
    }

    /// A new vector.
    pub fn vector(&mut self) -> VReg {
        self.reg(RegClass::Float)
    }

    /// A new register for a mask.
    pub fn mask(&mut self) -> VReg {
        self.reg(T::MASK)
    }

    /// A new block.
    pub(crate) fn block(&mut self, cold: bool) -> Block {
        self.ranges.push(InstRange::new(Index::new(0), Index::new(0)));
        self.succs.push(Vec::new());
        self.preds.push(Vec::new());
        self.params.push(Vec::new());
        self.cold.push(cold);
        Block::new(self.ranges.len() - 1)
    }

    /// Gives a block parameters.
    pub(crate) fn set_params(&mut self, block: Block, params: Vec<VReg>) {
        self.params[block.index()] = params;
    }

    /// Gives a block one more; who jumps to it hands it over.
    pub(crate) fn add_param(&mut self, block: Block, param: VReg) {
        self.params[block.index()].push(param);
    }

    /// Has the next instructions stand in a block.
    pub(crate) fn begin(&mut self, block: Block) {
        self.current = Some(block);
        self.start = self.insts.len();
    }

    /// Adds an instruction.
    pub(crate) fn push(&mut self, inst: Inst<T>) {
        let current = self.current.expect("a block has begun");
        let end = match &inst {
            Inst::Jump(to, _) => Some(vec![*to]),
            Inst::Branch(_, a, b) => Some(vec![*a, *b]),
            Inst::Leave(_) => Some(Vec::new()),
            _ => None,
        };
        self.insts.push(inst);
        if let Some(succs) = end {
            succs.iter().for_each(|s| self.preds[s.index()].push(current));
            self.succs[current.index()] = succs;
            self.ranges[current.index()] = InstRange::new(Index::new(self.start), Index::new(self.insts.len()));
            self.current = None;
        }
    }

    /// Has the last instruction, which needs no register, stand at the end of the entry block: what it makes is at hand everywhere behind
    /// that, and not made anew in loops. Returns whether it does: registers are few.
    pub(crate) fn make_early(&mut self) -> bool {
        let room = self.early.len() < MOST_EARLY;
        if room {
            self.early.extend(self.insts.pop());
        }
        room
    }

    /// Takes back the last instruction, which does not end a block.
    pub(crate) fn pop(&mut self) -> Option<Inst<T>> {
        self.insts.pop()
    }

    /// The place of the last call in the entry block that loses registers.
    pub(super) fn last_losing_call(&self) -> Option<usize> {
        let entry = self.ranges[0].iter().rev().map(|i| i.index());
        entry.into_iter().find(|&i| matches!(self.insts[i], Inst::CallLosing(_)))
    }

    /// By register: whether the instructions up to one write it.
    pub(super) fn written_until(&mut self, inst: usize) -> Vec<bool> {
        let mut written = vec![false; self.n_vregs];
        self.note_all_operands(inst + 1);
        let defs = self.operands.iter().filter(|o| o.kind() == OperandKind::Def);
        defs.for_each(|o| written[o.vreg().vreg()] = true);
        written
    }

    /// By register: how many operands read it.
    pub(crate) fn uses(&mut self) -> Vec<u32> {
        let mut uses = vec![0; self.n_vregs];
        self.note_all_operands(self.insts.len());
        let read = self.operands.iter().filter(|o| o.kind() == OperandKind::Use).map(|o| o.vreg());
        let handed = self.insts.iter().flat_map(|inst| match inst {
            Inst::Jump(_, args) => &args[..],
            _ => &[],
        });
        read.chain(handed.copied()).for_each(|r| uses[r.vreg()] += 1);
        uses
    }

    /// The instructions of each block.
    pub(crate) fn blocks(&self) -> Vec<Range<usize>> {
        (0..self.ranges.len()).map(|b| self.range(Block::new(b))).collect()
    }

    /// The only block that leads to one, if there is just one.
    pub(crate) fn only_predecessor(&self, block: usize) -> Option<usize> {
        let [before] = self.preds[block][..] else { return None };
        Some(before.index())
    }

    /// Leaves instructions out that do not end blocks; by their number, whether one stays.
    pub(crate) fn retain(&mut self, kept: &[bool]) {
        let mut places = Vec::with_capacity(kept.len() + 1);
        let mut n = 0;
        for &kept in kept {
            places.push(n);
            n += kept as usize;
        }
        places.push(n);
        for range in &mut self.ranges {
            let (first, end) = (range.first().index(), range.last().index() + 1);
            *range = InstRange::new(Index::new(places[first]), Index::new(places[end]));
        }
        let mut kept = kept.iter();
        self.insts.retain(|_| kept.next() != Some(&false));
    }

    /// Visits the registers that a block writes (its parameters first) and reads, in order; tells which of both.
    pub(crate) fn each_operand(&mut self, block: Block, visit: &mut dyn FnMut(VReg, bool)) {
        self.params[block.index()].iter().for_each(|&r| visit(r, false));
        let insts = std::mem::take(&mut self.insts);
        for inst in &insts[self.range(block)] {
            self.operands.clear();
            self.note_operands(inst);
            let of_kind = |kind| self.operands.iter().filter(move |o| o.kind() == kind).map(|o| o.vreg());
            of_kind(OperandKind::Use).for_each(|r| visit(r, true));
            if let Inst::Jump(_, args) = inst {
                args.iter().for_each(|&r| visit(r, true));
            }
            of_kind(OperandKind::Def).for_each(|r| visit(r, false));
        }
        self.insts = insts;
    }

    /// Visits the registers that an instruction writes.
    pub(super) fn each_written(&mut self, inst: &Inst<T>, visit: &mut dyn FnMut(VReg)) {
        self.operands.clear();
        self.note_operands(inst);
        self.operands.iter().filter(|o| o.kind() == OperandKind::Def).for_each(|o| visit(o.vreg()));
    }

    /// Returns whether an instruction moves its first operand to its second, and does nothing else.
    pub(super) fn is_move(&self, inst: Index) -> bool {
        matches!(self.insts[inst.index()], Inst::Move { .. })
    }

    /// Returns whether the operands of an instruction are those of code that stands elsewhere: what an exit writes.
    pub(super) fn leaves(&self, inst: Index) -> bool {
        matches!(self.insts[inst.index()], Inst::Guard(..) | Inst::GuardCall(_) | Inst::Tick(..))
    }

    /// The instructions of a block.
    pub(super) fn range(&self, block: Block) -> Range<usize> {
        let range = self.ranges[block.index()];
        range.first().index()..range.last().index() + 1
    }

    /// Inserts instructions before those with these numbers, which ascend, in the same blocks.
    pub(crate) fn insert(&mut self, new: Vec<(usize, Inst<T>)>) {
        for range in &mut self.ranges {
            let (first, end) = (range.first().index(), range.last().index() + 1);
            let before = |at: usize| new.partition_point(|&(i, _)| i < at);
            *range = InstRange::new(Index::new(first + before(first)), Index::new(end + before(end)));
        }
        let mut insts = Vec::with_capacity(self.insts.len() + new.len());
        let mut new = new.into_iter().peekable();
        for (i, inst) in std::mem::take(&mut self.insts).into_iter().enumerate() {
            while let Some((_, new)) = new.next_if(|&(at, _)| at == i) {
                insts.push(new);
            }
            insts.push(inst);
        }
        self.insts = insts;
    }

    /// Notes the operands of the first instructions, so many.
    pub(super) fn note_all_operands(&mut self, n: usize) {
        self.operands.clear();
        self.operand_ends.clear();
        let insts = std::mem::take(&mut self.insts);
        insts[..n].iter().for_each(|inst| self.note_operands(inst));
        self.insts = insts;
    }

    /// Makes all ready for the register allocator, which wants blocks to be numbered in the order of their instructions.
    pub(crate) fn finish(&mut self) {
        self.split_live_ranges();
        let (end, early) = (self.ranges[0].last().index(), std::mem::take(&mut self.early));
        self.insert(early.into_iter().map(|inst| (end, inst)).collect());
        self.split_before_loops();
        self.note_all_operands(self.insts.len());
        let mut order: Vec<usize> = (0..self.ranges.len()).collect();
        order.sort_by_key(|&b| self.ranges[b].first().index());
        let mut numbers = vec![Block::invalid(); order.len()];
        order.iter().enumerate().for_each(|(new, &old)| numbers[old] = Block::new(new));
        let renumber = |block: &mut Block| *block = numbers[block.index()];
        for inst in &mut self.insts {
            match inst {
                Inst::Jump(to, _) => renumber(to),
                Inst::Branch(_, then, other) => [then, other].into_iter().for_each(renumber),
                _ => {}
            }
        }
        self.succs.iter_mut().chain(&mut self.preds).flatten().for_each(renumber);
        fn sorted<T: Default>(order: &[usize], of: &mut Vec<T>) {
            *of = order.iter().map(|&old| std::mem::take(&mut of[old])).collect();
        }
        self.ranges = order.iter().map(|&old| self.ranges[old]).collect();
        sorted(&order, &mut self.succs);
        sorted(&order, &mut self.preds);
        sorted(&order, &mut self.params);
        sorted(&order, &mut self.cold);
    }

    /// Bytes of the pool, from a place that is a multiple of their number; the same bytes have one place.
    pub fn constant(&mut self, bytes: &[u8]) -> i32 {
        let same = (0..self.pool.len()).step_by(bytes.len()).find(|&at| self.pool[at..].starts_with(bytes));
        let at = same.unwrap_or_else(|| {
            self.pool.resize(self.pool.len().next_multiple_of(bytes.len()), 0);
            self.pool.extend_from_slice(bytes);
            self.pool.len() - bytes.len()
        });
        at as i32
    }

    /// So many bytes of the pool from a place on.
    pub(crate) fn constant_at(&self, at: i32, bytes: usize) -> &[u8] {
        &self.pool[at as usize..][..bytes]
    }

    /// The place in the pool of so many bytes, each element of which is the one at a place there.
    pub(crate) fn constant_in_all_lanes(&mut self, at: i32, size: usize, bytes: usize) -> i32 {
        let lanes: Vec<u8> = self.constant_at(at, size).iter().copied().cycle().take(bytes).collect();
        self.constant(&lanes)
    }

    /// Sees to it that there is so much scratch memory.
    pub fn needs_scratch(&mut self, bytes: usize) {
        self.scratch = self.scratch.max(bytes.next_multiple_of(64));
    }

    /// Notes the operands of an instruction.
    fn note_operands(&mut self, inst: &Inst<T>) {
        let any = |r| Operand::new(r, OperandConstraint::Any, OperandKind::Use, OperandPos::Early);
        match inst {
            Inst::Plain(plain) => plain.operands(&mut self.operands),
            Inst::Zero(r) => self.operands.push(Operand::reg_def(*r)),
            Inst::Guard(_, stub)
            | Inst::GuardCall(stub)
            | Inst::Write(stub)
            | Inst::Tick(stub, _)
            | Inst::Leave(stub) => {
                let stub = &self.exit_stubs[*stub];
                self.operands.extend(stub.registers().map(|r| match stub.in_memory.contains(&r) {
                    true => Operand::new(r, OperandConstraint::Stack, OperandKind::Use, OperandPos::Early),
                    false => any(r),
                }));
            }
            Inst::Move { from, to } => self.operands.extend([any(*from), Operand::reg_def(*to)]),
            Inst::Jump(..) | Inst::Branch(..) | Inst::Count(_) | Inst::GuardWritten(_) => {}
            Inst::Call(_) | Inst::CallLosing(_) | Inst::CallSaving(_) => {}
        }
        self.operand_ends.push(self.operands.len() as u32);
    }
}

impl<T: Target> Function for VCode<T> {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.ranges.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.ranges[block.index()]
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[block.index()]
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.params[block.index()]
    }

    fn is_ret(&self, inst: Index) -> bool {
        matches!(self.insts[inst.index()], Inst::Leave(_))
    }

    fn is_branch(&self, inst: Index) -> bool {
        matches!(self.insts[inst.index()], Inst::Jump(..) | Inst::Branch(..))
    }

    fn branch_blockparams(&self, _block: Block, inst: Index, _succ: usize) -> &[VReg] {
        match &self.insts[inst.index()] {
            Inst::Jump(_, args) => args,
            _ => &[],
        }
    }

    fn inst_operands(&self, inst: Index) -> &[Operand] {
        let i = inst.index();
        let start = if i == 0 { 0 } else { self.operand_ends[i - 1] };
        &self.operands[start as usize..self.operand_ends[i] as usize]
    }

    fn inst_clobbers(&self, inst: Index) -> PRegSet {
        match self.insts[inst.index()] {
            Inst::CallLosing(_) => T::clobbers(),
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.n_vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        T::spill_slots(class)
    }
}
