//! Reading and writing memory, leaf by leaf.

use super::function::{FunctionLowerer, Value};
use super::place::{Lowered, MemoryPlace};
use crate::hir::{Expr, ExprKind, Leaf, LocalId, Place, Shape, TypeId};
use crate::source::Span;
use spmdvm_vm::program::{Inst, Reg};
use spmdvm_vm::{Op, Ty};

/// The operands of one access.
struct Access {
    op: Op,
    base: Reg,
    index: Option<(Reg, u64)>,
    displacement: i64,
}

impl<'m> FunctionLowerer<'_, 'm> {
    /// Reads a place.
    pub fn read(&mut self, place: &Place, lowered: &Lowered) -> Value {
        match lowered {
            Lowered::Regs(regs) => regs.clone(),
            Lowered::Memory(memory) => {
                self.at(place.span);
                self.load_value(memory, place.span)
            }
        }
    }

    /// The leaves of a value in memory that are meant.
    fn meant_leaves(&mut self, memory: &MemoryPlace, span: Span) -> Vec<Leaf> {
        let Some(leaves) = self.leaves(memory.ty, span) else { return Vec::new() };
        match &memory.components {
            Some(components) => components.iter().filter_map(|&c| leaves.get(c as usize).copied()).collect(),
            None => leaves.to_vec(),
        }
    }

    pub fn load_value(&mut self, memory: &MemoryPlace, span: Span) -> Value {
        let leaves = self.meant_leaves(memory, span);
        leaves.iter().map(|leaf| self.load_leaf(memory, leaf, span)).collect()
    }

    fn load_leaf(&mut self, memory: &MemoryPlace, leaf: &Leaf, span: Span) -> Reg {
        let access = self.access(memory, leaf, Op::Load, Op::LoadLane, span);
        let (index, scale, from) = self.index_operands(&access, leaf.ty);
        let shape = match access.op {
            Op::LoadLane => spmdvm_vm::Shape::Varying,
            _ => self.b.join(&[access.base, index]),
        };
        let dst = self.b.reg(shape, leaf.ty);
        let src = [access.base, index, Reg::NONE];
        let imm = access.displacement;
        self.b.push(Inst { dst, src, from, aux: scale, imm, ..Inst::new(access.op, leaf.ty) });
        dst
    }

    pub fn store_value(&mut self, memory: &MemoryPlace, value: &[Reg]) {
        let leaves = self.meant_leaves(memory, Span::default());
        for (leaf, &r) in leaves.iter().zip(value) {
            self.store_leaf(memory, leaf, r);
        }
    }

    fn store_leaf(&mut self, memory: &MemoryPlace, leaf: &Leaf, value: Reg) {
        let access = self.access(memory, leaf, Op::Store, Op::StoreLane, Span::default());
        let (index, scale, from) = self.index_operands(&access, leaf.ty);
        let src = [access.base, index, value];
        let imm = access.displacement;
        self.b.push(Inst { src, from, aux: scale, imm, ..Inst::new(access.op, leaf.ty) });
    }

    fn index_operands(&self, access: &Access, ty: Ty) -> (Reg, u32, Ty) {
        match access.index {
            Some((index, scale)) => (index, scale as u32, self.b.ty(index)),
            None => (Reg::NONE, 0, ty),
        }
    }

    /// How to access a leaf: `whole` for one address per value, `lanes` where consecutive lanes are at consecutive
    /// elements.
    fn access(&mut self, memory: &MemoryPlace, leaf: &Leaf, whole: Op, lanes: Op, span: Span) -> Access {
        let displacement = memory.displacement.saturating_add_unsigned(leaf.offset);
        let mut access = Access { op: whole, base: memory.base, index: memory.index, displacement };
        match leaf.shape {
            Shape::Varying => access.op = lanes,
            Shape::Uniform => {
                if let Some((index, scale)) = memory.index
                    && scale == leaf.ty.size() as u64
                    && !self.is_varying(memory.base)
                    && let Some(base) = self.lane_base(index)
                {
                    access.op = lanes;
                    access.index = Some((base, scale));
                }
            }
            Shape::Soa(n) => {
                let whole = MemoryPlace { displacement: 0, ..memory.clone() };
                let address = if memory.index.is_some() { self.collapse(&whole, span) } else { memory.base };
                let (start, number) = self.split_instance(address, n);
                access.base = start;
                access.index = Some((number, leaf.ty.size() as u64));
            }
        }
        access
    }

    /// Writes all lanes of a value in memory at an address.
    pub fn initialise_memory(&mut self, address: Reg, ty: TypeId, value: &[Reg], span: Span) {
        let memory = MemoryPlace { base: address, index: None, displacement: 0, ty, components: None };
        self.at(span);
        let has_lanes = self.cx.leaves(ty).is_some_and(|l| l.iter().any(|leaf| leaf.shape == Shape::Varying));
        if has_lanes {
            self.b.plain(Op::Everywhere);
        }
        self.store_value(&memory, value);
        if has_lanes {
            let resume = self.resume();
            self.b.control(Op::EverywhereEnd, None, resume);
        }
    }

    /// Gives a variable in memory its initial value, zero if there is none.
    pub fn initialise_from(&mut self, address: Reg, ty: TypeId, init: Option<&'m Expr>, span: Span) {
        let size = self.cx.module.types.size(ty, self.cx.lanes());
        let Some(init) = init.filter(|init| !matches!(init.kind, ExprKind::Zero)) else {
            return self.fill_zero(address, size, span);
        };
        if !self.by_parts(ty) {
            let value = self.value(init);
            return self.initialise_memory(address, ty, &value, span);
        }
        match &init.kind {
            ExprKind::Aggregate(parts) => {
                self.fill_zero(address, size, span);
                self.initialise_parts(address, ty, parts, span);
            }
            ExprKind::Load(place) if !place.varying_address => {
                if let Lowered::Memory(from) = self.place(place) {
                    let from = self.collapse(&from, span);
                    self.copy_bytes(address, from, size, span);
                }
            }
            _ => {
                if let Some(&[leaf]) = self.leaves(ty, span).as_deref() {
                    self.fill_instance(address, ty, leaf, init);
                }
            }
        }
    }

    /// One value for all elements of a `soa` member.
    fn fill_instance(&mut self, address: Reg, ty: TypeId, leaf: Leaf, init: &'m Expr) {
        let value = self.scalar(init);
        let memory = MemoryPlace { base: address, index: None, displacement: 0, ty, components: None };
        self.at(init.span);
        let step = leaf.ty.size() as u64;
        for offset in (0..self.cx.module.types.size(ty, self.cx.lanes())).step_by(step as usize) {
            self.store_leaf(&memory, &Leaf { shape: Shape::Uniform, offset, ..leaf }, value);
        }
    }

    /// Returns whether a variable of this type is initialised part by part. It is if it does not fit in registers, or if it has `soa`
    /// instances: registers hold one element of each.
    fn by_parts(&mut self, ty: TypeId) -> bool {
        let is_soa = |leaf: &Leaf| matches!(leaf.shape, Shape::Soa(_));
        self.cx.leaves(ty).is_none_or(|leaves| leaves.iter().any(is_soa))
    }

    /// A large array or struct, or the elements of a `soa` instance, part by part. The memory is zero.
    fn initialise_parts(&mut self, address: Reg, ty: TypeId, parts: &'m [Expr], span: Span) {
        let types = &self.cx.module.types;
        let lanes = self.cx.lanes();
        for (i, part) in parts.iter().enumerate().filter(|(_, part)| !matches!(part.kind, ExprKind::Zero)) {
            let offset = match *types.kind(ty) {
                crate::hir::TypeKind::Struct(id, shape) => types.field_offset(id, shape, i, lanes),
                _ => types.size(part.ty, lanes) * i as u64,
            };
            let offset = self.int(offset as i64);
            let at = self.pointer_plus(address, offset);
            match &part.kind {
                ExprKind::Aggregate(inner) if self.by_parts(part.ty) => {
                    self.initialise_parts(at, part.ty, inner, span);
                }
                _ => self.initialise_from(at, part.ty, Some(part), span),
            }
        }
    }

    fn fill_zero(&mut self, address: Reg, size: u64, span: Span) {
        if size == 0 {
            return;
        }
        self.at(span);
        let (zero, bytes) = (self.constant(Ty::I32, 0), self.int(size as i64));
        self.push(Op::MemSet, Ty::Bool, Ty::Bool, Reg::NONE, &[address, zero, bytes]);
    }

    /// The same for a variable in which nothing is stored, so that check mode sees it.
    pub fn fill_unset(&mut self, address: Reg, local: LocalId, span: Span) {
        let declared = &self.body.function.locals[local.0 as usize];
        let size = self.cx.module.types.size(declared.ty, self.cx.lanes());
        if size > 0 {
            self.at(span);
            let (unset, bytes) = (self.b.unset(Ty::I32, declared.name.as_str()), self.int(size as i64));
            self.push(Op::MemSet, Ty::Bool, Ty::Bool, Reg::NONE, &[address, unset, bytes]);
        }
    }

    fn copy_bytes(&mut self, to: Reg, from: Reg, size: u64, span: Span) {
        self.at(span);
        let bytes = self.int(size as i64);
        self.push(Op::MemCopy, Ty::Bool, Ty::Bool, Reg::NONE, &[to, from, bytes]);
    }

    /// An assignment of a value too large for registers: bytes are copied, if it is uniform.
    pub fn copied_as_bytes(&mut self, place: &Place, lowered: &Lowered, value: &'m Expr) -> bool {
        if self.cx.leaves(place.ty).is_some() || self.cx.module.types.is_varying(place.ty) {
            return false;
        }
        let (Lowered::Memory(to), ExprKind::Load(source)) = (lowered, &value.kind) else { return false };
        let Lowered::Memory(from) = self.place(source) else { return false };
        let to = self.collapse(to, place.span);
        let from = self.collapse(&from, source.span);
        let size = self.cx.module.types.size(place.ty, self.cx.lanes());
        self.copy_bytes(to, from, size, place.span);
        true
    }
}
