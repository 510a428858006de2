//! What fuzzing checks of the virtual machine's forms: whatever the bytes, nothing panics, and what is read is read back.

use spmdvm_generate::{Options, generate};
use spmdvm_vm::asm::{Style, assemble, disassemble, normalize};
use spmdvm_vm::binary::{decode, decode_body, encode};
use spmdvm_vm::{Program, Width, verify};

/// Any text: assembled, or refused with errors that have places in it.
pub fn fuzz_assembler(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match assemble(&text) {
        Ok(program) => check(program),
        Err(errors) => {
            let lines = text.matches('\n').count() + 1;
            assert!(!errors.is_empty() && errors.iter().all(|e| (1..=lines).contains(&e.line) && e.column >= 1));
        }
    }
}

/// Any bytes, as a file and as what follows a file's header.
pub fn fuzz_binary(data: &[u8]) {
    for result in [decode(data), decode_body(data)] {
        match result {
            Ok(program) => {
                assert_eq!(decode(&encode(&program)).as_ref(), Ok(&program));
                check(program);
            }
            Err(error) => assert!(error.offset <= data.len()),
        }
    }
}

/// A seed and options for the generator of random programs, which makes verified ones.
pub fn fuzz_generator(data: &[u8]) {
    let Some((seed, options)) = data.split_first_chunk::<8>() else { return };
    let byte = |i: usize| options.get(i).copied().unwrap_or(0);
    let options = Options {
        width: Width::ALL[byte(0) as usize % Width::ALL.len()],
        budget: byte(1) as u32,
        trapping: byte(2) & 1 != 0,
        printing: byte(2) & 2 != 0,
    };
    let program = generate(u64::from_le_bytes(*seed), &options);
    assert!(verify(program.clone()).is_ok());
    assert_eq!(decode(&encode(&program)).as_ref(), Ok(&program));
    check(program);
}

/// A program, verified or not, is shown without a panic; a verified one reads back from its text.
fn check(mut program: Program) {
    let text = disassemble(&program, Style::Full);
    disassemble(&program, Style::Human);
    if verify(program.clone()).is_ok() {
        normalize(&mut program);
        assert_eq!(assemble(&text), Ok(program), "{text}");
    }
}
