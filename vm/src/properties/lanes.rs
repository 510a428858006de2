//! What is known of the lanes of a register, and what operations make of it.

use crate::types::Width;

/// What is known of a register's lanes: lane *l* holds `first + l * stride` in its type's wrapping arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The difference from lane to lane; `None` if nothing is known.
    pub stride: Option<i64>,
    /// So many low bits of `first` are known.
    pub bits: u8,
    /// What they are; above them, 0.
    pub low: u64,
    /// Under which assumptions it is so, a bit for each.
    pub given: u32,
}

impl Lanes {
    /// Nothing is known.
    pub const VARYING: Lanes = Lanes { stride: None, bits: 0, low: 0, given: 0 };
    /// The same in every lane.
    pub const UNIFORM: Lanes = Lanes { stride: Some(0), ..Lanes::VARYING };

    /// A constant of so many bits.
    pub(super) fn constant(value: u64, bits: u32) -> Lanes {
        Lanes::UNIFORM.with_low(value, bits)
    }

    /// The number of each lane, of a type of so many bits.
    pub(super) fn numbers(bits: u32) -> Lanes {
        Lanes { stride: Some(1), ..Lanes::constant(0, bits) }
    }

    /// Returns whether it is the same in every lane.
    pub fn is_uniform(self) -> bool {
        self.stride == Some(0)
    }

    /// Returns whether it goes up by one from lane to lane.
    pub fn is_consecutive(self) -> bool {
        self.stride == Some(1)
    }

    /// How many low bits of lane 0 are zero: 2 to this power divides it.
    pub fn zeros(self) -> u8 {
        self.bits.min(self.low.trailing_zeros() as u8)
    }

    /// The same with so many low bits known.
    pub(super) fn with_low(self, low: u64, bits: u32) -> Lanes {
        Lanes { bits: bits as u8, low: low & ones(bits), ..self }
    }

    /// The same if some more is so.
    pub(super) fn given(self, given: u32) -> Lanes {
        Lanes { given: self.given | given, ..self }
    }

    /// The same if its low bits, as many as number the lanes of a gang, are these; `None` if they are known to be others.
    pub(super) fn assumed_low(self, low: u64, width: Width) -> Option<Lanes> {
        let bits = width.lanes().trailing_zeros();
        let agrees = (self.low ^ low) & ones(bits.min(self.bits.into())) == 0;
        let more = if u32::from(self.bits) < bits { self.with_low(low, bits) } else { self };
        agrees.then_some(more)
    }

    /// The value, if it is a constant of so many bits.
    pub(super) fn known(self, bits: u32) -> Option<u64> {
        (self.is_uniform() && u32::from(self.bits) == bits).then_some(self.low)
    }

    pub(super) fn join(self, other: Lanes) -> Lanes {
        if self.stride.is_none() || self.stride != other.stride {
            return Lanes::VARYING;
        }
        let same = (self.low ^ other.low).trailing_zeros();
        self.with_low(self.low, same.min(self.bits.into()).min(other.bits.into())).given(other.given)
    }

    /// The low bits of every lane, if no lane differs from another in the bits above them.
    fn low_lanes(self, bits: u32, width: Width) -> Option<Vec<u64>> {
        let stride = i128::from(self.stride?);
        let (first, end) = (i128::from(self.low & ones(bits)), 1i128 << bits);
        let lane = |l: usize| first + l as i128 * stride;
        let is_low = bits <= self.bits.into() && (0..end).contains(&lane(width.lanes() - 1));
        is_low.then(|| (0..width.lanes()).map(|l| lane(l) as u64).collect())
    }

    /// Lanes that differ in so many low bits only, which are these.
    fn of_low_lanes(low: &[u64], bits: u32) -> Lanes {
        let step = |pair: &[u64]| pair[1].wrapping_sub(pair[0]) as i64;
        let stride = low.windows(2).next().map_or(0, step);
        if low.windows(2).any(|pair| step(pair) != stride) {
            return Lanes::VARYING;
        }
        Lanes { stride: Some(stride), ..Lanes::UNIFORM }.with_low(low[0], bits)
    }
}

/// So many ones.
fn ones(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// A number of so many bits, as a number with a sign.
fn wrapped(x: i64, bits: u32) -> i64 {
    x << (64 - bits) >> (64 - bits)
}

/// What operations on integers of a type make of lanes. Assumptions are the caller's.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic {
    pub bits: u32,
    pub signed: bool,
    pub width: Width,
}

impl Arithmetic {
    /// Lanes with this stride, whose low bits are what both operands' give.
    fn linear(self, stride: Option<i64>, low: u64, bits: u32) -> Lanes {
        match stride {
            Some(stride) => Lanes { stride: Some(wrapped(stride, self.bits)), ..Lanes::UNIFORM }.with_low(low, bits),
            None => Lanes::VARYING,
        }
    }

    pub fn sum(self, a: Lanes, b: Lanes) -> Lanes {
        let stride = a.stride.zip(b.stride).map(|(x, y)| x.wrapping_add(y));
        self.linear(stride, a.low.wrapping_add(b.low), a.bits.min(b.bits).into())
    }

