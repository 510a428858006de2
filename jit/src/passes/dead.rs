//! Removes what nothing uses: instructions, parameters, and from snapshots the registers that still hold what they held.
//!
//! Rules: an instruction is needed if it has an effect, or if something needed uses its result; snapshots of needed
//! instructions and of the ends of blocks need their values; a parameter is needed if something uses it other than as an
//! argument for parameters that are not needed. A register or cell of the entered frame whose value is what was read
//! from it at entry need not be written back.

use super::mem2reg::{accessed, hosts};
use crate::ir::{Cell, End, Exit, ExitReason, Inst, Kind, Region, Value};
use std::collections::{HashMap, HashSet};

/// Runs the pass.
pub fn run(region: &mut Region) {
    forget_unchanged(region);
    let needed = Needed::find(region);
    for block in &mut region.blocks {
        block.insts.retain(|inst| inst.result.is_none_or(|v| needed.0[v.index()]) || has_effect(inst));
    }
    let keep: Vec<Vec<bool>> =
        region.blocks.iter().map(|b| b.params.iter().map(|p| needed.0[p.index()]).collect()).collect();
    for (block, keep) in region.blocks.iter_mut().zip(&keep) {
        let mut keep = keep.iter();
        block.params.retain(|_| keep.next().copied().unwrap_or(true));
    }
    for edge in region.blocks.iter_mut().flat_map(|b| b.end.edges_mut()) {
        let mut keep = keep[edge.to.index()].iter();
        edge.args.retain(|_| keep.next().copied().unwrap_or(true));
    }
    drop_exits(region);
}

fn has_effect(inst: &Inst) -> bool {
    !inst.kind.is_pure() && !inst.kind.is_plain_load()
}

/// Registers at exits that hold what was read from them at entry.
fn forget_unchanged(region: &mut Region) {
    let mut at_entry = vec![None; region.types.len()];
    for inst in &region.blocks[0].insts {
        if let (Kind::EntryReg { at }, Some(v)) = (inst.kind, inst.result) {
            at_entry[v.index()] = Some(at);
        }
    }
    // What the interpreter's handlers read and write in the entered frame is not as it was.
    let own = region.handler_calls.iter().filter(|s| s.at == 0);
    let mut touched: HashSet<u32> = own.flat_map(|s| s.operands.iter().chain(&s.result).map(|&(at, _)| at)).collect();
    let mut loaded = cells_at_entry(region);
    // Nor what is written before a call, or by it.
    let is_unchanged = |at: u32, v: Option<Value>| v.is_some_and(|v| at_entry[v.index()] == Some(at));
    touched.extend(region.written_by_calls().filter(|&(at, v)| !is_unchanged(at, v)).map(|(at, _)| at));
    for inst in region.blocks.iter().flat_map(|b| &b.insts) {
        let Kind::CallIndirect { exit } = inst.kind else { continue };
        for (cell, v) in &region.exits[exit.index()].cells {
            if loaded.get(v) != Some(cell) {
                loaded.retain(|_, other| other != cell);
            }
        }
    }
    for exit in &mut region.exits {
        exit.cells.retain(|(cell, v)| loaded.get(v) != Some(cell));
        if let Some(frame) = exit.frames.first_mut() {
            frame.regs.retain(|r| touched.contains(&r.at) || at_entry[r.value.index()] != Some(r.at));
        }
    }
}

/// What is read at entry of the cells that are values: nothing stores to them, but a `clear` that has stayed.
fn cells_at_entry(region: &Region) -> HashMap<Value, Cell> {
    let clears = |inst: &Inst| matches!(inst.kind, Kind::Clear { .. });
    if region.blocks.iter().flat_map(|b| &b.insts).any(clears) {
        return HashMap::new();
    }
    let hosts = hosts(region);
    let loads = region.blocks[0].insts.iter().filter(|inst| inst.kind.is_plain_load());
    loads.filter_map(|inst| Some((inst.result?, accessed(inst, &hosts)?))).collect()
}

/// Removes exits that nothing leaves by.
fn drop_exits(region: &mut Region) {
    let mut new = vec![None; region.exits.len()];
    let mut kept: Vec<Exit> = Vec::new();
    let mut number = |exit: &mut crate::ir::ExitId| {
        let slot = &mut new[exit.index()];
        let id = *slot.get_or_insert_with(|| {
            kept.push(std::mem::replace(
                &mut region.exits[exit.index()],
                Exit { frames: Vec::new(), cells: Vec::new(), live: Vec::new(), reason: ExitReason::Poll, fuel: 0 },
            ));
            crate::ir::ExitId(kept.len() as u32 - 1)
        });
        *exit = id;
    };
    for block in &mut region.blocks {
        for inst in &mut block.insts {
            if let Some(exit) = inst.kind.exit_mut() {
                number(exit);
            }
        }
        if let End::Exit(exit) = &mut block.end {
            number(exit);
        }
    }
    region.exits = kept;
}

/// Which values are needed.
struct Needed(Vec<bool>);

impl Needed {
    fn find(region: &Region) -> Needed {
        let mut uses: Vec<Vec<Value>> = vec![Vec::new(); region.types.len()];
        let mut work = Vec::new();
        for block in &region.blocks {
            for inst in &block.insts {
                let exit = inst.kind.exit();
                let at_exit = exit.iter().flat_map(|e| region.exits[e.index()].values());
                let used = inst.args.iter().copied().chain(at_exit);
                match inst.result {
                    Some(v) if !has_effect(inst) => uses[v.index()].extend(used),
                    _ => work.extend(used),
                }
            }
            match &block.end {
                End::Branch { cond, .. } => work.push(*cond),
                End::Exit(exit) => work.extend(region.exits[exit.index()].values()),
                End::Jump(_) => {}
            }
            for edge in block.end.edges() {
                for (&arg, &param) in edge.args.iter().zip(&region.block(edge.to).params) {
                    uses[param.index()].push(arg);
                }
            }
        }
        let mut needed = vec![false; region.types.len()];
        while let Some(v) = work.pop() {
            if !std::mem::replace(&mut needed[v.index()], true) {
                work.extend(&uses[v.index()]);
            }
        }
        Needed(needed)
    }
}
