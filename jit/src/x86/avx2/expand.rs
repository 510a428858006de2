//! Operations that AVX2 has for some types or sizes only, made of others.

use super::{Legal, number};
use crate::x86::inst::{Arg, Size};
use crate::x86::values::bytes_of;
use iced_x86::{Code, Mnemonic};
use regalloc2::VReg;

/// The two's complement operations on 64 bits.
const ADD: Code = Code::VEX_Vpaddq_xmm_xmm_xmmm128;
const SUB: Code = Code::VEX_Vpsubq_xmm_xmm_xmmm128;

const AND: Code = Code::VEX_Vpand_xmm_xmm_xmmm128;
/// The second operand where the first is not.
const AND_NOT: Code = Code::VEX_Vpandn_xmm_xmm_xmmm128;
const OR: Code = Code::VEX_Vpor_xmm_xmm_xmmm128;
const XOR: Code = Code::VEX_Vpxor_xmm_xmm_xmmm128;
const GREATER: Code = Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128;

/// What integers become shorter by: bytes of an element before and after.
fn cut(mnemonic: Mnemonic) -> Option<(usize, usize)> {
    Some(match mnemonic {
        Mnemonic::Vpmovwb => (2, 1),
        Mnemonic::Vpmovdb => (4, 1),
        Mnemonic::Vpmovqb => (8, 1),
        Mnemonic::Vpmovdw => (4, 2),
        Mnemonic::Vpmovqw => (8, 2),
        Mnemonic::Vpmovqd => (8, 4),
        _ => return None,
    })
}

