//! Bad input of every kind, to the command line and in programs: each ends with a message, which the snapshots show,
//! and never in a panic. A line of a table is a command, as one types it; its files are made by `Folder::new`.

mod folder;

use folder::Folder;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Runs every command of a table in the folder; gives what each says, with its exit code.
fn transcript(folder: &Folder, commands: &[&str]) -> String {
    let all: Vec<String> = commands.iter().map(|command| said(folder, command)).collect();
    all.join("\n")
}

fn said(folder: &Folder, command: &str) -> String {
    let output = spmdvm(folder).args(words(command)).output().expect("the command starts");
    // Included files are named by their whole path; zero bytes would make a snapshot no text.
    let here = folder.path.display().to_string();
    let (code, text) = (output.status.code(), text(&output).replace(&here, "HERE").replace('\0', "␀"));
    assert!(matches!(code, Some(0..=3)), "`{command}` ended with {:?}: {text}", output.status);
    assert_ne!(code, Some(0), "`{command}` succeeds: {text}");
    assert!(!text.trim().is_empty(), "`{command}` says nothing");
    assert!(!text.contains("panicked"), "`{command}`: {text}");
    format!("$ spmdvm {command}\n{text}[exit code {}]\n", code.unwrap_or_default())
}

fn spmdvm(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.current_dir(&folder.path).env("HOME", &folder.path).env_remove("RUST_BACKTRACE");
    command
}

fn text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The words of a command: blanks separate them, quotes hold them together.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("never empty").push(c),
        }
    }
    words
}

#[test]
fn options() {
    let folder = Folder::new("options");
    let commands = [
        "frobnicate",
        "run",
        "check",
        "run scale.ispc --no-such-option",
        "run scale.ispc --timeout",
        "--width 0 check scale.ispc",
        "--width 5 check scale.ispc",
        "--width 128 check scale.ispc",
        "--width wide check scale.ispc",
        "--width 8,16 run scale.ispc",
        "--engine fast check scale.ispc",
        "--engine interp,ir run scale.ispc",
        "--fp sloppy check scale.ispc",
        "--fuel -1 run loop.ispc",
        "--fuel much run loop.ispc",
        "--fuel 99999999999999999999999 run loop.ispc",
        "--timeout -1 run loop.ispc",
        "--timeout nan run loop.ispc",
        "--timeout soon run loop.ispc",
        "--memory 2**70 run loop.ispc",
        "--memory 1GB run loop.ispc",
        "--threads 0 run loop.ispc",
        "--threads x run loop.ispc",
        "--jit hot run loop.ispc",
        "--jit hot=x run loop.ispc",
        "--jit heat=1 run loop.ispc",
        "-D 1x=2 check scale.ispc",
        "-D '' check scale.ispc",
        "--dump nothing check scale.ispc",
        "--dump nothing run scale.ispc",
        "run scale.ispc --mask 0b12",
        "run scale.ispc --mask 0x11112222333344445",
        "run scale.ispc -e total [1] 1 --explain x",
        "run scale.ispc -e total [1] 1 --explain 999",
        "run scale.ispc -e total [1] 1 -o a",
        "run scale.ispc -e total [1] 1 -o b=b.npy",
        "run scale.ispc -e total [1] 1 -o a=nowhere/a.npy",
        "run scale.ispc -e scale [1] 1 1 -o result=a.npy",
        "run scale.ispc",
        "run scale.ispc --entry nothing",
        "run empty.ispc",
        "trace scale.ispc -e total [1] 1 --rows x",
        "trace scale.ispc -e total [1] 1 --line 0x",
        "explain E9999",
        "conform scale.ispc --skip",
    ];
    insta::assert_snapshot!(transcript(&folder, &commands));
}

