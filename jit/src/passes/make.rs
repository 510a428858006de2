//! Making instructions in the middle of a region.

use crate::exec_ir::meaning::normalised;
use crate::ir::{Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Makes instructions with new values, and appends them to a list.
pub(crate) struct Maker<'a> {
    /// Whose values they are.
    pub region: &'a mut Region,
    /// Where the instructions go.
    pub to: &'a mut Vec<Inst>,
}

impl Maker<'_> {
    /// An instruction.
    pub fn inst(&mut self, kind: Kind, args: &[Value], ty: Type) -> Value {
        let v = self.region.new_value(ty);
        self.to.push(Inst { kind, args: args.to_vec(), result: Some(v) });
        v
    }

    /// An operation of the table on one type.
    pub fn op(&mut self, op: Op, ty: Ty, args: &[Value]) -> Value {
        let varying = args.iter().any(|&a| self.region.ty(a).is_varying());
        let elem = op.info().result_ty(ty).unwrap_or(ty);
        let result = if varying { Type::varying(elem) } else { Type::uniform(elem) };
        self.inst(Kind::Op { op, ty, from: ty }, args, result)
    }

    /// A constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.inst(Kind::Const(normalised(ty, bits)), &[], Type::uniform(ty))
    }

    /// An operation with a constant on its right.
    pub fn with(&mut self, op: Op, ty: Ty, a: Value, bits: u64) -> Value {
        let c = self.constant(ty, bits);
        self.op(op, ty, &[a, c])
    }

    /// Bytes of a pointer's region that may be read, or written.
    pub fn region_len(&mut self, pointer: Value, write: bool) -> Value {
        let ty = Type::uniform(Ty::U64);
        let readable = self.inst(Kind::RegionLen { write: false }, &[pointer], ty);
        if write { self.inst(Kind::RegionLen { write }, &[pointer, readable], ty) } else { readable }
    }

    /// A value as another type; `Convert` or `Bitcast`.
    pub fn cast(&mut self, op: Op, v: Value, ty: Ty) -> Value {
        let Type { shape, ty: from } = self.region.ty(v);
        if from == ty { v } else { self.inst(Kind::Op { op, ty, from }, &[v], Type { shape, ty }) }
    }
}
