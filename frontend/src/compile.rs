//! The whole front end as one call: source text in, verified program and diagnostics out.
//!
//! Of the standard library those files are parsed that a program needs, once per process ([`library`]); all of its files come first in
//! every source map, so spans of both trees can be told apart, and are the same whatever was parsed.

pub mod prompt;

use crate::ast::{self, TranslationUnit};
use crate::diag::{Code, Diagnostic, Diagnostics, LeftOut, Quiet};
use crate::header::header;
use crate::hints::hints;
use crate::hir;
use crate::lex::Token;
use crate::limits::Limits;
use crate::lower::{FpMode, LowerOptions, lower};
use crate::parse::{ParseOptions, parse, parse_tokens};
use crate::predefined;
use crate::prelude::{self, Parts, ROOT, root_text};
use crate::preprocess::{
    FileLoader, IncludeError, IncludeLoader, IncludeRequest, Included, PreprocessOptions, preprocess,
};
pub use crate::sema::Instances;
use crate::sema::{self, Prelude, analyse};
use crate::source::{FileId, SourceMap, Span};
use crate::symbol::Symbol;
use bumpalo::Bump;
use spmdvm_vm::asm::Style;
use spmdvm_vm::program::Program;
use spmdvm_vm::stop::{Stop, Stopped};
use spmdvm_vm::verify::{Unverified, verify_until};
use spmdvm_vm::{VerifiedProgram, Width};
use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What to compile.
#[derive(Clone, Copy, Debug)]
pub enum Input<'i> {
    /// Text, and what messages call it.
    Text {
        /// The name.
        name: &'i str,
        /// The text.
        text: &'i str,
    },
    /// A file.
    File(&'i Path),
    /// A file that has been read already.
    Read {
        /// Where it is.
        path: &'i Path,
        /// What it holds.
        text: &'i str,
    },
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// The gang width.
    pub width: Width,
    /// How floating-point expressions may be combined.
    pub fp: FpMode,
    /// Folders that `#include` searches.
    pub include_paths: Vec<PathBuf>,
    /// Whether `#include` is kept below the main file's folder and the include paths, links followed. If this is not said, that of
    /// [`Input::Text`] is, and that of [`Input::File`] may read what the process may.
    pub sandbox_includes: Option<bool>,
    /// Macros: name (perhaps with parameters) and replacement.
    pub defines: Vec<(String, String)>,
    /// Files that exist for `#include` only, as parts of the program: name and text.
    pub headers: Vec<(String, String)>,
    /// Whether there are to be hints about performance among the warnings (W0900 and up).
    pub hints: bool,
    /// Warnings that are not wanted.
    pub no_warn: Vec<Code>,
    /// Which instances of exported polymorphic functions are compiled.
    pub instances: Instances,
    /// Whether the program is to be linked with others. Then it has all functions that these may call, and symbols for them.
    pub object: bool,
    /// Whether the program is for check mode, so that variables are told from zero while nothing is stored in them.
    pub check: bool,
    /// Whether variables are computed that nothing reads, indices of `foreach` that only addresses are made of among
    /// them. Results are the same.
    pub keep_variables: bool,
    /// How much the program may take.
    pub limits: Limits,
    /// While this is true, the compilation ends as soon as it sees it.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// When the compilation ends at the latest, done or not.
    pub deadline: Option<Instant>,
    /// The name of the header that was typed at a prompt ([`prompt`]), if the program ends with one.
    pub prompt: Option<String>,
}

/// What a compilation gives.
pub struct Compilation {
    /// The program; `None` if there was an error.
    pub program: Option<VerifiedProgram>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Those of them that were left out because there are so many.
    pub left_out: LeftOut,
    /// Why the compilation ended before its time, if it did: there is no program then, and the diagnostics are not all.
    pub stopped: Option<Stopped>,
    /// Steps of work that it took, roughly; the same on every machine.
    pub steps: u64,
    /// The names of instances of exported polymorphic functions that have not been compiled: calls of them trap.
    pub deferred: Vec<String>,
    /// The files that diagnostics point into.
    pub sources: SourceMap,
    /// What was included.
    pub includes: Vec<Include>,
}

