//! Packed loads and stores: active lanes take consecutive elements.
//!
//! A vector is compressed or expanded by its mask in a register, and the elements of its active lanes, the first of as many
//! bits, go to memory or come from there under a mask of their own. Where the machine is quick to [compress into
//! memory](super::tuning), it does. Elements of less than 32 bits are made as long as that, for what compresses them itself
//! (VBMI2) is missing on many processors.

use super::inst::{Arg, Mem, Size};
use super::level::Level;
use super::memory::{masked_move, masked_store};
use super::select::Select;
use super::values::{form_of, sized};
use crate::ir::{Inst, Value, unsigned_of};
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

/// For masks of up to eight lanes, by their bits: which element of 4 bytes each place takes.
struct Moves {
    /// Of elements of 4 bytes.
    single: [[u8; 8]; 256],
    /// Of those of 8, each as two; of masks of four lanes.
    pairs: [[u8; 8]; 16],
}

/// Elements of active lanes move to the first places.
static COMPRESS: Moves = Moves::new(false);

/// Those of the first places move to active lanes.
static EXPAND: Moves = Moves::new(true);

impl Moves {
    const fn new(expands: bool) -> Moves {
        let mut moves = Moves { single: [[0; 8]; 256], pairs: [[0; 8]; 16] };
        let mut mask = 0;
        while mask < 256 {
            let (mut lane, mut n) = (0, 0);
            while lane < 8 {
                if mask >> lane & 1 != 0 {
                    let (to, from) = if expands { (lane, n) } else { (n, lane) };
                    moves.single[mask][to] = from as u8;
                    if mask < 16 {
                        moves.pairs[mask][2 * to] = 2 * from as u8;
                        moves.pairs[mask][2 * to + 1] = 2 * from as u8 + 1;
                    }
                    n += 1;
                }
                lane += 1;
            }
            mask += 1;
        }
        moves
    }
}

/// The lanes of one vector, and where their elements are.
struct Part {
    /// Its active lanes.
    mask: VReg,
    /// The same in a general register, without any other, if somebody asks for it.
    bits: Option<VReg>,
    at: Mem,
}

impl Part {
    fn own_bits(&self) -> VReg {
        self.bits.expect("they have been asked for")
    }
}

