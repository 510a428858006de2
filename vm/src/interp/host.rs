//! Functions of the host that programs call, and calls of the program from within these.
//!
//! `host.call` has the host's function run on the thread that executes, between two instructions. What that does with the
//! program's memory through pointers is checked like any access. It may call the program again: on a machine of its own
//! ([`HostCall::machine`]) that shares memory, limits and output with the one that waits.

use super::code::{CallSite, PreparedProgram, RegSlot, Step};
use super::elementwise::Kernel;
use super::machine::{Limits, Machine};
use super::shared::Shared;
use super::thread::Thread;
use super::value::{Arg, read_word, write_arg};
use crate::memory::Memory;
use crate::program::Import;
use crate::trap::{HostError, Trap, TrapDetail, TrapKind};
use crate::types::{Shape, Ty};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

/// A function of the host.
pub type HostCallee = Arc<dyn Fn(&HostCall<'_>) -> Result<HostResult, HostError> + Send + Sync>;

/// What a function of the host gives, as bits.
#[derive(Clone, Debug)]
pub enum HostResult {
    /// A value for the gang; 0 if it gives none.
    Word(u64),
    /// One word per lane of the gang.
    Words(Vec<u64>),
}

/// The functions that a host provides: by import, in the order of [`Program::imports`](crate::Program::imports).
pub type HostTable = Arc<[Option<HostCallee>]>;

/// How deep calls of the program, by the host, by the program may be nested.
const MAX_NESTING: u32 = 64;

/// A call of a function of the host, while it lasts.
pub struct HostCall<'t> {
    thread: &'t Thread,
    import: &'t Import,
    args: &'t [RegSlot],
    /// Fuel that calls of the program from within have used.
    spent: Cell<u64>,
}

impl HostCall<'_> {
    /// What the program calls it as.
    pub fn import(&self) -> &Import {
        self.import
    }

    /// An argument as bits: the value of an active lane, or the gang's if it is uniform. 0 if there is no such argument, and
    /// for lanes that are not active, whose values differ between engines.
    pub fn arg(&self, i: usize, lane: u32) -> u64 {
        match self.args.get(i) {
            // SAFETY: the site's arguments are registers of the executing frame, which waits for this call.
            Some(arg) if arg.shape == Shape::Uniform => unsafe { read_word(self.thread.reg(arg.at), arg.ty, 0) },
            Some(arg) if self.mask().checked_shr(lane).is_some_and(|lanes| lanes & 1 == 1) => {
                // SAFETY: as above; active lanes are lanes of the gang.
                unsafe { read_word(self.thread.reg(arg.at), arg.ty, lane as usize) }
            }
            _ => 0,
        }
    }

    /// The lanes that are active where it is called; bit *i* is lane *i*. (It is called once for all of them.)
    pub fn mask(&self) -> u64 {
        self.thread.mask
    }

    /// The number of lanes of the gang.
    pub fn lanes(&self) -> usize {
        self.thread.lanes
    }

    /// The memory that pointers point into.
    pub fn memory(&self) -> &Memory {
        &self.thread.memory
    }

    /// A machine on which to call the program from within: with the same memory and output, and what is left of fuel and
    /// time. Tasks that it launches run at their launch. Traps `stack_overflow` if such calls are nested too deeply.
    pub fn machine(&self) -> Result<Machine, Trap> {
        let outer = &self.thread.shared;
        if outer.nesting >= MAX_NESTING {
            return Err(Trap::new(TrapKind::StackOverflow, TrapDetail::Limit(MAX_NESTING.into())));
        }
        let left = self.thread.polls.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let limits = Limits {
            fuel: Some(outer.fuel.left().saturating_sub(self.spent.get())),
            timeout: left,
            stack: outer.stack_bytes,
            depth: outer.max_depth,
            threads: 1,
            ..Limits::default()
        };
        let code = Arc::clone(&self.thread.code);
        let mut shared = Shared::new(Arc::clone(&code), Arc::clone(&self.thread.memory), &limits);
        shared.nesting = outer.nesting + 1;
        shared.hosts = Arc::clone(&outer.hosts);
        let mut machine = Machine::of(PreparedProgram(code), shared, limits);
        let output = Arc::clone(outer);
        machine.set_output(move |text| output.print(text));
        machine.set_interrupt(Arc::clone(&self.thread.polls.interrupt));
        machine.set_watch(self.thread.polls.watch.clone());
        Ok(machine)
    }

    /// Counts the fuel of a call that was made on a [`machine`](Self::machine) from within.
    pub fn spend(&self, fuel: u64) {
        self.spent.set(self.spent.get().saturating_add(fuel));
    }
}

impl HostResult {
    /// The result for a lane.
    fn lane(&self, lane: usize) -> u64 {
        match self {
            HostResult::Word(word) => *word,
            HostResult::Words(words) => words.get(lane).copied().unwrap_or(0),
        }
    }
}

/// What a register gets of a result: in lanes that are not active 0, whatever the host gives for them.
fn words_for(slot: &RegSlot, lanes: usize, mask: u64, result: &HostResult) -> Vec<u64> {
    let (n, mask) = if slot.shape == Shape::Uniform { (1, 1) } else { (lanes, mask) };
    // Of a `bool` the lowest byte counts.
    let significant = if slot.ty == Ty::Bool { 0xff } else { u64::MAX };
    (0..n).map(|l| if mask >> l & 1 == 1 { result.lane(l) & significant } else { 0 }).collect()
}

/// `host.call`
pub(super) struct CallHost;

impl Kernel for CallHost {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers. `aux` is a site.
        let site: &CallSite = unsafe { &(&(*t.function).calls)[(*step).aux as usize] };
        // What it does not hold, calls from within may use.
        t.release_fuel();
        t.took_in = true;
        let (hosts, code) = (t.shared.hosts.get().cloned(), Arc::clone(&t.code));
        let import = &code.program.imports[site.callee as usize];
        let callee = hosts.as_ref().and_then(|hosts| hosts.get(site.callee as usize)?.as_ref());
        let call = HostCall { thread: t, import, args: &site.args, spent: Cell::new(0) };
        let result = match callee {
            Some(callee) => callee(&call),
            None => Err(HostError::new(format!("the host provides no function `{}`", import.symbol.name))),
        };
        let spent = call.spent.get();
        match result {
            Err(error) => t.raise(step, TrapKind::HostError, None, TrapDetail::Host(error)),
            Ok(_) if spent > 0 && !t.charge(step, spent) => std::ptr::null(),
            Ok(result) => {
                for place in &site.rets {
                    let words = words_for(place, t.lanes, t.mask, &result);
                    // SAFETY: the result is a register of the executing frame.
                    unsafe { write_arg(t.base, place, t.lanes, &Arg::Words(&words)) };
                }
                // SAFETY: a function's last instruction is a jump or `ret`.
                unsafe { step.add(1) }
            }
        }
    }
}
