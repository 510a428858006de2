//! The passes: what they make of small regions, and that no region can be told from what they make of it.

mod harness;

use harness::checks::{checks, counted, within};
use harness::generate::Generator;
use harness::passing::{
    I32, becomes, cast, check, compare, i32_, leaves_early, name_exits, numbered, run_pass, seeds, simplified,
};
use harness::trees::trees;
use harness::values::Rng;
use harness::{Host, exit};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Block, Builder, End, Inst, Kind, PrivateMemory, Region, Type, Value};
use spmdvm_jit::passes::{self, PASSES};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};
use std::sync::Arc;

fn random(host: &Host, seed: u64) -> Region {
    Generator::new(host, seed).run()
}

/// The passes, each once.
fn each_pass() -> Vec<passes::Pass> {
    let mut seen = std::collections::HashSet::new();
    PASSES.iter().copied().filter(|p| seen.insert(p.0)).collect()
}

#[test]
fn no_pass_changes_what_a_region_does() {
    for (i, (name, pass)) in each_pass().into_iter().enumerate() {
        for lanes in [4, 16] {
            let seeds = seeds(i as u64 * 1000 + lanes as u64 * 100_000, 40);
            compare(lanes, seeds, random, |region, seed| {
                pass(region);
                check(region, name, seed);
            });
        }
    }
}

fn all_passes(region: &mut Region, seed: u64) {
    for (name, pass) in PASSES {
        pass(region);
        check(region, name, seed);
    }
}

#[test]
fn all_passes_together_change_nothing_either() {
    for lanes in [1, 8, 64] {
        compare(lanes, seeds(lanes as u64 * 10_000_000, 40), random, all_passes);
    }
}

#[test]
fn simplified_expressions_have_the_same_value() {
    for lanes in [1, 4, 16] {
        compare(lanes, seeds(lanes as u64 * 10_000_000, 60), trees, all_passes);
    }
}

/// Bytes of the vectors that are computed.
fn bytes_computed(region: &Region) -> usize {
    let results = region.blocks.iter().flat_map(|b| &b.insts).filter(|i| i.kind.is_pure()).filter_map(|i| i.result);
    results.map(|v| region.ty(v)).filter(|ty| ty.is_varying()).map(|ty| ty.ty.size()).sum()
}

#[test]
fn narrow_vectors_have_the_same_low_bits() {
    let narrower = std::cell::Cell::new(0);
    for lanes in [1, 4, 16, 64] {
        compare(lanes, seeds(lanes as u64 * 1000, 150), trees, |region, seed| {
            run_pass("fold", region);
            run_pass("dead", region);
            let before = bytes_computed(region);
            run_pass("narrow", region);
            check(region, "narrow", seed);
            run_pass("dead", region);
            narrower.set(narrower.get() + (bytes_computed(region) < before) as usize);
        });
    }
    assert!(narrower.get() > 60, "{}", narrower.get());
}

/// Converts a value that varies.
#[test]
fn what_becomes_a_byte_again_is_computed_in_bytes() {
    narrows(
        |b, [x, y, ..]| {
            // Bytes as `int`s, and what comes of them as a byte.
            let [x, y] = [x, y].map(|v| cast(b, v, I32, Ty::U8));
            let [x, y] = [x, y].map(|v| cast(b, v, Ty::U8, I32));
            let sum = b.op(Op::Add, I32, &[x, y]);
            let three = i32_(b, 0x103);
            let sum = b.op(Op::Xor, I32, &[sum, three]);
            vec![cast(b, sum, I32, Ty::U8)]
        },
        "%17: u8 = const 0x3
         %14: v.u8 = cvt.u8.i32 %0
         %15: v.u8 = cvt.u8.i32 %1
         %16: v.u8 = add.u8 %14, %15
         %18: v.u8 = xor.u8 %16, %17
         exit x0
         r44=%18",
    );
}

#[test]
fn a_sum_that_fits_is_compared_and_shifted_in_fewer_bits() {
    narrows(
        |b, [x, y, ..]| {
            let [x, y] = [x, y].map(|v| cast(b, v, I32, Ty::U8));
            let [x, y] = [x, y].map(|v| cast(b, v, Ty::U8, I32));
            let sum = b.op(Op::Add, I32, &[x, y]);
            let (one, limit) = (i32_(b, 1), i32_(b, 300));
            let mean = b.op(Op::Shr, I32, &[sum, one]);
            vec![b.op(Op::Lt, I32, &[sum, limit]), cast(b, mean, I32, Ty::U8)]
        },
        "%19: u16 = const 0x1
         %21: u16 = const 0x12c
         %6: v.u8 = cvt.u8.i32 %0
         %16: v.u16 = cvt.u16.u8 %6
         %7: v.u8 = cvt.u8.i32 %1
         %17: v.u16 = cvt.u16.u8 %7
         %18: v.u16 = add.u16 %16, %17
         %20: v.u16 = shr.u16 %18, %19
         %14: v.bool = lt.u16 %18, %21
         %15: v.u8 = cvt.u8.u16 %20
         exit x0
         r4=%14 r45=%15",
    );
}

