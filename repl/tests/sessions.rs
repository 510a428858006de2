//! The sessions that the documentation shows are replayed, so that they stay true. `UPDATE_DOCS=1` writes them anew.
//!
//! A session is a block of code with the language `session` and perhaps the width: lines behind `»` (and `…`, for what goes on)
//! are typed, the others are what the shell says.

mod folder;

use folder::Folder;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is printed between two answers.
const MARK: &str = "@@@";

/// What was typed, and what was said.
struct Exchange {
    typed: Vec<String>,
    said: String,
}

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

/// Replays every session of a page. Gives the number of inputs.
fn replay(name: &str) -> usize {
    let path = page(name);
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let folder = Folder::new(&format!("sessions-{name}"));
    let (mut written, mut block, mut inputs) = (String::new(), None::<(String, Vec<String>)>, 0);
    for line in text.lines() {
        match &mut block {
            None => {
                written += &format!("{line}\n");
                if let Some(options) = line.strip_prefix("```session") {
                    block = Some((options.trim().to_owned(), Vec::new()));
                }
            }
            Some((options, lines)) if line == "```" => {
                let mut exchanges = exchanges(lines);
                inputs += exchanges.len();
                run(&folder, options, &mut exchanges);
                for exchange in &exchanges {
                    written += &exchange.typed.iter().map(|line| format!("{line}\n")).collect::<String>();
                    written += &exchange.said;
                }
                written += "```\n";
                block = None;
            }
            Some((_, lines)) => lines.push(line.to_owned()),
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &written).expect("it can be written");
    }
    let difference = text.lines().zip(written.lines()).find(|(a, b)| a != b);
    let same = text == written || std::env::var_os("UPDATE_DOCS").is_some();
    assert!(same, "docs/{name} is not what the shell says (UPDATE_DOCS=1 writes it anew): {difference:?}");
    inputs
}

fn exchanges(lines: &[String]) -> Vec<Exchange> {
    let mut all: Vec<Exchange> = Vec::new();
    for line in lines {
        match all.last_mut() {
            _ if line.starts_with('»') => all.push(Exchange { typed: vec![line.clone()], said: String::new() }),
            Some(last) if line.starts_with('…') && last.said.is_empty() => last.typed.push(line.clone()),
            Some(last) => last.said += &format!("{line}\n"),
            None => panic!("a session begins with `»`, not with {line}"),
        }
    }
    all
}

/// Has a shell answer all inputs of a session.
fn run(folder: &Folder, options: &str, exchanges: &mut [Exchange]) {
    let width = options.strip_prefix("width=").unwrap_or("8");
    let (mut output, writer) = std::io::pipe().expect("a pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_spmdvm"))
        .args(["--width", width, "repl"])
        .current_dir(&folder.path)
        .env("HOME", &folder.path)
        .env("COLUMNS", "80")
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().expect("a handle"))
        .stderr(writer)
        .spawn()
        .expect("the command starts");
    let mut script = String::new();
    for exchange in exchanges.iter() {
        let lines: Vec<&str> =
            exchange.typed.iter().map(|line| line.trim_start_matches(['»', '…']).trim_start()).collect();
        script += &format!("{}\nprint(\"{MARK}\\n\");\n", lines.join("\n"));
    }
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it listens");
    assert!(child.wait().expect("it ends").success());
    let mut said = String::new();
    output.read_to_string(&mut said).expect("text");
    let mark = format!("{MARK}\n");
    let mut answers = said.split(&mark);
    for exchange in exchanges.iter_mut() {
        let answer = answers.next().unwrap_or_default();
        exchange.said = answer.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    }
}

#[test]
fn the_page_about_the_shell() {
    let inputs = replay("repl.md");
    assert!(inputs >= 40, "{inputs}");
}

#[test]
fn the_tutorial_about_masks() {
    let inputs = replay("tutorial-masks.md");
    assert!(inputs >= 30, "{inputs}");
}
