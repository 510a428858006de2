//! Definition 3.4: which programs are well-formed, and what is said of those that are not.

use super::super::{Error, ErrorKind};
use super::{pointed, program, refused, runs};

fn path(error: &Error) -> &str {
    error.notes.iter().find_map(|note| note.strip_prefix("the path: ")).expect("a path")
}

#[test]
fn blocks_follow_and_nest() {
    program("everywhere\n end_everywhere\n everywhere\n everywhere\n end_everywhere\n end_everywhere");
    program("v = 1\n bz v, L\n everywhere\n sync\n end_everywhere\nL: sync");
    program("L: everywhere\n v = 1\n end_everywhere\n bz v, L");
    program("everywhere\n v = 1\n bz v, L\n everywhere\n end_everywhere\nL: sync\n end_everywhere");
}

#[test]
fn an_everywhere_without_end() {
    let text = "v = 1\n everywhere\n v = 2\n stop";
    let error = refused(text, ErrorKind::IllFormed);
    assert_eq!((pointed(&error, text), error.span.start), ("everywhere", 7));
    assert_eq!(error.message, "this `everywhere` is never ended: no `end_everywhere` can come after it");
    assert_eq!(path(&error), "line 2 `everywhere` → line 3 `v = 2` → line 4 `stop` → the end");
}

#[test]
fn an_end_without_everywhere() {
    let error = refused("v = 1\n end_everywhere", ErrorKind::IllFormed);
    assert_eq!(error.message, "this `end_everywhere` ends nothing: no `everywhere` can come before it");
    assert_eq!(path(&error), "line 1 `v = 1` → line 2 `end_everywhere`");
}

#[test]
fn a_branch_out_of_the_block() {
    let text = "v = 1\n everywhere\n bz v, Out\n end_everywhere\nOut: sync\n stop";
    let error = refused(text, ErrorKind::IllFormed);
    assert_eq!(error.message, "`everywhere` can be left without its `end_everywhere`");
    assert_eq!(path(&error), "line 2 `everywhere` → line 3 `bz v, Out` → line 5 `sync` → line 6 `stop` → the end");
    assert_eq!(&text[error.places[0].0.clone()], "end_everywhere");
}

#[test]
fn a_branch_into_the_block() {
    let text = "v = 1\n bz v, In\n everywhere\nIn: sync\n end_everywhere";
    let error = refused(text, ErrorKind::IllFormed);
    assert_eq!(error.message, "`end_everywhere` can be reached without its `everywhere`");
    assert_eq!(path(&error), "line 1 `v = 1` → line 2 `bz v, In` → line 4 `sync` → line 5 `end_everywhere`");
}

/// Balanced on every path, but neither end post-dominates.
#[test]
fn one_end_on_each_side_of_a_branch() {
    let text = "everywhere\n v = 1\n bz v, Else\n end_everywhere\n jmp End\nElse: end_everywhere\nEnd: sync";
    let errors = super::assemble(text).expect_err("not well-formed");
    assert!(errors.iter().all(|e| e.kind == ErrorKind::IllFormed));
    assert_eq!(errors[0].message, "`everywhere` can be left without its `end_everywhere`");
}

#[test]
fn a_jump_over_both_is_no_fault_but_over_one_is() {
    program("v = 1\n bz v, L\n everywhere\n end_everywhere\nL: sync");
    refused("v = 1\n bz v, L\n everywhere\nL: end_everywhere", ErrorKind::IllFormed);
    refused("everywhere\n v = 1\n bz v, L\n end_everywhere\nL: stop", ErrorKind::IllFormed);
}

/// Control equivalent by the definition, but the context would be ended twice.
#[test]
fn a_loop_around_one_of_both() {
    let text = "everywhere\nL: v = tid\n end_everywhere\n bz v, L";
    let error = refused(text, ErrorKind::IllFormed);
    assert_eq!(error.message, "a loop holds an `everywhere` or `end_everywhere` without the other");
    assert_eq!(path(&error), "line 2 `v = tid` → line 3 `end_everywhere` → line 4 `bz v, L` → line 2 `v = tid`");
}

#[test]
fn an_endless_loop_in_the_block_leaves_it_unended() {
    refused("everywhere\nL: jmp L\n end_everywhere", ErrorKind::IllFormed);
    program("L: everywhere\n end_everywhere\n jmp L");
}

#[test]
fn what_cannot_be_reached_does_not_matter() {
    runs("stop\n end_everywhere\n everywhere", 4);
}

#[test]
fn bodies_of_calls_are_blocks_too() {
    program("enter f\n enter g\n leave\n leave");
    let error = refused("enter f\n stop", ErrorKind::IllFormed);
    assert_eq!(error.message, "this `enter` is never ended: no `leave` can come after it");
    refused("v = 1\n bz v, L\n leave\nL: stop", ErrorKind::IllFormed);
}

#[test]
fn long_paths_are_cut_in_the_middle() {
    let text = format!("everywhere\n{} stop", "v = 1\n".repeat(50));
    let error = refused(&text, ErrorKind::IllFormed);
    assert!(path(&error).contains(" → … → "), "{}", path(&error));
}
