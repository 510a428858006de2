//! Each rule by itself, and the errors of runs where no rule applies.

use super::super::{ErrorKind, Rule, RunOptions, State, Step, assemble, run_observed};
use super::{leaves, pointed, program, runs, stops};

/// The rules by which a program runs, with the active threads.
fn rules(text: &str) -> Vec<(Rule, String)> {
    let mut list = Vec::new();
    let see = |step: &Step, _: &State<'_>| list.push((step.rule, step.active.to_string()));
    run_observed(&program(text), &RunOptions::with_width(4), see).expect("it ends");
    list
}

/// The rules that are not IT.
fn control(text: &str) -> Vec<Rule> {
    rules(text).into_iter().map(|(rule, _)| rule).filter(|rule| *rule != Rule::It).collect()
}

#[test]
fn a_branch_that_parts_threads_runs_those_that_are_not_zero_first() {
    let text = "v = tid / 2\n bz v, Else\n v = 7\n jmp End\nElse: v = 8\nEnd: sync\n stop";
    let all = "{0, 1, 2, 3}";
    let expected = [
        (Rule::It, all),
        (Rule::Bd, all),
        (Rule::It, "{2, 3}"),
        (Rule::Jp, "{2, 3}"),
        (Rule::Ss, "{2, 3}"),
        (Rule::It, "{0, 1}"),
        (Rule::SiSync, "{0, 1}"),
        (Rule::Sp, all),
    ];
    assert_eq!(rules(text), expected.map(|(rule, active)| (rule, active.to_owned())));
}

#[test]
fn a_branch_that_parts_no_threads_pushes_nothing() {
    assert_eq!(control("v = 0\n bz v, L\nL: sync\n stop"), [Rule::Bt, Rule::Sn, Rule::Sp]);
    assert_eq!(control("v = 1\n bz v, L\nL: sync\n stop"), [Rule::Bf, Rule::Sn, Rule::Sp]);
    assert_eq!(runs("v = 1\n bz v, L\nL: sync\n stop", 4).statistics.most_branches, 0);
}

/// The `sync` of an inner branch that parts no threads leaves the outer branch alone.
#[test]
fn a_sync_belongs_to_the_branch_whose_paths_meet_there() {
    let text = "
        .zeros 4
        a = tid % 2
        bz a, Else
        b = 1
        bz b, Inner
        c = 10
 Inner: sync
        c = c + 1
        jmp End
  Else: c = 5
   End: sync
        ↑tid = c";
    leaves(text, 4, &[5, 11, 5, 11]);
    let expected = [Rule::Bd, Rule::Bf, Rule::Sn, Rule::Jp, Rule::Ss, Rule::SiSync, Rule::Sp];
    assert_eq!(control(text), expected);
}

#[test]
fn branches_that_meet_at_one_label_meet_one_after_the_other() {
    let text = "
        .zeros 4
        c = 0
        a = tid % 2
        bz a, End
        b = tid / 2
        bz b, End
        c = 1
   End: sync
        sync
        ↑tid = c";
    leaves(text, 4, &[0, 0, 0, 1]);
}

/// Threads leave a loop at different times; those that have left are one set (SS adds to it).
#[test]
fn a_loop_that_ends_in_a_branch() {
    let text = "
        .zeros 4
        n = 0
  Loop: n = n + 1
        c = n > tid
        bz c, Loop
        sync
        ↑tid = n";
    leaves(text, 4, &[1, 2, 3, 4]);
    assert_eq!(runs(text, 4).statistics.most_branches, 1);
}

#[test]
fn a_loop_that_begins_with_a_branch() {
    let text = "
        .zeros 4
        n = 0
  Loop: c = n < tid * 2
        bz c, End
        n = n + 1
        jmp Loop
   End: sync
        ↑tid = n";
    leaves(text, 4, &[0, 2, 4, 6]);
    assert_eq!(runs(text, 4).statistics.most_branches, 1);
}

