//! Writing variables: initialisation of all lanes, assignment to active ones, and the operators that change a place.

use super::function::{FunctionLowerer, Storage, Value};
use super::place::Lowered;
use crate::hir::{self, Expr, ExprKind, LocalId, Place, TypeKind};
use crate::source::Span;
use spmdvm_vm::isa::{Effect, Form};
use spmdvm_vm::program::Reg;
use spmdvm_vm::{Op, Shape};

impl<'m> FunctionLowerer<'_, 'm> {
    /// Writes all lanes of a register. If the value was just computed for this purpose, it is computed into the
    /// register instead.
    pub fn initialise(&mut self, dst: Reg, src: Reg) {
        if dst == src {
            return;
        }
        if self.b.shape(dst) == Shape::Uniform && self.is_varying(src) {
            return self.internal(Span::default(), "a varying value for a uniform variable");
        }
        if !self.retarget(dst, src) {
            self.b.mov(dst, src);
        }
    }

    fn retarget(&mut self, dst: Reg, src: Reg) -> bool {
        let fits = self.b.shape(dst) == self.b.shape(src)
            && self.b.len() > self.barrier
            && !self.variables.contains(&src)
            && !self.held.contains(&src);
        let Some(last) = self.b.last_inst().filter(|last| fits && last.dst == src) else { return false };
        let info = last.op.info();
        let in_place = info.form != Form::Special || !last.src.contains(&dst);
        if info.sig.dst_is_read || info.effect == Effect::Control || !in_place {
            return false;
        }
        last.dst = dst;
        true
    }

    /// Writes the active lanes of a variable's register; `exact` says that the others may be written too.
    pub fn assign(&mut self, dst: Reg, src: Reg, exact: bool) {
        if exact || self.b.shape(dst) == Shape::Uniform {
            self.initialise(dst, src);
        } else if dst != src {
            self.b.assign(dst, src);
        }
    }

    /// Writes several registers; no source is one of the other destinations.
    pub fn initialise_all(&mut self, dsts: &[Reg], sources: &[Reg]) {
        for (i, (&d, &s)) in dsts.iter().zip(sources).enumerate() {
            if sources[i + 1..].contains(&s) && d != s {
                self.b.mov(d, s);
            } else {
                self.initialise(d, s);
            }
        }
    }

    /// A variable's declaration.
    pub fn declare(&mut self, local: LocalId, init: Option<&'m Expr>, span: Span) {
        let declared = &self.body.function.locals[local.0 as usize];
        let known = self.body.storage[local.0 as usize].clone();
        let in_registers = !declared.needs_memory && self.cx.leaves(declared.ty).is_some();
        if in_registers {
            let value = self.initial_value(local, init);
            self.at(span);
            match known {
                Some(Storage::Regs(regs)) => self.initialise_all(&regs, &value),
                _ => self.declare_registers(local, value),
            }
            return;
        }
        let address = match known {
            Some(Storage::Memory(address)) => address,
            _ => self.frame_variable(local),
        };
        self.body.storage[local.0 as usize] = Some(Storage::Memory(address));
        if init.is_none() && self.cx.options.marks_unset {
            return self.fill_unset(address, local, span);
        }
        self.initialise_from(address, declared.ty, init, span);
    }

    fn initial_value(&mut self, local: LocalId, init: Option<&'m Expr>) -> Value {
        if let Some(init) = init {
            return self.value(init);
        }
        let declared = &self.body.function.locals[local.0 as usize];
        let leaves = self.cx.leaves(declared.ty).unwrap_or_default();
        if self.cx.options.marks_unset {
            return leaves.iter().map(|leaf| self.b.unset(leaf.ty, declared.name.as_str())).collect();
        }
        leaves.iter().map(|leaf| self.constant(leaf.ty, 0)).collect()
    }

    /// A variable that is never assigned again takes over the registers of its initial value.
    fn declare_registers(&mut self, local: LocalId, value: Value) {
        let declared = &self.body.function.locals[local.0 as usize];
        if !self.body.analysis.is_assigned(local) {
            let name = declared.name.as_str();
            let regs: Value = value.into_iter().map(|r| self.stable(r)).collect();
            for &r in &regs {
                if self.constant_bits(r).is_none() && self.held.insert(r) {
                    self.b.set_name(r, name);
                }
            }
            self.body.storage[local.0 as usize] = Some(Storage::Regs(regs));
            return;
        }
        let Some(Storage::Regs(regs)) = self.new_storage(local) else { return };
        self.initialise_all(&regs, &value);
        self.body.storage[local.0 as usize] = Some(Storage::Regs(regs));
    }

    /// `place = value`; gives the value if asked for.
    pub fn assign_expr(&mut self, place: &'m Place, value: &'m Expr, wanted: bool) -> Value {
        let lowered = self.place(place);
        if self.copied_as_bytes(place, &lowered, value) {
            return Vec::new();
        }
        let regs = self.value(value);
        self.at(place.span);
        let regs = if wanted { self.stable_value(regs) } else { regs };
        self.write(place, &lowered, &regs);
        regs
    }

    /// Copies of registers that may be written before they are read.
    pub fn stable_value(&mut self, regs: Value) -> Value {
        regs.into_iter()
            .map(|r| {
                let r = self.stable(r);
                self.held.insert(r);
                r
            })
            .collect()
    }

    /// Assigns several registers; sources may be among the destinations (`v = v.yx`).
    pub fn assign_all(&mut self, dsts: &[Reg], sources: &[Reg], exact: bool) {
        if let (&[d], &[s]) = (dsts, sources) {
            return self.assign(d, s, exact);
        }
        let sources: Value = sources
            .iter()
            .enumerate()
            .map(|(i, &s)| if dsts.contains(&s) && dsts.get(i) != Some(&s) { self.stable(s) } else { s })
            .collect();
        for (i, (&d, &s)) in dsts.iter().zip(&sources).enumerate() {
            let copies = exact || self.b.shape(d) == Shape::Uniform;
            if copies && sources[i + 1..].contains(&s) && d != s {
                self.b.mov(d, s);
            } else {
                self.assign(d, s, exact);
            }
        }
    }

    /// Writes a place in the active lanes.
    pub fn write(&mut self, place: &Place, lowered: &Lowered, value: &[Reg]) {
        match lowered {
            Lowered::Regs(regs) => {
                let exact = self.body.analysis.is_exact(place);
                self.assign_all(regs, value, exact);
            }
            Lowered::Memory(memory) => self.store_value(memory, value),
        }
    }

    /// `place op= rhs`.
    pub fn compound_assign(&mut self, place: &'m Place, op: Op, rhs: &'m Expr, wanted: bool) -> Value {
        let types = &self.cx.module.types;
        let (place_ty, work_ty) = (types.element_ty(place.ty), types.element_ty(rhs.ty));
        let (Some(place_ty), Some(work_ty)) = (place_ty, work_ty) else {
            self.internal(place.span, "a compound assignment to something that is no number");
            return Vec::new();
        };
        let lowered = self.place(place);
        let product = if place_ty == work_ty { self.product(op, rhs) } else { None };
        let operands: Vec<Value> = match product {
            Some((a, b)) => {
                let a = self.value_before(a, &[b]);
                vec![a, self.value(b)]
            }
            None => vec![self.value(rhs)],
        };
        let old = self.read(place, &lowered);
        self.at(rhs.span);
        let value: Value = (0..old.len())
            .map(|i| {
                let part = |v: &Value| v[if v.len() == 1 { 0 } else { i }];
                let old = self.convert(work_ty, place_ty, old[i]);
                let new = match &operands[..] {
                    [a, b] => {
                        let a = if op == Op::Sub { self.unary(Op::Neg, work_ty, part(a)) } else { part(a) };
                        self.fma(work_ty, a, part(b), old)
                    }
                    [rhs] => self.binary(op, work_ty, old, part(rhs)),
                    _ => old,
                };
                self.convert(place_ty, work_ty, new)
            })
            .collect();
        self.finish_change(place, &lowered, value, wanted)
    }

    fn finish_change(&mut self, place: &Place, lowered: &Lowered, value: Value, wanted: bool) -> Value {
        let value = if wanted { self.stable_value(value) } else { value };
        self.at(place.span);
        self.write(place, lowered, &value);
        value
    }

    /// `pointer += index`.
    pub fn pointer_assign(&mut self, place: &'m Place, index: &'m Expr, subtract: bool, wanted: bool) -> Value {
        let lowered = self.place(place);
        let by = self.scalar(index);
        let old = self.read(place, &lowered);
        self.at(place.span);
        let Some(&old) = old.first() else { return Vec::new() };
        let TypeKind::Pointer { pointee, .. } = *self.cx.module.types.kind(place.ty) else {
            self.internal(place.span, "pointer arithmetic on something that is no pointer");
            return Vec::new();
        };
        let new = self.pointer_step(old, by, pointee, subtract, index.span);
        self.finish_change(place, &lowered, vec![new], wanted)
    }

    /// `++` and `--`.
    pub fn inc_dec(&mut self, place: &'m Place, decrement: bool, postfix: bool, wanted: bool) -> Value {
        let lowered = self.place(place);
        let mut old = self.read(place, &lowered);
        self.at(place.span);
        if wanted && postfix {
            old = self.stable_value(old);
        }
        let value: Value = match *self.cx.module.types.kind(place.ty) {
            TypeKind::Pointer { pointee, .. } => {
                let one = self.int(1);
                let span = place.span;
                old.iter().map(|&r| self.pointer_step(r, one, pointee, decrement, span)).collect()
            }
            _ => old
                .iter()
                .map(|&r| {
                    let ty = self.b.ty(r);
                    let one = sem_one(ty);
                    let one = self.constant(ty, one);
                    self.binary(if decrement { Op::Sub } else { Op::Add }, ty, r, one)
                })
                .collect(),
        };
        let new = self.finish_change(place, &lowered, value, wanted && !postfix);
        if postfix { old } else { new }
    }

    /// An expression of which only the effect matters.
    pub fn effect(&mut self, expr: &'m Expr) {
        match &expr.kind {
            ExprKind::Assign(place, value) => drop(self.assign_expr(place, value, false)),
            ExprKind::CompoundAssign { place, op, rhs } => drop(self.compound_assign(place, *op, rhs, false)),
            ExprKind::PointerAssign { place, index, subtract } => {
                drop(self.pointer_assign(place, index, *subtract, false));
            }
            ExprKind::IncDec { place, decrement, postfix } => drop(self.inc_dec(place, *decrement, *postfix, false)),
            ExprKind::Comma(first, second) => {
                self.effect(first);
                self.effect(second);
            }
            ExprKind::Cast(hir::Cast::Broadcast | hir::Cast::Reinterpret, operand) => self.effect(operand),
            _ => drop(self.value(expr)),
        }
    }
}

/// The bits of one.
fn sem_one(ty: spmdvm_vm::Ty) -> u64 {
    use spmdvm_vm::{Ty, sem};
    sem::eval(Op::Convert, ty, Ty::I32, [1, 0, 0]).unwrap_or(1)
}
