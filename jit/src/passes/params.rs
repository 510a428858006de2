//! Removes block parameters that always bring the same value.
//!
//! The recorder gives every block a parameter for every live register, so values that do not change are passed around
//! loops. A parameter is redundant if all edges to its block bring one and the same value or the parameter itself; that
//! value stands for it. Removing one can make others redundant, so this runs until nothing changes; for the reducible
//! graphs that loops of the bytecode give, that finds all of them (Braun et al., "Simple and Efficient Construction of
//! Static Single Assignment Form", 2013).
//!
//! A region that begins behind a call leads into loops by their middle, as well as by their heads. There parameters of
//! several blocks bring each other, and all of them the same value from outside, though none does by itself. So of a graph
//! that is not reducible it is assumed that every parameter stands for another value, until two edges bring different ones.
//!
//! Rules: a block without edges to it keeps its parameters (it is unreachable). The value dominates the block, because on
//! every way to it the value was brought.

use super::{identity, replace};
use crate::dominance::Dominators;
use crate::ir::{Region, Value};

/// Runs the pass.
pub fn run(region: &mut Region) {
    let is_reducible = drop_unreachable(region);
    let mut to = identity(region);
    while let Some(keep) = round(region, &mut to) {
        remove(region, &keep);
    }
    resolve(&mut to);
    if !is_reducible {
        let keep = of_cycles(region, &mut to);
        remove(region, &keep);
        resolve(&mut to);
    }
    replace(region, &to);
}

/// Drops blocks that cannot be reached, so that they bring nothing to others. Returns whether every loop has one block that
/// it is entered by.
fn drop_unreachable(region: &mut Region) -> bool {
    let dominators = Dominators::new(region);
    let is_reducible = dominators.is_reducible(region);
    let reachable: Vec<bool> =
        (0..region.blocks.len()).map(|b| dominators.is_reachable(crate::ir::BlockId(b as u32))).collect();
    let mut new = vec![crate::ir::BlockId(0); region.blocks.len()];
    let mut next = 0;
    for (b, &keep) in reachable.iter().enumerate() {
        new[b] = crate::ir::BlockId(next);
        next += keep as u32;
    }
    let mut keep = reachable.iter();
    region.blocks.retain(|_| keep.next().copied().unwrap_or(false));
    for block in &mut region.blocks {
        block.end.edges_mut().for_each(|edge| edge.to = new[edge.to.index()]);
    }
    is_reducible
}

/// What stands for a value so far.
fn find(to: &[Value], mut v: Value) -> Value {
    while to[v.index()] != v {
        v = to[v.index()];
    }
    v
}

fn resolve(to: &mut [Value]) {
    for i in 0..to.len() {
        to[i] = find(to, Value(i as u32));
    }
}

/// What the edges to a block bring for one parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brought {
    Nothing,
    One(Value),
    Many,
}

/// Finds redundant parameters; gives, if there are any, which parameters of each block stay.
fn round(region: &Region, to: &mut [Value]) -> Option<Vec<Vec<bool>>> {
    let mut brought: Vec<Vec<Brought>> = region.blocks.iter().map(|b| vec![Brought::Nothing; b.params.len()]).collect();
    for edge in region.blocks.iter().flat_map(|b| b.end.edges()) {
        let params = &region.block(edge.to).params;
        for ((slot, &arg), &param) in brought[edge.to.index()].iter_mut().zip(&edge.args).zip(params) {
            let v = find(to, arg);
            *slot = match *slot {
                _ if v == param => *slot,
                Brought::Nothing => Brought::One(v),
                Brought::One(w) if w == v => Brought::One(v),
                _ => Brought::Many,
            };
        }
    }
    let mut found = false;
    let keep = region.blocks.iter().zip(brought).map(|(block, brought)| {
        let mut keep = Vec::with_capacity(brought.len());
        for (&param, brought) in block.params.iter().zip(brought) {
            if let Brought::One(v) = brought
                && find(to, v) != param
            {
                to[param.index()] = find(to, v);
                found = true;
                keep.push(false);
            } else {
                keep.push(true);
            }
        }
        keep
    });
    let keep: Vec<_> = keep.collect();
    found.then_some(keep)
}

/// Finds parameters for which one value stands if that is assumed of the others that they bring; gives which of each block
/// stay. Where two edges bring different values after all, the parameter stays, and everything is assumed anew.
fn of_cycles(region: &Region, to: &mut [Value]) -> Vec<Vec<bool>> {
    let order = Dominators::new(region).order().to_vec();
    let mut edges = vec![Vec::new(); region.blocks.len()];
    for edge in region.blocks.iter().flat_map(|block| block.end.edges()) {
        edges[edge.to.index()].push(&edge.args);
    }
    let params = || order.iter().flat_map(|&b| region.block(b).params.iter().enumerate().map(move |(i, &p)| (b, i, p)));
    let mut stays = vec![true; to.len()];
    params().for_each(|(b, _, param)| stays[param.index()] = edges[b.index()].is_empty());
    let stands = loop {
        let mut stands: Vec<Option<Value>> = stays.iter().zip(&*to).map(|(&stays, &v)| stays.then_some(v)).collect();
        let brought = |stands: &[Option<Value>], args: &[Value], i: usize| stands[to[args[i].index()].index()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (b, i, param) in params().filter(|(.., param)| !stays[param.index()]) {
                if stands[param.index()].is_none() {
                    stands[param.index()] = edges[b.index()].iter().find_map(|args| brought(&stands, args, i));
                    changed |= stands[param.index()].is_some();
                }
            }
        }
        let mut agree = true;
        for (b, i, param) in params().filter(|(.., param)| stands[param.index()] != Some(*param)) {
            if edges[b.index()].iter().any(|args| brought(&stands, args, i) != stands[param.index()]) {
                (stays[param.index()], agree) = (true, false);
            }
        }
        if agree {
            break stands;
        }
    };
    for (_, _, param) in params() {
        to[param.index()] = stands[param.index()].unwrap_or(param);
    }
    region.blocks.iter().map(|block| block.params.iter().map(|p| to[p.index()] == *p).collect()).collect()
}

fn remove(region: &mut Region, keep: &[Vec<bool>]) {
    fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
        let mut keep = keep.iter();
        list.retain(|_| keep.next().copied().unwrap_or(true));
    }
    for (block, keep) in region.blocks.iter_mut().zip(keep) {
        retain(&mut block.params, keep);
    }
    for edge in region.blocks.iter_mut().flat_map(|b| b.end.edges_mut()) {
        retain(&mut edge.args, &keep[edge.to.index()]);
    }
}
