//! What the recorder asks about a bytecode function: live registers, labels, loops.

use crate::counted::{CountedLoop, counted_loops};
use spmdvm_vm::flow::{each_read, each_written, edges, predecessors};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Function, GlobalId, Inst, Reg, Target};
use spmdvm_vm::properties::Properties;
use spmdvm_vm::types::{Ty, Width};
use spmdvm_vm::verify::stack_change;
use std::sync::OnceLock;

/// Facts about a function, computed once.
pub struct Analysis {
    /// Registers that may be read at or after an instruction before they are written again; a bit set per instruction.
    live: Vec<Vec<u64>>,
    /// Whether the instruction is the target of a jump.
    label: Vec<bool>,
    /// The instructions from which each instruction is reached.
    before: Vec<Vec<u32>>,
    /// The bits of constant registers.
    constants: Vec<Option<u64>>,
    /// What varying registers hold whenever they are read.
    lanes: Vec<Option<Lanes>>,
    /// The addresses of globals and functions that registers hold whenever they are read.
    addresses: Vec<Option<u64>>,
    cuts: OnceLock<Vec<bool>>,
    properties: OnceLock<Properties>,
    assuming: OnceLock<Option<Properties>>,
    counted: OnceLock<Vec<CountedLoop>>,
}

/// What is known of a register lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Each lane's number, an `i32`.
    Numbers,
    /// Whether that is below so many, at least one.
    Below(u32),
}

/// By register: whether it is written once, by an instruction.
fn written_once(f: &Function) -> Vec<bool> {
    let mut writes = vec![0u32; f.regs.len()];
    f.code.iter().for_each(|inst| each_written(f, inst, false, |r| writes[r.index()] += 1));
    writes.iter().enumerate().map(|(r, &writes)| r >= f.n_params as usize && writes == 1).collect()
}

/// The address that an instruction gives, if it gives that of a global or of a function.
pub(crate) fn address(inst: &Inst) -> Option<u64> {
    let target = match inst.op {
        Op::GlobalAddr => Target::Global(GlobalId(inst.aux), inst.imm),
        Op::FuncAddr => Target::Function(FuncId(inst.aux)),
        _ => return None,
    };
    Some(target.address())
}

/// The registers that hold the address of a global or function whenever they are read, as they are written once.
fn addresses_in_registers(f: &Function, written_once: &[bool]) -> Vec<Option<u64>> {
    let mut addresses = vec![None; f.regs.len()];
    for (inst, address) in f.code.iter().filter_map(|inst| Some((inst, address(inst)?))) {
        if written_once[inst.dst.index()] {
            addresses[inst.dst.index()] = Some(address);
        }
    }
    addresses
}

/// The registers that are written once, and what they hold then whatever the mask is.
fn lanes_in_registers(f: &Function, written_once: &[bool]) -> Vec<Option<Lanes>> {
    let is_iota = |inst: &Inst| (inst.op, inst.ty) == (Op::Iota, Ty::I32);
    let once = |r: Reg| written_once[r.index()];
    let mut lanes = vec![None; f.regs.len()];
    for inst in f.code.iter().filter(|inst| is_iota(inst) && once(inst.dst)) {
        lanes[inst.dst.index()] = Some(Lanes::Numbers);
    }
    for inst in f.code.iter().filter(|inst| (inst.op, inst.ty) == (Op::Lt, Ty::I32) && once(inst.dst)) {
        let of_numbers = lanes[inst.src[0].index()] == Some(Lanes::Numbers);
        let n = f.constant_bits(inst.src[1]).filter(|&bits| of_numbers && bits as i32 > 0);
        lanes[inst.dst.index()] = n.map(|n| Lanes::Below(n as u32));
    }
    lanes
}

/// Instructions between two places at which a function that is too large for one region is cut, at most, if there are labels.
const PIECE: usize = 250;

/// The same where there are none.
const STRAIGHT: usize = 750;

impl Analysis {
    /// Analyses a function: backward data flow by a work list.
    pub fn new(f: &Function) -> Analysis {
        let n = f.code.len();
        let words = f.regs.len().div_ceil(64);
        let before = predecessors(&f.code);
        let mut label = vec![false; n];
        for edge in (0..n).flat_map(|at| edges(&f.code, at)) {
            label[edge.to] |= edge.jumps;
        }
        let mut live = vec![vec![0; words]; n];
        let mut work: Vec<usize> = (0..n).collect();
        while let Some(at) = work.pop() {
            let now = live_in(f, at, &live, words);
            if now != live[at] {
                live[at] = now;
                work.extend(before[at].iter().map(|&p| p as usize));
            }
        }
        let mut constants = vec![None; f.regs.len()];
        f.consts.iter().for_each(|&(r, bits)| constants[r.index()] = Some(bits));
        let once = written_once(f);
        Analysis {
            live,
            label,
            before,
            constants,
            lanes: lanes_in_registers(f, &once),
            addresses: addresses_in_registers(f, &once),
            cuts: OnceLock::new(),
            properties: OnceLock::new(),
            assuming: OnceLock::new(),
            counted: OnceLock::new(),
        }
    }

    /// Returns whether a register is constant.
    pub fn is_constant(&self, reg: Reg) -> bool {
        self.constants[reg.index()].is_some()
    }

    /// What a register holds whenever it is read, if that is known lane by lane.
    pub fn lanes(&self, reg: Reg) -> Option<Lanes> {
        self.lanes[reg.index()]
    }

    /// The address of a global or function that a register holds whenever it is read, if it does.
    pub fn address(&self, reg: Reg) -> Option<u64> {
        self.addresses[reg.index()]
    }

