//! Visiting the nodes of a tree, whatever their kinds, for tools that look at all of it.
//!
//! [`Node::children`] is the one place that knows what a node holds. Its matches name every kind and every field, so that a new
//! one cannot be forgotten.

use super::*;

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// Something at the top of a file.
    Item(&'a Item<'a>),
    /// A function, declared or defined.
    Function(&'a Function<'a>),
    /// A parameter of a function.
    Param(&'a Param<'a>),
    /// A variable, local or global.
    Variable(&'a Variable<'a>),
    /// A type with a new name.
    Typedef(&'a Typedef<'a>),
    /// A struct.
    Struct(&'a StructDef<'a>),
    /// A member of a struct.
    Member(&'a Member<'a>),
    /// An enum.
    Enum(&'a EnumDef<'a>),
    /// An enumerator.
    Enumerator(&'a Enumerator<'a>),
    /// A parameter of a template.
    TemplateParam(&'a TemplateParam<'a>),
    /// One dimension of a `foreach`.
    ForeachDim(&'a ForeachDim<'a>),
    /// A block that is the body of a function or of `unmasked`, or a whole statement.
    Block(&'a Block<'a>),
    /// A statement.
    Stmt(&'a Stmt<'a>),
    /// An expression.
    Expr(&'a Expr<'a>),
    /// A type as written.
    Type(&'a TypeExpr<'a>),
}

/// What a node is to the one that holds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The declaration that an item or a statement is, or one of several.
    Declared,
    /// The type of what is declared, converted to, or made.
    Type,
    /// A parameter.
    Param,
    /// A default argument, an initialiser, or the value of an enumerator.
    Init,
    /// A member or an enumerator.
    Member,
    /// The body of a function, a loop, `switch` or `unmasked`, or the block that a statement is.
    Body,
    /// One of the statements of a block.
    Statement,
    /// The statement after a label, or after a hint.
    Labelled,
    /// The condition of a statement or of `?:`.
    Condition,
    /// What happens, or the value, if the condition holds.
    Then,
    /// What happens, or the value, if it does not.
    Else,
    /// The first part of a `for`.
    First,
    /// The step of a `for`.
    Step,
    /// One dimension of a `foreach`.
    Dim,
    /// The value that a statement or an expression takes: of `return`, `switch`, an assignment, `case` …
    Value,
    /// What is assigned to.
    Target,
    /// An operand of an operator, a base, an index.
    Operand,
    /// The function called.
    Callee,
    /// An argument of a call, of `print`, of a template; a part of an aggregate.
    Argument,
    /// A length, a count, or the bounds of a `foreach`.
    Extent,
    /// A message of an assertion.
    Message,
}

impl<'a> Node<'a> {
    /// Where it stands.
    pub fn span(self) -> Span {
        match self {
            Node::Item(node) => node.span,
            Node::Function(node) => node.span,
            Node::Param(node) => node.span,
            Node::Variable(node) => node.span,
            Node::Typedef(node) => node.span,
            Node::Struct(node) => node.span,
            Node::Member(node) => node.span,
            Node::Enum(node) => node.span,
            Node::Enumerator(node) => node.value.map_or(node.name.span, |value| node.name.span.to(value.span)),
            Node::TemplateParam(node) => node.span,
            Node::ForeachDim(node) => node.var.span.to(node.end.span),
            Node::Block(node) => node.span,
            Node::Stmt(node) => node.span,
            Node::Expr(node) => node.span,
            Node::Type(node) => node.span,
        }
    }

    /// The name that it declares.
    pub fn declared_name(self) -> Option<Ident> {
        match self {
            Node::Function(node) => Some(node.name),
            Node::Param(node) => node.name,
            Node::Variable(node) => Some(node.name),
            Node::Typedef(node) => Some(node.name),
            Node::Struct(node) => Some(node.name),
            Node::Member(node) => Some(node.name),
            Node::Enum(node) => Some(node.name),
            Node::Enumerator(node) => Some(node.name),
            Node::TemplateParam(node) => Some(node.name),
            Node::ForeachDim(node) => Some(node.var),
            Node::Stmt(Stmt { kind: StmtKind::ForeachActive { var, .. }, .. }) => Some(*var),
            Node::Stmt(Stmt { kind: StmtKind::ForeachUnique { var, .. }, .. }) => Some(*var),
            Node::Item(_) | Node::Block(_) | Node::Stmt(_) | Node::Expr(_) | Node::Type(_) => None,
        }
    }

