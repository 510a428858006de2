//! Functions of the host: what programs pass and get, errors, tasks, calls back, and functions in C, on every engine and width.

use spmdvm::vm::{TrapDetail, Width};
use spmdvm::{CallError, Engine, HostError, JitSettings, Module, Options, Source, TrapKind, Value};
use spmdvm_tests::subject::engines;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Compiles a program with what the host provides, and loops compiled at once.
fn module(text: &str, options: Options) -> Module {
    Module::compile("host.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a check for every engine and width, with options to which it adds what the host provides.
fn everywhere(check: impl Fn(Options)) {
    for &engine in engines() {
        for width in Width::ALL {
            let jit = JitSettings { hot: 2, background: false, ..JitSettings::default() };
            check(Options { engine, width, jit, threads: Some(1), ..Options::default() });
        }
    }
}

fn int(module: &Module, name: &str, args: &[Value<'_>]) -> i64 {
    match module.call(name, args).unwrap_or_else(|e| panic!("{name}: {e}")) {
        Some(Value::Scalar { bits, .. }) => i64::from(bits as i32),
        other => panic!("{other:?}"),
    }
}

fn trap(module: &Module, name: &str, args: &[Value<'_>]) -> spmdvm::TrapError {
    match module.call(name, args) {
        Err(CallError::Trap(trap)) => trap,
        other => panic!("{name} gives {other:?}"),
    }
}

#[test]
fn every_type_goes_in_and_out() {
    let types = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double", "bool"];
    let mut text = String::new();
    for ty in types {
        text += &format!(
            "extern \"C\" uniform {ty} echo_{ty}(uniform {ty} x, uniform int tag);
             export uniform {ty} pass_{ty}(uniform {ty} x) {{ return echo_{ty}(x, 7); }}\n"
        );
    }
    everywhere(|mut options| {
        let seen = Arc::new(AtomicUsize::new(0));
        for ty in types {
            let seen = Arc::clone(&seen);
            options = options.with_host(format!("echo_{ty}"), move |call| {
                assert_eq!((call.get::<i32>(1)?, call.name().strip_prefix("echo_")), (7, Some(ty)));
                seen.fetch_add(1, Ordering::Relaxed);
                let spmdvm::HostValue::Uniform(ty) = call.signature().params[0].value else { panic!("a number") };
                Ok(Some(Value::scalar(ty, call.word(0))))
            });
        }
        let module = module(&text, options);
        let check = |name: &str, value: Value<'static>| {
            let Value::Scalar { ty: given, bits: sent } = value.clone() else { panic!("a scalar") };
            match module.call(&format!("pass_{name}"), &[value]).unwrap() {
                Some(Value::Scalar { ty, bits }) => assert_eq!((ty, bits), (given, sent), "{name}"),
                other => panic!("{other:?}"),
            }
        };
        check("int8", (-5i8).into());
        check("uint8", 250u8.into());
        check("int16", (-500i16).into());
        check("uint16", 65000u16.into());
        check("int32", (-70_000i32).into());
        check("uint32", 4_000_000_000u32.into());
        check("int64", (-5_000_000_000i64).into());
        check("uint64", u64::MAX.into());
        check("float", 0.1f32.into());
        check("double", (-0.1f64).into());
        check("bool", true.into());
        assert_eq!(seen.load(Ordering::Relaxed), types.len());
    });
}

#[test]
fn a_function_is_called_once_for_the_gang() {
    let text = "extern \"C\" void note(uniform int mask);
        export void run(uniform int n) {
            foreach (i = 0 ... n) { if (programIndex % 2 == 0) note(lanemask()); }
        }
        export void never(uniform int n) { if (programIndex >= programCount + n) note(0); }";
    everywhere(|options| {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&calls);
        let lanes = options.width.lanes() as u64;
        let module = module(
            text,
            options.with_host("note", move |call| {
                noted.lock().unwrap().push((call.get::<i32>(0)? as u32, call.mask()));
                Ok(None)
            }),
        );
        module.call("run", &[(3 * lanes as i32).into()]).unwrap();
        let even = 0x5555_5555_5555_5555u64 & (u64::MAX >> (64 - lanes));
        assert_eq!(*calls.lock().unwrap(), vec![(even as u32, even); 3]);
        module.call("never", &[0i32.into()]).unwrap();
        assert_eq!(calls.lock().unwrap().len(), 3);
    });
}

/// What is declared varying, of every size, under a mask and without.
const VARYING: &str = "extern \"C\" float scaled(float x, uniform float by);
extern \"C\" uniform float total(float x);
extern \"C\" void note(bool b, int8 c, double d, unsigned int64 e);
extern \"C\" int64 next();
export void odd(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float y = -1;
        if (i % 2 == 1) y = scaled(a[i], 10);
        a[i] = y;
    }
}
export uniform float sum() { uniform float s = 0; if (programIndex < 3) s = total(programIndex + 1); return s; }
export void types() {
    if (programIndex % 2 == 0)
        note(programIndex == 2, (int8)(-programIndex), programIndex * 0.5d, (unsigned int64)programIndex << 40);
}
export void count(uniform int64 a[]) { a[programIndex] = -1; if (programIndex % 3 != 1) a[programIndex] = next(); }
// Lanes that are not active were given nothing.
export void hidden(uniform float a[]) {
    float y = 7;
    if (programIndex == 1) y = scaled(4, 1);
    else y = rotate(scaled(3, 1), 0);
    unmasked { a[programIndex] = y; }
}";

/// Options with functions for the gang, or for each lane; and what they saw.
fn varying(mut options: Options, for_each: bool) -> (Module, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let count = AtomicI64::new(0);
    if for_each {
        options = options
            .with_host_per_lane("scaled", |call| Ok(Some((call.get::<f32>(0)? * call.get::<f32>(1)?).into())))
            .with_host_per_lane("note", move |call| {
                assert!(call.mask() >> call.lane().unwrap() & 1 == 1);
                let (b, c) = (call.get::<bool>(0)?, call.get::<i8>(1)?);
                let lane = format!("{b} {c} {} {}", call.get::<f64>(2)?, call.get::<u64>(3)?);
                noted.lock().unwrap().push(lane);
                Ok(None)
            })
            .with_host_per_lane("next", move |_| Ok(Some(count.fetch_add(1, Ordering::Relaxed).into())));
    } else {
        options = options
            .with_host("scaled", |call| {
                let by = call.get::<f32>(1)?;
                let words = call.lanes::<f32>(0)?.iter().map(|x| (x * by).to_bits().into()).collect();
                Ok(Some(Value::Lanes { ty: spmdvm::Ty::F32, words }))
            })
            .with_host("note", move |call| {
                let (b, c, d, e) =
                    (call.lanes::<bool>(0)?, call.lanes::<i8>(1)?, call.lanes(2)?, call.lanes::<u64>(3)?);
                let d: Vec<f64> = d;
                let lane = |i: usize| format!("{} {} {} {}", b[i], c[i], d[i], e[i]);
                noted.lock().unwrap().extend((0..b.len()).map(lane));
                Ok(None)
            })
            .with_host("next", move |call| {
                let n = i64::from(call.mask().count_ones());
                let first = count.fetch_add(n, Ordering::Relaxed);
                let words = (first..first + n).map(|at| at as u64).collect();
                Ok(Some(Value::Lanes { ty: spmdvm::Ty::I64, words }))
            });
    }
    let sum = |call: &spmdvm::HostCall<'_>| Ok(Some(call.lanes::<f32>(0)?.iter().sum::<f32>().into()));
    (module(VARYING, options.with_host("total", sum)), seen)
}

#[test]
fn varying_values_are_those_of_active_lanes() {
    everywhere(|options| {
        let lanes = options.width.lanes();
        for for_each in [false, true] {
            let (module, seen) = varying(options.clone(), for_each);
            let mut a: Vec<f32> = (0..4 * lanes + 1).map(|i| i as f32).collect();
            let expected: Vec<f32> = (0..a.len()).map(|i| if i % 2 == 1 { 10.0 * i as f32 } else { -1.0 }).collect();
            let n = a.len() as i32;
            module.call("odd", &[Value::slice_mut(&mut a), n.into()]).unwrap();
            assert_eq!(a, expected);
            let Some(Value::Scalar { bits, .. }) = module.call("sum", &[]).unwrap() else { panic!("a number") };
            assert_eq!(f32::from_bits(bits as u32), (1..=lanes.min(3)).sum::<usize>() as f32);
            module.call("types", &[]).unwrap();
            let lane = |i: usize| format!("{} {} {} {}", i == 2, -(i as i8), i as f64 / 2.0, (i as u64) << 40);
            assert_eq!(*seen.lock().unwrap(), (0..lanes).step_by(2).map(lane).collect::<Vec<_>>());
            let mut counts = vec![0i64; lanes];
            module.call("count", &[Value::slice_mut(&mut counts)]).unwrap();
            let mut next = 0..;
            let counted: Vec<i64> =
                (0..lanes).map(|i| if i % 3 == 1 { -1 } else { next.next().unwrap_or(-2) }).collect();
            assert_eq!(counts, counted);
            let mut hidden = vec![0f32; lanes];
            module.call("hidden", &[Value::slice_mut(&mut hidden)]).unwrap();
            assert_eq!(hidden, (0..lanes).map(|i| if i == 1 { 4.0 } else { 3.0 }).collect::<Vec<_>>());
        }
    });
}

#[test]
fn results_for_other_lanes_than_the_active_ones_are_refused() {
    let text =
        "extern \"C\" float f(float x); export float run(float x) { float y = 0; if (x > 1) y = f(x); return y; }";
    let run = |result: fn() -> Value<'static>| {
        let options =
            Options { width: Width::new(4).unwrap(), ..Options::default() }.with_host("f", move |_| Ok(Some(result())));
        let x = Value::Lanes { ty: spmdvm::Ty::F32, words: (0..4).map(|i| (i as f32).to_bits().into()).collect() };
        module(text, options).call("run", &[x]).map_err(|error| error.to_string())
    };
    assert!(run(|| 2f32.into()).is_ok_and(|result| matches!(
        result,
        Some(Value::Lanes { words, .. }) if words == [0, 0, 2f32.to_bits().into(), 2f32.to_bits().into()]
    )));
    let wrong = run(|| Value::Lanes { ty: spmdvm::Ty::F32, words: vec![0; 4] }).unwrap_err();
    assert!(wrong.contains("`f` must give a value for each of 2 lanes, not 4"), "{wrong}");
    let wrong = run(|| Value::Lanes { ty: spmdvm::Ty::F64, words: vec![0; 2] }).unwrap_err();
    assert!(wrong.contains("`f` must give a f32, not 2 of type f64"), "{wrong}");
    let text = "extern \"C\" void f(float x); export void run(float x) { f(x); }";
    let asked = module(text, Options::default().with_host("f", |call| call.get::<f32>(0).map(|_| None)));
    assert!(
        trap(&asked, "run", &[1f32.into()])
            .to_string()
            .contains("argument 0 of `f` is varying: `lanes` has its values")
    );
}

