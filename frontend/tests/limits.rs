//! Compilations end when they are called off, and programs beyond the limits are refused with an error that says so.

use spmdvm_frontend::diag::render_list;
use spmdvm_frontend::limits::Limits;
use spmdvm_frontend::{Compilation, CompileOptions, Input, compile};
use spmdvm_vm::stop::Stopped;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// In what time a compilation must have ended that was called off. (It does in a hundredth of that where the machine has
/// nothing else to do.)
const PROMPT: Duration = Duration::from_secs(3);

fn compiled(text: &str, options: &CompileOptions) -> Compilation {
    compile(Input::Text { name: "t.ispc", text }, options)
}

/// Programs that keep each of the stages busy.
fn busy() -> Vec<(&'static str, String)> {
    let statements: String = (0..60_000).map(|i| format!("x = x * 3 + {i}; if (x > {i}) ++x;\n")).collect();
    let doubles: String = (0..40).map(|i| format!("#define M{i} M{0} M{0}\n", i + 1)).collect();
    vec![
        ("preprocessor", format!("{doubles}M0\n")),
        ("parser", "int f(int x) { return x + 1; }\n".repeat(60_000)),
        ("analysis", (0..30_000).map(|i| format!("int f{i}(int x) {{ return x + sin(x) + {i}; }}\n")).collect()),
        ("lowering", format!("export int f(int x) {{ {statements} return x; }}\n")),
        ("literals", format!("uniform int g[] = {{ {} }};\n", "1, ".repeat(500_000))),
    ]
}

#[test]
fn deadlines_hold_in_every_stage() {
    compiled("", &CompileOptions::default());
    for (what, text) in busy() {
        for wait in [0, 30, 200, 1000] {
            let wait = Duration::from_millis(wait);
            let start = Instant::now();
            let options = CompileOptions { deadline: Some(start + wait), ..CompileOptions::default() };
            let done = compiled(&text, &options);
            let took = start.elapsed();
            assert!(took < wait + PROMPT, "{what}: {took:?} with a deadline after {wait:?}");
            if done.stopped.is_none() {
                assert!(took <= wait, "{what}: not stopped after {took:?} with a deadline after {wait:?}");
                break;
            }
            assert_eq!(done.stopped, Some(Stopped::TimedOut), "{what}");
            assert!(done.program.is_none());
        }
    }
}

#[test]
fn flags_interrupt() {
    let (_, text) = busy().swap_remove(3);
    let flag = Arc::new(AtomicBool::new(false));
    let options = CompileOptions { interrupt: Some(flag.clone()), ..CompileOptions::default() };
    let raised = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        flag.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let done = compiled(&text, &options);
    let late = raised.join().unwrap().elapsed();
    assert_eq!(done.stopped, Some(Stopped::Interrupted));
    assert!(late < PROMPT, "{late:?}");
}

fn codes(done: &Compilation) -> Vec<&'static str> {
    done.diagnostics.iter().map(|d| d.code.id()).collect()
}

#[test]
fn limits_are_errors_of_their_own() {
    let limits = Limits {
        bytes: 20_000,
        tokens: 60,
        macro_tokens: 30,
        includes: 3,
        include_depth: 2,
        instances: 3,
        ..Limits::default()
    };
    let headers = vec![
        ("a.isph".to_owned(), "int a;\n".to_owned()),
        ("self.isph".to_owned(), "#include \"self.isph\"\n".to_owned()),
    ];
    let options = CompileOptions { limits, headers, ..CompileOptions::default() };
    let template = "template <int N> int g(int x) { return x + N; }\n";
    for (text, expected) in [
        ("// A long comment.\n".repeat(2000), "E0018"),
        ("a; ".repeat(50), "E0018"),
        ("#define M a a a a a a a a a a a a a a a a\nM M\n".into(), "E0011"),
        ("#include \"a.isph\"\n".repeat(4), "E0014"),
        ("#include \"self.isph\"\n".into(), "E0014"),
        (format!("{template}int f(int x) {{ return g<1>(x) + g<2>(x) + g<3>(x) + g<4>(x); }}\n"), "E0240"),
    ] {
        let done = compiled(&text, &options);
        assert_eq!(codes(&done), [expected], "{text}");
        assert!(compiled(&text, &CompileOptions { limits: Limits::default(), ..options.clone() }).stopped.is_none());
    }
}

#[test]
fn twenty_errors_are_told_and_the_others_counted() {
    let text: String = (0..100).map(|i| format!("int f{i}() {{ return goof{i}; }}\n")).collect();
    let done = compiled(&text, &CompileOptions::default());
    assert_eq!((done.diagnostics.len(), done.left_out.errors), (20, 80));
    let shown = render_list(&done.diagnostics, done.left_out, &done.sources, false);
    assert!(shown.ends_with("… and 80 more errors\n"), "{shown}");
}

#[test]
fn a_missing_file_is_one_error() {
    let text = "#include \"types.isph\"\nVector f(Vector a) { return a + b; }\n#include \"more.isph\"\n#if 1\n";
    let done = compiled(text, &CompileOptions::default());
    assert_eq!(codes(&done), ["E0013"]);
}
