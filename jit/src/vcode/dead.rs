//! Instructions that nobody reads are left out.
//!
//! What is dead in the trace IR has not been translated. But a vector there may be several here, of which not all are read: of a loop of
//! 16 elements at width 32, loads and stores take one half, and what is computed between them is computed of both. So this is the mark
//! phase of a collection: what exits write, and what instructions with effects read, is live, and so is what that is made of, over the
//! parameters of blocks as well. The rest goes, with the sums that loops hand on to nobody but themselves.

use super::Target;
use super::code::VCode;
use super::inst::{Inst, MachInst};
use regalloc2::{Function, OperandKind, VReg};

impl<T: Target> Inst<T> {
    /// The register that it makes, if it does nothing else.
    fn only_makes(&self) -> Option<VReg> {
        match self {
            Inst::Plain(plain) => plain.only_makes(),
            Inst::Zero(to) | Inst::Move { to, .. } => Some(*to),
            _ => None,
        }
    }
}

/// What makes a register.
#[derive(Clone, Copy)]
enum Maker {
    /// An instruction that does something else too, or none.
    Other,
    /// This instruction, which does nothing else.
    Inst(u32),
    /// A block, as its parameter of this number.
    Param(u32, u32),
}

impl<T: Target> VCode<T> {
    /// Leaves out the instructions, and the parameters of blocks, that nobody reads. Linear in the number of operands.
    pub(super) fn remove_dead(&mut self) {
        let live = self.live_registers();
        let is_live = |r: &VReg| live[r.vreg()];
        let kept: Vec<bool> = self.insts.iter().map(|inst| inst.only_makes().is_none_or(|r| is_live(&r))).collect();
        let params: Vec<Vec<bool>> = self.params.iter().map(|params| params.iter().map(is_live).collect()).collect();
        for inst in &mut self.insts {
            if let Inst::Jump(to, args) = inst {
                let mut stay = params[to.index()].iter();
                args.retain(|_| stay.next() != Some(&false));
            }
        }
        self.params.iter_mut().for_each(|params| params.retain(is_live));
        if kept.contains(&false) {
            self.retain(&kept);
        }
    }

    /// By register: whether anything with an effect depends on it.
    fn live_registers(&mut self) -> Vec<bool> {
        self.note_all_operands(self.insts.len());
        let mut makers = vec![Maker::Other; self.num_vregs()];
        for (block, params) in self.params.iter().enumerate() {
            for (i, r) in params.iter().enumerate() {
                makers[r.vreg()] = Maker::Param(block as u32, i as u32);
            }
        }
        let mut live = vec![false; self.num_vregs()];
        let mut work = Vec::new();
        let mut mark = |r: VReg, work: &mut Vec<VReg>| {
            if !std::mem::replace(&mut live[r.vreg()], true) {
                work.push(r);
            }
        };
        let read = |i: usize| {
            let operands = self.inst_operands(regalloc2::Inst::new(i)).iter();
            operands.filter(|o| o.kind() == OperandKind::Use).map(|o| o.vreg())
        };
        for (i, inst) in self.insts.iter().enumerate() {
            match inst.only_makes() {
                Some(r) => makers[r.vreg()] = Maker::Inst(i as u32),
                None => read(i).for_each(|r| mark(r, &mut work)),
            }
        }
        while let Some(r) = work.pop() {
            match makers[r.vreg()] {
                Maker::Other => {}
                Maker::Inst(i) => read(i as usize).for_each(|r| mark(r, &mut work)),
                Maker::Param(block, n) => {
                    for before in &self.preds[block as usize] {
                        if let Inst::Jump(_, args) = &self.insts[self.range(*before).end - 1] {
                            mark(args[n as usize], &mut work);
                        }
                    }
                }
            }
        }
        live
    }
}