#[test]
fn files() {
    let folder = Folder::new("files");
    let commands = [
        "check nosuch.ispc",
        "check scale.ispc nosuch.ispc",
        "check --json nosuch.ispc",
        "check --dump ast nosuch.ispc",
        "run nosuch.ispc",
        "run --dump hir nosuch.ispc",
        "trace nosuch.ispc",
        "disasm nosuch.ispc",
        "asm nosuch.spmdasm",
        "usimd nosuch.usimd",
        "repl nosuch.ispc",
        "conform nosuch",
        "check folder",
        "run folder",
        "trace folder",
        "disasm folder",
        "asm folder",
        "usimd folder",
        "repl folder",
        "conform folder",
        "check ''",
        "check scale.ispc/x",
        "check latin1.ispc",
        "run latin1.ispc",
        "asm latin1.spmdasm",
        "run latin1.spmdasm",
        "usimd latin1.usimd",
        "repl latin1.ispc",
        "check zeros.ispc",
        "run cut.spmdb",
        "disasm garbage.spmdb",
        "asm wrong.spmdasm",
        "run wrong.spmdasm",
        "disasm scale.ispc -o nowhere/out.spmdb",
        "asm good.spmdasm -o folder",
        "usimd scale.ispc",
    ];
    insta::assert_snapshot!(transcript(&folder, &commands));
}

#[test]
fn arguments() {
    let folder = Folder::new("arguments");
    let commands = [
        "run scale.ispc -e scale",
        "run scale.ispc -e scale iota:f32:4",
        "run scale.ispc -e scale iota:f32:4 4 1 9",
        "run scale.ispc -e scale iota:f32:4 4 k=1 k=2",
        "run scale.ispc -e scale iota:f32:4 4 q=1",
        "run scale.ispc -e scale iota:f32:4 many 1",
        "run scale.ispc -e scale iota:f32:4 2.5 1",
        "run scale.ispc -e scale iota:f32:4 3000000000 1",
        "run scale.ispc -e scale iota:f32:4 0xfffffffff 1",
        "run scale.ispc -e scale iota:f32:4 4 fast",
        "run scale.ispc -e scale iota:i32:4 4 1",
        "run scale.ispc -e scale iota:f99:4 4 1",
        "run scale.ispc -e scale tens:f32:4 4 1",
        "run scale.ispc -e scale zeros:f32:-4 4 1",
        "run scale.ispc -e scale zeros:f32:99999999999999999999 4 1",
        "run scale.ispc -e scale zeros 4 1",
        "run scale.ispc -e scale 5 4 1",
        "run scale.ispc -e scale [1,2 4 1",
        "run scale.ispc -e scale [1,,2] 4 1",
        "run scale.ispc -e scale [1,x] 4 1",
        "run scale.ispc -e scale [1,2] [1] 1",
        "run scale.ispc -e scale @nosuch.npy 4 1",
        "run scale.ispc -e scale @folder 4 1",
        "run scale.ispc -e scale @garbage.npy 4 1",
        "run scale.ispc -e scale @empty.npy 4 1",
        "run scale.ispc -e scale @cut.npy 4 1",
        "run scale.ispc -e scale @huge.npy 4 1",
        "run scale.ispc -e scale @fortran.npy 4 1",
        "run scale.ispc -e scale @object.npy 4 1",
        "run scale.ispc -e scale @bigendian.npy 4 1",
        "run scale.ispc -e scale @int.npy 4 1",
        "run varying.ispc -e twice",
        "--width 4 run varying.ispc -e twice [1,2,3]",
        "--width 4 run varying.ispc -e twice [1]",
        "--width 4 run varying.ispc -e twice []",
        "--width 4 run varying.ispc -e twice [1,2,3,4,5]",
        "--width 4 trace varying.ispc -e twice [1,2,3]",
        "run varying.ispc -e choose 2",
    ];
    insta::assert_snapshot!(transcript(&folder, &commands));
}

