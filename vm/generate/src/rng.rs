//! A small generator of random numbers whose sequence never changes: SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", 2014).

pub(super) struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Less than `n`, which is not 0. Slightly biased, which does not matter here.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True `n` times out of `of`.
    pub fn chance(&mut self, n: usize, of: usize) -> bool {
        self.below(of) < n
    }

    /// One of the items, of which there is one at least.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// The index of a weight, chosen in proportion; the weights are not all 0.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut at = self.below(weights.iter().sum());
        weights
            .iter()
            .position(|&w| {
                let here = at < w;
                at = at.saturating_sub(w);
                here
            })
            .unwrap_or(0)
    }
}