    /// Calls `visit` with each node that this one holds directly, in the order of the text where that is fixed.
    pub fn children(self, visit: &mut dyn FnMut(Role, Node<'a>)) {
        match self {
            Node::Item(item) => item_children(item, visit),
            Node::Function(function) => function_children(function, visit),
            Node::Param(Param { ty, default, name: _, attributes: _, span: _ }) => {
                visit(Role::Type, Node::Type(ty));
                optional(Role::Init, *default, visit);
            }
            Node::Variable(Variable { ty, init, name: _, storage: _, flags: _, attributes: _, span: _ }) => {
                visit(Role::Type, Node::Type(ty));
                optional(Role::Init, *init, visit);
            }
            Node::Typedef(Typedef { ty, name: _, span: _ }) => visit(Role::Type, Node::Type(ty)),
            Node::Struct(StructDef { members, name: _, attributes: _, span: _ }) => {
                members.unwrap_or_default().iter().for_each(|member| visit(Role::Member, Node::Member(member)));
            }
            Node::Member(Member { ty, bits, name: _, span: _ }) => {
                visit(Role::Type, Node::Type(ty));
                optional(Role::Extent, *bits, visit);
            }
            Node::Enum(EnumDef { enumerators, name: _, span: _ }) => {
                enumerators.unwrap_or_default().iter().for_each(|e| visit(Role::Member, Node::Enumerator(e)));
            }
            Node::Enumerator(Enumerator { value, name: _ }) => optional(Role::Init, *value, visit),
            Node::TemplateParam(TemplateParam { kind, name: _, span: _ }) => template_param_children(kind, visit),
            Node::ForeachDim(ForeachDim { start, end, var: _ }) => {
                visit(Role::Extent, Node::Expr(start));
                visit(Role::Extent, Node::Expr(end));
            }
            Node::Block(Block { stmts, span: _ }) => statements(stmts, visit),
            Node::Stmt(stmt) => stmt_children(&stmt.kind, visit),
            Node::Expr(expr) => expr_children(&expr.kind, visit),
            Node::Type(ty) => type_children(ty, visit),
        }
    }
}

impl<'a> TranslationUnit<'a> {
    /// Calls `visit` with each item.
    pub fn children(&self, visit: &mut dyn FnMut(Role, Node<'a>)) {
        self.items.iter().for_each(|item| visit(Role::Declared, Node::Item(item)));
    }
}

type Visit<'v, 'a> = &'v mut dyn FnMut(Role, Node<'a>);

fn optional<'a>(role: Role, expr: Option<&'a Expr<'a>>, visit: Visit<'_, 'a>) {
    expr.into_iter().for_each(|expr| visit(role, Node::Expr(expr)));
}

fn all<'a>(role: Role, exprs: &'a [&'a Expr<'a>], visit: Visit<'_, 'a>) {
    exprs.iter().for_each(|expr| visit(role, Node::Expr(expr)));
}

fn statements<'a>(stmts: &'a [Stmt<'a>], visit: Visit<'_, 'a>) {
    stmts.iter().for_each(|stmt| visit(Role::Statement, Node::Stmt(stmt)));
}

fn item_children<'a>(item: &'a Item<'a>, visit: Visit<'_, 'a>) {
    match item.kind {
        ItemKind::Function(function) => visit(Role::Declared, Node::Function(function)),
        ItemKind::Variables(list) => list.iter().for_each(|v| visit(Role::Declared, Node::Variable(v))),
        ItemKind::Typedefs(list) => list.iter().for_each(|t| visit(Role::Declared, Node::Typedef(t))),
        ItemKind::Struct(definition) => visit(Role::Declared, Node::Struct(definition)),
        ItemKind::Enum(definition) => visit(Role::Declared, Node::Enum(definition)),
        ItemKind::Template(Template { params, function }) => {
            params.iter().for_each(|param| visit(Role::Param, Node::TemplateParam(param)));
            visit(Role::Declared, Node::Function(function));
        }
        ItemKind::Specialization(instance) | ItemKind::Instantiation(instance) => {
            template_args(instance.args, visit);
            visit(Role::Declared, Node::Function(instance.function));
        }
        ItemKind::ExportTypes(types) => types.iter().for_each(|ty| visit(Role::Type, Node::Type(ty))),
        ItemKind::StaticAssert { condition, message: _ } => visit(Role::Condition, Node::Expr(condition)),
    }
}

