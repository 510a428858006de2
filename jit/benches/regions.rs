//! What native code costs to make, and how fast it runs.

#[path = "../tests/harness/mod.rs"]
mod harness;

use divan::Bencher;
use divan::counter::ItemsCount;
use harness::{Host, Input, kernels};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Region, Type};
use spmdvm_vm::sem::Scalar;
use spmdvm_vm::types::{Shape, Ty, Width};
use spmdvm_vm::{Arg, FunctionBuilder, Limits, Machine, Op, Program, verify};
use std::sync::Arc;

fn main() {
    divan::main();
}

fn clif(optimise: bool) -> Clif {
    Clif::with(Options { optimise, ..Options::default() }).expect("this machine has a back end")
}

/// Time to compile a region.
fn compile(bencher: Bencher<'_, '_>, optimise: bool, region: fn(&Host) -> Region) {
    let host = Host::new(Width::DEFAULT);
    let (region, clif) = (Arc::new(region(&host)), clif(optimise));
    bencher.bench_local(|| clif.compile(region.clone()).expect("it compiles"));
}

#[divan::bench(args = [false, true])]
fn compile_typical(bencher: Bencher, optimise: bool) {
    compile(bencher, optimise, kernels::typical);
}

#[divan::bench(args = [false, true])]
fn compile_mandelbrot(bencher: Bencher, optimise: bool) {
    compile(bencher, optimise, kernels::mandelbrot);
}

const ROUNDS: u64 = 10_000;

/// Points of the set, so that all rounds are run; or points of which one leaves at once, so that they run under a mask.
fn input(host: &Host, diverge: bool) -> Input {
    let mut input = host.zeros();
    input.ticks = 1 << 40;
    input.words[0] = u64::MAX;
    for (i, start) in [(0, 0.1f32), (1, 0.1), (2, -0.1), (3, 0.05)] {
        let place = host.places(Type::varying(Ty::F32))[i];
        input.registers[place.reg.index()].iter_mut().for_each(|w| *w = start.to_word());
    }
    if diverge {
        input.registers[host.places(Type::varying(Ty::F32))[0].reg.index()][3] = 9f32.to_word();
    }
    input.registers[host.places(Type::uniform(Ty::I32))[0].reg.index()][0] = ROUNDS;
    input
}

fn rounds(bencher: Bencher<'_, '_>, backend: &dyn Backend, diverge: bool, lanes: u32) {
    let mut host = Host::new(Width::new(lanes).expect("a width"));
    let code: Arc<dyn Executable> =
        Arc::from(backend.compile(Arc::new(kernels::mandelbrot(&host))).expect("it compiles"));
    let input = input(&host, diverge);
    bencher.counter(ItemsCount::new(ROUNDS)).bench_local(|| host.run(code.clone(), &input));
}

/// Rounds of mandelbrot's inner loop, all lanes active.
#[divan::bench(args = [(false, 4), (false, 8), (false, 16), (true, 4), (true, 8), (true, 16)])]
fn mandelbrot_all(bencher: Bencher, (optimise, lanes): (bool, u32)) {
    rounds(bencher, &clif(optimise), false, lanes);
}

/// The same under a mask.
#[divan::bench(args = [false, true])]
fn mandelbrot_masked(bencher: Bencher, optimise: bool) {
    rounds(bencher, &clif(optimise), true, 16);
}

#[divan::bench(sample_count = 10)]
fn mandelbrot_ir(bencher: Bencher) {
    rounds(bencher, &Ir, false, 16);
}

/// The same loop, interpreted from bytecode.
#[divan::bench]
fn mandelbrot_interpreter(bencher: Bencher) {
    let mut b = FunctionBuilder::new("mandelbrot");
    let [zx, zy, cx, cy] = ["zx", "zy", "cx", "cy"].map(|n| b.param(Shape::Varying, Ty::F32, n));
    let most = b.param(Shape::Uniform, Ty::I32, "most");
    let k = b.reg(Shape::Uniform, Ty::I32);
    let (zero, one) = (b.constant(Ty::I32, 0), b.constant(Ty::I32, 1));
    let (four, two) = (b.constant(Ty::F32, 4f32.to_word()), b.constant(Ty::F32, 2f32.to_word()));
    b.mov(k, zero);
    let (head, end, after) = (b.label(), b.label(), b.label());
    b.plain(Op::LoopBegin);
    b.bind(head);
    let x2 = b.binary(Op::Mul, Ty::F32, zx, zx);
    let y2 = b.binary(Op::Mul, Ty::F32, zy, zy);
    let r2 = b.binary(Op::Add, Ty::F32, x2, y2);
    let out = b.binary(Op::Gt, Ty::F32, r2, four);
    b.control(Op::MaskBreakIf, Some(out), end);
    let d = b.binary(Op::Mul, Ty::F32, two, zx);
    let y = b.elementwise(Op::Fma, Ty::F32, Ty::F32, &[d, zy, cy]);
    b.assign(zy, y);
    let x = b.binary(Op::Sub, Ty::F32, x2, y2);
    let x = b.binary(Op::Add, Ty::F32, x, cx);
    b.assign(zx, x);
    let next = b.binary(Op::Add, Ty::I32, k, one);
    b.mov(k, next);
    let more = b.binary(Op::Lt, Ty::I32, k, most);
    b.control(Op::BrTrue, Some(more), head);
    b.bind(end);
    b.control(Op::LoopEnd, None, after);
    b.bind(after);
    b.result(zx);
    b.ret();
    let program = Program { functions: vec![b.finish()], ..Program::default() };
    let f = program.function("mandelbrot").expect("it is there");
    let mut machine = Machine::new(verify(program).expect("it is sound"), Limits::default()).expect("there is memory");
    let point = [0.1f32, 0.1, -0.1, 0.05].map(|x| Arg::Word(x.to_word()));
    let args = [&point[..], &[Arg::Word(ROUNDS)]].concat();
    bencher
        .counter(ItemsCount::new(ROUNDS))
        .bench_local(move || machine.call(f, &args, u64::MAX).expect("it runs").word(0, 0));
}
