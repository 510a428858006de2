//! Compiles the page's program: what is wrong with it, and what can be called.

use crate::arguments::suggested;
use crate::examples::HEADERS;
use crate::server::Settings;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use spmdvm::frontend::source::{FileId, SourceMap, Span};
use spmdvm::{
    CompileError, Diagnostic, Engine, Export, ExportParam, Fp, HostType, HostValue, JitSettings, LeftOut, Module,
    Options, Severity, Width,
};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What messages call the page's program.
pub const NAME: &str = "program.ispc";

/// A program, and how it is compiled.
#[derive(Deserialize)]
pub struct Program {
    source: String,
    width: Option<u32>,
    engine: Option<String>,
    fp: Option<String>,
    /// Whether it is to be told what became of each line. Loops are compiled before the run goes on then.
    #[serde(default)]
    pub explain: bool,
}

impl Program {
    /// Compiles it within the limits, until the flag is raised. The error says what is wrong with the choices.
    pub fn compile(
        &self,
        settings: &Settings,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Result<Module, CompileError>, String> {
        let base = &settings.options;
        let choice = |given: &Option<String>| given.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        let width = match self.width {
            Some(lanes) => Width::new(lanes).ok_or("the width is one of 1, 2, 4, 8, 16, 32, 64")?,
            None => base.width,
        };
        let options = Options {
            width,
            engine: choice(&self.engine).map_or(Ok(base.engine), |name| Engine::from_str(&name))?,
            fp: choice(&self.fp).map_or(Ok(base.fp), |name| Fp::from_str(&name))?,
            // Nothing of the page's names a file that is read, or a function of the host.
            include_paths: Vec::new(),
            sandbox_includes: Some(true),
            headers: HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
            hosts: Default::default(),
            hints: true,
            interrupt: Some(Arc::clone(interrupt)),
            jit: JitSettings { background: base.jit.background && !self.explain, ..base.jit.clone() },
            ..base.clone()
        };
        Ok(Module::compile(NAME, &self.source, &options))
    }

    /// Its text.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Compiles a program for its messages, and the functions that can be called.
pub fn check(program: &Program, settings: &Settings) -> Result<Json, String> {
    Ok(match program.compile(settings, &Arc::default())? {
        Err(error) => failed(&error),
        Ok(module) => {
            let functions: Vec<Json> = module.exports().iter().map(function).collect();
            json!({ "diagnostics": warnings(&module), "functions": functions })
        }
    })
}

/// What a compilation that failed says.
pub fn failed(error: &CompileError) -> Json {
    let stopped = error.stopped().map(|_| error.render(false));
    let diagnostics = list(error.diagnostics(), error.sources());
    json!({ "diagnostics": diagnostics, "left_out": left_out(error.left_out()), "stopped": stopped })
}

/// The warnings of a program.
pub fn warnings(module: &Module) -> Json {
    list(module.warnings(), module.sources())
}

fn left_out(left_out: LeftOut) -> String {
    left_out.to_string()
}

fn list(diagnostics: &[Diagnostic], sources: &SourceMap) -> Json {
    let main = sources.files().find(|(_, file)| file.name == NAME).map(|(id, _)| id);
    diagnostics.iter().map(|diagnostic| message(diagnostic, sources, main)).collect()
}

fn message(diagnostic: &Diagnostic, sources: &SourceMap, main: Option<FileId>) -> Json {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning if diagnostic.code.is_performance() => "hint",
        Severity::Warning => "warning",
    };
    let label = |span: Span, text: &str| {
        let own = sources.get(span.file).filter(|_| Some(span.file) == main);
        let range = own.map(|file| range(&file.text, span.lo, span.hi));
        json!({ "range": range, "line": own.map(|file| file.line_of(span.lo)), "text": text })
    };
    let labels: Vec<Json> = diagnostic.labels.iter().map(|l| label(l.span, &l.text)).collect();
    json!({
        "severity": severity, "code": diagnostic.code.id(), "message": diagnostic.message, "labels": labels,
        "help": diagnostic.help, "notes": diagnostic.notes,
    })
}

/// A range of bytes as one of UTF-16 units, in which the page counts.
pub fn range(text: &str, lo: u32, hi: u32) -> [usize; 2] {
    [lo, hi.max(lo)].map(|end| {
        let end = (end as usize).min(text.len());
        let before = text.char_indices().take_while(|(at, _)| *at < end);
        before.map(|(_, c)| c.len_utf16()).sum()
    })
}

fn function(export: &Export) -> Json {
    let params: Vec<Json> = export
        .params
        .iter()
        .map(|param| json!({ "name": param.name, "type": type_text(param), "word": suggested(param) }))
        .collect();
    json!({ "name": export.name, "declaration": export.declaration, "doc": export.doc, "params": params })
}

fn type_text(param: &ExportParam) -> String {
    match &param.value {
        HostValue::Uniform(ty) => format!("uniform {ty}"),
        HostValue::Varying(ty) => format!("varying {ty}"),
        HostValue::Array { elem, writable, .. } => {
            let access = if *writable { "" } else { ", only read" };
            format!("array of {}{access}", elem_text(elem))
        }
    }
}

fn elem_text(elem: &HostType) -> String {
    spmdvm_debug::layout::type_text(elem)
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_count_as_the_page_does() {
        let text = "// ü 😀\nint x;";
        assert_eq!(range(text, 0, 2), [0, 2]);
        let x = text.find('x').expect("there") as u32;
        assert_eq!(range(text, x, x + 1), [12, 13]);
        assert_eq!(range(text, 900, 1000), [14, 14]);
    }
}
