//! Which registers and slots are live, once the register allocator has chosen them: a data flow problem backwards.

use regalloc2::{Allocation, Block, Edit, Function, Inst, InstOrEdit, OperandKind, Output, PReg, ProgPoint};

/// Registers and slots, a bit each.
#[derive(Clone, PartialEq)]
pub(super) struct Places(Vec<u64>);

impl Places {
    fn bit(at: Allocation) -> Option<(usize, u64)> {
        let register = at.as_reg().map(|r| r.index());
        let i = register.or_else(|| Some(PReg::NUM_INDEX + at.as_stack()?.index()))?;
        Some((i / 64, 1 << (i % 64)))
    }

    pub fn has(&self, at: Allocation) -> bool {
        Places::bit(at).is_none_or(|(word, bit)| self.0[word] & bit != 0)
    }

    fn add(&mut self, at: Allocation) {
        if let Some((word, bit)) = Places::bit(at) {
            self.0[word] |= bit;
        }
    }

    fn remove(&mut self, at: Allocation) {
        if let Some((word, bit)) = Places::bit(at) {
            self.0[word] &= !bit;
        }
    }
}

/// What is executed.
pub(super) enum Step {
    /// The edit of this number, and where it moves to.
    Edit(usize, Allocation),
    Inst(Inst),
}

/// Visits all that is executed, block by block and each from its end, with what is live behind it. A move to what is not live reads
/// nothing; `is_move` tells the instructions that move their first operand to their second.
pub(super) fn each_backwards(
    code: &impl Function,
    output: &Output,
    is_move: &impl Fn(Inst) -> bool,
    mut visit: impl FnMut(Step, &Places),
) {
    let n = code.num_blocks();
    let none = Places(vec![0; (PReg::NUM_INDEX + output.num_spillslots).div_ceil(64)]);
    let mut live = vec![none.clone(); n];
    let at_end = |live: &[Places], block: usize| {
        let mut here = none.clone();
        for to in code.block_succs(Block::new(block)) {
            here.0.iter_mut().zip(&live[to.index()].0).for_each(|(here, there)| *here |= there);
        }
        here
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..n).rev() {
            let mut here = at_end(&live, block);
            walk_back(code, output, Block::new(block), &mut here, is_move, |_, _| {});
            changed |= here != live[block];
            live[block] = here;
        }
    }
    for block in 0..n {
        walk_back(code, output, Block::new(block), &mut at_end(&live, block), is_move, &mut visit);
    }
}

/// Follows a block from its end, where these are live.
fn walk_back(
    code: &impl Function,
    output: &Output,
    block: Block,
    live: &mut Places,
    is_move: &impl Fn(Inst) -> bool,
    mut visit: impl FnMut(Step, &Places),
) {
    let first = ProgPoint::before(code.block_insns(block).first());
    let steps: Vec<InstOrEdit<'_>> = output.block_insts_and_edits(code, block).collect();
    let edits = steps.iter().filter(|step| matches!(step, InstOrEdit::Edit(_))).count();
    let mut edit = output.edits.partition_point(|&(at, _)| at < first) + edits;
    for step in steps.into_iter().rev() {
        match step {
            InstOrEdit::Edit(&Edit::Move { from, to }) => {
                edit -= 1;
                visit(Step::Edit(edit, to), live);
                if live.has(to) {
                    live.remove(to);
                    live.add(from);
                }
            }
            InstOrEdit::Inst(inst) => {
                visit(Step::Inst(inst), live);
                let allocs = output.inst_allocs(inst);
                if is_move(inst) && !live.has(allocs[1]) {
                    continue;
                }
                let operands = || code.inst_operands(inst).iter().zip(allocs);
                let of_kind = |kind| operands().filter(move |(operand, _)| operand.kind() == kind).map(|(_, &at)| at);
                of_kind(OperandKind::Def).for_each(|at| live.remove(at));
                code.inst_clobbers(inst).into_iter().for_each(|r| live.remove(Allocation::reg(r)));
                of_kind(OperandKind::Use).for_each(|at| live.add(at));
            }
        }
    }
}
