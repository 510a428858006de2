//! The stepper: what recording a run costs, beside the interpreter alone, and how long it takes to go back in it.
//!
//! The run is about a million instructions; items are instructions.

use divan::Bencher;
use divan::counter::ItemsCount;
use spmdvm::{Engine, Module, Options, Run, Value};
use spmdvm_debug::stops::{Break, Kind};
use spmdvm_debug::{Session, Settings, expr, open};

fn main() {
    divan::main();
}

const PROGRAM: &str = "export void f(uniform int a[], uniform int n) {
    int x = programIndex;
    for (uniform int k = 0; k < n; k++) {
        if (x > k)
            x -= 3;
        else
            x += k & 7;
        a[(k * 7) & 1023] += k;
    }
    a[programIndex] = x;
}";

/// Rounds of the loop.
const ROUNDS: i32 = 60_000;

fn module() -> Module {
    let options = Options { engine: Engine::Interp, ..Options::default() };
    Module::compile("bench.ispc", PROGRAM, &options).expect("it compiles")
}

/// Opens a session on the call.
fn session<R>(work: impl FnOnce(&mut Session<'_>) -> R) -> R {
    let module = module();
    let mut a = vec![0i32; 1024];
    let args = [Value::slice_mut(&mut a), ROUNDS.into()];
    open((&module, &module.exports()[0], &args), Settings::default(), |_| (), work).expect("it runs")
}

/// Number of instructions of the call.
fn instructions() -> u64 {
    session(|session| {
        session.go_to(u64::MAX).expect("nobody interrupts");
        session.recording.position()
    })
}

#[divan::bench]
fn interpreter_alone(bencher: Bencher) {
    let (module, mut a) = (module(), vec![0i32; 1024]);
    bencher.counter(ItemsCount::new(instructions())).bench_local(|| {
        let args = [Value::slice_mut(&mut a), ROUNDS.into()];
        Run::new(&module).call("f", &args).expect("it runs")
    });
}

#[divan::bench]
fn recorded(bencher: Bencher) {
    let module = module();
    let mut a = vec![0i32; 1024];
    bencher.counter(ItemsCount::new(instructions())).bench_local(|| {
        let args = [Value::slice_mut(&mut a), ROUNDS.into()];
        let call = (&module, &module.exports()[0], &args[..]);
        open(call, Settings::default(), |_| (), |session| session.go_to(u64::MAX).is_ok()).expect("it runs")
    });
}

/// Back by a million steps, to one where no snapshot is.
#[divan::bench]
fn back_to_a_step(bencher: Bencher) {
    session(|session| {
        session.go_to(u64::MAX).expect("nobody interrupts");
        let last = session.recording.position();
        let to = last.saturating_sub(1_000_000) + 12_345;
        bencher.counter(ItemsCount::new(last - to)).bench_local(|| {
            session.go_to(to).expect("nothing is forgotten");
            assert_eq!(session.recording.position(), to);
            session.go_to(last - 1).expect("nothing is forgotten");
        });
    });
}

/// Back to the start, in search of a line with a condition that never holds: every step is looked at.
#[divan::bench]
fn back_to_a_condition(bencher: Bencher) {
    session(|session| {
        let asked = spmdvm_debug::lines::LinePlace { file: session.file(), line: 5 };
        let place = session.lines.with_code(asked).expect("there is code");
        let condition = expr::parse("k == -1").expect("it is right");
        let condition = Some(("k == -1".to_owned(), condition));
        session.add_stop(Kind::Break(Break { place, text: String::new(), condition }));
        session.go_to(u64::MAX).expect("nobody interrupts");
        let last = session.recording.position();
        bencher.counter(ItemsCount::new(last)).bench_local(|| {
            session.resume_backward().expect("nothing is forgotten");
            assert_eq!(session.recording.position(), 0);
            session.go_to(last - 1).expect("nothing is forgotten");
        });
    });
}

/// Back by one step, from the end.
#[divan::bench]
fn back_by_one(bencher: Bencher) {
    session(|session| {
        session.go_to(u64::MAX).expect("nobody interrupts");
        let last = session.recording.position();
        bencher.bench_local(|| {
            session.go_to(last - 1).expect("nothing is forgotten");
            session.go_to(last - 2).expect("nothing is forgotten");
        });
    });
}
