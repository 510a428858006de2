//! Poison: which lanes of registers and which bytes of memory hold nothing that a program may use, and why.
//!
//! A lane is poisoned if what it holds is no value: nothing was ever stored in the variable, or the lane was not active when
//! the value was made. Operations pass poison on; only a use that shows is a finding. Each register knows the origin
//! of its poison, each byte of memory that of its own. Beside it each register, and each byte, knows the read that raced on which
//! its value depends.

use super::races::PAGE;
use crate::program::FuncId;
use crate::trap::TrapFrame;
use std::collections::HashMap;
use std::sync::Arc;

/// What check mode knows of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shadow {
    /// The poisoned lanes; all or none of a uniform register.
    pub poison: u64,
    /// Where the poison of active lanes comes from.
    pub origin: OriginId,
    /// Whether the program has seen to it that inactive lanes hold something fit, by selecting with the mask.
    pub fills_inactive: bool,
    /// The read, if the value of a lane depends on one that raced.
    pub race: OriginId,
}

impl Shadow {
    /// No poison.
    pub const CLEAN: Shadow = Shadow { poison: 0, origin: OriginId::NONE, fills_inactive: false, race: OriginId::NONE };

    /// That of a result of both operands, lane by lane. The origin is that of what active lanes have.
    #[inline]
    pub fn join(self, other: Shadow, mask: u64) -> Shadow {
        let own = self.poison & mask != 0 || (other.poison & mask == 0 && self.poison != 0);
        Shadow {
            poison: self.poison | other.poison,
            origin: if own { self.origin } else { other.origin },
            fills_inactive: self.fills_inactive | other.fills_inactive,
            race: self.race.or(other.race),
        }
    }

    /// `self` in the lanes of the mask, `other` in the others.
    pub fn blend(self, other: Shadow, mask: u64) -> Shadow {
        let own = self.poison & mask != 0;
        Shadow {
            poison: self.poison & mask | other.poison & !mask,
            origin: if own { self.origin } else { other.origin },
            fills_inactive: self.fills_inactive,
            race: self.race.or(other.race),
        }
    }
}

/// An origin, by index; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OriginId(pub u32);

impl OriginId {
    pub const NONE: OriginId = OriginId(0);

    /// This one, or the other if this is none.
    #[inline]
    pub fn or(self, other: OriginId) -> OriginId {
        if self == OriginId::NONE { other } else { self }
    }
}

/// Where poison comes from.
pub(super) enum Origin {
    /// A variable in which nothing was stored.
    Variable(Arc<str>),
    /// An allocation in which nothing was stored.
    Allocation(Arc<[TrapFrame]>),
    /// An instruction that gives nothing to lanes that are not active.
    Masked(FuncId, u32),
    /// A read of lanes that were not active: an index into what waits to be reported.
    LaneRead(usize),
    /// A read that raced.
    Race(Arc<[TrapFrame]>),
}

/// The poison of memory: of each byte its origin.
#[derive(Default)]
pub(super) struct Memory {
    regions: HashMap<u32, Region>,
}

/// The poison of a region.
#[derive(Default)]
struct Region {
    /// The origin of what has no page.
    fresh: OriginId,
    pages: HashMap<u64, Box<[OriginId; PAGE]>>,
}

impl Memory {
    /// Everything in a region is poisoned from now on.
    pub fn poison_region(&mut self, number: u32, origin: OriginId) {
        self.regions.insert(number, Region { fresh: origin, pages: HashMap::new() });
    }

    /// A region is no more.
    pub fn forget(&mut self, number: u32) {
        if !self.regions.is_empty() {
            self.regions.remove(&number);
        }
    }

    /// The origin of the first poisoned one of so many bytes.
    #[inline]
    pub fn origin(&self, number: u32, offset: u64, size: u64) -> OriginId {
        if self.regions.is_empty() {
            return OriginId::NONE;
        }
        let Some(region) = self.regions.get(&number) else { return OriginId::NONE };
        let found = (offset..offset + size).map(|at| region.get(at)).find(|&origin| origin != OriginId::NONE);
        found.unwrap_or_default()
    }

    /// Gives bytes an origin, or none.
    pub fn set(&mut self, number: u32, offset: u64, size: u64, origin: OriginId) {
        let region = match self.regions.get_mut(&number) {
            Some(region) => region,
            None if origin == OriginId::NONE => return,
            None => self.regions.entry(number).or_default(),
        };
        let (mut at, end) = (offset, offset + size);
        while at < end {
            let (page, first) = (at / PAGE as u64, (at % PAGE as u64) as usize);
            let n = (PAGE - first).min((end - at) as usize);
            if n == PAGE && origin == region.fresh {
                region.pages.remove(&page);
            } else if let Some(origins) = region.page_to_write(page, origin) {
                origins[first..first + n].fill(origin);
            }
            at += n as u64;
        }
    }

    /// Copies the poison of bytes.
    pub fn copy(&mut self, (to, to_offset): (u32, u64), (from, from_offset): (u32, u64), size: u64) {
        if !self.regions.contains_key(&to) && !self.regions.contains_key(&from) {
            return;
        }
        let source = self.regions.get(&from);
        let all: Vec<OriginId> =
            (from_offset..from_offset + size).map(|at| source.map_or(OriginId::NONE, |r| r.get(at))).collect();
        let mut at = to_offset;
        for run in all.chunk_by(|a, b| a == b) {
            self.set(to, at, run.len() as u64, run[0]);
            at += run.len() as u64;
        }
    }
}

impl Region {
    fn get(&self, at: u64) -> OriginId {
        self.pages.get(&(at / PAGE as u64)).map_or(self.fresh, |page| page[(at % PAGE as u64) as usize])
    }

    /// The page, unless there is none and bytes without one have this origin.
    fn page_to_write(&mut self, page: u64, origin: OriginId) -> Option<&mut [OriginId; PAGE]> {
        if origin == self.fresh {
            return self.pages.get_mut(&page).map(|page| &mut **page);
        }
        Some(&mut **self.pages.entry(page).or_insert_with(|| Box::new([self.fresh; PAGE])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_origins() {
        let mut memory = Memory::default();
        let (a, b) = (OriginId(1), OriginId(2));
        memory.poison_region(7, a);
        assert_eq!(memory.origin(7, 1000, 4), a);
        memory.set(7, 100, 1000, OriginId::NONE);
        assert_eq!(memory.origin(7, 100, 1000), OriginId::NONE);
        assert_eq!((memory.origin(7, 99, 1), memory.origin(7, 1100, 1), memory.origin(7, 96, 8)), (a, a, a));
        memory.set(7, 300, 1, b);
        assert_eq!(memory.origin(7, 200, 200), b);
        memory.copy((8, 10), (7, 99), 300);
        assert_eq!(
            (memory.origin(8, 10, 1), memory.origin(8, 11, 200), memory.origin(8, 211, 1)),
            (a, OriginId::NONE, b)
        );
        memory.copy((8, 211), (9, 0), 1);
        assert_eq!(memory.origin(8, 11, 300), OriginId::NONE);
        memory.forget(7);
        assert_eq!(memory.origin(7, 0, 8), OriginId::NONE);
    }
}