#[test]
fn everywhere_turns_all_threads_on_and_back() {
    let text = "
        .zeros 4
        a = 0
        v = tid == 2
        bz v, End
        everywhere
        a = a + 1
        end_everywhere
        a = a + 10
   End: sync
        ↑tid = a";
    leaves(text, 4, &[1, 1, 11, 1]);
    let expected = [Rule::Bd, Rule::Eb, Rule::Ee, Rule::Ss, Rule::SiSync, Rule::Sp];
    assert_eq!(control(text), expected);
}

#[test]
fn jmp_mask_asks_about_the_context_around() {
    let inner = |thread: i64| {
        format!(
            ".zeros 4\n v = tid % 2\n bz v, End\n everywhere\n n = {thread}\n r = 2\n jmp_mask n, Was\n r = 1
             Was: end_everywhere\n ↑tid = r\n End: sync"
        )
    };
    for (thread, was) in [(0, 1), (1, 2), (2, 1), (3, 2), (4, 1), (-1, 1)] {
        leaves(&inner(thread), 4, &[0, was, 0, was]);
    }
    // Outside of any `everywhere` all threads count as active.
    assert_eq!(control("n = 3\n jmp_mask n, L\nL: stop"), [Rule::Ba, Rule::Sp]);
    assert_eq!(control("n = 4\n jmp_mask n, L\nL: stop"), [Rule::Bi, Rule::Sp]);
}

/// It reads what the variables were before it, whatever the order of the threads.
#[test]
fn shfl_reads_before_it_writes() {
    let text = ".zeros 4\n v = tid * 10\n l = (tid + 1) % 4\n shfl(v, l)\n ↑tid = v";
    for order in [vec![], vec![3, 2, 1, 0], vec![2, 0, 3, 1]] {
        let options = RunOptions { order, ..RunOptions::with_width(4) };
        let outcome = super::super::run(&program(text), &options).expect("it ends");
        assert_eq!(outcome.shared, [10, 20, 30, 0]);
    }
}

#[test]
fn the_last_thread_in_order_wins_a_store() {
    let text = ".zeros 1\n ↑0 = tid";
    for (order, winner) in [(vec![], 3), (vec![3, 2, 1, 0], 0), (vec![1, 3, 0, 2], 2)] {
        let options = RunOptions { order, ..RunOptions::with_width(4) };
        assert_eq!(super::super::run(&program(text), &options).expect("it ends").shared, [winner]);
    }
}

#[test]
fn expressions_bind_as_in_c() {
    let text = ".zeros 12
        a = 2 + 3 * 4\n ↑0 = a
        a = (2 + 3) * 4\n ↑1 = a
        a = 10 - 3 - 2\n ↑2 = a
        a = 1 < 2 == 1\n ↑3 = a
        a = 6 & 3 | 8 ^ 1\n ↑4 = a
        a = -7 / 2\n ↑5 = a
        a = -7 % 3\n ↑6 = a
        a = 9223372036854775807 + 1\n ↑7 = a
        a = -9223372036854775808 / -1\n ↑8 = a
        a = 3 != 3\n ↑9 = a
        a = 3 >= 3\n ↑10 = a
        a = W\n ↑11 = a";
    leaves(text, 4, &[14, 20, 5, 1, 6 & 3 | 8 ^ 1, -3, -1, i64::MIN, i64::MIN, 0, 1, 4]);
}

#[test]
fn a_value_that_was_never_given_is_an_error() {
    let text = "v = tid / 2\n bz v, End\n x = 1\nEnd: sync\n y = x + 1";
    let error = stops(text, ErrorKind::UndefinedValue);
    assert_eq!(error.message, "thread 0 uses `x`, which has no value in it");
    assert_eq!(pointed(&error, text), "y = x + 1");
    stops("bz v, L\nL: stop", ErrorKind::UndefinedValue);
    stops(".zeros 1\n ↑v = 1", ErrorKind::UndefinedValue);
    stops(".zeros 1\n ↑0 = v", ErrorKind::UndefinedValue);
    stops("jmp_mask v, L\nL: stop", ErrorKind::UndefinedValue);
}

