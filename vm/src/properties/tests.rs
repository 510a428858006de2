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
