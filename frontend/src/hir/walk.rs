//! Visiting the parts of expressions and statements.

use super::{Callee, Expr, ExprKind, Place, PlaceBase, Projection, Stmt, StmtKind};

/// Calls `visit` with each operand of an expression, in the order of evaluation, those in places included.
pub fn operands<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    use ExprKind::*;
    match &expr.kind {
        Error | Const(_) | Zero | ProgramIndex | Task(_) | FunctionAddress(_) => {}
        Load(place) | AddressOf(place) => place_operands(place, visit),
        Cast(_, a) | Unary(_, a) | Swizzle(a, _) | FieldValue(a, _) | Alloca(a) => visit(a),
        Binary(_, a, b) | PointerDifference(a, b) | Comma(a, b) => {
            visit(a);
            visit(b);
        }
        Logical { lhs, rhs, .. } => {
            visit(lhs);
            visit(rhs);
        }
        PointerOffset { pointer, index, .. } => {
            visit(pointer);
            visit(index);
        }
        Conditional { condition, then, otherwise } => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        Assign(place, value) | CompoundAssign { place, rhs: value, .. } | PointerAssign { place, index: value, .. } => {
            place_operands(place, visit);
            visit(value);
        }
        IncDec { place, .. } => place_operands(place, visit),
        Aggregate(parts) | Lanes(parts) | Op { args: parts, .. } | Crev(_, parts) => parts.iter().for_each(visit),
        Call(callee, args) => {
            callee_operands(callee, visit);
            args.iter().for_each(visit);
        }
        Launch { counts, callee, args } => {
            counts.iter().for_each(|count| visit(count));
            callee_operands(callee, visit);
            args.iter().for_each(visit);
        }
        New { count, init, .. } => {
            count.iter().for_each(|e| visit(e));
            init.iter().for_each(|e| visit(e));
        }
    }
}

fn callee_operands<'e>(callee: &'e Callee, visit: &mut dyn FnMut(&'e Expr)) {
    if let Callee::Pointer(pointer) = callee {
        visit(pointer);
    }
}

/// Calls `visit` with each expression in a place.
pub fn place_operands<'e>(place: &'e Place, visit: &mut dyn FnMut(&'e Expr)) {
    if let PlaceBase::Deref(base) | PlaceBase::Value(base) = &place.base {
        visit(base);
    }
    for projection in &place.projections {
        if let Projection::Index { index, .. } | Projection::Instance { index, .. } = projection {
            visit(index);
        }
    }
}

/// Calls `on_expr` with each expression that stands directly in a statement.
pub fn stmt_exprs<'s>(stmt: &'s Stmt, on_expr: &mut dyn FnMut(&'s Expr)) {
    match &stmt.kind {
        StmtKind::Expr(e) | StmtKind::Assume(e) | StmtKind::Delete(e) => on_expr(e),
        StmtKind::Declare { init, .. } => init.iter().for_each(on_expr),
        StmtKind::If { condition, .. } | StmtKind::Assert { condition, .. } => on_expr(condition),
        StmtKind::Loop { condition, step, .. } => condition.iter().chain(step).for_each(on_expr),
        StmtKind::Foreach { dims, .. } => dims.iter().for_each(|dim| {
            on_expr(&dim.start);
            on_expr(&dim.end);
        }),
        StmtKind::ForeachUnique { value, .. } | StmtKind::Switch { value, .. } => on_expr(value),
        StmtKind::Return(value) => value.iter().for_each(on_expr),
        StmtKind::Print { args, .. } => args.iter().for_each(on_expr),
        StmtKind::Block(_)
        | StmtKind::ForeachActive { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Unmasked(_)
        | StmtKind::Label(_)
        | StmtKind::Goto(_)
        | StmtKind::Abort { .. }
        | StmtKind::Sync => {}
    }
}

/// Calls `on_block` with each list of statements in a statement, in order.
pub fn stmt_blocks<'s>(stmt: &'s Stmt, on_block: &mut dyn FnMut(&'s [Stmt])) {
    match &stmt.kind {
        StmtKind::Block(body)
        | StmtKind::Foreach { body, .. }
        | StmtKind::ForeachActive { body, .. }
        | StmtKind::ForeachUnique { body, .. }
        | StmtKind::Unmasked(body) => on_block(body),
        StmtKind::If { then, otherwise, .. } => {
            on_block(then);
            on_block(otherwise);
        }
        StmtKind::Loop { init, body, .. } => {
            on_block(init);
            on_block(body);
        }
        StmtKind::Switch { arms, .. } => arms.iter().for_each(|arm| on_block(&arm.body)),
        _ => {}
    }
}

/// Whether some statement in the list (at any depth) satisfies the predicate.
pub fn any_stmt(stmts: &[Stmt], predicate: &mut dyn FnMut(&Stmt) -> bool) -> bool {
    stmts.iter().any(|stmt| {
        let mut found = predicate(stmt);
        stmt_blocks(stmt, &mut |block| found = found || any_stmt(block, predicate));
        found
    })
}
