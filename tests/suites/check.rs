//! Check mode: a planted fault of each kind is found and named rightly, programs without faults stay clean, and nothing about
//! what programs do changes.

use spmdvm::{CallError, Checks, Engine, Finding, FindingKind, Module, Options, Run, Value, Width};
use spmdvm_benches::crev::BENCHMARKS;
use spmdvm_benches::crev::problems::Sizes;
use spmdvm_tests::run::{WIDTHS, check_mode_agrees};
use spmdvm_tests::{case, files};
use std::sync::{Arc, Mutex};

/// A program with a fault. It exports `f(uniform int a[], uniform int n)`, which is called with `a` = 0, 1, 2 … of two elements for
/// each lane and `n` the number of lanes. The line of the fault ends in `// HERE`, that of what it has to do with in `// THERE`
/// (`// HERE, TWICE`: the same).
struct Fault {
    kind: FindingKind,
    /// What is asked for.
    checks: &'static str,
    /// Part of the message.
    message: &'static str,
    /// The lanes that are named.
    lanes: fn(u32) -> Vec<u32>,
    /// The values, for these lanes.
    values: fn(u32) -> Vec<i64>,
    /// The least width at which there is the fault.
    from_width: u32,
    source: &'static str,
}

fn nothing<T>(_: u32) -> Vec<T> {
    Vec::new()
}

fn odd(width: u32) -> Vec<u32> {
    (0..width).filter(|l| l % 2 == 1).collect()
}

fn even(width: u32) -> Vec<u32> {
    (0..width).filter(|l| l % 2 == 0).collect()
}

fn all(width: u32) -> Vec<u32> {
    (0..width).collect()
}

fn zeros_even(width: u32) -> Vec<i64> {
    even(width).iter().map(|_| 0).collect()
}

