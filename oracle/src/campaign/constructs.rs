//! Which constructs of the language a program is made of: kinds of declarations, statements, expressions and types, operators, and
//! functions of the library.

use spmdvm::frontend::ast::{
    BinaryOp, Expr, ExprKind, Function, ItemKind, Node, Stmt, StmtKind, TranslationUnit, TypeKind, UnaryOp,
};
use std::collections::BTreeSet;

/// All constructs but operators and the library, by the names that [`of`] has for them.
pub const ALL: [&str; 72] = [
    "[index]",
    ".member",
    "->member",
    "?:",
    "alloca",
    "array type",
    "assert",
    "assignment",
    "assume",
    "bool literal",
    "break",
    "call",
    "case",
    "cast",
    "cdo",
    "cfor",
    "cif",
    "compound assignment",
    "continue",
    "crev",
    "cwhile",
    "declared function",
    "default",
    "delete",
    "do",
    "enum",
    "explicit instantiation",
    "export",
    "export types",
    "expression statement",
    "extern \"C\"",
    "float literal",
    "for",
    "foreach",
    "foreach_active",
    "foreach_tiled",
    "foreach_unique",
    "function",
    "function type",
    "global",
    "goto",
    "if",
    "initializer list",
    "int literal",
    "intrinsic",
    "label",
    "launch",
    "local",
    "new",
    "new[]",
    "NULL",
    "operator overload",
    "pointer type",
    "polymorphic type",
    "pragma unroll",
    "print",
    "reference type",
    "return",
    "sizeof",
    "specialization",
    "static_assert",
    "string",
    "struct",
    "switch",
    "sync",
    "task",
    "template",
    "template arguments",
    "typedef",
    "unmasked",
    "vector type",
    "while",
];

/// The constructs of a program. Operators are called `operator +`, functions of the library `library sqrt`.
pub fn of(unit: &TranslationUnit<'_>) -> BTreeSet<String> {
    let mut found = Found::default();
    unit.children(&mut |_, node| found.all(node));
    let own = found.declared;
    let library = found.called.iter().filter(|name| !own.contains(*name)).map(|name| format!("library {name}"));
    found.constructs.iter().map(|&name| name.to_owned()).chain(found.operators).chain(library).collect()
}

#[derive(Default)]
struct Found {
    constructs: BTreeSet<&'static str>,
    operators: BTreeSet<String>,
    /// Names of what the program declares, and of what it calls.
    declared: BTreeSet<String>,
    called: BTreeSet<String>,
}

impl Found {
    /// A node and all that it holds.
    fn all(&mut self, node: Node<'_>) {
        self.node(node);
        node.children(&mut |_, child| self.all(child));
    }

    fn node(&mut self, node: Node<'_>) {
        let name = match node {
            Node::Item(item) => item_name(&item.kind),
            Node::Function(function) => self.function(function),
            Node::Stmt(stmt) => stmt_name(stmt),
            Node::Expr(expr) => self.expr(expr),
            Node::Type(ty) => type_name(&ty.kind),
            Node::Param(param) => {
                self.declared.extend(param.name.map(|name| name.name.to_string()));
                None
            }
            Node::Variable(variable) => {
                self.declared.insert(variable.name.name.to_string());
                None
            }
            Node::Typedef(_)
            | Node::Struct(_)
            | Node::Member(_)
            | Node::Enum(_)
            | Node::Enumerator(_)
            | Node::TemplateParam(_)
            | Node::ForeachDim(_)
            | Node::Block(_) => None,
        };
        self.constructs.extend(name);
    }

