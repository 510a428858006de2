//! Exported polymorphic functions are compiled for the types they are called with (`Options::lazy`).

use spmdvm::{CallError, Module, Options, Run, Stopped, Value};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SCALE: &str = "export void scale(uniform number$0 a[], uniform number$0 by, uniform int n) {
    foreach (i = 0 ... n) a[i] = a[i] * by;
}
export uniform int plain() { return 7; }";

fn compile(text: &str, lazy: bool) -> Module {
    Module::compile("lazy.ispc", text, &Options { lazy, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"))
}

fn instructions(module: &Module) -> usize {
    module.program().functions.iter().map(|f| f.code.len()).sum()
}

#[test]
fn an_instance_is_compiled_at_its_first_call() {
    let (lazy, eager) = (compile(SCALE, true), compile(SCALE, false));
    // Hosts see the same functions, but only the eager module has their code.
    let declarations = |m: &Module| m.exports().iter().map(|e| (e.name.clone(), e.params.clone())).collect::<Vec<_>>();
    assert_eq!(declarations(&lazy), declarations(&eager));
    assert!(instructions(&lazy) * 4 < instructions(&eager), "{} {}", instructions(&lazy), instructions(&eager));
    for module in [&lazy, &eager] {
        let (mut ints, mut doubles) = ([1i32, 2, 3], [1.5f64, 2.5, 3.5]);
        module.call("scale", &[Value::slice_mut(&mut ints), 3i32.into(), 3.into()]).unwrap();
        module.call("scale", &[Value::slice_mut(&mut doubles), 2.0f64.into(), 3.into()]).unwrap();
        assert_eq!((ints, doubles), ([3, 6, 9], [3.0, 5.0, 7.0]));
        assert!(format!("{:?}", module.call("plain", &[]).unwrap()).contains('7'));
    }
}

#[test]
fn an_instance_that_the_program_calls_itself_is_compiled_at_once() {
    let text = "export uniform number twice(uniform number x) { return x + x; }
        export uniform int f(uniform int x) { return twice(x); }";
    let module = compile(text, true);
    assert!(format!("{:?}", module.call("f", &[21i32.into()]).unwrap()).contains("42"));
    let bits = format!("{:?}", module.call("twice", &[1.25f64.into()]).unwrap());
    assert_eq!(bits, format!("{:?}", compile(text, false).call("twice", &[1.25f64.into()]).unwrap()));
}

#[test]
fn instances_share_the_globals_of_a_module_with_state() {
    let text = "uniform int calls = 0;
        export uniform int count(uniform number x) { calls += 1; return calls; }";
    let module = compile(text, true);
    module.call("count", &[1i32.into()]).unwrap();
    let second = module.call("count", &[1.0f64.into()]).unwrap();
    assert!(format!("{second:?}").contains('2'), "{second:?}");
}

#[test]
fn an_instance_that_is_wrong_says_so_when_it_is_called() {
    let text = "export void f(uniform number$0 a[]) { a[0] = a[0] % 2; }";
    assert!(Module::compile("lazy.ispc", text, &Options::default()).is_err(), "no `%` for floats");
    let module = compile(text, true);
    let mut ints = [5i32];
    module.call("f", &[Value::slice_mut(&mut ints)]).unwrap();
    assert_eq!(ints, [1]);
    let mut floats = [5.0f32];
    match module.call("f", &[Value::slice_mut(&mut floats)]) {
        Err(CallError::Compile(error)) => assert!(error.to_string().contains('%'), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_compilation_at_a_call_ends_with_it_and_is_tried_again() {
    let statements: String = (0..1000).map(|i| format!("a[programIndex] = a[programIndex] * 3 + {i};\n")).collect();
    let module = compile(&format!("export void f(uniform number a[]) {{\n{statements}}}\n"), true);
    let mut a = [1i32; 64];
    let mut stopped = |run: Run<'_>| match run.call("f", &[Value::slice_mut(&mut a)]) {
        Err(CallError::Compile(error)) => error.stopped(),
        other => panic!("{other:?}"),
    };
    assert_eq!(stopped(Run::new(&module).interrupt(Arc::new(AtomicBool::new(true)))), Some(Stopped::Interrupted));
    assert_eq!(stopped(Run::new(&module).timeout(Some(Duration::ZERO))), Some(Stopped::TimedOut));
    module.call("f", &[Value::slice_mut(&mut a)]).unwrap();
}

#[test]
fn what_is_left_out_traps_if_it_is_run_all_the_same() {
    let lazy = compile(SCALE, true);
    let module = Module::from_program(lazy.verified().clone(), &Options::default());
    let export = module.exports().iter().find(|e| e.name == "scale").unwrap();
    let mut a = [1i8];
    let result =
        Run::new(&module).call_export(export, &[Value::slice_mut(&mut a), Value::scalar(spmdvm::Ty::I8, 2), 1.into()]);
    assert!(result.is_err());
}
