//! Mem2reg: keeps cells of private memory as values.
//!
//! A local struct that is handed on by reference lies in the memory of a frame: every access is a load or a masked store, the
//! back end can keep nothing of it in registers, and what is stored must be computed even if nobody reads it. Where no other
//! pointer leads to the memory ([`PrivateMemory`]) and the region knows the address of each access, its cells become values, as
//! registers have been from the start.
//!
//! Rules:
//!
//! - A private memory is looked at only if of every access in the region that may touch it it is known where that lies: it is a
//!   plain load or store (or a `clear`) at a known address, or one somewhere [within](Kind::FrameHost) an array; and if the
//!   pointer to it goes nowhere but into snapshots, sums, parameters, and the end of the frame.
//! - Of it, a cell is promoted if no access overlaps it but those of the same cell, and clears of all of it. The rest stays in
//!   memory. Types of one size share a cell (`*(int *)&x`): it has that of its first access, and others get its bits as they are.
//! - A load gives the cell's value. A store sets it; a masked store sets it to a `select` of the new value and the old one.
//!   `clear` and the opening of the frame set it to zero. At the region's entry the cells of the entered frame are loaded, all
//!   lanes of them.
//! - A `clear` stays, besides, if it also zeroes bytes that are no cells and may be read after an exit.
//! - Blocks with several ways in get a parameter per cell; [`params`](super::params) then removes those that always bring the
//!   same (the maximal SSA form, made minimal afterwards).
//! - An exit writes the cells of the frames in its snapshot that may be read after it ([`Exit::live`]). Two instructions that
//!   leave by one exit get an exit each if their cells differ.
//!
//! Bools stay in memory in the entered frame: a byte of memory may hold more than a bool does.

use super::params;
use crate::dominance::Dominators;
use crate::ir::{BlockId, Cell, End, Exit, ExitId, Inst, Kind, PrivateMemory, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::Ty;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Most cells of one memory; in straight code they cost little.
const MAX_CELLS: usize = 512;

/// Where ways meet, each cell is a parameter. So many of these are too many, if there are more cells than [`FEW_CELLS`].
const MAX_PARAMS: usize = 4096;

/// So many cells are not too many wherever ways meet.
const FEW_CELLS: usize = 64;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let memories = region.private.clone();
    if !memories.is_empty() {
        let hosts = hosts(region);
        let lost = lost_pointers(region, &memories);
        let (mut found, mut left) = (Vec::new(), Vec::new());
        for (m, memory) in memories.iter().enumerate().filter(|(m, _)| !lost.contains(m)) {
            let Some(cells) = cells(region, memory, &hosts) else { continue };
            found.extend(cells.promoted.into_iter().map(|cell| (m, cell)));
            left.extend(cells.left);
        }
        if !found.is_empty() {
            Promotion { left_in_memory: left, ..Promotion::new(region, &memories, found, &hosts) }.run();
            params::run(region);
        }
    }
    region.exits.iter_mut().for_each(|exit| exit.live.clear());
}

/// The known addresses in frames: function and offset, by value.
pub(super) type Hosts = HashMap<Value, (FuncId, u64)>;

pub(super) fn hosts(region: &Region) -> Hosts {
    let insts = region.blocks.iter().flat_map(|b| &b.insts);
    let host = |inst: &Inst| match inst.kind {
        Kind::FrameHost { function, at, .. } => Some((inst.result?, (function, at))),
        _ => None,
    };
    insts.filter_map(host).collect()
}

/// Returns whether all memory of frames that the region accesses by known addresses is private, and nothing else leads there: then
/// pointers lead elsewhere.
pub(super) fn frames_are_private(region: &Region) -> bool {
    let hosts = hosts(region);
    if hosts.is_empty() || region.private.is_empty() {
        return false;
    }
    let lost = lost_pointers(region, &region.private);
    let private = |at| region.private.iter().enumerate().any(|(m, of)| contains(of, at) && !lost.contains(&m));
    hosts.into_values().all(private)
}

