//! Native code of several regions: what is too large to be inlined or to be one region, recursion, calls through pointers. All engines
//! must do what the interpreter does, wherever a region ends and another begins, and the regions must lead to each other.

use spmdvm::jit::abort::Abort;
use spmdvm::jit::engine::VersionReport;
use spmdvm::jit::ir::{ExitReason, Kind, Region};
use spmdvm::{Engine, JitSettings, Limits, Module, Options, Value, Width};
use spmdvm_tests::compiled::{jits, loops, versions};
use std::fmt::Write as _;
use std::sync::Arc;

/// Lanes that go to different depths of a recursion, which goes down twice.
const TREE: &str = "static int count(int depth, int leaf) {
    if (depth <= 0) return leaf;
    int left = count(depth - 1, leaf + 1);
    int right = 0;
    if ((left & 1) == 0) right = count(depth - 2, leaf + 2);
    return left * 3 + right;
}
export void f(uniform int a[], uniform int n) {
    foreach (i = 0 ... n) a[i] = count((i & 7) + 3, i);
}";

/// Functions that call each other, many deep, with memory of their own that the callee writes to.
const MUTUAL: &str = "struct Pair { int x; int y; };
static int odd(uniform int n, Pair &p);
static int even(uniform int n, Pair &p) {
    if (n == 0) return p.x;
    Pair own = { p.y + n, p.x };
    int below = odd(n - 1, own);
    p.y += own.y;
    return below + own.x;
}
static int odd(uniform int n, Pair &p) {
    if (n == 0) return p.y;
    Pair own = { p.x ^ n, p.y };
    if (own.x & 1) own.y += 3;
    int below = even(n - 1, own);
    p.x -= own.x;
    return below - own.y;
}
export void f(uniform int a[], uniform int n) {
    foreach (i = 0 ... n) {
        Pair p = { i, 2 * i };
        a[i] = even(300 + (n & 1), p) + p.x - p.y;
    }
}";

/// Calls through pointers that differ between lanes, of functions with loops and early returns.
const POINTERS: &str = "typedef int (*Step)(int, uniform int);
static int twice(int x, uniform int n) { return 2 * x + n; }
static int until(int x, uniform int n) { while (x < 100) { x = x * 2 + 1; if (x == n) return -x; } return x; }
static int again(int x, uniform int n) { if (x > 50) return x - n; return twice(x, n) + until(x + 1, n); }
export void f(uniform int a[], uniform int n) {
    uniform Step steps[3] = { twice, until, again };
    foreach (i = 0 ... n) {
        int x = i;
        for (uniform int round = 0; round < 6; ++round) {
            Step step = steps[(i + round) % 3];
            x = step(x & 127, round);
        }
        a[i] = x;
    }
}";

/// Recursion without an end.
const ENDLESS: &str = "static int down(int x, uniform int n) {
    if (x < 0) return n;
    return down(x + 1, n + 1) + x;
}
export void f(uniform int a[], uniform int n) {
    foreach (i = 0 ... n) a[i] = down(i, n);
}";

/// A loop whose body is larger than a region may be, in a callee and outside, with branches that lanes take differently.
fn large(statements: usize) -> String {
    let mut body = String::new();
    for k in 0..statements {
        let _ = writeln!(body, "        if ((x & {}) == {}) x += y * {k}; else y ^= x >> {};", 3 + k % 5, k % 3, k % 7);
        if k % 50 == 7 {
            let _ = writeln!(body, "        for (uniform int j = 0; j < {}; ++j) x = x * 5 + j;", k % 11);
        }
    }
    format!(
        "static int mix(int x, int y, uniform int n) {{
    for (uniform int round = 0; round < n; ++round) {{
{body}        if (x == y) return round;
    }}
    return x + y;
}}
export void f(uniform int a[], uniform int n) {{
    foreach (i = 0 ... n) {{
        int x = i, y = n - i;
{body}        a[i] = mix(x, y, 3) + x * y;
    }}
}}"
    )
}

/// Tasks are launched and waited for in a callee.
const TASKS: &str = "static task void add(uniform int a[], uniform int from, uniform int n) {
    foreach (i = from ... n) a[i] += taskIndex + 1;
}
static void spread(uniform int a[], uniform int depth, uniform int n) {
    if (depth == 0) return;
    launch[2] add(a, n / 2, n);
    sync;
    spread(a, depth - 1, n);
    a[depth] += 1;
}
export void f(uniform int a[], uniform int n) {
    for (uniform int i = 0; i < 20; ++i) spread(a, 5, n);
}";

