//! The tree as text, for `--dump ast` and for tests.
//!
//! Items and statements stand on lines of their own, indented; expressions are in prefix form, types are spelled out
//! from the outside in (`pointer to uniform float`).

use std::fmt::{self, Write};

use super::*;

/// The whole tree as text.
pub fn dump(unit: &TranslationUnit<'_>) -> String {
    let mut dumper = Dumper { out: String::new(), indent: 0 };
    for item in unit.items {
        dumper.item(item);
    }
    dumper.out
}

struct Dumper {
    out: String,
    indent: usize,
}

impl Dumper {
    fn line(&mut self, text: impl fmt::Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.indent * 2);
    }

    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += 1;
        write(self);
        self.indent -= 1;
    }

    fn item(&mut self, item: &Item<'_>) {
        match item.kind {
            ItemKind::Function(function) => self.function("function", function),
            ItemKind::Variables(variables) => self.variables(variables),
            ItemKind::Typedefs(typedefs) => self.typedefs(typedefs),
            ItemKind::Struct(definition) => self.structure(definition),
            ItemKind::Enum(definition) => self.enumeration(definition),
            ItemKind::Template(template) => {
                let params: Vec<String> = template.params.iter().map(template_param).collect();
                self.line(format_args!("template <{}>", params.join(", ")));
                self.inside(|dumper| dumper.function("function", template.function));
            }
            ItemKind::Specialization(instance) => self.instance("specialization", instance),
            ItemKind::Instantiation(instance) => self.instance("instantiation", instance),
            ItemKind::ExportTypes(types) => {
                self.line(format_args!("export types {}", list(types.iter().map(ty))));
            }
            ItemKind::StaticAssert { condition, message } => self.static_assert(condition, message),
        }
    }

    fn static_assert(&mut self, condition: &Expr<'_>, message: Option<&str>) {
        self.line(format_args!("static_assert {} {:?}", expr(condition), message.unwrap_or("")));
    }

    fn instance(&mut self, what: &str, instance: &TemplateInstance<'_>) {
        let args = instance.args.map(|args| format!(" <{}>", list(args.iter().map(template_arg))));
        self.line(format_args!("{what}{}", args.unwrap_or_default()));
        self.inside(|dumper| dumper.function("function", instance.function));
    }

    fn function(&mut self, what: &str, function: &Function<'_>) {
        let flags = flags(&function.flags);
        let attributes = attributes(function.attributes);
        self.line(format_args!("{what} {}{flags}{attributes}", function.name.name));
        self.inside(|dumper| {
            for param in function.params {
                dumper.line(format_args!("param {}", self::param(param)));
            }
            dumper.line(format_args!("result {}", ty(function.result)));
            if let Some(body) = function.body {
                dumper.stmts(body.stmts);
            }
        });
    }

    fn variables(&mut self, variables: &[Variable<'_>]) {
        for variable in variables {
            let storage = match variable.storage {
                Storage::None => "",
                Storage::Static => "static ",
                Storage::Extern => "extern ",
                Storage::ExternC => "extern \"C\" ",
            };
            let init = variable.init.map(|init| format!(" = {}", expr(init))).unwrap_or_default();
            let attributes = attributes(variable.attributes);
            self.line(format_args!("{storage}var {}: {}{attributes}{init}", variable.name.name, ty(variable.ty)));
        }
    }

    fn typedefs(&mut self, typedefs: &[Typedef<'_>]) {
        for typedef in typedefs {
            self.line(format_args!("typedef {} = {}", typedef.name.name, ty(typedef.ty)));
        }
    }

    fn structure(&mut self, definition: &StructDef<'_>) {
        self.line(format_args!("struct {}{}", definition.name.name, attributes(definition.attributes)));
        self.inside(|dumper| {
            for member in definition.members.unwrap_or_default() {
                let bits = member.bits.map(|bits| format!(" : {}", expr(bits))).unwrap_or_default();
                dumper.line(format_args!("{}: {}{bits}", member.name.name, ty(member.ty)));
            }
        });
    }

    fn enumeration(&mut self, definition: &EnumDef<'_>) {
        self.line(format_args!("enum {}", definition.name.name));
        self.inside(|dumper| {
            for enumerator in definition.enumerators.unwrap_or_default() {
                let value = enumerator.value.map(|value| format!(" = {}", expr(value))).unwrap_or_default();
                dumper.line(format_args!("{}{value}", enumerator.name.name));
            }
        });
    }

    fn stmts(&mut self, stmts: &[Stmt<'_>]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// A line, and a statement below it.
    fn with_body(&mut self, line: impl fmt::Display, body: &Stmt<'_>) {
        self.line(line);
        self.inside(|dumper| dumper.stmt(body));
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        match stmt.kind {
            StmtKind::Empty => self.line("empty"),
            StmtKind::Expr(value) => self.line(expr(value)),
            StmtKind::Block(block) => {
                self.line("block");
                self.inside(|dumper| dumper.stmts(block.stmts));
            }
            StmtKind::Variables(variables) => self.variables(variables),
            StmtKind::Typedefs(typedefs) => self.typedefs(typedefs),
            StmtKind::Struct(definition) => self.structure(definition),
            StmtKind::Enum(definition) => self.enumeration(definition),
            StmtKind::Function(function) => self.function("function", function),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Return(Some(value)) => self.line(format_args!("return {}", expr(value))),
            StmtKind::Goto(label) => self.line(format_args!("goto {}", label.name)),
            StmtKind::Sync => self.line("sync"),
            StmtKind::Delete(pointer) => self.line(format_args!("delete {}", expr(pointer))),
            StmtKind::Print { format, args } => self.line(format_args!("print {}{}", expr(format), tail(args))),
            StmtKind::Assert { condition, message } => {
                let message = message.map(|message| format!(" {}", expr(message))).unwrap_or_default();
                self.line(format_args!("assert {}{message}", expr(condition)));
            }
            StmtKind::Assume(condition) => self.line(format_args!("assume {}", expr(condition))),
            StmtKind::StaticAssert { condition, message } => self.static_assert(condition, message),
            StmtKind::Unmasked(block) => {
                self.line("unmasked");
                self.inside(|dumper| dumper.stmts(block.stmts));
            }
            StmtKind::Error => self.line("error"),
            _ => self.stmt_with_body(stmt),
        }
    }

    fn stmt_with_body(&mut self, stmt: &Stmt<'_>) {
        let c = |coherent: bool| if coherent { "c" } else { "" };
        match stmt.kind {
            StmtKind::If { coherent, condition, then, otherwise } => {
                self.with_body(format_args!("{}if {}", c(coherent), expr(condition)), then);
                if let Some(otherwise) = otherwise {
                    self.with_body("else", otherwise);
                }
            }
            StmtKind::While { coherent, condition, body } => {
                self.with_body(format_args!("{}while {}", c(coherent), expr(condition)), body);
            }
            StmtKind::DoWhile { coherent, body, condition } => {
                self.with_body(format_args!("{}do", c(coherent)), body);
                self.line(format_args!("while {}", expr(condition)));
            }
            StmtKind::For { coherent, init, condition, step, body } => {
                let part = |part: Option<&Expr<'_>>| part.map(expr).unwrap_or_else(|| "-".into());
                self.line(format_args!("{}for {}; {}", c(coherent), part(condition), part(step)));
                self.inside(|dumper| {
                    if let Some(init) = init {
                        dumper.stmt(init);
                    }
                    dumper.stmt(body);
                });
            }
            StmtKind::Foreach { tiled, dims, body } => {
                let dim =
                    |dim: &ForeachDim<'_>| format!("{} = {} ... {}", dim.var.name, expr(dim.start), expr(dim.end));
                let tiled = if tiled { "_tiled" } else { "" };
                self.with_body(format_args!("foreach{tiled} {}", list(dims.iter().map(dim))), body);
            }
            StmtKind::ForeachActive { var, body } => self.with_body(format_args!("foreach_active {}", var.name), body),
            StmtKind::ForeachUnique { var, value, body } => {
                self.with_body(format_args!("foreach_unique {} in {}", var.name, expr(value)), body);
            }
            StmtKind::Switch { value, body } => self.with_body(format_args!("switch {}", expr(value)), body),
            StmtKind::Case { value, stmt } => self.with_body(format_args!("case {}", expr(value)), stmt),
            StmtKind::Default(stmt) => self.with_body("default", stmt),
            StmtKind::Label { name, stmt } => self.with_body(format_args!("label {}", name.name), stmt),
            StmtKind::Hinted { hint, stmt } => {
                let hint = match hint {
                    LoopHint::Unroll(None) => "unroll".to_string(),
                    LoopHint::Unroll(Some(count)) => format!("unroll {count}"),
                    LoopHint::NoUnroll => "nounroll".to_string(),
                };
                self.with_body(hint, stmt);
            }
            _ => {}
        }
    }
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn flags(flags: &FunctionFlags) -> String {
    let names = [
        (flags.export, "export"),
        (flags.is_static, "static"),
        (flags.is_extern, "extern"),
        (flags.extern_c, "\"C\""),
        (flags.inline, "inline"),
        (flags.noinline, "noinline"),
        (flags.task, "task"),
        (flags.unmasked, "unmasked"),
        (flags.calling_convention, "calling_convention"),
    ];
    let set: String = names.iter().filter(|(set, _)| *set).map(|(_, name)| format!(" {name}")).collect();
    if set.is_empty() { set } else { format!(" [{}]", set.trim_start()) }
}

fn attributes(attributes: &[Attribute<'_>]) -> String {
    let attribute = |attribute: &Attribute<'_>| match attribute.argument {
        None => format!(" @{}", attribute.name.name),
        Some(AttributeArgument::Int(value)) => format!(" @{}({value})", attribute.name.name),
        Some(AttributeArgument::Str(text)) => format!(" @{}({text:?})", attribute.name.name),
    };
    attributes.iter().map(attribute).collect()
}

fn param(param: &Param<'_>) -> String {
    let name = param.name.map_or("_", |name| name.name.as_str());
    let default = param.default.map(|value| format!(" = {}", expr(value))).unwrap_or_default();
    format!("{name}: {}{}{default}", ty(param.ty), attributes(param.attributes))
}

fn template_param(param: &TemplateParam<'_>) -> String {
    match param.kind {
        TemplateParamKind::Type { default } => {
            let default = default.map(|default| format!(" = {}", ty(default))).unwrap_or_default();
            format!("typename {}{default}", param.name.name)
        }
        TemplateParamKind::Value { ty: of, default } => {
            let default = default.map(|default| format!(" = {}", expr(default))).unwrap_or_default();
            format!("{}: {}{default}", param.name.name, ty(of))
        }
    }
}

fn template_arg(arg: &TemplateArg<'_>) -> String {
    match arg {
        TemplateArg::Type(of) => ty(of),
        TemplateArg::Value(value) => expr(value),
    }
}

/// A type in words.
pub(crate) fn ty(of: &TypeExpr<'_>) -> String {
    let mut text = String::new();
    if of.quals.is_const {
        text.push_str("const ");
    }
    match of.quals.variability {
        Some(Variability::Uniform) => text.push_str("uniform "),
        Some(Variability::Varying) => text.push_str("varying "),
        None => {}
    }
    if let Some(width) = of.quals.soa {
        text += &format!("soa<{}> ", expr(width));
    }
    match of.quals.sign {
        Some(Sign::Signed) => text.push_str("signed "),
        Some(Sign::Unsigned) => text.push_str("unsigned "),
        None => {}
    }
    text + &type_kind(of)
}

fn type_kind(of: &TypeExpr<'_>) -> String {
    match of.kind {
        TypeKind::Basic(basic) => format!("{basic:?}").to_lowercase(),
        TypeKind::Named { name, tag } => {
            let tag = match tag {
                Some(Tag::Struct) => "struct ",
                Some(Tag::Enum) => "enum ",
                None => "",
            };
            format!("{tag}{}", name.name)
        }
        TypeKind::Polymorphic { class, quantifier } => {
            let quantifier = quantifier.map(|number| format!("${number}")).unwrap_or_default();
            format!("{}{quantifier}", format!("{class:?}").to_lowercase())
        }
        TypeKind::Vector { element, len } => {
            format!("vector<{}, {}>", type_kind(element), expr(len))
        }
        TypeKind::Pointer(pointee) => format!("pointer to {}", ty(pointee)),
        TypeKind::Reference(referent) => format!("reference to {}", ty(referent)),
        TypeKind::Array { element, len } => {
            format!("array[{}] of {}", len.map(expr).unwrap_or_default(), ty(element))
        }
        TypeKind::Function(function) => {
            let params = list(function.params.iter().map(param));
            format!("function({params}) -> {}{}", ty(function.result), flags(&function.flags))
        }
        TypeKind::Error => "<error>".into(),
    }
}

/// Arguments after a first operand.
fn tail(args: &[&Expr<'_>]) -> String {
    args.iter().map(|arg| format!(" {}", expr(arg))).collect()
}

fn call(call: &Call<'_>) -> String {
    format!("{}{}", expr(call.callee), tail(call.args))
}

/// An expression in prefix form.
pub(crate) fn expr(of: &Expr<'_>) -> String {
    match of.kind {
        ExprKind::Int { value, ty } => {
            let suffix = match ty {
                IntLiteral::Int8 => "i8",
                IntLiteral::Int32 => "",
                IntLiteral::UInt32 => "u",
                IntLiteral::Int64 => "ll",
                IntLiteral::UInt64 => "ull",
            };
            format!("{value}{suffix}")
        }
        ExprKind::Float { value, ty, .. } => {
            let suffix = match ty {
                FloatLiteral::Float16 => "f16",
                FloatLiteral::Float => "f",
                FloatLiteral::Double => "d",
            };
            format!("{value:?}{suffix}")
        }
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Null => "NULL".into(),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Name { name, template_args } => {
            let args = template_args.map(|args| format!("<{}>", list(args.iter().map(template_arg))));
            format!("{}{}", name.name, args.unwrap_or_default())
        }
        ExprKind::Unary { op, operand } => {
            let post = matches!(op, UnaryOp::PostInc | UnaryOp::PostDec);
            format!("({}{} {})", if post { "post" } else { "" }, op.as_str(), expr(operand))
        }
        ExprKind::Binary { op, lhs, rhs, .. } => {
            format!("({} {} {})", op.as_str(), expr(lhs), expr(rhs))
        }
        ExprKind::Assign { op, target, value, .. } => {
            format!("({}= {} {})", op.map_or("", BinaryOp::as_str), expr(target), expr(value))
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("(? {} {} {})", expr(condition), expr(then), expr(otherwise))
        }
        ExprKind::Cast { ty: to, operand } => format!("(cast [{}] {})", ty(to), expr(operand)),
        ExprKind::SizeofType(of) => format!("(sizeof [{}])", ty(of)),
        ExprKind::SizeofExpr(operand) => format!("(sizeof {})", expr(operand)),
        ExprKind::Alloca(size) => format!("(alloca {})", expr(size)),
        ExprKind::Call(of) => format!("(call {})", call(of)),
        ExprKind::Crev(of) => format!("(crev {})", call(of)),
        ExprKind::Launch { counts, call: of } => {
            format!("(launch [{}] {})", tail(counts).trim_start(), call(of))
        }
        ExprKind::Intrinsic { name, args } => format!("(intrinsic {name}{})", tail(args)),
        ExprKind::Index { base, index } => format!("(index {} {})", expr(base), expr(index)),
        ExprKind::Member { base, member, arrow } => {
            format!("({} {} {})", if arrow { "->" } else { "." }, expr(base), member.name)
        }
        ExprKind::New { variability, ty: of, count, init } => {
            let variability = match variability {
                Some(Variability::Uniform) => "uniform ",
                Some(Variability::Varying) => "varying ",
                None => "",
            };
            let count = count.map(|count| format!(" count {}", expr(count))).unwrap_or_default();
            let init = init.map(|init| format!(" init{}", tail(init))).unwrap_or_default();
            format!("({variability}new [{}]{count}{init})", ty(of))
        }
        ExprKind::Aggregate(items) => format!("{{{}}}", list(items.iter().map(|item| expr(item)))),
        ExprKind::Error => "<error>".into(),
    }
}