#[test]
fn globals() {
    let folder = Folder::new("globals");
    let commands = [
        "run globals.ispc -e sum",
        "run globals.ispc -e sum --global n=3",
        "run globals.ispc -e sum --global n",
        "run globals.ispc -e sum --global m=3",
        "run globals.ispc -e sum --global n=3 --global n=4",
        "run globals.ispc -e sum --global n=many",
        "run globals.ispc -e sum --global n=[1,2]",
        "run globals.ispc -e sum --global x=5",
        "run globals.ispc -e sum --global x=zeros:f64:3",
        "run globals.ispc -e sum --global x=@nosuch.npy",
        "run globals.ispc -e sum --global x=@int.npy",
        "run globals.ispc -e sum --global fixed=[1,2,3]",
        "run globals.ispc -e sum --global grid=[1,2,3]",
        "run globals.ispc -e sum --global hidden=1",
        "run globals.ispc -e sum --global limit=1",
        "run globals.ispc -e sum --global x=[1,2] --global n=3",
        "run globals.ispc -e sum --global x=[1,2] --global n=2 -o point=point.npy",
        "trace globals.ispc -e sum --global nothing=1",
    ];
    insta::assert_snapshot!(transcript(&folder, &commands));
}

/// Programs that do not compile, or stop; each is run with the arguments behind it.
const PROGRAMS: &[(&str, &str)] = &[
    ("export void f() { int x = 1 }", ""),
    ("export void f() { int x = (1 + 2; }", ""),
    ("export void f() {", ""),
    ("export void f() { } }", ""),
    ("/* no end", ""),
    ("export void f() { print(\"no end); }", ""),
    ("export void f() { int x = 5 @ 3; }", ""),
    ("export void f() { int x = 0x; float y = 1e; }", ""),
    ("export void f() { uniform int64 x = 99999999999999999999; }", ""),
    ("#error enough\nexport void f() { }", ""),
    ("#include \"nosuch.h\"\nexport void f() { }", ""),
    ("#include \"../outside.h\"\nexport void f() { }", ""),
    ("#if 1\nexport void f() { }", ""),
    ("#define A B\n#define B A\nexport uniform int f() { return A; }", ""),
    ("export void f() { nothing(1); }", ""),
    ("export uniform int f() { return x; }", ""),
    ("export uniform int f() { return programIndex; }", ""),
    ("export uniform int f(uniform int a) { return sqrt(); }", "1"),
    ("export void f() { uniform int a[-1]; }", ""),
    ("export void f() { uniform int a[1000000000000]; a[0] = 1; }", ""),
    ("uniform int a[9999999999]; export void f() { a[0] = 1; }", ""),
    ("export void f() { break; }", ""),
    ("export void f() { goto nowhere; }", ""),
    ("export void f() { switch (1) { case 1: case 1: ; } }", ""),
    ("struct S { int x; }; export void f(S s) { }", ""),
    ("export void f() { const int x = 1; x = 2; }", ""),
    ("struct S; export void f() { S s; }", ""),
    ("struct S { S inner; }; export void f() { }", ""),
    ("template <typename T> T g(T x) { return x.y; } export void f() { g(1); }", ""),
    ("export void f() { float x = \"text\"; }", ""),
    ("uniform int g() { return; } export void f() { g(); }", ""),
    ("export void f() { static_assert(1 == 2, \"never\"); }", ""),
    ("extern uniform int n; uniform int n = 1; uniform int n = 2; export void f() { }", ""),
    ("extern \"C\" void host(); export void f() { host(); }", ""),
    ("export void main() { launch[1 main(); }", ""),
    ("export uniform int f(uniform int n) { return 1 / n; }", "0"),
    ("export uniform int f(uniform int a[], uniform int n) { return a[n]; }", "[1,2] 2"),
    ("export uniform int f(uniform int a[], uniform int n) { return a[n]; }", "[1,2] -1"),
    ("export void f(const uniform int a[]) { uniform int * uniform p = (uniform int * uniform)a; p[5] = 1; }", "[1,2]"),
    ("export uniform int f() { uniform int * uniform p = NULL; return *p; }", ""),
    ("export void f() { uniform int * uniform p = uniform new uniform int[2]; delete[] p; p[0] = 1; }", ""),
    ("export void f() { uniform int x; delete &x; }", ""),
    ("uniform int g(uniform int n) { return g(n + 1) + 1; } export void f() { g(0); }", ""),
    ("export void f(uniform int n) { assert(n > 3); }", "2"),
    ("export void f() { abort(); }", ""),
    ("export void f() { while (true) { } }", "--fuel 100"),
    ("export void f() { while (true) { } }", "--timeout 0.01"),
    ("export void f() { while (true) uniform int * uniform p = uniform new uniform int[1000]; }", "--memory 100000"),
    ("extern uniform float x[]; export uniform float f() { return x[0]; }", ""),
    ("extern const uniform int n; export uniform int f() { uniform int a[4]; return a[n]; }", ""),
    ("typedef uniform int F(uniform int); export void f() { F * uniform g = NULL; g(1); }", ""),
];