fn function_children<'a>(function: &'a Function<'a>, visit: Visit<'_, 'a>) {
    let Function { result, params, body, name: _, operator: _, flags: _, attributes: _, head_span: _, span: _ } =
        function;
    visit(Role::Type, Node::Type(result));
    params.iter().for_each(|param| visit(Role::Param, Node::Param(param)));
    body.iter().for_each(|body| visit(Role::Body, Node::Block(body)));
}

fn template_param_children<'a>(kind: &'a TemplateParamKind<'a>, visit: Visit<'_, 'a>) {
    match *kind {
        TemplateParamKind::Type { default } => default.iter().for_each(|ty| visit(Role::Init, Node::Type(ty))),
        TemplateParamKind::Value { ty, default } => {
            visit(Role::Type, Node::Type(ty));
            optional(Role::Init, default, visit);
        }
    }
}

fn template_args<'a>(args: Option<&'a [TemplateArg<'a>]>, visit: Visit<'_, 'a>) {
    for arg in args.unwrap_or_default() {
        match *arg {
            TemplateArg::Type(ty) => visit(Role::Argument, Node::Type(ty)),
            TemplateArg::Value(value) => visit(Role::Argument, Node::Expr(value)),
        }
    }
}

fn stmt_children<'a>(kind: &'a StmtKind<'a>, visit: Visit<'_, 'a>) {
    match *kind {
        StmtKind::Empty
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Sync
        | StmtKind::Error => {}
        StmtKind::Expr(expr) | StmtKind::Show(expr) => visit(Role::Value, Node::Expr(expr)),
        StmtKind::Block(block) | StmtKind::Unmasked(block) => visit(Role::Body, Node::Block(block)),
        StmtKind::Variables(list) => list.iter().for_each(|v| visit(Role::Declared, Node::Variable(v))),
        StmtKind::Typedefs(list) => list.iter().for_each(|t| visit(Role::Declared, Node::Typedef(t))),
        StmtKind::Struct(definition) => visit(Role::Declared, Node::Struct(definition)),
        StmtKind::Enum(definition) => visit(Role::Declared, Node::Enum(definition)),
        StmtKind::Function(function) => visit(Role::Declared, Node::Function(function)),
        StmtKind::If { coherent: _, condition, then, otherwise } => {
            visit(Role::Condition, Node::Expr(condition));
            visit(Role::Then, Node::Stmt(then));
            otherwise.into_iter().for_each(|stmt| visit(Role::Else, Node::Stmt(stmt)));
        }
        StmtKind::Case { value, stmt } => {
            visit(Role::Value, Node::Expr(value));
            visit(Role::Labelled, Node::Stmt(stmt));
        }
        StmtKind::Default(stmt) | StmtKind::Label { name: _, stmt } | StmtKind::Hinted { hint: _, stmt } => {
            visit(Role::Labelled, Node::Stmt(stmt));
        }
        StmtKind::Return(value) => optional(Role::Value, value, visit),
        StmtKind::Delete(pointer) => visit(Role::Value, Node::Expr(pointer)),
        StmtKind::Print { format, args } => {
            visit(Role::Message, Node::Expr(format));
            all(Role::Argument, args, visit);
        }
        StmtKind::Assert { condition, message } => {
            visit(Role::Condition, Node::Expr(condition));
            optional(Role::Message, message, visit);
        }
        StmtKind::Assume(condition) | StmtKind::StaticAssert { condition, message: _ } => {
            visit(Role::Condition, Node::Expr(condition));
        }
        StmtKind::While { .. }
        | StmtKind::DoWhile { .. }
        | StmtKind::For { .. }
        | StmtKind::Foreach { .. }
        | StmtKind::ForeachActive { .. }
        | StmtKind::ForeachUnique { .. }
        | StmtKind::Switch { .. } => with_body_children(kind, visit),
    }
}

