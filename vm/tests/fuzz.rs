//! Runs each fuzzing function of the virtual machine for a second on changed copies of good inputs.

use spmdvm_vm::asm::{Style, disassemble};
use spmdvm_vm::binary::encode;
use spmdvm_vm::generate::{Options, generate};
use std::time::{Duration, Instant};

#[path = "../../fuzz/shared/vm.rs"]
mod shared;

/// A xorshift generator; the run differs from time to time only in how far it comes.
struct Changes(u64);

impl Changes {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    /// Overwrites, removes, repeats or inserts some bytes.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len() + 1);
            let n = self.below(12).min(bytes.len() - at);
            match self.below(5) {
                0 => bytes[at..at + n].iter_mut().for_each(|b| *b = b.wrapping_add(1)),
                1 => drop(bytes.drain(at..at + n)),
                2 => {
                    let copy = bytes[at..at + n].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, copy);
                }
                3 => bytes.insert(at, self.below(256) as u8),
                _ => bytes.insert(at, b"(){}[]:,\"#@-\n0"[self.below(14)]),
            }
        }
    }
}

fn for_a_second(seeds: Vec<Vec<u8>>, run: fn(&[u8])) {
    let mut changes = Changes(0x2545_f491_4f6c_dd1d);
    let end = Instant::now() + Duration::from_secs(1);
    seeds.iter().for_each(|s| run(s));
    while Instant::now() < end {
        let n = changes.below(seeds.len());
        let mut input = seeds[n].clone();
        changes.change(&mut input);
        run(&input);
    }
}

fn small_programs() -> impl Iterator<Item = spmdvm_vm::Program> {
    let options = Options { budget: 12, trapping: true, ..Options::default() };
    (0..20).map(move |seed| generate(seed, &options))
}

#[test]
fn assembler() {
    let texts = small_programs().map(|p| disassemble(&p, Style::Full).into_bytes());
    for_a_second(texts.collect(), shared::fuzz_assembler);
}

#[test]
fn binary() {
    let bodies = small_programs().map(|p| encode(&p)[18..].to_vec());
    for_a_second(bodies.collect(), shared::fuzz_binary);
}

#[test]
fn generator() {
    for_a_second((0..20).map(|i| vec![i; 11]).collect(), shared::fuzz_generator);
}
