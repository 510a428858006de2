//! Lowering: from the typed program to masked vector bytecode.
//!
//! [`lower`] takes the functions that hosts and other files can reach, each when first referred to. For one function: `uniformity` finds
//! out which varying variables need only one value and which loops need masks; `function` lays out parameters, results
//! and variables; `stmt`, `control`, `foreach` and `each` lower statements, `expr`, `call`, `place` values; `common`, `hoist` and `tidy`
//! unite equal computations, move them out of loops, and remove what turned out unused. `map_wrapper` makes the functions
//! through which hosts run varying functions over whole arrays.
//!
//! **Values** are lists of registers, one per scalar (*leaf*) of their type, in the order of the type's layout. A
//! register of a varying leaf may be uniform: broadcasting is put off until an operation demands lanes.
//!
//! **Masks.** Every construct that can leave lanes waiting is a [`Frame`](control::Frame) with a *resume* label: where
//! lanes come back next. An operation that can empty the mask jumps to the resume label of the innermost such frame, so
//! nothing is ever executed with no lane active (invariant M1).

mod arith;
mod assign;
mod call;
mod common;
mod control;
mod each;
mod expr;
mod foreach;
mod function;
mod hoist;
mod image;
mod inline;
mod linkage;
pub mod map_wrapper;
mod memory;
mod place;
mod reassociate;
mod stmt;
mod task_wrapper;
#[cfg(test)]
mod tests;
mod tidy;
mod uniformity;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::hir;
use crate::source::{SourceMap, Span};
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::program::{Export, Piece, Program, Source};
use spmdvm_vm::{FuncId, Function};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// How floating-point expressions may be combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FpMode {
    /// `a * b + c` within one expression is one operation with one rounding.
    #[default]
    Contract,
    /// Every operation rounds.
    Strict,
    /// As `Contract`, and a division by a uniform value is a product with its reciprocal, and chains of sums and products are
    /// computed in an order of our own (`reassociate.rs`).
    Fast,
}

/// What lowering needs to know besides the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LowerOptions {
    /// How floating-point expressions of the user's code may be combined; the library's never are.
    pub fp: FpMode,
    /// Whether variables are told from zero while nothing is stored in them, for check mode.
    pub marks_unset: bool,
    /// Whether variables are computed that nothing reads, for the stepper.
    pub keeps_variables: bool,
}

/// Scalars a value may have at most; larger ones cannot be passed, returned or assigned as a whole.
const MAX_LEAVES: usize = 1 << 10;

/// Makes bytecode of a program without errors. What cannot be lowered is reported, and the result is not to be used then.
///
/// For each export with varying parameters or a varying result there is also a function `NAME$map`, where `NAME` is
/// the name of the export's function in the program; see `map_wrapper` for its parameters.
pub fn lower(
    module: &hir::Module,
    sources: &SourceMap,
    options: &LowerOptions,
    diagnostics: &mut Diagnostics,
) -> Program {
    let mut lowerer = Lowerer::new(module, sources, options, diagnostics);
    lowerer.globals();
    lowerer.exports();
    lowerer.symbols();
    while let Some(id) = lowerer.queue.pop_front() {
        if lowerer.diagnostics.poll() {
            return lowerer.finish();
        }
        let function = function::lower_function(&mut lowerer, id);
        let at = lowerer.ids[&id].0 as usize;
        lowerer.functions[at] = function;
    }
    lowerer.imports();
    task_wrapper::add_all(&mut lowerer);
    map_wrapper::add_all(&mut lowerer);
    lowerer.finish()
}

/// What is shared by all functions of a program being lowered.
pub(crate) struct Lowerer<'m> {
    module: &'m hir::Module,
    sources: &'m SourceMap,
    options: &'m LowerOptions,
    diagnostics: &'m mut Diagnostics,
    program: Program,
    functions: Vec<Function>,
    /// Bytecode functions by HIR function, made when first referred to.
    ids: HashMap<hir::FuncId, FuncId>,
    queue: VecDeque<hir::FuncId>,
    leaves: HashMap<hir::TypeId, Option<Rc<[hir::Leaf]>>>,
    messages: HashMap<String, u32>,
    formats: HashMap<Vec<Piece>, u32>,
    /// Index into the program's sources by file.
    files: HashMap<u32, u32>,
    /// By function: whether what inactive lanes hold can be seen by it (filled by `uniformity`).
    exposes: HashMap<hir::FuncId, bool>,
    /// By function: whether and at what cost calls of it are replaced by its body (filled by `inline`).
    inlinable: HashMap<hir::FuncId, Option<u32>>,
    /// A function that has to be looked at for `inlinable` before the one being looked at.
    look_first: Option<hir::FuncId>,
}

