//! The interpreter's state as the recorder sees it: values of the IR in the place of registers and masks.

use crate::ir::{BlockId, EntryKind, Type, Value};
use foldhash::HashMap;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Reg};
use spmdvm_vm::types::Ty;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A mask: what is known of it, and its value.
///
/// `Full`, `Empty` and `First` are known while recording, so code for them needs no branches; they are part of a
/// block's [`Key`], which makes the same bytecode appear once with all lanes active and once masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// All lanes.
    Full,
    /// No lane.
    Empty,
    /// The first lanes, so many: at least one, and not all.
    First(u32),
    /// At least one lane.
    Some(Value),
    /// Any lanes.
    Any(Value),
    /// The lane of a state that is in the mode of one lane.
    One(Value),
}

impl Mask {
    /// What is known, without the value.
    fn fact(self) -> u32 {
        match self {
            Mask::Full => 0,
            Mask::Empty => 1,
            Mask::Some(_) => 2,
            Mask::Any(_) => 3,
            Mask::One(_) => 4,
            Mask::First(n) => 4 + n,
        }
    }

    /// Its value, if it is not known.
    pub fn value(self) -> Option<Value> {
        match self {
            Mask::Some(v) | Mask::Any(v) | Mask::One(v) => Some(v),
            Mask::Full | Mask::Empty | Mask::First(_) => None,
        }
    }

    fn set_value(&mut self, to: Value) {
        if let Mask::Some(v) | Mask::Any(v) | Mask::One(v) = self {
            *v = to;
        }
    }
}

/// An entry of the mask stack.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub kind: EntryKind,
    pub restore: Mask,
    pub other: Mask,
    pub visiting: Option<Value>,
}

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    pub function: FuncId,
    /// Where it stands: the instruction to execute, or the call that waits.
    pub pc: u32,
    /// Byte offset from the entered frame.
    pub at: u32,
    /// The value of every register; `None` if it has none that is known to the region. A varying register may hold a uniform
    /// value: the same in every lane.
    pub regs: Vec<Option<Value>>,
    /// Its execution mask; the last frame's is the current one.
    pub mask: Mask,
    /// Of registers of which only one lane is at hand: what is in the others. See `one_lane`.
    pub behind: BTreeMap<Reg, Behind>,
    /// Assumptions about its registers ([`Lanes::given`](spmdvm_vm::properties::Lanes)) that are known to be right, and those
    /// of which some is known to be wrong.
    pub holds: u32,
    pub fails: u32,
    /// The pointer to its memory, if the region has made it.
    pub memory: Option<Value>,
    pub entries: Vec<Entry>,
}

/// All frames above the entered one, which is the first.
#[derive(Clone, Debug)]
pub struct State {
    pub frames: Vec<Frame>,
    /// Whether one lane is active, and instructions are recorded for it alone.
    pub one: Option<One>,
    /// Speculated-uniform registers: varying ones that hold the same in all lanes because a test has just shown it, and what
    /// follows from them: frame and register. Where this is so and where it is not, there are blocks of their own.
    pub speculated: BTreeSet<(u32, Reg)>,
    /// Loops in the middle of which it is, whose rounds are recorded one after another; the outer ones first.
    pub unrolled: Vec<Unrolled>,
    /// The lane for which that is to begin: a block of its own leads there, so that what is made of registers is made once.
    pub entering: Option<Value>,
}

/// A loop of which each round has blocks of its own; see `unroll`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrolled {
    /// The frame, and its function.
    pub frame: usize,
    pub function: FuncId,
    /// The loop's header.
    pub header: u32,
    /// Registers of the frame that are constants in the blocks: counter and bound.
    pub kept: [(Reg, u64); 2],
    /// How many rounds it has, as far as is known.
    pub rounds: u32,
}

/// The mode in which one lane is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct One {
    /// Which lane: a uniform `i32`.
    pub lane: Value,
    /// The frame in which the mode was entered.
    pub frame: usize,
    /// The first frame in which no other lane comes back: what its registers hold in others need not be right if nobody sees it.
    pub alone_from: usize,
}

/// What is in the other lanes of a register of which one is at hand.
#[derive(Clone, Debug)]
pub enum Behind {
    /// Those of a vector.
    Vector(Value),
    /// Those of what an operation makes, if anybody asks.
    Made(Rc<Made>),
}

/// An operation on whole registers that has not been recorded.
#[derive(Debug)]
pub struct Made {
    pub op: Op,
    pub ty: Ty,
    pub from: Ty,
    /// Its operands: the value, and what is behind it.
    pub args: Vec<(Value, Option<Behind>)>,
    /// Its result, once it has been recorded, and the block in which.
    pub value: Cell<Option<(BlockId, Value)>>,
}

