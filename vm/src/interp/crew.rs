//! The threads that run a machine's tasks: how many, which numbers they have, and which groups wait for one.
//!
//! A launch *offers* its group to so many threads. Each thread of the crew takes the group that was offered last, works
//! on it until nothing of it is left to be started, and takes the next; without one it leaves the crew. Threads join
//! when something is offered and the crew is not complete, so a program that launches little makes few.

use super::fpenv::DefaultEnvironment;
use super::group::Group;
use super::runner::{run_steps, work};
use super::shared::Shared;
use super::workers;
use crate::sync::{Mutex, MutexGuard};
use std::process;
use std::sync::{Arc, PoisonError};

/// The threads that run tasks of a machine.
#[derive(Default)]
pub(crate) struct Crew(Mutex<State>);

#[derive(Default)]
struct State {
    offered: Vec<Arc<Group>>,
    /// Of each number: whether a thread has got it.
    taken: Vec<bool>,
    /// Threads of the crew.
    present: usize,
    /// The process they belong to: after a `fork` the child has none of them.
    process: u32,
}

impl State {
    /// A thread joins; gives its number: the lowest that is free, below `most`.
    fn join(&mut self, most: usize) -> Option<usize> {
        if self.present >= most {
            return None;
        }
        let index = self.taken.iter().position(|taken| !taken).unwrap_or(self.taken.len());
        self.taken.resize(self.taken.len().max(index + 1), false);
        self.taken[index] = true;
        self.present += 1;
        Some(index)
    }

    fn leave(&mut self, index: usize) {
        self.taken[index] = false;
        self.present -= 1;
    }
}

impl Crew {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next group for a thread of the crew; without one the thread has left.
    fn next(&self, index: usize) -> Option<Arc<Group>> {
        let mut state = self.state();
        let group = state.offered.pop();
        if group.is_none() {
            state.leave(index);
        }
        group
    }

    /// The next group, for a thread that is not of the crew.
    pub fn take_one(&self) -> Option<Arc<Group>> {
        self.state().offered.pop()
    }

    /// A thread that cannot go on hands back its groups and leaves, if there are others. Returns whether it has left.
    pub fn hand_back(&self, index: usize, groups: &mut Vec<Arc<Group>>) -> bool {
        let mut state = self.state();
        let others = state.present > 1;
        if others {
            state.offered.append(groups);
            state.leave(index);
        }
        others
    }

    /// Forgets what is still offered: the call has ended.
    pub fn clear(&self) {
        let offered = std::mem::take(&mut self.state().offered);
        drop(offered);
    }
}

/// Offers a group to so many threads.
pub(crate) fn offer(shared: &Arc<Shared>, group: &Arc<Group>, n: usize) {
    let mut state = shared.crew.state();
    if state.process != process::id() {
        *state = State { process: process::id(), ..State::default() };
    }
    state.offered.extend((0..n).map(|_| Arc::clone(group)));
    let joining: Vec<usize> = (0..n).map_while(|_| state.join(shared.threads)).collect();
    drop(state);
    let mut joining = joining.into_iter();
    while let Some(index) = joining.next() {
        let own = Arc::clone(shared);
        if !workers::run(Box::new(move || serve(&own, index))) {
            // The host gives no more threads.
            let mut state = shared.crew.state();
            std::iter::once(index).chain(joining.by_ref()).for_each(|index| state.leave(index));
        }
    }
}

/// Has the calling thread work on what is offered, if nobody else is there for it.
pub(crate) fn stand_in(shared: &Shared) {
    let mut state = shared.crew.state();
    if state.present == 0
        && !state.offered.is_empty()
        && let Some(index) = state.join(shared.threads)
    {
        drop(state);
        serve(shared, index);
        workers::set_index(0);
    }
}

/// Works on what is offered.
fn serve(shared: &Shared, index: usize) {
    let _environment = DefaultEnvironment::enter();
    workers::set_index(index);
    while let Some(group) = shared.crew.next(index) {
        if !work(group, Some(index), &mut run_steps) {
            return;
        }
    }
}