const FAULTS: &[Fault] = &[
    Fault {
        kind: FindingKind::Uninitialised,
        checks: "default",
        message: "`x` is used in what the host gets before anything was stored in it",
        lanes: even,
        values: zeros_even,
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            int x;
            if (programIndex & 1) x = a[programIndex];
            a[programIndex] = x; // HERE
        }",
    },
    Fault {
        kind: FindingKind::Uninitialised,
        checks: "default",
        message: "`never` is used in what the host gets",
        lanes: nothing,
        values: |_| vec![0],
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int never;
            a[0] = never; // HERE
        }",
    },
    Fault {
        kind: FindingKind::Uninitialised,
        checks: "default",
        message: "`go` is used in a condition",
        lanes: even,
        values: zeros_even,
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            int go;
            if (programIndex & 1) go = a[programIndex];
            if (go > 3) { // HERE
                a[programIndex] = 1;
            }
        }",
    },
    Fault {
        kind: FindingKind::Uninitialised,
        checks: "default",
        message: "`at` is used in an address",
        lanes: even,
        values: zeros_even,
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            int at;
            if (programIndex & 1) at = programIndex;
            int x = a[at]; // HERE
            a[programIndex] = x;
        }",
    },
    Fault {
        kind: FindingKind::Uninitialised,
        checks: "default",
        message: "`table` is used in what the host gets",
        lanes: |width| (0..width).filter(|l| l % 4 == 3).collect(),
        values: |width| (0..width).filter(|l| l % 4 == 3).map(|_| 0).collect(),
        from_width: 4,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int table[4];
            for (uniform int i = 0; i < 3; ++i) table[i] = i;
            a[programIndex] = table[programIndex & 3]; // HERE
        }",
    },
    Fault {
        kind: FindingKind::Uninitialised,
        checks: "default",
        message: "allocated memory is used in what the host gets",
        lanes: nothing,
        values: |_| vec![0],
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int * uniform p = uniform new uniform int[n + 1]; // THERE
            for (uniform int i = 0; i < n; ++i) p[i] = i;
            a[0] = p[n]; // HERE
            delete p;
        }",
    },
    Fault {
        kind: FindingKind::Uninitialised,
        checks: "default",
        message: "`s` is used in what the host gets",
        lanes: nothing,
        values: |width| vec![i64::from(width)],
        from_width: 1,
        source: "struct Pair { int x, y; };
        static uniform int sum(const uniform Pair &p) { return p.x + p.y; }
        export void f(uniform int a[], uniform int n) {
            uniform Pair s;
            s.x = n;
            a[0] = sum(s); // HERE
        }",
    },
    Fault {
        kind: FindingKind::OutOfBounds,
        checks: "default",
        message: "of `a`, which has ",
        lanes: odd,
        values: |width| odd(width).iter().map(|&l| i64::from(l + 2 * width)).collect(),
        from_width: 2,
        source: "export void f(uniform int a[], uniform int n) {
            int at = (programIndex & 1) ? programIndex + 2 * n : 0;
            if (a[at] > 0) // HERE
                a[0] = 1;
        }",
    },
    Fault {
        kind: FindingKind::OutOfBounds,
        checks: "default",
        message: "write to index -1 of `a`",
        lanes: nothing,
        values: |_| vec![-1],
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int i = n;
            a[i - n - 1] = 0; // HERE
        }",
    },
    Fault {
        kind: FindingKind::NullPointer,
        checks: "default",
        message: "access through a null pointer",
        lanes: even,
        values: nothing,
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int * varying p = (programIndex & 1) ? &a[programIndex] : NULL;
            *p = 0; // HERE
        }",
    },
    Fault {
        kind: FindingKind::UseAfterFree,
        checks: "default",
        message: "access to memory that has been freed",
        lanes: nothing,
        values: nothing,
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int * uniform p = uniform new uniform int(7);
            delete p; // THERE
            a[0] = *p; // HERE
        }",
    },
    Fault {
        kind: FindingKind::UseAfterFree,
        checks: "default",
        message: "memory is freed that has been freed before",
        lanes: nothing,
        values: nothing,
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int * uniform p = uniform new uniform int(7);
            uniform int * uniform q = p;
            delete p; // THERE
            delete q; // HERE
        }",
    },
    Fault {
        kind: FindingKind::UseAfterFree,
        checks: "default",
        message: "memory is freed that has been freed before",
        lanes: |width| (1..width).collect(),
        values: nothing,
        from_width: 2,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int * uniform p = uniform new uniform int(7);
            uniform int * varying q = (a[programIndex] >= 0) ? p : NULL;
            delete q; // HERE, TWICE
        }",
    },
    Fault {
        kind: FindingKind::InactiveLane,
        checks: "default",
        message: "read lane 0, which is not active",
        lanes: odd,
        values: |width| odd(width).iter().map(|_| 0).collect(),
        from_width: 4,
        source: "export void f(uniform int a[], uniform int n) {
            int x = a[programIndex];
            if (programIndex & 1) {
                int y = broadcast(x, 0); // HERE
                a[programIndex] = y; // THERE
            }
        }",
    },
    Fault {
        kind: FindingKind::InactiveLane,
        checks: "default",
        message: "which are not active",
        lanes: odd,
        values: |width| odd(width).iter().map(|&l| i64::from((l + 1) % width)).collect(),
        from_width: 4,
        source: "export void f(uniform int a[], uniform int n) {
            int x = a[programIndex];
            if (programIndex & 1) {
                int y = rotate(x, 1); // HERE
                a[programIndex] = y; // THERE
            }
        }",
    },
    Fault {
        kind: FindingKind::StaleLane,
        checks: "default",
        message: "that was made while the lane was not active",
        lanes: even,
        values: zeros_even,
        from_width: 2,
        source: "export void f(uniform int a[], uniform int n) {
            if (programIndex & 1) {
                int x = a[programIndex]; // THERE
                unmasked {
                    a[programIndex] = x; // HERE
                }
            }
        }",
    },
    Fault {
        kind: FindingKind::ConflictingStores,
        checks: "default",
        message: "store different values to one address",
        lanes: all,
        values: |width| all(width).iter().map(|&l| i64::from(l)).collect(),
        from_width: 2,
        source: "export void f(uniform int a[], uniform int n) {
            a[programIndex / programCount] = programIndex; // HERE
        }",
    },
    Fault {
        kind: FindingKind::Race,
        checks: "default",
        message: "task 1 of `add` reads memory that task 0 of `add` writes, and nothing orders the two",
        lanes: nothing,
        values: nothing,
        from_width: 1,
        source: "task void add(uniform int a[]) {
            uniform int sum = a[0]; // HERE
            a[0] = sum + 1; // THERE
        }
        export void f(uniform int a[], uniform int n) {
            launch[2] add(a);
        }",
    },
    Fault {
        kind: FindingKind::Race,
        checks: "default",
        message: "`f` writes memory that task 0 of `one` writes",
        lanes: nothing,
        values: nothing,
        from_width: 1,
        source: "task void one(uniform int a[]) {
            a[0] = 1; // THERE
        }
        export void f(uniform int a[], uniform int n) {
            launch[1] one(a);
            a[0] = 2; // HERE
            sync;
        }",
    },
    Fault {
        kind: FindingKind::RacyBranch,
        checks: "racy_branch",
        message: "where all lanes go depends on memory for which tasks race",
        lanes: nothing,
        values: |_| vec![1],
        from_width: 1,
        source: "task void fill(uniform int a[]) {
            a[0] = 4;
        }
        export void f(uniform int a[], uniform int n) {
            launch[1] fill(a);
            uniform int kept[2];
            kept[1] = a[0] + 1; // THERE
            varying int copies = kept[1] * programCount;
            if (reduce_add(copies) > 3) { // HERE
                a[1] = 2;
            }
            sync;
        }",
    },
    Fault {
        kind: FindingKind::RacyRead,
        checks: "racy_read",
        message: "`f` reads memory that task 0 of `count` accesses atomically",
        lanes: nothing,
        values: nothing,
        from_width: 1,
        source: "task void count(uniform int a[]) {
            atomic_add_global(&a[0], 1); // THERE
        }
        export void f(uniform int a[], uniform int n) {
            launch[2] count(a);
            uniform int so_far = a[0]; // HERE
            sync;
            a[1] = so_far;
        }",
    },
    Fault {
        kind: FindingKind::Leak,
        checks: "leak",
        message: "was not freed",
        lanes: nothing,
        values: nothing,
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            uniform int * uniform p = uniform new uniform int[n]; // HERE
            p[0] = 1;
        }",
    },
    Fault {
        kind: FindingKind::UnmaskedStore,
        checks: "unmasked_store",
        message: "store inside `unmasked`, but were not active outside",
        lanes: even,
        values: nothing,
        from_width: 2,
        source: "export void f(uniform int a[], uniform int n) {
            if (programIndex & 1) {
                unmasked { a[programIndex] = 3; } // HERE
            }
        }",
    },
    Fault {
        kind: FindingKind::Overflow,
        checks: "overflow",
        message: "`mul` of i32 wraps",
        lanes: |width| (3..width).collect(),
        values: |width| (3..width).map(i64::from).collect(),
        from_width: 4,
        source: "export void f(uniform int a[], uniform int n) {
            int x = a[programIndex];
            a[programIndex] = x * 1000000000; // HERE
        }",
    },
    Fault {
        kind: FindingKind::LossyConversion,
        checks: "lossy_conversion",
        message: "a conversion from i32 to i8 changes the value",
        lanes: |width| (1..width).collect(),
        values: |width| (1..width).map(|l| i64::from(l) * 200).collect(),
        from_width: 2,
        source: "export void f(uniform int a[], uniform int n) {
            int x = a[programIndex] * 200;
            int8 y = (int8)x; // HERE
            a[programIndex] = y;
        }",
    },
    Fault {
        kind: FindingKind::Nan,
        checks: "nan",
        message: "gives NaN, and no operand is NaN (lane 0)",
        lanes: |_| vec![0],
        values: |_| vec![0],
        from_width: 1,
        source: "export void f(uniform int a[], uniform int n) {
            float x = a[programIndex];
            float y = x / x; // HERE
            a[programIndex] = (int)y;
        }",
    },
    Fault {
        kind: FindingKind::Shift,
        checks: "shift",
        message: "the count of a shift is not below the width of i32",
        lanes: |width| (32..width).collect(),
        values: |width| (32..width).map(i64::from).collect(),
        from_width: 64,
        source: "export void f(uniform int a[], uniform int n) {
            int x = a[programIndex];
            a[programIndex] = 1 << x; // HERE
        }",
    },
];