#[test]
fn pointers_lead_to_checked_memory() {
    let text = "struct Pair { int a; float b; };
        extern \"C\" uniform int sum(const uniform int a[], uniform int n);
        extern \"C\" void fill(uniform float * uniform to, uniform int n);
        extern \"C\" void change(uniform Pair &pair);
        uniform float table[4];
        export uniform int of_array(uniform int a[], uniform int from, uniform int n) { return sum(a + from, n); }
        export uniform int of_local(uniform int n) {
            uniform int a[8];
            for (uniform int i = 0; i < 8; ++i) a[i] = i * i;
            return sum(a, n);
        }
        export uniform int of_heap() {
            uniform int * uniform a = uniform new uniform int[5];
            for (uniform int i = 0; i < 5; ++i) a[i] = 10;
            uniform int s = sum(a, 5);
            delete a;
            return s + sum(a, 1);
        }
        export uniform int of_null() { return sum(NULL, 0); }
        export uniform float of_global(uniform int n) { fill(table, n); return table[0] + table[3]; }
        export void of_constant(const uniform float a[]) { fill((uniform float * uniform)a, 1); }
        export uniform float of_struct() { uniform Pair p = { 3, 0.5f }; change(p); return p.a + p.b; }";
    everywhere(|options| {
        let options = options
            .with_host("sum", |call| {
                let a = call.read::<i32>(0, call.get::<i32>(1)? as usize)?;
                Ok(Some(a.iter().sum::<i32>().into()))
            })
            .with_host("fill", |call| {
                let n = call.get::<i32>(1)? as usize;
                call.write(0, &vec![1.5f32; n])?;
                Ok(None)
            })
            .with_host("change", |call| {
                let memory = call.pointee(0).ok_or("no memory").map_err(HostError::new)?;
                assert_eq!((memory.bytes, memory.offset, memory.writable), (8, 0, true));
                let a = call.read::<i32>(0, 1)?[0];
                call.write(0, &[a * 2])?;
                Ok(None)
            });
        let module = module(text, options);
        let mut a = [1i32, 2, 3, 4];
        let mut of_array = |from: i32, n: i32| {
            let args = [Value::slice_mut(&mut a), from.into(), n.into()];
            module.call("of_array", &args).map(|value| match value {
                Some(Value::Scalar { bits, .. }) => bits as i32,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!([of_array(0, 4).unwrap(), of_array(2, 2).unwrap(), of_array(4, 0).unwrap()], [10, 7, 0]);
        for (from, n) in [(2, 3), (-1, 1), (5, 1), (1 << 29, 1)] {
            let Err(CallError::Trap(trap)) = of_array(from, n) else { panic!("out of bounds") };
            assert_eq!(trap.trap().kind, TrapKind::HostError);
            assert!(trap.to_string().contains("elements that can be read"), "{trap}");
        }
        assert_eq!([int(&module, "of_local", &[8i32.into()]), int(&module, "of_null", &[])], [140, 0]);
        assert_eq!(trap(&module, "of_local", &[9i32.into()]).trap().kind, TrapKind::HostError);
        assert_eq!(trap(&module, "of_heap", &[]).trap().kind, TrapKind::HostError);
        let float = |value: Option<Value<'_>>| match value {
            Some(Value::Scalar { bits, .. }) => f32::from_bits(bits as u32),
            other => panic!("{other:?}"),
        };
        assert_eq!(float(module.call("of_global", &[4i32.into()]).unwrap()), 3.0);
        assert!(trap(&module, "of_global", &[5i32.into()]).to_string().contains("can be written"));
        let constant = [0f32; 2];
        assert_eq!(trap(&module, "of_constant", &[Value::slice(&constant)]).trap().kind, TrapKind::HostError);
        assert_eq!(float(module.call("of_struct", &[]).unwrap()), 6.5);
    });
}

#[derive(Debug)]
struct Odd(i32);

impl std::fmt::Display for Odd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is odd", self.0)
    }
}

