//! Leaving compiled code, and not compiling: every exit and every reason for which a loop stays with the interpreter is
//! made to happen, which the report proves, and what comes of it is the interpreter's.

use spmdvm::jit::abort::Abort;
use spmdvm::jit::engine::LoopReport;
use spmdvm::{Engine, JitSettings, Module, Options, Value};
use spmdvm_tests::subject::engines;

const SAXPY: &str = "export void f(uniform float a, const uniform float x[], uniform float y[], uniform int n) {
    foreach (i = 0 ... n) y[i] = a * x[i] + y[i];
}";

fn module(engine: Engine, text: &str, jit: JitSettings) -> Module {
    let options = Options { engine, jit, ..Options::default() };
    Module::compile("test.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn jits() -> impl Iterator<Item = Engine> {
    engines().iter().copied().filter(|&engine| engine != Engine::Interp)
}

fn loops(module: &Module) -> Vec<LoopReport> {
    module.jit().expect("a JIT").report()
}

fn run_saxpy(module: &Module, n: usize) {
    let (x, mut y) = (vec![1.5f32; n], vec![2.0f32; n]);
    let args = [2.0f32.into(), Value::slice(&x), Value::slice_mut(&mut y), (n as i32).into()];
    module.call("f", &args).unwrap();
    assert!(y.iter().all(|&y| y == 5.0));
}

#[test]
fn machine_code_is_bounded() {
    let several = "export void f(uniform float a, const uniform float x[], uniform float y[], uniform int n) {
        foreach (i = 0 ... n / 2) y[i] = a * x[i] + y[i];
        foreach (i = n / 2 ... n) y[i] = a * x[i] + y[i];
    }";
    let free = module(Engine::Clif, several, JitSettings::eager());
    run_saxpy(&free, 160);
    let bytes: Vec<usize> = loops(&free).iter().flat_map(|l| &l.versions).map(|v| v.code_bytes).collect();
    assert_eq!(free.jit().unwrap().code_bytes(), bytes.iter().sum::<usize>());
    assert!(bytes.len() >= 2 && bytes.iter().all(|&b| b > 0), "{bytes:?}");

    let code_limit = bytes.iter().sum::<usize>() - 1;
    let bounded = module(Engine::Clif, several, JitSettings { code_limit, ..JitSettings::eager() });
    run_saxpy(&bounded, 160);
    run_saxpy(&bounded, 160);
    let reasons: Vec<Option<Abort>> = loops(&bounded).into_iter().map(|l| l.aborted).collect();
    assert!(reasons.contains(&Some(Abort::CodeCacheFull(code_limit))), "{reasons:?}");
    assert!(reasons.contains(&None), "the first fits: {reasons:?}");
    assert!(bounded.jit().unwrap().code_bytes() <= code_limit);
    assert!(bounded.jit_text(spmdvm::Show::default()).contains("no room for its machine code"));
}

#[test]
fn stress_takes_exits_that_are_never_taken_else() {
    let unexpected = |module: &Module| -> u64 {
        let versions = loops(module).into_iter().flat_map(|l| l.versions);
        let count = |v: spmdvm::jit::engine::VersionReport| -> u64 {
            let early =
                |&&(exit, _): &&(spmdvm::jit::ir::ExitId, u64)| v.region.exits[exit.index()].why != "end of loop";
            v.exits.iter().filter(early).map(|(_, n)| n).sum()
        };
        versions.map(count).sum()
    };
    for engine in jits() {
        let calm = module(engine, SAXPY, JitSettings::eager());
        run_saxpy(&calm, 999);
        assert_eq!(unexpected(&calm), 0);
        let mut counts = std::collections::HashSet::new();
        for seed in 0..20 {
            let [one, other] = [(); 2].map(|()| {
                let stressed = module(engine, SAXPY, JitSettings { stress: Some(seed), ..JitSettings::eager() });
                run_saxpy(&stressed, 999);
                unexpected(&stressed)
            });
            assert_eq!(one, other, "the same seed, the same exits");
            counts.insert(one);
        }
        assert!(counts.len() > 8, "{engine}: {counts:?}");
    }
}