/// A stage of the compilation that can be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Tokens after preprocessing.
    Tokens,
    /// The syntax tree.
    Ast,
    /// The typed program.
    Hir,
    /// The bytecode.
    Bytecode,
}

impl Stage {
    /// The stages by the names that the command line uses.
    pub const NAMES: [(&'static str, Stage); 4] =
        [("tokens", Stage::Tokens), ("ast", Stage::Ast), ("hir", Stage::Hir), ("bytecode", Stage::Bytecode)];

    /// The stage of this name.
    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::NAMES.iter().find(|(n, _)| *n == name).map(|&(_, stage)| stage)
    }
}

/// Stack for programs that may be deep.
const STACK: usize = 32 << 20;
/// Text of this many bytes without macros cannot be deep.
const SHALLOW: usize = 512;

/// Compiles a program.
pub fn compile(input: Input<'_>, options: &CompileOptions) -> Compilation {
    let is_shallow = |text: &str| text.len() < SHALLOW && options.defines.is_empty() && !text.contains('#');
    if matches!(input, Input::Text { text, .. } if is_shallow(text)) {
        return compile_here(input, options);
    }
    with_stack(|| compile_here(input, options))
}

/// The same, and shows the syntax tree of a program in which there is no error, from the thread that compiles.
pub fn compile_and_look(
    input: Input<'_>,
    options: &CompileOptions,
    look: &(dyn Fn(&TranslationUnit<'_>) + Sync),
) -> Compilation {
    with_stack(|| {
        let mut session = Session::new(input, options);
        let program = session.run_and_look(look, |session, module| session.lower(module)).flatten();
        session.into_compilation(program)
    })
}

/// What of the stack of such a thread its work may take before it compiles, and programs may still be deep.
const STACK_BEFORE: usize = 4 << 20;

thread_local! {
    /// Of a thread with enough stack: where its stack begins, about; else 0.
    static STACK_BEGINS: Cell<usize> = const { Cell::new(0) };
}

/// Returns whether this is a thread with enough stack, and enough of it is left.
fn has_stack() -> bool {
    let begins = STACK_BEGINS.get();
    begins != 0 && begins.abs_diff(place_on_stack()) < STACK_BEFORE
}

/// The address of something on the stack.
#[inline(never)]
fn place_on_stack() -> usize {
    let here = 0u8;
    (&raw const *std::hint::black_box(&here)).addr()
}

/// Does something on a thread with enough stack: the one that the caller has left may be small. What compiles on that thread, with
/// not much on its stack, starts no further thread: for work that compiles many programs.
pub fn with_stack<R: Send>(work: impl Fn() -> R + Sync) -> R {
    if has_stack() {
        return work();
    }
    std::thread::scope(|scope| {
        let compiler = std::thread::Builder::new().name("spmdvm compiler".into()).stack_size(STACK + STACK_BEFORE);
        let on_thread = || {
            STACK_BEGINS.set(place_on_stack());
            work()
        };
        match compiler.spawn_scoped(scope, on_thread) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => work(),
        }
    })
}

/// Compiles a program on this thread.
fn compile_here(input: Input<'_>, options: &CompileOptions) -> Compilation {
    let mut session = Session::new(input, options);
    let program = session.run(|session, module| session.lower(module)).flatten();
    session.into_compilation(program)
}

/// A stage of a compilation as text; fails with the diagnostics if the program is wrong before that stage is complete.
pub fn dump(input: Input<'_>, options: &CompileOptions, stage: Stage) -> Result<String, Box<Compilation>> {
    let mut session = Session::new(input, options);
    let text = match stage {
        Stage::Tokens => session.dump_tokens(),
        Stage::Ast => session.dump_ast(),
        Stage::Hir => session.run(|_, module| format!("{module:#?}\n")),
        Stage::Bytecode => session
            .run(|session, module| session.lower(module))
            .flatten()
            .map(|program| spmdvm_vm::asm::disassemble(&program, Style::Human)),
    };
    text.ok_or_else(|| Box::new(session.into_compilation(None)))
}

/// Hands the typed program, with the files that its spans point into, to a function: for tools that make something else of it than
/// bytecode. Fails with the diagnostics if the program is wrong.
pub fn with_typed<R>(
    input: Input<'_>,
    options: &CompileOptions,
    then: impl FnOnce(&hir::Module, &SourceMap) -> R,
) -> Result<R, Box<Compilation>> {
    let mut session = Session::new(input, options);
    let made = session.run(|session, module| then(module, &session.sources));
    made.ok_or_else(|| Box::new(session.into_compilation(None)))
}

/// The header for C and C++ hosts of a program ([`header`]); `name` is what its first line calls it.
pub fn c_header(input: Input<'_>, options: &CompileOptions, name: &str) -> Result<String, Box<Compilation>> {
    let mut session = Session::new(input, options);
    let text = session.run(|_, module| header(module, name));
    text.ok_or_else(|| Box::new(session.into_compilation(None)))
}

/// The paths of the files that a program includes, directly or not, each once, in the order in which they are first met.
pub fn includes(input: Input<'_>, options: &CompileOptions) -> Result<Vec<PathBuf>, Box<Compilation>> {
    let mut session = Session::new(input, options);
    let paths = session.includes();
    paths.ok_or_else(|| Box::new(session.into_compilation(None)))
}

/// The type of the last expression statement of the function `function`, as written in programs.
pub fn type_of_last_expression(
    input: Input<'_>,
    options: &CompileOptions,
    function: &str,
) -> Result<String, Box<Compilation>> {
    let mut session = Session::new(input, options);
    let name = session.run(|_, module| {
        let function = module.functions.iter().rev().find(|f| f.name.as_str() == function)?;
        let body = function.body.as_ref()?;
        let last = body.iter().rev().find_map(|stmt| match &stmt.kind {
            hir::StmtKind::Expr(e) => Some(e.ty),
            _ => None,
        })?;
        Some(module.types.display(last).to_string())
    });
    name.flatten().ok_or_else(|| Box::new(session.into_compilation(None)))
}

/// Only parses a text, knowing the library's types; for tools that look at the tree.
pub fn parse_text<'a>(
    name: &str,
    text: &str,
    sources: &mut SourceMap,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> &'a TranslationUnit<'a> {
    let main = sources.add(name, text);
    let nothing: &[(&str, &str)] = &[];
    let loader = FileLoader::new(None, &[], nothing);
    let preprocess = PreprocessOptions { defines: &[], loader: &loader, main_path: None };
    let [type_names, template_names] = prelude::type_and_template_names();
    let options = ParseOptions { preprocess, type_names, template_names, prompt: None };
    parse(sources, main, &options, arena, diagnostics)
}

/// A program as tokens and as a tree, for tools that edit its text.
pub struct Syntax<'a> {
    /// The tree.
    pub unit: &'a TranslationUnit<'a>,
    /// What the tree was made of: tokens after preprocessing.
    pub tokens: Vec<Token>,
    /// The program's file.
    pub main: FileId,
    /// The files.
    pub sources: SourceMap,
    /// What is wrong with the syntax.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a program, as a compilation does, and goes no further. There is none if it cannot be read.
pub fn syntax<'a>(input: Input<'_>, options: &CompileOptions, arena: &'a Bump) -> Option<Syntax<'a>> {
    let mut session = Session::new(input, options);
    let main = session.main?;
    let mut tokens = Vec::new();
    let unit = session.parse_and(main, arena, |all| tokens.extend_from_slice(all));
    Some(Syntax { unit, tokens, main, sources: session.sources, diagnostics: session.diagnostics.into_vec() })
}

/// Has the whole library ready for a gang width and a floating-point mode, so that no compilation takes longer than others.
pub fn prepare_library(width: Width, fp: FpMode) {
    library(fp, Parts::ALL).prepare(width);
}

/// The library as far as it is read in any case. Its files are those of all that is read.
pub fn prelude() -> &'static Prelude {
    library(FpMode::Contract, Parts::NONE)
}

/// The parts of the library that a program of these tokens needs.
pub fn library_needed(tokens: &[Token], fp: FpMode) -> Parts {
    let implied = (fp == FpMode::Fast).then(|| Symbol::intern(sema::INVERSE_ROOT));
    Parts::of_names(tokens.iter().filter_map(Token::symbol).chain(implied))
}

/// Most libraries of some parts that are made for one mode: each has what those before have. The next one is the whole.
const MOST_PARTIAL: usize = 3;

/// A library of a floating-point mode that has some parts at least. What is parsed is kept for the life of the process: most programs
/// need few of the parts, and to read all takes some 20 ms. What is there is found without a lock, which the child of a `fork` might
/// find taken.
fn library(fp: FpMode, needs: Parts) -> &'static Prelude {
    static MADE: [[OnceLock<(Parts, Prelude)>; MOST_PARTIAL]; 2] =
        [const { [const { OnceLock::new() }; MOST_PARTIAL] }; 2];
    static WHOLE: [OnceLock<Prelude>; 2] = [const { OnceLock::new() }; 2];
    let mode = (fp == FpMode::Fast) as usize;
    let mut before = Parts::NONE;
    for made in &MADE[mode] {
        let wanted = before.with(needs);
        let (parts, library) = made.get_or_init(|| (wanted, read_library(fp, wanted)));
        if parts.has(needs) {
            return library;
        }
        before = *parts;
    }
    WHOLE[mode].get_or_init(|| read_library(fp, Parts::ALL))
}

