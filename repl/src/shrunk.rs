//! Mapped files that another process cuts off while a program runs.
//!
//! The system answers an access beyond the file's new end with the signal SIGBUS, which would end the process. So whoever
//! maps a file [watches](watch) the mapping: at the signal, the missing page is replaced by zeros, the access goes
//! on, and the mapping is marked, to be reported as an error when the program has ended.

#[cfg(unix)]
pub use unix::{Watch, watch};

#[cfg(not(unix))]
mod other {
    /// A mapping that is not watched: other systems do not let go of what is mapped.
    pub struct Watch;

    impl Watch {
        /// Is a part of the mapping gone?
        pub fn has_shrunk(&self) -> bool {
            false
        }
    }

    /// Watches a mapping until the result is dropped.
    pub fn watch(_: &[u8]) -> Watch {
        Watch
    }
}
#[cfg(not(unix))]
pub use other::{Watch, watch};

#[cfg(unix)]
mod unix {
    use libc::{c_int, c_void, siginfo_t};
    use std::mem::MaybeUninit;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
    use std::sync::{Once, OnceLock};

    /// A mapping, as the signal handler finds it. Never freed, since a handler might be reading it.
    struct Mapping {
        start: AtomicUsize,
        /// 0 once nobody watches it.
        len: AtomicUsize,
        shrunk: AtomicBool,
        next: *const Mapping,
    }

    static MAPPINGS: AtomicPtr<Mapping> = AtomicPtr::new(null_mut());
    static PAGE: AtomicUsize = AtomicUsize::new(4096);
    /// What was to be done at the signal before.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// A mapping that is watched.
    pub struct Watch(&'static Mapping);

    impl Watch {
        /// Is a part of the mapping gone?
        pub fn has_shrunk(&self) -> bool {
            self.0.shrunk.load(SeqCst)
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            self.0.len.store(0, SeqCst);
        }
    }

    /// Watches a mapping until the result is dropped.
    pub fn watch(mapping: &[u8]) -> Watch {
        install();
        let node = Box::leak(Box::new(Mapping {
            start: AtomicUsize::new(mapping.as_ptr().addr()),
            len: AtomicUsize::new(mapping.len()),
            shrunk: AtomicBool::new(false),
            next: null_mut(),
        }));
        loop {
            let first = MAPPINGS.load(SeqCst);
            node.next = first;
            if MAPPINGS.compare_exchange(first, node, SeqCst, SeqCst).is_ok() {
                return Watch(node);
            }
        }
    }

    fn install() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: plain system calls; the handler does only what handlers may.
            unsafe {
                if let Ok(page) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) {
                    PAGE.store(page, SeqCst);
                }
                let mut before = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                libc::sigaction(libc::SIGBUS, null_mut(), &mut before);
                let _ = BEFORE.set(before);
                let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = handle;
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(libc::SIGBUS, &action, null_mut());
            }
        });
    }

    /// Runs at the signal; only atomics and system calls that are allowed there.
    extern "C" fn handle(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system gives valid information.
        let at = unsafe { (*info).si_addr() }.addr();
        let mut mapping: *const Mapping = MAPPINGS.load(SeqCst);
        // SAFETY: mappings in the list are never freed.
        while let Some(m) = unsafe { mapping.as_ref() } {
            let (start, len) = (m.start.load(SeqCst), m.len.load(SeqCst));
            if at.wrapping_sub(start) < len && put_zeros(at) {
                m.shrunk.store(true, SeqCst);
                return;
            }
            mapping = m.next;
        }
        // Not ours: what was to be done before happens when the access is repeated.
        if let Some(before) = BEFORE.get() {
            // SAFETY: an action that the system gave.
            unsafe { libc::sigaction(libc::SIGBUS, before, null_mut()) };
        }
    }

    /// Replaces the page of an address by zeros.
    fn put_zeros(at: usize) -> bool {
        let page = PAGE.load(SeqCst);
        let start = std::ptr::with_exposed_provenance_mut(at & !(page - 1));
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page belongs to a mapping that is watched, so nothing else lies there; its file has no such page.
        unsafe { libc::mmap(start, page, access, how, -1, 0) != libc::MAP_FAILED }
    }
}
