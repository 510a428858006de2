//! The trace IR: what a hot loop becomes between the bytecode and a back end.
//!
//! A [`Region`] is a small control-flow graph in SSA form with block parameters and one entry. Its values are uniform (one
//! scalar) or varying (one element per lane; lanes are a count, not a machine type); a varying `bool` is a mask, and
//! execution masks are ordinary values of that type. There is no execution mask beside them: what the bytecode masks, the
//! IR says with `select`, masked memory operations and branches.
//!
//! Elementwise operations are the rows of the VM's operation table, with the meaning `vm::sem` gives them; [`Kind`] adds
//! what a region needs besides. An operation that can fail (a [`Kind::Guard`], a memory access) names an [`Exit`]: the
//! whole state of the interpreter just before the instruction it stands for. The region then ends, and the interpreter does
//! that instruction itself: it traps, prints, or goes the rare way, exactly as it always does.
//!
//! Invariants ([`verify`] checks them): definitions dominate uses, block 0 has no parameters and no predecessors, types
//! and shapes fit, effects stay in order.

mod build;
mod display;
mod verify;

pub use build::Builder;
pub(crate) use verify::unsigned;
pub use verify::verify;

use crate::settings::Variant;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Reg};
use spmdvm_vm::types::{Shape, Ty, Width};
use std::ops::Range;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// One scalar, or one element per lane.
    pub shape: Shape,
    /// The element type.
    pub ty: Ty,
}

impl Type {
    /// A mask: one bool per lane.
    pub const MASK: Type = Type::varying(Ty::Bool);
    /// A uniform bool: what branches test.
    pub const BOOL: Type = Type::uniform(Ty::Bool);

    /// One scalar.
    pub const fn uniform(ty: Ty) -> Type {
        Type { shape: Shape::Uniform, ty }
    }

    /// One element per lane.
    pub const fn varying(ty: Ty) -> Type {
        Type { shape: Shape::Varying, ty }
    }

    /// Is there one element per lane?
    pub fn is_varying(self) -> bool {
        self.shape == Shape::Varying
    }
}

