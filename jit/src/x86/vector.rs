//! Elementwise operations on vectors.

use super::inst::{Arg, Base, Mem, Size};
use super::level::Level;
use super::select::{Select, imm8};
use super::values::{form_of, sized};
use crate::backend::Rules;
use crate::ir::{Inst, Value};
use crate::lowering::{Bitwise, Division, Shift};
use crate::vcode::Location;
use iced_x86::Code;
use regalloc2::VReg;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

impl<L: Level> Select<'_, L> {
    /// An operation of the table.
    pub(super) fn op(&mut self, inst: &Inst, op: Op, ty: Ty, from: Ty) -> bool {
        let result = inst.result.map(|v| self.region.ty(v));
        let Some(result) = result else { return false };
        let is_merged = inst.result.is_some_and(|v| !matches!(self.locations[v.index()], Location::Nowhere));
        match op {
            Op::Select if is_merged => true,
            Op::Iota | Op::Shuffle | Op::Extract | Op::Insert => self.lanes_op(inst, op, ty),
            _ if !result.is_varying() && op == Op::PAdd && self.has_rule(Rules::Scalar, op) => {
                self.pointer_sum(inst);
                true
            }
            _ if !result.is_varying() => self.scalar_op(inst, op, ty, from),
            _ if result.ty == Ty::Bool => self.mask_op(inst, op, ty, from),
            _ => match self.pieces_op(inst, op, ty, from) {
                Some(pieces) => {
                    self.set_pieces(inst, pieces);
                    self.merge(inst);
                    true
                }
                None => false,
            },
        }
    }

    /// The bits of floats, with their NaNs.
    pub(super) fn raw_bits(&mut self, inst: &Inst, ty: Ty, from: Ty) {
        let v = inst.args[0];
        if self.region.ty(v).is_varying() {
            let pieces = (0..self.n_pieces(ty.size())).map(|i| self.piece(v, ty.size(), i)).collect();
            self.set_pieces(inst, pieces);
        } else {
            let x = self.scalar(v);
            let x = self.moved_bits(x, from, ty);
            self.set(inst, x);
        }
    }

    /// The vectors of an elementwise operation, if it has code.
    fn pieces_op(&mut self, inst: &Inst, op: Op, ty: Ty, from: Ty) -> Option<Vec<VReg>> {
        let (args, size, form) = (&inst.args, ty.size(), self.form(ty.size()));
        let n = self.n_pieces(size);
        if !self.has_rule(Rules::Vector, op) {
            return None;
        }
        match op {
            Op::Mov => return Some((0..n).map(|i| self.piece(args[0], size, i)).collect()),
            Op::Convert => return self.convert_pieces(args[0], from, ty),
            Op::Bitcast if from == Ty::Bool => return None,
            Op::Bitcast => {
                let pieces = (0..n).map(|i| {
                    let x = self.piece(args[0], size, i);
                    match from {
                        Ty::F16 => self.canonical_halves(form, x),
                        _ if from.is_float() => self.canonical(from, form, x),
                        _ => x,
                    }
                });
                return Some(pieces.collect());
            }
            Op::Select => return Some(self.select_pieces(args, ty)),
            Op::PAdd => return Some(self.pointer_sums(args)),
            Op::Shl => return self.shift_pieces(Shift::Shl, ty, args),
            Op::Shr => return self.shift_pieces(Shift::Shr, ty, args),
            Op::IDiv => return self.divide_pieces(Division::IDiv, ty, args),
            Op::IRem => return self.divide_pieces(Division::IRem, ty, args),
            _ if ty == Ty::F16 && !matches!(op, Op::Neg | Op::Abs) => return self.half_pieces(op, args),
            Op::Fma if matches!(ty, Ty::F32 | Ty::F64) => {
                return Some((0..n).map(|i| self.fma_piece(args, ty, i, (false, false))).collect());
            }
            _ => {}
        }
        if op == Op::Mul
            && ty.is_int()
            && size >= 4
            && let Some(pieces) = self.products_by_constant(args, ty)
        {
            return Some(pieces);
        }
        let mut pieces = Vec::with_capacity(n);
        for i in 0..n {
            // What is constant comes last, from memory.
            let swap = args.len() == 2 && commutes(op) && self.values.constant_lanes(args[0]).is_some();
            let (first, second) = if swap { (1, 0) } else { (0, 1) };
            let mut operands = vec![Arg::Use(self.piece(args[first], size, i), form)];
            if let Some(&b) = args.get(second).filter(|_| args.len() > 1) {
                let foldable = size >= 4 && !matches!(op, Op::MulHi);
                operands.push(if foldable {
                    self.piece_arg(b, size, i)
                } else {
                    Arg::Use(self.piece(b, size, i), form)
                });
            }
            pieces.push(match ty.is_float() {
                true => self.float_vector(op, ty, form, &operands)?,
                false => self.int_vector(op, ty, form, &operands)?,
            });
        }
        Some(pieces)
    }

    /// An operation on floats, if it has code.
    pub(super) fn float_vector(&mut self, op: Op, ty: Ty, form: Size, args: &[Arg]) -> Option<VReg> {
        if !self.has_rule(Rules::Vector, op) {
            return None;
        }
        let single = match ty {
            Ty::F32 => true,
            Ty::F64 => false,
            _ => return self.half_vector(op, form, args),
        };
        let pick = |single_code, double_code| if single { single_code } else { double_code };
        let code = match op {
            Op::Add => pick(Code::EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vaddpd_xmm_k1z_xmm_xmmm128b64),
            Op::Sub => pick(Code::EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vsubpd_xmm_k1z_xmm_xmmm128b64),
            Op::Mul => pick(Code::EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vmulpd_xmm_k1z_xmm_xmmm128b64),
            Op::FDiv => pick(Code::EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vdivpd_xmm_k1z_xmm_xmmm128b64),
            // These mean just `a < b ? a : b` and `a > b ? a : b`, NaNs and zeros included.
            Op::Min => pick(Code::EVEX_Vminps_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vminpd_xmm_k1z_xmm_xmmm128b64),
            Op::Max => pick(Code::EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vmaxpd_xmm_k1z_xmm_xmmm128b64),
            Op::Sqrt => pick(Code::EVEX_Vsqrtps_xmm_k1z_xmmm128b32, Code::EVEX_Vsqrtpd_xmm_k1z_xmmm128b64),
            Op::Floor => return Some(self.rounded(single, form, args[0], 9)),
            Op::Ceil => return Some(self.rounded(single, form, args[0], 10)),
            Op::Trunc => return Some(self.rounded(single, form, args[0], 11)),
            Op::RoundEven => return Some(self.rounded(single, form, args[0], 8)),
            Op::Neg => {
                let sign = self.constant_arg(if single { 1 << 31 } else { 1 << 63 }, ty.size());
                let code = sized(bitwise(Bitwise::Xor, ty.size()), form);
                return Some(self.vector(code, form, &[args[0], sign]));
            }
            Op::Abs => {
                let rest = self.constant_arg(if single { i32::MAX as u64 } else { i64::MAX as u64 }, ty.size());
                let code = sized(bitwise(Bitwise::And, ty.size()), form);
                return Some(self.vector(code, form, &[args[0], rest]));
            }
            Op::Fma => {
                let [Arg::Use(a, _), Arg::Use(b, _), Arg::Use(c, _)] = *args else { return None };
                let code = sized(multiply_add(Order::Addend, single, (false, false)), form);
                return Some(self.over(code, form, c, &[Arg::Use(b, form), Arg::Use(a, form)]));
            }
            _ => return None,
        };
        Some(self.vector(sized(code, form), form, args))
    }

    /// Floats as integers that are floats; `how` is the encoding's number.
    fn rounded(&mut self, single: bool, form: Size, x: Arg, how: u8) -> VReg {
        let code = match single {
            true => Code::EVEX_Vrndscaleps_xmm_k1z_xmmm128b32_imm8,
            false => Code::EVEX_Vrndscalepd_xmm_k1z_xmmm128b64_imm8,
        };
        self.vector(sized(code, form), form, &[x, imm8(how)])
    }

    /// What `float16` does without being a `float` meanwhile: its sign is a bit like any.
    fn half_vector(&mut self, op: Op, form: Size, args: &[Arg]) -> Option<VReg> {
        let (code, bits) = match op {
            Op::Neg => (Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32, 0x8000_8000),
            Op::Abs => (Code::EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32, 0x7fff_7fff),
            _ => return None,
        };
        let bits = self.constant_arg(bits, 4);
        Some(self.vector(sized(code, form), form, &[args[0], bits]))
    }

    /// A vector instruction that overwrites its first operand.
    pub(super) fn over(&mut self, code: Code, form: Size, from: VReg, args: &[Arg]) -> VReg {
        let to = self.code.vector();
        self.plain(code, &[&[Arg::Tied { from, to, form }], args].concat());
        to
    }

    /// Likewise under a mask; the other lanes stay.
    pub(super) fn over_masked(&mut self, code: Code, form: Size, from: VReg, args: &[Arg], mask: VReg) -> VReg {
        let to = self.code.vector();
        self.plain_masked(code, &[&[Arg::Tied { from, to, form }], args].concat(), mask, false);
        to
    }

    /// Piece `i` of `a * b + c`, with the product, or `c`, negated. What is overwritten is best something that nobody asks for
    /// after that; what is constant comes from memory.
    pub(super) fn fma_piece(&mut self, args: &[Value], ty: Ty, i: usize, minus: (bool, bool)) -> VReg {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let code = |order| sized(multiply_add(order, ty == Ty::F32, minus), form);
        let is_constant = |s: &Self, v| s.values.constant_lanes(v).is_some();
        let (a, b) = if is_constant(self, args[0]) { (args[1], args[0]) } else { (args[0], args[1]) };
        let c = args[2];
        let is_alone = |v: Value| args.iter().filter(|&&arg| arg == v).count() == 1;
        let free = |s: &Self, v: Value| s.region.ty(v).is_varying() && !is_constant(s, v) && is_alone(v) && s.dies(v);
        if free(self, c) || is_constant(self, b) && !is_constant(self, c) && !free(self, a) {
            let b = self.piece_arg(b, size, i);
            let (a, c) = (self.piece(a, size, i), self.piece(c, size, i));
            return self.over(code(Order::Addend), form, c, &[Arg::Use(a, form), b]);
        }
        if is_constant(self, b) && !is_constant(self, c) {
            // `a` is overwritten by `a * b + c` with `b` from memory.
            let b = self.piece_arg(b, size, i);
            let (a, c) = (self.piece(a, size, i), self.piece(c, size, i));
            return self.over(code(Order::FirstByLast), form, a, &[Arg::Use(c, form), b]);
        }
        let (a, b) = if free(self, b) && !free(self, a) { (b, a) } else { (a, b) };
        let c = self.piece_arg(c, size, i);
        let (a, b) = (self.piece(a, size, i), self.piece(b, size, i));
        self.over(code(Order::First), form, a, &[Arg::Use(b, form), c])
    }

    /// An operation on integers, if it has code.
    pub(super) fn int_vector(&mut self, op: Op, ty: Ty, form: Size, args: &[Arg]) -> Option<VReg> {
        if !self.has_rule(Rules::Vector, op) {
            return None;
        }
        let by_size = |codes: [Code; 4]| codes[ty.size().trailing_zeros() as usize];
        let code = match (op, ty.is_signed()) {
            (Op::Add, _) => by_size([
                Code::EVEX_Vpaddb_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpaddw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (Op::Sub, _) => by_size([
                Code::EVEX_Vpsubb_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpsubw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (Op::Mul, _) if ty.size() == 1 => return Some(self.byte_products(form, args)),
            (Op::Mul, _) => by_size([
                Code::INVALID,
                Code::EVEX_Vpmullw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpmulld_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpmullq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (Op::MulHi, signed) => match (ty.size(), signed) {
                (2, true) => Code::EVEX_Vpmulhw_xmm_k1z_xmm_xmmm128,
                (2, false) => Code::EVEX_Vpmulhuw_xmm_k1z_xmm_xmmm128,
                (4, _) => return Some(self.high_products(signed, form, args)),
                (8, _) => return self.high_wide_products(signed, form, args),
                _ => return None,
            },
            (Op::Min, true) => by_size([
                Code::EVEX_Vpminsb_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpminsw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpminsd_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpminsq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (Op::Min, false) => by_size([
                Code::EVEX_Vpminub_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpminuw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpminud_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpminuq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (Op::Max, true) => by_size([
                Code::EVEX_Vpmaxsb_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpmaxsw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpmaxsq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (Op::Max, false) => by_size([
                Code::EVEX_Vpmaxub_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpmaxuw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpmaxud_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpmaxuq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (Op::And, _) => bitwise(Bitwise::And, ty.size()),
            (Op::Or, _) => bitwise(Bitwise::Or, ty.size()),
            (Op::Xor, _) => bitwise(Bitwise::Xor, ty.size()),
            (Op::Abs, true) => by_size([
                Code::EVEX_Vpabsb_xmm_k1z_xmmm128,
                Code::EVEX_Vpabsw_xmm_k1z_xmmm128,
                Code::EVEX_Vpabsd_xmm_k1z_xmmm128b32,
                Code::EVEX_Vpabsq_xmm_k1z_xmmm128b64,
            ]),
            (Op::Abs, false) => {
                let Arg::Use(x, _) = args[0] else { return None };
                return Some(x);
            }
            (Op::Neg, _) => {
                let zero = self.zero();
                return self.int_vector(Op::Sub, ty, form, &[Arg::Use(zero, form), args[0]]);
            }
            (Op::Not, _) => {
                // All rows of the truth table in which the first operand is 0.
                let Arg::Use(x, _) = args[0] else { return None };
                let code = sized(Code::EVEX_Vpternlogd_xmm_k1z_xmm_xmmm128b32_imm8, form);
                return Some(self.over(code, form, x, &[args[0], args[0], imm8(0x0f)]));
            }
            (Op::Popcnt, _) => return Some(self.population(ty.size(), form, args[0])),
            (Op::Clz, _) if ty.size() >= 4 => return Some(self.leading_zeros(ty.size(), form, args[0])),
            (Op::Ctz, _) if ty.size() >= 4 => {
                // The bits below the lowest that is set, alone.
                let ones = self.constant_arg(u64::MAX, ty.size());
                let less = self.int_vector(Op::Add, ty, form, &[args[0], ones])?;
                let code = if ty.size() == 4 {
                    Code::EVEX_Vpandnd_xmm_k1z_xmm_xmmm128b32
                } else {
                    Code::EVEX_Vpandnq_xmm_k1z_xmm_xmmm128b64
                };
                let below = self.vector(sized(code, form), form, &[args[0], Arg::Use(less, form)]);
                let above = self.leading_zeros(ty.size(), form, Arg::Use(below, form));
                let bits = self.constant_vector(8 * ty.size() as u64, ty.size());
                return self.int_vector(Op::Sub, ty, form, &[Arg::Use(bits, form), Arg::Use(above, form)]);
            }
            _ => return None,
        };
        Some(self.vector(sized(code, form), form, args))
    }

    /// The instruction that adds, subtracts or combines the bits of integers of 32 or 64 bits.
    pub(super) fn int_code(&self, op: Op, ty: Ty, form: Size) -> Code {
        let is_wide = ty.size() == 8;
        let code = match op {
            Op::Add if is_wide => Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64,
            Op::Add => Code::EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32,
            Op::Sub if is_wide => Code::EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64,
            Op::Sub => Code::EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32,
            Op::Or => bitwise(Bitwise::Or, ty.size()),
            _ => bitwise(Bitwise::Xor, ty.size()),
        };
        sized(code, form)
    }

    fn leading_zeros(&mut self, size: usize, form: Size, x: Arg) -> VReg {
        let code =
            if size == 4 { Code::EVEX_Vplzcntd_xmm_k1z_xmmm128b32 } else { Code::EVEX_Vplzcntq_xmm_k1z_xmmm128b64 };
        self.vector(sized(code, form), form, &[x])
    }

    /// The low bytes of products: of the even ones as words, and of the odd ones likewise, moved down and up again.
    fn byte_products(&mut self, form: Size, args: &[Arg]) -> VReg {
        let multiply = sized(Code::EVEX_Vpmullw_xmm_k1z_xmm_xmmm128, form);
        let even = self.vector(multiply, form, args);
        let down = sized(Code::EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8, form);
        let high: Vec<Arg> = args.iter().map(|&a| Arg::Use(self.vector(down, form, &[a, imm8(8)]), form)).collect();
        let odd = self.vector(multiply, form, &high);
        let up = sized(Code::EVEX_Vpsllw_xmm_k1z_xmmm128_imm8, form);
        let odd = self.vector(up, form, &[Arg::Use(odd, form), imm8(8)]);
        let low = self.constant_arg(0x00ff_00ff, 4);
        let even = self.vector(sized(bitwise(Bitwise::And, 4), form), form, &[Arg::Use(even, form), low]);
        self.vector(sized(bitwise(Bitwise::Or, 4), form), form, &[Arg::Use(even, form), Arg::Use(odd, form)])
    }

    /// The high halves of products of 32 bits: of the even lanes, and of the odd ones moved down.
    fn high_products(&mut self, signed: bool, form: Size, args: &[Arg]) -> VReg {
        let code = match signed {
            true => Code::EVEX_Vpmuldq_xmm_k1z_xmm_xmmm128b64,
            false => Code::EVEX_Vpmuludq_xmm_k1z_xmm_xmmm128b64,
        };
        let down = sized(Code::EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8, form);
        let by = imm8(32);
        let even = self.vector(sized(code, form), form, args);
        let even = self.vector(down, form, &[Arg::Use(even, form), by]);
        let high: Vec<Arg> = args.iter().map(|&a| Arg::Use(self.vector(down, form, &[a, by]), form)).collect();
        let odd = self.vector(sized(code, form), form, &high);
        // The odd lanes of the products of odd lanes are their high halves.
        let mask = self.mask_of_constant(0xaaaa);
        self.blend(Ty::I32, form, mask, odd, even)
    }

    /// Lanes of `a` where the mask is true, else of `b`.
    pub(super) fn blend(&mut self, ty: Ty, form: Size, mask: VReg, a: VReg, b: VReg) -> VReg {
        let code = match ty.size() {
            1 => Code::EVEX_Vpblendmb_xmm_k1z_xmm_xmmm128,
            2 => Code::EVEX_Vpblendmw_xmm_k1z_xmm_xmmm128,
            4 => Code::EVEX_Vblendmps_xmm_k1z_xmm_xmmm128b32,
            _ => Code::EVEX_Vblendmpd_xmm_k1z_xmm_xmmm128b64,
        };
        self.blend_args(sized(code, form), form, mask, Arg::Use(a, form), b)
    }

    fn blend_args(&mut self, code: Code, form: Size, mask: VReg, a: Arg, b: VReg) -> VReg {
        let r = self.code.vector();
        self.plain_masked(code, &[Arg::Def(r, form), Arg::Use(b, form), a], mask, false);
        r
    }

    fn select_pieces(&mut self, args: &[Value], ty: Ty) -> Vec<VReg> {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let mask = self.mask(args[0]);
        let zero = |s: &Self, v| s.values.constant_lanes(v) == Some(0);
        let code = match size {
            1 => Code::EVEX_Vpblendmb_xmm_k1z_xmm_xmmm128,
            2 => Code::EVEX_Vpblendmw_xmm_k1z_xmm_xmmm128,
            4 => Code::EVEX_Vblendmps_xmm_k1z_xmm_xmmm128b32,
            _ => Code::EVEX_Vblendmpd_xmm_k1z_xmm_xmmm128b64,
        };
        let copy = match size {
            1 => Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
            2 => Code::EVEX_Vmovdqu16_xmm_k1z_xmmm128,
            4 => Code::EVEX_Vmovups_xmm_k1z_xmmm128,
            _ => Code::EVEX_Vmovupd_xmm_k1z_xmmm128,
        };
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let part = self.mask_part(mask, size, i);
            if zero(self, args[2]) {
                let a = self.piece(args[1], size, i);
                return self.vector_masked(sized(copy, form), form, &[Arg::Use(a, form)], part);
            }
            let (a, b) = (self.piece_arg(args[1], size, i), self.piece(args[2], size, i));
            self.blend_args(sized(code, form), form, part, a, b)
        });
        pieces.collect()
    }

    /// Shifts; counts are taken modulo the bit width.
    fn shift_pieces(&mut self, op: Shift, ty: Ty, args: &[Value]) -> Option<Vec<VReg>> {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let by_size = |codes: [Code; 3]| (size > 1).then(|| codes[size.trailing_zeros() as usize - 1]);
        let bits = 8 * size as u64;
        let constant = self.values.constant_lanes(args[1]).map(|count| (count % bits) as u8);
        let (left, signed) = (op == Shift::Shl, ty.is_signed());
        if size == 1 {
            return match constant {
                Some(count) => Some(self.shift_bytes(op, ty, args[0], count)),
                None => self.shift_as_words(op, ty, args),
            };
        }
        let code = match (constant.is_some(), left, signed) {
            (true, true, _) => by_size([
                Code::EVEX_Vpsllw_xmm_k1z_xmmm128_imm8,
                Code::EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8,
                Code::EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8,
            ]),
            (true, false, true) => by_size([
                Code::EVEX_Vpsraw_xmm_k1z_xmmm128_imm8,
                Code::EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8,
                Code::EVEX_Vpsraq_xmm_k1z_xmmm128b64_imm8,
            ]),
            (true, false, false) => by_size([
                Code::EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8,
                Code::EVEX_Vpsrld_xmm_k1z_xmmm128b32_imm8,
                Code::EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8,
            ]),
            (false, true, _) => by_size([
                Code::EVEX_Vpsllvw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpsllvd_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpsllvq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (false, false, true) => by_size([
                Code::EVEX_Vpsravw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpsravd_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpsravq_xmm_k1z_xmm_xmmm128b64,
            ]),
            (false, false, false) => by_size([
                Code::EVEX_Vpsrlvw_xmm_k1z_xmm_xmmm128,
                Code::EVEX_Vpsrlvd_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vpsrlvq_xmm_k1z_xmm_xmmm128b64,
            ]),
        }?;
        let code = sized(code, form);
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let x = Arg::Use(self.piece(args[0], size, i), form);
            let count = match constant {
                Some(count) => imm8(count),
                None => {
                    let counts = Arg::Use(self.piece(args[1], size, i), form);
                    let most = if size == 2 { 0x000f_000f } else { bits - 1 };
                    let and = bitwise(Bitwise::And, size);
                    let most = self.constant_arg(most, size.max(4));
                    Arg::Use(self.vector(sized(and, form), form, &[counts, most]), form)
                }
            };
            self.vector(code, form, &[x, count])
        });
        Some(pieces.collect())
    }

    /// Bytes shifted by a constant: as words, and without the bits that come from the byte beside.
    fn shift_bytes(&mut self, op: Shift, ty: Ty, v: Value, count: u8) -> Vec<VReg> {
        let form = self.form(1);
        let everywhere = |byte: u8| u64::from(byte) * 0x0101_0101;
        let (code, kept) = match op {
            Shift::Shl => (Code::EVEX_Vpsllw_xmm_k1z_xmmm128_imm8, 0xff << count),
            Shift::Shr => (Code::EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8, 0xff >> count),
        };
        let and = sized(bitwise(Bitwise::And, 4), form);
        let mut pieces = Vec::new();
        for i in 0..self.n_pieces(1) {
            let x = self.piece(v, 1, i);
            let shifted = self.vector_imm(sized(code, form), form, x, count);
            let kept = self.constant_arg(everywhere(kept), 4);
            let mut x = self.vector(and, form, &[Arg::Use(shifted, form), kept]);
            if op == Shift::Shr && ty.is_signed() {
                // The sign has come to lie lower: what is flipped there and subtracted fills up the bits above.
                let sign = self.constant_vector(everywhere(0x80 >> count), 4);
                let (flip, minus) = (bitwise(Bitwise::Xor, 4), Code::EVEX_Vpsubb_xmm_k1z_xmm_xmmm128);
                let flipped = self.vector(sized(flip, form), form, &[Arg::Use(x, form), Arg::Use(sign, form)]);
                x = self.vector(sized(minus, form), form, &[Arg::Use(flipped, form), Arg::Use(sign, form)]);
            }
            pieces.push(x);
        }
        pieces
    }

    /// Bytes shifted by counts that vary: as words, cut again.
    fn shift_as_words(&mut self, op: Shift, ty: Ty, args: &[Value]) -> Option<Vec<VReg>> {
        let n = self.lanes_in_piece(2);
        let form = form_of(n * 2);
        let code = match (op, ty.is_signed()) {
            (Shift::Shl, _) => Code::EVEX_Vpsllvw_xmm_k1z_xmm_xmmm128,
            (Shift::Shr, true) => Code::EVEX_Vpsravw_xmm_k1z_xmm_xmmm128,
            (Shift::Shr, false) => Code::EVEX_Vpsrlvw_xmm_k1z_xmm_xmmm128,
        };
        let and = sized(bitwise(Bitwise::And, 4), form);
        let chunks = (0..self.lanes).step_by(n).map(|first| {
            let [x, counts] = [(args[0], ty), (args[1], Ty::U8)].map(|(v, ty)| {
                let bytes = self.chunk(v, 1, first, n);
                self.resized(bytes, n, ty, 2)
            });
            let most = self.constant_arg(0x0007_0007, 4);
            let counts = self.vector(and, form, &[Arg::Use(counts, form), most]);
            let shifted = self.vector(sized(code, form), form, &[Arg::Use(x, form), Arg::Use(counts, form)]);
            self.resized(shifted, n, Ty::U16, 1)
        });
        let chunks = chunks.collect();
        Some(self.joined(chunks, n))
    }

    /// How many bits are set: of half bytes by a table, then summed up.
    fn population(&mut self, size: usize, form: Size, x: Arg) -> VReg {
        let table = self.code.constant(&[0u8, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4].repeat(4));
        let table = self.load_vector(form, Mem::at(Base::Pool, table));
        let and = sized(bitwise(Bitwise::And, 4), form);
        let down = self.vector(sized(Code::EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8, form), form, &[x, imm8(4)]);
        let bytes: Vec<Arg> = [x, Arg::Use(down, form)]
            .into_iter()
            .map(|half| {
                let low = self.constant_arg(0x0f0f_0f0f, 4);
                let half = self.vector(and, form, &[half, low]);
                let look_up = sized(Code::EVEX_Vpshufb_xmm_k1z_xmm_xmmm128, form);
                Arg::Use(self.vector(look_up, form, &[Arg::Use(table, form), Arg::Use(half, form)]), form)
            })
            .collect();
        let sums = self.vector(sized(Code::EVEX_Vpaddb_xmm_k1z_xmm_xmmm128, form), form, &bytes);
        let sum = Arg::Use(sums, form);
        if size == 1 {
            return sums;
        }
        if size == 8 {
            let zero = self.zero();
            return self.vector(sized(Code::EVEX_Vpsadbw_xmm_xmm_xmmm128, form), form, &[sum, Arg::Use(zero, form)]);
        }
        let ones = self.constant_vector(0x0101_0101, 4);
        let pairs = sized(Code::EVEX_Vpmaddubsw_xmm_k1z_xmm_xmmm128, form);
        let words = self.vector(pairs, form, &[sum, Arg::Use(ones, form)]);
        if size == 2 {
            return words;
        }
        let ones = self.constant_vector(0x0001_0001, 4);
        let pairs = sized(Code::EVEX_Vpmaddwd_xmm_k1z_xmm_xmmm128, form);
        self.vector(pairs, form, &[Arg::Use(words, form), Arg::Use(ones, form)])
    }

    /// The high halves of products of 64 bits, from products of halves.
    fn high_wide_products(&mut self, signed: bool, form: Size, args: &[Arg]) -> Option<VReg> {
        let &[a, b] = args else { return None };
        let code = |code| sized(code, form);
        let multiply = code(Code::EVEX_Vpmuludq_xmm_k1z_xmm_xmmm128b64);
        let down = code(Code::EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8);
        let (sum, minus) =
            (code(Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64), code(Code::EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64));
        let and = code(Code::EVEX_Vpandq_xmm_k1z_xmm_xmmm128b64);
        let mut make = |code, args: &[Arg]| Arg::Use(self.vector(code, form, args), form);
        let [a_high, b_high] = [a, b].map(|x| make(down, &[x, imm8(32)]));
        let low = make(multiply, &[a, b]);
        let (cross_a, cross_b) = (make(multiply, &[a_high, b]), make(multiply, &[a, b_high]));
        let high = make(multiply, &[a_high, b_high]);
        let carry = make(down, &[low, imm8(32)]);
        let middle = make(sum, &[cross_a, carry]);
        let upper = make(down, &[middle, imm8(32)]);
        // Twice 32 bits: first up, then down.
        let up = code(Code::EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8);
        let lower = make(up, &[middle, imm8(32)]);
        let lower = make(down, &[lower, imm8(32)]);
        let rest = make(sum, &[cross_b, lower]);
        let rest = make(down, &[rest, imm8(32)]);
        let high = make(sum, &[high, upper]);
        let mut product = make(sum, &[high, rest]);
        if signed {
            let sign = code(Code::EVEX_Vpsraq_xmm_k1z_xmmm128b64_imm8);
            for (x, other) in [(a, b), (b, a)] {
                let negative = make(sign, &[x, imm8(63)]);
                let excess = make(and, &[negative, other]);
                product = make(minus, &[product, excess]);
            }
        }
        let Arg::Use(product, _) = product else { return None };
        Some(product)
    }

    /// Floats whose NaNs are the canonical one.
    pub(super) fn canonical(&mut self, ty: Ty, form: Size, x: VReg) -> VReg {
        let nan = if ty == Ty::F32 { f32::NAN.to_bits() as u64 } else { f64::NAN.to_bits() };
        let mask = self.ordered(ty, form, x, false);
        let nan = self.constant_vector(nan, ty.size());
        self.blend(ty, form, mask, nan, x)
    }
}

/// The operation on the bits of elements of so many bytes.
pub(super) fn bitwise(op: Bitwise, size: usize) -> Code {
    match (op, size) {
        (Bitwise::And, 8) => Code::EVEX_Vpandq_xmm_k1z_xmm_xmmm128b64,
        (Bitwise::And, _) => Code::EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32,
        (Bitwise::Or, 8) => Code::EVEX_Vporq_xmm_k1z_xmm_xmmm128b64,
        (Bitwise::Or, _) => Code::EVEX_Vpord_xmm_k1z_xmm_xmmm128b32,
        (Bitwise::Xor, 8) => Code::EVEX_Vpxorq_xmm_k1z_xmm_xmmm128b64,
        (Bitwise::Xor, _) => Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32,
    }
}

/// Which operand of a multiplication and addition is overwritten.
#[derive(Clone, Copy)]
enum Order {
    /// The first factor, by its product with the last operand.
    FirstByLast,
    /// The first factor, by its product with the second one.
    First,
    /// What is added.
    Addend,
}

/// The instruction for `a * b + c`, with the product, or `c`, negated.
fn multiply_add(order: Order, single: bool, minus: (bool, bool)) -> Code {
    let (singles, doubles) = match minus {
        (false, false) => (
            [
                Code::EVEX_Vfmadd132ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32,
            ],
            [
                Code::EVEX_Vfmadd132pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfmadd213pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfmadd231pd_xmm_k1z_xmm_xmmm128b64,
            ],
        ),
        (false, true) => (
            [
                Code::EVEX_Vfmsub132ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfmsub213ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfmsub231ps_xmm_k1z_xmm_xmmm128b32,
            ],
            [
                Code::EVEX_Vfmsub132pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfmsub213pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfmsub231pd_xmm_k1z_xmm_xmmm128b64,
            ],
        ),
        (true, false) => (
            [
                Code::EVEX_Vfnmadd132ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfnmadd213ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfnmadd231ps_xmm_k1z_xmm_xmmm128b32,
            ],
            [
                Code::EVEX_Vfnmadd132pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfnmadd213pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfnmadd231pd_xmm_k1z_xmm_xmmm128b64,
            ],
        ),
        (true, true) => (
            [
                Code::EVEX_Vfnmsub132ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfnmsub213ps_xmm_k1z_xmm_xmmm128b32,
                Code::EVEX_Vfnmsub231ps_xmm_k1z_xmm_xmmm128b32,
            ],
            [
                Code::EVEX_Vfnmsub132pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfnmsub213pd_xmm_k1z_xmm_xmmm128b64,
                Code::EVEX_Vfnmsub231pd_xmm_k1z_xmm_xmmm128b64,
            ],
        ),
    };
    if single { singles[order as usize] } else { doubles[order as usize] }
}

/// Returns whether the operands may be exchanged.
fn commutes(op: Op) -> bool {
    matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor)
}
