//! What the JIT makes of loops: that it compiles them, which variants of their bodies there are, how they are left, and why
//! some are not compiled. That results are right is for the case files, which run with every loop compiled.

use spmdvm::jit::Variant;
use spmdvm::jit::abort::Abort;
use spmdvm::jit::dominance::Dominators;
use spmdvm::jit::engine::LoopReport;
use spmdvm::jit::ir::{Block, BlockId, End, ExitReason, Inst, Kind, Region};
use spmdvm::jit::passes::licm::Loops;
use spmdvm::vm::Op;
use spmdvm::vm::types::Ty;
use spmdvm::{CallError, Engine, JitSettings, Limits, Module, Options, TrapKind, Value};
use spmdvm_tests::compiled::{self, SAXPY, jits, loops, number, run_saxpy, until_entered};
use spmdvm_tests::subject::engines;
use std::collections::BTreeSet;

fn module(text: &str, settings: JitSettings) -> Module {
    compiled::module(Engine::Ir, text, settings)
}

/// The only region of a module's only hot loop.
fn only_region(module: &Module) -> Region {
    let loops = loops(module);
    assert_eq!(loops.len(), 1, "{loops:?}");
    assert_eq!(loops[0].aborted, None);
    assert_eq!(loops[0].versions.len(), 1);
    Region::clone(&loops[0].versions[0].region)
}

/// The blocks that are in a loop of the region, but not the cold ones.
fn looping(region: &Region) -> Vec<&Block> {
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    let ids = (0..region.blocks.len() as u32).map(BlockId);
    ids.filter(|&b| loops.of(b).is_some()).map(|b| region.block(b)).filter(|b| !b.cold).collect()
}

fn has(block: &Block, test: impl Fn(&Kind) -> bool) -> bool {
    block.insts.iter().any(|inst| test(&inst.kind))
}

fn is_op(kind: &Kind, wanted: Op) -> bool {
    matches!(kind, Kind::Op { op, .. } if *op == wanted)
}

#[test]
fn a_body_with_all_lanes_active_has_no_blends_and_no_gathers() {
    let module = module(SAXPY, JitSettings::eager());
    run_saxpy(&module, 160);
    let region = only_region(&module);
    let bodies = looping(&region);
    let plain: Vec<_> = bodies.iter().filter(|b| has(b, |k| matches!(k, Kind::StoreLanes { .. }))).collect();
    // One that checks, and one for rounds that need not.
    assert_eq!(plain.len(), 2, "{region}");
    assert!(plain.iter().any(|b| !has(b, |k| matches!(k, Kind::Guard { .. }))), "{region}");
    let masked = |k: &Kind| is_op(k, Op::Select) || matches!(k, Kind::Gather { .. } | Kind::Scatter { .. });
    assert!(plain.iter().all(|b| !has(b, masked)), "{region}");
    assert!(plain.iter().all(|b| has(b, |k| matches!(k, Kind::LoadLanes { .. }))), "{region}");
}

#[test]
fn short_loops_are_unrolled_and_elements_of_local_arrays_are_values() {
    let text = "export uniform int f(const uniform int a[], uniform int n) {
        uniform int sums[4] = { 0, 0, 0, 0 }, seen[8];
        for (uniform int j = 0; j < n; ++j) {
            for (uniform int t = 0; t < 4; ++t) sums[t] += a[j] * t;
            seen[j & 7] = sums[3];
        }
        return sums[0] + 10 * sums[1] + 100 * sums[2] + 1000 * sums[3] + seen[0];
    }";
    let a: Vec<i32> = (0..100).collect();
    let module = module(text, JitSettings::eager());
    let sum = |n: i32| n * (n - 1) / 2;
    assert_eq!(number(&module, &[Value::slice(&a), 100.into()]), sum(100) * 3210 + 3 * sum(97));
    let regions: Vec<_> = loops(&module).into_iter().flat_map(|l| l.versions).map(|v| v.region).collect();
    let accesses = |region: &Region, test: fn(Kind) -> bool| {
        let insts = looping(region).into_iter().flat_map(|b| &b.insts);
        insts.filter(|inst| test(inst.kind)).count()
    };
    let units = |inst: &Inst| if let Kind::Tick { units, .. } = inst.kind { units } else { 0 };
    let fuel = |region: &Region| looping(region).iter().flat_map(|b| &b.insts).map(units).sum::<u32>();
    let unrolled = |region: &&std::sync::Arc<Region>| fuel(region) >= 5;
    let region = regions.iter().find(unrolled).unwrap_or_else(|| panic!("no loop was unrolled: {regions:?}"));
    // In the body that checks, and in its copy if there is one: of `a` in every round, and of `seen`.
    let bodies = looping(region).len().min(2);
    assert!((1..=4 * bodies).contains(&accesses(region, Kind::is_plain_load)), "{region}");
    assert!((1..=bodies).contains(&accesses(region, Kind::is_plain_store)), "{region}");
}

