//! Every example that the command line and the shell show works as it stands.

mod folder;

use folder::Folder;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn spmdvm(folder: &Folder, args: &[&str]) -> Output {
    command(folder).args(args).output().expect("the command starts")
}

fn command(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.current_dir(&folder.path).env("HOME", &folder.path);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the shell says to some lines: on standard output and standard error.
fn shell(folder: &Folder, lines: &str) -> (String, String) {
    let pipes = |command: &mut Command| {
        command.arg("repl").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    let mut child = pipes(&mut command(folder)).expect("the command starts");
    child.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn examples_of_the_shell() {
    let folder = Folder::new("shell-help");
    let (help, _) = shell(&folder, ":help\n");
    let line = help.lines().find_map(|line| line.strip_prefix("Examples:")).expect("there are examples");
    let examples: Vec<&str> = line.split("   ").map(str::trim).filter(|example| !example.is_empty()).collect();
    assert!(examples.len() >= 3, "{examples:?}");
    let (shown, said) = shell(&folder, &(examples.join("\n") + "\n"));
    assert_eq!(said, "", "{examples:?}");
    // One answer for each.
    let answers = shown.lines().filter(|line| line.contains("varying ")).count();
    assert_eq!(answers, examples.len(), "{shown}");
}

#[test]
fn examples_in_what_the_shell_says() {
    let folder = Folder::new("shell-hints");
    let (_, said) = shell(&folder, ":type\n");
    let example = said.split('`').rfind(|part| part.starts_with(":type ")).expect("an example");
    let (shown, said) = shell(&folder, &format!("{example}\n"));
    assert_eq!(said, "");
    assert!(shown.contains("varying int"), "{shown}");
}

/// Where `--help` (or a message) shows an example, and a command that has it.
const SHOWN: &[(&[&str], &str, &[&str])] = &[
    (&["--help"], "hot=10", &["--jit", "hot=10", "run", "loop.ispc", "--fuel", "1000"]),
    (&["--help"], "one_lane=off", &["--jit", "one_lane=off", "run", "loop.ispc", "--fuel", "1000"]),
    (&["run", "--help"], "zeros:f32:1024", &["run", "scale.ispc", "-e", "scale", "zeros:f32:1024", "1024", "2"]),
    (&["run", "--help"], "ones:", &["run", "scale.ispc", "-e", "scale", "ones:f32:8", "8", "2"]),
    (&["run", "--help"], "iota:i32:64", &["run", "scale.ispc", "-e", "total", "iota:i32:64", "64"]),
    (&["run", "--help"], "[1,2,3]", &["run", "scale.ispc", "-e", "total", "[1,2,3]", "3"]),
    (&["run", "--help"], "@file.npy", &["run", "scale.ispc", "-e", "total", "@int.npy", "4"]),
    (&["run", "loop.ispc", "--mask", "x"], "0b1011", &["run", "loop.ispc", "--mask", "0b1011", "--fuel", "10"]),
    (&["run", "loop.ispc", "--mask", "x"], "0xff", &["run", "loop.ispc", "--mask", "0xff", "--fuel", "10"]),
    (&["--jit", "x", "run", "loop.ispc"], "hot=10", &["--jit", "hot=10", "run", "loop.ispc", "--fuel", "10"]),
    (&["--timeout", "x", "run", "loop.ispc"], "0.5", &["--timeout", "0.5", "run", "loop.ispc", "--fuel", "10"]),
    (&["explain", "--help"], "E0001", &["explain", "E0001"]),
    (&["explain", "--help"], "W0002", &["explain", "W0002"]),
    (&["explain", "--help"], "out_of_bounds", &["explain", "out_of_bounds"]),
    (&["conform", "--help"], "4,8,16", &["conform", "passes.ispc", "--width", "4,8,16"]),
];

#[test]
fn examples_of_the_command_line() {
    let folder = Folder::new("help");
    let passes = "task void f_v(uniform float RET[]) { RET[programIndex] = 1; }
task void result(uniform float RET[]) { RET[programIndex] = 1; }
";
    folder.file("passes.ispc", passes.as_bytes());
    for (ask, example, command) in SHOWN {
        let asked = spmdvm(&folder, ask);
        let shown = text(&asked.stdout) + &text(&asked.stderr);
        assert!(shown.contains(example), "{ask:?} shows no {example}: {shown}");
        let output = spmdvm(&folder, command);
        let said = text(&output.stderr);
        // The endless loop ends by its fuel.
        assert!(output.status.success() || said.contains("[out_of_fuel]"), "{command:?}: {said}");
    }
}

#[test]
fn what_is_suggested_for_missing_arguments() {
    let folder = Folder::new("suggested");
    let mut args = vec!["run".to_owned(), "scale.ispc".to_owned(), "-e".to_owned(), "scale".to_owned()];
    for _ in 0..3 {
        let said = text(&spmdvm(&folder, &args.iter().map(String::as_str).collect::<Vec<_>>()).stderr);
        let example = said.split("for instance ").nth(1).and_then(|rest| rest.lines().next()).expect("an example");
        args.push(example.to_owned());
    }
    assert!(spmdvm(&folder, &args.iter().map(String::as_str).collect::<Vec<_>>()).status.success(), "{args:?}");
}
