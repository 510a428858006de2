//! The binary form: round trips, and bytes that are no program.

use spmdvm_vm::asm::assemble;
use spmdvm_vm::binary::{decode, decode_body, encode};

const PROGRAM: &str = r##".width 32
.source 0 "a.ispc" "float f() {\n\treturn π;\n}\n"
.message 0 "m"
.format 0 "x = " {value conversion "d" width 8 precision 3 zero left plus} {text}
.global g 64 const {
  hex "0000803f01"
  reloc 8 g - 16
  host readonly [f32 * 16]
}
.global given 0 {
  host extern [[i16 * 4] * 0]
}
.export "sum" main(a: array writable struct "P" 16 { "x" 0 f32, "c" 4 enum "Color", "v" 8 [u8 * 4], "p" 12 byte }, n: uniform i32 = 3) -> varying f32 {
  doc "Doc."
  declaration "export"
}
func main(u0:u64, u1:i32 "n") -> (v3) task frame 32 {
  const u2:i64 = -1
  var v3:f32
  v3 = load.f32.i32 [u0 + u1*4 - 8] @0:3-4
  print #0(v3, u0) @0:1-2
  u0 = call.ind u0(u1, v3)
L:
  jmp L
}
"##;

#[test]
fn a_program_round_trips() {
    let program = assemble(PROGRAM).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!(decode(&encode(&program)), Ok(program));
}

#[test]
fn every_cut_and_every_changed_byte_is_survived() {
    let bytes = encode(&assemble(PROGRAM).unwrap());
    for n in 0..bytes.len() {
        assert!(decode(&bytes[..n]).is_err());
        let mut changed = bytes.clone();
        changed[n] ^= 0x55;
        assert!(decode(&changed).is_err(), "byte {n}");
    }
    let body = &bytes[18..];
    for n in 0..body.len() {
        assert!(decode_body(&body[..n]).is_err());
        for flip in [0x01, 0x80, 0x55, 0xff] {
            let mut changed = body.to_vec();
            changed[n] ^= flip;
            let _ = decode_body(&changed);
        }
    }
}

#[test]
fn errors_say_where() {
    let error = decode_body(&[3]).unwrap_err();
    assert_eq!(error.to_string(), "byte 1: a width that there is not");
    let error = decode_body(&[16, 0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap_err();
    assert_eq!(error.to_string(), "byte 6: 4294967295 items are announced, 0 bytes are left");
}
