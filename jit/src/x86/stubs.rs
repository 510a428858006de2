//! Calls that keep all registers.
//!
//! Regions call the runtime rarely but from hot loops. So they call *stubs*, which save what the runtime may destroy, call it, and
//! leave its answer in memory. A stub takes its arguments from where `SPARE_BASE` points to; the context comes before them.

use super::build::{Build, at};
use super::emit::ANSWER_AT;
use super::env::{CONTEXT, LOST, SPARE_BASE};
use super::executable::Memory;
use super::flow::Stub;
use crate::native::runtime;
use iced_x86::{Code, Encoder, OpKind, Register};

/// The stubs of a back end, by address.
pub(super) struct Stubs {
    general: u64,
    load: u64,
    store: u64,
    interpret: u64,
    open_frame: u64,
    close_frame: u64,
    pub poll: u64,
    _memory: Memory,
}

/// Where the runtime takes its arguments after the context.
pub(super) const ARGUMENTS: [Register; 3] = [Register::RSI, Register::RDX, Register::RCX];

const N_VECTORS: i32 = 31;
const N_MASKS: i32 = 6;

impl Stubs {
    /// Makes the stubs.
    pub fn new() -> Result<Stubs, String> {
        let targets = [
            runtime::general_address(),
            runtime::load_address(),
            runtime::store_address(),
            runtime::interpret_address(),
            runtime::open_frame_address(),
            runtime::close_frame_address(),
            runtime::poll_address(),
        ];
        let mut bytes = Vec::new();
        let mut places = [0; 7];
        for (place, target) in places.iter_mut().zip(targets) {
            bytes.resize(usize::next_multiple_of(bytes.len(), 16), 0);
            *place = bytes.len();
            bytes.extend(stub(target)?);
        }
        let memory = Memory::new(&bytes)?;
        let [general, load, store, interpret, open_frame, close_frame, poll] =
            places.map(|place| memory.address(place) as u64);
        Ok(Stubs { general, load, store, interpret, open_frame, close_frame, poll, _memory: memory })
    }

    /// The function that a stub calls.
    pub fn target(stub: Stub) -> runtime::Address {
        match stub {
            Stub::General => runtime::general_address(),
            Stub::Load => runtime::load_address(),
            Stub::Store => runtime::store_address(),
            Stub::Interpret => runtime::interpret_address(),
            Stub::OpenFrame => runtime::open_frame_address(),
            Stub::CloseFrame => runtime::close_frame_address(),
        }
    }

    pub fn of(&self, stub: Stub) -> u64 {
        match stub {
            Stub::General => self.general,
            Stub::Load => self.load,
            Stub::Store => self.store,
            Stub::Interpret => self.interpret,
            Stub::OpenFrame => self.open_frame,
            Stub::CloseFrame => self.close_frame,
        }
    }
}

/// The bytes of a stub; they can lie anywhere.
fn stub(target: runtime::Address) -> Result<Vec<u8>, String> {
    let mut encoder = Encoder::new(64);
    let mut ip = 0;
    let mut put = |build: Build| -> Result<(), String> {
        ip += encoder.encode(&build.0, ip).map_err(|e| e.to_string())? as u64;
        Ok(())
    };
    let (sp, masks, words) = (Register::RSP, 64 * N_VECTORS, 64 * N_VECTORS + 8 * N_MASKS);
    let room = (words + 8 + 63) / 64 * 64;
    put(Build::new(Code::Push_r64).reg(Register::RBP))?;
    for &r in &LOST {
        put(Build::new(Code::Push_r64).reg(r))?;
    }
    put(Build::new(Code::Mov_r64_rm64).reg(Register::RBP).reg(sp))?;
    put(Build::new(Code::Sub_rm64_imm32).reg(sp).imm(OpKind::Immediate32to64, room as i64))?;
    put(Build::new(Code::And_rm64_imm8).reg(sp).imm(OpKind::Immediate8to64, -64))?;
    for i in 0..N_VECTORS {
        let code = Code::EVEX_Vmovups_zmmm512_k1z_zmm;
        put(Build::new(code).mem(at(sp, 64 * i)).reg(Register::ZMM0 + i as u32))?;
    }
    for i in 0..N_MASKS {
        put(Build::new(Code::VEX_Kmovq_m64_kr).mem(at(sp, masks + 8 * i)).reg(Register::K1 + i as u32))?;
    }
    put(Build::new(Code::Mov_rm64_r64).mem(at(sp, words)).reg(SPARE_BASE))?;
    put(Build::new(Code::Mov_r64_rm64).reg(Register::RDI).reg(CONTEXT))?;
    for (i, r) in ARGUMENTS.into_iter().enumerate() {
        put(Build::new(Code::Mov_r64_rm64).reg(r).mem(at(SPARE_BASE, 8 * i as i32)))?;
    }
    put(Build::new(Code::VEX_Vzeroupper))?;
    put(Build::new(Code::Mov_r64_imm64).reg(Register::RAX).imm(OpKind::Immediate64, target))?;
    put(Build::new(Code::Call_rm64).reg(Register::RAX))?;
    put(Build::new(Code::Mov_r64_rm64).reg(SPARE_BASE).mem(at(sp, words)))?;
    put(Build::new(Code::Mov_rm32_r32).mem(at(SPARE_BASE, ANSWER_AT)).reg(Register::EAX))?;
    for i in 0..N_VECTORS {
        let code = Code::EVEX_Vmovups_zmm_k1z_zmmm512;
        put(Build::new(code).reg(Register::ZMM0 + i as u32).mem(at(sp, 64 * i)))?;
    }
    for i in 0..N_MASKS {
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
