//! The programs in `docs/findings.md` do what the page expects of them, on every engine that runs here.

use spmdvm::{Engine, Fp, Options, Width};
use spmdvm_oracle::TestCase;
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::{Backend, Job, Rules, difference, form};

/// The longest program on the page, in lines.
const MOST_LINES: usize = 25;

/// The programs, each with the outcome that the page expects.
fn findings(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```ispc\n").skip(1).map(|rest| rest.split_once("```").expect("the block ends"));
    blocks
        .map(|(program, rest)| {
            let expected = rest.split_once("Expected at width 8: `").expect("an outcome").1;
            (program, expected.split_once('`').expect("it ends").0)
        })
        .collect()
}

#[test]
fn programs_do_what_is_expected() {
    let findings = findings(include_str!("../../docs/findings.md"));
    assert!(findings.len() >= 5, "{}", findings.len());
    let options = Options { width: Width::new(8).expect("a width"), fp: Fp::Strict, ..Options::default() };
    for (program, expected) in findings {
        assert!(program.lines().count() < MOST_LINES, "{program}");
        let module = spmdvm::Module::compile("finding.ispc", program, &options).expect("it compiles");
        for case in TestCase::of_module("finding.ispc", program, &module).expect("a call") {
            let export = case.call.export(&module).expect("an export");
            let job = Job { case: &case, path: None, options: &options, export };
            let expected = form::read(expected, &job).expect("an outcome");
            for engine in OwnEngine::compiling().into_iter().chain([OwnEngine { engine: Engine::Interp }]) {
                let got = engine.run(&job).expect("it runs");
                let found = difference(&case.call, 8, &expected, &got, &Rules::default());
                assert!(found.is_none(), "{}: {}\n{program}", engine.name(), found.expect("a difference"));
            }
        }
    }
}
