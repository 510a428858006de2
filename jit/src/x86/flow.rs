//! Machine instructions before registers are chosen: what regalloc2 works on.
//!
//! Instructions are those of the encoder (`iced_x86::Code`), with virtual registers for operands. There are three classes:
//! general registers (`Int`), vectors (`Float`) and masks (`Vector`). Some registers are never allocated; `env` lists them.

use super::env;
use crate::ir::ExitId;
use crate::native::runtime::Callee;
use iced_x86::{Code, OpKind, Register};
use regalloc2::{
    Block, Function, Inst as Index, InstRange, Operand, OperandConstraint, OperandKind, OperandPos, PRegSet, RegClass,
    VReg,
};

/// How much of a register an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// 8 bits of a general register.
    G8,
    /// 16.
    G16,
    /// 32.
    G32,
    /// 64.
    G64,
    /// 128 bits of a vector.
    X,
    /// 256.
    Y,
    /// 512.
    Z,
    /// A mask.
    K,
}

impl Form {
    /// The class of registers that it is of.
    pub fn class(self) -> RegClass {
        match self {
            Form::G8 | Form::G16 | Form::G32 | Form::G64 => RegClass::Int,
            Form::X | Form::Y | Form::Z => RegClass::Float,
            Form::K => RegClass::Vector,
        }
    }
}

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Reg(VReg),
    /// A register that is not allocated.
    Fixed(Register),
    /// The scratch memory of the frame.
    Scratch,
    /// The words for the runtime.
    Words,
    /// The constants that lie before the code.
    Pool,
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mem {
    pub base: Base,
    pub index: Option<VReg>,
    pub scale: u8,
    pub disp: i32,
    /// Is one element taken for all lanes?
    pub broadcast: bool,
}

impl Mem {
    pub fn at(base: Base, disp: i32) -> Mem {
        Mem { base, index: None, scale: 1, disp, broadcast: false }
    }

    pub fn reg(base: VReg, disp: i32) -> Mem {
        Mem::at(Base::Reg(base), disp)
    }

    pub fn fixed(base: Register, disp: i32) -> Mem {
        Mem::at(Base::Fixed(base), disp)
    }

    pub fn plus(self, bytes: i32) -> Mem {
        Mem { disp: self.disp + bytes, ..self }
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    /// Written.
    Def(VReg, Form),
    /// Read.
    Use(VReg, Form),
    /// Read and overwritten: the result takes the operand's register.
    Tied {
        from: VReg,
        to: VReg,
        form: Form,
    },
    /// A register that is not allocated.
    Fixed(Register),
    /// Read and written in a register that the encoding does not name.
    Both {
        use_: VReg,
        def: VReg,
        register: Register,
    },
    Mem(Mem),
    /// A number, as the encoding has it.
    Imm(OpKind, i64),
}

/// Conditions, by their number in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cond(pub u8);

impl Cond {
    pub const BELOW: Cond = Cond(2);
    pub const ABOVE_OR_EQUAL: Cond = Cond(3);
    pub const EQUAL: Cond = Cond(4);
    pub const NOT_EQUAL: Cond = Cond(5);
    pub const BELOW_OR_EQUAL: Cond = Cond(6);
    pub const ABOVE: Cond = Cond(7);
    pub const LESS: Cond = Cond(12);
    pub const GREATER_OR_EQUAL: Cond = Cond(13);
    pub const LESS_OR_EQUAL: Cond = Cond(14);
    pub const GREATER: Cond = Cond(15);

