//! Leaving compiled code, and not compiling: every exit and every reason for which a loop stays with the interpreter is
//! made to happen, which the report proves, and what comes of it is the interpreter's.

use spmdvm::jit::abort::{Abort, Defect, Stage};
use spmdvm::jit::backend::{Backend, CompileError, Executable, Limit};
use spmdvm::jit::ir::ExitReason;
use spmdvm::vm::Op;
use spmdvm::{Engine, JitSettings, Limits, Module, Options, Value};
use spmdvm_tests::agree::{Input, agree};
use spmdvm_tests::compiled::{SAXPY, jits, loops, module, native, number, run_saxpy, versions};

#[test]
fn machine_code_is_bounded() {
    native().for_each(is_bounded);
}

fn is_bounded(engine: Engine) {
    let several = "export void f(uniform float a, const uniform float x[], uniform float y[], uniform int n) {
        foreach (i = 0 ... n / 2) y[i] = a * x[i] + y[i];
        foreach (i = n / 2 ... n) y[i] = a * x[i] + y[i];
    }";
    let free = module(engine, several, JitSettings::eager());
    run_saxpy(&free, 160);
    let bytes: Vec<usize> = loops(&free).iter().flat_map(|l| &l.versions).map(|v| v.code_bytes).collect();
    assert_eq!(free.jit().unwrap().code_bytes(), bytes.iter().sum::<usize>());
    assert!(bytes.len() >= 2 && bytes.iter().all(|&b| b > 0), "{bytes:?}");

    let code_limit = bytes.iter().sum::<usize>() - 1;
    let bounded = module(engine, several, JitSettings { code_limit, ..JitSettings::eager() });
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
        let count = |v: spmdvm::jit::engine::VersionReport| -> u64 {
            let early = |&&(exit, _): &&(spmdvm::jit::ir::ExitId, u64)| {
                v.region.exits[exit.index()].reason != ExitReason::LoopEnd
            };
            v.exits.iter().filter(early).map(|(_, n)| n).sum()
        };
        versions(module).into_iter().map(count).sum()
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
        assert!(counts.len() > 4, "{engine}: {counts:?}");
    }
}

/// An exit, the body of a function that takes it, and what that body needs besides.
struct Exit {
    why: &'static str,
    text: String,
    inputs: Vec<Input>,
    /// Whether taking it ends the run.
    traps: bool,
}

fn exit(why: &'static str, body: &str) -> Exit {
    let text = format!("export void f(uniform int a[], uniform int b[], uniform int n) {{ {body} }}");
    Exit { why, text, inputs: vec![Input::default()], traps: true }
}

impl Exit {
    /// With functions and globals before it.
    fn after(self, text: &str) -> Exit {
        Exit { text: format!("{text}\n{}", self.text), ..self }
    }

    fn goes_on(self) -> Exit {
        Exit { traps: false, ..self }
    }

    fn with(self, inputs: impl IntoIterator<Item = Input>) -> Exit {
        Exit { inputs: inputs.into_iter().collect(), ..self }
    }

    fn check(&self) {
        let (left, seen) = agree(&self.text, &self.inputs);
        assert!(left.get(self.why).is_some_and(|&n| n > 0), "`{}` was not taken: {left:?}\n{}", self.why, self.text);
        let trapped = seen.iter().any(|seen| seen.ends.iter().any(Option::is_some));
        assert_eq!(trapped, self.traps, "{:?}\n{}", seen[0].ends, self.text);
    }
}

#[test]
fn loads_out_of_bounds() {
    for body in [
        // A whole vector, one element, a gather, an array of vectors by a varying index.
        "foreach (i = 0 ... n + 1) a[i & 63] = b[i];",
        "for (uniform int i = 0; i <= n; ++i) a[0] += b[i];",
        "foreach (i = 0 ... n) a[i] = b[i * 2];",
        "for (uniform int r = 0; r < 9; ++r) a[programIndex] += b[(programIndex - 1) * r];",
        // Under a mask that is never full.
        "for (uniform int r = 0; r < 9; ++r) if (programIndex < 1) a[programIndex] += b[programIndex + r * 20];",
        // Through pointers that differ.
        "for (uniform int r = 0; r < 9; ++r) { uniform int * p = &b[r * programIndex + r * 20]; a[0] += reduce_add(*p); }",
    ] {
        exit("a load is out of bounds", body).check();
    }
}

