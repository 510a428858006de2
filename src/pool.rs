//! The machines of a module.
//!
//! A module whose globals can change has exactly one machine, and calls take turns; any other module makes as many
//! machines as calls run at once and keeps them for later calls. All of them share the memory of the globals, which
//! lives as long as the module, or longer if a host looks into it.
//!
//! `extern` variables have the memory that hosts [supply](Pool::supply). Each machine keeps what it was told of last,
//! so whatever a machine knows of is there; it is told anew when a call takes it.

use crate::global::{GlobalMemory, has_externs};
use crate::host::{self, Nested, Owner};
use crate::options::Options;
use spmdvm_vm::interp::{self, HostTable, Machine, PreparedProgram};
use spmdvm_vm::memory::Globals;
use spmdvm_vm::trap::Trap;
use spmdvm_vm::{GlobalId, Op, Program, VerifiedProgram};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub(crate) struct Pool {
    prepared: PreparedProgram,
    limits: interp::Limits,
    /// What the host provides, and who asks for it.
    hosts: Option<HostTable>,
    owner: Owner,
    stateful: bool,
    /// Made when first needed.
    globals: OnceLock<Result<Arc<Globals>, Box<Trap>>>,
    /// What hosts have supplied.
    supplied: Mutex<Arc<Supplied>>,
    /// Of a stateful module at most one, which is locked while it runs.
    idle: Mutex<Vec<Equipped>>,
}

/// The memory of `extern` variables.
type Supplied = BTreeMap<GlobalId, GlobalMemory>;

/// A machine and the memory of `extern` variables that it knows of.
struct Equipped {
    machine: Machine,
    supplied: Arc<Supplied>,
}

/// A machine in use; it goes back when dropped.
pub(crate) struct Lease<'p> {
    pool: &'p Pool,
    machine: Option<Equipped>,
    /// In its place, for a call from within another.
    nested: Option<Nested>,
    /// Held by the lease of a stateful module's machine.
    turn: Option<MutexGuard<'p, Vec<Equipped>>>,
}

impl Pool {
    pub fn new(
        program: &VerifiedProgram,
        prepared: PreparedProgram,
        options: &Options,
        hosts: Option<HostTable>,
        owner: Owner,
    ) -> Pool {
        let defaults = interp::Limits::default();
        let limits = interp::Limits {
            fuel: options.limits.fuel,
            timeout: options.limits.timeout,
            memory: options.limits.memory.unwrap_or(defaults.memory),
            threads: options.task_threads(),
            ..defaults
        };
        let stateful = is_stateful(program);
        let (globals, supplied, idle) = (OnceLock::new(), Mutex::default(), Mutex::default());
        Pool { prepared, limits, hosts, owner, stateful, globals, supplied, idle }
    }

    /// Returns whether there is one machine only, because what a call does can outlast it.
    pub fn is_stateful(&self) -> bool {
        self.stateful
    }

    /// Takes a machine, waiting for its turn if the module has state. A function of the host that the module has called gets
    /// one that shares the memory of that call.
    pub fn lease(&self) -> Result<Lease<'_>, Trap> {
        if let Some(nested) = self.hosts.as_ref().and_then(|_| host::nested(self.owner)) {
            return Ok(Lease { pool: self, machine: None, nested: Some(nested?), turn: None });
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle.pop();
        let turn = self.stateful.then_some(idle);
        let mut lease = Lease { pool: self, machine: kept, nested: None, turn };
        let equipped = match &mut lease.machine {
            Some(equipped) => equipped,
            none => none.insert(self.new_machine()?),
        };
        equipped.learn(&self.all_supplied());
        Ok(lease)
    }

    fn new_machine(&self) -> Result<Equipped, Trap> {
        let globals = self.globals()?;
        let mut machine = Machine::with_globals(self.prepared.clone(), self.limits, Arc::clone(globals))?;
        self.hosts.iter().for_each(|hosts| machine.set_hosts(Arc::clone(hosts)));
        Ok(Equipped { machine, supplied: Arc::default() })
    }

    /// The memory of the globals. Traps `out_of_memory` if there is not enough, also later.
    pub fn globals(&self) -> Result<&Arc<Globals>, Trap> {
        let made = self.globals.get_or_init(|| Globals::new(self.prepared.program()).map(Arc::new).map_err(Box::new));
        made.as_ref().map_err(|trap| Trap::clone(trap))
    }

    /// The memory of an `extern` variable, if it has any.
    pub fn supplied(&self, id: GlobalId) -> Option<GlobalMemory> {
        self.all_supplied().get(&id).cloned()
    }

    fn all_supplied(&self) -> Arc<Supplied> {
        Arc::clone(&self.supplied.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives an `extern` variable its memory, or none, for the calls that begin after this.
    pub fn supply(&self, id: GlobalId, memory: Option<GlobalMemory>) {
        // Dropped last, without a lock: who owns the memory may do anything then.
        let mut before = Vec::new();
        let supplied = {
            let mut current = self.supplied.lock().unwrap_or_else(PoisonError::into_inner);
            let mut new = Supplied::clone(&current);
            match memory {
                Some(memory) => drop(new.insert(id, memory)),
                None => drop(new.remove(&id)),
            }
            before.push(std::mem::replace(&mut *current, Arc::new(new)));
            Arc::clone(&current)
        };
        // Machines that are not running let go of what they knew; a running one does when it is taken again.
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.iter_mut().for_each(|equipped| before.extend(equipped.learn(&supplied)));
        }
    }
}

/// Returns whether anything that a call does outlasts it.
pub(crate) fn is_stateful(program: &Program) -> bool {
    program.globals.iter().any(|g| !g.constant) || uses_heap(program)
}

/// Returns whether all calls must be of one module, rather than of one for each instance of a polymorphic function.
pub(crate) fn is_indivisible(program: &Program) -> bool {
    is_stateful(program) || has_externs(program)
}

/// Does the program allocate? Then its pointers, which hosts may hold for it, mean something on one machine only.
fn uses_heap(program: &Program) -> bool {
    program.functions.iter().any(|f| f.code.iter().any(|inst| inst.op == Op::Alloc))
}

impl Equipped {
    /// Tells the machine, which is not running, of the memory of `extern` variables. Gives what it knew, if that was
    /// another.
    fn learn(&mut self, supplied: &Arc<Supplied>) -> Option<Arc<Supplied>> {
        if Arc::ptr_eq(&self.supplied, supplied) {
            return None;
        }
        for &id in self.supplied.keys().filter(|id| !supplied.contains_key(id)) {
            // SAFETY: takes memory away.
            unsafe { self.machine.supply(id, None) };
        }
        for (&id, memory) in supplied.iter() {
            // SAFETY: whoever supplied the memory promised that it stays, and may be accessed so, while `supplied` is
            // held; the machine's own copy of that is replaced below, when the machine knows of no other memory any
            // more.
            unsafe { self.machine.supply(id, Some((memory.start(), memory.bytes()))) };
        }
        Some(std::mem::replace(&mut self.supplied, Arc::clone(supplied)))
    }
}

impl Lease<'_> {
    pub fn machine(&mut self) -> &mut Machine {
        match &mut self.nested {
            Some(nested) => &mut nested.machine,
            None => &mut self.machine.as_mut().expect("present until dropped").machine,
        }
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
