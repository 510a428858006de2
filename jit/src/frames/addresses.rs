//! Which registers hold addresses in which roots, and which roots escape.
//!
//! Flow-insensitive: a [`PointsTo`] joins all that is ever written to the register. An address may be moved, selected, added to,
//! compared, used as the base of an access, and handed to functions whose parameter does not escape. Whatever else reads it
//! (a store of it, a result, a conversion, a task) lets it escape, and so does a register that could hold addresses in
//! two roots.

use super::{PointsTo, Root};
use spmdvm_vm::flow::each_read;
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::program::{FuncId, Function, Inst, Reg};
use spmdvm_vm::types::Ty;

/// What is known so far of a function's registers and roots.
#[derive(Default)]
pub(super) struct Addresses {
    points_to: Vec<PointsTo>,
    /// The frame, then the parameters.
    escaped: Vec<bool>,
}

impl Addresses {
    /// Nothing but what parameters and constants are.
    pub fn new(f: &Function) -> Addresses {
        let mut points_to = vec![PointsTo::Unset; f.regs.len()];
        for i in 0..f.n_params {
            let is_pointer = f.regs[i as usize].ty == Ty::U64;
            points_to[i as usize] = if is_pointer { PointsTo::At(Root::Param(i), 0) } else { PointsTo::Other };
        }
        for &(r, _) in f.consts.iter() {
            points_to[r.index()] = PointsTo::Other;
        }
        Addresses { points_to, escaped: vec![false; f.n_params as usize + 1] }
    }

    /// What a register holds.
    pub fn points_to(&self, r: Reg) -> PointsTo {
        if r.is_none() { PointsTo::Other } else { self.points_to[r.index()] }
    }

    /// Returns whether an address in the root can be anywhere but where it is seen.
    pub fn escapes(&self, root: Root) -> bool {
        self.escaped[slot(root)]
    }

    /// Returns whether the root is the frame, or a parameter that can hold a pointer.
    pub fn leads(&self, root: Root) -> bool {
        match root {
            Root::Frame => true,
            Root::Param(i) => !matches!(self.points_to[i as usize], PointsTo::Unset | PointsTo::Other),
        }
    }

    /// Goes over the code until nothing changes, with what is known of the parameters of other functions; tells whether
    /// anything did.
    pub fn improve(&mut self, own: FuncId, f: &Function, escapes: impl Fn(FuncId, u32) -> bool) -> bool {
        let mut ever = false;
        loop {
            let mut changed = false;
            for inst in &f.code {
                changed |= self.write(f, inst);
                changed |= self.read(own, f, inst, &escapes);
            }
            if !changed {
                return ever;
            }
            ever = true;
        }
    }

    /// Takes in what an instruction writes.
    fn write(&mut self, f: &Function, inst: &Inst) -> bool {
        let mut changed = false;
        if inst.rets.len != 0 {
            for &r in f.list(inst.rets) {
                changed |= self.join(r, PointsTo::Other);
            }
        }
        if inst.dst.is_none() {
            return changed;
        }
        let new = match inst.op {
            Op::FrameAddr => PointsTo::At(Root::Frame, inst.imm),
            Op::Mov | Op::Assign => self.points_to(inst.src[0]),
            Op::Select => {
                changed |= self.join(inst.dst, self.points_to(inst.src[1]));
                self.points_to(inst.src[2])
            }
            Op::PAdd => match (self.points_to(inst.src[0]), f.constant_bits(inst.src[1])) {
                (PointsTo::At(root, offset), Some(more)) => {
                    offset.checked_add(more as i64).map_or(PointsTo::In(root), |sum| PointsTo::At(root, sum))
                }
                (PointsTo::At(root, _), None) => PointsTo::In(root),
                (to, _) => to,
            },
            _ => PointsTo::Other,
        };
        changed | self.join(inst.dst, new)
    }

    /// Takes in that an instruction reads addresses.
    fn read(&mut self, own: FuncId, f: &Function, inst: &Inst, escapes: &impl Fn(FuncId, u32) -> bool) -> bool {
        let mut changed = false;
        let free: &[Reg] = match inst.op {
            Op::Mov | Op::Assign | Op::Load | Op::LoadLane | Op::Store | Op::StoreLane | Op::PAdd | Op::MemSet => {
                &inst.src[..1]
            }
            Op::MemCopy => &inst.src[..2],
            Op::Select => &inst.src[1..],
            _ if inst.op.info().form == Form::Compare => return false,
            Op::Call => {
                let callee = FuncId(inst.aux);
                for (i, &arg) in f.list(inst.args).iter().enumerate() {
                    let i = i as u32;
                    let gets_away = if callee == own { self.escapes(Root::Param(i)) } else { escapes(callee, i) };
                    if gets_away {
                        changed |= self.escape(self.points_to(arg));
                    }
                }
                return changed;
            }
            _ => &[],
        };
        // An `assign` keeps what other lanes of the register hold, which is that register's own affair.
        let mut lost = Vec::new();
        each_read(f, inst, |r| {
            if !(free.contains(&r) || inst.op == Op::Assign && r == inst.dst) {
                lost.push(r);
            }
        });
        // The same register may be read both ways.
        let both = matches!(inst.op, Op::Store | Op::StoreLane).then_some(inst.src[2]);
        lost.extend(both.filter(|r| !r.is_none()));
        lost.into_iter().fold(changed, |changed, r| self.escape(self.points_to(r)) || changed)
    }

    fn escape(&mut self, to: PointsTo) -> bool {
        match to {
            PointsTo::At(root, _) | PointsTo::In(root) => !std::mem::replace(&mut self.escaped[slot(root)], true),
            PointsTo::Unset | PointsTo::Other | PointsTo::Many => false,
        }
    }

    fn join(&mut self, r: Reg, new: PointsTo) -> bool {
        use PointsTo::*;
        let old = self.points_to[r.index()];
        let joined = match (old, new) {
            (Unset, x) | (x, Unset) => x,
            (a, b) if a == b => a,
            (Many, other) | (other, Many) => {
                self.escape(other);
                Many
            }
            (At(a, _) | In(a), Other) | (Other, At(a, _) | In(a)) => In(a),
            (At(a, _) | In(a), At(b, _) | In(b)) if a == b => In(a),
            (At(..) | In(_), At(..) | In(_)) => {
                self.escape(old);
                self.escape(new);
                Many
            }
            (Other, Other) => Other,
        };
        self.points_to[r.index()] = joined;
        joined != old
    }
}

fn slot(root: Root) -> usize {
    match root {
        Root::Frame => 0,
        Root::Param(i) => i as usize + 1,
    }
}
