//! Live-range splitting after the calls of the entry block.
//!
//! The allocator cuts the life of a register only a few times. What several calls have cut would stay in memory and be loaded
//! wherever it is used, in the innermost loop too. So what was computed before the last call that loses registers moves to a
//! new one after it. Exits keep naming the old one: they find it in memory, if calls do not keep it, and the new one lives no longer for
//! them.

use super::Target;
use super::code::VCode;
use super::inst::Inst;
use regalloc2::VReg;

impl<T: Target> VCode<T> {
    /// Splits the live ranges of what was computed before the last call that loses registers.
    pub fn split_live_ranges(&mut self) {
        let Some(call) = self.last_losing_call() else { return };
        let old = self.written_until(call);
        let mut new: Vec<Option<VReg>> = vec![None; old.len()];
        let mut moves = Vec::new();
        let mut insts = std::mem::take(&mut self.insts);
        for inst in &mut insts[call + 1..] {
            inst.each_read(&mut |r| {
                if old.get(r.vreg()) == Some(&true) {
                    *r = *new[r.vreg()].get_or_insert_with(|| {
                        let to = self.reg(r.class());
                        moves.push(Inst::Move { from: *r, to });
                        to
                    });
                }
            });
        }
        self.insts = insts;
        self.insert_in_entry(call + 1, moves);
    }
}