/// What a call leaves, and how it ends.
fn run(module: &Module) -> (Vec<i32>, Option<String>) {
    let mut a = vec![0; 70];
    let n = a.len() as i32;
    let ended = module.call("f", &[Value::slice_mut(&mut a), n.into()]);
    (a, ended.err().map(|trap| format!("{trap:?}")))
}

/// How often regions of a module were left for others.
fn links(module: &Module) -> u64 {
    let versions = versions(module);
    let left = versions.iter().flat_map(|v| v.exits.iter().map(|(exit, n)| (v.region.exits[exit.index()].reason, *n)));
    left.filter(|(reason, _)| [ExitReason::LinkedCall, ExitReason::Return, ExitReason::Cut].contains(reason))
        .map(|(_, n)| n)
        .sum()
}

/// Compiles at once with the limits there are, links and cuts at random, also under stress, and when functions are hot.
fn modes() -> Vec<JitSettings> {
    let soon = JitSettings { hot: 2, calls: 2, observe: 50, trial: 5, background: false, ..JitSettings::default() };
    let mut modes = vec![JitSettings::eager(), JitSettings { calls: 0, ..JitSettings::eager() }, soon];
    for seed in 1..4 {
        let links = JitSettings::eager_with_links(seed);
        modes.push(JitSettings { stress: Some(seed), ..links.clone() });
        modes.push(links);
    }
    modes
}

/// A module whose loops and functions are hot soon, and compiled at once then.
fn soon_hot(engine: Engine, text: &str) -> Module {
    let jit = JitSettings { hot: 2, calls: 2, background: false, ..JitSettings::default() };
    let options = Options { engine, jit, width: Width::DEFAULT, ..Options::default() };
    Module::compile("links.ispc", text, &options).unwrap()
}

fn agree(text: &str, limits: &Limits) {
    agree_in(text, limits, &modes());
}

fn agree_in(text: &str, limits: &Limits, modes: &[JitSettings]) {
    let options = Options { limits: *limits, threads: Some(1), ..Options::default() };
    let compile = |options: &Options| Module::compile("links.ispc", text, options).unwrap_or_else(|e| panic!("{e}"));
    let interpreted = compile(&Options { engine: Engine::Interp, ..options.clone() });
    let expected = [(); 2].map(|()| run(&interpreted));
    let mut led = 0;
    for engine in jits() {
        for jit in modes {
            let module = compile(&Options { engine, jit: jit.clone(), ..options.clone() });
            let came = [(); 2].map(|()| run(&module));
            assert_eq!(came, expected, "{engine}, {jit:?}\n{text}");
            let given_up: Vec<_> = loops(&module).into_iter().filter_map(|l| l.aborted).collect();
            assert!(!given_up.contains(&Abort::TooLarge), "{engine}, {jit:?}: {given_up:?}");
            led += links(&module);
        }
    }
    assert!(led > 0, "no region led to another");
}

#[test]
fn recursion_runs_in_regions() {
    agree(TREE, &Limits::default());
}

#[test]
fn functions_that_call_each_other_run_in_regions() {
    agree(MUTUAL, &Limits::default());
}

#[test]
fn calls_through_pointers_lead_to_regions() {
    agree(POINTERS, &Limits::default());
}

#[test]
fn what_is_too_large_for_a_region_is_several() {
    agree_in(&large(16), &Limits::default(), &[JitSettings::eager_with_links(2)]);
    agree_in(&large(90), &Limits::default(), &[JitSettings::eager()]);
}

#[test]
fn tasks_may_be_waited_for_between_regions() {
    agree(TASKS, &Limits::default());
}

#[test]
fn the_stack_overflows_at_the_same_call() {
    agree(ENDLESS, &Limits::default());
}

#[test]
fn fuel_runs_out_at_the_same_instruction() {
    for fuel in [60, 301, 1700] {
        agree(TREE, &Limits { fuel: Some(fuel), ..Limits::default() });
        agree(MUTUAL, &Limits { fuel: Some(fuel), ..Limits::default() });
    }
}

