//! The snapshots of a run that are kept, within a limit: many near the present, fewer the farther away.

use spmdvm::vm::Snapshot;
use std::collections::HashSet;
use std::ops::Range;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all snapshots. The one at the start is always kept, and so is the newest.
    pub bytes: usize,
    /// Number of snapshots, those aside that cannot be made again.
    pub snapshots: usize,
    /// Least number of instructions from one snapshot to the next, while the run is recorded.
    pub interval: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 256 << 20, snapshots: 96, interval: 1 << 16 }
    }
}

/// A snapshot that is kept.
struct Checkpoint {
    snapshot: Snapshot,
    /// Whether it stands behind something from outside: what comes after it cannot be had by repeating what came before.
    is_pinned: bool,
}

/// The snapshots of a run by position, the first at its start.
pub(crate) struct Checkpoints {
    kept: Vec<Checkpoint>,
    /// Positions that cannot be reached any more.
    lost: Vec<Range<u64>>,
    limits: Limits,
    /// Bytes that are held, or somewhat more.
    bytes: usize,
}

impl Checkpoints {
    /// With the snapshot at the start.
    pub fn new(start: Snapshot, limits: Limits) -> Checkpoints {
        let bytes = bytes_of([&start].into_iter());
        Checkpoints { kept: vec![Checkpoint { snapshot: start, is_pinned: true }], lost: Vec::new(), limits, bytes }
    }

    /// Index of the last one at or before a position.
    fn index(&self, position: u64) -> usize {
        self.kept.partition_point(|kept| kept.snapshot.position() <= position).saturating_sub(1)
    }

    /// The last one at or before a position.
    pub fn at_or_before(&self, position: u64) -> &Snapshot {
        &self.kept[self.index(position)].snapshot
    }

    /// The first position that cannot be reached by going on from an earlier one, and the one to go on from instead.
    pub fn barrier(&self, position: u64) -> Option<(u64, u64)> {
        let behind = self.kept.partition_point(|kept| kept.snapshot.position() <= position);
        let pinned = self.kept[behind..].iter().find(|kept| kept.is_pinned)?.snapshot.position();
        let lost = self.lost.iter().map(|lost| lost.start).filter(|&start| start > position).min();
        Some((lost.map_or(pinned, |start| start.min(pinned)), pinned))
    }

    /// How far to go on from a position before there should be another one.
    pub fn due(&self, position: u64) -> u64 {
        let last = self.at_or_before(position);
        // Making one costs about as much as sixteen bytes of its memory per instruction.
        last.position() + self.limits.interval.max(last.extent() / 16)
    }

    /// Whether a position cannot be reached any more.
    pub fn is_lost(&self, position: u64) -> bool {
        self.lost.iter().any(|lost| lost.contains(&position))
    }

    /// Number of snapshots, and about how many bytes they hold.
    pub fn size(&self) -> (usize, usize) {
        (self.kept.len(), self.bytes)
    }

    /// Keeps another one, which is where the run is now.
    pub fn add(&mut self, snapshot: Snapshot, is_pinned: bool) {
        let position = snapshot.position();
        let at = self.kept.partition_point(|kept| kept.snapshot.position() < position);
        if self.kept.get(at).is_some_and(|kept| kept.snapshot.position() == position) {
            return;
        }
        self.bytes += fresh_bytes(&self.kept[at.saturating_sub(1)].snapshot, &snapshot);
        self.kept.insert(at, Checkpoint { snapshot, is_pinned });
        self.thin_out(position);
    }

    fn thin_out(&mut self, present: u64) {
        let ordinary = |kept: &[Checkpoint]| kept.iter().filter(|kept| !kept.is_pinned).count();
        while ordinary(&self.kept) > self.limits.snapshots && self.remove_one(present) {}
        if self.bytes <= self.limits.bytes {
            return;
        }
        self.recount();
        // Somewhat more than needed, so that it is not to be counted anew each time.
        let enough = self.limits.bytes - self.limits.bytes / 4;
        while self.bytes > enough && self.remove_one(present) {
            self.recount();
        }
    }

    fn recount(&mut self) {
        self.bytes = bytes_of(self.kept.iter().map(|kept| &kept.snapshot));
    }

    /// Removes the one that is missed least: where neighbours are closest together, measured by their distance from the
    /// present. So distances grow exponentially. Returns whether there was one.
    fn remove_one(&mut self, present: u64) -> bool {
        let position = |at: usize| self.kept[at].snapshot.position();
        let last = self.kept.len() - 1;
        let candidates = || (1..last).filter(|&at| position(at) != present);
        let missed = |at: usize| {
            let gap = position(at + 1) - position(at - 1);
            gap as f64 / (position(at).abs_diff(present) + self.limits.interval) as f64
        };
        let ordinary = candidates().filter(|&at| !self.kept[at].is_pinned);
        let chosen = ordinary.min_by(|&a, &b| missed(a).total_cmp(&missed(b)));
        // Without a pinned one, nothing up to the next one can be reached any more. The oldest go first.
        let Some(at) = chosen.or_else(|| candidates().next()) else { return false };
        if self.kept[at].is_pinned {
            self.lost.push(position(at)..position(at + 1));
            self.kept[at + 1].is_pinned = true;
        }
        self.kept.remove(at);
        true
    }
}

/// Bytes of all pieces of memory that snapshots hold.
fn bytes_of<'s>(snapshots: impl Iterator<Item = &'s Snapshot>) -> usize {
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    for snapshot in snapshots {
        count(snapshot, &mut seen, &mut bytes);
    }
    bytes
}

/// Bytes that a snapshot holds and another does not.
fn fresh_bytes(before: &Snapshot, snapshot: &Snapshot) -> usize {
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    count(before, &mut seen, &mut bytes);
    let known = bytes;
    count(snapshot, &mut seen, &mut bytes);
    bytes - known
}

fn count(snapshot: &Snapshot, seen: &mut HashSet<usize>, bytes: &mut usize) {
    snapshot.pieces(&mut |piece, size| {
        let is_new = seen.insert(piece);
        *bytes += if is_new { size } else { 0 };
        is_new
    });
}