#[test]
fn exits_widen_what_they_hold() {
    narrows(
        |b, [x, y, ..]| {
            let [x, y] = [x, y].map(|v| cast(b, v, I32, Ty::U8));
            let [x, y] = [x, y].map(|v| cast(b, v, Ty::U8, I32));
            let least = b.op(Op::Min, I32, &[x, y]);
            vec![least, cast(b, least, I32, Ty::U8)]
        },
        "%12: v.u8 = cvt.u8.i32 %0
         %13: v.u8 = cvt.u8.i32 %1
         %14: v.u8 = min.u8 %12, %13
         %15: v.i32 = cvt.i32.u8 %14
         exit x0
         r28=%15 r45=%14",
    );
}

#[test]
fn what_is_asked_for_in_full_stays_wide() {
    narrows(
        |b, [x, y, ..]| {
            // A difference can be negative, and one sum of whole `int`s is not worth two conversions.
            let small = cast(b, x, I32, Ty::U8);
            let wide = cast(b, small, Ty::U8, I32);
            let three = i32_(b, 3);
            let difference = b.op(Op::Sub, I32, &[wide, three]);
            let less = b.op(Op::Lt, I32, &[difference, three]);
            let all = b.op(Op::MulHi, I32, &[x, y]);
            let sum = b.op(Op::Add, I32, &[all, y]);
            vec![less, cast(b, sum, I32, Ty::U8)]
        },
        "%6: v.u8 = cvt.u8.i32 %0
         %7: v.i32 = cvt.i32.u8 %6
         %8: i32 = const 0x3
         %9: v.i32 = sub.i32 %7, %8
         %10: v.bool = lt.i32 %9, %8
         %11: v.i32 = mulhi.i32 %0, %1
         %12: v.i32 = add.i32 %11, %1
         %13: v.u8 = cvt.u8.i32 %12
         exit x0
         r4=%10 r45=%13",
    );
}

#[track_caller]
fn narrows(compute: impl FnOnce(&mut Builder, [Value; 6]) -> Vec<Value>, want: &str) {
    becomes(&["narrow", "dead"], compute, want);
}

#[test]
fn branches_and_guards_on_constants_are_decided() {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let m = b.inst(Kind::EntryReg { at: host.places(Type::MASK)[0].at }, &[], Type::MASK);
    let (yes, no) = (b.constant(Ty::Bool, 1), b.constant(Ty::Bool, 0));
    let (a, c) = (b.block(), b.block());
    let exits: Vec<_> = (0..3).map(|_| b.exit(exit(&host, m, vec![], vec![]))).collect();
    b.effect(Kind::Guard { exit: exits[0] }, &[yes]);
    b.branch(no, (a, &[]), (c, &[]));
    b.switch_to(a);
    b.end(End::Exit(exits[1]));
    b.switch_to(c);
    b.effect(Kind::Guard { exit: exits[2] }, &[no]);
    b.effect(Kind::Count(0), &[]);
    b.end(End::Exit(exits[1]));
    let mut region = b.region;
    all_passes(&mut region, 0);
    assert_eq!(region.blocks.len(), 1, "{region}");
    assert_eq!(region.blocks[0].insts.len(), 1, "{region}");
    assert_eq!(region.exits.len(), 1, "{region}");
}

