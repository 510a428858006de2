//! Control flow: uniform conditions jump, varying ones work on the mask stack.

use super::function::FunctionLowerer;
use crate::hir::{Expr, LoopForm, Stmt, StmtKind, SwitchArm, SwitchLabel};
use crate::source::Span;
use spmdvm_vm::program::Reg;
use spmdvm_vm::{Label, Op, Ty};

/// An open construct. Those with `resume` have an entry on the mask stack; the label is where lanes come back next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// A divergent `if`, or part of an expression evaluated for some lanes.
    If { resume: Label },
    /// A loop that lanes leave separately (`foreach` included).
    Loop { resume: Label },
    /// A divergent `switch`.
    Switch { resume: Label },
    /// All lanes on.
    Every { resume: Label },
    /// A loop over lanes.
    Each { resume: Label },
    /// A loop without an entry: its lanes stay together.
    UniformLoop { break_to: Label, continue_to: Label },
    /// A `switch` without an entry.
    UniformSwitch { break_to: Label },
}

impl Frame {
    fn resume(&self) -> Option<Label> {
        match *self {
            Frame::If { resume }
            | Frame::Loop { resume }
            | Frame::Switch { resume }
            | Frame::Every { resume }
            | Frame::Each { resume } => Some(resume),
            Frame::UniformLoop { .. } | Frame::UniformSwitch { .. } => None,
        }
    }
}

