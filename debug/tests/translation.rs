//! Runs of programs that a translator wrote: seen as runs of what they were written from.

mod common;

use common::module;
use spmdvm::{Run, Value};
use spmdvm_debug::{Console, Session, Settings, Translation};
use std::collections::{HashMap, HashSet};

/// What was translated: `shapes.lang`.
const WRITTEN: &str = "\
shape half of v:
    give v / 2

shape settle of numbers:
    each x:
        while x > 1:
            x := half x
        keep x
";

/// The same as a program, with the lines that they come from.
const LINES: &[(&str, Option<u32>)] = &[
    ("static inline float support(float v) { return v * 0.5f; }", None),
    ("noinline static float half_1(float v_v) {", Some(1)),
    ("    return support(v_v);", Some(2)),
    ("}", None),
    ("export void entry__(uniform float numbers[], uniform int numbers__n) {", Some(4)),
    ("    foreach (at__1 = 0 ... numbers__n) {", Some(5)),
    ("        float v_x;", Some(5)),
    ("        v_x = numbers[at__1];", Some(5)),
    ("        while (true) {", Some(6)),
    ("            bool t__1 = v_x > 1;", Some(6)),
    ("            if (!t__1) break;", Some(6)),
    ("            v_x = half_1(v_x);", Some(7)),
    ("        }", Some(6)),
    ("        numbers[at__1] = v_x;", Some(8)),
    ("    }", Some(5)),
    ("}", Some(4)),
];

fn translation() -> Translation {
    let names = |pairs: &[(&str, &str)]| -> HashMap<String, String> {
        pairs.iter().map(|(own, written)| ((*own).to_owned(), (*written).to_owned())).collect()
    };
    Translation {
        files: vec![("shapes.lang".into(), WRITTEN.into())],
        lines: LINES.iter().map(|(_, line)| line.map(|line| (0, line))).collect(),
        functions: names(&[("entry__", "settle"), ("half_1", "half")]),
        variables: names(&[("numbers", "numbers"), ("v_x", "x"), ("v_v", "v")]),
        declarations: HashSet::from([7]),
    }
}

/// What a console shows of the run to a script.
fn session(script: &str) -> String {
    let source: String = LINES.iter().map(|(text, _)| format!("{text}\n")).collect();
    let module = module(&source);
    let export = module.exports()[0].clone();
    let mut numbers = [1.5f32, 20.0, 3.0, 0.5, 7.0];
    let args = [Value::slice_mut(&mut numbers), 5i32.into()];
    let mut shown = String::new();
    let done = Run::new(&module).call_by_steps(&export, &args, |steps| {
        let settings = Settings { translation: Some(translation()), ..Settings::default() };
        let mut session = Session::new(steps, export.clone(), 0xf, settings);
        let mut console = Console::new(&mut session, false);
        shown += &console.place();
        for line in script.lines().map(str::trim) {
            shown += &format!("{}{line}\n", console.prompt());
            shown += &console.execute(line).text;
        }
        session.finish().expect("nothing interrupts it")
    });
    assert!(done.expect("it returns").is_none());
    let scale = |x: f32| std::iter::successors(Some(x), |x| Some(x / 2.0)).find(|x| *x <= 1.0).expect("a small one");
    assert_eq!(numbers, [1.5, 20.0, 3.0, 0.5, 7.0].map(scale), "the run went to its end");
    shown
}

#[test]
fn lines_and_names_are_those_that_were_written() {
    let shown = session("next 2\nbreak 7\ncontinue\nin\nwhere\nlist\nvars\nnext\nout\nback\nwhy x[1] 3");
    insta::assert_snapshot!(shown);
}

#[test]
fn nothing_of_the_translator_is_seen() {
    let shown = session("vars\nbreak half\ncontinue\nnext\nvars\nout\nnext\nnext\nvars\nback 3\nwhere\nmasks\nprint x");
    for own in ["v_x", "v_v", "t__", "at__", "numbers__n", "entry__", "half_1", "support", "test.ispc"] {
        assert!(!shown.contains(own), "`{own}` is shown:\n{shown}");
    }
    assert!(shown.contains("shapes.lang:2 in half, 1 deep"), "{shown}");
}

#[test]
fn places_are_found_by_what_was_written() {
    let shown = session("break shapes.lang:7\nbreak settle\nbreak 3\nbreak 90\nbreak entry\nprint v_x");
    assert!(shown.contains("1: break at line 7\n"), "{shown}");
    assert!(shown.contains("2: break at line 4\n"), "{shown}");
    assert!(shown.contains("3: break at line 4, the next line with code\n"), "{shown}");
    assert!(shown.contains("there is no code at 90 or below"), "{shown}");
    assert!(shown.contains("`entry` is no line, and no function"), "{shown}");
    assert!(shown.contains("error: "), "{shown}");
}
