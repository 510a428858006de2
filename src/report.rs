//! What the JIT did with a module's loops.

use crate::module::Module;
use spmdvm_jit::engine::Instructions;
use spmdvm_jit::report::{self, LoopInfo, Show};

impl Module {
    /// What the JIT did with every loop that was hot so far, those of instances that were compiled at their first call among
    /// them. Empty if the engine has no JIT or no loop was hot.
    pub fn loops(&self) -> Vec<LoopInfo> {
        let of = |module: &Module| module.jit().map(|jit| LoopInfo::all(module.program(), jit)).unwrap_or_default();
        let mut loops = of(self);
        loops.extend(self.instances().iter().flat_map(of));
        loops
    }

    /// How many instructions of the bytecode have been executed so far, about: in compiled code, and by the interpreter. Those of
    /// instances that were compiled at their first call are among them. Without a JIT nothing is counted.
    pub fn instructions(&self) -> Instructions {
        let of =
            |module: &Module| module.jit().map(|jit| jit.instructions(module.pool().prepared())).unwrap_or_default();
        self.instances().iter().map(of).fold(of(self), |sum, more| sum + more)
    }

    /// The same as text: where each loop is, its compiled versions (time, bytes, entries, how they were left), or why it is
    /// interpreted; then sums.
    pub fn jit_text(&self, show: Show) -> String {
        report::text(&self.loops(), self.instructions(), show)
    }

    /// What happened to the loops and instructions of a line: compiled or why not, with which masks, how compiled code was left
    /// there and how often, and what takes time. The error says that there is no code on this line.
    pub fn explain_line(&self, number: usize) -> Result<String, String> {
        let modules: Vec<Module> = std::iter::once(self.clone()).chain(self.instances()).collect();
        report::explain_line(modules.iter().map(|module| (&**module.program(), module.jit())), number)
    }
}