    fn function(&mut self, function: &Function<'_>) -> Option<&'static str> {
        self.declared.insert(function.name.name.to_string());
        let flags = &function.flags;
        let parts = [
            ("export", flags.export),
            ("task", flags.task),
            ("extern \"C\"", flags.extern_c),
            ("operator overload", function.operator.is_some()),
            ("declared function", function.body.is_none()),
        ];
        self.constructs.extend(parts.into_iter().filter_map(|(name, is_there)| is_there.then_some(name)));
        None
    }

    fn expr(&mut self, expr: &Expr<'_>) -> Option<&'static str> {
        Some(match &expr.kind {
            ExprKind::Int { .. } => "int literal",
            ExprKind::Float { .. } => "float literal",
            ExprKind::Bool(_) => "bool literal",
            ExprKind::Null => "NULL",
            ExprKind::String(_) => "string",
            ExprKind::Name { template_args, .. } => return template_args.map(|_| "template arguments"),
            ExprKind::Unary { op, .. } => return self.unary(*op),
            ExprKind::Binary { op, .. } => return self.operator(*op),
            ExprKind::Assign { op: None, .. } => "assignment",
            ExprKind::Assign { op: Some(_), .. } => "compound assignment",
            ExprKind::Conditional { .. } => "?:",
            ExprKind::Cast { .. } => "cast",
            ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => "sizeof",
            ExprKind::Alloca(_) => "alloca",
            ExprKind::Call(call) => {
                if let ExprKind::Name { name, .. } = call.callee.kind {
                    self.called.insert(name.name.to_string());
                }
                "call"
            }
            ExprKind::Crev(_) => "crev",
            ExprKind::Launch { .. } => "launch",
            ExprKind::Intrinsic { .. } => "intrinsic",
            ExprKind::Index { .. } => "[index]",
            ExprKind::Member { arrow: false, .. } => ".member",
            ExprKind::Member { arrow: true, .. } => "->member",
            ExprKind::New { count: None, .. } => "new",
            ExprKind::New { count: Some(_), .. } => "new[]",
            ExprKind::Aggregate(_) => "initializer list",
            ExprKind::Error => return None,
        })
    }

    fn unary(&mut self, op: UnaryOp) -> Option<&'static str> {
        let operand = match op {
            UnaryOp::PostInc | UnaryOp::PostDec => ("x", ""),
            _ => ("", "x"),
        };
        self.operators.insert(format!("operator {}{}{}", operand.0, op.as_str(), operand.1));
        None
    }

    fn operator(&mut self, op: BinaryOp) -> Option<&'static str> {
        self.operators.insert(format!("operator {}", op.as_str()));
        None
    }
}

