//! Operations across lanes: extraction, insertion, permutation, reduction.

use super::demand::{lane_type, mask_type, scalar_type};
use super::plan::LaneWidth;
use super::translate::Translator;
use crate::backend::Rules;
use crate::ir::{Inst, Value};
use crate::lowering::step_of;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Vectors that are put together lane by lane, from memory.
pub(super) struct Assembly {
    /// As floats, which go from memory to a lane in one instruction.
    vector: clif::Type,
    ty: clif::Type,
    pieces: Vec<Option<clif::Value>>,
}

impl Assembly {
    /// So many elements of a type; a bool is a byte.
    pub fn new(ty: Ty, lanes: usize) -> Assembly {
        let vector = match ty.size() {
            4 => types::F32X4,
            8 => types::F64X2,
            size => mask_type(LaneWidth::of(size)),
        };
        let pieces = vec![None; (lanes * ty.size()).div_ceil(16)];
        Assembly { vector, ty: if ty == Ty::Bool { types::I8X16 } else { lane_type(ty) }, pieces }
    }

    /// Loads a lane; they come in order.
    pub fn add(&mut self, t: &mut Translator<'_>, lane: usize, address: clif::Value, disp: i32) {
        let n = self.vector.lane_count() as usize;
        let x = t.b.ins().load(self.vector.lane_type(), MemFlagsData::new().with_notrap(), address, disp);
        let piece = &mut self.pieces[lane / n];
        *piece = Some(match *piece {
            None if n <= 4 => t.b.ins().scalar_to_vector(self.vector, x),
            None => {
                let zero = t.constant_vector(self.vector, 0);
                t.b.ins().insertlane(zero, x, 0)
            }
            Some(so_far) => t.b.ins().insertlane(so_far, x, (lane % n) as u8),
        });
    }

    pub fn finish(self, t: &mut Translator<'_>) -> Vec<clif::Value> {
        self.pieces.into_iter().flatten().map(|x| t.as_type(x, self.ty)).collect()
    }
}

