//! Several threads, one JIT: modules are called, dropped and compiled at the same time. Results are always right; what is
//! compiled when is not looked at, but in the end something is.

use spmdvm::jit::backend::{Backend, CompileError, Executable};
use spmdvm::jit::{Jit, ir::Region};
use spmdvm::vm::{Arg, Machine, PreparedProgram};
use spmdvm::{Engine, JitSettings, Module, Options, Value};
use spmdvm_tests::compiled::{native, until_entered};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Two loops, calls, a mask, and tasks.
const TEXT: &str = "static int weigh(int x, uniform int k) { if (x % 3 == 0) return x / (k + 1); return x * k; }
task void part(uniform int a[], uniform int n, uniform int k) {
    uniform int at = taskIndex, size = (n + 4) / 5;
    foreach (i = at * size ... min(n, (at + 1) * size)) a[i] += weigh(i, k);
}
export void alone(uniform int a[], uniform int n, uniform int k) {
    foreach (i = 0 ... n) a[i] += weigh(i, k);
}
export void tasks(uniform int a[], uniform int n, uniform int k) { launch[5] part(a, n, k); }";

fn module(engine: Engine, jit: JitSettings) -> Module {
    let options = Options { engine, jit, threads: Some(3), ..Options::default() };
    Module::compile("threads.ispc", TEXT, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn soon() -> JitSettings {
    JitSettings { hot: 2, observe: 100, hot_exit: 2, same_arguments: 4, trial: 20, ..JitSettings::default() }
}

fn check(module: &Module, function: &str, n: i32, k: i32) {
    let mut a = vec![1i32; n as usize];
    module.call(function, &[Value::slice_mut(&mut a), n.into(), k.into()]).unwrap();
    let weigh = |i: i32| if i % 3 == 0 { i / (k + 1) } else { i * k };
    assert!(a.iter().zip(0..).all(|(&x, i)| x == 1 + weigh(i)), "{function}, {n} elements, k = {k}");
}

/// Calls until compiled code has run.
fn until_compiled(module: &Module) {
    until_entered(module, |round| check(module, "alone", 200, round % 3));
}

#[test]
fn threads_and_tasks_share_a_module_while_it_is_compiled() {
    for (engine, stress) in native().flat_map(|engine| [(engine, None), (engine, Some(7))]) {
        let module = module(engine, JitSettings { stress, ..soon() });
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let module = &module;
                scope.spawn(move || {
                    for round in 0..60 {
                        let function = if (thread + round) % 2 == 0 { "alone" } else { "tasks" };
                        check(module, function, 37 + 50 * thread + round, round % 5);
                    }
                });
            }
        });
        if stress.is_none() {
            until_compiled(&module);
        }
    }
}

#[test]
fn modules_are_dropped_while_others_run_and_while_they_are_compiled() {
    native().for_each(modules_come_and_go);
}

fn modules_come_and_go(engine: Engine) {
    let stays = module(engine, soon());
    let rounds = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..60 {
                let goes = module(engine, soon());
                // Hot in the first call: its compilation is pending, or under way, when the module goes.
                check(&goes, "alone", 300, round);
                if round % 3 == 0 {
                    let clone = goes.clone();
                    scope.spawn(move || check(&clone, "tasks", 100, 1));
                }
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        while rounds.load(Ordering::Relaxed) < 60 {
            check(&stays, "tasks", 400, 2);
            check(&stays, "alone", 99, 3);
        }
    });
    until_compiled(&stays);
}

#[test]
fn a_module_may_be_made_on_one_thread_and_go_on_another() {
    let modules: Vec<Module> = native().cycle().take(8).map(|engine| module(engine, soon())).collect();
    let threads: Vec<_> = modules
        .into_iter()
        .map(|module| std::thread::spawn(move || (0..20).for_each(|round| check(&module, "alone", 150, round))))
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Reports are read while programs run and versions come and go.
#[test]
fn what_happens_can_be_asked_for_meanwhile() {
    native().for_each(ask_meanwhile);
}

fn ask_meanwhile(engine: Engine) {
    let module = module(engine, soon());
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                (0..60).for_each(|round| check(&module, "alone", 500, round % 7));
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        while done.load(Ordering::Relaxed) < 2 {
            let _ = module.jit_text(spmdvm::Show { ir: true, asm: true, ..Default::default() });
            let _ = module.explain_line(1);
        }
    });
}

/// A back end that says when it begins, and ends when it is told to.
struct Slow {
    began: Mutex<Sender<()>>,
    end: Mutex<Receiver<()>>,
}

impl Backend for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn compile(&self, _: Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
        self.began.lock().unwrap().send(()).unwrap();
        self.end.lock().unwrap().recv().unwrap();
        Err(CompileError::NoMemory("that took long".into()))
    }
}

#[test]
fn nobody_waits_while_another_thread_compiles() {
    let text = "export uniform int f(uniform int n) { uniform int s = 0; for (uniform int i = 0; i < n; ++i) s += i; return s; }";
    let module = Module::compile("slow.ispc", text, &Options { engine: Engine::Interp, ..Options::default() }).unwrap();
    let ((began, has_begun), (finish, end)) = (channel(), channel());
    let jit = Jit::new(Box::new(Slow { began: Mutex::new(began), end: Mutex::new(end) }), JitSettings::eager());
    let prepared = PreparedProgram::traced(module.verified(), jit, 0);
    let function = module.exports()[0].function;
    let run = |done: Option<Sender<u64>>| {
        let prepared = prepared.clone();
        move || {
            let mut machine = Machine::new(prepared, Default::default()).unwrap();
            let sum = machine.call(function, &[Arg::Word(1000)], u64::MAX).unwrap().lanes(0).words[0];
            done.into_iter().for_each(|done| done.send(sum).unwrap());
            sum
        }
    };
    let (done, is_done) = channel();
    let compiles = std::thread::spawn(run(None));
    has_begun.recv().unwrap();
    let other = std::thread::spawn(run(Some(done)));
    // Long enough for the slowest machine; it is waited for only if the test fails.
    let came = is_done.recv_timeout(Duration::from_secs(20));
    finish.send(()).unwrap();
    assert_eq!(came, Ok(499_500));
    assert_eq!((compiles.join().unwrap(), other.join().unwrap()), (499_500, 499_500));
}