#[test]
fn programs() {
    let folder = Folder::new("programs");
    let mut all = String::new();
    for (program, arguments) in PROGRAMS {
        folder.file("program.ispc", program.as_bytes());
        let command = format!("--engine interp run program.ispc {arguments}");
        all += &format!("{program}\n{}\n", said(&folder, command.trim_end()));
    }
    insta::assert_snapshot!(all);
}

/// Programs of great size or depth: they end soon, in a message or well, and do not take the process along.
#[test]
fn large_programs() {
    let folder = Folder::new("large");
    let programs = [
        format!("export uniform int f() {{ return {}1{}; }}", "(".repeat(5000), ")".repeat(5000)),
        format!("export uniform int f() {{ return {}1; }}", "-".repeat(5001)),
        format!("export void f() {{ {} {} }}", "{".repeat(5000), "}".repeat(5000)),
        format!("export void f() {{ {} ; }}", "if (programIndex > 0) ".repeat(5000)),
        format!("export void f() {{ int {} x; }}", "*".repeat(5000)),
        format!("export void f() {{ uniform int x{}; }}", "[1]".repeat(5000)),
        format!("#define A0 1\n{}export uniform int f() {{ return A40; }}", doubling_macros(40)),
        "#".repeat(10_000),
        "\"".repeat(10_000),
        "{[(".repeat(3000),
    ];
    for (i, program) in programs.iter().enumerate() {
        folder.file("program.ispc", program.as_bytes());
        let output = spmdvm(&folder).args(["--engine", "interp", "run", "program.ispc"]).output().expect("it starts");
        let text = text(&output);
        assert!(matches!(output.status.code(), Some(0..=3)), "program {i} ended with {:?}", output.status);
        assert!(!text.contains("panicked"), "program {i}: {text}");
        assert!(text.len() < 20_000, "program {i}: a message of {} bytes", text.len());
    }
}

fn doubling_macros(n: usize) -> String {
    (1..=n).map(|i| format!("#define A{i} (A{0} + A{0})\n", i - 1)).collect()
}

#[test]
fn the_shell() {
    let folder = Folder::new("shell");
    let lines = [
        "1 +",
        ")",
        "nothing",
        "1 / 0",
        "int x = ;",
        "int x = y;",
        "programIndex[3]",
        "sin(programIndex)",
        "while (true)",
        "return 5;",
        "int f(int a) { return a }",
        "struct S { S s; };",
        "#include \"nosuch.h\"",
        "n",
        "assert(programIndex < 3);",
        ":nonsense",
        ":width 3",
        ":type",
        ":type nothing",
        ":load",
        ":load nosuch.ispc",
        ":load folder",
        ":load latin1.ispc",
        ":disasm nothing",
    ];
    let mut all = String::new();
    for line in lines {
        let mut child = spmdvm(&folder)
            .args(["--width", "4", "--engine", "interp", "repl"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // The empty line ends what asks for more.
        let input = format!("extern uniform int n;\n{line}\n\n1 + 1\n");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it listens");
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let said: String = said.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        assert!(output.status.success() && !said.contains("panicked"), "`{line}`: {said}");
        assert!(String::from_utf8_lossy(&output.stdout).ends_with("2\n"), "`{line}`: the shell goes on");
        all += &format!("» {line}\n{said}\n");
    }
    insta::assert_snapshot!(all);
}
