//! Masks as vectors: all bits of an element are set where its lane is in the mask.
//!
//! Within a block, and in those that it dominates in the same loop, it is known of which masks there are vectors, and what
//! masks are made of: of others' intersection, of the parts that pieces of a comparison have given, of a constant. So the
//! vector of a mask is made of those at hand, rather than of its bits, by five instructions; and its bits are not made if
//! nobody else asks for them. A mask that is handed to a block has its vector handed over beside, if it is wanted there or in
//! what the block dominates in the same loop, but for ways that are cold: loops keep theirs in vectors. What the way that is
//! taken as a rule asks for of other masks is made where the ways part, so that it is known where they meet again: each access
//! under a mask has such ways.

use super::{Legal, V3, equal};
use crate::vcode::Inst;
use crate::x86::inst::{Arg, Plain, Size};
use crate::x86::level::Level;
use crate::x86::values::bytes_of;
use foldhash::HashMap;
use iced_x86::{Code, OpKind};
use regalloc2::{Block, Function, VReg};
use std::ops::Range;

/// A mask as a vector: all bits of its lanes, or of the others.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub x: VReg,
    pub inverted: bool,
}

impl Lanes {
    pub(super) fn not(self) -> Lanes {
        Lanes { inverted: !self.inverted, ..self }
    }
}

/// What a mask is made of.
#[derive(Clone, Copy)]
enum Origin {
    And(VReg, VReg),
    /// The second without the first.
    AndNot(VReg, VReg),
    Or(VReg, VReg),
    /// The others of those that are bits of a number: not of lanes beyond the gang's, which a vector may have.
    Not(VReg, u64),
    /// The lanes from one on.
    Shifted(VReg, usize),
    /// Lanes of one up to so many, then those of another.
    Joined(VReg, VReg, usize),
    /// It is known.
    Bits(u64),
}

/// The vector of a mask that is handed to a block: the lanes of a parameter from one on.
pub(super) struct Wanted {
    block: Block,
    param: usize,
    first: usize,
    size: usize,
    form: Size,
    to: VReg,
}

/// A mask as a vector: the first lane, the size of elements and the form.
pub(super) type Key = (VReg, usize, usize, Size);

/// What is known of masks at a place.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// What has been handed to the block, or to one that dominates it in the same loop: to which, and as which parameter.
    params: HashMap<VReg, (Block, usize)>,
    /// Vectors of masks.
    vectors: HashMap<Key, Lanes>,
    origins: HashMap<VReg, Origin>,
    /// Masks that have been moved up by so many lanes, to be joined with others.
    raised: HashMap<VReg, (VReg, usize)>,
}

impl Known {
    /// Returns whether it may be handed on to several blocks: there may be thousands in a row.
    pub(super) fn is_little(&self) -> bool {
        self.vectors.len() + self.origins.len() < 256 && self.params.len() < 256
    }

    /// A block begins.
    pub(super) fn begin(&mut self, block: Block, params: &[VReg]) {
        let masks = params.iter().enumerate().filter(|(_, param)| param.class() == V3::MASK);
        self.params.extend(masks.map(|(i, &param)| (param, (block, i))));
    }

    pub(super) fn insert(&mut self, mask: VReg, first: usize, size: usize, form: Size, lanes: Lanes) {
        self.vectors.insert((mask, first, size, form), lanes);
    }

