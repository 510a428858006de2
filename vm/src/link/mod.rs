//! The linker: one program from several that were compiled apart.
//!
//! What flows: [`Object`]s (verified programs and what they refer to) → `resolve` (which definition every import means) →
//! `reach` (what exports and hosts need) → `identical` (which functions and constants are copies of one another) → `join` (one
//! program, renumbered).
//!
//! **Names.** Programs are linked by the names of their [`Symbol`]s and [`Import`]s, and by nothing else: what has no symbol
//! belongs to its object, whatever it is called. In the result names are unique again; symbols keep theirs. A function
//! `NAME$…` goes with the function `NAME`.
//!
//! **Copies.** Each object has its own instances of templates, of the headers' inline functions and of the library. Two
//! are one if they are the same instruction by instruction, at the same places of the same source, and so is all that they refer
//! to; constants if their bytes are.
//!
//! **C.** A function declared `extern "C"` is called as a host would: once for the gang. If an object defines it, the
//! import becomes a function that calls the definition with all lanes on.
//!
//! The result has no symbols: it is complete. What nobody defines stays an import, unless it is out of reach. [`bind`] lets
//! the host provide it.

mod bind;
mod identical;
mod join;
mod object;
mod reach;
mod resolve;

pub use bind::bind;
pub use object::Object;
pub use reach::needed;

use crate::program::{Import, Span, Symbol};
use crate::types::Width;
use crate::verify::{VerifiedProgram, VerifyError};
use std::sync::Arc;

/// A place in the source of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectSpan {
    /// Which object.
    pub object: usize,
    /// The place, in its files.
    pub span: Span,
}

/// Why objects cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Two objects define the same.
    Twice {
        /// The name to link by.
        name: String,
        /// The definitions.
        places: [ObjectSpan; 2],
    },
    /// Two objects, of which one may define what the other declares, do not agree on what it is.
    Differs {
        /// The name to link by.
        name: String,
        /// The declaration, then the definition (or another declaration).
        places: [ObjectSpan; 2],
        /// The types of the two.
        types: [String; 2],
        /// The struct that is not the same in both, if the types are.
        structure: Option<String>,
        /// Whether the second place is a definition.
        is_defined: bool,
    },
    /// Objects were compiled for different gangs: the width of the first, and another one.
    Widths(Width, Width),
    /// What comes of them breaks a rule, such as that on the size of all globals.
    Program(Vec<VerifyError>),
}

/// Links objects. Places in errors are of the objects, which are counted in the order given.
pub fn link(objects: &[Arc<Object>]) -> Result<VerifiedProgram, Vec<LinkError>> {
    let width = objects.first().map_or(Width::DEFAULT, |object| object.program().width);
    if let Some(other) = objects.iter().map(|object| object.program().width).find(|&other| other != width) {
        return Err(vec![LinkError::Widths(width, other)]);
    }
    let all = Objects::new(objects);
    let resolution = resolve::resolve(&all)?;
    let reached = reach::reach(&all, &resolution);
    let classes = identical::fold(&all, &resolution, &reached);
    join::join(&all, &resolution, &reached, &classes).map_err(|errors| vec![LinkError::Program(errors)])
}

/// A function of any object, or a global, by its number among those of all objects.
type Flat = usize;

/// All objects, with one numbering of their functions, and one of their globals.
struct Objects<'a> {
    list: &'a [Arc<Object>],
    /// By object: its first function and its first global.
    first: Vec<(Flat, Flat)>,
    /// By function, and by global: object, and number in the object.
    functions: Vec<(u32, u32)>,
    globals: Vec<(u32, u32)>,
}

impl<'a> Objects<'a> {
    fn new(list: &'a [Arc<Object>]) -> Objects<'a> {
        let mut all = Objects { list, first: Vec::new(), functions: Vec::new(), globals: Vec::new() };
        for (i, object) in list.iter().enumerate() {
            all.first.push((all.functions.len(), all.globals.len()));
            let program = object.program();
            all.functions.extend((0..program.functions.len() as u32).map(|n| (i as u32, n)));
            all.globals.extend((0..program.globals.len() as u32).map(|n| (i as u32, n)));
        }
        all
    }

    fn function(&self, flat: Flat) -> (&'a Object, &'a crate::program::Function) {
        let (object, n) = self.functions[flat];
        let object = &*self.list[object as usize];
        (object, &object.program().functions[n as usize])
    }

    fn global(&self, flat: Flat) -> &'a crate::program::Global {
        let (object, n) = self.globals[flat];
        &self.list[object as usize].program().globals[n as usize]
    }

    /// The number of an object's function among all.
    fn flat_function(&self, object: usize, id: crate::program::FuncId) -> Flat {
        self.first[object].0 + id.0 as usize
    }

    /// The number of an object's global among all.
    fn flat_global(&self, object: usize, id: crate::program::GlobalId) -> Flat {
        self.first[object].1 + id.0 as usize
    }

    fn imports(&self) -> impl Iterator<Item = (usize, &'a Import)> {
        self.list
            .iter()
            .enumerate()
            .flat_map(|(i, object)| object.program().imports.iter().map(move |import| (i, import)))
    }

    fn symbols(&self) -> impl Iterator<Item = (usize, &'a Symbol)> {
        self.list
            .iter()
            .enumerate()
            .flat_map(|(i, object)| object.program().symbols.iter().map(move |symbol| (i, symbol)))
    }
}
