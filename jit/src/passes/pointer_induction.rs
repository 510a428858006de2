//! Pointers that a loop advances by constants become a pointer from before the loop, and a distance that it counts.
//!
//! `*p++`, and `p += programCount` behind `p[programIndex]`, hand a pointer on from round to round. What is asked about the memory
//! at such a pointer is another question in each round; about a distance from a pointer that stays it is not
//! ([`elements`](super::elements)).
//!
//! Sums of pointers and offsets are exact, or poison that stays (`vm::sem::padd`). A chain of sums is the sum of the first pointer
//! and all steps together if no step leads back from beyond the limit: if all of them have one sign. A distance of steps of up to
//! 2¹⁶ bytes does not wrap: it would take 2⁴⁷ rounds.

use super::defs::Defs;
use super::licm::Loops;
use super::make::Maker;
use super::{identity, replace};
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Region, Type, Value};
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Farthest that an edge leads, in bytes.
const MAX_STEP: i64 = 1 << 16;

/// An edge, by the block that it leaves and its place among that block's.
type EdgeId = (BlockId, usize);

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    if loops.count() == 0 {
        return;
    }
    let walks = Pointers::new(region).walks(region, &loops);
    if walks.is_empty() {
        return;
    }
    let mut sums = Vec::new();
    let mut on_the_way = HashMap::new();
    // Pointers that advance together share their distance.
    let mut distances: Vec<(&[Stop], HashMap<BlockId, Value>)> = Vec::new();
    for walk in &walks {
        let known = distances.iter().position(|(stops, _)| *stops == walk.stops);
        let known = known.unwrap_or_else(|| {
            distances.push((&walk.stops, count(region, &walk.stops)));
            distances.len() - 1
        });
        for (stop, &param) in walk.stops.iter().zip(&walk.params) {
            let mut made = Vec::new();
            let args = [walk.from, distances[known].1[&stop.block]];
            sums.push((param, Maker { region, to: &mut made }.op(Op::PAdd, Ty::U64, &args)));
            region.blocks[stop.block.index()].insts.splice(0..0, made);
        }
        for &(sum, base, step) in &walk.sums {
            on_the_way.insert(sum, (walk.from, distances[known].1[&base], step));
        }
    }
    count_from_before(region, &on_the_way);
    let mut to = identity(region);
    sums.into_iter().for_each(|(param, sum)| to[param.index()] = sum);
    replace(region, &to);
}

/// A block that a pointer is handed to, and what the edges to it bring.
#[derive(PartialEq)]
struct Stop {
    block: BlockId,
    /// Each with where the pointer was before (if not before the loop) and how far the edge leads.
    edges: Vec<(EdgeId, Option<BlockId>, i64)>,
}

/// A pointer that a loop advances.
struct Walk {
    /// It, before the loop.
    from: Value,
    /// The parameters that it is handed on by, in the order of the stops.
    params: Vec<Value>,
    /// In the order of the blocks.
    stops: Vec<Stop>,
    /// Sums on the way from one to the next: where the pointer was before, and how far from there.
    sums: Vec<(Value, BlockId, i64)>,
}

/// A sum with a pointer.
struct Step {
    /// A parameter, or the pointer from before.
    base: Value,
    /// How far from it, in bytes.
    far: i64,
    /// The sums on the way, each with how far from the base it is.
    sums: Vec<(Value, i64)>,
}

/// The parameters that may be pointers.
struct Pointers {
    defs: Defs,
    /// By parameter: its block, and what edges bring.
    params: HashMap<Value, (BlockId, Vec<(EdgeId, Value)>)>,
}

impl Pointers {
    fn new(region: &Region) -> Pointers {
        let mut params: HashMap<Value, (BlockId, Vec<(EdgeId, Value)>)> = HashMap::new();
        for (b, block) in region.blocks.iter().enumerate() {
            for (place, edge) in block.end.edges().enumerate() {
                let id = (BlockId(b as u32), place);
                for (&param, &arg) in region.block(edge.to).params.iter().zip(&edge.args) {
                    if region.ty(param) == Type::uniform(Ty::U64) {
                        params.entry(param).or_insert_with(|| (edge.to, Vec::new())).1.push((id, arg));
                    }
                }
            }
        }
        Pointers { defs: Defs::of(region), params }
    }

    /// The pointers that loops advance, those of outer loops first; no parameter is of two of them.
    fn walks(&self, region: &Region, loops: &Loops) -> Vec<Walk> {
        let mut walks: Vec<Walk> = Vec::new();
        for l in 0..loops.count() {
            let header = region.block(loops.header(l));
            for &param in header.params.iter().filter(|param| self.params.contains_key(param)) {
                if !walks.iter().any(|walk| walk.params.contains(&param)) {
                    walks.extend(self.walk(loops, l, param));
                }
            }
        }
        walks
    }