/// Of the statements that have one body.
fn with_body_children<'a>(kind: &'a StmtKind<'a>, visit: Visit<'_, 'a>) {
    match *kind {
        StmtKind::While { coherent: _, condition, body } => {
            visit(Role::Condition, Node::Expr(condition));
            visit(Role::Body, Node::Stmt(body));
        }
        StmtKind::DoWhile { coherent: _, body, condition } => {
            visit(Role::Body, Node::Stmt(body));
            visit(Role::Condition, Node::Expr(condition));
        }
        StmtKind::For { coherent: _, init, condition, step, body } => {
            init.iter().for_each(|init| visit(Role::First, Node::Stmt(init)));
            optional(Role::Condition, condition, visit);
            optional(Role::Step, step, visit);
            visit(Role::Body, Node::Stmt(body));
        }
        StmtKind::Foreach { tiled: _, dims, body } => {
            dims.iter().for_each(|dim| visit(Role::Dim, Node::ForeachDim(dim)));
            visit(Role::Body, Node::Stmt(body));
        }
        StmtKind::ForeachActive { var: _, body } => visit(Role::Body, Node::Stmt(body)),
        StmtKind::ForeachUnique { var: _, value, body } | StmtKind::Switch { value, body, .. } => {
            visit(Role::Value, Node::Expr(value));
            visit(Role::Body, Node::Stmt(body));
        }
        _ => {}
    }
}

fn expr_children<'a>(kind: &'a ExprKind<'a>, visit: Visit<'_, 'a>) {
    match *kind {
        ExprKind::Int { .. }
        | ExprKind::Float { .. }
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::String(_)
        | ExprKind::Error => {}
        ExprKind::Name { name: _, template_args: args } => template_args(args, visit),
        ExprKind::Unary { op: _, operand } => visit(Role::Operand, Node::Expr(operand)),
        ExprKind::Binary { op: _, op_span: _, lhs, rhs } => {
            visit(Role::Operand, Node::Expr(lhs));
            visit(Role::Operand, Node::Expr(rhs));
        }
        ExprKind::Assign { op: _, op_span: _, target, value } => {
            visit(Role::Target, Node::Expr(target));
            visit(Role::Value, Node::Expr(value));
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            visit(Role::Condition, Node::Expr(condition));
            visit(Role::Then, Node::Expr(then));
            visit(Role::Else, Node::Expr(otherwise));
        }
        ExprKind::Cast { ty, operand } => {
            visit(Role::Type, Node::Type(ty));
            visit(Role::Operand, Node::Expr(operand));
        }
        ExprKind::SizeofType(ty) => visit(Role::Type, Node::Type(ty)),
        ExprKind::SizeofExpr(operand) => visit(Role::Operand, Node::Expr(operand)),
        ExprKind::Alloca(size) => visit(Role::Extent, Node::Expr(size)),
        ExprKind::Call(call) | ExprKind::Crev(call) => call_children(call, visit),
        ExprKind::Launch { counts, call } => {
            all(Role::Extent, counts, visit);
            call_children(call, visit);
        }
        ExprKind::Intrinsic { name: _, args } => all(Role::Argument, args, visit),
        ExprKind::Index { base, index } => {
            visit(Role::Operand, Node::Expr(base));
            visit(Role::Operand, Node::Expr(index));
        }
        ExprKind::Member { base, member: _, arrow: _ } => visit(Role::Operand, Node::Expr(base)),
        ExprKind::New { variability: _, ty, count, init } => {
            visit(Role::Type, Node::Type(ty));
            optional(Role::Extent, count, visit);
            all(Role::Argument, init.unwrap_or_default(), visit);
        }
        ExprKind::Aggregate(parts) => all(Role::Argument, parts, visit),
    }
}

fn call_children<'a>(call: &'a Call<'a>, visit: Visit<'_, 'a>) {
    let Call { callee, args, args_span: _ } = call;
    visit(Role::Callee, Node::Expr(callee));
    all(Role::Argument, args, visit);
}

fn type_children<'a>(ty: &'a TypeExpr<'a>, visit: Visit<'_, 'a>) {
    optional(Role::Extent, ty.quals.soa, visit);
    match ty.kind {
        TypeKind::Basic(_) | TypeKind::Named { .. } | TypeKind::Polymorphic { .. } | TypeKind::Error => {}
        TypeKind::Vector { element, len } => {
            visit(Role::Type, Node::Type(element));
            visit(Role::Extent, Node::Expr(len));
        }
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) => visit(Role::Type, Node::Type(inner)),
        TypeKind::Array { element, len } => {
            visit(Role::Type, Node::Type(element));
            optional(Role::Extent, len, visit);
        }
        TypeKind::Function(function) => {
            visit(Role::Type, Node::Type(function.result));
            function.params.iter().for_each(|param| visit(Role::Param, Node::Param(param)));
        }
    }
}
