//! No verdict on a loop is for ever: when the program does something else later, what was given up is compiled, and
//! what was chosen is chosen anew. What stays as it was costs next to nothing to be looked at again.

use spmdvm::jit::Variant;
use spmdvm::jit::abort::Abort;
use spmdvm::jit::engine::{Measured, Pretended};
use spmdvm::jit::ir::{Counter, ExitId, ExitReason, Outcome, Region};
use spmdvm::{Engine, JitSettings, Module, Show, Value};
use spmdvm_tests::compiled::{jits, loops, module, native, number};

/// Settings by which what is compiled when depends on the program alone.
fn settings() -> JitSettings {
    JitSettings { hot: 5, trial: 20, background: false, ..JitSettings::default() }
}

const SUM: &str = "export uniform int f(uniform int n) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) s += i * i;
    return s;
}";

fn sum(module: &Module, n: i32) {
    let expected = (0..n).fold(0i32, |s, i| s.wrapping_add(i.wrapping_mul(i)));
    assert_eq!(number(module, &[n.into()]), expected);
}

/// Makes calls until a loop is given up.
fn until_given_up(module: &Module, call: impl Fn()) -> Abort {
    for _ in 0..10_000 {
        call();
        if let Some(why) = loops(module).into_iter().find_map(|l| l.aborted) {
            return why;
        }
    }
    panic!("nothing was given up: {}", module.jit_text(Show::default()));
}

#[test]
fn a_short_loop_is_compiled_when_it_is_long() {
    for engine in jits() {
        let module = module(engine, SUM, settings());
        assert_eq!(until_given_up(&module, || sum(&module, 1)), Abort::TooShort);
        let n = if engine == Engine::Ir { 100_000 } else { 1_000_000 };
        sum(&module, n);
        let found = &loops(&module)[0];
        assert!(found.aborted.is_none(), "{found:?}");
        let rounds: u64 = found.versions.iter().map(|v| v.rounds).sum();
        assert!(rounds > n as u64 / 2, "{rounds} of {n} rounds were compiled");
    }
}

#[test]
fn a_loop_of_a_few_rounds_stays_native() {
    for engine in jits() {
        let module = module(engine, SUM, settings());
        (0..10_000).for_each(|_| sum(&module, 5));
        let found = &loops(&module)[0];
        assert!(found.aborted.is_none(), "{found:?}");
        assert!(found.versions.iter().any(|v| v.entries > 5_000), "{found:?}");
    }
}

#[test]
fn a_loop_that_stays_short_is_tried_less_and_less() {
    for engine in jits() {
        let module = module(engine, SUM, settings());
        until_given_up(&module, || sum(&module, 1));
        let entries = || loops(&module)[0].versions.iter().map(|v| v.entries).sum::<u64>();
        let before = entries();
        (0..200_000).for_each(|_| sum(&module, 1));
        let tried = entries() - before;
        // Some 200,000 rounds: after 16,384 of them, 32,768 more, and so on, sixteen entries each.
        assert!((1..=16 * 6).contains(&tried), "tried {tried} times");
        assert_eq!(loops(&module)[0].aborted, Some(Abort::TooShort));
    }
}

#[test]
fn a_loop_that_frees_stays_native() {
    let text = "export uniform int f(uniform int n, uniform int deletes) {
        uniform int s = 0;
        for (uniform int i = 0; i < n; ++i) {
            if (deletes) { uniform int * uniform p = uniform new uniform int[1]; *p = i; s += *p; delete p; }
            else s += i;
        }
        return s;
    }";
    for engine in jits() {
        let module = module(engine, text, settings());
        let call = |n: i32, deletes: i32| {
            let expected = (0..n).fold(0i32, i32::wrapping_add);
            assert_eq!(number(&module, &[n.into(), deletes.into()]), expected);
        };
        (0..1000).for_each(|_| call(100, 1));
        let found = loops(&module);
        assert!(found.iter().all(|l| l.aborted.is_none()), "{found:?}");
        let entries: u64 = found.iter().flat_map(|l| &l.versions).map(|v| v.entries).sum();
        assert!(entries < 2_000, "{entries}, where there were 1,000 calls: {found:?}");
        let rounds = || -> u64 { loops(&module).iter().flat_map(|l| &l.versions).map(|v| v.rounds).sum() };
        assert!(rounds() > 90_000, "{}", rounds());
        call(200_000, 0);
        assert!(rounds() > 190_000, "{}", rounds());
    }
}

