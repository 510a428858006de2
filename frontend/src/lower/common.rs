//! Removes pure instructions that compute again what a register holds already, within straight-line code.
//!
//! Pure operations compute every lane whatever the mask, so mask operations in between do not matter; a label does, because
//! control may come from elsewhere. Only registers that are written once in the function take part: the later one is then
//! the earlier one under another name.

use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::Op;
use spmdvm_vm::isa::{Effect, Extra};
use spmdvm_vm::program::{Function, Inst, Reg};
use spmdvm_vm::stop::Stop;
use std::sync::Arc;

/// Bound on the work for each instruction.
const MAX_KNOWN: usize = 256;

/// What an instruction computes.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    ty: spmdvm_vm::Ty,
    from: spmdvm_vm::Ty,
    src: [Reg; 3],
    aux: u32,
    imm: i64,
}

/// Number of times each register is written, parameters and constants included.
pub(super) fn count_writes(function: &Function) -> Vec<u32> {
    let mut writes = vec![0; function.regs.len()];
    (0..function.n_params).for_each(|r| writes[r as usize] += 1);
    function.consts.iter().for_each(|c| writes[c.0.index()] += 1);
    for inst in &function.code {
        if !inst.dst.is_none() {
            writes[inst.dst.index()] += 1;
        }
        if inst.rets.len > 0 {
            function.list(inst.rets).iter().for_each(|r| writes[r.index()] += 1);
        }
    }
    writes
}

/// Instructions that are jumped to.
pub(super) fn targets(function: &Function) -> Vec<bool> {
    let mut targets = vec![false; function.code.len() + 1];
    for inst in function.code.iter().filter(|inst| inst.op.info().sig.has_label()) {
        targets[inst.aux as usize] = true;
    }
    targets
}

/// Unites equal computations; the instructions that are not needed any more are left for others to remove.
pub(super) fn unite(function: &mut Function, stop: &Stop) {
    let writes = count_writes(function);
    let targets = targets(function);
    let mut renamed: HashMap<Reg, Reg> = HashMap::new();
    let mut known: HashMap<Key, Reg> = HashMap::new();
    for (at, is_target) in targets.iter().enumerate().take(function.code.len()) {
        if stop.poll() {
            return;
        }
        if *is_target || known.len() > MAX_KNOWN {
            known.clear();
        }
        let inst = &mut function.code[at];
        for r in &mut inst.src {
            *r = renamed.get(r).copied().unwrap_or(*r);
        }
        let inst = *inst;
        if is_candidate(function, &inst, &writes) {
            let key = Key { op: inst.op, ty: inst.ty, from: inst.from, src: inst.src, aux: inst.aux, imm: inst.imm };
            if let Some(&earlier) = known.get(&key) {
                if function.reg(inst.dst).name.is_none() || function.reg(earlier).name.is_none() {
                    take_name(function, inst.dst, earlier);
                    renamed.insert(inst.dst, earlier);
                }
            } else {
                known.insert(key, inst.dst);
            }
        }
        let mut written = |r: Reg| {
            // What was computed from the old value is not what would be computed now.
            if writes[r.index()] > 1 {
                known.retain(|key, _| !key.src.contains(&r));
            }
        };
        if !inst.dst.is_none() {
            written(inst.dst);
        }
        if inst.rets.len > 0 {
            function.list(inst.rets).iter().copied().for_each(&mut written);
        }
    }
    if renamed.is_empty() {
        return;
    }
    let rename = |r: &mut Reg| *r = renamed.get(r).copied().unwrap_or(*r);
    for inst in &mut function.code {
        inst.src.iter_mut().for_each(rename);
    }
    let mut is_ret = vec![false; function.pool.len()];
    for inst in function.code.iter().filter(|inst| inst.rets.len > 0) {
        is_ret[inst.rets.start as usize..][..inst.rets.len as usize].fill(true);
    }
    Arc::make_mut(&mut function.pool).iter_mut().zip(is_ret).filter(|(_, is_ret)| !is_ret).for_each(|(r, _)| rename(r));
    function.results.iter_mut().for_each(rename);
}

fn is_candidate(function: &Function, inst: &Inst, writes: &[u32]) -> bool {
    let info = inst.op.info();
    let pure = info.effect == Effect::Pure && !info.sig.dst_is_read && info.sig.extra == Extra::None;
    // A copy of a register that is written again is there for a reason.
    let copies = inst.op == Op::Mov && function.reg(inst.dst).shape == function.reg(inst.src[0]).shape;
    pure && !copies && !inst.dst.is_none() && writes[inst.dst.index()] == 1 && !function.results.contains(&inst.dst)
}

fn take_name(function: &mut Function, from: Reg, to: Reg) {
    if function.reg(to).name.is_none() {
        Arc::make_mut(&mut function.regs)[to.index()].name = function.reg(from).name.clone();
    }
}
