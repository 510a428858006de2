//! Programs that end with what somebody typed at a prompt ([`Prompt`](crate::ast::Prompt)).
//!
//! The text that was typed is a header ([`CompileOptions::headers`]) that the program includes last, so that messages point into
//! it; [`CompileOptions::prompt`] is its name. [`read`] takes it apart, [`compile`] makes the program.

use super::{Compilation, CompileOptions, Input, Session};
use crate::ast::{Function, ItemKind, Prompt, PromptPartKind, Variable};
use crate::diag::{Code, Severity};
use crate::hir::{self, Linkage, TypeInfo, TypeKind};
use crate::lex::{FIRST_ON_LINE, Lexer, Texts, TokenKind, WordCache};
use crate::source::{FileId, SourceMap, Span};
use bumpalo::Bump;
use std::ops::Range;

/// What was typed, taken apart.
#[derive(Debug)]
pub struct Reading {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// The places of its preprocessor directives, each to the end of its line.
    pub directives: Vec<Range<usize>>,
}

/// Why something typed cannot be taken apart.
pub enum Unread {
    /// It ends in the middle of something: more may come.
    Unfinished(Box<Compilation>),
    /// It is wrong.
    Wrong(Box<Compilation>),
}

/// A part of what was typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Where it stands in the text.
    pub range: Range<usize>,
}

/// The kinds of parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PartKind {
    /// A function: its name, and its parameters as written, without their names.
    Function(String, String),
    /// A function template or something about one.
    Template(String),
    /// Types with their names.
    Types(Vec<String>),
    /// Another thing that stands outside of functions.
    Other,
    /// Variables.
    Variables(Vec<String>),
    /// A statement.
    Statement,
    /// An expression whose value is shown.
    Expression,
}

/// What a compilation tells of the program besides it.
#[derive(Clone, Debug, Default)]
pub struct PromptInfo {
    /// The value of the expression with which the text ends.
    pub shown: Option<ShownInfo>,
    /// The variables of the program, those of the library aside.
    pub variables: Vec<VariableInfo>,
    /// The heads of its functions, with their names.
    pub functions: Vec<(String, String)>,
}

/// A value to be shown.
#[derive(Clone, Debug)]
pub struct ShownInfo {
    /// The global that holds it.
    pub global: String,
    /// Its type.
    pub ty: TypeInfo,
    /// Whether the global holds its address instead: it is an array.
    pub by_address: bool,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct VariableInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeInfo,
    /// A declaration of it without initialiser; `None` if its type has no name.
    pub declaration: Option<String>,
    /// Whether its value is known at compile time, and cannot change.
    pub is_constant: bool,
    /// Whether it is only declared.
    pub is_extern: bool,
}

/// Takes apart what was typed.
pub fn read(program: &str, options: &CompileOptions) -> Result<Reading, Unread> {
    let mut session = Session::new(Input::Text { name: "<session>", text: program }, options);
    let arena = Bump::new();
    let Some(main) = session.main else { return Err(Unread::Wrong(Box::new(session.into_compilation(None)))) };
    let unit = session.parse(main, &arena);
    let file = prompt_file(&session.sources, options);
    if session.diagnostics.has_errors() || session.diagnostics.poll() {
        let first = session.diagnostics.iter().find(|d| d.severity == Severity::Error).map(|d| d.code);
        let is_open = match first {
            Some(Code::UnterminatedComment) => true,
            Some(Code::UnbalancedConditional) => file.is_some_and(|(_, text)| text.contains("#if")),
            _ => false,
        };
        let is_unfinished = is_open || unit.prompt.is_some_and(|prompt| prompt.is_unfinished);
        let failed = Box::new(session.into_compilation(None));
        return Err(if is_unfinished { Unread::Unfinished(failed) } else { Unread::Wrong(failed) });
    }
    let Some((file, text)) = file else { return Ok(Reading { parts: Vec::new(), directives: Vec::new() }) };
    let parts = unit.prompt.map_or(Vec::new(), |prompt| parts(prompt, file, &session.sources));
    Ok(Reading { parts, directives: directives(&text) })
}

/// Compiles such a program, whose statements are the exported function [`PROMPT_FUNCTION`](crate::ast::PROMPT_FUNCTION).
pub fn compile(program: &str, options: &CompileOptions) -> (Compilation, PromptInfo) {
    // It is mostly short, but what was typed may be deep.
    super::with_stack(|| {
        let mut session = Session::new(Input::Text { name: "<session>", text: program }, options);
        let mut info = PromptInfo::default();
        let program = session.run(|session, module| {
            info = describe(module, &session.sources);
            session.lower(module)
        });
        (session.into_compilation(program.flatten()), info)
    })
}

fn prompt_file(sources: &SourceMap, options: &CompileOptions) -> Option<(FileId, String)> {
    let name = options.prompt.as_deref()?;
    sources.files().find(|(_, file)| file.name == name).map(|(id, file)| (id, file.text.to_string()))
}

