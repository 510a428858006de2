//! What is said of lanes, in small functions; against what random programs do: `vm/tests/properties.rs`.

use super::*;
use crate::asm::assemble;
use crate::verify;

fn parse(text: &str) -> Function {
    let program = assemble(&format!(".width 8\n{text}")).unwrap_or_else(|e| panic!("{e:?}"));
    verify(program.clone()).unwrap_or_else(|e| panic!("{e:?}"));
    program.functions[0].clone()
}

/// The loads and stores of a function, in their order.
fn accesses(text: &str) -> Vec<Access> {
    let f = parse(text);
    let found = Properties::new(&f, Width::new(8).unwrap());
    (0..f.code.len() as u32).filter_map(|at| found.access(at)).collect()
}

/// `for (int i = programIndex; i < n; i += 8) b[i] = a[i] + a[3 * i]`, with an `if` around the store.
const LOOP: &str = "func f(u0:i32, u1:u64, u2:u64) {
  const u3:i32 = 8
  const u4:i32 = 3
  var v5:i32, v6:bool, v7:f32, v8:i32, v9:f32, v10:f32, v11:i32, v12:bool
  v5 = iota
  loop.begin
L1:
  v6 = lt.i32 v5, u0
  loop.test v6, L2
  v7 = load.f32.i32 [u1 + v5*4]
  v8 = mul.i32 v5, u4
  v9 = load.f32.i32 [u1 + v8*4]
  v10 = add.f32 v7, v9
  v12 = lt.f32 v7, v9
  mask.if v12, L3
  store.f32.i32 [u2 + v5*4], v10
L3:
  mask.endif L6
  store.f32.i32 [u2 + v5*4], v9
  v11 = add.i32 v5, u3
  v5 = assign.i32 v11
L6:
  loop.back L1
L2:
  loop.end L5
L5:
  ret
}";

#[test]
fn a_counter_that_is_assigned_under_a_mask_stays_consecutive_in_active_lanes() {
    let row = Access::Consecutive { aligned: true };
    assert_eq!(accesses(LOOP), [row, Access::Strided(12), row, row]);
    let f = parse(LOOP);
    let found = Properties::new(&f, Width::new(8).unwrap());
    assert_eq!(found.loops().len(), 1);
    assert!(found.loops()[0].divergent);
    let at = |op| f.code.iter().position(|i| i.op == op).unwrap() as u32;
    assert_eq!(found.mask(at(Op::LoopBegin)), Some(Mask::Entry));
    assert_eq!(found.mask(at(Op::Store)), Some(Mask::Some));
    // It is reached without lanes too.
    assert_eq!(found.mask(at(Op::Ret)), Some(Mask::Some));
    // After the loop lanes that left it early hold other values.
    assert_eq!(found.lanes(&f, Width::new(8).unwrap(), Reg(5), at(Op::Ret)), Some(Lanes::VARYING));
}

#[test]
fn lanes_that_come_back_bring_what_they_had() {
    let text = "func f(v0:bool, u1:u64) {
  const u2:i32 = 16
  var v3:i32, v4:i32, v5:i32, v6:f32
  v3 = iota
  v4 = add.i32 v3, u2
  v5 = mov.i32 v4
  mask.if v0, L1
  v5 = assign.i32 v3
  v6 = load.f32.i32 [u1 + v5*4]
L1:
  mask.else L2
  v6 = load.f32.i32 [u1 + v5*4]
  v6 = load.f32.i32 [u1 + v4*4]
L2:
  mask.endif L3
  v6 = load.f32.i32 [u1 + v5*4]
L3:
  ret
}";
    let row = |aligned| Access::Consecutive { aligned };
    // In the second part v5 is still v4 in fact, but it may have been written.
    assert_eq!(accesses(text), [row(true), Access::Varying, row(true), Access::Varying]);
}

#[test]
fn uniform_loops_do_not_part_lanes() {
    let text = "func f(u0:i32, v1:f32) {
  const u2:i32 = 1
  const u3:i32 = 0
  var u4:i32, u5:bool
  u4 = mov.i32 u3
  everywhere
L1:
  u4 = add.i32 u4, u2
  u5 = lt.i32 u4, u0
  br.true u5, L1
  everywhere.end L2
L2:
  ret
}";
    let f = parse(text);
    let found = Properties::new(&f, Width::new(8).unwrap());
    assert_eq!(found.loops(), [LoopInfo { head: 2, back: 4, divergent: false }]);
    assert_eq!(found.mask(3), Some(Mask::All));
}

