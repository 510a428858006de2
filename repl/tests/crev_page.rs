//! `docs/crev.md` is true: its commands print what stands below them, and its pieces of programs stand in `examples/crev`.
//!
//! `UPDATE_DOCS=1 cargo test -p spmdvm-cli --test crev_page` writes what the commands print into the page.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/crev.md")).expect("the page")
}

/// The page cut at the fences of its blocks: text, block, text, … A block begins with its language.
fn pieces(page: &str) -> Vec<&str> {
    page.split("```").collect()
}

/// The command of a console block, as written, without the sign before it; and what should be printed.
fn split_console(block: &str) -> (&str, &str) {
    let block = block.strip_prefix("$ ").expect("a command comes first");
    let ends = block.match_indices('\n').map(|(at, _)| at).find(|&at| !block[..at].ends_with('\\'));
    block.split_at(ends.expect("the command ends") + 1)
}

/// The words of a command: parted by spaces but within single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.replace("\\\n", " ").chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' | '\n' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn printed(command: &str) -> String {
    let words = words(command);
    assert_eq!(words[0], "spmdvm", "{command}");
    let output = Command::new(env!("CARGO_BIN_EXE_spmdvm")).args(&words[1..]).current_dir(root()).output();
    let output = output.expect("the command starts");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn commands_print_what_stands_below_them() {
    let page = page();
    let mut blocks = 0;
    let fresh: Vec<String> = pieces(&page)
        .iter()
        .map(|piece| {
            let Some(block) = piece.strip_prefix("console\n") else { return (*piece).to_owned() };
            let (command, _) = split_console(block);
            blocks += 1;
            format!("console\n$ {command}{}", printed(command))
        })
        .collect();
    let fresh = fresh.join("```");
    assert!(blocks >= 4, "the page has lost its tables");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join("docs/crev.md"), &fresh).expect("the page can be written");
    } else {
        assert!(fresh == page, "the tables are stale: UPDATE_DOCS=1 cargo test -p spmdvm-cli --test crev_page");
    }
}

#[test]
fn pieces_of_programs_stand_in_the_programs() {
    let folder = std::fs::read_dir(root().join("examples/crev")).expect("the programs");
    let programs: Vec<String> =
        folder.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text")).collect();
    let page = page();
    let quoted: Vec<&str> = pieces(&page).iter().filter_map(|piece| piece.strip_prefix("c\n")).collect();
    assert!(quoted.len() >= 5, "the page has lost its programs");
    for piece in quoted {
        assert!(programs.iter().any(|program| program.contains(piece)), "no program has\n{piece}");
    }
}
