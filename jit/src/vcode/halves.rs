//! Which registers hold no more than half of a vector, for moves of no more than that.
//!
//! While operations on 512 bits are on their way, processors by Intel have one unit less for vectors (Intel's "Optimization Reference
//! Manual", on AVX-512). A loop on vectors of 256 bits, with moves that are whole only because registers are, took up to 1.7 times as long.
//!
//! A register holds half a vector if the instruction that has written it last has written no more, and with it made the rest 0, as the
//! encodings do. At the beginning of a block, it does so if it does at the end of all blocks that lead there: a forward analysis of
//! where the register allocator has put everything, until nothing changes. Of what is spilled all is stored, so
//! that it may be loaded either way.

use super::Target;
use super::code::VCode;
use super::inst::{Inst, MachInst};
use regalloc2::{Allocation, Block, Edit, Function, InstOrEdit, Output, RegClass};

/// Registers of a class, in the encodings of all machines.
const REGISTERS: usize = 64;

/// Which registers, and places for what is spilled, may hold more than half a vector.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Whole(Vec<u64>);

impl Whole {
    fn place(at: Allocation) -> Option<usize> {
        match at.as_reg() {
            Some(register) => (register.class() == RegClass::Float).then(|| register.hw_enc()),
            None => at.as_stack().map(|slot| REGISTERS + slot.index()),
        }
    }

    fn has(&self, at: Allocation) -> bool {
        Whole::place(at).is_none_or(|i| self.0[i / 64] >> (i % 64) & 1 != 0)
    }

    fn set(&mut self, at: Allocation, whole: bool) {
        if let Some(i) = Whole::place(at) {
            let (word, bit) = (&mut self.0[i / 64], 1 << (i % 64));
            *word = if whole { *word | bit } else { *word & !bit };
        }
    }

    /// Adds what another way brings. Returns whether that changes anything.
    fn join(&mut self, other: &Whole) -> bool {
        let before = self.clone();
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
        *self != before
    }

    /// A move; gives whether it need not be a whole one.
    pub fn moves_half(&mut self, from: Allocation, to: Allocation) -> bool {
        let whole = self.has(from);
        self.set(to, whole);
        !whole && to.is_reg()
    }

    /// An instruction that is no move.
    pub fn write<T: Target>(&mut self, inst: &Inst<T>, allocs: &[Allocation]) {
        match inst {
            Inst::Plain(plain) => plain.each_vector_written(allocs, &mut |at, whole| self.set(at, whole)),
            Inst::Zero(_) => self.set(allocs[0], false),
            _ => {}
        }
    }
}

/// What holds where each block begins; nothing if that is of no use.
pub(super) fn at_blocks<T: Target>(code: &VCode<T>, output: &Output) -> Option<Vec<Whole>> {
    if !T::MOVES_HALVES {
        return None;
    }
    let n = code.num_blocks();
    let words = (REGISTERS + output.num_spillslots).div_ceil(64);
    let mut at: Vec<Option<Whole>> = vec![None; n];
    at[code.entry_block().index()] = Some(Whole(vec![u64::MAX; words]));
    let mut work = vec![code.entry_block()];
    while let Some(block) = work.pop() {
        let Some(mut state) = at[block.index()].clone() else { continue };
        for step in output.block_insts_and_edits(code, block) {
            match step {
                InstOrEdit::Edit(Edit::Move { from, to }) => {
                    state.moves_half(*from, *to);
                }
                InstOrEdit::Inst(i) => match (&code.insts[i.index()], output.inst_allocs(i)) {
                    (Inst::Move { .. }, &[from, to]) => {
                        state.moves_half(from, to);
                    }
                    (inst, allocs) => state.write(inst, allocs),
                },
            }
        }
        for &next in code.block_succs(block) {
            let changed = match &mut at[next.index()] {
                Some(known) => known.join(&state),
                none => none.replace(state.clone()).is_none(),
            };
            if changed && !work.contains(&next) {
                work.push(next);
            }
        }
    }
    let whole = Whole(vec![u64::MAX; words]);
    Some(at.into_iter().map(|state| state.unwrap_or_else(|| whole.clone())).collect())
}

/// The beginning of a block, where nothing is known of halves.
pub(super) fn at_block(known: &Option<Vec<Whole>>, block: Block) -> Option<Whole> {
    known.as_ref().map(|known| known[block.index()].clone())
}
