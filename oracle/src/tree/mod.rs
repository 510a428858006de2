//! Edits of a source by its syntax tree.
