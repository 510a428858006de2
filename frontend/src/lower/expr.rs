//! Values.

use super::FpMode;
use super::function::{FunctionLowerer, Value, shape_of};
use super::place::Lowered;
use crate::hir::walk::operands;
use crate::hir::{Cast, Expr, ExprKind, Place, Shape as HirShape, TaskBuiltin, TypeId};
use spmdvm_vm::isa::{Extra, Form, OperandShape};
use spmdvm_vm::program::{Inst, Reg};
use spmdvm_vm::{Op, Shape, Ty};

/// Up to how many scalars a choice between two values under a uniform condition computes both.
const MAX_SELECTED_LEAVES: usize = 4;

impl<'m> FunctionLowerer<'_, 'm> {
    /// The one register of a scalar value.
    pub fn scalar(&mut self, expr: &'m Expr) -> Reg {
        let value = self.value(expr);
        match value.first() {
            Some(&r) => r,
            None => {
                if !self.cx.diagnostics.has_errors() {
                    self.internal(expr.span, "a value has no register");
                }
                self.constant(Ty::I32, 0)
            }
        }
    }

    /// A scalar evaluated before others, which may assign the variable it was read from.
    pub fn scalar_before(&mut self, expr: &'m Expr, later: &[&Expr]) -> Reg {
        let r = self.scalar(expr);
        self.keep(r, later)
    }

    /// A value evaluated before others.
    pub fn value_before(&mut self, expr: &'m Expr, later: &[&Expr]) -> Value {
        self.value(expr).into_iter().map(|r| self.keep(r, later)).collect()
    }

    fn keep(&mut self, r: Reg, later: &[&Expr]) -> Reg {
        if self.variables.contains(&r) && later.iter().any(|e| may_assign(e)) { self.stable(r) } else { r }
    }

    /// Values in order.
    pub fn values(&mut self, exprs: &'m [Expr]) -> Vec<Value> {
        (0..exprs.len())
            .map(|i| {
                let later: Vec<&Expr> = exprs[i + 1..].iter().collect();
                self.value_before(&exprs[i], &later)
            })
            .collect()
    }

    /// The registers of a value.
    pub fn value(&mut self, expr: &'m Expr) -> Value {
        match &expr.kind {
            ExprKind::Error => {
                self.internal(expr.span, "an erroneous expression was let through");
                self.zeros(expr.ty)
            }
            ExprKind::Const(bits) => {
                let ty = self.cx.module.types.register_ty(expr.ty).unwrap_or(Ty::U64);
                vec![self.constant(ty, *bits)]
            }
            ExprKind::Zero => self.zeros(expr.ty),
            ExprKind::ProgramIndex => vec![self.iota()],
            ExprKind::Task(builtin) => vec![self.task_builtin(*builtin, expr.ty)],
            ExprKind::Load(place) => self.load(place, expr.ty),
            ExprKind::AddressOf(place) => vec![self.address_of(place)],
            ExprKind::FunctionAddress(id) => vec![self.function_address(*id, expr)],
            ExprKind::Cast(cast, operand) => self.cast(*cast, operand, expr.ty),
            ExprKind::Unary(op, operand) => self.unary_expr(*op, operand, expr),
            ExprKind::Binary(op, lhs, rhs) => self.binary_expr(*op, lhs, rhs, expr),
            ExprKind::PointerOffset { pointer, index, subtract } => {
                let base = self.scalar_before(pointer, &[index]);
                let by = self.scalar(index);
                let pointee = self.pointee(pointer.ty, expr.span);
                vec![self.pointer_step(base, by, pointee, *subtract, expr.span)]
            }
            ExprKind::PointerDifference(a, b) => vec![self.pointer_difference(a, b, expr)],
            ExprKind::Logical { is_or, lhs, rhs } => vec![self.logical(*is_or, lhs, rhs, expr)],
            ExprKind::Conditional { condition, then, otherwise } => self.conditional(condition, then, otherwise, expr),
            ExprKind::Comma(first, second) => {
                self.effect(first);
                self.value(second)
            }
            ExprKind::Assign(place, value) => self.assign_expr(place, value, true),
            ExprKind::CompoundAssign { place, op, rhs } => self.compound_assign(place, *op, rhs, true),
            ExprKind::PointerAssign { place, index, subtract } => self.pointer_assign(place, index, *subtract, true),
            ExprKind::IncDec { place, decrement, postfix } => self.inc_dec(place, *decrement, *postfix, true),
            ExprKind::Swizzle(operand, components) => {
                let all = self.value(operand);
                components.iter().filter_map(|&c| all.get(c as usize).copied()).collect()
            }
            ExprKind::FieldValue(operand, field) => {
                let skip = self.leaves_before_field(operand.ty, *field as usize);
                let take = self.cx.leaves(expr.ty).map_or(0, |leaves| leaves.len());
                self.value(operand).into_iter().skip(skip).take(take).collect()
            }
            ExprKind::Aggregate(parts) => self.aggregate(parts, expr),
            ExprKind::Lanes(parts) => vec![self.lane_values(parts, expr.span)],
            ExprKind::Call(callee, args) => self.call(callee, args, expr),
            ExprKind::Crev(id, args) => self.crev(*id, args, expr),
            ExprKind::Launch { counts, callee, args } => self.launch(counts, callee, args, expr),
            ExprKind::Op { op, ty, from, args } => self.op(*op, *ty, *from, args, expr),
            ExprKind::New { elem, count, init } => vec![self.new_expr(*elem, count.as_deref(), init.as_deref(), expr)],
            ExprKind::Alloca(bytes) => {
                let bytes = self.scalar(bytes);
                self.at(expr.span);
                vec![self.b.elementwise(Op::Alloc, Ty::U64, Ty::U64, &[bytes])]
            }
        }
    }

    /// Zero of a type.
    pub fn zeros(&mut self, ty: TypeId) -> Value {
        let leaves = self.leaves(ty, crate::source::Span::default());
        leaves.iter().flat_map(|l| l.iter()).map(|leaf| self.constant(leaf.ty, 0)).collect()
    }

    fn load(&mut self, place: &'m Place, ty: TypeId) -> Value {
        let lowered = self.place(place);
        let value = self.read(place, &lowered);
        if !place.varying_address || value.len() < 2 {
            return value;
        }
        // Through a varying pointer to a struct, members that are always uniform are those of the first active lane.
        let Some(leaves) = self.leaves(ty, place.span) else { return value };
        let uniform = |leaf: &crate::hir::Leaf| leaf.shape == HirShape::Uniform;
        value.into_iter().zip(leaves.iter()).map(|(r, l)| if uniform(l) { self.first_active(r) } else { r }).collect()
    }

    /// The value of the lowest active lane.
    fn first_active(&mut self, r: Reg) -> Reg {
        if !self.is_varying(r) {
            return r;
        }
        let mask = self.b.reg(Shape::Uniform, Ty::U64);
        self.push(Op::MaskBits, Ty::U64, Ty::U64, mask, &[]);
        let lane = self.unary(Op::Ctz, Ty::U64, mask);
        let lane = self.convert(Ty::I32, Ty::U64, lane);
        self.lane_of(r, lane)
    }

    fn address_of(&mut self, place: &'m Place) -> Reg {
        match self.place(place) {
            Lowered::Memory(memory) => self.collapse(&memory, place.span),
            Lowered::Regs(_) => {
                self.internal(place.span, "the address of a variable that is not in memory");
                self.constant(Ty::U64, 0)
            }
        }
    }

    fn function_address(&mut self, id: crate::hir::FuncId, expr: &Expr) -> Reg {
        let function = self.cx.func_id(id);
        self.at(expr.span);
        let dst = self.b.reg(Shape::Uniform, Ty::U64);
        self.b.push(Inst { dst, aux: function.0, ..Inst::new(Op::FuncAddr, Ty::U64) });
        dst
    }

    fn cast(&mut self, cast: Cast, operand: &'m Expr, to: TypeId) -> Value {
        let value = self.value(operand);
        let types = &self.cx.module.types;
        match cast {
            Cast::Reinterpret | Cast::Broadcast => value,
            Cast::Splat => {
                let n = self.cx.leaves(to).map_or(1, |leaves| leaves.len());
                value.first().map_or_else(Vec::new, |&r| vec![r; n])
            }
            Cast::Convert => {
                let Some(to) = types.element_ty(to) else { return value };
                self.at(operand.span);
                value.into_iter().map(|r| self.convert(to, self.b.ty(r), r)).collect()
            }
        }
    }

    fn unary_expr(&mut self, op: Op, operand: &'m Expr, expr: &Expr) -> Value {
        let value = self.value(operand);
        self.at(expr.span);
        value.into_iter().map(|r| self.unary(op, self.b.ty(r), r)).collect()
    }

    fn binary_expr(&mut self, op: Op, lhs: &'m Expr, rhs: &'m Expr, expr: &'m Expr) -> Value {
        if let Some(value) = self.reassociated(op, expr) {
            return value;
        }
        if let Some(fused) = self.fused(op, lhs, rhs, expr) {
            return fused;
        }
        let a = self.value_before(lhs, &[rhs]);
        let b = self.value(rhs);
        self.at(expr.span);
        a.into_iter().zip(b).map(|(a, b)| self.binary(op, self.b.ty(a), a, b)).collect()
    }

    /// The factors of a product that a sum or difference may be fused with.
    pub fn product(&self, op: Op, expr: &'m Expr) -> Option<(&'m Expr, &'m Expr)> {
        let types = &self.cx.module.types;
        let is_float = types.element_ty(expr.ty).is_some_and(Ty::is_float);
        if self.body.fp == FpMode::Strict || !is_float || !matches!(op, Op::Add | Op::Sub) {
            return None;
        }
        match &expr.kind {
            ExprKind::Binary(Op::Mul, a, b) => Some((a, b)),
            ExprKind::Cast(Cast::Broadcast, inner) => self.product(op, inner),
            _ => None,
        }
    }

    /// `a * b + c`, `a * b - c`, `c + a * b`, `c - a * b` with one rounding. Of two products the left one is fused.
    fn fused(&mut self, op: Op, lhs: &'m Expr, rhs: &'m Expr, expr: &Expr) -> Option<Value> {
        if let Some((a, b)) = self.product(op, lhs) {
            let a = self.value_before(a, &[b, rhs]);
            let b = self.value_before(b, &[rhs]);
            let c = self.value(rhs);
            self.at(expr.span);
            let part = |v: &Value, i: usize| v[if v.len() == 1 { 0 } else { i }];
            let fused = (0..c.len().max(a.len())).map(|i| {
                let mut c = part(&c, i);
                let ty = self.b.ty(c);
                if op == Op::Sub {
                    c = self.unary(Op::Neg, ty, c);
                }
                self.fma(ty, part(&a, i), part(&b, i), c)
            });
            return Some(fused.collect());
        }
        let (a, b) = self.product(op, rhs)?;
        let c = self.value_before(lhs, &[a, b]);
        let a = self.value_before(a, &[b]);
        let b = self.value(b);
        self.at(expr.span);
        let part = |v: &Value, i: usize| v[if v.len() == 1 { 0 } else { i }];
        let fused = (0..c.len().max(a.len())).map(|i| {
            let mut a = part(&a, i);
            let ty = self.b.ty(a);
            if op == Op::Sub {
                a = self.unary(Op::Neg, ty, a);
            }
            self.fma(ty, a, part(&b, i), part(&c, i))
        });
        Some(fused.collect())
    }

    fn pointer_difference(&mut self, a: &'m Expr, b: &'m Expr, expr: &Expr) -> Reg {
        let pointee = self.pointee(a.ty, expr.span);
        let x = self.scalar_before(a, &[b]);
        let y = self.scalar(b);
        self.at(expr.span);
        let difference = self.binary(Op::Sub, Ty::U64, x, y);
        let difference = self.convert(Ty::I64, Ty::U64, difference);
        let size = self.cx.module.types.size(pointee, self.cx.lanes()).max(1);
        let HirShape::Soa(n) = self.cx.module.types.shape(pointee) else {
            return self.elements_between(difference, size);
        };
        // Instance numbers are in the low bits, and blocks hold n instances.
        let ((start_x, number_x), (start_y, number_y)) = (self.split_instance(x, n), self.split_instance(y, n));
        let bytes = self.binary(Op::Sub, Ty::U64, start_x, start_y);
        let bytes = self.convert(Ty::I64, Ty::U64, bytes);
        let blocks = self.elements_between(bytes, size);
        let n = self.int(i64::from(n));
        let instances = self.binary(Op::Mul, Ty::I64, blocks, n);
        let rest = self.binary(Op::Sub, Ty::U64, number_x, number_y);
        let rest = self.convert(Ty::I64, Ty::U64, rest);
        self.binary(Op::Add, Ty::I64, instances, rest)
    }

    /// A difference of addresses in one region (offsets are their low 40 bits), in elements.
    fn elements_between(&mut self, difference: Reg, size: u64) -> Reg {
        let bits = self.int(24);
        let high = self.binary(Op::Shl, Ty::I64, difference, bits);
        let offset = self.binary(Op::Shr, Ty::I64, high, bits);
        let divisor = self.int(size as i64);
        if size == 1 { offset } else { self.binary(Op::IDiv, Ty::I64, offset, divisor) }
    }

    fn logical(&mut self, is_or: bool, lhs: &'m Expr, rhs: &'m Expr, expr: &Expr) -> Reg {
        let a = self.scalar_before(lhs, &[rhs]);
        if let Some(bits) = self.constant_bits(a) {
            return if (bits != 0) == is_or { a } else { self.scalar(rhs) };
        }
        self.at(expr.span);
        if rhs.is_speculable() {
            let b = self.scalar(rhs);
            self.at(expr.span);
            return self.binary(if is_or { Op::Or } else { Op::And }, Ty::Bool, a, b);
        }
        if !self.is_varying(a) {
            let uniform =
                !self.cx.module.types.is_varying(expr.ty) || self.body.analysis.is_uniform(self.body.function, rhs);
            let result = self.b.reg(if uniform { Shape::Uniform } else { Shape::Varying }, Ty::Bool);
            self.b.mov(result, a);
            let end = self.b.label();
            self.b.control(if is_or { Op::BrTrue } else { Op::BrFalse }, Some(a), end);
            let b = self.scalar(rhs);
            self.initialise(result, b);
            self.bind(end);
            return result;
        }
        let result = self.b.reg(Shape::Varying, Ty::Bool);
        self.b.mov(result, a);
        let asks = if is_or { self.unary(Op::Not, Ty::Bool, a) } else { a };
        self.under_mask(asks, |this| {
            let b = this.scalar(rhs);
            this.b.assign(result, b);
        });
        result
    }

    /// Does something for the active lanes where a varying condition holds.
    pub fn under_mask(&mut self, condition: Reg, inside: impl FnOnce(&mut Self)) {
        let end = self.b.label();
        self.b.control(Op::MaskIf, Some(condition), end);
        self.frames.push(super::control::Frame::If { resume: end });
        inside(self);
        self.frames.pop();
        self.bind(end);
        let resume = self.resume();
        self.b.control(Op::MaskEndif, None, resume);
    }

    fn conditional(&mut self, condition: &'m Expr, then: &'m Expr, otherwise: &'m Expr, expr: &'m Expr) -> Value {
        let c = self.value_before(condition, &[then, otherwise]);
        self.at(expr.span);
        if c.len() != 1 {
            let a = self.value_before(then, &[otherwise]);
            let b = self.value(otherwise);
            let parts = c.into_iter().zip(a).zip(b);
            return parts.map(|((c, a), b)| self.select(self.b.ty(a), c, a, b)).collect();
        }
        let c = c[0];
        if let Some(bits) = self.constant_bits(c) {
            return self.value(if bits != 0 { then } else { otherwise });
        }
        let small = self.cx.leaves(expr.ty).is_some_and(|leaves| leaves.len() <= MAX_SELECTED_LEAVES);
        let both = then.is_speculable() && otherwise.is_speculable();
        if both && (small || self.is_varying(c)) {
            let a = self.value(then);
            let b = self.value(otherwise);
            self.at(expr.span);
            return a.into_iter().zip(b).map(|(a, b)| self.select(self.b.ty(a), c, a, b)).collect();
        }
        if self.is_varying(c) {
            self.masked_conditional(c, then, otherwise, expr)
        } else {
            self.branched_conditional(c, then, otherwise, expr)
        }
    }

    /// Fresh registers for a value that is written in several places.
    fn result_registers(&mut self, expr: &Expr, uniform: bool) -> Value {
        let Some(leaves) = self.leaves(expr.ty, expr.span) else { return Vec::new() };
        let shape = |leaf| if uniform { Shape::Uniform } else { shape_of(leaf) };
        leaves.iter().map(|leaf| self.b.reg(shape(leaf), leaf.ty)).collect()
    }

    fn branched_conditional(&mut self, c: Reg, then: &'m Expr, otherwise: &'m Expr, expr: &'m Expr) -> Value {
        let function = self.body.function;
        let uniform = |e| self.body.analysis.is_uniform(function, e);
        let uniform = uniform(then) && uniform(otherwise);
        let result = self.result_registers(expr, uniform);
        let (other, end) = (self.b.label(), self.b.label());
        self.b.control(Op::BrFalse, Some(c), other);
        let value = self.value(then);
        self.initialise_all(&result, &value);
        self.b.control(Op::Jmp, None, end);
        self.bind(other);
        let value = self.value(otherwise);
        self.initialise_all(&result, &value);
        self.bind(end);
        result
    }

    fn masked_conditional(&mut self, c: Reg, then: &'m Expr, otherwise: &'m Expr, expr: &'m Expr) -> Value {
        let result = self.result_registers(expr, false);
        // A side that can be computed for all lanes comes first, without a mask.
        let (first, c, second) = if otherwise.is_speculable() {
            (Some(otherwise), c, then)
        } else if then.is_speculable() {
            (Some(then), self.unary(Op::Not, Ty::Bool, c), otherwise)
        } else {
            (None, c, then)
        };
        match first {
            Some(first) => {
                let value = self.value(first);
                self.initialise_all(&result, &value);
            }
            None => {
                let zeros = self.zeros(expr.ty);
                self.initialise_all(&result, &zeros);
            }
        }
        self.under_mask(c, |this| this.assign_value(&result, second));
        if first.is_none() {
            let c = self.unary(Op::Not, Ty::Bool, c);
            self.under_mask(c, |this| this.assign_value(&result, otherwise));
        }
        result
    }

    fn assign_value(&mut self, result: &[Reg], value: &'m Expr) {
        let value = self.value(value);
        self.assign_all(result, &value, false);
    }

    fn aggregate(&mut self, parts: &'m [Expr], expr: &Expr) -> Value {
        let Some(leaves) = self.leaves(expr.ty, expr.span) else { return Vec::new() };
        let mut all: Value = self.values(parts).into_iter().flatten().collect();
        for leaf in leaves.iter().skip(all.len()) {
            let zero = self.constant(leaf.ty, 0);
            all.push(zero);
        }
        all
    }

    fn task_builtin(&mut self, builtin: TaskBuiltin, ty: TypeId) -> Reg {
        use TaskBuiltin::*;
        let ty = self.cx.module.types.register_ty(ty).unwrap_or(Ty::I32);
        let r = match (builtin, self.task) {
            (TaskIndex, Some([x, y, z, nx, ny, _])) => {
                let zy = self.binary(Op::Mul, Ty::I32, z, ny);
                let rows = self.binary(Op::Add, Ty::I32, zy, y);
                let before = self.binary(Op::Mul, Ty::I32, rows, nx);
                self.binary(Op::Add, Ty::I32, before, x)
            }
            (TaskCount, Some([_, _, _, nx, ny, nz])) => {
                let n = self.binary(Op::Mul, Ty::I32, nx, ny);
                self.binary(Op::Mul, Ty::I32, n, nz)
            }
            (TaskIndex0, Some(task)) => task[0],
            (TaskIndex1, Some(task)) => task[1],
            (TaskIndex2, Some(task)) => task[2],
            (TaskCount0, Some(task)) => task[3],
            (TaskCount1, Some(task)) => task[4],
            (TaskCount2, Some(task)) => task[5],
            (TaskCount | TaskCount0 | TaskCount1 | TaskCount2, None) => self.constant(Ty::I32, 1),
            (TaskIndex | TaskIndex0 | TaskIndex1 | TaskIndex2, None) => self.constant(Ty::I32, 0),
            (ThreadIndex, _) => self.thread_value(Op::ThreadIndex),
            (ThreadCount, _) => self.thread_value(Op::ThreadCount),
        };
        self.convert(ty, Ty::I32, r)
    }

    fn thread_value(&mut self, op: Op) -> Reg {
        let r = self.b.reg(Shape::Uniform, Ty::I32);
        self.push(op, Ty::I32, Ty::I32, r, &[]);
        r
    }

    /// An operation of the table.
    fn op(&mut self, op: Op, ty: Ty, from: Ty, args: &'m [Expr], expr: &Expr) -> Value {
        let info = op.info();
        if info.sig.extra == Extra::Message && op == Op::Abort {
            self.abort("", expr.span);
            return Vec::new();
        }
        if info.sig.extra == Extra::Memory && args.len() + 1 == info.sig.src.len() {
            return self.plain_access(op, ty, args, expr);
        }
        if info.sig.extra != Extra::None || info.sig.dst_is_read || info.sig.src.len() != args.len() {
            self.cx.unsupported(expr.span, format!("the operation `{}` cannot be used directly", info.name));
            return self.zeros(expr.ty);
        }
        let values = self.values(args);
        let mut sources: Value = values.into_iter().filter_map(|v| v.first().copied()).collect();
        self.at(expr.span);
        match (info.form, op, sources.as_slice()) {
            (Form::Binary | Form::Checked | Form::Compare, _, &[a, b]) => return vec![self.binary(op, ty, a, b)],
            (Form::Unary, _, &[a]) => return vec![self.unary(op, ty, a)],
            (_, Op::Fma, &[a, b, c]) => return vec![self.fma(ty, a, b, c)],
            (_, Op::Select, &[c, a, b]) => return vec![self.select(ty, c, a, b)],
            (_, Op::Convert, &[a]) => return vec![self.convert(ty, from, a)],
            (_, Op::Iota, _) => return vec![self.iota()],
            _ => {}
        }
        let mut shape = Shape::Uniform;
        for (r, slot) in sources.iter_mut().zip(info.sig.src) {
            *r = match slot.shape {
                OperandShape::Varying => self.in_lanes(*r),
                OperandShape::Uniform => self.in_shape(*r, Shape::Uniform, expr.span),
                _ => *r,
            };
            if self.is_varying(*r) {
                shape = Shape::Varying;
            }
        }
        let Some(slot) = info.sig.dst else {
            self.push(op, ty, from, Reg::NONE, &sources);
            return Vec::new();
        };
        let shape = match slot.shape {
            OperandShape::Uniform => Shape::Uniform,
            OperandShape::Varying => Shape::Varying,
            _ => shape,
        };
        let dst = self.b.reg(shape, slot.ty.resolve(ty, from));
        self.push(op, ty, if info.sig.has_from { from } else { ty }, dst, &sources);
        vec![dst]
    }

    /// A load or store at an address without index.
    fn plain_access(&mut self, op: Op, ty: Ty, args: &'m [Expr], expr: &Expr) -> Value {
        let values = self.values(args);
        let sources: Value = values.into_iter().filter_map(|v| v.first().copied()).collect();
        self.at(expr.span);
        let address = sources.first().copied().unwrap_or(Reg::NONE);
        let stored = sources.get(1).copied().unwrap_or(Reg::NONE);
        let dst = match op {
            Op::Load => self.b.reg(self.b.join(&[address]), ty),
            Op::LoadLane => self.b.reg(Shape::Varying, ty),
            _ => Reg::NONE,
        };
        self.b.push(Inst { dst, src: [address, Reg::NONE, stored], ..Inst::new(op, ty) });
        if dst.is_none() { Vec::new() } else { vec![dst] }
    }

    fn new_expr(&mut self, elem: TypeId, count: Option<&'m Expr>, init: Option<&'m Expr>, expr: &'m Expr) -> Reg {
        let types = &self.cx.module.types;
        let size = types.size(elem, self.cx.lanes()).max(1);
        let is_varying = types.shape(expr.ty) == HirShape::Varying;
        let count = count.map(|count| self.scalar(count));
        let value = init.map(|init| self.value(init));
        self.at(expr.span);
        let size_reg = self.int(size as i64);
        let mut bytes = match count {
            None => size_reg,
            Some(count) => self.allocation_size(count, size),
        };
        if is_varying {
            bytes = self.in_lanes(bytes);
        }
        let pointer = self.b.elementwise(Op::Alloc, Ty::U64, Ty::U64, &[bytes]);
        if let Some(value) = value {
            let count = count.unwrap_or_else(|| self.int(1));
            self.fill_elements(pointer, count, elem, size, &value);
        }
        pointer
    }

    /// `count * size`, or more than there is where that is negative or overflows.
    fn allocation_size(&mut self, count: Reg, size: u64) -> Reg {
        let ty = self.b.ty(count);
        let count = self.convert(Ty::I64, ty, count);
        let as_unsigned = self.convert(Ty::U64, Ty::I64, count);
        let most = self.constant(Ty::U64, (1 << 40) / size);
        let fits = self.binary(Op::Le, Ty::U64, as_unsigned, most);
        let size = self.int(size as i64);
        let bytes = self.binary(Op::Mul, Ty::I64, count, size);
        let too_much = self.int(i64::MAX);
        self.select(Ty::I64, fits, bytes, too_much)
    }

    /// Writes a value to each element of a new allocation.
    fn fill_elements(&mut self, pointer: Reg, count: Reg, elem: TypeId, size: u64, value: &[Reg]) {
        let place = |base| super::place::MemoryPlace { base, index: None, displacement: 0, ty: elem, components: None };
        if self.constant_bits(count) == Some(1) {
            return self.store_value(&place(pointer), value);
        }
        let is_varying = self.is_varying(count);
        let i = self.b.reg(Shape::Uniform, Ty::I64);
        let zero = self.int(0);
        self.b.mov(i, zero);
        self.variables.insert(i);
        let (head, done) = (self.b.label(), self.b.label());
        if is_varying {
            self.b.plain(Op::LoopBegin);
        }
        self.bind(head);
        let goes_on = self.binary(Op::Lt, Ty::I64, i, count);
        self.b.control(if is_varying { Op::LoopTest } else { Op::BrFalse }, Some(goes_on), done);
        let size = self.int(size as i64);
        let offset = self.binary(Op::Mul, Ty::I64, i, size);
        let at = self.pointer_plus(pointer, offset);
        self.store_value(&place(at), value);
        let one = self.int(1);
        let next = self.binary(Op::Add, Ty::I64, i, one);
        self.initialise(i, next);
        self.b.control(Op::Jmp, None, head);
        self.bind(done);
        if is_varying {
            let resume = self.resume();
            self.b.control(Op::LoopEnd, None, resume);
        }
    }
}

/// Whether evaluating an expression may assign a variable that is in registers.
pub(super) fn may_assign(expr: &Expr) -> bool {
    use ExprKind::{Assign, CompoundAssign, IncDec, PointerAssign};
    if matches!(expr.kind, Assign(..) | CompoundAssign { .. } | IncDec { .. } | PointerAssign { .. }) {
        return true;
    }
    let mut found = false;
    operands(expr, &mut |e| found = found || may_assign(e));
    found
}
