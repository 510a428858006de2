//! What inputs mean, one after another: each row is what is typed and what is said, or a part of it.

mod folder;

use folder::Folder;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

/// Types inputs one after another, and checks what each is answered: `contains` texts, or nothing at all for an empty one.
fn check(name: &str, exchanges: &[(&str, &str)]) {
    let folder = Folder::new(name);
    folder.file("halves.ispc", b"struct Pair { float a, b; };\nuniform int calls = 0;\n#define HALF 0.5f\nfloat half(float x) { ++calls; return x * HALF; }\n");
    folder.file("session.txt", b":let v = arange(4)\nint w = v[programIndex % 4];\n");
    let (mut output, writer) = std::io::pipe().expect("a pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_spmdvm"))
        .args(["--width", "4", "repl"])
        .current_dir(&folder.path)
        .env("HOME", &folder.path)
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().expect("a handle"))
        .stderr(writer)
        .spawn()
        .expect("the command starts");
    let script: String = exchanges.iter().map(|(typed, _)| format!("{typed}\nprint(\"@@@\\n\");\n")).collect();
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it listens");
    assert!(child.wait().expect("it ends").success());
    let mut said = String::new();
    output.read_to_string(&mut said).expect("text");
    let mut answers = said.split("@@@\n");
    for (typed, expected) in exchanges {
        let answer = answers.next().unwrap_or_default();
        let fits = if expected.is_empty() { answer.is_empty() } else { answer.contains(expected) };
        assert!(fits, "{typed}\nis answered:\n{answer}\nand not: {expected}");
    }
}

#[test]
fn stepping_asks_for_its_own_commands_and_changes_nothing() {
    check(
        "stepping",
        &[
            ("int x = programIndex;", "x: varying int32 = 0 1 2 3"),
            (
                ":step if (x > 2) x *= 10; else x += 1;\n:next\n:next\n:back\n:where\n:quit",
                "wrote x[0]: 3 → 30 by lane 3",
            ),
            ("x", "varying int32 = 0 1 2 3"),
            (":debug x * 2\n:nonsense\n:quit", "there is no command"),
            (":step", "`:step` takes CODE"),
            (":step x + nope", "there is no `nope` here"),
            (":step float f(float a) { return a; }", "there is nothing in it that runs"),
            ("x", "varying int32 = 0 1 2 3"),
        ],
    );
}

#[test]
fn definitions_again() {
    check(
        "again",
        &[
            ("struct S { int a; };", ""),
            ("S s = {3};", ".a: varying int32 = 3 3 3 3"),
            // The value of the old struct means nothing in the new one.
            ("struct S { float b, c; };", ""),
            ("s.c", "varying float = 0 0 0 0"),
            ("int x = 1;", "x: varying int32 = 1 1 1 1"),
            ("float x = 2.5;", "x: varying float = 2.5 2.5 2.5 2.5"),
            ("int f(int a) { return 1; }", ""),
            ("float f(float a) { return 2; }", ""),
            ("f(1) + f(1.0f)", "varying float = 3 3 3 3"),
            ("int f(int b) { return 10; }", ""),
            ("f(1) + f(1.0f)", "varying float = 12 12 12 12"),
            ("int f(varying int b) { return 20; }", ""),
            ("f(1)", "varying int32 = 20 20 20 20"),
            // A variable in the place of functions, and the other way round.
            ("int f = 4;", "f: varying int32 = 4 4 4 4"),
            ("f", "varying int32 = 4 4 4 4"),
            ("uniform int f() { return 5; }", ""),
            ("f()", "uniform int32 = 5"),
            ("#define N 3", ""),
            ("N", "uniform int32 = 3"),
            ("#define N 4", ""),
            ("uniform int a[N];", "uniform int32[4] = {0, 0, 0, 0}"),
            ("const uniform int M = N + 1, K = 2;", ""),
            ("uniform int b[M];", "uniform int32[5]"),
            ("M = 3;", "cannot be assigned"),
            ("template <typename T> T twice(T x) { return x + x; }", ""),
            ("twice<int>(4)", "= 8"),
            ("typedef float<3> vec;", ""),
            ("uniform vec v = {1, 2, 3};", "{1, 2, 3}"),
            ("v.zyx", "{3, 2, 1}"),
        ],
    );
}

