//! Quotients by multiplication, against the scalar meaning: in 8 bits all of them.

use super::*;
use crate::ir::{Builder, Type};
use spmdvm_vm::program::FuncId;
use spmdvm_vm::sem;
use spmdvm_vm::types::Width;

/// Instructions on uniform values, evaluated one after another.
struct Code {
    insts: Vec<Inst>,
    inputs: Vec<Value>,
    result: Value,
}

impl Code {
    fn make(ty: Ty, n: usize, make: impl FnOnce(&mut Maker<'_>, &[Value]) -> Value) -> Code {
        let mut b = Builder::new(Width::DEFAULT, FuncId(0), 0);
        let inputs: Vec<Value> = (0..n).map(|_| b.inst(Kind::EntryReg { at: 0 }, &[], Type::uniform(ty))).collect();
        let mut insts = Vec::new();
        let result = make(&mut Maker { region: &mut b.region, to: &mut insts }, &inputs);
        Code { insts, inputs, result }
    }

    fn run(&self, values: &[u64]) -> u64 {
        let mut known = [0; 64];
        self.inputs.iter().zip(values).for_each(|(v, &bits)| known[v.index()] = bits);
        for inst in &self.insts {
            let word = |i: usize| inst.args.get(i).map_or(0, |a| known[a.index()]);
            let bits = match inst.kind {
                Kind::Const(bits) => bits,
                Kind::Op { op, ty, from } => sem::eval(op, ty, from, [word(0), word(1), word(2)]).unwrap(),
                kind => unreachable!("{kind}"),
            };
            known[inst.result.unwrap().index()] = bits;
        }
        known[self.result.index()]
    }
}

fn mask(ty: Ty) -> u64 {
    u64::MAX >> (64 - 8 * ty.size())
}

/// Numbers at which something may go wrong, among them multiples of a divisor and their neighbours.
fn telling(ty: Ty, d: u64) -> Vec<u64> {
    let top = 1u64 << (8 * ty.size() - 1);
    let mut found = vec![0, 1, 2, top, top - 1, top + 1, mask(ty), mask(ty) - 1];
    let mut x = 0x9e37_79b9_7f4a_7c15u64 ^ d;
    for _ in 0..8 {
        x = x.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        let multiple = (x >> 7).checked_div(d).unwrap_or(0).wrapping_mul(d);
        found.extend([x >> 3, multiple, multiple.wrapping_sub(1), multiple.wrapping_add(1)]);
    }
    let most = mask(ty).checked_div(d).unwrap_or(0) * d;
    found.extend([most, most.wrapping_sub(1), (top / d.max(1)) * d, d, d.wrapping_sub(1), d.wrapping_neg()]);
    found.iter().map(|x| x & mask(ty)).collect()
}

fn check(ty: Ty, d: u64, numbers: impl IntoIterator<Item = u64>) {
    let code = Code::make(ty, 1, |m, v| by_constant(m, ty, v[0], d));
    for x in numbers {
        let want = sem::eval(Op::IDiv, ty, ty, [x, d, 0]).unwrap();
        assert_eq!(code.run(&[x]), want, "{x:#x} / {d:#x} as {ty}: {:?}", code.insts);
    }
}

#[test]
fn all_quotients_of_8_bits() {
    for ty in [Ty::I8, Ty::U8] {
        (1..256).for_each(|d| check(ty, d, 0..256));
    }
}

#[test]
fn all_divisors_of_16_bits() {
    for ty in [Ty::I16, Ty::U16] {
        (1..1 << 16).for_each(|d| check(ty, d, telling(ty, d).into_iter().step_by(6)));
        for d in [3, 7, 10, 641, 0x7fff, 0x8000, 0x8001, 0xffff] {
            check(ty, d, 0..1 << 16);
        }
    }
}

/// Small divisors, powers of two and their neighbours, and others.
fn divisors(ty: Ty) -> Vec<u64> {
    let bits = 8 * ty.size();
    let mut found: Vec<u64> = (1..2000).collect();
    for k in 0..bits {
        let power = 1u64 << k;
        found.extend([
            power,
            power - 1,
            power + 1,
            power.wrapping_neg(),
            !power,
            power.wrapping_mul(3),
            power.wrapping_mul(7),
        ]);
    }
    found.extend((1..3000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 60)));
    found.iter().map(|d| d & mask(ty)).filter(|&d| d != 0).collect()
}

#[test]
fn divisors_of_32_and_64_bits() {
    for ty in [Ty::I32, Ty::U32, Ty::I64, Ty::U64] {
        divisors(ty).into_iter().for_each(|d| check(ty, d, telling(ty, d)));
    }
}

#[test]
fn divisors_that_are_known_late() {
    for ty in [Ty::I32, Ty::U32] {
        let code = Code::make(ty, 2, |m, v| invariant::Factors::make(m, ty, v[1]).quotient(m, ty, v[0]));
        for d in divisors(ty) {
            for x in telling(ty, d) {
                let want = sem::eval(Op::IDiv, ty, ty, [x, d, 0]).unwrap();
                assert_eq!(code.run(&[x, d]), want, "{x:#x} / {d:#x} as {ty}");
            }
        }
        // Nothing is divided by zero on the way, and nothing is made of the result.
        code.run(&[5, 0]);
    }
}

#[test]
fn one_product_divides_a_byte() {
    for c in (1u64..256).filter(|c| !c.is_power_of_two()) {
        let factor = (1u64 << 16).div_ceil(c);
        (0..256).for_each(|x| assert_eq!((x * factor) >> 16, x / c, "{x} / {c}"));
    }
}
