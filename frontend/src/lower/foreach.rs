//! `foreach`: iterations in gangs, all lanes on at entry.
//!
//! One dimension runs over lanes: full gangs need no test, the last one tests its lanes against what remains (unless constant
//! bounds leave nothing). A row that is known to fit into one gang is no loop: its body stands once, under a constant mask. The
//! other dimensions are uniform loops around it. A `foreach` in which `break` must end all dimensions, and a tiled one, has one
//! Loop entry around all dimensions and masks each gang by an If entry instead. Bounds are computed with 64 bits, so they may be
//! anywhere in the index's range.

use super::control::{Frame, breaks, continues};
use super::function::{FunctionLowerer, Storage, Value};
use crate::hir::{Capture, ForeachDim, LocalId, Shape as HirShape, Stmt, StmtKind};
use crate::source::Span;
use spmdvm_vm::program::{Inst, Reg};
use spmdvm_vm::{Label, Op, Shape, Ty};

/// One dimension with its bounds.
#[derive(Clone, Copy)]
struct Dim {
    var: LocalId,
    /// The index's type.
    ty: Ty,
    start: Reg,
    end: Reg,
    span: Span,
}

/// What the innermost part needs to know.
struct Gangs<'m> {
    body: &'m [Stmt],
    span: Span,
    continues: bool,
}