#[test]
fn stores_out_of_bounds() {
    for body in [
        "foreach (i = 0 ... n + 1) a[i] = b[i & 63];",
        "for (uniform int i = 0; i <= n; ++i) a[i] = b[0];",
        "foreach (i = 0 ... n) a[i * 2] = b[i];",
        "for (uniform int r = 0; r < 9; ++r) a[(programIndex - 1) * r] = b[programIndex];",
        "for (uniform int r = 0; r < 9; ++r) if (programIndex < 1) a[programIndex + r * 20] = r;",
        "for (uniform int r = 0; r < 9; ++r) { uniform int * p = &a[r * programIndex + r * 20]; *p = r; }",
    ] {
        exit("a store is out of bounds", body).check();
    }
}

#[test]
fn divisors_and_assertions() {
    let zero = |at: usize| {
        let mut input = Input::default();
        input.b[at] = 0;
        input
    };
    let zeros = || [0, 3, 37, 79].map(zero);
    exit("a divisor is zero", "foreach (i = 0 ... n) a[i] = 100 / b[i];").with(zeros()).check();
    exit("a divisor is zero", "foreach (i = 0 ... n) { a[i] = 1; if (i & 1) a[i] %= b[i]; }").with(zeros()).check();
    let one = "for (uniform int i = 0; i < n; ++i) { a[i] = 5; a[i] = 100 / b[i]; }";
    exit("the divisor is zero", one).with(zeros()).check();
    exit("an assertion fails", "foreach (i = 0 ... n) { a[i] = 2; assert(b[i] != 0); }").with(zeros()).check();
    exit("an assertion fails", "for (uniform int i = 0; i < n; ++i) { a[i] = 2; assert(b[i] != 0); }")
        .with(zeros())
        .check();
}

#[test]
fn polls() {
    let few = |fuel| Input { limits: Limits { fuel: Some(fuel), ..Limits::default() }, ..Input::default() };
    exit("poll", "for (uniform int i = 0; i < n; ++i) foreach (j = 0 ... n) a[j] += b[i];")
        .with((0..40).map(few))
        .check();
}

#[test]
fn what_is_left_to_the_interpreter() {
    let round = "for (uniform int i = 0; i < 20; ++i)";
    let ways = [
        (
            "a call that is linked",
            "static uniform int fib(uniform int k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); }",
            "a[i] = fib(i / 2);",
        ),
        (
            "a call that is linked",
            "typedef uniform int (* uniform F)(uniform int);\nstatic uniform int one(uniform int k) { return k + 1; }
            static uniform int two(uniform int k) { return k * 2; }",
            "F g = b[i] < 3 ? &one : &two; a[i] = g(i);",
        ),
        (
            "launch",
            "task void t(uniform int a[], uniform int i) { a[i + taskIndex] += i; }",
            "a[i] = 1; launch[3] t(a, i);",
        ),
    ];
    for (why, before, body) in ways {
        exit(why, &format!("{round} {{ {body} }}")).after(before).goes_on().check();
    }
    let twice = "uniform int * uniform p = uniform new uniform int[4]; p[1] = i; a[i] += p[1]; delete p; if (i == 11) delete p;";
    exit("free", &format!("{round} {{ {twice} }}")).check();
    exit("abort", &format!("{round} {{ a[i] = 7; if (i == 11) abort(); a[i] = 8; }}")).check();
}

/// How often each operation was left to the interpreter.
fn left_to_the_interpreter(module: &Module, op: Op) -> u64 {
    let exits = |v: spmdvm::jit::engine::VersionReport| -> u64 {
        let is_by = |exit: spmdvm::jit::ir::ExitId| v.region.exits[exit.index()].reason == ExitReason::Operation(op);
        v.exits.iter().filter(|(exit, _)| is_by(*exit)).map(|(_, n)| n).sum()
    };
    versions(module).into_iter().map(exits).sum()
}