/// The cell that a plain access at a known address is of.
pub(super) fn accessed(inst: &Inst, hosts: &Hosts) -> Option<Cell> {
    let ty = match inst.kind {
        Kind::Load { ty } | Kind::Store { ty } => Type::uniform(ty),
        Kind::LoadLanes { ty } | Kind::StoreLanes { ty } | Kind::StoreMasked { ty } => Type::varying(ty),
        _ => return None,
    };
    let &(function, at) = hosts.get(&inst.args[0])?;
    Some(Cell { function, at, ty })
}

/// Returns whether two accesses are of one cell: those of types whose values are the same bits in registers, too.
fn share(a: &Cell, b: &Cell) -> bool {
    let is_plain = |ty: Ty| ty.is_int() || matches!(ty, Ty::F32 | Ty::F64);
    let [x, y] = [a.ty, b.ty];
    let same_bits = x.ty.size() == y.ty.size() && is_plain(x.ty) && is_plain(y.ty);
    (a.function, a.at, x.shape) == (b.function, b.at, y.shape) && (x.ty == y.ty || same_bits)
}

/// What gives the bits of a type as another one that it may share a cell with.
fn same_bits(from: Ty, ty: Ty) -> Kind {
    if from.is_float() { Kind::RawBits { ty, from } } else { Kind::Op { op: Op::Bitcast, ty, from } }
}

fn contains(memory: &PrivateMemory, (function, at): (FuncId, u64)) -> bool {
    memory.function == function && (memory.start..memory.start + memory.size).contains(&at)
}

fn bytes(region: &Region, cell: &Cell) -> u64 {
    let lanes = if cell.ty.is_varying() { region.width.lanes() } else { 1 };
    (cell.ty.ty.size() * lanes) as u64
}