    pub fn difference(self, a: Lanes, b: Lanes) -> Lanes {
        let stride = a.stride.zip(b.stride).map(|(x, y)| x.wrapping_sub(y));
        self.linear(stride, a.low.wrapping_sub(b.low), a.bits.min(b.bits).into())
    }

    pub fn product(self, a: Lanes, b: Lanes) -> Lanes {
        let by = |x: Lanes, factor: Lanes| Some(x.stride?.wrapping_mul(factor.known(self.bits)? as i64));
        let both_uniform = (a.is_uniform() && b.is_uniform()).then_some(0);
        let stride = both_uniform.or_else(|| by(a, b)).or_else(|| by(b, a));
        // What is not known of one is multiplied by the other.
        let unknown = |x: Lanes, by: Lanes| {
            u32::from(x.bits) + if by.low == 0 { u32::from(by.bits) } else { by.low.trailing_zeros() }
        };
        let bits = unknown(a, b).min(unknown(b, a)).min(self.bits);
        self.linear(stride, a.low.wrapping_mul(b.low), bits)
    }

    /// `&`, `|` or `^`: bit by bit, where no lane differs from another in the bits that are not known.
    pub fn bitwise(self, a: Lanes, b: Lanes, f: impl Fn(u64, u64) -> u64) -> Lanes {
        let bits = u32::from(a.bits.min(b.bits));
        let Some((x, y)) = a.low_lanes(bits, self.width).zip(b.low_lanes(bits, self.width)) else {
            return Lanes::VARYING;
        };
        let low: Vec<u64> = x.into_iter().zip(y).map(|(x, y)| f(x, y) & ones(bits)).collect();
        Lanes::of_low_lanes(&low, bits)
    }

    /// A mask of low bits that are known leaves nothing that is not known.
    pub fn and(self, a: Lanes, b: Lanes) -> Lanes {
        let found = self.bitwise(a, b, |x, y| x & y);
        let clears = |x: Lanes| x.known(self.bits).is_some_and(|mask| mask & !ones(found.bits.into()) == 0);
        let is_known = found.stride.is_some() && (clears(a) || clears(b));
        if is_known { found.with_low(found.low, self.bits) } else { found }
    }

    /// Shifted to the right by a constant.
    pub fn shifted_right(self, a: Lanes, count: u32) -> Lanes {
        // The sign goes in above.
        let bits = u32::from(a.bits).min(self.bits - 1);
        let Some(low) = a.low_lanes(bits, self.width) else { return Lanes::VARYING };
        let low: Vec<u64> = low.into_iter().map(|x| x >> count).collect();
        Lanes::of_low_lanes(&low, bits.saturating_sub(count))
    }

    /// Returns whether no lane differs from another in the bits from this one on.
    pub fn differs_below(self, a: Lanes, bit: u32) -> bool {
        let low = a.low_lanes(u32::from(a.bits).min(self.bits), self.width);
        low.is_some_and(|low| low.iter().all(|x| x.checked_shr(bit) == low[0].checked_shr(bit)))
    }

    /// Returns whether it is known not to be negative in any lane.
    pub fn is_not_negative(self, a: Lanes) -> bool {
        let all = |low: Vec<u64>| low.iter().all(|x| x >> (self.bits - 1) == 0);
        !self.signed || a.low_lanes(self.bits, self.width).is_some_and(all)
    }

    /// Quotients of lanes that are not negative by a number that is the same in all of them.
    pub fn quotient(self, a: Lanes, by: Lanes) -> Lanes {
        match self.power(by) {
            Some(power) => self.shifted_right(a, power),
            None => self.shares_multiple(a, by).map_or(Lanes::VARYING, |_| Lanes::UNIFORM),
        }
    }

    /// Remainders, likewise.
    pub fn remainder(self, a: Lanes, by: Lanes) -> Lanes {
        match self.power(by) {
            Some(power) => self.and(a, Lanes::constant(ones(power), self.bits)),
            None => self.shares_multiple(a, by).unwrap_or(Lanes::VARYING),
        }
    }

    /// The power of two that a positive constant is.
    fn power(self, by: Lanes) -> Option<u32> {
        let value = by.known(self.bits)?;
        let positive = !self.signed || value >> (self.bits - 1) == 0;
        (value.is_power_of_two() && positive).then(|| value.trailing_zeros())
    }

    /// The distances of all lanes from a multiple of a power of two that divides a number, if it is the same multiple for all:
    /// nothing that the number divides lies between the lanes.
    fn shares_multiple(self, a: Lanes, by: Lanes) -> Option<Lanes> {
        let bits = u32::from(a.bits.min(by.zeros()));
        let low = a.low_lanes(bits, self.width)?;
        by.is_uniform().then(|| Lanes::of_low_lanes(&low, bits))
    }

    /// The same numbers in a type of more bits, or of fewer.
    pub fn converted(self, a: Lanes, from: u32) -> Lanes {
        if self.bits <= from {
            return self.linear(a.stride, a.low, u32::from(a.bits).min(self.bits));
        }
        // A lane that wraps around in the narrow type does not in the wide one.
        let bits = u32::from(a.bits).min(from - 1);
        if a.is_uniform() {
            return Lanes::UNIFORM.with_low(a.low, bits);
        }
        a.low_lanes(bits, self.width).map_or(Lanes::VARYING, |low| Lanes::of_low_lanes(&low, bits))
    }
}