/// A tile of sums that a loop adds to row by row, more than a vector in each.
#[test]
fn rows_of_a_local_array_that_take_several_vectors_are_values() {
    let text = "static void add(const uniform int a[], uniform int n, uniform int out[]) {
        uniform int tile[3][2 * programCount];
        foreach (x = 0 ... 2 * programCount)
            for (uniform int y = 0; y < 3; ++y) tile[y][x] = 0;
        for (uniform int i = 0; i < n; ++i)
            foreach (x = 0 ... 2 * programCount) {
                int own = a[i + x];
                for (uniform int y = 0; y < 3; ++y) tile[y][x] += own * (i + y);
            }
        foreach (x = 0 ... 2 * programCount)
            for (uniform int y = 0; y < 3; ++y) out[y * 2 * programCount + x] += tile[y][x];
    }
    export void f(const uniform int a[], uniform int n, uniform int out[]) {
        for (uniform int round = 0; round < 3; ++round) add(a, n, out);
    }";
    let module = module(text, JitSettings::eager());
    let lanes = Options::default().width.lanes();
    let a: Vec<i32> = (0..100 + 2 * lanes as i32).collect();
    let mut out = vec![0; 3 * 2 * lanes];
    module.call("f", &[Value::slice(&a), 100.into(), Value::slice_mut(&mut out)]).unwrap();
    let sum = |y: i32, x: i32| (0..100).map(|i| (i + x) * (i + y)).sum::<i32>();
    let expected: Vec<i32> = (0..3).flat_map(|y| (0..2 * lanes as i32).map(move |x| 3 * sum(y, x))).collect();
    assert_eq!(out, expected);
    let regions = compiled::versions(&module).into_iter().map(|v| v.region);
    let region = regions.max_by_key(|region| region.blocks.len()).expect("a region");
    let insts = || region.blocks.iter().flat_map(|b| &b.insts);
    let hosts: Vec<_> = insts().filter(|i| matches!(i.kind, Kind::FrameHost { .. })).filter_map(|i| i.result).collect();
    let in_frame = |inst: &&Inst| matches!(inst.kind, Kind::StoreLanes { .. }) && hosts.contains(&inst.args[0]);
    assert_eq!(insts().filter(in_frame).count(), 0, "{region}");
    assert!(insts().any(|inst| is_op(&inst.kind, Op::Mul)), "{region}");
}

#[test]
fn a_tile_of_sixteen_rows_is_kept_in_values() {
    let text = "export void f(uniform int n, const uniform float a[], const uniform float b[], uniform float c[]) {
        uniform float tile[256];
        foreach (i = 0 ... 256) tile[i] = 0;
        for (uniform int k = 0; k < n; ++k)
            for (uniform int row = 0; row < 16; ++row) {
                uniform float factor = a[row * n + k];
                foreach (column = 0 ... 16) tile[row * 16 + column] += factor * b[k * 16 + column];
            }
        foreach (i = 0 ... 256) c[i] = tile[i];
    }";
    let module = module(text, JitSettings::eager());
    let (a, b, mut c) = (vec![2f32; 16 * 50], vec![3f32; 16 * 50], vec![0f32; 256]);
    module.call("f", &[50.into(), Value::slice(&a), Value::slice(&b), Value::slice_mut(&mut c)]).unwrap();
    assert_eq!(c, vec![300f32; 256]);
    let regions: Vec<_> = loops(&module).into_iter().flat_map(|l| l.versions).map(|v| v.region).collect();
    let of = |region: &Region, test: fn(&Kind) -> bool| {
        looping(region).into_iter().flat_map(|b| &b.insts).filter(|inst| test(&inst.kind)).count()
    };
    let in_values = |region: &std::sync::Arc<Region>| {
        of(region, |kind| is_op(kind, Op::Fma)) >= 16 && of(region, |kind| kind.is_plain_store()) == 0
    };
    assert!(regions.iter().any(in_values), "{regions:?}");
}

#[test]
fn loops_that_are_long_or_whose_bounds_are_not_known_are_not_unrolled() {
    for bound in ["17", "m"] {
        let text = format!(
            "export uniform int f(uniform int n, uniform int m) {{
                uniform int sum = 0;
                for (uniform int j = 0; j < n; ++j)
                    for (uniform int t = 0; t < {bound}; ++t) sum += t;
                return sum;
            }}"
        );
        let module = module(&text, JitSettings::eager());
        assert_eq!(number(&module, &[50.into(), 17.into()]), 50 * 136);
        for version in loops(&module).into_iter().flat_map(|l| l.versions) {
            let insts = version.region.blocks.iter().flat_map(|b| &b.insts);
            assert!(insts.filter(|inst| matches!(inst.kind, Kind::Tick { .. })).count() < 6, "{}", version.region);
        }
    }
}

#[test]
fn what_bounds_depend_on_is_computed_before_the_loop() {
    let module = module(SAXPY, JitSettings::eager());
    run_saxpy(&module, 160);
    let region = only_region(&module);
    let bound = |k: &Kind| {
        matches!(k, Kind::IndexLow { .. } | Kind::IndexSpan { .. } | Kind::RegionLen { .. } | Kind::HostAddress { .. })
    };
    assert!(region.blocks.iter().any(|b| has(b, bound)), "{region}");
    assert!(looping(&region).iter().all(|b| !has(b, bound)), "{region}");
}

#[test]
fn lanes_that_are_proved_to_lie_in_a_row_are_not_tested() {
    let text = "export void f(const uniform int a[], uniform int b[], uniform int n) {
        for (int i = programIndex; i < n; i += programCount) b[i] = a[i] + 1;
    }";
    let module = module(text, JitSettings::eager());
    let (a, mut b) = ((0..300).collect::<Vec<i32>>(), vec![0i32; 300]);
    for n in [300, 293, 5] {
        b.fill(0);
        module.call("f", &[Value::slice(&a), Value::slice_mut(&mut b), (n as i32).into()]).unwrap();
        assert!(b.iter().enumerate().all(|(i, &b)| b == if i < n { i as i32 + 1 } else { 0 }), "{b:?}");
    }
    let loops = loops(&module);
    let regions: Vec<_> = loops.iter().flat_map(|l| &l.versions).map(|v| &v.region).collect();
    let all = |test: fn(&Kind) -> bool| regions.iter().flat_map(|r| &r.blocks).any(|b| has(b, test));
    assert!(all(|k| matches!(k, Kind::LoadLanes { .. })), "{}", regions[0]);
    assert!(all(|k| matches!(k, Kind::StoreMasked { .. } | Kind::StoreLanes { .. })), "{}", regions[0]);
    assert!(!all(|k| is_op(k, Op::Ne)), "{}", regions[0]);
}

