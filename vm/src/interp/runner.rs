//! Running tasks.
//!
//! A task that waits for others is set aside with its whole state ([`Group::park`]); no thread of the host ever waits on
//! its behalf, so tasks may nest without using the host's stack, and cannot lock each other out. Who sets a task aside
//! goes on with what it waits for, so tasks are run depth-first and few are set aside at a time.

use super::code::Step;
use super::control::{enter, fits};
use super::crew;
use super::group::{Group, Next, Task};
use super::lanes::put;
use super::native;
use super::stack::Refused;
use super::thread::Thread;
use crate::program::TASK_PARAMS;
use crate::trap::{Trap, TrapDetail, TrapKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::sync::Arc;
use std::time::Duration;

/// The interpreter's loop: executes steps until there is no next one.
pub(crate) fn run_steps(thread: &mut Thread, first: *const Step) {
    let mut step = first;
    while !step.is_null() {
        // SAFETY: `step` is a step of the function that executes, in verified code: `first` is, and handlers give such
        // steps.
        step = unsafe { ((*step).handler)(thread, step) };
    }
}

/// Lets a thread go on until it ends (`None`), or has to wait for a group.
pub(crate) fn advance(t: &mut Thread, execute: &mut impl FnMut(&mut Thread, *const Step)) -> Option<Arc<Group>> {
    let begins = t.task.is_some() && t.waits_for.is_none();
    let step = match t.waits_for.take() {
        Some(group) if t.trap.is_none() => t.settle_group(&group),
        _ => t.resume,
    };
    t.resume = null();
    let mut go_on = |t: &mut Thread| {
        // The beginning of a task counts as a call, at which native code may be entered.
        // SAFETY: `step` is the first one of the executing function then.
        let step = if begins { unsafe { native::count_entry(t, step) } } else { step };
        execute(t, step);
    };
    if t.trap.is_none()
        && let Err(payload) = catch_unwind(AssertUnwindSafe(|| go_on(t)))
    {
        // The host's code (where prints go, or an observer) has panicked: that goes on in the thread of the call.
        t.shared.keep_panic(payload);
        t.observed = false;
        t.trap = Some(Box::new(Trap::new(TrapKind::Interrupted, TrapDetail::None)));
        t.launched.iter().for_each(|launched| launched.group.stop());
    }
    if t.trap.is_some() {
        t.waits_for = t.unwind();
    }
    t.waits_for.clone()
}

/// Runs tasks of a group until there is none to start, and of the groups that these wait for. `member` is the number of
/// a thread of the crew; gives `false` if it has left the crew, because there is no memory for its tasks' stacks but
/// others run.
pub(crate) fn work(
    group: Arc<Group>,
    member: Option<usize>,
    execute: &mut impl FnMut(&mut Thread, *const Step),
) -> bool {
    let mut open = vec![group];
    let mut ready: Option<Box<Thread>> = None;
    while ready.is_some() || !open.is_empty() {
        let Some(thread) = ready.take() else {
            match start_next(&mut open, member) {
                Some(next) => ready = next,
                None => return false,
            }
            continue;
        };
        match run(thread, execute) {
            (thread, Some(group)) => match group.park(thread) {
                None => open.push(group),
                resumed => ready = resumed,
            },
            (thread, None) => match follow_on(thread, open.last()) {
                Ok(next) => ready = Some(next),
                Err(thread) => ready = end_task(thread),
            },
        }
    }
    true
}

/// Has the thread of a task that has ended well begin the next one of its group, if that is the innermost open one or it has taken more
/// of it, with what fuel it holds; gives the thread back if there is none.
fn follow_on(mut thread: Box<Thread>, innermost: Option<&Arc<Group>>) -> Result<Box<Thread>, Box<Thread>> {
    let t = &mut *thread;
    let own = t.task.as_ref().map(|task| &task.group).filter(|_| t.trap.is_none());
    let is_next = |group: &&Arc<Group>| {
        !t.taken_tasks.is_empty() || innermost.is_some_and(|innermost| Arc::ptr_eq(innermost, group))
    };
    match own.filter(is_next).and_then(|group| group.take_next(&mut t.taken_tasks)) {
        Some(index) => {
            thread.follow_with(index);
            Ok(thread)
        }
        None => Err(thread),
    }
}

/// Starts the next task of the innermost open group, or closes the group. Gives the thread to be run now, if any;
/// `None` if the calling thread has left the crew.
fn start_next(open: &mut Vec<Arc<Group>>, member: Option<usize>) -> Option<Option<Box<Thread>>> {
    let Some(group) = open.last().map(Arc::clone) else { return Some(None) };
    let thread = group.shared.idle_thread();
    if thread.is_err() && member.is_some_and(|index| group.shared.crew.hand_back(index, open)) {
        return None;
    }
    Some(match (group.take(), thread) {
        (Next::Task(index), Ok(mut thread)) => {
            thread.start_task(Task { group, index });
            Some(thread)
        }
        (Next::Task(index), Err(Refused(bytes))) => {
            let trap = Trap::new(TrapKind::OutOfMemory, TrapDetail::Refused(bytes));
            group.finish(index, Some(Box::new(trap)))
        }
        (Next::Nothing(resumed), thread) => {
            thread.into_iter().for_each(|thread| group.shared.keep(thread));
            open.pop();
            resumed
        }
    })
}

/// Waits for a group that the crew works on, for the thread of the host that made the call. Nobody else may be there to
/// do it, or to see that the call must end.
pub(crate) fn wait(t: &Thread, group: &Group) {
    loop {
        crew::stand_in(&t.shared);
        if group.wait(LOOK) {
            return;
        }
        // The threads may be busy with other calls, which do not end. What has not begun then ends as it begins.
        while t.must_end().is_some()
            && let Some(offered) = t.shared.crew.take_one()
        {
            work(offered, None, &mut run_steps);
        }
    }
}

/// How often a call that waits for its tasks looks whether it must end.
const LOOK: Duration = Duration::from_millis(20);

/// Lets the thread of a task go on until it ends, or has to wait for a group.
fn run(
    mut thread: Box<Thread>,
    execute: &mut impl FnMut(&mut Thread, *const Step),
) -> (Box<Thread>, Option<Arc<Group>>) {
    let began = thread.polls.activity.as_ref().map(|activity| activity.now());
    thread.enter_memory_accesses();
    if thread.waits_for.is_none() && thread.trap.is_none() {
        // It begins, which counts as a call.
        let first = thread.resume;
        // SAFETY: it points into the code that the thread holds.
        let fuel = unsafe { (*thread.function).fuel };
        thread.charge(first, fuel);
    }
    let waits_for = advance(&mut thread, execute);
    if waits_for.is_some() {
        thread.let_go();
    }
    if let (Some(began), Some(activity), Some(Task { group, index })) = (began, &thread.polls.activity, &thread.task) {
        thread.tell_rounds();
        // SAFETY: it points into the code that the thread holds.
        let function = unsafe { (*group.function).id };
        activity.ran(group.launch, function, *index, began, waits_for.is_none());
    }
    (thread, waits_for)
}

/// Ends a task; gives the task that waited for it, if it was the last one of its group.
fn end_task(mut thread: Box<Thread>) -> Option<Box<Thread>> {
    thread.let_go();
    let trap = thread.trap.take();
    let task = thread.task.take();
    // What it has taken is behind the task that has failed, or stopped.
    thread.taken_tasks = 0..0;
    thread.reset();
    // Nothing that belongs to the call is touched once the group can be done: the call may be over then.
    let shared = Arc::clone(&thread.shared);
    shared.keep(thread);
    task.and_then(|task| task.group.finish(task.index, trap))
}

impl Thread {
    /// Makes an idle thread ready to run a task.
    pub fn start_task(&mut self, task: Task) {
        let group = &task.group;
        (self.polls, self.parallel) = (group.polls.clone(), group.parallel);
        self.follow(group.polls.activity.clone());
        self.begin(task);
    }

    /// Makes a thread whose task has ended ready to run another one of the same group.
    fn follow_with(&mut self, index: u64) {
        self.end_frames();
        if let Some(task) = self.task.take() {
            self.begin(Task { index, ..task });
        }
    }

    /// Makes the frame of a task.
    fn begin(&mut self, task: Task) {
        let group = &task.group;
        // SAFETY: it points into the code that the thread holds too.
        let f = unsafe { &*group.function };
        let base = self.stack.start();
        self.mask = self.full;
        if !fits(self, f, base) {
            let limit = TrapDetail::Limit(self.stack.bytes() as u64);
            self.trap = Some(Box::new(Trap::new(TrapKind::StackOverflow, limit)));
            self.task = Some(task);
            return;
        }
        let own = group.indices(task.index).into_iter().chain(group.counts);
        let (hidden, rest) = f.params.split_at(TASK_PARAMS as usize);
        let mut from = group.args.as_ptr();
        // SAFETY: parameters are registers of the frame, which fits; the first ones are uniform `i32` (the verifier saw
        // to it), and `args` holds the bytes of the others in their order.
        let first = unsafe {
            for (place, value) in hidden.iter().zip(own) {
                put(base.add(place.at as usize), value as i32);
            }
            for place in rest {
                std::ptr::copy_nonoverlapping(from, base.add(place.at as usize), place.size as usize);
                from = from.add(place.size as usize);
            }
            enter(self, group.function, base)
        };
        match first {
            Ok(first) => self.resume = first,
            Err(trap) => self.trap = Some(Box::new(trap)),
        }
        self.task = Some(task);
    }
}