impl std::error::Error for Odd {}

const FAILING: &str = "extern \"C\" void check(uniform int i);
uniform int done = 0;
export void run(uniform int a[], uniform int n) {
    for (uniform int i = 0; i < n; ++i) {
        a[i] = 1;
        check(i);
        ++done;
    }
}
task void part(uniform int a[]) { a[taskIndex] = 1; check(taskIndex); }
export void tasks(uniform int a[], uniform int n) { launch[n] part(a); sync; }";

fn failing(options: Options) -> Module {
    module(
        FAILING,
        options.with_host("check", |call| {
            let i = call.get::<i32>(0)?;
            if i >= 5 && i % 2 == 1 { Err(Odd(i).into()) } else { Ok(None) }
        }),
    )
}

/// The error that a host's function gave, as it was.
fn odd(trap: &spmdvm::TrapError) -> i32 {
    let TrapDetail::Host(error) = &trap.trap().detail else { panic!("{trap}") };
    assert_eq!(error.message(), error.payload().downcast_ref::<Odd>().unwrap().to_string());
    error.payload().downcast_ref::<Odd>().map(|odd| odd.0).unwrap()
}

#[test]
fn errors_stop_the_program_as_traps_do() {
    everywhere(|options| {
        let module = failing(options);
        let mut a = [0i32; 8];
        let failed = trap(&module, "run", &[Value::slice_mut(&mut a), 8i32.into()]);
        assert_eq!(odd(&failed), 5);
        assert_eq!(failed.place().map(|place| place.1), Some(1), "the declaration is the innermost place");
        assert!(failed.render(false).contains("called from run at host.ispc:6:"), "{}", failed.render(false));
        assert_eq!(a, [1, 1, 1, 1, 1, 1, 0, 0]);
        assert_eq!(module.global("done").unwrap().read::<i32>().unwrap(), [5]);
        // It can be called again.
        module.call("run", &[Value::slice_mut(&mut a), 5i32.into()]).unwrap();
        assert_eq!(module.global("done").unwrap().read::<i32>().unwrap(), [10]);
    });
}

