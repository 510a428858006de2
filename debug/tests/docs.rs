//! The session in `docs/stepper.md` is what the console says. `UPDATE_DOCS=1` writes it anew.

mod common;

use common::session;
use spmdvm::Value;
use std::path::Path;

const BEGIN: &str = "```console\n$ spmdvm debug settle.ispc";

/// The text between two marks, with where it begins and ends.
fn between<'t>(text: &'t str, from: &str, to: &str) -> (usize, &'t str) {
    let start = text.find(from).unwrap_or_else(|| panic!("`{from}` is there")) + from.len();
    (start, &text[start..start + text[start..].find(to).expect("its end")])
}

#[test]
fn the_session_is_what_the_console_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/stepper.md");
    let text = std::fs::read_to_string(&path).expect("the page").replace("\r\n", "\n");
    let (_, program) = between(&text, "```ispc\n", "```");
    let (start, block) = between(&text, BEGIN, "```");
    let first = block.split_inclusive('\n').next().expect("the command");
    let commands: Vec<&str> =
        block.lines().filter_map(|line| line.strip_prefix('(')?.split_once(") :")).map(|c| c.1).collect();
    let script: Vec<String> = commands.iter().map(|command| format!(":{command}")).collect();
    let mut a = [1.5f32, 20.0, 3.0, 0.5];
    let said = session(program, &[Value::slice_mut(&mut a), 4i32.into()], &script.join("\n"));
    let expected = first.to_owned() + &said.replace("test.ispc", "settle.ispc");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let new = text[..start].to_owned() + &expected + &text[start + block.len()..];
        std::fs::write(&path, new).expect("it can be written");
        return;
    }
    assert_eq!(block, expected, "UPDATE_DOCS=1 writes it anew");
}
