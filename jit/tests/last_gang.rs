//! The pass that ends loops with their first gang that is not whole.

mod harness;

use harness::Host;
use harness::by_hand::{entry, execution_mask, leave};
use harness::passing::{compare, run_pass, seeds};
use harness::values::Rng;
use spmdvm_jit::ir::{BlockId, Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};

const LANES: u32 = 8;

/// The constants of a loop as `foreach` makes it, or nearly so.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// What is added behind a whole gang, and behind one that is not.
    step: i64,
    last_step: i64,
    /// How much less than the end the limit for whole gangs is, before and behind a gang that is not.
    less: i64,
    less_behind: i64,
    /// Whether constants are subtracted.
    subtracts: bool,
    /// The first number, from the end on: not above it, as sums wrap around.
    first: i32,
}

impl Shape {
    /// That of `foreach`.
    fn plain() -> Shape {
        let lanes = i64::from(LANES);
        Shape { step: lanes, last_step: lanes, less: lanes, less_behind: lanes, subtracts: false, first: -37 }
    }

    fn random(seed: u64) -> Shape {
        let mut rng = Rng(seed);
        let mut near = |usual: usize| if rng.chance(usual) { 8 } else { rng.pick(&[1, 5, 7, 9, 12]) };
        let [step, last_step, less, less_behind] = [80, 70, 80, 85].map(&mut near);
        Shape { step, last_step, less, less_behind, subtracts: rng.chance(30), first: -(rng.below(100) as i32) }
    }

    /// Returns whether it ends with its first gang that is not whole.
    fn ends(&self) -> bool {
        self.less == self.less_behind && self.last_step >= self.less
    }

    /// Returns whether a gang that is not whole always lacks a lane.
    fn lacks_lanes(&self) -> bool {
        self.less <= i64::from(LANES)
    }
}

struct Maker {
    b: Builder,
    shape: Shape,
    n: Value,
}

impl Maker {
    fn plus(&mut self, x: Value, by: i64) -> Value {
        let (op, by) = if self.shape.subtracts { (Op::Sub, -by) } else { (Op::Add, by) };
        let by = self.b.constant(Ty::I64, by as u64);
        self.b.op(op, Ty::I64, &[x, by])
    }

    fn asks(&mut self, op: Op, ty: Ty, args: [Value; 2]) -> Value {
        let varies = args.iter().any(|&v| self.b.region.ty(v).is_varying());
        let ty_of = if varies { Type::MASK } else { Type::BOOL };
        self.b.inst(Kind::Op { op, ty, from: ty }, &args, ty_of)
    }

    /// Branches to blocks of its own. Goes on in the first.
    fn branch(&mut self, cond: Value) -> BlockId {
        let (yes, no) = (self.b.block(), self.b.block());
        self.b.branch(cond, (yes, &[]), (no, &[]));
        self.b.switch_to(yes);
        no
    }

    /// How many are left from a number on, and whether there are any.
    fn left(&mut self, i: Value) -> (Value, Value) {
        let zero = self.b.constant(Ty::I64, 0);
        let left = self.b.op(Op::Sub, Ty::I64, &[self.n, i]);
        let any = self.asks(Op::Gt, Ty::I64, [left, zero]);
        (left, any)
    }
}

