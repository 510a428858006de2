//! What random programs are called with, and how their memory is compared.

use spmdvm_vm::sem;
use spmdvm_vm::types::{Ty, Width};

/// The arguments of `main` for a seed, as words for every lane: varying `i32` and `f32`, uniform `i32` and `f64`.
pub fn arguments(seed: u64, width: Width) -> [Vec<u64>; 4] {
    let noise = |i: usize| (seed ^ i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let lanes = width.lanes();
    let ints = (0..lanes).map(|l| noise(l) as u32 as u64 % 100).collect();
    let floats = (0..lanes).map(|l| (noise(l + 100) as f32 / 1e4 - 800.0).to_bits() as u64).collect();
    [ints, floats, vec![noise(7) % 10], vec![(noise(8) as f64).to_bits()]]
}

/// The lanes that are active in that call: all of them for every third seed, some for the others.
pub fn mask(seed: u64, width: Width) -> u64 {
    let some = seed.wrapping_mul(0xd134_2543_de82_ef95).rotate_left(17) & width.full_mask();
    if seed.is_multiple_of(3) || some == 0 { width.full_mask() } else { some }
}

/// Elements of a global as words, NaNs made one. Its name ends in their type.
pub fn elements(name: &str, bytes: &[u8]) -> Vec<u64> {
    let ty = name.rsplit('.').next().and_then(Ty::from_name).unwrap_or(Ty::U8);
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |w, &b| w << 8 | b as u64);
    bytes.chunks(ty.size()).map(|chunk| sem::bitcast(ty, word(chunk))).collect()
}
