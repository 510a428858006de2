//! Random regions.

use super::values::Rng;
use super::{ELEMENTS, Host, exit, is_of_results};
use spmdvm_jit::ir::{
    Address, BlockId, Builder, CallSite, End, EntryMask, ExitId, ExitReason, Kind, Region, Type, Value,
};
use spmdvm_vm::Op;
use spmdvm_vm::isa::{Effect, Form, OPS, OpInfo};
use spmdvm_vm::program::FuncId;
use spmdvm_vm::sem;
use spmdvm_vm::types::{Shape, Ty};

/// Makes a well-typed region at random.
pub struct Generator<'a> {
    host: &'a Host,
    rng: Rng,
    b: Builder,
    /// Values that may be used here.
    live: Vec<Value>,
    /// Types that this region likes: with few, values meet each other more often.
    types: Vec<Ty>,
    calls: Vec<&'static OpInfo>,
}

impl<'a> Generator<'a> {
    pub fn new(host: &'a Host, seed: u64) -> Self {
        let mut rng = Rng(seed);
        let mut types = vec![Ty::I32, Ty::Bool];
        types.extend((0..2).map(|_| rng.pick(&Ty::ALL)));
        let wanted = |r: &&'static OpInfo| {
            matches!(r.effect, Effect::Pure) && r.form != Form::Special
                || r.form == Form::Checked
                || matches!(r.op, Op::Select | Op::Convert | Op::Bitcast)
        };
        let calls = OPS.iter().filter(wanted).collect();
        Generator { host, rng, b: Builder::new(host.width, host.function, 1), live: Vec::new(), types, calls }
    }

    fn ty(&mut self) -> Ty {
        let types = self.types.clone();
        self.rng.pick(&types)
    }

    fn shape(&mut self) -> Shape {
        if self.rng.chance(70) { Shape::Varying } else { Shape::Uniform }
    }

    /// Adds a value to those that may be used.
    fn add(&mut self, kind: Kind, args: &[Value], ty: Type) -> Value {
        let v = self.b.inst(kind, args, ty);
        self.live.push(v);
        v
    }

    /// A value of a type: one that is there (often a late one), or a new constant.
    fn value(&mut self, ty: Type) -> Value {
        let fitting: Vec<Value> = self.live.iter().copied().filter(|&v| self.b.region.ty(v) == ty).collect();
        if !fitting.is_empty() && self.rng.chance(90) {
            let late = fitting.len().saturating_sub(4);
            return if self.rng.chance(60) { self.rng.pick(&fitting[late..]) } else { self.rng.pick(&fitting) };
        }
        let bits = self.rng.value(ty.ty);
        let c = self.b.constant(ty.ty, bits);
        if ty.is_varying() { self.add(Kind::Splat, &[c], ty) } else { c }
    }

    /// The values that a region is given.
    fn entry(&mut self) {
        for ty in self.types.clone() {
            for shape in [Shape::Uniform, Shape::Varying] {
                for place in &self.host.places(Type { shape, ty })[..2] {
                    self.add(Kind::EntryReg { at: place.at }, &[], place.ty);
                }
            }
        }
        for mask in [EntryMask::Execution, EntryMask::Restore(0), EntryMask::Other(0)] {
            self.add(Kind::EntryMask(mask), &[], Type::MASK);
        }
        self.add(Kind::EntryVisiting(0), &[], Type::uniform(Ty::I32));
        self.add(Kind::Op { op: Op::Iota, ty: Ty::I32, from: Ty::I32 }, &[], Type::varying(Ty::I32));
    }

    /// An elementwise operation.
    fn compute(&mut self) {
        let calls = self.calls.clone();
        let row = self.rng.pick(&calls);
        let ty = self.ty();
        let from = if row.sig.has_from { self.ty() } else { ty };
        let odd = row.op == Op::Bitcast && (ty == Ty::Bool || from == Ty::Bool);
        if odd || sem::eval(row.op, ty, from, [1; 3]).is_none() {
            return;
        }
        let shapes: Vec<Shape> = row.sig.src.iter().map(|_| self.shape()).collect();
        let mut args: Vec<Value> = row
            .sig
            .src
            .iter()
            .zip(shapes)
            .map(|(slot, shape)| self.value(Type { shape, ty: slot.ty.resolve(ty, from) }))
            .collect();
        if row.form == Form::Checked && !self.b.region.ty(args[1]).is_varying() {
            // A divisor for all lanes stands behind a guard that it is not 0.
            let one = self.constant(ty, 1);
            args[1] = self.b.op(Op::Or, ty, &[args[1], one]);
        }
        let varying = args.iter().any(|&a| self.b.region.ty(a).is_varying());
        let shape = if varying { Shape::Varying } else { Shape::Uniform };
        let result = Type { shape, ty: row.sig.dst.unwrap().ty.resolve(ty, from) };
        self.add(Kind::Op { op: row.op, ty, from }, &args, result);
    }

    /// An operation on lanes or masks.
    fn lanes(&mut self) {
        let ty = self.ty();
        let (u, v) = (Type::uniform(ty), Type::varying(ty));
        let op = |op| Kind::Op { op, ty, from: ty };
        match self.rng.below(8) {
            0 => {
                let args = [self.value(v), self.value(Type::varying(Ty::I32))];
                self.add(op(Op::Shuffle), &args, v);
            }
            1 => {
                let args = [self.value(v), self.value(Type::uniform(Ty::I32))];
                self.add(op(Op::Extract), &args, u);
            }
            2 => {
                let args = [self.value(v), self.value(Type::uniform(Ty::I32)), self.value(u)];
                self.add(op(Op::Insert), &args, v);
            }
            3 => {
                let a = self.value(Type::MASK);
                self.add(Kind::MaskBits, &[a], Type::uniform(Ty::U64));
            }
            4 => {
                let a = self.value(Type::uniform(Ty::U64));
                self.add(Kind::MaskFromBits, &[a], Type::MASK);
            }
            5 => {
                let a = self.value(Type::MASK);
                self.add(Kind::AnyLane, &[a], Type::BOOL);
            }
            6 => {
                let a = self.value(u);
                self.add(Kind::Splat, &[a], v);
            }
            _ => {
                let rows: Vec<_> = OPS.iter().filter(|r| r.form == Form::Reduce && r.types.contains(ty)).collect();
                let row = self.rng.pick(&rows);
                let a = self.value(v);
                self.add(Kind::Reduce { op: row.op, ty }, &[a], u);
            }
        }
    }

    fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.b.constant(ty, bits)
    }

    /// A varying `i32` or `i64` that is an index into an array.
    fn index(&mut self, ty: Ty) -> Value {
        let any = self.value(Type::varying(ty));
        let most = self.constant(ty, 127);
        self.b.op(Op::And, ty, &[any, most])
    }

    /// A checked or unchecked access to an array.
    fn access(&mut self) {
        let ty = self.ty();
        let (u, v) = (Type::uniform(ty), Type::varying(ty));
        let pointer = self.constant(Ty::U64, self.host.pointer(ty));
        let disp = self.rng.below(16) as i64 * ty.size() as i64;
        let host = self.b.host_address(pointer, disp);
        let index_ty = self.rng.pick(&[Ty::I32, Ty::U32, Ty::I64, Ty::U64]);
        let (scale, size) = (ty.size() as u32, ty.size() as i32);
        match self.rng.below(14) {
            kind @ 10..12 => {
                // As far apart as the array is long enough for, up and down; also neighbours, in any order.
                let most = ((ELEMENTS - 20) / self.host.width.lanes().max(2)).min(3) as i32;
                let n = self.rng.below(2 * most as usize + 1) as i32 - most;
                let last = (n * (self.host.width.lanes() as i32 - 1)).min(0);
                let stride = n * size;
                for _ in 0..1 + self.rng.below(4) {
                    let member = self.rng.below(4) as i64 * size as i64;
                    let host = self.b.host_address(pointer, disp + member - (last * size) as i64);
                    if kind == 10 {
                        self.add(Kind::LoadStrided { ty, stride }, &[host], v);
                    } else {
                        let args = [host, self.value(v)];
                        self.b.effect(Kind::StoreStrided { ty, stride }, &args);
                    }
                }
            }
            0 => {
                self.add(Kind::Load { ty }, &[host], u);
            }
            1 => {
                self.add(Kind::LoadLanes { ty }, &[host], v);
            }
            2 => {
                let args = [host, self.index(index_ty), self.value(Type::MASK)];
                self.add(Kind::Gather { ty, index: index_ty, scale, clears: true }, &args, v);
            }
            3 => {
                let args = [host, self.value(u)];
                self.b.effect(Kind::Store { ty }, &args);
            }
            4 => {
                let args = [host, self.value(v)];
                self.b.effect(Kind::StoreLanes { ty }, &args);
            }
            5 => {
                let args = [host, self.value(v), self.value(Type::MASK)];
                self.b.effect(Kind::StoreMasked { ty }, &args);
            }
            6 => {
                let args = [host, self.index(index_ty), self.value(v), self.value(Type::MASK)];
                self.b.effect(Kind::Scatter { ty, index: index_ty, scale }, &args);
            }
            12 => {
                let args = [host, self.value(Type::MASK)];
                self.add(Kind::LoadPacked { ty }, &args, v);
            }
            13 => {
                let args = [host, self.value(v), self.value(Type::MASK)];
                self.b.effect(Kind::StorePacked { ty }, &args);
            }
            n => self.checked_access(n >= 9, ty, pointer, disp),
        }
    }

    fn checked_access(&mut self, store: bool, ty: Ty, pointer: Value, disp: i64) {
        let by_lane = self.rng.chance(30);
        let index_ty = self.rng.pick(&[Ty::I32, Ty::U32, Ty::I64, Ty::U64]);
        let index = self.rng.chance(70).then(|| {
            // Now and then an index that is out of bounds.
            let shape = self.shape();
            let any = self.value(Type { shape, ty: index_ty });
            if self.rng.chance(10) {
                return any;
            }
            let most = self.constant(index_ty, 63);
            self.b.op(Op::And, index_ty, &[any, most])
        });
        let base =
            if self.rng.chance(20) { self.b.inst(Kind::Splat, &[pointer], Type::varying(Ty::U64)) } else { pointer };
        let scale = ty.size() as u32;
        let address = Address { index: index.map(|_| index_ty), scale, disp, by_lane };
        let varying = by_lane || [Some(base), index].iter().flatten().any(|&a| self.b.region.ty(a).is_varying());
        let shape = if varying { Shape::Varying } else { Shape::Uniform };
        let mut args = vec![base];
        args.extend(index);
        let exit = self.exit();
        if store {
            args.push(self.value(Type { shape, ty }));
            args.push(self.value(Type::MASK));
            self.b.effect(Kind::StoreAny { ty, address, exit }, &args);
        } else {
            args.push(self.value(Type::MASK));
            self.add(Kind::LoadAny { ty, address, exit }, &args, Type { shape, ty });
        }
    }

    /// A snapshot with values of all kinds; a uniform one may be broadcast.
    fn exit(&mut self) -> ExitId {
        let mut regs = Vec::new();
        for ty in self.types.clone() {
            for place in self.host.places(Type::varying(ty)).into_iter().chain(self.host.places(Type::uniform(ty))) {
                if self.rng.chance(40) {
                    let shape = if place.ty.is_varying() { self.shape() } else { Shape::Uniform };
                    regs.push((place, self.value(Type { shape, ty })));
                }
            }
        }
        regs.sort_by_key(|r| r.0.at);
        regs.dedup_by_key(|r| r.0.at);
        let mask = self.value(Type::MASK);
        let n = self.rng.below(3);
        let entries = (0..n)
            .map(|_| {
                let visiting = self.rng.chance(30).then(|| self.value(Type::uniform(Ty::I32)));
                (self.value(Type::MASK), self.value(Type::MASK), visiting)
            })
            .collect();
        let state = exit(self.host, mask, regs, entries);
        self.b.exit(state)
    }

    /// A call, which gives all registers for results that have types of this region.
    fn call(&mut self) {
        let exit = self.exit();
        self.b.region.exits[exit.index()].reason = ExitReason::LinkedCall;
        if self.rng.chance(50) {
            let args: Vec<Value> = (0..self.rng.below(3)).filter_map(|_| self.live.last().copied()).collect();
            self.b.effect(Kind::CallIndirect { exit }, &args);
        } else {
            let registers: Vec<_> = self.host.bank.iter().filter(|p| self.types.contains(&p.ty.ty)).copied().collect();
            let taken: Vec<_> = registers.iter().filter(|_| self.rng.chance(30)).collect();
            let given = |g: &mut Self, ty: Type| {
                let shape = if ty.is_varying() { g.shape() } else { Shape::Uniform };
                g.value(Type { shape, ty: ty.ty })
            };
            let mut args: Vec<Value> = taken.iter().map(|place| given(self, place.ty)).collect();
            args.push(self.value(Type::MASK));
            let params = taken.iter().map(|place| (place.at, place.ty)).collect();
            self.b.region.call_sites.push(CallSite {
                callee: FuncId(0),
                at: self.host.frame_bytes,
                params,
                frees: false,
            });
            let site = self.b.region.call_sites.len() as u32 - 1;
            self.b.effect(Kind::Call { site, exit }, &args);
        }
        let types = self.types.clone();
        for place in self.host.bank.clone().iter().filter(|p| is_of_results(p) && types.contains(&p.ty.ty)) {
            self.add(Kind::Returned { at: place.at }, &[], place.ty);
        }
    }

    fn instruction(&mut self) {
        match self.rng.below(100) {
            0..60 => self.compute(),
            60..75 => self.lanes(),
            75..88 => self.access(),
            88..92 => {
                let exit = self.exit();
                let c = self.value(Type::BOOL);
                let c = if self.rng.chance(30) { self.b.op(Op::Not, Ty::Bool, &[c]) } else { c };
                self.b.effect(Kind::Guard { exit }, &[c]);
            }
            92 => self.call(),
            93..95 => {
                let n = self.rng.below(8) as u32;
                self.b.effect(Kind::Count(n), &[]);
            }
            _ => {
                let exit = self.exit();
                self.b.effect(Kind::Tick { units: 1, exit }, &[]);
            }
        }
    }

    fn instructions(&mut self, most: usize) {
        for _ in 0..self.rng.below(most) {
            self.instruction();
        }
    }

    /// Parameters for a block, and the values that one edge hands to them.
    fn params(&mut self, block: BlockId) -> (Vec<Type>, Vec<Value>) {
        let mut types = Vec::new();
        for _ in 0..self.rng.below(5) {
            types.push(Type { shape: self.shape(), ty: self.ty() });
        }
        let args = types.iter().map(|&ty| self.value(ty)).collect();
        for &ty in &types {
            let p = self.b.param(block, ty);
            self.live.push(p);
        }
        (types, args)
    }

    /// `if`, with both arms joining.
    fn diamond(&mut self, depth: usize) {
        let (a, b, join) = (self.b.block(), self.b.block(), self.b.block());
        let cond = self.value(Type::BOOL);
        self.b.branch(cond, (a, &[]), (b, &[]));
        self.b.region.blocks[b.index()].cold = self.rng.chance(30);
        let outside = self.live.clone();
        self.b.switch_to(a);
        self.body(depth + 1);
        let mut types = Vec::new();
        for _ in 0..self.rng.below(4) {
            types.push(Type { shape: self.shape(), ty: self.ty() });
        }
        let args: Vec<Value> = types.iter().map(|&ty| self.value(ty)).collect();
        self.b.jump(join, &args);
        self.live = outside.clone();
        self.b.switch_to(b);
        self.body(depth + 1);
        let args: Vec<Value> = types.iter().map(|&ty| self.value(ty)).collect();
        self.b.jump(join, &args);
        self.live = outside;
        self.b.switch_to(join);
        for ty in types {
            let p = self.b.param(join, ty);
            self.live.push(p);
        }
    }

    /// A loop of a few rounds, left early when a condition holds.
    fn looping(&mut self, depth: usize) {
        let (head, next, done) = (self.b.block(), self.b.block(), self.b.block());
        let counter = Type::uniform(Ty::I32);
        let zero = self.constant(Ty::I32, 0);
        let k = self.b.param(head, counter);
        let (types, mut args) = self.params(head);
        args.insert(0, zero);
        self.b.jump(head, &args);
        self.b.switch_to(head);
        self.live.push(k);
        self.body(depth + 1);
        let rounds = 1 + self.rng.below(4) as u64;
        let (most, one) = (self.constant(Ty::I32, rounds), self.constant(Ty::I32, 1));
        let k2 = self.b.op(Op::Add, Ty::I32, &[k, one]);
        let more = self.b.op(Op::Lt, Ty::I32, &[k2, most]);
        let wish = self.value(Type::BOOL);
        let more = self.b.op(Op::And, Ty::Bool, &[more, wish]);
        self.b.branch(more, (next, &[]), (done, &[]));
        let inside = self.live.clone();
        self.b.switch_to(next);
        self.instructions(4);
        let mut args: Vec<Value> = types.iter().map(|&ty| self.value(ty)).collect();
        args.insert(0, k2);
        self.b.jump(head, &args);
        self.live = inside;
        self.b.switch_to(done);
    }

    fn body(&mut self, depth: usize) {
        self.instructions(14);
        for _ in 0..self.rng.below(4 - depth.min(3)) {
            if self.rng.chance(50) {
                self.diamond(depth)
            } else {
                self.looping(depth)
            }
            self.instructions(10);
        }
    }

    /// The region.
    pub fn run(mut self) -> Region {
        self.entry();
        self.body(0);
        let out = self.exit();
        self.b.end(End::Exit(out));
        self.b.region
    }
}
