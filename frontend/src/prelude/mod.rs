//! The standard library's sources: written in the language itself, over the operations of the bytecode.
//!
//! `prelude.ispc` is the root and explains the rest; it includes the other files by name, so hand [`FILES`] to the
//! preprocessor as its include loader. `docs/math.md` states the accuracy of the mathematical functions.

pub mod docs;
mod parts;

use crate::symbol::{Symbol, SymbolMap};
use parts::{MACROS, NAMES, TEMPLATES, TYPES};
use std::sync::OnceLock;

/// The file to compile; it includes all others.
pub const ROOT: &str = "prelude.ispc";

/// Every file of the library: name and text.
pub const FILES: &[(&str, &str)] = &[
    ("atomics.ispc", include_str!("atomics.ispc")),
    ("basic.ispc", include_str!("basic.ispc")),
    ("bits.ispc", include_str!("bits.ispc")),
    ("cbrt_hypot.ispc", include_str!("cbrt_hypot.ispc")),
    ("color.ispc", include_str!("color.ispc")),
    ("crosslane.ispc", include_str!("crosslane.ispc")),
    ("dot.ispc", include_str!("dot.ispc")),
    ("double_kernel.ispc", include_str!("double_kernel.ispc")),
    ("erf.ispc", include_str!("erf.ispc")),
    ("exp_log.ispc", include_str!("exp_log.ispc")),
    ("float_kernel.ispc", include_str!("float_kernel.ispc")),
    ("half.ispc", include_str!("half.ispc")),
    ("hyperbolic.ispc", include_str!("hyperbolic.ispc")),
    ("hints.ispc", include_str!("hints.ispc")),
    ("inverse_trig.ispc", include_str!("inverse_trig.ispc")),
    ("kernel_undef.ispc", include_str!("kernel_undef.ispc")),
    ("memory.ispc", include_str!("memory.ispc")),
    ("numbers.ispc", include_str!("numbers.ispc")),
    ("packed.ispc", include_str!("packed.ispc")),
    ("polynomial.ispc", include_str!("polynomial.ispc")),
    ("pow.ispc", include_str!("pow.ispc")),
    ("prelude.ispc", include_str!("prelude.ispc")),
    ("random.ispc", include_str!("random.ispc")),
    ("real.ispc", include_str!("real.ispc")),
    ("saturate.ispc", include_str!("saturate.ispc")),
    ("scan.ispc", include_str!("scan.ispc")),
    ("select.ispc", include_str!("select.ispc")),
    ("shapes.ispc", include_str!("shapes.ispc")),
    ("soa.ispc", include_str!("soa.ispc")),
    ("system.ispc", include_str!("system.ispc")),
    ("trig.ispc", include_str!("trig.ispc")),
    ("two_over_pi.ispc", include_str!("two_over_pi.ispc")),
    ("types.ispc", include_str!("types.ispc")),
    ("vectors.ispc", include_str!("vectors.ispc")),
];

/// A name that the library declares.
struct Name {
    name: &'static str,
    /// The files that declare it. Those that are read in any case are not among them.
    files: &'static [&'static str],
    /// The other names of the library in what is declared.
    uses: &'static [&'static str],
}

/// Some of the library's [`FILES`]: those that a program needs beside what is read in any case, or that have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts(u64);

impl Parts {
    /// None.
    pub const NONE: Parts = Parts(0);
    /// All.
    pub const ALL: Parts = Parts(u64::MAX);

    /// What a program needs that uses some names: all that declares them, or what they use in turn. Time is linear in the number of
    /// names.
    pub fn of_names(names: impl IntoIterator<Item = Symbol>) -> Parts {
        let by_name = parts_by_name();
        let named = names.into_iter().filter_map(|name| by_name.get(&name));
        named.fold(Parts::NONE, |sum, parts| sum.with(*parts))
    }

    /// The parts of both.
    #[must_use]
    pub fn with(self, other: Parts) -> Parts {
        Parts(self.0 | other.0)
    }

    /// Returns whether all of the others are among these.
    #[must_use]
    pub fn has(self, others: Parts) -> bool {
        self.0 & others.0 == others.0
    }

