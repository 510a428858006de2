//! Every operation of the table, over and over on the largest operands that it takes: the clock stops it soon, on every
//! engine.
//!
//! A new operation of a form that the table describes is here by itself; a special one with operands that are not known
//! here fails until it is said what its largest operands are.

use spmdvm_jit::{Settings, prepare};
use spmdvm_vm::isa::{Effect, Extra, OPS, OpInfo, OperandShape};
use spmdvm_vm::memory::Memory;
use spmdvm_vm::program::{ArgFormat, ArgKind, FuncId, Inst, LAUNCH_COUNTS, Piece, Reg, TASK_PARAMS};
use spmdvm_vm::{
    Arg, Function, FunctionBuilder, Limits, Machine, Op, PreparedProgram, Program, Shape, Trap, TrapKind, Ty, Width,
    verify,
};
use std::time::{Duration, Instant};

/// The time that a run is given; a tenth of it if no operand makes the operation take longer.
const TIMEOUT: Duration = Duration::from_millis(100);

/// The time that it may take. The promise is 0.3 s; but this also runs without optimisation, beside other tests.
const LATE: Duration = Duration::from_secs(2);

/// Bytes of the array that is copied and filled.
const ARRAY: usize = 256 << 20;

/// Bytes that each lane allocates.
const ALLOCATION: u64 = 8 << 20;

/// Bytes of the longest text that can be printed, with its end.
const TEXT: usize = 8 << 20;

/// Bytes of local variables of a function, nearly as many as a stack has.
const LOCALS: u64 = 60 << 20;

const CALLEE: FuncId = FuncId(1);
const TASK: FuncId = FuncId(2);

/// Registers that hold operands, in all lanes or one.
struct Operands {
    array: Reg,
    text: Reg,
    lane: Reg,
}

/// A function that executes an operation for ever.
fn endless(row: &OpInfo) -> Function {
    let mut b = FunctionBuilder::new("f");
    let array = b.param(Shape::Uniform, Ty::U64, "array");
    let text = b.param(Shape::Uniform, Ty::U64, "text");
    let lane = b.reg(Shape::Varying, Ty::I32);
    b.push(Inst { dst: lane, ..Inst::new(Op::Iota, Ty::I32) });
    let operands = Operands { array, text, lane };
    let src = sources(&mut b, row, &operands);
    let ty = type_of(row);
    let dst = row.sig.dst.map(|slot| {
        let varying = match slot.shape {
            OperandShape::Uniform => false,
            OperandShape::Varying | OperandShape::Either => true,
            OperandShape::Elementwise => b.join(&src) == Shape::Varying,
        };
        let r = b.reg(if varying { Shape::Varying } else { Shape::Uniform }, slot.ty.resolve(ty, Ty::I32));
        if row.sig.dst_is_read {
            b.mov(r, src[0]);
        }
        r
    });
    let head = b.label();
    b.bind(head);
    if row.op == Op::Free {
        allocate(&mut b, src[0]);
    }
    let mut inst = Inst { dst: dst.unwrap_or(Reg::NONE), src, ..Inst::new(row.op, ty) };
    if row.sig.has_from {
        inst.from = Ty::I32;
    }
    extra(&mut b, row, &operands, &mut inst);
    b.push(inst);
    if let (Op::Alloc, Some(p)) = (row.op, dst) {
        b.push(Inst { src: [p, Reg::NONE, Reg::NONE], ..Inst::new(Op::Free, Ty::Bool) });
    }
    b.control(Op::Jmp, None, head);
    b.finish()
}

/// A type that the operation is defined for.
fn type_of(row: &OpInfo) -> Ty {
    let wanted = row.types.iter().find(|&ty| ty == Ty::I32);
    wanted.or(row.types.iter().last()).unwrap_or(Ty::Bool)
}

fn allocate(b: &mut FunctionBuilder, to: Reg) {
    let bytes = varying(b, Ty::I64, ALLOCATION);
    b.push(Inst { dst: to, src: [bytes, Reg::NONE, Reg::NONE], ..Inst::new(Op::Alloc, Ty::U64) });
}

