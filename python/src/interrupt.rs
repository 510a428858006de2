//! Ctrl-C stops running programs.
//!
//! A handler of SIGINT stands in front of the one that was there (Python's): it raises the flag that running programs poll and
//! passes the signal on. It stays between calls, for a call must not cost system calls. But hosts such as notebooks set
//! Python's handler anew again and again: so at the start of a call, and whenever a running program polls, it is made
//! sure that ours stands in front, if that was not done a few milliseconds before.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Raised by Ctrl-C; polled by every running program.
static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// How many programs run now.
static RUNNING: Mutex<usize> = Mutex::new(0);

/// A running program; ends when dropped.
pub struct Watch(());

impl Watch {
    /// Begins to watch for Ctrl-C. If it was pressed already, raises what Python's handler raises.
    pub fn start(py: Python<'_>) -> PyResult<Watch> {
        let watch = {
            let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            if *running == 0 {
                FLAG.store(false, Ordering::Relaxed);
            }
            *running += 1;
            Watch(())
        };
        keep_up();
        py.check_signals()?;
        Ok(watch)
    }

    /// The flag to poll.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&FLAG)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// Makes sure that Ctrl-C raises the flag.
pub fn keep_up() {
    handler::keep_up();
}

#[cfg(unix)]
mod handler {
    use super::FLAG;
    use libc::{SA_SIGINFO, SIG_DFL, SIG_IGN, SIGINT, c_int, c_void, sigaction, siginfo_t};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    /// For so long nobody looks whether our handler still stands in front.
    const FRESH: Duration = Duration::from_millis(10);

    /// When somebody last looked.
    static LOOKED: Mutex<Option<Instant>> = Mutex::new(None);

    /// The flag, as the signal handler may reach it: without locks and without initialisation.
    static RAISED: AtomicPtr<AtomicBool> = AtomicPtr::new(ptr::null_mut());
    /// A handler that ours was put before, and its flags.
    struct Previous {
        handler: AtomicUsize,
        flags: AtomicUsize,
    }

    /// The handlers that ours was put before, the latest last. A library that put up its own while ours stood passes on to ours: then
    /// the turn is that of the one before.
    static PREVIOUS: [Previous; 8] =
        [const { Previous { handler: AtomicUsize::new(0), flags: AtomicUsize::new(0) } }; 8];
    static N_PREVIOUS: AtomicUsize = AtomicUsize::new(0);
    /// How many of our handlers run within each other.
    static DEPTH: AtomicUsize = AtomicUsize::new(0);

    fn ours() -> usize {
        on_sigint as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize
    }

    fn current() -> Option<sigaction> {
        let mut now = MaybeUninit::uninit();
        // SAFETY: asks for the present action; the structure is written when the call succeeds.
        unsafe { (sigaction(SIGINT, ptr::null(), now.as_mut_ptr()) == 0).then(|| now.assume_init()) }
    }

    /// Makes an action the present one; gives the one before.
    fn exchange(action: &sigaction) -> Option<sigaction> {
        let mut before = MaybeUninit::uninit();
        // SAFETY: the action is ours below, or one that was there before; the structure is written when the call succeeds.
        unsafe { (sigaction(SIGINT, action, before.as_mut_ptr()) == 0).then(|| before.assume_init()) }
    }

    fn is_same(a: &sigaction, b: &sigaction) -> bool {
        (a.sa_sigaction, a.sa_flags) == (b.sa_sigaction, b.sa_flags)
    }

    /// Puts our handler before the present one, unless it stands there or stood there a moment ago. Where SIGINT is ignored or
    /// kills, it stays so.
    pub fn keep_up() {
        // Who finds somebody else looking need not look.
        let Ok(mut looked) = LOOKED.try_lock() else { return };
        if looked.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        while let Some(present) = current().filter(|a| ![SIG_DFL, SIG_IGN, ours()].contains(&a.sa_sigaction)) {
            RAISED.store(std::sync::Arc::as_ptr(&FLAG).cast_mut(), Ordering::Release);
            stand_before(&present);
            let mut action = present;
            action.sa_sigaction = ours();
            action.sa_flags |= SA_SIGINFO;
            match exchange(&action) {
                // Another one was put up meanwhile: it is put back, and stood in front of.
                Some(found) if !is_same(&found, &present) => drop(exchange(&found)),
                _ => break,
            }
        }
        *looked = Some(Instant::now());
    }

    /// Notes the handler that the signal is to be passed on to.
    fn stand_before(action: &sigaction) {
        let n = N_PREVIOUS.load(Ordering::Acquire);
        let is = |p: &Previous| p.handler.load(Ordering::Acquire) == action.sa_sigaction;
        // One that was there before may have forgotten those after it.
        let at = PREVIOUS[..n].iter().position(is).unwrap_or(n).min(PREVIOUS.len() - 1);
        PREVIOUS[at].flags.store(action.sa_flags as usize, Ordering::Release);
        PREVIOUS[at].handler.store(action.sa_sigaction, Ordering::Release);
        N_PREVIOUS.store(at + 1, Ordering::Release);
    }

    extern "C" fn on_sigint(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let depth = DEPTH.fetch_add(1, Ordering::AcqRel);
        let flag = RAISED.load(Ordering::Acquire);
        if !flag.is_null() {
            // SAFETY: the flag is never freed; storing to an atomic is allowed in a signal handler.
            unsafe { (*flag).store(true, Ordering::Relaxed) };
        }
        let next = N_PREVIOUS.load(Ordering::Acquire).checked_sub(depth + 1);
        if let Some(previous) = next.and_then(|at| PREVIOUS.get(at)) {
            pass_on(previous, signal, info, context);
        }
        DEPTH.fetch_sub(1, Ordering::AcqRel);
    }

    fn pass_on(previous: &Previous, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let handler = previous.handler.load(Ordering::Acquire);
        if handler == 0 {
            return;
        }
        if previous.flags.load(Ordering::Acquire) as c_int & SA_SIGINFO != 0 {
            // SAFETY: the flags say that the handler takes three arguments.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        } else {
            // SAFETY: the flags say that the handler takes one argument.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(not(unix))]
mod handler {
    /// Ctrl-C is seen when the program ends.
    pub fn keep_up() {}
}
