//! What is declared, left out together with all that uses it.
//!
//! Uses are found by name: where a name means several things, too much is taken, and the program is not asked about.

use super::Unit;
use crate::tree::{Edit, NodeId, Tree};
use spmdvm::frontend::ast::{ExprKind, Node, Role, StmtKind};
use spmdvm::frontend::symbol::Symbol;

/// Whole items.
pub fn items(tree: &Tree<'_>) -> Vec<Unit> {
    let items = tree.nodes().filter(|&id| tree.parent(id).is_none());
    items.filter_map(|id| Some(vec![tree.delete(id)?])).collect()
}

/// A function with its calls: those that are statements go, the others become 0.
pub fn functions_with_calls(tree: &Tree<'_>) -> Vec<Unit> {
    let with_calls = |id: NodeId| {
        let name = tree.as_function(id)?.name.name;
        let mut unit = vec![tree.delete(tree.parent(id)?)?];
        unit.extend(
            tree.expressions().filter(|&call| callee(tree, call) == Some(name)).filter_map(|id| gone(tree, id)),
        );
        Some(outermost(unit))
    };
    tree.functions().filter_map(with_calls).collect()
}

/// The name of the function that an expression calls.
pub fn callee(tree: &Tree<'_>, id: NodeId) -> Option<Symbol> {
    let called = match tree.as_expr(id)?.kind {
        ExprKind::Call(_) | ExprKind::Crev(_) | ExprKind::Launch { .. } => tree.child(id, Role::Callee)?,
        _ => return None,
    };
    tree.name(called)
}

/// An expression that is a statement left out, and another one replaced by 0.
fn gone(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    match statement_of(tree, id) {
        Some(stmt) => tree.delete(stmt),
        None => tree.replace(id, "0"),
    }
}

/// The statement that is nothing but this expression.
fn statement_of(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    let parent = tree.parent(id)?;
    matches!(tree.as_stmt(parent)?.kind, StmtKind::Expr(_)).then_some(parent)
}

/// The edits without those that lie within others.
fn outermost(unit: Unit) -> Unit {
    let lies_in = |inner: &Edit, outer: &Edit| {
        outer.range.start <= inner.range.start && inner.range.end <= outer.range.end && inner.range != outer.range
    };
    let mut kept: Unit = Vec::new();
    for edit in &unit {
        if !kept.contains(edit) && !unit.iter().any(|other| lies_in(edit, other)) {
            kept.push(edit.clone());
        }
    }
    kept
}

/// What sees the declarations of a node: the function around it, or everything.
fn scope(tree: &Tree<'_>, id: NodeId) -> Vec<NodeId> {
    match tree.position(id).function {
        Some(function) => tree.within(function).collect(),
        None => tree.nodes().collect(),
    }
}

fn variables<'t>(tree: &'t Tree<'_>) -> impl Iterator<Item = NodeId> + 't {
    tree.nodes().filter(|&id| matches!(tree.node(id), Node::Variable(_)))
}

/// A variable with every statement that names it.
pub fn variables_with_uses(tree: &Tree<'_>) -> Vec<Unit> {
    let with_uses = |id: NodeId| {
        let name = tree.node(id).declared_name()?.name;
        let mut unit = vec![tree.delete(id)?];
        for used in scope(tree, id).into_iter().filter(|&used| tree.name(used) == Some(name)) {
            unit.push(tree.delete(enclosing_statement(tree, used)?)?);
        }
        Some(outermost(unit))
    };
    variables(tree).filter_map(with_uses).collect()
}

fn enclosing_statement(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    tree.ancestors(id).find(|&around| tree.role(around) == Role::Statement)
}

/// A variable, with the statements that assign to it; where it is read, 0 is.
pub fn variables_to_zero(tree: &Tree<'_>) -> Vec<Unit> {
    let to_zero = |id: NodeId| {
        let name = tree.node(id).declared_name()?.name;
        let mut unit = vec![tree.delete(id)?];
        for used in scope(tree, id).into_iter().filter(|&used| tree.name(used) == Some(name)) {
            unit.push(without_use(tree, used)?);
        }
        Some(outermost(unit))
    };
    variables(tree).filter_map(to_zero).collect()
}

/// Takes a use of a variable away: an assignment to it, in part or whole, goes with its statement.
fn without_use(tree: &Tree<'_>, used: NodeId) -> Option<Edit> {
    let mut at = used;
    while let Some(parent) = tree.parent(at) {
        match tree.as_expr(parent)?.kind {
            ExprKind::Index { .. } | ExprKind::Member { .. } => at = parent,
            ExprKind::Assign { .. } if tree.role(at) == Role::Target => return gone(tree, parent),
            ExprKind::Unary { .. } if statement_of(tree, parent).is_some() => return gone(tree, parent),
            _ => return tree.replace(at, "0"),
        }
        if tree.parent(at).is_some_and(|around| tree.as_expr(around).is_none()) {
            break;
        }
    }
    gone(tree, at)
}

/// A parameter of a function with the arguments for it; where it is read, 0 is.
pub fn parameters(tree: &Tree<'_>) -> Vec<Unit> {
    let mut units = Vec::new();
    for function in tree.functions() {
        let count = tree.children_as(function, Role::Param).count();
        units.extend((0..count).filter_map(|index| without_parameter(tree, function, index)));
    }
    units
}

/// Takes a parameter away.
pub fn without_parameter(tree: &Tree<'_>, function: NodeId, index: usize) -> Option<Unit> {
    let name = tree.as_function(function)?.name.name;
    let mut unit = Vec::new();
    for same in tree.functions().filter(|&id| tree.as_function(id).is_some_and(|f| f.name.name == name)) {
        let param = tree.children_as(same, Role::Param).nth(index)?;
        unit.push(tree.delete(param)?);
        if let Some(param) = tree.node(param).declared_name() {
            unit.extend(tree.uses(same, param.name).filter_map(|used| without_use(tree, used)));
        }
    }
    for call in tree.expressions().filter(|&call| callee(tree, call) == Some(name)) {
        // A default argument may stand for it.
        unit.extend(tree.children_as(call, Role::Argument).nth(index).and_then(|argument| tree.delete(argument)));
    }
    Some(outermost(unit))
}

/// A member of a struct with the statements that name it.
pub fn members(tree: &Tree<'_>) -> Vec<Unit> {
    let with_uses = |id: NodeId| {
        let Node::Member(member) = tree.node(id) else { return None };
        let mut unit = vec![tree.delete(id)?];
        for used in tree.expressions() {
            let ExprKind::Member { member: named, .. } = tree.as_expr(used)?.kind else { continue };
            if named.name == member.name.name {
                unit.push(tree.delete(enclosing_statement(tree, used)?)?);
            }
        }
        Some(outermost(unit))
    };
    tree.nodes().filter_map(with_uses).collect()
}

/// Variables of a declaration of several, initialisers, enumerators, steps of loops, arguments, parts of aggregates.
pub fn elements(tree: &Tree<'_>) -> Vec<Unit> {
    let is_element = |&id: &NodeId| match tree.node(id) {
        Node::Variable(_) | Node::Member(_) | Node::Enumerator(_) => true,
        Node::Expr(_) => matches!(tree.role(id), Role::Argument | Role::Init | Role::Step),
        _ => false,
    };
    tree.nodes().filter(is_element).filter_map(|id| Some(vec![tree.delete(id)?])).collect()
}
