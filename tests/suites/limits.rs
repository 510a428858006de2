//! Limits of what a run may use hold for work that one instruction does on many bytes, and machines take no more of the
//! host than they need.

use spmdvm::jit::Jit;
use spmdvm::vm::{Arg, Limits, MAX_THREADS, Machine, PreparedProgram, TrapDetail, TrapKind};
use spmdvm::{Engine, JitSettings, Module};
use spmdvm_tests::compiled::{jits, module};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Functions that move bytes in all ways, in loops.
const MOVES: &str = "
noinline uniform int locals(uniform int k) { uniform int8 t[5000]; t[k & 4095] = k; return t[(k * 7) & 4095]; }
noinline int lanes(int k) { int t[100]; t[k & 63] = k; return t[(k * 7) & 63]; }
export uniform int f(uniform int8 a[], uniform int8 b[], uniform int n) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        memcpy(&a[i], &b[0], 2000 + i);
        memmove(&a[i], &a[0], 3000);
        memset(&b[0], i, 1500);
        s += locals(i) + reduce_add(lanes(i + programIndex));
        uniform int8 * uniform p = uniform new uniform int8[10000 + i];
        p[i] = 1;
        s += p[i & 7];
        if ((i & 31) == 31) print(\"%\\n\", s);
        if ((i & 3) == 3) delete p;
    }
    return s;
}";

fn prepared(module: &Module, engine: Engine) -> PreparedProgram {
    prepared_with(module, engine, JitSettings::eager())
}

fn prepared_with(module: &Module, engine: Engine, jit: JitSettings) -> PreparedProgram {
    if engine == Engine::Interp {
        return PreparedProgram::new(module.verified());
    }
    let backend = spmdvm::jit::backend(engine.name()).expect("an engine that runs here");
    PreparedProgram::traced(module.verified(), Jit::new(backend, jit), 0)
}

/// The trap, fuel used and bytes after a run.
fn run(prepared: PreparedProgram, fuel: Option<u64>) -> (Option<String>, u64, Vec<u8>) {
    let mut machine = Machine::new(prepared, Limits { fuel, ..Limits::default() }).unwrap();
    machine.set_output(|_| ());
    let f = machine.program().function("f").unwrap();
    let mut arrays = vec![3u8; 16_000];
    let name = machine.memory().name("a");
    // SAFETY: the array outlives the machine, and nothing else touches it meanwhile.
    let at = unsafe { machine.map_host(arrays.as_mut_ptr(), arrays.len(), true, name) }.unwrap();
    let trap = machine.call(f, &[Arg::Word(at), Arg::Word(at + 8000), Arg::Word(100)], u64::MAX).err();
    let fuel = machine.fuel_used();
    drop(machine);
    (trap.map(|t| t.to_string()), fuel, arrays)
}

#[test]
fn bytes_cost_the_same_on_every_engine() {
    let module = module(Engine::Interp, MOVES, JitSettings::default());
    let all = run(prepared(&module, Engine::Interp), None);
    // In each round copies and fills take some 5 units, local variables 10, allocations 9 or 18.
    assert!(all.0.is_none() && (3_000..5_000).contains(&all.1), "{:?}", (&all.0, all.1));
    for fuel in [None, Some(1), Some(500), Some(1333), Some(1334), Some(1340), Some(1350), Some(all.1 - 1), Some(all.1)]
    {
        let expected = run(prepared(&module, Engine::Interp), fuel);
        assert_eq!(expected.0.is_none(), fuel.is_none_or(|fuel| fuel >= all.1));
        for engine in jits() {
            assert_eq!(run(prepared(&module, engine), fuel), expected, "`{engine}` with fuel {fuel:?}");
        }
    }
}

