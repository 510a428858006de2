//! Machine code of our own, but for the machine: from regions to code on virtual registers, and from that to bytes.
//!
//! | module | what |
//! |---|---|
//! | `lower` | the walk over blocks and instructions: from the trace IR to instructions on virtual registers |
//! | `values` | values in the form in which an instruction wants them, and in memory |
//! | `exits` | what side exits write, and calls of the runtime |
//! | `inst`, `code` | instructions before registers are chosen, as regalloc2 wants them |
//! | `dead` | what nobody reads is left out: pieces of vectors |
//! | `split`, `loops` | live ranges are split after calls and before loops |
//! | `live` | which registers and slots are live, once they are chosen |
//! | `moves` | moves of the register allocator that change nothing, or that nobody reads |
//! | `slots` | where what is spilled lies in the frame |
//! | `saves` | what calls of the program's functions save |
//! | `emit` | blocks, jumps, exit stubs: what is written in which order |
//! | `compile` | these stages one after another |
//!
//! A [`Target`] is what is left: its registers, how it holds masks, its rules of selection, and its [`Assembler`]. What it has no
//! rule for is executed by the runtime, so a target is complete once it can move values between registers and memory, and jump.
//! `jit/tests/toy_target.rs` is one in 300 lines of code; `docs/internals/targets.md` is the guide.

mod code;
mod compile;
mod dead;
mod emit;
mod exits;
mod halves;
mod inst;
mod live;
mod loops;
mod lower;
mod moves;
mod saves;
mod slots;
mod split;
mod values;

pub use crate::lowering::runtime::Callee;
pub use crate::lowering::{Area, Forms, Held};
pub use code::VCode;
pub use compile::compile;
pub use emit::{Emitted, Frame};
pub use exits::ANSWER_AT;
pub(crate) use inst::Inst;
pub use inst::{Base, ExitStub, MachInst, Mem, Regular, StubArea, StubValue, StubWrite};
pub(crate) use lower::Location;
pub use lower::Lower;

use crate::backend::{CompileError, Executable};
use crate::ir::{self, ExitId, Value};
use regalloc2::{Allocation, MachineEnv, PRegSet, RegClass, VReg};
use spmdvm_vm::types::Ty;
use std::fmt::Debug;

/// Code, to be loaded.
pub struct Loaded {
    /// Constants and code.
    pub emitted: Emitted,
    /// What the code refers to by address.
    pub held: Vec<Held>,
}