#[test]
fn a_loop_that_leaves_after_much_work_is_not_given_up() {
    let text = "export uniform int f(uniform int n, uniform int m) {
        uniform int s = 0;
        for (uniform int i = 0; i < n; ++i) {
            for (uniform int j = 0; j < m; ++j) s += j ^ i;
            uniform int * uniform p = uniform new uniform int[1];
            *p = i;
            s += *p;
            delete p;
        }
        return s;
    }";
    for engine in jits() {
        let module = module(engine, text, settings());
        let expected = (0..20).fold(0i32, |s, i| (0..500).fold(s, |s, j| s + (j ^ i)) + i);
        (0..50).for_each(|_| assert_eq!(number(&module, &[20.into(), 500.into()]), expected));
        let found = loops(&module);
        assert!(found.iter().all(|l| l.aborted.is_none()), "{found:?}");
    }
}

#[test]
fn a_loop_that_becomes_short_is_given_up_later() {
    for engine in jits() {
        let module = module(engine, SUM, settings());
        (0..100).for_each(|_| sum(&module, 1000));
        assert!(loops(&module)[0].aborted.is_none());
        assert_eq!(until_given_up(&module, || sum(&module, 1)), Abort::TooShort);
    }
}

/// How often the variant suited, in all versions.
fn hits(module: &Module, wanted: Variant) -> u64 {
    let counters = loops(module).into_iter().flat_map(|l| l.versions).flat_map(|v| v.counters);
    let hits = counters
        .filter(|c| matches!(c.counter, Counter::Variant { variant, outcome: Outcome::Hit, .. } if variant == wanted));
    hits.map(|c| c.times).sum()
}

#[test]
fn variants_are_chosen_anew_when_a_program_does_something_else() {
    let text = "export void f(uniform int out[], const uniform int x[], const uniform int at[], uniform int n) {
        foreach (i = 0 ... n) out[i] += x[at[i]];
    }";
    let n = 64_000;
    for engine in native() {
        let module = module(engine, text, settings());
        let x: Vec<i32> = (0..n).collect();
        let call = |at: &[i32]| {
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(at), n.into()];
            module.call("f", &args).unwrap();
            assert_eq!(out, at);
        };
        let scattered: Vec<i32> = (0..n).map(|i| (i * 7919) % n).collect();
        (0..10).for_each(|_| call(&scattered));
        assert_eq!(hits(&module, Variant::Consecutive), 0);
        // Every round of a gang is one of the four million after which somebody looks.
        let gangs = n as usize / 8;
        (0..(1 << 22) / gangs * 2 + 20).for_each(|_| call(&x));
        assert!(hits(&module, Variant::Consecutive) > 1000, "{}", module.jit_text(Show::default()));
    }
}

