//! Live-range splitting: after the calls of the entry block, and before loops.
//!
//! The allocator cuts the life of a register only a few times, and weighs it as a whole. What several calls have cut would stay in
//! memory and be loaded wherever it is used, in the innermost loop too. So what was computed before the last call that loses
//! registers moves to a new one after it. Likewise, what lives long and is read in many places would be in memory in all of them: what
//! an innermost loop reads and does not change moves to a new register before the loop. Exits and cold blocks keep naming the old
//! one: they find it in memory, if calls do not keep it, and the new one lives no longer for them. What its rounds hand on does so, too,
//! before the loop and behind it: the allocator takes what blocks hand to one another as one register. And where registers are missing,
//! exits find in memory what nothing else in the loop reads.

use super::Target;
use super::code::VCode;
use super::inst::Inst;
use super::loops::{Liveness, Loop, innermost};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use regalloc2::{Block, Function, VReg};
use std::cmp::Reverse;

/// Registers of each class that a loop needs beside those that live through it: numbers, floats and vectors, masks. Of vectors there are
/// often two for a value.
const TEMPORARIES: [usize; 3] = [3, 4, 3];

impl<T: Target> VCode<T> {
    /// Splits the live ranges of what was computed before the last call that loses registers.
    pub fn split_live_ranges(&mut self) {
        let Some(call) = self.last_losing_call() else { return };
        let old = self.written_until(call);
        let mut new: Vec<Option<VReg>> = vec![None; old.len()];
        let mut moves = Vec::new();
        let mut insts = std::mem::take(&mut self.insts);
        for inst in &mut insts[call + 1..] {
            inst.each_read(&mut |r| {
                if old.get(r.vreg()) == Some(&true) {
                    *r = *new[r.vreg()].get_or_insert_with(|| {
                        let to = self.reg(r.class());
                        moves.push(Inst::Move { from: *r, to });
                        to
                    });
                }
            });
        }
        self.insts = insts;
        self.insert(moves.into_iter().map(|inst| (call + 1, inst)).collect());
    }

    /// Splits the live ranges of what innermost loops read and do not change.
    pub fn split_before_loops(&mut self) {
        let loops = innermost(self);
        if loops.is_empty() {
            return;
        }
        let liveness = Liveness::of(self);
        let machine = T::registers();
        let registers: [usize; 3] = std::array::from_fn(|class| {
            let sets = [machine.preferred_regs_by_class[class], machine.non_preferred_regs_by_class[class]];
            sets.into_iter().flatten().count()
        });
        let mut moves = Vec::new();
        let known = self.num_vregs();
        for one in loops {
            let live = liveness.count(one.blocks[0]);
            // What rounds hand on has registers of its own.
            let mut made = TEMPORARIES;
            self.block_params(one.blocks[0]).iter().for_each(|r| made[r.class() as usize] += 1);
            // As many as there may be registers for beside what the loop makes, where there are not enough for all.
            let most = std::array::from_fn(|class| match live[class] + made[class] > registers[class] {
                true => registers[class].saturating_sub(made[class]),
                false => 0,
            });
            if most != [0; 3] {
                let missing = std::array::from_fn(|class| (live[class] + made[class]).saturating_sub(registers[class]));
                self.leave_to_memory(&one, missing);
                self.split_before(&one, most, known, &mut moves);
                self.split_around(&one, most, &mut moves);
            }
        }
        moves.sort_by_key(|(at, _)| *at);
        self.insert(moves);
    }

    /// Splits the live ranges of what a loop's rounds hand on from those of what they begin with, and of what is handed on behind the loop.
    fn split_around(&mut self, one: &Loop, most: [usize; 3], moves: &mut Vec<(usize, Inst<T>)>) {
        let mut around = vec![one.before];
        for &block in &one.blocks {
            around.extend(self.block_succs(block).iter().filter(|to| !one.blocks.contains(to)));
        }
        around.sort_unstable();
        around.dedup();
        for block in around {
            let last = self.range(block).end - 1;
            let mut insts = std::mem::take(&mut self.insts);
            if let Inst::Jump(_, args) = &mut insts[last] {
                for arg in args.iter_mut().filter(|arg| most[arg.class() as usize] != 0) {
                    let to = self.reg(arg.class());
                    moves.push((last, Inst::Move { from: *arg, to }));
                    *arg = to;
                }
            }
            self.insts = insts;
        }
    }

