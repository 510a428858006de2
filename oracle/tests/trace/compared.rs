//! Where two traces first differ.

use super::{lines, module, reader};
use spmdvm::Value;
use spmdvm_oracle::trace::diff::{Compared, DiffError, What};
use spmdvm_oracle::trace::event::Event;
use spmdvm_oracle::trace::{Reader, diff};

const PROGRAM: &str = "noinline int scaled(int x, uniform int by) {
    return x * by;
}
export void f(uniform int a[], uniform int n) {
    for (uniform int round = 0; round < n; ++round) {
        int x = a[programIndex];
        if (x % 2 == 0)
            x = x + round;
        else
            x = scaled(x, 3);
        a[programIndex] = x;
    }
}
";

fn trace(text: &str, width: u32) -> Vec<u8> {
    let mut a: Vec<i32> = (0..width as i32).collect();
    lines(&module(text, width), &[Value::slice_mut(&mut a), 5.into()])
}

fn compared(a: &[u8], b: &[u8]) -> Compared {
    diff(reader(a), reader(b), 3).expect("they can be compared")
}

fn changed(from: &str, to: &str) -> (Compared, u32) {
    assert!(PROGRAM.contains(from));
    let compared = compared(&trace(PROGRAM, 4), &trace(&PROGRAM.replace(from, to), 4));
    let line = compared.difference.as_ref().and_then(|difference| match &difference.events[0] {
        Some(Event::Step(step)) => step.site.span.as_ref().map(|span| span.line),
        _ => None,
    });
    (compared, line.unwrap_or(0))
}

#[test]
fn a_trace_is_like_itself() {
    let compared = compared(&trace(PROGRAM, 4), &trace(PROGRAM, 4));
    assert!(compared.difference.is_none());
    assert!(compared.aligned > 50 && compared.extra == [0, 0]);
    assert_eq!(compared.to_string(), format!("no difference in {} aligned events\n", compared.aligned));
}

#[test]
fn a_changed_operator_is_found_with_lanes_and_values() {
    let (compared, line) = changed("x + round", "x - round");
    assert_eq!(line, 8);
    let difference = compared.difference.as_ref().expect("they differ");
    // In the first round nothing is added; then lanes 0 and 2 are even.
    let What::Values(_, lanes) = &difference.what else { panic!("{difference:?}") };
    let number = |n: i32| n.to_string();
    assert_eq!(lanes, &[(Some(0), number(1), number(-1)), (Some(2), number(3), number(1))]);
    assert_eq!(difference.before.len(), 3);
    let text = compared.to_string();
    assert!(text.contains("x = x + round;") && text.contains("x = x - round;"), "{text}");
}

#[test]
fn a_changed_constant_is_found_inside_the_function_it_is_given_to() {
    let (compared, _) = changed("scaled(x, 3)", "scaled(x, 4)");
    let difference = compared.difference.expect("they differ");
    assert!(matches!(&difference.events[0], Some(Event::Enter(enter)) if enter.function.starts_with("scaled")));
}

#[test]
fn a_changed_condition_shows_in_the_comparison() {
    let (compared, line) = changed("x % 2 == 0", "x % 2 != 0");
    assert_eq!(line, 7);
    assert!(matches!(compared.difference.map(|d| d.what), Some(What::Values(..))));
}

#[test]
fn a_loop_that_ends_earlier_is_found() {
    let (compared, line) = changed("round < n", "round < n - 1");
    assert_eq!(line, 5);
    assert!(compared.difference.is_some());
}

#[test]
fn instructions_that_make_no_difference_are_passed_over() {
    let (compared, _) = changed(
        "        int x = a[programIndex];\n",
        "        int y = 7;\n        y += n;\n        int x = a[programIndex];\n",
    );
    assert!(compared.difference.is_none(), "{compared}");
    assert!(compared.extra[1] > 0 && compared.extra[0] == 0, "{:?}", compared.extra);
}

#[test]
fn a_store_that_the_other_does_not_make_is_a_difference() {
    let (compared, _) = changed("        a[programIndex] = x;\n", "        a[programIndex] = x;\n        a[0] = 9;\n");
    let difference = compared.difference.expect("they differ");
    assert_eq!(difference.what, What::Alone);
    assert!(difference.events[0].is_none() && difference.events[1].is_some());
}

#[test]
fn programs_that_have_nothing_in_common_part() {
    let other = "export void f(uniform int a[], uniform int n) {\n\n\n\n\n\n\n\n\n\n\n\n\n\n    while (n > 0) { n = n - 1; a[n & 3] += programCount; a[1] -= 2; }\n}\n";
    let compared = compared(&trace(PROGRAM, 4), &trace(other, 4));
    assert!(compared.difference.is_some());
}

#[test]
fn other_widths_and_functions_are_refused() {
    let refused = |a: &[u8], b: &[u8]| match diff(reader(a), reader(b), 3) {
        Err(DiffError::Unlike(why)) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(&trace(PROGRAM, 4), &trace(PROGRAM, 8)),
        "the traces cannot be compared: the gang has 4 lanes in the first and 8 lanes in the second"
    );
    let other = PROGRAM.replace("void f(", "void g(");
    assert_eq!(
        refused(&trace(PROGRAM, 4), &trace(&other, 4)),
        "the traces cannot be compared: the function called is `f` in the first and `g` in the second"
    );
}

#[test]
fn a_trace_that_is_cut_off_is_named() {
    let whole = trace(PROGRAM, 4);
    let cut = &whole[..whole.len() - 10];
    let error = diff(reader(&whole), Reader::new(cut).expect("a header"), 3).expect_err("it is cut off");
    assert!(error.to_string().starts_with("second trace: line "), "{error}");
}