    /// The files to read: name and text, which is empty where a file is not among these. For spans to be the same whatever is read, all are
    /// included.
    pub(crate) fn files(self) -> Vec<(&'static str, &'static str)> {
        let left_out = |at: usize| optional() >> at & 1 != 0 && self.0 >> at & 1 == 0;
        FILES.iter().enumerate().map(|(at, &(file, text))| (file, if left_out(at) { "" } else { text })).collect()
    }
}

/// The set of some files.
fn parts_of(files: &[&str]) -> u64 {
    const { assert!(FILES.len() <= 64, "a set of files is 64 bits") };
    let at = |file: &&str| FILES.iter().position(|(name, _)| name == file);
    files.iter().filter_map(at).fold(0, |sum, at| sum | 1 << at)
}

/// Some files with those whose macros they use.
fn with_macros(files: u64) -> u64 {
    let used = |(file, uses): &(&str, &[&str])| if parts_of(&[file]) & files != 0 { parts_of(uses) } else { 0 };
    let more = MACROS.iter().fold(files, |sum, uses| sum | used(uses));
    if more == files { files } else { with_macros(more) }
}

/// Files that declare something, and may be left out.
fn optional() -> u64 {
    static OPTIONAL: OnceLock<u64> = OnceLock::new();
    *OPTIONAL.get_or_init(|| NAMES.iter().fold(0, |sum, name| sum | parts_of(name.files)))
}

/// What each name of the library needs.
fn parts_by_name() -> &'static SymbolMap<Parts> {
    static PARTS: OnceLock<SymbolMap<Parts>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let at = |name: &str| NAMES.binary_search_by(|other| other.name.cmp(name)).ok();
        let uses: Vec<Vec<usize>> =
            NAMES.iter().map(|name| name.uses.iter().filter_map(|name| at(name)).collect()).collect();
        let mut parts: Vec<u64> = NAMES.iter().map(|name| with_macros(parts_of(name.files))).collect();
        loop {
            let sum = |at: usize| uses[at].iter().fold(parts[at], |sum, &used| sum | parts[used]);
            let next: Vec<u64> = (0..parts.len()).map(sum).collect();
            if next == parts {
                break;
            }
            parts = next;
        }
        NAMES.iter().zip(parts).map(|(name, parts)| (Symbol::intern(name.name), Parts(parts))).collect()
    })
}

/// The names of the library's functions and templates, whatever is read of it.
pub(crate) fn names_of_values() -> impl Iterator<Item = Symbol> {
    let values = NAMES.iter().filter(|name| !TYPES.contains(&name.name));
    values.map(|name| Symbol::intern(name.name))
}

/// The names of the library's types and of its templates, whatever is read of it.
pub fn type_and_template_names() -> [&'static [Symbol]; 2] {
    static KINDS: OnceLock<[Vec<Symbol>; 2]> = OnceLock::new();
    let intern = |names: &[&str]| names.iter().map(|name| Symbol::intern(name)).collect();
    KINDS.get_or_init(|| [TYPES, TEMPLATES].map(intern)).each_ref().map(Vec::as_slice)
}

/// The text of [`ROOT`].
#[must_use]
pub fn root_text() -> &'static str {
    FILES.iter().find(|(name, _)| *name == ROOT).map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::{FILES, ROOT, root_text};
    use crate::diag::{Diagnostics, render_all};
    use crate::parse::{ParseOptions, parse};
    use crate::preprocess::{FileLoader, PreprocessOptions};
    use crate::source::SourceMap;

    #[test]
    fn every_file_parses_without_a_word() {
        let mut sources = SourceMap::new();
        let main = sources.add(ROOT, root_text());
        let loader = FileLoader::new(None, &[], FILES);
        let options = ParseOptions {
            preprocess: PreprocessOptions { defines: &[], loader: &loader, main_path: None },
            type_names: &[],
            template_names: &[],
            prompt: None,
        };
        let arena = Bump::new();
        let mut diagnostics = Diagnostics::new();
        let unit = parse(&mut sources, main, &options, &arena, &mut diagnostics);
        assert!(diagnostics.iter().next().is_none(), "{}", render_all(&diagnostics, &sources, false));
        assert!(unit.items.len() > 500);
    }
}
