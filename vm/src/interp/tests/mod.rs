//! Tests of the interpreter, by what they test. Everything runs on both instruction sets.

mod calls;
mod mask_stack;
mod memory;
mod table;

use super::elementwise::Isa;
use super::{Arg, LaneValues, Limits, Machine, PreparedProgram};
use crate::builder::FunctionBuilder;
use crate::program::{FuncId, Function, Global, Program};
use crate::trap::Trap;
use crate::types::{Ty, Width};
use crate::verify::verify;

/// A small generator of test data (xorshift64*, Vigna 2016).
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }

    /// Bits of a value of a type, often a remarkable one.
    pub fn value(&mut self, ty: Ty) -> u64 {
        let bits = ty.size() * 8;
        let low = u64::MAX >> (64 - bits);
        if ty == Ty::Bool {
            return self.below(2);
        }
        match (self.below(4), ty) {
            (0, Ty::F16) => [0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x3c00, 0x7bff][self.below(8) as usize],
            (0, Ty::F32) => {
                let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, 2147483648.0, -1.5];
                special[self.below(8) as usize].to_bits() as u64
            }
            (0, Ty::F64) => {
                let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 9.3e18, -1.5];
                special[self.below(8) as usize].to_bits()
            }
            (1, Ty::F32) => ((self.below(2000) as f32 - 1000.0) / 8.0).to_bits() as u64,
            (1, Ty::F64) => ((self.below(2000) as f64 - 1000.0) / 8.0).to_bits(),
            (1, Ty::F16) => half::f16::from_f32((self.below(200) as f32 - 100.0) / 8.0).to_bits() as u64,
            (0, _) => [0, 1, low, low >> 1, (low >> 1) + 1, 2][self.below(6) as usize],
            (1, _) => self.below(16),
            _ => self.next() & low,
        }
    }
}

pub(super) const ISAS: [Isa; 2] = [Isa::Baseline, Isa::Avx2];

/// The instruction sets this machine can test.
pub(super) fn isas() -> impl Iterator<Item = Isa> {
    ISAS.into_iter().filter(|&isa| isa == Isa::Baseline || Isa::detect() == Isa::Avx2)
}

pub(super) fn program(width: Width, functions: Vec<Function>) -> Program {
    Program { width, functions, ..Program::default() }
}

pub(super) fn global(name: &str, size: u64) -> Global {
    Global { name: name.into(), size, init: Vec::new(), constant: false, relocations: Vec::new(), host: None }
}

pub(super) fn machine_for(program: Program, isa: Isa, limits: Limits) -> Machine {
    let verified = verify(program).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Machine::new(PreparedProgram::for_isa(&verified, isa), limits).unwrap()
}

pub(super) fn machine(program: Program) -> Machine {
    machine_for(program, Isa::detect(), Limits { stack: 1 << 20, ..Limits::default() })
}

/// Builds a program of one function.
pub(super) fn build(width: Width, body: impl FnOnce(&mut FunctionBuilder)) -> Program {
    let mut b = FunctionBuilder::new("f");
    body(&mut b);
    program(width, vec![b.finish()])
}

/// Calls the first function and copies its results.
pub(super) fn call(machine: &mut Machine, args: &[Arg<'_>], mask: u64) -> Result<Vec<LaneValues>, Trap> {
    machine.call(FuncId(0), args, mask).map(|r| r.to_vec())
}

/// Equal, where all NaNs of a float type are.
pub(super) fn same(ty: Ty, a: u64, b: u64) -> bool {
    let nan = |bits: u64| match ty {
        Ty::F16 => bits & 0x7fff > 0x7c00,
        Ty::F32 => f32::from_bits(bits as u32).is_nan(),
        Ty::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    a == b || (nan(a) && nan(b))
}