impl<'m> FunctionLowerer<'_, 'm> {
    /// `foreach`, `foreach_tiled`.
    pub fn foreach(&mut self, stmt: &'m Stmt) {
        let StmtKind::Foreach { tiled, dims, revectorised, body } = &stmt.kind else { return };
        let Some(captures) = revectorised else {
            let bounds = self.bounds(dims);
            self.every(stmt.span, |this| this.gangs(&bounds, *tiled, body, stmt.span));
            return;
        };
        self.each(Op::EachAll, stmt.span, |this, lane| {
            for capture in captures {
                this.capture(*capture, lane);
            }
            let bounds = this.bounds(dims);
            this.gangs(&bounds, *tiled, body, stmt.span);
            for capture in captures.iter().filter(|capture| capture.written) {
                this.write_back(*capture, lane, stmt.span);
            }
        });
    }

    fn bounds(&mut self, dims: &'m [ForeachDim]) -> Vec<Dim> {
        let mut all = Vec::new();
        for dim in dims {
            let start = self.scalar_before(&dim.start, &[&dim.end]);
            let start = self.in_shape(start, Shape::Uniform, dim.start.span);
            let start = self.stable(start);
            let end = self.scalar(&dim.end);
            let end = self.in_shape(end, Shape::Uniform, dim.end.span);
            let end = self.stable(end);
            let ty = self.b.ty(start);
            all.push(Dim { var: dim.var, ty, start, end, span: dim.start.span });
        }
        all
    }

    fn gangs(&mut self, dims: &[Dim], tiled: bool, body: &'m [Stmt], span: Span) {
        let gangs = Gangs { body, span, continues: continues(body) };
        if tiled || (dims.len() > 1 && breaks(body)) {
            self.tiles(dims, tiled, &gangs);
        } else {
            self.rows(dims, &gangs);
        }
    }

    // One Loop entry per row.

    fn rows(&mut self, dims: &[Dim], gangs: &Gangs<'m>) {
        match dims {
            [] => {}
            [last] => self.row(last, gangs),
            [outer, inner @ ..] => {
                let i = self.counter(outer.ty, outer.start);
                let (body, test) = (self.b.label(), self.b.label());
                self.b.control(Op::Jmp, None, test);
                self.bind(body);
                self.set_variable(outer.var, vec![i], outer.span);
                self.rows(inner, gangs);
                self.at(outer.span);
                let one = self.constant(outer.ty, 1);
                self.add_to(i, outer.ty, one);
                self.bind(test);
                let more = self.binary(Op::Lt, outer.ty, i, outer.end);
                self.b.control(Op::BrTrue, Some(more), body);
            }
        }
    }

    /// A uniform register that is counted up.
    fn counter(&mut self, ty: Ty, start: Reg) -> Reg {
        let r = self.b.reg(Shape::Uniform, ty);
        self.b.mov(r, start);
        self.variables.insert(r);
        r
    }

    fn add_to(&mut self, r: Reg, ty: Ty, by: Reg) {
        let sum = self.binary(Op::Add, ty, r, by);
        self.initialise(r, sum);
    }

    fn row(&mut self, dim: &Dim, gangs: &Gangs<'m>) {
        match self.known_length(dim) {
            Some(length) if (1..=self.cx.lanes() as i128).contains(&length) => {
                self.one_gang(dim, length as usize, gangs)
            }
            _ => self.loop_over_gangs(dim, gangs),
        }
    }

    /// A row of so many elements, at most as many as there are lanes.
    fn one_gang(&mut self, dim: &Dim, length: usize, gangs: &Gangs<'m>) {
        self.at(dim.span);
        let lane = self.iota();
        let lane = self.convert(dim.ty, Ty::I32, lane);
        let index = self.binary(Op::Add, dim.ty, dim.start, lane);
        let index = if index == lane { self.copy_of_lanes(index) } else { index };
        let on = (length < self.cx.lanes()).then(|| {
            let lane = self.iota();
            let length = self.constant(Ty::I32, length as u64);
            self.binary(Op::Lt, Ty::I32, lane, length)
        });
        let run = |this: &mut Self| {
            this.set_variable(dim.var, vec![index], dim.span);
            this.stmts(gangs.body);
            this.at(gangs.span);
        };
        match on {
            _ if gangs.continues || breaks(gangs.body) => self.once(on, run),
            Some(on) => self.under_mask(on, run),
            None => run(self),
        }
    }

    /// The lanes' numbers in a register of their own, to be known by the name of a variable.
    fn copy_of_lanes(&mut self, lanes: Reg) -> Reg {
        let copy = self.b.reg(Shape::Varying, self.b.ty(lanes));
        self.b.mov(copy, lanes);
        if let Some(linear) = self.linear.get(&lanes).copied() {
            self.linear.insert(copy, linear);
        }
        copy
    }

    /// What lanes may leave separately, as they do a loop.
    fn once(&mut self, on: Option<Reg>, inside: impl FnOnce(&mut Self)) {
        let done = self.b.label();
        self.b.plain(Op::LoopBegin);
        if let Some(on) = on {
            self.b.control(Op::LoopTest, Some(on), done);
        }
        self.frames.push(Frame::Loop { resume: done });
        inside(self);
        self.frames.pop();
        self.bind(done);
        let resume = self.resume();
        self.b.control(Op::LoopEnd, None, resume);
    }

    fn loop_over_gangs(&mut self, dim: &Dim, gangs: &Gangs<'m>) {
        let lanes = self.int(self.cx.lanes() as i64);
        let (full, next, test, done) = (self.b.label(), self.b.label(), self.b.label(), self.b.label());
        self.at(dim.span);
        let start = self.convert(Ty::I64, dim.ty, dim.start);
        let end = self.convert(Ty::I64, dim.ty, dim.end);
        let base = self.counter(Ty::I64, start);
        let left = self.elements_left(dim, start, end);
        self.b.plain(Op::LoopBegin);
        self.b.control(Op::Jmp, None, test);
        self.bind(full);
        let lane_zero = if dim.ty == Ty::I64 { self.stable(base) } else { self.convert(dim.ty, Ty::I64, base) };
        let lane = self.iota();
        let lane = self.convert(dim.ty, Ty::I32, lane);
        let index = self.binary(Op::Add, dim.ty, lane_zero, lane);
        self.frames.push(Frame::Loop { resume: if gangs.continues { next } else { done } });
        self.set_variable(dim.var, vec![index], dim.span);
        self.stmts(gangs.body);
        self.frames.pop();
        self.at(dim.span);
        if gangs.continues {
            self.bind(next);
            self.b.control(Op::LoopNext, None, done);
        }
        self.add_to(base, Ty::I64, lanes);
        if let Left::Counted(left) = left {
            let step = self.constant(Ty::U64, self.cx.lanes() as u64);
            let done_now = self.binary(Op::Min, Ty::U64, left, step);
            let rest = self.binary(Op::Sub, Ty::U64, left, done_now);
            self.initialise(left, rest);
        }
        self.bind(test);
        self.row_test(left, base, end, full, done);
        self.bind(done);
        self.at(gangs.span);
        let resume = self.resume();
        self.b.control(Op::LoopEnd, None, resume);
    }

    /// How many elements a row has, if that is known; not more than 0 if it has none.
    fn known_length(&mut self, dim: &Dim) -> Option<i128> {
        // Nothing is to be made for a length that is not known.
        self.constant_bits(dim.start).and(self.constant_bits(dim.end))?;
        let mut known = |r: Reg| {
            let wide = self.convert(Ty::I64, dim.ty, r);
            self.constant_bits(wide).map(|bits| i128::from(bits as i64))
        };
        Some(-known(dim.start)? + known(dim.end)?)
    }

    /// What tells how much of a row remains. Sums of 64-bit indices could overflow, so there the rest is counted.
    fn elements_left(&mut self, dim: &Dim, start: Reg, end: Reg) -> Left {
        if dim.ty != Ty::I64 {
            let lanes = self.int(self.cx.lanes() as i64);
            let last_full = self.binary(Op::Sub, Ty::I64, end, lanes);
            let is_whole =
                self.known_length(dim).is_some_and(|length| length > 0 && length % self.cx.lanes() as i128 == 0);
            return Left::Below { last_full, only: is_whole };
        }
        let any = self.binary(Op::Lt, Ty::I64, start, end);
        let count = self.binary(Op::Sub, Ty::I64, end, start);
        let zero = self.int(0);
        let count = self.select(Ty::I64, any, count, zero);
        let count = self.convert(Ty::U64, Ty::I64, count);
        Left::Counted(self.counter(Ty::U64, count))
    }

    /// Jumps to `full` for another gang, with the lanes on that have an index, or to `done`.
    fn row_test(&mut self, left: Left, base: Reg, end: Reg, full: Label, done: Label) {
        let (is_full, rest, rest_ty) = match left {
            Left::Below { last_full, only } => {
                let is_full = self.binary(Op::Le, Ty::I64, base, last_full);
                self.b.control(Op::BrTrue, Some(is_full), full);
                if only {
                    return;
                }
                (None, self.binary(Op::Sub, Ty::I64, end, base), Ty::I64)
            }
            Left::Counted(left) => {
                let lanes = self.constant(Ty::U64, self.cx.lanes() as u64);
                (Some(self.binary(Op::Ge, Ty::U64, left, lanes)), left, Ty::U64)
            }
        };
        if let Some(is_full) = is_full {
            self.b.control(Op::BrTrue, Some(is_full), full);
        }
        let zero = self.constant(rest_ty, 0);
        let some = self.binary(Op::Gt, rest_ty, rest, zero);
        self.b.control(Op::BrFalse, Some(some), done);
        let rest = self.convert(Ty::I32, rest_ty, rest);
        let lane = self.iota();
        let on = self.binary(Op::Lt, Ty::I32, lane, rest);
        self.b.control(Op::LoopTest, Some(on), done);
        self.b.control(Op::Jmp, None, full);
    }

    // One Loop entry around all dimensions.

    fn tiles(&mut self, dims: &[Dim], tiled: bool, gangs: &Gangs<'m>) {
        let sizes = tile_sizes(dims.len(), self.cx.lanes(), tiled);
        let lanes = self.lanes_of_tile(&sizes);
        let needs_entry = gangs.continues || breaks(gangs.body);
        let (next, done) = (self.b.label(), self.b.label());
        self.at(gangs.span);
        if needs_entry {
            self.b.plain(Op::LoopBegin);
            self.frames.push(Frame::Loop { resume: if gangs.continues { next } else { done } });
        }
        let mut loops = Vec::new();
        for (dim, &size) in dims.iter().zip(&sizes) {
            let start = self.convert(Ty::I64, dim.ty, dim.start);
            let end = self.convert(Ty::I64, dim.ty, dim.end);
            let base = self.counter(Ty::I64, start);
            let (body, test) = (self.b.label(), self.b.label());
            self.b.control(Op::Jmp, None, test);
            self.bind(body);
            loops.push((base, end, body, test, size));
        }
        self.tile(dims, &loops.iter().map(|l| (l.0, l.1)).collect::<Vec<_>>(), &lanes, gangs);
        if gangs.continues {
            self.bind(next);
            self.b.control(Op::LoopNext, None, done);
        }
        self.at(gangs.span);
        for (base, end, body, test, size) in loops.into_iter().rev() {
            let size = self.int(size as i64);
            self.add_to(base, Ty::I64, size);
            self.bind(test);
            let more = self.binary(Op::Lt, Ty::I64, base, end);
            self.b.control(Op::BrTrue, Some(more), body);
        }
        self.bind(done);
        if needs_entry {
            self.frames.pop();
            let resume = self.resume();
            self.b.control(Op::LoopEnd, None, resume);
        }
    }

    /// For each dimension the lane's place in the tile; `None` where the tile has one.
    fn lanes_of_tile(&mut self, sizes: &[usize]) -> Vec<Option<Reg>> {
        let lane = self.iota();
        let mut shift = 0;
        let mut all = vec![None; sizes.len()];
        for (slot, &size) in all.iter_mut().zip(sizes).rev() {
            if size > 1 {
                let by = self.constant(Ty::I32, shift);
                let low = self.constant(Ty::I32, size as u64 - 1);
                let shifted = self.binary(Op::Shr, Ty::I32, lane, by);
                let is_last = (size << shift) >= self.cx.lanes();
                *slot = Some(if is_last { shifted } else { self.binary(Op::And, Ty::I32, shifted, low) });
                shift += u64::from(size.trailing_zeros());
            }
        }
        all
    }

    fn tile(&mut self, dims: &[Dim], ranges: &[(Reg, Reg)], lanes: &[Option<Reg>], gangs: &Gangs<'m>) {
        let mut on: Option<Reg> = None;
        let mut indices = Vec::new();
        for ((dim, &(base, end)), lane) in dims.iter().zip(ranges).zip(lanes) {
            self.at(dim.span);
            let mut index = self.convert(dim.ty, Ty::I64, base);
            if let Some(lane) = *lane {
                let rest = self.binary(Op::Sub, Ty::I64, end, base);
                let most = self.int(self.cx.lanes() as i64);
                let rest = self.binary(Op::Min, Ty::I64, rest, most);
                let rest = self.convert(Ty::I32, Ty::I64, rest);
                let inside = self.binary(Op::Lt, Ty::I32, lane, rest);
                on = Some(on.map_or(inside, |on| self.binary(Op::And, Ty::Bool, on, inside)));
                let lane = self.convert(dim.ty, Ty::I32, lane);
                index = self.stable(index);
                index = self.binary(Op::Add, dim.ty, index, lane);
            }
            indices.push(index);
        }
        let run = |this: &mut Self| {
            for (dim, index) in dims.iter().zip(indices) {
                this.set_variable(dim.var, vec![index], dim.span);
            }
            this.stmts(gangs.body);
        };
        match on {
            Some(on) => self.under_mask(on, run),
            None => run(self),
        }
    }

    // Variables

    /// Gives a variable its value where it is declared by a construct.
    pub fn set_variable(&mut self, local: LocalId, value: Value, span: Span) {
        let declared = &self.body.function.locals[local.0 as usize];
        let is_assigned = self.body.analysis.is_assigned(local);
        let known = self.body.storage[local.0 as usize].clone();
        match known {
            Some(Storage::Memory(address)) => self.initialise_memory(address, declared.ty, &value, span),
            Some(Storage::Regs(regs)) if is_assigned || self.body.function.n_labels > 0 => {
                self.initialise_all(&regs, &value);
            }
            _ if declared.needs_memory || is_assigned => {
                let Some(storage) = self.new_storage(local) else { return };
                self.body.storage[local.0 as usize] = Some(storage);
                self.set_variable(local, value, span);
            }
            _ => {
                for &r in &value {
                    self.held.insert(r);
                    if self.constant_bits(r).is_none() {
                        self.b.set_name(r, declared.name.as_str());
                    }
                }
                self.body.storage[local.0 as usize] = Some(Storage::Regs(value));
            }
        }
    }

    /// Takes one lane's value of an outer variable.
    fn capture(&mut self, capture: Capture, lane: Reg) {
        let declared = &self.body.function.locals[capture.outer.0 as usize];
        let (ty, span) = (declared.ty, declared.span);
        let Some(leaves) = self.leaves(ty, span) else { return };
        let value: Value = match self.body.storage[capture.outer.0 as usize].clone() {
            Some(Storage::Regs(regs)) => regs.into_iter().map(|r| self.lane_of(r, lane)).collect(),
            Some(Storage::Memory(address)) => leaves
                .iter()
                .map(|leaf| {
                    let dst = self.b.reg(Shape::Uniform, leaf.ty);
                    let inst = lane_access(Op::Load, leaf, address, lane);
                    self.b.push(Inst { dst, ..inst });
                    dst
                })
                .collect(),
            None => return self.internal(span, "a variable of an outer loop has no place"),
        };
        self.set_variable(capture.inner, value, span);
    }

    /// One lane's value of a register.
    pub fn lane_of(&mut self, r: Reg, lane: Reg) -> Reg {
        if !self.is_varying(r) {
            return self.stable(r);
        }
        let ty = self.b.ty(r);
        let dst = self.b.reg(Shape::Uniform, ty);
        self.push(Op::Extract, ty, ty, dst, &[r, lane]);
        dst
    }

    /// Gives one lane of an outer variable the inner one's last value.
    fn write_back(&mut self, capture: Capture, lane: Reg, span: Span) {
        let ty = self.body.function.locals[capture.outer.0 as usize].ty;
        let Some(leaves) = self.leaves(ty, span) else { return };
        let value = match self.body.storage[capture.inner.0 as usize].clone() {
            Some(Storage::Regs(regs)) => regs,
            Some(Storage::Memory(base)) => {
                let ty = self.body.function.locals[capture.inner.0 as usize].ty;
                let place = super::place::MemoryPlace { base, index: None, displacement: 0, ty, components: None };
                self.load_value(&place, span)
            }
            None => return,
        };
        self.at(span);
        match self.body.storage[capture.outer.0 as usize].clone() {
            Some(Storage::Regs(regs)) => {
                for (d, s) in regs.into_iter().zip(value) {
                    let ty = self.b.ty(d);
                    if self.is_varying(d) {
                        self.push(Op::Insert, ty, ty, d, &[d, lane, s]);
                    } else {
                        self.initialise(d, s);
                    }
                }
            }
            Some(Storage::Memory(address)) => {
                for (leaf, s) in leaves.iter().zip(value) {
                    let mut inst = lane_access(Op::Store, leaf, address, lane);
                    inst.src[2] = s;
                    self.b.push(inst);
                }
            }
            None => {}
        }
    }
}

