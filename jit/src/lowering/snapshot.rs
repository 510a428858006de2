//! The walk over a snapshot: what an exit writes, and where. And where a region finds what it is given.

use crate::ir::{EntryMask, ExitId, Region, Type, Value};
use spmdvm_vm::interp::native::{Context, ENTRY_WORDS, FRAME_WORDS};
use std::mem::offset_of;

/// What the offset of a place is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// The entered frame.
    Frame,
    /// [`Context::words`].
    Words,
    /// [`Context::memory_base`].
    Memory,
}

impl Area {
    /// Where the context has its address.
    pub fn offset(self) -> usize {
        match self {
            Area::Frame => offset_of!(Context, base),
            Area::Words => offset_of!(Context, words),
            Area::Memory => offset_of!(Context, memory_base),
        }
    }
}

/// What an exit writes somewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExitValue {
    /// A value as one of a type: if that varies and the value does not, it is broadcast.
    Value(Type, Value),
    /// A mask as a word.
    MaskBits(Value),
    /// A uniform value as a word.
    Word(Value),
    /// A word that is 0.
    Zero,
}

/// Something that an exit writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitWrite {
    pub area: Area,
    pub at: u64,
    pub what: ExitValue,
}

/// All that an exit writes: of each frame its registers, then its words; then cells of memory.
pub(crate) fn exit_writes(region: &Region, exit: ExitId) -> Vec<ExitWrite> {
    let exit = &region.exits[exit.index()];
    let mut writes = Vec::new();
    let mut word = 0;
    for frame in &exit.frames {
        for reg in &frame.regs {
            let at = u64::from(frame.at) + u64::from(reg.at);
            writes.push(ExitWrite { area: Area::Frame, at, what: ExitValue::Value(reg.ty, reg.value) });
        }
        let mut words = |all: &[ExitValue]| {
            for &what in all {
                writes.push(ExitWrite { area: Area::Words, at: 8 * word, what });
                word += 1;
            }
        };
        let optional = |v: Option<Value>| v.map_or(ExitValue::Zero, ExitValue::Word);
        let own: [_; FRAME_WORDS] = [ExitValue::MaskBits(frame.mask), optional(frame.memory)];
        words(&own);
        for entry in &frame.entries {
            let masks = [entry.restore, entry.other].map(ExitValue::MaskBits);
            let entry: [_; ENTRY_WORDS] = [masks[0], masks[1], optional(entry.visiting)];
            words(&entry);
        }
    }
    let cells = exit.cells.iter();
    writes.extend(cells.map(|&(cell, v)| ExitWrite {
        area: Area::Memory,
        at: cell.at,
        what: ExitValue::Value(cell.ty, v),
    }));
    writes
}

/// The word that has a mask when the region is entered.
pub(crate) fn mask_word(mask: EntryMask) -> usize {
    match mask {
        EntryMask::Execution => 0,
        EntryMask::Restore(i) => FRAME_WORDS + ENTRY_WORDS * i as usize,
        EntryMask::Other(i) => FRAME_WORDS + ENTRY_WORDS * i as usize + 1,
    }
}

/// The word that tells which lane an entry of the mask stack visits.
pub(crate) fn visiting_word(entry: u32) -> usize {
    FRAME_WORDS + ENTRY_WORDS * entry as usize + 2
}