fn module(source: &str, checks: &str, width: u32) -> Module {
    let check = if checks.is_empty() { Checks::NONE } else { Checks::NONE.and(checks).unwrap() };
    let options = Options { check, width: Width::new(width).unwrap(), ..Options::default() };
    Module::compile("fault.ispc", source, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// What is found in a call of `f`.
fn found(source: &str, checks: &str, width: u32) -> Vec<Finding> {
    let module = module(source, checks, width);
    let mut a: Vec<i32> = (0..2 * width as i32).collect();
    match module.call("f", &[Value::slice_mut(&mut a), (width as i32).into()]) {
        Ok(_) | Err(CallError::Trap(_)) => {}
        Err(other) => panic!("{other}"),
    }
    module.report().findings().to_vec()
}

/// The line that ends in a comment, from 1.
fn line_of(source: &str, comment: &str) -> Option<usize> {
    source.lines().position(|line| line.ends_with(comment)).map(|at| at + 1)
}

#[test]
fn planted_faults_are_found() {
    for fault in FAULTS {
        for width in WIDTHS.into_iter().filter(|&width| width >= fault.from_width) {
            let all = found(fault.source, fault.checks, width);
            let case = format!("{} at width {width}: {all:#?}\n{}", fault.kind.name(), fault.source);
            let here = line_of(fault.source, "// HERE").or(line_of(fault.source, "// HERE, TWICE"));
            let fits = |f: &&Finding| f.kind() == fault.kind && f.place().map(|(_, line, _)| line) == here;
            let finding = all.iter().find(fits).unwrap_or_else(|| panic!("not found: {case}"));
            let data = finding.data();
            assert!(data.message.contains(fault.message), "{}\n{case}", data.message);
            assert_eq!(data.lanes, (fault.lanes)(width), "{case}");
            let values: Vec<i64> = data.values.iter().map(|&bits| as_number(data.ty, bits)).collect();
            assert_eq!(values, (fault.values)(width), "{case}");
            let there = line_of(fault.source, "// THERE").or(line_of(fault.source, "// HERE, TWICE"));
            assert_eq!(finding.related_place().map(|(_, line, _)| line), there, "{case}");
            assert!(finding.render(false).contains("fault.ispc:"), "{}", finding.render(false));
            // Nothing else is wrong with these programs, but what follows from the same fault.
            assert!(all.iter().all(|f| f.kind() == fault.kind), "{case}");
        }
    }
}

fn as_number(ty: spmdvm::Ty, bits: u64) -> i64 {
    match ty {
        spmdvm::Ty::F32 => f32::from_bits(bits as u32) as i64,
        spmdvm::Ty::I32 => i64::from(bits as i32),
        _ => bits as i64,
    }
}

#[test]
fn every_kind_is_planted() {
    for row in spmdvm::vm::check::KINDS {
        assert!(FAULTS.iter().any(|fault| fault.kind == row.kind), "{}", row.name);
        assert_eq!(Checks::by_default().has(row.kind), row.by_default);
    }
}

/// Programs without a fault, each near to one.
const CLEAN: &[&str] = &[
    // Stored on every way, or in the lanes that use it.
    "export void f(uniform int a[], uniform int n) {
        int x;
        if (programIndex & 1) x = 1; else x = 2;
        int y;
        if (programIndex & 1) y = x;
        if (programIndex & 1) a[programIndex] = y;
    }",
    // An unset operand that does not matter.
    "export void f(uniform int a[], uniform int n) {
        int x;
        bool has = (programIndex & 1) != 0;
        if (has) x = a[programIndex];
        if (has && x > 3) a[programIndex] = has ? x : 0;
        a[programIndex] = has ? x : 5;
    }",
    // Loops that lanes leave at different times.
    "export void f(uniform int a[], uniform int n) {
        int last;
        for (int i = 0; i <= programIndex; ++i) {
            int next = a[i];
            if (next == 5) continue;
            last = next;
            if (next > 20) break;
        }
        a[programIndex] = last;
    }",
    // Structs, arrays and allocations that are stored to in part and used in that part.
    "struct S { int x; float y[3]; };
    static void set(varying S &s, int v) { s.x = v; s.y[1] = v; }
    export void f(uniform int a[], uniform int n) {
        S s;
        set(s, programIndex);
        uniform int some[100];
        foreach (i = 0 ... n) some[i] = i;
        uniform int * uniform p = uniform new uniform int[n + 5];
        foreach (i = 0 ... n) p[i] = some[i];
        S t = s;
        foreach (i = 0 ... n) a[i] = p[i] + t.x;
        delete p;
    }",
    // What the library does across lanes under a mask.
    "export void f(uniform int a[], uniform int n) {
        int x = a[programIndex];
        if (programIndex & 1) {
            int below = exclusive_scan_add(x);
            int with = inclusive_scan_add(x);
            uniform int sum = reduce_add(x);
            uniform int64 many = reduce_max(x);
            int moved = shift(x, 0);
            uniform bool same = reduce_equal(x);
            a[programIndex] = below + with + sum + (int)many + moved + (int)same;
            packed_store_active(&a[n], x);
        }
    }",
    // Lanes that store the same value, and one lane after another.
    "export void f(uniform int a[], uniform int n) {
        a[programIndex / programCount] = 7;
        foreach_active (l) { a[0] = (int)l; }
        uniform int * varying p = &a[0];
        atomic_add_global(p, programIndex);
    }",
    // Tasks that store what is there already.
    "task void mark(uniform int a[]) { a[0] = 1; }
    export void f(uniform int a[], uniform int n) { launch[5] mark(a); }",
    // Tasks of which each has its own part, and what is ordered by `sync`.
    "task void part(uniform int a[]) { a[taskIndex] += taskCount; }
    task void inner(uniform int a[]) {
        launch[1] part(a + taskIndex);
        sync;
        a[taskIndex] += 1;
    }
    task void count(uniform int a[]) { atomic_add_global(&a[0], 1); }
    export void f(uniform int a[], uniform int n) {
        launch[2] part(a);
        sync;
        a[0] += a[1];
        launch[2] inner(a);
        sync;
        launch[2] count(a);
    }",
    // Recursion, references and results in memory.
    "struct Big { float v[40]; };
    static Big make(int x) { Big b; for (uniform int i = 0; i < 40; ++i) b.v[i] = x + i; return b; }
    static int fib(int x) { if (x < 2) return x; return fib(x - 1) + fib(x - 2); }
    export void f(uniform int a[], uniform int n) {
        int x = a[programIndex] & 7;
        if (x > 2) { Big b = make(x); a[programIndex] = fib(x) + (int)b.v[x]; }
    }",
];

