//! Gathers and scatters by the machine's own instructions, where these [take less time](super::tuning) than one access for each lane.
//!
//! They touch nothing of inactive lanes, whatever their indices are, and a scatter stores its lanes in ascending order. Each takes a
//! mask, of which nothing is left. An index of 32 bits counts with its sign; others become distances of 64 bits first.

use super::inst::{Arg, Mem, Plain, Size};
use super::level::Level;
use super::select::Select;
use super::values::{form_of, sized};
use crate::ir::{Inst, Kind, Value};
use crate::lowering;
use iced_x86::{Code, Register};
use regalloc2::VReg;
use spmdvm_vm::types::Ty;

/// How the lanes of an access are divided among instructions.
struct Access {
    base: Mem,
    /// Bytes of an element, and of its index.
    size: usize,
    index_size: usize,
    /// Lanes of an instruction.
    n: usize,
    /// Nothing for all lanes.
    mask: Option<VReg>,
}

impl<L: Level> Select<'_, L> {
    /// Returns whether an access by indices is one for the machine's own instructions.
    pub(super) fn is_for_gathers(&self, ty: Ty) -> bool {
        self.target.tuning.gathers && matches!(ty.size(), 4 | 8)
    }

    /// Translates a gather; lanes that are not in its mask become 0.
    pub(super) fn gather_lanes(&mut self, inst: &Inst) {
        let Kind::Gather { ty, index, scale, .. } = inst.kind else { return };
        let access = self.access(inst, ty, index, scale);
        let parts: Vec<VReg> = (0..self.lanes / access.n)
            .map(|i| {
                let from = self.elements(&access, inst.args[1], index, scale, i);
                let (zero, to) = (self.zero(), self.code.vector());
                let code = match (access.size, access.index_size) {
                    (4, 4) => sized(Code::EVEX_Vgatherdps_xmm_k1_vm32x, self.part_form(&access, 4)),
                    (8, 4) => sized(Code::EVEX_Vgatherdpd_xmm_k1_vm32x, self.part_form(&access, 8)),
                    (4, _) => sized(Code::EVEX_Vgatherqps_xmm_k1_vm64x, self.part_form(&access, 8)),
                    _ => sized(Code::EVEX_Vgatherqpd_xmm_k1_vm64x, self.part_form(&access, 8)),
                };
                let form = self.part_form(&access, access.size);
                self.by_lanes(code, &[Arg::Tied { from: zero, to, form }, from], &access, i);
                to
            })
            .collect();
        let pieces = self.joined(parts, (access.n * access.size).max(8));
        self.set_pieces(inst, pieces);
    }

    /// Translates a scatter.
    pub(super) fn scatter_lanes(&mut self, inst: &Inst) {
        let Kind::Scatter { ty, index, scale } = inst.kind else { return };
        let access = self.access(inst, ty, index, scale);
        for i in 0..self.lanes / access.n {
            let to = self.elements(&access, inst.args[1], index, scale, i);
            let x = self.chunk(inst.args[2], access.size, i * access.n, access.n);
            let code = match (access.size, access.index_size) {
                (4, 4) => sized(Code::EVEX_Vscatterdps_vm32x_k1_xmm, self.part_form(&access, 4)),
                (8, 4) => sized(Code::EVEX_Vscatterdpd_vm32x_k1_xmm, self.part_form(&access, 8)),
                (4, _) => sized(Code::EVEX_Vscatterqps_vm64x_k1_xmm, self.part_form(&access, 8)),
                _ => sized(Code::EVEX_Vscatterqpd_vm64x_k1_xmm, self.part_form(&access, 8)),
            };
            let form = self.part_form(&access, access.size);
            self.by_lanes(code, &[to, Arg::Use(x, form)], &access, i);
        }
    }

    fn access(&mut self, inst: &Inst, ty: Ty, index: Ty, scale: u32) -> Access {
        let index_size = if lowering::fits(index, scale) && index.is_signed() { 4 } else { 8 };
        let n = self.lanes_in_piece(ty.size().max(index_size));
        let base = self.address(inst.args[0]);
        // An operand has one index.
        let base = if base.index.is_some() { Mem::reg(self.address_of(base), 0) } else { base };
        let mask = inst.args[inst.args.len() - 1];
        let mask = (!self.values.is_full(mask)).then(|| self.mask(mask));
        Access { base, size: ty.size(), index_size, n, mask }
    }

    /// The form of the vector of an instruction's lanes, of so many bytes each.
    fn part_form(&self, access: &Access, size: usize) -> Size {
        form_of(access.n * size)
    }

    /// The elements of part `i` of an access as an operand.
    fn elements(&mut self, access: &Access, at: Value, index: Ty, scale: u32, i: usize) -> Arg {
        let (n, form) = (access.n, self.part_form(access, access.index_size));
        let x = self.chunk(at, index.size(), i * n, n);
        if access.index_size == 4 {
            return Arg::Lanes(Mem { index: Some(x), scale: scale as u8, ..access.base }, form);
        }
        let x = self.resized(x, n, index, 8);
        if matches!(scale, 1 | 2 | 4 | 8) {
            return Arg::Lanes(Mem { index: Some(x), scale: scale as u8, ..access.base }, form);
        }
        let scaled = self.scaled(x, form, scale);
        Arg::Lanes(Mem { index: Some(scaled), scale: 1, ..access.base }, form)
    }

    /// Words of all lanes of a piece, from addresses of 64 bits.
    pub(super) fn gather_words(&mut self, from: Mem) -> VReg {
        let (zero, to, form) = (self.zero(), self.code.vector(), self.form(8));
        let code = sized(Code::EVEX_Vgatherqpd_xmm_k1_vm64x, form);
        let mask = self.all_lanes(self.lanes_in_piece(8));
        let args = [Arg::Tied { from: zero, to, form }, Arg::Lanes(from, form)];
        self.push(Plain { mask: Some(mask), ..Plain::new(code, &args) });
        to
    }

    /// Adds an instruction that goes lane by lane, and leaves nothing of its mask.
    fn by_lanes(&mut self, code: Code, args: &[Arg], access: &Access, i: usize) {
        let Some(mask) = access.mask else {
            // Made for it alone, so nothing asks what is left.
            let fills = self.fills_vector(access.size.max(access.index_size));
            let mask = if fills { self.all_lanes(access.n) } else { self.full_mask() };
            return self.push(Plain { mask: Some(mask), ..Plain::new(code, args) });
        };
        let mask = self.mask_part(mask, access.size.max(access.index_size), i);
        let left = self.code.mask();
        self.push(Plain { mask: Some(mask), mask_left: Some(left), ..Plain::new(code, args) });
    }

    /// The mask of all lanes of an instruction that they fill, no more than 16. It is made from a register that nothing changes:
    /// there is nothing to wait for.
    fn all_lanes(&mut self, n: usize) -> VReg {
        let code = if n > 8 { Code::VEX_Kxnorw_kr_kr_kr } else { Code::VEX_Kxnorb_kr_kr_kr };
        let any = Arg::Fixed(Register::K0);
        self.def(code, Self::MASKS, &[any, any])
    }
}
