//! Calls replaced by the body of the function called: small straight-line functions that cannot trap.

use super::Lowerer;
use super::function::{Body, FunctionLowerer, Storage, Value};
use super::uniformity::analyse;
use crate::hir::walk::operands;
use crate::hir::{Callee, Expr, ExprKind, FuncId, Place, PlaceBase, Projection, Stmt, StmtKind};
use crate::source::Span;
use spmdvm_vm::Op;
use spmdvm_vm::isa::Effect;

/// Expressions that a function may have to be worth it: one declared `inline` (or of the library), or another.
const INLINE_LIMIT: u32 = 48;
const OTHER_LIMIT: u32 = 24;
/// How deep bodies may stand in bodies.
const MAX_DEPTH: usize = 12;

impl Lowerer<'_> {
    /// The number of expressions of a function that may replace its calls; `None` if it may not.
    ///
    /// What a function calls is looked at before it, by a list of what is to be done: chains of calls may be long.
    fn inline_cost(&mut self, id: FuncId) -> Option<u32> {
        if let Some(&known) = self.inlinable.get(&id) {
            return known;
        }
        let mut todo = vec![id];
        while let Some(&id) = todo.last() {
            // A function that calls itself is met again here.
            self.inlinable.insert(id, None);
            let cost = self.find_inline_cost(id);
            if let Some(first) = self.look_first.take() {
                todo.push(first);
                continue;
            }
            self.inlinable.insert(id, cost);
            todo.pop();
        }
        self.inlinable.get(&id).copied().flatten()
    }

    fn find_inline_cost(&mut self, id: FuncId) -> Option<u32> {
        let function = self.module.function(id);
        let flags = function.flags;
        let in_memory = function.locals.iter().any(|local| local.needs_memory || self.leaves(local.ty).is_none());
        let is_large = function.locals.len() > INLINE_LIMIT as usize;
        if flags.task || flags.unmasked || flags.noinline || in_memory || is_large || function.n_labels > 0 {
            return None;
        }
        let body = function.body.as_deref()?;
        let (last, rest) = match body.split_last() {
            Some((last, rest)) => (std::slice::from_ref(last), rest),
            None => (body, body),
        };
        let mut cost = self.stmts_cost(rest, flags.prelude)?;
        for stmt in last {
            cost += match &stmt.kind {
                StmtKind::Return(Some(value)) => self.expr_cost(value, flags.prelude)?,
                StmtKind::Return(None) => 0,
                _ => self.stmts_cost(last, flags.prelude)?,
            };
        }
        let limit = if flags.inline || flags.prelude { INLINE_LIMIT } else { OTHER_LIMIT };
        (cost <= limit).then_some(cost)
    }

    fn stmts_cost(&mut self, stmts: &[Stmt], prelude: bool) -> Option<u32> {
        // Statements that cost nothing are looked at all the same.
        if stmts.len() > INLINE_LIMIT as usize {
            return None;
        }
        let mut sum = 0;
        for stmt in stmts {
            sum += match &stmt.kind {
                StmtKind::Expr(e) => self.expr_cost(e, prelude)?,
                StmtKind::Declare { init: Some(e), .. } => self.expr_cost(e, prelude)?,
                StmtKind::Declare { init: None, .. } | StmtKind::Assume(_) => 0,
                StmtKind::Block(body) => 1 + self.stmts_cost(body, prelude)?,
                _ => return None,
            };
            if sum > INLINE_LIMIT {
                return None;
            }
        }
        Some(sum)
    }

    fn expr_cost(&mut self, expr: &Expr, prelude: bool) -> Option<u32> {
        let own = match &expr.kind {
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::ProgramIndex | ExprKind::Cast(..) => 0,
            ExprKind::Load(place) => place_cost(place)?,
            ExprKind::Assign(place, _) | ExprKind::CompoundAssign { place, .. } | ExprKind::IncDec { place, .. }
                if matches!(place.base, PlaceBase::Local(_)) =>
            {
                place_cost(place)? + 1
            }
            ExprKind::Binary(Op::IDiv | Op::IRem, ..) => return None,
            ExprKind::CompoundAssign { .. } => return None,
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Logical { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Comma(..)
            | ExprKind::PointerOffset { .. }
            | ExprKind::Swizzle(..)
            | ExprKind::FieldValue(..)
            | ExprKind::Aggregate(_)
            | ExprKind::Lanes(_)
            | ExprKind::FunctionAddress(_) => 1,
            ExprKind::Op { op, .. } if matches!(op.info().effect, Effect::Pure | Effect::Mask) => 1,
            // The library's wrappers may call what cannot be inlined: they are no place to look for a mistake.
            ExprKind::Call(Callee::Function(id), _) => match self.inlinable.get(id) {
                Some(Some(cost)) => *cost,
                Some(None) if prelude => 4,
                Some(None) => return None,
                None => {
                    self.look_first = Some(*id);
                    return None;
                }
            },
            _ => return None,
        };
        if matches!(expr.kind, ExprKind::CompoundAssign { op: Op::IDiv | Op::IRem, .. }) {
            return None;
        }
        let mut sum = Some(own);
        operands(expr, &mut |e| sum = sum.and_then(|sum| Some(sum + self.expr_cost(e, prelude)?)));
        sum
    }
}

/// Places of variables in registers are free, others may trap.
fn place_cost(place: &Place) -> Option<u32> {
    let is_static = place.projections.iter().all(Projection::is_static);
    match place.base {
        PlaceBase::Local(_) | PlaceBase::Value(_) if is_static => Some(0),
        PlaceBase::Global(_) if is_static => Some(1),
        _ => None,
    }
}

impl<'m> FunctionLowerer<'_, 'm> {
    /// Whether a call of the function here is to be replaced by its body.
    pub fn can_inline(&mut self, id: FuncId) -> bool {
        self.inlining.len() < MAX_DEPTH && !self.inlining.contains(&id) && self.cx.inline_cost(id).is_some()
    }

    /// The body of a function in place of a call of it; gives the result.
    pub fn inline_call(&mut self, id: FuncId, args: Vec<Value>, span: Span) -> Value {
        let function = self.cx.module.function(id);
        self.at(span);
        let uniform: Vec<bool> = args.iter().map(|arg| arg.iter().all(|&r| !self.is_varying(r))).collect();
        let analysis = analyse(self.cx, function, &uniform);
        let storage = vec![None; function.locals.len()];
        let body = Body { function, analysis, storage, fp: self.cx.fp_of(function) };
        let outer = std::mem::replace(&mut self.body, body);
        self.inlining.push(id);
        for (&param, value) in function.params.iter().zip(args) {
            self.held.extend(value.iter().copied());
            if self.body.analysis.is_assigned(param) {
                self.set_variable(param, value, span);
            } else {
                self.body.storage[param.0 as usize] = Some(Storage::Regs(value));
            }
        }
        let result = self.inline_body(function.body.as_deref().unwrap_or_default());
        self.inlining.pop();
        self.body = outer;
        result
    }

    fn inline_body(&mut self, body: &'m [Stmt]) -> Value {
        if let Some((last, rest)) = body.split_last()
            && let StmtKind::Return(value) = &last.kind
        {
            self.stmts(rest);
            return value.as_ref().map_or_else(Vec::new, |value| self.value(value));
        }
        self.stmts(body);
        Vec::new()
    }
}
