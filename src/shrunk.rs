//! Mapped files that another process, or thread, cuts off while a program runs.
//!
//! The system answers an access beyond the file's new end with the signal SIGBUS, which would end the process. So
//! whoever gives a program memory of a mapped file [watches](watch) it: at the signal, the missing page is replaced by
//! zeros, the access goes on, and all that is watched there is marked, to be reported as an error when the program has
//! ended.

#[cfg(unix)]
pub use unix::{Watch, watch};

#[cfg(not(unix))]
mod other {
    /// Memory that is not watched: other systems do not let go of what is mapped.
    pub struct Watch;

    impl Watch {
        /// Returns whether a part of it is gone.
        pub fn has_shrunk(&self) -> bool {
            false
        }
    }

    /// Watches memory of a mapped file until the result is dropped.
    pub fn watch(_: *const u8, _: usize) -> Watch {
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
    use std::sync::{Mutex, PoisonError};

    /// Memory that is watched, as the signal handler finds it. Never freed, since a handler might be reading it, but
    /// used again.
    struct WatchedRange {
        is_used: AtomicBool,
        /// Odd while start and length are being changed.
        version: AtomicUsize,
        start: AtomicUsize,
        /// 0 while nobody watches.
        len: AtomicUsize,
        shrunk: AtomicBool,
        next: AtomicPtr<WatchedRange>,
    }

    static WATCHED: AtomicPtr<WatchedRange> = AtomicPtr::new(null_mut());
    static PAGE: AtomicUsize = AtomicUsize::new(4096);
    /// What was to be done at the signal before, for the handler. Never freed; a new one only if somebody has put up a
    /// handler since.
    static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());
    static PUT_UP: Mutex<()> = Mutex::new(());

    impl WatchedRange {
        fn set(&self, start: usize, len: usize) {
            self.version.fetch_add(1, SeqCst);
            self.start.store(start, SeqCst);
            self.len.store(len, SeqCst);
            self.version.fetch_add(1, SeqCst);
        }

        /// Returns whether the address lies within. Not while it changes: then what fails is not yet, or no more, ours.
        fn has(&self, at: usize) -> bool {
            let version = self.version.load(SeqCst);
            let inside = at.wrapping_sub(self.start.load(SeqCst)) < self.len.load(SeqCst);
            inside && version.is_multiple_of(2) && version == self.version.load(SeqCst)
        }
    }

    /// All places, used or not.
    fn places() -> impl Iterator<Item = &'static WatchedRange> {
        // SAFETY: places are never freed.
        let follow = |link: &AtomicPtr<WatchedRange>| unsafe { link.load(SeqCst).as_ref() };
        std::iter::successors(follow(&WATCHED), move |place| follow(&place.next))
    }

    /// Memory that is watched.
    pub struct Watch(&'static WatchedRange);

    impl Watch {
        /// Returns whether a part of it is gone.
        pub fn has_shrunk(&self) -> bool {
            self.0.shrunk.load(SeqCst)
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            self.0.set(0, 0);
            self.0.is_used.store(false, SeqCst);
        }
    }

    /// Watches memory of a mapped file until the result is dropped. The memory is mapped until then.
    pub fn watch(start: *const u8, len: usize) -> Watch {
        put_up_handler();
        let free = places().find(|p| p.is_used.compare_exchange(false, true, SeqCst, SeqCst).is_ok());
        let place = free.unwrap_or_else(new_range);
        place.shrunk.store(false, SeqCst);
        place.set(start.addr(), len);
        Watch(place)
    }

    fn new_range() -> &'static WatchedRange {
        let place: &'static WatchedRange = Box::leak(Box::new(WatchedRange {
            is_used: AtomicBool::new(true),
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            shrunk: AtomicBool::new(false),
            next: AtomicPtr::new(null_mut()),
        }));
        let ours = std::ptr::from_ref(place).cast_mut();
        let mut first = WATCHED.load(SeqCst);
        loop {
            place.next.store(first, SeqCst);
            match WATCHED.compare_exchange(first, ours, SeqCst, SeqCst) {
                Ok(_) => return place,
                Err(now) => first = now,
            }
        }
    }

    /// Makes our handler the present one, if it is not: other libraries put up theirs.
    fn put_up_handler() {
        let _one_at_a_time = PUT_UP.lock().unwrap_or_else(PoisonError::into_inner);
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = handle;
        let handler = handler as *const () as usize;
        // SAFETY: plain system calls; the handler does only what handlers may.
        unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            libc::sigaction(libc::SIGBUS, null_mut(), &mut before);
            if before.sa_sigaction == handler {
                return;
            }
            if let Ok(page) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) {
                PAGE.store(page, SeqCst);
            }
            BEFORE.store(Box::into_raw(Box::new(before)), SeqCst);
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = handler;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, null_mut());
        }
    }

    /// Runs at the signal; only atomics and system calls that are allowed there.
    extern "C" fn handle(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system gives valid information.
        let at = unsafe { (*info).si_addr() }.addr();
        if places().any(|place| place.has(at)) && put_zeros(at) {
            // A page holds the ends of several things that are watched.
            let page = PAGE.load(SeqCst);
            let start = at & !(page - 1);
            let touched = |p: &&WatchedRange| {
                p.start.load(SeqCst) < start + page && start < p.start.load(SeqCst) + p.len.load(SeqCst)
            };
            places().filter(touched).for_each(|place| place.shrunk.store(true, SeqCst));
            return;
        }
        // SAFETY: an action that the system gave, which is never freed.
        if let Some(before) = unsafe { BEFORE.load(SeqCst).as_ref() } {
            // Not ours: what was to be done before happens when the access is repeated.
            // SAFETY: as above.
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
