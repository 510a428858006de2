//! Random programs: they compile, end, do nothing that their dialect leaves open, and mean the same on every engine.

use spmdvm::vm::check::FindingKind;
use spmdvm::{Checks, Engine, Fp, JitSettings, Limits, Module, Options, Width};
use spmdvm_oracle::generate::{Config, Dialect, FEATURES, Feature, Features, equivalent, generate};
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

#[test]
fn every_engine_agrees() {
    let engines = [Engine::Ir, Engine::Clif, Engine::X86];
    let (mut compared, mut checksums) = (0, std::collections::HashSet::new());
    for seed in seeds(60) {
        let configs = configs();
        let case = generate(seed, &configs[seed as usize % configs.len()]);
        let width = 1 << (seed / 3 % 7);
        let options = options(width, Engine::Interp);
        let expected = run(&case, &compile(&case, &options));
        assert_eq!(expected.end, End::Returned, "seed {seed}, width {width}\n{}", case.text);
        checksums.insert(expected.array("sum").expect("it has one").1[0]);
        let engine = engines[seed as usize % 3];
        let jit = JitSettings::eager();
        let module = Module::compile(&case.name, &case.text, &Options { engine, jit, ..options }).expect("it compiles");
        if module.check_engine().is_ok() {
            compared += 1;
            assert_eq!(run(&case, &module), expected, "seed {seed}, width {width}, {engine}\n{}", case.text);
        }
    }
    assert!(compared * 2 > seeds(60).count(), "{compared} compared");
    assert!(checksums.len() * 10 > seeds(60).count() * 9, "programs compute different things");
}

#[test]
fn programs_that_do_not_ask_are_the_same_at_every_width() {
    for seed in seeds(40) {
        let dialect = if seed % 2 == 0 { Dialect::Ispc } else { Dialect::Spmdvm };
        let case = generate(seed, &Config::of(dialect).sized(25).with(Feature::WidthIndependent));
        let at = |width| run(&case, &compile(&case, &options(width, Engine::Interp)));
        let expected = at(1);
        assert_eq!(expected.end, End::Returned, "seed {seed}\n{}", case.text);
        for width in [2, 4, 8, 16, 32, 64] {
            assert_eq!(at(width), expected, "seed {seed}, width {width}\n{}", case.text);
        }
    }
}

#[test]
fn some_programs_trap_if_they_may() {
    let config = Config::of(Dialect::Spmdvm).with(Feature::Traps).with(Feature::Mask);
    let ends = seeds(100).map(|seed| {
        let case = generate(seed, &config);
        run(&case, &compile(&case, &options(8, Engine::Interp))).end
    });
    let trapped = ends.filter(|end| matches!(end, End::Trapped { .. })).count();
    let all = seeds(100).count();
    assert!(trapped * 10 > all && trapped * 10 < all * 9, "{trapped} of {all}");
}

/// What shows that a program makes use of a feature.
fn marks(feature: Feature) -> &'static [&'static str] {
    match feature {
        Feature::Loops => &["while (", "do {", "for (int", "for (uniform int k", "cfor", "cwhile", "cdo"],
        Feature::Leaving => &[") break;", ") continue;", ") return;", ") return ("],
        Feature::Switch => &["switch (", "default: {", "case 3: {"],
        Feature::Goto => &["goto L", ": ;", ": {\n"],
        Feature::Structs => &["struct S", ".list[", " &r", "->", "typedef S"],
        Feature::Pointers => &[" * uniform p", " * p", "= &", "for (; p"],
        Feature::Tables => &[" * uniform rows", "rows", " = keep", " = after", "[1] = p"],
        Feature::Vectors => &["<2> ", "<3> ", "<4> "],
        Feature::Enums => &["enum "],
        Feature::LocalArrays => &["    int t", "uniform unsigned int t"],
        Feature::Globals => &["static uniform ", "static varying ", "static const "],
        Feature::Calls => &["(f", "void p"],
        Feature::Overloads => &["(o"],
        Feature::Templates => &["template <typename T>", "template <typename T, int N>"],
        Feature::Polymorphism => &["static integer n", "static floating n", "static number n"],
        Feature::Operators => &[" operator+(", " operator==(", " operator-=("],
        Feature::Recursion => &["int n) { return r", "n & 15);", " <= 0) return "],
        Feature::FunctionPointers => &["typedef ", "    varying Pointer", "    uniform Pointer"],
        Feature::Lanes => &["rotate(", "shuffle(", "shift(", "broadcast(", "extract(", "insert("],
        Feature::Reductions => &["reduce_add(", "reduce_max(", "any(", "exclusive_scan_add(", "popcnt(("],
        Feature::Packed => &["packed_store_active(", "packed_load_active("],
        Feature::Gathers => &["[(v", "[((v"],
        Feature::Atomics => &["atomic_add_global(", "atomic_swap_local(", "atomic_compare_exchange_global("],
        Feature::Tasks => &["task void", "launch[4]", "launch[2, 2]", "sync;"],
        Feature::Tiles => &["foreach_tiled (", "foreach (i", ", i"],
        Feature::ForeachActive => &["foreach_active ("],
        Feature::ForeachUnique => &["foreach_unique ("],
        Feature::Unmasked => &["unmasked {"],
        Feature::Small => &["int8 v", "unsigned int16 v"],
        Feature::Wide => &["int64 v", "unsigned int64 v"],
        Feature::Floats => &["float v"],
        Feature::Doubles => &["double v"],
        Feature::Halves => &["float16 v"],
        Feature::Heap => &["= uniform new ", "delete[] ", "delete p", "= new uniform "],
        Feature::Prints => &["print(\"% %"],
        Feature::Aliases => &["=a"],
        Feature::WidthIndependent => &["foreach ("],
        Feature::Math => &["sin(", "exp("],
        Feature::Crev => &["(crev c"],
        Feature::Nested => &["foreach (i"],
        Feature::Open => &["sqrt(v"],
        Feature::Mask => &["mask=0"],
        Feature::Traps => &["!= 77);"],
    }
}

