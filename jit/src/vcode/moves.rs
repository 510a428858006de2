//! Moves of the register allocator that change nothing, and what nobody reads.
//!
//! Where the parts of a live range that is split meet, regalloc2 moves the value from the place of one to that of the other, whether or not
//! it has been written since it was there. So a value that is kept on the stack around a loop, and in a register for a while
//! within, is stored on every way back: and what is stored cannot be loaded at once. And what [moves to a new register](super::split)
//! before a loop, in which there is none for it after all, is loaded from one slot and stored to another.
//!
//! Here is found which registers hold what a slot on the stack holds, too, and which slots what another one holds, on every way to a place
//! (available copies, a forward data flow problem). Moves from a register to a slot that holds the same, or back, are left out; what
//! is read from a copy is read from the slot that it is a copy of. What nobody reads then (live variables, backward) is not
//! moved.

use super::live::{Step, each_backwards};
use regalloc2::{Allocation, Block, Edit, Function, Inst, OperandKind, Output, PReg, ProgPoint, SpillSlot};

/// By register: a slot that holds the same; by slot: a slot that it is a copy of.
#[derive(Clone, PartialEq)]
struct Copies {
    registers: [u32; PReg::NUM_INDEX],
    slots: Vec<u32>,
}

const NONE: u32 = u32::MAX;

fn slot_of(a: Allocation) -> Option<u32> {
    a.as_stack().map(|slot| slot.index() as u32)
}

impl Copies {
    fn none(slots: usize) -> Copies {
        Copies { registers: [NONE; PReg::NUM_INDEX], slots: vec![NONE; slots] }
    }

    /// Keeps what holds on another way, too. Returns whether something has been lost.
    fn meet(&mut self, other: &Copies) -> bool {
        let mut changed = false;
        let own = self.registers.iter_mut().chain(&mut self.slots);
        for (slot, other) in own.zip(other.registers.iter().chain(&other.slots)) {
            if *slot != *other && *slot != NONE {
                *slot = NONE;
                changed = true;
            }
        }
        changed
    }

    /// The slot to read rather than one.
    fn original(&self, slot: u32) -> u32 {
        match self.slots.get(slot as usize) {
            Some(&of) if of != NONE => of,
            _ => slot,
        }
    }

    /// Returns whether a register holds what a slot holds.
    fn holds(&self, r: PReg, slot: u32) -> bool {
        let held = self.registers[r.index()];
        held != NONE && (held == slot || self.original(held) == self.original(slot))
    }

    /// Something is written that is not known to be anywhere else.
    fn write(&mut self, to: Allocation) {
        if let Some(r) = to.as_reg() {
            self.registers[r.index()] = NONE;
        } else if let Some(slot) = slot_of(to) {
            let all = self.registers.iter_mut().chain(&mut self.slots);
            all.filter(|s| **s == slot).for_each(|s| *s = NONE);
            self.slots[slot as usize] = NONE;
        }
    }

    /// A value is moved. Returns whether it was there.
    fn moved(&mut self, from: Allocation, to: Allocation) -> bool {
        match (from.as_reg(), to.as_reg()) {
            (Some(from), Some(to)) => self.registers[to.index()] = self.registers[from.index()],
            (Some(r), None) => {
                let Some(slot) = slot_of(to) else { return false };
                if self.holds(r, slot) {
                    return true;
                }
                self.write(to);
                let held = self.registers[r.index()];
                if held != NONE {
                    self.slots[slot as usize] = self.original(held);
                }
                self.registers[r.index()] = slot;
            }
            (None, Some(r)) => {
                let Some(slot) = slot_of(from) else { return false };
                if self.holds(r, slot) {
                    return true;
                }
                self.registers[r.index()] = slot;
            }
            (None, None) => self.write(to),
        }
        false
    }
}

/// What is found on the way through a block, with the number of the edit, or of the operand among all.
enum Found {
    /// The edit changes nothing.
    Nothing(usize),
    /// It reads a copy.
    Moves(usize, Allocation),
    /// An operand does.
    Reads(usize, Allocation),
}