impl Translator<'_> {
    /// A uniform lane number, modulo the lanes.
    fn lane_number(&mut self, index: Value) -> clif::Value {
        let index = self.scalar(index);
        self.b.ins().band_imm_u(index, self.lanes as i64 - 1)
    }

    /// One lane of a value.
    pub(super) fn extract(&mut self, ty: Ty, v: Value, index: Value) -> clif::Value {
        if ty == Ty::Bool {
            let bits = self.mask_bits(v);
            let lane = self.lane_number(index);
            let bit = self.b.ins().ushr(bits, lane);
            let bit = self.b.ins().ireduce(types::I8, bit);
            return self.b.ins().band_imm_u(bit, 1);
        }
        let size = ty.size();
        if let Some(at) = self.values.constant(index) {
            let at = at as usize % self.lanes;
            let x = self.piece(v, at * size / 16);
            return self.b.ins().extractlane(x, (at % (16 / size)) as u8);
        }
        // The lane's number first: what computes it may need the scratch memory too.
        let lane = self.lane_number(index);
        let memory = self.spill(v, size);
        let lane = self.b.ins().uextend(types::I64, lane);
        let offset = self.b.ins().ishl_imm_u(lane, size.trailing_zeros() as i64);
        let at = self.b.ins().iadd(memory, offset);
        self.b.ins().load(scalar_type(ty), MemFlagsData::trusted(), at, 0)
    }

    /// Writes all lanes of a value to the scratch memory; gives its address.
    fn spill(&mut self, v: Value, size: usize) -> clif::Value {
        let pieces: Vec<_> = (0..self.plan.pieces(size)).map(|i| self.piece(v, i)).collect();
        self.in_scratch(&pieces)
    }

    /// Writes pieces to the scratch memory; gives its address.
    pub(super) fn in_scratch(&mut self, pieces: &[clif::Value]) -> clif::Value {
        let scratch = self.scratch(16 * pieces.len());
        let memory = self.b.ins().stack_addr(types::I64, scratch, 0);
        for (i, &piece) in pieces.iter().enumerate() {
            self.b.ins().store(MemFlagsData::trusted(), piece, memory, 16 * i as i32);
        }
        memory
    }

    /// Piece `i` of a value with one lane replaced.
    pub(super) fn insert_piece(&mut self, ty: Ty, args: &[Value], i: usize) -> clif::Value {
        let x = self.piece(args[0], i);
        let lanes = 16 / ty.size();
        if let Some(at) = self.values.constant(args[1]) {
            let at = at as usize % self.lanes;
            if at / lanes != i {
                return x;
            }
            let new = self.scalar(args[2]);
            return self.b.ins().insertlane(x, new, (at % lanes) as u8);
        }
        let chosen = self.lane_is(args[1], LaneWidth::of(ty.size()), i);
        let new = self.piece(args[2], i);
        self.blend(chosen, new, x)
    }

    /// Piece `i` of a mask with one lane replaced.
    pub(super) fn insert_mask(&mut self, args: &[Value], lane_width: LaneWidth, i: usize) -> clif::Value {
        let x = self.mask(args[0], lane_width, i);
        let chosen = self.lane_is(args[1], lane_width, i);
        let new = self.mask(args[2], lane_width, i);
        self.blend(chosen, new, x)
    }

    /// Piece `i` of the mask of the lane with a number.
    fn lane_is(&mut self, index: Value, lane_width: LaneWidth, i: usize) -> clif::Value {
        let ty = mask_type(lane_width);
        let lane = self.lane_number(index);
        let lane = match ty.lane_bits() {
            32 => lane,
            64 => self.b.ins().uextend(types::I64, lane),
            _ => self.b.ins().ireduce(ty.lane_type(), lane),
        };
        let lane = self.b.ins().splat(ty, lane);
        let numbers = self.iota(lane_width, i);
        self.b.ins().icmp(IntCC::Equal, numbers, lane)
    }

    /// A permutation by indices that vary: no instruction picks lanes beyond one vector, so each is loaded from memory.
    pub(super) fn shuffle(&mut self, inst: &Inst, ty: Ty) {
        let (result, size) = (inst.result.expect("a shuffle has a result"), ty.size());
        let index_pieces: Vec<_> = (0..self.plan.pieces(4)).map(|i| self.piece(inst.args[1], i)).collect();
        let memory = self.spill(inst.args[0], size);
        let wrap = self.constant_vector(types::I32X4, self.lanes as u64 - 1);
        let offsets: Vec<_> = index_pieces
            .into_iter()
            .map(|x| {
                let lane = self.b.ins().band(x, wrap);
                self.b.ins().ishl_imm_u(lane, size.trailing_zeros() as i64)
            })
            .collect();
        let pieces = self.gathered(ty, |t, l| {
            let offset = t.b.ins().extractlane(offsets[l / 4], (l % 4) as u8);
            let offset = t.b.ins().uextend(types::I64, offset);
            (t.b.ins().iadd(memory, offset), 0)
        });
        for (i, x) in pieces.into_iter().enumerate() {
            self.record(self.plan.piece_slot(result, i), x);
        }
    }

    /// The pieces of a value whose lanes are loaded from the addresses and displacements that `at` gives. A bool is a byte.
    pub(super) fn gathered(
        &mut self,
        ty: Ty,
        mut at: impl FnMut(&mut Self, usize) -> (clif::Value, i32),
    ) -> Vec<clif::Value> {
        let mut vectors = Assembly::new(ty, self.lanes);
        for l in 0..self.lanes {
            let (address, disp) = at(self, l);
            vectors.add(self, l, address, disp);
        }
        vectors.finish(self)
    }

    /// Vectors that are computed if a condition is not 0, and else are 0.
    ///
    /// This is worth a test of something that is never 0, too: Cranelift makes a load part of the instruction that uses it only
    /// if nothing that depends on the load is used twice, and what depends on it ends where two ways join.
    pub(super) fn computed_if(
        &mut self,
        condition: clif::Value,
        compute: impl FnOnce(&mut Self) -> Vec<clif::Value>,
    ) -> Vec<clif::Value> {
        let [go_on, skip, join] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(condition, go_on, &[], skip, &[]);
        self.b.switch_to_block(go_on);
        let made = compute(self);
        let types: Vec<_> = made.iter().map(|&x| self.b.func.dfg.value_type(x)).collect();
        let args: Vec<_> = made.into_iter().map(|x| x.into()).collect();
        self.b.ins().jump(join, &args);

        self.b.set_cold_block(skip);
        self.b.switch_to_block(skip);
        let zeros: Vec<_> = types.iter().map(|&ty| self.constant_vector(ty, 0).into()).collect();
        self.b.ins().jump(join, &zeros);

        self.b.switch_to_block(join);
        types.into_iter().map(|ty| self.b.append_block_param(join, ty)).collect()
    }

    /// A reduction over all lanes, by halving; `None` if there is no code.
    pub(super) fn reduce(&mut self, op: Op, ty: Ty, v: Value) -> Option<clif::Value> {
        let op = step_of(op).filter(|_| self.has_rule(Rules::Lanes, op))?;
        match ty {
            Ty::Bool => return self.reduce_mask(op, v),
            Ty::F16 => return None,
            _ => {}
        }
        let mut pieces: Vec<_> = (0..self.plan.pieces(ty.size())).map(|i| self.piece(v, i)).collect();
        while pieces.len() > 1 {
            let half = pieces.len() / 2;
            for i in 0..half {
                pieces[i] = self.binary_lanes(op, ty, pieces[i], pieces[i + half])?;
            }
            pieces.truncate(half);
        }
        let mut x = pieces[0];
        let mut bytes = (self.lanes * ty.size()).min(16);
        while bytes > ty.size() {
            bytes /= 2;
            let as_bytes = self.as_type(x, types::I8X16);
            let picks = std::array::from_fn(|at| ((at + bytes) % 16) as u8);
            let upper = self.shuffled(as_bytes, as_bytes, picks);
            let upper = self.as_type(upper, lane_type(ty));
            x = self.binary_lanes(op, ty, x, upper)?;
        }
        Some(self.b.ins().extractlane(x, 0))
    }

    fn reduce_mask(&mut self, op: Op, v: Value) -> Option<clif::Value> {
        let bits = self.mask_bits(v);
        Some(match op {
            Op::And => self.b.ins().icmp_imm_s(IntCC::Equal, bits, self.region.width.full_mask() as i64),
            Op::Or => self.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0),
            Op::Xor => {
                let n = self.b.ins().popcnt(bits);
                let n = self.b.ins().ireduce(types::I8, n);
                self.b.ins().band_imm_u(n, 1)
            }
            _ => return None,
        })
    }
}
