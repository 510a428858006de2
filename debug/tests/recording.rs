//! Recordings: the same state at every position, however it is come to, within bounds, whatever the run does.

mod common;

use common::module;
use spmdvm::vm::Width;
use spmdvm::{Module, Options, Value};
use spmdvm_debug::motion::Unit;
use spmdvm_debug::{Arrival, Failure, Limits, Session, Settings, Signals, State, open};
use spmdvm_oracle::generate::{Config, Dialect, generate};
use spmdvm_oracle::run::with_arguments;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Steps to be recorded of a random program.
const MOST: usize = 3000;

/// A small generator (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

/// Snapshots close together, so that small programs have many.
fn close(interval: u64, snapshots: usize) -> Limits {
    Limits { interval, snapshots, ..Limits::default() }
}

fn state(session: &Session<'_>) -> Option<State> {
    // How far the run is known says nothing of where it is.
    session.state().map(|state| State { last: None, ..state })
}

/// The states at the first positions.
fn states(session: &mut Session<'_>) -> Vec<Option<State>> {
    let mut states = vec![state(session)];
    while states.len() < MOST {
        let before = session.recording.position();
        let (arrival, ..) = session.forward(Unit::Instruction).expect("nobody interrupts");
        if arrival == Arrival::End && session.recording.position() == before {
            break;
        }
        states.push(state(session));
    }
    states
}

#[test]
fn stepping_back_and_forward_again_gives_the_same_states() {
    let mut positions = 0;
    for seed in 0..24 {
        let case = generate(seed, &Config::of(Dialect::Spmdvm).sized(8));
        let options = Options { width: Width::new(4).expect("a width"), ..Options::default() };
        let module = Module::compile(&case.name, &case.text, &options).unwrap_or_else(|e| panic!("{e}"));
        let mut random = Random(seed * 77 + 5);
        let settings = || Settings { limits: close(1 + seed * 5, 6), ..Settings::default() };
        let hops = with_arguments(&case.call, &module, |export, args| {
            open(
                (&module, export, args),
                settings(),
                |_| (),
                |session| {
                    let expected = states(session);
                    let n = expected.len() as u64;
                    for _ in 0..40 {
                        let to = random.below(n);
                        session.go_to(to).expect("nothing is forgotten");
                        assert_eq!(session.recording.position(), to, "seed {seed}");
                        assert_eq!(state(session), expected[to as usize], "seed {seed}, step {to} of {n}");
                        // Back by some, and forward by as many.
                        let back = random.below(9).min(to);
                        session.go_to(to - back).expect("nothing is forgotten");
                        assert_eq!(state(session), expected[(to - back) as usize], "seed {seed}");
                        for _ in 0..back {
                            session.forward(Unit::Instruction).expect("nobody interrupts");
                        }
                        assert_eq!(state(session), expected[to as usize], "seed {seed}, step {to} again");
                    }
                    n
                },
            )
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"))
        });
        positions += hops.expect("the case is a call of the program");
    }
    assert!(positions > 10_000, "{positions}");
}

#[test]
fn lines_backwards_are_the_lines_forwards() {
    let source = "export void f(uniform int a[]) {
        int x = a[programIndex];
        for (uniform int k = 0; k < 5; k++) {
            if (x > k)
                x -= 1;
            x *= 2;
        }
        a[programIndex] = x;
    }";
    let module = module(source);
    let mut a = [1i32, 2, 3, 4];
    let args = [Value::slice_mut(&mut a)];
    let settings = Settings { limits: close(4, 5), ..Settings::default() };
    let both = open(
        (&module, &module.exports()[0], &args),
        settings,
        |_| (),
        |session| {
            let mut forwards = vec![session.recording.position()];
            while session.forward(Unit::Line).expect("nobody interrupts").0 == Arrival::There {
                forwards.push(session.recording.position());
            }
            let mut backwards = Vec::new();
            while session.backward(Unit::Line).expect("nothing is forgotten") == Arrival::There {
                backwards.push(session.recording.position());
            }
            backwards.reverse();
            (forwards, backwards)
        },
    );
    let (forwards, backwards) = both.expect("it does not trap");
    assert!(forwards.len() > 20);
    assert_eq!(forwards, backwards);
}

const LONG: &str = "export void f(uniform int a[], uniform int n) {
    for (uniform int k = 0; k < n; k++) {
        a[(k * 7) & 4095] += k + n;
    }
}";

#[test]
fn memory_is_bounded_and_positions_stay_within_reach() {
    let module = module(LONG);
    // Each snapshot differs from the one before in all of its memory.
    let mut a = vec![0i32; 4096];
    let args = [Value::slice_mut(&mut a), 200_000i32.into()];
    let limits = Limits { bytes: 1 << 20, snapshots: 1000, interval: 4096 };
    let settings = Settings { limits, ..Settings::default() };
    let sizes = open(
        (&module, &module.exports()[0], &args),
        settings,
        |_| (),
        |session| {
            let mut most = 0;
            for to in (0..).step_by(50_000) {
                let arrival = session.go_to(to).expect("nobody interrupts");
                most = most.max(session.recording.size().1);
                if arrival == Arrival::End {
                    break;
                }
            }
            let last = session.recording.last().expect("it has been reached");
            let at = |session: &mut Session<'_>, to: u64| {
                session.go_to(to).expect("nothing is forgotten");
                (session.recording.position(), session.recording.size().1)
            };
            for to in [last / 2, last / 2 - 1, 3, last - 10, last / 3] {
                let (position, bytes) = at(session, to);
                assert_eq!(position, to);
                most = most.max(bytes);
            }
            (last, most, session.recording.size().0)
        },
    );
    let (last, most, kept) = sizes.expect("it does not trap");
    assert!(last > 1_000_000, "{last}");
    assert!(most <= 1 << 20, "{most} bytes were held");
    assert!(kept > 10, "{kept} snapshots");
}

