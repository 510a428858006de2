//! Large programs of every kind compile in time and memory that grow with their size and no faster.
//!
//! Each is compiled at one size and at four times that size. What is compared is the same on every machine: the bytes
//! allocated, and the steps of work that the compiler counts (`Compilation::steps`). What neither shows, such as a search
//! through a list at every step, would take minutes at a larger size, which the long mode shows:
//! `SPMDVM_LARGE=10000 cargo test --release -p spmdvm-frontend --test large`. There is one test only, since all threads of
//! the process are counted.

#[path = "../../benches/src/large/mod.rs"]
mod large;

use large::Family;
use spmdvm_frontend::limits::Limits;
use spmdvm_frontend::{Compilation, CompileOptions, Input, compile};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Parts of the smaller program.
const PARTS: usize = 120;
/// No program here takes nearly as long, even on a busy machine and without optimisation.
const TIME: Duration = Duration::from_secs(60);
/// Four times the parts are four times the work, give or take what tables double.
const GROWTH: u64 = 7;
/// Bytes and steps that do not count: what a program takes in any case.
const FIXED: [u64; 2] = [4 << 20, 20_000];

/// Counts bytes allocated.
struct Counting;

static ALLOCATED: AtomicU64 = AtomicU64::new(0);

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATED.fetch_add(size.saturating_sub(layout.size()) as u64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Compiles a program of so many parts; the bytes allocated and the steps.
fn cost(family: &Family, parts: usize) -> Result<[u64; 2], String> {
    let text = (family.make)(parts);
    // Bombs need not go off whole.
    let limits = Limits { macro_tokens: 1 << 17, ..Limits::default() };
    let options = CompileOptions {
        limits,
        headers: large::headers(),
        deadline: Instant::now().checked_add(TIME),
        ..CompileOptions::default()
    };
    let before = ALLOCATED.load(Ordering::Relaxed);
    let done = compile(Input::Text { name: family.name, text: &text }, &options);
    let bytes = ALLOCATED.load(Ordering::Relaxed) - before;
    check_outcome(family, &done)?;
    Ok([bytes, done.steps])
}

fn check_outcome(family: &Family, done: &Compilation) -> Result<(), String> {
    if done.stopped.is_some() {
        return Err(format!("takes more than {TIME:?}"));
    }
    let errors: Vec<_> = done.diagnostics.iter().filter(|d| d.code.id().starts_with('E')).collect();
    let expected = match family.error {
        Some(code) => errors.iter().any(|d| d.code.id() == code),
        None => errors.is_empty() && done.program.is_some(),
    };
    match errors.first() {
        _ if expected => Ok(()),
        Some(first) => Err(format!("{}: {}", first.code.id(), first.message)),
        None => Err("no error".into()),
    }
}

fn check(family: &Family, parts: usize) -> Result<(), String> {
    let (small, large) = (cost(family, parts)?, cost(family, 4 * parts)?);
    for ((what, fixed), (small, large)) in ["bytes", "steps"].into_iter().zip(FIXED).zip(small.into_iter().zip(large)) {
        if large > GROWTH * small + fixed {
            return Err(format!("{small} {what} for {parts} parts, {large} for {}", 4 * parts));
        }
    }
    Ok(())
}

#[test]
fn cost_grows_with_the_program() {
    let parts = std::env::var("SPMDVM_LARGE").ok().and_then(|n| n.parse().ok()).unwrap_or(PARTS);
    // The library is made once.
    compile(Input::Text { name: "first", text: "export void f() { }" }, &CompileOptions::default());
    let wrong: Vec<String> = large::families()
        .filter_map(|family| check(family, parts).err().map(|why| format!("{}: {why}\n", family.name)))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.concat());
}
