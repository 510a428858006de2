//! What calls save.
//!
//! Functions of the program that are called are seldom most of what a region does: of a function that calls itself, most of the work is
//! done where it calls no more. So such calls lose no registers as far as the allocator knows, and what is in registers stays there in
//! all that is executed more often. What a call may destroy and somebody reads behind it (live registers, a data flow problem backwards)
//! is saved before it, and loaded behind it, in slots of the frame behind those for what is spilled.

use super::Target;
use super::code::VCode;
use super::inst::Inst;
use foldhash::{HashMap, HashMapExt};
use regalloc2::{
    Allocation, Block, Edit, Function, Inst as Index, InstOrEdit, OperandKind, Output, PReg, PRegSet, RegClass,
    SpillSlot,
};

/// Words that vectors in slots are aligned to.
const ALIGNED: usize = 8;

/// What the calls of a region save, each register with its slot.
pub(super) struct Saves {
    by_call: HashMap<Index, Vec<(Allocation, Allocation)>>,
    /// The first word of their slots.
    first: usize,
    /// The words of all slots, those included of what is spilled.
    pub words: usize,
}

impl Saves {
    pub fn of<T: Target>(code: &VCode<T>, output: &Output) -> Saves {
        let spilled = output.num_spillslots;
        let mut saves = Saves { by_call: HashMap::new(), first: spilled.next_multiple_of(ALIGNED), words: spilled };
        if !code.insts.iter().any(|inst| matches!(inst, Inst::CallSaving(_))) {
            return saves;
        }
        let live = live_at_beginnings(code, output);
        for block in 0..live.len() {
            let mut live = live_at_end(code, &live, block);
            walk_back(code, output, Block::new(block), &mut live, |inst, live| {
                if matches!(code.insts[inst.index()], Inst::CallSaving(_)) {
                    saves.save::<T>(inst, live);
                }
            });
        }
        saves
    }

    fn save<T: Target>(&mut self, call: Index, live: &PRegSet) {
        let lost = T::clobbers();
        let mut registers: Vec<PReg> = live.into_iter().filter(|r| lost.contains(*r)).collect();
        // Vectors come first, so that all of them are aligned.
        registers.sort_by_key(|r| r.class() != RegClass::Float);
        // (All calls use the same slots.)
        let mut at = self.first;
        let mut saved = Vec::with_capacity(registers.len());
        for r in registers {
            saved.push((Allocation::reg(r), Allocation::stack(SpillSlot::new(at))));
            at += T::spill_slots(r.class());
        }
        self.words = self.words.max(at);
        self.by_call.insert(call, saved);
    }

    /// What a call saves, and where.
    pub fn of_call(&self, call: Index) -> &[(Allocation, Allocation)] {
        self.by_call.get(&call).map_or(&[], Vec::as_slice)
    }
}

/// By block: the registers that are read there or later before they are written.
fn live_at_beginnings<T: Target>(code: &VCode<T>, output: &Output) -> Vec<PRegSet> {
    let mut live = vec![PRegSet::empty(); code.num_blocks()];
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..live.len()).rev() {
            let mut here = live_at_end(code, &live, block);
            walk_back(code, output, Block::new(block), &mut here, |_, _| {});
            changed |= here != live[block];
            live[block] = here;
        }
    }
    live
}

fn live_at_end<T: Target>(code: &VCode<T>, live: &[PRegSet], block: usize) -> PRegSet {
    let mut here = PRegSet::empty();
    code.block_succs(Block::new(block)).iter().for_each(|to| here.union_from(live[to.index()]));
    here
}

/// Follows a block from its end, where these registers live; tells which live behind each instruction.
fn walk_back<T: Target>(
    code: &VCode<T>,
    output: &Output,
    block: Block,
    live: &mut PRegSet,
    mut behind: impl FnMut(Index, &PRegSet),
) {
    let steps: Vec<InstOrEdit<'_>> = output.block_insts_and_edits(code, block).collect();
    for step in steps.into_iter().rev() {
        match step {
            InstOrEdit::Edit(Edit::Move { from, to }) => {
                to.as_reg().into_iter().for_each(|r| live.remove(r));
                from.as_reg().into_iter().for_each(|r| live.add(r));
            }
            InstOrEdit::Inst(inst) => {
                behind(inst, live);
                let registers = |kind: OperandKind| {
                    let both = code.inst_operands(inst).iter().zip(output.inst_allocs(inst));
                    both.filter(move |(operand, _)| operand.kind() == kind).filter_map(|(_, at)| at.as_reg())
                };
                registers(OperandKind::Def).chain(code.inst_clobbers(inst)).for_each(|r| live.remove(r));
                registers(OperandKind::Use).for_each(|r| live.add(r));
            }
        }
    }
}