/// A machine to make code for.
///
/// Uniform values are in registers of the class that [`class_of`](Target::class_of) tells, of integers below 32 bits the bits above
/// are anything. A varying value is in vectors (`RegClass::Float`) of up to [`VECTOR_BYTES`](Target::VECTOR_BYTES). A mask is in
/// one register of the class [`MASK`](Target::MASK): bit *i* for lane *i*, and 0 beyond the lanes.
pub trait Target: Sized + Send + Sync + 'static {
    /// Its instructions.
    type Inst: MachInst;
    /// A condition of its branches. It holds from the instruction that makes it to the next that the target or this folder adds.
    type Cond: Copy + Debug;
    /// What writes them down.
    type Assembler<'a>: Assembler<Self>;
    /// What its rules of selection note within a block.
    type Local: Default;

    /// Which operands its instructions take.
    const FORMS: Forms;
    /// Bytes of its largest vectors.
    const VECTOR_BYTES: usize;
    /// The class of registers that masks are in.
    const MASK: RegClass;
    /// Whether vectors of no more than half the largest size are moved as such.
    const MOVES_HALVES: bool = false;
    /// Counters that it keeps in a register, if any.
    const COUNTERS: usize = 0;
    /// Bytes at the end of a frame that are its own.
    const OWN_BYTES: i32 = 8;

    /// Registers that are allocated.
    fn registers() -> &'static MachineEnv;

    /// What a call may destroy of them, where it [may](Assembler::call_losing).
    fn clobbers() -> PRegSet {
        PRegSet::empty()
    }

    /// Words that a register takes when it is spilled.
    fn spill_slots(class: RegClass) -> usize {
        if class == RegClass::Float { Self::VECTOR_BYTES / 8 } else { 1 }
    }

    /// The class of registers that uniform values of a type are in: `Int`, or `Float` for some floats.
    fn class_of(_ty: Ty) -> RegClass {
        RegClass::Int
    }

    /// The opposite.
    fn inverted(cond: Self::Cond) -> Self::Cond;

    /// A block begins: nothing is at hand that another has made for itself.
    fn begin_block(_local: &mut Self::Local) {}

    /// Translates an instruction, if there is a rule for it; if not, the runtime executes it.
    fn select(s: &mut Lower<'_, Self>, inst: &ir::Inst) -> bool;

    /// The condition by which an instruction is true that [sets flags](Forms::sets_flags), if there is a rule for it.
    fn flags(_s: &mut Lower<'_, Self>, _inst: &ir::Inst) -> Option<Self::Cond> {
        None
    }

    /// The condition by which a bool in a register is true.
    fn test(s: &mut Lower<'_, Self>, x: VReg) -> Self::Cond;

    /// A number in a general register.
    fn imm(s: &mut Lower<'_, Self>, bits: u64) -> VReg;

    /// The address of memory.
    fn address_of(s: &mut Lower<'_, Self>, mem: Mem) -> VReg;

    /// Loads a uniform value; any byte but 0 is a true bool.
    fn load_scalar(s: &mut Lower<'_, Self>, ty: Ty, from: Mem) -> VReg;

    /// Stores a uniform value.
    fn store_scalar(s: &mut Lower<'_, Self>, ty: Ty, to: Mem, x: VReg);

    /// Loads a vector of so many bytes.
    fn load_vector(s: &mut Lower<'_, Self>, bytes: usize, from: Mem) -> VReg;

    /// Stores a vector of so many bytes.
    fn store_vector(s: &mut Lower<'_, Self>, bytes: usize, to: Mem, x: VReg);

    /// A uniform value's register in all lanes of a piece.
    fn broadcast(s: &mut Lower<'_, Self>, x: VReg, ty: Ty) -> VReg;

    /// Likewise, an element of so many bytes in memory, to the elements of a vector of so many.
    fn broadcast_from(s: &mut Lower<'_, Self>, from: Mem, size: usize, _bytes: usize) -> VReg {
        let ty = [Ty::U8, Ty::U16, Ty::U32, Ty::U64][size.trailing_zeros() as usize];
        let x = Self::load_scalar(s, ty, from);
        Self::broadcast(s, x, ty)
    }

    /// The uniform value of 4 or 8 bytes that a vector has in all lanes. Asked for only where the target has loaded such a vector and no
    /// scalar.
    fn first_of(s: &mut Lower<'_, Self>, x: VReg, ty: Ty) -> VReg;

    /// A mask that is known.
    fn mask_of_constant(s: &mut Lower<'_, Self>, bits: u64) -> VReg {
        let bits = s.imm(bits);
        Self::mask_of_bits(s, bits)
    }

    /// A uniform bool in all lanes.
    fn mask_of_bool(s: &mut Lower<'_, Self>, x: VReg) -> VReg;

    /// A word of bits as a mask; those beyond the lanes are ignored.
    fn mask_of_bits(s: &mut Lower<'_, Self>, bits: VReg) -> VReg;

    /// A mask as a word: the same register, if masks are in general ones.
    fn bits_of_mask(_s: &mut Lower<'_, Self>, mask: VReg) -> VReg {
        mask
    }

    /// The mask of the bytes that are not 0, of so many vectors of bytes as the lanes fill.
    fn mask_of_bytes(s: &mut Lower<'_, Self>, bytes: Vec<VReg>) -> VReg;

    /// A mask as bytes 0 or 1.
    fn bytes_of_mask(s: &mut Lower<'_, Self>, mask: VReg) -> Vec<VReg>;

    /// Puts an element into a vector. Asked for only if [exits can do that, too](Forms::exits_write_lanes).
    fn insert(_s: &mut Lower<'_, Self>, inst: &ir::Inst) -> Vec<VReg> {
        unreachable!("`{}` is not made late", inst.kind)
    }

    /// Does something about the instructions when all are there, before their registers are chosen.
    fn improve(_code: &mut VCode<Self>) {}

    /// Changes the code as the fault that is planted does.
    #[cfg(feature = "planted-faults")]
    fn spoil(_code: &mut VCode<Self>) {}

    /// What writes code down that begins so many bytes after the first of its constants.
    fn assembler<'a>(&'a self, code: &'a VCode<Self>, frame: Frame, entry: usize) -> Self::Assembler<'a>;

    /// Has a jump, by what its assembler calls it, lead to a place. Both are counted from the first constant.
    fn patch(bytes: &mut [u8], jump: usize, to: usize) -> Result<(), CompileError>;

    /// Makes code executable.
    fn load(&self, code: Loaded) -> Result<Box<dyn Executable>, CompileError>;
}

/// Writes down instructions whose registers are known.
///
/// Between instructions it has registers of its own, which are never allocated. The fuel of the slice is in one of them; it is in
/// the context when the region is left or calls the runtime.
pub trait Assembler<T: Target> {
    /// Bytes so far, counted from the first constant.
    fn at(&self) -> usize;

    /// Enters the region: saves what belongs to the caller, makes the frame, loads the fuel.
    fn prologue(&mut self) -> Result<(), CompileError>;

    /// Leaves it, once [`exit`](Assembler::exit) has told the number of the exit.
    fn epilogue(&mut self) -> Result<(), CompileError>;

    /// An instruction of the target, with allocations for its [operands](MachInst::operands).
    fn inst(&mut self, inst: &T::Inst, allocs: &[Allocation]) -> Result<(), CompileError>;

    /// Makes a vector 0.
    fn zero(&mut self, to: Allocation) -> Result<(), CompileError>;

    /// Moves a register to another, or to or from where it is spilled.
    fn move_value(&mut self, from: Allocation, to: Allocation) -> Result<(), CompileError>;

    /// The same to a register, of half a vector at most; the rest of it becomes 0.
    fn move_half(&mut self, from: Allocation, to: Allocation) -> Result<(), CompileError> {
        self.move_value(from, to)
    }

    /// Has the next instruction stand where the machine is quick to go on from a jump.
    fn align(&mut self) {}

    /// A jump, on a condition or always. Gives what [`Target::patch`] calls it.
    fn jump(&mut self, cond: Option<T::Cond>) -> Result<usize, CompileError>;

    /// A jump that is taken if the last call has given 0.
    fn jump_if_failed(&mut self) -> Result<usize, CompileError>;

    /// Counts so many units of fuel, fewer than 128, and jumps if there were not as many.
    fn tick(&mut self, units: u32) -> Result<usize, CompileError>;

    /// Asks the runtime for these, which are not counted yet. All registers are kept.
    fn poll(&mut self, units: u32) -> Result<(), CompileError>;

    /// Calls the runtime with the context and the words; its answer goes behind them, at [`ANSWER_AT`]. All registers are kept.
    fn call(&mut self, callee: Callee) -> Result<(), CompileError>;

    /// The same, but what it [may destroy](Target::clobbers) may be lost.
    fn call_losing(&mut self, callee: Callee) -> Result<(), CompileError> {
        self.call(callee)
    }

    /// Writes what an exit writes, from allocations for its [registers](StubValue::registers). All registers are kept.
    fn write(&mut self, writes: &[StubWrite], allocs: &[Allocation]) -> Result<(), CompileError>;

    /// Adds to the counters that are in a register what the pool has from a place on. Asked for only if there are
    /// [some](Target::COUNTERS). All registers are kept.
    fn count(&mut self, _place: i32) -> Result<(), CompileError> {
        unreachable!("no counter is in a register")
    }

    /// Has the region give the number of the exit that it is left by.
    fn exit(&mut self, exit: ExitId) -> Result<(), CompileError>;

    /// The bytes of the code.
    fn finish(self) -> Result<Vec<u8>, CompileError>;
}

impl<T: Target> Lower<'_, T> {
    /// The instruction that defines a value, if one does.
    pub fn definition(&self, v: Value) -> Option<&ir::Inst> {
        self.values.inst(v)
    }

    /// The constant that all lanes of a value are, if it is one.
    pub fn constant(&self, v: Value) -> Option<u64> {
        self.values.constant_lanes(v)
    }
}