#[test]
fn tasks_call_the_host_and_the_first_failure_counts() {
    for threads in [1, 2, 4] {
        everywhere(|options| {
            let module = failing(Options { threads: Some(threads), ..options });
            let mut a = vec![0i32; 64];
            module.call("tasks", &[Value::slice_mut(&mut a), 5i32.into()]).unwrap();
            assert_eq!(a.iter().sum::<i32>(), 5);
            let failed = trap(&module, "tasks", &[Value::slice_mut(&mut a), 64i32.into()]);
            assert_eq!((odd(&failed), failed.trap().stack[0].task.or(failed.trap().stack[1].task)), (5, Some(5)));
        });
    }
}

#[test]
fn wrong_results_are_errors() {
    let text = "extern \"C\" uniform int f(); export uniform int run() { return f(); }";
    let run = |result: fn() -> Option<Value<'static>>| {
        trap(&module(text, Options::default().with_host("f", move |_| Ok(result()))), "run", &[]).to_string()
    };
    assert!(run(|| None).contains("`f` must give a i32, and gave nothing"), "{}", run(|| None));
    assert!(run(|| Some(1.0f32.into())).contains("`f` must give a i32, not a scalar of type f32"));
    let text = "extern \"C\" void f(uniform float x); export void run() { f(1); }";
    let module = module(text, Options::default().with_host("f", |call| call.get::<i32>(0).map(|_| None)));
    assert!(trap(&module, "run", &[]).to_string().contains("argument 0 of `f` is not declared as i32"));
}

