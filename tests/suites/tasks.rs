//! Tasks on several threads: whatever their number, and however they happen to run, the outcome is that of one thread.

use spmdvm::vm::Limits as MachineLimits;
use spmdvm::vm::Machine;
use spmdvm::{CallError, JitSettings, Limits, Module, Options, Run, TrapError, TrapKind, Value};
use spmdvm_tests::compiled::native;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Elements of the array that programs work on; nodes of the random programs' task trees are at most as many.
const N: usize = 4096;

fn module(source: &str, threads: usize, limits: Limits) -> Module {
    let options = Options { threads: Some(threads), limits, ..Options::default() };
    Module::compile("tasks.ispc", source, &options).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// A small generator of choices (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

/// A program of tasks that launch tasks, level by level; each works on elements of its own, allocates, calls, counts in
/// common places with commutative operations, and in some programs now and then fails.
fn random_program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let levels = 1 + random.below(4);
    let mut source = String::from(
        "static noinline uniform int helper(uniform int n) {
             uniform int local[8];
             for (uniform int k = 0; k < 8; ++k) local[k] = n * k;
             return local[n & 7] + (n > 3 ? helper(n - 3) : 0);
         }\n",
    );
    for level in (0..levels).rev() {
        let _ = writeln!(source, "task void t{level}(uniform int a[], uniform int id) {{");
        let _ = writeln!(source, "  const uniform int me = id * 8 + taskIndex;");
        for _ in 0..2 + random.below(4) {
            let k = random.below(60) + 1;
            let _ = match random.below(7) {
                // Elements from 256 on are written by ordinary stores, each always with the same value.
                0 => writeln!(source, "  a[256 + me % {0}] = me % {0}; atomic_add_global(&a[0], me % {k});", N - 256),
                1 => writeln!(source, "  foreach (i = 0 ... {k}) atomic_add_global(&a[1 + (me * {k} + i) % 99], i);"),
                2 => writeln!(source, "  atomic_xor_global(&a[100], helper(me % {k}));"),
                3 => writeln!(
                    source,
                    "  {{ uniform int *uniform p = uniform new uniform int[{k}]; p[{k} - 1] = me; \
                       atomic_max_global(&a[101], p[me % {k}]); delete[] p; }}"
                ),
                4 => writeln!(
                    source,
                    "  for (uniform int j = 0; j < me % {}; ++j) {{ atomic_or_global(&a[102], j); }}",
                    k * 40
                ),
                5 if level + 1 < levels => {
                    let (n, next) = (1 + random.below(8), level + 1);
                    let sync = if random.below(2) == 0 { "sync;" } else { "" };
                    writeln!(source, "  launch[{n}] t{next}(a, me % 200); {sync}")
                }
                5 if random.below(3) == 0 => writeln!(source, "  assert(me % {} != 7);", 8 + k),
                _ => writeln!(source, "  atomic_add_global(&a[103 + programIndex], programIndex * me);"),
            };
        }
        source.push_str("}\n");
    }
    let _ = writeln!(source, "export void f(uniform int a[]) {{ launch[{}] t0(a, 0); }}", 1 + random.below(8));
    source
}