/// What a look has made for what the program does now has to show at once that it is faster than what there was.
#[test]
fn what_takes_the_place_of_a_version_competes_with_it_at_once() {
    let n = 4096;
    let fast: Pretended = |region, rounds| rounds * if has_rows(region) { 10 } else { 20 };
    let slow: Pretended = |region, rounds| rounds * if has_rows(region) { 20 } else { 10 };
    for (engine, (nanos, pays)) in native().flat_map(|e| [(e, (fast, true)), (e, (slow, false))]) {
        let module = module(engine, COPY, settings());
        module.jit().unwrap().pretend(nanos);
        let x: Vec<i32> = (0..n).collect();
        let scattered: Vec<i32> = (0..n).map(|i| (i * 1031) % n).collect();
        let call = |at: &[i32]| {
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(at), n.into()];
            module.call("f", &args).unwrap();
            assert_eq!(out, at);
        };
        let rows = || loops(&module).iter().flat_map(|l| &l.versions).any(|version| has_rows(&version.region));
        (0..100).for_each(|_| call(&scattered));
        assert!(!rows(), "{}", module.jit_text(Show::default()));
        let until = |done: &dyn Fn() -> bool| (0..100_000).take_while(|_| !done()).map(|_| call(&x)).count();
        until(&rows);
        let measured = || loops(&module).into_iter().flat_map(|l| l.measured).collect::<Vec<_>>();
        // Until somebody looks again it would take some eight thousand.
        let calls = until(&|| !measured().is_empty());
        assert!(calls < 1000, "{calls} calls: {}", module.jit_text(Show::default()));
        let expected = [(Variant::Consecutive, !pays)];
        let found: Vec<_> = measured().iter().map(|m| (m.variant, m.dropped)).collect();
        assert_eq!((found.as_slice(), rows()), (&expected[..], pays), "{}", module.jit_text(Show::default()));
        (0..20_000).for_each(|_| call(&x));
        assert_eq!(rows(), pays, "{}", module.jit_text(Show::default()));
    }
}

/// An arm that is skipped each time, for long, is left out of the loop as if it had never been taken; it comes back when it is.
#[test]
fn an_arm_that_is_entered_no_more_is_left_out() {
    let text = "export void f(uniform int out[], const uniform int x[], uniform int n) {
        foreach (i = 0 ... n) {
            int y = x[i];
            if (y < 0) { for (uniform int k = 0; k < 9; ++k) y = y * 5 + (y >> 3) + k; }
            out[i] = y;
        }
    }";
    let slow = |x: i32| (0..9).fold(x, |y: i32, k| y.wrapping_mul(5).wrapping_add(y >> 3).wrapping_add(k));
    let n = 64_000;
    for engine in native() {
        let module = module(engine, text, settings());
        let call = |negative: bool| {
            let x: Vec<i32> = (0..n).map(|i| if negative && i % 3 == 0 { -i } else { i }).collect();
            let mut out = vec![0i32; n as usize];
            module.call("f", &[Value::slice_mut(&mut out), Value::slice(&x), n.into()]).unwrap();
            let expected = x.iter().map(|&x| if x < 0 { slow(x) } else { x });
            assert!(out.iter().copied().eq(expected));
        };
        let leaves_out = || {
            let exits = loops(&module).into_iter().flat_map(|l| l.versions).flat_map(|v| v.region.exits.clone());
            exits.filter(|exit| exit.reason == ExitReason::NeverTaken).count()
        };
        (0..10).for_each(|_| call(true));
        assert_eq!(leaves_out(), 0);
        let gangs = n as usize / 8;
        (0..(1 << 22) / gangs * 3 + 20).for_each(|_| call(false));
        assert_ne!(leaves_out(), 0, "{}", module.jit_text(Show::default()));
        (0..40).for_each(|_| call(true));
        assert_eq!(leaves_out(), 0, "{}", module.jit_text(Show::default()));
    }
}

/// A version for constants is soon made anew by what is seen while it runs: a way that was taken with others is left out.
#[test]
fn ways_that_are_taken_with_other_constants_only_are_left_out() {
    let text = "export void f(uniform int out[], const uniform int x[], uniform int n, uniform int length) {
        for (uniform int row = 0; row < n / length; ++row) {
            foreach (i = 0 ... length) out[row * length + i] = x[row * length + i] * 3 + 1;
        }
    }";
    let n = 1003 << 6;
    for engine in native() {
        let module = module(engine, text, JitSettings { same_arguments: 10, ..settings() });
        let x: Vec<i32> = (0..n).collect();
        let call = |length: i32| {
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), n.into(), length.into()];
            module.call("f", &args).unwrap();
            assert!(out.iter().copied().eq(x.iter().map(|&x| x * 3 + 1)));
        };
        let ways_left_out = || {
            let versions = loops(&module).into_iter().flat_map(|l| l.versions).filter(|v| v.constants > 0);
            let exits = versions.map(|v| v.region.exits.iter().filter(|e| e.reason == ExitReason::NeverTaken).count());
            exits.collect::<Vec<_>>()
        };
        // The last gang of a row is partial.
        (0..300).for_each(|_| call(1003));
        let before = ways_left_out();
        (0..2000).for_each(|_| call(4));
        let after = ways_left_out();
        assert!(after.iter().max() > before.iter().max(), "{before:?} {after:?}: {}", module.jit_text(Show::default()));
        (0..300).for_each(|_| call(1003));
    }
}

