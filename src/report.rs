//! What the JIT did with a module's loops, as text.

use crate::module::Module;
use spmdvm_jit::engine::{LoopReport, VersionReport};
use std::fmt::Write;

/// What [`Module::jit_text`] shows besides the table of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Show {
    /// The optimised trace IR.
    pub ir: bool,
    /// Machine code.
    pub asm: bool,
}

impl Module {
    /// What the JIT did with every loop that was hot so far: where it is, its compiled versions (time, bytes, entries, how they
    /// were left), or why it is interpreted. Empty if the engine has no JIT or no loop was hot.
    pub fn jit_text(&self, show: Show) -> String {
        let loops = self.jit().map(|jit| jit.report()).unwrap_or_default();
        let mut text = String::new();
        for report in &loops {
            // Writing to a string cannot fail.
            let _ = self.loop_text(&mut text, report, show);
        }
        text
    }

    fn loop_text(&self, text: &mut String, report: &LoopReport, show: Show) -> std::fmt::Result {
        let (function, pc) = report.at;
        let f = &self.program().functions[function.0 as usize];
        let span = f.spans.get(pc as usize).copied().unwrap_or_default();
        match self.program().line_col(span) {
            Some((source, line, _)) => writeln!(text, "{}:{line}: loop in `{}`", source.name, f.name)?,
            None => writeln!(text, "loop in `{}` at {pc}", f.name)?,
        }
        if let Some(why) = &report.aborted {
            writeln!(text, "  interpreted: {why}")?;
        }
        for version in &report.versions {
            version_text(text, version, show)?;
        }
        Ok(())
    }
}

fn version_text(text: &mut String, version: &VersionReport, show: Show) -> std::fmt::Result {
    let region = &version.region;
    let insts: usize = region.blocks.iter().map(|b| b.insts.len()).sum();
    writeln!(
        text,
        "  compiled in {:.2} ms: {} blocks, {insts} instructions, {} bytes; entered {} times",
        version.time.as_secs_f64() * 1e3,
        region.blocks.len(),
        version.code_bytes,
        version.entries
    )?;
    for (exit, n) in version.exits.iter().filter(|(_, n)| *n != 0) {
        writeln!(text, "    left {n} times: {}", region.exits[exit.index()].why)?;
    }
    if show.ir {
        writeln!(text, "{region}")?;
    }
    if show.asm {
        writeln!(text, "{}", version.listing.as_deref().unwrap_or("no machine code to show"))?;
    }
    Ok(())
}
