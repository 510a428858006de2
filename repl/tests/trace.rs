//! `spmdvm trace` as one uses it: tables, lines of JSON, files that are read back and compared. The snapshots show what is said.

mod folder;

use folder::Folder;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

const PROGRAM: &str = "noinline int half(int x) {
    return x / 2;
}
export void f(uniform int a[], uniform int n) {
    for (uniform int i = 0; i < n; ++i) {
        int x = half(a[programIndex]);
        if (x > 1)
            a[programIndex] = x + i;
    }
    print(\"% turns\\n\", n);
}
";

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.file("t.ispc", PROGRAM);
    folder.file("minus.ispc", PROGRAM.replace("x + i", "x - i"));
    folder.file(
        "trap.ispc",
        "export void f(uniform int a[]) {\n    a[programIndex] = 1;\n    a[programIndex + 2] = 2;\n}\n",
    );
    folder
}

fn spmdvm(folder: &Folder, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.current_dir(&folder.path).env_remove("RUST_BACKTRACE").args(words.split_whitespace());
    command
}

/// What a command says on both streams, with its exit code if it fails.
fn said(folder: &Folder, words: &str) -> String {
    let output = spmdvm(folder, words).output().expect("the command starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked"), "`{words}`: {text}");
    let code = output.status.code().expect("it ends by itself");
    let code = if code == 0 { String::new() } else { format!("[exit code {code}]\n") };
    format!("$ spmdvm {words}\n{text}{code}")
}

fn transcript(folder: &Folder, commands: &[&str]) -> String {
    let all: Vec<String> = commands.iter().map(|words| said(folder, words)).collect();
    all.join("\n")
}

#[test]
fn tables() {
    let folder = folder("trace-tables");
    let commands = [
        "--width 4 trace t.ispc [0,3,4,9] 2",
        "--width 4 trace t.ispc [0,3,4,9] 2 --line 8",
        "--width 4 trace t.ispc [0,3,4,9] 2 --function half",
        "--width 4 trace t.ispc [0,3,4,9] 2 --lanes 3,0 --line 7",
        "--width 4 trace t.ispc [0,3,4,9] 2 --until line=8",
        "--width 4 trace t.ispc [0,3,4,9] 2 --until steps=5",
        "--width 4 trace t.ispc [0,3,4,9] 2 --until trap --rows 1",
        "--width 4 trace t.ispc [0,3,4,9] 2 --rows 3",
        "--width 4 trace trap.ispc [1,2,3,4]",
        "--width 4 trace trap.ispc [1,2,3,4] --until trap --rows 2",
    ];
    insta::assert_snapshot!(transcript(&folder, &commands));
}

#[test]
fn lines_of_json() {
    let folder = folder("trace-json");
    insta::assert_snapshot!(transcript(
        &folder,
        &["--width 2 --json trace t.ispc [4,9] 1 --line 8", "--width 4 --json trace trap.ispc [1,2,3,4]"]
    ));
}

#[test]
fn what_is_written_is_read_back_as_it_was_shown() {
    let folder = folder("trace-read");
    let shown = said(&folder, "--width 4 trace t.ispc [0,3,4,9] 3");
    for file in ["t.jsonl", "t.jsonl.gz"] {
        assert_eq!(
            said(&folder, &format!("--width 4 trace t.ispc [0,3,4,9] 3 -o {file}")),
            format!("$ spmdvm --width 4 trace t.ispc [0,3,4,9] 3 -o {file}\n3 turns\n")
        );
        let read = said(&folder, &format!("trace --read {file}"));
        assert_eq!(read.lines().skip(1).collect::<Vec<_>>(), shown.lines().skip(1).collect::<Vec<_>>());
        assert!(shown.lines().count() > 20);
    }
    let table = |words: &str| said(&folder, words).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    for filter in ["--lanes 1", "--line 7", "--function half", "--until steps=9", "--all"] {
        let direct = table(&format!("--width 4 trace t.ispc [0,3,4,9] 3 {filter}"));
        assert_eq!(table(&format!("trace --read t.jsonl {filter}")), direct, "{filter}");
    }
    let json = std::fs::read_to_string(folder.path.join("t.jsonl")).expect("a file");
    assert_eq!(said(&folder, "trace --json --read t.jsonl.gz").split_once('\n').map(|(_, json)| json), Some(&*json));
}

#[test]
fn differences() {
    let folder = folder("trace-diff");
    for (program, file) in [("t", "a.jsonl"), ("minus", "b.jsonl.gz")] {
        said(&folder, &format!("--width 4 trace {program}.ispc [0,3,4,9] 2 -o {file}"));
    }
    said(&folder, "--width 8 trace t.ispc iota:8 2 -o wide.jsonl");
    let whole = std::fs::read(folder.path.join("a.jsonl")).expect("a file");
    folder.file("cut.jsonl", &whole[..whole.len() - 9]);
    let commands = [
        "trace --diff a.jsonl b.jsonl.gz",
        "trace --diff a.jsonl b.jsonl.gz --context 0",
        "trace --diff a.jsonl a.jsonl",
        "trace --diff a.jsonl wide.jsonl",
        "trace --diff a.jsonl cut.jsonl",
        "trace --diff a.jsonl",
        "trace --diff a.jsonl nosuch.jsonl",
        "trace --diff a.jsonl t.ispc",
    ];
    insta::assert_snapshot!(transcript(&folder, &commands));
}

#[test]
fn mistakes() {
    let folder = folder("trace-mistakes");
    folder.file("garbage.jsonl", [0x1f, 0x8b, 1, 2, 3, 4]);
    let commands = [
        "trace",
        "trace --read nosuch.jsonl",
        "trace --read t.ispc",
        "trace --read garbage.jsonl",
        "trace t.ispc --read a.jsonl",
        "--width 4 trace t.ispc [0,3,4,9] 2 --lanes 4",
        "--width 4 trace t.ispc [0,3,4,9] 2 --lanes x",
        "--width 4 trace t.ispc [0,3,4,9] 2 --until line",
        "--width 4 trace t.ispc [0,3,4,9] 2 -o t.zst",
        "--width 4 trace t.ispc [0,3,4,9] 2 -o no/such/folder.jsonl",
    ];
    insta::assert_snapshot!(transcript(&folder, &commands));
}

/// A reader that goes away ends a trace that would never end, without a word.
#[test]
fn a_closed_pipe_ends_the_trace_quietly() {
    let folder = folder("trace-pipe");
    for words in ["--json trace loop.ispc", "trace loop.ispc --rows 100000000"] {
        let mut child =
            spmdvm(&folder, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert!(lines.by_ref().take(3).all(|line| line.is_ok()));
        drop(lines);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words}");
    }
}
