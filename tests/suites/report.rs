//! What is told of compiled loops: sums, guards by line, time, instances compiled at their first call, and lines explained.

use spmdvm::jit::ir::ExitReason;
use spmdvm::{Engine, JitSettings, Module, Options, Show, Totals, Value};
use spmdvm_tests::compiled::native;

const TEXT: &str =
    "extern \"C\" void note(uniform int n); export void f(uniform int a[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) {
        a[i] += at[a[i] & 63];
        if (a[i] > 90)
            a[i] = a[i] / (at[i] | 1);
    }
    for (uniform int r = 0; r < n; ++r) {
        a[r] += 1;
        if (r >= 0)
            note(r);
    }
}
export uniform int never(uniform int x) {
    return x + 1;
}
export uniform int g(uniform int n) {
    uniform int k = 0;
    for (uniform int i = 0; i < 2; ++i)
        k += n;
    return k;
}";

fn module(engine: Engine, jit: JitSettings) -> Module {
    let options = Options { engine, jit, ..Options::default() }.with_host("note", |_| Ok(None));
    Module::compile("report.ispc", TEXT, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn call(module: &Module, n: i32) -> bool {
    let (mut a, at): (Vec<i32>, Vec<i32>) = ((0..100).collect(), (0..100).rev().collect());
    module.call("f", &[Value::slice_mut(&mut a), Value::slice(&at), n.into()]).is_ok()
}

#[test]
fn a_hot_loop_is_executed_in_compiled_code() {
    let text = "export uniform int f(uniform int n) {
        uniform int sum = 0;
        for (uniform int i = 0; i < n; ++i) {
            for (uniform int j = 0; j < 100; ++j) sum ^= i * j;
        }
        return sum;
    }";
    for engine in native() {
        let jit = JitSettings { background: false, ..JitSettings::default() };
        let options = Options { engine, jit, ..Options::default() };
        let module = Module::compile("hot.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(module.instructions().native_share(), 0.0);
        // Too little to be hot.
        module.call("f", &[0.into()]).unwrap();
        let cold = module.instructions();
        assert!(cold.native == 0 && (1..100).contains(&cold.interpreted), "{cold:?}");
        module.call("f", &[100_000.into()]).unwrap();
        let hot = module.instructions();
        assert!(hot.native_share() > 0.99, "{hot:?}");
        // A round has some five instructions.
        assert!((30_000_000..150_000_000).contains(&hot.native), "{hot:?}");
        assert!(module.jit_text(Show::default()).contains("% of the instructions executed in them"));
    }
    let options = Options { engine: Engine::Interp, ..Options::default() };
    let module = Module::compile("hot.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"));
    module.call("f", &[1000.into()]).unwrap();
    assert_eq!(module.instructions().native_share(), 0.0);
}

#[test]
fn sums_and_guards_by_line() {
    native().for_each(sums_and_guards);
}

fn sums_and_guards(engine: Engine) {
    let module = module(engine, JitSettings { trial: 50, keep_recorded: true, ..JitSettings::eager() });
    assert!(module.loops().is_empty() && module.jit_text(Show::default()).is_empty());
    assert!(call(&module, 100));
    assert!(!call(&module, 101), "the last element is out of bounds");
    let loops = module.loops();
    let sum = Totals::of(&loops);
    assert!(sum.traces >= 1 && sum.code_bytes > 0 && !sum.compile_time.is_zero() && !sum.run_time.is_zero(), "{sum:?}");
    assert_eq!(sum.code_bytes, module.jit().unwrap().code_bytes());
    let exits: Vec<_> = loops.iter().flat_map(|l| &l.versions).flat_map(|v| &v.exits).collect();
    let guard = exits.iter().find(|e| e.reason == ExitReason::Load).unwrap_or_else(|| panic!("{exits:?}"));
    assert_eq!((guard.place.line, guard.place.function.as_str(), guard.times), (Some(3), "f", 1));
    let text = module.jit_text(Show { trace: true, ir: true, asm: true });
    for part in [
        "left 1 times at report.ispc:3: a load is out of bounds",
        "left 99 times at report.ispc:1: host.call",
        "traces compiled in",
        "entry.reg",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let version = &loops.iter().flat_map(|l| &l.versions).next().unwrap().report;
    let recorded = version.recorded.as_ref().unwrap();
    assert!(recorded.contains("region f") && *recorded != version.region.to_string());
}

#[test]
fn lines_are_explained() {
    native().for_each(explained);
}

fn explained(engine: Engine) {
    let module = module(engine, JitSettings { trial: 50, ..JitSettings::eager() });
    let explain = |line| module.explain_line(line).unwrap();
    assert!(explain(3).contains("interpreted: no loop around it has been hot"));
    call(&module, 100);
    call(&module, 101);
    let expect = |line, parts: &[&str]| {
        let text = explain(line);
        parts.iter().for_each(|part| assert!(text.contains(part), "no `{part}` in {text}"));
    };
    expect(
        3,
        &[
            "line 3: a[i] += at[a[i] & 63];",
            "compiled in the loop at report.ispc:",
            "for all lanes",
            "left here 1 times",
            "gather",
        ],
    );
    expect(5, &["compiled", "under a mask", "division of integers: lane after lane"]);
    // What the host provides is left where it is declared.
    expect(1, &["left here 99 times: host.call", "left to the interpreter"]);
    expect(10, &["compiled in the loop at report.ispc:8"]);
    expect(14, &["no loop around it"]);
    (0..100).for_each(|_| _ = module.call("g", &[100.into()]).unwrap());
    expect(19, &["interpreted in the loop at report.ispc:19: it goes round too few times at once"]);
    assert!(module.explain_line(200).unwrap_err().contains("no code"));
}

#[test]
fn instances_are_shown_with_the_rest() {
    native().for_each(instances);
}

fn instances(engine: Engine) {
    let text = "export void scale(uniform number$0 a[], uniform number$0 by, uniform int n) {
        foreach (i = 0 ... n) a[i] = a[i] * by;
    }";
    let options = Options { engine, lazy: true, jit: JitSettings::eager(), ..Options::default() };
    let module = Module::compile("lazy.ispc", text, &options).unwrap();
    assert!(module.loops().is_empty());
    let (mut ints, mut doubles) = ([1i32; 40], [1.5f64; 40]);
    module.call("scale", &[Value::slice_mut(&mut ints), 3i32.into(), 40.into()]).unwrap();
    module.call("scale", &[Value::slice_mut(&mut doubles), 3f64.into(), 40.into()]).unwrap();
    let loops = module.loops();
    assert_eq!(loops.len(), 2, "{loops:?}");
    assert!(loops.iter().all(|l| l.place.line == Some(2) && !l.versions.is_empty()));
    assert!(module.explain_line(2).unwrap().matches("compiled in the loop at lazy.ispc:2").count() >= 2);
}
