//! Regions of gathers in bodies under masks.

use super::values::{Rng, small};
use super::{ELEMENTS, Host, exit};
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;

struct Masked<'a> {
    host: &'a Host,
    rng: Rng,
    b: Builder,
    ty: Ty,
    masks: Vec<Value>,
    values: Vec<Value>,
    indices: Vec<Value>,
}

/// A region that gathers under masks, computes with that, mixes it with what was there under the same masks and others, and has
/// snapshots of all of it on the way.
pub fn masked(host: &Host, seed: u64) -> Region {
    let mut rng = Rng(seed);
    let ty = rng.pick(&[Ty::F32, Ty::F64, Ty::I32, Ty::I64, Ty::U16, Ty::U8]);
    let mut b = Builder::new(host.width, host.function, 1);
    let mut register = |ty, i: usize| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let v = Type::varying(ty);
    let values = vec![register(v, 0), register(v, 1)];
    let mut masks = vec![register(Type::MASK, 0), register(Type::MASK, 1)];
    let index = register(Type::varying(Ty::I32), 0);
    masks.push(b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK));
    let most = b.constant(Ty::I32, small(Ty::I32, ELEMENTS as i64 / 2 - 1));
    let most = b.inst(Kind::Splat, &[most], Type::varying(Ty::I32));
    let index = b.op(Op::And, Ty::I32, &[index, most]);
    let mut m = Masked { host, rng, b, ty, masks, values, indices: vec![index] };
    for _ in 0..4 + m.rng.below(16) {
        m.step(most);
    }
    m.leave();
    m.b.region
}

impl Masked<'_> {
    fn mask(&mut self) -> Value {
        self.rng.pick(&self.masks)
    }

    /// One of the last values, as a rule: long chains are what is wanted.
    fn value(&mut self) -> Value {
        let from = if self.rng.chance(60) { self.values.len().saturating_sub(3) } else { 0 };
        self.rng.pick(&self.values[from..])
    }

    fn step(&mut self, most: Value) {
        let (ty, v) = (self.ty, Type::varying(self.ty));
        if self.rng.chance(5) {
            // What follows is another block: it sees what comes from this one.
            let next = self.b.block();
            self.b.jump(next, &[]);
            self.b.switch_to(next);
        }
        match self.rng.below(10) {
            0..=2 => {
                let (index, mask) = (self.rng.pick(&self.indices), self.mask());
                let x = self.gather(ty, index, mask);
                self.values.push(x);
            }
            // What is gathered is an index itself.
            3 => {
                let (index, mask) = (self.rng.pick(&self.indices), self.mask());
                let x = self.gather(Ty::I32, index, mask);
                let x = self.b.op(Op::And, Ty::I32, &[x, most]);
                self.indices.push(x);
            }
            4..=5 => {
                let op = self.rng.pick(&[Op::Add, Op::Sub, Op::Mul, Op::Min]);
                let args = [self.value(), self.value()];
                let x = self.b.op(op, ty, &args);
                self.values.push(x);
            }
            6..=7 => {
                let args = [self.mask(), self.value(), self.value()];
                let x = self.b.inst(Kind::Op { op: Op::Select, ty, from: ty }, &args, v);
                self.values.push(x);
            }
            8 => {
                let args = [self.value(), self.value()];
                let less = self.b.op(Op::Lt, ty, &args);
                let mask = self.mask();
                let both = self.b.op(Op::And, Ty::Bool, &[mask, less]);
                self.masks.push(both);
            }
            _ => {
                let mask = self.mask();
                let any = self.b.inst(Kind::AnyLane, &[mask], Type::BOOL);
                let out = self.snapshot();
                self.b.effect(Kind::Guard { exit: out }, &[any]);
            }
        }
    }

    fn gather(&mut self, ty: Ty, index: Value, mask: Value) -> Value {
        let pointer = self.b.constant(Ty::U64, self.host.pointer(ty));
        let base = self.b.host_address(pointer, 0);
        let kind = Kind::Gather { ty, index: Ty::I32, scale: ty.size() as u32, clears: true };
        self.b.inst(kind, &[base, index, mask], Type::varying(ty))
    }

    fn snapshot(&mut self) -> spmdvm_jit::ir::ExitId {
        let places = self.host.places(Type::varying(self.ty));
        let registers = places.into_iter().take(2).map(|place| (place, self.value())).collect();
        let mask = self.mask();
        self.b.exit(exit(self.host, mask, registers, vec![]))
    }

    /// Stores a value under a mask, in a row or by an index, and leaves with others.
    fn leave(&mut self) {
        let ty = self.ty;
        let pointer = self.b.constant(Ty::U64, self.host.pointer(ty));
        let to = self.b.host_address(pointer, 0);
        if self.rng.chance(50) {
            let args = [to, self.rng.pick(&self.indices), self.value(), self.mask()];
            self.b.effect(Kind::Scatter { ty, index: Ty::I32, scale: ty.size() as u32 }, &args);
        } else {
            let args = [to, self.value(), self.mask()];
            let kind = if self.rng.chance(50) { Kind::StoreMasked { ty } } else { Kind::StorePacked { ty } };
            self.b.effect(kind, &args);
        }
        let out = self.snapshot();
        self.b.end(End::Exit(out));
    }
}