#[test]
fn counted_loops_run_without_checks_where_all_rounds_are_in_bounds() {
    let (mut copied, mut in_advance, mut hoisted, mut carried, mut rounds, mut passed_over) = (0, 0, 0, 0, 0, 0);
    let (mut at_once, mut grouped, mut begun_anew) = (0, 0, 0);
    let natives = harness::natives();
    let n = seeds(0, 250);
    let mut host = Host::new(Width::new(4).unwrap());
    for seed in n.clone() {
        let mut before = counted(&host, seed);
        check(&before, "making", seed);
        name_exits(&mut before);
        let mut after = before.clone();
        let loads = |region: &Region| {
            region.blocks.iter().flat_map(|b| &b.insts).filter(|i| matches!(i.kind, Kind::Load { .. })).count()
        };
        for (name, pass) in PASSES {
            let (blocks, loaded) = (after.blocks.len(), loads(&after));
            pass(&mut after);
            check(&after, name, seed);
            // One is loaded before the loop for each that is not loaded in it.
            if *name == "predictive_commoning" && after.blocks.len() > blocks {
                assert_eq!(loads(&after), loaded, "seed {seed}");
                carried += 1;
            }
        }
        let looping = |b: &Block, i: usize| b.end.edges().any(|edge| edge.to.index() == i);
        let free = |b: &Block| !b.insts.iter().any(|i| matches!(i.kind, Kind::Guard { .. }));
        copied += after.blocks.iter().enumerate().any(|(i, b)| looping(b, i) && free(b)) as usize;
        // No round runs with checks before one in a copy.
        let (mut seen, mut todo) = (vec![false; after.blocks.len()], vec![0]);
        while let Some(i) = todo.pop() {
            if !std::mem::replace(&mut seen[i], true) && free(&after.blocks[i]) {
                todo.extend(after.blocks[i].end.edges().map(|edge| edge.to.index()));
            }
        }
        at_once += after.blocks.iter().enumerate().any(|(i, b)| looping(b, i) && free(b) && seen[i]) as usize;
        let together = |inst: &Inst| matches!(inst.kind, Kind::Op { op: Op::Le, ty: Ty::U32, .. });
        grouped += after.blocks.iter().any(|b| free(b) && b.insts.iter().any(together)) as usize;
        // A round that is about to leave the region goes back to the loop with the checks.
        let anew = |b: &Block| b.cold && matches!(&b.end, End::Jump(edge) if !edge.args.is_empty());
        begun_anew += after.blocks.iter().any(anew) as usize;
        // Of the counter, what changes as it does, and what does not change, nothing is handed from round to round.
        let lean = |b: &Block| b.params.len() == 2 && b.insts.iter().all(|i| i.kind.exit().is_none());
        in_advance += after.blocks.iter().enumerate().any(|(i, b)| looping(b, i) && lean(b)) as usize;
        // Frames that it passes over are counted before it.
        let has = |b: &Block, of: fn(Kind) -> bool| b.insts.iter().any(|inst| of(inst.kind));
        let passes = |b: &Block| has(b, |kind| matches!(kind, Kind::FramePass));
        assert!(!after.blocks.iter().enumerate().any(|(i, b)| looping(b, i) && lean(b) && passes(b)), "{after}");
        passed_over += after.blocks.iter().any(|b| has(b, |kind| matches!(kind, Kind::FramePasses { .. }))) as usize;
        // Of what it loads from where no round goes, nothing.
        let loads = |b: &Block| b.insts.iter().filter(|i| matches!(i.kind, Kind::Load { .. })).count();
        let all = before.blocks.iter().map(loads).sum::<usize>();
        hoisted += after.blocks.iter().enumerate().any(|(i, b)| looping(b, i) && lean(b) && loads(b) < all) as usize;
        let natives = natives.iter().filter(|_| seed.is_multiple_of(4));
        let natives: Vec<Arc<dyn Executable>> =
            natives.map(|native| Arc::from(native.compile(Arc::new(after.clone())).unwrap())).collect();
        let [old, new]: [Arc<dyn Executable>; 2] =
            [&before, &after].map(|r| Arc::from(Ir.compile(Arc::new(r.clone())).unwrap()));
        let mut rng = Rng(!seed);
        for round in 0..14 {
            let mut input = host.random_input(&mut rng, round % 5 == 4);
            input.ticks = input.ticks.min(200);
            input.interrupted = true;
            if round > 1 {
                // Limits and bases at the ends of the array and of the types.
                let ends = [0u64, 0, 0, 20, 156, 160, 1 << 31, 1 << 32, 1 << 63];
                for (place, words) in host.bank.iter().zip(&mut input.registers).filter(|(p, _)| p.ty.ty.size() >= 4) {
                    let most = u64::MAX >> (64 - 8 * place.ty.ty.size());
                    let near = if rng.chance(60) { rng.below(160) as u64 } else { rng.pick(&ends) };
                    words[0] = near.wrapping_add(rng.below(9) as u64).wrapping_sub(4) & most;
                }
            }
            let want = numbered(&before, host.run(old.clone(), &input));
            let have = host.run(new.clone(), &input);
            if leaves_early(&after, have.exit) {
                continue;
            }
            host.same(&after, seed as usize, &want, &numbered(&after, have));
            for native in &natives {
                let have = numbered(&after, host.run(native.clone(), &input));
                host.same(&after, seed as usize, &want, &have);
            }
            rounds += want.counters[1];
        }
    }
    let n = (n.end - n.start) as usize;
    assert!(copied * 2 > n, "{copied} of {n} loops have a copy without checks");
    assert_eq!(at_once, copied, "loops may enter their copies at once");
    assert!(grouped * 8 > n, "{grouped} of {n} copies ask once whether near indices wrap around");
    assert!(begun_anew * 16 > n, "in {begun_anew} of {n} copies rounds may begin anew elsewhere");
    assert!(in_advance * 4 > n, "{in_advance} of {n} copies count one number");
    assert!(hoisted * 10 > n, "{hoisted} of {n} copies load less");
    assert!(carried * 25 > n, "in {carried} of {n} loops a round takes what the one before it had");
    assert!(passed_over * 10 > n, "before {passed_over} of {n} copies frames are passed over");
    assert!(rounds > 1000, "{rounds}");
}

