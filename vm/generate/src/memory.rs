//! Random memory operations on objects whose size and element type are known.

use super::function::FunctionGenerator;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{GlobalId, Inst, Reg};
use spmdvm_vm::types::{Shape, Ty};

/// Where an object lives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    /// It is a global.
    Global(GlobalId),
    /// It lies in frame memory or on the heap.
    Elsewhere,
}

/// A piece of memory that is accessed as elements of one type (integers: as any integer type).
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub elem: Ty,
    pub bytes: u64,
    pub writable: bool,
    pub home: Home,
}

/// A register that points to the start of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub reg: Reg,
    pub object: Object,
}

/// A variable in frame memory, as a member of a struct is: its offset, and whether each lane has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    ty: Ty,
    by_lane: bool,
    at: i64,
}

/// All such variables of a function, and the register that points to the first.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    base: Reg,
    bytes: u64,
    fields: Vec<Field>,
}

/// A memory operand.
struct Address {
    base: Reg,
    index: Reg,
    from: Ty,
    scale: u32,
    displacement: i64,
}

const INDEX_TYPES: [Ty; 4] = [Ty::I32, Ty::I64, Ty::U32, Ty::U64];

impl FunctionGenerator<'_> {
    /// Takes the addresses of globals and of a piece of frame memory.
    pub(super) fn addresses(&mut self) {
        for object in self.g.objects.clone() {
            let Home::Global(id) = object.home else { continue };
            let reg = self.b.reg(Shape::Uniform, Ty::U64);
            if self.g.rng.chance(1, 3) {
                let table = self.b.reg(Shape::Uniform, Ty::U64);
                let (aux, imm) = (self.g.pointer_table().0, 8 * id.0 as i64);
                self.push(Inst { dst: table, aux, ..Inst::new(Op::GlobalAddr, Ty::U64) });
                self.push(Inst { dst: reg, src: [table, Reg::NONE, Reg::NONE], imm, ..Inst::new(Op::Load, Ty::U64) });
            } else {
                self.push(Inst { dst: reg, aux: id.0, ..Inst::new(Op::GlobalAddr, Ty::U64) });
            }
            self.pointers.push(Pointer { reg, object });
        }
        if self.g.rng.chance(1, 3) {
            self.take_fields();
        } else if self.g.rng.chance(1, 2) {
            let elem = *self.g.rng.pick(&super::GLOBAL_TYPES);
            let imm = self.b.frame_slot(super::GLOBAL_BYTES, 16) as i64;
            let reg = self.b.reg(Shape::Uniform, Ty::U64);
            self.push(Inst { dst: reg, imm, ..Inst::new(Op::FrameAddr, Ty::U64) });
            let object = Object { elem, bytes: super::GLOBAL_BYTES, writable: true, home: Home::Elsewhere };
            self.pointers.push(Pointer { reg, object });
        }
    }

    pub(super) fn memory_statement(&mut self) {
        let fields = self.fields.is_some() as usize * 12;
        match self.g.rng.weighted(&[8, 4, 1, 1, 1, fields]) {
            0 => self.access(),
            1 => self.atomic(),
            2 => self.copy(),
            3 => self.fill(),
            5 => self.field_access(),
            _ => self.heap(),
        }
    }

    /// A pointer to an object, which is writable if asked for (unless the program may trap).
    fn pointer(&mut self, writable: bool) -> Pointer {
        let any = !writable || self.g.wild && self.g.rng.chance(1, 20);
        let fits: Vec<Pointer> = self.pointers.iter().copied().filter(|p| any || p.object.writable).collect();
        *self.g.rng.pick(&fits)
    }

    fn access_type(&mut self, object: &Object) -> Ty {
        const INTS: [Ty; 9] = [Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::I32];
        if object.elem.is_int() { *self.g.rng.pick(&INTS) } else { object.elem }
    }

    /// A load or store of any kind.
    fn access(&mut self) {
        let store = self.g.rng.chance(1, 2);
        let pointer = self.pointer(store);
        self.access_through(pointer, store);
    }

    fn access_through(&mut self, pointer: Pointer, store: bool) {
        let ty = self.access_type(&pointer.object);
        let lanes = self.g.rng.chance(1, 3);
        let span = if lanes { self.g.options.width.lanes() as u64 } else { 1 };
        // Elements among which a single access (or the first of a gang's) may choose: a power of two.
        let room = pointer.object.bytes / ty.size() as u64 - span + 1;
        let choices = 1 << room.ilog2();
        let a = self.address(pointer.reg, ty, choices);
        let op = match (store, lanes) {
            (false, false) => Op::Load,
            (false, true) => Op::LoadLane,
            (true, false) => Op::Store,
            (true, true) => Op::StoreLane,
        };
        let mut inst = Inst { from: a.from, aux: a.scale, imm: a.displacement, ..Inst::new(op, ty) };
        inst.src = [a.base, a.index, Reg::NONE];
        if store {
            inst.src[2] = self.operand(ty, None);
        } else {
            let shape = if lanes { Shape::Varying } else { self.b.join(&[a.base, a.index]) };
            let Some(dst) = self.result_register(shape, ty, false) else { return };
            inst.dst = dst;
        }
        self.push(inst);
    }

    /// The address of one of so many elements (a power of two) from a pointer on.
    fn address(&mut self, base: Reg, ty: Ty, choices: u64) -> Address {
        let size = ty.size() as u64;
        let plain = Address { base, index: Reg::NONE, from: ty, scale: 0, displacement: 0 };
        let astray = self.g.wild && self.g.rng.chance(1, 12);
        match self.g.rng.below(4) {
            0 => Address { displacement: self.displacement(choices, size, astray), ..plain },
            1 => Address { base: self.moved(base, choices, size), ..plain },
            _ => {
                let from = *self.g.rng.pick(&INDEX_TYPES);
                let half = choices > 1 && self.g.rng.chance(1, 2);
                let among = if half { choices / 2 } else { choices };
                let mut index = self.operand(from, None);
                if !astray {
                    let most = self.b.constant(from, among - 1);
                    index = self.b.binary(Op::And, from, index, most);
                }
                let displacement = if half { (choices / 2 * size) as i64 } else { 0 };
                Address { base, index, from, scale: size as u32, displacement }
            }
        }
    }

    fn displacement(&mut self, choices: u64, size: u64, astray: bool) -> i64 {
        let element = (self.g.rng.next() % choices) as i64;
        let element = if astray { element - (self.g.rng.next() % 8) as i64 } else { element };
        element * size as i64
    }

    /// A pointer that many elements further on, uniform or different for each lane.
    fn moved(&mut self, base: Reg, choices: u64, size: u64) -> Reg {
        let by = self.operand(Ty::I64, None);
        let (most, size) = (self.b.constant(Ty::I64, choices - 1), self.b.constant(Ty::I64, size));
        let by = self.b.binary(Op::And, Ty::I64, by, most);
        let by = self.b.binary(Op::Mul, Ty::I64, by, size);
        self.b.elementwise(Op::PAdd, Ty::U64, Ty::U64, &[base, by])
    }

    /// An atomic operation on one element or on one for each lane.
    fn atomic(&mut self) {
        const OPS: [Op; 9] = [
            Op::AtomicAdd,
            Op::AtomicSub,
            Op::AtomicMin,
            Op::AtomicMax,
            Op::AtomicAnd,
            Op::AtomicOr,
            Op::AtomicXor,
            Op::AtomicSwap,
            Op::AtomicCas,
        ];
        let op = *self.g.rng.pick(&OPS);
        let pointer = self.pointer(true);
        let ty = self.access_type(&pointer.object);
        // Comparing floats bit for bit would show the bits of NaNs.
        if !op.info().types.contains(ty) || op == Op::AtomicCas && ty.is_float() {
            return self.access();
        }
        let choices = 1 << (pointer.object.bytes / ty.size() as u64).min(8).ilog2();
        let p = self.moved(pointer.reg, choices, ty.size() as u64);
        let mut src = [p, self.operand(ty, None), Reg::NONE];
        if op == Op::AtomicCas {
            src[2] = self.operand(ty, None);
        }
        let shape = self.b.join(&src);
        let Some(dst) = self.result_register(shape, ty, false) else { return };
        self.push(Inst { dst, src, ..Inst::new(op, ty) });
    }

    /// Copies part of an object to one with the same elements.
    fn copy(&mut self) {
        let to = self.pointer(true);
        let same = |p: &Pointer| p.object.elem == to.object.elem;
        let sources: Vec<Pointer> = self.pointers.iter().copied().filter(same).collect();
        let from = *self.g.rng.pick(&sources);
        let size = to.object.elem.size() as u64;
        let (target, source) = (self.moved(to.reg, 16, size), self.moved(from.reg, 16, size));
        let bytes = self.b.constant(Ty::I64, (self.g.rng.next() % 16) * size);
        self.push(Inst { src: [target, source, bytes], ..Inst::new(Op::MemCopy, Ty::Bool) });
    }

    /// Fills part of an object that holds integers.
    fn fill(&mut self) {
        let to = self.pointer(true);
        if !to.object.elem.is_int() {
            return self.access();
        }
        let target = self.moved(to.reg, 16, 8);
        let value = self.operand(Ty::I32, None);
        let bytes = self.b.constant(Ty::I64, self.g.rng.next() % 64);
        self.push(Inst { src: [target, value, bytes], ..Inst::new(Op::MemSet, Ty::Bool) });
    }

    /// Lays out some variables in frame memory.
    fn take_fields(&mut self) {
        const TYPES: [Ty; 8] = [Ty::F32, Ty::I32, Ty::F32, Ty::I64, Ty::U8, Ty::I16, Ty::F64, Ty::Bool];
        let mut bytes = 0u64;
        let mut fields = Vec::new();
        for _ in 0..1 + self.g.rng.below(6) {
            let (ty, by_lane) = (*self.g.rng.pick(&TYPES), self.g.rng.chance(2, 3));
            fields.push(Field { ty, by_lane, at: bytes as i64 });
            let lanes = if by_lane { self.g.options.width.lanes() as u64 } else { 1 };
            bytes = (bytes + lanes * ty.size() as u64).next_multiple_of(16);
        }
        let imm = self.b.frame_slot(bytes, 16) as i64;
        let base = self.b.reg(Shape::Uniform, Ty::U64);
        self.push(Inst { dst: base, imm, ..Inst::new(Op::FrameAddr, Ty::U64) });
        self.fields = Some(Fields { base, bytes, fields });
    }

    /// Reads or writes such a variable, or zeroes all of them.
    fn field_access(&mut self) {
        let Some(Fields { base, bytes, fields }) = self.fields.clone() else { return };
        let Field { ty, by_lane, at } = *self.g.rng.pick(&fields);
        let mut src = [base, Reg::NONE, Reg::NONE];
        match self.g.rng.below(9) {
            0 => {
                src = [base, self.b.constant(Ty::I32, 0), self.b.constant(Ty::I64, bytes)];
                self.push(Inst { src, ..Inst::new(Op::MemSet, Ty::Bool) });
            }
            1..=4 => {
                let op = if by_lane { Op::StoreLane } else { Op::Store };
                src[2] = self.operand(ty, (!by_lane).then_some(Shape::Uniform));
                self.push(Inst { src, imm: at, ..Inst::new(op, ty) });
            }
            _ => {
                let op = if by_lane { Op::LoadLane } else { Op::Load };
                let shape = if by_lane { Shape::Varying } else { Shape::Uniform };
                let Some(dst) = self.result_register(shape, ty, false) else { return };
                self.push(Inst { dst, src, imm: at, ..Inst::new(op, ty) });
            }
        }
    }

    /// Allocates, writes, reads and frees: for the gang or for each lane.
    fn heap(&mut self) {
        let elem = *self.g.rng.pick(&super::GLOBAL_TYPES);
        let bytes = self.b.constant(Ty::I64, super::GLOBAL_BYTES);
        let mut size = bytes;
        if self.g.rng.chance(1, 2) {
            size = self.b.reg(Shape::Varying, Ty::I64);
            self.b.mov(size, bytes);
        }
        let reg = self.b.reg(self.b.shape(size), Ty::U64);
        self.push(Inst { dst: reg, src: [size, Reg::NONE, Reg::NONE], ..Inst::new(Op::Alloc, Ty::U64) });
        let object = Object { elem, bytes: super::GLOBAL_BYTES, writable: true, home: Home::Elsewhere };
        for _ in 0..1 + self.g.rng.below(4) {
            let store = self.g.rng.chance(1, 2);
            self.access_through(Pointer { reg, object }, store);
        }
        if self.g.rng.chance(3, 4) {
            let freed = if self.g.wild && self.g.rng.chance(1, 8) { self.moved(reg, 4, 8) } else { reg };
            self.push(Inst { src: [freed, Reg::NONE, Reg::NONE], ..Inst::new(Op::Free, Ty::Bool) });
        }
    }
}
