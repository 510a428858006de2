//! The properties of section 3.4, observed on the running machine.

use super::super::crev::{Call, Expr, Function, LaneOrder, Shape, Source, Stmt, lower};
use super::super::{BinaryOp, Inst, Outcome, RunOptions, State, Statistics, Step, SyncEntry, run, run_observed};
use super::program;

fn crev(function: &str, args: Vec<Expr>) -> Stmt {
    Stmt::Call(Call { crev: true, function: function.into(), args, to: None })
}

fn function(name: &str, params: &[&str], body: Vec<Stmt>) -> Function {
    let params = params.iter().map(|&name| (Shape::Uniform, name.to_owned())).collect();
    Function { name: name.into(), params, result: None, locals: Vec::new(), body }
}

/// `main` calls `f1`, which calls `f2`, … `depth` deep, each with `crev` in all threads of which `calls(thread)` is not 0.
/// The innermost adds 1 to the cell of its own thread and of each caller's thread.
fn nested(depth: usize, calls: &Expr, width: usize) -> Source {
    let mut functions = Vec::new();
    for level in (0..=depth).rev() {
        let body = if level == depth {
            let add =
                |a: Expr| Stmt::Store(a.clone(), Expr::binary(BinaryOp::Add, Expr::Load(a.into()), Expr::Constant(1)));
            vec![add(Expr::Tid)]
        } else {
            let call = crev(&format!("f{}", level + 1), vec![Expr::Tid]);
            vec![Stmt::If(calls.clone(), vec![call], Vec::new())]
        };
        let params: &[&str] = if level == 0 { &[] } else { &["caller"] };
        functions.push(function(&format!("f{level}"), params, body));
    }
    Source { functions, shared: vec![0; width] }
}