/// The accessed parts of a memory.
struct Cells {
    /// Those that become values.
    promoted: Vec<Cell>,
    /// Where the others lie, by their addresses.
    left: Vec<Range<u64>>,
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The cells of a memory; `None` if it is not known what is accessed.
fn cells(region: &Region, memory: &PrivateMemory, hosts: &Hosts) -> Option<Cells> {
    let insts = || region.blocks.iter().flat_map(|b| &b.insts);
    let mut within: HashMap<Value, Range<u64>> = HashMap::new();
    for inst in insts() {
        if let (Kind::FrameHost { within: Some((from, to)), .. }, Some(v)) = (inst.kind, inst.result) {
            within.insert(v, from..to);
        }
    }
    // Each with the number of its accesses.
    let mut cells: Vec<(Cell, usize)> = Vec::new();
    let (mut cleared, mut left) = (Vec::new(), Vec::new());
    for inst in insts() {
        let is_inside = |v: &Value| hosts.get(v).is_some_and(|&at| contains(memory, at));
        let mut inside = inst.args.iter().filter(|v| is_inside(v)).peekable();
        if inside.peek().is_none() {
            continue;
        }
        match (inst.kind, accessed(inst, hosts)) {
            (_, Some(cell)) => match cells.iter_mut().find(|(of, _)| share(of, &cell)) {
                Some((_, times)) => *times += 1,
                None => cells.push((cell, 1)),
            },
            (Kind::Clear { bytes }, _) => {
                let at = hosts[&inst.args[0]].1;
                cleared.push(at..at + bytes as u64);
            }
            _ => {
                for v in inside {
                    let range = within.get(v)?;
                    if !left.contains(range) {
                        left.push(range.clone());
                    }
                }
            }
        }
    }
    let range = |cell: &Cell| cell.at..cell.at + bytes(region, cell);
    let whole = |cell: &Cell| {
        let own = range(cell);
        let inside = own.end <= memory.start + memory.size;
        let bool_of_old = memory.at == 0 && cell.ty.ty == Ty::Bool;
        let is_split = |clear: &Range<u64>| overlap(clear, &own) && !(clear.start <= own.start && own.end <= clear.end);
        inside && !bool_of_old && !cleared.iter().any(is_split)
    };
    let alone = |cell: &Cell| cells.iter().all(|(of, _)| of == cell || !overlap(&range(of), &range(cell)));
    let mut promoted = Vec::new();
    for (cell, times) in &cells {
        let free = !left.iter().any(|other: &Range<u64>| overlap(other, &range(cell)));
        if free && whole(cell) && alone(cell) {
            promoted.push((*cell, *times));
        }
    }
    promoted.sort_by_key(|&(cell, times)| (std::cmp::Reverse(times), cell.at));
    promoted.truncate(most_cells(region));
    let mut promoted: Vec<Cell> = promoted.into_iter().map(|(cell, _)| cell).collect();
    promoted.sort_by_key(|cell| cell.at);
    left.extend(cells.iter().map(|(cell, _)| cell).filter(|cell| !promoted.contains(cell)).map(range));
    Some(Cells { promoted, left })
}

fn most_cells(region: &Region) -> usize {
    let meetings = ways_in(region).into_iter().filter(|&ways| ways > 1).count();
    (MAX_PARAMS / meetings.max(1)).clamp(FEW_CELLS, MAX_CELLS)
}

/// By block: how many ways lead there.
fn ways_in(region: &Region) -> Vec<usize> {
    let mut ways = vec![0; region.blocks.len()];
    for edge in region.blocks.iter().flat_map(|b| b.end.edges()) {
        ways[edge.to.index()] += 1;
    }
    ways
}

/// The memories whose pointer goes where it can be used in another way than by a known address.
fn lost_pointers(region: &Region, memories: &[PrivateMemory]) -> HashSet<usize> {
    let mut of: HashMap<Value, HashSet<usize>> = HashMap::new();
    let mut lost = HashSet::new();
    let insts = || region.blocks.iter().flat_map(|b| &b.insts);
    for inst in insts() {
        let opened = match inst.kind {
            Kind::FrameAddress => memories.iter().position(|m| m.at == 0),
            Kind::FrameOpen { function, at, .. } => memories.iter().position(|m| (m.function, m.at) == (function, at)),
            _ => None,
        };
        if let (Some(v), Some(m)) = (inst.result, opened) {
            of.entry(v).or_default().insert(m);
        }
    }
    let is_sum = |inst: &Inst| matches!(inst.kind, Kind::Op { op: Op::PAdd, .. });
    loop {
        let mut next = Vec::new();
        for inst in insts().filter(|inst| is_sum(inst)) {
            next.extend(of.get(&inst.args[0]).into_iter().flatten().map(|&m| (inst.result, m)));
        }
        for edge in region.blocks.iter().flat_map(|b| b.end.edges()) {
            for (arg, &param) in edge.args.iter().zip(&region.block(edge.to).params) {
                next.extend(of.get(arg).into_iter().flatten().map(|&m| (Some(param), m)));
            }
        }
        let mut changed = false;
        for (v, m) in next {
            changed |= v.is_some_and(|v| of.entry(v).or_default().insert(m));
        }
        if !changed {
            break;
        }
    }
    for inst in insts().filter(|inst| !matches!(inst.kind, Kind::FrameClose)) {
        let free = is_sum(inst) as usize;
        for v in inst.args.iter().skip(free) {
            lost.extend(of.get(v).into_iter().flatten());
        }
    }
    lost
}

/// Cells on their way to become values.
struct Promotion<'a> {
    region: &'a mut Region,
    memories: &'a [PrivateMemory],
    cells: Vec<(usize, Cell)>,
    /// Where accesses lie that stay.
    left_in_memory: Vec<Range<u64>>,
    hosts: &'a Hosts,
    /// What stands for the result of a load.
    to: HashMap<Value, Value>,
    /// Zero, by type, in the entry block.
    zeros: HashMap<Type, Value>,
    /// What is to come first in the entry block.
    prologue: Vec<Inst>,
    /// The cells with which an exit has been left.
    left: HashMap<ExitId, Vec<(Cell, Value)>>,
}