#[test]
fn what_hosts_cannot_provide_is_told_when_it_is_bound() {
    let refused = |text: &str| {
        let options = Options::default().with_host("f", |_| Ok(None));
        match Module::compile("host.ispc", text, &options) {
            Ok(_) => panic!("{text}"),
            Err(error) => error.to_string(),
        }
    };
    let text = refused("extern \"C\" void f(float * x);\nexport void run(uniform float a[]) { f(a + programIndex); }");
    assert!(text.contains("[E0303]") && text.contains("a varying pointer") && text.contains("host.ispc:1"), "{text}");
    let one_result = "extern \"C\" uniform float f(float x); export uniform float run() { return f(programIndex); }";
    let per_lane = Options::default().with_host_per_lane("f", |_| Ok(None));
    let error = Module::compile("host.ispc", one_result, &per_lane).err().map(|error| error.to_string());
    assert!(error.is_some_and(|text| text.contains("called for each lane, and declared to give one result for all")));
    let by_value = "struct S { float x; }; extern \"C\" void f(uniform S s); export void run() { uniform S s; f(s); }";
    assert!(refused(by_value).contains("a struct by value"));
    // What is not bound, or not "C", stays missing.
    let options = || Options::default().with_host("f", |_| Ok(None)).with_host("unused", |_| Ok(None));
    let missing =
        module("extern \"C\" void g(); extern void f(); export void a() { g(); } export void b() { f(); }", options());
    for name in ["a", "b"] {
        let Err(CallError::Compile(error)) = missing.call(name, &[]) else { panic!("it is missing") };
        assert!(error.to_string().contains("[E0233]"), "{error}");
    }
}

/// A program and the host that call each other.
const BACK_AND_FORTH: &str = "extern \"C\" uniform int back(uniform int n, uniform int a[]);
uniform int depth = 0;
export uniform int down(uniform int n, uniform int a[]) {
    ++depth;
    a[n] = depth;
    uniform int local[2] = { n, 0 };
    uniform int result = n == 0 ? 1 : back(n - 1, a) + local[0];
    --depth;
    return result;
}
export uniform int local_too(uniform int n) {
    uniform int a[4];
    uniform int result = back(n, a);
    return result * 1000 + a[0] * 100 + a[1] * 10 + a[2];
}
export void endless(uniform int n, uniform int a[]) { back(n, a); }
export void spin() { while (true) { } }";

/// The module calls itself through the host.
fn back_and_forth(options: Options, entry: &'static str) -> Module {
    let own: Arc<OnceLock<Module>> = Arc::default();
    let inner = Arc::clone(&own);
    let options = options.with_host("back", move |call| {
        let module = inner.get().ok_or("no module yet").map_err(HostError::new)?;
        let memory = call.pointee(1).ok_or("no memory").map_err(HostError::new)?;
        // SAFETY: the memory stays while the program waits for this function.
        let array = unsafe { spmdvm::Array::from_raw(memory.start, memory.bytes as usize, None, true) };
        let args = [Value::from(call.get::<i32>(0)?), Value::Array(array)];
        match entry {
            "spin" => module.call("spin", &[])?,
            entry => module.call(entry, &args)?,
        };
        match entry {
            "down" => Ok(module.call(entry, &args)?),
            _ => Ok(Some(0i32.into())),
        }
    });
    let module = module(BACK_AND_FORTH, options);
    own.set(module.clone()).unwrap_or_else(|_| panic!("once"));
    module
}