#[test]
fn packed_stores_are_checked_by_their_first_element_and_their_number() {
    let text = "export uniform int f(const uniform int a[], uniform int b[], uniform int n) {
        uniform int kept = 0;
        foreach (i = 0 ... n)
            if (a[i] % 3 == 0) kept += packed_store_active(&b[kept], a[i]);
        return kept;
    }";
    let module = module(text, JitSettings::eager());
    let (a, mut b) = ((0..600).collect::<Vec<i32>>(), vec![0i32; 200]);
    for _ in 0..3 {
        b.fill(0);
        module.call("f", &[Value::slice(&a), Value::slice_mut(&mut b), 600i32.into()]).unwrap();
        assert!(b.iter().zip(0..).all(|(&b, i)| b == 3 * i), "{b:?}");
    }
    let loops = loops(&module);
    let region = &loops[0].versions[0].region;
    let bodies = looping(region);
    assert!(bodies.iter().any(|b| has(b, |k| matches!(k, Kind::StorePacked { .. }))), "{region}");
    let asked = |k: &Kind| matches!(k, Kind::Scatter { .. } | Kind::IndexLow { .. } | Kind::IndexSpan { .. });
    assert!(!bodies.iter().any(|b| has(b, asked)), "{region}");
}

#[test]
fn all_arrays_of_a_round_are_checked_at_once() {
    let module = module(SAXPY, JitSettings::eager());
    run_saxpy(&module, 160);
    let region = only_region(&module);
    let bodies = looping(&region);
    let body = bodies.iter().find(|b| has(b, |k| matches!(k, Kind::StoreLanes { .. }))).unwrap();
    assert_eq!(body.insts.iter().filter(|inst| matches!(inst.kind, Kind::Guard { .. })).count(), 1, "{region}");
}

#[test]
fn what_constant_tables_hold_is_known() {
    let text = "static const uniform int factors[3] = { 7, 11, 13 };
    static const uniform int rest[4] = { 1, 2, 3, 4 };
    export void f(uniform int a[], uniform int n) {
        foreach (i = 0 ... n) {
            for (uniform int k = 0; k < 3; ++k) a[i] += factors[k];
            a[i] ^= rest[n & 3];
        }
    }";
    let module = module(text, JitSettings::eager());
    let mut a = vec![1i32; 160];
    module.call("f", &[Value::slice_mut(&mut a), 160.into()]).unwrap();
    assert_eq!(a, [(1 + 31) ^ 1; 160]);
    let region = only_region(&module);
    let first_args = |of: fn(Kind) -> bool| -> BTreeSet<_> {
        let all = region.blocks.iter().flat_map(|block| &block.insts);
        all.filter(|inst| of(inst.kind)).map(|inst| inst.args[0]).collect()
    };
    // Of the table that is read at an index, the bounds are constants.
    let loads = first_args(|kind| matches!(kind, Kind::Load { .. }));
    let bounds = first_args(|kind| matches!(kind, Kind::IndexSpan { .. }));
    assert_eq!((loads.len(), bounds.len()), (1, 1), "{region}");
}

#[test]
fn accesses_under_a_mask_are_checked_before_a_loop() {
    let text = "export uniform float f(uniform int label[], uniform float x[], uniform float y[], uniform int n) {
        float s = 0, t = 0;
        foreach (i = 0 ... n) {
            if (label[i] == 3) { s += x[i]; t += y[i]; }
        }
        return reduce_add(s) + reduce_add(t);
    }";
    let mut settings = JitSettings::eager();
    settings.variants.switch(Variant::SkipInactive, false);
    let module = module(text, settings);
    let (mut label, mut x) = (vec![3i32; 160], vec![1f32; 160]);
    let mut y = x.clone();
    let args = [Value::slice_mut(&mut label), Value::slice_mut(&mut x), Value::slice_mut(&mut y), 160.into()];
    module.call("f", &args).unwrap();
    let regions: Vec<Region> =
        loops(&module).iter().flat_map(|l| &l.versions).map(|version| Region::clone(&version.region)).collect();
    let loads = |b: &Block| b.insts.iter().filter(|inst| matches!(inst.kind, Kind::LoadLanes { .. })).count();
    let is_free = |b: &Block| !has(b, |kind| matches!(kind, Kind::Guard { .. }));
    let copies = regions.iter().flat_map(looping).filter(|b| loads(b) == 3 && is_free(b));
    assert_eq!(copies.count(), 1, "{}", regions[0]);
}

#[test]
fn the_partial_last_round_runs_in_the_same_region_under_a_mask() {
    let module = module(SAXPY, JitSettings::eager());
    run_saxpy(&module, 167);
    let loops = loops(&module);
    assert!(
        loops[0].versions.iter().any(|v| v
            .region
            .blocks
            .iter()
            .any(|b| has(b, |k| matches!(k, Kind::StoreMasked { .. }))))
    );
}

