//! Regions as the recorder makes them, for tests of code and for benchmarks.

use super::{Host, exit};
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Region, Type, Value, verify};
use spmdvm_vm::Op;
use spmdvm_vm::sem::Scalar;
use spmdvm_vm::types::Ty;

const V: Type = Type::varying(Ty::F32);
const K: Type = Type::uniform(Ty::I32);

fn reg(host: &Host, b: &mut Builder, ty: Type, i: usize) -> Value {
    b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty)
}

fn f32_(b: &mut Builder, x: f32) -> Value {
    b.constant(Ty::F32, x.to_word())
}

/// One round of mandelbrot: the next point, and where the old one is beyond the circle.
fn round(b: &mut Builder, [zx, zy, cx, cy]: [Value; 4], four: Value, two: Value) -> ([Value; 2], Value) {
    let x2 = b.op(Op::Mul, Ty::F32, &[zx, zx]);
    let y2 = b.op(Op::Mul, Ty::F32, &[zy, zy]);
    let r2 = b.op(Op::Add, Ty::F32, &[x2, y2]);
    let out = b.op(Op::Gt, Ty::F32, &[r2, four]);
    let d = b.op(Op::Mul, Ty::F32, &[two, zx]);
    let y = b.op(Op::Fma, Ty::F32, &[d, zy, cy]);
    let x = b.op(Op::Sub, Ty::F32, &[x2, y2]);
    let x = b.op(Op::Add, Ty::F32, &[x, cx]);
    ([x, y], out)
}

/// The inner loop of mandelbrot: a body in which all lanes run, left at the first divergence for one with a mask.
/// Registers: `zx zy cx cy` varying `f32` 0 to 3, rounds varying `i32` 0, most rounds uniform `i32` 0.
pub fn mandelbrot(host: &Host) -> Region {
    let mut b = Builder::new(host.width, host.function, 1);
    let [zx, zy, cx, cy] = [0, 1, 2, 3].map(|i| reg(host, &mut b, V, i));
    let most = reg(host, &mut b, K, 0);
    let full = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let (zero, one) = (b.constant(Ty::I32, 0), b.constant(Ty::I32, 1));
    let (four, two) = (f32_(&mut b, 4.0), f32_(&mut b, 2.0));
    let (all, go_on, some, masked, done, end) = (b.block(), b.block(), b.block(), b.block(), b.block(), b.block());
    let rounds = host.places(Type::varying(Ty::I32))[0];
    let places = host.places(V);
    b.jump(all, &[zx, zy, zero]);

    let (ax, ay, ak) = (b.param(all, V), b.param(all, V), b.param(all, K));
    b.switch_to(all);
    let state = exit(host, full, vec![(places[0], ax), (places[1], ay), (rounds, ak)], vec![]);
    let stop = b.exit(state.clone());
    b.effect(Kind::Tick { units: 1, exit: stop }, &[]);
    let ([nx, ny], out) = round(&mut b, [ax, ay, cx, cy], four, two);
    let any = b.inst(Kind::AnyLane, &[out], Type::BOOL);
    b.branch(any, (some, &[]), (go_on, &[]));
    b.switch_to(go_on);
    let next = b.op(Op::Add, Ty::I32, &[ak, one]);
    let more = b.op(Op::Lt, Ty::I32, &[next, most]);
    let last = b.exit(exit(host, full, vec![(places[0], nx), (places[1], ny), (rounds, next)], vec![]));
    b.branch(more, (all, &[nx, ny, next]), (end, &[]));
    b.switch_to(end);
    b.end(End::Exit(last));

    b.switch_to(some);
    let left = b.op(Op::Not, Ty::Bool, &[out]);
    let k = b.inst(Kind::Splat, &[ak], Type::varying(Ty::I32));
    let grown = b.op(Op::Add, Ty::I32, &[k, one]);
    let k = b.op(Op::Select, Ty::I32, &[left, grown, k]);
    let n = b.op(Op::Add, Ty::I32, &[ak, one]);
    b.jump(masked, &[nx, ny, k, n, left]);

    let (mx, my) = (b.param(masked, V), b.param(masked, V));
    let (mk, mn) = (b.param(masked, Type::varying(Ty::I32)), b.param(masked, K));
    let live = b.param(masked, Type::MASK);
    b.switch_to(masked);
    let state = exit(host, live, vec![(places[0], mx), (places[1], my), (rounds, mk)], vec![]);
    let stop = b.exit(state.clone());
    b.effect(Kind::Tick { units: 1, exit: stop }, &[]);
    let ([nx, ny], out) = round(&mut b, [mx, my, cx, cy], four, two);
    let stay = b.op(Op::Not, Ty::Bool, &[out]);
    let live2 = b.op(Op::And, Ty::Bool, &[live, stay]);
    let grown = b.op(Op::Add, Ty::I32, &[mk, one]);
    let k = b.op(Op::Select, Ty::I32, &[live2, grown, mk]);
    let n = b.op(Op::Add, Ty::I32, &[mn, one]);
    let any = b.inst(Kind::AnyLane, &[live2], Type::BOOL);
    let more = b.op(Op::Lt, Ty::I32, &[n, most]);
    let more = b.op(Op::And, Ty::Bool, &[any, more]);
    b.branch(more, (masked, &[nx, ny, k, n, live2]), (done, &[]));
    b.switch_to(done);
    let last = b.exit(exit(host, live2, vec![(places[0], nx), (places[1], ny), (rounds, k)], vec![]));
    b.end(End::Exit(last));
    verify(&b.region).unwrap();
    b.region
}