impl<'m> Lowerer<'m> {
    fn new(
        module: &'m hir::Module,
        sources: &'m SourceMap,
        options: &'m LowerOptions,
        diagnostics: &'m mut Diagnostics,
    ) -> Self {
        Lowerer {
            module,
            sources,
            options,
            diagnostics,
            program: Program { width: module.width, ..Program::default() },
            functions: Vec::new(),
            ids: HashMap::new(),
            queue: VecDeque::new(),
            leaves: HashMap::new(),
            messages: HashMap::new(),
            formats: HashMap::new(),
            files: HashMap::new(),
            exposes: HashMap::new(),
            inlinable: HashMap::new(),
            look_first: None,
        }
    }

    fn lanes(&self) -> usize {
        self.module.width.lanes()
    }

    /// How floating-point expressions of a function may be combined: the library's as it is written.
    fn fp_of(&self, function: &hir::Function) -> FpMode {
        if function.flags.prelude { FpMode::Strict } else { self.options.fp }
    }

    /// The bytecode function of a HIR function, which will be lowered too.
    fn func_id(&mut self, id: hir::FuncId) -> FuncId {
        if let Some(&known) = self.ids.get(&id) {
            return known;
        }
        let new = FuncId(self.functions.len() as u32);
        self.functions.push(Function { name: self.module.function(id).mangled.clone(), ..Function::default() });
        self.ids.insert(id, new);
        self.queue.push_back(id);
        new
    }

    /// The scalars of a type; `None` (reported by whoever needs them) if there are too many.
    fn leaves(&mut self, ty: hir::TypeId) -> Option<Rc<[hir::Leaf]>> {
        let (module, lanes) = (self.module, self.lanes());
        self.leaves.entry(ty).or_insert_with(|| module.types.leaves(ty, lanes, MAX_LEAVES).map(Rc::from)).clone()
    }

    fn exports(&mut self) {
        let module = self.module;
        for export in &module.exports {
            let function = self.func_id(export.function);
            self.program.exports.push(Export {
                name: export.name.clone(),
                function,
                params: export.params.clone(),
                result: export.result.clone(),
                doc: export.doc.clone(),
                declaration: export.declaration.clone(),
            });
        }
    }

    fn message(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.messages.get(text) {
            return known;
        }
        let new = self.program.messages.len() as u32;
        self.program.messages.push(text.to_owned());
        self.messages.insert(text.to_owned(), new);
        new
    }

    fn format(&mut self, pieces: &[Piece]) -> u32 {
        if let Some(&known) = self.formats.get(pieces) {
            return known;
        }
        let new = self.program.formats.len() as u32;
        self.program.formats.push(pieces.to_vec());
        self.formats.insert(pieces.to_vec(), new);
        new
    }

    /// A span as programs hold it. Only files that instructions come from become sources of the program.
    fn span(&mut self, span: Span) -> spmdvm_vm::Span {
        let sources = self.sources;
        let Some(file) = sources.get(span.file).filter(|file| file.text.get(span.range()).is_some() && span.hi > 0)
        else {
            return spmdvm_vm::Span::default();
        };
        let program = &mut self.program;
        let index = *self.files.entry(span.file.0).or_insert_with(|| {
            program.sources.push(Source::new(file.name.clone(), Arc::clone(&file.text)));
            program.sources.len() as u32 - 1
        });
        spmdvm_vm::Span { file: index, lo: span.lo, hi: span.hi }
    }

    /// Reports that something cannot be lowered.
    fn unsupported(&mut self, span: Span, what: impl Into<String>) {
        self.diagnostics.emit(Diagnostic::new(Code::CannotLower, span, what));
    }

    /// Reports a contradiction between what was promised and what was found.
    fn internal(&mut self, span: Span, what: &str) {
        let message = format!("internal error: {what}");
        let note = "this is a mistake in the compiler, not in the program; please report it";
        self.diagnostics.emit(Diagnostic::new(Code::InternalError, span, message).note(note));
    }

    fn finish(mut self) -> Program {
        self.program.functions = self.functions;
        self.program
    }
}
