//! Races between tasks, by the SP-bags algorithm (Feng and Leiserson, "Efficient detection of determinacy races in Cilk
//! programs", 1997).
//!
//! Under observation tasks run one after another, each at its launch. A task that has ended is *parallel* to what follows
//! until the call that launched it waits for it. For each byte the last task that wrote to it, read it and accessed it atomically
//! are kept; an access that conflicts with that of a task that is parallel now is a race. With this serial order that
//! finds a race on a byte exactly if the program, with these inputs, has one there under some order of its tasks.

use crate::program::FuncId;
use std::collections::HashMap;

/// Bytes that are kept together.
pub(super) const PAGE: usize = 256;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Read,
    Write,
    Atomic,
}

/// A task, by the order in which they began; 0 is what the host called.
pub(super) type TaskId = u32;

/// An access: who, and by which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Access {
    pub task: TaskId,
    pub function: FuncId,
    pub pc: u32,
}

/// The last accesses of a byte, by index; 0 is none.
#[derive(Clone, Copy, Default)]
struct Cell {
    write: u32,
    read: u32,
    atomic: u32,
}

/// What is known of accesses and of the order of tasks.
pub(super) struct Races {
    /// By region, and the number of the page in it.
    pages: HashMap<u32, HashMap<u64, Box<[Cell; PAGE]>>>,
    accesses: Vec<Access>,
    /// For each of them the calls around it, innermost first, up to its task.
    calls: Vec<Box<[(FuncId, u32)]>>,
    known: HashMap<Access, u32>,
    /// Sets of tasks that are parallel to the same: the parent of each task, and of roots whether they are parallel to
    /// what executes.
    parent: Vec<TaskId>,
    parallel: Vec<bool>,
    /// Number of tasks, and of sets of tasks that are not waited for yet: without either nothing can race.
    open: usize,
}

impl Default for Races {
    fn default() -> Races {
        let nobody = Access { task: 0, function: FuncId(0), pc: 0 };
        Races {
            pages: HashMap::new(),
            accesses: vec![nobody],
            calls: vec![Box::default()],
            known: HashMap::new(),
            parent: vec![0],
            parallel: vec![false],
            open: 0,
        }
    }
}

impl Races {
    /// A task begins.
    pub fn begin(&mut self) -> TaskId {
        self.open += 1;
        self.parent.push(self.parent.len() as TaskId);
        self.parallel.push(false);
        self.parent.len() as TaskId - 1
    }

    /// A task has ended, and is parallel to what follows in the call that launched it; `waiting` are those of that call
    /// that are so already.
    pub fn end(&mut self, task: TaskId, waiting: &mut Option<TaskId>) {
        let root = match *waiting {
            None => self.root(task),
            Some(other) => {
                self.open -= 1;
                self.unite(other, task)
            }
        };
        self.parallel[root as usize] = true;
        *waiting = Some(root);
    }

    /// The executing task waits for these.
    pub fn sync(&mut self, task: TaskId, waiting: &mut Option<TaskId>) {
        if let Some(ended) = waiting.take() {
            self.open -= 1;
            let root = self.unite(task, ended);
            self.parallel[root as usize] = false;
            if self.open == 0 {
                // All that was done is before all that comes.
                self.pages.clear();
                self.accesses.truncate(1);
                self.calls.truncate(1);
                self.known.clear();
            }
        }
    }

    fn root(&mut self, task: TaskId) -> TaskId {
        let mut at = task;
        while self.parent[at as usize] != at {
            let up = self.parent[at as usize];
            self.parent[at as usize] = self.parent[up as usize];
            at = up;
        }
        at
    }

    fn unite(&mut self, a: TaskId, b: TaskId) -> TaskId {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[b as usize] = a;
        a
    }

    /// A region is no more.
    pub fn forget(&mut self, region: u32) {
        self.pages.remove(&region);
    }

    /// Returns whether anything can race now.
    #[inline]
    pub fn are_possible(&self) -> bool {
        self.open > 0
    }

    /// The number of an access. For a new one the calls around it are asked for.
    pub fn access(&mut self, access: Access, calls: impl FnOnce() -> Box<[(FuncId, u32)]>) -> u32 {
        *self.known.entry(access).or_insert_with(|| {
            self.accesses.push(access);
            self.calls.push(calls());
            self.accesses.len() as u32 - 1
        })
    }

    /// The calls around an access, when it was made first.
    pub fn calls(&self, access: Access) -> &[(FuncId, u32)] {
        self.known.get(&access).map_or(&[], |&at| &self.calls[at as usize])
    }

