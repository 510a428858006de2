//! The ways to move through a run, by instructions, lines and calls, forwards and backwards.

use crate::lines::{Lines, is_map};
use crate::recording::Probe;
use spmdvm::vm::View;

/// What a motion comes to; all but the first two stop at the beginning of a line, or in a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The next instruction.
    Instruction,
    /// The next instruction of this call or a caller.
    InstructionOver,
    /// The next line of this call or a caller.
    Line,
    /// The next line of any function.
    LineInto,
    /// The caller.
    Out,
}

/// Looks for the end of a motion.
pub struct Motion<'l> {
    lines: &'l Lines,
    unit: Unit,
    depth: usize,
    backward: bool,
}

impl<'l> Motion<'l> {
    /// A motion from a position with so many calls around it.
    pub fn new(lines: &'l Lines, unit: Unit, depth: usize, backward: bool) -> Motion<'l> {
        Motion { lines, unit, depth, backward }
    }
}

impl Probe for Motion<'_> {
    fn arrived(&mut self, view: &View<'_>, _: u64) -> bool {
        let depth = view.depth();
        let begins = || self.lines.begins(view.function_id(), view.pc());
        // A call that ends leads into the middle of a line; on the way back its line begins earlier.
        let has_left = depth < self.depth && (!self.backward || self.unit == Unit::Out);
        match self.unit {
            Unit::Instruction => true,
            Unit::InstructionOver => depth <= self.depth,
            Unit::Line => has_left && self.is_users(view) || depth <= self.depth && begins(),
            Unit::LineInto => has_left && self.is_users(view) || begins(),
            Unit::Out => has_left && !is_map(&view.function().name),
        }
    }
}

impl Motion<'_> {
    fn is_users(&self, view: &View<'_>) -> bool {
        let place = self.lines.place(view.function_id(), view.pc());
        place.is_some_and(|place| !self.lines.is_library(place.file))
    }
}
