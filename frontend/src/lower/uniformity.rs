//! Which varying variables need one value only, and which loops need masks.
//!
//! A varying variable is held in a uniform register if every value it is given is uniform and every assignment is
//! executed under exactly the mask of its declaration: then all lanes that can look at it see the same value. The mask is
//! tracked as an *epoch*: a number that changes wherever the mask can. A variable whose inactive lanes can be seen in its
//! scope (by shuffles, `print`, `foreach`, `unmasked`, …) is left alone.
//!
//! The analysis is optimistic: it assumes all candidates uniform and drops those that contradict, until none does. The
//! same epochs tell which assignments to varying variables need no blending (*exact* ones).

use super::Lowerer;
use crate::hir::walk::{any_stmt, operands, stmt_blocks, stmt_exprs};
use crate::hir::{
    Callee, Expr, ExprKind, FuncId, Function, LocalId, Place, PlaceBase, Projection, Stmt, StmtKind, TypeId,
};
use foldhash::HashSet;
use spmdvm_vm::Op;
use spmdvm_vm::isa::OperandShape;
use spmdvm_vm::stop::Stop;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// What was found out about a function.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    /// By local: whether its registers are uniform, even those of varying leaves.
    uniform: Vec<bool>,
    /// Loops and switches that lanes leave (or go through) separately.
    masked: HashSet<*const Stmt>,
    /// Assigned places of register variables that are assigned under the mask of their declaration.
    exact: HashSet<*const Place>,
    /// By local: whether it is written after its declaration, from inner loops too.
    assigned: Vec<bool>,
    /// By type: whether it has a varying leaf.
    varying_types: HashSet<TypeId>,
}

impl Analysis {
    /// Whether a local's registers are uniform.
    pub fn is_uniform_local(&self, local: LocalId) -> bool {
        self.uniform[local.0 as usize]
    }

    /// Whether a local is written after its declaration.
    pub fn is_assigned(&self, local: LocalId) -> bool {
        self.assigned[local.0 as usize]
    }

    /// Whether a loop or switch needs a mask stack entry.
    pub fn is_masked(&self, stmt: &Stmt) -> bool {
        self.masked.contains(&std::ptr::from_ref(stmt))
    }

    /// Whether an assigned place may be written in all lanes.
    pub fn is_exact(&self, place: &Place) -> bool {
        self.exact.contains(&std::ptr::from_ref(place))
    }

    /// Whether all registers of an expression's value will be uniform.
    pub fn is_uniform(&self, function: &Function, expr: &Expr) -> bool {
        let all = |exprs: &[&Expr]| exprs.iter().all(|e| self.is_uniform(function, e));
        match &expr.kind {
            ExprKind::ProgramIndex | ExprKind::Crev(..) | ExprKind::Lanes(_) => false,
            ExprKind::Load(place) => self.is_uniform_place(function, place),
            ExprKind::Cast(_, a) | ExprKind::Unary(_, a) | ExprKind::Swizzle(a, _) | ExprKind::FieldValue(a, _) => {
                self.is_uniform(function, a)
            }
            ExprKind::Binary(_, a, b) | ExprKind::PointerDifference(a, b) => all(&[a, b]),
            ExprKind::Logical { lhs, rhs, .. } => all(&[lhs, rhs]),
            ExprKind::PointerOffset { pointer, index, .. } => all(&[pointer, index]),
            ExprKind::Conditional { condition, then, otherwise } => all(&[condition, then, otherwise]),
            ExprKind::Comma(_, value) | ExprKind::Assign(_, value) => self.is_uniform(function, value),
            ExprKind::CompoundAssign { place, rhs, .. } => {
                self.is_uniform_place(function, place) && self.is_uniform(function, rhs)
            }
            ExprKind::PointerAssign { place, index, .. } => {
                self.is_uniform_place(function, place) && self.is_uniform(function, index)
            }
            ExprKind::IncDec { place, .. } => self.is_uniform_place(function, place),
            ExprKind::Aggregate(parts) => parts.iter().all(|e| self.is_uniform(function, e)),
            ExprKind::Op { op, args, .. } => match op.info().sig.dst.map(|slot| slot.shape) {
                Some(OperandShape::Varying) => false,
                Some(OperandShape::Uniform) | None => true,
                _ => args.iter().all(|e| self.is_uniform(function, e)),
            },
            ExprKind::Call(..) | ExprKind::New { .. } => !self.varying_types.contains(&expr.ty),
            ExprKind::Error
            | ExprKind::Const(_)
            | ExprKind::Zero
            | ExprKind::Task(_)
            | ExprKind::AddressOf(_)
            | ExprKind::FunctionAddress(_)
            | ExprKind::Launch { .. }
            | ExprKind::Alloca(_) => match &expr.kind {
                ExprKind::AddressOf(place) => self.is_uniform_address(function, place),
                _ => true,
            },
        }
    }