    /// Takes note of an access; gives the one that it races with, and the first such byte.
    pub fn note(&mut self, region: u32, offset: u64, size: u64, how: How, access: u32) -> Option<(Access, How, u64)> {
        let mut race = None;
        for at in offset..offset + size {
            let number = at / PAGE as u64;
            let pages = self.pages.entry(region).or_default();
            let page = pages.entry(number).or_insert_with(|| Box::new([Cell::default(); PAGE]));
            let cell = page[(at % PAGE as u64) as usize];
            let alone = match how {
                How::Write => cell.write == access && cell.read | cell.atomic == 0,
                How::Read => cell.read == access && cell.write | cell.atomic == 0,
                How::Atomic => cell.atomic == access && cell.write | cell.read == 0,
            };
            if alone {
                continue;
            }
            let others: [(u32, How); 3] =
                [(cell.write, How::Write), (cell.atomic, How::Atomic), (cell.read, How::Read)];
            let conflicts = match how {
                How::Read => &others[..2],
                How::Write => &others[..],
                How::Atomic => &[others[0], others[2]],
            };
            let found = conflicts.iter().find(|(other, _)| self.is_parallel(*other));
            if let Some(&(other, other_how)) = found
                && race.is_none()
            {
                race = Some((self.accesses[other as usize], other_how, at));
            }
            let keep_read = cell.read != 0 && self.is_parallel(cell.read);
            let keep_atomic = cell.atomic != 0 && self.is_parallel(cell.atomic);
            if let Some(page) = self.pages.get_mut(&region).and_then(|pages| pages.get_mut(&number)) {
                let cell = &mut page[(at % PAGE as u64) as usize];
                match how {
                    How::Write => cell.write = access,
                    How::Read if !keep_read => cell.read = access,
                    How::Atomic if !keep_atomic => cell.atomic = access,
                    _ => {}
                }
            }
        }
        race
    }

    fn is_parallel(&mut self, access: u32) -> bool {
        if access == 0 {
            return false;
        }
        let root = self.root(self.accesses[access as usize].task);
        self.parallel[root as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(races: &mut Races, task: TaskId, pc: u32) -> u32 {
        races.access(Access { task, function: FuncId(0), pc }, Box::default)
    }

    #[test]
    fn tasks_of_one_launch_race_until_they_are_waited_for() {
        let mut races = Races::default();
        let mut waiting = None;
        let first = races.begin();
        let a = at(&mut races, first, 1);
        assert_eq!(races.note(5, 0, 4, How::Write, a), None);
        assert_eq!(races.note(5, 0, 4, How::Read, a), None);
        races.end(first, &mut waiting);
        let second = races.begin();
        let b = at(&mut races, second, 2);
        let (other, how, byte) = races.note(5, 2, 4, How::Read, b).unwrap();
        assert_eq!((other.task, other.pc, how, byte), (first, 1, How::Write, 2));
        assert_eq!(races.note(5, 8, 4, How::Read, b), None);
        races.end(second, &mut waiting);
        // The call that launched them goes on beside them.
        let c = at(&mut races, 0, 3);
        assert!(races.note(5, 8, 4, How::Write, c).is_some());
        races.forget(5);
        assert_eq!(races.note(5, 0, 4, How::Write, c), None);
        races.sync(0, &mut waiting);
        assert_eq!(races.note(5, 0, 16, How::Write, c), None);
        assert!(!races.are_possible());
    }

    #[test]
    fn reads_and_atomic_accesses_do_not_race_among_themselves() {
        let mut races = Races::default();
        let mut waiting = None;
        for task in 1..4 {
            assert_eq!(races.begin(), task);
            let access = at(&mut races, task, 1);
            assert_eq!(races.note(5, 0, 4, How::Read, access), None);
            assert_eq!(races.note(5, 4, 4, How::Atomic, access), None);
            races.end(task, &mut waiting);
        }
        assert_eq!(races.begin(), 4);
        let access = at(&mut races, 4, 2);
        assert!(races.note(5, 0, 4, How::Atomic, access).is_some());
        assert!(races.note(5, 4, 4, How::Read, access).is_some());
    }

    #[test]
    fn what_a_task_waits_for_comes_before_what_it_does_next() {
        let mut races = Races::default();
        let (mut outer, mut inner) = (None, None);
        let parent = races.begin();
        let child = races.begin();
        let a = at(&mut races, child, 1);
        races.note(5, 0, 4, How::Write, a);
        races.end(child, &mut inner);
        races.sync(parent, &mut inner);
        let b = at(&mut races, parent, 2);
        assert_eq!(races.note(5, 0, 4, How::Write, b), None);
        races.end(parent, &mut outer);
        // But not what a task beside it does.
        let sibling = races.begin();
        let c = at(&mut races, sibling, 3);
        assert!(races.note(5, 0, 4, How::Read, c).is_some());
    }
}