#[test]
fn a_failed_input_changes_nothing() {
    check(
        "nothing",
        &[
            ("int x = 1; uniform int a[3] = {1, 2, 3};", "{1, 2, 3}"),
            ("x = 2; a[0] = 9; int y = 3; a[7] = 1;", "out of bounds"),
            ("x", "= 1 1 1 1"),
            ("a", "{1, 2, 3}"),
            ("y", "there is no `y` here"),
            ("int g() { return 1; } nothing;", "there is no `nothing` here"),
            ("g()", "there is no `g` here"),
            ("assert(x > 1);", "assertion failed"),
            ("float x = 1 / 0;", "division by zero"),
            ("x", "varying int32 = 1 1 1 1"),
            ("struct T { int x; }; T t; t.y", "no member"),
            ("T u;", "E"),
            (":width 8", "8 lanes"),
            (":let x = zeros(0)", "from 1 on"),
            ("x", "= 1 1 1 1 1 1 1 1"),
            (":load nosuch.ispc", "there is no such file"),
            (":reset", ""),
            ("x", "there is no `x` here"),
        ],
    );
}

#[test]
fn memory_between_inputs() {
    check(
        "memory",
        &[
            ("uniform float a[4] = {1, 2, 3, 4};", "{1, 2, 3, 4}"),
            (
                "uniform float *uniform p = &a[1]; uniform float *q = &a[programIndex];",
                "q: uniform float * varying = &a[0] &a[1] &a[2] &a[3]",
            ),
            // Variables that come between change addresses, and nothing else.
            ("uniform int aa[100]; uniform int ab = 3;", "ab: uniform int32 = 3"),
            ("*p = 20; aa[3] = 1;", ""),
            ("*q", "varying float = 1 20 3 4"),
            ("p", "&a[1]"),
            ("p = NULL;", ""),
            ("p", "null"),
            ("*p", "null"),
            ("uniform int *uniform h = uniform new uniform int(5);", "gone"),
            ("*h", "Trap"),
            ("int add(int a, int b) { return a + b; }", ""),
            ("int (*uniform op)(int, int) = add;", "add"),
            ("op(1, 2)", "varying int32 = 3 3 3 3"),
            ("uniform int count() { static uniform int n = 0; return ++n; }", ""),
            ("count() + count()", "uniform int32 = 3"),
            ("count()", "uniform int32 = 3"),
            ("extern uniform int limit;", "limit: uniform int32"),
            ("limit", "without a value"),
            (":let limit = 12", "has a value now"),
            ("limit * 2", "uniform int32 = 24"),
        ],
    );
}

#[test]
fn files_and_sessions() {
    check(
        "files",
        &[
            (":load halves.ispc", "loaded"),
            ("half(5)", "varying float = 2.5 2.5 2.5 2.5"),
            ("calls", "uniform int32 = 1"),
            ("HALF", "uniform float = 0.5"),
            ("Pair p = {1, 2};", ".b: varying float = 2 2 2 2"),
            ("float half(float x) { return -x; }", ""),
            ("half(5)", "varying float = -5 -5 -5 -5"),
            (":load session.txt", "loaded"),
            ("w", "varying int32 = 0 1 2 3"),
            ("#include \"halves.ispc\"", ""),
        ],
    );
}

#[test]
fn questions() {
    check(
        "questions",
        &[
            (":type x", "there is no `x` here"),
            (":type 1 + 1.5", "uniform float"),
            (":let x = arange(100)", "uniform int32[100]  0 … 99  mean 49.5"),
            (":time foreach (i = 0 ... 100) x[i] += 1;", "ns per element (100 of `x`)"),
            ("x[1]", "uniform int32 = 1"),
            (":ir foreach (i = 0 ... 100) x[i] += 1;", "region"),
            (":explain foreach (i = 0 ... 100) x[i] += 1;", "line 1: foreach"),
            (":check int a[2]; a[programIndex]", "out of bounds"),
            (":disasm x[2]", "func __prompt"),
            (":trace nothing", "there is no `nothing` here"),
            (":compare 3", "the widths are some of"),
            (":compare 4,8 programIndex == programCount - 1", "depends on the width: lane 3"),
            (":engine nonsense", "choose one of"),
            (":image x", "an array of rows"),
            (":save x x.npy", "x.npy: i32[100]"),
            (":let y = load(\"x.npy\")", "y: uniform int32[100]"),
            (":let y = load(\"scale.ispc\")", "is not a .npy file"),
            (":mask 0", "no lane would be active"),
            (":mask programIndex == 2", "1 of 4"),
            ("programIndex", "((0)) ((1)) 2 ((3))"),
            (":mask all", "4 of 4"),
            (":examples 4", "uniform int64 = 6"),
            (":examples 99", "numbers 1 to"),
            (":doc sinn", "did you mean `sin`?"),
            (":e", "may be"),
            (":vars", "x: uniform int32[100]"),
            ("sin", "The sine of x"),
        ],
    );
}