/// Less than a KiB costs nothing, also where compiled code moves it by itself.
/// Under stress somebody looks at native code every few rounds: fuel is held back until then, and an array that is cleared in each round
/// costs more than what is not.
#[test]
fn fuel_that_is_held_back_is_there_when_it_is_needed() {
    let source = "
task void work(uniform int8 a[]) {
    foreach (i = 0 ... 200) {
        uniform int64 cleared[30000];
        cleared[i & 1023] = 1;
        a[taskIndex] = cleared[5];
    }
}
export uniform int f(uniform int8 a[], uniform int8 b[], uniform int n) {
    launch[4] work(a);
    return n;
}";
    let module = module(Engine::Interp, source, JitSettings::default());
    let all = run(prepared(&module, Engine::Interp), None);
    assert_eq!(all.0, None);
    for engine in jits() {
        for seed in 0..8 {
            let jit = JitSettings { stress: Some(seed), ..JitSettings::eager_in_every_variant() };
            let enough = run(prepared_with(&module, engine, jit), Some(all.1));
            assert_eq!(enough, all, "{engine}, seed {seed}");
        }
    }
}

#[test]
fn few_bytes_cost_the_same_on_every_engine() {
    let text = "
noinline uniform int zeroed(uniform int k) { uniform int8 t[1024] = { 0 }; t[k & 1023] = k; return t[(k * 7) & 1023]; }
noinline uniform int each(uniform int k) {
    uniform int8 t[512];
    uniform int8 * varying p = &t[0];
    memset(p, 0, 512);
    t[k & 511] = k;
    return t[(k * 7) & 511];
}
noinline uniform int less(uniform int k) { uniform int8 t[1023] = { 0 }; t[k & 511] = k; return t[(k * 7) & 1023]; }
export uniform int f(uniform int8 a[], uniform int8 b[], uniform int n) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        memcpy(&a[i], &b[0], 256);
        memset(&b[i], i, 512);
        memset(&b[0], i, 1024);
        memmove(&a[i], &a[0], 1023);
        s += zeroed(i) + less(i) + each(i);
    }
    return s;
}";
    let module = module(Engine::Interp, text, JitSettings::default());
    let all = run(prepared(&module, Engine::Interp), None).1;
    for fuel in [None, Some(300), Some(301), Some(302), Some(303), Some(304), Some(305), Some(306), Some(all - 1)] {
        let expected = run(prepared(&module, Engine::Interp), fuel);
        assert_eq!(expected.0.is_none(), fuel.is_none());
        for engine in jits() {
            assert_eq!(run(prepared(&module, engine), fuel), expected, "`{engine}` with fuel {fuel:?}");
        }
    }
}

#[test]
fn a_long_copy_is_interrupted() {
    let text = "export void f(uniform int8 a[], uniform int n) { for (;;) memmove(&a[1], &a[0], n); }";
    let module = module(Engine::Interp, text, JitSettings::default());
    for engine in jits().chain([Engine::Interp]) {
        let mut machine = Machine::new(prepared(&module, engine), Limits::default()).unwrap();
        let f = module.exports()[0].function;
        let mut array = vec![0u8; 200 << 20];
        let name = machine.memory().name("a");
        // SAFETY: the array outlives the machine, and nothing else touches it meanwhile.
        let at = unsafe { machine.map_host(array.as_mut_ptr(), array.len(), true, name) }.unwrap();
        let flag = Arc::new(AtomicBool::new(false));
        machine.set_interrupt(Arc::clone(&flag));
        let (end, late) = std::thread::scope(|scope| {
            let raised = scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                flag.store(true, Ordering::Relaxed);
                Instant::now()
            });
            let end = machine.call(f, &[Arg::Word(at), Arg::Word((200 << 20) - 1)], u64::MAX).map(|_| ());
            (end, raised.join().unwrap().elapsed())
        });
        assert_eq!(end.unwrap_err().kind, TrapKind::Interrupted, "`{engine}`");
        // Copying takes some twenty milliseconds on a machine that does nothing else.
        assert!(late < Duration::from_secs(1), "`{engine}`: {late:?}");
    }
}

