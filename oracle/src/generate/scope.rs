//! What the place of a statement has: variables, arrays, functions, and which lanes may be active.

use super::types::Range;
use spmdvm::Ty;

/// Which lanes are active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// All.
    Full,
    /// Some, and the gang came here as a whole.
    Some,
    /// Any; where ISPC does not branch perhaps none.
    Divergent,
}

/// What can be read, and perhaps assigned.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// How it is written: `v1`, `s.a`, `*p`.
    pub text: String,
    pub ty: Ty,
    pub varying: bool,
    pub range: Range,
    pub assignable: bool,
    /// Whether it was declared while all lanes were active, so that each has a value of it.
    pub full: bool,
    /// The level it was declared at: where lanes part, uniform variables from outside are not assigned.
    pub level: u32,
    /// Whether `&text` can be written.
    pub addressable: bool,
}

/// Who sees the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// The gang and what comes later: lanes store at places of their own.
    Shared,
    /// Only for reading.
    Constant,
    /// Each lane has elements of its own.
    PerLane,
    /// Only for adding to atomically, and for the checksum.
    Counter,
}

/// Something with an index.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// What stands before the bracket.
    pub name: String,
    /// What stands behind it: a member, or nothing.
    pub member: &'static str,
    pub ty: Ty,
    /// A power of two.
    pub len: u64,
    pub sharing: Sharing,
    pub full: bool,
    pub level: u32,
}

/// A function that keeps a pointer to its frame, and gives one that may be that.
#[derive(Clone, Debug)]
pub(super) struct Keeper {
    pub name: String,
    /// A function that calls it, and looks at what it gives.
    pub after: String,
    /// What the pointers lead to.
    pub ty: Ty,
}

/// A table of pointers to arrays.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub name: String,
    pub ty: Ty,
    /// The elements behind each of its pointers.
    pub len: u64,
    pub level: u32,
}

/// A parameter that takes a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    pub ty: Ty,
    pub varying: bool,
}

/// A function whose call is an expression without effects.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// With its template arguments.
    pub name: String,
    pub params: Vec<Param>,
    pub ty: Ty,
    /// Whether the result is varying whatever the arguments are.
    pub varying: bool,
    pub range: Range,
    /// About how many statements a call executes.
    pub cost: u64,
    /// Whether it may be called by `crev` only.
    pub crev: bool,
}

/// A function that changes something, and takes what it changes as arguments.
#[derive(Clone, Debug)]
pub(super) struct Procedure {
    pub name: String,
    /// The arrays that it takes, by type: shared ones are handed on.
    pub arrays: Vec<(Ty, Sharing)>,
    /// The struct that it takes by reference.
    pub record: Option<usize>,
    pub cost: u64,
}

/// A struct.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    pub name: String,
    /// Scalars: name and type.
    pub members: Vec<(&'static str, Ty)>,
    /// A member that is an array of four.
    pub array: Option<Ty>,
    /// Another name of it.
    pub alias: Option<String>,
    /// Its overloaded operators.
    pub operators: Vec<&'static str>,
}

/// A struct variable.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub name: String,
    pub of: usize,
    pub varying: bool,
    pub full: bool,
}

/// A short vector.
#[derive(Clone, Debug)]
pub(super) struct Vector {
    pub name: String,
    pub ty: Ty,
    pub n: u64,
    pub full: bool,
}

/// How a `return` would be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Returns {
    Not,
    /// Nothing, where all lanes do.
    Together,
    Nothing,
    Value(Ty),
}

/// Where the statement that is being written stands.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub mask: Mask,
    pub level: u32,
    /// Whether only what all lanes have may be read: lanes were turned on.
    pub all_on: bool,
    /// An `int` below 64 that no two lanes share.
    pub own: Option<String>,
    pub breaks: bool,
    pub continues: bool,
    pub returns: Returns,
    /// A label of this function that all lanes may jump to from here.
    pub label: Option<String>,
    /// Blocks around.
    pub depth: u32,
    /// About how often it is executed.
    pub weight: u64,
    /// Whether it is in a `foreach` of any kind.
    pub in_foreach: bool,
    /// Whether it is in the body of a `foreach` itself, of this function.
    pub lanes_have_turns: bool,
    /// Whether it is in a `foreach_active`, a `foreach_unique` or a `foreach` in another.
    pub in_each: bool,
    /// Whether it is in a `foreach_active` of ISPC's, whose compiler breaks down at `continue` under a varying condition, even if
    /// the loop stands within.
    pub in_active: bool,
    /// Whether it is in a task, which shares nothing but its own part and what is only added to.
    pub in_task: bool,
}

impl Context {
    /// Where a function begins.
    pub fn function(mask: Mask, own: Option<String>, returns: Returns) -> Context {
        Context {
            mask,
            level: 1,
            all_on: false,
            own,
            breaks: false,
            continues: false,
            returns,
            label: None,
            depth: 0,
            weight: 1,
            in_foreach: false,
            lanes_have_turns: false,
            in_each: false,
            in_active: false,
            in_task: false,
        }
    }

    /// A part that is executed under a condition, or several times.
    pub fn inner(&self) -> Context {
        Context { depth: self.depth + 1, ..self.clone() }
    }

    /// A part in which lanes have parted.
    pub fn diverged(&self) -> Context {
        Context { mask: Mask::Divergent, level: self.level + 1, label: None, ..self.inner() }
    }

    /// The same, so many times.
    pub fn times(self, turns: u64) -> Context {
        Context { weight: self.weight * turns, ..self }
    }
}