/// A recursion whose functions end with little after the calls: the interpreter does that between two regions. One has
/// memory of its own.
const TAILS: &str = "struct Pair { int x; int y; };
static int last(int x, uniform int n);
static int sum(int x, uniform int n) {
    if (x <= 0) return n;
    int found = 1;
    if (x & 3) found += last(x - 1, n + 1);
    return found;
}
static int last(int x, uniform int n) {
    Pair own = { x, n };
    own.y += sum(own.x - 1, n ^ 3);
    int found = sum(own.x - 2, n & 7);
    return found + own.y;
}
export void f(uniform int a[], uniform int n) {
    foreach (i = 0 ... n) a[i] = sum(i & 15, n) + last(i & 7, n);
}";

#[test]
fn functions_end_between_regions() {
    agree(TAILS, &Limits::default());
    for fuel in [33, 250, 1201] {
        agree(TAILS, &Limits { fuel: Some(fuel), ..Limits::default() });
    }
}

/// What may be entered at a place that regions lead to all the time changes while they do: versions for other
/// constants, versions that take the place of others, heads that are given up for a while.
#[test]
fn what_may_be_entered_changes_meanwhile() {
    let options = |engine, jit| Options { engine, jit, threads: Some(1), ..Options::default() };
    for text in [TREE, TAILS, MUTUAL] {
        let compile = |options| Module::compile("links.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"));
        let interpreted = compile(options(Engine::Interp, JitSettings::default()));
        for engine in jits() {
            for seed in [None, Some(7)] {
                let soon =
                    JitSettings { hot: 3, calls: 3, observe: 40, trial: 4, hot_exit: 3, ..JitSettings::default() };
                let soon = JitSettings { same_arguments: 9, hot_links: 40, background: false, stress: seed, ..soon };
                let module = compile(options(engine, soon));
                for round in 0..40i32 {
                    let n = [70, 70, 33, 1, 70][round as usize / 4 % 5];
                    let [mut ours, mut theirs] = [(); 2].map(|()| vec![0; 70]);
                    for (module, a) in [(&module, &mut ours), (&interpreted, &mut theirs)] {
                        module.call("f", &[Value::slice_mut(a), n.into()]).unwrap();
                    }
                    assert_eq!(ours, theirs, "{engine}, round {round}\n{text}");
                }
                assert!(links(&module) > 100, "{engine}: {}", links(&module));
                assert!(versions(&module).len() > 2, "{engine}: {} versions", versions(&module).len());
            }
        }
    }
}

/// A loop that calls many functions, none of which is large.
fn many_calls() -> String {
    let (mut functions, mut calls) = (String::new(), String::new());
    for k in 0..60 {
        let steps: String = (0..24).map(|s| format!("    x = x * {} + (x >> {});\n", k + s, s % 7 + 1)).collect();
        let _ = writeln!(functions, "static int step{k}(int x) {{\n{steps}    return x ^ {k};\n}}");
        let _ = writeln!(calls, "            x = step{k}(x);");
    }
    format!(
        "{functions}export void f(uniform int a[], uniform int n) {{
    foreach (i = 0 ... n) {{
        int x = i;
        for (uniform int round = 0; round < 20; ++round) {{
{calls}        }}
        a[i] = x;
    }}
}}"
    )
}

#[test]
fn regions_that_are_too_large_hold_many_calls() {
    let text = many_calls();
    agree_in(&text, &Limits::default(), &[JitSettings::eager()]);
    for engine in jits() {
        let jit = JitSettings { hot: 2, background: false, ..JitSettings::default() };
        let module =
            Module::compile("links.ispc", &text, &Options { engine, jit, width: Width::DEFAULT, ..Options::default() })
                .unwrap();
        run(&module);
        let (before, _) = (links(&module), run(&module));
        // With a region for each function, every call would be two links.
        let gangs = 70_u64.div_ceil(Width::DEFAULT.lanes() as u64);
        let calls = gangs * 20 * 60;
        assert!(links(&module) - before < calls / 4, "{engine}: {} links, {calls} calls", links(&module) - before);
    }
}

