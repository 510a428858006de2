//! What the JIT did with a module's loops.

use crate::module::Module;
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

    /// The same as text: where each loop is, its compiled versions (time, bytes, entries, how they were left), or why it is
    /// interpreted.
    pub fn jit_text(&self, show: Show) -> String {
        report::text(&self.loops(), show)
    }

    /// What happened to the loops and instructions of a line: compiled or why not, with which masks, how compiled code was left
    /// there and how often, and what takes time. The error says that there is no code on this line.
    pub fn explain_line(&self, number: usize) -> Result<String, String> {
        let modules: Vec<Module> = std::iter::once(self.clone()).chain(self.instances()).collect();
        report::explain_line(modules.iter().map(|module| (&**module.program(), module.jit())), number)
    }
}
