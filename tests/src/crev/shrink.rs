//! Makes programs that fail smaller.

use spmdvm::usimd::crev::{Source, Stmt};

/// The smallest program that can be had by leaving out statements, one at a time, and by putting what a statement holds in its
/// place, such that it is still a program and still fails.
pub fn shrink(source: &Source, fails: impl Fn(&Source) -> bool) -> Source {
    let mut best = source.clone();
    loop {
        let smaller = candidates(&best).find(|s| s.check().is_ok() && fails(s));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// How a statement is made smaller.
#[derive(Clone, Copy)]
enum Cut {
    /// It is left out.
    Whole,
    /// Its first block (or second) takes its place.
    Block(usize),
}

fn candidates(source: &Source) -> impl Iterator<Item = Source> + '_ {
    let without_function = (0..source.functions.len().saturating_sub(1)).map(|i| {
        let mut smaller = source.clone();
        smaller.functions.remove(i);
        smaller
    });
    let statements: usize = source.functions.iter().map(|f| count(&f.body)).sum();
    let cuts = [Cut::Whole, Cut::Block(0), Cut::Block(1)];
    let cut_once = (0..statements).flat_map(move |at| cuts.map(|cut| (at, cut))).filter_map(|(at, cut)| {
        let mut smaller = source.clone();
        let mut left = at;
        let done = smaller.functions.iter_mut().any(|f| cut_statement(&mut f.body, &mut left, cut));
        (done && smaller != *source).then_some(smaller)
    });
    without_function.chain(cut_once)
}

fn blocks(stmt: &Stmt) -> Vec<&Vec<Stmt>> {
    match stmt {
        Stmt::If(_, then, other) => vec![then, other],
        Stmt::While(_, body) | Stmt::Everywhere(body) => vec![body],
        _ => Vec::new(),
    }
}

fn count(stmts: &[Stmt]) -> usize {
    stmts.iter().map(|stmt| 1 + blocks(stmt).into_iter().map(|block| count(block)).sum::<usize>()).sum()
}

/// Cuts the statement that is `left` statements away, outer ones before what they hold.
fn cut_statement(stmts: &mut Vec<Stmt>, left: &mut usize, cut: Cut) -> bool {
    for i in 0..stmts.len() {
        if *left == 0 {
            let held = match cut {
                Cut::Whole => Some(Vec::new()),
                Cut::Block(b) => blocks(&stmts[i]).get(b).map(|block| (*block).clone()),
            };
            return held.is_some_and(|held| {
                stmts.splice(i..=i, held);
                true
            });
        }
        *left -= 1;
        let inner: Vec<&mut Vec<Stmt>> = match &mut stmts[i] {
            Stmt::If(_, then, other) => vec![then, other],
            Stmt::While(_, body) | Stmt::Everywhere(body) => vec![body],
            _ => Vec::new(),
        };
        for block in inner {
            let held = count(block);
            if *left < held {
                return cut_statement(block, left, cut);
            }
            *left -= held;
        }
    }
    false
}