fn run_source(source: &Source, width: usize, order: LaneOrder) -> Outcome {
    let text = lower(source, order).expect("a program");
    run(&program(&text), &RunOptions::with_width(width)).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn counts_of_nest(depth: usize, calls: &Expr, width: usize) -> Statistics {
    run_source(&nested(depth, calls, width), width, LaneOrder::ASCENDING).statistics
}

/// Example 3.6: three nested calls, four threads.
#[test]
fn the_counts_of_example_3_6() {
    let counts = counts_of_nest(3, &Expr::Constant(1), 4);
    assert_eq!(counts.tasks, [4, 16, 64, 256]);
    assert_eq!((counts.most_waiting, counts.most_activations), (16, 4));
}

/// The example listing has these counts at any width: W, W², W³ and W⁴ tasks.
#[test]
fn the_listing_of_example_3_6() {
    let listing = include_str!("../../../../examples/usimd/nested_calls.usimd");
    for width in [1, 2, 4, 8] {
        let outcome = super::runs(listing, width);
        let (w, counts) = (width as u64, &outcome.statistics);
        assert_eq!(counts.tasks, [w, w * w, w * w * w, w * w * w * w]);
        assert_eq!((counts.most_waiting, counts.most_activations), (4 * width, 4));
        // Each of the W³ calls of `baz` has counted each thread once.
        assert!(outcome.shared[..width].iter().all(|&n| n == (w * w * w) as i64), "{:?}", outcome.shared);
    }
}

/// Figure 9's program as far as its text tells: `main` has a varying `a`, `bar` calls `baz(2)`, `baz` has a varying local.
#[test]
fn the_program_of_figure_9() {
    let local = |name: &str, init| (Shape::Varying, name.to_owned(), init);
    let baz = Function { locals: vec![local("d", Expr::var("c"))], ..function("baz", &["c"], Vec::new()) };
    let bar = function("bar", &["b"], vec![crev("baz", vec![Expr::Constant(2)])]);
    let foo = Function {
        locals: vec![local("x", Expr::binary(BinaryOp::Add, Expr::var("a"), Expr::Tid))],
        ..function("foo", &["a"], vec![crev("bar", vec![Expr::var("x")])])
    };
    let main = Function {
        locals: vec![local("a", Expr::Tid)],
        ..function("main", &[], vec![crev("foo", vec![Expr::var("a")])])
    };
    let source = Source { functions: vec![baz, bar, foo, main], shared: Vec::new() };
    let counts = run_source(&source, 4, LaneOrder::ASCENDING).statistics;
    assert_eq!(counts.tasks, [4, 16, 64, 256]);
    assert_eq!((counts.most_waiting, counts.most_activations, counts.most_contexts), (16, 4, 4));
}

#[test]
fn composition_is_multiplicative() {
    for (width, most) in [(1, 6), (2, 6), (4, 5), (8, 3), (16, 2), (64, 1)] {
        for depth in 0..=most {
            let counts = counts_of_nest(depth, &Expr::Constant(1), width);
            let tasks: Vec<u64> = (1..=depth as u32 + 1).map(|n| (width as u64).pow(n)).collect();
            assert_eq!(counts.tasks, tasks, "width {width}, depth {depth}");
            assert_eq!(counts.most_waiting, width * (depth + 1), "width {width}, depth {depth}");
            assert_eq!(counts.most_activations, depth + 1, "width {width}, depth {depth}");
        }
    }
}

/// Where only some threads call, there are as many calls as those, and each is still executed by all.
#[test]
fn divergent_calls_multiply_by_the_threads_that_call() {
    let odd = Expr::binary(BinaryOp::Rem, Expr::Tid, Expr::Constant(2));
    let counts = counts_of_nest(3, &odd, 4);
    assert_eq!(counts.tasks, [4, 2 * 4, 4 * 4, 8 * 4]);
    assert_eq!((counts.most_waiting, counts.most_activations), (4 + 2 + 2 + 2, 4));
    let memory = run_source(&nested(3, &odd, 4), 4, LaneOrder::ASCENDING).shared;
    assert_eq!(memory, [8, 8, 8, 8]);
}

/// Composability: contexts are left in the opposite order of entering, each exactly as it was.
#[test]
fn the_context_entered_last_is_left_first() {
    let odd = Expr::binary(BinaryOp::Rem, Expr::Tid, Expr::Constant(2));
    let text = lower(&nested(3, &odd, 4), LaneOrder::ASCENDING).expect("a program");
    let program = program(&text);
    let (mut entered, mut deepest) = (Vec::new(), 0);
    let mut before = (State::new(&program, 4).active, Vec::<SyncEntry>::new());
    run_observed(&program, &RunOptions::with_width(4), |step: &Step, state: &State<'_>| {
        match program.program().code[step.pc] {
            Inst::Everywhere => {
                entered.push(before.clone());
                assert_eq!((state.active, &state.sync), (state.all(), &Vec::new()));
            }
            Inst::EndEverywhere => {
                let context = entered.pop().expect("it was entered");
                assert_eq!((state.active, &state.sync), (context.0, &context.1));
            }
            _ => {}
        }
        deepest = deepest.max(entered.len());
        before = (state.active, state.sync.clone());
    })
    .expect("it ends");
    assert_eq!((deepest, entered.len()), (3, 0));
}

/// Calls that touch different memory may be made in any order, and each by its threads in any order.
#[test]
fn independent_calls_commute() {
    let index = |row: Expr| Expr::binary(BinaryOp::Add, Expr::binary(BinaryOp::Mul, row, Expr::Width), Expr::Tid);
    let cell = index(Expr::var("row"));
    let value = Expr::binary(BinaryOp::Add, Expr::Load(cell.clone().into()), index(Expr::Constant(3)));
    let add = function("add", &["row"], vec![Stmt::Store(cell, value)]);
    let wants =
        Expr::binary(BinaryOp::Ne, Expr::binary(BinaryOp::Rem, Expr::Tid, Expr::Constant(3)), Expr::Constant(0));
    let main = function("main", &[], vec![Stmt::If(wants, vec![crev("add", vec![Expr::Tid])], Vec::new())]);
    let width = 8;
    let source = Source { functions: vec![add, main], shared: (0..64).collect() };
    let expected: Vec<i64> = (0..64).map(|i| i + if i / 8 % 3 != 0 { 3 * 8 + i % 8 } else { 0 }).collect();
    for factor in [1, 3, 5, 7] {
        for first in 0..8 {
            let text = lower(&source, LaneOrder { factor, first }).expect("a program");
            for order in [vec![], vec![7, 6, 5, 4, 3, 2, 1, 0], vec![3, 1, 4, 0, 5, 7, 2, 6]] {
                let options = RunOptions { order, ..RunOptions::with_width(width) };
                let outcome = run(&program(&text), &options).expect("it ends");
                assert_eq!(outcome.shared, expected, "{factor}, {first}, {:?}", options.order);
            }
        }
    }
}

