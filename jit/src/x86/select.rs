//! The walk over the blocks and instructions of a region.
//!
//! Instructions are translated where they stand, if somebody needs what they give. A uniform value is in a general register, or,
//! if it is a `float` or `double`, at the bottom of a vector register. A varying one is in as many vectors as it fills (one, of
//! the size that fits, for gangs of up to 64 bytes); a mask in one mask register, bit *i* for lane *i* and 0 beyond the lanes.

use super::counts;
use super::env::{CONTEXT, FRAME, TICKS};
use super::flow::Flow;
use super::gather::Gathered;
use super::inst::{Arg, Cond, Form, Inst as Machine, Mem, Plain, WayOut};
use super::layout::Layout;
use super::needs::{self, Needs};
use crate::dominance::Dominators;
use crate::exec_ir::meaning::normalised;
use crate::ir::{BlockId, Edge, End, EntryMask, ExitId, Inst, Kind, Region, Value};
use crate::native::{Held, is_left_out, leads_to_slow_way};
use iced_x86::{Code, OpKind};
use regalloc2::{Block, RegClass, VReg};
use spmdvm_vm::interp::native::{Context, ENTRY_WORDS, FRAME_WORDS};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;
use std::mem::offset_of;

/// Where a value is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Nowhere,
    /// In a register: a uniform value, or a mask.
    One(VReg),
    /// In vectors.
    Pieces(Vec<VReg>),
}

/// A region on its way to machine instructions.
pub(super) struct Select<'a> {
    pub region: &'a Region,
    pub lanes: usize,
    pub flow: Flow,
    pub needs: Needs,
    /// By value.
    pub places: Vec<Place>,
    /// By value: a uniform one in all lanes of a vector of 512 bits.
    pub splats: Vec<Option<VReg>>,
    /// In the block that is being translated: parts of masks, by the mask's register and the first lane.
    pub parts: HashMap<(VReg, usize), VReg>,
    /// Likewise: values that are made late.
    pub made_late: HashMap<Value, Vec<VReg>>,
    /// Likewise: numbers of elements that permutations take, by their place in the pool.
    pub choices: HashMap<i32, VReg>,
    /// Likewise: what gathers have read.
    pub gathered: Gathered,
    /// What is to be counted, by lane of the register for counters.
    pub pending: [u32; counts::MOST],
    /// What the code refers to by address.
    pub held: Vec<Held>,
    /// The block that is being translated.
    pub block: BlockId,
    pub dominators: Dominators,
    blocks: HashMap<BlockId, Block>,
    pub ways_into: HashMap<BlockId, usize>,
}

/// Translates a region; gives the machine instructions, and what they will refer to.
pub(super) fn select(region: &Region) -> Result<(Flow, Vec<Held>), String> {
    if region.frame_bytes > i32::MAX as u64 {
        return Err("its frames are larger than 2 GiB".into());
    }
    let dominators = Dominators::new(region);
    let layout = Layout::new(region, &dominators);
    let needs = Needs::new(region, &dominators, &layout);
    let mut s = Select {
        region,
        lanes: region.width.lanes(),
        flow: Flow::default(),
        needs,
        places: vec![Place::Nowhere; region.types.len()],
        splats: vec![None; region.types.len()],
        parts: HashMap::new(),
        made_late: HashMap::new(),
        choices: HashMap::new(),
        gathered: Gathered::default(),
        pending: [0; counts::MOST],
        held: Vec::new(),
        block: BlockId(0),
        dominators,
        blocks: HashMap::new(),
        ways_into: HashMap::new(),
    };
    s.flow.counters = counts::chosen(region, &layout);
    if !s.flow.counters.is_empty() {
        s.flow.needs_scratch(64);
    }
    for &id in &layout.order {
        let block = s.flow.block(region.block(id).cold && id != BlockId(0));
        s.blocks.insert(id, block);
        for edge in region.block(id).end.edges() {
            *s.ways_into.entry(edge.to).or_default() += 1;
        }
    }
    for &id in &layout.order {
        s.make_params(id);
    }
    for &id in &layout.order {
        s.translate(id)?;
    }
    #[cfg(feature = "planted-faults")]
    super::faults::spoil(&mut s.flow);
    s.flow.finish();
    Ok((s.flow, s.held))
}

