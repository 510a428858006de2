//! Properties of the text and binary forms on random programs, sound ones and damaged ones.

use proptest::prelude::*;
use spmdvm_generate::{Options, generate};
use spmdvm_vm::asm::{Style, assemble, disassemble, normalize};
use spmdvm_vm::binary::{decode, encode};
use spmdvm_vm::program::*;
use spmdvm_vm::{Op, Ty, Width, verify};

/// Random programs, with sources and a span for most instructions.
fn programs() -> impl Strategy<Value = Program> {
    (any::<u64>(), 0..Width::ALL.len(), 1..120u32, any::<[bool; 2]>()).prop_map(|(seed, width, budget, flags)| {
        let options = Options { width: Width::ALL[width], budget, trapping: flags[0], printing: flags[1] };
        let mut program = generate(seed, &options);
        program.sources.push(Source::new("a.ispc", "x = 1;\n".repeat(50)));
        for f in &mut program.functions {
            for (i, span) in f.spans.iter_mut().enumerate().filter(|(i, _)| i % 5 != 0) {
                let lo = (seed as usize ^ (i * 37)) as u32 % 300;
                *span = Span { file: 0, lo, hi: lo + 1 + i as u32 % 40 };
            }
        }
        program
    })
}

/// Changes one field of one instruction to anything.
fn damage(program: &mut Program, at: usize, field: usize, value: u64) {
    let n = program.functions.len();
    let f = &mut program.functions[at % n];
    let registers = f.regs.len() as u64;
    let length = f.code.len();
    let inst = &mut f.code[at / n % length];
    let register = Reg(if value.is_multiple_of(5) { value as u32 } else { (value / 5 % registers) as u32 });
    match field {
        0 => inst.op = Op::from_code((value % 256) as u8).unwrap_or(Op::Ret),
        1 => inst.ty = Ty::ALL[value as usize % 12],
        2 => inst.from = Ty::ALL[value as usize % 12],
        3 => inst.dst = register,
        4..7 => inst.src[field - 4] = register,
        7 => inst.aux = (value % (2 * length as u64)) as u32,
        8 => inst.aux = value as u32,
        9 => inst.imm = value as i64,
        10 => inst.args = List { start: value as u32 % 64, len: (value >> 32) as u32 % 8 },
        11 => inst.rets = List { start: value as u32, len: (value >> 32) as u32 },
        12 => drop(f.code.remove(at / n % length)),
        _ => {
            std::sync::Arc::make_mut(&mut f.regs)[value as usize % registers as usize].ty = Ty::ALL[value as usize % 12]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn text_and_binary_forms_round_trip(program in programs()) {
        let decoded = decode(&encode(&program));
        prop_assert_eq!(decoded.as_ref(), Ok(&program));
        let text = disassemble(&program, Style::Full);
        let mut normal = program;
        normalize(&mut normal);
        let again = assemble(&text);
        prop_assert_eq!(again.as_ref(), Ok(&normal));
        prop_assert_eq!(disassemble(&normal, Style::Full), text);
    }

    #[test]
    fn damaged_programs_are_handled(
        mut program in programs(),
        harm in prop::collection::vec((any::<usize>(), 0..14usize, any::<u64>()), 1..4),
    ) {
        for (at, field, value) in harm {
            damage(&mut program, at, field, value);
        }
        let decoded = decode(&encode(&program));
        prop_assert_eq!(decoded.as_ref(), Ok(&program));
        let text = disassemble(&program, Style::Full);
        disassemble(&program, Style::Human);
        if verify(program.clone()).is_ok() {
            normalize(&mut program);
            prop_assert_eq!(assemble(&text), Ok(program));
        }
    }

    #[test]
    fn any_text_is_assembled_or_refused(text in "[ -~\n]{0,300}") {
        let _ = assemble(&text);
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = spmdvm_vm::binary::decode_body(&bytes);
    }
}