    /// Returns whether the function is cut at an instruction, if it is too large for one region.
    pub fn is_cut(&self, f: &Function, at: u32) -> bool {
        self.cuts.get_or_init(|| self.find_cuts(f))[at as usize]
    }

    /// Cuts a function into pieces: within as few loops and entries of the mask stack as there are, where the fewest registers live. At
    /// labels, for there blocks end anyway, unless a piece has none.
    fn find_cuts(&self, f: &Function) -> Vec<bool> {
        let n = f.code.len();
        let masks = mask_depths(f);
        let loops = self.loop_depths();
        let cost = |at: &usize| {
            let live: u32 = self.live[*at].iter().map(|word| word.count_ones()).sum();
            (masks[*at] + loops[*at], live)
        };
        let mut cuts = vec![false; n];
        let mut from = 0;
        while from + PIECE < n {
            let label = (from + PIECE / 2..from + PIECE).filter(|&at| self.label[at]).min_by_key(cost);
            let further = || {
                let next = (from + PIECE..n.min(from + STRAIGHT)).find(|&at| self.label[at]);
                let is_long = from + STRAIGHT < n;
                next.or_else(|| (from + STRAIGHT / 2..from + STRAIGHT).filter(|_| is_long).min_by_key(cost))
            };
            let Some(at) = label.or_else(further) else { break };
            cuts[at] = true;
            from = at;
        }
        cuts
    }

    /// In how many loops each instruction stands, as far as their heads come first and their ends last.
    fn loop_depths(&self) -> Vec<i16> {
        let mut depths = vec![0; self.before.len()];
        for head in self.heads() {
            let last = self.before[head as usize].iter().copied().max().unwrap_or(head);
            depths[head as usize..=last as usize].iter_mut().for_each(|depth| *depth += 1);
        }
        depths
    }

    /// Registers live at an instruction, ascending. Constant registers are among them.
    pub fn live(&self, at: u32) -> impl Iterator<Item = Reg> + '_ {
        self.live[at as usize].iter().enumerate().flat_map(|(i, &word)| {
            let bits = (0..64).filter(move |b| word & (1 << b) != 0);
            bits.map(move |b| Reg(i as u32 * 64 + b))
        })
    }

    /// Returns whether a register is live at an instruction.
    pub fn is_live(&self, at: u32, reg: Reg) -> bool {
        self.live[at as usize][reg.index() / 64] & (1 << (reg.index() % 64)) != 0
    }

    /// What is known of lanes in the function, analysed when it is first asked for.
    pub fn properties(&self, f: &Function, width: Width) -> &Properties {
        self.properties.get_or_init(|| Properties::new(f, width))
    }

    /// What is known besides under assumptions that can be tested, likewise.
    pub fn assuming(&self, f: &Function, width: Width) -> Option<&Properties> {
        self.assuming.get_or_init(|| Properties::assuming(f, width)).as_ref()
    }

    /// The loops of the function that count, the outer ones first.
    pub(crate) fn counted(&self, f: &Function) -> &[CountedLoop] {
        self.counted.get_or_init(|| counted_loops(f))
    }

    /// Returns whether the instruction is the target of a jump.
    pub fn is_label(&self, at: u32) -> bool {
        self.label[at as usize]
    }

    /// The heads of loops: instructions to which a jump leads back.
    pub fn heads(&self) -> impl Iterator<Item = u32> {
        (0..self.before.len() as u32).filter(|&at| self.is_head(at))
    }

    /// Returns whether the instruction is the head of a loop.
    pub fn is_head(&self, at: u32) -> bool {
        self.before[at as usize].iter().any(|&p| p >= at)
    }

    /// The instructions of the loop with this head: those that the head leads to, and from which a jump back to it is reached without
    /// passing through it. (What comes before a loop that is entered at its test, behind the head, leads back to the head, too.)
    pub fn loop_body(&self, head: u32) -> Vec<bool> {
        let mut inside = vec![false; self.before.len()];
        inside[head as usize] = true;
        let mut work: Vec<u32> = self.before[head as usize].iter().copied().filter(|&p| p >= head).collect();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut inside[at as usize], true) {
                work.extend(&self.before[at as usize]);
            }
        }
        let mut reached = vec![false; inside.len()];
        reached[head as usize] = true;
        let mut is_more = true;
        while std::mem::take(&mut is_more) {
            for (at, before) in self.before.iter().enumerate() {
                if inside[at] && !reached[at] && before.iter().any(|&p| reached[p as usize]) {
                    (reached[at], is_more) = (true, true);
                }
            }
        }
        reached
    }
}

/// How many entries are on the mask stack before each instruction.
pub(crate) fn mask_depths(f: &Function) -> Vec<i16> {
    let mut depths = vec![None; f.code.len()];
    let mut work = vec![(0, 0)];
    while let Some((at, depth)) = work.pop() {
        if depths.get(at).is_none_or(|known: &Option<i16>| known.is_some()) {
            continue;
        }
        depths[at] = Some(depth);
        let after = depth + stack_change(f.code[at].op);
        work.extend(edges(&f.code, at).map(|edge| (edge.to, after)));
    }
    depths.into_iter().map(|depth| depth.unwrap_or(0)).collect()
}

fn live_in(f: &Function, at: usize, live: &[Vec<u64>], words: usize) -> Vec<u64> {
    let inst = &f.code[at];
    let mut now = vec![0; words];
    for edge in edges(&f.code, at) {
        let mut after = live[edge.to].clone();
        each_written(f, inst, edge.jumps, |r| after[r.index() / 64] &= !(1 << (r.index() % 64)));
        now.iter_mut().zip(after).for_each(|(a, b)| *a |= b);
    }
    each_read(f, inst, |r| now[r.index() / 64] |= 1 << (r.index() % 64));
    now
}
