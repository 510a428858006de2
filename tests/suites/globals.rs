//! A program's globals as hosts see them: `Module::global`.

use spmdvm::{
    CallError, Engine, GlobalMemory, HostAccess, HostType, JitSettings, Module, Options, TrapKind, Ty, Value,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SOURCE: &str = "struct Point { float x; int8 tag; };
uniform int count = 3;
uniform double pair[2] = { 1, 2 };
float lanes;
uniform bool flag;
uniform Point point;
const uniform int limit = 5;
static uniform int hidden = 1;
extern uniform float x[];
extern uniform int n;
extern const uniform int grid[][2];
export void step() { static uniform int own; ++own; ++count; pair[1] = count; lanes = programIndex; ++hidden; }
export void scale() { foreach (i = 0 ... n) x[i] *= 2; }
export uniform int corner() { return grid[1][1]; }
export uniform int add() { uniform int sum = 0; foreach (i = 0 ... n) sum += reduce_add((int)x[i]); return sum; }";

fn compile(engine: Engine) -> Module {
    let jit = JitSettings { hot: 2, background: false, ..JitSettings::default() };
    let options = Options { engine, jit, ..Options::default() };
    Module::compile("globals.ispc", SOURCE, &options).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn hosts_see_the_variables_of_the_file() {
    let module = compile(Engine::Interp);
    let names: Vec<&str> = module.globals().map(|global| global.name()).collect();
    assert_eq!(names, ["count", "pair", "lanes", "flag", "point", "limit", "hidden", "x", "n", "grid"]);
    let access = |name| module.global(name).unwrap().access();
    assert_eq!(
        [access("count"), access("limit"), access("hidden")],
        [HostAccess::Write, HostAccess::Read, HostAccess::Read]
    );
    assert_eq!(access("x"), HostAccess::Supply);
    let lanes = HostType::Array(Box::new(HostType::Scalar(Ty::F32)), 16);
    assert_eq!(module.global("lanes").unwrap().layout(), &lanes);
    let Err(error) = module.global("cuont").map(|_| ()) else { panic!("there is none") };
    assert_eq!(error.message, "the program has no global variable `cuont`; did you mean `count`?");
}

#[test]
fn values_go_in_and_out() {
    let module = compile(Engine::Interp);
    module.call("step", &[]).unwrap();
    assert_eq!(module.global("count").unwrap().read::<i32>().unwrap(), [4]);
    assert_eq!(module.global("pair").unwrap().read::<f64>().unwrap(), [1.0, 4.0]);
    assert_eq!(module.global("lanes").unwrap().read::<f32>().unwrap()[15], 15.0);
    module.global("count").unwrap().write(&[10]).unwrap();
    module.global("flag").unwrap().write(&[true]).unwrap();
    module.call("step", &[]).unwrap();
    assert_eq!(module.global("count").unwrap().read::<i32>().unwrap(), [11]);
    assert_eq!(module.global("flag").unwrap().read::<bool>().unwrap(), [true]);
    assert_eq!(module.global("hidden").unwrap().read::<i32>().unwrap(), [3]);
    assert_eq!(module.global("point").unwrap().read_bytes().unwrap(), [0; 8]);
}

#[test]
fn what_does_not_fit_is_said() {
    let module = compile(Engine::Interp);
    let said = |name: &str, result: Result<(), spmdvm::ArgumentError>| {
        let error = result.expect_err("it does not fit");
        assert_eq!(error.parameter, name);
        error.message
    };
    let global = |name| module.global(name).unwrap();
    assert!(said("count", global("count").write(&[1.5f32])).contains("is i32, not f32"));
    assert!(said("pair", global("pair").write(&[1.0f64])).contains("(f64[2]) takes 16 bytes, not 8 bytes"));
    assert!(said("point", global("point").write(&[1.0f32, 2.0])).contains("is struct Point"));
    assert!(said("limit", global("limit").write(&[1])).contains("is `const`: hosts only read it"));
    assert!(said("hidden", global("hidden").write(&[1])).contains("is `static`: hosts only read it"));
    assert!(said("count", global("count").supply(vec![1])).contains("it is not `extern`"));
    assert!(said("count", global("count").withdraw()).contains("it is not `extern`"));
    assert!(said("grid", global("grid").supply(vec![1, 2, 3])).contains("takes elements of"));
    assert!(said("n", global("n").supply(vec![1, 2])).contains("takes 4 bytes"));
    assert!(said("x", global("x").read::<f32>().map(drop)).contains("the extern variable `x` has no value"));
}

#[test]
fn extern_variables_are_supplied_on_every_engine() {
    for engine in [Engine::Interp, Engine::Ir, Engine::Clif, Engine::Auto] {
        let module = compile(engine);
        let trap = |export: &str| match module.call(export, &[]) {
            Err(CallError::Trap(trap)) => trap.trap().kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(trap("scale"), TrapKind::UnboundExtern);
        module.global("n").unwrap().supply(vec![300]).unwrap();
        assert_eq!(trap("scale"), TrapKind::UnboundExtern);
        module.global("x").unwrap().supply((0..300).map(|i| i as f32).collect()).unwrap();
        for _ in 0..20 {
            module.call("scale", &[]).unwrap();
        }
        let x = module.global("x").unwrap().read::<f32>().unwrap();
        assert_eq!(x[299], 299.0 * (1 << 20) as f32);
        // Another array, shorter than the variable of the loop says.
        module.global("x").unwrap().supply(vec![1.0f32; 299]).unwrap();
        assert_eq!(trap("scale"), TrapKind::OutOfBounds);
        module.global("x").unwrap().withdraw().unwrap();
        assert_eq!(trap("scale"), TrapKind::UnboundExtern);
        module.global("grid").unwrap().write(&[1, 2, 3, 4]).unwrap();
        assert!(matches!(module.call("corner", &[]), Ok(Some(Value::Scalar { bits: 4, .. }))));
    }
}

/// Says when it is dropped.
struct Owner(Arc<AtomicBool>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn memory_is_kept_while_somebody_may_look_at_it() {
    let module = compile(Engine::Interp);
    let dropped = Arc::new(AtomicBool::new(false));
    let words = Box::leak(Box::new([2.0f32; 100]));
    let owner = Arc::new(Owner(dropped.clone()));
    // SAFETY: the memory stays for ever, and nobody uses the reference any more.
    let memory = unsafe { GlobalMemory::from_raw(words.as_mut_ptr().cast(), 400, owner) };
    // SAFETY: it may be written.
    unsafe { module.global("x").unwrap().supply_memory(memory) }.unwrap();
    module.global("n").unwrap().supply(vec![100]).unwrap();
    module.call("scale", &[]).unwrap();
    let looked_at = module.global("x").unwrap().memory().unwrap();
    module.global("x").unwrap().withdraw().unwrap();
    assert!(!dropped.load(Ordering::SeqCst));
    drop(looked_at);
    assert!(dropped.load(Ordering::SeqCst));
    let own = module.global("count").unwrap().memory().unwrap();
    drop(module);
    // SAFETY: the handle keeps the memory, which nobody else has any more.
    assert_eq!(unsafe { own.start().cast::<i32>().read() }, 3);
}

#[test]
fn programs_with_globals_round_trip() {
    let program = compile(Engine::Interp).program().as_ref().clone();
    let text = spmdvm::vm::asm::disassemble(&program, spmdvm::vm::asm::Style::Full);
    assert!(text.contains("host extern [[i32 * 2] * 0]") && text.contains("host readonly i32"), "{text}");
    assert_eq!(spmdvm::vm::asm::assemble(&text).unwrap(), program);
    assert_eq!(spmdvm::vm::binary::decode(&spmdvm::vm::binary::encode(&program)).unwrap(), program);
    let module = Module::from_program(spmdvm::vm::verify(program).unwrap(), &Options::default());
    module.global("n").unwrap().supply(vec![0]).unwrap();
    module.call("scale", &[]).unwrap();
}

#[test]
fn lanes_are_counted() {
    let module =
        Module::compile("twice.ispc", "export float twice(float x) { return 2 * x; }", &Options::default()).unwrap();
    let lanes = |n: usize| module.call("twice", &[Value::Lanes { ty: Ty::F32, words: vec![0; n] }]);
    assert!(lanes(16).is_ok());
    let said = lanes(3).expect_err("too few").to_string();
    assert!(said.contains("expects one value for each of the 16 lanes, but was given 3 of type f32"), "{said}");
}
