//! Loops over active lanes: `foreach_active`, `foreach_unique`, `crev` calls.

use super::control::Frame;
use super::function::{FunctionLowerer, Value, shape_of};
use crate::hir::{Expr, FuncId, LocalId, Stmt};
use crate::source::Span;
use spmdvm_vm::program::Reg;
use spmdvm_vm::{Op, Shape, Ty};

impl<'m> FunctionLowerer<'_, 'm> {
    /// Does something for each active lane: with that lane on only (`EachLane`) or all (`EachAll`). It gets the lane's
    /// index, uniform `i32`.
    pub fn each(&mut self, op: Op, span: Span, inside: impl FnOnce(&mut Self, Reg)) {
        let lane = self.b.reg(Shape::Uniform, Ty::I32);
        self.visit(op, Ty::Bool, Reg::NONE, lane, span, inside);
    }

    /// Does something for each distinct value of a varying register, with the lanes on that have it.
    pub fn each_unique(&mut self, value: Reg, span: Span, inside: impl FnOnce(&mut Self, Reg)) {
        let ty = self.b.ty(value);
        let one = self.b.reg(Shape::Uniform, ty);
        self.visit(Op::EachUnique, ty, value, one, span, inside);
    }

    fn visit(&mut self, op: Op, ty: Ty, value: Reg, dst: Reg, span: Span, inside: impl FnOnce(&mut Self, Reg)) {
        let (head, done) = (self.b.label(), self.b.label());
        self.at(span);
        self.b.plain(Op::EachBegin);
        self.bind(head);
        self.b.control(op, (!value.is_none()).then_some(value), done);
        if let Some(inst) = self.b.last_inst() {
            inst.dst = dst;
            inst.ty = if op == Op::EachUnique { ty } else { Ty::I32 };
            inst.from = inst.ty;
        }
        self.frames.push(Frame::Each { resume: head });
        inside(self, dst);
        self.frames.pop();
        self.at(span);
        self.b.control(Op::Jmp, None, head);
        self.bind(done);
        let resume = self.resume();
        self.b.control(Op::EachEnd, None, resume);
    }

    /// `foreach_active`.
    pub fn foreach_active(&mut self, var: LocalId, body: &'m [Stmt], span: Span) {
        self.each(Op::EachLane, span, |this, lane| {
            let ty = this.body.function.locals[var.0 as usize].ty;
            let ty = this.cx.module.types.register_ty(ty).unwrap_or(Ty::I64);
            let index = this.convert(ty, Ty::I32, lane);
            this.set_variable(var, vec![index], span);
            this.stmts(body);
        });
    }

    /// `foreach_unique`.
    pub fn foreach_unique(&mut self, var: LocalId, value: &'m Expr, body: &'m [Stmt], span: Span) {
        let value = self.scalar(value);
        self.at(span);
        let value = self.in_lanes(value);
        let value = self.stable(value);
        self.each_unique(value, span, |this, one| {
            this.set_variable(var, vec![one], span);
            this.stmts(body);
        });
    }

    /// `crev f(…)`: a call with all lanes on for each active lane.
    pub fn crev(&mut self, id: FuncId, args: &'m [Expr], expr: &'m Expr) -> Value {
        let values = self.values(args);
        let values: Vec<Value> = values.into_iter().map(|value| self.stable_value(value)).collect();
        self.at(expr.span);
        let function = self.cx.module.function(id);
        let Some(leaves) = self.leaves(expr.ty, expr.span) else { return Vec::new() };
        let mut result = Value::new();
        for leaf in leaves.iter() {
            let r = self.b.reg(Shape::Varying, leaf.ty);
            let zero = self.constant(leaf.ty, 0);
            self.b.mov(r, zero);
            result.push(r);
        }
        let dsts = result.clone();
        self.each(Op::EachAll, expr.span, |this, lane| {
            let mut lane_args = Value::new();
            for (value, &param) in values.into_iter().zip(&function.params) {
                let ty = function.locals[param.0 as usize].ty;
                let leaves = this.leaves(ty, expr.span);
                for (r, leaf) in value.into_iter().zip(leaves.iter().flat_map(|l| l.iter())) {
                    let one = this.lane_of(r, lane);
                    let one = this.in_shape(one, shape_of(leaf), expr.span);
                    lane_args.push(one);
                }
            }
            let results = this.call_function(id, &lane_args, expr.span);
            for (d, r) in dsts.into_iter().zip(results) {
                let ty = this.b.ty(d);
                let one = this.lane_of(r, lane);
                this.push(Op::Insert, ty, ty, d, &[d, lane, one]);
            }
        });
        result
    }
}
