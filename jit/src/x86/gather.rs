//! Gathers, and the addresses of scatters.
//!
//! Lanes are loaded one by one, where the machine's own gathers ([`gather_lanes`](super::gather_lanes)) take longer. Indices of 32 bits
//! leave their vector two at a time, once for all gathers that follow one another with the same ones. An inactive lane takes
//! the least index in bounds, or that of the first active one; without any, all read memory of the code's own. Other indices
//! become addresses in vectors of 64 bits, of which those of inactive lanes lead there.

use super::inst::{Arg, Base, Cond, Mem, Size};
use super::level::Level;
use super::masks::int_condition;
use super::memory::masked_move;
use super::select::{Select, imm8};
use super::values::sized;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::{Comparison, Gather};
use crate::vcode::Location;
use foldhash::HashMap;
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

/// Where stores of inactive lanes go, in the scratch memory.
const OWN_AT: i32 = 0;

const WORD: (RegClass, Size) = (RegClass::Int, Size::G64);

/// What gathers of a block have read, four lanes of 32 bits by four, before inactive lanes were cleared; and under which mask.
pub(super) type Gathered = HashMap<Value, (Option<VReg>, Vec<VReg>)>;

/// Addresses of lanes in vectors.
pub(super) struct Addresses {
    sums: Vec<VReg>,
    /// The two that have been taken out last.
    pair: Option<VReg>,
}

/// Vectors that are put together lane by lane, from memory.
pub(super) struct Assembly {
    size: usize,
    quarters: Vec<VReg>,
}

impl Assembly {
    pub(super) fn new(ty: Ty) -> Assembly {
        Assembly { size: ty.size(), quarters: Vec::new() }
    }

    /// Loads a lane; they come in order.
    pub(super) fn add<L: Level>(&mut self, s: &mut Select<'_, L>, lane: usize, from: Mem) {
        let (mem, at) = (Arg::Mem(from), lane % (16 / self.size));
        if at == 0 {
            let first = match self.size {
                4 => s.vector(Code::EVEX_Vmovss_xmm_k1z_m32, Size::X, &[mem]),
                8 => s.vector(Code::EVEX_Vmovsd_xmm_k1z_m64, Size::X, &[mem]),
                _ => {
                    let zero = s.zero();
                    self.inserted(s, zero, mem, 0)
                }
            };
            return self.quarters.push(first);
        }
        if let Some(x) = self.quarters.pop() {
            let x = self.inserted(s, x, mem, at as u8);
            self.quarters.push(x);
        }
    }

    fn inserted<L: Level>(&self, s: &mut Select<'_, L>, x: VReg, mem: Arg, at: u8) -> VReg {
        let x = Arg::Use(x, Size::X);
        let (code, imm) = match self.size {
            8 => return s.vector(Code::EVEX_Vmovhpd_xmm_xmm_m64, Size::X, &[x, mem]),
            4 => (Code::EVEX_Vinsertps_xmm_xmm_xmmm32_imm8, at << 4),
            2 => (Code::EVEX_Vpinsrw_xmm_xmm_r32m16_imm8, at),
            _ => (Code::EVEX_Vpinsrb_xmm_xmm_r32m8_imm8, at),
        };
        s.vector(code, Size::X, &[x, mem, imm8(imm)])
    }

    pub(super) fn finish<L: Level>(self, s: &mut Select<'_, L>) -> Vec<VReg> {
        s.joined(self.quarters, 16)
    }
}