/// Parses the library as far as it is read in any case, with some parts.
pub fn read_library(fp: FpMode, parts: Parts) -> Prelude {
    // The files are the same in all modes, and what defines macros counts as one.
    let mode = if fp == FpMode::Fast { "__FP_FAST" } else { "__FP_EXACT" };
    let defines = &[(mode.to_owned(), String::new())];
    // The tree lives as long as the process, so its arena is never freed.
    let arena: &'static Bump = Box::leak(Box::new(Bump::new()));
    let (mut sources, files) = (SourceMap::new(), parts.files());
    let main = sources.add(ROOT, root_text());
    let loader = FileLoader::new(None, &[], &files);
    let preprocess = PreprocessOptions { defines, loader: &loader, main_path: None };
    let options = ParseOptions { preprocess, type_names: &[], template_names: &[], prompt: None };
    let mut diagnostics = Diagnostics::new();
    let unit = parse(&mut sources, main, &options, arena, &mut diagnostics);
    prelude::FILES.iter().for_each(|(name, text)| sources.fill(name, text));
    Prelude::new(*unit, sources, diagnostics.into_vec())
}

/// One compilation on its way.
struct Session<'o> {
    options: &'o CompileOptions,
    defines: Vec<(String, String)>,
    headers: Headers<'o>,
    sources: SourceMap,
    main: Option<FileId>,
    path: Option<PathBuf>,
    diagnostics: Diagnostics,
    deferred: Vec<String>,
    /// The parts of the library whose names it has.
    needs: Parts,
}

