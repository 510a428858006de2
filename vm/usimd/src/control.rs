//! The rules of figure 4: control flow. Each is a function named after its rule.
//!
//! The paper writes them as big steps, whose premise is the rest of the run; here each makes one step. What the printed
//! rules and these do differently is listed, with reasons, in `docs/usimd.md`.

use super::error::{Error, ErrorKind};
use super::program::{Operand, Pc};
use super::state::{Context, State, SyncEntry};
use super::threads::Threads;

/// A rule of figures 4 and 5 that makes a step of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// `stop`.
    Sp,
    /// `jmp`.
    Jp,
    /// A branch that all threads take.
    Bt,
    /// A branch that no thread takes.
    Bf,
    /// A branch that parts threads.
    Bd,
    /// `jmp_mask` of a thread that was active.
    Ba,
    /// `jmp_mask` of a thread that was not active.
    Bi,
    /// `sync` where other threads still wait.
    Ss,
    /// `sync` where the last threads arrive.
    SiSync,
    /// `sync` where no threads were parted. (Not in the paper.)
    Sn,
    /// `everywhere`.
    Eb,
    /// `end_everywhere`.
    Ee,
    /// Any other instruction, which changes memory only.
    It,
    /// `enter` and `leave`. (Not in the paper.)
    Mark,
}

/// A step that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The instruction.
    pub pc: Pc,
    /// By which rule.
    pub rule: Rule,
    /// The threads that executed it. Of `end_everywhere`, whose rule leaves Θ open, those it restores.
    pub active: Threads,
    /// Of a jump: the threads that jump.
    pub taken: Option<Threads>,
}

/// SP: the run ends, if no threads wait.
pub(super) fn sp(m: &mut State<'_>) -> Result<Rule, Error> {
    if !m.sync.is_empty() {
        return Err(unsynchronised(m, "stop"));
    }
    Ok(Rule::Sp)
}

/// JP: on at the label.
pub(super) fn jp(m: &mut State<'_>, l: Pc) -> Rule {
    m.pc = l;
    Rule::Jp
}

/// `split` of figure 3: the threads in which the operand is zero, and the others.
pub(super) fn split(m: &State<'_>, v: Operand) -> Result<(Threads, Threads), Error> {
    let mut zero = Vec::new();
    for t in m.active.iter() {
        if super::data::operand(m, t, v)? == 0 {
            zero.push(t);
        }
    }
    let zero = Threads::of(zero);
    Ok((zero, m.active.without(zero)))
}

/// BT: all threads are at zero and go to the label.
pub(super) fn bt(m: &mut State<'_>, l: Pc) -> Rule {
    m.pc = l;
    Rule::Bt
}

/// BF: no thread is at zero; they go on.
pub(super) fn bf(m: &mut State<'_>) -> Rule {
    m.pc += 1;
    Rule::Bf
}

/// BD: threads at zero wait to go to the label, the others go on first.
pub(super) fn bd(m: &mut State<'_>, zero: Threads, others: Threads, l: Pc) -> Rule {
    push(&mut m.sync, zero, m.pc, l);
    m.active = others;
    m.pc += 1;
    Rule::Bd
}

/// `push` of figure 3: a branch that parts threads again, in a loop, has one entry.
fn push(sync: &mut Vec<SyncEntry>, todo: Threads, branch: Pc, next: Pc) {
    match sync.last_mut().filter(|top| top.branch == branch) {
        Some(top) => top.todo = top.todo.union(todo),
        None => sync.push(SyncEntry { branch, done: Threads::NONE, next, todo }),
    }
}

/// BA: the thread was active in the context around; on at the label.
pub(super) fn ba(m: &mut State<'_>, l: Pc) -> Rule {
    m.pc = l;
    Rule::Ba
}

/// BI: the thread was not active there; on at the next instruction.
pub(super) fn bi(m: &mut State<'_>) -> Rule {
    m.pc += 1;
    Rule::Bi
}

/// The entry of Π that a `sync` at `pc` belongs to: the innermost, if every way on from its branch comes by here.
pub(super) fn own_entry<'m>(m: &'m mut State<'_>, pc: Pc) -> Option<&'m mut SyncEntry> {
    let flow = m.checked().flow();
    m.sync.last_mut().filter(|top| flow.post_dominates(pc, top.branch))
}

/// SS: these threads have arrived, those that wait go on.
pub(super) fn ss(m: &mut State<'_>) -> Rule {
    let (active, pc) = (m.active, m.pc);
    if let Some(top) = own_entry(m, pc) {
        top.done = top.done.union(active);
        let (todo, next) = (std::mem::take(&mut top.todo), top.next);
        (m.active, m.pc) = (todo, next);
    }
    Rule::Ss
}

/// SI (of `sync`): the last threads have arrived; all go on together.
pub(super) fn si_sync(m: &mut State<'_>) -> Rule {
    if let Some(top) = m.sync.pop() {
        m.active = m.active.union(top.done);
    }
    m.pc += 1;
    Rule::SiSync
}

/// A `sync` whose branch has not parted threads: on at the next instruction.
pub(super) fn sn(m: &mut State<'_>) -> Rule {
    m.pc += 1;
    Rule::Sn
}

/// EB: the context goes onto Λ, all threads on.
pub(super) fn eb(m: &mut State<'_>) -> Rule {
    let context = Context { active: m.active, sync: std::mem::take(&mut m.sync) };
    m.contexts.push(context);
    m.active = m.all();
    m.pc += 1;
    Rule::Eb
}

/// EE: back to the context on top of Λ, if no threads wait.
pub(super) fn ee(m: &mut State<'_>) -> Result<Rule, Error> {
    if !m.sync.is_empty() {
        return Err(unsynchronised(m, "end_everywhere"));
    }
    if let Some(context) = m.contexts.pop() {
        (m.active, m.sync) = (context.active, context.sync);
    }
    m.pc += 1;
    Ok(Rule::Ee)
}

/// IT: the instruction has changed memory; on at the next.
pub(super) fn it(m: &mut State<'_>) -> Rule {
    m.pc += 1;
    Rule::It
}

/// Threads wait where a rule wants Π = ∅.
fn unsynchronised(m: &State<'_>, what: &str) -> Error {
    let program = m.program();
    let message = format!("threads {} reach `{what}` while others wait", m.active);
    let error = Error::new(ErrorKind::Unsynchronised, program.spans[m.pc].clone(), message);
    let error = error.label("all threads must have met before").note("put a `sync` where the branches meet");
    m.sync.iter().fold(error, |error, entry| {
        let place = program.spans[entry.branch].clone();
        let waiting = entry.todo.union(entry.done);
        error.place(place, format!("this branch parted them from threads {waiting}"))
    })
}