/// The order does show where calls depend on each other; so the orders above are orders indeed.
#[test]
fn dependent_calls_do_not_commute() {
    let last = function("last", &["who"], vec![Stmt::Store(Expr::Constant(0), Expr::var("who"))]);
    let main = function("main", &[], vec![crev("last", vec![Expr::Tid])]);
    let source = Source { functions: vec![last, main], shared: vec![-1] };
    let winner = |factor, first| run_source(&source, 8, LaneOrder { factor, first }).shared[0];
    assert_eq!((winner(1, 0), winner(7, 7), winner(3, 1)), (7, 0, (7 * 3 + 1) % 8));
}

/// A body with divergence of all kinds, to stand at any depth. `$` makes labels its own.
const DIVERGENT: &str = "
    enter body
    n$ = 0
    s$ = 0
Loop$:
    c$ = n$ < tid
    bz c$, End$
    p$ = (n$ + tid) % 2
    bz p$, Else$
    s$ = s$ + n$
    jmp Meet$
Else$:
    s$ = s$ - 1
Meet$:
    sync
    n$ = n$ + 1
    jmp Loop$
End$:
    sync
    leave
";

/// A step of the body: where in it, by which rule, which threads, and what waits.
type Moment = (usize, String, Vec<(usize, String, String)>);

/// The steps of each run through the body.
fn moments(text: &str) -> Vec<Vec<Moment>> {
    let program = program(text);
    let (mut runs, mut start) = (Vec::<Vec<Moment>>::new(), None);
    run_observed(&program, &RunOptions::with_width(4), |step: &Step, state: &State<'_>| {
        if matches!(&program.program().code[step.pc], Inst::Enter(name) if name == "body") {
            start = Some(step.pc);
            runs.push(Vec::new());
        }
        let Some(from) = start else { return };
        let waits = |entry: &SyncEntry| (entry.branch - from, entry.done.to_string(), entry.todo.to_string());
        let rule = format!("{:?} {}", step.rule, step.active);
        let moment = (step.pc - from, rule, state.sync.iter().map(waits).collect());
        runs.last_mut().expect("entered").push(moment);
        if matches!(program.program().code[step.pc], Inst::Leave) {
            start = None;
        }
    })
    .expect("it ends");
    runs
}

/// Synchronisation parity: from what happens at branches and `sync`, a body cannot tell whether it runs inside r-functions.
#[test]
fn synchronisation_is_the_same_inside_and_outside() {
    let outside = moments(&DIVERGENT.replace('$', ""));
    assert_eq!(outside.len(), 1);
    assert!(outside[0].iter().any(|moment| moment.2.len() == 2), "branches nest");
    let call = |inside: &str, n: usize| {
        format!(
            "everywhere\n i{n} = 0\nTurn{n}: jmp_mask i{n}, Call{n}\n jmp Next{n}\nCall{n}:\n{inside}
             Next{n}: i{n} = i{n} + 1\n m{n} = i{n} == W\n bz m{n}, Turn{n}\n end_everywhere\n"
        )
    };
    let divergent = |inside: &str, n: usize| format!("v{n} = tid % 2\n bz v{n}, Out{n}\n{inside}Out{n}: sync\n");
    let body = DIVERGENT.replace('$', "1");
    let once = divergent(&call(&body, 1), 1);
    let twice = divergent(&call(&once, 2), 2);
    for (text, runs) in [(once, 2), (twice, 4)] {
        let inside = moments(&text);
        assert_eq!(inside.len(), runs);
        assert!(inside.iter().all(|run| *run == outside[0]), "{inside:#?}");
    }
}