#[test]
fn handlers_are_called_without_leaving() {
    for (op, body) in [
        (Op::Fence, "a[i] += 1; memory_barrier();"),
        (Op::ThreadCount, "a[i] = num_cores();"),
        (Op::ThreadIndex, "a[i] = threadIndex;"),
        (Op::Alloc, "uniform int * uniform p = uniform new uniform int[4]; p[1] = i; a[i] += p[1];"),
    ] {
        let text = format!(
            "task void t(uniform int a[], uniform int n) {{ for (uniform int i = 0; i < n; ++i) {{ {body} }} }}
            export void f(uniform int a[], uniform int n) {{ launch[1] t(a, n); }}"
        );
        for engine in jits() {
            let module = module(engine, &text, JitSettings::eager());
            let mut a = [0i32; 50];
            module.call("f", &[Value::slice_mut(&mut a), 50.into()]).unwrap();
            assert_eq!(left_to_the_interpreter(&module, op), 0, "{op:?}, {engine}");
            assert!(versions(&module).iter().any(|v| v.entries > 0), "{op:?}, {engine}");
        }
    }
}

/// With several threads, tasks are launched and waited for from within compiled code, but for what waits.
#[test]
fn tasks_are_launched_without_leaving() {
    let text = "task void put(uniform int a[], uniform int at) { a[at] = at * 3; }
        export void f(uniform int a[], uniform int n) {
            for (uniform int i = 0; i < n; ++i) {
                sync;
                a[n] += i;
            }
            for (uniform int i = 0; i < n; ++i)
                launch[1] put(a, i);
        }";
    for engine in jits() {
        let options = Options { engine, jit: JitSettings::eager(), threads: Some(3), ..Options::default() };
        let module = Module::compile("test.ispc", text, &options).unwrap();
        const N: usize = 500;
        for round in 1..4 {
            let mut a = [0i32; N + 1];
            module.call("f", &[Value::slice_mut(&mut a), (N as i32).into()]).unwrap();
            assert!(a[..N].iter().zip(0..).all(|(&x, i)| x == 3 * i), "{engine}: {a:?}");
            assert_eq!(a[N], (N * (N - 1) / 2) as i32);
            assert_eq!(left_to_the_interpreter(&module, Op::Sync), 0, "{engine}: there is nothing to wait for");
            // The first one of each call makes the memory one of several threads.
            assert!(left_to_the_interpreter(&module, Op::Launch) <= round, "{engine}, {round}");
        }
    }
}

#[test]
fn handlers_that_trap() {
    let round = "for (uniform int i = 0; i < 20; ++i)";
    for (name, call) in [
        ("atomic.add", "atomic_add_global(&a[i * 7], 1)"),
        ("atomic.sub", "atomic_subtract_global(&a[i * 7], 1)"),
        ("atomic.and", "atomic_and_global(&a[i * 7], 6)"),
        ("atomic.or", "atomic_or_global(&a[i * 7], 1)"),
        ("atomic.xor", "atomic_xor_global(&a[i * 7], 1)"),
        ("atomic.min", "atomic_min_global(&a[i * 7], 4)"),
        ("atomic.max", "atomic_max_global(&a[i * 7], 4)"),
        ("atomic.swap", "atomic_swap_global(&a[i * 7], 4)"),
        ("atomic.cas", "atomic_compare_exchange_global(&a[i * 7], 7, 4)"),
        ("mem.copy", "memcpy(&a[i * 5], &b[0], 16)"),
        ("mem.copy", "memcpy(&b[0], &a[i * 5], 16)"),
        ("mem.copy", "memcpy(&a[i * 5], &b[0], 16 + i)"),
        ("mem.set", "memset(&a[i * 5], 3, 16)"),
        ("mem.set", "memset(&a[i * 5], 3, 16 + i)"),
        ("print", "{ const uniform int8 * uniform s = (const uniform int8 * uniform)&a[i * 5]; print(\"%s|\", s); }"),
    ] {
        exit(name, &format!("{round} {{ a[0] += 1; {call}; }}")).check();
    }
    let poor = Limits { memory: Some(1000), ..Input::default().limits };
    let poor = Input { limits: poor, ..Input::default() };
    exit("alloc", &format!("{round} {{ uniform int * uniform p = uniform new uniform int[8 * i + 1]; a[i] = p[i]; }}"))
        .with([poor])
        .check();
}