/// Leaves out what changes nothing, and what nobody reads. `is_move` tells the instructions that move their first operand to their second.
pub(super) fn tidy(code: &impl Function, output: &mut Output, is_move: impl Fn(Inst) -> bool) {
    let mut needed = vec![true; output.edits.len()];
    let mut has_copies = false;
    for found in available_copies(code, output, &is_move) {
        match found {
            Found::Nothing(edit) => needed[edit] = false,
            Found::Moves(edit, from) => {
                let Edit::Move { to, .. } = output.edits[edit].1;
                output.edits[edit].1 = Edit::Move { from, to };
            }
            Found::Reads(operand, from) => output.allocs[operand] = from,
        }
        has_copies |= !matches!(found, Found::Nothing(_));
    }
    keep(&mut output.edits, needed);
    if has_copies {
        leave_out_dead(code, output, is_move);
    }
}

fn available_copies(code: &impl Function, output: &Output, is_move: &impl Fn(Inst) -> bool) -> Vec<Found> {
    let mut found = Vec::new();
    let touches_stack = |(_, Edit::Move { from, to }): &(ProgPoint, Edit)| from.is_stack() || to.is_stack();
    if !output.edits.iter().any(touches_stack) {
        return found;
    }
    let n = code.num_blocks();
    let mut entries: Vec<Option<Copies>> = vec![None; n];
    entries[code.entry_block().index()] = Some(Copies::none(output.num_spillslots));
    let mut waiting = vec![false; n];
    waiting[code.entry_block().index()] = true;
    while let Some(first) = waiting.iter().position(|&waits| waits) {
        // Blocks come in an order in which what leads to one stands before it, but for ways back.
        for block in first..n {
            if !std::mem::take(&mut waiting[block]) {
                continue;
            }
            let Some(mut copies) = entries[block].clone() else { continue };
            walk(code, output, Block::new(block), &mut copies, is_move, |_| {});
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
            walk(code, output, Block::new(block), &mut copies, is_move, |what| found.push(what));
        }
    }
    found
}

