//! Hints about performance: what they say of a program is kept as a snapshot, and when they say nothing.

use spmdvm_frontend::diag::{Diagnostics, render_all};
use spmdvm_frontend::{CompileOptions, Input, compile};
use spmdvm_vm::Width;

/// What is said about a program of `hints/`.
fn hints(name: &str, options: &CompileOptions) -> String {
    let path = format!("{}/tests/hints/{name}.ispc", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let compilation = compile(Input::Text { name, text: &text }, options);
    assert!(compilation.program.is_some(), "{:?}", compilation.diagnostics);
    let mut diagnostics = Diagnostics::new();
    compilation.diagnostics.into_iter().for_each(|d| diagnostics.emit(d));
    render_all(&diagnostics, &compilation.sources, false)
}

fn wanted() -> CompileOptions {
    CompileOptions { hints: true, ..CompileOptions::default() }
}

#[test]
fn what_goes_lane_by_lane_in_loops_is_told() {
    insta::assert_snapshot!("hints_slow", hints("slow", &wanted()));
}

#[test]
fn they_come_only_when_asked_for_and_not_for_one_lane() {
    assert_eq!(hints("slow", &CompileOptions::default()), "");
    assert_eq!(hints("slow", &CompileOptions { width: Width::new(1).unwrap(), ..wanted() }), "");
}

#[test]
fn nothing_is_said_without_need() {
    for width in Width::ALL {
        assert_eq!(hints("quiet", &CompileOptions { width, ..wanted() }), "", "width {width:?}");
    }
}
