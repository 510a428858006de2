//! See `fuzz_parser`.
#![no_main]

#[path = "../shared/frontend.rs"]
#[allow(dead_code)] // Each target uses one of the functions.
mod shared;

libfuzzer_sys::fuzz_target!(|data: &[u8]| shared::fuzz_parser(data));