/// A pointer in memory is overwritten, half by half, in a loop that has been using it.
#[test]
fn pointers_that_change() {
    let change = "struct Arrays { uniform int *uniform from; uniform int *uniform other; };
        noinline void copy(uniform Arrays *uniform arrays, uniform int to[], uniform int n) {
            uniform int *uniform words = (uniform int *uniform)arrays;
            for (uniform int i = 0; i < n; ++i) {
                to[i] += arrays->from[i];
                if (i == n / 2)
                    for (uniform int k = 0; k < 2; ++k) words[k] = words[k + 2];
            }
        }";
    let body = "uniform Arrays arrays = { b, b + 3 }; copy(&arrays, a, n - 3);";
    exit("another pointer than before", body).after(change).goes_on().check();
}

/// A pointer that is loaded while a frame exists leads to an array for a while, and then to that frame, which has ended where it is used.
#[test]
fn frames_that_have_ended() {
    let functions = "struct Kept { uniform int *uniform to; }; uniform Kept kept[4];
        inline uniform int *uniform keep(uniform int at, uniform int from, uniform int k, uniform int &sum) {
            uniform int part[16];
            part[k & 7] = k;
            kept[at].to = part;
            uniform int *uniform loaded = kept[from].to;
            sum += loaded[k & 7];
            return loaded;
        }
        noinline void once(uniform int a[], uniform int from, uniform int k) {
            uniform int sum = 0;
            uniform int *uniform after = keep(1, from, k, sum);
            a[0] += sum + after[k & 7];
        }
        noinline void rounds(uniform int a[], uniform int from, uniform int k) {
            uniform int sum = 0;
            uniform int *uniform after = keep(1, from, k, sum);
            for (uniform int i = 0; i < k; ++i) a[0] += sum + after[i & 7];
        }";
    for name in ["once", "rounds"] {
        let body = format!("kept[2].to = b; a[79] += 1; {name}(a, a[79] > 100 ? 1 : 2, a[79] & 15);");
        let calls = Input { calls: 30, ..Input::default() };
        exit("a load is out of bounds", &body).after(functions).with([calls]).check();
    }
}

/// The first calls never go the rare way.
#[test]
fn ways_that_were_never_taken() {
    let text = "export void f(uniform int a[], uniform int b[], uniform int n) {
        foreach (i = 0 ... n) { if (b[i] == 99) a[i] -= 5; else a[i] += 1; }
    }";
    for engine in jits() {
        let settings = JitSettings { hot: 5, background: false, ..JitSettings::default() };
        let module = module(engine, text, settings);
        let (mut a, mut b) = (vec![0i32; 640], vec![0i32; 640]);
        let call = |a: &mut Vec<i32>, b: &mut Vec<i32>| {
            module.call("f", &[Value::slice_mut(a), Value::slice_mut(b), 640.into()]).unwrap();
        };
        (0..4).for_each(|_| call(&mut a, &mut b));
        b[200] = 99;
        call(&mut a, &mut b);
        assert!(a.iter().enumerate().all(|(i, &x)| x == if i == 200 { -1 } else { 5 }), "{a:?}");
        let mut left = Default::default();
        spmdvm_tests::agree::count(&module, &mut left);
        assert!(left.get("a way that was never taken before").is_some_and(|&n| n > 0), "{left:?}");
    }
}

