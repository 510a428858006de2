//! After a function is lowered: removes code that is not reached, pure instructions whose result nobody reads, and
//! registers that are not used.

use spmdvm_vm::isa::Effect;
use spmdvm_vm::program::{Function, Inst, List, Reg};
use spmdvm_vm::stop::Stop;
use spmdvm_vm::{Op, Shape};

/// Tidies a function. It is left as it is, sound or not, if the work is called off. What has a name may be kept
/// though nobody reads it.
pub(super) fn tidy(function: &mut Function, keep_named: bool, stop: &Stop) {
    // Removing a jump's target may leave a jump to the next instruction.
    for _ in 0..2 {
        let keep = reachable(function);
        remove(function, &keep);
    }
    super::common::unite(function, stop);
    super::hoist::hoist(function, stop);
    super::common::unite(function, stop);
    if stop.look() {
        return;
    }
    let keep = needed(function, keep_named);
    remove(function, &keep);
    renumber(function);
}

fn falls_through(op: Op) -> bool {
    !matches!(op, Op::Ret | Op::Jmp | Op::SwitchBegin | Op::MaskBreak | Op::MaskContinue | Op::MaskReturn)
}

fn reachable(function: &Function) -> Vec<bool> {
    let n = function.code.len();
    let mut reached = vec![false; n];
    let mut todo = vec![0];
    while let Some(at) = todo.pop() {
        if at >= n || std::mem::replace(&mut reached[at], true) {
            continue;
        }
        let inst = &function.code[at];
        if inst.op.info().sig.has_label() {
            todo.push(inst.aux as usize);
        }
        if falls_through(inst.op) {
            todo.push(at + 1);
        }
    }
    // Jumps to the next instruction do nothing.
    for (at, inst) in function.code.iter().enumerate() {
        reached[at] &= inst.op != Op::Jmp || inst.aux as usize != at + 1;
    }
    reached
}

/// Calls `visit` with every register that an instruction reads, except what it overwrites.
fn reads(function: &Function, inst: &Inst, mut visit: impl FnMut(Reg)) {
    inst.src.into_iter().filter(|r| !r.is_none()).for_each(&mut visit);
    list(function, inst.args).iter().copied().for_each(&mut visit);
}

fn list(function: &Function, list: List) -> &[Reg] {
    if list.len == 0 { &[] } else { function.list(list) }
}

fn is_removable(inst: &Inst) -> bool {
    matches!(inst.op.info().effect, Effect::Pure | Effect::Mask) && !inst.dst.is_none()
}

fn needed(function: &Function, keep_named: bool) -> Vec<bool> {
    let mut uses: Vec<u32> = function.regs.iter().map(|reg| (keep_named && reg.name.is_some()) as u32).collect();
    function.results.iter().for_each(|r| uses[r.index()] += 1);
    let mut writers: Vec<Vec<u32>> = vec![Vec::new(); function.regs.len()];
    for (at, inst) in function.code.iter().enumerate() {
        reads(function, inst, |r| uses[r.index()] += 1);
        if is_removable(inst) {
            writers[inst.dst.index()].push(at as u32);
        }
    }
    let mut keep = vec![true; function.code.len()];
    let mut todo: Vec<usize> = (0..uses.len()).filter(|&r| uses[r] == 0).collect();
    while let Some(r) = todo.pop() {
        for at in std::mem::take(&mut writers[r]) {
            keep[at as usize] = false;
            reads(function, &function.code[at as usize], |source| {
                uses[source.index()] -= 1;
                if uses[source.index()] == 0 {
                    todo.push(source.index());
                }
            });
        }
    }
    for (at, inst) in function.code.iter().enumerate() {
        let moves_itself = inst.op == Op::Mov && inst.dst == inst.src[0];
        keep[at] &= !moves_itself;
    }
    keep
}

/// Keeps the marked instructions; jumps to others go to what comes after them.
fn remove(function: &mut Function, keep: &[bool]) {
    if keep.iter().all(|&k| k) {
        return;
    }
    let mut new_index = Vec::with_capacity(keep.len() + 1);
    let mut n = 0;
    for &k in keep {
        new_index.push(n);
        n += u32::from(k);
    }
    new_index.push(n);
    let mut at = 0;
    function.spans.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    at = 0;
    function.code.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    for inst in function.code.iter_mut().filter(|inst| inst.op.info().sig.has_label()) {
        inst.aux = new_index[(inst.aux as usize).min(keep.len())];
    }
}

/// Drops registers that nothing mentions and pool entries that no list holds.
fn renumber(function: &mut Function) {
    let mut used = vec![false; function.regs.len()];
    used[..function.n_params as usize].fill(true);
    function.results.iter().for_each(|r| used[r.index()] = true);
    let mut pool = Vec::new();
    let mut lists = Vec::new();
    for inst in &function.code {
        let mut mark = |r: Reg| used[r.index()] = true;
        inst.src.into_iter().chain([inst.dst]).filter(|r| !r.is_none()).for_each(&mut mark);
        let mut take = |l: List| {
            let start = pool.len() as u32;
            pool.extend_from_slice(list(function, l));
            pool[start as usize..].iter().copied().for_each(&mut mark);
            List { start: if l.len == 0 { 0 } else { start }, len: l.len }
        };
        lists.push((take(inst.args), take(inst.rets)));
    }
    let mut new_index = vec![Reg::NONE; used.len()];
    let mut regs = Vec::new();
    for (at, decl) in function.regs.iter().enumerate().filter(|(at, _)| used[*at]) {
        new_index[at] = Reg(regs.len() as u32);
        regs.push(decl.clone());
    }
    let rename = |r: &mut Reg| {
        if !r.is_none() {
            *r = new_index[r.index()];
        }
    };
    for (inst, (args, rets)) in function.code.iter_mut().zip(lists) {
        inst.src.iter_mut().for_each(rename);
        rename(&mut inst.dst);
        (inst.args, inst.rets) = (args, rets);
    }
    pool.iter_mut().for_each(rename);
    function.results.iter_mut().for_each(rename);
    let consts = function.consts.iter().filter(|c| used[c.0.index()]);
    function.consts = consts.map(|&(r, bits)| (new_index[r.index()], bits)).collect();
    function.regs = regs.into();
    function.pool = pool.into();
    debug_assert!(function.consts.iter().all(|c| function.reg(c.0).shape == Shape::Uniform));
}
