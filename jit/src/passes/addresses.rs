//! Computes scaled indices where memory is accessed, rather than in the blocks before.
//!
//! Machines add an index times 2, 4 or 8 to an address without an instruction of its own, where a back end sees the product in the block
//! of the access (`AddressSum` in `lowering/demand.rs`). What checks the index stands before, and [`gvn`](super::gvn) has the product
//! computed there, once for the access and for what else asks for it: pointers that only snapshots and slow ways need. So each block gets
//! a product of its own for its accesses (LLVM sinks addresses likewise before it selects instructions); that in the block before is left
//! to exits and cold blocks.
//!
//! Rules: the product is computed in another block of the same innermost loop, so in no round more than before; and nothing but accesses,
//! sums of pointers, snapshots and cold blocks asks for it. An index of 32 bits is kept in its place, as it is.

use super::dead;
use super::defs::Defs;
use super::licm::Loops;
use super::make::Maker;
use crate::dominance::Dominators;
use crate::ir::{BlockId, End, Inst, Kind, Region, Value};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Most bits by which an index is shifted in an operand.
const MOST_BITS: u64 = 3;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let products = Products::of(region, &dominators);
    if products.0.is_empty() {
        return;
    }
    for &b in dominators.order() {
        if region.block(b).cold {
            continue;
        }
        let insts = std::mem::take(&mut region.blocks[b.index()].insts);
        let mut kept = Vec::with_capacity(insts.len());
        let mut made = HashMap::new();
        for mut inst in insts {
            let product = added(&inst).and_then(|offset| products.0.get(&offset));
            if let Some(product) = product.filter(|product| product.blocks.contains(&b)) {
                let own = made.entry(product.shift).or_insert_with(|| product.again(region, &mut kept));
                inst.args[1] = *own;
            }
            kept.push(inst);
        }
        region.blocks[b.index()].insts = kept;
    }
    // Products that were given another type for these sums only.
    dead::run(region);
}

/// What a sum that may be an address adds to another one.
fn added(inst: &Inst) -> Option<Value> {
    matches!(inst.kind, Kind::Op { op: Op::Add, ty: Ty::U64, .. }).then(|| inst.args[1])
}

/// The products that are computed again, by each value that is one, whatever its type.
struct Products(HashMap<Value, Product>);

/// An index times a power of two.
#[derive(Clone)]
struct Product {
    /// The shift.
    shift: Value,
    home: BlockId,
    index: Value,
    bits: u64,
    /// The blocks that compute it again: of the innermost loop around its own.
    blocks: Vec<BlockId>,
}

impl Product {
    fn new(region: &Region, defs: &Defs, (shift, home): (Value, BlockId), index: Value, bits: u64) -> Product {
        let widened = defs.as_op(index, Op::Convert).map(|def| def.arg(0));
        let index = widened.filter(|&v| matches!(region.ty(v).ty, Ty::I32 | Ty::U32)).unwrap_or(index);
        Product { shift, home, index, bits, blocks: Vec::new() }
    }

    /// Computes it again.
    fn again(&self, region: &mut Region, to: &mut Vec<Inst>) -> Value {
        let mut m = Maker { region, to };
        let from = m.region.ty(self.index).ty;
        let index = m.cast(if from.size() == 8 { Op::Bitcast } else { Op::Convert }, self.index, Ty::U64);
        m.with(Op::Shl, Ty::U64, index, self.bits)
    }
}

impl Products {
    fn of(region: &Region, dominators: &Dominators) -> Products {
        let defs = Defs::of(region);
        let mut products = HashMap::new();
        for &b in dominators.order() {
            for inst in &region.block(b).insts {
                let Some(v) = inst.result.filter(|&v| !region.ty(v).is_varying()) else { continue };
                let product = match inst.kind {
                    Kind::Op { op: Op::Shl, ty: Ty::I64 | Ty::U64, .. } => {
                        let bits = defs.known(inst.args[1]).filter(|bits| (1..=MOST_BITS).contains(bits));
                        bits.map(|bits| Product::new(region, &defs, (v, b), inst.args[0], bits))
                    }
                    Kind::Op { op: Op::Bitcast, ty: Ty::I64 | Ty::U64, from: Ty::I64 | Ty::U64 } => {
                        products.get(&inst.args[0]).cloned()
                    }
                    _ => None,
                };
                products.extend(product.map(|product| (v, product)));
            }
        }
        if products.is_empty() {
            return Products(products);
        }
        let loops = Loops::new(region, dominators);
        let mut asked: HashMap<Value, Vec<BlockId>> = HashMap::new();
        let mut needed: HashSet<Value> = HashSet::new();
        let accessed = addresses(region);
        for &b in dominators.order() {
            let block = region.block(b);
            let mut note = |inst: &Inst| {
                for (i, v) in inst.args.iter().enumerate() {
                    let Some(product) = products.get(v) else { continue };
                    let is_address =
                        i == 1 && added(inst).is_some() && inst.result.is_some_and(|v| accessed.contains(&v));
                    let is_same = inst.result.is_some_and(|v| products.contains_key(&v));
                    match inst.kind {
                        _ if is_same || block.cold => {}
                        _ if is_address && b != product.home && loops.of(b) == loops.of(product.home) => {
                            asked.entry(product.shift).or_default().push(b);
                        }
                        // There it is part of the operand already.
                        _ if is_address && b == product.home => {}
                        Kind::Op { op: Op::PAdd, .. } => {}
                        _ => _ = needed.insert(product.shift),
                    }
                }
            };
            block.insts.iter().for_each(&mut note);
            let handed = block.end.edges().flat_map(|edge| &edge.args).copied();
            let held = match block.end {
                End::Exit(exit) if !block.cold => region.exits[exit.index()].values().collect(),
                _ => Vec::new(),
            };
            needed.extend(handed.chain(held).filter_map(|v| products.get(&v)).map(|product| product.shift));
        }
        products.retain(|_, product| {
            product.blocks = asked.get(&product.shift).cloned().unwrap_or_default();
            !product.blocks.is_empty() && !needed.contains(&product.shift)
        });
        Products(products)
    }
}

/// The values that accesses take as addresses.
fn addresses(region: &Region) -> HashSet<Value> {
    let insts = region.blocks.iter().flat_map(|block| &block.insts);
    let accesses = insts.filter(|inst| inst.kind.is_plain_load() || inst.kind.is_plain_store());
    accesses.filter_map(|inst| inst.args.first().copied()).collect()
}
