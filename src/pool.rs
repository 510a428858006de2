//! The machines of a module.
//!
//! Globals belong to a machine. A module whose globals can change has exactly one machine, and calls take turns; any other
//! module makes as many machines as calls run at once and keeps them for later calls.

use crate::options::Options;
use spmdvm_vm::interp::{self, Machine, PreparedProgram};
use spmdvm_vm::trap::Trap;
use spmdvm_vm::{Op, Program, VerifiedProgram};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Pool {
    prepared: PreparedProgram,
    limits: interp::Limits,
    stateful: bool,
    /// Of a stateful module at most one, which is locked while it runs.
    idle: Mutex<Vec<Machine>>,
}

/// A machine in use; it goes back when dropped.
pub(crate) struct Lease<'p> {
    pool: &'p Pool,
    machine: Option<Machine>,
    /// Held by the lease of a stateful module's machine.
    turn: Option<MutexGuard<'p, Vec<Machine>>>,
}

impl Pool {
    pub fn new(program: &VerifiedProgram, prepared: PreparedProgram, options: &Options) -> Pool {
        let defaults = interp::Limits::default();
        let limits = interp::Limits {
            fuel: options.limits.fuel,
            timeout: options.limits.timeout,
            memory: options.limits.memory.unwrap_or(defaults.memory),
            threads: options.task_threads(),
            ..defaults
        };
        let stateful = is_stateful(program);
        Pool { prepared, limits, stateful, idle: Mutex::default() }
    }

    /// Takes a machine, waiting for its turn if the module has state.
    pub fn lease(&self) -> Result<Lease<'_>, Trap> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle.pop();
        let turn = self.stateful.then_some(idle);
        let mut lease = Lease { pool: self, machine: kept, turn };
        if lease.machine.is_none() {
            lease.machine = Some(self.new_machine()?);
        }
        Ok(lease)
    }

    fn new_machine(&self) -> Result<Machine, Trap> {
        Machine::new(self.prepared.clone(), self.limits)
    }
}

/// Does anything that a call does outlast it?
pub(crate) fn is_stateful(program: &Program) -> bool {
    program.globals.iter().any(|g| !g.constant) || uses_heap(program)
}

/// Does the program allocate? Then its pointers, which hosts may hold for it, mean something on one machine only.
fn uses_heap(program: &Program) -> bool {
    program.functions.iter().any(|f| f.code.iter().any(|inst| inst.op == Op::Alloc))
}

impl Lease<'_> {
    pub fn machine(&mut self) -> &mut Machine {
        self.machine.as_mut().expect("present until dropped")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let Some(machine) = self.machine.take() else { return };
        match &mut self.turn {
            Some(idle) => idle.push(machine),
            None => self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(machine),
        }
    }
}
