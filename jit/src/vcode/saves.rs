//! What calls save.
//!
//! Functions of the program that are called are seldom most of what a region does: of a function that calls itself, most of the work is
//! done where it calls no more. So such calls lose no registers as far as the allocator knows, and what is in registers stays there in
//! all that is executed more often. What a call may destroy and somebody reads behind it (`live`)
//! is saved before it, and loaded behind it, in slots of the frame behind those for what is spilled.

use super::Target;
use super::code::VCode;
use super::inst::Inst;
use super::live::{Places, Step, each_backwards};
use foldhash::{HashMap, HashMapExt};
use regalloc2::{Allocation, Inst as Index, Output, PReg, RegClass, SpillSlot};

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
        each_backwards(code, output, &|inst| code.is_move(inst), |step, live| {
            if let Step::Inst(inst) = step
                && matches!(code.insts[inst.index()], Inst::CallSaving(_))
            {
                saves.save::<T>(inst, live);
            }
        });
        saves
    }

    fn save<T: Target>(&mut self, call: Index, live: &Places) {
        let lost = T::clobbers().into_iter();
        let mut registers: Vec<PReg> = lost.filter(|r| live.has(Allocation::reg(*r))).collect();
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