/// What often leads from region to region becomes larger regions: here one that holds all.
#[test]
fn regions_that_often_lead_on_hold_more_then() {
    let text = many_calls();
    let soon = JitSettings { hot: 2, hot_links: 20, background: false, ..JitSettings::default() };
    agree_in(&text, &Limits::default(), std::slice::from_ref(&soon));
    for engine in jits() {
        let jits = [JitSettings { hot_links: u64::MAX, ..soon.clone() }, soon.clone()];
        let [usual, larger] = jits.map(|jit| {
            let options = Options { engine, jit, width: Width::DEFAULT, ..Options::default() };
            let module = Module::compile("links.ispc", &text, &options).unwrap();
            (0..10).for_each(|_| drop(run(&module)));
            let before = links(&module);
            run(&module);
            links(&module) - before
        });
        assert!(usual > 100, "{engine}: {usual} links");
        assert!(larger * 4 < usual, "{engine}: {larger} links, {usual} with regions of the usual size");
    }
}

/// A number of short loops with so many rounds and statements each.
fn short_loops(loops: usize, rounds: usize, statements: usize) -> String {
    (0..loops).fold(String::new(), |mut text, k| {
        let steps: String = (0..statements).map(|s| format!(" x = (x * {} + (x >> k)) ^ {s};", 2 * k + 3)).collect();
        let _ = writeln!(text, "        for (uniform int k = 0; k < {rounds}; ++k) {{{steps} }}");
        text
    })
}

/// The regions in which a call of a module runs, once it has been called often.
fn regions_at_last(module: &Module) -> Vec<Arc<Region>> {
    (0..12).for_each(|_| drop(run(module)));
    let before: Vec<_> = versions(module).iter().map(|v| (Arc::clone(&v.region), v.entries)).collect();
    run(module);
    let entered = |v: &VersionReport| {
        let seen = before.iter().find(|(region, _)| Arc::ptr_eq(region, &v.region)).map_or(0, |(_, entries)| *entries);
        v.entries > seen
    };
    versions(module).into_iter().filter(entered).map(|v| v.region).collect()
}

/// What has been left out of a region for its size is in it once that has gone round often, although it leads to no other.
#[test]
fn regions_that_go_round_often_have_all_their_loops_unrolled() {
    let text = format!(
        "export void f(uniform int a[], uniform int n) {{
    foreach (i = 0 ... n) {{
        int x = i;
        for (uniform int round = 0; round < 90; ++round) {{
{}        }}
        a[i] = x;
    }}
}}",
        short_loops(40, 12, 1)
    );
    for engine in jits().filter(|engine| *engine != Engine::Ir) {
        let jits = [u64::MAX, 20].map(|hot_links| JitSettings {
            hot: 2,
            hot_links,
            background: false,
            ..JitSettings::default()
        });
        let [usual, larger] = jits.map(|jit| {
            let options = Options { engine, jit, width: Width::DEFAULT, ..Options::default() };
            let module = Module::compile("links.ispc", &text, &options).unwrap();
            regions_at_last(&module).iter().filter(|region| region.is_divided).count()
        });
        assert_ne!(usual, 0, "{engine}: the loops are unrolled at once");
        assert_eq!(larger, 0, "{engine}: something is still left out");
    }
}

/// Two heavy functions get regions of their own, with all their short loops unrolled, rather than one region without.
#[test]
fn heavy_functions_are_linked_rather_than_that_loops_are_not_unrolled() {
    let body = short_loops(45, 2, 4);
    let text = format!(
        "static int first(int x) {{
{body}        return x;
}}
static int second(int x) {{
{body}        return x ^ 1;
}}
export void f(uniform int a[], uniform int n) {{
    foreach (i = 0 ... n) {{
        int x = i;
        for (uniform int round = 0; round < 9; ++round) x = first(x) + second(x);
        a[i] = x;
    }}
}}"
    );
    agree_in(&text, &Limits::default(), &[JitSettings::eager()]);
    for engine in jits().filter(|engine| *engine != Engine::Ir) {
        let jit = JitSettings { hot: 2, calls: 2, hot_links: u64::MAX, background: false, ..JitSettings::default() };
        let options = Options { engine, jit, width: Width::DEFAULT, ..Options::default() };
        let module = Module::compile("links.ispc", &text, &options).unwrap();
        let functions: Vec<_> = regions_at_last(&module).into_iter().filter(|region| region.pc == 0).collect();
        assert!(functions.len() >= 2, "{engine}: functions without a region of their own");
        assert!(functions.iter().all(|region| !region.is_divided), "{engine}: loops that are not unrolled");
    }
}

