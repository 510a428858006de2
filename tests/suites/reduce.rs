//! Ten long programs that show a planted fault become small ones that show it.
//!
//! The figures that are asserted are counts, which are the same on every machine; `cargo run --release -p spmdvm-tests --example reduction`
//! tells times too.

use spmdvm::{Checks, FindingKind, Module, Options};
use spmdvm_oracle::TestCase;
use spmdvm_oracle::reduce::{Ended, Settings, lines, reduce};
use spmdvm_tests::planted::{FAULTS, Fault, options};

/// Lines that the small programs have at most.
const LINES: usize = 19;
/// How often it may be asked whether a candidate is interesting.
const TRIALS: usize = 600;

/// What check mode finds in the calls of a program.
fn findings(text: &str) -> Vec<FindingKind> {
    let options = Options { check: Checks::by_default(), ..options() };
    let module = Module::compile("t.ispc", text, &options).unwrap();
    TestCase::of_module("t.ispc", text, &module)
        .unwrap()
        .iter()
        .for_each(|case| drop(spmdvm_oracle::run(case, &module)));
    module.report().findings().iter().map(|finding| finding.kind()).collect()
}

#[test]
fn ten_planted_faults_are_reduced() {
    std::thread::scope(|scope| {
        for (number, fault) in FAULTS.iter().enumerate() {
            scope.spawn(move || is_reduced(fault, 1 + 1000 * number as u64));
        }
    });
}

/// Reduces the first program from a seed on that shows a fault.
fn is_reduced(fault: &Fault, seed: u64) {
    let settings = Settings { options: options(), ..Settings::default() };
    let text = fault.example(seed);
    assert!(lines(&text) >= 250, "{}", fault.name);
    let reduced = reduce(&text, &|text| fault.shows(text), &settings, &mut |_| {}).unwrap();
    let small = &reduced.text;
    assert_eq!(reduced.end, Ended::Smallest);
    assert!(fault.shows(small), "{}:\n{small}", fault.name);
    assert!(lines(small) <= LINES, "{}: {} lines\n{small}", fault.name, lines(small));
    assert!(reduced.trials <= TRIALS, "{}: {} trials", fault.name, reduced.trials);
    let before = findings(&text);
    assert!(findings(small).iter().all(|kind| before.contains(kind)), "{}:\n{small}", fault.name);
}
