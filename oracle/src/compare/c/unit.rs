//! A program in C as it comes about: functions, each in the form for one lane and in the form for the gang, and globals.

use super::body::{Body, Mode};
use super::layout;
use spmdvm::frontend::hir::{FuncId, GlobalId, Module, RelocationTarget, TypeId};
use spmdvm::frontend::source::{SourceMap, Span};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// Why something has no translation.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What stands in the way.
    pub what: String,
    /// Where.
    pub span: Span,
}

/// A result of translation.
pub type Made<T> = Result<T, Refusal>;

/// A refusal as a result.
pub fn refuse<T>(what: impl Into<String>, span: Span) -> Made<T> {
    Err(Refusal { what: what.into(), span })
}

/// The program.
pub struct Unit<'m> {
    /// What is translated.
    pub module: &'m Module,
    /// The files that spans point into.
    pub sources: &'m SourceMap,
    /// What was found out about functions; those being translated count as good.
    known: HashMap<(FuncId, Mode), Made<()>>,
    blocks: BTreeSet<u64>,
    globals: BTreeSet<GlobalId>,
    prototypes: String,
    functions: String,
}

impl<'m> Unit<'m> {
    /// The program, without any functions.
    pub fn new(module: &'m Module, sources: &'m SourceMap) -> Unit<'m> {
        Unit {
            module,
            sources,
            known: HashMap::new(),
            blocks: BTreeSet::new(),
            globals: BTreeSet::new(),
            prototypes: String::new(),
            functions: String::new(),
        }
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.module.width.lanes()
    }

    /// The name of a function in a form, which is translated if it is not yet.
    pub fn function(&mut self, id: FuncId, mode: Mode, span: Span) -> Made<String> {
        let name = format!("f{}_{}", id.0, if mode == Mode::Lane { "lane" } else { "gang" });
        if let Some(known) = self.known.get(&(id, mode)) {
            // The place is that of the call, if the reason lies in the library.
            return known.clone().map(|()| name).map_err(|refusal| self.seen_from(refusal, span));
        }
        let function = self.module.function(id);
        self.known.insert((id, mode), Ok(()));
        let (blocks, globals) = (self.blocks.clone(), self.globals.clone());
        let made = Body::new(self, function, mode).and_then(|body| body.function(&name));
        match made {
            Ok((head, body)) => {
                let _ = writeln!(self.prototypes, "{head};");
                let _ = writeln!(self.functions, "\n/* {} */\n{head} {{\n{body}}}", function.name.as_str());
                Ok(name)
            }
            Err(refusal) => {
                (self.blocks, self.globals) = (blocks, globals);
                self.known.insert((id, mode), Err(refusal.clone()));
                Err(self.seen_from(refusal, span))
            }
        }
    }

    /// A refusal with its place in the program: what lies in the library is put to where that is called.
    fn seen_from(&self, refusal: Refusal, span: Span) -> Refusal {
        match self.is_library(refusal.span) {
            true => Refusal { span, ..refusal },
            false => refusal,
        }
    }

    /// Whether something stands in the library.
    pub fn is_library(&self, span: Span) -> bool {
        // Its files come first in every map.
        let library = spmdvm::frontend::compile::prelude().sources().files().count();
        (span.file.0 as usize) < library
    }

    /// The line of something in the program; 0 if it stands in the library.
    pub fn line(&self, span: Span) -> u32 {
        if self.is_library(span) { 0 } else { self.sources.line(span) }
    }

    /// The type in C of one lane's value.
    pub fn c_type(&mut self, ty: TypeId, span: Span) -> Made<String> {
        if let Some(what) = layout::obstacle(self.module, ty) {
            return refuse(what, span);
        }
        if self.module.types.register_ty(ty).is_none() {
            self.block(layout::size(self.module, ty));
        }
        Ok(layout::c_type(self.module, ty))
    }

    /// Notes that blocks of so many bytes occur.
    pub fn block(&mut self, size: u64) {
        self.blocks.insert(size);
    }

    /// The name of a global.
    pub fn global(&mut self, id: GlobalId) -> String {
        self.globals.insert(id);
        format!("global{}", id.0)
    }

    /// The text: what `entry` calls, and before it all that it needs.
    pub fn text(mut self, entry: &str) -> Made<String> {
        let mut text = include_str!("runtime.c").to_owned();
        for size in &self.blocks {
            let _ = writeln!(text, "typedef struct {{ u8 bytes[{}]; }} B{size};", (*size).max(1));
        }
        let start = self.globals_text(&mut text)?;
        let _ = writeln!(
            text,
            "\n{}{}\nstatic void set_globals(void) {{\n{start}}}\n{entry}",
            self.prototypes, self.functions
        );
        Ok(text)
    }

    /// Defines the globals; gives the statements that put addresses into them.
    fn globals_text(&mut self, text: &mut String) -> Made<String> {
        let (mut start, mut done) = (String::new(), BTreeSet::new());
        while let Some(&id) = self.globals.difference(&done).next() {
            done.insert(id);
            let global = self.module.global(id);
            let bytes: Vec<String> = global.init.iter().map(u8::to_string).collect();
            let bytes = if bytes.is_empty() { "0".to_owned() } else { bytes.join(",") };
            let _ = writeln!(text, "static _Alignas(64) u8 global{}[{}] = {{{bytes}}};", id.0, global.size.max(1));
            for relocation in &global.relocations {
                let RelocationTarget::Global(target, offset) = relocation.target else {
                    return refuse("a function pointer in a global variable", global.span);
                };
                let target = self.global(target);
                let address = format!("(u64)({target} + {offset})");
                let _ = writeln!(
                    start,
                    "    {{ u64 at = {address}; memcpy(global{} + {}, &at, 8); }}",
                    id.0, relocation.at
                );
            }
        }
        Ok(start)
    }
}
