//! Source files, and places in them.

use std::ops::Range;
use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct FileId(pub u32);

/// A range of bytes in one file: where something stands as the user wrote it. What a macro expands to has the span of
/// the macro's use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub lo: u32,
    /// Offset past the last byte.
    pub hi: u32,
}

impl Span {
    /// The bytes `lo..hi` of `file`.
    pub fn new(file: FileId, lo: u32, hi: u32) -> Span {
        Span { file, lo, hi }
    }

    /// The smallest span that covers `self` and `end`. Where they lie in different files, `self`.
    #[must_use]
    pub fn to(self, end: Span) -> Span {
        if self.file != end.file {
            return self;
        }
        Span { file: self.file, lo: self.lo.min(end.lo), hi: self.hi.max(end.hi) }
    }

    /// The empty span just past `self`.
    #[must_use]
    pub fn after(self) -> Span {
        Span { lo: self.hi, ..self }
    }

    /// The byte range.
    pub fn range(self) -> Range<usize> {
        self.lo as usize..self.hi as usize
    }
}

/// One source file.
#[derive(Debug)]
pub struct SourceFile {
    /// The name shown in messages and by `__FILE__`.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Offsets of the first byte of each line.
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: String) -> SourceFile {
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes());
        let line_starts = std::iter::once(0).chain(newlines.map(|at| at as u32 + 1)).collect();
        SourceFile { name, text: text.into(), line_starts }
    }

    /// The 1-based line of a byte offset. (Its column takes as long to find as its line is long.)
    pub fn line_of(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset).max(1) as u32
    }

    /// The 1-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line = self.line_of(offset) as usize;
        let start = self.line_starts[line - 1] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.text.as_bytes()[start..end.max(start)].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        (line as u32, column as u32 + 1)
    }

    /// The text of a 1-based line, without its line break; empty past the end.
    pub fn line(&self, line: u32) -> &str {
        let Some(&start) = self.line_starts.get((line as usize).wrapping_sub(1)) else {
            return "";
        };
        let end = self.line_starts.get(line as usize).map_or(self.text.len(), |&next| next as usize - 1);
        self.text[start as usize..end].trim_end_matches('\r')
    }
}

/// All files of a compilation. Cloning is cheap and keeps the ids, so a compilation starts from a clone of the
/// prelude's map and the prelude's spans stay valid in it.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
    /// By file: where it is included; `None` for one that was given.
    included_at: Vec<Option<Span>>,
}

/// The longest source text accepted, in bytes. Offsets are 32 bits; this also bounds the work for untrusted input.
pub const MAX_FILE_LEN: usize = 256 << 20;

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file. Text beyond [`MAX_FILE_LEN`] is cut off.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(name.into(), text.into(), None)
    }

    /// Adds a file that is included at a place.
    pub fn add_included(&mut self, name: impl Into<String>, text: impl Into<String>, at: Span) -> FileId {
        self.push(name.into(), text.into(), Some(at))
    }

    fn push(&mut self, name: String, mut text: String, included_at: Option<Span>) -> FileId {
        if text.len() > MAX_FILE_LEN {
            let cut = (0..=MAX_FILE_LEN).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            text.truncate(cut);
        }
        let id = FileId(self.files.len() as u32);
        self.files.push(Arc::new(SourceFile::new(name, text)));
        self.included_at.push(included_at);
        id
    }

    /// Gives the files of a name that are empty their text.
    pub(crate) fn fill(&mut self, name: &str, text: &str) {
        let mut filled = None;
        for file in self.files.iter_mut().filter(|file| file.name == name && file.text.is_empty()) {
            let filled = filled.get_or_insert_with(|| Arc::new(SourceFile::new(name.to_owned(), text.to_owned())));
            *file = Arc::clone(filled);
        }
    }

    /// Adds the files of another map from the `first` on. Gives the number by which their ids grow.
    pub fn append(&mut self, other: &SourceMap, first: usize) -> u32 {
        let by = self.files.len().saturating_sub(first) as u32;
        let moved = |at: &Option<Span>| at.map(|at| Span { file: FileId(at.file.0 + by), ..at });
        self.files.extend(other.files.iter().skip(first).cloned());
        self.included_at.extend(other.included_at.iter().skip(first).map(moved));
        by
    }

    /// Adds a file whose text is shared, unless it is there already.
    pub fn add_shared(&mut self, name: &str, text: &Arc<str>) -> FileId {
        let same = |file: &Arc<SourceFile>| file.name == name && (Arc::ptr_eq(&file.text, text) || file.text == *text);
        match self.files.iter().position(same) {
            Some(known) => FileId(known as u32),
            None => self.add(name, &**text),
        }
    }

    /// The file with this id, if it is of this map.
    pub fn get(&self, id: FileId) -> Option<&Arc<SourceFile>> {
        self.files.get(id.0 as usize)
    }

    /// All files, in the order of their ids.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), &**file))
    }

    /// The places through which a file is included, the innermost first; none for a file that was given.
    pub fn inclusions(&self, file: FileId) -> impl Iterator<Item = Span> + '_ {
        let at = |file: FileId| self.included_at.get(file.0 as usize).copied().flatten();
        std::iter::successors(at(file), move |span| at(span.file))
    }

    /// The text of a span; empty when it is not of this map.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|file| file.text.get(span.range())).unwrap_or_default()
    }

    /// The text of the file before a span, without blanks at its end.
    pub fn before(&self, span: Span) -> &str {
        let text = self.get(span.file).and_then(|file| file.text.get(..span.lo as usize));
        text.unwrap_or_default().trim_end()
    }

    /// The 1-based line where a span starts.
    pub fn line(&self, span: Span) -> u32 {
        self.get(span.file).map_or(1, |file| file.line_of(span.lo))
    }

    /// File name, 1-based line and 1-based column of a span's start.
    pub fn locate(&self, span: Span) -> (&str, u32, u32) {
        match self.get(span.file) {
            Some(file) => {
                let (line, column) = file.line_column(span.lo);
                (&file.name, line, column)
            }
            None => ("<unknown>", 1, 1),
        }
    }

    /// The documentation comment (`///` lines) directly above a declaration, without the comment marks; empty when there
    /// is none.
    pub fn doc_comment(&self, declaration: Span) -> String {
        let Some(file) = self.get(declaration.file) else {
            return String::new();
        };
        let line = file.line_of(declaration.lo);
        let mut lines: Vec<&str> =
            (1..line).rev().map_while(|above| file.line(above).trim_start().strip_prefix("///")).collect();
        lines.reverse();
        lines.iter().map(|text| text.strip_prefix(' ').unwrap_or(text)).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let mut map = SourceMap::new();
        let id = map.add("a", "ab\nµx\n\nz");
        let file = map.get(id).unwrap();
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line_column(2), (1, 3));
        assert_eq!(file.line_column(5), (2, 2));
        assert_eq!(file.line_column(7), (3, 1));
        assert_eq!(file.line_column(99), (4, 2));
        assert_eq!(file.line(2), "µx");
        assert_eq!(file.line(9), "");
    }

    #[test]
    fn doc_comments() {
        let mut map = SourceMap::new();
        let id = map.add("a", "// no\n/// One.\n///   two\nint f();\nint g();");
        assert_eq!(map.doc_comment(Span::new(id, 26, 27)), "One.\n  two");
        assert_eq!(map.doc_comment(Span::new(id, 36, 37)), "");
    }
}
