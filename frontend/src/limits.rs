//! How much a compilation may take.

/// Bounds on the size of a program, beyond which it is refused with an error that says so. With them the time to compile
/// and the memory that takes are bounded for every input. (How deep things may be nested is bounded too, by
/// [`MAX_DEPTH`](crate::parse::MAX_DEPTH) and others; those follow from the stack and cannot be changed.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of all source files together (E0018).
    pub bytes: usize,
    /// Tokens of the program after preprocessing (E0018).
    pub tokens: usize,
    /// Tokens that macros may produce in all (E0011).
    pub macro_tokens: usize,
    /// Files that may be included in all (E0014).
    pub includes: usize,
    /// How deep files may include one another (E0014).
    pub include_depth: usize,
    /// Instances of templates and polymorphic functions (E0240).
    pub instances: usize,
    /// Errors that are told; the others are counted.
    pub errors: usize,
    /// Warnings that are told; the others are counted.
    pub warnings: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 64 << 20,
            tokens: 4 << 20,
            macro_tokens: 4 << 20,
            includes: 10_000,
            include_depth: 64,
            instances: 10_000,
            errors: 20,
            warnings: 200,
        }
    }
}