/// Runs a program on a JIT with these settings and gives why its loops are not compiled. Results are the interpreter's.
fn reasons(engine: Engine, text: &str, jit: JitSettings, calls: usize) -> Vec<Abort> {
    let input = Input { calls, ..Input::default() };
    let expected = spmdvm_tests::agree::run(&module(Engine::Interp, text, JitSettings::default()), &input);
    let module = module(engine, text, jit);
    assert_eq!(spmdvm_tests::agree::run(&module, &input), expected, "{text}");
    loops(&module).into_iter().filter_map(|l| l.aborted).collect()
}

/// Calls, never made, of functions whose frames are larger together than any stack.
fn deep() -> String {
    let function = |k: usize| {
        let next = if k == 8 { String::new() } else { format!("s += f{}(k + 1);", k + 1) };
        format!(
            "noinline uniform int f{k}(uniform int k) {{
                varying int big[3000000]; uniform int s = k; big[k] = k; {next}
                return s + reduce_add(big[s & 7]);
            }}"
        )
    };
    let functions: String = (0..=8).rev().map(function).collect();
    format!(
        "{functions} export void f(uniform int a[], uniform int b[], uniform int n) {{
            for (uniform int i = 0; i < n; ++i) {{ if (b[i] == 77) a[i] = f0(i); else a[i] += 1; }}
        }}"
    )
}

#[test]
fn loops_that_are_not_compiled_say_why() {
    let head = "export void f(uniform int a[], uniform int b[], uniform int n) {";
    let large: String = (0..700).map(|k| format!("x = x * {} + (x >> {}) + a[(x & 63)];", k + 3, k % 7 + 1)).collect();
    let large = format!("{head} foreach (i = 0 ... n) {{ int x = i; {large} a[i] = x & 15; }} }}");
    let short = format!("{head} uniform int s = 0; for (uniform int i = 0; i < 2; ++i) s += n; a[0] = s; }}");
    // Each attempt finds out that one more register differs between lanes.
    let chain: String = (1..40).rev().map(|k| format!("v{k} = v{};", k - 1)).collect();
    let names: String = (1..40).map(|k| format!(", v{k} = 0")).collect();
    let chain = format!(
        "{head} foreach (i = 0 ... n) {{ int v0 = 0{names};
        for (uniform int k = 0; k < 20; ++k) {{ {chain} v0 = a[i]; }} a[i] = v39; }} }}"
    );
    let trial = JitSettings { trial: 10, ..JitSettings::eager() };
    for engine in jits() {
        let eager = JitSettings::eager();
        // It is cut into regions, be there labels or not.
        assert_eq!(reasons(engine, &large, eager.clone(), 1), []);
        let came = reasons(engine, &short, trial.clone(), 20);
        assert!(came.contains(&Abort::TooShort), "{came:?}");
        assert!(reasons(engine, &chain, eager.clone(), 1).contains(&Abort::Unsettled));
        assert_eq!(reasons(engine, &deep(), eager.clone(), 1), [Abort::TooDeep]);
    }
}

#[test]
fn behind_what_only_the_interpreter_does_compiled_code_goes_on() {
    let text = "extern \"C\" uniform int next(uniform int x);
    export uniform int f(uniform int n) {
        uniform int s = 0;
        for (uniform int i = 0; i < n; ++i) { s += i; s = next(s); }
        return s;
    }";
    for engine in jits() {
        let options = Options { engine, jit: JitSettings { trial: 10, ..JitSettings::eager() }, ..Options::default() };
        let options = options.with_host("next", |call| Ok(Some((call.get::<i32>(0)? + 1).into())));
        let module = Module::compile("test.ispc", text, &options).unwrap();
        assert_eq!(number(&module, &[100.into()]), (0..100).sum::<i32>() + 100);
        assert!(loops(&module).iter().all(|l| l.aborted.is_none()), "{}", module.jit_text(spmdvm::Show::default()));
        assert!(left_to_the_interpreter(&module, Op::HostCall) > 50);
    }
}

/// A back end that cannot, and one that panics.
struct Refuses(bool);

impl Backend for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }

    fn compile(&self, _: std::sync::Arc<spmdvm::jit::ir::Region>) -> Result<Box<dyn Executable>, CompileError> {
        assert!(!self.0, "a defect");
        Err(CompileError::TooLarge(Limit::Code))
    }
}