#[test]
fn the_host_calls_back_into_the_program() {
    everywhere(|options| {
        let module = back_and_forth(options, "down");
        assert!(module.is_stateful());
        let mut a = [0i32; 4];
        assert_eq!(int(&module, "down", &[3i32.into(), Value::slice_mut(&mut a)]), 1 + 1 + 2 + 3);
        // Every level wrote how deep it was, and globals were one for all of them.
        assert_eq!(a, [4, 3, 2, 1]);
        assert_eq!(module.global("depth").unwrap().read::<i32>().unwrap(), [0]);
        // The memory of a local of a call that waits is seen from within.
        assert_eq!(int(&module, "local_too", &[2i32.into()]), 4000 + 321);
    });
}

#[test]
fn calls_back_share_limits() {
    everywhere(|options| {
        let endless = back_and_forth(options.clone(), "endless");
        let mut a = [0i32; 4];
        let failed = trap(&endless, "endless", &[0i32.into(), Value::slice_mut(&mut a)]);
        assert_eq!(failed.trap().kind, TrapKind::HostError);
        assert!(failed.to_string().contains("call stack exhausted"), "{failed}");
        let limits = spmdvm::Limits { fuel: Some(100_000), ..Default::default() };
        let spinning = back_and_forth(Options { limits, ..options.clone() }, "spin");
        let failed = trap(&spinning, "endless", &[0i32.into(), Value::slice_mut(&mut a)]);
        assert!(failed.to_string().contains("out of fuel"), "{failed}");
    });
    let limits = spmdvm::Limits { timeout: Some(std::time::Duration::from_millis(50)), ..Default::default() };
    let spinning = back_and_forth(Options { limits, ..Options::default() }, "spin");
    let mut a = [0i32; 4];
    let failed = trap(&spinning, "endless", &[0i32.into(), Value::slice_mut(&mut a)]);
    assert!(failed.to_string().contains("out of time"), "{failed}");
}

#[test]
fn tasks_call_back_too() {
    let text = "extern \"C\" uniform int square(uniform int i);
        export uniform int times(uniform int a, uniform int b) {
            uniform int * uniform p = uniform new uniform int;
            *p = a * b;
            uniform int result = *p;
            delete p;
            return result;
        }
        task void part(uniform int a[]) { a[taskIndex] = square(taskIndex); }
        export void run(uniform int a[], uniform int n) { launch[n] part(a); }";
    for threads in [1, 4] {
        everywhere(|options| {
            let own: Arc<OnceLock<Module>> = Arc::default();
            let inner = Arc::clone(&own);
            let options = Options { threads: Some(threads), ..options }.with_host("square", move |call| {
                let (i, module) = (call.get::<i32>(0)?, inner.get().ok_or("none").map_err(HostError::new)?);
                Ok(module.call("times", &[i.into(), i.into()])?)
            });
            let module = module(text, options);
            own.set(module.clone()).unwrap_or_else(|_| panic!("once"));
            let mut a = [0i32; 50];
            module.call("run", &[Value::slice_mut(&mut a), 50i32.into()]).unwrap();
            assert!(a.iter().enumerate().all(|(i, &x)| x == (i * i) as i32), "{a:?}");
        });
    }
}

#[test]
fn linked_programs_share_what_the_host_provides() {
    let header = "extern \"C\" uniform int next(uniform int by);\n";
    let a = format!("{header}export uniform int a() {{ return next(1); }}");
    let b = format!("{header}export uniform int b() {{ return next(10); }}");
    everywhere(|options| {
        let count = Arc::new(AtomicI64::new(0));
        let counted = Arc::clone(&count);
        let options = options.with_host("next", move |call| {
            let by = i64::from(call.get::<i32>(0)?);
            Ok(Some(((counted.fetch_add(by, Ordering::Relaxed) + by) as i32).into()))
        });
        let sources = [Source::Text { name: "a.ispc", text: &a }, Source::Text { name: "b.ispc", text: &b }];
        let module = Module::compile_all(&sources, &options).unwrap();
        module.check_linked().unwrap();
        assert_eq!([int(&module, "a", &[]), int(&module, "b", &[]), int(&module, "a", &[])], [1, 11, 12]);
    });
}

