//! Regions of pairs of arms that compute nearly the same, under masks that exclude each other.

use super::values::{Rng, small};
use super::{ELEMENTS, Host, exit};
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Shape, Ty};

struct Arms<'a> {
    host: &'a Host,
    rng: Rng,
    b: Builder,
    ty: Ty,
    /// What operands are taken from: values from outside, and in each arm what it has computed.
    pool: [Vec<Value>; 2],
}

/// A region that stores what comes of a few pairs of arms.
pub fn arms(host: &Host, seed: u64) -> Region {
    let mut rng = Rng(seed);
    let ty = rng.pick(&[Ty::F32, Ty::F64, Ty::I32, Ty::I64, Ty::U16]);
    let mut b = Builder::new(host.width, host.function, 1);
    let mut inputs = Vec::new();
    for i in 0..3 {
        for shape in [Shape::Varying, Shape::Uniform] {
            let place = host.places(Type { shape, ty })[i % 2];
            inputs.push(b.inst(Kind::EntryReg { at: place.at }, &[], place.ty));
        }
    }
    let condition = host.places(Type::MASK)[0];
    let c = b.inst(Kind::EntryReg { at: condition.at }, &[], Type::MASK);
    let outer = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let pointer = b.constant(Ty::U64, host.pointer(ty));
    let mut a = Arms { host, rng, b, ty, pool: [inputs.clone(), inputs] };
    let exits: Vec<Value> = (0..1 + a.rng.below(2)).flat_map(|_| a.pair(c, outer)).collect();
    for (at, v) in exits.into_iter().take(ELEMENTS / host.width.lanes()).enumerate() {
        let disp = (at * host.width.lanes() * ty.size()) as i64;
        let to = a.b.host_address(pointer, disp);
        a.b.effect(Kind::StoreLanes { ty }, &[to, v]);
    }
    let out = a.b.exit(exit(a.host, outer, vec![], vec![]));
    a.b.end(End::Exit(out));
    a.b.region
}

impl Arms<'_> {
    /// Two arms, as the recorder leaves them; gives what is assigned in them.
    fn pair(&mut self, c: Value, outer: Value) -> Vec<Value> {
        let not = self.b.op(Op::Not, Ty::Bool, &[c]);
        let masks = match self.rng.chance(40) {
            true => [c, not],
            false => [c, not].map(|m| self.b.op(Op::And, Ty::Bool, &[outer, m])),
        };
        let mut variables: Vec<Value> = self.pool[0].iter().copied().filter(|&v| self.varies(v)).take(2).collect();
        for step in 0..1 + self.rng.below(8) {
            self.step(step);
            if self.rng.chance(40) {
                // An assignment in the middle of the arms.
                self.assign(&mut variables, masks);
            }
        }
        self.assign(&mut variables, masks);
        variables
    }

    fn varies(&self, v: Value) -> bool {
        self.b.region.ty(v).is_varying()
    }

    /// The same variable gets what each arm has computed last.
    fn assign(&mut self, variables: &mut [Value], masks: [Value; 2]) {
        let which = self.rng.below(variables.len());
        for (mask, pool) in masks.into_iter().zip(self.pool.clone()) {
            let new = pool[pool.len() - 1];
            let args = [mask, new, variables[which]];
            variables[which] =
                self.b.inst(Kind::Op { op: Op::Select, ty: self.ty, from: self.ty }, &args, Type::varying(self.ty));
        }
        if self.rng.chance(50) {
            let assigned = variables[which];
            self.pool.iter_mut().for_each(|pool| pool.push(assigned));
        }
    }

    /// One more operation in each arm: mostly the same, on what stands at the same place or something else.
    fn step(&mut self, step: usize) {
        let op = self.operation();
        let other = if self.rng.chance(85) { op } else { self.operation() };
        let places: Vec<usize> = (0..3).map(|_| self.place(step)).collect();
        for (arm, op) in [op, other].into_iter().enumerate() {
            let n = op.info().sig.src.len();
            let mut args: Vec<Value> = (0..n).map(|i| self.operand(arm, places[i])).collect();
            if op.info().commutative && self.rng.chance(30) {
                args.swap(0, 1);
            }
            if !args.iter().any(|&v| self.varies(v)) {
                args[0] = self.pool[arm][0];
            }
            let v = self.b.inst(Kind::Op { op, ty: self.ty, from: self.ty }, &args, Type::varying(self.ty));
            self.pool[arm].push(v);
        }
    }

    fn operation(&mut self) -> Op {
        let any = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Neg, Op::Abs];
        let floats = [Op::FDiv, Op::Sqrt, Op::Fma, Op::FDiv, Op::Floor];
        let ints = [Op::MulHi, Op::Xor, Op::Shl, Op::Shr, Op::Popcnt];
        let special = if self.ty.is_float() { floats } else { ints };
        if self.rng.chance(50) { self.rng.pick(&any) } else { self.rng.pick(&special) }
    }

    /// A place in the pools, counted from their ends: mostly the operation before.
    fn place(&mut self, step: usize) -> usize {
        if step > 0 && self.rng.chance(60) { 1 } else { 1 + self.rng.below(6) }
    }

    fn operand(&mut self, arm: usize, place: usize) -> Value {
        match self.rng.below(10) {
            0 => {
                // No powers of two: a quotient by one is a product.
                let bits = small(self.ty, 3 * (self.rng.below(5) as i64 - 2));
                self.b.constant(self.ty, bits)
            }
            1 => {
                let pool = self.pool[arm].clone();
                self.rng.pick(&pool)
            }
            _ => self.pool[arm][self.pool[arm].len().saturating_sub(place)],
        }
    }
}
