//! Instructions whose registers are known.

use super::inst::Size;
use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};
use regalloc2::RegClass;

/// The part of a register that a form names.
pub(super) fn sized(register: Register, form: Size) -> Register {
    let n = |first: Register, of: Register| of + (register as u32 - first as u32);
    match form {
        Size::G8 if register as u32 - (Register::RAX as u32) < 4 => n(Register::RAX, Register::AL),
        Size::G8 => n(Register::RSP, Register::SPL),
        Size::G16 => n(Register::RAX, Register::AX),
        Size::G32 => n(Register::RAX, Register::EAX),
        Size::X => n(Register::ZMM0, Register::XMM0),
        Size::Y => n(Register::ZMM0, Register::YMM0),
        Size::G64 | Size::Z | Size::K => register,
    }
}

/// Builds instructions whose registers are known.
pub(super) struct Build(pub Instruction, u32);

impl Build {
    pub fn new(code: Code) -> Build {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        Build(instruction, 0)
    }

    pub fn reg(mut self, register: Register) -> Build {
        self.0.set_op_kind(self.1, OpKind::Register);
        self.0.set_op_register(self.1, register);
        self.1 += 1;
        self
    }

    pub fn imm(mut self, kind: OpKind, value: i64) -> Build {
        self.0.set_op_kind(self.1, kind);
        match kind {
            OpKind::Immediate16 => self.0.set_immediate16(value as u16),
            OpKind::Immediate8 => self.0.set_immediate8(value as u8),
            OpKind::Immediate8to32 => self.0.set_immediate8to32(value as i32),
            OpKind::Immediate8to64 => self.0.set_immediate8to64(value),
            OpKind::Immediate32 => self.0.set_immediate32(value as u32),
            OpKind::Immediate32to64 => self.0.set_immediate32to64(value),
            _ => self.0.set_immediate64(value as u64),
        }
        self.1 += 1;
        self
    }

    pub fn mem(mut self, mem: MemoryOperand) -> Build {
        self.0.set_op_kind(self.1, OpKind::Memory);
        self.0.set_memory_base(mem.base);
        self.0.set_memory_index(mem.index);
        self.0.set_memory_index_scale(mem.scale);
        self.0.set_memory_displacement64(mem.displacement as u64);
        self.0.set_memory_displ_size(mem.displ_size);
        self.0.set_is_broadcast(mem.is_broadcast);
        self.1 += 1;
        self
    }

    pub fn mask(mut self, mask: Register, zeroing: bool) -> Build {
        self.0.set_op_mask(mask);
        self.0.set_zeroing_masking(zeroing);
        self
    }
}

/// An address: a register and a distance.
pub(super) fn at(base: Register, disp: i32) -> MemoryOperand {
    // A size of 1 stands for the shortest that will do.
    MemoryOperand::new(base, Register::None, 1, disp as i64, 1, false, Register::None)
}

/// The instructions that move whole registers of a class.
pub(super) struct Moves {
    pub between: Code,
    pub load: Code,
    pub store: Code,
}

impl Moves {
    pub fn of(class: RegClass) -> Moves {
        let (between, load, store) = match class {
            RegClass::Int => (Code::Mov_r64_rm64, Code::Mov_r64_rm64, Code::Mov_rm64_r64),
            RegClass::Float => (
                Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
                Code::EVEX_Vmovups_zmm_k1z_zmmm512,
                Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            ),
            RegClass::Vector => (Code::VEX_Kmovq_kr_km64, Code::VEX_Kmovq_kr_km64, Code::VEX_Kmovq_m64_kr),
        };
        Moves { between, load, store }
    }
}