impl<'o> Session<'o> {
    fn new(input: Input<'_>, options: &'o CompileOptions) -> Session<'o> {
        let mut sources = prelude().sources().clone();
        let stop = Stop::new(options.interrupt.clone(), options.deadline);
        let mut diagnostics = Diagnostics::within(options.limits, stop);
        options.no_warn.iter().for_each(|&code| diagnostics.ignore_warnings(None, Quiet::Code(code)));
        let (main, path) = match input {
            Input::Text { name, text } => (Some(sources.add(name, text)), None),
            Input::File(path) => match std::fs::read(path) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes);
                    (Some(sources.add(path.display().to_string(), text)), Some(path.to_path_buf()))
                }
                Err(e) => {
                    let message = format!("cannot read {}: {e}", path.display());
                    diagnostics.emit(Diagnostic::new(Code::UnreadableFile, Span::default(), message));
                    (None, None)
                }
            },
            Input::Read { path, text } => {
                (Some(sources.add(path.display().to_string(), text)), Some(path.to_path_buf()))
            }
        };
        let main = main.filter(|&main| is_small_enough(main, &sources, &mut diagnostics));
        let files = file_loader(input, options);
        let headers = Headers { given: &options.headers, files, asked: RefCell::default() };
        let mut defines = predefined::defines(options.width);
        defines.extend(options.defines.iter().cloned());
        Session {
            options,
            defines,
            headers,
            sources,
            main,
            path,
            diagnostics,
            deferred: Vec::new(),
            needs: Parts::NONE,
        }
    }

    /// Parses and analyses, and hands the typed program on. `None` if there was an error.
    fn run<R>(&mut self, then: impl FnOnce(&mut Self, &hir::Module) -> R) -> Option<R> {
        self.run_and_look(&|_| (), then)
    }

    /// The same, and shows the tree of what is handed on.
    fn run_and_look<R>(
        &mut self,
        look: &dyn Fn(&TranslationUnit<'_>),
        then: impl FnOnce(&mut Self, &hir::Module) -> R,
    ) -> Option<R> {
        let main = self.main?;
        let arena = Bump::new();
        let unit = self.parse(main, &arena);
        if self.diagnostics.is_full() || self.diagnostics.poll() {
            return None;
        }
        let options = sema::Options {
            width: self.options.width,
            instances: self.options.instances.clone(),
            object: self.options.object,
            fast: self.options.fp == FpMode::Fast,
        };
        let module =
            analyse(unit, library(self.options.fp, self.needs), &options, &self.sources, &mut self.diagnostics);
        if self.diagnostics.has_errors() {
            return None;
        }
        let module = module?;
        let name = |&id: &hir::FuncId| module.function(id).mangled.clone();
        self.deferred = module.deferred.iter().map(name).collect();
        look(unit);
        Some(then(self, &module))
    }

    fn parse<'a>(&mut self, main: FileId, arena: &'a Bump) -> &'a ast::TranslationUnit<'a> {
        self.parse_and(main, arena, |_| ())
    }

    /// Parses, and shows the tokens that it parses.
    fn parse_and<'a>(
        &mut self,
        main: FileId,
        arena: &'a Bump,
        look: impl FnOnce(&[Token]),
    ) -> &'a ast::TranslationUnit<'a> {
        let [type_names, template_names] = prelude::type_and_template_names();
        let options = ParseOptions {
            preprocess: preprocess_options(&self.defines, &self.headers, &self.path),
            type_names,
            template_names,
            prompt: self.options.prompt.as_deref(),
        };
        let preprocessed = preprocess(&mut self.sources, main, &options.preprocess, arena, &mut self.diagnostics);
        look(&preprocessed.tokens);
        self.needs = library_needed(&preprocessed.tokens, self.options.fp);
        parse_tokens(&self.sources, preprocessed, &options, arena, &mut self.diagnostics)
    }

    fn lower(&mut self, module: &hir::Module) -> Option<VerifiedProgram> {
        let options = LowerOptions {
            fp: self.options.fp,
            marks_unset: self.options.check,
            keeps_variables: self.options.keep_variables,
        };
        let program: Program = lower(module, &self.sources, &options, &mut self.diagnostics);
        if self.diagnostics.has_errors() || self.diagnostics.poll() {
            return None;
        }
        match verify_until(program, &Rc::clone(self.diagnostics.stop())) {
            Ok(program) => {
                self.hint(&program);
                Some(program)
            }
            Err(Unverified::Stopped(_)) => None,
            Err(Unverified::Wrong(errors)) => {
                let list: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
                let message = format!("the compiler made a malformed program: {}", list.join("; "));
                let diagnostic = Diagnostic::new(Code::InternalError, Span::default(), message);
                self.diagnostics
                    .emit(diagnostic.help("this is a mistake of the compiler, not yours: please report it"));
                None
            }
        }
    }

    /// Adds hints about performance, if they are wanted.
    fn hint(&mut self, program: &Program) {
        if self.options.hints {
            let library = prelude().sources().files().count();
            hints(program, &self.sources, library).into_iter().for_each(|hint| self.diagnostics.emit(hint));
        }
    }

    fn dump_tokens(&mut self) -> Option<String> {
        let arena = Bump::new();
        let options = preprocess_options(&self.defines, &self.headers, &self.path);
        let tokens = preprocess(&mut self.sources, self.main?, &options, &arena, &mut self.diagnostics).tokens;
        let mut text = String::new();
        for token in tokens {
            let (file, line, column) = self.sources.locate(token.span);
            let _ = writeln!(text, "{file}:{line}:{column}  {:?}  {}", token.kind, self.sources.text(token.span));
        }
        (!self.diagnostics.has_errors()).then_some(text)
    }

    fn includes(&mut self) -> Option<Vec<PathBuf>> {
        let arena = Bump::new();
        let options = preprocess_options(&self.defines, &self.headers, &self.path);
        let paths = preprocess(&mut self.sources, self.main?, &options, &arena, &mut self.diagnostics).included;
        (!self.diagnostics.has_errors()).then_some(paths)
    }

    fn dump_ast(&mut self) -> Option<String> {
        let arena = Bump::new();
        let unit = self.parse(self.main?, &arena);
        (!self.diagnostics.has_errors()).then(|| ast::dump(unit))
    }

    fn into_compilation(self, program: Option<VerifiedProgram>) -> Compilation {
        // What was called off after the last poll is called off all the same.
        self.diagnostics.stop().look();
        let (stopped, steps) = (self.diagnostics.stop().reason(), self.diagnostics.stop().steps());
        let left_out = self.diagnostics.left_out();
        let program = program.filter(|_| stopped.is_none());
        let diagnostics = self.diagnostics.into_vec();
        let (deferred, sources, includes) = (self.deferred, self.sources, self.headers.asked.into_inner());
        Compilation { program, diagnostics, left_out, stopped, steps, deferred, sources, includes }
    }
}

