//! The state of the function being checked, and checking it.

use super::Instances;
use super::convert::zero;
use super::scoped::Scoped;
use super::table::{Bindings, Checker, DeclId, Entity};
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{self, Capture, Expr, FuncId, LabelId, Local, LocalId, Stmt, StmtKind, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use crate::symbol::{Symbol, SymbolMap};
use foldhash::HashSet;
use std::sync::Arc;

/// What `break` and `continue` refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Control {
    /// An ordinary loop.
    Loop,
    /// A loop of the `foreach` family.
    Foreach,
    /// A `switch`.
    Switch,
    /// An `unmasked` block: lanes cannot leave through it what they entered before.
    Unmasked,
}

/// What is known about a local besides what the HIR says.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalInfo {
    /// Whether its name occurs.
    pub is_used: bool,
    /// Its value, if it is a constant.
    pub value: Option<Expr>,
    /// Whether it must not be assigned although its type is not `const`: why.
    pub frozen: Option<&'static str>,
    /// Whether an unused one is worth a warning.
    pub warn_unused: bool,
    /// Whether the `unmasked` block that declares it has ended.
    pub is_behind: bool,
}

/// A statement around, of those that `break` and `continue` may mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nest {
    /// What it is.
    pub control: Control,
    /// Its number in the function.
    pub id: u32,
    /// [`Body::varying_depth`] inside of it.
    pub depth: u32,
}

/// A `goto`, or the label it goes to.
#[derive(Clone, Debug)]
pub(super) struct Jump {
    /// Where it stands.
    pub span: Span,
    /// The numbers of the nests around, outermost first.
    pub path: Vec<u32>,
}

/// A label for `goto`.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// Its number.
    pub id: LabelId,
    /// Where it stands, once seen.
    pub defined: Option<Jump>,
    /// Where it is used.
    pub uses: Vec<Jump>,
}

impl Label {
    pub(super) fn new(id: LabelId) -> Label {
        Label { id, defined: None, uses: Vec::new() }
    }
}

/// The function being checked.
#[derive(Default)]
pub(super) struct Body<'a> {
    /// Whether it is the library's.
    pub prelude: bool,
    /// Which it is; `None` at file scope.
    pub decl: Option<DeclId>,
    /// Type of the result.
    pub result: TypeId,
    /// Whether it is a task.
    pub is_task: bool,
    /// Its locals.
    pub locals: Vec<Local>,
    /// More about them.
    pub infos: Vec<LocalInfo>,
    /// Names of values in scope, and where they are declared.
    pub names: Scoped<(Entity, Span)>,
    /// Where the innermost scope begins in `names`.
    pub scope_start: usize,
    /// Names of types in scope.
    pub types: Scoped<TypeId>,
    /// What a template's parameters stand for.
    pub bindings: Option<Arc<Bindings>>,
    /// The statements around.
    pub nests: Vec<Nest>,
    /// How many there were so far.
    pub n_nests: u32,
    /// Those with an execution mask of their own beside that of their condition.
    pub parted: HashSet<u32>,
    /// How many `foreach` loops there are around.
    pub foreach_depth: u32,
    /// For each nested `foreach`, what it captures.
    pub captures: Vec<Vec<Capture>>,
    /// How many statements under a varying condition there are around.
    pub varying_depth: u32,
    /// Variables that hold values which references are bound to.
    pub temporaries: Vec<LocalId>,
    /// Labels.
    pub labels: SymbolMap<Label>,
    /// Lifetime of the syntax.
    pub syntax: std::marker::PhantomData<&'a ()>,
}

/// A scope that was entered, to be left again.
pub(super) struct Scope {
    names: usize,
    types: usize,
    start: usize,
}

