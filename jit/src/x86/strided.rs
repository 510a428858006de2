//! Loads of elements that lie a small distance apart.
//!
//! Whole vectors are loaded from the first element to the last, of which permutations of two pick the lanes one after another: of
//! *n* lanes *s* elements apart, *s* vectors. Nothing is read before the first element or behind the last: the last vector ends there,
//! and overlaps the one before it. Where *s* is so large that there would be more vectors than half of the lanes, and for elements
//! of one byte, lanes are loaded one by one.

use super::gather::Assembly;
use super::inst::{Arg, Base, Mem, Size};
use super::select::Select;
use super::values::{form_of, sized};
use crate::ir::Inst;
use iced_x86::Code;
use regalloc2::VReg;
use spmdvm_vm::types::Ty;

/// How the lanes of a vector lie.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    /// Bytes of an element.
    size: usize,
    lanes: usize,
    /// Elements from lane to lane; not 0.
    step: isize,
}

impl Row {
    /// Elements from the first in memory to the last.
    fn span(self) -> usize {
        (self.lanes - 1) * self.step.unsigned_abs() + 1
    }

    /// How many vectors have them all.
    fn vectors(self) -> usize {
        self.span().div_ceil(self.lanes)
    }

    /// Where vector `i` begins, in elements.
    fn start(self, i: usize) -> usize {
        (i * self.lanes).min(self.span() - self.lanes)
    }

    /// The vector that a lane's element is taken from, and its place there.
    fn place(self, lane: usize) -> (usize, usize) {
        let from_first = if self.step < 0 { self.lanes - 1 - lane } else { lane };
        let at = from_first * self.step.unsigned_abs();
        let vector = at / self.lanes;
        (vector, at - self.start(vector))
    }

    /// Which elements make the lanes once vectors up to `i` are there: numbers of what has been made of those before (of the first
    /// vector, if there is only one before), and from `lanes` on of vector `i`.
    fn choice(self, lane: usize, i: usize) -> usize {
        match self.place(lane) {
            (vector, at) if vector == i && i > 0 => self.lanes + at,
            (0, at) if i <= 1 => at,
            _ => lane,
        }
    }
}

impl Select<'_> {
    pub(super) fn load_strided(&mut self, inst: &Inst, ty: Ty, stride: i32, from: Mem) {
        let Some(row) = self.row(ty, stride) else {
            let mut made = Assembly::new(ty);
            (0..self.lanes).for_each(|l| made.add(self, l, from.plus(stride * l as i32)));
            let made = made.finish(self);
            return self.set_lanes(inst, ty, made);
        };
        let bytes = row.lanes as i32 * stride;
        let pieces = (0..self.n_pieces(row.size)).map(|i| self.load_row(row, from.plus(bytes * i as i32))).collect();
        self.set_pieces(inst, pieces);
    }

    /// How the lanes of a piece lie, if whole vectors pay.
    fn row(&self, ty: Ty, stride: i32) -> Option<Row> {
        let (size, lanes) = (ty.size(), self.lanes_in_piece(ty.size()));
        let step = stride as isize / size as isize;
        let fits = size > 1 && lanes * size >= 16 && stride as isize % size as isize == 0 && step != 0;
        Some(Row { size, lanes, step }).filter(|row| fits && row.vectors() <= lanes / 2)
    }

    fn load_row(&mut self, row: Row, from: Mem) -> VReg {
        let size = row.size as i32;
        // The first element in memory may be the last lane's.
        let lowest = from.plus(size * (row.step.min(0) * (row.lanes as isize - 1)) as i32);
        let vector = |i: usize| lowest.plus(size * row.start(i) as i32);
        let form = form_of(row.lanes * row.size);
        let mut made = self.load_vector(form, vector(0));
        if row.step == 1 {
            return made;
        }
        let code = match row.size {
            2 => Code::EVEX_Vpermt2w_xmm_k1z_xmm_xmmm128,
            4 => Code::EVEX_Vpermt2d_xmm_k1z_xmm_xmmm128b32,
            _ => Code::EVEX_Vpermt2q_xmm_k1z_xmm_xmmm128b64,
        };
        // One vector alone is permuted, too.
        for i in row.vectors().min(2) - 1..row.vectors() {
            let choice = self.choices(row, i, form);
            let to = self.code.vector();
            let args = [Arg::Tied { from: made, to, form }, Arg::Use(choice, form), Arg::Mem(vector(i))];
            self.plain(sized(code, form), &args);
            made = to;
        }
        made
    }

    /// A vector of the numbers of elements that make the lanes.
    fn choices(&mut self, row: Row, i: usize, form: Size) -> VReg {
        let bytes: Vec<u8> =
            (0..row.lanes).flat_map(|l| (row.choice(l, i) as u64).to_le_bytes().into_iter().take(row.size)).collect();
        let at = self.code.constant(&bytes);
        if let Some(&r) = self.local.choices.get(&at) {
            return r;
        }
        let r = self.load_vector(form, Mem::at(Base::Pool, at));
        self.local.choices.insert(at, r);
        r
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the permutations give is what the elements are, and all are read within the row.
    #[test]
    fn permutations_pick_the_elements() {
        for (lanes, step) in [2, 4, 8, 16, 32].into_iter().flat_map(|n| (-40..=40).map(move |step| (n, step))) {
            let row = Row { size: 4, lanes, step };
            if step == 0 || row.vectors() > lanes / 2 {
                continue;
            }
            let memory: Vec<usize> = (0..row.span()).collect();
            let vector = |i: usize| &memory[row.start(i)..][..lanes];
            let mut made = vector(0).to_vec();
            for i in row.vectors().min(2) - 1..row.vectors() {
                let both = [&made[..], vector(i)].concat();
                made = (0..lanes).map(|l| both[row.choice(l, i)]).collect();
            }
            let distance = |l: usize| if step < 0 { lanes - 1 - l } else { l } * step.unsigned_abs();
            let want: Vec<usize> = (0..lanes).map(distance).collect();
            assert_eq!(made, want, "{row:?}");
        }
    }
}
