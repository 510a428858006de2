//! What the assembler reads, and what it says of what it cannot.

use super::super::{ErrorKind, assemble};
use super::{leaves, pointed, program, refused};

#[test]
fn both_spellings_of_memory_are_one() {
    leaves(".shared 3 4\n v = ↓1\n ↑0 = v", 1, &[4, 4]);
    leaves(".shared 3 4\n v = [1]\n [0] = v", 1, &[4, 4]);
}

#[test]
fn labels_stand_where_they_like() {
    for text in [
        "jmp End\nEnd stop",
        "jmp End\nEnd: stop",
        "jmp End\nEnd\n stop",
        "jmp End\nEnd:\n\n ; here\n stop",
        "jmp End\nEnd:",
    ] {
        assert_eq!(program(text).program().labels["End"], 1, "{text}");
        assert_eq!(program(text).program().code.len(), 2, "{text}");
    }
    leaves(".zeros 1\n jmp A\nB ↑0 = 1\n stop\nA jmp B", 1, &[1]);
    leaves(".zeros 1\nA v = 1\n [0] = v", 1, &[1]);
}

#[test]
fn a_program_may_be_empty() {
    leaves("", 4, &[]);
    leaves("; nothing\n\n.shared 1 -2\n.zeros 1", 4, &[1, -2, 0]);
}

#[test]
fn an_unknown_label_is_pointed_at() {
    let text = "v = 0\n bz v, done\nDone: stop";
    let error = refused(text, ErrorKind::UnknownLabel);
    assert_eq!((error.message.as_str(), pointed(&error, text)), ("there is no label `done`", "done"));
    assert_eq!(error.places[0].1, "did you mean `Done`?");
    assert_eq!(refused("A: stop\nB: jmp C", ErrorKind::UnknownLabel).notes, ["the labels are A, B"]);
    assert_eq!(refused("jmp C", ErrorKind::UnknownLabel).notes, ["the program has no labels"]);
}

#[test]
fn a_label_stands_once() {
    let text = "A: sync\nA: stop";
    let error = refused(text, ErrorKind::DuplicateLabel);
    assert_eq!((error.span.start, error.places[0].0.clone()), (8, 0..1));
}

#[test]
fn what_cannot_be_read_is_pointed_at() {
    let cases = [
        ("bnz v, L", "there is no instruction `bnz`", "bnz"),
        ("v = ", "expected a variable or a number, found the end of the text", ""),
        ("v = 1 +\n stop", "expected a variable or a number, found the end of the line", "\n"),
        ("v = (1 + 2", "expected `)`, found the end of the text", ""),
        ("v == 1", "there is no instruction `v`", "v"),
        ("sync sync", "expected the end of the line, found `sync`", "sync"),
        ("bz v L", "expected `,`, found `L`", "L"),
        ("v = shfl(1, 2)", "expected a variable, found `1`", "1"),
        ("tid = 1", "expected a variable, found `tid`", "tid"),
        ("v = sync", "expected a variable, found `sync`", "sync"),
        ("v = 99999999999999999999", "the number does not fit into 64 bits", "99999999999999999999"),
        (".foo 1", "there is no directive `.foo`", ".foo"),
        (".shared x", "expected a number, found `x`", "x"),
        ("v = 1 $ 2", "expected the end of the line, found `$`", "$"),
        ("1 = v", "expected an instruction, found `1`", "1"),
    ];
    for (text, message, at) in cases {
        let error = refused(text, ErrorKind::Syntax);
        assert_eq!((error.message.as_str(), pointed(&error, text)), (message, at), "{text}");
    }
    assert_eq!(refused(".width 65", ErrorKind::Width).message, "a warp has 1 to 64 threads");
    assert_eq!(refused(".zeros 99999999999", ErrorKind::Address).message, "shared memory has at most 2²⁴ cells");
}

#[test]
fn all_errors_are_reported() {
    let errors = assemble("bnz v, L\n v = \n jmp L").expect_err("three mistakes");
    let kinds: Vec<ErrorKind> = errors.iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [ErrorKind::Syntax, ErrorKind::Syntax, ErrorKind::UnknownLabel]);
}

/// No text makes it panic, and nothing nests too deep for it.
#[test]
fn any_text_is_read_or_refused() {
    assert!(assemble(&format!("v = {}1", "(".repeat(100_000))).is_err());
    assert!(assemble("é ↑ ↓ \u{0} \"").is_err());
    let pieces = ["v", " ", "=", "↑", "tid", "bz", ",", "(", ")", "\n", "L", ":", "1", "-", "[", "]", "shfl", ".zeros"];
    let mut state = 1u64;
    for _ in 0..2000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text += pieces[(state >> 33) as usize % pieces.len()];
        }
        let _ = assemble(&text);
    }
}
