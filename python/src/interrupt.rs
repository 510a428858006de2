//! Signals while programs run.
//!
//! Python's handlers of signals run between bytecodes of its main thread. While that thread runs a program, they run
//! when the program polls: every few milliseconds the thread takes the GIL and asks Python. What a handler raises stops
//! the program; if it returns, the program goes on. If other threads keep the GIL, it is asked less often, so that
//! programs do not lose much time.
//!
//! *Ctrl-C* also stops programs of other threads, as long as Python's own handler would raise `KeyboardInterrupt`.
//! While at least one program runs, a handler of SIGINT stands in front of Python's: it raises a flag and passes the
//! signal on. It is taken down at the end of the call, because hosts such as notebooks set Python's handler anew again and
//! again. Calls of the main thread put it up when they have run for a millisecond, because small calls are to cost no
//! system calls, and Python's own handler is theirs anyhow. Calls of other threads put it up at once: a signal that Python
//! alone got would never stop them.

use crate::output;
use crate::progress::Progress;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The programs that run now.
static RUNNING: Mutex<Running> =
    Mutex::new(Running { programs: 0, flag: None, asked: false, handler: handler::Handler::NONE });

struct Running {
    programs: usize,
    /// What the next Ctrl-C raises. Calls that begin after one have another flag than those that it stops, which may take a moment to end.
    flag: Option<Arc<AtomicBool>>,
    /// Whether one of them has asked Python.
    asked: bool,
    handler: handler::Handler,
}

/// Puts up the handler, when the first program asks. Needs the GIL. Fails if Python's own handler runs meanwhile, and raises.
fn put_up_handler(py: Python<'_>) -> PyResult<()> {
    if !has_default_handler(py)? {
        return Ok(());
    }
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if running.programs != 0 && !std::mem::replace(&mut running.asked, true) {
        let flag = running.flag();
        running.handler.put_up(&flag);
    }
    Ok(())
}

impl Running {
    /// The flag that the next Ctrl-C raises.
    fn flag(&mut self) -> Arc<AtomicBool> {
        Arc::clone(self.flag.get_or_insert_default())
    }

    /// The same for a call that begins: it is not raised yet.
    fn fresh_flag(&mut self) -> Arc<AtomicBool> {
        let presses = handler::presses();
        let flag = self.flag();
        if self.programs == 0 {
            flag.store(false, Ordering::Relaxed);
        }
        if !flag.load(Ordering::Relaxed) {
            return flag;
        }
        let fresh: Arc<AtomicBool> = Arc::default();
        handler::raise_from_now_on(&fresh);
        // One that came just now is for this call, too.
        fresh.store(handler::presses() != presses, Ordering::Relaxed);
        // The handler of a signal may be about to raise it.
        std::mem::forget(self.flag.replace(Arc::clone(&fresh)));
        fresh
    }
}

/// Returns whether Python would raise `KeyboardInterrupt` at Ctrl-C.
fn has_default_handler(py: Python<'_>) -> PyResult<bool> {
    static GETSIGNAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static DEFAULT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    // That of `signal` makes an enumeration of what it gives, which takes longer than many a program.
    let present = GETSIGNAL.import(py, "_signal", "getsignal")?.call1((libc::SIGINT,))?;
    Ok(present.is(DEFAULT.import(py, "signal", "default_int_handler")?))
}

/// Returns whether this is Python's main thread, where handlers run.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    /// The thread that was found to be the main one. Where another has become it by `fork`, that one is asked for anew.
    static KNOWN: OnceLock<ThreadId> = OnceLock::new();
    let thread = thread::current().id();
    if KNOWN.get() == Some(&thread) {
        return Ok(true);
    }
    static MAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static CURRENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let main = MAIN.import(py, "threading", "main_thread")?.call0()?;
    let is_main = main.is(&CURRENT.import(py, "threading", "current_thread")?.call0()?);
    if is_main {
        KNOWN.get_or_init(|| thread);
    }
    Ok(is_main)
}

/// A call of a program; ends when dropped.
pub struct Watch(Look);

/// The same, for the polls of the program.
#[derive(Clone)]
pub struct Look(Arc<Call>);

struct Call {
    /// Stops the program.
    stop: Arc<AtomicBool>,
    /// Raised by Ctrl-C.
    pressed: Arc<AtomicBool>,
    /// The thread that called.
    thread: ThreadId,
    /// The program that handlers may not call meanwhile.
    program: Option<usize>,
    /// Who is told how far the call is.
    progress: Option<Arc<Progress>>,
    looked: Mutex<Looked>,
    raised: Mutex<Option<PyErr>>,
}

#[derive(Default)]
struct Looked {
    /// Python is not asked before this time; `None`: the program has not polled yet.
    next: Option<Instant>,
    /// Once it has been asked: whether the thread is the main one.
    is_main: Option<bool>,
}

impl Watch {
    /// Calls that take less do not ask Python at all.
    const SMALL: Duration = Duration::from_millis(1);

    /// A thread that only waits looks this often, and one that runs a program not more often.
    pub const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

    /// However long a look took: it may be that the machine was busy with other processes.
    const LONGEST_BETWEEN_LOOKS: Duration = Duration::from_millis(100);

