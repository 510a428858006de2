//! Expressions.

use super::{Ident, TypeExpr, Variability};
use crate::source::Span;

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// What it is.
    pub kind: ExprKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
    /// An integer or character literal.
    Int {
        /// The value.
        value: u64,
        /// The type that the literal's form and value give it.
        ty: IntLiteral,
    },
    /// A floating-point literal; the value is exactly representable in the type, `float16` aside (not yet rounded).
    Float {
        /// The value.
        value: f64,
        /// The type that the suffix gives it.
        ty: FloatLiteral,
        /// Whether it is a `float` only because it has no suffix, and the number written is another one.
        rounded: bool,
    },
    /// `true` or `false`.
    Bool(bool),
    /// `NULL`.
    Null,
    /// A string, adjacent literals joined and escapes replaced.
    String(&'a str),
    /// A name: a variable, function, enumerator, or function template with arguments. The name of an overloaded operator
    /// (`operator+`) is also one.
    Name {
        /// The name.
        name: Ident,
        /// The template arguments, where `<…>` was written.
        template_args: Option<&'a [TemplateArg<'a>]>,
    },
    /// A unary operation.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: &'a Expr<'a>,
    },
    /// A binary operation, comma and the logical operators included.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// The left operand.
        lhs: &'a Expr<'a>,
        /// The right operand.
        rhs: &'a Expr<'a>,
    },
    /// An assignment; `op` is `None` for `=`, `Some(Add)` for `+=` and so on.
    Assign {
        /// The operator in front of `=`.
        op: Option<BinaryOp>,
        /// Where the operator stands.
        op_span: Span,
        /// What is assigned to.
        target: &'a Expr<'a>,
        /// The value.
        value: &'a Expr<'a>,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// The condition.
        condition: &'a Expr<'a>,
        /// The value if it holds.
        then: &'a Expr<'a>,
        /// The value if not.
        otherwise: &'a Expr<'a>,
    },
    /// `(ty)operand`.
    Cast {
        /// The type.
        ty: &'a TypeExpr<'a>,
        /// What is converted.
        operand: &'a Expr<'a>,
    },
    /// `sizeof(type)`.
    SizeofType(&'a TypeExpr<'a>),
    /// `sizeof expression`.
    SizeofExpr(&'a Expr<'a>),
    /// `alloca(size)`.
    Alloca(&'a Expr<'a>),
    /// A call.
    Call(&'a Call<'a>),
    /// `crev f(…)`: a re-vectorised call.
    Crev(&'a Call<'a>),
    /// `launch[…] f(…)`.
    Launch {
        /// The numbers of tasks, first dimension first; none means one task.
        counts: &'a [&'a Expr<'a>],
        /// The call of the task function.
        call: &'a Call<'a>,
    },
    /// A call of an LLVM intrinsic, `@llvm.name(…)`.
    Intrinsic {
        /// The name, `@` included.
        name: &'a str,
        /// The arguments.
        args: &'a [&'a Expr<'a>],
    },
    /// `base[index]`.
    Index {
        /// The array or pointer.
        base: &'a Expr<'a>,
        /// The index.
        index: &'a Expr<'a>,
    },
    /// `base.member` or `base->member`: a struct's member or a short vector's swizzle.
    Member {
        /// The struct or vector, or a pointer to it.
        base: &'a Expr<'a>,
        /// The name after the dot.
        member: Ident,
        /// Whether it was `->`.
        arrow: bool,
    },
    /// `new type`, `new type(…)`, `new type[count]`, with `uniform` or `varying` before `new`.
    New {
        /// The qualifier of `new` itself: one allocation for the gang or one per lane (the default).
        variability: Option<Variability>,
        /// The allocated type.
        ty: &'a TypeExpr<'a>,
        /// The number of elements, for `new type[count]`.
        count: Option<&'a Expr<'a>>,
        /// The initialisers, for `new type(…)`.
        init: Option<&'a [&'a Expr<'a>]>,
    },
    /// `{a, b, …}`: only as initialiser of a variable, parameter or `new`, or inside one.
    Aggregate(&'a [&'a Expr<'a>]),
    /// Stands for what could not be parsed; reported already.
    Error,
}

/// A function applied to arguments.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The function: mostly a name, else a function pointer.
    pub callee: &'a Expr<'a>,
    /// The arguments.
    pub args: &'a [&'a Expr<'a>],
    /// From `(` to `)`.
    pub args_span: Span,
}

/// A template argument.
#[derive(Clone, Copy, Debug)]
pub enum TemplateArg<'a> {
    /// A type.
    Type(&'a TypeExpr<'a>),
    /// A constant. A lone name the parser does not know as a type is given as this.
    Value(&'a Expr<'a>),
}

/// The types of integer literals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum IntLiteral {
    Int8,
    Int32,
    UInt32,
    Int64,
    UInt64,
}

/// The types of floating-point literals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatLiteral {
    Float16,
    Float,
    Double,
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Plus,
    Neg,
    /// `~`
    BitNot,
    /// `!`
    Not,
    /// `&`
    AddressOf,
    /// `*`
    Deref,
    PreInc,
    PreDec,
    PostInc,
    PostDec,
}

impl UnaryOp {
    /// The operator as written.
    pub fn as_str(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Neg => "-",
            UnaryOp::BitNot => "~",
            UnaryOp::Not => "!",
            UnaryOp::AddressOf => "&",
            UnaryOp::Deref => "*",
            UnaryOp::PreInc | UnaryOp::PostInc => "++",
            UnaryOp::PreDec | UnaryOp::PostDec => "--",
        }
    }
}

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
    Comma,
}

impl BinaryOp {
    /// The operator as written.
    pub fn as_str(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Comma => ",",
        }
    }

    /// `<`, `>`, `<=`, `>=`, `==` or `!=`.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Lt | Gt | Le | Ge | Eq | Ne)
    }
}
