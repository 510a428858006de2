//! A rule of selection that is left out leads to the runtime: never to other instructions, and never to another result.

mod harness;

use harness::cases::{self, Case};
use harness::values::Rng;
use harness::{Host, exit, hand_on};
use spmdvm_jit::backend::{Backend, Executable, Rule, Rules};
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Region, Type, verify};
use spmdvm_jit::x86::{Avx2, Avx512};
use spmdvm_vm::Op;
use spmdvm_vm::isa::OPS;
use spmdvm_vm::types::Width;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The operation of a case.
fn operation(case: &Case) -> Option<Op> {
    match case.kind {
        Kind::Op { op, .. } | Kind::Reduce { op, .. } => Some(op),
        _ => None,
    }
}

/// The rules that a case can be translated by.
fn rules_of(case: &Case) -> impl Iterator<Item = Rule> + use<> {
    let op = operation(case);
    Rules::ALL.into_iter().filter_map(move |rules| Some(Rule { rules, op: op? }))
}

/// A region that does one thing.
fn region(host: &Host, case: &Case) -> Arc<Region> {
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let entry =
        |b: &mut Builder, (i, &ty): (usize, &Type)| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let args: Vec<_> = case.args.iter().enumerate().map(|arg| entry(&mut b, arg)).collect();
    let args = hand_on(&mut b, &args);
    let v = b.inst(case.kind, &args, case.result);
    let v = hand_on(&mut b, &[v])[0];
    let out = b.exit(exit(host, mask, vec![(host.places(case.result)[0], v)], vec![]));
    b.end(End::Exit(out));
    verify(&b.region).unwrap();
    Arc::new(b.region)
}

/// A listing without the addresses in it.
fn listing(code: &dyn Executable) -> String {
    let text = code.listing().expect("there is a listing");
    let is_address = |word: &&str| {
        word.len() > 8 && word.trim_matches(|c: char| "0xh".contains(c)).chars().all(|c| c.is_ascii_hexdigit())
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !is_address(word));
    words.collect::<Vec<_>>().join(" ")
}

fn calls(code: &dyn Executable) -> bool {
    code.listing().expect("there is a listing").lines().any(|line| line.contains("call"))
}

/// Leaves out each rule in turn. What a case was translated by before is a call of the runtime then; all else stays as it was.
fn without_each_rule(plain: &dyn Backend, without: impl Fn(Rule) -> Box<dyn Backend>, runs: bool) {
    let mut host = Host::new(Width::new(8).unwrap());
    let all = [cases::elementwise(), cases::lanes()].concat();
    // Operands of one shape are enough, and of conversions one of each type: a rule is for all of them.
    let one_shape = |case: &&Case| case.args.windows(2).all(|pair| pair[0].shape == pair[1].shape);
    let is_chosen = |case: &&Case| match case.kind {
        Kind::Op { op: Op::Convert | Op::Bitcast, ty, from } => (ty as usize + from as usize).is_multiple_of(3),
        _ => true,
    };
    let cases: Vec<&Case> = all
        .iter()
        .filter(|case| case.constant.is_none() && (one_shape(case) || case.is_across_lanes()))
        .filter(is_chosen)
        .collect();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases {
        let region = region(&host, case);
        let before = plain.compile(region.clone()).unwrap();
        if calls(&*before) {
            continue;
        }
        let mut found = 0;
        for rule in rules_of(case) {
            let code = without(rule).compile(region.clone()).unwrap();
            if !calls(&*code) {
                assert_eq!(listing(&*before), listing(&*code), "{case:?} without {rule:?} has become something else");
                continue;
            }
            found += 1;
            *used.entry(format!("{rule:?}")).or_default() += 1;
            if runs {
                let codes = [Arc::from(Ir.compile(region.clone()).unwrap()), Arc::from(code)];
                let input = host.random_input(&mut Rng(found), false);
                host.agree_codes(&region, &codes, &input);
            }
        }
        let has_rules = operation(case).is_some_and(|op| op != Op::Mov || case.result.is_varying());
        assert!(found > 0 || !has_rules, "no rule is for {case:?}: it would be translated without");
    }
    // Nearly all operations have rules, many of them several.
    assert!(used.len() > OPS.iter().filter(|row| row.sig.dst.is_some()).count() / 2, "{used:#?}");
}

#[test]
fn clif_has_no_second_way() {
    let with = |rule| Clif::with(Options { without_rule: rule, ..Options::default() }).unwrap();
    without_each_rule(&with(None), |rule| Box::new(with(Some(rule))), true);
}

#[test]
fn x86_has_no_second_way() {
    // Where the machine cannot run the code, it is looked at.
    let runs = Avx512::new().is_ok();
    let Ok(plain) = Avx512::for_listings() else { return };
    without_each_rule(&plain, |rule| Box::new(Avx512::for_listings().unwrap().without(rule)), runs);
}

#[test]
fn x86_with_avx2_has_no_second_way() {
    let runs = Avx2::new().is_ok();
    let Ok(plain) = Avx2::for_listings() else { return };
    without_each_rule(&plain, |rule| Box::new(Avx2::for_listings().unwrap().without(rule)), runs);
}