/// Follows a block.
fn walk(
    code: &impl Function,
    output: &Output,
    block: Block,
    copies: &mut Copies,
    is_move: &impl Fn(Inst) -> bool,
    mut found: impl FnMut(Found),
) {
    let original = |copies: &Copies, from: Allocation| {
        let slot = slot_of(from)?;
        let of = copies.original(slot);
        (of != slot).then(|| Allocation::stack(SpillSlot::new(of as usize)))
    };
    let insts = code.block_insns(block);
    let mut edit = output.edits.partition_point(|&(at, _)| at < ProgPoint::before(insts.first()));
    for inst in insts.iter() {
        while let Some((_, Edit::Move { from, to })) =
            output.edits.get(edit).filter(|&&(at, _)| at <= ProgPoint::before(inst))
        {
            let instead = original(copies, *from);
            if copies.moved(*from, *to) {
                found(Found::Nothing(edit));
            } else if let Some(from) = instead {
                found(Found::Moves(edit, from));
            }
            edit += 1;
        }
        let first = output.inst_alloc_offsets[inst.index()] as usize;
        let allocs = output.inst_allocs(inst);
        for (i, (operand, &alloc)) in code.inst_operands(inst).iter().zip(allocs).enumerate() {
            if operand.kind() == OperandKind::Use
                && let Some(from) = original(copies, alloc)
            {
                found(Found::Reads(first + i, from));
            }
        }
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

/// Leaves out moves of what nobody reads where it is moved to.
fn leave_out_dead(code: &impl Function, output: &mut Output, is_move: impl Fn(Inst) -> bool) {
    let (mut needed, mut dead) = (vec![true; output.edits.len()], Vec::new());
    each_backwards(code, output, &is_move, |step, live| match step {
        Step::Edit(edit, to) if !live.has(to) => needed[edit] = false,
        Step::Inst(inst) if is_move(inst) && !live.has(output.inst_allocs(inst)[1]) => dead.push(inst),
        Step::Edit(..) | Step::Inst(_) => {}
    });
    for inst in dead {
        // It stays where it is.
        let first = output.inst_alloc_offsets[inst.index()] as usize;
        output.allocs[first + 1] = output.allocs[first];
    }
    keep(&mut output.edits, needed);
}

/// Keeps what is needed, by number.
fn keep<X>(all: &mut Vec<X>, needed: Vec<bool>) {
    let mut needed = needed.into_iter();
    all.retain(|_| needed.next() == Some(true));
}

#[cfg(test)]
mod tests {
    use super::*;
    use regalloc2::{InstRange, Operand, OperandConstraint, OperandPos, PRegSet, RegClass, VReg};

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

    /// What an instruction does.
    #[derive(Clone)]
    enum Does {
        Writes(Allocation),
        Reads(Allocation),
        Moves(Allocation, Allocation),
    }

    /// Two instructions to a block, of which these do something. Edits stand before an instruction.
    fn tidied(succs: &[&[usize]], insts: &[(usize, Does)], edits: &[(usize, Allocation, Allocation)]) -> Output {
        let n = 2 * succs.len();
        let r = VReg::new(0, RegClass::Float);
        let any = Operand::new(r, OperandConstraint::Any, OperandKind::Use, OperandPos::Early);
        let (mut operands, mut output) = (Vec::new(), Output::default());
        for i in 0..n {
            output.inst_alloc_offsets.push(output.allocs.len() as u32);
            let does = insts.iter().find(|(at, _)| *at == i).map(|(_, does)| does.clone());
            let (of_inst, allocs) = match does {
                Some(Does::Writes(at)) => (vec![Operand::reg_def(r)], vec![at]),
                Some(Does::Reads(at)) => (vec![any], vec![at]),
                Some(Does::Moves(from, to)) => (vec![any, Operand::reg_def(r)], vec![from, to]),
                None => (Vec::new(), Vec::new()),
            };
            operands.push(of_inst);
            output.allocs.extend(allocs);
        }
        let code = Code {
            operands,
            ranges: (0..succs.len()).map(|b| InstRange::new(Inst::new(2 * b), Inst::new(2 * b + 2))).collect(),
            succs: succs.iter().map(|succs| succs.iter().map(|&b| Block::new(b)).collect()).collect(),
        };
        let edit = |&(at, from, to)| (ProgPoint::before(Inst::new(at)), Edit::Move { from, to });
        output.edits = edits.iter().map(edit).collect();
        output.num_spillslots = 8;
        tidy(&code, &mut output, |inst| code.operands[inst.index()].len() == 2);
        output
    }

    fn moves_of(output: &Output) -> Vec<(usize, Allocation, Allocation)> {
        let of = |&(at, Edit::Move { from, to }): &(ProgPoint, Edit)| (at.inst().index(), from, to);
        output.edits.iter().map(of).collect()
    }

    /// Which of the edits stay; `writes` are the instructions that write register 0.
    fn needed_of(succs: &[&[usize]], writes: &[usize], edits: &[(usize, Allocation, Allocation)]) -> Vec<bool> {
        let writes: Vec<_> = writes.iter().map(|&i| (i, Does::Writes(reg(0)))).collect();
        let left = moves_of(&tidied(succs, &writes, edits));
        edits.iter().map(|edit| left.contains(edit)).collect()
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

    #[test]
    fn a_copy_is_read_where_it_comes_from_and_not_made() {
        // Before a loop that reads it, a value moves from slot 4 to slot 5.
        let copied = [(0, Does::Moves(slot(4), reg(0))), (4, Does::Reads(slot(5))), (7, Does::Reads(reg(2)))];
        let copy = (1, reg(0), slot(5));
        let output = tidied(LOOP, &copied, &[copy, (6, slot(5), reg(2))]);
        assert_eq!(moves_of(&output), [(6, slot(4), reg(2))]);
        assert_eq!(output.allocs, [slot(4), slot(4), slot(4), reg(2)]);
        // Nobody reads what it is moved to behind the loop.
        let output = tidied(LOOP, &copied[..2], &[copy, (6, slot(5), reg(2)), (7, reg(2), slot(7))]);
        assert_eq!(moves_of(&output), []);
        // What it was copied from is written in the loop.
        let edits = [copy, (3, reg(1), slot(4)), (6, slot(5), reg(2))];
        let output = tidied(LOOP, &copied, &edits);
        assert_eq!(moves_of(&output), edits);
        assert_eq!(output.allocs, [slot(4), reg(0), slot(5), reg(2)]);
        // Where it is so on one of the ways only, too.
        let diamond: &[&[usize]] = &[&[1, 2], &[3], &[3], &[]];
        let edits = [copy, (2, reg(1), slot(4)), (6, slot(5), reg(2))];
        assert_eq!(moves_of(&tidied(diamond, &copied, &edits)), [copy, edits[2]]);
    }
}
