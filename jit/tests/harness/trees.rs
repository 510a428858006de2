//! Regions of expressions over few values and telling constants, where rules of simplification find much to do.

use super::values::{Rng, edges, small};
use super::{ELEMENTS, Host, exit};
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Shape, Ty};

struct Trees<'a> {
    host: &'a Host,
    rng: Rng,
    b: Builder,
    inputs: Vec<Value>,
}

/// A region that stores as many results of random expressions as fit the arrays of two types and of masks.
pub fn trees(host: &Host, seed: u64) -> Region {
    let mut rng = Rng(seed);
    let whole: Vec<Ty> = Ty::ALL.into_iter().filter(|t| t.is_int()).collect();
    let types = [rng.pick(&whole), rng.pick(&whole), Ty::Bool];
    let mut t = Trees { host, rng, b: Builder::new(host.width, host.function, 1), inputs: Vec::new() };
    for ty in types {
        for i in 0..2 {
            for shape in [Shape::Varying, Shape::Uniform] {
                let place = host.places(Type { shape, ty })[i];
                let v = t.b.inst(Kind::EntryReg { at: place.at }, &[], place.ty);
                t.inputs.push(v);
            }
        }
    }
    let mask = t.b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    t.inputs.push(mask);
    for (i, ty) in types.into_iter().enumerate() {
        if types[..i].contains(&ty) {
            continue;
        }
        let pointer = t.b.constant(Ty::U64, host.pointer(ty));
        for at in 0..ELEMENTS / host.width.lanes() {
            let disp = (at * host.width.lanes() * ty.size()) as i64;
            let to = t.b.host_address(pointer, disp);
            let v = t.expression(ty, &types, 4);
            let v = t.varying(v);
            t.b.effect(Kind::StoreLanes { ty }, &[to, v]);
        }
    }
    let out = t.b.exit(exit(host, mask, vec![], vec![]));
    t.b.end(End::Exit(out));
    t.b.region
}

impl Trees<'_> {
    fn varying(&mut self, v: Value) -> Value {
        let ty = self.b.region.ty(v);
        if ty.is_varying() { v } else { self.b.inst(Kind::Splat, &[v], Type::varying(ty.ty)) }
    }

    fn constant(&mut self, ty: Ty) -> Value {
        let ends = edges(ty);
        let bits = if self.rng.chance(60) { small(ty, self.rng.below(5) as i64 - 2) } else { self.rng.pick(&ends) };
        let c = self.b.constant(ty, bits);
        if self.rng.chance(40) { self.varying(c) } else { c }
    }

    fn leaf(&mut self, ty: Ty) -> Value {
        let fitting: Vec<Value> = self.inputs.iter().copied().filter(|&v| self.b.region.ty(v).ty == ty).collect();
        if fitting.is_empty() || self.rng.chance(35) { self.constant(ty) } else { self.rng.pick(&fitting) }
    }

    fn op(&mut self, op: Op, ty: Ty, from: Ty, args: &[Value]) -> Value {
        let elem = op.info().sig.dst.unwrap().ty.resolve(ty, from);
        let varying = args.iter().any(|&a| self.b.region.ty(a).is_varying());
        let result = if varying { Type::varying(elem) } else { Type::uniform(elem) };
        self.b.inst(Kind::Op { op, ty, from }, args, result)
    }

    fn expression(&mut self, ty: Ty, types: &[Ty], depth: usize) -> Value {
        if depth == 0 || self.rng.chance(10) {
            return self.leaf(ty);
        }
        let other = self.rng.pick(types);
        let of = |t: &mut Self, ty| t.expression(ty, types, depth - 1);
        match self.rng.below(12) {
            0 => {
                let args = [of(self, Ty::Bool), of(self, ty), of(self, ty)];
                self.op(Op::Select, ty, ty, &args)
            }
            1 => {
                let a = of(self, other);
                self.op(Op::Convert, ty, other, &[a])
            }
            2 if other.size() == ty.size() && ty != Ty::Bool && other != Ty::Bool => {
                let a = of(self, other);
                self.op(Op::Bitcast, ty, other, &[a])
            }
            3 => {
                let op = if ty == Ty::Bool { Op::Not } else { self.rng.pick(&[Op::Not, Op::Neg, Op::Abs]) };
                let a = of(self, ty);
                self.op(op, ty, ty, &[a])
            }
            4 if ty == Ty::Bool => {
                let (a, b) = (of(self, other), of(self, other));
                let op = self.rng.pick(&[Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge]);
                let op = if other == Ty::Bool { self.rng.pick(&[Op::Eq, Op::Ne]) } else { op };
                self.op(op, other, other, &[a, b])
            }
            5 => self.leaf(ty),
            6 if ty == Ty::Bool => {
                let a = of(self, Ty::Bool);
                let a = self.varying(a);
                self.b.inst(Kind::AnyLane, &[a], Type::BOOL)
            }
            n => {
                let bits = [Op::And, Op::Or, Op::Xor];
                let all = [Op::Add, Op::Sub, Op::Mul, Op::Shl, Op::Shr, Op::Min, Op::Max, Op::And, Op::Or, Op::Add];
                let op = if n > 10 || ty == Ty::Bool { self.rng.pick(&bits) } else { self.rng.pick(&all) };
                let a = of(self, ty);
                // Often a constant, or the first operand again.
                let b = match self.rng.below(4) {
                    0 => a,
                    1 => self.constant(ty),
                    _ => of(self, ty),
                };
                let args = if self.rng.chance(20) { [b, a] } else { [a, b] };
                self.op(op, ty, ty, &args)
            }
        }
    }
}
