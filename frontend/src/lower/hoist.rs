//! Moves pure computations out of loops if what they read does not change in there.
//!
//! A loop is what lies between the target of a backward jump and the last such jump. Lowering makes loops contiguous and
//! enters them in one of two ways: from above into their first instruction, or by a jump that stands right in front of it
//! (to the test at the end). What is moved goes in front of that. Pure operations do not depend on the mask and cannot
//! trap, so that they are executed once more or less is no difference; only registers that are written once are moved.

use super::common::count_writes;
#[cfg(test)]
use super::common::targets;
use spmdvm_vm::Op;
use spmdvm_vm::isa::{Effect, Extra};
use spmdvm_vm::program::{Function, Inst};
use spmdvm_vm::stop::Stop;

/// Bound on the work: instructions times loops.
const MAX_WORK: usize = 1 << 22;

/// A loop: its first and last instruction.
#[derive(Clone, Copy, Debug)]
struct Loop {
    first: usize,
    last: usize,
}

/// Moves what can be moved, out of inner loops first.
pub(super) fn hoist(function: &mut Function, stop: &Stop) {
    let mut loops = find_loops(function);
    if loops.is_empty() || loops.len() * function.code.len() > MAX_WORK {
        return;
    }
    loops.sort_by_key(|l| l.last - l.first);
    let writes = count_writes(function);
    for at in 0..loops.len() {
        if stop.look() {
            return;
        }
        let Some(entry) = entry(function, loops[at]) else { continue };
        let moved = invariant(function, loops[at], &writes);
        if moved.is_empty() {
            continue;
        }
        let place = Move { entry, moved, within: loops[at] };
        place.apply(function);
        for l in &mut loops[at + 1..] {
            *l = Loop { first: place.index(l.first, false), last: place.index(l.last, false) };
        }
    }
}

fn find_loops(function: &Function) -> Vec<Loop> {
    let mut last = vec![None; function.code.len()];
    for (at, inst) in function.code.iter().enumerate() {
        if inst.op.info().sig.has_label() && inst.aux as usize <= at {
            last[inst.aux as usize] = Some(at);
        }
    }
    last.into_iter().enumerate().filter_map(|(first, last)| Some(Loop { first, last: last? })).collect()
}

/// Where to put what is moved: in front of the loop, before the jump into it if it is entered by one.
fn entry(function: &Function, l: Loop) -> Option<usize> {
    let inside = |at: usize| (l.first..=l.last).contains(&at);
    let before = l.first.checked_sub(1)?;
    let jumps_in = |(at, inst): (usize, &Inst)| {
        inst.op.info().sig.has_label() && inside(inst.aux as usize) && !inside(at) && at != before
    };
    if function.code.iter().enumerate().any(jumps_in) {
        return None;
    }
    let above = &function.code[before];
    let jumps = above.op.info().sig.has_label() && inside(above.aux as usize);
    match above.op {
        Op::Jmp if jumps => Some(before),
        Op::Jmp | Op::Ret | Op::SwitchBegin | Op::MaskBreak | Op::MaskContinue | Op::MaskReturn => None,
        _ if jumps => None,
        _ => Some(l.first),
    }
}

/// The instructions of a loop that give the same in every turn, in order.
fn invariant(function: &Function, l: Loop, writes: &[u32]) -> Vec<usize> {
    let mut changes = vec![false; function.regs.len()];
    let range = l.first..=l.last;
    for inst in &function.code[range.clone()] {
        if !inst.dst.is_none() {
            changes[inst.dst.index()] = true;
        }
        if inst.rets.len > 0 {
            function.list(inst.rets).iter().for_each(|r| changes[r.index()] = true);
        }
    }
    let mut moved = Vec::new();
    for at in range {
        let inst = &function.code[at];
        let info = inst.op.info();
        let pure = info.effect == Effect::Pure && !info.sig.dst_is_read && info.sig.extra == Extra::None;
        if pure
            && writes[inst.dst.index()] == 1
            && inst.src.iter().all(|r| r.is_none() || !changes[r.index()])
            && !function.results.contains(&inst.dst)
        {
            changes[inst.dst.index()] = false;
            moved.push(at);
        }
    }
    moved
}

/// Instructions that go from within a loop to its entry.
struct Move {
    entry: usize,
    moved: Vec<usize>,
    within: Loop,
}

impl Move {
    /// The new index of an instruction. A jump to the entry gets to what was moved there, unless it is one `from_within`,
    /// that starts another turn.
    fn index(&self, old: usize, from_within: bool) -> usize {
        let passes = old > self.entry || (old == self.entry && from_within);
        if !passes {
            return old;
        }
        old + self.moved.len() - self.moved.partition_point(|&at| at < old)
    }

    fn apply(&self, function: &mut Function) {
        let starts_turn = self.entry == self.within.first;
        for (at, inst) in function.code.iter_mut().enumerate() {
            if inst.op.info().sig.has_label() {
                let from_within = starts_turn && (self.within.first..=self.within.last).contains(&at);
                inst.aux = self.index(inst.aux as usize, from_within) as u32;
            }
        }
        reorder(&mut function.code, self.entry, &self.moved);
        reorder(&mut function.spans, self.entry, &self.moved);
    }
}

/// Moves elements to a place in front of them.
fn reorder<T: Copy>(list: &mut Vec<T>, to: usize, moved: &[usize]) {
    let mut tail: Vec<T> = moved.iter().map(|&at| list[at]).collect();
    let mut next = moved.iter().peekable();
    for (at, &item) in list.iter().enumerate().skip(to) {
        if next.next_if(|&&m| m == at).is_none() {
            tail.push(item);
        }
    }
    list.truncate(to);
    list.extend(tail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::{FunctionBuilder, Shape, Ty};

    #[test]
    fn invariant_code_goes_in_front_of_the_jump_into_the_loop() {
        let mut b = FunctionBuilder::new("f");
        let n = b.param(Shape::Uniform, Ty::I32, "n");
        let (zero, one) = (b.constant(Ty::I32, 0), b.constant(Ty::I32, 1));
        let i = b.named(Shape::Uniform, Ty::I32, "i");
        b.mov(i, zero);
        let (body, test) = (b.label(), b.label());
        b.control(Op::Jmp, None, test);
        b.bind(body);
        let next = b.binary(Op::Add, Ty::I32, i, one);
        b.mov(i, next);
        b.bind(test);
        let end = b.binary(Op::Mul, Ty::I32, n, n);
        let more = b.binary(Op::Lt, Ty::I32, i, end);
        b.control(Op::BrTrue, Some(more), body);
        b.result(i);
        b.ret();
        let mut f = b.finish();
        hoist(&mut f, &Stop::never());
        let ops: Vec<Op> = f.code.iter().map(|inst| inst.op).collect();
        assert_eq!(ops, [Op::Mov, Op::Mul, Op::Jmp, Op::Add, Op::Mov, Op::Lt, Op::BrTrue, Op::Ret]);
        assert_eq!((f.code[2].aux, f.code[6].aux), (5, 3));
        assert!(targets(&f)[5]);
    }
}
