//! Shifts, masks and unions that put the bytes of each element into another order: one shuffle of bytes.
//!
//! Changes of byte order (`x >> 24 | x >> 8 & 0xff00 | …`) are written so, and rotations by whole bytes. What each byte of a value is, by
//! the bytes of another, is followed from its parts to the whole, as LLVM's `recognizeBSwapOrBitReverseIdiom` does bit by bit.

use super::fused::{Fused, Seen};
use super::inst::{Arg, Base, Mem};
use super::level::Level;
use super::select::Select;
use super::values::sized;
use crate::ir::{Inst, Kind, Value};
use iced_x86::Code;
use regalloc2::VReg;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Fewer operations are as quick as a shuffle and its numbers.
const LEAST_OPS: u32 = 3;
/// A change of the order of 8 bytes has 23 operations, and 8 times the value.
const MOST_VALUES: u32 = 40;
/// What puts bytes together that are in different places.
const UNIONS: [Op; 3] = [Op::Or, Op::Xor, Op::Add];
/// What may leave bytes whole.
const MOVES: [Op; 6] = [Op::Or, Op::Xor, Op::Add, Op::And, Op::Shl, Op::Shr];

/// The number of a byte that is zero, for the machine's shuffle.
const ZERO: u8 = 0x80;

/// A byte of a value.
#[derive(Clone, Copy, PartialEq)]
enum Byte {
    Zero,
    /// That of another value.
    Of(u8),
    /// Bits of a sign.
    Sign,
}

/// A value by the bytes of another.
struct Parts {
    of: Value,
    /// From the lowest.
    bytes: Vec<Byte>,
    /// The operations that make it.
    ops: u32,
}

impl Parts {
    /// A value as it is.
    fn whole(v: Value, size: usize) -> Parts {
        Parts { of: v, bytes: (0..size as u8).map(Byte::Of).collect(), ops: 0 }
    }

    fn shifted(mut self, op: Op, bits: u64, signed: bool) -> Option<Parts> {
        let size = self.bytes.len();
        let by = (bits / 8) as usize;
        if !bits.is_multiple_of(8) || by >= size {
            return None;
        }
        let above = match self.bytes[size - 1] {
            Byte::Zero => Byte::Zero,
            _ if signed => Byte::Sign,
            _ => Byte::Zero,
        };
        match op {
            Op::Shl => {
                self.bytes.rotate_right(by);
                self.bytes[..by].fill(Byte::Zero);
            }
            _ => {
                self.bytes.rotate_left(by);
                self.bytes[size - by..].fill(above);
            }
        }
        Some(Parts { ops: self.ops + 1, ..self })
    }

    /// What is left of it by a constant that keeps whole bytes.
    fn masked(mut self, mask: u64) -> Option<Parts> {
        for (byte, keeps) in self.bytes.iter_mut().zip(mask.to_le_bytes()) {
            match keeps {
                0 => *byte = Byte::Zero,
                0xff => {}
                _ => return None,
            }
        }
        Some(Parts { ops: self.ops + 1, ..self })
    }

    /// Two that have no byte in the same place, put together.
    fn joined(mut self, other: Parts) -> Option<Parts> {
        if self.of != other.of {
            return None;
        }
        for (byte, other) in self.bytes.iter_mut().zip(other.bytes) {
            *byte = match (*byte, other) {
                (Byte::Zero, byte) | (byte, Byte::Zero) => byte,
                _ => return None,
            };
        }
        Some(Parts { ops: self.ops + other.ops + 1, ..self })
    }

    /// The value and the numbers of its bytes, for the machine's shuffle, if that is the quicker way.
    fn order(&self) -> Option<(Value, [u8; 8])> {
        let mut order = [ZERO; 8];
        for (to, byte) in order.iter_mut().zip(&self.bytes) {
            *to = match byte {
                Byte::Zero => ZERO,
                Byte::Of(from) => *from,
                Byte::Sign => return None,
            };
        }
        (self.ops >= LEAST_OPS).then_some((self.of, order))
    }
}

/// How far the parts of a value are looked for.
struct Search {
    /// How many values are looked at yet.
    left: u32,
    /// Whether what is shifted or masked may be a union itself. A long computation is nothing but unions.
    through_unions: bool,
}

impl Seen<'_, '_> {
    /// Bytes of each element of one value in another order, if an instruction is the last of enough that make it.
    pub(super) fn bytes(&self, ty: Ty, inst: &Inst) -> Option<Fused> {
        if !ty.is_int() || ty.size() < 2 || inst.args.iter().any(|&v| self.places_bytes(v).is_none()) {
            return None;
        }
        let order = |through_unions| {
            let mut search = Search { left: MOST_VALUES, through_unions };
            self.made_of(inst, ty.size(), &mut search).and_then(|parts| parts.order())
        };
        // Most unions are no change of order, which shows soon; behind one that is, there may be another.
        let shallow = order(false)?;
        let (x, order) = order(true).unwrap_or(shallow);
        Some(Fused::Bytes { x, order })
    }

    /// The instruction that makes a value, if it may leave bytes whole.
    fn places_bytes(&self, v: Value) -> Option<&Inst> {
        self.op_among(v, &MOVES).filter(|_| self.varies(v))
    }

    fn parts(&self, v: Value, size: usize, search: &mut Search) -> Option<Parts> {
        search.left = search.left.checked_sub(1)?;
        let made = self.places_bytes(v).and_then(|inst| self.made_of(inst, size, search));
        Some(made.unwrap_or_else(|| Parts::whole(v, size)))
    }

    fn made_of(&self, inst: &Inst, size: usize, search: &mut Search) -> Option<Parts> {
        let Kind::Op { op, ty, .. } = inst.kind else { return None };
        let &[a, b] = &inst.args[..] else { return None };
        if UNIONS.contains(&op) {
            return self.parts(a, size, search)?.joined(self.parts(b, size, search)?);
        }
        let constant = self.values.constant_lanes(b)?;
        let is_whole = !search.through_unions && self.op_among(a, &UNIONS).is_some();
        let parts = if is_whole { Parts::whole(a, size) } else { self.parts(a, size, search)? };
        if op == Op::And { parts.masked(constant) } else { parts.shifted(op, constant, ty.is_signed()) }
    }
}

impl<L: Level> Select<'_, L> {
    /// The bytes of each element in another order.
    pub(super) fn bytes_in_order(&mut self, size: usize, x: Value, order: [u8; 8]) -> Vec<VReg> {
        let form = self.form(size);
        // The machine numbers the bytes of each 128 bits.
        let in_machine = |at: u8| match order[at as usize % size] {
            ZERO => ZERO,
            from => at % 16 / size as u8 * size as u8 + from,
        };
        let numbers = (0..64).map(in_machine).collect::<Vec<u8>>();
        let numbers = self.code.constant(&numbers);
        let numbers = self.load_vector(form, Mem::at(Base::Pool, numbers));
        let shuffle = sized(Code::EVEX_Vpshufb_xmm_k1z_xmm_xmmm128, form);
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let x = Arg::Use(self.piece(x, size, i), form);
            self.vector(shuffle, form, &[x, Arg::Use(numbers, form)])
        });
        pieces.collect()
    }
}