#[test]
fn clean_programs_stay_clean() {
    for source in CLEAN {
        for width in WIDTHS {
            let all = found(source, "default", width);
            let texts: Vec<String> = all.iter().map(|f| f.render(false)).collect();
            assert!(texts.is_empty(), "at width {width}: {}\n{source}", texts.join("\n"));
        }
    }
}

#[test]
fn findings_are_counted_once_per_place() {
    let source = "static int get(int x) { return broadcast(x, 0); }
    export void f(uniform int a[], uniform int n) {
        int x = a[programIndex];
        if (programIndex > 0) {
            for (uniform int i = 0; i < 10; ++i) a[programIndex] = get(x);
            a[programIndex] = get(x);
        }
    }";
    let all = found(source, "default", 8);
    let counts: Vec<u64> = all.iter().map(|f| f.data().times).collect();
    assert_eq!(counts, [10, 1], "{all:#?}");
    let module = module(source, "default", 8);
    assert!(module.report().render(false).is_empty());
    for _ in 0..3 {
        let mut a = [0i32; 16];
        module.call("f", &[Value::slice_mut(&mut a), 8i32.into()]).unwrap();
    }
    assert_eq!(module.report().findings()[0].data().times, 30);
    assert!(module.report().render(false).contains("30 times at this place"));
}