/// What is known of the index of a load in a loop in which `v17` is the index of a `foreach` from 0 on, `u0` is a parameter, and these
/// instructions compute the index `v20` (with `v18`, `v19`, `u22` and `u23`): its stride without assumptions, and with assumptions, and
/// those as text.
fn strides(body: &str) -> (Option<i64>, Option<i64>, String) {
    let text = format!(
        "func f(u0:i32, u1:u64, u2:i64) {{
  const u3:i64 = 8
  const u4:i64 = 0
  const u5:i32 = 1
  const u6:i32 = 16
  const u7:i32 = 7
  const u8:i32 = 3
  const u9:i32 = 24
  const u10:i32 = -8
  const u11:i32 = 4
  const u12:i32 = 6
  var u13:i64, u14:i32, u15:bool, v16:i32, v17:i32, v18:i32, v19:i32, v20:i32, v21:f32, u22:i32, u23:i32, v24:i64
  u13 = mov.i64 u4
L1:
  u14 = cvt.i32.i64 u13
  v16 = iota
  v17 = add.i32 u14, v16
  {body}
  v21 = load.f32.i32 [u1 + v20*4]
  u13 = add.i64 u13, u3
  u15 = lt.i64 u13, u2
  br.true u15, L1
  ret
}}"
    );
    let (f, width) = (parse(&text), Width::new(8).unwrap());
    let at = f.code.iter().position(|i| i.op == Op::Load).unwrap() as u32;
    let plain = Properties::new(&f, width).index(at).stride;
    let Some(assuming) = Properties::assuming(&f, width) else { return (plain, None, String::new()) };
    let lanes = assuming.index(at);
    let told = assuming.given(lanes).map(|a| {
        let letter = if f.reg(a.reg).shape == Shape::Uniform { 'u' } else { 'v' };
        match a.what {
            Assumed::Low(low) => format!("{letter}{}%8={low}", a.reg.0),
            Assumed::Count => format!("{letter}{}>=3", a.reg.0),
            Assumed::NotNegative => format!("{letter}{}>=0", a.reg.0),
        }
    });
    (plain, lanes.stride, told.collect::<Vec<_>>().join(" "))
}

/// With constants, bits of an index that is aligned are known.
#[test]
fn aligned_lanes_are_known_bit_by_bit() {
    let plain = |body| strides(body).0;
    assert_eq!(plain("v20 = and.i32 v17, u7"), Some(1));
    assert_eq!(plain("v20 = and.i32 v17, u8"), None);
    assert_eq!(plain("v20 = and.i32 v17, u10"), Some(0));
    assert_eq!(plain("v20 = or.i32 v17, u6"), Some(1));
    assert_eq!(plain("v20 = xor.i32 v17, u9"), Some(1));
    assert_eq!(plain("v20 = xor.i32 v17, u7"), Some(-1));
    assert_eq!(plain("v20 = xor.i32 v17, u5"), None);
    assert_eq!(plain("v20 = shr.i32 v17, u8"), Some(0));
    assert_eq!(plain("v20 = shr.i32 v17, u5"), None);
    assert_eq!(plain("v18 = shl.i32 v17, u11\n v20 = shr.i32 v18, u8"), Some(2));
    assert_eq!(plain("v18 = add.i32 v17, u5\n v20 = and.i32 v18, u7"), None);
    assert_eq!(plain("v18 = add.i32 v17, u6\n v20 = and.i32 v18, u7"), Some(1));
    // `(i >> 3 << 4) + (i & 7)`
    let far = "v18 = shr.i32 v17, u8\n v18 = shl.i32 v18, u11\n v19 = and.i32 v17, u7\n v20 = add.i32 v18, v19";
    assert_eq!(plain(far), Some(1));
    // A mask that leaves known bits makes numbers that are not negative.
    assert_eq!(plain("v18 = and.i32 v17, u7\n v20 = irem.i32 v18, u9"), Some(1));
    assert_eq!(plain("v18 = and.i32 v17, u7\n v24 = cvt.i64.i32 v18\n v20 = cvt.i32.i64 v24"), Some(1));
}

