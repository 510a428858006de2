//! `spmdvm compare` as a user meets it: reports, JSON and exit codes.

mod folder;

use folder::Folder;
use std::process::{Command, Output};

const SCALE: &str = "\
export void scale(uniform float a[], const uniform float b[], uniform int n, uniform float k) {
    foreach (i = 0 ... n) a[i] = b[i] * k;
}
// call: scale(a=zeros:f32:6, b=iota:f32:6, n=6, k=2.5)
";

/// A back end with a fault at width 8.
const BACKEND: &str = "\
if [ $1 = 8 ]; then echo 'a: 0 2.5 5 7.5 10 12.500001'; else echo 'a: 0 2.5 5 7.5 10 12.5'; fi
";

fn compare(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.current_dir(&folder.path).arg("compare").args(args).output().expect("the command starts")
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("scale.ispc", SCALE);
    folder.file("backend.sh", BACKEND);
    assert!(folder.path.join("scale.ispc").exists());
    folder
}

#[test]
fn a_difference_is_reported() {
    let folder = folder("compare");
    let backend = ["scale.ispc", "--width", "4,8", "--cmd", "sh backend.sh {width}"];
    let output = compare(&folder, &backend);
    assert_eq!(
        shown(&output),
        "scale.ispc:4, width 4, sh: equal\n\
         scale.ispc:4, width 8, sh: differs in scale(a=zeros:f32:6, b=iota:f32:6, n=6, k=2.5)\n\
         \x20 a[5] (lane 5): expected 12.5 (0x41480000), got 12.500001 (0x41480001), 1 ULP apart; 1 of 6 differ\n\
         1 equal, 1 different, 0 not comparable\n"
    );
    assert_eq!(output.status.code(), Some(1));
    let output = compare(&folder, &[&backend[..], &["--ulp", "a=1"]].concat());
    assert!(shown(&output).ends_with("2 equal, 0 different, 0 not comparable\n"), "{}", shown(&output));
    assert_eq!(output.status.code(), Some(0));
    let output = compare(&folder, &[&backend[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["comparisons"][1]["difference"]["index"], 5);
    assert_eq!(json["comparisons"][1]["difference"]["got_bits"], "0x41480001");
    assert_eq!((&json["equal"], &json["different"]), (&1.into(), &1.into()));
}

#[test]
fn our_engines_are_compared_without_another_back_end() {
    let folder = folder("compare-own");
    let output = compare(&folder, &["scale.ispc", "--width", "4", "--call", "scale([1], [2], 1, 3)"]);
    assert!(shown(&output).contains("scale.ispc, width 4, ir: equal\n"), "{}", shown(&output));
    assert_eq!(output.status.code(), Some(0));
    let output = compare(&folder, &["scale.ispc", "--engine", "ir", "--call", "scale([1], [2], 2, 3)"]);
    assert_eq!(shown(&output), "scale.ispc, width 16, ir: equal\n1 equal, 0 different, 0 not comparable\n");
}

#[test]
fn wrong_command_lines_say_what_is_wrong() {
    let folder = folder("compare-wrong");
    folder.file("no-call.ispc", "export void f() { }\n");
    folder.file("wrong-call.ispc", "export void f(uniform int n) { }\n// call: f(n=x)\n");
    for (args, expected) in [
        (&["missing.ispc"][..], "cannot read missing.ispc: there is no such file or folder"),
        (&["no-call.ispc"], "no-call.ispc: there is no line `// call: f(…)`"),
        (&["wrong-call.ispc"], "wrong-call.ispc:2: `n` is of type i32, and `x` is no such value"),
        (&["scale.ispc", "--ulp", "a=b"], "--ulp takes N or NAME=N, such as 2 or x=2, not `a=b`"),
        (&["scale.ispc", "--cmd", " "], "a command is empty"),
        (
            &["scale.ispc", "--cmd", "nosuch {source}"],
            "`nosuch {source}` is no command of a back end: there is no program nosuch",
        ),
        (&["scale.ispc", "--ispc=/nowhere/ispc"], "--ispc: cannot run /nowhere/ispc"),
    ] {
        let output = compare(&folder, args);
        assert!(shown(&output).contains(expected), "{args:?}: {}", shown(&output));
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn what_is_not_comparable_has_a_reason() {
    let folder = folder("compare-not");
    folder.file("endless.ispc", "export void f() { for (uniform int i = 0; true; ) i++; }\n// call: f()\n");
    let output = compare(&folder, &["endless.ispc", "--fuel", "1000", "--engine", "ir"]);
    assert_eq!(
        shown(&output),
        "endless.ispc:2, width 16, ir: not comparable: interp stopped: out of fuel\n0 equal, 0 different, 1 not comparable\n"
    );
}

#[test]
fn scalar_c_is_a_back_end() {
    let folder = folder("compare_c");
    let output = compare(&folder, &["scale.ispc", "--width", "8", "--c=no_such_compiler"]);
    assert!(shown(&output).contains("--c: cannot run no_such_compiler"), "{}", shown(&output));
    assert_eq!(output.status.code(), Some(2));
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: no C compiler `cc` on PATH");
        return;
    }
    let output = compare(&folder, &["scale.ispc", "--width", "8", "--c"]);
    assert_eq!(shown(&output), "scale.ispc:4, width 8, cc: equal\n1 equal, 0 different, 0 not comparable\n");
}

#[test]
fn outcomes_are_what_a_back_end_is_to_give() {
    let folder = folder("outcome");
    let spmdvm = env!("CARGO_BIN_EXE_spmdvm");
    let output =
        Command::new(spmdvm).current_dir(&folder.path).args(["outcome", "scale.ispc"]).output().expect("it starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["end"], &json["arrays"][0]["data"][5]), (&"returned".into(), &12.5.into()), "{json}");
    let itself = format!("{spmdvm} outcome {{source}} --width {{width}}");
    let output = compare(&folder, &["scale.ispc", "--width", "4,8", "--cmd", &itself]);
    assert!(shown(&output).ends_with("2 equal, 0 different, 0 not comparable\n"), "{}", shown(&output));
    let output =
        Command::new(spmdvm).current_dir(&folder.path).args(["outcome", "empty.ispc"]).output().expect("it starts");
    assert!(shown(&output).contains("there is no line `// call: f(…)`"), "{}", shown(&output));
    assert_eq!(output.status.code(), Some(2));
}
