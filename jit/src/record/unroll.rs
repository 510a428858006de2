//! Short loops whose rounds are recorded one after another.
//!
//! Where a loop with a uniform counter is reached with a counter and a bound that are constants, and few rounds are left, both
//! stay constants in its blocks: they are part of what tells blocks apart ([`Key`](super::state::Key)), and no parameters. So
//! each round gets blocks of its own, in which the counter is a number: the branch that ends the loop is decided while it is
//! recorded, and indices that are made of the counter are constants, so that elements of local arrays can become values
//! ([`mem2reg`](crate::passes::mem2reg)). Nothing else about recording changes: fuel is counted where the bytecode counts it, and
//! snapshots hold what they would. Nor does anything rely on what is said about the loop: it is a reason to keep constants apart,
//! and the bound on how many there can be.

use super::Recorder;
use super::state::{State, Unrolled};
use crate::counted::CountedLoop;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Function, Reg};

/// Most rounds of a loop that is unrolled.
const MAX_ROUNDS: u32 = 16;

impl Recorder<'_> {
    /// The loops that a state is in the middle of, or about to enter, and that are unrolled.
    pub(super) fn unrolled(&mut self, state: &State) -> Vec<Unrolled> {
        let mut found: Vec<Unrolled> = Vec::new();
        if self.plan.unrolled == 0 {
            return found;
        }
        for (i, frame) in state.frames.iter().enumerate() {
            let function = frame.function;
            let analysis = self.analysis(function);
            let f = self.function(function);
            for l in analysis.counted(f).iter().filter(|l| l.contains(frame.pc)) {
                let known = |reg: Reg| frame.regs[reg.index()].and_then(|v| self.known(v));
                let (Some(counter), Some(bound)) = (known(l.counter), known(l.bound)) else { continue };
                let Some(left) = l.rounds(counter, bound, MAX_ROUNDS) else { continue };
                let begun =
                    state.unrolled.iter().find(|u| u.frame == i && u.function == function && u.header == l.header);
                let rounds = begun.map_or(left, |begun| begun.rounds.max(left));
                let copies = found.iter().fold(rounds, |all, outer| all.saturating_mul(outer.rounds));
                if copies.saturating_mul(self.weight(f, function, l)) <= self.plan.unrolled {
                    let kept = [(l.counter, counter), (l.bound, bound)];
                    found.push(Unrolled { frame: i, function, header: l.header, kept, rounds });
                }
            }
        }
        self.has_unrolled |= !found.is_empty();
        found
    }

    /// How many instructions a loop has, with those of the functions that it calls.
    fn weight(&self, f: &Function, own: FuncId, l: &CountedLoop) -> u32 {
        let within = l.body.iter().map(|&at| &f.code[at as usize]);
        let weights = within.map(|inst| match inst.op {
            // Who calls himself is not worth it.
            Op::Call if FuncId(inst.aux) == own => u32::MAX,
            Op::Call => 1u32.saturating_add(self.whole.weights.of(FuncId(inst.aux))),
            _ => 1,
        });
        weights.fold(0, u32::saturating_add)
    }
}