    /// The pointer that is handed from round to round by a parameter of a loop's header, if the loop advances it by constants.
    fn walk(&self, loops: &Loops, l: usize, param: Value) -> Option<Walk> {
        let (_, brought) = &self.params[&param];
        let mut entering = brought.iter().filter(|((source, _), _)| !loops.contains(l, *source)).map(|&(_, v)| v);
        let from = entering.next()?;
        if entering.any(|v| v != from) {
            return None;
        }
        let mut params = vec![param];
        let (mut forwards, mut backwards) = (false, false);
        let (mut stops, mut sums) = (Vec::new(), Vec::new());
        while let Some(&param) = params.get(stops.len()) {
            let &(block, ref brought) = self.params.get(&param)?;
            if !loops.contains(l, block) || stops.iter().any(|stop: &Stop| stop.block == block) {
                return None;
            }
            let mut edges = Vec::new();
            for &(edge, v) in brought {
                let Step { base, far, sums: on_the_way } = self.step(v, from)?;
                forwards |= far > 0;
                backwards |= far < 0;
                if base != from && !params.contains(&base) {
                    params.push(base);
                }
                let base = self.params.get(&base).filter(|_| base != from).map(|&(block, _)| block);
                if let Some(base) = base {
                    sums.extend(on_the_way.into_iter().map(|(sum, far)| (sum, base, far)));
                }
                edges.push((edge, base, far));
            }
            stops.push(Stop { block, edges });
        }
        if forwards == backwards {
            return None;
        }
        let mut pairs: Vec<(Stop, Value)> = stops.into_iter().zip(params).collect();
        pairs.sort_by_key(|(stop, _)| stop.block);
        let (stops, params) = pairs.into_iter().unzip();
        Some(Walk { from, params, stops, sums })
    }

    /// The parameter, or the pointer from before, that a value is a sum from, if all that is added is of one sign.
    fn step(&self, mut v: Value, from: Value) -> Option<Step> {
        let mut total = 0i64;
        let mut chain = Vec::new();
        while v != from && !self.params.contains_key(&v) {
            let sum = self.defs.as_op(v, Op::PAdd)?;
            let step = self.defs.known(sum.arg(1))? as i64;
            if step.signum() * total.signum() < 0 {
                return None;
            }
            chain.push((v, total));
            total = total.checked_add(step)?;
            v = sum.arg(0);
        }
        chain.iter_mut().for_each(|(_, from_end)| *from_end = total - *from_end);
        (total.abs() <= MAX_STEP).then_some(Step { base: v, far: total, sums: chain })
    }
}

/// Makes of sums with a pointer that is advanced sums with the one from before the loop. Of each it is given that pointer, the distance
/// to which something is added, and how much.
fn count_from_before(region: &mut Region, sums: &HashMap<Value, (Value, Value, i64)>) {
    for b in 0..region.blocks.len() {
        let insts = std::mem::take(&mut region.blocks[b].insts);
        let mut new = Vec::with_capacity(insts.len());
        for mut inst in insts {
            if let Some(&(from, distance, step)) = inst.result.and_then(|v| sums.get(&v)) {
                let distance = Maker { region, to: &mut new }.with(Op::Add, Ty::I64, distance, step as u64);
                inst.args = vec![from, distance];
            }
            new.push(inst);
        }
        region.blocks[b].insts = new;
    }
}

/// Makes the distance that is counted on the way: a parameter of each block.
fn count(region: &mut Region, stops: &[Stop]) -> HashMap<BlockId, Value> {
    let ty = Type::uniform(Ty::I64);
    let distances: HashMap<BlockId, Value> = stops.iter().map(|stop| (stop.block, region.new_value(ty))).collect();
    for stop in stops {
        region.blocks[stop.block.index()].params.push(distances[&stop.block]);
        for &((source, place), base, step) in &stop.edges {
            let mut made: Vec<Inst> = Vec::new();
            let mut m = Maker { region, to: &mut made };
            let distance = match base.map(|base| distances[&base]) {
                None => m.constant(Ty::I64, step as u64),
                Some(before) if step == 0 => before,
                Some(before) => m.with(Op::Add, Ty::I64, before, step as u64),
            };
            let block = &mut region.blocks[source.index()];
            block.insts.extend(made);
            if let Some(edge) = block.end.edges_mut().nth(place) {
                edge.args.push(distance);
            }
        }
    }
    distances
}
