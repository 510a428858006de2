//! `spmdvm reduce` as a user meets it.

mod folder;

use folder::Folder;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "static int half(int x) { return x >> 1; }
export void f(uniform int a[], uniform int n) {
    // A comment.
    foreach (i = 0 ... n) {
        int v = half(a[i]) * 3;
        if (v > 4) v -= 2;
        a[i] = v;
    }
}
// call: f(a=iota:i32:20, n=20)
";

fn reduce(file: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.arg("reduce").arg(file).args(args).env("HOME", std::env::temp_dir());
    command.output().expect("the command starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

#[test]
#[cfg(unix)]
fn a_command_says_what_is_interesting() {
    let folder = Folder::new("reduce");
    let file = folder.file("find.ispc", PROGRAM);
    let output = reduce(&file, &["--cmd", "grep -q '>> 1' {source}"]);
    assert!(output.status.success(), "{}", said(&output));
    let text = std::fs::read_to_string(file.with_extension("reduced.ispc")).unwrap();
    assert!(text.contains(">> 1") && text.lines().count() <= 5, "{text}");
    assert!(said(&output).contains("nothing smaller was found"), "{}", said(&output));

    let other = file.with_file_name("other.ispc");
    let json = reduce(&file, &["--cmd", "grep -q half {source}", "--json", "-j", "2", "-o", other.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((json["lines_before"].as_u64(), json["end"].as_str()), (Some(10), Some("smallest")));
    assert!(std::fs::read_to_string(other).unwrap().contains("half"));
}

#[test]
#[cfg(unix)]
fn a_comparison_says_what_is_interesting() {
    let folder = Folder::new("reduce_compare");
    let file = folder.file("find.ispc", PROGRAM);
    // A back end that always answers the same differs as long as anything is computed.
    let output = reduce(&file, &["--compare", "sh -c 'echo \"a: 0\"'"]);
    assert!(output.status.success(), "{}", said(&output));
    let text = std::fs::read_to_string(file.with_extension("reduced.ispc")).unwrap();
    assert!(text.contains("// call: f(a=") && text.len() < PROGRAM.len() / 2, "{text}");
    let same = reduce(&file, &["--engine", "interp"]);
    assert_eq!(same.status.code(), Some(2));
    assert!(said(&same).contains("the back ends give the same outcomes"), "{}", said(&same));
}

#[test]
fn mistakes_are_told() {
    let folder = Folder::new("reduce_mistakes");
    let file = folder.file("find.ispc", PROGRAM);
    for (args, code, expected) in [
        (["--cmd", ""], 2, "--cmd is empty"),
        (["--cmd", "true"], 2, "{source}"),
        (["--cmd", "no-such-program {source}"], 2, "cannot run no-such-program"),
        (["--cmd", "cat {source}.not"], 2, "exit code 0"),
    ] {
        let output = reduce(&file, &args);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
    let broken = folder.file("broken.ispc", "int f( {\n");
    let output = reduce(&broken, &["--cmd", "cat {source}"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}