impl<L: Level> Select<'_, L> {
    /// Translates a load; lanes that are not in the mask become 0.
    pub(super) fn load_packed(&mut self, inst: &Inst, ty: Ty, from: Mem) {
        if self.values.are_first(inst.args[1]) {
            return self.load_first(inst, ty, from);
        }
        let (size, n) = (ty.size(), self.lanes_in_packed(ty));
        let (small, large) = (form_of(n * size), form_of(n * size.max(4)));
        let expand = sized(
            if size == 8 { Code::EVEX_Vpexpandq_xmm_k1z_xmmm128 } else { Code::EVEX_Vpexpandd_xmm_k1z_xmmm128 },
            large,
        );
        let parts = self.packed_parts(inst.args[1], ty, from, true);
        let pieces = parts.into_iter().map(|part| {
            let first = self.as_many_first(&part);
            let x = self.vector_masked(sized(masked_move(size), small), small, &[Arg::Mem(part.at)], first);
            let x = self.resized(x, n, unsigned_of(size), size.max(4));
            let x = match L::HAS_MASKS {
                true => self.vector_masked(expand, large, &[Arg::Use(x, large)], part.mask),
                false => {
                    let x = self.moved(&EXPAND, size, part.own_bits(), x);
                    self.vector_masked(sized(masked_move(size), large), large, &[Arg::Use(x, large)], part.mask)
                }
            };
            self.resized(x, n, unsigned_of(size.max(4)), size)
        });
        let pieces = pieces.collect();
        let pieces = self.joined(pieces, n * size);
        self.set_lanes(inst, ty, pieces);
    }

    /// Where the first lanes are active, each takes the element of its number.
    fn load_first(&mut self, inst: &Inst, ty: Ty, from: Mem) {
        let (size, mask) = (ty.size(), inst.args[1]);
        let (form, code) = (self.form(size), sized(masked_move(size), self.form(size)));
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let from = from.plus((L::VECTOR_BYTES * i) as i32);
            match self.known_part(mask, size, i) {
                Some(true) => self.load_vector(form, from),
                Some(false) => self.zero(),
                _ => match self.first_bytes(mask, size, i) {
                    Some(bytes) => self.load_first_bytes(bytes, from),
                    None => {
                        let all = self.mask(mask);
                        let part = self.mask_part(all, size, i);
                        self.vector_masked(code, form, &[Arg::Mem(from)], part)
                    }
                },
            }
        });
        let pieces = pieces.collect();
        self.set_lanes(inst, ty, pieces);
    }

    /// Translates a store.
    pub(super) fn store_packed(&mut self, inst: &Inst, ty: Ty, to: Mem) {
        let (size, n, v) = (ty.size(), self.lanes_in_packed(ty), inst.args[1]);
        let (small, large) = (form_of(n * size), form_of(n * size.max(4)));
        let compress = sized(
            if size == 8 { Code::EVEX_Vpcompressq_xmmm128_k1z_xmm } else { Code::EVEX_Vpcompressd_xmmm128_k1z_xmm },
            large,
        );
        let bytes = (ty == Ty::Bool).then(|| {
            let mask = self.mask(v);
            self.bytes_of_mask(mask)
        });
        let into_memory = L::HAS_MASKS && size >= 4 && self.target.tuning.compressing_stores;
        for (i, part) in self.packed_parts(inst.args[2], ty, to, !into_memory).into_iter().enumerate() {
            let x = match bytes {
                Some(ref bytes) => self.part_of(bytes, i * n, n),
                None => self.chunk(v, size, i * n, n),
            };
            if into_memory {
                let args = [Arg::Mem(part.at), Arg::Use(x, large)];
                self.plain_masked(compress, &args, part.mask, false);
                continue;
            }
            let x = self.resized(x, n, unsigned_of(size), size.max(4));
            let x = match L::HAS_MASKS {
                true => self.vector_masked(compress, large, &[Arg::Use(x, large)], part.mask),
                false => self.moved(&COMPRESS, size, part.own_bits(), x),
            };
            let x = self.resized(x, n, unsigned_of(size.max(4)), size);
            let args = [Arg::Mem(part.at), Arg::Use(x, small)];
            let first = self.as_many_first(&part);
            self.plain_masked(sized(masked_store(size), small), &args, first, false);
        }
    }

    /// Elements of 4 or 8 bytes moved as a table says for the bits of a mask.
    fn moved(&mut self, table: &'static Moves, size: usize, bits: VReg, x: VReg) -> VReg {
        let n = self.lanes_in_piece(size);
        let form = form_of(n * size);
        let rows = if size == 8 { table.pairs.as_ptr() } else { table.single.as_ptr() };
        let rows = self.imm(rows as u64);
        let row = Arg::Mem(Mem { index: Some(bits), scale: 8, ..Mem::reg(rows, 0) });
        match form {
            Size::Y => {
                let numbers = self.vector(Code::VEX_Vpmovzxbd_ymm_xmmm64, form, &[row]);
                self.vector(Code::VEX_Vpermd_ymm_ymm_ymmm256, form, &[Arg::Use(numbers, form), Arg::Use(x, form)])
            }
            _ => {
                let numbers = self.vector(Code::VEX_Vpmovzxbd_xmm_xmmm32, form, &[row]);
                let args = [Arg::Use(x, form), Arg::Use(numbers, form)];
                self.vector(Code::VEX_Vpermilps_xmm_xmm_xmmm128, form, &args)
            }
        }
    }

    /// How many lanes are compressed or expanded together.
    fn lanes_in_packed(&self, ty: Ty) -> usize {
        self.lanes_in_piece(ty.size().max(4))
    }

    /// As many lanes as are active in a part, from the first on.
    fn as_many_first(&mut self, part: &Part) -> VReg {
        let word = Arg::Use(part.own_bits(), Size::G64);
        let first = self.def(Code::VEX_Pext_r64_r64_rm64, (RegClass::Int, Size::G64), &[word, word]);
        self.word_as_mask(first)
    }

    /// The parts of an access: each begins where the one before ends. Their bits may be asked for.
    fn packed_parts(&mut self, mask: Value, ty: Ty, mut at: Mem, with_bits: bool) -> Vec<Part> {
        let (n, mask) = (self.lanes_in_packed(ty), self.mask(mask));
        let mut parts = Vec::new();
        for first_lane in (0..self.lanes).step_by(n) {
            let part = self.lanes_of_mask(mask, first_lane);
            // Above its lanes are those of the next part, if there is one.
            let code = match n {
                _ if n == self.lanes => Code::VEX_Kmovq_r64_kr,
                8 => Code::VEX_Kmovb_r32_kr,
                _ => Code::VEX_Kmovw_r32_kr,
            };
            let form = if n == self.lanes { Size::G64 } else { Size::G32 };
            let is_last = first_lane + n == self.lanes;
            let bits = (with_bits || !is_last).then(|| match L::HAS_MASKS {
                true => self.def(code, (RegClass::Int, form), &[Arg::Use(part, Size::K)]),
                false if n == self.lanes => part,
                false => {
                    let own = Arg::Imm(OpKind::Immediate32, (1 << n) - 1);
                    self.gpr_over(Code::And_rm32_imm32, Size::G32, part, own)
                }
            });
            parts.push(Part { mask: part, bits, at });
            if let Some(bits) = bits.filter(|_| !is_last) {
                let (base, word) = (self.address_of(at), Arg::Use(bits, Size::G64));
                let count = self.def(Code::Popcnt_r64_rm64, (RegClass::Int, Size::G64), &[word]);
                at = Mem { index: Some(count), scale: ty.size() as u8, ..Mem::reg(base, 0) };
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is compressed by a mask is expanded to where it was.
    #[test]
    fn what_is_compressed_is_expanded_again() {
        for mask in 0..256usize {
            let lanes: Vec<usize> = (0..8).filter(|lane| mask >> lane & 1 != 0).collect();
            for (n, &lane) in lanes.iter().enumerate() {
                assert_eq!(COMPRESS.single[mask][n] as usize, lane);
                assert_eq!(EXPAND.single[mask][lane] as usize, n);
                if mask < 16 {
                    assert_eq!(COMPRESS.pairs[mask][2 * n..][..2], [2 * lane as u8, 2 * lane as u8 + 1]);
                    assert_eq!(EXPAND.pairs[mask][2 * lane..][..2], [2 * n as u8, 2 * n as u8 + 1]);
                }
            }
        }
    }
}