impl<'a> Checker<'a, '_> {
    /// Begins a scope.
    pub(super) fn enter(&mut self) -> Scope {
        let body = &mut self.body;
        let scope = Scope { names: body.names.len(), types: body.types.len(), start: body.scope_start };
        body.scope_start = scope.names;
        scope
    }

    /// Ends a scope.
    pub(super) fn leave(&mut self, scope: Scope) {
        self.body.names.truncate(scope.names);
        self.body.types.truncate(scope.types);
        self.body.scope_start = scope.start;
    }

    /// Ends the scope of an `unmasked` block, which is none in ISPC: what was declared in it is seen behind it, unless the
    /// scope around has a name of its own for something else.
    pub(super) fn leave_unmasked(&mut self, scope: Scope) {
        let declared = self.body.names.split_off(scope.names);
        self.body.scope_start = scope.start;
        for (name, meaning) in declared {
            if self.declared_here(name).is_some() {
                continue;
            }
            if let Entity::Local(id, _) = meaning.0 {
                self.info(id).is_behind = true;
            }
            self.body.names.push(name, meaning);
        }
    }

    /// Where the innermost scope declares a name. What an `unmasked` block in it declared may be declared again.
    fn declared_here(&self, name: Symbol) -> Option<Span> {
        let &(ref entity, span) = self.body.names.get_since(name, self.body.scope_start)?;
        let is_behind = matches!(entity, Entity::Local(id, _) if self.body.infos[id.0 as usize].is_behind);
        (!is_behind).then_some(span)
    }

    /// Adds a local variable without a name in scope.
    pub(super) fn new_local(&mut self, name: Symbol, ty: TypeId, span: Span) -> LocalId {
        let needs_memory = self.table.types.has_instances(ty);
        self.body.locals.push(Local { name, ty, needs_memory, is_assigned: false, outlives_block: false, span });
        self.body.infos.push(LocalInfo::default());
        LocalId(self.body.locals.len() as u32 - 1)
    }

    /// Adds a local variable and its name.
    pub(super) fn declare_local(&mut self, name: ast::Ident, ty: TypeId) -> LocalId {
        let id = self.new_local(name.name, ty, name.span);
        let level = self.body.captures.len() as u32;
        self.declare_name(name, Entity::Local(id, level));
        id
    }

    /// Adds a name to the innermost scope.
    pub(super) fn declare_name(&mut self, name: ast::Ident, entity: Entity) {
        if let Some(first) = self.declared_here(name.name) {
            let message = format!("`{}` is declared twice in this scope", name.name);
            let error = Diagnostic::new(Code::Redefinition, name.span, message).at("declared again here");
            let error = error.label(first, "first declared here");
            self.error(error);
        }
        self.body.names.push(name.name, (entity, name.span));
    }

    /// A local of the function being checked.
    pub(super) fn local(&mut self, id: LocalId) -> &mut Local {
        &mut self.body.locals[id.0 as usize]
    }

    /// More about it.
    pub(super) fn info(&mut self, id: LocalId) -> &mut LocalInfo {
        &mut self.body.infos[id.0 as usize]
    }

    /// Returns whether a variable is one that a loop over lanes or elements changes, and nothing else.
    pub(super) fn is_loop_variable(&self, id: LocalId) -> bool {
        self.body.infos[id.0 as usize].frozen.is_some()
    }

    /// Checks all functions of the program and what they reach.
    pub(super) fn check_bodies(&mut self) {
        let first = self.base.map_or(0, |base| base.functions.len());
        let own = self.table.functions.len();
        for index in 0..own {
            let decl = &self.table.functions[index];
            if decl.ast.body.is_some() {
                self.function_id(DeclId((first + index) as u32));
            }
        }
        for template in std::mem::take(&mut self.exported_templates) {
            for instance in self.all_class_instances(template) {
                self.export_instance(instance);
            }
        }
        for instance in std::mem::take(&mut self.explicit_instances) {
            self.function_id(instance);
        }
        self.queue.reverse();
        while let Some((decl, id)) = self.queue.pop() {
            self.check_function(decl, id);
            if self.diags.is_full() || self.diags.poll() || self.too_many_instances.is_some() {
                break;
            }
        }
        self.report_instances();
        for (decl, id) in std::mem::take(&mut self.deferred) {
            self.leave_out(decl, id, "this instance of a polymorphic function has not been compiled".into());
            self.left_out.push(id);
        }
    }

    /// Says that there are too many instances of templates. Whatever else that leads to is not worth telling.
    fn report_instances(&mut self) {
        let Some(span) = self.too_many_instances else { return };
        let message = format!("the program's templates have more than {} instances", self.diags.limits().instances);
        let error = Diagnostic::new(Code::TooManyInstances, span, message);
        self.error(error.help("does an instance ask for another one with ever new arguments?"));
    }

    /// Has an instance of an exported polymorphic function checked, now or, if it is not among those wanted, when something
    /// calls it.
    fn export_instance(&mut self, instance: DeclId) {
        let is_new = !self.function_ids.contains_key(&instance);
        let id = self.function_id(instance);
        let Instances::Only(wanted) = &self.instances else { return };
        let name = &self.functions[id.0 as usize].mangled;
        if is_new && !wanted.iter().any(|w| w == name) {
            self.queue.pop();
            self.deferred.insert(instance, id);
        }
    }

    /// Gives a function a body that traps with a message.
    pub(super) fn leave_out(&mut self, decl: DeclId, func: FuncId, message: String) {
        let (decl, span) = (self.decl(decl).clone(), self.decl(decl).ast.head_span);
        self.body = Body::default();
        let scope = self.enter();
        let params =
            (decl.ast.params.iter().zip(&decl.params)).map(|(param, &ty)| self.declare_param(param, ty)).collect();
        self.leave(scope);
        let function = &mut self.functions[func.0 as usize];
        function.params = params;
        function.locals = std::mem::take(&mut self.body).locals;
        function.body = Some(vec![Stmt { kind: StmtKind::Abort { message }, span }]);
    }

    fn check_function(&mut self, id: DeclId, func: FuncId) {
        let decl = self.decl(id).clone();
        let Some(block) = decl.ast.body else { return };
        self.body = Body {
            prelude: decl.prelude,
            decl: Some(id),
            result: decl.result,
            is_task: decl.flags.task,
            bindings: decl.bindings.clone(),
            ..Body::default()
        };
        let scope = self.enter();
        let params: Vec<LocalId> =
            (decl.ast.params.iter().zip(&decl.params)).map(|(param, &ty)| self.declare_param(param, ty)).collect();
        let mut stmts = self.block(block);
        self.leave(scope);
        self.check_labels();
        self.check_end(&decl, &mut stmts, block.span);
        self.warn_unused();
        let body = std::mem::take(&mut self.body);
        let declare = |&local: &LocalId| {
            let span = body.locals[local.0 as usize].span;
            Stmt { kind: StmtKind::Declare { local, init: None }, span }
        };
        stmts.splice(0..0, body.temporaries.iter().map(declare));
        let function = &mut self.functions[func.0 as usize];
        function.params = params;
        function.locals = body.locals;
        function.body = Some(stmts);
        function.n_labels = body.labels.len() as u32;
    }

    fn declare_param(&mut self, param: &ast::Param<'a>, ty: TypeId) -> LocalId {
        match param.name {
            Some(name) => self.declare_local(name, ty),
            None => self.new_local(Symbol::intern(""), ty, param.span),
        }
    }

    /// A function with a result ends in `return`, else it gives zero.
    fn check_end(&mut self, decl: &super::table::FunctionDecl<'a>, stmts: &mut Vec<Stmt>, span: Span) {
        if decl.result == TypeTable::VOID || decl.result == TypeTable::ERROR || !can_end(stmts) {
            return;
        }
        let end = Span { lo: span.hi.saturating_sub(1), ..span };
        let message = format!("`{}` can end without `return`", decl.ast.name.name);
        // What an error has taken away may have been the `return`.
        if !self.diags.has_errors() {
            let warning = Diagnostic::new(Code::MissingReturn, end, message).at("it gives 0 here");
            self.warn(warning.label(decl.ast.result.span, format!("it should give `{}`", self.show(decl.result))));
        }
        if !matches!(self.kind(decl.result), TypeKind::Reference(_)) {
            stmts.push(Stmt { kind: StmtKind::Return(Some(zero(decl.result, end))), span: end });
        }
    }

    fn warn_unused(&mut self) {
        // A program with errors has other worries, and its variables may be unused only for them.
        if self.in_prelude() || self.diags.has_errors() {
            return;
        }
        let unused: Vec<(Symbol, Span)> = (self.body.locals.iter().zip(&self.body.infos))
            .filter(|(local, info)| info.warn_unused && !info.is_used && !local.name.as_str().starts_with('_'))
            .map(|(local, _)| (local.name, local.span))
            .collect();
        for (name, span) in unused {
            let message = format!("`{name}` is never used");
            self.warn(Diagnostic::new(Code::UnusedVariable, span, message));
        }
    }

    /// The module, unless there were errors.
    pub(super) fn finish(mut self) -> Option<hir::Module> {
        let imports = self.imports();
        let symbols = if self.is_object { self.symbols() } else { Vec::new() };
        let exports = self.exports();
        self.lay_out_globals();
        if self.diags.has_errors() || self.diags.poll() {
            return None;
        }
        Some(hir::Module {
            width: self.width,
            types: self.table.types,
            globals: self.globals,
            functions: self.functions,
            exports,
            exported_types: self.exported_types,
            deferred: self.left_out,
            imports,
            symbols,
            shown: self.shown,
        })
    }
}