fn varying(b: &mut FunctionBuilder, ty: Ty, bits: u64) -> Reg {
    let uniform = b.constant(ty, bits);
    let v = b.reg(Shape::Varying, ty);
    b.mov(v, uniform);
    v
}

/// Registers with the largest operands that the sources of an operation may be.
fn sources(b: &mut FunctionBuilder, row: &OpInfo, operands: &Operands) -> [Reg; 3] {
    let ty = type_of(row);
    let mut src = [Reg::NONE; 3];
    for (r, slot) in src.iter_mut().zip(row.sig.src) {
        let is_uniform = slot.shape == OperandShape::Uniform;
        let ty = slot.ty.resolve(ty, Ty::I32);
        *r = match (row.op, slot.name) {
            (Op::MemCopy | Op::MemSet, "to") => operands.array,
            // Overlapping, and not aligned.
            (Op::MemCopy, "from") => {
                let one = varying(b, Ty::I64, 1);
                b.elementwise(Op::PAdd, Ty::U64, Ty::U64, &[operands.array, one])
            }
            (Op::MemCopy | Op::MemSet, "bytes") => varying(b, Ty::I64, ARRAY as u64 - 1),
            (Op::Alloc, "bytes") => varying(b, Ty::I64, ALLOCATION),
            (Op::Free, "p") => b.reg(Shape::Varying, Ty::U64),
            (Op::PAdd, _) => varying(b, ty, 1),
            (_, "base" | "p") => operands.array,
            (Op::Load | Op::LoadLane | Op::Store | Op::StoreLane, "index") => operands.lane,
            (Op::CallInd, "f") => b.constant(Ty::U64, CALLEE.0 as u64 + 1),
            (Op::LaunchInd, "f") => b.constant(Ty::U64, TASK.0 as u64 + 1),
            (_, "a" | "b" | "c" | "v" | "x" | "index" | "value" | "expected" | "new" | "offset") => {
                if is_uniform {
                    b.constant(ty, 1)
                } else {
                    varying(b, ty, 1)
                }
            }
            (op, name) => panic!("`{op:?}` has an operand `{name}`: what is the largest that it may be?"),
        };
    }
    src
}

/// What an instruction carries besides registers.
fn extra(b: &mut FunctionBuilder, row: &OpInfo, operands: &Operands, inst: &mut Inst) {
    match row.sig.extra {
        Extra::Launch | Extra::LaunchInd => {
            let many = b.constant(Ty::I32, i32::MAX as u64);
            inst.args = b.list(&[many; LAUNCH_COUNTS]);
            inst.aux = if row.sig.extra == Extra::Launch { TASK.0 } else { 0 };
        }
        Extra::Call => inst.aux = CALLEE.0,
        Extra::Print => inst.args = b.list(&[operands.text]),
        Extra::Memory => inst.aux = 64,
        Extra::Frame => {
            b.frame_slot(64, 8);
        }
        Extra::Func => inst.aux = CALLEE.0,
        Extra::Host => unreachable!("what the host does takes as long as it likes"),
        Extra::None | Extra::CallInd | Extra::Global | Extra::Message => {}
        Extra::Label => unreachable!("control is what fuel is counted at"),
    }
}

fn program(row: &OpInfo) -> Program {
    let mut callee = FunctionBuilder::new("callee");
    callee.frame_slot(LOCALS, 64);
    callee.ret();
    let mut task = FunctionBuilder::new("task");
    for _ in 0..TASK_PARAMS {
        task.param(Shape::Uniform, Ty::I32, "");
    }
    task.set_task();
    task.ret();
    let text = ArgFormat {
        kind: ArgKind::Text,
        conversion: Some('s'),
        width: None,
        precision: None,
        zero: false,
        left: false,
        plus: false,
    };
    let global = spmdvm_vm::program::Global {
        name: "g".into(),
        size: 8,
        init: Vec::new(),
        constant: false,
        relocations: Vec::new(),
        host: None,
    };
    Program {
        width: Width::new(64).expect("a width"),
        functions: vec![endless(row), callee.finish(), task.finish()],
        globals: vec![global],
        formats: vec![vec![Piece::Arg(text)]],
        messages: vec!["a message".into()],
        ..Program::default()
    }
}

