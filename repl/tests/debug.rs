//! `spmdvm debug` as one uses it in scripts: commands on standard input, exit codes, arguments.

mod folder;

use folder::Folder;
use std::io::Write as _;
use std::process::{Command, Stdio};

const PROGRAM: &str = "export void other(uniform int a[]) { a[0] = 1; }
export uniform int total(uniform int a[], uniform int n) {
    uniform int sum = 0;
    for (uniform int i = 0; i < n; i++)
        sum += a[i];
    print(\"sum %\\n\", sum);
    return sum;
}
";

/// What the command says to a script, on both streams, and its exit code.
fn said(test: &str, words: &str, script: &str) -> (String, Option<i32>) {
    let folder = Folder::new(test);
    folder.file("t.ispc", PROGRAM);
    folder.file("wrong.ispc", "export void f() { int x = ; }\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.current_dir(&folder.path).env_remove("RUST_BACKTRACE").args(words.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // A command that ends early does not read all of it.
    let _ = child.stdin.take().expect("a pipe").write_all(script.as_bytes());
    let output = child.wait_with_output().expect("the command ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout) + &text(&output.stderr), output.status.code())
}

#[test]
fn scripts_read_like_sessions() {
    let script = "break 5 if i == 2\n:c\n:vars\n:back\n:delete\n:c\n:why sum 3\n:quit\n";
    insta::assert_snapshot!(said("debug-script", "debug t.ispc total [3,4,5] 3 --width 4", script).0);
}

#[test]
fn the_function_is_named_before_its_arguments_or_by_an_option() {
    for words in ["debug t.ispc total [3,4,5] n=3", "debug t.ispc --entry total [3,4,5] 3"] {
        let (shown, code) = said("debug-names", words, "run\n");
        assert!(shown.contains("sum 12\n") && shown.contains("result = 12"), "{shown}");
        assert_eq!(code, Some(0));
    }
}

#[test]
fn what_is_wrong_is_told_by_exit_codes() {
    let (shown, code) = said("debug-unknown", "debug t.ispc [1] 1", "");
    assert!(shown.contains("choose a function with --entry"), "{shown}");
    assert_eq!(code, Some(2));
    let (shown, code) = said("debug-compile", "debug wrong.ispc", "");
    assert!(shown.contains("wrong.ispc:1"), "{shown}");
    assert_eq!(code, Some(1));
    let (shown, code) = said("debug-few", "debug t.ispc total [1]", "");
    assert!(shown.contains("`n`"), "{shown}");
    assert_eq!(code, Some(2));
}

#[test]
fn a_batch_ends_at_the_first_mistake() {
    let script = "next\nnxet\nnext\n";
    let (shown, code) = said("debug-batch", "debug t.ispc total [1] 1 --batch", script);
    assert!(shown.ends_with("error: there is no command `:nxet`; did you mean `:next`?\n"), "{shown}");
    assert_eq!(code, Some(1));
    let (shown, code) = said("debug-no-batch", "debug t.ispc total [1] 1", script);
    assert!(shown.contains("nxet") && !shown.ends_with("`:next`?\n"), "{shown}");
    assert_eq!(code, Some(0));
}
