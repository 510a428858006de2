//! More values than registers.

use super::by_hand::entry;
use super::values::small;
use super::{BANK, BankRegister, Host, exit};
use spmdvm_jit::ir::{BlockId, Builder, ExitId, Kind, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;

/// More values of each class than there are registers, and what is done with them in each round of a loop.
pub struct Crowd {
    pub values: Vec<Value>,
    op: Op,
    ty: Ty,
}

impl Crowd {
    /// Different numbers, made of a register.
    pub fn new(b: &mut Builder, place: BankRegister, op: Op, n: usize) -> Crowd {
        let (ty, x) = (place.ty.ty, entry(b, place));
        let mut values = vec![x];
        for i in 1..n {
            let last = values[i - 1];
            values.push(match ty {
                // Without the first lanes, one by one.
                Ty::Bool => {
                    let bits = b.constant(Ty::U64, 0x9e37_79b9_7f4a_7c15 << i);
                    let mask = b.inst(Kind::MaskFromBits, &[bits], Type::MASK);
                    b.op(Op::Xor, ty, &[last, mask])
                }
                _ => {
                    let c = b.constant(ty, small(ty, 3));
                    b.op(Op::Add, ty, &[last, c])
                }
            });
        }
        Crowd { values, op, ty }
    }

    pub fn type_of(&self, b: &Builder) -> Type {
        b.region.ty(self.values[0])
    }

    /// As parameters of a block.
    pub fn params(&self, b: &mut Builder, block: BlockId) -> Crowd {
        let ty = self.type_of(b);
        Crowd { values: self.values.iter().map(|_| b.param(block, ty)).collect(), ..*self }
    }

    /// Each with its neighbour.
    pub fn mixed(&self, b: &mut Builder) -> Crowd {
        let next = self.values.iter().cycle().skip(1);
        let values = self.values.iter().zip(next).map(|(&x, &y)| b.op(self.op, self.ty, &[x, y])).collect();
        Crowd { values, ..*self }
    }

    /// All in a few.
    pub fn folded(&self, b: &mut Builder) -> Vec<Value> {
        let fold = |b: &mut Builder, some: &[Value]| {
            some[1..].iter().fold(some[0], |x, &y| {
                let twice = if self.ty == Ty::Bool { x } else { b.op(Op::Add, self.ty, &[x, x]) };
                b.op(self.op, self.ty, &[twice, y])
            })
        };
        self.values.chunks(self.values.len().div_ceil(BANK)).map(|some| fold(b, some)).collect()
    }
}

/// An exit with the first ones of each crowd, in registers and as masks.
pub fn crowded_exit(b: &mut Builder, host: &Host, crowds: &[Crowd], from: usize) -> ExitId {
    let mut regs = Vec::new();
    for crowd in crowds {
        let places = host.places(crowd.type_of(b));
        regs.extend(places.into_iter().zip(crowd.values[from..].iter().copied()));
    }
    let masks = crowds.iter().find(|c| c.type_of(b) == Type::MASK).expect("there are masks");
    let m = |i: usize| masks.values[from + i];
    let visiting = crowds.iter().find(|c| c.type_of(b) == Type::uniform(Ty::I32)).map(|c| c.values[from]);
    let state = exit(host, m(0), regs, vec![(m(1), m(2), visiting), (m(3), m(0), None)]);
    b.exit(state)
}
