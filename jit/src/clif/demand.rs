//! Getting values: from the cache, or by translating the instruction that computes them, here and now.
//!
//! A cached value is valid in the block where it was made and in those that this block dominates. So what is used beyond its
//! block is made at the block's end at the latest (`translate`), and what is derived from it (splats, other lane widths) is made
//! again where it is needed and not at hand.

use super::plan::{LaneWidth, MaskRule};
use super::translate::Translator;
use crate::backend::Rules;
use crate::exec_ir::meaning::zeros;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::has_code;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::mem::offset_of;

/// The type of a uniform value: bools are bytes 0 or 1, an `f16` is its bits.
pub(super) fn scalar_type(ty: Ty) -> clif::Type {
    match ty {
        Ty::Bool | Ty::I8 | Ty::U8 => types::I8,
        Ty::I16 | Ty::U16 | Ty::F16 => types::I16,
        Ty::I32 | Ty::U32 => types::I32,
        Ty::I64 | Ty::U64 => types::I64,
        Ty::F32 => types::F32,
        Ty::F64 => types::F64,
    }
}

/// The type of a piece of a value that is no mask.
pub(super) fn lane_type(ty: Ty) -> clif::Type {
    match ty {
        Ty::F32 => types::F32X4,
        Ty::F64 => types::F64X2,
        _ => mask_type(LaneWidth::of(ty.size())),
    }
}

/// The type of a piece of a mask, or of integers of its lane width.
pub(super) fn mask_type(lane_width: LaneWidth) -> clif::Type {
    [types::I8X16, types::I16X8, types::I32X4, types::I64X2][lane_width.0 as usize]
}

impl<'a> Translator<'a> {
    pub(super) fn made(&self, slot: usize) -> Option<clif::Value> {
        let (block, value) = self.cache[slot]?;
        let holds = block == self.block || (!self.local[slot] && self.values.dominators.dominates(block, self.block));
        holds.then_some(value)
    }

    /// Puts a value into the cache.
    pub(super) fn remember(&mut self, slot: usize, value: clif::Value) {
        self.cache[slot] = Some((self.block, value));
        if let Some(trail) = &mut self.trail {
            trail.push(slot);
        }
    }

