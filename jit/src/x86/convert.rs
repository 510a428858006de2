//! Conversions of varying values between element types, and what changes the size of elements.
//!
//! Lanes are converted in *chunks* of as many as fit a vector in the larger of both types: taken out of the vectors they lie in,
//! converted, and put together again.

use super::inst::{Arg, Size};
use super::level::Level;
use super::select::{Select, imm8};
use super::values::{broadcast, form_of, sized};
use crate::ir::Value;
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

impl<L: Level> Select<'_, L> {
    /// A value in another type that is not bool, if there is code for that.
    pub(super) fn convert_pieces(&mut self, v: Value, from: Ty, to: Ty) -> Option<Vec<VReg>> {
        if from == to {
            return Some((0..self.n_pieces(to.size())).map(|i| self.piece(v, to.size(), i)).collect());
        }
        if from == Ty::Bool {
            return Some(self.numbers_of_mask(v, to));
        }
        if from == Ty::F16 || to == Ty::F16 {
            return self.convert_half_pieces(v, from, to);
        }
        let (a, b) = (from.size(), to.size());
        let n = self.lanes_in_piece(a.max(b));
        let mut chunks = Vec::new();
        for first in (0..self.lanes).step_by(n) {
            let x = self.chunk(v, a, first, n);
            chunks.push(self.convert_chunk(x, n, from, to)?);
        }
        Some(self.joined(chunks, n * b))
    }

    fn numbers_of_mask(&mut self, v: Value, to: Ty) -> Vec<VReg> {
        let (mask, size, form) = (self.mask(v), to.size(), self.form(to.size()));
        let one = match to {
            Ty::F16 => 0x3c00,
            Ty::F32 => 1f32.to_bits() as u64,
            Ty::F64 => 1f64.to_bits(),
            _ => 1,
        };
        let one = Arg::Mem(self.pool_of(one, size));
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let part = self.mask_part(mask, size, i);
            self.vector_masked(broadcast(size, form), form, &[one], part)
        });
        pieces.collect()
    }

    /// Lanes from `first` on, at the bottom of a vector.
    pub(super) fn chunk(&mut self, v: Value, size: usize, first: usize, n: usize) -> VReg {
        let per_piece = self.lanes_in_piece(size);
        let x = self.piece(v, size, first / per_piece);
        self.part(x, self.form(size), first % per_piece * size, n * size)
    }

    /// So many bytes of vectors of bytes from one on, at the bottom of a vector.
    pub(super) fn part_of(&mut self, bytes: &[VReg], first: usize, n: usize) -> VReg {
        self.part(bytes[first / L::VECTOR_BYTES], self.form(1), first % L::VECTOR_BYTES, n)
    }

    /// So many bytes of a vector from one on, at the bottom of another.
    pub(super) fn part(&mut self, x: VReg, whole: Size, at: usize, bytes: usize) -> VReg {
        if at == 0 {
            return x;
        }
        let part = |s: &mut Self, code: Code, form, i: usize| {
            let to = s.code.vector();
            s.plain(code, &[Arg::Def(to, form), Arg::Use(x, whole), imm8(i as u8)]);
            to
        };
        if bytes >= 32 {
            return part(self, Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, Size::Y, at / 32);
        }
        let code = if whole == Size::Z {
            Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8
        } else {
            Code::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8
        };
        let quarter = if at < 16 { x } else { part(self, code, Size::X, at / 16) };
        if at.is_multiple_of(16) {
            return quarter;
        }
        self.vector_imm(Code::EVEX_Vpsrldq_xmm_xmmm128_imm8, Size::X, quarter, (at % 16) as u8)
    }

    /// Parts of so many bytes, one after another, as vectors.
    pub(super) fn joined(&mut self, mut parts: Vec<VReg>, mut bytes: usize) -> Vec<VReg> {
        while parts.len() > 1 && bytes < L::VECTOR_BYTES {
            let mut pairs = Vec::with_capacity(parts.len() / 2);
            for pair in parts.chunks(2) {
                let low = pair[0];
                let Some(&high) = pair.get(1) else { continue };
                pairs.push(match bytes {
                    4 => {
                        let args = [Arg::Use(low, Size::X), Arg::Use(high, Size::X)];
                        self.vector(Code::EVEX_Vpunpckldq_xmm_k1z_xmm_xmmm128b32, Size::X, &args)
                    }
                    8 => {
                        let args = [Arg::Use(low, Size::X), Arg::Use(high, Size::X)];
                        self.vector(Code::EVEX_Vpunpcklqdq_xmm_k1z_xmm_xmmm128b64, Size::X, &args)
                    }
                    16 => {
                        let args = [Arg::Use(low, Size::Y), Arg::Use(high, Size::X), imm8(1)];
                        self.vector(Code::EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8, Size::Y, &args)
                    }
                    _ => {
                        let args = [Arg::Use(low, Size::Z), Arg::Use(high, Size::Y), imm8(1)];
                        self.vector(Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8, Size::Z, &args)
                    }
                });
            }
            parts = pairs;
            bytes *= 2;
        }
        parts
    }

    /// `n` lanes at the bottom of a vector in another type.
    pub(super) fn convert_chunk(&mut self, x: VReg, n: usize, from: Ty, to: Ty) -> Option<VReg> {
        match (from.is_float(), to.is_float()) {
            _ if from == to => Some(x),
            (false, false) => Some(self.resized(x, n, from, to.size())),
            (true, true) => {
                let (code, to) = match (from, to) {
                    (Ty::F32, Ty::F64) => (Code::EVEX_Vcvtps2pd_xmm_k1z_xmmm64b32, n * 8),
                    (Ty::F64, Ty::F32) => (Code::EVEX_Vcvtpd2ps_xmm_k1z_xmmm128b64, n * 4),
                    _ => return None,
                };
                Some(self.between(code, x, n * from.size(), to, n * 8))
            }
            (false, true) if from.size() < 4 => {
                let wide = self.resized(x, n, from, 4);
                self.convert_chunk(wide, n, Ty::I32, to)
            }
            (false, true) => {
                let code = match (from, to) {
                    (Ty::I32, Ty::F32) => Code::EVEX_Vcvtdq2ps_xmm_k1z_xmmm128b32,
                    (Ty::U32, Ty::F32) => Code::EVEX_Vcvtudq2ps_xmm_k1z_xmmm128b32,
                    (Ty::I64 | Ty::U64, Ty::F64) if !L::HAS_MASKS => {
                        return Some(self.doubles_of_words(x, form_of(n * 8), from.is_signed()));
                    }
                    (Ty::I64, Ty::F32) if !L::HAS_MASKS => return Some(self.floats_of_words(x, n)),
                    // There would be many instructions.
                    (Ty::U64, _) if !L::HAS_MASKS => return None,
                    (Ty::I64, Ty::F32) => Code::EVEX_Vcvtqq2ps_xmm_k1z_xmmm128b64,
                    (Ty::U64, Ty::F32) => Code::EVEX_Vcvtuqq2ps_xmm_k1z_xmmm128b64,
                    (Ty::I32, Ty::F64) => Code::EVEX_Vcvtdq2pd_xmm_k1z_xmmm64b32,
                    (Ty::U32, Ty::F64) => Code::EVEX_Vcvtudq2pd_xmm_k1z_xmmm64b32,
                    (Ty::I64, Ty::F64) => Code::EVEX_Vcvtqq2pd_xmm_k1z_xmmm128b64,
                    (Ty::U64, Ty::F64) => Code::EVEX_Vcvtuqq2pd_xmm_k1z_xmmm128b64,
                    _ => return None,
                };
                let larger = n * from.size().max(to.size());
                Some(self.between(code, x, n * from.size(), n * to.size(), larger))
            }
            (true, false) if to.size() < 4 => {
                let wide = self.saturated(x, n, from, Ty::I32)?;
                Some(self.narrowed_saturated(wide, n, to))
            }
            (true, false) => self.saturated(x, n, from, to),
        }
    }

    /// An instruction from a vector of so many bytes to one of so many; its size is told by the larger.
    pub(super) fn between(&mut self, code: Code, x: VReg, from: usize, to: usize, larger: usize) -> VReg {
        let code = sized(code, form_of(larger));
        // The smaller one of a pair of halves fills half of what the larger does.
        let small = |bytes: usize| form_of(bytes * form_bytes(larger) / larger);
        self.vector(code, small(to), &[Arg::Use(x, small(from))])
    }

    /// Integers in another size: extended by their sign, or cut.
    pub(super) fn resized(&mut self, x: VReg, n: usize, from: Ty, to: usize) -> VReg {
        let size = from.size();
        let code = match (size, to, from.is_signed()) {
            (1, 2, true) => Code::EVEX_Vpmovsxbw_xmm_k1z_xmmm64,
            (1, 4, true) => Code::EVEX_Vpmovsxbd_xmm_k1z_xmmm32,
            (1, 8, true) => Code::EVEX_Vpmovsxbq_xmm_k1z_xmmm16,
            (2, 4, true) => Code::EVEX_Vpmovsxwd_xmm_k1z_xmmm64,
            (2, 8, true) => Code::EVEX_Vpmovsxwq_xmm_k1z_xmmm32,
            (4, 8, true) => Code::EVEX_Vpmovsxdq_xmm_k1z_xmmm64,
            (1, 2, false) => Code::EVEX_Vpmovzxbw_xmm_k1z_xmmm64,
            (1, 4, false) => Code::EVEX_Vpmovzxbd_xmm_k1z_xmmm32,
            (1, 8, false) => Code::EVEX_Vpmovzxbq_xmm_k1z_xmmm16,
            (2, 4, false) => Code::EVEX_Vpmovzxwd_xmm_k1z_xmmm64,
            (2, 8, false) => Code::EVEX_Vpmovzxwq_xmm_k1z_xmmm32,
            (4, 8, false) => Code::EVEX_Vpmovzxdq_xmm_k1z_xmmm64,
            (2, 1, _) => Code::EVEX_Vpmovwb_xmmm64_k1z_xmm,
            (4, 1, _) => Code::EVEX_Vpmovdb_xmmm32_k1z_xmm,
            (8, 1, _) => Code::EVEX_Vpmovqb_xmmm16_k1z_xmm,
            (4, 2, _) => Code::EVEX_Vpmovdw_xmmm64_k1z_xmm,
            (8, 2, _) => Code::EVEX_Vpmovqw_xmmm32_k1z_xmm,
            (8, 4, _) => Code::EVEX_Vpmovqd_xmmm64_k1z_xmm,
            _ => return x,
        };
        self.between(code, x, n * size, n * to, n * size.max(to))
    }

    /// Integers of 32 bits as smaller ones, saturated.
    fn narrowed_saturated(&mut self, x: VReg, n: usize, to: Ty) -> VReg {
        let form = form_of(n * 4);
        let x = if to.is_signed() {
            x
        } else {
            let zero = self.zero();
            let args = [Arg::Use(x, form), Arg::Use(zero, form)];
            self.vector(sized(Code::EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32, form), form, &args)
        };
        if !L::HAS_MASKS {
            let (least, most) = match (to.size(), to.is_signed()) {
                (1, true) => (i8::MIN as i32 as u32, i8::MAX as u32),
                (1, false) => (0, u8::MAX as u32),
                (_, true) => (i16::MIN as i32 as u32, i16::MAX as u32),
                _ => (0, u16::MAX as u32),
            };
            let bounds =
                [(least, Code::EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32), (most, Code::EVEX_Vpminsd_xmm_k1z_xmm_xmmm128b32)];
            let x = bounds.into_iter().fold(x, |x, (bound, code)| {
                let bound = self.constant_arg(bound.into(), 4);
                self.vector(sized(code, form), form, &[Arg::Use(x, form), bound])
            });
            return self.resized(x, n, Ty::I32, to.size());
        }
        let code = match (to.size(), to.is_signed()) {
            (1, true) => Code::EVEX_Vpmovsdb_xmmm32_k1z_xmm,
            (1, false) => Code::EVEX_Vpmovusdb_xmmm32_k1z_xmm,
            (_, true) => Code::EVEX_Vpmovsdw_xmmm64_k1z_xmm,
            _ => Code::EVEX_Vpmovusdw_xmmm64_k1z_xmm,
        };
        self.between(code, x, n * 4, n * to.size(), n * 4)
    }

    /// Floats as integers of 32 or 64 bits: cut, saturated, and NaNs as 0.
    fn saturated(&mut self, x: VReg, n: usize, from: Ty, to: Ty) -> Option<VReg> {
        let (a, b) = (from.size(), to.size());
        // There would be many instructions.
        if !L::HAS_MASKS && to == Ty::U64 {
            return None;
        }
        let (from_form, larger) = (form_of(n * a), n * a.max(b));
        let single = from == Ty::F32;
        let code = match (from, to) {
            (Ty::F32, Ty::I32) => Code::EVEX_Vcvttps2dq_xmm_k1z_xmmm128b32,
            (Ty::F32, Ty::U32) => Code::EVEX_Vcvttps2udq_xmm_k1z_xmmm128b32,
            (Ty::F32, Ty::I64) => Code::EVEX_Vcvttps2qq_xmm_k1z_xmmm64b32,
            (Ty::F32, Ty::U64) => Code::EVEX_Vcvttps2uqq_xmm_k1z_xmmm64b32,
            (Ty::F64, Ty::I32) => Code::EVEX_Vcvttpd2dq_xmm_k1z_xmmm128b64,
            (Ty::F64, Ty::U32) => Code::EVEX_Vcvttpd2udq_xmm_k1z_xmmm128b64,
            (Ty::F64, Ty::I64) => Code::EVEX_Vcvttpd2qq_xmm_k1z_xmmm128b64,
            (Ty::F64, Ty::U64) => Code::EVEX_Vcvttpd2uqq_xmm_k1z_xmmm128b64,
            _ => return None,
        };
        let small = |bytes: usize| form_of(bytes * form_bytes(larger) / larger);
        let code = sized(code, form_of(larger));
        let arg = Arg::Use(x, small(n * a));
        if !to.is_signed() {
            // What is too large becomes the greatest anyway; the rest of what does not fit is not at least 0.
            let zero = self.zero();
            let mask = self.at_least_mask(from, from_form, x, Arg::Use(zero, from_form));
            return Some(self.vector_masked(code, small(n * b), &[arg], mask));
        }
        let is_number = self.ordered(from, from_form, x, true);
        let y = if !L::HAS_MASKS && b == 8 {
            let y = self.words_of_floats(x, n, from);
            let copy = sized(Code::EVEX_Vmovupd_xmm_k1z_xmmm128, form_of(n * b));
            self.vector_masked(copy, form_of(n * b), &[Arg::Use(y, form_of(n * b))], is_number)
        } else {
            self.vector_masked(code, small(n * b), &[arg], is_number)
        };
        // What is too small becomes the least anyway, and so does what is too large.
        let (bits, most) = if b == 4 { (31, i32::MAX as u64) } else { (63, i64::MAX as u64) };
        let limit = if single { (2f32.powi(bits)).to_bits() as u64 } else { 2f64.powi(bits).to_bits() };
        let limit = self.constant_arg(limit, a);
        let beyond = self.at_least_mask(from, from_form, x, limit);
        let most = self.constant_vector(most, b);
        Some(self.blend(to, form_of(n * b), beyond, most, y))
    }

    /// Without an instruction for 64 bits: floats cut to integers one by one. What does not fit becomes the least.
    fn words_of_floats(&mut self, x: VReg, n: usize, from: Ty) -> VReg {
        let code = if from == Ty::F32 { Code::VEX_Vcvttss2si_r64_xmmm32 } else { Code::VEX_Vcvttsd2si_r64_xmmm64 };
        let lanes = (0..n).map(|lane| {
            let lane = self.part(x, form_of(n * from.size()), lane * from.size(), from.size());
            let word = self.def(code, (RegClass::Int, Size::G64), &[Arg::Use(lane, Size::X)]);
            self.vector(Code::EVEX_Vmovq_xmm_rm64, Size::X, &[Arg::Use(word, Size::G64)])
        });
        let lanes = lanes.collect();
        self.joined(lanes, 8)[0]
    }

    /// Without an instruction for 64 bits: signed integers rounded to floats one by one, once.
    fn floats_of_words(&mut self, x: VReg, n: usize) -> VReg {
        let lanes = (0..n).map(|lane| {
            let lane = self.part(x, form_of(n * 8), lane * 8, 8);
            let word = self.def(Code::EVEX_Vmovq_rm64_xmm, (RegClass::Int, Size::G64), &[Arg::Use(lane, Size::X)]);
            let base = self.zero();
            let args = [Arg::Use(base, Size::X), Arg::Use(word, Size::G64)];
            self.vector(Code::EVEX_Vcvtsi2ss_xmm_xmm_rm64_er, Size::X, &args)
        });
        let lanes = lanes.collect();
        self.joined(lanes, 4)[0]
    }

    /// Without an instruction for 64 bits: each half of an integer is a double's bits but for a power of two that is added, which
    /// leaves both exact; their sum is rounded once.
    pub(super) fn doubles_of_words(&mut self, x: VReg, form: Size, signed: bool) -> VReg {
        let of_high = 2f64.powi(84);
        // With its sign turned, a signed integer is 2⁶³ more, and none is negative.
        let sign = if signed { 1 << 31 } else { 0 };
        let more = if signed { 2f64.powi(63) } else { 0.0 };
        let high = self.vector_imm(sized(Code::EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8, form), form, x, 32);
        let bits = self.constant_arg(of_high.to_bits() | sign, 8);
        let xor = sized(Code::EVEX_Vpxorq_xmm_k1z_xmm_xmmm128b64, form);
        let high = self.vector(xor, form, &[Arg::Use(high, form), bits]);
        let of_low = self.constant_vector(2f64.powi(52).to_bits(), 8);
        let blend = sized(Code::VEX_Vpblendd_xmm_xmm_xmmm128_imm8, form);
        let low = self.vector(blend, form, &[Arg::Use(x, form), Arg::Use(of_low, form), imm8(0xaa)]);
        let added = self.constant_arg((of_high + more + 2f64.powi(52)).to_bits(), 8);
        let subtract = sized(Code::EVEX_Vsubpd_xmm_k1z_xmm_xmmm128b64, form);
        let high = self.vector(subtract, form, &[Arg::Use(high, form), added]);
        let add = sized(Code::EVEX_Vaddpd_xmm_k1z_xmm_xmmm128b64, form);
        self.vector(add, form, &[Arg::Use(high, form), Arg::Use(low, form)])
    }

    /// The mask of the lanes of floats, in vectors of any size, that are at least others.
    fn at_least_mask(&mut self, ty: Ty, form: Size, x: VReg, y: Arg) -> VReg {
        let code = if ty == Ty::F32 {
            Code::EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8
        } else {
            Code::EVEX_Vcmppd_kr_k1_xmm_xmmm128b64_imm8
        };
        let args = [Arg::Use(x, form), y, imm8(0x1d)];
        self.def(sized(code, form), Self::MASKS, &args)
    }
}

/// Bytes of the smallest vector that holds so many.
fn form_bytes(bytes: usize) -> usize {
    bytes.next_power_of_two().max(16)
}
