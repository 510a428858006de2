//! The pictures of sessions in the documentation are made of what commands show at a terminal, and are as they show it now.
//! `UPDATE_DOCS=1` makes them anew.
//!
//! A session of `docs/repl.md` (or the tutorial) has a picture if one stands behind it: `![what it shows](pictures/NAME.svg)`.

#![cfg(unix)]

mod folder;
mod picture;
mod pty;

use folder::Folder;
use pty::{ENTER, Terminal};
use std::path::{Path, PathBuf};

/// Columns of the terminal.
const COLUMNS: u16 = 88;

/// Rows: more than a session needs.
const ROWS: u16 = 300;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Compares a picture with the one that is there, or writes it.
fn check(name: &str, svg: &str) {
    let path = docs().join("pictures").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&path, svg).expect("it can be written");
        return;
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = known.lines().zip(svg.lines()).find(|(a, b)| a != b);
    assert!(known == svg, "docs/pictures/{name} is not what is shown (UPDATE_DOCS=1 makes it anew): {difference:?}");
}

/// The sessions with a picture behind them: the options, what is typed (the lines of each input), what the picture shows, its name.
fn sessions(page: &str) -> Vec<(String, Vec<String>, String, String)> {
    let text = std::fs::read_to_string(docs().join(page)).expect("the page");
    let mut found = Vec::new();
    let mut blocks = text.split("```session").skip(1);
    for block in &mut blocks {
        let (session, behind) = block.split_once("\n```\n").expect("its end");
        let Some(picture) = behind.trim_start().strip_prefix("![") else { continue };
        let Some((title, rest)) = picture.split_once("](pictures/") else { continue };
        let name = rest.split(')').next().unwrap_or_default();
        let mut lines = session.lines();
        let options = lines.next().unwrap_or_default().trim().to_owned();
        let mut inputs: Vec<String> = Vec::new();
        for line in lines {
            match (line.strip_prefix("» "), line.strip_prefix("… "), inputs.last_mut()) {
                (Some(line), _, _) => inputs.push(line.to_owned()),
                (_, Some(line), Some(last)) => *last += &format!("{ENTER}{line}"),
                _ => {}
            }
        }
        found.push((options, inputs, title.to_owned(), name.to_owned()));
    }
    found
}

#[test]
fn sessions_of_the_shell() {
    let mut names = Vec::new();
    for page in ["repl.md", "tutorial-masks.md"] {
        for (options, inputs, title, name) in sessions(page) {
            let folder = Folder::new(&format!("picture-{name}"));
            let width = options.strip_prefix("width=").unwrap_or("8");
            let args = ["--width", width, "repl"];
            let columns = COLUMNS.to_string();
            let mut shell = Terminal::command(&folder, &args, &[("COLUMNS", &columns)], (ROWS, COLUMNS));
            for input in &inputs {
                shell.press(input).press(ENTER).prompt();
            }
            check(&name, &picture::svg(shell.said(), COLUMNS, &title));
            names.push(name);
        }
    }
    assert!(names.len() >= 2, "{names:?}");
}

/// The program on the page about the stepper.
fn program() -> String {
    let text = std::fs::read_to_string(docs().join("stepper.md")).expect("the page");
    text.split("```ispc\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program").to_owned()
}

#[test]
fn the_stepper() {
    let folder = Folder::new("picture-stepper");
    folder.file("settle.ispc", program());
    let args = ["--width", "8", "debug", "settle.ispc", "settle", "[1.5, 20, 3, 0.5, 7, 44, 2, 12]", "8"];
    // Its longest lines fit.
    let columns = 96;
    let mut console = Terminal::command(&folder, &args, &[], (ROWS, columns));
    for command in [":break 7", ":continue", ":next", ":why x[1]"] {
        console.press(command).press(ENTER).prompt();
    }
    let title = "The stepper stops at a line: the masks and variables of all lanes, a step further, and why a lane has its value";
    check("stepper.svg", &picture::svg(console.said(), columns, title));
}

#[test]
fn colours_and_blocks() {
    let svg = picture::svg(
        "a\x1b[1;31m<b>\x1b[0m \x1b[2md\x1b[0m\r\n\x1b[38;2;1;2;3m\x1b[48;5;232m▀\x1b[0m\x1b[7mr\x1b[0m",
        20,
        "A & B",
    );
    assert!(svg.contains("<title>A &amp; B</title>"), "{svg}");
    assert!(svg.contains("fill=\"#ff7b72\" font-weight=\"bold\">&lt;b&gt;</text>"), "{svg}");
    assert!(svg.contains("fill-opacity=\"0.55\">d</text>"), "{svg}");
    assert!(
        svg.contains("height=\"18\" fill=\"#080808\"/>") && svg.contains("height=\"9\" fill=\"#010203\"/>"),
        "{svg}"
    );
    assert!(svg.contains("fill=\"#e3e7eb\"/>\n<text") && svg.contains("fill=\"#1b1f24\">r</text>"), "{svg}");
    assert!(svg.contains("viewBox=\"0 0 196 64\""), "{svg}");
}
