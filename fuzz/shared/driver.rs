//! Runs a fuzzing function on changed copies of good inputs as an ordinary test: for a second, or for `FUZZ_SECONDS`.

use std::time::{Duration, Instant};

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

/// Runs `run` on each seed as it is, then on changed copies of them until the time is up.
pub fn for_a_second(seeds: Vec<Vec<u8>>, run: fn(&[u8])) {
    let mut changes = Changes(0x2545_f491_4f6c_dd1d);
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(seconds);
    seeds.iter().for_each(|s| run(s));
    while Instant::now() < end {
        let n = changes.below(seeds.len());
        let mut input = seeds[n].clone();
        changes.change(&mut input);
        run(&input);
    }
}
