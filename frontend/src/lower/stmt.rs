//! Statements.

use super::control::Frame;
use super::function::FunctionLowerer;
use crate::hir::{Expr, LabelId, Stmt, StmtKind};
use crate::source::Span;
use spmdvm_vm::program::{Inst, Piece, Reg};
use spmdvm_vm::{Label, Op, Ty};

impl<'m> FunctionLowerer<'_, 'm> {
    /// Statements in order.
    pub fn stmts(&mut self, stmts: &'m [Stmt]) {
        for stmt in stmts {
            if self.cx.diagnostics.poll() {
                return;
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'m Stmt) {
        self.at(stmt.span);
        match &stmt.kind {
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Declare { local, init } => self.declare(*local, init.as_ref(), stmt.span),
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If { condition, then, otherwise, .. } => self.if_stmt(condition, then, otherwise),
            StmtKind::Loop { .. } => self.loop_stmt(stmt),
            StmtKind::Foreach { .. } => self.foreach(stmt),
            StmtKind::ForeachActive { var, body } => self.foreach_active(*var, body, stmt.span),
            StmtKind::ForeachUnique { var, value, body } => self.foreach_unique(*var, value, body, stmt.span),
            StmtKind::Switch { .. } => self.switch(stmt),
            StmtKind::Break => self.break_stmt(stmt.span),
            StmtKind::Continue => self.continue_stmt(stmt.span),
            StmtKind::Return(value) => self.return_stmt(value.as_ref(), stmt.span),
            StmtKind::Unmasked(body) => self.unmasked(body, stmt.span),
            StmtKind::Label(label) => {
                let label = self.goto_label(*label);
                self.bind(label);
            }
            StmtKind::Goto(label) => {
                let label = self.goto_label(*label);
                self.b.control(Op::Jmp, None, label);
            }
            StmtKind::Print { pieces, args } => self.print(pieces, args, stmt.span),
            StmtKind::Assert { condition, message } => self.assert(condition, message, stmt.span),
            StmtKind::Abort { message } => self.abort(message, stmt.span),
            StmtKind::Assume(_) => {}
            StmtKind::Sync => {
                self.at(stmt.span);
                self.b.plain(Op::Sync);
            }
            StmtKind::Delete(pointer) => {
                let pointer = self.scalar(pointer);
                self.at(stmt.span);
                self.push(Op::Free, Ty::Bool, Ty::Bool, Reg::NONE, &[pointer]);
            }
        }
    }

    fn goto_label(&mut self, label: LabelId) -> Label {
        if let Some(&known) = self.labels.get(&label) {
            return known;
        }
        let new = self.b.label();
        self.labels.insert(label, new);
        new
    }

    /// `unmasked { … }`.
    fn unmasked(&mut self, body: &'m [Stmt], span: Span) {
        for stmt in body {
            if let StmtKind::Declare { local, .. } = stmt.kind
                && self.body.function.locals[local.0 as usize].outlives_block
            {
                self.declare_in_advance(local);
            }
        }
        self.every(span, |this| this.stmts(body));
    }

    /// Something done with all lanes on.
    pub fn every(&mut self, span: Span, inside: impl FnOnce(&mut Self)) {
        self.at(span);
        self.b.plain(Op::Everywhere);
        let end = self.b.label();
        self.frames.push(Frame::Every { resume: end });
        inside(self);
        self.frames.pop();
        self.bind(end);
        self.at(span);
        let resume = self.resume();
        self.b.control(Op::EverywhereEnd, None, resume);
    }

    fn print(&mut self, pieces: &[Piece], args: &'m [Expr], span: Span) {
        let mut regs = Vec::new();
        for (value, arg) in self.values(args).into_iter().zip(args) {
            let varying = self.cx.module.types.is_varying(arg.ty);
            self.at(span);
            for r in value {
                let r = if varying { self.in_lanes(r) } else { r };
                regs.push(r);
            }
        }
        let format = self.cx.format(pieces);
        let args = self.b.list(&regs);
        self.at(span);
        self.b.push(Inst { aux: format, args, ..Inst::new(Op::Print, Ty::Bool) });
    }

    fn assert(&mut self, condition: &'m Expr, message: &str, span: Span) {
        let c = self.scalar(condition);
        if self.constant_bits(c).is_some_and(|bits| bits != 0) {
            return;
        }
        self.at(span);
        let aux = self.cx.message(message);
        self.b.push(Inst { src: [c, Reg::NONE, Reg::NONE], aux, ..Inst::new(Op::Assert, Ty::Bool) });
    }

    pub fn abort(&mut self, message: &str, span: Span) {
        self.at(span);
        let aux = self.cx.message(message);
        self.b.push(Inst { aux, ..Inst::new(Op::Abort, Ty::Bool) });
    }
}
