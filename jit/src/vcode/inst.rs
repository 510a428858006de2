//! Instructions before registers are chosen: those of a target, and those that every target has.

use super::Target;
use crate::ir::ExitId;
use crate::lowering::runtime::Callee;
use crate::lowering::{Area, Logic};
use regalloc2::{Allocation, Block, Operand, VReg};
use std::fmt::Debug;

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    /// A register.
    Reg(VReg),
    /// The context that the region was entered with.
    Context,
    /// The entered frame.
    Frame,
    /// The scratch memory of the region's frame on the stack.
    Scratch,
    /// The words for the runtime.
    Words,
    /// The constants that belong to the code.
    Pool,
}

/// A memory operand: a base, an index times a scale, and a displacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mem {
    /// What it is counted from.
    pub base: Base,
    /// A register of 64 bits that is added.
    pub index: Option<VReg>,
    /// What the index is multiplied by.
    pub scale: u8,
    /// Bytes that are added.
    pub disp: i32,
}

impl Mem {
    /// So many bytes from a base.
    pub fn at(base: Base, disp: i32) -> Mem {
        Mem { base, index: None, scale: 1, disp }
    }

    /// So many bytes from the address in a register.
    pub fn reg(base: VReg, disp: i32) -> Mem {
        Mem::at(Base::Reg(base), disp)
    }

    /// So many bytes further.
    pub fn plus(self, bytes: i32) -> Mem {
        Mem { disp: self.disp + bytes, ..self }
    }

    /// The registers that it is made of.
    pub fn registers(&self) -> impl Iterator<Item = VReg> + use<> {
        let base = match self.base {
            Base::Reg(r) => Some(r),
            _ => None,
        };
        base.into_iter().chain(self.index)
    }

    /// Visits these registers.
    pub fn each_read(&mut self, f: &mut dyn FnMut(&mut VReg)) {
        if let Base::Reg(r) = &mut self.base {
            f(r);
        }
        self.index.iter_mut().for_each(f);
    }
}

/// An instruction of a target.
pub trait MachInst: Clone + Debug {
    /// Its registers as the register allocator wants them. Its allocations have their order.
    fn operands(&self, operands: &mut Vec<Operand>);

    /// Visits the registers that it reads.
    fn each_read(&mut self, f: &mut dyn FnMut(&mut VReg));

    /// The register that it makes, if it does nothing else, and so may be left out where nobody reads that.
    fn only_makes(&self) -> Option<VReg> {
        None
    }

    /// Tells where the vectors are that it writes, and whether that is more than half a vector of the largest size: if not, the rest
    /// becomes 0. Asked for only if the target [moves halves](Target::MOVES_HALVES).
    fn each_vector_written(&self, _allocs: &[Allocation], _f: &mut dyn FnMut(Allocation, bool)) {}
}

/// An instruction of a machine whose instructions are all alike: each writes at most one register, reads others, and has a memory operand
/// and a number, or not.
#[derive(Clone, Debug)]
pub struct Regular<O> {
    /// What it does.
    pub what: O,
    /// What it writes: its first operand.
    pub def: Option<VReg>,
    /// What it reads.
    pub uses: Vec<VReg>,
    /// Behind that.
    pub mem: Option<Mem>,
    /// The number.
    pub n: u64,
}

impl<O: Clone + Debug> MachInst for Regular<O> {
    fn operands(&self, operands: &mut Vec<Operand>) {
        let read = self.uses.iter().copied().chain(self.mem.iter().flat_map(Mem::registers));
        operands.extend(self.def.map(Operand::reg_def).into_iter().chain(read.map(Operand::reg_use)));
    }

    fn each_read(&mut self, f: &mut dyn FnMut(&mut VReg)) {
        self.uses.iter_mut().for_each(&mut *f);
        self.mem.iter_mut().for_each(|mem| mem.each_read(f));
    }
}

/// What a side exit writes somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StubValue {
    /// The low bytes of a constant.
    Imm(u64, usize),
    /// The low bytes of a general register.
    Gpr(VReg, usize),
    /// The low bytes of a vector.
    Vector(VReg, usize),
    /// A general register's element of so many bytes, in a vector of so many bytes, so many times.
    SplatGpr(VReg, usize, usize, usize),
    /// Likewise, of a vector's first element.
    SplatVector(VReg, usize, usize, usize),
    /// Likewise, of a constant in the pool: its place.
    SplatPool(i32, usize, usize, usize),
    /// A mask as a word.
    MaskBits(VReg),
    /// What the word that is there and a mask make: [`Logic::And`], [`Logic::Or`], [`Logic::Xor`] or [`Logic::OnlyFirst`].
    MaskWith(Logic, VReg),
    /// The lanes that the word that is there has not; those that there are.
    MaskFlip(u64),
    /// A mask as bytes 0 or 1, in a vector of so many bytes; and where the pool has as many ones.
    MaskBytes(VReg, usize, i32),
    /// The low bytes of a register as the element of a lane.
    Lane {
        /// The register.
        x: VReg,
        /// How many bytes.
        size: usize,
        /// The lane's number.
        lane: VReg,
        /// That counts modulo so many, a power of two.
        of: usize,
    },
    /// So many bytes of the scratch memory, from a place on: at most those of a vector.
    Scratch(i32, usize),
    /// An element of so many bytes of the scratch memory, in a vector of so many bytes, so many times.
    SplatScratch(i32, usize, usize, usize),
    /// The address of the scratch memory.
    ScratchAddress,
}