/// What a program did for long does not delay that what it does now is seen, nor that a variant fails now.
#[test]
fn what_changes_after_a_long_run_is_seen_as_soon_as_after_a_short_one() {
    let text = "export void f(uniform int out[], const uniform int x[], const uniform int at[], uniform int n) {
        foreach (i = 0 ... n) out[i] = x[at[i]];
    }";
    let n = 40_000;
    for engine in native() {
        let module = module(engine, text, settings());
        let x: Vec<i32> = (0..n).collect();
        let call = |at: &[i32]| {
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(at), n.into()];
            module.call("f", &args).unwrap();
            assert_eq!(out, at);
        };
        let scattered: Vec<i32> = (0..n).map(|i| (i * 7919) % n).collect();
        let gangs = n as usize / 8;
        let long = |at: &[i32], rounds: usize| (0..rounds / gangs).for_each(|_| call(at));
        long(&scattered, 21 << 20);
        assert_eq!(hits(&module, Variant::Consecutive), 0);
        long(&x, 10 << 20);
        assert!(hits(&module, Variant::Consecutive) > 1000, "{}", module.jit_text(Show::default()));
        long(&scattered, 10 << 20);
        assert_eq!(hits(&module, Variant::Consecutive), 0, "the version without it has no counter");
    }
}

/// Also within one call, however long compiled code has not been left.
#[test]
fn what_changes_within_one_entry_is_seen() {
    let text =
        "export void f(uniform int out[], const uniform int x[], const uniform int first[], const uniform int second[],
                          uniform int n, uniform int rounds, uniform int until) {
        for (uniform int round = 0; round < rounds; ++round) {
            const uniform int * uniform at = round < until ? first : second;
            foreach (i = 0 ... n) out[i] = x[at[i]];
        }
    }";
    let n = 8_000;
    for engine in native() {
        let module = module(engine, text, settings());
        let x: Vec<i32> = (0..n).collect();
        let scattered: Vec<i32> = (0..n).map(|i| (i * 7919) % n).collect();
        let mut out = vec![0i32; n as usize];
        // Of a thousand gangs each.
        let rounds = 12 << 10;
        let args = [
            Value::slice_mut(&mut out),
            Value::slice(&x),
            Value::slice(&scattered),
            Value::slice(&x),
            n.into(),
            rounds.into(),
            (rounds / 4).into(),
        ];
        module.call("f", &args).unwrap();
        assert_eq!(out, x);
        assert!(hits(&module, Variant::Consecutive) > 1000, "{}", module.jit_text(Show::default()));
    }
}