macro_rules! index {
    ($(#[$doc:meta])* $Name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $Name(pub u32);

        impl $Name {
            /// Its number, as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A value, by index into [`Region::types`].
    Value
}
index! {
    /// A block, by index into [`Region::blocks`].
    BlockId
}
index! {
    /// An exit, by index into [`Region::exits`].
    ExitId
}

/// One of the masks that the interpreter holds when a region is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryMask {
    /// The execution mask.
    Execution,
    /// `restore` of an entry of the frame's mask stack, counted from the bottom.
    Restore(u32),
    /// `other` of such an entry.
    Other(u32),
}

/// A memory operand `base + index * scale + disp`, plus `lane * size` if `by_lane`; as in the bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The index's type, if there is one.
    pub index: Option<Ty>,
    /// What the index is multiplied by.
    pub scale: u32,
    /// What is added, in bytes.
    pub disp: i64,
    /// Do lanes lie one after another?
    pub by_lane: bool,
}

/// What an instruction does. Arguments are listed in parentheses, results after the arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `() → uniform`. The bits of a constant of the result's type.
    Const(u64),
    /// `() → any`. A register of the entered frame as it was at entry; `at` is its offset in the frame. Block 0 only.
    EntryReg {
        /// Byte offset from the frame's base.
        at: u32,
    },
    /// `() → mask`. A mask of the entered frame as it was at entry. Block 0 only.
    EntryMask(EntryMask),
    /// `() → uniform i32`. For an `each.all` entry: the lane being visited plus one, else 0; as it was at entry. Block 0 only.
    EntryVisiting(u32),
    /// `() → uniform u64`. The pointer to the memory of the entered frame.
    FrameAddress,
    /// `() → uniform u64`. The host address at a byte offset from where the memory of frames is told by. It lies in the memory
    /// of a frame of the function.
    FrameHost {
        /// The function.
        function: FuncId,
        /// The offset.
        at: u64,
    },
    /// `() → uniform u64`. Enters the memory of a frame that the region makes, zeroed, and gives the pointer to it.
    FrameOpen {
        /// Its function.
        function: FuncId,
        /// Byte offset of the frame from the base of the entered one.
        at: u32,
        /// Where to go if there can be no more regions.
        exit: ExitId,
    },
    /// `(uniform u64 pointer)`. Ends the memory of a frame that the region has made.
    FrameClose,
    /// `(operands…, mask) → the result's type, if it has one`. Executes an instruction by the interpreter's handler on registers
    /// of its frame; see [`Site`]. Leaves by the exit, with nothing done, if it traps.
    Interpret {
        /// Which, by index into [`Region::sites`].
        site: u32,
        /// Where to go if it traps.
        exit: ExitId,
    },
    /// An operation of the table that is elementwise (also `select`, `cvt`, `bitcast`, `padd`) or one of `iota`, `shuffle`,
    /// `extract`, `insert`; the arguments and shapes are the bytecode's (uniform arguments of a varying result are
    /// broadcast). `idiv` and `irem` have no zero among their divisors, in any lane.
    Op {
        /// The operation.
        op: Op,
        /// Its type.
        ty: Ty,
        /// The source type of `cvt` and `bitcast`; else equal to `ty`.
        from: Ty,
    },
    /// `(uniform) → varying`. The same value in every lane.
    Splat,
    /// `(mask) → uniform u64`. Bit *i* is lane *i*.
    MaskBits,
    /// `(uniform u64) → mask`. Bits beyond the lanes are ignored.
    MaskFromBits,
    /// `(mask) → uniform bool`. Is it true in some lane?
    AnyLane,
    /// `(varying) → uniform`. A reduction of the table over all lanes, by halving.
    Reduce {
        /// `reduce.add`, `reduce.mul` …
        op: Op,
        /// The element type.
        ty: Ty,
    },

    /// `(uniform u64 pointer) → uniform u64`. Host address of byte 0 of the pointer's memory region.
    RegionBase,
    /// `(uniform u64 pointer) → uniform u64`. Bytes of the pointer's memory region that may be read (or written); 0 if none.
    RegionLen {
        /// For writing?
        write: bool,
    },
    /// `(uniform u64 pointer) → uniform u64`. Host address of the pointer's region plus the pointer's offset plus `disp`
    /// (wrapping: it need not lie in the region).
    HostAddress {
        /// Displacement.
        disp: i64,
    },
    /// `(uniform u64 pointer) → uniform ty`. The least index *i* of type `ty` for which `offset_of(pointer) + disp +
    /// i*scale` is not negative (cut to the type's range).
    IndexLow {
        /// Bytes between elements; not 0.
        scale: u32,
        /// Displacement.
        disp: i64,
        /// The index's type: `i32 u32 i64 u64`.
        ty: Ty,
    },
    /// `(uniform u64 pointer, uniform u64 length) → uniform unsigned of ty's size`. How many indices from `IndexLow` on are
    /// such that `need` bytes at the address still lie within the length (cut to the type's range, and so that
    /// none of them is above the type's maximum less 63: lanes counted from it do not wrap around). So an index is in bounds when `index - low`, taken as unsigned, is less than this.
    IndexSpan {
        /// Bytes between elements; not 0.
        scale: u32,
        /// Displacement.
        disp: i64,
        /// Bytes accessed at the address.
        need: u32,
        /// The index's type.
        ty: Ty,
    },
    /// `(uniform u64 host address) → uniform ty`.
    Load {
        /// The element type.
        ty: Ty,
    },
    /// `(uniform u64 host address) → varying ty`. Lane *l* is at the address plus *l* elements; all of them may be read.
    LoadLanes {
        /// The element type.
        ty: Ty,
    },
    /// `(uniform u64 host address) → varying ty`. Lane *l* is at the address plus *l* strides; all of them may be read.
    LoadStrided {
        /// The element type.
        ty: Ty,
        /// Bytes from lane to lane.
        stride: i32,
    },
    /// `(uniform u64 host address, varying index, mask) → varying ty`. Active lane *l* is at `address + index[l] * scale`;
    /// the others give 0.
    Gather {
        /// The element type.
        ty: Ty,
        /// The index's type, extended by its sign.
        index: Ty,
        /// Bytes between elements.
        scale: u32,
    },
    /// `(uniform u64 host address, uniform ty)`.
    Store {
        /// The element type.
        ty: Ty,
    },
    /// `(uniform u64 host address, varying ty)`. As `LoadLanes`.
    StoreLanes {
        /// The element type.
        ty: Ty,
    },
    /// `(uniform u64 host address, varying ty)`. As `LoadStrided`, ascending.
    StoreStrided {
        /// The element type.
        ty: Ty,
        /// Bytes from lane to lane.
        stride: i32,
    },
    /// `(uniform u64 host address, varying ty, mask)`. As `StoreLanes`, but touches nothing of inactive lanes.
    StoreMasked {
        /// The element type.
        ty: Ty,
    },
    /// `(uniform u64 host address)`. Zeroes so many bytes.
    Clear {
        /// How many.
        bytes: u32,
    },
    /// `(uniform u64 host address, varying index, varying ty, mask)`. As `Gather`, ascending; touches nothing of inactive
    /// lanes.
    Scatter {
        /// The element type.
        ty: Ty,
        /// The index's type.
        index: Ty,
        /// Bytes between elements.
        scale: u32,
    },
    /// `(base u64, [index,] mask) → ty`, uniform if neither base nor index is varying and lanes do not lie one after another.
    /// The whole memory operation on pointers of the sandbox, checked, whatever the shapes; leaves by the exit, without any
    /// effect, if an active lane may not read.
    LoadAny {
        /// The element type.
        ty: Ty,
        /// The operand.
        address: Address,
        /// Where to go if it fails.
        exit: ExitId,
    },
    /// `(base u64, [index,] value, mask)`. As `LoadAny`.
    StoreAny {
        /// The element type.
        ty: Ty,
        /// The operand.
        address: Address,
        /// Where to go if it fails.
        exit: ExitId,
    },

    /// `(uniform bool)`. Leaves by the exit if it is false.
    Guard {
        /// Where to go.
        exit: ExitId,
    },
    /// `()`. Counts one unit of fuel; leaves by the exit (without counting) when a poll says that the run must end.
    Tick {
        /// Where to go.
        exit: ExitId,
    },
    /// `(uniform u64 most) → uniform u64`. Counts as many units of fuel as are left without a poll, but at most so many; gives
    /// how many.
    Ticks,
    /// `()`. Adds one to a counter of the region's statistics.
    Count(u32),
    /// `() → uniform bool`. True, but false in so many of 65536 executions, which come as if at random; also adds one to a
    /// counter. What [`stress`](crate::stress) makes guards fail by.
    Chance {
        /// The counter, which is the state of the generator too.
        counter: u32,
        /// How often it is false.
        odds: u32,
    },
}

