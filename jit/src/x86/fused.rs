//! Operations of the IR that one instruction of the machine does together.
//!
//! | the IR | the machine |
//! |---|---|
//! | `or (shl x, n), (shr x, bits - n)`, unsigned | a rotation |
//! | shifts, masks and unions that put the bytes of elements into another order ([`bytes`](super::bytes)) | a shuffle of bytes |
//! | `ne (and x, y), 0`, `eq (and x, y), 0` | a test of bits |
//! | `and m, (lt x, y)`, `not (lt x, y)` | a comparison under a mask, the opposite comparison |
//! | `and m, (not n)` | one mask without another |
//! | `any (not m)` | a test for all lanes |
//! | `fma` of negated operands | the form of it that negates |
//! | `xor x, (select m, y, 0)`, likewise `or`, `add`, `sub` | the operation under a mask |
//! | `select (eq (and i, lanes), 0), (shuffle x, i), (shuffle y, i)` | a permutation of two vectors |
//! | `insert` of constants, one after another; index arithmetic on lane numbers and constants | a vector of constants, in memory |
//! | `shuffle x, c`, with AVX2 | the permutations that make it, where `c` is a constant in each lane |
//! | `select c, x, y`, with AVX2 | a blend by number |
//!
//! What is fused stands in one block: what has left a loop stays outside of it. The others are made for themselves only if something else
//! demands them too ([`Forms::takes_instead`](crate::vcode::Forms::takes_instead)), so an instruction that fuses always has code.

use super::inst::{Arg, Cond, Size};
use super::level::Level;
use super::masks::comparison;
use super::select::{Select, imm8};
use super::values::sized;
use crate::ir::{BlockId, Inst, Kind, Value};
use crate::lowering::{Comparison, Definition, Values, is_index_arithmetic};
use iced_x86::Code;
use regalloc2::VReg;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// What one instruction of the machine does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fused {
    /// Moves bits to the left, round and round.
    Rotate { x: Value, by: u8 },
    /// Puts the bytes of each element into another order.
    Bytes { x: Value, order: [u8; 8] },
    /// Finds the lanes in which two values have bits in common, or none.
    Test { x: Value, y: Value, common: bool },
    /// Compares, in the lanes of a mask if there is one; or finds where that does not hold.
    Compare { op: Comparison, x: Value, y: Value, mask: Option<Value>, holds: bool },
    /// Lanes of a mask that are not in another.
    Without { mask: Value, other: Value },
    /// Asks for a lane that is not in a mask.
    AnyMissing { mask: Value },
    /// `±(a * b) ± c`.
    MulAdd { args: [Value; 3], minus_product: bool, minus_c: bool },
    /// Does something in the lanes of a mask; the others keep the first operand.
    Masked { op: Op, x: Value, y: Value, mask: Value },
    /// Elements of two values, which are numbered one after the other.
    Permute { x: Value, y: Value, numbers: Value },
    /// A constant in each lane.
    Constants,
    /// Elements of a value, by numbers that are constants.
    Listed { x: Value, numbers: Value },
    /// Elements of two values where they are, of the first where a bit is set.
    Blend { x: Value, y: Value, bits: u64 },
}

impl Fused {
    /// What an instruction of a block does together with others of it, if it does.
    pub(super) fn of<L: Level>(values: &Values<'_>, block: BlockId, inst: &Inst) -> Option<Fused> {
        let see = Seen { values, block };
        if L::HAS_MASKS { Fused::by_shape(values, see, inst) } else { Fused::by_shape_without_masks(values, see, inst) }
    }

    /// AVX2 has no permutations of any elements of two vectors, and masks have to come into vectors.
    fn by_shape_without_masks(values: &Values<'_>, see: Seen<'_, '_>, inst: &Inst) -> Option<Fused> {
        if let (Kind::Op { op, ty, .. }, Some(result)) = (inst.kind, inst.result)
            && values.region.ty(result).is_varying()
            && !matches!(ty, Ty::Bool | Ty::F16)
            && ty.size() >= 4
        {
            let fills_vector = values.region.width.lanes() * ty.size() >= 32;
            match (op, &inst.args[..]) {
                (Op::Shuffle, &[x, numbers]) if fills_vector && values.constant_vector(numbers).is_some() => {
                    return Some(Fused::Listed { x, numbers });
                }
                (Op::Select, &[mask, x, y]) if let Some(bits) = values.mask_bits(mask) => {
                    return Some(Fused::Blend { x, y, bits });
                }
                // There are no rotations.
                (Op::Or | Op::Xor | Op::Add, _) if let Some(bytes) = see.bytes(ty, inst) => return Some(bytes),
                _ => {}
            }
        }
        Fused::by_shape(values, see, inst).filter(|fused| !matches!(fused, Fused::Permute { .. }))
    }

