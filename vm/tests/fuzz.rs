//! Runs each fuzzing function of the virtual machine for a second on changed copies of good inputs.

use spmdvm_generate::{Options, generate};
use spmdvm_vm::asm::{Style, disassemble};
use spmdvm_vm::binary::encode;

#[path = "../../fuzz/shared/driver.rs"]
mod driver;
#[path = "../../fuzz/shared/vm.rs"]
mod shared;

use driver::for_a_second;

fn small_programs() -> impl Iterator<Item = spmdvm_vm::Program> {
    let options = Options { budget: 12, trapping: true, ..Options::default() };
    (0..20).map(move |seed| generate(seed, &options))
}

#[test]
fn assembler() {
    let texts = small_programs().map(|p| disassemble(&p, Style::Full).into_bytes());
    for_a_second("assembler", texts.collect(), shared::fuzz_assembler);
}

#[test]
fn binary() {
    let bodies = small_programs().map(|p| encode(&p)[18..].to_vec());
    for_a_second("binary", bodies.collect(), shared::fuzz_binary);
}

#[test]
fn generator() {
    for_a_second("generator", (0..20).map(|i| vec![i; 11]).collect(), shared::fuzz_generator);
}
