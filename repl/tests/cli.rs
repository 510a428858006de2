//! The command line as a user meets it: output, messages and exit codes of whole commands.

mod folder;

use folder::{Folder, SCALE};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn spmdvm(args: &[&str]) -> Output {
    command(args).output().expect("the command starts")
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.args(args).env("HOME", std::env::temp_dir()).env_remove("RUST_BACKTRACE");
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn succeeds(args: &[&str]) -> String {
    let output = spmdvm(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// Fails with this exit code, and gives what it says.
#[track_caller]
fn fails(code: i32, args: &[&str]) -> String {
    let output = spmdvm(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn run_shows_arrays_and_results() {
    let folder = Folder::new("run");
    let file = folder.file("scale.ispc", SCALE);
    let shown = succeeds(&["run", text(&file), "--entry", "scale", "iota:f32:5", "5", "2"]);
    assert_eq!(shown, "a: f32[5] = [0, 2, 4, 6, 8]\n");
    let shown = succeeds(&["run", text(&file), "-e", "total", "n=4", "a=[1,2,3,4]"]);
    assert!(shown.starts_with("result = 10\n"), "{shown}");
}

#[test]
fn run_gives_json() {
    let folder = Folder::new("json");
    let file = folder.file("scale.ispc", SCALE);
    let shown = succeeds(&["--json", "run", text(&file), "-e", "total", "[1,2,3]", "3"]);
    assert!(shown.contains("\"result\":6"), "{shown}");
}

#[test]
fn values_in_memory_and_pointers_are_shown() {
    let folder = Folder::new("record");
    let source = "struct Ray { uniform float origin[2]; uniform int8 depth; void *uniform data; };
        export uniform Ray start(uniform float<3> v) { uniform Ray ray = { { v.x, v.y }, 3, NULL }; return ray; }
        export uniform float<2> pair(uniform float x) { uniform float<2> v = { x, -x }; return v; }
        export uniform int *uniform second(uniform int *uniform a) { return a == NULL ? NULL : a + 1; }";
    let file = folder.file("record.ispc", source);
    let run = |args: &[&str]| succeeds(&[&["run", text(&file), "-e"], args].concat());
    assert_eq!(run(&["start", "v=[1,2,3]"]).lines().next(), Some("result = {origin = [1, 2], depth = 3, data = null}"));
    assert_eq!(run(&["pair", "x=1.5"]), "result = [1.5, -1.5]\n");
    assert!(run(&["second", "a=[1,2]"]).starts_with("result = a + 4 bytes\n"));
    assert_eq!(run(&["second", "a=null"]), "result = null\n");
    let json = run(&["start", "v=[1,2,3]", "--json"]);
    assert!(json.contains(r#""result":{"data":"null","depth":3,"origin":[1,2]}"#), "{json}");
}

#[test]
fn npy_files_go_in_and_out() {
    let folder = Folder::new("npy");
    let file = folder.file("scale.ispc", SCALE);
    let out = folder.path.join("out.npy");
    let save = format!("a={}", text(&out));
    succeeds(&["run", text(&file), "-e", "scale", "iota:f32:6", "6", "10", "-o", &save]);
    let input = format!("@{}", text(&out));
    let shown = succeeds(&["run", text(&file), "-e", "scale", &input, "6", "0.5"]);
    assert_eq!(shown, "a: f32[6] = [0, 5, 10, 15, 20, 25]\n");
    // The file itself is not changed.
    let again = succeeds(&["run", text(&file), "-e", "scale", &input, "6", "1"]);
    assert_eq!(again, "a: f32[6] = [0, 10, 20, 30, 40, 50]\n");
    let bad = folder.file("bad.npy", "no numbers here");
    let said = fails(2, &["run", text(&file), "-e", "scale", &format!("@{}", text(&bad)), "6", "1"]);
    assert!(said.contains("is not a .npy file"), "{said}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let folder = Folder::new("meant");
    let file = folder.file("scale.ispc", SCALE);
    let (file, bytecode) = (text(&file), folder.path.join("scale.spmdb"));
    succeeds(&["--width", "4", "disasm", file, "-o", text(&bytecode)]);
    let call = ["-e", "scale", "iota:f32:4", "4", "1"];
    let run = |file, more: &[&str]| fails(2, &[&["run", file][..], &call, more].concat());
    assert!(run(file, &["--width", "4", "--mask", "0b10001"]).contains("more lanes than the 4"));
    assert!(run(text(&bytecode), &["--width", "8"]).contains("the bytecode is for 4 lanes, not 8"));
    succeeds(&[&["run", text(&bytecode)][..], &call, &["--mask", "0xf"]].concat());
    let said = run(file, &["-o", "a=numbers.txt"]);
    assert!(said.contains("end in .npy, .npz or .png, not .txt"), "{said}");
    assert!(fails(2, &["explain", "out_of_bound"]).contains("did you mean `out_of_bounds`?"));
    assert!(fails(2, &["explain", "W2O8"]).contains("lists all"));
    let said = fails(2, &["compare", file, "--call", "scale(a=iota:4, n=4, k=1)", "--cmd", "backend '{source}"]);
    assert!(said.contains("a quote (') is not closed"), "{said}");
    let trace = |place: &[&str]| stderr(&spmdvm(&[&["trace", file][..], &call, place].concat()));
    assert!(trace(&["--line", "99"]).contains("nothing of line 99 was executed"));
    assert!(trace(&["--function", "scael"]).contains("nothing of `scael` was executed"));
    assert_eq!(trace(&["--function", "scale"]), "");
    let said = stderr(&spmdvm(&["-I", "/no/such/folder", "check", file]));
    assert!(said.contains("warning: -I: there is no folder /no/such/folder"), "{said}");
}

#[test]
fn wrong_arguments_are_explained() {
    let folder = Folder::new("arguments");
    let file = folder.file("scale.ispc", SCALE);
    let file = text(&file);
    assert!(fails(2, &["run", file]).contains("choose a function with --entry"));
    assert!(fails(2, &["run", file, "-e", "nothing"]).contains("no function `nothing`"));
    assert!(fails(2, &["run", file, "-e", "scale", "iota:f32:4"]).contains("needs a value for `n`"));
    assert!(fails(2, &["run", file, "-e", "scale", "iota:f32:4", "x", "1"]).contains("no such value"));
    assert!(fails(2, &["run", file, "-e", "scale", "iota:i32:4", "4", "1"]).contains("expects an array of f32"));
    assert!(fails(2, &["run", file, "-e", "scale", "iota:f32:4", "4", "1", "9"]).contains("takes 3 arguments"));
    assert!(fails(2, &["run", "missing.ispc"]).contains("cannot read missing.ispc"));
    assert!(fails(2, &["--width", "5", "run", file]).contains("the width is one of"));
}

#[test]
fn a_trap_points_at_the_source() {
    let folder = Folder::new("trap");
    let file = folder.file("scale.ispc", SCALE);
    let said = fails(3, &["run", text(&file), "-e", "scale", "iota:f32:20", "21", "1"]);
    assert!(said.contains("out_of_bounds") && said.contains("scale.ispc:2"), "{said}");
    assert!(said.contains("index 20 of `a`, which has 20 elements"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colours when not on a terminal: {said:?}");
}

#[test]
fn limits_stop_endless_loops() {
    let folder = Folder::new("limits");
    let file = folder.file("loop.ispc", "export void f() { while (true) { } }");
    assert!(fails(3, &["run", text(&file), "--fuel", "1000"]).contains("out_of_fuel"));
    assert!(fails(3, &["run", text(&file), "--timeout", "0.05"]).contains("timeout"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_run() {
    let folder = Folder::new("interrupt");
    let file = folder.file("loop.ispc", "export void f() { print(\"go\\n\"); while (true) { } }");
    let mut child = command(&["run", text(&file)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // Wait until the program runs, then send what Ctrl-C sends.
    let mut first = [0u8; 2];
    std::io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut first).expect("it prints");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let start = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("interrupted"), "{}", stderr(&output));
}

#[test]
fn check_reports_all_errors_and_data() {
    let folder = Folder::new("check");
    let good = folder.file("good.ispc", SCALE);
    succeeds(&["check", text(&good)]);
    let bad = folder.file("bad.ispc", "export void f() {\n    int x = y;\n    uniform int u = programIndex;\n}\n");
    let said = fails(1, &["check", text(&bad)]);
    assert!(said.contains("bad.ispc:2") && said.contains("bad.ispc:3"), "{said}");
    let output = spmdvm(&["--json", "check", text(&bad)]);
    let data = stdout(&output);
    assert!(data.contains("\"line\":2") && data.contains("\"severity\":\"error\""), "{data}");
}

#[test]
fn a_compilation_that_takes_too_long_is_stopped() {
    let folder = Folder::new("slow");
    let statements: String = (0..20_000).map(|i| format!("x = x * 3 + {i};\n")).collect();
    let file = folder.file("slow.ispc", format!("export int f(int x) {{\n{statements}return x;\n}}\n"));
    for command in ["check", "run", "disasm"] {
        let said = fails(3, &["--timeout", "0.001", command, text(&file)]);
        assert!(said.contains("longer than the timeout"), "{command}: {said}");
    }
}

#[test]
fn check_includes_what_the_owner_may_read() {
    let folder = Folder::new("includes");
    std::fs::create_dir_all(folder.path.join("src/deep")).expect("folders");
    folder.file("shared.isph", "#include \"values.isph\"\nstatic uniform int shared() { return VALUE; }\n");
    folder.file("values.isph", "#pragma once\n#define VALUE 7\n");
    let deep = folder.file("src/deep/deep.isph", "#include \"../../values.isph\"\n");
    let main = folder.file(
        "src/main.ispc",
        "#include \"deep/deep.isph\"\n#include \"../shared.isph\"\nexport uniform int f() { return shared(); }\n",
    );
    assert_eq!(succeeds(&["run", text(&main)]), "result = 7\n");
    let said = fails(1, &["check", "--sandbox-includes", text(&main)]);
    assert!(said.contains("E0013") && said.contains("deep.isph:1"), "{said}");
    succeeds(&["check", "--sandbox-includes", "-I", text(&folder.path), text(&main)]);
    let rules = succeeds(&["check", "--depends", text(&main)]);
    let lines: Vec<&str> = rules.lines().collect();
    assert_eq!(lines.len(), 4, "{rules}");
    assert_eq!(lines[0], format!("{}: \\", text(&main)));
    assert_eq!(lines[1], format!("  {} \\", text(&deep)));
    assert!(lines[3].ends_with("src/../shared.isph"), "{rules}");
    let json = succeeds(&["--json", "check", "--depends", text(&main)]);
    assert!(json.contains("\"includes\":[") && json.contains("deep.isph"), "{json}");
    let bad = folder.file("src/bad.ispc", "\n#include \"missing.isph\"\nexport void f() { nothing(); }\n");
    let said = fails(1, &["check", "--depends", text(&bad)]);
    assert!(said.contains("E0012") && !said.contains("nothing"), "{said}");
}

#[test]
fn check_reads_arguments_from_files() {
    let folder = Folder::new("arguments");
    folder.file("n.isph", "#define N 3\n");
    let main = folder.file(
        "a b.ispc",
        "#include <n.isph>\n#if N != 3 || M != 4 || TARGET_WIDTH != 8\n#error no\n#endif\nexport void f() {}\n",
    );
    let inner = folder.file("inner.txt", "--width 8 -DM=4\n");
    let list = folder.file("all.txt", format!("-I '{}'\n@{}\n\"{}\"", text(&folder.path), text(&inner), text(&main)));
    succeeds(&["check", &format!("@{}", text(&list))]);
    assert!(fails(1, &["check", text(&main)]).contains("E0015"));
    let loops = folder.file("loop.txt", format!("@{}/loop.txt", text(&folder.path)));
    assert!(fails(2, &["check", &format!("@{}", text(&loops))]).contains("more than 10 deep"));
    assert!(fails(2, &["check", "@/no/such/file"]).contains("there is no such file"));
}

#[test]
fn check_reads_compilation_databases() {
    let folder = Folder::new("database");
    std::fs::create_dir_all(folder.path.join("src")).expect("a folder");
    std::fs::create_dir_all(folder.path.join("include")).expect("a folder");
    folder.file("include/n.isph", "#define N 3\n");
    let one = "#include \"n.isph\"\n#if N != 3 || M != 1 || TARGET_WIDTH != 8\n#error no\n#endif\n";
    folder.file("src/one.ispc", one);
    folder.file("src/two.ispc", "#ifndef TWO\n#error TWO is missing\n#endif\n");
    let entry = |file: &str, rest: &str| format!("{{\"directory\": \"src\", \"file\": \"{file}\", {rest}}}");
    let commands = [
        entry("one.ispc", "\"command\": \"ispc -I../include -D M --target=avx2-i32x8 one.ispc -o one.o\""),
        entry("host.cpp", "\"command\": \"c++ -c host.cpp\""),
        entry("two.ispc", "\"arguments\": [\"ispc\", \"-DTWO=a b\", \"two.ispc\"]"),
        entry("one.ispc", "\"command\": \"ispc one.ispc\""),
    ];
    let list = folder.file("compile_commands.json", format!("[{}]", commands.join(",")));
    succeeds(&["check", "--all", text(&list)]);
    let said = fails(1, &["check", "--width", "4", "--all", text(&list)]);
    assert!(said.contains("src/one.ispc") && said.contains("1 file does not compile"), "{said}");
    for (text_of_list, message) in [
        ("nonsense", "this is no JSON"),
        ("{}", "this is no list"),
        ("[{}]", "entry 0 has no `file`"),
        ("[]", "none of its entries"),
        ("[{\"file\": \"a.ispc\", \"command\": \"ispc -D1\"}]", "cannot be the name of a macro"),
        ("[{\"file\": \"a.ispc\", \"command\": \"ispc -I\"}]", "not followed by a folder"),
    ] {
        let list = folder.file("wrong.json", text_of_list);
        let said = fails(2, &["check", "--all", text(&list)]);
        assert!(said.contains(message) && said.contains("wrong.json"), "{said}");
    }
}

const HOST_TYPES: &str = "enum Colour { Red, Green = 5 };
struct Opaque;
struct Node;
struct Vec { float x, y; uniform int n; };
struct Deep { Vec v[3]; Colour c; uniform float<3> p; uniform int8<5> q; bool flag; Opaque * o; int8 name[8]; Node * node; };
struct Node { Node * uniform next; void * data; Deep deep; uniform double pair[2][3]; };
struct Lanes { varying int a; varying bool b; };
struct Packed { int8 a; int b; } __attribute__((packed));
struct Aligned { int a; } __attribute__((aligned(64)));
typedef struct { int64 a; } Named;
typedef void (*Callback)(void * uniform, uniform int);
export { Packed, Aligned };
struct Inner { int a; };
export uniform bool f(uniform float a[], const uniform int n, uniform Vec &v, const uniform Deep * uniform d, uniform Colour c) {
    return n > 0;
}
export void g(uniform int m[][4], const uniform float<3> w[], void * uniform p, uniform Node nodes[], const uniform int8 t[],
              uniform uint64 s, uniform Named &named, uniform Lanes &lanes, varying float v[], varying Inner * uniform inner) { }
export void *uniform make(uniform float * uniform * uniform pp, uniform int (&three)[3]) { return NULL; }
export void nothing() { }
task void work() { }
export void twice(uniform number x) { }
";

/// A C or C++ program that uses the header of [`HOST_TYPES`] and asks for the layouts that it describes.
const HOST: &str = "#include \"types.h\"
#include \"types.h\"
#include <stddef.h>
#ifdef __cplusplus
using namespace ispc;
#define CHECK(x) static_assert(x, #x)
#else
#define CHECK(x) _Static_assert(x, #x)
#endif
CHECK(sizeof(struct Vec) == 12);
CHECK(offsetof(struct Deep, p) == 48 && offsetof(struct Deep, q) == 64 && offsetof(struct Deep, flag) == 72);
CHECK(sizeof(struct Packed) == 5 && sizeof(struct Aligned) == 64 && sizeof(struct Named) == 8);
CHECK(offsetof(struct Lanes, b) == 32 && sizeof(struct Lanes) == 64);
CHECK(sizeof(struct v8_varying_Inner) == 32);
CHECK(Green == 5);
int main(void) { struct Vec v = { 1, 2, 3 }; return v.n != 3; }
";

#[test]
fn headers_declare_exports_for_c() {
    let folder = Folder::new("header");
    let file = folder.file("types.ispc", HOST_TYPES);
    let header = folder.path.join("types.h");
    let printed = succeeds(&["header", "--width", "8", text(&file)]);
    succeeds(&["header", "--width", "8", text(&file), "-o", text(&header)]);
    assert_eq!(std::fs::read_to_string(&header).expect("a header"), printed);
    insta::assert_snapshot!("header", printed);
    for (compiler, standard, name) in [("cc", "-std=c11", "host.c"), ("c++", "-std=c++17", "host.cpp")] {
        let host = folder.file(name, HOST);
        let mut command = Command::new(compiler);
        command.args([standard, "-Wall", "-Werror", "-fsyntax-only", text(&host)]);
        // Machines without a compiler have the snapshot.
        if let Ok(output) = command.output() {
            assert!(output.status.success(), "{compiler}: {}", stderr(&output));
        }
    }
    let bad = folder.file("bad.ispc", "export void f() { nothing; }");
    assert!(fails(1, &["header", text(&bad)]).contains("E0200"));
    assert!(fails(2, &["header", "no.ispc"]).contains("there is no such file"));
}

#[test]
fn check_gives_hints_unless_told_not_to() {
    let folder = Folder::new("hints");
    let program =
        "export void f(uniform int a[], uniform int n) {\n    foreach (i = 0 ... n)\n        a[a[i]] = i;\n}\n";
    let file = folder.file("scatter.ispc", program);
    let said = |args: &[&str]| {
        let output = spmdvm(args);
        assert!(output.status.success(), "{output:?}");
        stdout(&output) + &String::from_utf8_lossy(&output.stderr)
    };
    let hints = said(&["check", text(&file)]);
    assert!(hints.contains("W0901") && hints.contains("scatter.ispc:3:9"), "{hints}");
    assert_eq!(said(&["check", "--no-hints", text(&file)]), "");
    assert!(said(&["--json", "check", text(&file)]).contains("\"code\":\"W0901\""));
    assert!(!said(&["run", text(&file), "iota:i32:64", "64"]).contains("W09"));
}

#[test]
fn bytecode_round_trips_through_files() {
    let folder = Folder::new("bytecode");
    let file = folder.file("scale.ispc", SCALE);
    assert!(succeeds(&["disasm", text(&file)]).contains("func scale"));
    let asm = folder.path.join("scale.spmdasm");
    succeeds(&["disasm", text(&file), "-o", text(&asm)]);
    let binary = folder.path.join("scale.spmdb");
    succeeds(&["asm", text(&asm), "-o", text(&binary)]);
    let shown = succeeds(&["run", text(&binary), "-e", "scale", "iota:f32:5", "5", "2"]);
    assert_eq!(shown, "a: f32[5] = [0, 2, 4, 6, 8]\n");
    let mut bytes = std::fs::read(&binary).expect("it was written");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&binary, bytes).expect("it can be written");
    assert!(fails(1, &["run", text(&binary), "-e", "scale"]).contains("not a valid bytecode file"));
    let wrong = folder.file("wrong.spmdasm", "func f() {\n  nonsense\n}\n");
    assert!(fails(1, &["asm", text(&wrong)]).contains("wrong.spmdasm"));
}

#[test]
fn trace_marks_inactive_lanes() {
    let folder = Folder::new("trace");
    let file = folder.file(
        "t.ispc",
        "export void f(uniform int a[]) {\n    if (programIndex > 1)\n        a[programIndex] = 7;\n}\n",
    );
    let table = succeeds(&["--width", "4", "trace", text(&file), "zeros:4"]);
    assert!(table.lines().any(|line| line.contains("store") && line.ends_with("•  •  ✓  ✓")), "{table}");
}

#[test]
fn stages_can_be_dumped() {
    let folder = Folder::new("dump");
    let file = folder.file("scale.ispc", SCALE);
    for stage in ["tokens", "ast", "hir", "bytecode"] {
        assert!(!succeeds(&["check", "--dump", stage, text(&file)]).is_empty(), "{stage}");
    }
    assert!(fails(2, &["check", "--dump", "nothing", text(&file)]).contains("there is no stage `nothing`"));
}

#[test]
fn compiled_loops_are_shown_and_explained() {
    let folder = Folder::new("explain");
    let file = folder.file("twice.ispc", "export void f(uniform float a[], uniform int n) {\n    for (uniform int r = 0; r < 500; ++r)\n        foreach (i = 0 ... n)\n            a[i] *= 0.5f;\n}\n");
    let run = |more: &[&str]| {
        succeeds(&[&["run", "-q", "--engine", "ir", text(&file), "zeros:f32:1000", "1000"], more].concat())
    };
    let shown = run(&["--dump", "stats,trace,ir"]);
    assert!(shown.contains("loop in `f`") && shown.contains("traces compiled in"), "{shown}");
    let explained = run(&["--explain", "4"]);
    assert!(explained.starts_with("line 4: a[i] *= 0.5f;\n") && explained.contains("compiled"), "{explained}");
    assert!(
        fails(2, &["run", "-q", text(&file), "zeros:f32:10", "10", "--explain", "40"]).contains("line 40 has no code")
    );
}

#[test]
fn codes_are_explained() {
    assert!(succeeds(&["explain", "e0101"]).starts_with("E0101: "));
    assert!(succeeds(&["explain", "division_by_zero"]).contains("divided an integer by zero"));
    assert!(succeeds(&["explain"]).contains("out_of_bounds"));
    assert!(fails(2, &["explain", "E9999"]).contains("neither a diagnostic nor a trap nor a finding"));
}

#[test]
fn engines_that_are_not_there_say_so() {
    let folder = Folder::new("engine");
    let file = folder.file("scale.ispc", SCALE);
    let total = ["--engine", "x86", "run", text(&file), "-e", "total", "[1,2,4]", "3"];
    if spmdvm::tools::available("x86").is_ok() {
        assert!(succeeds(&total).starts_with("result = 7\n"));
    } else {
        let said = fails(2, &total);
        assert!(said.contains("the engine `x86` cannot make code for this machine: it needs "), "{said}");
    }
    assert!(fails(2, &["--engine", "fast", "run", text(&file)]).contains("there is no engine `fast`"));
}

/// What the shell answers to some lines, on standard output and standard error together per stream.
fn shell(lines: impl AsRef<[u8]>) -> (String, String) {
    let mut child = command(&["repl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("piped").write_all(lines.as_ref()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", stderr(&output));
    (stdout(&output), stderr(&output))
}

#[test]
fn the_shell_keeps_variables_and_functions() {
    let (out, err) =
        shell(":width 4\nint x = programIndex + 1;\nint twice(int a) {\n  return 2 * a;\n}\nx = twice(x);\nx\n");
    assert!(out.contains("x: varying int32 = 1 2 3 4"), "{out}");
    assert!(out.trim_end().ends_with("varying int32 = 2 4 6 8"), "{out}");
    assert_eq!(err, "");
}

#[test]
fn the_shell_survives_mistakes() {
    let (out, err) =
        shell("1 +\n)\nnothing\n1 / (programIndex - 3)\n:nonsense\n:type 1.5\nint f(int a) { return a }\n1 + 1\n");
    assert!(out.trim_end().ends_with('2'), "{out}");
    for part in ["nothing", "division_by_zero", "there is no command"] {
        assert!(err.contains(part), "{part}: {err}");
    }
    assert!(!err.contains("panicked"), "{err}");
}

#[test]
fn inputs_end_where_nothing_is_missed() {
    let (out, err) =
        shell("99999999999999999999\n2 + 2\nstruct P { float x; float y; }\nenum E { A, B }\nP p = {1, 2}; p.y\n");
    assert!(
        out.contains("4\n") && out.trim_end().ends_with("varying float = 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2"),
        "{out}"
    );
    assert!(err.contains("does not fit into 64 bits") && !err.contains("expected `;`"), "{err}");
    // What is no text ends nothing.
    let (out, err) = shell(b"\xff\n1 + 1\n");
    assert!(out.trim_end().ends_with('2') && err.contains("E0001"), "{out}{err}");
}

#[cfg(unix)]
#[test]
fn programs_come_from_pipes() {
    let mut child = command(&["run", "/dev/stdin", "-e", "f", "--", "20"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
    let program = b"export uniform int f(uniform int x) { return 2 * x + 2; }\n";
    child.stdin.take().expect("piped").write_all(program).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && stdout(&output).contains("42"), "{}", stdout(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = command(&["gen", "--seed", "1"]).stdout(full).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.starts_with("error: cannot write standard output: ") && said.lines().count() == 1, "{said}");
}

#[test]
fn the_shell_answers_commands() {
    let (out, err) =
        shell(":help\nfloat y;\n:vars\n:type y * 2\n:reset\n:vars\nexport void g() { }\n:disasm g\n:quit\n1+1\n");
    assert!(out.contains(":width [N]") && out.contains("varying float") && out.contains("func g"), "{out}");
    assert!(!out.contains("\n2\n"), ":quit leaves: {out}");
    assert_eq!(err, "");
}

/// Figure 6 of the paper gives the rows of its figure 7 (all of them are compared in the tests of `vm`).
#[test]
fn usimd_prints_the_table_of_figure_7() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/usimd/figure6.usimd");
    let table = succeeds(&["usimd", example, "--width", "4", "--trace"]);
    assert!(table.contains("     v2 = 4 * (tid + 1)  v2    4  *  * 16  ✓ • • ✓\n"), "{table}");
    assert!(table.contains("Loop jmp_mask v8, Call         T  T  T  T  ✓ ✓ ✓ ✓\n"), "{table}");
    assert!(table.ends_with(" 0: 1 1 1 1 3 2 4 5 1 5 6 1 2 3 1 7\n16: 2 4 5 1\n"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&succeeds(&["usimd", example, "--trace", "--json"])).expect("JSON");
    assert_eq!(json["trace"].as_array().map(Vec::len), Some(38));
    assert_eq!(json["shared"][7], 5);
    assert!(fails(3, &["usimd", example, "--width", "8"]).contains("written for 4 threads, not for 8"));
}

#[test]
fn usimd_points_at_what_is_wrong() {
    let folder = Folder::new("usimd");
    let said = |name: &str, program: &str, code: i32, more: &[&str]| {
        let file = folder.file(name, program);
        fails(code, &[&["usimd", text(&file)], more].concat())
    };
    let label = said("label.usimd", "v = 0\n bz v, done\nDone: stop\n", 1, &[]);
    assert!(label.contains("[unknown_label]") && label.contains("did you mean `Done`?"), "{label}");
    let open = said("open.usimd", "v = 1\neverywhere\nbz v, L\nend_everywhere\nL: stop\n", 1, &[]);
    assert!(open.contains("the path: line 2 `everywhere` → line 3 `bz v, L` → line 5 `stop` → the end"), "{open}");
    let lost = said(
        "lost.usimd",
        "x = 1\nv = tid % 2\nbz v, L\neverywhere\ny = shfl(x, 0)\nz = y\nend_everywhere\nL: sync\n",
        3,
        &[],
    );
    assert!(lost.contains("[undefined_value]") && lost.contains("from thread 0, outside the mask"), "{lost}");
    let endless = said("endless.usimd", "L: jmp L\n", 3, &["--fuel", "100"]);
    assert!(endless.contains("has not ended after 100 instructions"), "{endless}");
}

/// The file is cut off while the program waits for its last element to change.
#[cfg(unix)]
#[test]
fn a_mapped_file_that_shrinks_is_an_error() {
    let folder = Folder::new("shrinks");
    let program = folder.file(
        "wait.ispc",
        "export void f(uniform int a[], uniform int n) { print(\"waiting\\n\"); while (a[n - 1] != 0) {} }",
    );
    let out = folder.path.join("ones.npy");
    let fill =
        folder.file("fill.ispc", "export void f(uniform int a[], uniform int n) { foreach (i = 0 ... n) a[i] = 1; }");
    let (program, fill) = (program.display().to_string(), fill.display().to_string());
    succeeds(&["run", &fill, "zeros:i32:1000000", "1000000", "-o", &format!("a={}", out.display())]);
    let argument = format!("@{}", out.display());
    let mut child = command(&["run", &program, &argument, "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut first = [0u8; 8];
    std::io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut first).expect("it prints");
    assert_eq!(&first, b"waiting\n");
    std::fs::OpenOptions::new().write(true).open(&out).and_then(|file| file.set_len(4096)).expect("cut off");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("ones.npy was cut off while the program ran"), "{}", stderr(&output));
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_spmdvm"))
        .args(["disasm", concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/ao.ispc")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spmdvm runs");
    // Closed before anything can be read.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("spmdvm ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!error.contains("panicked"), "{error}");
}

#[test]
fn several_sources_are_one_program() {
    let folder = Folder::new("link");
    let main = folder.file(
        "main.ispc",
        "#include \"half.isph\"\nexport void halve(uniform float a[], uniform int n) { foreach (i = 0 ... n) a[i] = half(a[i]); }\n",
    );
    folder.file("half.isph", "extern float half(float x);\n");
    let half = folder.file("half.ispc", "#include \"half.isph\"\nfloat half(float x) { return x / 2; }\n");
    // By itself the file is in order, but it cannot run.
    succeeds(&["check", "--no-hints", text(&main)]);
    let said = fails(1, &["run", text(&main), "[2,4]", "2"]);
    assert!(said.contains("[E0233] Error: `half` is declared but defined nowhere"), "{said}");
    assert!(said.contains("--with FILE") && said.contains("half.isph:1:1"), "{said}");
    assert_eq!(fails(1, &["check", "--link", "--no-hints", text(&main)]), said + "the files cannot be linked\n");
    assert_eq!(fails(0, &["check", "--link", "--no-hints", text(&main), text(&half)]), "");
    let shown = succeeds(&["run", text(&main), "--with", text(&half), "[2,4]", "2"]);
    assert_eq!(shown, "a: f32[2] = [1, 2]\n");
    let traced = succeeds(&["trace", text(&main), "--with", text(&half), "[2,4]", "2"]);
    assert!(traced.contains("half"), "{traced}");
    let twice = folder.file("twice.ispc", "float half(float x) { return 0.5f * x; }\n");
    let said = fails(1, &["run", text(&main), "--with", text(&half), "--with", text(&twice), "[2,4]", "2"]);
    assert!(said.contains("[E0300]") && said.contains("half.ispc:2:1") && said.contains("twice.ispc:1:1"), "{said}");
    let json = spmdvm(&["check", "--json", "--link", "--no-hints", text(&main), text(&half), text(&twice)]);
    assert!(stdout(&json).contains("\"code\":\"E0300\"") && json.status.code() == Some(1), "{}", stdout(&json));
    let bytecode = folder.path.join("half.spmdb");
    succeeds(&["disasm", text(&half), "-o", text(&bytecode)]);
    assert!(fails(2, &["run", text(&main), "--with", text(&bytecode), "[2]", "1"]).contains("is bytecode"));
    assert!(fails(2, &["run", text(&main), "--with", "nowhere.ispc", "[2]", "1"]).contains("cannot read nowhere.ispc"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_shared_library_provides_functions() {
    let folder = Folder::new("host");
    let program = folder.file(
        "root.ispc",
        "extern \"C\" uniform double floor(uniform double x);\n\
         export uniform double down(uniform double x) { return floor(x); }\n",
    );
    let said = fails(1, &["run", text(&program), "2.5"]);
    assert!(said.contains("[E0233]") && said.contains("provide it from the host"), "{said}");
    assert_eq!(succeeds(&["run", "--host", "libm.so.6", text(&program), "2.5"]), "result = 2\n");
    succeeds(&["trace", "--host", "libm.so.6", text(&program), "2.5"]);
    let said = fails(2, &["run", "--host", "libnowhere.so.9", text(&program), "2.5"]);
    assert!(said.contains("--host") && said.contains("libnowhere.so.9"), "{said}");
}

#[test]
fn check_mode() {
    let folder = Folder::new("check_mode");
    let faulty = folder.file(
        "faulty.ispc",
        "export void f(uniform int a[]) {
    int x;
    if (programIndex & 1)
        x = a[programIndex];
    a[programIndex] = x;
}
",
    );
    let faulty = faulty.to_str().unwrap();
    let said = fails(1, &["run", "--check", "--width", "8", faulty, "iota:i32:8"]);
    let expected =
        "[uninitialised] Check: `x` is used in what the host gets before anything was stored in it (lanes 0, 2, 4, 6)";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.contains("5 │     a[programIndex] = x;") && said.ends_with("1 finding\n"), "{said}");
    let output = spmdvm(&["run", "--check=default,nan", "--json", "--width", "4", faulty, "iota:i32:8"]);
    let data: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let finding = &data["findings"][0];
    assert_eq!((finding["kind"].as_str(), finding["place"]["line"].as_u64()), (Some("uninitialised"), Some(5)));
    assert_eq!((&finding["lanes"], &finding["values"]), (&serde_json::json!([0, 2]), &serde_json::json!([0, 0])));
    // Without check mode, and without faults, there is nothing to report.
    succeeds(&["run", faulty, "iota:i32:16"]);
    succeeds(&["run", "--check=race", faulty, "iota:i32:16"]);
    // A trap is told too.
    let said = fails(3, &["run", "--check", faulty, "iota:i32:8"]);
    assert!(said.contains("[out_of_bounds] Check: ") && said.contains("[out_of_bounds] Trap: "), "{said}");
    assert!(fails(2, &["run", "--check=rase", faulty]).contains("there is no check `rase`"));
    assert!(fails(2, &["run", "--check", "--engine", "ir", faulty, "iota:i32:16"]).contains("check mode runs on"));
    assert!(succeeds(&["explain", "stale_lane"]).contains("under another mask"));
}
