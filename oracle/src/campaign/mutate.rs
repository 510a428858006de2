//! Changes of programs at random, by their syntax trees. What comes out may trap, or be no program at all.

use crate::TestCase;
use crate::random::Rng;
use crate::tree::{Edit, Edits, NodeId, Tree};
use spmdvm::Options;
use spmdvm::frontend::ast::ExprKind;
use spmdvm::frontend::bumpalo::Bump;

/// Most edits of one mutant.
const MAX_EDITS: u64 = 3;

/// Numbers where something changes.
const NUMBERS: [&str; 14] =
    ["0", "1", "2", "3", "7", "8", "31", "32", "63", "127", "255", "32767", "2147483647", "0x80000000"];

/// A program with some changes; `None` if the draw gave none.
pub fn mutate(case: &TestCase, rng: &mut Rng, options: &Options) -> Option<TestCase> {
    let arena = Bump::new();
    let tree = Tree::parse(&arena, &case.name, &case.text, options).ok()?;
    let (statements, expressions): (Vec<NodeId>, Vec<NodeId>) =
        (tree.statements().collect(), tree.expressions().collect());
    if statements.is_empty() || expressions.is_empty() {
        return None;
    }
    let mut edits = Edits::new();
    for _ in 0..1 + rng.draw(MAX_EDITS) {
        let edit = match rng.draw(3) {
            0 => of_statement(&tree, &statements, rng),
            _ => of_expression(&tree, &expressions, rng),
        };
        if let Some(edit) = edit {
            // One that overlaps another is left out.
            let _ = edits.add(edit);
        }
    }
    let name = format!("{}+", case.name.trim_end_matches('+'));
    (!edits.is_empty()).then(|| TestCase { name, text: edits.apply(&case.text), call: case.call.clone() })
}

/// Deletes a statement, does it again, or puts another one before it.
fn of_statement(tree: &Tree<'_>, statements: &[NodeId], rng: &mut Rng) -> Option<Edit> {
    let (at, other) = (rng.pick(statements), rng.pick(statements));
    match rng.draw(3) {
        0 => tree.delete(at),
        1 => tree.insert_after(at, tree.source(at)?),
        _ => tree.insert_before(at, tree.source(other)?),
    }
}

/// Replaces an expression by another one, or a number by a special one.
fn of_expression(tree: &Tree<'_>, expressions: &[NodeId], rng: &mut Rng) -> Option<Edit> {
    let (at, other) = (rng.pick(expressions), rng.pick(expressions));
    match tree.as_expr(at)?.kind {
        ExprKind::Int { .. } => tree.replace(at, rng.pick(&NUMBERS)),
        _ => tree.replace(at, format!("({})", tree.source(other)?)),
    }
}