fn guards(region: &Region) -> usize {
    region.blocks.iter().flat_map(|b| &b.insts).filter(|i| matches!(i.kind, Kind::Guard { .. })).count()
}

#[test]
fn merged_checks_fail_when_one_of_them_would_and_before_any_effect() {
    let (mut before_all, mut after_all, mut passed) = (0, 0, 0);
    for lanes in [2, 8] {
        let mut host = Host::new(Width::new(lanes).unwrap());
        for seed in seeds(lanes as u64 * 1_000_000, 100) {
            let mut before = checks(&host, seed);
            name_exits(&mut before);
            let mut after = before.clone();
            all_passes(&mut after, seed);
            before_all += guards(&before);
            // Without the copies of loops.
            let mut merged = before.clone();
            ["fold", "gvn", "bounds"].iter().for_each(|name| run_pass(name, &mut merged));
            after_all += guards(&merged);
            let [old, new]: [Arc<dyn Executable>; 2] =
                [&before, &after].map(|r| Arc::from(Ir.compile(Arc::new(r.clone())).unwrap()));
            let mut rng = Rng(!seed);
            for round in 0..12 {
                let mut input = host.random_input(&mut rng, false);
                if round > 1 {
                    // Indices at the ends of the arrays, and at those of their types.
                    let ends = [0u64, 76, 156, 1 << 31, 1 << 32, 1 << 63]
                        .map(|e| e.wrapping_add(rng.below(9) as u64).wrapping_sub(4));
                    for (place, words) in host.bank.iter().zip(&mut input.registers).filter(|(p, _)| p.ty.ty.is_int()) {
                        let most = u64::MAX >> (64 - 8 * place.ty.ty.size());
                        let near = rng.pick(&ends);
                        words.iter_mut().for_each(|w| *w = near.wrapping_add(rng.below(3) as u64) & most);
                    }
                }
                let want = numbered(&before, host.run(old.clone(), &input));
                let have = numbered(&after, host.run(new.clone(), &input));
                let last = before.exits.len() as u32 - 1;
                assert!(have.exit <= want.exit, "seed {seed}: {} after {}\n{before}\n{after}", have.exit, want.exit);
                assert_eq!(
                    want.exit == last,
                    have.exit == last,
                    "seed {seed}: {} {}\n{before}\n{after}",
                    want.exit,
                    have.exit
                );
                assert_eq!(want.counters, have.counters, "seed {seed}:\n{before}\n{after}");
                passed += (have.exit == last) as usize;
            }
        }
    }
    assert!(after_all * 2 < before_all, "{after_all} guards of {before_all} are left");
    assert!(passed > 100, "{passed} runs passed all checks");
}

/// A load of four bytes at an index, checked as the recorder does it.
fn checked_load(b: &mut Builder, host: &Host, p: Value, index: Value, write: bool) -> Value {
    checked_for(b, host, p, index, write, 4)
}

/// Likewise, if so many bytes at the index are in bounds.
fn checked_for(b: &mut Builder, host: &Host, p: Value, index: Value, write: bool, need: u32) -> Value {
    let number = Type::uniform(I32);
    let len = b.region_len(p, write);
    let low = b.inst(Kind::IndexLow { scale: 4, disp: 0, ty: I32 }, &[p], number);
    let span = b.inst(Kind::IndexSpan { scale: 4, disp: 0, need, ty: I32 }, &[p, len], Type::uniform(Ty::U32));
    let ok = within(b, index, low, span, None);
    let mask = Value(3);
    let out = b.exit(exit(host, mask, vec![], vec![]));
    b.effect(Kind::Guard { exit: out }, &[ok]);
    b.inst(Kind::Load { ty: I32 }, &[len], number)
}