/// A region of a typical size: 20 blocks, 150 instructions, a loop with conditions, guards, loads and stores.
pub fn typical(host: &Host) -> Region {
    let mut b = Builder::new(host.width, host.function, 1);
    let pointer = b.constant(Ty::U64, host.pointer(Ty::F32));
    let memory = b.host_address(pointer, 0);
    let (x, y) = (reg(host, &mut b, V, 0), reg(host, &mut b, V, 1));
    let most = reg(host, &mut b, K, 0);
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let (zero, one) = (b.constant(Ty::I32, 0), b.constant(Ty::I32, 1));
    let (half, two) = (f32_(&mut b, 0.5), f32_(&mut b, 2.0));
    let (head, done) = (b.block(), b.block());
    b.jump(head, &[x, y, zero, mask]);
    let (mut x, mut y, k) = (b.param(head, V), b.param(head, V), b.param(head, K));
    let mut m = b.param(head, Type::MASK);
    let places = host.places(V);
    b.switch_to(head);
    let state =
        |m, x, y, k| exit(host, m, vec![(places[0], x), (places[1], y), (host.places(K)[1], k)], vec![(m, mask, None)]);
    let out = b.exit(state(m, x, y, k));
    b.effect(Kind::Tick { units: 1, exit: out }, &[]);
    // Six conditions with two arms each: eighteen blocks.
    for i in 0..6 {
        let (then, other, join) = (b.block(), b.block(), b.block());
        let load = b.inst(Kind::LoadLanes { ty: Ty::F32 }, &[memory], V);
        let s = b.op(Op::Add, Ty::F32, &[x, load]);
        let s = b.op(Op::Fma, Ty::F32, &[s, half, y]);
        let below = b.op(Op::Lt, Ty::F32, &[s, two]);
        let taken = b.op(Op::And, Ty::Bool, &[m, below]);
        let any = b.inst(Kind::AnyLane, &[taken], Type::BOOL);
        b.branch(any, (then, &[]), (other, &[]));
        b.switch_to(then);
        let t = b.op(Op::Mul, Ty::F32, &[s, s]);
        let t = b.op(Op::Sub, Ty::F32, &[t, y]);
        let t = b.op(Op::Abs, Ty::F32, &[t]);
        let t = b.op(Op::Sqrt, Ty::F32, &[t]);
        let t = b.op(Op::Select, Ty::F32, &[taken, t, x]);
        b.effect(Kind::StoreMasked { ty: Ty::F32 }, &[memory, t, taken]);
        b.jump(join, &[t, s]);
        b.switch_to(other);
        let limit = b.constant(Ty::I32, 1000 + i);
        let sound = b.op(Op::Lt, Ty::I32, &[k, limit]);
        let out = b.exit(state(m, x, y, k));
        b.effect(Kind::Guard { exit: out }, &[sound]);
        let u = b.op(Op::Max, Ty::F32, &[x, half]);
        let u = b.op(Op::FDiv, Ty::F32, &[u, two]);
        let u = b.op(Op::Select, Ty::F32, &[m, u, x]);
        let w = b.op(Op::Sub, Ty::F32, &[u, s]);
        b.jump(join, &[u, w]);
        (x, y) = (b.param(join, V), b.param(join, V));
        b.switch_to(join);
        let near = b.op(Op::Gt, Ty::F32, &[x, y]);
        m = b.op(Op::Or, Ty::Bool, &[m, near]);
        b.effect(Kind::Count(i as u32), &[]);
    }
    let k2 = b.op(Op::Add, Ty::I32, &[k, one]);
    let more = b.op(Op::Lt, Ty::I32, &[k2, most]);
    b.branch(more, (head, &[x, y, k2, m]), (done, &[]));
    b.switch_to(done);
    let last = b.exit(state(m, x, y, k2));
    b.end(End::Exit(last));
    verify(&b.region).unwrap();
    b.region
}