#[test]
fn prints_come_once() {
    let source = "export void f() { for (uniform int k = 0; k < 4; k++) print(\"% \", k); }";
    let module = module(source);
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    let print = move |text: &str| sink.lock().expect("no panic").push_str(text);
    let ended = open((&module, &module.exports()[0], &[]), Settings::default(), print, |session| {
        for to in [12, 3, 15, 0, u64::MAX, 2, u64::MAX] {
            session.go_to(to).expect("nobody interrupts");
        }
    });
    ended.expect("it does not trap");
    assert_eq!(*printed.lock().expect("no panic"), "0 1 2 3 ");
}

/// A host function that counts its calls, and what it gave, in a program that calls it thrice.
fn with_host() -> (Module, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let options = Options { width: Width::new(4).expect("a width"), ..Options::default() };
    let options = options.with_host("next", move |_| Ok(Some((counter.fetch_add(1, Ordering::Relaxed) as i32).into())));
    let source = "extern \"C\" uniform int next();
        export uniform int f(uniform int a[]) {
            uniform int sum = 0;
            for (uniform int k = 0; k < 3; k++) { uniform int x = next(); a[k] = x; sum += x + 10; }
            return sum;
        }";
    (Module::compile("host.ispc", source, &options).unwrap_or_else(|e| panic!("{e}")), calls)
}

#[test]
fn functions_of_the_host_are_called_once() {
    let (module, calls) = with_host();
    let mut a = [9i32; 4];
    let args = [Value::slice_mut(&mut a)];
    let ended = open(
        (&module, &module.exports()[0], &args),
        Settings::default(),
        |_| (),
        |session| {
            let expected = states(session);
            for to in (0..expected.len()).rev().chain(0..expected.len()) {
                session.go_to(to as u64).expect("nothing is forgotten");
                assert_eq!(state(session), expected[to], "step {to}");
            }
            session.go_to(u64::MAX).expect("nobody interrupts");
            session.recording.stepping().results().expect("it has returned").word(0, 0)
        },
    );
    assert_eq!(ended.expect("it does not trap"), 33);
    assert_eq!((calls.load(Ordering::Relaxed), a), (3, [0, 1, 2, 9]));
}

#[test]
fn what_cannot_be_repeated_is_forgotten_in_the_end() {
    let (module, calls) = with_host();
    let mut a = [9i32; 4];
    let args = [Value::slice_mut(&mut a)];
    // No snapshot but those that must be is kept.
    let limits = Limits { bytes: 0, snapshots: 0, interval: 1 };
    let settings = Settings { limits, ..Settings::default() };
    let forgotten = open(
        (&module, &module.exports()[0], &args),
        settings,
        |_| (),
        |session| {
            let n = states(session).len() as u64;
            let mut forgotten = 0;
            for to in (0..n).rev() {
                match session.go_to(to) {
                    Ok(_) => assert_eq!(session.recording.position(), to),
                    Err(Failure::Forgotten(position)) => {
                        assert_eq!(position, to);
                        forgotten += 1;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            session.go_to(0).expect("the start is kept");
            forgotten
        },
    );
    let forgotten = forgotten.expect("it does not trap");
    assert!(forgotten > 0);
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[test]
fn endless_loops_are_interrupted_and_leave_no_traces() {
    let source = "uniform int count = 5;
        export void f(uniform int a[]) { while (true) { a[0] += 1; count += 1; } }";
    let module = module(source);
    let mut a = [3i32];
    let args = [Value::slice_mut(&mut a)];
    let signals = Signals::default();
    let flag = Arc::clone(&signals.interrupt);
    let settings = Settings { signals, ..Settings::default() };
    let ended = open(
        (&module, &module.exports()[0], &args),
        settings,
        |_| (),
        |session| {
            session.go_to(100_000).expect("nobody interrupts");
            let there = state(session);
            flag.store(true, Ordering::Relaxed);
            assert!(matches!(session.resume(), Err(Failure::Interrupted)));
            assert!(!flag.load(Ordering::Relaxed), "the flag is down again");
            assert!(session.recording.position() > 100_000);
            session.go_to(100_000).expect("it has been there");
            assert_eq!(state(session), there);
        },
    );
    ended.expect("no trap");
    assert_eq!(a, [3], "the run was given up");
    assert_eq!(module.read_state("count"), Some(5i32.to_le_bytes().to_vec()));
}

#[test]
fn fuel_runs_out_where_it_does_without_a_debugger() {
    let options = Options {
        width: Width::new(4).expect("a width"),
        limits: spmdvm::Limits { fuel: Some(1000), ..Default::default() },
        ..Options::default()
    };
    let module = Module::compile("long.ispc", LONG, &options).unwrap_or_else(|e| panic!("{e}"));
    let mut a = vec![0i32; 4096];
    let args = [Value::slice_mut(&mut a), 200_000i32.into()];
    let settings = Settings { limits: close(64, 8), ..Settings::default() };
    let ended = open(
        (&module, &module.exports()[0], &args),
        settings,
        |_| (),
        |session| {
            session.go_to(u64::MAX).expect("nobody interrupts");
            let last = session.recording.position();
            session.go_to(17).expect("it has been there");
            session.go_to(u64::MAX).expect("nobody interrupts");
            (last, session.recording.position(), session.trap().map(|trap| trap.kind))
        },
    );
    let (first, second, kind) = ended.expect("the session answers");
    assert_eq!((first, kind), (second, Some(spmdvm::TrapKind::OutOfFuel)));
}