#[test]
fn a_stencil_checks_its_neighbours_at_once_and_an_update_its_element() {
    let host = Host::new(Width::DEFAULT);
    let text = simplified(&["fold", "gvn", "bounds", "fold", "gvn", "dead"], |b, [_, _, u, _, _, p]| {
        let (one, minus) = (i32_(b, 1), i32_(b, -1));
        let (left, right) = (b.op(Op::Add, I32, &[u, minus]), b.op(Op::Add, I32, &[u, one]));
        let x = checked_load(b, &host, p, u, false);
        let y = checked_load(b, &host, p, left, false);
        let z = checked_load(b, &host, p, right, false);
        let w = checked_load(b, &host, p, u, true);
        let sums = [b.op(Op::Add, I32, &[x, y]), b.op(Op::Add, I32, &[z, w])];
        vec![b.op(Op::Add, I32, &sums)]
    });
    assert_eq!(text.matches("guard").count(), 1, "{text}");
    assert!(text.contains("region.len.w") && text.contains("max.u32"), "{text}");
}

/// What stands between the checks of a record's members.
#[test]
fn strided_stores_do_not_part_checks() {
    let host = Host::new(Width::DEFAULT);
    for (strided, left) in [(true, 1), (false, 2)] {
        let text = simplified(&["fold", "gvn", "bounds", "fold", "gvn", "dead"], |b, [x, _, u, _, _, p]| {
            let one = i32_(b, 1);
            let next = b.op(Op::Add, I32, &[u, one]);
            let first = checked_load(b, &host, p, u, true);
            let to = b.host_address(p, 0);
            match strided {
                true => b.effect(Kind::StoreStrided { ty: I32, stride: 8 }, &[to, x]),
                false => b.effect(Kind::StoreLanes { ty: I32 }, &[to, x]),
            }
            let second = checked_load(b, &host, p, next, true);
            vec![b.op(Op::Add, I32, &[first, second])]
        });
        assert_eq!(text.matches("guard").count(), left, "{text}");
    }
}

#[test]
fn lanes_in_bounds_imply_that_their_elements_are() {
    let host = Host::new(Width::DEFAULT);
    // Five elements from the index on; the last of so many that are asked for, and whether that is implied.
    for (last, implied) in [(3, true), (4, true), (5, false)] {
        let text = simplified(&["fold", "gvn", "bounds", "fold", "gvn", "dead"], |b, [_, _, u, _, _, p]| {
            let mut sum = checked_for(b, &host, p, u, false, 20);
            let from = b.host_address(p, 0);
            b.effect(Kind::Store { ty: I32 }, &[from, sum]);
            for k in 1..=last {
                let k = i32_(b, k);
                let index = b.op(Op::Add, I32, &[u, k]);
                let x = checked_load(b, &host, p, index, false);
                sum = b.op(Op::Add, I32, &[sum, x]);
            }
            vec![sum]
        });
        assert_eq!(text.matches("guard").count(), if implied { 1 } else { 2 }, "{last}: {text}");
    }
    // An index before the lanes is not implied.
    let text = simplified(&["fold", "gvn", "bounds", "fold", "gvn", "dead"], |b, [_, _, u, _, _, p]| {
        let x = checked_for(b, &host, p, u, false, 20);
        let from = b.host_address(p, 0);
        b.effect(Kind::Store { ty: I32 }, &[from, x]);
        let minus = i32_(b, -1);
        let index = b.op(Op::Add, I32, &[u, minus]);
        let y = checked_load(b, &host, p, index, false);
        vec![b.op(Op::Add, I32, &[x, y])]
    });
    assert_eq!(text.matches("guard").count(), 2, "{text}");
}

