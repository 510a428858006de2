//! The vector extensions that code is made for: levels of the x86-64 architecture, as its ABI numbers them.
//!
//! | | [`V4`] | [`V3`] |
//! |---|---|---|
//! | has | AVX-512 F, BW, CD, DQ, VL | AVX2, FMA, F16C |
//! | vectors | 32 of 512 bits | 16 of 256 bits |
//! | a mask | a mask register | bits in a general register; in a vector where lanes are selected by it |
//!
//! Rules of selection are written for both: for vectors of [`WHOLE`](Level::WHOLE) size, in the encodings of AVX-512. What AVX2 has no
//! instruction for, [`avx2`](super::avx2) makes of several; where that would be many, rules ask for the level.

use super::X86;
use super::avx2;
use super::env::Environment;
use super::flags;
use super::inst::Size;
use super::memory::forms;
use super::operands;
use super::stubs::Stubs;
use super::ternary;
use crate::backend::CompileError;
use crate::vcode::{Forms, VCode};
use iced_x86::{Instruction, Register};
use regalloc2::RegClass;
use std::sync::{Arc, OnceLock};

/// Stubs, once they have been made.
pub type MadeStubs = OnceLock<Result<Arc<Stubs>, CompileError>>;

/// A level.
pub trait Level: Sized + Send + Sync + 'static {
    /// Whether masks have registers of their own, and instructions take them.
    const HAS_MASKS: bool;
    /// The largest vectors.
    const WHOLE: Size;
    /// Their bytes.
    const VECTOR_BYTES: usize;
    /// The class of registers that masks are in.
    const MASK: RegClass;
    /// Counters that are kept in a register.
    const COUNTERS: usize;
    /// Which operands instructions take.
    const FORMS: Forms;
    /// Vectors that are allocated, from the first on.
    const N_VECTORS: usize;
    /// The vector of the code between instructions.
    const SPARE_VECTOR: Register;
    /// Mask registers that are allocated, from the second on: the first cannot be the mask of an instruction.
    const N_MASKS: usize;

    /// Registers that are allocated.
    fn environment() -> &'static Environment;

    /// The stubs, the same for all.
    fn stubs() -> &'static MadeStubs;

    /// What the machine must have, by name, and whether this one has it.
    fn features() -> Vec<(&'static str, bool)>;

    /// Does something about the instructions when all are there.
    fn improve(code: &mut VCode<X86<Self>>);

    /// An instruction of AVX-512 as one of the level, if there is one.
    fn encoded(instruction: Instruction) -> Result<Instruction, CompileError>;
}

/// Those with AVX-512.
#[derive(Debug)]
pub enum V4 {}

/// Those with AVX2.
#[derive(Debug)]
pub enum V3 {}

#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($feature:tt) => {
        std::arch::is_x86_feature_detected!($feature)
    };
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! has {
    ($feature:tt) => {
        false
    };
}

/// What both have.
fn common() -> [(&'static str, bool); 4] {
    [("BMI1", has!("bmi1")), ("BMI2", has!("bmi2")), ("LZCNT", has!("lzcnt")), ("POPCNT", has!("popcnt"))]
}

impl Level for V4 {
    const HAS_MASKS: bool = true;
    const WHOLE: Size = Size::Z;
    const VECTOR_BYTES: usize = 64;
    const MASK: RegClass = RegClass::Vector;
    const COUNTERS: usize = 16;
    const FORMS: Forms = forms::<V4>();
    const N_VECTORS: usize = 30;
    const SPARE_VECTOR: Register = Register::ZMM31;
    const N_MASKS: usize = 6;

    fn environment() -> &'static Environment {
        static MADE: OnceLock<Environment> = OnceLock::new();
        MADE.get_or_init(Environment::of::<V4>)
    }

    fn stubs() -> &'static MadeStubs {
        static STUBS: MadeStubs = OnceLock::new();
        &STUBS
    }

    fn features() -> Vec<(&'static str, bool)> {
        let own = [
            ("AVX-512 F", has!("avx512f")),
            ("AVX-512 BW", has!("avx512bw")),
            ("AVX-512 CD", has!("avx512cd")),
            ("AVX-512 DQ", has!("avx512dq")),
            ("AVX-512 VL", has!("avx512vl")),
        ];
        own.into_iter().chain(common()).collect()
    }

    fn improve(code: &mut VCode<X86<V4>>) {
        ternary::run(code);
        operands::run(code);
        flags::run(code);
    }

    fn encoded(instruction: Instruction) -> Result<Instruction, CompileError> {
        Ok(instruction)
    }
}

impl Level for V3 {
    const HAS_MASKS: bool = false;
    const WHOLE: Size = Size::Y;
    const VECTOR_BYTES: usize = 32;
    const MASK: RegClass = RegClass::Int;
    const COUNTERS: usize = 0;
    const FORMS: Forms = forms::<V3>();
    const N_VECTORS: usize = 15;
    const SPARE_VECTOR: Register = Register::ZMM15;
    const N_MASKS: usize = 0;

    fn environment() -> &'static Environment {
        static MADE: OnceLock<Environment> = OnceLock::new();
        MADE.get_or_init(Environment::of::<V3>)
    }

    fn stubs() -> &'static MadeStubs {
        static STUBS: MadeStubs = OnceLock::new();
        &STUBS
    }

    fn features() -> Vec<(&'static str, bool)> {
        let own = [("AVX2", has!("avx2")), ("FMA", has!("fma")), ("F16C", has!("f16c"))];
        own.into_iter().chain(common()).collect()
    }

    fn improve(code: &mut VCode<X86<V3>>) {
        avx2::run(code);
        operands::run(code);
    }

    fn encoded(instruction: Instruction) -> Result<Instruction, CompileError> {
        avx2::encoded(instruction)
    }
}
