//! Instructions of the encoder (`iced_x86::Code`) with virtual registers for operands.
//!
//! There are three classes: general registers (`Int`), vectors (`Float`) and masks (`Vector`). Some registers are never allocated;
//! `env` lists them.

use super::env;
use crate::vcode::MachInst;
pub(super) use crate::vcode::{Base, Mem};
use iced_x86::{Code, OpKind, Register};
use regalloc2::{Allocation, Operand, OperandConstraint, OperandKind, OperandPos, RegClass, VReg};

/// How much of a register an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
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

impl Size {
    /// The class of registers that it is of.
    pub fn class(self) -> RegClass {
        match self {
            Size::G8 | Size::G16 | Size::G32 | Size::G64 => RegClass::Int,
            Size::X | Size::Y | Size::Z => RegClass::Float,
            Size::K => RegClass::Vector,
        }
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    /// Written.
    Def(VReg, Size),
    /// Read.
    Use(VReg, Size),
    /// Read, from a register or from where it is spilled.
    Any(VReg, Size),
    /// Read and overwritten: the result takes the operand's register.
    Tied {
        from: VReg,
        to: VReg,
        form: Size,
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
    /// Elements in memory whose index is a vector.
    Lanes(Mem, Size),
    /// An element in memory that is taken for all lanes.
    Broadcast(Mem),
    /// A number, as the encoding has it.
    Imm(OpKind, i64),
}

/// Conditions, by their number in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cond(pub(super) u8);

impl Cond {
    pub(super) const OVERFLOW: Cond = Cond(0);
    pub(super) const BELOW: Cond = Cond(2);
    pub(super) const ABOVE_OR_EQUAL: Cond = Cond(3);
    pub(super) const EQUAL: Cond = Cond(4);
    pub(super) const NOT_EQUAL: Cond = Cond(5);
    pub(super) const BELOW_OR_EQUAL: Cond = Cond(6);
    pub(super) const ABOVE: Cond = Cond(7);
    pub(super) const SIGN: Cond = Cond(8);
    pub(super) const NO_SIGN: Cond = Cond(9);
    pub(super) const LESS: Cond = Cond(12);
    pub(super) const GREATER_OR_EQUAL: Cond = Cond(13);
    pub(super) const LESS_OR_EQUAL: Cond = Cond(14);
    pub(super) const GREATER: Cond = Cond(15);

    /// The opposite.
    pub(super) fn inverted(self) -> Cond {
        Cond(self.0 ^ 1)
    }
}

/// An instruction of the encoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plain {
    pub(super) code: Code,
    pub(super) args: [Option<Arg>; 4],
    /// The mask of the lanes that are written.
    pub(super) mask: Option<VReg>,
    /// Whether the others become 0.
    pub(super) zeroing: bool,
    /// What is left of the mask afterwards, if the instruction changes it.
    pub(super) mask_left: Option<VReg>,
    /// Whether it is a load that stays where it is among others.
    pub(super) in_order: bool,
}

impl Plain {
    pub(super) fn new(code: Code, args: &[Arg]) -> Plain {
        let args = std::array::from_fn(|i| args.get(i).copied());
        Plain { code, args, ..Plain::default() }
    }
}

impl MachInst for Plain {
    fn operands(&self, operands: &mut Vec<Operand>) {
        let first = operands.len();
        for arg in self.args.iter().flatten() {
            match *arg {
                Arg::Def(r, _) => operands.push(Operand::reg_def(r)),
                Arg::Use(r, _) => operands.push(Operand::reg_use(r)),
                Arg::Any(r, _) => {
                    operands.push(Operand::new(r, OperandConstraint::Any, OperandKind::Use, OperandPos::Early));
                }
                Arg::Tied { from, to, .. } => {
                    let at = operands.len() - first;
                    operands.push(Operand::reg_use(from));
                    operands.push(Operand::reg_reuse_def(to, at));
                }
                Arg::Both { use_, def, register } => {
                    operands.push(Operand::reg_fixed_use(use_, env::preg(register)));
                    operands.push(Operand::reg_fixed_def(def, env::preg(register)));
                }
                Arg::Mem(mem) | Arg::Broadcast(mem) | Arg::Lanes(mem, _) => {
                    operands.extend(mem.registers().map(Operand::reg_use));
                }
                Arg::Imm(..) | Arg::Fixed(_) => {}
            }
        }
        if let Some(mask) = self.mask {
            let at = operands.len() - first;
            operands.push(Operand::reg_use(mask));
            operands.extend(self.mask_left.map(|left| Operand::reg_reuse_def(left, at)));
        }
    }

    /// Vectors and masks only: what makes them leaves the flags alone.
    fn only_makes(&self) -> Option<VReg> {
        let (Some(Arg::Def(to, form) | Arg::Tied { to, form, .. }), None) = (self.args[0], self.mask_left) else {
            return None;
        };
        let writes = |arg: &Arg| matches!(arg, Arg::Def(..) | Arg::Tied { .. } | Arg::Both { .. } | Arg::Fixed(_));
        (form.class() != RegClass::Int && !self.args[1..].iter().flatten().any(writes)).then_some(to)
    }

    fn each_vector_written(&self, allocs: &[Allocation], f: &mut dyn FnMut(Allocation, bool)) {
        let mut at = 0;
        for arg in self.args.iter().flatten() {
            let (operands, written) = match *arg {
                Arg::Def(_, form) => (1, Some(form)),
                Arg::Use(..) | Arg::Any(..) => (1, None),
                Arg::Tied { form, .. } => (2, Some(form)),
                Arg::Both { .. } => (2, None),
                Arg::Mem(mem) | Arg::Broadcast(mem) | Arg::Lanes(mem, _) => (mem.registers().count(), None),
                Arg::Imm(..) | Arg::Fixed(_) => (0, None),
            };
            at += operands;
            if let Some(form) = written.filter(|form| form.class() == RegClass::Float) {
                f(allocs[at - 1], form == Size::Z);
            }
        }
    }

    fn each_read(&mut self, f: &mut dyn FnMut(&mut VReg)) {
        for arg in self.args.iter_mut().flatten() {
            match arg {
                Arg::Use(r, _) | Arg::Any(r, _) | Arg::Tied { from: r, .. } | Arg::Both { use_: r, .. } => f(r),
                Arg::Mem(mem) | Arg::Broadcast(mem) | Arg::Lanes(mem, _) => mem.each_read(f),
                Arg::Def(..) | Arg::Imm(..) | Arg::Fixed(_) => {}
            }
        }
        self.mask.iter_mut().for_each(f);
    }
}
