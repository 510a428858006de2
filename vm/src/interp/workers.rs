//! The threads of the host that run tasks: one work-stealing pool for each number of threads that was asked for, shared
//! by all machines of the process.

use rayon_core::{ThreadPool, ThreadPoolBuilder, current_thread_index};
use std::sync::{Arc, Mutex, PoisonError};

/// A pool, and the process that started its threads: after a `fork` the child has none of them.
struct Started {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

static POOLS: Mutex<Vec<Started>> = Mutex::new(Vec::new());

/// The pool of so many threads; `None` if the host does not give them.
pub(crate) fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = pools.iter().find(|p| p.threads == threads && p.process == process) {
        return Some(Arc::clone(&known.pool));
    }
    let name = |index| format!("spmdvm-task-{index}");
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build().ok()?);
    pools.push(Started { process, threads, pool: Arc::clone(&pool) });
    Some(pool)
}

/// The number of the calling thread in its pool; 0 outside.
pub(crate) fn worker_index() -> usize {
    current_thread_index().unwrap_or(0)
}