const ESCAPE: &str = "export void f(uniform int out[], uniform int n, uniform int most) {
    foreach (i = 0 ... n) {
        float z = 0; int k;
        for (k = 0; k < most; ++k) {
            if (z > i) break;
            z = z * 1.5f + 1;
        }
        out[i] = k;
    }
}";

#[test]
fn nothing_is_masked_until_lanes_part() {
    let module = module(ESCAPE, JitSettings { hot: 3, ..JitSettings::eager() });
    let mut out = vec![0i32; 64];
    for _ in 0..4 {
        module.call("f", &[Value::slice_mut(&mut out), 64.into(), 50.into()]).unwrap();
    }
    // The nest becomes one region once its outer loop is hot.
    let loops = loops(&module);
    let region = loops.iter().flat_map(|l| &l.versions).map(|v| &v.region).max_by_key(|r| r.blocks.len()).unwrap();
    let bodies = looping(region);
    let computes = |b: &&&Block| has(b, |k| is_op(k, Op::Fma) || is_op(k, Op::Mul));
    let blends = |b: &Block| has(b, |k| is_op(k, Op::Select));
    let masked = bodies.iter().filter(computes).any(|b| blends(b));
    let plain = bodies.iter().filter(computes).any(|b| !blends(b));
    assert!(masked && plain, "{region}");
}

#[test]
fn a_counter_that_is_equal_in_all_lanes_stays_scalar() {
    let text = "export void f(uniform int out[]) { int k; for (k = 0; k < 100; ++k) { } out[programIndex] = k; }";
    let module = module(text, JitSettings::eager());
    let mut out = vec![0i32; 16];
    module.call("f", &[Value::slice_mut(&mut out)]).unwrap();
    assert_eq!(out, [100; 16]);
    // Recorded in the first round, when the counter is a register that may differ between lanes: from memory on it varies.
    let nested = "export void f(uniform int out[]) {
        for (uniform int r = 0; r < 8; ++r) { int k; for (k = 0; k < 100; ++k) { } out[programIndex] = k; }
    }";
    let module = self::module(nested, JitSettings { hot: 4, ..JitSettings::eager() });
    module.call("f", &[Value::slice_mut(&mut out)]).unwrap();
    let loops = loops(&module);
    let outer = loops.iter().flat_map(|l| &l.versions).map(|v| &v.region).max_by_key(|r| r.blocks.len()).unwrap();
    let scalar_add = outer
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .any(|inst| is_op(&inst.kind, Op::Add) && inst.result.is_some_and(|v| !outer.ty(v).is_varying()));
    assert!(scalar_add, "{outer}");
}

#[test]
fn a_loop_that_is_left_in_every_round_is_given_up_with_the_reason() {
    let text =
        "export void f(uniform int a[], uniform int n) { for (uniform int i = 0; i < n; ++i) a[i] += a[i ^ 1]; }";
    let is_given_up = |seed| {
        // Under stress checks fail that hold.
        let module = module(text, JitSettings { trial: 20, stress: Some(seed), ..JitSettings::eager() });
        let mut a = [1i32; 1000];
        (0..20).for_each(|_| drop(module.call("f", &[Value::slice_mut(&mut a), 1000.into()]).unwrap()));
        let Some(Abort::LeavesTooOften(reason)) = loops(&module)[0].aborted else { return false };
        module
            .jit_text(spmdvm::Show::default())
            .contains(&format!("interpreted: it leaves compiled code in most rounds: {reason}"))
    };
    assert!((0..50).any(is_given_up));
}

#[test]
fn a_compiled_loop_prints_through_the_interpreter() {
    let text = "export void f(uniform int n) { for (uniform int i = 0; i < n; ++i) print(\"%\\n\", i); }";
    let module = module(text, JitSettings { trial: 20, ..JitSettings::eager() });
    let lines = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let sink = lines.clone();
    spmdvm::Run::new(&module).output(move |text| sink.lock().unwrap().push_str(text)).call("f", &[100.into()]).unwrap();
    let expected: String = (0..100).map(|i| format!("{i}\n")).collect();
    assert_eq!(*lines.lock().unwrap(), expected);
    assert_eq!(loops(&module)[0].aborted, None);
}

#[test]
fn frames_of_called_functions_need_no_region_of_memory_while_nothing_asks_for_one() {
    let text = "static int pick(int k) { int a[8]; for (uniform int i = 0; i < 8; ++i) a[i] = i * i; return a[k & 7]; }
        export void f(uniform int out[], uniform int n) { foreach (i = 0 ... n) out[i] = pick(i); }";
    let module = module(text, JitSettings::eager());
    let mut out = vec![0i32; 37];
    module.call("f", &[Value::slice_mut(&mut out), 37.into()]).unwrap();
    assert!(out.iter().enumerate().all(|(i, &x)| x == ((i & 7) * (i & 7)) as i32), "{out:?}");
    let count = |of: fn(&Kind) -> bool| {
        let regions = loops(&module).into_iter().flat_map(|l| l.versions).map(|v| v.region);
        regions.filter(|r| r.blocks.iter().any(|b| has(b, of))).count()
    };
    assert_ne!(count(|k| matches!(k, Kind::FramePass)), 0);
    assert_eq!(count(|k| matches!(k, Kind::FrameOpen { .. })), 0);
}