impl<'a> Promotion<'a> {
    fn new(
        region: &'a mut Region,
        memories: &'a [PrivateMemory],
        cells: Vec<(usize, Cell)>,
        hosts: &'a Hosts,
    ) -> Promotion<'a> {
        Promotion {
            region,
            memories,
            cells,
            left_in_memory: Vec::new(),
            hosts,
            to: HashMap::new(),
            zeros: HashMap::new(),
            prologue: Vec::new(),
            left: HashMap::new(),
        }
    }

    fn run(mut self) {
        let ways_in = ways_in(self.region);
        let order = Dominators::new(self.region).order().to_vec();
        let entry = self.entry();
        let mut begins: HashMap<BlockId, Vec<Value>> = HashMap::from([(BlockId(0), entry)]);
        for &id in order.iter().filter(|id| ways_in[id.index()] > 1) {
            let params: Vec<Value> = self.cells.iter().map(|(_, cell)| self.region.new_value(cell.ty)).collect();
            self.region.blocks[id.index()].params.extend(&params);
            begins.insert(id, params);
        }
        for &id in &order {
            // A block with one way in comes after that way's block.
            let mut state = begins.remove(&id).unwrap_or_default();
            self.block(id, &mut state);
            let mut end = std::mem::replace(&mut self.region.blocks[id.index()].end, End::Exit(ExitId(u32::MAX)));
            if let End::Exit(exit) = &mut end {
                self.leave(exit, &state);
            }
            for edge in end.edges_mut() {
                if ways_in[edge.to.index()] > 1 {
                    edge.args.extend(&state);
                } else {
                    begins.insert(edge.to, state.clone());
                }
            }
            self.region.blocks[id.index()].end = end;
        }
        self.region.blocks[0].insts.splice(0..0, std::mem::take(&mut self.prologue));
        let stands: Vec<Value> = (0..self.region.types.len() as u32).map(|v| self.find(Value(v))).collect();
        super::replace(self.region, &stands);
    }

    /// The cells when the region is entered: those of the entered frame are loaded.
    fn entry(&mut self) -> Vec<Value> {
        let cells = self.cells.clone();
        cells
            .iter()
            .map(|&(m, cell)| if self.memories[m].at == 0 { self.loaded(cell) } else { self.zero(cell.ty) })
            .collect()
    }

    fn loaded(&mut self, cell: Cell) -> Value {
        let host = self.at_entry(
            Kind::FrameHost { function: cell.function, at: cell.at, within: None },
            Vec::new(),
            Type::uniform(Ty::U64),
        );
        let ty = cell.ty.ty;
        let kind = if cell.ty.is_varying() { Kind::LoadLanes { ty } } else { Kind::Load { ty } };
        self.at_entry(kind, vec![host], cell.ty)
    }

    fn zero(&mut self, ty: Type) -> Value {
        if let Some(&v) = self.zeros.get(&ty) {
            return v;
        }
        let mut v = self.at_entry(Kind::Const(0), Vec::new(), Type::uniform(ty.ty));
        if ty.is_varying() {
            v = self.at_entry(Kind::Splat, vec![v], ty);
        }
        self.zeros.insert(ty, v);
        v
    }

    /// An instruction at the beginning of the entry block.
    fn at_entry(&mut self, kind: Kind, args: Vec<Value>, ty: Type) -> Value {
        let v = self.region.new_value(ty);
        self.prologue.push(Inst { kind, args, result: Some(v) });
        v
    }

    /// Takes the accesses out of a block. The state is what cells hold, before and after.
    fn block(&mut self, id: BlockId, state: &mut [Value]) {
        let insts = std::mem::take(&mut self.region.blocks[id.index()].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for mut inst in insts {
            if let Some(exit) = inst.kind.exit_mut() {
                self.leave(exit, state);
            }
            if let Some((at, cell)) = accessed(&inst, self.hosts).and_then(|cell| Some((self.slot(cell)?, cell))) {
                self.access(&inst, cell.ty, at, &mut state[at], &mut kept);
                continue;
            }
            match inst.kind {
                Kind::Clear { bytes } => {
                    let (function, from) = self.hosts[&inst.args[0]];
                    let within = |c: &Cell| c.function == function && (from..from + bytes as u64).contains(&c.at);
                    self.reset(state, |_, cell| within(cell));
                    if self.clears_only_cells((function, from), bytes as u64) {
                        continue;
                    }
                }
                Kind::FrameOpen { function, at, .. } => {
                    self.reset(state, |memory, _| (memory.function, memory.at) == (function, at));
                }
                _ => {}
            }
            kept.push(inst);
        }
        self.region.blocks[id.index()].insts = kept;
    }

    /// Returns whether the bytes that a `clear` zeroes are cells, as far as anybody reads them.
    fn clears_only_cells(&self, at: (FuncId, u64), bytes_cleared: u64) -> bool {
        let cleared = at.1..at.1 + bytes_cleared;
        if self.left_in_memory.iter().any(|range| overlap(range, &cleared)) {
            return false;
        }
        let Some(&(m, _)) = self.cells.iter().find(|&&(m, _)| contains(&self.memories[m], at)) else { return false };
        let start = self.memories[m].start as i64;
        let from = at.1 as i64 - start;
        let to = from + bytes_cleared as i64;
        let own = self.cells.iter().filter(|(of, _)| *of == m).map(|(_, cell)| {
            let from = cell.at as i64 - start;
            from..from + bytes(self.region, cell) as i64
        });
        let own: Vec<_> = own.collect();
        let live =
            self.region.exits.iter().flat_map(|e| &e.live).filter(|live| live.memory == m).flat_map(|l| &l.bytes);
        live.into_iter().all(|range| {
            (range.start.max(from)..range.end.min(to)).all(|byte| own.iter().any(|cell| cell.contains(&byte)))
        })
    }

    fn slot(&self, cell: Cell) -> Option<usize> {
        self.cells.iter().position(|(_, of)| share(of, &cell))
    }

    fn reset(&mut self, state: &mut [Value], is_reset: impl Fn(&PrivateMemory, &Cell) -> bool) {
        for (i, (m, cell)) in self.cells.clone().into_iter().enumerate() {
            if is_reset(&self.memories[m], &cell) {
                state[i] = self.zero(cell.ty);
            }
        }
    }

    /// Does an access of a type to a cell, with the instructions that are needed for it.
    fn access(&mut self, inst: &Inst, ty: Type, slot: usize, cell: &mut Value, to: &mut Vec<Inst>) {
        let own = self.cells[slot].1.ty;
        if let Some(result) = inst.result {
            let held = self.bits(*cell, own, ty, to);
            self.to.insert(result, held);
            return;
        }
        let new = self.bits(inst.args[1], ty, own, to);
        let Kind::StoreMasked { .. } = inst.kind else {
            *cell = new;
            return;
        };
        let args = vec![inst.args[2], new, *cell];
        *cell = self.region.new_value(own);
        to.push(Inst { kind: Kind::Op { op: Op::Select, ty: own.ty, from: own.ty }, args, result: Some(*cell) });
    }

    /// A value of one type as one of another that it shares a cell with.
    fn bits(&mut self, v: Value, from: Type, ty: Type, to: &mut Vec<Inst>) -> Value {
        if from == ty {
            return v;
        }
        let bits = self.region.new_value(ty);
        to.push(Inst { kind: same_bits(from.ty, ty.ty), args: vec![v], result: Some(bits) });
        bits
    }

    fn find(&self, mut v: Value) -> Value {
        while let Some(&w) = self.to.get(&v) {
            v = w;
        }
        v
    }

    /// Writes the cells that may be read later into an exit.
    fn leave(&mut self, exit: &mut ExitId, state: &[Value]) {
        let cells = self.written(&self.region.exits[exit.index()], state);
        if let Some(others) = self.left.get(exit) {
            if *others == cells {
                return;
            }
            let copy = self.region.exits[exit.index()].clone();
            self.region.exits.push(copy);
            *exit = ExitId(self.region.exits.len() as u32 - 1);
        }
        self.region.exits[exit.index()].cells = cells.clone();
        self.left.insert(*exit, cells);
    }

    fn written(&self, exit: &Exit, state: &[Value]) -> Vec<(Cell, Value)> {
        let needed = |m: usize, cell: &Cell| {
            let from = (cell.at - self.memories[m].start) as i64;
            let to = from + bytes(self.region, cell) as i64;
            let live = exit.live.iter().filter(|live| live.memory == m).flat_map(|live| &live.bytes);
            live.into_iter().any(|range| range.start < to && from < range.end)
        };
        let cells = self.cells.iter().zip(state).filter(|((m, cell), _)| needed(*m, cell));
        cells.map(|(&(_, cell), &v)| (cell, self.find(v))).collect()
    }
}
