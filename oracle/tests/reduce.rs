//! What reduction keeps, what it takes away, and when it ends.

use spmdvm::{Options, Width};
use spmdvm_oracle::reduce::{Defined, Ended, NotReducible, Reduced, Settings, lines, reduce};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn reduced(text: &str, interesting: &(dyn Fn(&str) -> bool + Sync)) -> Reduced {
    reduce(text, interesting, &Settings::default(), &mut |_| {}).unwrap()
}

/// A program with something of everything around one shift.
const LONG: &str = "// What is sought is the shift.
struct P { int a; float b; };
static int unused(int x) { return x * 2; }
static inline int helper(int x, int y, float z) {
    // Comments go.
    int twice = x * 2;
    if (y > 3) { twice += 1; } else { twice -= (int)z; }
    return twice >> 3;
}
uniform int table[4] = { 1, 2, 3, 4 };
export void f(uniform int a[], uniform float b[], uniform int n, uniform int k) {
    P p;
    p.a = 3;
    p.b = k;
    foreach (i = 0 ... n) {
        int v = a[i] + table[i & 3];
        for (uniform int j = 0; j < 4; ++j) {
            switch (v % 3) {
            case 0: v += j; break;
            case 1: v -= p.a;
            default: v ^= 5;
            }
        }
        while (v > 100) v /= 2;
        a[i] = helper(v, k, p.b);
        b[i] += v;
    }
}
// call: f(a=iota:i32:20, b=iota:f32:20, n=20, k=3)
";

#[test]
fn a_text_is_kept_and_all_else_goes() {
    let result = reduced(LONG, &|text| text.contains(">>") && text.contains("a["));
    assert_eq!(result.end, Ended::Smallest);
    assert!(lines(&result.text) <= 8, "{}", result.text);
    assert!(result.text.contains(">>") && result.trials <= result.candidates);
    assert!(result.passes.iter().any(|pass| pass.successes > 0 && pass.bytes > 0));
}

#[test]
fn jobs_and_repetition_change_nothing() {
    let interesting = |text: &str| text.contains("while") && text.contains("helper(");
    let one = reduced(LONG, &interesting);
    for jobs in [1, 3] {
        let settings = Settings { jobs, ..Settings::default() };
        let again = reduce(LONG, &interesting, &settings, &mut |_| {}).unwrap();
        assert_eq!(again.text, one.text);
    }
}

#[test]
fn the_call_is_reduced_to_one_lane_and_few_elements() {
    let text = "export void f(uniform int a[], uniform int n, varying int v) {\n    foreach (i = 0 ... n) a[i] += 7;\n    a[5] = n;\n    print(\"%\\n\", v);\n}\n// call: f(a=iota:i32:40, n=33, v=iota)\n";
    let text = &text.replace("v=iota", "v=[0, 1, 2, 3, 4, 5, 6, 7]");
    let options = Options { width: Width::new(8).unwrap(), ..Options::default() };
    let settings = Settings { options, ..Settings::default() };
    let result = reduce(text, &|text| text.contains("print("), &settings, &mut |_| {}).unwrap();
    let call = result.text.lines().last().unwrap();
    assert!(call.starts_with("// call: f(") && call.ends_with("mask=0b1"), "{call}");
    assert!(!call.contains("a=") && !call.contains("n="), "{call}");
}

#[test]
fn candidates_are_no_worse_than_the_original() {
    let clean = "export void f(uniform int a[], uniform int n) {\n    int x = 1;\n    x += n;\n    foreach (i = 0 ... n) a[i] = x >> 1;\n}\n// call: f(a=iota:i32:8, n=8)\n";
    let defined = Defined::like(clean, &Options::default()).unwrap();
    assert!(defined.allows(clean));
    let changed = |from: &str, to: &str| {
        let text = clean.replace(from, to);
        assert_ne!(text, clean);
        defined.allows(&text)
    };
    assert!(changed("x += n;", ""));
    assert!(!changed("int x = 1;", "int x;"), "reads what was never stored");
    assert!(!changed("0 ... n", "0 ... n + 1"), "traps");
    assert!(!changed("x += n;", "while (true) x++;"), "does not end");
    assert!(!changed("x += n;", "x += m;"), "does not compile");
    assert!(!changed("n=8)", "n=8, k=3)"), "has a wrong call");
    assert!(!changed("x += n;", "x += 1.5f;"), "has a new warning");
    // An original that does these things allows them.
    let unset = clean.replace("int x = 1;", "int x;");
    assert!(Defined::like(&unset, &Options::default()).unwrap().allows(&unset));
}

#[test]
fn what_a_macro_makes_stays_whole() {
    let text = "#define TWICE(x) ((x) + (x))\nexport void f(uniform int a[]) {\n    a[0] = TWICE(a[0] * 3) + 5;\n    a[1] = 2;\n}\n// call: f(a=iota:i32:4)\n";
    let result = reduced(text, &|text| text.contains("TWICE(a[0] * 3)"));
    assert!(result.text.contains("TWICE(a[0] * 3)") && !result.text.contains("a[1]"), "{}", result.text);
}

#[test]
fn programs_without_calls_are_reduced_too() {
    let result =
        reduced("int g(int x) { return x + 1; }\nint f(int x) { return g(x) * 7; }\n", &|text| text.contains('7'));
    assert!(!result.text.contains("g("), "{}", result.text);
}

#[test]
fn it_ends_when_told() {
    let settings = Settings { trials: Some(5), ..Settings::default() };
    let result = reduce(LONG, &|text| text.contains(">>"), &settings, &mut |_| {}).unwrap();
    assert!(result.end == Ended::Trials && result.trials == 5);
    assert!(result.text.contains(">>"));

    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings { interrupt: Some(Arc::clone(&flag)), ..Settings::default() };
    let mut told = 0;
    let mut progress = |progress: &spmdvm_oracle::reduce::Progress| {
        told += 1;
        flag.store(progress.trials >= 3, Ordering::Relaxed);
    };
    let result = reduce(LONG, &|text| text.contains(">>"), &settings, &mut progress).unwrap();
    assert_eq!(result.end, Ended::Interrupted);
    assert!(told >= 3);
}

#[test]
fn what_cannot_be_reduced_is_told() {
    let error = |text: &str| reduce(text, &|_| false, &Settings::default(), &mut |_| {}).unwrap_err();
    assert!(matches!(error(LONG), NotReducible::NotInteresting));
    assert!(error("int f( {").to_string().contains("Error"));
    assert!(error("export void f(uniform int n) {}\n// call: g(n=3)\n").to_string().contains('g'));
}