/// A function that calls itself, with loops before that: with copies of itself in it, it is too large for a region.
const DIVIDE: &str = "static void divide(uniform int a[], uniform int spare[], uniform int n) {
    if (n <= 4) {
        foreach (i = 0 ... n) {
            int rank = 0;
            for (uniform int j = 0; j < n; ++j)
                if (a[j] < a[i] || (a[j] == a[i] && j < i)) ++rank;
            spare[rank] = a[i];
        }
        foreach (i = 0 ... n) a[i] = spare[i];
        return;
    }
    uniform int pivot = max(min(a[0], a[n / 2]), min(max(a[0], a[n / 2]), a[n - 1]));
    uniform int less = 0, more = 0;
    foreach (i = 0 ... n) {
        int own = a[i];
        if (own < pivot) less += packed_store_active(&a[less], own);
        else if (own > pivot) more += packed_store_active(&spare[more], own);
    }
    uniform int same = n - less - more;
    foreach (i = 0 ... same) a[less + i] = pivot;
    foreach (i = 0 ... more) a[less + same + i] = spare[i];
    divide(a, spare, less);
    divide(a + less + same, spare, more);
}
export void f(uniform int a[], uniform int n) {
    uniform int spare[128];
    foreach (i = 0 ... n) a[i] = (i * 7919 + a[i]) & 1023;
    divide(a, spare, n);
}";

#[test]
fn functions_that_call_themselves_keep_their_loops() {
    agree(DIVIDE, &Limits::default());
    for engine in jits() {
        let module = soon_hot(engine, DIVIDE);
        (0..20).for_each(|_| drop(run(&module)));
        let divide = loops(&module).into_iter().filter(|l| l.versions.iter().any(|v| v.region.pc == 0));
        let regions: Vec<_> = divide.flat_map(|l| l.versions).filter(|v| v.entries > 0).collect();
        assert!(!regions.is_empty(), "{engine}: no function was compiled");
        for version in regions {
            let cuts = version.region.exits.iter().filter(|exit| exit.reason == ExitReason::Cut).count();
            assert_eq!(cuts, 0, "{engine}: a function that would fit is in pieces\n{}", version.region);
        }
    }
}

/// How often regions of functions were entered at the functions' beginning, and behind that.
fn entries_by_place(module: &Module) -> [u64; 2] {
    let mut sums = [0; 2];
    versions(module).iter().for_each(|v| sums[(v.region.pc != 0) as usize] += v.entries);
    sums
}

/// The same, in a call of a module that has been called often.
fn entries_at_last(module: &Module) -> [u64; 2] {
    (0..12).for_each(|_| drop(run(module)));
    let before = entries_by_place(module);
    run(module);
    let after = entries_by_place(module);
    std::array::from_fn(|i| after[i] - before[i])
}

/// A region that makes a call comes back and goes on: what follows is not a region of its own.
#[test]
fn regions_come_back_from_calls() {
    let rounds = "for (uniform int round = 0; round < 60; ++round) foreach (i = 0 ... n) a[i] +=";
    let text = TREE.replace("foreach (i = 0 ... n) a[i] =", rounds);
    for engine in jits() {
        let module = soon_hot(engine, &text);
        let [functions, others] = entries_at_last(&module);
        assert!(functions > 4 * others, "{engine}: {functions} entries of functions, {others} of other regions");
    }
}

/// Each node of a tree is visited by a call.
const WALK: &str = "static void walk(uniform int a[], uniform int at, uniform int n, uniform int depth) {
    a[at] += depth;
    for (uniform int k = 1; k <= 6; ++k) {
        if (6 * at + k < n) walk(a, 6 * at + k, n, depth + 1);
    }
}
export void f(uniform int a[], uniform int n) { walk(a, 0, n, 1); }";

/// That holds from the first call of a function on, and however often a region has made calls that nothing follows from any more.
#[test]
fn recursion_is_not_left_in_the_midst() {
    agree(WALK, &Limits::default());
    for engine in jits() {
        let module = soon_hot(engine, WALK);
        let mut a = vec![0; 1555];
        let n = a.len() as i32;
        let mut calls = |times: i32| {
            (0..times).for_each(|_| drop(module.call("f", &[Value::slice_mut(&mut a), n.into()]).unwrap()));
            entries_by_place(&module)
        };
        let before = calls(200);
        let after = calls(100);
        let [functions, others] = [0, 1].map(|i| after[i] - before[i]);
        assert!(functions > 0 && others * 1000 < functions, "{engine}: {functions} functions, {others} other regions");
        assert!((0..n).zip(&a).all(|(at, &sum)| sum == 300 * depth_of(at)), "{engine}");
    }
}

