//! What instructions do.

use super::ExitId;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::{Ty, Width};

/// How far an index in bounds may be moved up without wrapping around: so many indices at the end of a type are left to the
/// interpreter. A round of a stencil on planes of some hundred thousand elements checks its neighbours at once.
pub const SPARE_INDICES: i64 = (1 << 20) - 1;

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
    /// Whether lanes lie one after another.
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
    /// `() → uniform u64`. 1 if other threads that run the program may be accessing memory, else 0.
    IsShared,
    /// `() → uniform u64`. The host address at a byte offset from where the memory of frames is told by. It lies in the memory
    /// of a frame of the function.
    FrameHost {
        /// The function.
        function: FuncId,
        /// The offset.
        at: u64,
        /// Of an address that others are counted from: where all that is accessed at these begins and ends, if that is known.
        within: Option<(u64, u64)>,
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
    /// `()`. Makes a frame whose memory is not entered, as nothing in the region asks for its addresses: the number that its region
    /// would have had is passed over, and an exit enters it if the frame is still there.
    FramePass,
    /// `(uniform u64 n)`. The same for so many frames in each of `n` rounds of a loop, in advance.
    FramePasses {
        /// Frames in a round.
        each: u32,
    },
    /// `(operands…, mask) → the result's type, if it has one`. Executes an instruction by the interpreter's handler on registers
    /// of its frame; see [`HandlerCall`]. Leaves by the exit, with nothing done, if it traps.
    Interpret {
        /// Which, by index into [`Region::handler_calls`].
        site: u32,
        /// Where to go if it traps.
        exit: ExitId,
    },
    /// `(arguments…, mask)`. Makes the call of a known function at which the exit stands, by regions of the callee's own: puts the
    /// arguments in the callee's frame, and goes on once the call has returned, with its results in their
    /// [registers](Kind::Returned). Leaves by the exit if the call did not come back, or was not made.
    Call {
        /// Which, by index into [`Region::call_sites`].
        site: u32,
        /// Where it stands.
        exit: ExitId,
    },
    /// `(arguments…)`. The same, of a function that is known only when it is called: writes what leaving by the exit would write, and the
    /// interpreter's handler makes the call.
    CallIndirect {
        /// Where it stands.
        exit: ExitId,
    },
    /// `() → any`. A register that the last call has written.
    Returned {
        /// Byte offset from the base of the entered frame.
        at: u32,
    },
    /// `() → uniform u64`. A host address of eight bytes that are zero, and stay so.
    Zeros,
    /// `(uniform bool ok, uniform u64 host address, uniform u64 pointer) → uniform u64`. The pointer, which has been loaded from the
    /// address, where `ok` says that it could be. If it is expected to be the same in all rounds of a loop
    /// (`passes::same_pointers`), that is found out here, before the exit's instruction has had any effect.
    LoadedPointer {
        /// Where to go if it is not.
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
    /// `(float) → integer`, of one size and shape. The bits as they would lie in memory: those of a NaN are kept, while `bitcast` makes it
    /// canonical.
    RawBits {
        /// The integer's type.
        ty: Ty,
        /// The float's type: `f32` or `f64`.
        from: Ty,
    },
    /// `(uniform) → varying`. The same value in every lane.
    Splat,
    /// `(mask) → uniform u64`. Bit *i* is lane *i*.
    MaskBits,
    /// `(uniform u64) → mask`. Bits beyond the lanes are ignored.
    MaskFromBits,
    /// `(mask) → uniform bool`. Whether it is true in some lane.
    AnyLane,
    /// `(varying) → uniform`. A reduction of the table over all lanes, by halving.
    Reduce {
        /// `reduce.add`, `reduce.mul` …
        op: Op,
        /// The element type.
        ty: Ty,
    },

    /// `(u64 pointer, u64 length) → u64`, all of one shape. Host address of byte 0 of the pointer's memory region, of
    /// which so many bytes may be read; of pointers that vary, for each lane, whether or not it is active.
    RegionBase,
    /// `(u64 pointer) → u64`, both of one shape. Bytes of the pointer's memory region that may be read; 0 if none. If it
    /// is for writing, `(u64 pointer, u64 length) → u64`: those that may be written, of these bytes that may be read.
    RegionLen {
        /// Whether it is for writing.
        write: bool,
    },
    /// `(uniform u64 pointer, uniform u64 length) → uniform u64`. Host address of the pointer's region plus the pointer's offset plus
    /// `disp` (wrapping: it need not lie in the region). The length is that of the region for reading: it is read before the address.
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
    /// none of them is above the type's maximum less [`SPARE_INDICES`]: lanes, and neighbours, counted from it do not wrap
    /// around). So an index is in bounds when `index - low`, taken as unsigned, is less than this.
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
    /// `(uniform u64 host address) → varying ty`. Lane *l* is at the address plus *l* strides; all of them may be read, and all
    /// that lies between the first and the last.
    LoadStrided {
        /// The element type.
        ty: Ty,
        /// Bytes from lane to lane.
        stride: i32,
    },
    /// `(uniform u64 host address, varying index, mask) → varying ty`. Active lane *l* is at `address + index[l] * scale`;
    /// the others give 0, or if nobody sees them (`passes::dont_care`) anything.
    Gather {
        /// The element type.
        ty: Ty,
        /// The index's type, extended by its sign.
        index: Ty,
        /// Bytes between elements.
        scale: u32,
        /// Whether inactive lanes give 0.
        clears: bool,
    },
    /// `(uniform u64 host address, mask) → varying ty`. Active lanes take consecutive elements from the address on, in their
    /// order; the others give 0.
    LoadPacked {
        /// The element type.
        ty: Ty,
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
    /// `(uniform u64 host address, varying ty, mask)`. As `LoadPacked`; touches nothing behind the last of these.
    StorePacked {
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
    /// `(uniform u64 host address, uniform ty…) → uniform ty`. Changes the element there atomically, as the operation of the table does
    /// with these operands, and gives what was there. The address is a multiple of the element's size.
    Atomic {
        /// One of `atomic.add`, `atomic.sub`, `atomic.swap` and `atomic.cas`.
        op: Op,
        /// The element type, an integer of 32 or 64 bits.
        ty: Ty,
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
    /// `()`. Counts so many units of fuel; leaves by the exit (without counting) when a poll says that the run must
    /// end.
    Tick {
        /// One, but where [`ticks`](crate::passes::ticks) has made several places one. Not 0, and less than 128.
        units: u32,
        /// Where to go.
        exit: ExitId,
    },
    /// `(uniform u64 most) → uniform u64`. Counts so many units of fuel for each of some rounds, in advance; gives of how many: at most
    /// `most`, and not more than fuel is left for without a poll (by [`Kind::ticks_shift`]).
    Ticks {
        /// Units in a round, not 0.
        each: u32,
    },
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
    /// The power of two by which what fuel is left is divided, rather than by the units in a round: a few rounds less do no harm.
    pub fn ticks_shift(each: u32) -> u32 {
        each.next_power_of_two().trailing_zeros()
    }

    /// Returns whether the instruction may be removed when its result is not used, moved, and merged with an equal one. (Loads
    /// may not: memory changes.)
    pub fn is_pure(self) -> bool {
        use Kind::*;
        let other = matches!(
            self,
            LoadAny { .. }
                | StoreAny { .. }
                | Atomic { .. }
                | Guard { .. }
                | Tick { .. }
                | Ticks { .. }
                | Count(_)
                | Chance { .. }
                | FrameOpen { .. }
                | FrameClose
                | FramePass
                | FramePasses { .. }
                | Interpret { .. }
                | Call { .. }
                | CallIndirect { .. }
                | Returned { .. }
        );
        !other && !self.is_plain_load() && !self.is_plain_store()
    }

    /// Returns whether all that it does is to count something.
    pub fn only_counts(self) -> bool {
        matches!(self, Kind::Count(_) | Kind::FramePass | Kind::FramePasses { .. })
    }

    /// Returns whether a memory region that exists before it may be gone behind it, or its entry in the table of regions be used
    /// for another. Other threads of the host free for good only at polls (`spmdvm_vm::memory`).
    pub fn may_end_regions(self) -> bool {
        let interprets = matches!(self, Kind::FrameOpen { .. } | Kind::FrameClose | Kind::Interpret { .. });
        interprets || self.is_call() || matches!(self, Kind::Tick { .. })
    }

    /// Returns whether it is a call.
    pub fn is_call(self) -> bool {
        matches!(self, Kind::Call { .. } | Kind::CallIndirect { .. })
    }

    /// Returns whether it is a load that cannot fail, and so removable if not used.
    pub fn is_plain_load(self) -> bool {
        use Kind::*;
        matches!(self, Load { .. } | LoadLanes { .. } | LoadStrided { .. } | LoadPacked { .. } | Gather { .. })
    }

    /// Returns whether it is a store that cannot fail.
    pub fn is_plain_store(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Store { .. }
                | StoreLanes { .. }
                | StoreStrided { .. }
                | StoreMasked { .. }
                | StorePacked { .. }
                | Scatter { .. }
                | Clear { .. }
        )
    }

    /// Returns whether it does nothing but compute, access what has been checked, count statistics, or leave by a guard.
    pub fn is_plain(self) -> bool {
        let other = self.only_counts() || matches!(self, Kind::Guard { .. });
        self.is_pure() || self.is_plain_load() || self.is_plain_store() || other
    }

    /// How many bytes a plain access touches from its address on at most, if that is known of the instruction alone.
    pub fn bytes_at_address(self, width: Width) -> Option<u64> {
        let lanes = width.lanes() as u64;
        Some(match self {
            Kind::Load { ty } | Kind::Store { ty } => ty.size() as u64,
            Kind::LoadLanes { ty } | Kind::StoreLanes { ty } | Kind::StoreMasked { ty } | Kind::StorePacked { ty } => {
                lanes * ty.size() as u64
            }
            Kind::LoadStrided { ty, stride } | Kind::StoreStrided { ty, stride } => {
                (lanes - 1) * u64::try_from(stride).ok()? + ty.size() as u64
            }
            Kind::Clear { bytes } => u64::from(bytes),
            _ => return None,
        })
    }

    /// Returns whether there is [`Kind::Atomic`] of an operation of the table, for elements of a type.
    pub fn has_atomic(op: Op, ty: Ty) -> bool {
        let is_one = matches!(op, Op::AtomicAdd | Op::AtomicSub | Op::AtomicSwap | Op::AtomicCas);
        is_one && ty.is_int() && ty.size() >= 4
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
            | Kind::Call { exit, .. }
            | Kind::CallIndirect { exit }
            | Kind::LoadedPointer { exit }
            | Kind::Guard { exit }
            | Kind::Tick { exit, .. } => Some(exit),
            _ => None,
        }
    }
}