fn parts(prompt: &Prompt<'_>, file: FileId, sources: &SourceMap) -> Vec<Part> {
    let own = prompt.parts.iter().filter(|part| part.span.file == file);
    let part = |kind, span: Span| Part { kind, range: span.lo as usize..span.hi as usize };
    own.map(|p| {
        let kind = match p.kind {
            PromptPartKind::Item(item) => item_part(item, sources),
            PromptPartKind::Variables(variables) => PartKind::Variables(names(variables)),
            PromptPartKind::Statement => PartKind::Statement,
            PromptPartKind::Expression(_) => PartKind::Expression,
        };
        part(kind, p.span)
    })
    .collect()
}

fn names(variables: &[Variable<'_>]) -> Vec<String> {
    variables.iter().map(|variable| variable.name.name.to_string()).collect()
}

fn item_part(item: ItemKind<'_>, sources: &SourceMap) -> PartKind {
    match item {
        ItemKind::Function(function) => {
            PartKind::Function(function.name.name.to_string(), parameters(function, sources))
        }
        ItemKind::Template(template) => PartKind::Template(template.function.name.name.to_string()),
        ItemKind::Specialization(instance) | ItemKind::Instantiation(instance) => {
            PartKind::Template(instance.function.name.name.to_string())
        }
        ItemKind::Struct(def) => PartKind::Types(vec![def.name.name.to_string()]),
        ItemKind::Enum(def) => {
            let mut names = vec![def.name.name.to_string()];
            names.extend(def.enumerators.unwrap_or_default().iter().map(|e| e.name.name.to_string()));
            PartKind::Types(names)
        }
        ItemKind::Typedefs(typedefs) => {
            PartKind::Types(typedefs.iter().map(|typedef| typedef.name.name.to_string()).collect())
        }
        ItemKind::Variables(variables) => PartKind::Variables(names(variables)),
        ItemKind::ExportTypes(_) | ItemKind::StaticAssert { .. } => PartKind::Other,
    }
}

/// The parameters of a function as written, without names and default arguments.
fn parameters(function: &Function<'_>, sources: &SourceMap) -> String {
    let text = |lo: u32, hi: u32, span: Span| sources.text(Span { lo, hi: hi.max(lo), ..span });
    let params = function.params.iter().map(|param| {
        let end = param.default.map_or(param.span.hi, |default| default.span.lo);
        let words = match param.name {
            Some(name) => {
                let after = text(name.span.hi, end, param.span);
                format!("{} {}", text(param.span.lo, name.span.lo, param.span), after.split('=').next().unwrap_or(""))
            }
            None => text(param.span.lo, end, param.span).to_string(),
        };
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    params.collect::<Vec<_>>().join(", ")
}

/// The places of the preprocessor directives of a text.
fn directives(text: &str) -> Vec<Range<usize>> {
    let (mut texts, mut words) = (Texts::default(), WordCache::default());
    let mut lexer = Lexer::new(FileId::default(), text);
    let mut found: Vec<Range<usize>> = Vec::new();
    loop {
        let token = lexer.next(&mut texts, &mut words);
        if token.kind == TokenKind::Eof {
            return found;
        }
        let start = token.span.lo as usize;
        let is_inside = found.last().is_some_and(|last| start < last.end);
        if token.kind == TokenKind::Hash && token.has(FIRST_ON_LINE) && !is_inside {
            found.push(start..start + lexer.rest_of_line(token.span.lo).len());
        }
    }
}

fn describe(module: &hir::Module, sources: &SourceMap) -> PromptInfo {
    let (types, lanes) = (&module.types, module.width.lanes());
    let shown = module.shown.map(|shown| ShownInfo {
        global: module.global(shown.global).name.clone(),
        ty: types.describe(shown.ty, lanes),
        by_address: shown.by_address,
    });
    let own = module.globals.iter().filter(|global| global.linkage != Linkage::Internal);
    let variables = own.map(|global| VariableInfo {
        name: global.name.clone(),
        ty: types.describe(global.ty, lanes),
        declaration: types.declaration(without_const(types, global), &global.name),
        is_constant: global.constant,
        is_extern: global.linkage == Linkage::Extern,
    });
    let functions = module.functions.iter().filter(|function| !function.flags.prelude && !function.flags.is_import);
    let head = |function: &hir::Function| {
        let head = sources.text(function.head_span).split_whitespace().collect::<Vec<_>>().join(" ");
        (function.name.to_string(), head)
    };
    PromptInfo { shown, variables: variables.collect(), functions: functions.map(head).collect() }
}

/// The type of a variable that gets its value when the program runs: such a one is no constant for the programs that follow.
fn without_const(types: &hir::TypeTable, global: &hir::Global) -> hir::TypeId {
    let is_plain = |kind: &TypeKind| !matches!(kind, TypeKind::Array(..));
    match types[global.ty].is_const && !global.constant && is_plain(types.kind(global.ty)) {
        true => types.find(types.kind(global.ty), false).unwrap_or(global.ty),
        false => global.ty,
    }
}
