//! Random programs with `crev` calls: the translation to µ-SIMD and the engines leave the same memory.
//!
//! `SPMDVM_PROGRAMS=N` runs N programs instead of the usual number; `SPMDVM_SEED=S` begins at another seed.

use spmdvm::usimd::crev::{LaneOrder, lower};
use spmdvm_tests::crev::{Failure, compare, generate, shrink, spmd_source};
use spmdvm_tests::subject::engines;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What the programs had in them, so that the comparison is known to compare something.
#[derive(Default)]
struct Seen {
    nested_calls: u64,
    deep_calls: u64,
    branches: u64,
    contexts: u64,
    memories: std::collections::HashSet<Vec<i64>>,
}

#[test]
fn the_translation_and_the_engines_leave_the_same_memory() {
    let (first, programs) = (number("SPMDVM_SEED", 1), number("SPMDVM_PROGRAMS", 250));
    let mut seen = Seen::default();
    for seed in first..first + programs {
        let generated = generate(seed);
        for &engine in engines() {
            let outcome = compare(&generated.source, generated.width, engine).unwrap_or_else(|failure| {
                let same_kind = |other: &Failure| std::mem::discriminant(other) == std::mem::discriminant(&failure);
                let fails = |s: &_| compare(s, generated.width, engine).is_err_and(|other| same_kind(&other));
                let small = shrink(&generated.source, fails);
                let listing = lower(&small, LaneOrder::ASCENDING).unwrap_or_default();
                let now = compare(&small, generated.width, engine).err();
                panic!(
                    "seed {seed}, width {}, engine {engine}: {failure:?}\nmade smaller: {now:?}\n{}\n{listing}",
                    generated.width,
                    spmd_source(&small)
                )
            });
            let counts = &outcome.statistics;
            seen.nested_calls += u64::from(counts.tasks.len() > 2);
            seen.deep_calls += u64::from(counts.tasks.len() > 3);
            seen.branches += u64::from(counts.most_branches > 0);
            seen.contexts += u64::from(counts.most_contexts > 2);
            seen.memories.insert(outcome.shared);
        }
    }
    if programs >= 200 {
        assert!(seen.memories.len() as u64 > programs * 9 / 10, "the programs compute different things");
        assert!(seen.nested_calls > programs / 3, "calls nest in {} programs", seen.nested_calls);
        assert!(seen.deep_calls > programs / 10, "calls nest deep in {} programs", seen.deep_calls);
        assert!(seen.branches > programs / 3, "threads part in {} programs", seen.branches);
        assert!(seen.contexts > programs / 3, "contexts nest in {} programs", seen.contexts);
    }
}

/// The generator's programs are what the translation asks for, and the translation is well-formed (theorem 3.5).
#[test]
fn translations_are_well_formed() {
    for seed in 1..100 {
        let text = lower(&generate(seed).source, LaneOrder { factor: 3, first: 1 }).expect("a program");
        spmdvm::usimd::assemble(&text).unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}\n{text}"));
    }
}

/// A failing program is cut down to the statement that fails.
#[test]
fn failing_programs_are_made_smaller() {
    let source = generate(3).source;
    let fails = |s: &spmdvm::usimd::crev::Source| spmd_source(s).contains("crev ");
    assert!(fails(&source));
    let small = shrink(&source, fails);
    let statements = |s: &str| s.matches(';').count();
    assert!(fails(&small));
    assert!(statements(&spmd_source(&small)) < statements(&spmd_source(&source)) / 2, "{}", spmd_source(&small));
}
