//! Instructions whose registers are known.

use super::flow::Form;
use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};

/// The part of a register that a form names.
pub(super) fn sized(register: Register, form: Form) -> Register {
    let n = |first: Register, of: Register| of + (register as u32 - first as u32);
    match form {
        Form::G8 if register as u32 - (Register::RAX as u32) < 4 => n(Register::RAX, Register::AL),
        Form::G8 => n(Register::RSP, Register::SPL),
        Form::G16 => n(Register::RAX, Register::AX),
        Form::G32 => n(Register::RAX, Register::EAX),
        Form::X => n(Register::ZMM0, Register::XMM0),
        Form::Y => n(Register::ZMM0, Register::YMM0),
        Form::G64 | Form::Z | Form::K => register,
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

/// The code that moves vectors of so many bytes from memory, and to it.
pub(super) fn vector_moves(bytes: usize) -> (Code, Code, Form) {
    match bytes {
        4 => (Code::EVEX_Vmovss_xmm_k1z_m32, Code::EVEX_Vmovss_m32_k1_xmm, Form::X),
        8 => (Code::EVEX_Vmovsd_xmm_k1z_m64, Code::EVEX_Vmovsd_m64_k1_xmm, Form::X),
        16 => (Code::EVEX_Vmovups_xmm_k1z_xmmm128, Code::EVEX_Vmovups_xmmm128_k1z_xmm, Form::X),
        32 => (Code::EVEX_Vmovups_ymm_k1z_ymmm256, Code::EVEX_Vmovups_ymmm256_k1z_ymm, Form::Y),
        _ => (Code::EVEX_Vmovups_zmm_k1z_zmmm512, Code::EVEX_Vmovups_zmmm512_k1z_zmm, Form::Z),
    }
}

/// The code that puts an element of so many bytes, of a vector or in memory, in all lanes of 512 bits.
pub(super) fn broadcast(size: usize) -> Code {
    match size {
        1 => Code::EVEX_Vpbroadcastb_zmm_k1z_xmmm8,
        2 => Code::EVEX_Vpbroadcastw_zmm_k1z_xmmm16,
        4 => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        _ => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
    }
}
