//! Names replaced by what they stand for.

use super::Unit;
use super::declarations::callee;
use super::expressions::in_parentheses;
use crate::tree::{Edit, Edits, NodeId, Tree};
use spmdvm::frontend::ast::{Expr, ExprKind, Node, Role, StmtKind};

/// A variable becomes its initialiser.
pub fn variables(tree: &Tree<'_>) -> Vec<Unit> {
    let inline = |id: NodeId| {
        let Node::Variable(variable) = tree.node(id) else { return None };
        let value = in_parentheses(tree, tree.child(id, Role::Init)?)?;
        let scope: Vec<NodeId> = match tree.position(id).function {
            Some(function) => tree.within(function).collect(),
            None => tree.nodes().collect(),
        };
        let mut unit = vec![tree.delete(id)?];
        for used in scope.into_iter().filter(|&used| tree.name(used) == Some(variable.name.name)) {
            unit.push(tree.replace(used, value.clone())?);
        }
        Some(unit)
    };
    tree.nodes().filter_map(inline).collect()
}

/// What is assigned becomes the value: `x = e;` goes, and where `x` is read later in the function, `e` is.
pub fn assignments(tree: &Tree<'_>) -> Vec<Unit> {
    let forward = |id: NodeId| {
        let StmtKind::Expr(Expr { kind: ExprKind::Assign { op: None, .. }, .. }) = tree.as_stmt(id)?.kind else {
            return None;
        };
        let assign = tree.child(id, Role::Value)?;
        let target = tree.source(tree.child(assign, Role::Target)?)?;
        let value = in_parentheses(tree, tree.child(assign, Role::Value)?)?;
        let behind = tree
            .within(tree.position(id).function?)
            .filter(|&later| later > id && !tree.within(id).any(|n| n == later));
        let reads = behind.filter(|&later| tree.role(later) != Role::Target && tree.source(later) == Some(target));
        let mut unit = vec![tree.delete(id)?];
        unit.extend(
            reads.filter(|&later| tree.as_expr(later).is_some()).filter_map(|read| tree.replace(read, value.clone())),
        );
        (unit.len() > 1).then_some(unit)
    };
    tree.statements().filter_map(forward).collect()
}

/// Calls of functions that only return a value become that value, with arguments in the place of parameters.
pub fn calls(tree: &Tree<'_>) -> Vec<Unit> {
    let inline = |call: NodeId| {
        let name = callee(tree, call)?;
        let function = tree
            .functions()
            .find(|&id| tree.as_function(id).is_some_and(|f| f.name.name == name && f.body.is_some()))?;
        Some(vec![tree.replace(call, value_of(tree, function, call)?)?])
    };
    tree.expressions().filter_map(inline).collect()
}

/// What a call gives, if its function does nothing but return it.
fn value_of(tree: &Tree<'_>, function: NodeId, call: NodeId) -> Option<String> {
    let body = tree.child(function, Role::Body)?;
    let stmts: Vec<NodeId> = tree.children(body).collect();
    let [only] = stmts.as_slice() else { return None };
    let StmtKind::Return(Some(_)) = tree.as_stmt(*only)?.kind else { return None };
    let value = tree.child(*only, Role::Value)?;
    let range = tree.range(value)?;
    let mut edits = Edits::new();
    let arguments = tree.children_as(call, Role::Argument);
    for (param, argument) in tree.children_as(function, Role::Param).zip(arguments) {
        let text = in_parentheses(tree, argument)?;
        for used in tree.uses(value, tree.node(param).declared_name()?.name) {
            let used = tree.range(used)?;
            edits.add(Edit::replace(used.start - range.start..used.end - range.start, text.clone())).ok()?;
        }
    }
    Some(format!("({})", edits.apply(tree.source(value)?)))
}
