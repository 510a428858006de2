//! Loads and stores of elements that lie a small distance apart.
//!
//! Whole vectors are loaded from the first element to the last, of which permutations of two pick the lanes one after another: of
//! *n* lanes *s* elements apart, *s* vectors. Nothing is read before the first element or behind the last: the last vector ends there,
//! and overlaps the one before it. Where *s* is so large that there would be more vectors than half of the lanes, and for elements
//! of one byte, lanes are loaded one by one. Accesses to neighbouring elements, and stores: see `interleaved`.

use super::gather::Assembly;
use super::inst::{Arg, Base, Mem, Size};
use super::level::Level;
use super::select::Select;
use super::values::{form_of, sized};
use crate::ir::Inst;
use crate::vcode::Location;
use iced_x86::Code;
use regalloc2::VReg;
use spmdvm_vm::types::Ty;

/// How the lanes of a vector lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    /// Bytes of an element.
    pub size: usize,
    pub lanes: usize,
    /// Elements from lane to lane; not 0.
    pub step: isize,
    /// Elements before the first in memory that are accessed with it.
    pub before: usize,
    /// Those behind the last.
    pub behind: usize,
}

impl Row {
    /// Returns whether it takes less time to access whole vectors, for this row alone.
    pub fn pays(self) -> bool {
        self.vectors() <= self.lanes / 2
    }

    /// Of a vector.
    pub fn form(self) -> Size {
        form_of(self.lanes * self.size)
    }

    /// Elements from the first in memory to the last.
    fn span(self) -> usize {
        self.before + (self.lanes - 1) * self.step.unsigned_abs() + 1 + self.behind
    }

    /// How many vectors have them all.
    pub fn vectors(self) -> usize {
        self.span().div_ceil(self.lanes)
    }

    /// Where vector `i` begins, in elements.
    pub fn start(self, i: usize) -> usize {
        (i * self.lanes).min(self.span() - self.lanes)
    }

    /// Where that is, if the first lane is at an address; the first element in memory may be the last lane's.
    pub fn vector(self, first_lane: Mem, i: usize) -> Mem {
        let below = self.step.min(0) * (self.lanes as isize - 1) - self.before as isize;
        first_lane.plus(self.size as i32 * (below as i32 + self.start(i) as i32))
    }