/// The depth of a node of that tree.
fn depth_of(at: i32) -> i32 {
    if at == 0 { 1 } else { depth_of((at - 1) / 6) + 1 }
}

/// A pointer to a function that a region knows, from the program or as it has been the same for long, is a call of that function, and part
/// of the region.
#[test]
fn functions_that_are_known_are_called_by_name() {
    let text = "
typedef int (*uniform Function)(int);
noinline static int more(int x) { return x + 1; }
noinline static int twice(int x) { return 2 * x; }
noinline static void map(uniform int a[], uniform int n, uniform Function each) {
    foreach (i = 0 ... n) a[i] = each(a[i]);
}
export void f(uniform int a[], uniform int n) {
    Function known = &more;
    for (uniform int round = 0; round < 20; ++round) {
        foreach (i = 0 ... n) a[i] = known(a[i]);
        map(a, n, &twice);
    }
}";
    let indirect = |region: &Region| {
        let kinds = region.blocks.iter().flat_map(|block| &block.insts).map(|inst| inst.kind);
        kinds.filter(|kind| matches!(kind, Kind::CallIndirect { .. })).count()
    };
    for engine in jits() {
        let jit = JitSettings { hot: 2, same_arguments: 3, background: false, ..JitSettings::default() };
        let options = Options { engine, jit, width: Width::DEFAULT, ..Options::default() };
        let module = Module::compile("links.ispc", text, &options).unwrap();
        let regions = regions_at_last(&module);
        assert!(!regions.is_empty(), "{engine}");
        for region in regions {
            assert_eq!(indirect(&region), 0, "{engine}:\n{region}");
        }
    }
    agree(text, &Limits::default());
}

/// Lanes that go down in different ways to functions that trap, allocate, free, launch and print, each deep in calls: what has called is
/// left in the midst of them.
const INTERRUPTED: &str = "static task void mark(uniform int a[], uniform int at) { a[at] += 1; }
static int down(uniform int a[], uniform int n, uniform int depth, int x) {
    uniform int own[4] = { depth, n, 3, depth * 5 };
    int found = 0;
    if (depth == 0) {
        if (n == 3) { launch[2] mark(a, 60); sync; }
        if (n == 5) { uniform int * uniform p = uniform new uniform int[3]; p[1] = 7; found = p[1]; delete[] p; }
        if (n == 7) print(\"% \", x);
        return found + a[(x * 7 + n) % 50] / (1 + (x & 7));
    }
    foreach_unique (u in x & 3) {
        found += down(a, n, depth - 1, x + u) * own[u];
        own[u] += depth;
    }
    if (x & 1) found ^= down(a, n, depth - 1, x >> 1) + own[1];
    return found + own[0] + own[3];
}
export void f(uniform int a[], uniform int n) {
    for (uniform int round = 0; round < 8; ++round) {
        foreach (i = 0 ... 40) a[i] = (a[i] + down(a, round, 6, i + round)) & 4095;
    }
    foreach (i = 0 ... 8) a[n - 1 - i] = down(a, 100, 5, i + (a[0] & 1) * 1000000);
}";

#[test]
fn what_has_called_may_be_left_in_the_midst_of_a_call() {
    agree(INTERRUPTED, &Limits::default());
    for fuel in [500, 5003, 20011] {
        agree(INTERRUPTED, &Limits { fuel: Some(fuel), ..Limits::default() });
    }
}

/// Functions that are inlined at the same place of their callers' frames hand constants to calls that come back.
const CONSTANTS: &str = "typedef int (*Op)(int, uniform int);
static int times(int x, uniform int k) { for (uniform int j = 0; j < 3; ++j) x = x * k + j; return x; }
static int flip(int x, uniform int k) { for (uniform int j = 0; j < 3; ++j) x = (x ^ k) + j; return x; }
static noinline int deep(uniform int k, int x, uniform int depth) {
    if (depth <= 0) return x * k;
    return deep(k + 1, x + 1, depth - 1) + k;
}
static noinline int first(int x, uniform Op op) { return op(x, 12345) + deep(31, x, 2); }
static noinline int second(int x, uniform Op op) { return op(x, 777) ^ deep(-5, x, 3); }
export void f(uniform int a[], uniform int n) {
    uniform Op ops[2] = { times, flip };
    for (uniform int round = 0; round < 40; ++round)
        foreach (i = 0 ... n) a[i] += first(i, ops[round & 1]) + second(i, ops[(round >> 1) & 1]);
}";

#[test]
fn calls_take_constants() {
    agree(CONSTANTS, &Limits::default());
    let text = CONSTANTS.replace("round < 40", "round < 4000");
    agree_in(&text, &Limits::default(), &[JitSettings { background: false, ..JitSettings::default() }]);
}

/// Functions that call themselves with arguments that stay the same for long, then change; what is inlined into them has memory that nobody
/// enters, and what is called in turn some whose addresses are seen.
const SPECIAL: &str = "static inline int shifted(int x, uniform int by) {
    int own[4] = { x, x + 1, x + 2, x + 3 };
    return own[by] + own[3 - by];
}
static noinline int place(uniform int n, uniform int depth) {
    uniform int own[8];
    own[n & 7] = n;
    uniform int * uniform at = &own[n & 7];
    int here = (int)((uniform uint64)at >> 40) + *at + shifted(n, depth & 3);
    return depth == 0 ? here : place(n + 1, depth - 1) * 3 + here;
}
static noinline int walk(uniform int n, uniform int times) {
    if (n == 0) return place(times, 6);
    int sum = 0;
    for (uniform int j = 0; j < 3; ++j) sum += times * shifted(programIndex + n, 1 + (j & 1));
    return sum + walk(n - 1, times) - walk(n / 2, times);
}
export void f(uniform int a[], uniform int n) {
    for (uniform int round = 0; round < 300; ++round) a[programIndex] += walk(9, round / 100) + place(round, 8);
}";