/// A loop of that shape, which leaves with the last number, and counts rounds: of whole gangs, of others, and of those whole though they
/// need not be.
fn looped(host: &Host, shape: Shape) -> Region {
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let last = entry(&mut b, host.places(Type::uniform(Ty::I32))[0]);
    let far = b.constant(Ty::I32, shape.first as u32 as u64);
    let first = b.op(Op::Add, Ty::I32, &[last, far]);
    let wide = Kind::Op { op: Op::Convert, ty: Ty::I64, from: Ty::I32 };
    let [first, n] = [first, last].map(|v| b.inst(wide, &[v], Type::uniform(Ty::I64)));
    let iota = b.inst(Kind::Op { op: Op::Iota, ty: Ty::I32, from: Ty::I32 }, &[], Type::varying(Ty::I32));
    let mut m = Maker { b, shape, n };
    let [whole, part, done] = [(); 3].map(|()| m.b.block());
    let [i, p, out] = [whole, part, done].map(|block| m.b.param(block, Type::uniform(Ty::I64)));
    let limit = m.plus(n, -shape.less);
    let limit_behind = m.plus(n, -shape.less_behind);
    m.b.jump(whole, &[first]);
    m.b.switch_to(whole);
    let is_whole = m.asks(Op::Le, Ty::I64, [i, limit]);
    let rest = m.branch(is_whole);
    m.b.effect(Kind::Count(0), &[]);
    let next = m.plus(i, shape.step);
    m.b.jump(whole, &[next]);
    m.b.switch_to(rest);
    let (left, any) = m.left(i);
    let none = m.branch(any);
    let cut = Kind::Op { op: Op::Convert, ty: Ty::I32, from: Ty::I64 };
    let left = m.b.inst(cut, &[left], Type::uniform(Ty::I32));
    let lanes = m.asks(Op::Lt, Ty::I32, [iota, left]);
    let others = m.b.inst(Kind::Op { op: Op::Not, ty: Ty::Bool, from: Ty::Bool }, &[lanes], Type::MASK);
    let lacks = m.b.inst(Kind::AnyLane, &[others], Type::BOOL);
    let all = m.branch(lacks);
    let has = m.b.inst(Kind::AnyLane, &[lanes], Type::BOOL);
    let empty = m.branch(has);
    m.b.jump(part, &[i]);
    m.b.switch_to(all);
    m.b.effect(Kind::Count(2), &[]);
    m.b.jump(part, &[i]);
    for block in [none, empty] {
        m.b.switch_to(block);
        m.b.jump(done, &[i]);
    }
    m.b.switch_to(part);
    m.b.effect(Kind::Count(1), &[]);
    let next = m.plus(p, shape.last_step);
    let goes_on = m.asks(Op::Le, Ty::I64, [next, limit_behind]);
    let rest = m.branch(goes_on);
    m.b.jump(part, &[next]);
    m.b.switch_to(rest);
    let (_, any) = m.left(next);
    let none = m.branch(any);
    m.b.jump(part, &[next]);
    m.b.switch_to(none);
    m.b.jump(done, &[next]);
    m.b.switch_to(done);
    let place = host.places(Type::uniform(Ty::I64))[0];
    leave(&mut m.b, host, mask, vec![(place, out)]);
    m.b.region
}

/// What can be reached of the region behind the pass: ways to blocks that are handed a number (to whole gangs, to others, behind the
/// loop), and votes on masks.
fn counted(shape: Shape) -> (usize, usize) {
    let mut region = looped(&Host::new(Width::new(LANES).unwrap()), shape);
    run_pass("last_gang", &mut region);
    run_pass("dead", &mut region);
    let (mut seen, mut todo, mut ways, mut votes) = (vec![false; region.blocks.len()], vec![0], 0, 0);
    while let Some(b) = todo.pop() {
        if !std::mem::replace(&mut seen[b], true) {
            let block = &region.blocks[b];
            votes += block.insts.iter().filter(|inst| inst.kind == Kind::AnyLane).count();
            ways += block.end.edges().filter(|edge| !edge.args.is_empty()).count();
            todo.extend(block.end.edges().map(|edge| edge.to.index()));
        }
    }
    (ways, votes)
}

/// What loops go on to that end with their first gang that is not whole: into the loop and around it, to that gang, and behind both.
const WAYS: usize = 5;

#[test]
fn loops_end_with_a_gang_that_is_not_whole() {
    for subtracts in [false, true] {
        assert_eq!(counted(Shape { subtracts, ..Shape::plain() }), (WAYS, 0));
    }
}

#[test]
fn loops_that_may_go_on_stay() {
    let plain = Shape::plain();
    for shape in [Shape { last_step: 7, ..plain }, Shape { less_behind: 7, ..plain }] {
        let (ways, votes) = counted(shape);
        assert!(ways > WAYS && votes == 0, "{shape:?}: {ways} ways, {votes} votes");
    }
    let shape = Shape { less: 9, less_behind: 9, last_step: 9, ..plain };
    assert_eq!(counted(shape).1, 2, "eight may be left");
}

#[test]
fn what_random_loops_do_stays_the_same() {
    let make = |host: &Host, seed: u64| looped(host, Shape::random(seed));
    let n = seeds(0, 400);
    compare(LANES, n.clone(), make, |region, _| run_pass("last_gang", region));
    let (mut ended, mut stayed) = (0, 0);
    for shape in n.map(Shape::random) {
        let (ways, votes) = counted(shape);
        assert_eq!(votes, if shape.lacks_lanes() { 0 } else { 2 }, "{shape:?}");
        let ends = shape.ends();
        assert!(!ends || ways <= WAYS + 2, "{shape:?}: {ways} ways");
        *(if ends { &mut ended } else { &mut stayed }) += 1;
    }
    assert!(ended > 100 && stayed > 100, "{ended} end, {stayed} may go on");
}