/// The programs on every engine, with loops compiled at once.
fn on_every_engine(program: &Program) -> Vec<(&'static str, PreparedProgram)> {
    let verified = verify(program.clone()).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let compiled = ["ir", "clif", "x86"].into_iter().filter_map(|engine| {
        let (prepared, _) = prepare(&verified, engine, Settings::eager()).ok()?;
        Some((engine, prepared))
    });
    std::iter::once(("interp", PreparedProgram::new(&verified))).chain(compiled).collect()
}

struct Arrays {
    array: Vec<u8>,
    text: Vec<u8>,
}

fn map(memory: &Memory, bytes: &mut [u8]) -> u64 {
    let name = memory.name("array");
    // SAFETY: the arrays outlive the machine, and nothing else touches them while it runs.
    unsafe { memory.map_host(bytes.as_mut_ptr(), bytes.len(), true, name) }.expect("room for an array")
}

/// How a run ended.
struct Ended {
    trap: Trap,
    time: Duration,
    fuel: u64,
}

fn run(prepared: PreparedProgram, arrays: &mut Arrays, limits: Limits) -> Ended {
    let mut machine = Machine::new(prepared, limits).expect("a machine");
    machine.set_output(|_| ());
    let args = [&mut arrays.array, &mut arrays.text].map(|bytes| Arg::Word(map(machine.memory(), bytes)));
    let start = Instant::now();
    let trap = machine.call(FuncId(0), &args, u64::MAX).err().expect("it does not end by itself");
    Ended { trap, time: start.elapsed(), fuel: machine.fuel_used() }
}

fn arrays() -> Arrays {
    let mut text = vec![b'x'; TEXT];
    text[TEXT - 1] = 0;
    Arrays { array: vec![0; ARRAY], text }
}

/// Returns whether the work of an operation depends on its operands.
fn is_long(op: Op) -> bool {
    use Op::*;
    matches!(op, MemCopy | MemSet | Alloc | Free | Print | Call | CallInd)
}

#[test]
fn every_operation_is_stopped_by_the_clock() {
    let mut arrays = arrays();
    for row in OPS.iter().filter(|row| row.effect != Effect::Control && row.op != Op::HostCall) {
        for (engine, prepared) in on_every_engine(&program(row)) {
            let launches = matches!(row.sig.extra, Extra::Launch | Extra::LaunchInd);
            for threads in if launches { vec![1, 4] } else { vec![1] } {
                let timeout = if is_long(row.op) || launches { TIMEOUT } else { TIMEOUT / 10 };
                let limits = Limits { timeout: Some(timeout), threads, ..Limits::default() };
                let Ended { trap, time, .. } = run(prepared.clone(), &mut arrays, limits);
                let expected = if row.op == Op::Abort { TrapKind::Abort } else { TrapKind::Timeout };
                assert_eq!(trap.kind, expected, "`{}` on `{engine}`: {trap}", row.name);
                assert!(time < LATE, "`{}` on `{engine}` took {time:?}", row.name);
            }
        }
    }
}

#[test]
fn every_operation_costs_the_same_on_every_engine() {
    let mut arrays = arrays();
    for row in
        OPS.iter().filter(|row| !matches!(row.effect, Effect::Control) && !matches!(row.op, Op::Abort | Op::HostCall))
    {
        let fuel = if is_long(row.op) { 140_000 } else { 1_000 };
        let mut expected = None;
        for (engine, prepared) in on_every_engine(&program(row)) {
            let limits = Limits { fuel: Some(fuel), ..Limits::default() };
            let ended = run(prepared, &mut arrays, limits);
            assert_eq!((ended.trap.kind, ended.fuel), (TrapKind::OutOfFuel, fuel), "`{}` on `{engine}`", row.name);
            let expected = expected.get_or_insert_with(|| ended.trap.clone());
            assert_eq!(*expected, ended.trap, "`{}` on `{engine}`", row.name);
        }
    }
}