    fn is_uniform_address(&self, function: &Function, place: &Place) -> bool {
        let base = match &place.base {
            PlaceBase::Local(_) | PlaceBase::Global(_) => true,
            PlaceBase::Deref(e) | PlaceBase::Value(e) => self.is_uniform(function, e),
        };
        base && place.projections.iter().all(|step| match step {
            Projection::Index { index, .. } | Projection::Instance { index, .. } => self.is_uniform(function, index),
            _ => true,
        })
    }

    fn is_uniform_place(&self, function: &Function, place: &Place) -> bool {
        let is_static = place.projections.iter().all(Projection::is_static);
        match &place.base {
            PlaceBase::Local(local) if !function.locals[local.0 as usize].needs_memory && is_static => {
                self.uniform[local.0 as usize]
            }
            PlaceBase::Value(e) if is_static => self.is_uniform(function, e),
            _ => self.is_uniform_address(function, place) && !self.varying_types.contains(&place.ty),
        }
    }
}

/// Analyses a function, whose parameters with varying leaves are in uniform registers as told (all varying if
/// `uniform_params` is shorter).
pub(super) fn analyse(lowerer: &mut Lowerer, function: &Function, uniform_params: &[bool]) -> Analysis {
    let body = function.body.as_deref().unwrap_or_default();
    let mut analysis = Analysis::default();
    collect_varying_types(lowerer, function, body, &mut analysis.varying_types);
    let mut exposed = vec![false; function.locals.len()];
    if mark_exposed(lowerer, body, &mut exposed) {
        function.params.iter().for_each(|p| exposed[p.0 as usize] = true);
    }
    for (mark, local) in exposed.iter_mut().zip(&function.locals) {
        // Lanes that were off in front of the block look at it too.
        *mark |= local.outlives_block;
    }
    analysis.uniform = vec![true; function.locals.len()];
    for (i, param) in function.params.iter().enumerate() {
        let is_uniform = uniform_params.get(i).copied().unwrap_or(false);
        let varying = analysis.varying_types.contains(&function.locals[param.0 as usize].ty);
        analysis.uniform[param.0 as usize] = !varying || is_uniform;
    }
    for (i, local) in function.locals.iter().enumerate() {
        let gives_up = local.needs_memory || (local.is_assigned && (exposed[i] || function.n_labels > 0));
        if gives_up && analysis.varying_types.contains(&local.ty) {
            analysis.uniform[i] = false;
        }
    }
    analysis.assigned = function.locals.iter().map(|local| local.is_assigned).collect();
    mark_captured(body, &mut analysis.assigned);
    let declared = vec![0; function.locals.len()];
    let stop = Rc::clone(lowerer.diagnostics.stop());
    let mut walk = Walk {
        function,
        analysis,
        exposed,
        declared,
        epoch: 0,
        last: 0,
        targets: Vec::new(),
        depth: 0,
        changed: true,
        stop: &stop,
    };
    let mut passes = 0;
    while walk.changed && !stop.is_over() {
        walk.changed = false;
        passes += 1;
        if passes == MAX_PASSES {
            walk.give_up();
        }
        walk.analysis.exact.clear();
        walk.epoch = 1;
        walk.last = 1;
        walk.declared.iter_mut().for_each(|epoch| *epoch = 1);
        walk.stmts(body);
    }
    if function.n_labels > 0 {
        walk.analysis.exact.clear();
    }
    walk.analysis
}

