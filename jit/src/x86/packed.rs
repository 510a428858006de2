//! Packed loads and stores: active lanes take consecutive elements.
//!
//! A vector is compressed or expanded by its mask in a register, and the elements of its active lanes, the first of as many
//! bits, go to memory or come from there under a mask of their own: an instruction that compresses into memory takes more than
//! a hundred cycles on AMD's Zen 4. Elements of less than 32 bits are made as long as that, for what compresses them itself
//! (VBMI2) is missing on many processors.

use super::inst::{Arg, Mem, Size};
use super::level::Level;
use super::memory::{masked_move, masked_store};
use super::select::Select;
use super::values::{form_of, sized};
use crate::ir::{Inst, Value, unsigned_of};
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

/// The lanes of one vector, and where their elements are.
struct Part {
    /// Its active lanes.
    mask: VReg,
    /// As many lanes from the first on.
    first: VReg,
    at: Mem,
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
        let parts = self.packed_parts(inst.args[1], ty, from);
        let pieces = parts.into_iter().map(|part| {
            let x = self.vector_masked(sized(masked_move(size), small), small, &[Arg::Mem(part.at)], part.first);
            let x = self.resized(x, n, unsigned_of(size), size.max(4));
            let x = self.vector_masked(expand, large, &[Arg::Use(x, large)], part.mask);
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
                _ => {
                    let all = self.mask(mask);
                    let part = self.mask_part(all, size, i);
                    self.vector_masked(code, form, &[Arg::Mem(from)], part)
                }
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
        for (i, part) in self.packed_parts(inst.args[2], ty, to).into_iter().enumerate() {
            let x = match bytes {
                Some(ref bytes) => self.part_of(bytes, i * n, n),
                None => self.chunk(v, size, i * n, n),
            };
            let x = self.resized(x, n, unsigned_of(size), size.max(4));
            let x = self.vector_masked(compress, large, &[Arg::Use(x, large)], part.mask);
            let x = self.resized(x, n, unsigned_of(size.max(4)), size);
            let args = [Arg::Mem(part.at), Arg::Use(x, small)];
            self.plain_masked(sized(masked_store(size), small), &args, part.first, false);
        }
    }

    /// How many lanes are compressed or expanded together.
    fn lanes_in_packed(&self, ty: Ty) -> usize {
        self.lanes_in_piece(ty.size().max(4))
    }

    /// The parts of an access: each begins where the one before ends.
    fn packed_parts(&mut self, mask: Value, ty: Ty, mut at: Mem) -> Vec<Part> {
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
            let bits = self.def(code, (RegClass::Int, form), &[Arg::Use(part, Size::K)]);
            let word = Arg::Use(bits, Size::G64);
            let first = self.def(Code::VEX_Pext_r64_r64_rm64, (RegClass::Int, Size::G64), &[word, word]);
            let first = self.word_as_mask(first);
            parts.push(Part { mask: part, first, at });
            if first_lane + n < self.lanes {
                let base = self.address_of(at);
                let count = self.def(Code::Popcnt_r64_rm64, (RegClass::Int, Size::G64), &[word]);
                at = Mem { index: Some(count), scale: ty.size() as u8, ..Mem::reg(base, 0) };
            }
        }
        parts
    }
}