/// Another thread may enter a region under the number of a forged pointer at any time: an address that was read before would be
/// that of a dead entry.
#[test]
fn accesses_by_one_pointer_have_one_length_and_one_address_read_after_it() {
    let host = Host::new(Width::DEFAULT);
    let text = simplified(&["fold", "gvn", "bounds", "pointers", "licm", "gvn", "dead"], |b, [_, _, u, _, _, p]| {
        let one = i32_(b, 1);
        let next = b.op(Op::Add, I32, &[u, one]);
        let x = checked_load(b, &host, p, u, false);
        let from = b.host_address(p, 0);
        let y = b.inst(Kind::Load { ty: I32 }, &[from], Type::uniform(I32));
        let z = checked_load(b, &host, p, next, true);
        let to = b.host_address(p, 0);
        b.effect(Kind::Store { ty: I32 }, &[to, y]);
        vec![b.op(Op::Add, I32, &[x, z])]
    });
    let lengths = text.lines().filter_map(|line| line.trim().split_once(": u64 = region.len %")).collect::<Vec<_>>();
    let [(length, p)] = lengths[..] else { panic!("{text}") };
    assert_eq!(text.matches(&format!("region.len.w %{p}, {length}\n")).count(), 1, "{text}");
    assert_eq!(text.matches(&format!("host.addr +0 %{p}, {length}\n")).count(), 1, "{text}");
    assert_eq!(text.matches("host.addr").count(), 1, "{text}");
}

#[test]
fn a_block_loads_once_what_nothing_may_have_written_meanwhile() {
    let host = Host::new(Width::DEFAULT);
    let text = simplified(&["gvn", "loads", "dead"], |b, [x, _, u, _, _, p]| {
        let (v, elem) = (Type::varying(I32), Type::uniform(I32));
        let [here, there] = [0, 64].map(|at| b.host_address(p, at));
        let lanes = |b: &mut Builder, at| b.inst(Kind::LoadLanes { ty: I32 }, &[at], v);
        let first = lanes(b, here);
        // What another thread may write at a poll can as well be read before it.
        let poll = b.exit(exit(&host, Value(3), vec![], vec![]));
        b.effect(Kind::Tick { units: 1, exit: poll }, &[]);
        let [again, other] = [here, there].map(|at| lanes(b, at));
        // A single element is not all of them.
        let single = b.inst(Kind::Load { ty: I32 }, &[here], elem);
        b.effect(Kind::StoreLanes { ty: I32 }, &[there, x]);
        let [stored, after] = [there, here].map(|at| lanes(b, at));
        b.effect(Kind::Store { ty: I32 }, &[there, u]);
        let part = lanes(b, there);
        let sum = [again, other, stored, after, part].iter().fold(first, |sum, &x| b.op(Op::Add, I32, &[sum, x]));
        // What is computed from the same load is the same.
        let [this, too] = [first, again].map(|x| b.op(Op::Neg, I32, &[x]));
        vec![sum, single, b.op(Op::Mul, I32, &[this, too])]
    });
    assert_eq!(text.matches("= neg").count(), 1, "{text}");
    // The lanes here, and those there before and after a single one of them is written.
    assert_eq!(text.matches("= load.lanes").count(), 3, "{text}");
    assert_eq!(text.matches("= load.i32").count(), 1, "{text}");
}

#[test]
fn stores_elsewhere_change_nothing_that_has_been_loaded() {
    let loads_after = |distance: u64, stored: Kind| {
        simplified(&["fold", "gvn", "loads", "dead"], |b, [x, y, _, _, _, p]| {
            let v = Type::varying(I32);
            let here = b.host_address(p, 0);
            let distance = b.constant(Ty::U64, distance);
            let there = b.op(Op::Add, Ty::U64, &[here, distance]);
            let lanes = |b: &mut Builder| b.inst(Kind::LoadLanes { ty: I32 }, &[here], v);
            let first = lanes(b);
            let mask = b.op(Op::Lt, I32, &[x, y]);
            match stored {
                Kind::StoreMasked { .. } => b.effect(stored, &[there, y, mask]),
                _ => b.effect(stored, &[there, y]),
            }
            let again = lanes(b);
            vec![b.op(Op::Add, I32, &[first, again])]
        })
        .matches("= load.lanes")
        .count()
    };
    let whole = Kind::StoreLanes { ty: I32 };
    let masked = Kind::StoreMasked { ty: I32 };
    // Sixteen lanes of four bytes.
    for (distance, stored, loads) in
        [(64, whole, 1), (64, masked, 1), (60, whole, 2), (0, masked, 2), (0u64.wrapping_sub(64), whole, 1)]
    {
        assert_eq!(loads_after(distance, stored), loads, "{distance} {stored:?}");
    }
}