#[test]
fn every_feature_occurs_and_only_if_it_may() {
    let all = FEATURES.iter().fold(Features::NONE, |set, row| set.with(row.feature)).without(Feature::WidthIndependent);
    let text = |features: Features, size: u32| {
        let config = Config { features, size, dialect: Dialect::Spmdvm };
        (1..=200).map(|seed| generate(seed, &config).text).collect::<String>()
    };
    let with_all = text(all, 40);
    for row in FEATURES {
        for mark in marks(row.feature) {
            assert!(with_all.contains(mark), "{}: no program contains `{mark}`", row.name);
        }
    }
    let bare = text(Features::NONE, 40);
    for row in FEATURES
        .iter()
        .filter(|row| !matches!(row.feature, Feature::Tiles | Feature::Nested | Feature::WidthIndependent))
    {
        let mark = marks(row.feature)[0];
        assert!(!bare.contains(mark) || mark == "popcnt((", "{}: `{mark}` without the feature", row.name);
    }
}

#[test]
fn a_seed_has_one_program() {
    let config = Config::of(Dialect::Ispc);
    assert_eq!(generate(7, &config), generate(7, &config));
    assert_ne!(generate(7, &config).text, generate(8, &config).text);
    // FNV-1a of some programs: they stay the same on every machine, and a change of the generator is seen here.
    let hash = |text: &str| {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
    };
    let all: String = (1..20).map(|seed| generate(seed, &config).text).collect();
    assert_eq!(format!("{:016x}", hash(&all)), "4415fc6ecf364dc9");
}

#[test]
fn the_call_in_the_text_is_the_call() {
    for seed in 1..40 {
        let config = Config::of(Dialect::Spmdvm).with(Feature::Mask).with(Feature::Aliases).with(Feature::Halves);
        let case = generate(seed, &config);
        let read = TestCase::from_source(&case.name, &case.text, &options(8, Engine::Interp)).expect("it has a call");
        assert_eq!(read, [case]);
    }
}

#[test]
fn lists_of_features_are_read() {
    let parse = |list| Features::parse(list, Dialect::Ispc);
    assert_eq!(parse("loops,switch"), Ok(Features::NONE.with(Feature::Loops).with(Feature::Switch)));
    let changed = Features::by_default(Dialect::Ispc).without(Feature::Tasks).with(Feature::Halves);
    assert_eq!(parse("default,-tasks,+halves"), Ok(changed));
    assert_eq!(parse("-tasks,+halves"), Ok(changed));
    assert!(parse("lops").unwrap_err().contains("no feature `lops`"));
    assert!(parse("crev").unwrap_err().contains("--dialect spmdvm"));
    for (at, row) in FEATURES.iter().enumerate() {
        assert_eq!(row.feature as usize, at, "{}", row.name);
    }
}

#[test]
fn mutants_do_the_same() {
    let (mut mutants, mut kinds) = (0, [0; 5]);
    for seed in seeds(60) {
        let case = generate(seed, &Config::of(Dialect::Ispc).sized(20));
        let interp = options(8, Engine::Interp);
        let Ok(text) = equivalent(&case.name, &case.text, seed, &interp) else { continue };
        assert_ne!(text, case.text);
        assert_eq!(equivalent(&case.name, &case.text, seed, &interp).as_ref(), Ok(&text), "seed {seed}");
        mutants += 1;
        let added = |mark: &str| text.matches(mark).count() > case.text.matches(mark).count();
        let marks = ["programIndex < 0", "== 1000)", "} else {", "unmasked {", "if (!("];
        kinds.iter_mut().zip(marks).for_each(|(count, mark)| *count += u32::from(added(mark)));
        let mutant = TestCase { text, ..case.clone() };
        // Also at widths at which it was not tried, and compiled.
        for (width, engine) in [(1, Engine::Interp), (4, Engine::Ir), (64, Engine::Interp)] {
            let options = options(width, engine);
            let expected = run(&case, &compile(&case, &options));
            assert_eq!(
                run(&mutant, &compile(&mutant, &options)),
                expected,
                "seed {seed}, width {width}\n{}",
                mutant.text
            );
        }
    }
    assert!(mutants * 10 > seeds(60).count() * 9, "{mutants} mutants");
    assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
}

#[test]
fn what_cannot_be_mutated_says_why() {
    let options = options(8, Engine::Interp);
    let of = |text: &str| equivalent("a.ispc", text, 1, &options).unwrap_err();
    assert!(of("export void f() { return 1 }").contains("a.ispc"));
    assert!(of("export void f() { }").contains("call: f("));
    assert!(of("export void f() { }\n// call: f()\n").contains("no place for a change"));
    let endless = "export void f() { for (;;) { } }\n// call: f()\n";
    assert!(of(endless).contains("does not end"));
}