/// Returns whether each cycle of a region is a loop: entered at one block only.
fn cycles_are_loops(region: &Region) -> bool {
    let dominators = Dominators::new(region);
    let (mut seen, mut on_the_way) = (BTreeSet::from([BlockId(0)]), vec![(BlockId(0), 0)]);
    while let Some((block, next)) = on_the_way.last_mut() {
        let block = *block;
        let Some(to) = region.block(block).end.edges().nth(*next).map(|edge| edge.to) else {
            on_the_way.pop();
            continue;
        };
        *next += 1;
        if on_the_way.iter().any(|&(b, _)| b == to) && !dominators.dominates(to, block) {
            return false;
        }
        if seen.insert(to) {
            on_the_way.push((to, 0));
        }
    }
    true
}

/// The ways of the first turn meet those of the others where calls and branches are over.
#[test]
fn turns_of_lanes_are_a_loop() {
    let of_lanes =
        "foreach_active (l) { uniform int v = extract(x, l); if (v > 4) s += v * v; else s ^= v; out[i] = s; }";
    let calls = "foreach_active (l) { s += g(extract(x, l)); out[i] = s; }";
    for body in [of_lanes, calls] {
        let text = format!(
            "static uniform int g(uniform int v) {{ if (v > 4) return v * v; return v ^ 3; }}
            export void f(uniform int n, const uniform int a[], uniform int out[]) {{
                uniform int s = 0;
                foreach (i = 0 ... n) {{ int x = a[i]; if (x > 1) {{ {body} }} }}
            }}"
        );
        let module = module(&text, JitSettings::eager());
        let (a, mut out) = ((0..200).map(|i| i * 7 % 10).collect::<Vec<i32>>(), vec![0i32; 200]);
        module.call("f", &[200.into(), Value::slice(&a), Value::slice_mut(&mut out)]).unwrap();
        let regions: Vec<_> = loops(&module).into_iter().flat_map(|l| l.versions).map(|v| v.region).collect();
        let takes_turns = |r: &Region| r.blocks.iter().flat_map(|b| &b.insts).any(|inst| is_op(&inst.kind, Op::Ctz));
        assert!(regions.iter().any(|r| takes_turns(r)), "{regions:?}");
        for region in regions {
            assert!(cycles_are_loops(&region), "{region}");
        }
    }
}

#[test]
fn recursion_leads_from_region_to_region() {
    let text = "static uniform int fib(uniform int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }
        export uniform int f(uniform int n) { uniform int s = 0; for (uniform int i = 0; i < n; ++i) s += fib(i); return s; }";
    let module = module(text, JitSettings::eager());
    let result = module.call("f", &[12.into()]).unwrap();
    assert_eq!(format!("{result:?}"), format!("{:?}", interpreted(text).call("f", &[12.into()]).unwrap()));
    let exits =
        |l: &LoopReport| l.versions.iter().any(|v| v.region.exits.iter().any(|e| e.reason == ExitReason::LinkedCall));
    assert!(loops(&module).iter().any(exits));
    // However light the callee is, the call that a region was left for is no place for another to begin at.
    let given_up: Vec<_> = loops(&module).into_iter().filter_map(|l| l.aborted).collect();
    assert!(given_up.is_empty(), "{given_up:?}");
}

/// Of one element and, as lanes take turns, of each lane's.
#[test]
fn atomic_operations_are_those_of_the_machine() {
    let atomics = |text: &str| {
        let module = module(text, JitSettings::eager());
        let mut out = vec![0i32; 64];
        module.call("f", &[Value::slice_mut(&mut out), 40.into()]).unwrap();
        assert_eq!(out[0], 780, "{text}");
        let regions: Vec<_> = loops(&module).into_iter().flat_map(|l| l.versions).map(|v| v.region).collect();
        assert!(!regions.is_empty());
        regions.iter().flat_map(|r| &r.blocks).filter(|b| has(b, |k| matches!(k, Kind::Atomic { .. }))).count()
    };
    let uniform = "export void f(uniform int out[], uniform int n) {
        for (uniform int i = 0; i < n; ++i) atomic_add_global(&out[0], i); }";
    let varying =
        "export void f(uniform int out[], uniform int n) { foreach (i = 0 ... n) atomic_add_global(&out[0], i); }";
    assert_eq!([uniform, varying].map(|text| atomics(text) != 0), [true; 2]);
}

fn interpreted(text: &str) -> Module {
    Module::compile("test.ispc", text, &Options { engine: Engine::Interp, ..Options::default() }).unwrap()
}

/// Whatever the fuel, the run ends at the same place: with the same memory and the same trap.
#[test]
fn fuel_ends_runs_where_it_ends_them_in_the_interpreter() {
    let text = "static uniform int twice(uniform int x) { return 2 * x; }
        export void f(uniform int out[], uniform int n) {
            for (uniform int r = 0; r < n; ++r) {
                foreach (i = 0 ... 40) out[i] += twice(r);
                foreach_active (j) out[40] += 1;
                for (int k = 0; k < programIndex; ++k) out[41 + programIndex] += k;
            }
        }";
    let mut ends = std::collections::HashSet::new();
    for fuel in (0..120).chain([100_000]) {
        let run = |engine| {
            let limits = Limits { fuel: Some(fuel), ..Limits::default() };
            let options = Options { engine, limits, jit: JitSettings::eager(), ..Options::default() };
            let module = Module::compile("test.ispc", text, &options).unwrap();
            let mut out = vec![0i32; 60];
            let end = match module.call("f", &[Value::slice_mut(&mut out), 6.into()]) {
                Err(CallError::Trap(t)) => Some((t.trap().kind, t.trap().stack.first().map(|f| (f.function, f.pc)))),
                other => {
                    other.unwrap();
                    None
                }
            };
            (out, end)
        };
        let (expected, came) = (run(Engine::Interp), run(Engine::Ir));
        assert_eq!(came, expected, "fuel {fuel}");
        ends.insert(expected.1.is_some_and(|e| e.0 == TrapKind::OutOfFuel));
    }
    assert_eq!(ends.len(), 2, "some runs end early and some do not");
}