/// Quotients and remainders of numbers with a sign are rounded toward zero: nothing is known of them where these are negative.
#[test]
fn quotients_are_known_of_numbers_that_are_not_negative() {
    let of = |body| {
        let (plain, assuming, given) = strides(body);
        assert_eq!(plain, None, "{body}");
        (assuming, given)
    };
    let not_negative = |stride| (Some(stride), "v17>=0".to_owned());
    assert_eq!(of("v20 = idiv.i32 v17, u6"), not_negative(0));
    assert_eq!(of("v20 = irem.i32 v17, u6"), not_negative(1));
    assert_eq!(of("v20 = idiv.i32 v17, u9"), not_negative(0));
    assert_eq!(of("v20 = irem.i32 v17, u9"), not_negative(1));
    assert_eq!(of("v20 = idiv.i32 v17, u12").0, None);
    assert_eq!(of("v20 = irem.i32 v17, u11").0, None);
    assert_eq!(of("v18 = mul.i32 v17, u6\n v20 = idiv.i32 v18, u11"), (Some(4), "v18>=0".to_owned()));
    // It may wrap around between two lanes.
    assert_eq!(of("v18 = mul.i32 v17, u12\n v20 = idiv.i32 v18, u8").0, None);
    let both = ["u0%8=0", "v17>=0"].join(" ");
    assert_eq!(of("v20 = idiv.i32 v17, u0"), (Some(0), both.clone()));
    assert_eq!(of("v20 = irem.i32 v17, u0"), (Some(1), both.clone()));
    // `2 * step * (i / step) + i % step`
    let walsh = "v18 = idiv.i32 v17, u0\n u22 = shl.i32 u0, u5\n v18 = mul.i32 v18, u22\n v19 = irem.i32 v17, u0
  v20 = add.i32 v18, v19";
    assert_eq!(of(walsh), (Some(1), both));
}

/// Index arithmetic of networks, by steps that a run brings.
#[test]
fn what_depends_on_a_step_is_known_if_that_is_a_multiple_of_the_width() {
    let given = |stride, given: &str| (None, Some(stride), given.to_owned());
    let less = "u22 = sub.i32 u0, u5\n ";
    assert_eq!(strides(&format!("{less} v20 = and.i32 v17, u22")), given(1, "u22%8=7"));
    assert_eq!(strides(&format!("{less} u23 = not.i32 u22\n v20 = and.i32 v17, u23")), given(0, "u23%8=0"));
    assert_eq!(strides("u22 = neg.i32 u0\n v20 = and.i32 v17, u22"), given(0, "u22%8=0"));
    // One that was made elsewhere.
    assert_eq!(strides("v20 = and.i32 v17, u0"), given(1, "u0%8=7"));
    assert_eq!(strides("v20 = xor.i32 v17, u0"), given(1, "u0%8=0"));
    assert_eq!(strides("v20 = or.i32 v17, u0"), given(1, "u0%8=0"));
    assert_eq!(strides("v20 = shr.i32 v17, u0"), given(0, "u0>=3"));
    // `((i >> k) << (k + 1)) | (i & ((1 << k) - 1))`
    let shifts = "v18 = shr.i32 v17, u0\n u22 = add.i32 u0, u5\n v18 = shl.i32 v18, u22
  u23 = shl.i32 u5, u0\n u23 = sub.i32 u23, u5\n v19 = and.i32 v17, u23\n v20 = or.i32 v18, v19";
    let (plain, assuming, told) = strides(shifts);
    assert_eq!((plain, assuming), (None, Some(1)), "{told}");
    // An index that begins anywhere.
    let anywhere = format!("{less} v18 = add.i32 v17, u0\n v20 = and.i32 v18, u22");
    assert_eq!(strides(&anywhere), given(1, "u22%8=7 v18%8=0"));
}

/// What was concluded from a register is not so any more once it holds something else.
#[test]
fn assumptions_end_where_their_register_is_written() {
    let known = "v20 = xor.i32 v17, u0\n ";
    assert_eq!(strides(known).1, Some(1));
    assert_eq!(strides(&format!("{known} u0 = add.i32 u0, u5")).1, None);
    assert_eq!(strides(&format!("u0 = add.i32 u0, u5\n {known}")).1, Some(1));
}