/// What is left of a row.
#[derive(Clone, Copy)]
enum Left {
    /// A gang is full if its first index is at most this; and all are, if `only`.
    Below { last_full: Reg, only: bool },
    /// This many, `u64`.
    Counted(Reg),
}

/// An access to one lane of a variable in memory.
fn lane_access(op: Op, leaf: &crate::hir::Leaf, address: Reg, lane: Reg) -> Inst {
    let (index, scale, from) = match leaf.shape {
        HirShape::Varying => (lane, leaf.ty.size() as u32, Ty::I32),
        _ => (Reg::NONE, 0, leaf.ty),
    };
    Inst { src: [address, index, Reg::NONE], from, aux: scale, imm: leaf.offset as i64, ..Inst::new(op, leaf.ty) }
}

/// How many indices of each dimension a gang covers: the innermost has them all, or, tiled, about equally many.
fn tile_sizes(n_dims: usize, lanes: usize, tiled: bool) -> Vec<usize> {
    let mut sizes = vec![1; n_dims];
    if n_dims == 0 {
        return sizes;
    }
    if !tiled {
        sizes[n_dims - 1] = lanes;
        return sizes;
    }
    for bit in 0..lanes.trailing_zeros() as usize {
        sizes[n_dims - 1 - bit % n_dims] *= 2;
    }
    sizes
}