#[test]
fn rounds_that_take_long_are_stopped_in_time() {
    // Thousands of operations on each lane, in each round.
    let round: String = (0..300).map(|k| format!("s += sin(s + {k}.5d) * pow(x, s);")).collect();
    let text =
        format!("export uniform double f(uniform int n) {{ double s = 1, x = 2; for (;;) {{ {round} }} return 0; }}");
    let options = spmdvm::Options {
        engine: Engine::Interp,
        width: spmdvm::Width::new(64).expect("a width"),
        ..Default::default()
    };
    let module = Module::compile("test.ispc", &text, &options).unwrap_or_else(|e| panic!("{e}"));
    let start = Instant::now();
    let run = spmdvm::Run::new(&module).timeout(Some(Duration::from_millis(100)));
    assert!(run.call("f", &[1.into()]).is_err());
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn threads_are_made_when_there_is_something_for_them() {
    let text = "task void t(uniform int a[]) { a[taskIndex] = num_cores(); }
        export void f(uniform int a[], uniform int n) { launch[n] t(a); }";
    let module = module(Engine::Interp, text, JitSettings::default());
    let limits = Limits { threads: 1_000_000, timeout: Some(Duration::from_secs(60)), ..Limits::default() };
    let mut machine = Machine::new(PreparedProgram::new(module.verified()), limits).unwrap();
    let mut array = vec![0i32; 8];
    let name = machine.memory().name("a");
    // SAFETY: the array outlives the machine, and nothing else touches it meanwhile.
    let at = unsafe { machine.map_host(array.as_mut_ptr().cast(), 32, true, name) }.unwrap();
    for _ in 0..100 {
        machine.call(module.exports()[0].function, &[Arg::Word(at), Arg::Word(8)], u64::MAX).unwrap();
    }
    assert_eq!(array, [MAX_THREADS as i32; 8]);
}

/// Runs one of this file's tests in a process that may use so many KiB of address space.
#[cfg(unix)]
fn in_little_space(test: &str, kib: u32) -> ExitStatus {
    let this = std::env::current_exe().expect("this program has a path");
    let limited = format!("ulimit -v {kib} && exec \"$0\" --exact {test} --nocapture");
    Command::new("sh").args(["-c", &limited]).arg(this).env("SPMDVM_IN_LITTLE_SPACE", "1").status().expect("a shell")
}

#[cfg(unix)]
fn is_in_little_space() -> bool {
    std::env::var_os("SPMDVM_IN_LITTLE_SPACE").is_some()
}

const SMALL: &str = "export uniform int f(uniform int n) { return n + 1; }";

#[test]
#[cfg(unix)]
fn hundreds_of_called_programs_fit_in_two_gigabytes() {
    if !is_in_little_space() {
        assert!(in_little_space("hundreds_of_called_programs_fit_in_two_gigabytes", 2 << 20).success());
        return;
    }
    let module = module(Engine::Interp, SMALL, JitSettings::default());
    let mut machines = Vec::new();
    for n in 0..500 {
        let prepared = PreparedProgram::new(module.verified());
        let mut machine = Machine::new(prepared, Limits::default()).unwrap_or_else(|trap| panic!("{n}: {trap}"));
        let result = machine.call(module.exports()[0].function, &[Arg::Word(n)], 1);
        assert_eq!(result.unwrap_or_else(|trap| panic!("{n}: {trap}")).word(0, 0), n + 1);
        machines.push(machine);
    }
}

#[test]
#[cfg(unix)]
fn what_the_system_refuses_is_said_so() {
    if !is_in_little_space() {
        assert!(in_little_space("what_the_system_refuses_is_said_so", 1 << 20).success());
        return;
    }
    let module = module(Engine::Interp, SMALL, JitSettings::default());
    let limits = Limits { stack: 2 << 30, ..Limits::default() };
    let mut machine = Machine::new(PreparedProgram::new(module.verified()), limits).unwrap();
    let trap = machine.call(module.exports()[0].function, &[Arg::Word(1)], 1).map(|_| ()).unwrap_err();
    assert!(matches!((&trap.kind, &trap.detail), (TrapKind::OutOfMemory, TrapDetail::Refused(n)) if *n >= 2 << 30));
    assert!(trap.to_string().contains("out of memory: the operating system refused"), "{trap}");
    let trap = machine.memory().allocate(3 << 30).unwrap_err();
    assert!(matches!(trap.detail, TrapDetail::Refused(n) if n == 3 << 30), "{trap}");
}