    /// The vector that a lane's element is in, and its place there.
    pub fn place(self, lane: usize) -> (usize, usize) {
        let from_first = if self.step < 0 { self.lanes - 1 - lane } else { lane };
        let at = self.before + from_first * self.step.unsigned_abs();
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

impl<L: Level> Select<'_, L> {
    pub(super) fn load_strided(&mut self, inst: &Inst, ty: Ty, stride: i32, from: Mem) {
        let Some(result) = inst.result else { return };
        // It may have been, with one before.
        if !matches!(self.locations[result.index()], Location::Nowhere) {
            return;
        }
        let row = self.row(ty, stride);
        if row.is_some_and(|row| self.load_group(inst, row, from)) {
            return;
        }
        let Some(row) = row.filter(|row| row.pays() && (L::HAS_MASKS || row.step == 1)) else {
            let mut made = Assembly::new(ty);
            (0..self.lanes).for_each(|l| made.add(self, l, from.plus(stride * l as i32)));
            let made = made.finish(self);
            return self.set_lanes(inst, ty, made);
        };
        let bytes = row.lanes as i32 * stride;
        let pieces = (0..self.n_pieces(row.size)).map(|i| self.load_row(row, from.plus(bytes * i as i32))).collect();
        self.set_pieces(inst, pieces);
    }

    /// How the lanes of a piece lie, if permutations of whole vectors can pick them.
    fn row(&self, ty: Ty, stride: i32) -> Option<Row> {
        let (size, lanes) = (ty.size(), self.lanes_in_piece(ty.size()));
        let step = stride as isize / size as isize;
        let fits = size > 1 && lanes * size >= 16 && stride as isize % size as isize == 0 && step != 0;
        fits.then_some(Row { size, lanes, step, before: 0, behind: 0 })
    }

    fn load_row(&mut self, row: Row, from: Mem) -> VReg {
        let first = self.load_vector(row.form(), row.vector(from, 0));
        if row.step == 1 {
            return first;
        }
        self.pick(row, first, |i| Arg::Mem(row.vector(from, i)))
    }

    /// The lanes, from the first vector and the others.
    fn pick(&mut self, row: Row, first: VReg, vector: impl Fn(usize) -> Arg) -> VReg {
        let mut made = first;
        // One vector alone is permuted, too.
        for i in row.vectors().min(2) - 1..row.vectors() {
            let choice = self.choices(row, |lane| row.choice(lane, i));
            made = self.permute(row, made, choice, vector(i));
        }
        made
    }

    pub(super) fn store_strided(&mut self, inst: &Inst, ty: Ty, stride: i32, to: Mem) {
        if self.row(ty, stride).is_some_and(|row| self.store_group(inst, row, to)) {
            return;
        }
        self.taken_apart(ty, inst.args[1], |_, l| to.plus(stride * l as i32));
    }

    /// Elements of two vectors, by their numbers; the second's begin behind those of the first.
    pub(super) fn permute(&mut self, row: Row, first: VReg, choice: VReg, second: Arg) -> VReg {
        let form = row.form();
        let code = match row.size {
            2 => Code::EVEX_Vpermt2w_xmm_k1z_xmm_xmmm128,
            4 => Code::EVEX_Vpermt2d_xmm_k1z_xmm_xmmm128b32,
            _ => Code::EVEX_Vpermt2q_xmm_k1z_xmm_xmmm128b64,
        };
        let to = self.code.vector();
        self.plain(sized(code, form), &[Arg::Tied { from: first, to, form }, Arg::Use(choice, form), second]);
        to
    }

    /// A vector of numbers of elements, one for each place.
    pub(super) fn choices(&mut self, row: Row, choice: impl Fn(usize) -> usize) -> VReg {
        let bytes: Vec<u8> =
            (0..row.lanes).flat_map(|at| (choice(at) as u64).to_le_bytes().into_iter().take(row.size)).collect();
        let at = self.code.constant(&bytes);
        let key = (at, bytes.len());
        if let Some(&r) = self.local.lasting_choices.get(&key).or_else(|| self.local.choices.get(&key)) {
            return r;
        }
        let r = self.load_vector(row.form(), Mem::at(Base::Pool, at));
        let lasts = self.is_in_loop && self.code.make_early();
        let known = if lasts { &mut self.local.lasting_choices } else { &mut self.local.choices };
        known.insert(key, r);
        r
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that are accessed by whole vectors, alone and with others.
    fn rows() -> impl Iterator<Item = Row> {
        let steps = [2, 4, 8, 16, 32].into_iter().flat_map(|lanes| (-40..=40).map(move |step| (lanes, step)));
        let around = |step: isize| if step > 1 { vec![(0, 0), (0, step as usize - 1), (1, 0)] } else { vec![(0, 0)] };
        let row = |lanes, step, (before, behind)| Row { size: 4, lanes, step, before, behind };
        steps
            .filter(|&(_, step)| step != 0)
            .flat_map(move |(lanes, step)| around(step).into_iter().map(move |around| row(lanes, step, around)))
            .filter(|row| row.pays())
    }

    /// What the permutations give is what the elements are, and all are read within the row.
    #[test]
    fn permutations_pick_the_elements() {
        for row in rows() {
            let Row { lanes, step, .. } = row;
            let memory: Vec<usize> = (0..row.span()).collect();
            let vector = |i: usize| &memory[row.start(i)..][..lanes];
            let mut made = vector(0).to_vec();
            for i in row.vectors().min(2) - 1..row.vectors() {
                let both = [&made[..], vector(i)].concat();
                made = (0..lanes).map(|l| both[row.choice(l, i)]).collect();
            }
            let distance = |l: usize| row.before + if step < 0 { lanes - 1 - l } else { l } * step.unsigned_abs();
            let want: Vec<usize> = (0..lanes).map(distance).collect();
            assert_eq!(made, want, "{row:?}");
        }
    }
}