#[test]
fn what_the_host_is_given_must_have_a_value() {
    let source = "extern \"C\" int next(int x);
    export void f(uniform int a[]) {
        int x;
        if (programIndex & 1) x = 3;
        int y = 5;
        if (programIndex & 1) y = next(x);
        y += next(x);       // HERE
        a[programIndex] = y;
    }";
    let check = Checks::NONE.and("default").unwrap();
    let options = Options { check, width: Width::new(8).unwrap(), ..Options::default() };
    let options = options.with_host_per_lane("next", |call| Ok(Some((call.get::<i32>(0)? + 1).into())));
    let module = Module::compile("host.ispc", source, &options).unwrap_or_else(|e| panic!("{e}"));
    let mut a = [0i32; 8];
    module.call("f", &[Value::slice_mut(&mut a)]).unwrap();
    assert_eq!(a, [6, 8, 6, 8, 6, 8, 6, 8]);
    let report = module.report();
    let [finding] = report.findings() else { panic!("{}", report.render(false)) };
    assert_eq!((finding.kind(), finding.data().lanes.clone()), (FindingKind::Uninitialised, even(8)));
    let text = report.render(false);
    assert!(text.contains("`x` is used by the host before anything was stored in it"), "{text}");
    assert!(text.contains(&format!("host.ispc:{}:", line_of(source, "HERE").unwrap())), "{text}");
}

