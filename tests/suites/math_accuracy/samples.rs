//! Arguments to try.

/// Whether every float is to be tried.
fn long() -> bool {
    std::env::var_os("SPMDVM_LONG").is_some()
}

/// Floats in blocks: all, or one in some thousands, from every binade.
pub fn floats() -> impl Iterator<Item = Vec<f32>> {
    let stride: u64 = if long() { 1 } else { 20_011 };
    let per_block = 1 << 20;
    let blocks = (1u64 << 32).div_ceil(stride * per_block);
    (0..blocks).map(move |block| {
        let first = block * per_block;
        let bits = (first..first + per_block).map(|k| k * stride).take_while(|&bits| bits < 1 << 32);
        bits.map(|bits| f32::from_bits(bits as u32)).collect()
    })
}

/// A small generator of random numbers (Steele, Lea and Flood's SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// Any sign and significand, an exponent from `low` to `high`.
    fn of_exponent(&mut self, low: i32, high: i32) -> f64 {
        let exponent = low + (self.next() % (high - low + 1) as u64) as i32;
        let magnitude = (1.0 + self.unit()) * 2f64.powi(exponent);
        if self.next() & 1 == 0 { magnitude } else { -magnitude }
    }
}

/// Values at which functions are likely to fail.
pub const EDGES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    3.0,
    -2.0,
    -3.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    -5e-324,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    0.999_999_999_999_999_9,
    1.000_000_000_000_000_2,
    std::f64::consts::PI,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::FRAC_PI_4,
    1e22,
    1e300,
    1e-300,
    709.78,
    -745.2,
    16_777_217.0,
];

/// Doubles: edges, bit patterns, the given range, and numbers near 1.
pub fn doubles(range: (f64, f64)) -> Vec<f64> {
    let n = if long() { 1_000_000 } else { 8_000 };
    let mut random = Random(1);
    let mut xs = EDGES.to_vec();
    for _ in 0..n {
        xs.push(f64::from_bits(random.next()));
        xs.push(range.0 + (range.1 - range.0) * random.unit());
        xs.push(random.of_exponent(-30, 6));
        // Near a multiple of pi/2.
        let multiple = (random.next() >> (24 + random.next() % 40)) as f64;
        xs.push(multiple * std::f64::consts::FRAC_PI_2);
    }
    xs
}

/// Pairs of doubles: every pair of edges, bit patterns, and numbers of like size.
pub fn pairs(positive: bool) -> (Vec<f64>, Vec<f64>) {
    let n = if long() { 1_000_000 } else { 10_000 };
    let mut random = Random(2);
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for &x in EDGES {
        for &y in EDGES {
            xs.push(x);
            ys.push(y);
        }
    }
    for _ in 0..n {
        xs.push(f64::from_bits(random.next()));
        ys.push(f64::from_bits(random.next()));
        let x = random.of_exponent(-4, 4);
        xs.push(if positive { x.abs() } else { x });
        ys.push(random.of_exponent(-4, 4));
        let exponent = (random.next() % 240) as i32 - 120;
        let x = random.of_exponent(exponent, exponent);
        xs.push(if positive { x.abs() } else { x });
        ys.push(if positive {
            // A power that stays near the ends of the float range.
            130.0 * random.unit() / x.abs().log2()
        } else {
            random.of_exponent(exponent - 3, exponent + 3)
        });
    }
    (xs, ys)
}

/// Bases near 1 with exponents that lead to the ends of a format's range, 2^-limit to 2^limit: there it counts most what the
/// logarithm errs by.
pub fn far_powers(limit: f64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random(11);
    let n = if long() { 2_000_000 } else { 200_000 };
    (0..n)
        .map(|_| {
            let x = f64::from((random.unit() * 2.0 - 1.0).exp2() as f32);
            (x, limit * (2.0 * random.unit() - 1.0) / x.log2())
        })
        .unzip()
}