    /// The opposite.
    pub fn inverted(self) -> Cond {
        Cond(self.0 ^ 1)
    }
}

/// An instruction of the encoder.
#[derive(Clone, Debug, Default)]
pub(super) struct Plain {
    pub code: Code,
    pub args: [Option<Arg>; 4],
    /// The mask of the lanes that are written.
    pub mask: Option<VReg>,
    /// Do the others become 0?
    pub zeroing: bool,
}

impl Plain {
    pub fn new(code: Code, args: &[Arg]) -> Plain {
        let args = std::array::from_fn(|i| args.get(i).copied());
        Plain { code, args, ..Plain::default() }
    }
}

/// What an exit writes somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// The low bytes of a constant.
    Imm(u64, usize),
    /// The low bytes of a general register.
    Gpr(VReg, usize),
    /// The low bytes of a vector.
    Vector(VReg, usize),
    /// A general register's element of so many bytes, in a vector of so many bytes, so many times.
    SplatGpr(VReg, usize, usize, usize),
    /// Likewise, of a vector's first element.
    SplatVector(VReg, usize, usize, usize),
    /// Likewise, of a constant in the pool: its place.
    SplatPool(i32, usize, usize, usize),
    /// A mask as a word.
    MaskBits(VReg),
    /// A mask as bytes 0 or 1, in a vector of so many bytes; and where the pool has as many ones.
    MaskBytes(VReg, usize, i32),
    /// The low bytes of a register, so many, as the element of a lane: its number, of as many lanes as are a power of two.
    Lane { x: VReg, size: usize, lane: VReg, of: usize },
}

/// Something that an exit writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Write {
    pub base: WriteBase,
    pub at: i32,
    pub what: What,
}

/// What its place is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WriteBase {
    Frame,
    Words,
    Memory,
}

impl What {
    /// The registers that it is made of.
    pub fn registers(&self) -> impl Iterator<Item = VReg> + use<> {
        let (first, second) = match *self {
            What::Imm(..) | What::SplatPool(..) => (None, None),
            What::Lane { x, lane, .. } => (Some(x), Some(lane)),
            What::Gpr(r, _)
            | What::Vector(r, _)
            | What::SplatGpr(r, ..)
            | What::SplatVector(r, ..)
            | What::MaskBits(r)
            | What::MaskBytes(r, ..) => (Some(r), None),
        };
        first.into_iter().chain(second)
    }
}

/// A way out of the region.
#[derive(Clone, Debug)]
pub(super) struct WayOut {
    pub exit: ExitId,
    pub writes: Vec<Write>,
}

/// A machine instruction.
#[derive(Clone, Debug)]
pub(super) enum Inst {
    Plain(Box<Plain>),
    /// Makes a vector 0.
    Zero(VReg),
    /// Moves a register, from wherever it is.
    Move {
        from: VReg,
        to: VReg,
    },
    /// Goes on at a block.
    Jump(Block, Vec<VReg>),
    /// Goes on by the flags that the instruction before has set.
    Branch(Cond, Block, Block),
    /// Leaves by a way out if the flags say so.
    Guard(Cond, usize),
    /// Leaves by a way out if the last call has given 0.
    GuardCall(usize),
    /// Counts a unit of fuel.
    Tick(usize),
    /// Calls the runtime, with arguments in the words for it. All registers are kept.
    Call(Callee),
    /// Likewise, where little is at hand: what the runtime may destroy is lost.
    CallLosing(Callee),
    /// Leaves.
    Leave(usize),
}

/// The instructions of a region, in blocks.
#[derive(Default)]
pub(super) struct Flow {
    pub insts: Vec<Inst>,
    operands: Vec<Operand>,
    operand_ends: Vec<u32>,
    n_vregs: usize,
    ranges: Vec<InstRange>,
    succs: Vec<Vec<Block>>,
    preds: Vec<Vec<Block>>,
    params: Vec<Vec<VReg>>,
    pub cold: Vec<bool>,
    pub ways_out: Vec<WayOut>,
    /// Constants, one after another.
    pub pool: Vec<u8>,
    /// Bytes of scratch memory.
    pub scratch: usize,
    /// The counters that are in a register, by lane.
    pub counters: Vec<u32>,
    current: Option<Block>,
    start: usize,
}

impl Flow {
    /// A new register.
    pub fn reg(&mut self, class: RegClass) -> VReg {
        self.n_vregs += 1;
        VReg::new(self.n_vregs - 1, class)
    }

    pub fn gpr(&mut self) -> VReg {
        self.reg(RegClass::Int)
    }

    pub fn vector(&mut self) -> VReg {
        self.reg(RegClass::Float)
    }

