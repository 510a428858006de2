//! Which calls a version suits: by their lanes, and by the constants that it was made for.

use super::{Version, count};
use spmdvm_vm::interp::native::RegisterSlot;

impl Version {
    /// Returns whether it was made for a set of lanes.
    pub fn is_for_some_lanes(&self) -> bool {
        !self.masks.is_empty()
    }

    /// Of the sets of one lane, or of several, the one that calls may enter it in, or none of them; `None` if there are others.
    pub fn only_lanes(&self, is_one: bool) -> Option<Option<u64>> {
        if !self.one_lane_words.is_empty() && !is_one {
            return Some(None);
        }
        let &(_, lanes) = self.masks.first()?;
        let is_possible = lanes.is_power_of_two() == is_one && self.suits_lanes(lanes);
        Some(is_possible.then_some(lanes))
    }

    /// Returns whether a call in these lanes may enter it.
    #[inline(always)]
    pub fn suits_lanes(&self, mask: u64) -> bool {
        self.masks.iter().all(|&(_, bits)| bits == mask) && (self.one_lane_words.is_empty() || mask.is_power_of_two())
    }

    /// Returns whether a call in these lanes, with these arguments, enters it, of those that come first: `None` if that takes more to find
    /// out.
    #[inline(always)]
    pub fn suits_call(&self, mask: u64, argument: impl Fn(RegisterSlot) -> Option<u64>) -> Option<bool> {
        if !self.suits_lanes(mask) {
            return Some(false);
        }
        let is_one = mask.is_power_of_two();
        if !self.is_simple || is_one && self.asks_for_one_lane() {
            return None;
        }
        self.has_constants(argument)
    }

    /// Returns whether uniform registers hold the constants that it was made for; `None` if that takes more to find out. Notes if others
    /// are found in their place.
    #[inline(always)]
    pub fn has_constants(&self, register: impl Fn(RegisterSlot) -> Option<u64>) -> Option<bool> {
        let found = self.finds_constants(register);
        if found == Some(false) {
            count(&self.other_constants, 1);
        }
        found
    }

    /// The same, and nothing is noted.
    #[inline(always)]
    pub fn finds_constants(&self, register: impl Fn(RegisterSlot) -> Option<u64>) -> Option<bool> {
        for constant in &self.facts.constants {
            if register(constant.place)? != constant.bits {
                return Some(false);
            }
        }
        Some(true)
    }
}
