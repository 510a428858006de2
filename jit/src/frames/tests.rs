//! What is private, and what may still be read, in small functions.

use super::*;
use spmdvm_vm::asm::assemble;
use spmdvm_vm::verify;

/// The program, and what is known of its first function's memory and of all that it calls.
fn analysed(text: &str) -> (Program, Frames) {
    let program = assemble(&format!(".width 4\n{text}")).unwrap_or_else(|e| panic!("{e:?}"));
    verify(program.clone()).unwrap_or_else(|e| panic!("{e:?}"));
    let frames = Frames::new(&program).expect("a function has memory");
    (program, frames)
}

/// What may be read of the first function's memory after the first instruction with this operation.
fn live_after(text: &str, op: Op) -> Vec<(i64, i64)> {
    let (program, frames) = analysed(text);
    assert!(frames.is_private(FuncId(0)));
    let at = program.functions[0].code.iter().position(|inst| inst.op == op).expect("there is one");
    let ranges = frames.live(FuncId(0), at as u32 + 1, Root::Frame);
    ranges.into_iter().map(|range| (range.start, range.end)).collect()
}

#[test]
fn a_store_hides_what_was_there_before() {
    let text = "func f(u0:f32) -> (v3) frame 32 {
  const u4:i32 = 0
  var u1:u64, v2:f32, v3:f32
  u1 = frame.addr 0
  v2 = load.lane.f32 [u1]
  store.lane.f32 [u1], v2
  v3 = load.lane.f32 [u1]
  ret
}";
    assert_eq!(live_after(text, Op::FrameAddr), [(0, 16)]);
    assert_eq!(live_after(text, Op::LoadLane), []);
    assert_eq!(live_after(text, Op::StoreLane), [(0, 16)]);
}

#[test]
fn a_copy_reads_its_source_and_hides_what_was_where_it_goes() {
    let text = "func f() -> (v2) frame 64 {
  const u3:i64 = 16
  var u0:u64, u1:u64, v2:f32
  u0 = frame.addr 0
  u1 = padd u0, u3
  mem.copy u1, u0, u3
  v2 = load.lane.f32 [u1]
  ret
}";
    assert_eq!(live_after(text, Op::FrameAddr), [(0, 16)]);
    assert_eq!(live_after(text, Op::MemCopy), [(16, 32)]);
}

/// A function that loads one vector, so that `v2` and `v3` have values, and then does what its body says.
fn function(body: &str) -> String {
    format!(
        "func f(v0:bool) -> (v3) frame 32 {{
  var u1:u64, v2:f32, v3:f32, u4:f32
  u1 = frame.addr 0
  v2 = load.lane.f32 [u1 + 16]
  v3 = mov.f32 v2
  {body}
  ret
}}"
    )
}

/// A store in an arm of an `if`, and a read in some place.
fn conditional(in_arm: &str, in_else: &str, after: &str) -> String {
    function(&format!(
        "mask.if v0, L1
  store.lane.f32 [u1], v2
  {in_arm}
L1:
  mask.else L2
  {in_else}
L2:
  mask.endif L3
  {after}
L3:"
    ))
}

#[test]
fn a_masked_store_hides_only_what_its_own_lanes_read() {
    let (read, all) = ("v3 = load.lane.f32 [u1]", [(0, 16)]);
    assert_eq!(live_after(&conditional(read, "", ""), Op::LoadLane), []);
    assert_eq!(live_after(&conditional("", read, ""), Op::LoadLane), all);
    assert_eq!(live_after(&conditional("", "", read), Op::LoadLane), all);
}

#[test]
fn a_masked_store_does_not_hide_a_read_of_other_shape() {
    for read in ["u4 = load.f32 [u1 + 4]", "v3 = load.lane.f32 [u1 + 4]"] {
        assert_eq!(live_after(&conditional(read, "", ""), Op::LoadLane).len(), 1, "{read}");
    }
}

#[test]
fn with_all_lanes_on_more_is_read_than_a_masked_store_has_written() {
    let text = function(
        "store.lane.f32 [u1], v2
  everywhere
  v3 = load.lane.f32 [u1]
  everywhere.end L1
L1:",
    );
    assert_eq!(live_after(&text, Op::LoadLane), [(0, 16)]);
}

#[test]
fn lanes_that_continue_come_back_in_the_next_turn() {
    let text = function(
        "loop.begin
L1:
  loop.test v0, L4
  mask.continue.if v0, L3
  store.lane.f32 [u1], v2
L3:
  loop.next L4
  v3 = load.lane.f32 [u1]
  loop.back L1
L4:
  loop.end L5
L5:",
    );
    assert_eq!(live_after(&text, Op::MaskContinueIf), [(0, 16)]);
}

#[test]
fn a_callee_reads_through_its_parameter() {
    let text = "func f(v0:f32) -> (v3) frame 48 {
  const u4:i32 = 0
  const u5:i64 = 48
  const u6:i64 = 16
  var u1:u64, u2:u64, v3:f32
  u1 = frame.addr 0
  mem.set u1, u4, u5
  u2 = padd.u64 u1, u6
  v3 = call g(u2, v0)
  ret
}

func g(u0:u64, v1:f32) -> (v2) {
  var v2:f32
  store.lane.f32 [u0], v1
  v2 = load.lane.f32 [u0]
  v2 = load.lane.f32 [u0 + 16]
  ret
}";
    // The first vector that it reads it has written itself.
    assert_eq!(live_after(text, Op::MemSet), [(32, 48)]);
    assert_eq!(live_after(text, Op::FrameAddr), []);
}

/// Returns whether the memory of a function with this in its body stays private.
fn stays_private(body: &str) -> bool {
    let text = format!(
        ".global shared 16 {{
}}

func f(u0:u64, u1:i32) -> (u7) frame 16 {{
  const u2:i32 = 0
  const u3:i64 = 8
  var u4:u64, u5:u64, u6:u64, u7:u64, u8:bool, u9:i64
  u4 = frame.addr 0
  u6 = global.addr shared
  u7 = mov.u64 u6
  {body}
  ret
}}

func keeps(u0:u64) {{
  var u1:u64
  u1 = global.addr shared
  store.u64 [u1], u0
  ret
}}

func hands_on(u0:u64) {{
  call keeps(u0)
  ret
}}

func again(u0:u64, u1:i32) {{
  const u2:i32 = 0
  var u3:bool
  u3 = eq.i32 u1, u2
  br.true u3, L1
  call again(u0, u2)
L1:
  ret
}}"
    );
    analysed(&text).1.is_private(FuncId(0))
}

#[test]
fn memory_is_private_until_an_address_gets_away() {
    for body in
        ["", "u5 = padd.u64 u4, u3", "u5 = mov.u64 u4\n store.i32 [u5], u1", "u8 = eq.u64 u4, u0", "call again(u4, u1)"]
    {
        assert!(stays_private(body), "{body}");
    }
    for body in [
        "store.u64 [u6], u4",
        "u7 = mov.u64 u4",
        "u9 = cvt.i64.u64 u4",
        "call keeps(u4)",
        "call hands_on(u4)",
        "u5 = padd.u64 u4, u3\n store.u64 [u4], u5",
    ] {
        assert!(!stays_private(body), "{body}");
    }
}
