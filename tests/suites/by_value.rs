//! What exports take and give besides numbers and arrays: structs and short vectors by value, pointers, and structs that
//! point to memory of the host.

use spmdvm::{
    CallError, Engine, GlobalMemory, MapArg, Module, Options, Pointer, Run, Source, Strided, TrapKind, Ty, Value, Width,
};
use spmdvm_tests::subject::engines;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The program on every engine at every width.
fn everywhere(source: &str, check: impl Fn(&Module)) {
    for &engine in engines() {
        for width in Width::ALL {
            check(&compile(source, engine, width));
        }
    }
}

fn compile(source: &str, engine: Engine, width: Width) -> Module {
    let options = Options { engine, width, ..Options::default() };
    Module::compile("by_value.ispc", source, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn record(result: Option<Value<'static>>) -> Vec<u8> {
    match result {
        Some(Value::Record(bytes)) => bytes,
        other => panic!("no value in memory: {other:?}"),
    }
}

fn pointer(result: Option<Value<'static>>) -> Pointer {
    match result {
        Some(Value::Pointer(pointer)) => pointer,
        other => panic!("no pointer: {other:?}"),
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn structs_and_short_vectors_by_value() {
    let source = "struct Ray { float origin[3]; float<3> direction; int8 depth; };
        export uniform Ray step(uniform Ray ray, uniform float t, const uniform float<3> wind) {
            for (uniform int i = 0; i < 3; ++i) ray.origin[i] += t * ray.direction[i] + wind[i];
            ++ray.depth;
            return ray;
        }
        export uniform double<2> swapped(uniform double<2> v) { uniform double<2> w = { v.y, v.x }; return w; }
        export uniform Ray named(uniform Ray ray) { return step(ray, 1, ray.direction); }
        export float scaled(float x, uniform float<2> by) { return x * by.x + by.y; }";
    everywhere(source, |module| {
        // Three floats, padding to the vector's 16 bytes, the vector, a byte.
        let ray = [1.0f32, 2.0, 3.0, 0.0, 10.0, 20.0, 30.0, 0.0, f32::from_bits(7), 0.0, 0.0, 0.0];
        let args = [Value::bytes_of(&ray), 0.5f32.into(), Value::slice(&[100.0f32, 200.0, 300.0])];
        let moved = record(module.call("step", &args).unwrap());
        assert_eq!(moved.len(), 48);
        assert_eq!(floats(&moved[..12]), [106.0, 212.0, 318.0]);
        assert_eq!(floats(&moved[16..28]), [10.0, 20.0, 30.0]);
        assert_eq!(moved[32], 8);
        assert_eq!(ray[0], 1.0, "an argument by value is not changed");
        let again = record(module.call("named", &args[..1]).unwrap());
        assert_eq!(floats(&again[..12]), [21.0, 42.0, 63.0]);
        let swapped = record(module.call("swapped", &[Value::slice(&[1.5f64, 2.5])]).unwrap());
        assert_eq!(
            swapped.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>(),
            [2.5, 1.5]
        );
        let scaled = module.call("scaled", &[3.0f32.into(), Value::slice(&[2.0f32, 1.0])]).unwrap();
        let Some(Value::Lanes { words, .. }) = scaled else { panic!("{scaled:?}") };
        assert!(words.iter().all(|&word| f32::from_bits(word as u32) == 7.0));
    });
}

#[test]
fn a_value_must_have_all_its_bytes() {
    let module = compile("export uniform float f(uniform float<3> v) { return v.z; }", Engine::Interp, Width::DEFAULT);
    let Err(CallError::Argument(error)) = module.call("f", &[Value::slice(&[1.0f32, 2.0])]) else { panic!() };
    assert_eq!(error.message, "f(): `v` is a reference to 12 bytes, but the array has only 8");
}

#[test]
fn traps_do_not_show_the_function_in_between() {
    let source = "export uniform float<2> f(uniform float<2> v, uniform int a[]) { a[5] = 1; return v; }";
    everywhere(source, |module| {
        let mut a = [0i32; 2];
        let args = [Value::slice(&[1.0f32, 2.0]), Value::slice_mut(&mut a)];
        let Err(CallError::Trap(error)) = module.call("f", &args) else { panic!() };
        assert_eq!(error.trap().kind, TrapKind::OutOfBounds);
        assert!(!error.to_string().contains('$'), "{error}");
        assert!(error.to_string().contains("in `f` (by_value.ispc:1:"), "{error}");
    });
}

const LIST: &str = "struct Node { float value; Node *uniform next; };
    export Node *uniform push(Node *uniform list, uniform float value) {
        Node *uniform node = uniform new Node;
        node->value = value;
        node->next = list;
        return node;
    }
    export void *uniform opaque(Node *uniform list) { return list; }
    export uniform float total(const Node *uniform list) {
        uniform float sum = 0;
        for (; list != NULL; list = list->next) sum += extract(list->value, 0);
        return sum;
    }
    export void drop(Node *uniform list) { delete list; }";

#[test]
fn pointers_are_given_and_taken_back() {
    everywhere(LIST, |module| {
        let mut list = Pointer::NULL;
        for i in 1..=10 {
            list = pointer(module.call("push", &[Value::Pointer(list), (i as f32).into()]).unwrap());
            assert!(!list.is_null() && list.argument().is_none());
        }
        let list = pointer(module.call("opaque", &[Value::Pointer(list)]).unwrap());
        let total = |list| match module.call("total", &[Value::Pointer(list)]) {
            Ok(Some(Value::Scalar { bits, .. })) => Ok(f32::from_bits(bits as u32)),
            Err(CallError::Trap(error)) => Err(error.trap().kind),
            other => panic!("{other:?}"),
        };
        assert_eq!(total(list), Ok(55.0));
        module.call("drop", &[Value::Pointer(list)]).unwrap();
        assert_eq!(total(list), Err(TrapKind::BadPointer), "checked, whatever the host passes");
        assert_eq!(total(Pointer::from_address(0x7fff_1234_5678)), Err(TrapKind::BadPointer));
    });
}

#[test]
fn a_pointer_into_an_argument_tells_where() {
    let source = "export uniform int *uniform find(uniform int a[], uniform int n, uniform int x) {
            for (uniform int i = 0; i < n; ++i) if (a[i] == x) return a + i;
            return NULL;
        }";
    everywhere(source, |module| {
        let mut a = [5, 6, 7i32];
        let mut find = |x: i32| pointer(module.call("find", &[Value::slice_mut(&mut a), 3.into(), x.into()]).unwrap());
        assert_eq!(find(7).argument(), Some((0, 8)));
        let gone = find(6);
        assert!(find(1).is_null());
        // It had an address during that call only, and the host is told where it was instead.
        let Err(CallError::Argument(_)) = module.call("find", &[Value::Pointer(gone), 1.into(), 6.into()]) else {
            panic!()
        };
        let stale = Value::Pointer(Pointer::from_address(gone.address()));
        let Err(CallError::Trap(error)) = module.call("find", &[stale, 1.into(), 6.into()]) else { panic!() };
        assert_eq!(error.trap().kind, TrapKind::BadPointer);
    });
}

const MESH: &str = "struct Mesh { uniform float *uniform x; uniform int64 n; };
    export uniform float total(const uniform Mesh &mesh) {
        float sum = 0;
        foreach (i = 0 ... mesh.n) sum += mesh.x[i];
        return reduce_add(sum);
    }
    export void clear(uniform Mesh mesh) { foreach (i = 0 ... mesh.n) mesh.x[i] = 0; }";

#[test]
fn structs_point_to_memory_of_the_host() {
    everywhere(MESH, |module| {
        let call = |name, mesh: &[u64; 2]| match module.call(name, &[Value::bytes_of(mesh)]) {
            Ok(Some(Value::Scalar { bits, .. })) => Ok(f32::from_bits(bits as u32)),
            Ok(_) => Ok(0.0),
            Err(CallError::Trap(error)) => Err(error.trap().kind),
            Err(other) => panic!("{other}"),
        };
        let x = module.bind(GlobalMemory::of(vec![1.0f32; 100])).unwrap();
        let y = module.bind_read_only(GlobalMemory::of(vec![2.0f32; 50])).unwrap();
        let (first, second) = ([x.pointer().address(), 100], [y.pointer().address(), 50]);
        for _ in 0..3 {
            assert_eq!((call("total", &first), call("total", &second)), (Ok(100.0), Ok(100.0)));
        }
        assert_eq!(call("total", &[x.pointer().address(), 101]), Err(TrapKind::OutOfBounds));
        assert_eq!(call("clear", &second), Err(TrapKind::ReadOnly));
        assert_eq!(call("clear", &first), Ok(0.0));
        assert_eq!(call("total", &first), Ok(0.0));
        drop(x);
        assert_eq!(call("total", &first), Err(TrapKind::BadPointer));
        assert_eq!(call("total", &second), Ok(100.0));
        // An address of the machine is none of the program's.
        let raw = [1.0f32; 4];
        assert_eq!(call("total", &[raw.as_ptr() as u64, 4]), Err(TrapKind::BadPointer));
    });
}

#[test]
fn memory_is_kept_while_it_is_bound_and_a_call_runs() {
    let module = compile(MESH, Engine::Auto, Width::DEFAULT);
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let module = module.clone();
            std::thread::spawn(move || {
                for n in 1..200u64 {
                    let x = module.bind(GlobalMemory::of(vec![i as f32; n as usize])).unwrap();
                    let mesh = [x.pointer().address(), n];
                    let total = module.call("total", &[Value::bytes_of(&mesh)]).unwrap();
                    let Some(Value::Scalar { bits, .. }) = total else { panic!() };
                    assert_eq!(f32::from_bits(bits as u32), (i * n) as f32);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn what_threads_bind_first_stays_bound() {
    for _ in 0..100 {
        let module = compile(MESH, Engine::Interp, Width::DEFAULT);
        // It has a machine, which the first to bind does away with.
        module.call("total", &[Value::bytes_of(&[0u64; 2])]).unwrap();
        let ready = AtomicUsize::new(0);
        let bind = |value: f32| {
            let memory = GlobalMemory::of(vec![value; 8]);
            ready.fetch_add(1, Ordering::AcqRel);
            // Threads that sleep do not wake at once.
            while ready.load(Ordering::Acquire) < 2 {
                std::hint::spin_loop();
            }
            module.bind(memory).unwrap()
        };
        let bound = std::thread::scope(|scope| {
            let other = scope.spawn(|| bind(1.0));
            [bind(0.5), other.join().unwrap()]
        });
        for (x, expected) in bound.iter().zip([4.0, 8.0]) {
            let mesh = [x.pointer().address(), 8];
            let total = module.call("total", &[Value::bytes_of(&mesh)]).unwrap();
            assert!(matches!(total, Some(Value::Scalar { bits, .. }) if f32::from_bits(bits as u32) == expected));
        }
    }
}

#[test]
fn what_hosts_cannot_pass_is_an_error() {
    for (source, what) in [
        ("struct S { float x; }; export void f(S s) {}", "hosts cannot pass a `varying S`"),
        ("export float<3> f() { float<3> v = 0; return v; }", "hosts cannot take a `varying float<3>`"),
        ("export void f(float *p) {}", "hosts cannot pass a"),
        ("export uniform float *f(uniform float a[]) { return a + programIndex; }", "hosts cannot take a"),
    ] {
        let Err(error) = Module::compile("wrong.ispc", source, &Options::default()) else { panic!("{source}") };
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn several_sources_export_alike() {
    let header = "struct Pair { uniform float a, b; }; extern uniform Pair swapped(uniform Pair p);";
    let first = format!(
        "{header} export uniform Pair there_and_back(uniform Pair p) {{ return swapped(swapped(p)); }}
        export float scaled(float x, uniform Pair by) {{ return x * swapped(by).a; }}"
    );
    let second = format!(
        "{header} export uniform Pair swapped(uniform Pair p) {{ uniform Pair q = {{ p.b, p.a }}; return q; }}"
    );
    for &engine in engines() {
        let sources =
            [Source::Text { name: "first.ispc", text: &first }, Source::Text { name: "second.ispc", text: &second }];
        let module = Module::compile_all(&sources, &Options { engine, ..Options::default() }).unwrap();
        let pair = [1.0f32, 2.0];
        assert_eq!(floats(&record(module.call("swapped", &[Value::slice(&pair)]).unwrap())), [2.0, 1.0]);
        assert_eq!(floats(&record(module.call("there_and_back", &[Value::slice(&pair)]).unwrap())), pair);
        let export = module.exports().iter().find(|export| export.name == "scaled").unwrap();
        let (mut x, mut out, by) = ([3.0f32; 5], [0.0f32; 5], pair);
        let column = |start: *mut f32| Strided { start: start.cast(), stride: 4, len: 5, ty: Ty::F32 };
        let args = [
            MapArg::Varying(column(x.as_mut_ptr())),
            MapArg::Array { start: by.as_ptr() as *mut u8, bytes: 8, writable: false },
        ];
        // SAFETY: the arrays have five elements, and are not used meanwhile.
        unsafe { Run::new(&module).map(export, &args, Some(column(out.as_mut_ptr())), None, 5) }.unwrap();
        assert_eq!(out, [6.0; 5]);
    }
}

#[test]
fn functions_of_the_host_bind_where_there_is_one_machine() {
    let source = |state: &str| {
        format!(
            "{state} extern \"C\" uniform int ask(uniform int x);
            export uniform int f(uniform int x) {{ return ask(x); }}
            export uniform int first(const uniform int *uniform a) {{ return a[0]; }}"
        )
    };
    for &engine in engines() {
        for (state, expected) in [("uniform int state = 0;", 7), ("", -1)] {
            let slot: Arc<OnceLock<Module>> = Arc::default();
            let found = Arc::clone(&slot);
            let options = Options { engine, ..Options::default() }.with_host("ask", move |_| {
                let module = found.get().unwrap();
                let first = match module.bind(GlobalMemory::of(vec![7i32])) {
                    Ok(bound) => module.call("first", &[Value::Pointer(bound.pointer())]).unwrap(),
                    Err(CallError::Argument(error)) if error.message.contains("before the call") => {
                        Some((-1i32).into())
                    }
                    Err(error) => panic!("{error}"),
                };
                Ok(first)
            });
            let module = Module::compile("bind.ispc", &source(state), &options).unwrap();
            assert!(slot.set(module.clone()).is_ok());
            let Some(Value::Scalar { bits, .. }) = module.call("f", &[1i32.into()]).unwrap() else { panic!() };
            assert_eq!(bits as i32, expected);
        }
    }
}