impl Kind {
    /// May the instruction be removed when its result is not used, moved, and merged with an equal one? (Loads are not:
    /// memory changes.)
    pub fn is_pure(self) -> bool {
        use Kind::*;
        let other = matches!(
            self,
            LoadAny { .. }
                | StoreAny { .. }
                | Guard { .. }
                | Tick { .. }
                | Ticks
                | Count(_)
                | Chance { .. }
                | FrameOpen { .. }
                | FrameClose
                | Interpret { .. }
        );
        !other && !self.is_plain_load() && !self.is_plain_store()
    }

    /// Is it a load that cannot fail: removable if not used?
    pub fn is_plain_load(self) -> bool {
        matches!(self, Kind::Load { .. } | Kind::LoadLanes { .. } | Kind::LoadStrided { .. } | Kind::Gather { .. })
    }

    /// Is it a store that cannot fail?
    pub fn is_plain_store(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Store { .. } | StoreLanes { .. } | StoreStrided { .. } | StoreMasked { .. } | Scatter { .. } | Clear { .. }
        )
    }

    /// The exit it may leave by.
    pub fn exit(mut self) -> Option<ExitId> {
        self.exit_mut().copied()
    }

    /// The exit it may leave by, to be changed.
    pub fn exit_mut(&mut self) -> Option<&mut ExitId> {
        match self {
            Kind::LoadAny { exit, .. }
            | Kind::StoreAny { exit, .. }
            | Kind::FrameOpen { exit, .. }
            | Kind::Interpret { exit, .. }
            | Kind::Guard { exit }
            | Kind::Tick { exit } => Some(exit),
            _ => None,
        }
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub kind: Kind,
    /// Its arguments.
    pub args: Vec<Value>,
    /// Its result, if it has one.
    pub result: Option<Value>,
}

