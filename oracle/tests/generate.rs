//! Random programs: they compile, end, do nothing that their dialect leaves open, and mean the same on every engine.

use spmdvm::vm::check::FindingKind;
use spmdvm::{Checks, Engine, Fp, JitSettings, Limits, Module, Options, Severity, Width};
use spmdvm_oracle::generate::{Config, Dialect, FEATURES, Feature, Features, generate};
use spmdvm_oracle::run::run;
use spmdvm_oracle::{End, TestCase};

/// Far more than any program needs.
const FUEL: u64 = 3_000_000;

/// A number that an environment variable may give, for long runs.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = number("SPMDVM_SEED", 1);
    first..first + number("SPMDVM_PROGRAMS", usual)
}

fn options(width: u32, engine: Engine) -> Options {
    let limits = Limits { fuel: Some(FUEL), ..Limits::default() };
    let width = Width::new(width).expect("a width");
    Options { width, engine, limits, fp: Fp::Strict, threads: Some(1), ..Options::default() }
}

fn compile(case: &TestCase, options: &Options) -> Module {
    let compiled = Module::compile(&case.name, &case.text, options);
    compiled.unwrap_or_else(|e| panic!("{} does not compile: {e}\n{}", case.name, case.text))
}

/// The configurations that tests go through: both dialects, large and small, everything and single features.
fn configs() -> Vec<Config> {
    let mut configs = Vec::new();
    for dialect in [Dialect::Ispc, Dialect::Spmdvm] {
        let all = Config::of(dialect).with(Feature::Halves).with(Feature::Aliases).with(Feature::Math);
        configs.extend([all, Config::of(dialect), Config::of(dialect).sized(Config::SMALL)]);
        configs.push(Config { features: Features::NONE, ..all });
        configs.push(all.sized(25).with(Feature::WidthIndependent));
    }
    configs
}

#[test]
fn programs_are_well_defined_in_ispc() {
    let mut lines = 0;
    let count = seeds(150).count();
    for seed in seeds(150) {
        let configs: Vec<Config> = configs().into_iter().filter(|c| c.dialect == Dialect::Ispc).collect();
        let case = generate(seed, &configs[seed as usize % configs.len()]);
        let width = 1 << (seed % 7);
        let checks = [FindingKind::Overflow, FindingKind::Shift, FindingKind::Nan];
        let checks = checks.iter().fold(Checks::by_default(), |set, kind| set.with(*kind));
        let module = compile(&case, &Options { check: checks, ..options(width, Engine::Interp) });
        let outcome = run(&case, &module);
        assert_eq!(outcome.end, End::Returned, "seed {seed}, width {width}\n{}", case.text);
        let report = module.report();
        let found: Vec<String> = report.findings().iter().map(|finding| finding.render(false)).collect();
        assert!(found.is_empty(), "seed {seed}, width {width}:\n{}\n{}", found.join("\n"), case.text);
        lines += case.text.lines().count();
    }
    assert!(lines / count > 40, "{} lines per program", lines / count);
}