impl<'m> FunctionLowerer<'_, 'm> {
    /// Where lanes come back next if none is active here.
    pub fn resume(&mut self) -> Label {
        if let Some(label) = self.frames.iter().rev().find_map(Frame::resume) {
            return label;
        }
        self.jumps_to_end = true;
        self.end
    }

    /// `if`.
    pub fn if_stmt(&mut self, condition: &'m Expr, then: &'m [Stmt], otherwise: &'m [Stmt]) {
        let c = self.scalar(condition);
        self.at(condition.span);
        if let Some(bits) = self.constant_bits(c) {
            return self.stmts(if bits != 0 { then } else { otherwise });
        }
        if !self.is_varying(c) {
            return self.uniform_if(c, then, otherwise);
        }
        if otherwise.is_empty() && self.leave_if(c, then) {
            return;
        }
        let end = self.b.label();
        let other = if otherwise.is_empty() { end } else { self.b.label() };
        self.b.control(Op::MaskIf, Some(c), other);
        self.frames.push(Frame::If { resume: other });
        self.stmts(then);
        if !otherwise.is_empty() {
            self.bind(other);
            self.frames.pop();
            self.b.control(Op::MaskElse, None, end);
            self.frames.push(Frame::If { resume: end });
            self.stmts(otherwise);
        }
        self.frames.pop();
        self.bind(end);
        let resume = self.resume();
        self.b.control(Op::MaskEndif, None, resume);
    }

    fn uniform_if(&mut self, c: Reg, then: &'m [Stmt], otherwise: &'m [Stmt]) {
        let end = self.b.label();
        if otherwise.is_empty() {
            self.b.control(Op::BrFalse, Some(c), end);
            self.stmts(then);
        } else {
            let other = self.b.label();
            self.b.control(Op::BrFalse, Some(c), other);
            self.stmts(then);
            self.b.control(Op::Jmp, None, end);
            self.bind(other);
            self.stmts(otherwise);
        }
        self.bind(end);
    }

    /// `if (c) break;` and its like in one operation, where the target is a mask stack entry.
    fn leave_if(&mut self, c: Reg, then: &'m [Stmt]) -> bool {
        let [only] = then else { return false };
        let op = match &only.kind {
            StmtKind::Block(inner) => return self.leave_if(c, inner),
            StmtKind::Break => Op::MaskBreakIf,
            StmtKind::Continue => Op::MaskContinueIf,
            StmtKind::Return(None) => Op::MaskReturnIf,
            StmtKind::Return(Some(value)) if value.is_speculable() => {
                let value = self.value(value);
                self.at(only.span);
                for (d, s) in self.results.clone().into_iter().zip(value) {
                    if !self.is_varying(d) {
                        return false;
                    }
                    let new = self.select(self.b.ty(d), c, s, d);
                    self.b.assign(d, new);
                }
                Op::MaskReturnIf
            }
            _ => return false,
        };
        self.at(only.span);
        let resume = self.resume();
        self.b.control(op, Some(c), resume);
        true
    }

    /// `while`, `do`, `for`.
    pub fn loop_stmt(&mut self, stmt: &'m Stmt) {
        let StmtKind::Loop { form, init, condition, step, body, .. } = &stmt.kind else { return };
        self.stmts(init);
        let parts =
            LoopParts { form: *form, condition: condition.as_ref(), step: step.as_ref(), body, span: stmt.span };
        if self.body.analysis.is_masked(stmt) {
            self.masked_loop(&parts);
        } else {
            self.uniform_loop(&parts);
        }
    }

    /// The test stands at the end, so that a turn costs one jump.
    fn uniform_loop(&mut self, parts: &LoopParts<'m>) {
        let (body, next, test, end) = (self.b.label(), self.b.label(), self.b.label(), self.b.label());
        if parts.form != LoopForm::DoWhile && parts.condition.is_some() {
            self.b.control(Op::Jmp, None, test);
        }
        self.bind(body);
        self.frames.push(Frame::UniformLoop { break_to: end, continue_to: next });
        self.stmts(parts.body);
        self.frames.pop();
        self.bind(next);
        if let Some(step) = parts.step {
            self.effect(step);
        }
        self.bind(test);
        match parts.condition {
            Some(condition) => {
                let c = self.scalar(condition);
                let c = self.in_shape(c, spmdvm_vm::Shape::Uniform, condition.span);
                self.at(condition.span);
                self.b.control(Op::BrTrue, Some(c), body);
            }
            None => {
                self.at(parts.span);
                self.b.control(Op::Jmp, None, body);
            }
        }
        self.bind(end);
    }

    fn masked_loop(&mut self, parts: &LoopParts<'m>) {
        let (head, next, done) = (self.b.label(), self.b.label(), self.b.label());
        let continues = continues(parts.body);
        self.at(parts.span);
        self.b.plain(Op::LoopBegin);
        self.bind(head);
        // Until the body no lane waits for anything but the end.
        self.frames.push(Frame::Loop { resume: done });
        if parts.form != LoopForm::DoWhile {
            self.loop_test(parts.condition, done);
        }
        self.frames.pop();
        self.frames.push(Frame::Loop { resume: if continues { next } else { done } });
        self.stmts(parts.body);
        self.frames.pop();
        self.frames.push(Frame::Loop { resume: done });
        self.at(parts.span);
        if continues {
            self.bind(next);
            self.b.control(Op::LoopNext, None, done);
        }
        if let Some(step) = parts.step {
            self.effect(step);
        }
        if parts.form == LoopForm::DoWhile {
            self.loop_test(parts.condition, done);
        }
        self.at(parts.span);
        self.b.control(Op::LoopBack, None, head);
        self.frames.pop();
        self.bind(done);
        let resume = self.resume();
        self.b.control(Op::LoopEnd, None, resume);
    }

    /// Lanes where the condition fails leave a masked loop.
    fn loop_test(&mut self, condition: Option<&'m Expr>, done: Label) {
        let Some(condition) = condition else { return };
        let c = self.scalar(condition);
        self.at(condition.span);
        match self.constant_bits(c) {
            Some(0) => self.b.control(Op::Jmp, None, done),
            Some(_) => {}
            None if self.is_varying(c) => self.b.control(Op::LoopTest, Some(c), done),
            None => self.b.control(Op::BrFalse, Some(c), done),
        }
    }

    /// `switch`.
    pub fn switch(&mut self, stmt: &'m Stmt) {
        let StmtKind::Switch { value, arms } = &stmt.kind else { return };
        for arm in arms {
            for inner in &arm.body {
                if let StmtKind::Declare { local, .. } = inner.kind {
                    self.declare_in_advance(local);
                }
            }
        }
        let selector = self.scalar(value);
        self.at(value.span);
        if self.body.analysis.is_masked(stmt) {
            self.masked_switch(selector, arms, stmt.span);
        } else {
            let selector = self.in_shape(selector, spmdvm_vm::Shape::Uniform, value.span);
            self.uniform_switch(selector, arms);
        }
    }

    fn matches(&mut self, selector: Reg, label: SwitchLabel) -> Option<Reg> {
        let SwitchLabel::Case(bits) = label else { return None };
        let ty = self.b.ty(selector);
        let case = self.constant(ty, bits);
        Some(self.binary(Op::Eq, ty, selector, case))
    }

    fn uniform_switch(&mut self, selector: Reg, arms: &'m [SwitchArm]) {
        let end = self.b.label();
        let labels: Vec<Label> = arms.iter().map(|_| self.b.label()).collect();
        let mut default = end;
        for (arm, &at) in arms.iter().zip(&labels) {
            for &label in &arm.labels {
                match self.matches(selector, label) {
                    Some(c) => self.b.control(Op::BrTrue, Some(c), at),
                    None => default = at,
                }
            }
        }
        self.b.control(Op::Jmp, None, default);
        self.frames.push(Frame::UniformSwitch { break_to: end });
        for (arm, &at) in arms.iter().zip(&labels) {
            self.bind(at);
            self.stmts(&arm.body);
        }
        self.frames.pop();
        self.bind(end);
    }

    fn masked_switch(&mut self, selector: Reg, arms: &'m [SwitchArm], span: Span) {
        let mut any_case: Option<Reg> = None;
        let mut tests: Vec<Option<Reg>> = Vec::new();
        for arm in arms {
            let mut test: Option<Reg> = None;
            for &label in &arm.labels {
                if let Some(c) = self.matches(selector, label) {
                    test = Some(self.either(test, c));
                }
            }
            if let Some(test) = test {
                any_case = Some(self.either(any_case, test));
            }
            tests.push(test);
        }
        for (arm, test) in arms.iter().zip(&mut tests) {
            if arm.labels.contains(&SwitchLabel::Default) {
                let none = match any_case {
                    Some(any) => self.unary(Op::Not, Ty::Bool, any),
                    None => self.constant(Ty::Bool, 1),
                };
                *test = Some(self.either(*test, none));
            }
        }
        let never = self.constant(Ty::Bool, 0);
        let tests: Vec<Reg> = tests.into_iter().map(|test| self.in_lanes(test.unwrap_or(never))).collect();
        self.at(span);
        let end = self.b.label();
        let mut next = if arms.is_empty() { end } else { self.b.label() };
        self.b.control(Op::SwitchBegin, None, next);
        for (i, (arm, test)) in arms.iter().zip(tests).enumerate() {
            self.bind(next);
            next = if i + 1 == arms.len() { end } else { self.b.label() };
            self.at(span);
            self.b.control(Op::SwitchCase, Some(test), next);
            self.frames.push(Frame::Switch { resume: next });
            self.stmts(&arm.body);
            self.frames.pop();
        }
        self.bind(end);
        let resume = self.resume();
        self.b.control(Op::SwitchEnd, None, resume);
    }

    fn either(&mut self, a: Option<Reg>, b: Reg) -> Reg {
        match a {
            Some(a) => self.binary(Op::Or, Ty::Bool, a, b),
            None => b,
        }
    }

    /// `break`.
    pub fn break_stmt(&mut self, span: Span) {
        let target = self.frames.iter().rposition(|frame| !matches!(frame, Frame::If { .. } | Frame::Every { .. }));
        self.leave(target, Op::MaskBreak, span);
    }

    /// `continue`.
    pub fn continue_stmt(&mut self, span: Span) {
        let target = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame, Frame::Loop { .. } | Frame::Each { .. } | Frame::UniformLoop { .. }));
        self.leave(target, Op::MaskContinue, span);
    }

    fn leave(&mut self, target: Option<usize>, op: Op, span: Span) {
        let Some(target) = target else {
            return self.internal(span, "`break` or `continue` in nothing it could leave");
        };
        let label = match self.frames[target] {
            Frame::UniformLoop { break_to, .. } if op == Op::MaskBreak => break_to,
            Frame::UniformLoop { continue_to, .. } => continue_to,
            Frame::UniformSwitch { break_to } => break_to,
            _ => {
                let resume = self.resume();
                return self.b.control(op, None, resume);
            }
        };
        if self.frames[target + 1..].iter().any(|frame| frame.resume().is_some()) {
            return self.internal(span, "lanes part in a loop that was taken for uniform");
        }
        self.b.control(Op::Jmp, None, label);
    }

    /// `return`.
    pub fn return_stmt(&mut self, value: Option<&'m Expr>, span: Span) {
        if let Some(value) = value {
            let regs = self.value(value);
            self.at(span);
            let results = self.results.clone();
            self.assign_all(&results, &regs, false);
        }
        self.at(span);
        let in_mask = self.frames.iter().any(|frame| frame.resume().is_some());
        if in_mask {
            let resume = self.resume();
            self.b.control(Op::MaskReturn, None, resume);
        } else {
            let end = self.end;
            self.b.control(Op::Jmp, None, end);
        }
    }
}

