//! Random programs as a user asks for them.

mod folder;

use folder::Folder;
use std::process::{Command, Output};

fn spmdvm(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.args(args).current_dir(&folder.path).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_is_written_and_runs() {
    let folder = Folder::new("gen-runs");
    let shown = spmdvm(&folder, &["gen", "--seed", "5", "--size", "12"]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let again = spmdvm(&folder, &["gen", "--seed", "5", "--size", "12", "-o", "five.ispc"]);
    assert!(again.status.success() && again.stdout.is_empty());
    let written = std::fs::read_to_string(folder.path.join("five.ispc")).expect("it was written");
    assert_eq!(text(&shown.stdout), written);
    assert!(written.starts_with("// spmdvm gen --seed 5 --size 12 --dialect ispc\n// call: f("), "{written}");
    let compared = spmdvm(&folder, &["compare", "five.ispc", "--width", "4", "--engine", "ir"]);
    assert!(compared.status.success(), "{}{}", text(&compared.stdout), text(&compared.stderr));
}

#[test]
fn a_mutant_is_compared_like_its_original() {
    let folder = Folder::new("gen-mutant");
    assert!(spmdvm(&folder, &["gen", "--seed", "5", "-o", "five.ispc"]).status.success());
    let mutant = spmdvm(&folder, &["gen", "--mutate", "five.ispc", "--seed", "2", "-o", "mutant.ispc"]);
    assert!(mutant.status.success(), "{}", text(&mutant.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path.join(name)).expect("it was written");
    assert_ne!(read("five.ispc"), read("mutant.ispc"));
    let both = spmdvm(&folder, &["gen", "--mutate", "five.ispc", "--size", "3"]);
    assert!(text(&both.stderr).contains("cannot be used with"), "{}", text(&both.stderr));
}

#[test]
fn features_are_listed_and_wrong_ones_named() {
    let folder = Folder::new("gen-features");
    let list = text(&spmdvm(&folder, &["gen", "--list-features"]).stdout);
    assert!(list.contains("foreach-unique ") && list.contains("(dialect spmdvm)"), "{list}");
    let wrong = |list: &str| text(&spmdvm(&folder, &["gen", "--features", list]).stderr);
    assert!(wrong("lops").contains("no feature `lops`"), "{}", wrong("lops"));
    assert!(wrong("+crev").contains("--dialect spmdvm"), "{}", wrong("+crev"));
}
