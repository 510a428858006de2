//! What every reader of bytecode asks of an instruction: where control goes on, which registers it reads and writes.

use crate::isa::Op;
use crate::program::{Function, Inst, List, Reg};

/// Returns whether control ever goes on to the next instruction.
pub fn falls_through(op: Op) -> bool {
    !matches!(op, Op::Ret | Op::Jmp | Op::SwitchBegin | Op::MaskBreak | Op::MaskContinue | Op::MaskReturn)
}

/// An edge of the control-flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The instruction it leads to.
    pub to: usize,
    /// Whether it is the jump, not the way to the next instruction.
    pub jumps: bool,
}

/// The edges that leave an instruction of a function whose labels are in range.
pub fn edges(code: &[Inst], at: usize) -> impl Iterator<Item = Edge> + use<> {
    let inst = &code[at];
    let next = (falls_through(inst.op) && at + 1 < code.len()).then_some(Edge { to: at + 1, jumps: false });
    let jump = inst.op.info().sig.has_label().then_some(Edge { to: inst.aux as usize, jumps: true });
    next.into_iter().chain(jump)
}

/// Of every instruction those from which it is reached.
pub fn predecessors(code: &[Inst]) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); code.len()];
    for at in 0..code.len() {
        edges(code, at).for_each(|edge| before[edge.to].push(at as u32));
    }
    before
}

/// Calls `visit` with every register the instruction reads.
pub fn each_read(f: &Function, inst: &Inst, mut visit: impl FnMut(Reg)) {
    for r in inst.src.into_iter().filter(|r| !r.is_none()) {
        visit(r);
    }
    if inst.op.info().sig.dst_is_read && !inst.dst.is_none() {
        visit(inst.dst);
    }
    list(f, inst.args).iter().copied().for_each(&mut visit);
    if inst.op == Op::Ret {
        f.results.iter().copied().for_each(&mut visit);
    }
}

/// Calls `visit` with every register the instruction writes on the given way out: a jump comes before the write.
pub fn each_written(f: &Function, inst: &Inst, jumps: bool, mut visit: impl FnMut(Reg)) {
    if !inst.dst.is_none() && !jumps {
        visit(inst.dst);
    }
    list(f, inst.rets).iter().copied().for_each(&mut visit);
}

fn list(f: &Function, list: List) -> &[Reg] {
    if list.len == 0 { &[] } else { f.list(list) }
}