/// What lies in frames, and what pointers lead to: apart where no pointer leads to those frames.
#[test]
fn stores_to_private_frames_change_nothing_that_pointers_lead_to() {
    let host = Host::new(Width::DEFAULT);
    let function = host.function;
    let loads = |private: bool, lost: bool| {
        let text = simplified(&["fold", "gvn", "loads", "dead"], |b, [x, _, u, _, _, p]| {
            if private {
                b.region.private.push(PrivateMemory { function, at: 0, start: 0, size: 4096 });
            }
            let (lanes, pointer) = (Type::varying(I32), Type::uniform(Ty::U64));
            let frame = b.inst(Kind::FrameHost { function, at: 64, within: Some((64, 4096)) }, &[], pointer);
            let distance = b.inst(Kind::Op { op: Op::Convert, ty: Ty::U64, from: I32 }, &[u], pointer);
            let there = b.op(Op::Add, Ty::U64, &[frame, distance]);
            let here = b.host_address(p, 0);
            let here = b.op(Op::Add, Ty::U64, &[here, distance]);
            let both =
                |b: &mut Builder| [here, there].map(|at| b.inst(Kind::LoadPacked { ty: I32 }, &[at, Value(3)], lanes));
            let [first, local] = both(b);
            b.effect(Kind::StoreMasked { ty: I32 }, &[there, x, Value(3)]);
            let [second, changed] = both(b);
            b.effect(Kind::StoreMasked { ty: I32 }, &[here, x, Value(3)]);
            let [third, same] = both(b);
            let mut all = vec![first, local, second, changed, third, same];
            if lost {
                let address = b.inst(Kind::FrameAddress, &[], pointer);
                let from = b.host_address(address, 0);
                all.push(b.inst(Kind::LoadLanes { ty: I32 }, &[from], lanes));
            }
            vec![all.into_iter().reduce(|sum, x| b.op(Op::Add, I32, &[sum, x])).unwrap()]
        });
        text.matches("= load.packed").count()
    };
    assert_eq!(loads(true, false), 4);
    assert_eq!(loads(false, false), 6);
    assert_eq!(loads(true, true), 6);
}

/// A region whose blocks know more and more: the branches and guards that are left after the pass.
#[test]
fn what_a_guard_or_branch_has_decided_is_not_decided_again() {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let read = |b: &mut Builder, ty: Type, i: usize| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let (i, n) = (read(&mut b, Type::uniform(I32), 0), read(&mut b, Type::uniform(I32), 1));
    let (x, y) = (read(&mut b, Type::uniform(Ty::F32), 0), read(&mut b, Type::uniform(Ty::F32), 1));
    let (m, other) = (read(&mut b, Type::MASK, 0), read(&mut b, Type::MASK, 1));
    let leave = |b: &mut Builder| b.exit(exit(&host, m, vec![], vec![]));
    let guard = |b: &mut Builder, c: Value| {
        let exit = leave(b);
        b.effect(Kind::Guard { exit }, &[c]);
    };
    let (inside, outside) = (b.block(), b.block());
    // Some lane of m is on, none of `other`.
    let both = b.op(Op::And, Ty::Bool, &[m, other]);
    let (some, others) = (b.inst(Kind::AnyLane, &[m], Type::BOOL), b.inst(Kind::AnyLane, &[other], Type::BOOL));
    let none = b.op(Op::Not, Ty::Bool, &[others]);
    let c = b.op(Op::And, Ty::Bool, &[some, none]);
    guard(&mut b, c);
    let less = b.op(Op::Lt, I32, &[i, n]);
    b.branch(less, (inside, &[]), (outside, &[]));
    b.switch_to(inside);
    let either = b.op(Op::Or, Ty::Bool, &[m, other]);
    for (mask, on) in [(both, false), (either, true)] {
        let any = b.inst(Kind::AnyLane, &[mask], Type::BOOL);
        let c = if on { any } else { b.op(Op::Not, Ty::Bool, &[any]) };
        guard(&mut b, c);
    }
    for c in [b.op(Op::Gt, I32, &[n, i]), b.op(Op::Le, I32, &[i, n]), b.op(Op::Ne, I32, &[i, n])] {
        guard(&mut b, c);
    }
    // Floats may be unordered: not less is not greater or equal.
    let below = b.op(Op::Lt, Ty::F32, &[x, y]);
    let not_below = b.op(Op::Not, Ty::Bool, &[below]);
    guard(&mut b, not_below);
    for c in [b.op(Op::Ge, Ty::F32, &[x, y]), b.op(Op::Lt, I32, &[i, i])] {
        guard(&mut b, c);
    }
    let last = leave(&mut b);
    b.end(End::Exit(last));
    b.switch_to(outside);
    let (never, side_exit) = (b.block(), b.block());
    let less = b.op(Op::Gt, I32, &[n, i]);
    b.branch(less, (never, &[]), (side_exit, &[]));
    b.switch_to(never);
    b.effect(Kind::Count(0), &[]);
    b.end(End::Exit(last));
    b.switch_to(side_exit);
    b.end(End::Exit(last));
    let mut region = b.region;
    check(&region, "making", 0);
    run_pass("guards", &mut region);
    // The first, the two of floats, and that of i < i.
    assert_eq!(guards(&region), 4, "{region}");
    run_pass("params", &mut region);
    assert!(!region.blocks.iter().flat_map(|b| &b.insts).any(|i| matches!(i.kind, Kind::Count(_))), "{region}");
}

