//! Constant vectors.
//!
//! They lie in memory that belongs to the code, and are loaded anew by every instruction that uses one: most instructions
//! take such an operand from memory for nothing, where a constant in a register is one register less for a whole block.

use super::translate::Translator;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use std::collections::HashMap;

/// Vectors of a chunk of memory: what was given out is never moved.
const CHUNK: usize = 64;

#[repr(align(16))]
struct Vector(#[expect(dead_code, reason = "native code reads it")] [u8; 16]);

/// The constants of a region.
#[derive(Default)]
pub(super) struct Constants {
    /// Each has room for all that it will hold.
    chunks: Vec<Vec<Vector>>,
    places: HashMap<[u8; 16], usize>,
}

impl Constants {
    /// The address of the chunk that holds a constant, and the offset in it.
    fn place(&mut self, bytes: [u8; 16]) -> (i64, i32) {
        let n = self.places.len();
        let at = *self.places.entry(bytes).or_insert(n);
        if at == CHUNK * self.chunks.len() {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let chunk = &mut self.chunks[at / CHUNK];
        if at == n {
            chunk.push(Vector(bytes));
        }
        (chunk.as_ptr() as i64, 16 * (at % CHUNK) as i32)
    }
}

impl Translator<'_> {
    /// A vector with the same bits in every lane.
    pub(super) fn constant_vector(&mut self, ty: clif::Type, bits: u64) -> clif::Value {
        let size = ty.lane_type().bytes() as usize;
        let lane = bits.to_le_bytes();
        self.vector_of(ty, std::array::from_fn(|i| lane[i % size]))
    }

    /// A vector of these bytes.
    pub(super) fn vector_of(&mut self, ty: clif::Type, bytes: [u8; 16]) -> clif::Value {
        if bytes == [0; 16] || bytes == [0xff; 16] {
            // Made by an instruction without memory.
            let constant = self.b.func.dfg.constants.insert(bytes.as_slice().into());
            return self.b.ins().vconst(ty, constant);
        }
        let (chunk, at) = self.constants.place(bytes);
        let base = match self.chunk {
            Some((address, block, base)) if address == chunk && Some(block) == self.b.current_block() => base,
            _ => {
                let base = self.b.ins().iconst(types::I64, chunk);
                self.chunk = self.b.current_block().map(|block| (chunk, block, base));
                base
            }
        };
        let flags = MemFlagsData::trusted().with_readonly().with_can_move();
        self.b.ins().load(ty, flags, base, at)
    }
}
