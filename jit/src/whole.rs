//! What is known of a program as a whole, found once, when its first loop is compiled.

use crate::frames::Frames;
use crate::weights::Weights;
use spmdvm_vm::program::Program;

/// What the recorder asks about functions other than the one it is in.
pub(crate) struct Whole {
    /// The memory of frames, if there is any.
    pub frames: Option<Frames>,
    /// How large functions are.
    pub weights: Weights,
}

impl Whole {
    /// Analyses a program.
    pub fn new(program: &Program) -> Whole {
        Whole { frames: Frames::new(program), weights: Weights::new(program) }
    }
}
