//! `spmdvm corpus` as one uses it; the snapshot shows what is said.
#![cfg(unix)]

mod folder;

use folder::Folder;
use std::process::Command;

const MANIFEST: &str = r#"{"schema": "spmdvm-corpus", "version": 1, "fp": "strict", "widths": [4, 8], "traced": ["lanes"], "trace_width": 4}"#;

const PROGRAM: &str = "// Lanes know their number.
export void f(uniform int out[], uniform int k) { out[programIndex] = programIndex * k; }
// call: f(out=zeros:i32:8, k=3)
";

/// A back end that has half of its lanes wrong where there are eight.
const BACKEND: &str = "case $1 in
4) echo 'out: 0 3 6 9 0 0 0 0' ;;
8) echo 'out: 0 3 6 9 0 3 6 9' ;;
esac
";

fn said(folder: &Folder, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    let output = command.current_dir(&folder.path).args(words).output().expect("the command starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().expect("it ends by itself");
    let code = if code == 0 { String::new() } else { format!("[exit code {code}]\n") };
    format!("$ spmdvm {}\n{text}{code}", words.join(" "))
}

#[test]
fn a_corpus_is_frozen_checked_and_run() {
    let folder = Folder::new("corpus");
    std::fs::create_dir_all(folder.path.join("v1")).expect("a folder");
    folder.file("v1/corpus.json", MANIFEST);
    folder.file("v1/lanes.ispc", PROGRAM);
    folder.file("backend.sh", BACKEND);
    let mut transcript: Vec<String> = [
        &["corpus", "run", "v1", "--cmd", "sh backend.sh {width}"][..],
        &["corpus", "freeze", "v1"],
        &["corpus", "freeze", "v1"],
        &["corpus", "run", "v1", "--cmd", "sh backend.sh {width}"],
        &["corpus", "run", "v1"],
        &["corpus", "run", "v2", "--cmd", "true"],
    ]
    .iter()
    .map(|words| said(&folder, words))
    .collect();
    let checked = said(&folder, &["corpus", "check", "v1"]);
    // How many engines there are depends on the machine.
    assert!(checked.contains(" equal, 0 different, 0 not comparable, traces as they were: 1"), "{checked}");
    folder.file("v1/lanes.ispc", PROGRAM.replace("* k", "+ k"));
    transcript.push(said(&folder, &["corpus", "check", "v1"]));
    insta::assert_snapshot!(transcript.join("\n"));
}