/// What a call of `f` on a zeroed array gave: the array, or the trap's text.
fn outcome(module: &Module) -> Result<Vec<i32>, String> {
    let mut a = vec![0i32; N];
    match module.call("f", &[Value::slice_mut(&mut a)]) {
        Ok(_) => Ok(a),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    for seed in 0..60 {
        let source = random_program(seed);
        let expected = outcome(&module(&source, 1, Limits::default()));
        for threads in [2, 3, 8] {
            let parallel = module(&source, threads, Limits::default());
            for _ in 0..3 {
                assert_eq!(outcome(&parallel), expected, "seed {seed}, {threads} threads:\n{source}");
            }
        }
    }
}

/// Hot loops of tasks are recorded by one thread and run by all.
#[test]
fn compiled_loops_run_in_tasks() {
    for seed in 0..15 {
        let source = random_program(seed);
        let expected = outcome(&module(&source, 1, Limits::default()));
        for engine in spmdvm_tests::subject::engines() {
            let jit = JitSettings::eager();
            let options = Options { threads: Some(3), engine: *engine, jit, ..Options::default() };
            let compiled = Module::compile("tasks.ispc", &source, &options).expect("compiles");
            for _ in 0..2 {
                assert_eq!(outcome(&compiled), expected, "seed {seed}, {engine}:\n{source}");
            }
        }
    }
}

#[test]
fn fuel_suffices_for_all_threads_or_for_none() {
    for seed in 0..12 {
        let source = random_program(seed);
        let options = Options::default();
        let program = Module::compile("tasks.ispc", &source, &options).expect("compiles").verified().clone();
        let f = program.exports.first().map(|export| export.function);
        let run = |threads, fuel| {
            let limits = MachineLimits { threads, fuel, ..MachineLimits::default() };
            let mut machine = Machine::new(program.clone(), limits).expect("small");
            let array = machine.memory().allocate(4 * N as u64).expect("small");
            let result = machine.call(f.expect("exported"), &[spmdvm::vm::Arg::Word(array)], u64::MAX);
            let kind = result.map(drop).map_err(|trap| trap.kind);
            (kind, machine.fuel_used())
        };
        let (expected, needed) = run(1, None);
        if expected.is_err() {
            continue;
        }
        for threads in [1, 2, 5] {
            assert_eq!(run(threads, None), (Ok(()), needed), "seed {seed}");
            assert_eq!(run(threads, Some(needed)), (Ok(()), needed), "seed {seed}");
            if needed > 0 {
                assert_eq!(run(threads, Some(needed - 1)).0, Err(TrapKind::OutOfFuel), "seed {seed}");
            }
        }
    }
}

fn trap(error: CallError) -> TrapError {
    match error {
        CallError::Trap(trap) => trap,
        other => panic!("{other}"),
    }
}

const ENDLESS: &str = "task void forever(uniform int a[]) { while (true) a[taskIndex]++; }
    task void nested(uniform int a[]) { launch[3] forever(a); }
    export void f(uniform int a[]) { launch[4] forever(a); launch[2] nested(a); }";

#[test]
fn time_limits_hold_in_tasks() {
    let limits = Limits { timeout: Some(Duration::from_millis(500)), ..Limits::default() };
    for threads in [1, 4] {
        let error = outcome(&module(ENDLESS, threads, limits)).expect_err("endless");
        assert!(error.contains("out of time"), "{error}");
        assert!(error.contains("(task 0 of `forever"), "{error}");
    }
}

#[test]
fn interruption_reaches_tasks() {
    for threads in [1, 4] {
        let module = module(ENDLESS, threads, Limits::default());
        let flag = Arc::new(AtomicBool::new(false));
        let mut a = vec![0i32; N];
        let error = std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                let args = [Value::slice_mut(&mut a)];
                Run::new(&module).interrupt(Arc::clone(&flag)).call("f", &args).expect_err("endless")
            });
            std::thread::sleep(Duration::from_millis(30));
            flag.store(true, Ordering::Relaxed);
            call.join().expect("no panic")
        });
        assert_eq!(trap(error).trap().kind, TrapKind::Interrupted);
    }
}

#[test]
fn a_module_can_be_called_again_after_a_failure() {
    let source = "task void one(uniform int a[], uniform int bad) {
            uniform int local[4];
            for (uniform int k = 0; k < 4; ++k) local[k] = k;
            if (bad != 0 && taskIndex >= 50) a[-1 - local[taskIndex & 3]] = 1;
            atomic_add_global(&a[0], 1);
        }
        export void f(uniform int a[], uniform int bad) { launch[200] one(a, bad); }";
    let module = module(source, 4, Limits::default());
    for round in 0..50 {
        let mut a = [0i32; 4];
        let bad = trap(module.call("f", &[Value::slice_mut(&mut a), 1.into()]).expect_err("out of bounds"));
        assert_eq!(bad.trap().tasks().collect::<Vec<_>>().len(), 1, "round {round}");
        assert_eq!(bad.trap().tasks().next().map(|task| task.0), Some(50), "round {round}");
        assert!(bad.render(false).contains("launched from f"), "{}", bad.render(false));
        let mut a = [0i32; 4];
        module.call("f", &[Value::slice_mut(&mut a), 0.into()]).expect("good");
        assert_eq!(a, [200, 0, 0, 0]);
    }
}

/// Threads take several of many tasks at a time; some of these wait for others, and are gone on with by any thread.
#[test]
fn every_task_before_a_failing_one_runs_once() {
    let source = "task void inner(uniform int b[]) { atomic_add_global(&b[0], 1); }
        task void one(uniform int a[], uniform int b[], uniform int n, uniform int bad) {
            if (taskIndex % 7 == 0) { launch[3] inner(b); sync; }
            atomic_add_global(&a[taskIndex], 1);
            if (taskIndex == bad || taskIndex == bad + 5) a[n] = 1;
        }
        export void f(uniform int a[], uniform int b[], uniform int n, uniform int bad) { launch[n] one(a, b, n, bad); }";
    for threads in [1, 2, 5] {
        let module = module(source, threads, Limits::default());
        for bad in [-10, 2999, 0, 1500, 733] {
            let (mut a, mut b) = ([0i32; 3000], [0i32]);
            let args = [Value::slice_mut(&mut a), Value::slice_mut(&mut b), 3000.into(), bad.into()];
            match module.call("f", &args) {
                Ok(_) => assert_eq!((bad, b[0]), (-10, 3 * 429)),
                Err(error) => {
                    assert_eq!(trap(error).trap().tasks().next().map(|task| task.0), Some(bad as u64));
                }
            }
            let runs = if bad < 0 { 3000 } else { bad as usize + 1 };
            assert!(a[..runs].iter().all(|&n| n == 1), "{threads} threads, {bad} fails");
            assert!(a[runs..].iter().all(|&n| n <= 1), "{threads} threads, {bad} fails");
        }
    }
}

