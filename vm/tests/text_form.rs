//! The text form by example: every construct, both ways.

use spmdvm_vm::asm::{Style, assemble, disassemble};
use spmdvm_vm::verify;

const EVERYTHING: &str = r##".width 8
.source 0 "a \"b\".ispc" "float f() {\n\treturn π;\n}\n"
.message 0 "x is not negative"
.format 0 "x = " {value} " " {value conversion "d" width 8 precision 3 zero left plus} "\n"
.format 1 {pointer}
.format 2
.global table 64 const {
  hex "0000803f 01"
  reloc 8 table + 16
  reloc 16 "odd name" - 4
}
.global "odd name" 8 {
  text "hello\n\0"
  host writable struct "S" 8 { "x" 0 f32, "y" 4 [u8 * 4] }
}
.global given 0 const {
  host extern [f64 * 0]
}
.export "clamp" clamp(x: varying f32 = -0.5) -> varying f32 {
  doc "Clamps."
  declaration "export float clamp(float x)"
}
.export "sum" main(a: array writable struct "P" 16 { "x" 0 f32, "c" 4 enum "Color", "v" 8 [u8 * 4], "p" 12 byte }, n: uniform i32 = 3, "": reference pointer = 0x0) {
}

func clamp(v0:f32 "x") -> (v2) {
  const u1:f32 = 0.1
  const u4:f16 = nan
  const u5:f64 = bits(0x7ff8000000000001)
  const u6:bool = true
  const u7:i8 = -128
  var v2:f32 "y", v3:bool
  v2 = mov.f32 u1 @0:0-5
  v3 = gt.f32 v0, u1 @0:14-16
  mask.if v3, L4
  v2 = assign.f32 v0
L4:
  mask.endif L5
L5:
  ret
}

func main(u0:u64, u1:i32, u2:u64) frame 32 {
  const u12:f32 = 1.0
  var v3:f32, v4:i32, u5:u64, u6:u64, u7:u64, u8:f32, v9:f32, v10:f32
  var v11:bool
  v4 = iota
  v3 = load.f32.i32 [u0 + v4*4 + 8]
  u8 = load.f32 [u0 - 16]
  v9 = load.lane.f32.i32 [u0 + u1*32]
  store.f32 [u0], u12
  store.lane.f32.i32 [u0 + u1*1], v3
  u5 = global.addr "odd name" + 4
  u6 = frame.addr 16
  u7 = func.addr main
  v10 = call clamp(v3)
  call.ind u7(u0, u1, u2)
  v3 = cvt.f32.i32 v4
  v11 = lt.f32 v3, u12
  assert v11, #0
  print #0(v3, u1)
  print #1(u0)
  print #2()
  abort #0
  launch one(u1, u1, u1, u2, v11)
  launch.ind u7(u1, u1, u1)
  sync
  fence
  ret
}

func one(u0:i32, u1:i32, u2:i32, u3:i32, u4:i32, u5:i32, u6:u64, v7:bool) task {
  var u8:i32, u9:i32
  u8 = thread.index
  u9 = thread.count
  ret
}
"##;

#[test]
fn the_text_form_round_trips() {
    let program = assemble(EVERYTHING).unwrap_or_else(|e| panic!("{e:#?}"));
    let text = disassemble(&program, Style::Full);
    assert_eq!(text, EVERYTHING);
    verify(program).unwrap_or_else(|e| panic!("{e:#?}"));
}

#[test]
fn the_form_for_readers_shows_lines_and_messages() {
    let program = assemble(EVERYTHING).unwrap();
    let text = disassemble(&program, Style::Human);
    assert!(text.contains("v2 = mov.f32 u1  ; a \"b\".ispc:1\n"), "{text}");
    assert!(text.contains("v3 = gt.f32 v0, u1  ; a \"b\".ispc:2\n"), "{text}");
    assert!(text.contains("assert v11, #0  ; \"x is not negative\"\n"), "{text}");
    assert!(text.contains("print #0(v3, u1)  ; \"x = % %\\n\"\n"), "{text}");
    assert!(!text.contains("@0:") && !text.contains(".source"));
    let again = assemble(&text).unwrap();
    assert_eq!(again.functions[0].code, program.functions[0].code);
}

#[test]
fn names_that_clash_are_numbered() {
    let text = ".width 16\n\nfunc f() {\n  call #1()\n  call f()\n  ret\n}\n\nfunc f() {\n  ret\n}\n";
    let program = assemble(text).unwrap();
    assert_eq!(program.functions[0].code[0].aux, 1);
    assert_eq!(disassemble(&program, Style::Full), text);
}