/// Passes after which the variables that are assigned count as varying. Each pass follows one link of a chain such as
/// `a = b; b = c; …` in a loop; what nobody assigns depends on what stands before it, so one pass more settles it.
const MAX_PASSES: usize = 24;

/// Marks variables that a nested `foreach` writes back to.
fn mark_captured(stmts: &[Stmt], assigned: &mut [bool]) {
    for stmt in stmts {
        if let StmtKind::Foreach { revectorised: Some(captures), .. } = &stmt.kind {
            for capture in captures.iter().filter(|capture| capture.written) {
                assigned[capture.outer.0 as usize] = true;
            }
        }
        stmt_blocks(stmt, &mut |block| mark_captured(block, assigned));
    }
}

fn collect_varying_types(lowerer: &mut Lowerer, function: &Function, body: &[Stmt], types: &mut HashSet<TypeId>) {
    let mut all: HashSet<TypeId> = function.locals.iter().map(|local| local.ty).collect();
    fn of_expr(expr: &Expr, all: &mut HashSet<TypeId>) {
        all.insert(expr.ty);
        if let ExprKind::Load(place) | ExprKind::AddressOf(place) = &expr.kind {
            all.insert(place.ty);
        }
        if let ExprKind::Assign(place, _)
        | ExprKind::CompoundAssign { place, .. }
        | ExprKind::PointerAssign { place, .. }
        | ExprKind::IncDec { place, .. } = &expr.kind
        {
            all.insert(place.ty);
        }
        operands(expr, &mut |e| of_expr(e, all));
    }
    fn of_stmts(stmts: &[Stmt], all: &mut HashSet<TypeId>) {
        for stmt in stmts {
            stmt_exprs(stmt, &mut |e| of_expr(e, all));
            stmt_blocks(stmt, &mut |block| of_stmts(block, all));
        }
    }
    of_stmts(body, &mut all);
    for ty in all {
        let leaves = lowerer.leaves(ty);
        let varying = leaves.map_or(lowerer.module.types.is_varying(ty), |leaves| {
            leaves.iter().any(|leaf| leaf.shape == crate::hir::Shape::Varying)
        });
        if varying {
            types.insert(ty);
        }
    }
}

/// Marks the variables in whose scope something can see inactive lanes; tells whether any statement can.
fn mark_exposed(lowerer: &mut Lowerer, stmts: &[Stmt], exposed: &mut [bool]) -> bool {
    let mut later = false;
    for stmt in stmts.iter().rev() {
        if let (StmtKind::Declare { local, .. }, true) = (&stmt.kind, later)
            && let Some(mark) = exposed.get_mut(local.0 as usize)
        {
            *mark = true;
        }
        later |= stmt_exposes(lowerer, stmt, exposed);
    }
    later
}

fn stmt_exposes(lowerer: &mut Lowerer, stmt: &Stmt, exposed: &mut [bool]) -> bool {
    let mut exposes = matches!(stmt.kind, StmtKind::Print { .. } | StmtKind::Unmasked(_) | StmtKind::Foreach { .. });
    stmt_exprs(stmt, &mut |e| exposes = exposes || expr_exposes(lowerer, e));
    if let StmtKind::Loop { init, body, .. } = &stmt.kind {
        exposes |= mark_exposed(lowerer, body, exposed);
        for first in init {
            if let (StmtKind::Declare { local, .. }, true) = (&first.kind, exposes)
                && let Some(mark) = exposed.get_mut(local.0 as usize)
            {
                *mark = true;
            }
        }
        return mark_exposed(lowerer, init, exposed) || exposes;
    }
    if let StmtKind::Switch { arms, .. } = &stmt.kind {
        // What is declared in an arm is visible in the later ones.
        let mut later = false;
        for arm in arms.iter().rev() {
            later |= mark_exposed(lowerer, &arm.body, exposed);
            for first in &arm.body {
                if let (StmtKind::Declare { local, .. }, true) = (&first.kind, later)
                    && let Some(mark) = exposed.get_mut(local.0 as usize)
                {
                    *mark = true;
                }
            }
        }
        return exposes || later;
    }
    stmt_blocks(stmt, &mut |block| exposes |= mark_exposed(lowerer, block, exposed));
    exposes
}