impl<'a> Select<'a> {
    /// The constant that a uniform value is.
    pub fn constant_of(&self, v: Value) -> Option<u64> {
        match self.inst_of(v)?.kind {
            Kind::Const(bits) => Some(normalised(self.region.ty(v).ty, bits)),
            _ => None,
        }
    }

    /// The constant that all lanes of a value are.
    pub fn constant_lanes(&self, v: Value) -> Option<u64> {
        match self.inst_of(v)?.kind {
            Kind::Splat => self.constant_of(self.inst_of(v)?.args[0]),
            _ => self.constant_of(v),
        }
    }

    /// The instruction that defines a value.
    pub fn inst_of(&self, v: Value) -> Option<&'a Inst> {
        needs::definition(self.region, &self.needs.definitions, v)
    }

    fn make_params(&mut self, id: BlockId) {
        let mut all = Vec::new();
        for &p in &self.region.block(id).params {
            if self.needs.is_needed(p) {
                let place = self.new_place(p);
                match &place {
                    Place::One(r) => all.push(*r),
                    Place::Pieces(pieces) => all.extend(pieces),
                    Place::Nowhere => {}
                }
                self.places[p.index()] = place;
            }
        }
        self.flow.set_params(self.blocks[&id], all);
    }

    /// Registers for a value.
    fn new_place(&mut self, v: Value) -> Place {
        let ty = self.region.ty(v);
        match ty.is_varying() {
            true if ty.ty == Ty::Bool => Place::One(self.flow.mask()),
            true => Place::Pieces((0..self.n_pieces(ty.ty.size())).map(|_| self.flow.vector()).collect()),
            false => Place::One(self.flow.reg(class_of(ty.ty))),
        }
    }

    /// Begins a block, where nothing is at hand that another has made for itself.
    fn begin(&mut self, block: Block) {
        self.flow.begin(block);
        self.parts.clear();
        self.made_late.clear();
        self.choices.clear();
        self.gathered.clear();
    }

    fn translate(&mut self, id: BlockId) -> Result<(), String> {
        let region = self.region;
        self.begin(self.blocks[&id]);
        self.block = id;
        let block = region.block(id);
        for &p in &block.params {
            self.splat_if_needed(p);
        }
        for inst in &block.insts {
            self.inst(inst)?;
            if let Some(v) = inst.result {
                self.splat_if_needed(v);
            }
        }
        self.end(&block.end);
        Ok(())
    }

    fn inst(&mut self, inst: &'a Inst) -> Result<(), String> {
        let removable = inst.kind.is_pure() || inst.kind.is_plain_load();
        if removable && !inst.result.is_some_and(|v| self.needs.is_needed(v) && !self.needs.is_late(v)) {
            return Ok(());
        }
        if inst.kind.exit().is_some() {
            self.count_pending();
        }
        match inst.kind {
            Kind::Const(_) => {}
            Kind::EntryReg { at } => self.load_result(inst, Mem::fixed(FRAME, at as i32)),
            Kind::EntryMask(mask) => {
                let word = match mask {
                    EntryMask::Execution => 0,
                    EntryMask::Restore(i) => FRAME_WORDS + ENTRY_WORDS * i as usize,
                    EntryMask::Other(i) => FRAME_WORDS + 1 + ENTRY_WORDS * i as usize,
                };
                let bits = self.load_word(word);
                let mask = self.mask_of_bits(bits);
                self.set(inst, mask);
            }
            Kind::EntryVisiting(i) => {
                let x = self.load_word(FRAME_WORDS + 2 + ENTRY_WORDS * i as usize);
                self.set(inst, x);
            }
            Kind::FrameAddress => {
                let x = self.load_64(Mem::fixed(CONTEXT, offset_of!(Context, frame_address) as i32));
                self.set(inst, x);
            }
            Kind::FrameHost { at, .. } => {
                let base = self.load_64(Mem::fixed(CONTEXT, offset_of!(Context, memory_base) as i32));
                let offset = self.imm(at);
                let x = self.gpr_binary(Code::Add_rm64_r64, Form::G64, base, offset);
                self.set(inst, x);
            }
            Kind::Op { op, ty, from } => self.op(inst, op, ty, from)?,
            Kind::Splat => self.splat(inst),
            Kind::MaskBits => {
                let mask = self.mask(inst.args[0]);
                let bits = self.bits_of_mask(mask);
                self.set(inst, bits);
            }
            Kind::MaskFromBits => {
                let bits = self.gpr(inst.args[0]);
                let mask = self.mask_of_bits(bits);
                self.set(inst, mask);
            }
            Kind::AnyLane => {
                let cond = self.flags_of(inst);
                let x = self.bool_of(cond);
                self.set(inst, x);
            }
            Kind::Guard { exit } if is_left_out(self.region, exit) => {}
            Kind::Guard { exit } => {
                let way = self.way_out(exit);
                let cond = self.condition(inst.args[0]);
                self.flow.push(Machine::Guard(cond.inverted(), way));
            }
            Kind::Tick { exit } => {
                let way = self.way_out(exit);
                self.flow.push(Machine::Tick(way));
            }
            Kind::Ticks => self.ticks(inst),
            Kind::Count(n) => self.count(n),
            Kind::Interpret { site, exit } => self.interpret(inst, site, exit),
            Kind::LoadAny { exit, .. } | Kind::StoreAny { exit, .. } => self.checked(inst, exit)?,
            Kind::FrameOpen { function, at, exit } => self.open_frame(inst, function, at, exit),
            Kind::FrameClose => self.close_frame(inst),
            Kind::Load { .. } | Kind::LoadLanes { .. } | Kind::LoadStrided { .. } | Kind::Gather { .. } => {
                self.load(inst)?;
            }
            Kind::Store { .. }
            | Kind::StoreLanes { .. }
            | Kind::StoreStrided { .. }
            | Kind::StoreMasked { .. }
            | Kind::Scatter { .. }
            | Kind::Clear { .. } => self.store(inst)?,
            Kind::Reduce { op, ty } => self.reduce(inst, op, ty)?,
            Kind::RegionLen { .. } | Kind::HostAddress { .. } | Kind::IndexLow { .. } | Kind::IndexSpan { .. } => {
                self.ask(inst)?;
            }
            Kind::RegionBase | Kind::Chance { .. } => self.general(inst)?,
        }
        Ok(())
    }

    /// Leaves if the last call has failed.
    pub fn guard_call(&mut self, exit: ExitId) {
        let way = self.way_out(exit);
        self.flow.push(Machine::GuardCall(way));
    }

    fn ticks(&mut self, inst: &Inst) {
        let most = self.gpr(inst.args[0]);
        let ticks = self.copy_of(TICKS);
        let zero = self.imm(0);
        let left = self.larger(Cond::GREATER, ticks, zero);
        let n = self.larger(Cond::BELOW, left, most);
        self.plain(Code::Sub_rm64_r64, &[Arg::Fixed(TICKS), Arg::Use(n, Form::G64)]);
        self.set(inst, n);
    }

    /// Of two integers of 64 bits the one for which a condition holds.
    pub fn larger(&mut self, cond: Cond, a: VReg, b: VReg) -> VReg {
        self.compare(Form::G64, a, b);
        self.choose(cond, a, b)
    }

    fn end(&mut self, end: &End) {
        self.count_pending();
        match end {
            End::Exit(exit) => {
                let way = self.way_out(*exit);
                self.flow.push(Machine::Leave(way));
            }
            End::Jump(edge) => self.go(edge),
            End::Branch { then, other, .. } if leads_to_slow_way(self.region, other) => self.go(then),
            End::Branch { cond, then, other } => {
                let all = self.needs.conjuncts(self.region, self.block, *cond);
                let (last, first) = all.split_last().unwrap_or((cond, &[]));
                let cold = self.region.block(other.to).cold;
                let here = self.region.block(self.block).cold && self.block != BlockId(0);
                // All but the last lead to the other way by blocks of their own.
                let mut ways = Vec::new();
                for &cond in first {
                    let (next, out) = (self.flow.block(here), self.flow.block(cold));
                    let flags = self.condition(cond);
                    self.flow.push(Machine::Branch(flags, next, out));
                    self.flow.begin(next);
                    ways.push((other, out));
                }
                let flags = self.condition(*last);
                let (yes, no) = (self.way(then, 1), self.way(other, all.len()));
                self.flow.push(Machine::Branch(flags, yes.0, no.0));
                let last = [(then, yes), (other, no)].into_iter().filter(|(_, (_, is_new))| *is_new);
                for (edge, block) in last.map(|(edge, (block, _))| (edge, block)).chain(ways) {
                    self.begin(block);
                    self.go(edge);
                }
            }
        }
    }

    /// Where an edge of a branch, which is there several times, leads: a block of its own, if it hands something on or others lead there
    /// too.
    fn way(&mut self, edge: &Edge, times: usize) -> (Block, bool) {
        let plain = times == 1 && self.ways_into[&edge.to] == 1 && self.region.block(edge.to).params.is_empty();
        if plain {
            return (self.blocks[&edge.to], false);
        }
        let cold = self.region.block(edge.to).cold;
        (self.flow.block(cold), true)
    }

    fn go(&mut self, edge: &Edge) {
        let mut args = Vec::new();
        for (&arg, &param) in edge.args.iter().zip(&self.region.block(edge.to).params) {
            if !self.needs.is_needed(param) {
                continue;
            }
            let ty = self.region.ty(param);
            match ty.is_varying() {
                true if ty.ty == Ty::Bool => args.push(self.mask(arg)),
                true => (0..self.n_pieces(ty.ty.size())).for_each(|i| args.push(self.piece(arg, ty.ty.size(), i))),
                false => args.push(self.scalar(arg)),
            }
        }
        let to = self.blocks[&edge.to];
        self.flow.push(Machine::Jump(to, args));
    }

    /// A way out by an exit.
    fn way_out(&mut self, exit: ExitId) -> usize {
        let writes = self.snapshot(exit);
        self.flow.ways_out.push(WayOut { exit, writes });
        self.flow.ways_out.len() - 1
    }

    /// Adds an instruction of the encoder.
    pub fn plain(&mut self, code: Code, args: &[Arg]) {
        self.flow.push(Machine::Plain(Box::new(Plain::new(code, args))));
    }

    /// Likewise, one that writes the lanes of a mask only.
    pub fn plain_masked(&mut self, code: Code, args: &[Arg], mask: VReg, zeroing: bool) {
        self.flow.push(Machine::Plain(Box::new(Plain { mask: Some(mask), zeroing, ..Plain::new(code, args) })));
    }

    /// Notes where an instruction's result is.
    pub fn set(&mut self, inst: &Inst, r: VReg) {
        if let Some(v) = inst.result {
            self.places[v.index()] = Place::One(r);
        }
    }

    pub fn set_pieces(&mut self, inst: &Inst, pieces: Vec<VReg>) {
        if let Some(v) = inst.result {
            self.places[v.index()] = Place::Pieces(pieces);
        }
    }

    fn load_word(&mut self, word: usize) -> VReg {
        let words = self.load_64(Mem::fixed(CONTEXT, offset_of!(Context, words) as i32));
        self.load_64(Mem::reg(words, 8 * word as i32))
    }

    /// The flags by which a uniform bool is true.
    pub fn condition(&mut self, v: Value) -> Cond {
        match self.inst_of(v) {
            Some(inst) if matches!(inst.kind, Kind::Op { op: Op::Not, ty: Ty::Bool, .. }) => {
                self.condition(inst.args[0]).inverted()
            }
            Some(inst) if needs::sets_flags(self.region, inst) => self.flags_of(inst),
            _ => {
                let x = self.gpr(v);
                self.test(x);
                Cond::NOT_EQUAL
            }
        }
    }

    /// The flags of an instruction that [`needs::sets_flags`].
    fn flags_of(&mut self, inst: &Inst) -> Cond {
        match inst.kind {
            Kind::Op { op, ty, .. } => self.compare_scalars(op, ty, inst.args[0], inst.args[1]),
            _ => {
                let mask = self.mask(inst.args[0]);
                let k = Arg::Use(mask, Form::K);
                self.plain(Code::VEX_Kortestq_kr_kr, &[k, k]);
                Cond::NOT_EQUAL
            }
        }
    }
}

/// The class of registers that uniform values of a type are in.
pub(super) fn class_of(ty: Ty) -> RegClass {
    if matches!(ty, Ty::F32 | Ty::F64) { RegClass::Float } else { RegClass::Int }
}

/// An immediate operand of 8 bits.
pub(super) fn imm8(x: u8) -> Arg {
    Arg::Imm(OpKind::Immediate8, x as i64)
}