    pub fn mask(&mut self) -> VReg {
        self.reg(RegClass::Vector)
    }

    /// A new block.
    pub fn block(&mut self, cold: bool) -> Block {
        self.ranges.push(InstRange::new(Index::new(0), Index::new(0)));
        self.succs.push(Vec::new());
        self.preds.push(Vec::new());
        self.params.push(Vec::new());
        self.cold.push(cold);
        Block::new(self.ranges.len() - 1)
    }

    /// Gives a block parameters.
    pub fn set_params(&mut self, block: Block, params: Vec<VReg>) {
        self.params[block.index()] = params;
    }

    /// Has the next instructions stand in a block.
    pub fn begin(&mut self, block: Block) {
        self.current = Some(block);
        self.start = self.insts.len();
    }

    /// Adds an instruction.
    pub fn push(&mut self, inst: Inst) {
        let current = self.current.expect("a block has begun");
        self.note_operands(&inst);
        let end = match &inst {
            Inst::Jump(to, _) => Some(vec![*to]),
            Inst::Branch(_, a, b) => Some(vec![*a, *b]),
            Inst::Leave(_) => Some(Vec::new()),
            _ => None,
        };
        self.insts.push(inst);
        if let Some(succs) = end {
            succs.iter().for_each(|s| self.preds[s.index()].push(current));
            self.succs[current.index()] = succs;
            self.ranges[current.index()] = InstRange::new(Index::new(self.start), Index::new(self.insts.len()));
            self.current = None;
        }
    }

    /// Takes back the last instruction, which does not end a block.
    pub fn pop(&mut self) -> Option<Inst> {
        let inst = self.insts.pop();
        self.operand_ends.pop();
        self.operands.truncate(self.operand_ends.last().map_or(0, |&end| end as usize));
        inst
    }

    /// The place of the last call in the entry block that loses registers.
    pub fn last_losing_call(&self) -> Option<usize> {
        let entry = self.ranges[0].iter().rev().map(|i| i.index());
        entry.into_iter().find(|&i| matches!(self.insts[i], Inst::CallLosing(_)))
    }

    /// The operands of the instructions up to one, and its own.
    pub fn operands_until(&self, inst: usize) -> &[Operand] {
        &self.operands[..self.operand_ends[inst] as usize]
    }

    /// Inserts instructions in the entry block, and notes the operands of all anew.
    pub fn insert_in_entry(&mut self, at: usize, new: Vec<Inst>) {
        let n = new.len();
        self.insts.splice(at..at, new);
        for (i, range) in self.ranges.iter_mut().enumerate() {
            let first = range.first().index() + if i == 0 { 0 } else { n };
            *range = InstRange::new(Index::new(first), Index::new(range.last().index() + 1 + n));
        }
        self.operands.clear();
        self.operand_ends.clear();
        let insts = std::mem::take(&mut self.insts);
        insts.iter().for_each(|inst| self.note_operands(inst));
        self.insts = insts;
    }

    /// Numbers the blocks in the order of their instructions, as the register allocator wants them.
    pub fn finish(&mut self) {
        let mut order: Vec<usize> = (0..self.ranges.len()).collect();
        order.sort_by_key(|&b| self.ranges[b].first().index());
        let mut numbers = vec![Block::invalid(); order.len()];
        order.iter().enumerate().for_each(|(new, &old)| numbers[old] = Block::new(new));
        let renumber = |block: &mut Block| *block = numbers[block.index()];
        for inst in &mut self.insts {
            match inst {
                Inst::Jump(to, _) => renumber(to),
                Inst::Branch(_, then, other) => [then, other].into_iter().for_each(renumber),
                _ => {}
            }
        }
        self.succs.iter_mut().chain(&mut self.preds).flatten().for_each(renumber);
        fn sorted<T: Default>(order: &[usize], of: &mut Vec<T>) {
            *of = order.iter().map(|&old| std::mem::take(&mut of[old])).collect();
        }
        self.ranges = order.iter().map(|&old| self.ranges[old]).collect();
        sorted(&order, &mut self.succs);
        sorted(&order, &mut self.preds);
        sorted(&order, &mut self.params);
        sorted(&order, &mut self.cold);
    }