    /// Notes what an instruction of general registers makes. Gives the register, if it is made of one or two as masks are.
    pub(super) fn note(&mut self, plain: &Plain) -> Option<VReg> {
        let number = |arg: &Option<Arg>| match *arg {
            Some(Arg::Imm(_, n)) => Some(n),
            _ => None,
        };
        let (to, origin) = match (plain.code, &plain.args[..]) {
            (code, [Some(Arg::Tied { from, to, form: Size::G64 }), Some(Arg::Use(other, _)), ..]) => {
                let origin = match code {
                    Code::And_rm64_r64 => Origin::And(*from, *other),
                    Code::Or_rm64_r64 => match self.raised.get(from) {
                        Some(&(high, lanes)) => Origin::Joined(*other, high, lanes),
                        None => Origin::Or(*from, *other),
                    },
                    _ => return None,
                };
                (*to, origin)
            }
            (
                Code::VEX_Andn_r64_r64_rm64,
                [Some(Arg::Def(to, _)), Some(Arg::Use(not, _)), Some(Arg::Use(x, _)), ..],
            ) => (*to, Origin::AndNot(*not, *x)),
            (Code::Shl_rm64_imm8, [Some(Arg::Tied { from, to, .. }), n, ..]) => {
                self.raised.insert(*to, (*from, number(n)? as usize));
                return Some(*to);
            }
            (Code::Shr_rm64_imm8, [Some(Arg::Tied { from, to, .. }), n, ..]) => {
                (*to, Origin::Shifted(*from, number(n)? as usize))
            }
            // All bits up to a power of two.
            (Code::Xor_rm32_imm32, [Some(Arg::Tied { from, to, .. }), n, ..])
                if number(n).is_some_and(|n| n > 0 && (n + 1) & n == 0) =>
            {
                (*to, Origin::Not(*from, number(n)? as u64))
            }
            (
                Code::Mov_r32_imm32 | Code::Mov_rm64_imm32 | Code::Mov_r64_imm64,
                [Some(Arg::Def(to, _)), Some(Arg::Imm(_, bits)), ..],
            ) => (*to, Origin::Bits(*bits as u64)),
            (Code::Movzx_r32_rm8 | Code::Movzx_r32_rm16, [Some(Arg::Def(to, _)), Some(Arg::Use(from, _)), ..]) => {
                let Some(Origin::Bits(bits)) = self.origins.get(from) else { return None };
                let lanes = if plain.code == Code::Movzx_r32_rm8 { 0xff } else { 0xffff };
                (*to, Origin::Bits(bits & lanes))
            }
            _ => return None,
        };
        self.origins.insert(to, origin);
        Some(to)
    }
}

/// The bits of so many lanes.
fn all_of(lanes: usize) -> u64 {
    u64::MAX >> (64 - lanes)
}

