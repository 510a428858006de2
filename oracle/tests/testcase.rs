//! Test cases: calls in comments are read, printed and run, and go through JSON unchanged.

use spmdvm::{Module, Options, TrapKind, Ty};
use spmdvm_oracle::words::{number, parse_number};
use spmdvm_oracle::{Argument, Call, End, Outcome, TestCase, run};

const PROGRAM: &str = "\
struct P { float x; float y; };
enum Colour { RED, GREEN };
export void f(uniform int a[], const uniform float x[], uniform int n, uniform int b[]) {
    foreach (i = 0 ... n) a[i] += b[i];
}
export uniform int g(uniform int64 big, uniform bool flag, uniform float16 h, uniform double d = 2.5d) {
    print(\"% %\\n\", big, flag);
    return flag ? 1 : -1;
}
export float lanes(float x) { return x * 2; }
export void points(uniform P p[], uniform Colour colours[], uniform int8 * uniform bytes) { p[0].x = 1; }
export void nothing() { }
export uniform int at(uniform int a[], uniform int i) { a[0] = 7; return a[i]; }
export uniform P pair(uniform float x) { uniform P p = { x, -x }; return p; }
";

fn module() -> Module {
    Module::compile("p.ispc", PROGRAM, &Options::default()).expect("it compiles")
}

#[track_caller]
fn call(text: &str) -> Call {
    Call::parse(text, &module()).expect("a call")
}

#[track_caller]
fn wrong(text: &str) -> String {
    Call::parse(text, &module()).expect_err("no call")
}

fn case(text: &str) -> TestCase {
    TestCase { name: "p.ispc".into(), text: PROGRAM.into(), call: call(text) }
}

#[test]
fn words_become_arguments() {
    let call = call("f(a=iota:i32:5, x=[1, -2.5], n=3, b=a+2) mask=0b1011");
    assert_eq!(call.entry, "f");
    assert_eq!(call.mask, 0b1011);
    assert_eq!(call.arguments[0], ("a".into(), Argument::Array(Ty::I32, vec![0, 1, 2, 3, 4])));
    let x = [1.0f32, -2.5].map(|x| x.to_bits() as u64).to_vec();
    assert_eq!(call.argument("x"), Some(&Argument::Array(Ty::F32, x)));
    assert_eq!(call.argument("n"), Some(&Argument::Scalar(Ty::I32, 3)));
    assert_eq!(call.argument("b"), Some(&Argument::Alias { of: "a".into(), from: 2 }));
}

#[test]
fn printed_calls_are_read_back() {
    for text in [
        "f(a=iota:i32:5, x=[1.0, -2.5], n=3, b=a+2) mask=0b1011",
        "f(a=[-1, 2147483647], x=ones:f32:3, n=-3, b=a)",
        "f(a=zeros:i32:0, x=[nan, inf, -inf, -0.0, 1e-45, 0x7fc00001], n=0, b=null)",
        "g(big=-9223372036854775808, flag=true, h=0.33325195, d=0.1)",
        "lanes(x=[1.0, 1.1, 1.2, 1.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 16777217e10])",
        "points(p=[0.5, 1.5, 2.5, 3.5], colours=[1, 0], bytes=[-128, 127])",
        "nothing()",
    ] {
        let call = call(text);
        let shown = call.to_string();
        assert_eq!(Call::parse(&shown, &module()), Ok(call.clone()), "{shown}");
        let json = serde_json::to_string(&call).expect("JSON");
        assert_eq!(serde_json::from_str::<Call>(&json).ok(), Some(call.clone()), "{json}");
        if !text.contains("lanes") {
            assert_eq!(shown, text);
        }
    }
}

#[test]
fn random_elements_depend_on_the_seed_alone() {
    let Some(Argument::Array(Ty::F32, x)) = call("f([], random:f32:1000:7, 0, [])").argument("x").cloned() else {
        panic!("an array")
    };
    let numbers: Vec<f32> = x.iter().map(|&bits| f32::from_bits(bits as u32)).collect();
    assert!(numbers.iter().all(|x| (-1.0..1.0).contains(x)));
    assert!(numbers.iter().any(|x| *x < -0.9) && numbers.iter().any(|x| *x > 0.9));
    assert_eq!(call("f([], random:f32:10:7, 0, [])").argument("x"), Some(&Argument::Array(Ty::F32, x[..10].to_vec())));
    assert_ne!(call("f([], random:f32:10:8, 0, [])").argument("x"), Some(&Argument::Array(Ty::F32, x[..10].to_vec())));
    let Some(Argument::Array(_, bytes)) = call("points([], [], random:i8:4000:1)").argument("bytes").cloned() else {
        panic!("an array")
    };
    assert!((0..=0xff).all(|byte| bytes.contains(&byte)), "every byte is drawn");
}

#[test]
fn defaults_and_overloads_are_found() {
    let call = call("g(3, false, 1)");
    assert_eq!(call.argument("d"), Some(&Argument::Scalar(Ty::F64, 2.5f64.to_bits())));
    let text =
        "export uniform int f(uniform int a) { return a; } export uniform int f(uniform float a[]) { return a[0]; }";
    let module = Module::compile("o.ispc", text, &Options::default()).expect("it compiles");
    let second = Call::parse("f([2.5])", &module).expect("the second takes it");
    let case = TestCase { name: String::new(), text: text.into(), call: second };
    assert_eq!(run(&case, &module).result, Some((Ty::I32, vec![2])));
}

#[test]
fn wrong_calls_say_what_was_expected() {
    let told = [
        ("f", "a call has the form `f(NAME=WORD, …)`"),
        ("f(1) x", "a call has the form"),
        ("F(1)", "exports no function `F`; it exports f, g"),
        ("f(a=iota:i32:4)", "f() needs a value for `x`, for instance x=zeros:f32:1024"),
        ("f(a=iota:f32:4, x=[], n=1, b=a)", "`a` is an array of i32, not of f32"),
        ("f(a=iota:i32:4, x=[], n=1, b=a+5)", "`a` has no element `5` (4 elements)"),
        ("f(a=iota:i32:4, x=[], n=1, b=c)", "`b` is an array: give zeros:TYPE:LENGTH"),
        ("f(a=@a.npy, x=[], n=1, b=[])", "`a`: a call holds its arrays itself, and reads no files"),
        ("f(a=[], x=[], n=2.5, b=[])", "`n` is of type i32, and `2.5` is no such value"),
        ("f(a=[], a=[], n=2, b=[])", "`a` is given twice"),
        ("f(a=[], q=[], n=2, b=[])", "f() has no parameter `q` (it has a, x, n, b)"),
        ("f(a=random:i32:4, x=[], n=2, b=[])", "random:TYPE:LENGTH:SEED"),
        ("f(a=zeros:i32:99999999, x=[], n=2, b=[])", "elements, not 99999999"),
        ("nothing() mask=0b12", "a mask is a number such as 0b1011"),
        (
            "lanes([1, 2])",
            "`x` is varying: give one number for all lanes, or one for each of the 16 lanes, not 2 values",
        ),
    ];
    for (text, expected) in told {
        let message = wrong(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn a_source_holds_its_cases() {
    let text = format!("{PROGRAM}// call: nothing()\nexport void late() {{}}\n  //  call: f([1, 2], [], 2, a)\n");
    let cases = TestCase::from_source("p.ispc", &text, &Options::default()).expect("two cases");
    assert_eq!(cases.iter().map(|case| case.call.entry.as_str()).collect::<Vec<_>>(), ["nothing", "f"]);
    let source = cases[1].to_source();
    assert!(source.contains("// call: f(a=[1, 2], x=zeros:f32:0, n=2, b=a)\nexport void late() {}\n"), "{source}");
    assert_eq!(source.matches("call:").count(), 1);
    let again = TestCase::from_source("p.ispc", &source, &Options::default()).expect("one case");
    assert_eq!((again.len(), &again[0].call), (1, &cases[1].call));
    // Without a line it goes to the end.
    assert_eq!(case("nothing()").to_source(), format!("{PROGRAM}// call: nothing()\n"));
}

#[test]
fn errors_of_a_source_have_its_line() {
    let line = PROGRAM.lines().count() + 1;
    let source = |last: &str| TestCase::from_source("p.ispc", &format!("{PROGRAM}{last}"), &Options::default());
    let error = source("// call: f(1)\n").expect_err("it is wrong").to_string();
    assert!(error.starts_with(&format!("p.ispc:{line}: `a` is an array")), "{error}");
    let error = source("").expect_err("there is none").to_string();
    assert!(error.starts_with("p.ispc: there is no line `// call: f(…)` with the arguments of an export"), "{error}");
    let error = source("export void broken(").expect_err("it does not compile").to_string();
    assert!(error.contains("E0"), "{error}");
}

#[test]
fn runs_leave_outcomes() {
    let module = module();
    let outcome = run(&case("f(iota:i32:6, [], 3, a+3)"), &module);
    assert_eq!(outcome.end, End::Returned);
    assert_eq!(outcome.arrays[0], ("a".into(), Ty::I32, vec![3, 5, 7, 3, 4, 5]));
    let outcome = run(&case("g(-5, false, 1)"), &module);
    assert_eq!((outcome.result, outcome.printed.as_str()), (Some((Ty::I32, vec![0xffff_ffff])), "-5 false\n"));
    let outcome = run(&case("lanes(iota)"), &module);
    let expected = (0..16).map(|i| (2.0 * i as f32).to_bits() as u64).collect();
    assert_eq!(outcome.result, Some((Ty::F32, expected)));
    let outcome = run(&case("pair(2)"), &module);
    assert_eq!(outcome.result, Some((Ty::F32, vec![2f32.to_bits() as u64, (-2f32).to_bits() as u64])));
}

#[test]
fn traps_are_outcomes_with_what_was_stored() {
    let outcome = run(&case("at([1, 2], 2)"), &module());
    assert_eq!(outcome.end, End::Trapped { kind: TrapKind::OutOfBounds, lane: None });
    assert_eq!(outcome.array("a"), Some((Ty::I32, [7, 2].as_slice())));
    assert_eq!(outcome.result, None);
}

#[test]
fn limits_stop_runs() {
    let text = "export void f() { for (uniform int i = 0; true; ) i++; }\n// call: f()\n";
    let options = Options { limits: spmdvm::Limits { fuel: Some(1000), ..Default::default() }, ..Options::default() };
    let case = TestCase::from_source("e.ispc", text, &options).expect("a case").remove(0);
    let module = Module::compile("e.ispc", text, &options).expect("it compiles");
    assert_eq!(run(&case, &module).end, End::Stopped("out of fuel".into()));
}

#[test]
fn outcomes_go_through_json() {
    let f64s = [f64::NAN, f64::INFINITY, -0.0, 5e-324, 0.1].map(f64::to_bits).to_vec();
    let outcome = Outcome {
        end: End::Trapped { kind: TrapKind::Assertion, lane: Some(3) },
        result: Some((Ty::I64, vec![i64::MIN as u64])),
        arrays: vec![
            ("z".into(), Ty::F64, f64s),
            ("a".into(), Ty::U64, vec![u64::MAX]),
            ("h".into(), Ty::F16, vec![0x3555, 0x7e01, 0xfc00]),
            ("x".into(), Ty::F32, vec![0x3dcc_cccd, 0xffc0_0000]),
            ("b".into(), Ty::Bool, vec![0, 1]),
        ],
        printed: "a \"line\"\n".into(),
    };
    let json = serde_json::to_string(&outcome).expect("JSON");
    assert_eq!(serde_json::from_str::<Outcome>(&json).ok(), Some(outcome), "{json}");
    let stopped = Outcome::stopped("gone");
    assert_eq!(serde_json::from_str::<Outcome>(&serde_json::to_string(&stopped).expect("JSON")).ok(), Some(stopped));
}

#[test]
fn outcomes_of_others_may_leave_out_types() {
    let json =
        serde_json::json!({ "result": 3, "arrays": { "a": [1.0, 2], "b": { "type": "f32", "data": ["0x7fc00000"] } } });
    let known = |name: &str| matches!(name, "a" | "result").then_some(Ty::I32);
    let outcome = Outcome::read(&json, known).expect("an outcome");
    assert_eq!(outcome.result, Some((Ty::I32, vec![3])));
    assert_eq!(outcome.arrays, [("a".into(), Ty::I32, vec![1, 2]), ("b".into(), Ty::F32, vec![0x7fc0_0000])]);
    assert_eq!(Outcome::from_json(&json), Err("`a` has no \"type\"".into()));
    let bad = serde_json::json!({ "arrays": { "a": [300] } });
    assert_eq!(Outcome::read(&bad, |_| Some(Ty::U8)), Err("`a` is of type u8, which cannot hold 300".into()));
}

#[test]
fn every_half_and_many_floats_print_exactly() {
    for bits in 0..=0xffff {
        assert_eq!(parse_number("h", Ty::F16, &number(Ty::F16, bits)), Ok(bits));
    }
    for i in 0..20_000u64 {
        let bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert_eq!(parse_number("x", Ty::F32, &number(Ty::F32, bits >> 32)), Ok(bits >> 32));
        assert_eq!(parse_number("d", Ty::F64, &number(Ty::F64, bits)), Ok(bits));
    }
}
