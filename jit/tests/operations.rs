//! The page of operations that native code leaves to the runtime: made from the code itself.
//!
//! `UPDATE_DOCS=1 cargo test -p spmdvm-jit --test operations` writes it.

mod harness;

use harness::by_hand::host;
use harness::cases::{self, Case};
use harness::{BankRegister, Host, exit, hand_on};
use spmdvm_jit::backend::Backend;
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Type, Value};
use spmdvm_jit::x86::Avx2;
use spmdvm_vm::Op;
use spmdvm_vm::types::{Shape, Ty};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// Lanes of the gangs that are looked at.
const WIDTHS: [u32; 3] = [4, 16, 32];

/// What is left to the runtime: by operation, by the shape of the result, the types.
type Calls = BTreeMap<&'static str, BTreeMap<&'static str, BTreeSet<String>>>;

/// The name of an instruction, and its type.
fn name(case: &Case) -> Option<(&'static str, String)> {
    match case.kind {
        Kind::Op { op: op @ (Op::Convert | Op::Bitcast), ty, from } => Some((op.info().name, format!("{from} → {ty}"))),
        Kind::Op { op, ty, .. } | Kind::Reduce { op, ty } => Some((op.info().name, ty.to_string())),
        _ => None,
    }
}

/// Whether the instruction alone, with what enters and leaves a region, calls the runtime.
fn calls(host: &Host, case: &Case, backend: &dyn Backend) -> bool {
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let args: Vec<Value> = case
        .args
        .iter()
        .enumerate()
        .map(|(i, &ty)| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty))
        .collect();
    let args = hand_on(&mut b, &args);
    let v = b.inst(case.kind, &args, case.result);
    let v = hand_on(&mut b, &[v])[0];
    let places: Vec<(BankRegister, Value)> = vec![(host.places(case.result)[0], v)];
    let out = b.exit(exit(host, mask, places, vec![]));
    b.end(End::Exit(out));
    let code = backend.compile(Arc::new(b.region)).unwrap_or_else(|e| panic!("{:?}: {e}", case.kind));
    code.listing().expect("there is a listing").lines().any(|line| line.contains("call"))
}

fn all_calls(backend: &dyn Backend) -> Calls {
    let mut found = Calls::new();
    let all: Vec<Case> = [cases::elementwise(), cases::lanes()].concat();
    for lanes in WIDTHS {
        let host = host(lanes);
        // Operands of one shape are enough: what is uniform among varying ones is put into vectors.
        let plain = all.iter().filter(|case| case.constant.is_none() && has_plain_shapes(case));
        for case in plain {
            let Some((op, ty)) = name(case) else { continue };
            if calls(&host, case, backend) {
                let shape = if case.args.iter().any(|arg| arg.is_varying()) { "varying" } else { "uniform" };
                found.entry(op).or_default().entry(shape).or_default().insert(ty);
            }
        }
    }
    found
}

fn has_plain_shapes(case: &Case) -> bool {
    let across = matches!(case.kind, Kind::Reduce { .. }) || case.is_across_lanes();
    across || case.args.windows(2).all(|pair| pair[0].shape == pair[1].shape)
}

fn page() -> Option<String> {
    let x86 = harness::x86_for_listings()?;
    let avx2 = Avx2::for_listings().ok()?;
    let clif = Clif::with(Options::default()).ok()?;
    let engines: [(&str, Calls); 3] =
        [("`x86` with AVX-512", all_calls(&x86)), ("`x86` with AVX2", all_calls(&avx2)), ("`clif`", all_calls(&clif))];
    let widths = WIDTHS.map(|lanes| lanes.to_string()).join(", ");
    let mut text = format!(
        "# Operations that compiled code leaves to the runtime\n\n\
         Compiled code does the operations of the table (`docs/isa.md`) itself, but for these: their operands go through memory \
         to a function of\n\
         the runtime. Found by compiling each, with uniform and with varying operands, at widths {widths} \
         (`clif` with what\n\
         this processor has). Memory, calls, tasks and printing: `docs/status.md`.\n"
    );
    for (engine, calls) in engines {
        let _ = write!(text, "\n## {engine}\n\n| operation | of uniform values | of varying values |\n|---|---|---|\n");
        for (op, shapes) in calls {
            let types = |shape: &str| shapes.get(shape).map_or("–".to_owned(), summary);
            let _ = writeln!(text, "| `{op}` | {} | {} |", types("uniform"), types("varying"));
        }
    }
    Some(text)
}

/// Types, of many only those that are left out.
fn summary(types: &BTreeSet<String>) -> String {
    types.iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_page_of_calls_is_current() {
    let Some(page) = page() else {
        println!("skipped: this processor does not run the engine `x86`");
        return;
    };
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == page,
        "docs/operations.md is not current: UPDATE_DOCS=1 cargo test -p spmdvm-jit --test operations"
    );
}

#[test]
fn a_call_is_seen_where_there_is_one() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let (f32s, case) = (Type::varying(Ty::F32), |op, ty: Type| Case {
        kind: Kind::Op { op, ty: ty.ty, from: ty.ty },
        args: vec![ty; 2],
        result: ty,
        constant: None,
    });
    assert_eq!(f32s.shape, Shape::Varying);
    assert!(calls(&host(16), &case(Op::FRem, f32s), &x86));
    assert!(!calls(&host(16), &case(Op::Add, f32s), &x86));
}