#[test]
fn fast_calls_are_of_versions_for_their_constants() {
    let soon = JitSettings { hot: 2, calls: 2, same_arguments: 9, background: false, ..JitSettings::default() };
    agree_in(SPECIAL, &Limits::default(), &[soon]);
}

/// A loop that goes round often and calls, so that it is left for somebody to look, and polls in the midst of slices of fuel.
const ROUNDS: &str = "static noinline int g(int x, uniform int depth) {
    if (depth <= 0) return x * 3;
    return g(x + 1, depth - 1) + 1;
}
export void f(uniform int a[], uniform int n) {
    for (uniform int round = 0; round < 900; ++round) {
        int x = round + programIndex;
        for (uniform int k = 0; k < 37 + (a[0] & 7); ++k) x = x * 5 + a[k & 15];
        a[programIndex] += g(x, 6);
    }
}";

/// A recursion without an end, of frames that take fuel to be made.
const LARGE_FRAMES: &str = "static noinline int down(int x, uniform int n) {
    uniform int own[40000];
    own[n & 31] = n;
    if (any(x < -5)) return n;
    return down(x + 1, n + 1) + x + own[(n + 1) & 31];
}
export void f(uniform int a[], uniform int n) {
    a[programIndex] = down(programIndex, 0);
}";

/// The least fuel with which the interpreter comes to the end that it comes to with any more.
fn least_fuel(text: &str) -> u64 {
    let ends = |fuel| {
        let limits = Limits { fuel: Some(fuel), ..Limits::default() };
        let options = Options { limits, engine: Engine::Interp, threads: Some(1), ..Options::default() };
        run(&Module::compile("links.ispc", text, &options).unwrap())
    };
    let (mut too_little, mut enough) = (0, 1 << 24);
    let expected = ends(enough);
    while enough - too_little > 1 {
        let fuel = (enough + too_little) / 2;
        if ends(fuel) == expected { enough = fuel } else { too_little = fuel }
    }
    enough
}

#[test]
fn calls_that_come_back_take_the_same_fuel() {
    // Under stress a frame that takes fuel may take a unit more.
    let calm: Vec<_> = modes().into_iter().filter(|jit| jit.stress.is_none()).collect();
    for (text, modes) in [(ROUNDS, modes()), (LARGE_FRAMES, calm)] {
        let least = least_fuel(text);
        for fuel in [least, least - 1] {
            agree_in(text, &Limits { fuel: Some(fuel), ..Limits::default() }, &modes);
        }
    }
}