/// Somebody looks when so much fuel has been used. Where units are counted several at once, what is left until then may
/// be too little for any more: then it is time, too, rather than that every round is left to the interpreter from then
/// on.
#[test]
fn looks_come_where_units_are_counted_together() {
    // What follows the call of `down` is a region of its own, of one block.
    let mixed = (0..9).fold("s".to_string(), |value, _| format!("mix({value} ^ n)"));
    let text = format!(
        "static noinline uniform int mix(uniform int x) {{ return (x * 5 + 3) & 1023; }}
        static uniform int down(uniform int n) {{
            if (n <= 0) return 1;
            uniform int s = down(n - 1);
            return {mixed};
        }}
        export uniform int f(uniform int n) {{ return down(n); }}"
    );
    for engine in native() {
        let module = module(engine, &text, settings());
        for _ in 0..600 {
            number(&module, &[400.into()]);
        }
        let looks: u32 = loops(&module).iter().map(|l| l.looks).sum();
        let exits = loops(&module).into_iter().flat_map(|l| l.versions).flat_map(|v| {
            let of = move |(exit, n): (ExitId, u64)| (v.region.exits[exit.index()].reason, n);
            v.exits.into_iter().map(of).collect::<Vec<_>>()
        });
        let polls: u64 = exits.filter(|(reason, _)| *reason == ExitReason::Poll).map(|(_, n)| n).sum();
        assert!(looks > 1 && polls < 100, "{looks} looks, left {polls} times: {}", module.jit_text(Show::default()));
    }
}

const COPY: &str = "export void f(uniform int out[], const uniform int x[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) out[i] = x[at[i]];
}";

/// The same, several times.
const COPIES: &str =
    "export void f(uniform int out[], const uniform int x[], const uniform int at[], uniform int n, uniform int m) {
    for (uniform int round = 0; round < m; ++round)
        foreach (i = 0 ... n) out[i] = x[at[i]];
}";

/// Whether a region has code for addresses in a row.
fn has_rows(region: &Region) -> bool {
    let rows = |c: &Counter| matches!(c, Counter::Variant { variant: Variant::Consecutive, .. });
    region.counters.iter().any(rows)
}

/// Copies in a row for long, on a module whose times are pretended; gives what came of that.
fn copied_for_long(engine: Engine, jit: JitSettings, nanos: Pretended) -> Module {
    let module = module(engine, COPY, jit);
    module.jit().unwrap().pretend(nanos);
    let n = 40_000;
    let x: Vec<i32> = (0..n).collect();
    for _ in 0..(16 << 20) / (n / 8) {
        let mut out = vec![0i32; n as usize];
        let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(&x), n.into()];
        module.call("f", &args).unwrap();
        assert_eq!(out, x);
    }
    module
}

#[test]
fn a_variant_that_takes_more_time_than_it_saves_is_dropped() {
    for engine in native() {
        let module =
            copied_for_long(engine, settings(), |region, rounds| rounds * if has_rows(region) { 20 } else { 10 });
        let found = &loops(&module)[0];
        let [measured] = &found.measured[..] else { panic!("{:?}", found.measured) };
        assert_eq!((measured.variant, measured.with, measured.without), (Variant::Consecutive, 20.0, 10.0));
        assert!(measured.dropped);
        assert_eq!(hits(&module, Variant::Consecutive), 0, "the version without it has no counter");
        let told = "variant `consecutive`: 20.0 ns a round with it, 10.0 without: dropped";
        assert!(module.jit_text(Show::default()).contains(told), "{}", module.jit_text(Show::default()));
        let explained = module.explain_line(2).unwrap();
        assert!(explained.contains(told), "{explained}");
    }
}

#[test]
fn what_an_inner_loop_has_lost_by_is_dropped_from_the_loop_around_it() {
    let n = 4096;
    for engine in native() {
        let module = module(engine, COPIES, settings());
        module.jit().unwrap().pretend(|region, rounds| rounds * if has_rows(region) { 20 } else { 10 });
        let x: Vec<i32> = (0..n).collect();
        let call = |rounds: i32| {
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(&x), n.into(), rounds.into()];
            module.call("f", &args).unwrap();
            assert_eq!(out, x);
        };
        let with_rows = || {
            let versions = loops(&module).into_iter().flat_map(|l| l.versions);
            versions.filter(|version| has_rows(&version.region)).count()
        };
        (0..3).for_each(|_| call(40));
        assert_eq!(with_rows(), 1, "{}", module.jit_text(Show::default()));
        let measured = || loops(&module).into_iter().flat_map(|l| l.measured).collect::<Vec<_>>();
        (0..100_000).take_while(|_| measured().is_empty()).for_each(|_| call(1));
        assert!(matches!(measured()[..], [Measured { dropped: true, .. }]), "{:?}", measured());
        assert_eq!(with_rows(), 1, "{}", module.jit_text(Show::default()));
        (0..8).for_each(|_| call(4000));
        assert_eq!(measured().len(), 1, "the loop around it has run too seldom for that");
        assert_eq!(with_rows(), 0, "{}", module.jit_text(Show::default()));
    }
}