    fn by_shape(values: &Values<'_>, see: Seen<'_, '_>, inst: &Inst) -> Option<Fused> {
        if inst.kind == Kind::AnyLane {
            // The smaller gangs have no instruction for all of their lanes.
            if values.region.width.lanes() < 8 {
                return None;
            }
            let mask = see.op(inst.args[0], Op::Not)?.args[0];
            return (values.mask_bits(mask).is_none() && see.varies(mask)).then_some(Fused::AnyMissing { mask });
        }
        let Kind::Op { op, ty, from } = inst.kind else { return None };
        if !values.region.ty(inst.result?).is_varying() {
            return None;
        }
        match op {
            Op::Insert if !matches!(ty, Ty::Bool | Ty::F16) => {
                values.constant_vector(inst.result?).map(|_| Fused::Constants)
            }
            op if is_index_arithmetic(op, ty, from) && values.constant_vector(inst.result?).is_some() => {
                Some(Fused::Constants)
            }
            Op::Select => see.permuted(ty, inst),
            Op::And if ty == Ty::Bool => see.masks(inst),
            Op::Not if ty == Ty::Bool => see.compared(inst.args[0], None),
            Op::Eq | Op::Ne if ty.is_int() => {
                let zero = values.constant_lanes(inst.args[1]) == Some(0);
                see.tested(inst.args[0], op == Op::Ne).filter(|_| zero)
            }
            Op::Convert if ty == Ty::Bool && from.is_int() => see.tested(inst.args[0], true),
            Op::Fma if matches!(ty, Ty::F32 | Ty::F64) => see.signs(inst),
            Op::Or | Op::Xor | Op::Add | Op::Sub if ty.is_int() && ty.size() >= 4 => {
                see.rotation(op, ty, inst).or_else(|| see.bytes(ty, inst)).or_else(|| see.masked(op, inst))
            }
            Op::Or | Op::Xor | Op::Add => see.bytes(ty, inst),
            _ => None,
        }
    }

    /// What is taken in place of the arguments.
    pub(super) fn operands(self) -> Vec<Value> {
        match self {
            Fused::Rotate { x, .. } | Fused::Bytes { x, .. } => vec![x],
            Fused::Test { x, y, .. } => vec![x, y],
            Fused::Compare { x, y, mask, .. } => [x, y].into_iter().chain(mask).collect(),
            Fused::Without { mask, other } => vec![mask, other],
            Fused::AnyMissing { mask } => vec![mask],
            Fused::MulAdd { args, .. } => args.to_vec(),
            Fused::Masked { x, y, mask, .. } => vec![x, y, mask],
            Fused::Permute { x, y, numbers } => vec![x, y, numbers],
            Fused::Constants => Vec::new(),
            Fused::Listed { x, .. } => vec![x],
            Fused::Blend { x, y, .. } => vec![x, y],
        }
    }
}

/// A block, to look for what can be fused.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a, 'r> {
    pub(super) values: &'a Values<'r>,
    block: BlockId,
}