impl StubValue {
    /// The registers that it is made of.
    pub fn registers(&self) -> impl Iterator<Item = VReg> + use<> {
        let (first, second) = match *self {
            StubValue::Imm(..)
            | StubValue::MaskFlip(_)
            | StubValue::SplatPool(..)
            | StubValue::Scratch(..)
            | StubValue::SplatScratch(..)
            | StubValue::ScratchAddress => (None, None),
            StubValue::Lane { x, lane, .. } => (Some(x), Some(lane)),
            StubValue::Gpr(r, _)
            | StubValue::Vector(r, _)
            | StubValue::SplatGpr(r, ..)
            | StubValue::SplatVector(r, ..)
            | StubValue::MaskBits(r)
            | StubValue::MaskWith(_, r)
            | StubValue::MaskBytes(r, ..) => (Some(r), None),
        };
        first.into_iter().chain(second)
    }
}

/// What the place of something that a side exit writes is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StubArea {
    /// Something of the interpreter.
    State(Area),
    /// The scratch memory.
    Scratch,
    /// The words for the runtime.
    Words,
}

/// Something that a side exit writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StubWrite {
    /// What its place is counted from.
    pub area: StubArea,
    /// The place.
    pub at: i32,
    /// What.
    pub what: StubValue,
}

/// The code of a side exit: it computes what only exits ask for, writes the state of the interpreter, and leaves.
#[derive(Clone, Debug)]
pub struct ExitStub {
    /// The exit.
    pub exit: ExitId,
    /// What the runtime computes, in this order: of each what is written before it is called, operands and words.
    pub computed: Vec<Vec<StubWrite>>,
    /// What it writes; what is in one area stands together.
    pub writes: Vec<StubWrite>,
    /// What it adds to the counters that are in a register: the place in the pool.
    pub counts: Option<i32>,
    /// Registers that are to be in memory where it is reached: so they leave those of the machine to what is computed there.
    pub in_memory: Vec<VReg>,
}

impl ExitStub {
    /// The registers that it reads, in their order.
    pub fn registers(&self) -> impl Iterator<Item = VReg> {
        self.computed.iter().flatten().chain(&self.writes).flat_map(|write| write.what.registers())
    }
}

/// An instruction. Exit stubs are told by their number.
pub(crate) enum Inst<T: Target> {
    /// One of the target.
    Plain(Box<T::Inst>),
    /// Makes a vector 0.
    Zero(VReg),
    /// Moves a register, from wherever it is.
    Move { from: VReg, to: VReg },
    /// Goes on at a block.
    Jump(Block, Vec<VReg>),
    /// Goes on by the flags that the instruction before has set.
    Branch(T::Cond, Block, Block),
    /// Leaves if the flags say so.
    Guard(T::Cond, usize),
    /// Leaves if the last call has given 0.
    GuardCall(usize),
    /// Writes what an exit writes.
    Write(usize),
    /// Leaves by an exit that has been written, if the last call has given 0.
    GuardWritten(ExitId),
    /// Adds to the counters that are in a register what the pool has from a place on.
    Count(i32),
    /// Counts so many units of fuel; leaves if there are not as many.
    Tick(usize, u32),
    /// Calls the runtime, with arguments in the words for it. All registers are kept.
    Call(Callee),
    /// Likewise, where it is called often or little is at hand: what the runtime may destroy is lost.
    CallLosing(Callee),
    /// Likewise, where what lives across it is to be in registers elsewhere: that is [saved](super::saves), and no other register kept.
    CallSaving(Callee),
    /// Leaves.
    Leave(usize),
}

impl<T: Target> Inst<T> {
    /// The exit that it may leave by, where that is written when it does.
    pub fn stub(&self) -> Option<usize> {
        match *self {
            Inst::Guard(_, stub) | Inst::GuardCall(stub) | Inst::Tick(stub, _) | Inst::Leave(stub) => Some(stub),
            _ => None,
        }
    }

    /// Visits the registers that an instruction reads, but for those that exits write.
    pub fn each_read(&mut self, f: &mut dyn FnMut(&mut VReg)) {
        match self {
            Inst::Plain(plain) => plain.each_read(f),
            Inst::Move { from, .. } => f(from),
            Inst::Jump(_, args) => args.iter_mut().for_each(f),
            Inst::Zero(_)
            | Inst::Count(_)
            | Inst::Branch(..)
            | Inst::Guard(..)
            | Inst::GuardCall(_)
            | Inst::Write(_)
            | Inst::GuardWritten(_)
            | Inst::Tick(..)
            | Inst::Call(_)
            | Inst::CallLosing(_)
            | Inst::CallSaving(_)
            | Inst::Leave(_) => {}
        }
    }
}