#[test]
fn a_variant_that_saves_more_time_than_it_takes_is_kept() {
    for engine in native() {
        let module =
            copied_for_long(engine, settings(), |region, rounds| rounds * if has_rows(region) { 10 } else { 20 });
        let found = &loops(&module)[0];
        let [measured] = &found.measured[..] else { panic!("{:?}", found.measured) };
        assert_eq!((measured.with, measured.without, measured.dropped), (10.0, 20.0, false));
        assert!(hits(&module, Variant::Consecutive) > 1000, "{}", module.jit_text(Show::default()));
    }
}

/// What is compared is how long the same work takes: calls belong to it, also those of what is compared itself.
#[test]
fn calls_are_made_while_versions_are_compared() {
    let calls = "static noinline uniform int down(uniform int n) { return n <= 0 ? 0 : down(n - 1) + 1; }
    export void f(uniform int out[], const uniform int x[], const uniform int at[], uniform int n, uniform int m) {
        for (uniform int round = 0; round < m; ++round) {
            foreach (i = 0 ... n) out[i] = x[at[i]];
            out[0] += down(30) - 30;
        }
    }";
    let calls_itself =
        "static noinline uniform int copies(uniform int out[], const uniform int x[], const uniform int at[],
                                                   uniform int n, uniform int m) {
        if (m <= 0) return 0;
        foreach (i = 0 ... n) out[i] = x[at[i]];
        uniform int others = copies(out, x, at, n, m / 2);
        if (m & 1) others += copies(out, x, at, n, m / 3);
        return others;
    }
    export void f(uniform int out[], const uniform int x[], const uniform int at[], uniform int n, uniform int m) {
        out[0] += copies(out, x, at, n, m * 40 + 31);
    }";
    let n = 64;
    for (engine, text) in native().flat_map(|engine| [(engine, calls), (engine, calls_itself)]) {
        let module = module(engine, text, settings());
        // An entry that ends at its first call has fewer rounds.
        module.jit().unwrap().pretend(|_, rounds| rounds * if rounds > 500 { 10 } else { 1000 });
        let x: Vec<i32> = (0..n).collect();
        let call = || {
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(&x), n.into(), 200.into()];
            module.call("f", &args).unwrap();
            assert_eq!(out, x);
        };
        let measured = || loops(&module).into_iter().flat_map(|l| l.measured).next();
        (0..100_000).take_while(|_| measured().is_none()).for_each(|_| call());
        let Some(found) = measured() else { panic!("{}", module.jit_text(Show::default())) };
        assert_eq!((found.with, found.without), (10.0, 10.0), "{}", module.jit_text(Show::default()));
    }
}

#[test]
fn a_variant_that_suits_most_of_the_time_outlasts_a_look_at_another_moment() {
    for engine in native() {
        let module = module(engine, COPY, settings());
        let n = 16_000;
        let x: Vec<i32> = (0..3 * n).collect();
        let (row, apart): (Vec<i32>, Vec<i32>) = (0..n).map(|i| (i, 3 * i)).unzip();
        for call in 0..20_000 {
            // Once in eight calls, at no regular distance.
            let at = if (call * 7919) % 31 < 4 { &apart } else { &row };
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(at), n.into()];
            module.call("f", &args).unwrap();
            assert_eq!(&out, at);
        }
        let found = &loops(&module)[0];
        assert!(found.looks > 5, "{found:?}");
        let rows = hits(&module, Variant::Consecutive);
        assert!(rows > 10_000 * n as u64 / 16, "{rows}: {}", module.jit_text(Show::default()));
    }
}