/// What reads the files that a program includes.
fn file_loader(input: Input<'_>, options: &CompileOptions) -> FileLoader<'static> {
    let (path, is_trusted) = match input {
        Input::Text { .. } => (None, false),
        Input::File(path) | Input::Read { path, .. } => (Some(path), true),
    };
    let files = FileLoader::new(path, &options.include_paths, predefined::HEADERS);
    match options.sandbox_includes.unwrap_or(!is_trusted) {
        true => files,
        false => files.unconfined(),
    }
}

/// Whether the main file is within the limits; reported if it is not.
fn is_small_enough(main: FileId, sources: &SourceMap, diagnostics: &mut Diagnostics) -> bool {
    let (limit, len) = (diagnostics.limits().bytes, sources.get(main).map_or(0, |file| file.text.len()));
    if len > limit {
        let message = format!("the program has {len} bytes, more than {limit}");
        let error = Diagnostic::new(Code::SourceTooLarge, Span::new(main, 0, 0), message);
        diagnostics.emit(error.help("split it, or read tables from arrays that are passed"));
    }
    len <= limit
}

fn preprocess_options<'p>(
    defines: &'p [(String, String)],
    headers: &'p Headers<'_>,
    path: &Option<PathBuf>,
) -> PreprocessOptions<'p> {
    PreprocessOptions { defines, loader: headers, main_path: path.clone() }
}