/// A jump with the values of the target's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block.
    pub to: BlockId,
    /// One value per parameter.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Goes on.
    Jump(Edge),
    /// Goes on by a uniform bool.
    Branch {
        /// The condition.
        cond: Value,
        /// Taken if it is true.
        then: Edge,
        /// Taken if it is false.
        other: Edge,
    },
    /// Leaves the region.
    Exit(ExitId),
}

impl End {
    /// The edges to other blocks.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        let (a, b) = match self {
            End::Jump(edge) => (Some(edge), None),
            End::Branch { then, other, .. } => (Some(then), Some(other)),
            End::Exit(_) => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// The edges to other blocks, to be changed.
    pub fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let (a, b) = match self {
            End::Jump(edge) => (Some(edge), None),
            End::Branch { then, other, .. } => (Some(then), Some(other)),
            End::Exit(_) => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Values that every edge to it brings.
    pub params: Vec<Value>,
    /// Its instructions.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub end: End,
    /// Is it entered rarely? Back ends place it out of the way.
    pub cold: bool,
}

/// A register of a frame and the value it holds at an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegState {
    /// The register.
    pub reg: Reg,
    /// Byte offset from the frame's base.
    pub at: u32,
    /// Its type; a uniform value in a varying register is broadcast.
    pub ty: Type,
    /// The value.
    pub value: Value,
}

/// What pushed a mask entry.
pub use spmdvm_vm::interp::EntryKind;

/// An entry of a frame's mask stack at an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryState {
    /// What pushed it.
    pub kind: EntryKind,
    /// The mask to come back to.
    pub restore: Value,
    /// Lanes that wait.
    pub other: Value,
    /// Of an `each.all` entry: the lane being visited plus one (uniform `i32`).
    pub visiting: Option<Value>,
}

/// A frame of the interpreter at an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameState {
    /// Its function.
    pub function: FuncId,
    /// Where it stands: the instruction to execute next; in all frames but the last, the call that waits.
    pub pc: u32,
    /// Byte offset of the frame from the base of the entered frame.
    pub at: u32,
    /// Registers that were changed in the region and may be read later.
    pub regs: Vec<RegState>,
    /// Its execution mask.
    pub mask: Value,
    /// The pointer to its memory, if it has some and the region has made it.
    pub memory: Option<Value>,
    /// Its part of the mask stack, from the bottom.
    pub entries: Vec<EntryState>,
}

/// An instruction that a region leaves to the interpreter's handler without leaving the region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The function.
    pub function: FuncId,
    /// The instruction.
    pub pc: u32,
    /// Byte offset of its frame from the base of the entered one.
    pub at: u32,
    /// The registers of its operands: offset in the frame, and type.
    pub operands: Vec<(u32, Type)>,
    /// The register of its result.
    pub result: Option<(u32, Type)>,
}

/// Did a variant suit?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Its code ran.
    Hit,
    /// Its test failed, and other code ran.
    Missed,
}

impl Outcome {
    /// Its name, as statistics have it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Hit => "hit",
            Outcome::Missed => "missed",
        }
    }
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// How a variant does at a place.
    Variant {
        /// The variant.
        variant: Variant,
        /// The instruction it was made for.
        place: (FuncId, u32),
        /// Which outcome is counted.
        outcome: Outcome,
    },
    /// Executions of a [`Kind::Chance`].
    Chance,
}

