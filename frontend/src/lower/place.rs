//! Places: registers of variables, and memory with the parts of its address.

use super::function::{FunctionLowerer, Storage, Value};
use crate::hir::{Expr, Place, PlaceBase, Projection, Shape, TypeId, TypeKind};
use crate::source::Span;
use spmdvm_vm::program::Reg;
use spmdvm_vm::{Op, Ty};

/// A place whose operands were computed.
#[derive(Clone, Debug)]
pub(super) enum Lowered {
    /// Registers, one per leaf.
    Regs(Value),
    /// Memory.
    Memory(MemoryPlace),
}

/// Memory at `base + index * scale + displacement`.
#[derive(Clone, Debug)]
pub(super) struct MemoryPlace {
    pub base: Reg,
    pub index: Option<(Reg, u64)>,
    pub displacement: i64,
    /// The type of what lies there.
    pub ty: TypeId,
    /// Components of it that are meant; it is a short vector then.
    pub components: Option<Vec<u8>>,
}

/// Displacements stay below this in either direction; larger ones are added to the base.
const MAX_DISPLACEMENT: i64 = 1 << 38;

impl<'m> FunctionLowerer<'_, 'm> {
    /// Computes the operands of a place.
    pub fn place(&mut self, place: &'m Place) -> Lowered {
        let is_static = place.projections.iter().all(Projection::is_static);
        let (whole, ty) = match &place.base {
            PlaceBase::Local(local) => {
                let declared = &self.body.function.locals[local.0 as usize];
                // Analysis makes variables without a declaration: what a reference to a value is bound to.
                self.declare_in_advance(*local);
                match self.body.storage[local.0 as usize].clone() {
                    Some(Storage::Regs(regs)) => (Lowered::Regs(regs), declared.ty),
                    Some(Storage::Memory(address)) => (at_address(address, declared.ty), declared.ty),
                    None => {
                        self.internal(place.span, "a variable without a place");
                        (Lowered::Regs(self.zeros(declared.ty)), declared.ty)
                    }
                }
            }
            PlaceBase::Global(id) => {
                let ty = self.cx.module.global(*id).ty;
                (at_address(self.global_address(*id), ty), ty)
            }
            PlaceBase::Deref(pointer) => {
                let address = self.scalar(pointer);
                let ty = self.pointee(pointer.ty, place.span);
                (at_address(address, ty), ty)
            }
            PlaceBase::Value(value) => (Lowered::Regs(self.value(value)), value.ty),
        };
        match whole {
            Lowered::Regs(regs) if is_static => Lowered::Regs(self.part_of_registers(regs, ty, &place.projections)),
            Lowered::Regs(regs) => {
                let address = self.frame_memory(ty);
                self.initialise_memory(address, ty, &regs, place.span);
                let Lowered::Memory(memory) = at_address(address, ty) else { return Lowered::Regs(regs) };
                Lowered::Memory(self.part_of_memory(memory, &place.projections, place.span))
            }
            Lowered::Memory(memory) => Lowered::Memory(self.part_of_memory(memory, &place.projections, place.span)),
        }
    }

    /// The type that a pointer or reference points to.
    pub fn pointee(&mut self, ty: TypeId, span: Span) -> TypeId {
        match *self.cx.module.types.kind(ty) {
            TypeKind::Pointer { pointee, .. } => pointee,
            TypeKind::Reference(target) => target,
            _ => {
                self.internal(span, "something that is no pointer is dereferenced");
                ty
            }
        }
    }

    fn count(&mut self, ty: TypeId) -> usize {
        self.cx.leaves(ty).map_or(0, |leaves| leaves.len())
    }

    /// The registers that projections without computed indices lead to.
    fn part_of_registers(&mut self, mut regs: Value, mut ty: TypeId, projections: &[Projection]) -> Value {
        for projection in projections {
            let (skip, take) = match projection {
                Projection::Field { field, ty: member } => {
                    (self.leaves_before_field(ty, *field as usize), self.count(*member))
                }
                Projection::Index { index, ty: element, .. } => {
                    let size = self.count(*element);
                    (index.constant_bits().unwrap_or(0) as usize * size, size)
                }
                Projection::Swizzle { components, .. } => {
                    regs = components.iter().filter_map(|&c| regs.get(c as usize).copied()).collect();
                    continue;
                }
                Projection::Instance { .. } => continue,
            };
            regs = regs.into_iter().skip(skip).take(take).collect();
            ty = projection.ty();
        }
        regs
    }

    /// How many leaves come before a member.
    pub fn leaves_before_field(&mut self, ty: TypeId, field: usize) -> usize {
        let module = self.cx.module;
        let TypeKind::Struct(id, shape) = *module.types.kind(ty) else { return 0 };
        (0..field).map(|before| self.count(module.types.field_type(id, shape, before))).sum()
    }

    fn part_of_memory(&mut self, mut memory: MemoryPlace, projections: &'m [Projection], span: Span) -> MemoryPlace {
        let lanes = self.cx.lanes();
        for projection in projections {
            let types = &self.cx.module.types;
            match projection {
                Projection::Field { field, .. } => {
                    if let TypeKind::Struct(id, shape) = *types.kind(memory.ty) {
                        let offset = types.field_offset(id, shape, *field as usize, lanes);
                        memory.displacement = memory.displacement.saturating_add_unsigned(offset);
                    }
                }
                Projection::Index { index, ty, .. } => {
                    let size = types.size(*ty, lanes);
                    self.step(&mut memory, index, size, span);
                }
                Projection::Instance { index, ty } => {
                    let index = self.scalar(index);
                    let address = self.collapse(&memory, span);
                    memory.base = self.instance_step(address, index, *ty);
                    (memory.index, memory.displacement) = (None, 0);
                }
                Projection::Swizzle { components, .. } => {
                    memory.components = Some(components.clone());
                    continue;
                }
            }
            memory.ty = projection.ty();
            if memory.displacement.abs() > MAX_DISPLACEMENT {
                memory.base = self.collapse(&memory, span);
                (memory.index, memory.displacement) = (None, 0);
            }
        }
        memory
    }

    /// Goes on by `index * size` bytes.
    fn step(&mut self, memory: &mut MemoryPlace, index: &'m Expr, size: u64, span: Span) {
        let mut r = self.scalar(index);
        self.at(span);
        if let Some(value) = self.constant_bits(r).map(|bits| signed(self.b.ty(r), bits)) {
            let offset = value.checked_mul(size as i64).and_then(|offset| offset.checked_add(memory.displacement));
            if let Some(sum) = offset.filter(|sum| sum.abs() < MAX_DISPLACEMENT) {
                memory.displacement = sum;
                return;
            }
        }
        let ty = self.b.ty(r);
        if !matches!(ty, Ty::I32 | Ty::I64 | Ty::U32 | Ty::U64) {
            r = self.convert(Ty::I32, ty, r);
        }
        if size > 1 << 30 {
            memory.base = self.offset_by(memory.base, r, size);
            return;
        }
        let Some((old, old_size)) = memory.index else {
            memory.index = Some((r, size));
            return;
        };
        // Uniform steps are cheap to add to the base.
        if self.is_varying(old) && !self.is_varying(r) {
            memory.base = self.offset_by(memory.base, r, size);
        } else {
            memory.base = self.offset_by(memory.base, old, old_size);
            memory.index = Some((r, size));
        }
    }

    /// `base + index * size`.
    fn offset_by(&mut self, base: Reg, index: Reg, size: u64) -> Reg {
        let wide = self.convert(Ty::I64, self.b.ty(index), index);
        let size = self.int(size as i64);
        let bytes = self.binary(Op::Mul, Ty::I64, wide, size);
        self.pointer_plus(base, bytes)
    }

    /// `base + bytes`, in the same region.
    pub fn pointer_plus(&mut self, base: Reg, bytes: Reg) -> Reg {
        if self.constant_bits(bytes) == Some(0) {
            return base;
        }
        self.b.elementwise(Op::PAdd, Ty::U64, Ty::U64, &[base, bytes])
    }

    /// The address in one register.
    pub fn collapse(&mut self, memory: &MemoryPlace, span: Span) -> Reg {
        self.at(span);
        let mut base = memory.base;
        if let Some((index, scale)) = memory.index {
            base = self.offset_by(base, index, scale);
        }
        let displacement = self.int(memory.displacement);
        self.pointer_plus(base, displacement)
    }

    /// The instance `index` further on in `soa` memory; the address of an instance holds its number in the low bits (see
    /// the HIR's `layout`).
    fn instance_step(&mut self, address: Reg, index: Reg, ty: TypeId) -> Reg {
        let types = &self.cx.module.types;
        let Shape::Soa(n) = types.shape(ty) else { return address };
        let block = types.size(ty, self.cx.lanes());
        let (start, number) = self.split_instance(address, n);
        let number = self.convert(Ty::I64, Ty::U64, number);
        let index = self.convert(Ty::I64, self.b.ty(index), index);
        let sum = self.binary(Op::Add, Ty::I64, number, index);
        let shift = self.int(i64::from(n.trailing_zeros()));
        let blocks = self.binary(Op::Shr, Ty::I64, sum, shift);
        let low = self.int(i64::from(n) - 1);
        let rest = self.binary(Op::And, Ty::I64, sum, low);
        let size = self.int(block as i64);
        let bytes = self.binary(Op::Mul, Ty::I64, blocks, size);
        let bytes = self.binary(Op::Add, Ty::I64, bytes, rest);
        self.pointer_plus(start, bytes)
    }

    /// The address of a block of `soa<n>` memory and the instance's number in it (`u64`).
    pub fn split_instance(&mut self, address: Reg, n: u32) -> (Reg, Reg) {
        let low = u64::from(n) - 1;
        let (low_bits, high_bits) = (self.constant(Ty::U64, low), self.constant(Ty::U64, !low));
        let start = self.binary(Op::And, Ty::U64, address, high_bits);
        let number = self.binary(Op::And, Ty::U64, address, low_bits);
        (start, number)
    }

    /// `pointer + index` (or `-`), counted in elements.
    pub fn pointer_step(&mut self, pointer: Reg, index: Reg, pointee: TypeId, subtract: bool, span: Span) -> Reg {
        self.at(span);
        let types = &self.cx.module.types;
        let (size, soa) = (types.size(pointee, self.cx.lanes()), types.shape(pointee));
        let mut wide = self.convert(Ty::I64, self.b.ty(index), index);
        if subtract {
            wide = self.unary(Op::Neg, Ty::I64, wide);
        }
        if let Shape::Soa(_) = soa {
            return self.instance_step(pointer, wide, pointee);
        }
        // `void` and functions count in bytes.
        self.offset_by(pointer, wide, size.max(1))
    }
}

fn at_address(base: Reg, ty: TypeId) -> Lowered {
    Lowered::Memory(MemoryPlace { base, index: None, displacement: 0, ty, components: None })
}

/// The value of an integer constant.
fn signed(ty: Ty, bits: u64) -> i64 {
    let shift = 64 - 8 * ty.size() as u32;
    if ty.is_signed() { (bits << shift) as i64 >> shift } else { bits as i64 }
}