impl Legal<'_> {
    /// The lanes of a mask from one on as a vector.
    pub(super) fn lanes(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> Lanes {
        if let Some(lanes) = self.lanes_known(mask, first, size, form) {
            return lanes;
        }
        match self.known.origins.get(&mask) {
            // What has been moved down is made anew for each use, the mask itself is not.
            Some(&Origin::Shifted(whole, by)) => self.lanes(whole, first + by, size, form),
            _ => self.lanes_of_bits(mask, first, size, form),
        }
    }

    /// The lanes of a mask from one on as a vector, if it can be made of others.
    pub(super) fn lanes_known(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> Option<Lanes> {
        let key = (mask, first, size, form);
        if let Some(&lanes) = self.known.vectors.get(&key) {
            return Some(lanes);
        }
        if let Some(&x) = self.handed.get(&key).filter(|_| self.known.params.contains_key(&mask)) {
            return Some(Lanes { x, inverted: false });
        }
        let lanes = match self.widened(mask, first, size, form) {
            Some(lanes) => lanes,
            None => self.lanes_of_origin(mask, first, size, form)?,
        };
        self.known.insert(mask, first, size, form, lanes);
        Some(lanes)
    }

    fn lanes_of_origin(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> Option<Lanes> {
        let n = bytes_of(form) / size;
        let (a, b, invert_a, invert_b) = match *self.known.origins.get(&mask)? {
            Origin::Shifted(x, by) => return self.lanes_known(x, first + by, size, form),
            Origin::Joined(low, _, lanes) if first + n <= lanes => return self.lanes_known(low, first, size, form),
            Origin::Joined(_, high, lanes) if first >= lanes => {
                return self.lanes_known(high, first - lanes, size, form);
            }
            Origin::Joined(..) => return None,
            Origin::Not(x, bits) => {
                let others = self.lanes_known(x, first, size, form)?.not();
                let bits = bits >> first;
                if bits & all_of(n) == all_of(n) {
                    return Some(others);
                }
                let own = self.known_lanes(bits, size, form);
                return Some(self.intersection(others, own, form));
            }
            Origin::Bits(bits) => return Some(self.known_lanes(bits >> first, size, form)),
            Origin::And(a, b) => (a, b, false, false),
            Origin::AndNot(a, b) => (a, b, true, false),
            Origin::Or(a, b) => (a, b, true, true),
        };
        let [known_a, known_b] = [a, b].map(|x| self.lanes_known(x, first, size, form));
        // Of one that is handed to a block there will be a vector for others, too.
        let mut handed = |x: VReg| self.lanes_handed(x, first, size, form);
        let (x, y) = match (known_a, known_b) {
            (Some(x), Some(y)) => (x, y),
            (Some(x), None) => (x, handed(b)?),
            (None, Some(y)) => (handed(a)?, y),
            _ => return None,
        };
        let both = self.intersection(if invert_a { x.not() } else { x }, if invert_b { y.not() } else { y }, form);
        // Of neither there is the opposite of a union.
        Some(if invert_a && invert_b { both.not() } else { both })
    }

    /// Lanes that are known, as a vector.
    fn known_lanes(&mut self, bits: u64, size: usize, form: Size) -> Lanes {
        let n = bytes_of(form) / size;
        let x = match bits & all_of(n) {
            0 => self.zero(),
            bits => {
                let bytes =
                    (0..n).flat_map(|lane| std::iter::repeat_n(((bits >> lane & 1) as u8).wrapping_neg(), size));
                let lanes = self.constants(&bytes.collect::<Vec<u8>>());
                self.register(lanes, form)
            }
        };
        Lanes { x, inverted: false }
    }

    /// The lanes of both.
    pub(super) fn intersection(&mut self, a: Lanes, b: Lanes, form: Size) -> Lanes {
        let (code, x, y, inverted) = match (a.inverted, b.inverted) {
            (false, false) => (Code::VEX_Vpand_xmm_xmm_xmmm128, a.x, b.x, false),
            (false, true) => (Code::VEX_Vpandn_xmm_xmm_xmmm128, b.x, a.x, false),
            (true, false) => (Code::VEX_Vpandn_xmm_xmm_xmmm128, a.x, b.x, false),
            (true, true) => (Code::VEX_Vpor_xmm_xmm_xmmm128, a.x, b.x, true),
        };
        Lanes { x: self.by(code, form, &[x, y]), inverted }
    }

    /// Lanes that there are as a vector of smaller elements.
    fn widened(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> Option<Lanes> {
        let n = bytes_of(form) / size;
        for own in [4, 2, 1].into_iter().filter(|&own| own < size) {
            for own_form in [Size::X, Size::Y] {
                let lanes = bytes_of(own_form) / own;
                let from = first / lanes * lanes;
                let Some(&narrow) = self.known.vectors.get(&(mask, from, own, own_form)) else { continue };
                if first + n > from + lanes {
                    continue;
                }
                let (mut x, mut byte) = (narrow.x, (first - from) * own);
                if byte >= 16 {
                    x = self.upper(x);
                    byte -= 16;
                }
                // What is in both halves of it is taken apart first, too.
                if byte + n * own > 16 {
                    continue;
                }
                if byte != 0 {
                    x = self.by_number(Code::VEX_Vpsrldq_xmm_xmm_imm8, Size::X, x, byte as u8);
                }
                let widen = match (own, size) {
                    (1, 2) => Code::VEX_Vpmovsxbw_xmm_xmmm64,
                    (1, 4) => Code::VEX_Vpmovsxbd_xmm_xmmm32,
                    (1, _) => Code::VEX_Vpmovsxbq_xmm_xmmm16,
                    (2, 4) => Code::VEX_Vpmovsxwd_xmm_xmmm64,
                    (2, _) => Code::VEX_Vpmovsxwq_xmm_xmmm32,
                    _ => Code::VEX_Vpmovsxdq_xmm_xmmm64,
                };
                let x = self.make(widen, form, &[Arg::Use(x, Size::X)]);
                return Some(Lanes { x, ..narrow });
            }
        }
        None
    }

    /// A mask as a vector of its own lanes, from one on.
    pub(super) fn own_lanes(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> VReg {
        let lanes = self.lanes(mask, first, size, form);
        if !lanes.inverted {
            return lanes.x;
        }
        let ones = self.ones(form);
        let x = self.by(Code::VEX_Vpxor_xmm_xmm_xmmm128, form, &[lanes.x, ones]);
        self.known.insert(mask, first, size, form, Lanes { x, inverted: false });
        x
    }

    /// Hands vectors to blocks that want them: adds parameters, and makes what is handed over at the ends of the blocks before, of which
    /// it is known what is known there.
    pub(super) fn hand_over(&mut self, ranges: &[Range<usize>], at_end: &mut [Option<Known>]) {
        while let Some(Wanted { block, param, first, size, form, to }) = self.wanted.pop() {
            self.code.add_param(block, to);
            for from in self.code.block_preds(block).to_vec() {
                (self.block, self.at) = (from, ranges[from.index()].end - 1);
                let Inst::Jump(_, args) = &self.code.insts[self.at] else {
                    unreachable!("what is handed to a block is handed by jumps")
                };
                let mask = args[param];
                self.known = at_end[from.index()].take().unwrap_or_default();
                let x = self.own_lanes(mask, first, size, form);
                at_end[from.index()] = Some(std::mem::take(&mut self.known));
                if let Inst::Jump(_, args) = &mut self.code.insts[self.at] {
                    args.push(x);
                }
            }
        }
    }

    /// The lanes of a mask from one on as a vector that is handed over with the mask, if that is handed to this block or one before, and
    /// this is not a way that is seldom taken: registers are few.
    fn lanes_handed(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> Option<Lanes> {
        let &(block, param) = self.known.params.get(&mask)?;
        if block != self.block && self.code.cold[self.block.index()] {
            return None;
        }
        let to = *self.handed.entry((mask, first, size, form)).or_insert_with(|| {
            let to = self.code.vector();
            self.wanted.push(Wanted { block, param, first, size, form, to });
            to
        });
        Some(Lanes { x: to, inverted: false })
    }

    /// The lanes of a mask from one on as a vector: handed over with the mask, or made of its bits.
    fn lanes_of_bits(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> Lanes {
        if let Some(lanes) = self.lanes_handed(mask, first, size, form) {
            return lanes;
        }
        if let Some(before) = self.parting(mask) {
            let here = std::mem::replace(&mut self.at, before);
            let lanes = self.lanes_of_number(mask, first, size, form);
            self.at = here;
            self.early.push((mask, first, size, form, lanes));
            return lanes;
        }
        self.lanes_of_number(mask, first, size, form)
    }

    /// Where the block begins from which two ways part, if this block is the one that is taken as a rule, and a mask is there by then.
    fn parting(&self, mask: VReg) -> Option<usize> {
        let &[before] = self.code.block_preds(self.block) else { return None };
        let home = *self.homes.get(mask.vreg()).filter(|home| home.is_valid())?;
        let others_are_cold = || {
            let mut others = self.code.block_succs(before).iter().filter(|&&next| next != self.block);
            others.all(|other| self.code.cold[other.index()])
        };
        let is_early = home != before && home != self.block && !self.code.cold[self.block.index()];
        (is_early && others_are_cold()).then(|| self.code.block_insns(before).first().index())
    }

    /// The lanes of a mask from one on as a vector, made of its bits.
    fn lanes_of_number(&mut self, mask: VReg, first: usize, size: usize, form: Size) -> Lanes {
        let bits = match first {
            0 => mask,
            _ => self.gpr_number(Code::Shr_rm64_imm8, Size::G64, mask, Arg::Imm(OpKind::Immediate8, first as i64)),
        };
        let few = self.make(Code::VEX_Vmovd_xmm_rm32, Size::X, &[Arg::Use(bits, Size::G32)]);
        let n = bytes_of(form) / size;
        let all = match size {
            2 => self.make(Code::VEX_Vpbroadcastw_xmm_xmmm16, form, &[Arg::Use(few, Size::X)]),
            8 => self.make(Code::VEX_Vpbroadcastq_xmm_xmmm64, form, &[Arg::Use(few, Size::X)]),
            _ => self.make(Code::VEX_Vpbroadcastd_xmm_xmmm32, form, &[Arg::Use(few, Size::X)]),
        };
        let all = match size {
            1 => {
                // The byte that has the bit.
                let bytes: Vec<u8> = (0..n as u8).map(|lane| lane / 8).collect();
                let bytes = self.constants(&bytes);
                self.make(Code::VEX_Vpshufb_xmm_xmm_xmmm128, form, &[Arg::Use(all, form), bytes])
            }
            _ => all,
        };
        let bit = |lane: usize| 1u64 << if size == 1 { lane % 8 } else { lane };
        let bits: Vec<u8> = (0..n).flat_map(|lane| bit(lane).to_le_bytes().into_iter().take(size)).collect();
        let bits = self.constants(&bits);
        let own = self.make(Code::VEX_Vpand_xmm_xmm_xmmm128, form, &[Arg::Use(all, form), bits]);
        let x = self.make(equal(size), form, &[Arg::Use(own, form), bits]);
        let lanes = Lanes { x, inverted: false };
        self.known.insert(mask, first, size, form, lanes);
        lanes
    }
}