fn item_name(item: &ItemKind<'_>) -> Option<&'static str> {
    Some(match item {
        ItemKind::Function(_) => "function",
        ItemKind::Variables(_) => "global",
        ItemKind::Typedefs(_) => "typedef",
        ItemKind::Struct(_) => "struct",
        ItemKind::Enum(_) => "enum",
        ItemKind::Template(_) => "template",
        ItemKind::Specialization(_) => "specialization",
        ItemKind::Instantiation(_) => "explicit instantiation",
        ItemKind::ExportTypes(_) => "export types",
        ItemKind::StaticAssert { .. } => "static_assert",
    })
}

fn stmt_name(stmt: &Stmt<'_>) -> Option<&'static str> {
    Some(match &stmt.kind {
        // A prompt alone shows values.
        StmtKind::Empty | StmtKind::Block(_) | StmtKind::Show(_) | StmtKind::Error => return None,
        StmtKind::Expr(_) => "expression statement",
        StmtKind::Variables(_) => "local",
        StmtKind::Typedefs(_) => "typedef",
        StmtKind::Struct(_) => "struct",
        StmtKind::Enum(_) => "enum",
        StmtKind::Function(_) => "declared function",
        StmtKind::If { coherent, .. } => coherent_name(*coherent, "cif", "if"),
        StmtKind::While { coherent, .. } => coherent_name(*coherent, "cwhile", "while"),
        StmtKind::DoWhile { coherent, .. } => coherent_name(*coherent, "cdo", "do"),
        StmtKind::For { coherent, .. } => coherent_name(*coherent, "cfor", "for"),
        StmtKind::Foreach { tiled, .. } => coherent_name(*tiled, "foreach_tiled", "foreach"),
        StmtKind::ForeachActive { .. } => "foreach_active",
        StmtKind::ForeachUnique { .. } => "foreach_unique",
        StmtKind::Switch { .. } => "switch",
        StmtKind::Case { .. } => "case",
        StmtKind::Default(_) => "default",
        StmtKind::Label { .. } => "label",
        StmtKind::Goto(_) => "goto",
        StmtKind::Break => "break",
        StmtKind::Continue => "continue",
        StmtKind::Return(_) => "return",
        StmtKind::Sync => "sync",
        StmtKind::Delete(_) => "delete",
        StmtKind::Print { .. } => "print",
        StmtKind::Assert { .. } => "assert",
        StmtKind::Assume(_) => "assume",
        StmtKind::StaticAssert { .. } => "static_assert",
        StmtKind::Unmasked(_) => "unmasked",
        StmtKind::Hinted { .. } => "pragma unroll",
    })
}

fn coherent_name(special: bool, then: &'static str, otherwise: &'static str) -> &'static str {
    if special { then } else { otherwise }
}

fn type_name(ty: &TypeKind<'_>) -> Option<&'static str> {
    Some(match ty {
        TypeKind::Basic(_) | TypeKind::Named { .. } | TypeKind::Error => return None,
        TypeKind::Polymorphic { .. } => "polymorphic type",
        TypeKind::Vector { .. } => "vector type",
        TypeKind::Pointer(_) => "pointer type",
        TypeKind::Reference(_) => "reference type",
        TypeKind::Array { .. } => "array type",
        TypeKind::Function(_) => "function type",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm::Options;
    use spmdvm::frontend::Input;
    use spmdvm::frontend::bumpalo::Bump;
    use spmdvm::frontend::compile::syntax;

    fn of_text(text: &str) -> BTreeSet<String> {
        let arena = Bump::new();
        let input = Input::Text { name: "constructs.ispc", text };
        let syntax = syntax(input, &Options::default().to_compile_options(), &arena).unwrap();
        assert!(syntax.diagnostics.is_empty(), "{:?}", syntax.diagnostics);
        of(syntax.unit)
    }

    /// Everything that has a name in [`ALL`].
    const PROGRAM: &str = r#"
        typedef int T; enum E { A }; struct S { float x; }; uniform int g; export { S };
        static_assert(1 == 1, "so it is");
        extern "C" uniform int host(uniform int x);
        template <typename U> U twice(U x) { return x + x; }
        template <> int twice<int>(int x) { return 2 * x; }
        template float twice<float>(float);
        S operator+(S a, S b) { a.x += b.x; return a; }
        number same(number x) { return x; }
        task void work(uniform int n) { g = n; }
        export void all(uniform float a[], uniform int n) {
            S s = { 1.0f }; S * p = &s; S &r = s; float<3> v = { 1, 2, 3 }; int (*f)(int) = NULL;
            foreach (i = 0 ... n) { a[i] = i > 3 ? p->x : (float)sqrt(v.x); }
            foreach_tiled (i = 0 ... n) { continue; }
            foreach_active (l) { g++; }
            foreach_unique (u in programIndex) { g -= u; }
            if (n > 1) goto done;
            cif (programIndex > 1) { unmasked { g = sizeof(int); } }
            while (false) { break; } cwhile (false) { } do { } while (false); cdo { } while (false);
            #pragma unroll 2
            for (uniform int i = 0; i < 2; ++i) { }
            cfor (uniform int i = 0; i < 2; i++) { }
            switch (n) { case 1: break; default: ; }
            launch work(1); sync;
            uniform int * uniform m = uniform new uniform int; uniform int * uniform k = uniform new uniform int[4];
            delete m; delete k; print("%", n); assert(n >= 0); assume(n >= 0);
            void * uniform room = alloca(8); float t = @llvm.sqrt.f32(2.0f); t = twice<float>(t); t = crev same(t);
            done:
            return;
        }
    "#;

    #[test]
    fn every_construct_has_its_name() {
        let found = of_text(PROGRAM);
        let all: BTreeSet<String> = ALL.iter().map(|&name| name.to_owned()).collect();
        let missing: Vec<&String> = all.difference(&found).collect();
        assert!(missing.is_empty(), "not found: {missing:?}");
        let others =
            found.difference(&all).filter(|name| !name.starts_with("operator ") && !name.starts_with("library "));
        assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new(), "not in `ALL`");
        for name in ["operator +", "operator x++", "operator ++x", "operator &x", "library sqrt"] {
            assert!(found.contains(name), "{name} is not in {found:?}");
        }
    }

    #[test]
    fn own_functions_are_none_of_the_library() {
        let found = of_text("float sqr(float x) { return x; } float f(float x) { return sqr(x); }");
        assert!(!found.iter().any(|name| name.starts_with("library")), "{found:?}");
    }
}