/// Why regions are left, where the engine must know.
pub mod why {
    /// The loop has ended.
    pub const END: &str = "end of loop";
    /// The run must end or wait, or another thread needs something.
    pub const POLL: &str = "poll";
    /// A way that was never taken before, and left out.
    pub const NEVER_TAKEN: &str = "a way that was never taken before";
}

/// The memory of a frame that no address outside of the region leads to, except for frames that the region knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateMemory {
    /// The frame's function.
    pub function: FuncId,
    /// Byte offset of the frame from the base of the entered one; 0 for the entered one itself.
    pub at: u32,
    /// Where it begins, as [`Kind::FrameHost`] tells.
    pub start: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// Bytes of private memory that may be read after an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveMemory {
    /// Which memory, by index into [`Region::private`].
    pub memory: usize,
    /// The bytes.
    pub bytes: Vec<Range<i64>>,
}

/// A cell of private memory that is kept as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The frame's function.
    pub function: FuncId,
    /// Where it lies, as [`Kind::FrameHost`] tells.
    pub at: u64,
    /// One scalar, or one after another for all lanes.
    pub ty: Type,
}

/// A snapshot: the state of the interpreter where a region is left. Frame 0 is the entered one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The frames, outermost first.
    pub frames: Vec<FrameState>,
    /// What is to be written to cells of memory.
    pub cells: Vec<(Cell, Value)>,
    /// Until cells are promoted: what may be read later of the private memory of its frames.
    pub live: Vec<LiveMemory>,
    /// Why it is there, for statistics (`guard: …`, `end of loop`).
    pub why: &'static str,
}

impl Exit {
    /// All values that the snapshot needs.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        let in_frames = self.frames.iter().flat_map(|f| {
            let regs = f.regs.iter().map(|r| r.value);
            let entries = f.entries.iter().flat_map(|e| [Some(e.restore), Some(e.other), e.visiting]).flatten();
            regs.chain([f.mask]).chain(f.memory).chain(entries)
        });
        in_frames.chain(self.cells.iter().map(|(_, v)| *v))
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let in_frames = self.frames.iter_mut().flat_map(|f| {
            let regs = f.regs.iter_mut().map(|r| &mut r.value);
            let entries = f
                .entries
                .iter_mut()
                .flat_map(|e| [Some(&mut e.restore), Some(&mut e.other), e.visiting.as_mut()].into_iter().flatten());
            regs.chain([&mut f.mask]).chain(&mut f.memory).chain(entries)
        });
        in_frames.chain(self.cells.iter_mut().map(|(_, v)| v))
    }
}

/// A region.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Number of lanes.
    pub width: Width,
    /// The function whose loop it is.
    pub function: FuncId,
    /// The loop's head: the instruction at which the region is entered.
    pub pc: u32,
    /// The type of every value.
    pub types: Vec<Type>,
    /// Blocks; block 0 is the entry.
    pub blocks: Vec<Block>,
    /// Snapshots.
    pub exits: Vec<Exit>,
    /// What [`Kind::Interpret`] names.
    pub sites: Vec<Site>,
    /// Memory of frames that is private.
    pub private: Vec<PrivateMemory>,
    /// What the counters count.
    pub counters: Vec<Counter>,
    /// Uniform registers of the entered frame that the loop does not change and that decide something in it: what is worth
    /// to be a constant.
    pub arguments: Vec<Reg>,
    /// Bytes of register frames, from the base of the entered one, that the region needs.
    pub frame_bytes: u64,
    /// Most frames above the entered one.
    pub depth: usize,
}

impl Region {
    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.types[v.index()]
    }

    /// Does it end, whatever happens, before the first instruction of the loop?
    pub fn leaves_at_once(&self) -> bool {
        match self.blocks[0].end {
            End::Exit(exit) => matches!(&self.exits[exit.index()].frames[..], [frame] if frame.pc == self.pc),
            _ => false,
        }
    }

    /// A new value, to be defined.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// The block.
    pub fn block(&self, b: BlockId) -> &Block {
        &self.blocks[b.index()]
    }
}