/// The parts of a loop.
struct LoopParts<'m> {
    form: LoopForm,
    condition: Option<&'m Expr>,
    step: Option<&'m Expr>,
    body: &'m [Stmt],
    span: Span,
}

/// Whether there is a `continue` for the loop whose body this is.
pub(super) fn continues(body: &[Stmt]) -> bool {
    has(body, &|stmt| matches!(stmt.kind, StmtKind::Continue), false)
}

/// Whether there is a `break` for the loop whose body this is.
pub(super) fn breaks(body: &[Stmt]) -> bool {
    has(body, &|stmt| matches!(stmt.kind, StmtKind::Break), true)
}

fn has(body: &[Stmt], wanted: &dyn Fn(&Stmt) -> bool, stops_at_switch: bool) -> bool {
    body.iter().any(|stmt| {
        let own_loop = matches!(
            stmt.kind,
            StmtKind::Loop { .. }
                | StmtKind::Foreach { .. }
                | StmtKind::ForeachActive { .. }
                | StmtKind::ForeachUnique { .. }
        );
        if own_loop || (stops_at_switch && matches!(stmt.kind, StmtKind::Switch { .. })) {
            return false;
        }
        let mut found = wanted(stmt);
        crate::hir::walk::stmt_blocks(stmt, &mut |block| found = found || has(block, wanted, stops_at_switch));
        found
    })
}
