//! Random control: every construct of the mask stack, uniform branches and loops, and the ways out of them.

use super::function::FunctionGenerator;
use spmdvm_vm::builder::Label;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{Inst, Reg};
use spmdvm_vm::types::{Shape, Ty};
use spmdvm_vm::verify::EntryKind;

/// Loops run at most so often.
const MAX_TRIPS: u64 = 3;

impl FunctionGenerator<'_> {
    pub(super) fn construct(&mut self) {
        match self.g.rng.weighted(&[6, 2, 2, 4, 2, 2, 3]) {
            0 => self.masked_if(),
            1 => self.uniform_if(),
            2 => self.uniform_loop(),
            3 => self.masked_loop(),
            4 => self.switch(),
            5 => self.everywhere(),
            _ => self.each(),
        }
    }

    /// An operation with a label that jumps when no lane is left.
    fn mask_op(&mut self, op: Op, condition: Option<Reg>, label: Label) {
        self.b.control(op, condition, label);
        self.cost += self.weight;
    }

    /// Statements inside an entry of the mask stack.
    fn inside(&mut self, kind: EntryKind, on_empty: Label, times: u64) {
        self.entries.push(kind);
        self.region(on_empty, times);
        self.entries.pop();
    }

    fn masked_if(&mut self) {
        let condition = self.condition();
        let (else_part, end) = (self.b.label(), self.b.label());
        self.mask_op(Op::MaskIf, Some(condition), else_part);
        self.inside(EntryKind::If, else_part, 1);
        self.b.bind(else_part);
        if self.g.rng.chance(1, 2) {
            self.mask_op(Op::MaskElse, None, end);
            self.inside(EntryKind::If, end, 1);
        }
        self.b.bind(end);
        self.mask_op(Op::MaskEndif, None, self.on_empty);
    }

    fn uniform_condition(&mut self) -> Reg {
        if self.g.rng.chance(1, 2) {
            return self.operand(Ty::Bool, Some(Shape::Uniform));
        }
        let v = self.condition();
        let r = self.b.reg(Shape::Uniform, Ty::Bool);
        let op = *self.g.rng.pick(&[Op::Any, Op::All]);
        self.push(Inst { dst: r, src: [v, Reg::NONE, Reg::NONE], ..Inst::new(op, Ty::Bool) });
        r
    }

    fn uniform_if(&mut self) {
        let condition = self.uniform_condition();
        let (else_part, end) = (self.b.label(), self.b.label());
        let op = if self.g.rng.chance(1, 2) { Op::BrFalse } else { Op::BrTrue };
        self.mask_op(op, Some(condition), else_part);
        if self.region(self.on_empty, 1) {
            self.mask_op(Op::Jmp, None, end);
        }
        self.b.bind(else_part);
        self.region(self.on_empty, 1);
        self.b.bind(end);
    }

    /// A counter that no other statement writes, at 0.
    fn counter(&mut self, shape: Shape) -> Reg {
        let zero = self.b.constant(Ty::I32, 0);
        let r = self.b.reg(shape, Ty::I32);
        self.b.mov(r, zero);
        r
    }

    fn uniform_loop(&mut self) {
        let counter = self.counter(Shape::Uniform);
        let trips = 1 + self.g.rng.next() % MAX_TRIPS;
        let (limit, one) = (self.b.constant(Ty::I32, trips), self.b.constant(Ty::I32, 1));
        let (head, end) = (self.b.label(), self.b.label());
        self.b.bind(head);
        let condition = self.b.binary(Op::Lt, Ty::I32, counter, limit);
        self.mask_op(Op::BrFalse, Some(condition), end);
        self.push(Inst { dst: counter, src: [counter, one, Reg::NONE], ..Inst::new(Op::Add, Ty::I32) });
        if self.region(self.on_empty, trips) {
            self.mask_op(Op::Jmp, None, head);
        }
        self.b.bind(end);
    }

    /// A loop whose lanes run different numbers of times, tested at its head or at its foot.
    fn masked_loop(&mut self) {
        let counter = self.counter(Shape::Varying);
        let limit = self.operand(Ty::I32, Some(Shape::Varying));
        let (most, one) = (self.b.constant(Ty::I32, MAX_TRIPS), self.b.constant(Ty::I32, 1));
        let limit = self.b.binary(Op::And, Ty::I32, limit, most);
        let (head, next, end) = (self.b.label(), self.b.label(), self.b.label());
        let at_head = self.g.rng.chance(2, 3);
        self.b.plain(Op::LoopBegin);
        self.b.bind(head);
        if at_head {
            let condition = self.b.binary(Op::Lt, Ty::I32, counter, limit);
            let label = if self.g.rng.chance(1, 2) { next } else { end };
            self.mask_op(Op::LoopTest, Some(condition), label);
        }
        self.inside(EntryKind::Loop, next, MAX_TRIPS + 1);
        self.b.bind(next);
        self.mask_op(Op::LoopNext, None, end);
        let more = self.b.binary(Op::Add, Ty::I32, counter, one);
        self.b.assign(counter, more);
        if !at_head {
            let condition = self.b.binary(Op::Lt, Ty::I32, counter, limit);
            self.mask_op(Op::LoopTest, Some(condition), end);
        }
        self.mask_op(Op::LoopBack, None, head);
        self.b.bind(end);
        self.mask_op(Op::LoopEnd, None, self.on_empty);
    }

    fn switch(&mut self) {
        let cases: Vec<Reg> = (0..1 + self.g.rng.below(4)).map(|_| self.condition()).collect();
        let mut here = self.b.label();
        self.mask_op(Op::SwitchBegin, None, here);
        for condition in cases {
            self.b.bind(here);
            here = self.b.label();
            self.mask_op(Op::SwitchCase, Some(condition), here);
            self.inside(EntryKind::Switch, here, 1);
        }
        self.b.bind(here);
        self.mask_op(Op::SwitchEnd, None, self.on_empty);
    }

    fn everywhere(&mut self) {
        let end = self.b.label();
        self.b.plain(Op::Everywhere);
        self.inside(EntryKind::Every, end, 1);
        self.b.bind(end);
        self.mask_op(Op::EverywhereEnd, None, self.on_empty);
    }

    /// A loop over the active lanes, or over the distinct values they hold.
    fn each(&mut self) {
        let op = *self.g.rng.pick(&[Op::EachLane, Op::EachAll, Op::EachUnique]);
        let (mut ty, mut src) = (Ty::I32, [Reg::NONE; 3]);
        if op == Op::EachUnique {
            ty = super::ops::random_ty(&mut self.g.rng);
            src[0] = self.operand(ty, Some(Shape::Varying));
        }
        let (step, turn_over, end) = (self.b.label(), self.b.label(), self.b.label());
        self.b.plain(Op::EachBegin);
        self.b.bind(step);
        let dst = self.b.reg(Shape::Uniform, ty);
        self.b.control(op, None, end);
        self.b.amend_last(|inst| (inst.dst, inst.src, inst.ty, inst.from) = (dst, src, ty, ty));
        // Lanes that are all gone may go straight back to the step.
        let straight = self.g.rng.chance(1, 2);
        let known = self.values.len();
        self.values.push(dst);
        self.inside(EntryKind::Each, if straight { step } else { turn_over }, self.g.options.width.lanes() as u64);
        self.values.truncate(known);
        self.b.bind(turn_over);
        self.mask_op(Op::Jmp, None, step);
        self.b.bind(end);
        self.mask_op(Op::EachEnd, None, self.on_empty);
    }

    /// Some or all active lanes leave a construct or the function. False if all do.
    pub(super) fn leave(&mut self) -> bool {
        let breaks = |k: &EntryKind| matches!(k, EntryKind::Loop | EntryKind::Switch | EntryKind::Each);
        let continues = |k: &EntryKind| matches!(k, EntryKind::Loop | EntryKind::Each);
        let mut ways = vec![(Op::MaskReturn, Op::MaskReturnIf)];
        if self.entries.iter().any(breaks) {
            ways.extend([(Op::MaskBreak, Op::MaskBreakIf); 2]);
        }
        if self.entries.iter().any(continues) {
            ways.extend([(Op::MaskContinue, Op::MaskContinueIf); 2]);
        }
        let (all, some) = *self.g.rng.pick(&ways);
        // Few functions end early for everyone.
        let for_all = self.g.rng.chance(1, 4) && (self.depth > 1 || self.g.rng.chance(1, 10));
        let condition = if for_all { None } else { Some(self.condition()) };
        self.mask_op(if for_all { all } else { some }, condition, self.on_empty);
        !for_all
    }
}