impl<L: Level> Select<'_, L> {
    /// Translates a gather, together with those after it that have the same index.
    pub(super) fn gather(&mut self, inst: &Inst) {
        let Some(result) = inst.result else { return };
        // It may have been, with one before.
        if !matches!(self.locations[result.index()], Location::Nowhere) {
            return;
        }
        let Kind::Gather { ty, index, scale, .. } = inst.kind else { return };
        if self.is_for_gathers(ty) {
            return self.gather_lanes(inst);
        }
        match Gather::of(inst) {
            Some(first) => self.gather_together(inst, first),
            None => {
                let (mut at, mut made) = (self.addresses(inst, index, scale, false), Assembly::new(ty));
                for l in 0..self.lanes {
                    let from = self.address_of_lane(&mut at, l);
                    made.add(self, l, from);
                }
                let made = made.finish(self);
                self.set_lanes(inst, ty, made);
            }
        }
    }

    fn gather_together(&mut self, inst: &Inst, first: Gather) {
        let group = Gather::group(&self.values, inst, first, |g| self.demand.is_demanded(g.result));
        let index = first.index;
        let mask = inst.args[2];
        let mask = (!self.values.is_full(mask)).then(|| self.mask(mask));
        let sums: Vec<Mem> = group.iter().map(|g| self.address(g.base)).collect();
        let bases: Vec<VReg> = sums.into_iter().map(|sum| self.address_of(sum)).collect();
        let mut made: Vec<_> = group.iter().map(|g| Assembly::new(g.ty)).collect();
        let n = self.lanes_in_piece(4);
        // One vector of indices: some lane of it is active if some lane is.
        let is_some = self.n_pieces(4) == 1 && self.values.is_some(inst.args[2], self.block);
        let low = mask.and_then(|_| self.common_low(&group, index));
        let lows = low.map(|low| self.broadcast(low, Ty::I32));
        for piece in 0..self.n_pieces(4) {
            let part = mask.map(|mask| self.mask_part(mask, 4, piece));
            let asked = part.filter(|_| !is_some);
            let mut if_any = |(&base, g): (&VReg, &Gather)| self.base_if_any(base, asked, low, g.scale, index);
            let bases: Vec<VReg> = bases.iter().zip(&group).map(&mut if_any).collect();
            let quarters = self.readable(inst.args[1], mask, lows, piece);
            for first in (0..n).step_by(2) {
                let quarter = quarters[first / 4];
                let pair = self.two_numbers(quarter, first % 4 / 2, index);
                for (l, number) in (first..n).zip(pair) {
                    for ((g, &base), made) in group.iter().zip(&bases).zip(&mut made) {
                        made.add(
                            self,
                            piece * n + l,
                            Mem { index: Some(number), scale: g.scale as u8, ..Mem::reg(base, 0) },
                        );
                    }
                }
            }
        }
        for (g, made) in group.into_iter().zip(made) {
            if g.ty.size() == 4 {
                self.local.gathered.insert(g.result, (mask, made.quarters.clone()));
            }
            let pieces = made.finish(self);
            self.set_gathered(g, pieces, mask.filter(|_| g.clears));
        }
    }

    /// The greatest of the least indices in bounds of some gathers, where they are at hand: an index that may be read in all of them,
    /// if any may.
    fn common_low(&mut self, group: &[Gather], index: Ty) -> Option<VReg> {
        let mut lows: Vec<Value> = group.iter().map(|g| self.least_index(g, index)).collect::<Option<_>>()?;
        lows.dedup();
        let lows: Vec<VReg> = lows.into_iter().map(|v| self.gpr(v)).collect();
        lows.into_iter().reduce(|a, b| {
            self.compare(Size::G32, a, b);
            self.choose(int_condition(Comparison::Gt, index.is_signed()), a, b)
        })
    }

    /// The least index in bounds for a gather, if it has been computed.
    fn least_index(&self, g: &Gather, index: Ty) -> Option<Value> {
        let low = self.values.least_index(g.base, g.scale, index)?;
        matches!(self.locations[low.index()], Location::One(_)).then_some(low)
    }

    /// A base, or if no lane is active, one from which inactive lanes find memory that may be read: by the index `low`, or by 0.
    fn base_if_any(&mut self, base: VReg, part: Option<VReg>, low: Option<VReg>, scale: u32, index: Ty) -> VReg {
        let Some(part) = part else { return base };
        let none = Mem::at(Base::Pool, self.code.constant(&[0; 8]));
        let mut none = self.address_of(none);
        if let Some(low) = low {
            let low = self.widened(low, index);
            let by = Arg::Imm(OpKind::Immediate8, scale.trailing_zeros() as i64);
            let distance = self.gpr_over(Code::Shl_rm64_imm8, Size::G64, low, by);
            none = self.gpr_binary(Code::Sub_rm64_r64, Size::G64, none, distance);
        }
        // A piece has at most 16 lanes; above them are those of the next.
        if L::HAS_MASKS {
            let k = Arg::Use(part, Size::K);
            self.plain(Code::VEX_Kortestw_kr_kr, &[k, k]);
        } else {
            let lanes = (1 << self.lanes_in_piece(4)) - 1;
            self.plain(Code::Test_rm32_imm32, &[Arg::Use(part, Size::G32), Arg::Imm(OpKind::Immediate32, lanes)]);
        }
        self.choose(Cond::NOT_EQUAL, base, none)
    }

    /// Two of the four integers of a vector, in 64 bits.
    fn two_numbers(&mut self, x: VReg, half: usize, index: Ty) -> [VReg; 2] {
        let x = Arg::Use(x, Size::X);
        let pair = match half {
            0 => self.def(Code::EVEX_Vmovq_rm64_xmm, WORD, &[x]),
            _ => self.def(Code::EVEX_Vpextrq_rm64_xmm_imm8, WORD, &[x, imm8(1)]),
        };
        let by = Arg::Imm(OpKind::Immediate8, 32);
        let low = Arg::Use(pair, Size::G32);
        if index.is_signed() {
            let low = self.def(Code::Movsxd_r64_rm32, WORD, &[low]);
            return [low, self.gpr_over(Code::Sar_rm64_imm8, Size::G64, pair, by)];
        }
        let low = self.def(Code::Mov_r32_rm32, (RegClass::Int, Size::G32), &[low]);
        [low, self.gpr_over(Code::Shr_rm64_imm8, Size::G64, pair, by)]
    }

    /// Zeros in inactive lanes.
    fn cleared(&mut self, pieces: Vec<VReg>, size: usize, mask: VReg) -> Vec<VReg> {
        let (form, code) = (self.form(size), masked_move(size));
        let pieces = pieces.into_iter().enumerate().map(|(i, x)| {
            let part = self.mask_part(mask, size, i);
            self.vector_masked(sized(code, form), form, &[Arg::Use(x, form)], part)
        });
        pieces.collect()
    }

    /// Notes where a gather's result is: with zeros where the mask is not, if there is one.
    fn set_gathered(&mut self, g: Gather, pieces: Vec<VReg>, mask: Option<VReg>) {
        self.locations[g.result.index()] = match (g.ty, mask) {
            (Ty::Bool, None) => Location::One(self.mask_of_bytes(pieces)),
            (Ty::Bool, Some(mask)) => {
                let truth = self.mask_of_bytes(pieces);
                Location::One(self.both_masks(truth, mask))
            }
            (_, None) => Location::Pieces(pieces),
            (ty, Some(mask)) => Location::Pieces(self.cleared(pieces, ty.size(), mask)),
        };
    }

    /// Indices of a piece, four by four, of which all may be read if one may: inactive lanes take one that may be read (`lows`), or
    /// else the first active one. What has been gathered need not be taken apart again; but of that, too, inactive lanes take
    /// another: what they have read no check has seen, and another thread may have written there meanwhile.
    fn readable(&mut self, v: Value, mask: Option<VReg>, lows: Option<VReg>, piece: usize) -> Vec<VReg> {
        let n = self.lanes_in_piece(4).div_ceil(4);
        // Lanes that were inactive then are 0 now, or nobody sees them.
        let gathered = self.local.gathered.get(&v).filter(|(of, _)| of.is_none() || *of == mask);
        let gathered = gathered.map(|(_, quarters)| quarters[piece * n..][..n].to_vec());
        let (mut x, form) = (self.piece(v, 4, piece), self.form(4));
        match (mask, lows, gathered) {
            (None, _, Some(quarters)) => return quarters,
            (None, ..) => {}
            (Some(mask), Some(lows), Some(quarters)) => {
                let blends = quarters.into_iter().enumerate().map(|(i, x)| {
                    let part = self.lanes_of_mask(mask, piece * self.lanes_in_piece(4) + 4 * i);
                    self.blend(Ty::I32, Size::X, part, x, lows)
                });
                return blends.collect();
            }
            (Some(mask), ..) => {
                let part = self.mask_part(mask, 4, piece);
                let other = lows.unwrap_or_else(|| self.first_active(x, part));
                x = self.blend(Ty::I32, form, part, x, other);
            }
        }
        (0..n).map(|i| self.part(x, form, 16 * i, 16)).collect()
    }

    /// The element of the first active lane in all lanes; 0 if there is none.
    fn first_active(&mut self, x: VReg, part: VReg) -> VReg {
        let form = self.form(4);
        if !L::HAS_MASKS {
            // Of zeros in inactive lanes the number of the first active one, which is beyond all if there is none, chooses.
            let active = self.vector_masked(sized(masked_move(4), form), form, &[Arg::Use(x, form)], part);
            let first = self.def(Code::Tzcnt_r32_rm32, (RegClass::Int, Size::G32), &[Arg::Use(part, Size::G32)]);
            let first = self.broadcast(first, Ty::U32);
            let [active, first] = [active, first].map(|r| Arg::Use(r, form));
            return match form {
                Size::Y => self.vector(Code::VEX_Vpermd_ymm_ymm_ymmm256, form, &[first, active]),
                _ => self.vector(Code::VEX_Vpermilps_xmm_xmm_xmmm128, form, &[active, first]),
            };
        }
        let packed = sized(Code::EVEX_Vpcompressd_xmmm128_k1z_xmm, form);
        let packed = self.vector_masked(packed, form, &[Arg::Use(x, form)], part);
        self.vector(sized(Code::EVEX_Vpbroadcastd_xmm_k1z_xmmm32, form), form, &[Arg::Use(packed, Size::X)])
    }

    /// The addresses of the lanes of a gather or scatter, in vectors. Those of inactive lanes lead to memory of the code's own: a
    /// load finds 0 there, and a store is lost.
    pub(super) fn addresses(&mut self, inst: &Inst, index: Ty, scale: u32, for_stores: bool) -> Addresses {
        let (base, at, mask) = (inst.args[0], inst.args[1], inst.args[inst.args.len() - 1]);
        let base = self.address(base);
        let base = self.address_of(base);
        let base = self.broadcast(base, Ty::U64);
        let own = (!self.values.is_full(mask)).then(|| {
            let own = match for_stores {
                true => {
                    self.code.needs_scratch(OWN_AT as usize + 8);
                    Mem::at(Base::Scratch, OWN_AT)
                }
                false => Mem::at(Base::Pool, self.code.constant(&[0; 8])),
            };
            let own = self.address_of(own);
            (self.broadcast(own, Ty::U64), self.mask(mask))
        });
        let (n, form) = (self.lanes_in_piece(8), self.form(8));
        let add = sized(Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64, form);
        let mut sums = Vec::new();
        for i in 0..self.n_pieces(8) {
            let x = self.chunk(at, index.size(), i * n, n);
            let x = self.resized(x, n, index, 8);
            let args = [Arg::Use(base, form), Arg::Use(self.scaled(x, form, scale), form)];
            sums.push(match own {
                None => self.vector(add, form, &args),
                Some((own, mask)) => {
                    let part = self.mask_part(mask, 8, i);
                    self.over_masked(add, form, own, &args, part)
                }
            });
        }
        Addresses { sums, pair: None }
    }

    /// Indices of 64 bits as distances.
    pub(super) fn scaled(&mut self, x: VReg, form: Size, scale: u32) -> VReg {
        let (code, by) = match scale {
            1 => return x,
            _ if scale.is_power_of_two() => {
                let by = imm8(scale.trailing_zeros() as u8);
                (Code::EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8, by)
            }
            _ => (Code::EVEX_Vpmullq_xmm_k1z_xmm_xmmm128b64, self.constant_arg(scale as u64, 8)),
        };
        self.vector(sized(code, form), form, &[Arg::Use(x, form), by])
    }

    /// Words of lanes, to be taken out one by one.
    pub(super) fn words(&mut self, v: Value) -> Addresses {
        Addresses { sums: (0..self.n_pieces(8)).map(|i| self.piece(v, 8, i)).collect(), pair: None }
    }

    /// The operand at the address of a lane; they are asked for in order.
    pub(super) fn address_of_lane(&mut self, at: &mut Addresses, lane: usize) -> Mem {
        Mem::reg(self.word_of_lane(at, lane), 0)
    }

    /// The word of a lane; likewise.
    pub(super) fn word_of_lane(&mut self, at: &mut Addresses, lane: usize) -> VReg {
        let n = self.lanes_in_piece(8);
        let pair = match at.pair {
            Some(pair) if lane % 2 == 1 => pair,
            _ => self.part(at.sums[lane / n], self.form(8), lane % n / 2 * 16, 16),
        };
        at.pair = Some(pair);
        let x = Arg::Use(pair, Size::X);
        match lane % 2 {
            0 => self.def(Code::EVEX_Vmovq_rm64_xmm, WORD, &[x]),
            _ => self.def(Code::EVEX_Vpextrq_rm64_xmm_imm8, WORD, &[x, imm8(1)]),
        }
    }
}
