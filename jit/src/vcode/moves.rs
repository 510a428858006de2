//! Moves of the register allocator that change nothing.
//!
//! Where the parts of a live range that is split meet, regalloc2 moves the value from the place of one to that of the other, whether or not
//! it has been written since it was there. So a value that is kept on the stack around a loop, and in a register for a while
//! within, is stored on every way back: and what is stored cannot be loaded at once.
//!
//! Here is found which registers hold what a slot on the stack holds, too, on every way to a place (available copies, a forward data
//! flow problem). Moves from one to the other are left out.

use regalloc2::{Allocation, Block, Edit, Function, Inst, OperandKind, Output, PReg, ProgPoint};

/// By register: the slot that holds the same.
#[derive(Clone, PartialEq)]
struct Copies([u32; PReg::NUM_INDEX]);

const NONE: u32 = u32::MAX;

impl Copies {
    const EMPTY: Copies = Copies([NONE; PReg::NUM_INDEX]);

    /// Keeps what holds on another way, too. Returns whether something has been lost.
    fn meet(&mut self, other: &Copies) -> bool {
        let mut changed = false;
        for (slot, other) in self.0.iter_mut().zip(&other.0) {
            if *slot != *other && *slot != NONE {
                *slot = NONE;
                changed = true;
            }
        }
        changed
    }

    /// Something is written that is not known to be anywhere else.
    fn write(&mut self, to: Allocation) {
        if let Some(r) = to.as_reg() {
            self.0[r.index()] = NONE;
        } else if let Some(slot) = to.as_stack() {
            let slot = slot.index() as u32;
            self.0.iter_mut().filter(|s| **s == slot).for_each(|s| *s = NONE);
        }
    }

    /// A value is moved. Returns whether it was there.
    fn moved(&mut self, from: Allocation, to: Allocation) -> bool {
        let slot = |a: Allocation| a.as_stack().map(|slot| slot.index() as u32);
        match (from.as_reg(), to.as_reg()) {
            (Some(r), None) => {
                let slot = slot(to).unwrap_or(NONE);
                if slot != NONE && self.0[r.index()] == slot {
                    return true;
                }
                self.write(to);
                self.0[r.index()] = slot;
            }
            (None, Some(r)) => {
                let slot = slot(from).unwrap_or(NONE);
                if slot != NONE && self.0[r.index()] == slot {
                    return true;
                }
                self.0[r.index()] = slot;
            }
            (Some(from), Some(to)) => self.0[to.index()] = self.0[from.index()],
            (None, None) => self.write(to),
        }
        false
    }
}

/// By number: whether an edit stays. `is_move` tells the instructions that move their first operand to their second.
pub(super) fn needed(code: &impl Function, output: &Output, is_move: impl Fn(Inst) -> bool) -> Vec<bool> {
    let mut needed = vec![true; output.edits.len()];
    let touches_stack = |(_, Edit::Move { from, to }): &(ProgPoint, Edit)| from.is_stack() || to.is_stack();
    if !output.edits.iter().any(touches_stack) {
        return needed;
    }
    let n = code.num_blocks();
    let mut entries: Vec<Option<Copies>> = vec![None; n];
    entries[code.entry_block().index()] = Some(Copies::EMPTY);
    let mut waiting = vec![false; n];
    waiting[code.entry_block().index()] = true;
    while let Some(first) = waiting.iter().position(|&waits| waits) {
        // Blocks come in an order in which what leads to one stands before it, but for ways back.
        for block in first..n {
            if !std::mem::take(&mut waiting[block]) {
                continue;
            }
            let Some(mut copies) = entries[block].clone() else { continue };
            walk(code, output, Block::new(block), &mut copies, &is_move, |_| {});
            for to in code.block_succs(Block::new(block)) {
                let entry = &mut entries[to.index()];
                let changed = match entry {
                    Some(entry) => entry.meet(&copies),
                    None => {
                        *entry = Some(copies.clone());
                        true
                    }
                };
                waiting[to.index()] |= changed;
            }
        }
    }
    for (block, entry) in entries.into_iter().enumerate() {
        if let Some(mut copies) = entry {
            walk(code, output, Block::new(block), &mut copies, &is_move, |edit| needed[edit] = false);
        }
    }
    needed
}