/// `shfl` itself is no error; using what it gave is.
#[test]
fn a_value_from_outside_the_mask_is_an_error_when_used() {
    let text = |then: &str| {
        format!(
            "x = 5\n v = tid % 2\n bz v, End\n everywhere\n y = shfl(x, 2)\n{then} end_everywhere\nEnd: sync\n stop"
        )
    };
    runs(&text(""), 4);
    let text = text("z = y + 1\n");
    let error = stops(&text, ErrorKind::UndefinedValue);
    assert_eq!((pointed(&error, &text), &text[error.places[0].0.clone()]), ("z = y + 1", "y = shfl(x, 2)"));
    assert_eq!(error.places[0].1, "thread 0 read it here from thread 2, outside the mask");
    // A thread that is not there is outside, too.
    stops("x = 5\n shfl(x, 4)\n y = x", ErrorKind::UndefinedValue);
    stops("x = 5\n shfl(x, -1)\n y = x", ErrorKind::UndefinedValue);
}

#[test]
fn addresses_are_checked() {
    let error = stops(".zeros 3\n x = ↓tid", ErrorKind::Address);
    assert_eq!(error.message, "thread 3 reads address 3, but shared memory has 3 cells");
    let error = stops(".zeros 3\n a = tid - 1\n ↑a = 1", ErrorKind::Address);
    assert_eq!(error.message, "thread 0 writes address -1, but shared memory has 3 cells");
}

#[test]
fn threads_that_are_not_active_do_nothing() {
    leaves(".shared 5 6\n v = tid < 2\n bz v, End\n ↑tid = tid\nEnd: sync", 4, &[0, 1]);
}

#[test]
fn division_by_zero_is_an_error_of_a_thread() {
    assert_eq!(stops("x = 6 / (tid - 2)", ErrorKind::DivisionByZero).message, "thread 2 divides 6 by zero");
    stops("x = 6 % tid", ErrorKind::DivisionByZero);
}

#[test]
fn jmp_mask_needs_one_thread() {
    let error = stops("x = tid / 2\n jmp_mask x, L\nL: stop", ErrorKind::Disagreement);
    assert_eq!(error.label, "it is 0 in thread 0, 1 in thread 2");
}

#[test]
fn threads_that_wait_forever_are_an_error() {
    let text = "v = tid % 2\n bz v, L\n x = 1\nL: stop";
    let error = stops(text, ErrorKind::Unsynchronised);
    assert_eq!(error.message, "threads {1, 3} reach `stop` while others wait");
    assert_eq!(&text[error.places[0].0.clone()], "bz v, L");
    let text = "everywhere\n v = tid % 2\n bz v, L\n x = 1\nL: end_everywhere\n stop";
    let error = stops(text, ErrorKind::Unsynchronised);
    assert_eq!(error.message, "threads {1, 3} reach `end_everywhere` while others wait");
}

#[test]
fn a_runaway_program_stops_at_its_fuel() {
    let text = "L: v = 1\n jmp L";
    let error = stops(text, ErrorKind::OutOfFuel);
    assert_eq!(error.message, "the program has not ended after 10000000 instructions");
    let options = RunOptions { fuel: 3, ..RunOptions::with_width(1) };
    let error = super::super::run(&program(text), &options).expect_err("it does not end");
    assert_eq!(pointed(&error, text), "jmp L");
    // Exactly enough is enough.
    super::super::run(&program("v = 1\n v = 2\n stop"), &options).expect("three instructions");
}

#[test]
fn the_width_is_what_the_program_says() {
    let program = assemble(".width 2\n stop").expect("a program");
    let error = super::super::run(&program, &RunOptions::with_width(4)).expect_err("another width");
    assert_eq!(error.message, "the program is written for 2 threads, not for 4");
    super::super::run(&program, &RunOptions::with_width(2)).expect("its width");
}