/// The beginning of a task is a call of its function: one without a loop is compiled once it has been begun often.
#[test]
fn tasks_without_loops_are_compiled() {
    let source = "task void one(const uniform float from[], uniform float to[]) {
            const int i = taskIndex * programCount + programIndex;
            to[i] = from[i] * 2 + 1;
        }
        export void f(const uniform float from[], uniform float to[], uniform int tasks) { launch[tasks] one(from, to); }
        export uniform int width() { return programCount; }";
    for engine in native() {
        for threads in [1, 3] {
            let jit = JitSettings { background: false, ..JitSettings::default() };
            let options = Options { engine, jit, threads: Some(threads), ..Options::default() };
            let module = Module::compile("tasks.ispc", source, &options).unwrap_or_else(|error| panic!("{error}"));
            let Ok(Some(Value::Scalar { bits: width, .. })) = module.call("width", &[]) else { panic!("a number") };
            let from: Vec<f32> = (0..20_000 * width).map(|i| i as f32).collect();
            let mut to = vec![0f32; from.len()];
            // While one thread compiles, the others may do all that is left.
            let is_native = (0..50).any(|_| {
                let args = [Value::slice(&from), Value::slice_mut(&mut to), 20_000.into()];
                module.call("f", &args).expect("runs");
                module.instructions().native_share() > 0.8
            });
            assert!(is_native, "{} on {engine}, {threads} threads", module.instructions().native_share());
            assert!(to.iter().zip(&from).all(|(to, from)| *to == from * 2.0 + 1.0));
        }
    }
}

#[test]
fn prints_come_whole() {
    let source =
        "task void one() { for (uniform int k = 0; k < 20; ++k) print(\"<% % %>\", taskIndex, k, programIndex); }
        export void f() { launch[40] one(); }";
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&pieces);
    let output = move |text: &str| sink.lock().expect("no panic").push(text.to_owned());
    Run::new(&module(source, 4, Limits::default())).output(output).call("f", &[]).expect("runs");
    let pieces = pieces.lock().expect("no panic");
    assert_eq!(pieces.len(), 800);
    assert!(pieces.iter().all(|piece| piece.starts_with('<') && piece.ends_with('>')));
}

#[test]
fn a_panic_of_the_host_goes_on_in_the_caller() {
    let source = "task void one(uniform int a[]) { if (taskIndex == 3) print(\"boom\"); atomic_add_global(&a[0], 1); }
        export void f(uniform int a[]) { launch[64] one(a); }";
    let module = module(source, 4, Limits::default());
    let mut a = vec![0i32; N];
    let call = || Run::new(&module).output(|text| panic!("{text}")).call("f", &[Value::slice_mut(&mut a)]);
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("panics");
    assert_eq!(payload.downcast_ref::<String>().map(String::as_str), Some("boom"));
}

#[test]
fn calls_on_several_threads_share_the_pool() {
    let source = random_program(3);
    let module = module(&source, 3, Limits::default());
    let expected = outcome(&module);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| assert_eq!(outcome(&module), expected)));
        }
    });
}

/// Frees while others read: what they get is what was there, or a trap.
#[test]
fn a_race_of_free_and_use_is_safe() {
    let source = "task void one(uniform int *uniform *uniform cells, uniform int wrong[]) {
            for (uniform int k = 0; k < 300; ++k) {
                if (taskIndex == 0) {
                    uniform int *uniform fresh = uniform new uniform int[5000];
                    for (uniform int j = 0; j < 5000; j += 500) fresh[j] = 77;
                    uniform int *uniform old = cells[k % 4];
                    cells[k % 4] = fresh;
                    memory_barrier();
                    delete[] old;
                } else {
                    uniform int *uniform p = cells[k % 4];
                    if (p != NULL && p[500 * (k % 10)] != 77) atomic_add_global(&wrong[0], 1);
                }
            }
        }
        export void f(uniform int a[]) {
            uniform int *uniform cells[4];
            for (uniform int k = 0; k < 4; ++k) cells[k] = NULL;
            launch[4] one(cells, a);
        }";
    let limits = Limits { memory: Some(1 << 20), ..Limits::default() };
    let module = module(source, 4, limits);
    for _ in 0..20 {
        match outcome(&module) {
            Ok(a) => assert_eq!(a[0], 0),
            // What the trap leaves allocated stays so.
            Err(text) if text.contains("dangling") || text.contains("out of memory") => {}
            Err(text) => panic!("{text}"),
        }
    }
}