    /// Bytes of the pool, from a place that is a multiple of their number; the same bytes have one place.
    pub fn constant(&mut self, bytes: &[u8]) -> i32 {
        let same = (0..self.pool.len()).step_by(bytes.len()).find(|&at| self.pool[at..].starts_with(bytes));
        let at = same.unwrap_or_else(|| {
            self.pool.resize(self.pool.len().next_multiple_of(bytes.len()), 0);
            self.pool.extend_from_slice(bytes);
            self.pool.len() - bytes.len()
        });
        at as i32
    }

    /// Sees to it that there is so much scratch memory.
    pub fn needs_scratch(&mut self, bytes: usize) {
        self.scratch = self.scratch.max(bytes.next_multiple_of(64));
    }

    /// Notes the operands of an instruction.
    fn note_operands(&mut self, inst: &Inst) {
        let any = |r| Operand::new(r, OperandConstraint::Any, OperandKind::Use, OperandPos::Early);
        match inst {
            Inst::Plain(plain) => {
                let first = self.operands.len();
                for arg in plain.args.iter().flatten() {
                    match *arg {
                        Arg::Def(r, _) => self.operands.push(Operand::reg_def(r)),
                        Arg::Use(r, _) => self.operands.push(Operand::reg_use(r)),
                        Arg::Tied { from, to, .. } => {
                            let at = self.operands.len() - first;
                            self.operands.push(Operand::reg_use(from));
                            self.operands.push(Operand::reg_reuse_def(to, at));
                        }
                        Arg::Both { use_, def, register } => {
                            self.operands.push(Operand::reg_fixed_use(use_, env::preg(register)));
                            self.operands.push(Operand::reg_fixed_def(def, env::preg(register)));
                        }
                        Arg::Mem(mem) => {
                            if let Base::Reg(r) = mem.base {
                                self.operands.push(Operand::reg_use(r));
                            }
                            self.operands.extend(mem.index.map(Operand::reg_use));
                        }
                        Arg::Imm(..) | Arg::Fixed(_) => {}
                    }
                }
                self.operands.extend(plain.mask.map(Operand::reg_use));
            }
            Inst::Zero(r) => self.operands.push(Operand::reg_def(*r)),
            Inst::Guard(_, way) | Inst::GuardCall(way) | Inst::Tick(way) | Inst::Leave(way) => {
                let registers = self.ways_out[*way].writes.iter().flat_map(|w| w.what.registers());
                self.operands.extend(registers.map(any));
            }
            Inst::Move { from, to } => self.operands.extend([any(*from), Operand::reg_def(*to)]),
            Inst::Jump(..) | Inst::Branch(..) | Inst::Call(_) | Inst::CallLosing(_) => {}
        }
        self.operand_ends.push(self.operands.len() as u32);
    }
}

impl Function for Flow {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.ranges.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.ranges[block.index()]
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[block.index()]
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.params[block.index()]
    }

    fn is_ret(&self, inst: Index) -> bool {
        matches!(self.insts[inst.index()], Inst::Leave(_))
    }

    fn is_branch(&self, inst: Index) -> bool {
        matches!(self.insts[inst.index()], Inst::Jump(..) | Inst::Branch(..))
    }

    fn branch_blockparams(&self, _block: Block, inst: Index, _succ: usize) -> &[VReg] {
        match &self.insts[inst.index()] {
            Inst::Jump(_, args) => args,
            _ => &[],
        }
    }

    fn inst_operands(&self, inst: Index) -> &[Operand] {
        let i = inst.index();
        let start = if i == 0 { 0 } else { self.operand_ends[i - 1] };
        &self.operands[start as usize..self.operand_ends[i] as usize]
    }

    fn inst_clobbers(&self, inst: Index) -> PRegSet {
        match self.insts[inst.index()] {
            Inst::CallLosing(_) => env::lost(),
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.n_vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == RegClass::Float { 8 } else { 1 }
    }
}
