//! Constant vectors.
//!
//! They lie in memory that belongs to the code, and are loaded anew by every instruction that uses one: most instructions
//! take such an operand from memory for nothing, where a constant in a register is one register less for a whole block.
//!
//! But a loop of one block that has registers left for all of its constants ([`Keeping`]) loads them once, in a block before it:
//! what streams through memory is bound by its loads.

use super::translate::Translator;
use crate::ir::{Block, BlockId, Value};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, MemFlagsData, types};
use foldhash::{HashMap, HashMapExt};

/// Registers that a loop may fill with what it is given and with constants; the others are for what it computes. (The pass
/// `loop_versioning` has a limit of the same kind, `MOST_KEPT`, for what it makes vectors of.)
const ROOM: usize = 8;

const CONSTANT: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();

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

/// A loop of one block that keeps constants in registers.
pub(super) struct Keeping {
    /// Where they are loaded.
    before: clif::Block,
    /// The loop's block.
    pub head: clif::Block,
    kept: HashMap<([u8; 16], clif::Type), clif::Value>,
    /// How many more there is room for.
    room: usize,
}

impl Translator<'_> {
    /// Makes a block before a loop of one block, if the loop has registers left for constants; gives the block of the loop.
    pub(super) fn keep_constants(&mut self, id: BlockId, before: clif::Block) -> clif::Block {
        let from = self.region.block(id);
        // A cold loop would be laid out among hot code.
        if from.cold || !from.end.edges().any(|edge| edge.to == id) {
            return before;
        }
        let room = ROOM.saturating_sub(self.vectors_kept(from));
        let needed = self.constants_of(from);
        if needed == 0 || needed > room {
            return before;
        }
        let head = self.b.create_block();
        let params = self.b.block_params(before).to_vec();
        let args: Vec<BlockArg> = params.iter().map(|&x| x.into()).collect();
        for x in params {
            let ty = self.b.func.dfg.value_type(x);
            self.b.append_block_param(head, ty);
        }
        self.b.ins().jump(head, &args);
        self.b.switch_to_block(head);
        self.keeping = Some(Keeping { before, head, kept: HashMap::new(), room });
        head
    }

    /// The number of different constants taken by those instructions of a block that compute vectors.
    fn constants_of(&self, from: &Block) -> usize {
        let vectors = from.insts.iter().filter(|inst| inst.result.is_some_and(|v| self.region.ty(v).is_varying()));
        let mut all: Vec<(u64, usize)> = vectors
            .flat_map(|inst| &inst.args)
            .filter_map(|&v| Some((self.values.constant_lanes(v)?, self.region.ty(v).ty.size())))
            .filter(|&(bits, size)| bits != 0 && bits != u64::MAX >> (64 - 8 * size))
            .collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// The number of vectors that a block takes from its parameters and from other blocks.
    fn vectors_kept(&self, from: &Block) -> usize {
        let is_of_block = |v: Value| self.values.definition(v).block() == Some(self.block);
        let given = from.insts.iter().flat_map(|inst| &inst.args).copied();
        let given = given.filter(|&v| !is_of_block(v) && !self.is_constant(v) && self.homes.of(v).is_none());
        let mut all: Vec<Value> = given.chain(from.params.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        let vectors = |v: Value| match self.region.ty(v) {
            ty if ty.is_varying() && !self.is_spread(v) => self.plan.n_pieces(v),
            ty => (ty.is_varying() || ty.ty.is_float()) as usize,
        };
        all.into_iter().map(vectors).sum()
    }

    /// A vector that the loop that is being translated keeps, if it is in its block.
    fn kept_vector(&mut self, ty: clif::Type, bytes: [u8; 16]) -> Option<clif::Value> {
        let here = self.b.current_block();
        let keeping = self.keeping.as_mut().filter(|k| Some(k.head) == here)?;
        if let Some(&x) = keeping.kept.get(&(bytes, ty)) {
            return Some(x);
        }
        keeping.room = keeping.room.checked_sub(1)?;
        let (address, at) = self.constants.place(bytes);
        let mut before = FuncCursor::new(self.b.func);
        before.goto_last_inst(keeping.before);
        let base = before.ins().iconst(types::I64, address);
        let x = before.ins().load(ty, CONSTANT, base, at);
        keeping.kept.insert((bytes, ty), x);
        Some(x)
    }

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
        if let Some(x) = self.kept_vector(ty, bytes) {
            return x;
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
        self.b.ins().load(ty, CONSTANT, base, at)
    }
}
