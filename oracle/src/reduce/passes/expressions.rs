//! Expressions put in the place of larger ones, and numbers made smaller.

use super::Unit;
use crate::tree::{Edit, NodeId, Tree};
use spmdvm::frontend::ast::{BinaryOp, ExprKind, FloatLiteral, Node, Role, StmtKind, UnaryOp};

/// An expression becomes its first operand or argument.
pub fn to_first(tree: &Tree<'_>) -> Vec<Unit> {
    to_part(tree, 0)
}

/// Likewise the second.
pub fn to_second(tree: &Tree<'_>) -> Vec<Unit> {
    to_part(tree, 1)
}

/// Likewise the third.
pub fn to_third(tree: &Tree<'_>) -> Vec<Unit> {
    to_part(tree, 2)
}

fn to_part(tree: &Tree<'_>, number: usize) -> Vec<Unit> {
    let simplify = |id: NodeId| {
        let is_value = |&part: &NodeId| tree.as_expr(part).is_some() && tree.role(part) != Role::Callee;
        let part = tree.children(id).filter(is_value).nth(number)?;
        Some(vec![tree.replace(id, in_parentheses(tree, part)?)?])
    };
    values(tree).filter_map(simplify).collect()
}

/// The text of an expression, in parentheses if it is not a primary one.
pub fn in_parentheses(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let text = tree.source(id)?;
    let is_loose = matches!(
        tree.as_expr(id)?.kind,
        ExprKind::Binary { .. }
            | ExprKind::Assign { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Cast { .. }
    );
    Some(if is_loose { format!("({text})") } else { text.to_owned() })
}

/// An expression becomes `0`.
pub fn to_zero(tree: &Tree<'_>) -> Vec<Unit> {
    constant(tree, "0")
}

/// An expression becomes `1`.
pub fn to_one(tree: &Tree<'_>) -> Vec<Unit> {
    constant(tree, "1")
}

fn constant(tree: &Tree<'_>, text: &str) -> Vec<Unit> {
    let is_literal = |id: NodeId| {
        let kind = tree.as_expr(id).map(|expr| expr.kind);
        matches!(
            kind,
            Some(ExprKind::Int { value: 0 | 1, .. } | ExprKind::Bool(_) | ExprKind::Null | ExprKind::String(_))
        )
    };
    values(tree).filter(|&id| !is_literal(id)).filter_map(|id| Some(vec![tree.replace(id, text)?])).collect()
}

/// Expressions whose values are used, and that are no places that something is assigned to.
fn values<'t>(tree: &'t Tree<'_>) -> impl Iterator<Item = NodeId> + 't {
    tree.expressions().filter(|&id| {
        let is_stmt =
            tree.parent(id).and_then(|p| tree.as_stmt(p)).is_some_and(|s| matches!(s.kind, StmtKind::Expr(_)));
        let is_step = tree.role(id) == Role::Step;
        !is_stmt && !is_step && !matches!(tree.role(id), Role::Callee | Role::Target | Role::Message)
    })
}

/// `a += b` becomes `a = b`, and `++a` becomes `a = 1`.
pub fn plain_assignments(tree: &Tree<'_>) -> Vec<Unit> {
    let plain = |id: NodeId| match tree.as_expr(id)?.kind {
        ExprKind::Assign { op: Some(_), .. } => {
            let (target, value) = (tree.child(id, Role::Target)?, tree.child(id, Role::Value)?);
            let text = format!("{} = {}", tree.source(target)?, tree.source(value)?);
            Some(vec![tree.replace(id, text)?])
        }
        ExprKind::Unary { op: UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec, .. } => {
            let text = format!("{} = 1", tree.source(tree.child(id, Role::Operand)?)?);
            Some(vec![tree.replace(id, text)?])
        }
        ExprKind::Binary { op: BinaryOp::Comma, rhs: _, .. } => {
            let last = tree.children(id).nth(1)?;
            Some(vec![tree.replace(id, tree.source(last)?)?])
        }
        _ => None,
    };
    tree.expressions().filter_map(plain).collect()
}

/// Numbers become half of what they are.
pub fn halved(tree: &Tree<'_>) -> Vec<Unit> {
    numbers(tree, |value| value / 2, |value| (value / 2.0).trunc())
}

/// Numbers become smaller by one.
pub fn decremented(tree: &Tree<'_>) -> Vec<Unit> {
    numbers(tree, |value| value - 1, |value| value.trunc())
}

fn numbers(tree: &Tree<'_>, int: fn(u64) -> u64, float: fn(f64) -> f64) -> Vec<Unit> {
    let smaller = |id: NodeId| {
        let range = tree.range(id)?;
        let Node::Expr(expr) = tree.node(id) else { return None };
        let text = match expr.kind {
            ExprKind::Int { value, .. } if value > 1 => {
                let suffix =
                    tree.source(id)?.trim_start_matches(|c: char| c.is_ascii_hexdigit() || matches!(c, 'x' | 'X'));
                let suffix = if suffix.chars().all(|c| "uUlL".contains(c)) { suffix } else { "" };
                format!("{}{suffix}", int(value))
            }
            ExprKind::Float { value, ty, .. } if float(value) != value => match ty {
                FloatLiteral::Float16 => format!("{:?}f16", float(value)),
                FloatLiteral::Float => format!("{:?}f", float(value)),
                FloatLiteral::Double => format!("{:?}d", float(value)),
            },
            _ => return None,
        };
        Some(vec![Edit::replace(range, text)])
    };
    tree.expressions().filter_map(smaller).collect()
}