#[test]
fn what_was_learnt_twice_in_an_arm_is_forgotten_behind_it() {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let m = b.inst(Kind::EntryReg { at: host.places(Type::MASK)[0].at }, &[], Type::MASK);
    let exits: Vec<_> = (0..3).map(|_| b.exit(exit(&host, m, vec![], vec![]))).collect();
    let [arm, no_arm, join, some, none] = [(); 5].map(|()| b.block());
    let has_lanes = b.inst(Kind::AnyLane, &[m], Type::BOOL);
    b.branch(has_lanes, (arm, &[]), (no_arm, &[]));
    // First that there is a lane, then that all are there.
    b.switch_to(arm);
    let others = b.op(Op::Not, Ty::Bool, &[m]);
    let has_others = b.inst(Kind::AnyLane, &[others], Type::BOOL);
    let is_full = b.op(Op::Not, Ty::Bool, &[has_others]);
    b.effect(Kind::Guard { exit: exits[0] }, &[is_full]);
    b.jump(join, &[]);
    b.switch_to(no_arm);
    b.jump(join, &[]);
    b.switch_to(join);
    let still = b.inst(Kind::AnyLane, &[m], Type::BOOL);
    b.branch(still, (some, &[]), (none, &[]));
    b.switch_to(some);
    b.end(End::Exit(exits[1]));
    b.switch_to(none);
    b.end(End::Exit(exits[2]));
    let mut region = b.region;
    run_pass("guards", &mut region);
    assert!(matches!(region.block(join).end, End::Branch { .. }), "{region}");
}

/// Of exits that have one place what is known there; of one that has two, nothing.
#[test]
fn snapshots_have_constants_for_what_a_branch_has_decided() {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let [m, n] = [0, 1].map(|i| b.inst(Kind::EntryReg { at: host.places(Type::MASK)[i].at }, &[], Type::MASK));
    let [c, d] = [0, 1].map(|i| b.inst(Kind::EntryReg { at: host.places(Type::BOOL)[i].at }, &[], Type::BOOL));
    let uniform = host.places(Type::BOOL)[0];
    let varying = host.places(Type::MASK)[0];
    let make = |b: &mut Builder| b.exit(exit(&host, m, vec![(uniform, c), (varying, n)], vec![]));
    let [own, last, shared] = [(); 3].map(|()| make(&mut b));
    let [yes, no] = [(); 2].map(|()| b.block());
    let has_lanes = b.inst(Kind::AnyLane, &[n], Type::BOOL);
    let empty = b.op(Op::Not, Ty::Bool, &[has_lanes]);
    let both = b.op(Op::And, Ty::Bool, &[c, empty]);
    b.branch(both, (yes, &[]), (no, &[]));
    b.switch_to(yes);
    b.effect(Kind::Guard { exit: own }, &[d]);
    b.effect(Kind::Tick { units: 1, exit: shared }, &[]);
    b.end(End::Exit(last));
    b.switch_to(no);
    b.end(End::Exit(shared));
    let mut region = b.region;
    run_pass("guards", &mut region);
    let constant = |region: &Region, v: Value| {
        let inst = region.blocks[0].insts.iter().find(|inst| inst.result == Some(v))?;
        match inst.kind {
            Kind::Const(bits) => Some(bits),
            Kind::Splat => {
                region.blocks[0].insts.iter().find(|i| i.result == Some(inst.args[0])).and_then(|i| match i.kind {
                    Kind::Const(bits) => Some(bits),
                    _ => None,
                })
            }
            _ => None,
        }
    };
    for (exit, want) in [(own, Some([1, 0])), (last, Some([1, 0])), (shared, None)] {
        let regs = region.exits[exit.index()].frames[0].regs.iter();
        let have: Option<Vec<u64>> = regs.map(|r| constant(&region, r.value)).collect();
        assert_eq!(have, want.map(Vec::from), "{exit:?}:\n{region}");
    }
}
