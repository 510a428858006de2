//! What stands at the top of a file.

use super::{Attribute, Block, EnumDef, Expr, Ident, StructDef, TemplateArg, TypeExpr};
use crate::source::Span;
use crate::symbol::Symbol;

/// A whole program: the file and all it includes.
#[derive(Clone, Copy, Debug)]
pub struct TranslationUnit<'a> {
    /// The items in order.
    pub items: &'a [Item<'a>],
    /// Names that denote types at the end: typedefs, structs, enums. For parsing another unit that continues this one.
    pub type_names: &'a [Symbol],
    /// Names that denote function templates at the end.
    pub template_names: &'a [Symbol],
    /// What was typed at a prompt, if the program ends with such a text.
    pub prompt: Option<&'a Prompt<'a>>,
}

/// What was typed at a prompt: definitions, which have become items, and statements, which have become the body of the
/// exported function [`PROMPT_FUNCTION`]. Variables that are declared outside of all blocks are global ones, whose
/// initialisers run in their places.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// Its parts, in order.
    pub parts: &'a [PromptPart<'a>],
    /// Whether it ends in the middle of something, so that all that is wrong with it may be that there must be more.
    pub is_unfinished: bool,
}

/// The function that the statements of a [`Prompt`] become.
pub const PROMPT_FUNCTION: &str = "__prompt";

/// A part of a [`Prompt`].
#[derive(Clone, Copy, Debug)]
pub struct PromptPart<'a> {
    /// What it is.
    pub kind: PromptPartKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of parts of a [`Prompt`].
#[derive(Clone, Copy, Debug)]
pub enum PromptPartKind<'a> {
    /// A definition or declaration.
    Item(ItemKind<'a>),
    /// Variables.
    Variables(&'a [Variable<'a>]),
    /// A statement.
    Statement,
    /// An expression whose value is shown.
    Expression(&'a Expr<'a>),
}

/// Something at the top of a file.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What it is.
    pub kind: ItemKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of items.
#[derive(Clone, Copy, Debug)]
pub enum ItemKind<'a> {
    /// A function's definition, or its declaration when it has no body.
    Function(&'a Function<'a>),
    /// Global variables.
    Variables(&'a [Variable<'a>]),
    /// `typedef`s.
    Typedefs(&'a [Typedef<'a>]),
    /// The definition or declaration of a struct.
    Struct(&'a StructDef<'a>),
    /// The definition or declaration of an enum.
    Enum(&'a EnumDef<'a>),
    /// A function template's definition or declaration.
    Template(&'a Template<'a>),
    /// `template <> … f<args>(…) { … }`: the explicit specialisation of a template.
    Specialization(&'a TemplateInstance<'a>),
    /// `template … f<args>(…);`: the explicit instantiation of a template.
    Instantiation(&'a TemplateInstance<'a>),
    /// `export { type, … };`: types to be described to the host.
    ExportTypes(&'a [TypeExpr<'a>]),
    /// `static_assert(condition, "message");`
    StaticAssert {
        /// A constant expression.
        condition: &'a Expr<'a>,
        /// The message.
        message: Option<&'a str>,
    },
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// The name; for an overloaded operator its spelling without spaces, such as `operator+`.
    pub name: Ident,
    /// The operator, for an overloaded one.
    pub operator: Option<OperatorName>,
    /// The type of the result.
    pub result: &'a TypeExpr<'a>,
    /// The parameters; `(void)` is none.
    pub params: &'a [Param<'a>],
    /// `export`, `task`, `inline` …
    pub flags: FunctionFlags,
    /// Attributes.
    pub attributes: &'a [Attribute<'a>],
    /// The body; `None` for a declaration.
    pub body: Option<&'a Block<'a>>,
    /// From the first specifier to the closing parenthesis.
    pub head_span: Span,
    /// All of it.
    pub span: Span,
}

