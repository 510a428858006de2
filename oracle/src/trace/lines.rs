//! Which line of one program is which line of another that was made from it.

use super::event::{Header, SourceSpan};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;

/// For lines of one program's files, those of the other's.
pub struct LineMap {
    /// By file of the first: the lines of the second, from 1.
    files: HashMap<String, Vec<Option<u32>>>,
}

impl LineMap {
    /// Compares the sources of two traces. The files of the called functions are each other's, others go by their names.
    pub fn new(a: &Header, b: &Header) -> LineMap {
        let other = |name: &str| {
            let name = if name == a.program { &b.program } else { name };
            b.sources.iter().find(|source| source.name == name)
        };
        let pairs = a.sources.iter().filter_map(|source| Some((source, other(&source.name)?)));
        LineMap { files: pairs.map(|(a, b)| (a.name.clone(), lines(&a.text, &b.text))).collect() }
    }

    /// The line where a span begins, in the second program; `None` if it is gone there. Files that the traces do not hold, the
    /// standard library's, are taken to be the same.
    pub fn line(&self, span: &SourceSpan) -> Option<u32> {
        match self.files.get(&*span.file) {
            Some(lines) => lines.get(span.line.checked_sub(1)? as usize).copied().flatten(),
            None => Some(span.line),
        }
    }
}

/// A line that was changed is the line that stands in its place.
fn lines(a: &str, b: &str) -> Vec<Option<u32>> {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
    let mut found = vec![None; a.len()];
    for op in capture_diff_slices(Algorithm::Myers, &a, &b) {
        let (old, new, len) = match op {
            DiffOp::Equal { old_index, new_index, len } => (old_index, new_index, len),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => (old_index, new_index, old_len.min(new_len)),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => continue,
        };
        (0..len).for_each(|i| found[old + i] = Some((new + i + 1) as u32));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn changed_lines_keep_their_place() {
        assert_eq!(lines("a\nb\nc\n", "a\nx\nc\n"), [Some(1), Some(2), Some(3)]);
        assert_eq!(lines("a\nb\nc\n", "a\nnew\nb\nc\n"), [Some(1), Some(3), Some(4)]);
        assert_eq!(lines("a\nb\nc\n", "a\nc\n"), [Some(1), None, Some(2)]);
    }
}
