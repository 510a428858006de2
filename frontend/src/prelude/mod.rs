//! The standard library's sources: written in the language itself, over the operations of the bytecode.
//!
//! `prelude.ispc` is the root and explains the rest; it includes the other files by name, so hand [`FILES`] to the
//! preprocessor as its include loader. `docs/math.md` states the accuracy of the mathematical functions.

pub mod docs;

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