fn expr_exposes(lowerer: &mut Lowerer, expr: &Expr) -> bool {
    let itself = match &expr.kind {
        ExprKind::Crev(..) | ExprKind::Launch { .. } | ExprKind::Call(Callee::Pointer(_), _) => true,
        ExprKind::Call(Callee::Function(id), _) => function_exposes(lowerer, *id),
        ExprKind::Op { op, .. } => matches!(op, Op::Shuffle | Op::Extract),
        _ => false,
    };
    let mut exposes = itself;
    operands(expr, &mut |e| exposes = exposes || expr_exposes(lowerer, e));
    exposes
}

/// Whether a function can see what inactive lanes of its arguments hold.
fn function_exposes(lowerer: &mut Lowerer, id: FuncId) -> bool {
    if let Some(&known) = lowerer.exposes.get(&id) {
        return known;
    }
    // What a function calls is looked at before it, by a list of what is to be done: chains of calls may be long.
    let mut todo = vec![(id, false)];
    while let Some((id, is_next)) = todo.pop() {
        let function = lowerer.module.function(id);
        let body = function.body.as_deref().unwrap_or_default();
        if is_next {
            let flags = function.flags;
            let exposes = flags.unmasked || flags.is_import || mark_exposed(lowerer, body, &mut []);
            lowerer.exposes.insert(id, exposes);
        } else if let Entry::Vacant(entry) = lowerer.exposes.entry(id) {
            // Met again while being looked at: assume the worst.
            entry.insert(true);
            todo.push((id, true));
            for_each_callee(body, &mut |callee| todo.push((callee, false)));
        }
    }
    lowerer.exposes.get(&id).copied().unwrap_or(true)
}

/// Calls `visit` with the function of each call.
fn for_each_callee(stmts: &[Stmt], visit: &mut dyn FnMut(FuncId)) {
    fn of_expr(expr: &Expr, visit: &mut dyn FnMut(FuncId)) {
        if let ExprKind::Call(Callee::Function(id), _) = &expr.kind {
            visit(*id);
        }
        operands(expr, &mut |e| of_expr(e, visit));
    }
    for stmt in stmts {
        stmt_exprs(stmt, &mut |e| of_expr(e, visit));
        stmt_blocks(stmt, &mut |block| for_each_callee(block, visit));
    }
}

/// The epoch of code that is not reached.
const DEAD: u32 = 0;

/// What `break` or `continue` can leave.
struct Target {
    stmt: *const Stmt,
    is_loop: bool,
    /// How many divergent constructs are open at its start.
    depth: u32,
}

struct Walk<'a> {
    function: &'a Function,
    analysis: Analysis,
    exposed: Vec<bool>,
    /// The epoch each local was declared in.
    declared: Vec<u32>,
    epoch: u32,
    /// The last epoch given out.
    last: u32,
    targets: Vec<Target>,
    /// How many divergent constructs are open.
    depth: u32,
    changed: bool,
    stop: &'a Stop,
}