    /// The instruction that defines a value which has not been made.
    fn source(&self, v: Value) -> &'a Inst {
        self.values.inst(v).unwrap_or_else(|| unreachable!("{v} is not at hand"))
    }

    /// Where piece `i` of a value is cached in the form in which it passes between blocks.
    pub(super) fn home_slot(&self, v: Value, i: usize) -> usize {
        match self.region.ty(v) {
            ty if !ty.is_varying() => self.plan.scalar_slot(v),
            ty if ty.ty == Ty::Bool => self.plan.mask_slot(v, self.plan.lane_width(v), i),
            _ => self.plan.piece_slot(v, i),
        }
    }

    /// Piece `i` of a value in the form in which it passes between blocks.
    pub(super) fn home_piece(&mut self, v: Value, i: usize) -> clif::Value {
        match self.region.ty(v) {
            ty if !ty.is_varying() => self.scalar(v),
            ty if ty.ty == Ty::Bool => self.mask(v, self.plan.lane_width(v), i),
            _ => self.piece(v, i),
        }
    }

    /// A uniform value.
    pub(super) fn scalar(&mut self, v: Value) -> clif::Value {
        // Made anew for each use: instructions take it in, and it occupies no register meanwhile.
        if let Some(bits) = self.values.constant(v) {
            return self.constant(self.region.ty(v).ty, bits);
        }
        let slot = self.plan.scalar_slot(v);
        if let Some(x) = self.made(slot) {
            return x;
        }
        if let Some(x) = self.load_home(v, 0) {
            return x;
        }
        let inst = self.source(v);
        match self.scalar_inst(inst) {
            Some(x) => {
                self.record(slot, x);
                x
            }
            None => self.by_call(inst, slot),
        }
    }

    /// Piece `i` of a value that is no mask; a uniform one is the same in every lane.
    pub(super) fn piece(&mut self, v: Value, i: usize) -> clif::Value {
        let ty = self.region.ty(v);
        if let Some(bits) = self.values.constant_lanes(v) {
            return self.constant_vector(lane_type(ty.ty), bits);
        }
        let slot = self.plan.piece_slot(v, i);
        if let Some(x) = self.made(slot) {
            return x;
        }
        if ty.is_varying()
            && let Some(x) = self.load_home(v, i)
        {
            return x;
        }
        if !ty.is_varying() {
            let x = self.scalar(v);
            let x = self.b.ins().splat(lane_type(ty.ty), x);
            self.record(slot, x);
            return x;
        }
        let inst = self.source(v);
        match self.lanes_inst(inst, i) {
            Some(x) => {
                self.record(slot, x);
                x
            }
            None => self.by_call(inst, slot),
        }
    }

    /// Piece `i` of a mask in a lane width; a uniform bool is the same in every lane.
    pub(super) fn mask(&mut self, v: Value, lane_width: LaneWidth, i: usize) -> clif::Value {
        match self.values.mask_bits(v).filter(|_| self.region.ty(v).is_varying()) {
            Some(0) => return self.constant_vector(mask_type(lane_width), 0),
            Some(bits) if bits == self.region.width.full_mask() => {
                return self.constant_vector(mask_type(lane_width), u64::MAX);
            }
            _ => {}
        }
        let slot = self.plan.mask_slot(v, lane_width, i);
        if let Some(x) = self.made(slot) {
            return x;
        }
        if self.region.ty(v).is_varying()
            && lane_width == self.plan.lane_width(v)
            && let Some(x) = self.load_home(v, i)
        {
            return x;
        }
        let x = self.make_mask(v, lane_width, i);
        self.record(slot, x);
        x
    }

    fn make_mask(&mut self, v: Value, lane_width: LaneWidth, i: usize) -> clif::Value {
        if !self.region.ty(v).is_varying() {
            return self.splat_mask(v, lane_width);
        }
        let home = self.plan.lane_width(v);
        if lane_width != home {
            return self.in_lane_width(v, home, lane_width, i);
        }
        let inst = self.source(v);
        match MaskRule::of(self.region, inst, self.without) {
            Some(rule) => self.mask_inst(rule, inst, lane_width, i),
            None => self.by_call(inst, self.plan.mask_slot(v, lane_width, i)),
        }
    }

    /// Executes an instruction by a call of the runtime; gives the piece in a slot.
    fn by_call(&mut self, inst: &Inst, slot: usize) -> clif::Value {
        self.general(inst);
        self.made(slot).expect("the call has made all pieces")
    }

    /// Returns whether it is a constant, made anew wherever it is used.
    pub(super) fn is_constant(&self, v: Value) -> bool {
        self.values.constant_lanes(v).is_some()
    }

    /// A constant of a uniform type.
    pub(super) fn constant(&mut self, ty: Ty, bits: u64) -> clif::Value {
        match ty {
            Ty::F32 => self.b.ins().f32const(f32::from_bits(bits as u32)),
            Ty::F64 => self.b.ins().f64const(f64::from_bits(bits)),
            Ty::Bool => self.b.ins().iconst(types::I8, (bits as u8 != 0) as i64),
            _ => {
                let size = ty.size() as u32 * 8;
                self.b.ins().iconst(scalar_type(ty), (bits & (u64::MAX >> (64 - size))) as i64)
            }
        }
    }

    /// Translates a pure instruction with a uniform result, if it has code.
    fn scalar_inst(&mut self, inst: &Inst) -> Option<clif::Value> {
        match inst.kind {
            Kind::Op { op: op @ Op::Extract, ty, .. } => {
                self.has_rule(Rules::Lanes, op).then(|| self.extract(ty, inst.args[0], inst.args[1]))
            }
            Kind::Op { op, ty, from } => self.scalar_op(op, ty, from, &inst.args),
            Kind::Zeros => Some(self.b.ins().iconst(types::I64, zeros() as i64)),
            Kind::LoadedPointer { .. } => Some(self.scalar(inst.args[2])),
            Kind::RawBits { ty, .. } => {
                let x = self.scalar(inst.args[0]);
                Some(self.moved_bits(x, ty))
            }
            Kind::MaskBits => Some(self.mask_bits(inst.args[0])),
            Kind::AnyLane => Some(self.any_lane(inst.args[0])),
            Kind::Reduce { op, ty } => self.reduce(op, ty, inst.args[0]),
            Kind::FrameHost { at, .. } => Some(self.frame_host(at)),
            Kind::FrameAddress => {
                let at = offset_of!(Context, frame_address) as i32;
                Some(self.b.ins().load(types::I64, MemFlagsData::trusted(), self.context, at))
            }
            Kind::IsShared => {
                let at = offset_of!(Context, is_shared) as i32;
                Some(self.b.ins().load(types::I64, MemFlagsData::trusted(), self.context, at))
            }
            Kind::IndexLow { scale, disp, ty } if has_code(disp) => {
                let start = self.displaced_offset(inst.args[0], disp);
                Some(self.index_low(start, scale, ty))
            }
            Kind::IndexSpan { scale, disp, need, ty } if has_code(disp) => {
                Some(self.index_span([inst.args[0], inst.args[1]], scale, disp, need, ty))
            }
            Kind::RegionBase | Kind::RegionLen { .. } => {
                // Read after the length, whether or not the length is in use.
                let len = inst.args.get(1).map(|&len| self.scalar(len));
                let pointer = self.scalar(inst.args[0]);
                Some(self.ask_region(inst.kind, pointer, len))
            }
            Kind::HostAddress { disp } => {
                self.scalar(inst.args[1]);
                let pointer = self.scalar(inst.args[0]);
                let base = self.region_base(pointer);
                let offset = self.displaced_offset(inst.args[0], disp);
                Some(self.b.ins().iadd(base, offset))
            }
            _ => None,
        }
    }

    /// Translates piece `i` of a pure instruction with a varying result that is no mask, if it has code.
    fn lanes_inst(&mut self, inst: &Inst, i: usize) -> Option<clif::Value> {
        match inst.kind {
            Kind::RawBits { ty, .. } => {
                let x = self.piece(inst.args[0], i);
                Some(self.as_type(x, lane_type(ty)))
            }
            Kind::Splat => Some(self.piece(inst.args[0], i)),
            Kind::Op { op: op @ (Op::Iota | Op::Insert | Op::Shuffle), .. } if !self.has_rule(Rules::Lanes, op) => None,
            Kind::Op { op: Op::Iota, .. } => Some(self.iota(LaneWidth::of(4), i)),
            Kind::Op { op: Op::Insert, ty, .. } => Some(self.insert_piece(ty, &inst.args, i)),
            Kind::Op { op: Op::Shuffle, ty, .. } => {
                self.shuffle(inst, ty);
                self.made(self.plan.piece_slot(inst.result?, i))
            }
            Kind::LoadLanes { ty } => Some(self.load_piece(ty, inst.args[0], i)),
            Kind::RegionBase | Kind::RegionLen { .. } => Some(self.ask_regions(inst, i)),
            Kind::Op { op, ty, from } => self.lanes_op(inst, op, ty, from, i),
            _ => None,
        }
    }

    /// Piece `i` of the lanes' numbers, as integers of a lane width.
    pub(super) fn iota(&mut self, lane_width: LaneWidth, i: usize) -> clif::Value {
        let first = i * 16 / lane_width.bytes();
        let lane =
            |at: usize| if at.is_multiple_of(lane_width.bytes()) { (first + at / lane_width.bytes()) as u8 } else { 0 };
        self.vector_of(mask_type(lane_width), std::array::from_fn(lane))
    }
}
