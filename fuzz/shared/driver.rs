//! Runs a fuzzing function on made-up inputs as an ordinary test: for a second, or for `SPMDVM_FUZZ_SECONDS`.
//!
//! What fails (a panic, or an input that takes longer than [`SLOW`]) is made small and collected; the test fails at its
//! end with one input for each message. An input that never ends, or that overflows the stack, ends the process: it is
//! the text of the file named `fuzz-….current` in the target folder's `tmp`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// An input that takes longer, twice in a row, fails.
const SLOW: Duration = Duration::from_secs(5);
/// An input that takes longer is never waited for.
const STUCK: Duration = Duration::from_secs(120);
/// How many attempts are made to reduce an input that fails.
const MAX_REDUCTIONS: usize = 400;

/// A xorshift generator; the run differs from time to time only in how far it comes.
pub struct Random(u64);

impl Random {
    /// From 0 to `n` − 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    /// One of the items.
    #[allow(dead_code)] // Not every test that includes this file uses it.
    pub fn pick<'i, T: ?Sized>(&mut self, items: &[&'i T]) -> &'i T {
        items[self.below(items.len())]
    }
}

/// Runs `run` on each seed as it is, then on copies with some bytes changed until the time is up.
pub fn for_a_second(name: &str, seeds: Vec<Vec<u8>>, run: fn(&[u8])) {
    let make = |random: &mut Random| {
        let mut input = seeds[random.below(seeds.len())].clone();
        change_bytes(random, &mut input);
        input
    };
    fuzz(name, &seeds, make, run);
}

/// Runs `run` on each seed as it is, then on what `make` makes until the time is up.
pub fn fuzz(name: &str, seeds: &[Vec<u8>], mut make: impl FnMut(&mut Random) -> Vec<u8>, run: fn(&[u8])) {
    let setting = |name| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let end = Instant::now() + Duration::from_secs(setting("SPMDVM_FUZZ_SECONDS").unwrap_or(1));
    let mut random = Random(0x2545_f491_4f6c_dd1d ^ setting("SPMDVM_FUZZ_SEED").unwrap_or(0));
    let mut findings = Findings { run, current: current_file(name), list: Vec::new() };
    seeds.iter().for_each(|seed| findings.try_input(seed));
    let mut n = seeds.len();
    while Instant::now() < end {
        let input = make(&mut random);
        findings.try_input(&input);
        n += 1;
    }
    eprintln!("{name}: {n} inputs");
    let texts: Vec<String> =
        findings.list.iter().map(|(message, input)| format!("{message}\n{}", String::from_utf8_lossy(input))).collect();
    assert!(texts.is_empty(), "{} of {n} inputs fail:\n\n{}", texts.len(), texts.join("\n\n"));
}

/// Overwrites, removes, repeats or inserts some bytes.
pub fn change_bytes(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let n = random.below(12).min(bytes.len() - at);
        match random.below(5) {
            0 => bytes[at..at + n].iter_mut().for_each(|b| *b = b.wrapping_add(1)),
            1 => drop(bytes.drain(at..at + n)),
            2 => {
                let copy = bytes[at..at + n].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            3 => bytes.insert(at, random.below(256) as u8),
            _ => bytes.insert(at, b"(){}[]:,\"#@-\n0"[random.below(14)]),
        }
    }
}

/// Where the input that is being tried is kept, in long runs.
fn current_file(name: &str) -> Option<PathBuf> {
    std::env::var_os("SPMDVM_FUZZ_SECONDS")?;
    Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}.current")))
}

/// What has failed so far: for each message one input.
struct Findings {
    run: fn(&[u8]),
    current: Option<PathBuf>,
    list: Vec<(String, Vec<u8>)>,
}

impl Findings {
    fn try_input(&mut self, input: &[u8]) {
        if let Some(path) = &self.current {
            std::fs::write(path, input).expect("the target folder can be written to");
        }
        let Some(message) = self.failure(input) else { return };
        if self.list.iter().any(|(known, _)| *known == message) {
            return;
        }
        let reduced = self.reduced(input, &message);
        eprintln!("{message}\n{}\n", String::from_utf8_lossy(&reduced));
        self.list.push((message, reduced));
    }

    /// How an input fails, without what differs from input to input.
    fn failure(&self, input: &[u8]) -> Option<String> {
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| watched(self.run, input)));
        if let Err(payload) = outcome {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default();
            return Some(text.lines().next().unwrap_or_default().chars().take(160).collect());
        }
        // The second time tells a slow input from a machine that was busy.
        let again = || {
            let start = Instant::now();
            watched(self.run, input);
            start.elapsed()
        };
        (start.elapsed() > SLOW && again() > SLOW).then(|| "takes too long".to_owned())
    }

    /// Removes lines, then shorter pieces, as long as the input fails in the same way.
    fn reduced(&self, input: &[u8], message: &str) -> Vec<u8> {
        let mut best = input.to_vec();
        let mut size = best.len() / 2;
        let mut attempts = 0;
        while size > 0 {
            let mut at = 0;
            while at < best.len() && attempts < MAX_REDUCTIONS {
                attempts += 1;
                let mut shorter = best.clone();
                shorter.drain(at..(at + size).min(best.len()));
                match self.failure(&shorter) {
                    Some(same) if same == message => best = shorter,
                    _ => at += size,
                }
            }
            size /= 2;
        }
        best
    }
}

/// Runs an input while another thread watches the clock.
fn watched(run: fn(&[u8]), input: &[u8]) {
    static WATCHED: Mutex<Vec<(std::thread::ThreadId, Instant)>> = Mutex::new(Vec::new());
    static WATCHER: std::sync::Once = std::sync::Once::new();
    let list = || WATCHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    WATCHER.call_once(|| {
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                if list().iter().any(|(_, since)| since.elapsed() > STUCK) {
                    eprintln!("an input does not end; it is in a `fuzz-….current` file if SPMDVM_FUZZ_SECONDS is set");
                    std::process::abort();
                }
            }
        });
    });
    /// Takes the thread off the list, however the run ends.
    struct Entry;
    impl Drop for Entry {
        fn drop(&mut self) {
            let me = std::thread::current().id();
            WATCHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).retain(|(id, _)| *id != me);
        }
    }
    list().push((std::thread::current().id(), Instant::now()));
    let _entry = Entry;
    run(input);
}
