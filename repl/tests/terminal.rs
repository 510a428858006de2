//! The shell at a terminal, driven by keys as a person presses them.

#![cfg(unix)]

mod folder;
mod pty;

use folder::Folder;
use pty::{CTRL_C, CTRL_D, CTRL_R, ENTER, RIGHT, TAB, Terminal, UP};

#[test]
fn expressions_and_mistakes() {
    let folder = Folder::new("terminal-expressions");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell
        .answers("programIndex * 2", "varying int32 = 0 2 4 6")
        .done("int x = programIndex; int y = 0; if (x > 1) y = 3;")
        .answers("y", "varying int32 = 0 0 3 3")
        .answers("z", "there is no `z` here")
        .answers("x = 5; 1 / (x - 5)", "division by zero")
        .answers("x", "varying int32 = 0 1 2 3")
        .answers(":widht 8", "did you mean `:width`?")
        .answers(":width 2", "2 lanes")
        .answers("x", "varying int32 = 0 1");
    shell.line(":quit");
    shell.ends();
}

#[test]
fn several_lines() {
    let folder = Folder::new("terminal-lines");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.line("float twice(float a) { // {").line("/* } */ return a").done("* 2; }");
    shell.answers("twice(4)", "varying float = 8 8 8 8");
    shell.line("1 +").line("2").expect("uniform int32 = 3").prompt();
    shell.line("(1 +").line("2").line(")").expect("uniform int32 = 3").prompt();
    shell.line("\"(\"").expect("= \"(\"").prompt();
    // An empty line ends what is unfinished.
    shell.line("1 +").line("").expect("expected a value").prompt();
    shell.line("if (programIndex > 1) {").line("print(\"%\\n\", 7);").line("}").expect("7").prompt();
    // What is pasted comes at once.
    shell.press("\x1b[200~int a = 1;\nint b = a + 1;\x1b[201~").press(ENTER).expect("b: varying int32 = 2").prompt();
}

#[test]
fn completion() {
    let folder = Folder::new("terminal-completion");
    folder.file("program.ispc", b"float thrice(float a) { return a * 3; }\n");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.press("programI").press(TAB).expect("programIndex").press(ENTER).expect("= 0 1 2 3").prompt();
    shell.press(":comp").press(TAB).expect(":compare").press(CTRL_C).prompt();
    shell.press(":width 6").press(TAB).expect("64").press(CTRL_C).prompt();
    // All that fits, with signatures.
    shell.press("reduce_m").press(TAB).press(TAB).expect("reduce_max(").expect("reduce_min(").press(CTRL_C).prompt();
    shell.done("struct Point { float far, near; };").answers("Point p;", "p: varying Point");
    shell.press("p.f").press(TAB).expect("p.far").press(ENTER).expect("varying float = 0 0 0 0").prompt();
    shell.press("int long_name = 3;").press(ENTER).expect("= 3 3 3 3").prompt();
    shell.press("long_n").press(TAB).press(ENTER).expect("= 3 3 3 3").prompt();
    shell.press(":load prog").press(TAB).press(ENTER).expect("loaded").prompt();
    shell.press("thri").press(TAB).press("(2)").press(ENTER).expect("= 6 6 6 6").prompt();
    // Nothing fits: nothing happens.
    shell.press("qqq").press(TAB).press(CTRL_C).prompt();
}

#[test]
fn hints() {
    let folder = Folder::new("terminal-hints");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.press("atan2(").expect("T atan2(").press(CTRL_C).prompt();
    shell.press(":compare ").expect("WIDTHS").press(CTRL_C).prompt();
    shell.answers("11 * 11", "uniform int32 = 121");
    // The rest of an earlier input; the right arrow takes it.
    shell.press("11").expect("11 * 11").press(RIGHT).press(ENTER).expect("uniform int32 = 121").prompt();
}

#[test]
fn the_program_is_stopped_and_not_the_shell() {
    let folder = Folder::new("terminal-stop");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.answers("int kept = 7;", "= 7 7 7 7");
    shell.line("kept = 8; print(\"begun\\n\"); while (true) kept = 9;").expect("begun\n");
    shell.press(CTRL_C).expect("interrupted").prompt();
    shell.answers("kept", "= 7 7 7 7");
    // A line that is dropped.
    shell.press("kept = 1").press(CTRL_C).prompt();
    shell.answers("kept", "= 7 7 7 7");
    shell.press(CTRL_D);
    shell.ends();
}

#[test]
fn history() {
    let folder = Folder::new("terminal-history");
    folder.file(".spmdvm_history", b"#V2\n40 + 1\n");
    let mut shell = Terminal::start(&folder, &[], &[]);
    // That of earlier versions.
    shell.press(UP).press(ENTER).expect("uniform int32 = 41").prompt();
    shell.answers("40 + 2", "uniform int32 = 42").answers("\"other\"", "= \"other\"");
    shell.press(CTRL_R).press("40 + 2").expect("40 + 2").press(ENTER).expect("uniform int32 = 42").prompt();
    shell.press(CTRL_D);
    shell.ends();
    assert!(folder.path.join(".local/state/spmdvm/history").is_file());
    let mut again = Terminal::start(&folder, &[], &[]);
    again.press(UP).press(ENTER).expect("uniform int32 = 42").prompt().line(":quit");
    again.ends();
}

/// Returns whether there is an escape sequence that changes how text looks.
fn has_colours(raw: &str) -> bool {
    raw.split("\x1b[")
        .skip(1)
        .any(|part| part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'))
}

#[test]
fn colours() {
    let folder = Folder::new("terminal-colours");
    let shown = |env: &[(&str, &str)]| {
        let mut shell = Terminal::start(&folder, &[], env);
        shell.answers("uniform int colour = 5; nothing", "there is no `nothing`").line(":quit");
        shell.ends()
    };
    let is_colour = |raw: &str| raw.contains("\x1b[35muniform\x1b[0m") && raw.contains("\x1b[31m");
    assert!(is_colour(&shown(&[])));
    let plain = shown(&[("NO_COLOR", "1")]);
    assert!(!has_colours(&plain), "{plain:?}");
    let dumb = shown(&[("TERM", "dumb")]);
    assert!(!dumb.contains('\x1b'), "{dumb:?}");
}
