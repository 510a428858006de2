//! Programs of several sources: what linking resolves, merges, keeps apart and refuses, on every engine and width.

use spmdvm::frontend::compile::{CompileOptions, compile};
use spmdvm::vm::Width;
use spmdvm::{CallError, CompileError, Engine, JitSettings, Module, Options, Source, TrapKind, Value, vm};
use spmdvm_tests::subject::engines;
use std::sync::Arc;

/// Compiles files, given as name and text.
fn link(files: &[(&str, &str)], options: &Options) -> Result<Module, CompileError> {
    let sources: Vec<Source<'_>> = files.iter().map(|&(name, text)| Source::Text { name, text }).collect();
    Module::compile_all(&sources, options)
}

fn linked(files: &[(&str, &str)]) -> Module {
    link(files, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(files: &[(&str, &str)]) -> String {
    match link(files, &Options::default()) {
        Ok(_) => panic!("these link"),
        Err(error) => error.to_string(),
    }
}

/// Runs a check with the files linked for every engine and width, and loops compiled at once.
fn everywhere(files: &[(&str, &str)], check: impl Fn(&Module)) {
    for &engine in engines() {
        for width in Width::ALL {
            let jit = JitSettings { hot: 2, background: false, ..JitSettings::default() };
            let options = Options { engine, width, jit, ..Options::default() };
            check(&link(files, &options).unwrap_or_else(|e| panic!("{engine} {width}: {e}")));
        }
    }
}

fn int(module: &Module, name: &str, args: &[Value<'_>]) -> i64 {
    match module.call(name, args).unwrap_or_else(|e| panic!("{name}: {e}")) {
        Some(Value::Scalar { bits, .. }) => i64::from(bits as i32),
        other => panic!("{other:?}"),
    }
}

fn float(module: &Module, name: &str, args: &[Value<'_>]) -> f32 {
    match module.call(name, args).unwrap_or_else(|e| panic!("{name}: {e}")) {
        Some(Value::Scalar { bits, .. }) => f32::from_bits(bits as u32),
        other => panic!("{other:?}"),
    }
}

const SHARED_HEADER: &str = "struct Item { float weight; int count; };
inline float weigh(const uniform Item &item, float x) { return item.weight * x + item.count; }
template <typename T> T twice(T x) { return x + x; }
const uniform float scales[3] = { 1, 2, 4 };
extern uniform int calls;
extern float look_up(uniform int table, float x);
extern void note(uniform int n);
";

/// Three files that share a header and call each other in both directions.
fn three_files() -> Vec<(&'static str, String)> {
    let main = "
        static uniform int own = 10;
        static int helper(int x) { return x + 1; }
        uniform int calls = 0;
        void note(uniform int n) { calls += n; }
        export void work(uniform float x[], uniform int n) {
            uniform Item item = { 2, 1 };
            foreach (i = 0 ... n) x[i] = weigh(item, look_up(1, twice(x[i])));
        }
        export uniform int own_of_main() { own += extract(helper(own), 0); return own; }
    ";
    let tables = "
        static uniform int own = 100;
        static int helper(int x) { return x + 2; }
        static float slow(float x) { while (x > 100) x -= 1; return x; }
        float look_up(uniform int table, float x) {
            note(1);
            return slow(x * scales[table]) + twice(helper(0));
        }
        export uniform int own_of_tables() { own += extract(helper(own), 0); return own; }
    ";
    let third = "export uniform int how_often() { note(0); return calls; }";
    [("main.ispc", main), ("tables.ispc", tables), ("third.ispc", third)]
        .into_iter()
        .map(|(name, text)| (name, format!("{SHARED_HEADER}{text}")))
        .collect()
}

#[test]
fn files_call_each_other_and_share_variables() {
    let files = three_files();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    everywhere(&files, |module| {
        let mut x: Vec<f32> = (0..100).map(|i| i as f32).collect();
        module.call("work", &[Value::slice_mut(&mut x), 100i32.into()]).unwrap();
        let want = |i: usize| {
            let slow = (4.0 * i as f32).min(if i > 25 { 100.0 } else { f32::MAX });
            2.0 * (slow + 4.0) + 1.0
        };
        for (i, &got) in x.iter().enumerate() {
            assert_eq!(got, want(i), "element {i}");
        }
        let lanes = module.lanes() as i64;
        assert_eq!(int(module, "how_often", &[]), (100 + lanes - 1) / lanes);
        // Statics of the same name are two.
        assert_eq!([int(module, "own_of_main", &[]), int(module, "own_of_main", &[])], [21, 43]);
        assert_eq!(int(module, "own_of_tables", &[]), 202);
    });
}

#[test]
fn copies_from_headers_and_the_library_are_one() {
    let header = "inline float f(float x) { while (x > 1) x *= 0.5f; return sin(x); }\n";
    let user =
        |name: &str| format!("#include \"f.isph\"\nexport float {name}(float x) {{ return f(x) + reduce_add(x); }}");
    let headers = vec![("f.isph".to_owned(), header.to_owned())];
    let options = Options { headers, ..Options::default() };
    let names = ["a", "b", "c"].map(|name| (format!("{name}.ispc"), user(name)));
    let files: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let count = |module: &Module| module.program().functions.len();
    let (one, three) = (link(&files[..1], &options).unwrap(), link(&files, &options).unwrap());
    // Each further file adds its export and what maps that over arrays.
    assert_eq!(count(&three), count(&one) + 4);
    let sources: Vec<&str> = three.program().sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(sources.iter().filter(|&&name| name == "f.isph").count(), 1, "{sources:?}");
}

#[test]
fn functions_of_one_name_that_differ_stay_apart() {
    let files = [
        ("a.ispc", "#define K 1\ninline int f(int x) { return x + K; } export int a(int x) { return f(x); }"),
        ("b.ispc", "#define K 2\ninline int f(int x) { return x + K; } export int b(int x) { return f(x); }"),
        // The same text at the same place, but of another variable.
        (
            "c.ispc",
            "static uniform int k = 3; static uniform int g() { return ++k; } export uniform int c() { return g(); }",
        ),
        (
            "d.ispc",
            "static uniform int k = 7; static uniform int g() { return ++k; } export uniform int d() { return g(); }",
        ),
    ];
    everywhere(&files, |module| {
        let lanes = |name| module.call(name, &[5i32.into()]).unwrap();
        let words = |value: Option<Value<'_>>| match value {
            Some(Value::Lanes { words, .. }) => words[0],
            other => panic!("{other:?}"),
        };
        assert_eq!([words(lanes("a")), words(lanes("b"))], [6, 7]);
        assert_eq!([int(module, "c", &[]), int(module, "d", &[]), int(module, "c", &[])], [4, 8, 5]);
    });
}

#[test]
fn overloads_and_exports_of_one_name_may_come_from_several_files() {
    let files = [
        ("a.ispc", "export uniform int f(uniform int x) { return x + 1; }"),
        ("b.ispc", "export uniform float f(uniform float x) { return x + 0.5f; }"),
        (
            "c.ispc",
            "extern uniform int f(uniform int x); extern uniform float f(uniform float x);
             export uniform float both() { return f(1) + f(1.0f); }",
        ),
    ];
    everywhere(&files, |module| {
        assert_eq!(int(module, "f", &[2i32.into()]), 3);
        assert_eq!(float(module, "f", &[2.0f32.into()]), 2.5);
        assert_eq!(float(module, "both", &[]), 3.5);
    });
}

#[test]
fn masks_pass_through_files_but_not_through_c() {
    let files = [
        (
            "main.ispc",
            "extern void add(uniform int sum[]); extern \"C\" void add_all(uniform int sum[], uniform int k);
             export void run(uniform int sum[]) {
                 if (programIndex % 2 == 1) { add(sum); add_all(sum, 1); }
             }",
        ),
        (
            "other.ispc",
            "void add(uniform int sum[]) { sum[0] += popcnt(lanemask()); }
             export void add_all(uniform int sum[], uniform int k) { sum[k] += popcnt(lanemask()); }",
        ),
    ];
    everywhere(&files, |module| {
        let mut sum = [0i32; 2];
        module.call("run", &[Value::slice_mut(&mut sum)]).unwrap();
        let lanes = module.lanes() as i32;
        // With one lane no lane is odd.
        assert_eq!(sum, if lanes == 1 { [0, 0] } else { [lanes / 2, lanes] });
    });
}

#[test]
fn tasks_function_values_and_tables_cross_files() {
    let files = [
        (
            "main.ispc",
            "typedef uniform int (*Step)(uniform int);
             extern uniform int up(uniform int x); extern uniform int down(uniform int x);
             extern Step steps[2];
             extern task void fill(uniform int a[], uniform int by);
             static Step uniform own[2] = { up, down };
             export uniform int go(uniform int a[]) {
                 launch[8] fill(a, 3);
                 sync;
                 return own[0](1) * 1000 + own[1](1) * 100 + steps[0](1) * 10 + steps[1](1);
             }",
        ),
        (
            "other.ispc",
            "typedef uniform int (*Step)(uniform int);
             uniform int up(uniform int x) { return x + 1; }
             uniform int down(uniform int x) { return x - 1; }
             uniform Step steps[2] = { down, up };
             task void fill(uniform int a[], uniform int by) { a[taskIndex] = taskIndex * by; }",
        ),
    ];
    let files = files.map(|(name, text)| (name, text.replace("extern Step steps", "extern uniform Step steps")));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    everywhere(&files, |module| {
        let mut a = [0i32; 8];
        assert_eq!(int(module, "go", &[Value::slice_mut(&mut a)]), 2000 + 2);
        assert_eq!(a, [0, 3, 6, 9, 12, 15, 18, 21]);
    });
}

#[test]
fn arrays_that_are_left_open_take_their_length_from_the_definition() {
    let files = [
        ("a.ispc", "extern uniform int table[]; export uniform int at(uniform int i) { return table[i]; }"),
        ("b.ispc", "uniform int table[4] = { 1, 2, 3, 4 };"),
    ];
    everywhere(&files, |module| {
        assert_eq!(int(module, "at", &[3i32.into()]), 4);
        let Err(CallError::Trap(trap)) = module.call("at", &[4i32.into()]) else { panic!("it is out of bounds") };
        assert_eq!(trap.trap().kind, TrapKind::OutOfBounds);
        assert!(trap.trap().to_string().contains("`table`"), "{trap}");
        assert_eq!(module.global("table").unwrap().read::<i32>().unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn variables_that_nobody_defines_are_the_hosts() {
    let files = [
        ("a.ispc", "extern uniform float x[]; export uniform float first() { return x[0]; }"),
        ("b.ispc", "extern uniform float x[]; export uniform float second() { return x[1]; }"),
    ];
    everywhere(&files, |module| {
        module.global("x").unwrap().supply(vec![1.5f32, 2.5]).unwrap();
        assert_eq!(float(module, "first", &[]), 1.5);
        assert_eq!(float(module, "second", &[]), 2.5);
    });
}

#[test]
fn a_definition_stands_once() {
    let text = refused(&[
        ("a.ispc", "uniform int f(uniform int x) { return x; }"),
        ("b.ispc", "uniform int f(uniform int x) { return x + 1; }"),
    ]);
    assert!(text.contains("[E0300] Error: `f` is defined in two files"), "{text}");
    assert!(text.contains("a.ispc:1:1") && text.contains("b.ispc:1:1"), "{text}");
    let text = refused(&[("a.ispc", "uniform int n = 1;"), ("b.ispc", "uniform int n = 1;")]);
    assert!(text.contains("`n` is defined in two files") && text.contains("static"), "{text}");
    // Constants that agree are as good as one.
    linked(&[("a.ispc", "const uniform int n = 1;"), ("b.ispc", "const uniform int n = 1;")]);
    let text = refused(&[("a.ispc", "const uniform int n = 1;"), ("b.ispc", "const uniform int n = 2;")]);
    assert!(text.contains("`n` is defined in two files"), "{text}");
}

#[test]
fn types_must_agree() {
    let caller =
        |declaration: &str, call: &str| format!("{declaration}\nexport void run(uniform float p[]) {{ {call}; }}");
    let check = |declaration: &str, call: &str, other: &str, expected: &[&str]| {
        let text = refused(&[("a.ispc", &caller(declaration, call)), ("b.ispc", other)]);
        assert!(text.contains("[E0301]"), "{text}");
        for part in expected {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    };
    check(
        "extern float f(float x);",
        "p[0] = extract(f(1), 0)",
        "int f(float x) { return 1; }",
        &[
            "`f` is declared as `varying float (varying float)`, but defined as `varying int32 (varying float)`",
            "a.ispc:1",
            "b.ispc:1",
        ],
    );
    check(
        "extern \"C\" void f(uniform int x);",
        "f(1)",
        "export void f(uniform float x) { }",
        &["`f` is declared as `void (uniform int32)`, but defined as `void (uniform float)`"],
    );
    check(
        "extern uniform int n;",
        "p[0] = n",
        "uniform float n;",
        &["`uniform int32`, but defined as `uniform float`"],
    );
    check("extern uniform int n[3];", "p[0] = n[0]", "uniform int n[4];", &["`uniform int32[3]`"]);
    check(
        "extern uniform int n;",
        "p[0] = n",
        "extern uniform float n; export void other() { n = 1; }",
        &["but declared as"],
    );
    check(
        "struct S { float a; int b; }; extern void f(uniform S * uniform s);",
        "uniform S s; f(&s)",
        "struct S { int a; int b; }; void f(uniform S * uniform s) { s->b = 1; }",
        &["`S`, which `f` uses, is not the same type in two files", "one header"],
    );
    // What is known on one side only may be anything on the other.
    linked(&[
        ("a.ispc", "struct S; extern void f(S * uniform s); export void run() { f(NULL); }"),
        ("b.ispc", "struct S { int a; }; void f(S * uniform s) { }"),
    ]);
}

#[test]
fn what_is_missing_is_told_at_the_call_that_needs_it() {
    let main = "extern uniform int missing(uniform int x);
static uniform int inner(uniform int x) { return x > 0 ? missing(x) : 0; }
export uniform int needs(uniform int x) { return inner(x); }
export uniform int plain(uniform int x) { return x; }";
    let check = |module: &Module| {
        assert_eq!(int(module, "plain", &[7i32.into()]), 7);
        let Err(CallError::Compile(error)) = module.call("needs", &[0i32.into()]) else { panic!("it is missing") };
        let text = error.to_string();
        assert!(text.contains("[E0233] Error: `missing` is declared but defined nowhere"), "{text}");
        assert!(text.contains("main.ispc:2:") && text.contains("declared here"), "{text}");
        assert_eq!(module.check_linked().unwrap_err().to_string(), text);
    };
    check(&Module::compile("main.ispc", main, &Options::default()).unwrap());
    everywhere(&[("main.ispc", main)], check);
    let complete = linked(&[("main.ispc", main), ("b.ispc", "uniform int missing(uniform int x) { return -x; }")]);
    complete.check_linked().unwrap();
    assert_eq!(int(&complete, "needs", &[4i32.into()]), -4);
    // One of another signature is pointed out.
    let other =
        [("main.ispc", main), ("b.ispc", "uniform int missing(uniform float x) { return 1; }\nexport void f() { }")];
    let text = linked(&other).check_linked().unwrap_err().to_string();
    assert!(text.contains("missing(uniform float)"), "{text}");
}

#[test]
fn errors_of_all_files_are_told() {
    let text = refused(&[("a.ispc", "int f() { return x; }"), ("b.ispc", "\nint g() { return y; }"), ("c.ispc", "")]);
    assert!(text.contains("a.ispc:1:18") && text.contains("b.ispc:2:18"), "{text}");
    let warned =
        linked(&[("a.ispc", "int f() { int a = 0; return 1; }"), ("b.ispc", "\nint g() { int b = 0; return 1; }")]);
    let text = warned.render_warnings(false);
    assert!(text.contains("a.ispc:1:15") && text.contains("b.ispc:2:15"), "{text}");
}

#[test]
fn traps_name_the_file_that_they_happen_in() {
    let files = [
        (
            "a.ispc",
            "extern void poke(uniform int a[], uniform int i); export void run(uniform int a[]) { poke(a, 9); }",
        ),
        ("b.ispc", "\n\nvoid poke(uniform int a[], uniform int i) { a[i] = 1; }"),
    ];
    everywhere(&files, |module| {
        let mut a = [0i32; 4];
        let Err(CallError::Trap(trap)) = module.call("run", &[Value::slice_mut(&mut a)]) else {
            panic!("out of bounds")
        };
        assert_eq!(trap.place().map(|(file, line, _)| (file, line)), Some(("b.ispc", 3)));
        let text = trap.render(false);
        assert!(text.contains("called from run at a.ispc:1:"), "{text}");
    });
}

#[test]
fn objects_are_the_same_in_both_forms() {
    let files = three_files();
    let object = |(name, text): &(&str, String)| {
        let options = CompileOptions { object: true, ..CompileOptions::default() };
        let compilation = compile(Source::Text { name, text }, &options);
        let mut program = vm::Program::clone(&compilation.program.expect("it compiles"));
        assert!(!program.imports.is_empty() && !program.symbols.is_empty());
        vm::asm::normalize(&mut program);
        assert_eq!(vm::binary::decode(&vm::binary::encode(&program)).as_ref(), Ok(&program));
        let text = vm::asm::disassemble(&program, vm::asm::Style::Full);
        let program = vm::asm::assemble(&text).inspect(|read| assert_eq!(*read, program)).unwrap();
        Arc::new(vm::Object::new(vm::verify(program).unwrap()))
    };
    let objects: Vec<_> = files.iter().map(object).collect();
    let all = vm::link(&objects).unwrap_or_else(|e| panic!("{e:?}"));
    let module = Module::from_program(all, &Options { engine: Engine::Interp, ..Options::default() });
    let mut x = [1.0f32, 2.0, 3.0];
    module.call("work", &[Value::slice_mut(&mut x), 3i32.into()]).unwrap();
    assert_eq!(x, [17.0, 25.0, 33.0]);
    // What can be linked in one order can be in any.
    let reversed: Vec<_> = objects.iter().rev().cloned().collect();
    assert_eq!(vm::link(&reversed).unwrap().functions.len(), module.program().functions.len());
}

#[test]
fn circles_of_functions_that_are_copies_are_merged() {
    let header = "static uniform int odd(uniform int n);
        static uniform int even(uniform int n) { return n == 0 ? 1 : odd(n - 1); }
        static uniform int odd(uniform int n) { return n == 0 ? 0 : even(n - 1); }\n";
    let options = Options { headers: vec![("h.isph".to_owned(), header.to_owned())], ..Options::default() };
    let file = |name: &str, k: i32| {
        format!("#include \"h.isph\"\nexport uniform int {name}(uniform int n) {{ return {k} * even(n); }}")
    };
    let (a, b) = (file("a", 1), file("b", 2));
    let module = link(&[("a.ispc", &a), ("b.ispc", &b)], &options).unwrap();
    assert_eq!([int(&module, "a", &[6i32.into()]), int(&module, "b", &[6i32.into()])], [1, 2]);
    assert_eq!(module.program().functions.len(), 4, "{}", module.disassemble());
}
