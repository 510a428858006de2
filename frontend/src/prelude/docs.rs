//! Writes `docs/stdlib.md` from the `///` comments of the prelude.
//!
//! Such a comment stands before each function or group of overloads. Its first line is the signature, followed after a
//! comma by what the letter T stands for; the rest is the description.

use std::fmt::Write;
use std::sync::OnceLock;

use super::FILES;

/// The sections of the document: title, introduction, and the files whose functions it lists.
const SECTIONS: &[(&str, &str, &[&str])] = &[
    ("Elementary functions", "", &["basic.ispc", "select.ispc"]),
    ("Floating-point numbers", "", &["numbers.ispc"]),
    ("Exponentials and logarithms", "", &["exp_log.ispc", "pow.ispc"]),
    ("Trigonometric functions", "", &["trig.ispc", "inverse_trig.ispc"]),
    ("Hyperbolic functions", "", &["hyperbolic.ispc"]),
    ("Error function, roots and distances", "", &["erf.ispc", "cbrt_hypot.ispc"]),
    ("Bits", "", &["bits.ispc"]),
    ("Saturating arithmetic", "Results beyond the type's range become its nearest end.", &["saturate.ispc"]),
    (
        "Packed dot products",
        "Small integers lie in 32 bits, lowest first. The `_sat` forms saturate the final sum, the others wrap.",
        &["dot.ispc"],
    ),
    (
        "Across lanes",
        "Shuffles read what an inactive lane holds; reductions, votes and scans look at active lanes only.",
        &["crosslane.ispc", "scan.ispc", "packed.ispc"],
    ),
    ("Memory", "", &["memory.ispc", "atomics.ispc", "soa.ispc", "hints.ispc"]),
    ("Colour", "", &["color.ispc"]),
    ("Short vectors", "", &["vectors.ispc"]),
    ("Random numbers", "", &["random.ispc"]),
    ("The machine", "", &["system.ispc"]),
];

const INTRODUCTION: &str = "\
<!-- Generated from the sources in frontend/src/prelude; see docs.rs there. Do not edit. -->

# The standard library

Every function exists for varying and for uniform arguments, except those across lanes, whose signatures say what is
uniform. `T` stands for a type as told; \"a floating-point type\" is float16, float or double. Errors are in units in the
last place (ULP); `docs/math.md` tells how they were measured. float16 functions compute in float and round once more,
which leaves at most 0.51 ULP of float16.
";

/// One entry: a signature, what its letters stand for, and the description.
#[derive(Clone, Debug)]
pub struct Entry<'t> {
    /// The signature.
    pub signature: &'t str,
    /// What its letters stand for.
    pub types: &'t str,
    /// The lines of the description.
    pub text: Vec<&'t str>,
}

impl<'t> Entry<'t> {
    /// The names of its functions.
    pub fn names(&self) -> impl Iterator<Item = &'t str> {
        let before = self.signature.split('(').rev().skip(1);
        before.filter_map(|part| part.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
    }
}

/// All that is documented, in the order of the document.
pub fn all() -> &'static [Entry<'static>] {
    static ALL: OnceLock<Vec<Entry<'static>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let files = SECTIONS.iter().flat_map(|(_, _, files)| files.iter());
        let text = |name: &&str| FILES.iter().find(|(file, _)| file == name).map_or("", |(_, text)| *text);
        files.flat_map(|name| entries(text(name))).collect()
    })
}

/// The whole of `docs/stdlib.md`.
#[must_use]
pub fn stdlib_markdown() -> String {
    let mut out = INTRODUCTION.to_owned();
    for (title, introduction, files) in SECTIONS {
        let _ = write!(out, "\n## {title}\n");
        if !introduction.is_empty() {
            let _ = write!(out, "\n{introduction}\n");
        }
        for file in *files {
            let text = FILES.iter().find(|(name, _)| name == file).map_or("", |(_, text)| text);
            for entry in entries(text) {
                write_entry(&mut out, &entry);
            }
        }
    }
    out
}

/// The documented functions of a file, in order.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut found: Vec<Entry<'_>> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("/// ") {
            Some(rest) if inside => found.last_mut().expect("inside an entry").text.push(rest),
            Some(first) => {
                let end = first.rfind(", T ");
                let (signature, types) = end.map_or((first, ""), |at| (&first[..at], &first[at + 2..]));
                found.push(Entry { signature, types, text: Vec::new() });
                inside = true;
            }
            None => inside = false,
        }
    }
    found
}

fn write_entry(out: &mut String, entry: &Entry<'_>) {
    let _ = write!(out, "\n### `{}`\n\n", entry.signature);
    if !entry.types.is_empty() {
        let _ = writeln!(out, "*{}.*  ", entry.types);
    }
    for line in &entry.text {
        let _ = writeln!(out, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::{SECTIONS, entries, stdlib_markdown};
    use crate::prelude::FILES;

    #[test]
    fn the_document_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/stdlib.md");
        let wanted = stdlib_markdown();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &wanted).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(found == wanted, "docs/stdlib.md is stale: run the test again with UPDATE_DOCS=1 to write it anew");
    }

    #[test]
    fn every_documented_file_has_a_section() {
        for (name, text) in FILES {
            let listed = SECTIONS.iter().any(|(_, _, files)| files.contains(name));
            assert_eq!(listed, !entries(text).is_empty(), "{name}");
        }
    }
}
