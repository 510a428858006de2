//! What is known of a program as a whole, found once, when its first loop is compiled.

use crate::analysis::Analysis;
use crate::frames::Frames;
use crate::unseen::Unseen;
use crate::weights::{Weights, free_memory};
use spmdvm_vm::program::{FuncId, Program};
use std::sync::{Arc, OnceLock};

/// What the recorder asks about functions other than the one it is in.
pub(crate) struct Whole {
    /// The memory of frames, if there is any.
    pub frames: Option<Frames>,
    /// How large functions are.
    pub weights: Weights,
    /// By function: whether it, or what it calls, may free memory.
    pub frees: Vec<bool>,
    unseen: OnceLock<Unseen>,
    /// By function: what is known of it alone, found when it is first recorded.
    analyses: Box<[OnceLock<Arc<Analysis>>]>,
}

impl Whole {
    /// Analyses a program.
    pub fn new(program: &Program) -> Whole {
        let analyses = program.functions.iter().map(|_| OnceLock::new()).collect();
        let (frames, weights, frees) = (Frames::new(program), Weights::new(program), free_memory(program));
        Whole { frames, weights, frees, unseen: OnceLock::new(), analyses }
    }

    /// Of which registers nobody sees lanes that do not come back; found when it is first asked for.
    pub fn unseen(&self, program: &Program) -> &Unseen {
        self.unseen.get_or_init(|| Unseen::new(program))
    }

    /// The facts about a function of the program.
    pub fn analysis(&self, program: &Program, id: FuncId) -> Arc<Analysis> {
        let at = id.0 as usize;
        Arc::clone(self.analyses[at].get_or_init(|| Arc::new(Analysis::new(&program.functions[at]))))
    }
}
