//! Products of integers by constants.
//!
//! A product of 32 bits takes ten cycles on Intel's processors, one of 64 bits fifteen, and each is two or three instructions to them;
//! shifts and sums take one. So a product by the sum or difference of two powers of two is made of these; one of 32 bits only if the
//! lower power is 1.

use super::inst::Arg;
use super::level::Level;
use super::select::Select;
use super::values::sized;
use crate::ir::Value;
use iced_x86::Code;
use regalloc2::VReg;
use spmdvm_vm::types::Ty;

/// A factor as two powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Powers {
    first: u8,
    second: u8,
    /// Whether it is their difference, and not their sum.
    minus: bool,
}

impl Powers {
    /// Of the factor with these bits, of integers of 4 or 8 bytes, if the product by it is to be made so.
    fn of(bits: u64, size: usize) -> Option<Powers> {
        let n = 8 * size as u32;
        let factor = bits & u64::MAX >> (64 - n);
        let (second, ones) = (factor.trailing_zeros(), factor.count_ones());
        let is_run = ones > 2 && second + ones < n && (factor >> second) == (1 << ones) - 1;
        let (first, minus) = match ones {
            2 => (u64::BITS - 1 - factor.leading_zeros(), false),
            _ if is_run => (second + ones, true),
            _ => return None,
        };
        (size == 8 || second == 0).then_some(Powers { first: first as u8, second: second as u8, minus })
    }
}

impl<L: Level> Select<'_, L> {
    /// The vectors of a product, if one of two factors is such a constant.
    pub(super) fn products_by_constant(&mut self, args: &[Value], ty: Ty) -> Option<Vec<VReg>> {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let powers = |v: Value| Powers::of(self.values.constant_lanes(v)?, size);
        let (powers, x) = match (powers(args[0]), powers(args[1])) {
            (_, Some(powers)) => (powers, args[0]),
            (Some(powers), None) => (powers, args[1]),
            (None, None) => return None,
        };
        let of_size = |four, eight| sized(if size == 4 { four } else { eight }, form);
        let code = match powers.minus {
            true => of_size(Code::EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64),
            false => of_size(Code::EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64),
        };
        let shift = of_size(Code::EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8, Code::EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8);
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let x = self.piece(x, size, i);
            let first = self.vector_imm(shift, form, x, powers.first);
            let second = if powers.second == 0 { x } else { self.vector_imm(shift, form, x, powers.second) };
            self.vector(code, form, &[Arg::Use(first, form), Arg::Use(second, form)])
        });
        Some(pieces.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor again.
    fn value(Powers { first, second, minus }: Powers) -> u64 {
        let (first, second) = (1u64 << first, 1u64 << second);
        if minus { first - second } else { first + second }
    }

    #[test]
    fn factors_are_two_powers_of_two() {
        let of = |factor: u64, size| Powers::of(factor, size).map(|p| (p.first, p.second, p.minus));
        assert_eq!(of(3, 4), Some((1, 0, false)));
        assert_eq!(of(7, 4), Some((3, 0, true)));
        assert_eq!(of(0x7fff_ffff, 4), Some((31, 0, true)));
        assert_eq!([12, 14].map(|factor| of(factor, 4)), [None; 2]);
        assert_eq!([12, 14].map(|factor| of(factor, 8)), [Some((3, 2, false)), Some((4, 1, true))]);
        // Neither powers alone, nor what would need one that is too large.
        assert_eq!([0, 1, 64, 11, u64::MAX, u64::MAX << 4].map(|factor| of(factor, 8)), [None; 6]);
        assert_eq!(of(-1i32 as u64, 4), None);
    }

    #[test]
    fn they_are_worth_what_the_factor_is() {
        for factor in (0..1 << 16).chain((0..64).flat_map(|by| [3u64 << by, 7 << by, u64::MAX >> by, u64::MAX << by])) {
            for size in [4, 8] {
                let mask = u64::MAX >> (64 - 8 * size as u32);
                if let Some(powers) = Powers::of(factor, size) {
                    assert_eq!(value(powers) & mask, factor & mask, "{factor:#x} of {size} bytes");
                    assert!(u32::from(powers.first) < 8 * size as u32, "{factor:#x}");
                }
            }
        }
    }
}