/// Whether control can pass the end of statements, as far as their form tells.
fn can_end(stmts: &[Stmt]) -> bool {
    stmts.iter().all(passes)
}

/// Whether control can pass a statement. A `return` in a varying `if` is passed by other lanes, unless both branches
/// return.
fn passes(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Abort { .. } | StmtKind::Goto(_) => false,
        StmtKind::Block(stmts) | StmtKind::Unmasked(stmts) => can_end(stmts),
        StmtKind::If { condition, then, otherwise, .. } => match condition.constant_bits() {
            Some(0) => can_end(otherwise),
            Some(_) => can_end(then),
            None => can_end(then) || can_end(otherwise),
        },
        StmtKind::Loop { condition, body, .. } => {
            let endless = condition.as_ref().is_none_or(|condition| condition.constant_bits().is_some_and(|c| c != 0));
            !endless || contains_break(body)
        }
        StmtKind::Switch { arms, .. } => {
            let has_default = arms.iter().any(|arm| arm.labels.contains(&hir::SwitchLabel::Default));
            let last_ends = arms.last().is_none_or(|arm| can_end(&arm.body));
            !has_default || last_ends || arms.iter().any(|arm| contains_break(&arm.body))
        }
        _ => true,
    }
}

/// Whether there is a `break` that leaves the statement around these.
fn contains_break(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(stmts) | StmtKind::Unmasked(stmts) => contains_break(stmts),
        StmtKind::If { then, otherwise, .. } => contains_break(then) || contains_break(otherwise),
        _ => false,
    })
}
