//! Runs that end in the middle of a compiled region: by a trap, without fuel, by interruption or by the clock. What was done
//! before is there, what comes after is not, and the trap is the interpreter's, with its lane, place and call stack.

use spmdvm::{CallError, Engine, JitSettings, Limits, Module, Options, Run, TrapKind, Value, Width};
use spmdvm_tests::agree::{Input, agree_at};
use spmdvm_tests::subject::engines;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const HEAD: &str = "export void f(uniform int a[], uniform int b[], uniform int n) {";
const PEEK: &str = "uniform int seen[8]; int mine = 3;
export void peek(uniform int out[]) {
    for (uniform int i = 0; i < 8; ++i) out[i] = seen[i];
    out[8 + programIndex] = mine;
}
";

/// Programs that trap where `b` is 0: functions before, and the body.
const TRAPPING: &[(&str, &str, &str)] = &[
    (
        "stores before the trap in the same round, of the same and of other memory",
        "",
        "foreach (i = 0 ... n) { a[i] = i; seen[i & 7] += 1; mine += 1; a[i] += 100 / b[i]; seen[0] = 9; a[i] = -1; }",
    ),
    (
        "under masks, in both parts of a condition and below them",
        "",
        "foreach (i = 0 ... n) { if (i % 3 != 1) { a[i] = 7; if (i & 4) a[i] = 9 % b[i]; else a[i ^ 1] = 5; } else a[i] += 60 / b[i]; seen[1] += 1; }",
    ),
    (
        "in functions called from functions, some lanes of which have returned",
        "static int inner(uniform int b[], int i) { int t[4]; t[i & 3] = i; mine += t[i & 3]; return t[0] + 50 / b[i]; }
         static int outer(uniform int a[], uniform int b[], int i) { a[i] = 3; if (i % 5 == 2) return 1;
             seen[2]++; return inner(b, i) * 2; }",
        "foreach (i = 0 ... n) { a[i] += outer(a, b, i); a[i] += 1; }",
    ),
    (
        "in an inner loop whose lanes leave at different times",
        "",
        "foreach (i = 0 ... n) { int k; for (k = 0; k < (i & 7); ++k) { a[i] += 1; if (k == 5) continue; a[i] += 40 / (b[i] * 10 - k * 0); } a[i] += k; }",
    ),
    (
        "with all lanes on",
        "",
        "foreach (i = 0 ... n) { if (i & 1) { int x = i; unmasked { x += 1; mine += x; a[i & 63] += 30 / b[i % 80]; } a[i] = x; } }",
    ),
    (
        "one lane at a time",
        "",
        "foreach (i = 0 ... n) { foreach_active (k) { seen[3] += 1; a[i] = 20 / b[i]; mine++; } a[i] += 1; }",
    ),
    (
        "value by value",
        "",
        "foreach (i = 0 ... n) { foreach_unique (v in i / 3) { seen[4] ^= v; a[i] = v / b[i]; } a[i] += 1; }",
    ),
    (
        "in calls for each lane",
        "static uniform int each(uniform int a[], uniform int b[], uniform int i) { a[i] = 1; int x = i * programIndex; mine += 1; return reduce_add(x) / b[i]; }",
        "foreach (i = 0 ... n) { a[i] += 5; int r = crev each(a, b, i); a[i] += r; }",
    ),
    (
        "in a switch",
        "",
        "foreach (i = 0 ... n) { switch (i & 3) { case 0: a[i] = 1; case 2: a[i] += 10 / b[i]; break; default: mine += i; seen[5] = reduce_max(i); } a[i] += 1; }",
    ),
    (
        "a store that some lanes may not do",
        "",
        "foreach (i = 0 ... n) { mine = i; a[i] = 2; a[i + (b[i] == 0 ? 1000 : 0)] = 4; a[i] = 6; }",
    ),
    (
        "a load that some lanes may not do, after an assert",
        "",
        "foreach (i = 0 ... n) { assert(i < 1000); a[i] = 2; if (i & 2) a[i] = b[i - (b[i] == 0 ? 99 : 0)]; a[i] += 6; }",
    ),
    (
        "in tasks",
        "task void part(uniform int a[], uniform int b[], uniform int n) {
            for (uniform int i = taskIndex * 20; i < taskIndex * 20 + 20; ++i) { a[i] = i; seen[6] += 1; a[i] += 100 / b[i]; } }",
        "launch[4] part(a, b, n); sync; a[0] = 77;",
    ),
    (
        "with uniform values only",
        "",
        "uniform int s = 1; for (uniform int i = 0; i < n; ++i) { s += i; seen[7] = s; a[i] = s / b[i]; if (s & 1) continue; a[i] += 1; }",
    ),
];

fn text(before: &str, body: &str) -> String {
    format!("{PEEK}{before}\n{HEAD} {body} }}")
}

fn zero_at(at: usize) -> Input {
    let mut input = Input::default();
    input.b[at] = 0;
    input
}

#[test]
fn traps_leave_what_the_interpreter_leaves() {
    for (what, before, body) in TRAPPING {
        let inputs: Vec<Input> = [0, 13, 38, 79].map(zero_at).into_iter().chain([Input::default()]).collect();
        let (left, seen) = agree_at(&Width::ALL, &text(before, body), &inputs);
        let trapped = seen.iter().filter(|s| s.ends[0].is_some()).count();
        assert!((1..5).contains(&trapped) && left.values().sum::<u64>() > 0, "{what}: {trapped} trap, {left:?}");
    }
}

