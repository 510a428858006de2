//! Machine instructions before registers are chosen.
//!
//! They are those of the encoder (`iced_x86::Code`), with virtual registers for operands. There are three classes: general
//! registers (`Int`), vectors (`Float`) and masks (`Vector`). Some registers are never allocated; `env` lists them.

use crate::ir::ExitId;
use crate::native::runtime::Callee;
use iced_x86::{Code, OpKind, Register};
use regalloc2::{Block, RegClass, VReg};

/// How much of a register an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// 8 bits of a general register.
    G8,
    /// 16.
    G16,
    /// 32.
    G32,
    /// 64.
    G64,
    /// 128 bits of a vector.
    X,
    /// 256.
    Y,
    /// 512.
    Z,
    /// A mask.
    K,
}

impl Form {
    /// The class of registers that it is of.
    pub fn class(self) -> RegClass {
        match self {
            Form::G8 | Form::G16 | Form::G32 | Form::G64 => RegClass::Int,
            Form::X | Form::Y | Form::Z => RegClass::Float,
            Form::K => RegClass::Vector,
        }
    }
}

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Reg(VReg),
    /// A register that is not allocated.
    Fixed(Register),
    /// The scratch memory of the frame.
    Scratch,
    /// The words for the runtime.
    Words,
    /// The constants that lie before the code.
    Pool,
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mem {
    pub base: Base,
    pub index: Option<VReg>,
    pub scale: u8,
    pub disp: i32,
    /// Whether one element is taken for all lanes.
    pub broadcast: bool,
}

impl Mem {
    pub fn at(base: Base, disp: i32) -> Mem {
        Mem { base, index: None, scale: 1, disp, broadcast: false }
    }

    pub fn reg(base: VReg, disp: i32) -> Mem {
        Mem::at(Base::Reg(base), disp)
    }

    pub fn fixed(base: Register, disp: i32) -> Mem {
        Mem::at(Base::Fixed(base), disp)
    }

    pub fn plus(self, bytes: i32) -> Mem {
        Mem { disp: self.disp + bytes, ..self }
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    /// Written.
    Def(VReg, Form),
    /// Read.
    Use(VReg, Form),
    /// Read and overwritten: the result takes the operand's register.
    Tied {
        from: VReg,
        to: VReg,
        form: Form,
    },
    /// A register that is not allocated.
    Fixed(Register),
    /// Read and written in a register that the encoding does not name.
    Both {
        use_: VReg,
        def: VReg,
        register: Register,
    },
    Mem(Mem),
    /// A number, as the encoding has it.
    Imm(OpKind, i64),
}

/// Conditions, by their number in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cond(pub u8);

impl Cond {
    pub const BELOW: Cond = Cond(2);
    pub const ABOVE_OR_EQUAL: Cond = Cond(3);
    pub const EQUAL: Cond = Cond(4);
    pub const NOT_EQUAL: Cond = Cond(5);
    pub const BELOW_OR_EQUAL: Cond = Cond(6);
    pub const ABOVE: Cond = Cond(7);
    pub const LESS: Cond = Cond(12);
    pub const GREATER_OR_EQUAL: Cond = Cond(13);
    pub const LESS_OR_EQUAL: Cond = Cond(14);
    pub const GREATER: Cond = Cond(15);

    /// The opposite.
    pub fn inverted(self) -> Cond {
        Cond(self.0 ^ 1)
    }
}

/// An instruction of the encoder.
#[derive(Clone, Debug, Default)]
pub(super) struct Plain {
    pub code: Code,
    pub args: [Option<Arg>; 4],
    /// The mask of the lanes that are written.
    pub mask: Option<VReg>,
    /// Whether the others become 0.
    pub zeroing: bool,
}

impl Plain {
    pub fn new(code: Code, args: &[Arg]) -> Plain {
        let args = std::array::from_fn(|i| args.get(i).copied());
        Plain { code, args, ..Plain::default() }
    }
}

/// What an exit writes somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
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
    /// A mask as bytes 0 or 1, in a vector of so many bytes; and where the pool has as many ones.
    MaskBytes(VReg, usize, i32),
    /// The low bytes of a register, so many, as the element of a lane: its number, of as many lanes as are a power of two.
    Lane { x: VReg, size: usize, lane: VReg, of: usize },
}

/// Something that an exit writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Write {
    pub base: WriteBase,
    pub at: i32,
    pub what: What,
}

/// What its place is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WriteBase {
    Frame,
    Words,
    Memory,
}

impl What {
    /// The registers that it is made of.
    pub fn registers(&self) -> impl Iterator<Item = VReg> + use<> {
        let (first, second) = match *self {
            What::Imm(..) | What::SplatPool(..) => (None, None),
            What::Lane { x, lane, .. } => (Some(x), Some(lane)),
            What::Gpr(r, _)
            | What::Vector(r, _)
            | What::SplatGpr(r, ..)
            | What::SplatVector(r, ..)
            | What::MaskBits(r)
            | What::MaskBytes(r, ..) => (Some(r), None),
        };
        first.into_iter().chain(second)
    }
}

/// A way out of the region.
#[derive(Clone, Debug)]
pub(super) struct WayOut {
    pub exit: ExitId,
    pub writes: Vec<Write>,
}

/// A machine instruction.
#[derive(Clone, Debug)]
pub(super) enum Inst {
    Plain(Box<Plain>),
    /// Makes a vector 0.
    Zero(VReg),
    /// Moves a register, from wherever it is.
    Move {
        from: VReg,
        to: VReg,
    },
    /// Goes on at a block.
    Jump(Block, Vec<VReg>),
    /// Goes on by the flags that the instruction before has set.
    Branch(Cond, Block, Block),
    /// Leaves by a way out if the flags say so.
    Guard(Cond, usize),
    /// Leaves by a way out if the last call has given 0.
    GuardCall(usize),
    /// Counts a unit of fuel.
    Tick(usize),
    /// Calls the runtime, with arguments in the words for it. All registers are kept.
    Call(Callee),
    /// Likewise, where little is at hand: what the runtime may destroy is lost.
    CallLosing(Callee),
    /// Leaves.
    Leave(usize),
}

impl Inst {
    /// Visits the registers that an instruction reads, but for those that exits write.
    pub fn each_read(&mut self, mut f: impl FnMut(&mut VReg)) {
        match self {
            Inst::Plain(plain) => {
                for arg in plain.args.iter_mut().flatten() {
                    match arg {
                        Arg::Use(r, _) | Arg::Tied { from: r, .. } | Arg::Both { use_: r, .. } => f(r),
                        Arg::Mem(Mem { base, index, .. }) => {
                            if let Base::Reg(r) = base {
                                f(r);
                            }
                            index.iter_mut().for_each(&mut f);
                        }
                        Arg::Def(..) | Arg::Imm(..) | Arg::Fixed(_) => {}
                    }
                }
                plain.mask.iter_mut().for_each(f);
            }
            Inst::Move { from, .. } => f(from),
            Inst::Jump(_, args) => args.iter_mut().for_each(f),
            _ => {}
        }
    }
}
