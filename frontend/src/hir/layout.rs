//! Sizes, alignments and offsets in memory.
//!
//! Uniform data has the layout C gives it on a 64-bit machine. A varying scalar is as many consecutive values as there
//! are lanes, aligned to all of them as a vector register would be; a varying struct is the struct of its members, each
//! varying. A struct without members takes one byte.
//!
//! **`soa<n>` memory.** A value of type `soa<n> T` is a *block*: *n* instances of `T` in which each scalar member is an
//! array of *n* values. Blocks are aligned to at least *n* bytes, and all sizes and offsets in them are multiples of
//! *n*, so an address of one instance in a block needs no second word: it is the block's address plus the instance's
//! number (0 ≤ number < n) in the low bits. Let `p` be such an address:
//! - member: `p + offset of the member's array`;
//! - the scalar's own address: `(p & !(n-1)) + (p & (n-1)) * size of the scalar`;
//! - element *i* further on (`a[i]`, pointer arithmetic): with `k = (p & (n-1)) + i`, it is
//!   `(p & !(n-1)) + floor(k / n) * size of the block + k mod n`.
//!
//! An array `soa<n> T a[len]` is `len` blocks, so `len * n` instances. Indexing it (or a pointer to it) counts
//! instances: [`Projection::Instance`](super::Projection). An array that is a member of an instance is, in the block, an
//! array of blocks; indexing it keeps the instance's number and steps by blocks: [`Projection::Index`](super::Projection).

use super::{Shape, StructId, TypeId, TypeKind, TypeTable};
use spmdvm_vm::Ty;

/// The elements that a uniform short vector has room for at least.
const MIN_VECTOR_ELEMENTS: u32 = 4;

/// Size and alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The size, a multiple of the alignment.
    pub size: u64,
    /// The alignment, a power of two.
    pub align: u64,
}

/// One scalar of a value: what one register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The element type.
    pub ty: Ty,
    /// Uniform or varying; `Soa` in such memory.
    pub shape: Shape,
    /// Where it is, in bytes from the value's start.
    pub offset: u64,
}

impl Layout {
    fn of_elements(ty: Ty, count: u64) -> Layout {
        let size = ty.size() as u64;
        Layout { size: size.saturating_mul(count), align: size }
    }

    fn array(self, count: u64) -> Layout {
        Layout { size: self.size.saturating_mul(count), align: self.align }
    }

    fn for_shape(ty: Ty, shape: Shape, lanes: u64) -> Layout {
        match shape {
            Shape::Uniform => Layout::of_elements(ty, 1),
            Shape::Varying => {
                let whole = Layout::of_elements(ty, lanes);
                Layout { align: whole.size, ..whole }
            }
            Shape::Soa(n) => {
                let block = Layout::of_elements(ty, u64::from(n));
                Layout { align: block.align.max(u64::from(n)), ..block }
            }
        }
    }
}

impl TypeTable {
    /// The layout of a type for gangs of so many lanes. `void`, functions and arrays of unknown length have size 0.
    pub fn layout(&self, id: TypeId, lanes: usize) -> Layout {
        let lanes64 = lanes as u64;
        match *self.kind(id) {
            TypeKind::Error | TypeKind::Void | TypeKind::Function(_) => Layout { size: 0, align: 1 },
            TypeKind::Scalar(ty, shape) => Layout::for_shape(ty, shape, lanes64),
            TypeKind::Enum(_, shape) => Layout::for_shape(Ty::U32, shape, lanes64),
            TypeKind::Pointer { shape, .. } => Layout::for_shape(Ty::U64, shape, lanes64),
            TypeKind::Reference(_) => Layout::of_elements(Ty::U64, 1),
            TypeKind::Array(elem, len) => self.layout(elem, lanes).array(len.unwrap_or(0)),
            TypeKind::Vector(elem, len) => self.vector_layout(elem, len, lanes),
            TypeKind::Struct(id, shape) => match self.layouts.get(&(id, shape, lanes)) {
                Some((layout, _)) => *layout,
                None => self.struct_layout(id, shape, lanes).0,
            },
        }
    }

    /// The size of a type in bytes.
    pub fn size(&self, id: TypeId, lanes: usize) -> u64 {
        self.layout(id, lanes).size
    }

    /// The offset of a member from the start of a struct instance with this shape.
    pub fn field_offset(&self, id: StructId, shape: Shape, field: usize, lanes: usize) -> u64 {
        match self.layouts.get(&(id, shape, lanes)) {
            Some((_, offsets)) => offsets.get(field).copied().unwrap_or(0),
            None => self.struct_layout(id, shape, lanes).1.get(field).copied().unwrap_or(0),
        }
    }