impl State {
    /// The executing frame.
    pub fn top(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    /// The executing frame.
    pub fn top_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The execution mask.
    pub fn mask(&self) -> Mask {
        self.top().mask
    }

    /// Sets the execution mask.
    pub fn set_mask(&mut self, mask: Mask) {
        self.top_mut().mask = mask;
    }

    /// Position and facts: states with equal keys share a block.
    pub fn key(&self) -> Key {
        let mut key = Vec::with_capacity(self.frames.len() * 4 + 1);
        let one = self.one.map_or(0, |one| 2 * one.frame as u32 + (one.alone_from - one.frame) as u32 + 1);
        key.push(one << 1 | self.entering.is_some() as u32);
        key.push(self.speculated.len() as u32);
        key.extend(self.speculated.iter().flat_map(|&(frame, reg)| [frame, reg.0]));
        key.push(self.unrolled.len() as u32);
        for unrolled in &self.unrolled {
            key.push(unrolled.frame as u32);
            key.extend(unrolled.kept.iter().flat_map(|&(reg, bits)| [reg.0, bits as u32, (bits >> 32) as u32]));
        }
        for frame in &self.frames {
            key.extend([frame.function.0, frame.pc, frame.mask.fact(), frame.holds, frame.fails]);
            for e in &frame.entries {
                key.extend([e.restore.fact(), e.other.fact(), e.visiting.is_some() as u32]);
            }
        }
        Key(key)
    }

    /// How many of the frames are a function's.
    pub fn frames_of(&self, function: FuncId) -> usize {
        self.frames.iter().filter(|frame| frame.function == function).count()
    }

    /// Returns whether a register of a frame is a constant in the blocks of a loop that is unrolled.
    pub fn keeps(&self, frame: usize, reg: Reg) -> bool {
        self.unrolled.iter().any(|u| u.frame == frame && u.kept.iter().any(|kept| kept.0 == reg))
    }

    /// Every mask, to be changed, in a fixed order.
    pub fn masks_mut(&mut self) -> impl Iterator<Item = &mut Mask> {
        self.frames.iter_mut().flat_map(|f| {
            let entries = f.entries.iter_mut().flat_map(|e| [&mut e.restore, &mut e.other]);
            std::iter::once(&mut f.mask).chain(entries)
        })
    }

    /// The values of masks that are not known, the lanes that are visited, and the pointers to memory of frames, in a fixed
    /// order.
    pub fn mask_values(&self) -> Vec<Value> {
        let masks = self.frames.iter().flat_map(|f| {
            let entries = f.entries.iter().flat_map(|e| [e.restore, e.other]);
            std::iter::once(f.mask).chain(entries)
        });
        let visiting = self.frames.iter().flat_map(|f| f.entries.iter().filter_map(|e| e.visiting));
        let memory = self.frames.iter().filter_map(|f| f.memory);
        masks
            .filter_map(Mask::value)
            .chain(visiting)
            .chain(memory)
            .chain(self.one.map(|one| one.lane))
            .chain(self.entering)
            .collect()
    }

    /// Replaces what [`mask_values`](Self::mask_values) gives.
    pub fn set_mask_values(&mut self, values: &[Value]) {
        let mut values = values.iter().copied();
        for mask in self.masks_mut() {
            if mask.value().is_some()
                && let Some(v) = values.next()
            {
                mask.set_value(v);
            }
        }
        for entry in self.frames.iter_mut().flat_map(|f| &mut f.entries) {
            if let Some(old) = &mut entry.visiting {
                *old = values.next().unwrap_or(*old);
            }
        }
        for old in self.frames.iter_mut().filter_map(|f| f.memory.as_mut()) {
            *old = values.next().unwrap_or(*old);
        }
        if let Some(one) = &mut self.one {
            one.lane = values.next().unwrap_or(one.lane);
        }
        if let Some(lane) = &mut self.entering {
            *lane = values.next().unwrap_or(*lane);
        }
    }
}

/// An address in the memory of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramePlace {
    /// Which frame, counted from the entered one.
    pub of: usize,
    pub function: FuncId,
    /// Byte offset of the frame from the entered one.
    pub at: u32,
    /// Byte offset in its memory.
    pub offset: i64,
}

/// What a register holds, where that is known without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// An address in the memory of a frame.
    Place(FramePlace),
    /// A function's value.
    Function(u64),
}

/// What distinguishes blocks of a region.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(Vec<u32>);

/// A register of a frame of the state at a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    pub frame: usize,
    pub reg: Reg,
}

/// A register that is a parameter of a block.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub slot: Slot,
    pub ty: Type,
    /// Whether another parameter follows with what is in the other lanes.
    pub parted: bool,
}

/// A block and the state it begins with: what its parameters stand for.
pub struct Target {
    pub block: BlockId,
    /// Registers that are parameters; the masks' values follow.
    pub slots: Vec<Parameter>,
    /// Registers that hold the same in all states of the block.
    pub known: Vec<(Slot, Fixed)>,
}

/// Blocks by key.
pub type Targets = HashMap<Key, Target>;