impl<'r> Seen<'_, 'r> {
    /// The instruction of the block that makes a value by an operation.
    pub(super) fn op(&self, v: Value, wanted: Op) -> Option<&'r Inst> {
        self.op_among(v, &[wanted])
    }

    /// The instruction of the block that makes a value by one of some operations.
    pub(super) fn op_among(&self, v: Value, wanted: &[Op]) -> Option<&'r Inst> {
        let inst = self.values.inst_in(self.block, v)?;
        matches!(inst.kind, Kind::Op { op, .. } if wanted.contains(&op)).then_some(inst)
    }

    pub(super) fn varies(&self, v: Value) -> bool {
        self.values.region.ty(v).is_varying()
    }

    /// The intersection of two masks.
    fn masks(&self, inst: &Inst) -> Option<Fused> {
        let pairs = [(inst.args[0], inst.args[1]), (inst.args[1], inst.args[0])];
        let plain = |&(mask, other): &(Value, Value)| {
            self.varies(mask) && self.varies(other) && self.values.mask_bits(mask).is_none()
        };
        pairs.into_iter().filter(plain).find_map(|(mask, other)| {
            // A mask that comes later had better not be waited for.
            let compared = self.compared(other, Some(mask)).filter(|_| self.is_before(mask, other));
            let without = || {
                let other = self.op(other, Op::Not)?.args[0];
                (self.varies(other) && self.values.mask_bits(other).is_none()).then_some(Fused::Without { mask, other })
            };
            compared.or_else(without)
        })
    }

    /// Returns whether a value is there before another one of the block.
    fn is_before(&self, v: Value, other: Value) -> bool {
        match (self.values.definition(v), self.values.definition(other)) {
            (Definition::Inst(block, at), Definition::Inst(_, other)) => block != self.block || at < other,
            _ => true,
        }
    }

    /// A comparison that nothing else needs, or its negation.
    fn compared(&self, v: Value, mask: Option<Value>) -> Option<Fused> {
        let inst = self.values.inst_in(self.block, v).filter(|_| self.values.stands_once(v))?;
        let Kind::Op { op, ty, .. } = inst.kind else { return None };
        if op == Op::Not && mask.is_some() {
            return match self.compared(inst.args[0], mask)? {
                Fused::Compare { op, x, y, mask, holds } => Some(Fused::Compare { op, x, y, mask, holds: !holds }),
                _ => None,
            };
        }
        let op = Comparison::of(op).filter(|_| !matches!(ty, Ty::Bool | Ty::F16) && self.varies(v))?;
        let (op, x, y) = match self.values.constant_lanes(inst.args[0]).is_some() {
            true => (op.mirrored(), inst.args[1], inst.args[0]),
            false => (op, inst.args[0], inst.args[1]),
        };
        // A test of bits is as good.
        let is_test = Fused::by_shape(self.values, *self, inst).is_some();
        (!is_test).then_some(Fused::Compare { op, x, y, mask, holds: mask.is_some() })
    }

    fn tested(&self, v: Value, common: bool) -> Option<Fused> {
        let and = self.op(v, Op::And).filter(|_| self.varies(v))?;
        Some(Fused::Test { x: and.args[0], y: and.args[1], common })
    }

    fn signs(&self, inst: &Inst) -> Option<Fused> {
        let positive = |v: Value| match self.op(v, Op::Neg).filter(|_| self.varies(v)) {
            Some(neg) => (neg.args[0], true),
            None => (v, false),
        };
        let [(a, minus_a), (b, minus_b), (c, minus_c)] = [0, 1, 2].map(|i| positive(inst.args[i]));
        let is_plain = !(minus_a || minus_b || minus_c);
        (!is_plain).then_some(Fused::MulAdd { args: [a, b, c], minus_product: minus_a != minus_b, minus_c })
    }

    fn rotation(&self, op: Op, ty: Ty, inst: &Inst) -> Option<Fused> {
        if op == Op::Sub || ty.is_signed() {
            return None;
        }
        let shifted = |v: Value, op| {
            let inst = self.op(v, op).filter(|_| self.varies(v))?;
            Some((inst.args[0], self.values.constant_lanes(inst.args[1])?))
        };
        let bits = 8 * ty.size() as u64;
        let pairs = [(inst.args[0], inst.args[1]), (inst.args[1], inst.args[0])];
        pairs.into_iter().find_map(|(left, right)| {
            let ((x, left), (y, right)) = (shifted(left, Op::Shl)?, shifted(right, Op::Shr)?);
            let sound = x == y && (1..bits).contains(&left) && left + right == bits;
            sound.then_some(Fused::Rotate { x, by: left as u8 })
        })
    }

    /// An operand that is 0, which changes nothing, outside of a mask.
    fn masked(&self, op: Op, inst: &Inst) -> Option<Fused> {
        let pairs = [(inst.args[0], inst.args[1]), (inst.args[1], inst.args[0])];
        let pairs = &pairs[..if op == Op::Sub { 1 } else { 2 }];
        pairs.iter().find_map(|&(x, y)| {
            let select = self.op(y, Op::Select).filter(|_| self.values.constant_lanes(x).is_none())?;
            let &[mask, y, zero] = &select.args[..] else { return None };
            let sound = self.values.constant_lanes(zero) == Some(0) && self.varies(mask);
            (sound && self.values.mask_bits(mask).is_none()).then_some(Fused::Masked { op, x, y, mask })
        })
    }

    /// Elements of one value where their numbers, cut to those of two, are below the lanes, and of another one elsewhere.
    fn permuted(&self, ty: Ty, inst: &Inst) -> Option<Fused> {
        let size = ty.size();
        let lanes = self.values.region.width.lanes();
        // There are permutations of two whole vectors of such elements.
        if ty == Ty::Bool || size == 1 || !matches!(lanes * size, 16 | 32 | 64) {
            return None;
        }
        let [x, y] = [1, 2].map(|i| self.op(inst.args[i], Op::Shuffle).filter(|_| self.varies(inst.args[i])));
        let (x, y) = (x?, y?);
        let numbers = x.args[1];
        let is_op = |inst: &&Inst, wanted| matches!(inst.kind, Kind::Op { op, .. } if op == wanted);
        let constant = |v, wanted| self.values.constant_lanes(v) == Some(wanted);
        let is_zero = self.values.inst(inst.args[0]).filter(|inst| is_op(inst, Op::Eq) && constant(inst.args[1], 0))?;
        let bit = self.values.inst(is_zero.args[0]).filter(|inst| is_op(inst, Op::And))?;
        let is_half = bit.args[0] == numbers && constant(bit.args[1], lanes as u64);
        let sound = is_half && y.args[1] == numbers && self.varies(numbers);
        (sound && [x, y].iter().all(|inst| self.varies(inst.args[0]))).then_some(Fused::Permute {
            x: x.args[0],
            y: y.args[0],
            numbers,
        })
    }
}