impl Walk<'_> {
    fn fresh(&mut self) {
        self.last += 1;
        self.epoch = self.last;
    }

    /// The epoch where two ways meet.
    fn join(&mut self, other: u32) {
        if self.epoch == DEAD {
            self.epoch = other;
        } else if other != DEAD && self.epoch != other {
            self.fresh();
        }
    }

    fn is_uniform(&self, expr: &Expr) -> bool {
        self.analysis.is_uniform(self.function, expr)
    }

    fn drop_local(&mut self, local: LocalId) {
        let at = local.0 as usize;
        let varying = self.analysis.varying_types.contains(&self.function.locals[at].ty);
        if varying && std::mem::replace(&mut self.analysis.uniform[at], false) {
            self.changed = true;
        }
    }

    /// Takes all variables that are assigned for varying.
    fn give_up(&mut self) {
        for at in 0..self.function.locals.len() {
            if self.analysis.assigned[at] {
                self.drop_local(LocalId(at as u32));
            }
        }
    }

    fn mask(&mut self, stmt: *const Stmt) {
        self.changed |= self.analysis.masked.insert(stmt);
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if self.stop.poll() {
                return;
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare { local, init } => {
                if let Some(init) = init {
                    self.expr(init);
                    if !self.is_uniform(init) {
                        self.drop_local(*local);
                    }
                }
                self.declared[local.0 as usize] = self.epoch;
            }
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If { condition, then, otherwise, .. } => self.if_stmt(condition, then, otherwise),
            StmtKind::Loop { .. } => self.loop_stmt(stmt),
            StmtKind::Foreach { .. } => self.foreach(stmt),
            StmtKind::ForeachActive { body, .. } | StmtKind::Unmasked(body) => {
                self.targets_or_not(stmt, matches!(stmt.kind, StmtKind::ForeachActive { .. }), body);
            }
            StmtKind::ForeachUnique { value, body, .. } => {
                self.expr(value);
                self.targets_or_not(stmt, true, body);
            }
            StmtKind::Switch { .. } => self.switch(stmt),
            StmtKind::Break | StmtKind::Continue => self.leave(matches!(stmt.kind, StmtKind::Break)),
            StmtKind::Return(_) => {
                stmt_exprs(stmt, &mut |e| self.expr(e));
                self.epoch = DEAD;
            }
            _ => stmt_exprs(stmt, &mut |e| self.expr(e)),
        }
    }

    fn leave(&mut self, is_break: bool) {
        let found = self.targets.iter().rev().find(|t| is_break || t.is_loop);
        if let Some(&Target { stmt, depth, .. }) = found
            && depth < self.depth
        {
            self.mask(stmt);
        }
        self.epoch = DEAD;
    }

    /// The body of a construct that has the mask to itself, which may be one that `break` and `continue` leave.
    fn targets_or_not(&mut self, stmt: &Stmt, is_target: bool, body: &[Stmt]) {
        if is_target {
            self.targets.push(Target { stmt, is_loop: true, depth: self.depth });
        }
        self.divergent(|walk| walk.stmts(body), leaves(body));
        if is_target {
            self.targets.pop();
        }
    }

    /// Something done under a mask of its own; `leaves` tells whether lanes may not come back.
    fn divergent(&mut self, inside: impl FnOnce(&mut Self), leaves: bool) {
        let before = self.epoch;
        self.depth += 1;
        self.fresh();
        inside(self);
        self.depth -= 1;
        self.epoch = before;
        if leaves {
            self.fresh();
        }
    }

    fn if_stmt(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        self.expr(condition);
        if self.is_uniform(condition) {
            let before = self.epoch;
            self.stmts(then);
            let after_then = std::mem::replace(&mut self.epoch, before);
            self.stmts(otherwise);
            self.join(after_then);
            return;
        }
        let leaves = leaves(then) || leaves(otherwise);
        self.divergent(
            |walk| {
                walk.stmts(then);
                walk.fresh();
                walk.stmts(otherwise);
            },
            leaves,
        );
    }

    fn loop_stmt(&mut self, stmt: &Stmt) {
        let StmtKind::Loop { init, condition, step, body, .. } = &stmt.kind else { return };
        self.stmts(init);
        if condition.as_ref().is_some_and(|c| !self.is_uniform(c)) {
            self.mask(stmt);
        }
        let masked = self.analysis.is_masked(stmt);
        let returns = any_stmt(body, &mut |s| matches!(s.kind, StmtKind::Return(_)));
        let before = self.epoch;
        self.targets.push(Target { stmt, is_loop: true, depth: self.depth });
        if masked || returns {
            self.fresh();
        }
        let start = self.epoch;
        condition.iter().for_each(|e| self.expr(e));
        if masked {
            self.fresh();
        }
        self.stmts(body);
        // In a loop without masks, whoever jumps to the step does so under the mask of the start, unless lanes returned.
        if masked || returns {
            self.fresh();
        } else {
            self.epoch = start;
        }
        step.iter().for_each(|e| self.expr(e));
        self.targets.pop();
        self.epoch = before;
        if returns {
            self.fresh();
        }
    }

    fn foreach(&mut self, stmt: &Stmt) {
        let StmtKind::Foreach { tiled, dims, revectorised, body } = &stmt.kind else { return };
        stmt_exprs(stmt, &mut |e| self.expr(e));
        for (i, dim) in dims.iter().enumerate() {
            if *tiled || i + 1 == dims.len() {
                self.drop_local(dim.var);
            }
        }
        for capture in revectorised.iter().flatten().filter(|capture| capture.written) {
            self.drop_local(capture.outer);
        }
        self.targets.push(Target { stmt, is_loop: true, depth: self.depth });
        self.divergent(|walk| walk.stmts(body), leaves(body));
        self.targets.pop();
    }

    fn switch(&mut self, stmt: &Stmt) {
        let StmtKind::Switch { value, arms } = &stmt.kind else { return };
        self.expr(value);
        if !self.is_uniform(value) {
            self.mask(stmt);
        }
        let masked = self.analysis.is_masked(stmt);
        self.targets.push(Target { stmt, is_loop: false, depth: self.depth });
        let before = self.epoch;
        if masked {
            let leaves = arms.iter().any(|arm| leaves(&arm.body));
            self.divergent(
                |walk| {
                    for arm in arms {
                        walk.fresh();
                        walk.stmts(&arm.body);
                    }
                },
                leaves,
            );
        } else {
            let mut shrinks = false;
            for arm in arms {
                self.stmts(&arm.body);
                shrinks |= leaves(&arm.body) && any_stmt(&arm.body, &mut |s| matches!(s.kind, StmtKind::Return(_)));
                self.join(before);
            }
            self.epoch = before;
            if shrinks {
                self.fresh();
            }
        }
        self.targets.pop();
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Logical { lhs, rhs, .. } => {
                self.expr(lhs);
                self.under(lhs, &[rhs]);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.expr(condition);
                self.under(condition, &[then, otherwise]);
            }
            _ => operands(expr, &mut |e| self.expr(e)),
        }
        match &expr.kind {
            ExprKind::Assign(place, value) => self.assign(place, self.is_uniform(value)),
            ExprKind::CompoundAssign { place, rhs: value, .. }
            | ExprKind::PointerAssign { place, index: value, .. } => {
                self.assign(place, self.is_uniform(value));
            }
            ExprKind::IncDec { place, .. } => self.assign(place, true),
            _ => {}
        }
    }

    /// Operands that are evaluated for the lanes that a condition chooses.
    fn under(&mut self, condition: &Expr, chosen: &[&Expr]) {
        let uniform = self.is_uniform(condition);
        let before = self.epoch;
        for expr in chosen {
            if !uniform {
                self.fresh();
            }
            self.expr(expr);
            self.epoch = before;
        }
    }

    fn assign(&mut self, place: &Place, uniform_value: bool) {
        let PlaceBase::Local(local) = place.base else { return };
        let at = local.0 as usize;
        if self.function.locals[at].needs_memory {
            return;
        }
        let exact = self.epoch == self.declared[at] && !self.exposed[at];
        if exact {
            self.analysis.exact.insert(std::ptr::from_ref(place));
        }
        if !exact || !uniform_value {
            self.drop_local(local);
        }
    }
}

/// Whether lanes can leave the statements in another way than at their end.
fn leaves(stmts: &[Stmt]) -> bool {
    fn inside(stmts: &[Stmt], in_loop: bool, in_switch: bool) -> bool {
        stmts.iter().any(|stmt| {
            let (in_loop, in_switch) = match stmt.kind {
                StmtKind::Return(_) => return true,
                StmtKind::Break => return !in_loop && !in_switch,
                StmtKind::Continue => return !in_loop,
                StmtKind::Loop { .. }
                | StmtKind::Foreach { .. }
                | StmtKind::ForeachActive { .. }
                | StmtKind::ForeachUnique { .. } => (true, in_switch),
                StmtKind::Switch { .. } => (in_loop, true),
                _ => (in_loop, in_switch),
            };
            let mut found = false;
            stmt_blocks(stmt, &mut |block| found = found || inside(block, in_loop, in_switch));
            found
        })
    }
    inside(stmts, false, false)
}