/// The operators that can be overloaded. Whether a binary or a unary one is meant, the number of parameters says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperatorName {
    /// An operator with a value: `+ - * / % << >> < > <= >= == != & | ^ && || ! ~`. `-` may be unary.
    Plain(&'static str),
    /// `=` or a compound assignment such as `+=`.
    Assign(&'static str),
    /// `++`; with a second parameter `int` the postfix form.
    Inc,
    /// `--`; likewise.
    Dec,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Param<'a> {
    /// The name; `None` for an anonymous parameter.
    pub name: Option<Ident>,
    /// The type.
    pub ty: &'a TypeExpr<'a>,
    /// The default argument.
    pub default: Option<&'a Expr<'a>>,
    /// Attributes.
    pub attributes: &'a [Attribute<'a>],
    /// Type, name and default.
    pub span: Span,
}

/// Flags of functions, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FunctionFlags {
    /// `export`.
    pub export: bool,
    /// `static`.
    pub is_static: bool,
    /// `extern`, with or without a language.
    pub is_extern: bool,
    /// `extern "C"` (or `"SYCL"`).
    pub extern_c: bool,
    /// `inline`.
    pub inline: bool,
    /// `noinline`.
    pub noinline: bool,
    /// `task`.
    pub task: bool,
    /// `unmasked`.
    pub unmasked: bool,
    /// `__vectorcall` or `__regcall`.
    pub calling_convention: bool,
    /// Of a variable: it was typed at a prompt ([`Prompt`]).
    pub at_prompt: bool,
}

/// A variable, local or global. `static`, `extern` and `export` are the declaration's.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'a> {
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: &'a TypeExpr<'a>,
    /// The initialiser, perhaps an [`ExprKind::Aggregate`](super::ExprKind::Aggregate).
    pub init: Option<&'a Expr<'a>>,
    /// Where it is kept and who sees it.
    pub storage: Storage,
    /// `export` (which variables cannot be; sema says so), `task` and such.
    pub flags: FunctionFlags,
    /// Attributes.
    pub attributes: &'a [Attribute<'a>],
    /// Declarator and initialiser; for the first variable of a declaration also its specifiers.
    pub span: Span,
}

/// Storage classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Storage {
    /// None written.
    #[default]
    None,
    /// `static`.
    Static,
    /// `extern`.
    Extern,
    /// `extern "C"`.
    ExternC,
}

/// A type with a new name.
#[derive(Clone, Copy, Debug)]
pub struct Typedef<'a> {
    /// The new name.
    pub name: Ident,
    /// The type.
    pub ty: &'a TypeExpr<'a>,
    /// All of it.
    pub span: Span,
}

/// A function template.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// The template's parameters.
    pub params: &'a [TemplateParam<'a>],
    /// The function.
    pub function: &'a Function<'a>,
}

/// A parameter of a template.
#[derive(Clone, Copy, Debug)]
pub struct TemplateParam<'a> {
    /// The name.
    pub name: Ident,
    /// Type or constant.
    pub kind: TemplateParamKind<'a>,
    /// All of it.
    pub span: Span,
}

/// What a template's parameter stands for.
#[derive(Clone, Copy, Debug)]
pub enum TemplateParamKind<'a> {
    /// `typename T`.
    Type {
        /// The default argument.
        default: Option<&'a TypeExpr<'a>>,
    },
    /// `int N`, `E e`: a constant of integer, bool or enum type.
    Value {
        /// The constant's type.
        ty: &'a TypeExpr<'a>,
        /// The default argument.
        default: Option<&'a Expr<'a>>,
    },
}

/// A template's explicit specialisation or instantiation.
#[derive(Clone, Copy, Debug)]
pub struct TemplateInstance<'a> {
    /// The arguments written; `None` where all are left to deduction (`template int f(int);`).
    pub args: Option<&'a [TemplateArg<'a>]>,
    /// The function with the template's parameters replaced; a specialisation mostly has a body.
    pub function: &'a Function<'a>,
}
