//! Values on which operations differ.

use spmdvm_vm::sem::{Scalar, f16};
use spmdvm_vm::types::Ty;

/// A small generator of random words (SplitMix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A word of a type: often an edge, else anything.
    pub fn value(&mut self, ty: Ty) -> u64 {
        match self.below(4) {
            0 => self.anything(ty),
            1 => small(ty, self.below(7) as i64 - 3),
            _ => self.pick(&edges(ty)),
        }
    }

    fn anything(&mut self, ty: Ty) -> u64 {
        match ty {
            Ty::Bool => self.word() & 1,
            _ => self.word() & (u64::MAX >> (64 - 8 * ty.size())),
        }
    }
}

/// A small number.
pub fn small(ty: Ty, x: i64) -> u64 {
    match ty {
        Ty::Bool => (x != 0) as u64,
        Ty::F16 => f16::from_f64(x as f64).to_word(),
        Ty::F32 => (x as f32).to_word(),
        Ty::F64 => (x as f64).to_word(),
        _ => x as u64 & (u64::MAX >> (64 - 8 * ty.size())),
    }
}

/// Values at which something changes.
pub fn edges(ty: Ty) -> Vec<u64> {
    let bits = 8 * ty.size() as u32;
    let all = u64::MAX >> (64 - bits);
    let floats = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.5,
        3.7,
        127.5,
        128.0,
        255.0,
        255.5,
        256.0,
        32767.5,
        65504.0,
        65535.5,
        65536.0,
        2147483520.0,
        2147483647.5,
        2147483648.0,
        4294967040.0,
        4294967295.5,
        4294967296.0,
        9.3e18,
        1.85e19,
        1e30,
        1e-30,
        1e300,
        8388608.5,
        4503599627370497.5,
        f64::INFINITY,
        f64::NAN,
        9223372036854774784.0,
        18446744073709549568.0,
    ];
    let signed = floats.iter().flat_map(|&x| [x, -x]);
    match ty {
        Ty::Bool => vec![0, 1],
        Ty::F32 => signed.map(|x| (x as f32).to_word()).chain([1, 0x8000_0001, 0x007f_ffff, 0x7f7f_ffff]).collect(),
        Ty::F64 => signed.map(f64::to_word).chain([1, 1 << 63 | 1, 0x7fef_ffff_ffff_ffff]).collect(),
        Ty::F16 => signed.map(|x| f16::from_f64(x).to_word()).chain([1, 0x8001, 0x03ff, 0x7bff]).collect(),
        _ => {
            let mut edges: Vec<u64> = (0..bits).map(|k| 1 << k).collect();
            edges.extend([0, 1, 2, 3, 7, 10, all, all - 1, all >> 1, (all >> 1) + 2, bits as u64, bits as u64 + 1]);
            edges.extend((0..bits).map(|k| all ^ (1 << k)));
            edges.iter().map(|e| e & all).collect()
        }
    }
}
