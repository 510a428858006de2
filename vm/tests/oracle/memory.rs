//! Memory: regions as byte vectors, every access on its own.

use super::{Frame, Oracle, OracleTrap, Run};
use spmdvm_vm::isa::Extra;
use spmdvm_vm::program::*;
use spmdvm_vm::sem::{self, OFFSET_BITS};
use spmdvm_vm::{Op, Program, TrapKind, Ty};
use std::collections::HashMap;

struct Region {
    bytes: Vec<u8>,
    writable: bool,
    heap: bool,
}

pub struct Regions {
    live: HashMap<u32, Region>,
    next: u32,
}

/// Region and signed offset of a pointer.
fn split(pointer: u64) -> (u32, i128) {
    let shift = 64 - OFFSET_BITS;
    ((pointer >> OFFSET_BITS) as u32, (((pointer << shift) as i64) >> shift) as i128)
}

impl Regions {
    /// Global *i* is region *i* + 1.
    pub fn of(program: &Program) -> Regions {
        let mut regions = Regions { live: HashMap::new(), next: 1 };
        for g in &program.globals {
            let mut bytes = g.init.clone();
            bytes.resize(g.size as usize, 0);
            for &(at, target) in &g.relocations {
                let pointer = match target {
                    Target::Global(target, offset) => sem::padd((target.0 as u64 + 1) << OFFSET_BITS, offset),
                    Target::Function(target) => target.0 as u64 + 1,
                };
                bytes[at as usize..][..8].copy_from_slice(&pointer.to_le_bytes());
            }
            let region = Region { bytes, writable: !g.constant, heap: false };
            regions.live.insert(regions.next, region);
            regions.next += 1;
        }
        regions
    }

    pub fn add(&mut self, size: u64, heap: bool) -> u32 {
        self.next += 1;
        self.live.insert(self.next, Region { bytes: vec![0; size as usize], writable: true, heap });
        self.next
    }

    pub fn remove(&mut self, number: u32) {
        self.live.remove(&number);
    }

    pub fn bytes(&self, number: u32) -> &[u8] {
        &self.live[&number].bytes
    }

    /// The bytes at an offset from a region's start, or why they may not be accessed.
    fn access(&mut self, number: u32, at: i128, size: usize, write: bool) -> Result<&mut [u8], TrapKind> {
        let Some(region) = self.live.get_mut(&number) else {
            return Err(if number == 0 { TrapKind::NullPointer } else { TrapKind::BadPointer });
        };
        if at < 0 || at + size as i128 > region.bytes.len() as i128 {
            return Err(TrapKind::OutOfBounds);
        }
        if write && !region.writable {
            return Err(TrapKind::ReadOnly);
        }
        Ok(&mut region.bytes[at as usize..][..size])
    }

    fn read(&mut self, (number, at): (u32, i128), ty: Ty) -> u64 {
        let bytes = self.access(number, at, ty.size(), false).expect("the access was checked");
        let word = bytes.iter().rev().fold(0, |word, &b| word << 8 | b as u64);
        if ty == Ty::Bool { (word != 0) as u64 } else { word }
    }

    fn write(&mut self, (number, at): (u32, i128), ty: Ty, word: u64) {
        let bytes = self.access(number, at, ty.size(), true).expect("the access was checked");
        bytes.copy_from_slice(&word.to_le_bytes()[..ty.size()]);
    }
}

/// An index as a number.
fn index_value(ty: Ty, word: u64) -> i128 {
    match ty {
        Ty::I32 => word as u32 as i32 as i128,
        Ty::I64 => word as i64 as i128,
        _ => word as i128,
    }
}