#[test]
fn a_back_end_that_fails_leaves_the_loop_to_the_interpreter() {
    use spmdvm::vm::{Arg, Machine, PreparedProgram};
    let text = "export uniform int f(uniform int n) { uniform int s = 0; for (uniform int i = 0; i < n; ++i) s += i * i; return s; }";
    let module = module(Engine::Interp, text, JitSettings::default());
    let defect = Abort::Defect(Defect::Panicked(Stage::BackEnd));
    for (panics, expected) in [(false, Abort::Backend(CompileError::TooLarge(Limit::Code))), (true, defect)] {
        let jit = spmdvm::jit::Jit::new(Box::new(Refuses(panics)), JitSettings::eager());
        let prepared = PreparedProgram::traced(module.verified(), jit.clone(), 0);
        let mut machine = Machine::new(prepared, spmdvm::vm::Limits::default()).unwrap();
        let function = module.exports()[0].function;
        let result = machine.call(function, &[Arg::Word(100)], u64::MAX).unwrap().lanes(0).words[0];
        assert_eq!(result, 328_350);
        assert_eq!(jit.report()[0].aborted, Some(expected));
    }
}

/// Tasks of several threads share the memory, in which no number of a region is used again.
#[test]
fn calls_for_which_there_is_no_region_left() {
    // With memory of whose number the program learns, and with memory that nobody enters as long as there are others.
    for (lets_out, kept) in [(2, "kept = &part[0];"), (0, "")] {
        no_region_is_left(lets_out, kept);
    }
}

fn no_region_is_left(lets_out: u64, kept: &str) {
    use spmdvm::vm::{Arg, Limits, Machine, PreparedProgram};
    let text = &format!(
        "uniform int * uniform kept = NULL;
        noinline uniform int one(uniform int k) {{
            uniform int part[8]; {kept} part[k & 7] = k; return part[k & 3] + 1;
        }}
        uniform int sum = 0;
        task void t(uniform int n) {{ for (uniform int k = 0; k < n; ++k) sum += one(k); }}
        export void f(uniform int n) {{ launch[1] t(n); sync; }}
        export uniform int peek() {{ return sum; }}"
    );
    let limits = Limits { threads: 2, ..Limits::default() };
    let module = module(Engine::Interp, text, JitSettings::default());
    let function = |name: &str| module.exports().iter().find(|e| e.name == name).expect("an export").function;
    let run = |prepared: PreparedProgram| {
        let mut machine = Machine::new(prepared, limits).unwrap();
        let mut seen = Vec::new();
        for n in [50, 50, 3] {
            let end = machine.call(function("f"), &[Arg::Word(n)], u64::MAX).map(|_| ());
            let sum = machine.call(function("peek"), &[], u64::MAX).unwrap().lanes(0).words[0];
            seen.push((end.map_err(|trap| trap.to_string()), sum));
            // There is room for the first call.
            machine.memory().use_up_regions();
        }
        seen
    };
    let expected = run(PreparedProgram::new(module.verified()));
    assert!(
        expected[0].0.is_ok() && expected[1].0.as_ref().is_err_and(|e| e.contains("out of memory")),
        "{expected:?}"
    );
    for engine in jits() {
        let backend = spmdvm::jit::backend(engine.name()).unwrap();
        let jit = spmdvm::jit::Jit::new(backend, JitSettings::eager());
        assert_eq!(run(PreparedProgram::traced(module.verified(), jit.clone(), 0)), expected);
        let versions = jit.report().into_iter().flat_map(|l| l.versions);
        let left = |v: spmdvm::jit::engine::VersionReport| {
            let no_region =
                |exit: &spmdvm::jit::ir::ExitId| v.region.exits[exit.index()].reason == ExitReason::NoRegion;
            v.exits.iter().filter(|(exit, _)| no_region(exit)).map(|(_, n)| n).sum::<u64>()
        };
        assert_eq!(versions.map(left).sum::<u64>(), lets_out);
    }
}