#[test]
fn initial_masks_hold_in_compiled_code() {
    for (_, before, body) in TRAPPING.iter().step_by(2) {
        let masked = |mask| Input { mask, ..zero_at(38) };
        agree_at(&[4, 16, 64].map(|w| Width::new(w).unwrap()), &text(before, body), &[0x5a5a, 2, 0xf0f1].map(masked));
    }
}

#[test]
fn fuel_ends_anywhere() {
    let with = |fuel| Input { limits: Limits { fuel: Some(fuel), ..Limits::default() }, calls: 2, ..Input::default() };
    let inputs: Vec<Input> = (0..20).chain([25, 31, 40, 55, 80, 130, 250]).map(with).collect();
    for (what, before, body) in TRAPPING {
        let (_, seen) = agree_at(&[2, 16].map(|w| Width::new(w).unwrap()), &text(before, body), &inputs);
        let ended = seen.iter().filter(|s| s.ends[0].as_ref().is_some_and(|e| e.contains("OutOfFuel"))).count();
        assert!(ended > 0, "{what}");
    }
}

/// Endless loops of every kind: functions before, and the body.
const ENDLESS: &[(&str, &str)] = &[
    ("", "for (;;) a[0] += 1;"),
    ("", "uniform int i = 0; again: ++i; if (i != -1) goto again; a[0] = i;"),
    ("", "int x = programIndex; while (x >= 0) { x = (x + 1) & 0xffff; } a[0] = reduce_add(x);"),
    ("", "int x = 0; do { ++x; if (x == programIndex) continue; } while (x != -1); a[0] = reduce_add(x);"),
    ("", "foreach (i = 0 ... 3) { uniform int k = 0; while (k >= 0) k = (k + 1) & 255; a[i] = k; }"),
    ("", "for (;;) foreach (i = 0 ... 40) a[i] += 1;"),
    ("", "for (uniform int k = 0; k >= 0; k = (k + 1) & 7) foreach_active (l) a[l] += 1;"),
    ("", "for (;;) foreach_unique (v in programIndex & 1) a[v] += 1;"),
    ("", "if (programIndex == 0) unmasked { for (;;) { if (a[0] == -1) break; } }"),
    (
        "static int spin(uniform int a[], int x) { while (x != -1) { x ^= 6; if (x == -2) return 3; } return x; }",
        "a[0] = reduce_add(spin(a, programIndex));",
    ),
    (
        "static uniform int all(uniform int u) { for (;;) { u ^= 1; if (u == -7) return u; } }",
        "int r = crev all(programIndex); a[0] = reduce_add(r);",
    ),
    ("task void t(uniform int a[]) { for (;;) a[taskIndex] += 1; }", "launch[3] t(a); sync;"),
    ("", "for (;;) { switch (programIndex & 1) { case 0: a[0] += 1; break; default: continue; } }"),
];

/// Runs an endless program until it is stopped; the kind of the trap.
fn stopped(engine: Engine, text: &str, jit: &JitSettings, timeout: Option<Duration>) -> TrapKind {
    let options = Options { engine, jit: jit.clone(), ..Options::default() };
    let module = Module::compile("endless.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"));
    let flag = Arc::new(AtomicBool::new(false));
    let (mut a, mut b) = (vec![0i32; 80], vec![0i32; 80]);
    let args = [Value::slice_mut(&mut a), Value::slice_mut(&mut b), 80.into()];
    let raised = Arc::clone(&flag);
    let result = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            raised.store(timeout.is_none(), Ordering::Relaxed);
        });
        Run::new(&module).interrupt(flag).timeout(timeout).call("f", &args)
    });
    match result {
        Err(CallError::Trap(trap)) => trap.trap().kind,
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn every_endless_loop_can_be_stopped() {
    let hot = JitSettings::default();
    for (before, body) in ENDLESS {
        let text = format!("{before}\n{HEAD} {body} }}");
        for &engine in engines() {
            for jit in [JitSettings::eager_in_every_variant(), hot.clone()] {
                assert_eq!(stopped(engine, &text, &jit, None), TrapKind::Interrupted, "{engine}\n{text}");
            }
            let soon = Some(Duration::from_millis(30));
            assert_eq!(stopped(engine, &text, &JitSettings::eager(), soon), TrapKind::Timeout, "{engine}\n{text}");
        }
    }
}

/// Hosts keep up what raises the flag of interruption.
#[test]
fn a_long_run_calls_its_watch() {
    static LOOKS: AtomicUsize = AtomicUsize::new(0);
    fn watch() {
        LOOKS.fetch_add(1, Ordering::Relaxed);
    }
    let text = format!("{HEAD} for (uniform int k = 0; k < 100000; ++k) a[0] += k & 1; }}");
    for &engine in engines() {
        let options = Options { engine, jit: JitSettings::eager(), ..Options::default() };
        let module = Module::compile("long.ispc", &text, &options).unwrap_or_else(|e| panic!("{e}"));
        let (mut a, mut b) = (vec![0i32; 80], vec![0i32; 80]);
        let before = LOOKS.load(Ordering::Relaxed);
        let run = Run::new(&module).watch(watch);
        run.call("f", &[Value::slice_mut(&mut a), Value::slice_mut(&mut b), 80.into()]).expect("it ends");
        let looks = LOOKS.load(Ordering::Relaxed) - before;
        // Slices of fuel are smaller where rounds take long.
        assert!((10..10_000).contains(&looks), "{engine}: {looks}");
    }
}
