//! See `fuzz_assembler`.
#![no_main]

#[path = "../shared/vm.rs"]
mod shared;

libfuzzer_sys::fuzz_target!(|data: &[u8]| shared::fuzz_assembler(data));