/// A trap in the middle of a compiled loop leaves exactly the memory that the interpreter leaves.
#[test]
fn a_trap_in_a_compiled_loop_is_the_interpreters() {
    let text = "export void f(uniform int out[], const uniform int by[], uniform int n) {
        foreach (i = 0 ... n) { out[i] = 1; if (i % 3 != 0) out[i] = 100 / by[i]; out[i] += 1; }
    }";
    for zero in [1usize, 17, 50, 51, 76] {
        let run = |engine| {
            let options = Options { engine, jit: JitSettings::eager(), ..Options::default() };
            let module = Module::compile("test.ispc", text, &options).unwrap();
            let (mut out, mut by) = (vec![0i32; 77], vec![3i32; 77]);
            by[zero] = 0;
            let result = module.call("f", &[Value::slice_mut(&mut out), Value::slice(&by), 77.into()]);
            (out, result.map(|_| ()).map_err(|e| e.to_string()))
        };
        let (expected, came) = (run(Engine::Interp), run(Engine::Ir));
        assert_eq!(came, expected, "zero at {zero}");
        assert_eq!(expected.1.is_err(), zero % 3 != 0);
    }
}

#[test]
fn regions_end_only_in_exits_that_exist() {
    let module = module(ESCAPE, JitSettings::eager());
    let mut out = vec![0i32; 64];
    module.call("f", &[Value::slice_mut(&mut out), 64.into(), 50.into()]).unwrap();
    for version in loops(&module).iter().flat_map(|l| &l.versions) {
        let region = &version.region;
        spmdvm::jit::ir::verify(region).unwrap();
        let ends = region.blocks.iter().filter(|b| matches!(b.end, End::Exit(_))).count();
        assert!(ends > 0);
        assert!(version.entries > 0);
    }
}

#[test]
fn loops_are_compiled_while_the_program_goes_on() {
    let module = module(SAXPY, JitSettings { hot: 2, ..JitSettings::default() });
    // However long the other thread takes, the results are right, and in the end there is compiled code.
    until_entered(&module, |_| run_saxpy(&module, 167));
}

#[test]
fn threads_share_compiled_loops() {
    let module = module(SAXPY, JitSettings { hot: 2, ..JitSettings::default() });
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..200).for_each(|n| run_saxpy(&module, n)));
        }
    });
    // A module may go while others run theirs.
    let other = self::module(SAXPY, JitSettings::eager());
    run_saxpy(&other, 100);
    drop(module);
    run_saxpy(&other, 100);
}

/// Counts instructions.
struct Counter(u64);

impl spmdvm::vm::Observer for Counter {
    fn after(&mut self, _: &spmdvm::vm::View<'_>) {
        self.0 += 1;
    }
}

#[test]
fn observers_see_every_instruction_on_every_engine() {
    let count = |&engine: &Engine| {
        let options = Options { engine, jit: JitSettings::eager(), ..Options::default() };
        let module = Module::compile("test.ispc", ESCAPE, &options).unwrap();
        let mut out = vec![0i32; 64];
        let mut counter = Counter(0);
        let args = [Value::slice_mut(&mut out), 64.into(), 50.into()];
        // Once unobserved, so that there is compiled code that could be entered.
        module.call("f", &args).unwrap();
        let export = module.exports()[0].clone();
        spmdvm::Run::new(&module).call_observed(&export, &args, &mut counter).unwrap();
        counter.0
    };
    let counts: Vec<u64> = engines().iter().map(count).collect();
    assert!(counts[0] > 300, "{counts:?}");
    assert!(counts.iter().all(|&n| n == counts[0]), "{counts:?}");
}

const SIMILAR: &str = "export void f(const uniform float a[], const uniform float b[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i], y = b[i], r = 0;
        if (x > 0)
            if (x > y) { float t = sqrt(x * x + 1); r = (t + y) / (t * y + 2); r = r / (1 + r * r); r = sqrt(r * r + t); }
            else { float t = sqrt(y * y + 1); r = (t + x) / (t * x + 2); r = r / (1 + r * r); r = sqrt(r * r + t); }
        out[i] = r;
    }
}";