    /// Has exits of a loop find in memory what nothing else in it asks for, as far as registers are missing: the allocator takes what exits
    /// read for as urgent as what instructions do.
    fn leave_to_memory(&mut self, one: &Loop, mut missing: [usize; 3]) {
        let (mut asked, mut left): (HashSet<VReg>, Vec<(VReg, usize)>) = (HashSet::new(), Vec::new());
        let mut insts = std::mem::take(&mut self.insts);
        for &block in &one.blocks {
            asked.extend(self.block_params(block));
            for inst in &mut insts[self.range(block)] {
                if !self.cold[block.index()] {
                    inst.each_read(&mut |r| {
                        asked.insert(*r);
                    });
                }
                match inst.stub() {
                    Some(stub) => left.extend(self.exit_stubs[stub].registers().map(|r| (r, stub))),
                    None => self.each_written(inst, &mut |r| {
                        asked.insert(r);
                    }),
                }
            }
        }
        self.insts = insts;
        left.retain(|(r, _)| !asked.contains(r));
        left.sort_unstable_by_key(|&(r, stub)| (r.vreg(), stub));
        for all in left.chunk_by(|a, b| a.0 == b.0) {
            let r = all[0].0;
            let still = &mut missing[r.class() as usize];
            if *still == 0 {
                continue;
            }
            *still -= 1;
            for same in all.chunk_by(|a, b| a == b) {
                // The allocator allows it once only in an instruction.
                if let [(_, stub)] = same {
                    self.exit_stubs[*stub].in_memory.push(r);
                }
            }
        }
    }

    /// Splits the live ranges of what a loop reads and does not change, of those registers that are known: the others are written by moves
    /// that are yet to be inserted.
    fn split_before(&mut self, one: &Loop, mut most: [usize; 3], known: usize, moves: &mut Vec<(usize, Inst<T>)>) {
        let mut written = HashSet::new();
        for &block in &one.blocks {
            self.each_operand(block, &mut |r, is_read| {
                if !is_read {
                    written.insert(r);
                }
            });
        }
        let mut reads: Vec<(VReg, usize)> = Vec::new();
        let mut place_of = HashMap::new();
        let mut insts = std::mem::take(&mut self.insts);
        // (Where nobody comes, what is in memory is loaded.)
        let is_cold = |b: &Block| self.cold[b.index()] && !self.cold[one.blocks[0].index()];
        let ranges: Vec<_> = one.blocks.iter().filter(|b| !is_cold(b)).map(|&b| self.range(b)).collect();
        for range in &ranges {
            for inst in &mut insts[range.clone()] {
                inst.each_read(&mut |r| {
                    if r.vreg() < known && !written.contains(r) {
                        let place = *place_of.entry(*r).or_insert(reads.len());
                        if place == reads.len() {
                            reads.push((*r, 0));
                        }
                        reads[place].1 += 1;
                    }
                });
            }
        }
        // Those that are read most often.
        reads.sort_by_key(|&(_, n)| Reverse(n));
        reads.retain(|(r, _)| {
            let left = &mut most[r.class() as usize];
            let fits = *left > 0;
            *left -= fits as usize;
            fits
        });
        let before = self.range(one.before).end - 1;
        let mut new = HashMap::new();
        for (from, _) in reads {
            let to = self.reg(from.class());
            new.insert(from, to);
            moves.push((before, Inst::Move { from, to }));
        }
        for range in ranges {
            for inst in &mut insts[range] {
                inst.each_read(&mut |r| *r = *new.get(r).unwrap_or(r));
            }
        }
        self.insts = insts;
    }
}