/// The headers that the caller gave, then files.
struct Headers<'o> {
    given: &'o [(String, String)],
    files: FileLoader<'static>,
    /// All that was asked for.
    asked: RefCell<Vec<Include>>,
}

/// An `#include` of a compilation, and what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Include {
    /// What was asked for, as in [`IncludeRequest`].
    name: String,
    quoted: bool,
    includer: Option<PathBuf>,
    /// A digest of the text; `None` if there was none.
    found: Option<u64>,
}

/// Returns whether a compilation of the same text with the same options would find again what it included.
pub fn includes_are_current(input: Input<'_>, options: &CompileOptions, includes: &[Include]) -> bool {
    let files = file_loader(input, options);
    let headers = Headers { given: &options.headers, files, asked: RefCell::default() };
    includes.iter().all(|include| {
        let Include { name, quoted, includer, found } = include;
        let request = IncludeRequest { name, quoted: *quoted, includer: includer.as_deref() };
        headers.find(&request).ok().map(|included| digest(&included.text)) == *found
    })
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl IncludeLoader for Headers<'_> {
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Included, IncludeError> {
        let found = self.find(request);
        self.asked.borrow_mut().push(Include {
            name: request.name.to_owned(),
            quoted: request.quoted,
            includer: request.includer.map(Path::to_path_buf),
            found: found.as_ref().ok().map(|included| digest(&included.text)),
        });
        found
    }
}

impl Headers<'_> {
    fn find(&self, request: &IncludeRequest<'_>) -> Result<Included, IncludeError> {
        match self.given.iter().find(|(name, _)| name == request.name) {
            Some((name, text)) => Ok(Included { name: name.clone(), path: None, text: text.clone(), is_part: true }),
            None => self.files.load(request),
        }
    }
}