    /// Begins to watch for signals. If one came already, its handler runs now. Handlers may not call `program`, and neither may what
    /// is told of the progress.
    pub fn start(py: Python<'_>, program: Option<usize>, progress: Option<Arc<Progress>>) -> PyResult<Watch> {
        let watch = {
            let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            let pressed = running.fresh_flag();
            running.programs += 1;
            let (stop, looked, raised) = Default::default();
            let thread = thread::current().id();
            Watch(Look(Arc::new(Call { stop, pressed, thread, program, progress, looked, raised })))
        };
        py.check_signals()?;
        if !is_main_thread(py)? {
            put_up_handler(py)?;
        }
        Ok(watch)
    }

    /// The flag that stops the program.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.0.stop)
    }

    /// The flag that Ctrl-C raises from now on, whatever runs: for work that does not poll by [`Look`].
    pub fn ctrl_c(&self, py: Python<'_>) -> Arc<AtomicBool> {
        self.0.0.stop_if(put_up_handler(py));
        Arc::clone(&self.0.0.pressed)
    }

    /// What a poll does.
    pub fn look(&self) -> Look {
        self.0.clone()
    }

    /// What a handler raised meanwhile.
    pub fn end(self) -> Option<PyErr> {
        self.0.0.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Look {
    /// Has handlers run if it is time, and raises the flag if the program is to stop.
    pub fn now(&self) {
        let call = &*self.0;
        let Ok(mut looked) = call.looked.try_lock() else { return };
        // Threads that run parts of the call leave it to the thread that waits for them.
        if thread::current().id() != call.thread {
            return;
        }
        let (pressed, now) = (call.pressed.load(Ordering::Relaxed), Instant::now());
        if call.progress.as_ref().is_some_and(|progress| progress.is_due(now)) {
            Python::try_attach(|py| call.tell(py));
        }
        let next = *looked.next.get_or_insert(now + Watch::SMALL);
        if looked.is_main == Some(false) {
            call.stop.fetch_or(pressed, Ordering::Relaxed);
        } else if pressed || now >= next {
            Python::try_attach(|py| call.ask(py, &mut looked));
            let took = now.elapsed();
            looked.next = Some(now + took + (20 * took).clamp(Watch::BETWEEN_LOOKS, Watch::LONGEST_BETWEEN_LOOKS));
        }
    }
}

impl Call {
    fn ask(&self, py: Python<'_>, looked: &mut Looked) {
        let why = "by the handler of a signal that came while it runs, because it has state";
        // Whatever Python executes here may have the handler of a signal run that came before, and what that raises counts.
        let mut handlers = || {
            if looked.is_main.is_none() {
                looked.is_main = Some(is_main_thread(py)?);
                put_up_handler(py)?;
            }
            py.check_signals()
        };
        self.stop_if(match self.program {
            Some(program) => output::while_waiting(program, why, handlers),
            None => handlers(),
        });
    }

    /// Tells how far the call is.
    fn tell(&self, py: Python<'_>) {
        let Some(progress) = self.progress.as_ref().filter(|_| !self.stop.load(Ordering::Relaxed)) else { return };
        let why = "by what is told of the progress of its call, because it has state";
        self.stop_if(match self.program {
            Some(program) => output::while_waiting(program, why, || progress.tell(py)),
            None => progress.tell(py),
        });
    }

    /// Stops the program if Python has raised something.
    fn stop_if(&self, result: PyResult<()>) {
        if let Err(error) = result {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.programs -= 1;
        if running.programs == 0 && std::mem::take(&mut running.asked) {
            running.handler.take_down();
        }
    }
}

#[cfg(unix)]
mod handler {
    use libc::{SA_SIGINFO, SIG_DFL, SIG_IGN, SIGINT, c_int, c_void, sigaction, siginfo_t};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

    /// The flag, as the signal handler may reach it: without locks and without initialisation.
    static RAISED: AtomicPtr<AtomicBool> = AtomicPtr::new(ptr::null_mut());
    /// How often Ctrl-C has come while our handler stood.
    static PRESSES: AtomicUsize = AtomicUsize::new(0);
    /// The handler before ours, and its flags.
    static PREVIOUS: AtomicUsize = AtomicUsize::new(0);
    static PREVIOUS_FLAGS: AtomicUsize = AtomicUsize::new(0);
    /// Guards against a library that put up its handler while ours stood, and passes on to ours.
    static DEPTH: AtomicU32 = AtomicU32::new(0);

    /// How often Ctrl-C has come so far.
    pub fn presses() -> usize {
        PRESSES.load(Ordering::SeqCst)
    }

    /// Ctrl-C raises this flag from now on. The one before is not to be freed, ever.
    pub fn raise_from_now_on(flag: &Arc<AtomicBool>) {
        RAISED.store(Arc::as_ptr(flag).cast_mut(), Ordering::SeqCst);
    }

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
        pub fn put_up(&mut self, flag: &Arc<AtomicBool>) {
            let mut expected = self.previous.or_else(current);
            while let Some(previous) = expected.filter(|a| ![SIG_DFL, SIG_IGN, ours()].contains(&a.sa_sigaction)) {
                raise_from_now_on(flag);
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
            PRESSES.fetch_add(1, Ordering::SeqCst);
            let flag = RAISED.load(Ordering::SeqCst);
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
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// Ctrl-C is seen when the program ends.
    pub struct Handler;

    pub fn presses() -> usize {
        0
    }

    pub fn raise_from_now_on(_: &Arc<AtomicBool>) {}

    impl Handler {
        pub const NONE: Handler = Handler;
        pub fn put_up(&mut self, _: &Arc<AtomicBool>) {}
        pub fn take_down(&mut self) {}
    }
}