#[test]
fn nothing_is_measured_where_that_is_switched_off() {
    let jit = JitSettings { measure: false, ..settings() };
    for engine in native() {
        let module = copied_for_long(engine, jit.clone(), |_, rounds| rounds);
        assert_eq!(loops(&module)[0].measured, []);
    }
}

#[test]
fn a_variant_that_fails_in_few_long_entries_is_dropped() {
    let (n, rounds) = (1024, 4000);
    for engine in native() {
        let module = module(engine, COPIES, settings());
        let x: Vec<i32> = (0..n).collect();
        let call = |at: &[i32], rounds: i32| {
            let mut out = vec![0i32; n as usize];
            let args = [Value::slice_mut(&mut out), Value::slice(&x), Value::slice(at), n.into(), rounds.into()];
            module.call("f", &args).unwrap();
            assert_eq!(out, at);
        };
        let scattered: Vec<i32> = (0..n).map(|i| (i * 7919) % n).collect();
        (0..3).for_each(|_| call(&x, 20));
        assert!(hits(&module, Variant::Consecutive) > 0, "{}", module.jit_text(Show::default()));
        let missed = || {
            let counters = loops(&module).into_iter().flat_map(|l| l.versions).flat_map(|v| v.counters);
            let missed = |c: &Counter| {
                matches!(c, Counter::Variant { variant: Variant::Consecutive, outcome: Outcome::Missed, .. })
            };
            counters.filter(|c| missed(&c.counter)).map(|c| c.times).sum::<u64>()
        };
        // Where looks end an entry, another region goes on for a while, from which it is dropped as well.
        (0..16).for_each(|_| call(&scattered, rounds));
        let before = missed();
        (0..4).for_each(|_| call(&scattered, rounds));
        assert_eq!(missed(), before, "{}", module.jit_text(Show::default()));
    }
}

#[test]
fn the_code_of_a_loop_that_rests_makes_room() {
    let text = "export uniform int f(uniform int n, uniform int k) {
        uniform int s = 0;
        if (k == 0) { for (uniform int i = 0; i < n; ++i) s += i * i; }
        else { for (uniform int i = 0; i < n; ++i) s += i * k; }
        return s;
    }";
    for engine in native() {
        let run = |module: &Module, n: i32, k: i32| assert!(number(module, &[n.into(), k.into()]) >= 0);
        let free = module(engine, text, settings());
        run(&free, 1000, 0);
        let code_limit = free.jit().unwrap().code_bytes() * 3 / 2;
        let module = module(engine, text, JitSettings { code_limit, ..settings() });
        assert_eq!(until_given_up(&module, || run(&module, 1, 0)), Abort::TooShort);
        run(&module, 1000, 3);
        let compiled = loops(&module).into_iter().filter(|l| l.aborted.is_none() && !l.versions.is_empty());
        assert_eq!(compiled.count(), 1, "{}", module.jit_text(Show::default()));
    }
}

#[test]
fn constants_are_followed_however_often_they_change() {
    let text = "export uniform int f(uniform int n, uniform int d) {
        uniform int s = 0;
        for (uniform int i = 0; i < n; ++i) s += i / d;
        return s;
    }";
    for engine in jits() {
        let settings = JitSettings { same_arguments: 10, recompiles: 2, ..settings() };
        let module = module(engine, text, settings);
        let special = || loops(&module)[0].versions.iter().filter(|v| v.constants > 0).map(|v| v.entries).sum::<u64>();
        for d in 3..7 {
            for _ in 0..1500 {
                number(&module, &[60.into(), d.into()]);
            }
        }
        let before = special();
        (0..100).for_each(|_| assert_eq!(number(&module, &[60.into(), 6.into()]), 270));
        assert!(special() >= before + 100, "{}", module.jit_text(Show::default()));
        assert!(loops(&module)[0].versions.len() <= 4);
    }
}
