//! Edits of a text: pieces of it replaced by others.

use std::fmt;
use std::ops::Range;

/// A piece of a text is replaced by another; an empty piece is where something is inserted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Edit {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What takes their place.
    pub text: String,
}

impl Edit {
    /// Puts a text in the place of another.
    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Edit {
        Edit { range, text: text.into() }
    }

    /// Puts a text between others.
    pub fn insert(at: usize, text: impl Into<String>) -> Edit {
        Edit { range: at..at, text: text.into() }
    }

    /// Takes a text away.
    pub fn delete(range: Range<usize>) -> Edit {
        Edit { range, text: String::new() }
    }

    /// By how many bytes the text shrinks; negative if it grows.
    pub fn gain(&self) -> isize {
        self.range.len() as isize - self.text.len() as isize
    }

    /// Whether the two replace a byte in common, or one inserts within what the other replaces.
    fn overlaps(&self, other: &Edit) -> bool {
        let (a, b) = (&self.range, &other.range);
        match (a.is_empty(), b.is_empty()) {
            (true, true) => false,
            (true, false) => b.start < a.start && a.start < b.end,
            (false, true) => a.start < b.start && b.start < a.end,
            (false, false) => a.start < b.end && b.start < a.end,
        }
    }
}

/// Edits of one text that do not overlap.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Edits {
    /// By where they begin; insertions at one place in the order in which they came, before a replacement that begins there.
    list: Vec<Edit>,
}

/// Two edits touch the same text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overlap {
    /// The edit that was there.
    pub first: Range<usize>,
    /// The edit that was to be added.
    pub second: Range<usize>,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlap { first, second } = self;
        write!(f, "the bytes {second:?} cannot be edited along with {first:?}: they overlap")
    }
}

impl std::error::Error for Overlap {}

impl Edits {
    /// No edits.
    pub fn new() -> Edits {
        Edits::default()
    }

    /// Adds an edit, unless it overlaps with another.
    pub fn add(&mut self, edit: Edit) -> Result<(), Overlap> {
        let key = |edit: &Edit| (edit.range.start, !edit.range.is_empty());
        let at = self.list.partition_point(|other| key(other) <= key(&edit));
        // Edits are in order and apart, so only neighbours, and insertions at their edges, can be in the way.
        let near = self.list[..at].iter().rev().take_while(|other| other.range.end >= edit.range.start);
        let behind = self.list[at..].iter().take_while(|other| other.range.start <= edit.range.end);
        if let Some(other) = near.chain(behind).find(|other| other.overlaps(&edit)) {
            return Err(Overlap { first: other.range.clone(), second: edit.range });
        }
        self.list.insert(at, edit);
        Ok(())
    }

    /// Adds all of several edits, or, if one of them overlaps with another, none.
    pub fn add_all(&mut self, edits: impl IntoIterator<Item = Edit>) -> Result<(), Overlap> {
        let mut all = self.clone();
        for edit in edits {
            all.add(edit)?;
        }
        *self = all;
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The edits, by where they begin.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.list.iter()
    }

    /// The edited text. Edits outside of the text, or within a character, are left out.
    pub fn apply(&self, text: &str) -> String {
        let mut edited = String::with_capacity(text.len());
        let mut done = 0;
        for edit in &self.list {
            let (Some(kept), true) = (text.get(done..edit.range.start), text.is_char_boundary(edit.range.end)) else {
                continue;
            };
            edited.push_str(kept);
            edited.push_str(&edit.text);
            done = edit.range.end;
        }
        edited.push_str(text.get(done..).unwrap_or_default());
        edited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, edits: impl IntoIterator<Item = Edit>) -> Result<String, Overlap> {
        let mut all = Edits::new();
        all.add_all(edits)?;
        Ok(all.apply(text))
    }

    #[test]
    fn apart_edits_compose_in_any_order() {
        let edits = [Edit::replace(0..1, "xy"), Edit::delete(2..4), Edit::insert(5, "!")];
        let mut backwards = edits.clone();
        backwards.reverse();
        assert_eq!(applied("abcdef", edits).unwrap(), "xybe!f");
        assert_eq!(applied("abcdef", backwards).unwrap(), "xybe!f");
    }

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        let edits = [Edit::replace(1..2, "B"), Edit::insert(1, "1"), Edit::insert(1, "2"), Edit::insert(2, "3")];
        assert_eq!(applied("abc", edits).unwrap(), "a12B3c");
    }

    #[test]
    fn overlaps_are_refused() {
        let refused = |a: Edit, b: Edit| {
            let expected = Overlap { first: a.range.clone(), second: b.range.clone() };
            assert_eq!(applied("abcdefgh", [a, b]).unwrap_err(), expected);
        };
        refused(Edit::delete(1..3), Edit::delete(2..5));
        refused(Edit::delete(2..5), Edit::delete(1..3));
        refused(Edit::delete(1..7), Edit::replace(3..4, "x"));
        refused(Edit::replace(3..4, "x"), Edit::delete(1..7));
        refused(Edit::delete(1..3), Edit::delete(1..3));
        refused(Edit::delete(1..3), Edit::insert(2, "x"));
        refused(Edit::insert(2, "x"), Edit::delete(1..3));
    }

    #[test]
    fn a_refused_edit_adds_nothing() {
        let mut edits = Edits::new();
        edits.add(Edit::delete(2..4)).unwrap();
        assert!(edits.add_all([Edit::delete(0..1), Edit::delete(3..5)]).is_err());
        assert_eq!(edits.apply("abcdef"), "abef");
    }

    #[test]
    fn an_insertion_before_a_long_edit_does_not_hide_it() {
        let mut edits = Edits::new();
        edits.add(Edit::delete(1..6)).unwrap();
        edits.add(Edit::insert(1, "x")).unwrap();
        assert!(edits.add(Edit::delete(4..5)).is_err());
        assert_eq!(edits.apply("abcdefgh"), "axgh");
    }

    #[test]
    fn characters_are_not_torn_apart() {
        assert_eq!(applied("aäb", [Edit::delete(2..4)]).unwrap(), "aäb");
        assert_eq!(applied("ab", [Edit::delete(1..9)]).unwrap(), "ab");
    }
}