impl Legal<'_> {
    /// What an operation gives, if AVX2 has no instruction for it. `form` is that of the result; `over` is what it overwrites, if it
    /// reads that.
    pub(super) fn expanded(&mut self, code: Code, form: Size, over: Option<VReg>, args: &[Arg]) -> Option<VReg> {
        use Mnemonic::*;
        let mnemonic = code.mnemonic();
        if let Some((before, after)) = cut(mnemonic) {
            let &Arg::Use(x, from) = args.first()? else { return None };
            return Some(self.shortened(x, from, before, after));
        }
        let imm = |at: usize| match args.get(at) {
            Some(&Arg::Imm(_, n)) => n as u8,
            _ => 0,
        };
        Some(match mnemonic {
            Vpbroadcastb | Vpbroadcastw | Vpbroadcastd | Vpbroadcastq => {
                let &Arg::Use(x, from @ (Size::G32 | Size::G64)) = args.first()? else { return None };
                let one = if from == Size::G64 { Code::VEX_Vmovq_xmm_rm64 } else { Code::VEX_Vmovd_xmm_rm32 };
                let one = self.make(one, Size::X, &[Arg::Use(x, from)]);
                let all = match mnemonic {
                    Vpbroadcastb => Code::VEX_Vpbroadcastb_xmm_xmmm8,
                    Vpbroadcastw => Code::VEX_Vpbroadcastw_xmm_xmmm16,
                    Vpbroadcastd => Code::VEX_Vpbroadcastd_xmm_xmmm32,
                    _ => Code::VEX_Vpbroadcastq_xmm_xmmm64,
                };
                self.make(all, form, &[Arg::Use(one, Size::X)])
            }
            Vpabsq => {
                let (x, zero) = (self.register(args[0], form), self.zero());
                let sign = self.by(GREATER, form, &[zero, x]);
                let flipped = self.by(XOR, form, &[x, sign]);
                self.by(SUB, form, &[flipped, sign])
            }
            Vpminsq | Vpmaxsq | Vpminuq | Vpmaxuq => {
                let [a, b] = [0, 1].map(|i| self.register(args[i], form));
                let (mut x, mut y) = (a, b);
                if matches!(mnemonic, Vpminuq | Vpmaxuq) {
                    let sign = self.constant(1 << 63, 8, form);
                    [x, y] = [a, b].map(|r| self.make(XOR, form, &[Arg::Use(r, form), sign]));
                }
                let x = self.by(GREATER, form, &[x, y]);
                let inverted = matches!(mnemonic, Vpminsq | Vpminuq);
                self.choose(super::Lanes { x, inverted }, 8, form, a, b)
            }
            Vpmullq => {
                let [a, b] = [0, 1].map(|i| self.register(args[i], form));
                let multiply = Code::VEX_Vpmuludq_xmm_xmm_xmmm128;
                let [a_high, b_high] = [a, b].map(|x| self.by_number(Code::VEX_Vpsrlq_xmm_xmm_imm8, form, x, 32));
                let low = self.by(multiply, form, &[a, b]);
                let [cross, other] = [[a_high, b], [a, b_high]].map(|pair| self.by(multiply, form, &pair));
                let cross = self.by(ADD, form, &[cross, other]);
                let cross = self.by_number(Code::VEX_Vpsllq_xmm_xmm_imm8, form, cross, 32);
                self.by(ADD, form, &[low, cross])
            }
            Vpsraq => {
                // The sign has come to lie lower: what is flipped there and subtracted fills up the bits above.
                let (x, by) = (self.register(args[0], form), imm(1));
                let x = self.by_number(Code::VEX_Vpsrlq_xmm_xmm_imm8, form, x, by);
                let sign = self.constant(1 << (63 - by.min(63)), 8, form);
                let sign = self.register(sign, form);
                let flipped = self.by(XOR, form, &[x, sign]);
                self.by(SUB, form, &[flipped, sign])
            }
            Vpsravq => {
                let [x, counts] = [0, 1].map(|i| self.register(args[i], form));
                let sign = self.constant(1 << 63, 8, form);
                let sign = self.register(sign, form);
                let down = Code::VEX_Vpsrlvq_xmm_xmm_xmmm128;
                let [x, sign] = [x, sign].map(|r| self.by(down, form, &[r, counts]));
                let flipped = self.by(XOR, form, &[x, sign]);
                self.by(SUB, form, &[flipped, sign])
            }
            Vpsllvw | Vpsrlvw | Vpsravw => {
                let [x, counts] = [0, 1].map(|i| self.register(args[i], form));
                self.shifted_words(mnemonic, form, x, counts)
            }
            Vpternlogd | Vpternlogq => match imm(2) {
                0x0f => {
                    let (x, ones) = (over?, self.ones(form));
                    self.by(XOR, form, &[x, ones])
                }
                0xd8 => {
                    let [x, bits] = [0, 1].map(|i| self.register(args[i], form));
                    let chosen = self.by(AND, form, &[bits, x]);
                    let rest = self.by(AND_NOT, form, &[bits, over?]);
                    self.by(OR, form, &[chosen, rest])
                }
                _ => return None,
            },
            Vprold | Vprolq => {
                let (x, by) = (self.register(args[0], form), imm(1));
                let (left, right, bits) = match mnemonic {
                    Vprold => (Code::VEX_Vpslld_xmm_xmm_imm8, Code::VEX_Vpsrld_xmm_xmm_imm8, 32),
                    _ => (Code::VEX_Vpsllq_xmm_xmm_imm8, Code::VEX_Vpsrlq_xmm_xmm_imm8, 64),
                };
                let left = self.by_number(left, form, x, by);
                let right = self.by_number(right, form, x, bits - by);
                self.by(OR, form, &[left, right])
            }
            Vplzcntd => {
                let x = self.register(args[0], form);
                self.leading_zeros(form, x)
            }
            Vplzcntq => {
                // Those of the lower half count where the upper one has nothing else.
                let x = self.register(args[0], form);
                let both = self.leading_zeros(form, x);
                let high = self.by_number(Code::VEX_Vpsrlq_xmm_xmm_imm8, form, both, 32);
                let low = self.constant(u32::MAX.into(), 8, form);
                let low = self.make(AND, form, &[Arg::Use(both, form), low]);
                let all = self.constant(32, 8, form);
                let is_all = self.make(Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128, form, &[Arg::Use(high, form), all]);
                let low = self.by(AND, form, &[low, is_all]);
                self.by(ADD, form, &[high, low])
            }
            Vcvtudq2ps => {
                // Both halves are exact, and so is the greater one times 2¹⁶: it is rounded once.
                let x = self.register(args[0], form);
                let low = self.constant(0xffff, 4, form);
                let low = self.make(AND, form, &[Arg::Use(x, form), low]);
                let high = self.by_number(Code::VEX_Vpsrld_xmm_xmm_imm8, form, x, 16);
                let [low, high] = [low, high].map(|r| self.by(Code::VEX_Vcvtdq2ps_xmm_xmmm128, form, &[r]));
                let scale = self.constant(65536f32.to_bits().into(), 4, form);
                let high = self.make(Code::VEX_Vmulps_xmm_xmm_xmmm128, form, &[Arg::Use(high, form), scale]);
                self.by(Code::VEX_Vaddps_xmm_xmm_xmmm128, form, &[high, low])
            }
            Vcvtudq2pd => {
                let x = self.register(args[0], Size::X);
                let sign = self.constant(1 << 31, 4, Size::X);
                let x = self.make(XOR, Size::X, &[Arg::Use(x, Size::X), sign]);
                let x = self.make(Code::VEX_Vcvtdq2pd_xmm_xmmm64, form, &[Arg::Use(x, Size::X)]);
                let more = self.constant(2f64.powi(31).to_bits(), 8, form);
                self.make(Code::VEX_Vaddpd_xmm_xmm_xmmm128, form, &[Arg::Use(x, form), more])
            }
            Vcvttps2udq => {
                let x = self.register(args[0], form);
                let (y, above, beyond) = self.parts_of_unsigned(true, form, x);
                let y = self.by(Code::VEX_Vcvttps2dq_xmm_xmmm128, form, &[y]);
                self.joined_unsigned(form, y, above, beyond)
            }
            Vcvttpd2udq => {
                let &Arg::Use(x, from) = args.first()? else { return None };
                let (y, above, beyond) = self.parts_of_unsigned(false, from, x);
                let code = match from {
                    Size::Y => Code::VEX_Vcvttpd2dq_xmm_ymmm256,
                    _ => Code::VEX_Vcvttpd2dq_xmm_xmmm128,
                };
                let y = {
                    let r = self.code.vector();
                    self.push(code, &[Arg::Def(r, Size::X), Arg::Use(y, from)]);
                    r
                };
                let [above, beyond] = [above, beyond].map(|mask| self.every_second(mask, from));
                self.joined_unsigned(Size::X, y, above, beyond)
            }
            _ => return None,
        })
    }

    /// How many bits of 32 are zero above the greatest: from the exponent of a float that is not rounded up.
    fn leading_zeros(&mut self, form: Size, x: VReg) -> VReg {
        let below = self.by_number(Code::VEX_Vpsrld_xmm_xmm_imm8, form, x, 1);
        let x = self.by(AND_NOT, form, &[below, x]);
        let x = self.by(Code::VEX_Vcvtdq2ps_xmm_xmmm128, form, &[x]);
        let exponent = self.by_number(Code::VEX_Vpsrld_xmm_xmm_imm8, form, x, 23);
        let most = self.constant(158, 4, form);
        let most = self.register(most, form);
        let zeros = self.by(Code::VEX_Vpsubd_xmm_xmm_xmmm128, form, &[most, exponent]);
        // A sign makes it negative, and of 0 the exponent is 0.
        let zero = self.zero();
        let zeros = self.by(Code::VEX_Vpmaxsd_xmm_xmm_xmmm128, form, &[zeros, zero]);
        let all = self.constant(32, 4, form);
        self.make(Code::VEX_Vpminsd_xmm_xmm_xmmm128, form, &[Arg::Use(zeros, form), all])
    }

    /// Integers in fewer bytes, at the bottom of a vector.
    fn shortened(&mut self, x: VReg, from: Size, before: usize, after: usize) -> VReg {
        if (before, after) == (8, 4) {
            return self.every_second(x, from);
        }
        let n = 16 / before;
        let own = (0..n).flat_map(|i| (0..after).map(move |byte| (i * before + byte) as u8));
        let lane: Vec<u8> = own.chain(std::iter::repeat(0x80)).take(16).collect();
        let bytes: Vec<u8> = lane.iter().copied().cycle().take(bytes_of(from)).collect();
        let chosen = self.constants(&bytes);
        let x = self.make(Code::VEX_Vpshufb_xmm_xmm_xmmm128, from, &[Arg::Use(x, from), chosen]);
        if from != Size::Y {
            return x;
        }
        let high = self.upper(x);
        let join = match n * after {
            8 => Code::VEX_Vpunpcklqdq_xmm_xmm_xmmm128,
            4 => Code::VEX_Vpunpckldq_xmm_xmm_xmmm128,
            _ => Code::VEX_Vpunpcklwd_xmm_xmm_xmmm128,
        };
        self.by(join, Size::X, &[x, high])
    }

    /// The low halves of elements of 64 bits, one after another.
    fn every_second(&mut self, x: VReg, from: Size) -> VReg {
        let high = if from == Size::Y { self.upper(x) } else { x };
        let args = [Arg::Use(x, Size::X), Arg::Use(high, Size::X), number(0x88)];
        self.make(Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, Size::X, &args)
    }

    /// Words shifted by counts that vary, as 32 bits.
    fn shifted_words(&mut self, op: Mnemonic, form: Size, x: VReg, counts: VReg) -> VReg {
        let (widen, shift) = match op {
            Mnemonic::Vpsllvw => (Code::VEX_Vpmovzxwd_ymm_xmmm128, Code::VEX_Vpsllvd_ymm_ymm_ymmm256),
            Mnemonic::Vpsrlvw => (Code::VEX_Vpmovzxwd_ymm_xmmm128, Code::VEX_Vpsrlvd_ymm_ymm_ymmm256),
            _ => (Code::VEX_Vpmovsxwd_ymm_xmmm128, Code::VEX_Vpsravd_ymm_ymm_ymmm256),
        };
        let half = |s: &mut Self, x, counts| {
            let x = s.make(widen, Size::Y, &[Arg::Use(x, Size::X)]);
            let counts = s.make(Code::VEX_Vpmovzxwd_ymm_xmmm128, Size::Y, &[Arg::Use(counts, Size::X)]);
            let shifted = s.by(shift, Size::Y, &[x, counts]);
            s.shortened(shifted, Size::Y, 4, 2)
        };
        let low = half(self, x, counts);
        if form != Size::Y {
            return low;
        }
        let [x, counts] = [x, counts].map(|r| self.upper(r));
        let high = half(self, x, counts);
        let args = [Arg::Use(low, Size::Y), Arg::Use(high, Size::X), number(1)];
        self.make(Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, Size::Y, &args)
    }

    /// Floats to be cut to unsigned integers of 32 bits: with 2³¹ less where they have that, which lanes these are, and which have 2³² or
    /// more.
    fn parts_of_unsigned(&mut self, single: bool, form: Size, x: VReg) -> (VReg, VReg, VReg) {
        let (compare, minus) = match single {
            true => (Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8, Code::VEX_Vsubps_xmm_xmm_xmmm128),
            false => (Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8, Code::VEX_Vsubpd_xmm_xmm_xmmm128),
        };
        let bits = |exponent: i32| match single {
            true => (2f32.powi(exponent).to_bits().into(), 4),
            false => (2f64.powi(exponent).to_bits(), 8),
        };
        let [above, beyond] = [31, 32].map(|exponent| {
            let (bits, size) = bits(exponent);
            let limit = self.constant(bits, size, form);
            self.make(compare, form, &[Arg::Use(x, form), limit, number(0x1d)])
        });
        let (bits, size) = bits(31);
        let limit = self.constant(bits, size, form);
        let less = self.make(AND, form, &[Arg::Use(above, form), limit]);
        (self.by(minus, form, &[x, less]), above, beyond)
    }

    fn joined_unsigned(&mut self, form: Size, x: VReg, above: VReg, beyond: VReg) -> VReg {
        let sign = self.constant(1 << 31, 4, form);
        let sign = self.make(AND, form, &[Arg::Use(above, form), sign]);
        let x = self.by(XOR, form, &[x, sign]);
        self.by(OR, form, &[x, beyond])
    }
}