/// What an instruction takes in place of its arguments.
pub(super) fn takes_instead<L: Level>(values: &Values<'_>, block: BlockId, inst: &Inst) -> Option<Vec<Value>> {
    if element_in_frame(values, inst).is_some() {
        return Some(vec![inst.args[1]]);
    }
    Fused::of::<L>(values, block, inst).map(Fused::operands)
}

/// Where in the entered frame the register lies of which an instruction gives the element of a lane, as it was at entry.
pub(super) fn element_in_frame(values: &Values<'_>, inst: &Inst) -> Option<u32> {
    let is_extract = matches!(inst.kind, Kind::Op { op: Op::Extract, .. });
    is_extract.then(|| values.in_frame(inst.args[0])).flatten()
}

impl<L: Level> Select<'_, L> {
    /// Translates an instruction that does what others do, too.
    pub(super) fn fused(&mut self, inst: &Inst, fused: Fused) -> bool {
        let Kind::Op { ty, .. } = inst.kind else { return false };
        match fused {
            Fused::Rotate { x, by } => {
                let (size, form) = (ty.size(), self.form(ty.size()));
                let code = match size {
                    4 => Code::EVEX_Vprold_xmm_k1z_xmmm128b32_imm8,
                    _ => Code::EVEX_Vprolq_xmm_k1z_xmmm128b64_imm8,
                };
                let rotated = (0..self.n_pieces(size)).map(|i| {
                    let x = Arg::Use(self.piece(x, size, i), form);
                    self.vector(sized(code, form), form, &[x, imm8(by)])
                });
                let pieces = rotated.collect();
                self.set_pieces(inst, pieces);
                self.merge(inst);
            }
            Fused::Bytes { x, order } => {
                let pieces = self.bytes_in_order(ty.size(), x, order);
                self.set_pieces(inst, pieces);
            }
            Fused::Test { x, y, common } => {
                let mask = self.test_bits(self.region.ty(x).ty, x, y, common);
                self.set(inst, mask);
            }
            Fused::Compare { op, x, y, mask, holds } => {
                let mask = self.compare_masked(op, x, y, mask, holds);
                self.set(inst, mask);
            }
            Fused::Without { mask, other } => {
                let (mask, other) = (self.mask(mask), self.mask(other));
                let left = self.only_second(other, mask);
                self.set(inst, left);
            }
            Fused::MulAdd { args, minus_product, minus_c } => {
                let n = self.n_pieces(ty.size());
                let pieces = (0..n).map(|i| self.fma_piece(&args, ty, i, (minus_product, minus_c))).collect();
                self.set_pieces(inst, pieces);
                self.merge(inst);
            }
            Fused::Masked { op, x, y, mask } => {
                let pieces = self.masked_pieces(op, ty, x, y, mask);
                self.set_pieces(inst, pieces);
            }
            Fused::Permute { x, y, numbers } => return self.permute_two(inst, ty, [x, y], numbers),
            Fused::Constants => return self.constants(inst),
            Fused::Listed { x, numbers } => return self.shuffle_listed(inst, ty, x, numbers),
            Fused::Blend { x, y, bits } => {
                let pieces = self.blend_listed(ty.size(), x, y, bits);
                self.set_pieces(inst, pieces);
            }
            Fused::AnyMissing { .. } => return false,
        }
        true
    }

    /// The flags by which a lane is not in a mask, if that is what is asked.
    pub(super) fn fused_flags(&mut self, inst: &Inst) -> Option<Cond> {
        let home = self.values.definition(inst.result?).block()?;
        let Fused::AnyMissing { mask } = Fused::of::<L>(&self.values, home, inst)? else { return None };
        let mask = self.mask(mask);
        Some(self.missing_lane(mask))
    }

    fn test_bits(&mut self, ty: Ty, x: Value, y: Value, common: bool) -> VReg {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let code = match (size, common) {
            (1, true) => Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128,
            (2, true) => Code::EVEX_Vptestmw_kr_k1_xmm_xmmm128,
            (4, true) => Code::EVEX_Vptestmd_kr_k1_xmm_xmmm128b32,
            (_, true) => Code::EVEX_Vptestmq_kr_k1_xmm_xmmm128b64,
            (1, false) => Code::EVEX_Vptestnmb_kr_k1_xmm_xmmm128,
            (2, false) => Code::EVEX_Vptestnmw_kr_k1_xmm_xmmm128,
            (4, false) => Code::EVEX_Vptestnmd_kr_k1_xmm_xmmm128b32,
            (_, false) => Code::EVEX_Vptestnmq_kr_k1_xmm_xmmm128b64,
        };
        let (x, y) = if self.values.constant_lanes(x).is_some() { (y, x) } else { (x, y) };
        let parts = (0..self.n_pieces(size)).map(|i| {
            let (x, y) = (Arg::Use(self.piece(x, size, i), form), self.piece_arg(y, size, i));
            self.mask_from(sized(code, form), size, &[x, y])
        });
        let parts = parts.collect();
        self.join_masks(parts, size)
    }

    fn compare_masked(&mut self, op: Comparison, x: Value, y: Value, mask: Option<Value>, holds: bool) -> VReg {
        let ty = self.region.ty(x).ty;
        let (size, form) = (ty.size(), self.form(ty.size()));
        let (code, predicate) = comparison(op, ty, holds);
        let mask = mask.map(|mask| self.mask(mask));
        let parts = (0..self.n_pieces(size)).map(|i| {
            let (x, y) = (Arg::Use(self.piece(x, size, i), form), self.piece_arg(y, size, i));
            let args = [x, y, imm8(predicate)];
            let Some(mask) = mask else { return self.mask_from(sized(code, form), size, &args) };
            // Beyond the lanes it is 0.
            let (r, part) = (self.code.mask(), self.mask_part(mask, size, i));
            self.plain_masked(sized(code, form), &[&[Arg::Def(r, Size::K)], &args[..]].concat(), part, false);
            r
        });
        let parts = parts.collect();
        self.join_masks(parts, size)
    }

    /// An operation in the lanes of a mask, in the place of its first operand.
    fn masked_pieces(&mut self, op: Op, ty: Ty, x: Value, y: Value, mask: Value) -> Vec<VReg> {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let mask = self.mask(mask);
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let part = self.mask_part(mask, size, i);
            let (from, y) = (self.piece(x, size, i), self.piece_arg(y, size, i));
            let code = self.int_code(op, ty, form);
            self.over_masked(code, form, from, &[Arg::Use(from, form), y], part)
        });
        pieces.collect()
    }
}
