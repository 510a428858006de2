//! Calls: of functions, through function values, and launches of tasks.
//!
//! A task has six hidden leading parameters: its three indices and the three counts, uniform `i32`.

use super::function::{FunctionLowerer, Value, shape_of};
use crate::hir::{Callee, Expr, FuncId, TypeId, TypeKind};
use crate::source::Span;
use spmdvm_vm::program::{Inst, Reg};
use spmdvm_vm::{Op, Shape, Ty};

impl<'m> FunctionLowerer<'_, 'm> {
    /// A call; gives its result.
    pub fn call(&mut self, callee: &'m Callee, args: &'m [Expr], expr: &'m Expr) -> Value {
        match callee {
            Callee::Function(id) => {
                let values = self.values(args);
                if self.can_inline(*id) {
                    return self.inline_call(*id, values, expr.span);
                }
                let types = self.parameter_types(*id);
                let args = self.arguments(&types, values, expr.span);
                self.call_function(*id, &args, expr.span)
            }
            Callee::Pointer(pointer) => self.call_pointer(pointer, args, expr),
        }
    }

    fn parameter_types(&self, id: FuncId) -> Vec<TypeId> {
        let function = self.cx.module.function(id);
        function.params.iter().map(|&param| function.locals[param.0 as usize].ty).collect()
    }

    /// The registers that a call passes, in the shapes of the parameters.
    fn arguments(&mut self, types: &[TypeId], values: Vec<Value>, span: Span) -> Value {
        self.at(span);
        let mut all = Value::new();
        for (value, &ty) in values.into_iter().zip(types) {
            let Some(leaves) = self.leaves(ty, span) else { continue };
            for (r, leaf) in value.into_iter().zip(leaves.iter()) {
                let r = self.in_shape(r, shape_of(leaf), span);
                all.push(r);
            }
        }
        all
    }

    /// Calls a function with ready arguments.
    pub fn call_function(&mut self, id: FuncId, args: &[Reg], span: Span) -> Value {
        let function = self.cx.func_id(id);
        let result_ty = self.cx.module.function(id).result;
        let Some(results) = self.call_results(result_ty, span) else { return Vec::new() };
        let (args, rets) = (self.b.list(args), self.b.list(&results));
        self.at(span);
        self.b.push(Inst { aux: function.0, args, rets, ..Inst::new(Op::Call, Ty::Bool) });
        results
    }

    fn call_results(&mut self, ty: TypeId, span: Span) -> Option<Value> {
        let leaves = self.leaves(ty, span)?;
        Some(leaves.iter().map(|leaf| self.b.reg(shape_of(leaf), leaf.ty)).collect())
    }

    fn call_value(&mut self, function: Reg, args: &[Reg], result_ty: TypeId, span: Span) -> Value {
        let Some(results) = self.call_results(result_ty, span) else { return Vec::new() };
        let (args, rets) = (self.b.list(args), self.b.list(&results));
        self.at(span);
        let src = [function, Reg::NONE, Reg::NONE];
        self.b.push(Inst { src, args, rets, ..Inst::new(Op::CallInd, Ty::Bool) });
        results
    }

    fn call_pointer(&mut self, pointer: &'m Expr, args: &'m [Expr], expr: &'m Expr) -> Value {
        let target = self.pointee(pointer.ty, expr.span);
        let TypeKind::Function(signature) = self.cx.module.types.kind(target) else {
            self.internal(expr.span, "a call through something that is no function value");
            return self.zeros(expr.ty);
        };
        let later: Vec<&Expr> = args.iter().collect();
        let function = self.scalar_before(pointer, &later);
        let values = self.values(args);
        let args = self.arguments(&signature.params, values, expr.span);
        if !self.is_varying(function) {
            return self.call_value(function, &args, signature.result, expr.span);
        }
        let Some(leaves) = self.leaves(expr.ty, expr.span) else { return Vec::new() };
        let mut result = Value::new();
        for leaf in leaves.iter() {
            let r = self.b.reg(shape_of(leaf), leaf.ty);
            let zero = self.constant(leaf.ty, 0);
            self.b.mov(r, zero);
            result.push(r);
        }
        let function = self.stable(function);
        let dsts = result.clone();
        self.each_unique(function, expr.span, |this, one| {
            let results = this.call_value(one, &args, signature.result, expr.span);
            this.assign_all(&dsts, &results, false);
        });
        result
    }

    /// `launch`: the counts, then the arguments. The machine adds the hidden parameters.
    pub fn launch(
        &mut self,
        counts: &'m [Box<Expr>; 3],
        callee: &'m Callee,
        args: &'m [Expr],
        expr: &'m Expr,
    ) -> Value {
        let mut all = Value::new();
        for count in counts {
            let r = self.scalar(count);
            let r = self.convert(Ty::I32, self.b.ty(r), r);
            let r = self.in_shape(r, Shape::Uniform, count.span);
            all.push(self.stable(r));
        }
        let (inst, types) = match callee {
            Callee::Function(id) => {
                let inst = Inst { aux: self.cx.func_id(*id).0, ..Inst::new(Op::Launch, Ty::Bool) };
                (inst, self.parameter_types(*id))
            }
            Callee::Pointer(pointer) => {
                let task = self.scalar(pointer);
                let task = self.in_shape(task, Shape::Uniform, pointer.span);
                let task = self.stable(task);
                let inst = Inst { src: [task, Reg::NONE, Reg::NONE], ..Inst::new(Op::LaunchInd, Ty::Bool) };
                let target = self.pointee(pointer.ty, expr.span);
                let TypeKind::Function(signature) = self.cx.module.types.kind(target) else {
                    self.internal(expr.span, "a launch through something that is no function value");
                    return Vec::new();
                };
                (inst, signature.params.clone())
            }
        };
        let values = self.values(args);
        all.extend(self.arguments(&types, values, expr.span));
        let args = self.b.list(&all);
        self.at(expr.span);
        self.b.push(Inst { args, ..inst });
        Vec::new()
    }
}
