//! Ctrl-C stops running programs.
//!
//! While at least one program runs, a handler of SIGINT stands in front of the one that was there (Python's): it raises the
//! flag that the running programs poll and passes the signal on. It is put up when a program polls for the first time and
//! taken down at the end of the call, rather than once, because hosts such as notebooks set Python's handler anew again and
//! again; and not at the start of the call, because small calls are to cost no system calls. A signal that came in
//! between is Python's alone: the thread that may ask Python for it does so at that poll.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, TryLockError};

/// Raised by Ctrl-C; polled by every running program.
static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The programs that run now.
static RUNNING: Mutex<Running> = Mutex::new(Running { programs: 0, polled: false, handler: handler::Handler::NONE });

struct Running {
    programs: usize,
    /// Has one of them polled?
    polled: bool,
    handler: handler::Handler,
}

/// Called when a program polls: puts up the handler, the first time.
pub fn watch() {
    let mut running = match RUNNING.try_lock() {
        Ok(running) => running,
        Err(TryLockError::Poisoned(running)) => running.into_inner(),
        // Somebody else is at it.
        Err(TryLockError::WouldBlock) => return,
    };
    if running.programs == 0 || std::mem::replace(&mut running.polled, true) {
        return;
    }
    running.handler.put_up();
    drop(running);
    // SAFETY: both functions may be called by a thread that holds the GIL. The first forgets the signal, if it is on Python's
    // main thread; the second has it come again.
    let came_before = |_: Python<'_>| unsafe {
        let came = pyo3::ffi::PyOS_InterruptOccurred() != 0;
        if came {
            pyo3::ffi::PyErr_SetInterrupt();
        }
        came
    };
    if Python::attach(came_before) {
        FLAG.store(true, Ordering::Relaxed);
    }
}

/// A running program; ends when dropped.
pub struct Watch(());

impl Watch {
    /// Begins to watch for Ctrl-C. If it was pressed already, raises what Python's handler raises.
    pub fn start(py: Python<'_>) -> PyResult<Watch> {
        let watch = {
            let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            if running.programs == 0 {
                FLAG.store(false, Ordering::Relaxed);
            }
            running.programs += 1;
            Watch(())
        };
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
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.programs -= 1;
        if running.programs == 0 && std::mem::take(&mut running.polled) {
            running.handler.take_down();
        }
    }
}

#[cfg(unix)]
mod handler {
    use super::FLAG;
    use libc::{SA_SIGINFO, SIG_DFL, SIG_IGN, SIGINT, c_int, c_void, sigaction, siginfo_t};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

    /// The flag, as the signal handler may reach it: without locks and without initialisation.
    static RAISED: AtomicPtr<AtomicBool> = AtomicPtr::new(ptr::null_mut());
    /// The handler before ours, and its flags.
    static PREVIOUS: AtomicUsize = AtomicUsize::new(0);
    static PREVIOUS_FLAGS: AtomicUsize = AtomicUsize::new(0);
    /// Guards against a library that put up its handler while ours stood, and passes on to ours.
    static DEPTH: AtomicU32 = AtomicU32::new(0);

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

    /// Our handler, in front of another or not.
    pub struct Handler {
        /// The action that it stands, or stood last, in front of. It is taken to be there the next time too: a guess that
        /// spares system calls and is checked.
        previous: Option<sigaction>,
        is_up: bool,
    }

    impl Handler {
        /// It has never been put up.
        pub const NONE: Handler = Handler { previous: None, is_up: false };

        /// Puts our handler before the present one. Where SIGINT is ignored or kills, it stays so.
        pub fn put_up(&mut self) {
            let mut expected = self.previous.or_else(current);
            while let Some(previous) = expected.filter(|a| ![SIG_DFL, SIG_IGN, ours()].contains(&a.sa_sigaction)) {
                RAISED.store(std::sync::Arc::as_ptr(&FLAG).cast_mut(), Ordering::Release);
                PREVIOUS.store(previous.sa_sigaction, Ordering::Release);
                PREVIOUS_FLAGS.store(previous.sa_flags as usize, Ordering::Release);
                let mut action = previous;
                action.sa_sigaction = ours();
                action.sa_flags |= SA_SIGINFO;
                let found = exchange(&action);
                if found.is_some_and(|found| is_same(&found, &previous)) {
                    *self = Handler { previous: Some(previous), is_up: true };
                    return;
                }
                // Another one is there by now: it is put back, and stood in front of.
                expected = found;
                found.and_then(|found| exchange(&found));
            }
            self.previous = None;
        }

        /// Puts the handler back that was there before, unless somebody has replaced ours meanwhile.
        pub fn take_down(&mut self) {
            if let (true, Some(previous)) = (std::mem::take(&mut self.is_up), self.previous)
                && let Some(found) = exchange(&previous).filter(|found| found.sa_sigaction != ours())
            {
                exchange(&found);
            }
        }
    }

    extern "C" fn on_sigint(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        if DEPTH.fetch_add(1, Ordering::AcqRel) < 8 {
            let flag = RAISED.load(Ordering::Acquire);
            if !flag.is_null() {
                // SAFETY: the flag is never freed; storing to an atomic is allowed in a signal handler.
                unsafe { (*flag).store(true, Ordering::Relaxed) };
            }
            pass_on(signal, info, context);
        }
        DEPTH.fetch_sub(1, Ordering::AcqRel);
    }

    fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let previous = PREVIOUS.load(Ordering::Acquire);
        if previous == 0 {
            return;
        }
        if PREVIOUS_FLAGS.load(Ordering::Acquire) as c_int & SA_SIGINFO != 0 {
            // SAFETY: the flags say that the handler takes three arguments.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = unsafe { std::mem::transmute(previous) };
            handler(signal, info, context);
        } else {
            // SAFETY: the flags say that the handler takes one argument.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(previous) };
            handler(signal);
        }
    }
}

#[cfg(not(unix))]
mod handler {
    /// Ctrl-C is seen when the program ends.
    pub struct Handler;

    impl Handler {
        pub const NONE: Handler = Handler;
        pub fn put_up(&mut self) {}
        pub fn take_down(&mut self) {}
    }
}
