//! What the static properties of the bytecode ([`spmdvm_vm::properties`]) say of an access: a stride that is proved needs no
//! test, and no profile to be expected.
//!
//! The proof is about the index in its own type: active lane *l* holds `first + l * stride`, wrapping around. That no lane
//! does wrap is what the checks of bounds at both ends say, as for strides that are tested ([`super::access_pattern`]). It is about the
//! register in the interpreter, which a value of the region stands for: so it holds wherever recording began, and however the
//! value came about.

use super::Recorder;
use super::memory::Operand;
use super::state::State;
use crate::advice::AccessPattern;

impl Recorder<'_> {
    /// The stride of the index of the access at hand, in every run.
    pub(super) fn proved_stride(&mut self, state: &State, at: &Operand) -> Option<i64> {
        let frame = state.top();
        let (function, pc) = (frame.function, frame.pc);
        let f = self.function(function);
        let inst = f.code[pc as usize];
        // An index may also have been made from pointers.
        let own = (!inst.src[1].is_none()).then(|| frame.regs[inst.src[1].index()]).flatten();
        if own.is_none() || own != at.index {
            return None;
        }
        let width = self.program.width;
        self.analysis(function).properties(f, width).index(pc).stride
    }

    /// The access pattern that follows from that.
    pub(super) fn proved_pattern(&mut self, state: &State, at: &Operand) -> Option<AccessPattern> {
        let stride = self.proved_stride(state, at)?;
        let bytes = stride.checked_mul(at.address.scale as i64)?;
        let pattern = match bytes {
            0 => AccessPattern::One,
            bytes if bytes == at.ty.size() as i64 => AccessPattern::Consecutive,
            _ => AccessPattern::Strided(stride),
        };
        self.advice.allows(Recorder::variant_of(pattern), self.place(state)).then_some(pattern)
    }
}