extern "C" fn mixed(a: i8, x: f32, b: u16, y: f64, p: *mut f32, n: i64, z: f32, c: bool) -> f64 {
    // SAFETY: the program passes an array of two.
    unsafe { *p.add(1) = a.into() };
    f64::from(a) + f64::from(x) * 10.0 + f64::from(b) + y + n as f64 + f64::from(z) + f64::from(u8::from(c))
}

extern "C" fn negate(x: i8) -> i8 {
    -x
}

extern "C" fn half(x: f32) -> f32 {
    x / 2.0
}

extern "C" fn make() -> *mut i32 {
    static CELL: AtomicUsize = AtomicUsize::new(41);
    CELL.as_ptr().cast()
}

extern "C" fn peek(p: *const i32) -> i32 {
    // SAFETY: it is the cell of `make`, or null.
    unsafe { p.as_ref() }.map_or(-1, |&x| x)
}

#[test]
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
fn functions_in_c_are_called_by_their_addresses() {
    let text = "extern \"C\" {
            uniform double mixed(uniform int8 a, uniform float x, uniform uint16 b, uniform double y,
                uniform float * uniform p, uniform int64 n, uniform float z, uniform bool c);
            uniform int8 negate(uniform int8 x);
            uniform float half(uniform float x);
            void * uniform make();
            uniform int peek(const void * uniform p);
        }
        export uniform double run(uniform float p[]) { return mixed(-3, 0.5f, 60000, 0.25d, p, -7, 2, true); }
        export uniform int8 minus(uniform int8 x) { return negate(x); }
        export uniform float halved(uniform float x) { return half(x); }
        export uniform int opaque() { void * uniform p = make(); return peek(p); }
        export uniform int nothing() { return peek(NULL); }
        export uniform int look() { return *(uniform int * uniform)make(); }
        export uniform int gone() {
            uniform int * uniform p = uniform new uniform int;
            delete p;
            return peek(p);
        }";
    everywhere(|options| {
        // SAFETY: these are functions of the signatures that the program declares.
        let options = unsafe {
            options
                .with_host_address("mixed", mixed as *const () as usize)
                .with_host_address("negate", negate as *const () as usize)
                .with_host_address("half", half as *const () as usize)
                .with_host_address("make", make as *const () as usize)
                .with_host_address("peek", peek as *const () as usize)
        };
        let module = module(text, options);
        let mut p = [0f32; 2];
        match module.call("run", &[Value::slice_mut(&mut p)]).unwrap() {
            Some(Value::Scalar { bits, .. }) => {
                assert_eq!(f64::from_bits(bits), -3.0 + 5.0 + 60000.25 - 7.0 + 2.0 + 1.0)
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(p, [0.0, -3.0]);
        let bits = |name: &str, arg: Value<'_>| match module.call(name, &[arg]).unwrap() {
            Some(Value::Scalar { bits, .. }) => bits,
            other => panic!("{other:?}"),
        };
        assert_eq!(bits("minus", 100i8.into()) as i8, -100);
        assert_eq!(f32::from_bits(bits("halved", 3.0f32.into()) as u32), 1.5);
        assert_eq!([int(&module, "opaque", &[]), int(&module, "nothing", &[])], [41, -1]);
        assert_eq!(trap(&module, "look", &[]).trap().kind, TrapKind::OutOfBounds);
        assert!(trap(&module, "gone", &[]).to_string().contains("points to memory that is not there"));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_shared_library_provides_its_functions() {
    let text = "extern \"C\" uniform double cbrt(uniform double x);
        extern \"C\" uniform float hypotf(uniform float x, uniform float y);
        export uniform double root(uniform double x) { return cbrt(x) + hypotf(3, 4); }";
    // SAFETY: these are functions of C's library of mathematics, with these signatures.
    let options = unsafe { Options { engine: Engine::Interp, ..Options::default() }.with_host_library("libm.so.6") };
    let module = module(text, options.unwrap());
    match module.call("root", &[27.0f64.into()]).unwrap() {
        Some(Value::Scalar { bits, .. }) => assert_eq!(f64::from_bits(bits), 8.0),
        other => panic!("{other:?}"),
    }
    // SAFETY: there is no such library.
    let missing = unsafe { Options::default().with_host_library("libnowhere.so.9") };
    assert!(missing.unwrap_err().contains("libnowhere.so.9"));
}
