//! The machines of a module.
//!
//! A module whose globals can change has exactly one machine, and calls take turns; any other module makes as many
//! machines as calls run at once and keeps them for later calls. All of them share the memory of the globals, which
//! lives as long as the module, or longer if a host looks into it.
//!
//! `extern` variables have the memory that hosts [supply](Pool::supply). Each machine keeps what it was told of last,
//! so whatever a machine knows of is there; it is told anew when a call takes it.
//!
//! Memory that hosts [bind](Pool::bind) has an address, which means something on one machine only: from the first time on
//! the module has but one. What is not bound any more is kept until that machine, when it is taken next, lets go of it.

use crate::global::{GlobalMemory, has_externs};
use crate::host::{self, Nested, Owner};
use crate::options::Options;
use spmdvm_vm::interp::{self, HostTable, Machine, PreparedProgram};
use spmdvm_vm::memory::Globals;
use spmdvm_vm::program::{HostValue, Inst};
use spmdvm_vm::trap::Trap;
use spmdvm_vm::{GlobalId, Op, Program, VerifiedProgram};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub(crate) struct Pool {
    prepared: PreparedProgram,
    limits: interp::Limits,
    /// What the host provides, and who asks for it.
    hosts: Option<HostTable>,
    owner: Owner,
    stateful: AtomicBool,
    /// Made when first needed.
    globals: OnceLock<Result<Arc<Globals>, Box<Trap>>>,
    /// What hosts have supplied.
    supplied: Mutex<Arc<Supplied>>,
    /// Whether a host has ever bound memory.
    binds: AtomicBool,
    /// What is bound no more, but mapped still.
    unbound: Mutex<Vec<(u64, GlobalMemory)>>,
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
    /// The program, prepared for the engine.
    pub fn prepared(&self) -> &PreparedProgram {
        &self.prepared
    }

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
        Pool {
            prepared,
            limits,
            hosts,
            owner,
            stateful: AtomicBool::new(is_stateful(program)),
            globals: OnceLock::new(),
            supplied: Mutex::default(),
            binds: AtomicBool::new(false),
            unbound: Mutex::default(),
            idle: Mutex::default(),
        }
    }

    /// Returns whether there is one machine only, because what a call does can outlast it.
    pub fn is_stateful(&self) -> bool {
        self.stateful.load(Ordering::Acquire)
    }

    /// Returns whether a host has ever bound memory.
    pub fn binds(&self) -> bool {
        self.binds.load(Ordering::Acquire)
    }

    /// Takes a machine, waiting for its turn if the module has state. A function of the host that the module has called gets
    /// one that shares the memory of that call.
    pub fn lease(&self) -> Result<Lease<'_>, Trap> {
        if let Some(nested) = self.hosts.as_ref().and_then(|_| host::nested(self.owner)) {
            return Ok(Lease { pool: self, machine: None, nested: Some(nested?), turn: None });
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle.pop();
        let turn = self.is_stateful().then_some(idle);
        let mut lease = Lease { pool: self, machine: kept, nested: None, turn };
        let equipped = match &mut lease.machine {
            Some(equipped) => equipped,
            none => none.insert(self.new_machine()?),
        };
        equipped.learn(&self.all_supplied());
        if self.binds() {
            self.let_go(&mut equipped.machine);
        }
        Ok(lease)
    }

    /// Returns whether memory can be bound now: not by a function of the host that a call on one machine of several waits for.
    pub fn can_bind(&self) -> bool {
        self.is_stateful() || self.hosts.is_none() || host::nested(self.owner).is_none()
    }

    /// Gives memory of a host an address, which it has until [`unbind`](Self::unbind).
    ///
    /// # Safety
    /// The memory may be written, if `writable`.
    pub unsafe fn bind(&self, memory: &GlobalMemory, writable: bool, name: &str) -> Result<u64, Trap> {
        if !self.is_stateful() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have bound memory meanwhile, of which the machine here knows.
            if !self.stateful.swap(true, Ordering::AcqRel) {
                // The machines that run now are dropped when they come back.
                idle.clear();
            }
        }
        self.binds.store(true, Ordering::Release);
        let mut lease = self.lease()?;
        let machine = lease.machine();
        let name = machine.memory().name(name);
        // SAFETY: the memory stays while `memory` or a copy of it lives, one of which is in `unbound` until the machine
        // has let go of it.
        unsafe { machine.map_host(memory.start(), memory.bytes(), writable, name) }
    }

    /// Takes the address from what is bound. May be called by whoever drops the last handle, so it waits for nobody.
    pub fn unbind(&self, pointer: u64, memory: GlobalMemory) {
        self.unbound.lock().unwrap_or_else(PoisonError::into_inner).push((pointer, memory));
    }

    fn let_go(&self, machine: &mut Machine) {
        let unbound = std::mem::take(&mut *self.unbound.lock().unwrap_or_else(PoisonError::into_inner));
        // Their owners are dropped last, when the machine knows of the memory no more.
        unbound.iter().for_each(|&(pointer, _)| machine.unmap(pointer));
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

/// Returns whether the program allocates, or gets addresses of the host. Then its pointers, which hosts may hold for it, mean
/// something on one machine only.
fn uses_heap(program: &Program) -> bool {
    let gives_address = |import: u32| {
        let host = program.imports.get(import as usize).and_then(|import| import.host.as_ref());
        host.is_some_and(|host| matches!(host.result, Some(HostValue::Array { .. })))
    };
    let is_such = |inst: &Inst| inst.op == Op::Alloc || inst.op == Op::HostCall && gives_address(inst.aux);
    program.functions.iter().any(|f| f.code.iter().any(is_such))
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
            None => {
                let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
                // A module may have become one with one machine while this one ran.
                if !self.pool.is_stateful() {
                    idle.push(machine);
                }
            }
        }
    }
}
