//! Control: jumps and the mask stack, as the table in `docs/internals/bytecode.md` puts it.

use super::{Frame, Oracle, Run};
use spmdvm_vm::program::Inst;
use spmdvm_vm::verify::EntryKind;
use spmdvm_vm::{Op, Ty, sem};

pub struct Entry {
    kind: EntryKind,
    restore: Vec<bool>,
    other: Vec<bool>,
}

pub fn to_bits(set: &[bool]) -> u64 {
    set.iter().enumerate().map(|(l, &on)| (on as u64) << l).sum()
}

fn and(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(&a, &b)| a && b).collect()
}

fn or(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(&a, &b)| a || b).collect()
}

fn without(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(&a, &b)| a && !b).collect()
}

/// Where leaving lanes go.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Break,
    Continue,
    Return,
}

fn leave(frame: &mut Frame<'_>, lanes: Vec<bool>, way: Way) {
    use EntryKind::*;
    frame.mask = without(&frame.mask, &lanes);
    let mut lanes = lanes;
    for entry in frame.stack.iter_mut().rev() {
        let is_target = match way {
            Way::Break => matches!(entry.kind, Loop | Switch | Each),
            Way::Continue => matches!(entry.kind, Loop | Each),
            Way::Return => false,
        };
        if is_target {
            if way == Way::Continue && entry.kind == Loop {
                entry.other = or(&entry.other, &lanes);
            }
            if way == Way::Break && entry.kind == Each && lanes.contains(&true) {
                entry.other.fill(false);
            }
            return;
        }
        // A lane that was inactive outside cannot leave anything outside.
        if matches!(entry.kind, Every | Each) {
            lanes = and(&lanes, &entry.restore);
        }
        entry.restore = without(&entry.restore, &lanes);
        entry.other = without(&entry.other, &lanes);
    }
}

impl Oracle<'_> {
    pub(super) fn control(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<usize> {
        let target = inst.aux as usize;
        let next = frame.pc + 1;
        let holding = || frame.holding(inst.src[0]);
        match inst.op {
            Op::Jmp => return self.jump(frame, target),
            Op::BrTrue | Op::BrFalse => {
                let taken = (frame.get(inst.src[0], 0) != 0) == (inst.op == Op::BrTrue);
                return if taken { self.jump(frame, target) } else { Ok(next) };
            }
            Op::LoopBack => {
                if !frame.mask.contains(&true) {
                    return Ok(next);
                }
                self.tick(frame)?;
                return Ok(target);
            }
            Op::EachLane | Op::EachAll | Op::EachUnique => return self.turn(frame, inst),
            Op::SwitchBegin => {
                let all = frame.mask.clone();
                frame.mask.fill(false);
                frame.stack.push(Entry { kind: EntryKind::Switch, restore: all.clone(), other: all });
                return Ok(target);
            }
            Op::LoopBegin => self.push(frame, EntryKind::Loop),
            Op::Everywhere => {
                self.push(frame, EntryKind::Every);
                frame.mask.fill(true);
            }
            Op::EachBegin => {
                self.push(frame, EntryKind::Each);
                let waiting = frame.mask.clone();
                top(frame).other = waiting;
            }
            Op::MaskIf => {
                let kept = holding();
                self.push(frame, EntryKind::If);
                let waiting = without(&frame.mask, &kept);
                top(frame).other = waiting;
                frame.mask = kept;
            }
            Op::MaskElse => {
                frame.mask = std::mem::replace(&mut top(frame).other, vec![false; self.lanes]);
            }
            Op::LoopTest => frame.mask = holding(),
            Op::LoopNext => {
                let back = std::mem::replace(&mut top(frame).other, vec![false; self.lanes]);
                frame.mask = or(&frame.mask, &back);
            }
            Op::SwitchCase => {
                let condition: Vec<bool> = (0..self.lanes).map(|l| frame.get(inst.src[0], l) != 0).collect();
                let joining = and(&top(frame).other, &condition);
                let entry = top(frame);
                entry.other = without(&entry.other, &condition);
                frame.mask = or(&frame.mask, &joining);
            }
            Op::MaskEndif | Op::LoopEnd | Op::SwitchEnd | Op::EverywhereEnd | Op::EachEnd => {
                frame.mask = frame.stack.pop().expect("an entry").restore;
            }
            Op::MaskBreak => leave(frame, frame.mask.clone(), Way::Break),
            Op::MaskContinue => leave(frame, frame.mask.clone(), Way::Continue),
            Op::MaskReturn => leave(frame, frame.mask.clone(), Way::Return),
            Op::MaskBreakIf => leave(frame, frame.holding(inst.src[0]), Way::Break),
            Op::MaskContinueIf => leave(frame, frame.holding(inst.src[0]), Way::Continue),
            Op::MaskReturnIf => leave(frame, frame.holding(inst.src[0]), Way::Return),
            op => unreachable!("{op:?} is no control"),
        }
        let empty = !frame.mask.contains(&true);
        Ok(if inst.op.info().sig.has_label() && empty { target } else { next })
    }

    fn push(&self, frame: &mut Frame<'_>, kind: EntryKind) {
        frame.stack.push(Entry { kind, restore: frame.mask.clone(), other: vec![false; self.lanes] });
    }

    /// A uniform jump, which counts fuel if it goes backward.
    fn jump(&mut self, frame: &Frame<'_>, target: usize) -> Run<usize> {
        if target <= frame.pc {
            self.tick(frame)?;
        }
        Ok(target)
    }

    /// The next turn of an Each loop.
    fn turn(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<usize> {
        let waiting = top(frame).other.clone();
        let Some(lowest) = waiting.iter().position(|&w| w) else {
            frame.mask.fill(false);
            return Ok(inst.aux as usize);
        };
        self.tick(frame)?;
        let mut turn = vec![false; self.lanes];
        turn[lowest] = true;
        let mut result = lowest as u64;
        if inst.op == Op::EachUnique {
            result = frame.get(inst.src[0], lowest);
            for l in lowest..self.lanes {
                let equal = equal(inst.ty, frame.get(inst.src[0], l), result);
                turn[l] |= waiting[l] && equal;
            }
        }
        top(frame).other = without(&waiting, &turn);
        frame.mask = if inst.op == Op::EachAll { vec![true; self.lanes] } else { turn };
        frame.regs[inst.dst.index()] = vec![result];
        Ok(frame.pc + 1)
    }
}

fn equal(ty: Ty, a: u64, b: u64) -> bool {
    sem::eval(Op::Eq, ty, ty, [a, b, 0]) == Some(1)
}

fn top<'a>(frame: &'a mut Frame<'_>) -> &'a mut Entry {
    frame.stack.last_mut().expect("the verifier proved that there is an entry")
}
