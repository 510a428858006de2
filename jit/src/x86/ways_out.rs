//! The code that leaves a region: it writes what an exit says from wherever that is, with registers that are never allocated.

use super::build::{Build, Moves, at, sized};
use super::emit::{Emitter, Label, SAVED};
use super::env::{self, CONTEXT, FRAME, SPARE, SPARE_BASE, SPARE_MASK, SPARE_VECTOR};
use super::inst::{Form, What, WriteBase};
use super::values::broadcast;
use iced_x86::{Code, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, RegClass};
use spmdvm_vm::interp::native::Context;
use std::mem::offset_of;

/// The class of an operand of an exit, and where it is.
type Place = (RegClass, Option<Allocation>);

const TOO_FEW: &str = "an exit has too few operands";

/// The instruction that stores the low bytes of a general register, so many, and the form of its operand.
fn general_store(size: usize) -> (Code, Form) {
    match size {
        1 => (Code::Mov_rm8_r8, Form::G8),
        2 => (Code::Mov_rm16_r16, Form::G16),
        4 => (Code::Mov_rm32_r32, Form::G32),
        _ => (Code::Mov_rm64_r64, Form::G64),
    }
}

impl Emitter<'_> {
    /// Writes what an exit writes, and leaves.
    pub fn way_out(&mut self, way: usize, allocs: &[Allocation]) -> Result<(), String> {
        let flow = self.flow;
        let way = &flow.ways_out[way];
        self.store_ticks()?;
        let mut allocs = allocs.iter().copied();
        let mut base = WriteBase::Frame;
        for write in &way.writes {
            let registers: Vec<_> = write.what.registers().map(|r| (r.class(), allocs.next())).collect();
            if write.base != base {
                base = write.base;
                let at_base = match base {
                    WriteBase::Frame => offset_of!(Context, base),
                    WriteBase::Words => offset_of!(Context, words),
                    WriteBase::Memory => offset_of!(Context, memory_base),
                };
                self.put(Build::new(Code::Mov_r64_rm64).reg(SPARE_BASE).mem(at(CONTEXT, at_base as i32)))?;
            }
            let register = if base == WriteBase::Frame { FRAME } else { SPARE_BASE };
            self.write(write.what, &registers, at(register, write.at))?;
        }
        self.leave(way.exit.0)
    }

    /// Goes back to the caller with the number of an exit: the first time here, later there too.
    fn leave(&mut self, exit: u32) -> Result<(), String> {
        self.put(Build::new(Code::Mov_r32_imm32).reg(Register::EAX).imm(OpKind::Immediate32, exit as i64))?;
        if self.leave_at.is_some() {
            self.jump_always(Label::Leave);
            return Ok(());
        }
        self.leave_at = Some(self.at);
        self.add_counts()?;
        self.put(Build::new(Code::Mov_r64_rm64).reg(Register::RSP).mem(at(Register::RSP, self.frame - 8)))?;
        for &r in SAVED.iter().rev() {
            self.put(Build::new(Code::Pop_r64).reg(r))?;
        }
        self.put(Build::new(Code::VEX_Vzeroupper))?;
        self.put(Build::new(Code::Retnq))
    }

    fn write(&mut self, what: What, from: &[Place], to: MemoryOperand) -> Result<(), String> {
        match what {
            What::Lane { size, of, .. } => self.write_lane(from, size, of, to),
            What::Imm(bits, 8) if i32::try_from(bits as i64).is_err() => {
                self.put(Build::new(Code::Mov_r64_imm64).reg(SPARE).imm(OpKind::Immediate64, bits as i64))?;
                self.put(Build::new(Code::Mov_rm64_r64).mem(to).reg(SPARE))
            }
            What::Imm(bits, size) => {
                let (code, kind) = match size {
                    1 => (Code::Mov_rm8_imm8, OpKind::Immediate8),
                    2 => (Code::Mov_rm16_imm16, OpKind::Immediate16),
                    4 => (Code::Mov_rm32_imm32, OpKind::Immediate32),
                    _ => (Code::Mov_rm64_imm32, OpKind::Immediate32to64),
                };
                self.put(Build::new(code).mem(to).imm(kind, bits as i64))
            }
            What::Gpr(_, size) => {
                let r = self.bring(from.first())?;
                let (code, form) = general_store(size);
                self.put(Build::new(code).mem(to).reg(sized(r, form)))
            }
            What::Vector(_, bytes) => {
                let r = self.bring(from.first())?;
                self.store_vector(r, bytes, to)
            }
            What::SplatGpr(_, size, bytes, n) => {
                let r = self.bring(from.first())?;
                let (code, form) = match size {
                    1 => (Code::EVEX_Vpbroadcastb_zmm_k1z_r32, Form::G32),
                    2 => (Code::EVEX_Vpbroadcastw_zmm_k1z_r32, Form::G32),
                    4 => (Code::EVEX_Vpbroadcastd_zmm_k1z_r32, Form::G32),
                    _ => (Code::EVEX_Vpbroadcastq_zmm_k1z_r64, Form::G64),
                };
                self.put(Build::new(code).reg(SPARE_VECTOR).reg(sized(r, form)))?;
                self.store_copies(bytes, n, to)
            }
            What::SplatVector(_, size, bytes, n) => {
                let r = self.bring(from.first())?;
                self.put(Build::new(broadcast(size, Form::Z)).reg(SPARE_VECTOR).reg(sized(r, Form::X)))?;
                self.store_copies(bytes, n, to)
            }
            What::SplatPool(place, size, bytes, n) => {
                let pool = MemoryOperand::new(Register::RIP, Register::None, 1, place as i64, 8, false, Register::None);
                self.put(Build::new(broadcast(size, Form::Z)).reg(SPARE_VECTOR).mem(pool))?;
                self.store_copies(bytes, n, to)
            }
            What::MaskBits(_) => {
                let r = self.bring(from.first())?;
                self.put(Build::new(Code::VEX_Kmovq_m64_kr).mem(to).reg(r))
            }
            What::MaskBytes(_, bytes, ones) => {
                let r = self.bring(from.first())?;
                let pool = MemoryOperand::new(Register::RIP, Register::None, 1, ones as i64, 8, false, Register::None);
                let load = Build::new(Code::EVEX_Vmovdqu8_zmm_k1z_zmmm512).reg(SPARE_VECTOR).mem(pool);
                self.put(load.mask(r, true))?;
                self.store_vector(SPARE_VECTOR, bytes, to)
            }
        }
    }

    fn store_copies(&mut self, bytes: usize, n: usize, to: MemoryOperand) -> Result<(), String> {
        for i in 0..n {
            let to = MemoryOperand { displacement: to.displacement + (i * bytes) as i64, ..to };
            self.store_vector(SPARE_VECTOR, bytes, to)?;
        }
        Ok(())
    }

    fn store_vector(&mut self, from: Register, bytes: usize, to: MemoryOperand) -> Result<(), String> {
        let (code, form) = match bytes {
            // A cell of one or two bytes has others beside it.
            1 => (Code::EVEX_Vpextrb_r32m8_xmm_imm8, Form::X),
            2 => (Code::EVEX_Vpextrw_r32m16_xmm_imm8, Form::X),
            4 => (Code::EVEX_Vmovss_m32_k1_xmm, Form::X),
            8 => (Code::EVEX_Vmovsd_m64_k1_xmm, Form::X),
            16 => (Code::EVEX_Vmovups_xmmm128_k1z_xmm, Form::X),
            32 => (Code::EVEX_Vmovups_ymmm256_k1z_ymm, Form::Y),
            _ => (Code::EVEX_Vmovups_zmmm512_k1z_zmm, Form::Z),
        };
        let store = Build::new(code).mem(to).reg(sized(from, form));
        self.put(if bytes < 4 { store.imm(OpKind::Immediate8, 0) } else { store })
    }

    /// Writes an element in the lane whose number is the second operand.
    fn write_lane(&mut self, from: &[Place], size: usize, of: usize, to: MemoryOperand) -> Result<(), String> {
        let lane = self.bring(from.get(1))?;
        let narrow = sized(SPARE, Form::G32);
        if lane != SPARE {
            self.put(Build::new(Code::Mov_r32_rm32).reg(narrow).reg(sized(lane, Form::G32)))?;
        }
        let most = (of - 1) as i64;
        self.put(Build::new(Code::And_rm32_imm8).reg(narrow).imm(OpKind::Immediate8to32, most))?;
        let to = MemoryOperand { index: SPARE, scale: size as u32, ..to };
        match from.first() {
            Some(&(RegClass::Int, Some(place))) => match place.as_reg() {
                Some(r) => {
                    let (code, form) = general_store(size);
                    self.put(Build::new(code).mem(to).reg(sized(env::register(r), form)))
                }
                // The spare general registers are taken.
                None => {
                    let (x, slot) = (sized(SPARE_VECTOR, Form::X), self.slot(place)?);
                    self.put(Build::new(Code::EVEX_Vmovq_xmm_rm64).reg(x).mem(slot))?;
                    self.store_vector(SPARE_VECTOR, size, to)
                }
            },
            x => {
                let x = self.bring(x)?;
                self.store_vector(x, size, to)
            }
        }
    }

    /// An operand in a register: its own, or a spare one.
    fn bring(&mut self, from: Option<&Place>) -> Result<Register, String> {
        let (class, from) = from.and_then(|&(class, place)| Some((class, place?))).ok_or(TOO_FEW)?;
        if let Some(reg) = from.as_reg() {
            return Ok(env::register(reg));
        }
        let slot = self.slot(from)?;
        let spare = match class {
            RegClass::Int => SPARE,
            RegClass::Float => SPARE_VECTOR,
            RegClass::Vector => SPARE_MASK,
        };
        self.put(Build::new(Moves::of(class).load).reg(spare).mem(slot))?;
        Ok(spare)
    }
}