#[test]
fn similar_arms_become_one_where_gangs_go_both_ways() {
    let run = |module: &Module, apart: f32| {
        let a: Vec<f32> = (0..1003).map(|i| (i * 37 % 101) as f32 - 20.0).collect();
        let b: Vec<f32> = (0..1003).map(|i| (i * 53 % 97) as f32 - 20.0 + apart).collect();
        let mut out = vec![0f32; a.len()];
        module.call("f", &[Value::slice(&a), Value::slice(&b), Value::slice_mut(&mut out), 1003.into()]).unwrap();
        out.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    // The roots in all code for a round.
    let roots = |module: &Module| -> usize {
        let versions = loops(module).into_iter().flat_map(|l| l.versions);
        let of = |block: &Block| block.insts.iter().filter(|i| is_op(&i.kind, Op::Sqrt)).count();
        versions.map(|v| looping(&v.region).into_iter().map(of).sum::<usize>()).max().expect("a version")
    };
    let settings = JitSettings { background: false, trial: u64::MAX, ..JitSettings::default() };
    for engine in jits() {
        let make = |engine, observe| {
            let jit = JitSettings { observe, ..settings.clone() };
            let options = Options { engine, jit, ..Options::default() };
            Module::compile("test.ispc", SIMILAR, &options).unwrap()
        };
        let reference = make(Engine::Interp, 0);
        let (unknown, mixed, apart) = (make(engine, 0), make(engine, 4000), make(engine, 4000));
        for _ in 0..4 {
            assert_eq!(run(&unknown, 0.0), run(&reference, 0.0));
            assert_eq!(run(&mixed, 0.0), run(&reference, 0.0));
            assert_eq!(run(&apart, 1000.0), run(&reference, 1000.0));
        }
        // A branch for each arm, and code for gangs that stay together: three times the two roots of an arm.
        let roots = [&unknown, &mixed, &apart].map(roots);
        assert!(roots[1] * 2 < roots[0] && roots[1] % 2 == 0, "{engine}: {roots:?}");
        // Where all go one way, the other arm is left out; and compiled when it is needed.
        assert!(roots[2] <= roots[1], "{engine}: {roots:?}");
        assert_eq!(run(&apart, 0.0), run(&reference, 0.0));
    }
}

const BY_REFERENCE: &str = "struct Hit { float t; float x; float normal; };
static void hit(Hit &h, float x, float at) {
    if (x > at && x < h.t) {
        h.t = x;
        h.x = x - at;
        h.normal = sqrt(h.x);
    }
}
export void f(const uniform float a[], uniform float b[], uniform int n) {
    foreach (i = 0 ... n) {
        Hit h;
        h.t = 1e30;
        hit(h, a[i], 1);
        hit(h, a[i], 2);
        b[i] = h.t;
    }
}";

fn run_by_reference(module: &Module, n: usize) {
    let a: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
    let mut b = vec![0f32; n];
    module.call("f", &[Value::slice(&a), Value::slice_mut(&mut b), (n as i32).into()]).unwrap();
    assert!(a.iter().zip(&b).all(|(&a, &b)| b == if a > 1.0 { a } else { 1e30 }));
}

#[test]
fn a_struct_handed_on_by_reference_is_kept_in_values() {
    let module = module(BY_REFERENCE, JitSettings::eager());
    run_by_reference(&module, 160);
    let region = only_region(&module);
    let kinds = || region.blocks.iter().flat_map(|b| &b.insts).map(|inst| inst.kind);
    let in_frame = |k: &Kind| matches!(k, Kind::FrameHost { .. } | Kind::Clear { .. } | Kind::StoreMasked { .. });
    let others = kinds().filter(in_frame).collect::<Vec<_>>();
    assert!(others.iter().all(|k| matches!(k, Kind::StoreMasked { .. })), "{others:?}\n{region}");
    // Nobody reads the normal, so nobody computes it.
    assert!(!kinds().any(|k| is_op(&k, Op::Sqrt)), "{region}");
}

#[test]
fn so_are_eighty_of_them() {
    let structs: String = (1..80).map(|k| format!("Pair p{k} = next(p{});\n", k - 1)).collect();
    let text = format!(
        "struct Pair {{ int a, b; }};
        static inline Pair next(const Pair &p) {{ Pair q; q.a = p.b; q.b = p.a + p.b; return q; }}
        export void f(uniform int to[], uniform int n) {{
            foreach (i = 0 ... n) {{
                Pair p0 = {{ i, 1 }};
                {structs}
                to[i] = p79.b ^ p40.a ^ p0.b;
            }}
        }}"
    );
    let module = module(&text, JitSettings::eager());
    let mut to = vec![0i32; 160];
    module.call("f", &[Value::slice_mut(&mut to), 160.into()]).unwrap();
    for (i, &x) in to.iter().enumerate() {
        let pairs = (0..80).scan((i as i32, 1i32), |p, _| Some(std::mem::replace(p, (p.1, p.0.wrapping_add(p.1)))));
        let pairs: Vec<(i32, i32)> = pairs.collect();
        assert_eq!(x, pairs[79].1 ^ pairs[40].0 ^ pairs[0].1, "{i}");
    }
    let region = only_region(&module);
    let loads = |b: &&Block| has(b, |kind| matches!(kind, Kind::LoadLanes { .. }));
    assert_eq!(looping(&region).into_iter().filter(loads).count(), 0, "{region}");
}

#[test]
fn what_a_round_has_stored_the_next_one_does_not_load() {
    let module = module(
        "export void f(uniform int a[], uniform int n) {
            foreach (i = 0 ... n) {
                int row[33];
                for (uniform int k = 0; k <= 32; ++k) row[k] = i + k;
                for (uniform int j = 0; j < n; ++j)
                    for (uniform int k = 1; k <= n / 5; ++k) row[k] = row[k - 1] ^ row[k];
                a[i] = row[32];
            }
        }",
        JitSettings::eager(),
    );
    let mut a = vec![0i32; 160];
    module.call("f", &[Value::slice_mut(&mut a), 160.into()]).unwrap();
    let regions: Vec<Region> =
        loops(&module).iter().flat_map(|l| &l.versions).map(|version| Region::clone(&version.region)).collect();
    let loads = |b: &Block| b.insts.iter().filter(|i| matches!(i.kind, Kind::LoadLanes { .. })).count();
    let stores = |b: &Block| has(b, |kind| matches!(kind, Kind::StoreLanes { .. }));
    let lean = |b: &&Block| stores(b) && !has(b, |kind| matches!(kind, Kind::Guard { .. }));
    let copies: Vec<usize> =
        regions.iter().flat_map(looping).filter(lean).filter(|b| loads(b) != 0).map(loads).collect();
    assert!(!copies.is_empty() && copies.iter().all(|&loads| loads == 1), "{copies:?} {regions:?}");
}

