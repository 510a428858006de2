//! Statements.

use super::body::Control;
use super::expr::is_effect;
use super::table::{Checker, Entity};
use crate::ast::{self, StmtKind as S};
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, ExprKind, Linkage, LoopForm, Shape, Stmt, StmtKind, TypeId, TypeKind, TypeTable};
use crate::source::Span;

/// How deep statements may be nested.
const MAX_DEPTH: u32 = 600;

impl<'a> Checker<'a, '_> {
    /// `{ … }`.
    pub(super) fn block(&mut self, block: &'a ast::Block<'a>) -> Vec<Stmt> {
        let scope = self.enter();
        let stmts = self.stmts(block.stmts);
        self.leave(scope);
        stmts
    }

    fn stmts(&mut self, list: &'a [ast::Stmt<'a>]) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(list.len());
        let mut ended = false;
        for stmt in list {
            if ended && !matches!(stmt.kind, S::Empty | S::Label { .. } | S::Case { .. } | S::Default(_)) {
                self.warn(Diagnostic::new(Code::UnreachableCode, stmt.span, "this can never run"));
            }
            ended = false;
            self.stmt(stmt, &mut out);
            if let Some(last) = out.last() {
                ended =
                    matches!(last.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_))
                        && self.body.varying_depth == 0;
            }
        }
        out
    }

    /// A statement with a scope of its own, as bodies are.
    pub(super) fn body(&mut self, stmt: &'a ast::Stmt<'a>) -> Vec<Stmt> {
        if let S::Block(block) = stmt.kind {
            return self.block(block);
        }
        let scope = self.enter();
        let mut out = Vec::new();
        self.stmt(stmt, &mut out);
        self.leave(scope);
        out
    }

    /// A statement; appends what it becomes.
    pub(super) fn stmt(&mut self, stmt: &'a ast::Stmt<'a>, out: &mut Vec<Stmt>) {
        if self.diags.poll() {
            return;
        }
        if self.depth >= MAX_DEPTH {
            self.error_at(Code::NestingTooDeep, stmt.span, "this is nested too deep");
            return;
        }
        self.depth += 1;
        self.stmt_kind(stmt, out);
        self.depth -= 1;
    }

    fn stmt_kind(&mut self, stmt: &'a ast::Stmt<'a>, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let kind = match stmt.kind {
            S::Empty | S::Error => return,
            S::Expr(expr) => match self.abort_message(expr) {
                Some(message) => StmtKind::Abort { message },
                None => StmtKind::Expr(self.effect_stmt(expr)),
            },
            S::Show(expr) => return self.show_value(expr, out),
            S::Block(block) => StmtKind::Block(self.block(block)),
            S::Variables(variables) => {
                for variable in variables {
                    self.declare_variable(variable, out);
                }
                return;
            }
            S::Typedefs(typedefs) => return typedefs.iter().for_each(|typedef| self.declare_typedef(typedef)),
            S::Struct(def) => return self.declare_struct(def),
            S::Enum(def) => return self.declare_enum(def),
            S::Function(function) => return self.declare_function(function),
            S::If { coherent, condition, then, otherwise } => self.if_stmt(coherent, condition, then, otherwise),
            S::While { coherent, condition, body } => {
                let condition = self.condition_of(condition);
                let body = self.loop_body(body, self.is_varying(condition.ty));
                loop_stmt(LoopForm::While, coherent, Some(condition), body)
            }
            S::DoWhile { coherent, body, condition } => {
                let varying = self.type_is_varying(condition);
                let body = self.loop_body(body, varying);
                let condition = self.condition_of(condition);
                loop_stmt(LoopForm::DoWhile, coherent, Some(condition), body)
            }
            S::For { coherent, init, condition, step, body } => self.for_stmt(coherent, init, condition, step, body),
            S::Foreach { tiled, dims, body } => self.foreach(tiled, dims, body, span),
            S::ForeachActive { var, body } => self.foreach_active(var, body),
            S::ForeachUnique { var, value, body } => self.foreach_unique(var, value, body),
            S::Switch { value, body } => self.switch(value, body, span),
            S::Case { stmt: inner, .. } | S::Default(inner) => {
                self.error_at(Code::MisplacedControl, span, "`case` and `default` stand directly inside a `switch`");
                return self.stmt(inner, out);
            }
            S::Label { name, stmt: inner } => {
                let id = self.define_label(name);
                out.push(Stmt { kind: StmtKind::Label(id), span: name.span });
                return self.stmt(inner, out);
            }
            S::Goto(label) => self.goto(label, span),
            S::Break => return self.break_stmt(span, out),
            S::Continue => return self.continue_stmt(span, out),
            S::Return(value) => self.return_stmt(value, span),
            S::Sync => StmtKind::Sync,
            S::Delete(pointer) => self.delete(pointer),
            S::Print { format, args } => self.print(format, args, span),
            S::Assert { condition, message } => self.assert_stmt(condition, message, span),
            S::Assume(condition) => {
                let condition = self.condition_of(condition);
                StmtKind::Assume(condition)
            }
            S::StaticAssert { condition, message } => return self.static_assert(condition, message, span),
            S::Unmasked(block) => self.unmasked(block),
            S::Hinted { stmt: inner, .. } => return self.stmt(inner, out),
        };
        out.push(Stmt { kind, span });
    }

    fn effect_stmt(&mut self, expr: &'a ast::Expr<'a>) -> Expr {
        let value = self.effect(expr);
        if !is_effect(&value) && value.ty != TypeTable::ERROR && !Self::is_comma(expr) {
            let mut warning =
                Diagnostic::new(Code::NoEffect, expr.span, "this computes a value and does nothing with it");
            if let ExprKind::Binary(spmdvm_vm::Op::Eq, ..) = value.kind {
                warning = warning.help("to assign, write `=`");
            } else if let ExprKind::FunctionAddress(_) = value.kind {
                warning = warning.help("to call the function, write `(…)`");
            }
            self.warn(warning);
        }
        value
    }

    /// A condition, of any shape.
    pub(super) fn condition_of(&mut self, expr: &'a ast::Expr<'a>) -> Expr {
        let value = self.value(expr);
        self.warn_assignment(expr);
        self.condition(value)
    }

    /// Warns of `if (a = b)`, unless the assignment stands in parentheses of its own.
    fn warn_assignment(&mut self, expr: &'a ast::Expr<'a>) {
        let ast::ExprKind::Assign { op: None, op_span, .. } = expr.kind else { return };
        let before = self.sources.before(expr.span);
        let in_parentheses = before.strip_suffix('(').is_some_and(|text| text.trim_end().ends_with(['(', ';', '!']));
        if !in_parentheses {
            let warning = Diagnostic::new(Code::AssignmentAsCondition, op_span, "this assigns, and does not compare");
            self.warn(warning.help("write `==` to compare, or put the assignment in parentheses if it is meant"));
        }
    }

    /// Whether an expression is varying, without evaluating it for good.
    fn type_is_varying(&mut self, expr: &'a ast::Expr<'a>) -> bool {
        // The condition of `do` is checked after the body, whose declarations it does not see; what it says about its
        // shape is needed before. Errors are dropped here, since they come again.
        let silent = self.diags.fork();
        let diags = std::mem::replace(self.diags, silent);
        let ty = self.type_of(expr);
        *self.diags = diags;
        self.is_varying(ty)
    }

    fn if_stmt(
        &mut self,
        coherent: bool,
        condition: &'a ast::Expr<'a>,
        then: &'a ast::Stmt<'a>,
        otherwise: Option<&'a ast::Stmt<'a>>,
    ) -> StmtKind {
        let condition = self.condition_of(condition);
        let varying = u32::from(self.is_varying(condition.ty));
        self.body.varying_depth += varying;
        let then = self.body(then);
        let otherwise = otherwise.map(|stmt| self.body(stmt)).unwrap_or_default();
        self.body.varying_depth -= varying;
        StmtKind::If { coherent, condition, then, otherwise }
    }

    /// The body of a loop.
    pub(super) fn loop_body(&mut self, body: &'a ast::Stmt<'a>, varying: bool) -> Vec<Stmt> {
        self.controlled(Control::Loop, varying, |checker| checker.body(body))
    }

    /// Checks what stands inside a statement that `break` and `continue` may mean.
    pub(super) fn controlled<R>(&mut self, control: Control, varying: bool, action: impl FnOnce(&mut Self) -> R) -> R {
        self.enter_nest(control, varying);
        let result = action(self);
        self.leave_nest(varying);
        result
    }

    fn for_stmt(
        &mut self,
        coherent: bool,
        init: Option<&'a ast::Stmt<'a>>,
        condition: Option<&'a ast::Expr<'a>>,
        step: Option<&'a ast::Expr<'a>>,
        body: &'a ast::Stmt<'a>,
    ) -> StmtKind {
        let scope = self.enter();
        let mut before = Vec::new();
        if let Some(init) = init {
            self.stmt(init, &mut before);
        }
        let condition = condition.map(|condition| self.condition_of(condition));
        let step = step.map(|step| self.effect_stmt(step));
        let varying = condition.as_ref().is_some_and(|condition| self.is_varying(condition.ty));
        let body = self.loop_body(body, varying);
        self.leave(scope);
        StmtKind::Loop { form: LoopForm::For, coherent, init: before, condition, step, body }
    }

    fn break_stmt(&mut self, span: Span, out: &mut Vec<Stmt>) {
        let target = self.body.nests.last().copied();
        match target.map(|nest| nest.control) {
            Some(Control::Loop | Control::Foreach | Control::Switch) => {
                target.into_iter().for_each(|nest| self.leaves(nest));
                out.push(Stmt { kind: StmtKind::Break, span });
            }
            Some(Control::Unmasked) => {
                let error = Diagnostic::new(Code::MisplacedControl, span, "`break` cannot leave an `unmasked` block");
                self.error(error.help("set a variable and test it after the block"));
            }
            None => self.error_at(Code::MisplacedControl, span, "`break` outside a loop or `switch`"),
        }
    }

    fn continue_stmt(&mut self, span: Span, out: &mut Vec<Stmt>) {
        let target = self.body.nests.iter().rev().find(|nest| nest.control != Control::Switch).copied();
        match target.map(|nest| nest.control) {
            Some(Control::Unmasked) => {
                let error =
                    Diagnostic::new(Code::MisplacedControl, span, "`continue` cannot leave an `unmasked` block");
                self.error(error.help("set a variable and test it after the block"));
            }
            Some(_) => {
                target.into_iter().for_each(|nest| self.leaves(nest));
                out.push(Stmt { kind: StmtKind::Continue, span });
            }
            None => self.error_at(Code::MisplacedControl, span, "`continue` outside a loop"),
        }
    }

    fn return_stmt(&mut self, value: Option<&'a ast::Expr<'a>>, span: Span) -> StmtKind {
        if !self.body.captures.is_empty() {
            let error = Diagnostic::new(Code::BadForeachUse, span, "`return` cannot leave a nested `foreach`");
            self.error(error.help("set a variable, `break`, and test it after the loop"));
        }
        let result = self.body.result;
        match value {
            None if result == TypeTable::VOID || result == TypeTable::ERROR => StmtKind::Return(None),
            None => {
                let message = format!("this function must give `{}`", self.show(result));
                self.error(Diagnostic::new(Code::BadReturn, span, message).help("write `return value;`"));
                StmtKind::Return(None)
            }
            Some(value) if result == TypeTable::VOID => {
                let given = self.value(value);
                if given.ty == TypeTable::VOID {
                    return StmtKind::Block(vec![
                        Stmt { kind: StmtKind::Expr(given), span },
                        Stmt { kind: StmtKind::Return(None), span },
                    ]);
                }
                if given.ty != TypeTable::ERROR {
                    let error = Diagnostic::new(Code::BadReturn, value.span, "this function gives no value");
                    self.error(error.at("so nothing can be returned").help("declare the function with a result type"));
                }
                StmtKind::Return(None)
            }
            Some(value) => {
                let value = match self.kind(result) {
                    TypeKind::Reference(_) => {
                        let operand = self.operand(value);
                        self.bind_reference(operand, result, value.span, "the result")
                    }
                    _ => {
                        let given = match value.kind {
                            ast::ExprKind::Aggregate(_) => self.initializer(value, result),
                            _ => self.value_for(value, result),
                        };
                        self.convert(given, result, "the result")
                    }
                };
                StmtKind::Return(Some(value))
            }
        }
    }

    fn delete(&mut self, pointer: &'a ast::Expr<'a>) -> StmtKind {
        let pointer = self.value(pointer);
        match self.kind(pointer.ty) {
            TypeKind::Pointer { .. } | TypeKind::Error => {}
            _ => {
                let message = format!("`delete` needs a pointer, not `{}`", self.show(pointer.ty));
                self.error_at(Code::BadAllocation, pointer.span, message);
            }
        }
        StmtKind::Delete(pointer)
    }

    fn assert_stmt(
        &mut self,
        condition: &'a ast::Expr<'a>,
        message: Option<&'a ast::Expr<'a>>,
        span: Span,
    ) -> StmtKind {
        let text = self.sources.text(condition.span).split_whitespace().collect::<Vec<_>>().join(" ");
        let condition = self.condition_of(condition);
        let message = match message {
            None if text.is_empty() => self.sources.text(span).to_string(),
            None => text,
            Some(message) => match message.kind {
                ast::ExprKind::String(text) => text.to_string(),
                _ => {
                    let value = self.value(message);
                    self.constant_text(&value).unwrap_or_else(|| {
                        let error = "the message of `assert` must be a string that is known at compile time";
                        self.error_at(Code::NotConstant, message.span, error);
                        String::new()
                    })
                }
            },
        };
        StmtKind::Assert { condition, message }
    }

    fn unmasked(&mut self, block: &'a ast::Block<'a>) -> StmtKind {
        let depth = std::mem::replace(&mut self.body.varying_depth, 0);
        let stmts = self.controlled(Control::Unmasked, false, |checker| {
            let scope = checker.enter();
            let stmts = checker.stmts(block.stmts);
            checker.leave_unmasked(scope);
            stmts
        });
        self.body.varying_depth = depth;
        StmtKind::Unmasked(stmts)
    }

    /// A local variable.
    fn declare_variable(&mut self, variable: &'a ast::Variable<'a>, out: &mut Vec<Stmt>) {
        if variable.flags.at_prompt {
            return self.initialise_at_prompt(variable, out);
        }
        let ty = self.resolve(variable.ty, Shape::Varying);
        let ty = self.complete_from_init(ty, variable.init);
        let name = variable.name;
        if variable.storage == ast::Storage::Extern || variable.storage == ast::Storage::ExternC {
            return self.declare_extern(variable, ty);
        }
        let complete = ty != TypeTable::ERROR && self.check_complete(ty, name.span, "a variable");
        let ty = if complete { ty } else { TypeTable::ERROR };
        if variable.storage == ast::Storage::Static {
            return self.declare_static(variable, ty);
        }
        // The initialiser does not see the variable itself.
        let init = variable.init.map(|init| self.initializer(init, ty));
        if let (TypeKind::Reference(_), None) = (self.kind(ty), &init) {
            let error = Diagnostic::new(Code::BadReference, name.span, "a reference must be bound when it is declared");
            self.error(error.help("write `= variable`"));
        }
        let id = self.declare_local(name, ty);
        let is_const = self.is_const(ty);
        let known = init.as_ref().filter(|_| is_const && self.scalar_ty(ty).is_some());
        let known = known.cloned().and_then(|init| self.known_value(&init, ty));
        let info = self.info(id);
        info.value = known;
        info.warn_unused = ty != TypeTable::ERROR;
        out.push(Stmt { kind: StmtKind::Declare { local: id, init }, span: variable.span });
    }

    fn declare_static(&mut self, variable: &'a ast::Variable<'a>, ty: TypeId) {
        if ty == TypeTable::ERROR {
            self.declare_name(variable.name, Entity::Constant(Expr::error(variable.name.span)));
            return;
        }
        if let TypeKind::Reference(_) = self.kind(ty) {
            self.error_at(Code::BadReference, variable.name.span, "a `static` variable cannot be a reference");
            return;
        }
        let function = self.body.decl.map_or("", |decl| self.decl(decl).ast.name.name.as_str());
        let unique = format!("{function}.{}", variable.name.name);
        let id = self.add_global_variable(variable.name, unique, ty, Linkage::Internal);
        self.declare_name(variable.name, Entity::Global(id));
        self.define_global(id, variable, ty);
    }

    /// A global declared inside a function.
    fn declare_extern(&mut self, variable: &'a ast::Variable<'a>, ty: TypeId) {
        if let Some(init) = variable.init {
            let message = "an `extern` variable is initialised where it is defined, outside of functions";
            self.error_at(Code::BadInitializer, init.span, message);
        }
        let entity = match self.declare_global_of_type(variable, ty) {
            Some(id) => Entity::Global(id),
            None => Entity::Constant(Expr::error(variable.name.span)),
        };
        self.declare_name(variable.name, entity);
    }
}

fn loop_stmt(form: LoopForm, coherent: bool, condition: Option<Expr>, body: Vec<Stmt>) -> StmtKind {
    StmtKind::Loop { form, coherent, init: Vec::new(), condition, step: None, body }
}