impl Oracle<'_> {
    pub(super) fn memory(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<()> {
        if inst.op.info().sig.extra == Extra::Memory {
            return self.access(frame, inst);
        }
        match inst.op {
            Op::MemCopy | Op::MemSet => self.ranges(frame, inst),
            Op::Alloc => {
                let lanes = self.working_lanes(frame, inst);
                self.move_bytes(frame, lanes.iter().map(|&l| frame.get(inst.src[0], l)).sum())?;
                let mut pointers = vec![0; frame.regs[inst.dst.index()].len()];
                for l in lanes {
                    let region = self.regions.add(frame.get(inst.src[0], l), true);
                    let slot = if pointers.len() == 1 { 0 } else { l };
                    pointers[slot] = (region as u64) << OFFSET_BITS;
                }
                frame.regs[inst.dst.index()] = pointers;
                Ok(())
            }
            Op::Free => self.free(frame, inst),
            _ => self.atomic(frame, inst),
        }
    }

    /// All active lanes, or one of them if every operand is uniform.
    fn working_lanes(&self, frame: &Frame<'_>, inst: &Inst) -> Vec<usize> {
        let varying = inst.src.iter().any(|&r| frame.is_varying(r));
        frame.active().into_iter().take(if varying { self.lanes } else { 1 }).collect()
    }

    /// A trap of a lane, which is named if an operand is varying.
    fn lane_trap(&self, frame: &Frame<'_>, inst: &Inst, kind: TrapKind, lane: usize) -> OracleTrap {
        frame.trap(kind, inst.src.iter().any(|&r| frame.is_varying(r)).then_some(lane))
    }

    /// Loads and stores.
    fn access(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<()> {
        let [base, index, value] = inst.src;
        let by_lane = matches!(inst.op, Op::LoadLane | Op::StoreLane);
        let store = matches!(inst.op, Op::Store | Op::StoreLane);
        let size = inst.ty.size();
        let place = |frame: &Frame<'_>, l: usize| {
            let (region, offset) = split(frame.get(base, l));
            let index = if index.is_none() { 0 } else { index_value(inst.from, frame.get(index, l)) };
            let lane = if by_lane { (l * size) as i128 } else { 0 };
            (region, offset + index * inst.aux as i128 + inst.imm as i128 + lane)
        };
        let scattered = by_lane || frame.is_varying(base) || frame.is_varying(index);
        for l in frame.active() {
            let (region, at) = place(frame, l);
            if let Err(kind) = self.regions.access(region, at, size, store) {
                return Err(frame.trap(kind, scattered.then_some(l)));
            }
        }
        if store {
            for l in frame.active() {
                self.regions.write(place(frame, l), inst.ty, frame.get(value, l));
            }
            return Ok(());
        }
        let lanes = frame.regs[inst.dst.index()].len();
        let mut read = vec![0; lanes];
        for l in frame.active() {
            read[if lanes == 1 { 0 } else { l }] = self.regions.read(place(frame, l), inst.ty);
        }
        frame.regs[inst.dst.index()] = read;
        Ok(())
    }

    fn atomic(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<()> {
        let lanes = self.working_lanes(frame, inst);
        for &l in &lanes {
            let (region, at) = split(frame.get(inst.src[0], l));
            if let Err(kind) = self.regions.access(region, at, inst.ty.size(), true) {
                return Err(self.lane_trap(frame, inst, kind, l));
            }
        }
        let mut before = vec![0; frame.regs[inst.dst.index()].len()];
        for l in lanes {
            let place = split(frame.get(inst.src[0], l));
            let (old, operand) = (self.regions.read(place, inst.ty), frame.get(inst.src[1], l));
            let meaning = |op| sem::eval(op, inst.ty, inst.ty, [old, operand, 0]).expect("a scalar meaning");
            let new = match inst.op {
                Op::AtomicAdd => meaning(Op::Add),
                Op::AtomicSub => meaning(Op::Sub),
                Op::AtomicMin => meaning(Op::Min),
                Op::AtomicMax => meaning(Op::Max),
                Op::AtomicAnd => meaning(Op::And),
                Op::AtomicOr => meaning(Op::Or),
                Op::AtomicXor => meaning(Op::Xor),
                Op::AtomicSwap => operand,
                _ if old == operand => frame.get(inst.src[2], l),
                _ => old,
            };
            self.regions.write(place, inst.ty, new);
            let slot = if before.len() == 1 { 0 } else { l };
            before[slot] = old;
        }
        frame.regs[inst.dst.index()] = before;
        Ok(())
    }

    /// `mem.copy` and `mem.set`.
    fn ranges(&mut self, frame: &Frame<'_>, inst: &Inst) -> Run<()> {
        let lanes = self.working_lanes(frame, inst);
        let copies = inst.op == Op::MemCopy;
        let size = |l: usize| frame.get(inst.src[2], l) as usize;
        for &l in lanes.iter().filter(|&&l| size(l) != 0) {
            let to = split(frame.get(inst.src[0], l));
            let from = split(frame.get(inst.src[1], l));
            let readable = if copies { self.regions.access(from.0, from.1, size(l), false).err() } else { None };
            if let Some(kind) = readable.or(self.regions.access(to.0, to.1, size(l), true).err()) {
                return Err(self.lane_trap(frame, inst, kind, l));
            }
        }
        self.move_bytes(frame, lanes.iter().map(|&l| size(l) as u64).sum())?;
        for &l in lanes.iter().filter(|&&l| size(l) != 0) {
            let to = split(frame.get(inst.src[0], l));
            let from = split(frame.get(inst.src[1], l));
            let bytes = if copies {
                self.regions.access(from.0, from.1, size(l), false).map(|b| b.to_vec())
            } else {
                Ok(vec![frame.get(inst.src[1], l) as u8; size(l)])
            };
            let target = self.regions.access(to.0, to.1, size(l), true).expect("the access was checked");
            target.copy_from_slice(&bytes.expect("the access was checked"));
        }
        Ok(())
    }

    fn free(&mut self, frame: &Frame<'_>, inst: &Inst) -> Run<()> {
        let mut freed = Vec::new();
        for l in self.working_lanes(frame, inst) {
            let pointer = frame.get(inst.src[0], l);
            let (region, at) = split(pointer);
            let is_heap = self.regions.live.get(&region).is_some_and(|r| r.heap) && at == 0;
            if pointer != 0 && (!is_heap || freed.contains(&region)) {
                return Err(self.lane_trap(frame, inst, TrapKind::BadFree, l));
            }
            freed.push(region);
        }
        let bytes = freed.iter().filter_map(|region| Some(self.regions.live.get(region)?.bytes.len() as u64)).sum();
        self.move_bytes(frame, bytes)?;
        freed.into_iter().for_each(|region| self.regions.remove(region));
        Ok(())
    }
}
