//! Semantic analysis: from the syntax tree to the typed program ([`hir`](crate::hir)).
//!
//! What flows: [`analyse`] collects the declarations of a file (`declare`, `global`, `resolve` for types), then checks
//! every function body (`body`, `stmt`, `foreach`, `switch`; `expr`, `name`, `operator`, `assign`, `member`, `init`,
//! `call`) and makes HIR of it. `convert` knows the conversions, `overload` which function a call means, `template` how
//! templates and polymorphic functions are instantiated, `constant` what is known at compile time (through `vm::sem`,
//! as everything is that computes), `format` the formats of `print`, `export` what hosts may call, `linkage` what other files
//! and this one have of each other, `surprise` warns of
//! numbers that are not what they seem.
//!
//! **Names** are looked up in the function's scopes, then in the file's, then in the library's ([`Prelude`]). The library's
//! declarations are collected once per process and gang width and shared; of its function bodies only those are checked
//! that the program reaches.
//!
//! **Unbound types.** A type without `uniform` or `varying` is bound when it is used: to `uniform` behind a pointer, to
//! the struct instance's shape in a struct, else to `varying`. Until then its shape is [`UNBOUND`], which never leaves
//! this module.
//!
//! **Errors.** What was reported becomes an `Error` node or the error type; both fit everywhere and are never reported
//! again.

mod assign;
mod body;
pub mod by_value;
mod call;
mod constant;
mod convert;
mod declare;
mod export;
mod expr;
mod fast;
mod foreach;
mod format;
mod global;
mod goto;
mod init;
mod lane_op;
mod linkage;
mod member;
mod name;
mod operator;
mod overload;
mod prompt;
mod resolve;
mod scoped;
mod stmt;
mod suggest;
mod surprise;
mod switch;
mod table;
mod template;

pub use fast::INVERSE_ROOT;

use crate::ast;
use crate::diag::{Diagnostic, Diagnostics};
use crate::hir::{self, Shape};
use crate::source::SourceMap;
use crate::symbol::Symbol;
use spmdvm_vm::Width;
use std::sync::OnceLock;
use table::{Checker, DeclTable};

/// The shape of a type that is not bound yet. (No `soa<0>` exists.)
const UNBOUND: Shape = Shape::Soa(0);

/// The library: its syntax tree and, made on first use, its declarations for each gang width.
pub struct Prelude {
    unit: ast::TranslationUnit<'static>,
    sources: SourceMap,
    tables: [OnceLock<DeclTable<'static>>; Width::ALL.len()],
    syntax_errors: Vec<Diagnostic>,
}

impl Prelude {
    /// A library with this syntax tree, whose spans are of `sources`, and what is wrong with it.
    pub fn new(unit: ast::TranslationUnit<'static>, sources: SourceMap, syntax_errors: Vec<Diagnostic>) -> Prelude {
        Prelude { unit, sources, tables: Default::default(), syntax_errors }
    }

    /// The syntax tree.
    pub fn unit(&self) -> &ast::TranslationUnit<'static> {
        &self.unit
    }

    /// The source files.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Makes its declarations for a gang width, unless they are there already.
    pub fn prepare(&self, width: Width) {
        self.table(width);
    }

    fn table(&self, width: Width) -> &DeclTable<'static> {
        let index = Width::ALL.iter().position(|&w| w == width).unwrap_or(0);
        self.tables[index].get_or_init(|| {
            let mut diags = Diagnostics::new();
            let mut checker = Checker::new(width, None, &self.sources, &mut diags);
            checker.declare_unit(&self.unit);
            let mut table = checker.into_table();
            table.errors = self.syntax_errors.clone();
            table.errors.extend(diags.into_vec());
            table
        })
    }
}

/// What analysis needs to know besides the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The gang width.
    pub width: Width,
    /// Which instances of exported polymorphic functions get bodies.
    pub instances: Instances,
    /// Whether the program is to be linked with others.
    pub object: bool,
    /// Whether the mode of floating point is `fast`.
    pub fast: bool,
}

/// Which instances of exported polymorphic functions are compiled. The others can be seen by hosts, but trap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Instances {
    /// All of them.
    #[default]
    All,
    /// Those with these names (of bytecode functions), and those that the program calls itself.
    Only(Vec<String>),
}

/// Checks a program and types it. `None` if there were errors (reported to `diags`).
///
/// All functions of the program are checked; of the library those that are reached.
pub fn analyse<'a>(
    unit: &ast::TranslationUnit<'a>,
    prelude: &'a Prelude,
    options: &Options,
    sources: &SourceMap,
    diags: &mut Diagnostics,
) -> Option<hir::Module> {
    let base = prelude.table(options.width);
    for error in &base.errors {
        diags.emit(error.clone());
    }
    let mut checker = Checker::new(options.width, Some(base), sources, diags);
    checker.instances = options.instances.clone();
    checker.is_object = options.object;
    checker.is_fast = options.fast;
    checker.declare_unit(unit);
    checker.check_bodies();
    checker.finish()
}

/// The signatures of a library's functions that programs may call, templates aside, as `name(parameters) -> result`: for
/// its tests.
pub fn library_signatures(library: &Prelude) -> Vec<String> {
    let table = library.table(Width::DEFAULT);
    let public = table.functions.iter().filter(|decl| !decl.ast.name.name.as_str().starts_with("__"));
    let types = &table.types;
    let signature = |decl: &table::FunctionDecl<'_>| {
        let params = types.display_list(&decl.params);
        format!("{}({params}) -> {}", decl.ast.name.name, types.display(decl.result))
    };
    public.map(signature).collect()
}

/// Checks those functions of a library (templates aside) whose names are wanted, and gives what is wrong with them as text: for its
/// tests.
pub fn check_library(library: &Prelude, is_wanted: impl Fn(Symbol) -> bool) -> String {
    let mut diags = Diagnostics::new();
    let unit = ast::TranslationUnit { items: &[], type_names: &[], template_names: &[], prompt: None };
    let base = library.table(Width::DEFAULT);
    base.errors.iter().for_each(|error| diags.emit(error.clone()));
    let mut checker = Checker::new(Width::DEFAULT, Some(base), &library.sources, &mut diags);
    checker.declare_unit(&unit);
    for index in 0..base.functions.len() {
        let function = base.functions[index].ast;
        if function.body.is_some() && is_wanted(function.name.name) {
            checker.function_id(table::DeclId(index as u32));
        }
    }
    checker.check_bodies();
    checker.finish();
    crate::diag::render_all(&diags, &library.sources, false)
}
