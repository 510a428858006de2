//! The choices that a seed makes, the same on every machine.

/// A stream of numbers (SplitMix64).
pub struct Rng {
    state: u64,
}

impl Rng {
    /// That of a seed. Neighbouring seeds have streams that have nothing in common.
    pub fn new(seed: u64) -> Rng {
        Rng { state: mix(seed ^ 0x5851_f42d_4c95_7f2d) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number below `n`.
    pub fn draw(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// True in one of `n` cases.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.draw(n) == 0
    }

    /// One of some things, of which there must be one.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.draw(choices.len() as u64) as usize].clone()
    }

    /// The position of one of some weights, in proportion to them.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let total: u64 = weights.clone().map(u64::from).sum();
        let mut left = self.draw(total.max(1));
        for (at, weight) in weights.enumerate() {
            match left.checked_sub(weight.into()) {
                Some(rest) => left = rest,
                None => return at,
            }
        }
        0
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
