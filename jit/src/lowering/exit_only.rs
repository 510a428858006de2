//! What only side exits ask for.
//!
//! A snapshot keeps what the interpreter may read: pointers to elements that are accessed by their index, sums that are
//! made anew in the next round. Where nothing else asks for such a value, no round computes it: an exit computes it,
//! when it is taken, from the operands. So these are kept until there, and a value is only left to exits if that takes
//! no more room than it would take itself, all that is computed on the way included. What lives in outer loops as well
//! takes none. Sums of pointers are left to exits even if two operands must be kept for one sum: they are exact, and
//! take 20 instructions. A mask may take as many others as the target says ([`Forms`]): an exit makes it in the word that it
//! writes (`exit_masks`), so it is none that a register of a frame is to hold.

use super::exit_masks::{has_steps, mask_steps};
use super::{Forms, Layout, Values};
use crate::ir::{BlockId, End, Inst, Kind, Region, Type, Value};
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// By value: whether nothing but exits of guards, polls and other instructions asks for it, directly or by way of
/// others of its kind.
pub(super) fn exit_only(values: &Values<'_>, layout: &Layout, forms: &Forms) -> Vec<bool> {
    let (region, most_masks) = (values.region, forms.masks_of_one_at_exits);
    let mut taken_instead = HashMap::new();
    let mut allowed = vec![false; region.types.len()];
    for (id, inst) in layout.order.iter().flat_map(|&id| region.block(id).insts.iter().map(move |inst| (id, inst))) {
        if let Some(v) = inst.result {
            taken_instead.extend((forms.takes_instead)(values, id, inst).map(|taken| (v, taken)));
            let is_mask = most_masks != 0 && has_steps(values, inst);
            allowed[v.index()] = is_mask || can_be_left(region, inst);
        }
    }
    for exit in &region.exits {
        exit.whole_values().for_each(|v| allowed[v.index()] &= region.ty(v) != Type::MASK);
    }
    loop {
        let mut only = allowed.clone();
        layout.order.iter().rev().for_each(|&id| ask(region, id, &taken_instead, &mut only));
        if !forbid_roomy(values, layout, (&only, most_masks), &mut allowed) {
            return only;
        }
    }
}

/// Returns whether exits can compute an instruction: by its meaning, on operands that they can write to memory.
fn can_be_left(region: &Region, inst: &Inst) -> bool {
    let Kind::Op { op, .. } = inst.kind else { return false };
    let crosses_lanes = matches!(op, Op::Iota | Op::Shuffle | Op::Extract | Op::Insert);
    let is_bool = inst.result.is_none_or(|v| region.ty(v).ty == Ty::Bool);
    let mut all = inst.args.iter().chain(&inst.result).map(|&v| region.ty(v).ty);
    inst.kind.is_pure() && !crosses_lanes && !is_bool && all.all(|ty| ty != Ty::F16)
}

/// Takes out what a block asks for otherwise, be it in place of an operand. Blocks that come later have been asked before, so what
/// they want of this one is known.
fn ask(region: &Region, id: BlockId, taken_instead: &HashMap<Value, Vec<Value>>, only: &mut [bool]) {
    let block = region.block(id);
    let mut ask = |v: Value| only[v.index()] = false;
    block.end.edges().flat_map(|edge| &edge.args).copied().for_each(&mut ask);
    match block.end {
        End::Exit(exit) => region.exits[exit.index()].values().for_each(ask),
        End::Branch { cond, .. } => ask(cond),
        End::Jump(_) => {}
    }
    for inst in block.insts.iter().rev() {
        if !inst.result.is_some_and(|v| only[v.index()]) {
            let taken = inst.result.and_then(|v| taken_instead.get(&v)).unwrap_or(&inst.args);
            taken.iter().for_each(|arg| only[arg.index()] = false);
        }
        // What is written before a call is written each time.
        if let Kind::CallIndirect { exit } = inst.kind {
            region.exits[exit.index()].values().for_each(|v| only[v.index()] = false);
        }
    }
}

/// Forbids what would have exits keep more than there is to keep without them; returns whether there was something.
fn forbid_roomy(
    values: &Values<'_>,
    layout: &Layout,
    (only, most_masks): (&[bool], usize),
    allowed: &mut [bool],
) -> bool {
    let region = values.region;
    let depth = |v: Value| values.definition(v).block().map_or(0, |block| layout.depths[block.index()]);
    let mut leaves: Vec<Vec<Value>> = vec![Vec::new(); only.len()];
    let mut any = false;
    for inst in layout.order.iter().flat_map(|&id| &region.block(id).insts) {
        let Some(v) = inst.result.filter(|v| only[v.index()]) else { continue };
        let mut kept = Vec::new();
        for &arg in &inst.args {
            if only[arg.index()] && allowed[arg.index()] {
                kept.extend(leaves[arg.index()].iter().copied().filter(|&leaf| depth(leaf) >= depth(v)));
            } else if values.constant_lanes(arg).is_none() && depth(arg) >= depth(v) {
                kept.push(arg);
            }
        }
        kept.sort_unstable();
        kept.dedup();
        let is_sum = matches!(inst.kind, Kind::Op { op: Op::PAdd, .. });
        let fits = match region.ty(v) {
            Type::MASK => kept.len() <= most_masks && mask_steps(values, &|v| only[v.index()], v).is_some(),
            _ if is_sum => kept.len() <= 2,
            _ => takes_no_more(region, &kept, v),
        };
        if !fits {
            allowed[v.index()] = false;
            any = true;
        }
        leaves[v.index()] = kept;
    }
    any
}

/// Returns whether values take no more room than one that is computed from them: vectors, and general registers.
fn takes_no_more(region: &Region, kept: &[Value], v: Value) -> bool {
    let lanes = region.width.lanes();
    let room = |ty: Type| if ty.is_varying() { [lanes * ty.ty.size(), 0] } else { [0, 1] };
    let sum = |[a, b]: [usize; 2], [c, d]: [usize; 2]| [a + c, b + d];
    let [vectors, registers] = kept.iter().map(|&v| room(region.ty(v))).fold([0; 2], sum);
    vectors <= room(region.ty(v))[0] && registers <= 1
}
