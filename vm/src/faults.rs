//! Faults to be found by tests. Only with the feature `planted-faults`, which no release has.
//!
//! A fault makes a part do what it would do if somebody had got it wrong: the interpreter, a pass of the JIT, or a back end. The code of
//! these parts knows nothing of it but for one line each, where a table that stands beside the part may put something else in the
//! place of what was made. One fault is planted in a process, before anything is compiled, and stays: a fault may make
//! native code that destroys the process.
//!
//! Where a fault could act in several places of a function or region it acts in the first, the third and so on: a part that is
//! wrong everywhere is found by every test, one that is wrong now and then only by good ones.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

pub use crate::interp::faults::TABLE as INTERPRETER;

static PLANTED: OnceLock<String> = OnceLock::new();
static PLACES: AtomicU64 = AtomicU64::new(0);

/// A row of a table of faults.
#[derive(Clone, Copy, Debug)]
pub struct Fault<Act> {
    /// Its name, which no other fault has.
    pub name: &'static str,
    /// The part that is wrong: a stage, or a pass.
    pub part: &'static str,
    /// What is wrong with it.
    pub what: &'static str,
    /// What it puts in the place of what.
    pub act: Act,
}

impl<Act> Fault<Act> {
    /// The row without what it does.
    pub fn row(&self) -> Fault<()> {
        Fault { name: self.name, part: self.part, what: self.what, act: () }
    }
}

/// Plants a fault, for the rest of the process. Returns whether it is the first.
pub fn plant(name: &str) -> bool {
    PLANTED.set(name.to_owned()).is_ok()
}

/// The fault that is planted, if it stands in this table.
pub fn planted<Act>(table: &'static [Fault<Act>]) -> Option<&'static Fault<Act>> {
    let name = PLANTED.get()?;
    table.iter().find(|fault| fault.name == *name)
}

/// In how many places the fault has acted.
pub fn places() -> u64 {
    PLACES.load(Ordering::Relaxed)
}

/// Chooses the places in which a fault acts, of those of a function or region in which it could.
#[derive(Default)]
pub struct Turns(u64);

impl Turns {
    /// Returns whether it acts in the next place.
    pub fn next(&mut self) -> bool {
        self.0 += 1;
        let acts = self.0 % 2 == 1;
        PLACES.fetch_add(acts as u64, Ordering::Relaxed);
        acts
    }

    /// Puts something else in a place where the fault acts.
    pub fn put<T>(&mut self, place: &mut T, other: Option<T>) {
        if let Some(other) = other
            && self.next()
        {
            *place = other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_place_is_chosen() {
        let mut places = [1, 2, 3, 4, 5, 6];
        let mut turns = Turns::default();
        places.iter_mut().for_each(|x| turns.put(x, (*x != 2).then_some(0)));
        assert_eq!(places, [0, 2, 3, 0, 5, 0]);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = INTERPRETER.iter().map(|fault| fault.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), INTERPRETER.len());
    }
}
