//! Statements left out, and statements put in the place of what holds them.

use super::Unit;
use crate::tree::{Edit, NodeId, Tree};
use spmdvm::frontend::ast::{Node, Role, StmtKind};
use spmdvm::frontend::lex::TokenKind;
use std::ops::Range;

/// Statements of blocks, and `else` parts.
pub fn statements(tree: &Tree<'_>) -> Vec<Unit> {
    let can_go = |&id: &NodeId| matches!(tree.role(id), Role::Statement | Role::Else);
    tree.statements().filter(can_go).filter_map(|id| Some(vec![tree.delete(id)?])).collect()
}

/// `if (c) a else b` becomes `a`.
pub fn to_then(tree: &Tree<'_>) -> Vec<Unit> {
    to_child(tree, Role::Then)
}

/// `if (c) a else b` becomes `b`.
pub fn to_else(tree: &Tree<'_>) -> Vec<Unit> {
    to_child(tree, Role::Else)
}

fn to_child(tree: &Tree<'_>, role: Role) -> Vec<Unit> {
    let to = |id| Some(vec![tree.replace(id, tree.source(tree.child(id, role)?)?)?]);
    tree.statements().filter_map(to).collect()
}

/// A loop becomes its body, done once: with the counters at the values that they begin with.
pub fn to_body(tree: &Tree<'_>) -> Vec<Unit> {
    let once = |id: NodeId| {
        let body = tree.source(tree.child(id, Role::Body)?)?;
        let text = match tree.as_stmt(id)?.kind {
            StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::ForeachActive { .. } => body.to_owned(),
            StmtKind::Unmasked(_) => body.to_owned(),
            StmtKind::For { .. } => {
                let first = tree.child(id, Role::First).and_then(|first| tree.source(first));
                format!("{{ {} {body} }}", first.unwrap_or_default())
            }
            StmtKind::Foreach { .. } => format!("{{ {} {body} }}", counters(tree, id)?),
            StmtKind::ForeachUnique { var, .. } => format!("{{ uniform int {} = 0; {body} }}", var.name),
            _ => return None,
        };
        Some(vec![tree.replace(id, text)?])
    };
    let hints =
        tree.statements().filter(|&id| matches!(tree.as_stmt(id).map(|s| s.kind), Some(StmtKind::Hinted { .. })));
    let unhinted = hints.filter_map(|id| Some(vec![tree.replace(id, tree.source(tree.child(id, Role::Labelled)?)?)?]));
    tree.statements().filter_map(once).chain(unhinted).collect()
}

/// The counters of a `foreach` as variables; the last dimension goes across the lanes.
fn counters(tree: &Tree<'_>, foreach: NodeId) -> Option<String> {
    let dims: Vec<NodeId> = tree.children_as(foreach, Role::Dim).collect();
    let declare = |(index, &dim): (usize, &NodeId)| {
        let start = tree.source(tree.child(dim, Role::Extent)?)?;
        let lane = if index + 1 == dims.len() { " + programIndex" } else { "" };
        Some(format!("int {} = ({start}){lane};", tree.node(dim).declared_name()?.name))
    };
    let declared: Option<Vec<String>> = dims.iter().enumerate().map(declare).collect();
    Some(declared?.join(" "))
}

/// A `switch` becomes its body, without the labels and without `break`.
pub fn without_cases(tree: &Tree<'_>) -> Vec<Unit> {
    let unwrap = |id: NodeId| {
        let StmtKind::Switch { .. } = tree.as_stmt(id)?.kind else { return None };
        let body = tree.child(id, Role::Body)?;
        let mut unit = vec![Edit::delete(tree.range(id)?.start..tree.range(body)?.start)];
        for inner in tree.within(body) {
            let of_this = tree.ancestors(inner).find(|&around| is_left_by_break(tree, around)) == Some(id);
            match tree.as_stmt(inner).map(|stmt| stmt.kind) {
                Some(StmtKind::Break) if of_this => unit.push(tree.replace(inner, ";")?),
                Some(StmtKind::Case { .. } | StmtKind::Default(_)) if of_this => {
                    unit.push(Edit::delete(label(tree, inner)?))
                }
                _ => {}
            }
        }
        Some(unit)
    };
    tree.statements().filter_map(unwrap).collect()
}

fn is_left_by_break(tree: &Tree<'_>, id: NodeId) -> bool {
    tree.is_loop(id) || tree.as_stmt(id).is_some_and(|stmt| matches!(stmt.kind, StmtKind::Switch { .. }))
}

/// The words `case value:` and `default:`.
pub fn case_labels(tree: &Tree<'_>) -> Vec<Unit> {
    let unlabelled = |id| Some(vec![Edit::delete(label(tree, id)?)]);
    tree.statements().filter_map(unlabelled).collect()
}

/// What a label takes, to its colon.
fn label(tree: &Tree<'_>, id: NodeId) -> Option<Range<usize>> {
    let start = tree.range(id).map(|range| range.start).or_else(|| lone_label(tree, id))?;
    let from = match tree.as_stmt(id)?.kind {
        StmtKind::Case { .. } => tree.range(tree.child(id, Role::Value)?)?.end,
        StmtKind::Default(_) => start,
        _ => return None,
    };
    let behind = tree.written().tokens().iter().filter(|token| token.range().start >= from);
    let colon = behind.take(3).find(|token| token.kind == TokenKind::Colon)?;
    Some(start..colon.range().end)
}

/// Where a label begins that has no statement of its own, and so no range.
fn lone_label(tree: &Tree<'_>, id: NodeId) -> Option<usize> {
    let span = tree.node(id).span();
    let token = tree.written().first_from(span.lo as usize)?;
    (token.range().start == span.lo as usize).then_some(span.lo as usize)
}

/// Braces of blocks that stand in blocks, and around single statements.
pub fn blocks(tree: &Tree<'_>) -> Vec<Unit> {
    let unbraced = |id: NodeId| {
        let StmtKind::Block(block) = tree.as_stmt(id)?.kind else { return None };
        let in_list = tree.role(id) == Role::Statement;
        if !in_list && block.stmts.len() != 1 {
            return None;
        }
        let range = tree.range(id)?;
        let inner = tree.text().get(range.start + 1..range.end - 1)?;
        // A body of one statement may join the line of its head.
        let inner = if in_list { inner.to_owned() } else { inner.trim().to_owned() };
        matches!(tree.node(id), Node::Stmt(_)).then(|| vec![Edit::replace(range, inner)])
    };
    tree.statements().filter_map(unbraced).collect()
}