#[test]
fn a_local_array_of_some_kilobytes_is_cleared_in_compiled_code() {
    let module = module(
        "export void f(uniform int a[], uniform int n) {
            foreach (i = 0 ... n) {
                int row[48];
                for (uniform int k = 0; k < n; ++k) row[k & 31] += i;
                a[i] = row[5];
            }
        }",
        JitSettings::eager(),
    );
    let mut a = vec![0i32; 160];
    module.call("f", &[Value::slice_mut(&mut a), 160.into()]).unwrap();
    assert!(a.iter().enumerate().all(|(i, &x)| x == 5 * i as i32), "{a:?}");
    let regions: Vec<Region> =
        loops(&module).iter().flat_map(|l| &l.versions).map(|version| Region::clone(&version.region)).collect();
    let blocks = || regions.iter().flat_map(|region| &region.blocks);
    assert!(blocks().any(|b| has(b, |kind| matches!(kind, Kind::Clear { bytes: 3072 }))), "{regions:?}");
    assert!(!blocks().any(|b| has(b, |kind| matches!(kind, Kind::Interpret { .. }))), "{regions:?}");
}

#[test]
fn a_struct_whose_address_gets_away_stays_in_memory() {
    let text = BY_REFERENCE.replace("export void f(", "static varying Hit * uniform kept;\nexport void f(");
    let text = text.replace("h.t = 1e30;", "h.t = 1e30; kept = &h;");
    let module = module(&text, JitSettings::eager());
    run_by_reference(&module, 160);
    let region = only_region(&module);
    assert!(region.blocks.iter().flat_map(|b| &b.insts).any(|inst| is_op(&inst.kind, Op::Sqrt)), "{region}");
    assert!(region.exits.iter().all(|exit| exit.cells.is_empty()), "{region}");
}

#[test]
fn what_may_be_read_of_a_struct_is_written_back_at_exits() {
    let module = module(BY_REFERENCE, JitSettings::eager());
    run_by_reference(&module, 160);
    let region = only_region(&module);
    // Before the second call the distance that the first has left, and nothing else, can still be read.
    let written: Vec<usize> = region.exits.iter().map(|exit| exit.cells.len()).collect();
    assert!(written.contains(&1), "{written:?}\n{region}");
    assert!(written.iter().all(|&n| n <= 3), "{written:?}\n{region}");
}

/// What is asked about the rows of lanes is asked once, before the loop that goes through them.
#[test]
fn the_regions_of_lanes_are_looked_up_before_the_loop() {
    let text = "export uniform int f(uniform int n) {
        uniform int * uniform all[programCount];
        for (uniform int k = 0; k < programCount; ++k) {
            all[k] = uniform new uniform int[n];
            for (uniform int i = 0; i < n; ++i) all[k][i] = i;
        }
        uniform int * row = all[programIndex];
        int sum = 0;
        for (uniform int i = 0; i < n; ++i) {
            sum += row[i];
            row[i] = sum;
        }
        return reduce_max(sum);
    }";
    let settings = JitSettings { observe: 500, hot: 4, ..JitSettings::eager() };
    let module = module(text, settings);
    assert_eq!(number(&module, &[100.into()]), 4950);
    let regions: Vec<_> = compiled::versions(&module).into_iter().map(|v| v.region).collect();
    let is_gather = |k: &Kind| matches!(k, Kind::Gather { .. });
    let walks = |region: &&std::sync::Arc<Region>| looping(region).iter().any(|b| has(b, is_gather));
    let region = regions.iter().find(walks).unwrap_or_else(|| panic!("no loop gathers: {regions:?}"));
    let asks = |k: &Kind| matches!(k, Kind::LoadAny { .. } | Kind::StoreAny { .. } | Kind::RegionLen { .. });
    assert!(!looping(region).iter().any(|b| has(b, asks)), "{region}");
    assert!(looping(region).iter().any(|b| has(b, |k| matches!(k, Kind::Scatter { .. }))), "{region}");
    let lookups = region.blocks.iter().flat_map(|b| &b.insts).filter(|inst| matches!(inst.kind, Kind::RegionBase));
    assert_eq!(lookups.count(), 1, "{region}");
}

/// Pointers that are sums from one pointer are accessed as an array is, if the distances cannot leave the range of offsets.
#[test]
fn sums_from_one_pointer_are_indices() {
    let text = "export void f(uniform int a[], uniform int n, uniform int out[]) {
        for (uniform int k = 0; k < n; ++k) {
            uniform int * from = a + (programIndex * 5 + k) % 64;
            out[k] += reduce_add(from[0] + from[1]);
            *(a + (programIndex + k % 8)) = k;
        }
    }";
    let module = module(text, JitSettings::eager());
    let (mut a, mut out) = (vec![1; 100], vec![0; 100]);
    module.call("f", &[Value::slice_mut(&mut a), 100.into(), Value::slice_mut(&mut out)]).unwrap();
    let region = only_region(&module);
    let insts = || looping(&region).into_iter().flat_map(|b| &b.insts);
    let unknown = insts().filter(|inst| matches!(inst.kind, Kind::LoadAny { .. } | Kind::StoreAny { .. }));
    assert_eq!(unknown.count(), 0, "{region}");
    assert!(insts().any(|inst| matches!(inst.kind, Kind::Gather { index: Ty::I32, .. })), "{region}");
    assert!(insts().any(|inst| matches!(inst.kind, Kind::Scatter { index: Ty::I32, .. })), "{region}");
}
