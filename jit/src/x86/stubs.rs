//! Calls that keep all registers.
//!
//! What a loop executes seldom is not to cost registers in all rounds. So cold blocks call the runtime by *stubs*, which
//! save what the runtime may destroy, call it, and leave its answer in memory. A stub takes its arguments from where
//! `SPARE_BASE` points to; the context comes before them.

use super::build::{Build, at};
use super::env::{CONTEXT, LOST, SPARE_BASE};
use super::executable::Memory;
use super::level::Level;
use crate::backend::CompileError;
use crate::vcode::{ANSWER_AT, Callee};
use iced_x86::{Code, Encoder, OpKind, Register};

/// The stubs of a back end.
pub struct Stubs {
    /// Their addresses, by the number of what they call.
    addresses: [u64; Callee::ALL.len()],
    _memory: Memory,
}

/// Where the runtime takes its arguments after the context.
pub(super) const ARGUMENTS: [Register; 3] = [Register::RSI, Register::RDX, Register::RCX];

impl Stubs {
    /// Makes the stubs.
    pub fn new<L: Level>() -> Result<Stubs, CompileError> {
        let mut bytes = Vec::new();
        let mut places = [0; Callee::ALL.len()];
        for (place, target) in places.iter_mut().zip(Callee::ALL) {
            bytes.resize(usize::next_multiple_of(bytes.len(), 16), 0);
            *place = bytes.len();
            bytes.extend(stub::<L>(target)?);
        }
        let memory = Memory::new(&bytes)?;
        Ok(Stubs { addresses: places.map(|place| memory.address(place) as u64), _memory: memory })
    }

    /// The address of a stub.
    pub fn of(&self, callee: Callee) -> u64 {
        self.addresses[callee as usize]
    }
}

/// The bytes of a stub; they can lie anywhere.
fn stub<L: Level>(target: Callee) -> Result<Vec<u8>, CompileError> {
    let mut encoder = Encoder::new(64);
    let mut ip = 0;
    let mut put = |build: Build| -> Result<(), CompileError> {
        ip += encoder.encode(&L::encoded(build.0)?, ip).map_err(|e| CompileError::Encoding(e.to_string()))? as u64;
        Ok(())
    };
    // The counters come after the vectors that are allocated.
    let n_vectors = L::N_VECTORS as i32 + i32::from(L::COUNTERS != 0);
    let (sp, masks, words) = (Register::RSP, 64 * n_vectors, 64 * n_vectors + 8 * L::N_MASKS as i32);
    let room = (words + 8 + 63) / 64 * 64;
    put(Build::new(Code::Push_r64).reg(Register::RBP))?;
    for &r in &LOST {
        put(Build::new(Code::Push_r64).reg(r))?;
    }
    put(Build::new(Code::Mov_r64_rm64).reg(Register::RBP).reg(sp))?;
    put(Build::new(Code::Sub_rm64_imm32).reg(sp).imm(OpKind::Immediate32to64, room as i64))?;
    put(Build::new(Code::And_rm64_imm8).reg(sp).imm(OpKind::Immediate8to64, -64))?;
    for i in 0..n_vectors {
        let code = Code::EVEX_Vmovups_zmmm512_k1z_zmm;
        put(Build::new(code).mem(at(sp, 64 * i)).reg(Register::ZMM0 + i as u32))?;
    }
    for i in 0..L::N_MASKS as i32 {
        put(Build::new(Code::VEX_Kmovq_m64_kr).mem(at(sp, masks + 8 * i)).reg(Register::K1 + i as u32))?;
    }
    put(Build::new(Code::Mov_rm64_r64).mem(at(sp, words)).reg(SPARE_BASE))?;
    put(Build::new(Code::Mov_r64_rm64).reg(Register::RDI).reg(CONTEXT))?;
    for (i, r) in ARGUMENTS.into_iter().enumerate() {
        put(Build::new(Code::Mov_r64_rm64).reg(r).mem(at(SPARE_BASE, 8 * i as i32)))?;
    }
    put(Build::new(Code::VEX_Vzeroupper))?;
    put(Build::new(Code::Mov_r64_imm64).reg(Register::RAX).imm(OpKind::Immediate64, target.address()))?;
    put(Build::new(Code::Call_rm64).reg(Register::RAX))?;
    put(Build::new(Code::Mov_r64_rm64).reg(SPARE_BASE).mem(at(sp, words)))?;
    put(Build::new(Code::Mov_rm64_r64).mem(at(SPARE_BASE, ANSWER_AT)).reg(Register::RAX))?;
    for i in 0..n_vectors {
        let code = Code::EVEX_Vmovups_zmm_k1z_zmmm512;
        put(Build::new(code).reg(Register::ZMM0 + i as u32).mem(at(sp, 64 * i)))?;
    }
    for i in 0..L::N_MASKS as i32 {
        put(Build::new(Code::VEX_Kmovq_kr_km64).reg(Register::K1 + i as u32).mem(at(sp, masks + 8 * i)))?;
    }
    put(Build::new(Code::Mov_r64_rm64).reg(sp).reg(Register::RBP))?;
    for &r in LOST.iter().rev() {
        put(Build::new(Code::Pop_r64).reg(r))?;
    }
    put(Build::new(Code::Pop_r64).reg(Register::RBP))?;
    put(Build::new(Code::Retnq))?;
    Ok(encoder.take_buffer())
}
