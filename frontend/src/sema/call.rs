//! Calls: functions, function pointers, overloaded operators, `crev` and `launch`.

use super::expr::Operand;
use super::overload::{Argument, ArgumentValue};
use super::table::{Checker, DeclId, Entity};
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Callee, Expr, ExprKind, FunctionType, Shape, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use crate::symbol::Symbol;
use spmdvm_vm::Ty;

impl<'a> Checker<'a, '_> {
    /// `callee(args)`.
    pub(super) fn call(&mut self, call: &'a ast::Call<'a>, span: Span) -> Operand<'a> {
        if let ast::ExprKind::Name { name, template_args: None } = call.callee.kind
            && name.name.as_str().starts_with("__op_")
        {
            return Operand::Value(self.table_operation(name, call, span));
        }
        let Some((callee, args)) = self.resolve_call(call) else { return Operand::Value(Expr::error(span)) };
        if callee.function.task {
            let error = Diagnostic::new(Code::BadTask, span, "a task is not called but launched");
            self.error(error.help("write `launch f(…)`"));
            return Operand::Value(Expr::error(span));
        }
        let mut ty = callee.function.result;
        if let TypeKind::Struct(id, _) = *self.kind(ty)
            && !self.check_struct_complete(id, span)
        {
            return Operand::Value(Expr::error(span));
        }
        if let Callee::Pointer(pointer) = &callee.callee
            && self.is_varying(pointer.ty)
            && ty != TypeTable::VOID
        {
            ty = self.as_varying(ty);
        }
        let value = Expr { kind: ExprKind::Call(callee.callee, args), ty, span };
        self.result_operand(value)
    }

    /// The result of a call: if it is a reference, the place it refers to.
    fn result_operand(&mut self, value: Expr) -> Operand<'a> {
        match self.kind(value.ty) {
            TypeKind::Reference(_) => Operand::Place(self.temporary(value)),
            _ => Operand::Value(value),
        }
    }

    /// What is called, and the arguments converted.
    fn resolve_call(&mut self, call: &'a ast::Call<'a>) -> Option<(ResolvedCallee, Vec<Expr>)> {
        let callee = self.operand(call.callee);
        let args = self.arguments(call.args);
        match callee {
            Operand::Functions { name, decls, templates, args: template_args } => {
                let args = args?;
                let decl = self.resolve_overload(name, &decls, &templates, template_args, &args, call.args_span)?;
                self.warn_deprecated(decl, name);
                let values = self.convert_arguments(decl, args);
                let function = self.signature_of(decl);
                let id = self.used_function(decl, name.span);
                Some((ResolvedCallee { callee: Callee::Function(id), function, decl: Some(decl) }, values))
            }
            other => {
                let pointer = self.value_of(other);
                let function = self.pointee_function(&pointer)?;
                let values = self.pointer_arguments(&function, args?, call)?;
                let callee = Callee::Pointer(Box::new(pointer));
                Some((ResolvedCallee { callee, function, decl: None }, values))
            }
        }
    }

    fn pointee_function(&mut self, pointer: &Expr) -> Option<FunctionType> {
        if pointer.ty == TypeTable::ERROR {
            return None;
        }
        if let TypeKind::Pointer { pointee, .. } = *self.kind(pointer.ty)
            && let TypeKind::Function(function) = self.kind(pointee)
        {
            return Some(function.clone());
        }
        let message = format!("`{}` is no function and cannot be called", self.show(pointer.ty));
        self.error_at(Code::NotCallable, pointer.span, message);
        None
    }

    fn pointer_arguments(
        &mut self,
        function: &FunctionType,
        args: Vec<Argument<'a>>,
        call: &'a ast::Call<'a>,
    ) -> Option<Vec<Expr>> {
        if args.len() != function.params.len() {
            let (wanted, given) = (function.params.len(), args.len());
            let message =
                format!("this function takes {wanted} argument{}, not {given}", if wanted == 1 { "" } else { "s" });
            self.error_at(Code::NoMatchingFunction, call.args_span, message);
            return None;
        }
        Some(args.into_iter().zip(&function.params).map(|(arg, &param)| self.pass(arg, param)).collect())
    }

    /// The type of a declared function.
    pub(super) fn signature_of(&self, decl: DeclId) -> FunctionType {
        let decl = self.decl(decl);
        FunctionType {
            result: decl.result,
            params: decl.params.clone(),
            task: decl.flags.task,
            unmasked: decl.flags.unmasked,
        }
    }

    /// Likewise, interned.
    pub(super) fn function_type(&mut self, decl: DeclId) -> TypeId {
        let function = self.signature_of(decl);
        self.table.types.intern(TypeKind::Function(function), false)
    }

    /// The address of a function.
    pub(super) fn function_address(&mut self, decl: DeclId, span: Span) -> Expr {
        let function = self.function_type(decl);
        let ty = self.pointer_to(function, Shape::Uniform);
        let id = self.used_function(decl, span);
        Expr { kind: ExprKind::FunctionAddress(id), ty, span }
    }

    /// The module's function for a declaration that is used at `span`.
    pub(super) fn used_function(&mut self, decl: DeclId, span: Span) -> crate::hir::FuncId {
        self.first_uses.entry(decl).or_insert(span);
        self.function_id(decl)
    }

    fn warn_deprecated(&mut self, decl: DeclId, name: ast::Ident) {
        if let Some(text) = self.decl(decl).deprecated.clone() {
            let mut warning =
                Diagnostic::new(Code::DeprecatedFunction, name.span, format!("`{}` is deprecated", name.name));
            if !text.is_empty() {
                warning = warning.note(text);
            }
            self.warn(warning);
        }
    }

    /// `crev f(…)`.
    pub(super) fn crev(&mut self, call: &'a ast::Call<'a>, span: Span) -> Expr {
        let ast::ExprKind::Name { name, template_args } = call.callee.kind else {
            self.error_at(Code::BadCrev, call.callee.span, "`crev` needs the name of a function");
            return Expr::error(span);
        };
        let callee = self.name(name, template_args);
        let Some(args) = self.arguments(call.args) else { return Expr::error(span) };
        let Operand::Functions { name, decls, templates, args: template_args } = callee else {
            self.error_at(Code::BadCrev, call.callee.span, "`crev` needs the name of a function");
            return Expr::error(span);
        };
        // The function sees each argument as one lane's value: uniform.
        let seen: Vec<Argument<'a>> = args.iter().map(|arg| self.lane_argument(arg)).collect();
        let Some(decl) = self.resolve_overload(name, &decls, &templates, template_args, &seen, call.args_span) else {
            return Expr::error(span);
        };
        if self.decl(decl).flags.task {
            let error = Diagnostic::new(Code::BadCrev, span, "a task cannot be called with `crev`");
            self.error(error.help("launch it: `launch …`, or declare the function without `task`"));
            return Expr::error(span);
        }
        let params = self.decl(decl).params.clone();
        let count = args.len();
        let mut values = Vec::new();
        for (arg, &param) in args.into_iter().zip(&params) {
            values.push(self.crev_argument(arg, param));
        }
        self.add_defaults(decl, &params, count, &mut values);
        let result = self.decl(decl).result;
        let ty = if result == TypeTable::VOID { result } else { self.as_varying(result) };
        if let TypeKind::Reference(_) = self.kind(result) {
            self.error_at(Code::BadCrev, span, "a function that gives a reference cannot be called with `crev`");
            return Expr::error(span);
        }
        let id = self.used_function(decl, name.span);
        Expr { kind: ExprKind::Crev(id, values), ty, span }
    }

    fn lane_argument(&mut self, arg: &Argument<'a>) -> Argument<'a> {
        match &arg.value {
            ArgumentValue::Place(place, None) if self.is_varying(arg.ty) => {
                let value = self.load(place.clone());
                let ty = self.as_uniform(arg.ty);
                Argument { value: ArgumentValue::Value(Expr { ty, ..value }), ty, span: arg.span }
            }
            ArgumentValue::Value(value) => {
                let ty = self.as_uniform(arg.ty);
                Argument { value: ArgumentValue::Value(Expr { ty, ..value.clone() }), ty, span: arg.span }
            }
            _ => arg.clone(),
        }
    }

    /// An argument of `crev`: converted to the parameter's type, but with its own shape.
    fn crev_argument(&mut self, arg: Argument<'a>, param: TypeId) -> Expr {
        if let TypeKind::Reference(_) = self.kind(param) {
            return self.pass(arg, param);
        }
        let own_shape = if self.is_varying(arg.ty) { self.as_varying(param) } else { self.as_uniform(param) };
        self.pass(arg, own_shape)
    }

    /// `launch[…] f(…)`.
    pub(super) fn launch(&mut self, counts: &'a [&'a ast::Expr<'a>], call: &'a ast::Call<'a>, span: Span) -> Expr {
        let int = self.table.types.uniform(Ty::I32);
        let mut dims: Vec<Expr> = counts
            .iter()
            .map(|count| {
                let value = self.value(count);
                self.convert(value, int, "the number of tasks")
            })
            .collect();
        while dims.len() < 3 {
            dims.push(Expr::constant(1, int, span));
        }
        let Some((callee, args)) = self.resolve_call(call) else { return Expr::error(span) };
        if !callee.function.task {
            let mut error = Diagnostic::new(Code::BadTask, call.callee.span, "only tasks can be launched");
            if let Some(decl) = callee.decl {
                error = error.label(self.decl(decl).ast.head_span, "declared here without `task`");
            }
            self.error(error.help("declare the function `task void …`, or call it without `launch`"));
            return Expr::error(span);
        }
        let mut dims = dims.into_iter().map(Box::new);
        let (Some(x), Some(y), Some(z)) = (dims.next(), dims.next(), dims.next()) else { return Expr::error(span) };
        let kind = ExprKind::Launch { counts: [x, y, z], callee: callee.callee, args };
        Expr { kind, ty: TypeTable::VOID, span }
    }

    /// The call of an overloaded binary operator or assignment, if an operand is a struct and one is declared that fits.
    pub(super) fn overloaded_binary(
        &mut self,
        op: &str,
        lhs: &mut Operand<'a>,
        rhs: &mut Operand<'a>,
        span: Span,
    ) -> Option<Operand<'a>> {
        if !self.is_struct_operand(lhs) && !self.is_struct_operand(rhs) {
            return None;
        }
        self.overloaded(op, &mut [lhs, rhs], span)
    }

    /// Likewise for a unary operator.
    pub(super) fn overloaded_unary(&mut self, op: &str, operand: &mut Operand<'a>, span: Span) -> Option<Operand<'a>> {
        if !self.is_struct_operand(operand) {
            return None;
        }
        self.overloaded(op, &mut [operand], span)
    }

    /// Likewise for `++` and `--`.
    pub(super) fn overloaded_inc_dec(
        &mut self,
        op: &str,
        operand: &mut Operand<'a>,
        postfix: bool,
        span: Span,
    ) -> Option<Operand<'a>> {
        if !self.is_struct_operand(operand) {
            return None;
        }
        if !postfix {
            return self.overloaded(op, &mut [operand], span);
        }
        let mut dummy = Operand::Value(Expr::constant(0, self.table.types.uniform(Ty::I32), span));
        self.overloaded(op, &mut [operand, &mut dummy], span)
    }

    fn is_struct_operand(&self, operand: &Operand<'a>) -> bool {
        let ty = match operand {
            Operand::Value(value) | Operand::Constant(value, _) => value.ty,
            Operand::Place(place) => place.ty,
            Operand::Functions { .. } => return false,
        };
        matches!(self.kind(ty), TypeKind::Struct(..))
    }

    /// The operands are taken only if a function fits: copying them at every operator would cost the square of the length of
    /// a chain.
    fn overloaded(&mut self, op: &str, operands: &mut [&mut Operand<'a>], span: Span) -> Option<Operand<'a>> {
        let name = Symbol::intern(&format!("operator{op}"));
        let Some(Entity::Functions(decls, templates)) = self.lookup(name) else { return None };
        let mut args = Vec::with_capacity(operands.len());
        for operand in operands.iter_mut() {
            let at = operand_span(operand, span);
            let taken = std::mem::replace(*operand, Operand::Value(Expr::error(at)));
            args.push(self.argument(taken, at));
        }
        let Some(decl) = self.quiet_overload(name, &decls, &templates, &args, span) else {
            for (operand, arg) in operands.iter_mut().zip(args) {
                **operand = arg.into_operand();
            }
            return None;
        };
        let values = self.convert_arguments(decl, args);
        let id = self.used_function(decl, span);
        let ty = self.decl(decl).result;
        let value = Expr { kind: ExprKind::Call(Callee::Function(id), values), ty, span };
        Some(self.result_operand(value))
    }
}

/// What is called.
struct ResolvedCallee {
    callee: Callee,
    function: FunctionType,
    decl: Option<DeclId>,
}

fn operand_span(operand: &Operand<'_>, otherwise: Span) -> Span {
    match operand {
        Operand::Value(value) | Operand::Constant(value, _) => value.span,
        Operand::Place(place) => place.span,
        Operand::Functions { .. } => otherwise,
    }
}