    /// Computes a struct's layout once and for all, when its definition is complete. (Without that, nested structs would
    /// be walked again for every question, which can take time exponential in the depth of nesting.)
    pub fn remember_layout(&mut self, id: StructId, shape: Shape, lanes: usize) {
        let layout = self.struct_layout(id, shape, lanes);
        self.layouts.insert((id, shape, lanes), layout);
    }

    /// The offset of a short vector's component.
    pub fn component_offset(&self, vector: TypeId, component: u32, lanes: usize) -> u64 {
        match *self.kind(vector) {
            TypeKind::Vector(elem, _) => self.size(elem, lanes) * u64::from(component),
            _ => 0,
        }
    }

    /// The layout of a struct instance and the offsets of its members.
    pub fn struct_layout(&self, id: StructId, shape: Shape, lanes: usize) -> (Layout, Vec<u64>) {
        if let Some(known) = self.layouts.get(&(id, shape, lanes)) {
            return known.clone();
        }
        let def = self.struct_def(id);
        let mut whole = Layout { size: 0, align: def.align.unwrap_or(1).max(1) };
        let mut offsets = Vec::with_capacity(def.fields.len());
        for field in 0..def.fields.len() {
            let mut member = self.layout(self.field_type(id, shape, field), lanes);
            if def.packed && !matches!(shape, Shape::Soa(_)) {
                member.align = 1;
            }
            let offset = round_up(whole.size, member.align);
            offsets.push(offset);
            whole.size = offset.saturating_add(member.size);
            whole.align = whole.align.max(member.align);
        }
        if def.fields.is_empty() && !def.is_opaque {
            whole.size = 1;
        }
        whole.size = round_up(whole.size, whole.align);
        (whole, offsets)
    }

    /// The scalars of a value in order, with their offsets; arrays of known length are unrolled. At most `limit` leaves:
    /// `None` if there are more or the type has no leaves of its own (unknown lengths).
    pub fn leaves(&self, id: TypeId, lanes: usize, limit: usize) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.collect_leaves(id, lanes, 0, limit, &mut leaves).then_some(leaves)
    }

    fn collect_leaves(&self, id: TypeId, lanes: usize, base: u64, limit: usize, leaves: &mut Vec<Leaf>) -> bool {
        match *self.kind(id) {
            TypeKind::Struct(def, shape) => {
                let (_, offsets) = self.struct_layout(def, shape, lanes);
                offsets.iter().enumerate().all(|(field, offset)| {
                    let ty = self.field_type(def, shape, field);
                    self.collect_leaves(ty, lanes, base + offset, limit, leaves)
                })
            }
            TypeKind::Array(elem, Some(len)) => self.collect_repeated(elem, len, lanes, base, limit, leaves),
            TypeKind::Vector(elem, len) => self.collect_repeated(elem, u64::from(len), lanes, base, limit, leaves),
            TypeKind::Void => true,
            _ => {
                let Some(ty) = self.register_ty(id) else { return false };
                leaves.push(Leaf { ty, shape: self.shape(id), offset: base });
                leaves.len() <= limit
            }
        }
    }

    fn collect_repeated(
        &self,
        elem: TypeId,
        len: u64,
        lanes: usize,
        base: u64,
        limit: usize,
        leaves: &mut Vec<Leaf>,
    ) -> bool {
        let size = self.size(elem, lanes);
        // What takes no room has no leaves, however often it is repeated.
        size == 0 || (0..len).all(|index| self.collect_leaves(elem, lanes, base + index * size, limit, leaves))
    }

    /// A uniform short vector is padded to a power of two of elements, at least four, and aligned to its size, as on
    /// ISPC's targets of 32 bits per lane (those that C headers for hosts are made for); others are plain sequences.
    fn vector_layout(&self, elem: TypeId, len: u32, lanes: usize) -> Layout {
        let elem_layout = self.layout(elem, lanes);
        if self.shape(elem) != Shape::Uniform {
            return elem_layout.array(u64::from(len));
        }
        let whole = elem_layout.array(u64::from(len.next_power_of_two().max(MIN_VECTOR_ELEMENTS)));
        Layout { align: whole.size.max(1), ..whole }
    }
}

fn round_up(offset: u64, align: u64) -> u64 {
    offset.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}
