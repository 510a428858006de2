//! Shuffles: elements of a value by lane numbers, which count modulo the lanes.
//!
//! A value's vectors are tables in which a permutation looks elements up: one table, two at once, or, where there are more, halves
//! of them, of which a bit of the number chooses. There are permutations of elements of 2, 4 and 8 bytes; bytes are looked up as
//! words, and masks as numbers 0 and 1.

use super::gather::Assembly;
use super::inst::{Arg, Base, Mem, Size};
use super::interleaved::Plan;
use super::level::Level;
use super::select::{Select, imm8};
use super::strided::Row;
use super::values::sized;
use super::vector::bitwise;
use crate::ir::{Inst, Value};
use crate::lowering::Bitwise;
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

impl<L: Level> Select<'_, L> {
    pub(super) fn shuffle(&mut self, inst: &Inst, ty: Ty) -> bool {
        if !L::HAS_MASKS {
            return self.shuffle_numbers(inst, ty);
        }
        let element = match ty {
            Ty::Bool => Ty::I32,
            _ if ty.size() == 1 => Ty::U16,
            _ => ty,
        };
        let size = element.size();
        let tables = match ty {
            _ if ty == element => (0..self.n_pieces(size)).map(|i| self.piece(inst.args[0], size, i)).collect(),
            _ => match self.convert_pieces(inst.args[0], if ty == Ty::Bool { ty } else { Ty::U8 }, element) {
                Some(tables) => tables,
                None => return false,
            },
        };
        let number = [Ty::I16, Ty::I32, Ty::I64][size.trailing_zeros() as usize - 1];
        let Some(numbers) = self.convert_pieces(inst.args[1], Ty::I32, number) else { return false };
        let found: Vec<VReg> = numbers.into_iter().map(|numbers| self.look_up(&tables, numbers, size)).collect();
        match ty {
            Ty::Bool => {
                let parts = found.into_iter().map(|x| {
                    let x = Arg::Use(x, self.form(4));
                    self.mask_from(sized(Code::EVEX_Vptestmd_kr_k1_xmm_xmmm128b32, self.form(4)), 4, &[x, x])
                });
                let parts = parts.collect();
                let mask = self.join_masks(parts, 4);
                self.set(inst, mask);
            }
            _ if ty.size() == 1 => {
                let n = self.lanes_in_piece(2);
                let bytes = found.into_iter().map(|x| self.resized(x, n, Ty::U16, 1)).collect();
                let pieces = self.joined(bytes, n);
                self.set_pieces(inst, pieces);
            }
            _ => self.set_pieces(inst, found),
        }
        true
    }

    /// Without permutations of several vectors: of 4 bytes, each vector is looked into, and bits of the number choose. Others are
    /// found in memory.
    fn shuffle_numbers(&mut self, inst: &Inst, ty: Ty) -> bool {
        let (element, size) = if ty == Ty::Bool { (Ty::U32, 4) } else { (ty, ty.size()) };
        if size != 4 {
            self.shuffle_in_memory(inst, ty);
            return true;
        }
        let tables: Vec<VReg> = match ty {
            Ty::Bool => match self.convert_pieces(inst.args[0], ty, element) {
                Some(tables) => tables,
                None => return false,
            },
            _ => (0..self.n_pieces(4)).map(|i| self.piece(inst.args[0], 4, i)).collect(),
        };
        let form = self.form(4);
        let mut found = Vec::new();
        for i in 0..self.n_pieces(4) {
            let numbers = self.piece(inst.args[1], 4, i);
            let numbers = if self.fills_vector(4) { numbers } else { self.cut_numbers(numbers, 4) };
            let mut all: Vec<VReg> = tables.iter().map(|&table| self.looked_up(table, numbers, form)).collect();
            // The bits above those that number the elements of a vector.
            let mut bit = 3;
            while all.len() > 1 {
                let sign =
                    self.vector_imm(sized(Code::EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8, form), form, numbers, 31 - bit);
                let pairs: Vec<[VReg; 2]> = all.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
                let choose = |s: &mut Self, [low, high]: [VReg; 2]| {
                    let args = [low, high, sign].map(|r| Arg::Use(r, form));
                    s.vector(Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, form, &args)
                };
                all = pairs.into_iter().map(|pair| choose(self, pair)).collect();
                bit += 1;
            }
            found.push(all[0]);
        }
        if ty != Ty::Bool {
            self.set_pieces(inst, found);
            return true;
        }
        let parts = found.into_iter().map(|x| {
            let x = Arg::Use(x, form);
            self.mask_from(sized(Code::EVEX_Vptestmd_kr_k1_xmm_xmmm128b32, form), 4, &[x, x])
        });
        let parts = parts.collect();
        let mask = self.join_masks(parts, 4);
        self.set(inst, mask);
        true
    }

    /// Without permutations of any two vectors, those that make what is listed.
    pub(super) fn shuffle_listed(&mut self, inst: &Inst, ty: Ty, x: Value, numbers: Value) -> bool {
        let size = ty.size();
        let row = Row { size, lanes: self.lanes_in_piece(size), step: 1, before: 0, behind: 0 };
        let (Some(by), Some(numbers)) = (Self::permutes(row), self.values.constant_vector(numbers)) else {
            return false;
        };
        let element = |number: u64| {
            let lane = number as usize % self.lanes;
            Some((lane / row.lanes, lane % row.lanes))
        };
        let wanted: Vec<Vec<_>> =
            numbers.chunks(row.lanes).map(|numbers| numbers.iter().copied().map(element).collect()).collect();
        let plan = Plan::new(by, self.n_pieces(size), row.lanes, &wanted);
        let pieces = (0..self.n_pieces(size)).map(|i| Some(self.piece(x, size, i))).collect();
        let made = self.carry_out(row, &plan, pieces).into_iter().flatten().collect();
        self.set_pieces(inst, made);
        true
    }

    /// Elements of the first value where a bit is set, else of the second: of 4 or 8 bytes, by numbers.
    pub(super) fn blend_listed(&mut self, size: usize, x: Value, y: Value, bits: u64) -> Vec<VReg> {
        let (lanes, form) = (self.lanes_in_piece(size), self.form(size));
        let code = sized(Code::VEX_Vblendps_xmm_xmm_xmmm128_imm8, form);
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let own = bits >> (i * lanes);
            let fours = (0..lanes * size / 4).filter(|at| own >> (at * 4 / size) & 1 != 0);
            let number = fours.fold(0u8, |number, at| number | 1 << at);
            match number.count_ones() as usize {
                0 => self.piece(y, size, i),
                n if n == lanes * size / 4 => self.piece(x, size, i),
                _ => {
                    let [y, x] = [y, x].map(|v| Arg::Use(self.piece(v, size, i), form));
                    self.vector(code, form, &[y, x, imm8(number)])
                }
            }
        });
        pieces.collect()
    }

    /// Elements of one vector, by the low bits of numbers.
    fn looked_up(&mut self, table: VReg, numbers: VReg, form: Size) -> VReg {
        let [table, numbers] = [table, numbers].map(|r| Arg::Use(r, form));
        match form {
            Size::Y => self.vector(Code::VEX_Vpermd_ymm_ymm_ymmm256, form, &[numbers, table]),
            _ => self.vector(Code::VEX_Vpermilps_xmm_xmm_xmmm128, form, &[table, numbers]),
        }
    }

    /// The elements are stored, and loaded again one by one.
    fn shuffle_in_memory(&mut self, inst: &Inst, ty: Ty) {
        let size = ty.size();
        self.code.needs_scratch(self.lanes * size + L::VECTOR_BYTES);
        for i in 0..self.n_pieces(size) {
            let x = self.piece(inst.args[0], size, i);
            self.store_vector(self.form(size), Mem::at(Base::Scratch, (L::VECTOR_BYTES * i) as i32), x);
        }
        let mut made = Assembly::new(ty);
        let most = Arg::Imm(OpKind::Immediate8to32, self.lanes as i64 - 1);
        for lane in 0..self.lanes {
            let four = self.chunk(inst.args[1], 4, lane / 4 * 4, 4.min(self.lanes));
            let (code, by) = (Code::EVEX_Vpextrd_rm32_xmm_imm8, imm8((lane % 4) as u8));
            let number = self.def(code, (RegClass::Int, Size::G32), &[Arg::Use(four, Size::X), by]);
            let number = self.gpr_over(Code::And_rm32_imm8, Size::G32, number, most);
            made.add(self, lane, Mem { index: Some(number), scale: size as u8, ..Mem::at(Base::Scratch, 0) });
        }
        let pieces = made.finish(self);
        self.set_pieces(inst, pieces);
    }

    /// Elements of two values of a vector each: the processor cuts numbers to those of both.
    pub(super) fn permute_two(&mut self, inst: &Inst, ty: Ty, [x, y]: [Value; 2], numbers: Value) -> bool {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let number = [Ty::I16, Ty::I32, Ty::I64][size.trailing_zeros() as usize - 1];
        let is_asked_again = number == Ty::I32 && !self.demand.is_used_once(numbers);
        let Some(numbers) = self.convert_pieces(numbers, Ty::I32, number) else { return false };
        let (x, y) = (self.piece(x, size, 0), self.piece(y, size, 0));
        let (over_numbers, over_table) = match size {
            2 => (Code::EVEX_Vpermi2w_xmm_k1z_xmm_xmmm128, Code::EVEX_Vpermt2w_xmm_k1z_xmm_xmmm128),
            4 => (Code::EVEX_Vpermi2d_xmm_k1z_xmm_xmmm128b32, Code::EVEX_Vpermt2d_xmm_k1z_xmm_xmmm128b32),
            _ => (Code::EVEX_Vpermi2q_xmm_k1z_xmm_xmmm128b64, Code::EVEX_Vpermt2q_xmm_k1z_xmm_xmmm128b64),
        };
        // One of the operands is overwritten: one that nobody asks for later, if possible.
        let [x, y, numbers] = [x, y, numbers[0]];
        let (code, from, other) = if is_asked_again { (over_table, x, numbers) } else { (over_numbers, numbers, x) };
        let found = self.over(sized(code, form), form, from, &[Arg::Use(other, form), Arg::Use(y, form)]);
        self.set_pieces(inst, vec![found]);
        true
    }

    /// The elements that a vector of numbers names, of a value in these vectors.
    fn look_up(&mut self, tables: &[VReg], numbers: VReg, size: usize) -> VReg {
        match *tables {
            [table] => self.permuted(table, numbers, size),
            [low, high] => {
                let code = match size {
                    2 => Code::EVEX_Vpermi2w_zmm_k1z_zmm_zmmm512,
                    4 => Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32,
                    _ => Code::EVEX_Vpermi2q_zmm_k1z_zmm_zmmm512b64,
                };
                self.over(code, Size::Z, numbers, &[Arg::Use(low, Size::Z), Arg::Use(high, Size::Z)])
            }
            _ => {
                let (low, high) = tables.split_at(tables.len() / 2);
                let bit = (low.len() * 64 / size) as u64;
                let (low, high) = (self.look_up(low, numbers, size), self.look_up(high, numbers, size));
                let code = match size {
                    2 => Code::EVEX_Vptestmw_kr_k1_zmm_zmmm512,
                    4 => Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32,
                    _ => Code::EVEX_Vptestmq_kr_k1_zmm_zmmm512b64,
                };
                let bit = self.constant_vector(bit, size);
                let args = [Arg::Use(numbers, Size::Z), Arg::Use(bit, Size::Z)];
                let is_high = self.def(code, Self::MASKS, &args);
                let ty = [Ty::I16, Ty::I32, Ty::I64][size.trailing_zeros() as usize - 1];
                self.blend(ty, Size::Z, is_high, high, low)
            }
        }
    }

    /// Elements of one vector. The processor cuts numbers to those of all its elements, which may be more than the lanes.
    pub(super) fn permuted(&mut self, table: VReg, numbers: VReg, size: usize) -> VReg {
        let form = self.form(size);
        let numbers = if self.fills_vector(size) { numbers } else { self.cut_numbers(numbers, size) };
        let [x, numbers] = [table, numbers].map(|r| Arg::Use(r, form));
        let (code, args) = match (size, form) {
            (2, _) => (sized(Code::EVEX_Vpermw_xmm_k1z_xmm_xmmm128, form), [numbers, x]),
            (4, Size::X) => (Code::EVEX_Vpermilps_xmm_k1z_xmm_xmmm128b32, [x, numbers]),
            (4, Size::Y) => (Code::EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32, [numbers, x]),
            (4, _) => (Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, [numbers, x]),
            (_, Size::X) => {
                // It takes the number from the second bit.
                let twice = self.vector(Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64, form, &[numbers, numbers]);
                (Code::EVEX_Vpermilpd_xmm_k1z_xmm_xmmm128b64, [x, Arg::Use(twice, form)])
            }
            (_, Size::Y) => (Code::EVEX_Vpermq_ymm_k1z_ymm_ymmm256b64, [numbers, x]),
            _ => (Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64, [numbers, x]),
        };
        self.vector(code, form, &args)
    }

    fn cut_numbers(&mut self, numbers: VReg, size: usize) -> VReg {
        let form = self.form(size);
        let most = self.lanes as u64 - 1;
        let most = self.constant_vector(most, size);
        let and = sized(bitwise(Bitwise::And, size), form);
        self.vector(and, form, &[Arg::Use(numbers, form), Arg::Use(most, form)])
    }
}
