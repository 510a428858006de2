//! New registers after the calls of the entry block.
//!
//! The allocator cuts the life of a register only a few times. What several calls have cut would stay in memory and be loaded
//! wherever it is used, in the innermost loop too. So what was computed before the last call that loses registers moves to a
//! new one after it. Exits keep naming the old one: they find it in memory, and the new one lives no longer for them.

use super::flow::{Arg, Base, Flow, Inst, Mem};
use regalloc2::{Function, OperandKind, VReg};

impl Flow {
    /// Gives what was computed before the last call that loses registers new ones after it.
    pub fn renew(&mut self) {
        let Some(call) = self.last_losing_call() else { return };
        let mut old = vec![false; self.num_vregs()];
        let defs = self.operands_until(call).iter().filter(|o| o.kind() == OperandKind::Def);
        defs.for_each(|o| old[o.vreg().vreg()] = true);
        let mut new: Vec<Option<VReg>> = vec![None; old.len()];
        let mut moves = Vec::new();
        let mut insts = std::mem::take(&mut self.insts);
        for inst in &mut insts[call + 1..] {
            inst.each_read(|r| {
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

impl Inst {
    /// Visits the registers that an instruction reads, but for those that exits write.
    fn each_read(&mut self, mut f: impl FnMut(&mut VReg)) {
        match self {
            Inst::Plain(plain) => {
                for arg in plain.args.iter_mut().flatten() {
                    match arg {
                        Arg::Use(r, _) | Arg::Tied { from: r, .. } | Arg::Both { use_: r, .. } => f(r),
                        Arg::Mem(Mem { base, index, .. }) => {
                            if let Base::Reg(r) = base {
                                f(r);
                            }
                            index.iter_mut().for_each(&mut f);
                        }
                        Arg::Def(..) | Arg::Imm(..) | Arg::Fixed(_) => {}
                    }
                }
                plain.mask.iter_mut().for_each(f);
            }
            Inst::Move { from, .. } => f(from),
            Inst::Jump(_, args) => args.iter_mut().for_each(f),
            _ => {}
        }
    }
}