#[test]
fn lanes_without_a_value_print_as_such() {
    let source = "export void f(uniform int a[], uniform int n) {
        int x, y = 1;
        uniform int never;
        if (programIndex & 1) x = a[programIndex];
        print(\"% % %|\", x, y, never);
        if (programIndex > 1) print(\"% %|\", x, a[programIndex]);
        x = 5;
        print(\"%\", x);
    }";
    for (checks, expected) in [
        ("default", "[((_)),1,((_)),3] [1,1,1,1] ((_))|[((_)),((1)),((_)),3] [((0)),((0)),2,3]|[5,5,5,5]"),
        ("", "[0,1,0,3] [1,1,1,1] 0|[((0)),((1)),0,3] [((0)),((0)),2,3]|[5,5,5,5]"),
    ] {
        let module = module(source, checks, 4);
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&printed);
        let mut a = [0, 1, 2, 3];
        let run = Run::new(&module).output(move |text| sink.lock().unwrap().push_str(text));
        run.call("f", &[Value::slice_mut(&mut a), 4.into()]).unwrap();
        assert_eq!(*printed.lock().unwrap(), expected, "{checks}");
    }
}

#[test]
fn engines_other_than_the_interpreter_are_refused() {
    let check = Checks::by_default();
    let options = Options { check, engine: Engine::Ir, ..Options::default() };
    let module = Module::compile("f.ispc", "export void f() { }", &options).unwrap();
    let error = module.call("f", &[]).unwrap_err().to_string();
    assert!(error.contains("check mode runs on the reference interpreter, not on the engine `ir`"), "{error}");
}

type Calls = fn(&Module) -> Result<(), CallError>;

/// Calls of the examples. (`python/tests/test_examples.py` checks them all, with their own inputs.)
const EXAMPLES: &[(&str, Calls)] = &[
    ("ao", |m| {
        let image = &mut [0f32; 91];
        m.call("ao", &[13i32.into(), 7i32.into(), 2i32.into(), Value::slice_mut(image)]).map(drop)
    }),
    ("bitonic_sort", |m| {
        let data = &mut numbers(64, |i| (i * 37 % 64) as f32);
        m.call("bitonic_sort", &[64i32.into(), Value::slice_mut(data)]).map(drop)
    }),
    ("histogram", |m| {
        let (data, counts) = (numbers(77, |i| (i * 37 % 101) as f32), &mut [0i32; 256]);
        let args = [77i32.into(), 0f32.into(), 100f32.into(), Value::slice(&data), Value::slice_mut(counts)];
        m.call("histogram", &args).map(drop)
    }),
    ("mandelbrot_tasks", |m| {
        let counts = &mut [0i32; 95];
        let corners = [(-2f32).into(), (-1f32).into(), 1f32.into(), 1f32.into()];
        let sizes = [19i32.into(), 5i32.into(), 30i32.into(), 2i32.into(), Value::slice_mut(counts)];
        m.call("mandelbrot_tasks", &corners.into_iter().chain(sizes).collect::<Vec<_>>()).map(drop)
    }),
    ("nbody", |m| {
        let (mass, position) = (numbers(21, |_| 1f32), &mut numbers(63, |i| (i * 37 % 63) as f32));
        let velocity = &mut [0f32; 63];
        let fixed = [21i32.into(), 0.01f32.into(), 0.1f32.into(), Value::slice(&mass)];
        let moved = [Value::slice_mut(position), Value::slice_mut(velocity)];
        m.call("nbody_step", &fixed.into_iter().chain(moved).collect::<Vec<_>>()).map(drop)
    }),
    ("noise", |m| {
        let image = &mut [0f32; 95];
        let args = [19i32.into(), 5i32.into(), 0.3f32.into(), 3i32.into(), Value::slice_mut(image)];
        m.call("turbulence", &args).map(drop)
    }),
    ("reduction", |m| {
        let data = numbers(77, |i| i as f32);
        m.call("sum", &[77i32.into(), Value::slice(&data)])?;
        m.call("extrema", &[77i32.into(), Value::slice(&data), Value::slice_mut(&mut [0f32; 2])])?;
        let data: Vec<i32> = (0..77).collect();
        m.call("prefix_sum", &[77i32.into(), Value::slice(&data), Value::slice_mut(&mut [0i32; 77])]).map(drop)
    }),
    ("spmv", |m| {
        let starts: Vec<i32> = (0..22).map(|i| 3 * i).collect();
        let columns: Vec<i32> = (0..63).map(|i| i * 5 % 21).collect();
        let (values, x, y) = (numbers(63, |_| 1f32), numbers(21, |i| i as f32), &mut [0f32; 21]);
        let matrix = [21i32.into(), Value::slice(&starts), Value::slice(&columns), Value::slice(&values)];
        let vectors = [Value::slice(&x), Value::slice_mut(y)];
        m.call("spmv", &matrix.into_iter().chain(vectors).collect::<Vec<_>>()).map(drop)
    }),
    ("stencil", |m| {
        let (a, b) = (&mut numbers(133, |i| i as f32), &mut [0f32; 133]);
        let sizes = [19i32.into(), 7i32.into(), 3i32.into(), 0.1f32.into()];
        let fields = [Value::slice_mut(a), Value::slice_mut(b)];
        m.call("heat", &sizes.into_iter().chain(fields).collect::<Vec<_>>()).map(drop)
    }),
];

fn numbers<T>(n: usize, value: impl Fn(usize) -> T) -> Vec<T> {
    (0..n).map(value).collect()
}

#[test]
fn examples_are_clean() {
    for (name, calls) in EXAMPLES {
        let source = std::fs::read_to_string(files::root().join("examples").join(format!("{name}.ispc"))).unwrap();
        for width in WIDTHS {
            let module = module(&source, "default", width);
            calls(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(module.report().render(false), "", "{name} at width {width}");
        }
    }
}

#[test]
fn programs_with_crev_are_clean() {
    let sizes = Sizes {
        book_lines: 20,
        book_length: 40,
        book_pattern: 4,
        text: 500,
        text_pattern: 5,
        graph: 20,
        tree: 2,
        numbers: 100,
    };
    for benchmark in BENCHMARKS {
        for width in [4, 16] {
            let width = Width::new(width).unwrap();
            let module =
                benchmark.compile(&Options { check: Checks::by_default(), width, ..Options::default() }).unwrap();
            for variant in benchmark.variants {
                benchmark.call(&module, variant, &(benchmark.problem)(&sizes)).unwrap();
                assert_eq!(module.report().render(false), "", "{variant} of {}", benchmark.name);
            }
        }
    }
}

/// The case files that really do what check mode looks for by default, besides those that trap; most are about it.
const DO_IT: &[(&str, FindingKind)] = &[
    ("arrays/of_zero", FindingKind::Uninitialised),
    ("arrays/of_zero_in_every_turn", FindingKind::Uninitialised),
    ("frames/struct_in_a_loop", FindingKind::Uninitialised),
    ("functions/recursion_of_one_lane", FindingKind::InactiveLane),
    ("heap/delete_in_loops", FindingKind::Uninitialised),
    ("heap/zeroed", FindingKind::Uninitialised),
    ("masks/division_gives_zero_in_inactive_lanes", FindingKind::StaleLane),
    ("masks/extract_from_inactive", FindingKind::InactiveLane),
    ("masks/load_gives_zero_in_inactive_lanes", FindingKind::StaleLane),
    ("masks/rotate_reads_inactive", FindingKind::InactiveLane),
    ("masks/scatter_conflict_highest_lane_wins", FindingKind::ConflictingStores),
    ("masks/uninitialised_in_loop", FindingKind::Uninitialised),
    ("masks/uninitialised_is_zero", FindingKind::Uninitialised),
    ("masks/varying_store_to_uniform_address", FindingKind::ConflictingStores),
    ("memory/stores_to_one_address", FindingKind::ConflictingStores),
    ("soa/nested_struct", FindingKind::Uninitialised),
    ("tasks/message_passing", FindingKind::Race),
    ("tasks/message_passing", FindingKind::RacyBranch),
    ("traps/out_of_memory", FindingKind::Uninitialised),
];

/// Every case file does the same in check mode as without, and nothing is found in it but what it really does.
#[test]
fn check_mode_changes_nothing_and_alarms_falsely_nowhere() {
    let folder = files::root().join("tests/cases");
    let mut failures = Vec::new();
    for path in files::cases() {
        let name = path.strip_prefix(&folder).unwrap_or(&path).with_extension("").display().to_string();
        let source = std::fs::read_to_string(&path).unwrap();
        match case::read(&source).and_then(|case| check_mode_agrees(&case, &name)) {
            Err(text) => failures.push(format!("{name}: {text}")),
            Ok(kinds) => {
                let found = kinds.into_iter().filter(|&kind| Checks::by_default().has(kind));
                let unlisted = found.filter(|&kind| !DO_IT.contains(&(name.as_str(), kind)));
                failures.extend(unlisted.map(|kind| format!("{name}: {} is found", kind.name())));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
