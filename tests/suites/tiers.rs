//! Tiers: compiled loops begin with baseline code, which is made quickly, and go on with optimised code when there is some.

use spmdvm::jit::Jit;
use spmdvm::jit::backend::{Backend, CompileError, Executable};
use spmdvm::jit::clif::{Clif, Options as Making};
use spmdvm::jit::engine::VersionReport;
use spmdvm::jit::ir::ExitReason;
use spmdvm::jit::ir::{ExitId, Region};
use spmdvm::vm::interp::native::Context;
use spmdvm::vm::{Arg, Machine, PreparedProgram};
use spmdvm::{Engine, JitSettings, Module, Options};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Native code, as baseline code first, whatever the size; each step can be held up.
struct Stepwise {
    clif: Clif,
    /// Compiling well waits for this.
    go: Mutex<Receiver<()>>,
    /// Told whenever baseline code is entered.
    entered: Sender<()>,
}

struct BaselineCode {
    code: Box<dyn Executable>,
    entered: Mutex<Sender<()>>,
}

impl Backend for Stepwise {
    fn name(&self) -> &'static str {
        "stepwise"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
        self.go.lock().unwrap().recv().map_err(|e| CompileError::NoMemory(e.to_string()))?;
        self.clif.compile(region)
    }

    fn compile_baseline(&self, region: &Arc<Region>) -> Option<Box<dyn Executable>> {
        let code = self.clif.compile_baseline(region)?;
        Some(Box::new(BaselineCode { code, entered: Mutex::new(self.entered.clone()) }))
    }
}

impl Executable for BaselineCode {
    unsafe fn run(&self, context: &mut Context) -> ExitId {
        // Nobody may be listening any more.
        let _ = self.entered.lock().unwrap().send(());
        // SAFETY: the caller's promise.
        unsafe { self.code.run(context) }
    }

    fn retire(&self) {
        self.code.retire();
    }

    fn code_bytes(&self) -> usize {
        self.code.code_bytes()
    }
}

const SUM: &str = "export uniform int64 f(uniform int64 n) {
    uniform int64 s = 0;
    for (uniform int64 i = 0; i < n; ++i) s = s * 31 + (i ^ (s >> 7));
    return s;
}";

fn expected(n: i64) -> i64 {
    (0..n).fold(0i64, |s, i| s.wrapping_mul(31).wrapping_add(i ^ (s >> 7)))
}

/// A program with a loop, and what holds its JIT up.
struct Stage {
    prepared: PreparedProgram,
    jit: Arc<Jit>,
    module: Module,
    go: Sender<()>,
    entered: Receiver<()>,
}

impl Stage {
    fn new(settings: JitSettings) -> Stage {
        let ((go, goes), (entered, is_entered)) = (channel(), channel());
        let clif = Clif::with(Making { baseline_from: 0, ..Making::default() }).unwrap();
        let jit = Jit::new(Box::new(Stepwise { clif, go: Mutex::new(goes), entered }), settings);
        let options = Options { engine: Engine::Interp, ..Options::default() };
        let module = Module::compile("sum.ispc", SUM, &options).unwrap_or_else(|e| panic!("{e}"));
        let prepared = PreparedProgram::traced(module.verified(), jit.clone(), 0);
        Stage { prepared, jit, module, go, entered: is_entered }
    }

    fn run(&self, n: i64) -> i64 {
        self.runner()(n)
    }

    /// Runs the program, on any thread.
    fn runner(&self) -> impl Fn(i64) -> i64 + Send + use<> {
        let (prepared, function) = (self.prepared.clone(), self.module.exports()[0].function);
        move |n| {
            let mut machine = Machine::new(prepared.clone(), Default::default()).unwrap();
            machine.call(function, &[Arg::Word(n as u64)], u64::MAX).unwrap().lanes(0).words[0] as i64
        }
    }

    /// Runs it until what is told of its version is as asked for.
    fn run_until(&self, holds: impl Fn(&VersionReport) -> bool) -> VersionReport {
        for _ in 0..1_000_000 {
            assert_eq!(self.run(2000), expected(2000));
            let report = self.jit.report();
            if let Some(found) = report.iter().flat_map(|l| &l.versions).find(|v| holds(v)) {
                return found.clone();
            }
        }
        panic!("that does not come: {:?}", self.jit.report());
    }
}

fn settings() -> JitSettings {
    JitSettings { background: true, same_arguments: u32::MAX, ..JitSettings::eager() }
}

#[test]
fn optimised_code_takes_the_place_of_baseline_code() {
    let stage = Stage::new(settings());
    let baseline = stage.run_until(|v| v.entries > 2);
    assert!(baseline.is_baseline && baseline.time == baseline.first_time, "{baseline:?}");
    stage.go.send(()).unwrap();
    let optimised = stage.run_until(|v| !v.is_baseline);
    assert!(
        optimised.entries > baseline.entries && optimised.code_bytes > baseline.code_bytes,
        "what is counted stays: {optimised:?}"
    );
    assert!(optimised.time > optimised.first_time && optimised.first_time == baseline.first_time);
    assert_eq!(stage.jit.code_bytes(), optimised.code_bytes);
    assert_eq!(stage.jit.report().iter().map(|l| l.versions.len()).sum::<usize>(), 1);
    assert_eq!(stage.run(50_000), expected(50_000));
}

#[test]
fn baseline_code_that_runs_for_long_ends_when_there_is_optimised_code() {
    // The loop is made longer until it lasts for as long as compiling it well takes.
    let mut n = 1 << 20;
    loop {
        let stage = Stage::new(settings());
        stage.run_until(|v| v.is_baseline && v.entries > 0);
        while stage.entered.try_recv().is_ok() {}
        let run = stage.runner();
        let long = std::thread::spawn(move || run(n));
        stage.entered.recv().unwrap();
        stage.go.send(()).unwrap();
        let sum = long.join().unwrap();
        let report = stage.jit.report();
        let version = &report[0].versions[0];
        let polled = version
            .exits
            .iter()
            .any(|&(exit, times)| times > 0 && version.region.exits[exit.index()].reason == ExitReason::Poll);
        let ended = polled && !version.is_baseline;
        assert_eq!(sum, expected(n));
        if ended {
            return;
        }
        n *= 4;
        assert!(n < 1 << 30, "it never ends");
    }
}

#[test]
fn baseline_code_stays_where_optimised_code_cannot_be_made() {
    let mut stage = Stage::new(settings());
    // Compiling well now fails.
    stage.go = channel().0;
    let baseline = stage.run_until(|v| v.entries > 200);
    assert!(baseline.is_baseline);
    assert!(stage.jit.report().iter().all(|l| l.aborted.is_none()));
}

#[test]
fn baseline_code_can_be_had_alone() {
    for background in [true, false] {
        let stage = Stage::new(JitSettings { only_baseline: true, background, ..settings() });
        let version = stage.run_until(|v| v.entries > 200);
        // That nobody is to make better code is what tells it from optimised code.
        assert!(!version.is_baseline && version.time == version.first_time, "{version:?}");
        assert!(stage.entered.try_recv().is_ok(), "what runs is not baseline code");
    }
}

#[test]
fn baseline_code_can_be_switched_off() {
    for off in [JitSettings { tiers: false, ..settings() }, JitSettings { background: false, ..settings() }] {
        let stage = Stage::new(off);
        stage.go.send(()).unwrap();
        let optimised = stage.run_until(|v| v.entries > 2);
        assert!(!optimised.is_baseline && optimised.time == optimised.first_time);
        assert!(stage.entered.try_recv().is_err());
    }
}
