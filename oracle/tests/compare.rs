//! Comparison: what differs is found and named, and outside back ends are run, read and ended.

use spmdvm::{Engine, Fp, Module, Options, TrapKind, Ty, Width};
use spmdvm_oracle::compare::bisect::first_statement;
use spmdvm_oracle::compare::command::Command;
use spmdvm_oracle::compare::difference::{Difference, Element, equal};
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::ispc::{self, Ispc};
use spmdvm_oracle::compare::{Backend, Expected, Job, Rules, Verdict, difference, driver};
use spmdvm_oracle::{Call, End, Outcome, TestCase, run};
use std::path::Path;
use std::time::Duration;

const PROGRAM: &str = "\
export void f(uniform int a[], uniform float x[], uniform int n) { foreach (i = 0 ... n) { a[i] *= 2; x[i] += 1; } }
export uniform int say(uniform int n) { print(\"n is %\\n\", n); return n; }
export uniform int at(uniform int a[], uniform int i) { a[0] = 7; return a[i]; }
export uniform float16 narrow(uniform float16 h, uniform bool b, uniform int8 i, uniform uint64 u, uniform double d) {
    return b ? h + (float16)i + (float16)(uniform float)u + (float16)d : 0;
}
task void part(uniform int a[], uniform int n) { foreach (i = 0 ... n) a[taskIndex * n + i] = taskIndex * taskCount + i; }
export void spread(uniform int a[], uniform int8 b[], uniform bool c[], uniform int64 d[]) {
    launch[3, 2] part(a, 5);
    sync;
    foreach (i = 0 ... 4) { b[i] -= 100; c[i] = !c[i]; d[i] += 1; }
    print(\"done\\n\");
}
export float lanes(float x) { return x; }
export void copy(uniform int a[], const uniform int b[], uniform int n) { for (uniform int i = 0; i < n; i++) a[i] = b[i]; }
";

fn options(lanes: u32) -> Options {
    Options { width: Width::new(lanes).expect("a width"), fp: Fp::Strict, ..Options::default() }
}

/// Does something with the job of a call, at a width of 4.
fn with_job<T>(text: &str, mask: u64, act: impl FnOnce(&Job<'_>) -> T) -> T {
    let options = options(4);
    // ISPC exports no functions with varying results.
    let program =
        if text.starts_with("lanes") { PROGRAM } else { &PROGRAM.replace("export float lanes", "float lanes") };
    let module = Module::compile("p.ispc", program, &options).expect("it compiles");
    let call = Call { mask, ..Call::parse(text, &module).expect("a call") };
    let export = call.export(&module).expect("an export").clone();
    let case = TestCase { name: "p.ispc".into(), text: program.into(), call };
    act(&Job { case: &case, path: None, options: &options, export: &export })
}

fn reference() -> OwnEngine {
    OwnEngine { engine: Engine::Interp }
}

/// What comes of a comparison with a back end.
fn verdict(call: &str, backend: &dyn Backend, rules: &Rules) -> Verdict {
    with_job(call, u64::MAX, |job| {
        Expected::of(&reference(), job).expect("the reference runs it").compare(backend, job, rules)
    })
}

/// A shell script as a back end.
fn script(text: &str) -> Command {
    let words = ["sh", "-c", text, "sh", "{width}", "{entry}", "{source}", "{input}"];
    Command { words: words.map(str::to_owned).to_vec(), timeout: Duration::from_secs(20) }
}

fn different(verdict: Verdict) -> Difference {
    match verdict {
        Verdict::Different(difference) => *difference,
        other => panic!("{other:?}"),
    }
}

const F: &str = "f(a=iota:i32:6, x=[0.5, 1, 2, 3, 4, 5], n=6)";

#[test]
fn a_planted_difference_is_named_with_index_and_lane() {
    let rules = Rules::default();
    assert_eq!(verdict(F, &script("echo 'a: 0 2 4 6 8 10'; echo 'x: 1.5 2 3 4 5 6'"), &rules), Verdict::Equal);
    let planted = script("echo 'a: 0 2 4 6 8 10'; echo 'x: 1.5 2 3 4 5 6.0000005'");
    let found = different(verdict(F, &planted, &rules));
    assert_eq!(
        found.to_string(),
        "x[5] (lane 1): expected 6.0 (0x40c00000), got 6.0000005 (0x40c00001), 1 ULP apart; 1 of 6 differ"
    );
    let json = found.to_json();
    assert_eq!((&json["index"], &json["lane"], &json["got_bits"]), (&5.into(), &1.into(), &"0x40c00001".into()));
    assert_eq!(verdict(F, &planted, &Rules { ulp: 1, ..Rules::default() }), Verdict::Equal);
    let of_x = Rules { ulp_of: [("x".to_owned(), 1)].into(), ..Rules::default() };
    assert_eq!(verdict(F, &planted, &of_x), Verdict::Equal);
    let of_a = Rules { ulp_of: [("a".to_owned(), 1)].into(), ..Rules::default() };
    different(verdict(F, &planted, &of_a));
}

#[test]
fn commands_get_what_they_ask_for() {
    let seen = script("echo \"> $1 $2\"; grep -c foreach \"$3\" >&2; grep -q '\"width\":4' \"$4\" && echo 'result: 3'");
    let outcome = with_job("say(3)", u64::MAX, |job| seen.run(job)).expect("it runs");
    assert_eq!((outcome.printed.as_str(), outcome.result), ("4 say\n", Some((Ty::I32, vec![3]))));
    let json = script("printf %s '{\"result\": 3, \"printed\": \"n is 3\\n\", \"arrays\": {}}'");
    assert_eq!(verdict("say(3)", &json, &Rules::default()), Verdict::Equal);
    let lines = script("echo 'result: 3'; echo '> n is 4'");
    let found = different(verdict("say(3)", &lines, &Rules::default()));
    assert_eq!(found.to_string(), "line 1 of what is printed: expected \"n is 3\", got \"n is 4\"");
    assert_eq!(verdict("say(3)", &lines, &Rules { ignore_prints: true, ..Rules::default() }), Verdict::Equal);
}

#[test]
fn commands_that_fail_have_stopped() {
    let end = |command: Command| with_job("say(3)", u64::MAX, |job| command.run(job)).expect("it runs").end;
    let End::Stopped(why) = end(script("echo first >&2; echo last >&2; exit 3")) else { panic!("it failed") };
    assert_eq!(why, "exit status: 3\n    first\n    last");
    let start = std::time::Instant::now();
    let End::Stopped(why) = end(Command { timeout: Duration::from_millis(300), ..script("exec sleep 30") }) else {
        panic!("it took too long")
    };
    assert_eq!(why, "it took more than 0.3 seconds");
    assert!(start.elapsed() < Duration::from_secs(15));
    let told = [
        ("echo nonsense", "it wrote a line that is no `NAME: NUMBER …`"),
        ("echo 'b: 1'", "the call has no array `b`, which it wrote"),
        ("echo 'result: 1.5'", "`result` is of type i32, and `1.5` is no such value"),
        ("echo '{ no'", "it wrote no valid JSON"),
    ];
    for (text, expected) in told {
        let End::Stopped(why) = end(script(text)) else { panic!("{text}: it is wrong") };
        assert!(why.contains(expected), "{text}: {why}");
    }
    let missing = Command { words: vec!["/nowhere/backend".into()], timeout: Duration::from_secs(1) };
    let why = with_job("say(3)", u64::MAX, |job| missing.run(job)).expect_err("there is no such command");
    assert!(why.contains("cannot run /nowhere/backend"), "{why}");
}

#[test]
fn traps_are_compared_unless_they_are_left_out() {
    let (call, rules) = ("at(a=[1, 2], i=2)", Rules::default());
    let same = script("echo 'trap: out_of_bounds'; echo 'a: 7 2'");
    assert_eq!(verdict(call, &same, &rules), Verdict::Equal);
    // What a trap leaves behind need not be told; but it is compared if it is.
    assert_eq!(verdict(call, &script("echo 'trap: out_of_bounds'"), &rules), Verdict::Equal);
    different(verdict(call, &script("echo 'trap: out_of_bounds'; echo 'a: 8 2'"), &rules));
    let found = different(verdict(call, &script("kill -SEGV $$"), &rules));
    assert!(found.to_string().starts_with("expected that it trapped: out_of_bounds, but it stopped: signal: 11"));
    let ignoring = Rules { ignore_traps: true, ..rules };
    assert_eq!(
        verdict(call, &script("exit 1"), &ignoring),
        Verdict::NotComparable("the program traps (out_of_bounds)".into())
    );
}

#[test]
fn arrays_may_be_left_out_if_they_are_as_they_were() {
    let call = "copy(a=zeros:i32:2, b=[3, 4], n=2)";
    assert_eq!(verdict(call, &script("echo 'a: 3 4'"), &Rules::default()), Verdict::Equal);
    let found = different(verdict(call, &script("echo 'b: 3 4'"), &Rules::default()));
    assert_eq!(found.to_string(), "a: expected 2 of i32, got nothing");
    let found = different(verdict(call, &script("echo 'a: 3'"), &Rules::default()));
    assert_eq!(found.to_string(), "a: expected 2 of i32, got 1 of i32");
}

#[test]
fn floats_are_counted_apart() {
    let bits = |x: f32| x.to_bits() as u64;
    assert!(equal(Ty::F32, 0x7fc0_0000, 0xffc0_1234, 0), "NaNs are equal");
    assert!(!equal(Ty::F32, 0x7fc0_0000, bits(1.0), u64::MAX));
    assert!(!equal(Ty::F32, bits(0.0), bits(-0.0), 0));
    assert!(equal(Ty::F32, bits(0.0), bits(-0.0), 1));
    assert!(equal(Ty::F32, 1, 0x8000_0001, 2), "the smallest numbers on both sides of zero");
    assert!(!equal(Ty::F32, 1, 0x8000_0001, 1));
    assert!(equal(Ty::F64, 1.0f64.to_bits(), 1.0f64.to_bits() + 3, 3));
    assert!(!equal(Ty::F64, 1.0f64.to_bits(), 1.0f64.to_bits() + 4, 3));
    assert!(equal(Ty::F16, 0x3c00, 0x3c02, 2) && !equal(Ty::F16, 0x7c00, 0x7c01, 9), "an infinity is no NaN");
    assert!(!equal(Ty::I32, 1, 2, 10), "integers are equal or not");
}

#[test]
fn results_of_lanes_and_ends_are_compared() {
    let call = with_job("lanes(2)", u64::MAX, |job| job.case.call.clone());
    let outcome = |words: [u64; 4]| Outcome { result: Some((Ty::I32, words.to_vec())), ..Outcome::default() };
    let found = difference(&call, 4, &outcome([1, 2, 3, 4]), &outcome([1, 2, 5, 0]), &Rules::default());
    let expected =
        Element { name: "result".into(), index: 2, lane: Some(2), ty: Ty::I32, expected: 3, got: 5, differ: 2, of: 4 };
    assert_eq!(found, Some(Difference::Element(expected)));
    let trapped = |lane| Outcome { end: End::Trapped { kind: TrapKind::Assertion, lane }, ..Outcome::default() };
    let found = difference(&call, 4, &trapped(Some(1)), &trapped(Some(2)), &Rules::default());
    let text = found.expect("the lanes differ").to_string();
    assert_eq!(text, "expected that it trapped: assertion (lane 1), but it trapped: assertion (lane 2)");
}

#[test]
fn our_engines_agree() {
    let engines = OwnEngine::compiling();
    assert!(engines.iter().any(|own| own.engine == Engine::Ir), "this one runs everywhere");
    for own in engines {
        for call in [F, "say(3)", "at([1], 9)", "narrow(0.5, true, -3, 4, 0.25)", "lanes(iota)"] {
            assert_eq!(verdict(call, &own, &Rules::default()), Verdict::Equal, "{}: {call}", own.name());
        }
    }
}

const SPREAD: &str = "spread(random:i32:30:1, [-128, 127, 0, 1], [true, false, true, true], random:i64:4:3)";

#[test]
fn c_programs_say_what_they_cannot() {
    let told = [
        ("lanes(1)", u64::MAX, "its result is varying"),
        ("say(3)", 0b101, "the call has a mask, which a C program cannot set"),
        ("copy(zeros:i32:2000000, [], 0)", u64::MAX, "`a` has 2000000 elements"),
    ];
    for (call, mask, expected) in told {
        let why = with_job(call, mask, driver::source).expect_err("it cannot");
        assert!(why.contains(expected), "{call}: {why}");
    }
    assert!(with_job("say(3)", 0b1111, driver::source).is_ok());
}

/// A stand-in for the compiler, so that the whole way of an object is walked where there is none: it "compiles" to what a C compiler
/// makes of the C source that stands behind `//C ` in the program.
#[test]
fn objects_are_linked_called_and_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let compiler = folder.path().join("compiler");
    let text = "#!/bin/sh\nsed -n 's,^//C ,,p' \"$1\" > \"$3.c\" && exec cc -fPIC -c \"$3.c\" -o \"$3\"\n";
    std::fs::write(&compiler, text).expect("it is written");
    let words = ["chmod".to_owned(), "+x".into(), compiler.display().to_string()];
    spmdvm_oracle::compare::process::run(&words, None, Duration::from_secs(5)).expect("it is made executable");
    let source = "\
export uniform int f(uniform int a[], uniform float k, uniform bool b, uniform int8 c) {
    a[0] = b ? (uniform int)k : c; print(\"%\\n\", c); return -3;
}
//C #include <stdio.h>
//C #include <stdbool.h>
//C int f(int *a, float k, bool b, signed char c) { a[0] = b ? (int)k : c; a[1] += WRONG; printf(\"%d\\n\", c); return -3; }
";
    let target = "fake-i32x4".to_owned();
    let ispc = Ispc { compiler, target, level: 2, timeout: Duration::from_secs(10) };
    for (wrong, shown) in
        [("0", None), ("1", Some("a[1] (lane 1): expected 9 (0x00000009), got 10 (0x0000000a); 1 of 2 differ"))]
    {
        let text = source.replace("WRONG", wrong);
        let options = options(4);
        let module = Module::compile("p.ispc", &text, &options).expect("it compiles");
        let call = Call::parse("f([5, 9], 2.5, false, -100)", &module).expect("a call");
        let export = call.export(&module).expect("an export").clone();
        let case = TestCase { name: "p.ispc".into(), text, call };
        let job = Job { case: &case, path: None, options: &options, export: &export };
        let verdict = Expected::of(&reference(), &job).expect("it runs").compare(&ispc, &job, &Rules::default());
        match shown {
            None => assert_eq!(verdict, Verdict::Equal),
            Some(shown) => assert_eq!(different(verdict).to_string(), shown),
        }
    }
}

#[test]
fn the_real_ispc_agrees() {
    let compiler = Path::new("ispc");
    if let Err(why) = ispc::version(compiler) {
        eprintln!("skipped: no ispc on PATH ({why})");
        return;
    }
    let targets = ispc::targets(Width::new(4).expect("a width"));
    for target in &targets {
        for level in [0, 2] {
            let timeout = Duration::from_secs(10);
            let ispc = Ispc { compiler: compiler.to_owned(), target: target.clone(), level, timeout };
            for call in [F, "say(3)", "narrow(0.5, true, -3, 4, 0.25)", SPREAD, "copy(a=[1, 2, 3, 4], b=a+1, n=3)"] {
                assert_eq!(verdict(call, &ispc, &Rules::default()), Verdict::Equal, "{}: {call}", ispc.name());
            }
        }
    }
    assert_eq!(targets.is_empty(), !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")));
}

#[test]
fn targets_have_widths() {
    for lanes in [4, 8, 16, 32, 64] {
        let width = Width::new(lanes).expect("a width");
        for target in ispc::targets(width) {
            assert_eq!(ispc::width_of(&target), Some(width), "{target}");
        }
    }
    assert_eq!(ispc::width_of("avx2-i32x8"), Width::new(8));
    assert_eq!(ispc::width_of("host"), None);
}

/// A back end that reads one thing for another.
struct Misreading {
    what: &'static str,
    read_as: &'static str,
    /// Whether it does so only in programs without this.
    unless: &'static str,
}

impl Backend for Misreading {
    fn name(&self) -> String {
        "misreading".into()
    }

    fn run(&self, job: &Job<'_>) -> Result<Outcome, String> {
        let text = match job.case.text.contains(self.unless) {
            true => job.case.text.clone(),
            false => job.case.text.replace(self.what, self.read_as),
        };
        let module = Module::compile("p.ispc", &text, job.options).map_err(|error| error.to_string())?;
        Ok(run(job.case, &module))
    }
}

const STEPS: &str = "\
static float twice(float x) {
    float y = x * 2.0f;
    y += 1.0f;
    return y;
}
export void f(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i];
        if (x > 2.0f) {
            x = twice(x);
        }
        int bits = (int)x;
        bits ^= i;
        a[i] = x + bits;
    }
    uniform float last = a[n - 1];
    a[0] = last;
}
";

fn first(what: &'static str, read_as: &'static str, unless: &'static str) -> Result<String, String> {
    let options = options(4);
    let module = Module::compile("p.ispc", STEPS, &options).expect("it compiles");
    let call = Call::parse("f([1, 2, 3, 4, 5, 6], 6)", &module).expect("a call");
    let export = call.export(&module).expect("an export").clone();
    let case = TestCase { name: "p.ispc".into(), text: STEPS.into(), call };
    let job = Job { case: &case, path: None, options: &options, export: &export };
    first_statement(&job, &reference(), &Misreading { what, read_as, unless }).map(|place| place.to_string())
}

#[test]
fn the_first_statement_that_differs_is_found() {
    let never = "no such text";
    let bits = |x: f32| format!("{} ({:#x})", x.to_bits(), x.to_bits());
    let (six, seven) = (bits(6.0), bits(7.0));
    assert_eq!(
        first("x * 2.0f", "x * 2.0f + (programIndex == 2 ? 1 : 0)", never),
        Ok(format!(
            "first behind line 2, `float y = x * 2.0f;`: the bits of `y` of lane 2: expected {six}, got {seven}"
        ))
    );
    let found = first("bits ^= i", "bits ^= i == 5 ? 4 : i", never).expect("a statement");
    assert!(
        found.starts_with("first behind line 13, `bits ^= i;`: the bits of `bits` of lane 1: expected 8 (0x8)"),
        "{found}"
    );
    let found = first("a[0] = last", "a[0] = last + 1", never).expect("a statement");
    assert!(found.starts_with("first behind line 17, `a[0] = last;`: the bits of `a[0]` of lane 0"), "{found}");
}

#[test]
fn a_statement_is_found_though_checkpoints_hide_it() {
    // The difference is gone when a checkpoint stands behind the first statement of the loop.
    let found = first("x + bits", "x + bits + 1", "float x = a[i];\n        print").expect("a statement");
    assert!(found.starts_with("first behind line 14, `a[i] = x + bits;`: the bits of `a[i]` of lane 0"), "{found}");
    let nothing = first("x + bits", "x + bits + 1", "f").expect_err("it never differs");
    assert!(nothing.starts_with("no value differs behind any of"), "{nothing}");
}