/// Follows a block; tells the edits that change nothing.
fn walk(
    code: &impl Function,
    output: &Output,
    block: Block,
    copies: &mut Copies,
    is_move: &impl Fn(Inst) -> bool,
    mut nothing: impl FnMut(usize),
) {
    let insts = code.block_insns(block);
    let mut edit = output.edits.partition_point(|&(at, _)| at < ProgPoint::before(insts.first()));
    for inst in insts.iter() {
        while let Some((_, Edit::Move { from, to })) =
            output.edits.get(edit).filter(|&&(at, _)| at <= ProgPoint::before(inst))
        {
            if copies.moved(*from, *to) {
                nothing(edit);
            }
            edit += 1;
        }
        let allocs = output.inst_allocs(inst);
        if is_move(inst) {
            copies.moved(allocs[0], allocs[1]);
            continue;
        }
        for (operand, &alloc) in code.inst_operands(inst).iter().zip(allocs) {
            if operand.kind() == OperandKind::Def {
                copies.write(alloc);
            }
        }
        code.inst_clobbers(inst).into_iter().for_each(|r| copies.write(Allocation::reg(r)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regalloc2::{InstRange, Operand, PRegSet, RegClass, SpillSlot, VReg};

    /// Instructions that write the first vector or nothing.
    struct Code {
        operands: Vec<Vec<Operand>>,
        ranges: Vec<InstRange>,
        succs: Vec<Vec<Block>>,
    }

    impl Function for Code {
        fn num_insts(&self) -> usize {
            self.operands.len()
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
        fn block_preds(&self, _: Block) -> &[Block] {
            &[]
        }
        fn block_params(&self, _: Block) -> &[VReg] {
            &[]
        }
        fn is_ret(&self, _: Inst) -> bool {
            false
        }
        fn is_branch(&self, _: Inst) -> bool {
            false
        }
        fn branch_blockparams(&self, _: Block, _: Inst, _: usize) -> &[VReg] {
            &[]
        }
        fn inst_operands(&self, inst: Inst) -> &[Operand] {
            &self.operands[inst.index()]
        }
        fn inst_clobbers(&self, _: Inst) -> PRegSet {
            PRegSet::empty()
        }
        fn num_vregs(&self) -> usize {
            1
        }
        fn spillslot_size(&self, _: RegClass) -> usize {
            1
        }
    }

    fn reg(n: usize) -> Allocation {
        Allocation::reg(PReg::new(n, RegClass::Float))
    }

    fn slot(n: usize) -> Allocation {
        Allocation::stack(SpillSlot::new(n))
    }

    /// Two instructions to a block; `writes` are those that write register 0. Edits stand before an instruction.
    fn needed_of(succs: &[&[usize]], writes: &[usize], edits: &[(usize, Allocation, Allocation)]) -> Vec<bool> {
        let n = 2 * succs.len();
        let def = Operand::reg_def(VReg::new(0, RegClass::Float));
        let code = Code {
            operands: (0..n).map(|i| if writes.contains(&i) { vec![def] } else { Vec::new() }).collect(),
            ranges: (0..succs.len()).map(|b| InstRange::new(Inst::new(2 * b), Inst::new(2 * b + 2))).collect(),
            succs: succs.iter().map(|succs| succs.iter().map(|&b| Block::new(b)).collect()).collect(),
        };
        let mut output = Output::default();
        for i in 0..n {
            output.inst_alloc_offsets.push(output.allocs.len() as u32);
            output.allocs.extend(writes.contains(&i).then(|| reg(0)));
        }
        let edit = |&(at, from, to)| (ProgPoint::before(Inst::new(at)), Edit::Move { from, to });
        output.edits = edits.iter().map(edit).collect();
        needed(&code, &output, |_| false)
    }

    /// A loop that loads a value, and stores it on its way back.
    const LOOP: &[&[usize]] = &[&[1], &[2, 3], &[1], &[]];

    #[test]
    fn what_was_loaded_is_not_stored_again() {
        let edits = [(1, reg(0), slot(4)), (2, slot(4), reg(1)), (4, reg(1), slot(4)), (6, slot(4), reg(1))];
        // Before the loop it is stored; in it register 1 holds another value at first; behind it it is there.
        assert_eq!(needed_of(LOOP, &[], &edits), [true, true, false, false]);
    }

    #[test]
    fn what_was_written_is_stored() {
        let edits = [(1, reg(0), slot(4)), (2, slot(4), reg(0)), (4, reg(0), slot(4))];
        assert_eq!(needed_of(LOOP, &[3], &edits), [true, false, true]);
        // Another value took its place on the stack.
        let edits = [(1, reg(0), slot(4)), (2, slot(4), reg(0)), (3, reg(2), slot(4)), (4, reg(0), slot(4))];
        assert_eq!(needed_of(LOOP, &[], &edits), [true, false, true, true]);
    }

    #[test]
    fn it_must_be_so_on_every_way() {
        let diamond: &[&[usize]] = &[&[1, 2], &[3], &[3], &[]];
        let edits = [(1, reg(0), slot(4)), (2, slot(5), reg(0)), (7, reg(0), slot(4))];
        assert_eq!(needed_of(diamond, &[], &edits), [true, true, true]);
        let edits = [(1, reg(0), slot(4)), (2, slot(5), reg(1)), (7, reg(0), slot(4))];
        assert_eq!(needed_of(diamond, &[], &edits), [true, true, false]);
        // What is moved from register to register is held by both.
        let edits = [(1, reg(0), slot(4)), (1, reg(0), reg(3)), (6, reg(3), slot(4)), (7, slot(4), reg(0))];
        assert_eq!(needed_of(diamond, &[], &edits), [true, true, false, false]);
    }
}
