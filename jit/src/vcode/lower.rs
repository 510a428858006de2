//! The walk over the blocks and instructions of a region.
//!
//! Instructions are translated where they stand, if somebody demands what they give: by the target's rules, or if it has none, by
//! a call of the runtime. A uniform value is in a register of the class that the target says. A varying one is in as many vectors
//! as it fills (one, of the size that fits, for narrow gangs); a mask in one register, bit *i* for lane *i* and 0 beyond the
//! lanes.

use super::Target;
use super::code::VCode;
use super::inst::{Base, Inst as Machine, Mem};
use crate::backend::{CompileError, Limit};
use crate::ir::{BlockId, Edge, End, ExitId, Inst, Kind, Region, Type, Value};
use crate::lowering::{
    Demand, General, Held, LastUses, Layout, Values, is_left_out, leads_to_slow_way, mask_word, visiting_word,
};
use foldhash::{HashMap, HashMapExt};
use regalloc2::{Block, VReg};
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::cell::OnceCell;
use std::mem::offset_of;

/// Most blocks, one after another, that are looked through for one that counts.
const MOST_HANDED_ON: usize = 3;

/// Where a value is.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    Nowhere,
    /// In a register: a uniform value, or a mask.
    One(VReg),
    /// In vectors.
    Pieces(Vec<VReg>),
}

/// A region on its way to instructions.
pub struct Lower<'a, T: Target> {
    /// What code is made for.
    pub target: &'a T,
    /// The region.
    pub region: &'a Region,
    /// Lanes of the gang.
    pub lanes: usize,
    /// The instructions so far.
    pub code: VCode<T>,
    pub(crate) values: Values<'a>,
    pub(crate) demand: Demand,
    /// By value.
    pub(crate) locations: Vec<Location>,
    /// By value: a uniform one in all lanes of a vector.
    pub(crate) splats: Vec<Option<VReg>>,
    /// In the block that is being translated: values that are made late.
    made_late: HashMap<Value, Vec<VReg>>,
    /// In the block that is being translated: the entries of memory regions that are at hand, by a pointer into them.
    pub(crate) entries: HashMap<Value, Mem>,
    /// Likewise, the addresses of those of pointers that vary.
    pub(crate) lane_entries: HashMap<Value, Vec<VReg>>,
    /// What the target knows of the block that is being translated.
    pub(crate) local: T::Local,
    /// Of what only exits ask for: where the scratch memory has it when it is computed.
    pub(crate) exit_places: HashMap<Value, usize>,
    /// What is to be counted, by lane of the register for counters.
    pending: Vec<u32>,
    /// By block: what one that leads there has left to it to count.
    handed_on: HashMap<BlockId, Vec<u32>>,
    /// What the code refers to by address.
    pub(crate) held: Vec<Held>,
    last_uses: OnceCell<LastUses>,
    /// The block that is being translated, and the instruction of it.
    pub(crate) block: BlockId,
    at: usize,
    /// Whether it is in a loop.
    pub(crate) is_in_loop: bool,
    blocks: HashMap<BlockId, Block>,
}

/// Translates a region; gives the instructions, and what they will refer to.
pub(super) fn lower<T: Target>(target: &T, region: &Region) -> Result<(VCode<T>, Vec<Held>), CompileError> {
    if region.frame_bytes > i32::MAX as u64 {
        return Err(CompileError::TooLarge(Limit::Frames));
    }
    let values = Values::new(region);
    let layout = Layout::new(region, &values.dominators);
    let demand = Demand::new(&values, &layout, T::FORMS);
    let exit_places = exit_places(region, &demand)?;
    let mut s = Lower {
        target,
        region,
        lanes: region.width.lanes(),
        code: VCode::default(),
        values,
        demand,
        locations: vec![Location::Nowhere; region.types.len()],
        splats: vec![None; region.types.len()],
        made_late: HashMap::new(),
        entries: HashMap::new(),
        lane_entries: HashMap::new(),
        local: T::Local::default(),
        exit_places,
        pending: vec![0; T::COUNTERS],
        handed_on: HashMap::new(),
        held: Vec::new(),
        last_uses: OnceCell::new(),
        block: BlockId(0),
        at: 0,
        is_in_loop: false,
        blocks: HashMap::new(),
    };
    // Where floats fill half a vector, so do the counters.
    let halves = T::MOVES_HALVES && 4 * region.width.lanes() <= T::VECTOR_BYTES / 2;
    s.code.counters = layout.counters(region, if halves { T::COUNTERS / 2 } else { T::COUNTERS });
    if !s.code.counters.is_empty() {
        s.code.needs_scratch(4 * T::COUNTERS);
    }
    for &id in &layout.order {
        let block = s.code.block(region.block(id).cold && id != BlockId(0));
        s.blocks.insert(id, block);
    }
    for &id in &layout.order {
        s.make_params(id);
    }
    for &id in &layout.order {
        s.is_in_loop = id != BlockId(0) && layout.depths[id.index()] > 0;
        s.translate(id)?;
    }
    debug_assert!(s.handed_on.is_empty(), "a block has been left what it does not count");
    let in_pieces = |ty: &Type| ty.is_varying() && s.n_pieces(ty.ty.size()) > 1;
    if region.types.iter().any(in_pieces) {
        s.code.remove_dead();
    }
    T::improve(&mut s.code);
    #[cfg(feature = "planted-faults")]
    T::spoil(&mut s.code);
    s.code.finish();
    Ok((s.code, s.held))
}

/// Where exits have what they compute, behind the operands of each.
fn exit_places(region: &Region, demand: &Demand) -> Result<HashMap<Value, usize>, CompileError> {
    // A mask is made where it is written.
    let is_computed = |v: Value| demand.is_left_to_exits(v) && region.ty(v) != Type::MASK;
    let left = |inst: &&Inst| inst.result.is_some_and(is_computed);
    let mut sizes = Vec::new();
    for inst in region.blocks.iter().flat_map(|block| &block.insts).filter(left) {
        let general = General::of(region, inst)?;
        sizes.extend(inst.result.map(|v| (v, general.result_at, general.result_bytes())));
    }
    let mut at = sizes.iter().map(|&(_, operands, _)| operands).max().unwrap_or(0);
    let place = |(v, _, bytes)| {
        let place = at;
        at += bytes;
        (v, place)
    };
    Ok(sizes.into_iter().map(place).collect())
}

impl<'a, T: Target> Lower<'a, T> {
    fn make_params(&mut self, id: BlockId) {
        let mut all = Vec::new();
        for &p in &self.region.block(id).params {
            if self.demand.is_demanded(p) {
                let place = self.new_location(p);
                match &place {
                    Location::One(r) => all.push(*r),
                    Location::Pieces(pieces) => all.extend(pieces),
                    Location::Nowhere => {}
                }
                self.locations[p.index()] = place;
            }
        }
        self.code.set_params(self.blocks[&id], all);
    }

    /// Registers for a value.
    fn new_location(&mut self, v: Value) -> Location {
        let ty = self.region.ty(v);
        match ty.is_varying() {
            true if ty.ty == Ty::Bool => Location::One(self.code.mask()),
            true => Location::Pieces((0..self.n_pieces(ty.ty.size())).map(|_| self.code.vector()).collect()),
            false => Location::One(self.code.reg(T::class_of(ty.ty))),
        }
    }

    /// Begins a block, where nothing is at hand that another has made for itself.
    fn begin(&mut self, block: Block) {
        self.code.begin(block);
        self.made_late.clear();
        self.forget_entries();
        T::begin_block(&mut self.local);
    }

    fn forget_entries(&mut self) {
        self.entries.clear();
        self.lane_entries.clear();
    }

    fn translate(&mut self, id: BlockId) -> Result<(), CompileError> {
        let region = self.region;
        self.begin(self.blocks[&id]);
        self.block = id;
        if let Some(counts) = self.handed_on.remove(&id) {
            self.pending = counts;
        }
        let block = region.block(id);
        for &p in &block.params {
            self.splat_if_demanded(p);
        }
        for (at, inst) in block.insts.iter().enumerate() {
            self.at = at;
            self.inst(inst)?;
            if let Some(v) = inst.result {
                self.splat_if_demanded(v);
            }
        }
        self.at = block.insts.len();
        self.end(&block.end)
    }

    /// Returns whether a value that the instruction takes is not asked for after it.
    pub(crate) fn dies(&self, v: Value) -> bool {
        let last_uses = self.last_uses.get_or_init(|| LastUses::of(&self.values));
        last_uses.dies(&self.values, v, (self.block, self.at))
    }

    fn inst(&mut self, inst: &'a Inst) -> Result<(), CompileError> {
        let removable = inst.kind.is_pure() || inst.kind.is_plain_load();
        if removable && !inst.result.is_some_and(|v| self.demand.is_demanded(v) && !self.demand.is_late(v)) {
            return Ok(());
        }
        // Where it leaves by a stub, that counts.
        let leaves_by_stub = matches!(inst.kind, Kind::Guard { .. } | Kind::Tick { .. });
        if inst.kind.exit().is_some() && !leaves_by_stub {
            self.count_pending();
        }
        if inst.kind.may_end_regions() {
            self.forget_entries();
        }
        match inst.kind {
            Kind::Const(_) => {}
            Kind::EntryReg { at } | Kind::Returned { at } => {
                self.load_result(inst, Mem::at(Base::Frame, at as i32));
            }
            Kind::EntryMask(mask) => {
                let bits = self.load_given_word(mask_word(mask));
                let mask = T::mask_of_bits(self, bits);
                self.set(inst, mask);
            }
            Kind::EntryVisiting(i) => {
                let x = self.load_given_word(visiting_word(i));
                self.set(inst, x);
            }
            Kind::FrameAddress => {
                let x = self.load_word(Mem::at(Base::Context, offset_of!(Context, frame_address) as i32));
                self.set(inst, x);
            }
            Kind::IsShared => {
                let x = self.load_word(Mem::at(Base::Context, offset_of!(Context, is_shared) as i32));
                self.set(inst, x);
            }
            Kind::Guard { exit } if is_left_out(self.region, exit) => {}
            Kind::Guard { exit } => {
                let stub = self.exit_stub(exit);
                let cond = self.condition(inst.args[0])?;
                self.code.push(Machine::Guard(T::inverted(cond), stub));
            }
            Kind::Tick { units, exit } => {
                let stub = self.exit_stub(exit);
                self.code.push(Machine::Tick(stub, units));
            }
            Kind::Count(n) if self.counts_in_register(n) => {}
            Kind::Interpret { site, exit } => self.interpret(inst, site, exit),
            Kind::Call { site, exit } => self.call_function(inst, site, exit),
            Kind::CallIndirect { exit } => self.call_indirect(exit),
            Kind::LoadAny { exit, .. } | Kind::StoreAny { exit, .. } => self.checked(inst, exit)?,
            Kind::FrameOpen { function, at, exit } => self.open_frame(inst, function, at, exit),
            Kind::FrameClose => self.close_frame(inst),
            Kind::FrameHost { .. }
            | Kind::Op { .. }
            | Kind::Zeros
            | Kind::LoadedPointer { .. }
            | Kind::RawBits { .. }
            | Kind::Splat
            | Kind::MaskBits
            | Kind::MaskFromBits
            | Kind::AnyLane
            | Kind::Reduce { .. }
            | Kind::RegionBase
            | Kind::RegionLen { .. }
            | Kind::HostAddress { .. }
            | Kind::IndexLow { .. }
            | Kind::IndexSpan { .. }
            | Kind::Load { .. }
            | Kind::LoadLanes { .. }
            | Kind::LoadStrided { .. }
            | Kind::LoadPacked { .. }
            | Kind::Gather { .. }
            | Kind::Store { .. }
            | Kind::StoreLanes { .. }
            | Kind::StoreStrided { .. }
            | Kind::StoreMasked { .. }
            | Kind::StorePacked { .. }
            | Kind::Clear { .. }
            | Kind::Scatter { .. }
            | Kind::Atomic { .. }
            | Kind::Ticks { .. }
            | Kind::Count(_)
            | Kind::FramePass
            | Kind::FramePasses { .. }
            | Kind::Chance { .. } => {
                if !T::select(self, inst) {
                    self.general(inst)?;
                }
            }
        }
        Ok(())
    }

    /// Leaves if the last call has failed.
    pub(super) fn guard_call(&mut self, exit: ExitId) {
        let stub = self.exit_stub(exit);
        self.code.push(Machine::GuardCall(stub));
    }

    /// Counts one more, if the counter is in the register.
    fn counts_in_register(&mut self, n: u32) -> bool {
        // The entry block's calls would destroy the register.
        let lane = self.code.counters.iter().position(|&c| c == n).filter(|_| self.block != BlockId(0));
        lane.inspect(|&lane| self.pending[lane] += 1).is_some()
    }

    /// Counts what is to be counted.
    fn count_pending(&mut self) {
        if let Some(place) = self.pending_counts() {
            self.code.push(Machine::Count(place));
            self.pending.fill(0);
        }
    }

    /// Where the pool has what is to be counted, if there is something.
    pub(super) fn pending_counts(&mut self) -> Option<i32> {
        let bytes = || self.pending.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        self.pending.iter().any(|&n| n != 0).then(|| self.code.constant(&bytes()))
    }

    /// Returns whether what comes next counts something anyway, in so many blocks one after another, if nothing else leads there.
    fn next_counts(&self, end: &End, blocks: usize) -> bool {
        let counts = |id: BlockId| {
            let block = self.region.block(id);
            let mut insts = block.insts.iter();
            insts.any(|inst| matches!(inst.kind, Kind::Count(n) if self.code.counters.contains(&n)))
                || self.next_counts(&block.end, blocks - 1)
        };
        let is_only_way = end.edges().all(|edge| self.values.incoming(edge.to) == 1);
        blocks != 0 && is_only_way && end.edges().any(|edge| counts(edge.to))
    }

    /// Leaves what is to be counted to the blocks that come next, if nothing else leads there and they count something anyway: mostly
    /// there is one addition for both then.
    fn hand_on_pending(&mut self, end: &End) {
        if self.next_counts(end, MOST_HANDED_ON) {
            let counts = std::mem::replace(&mut self.pending, vec![0; T::COUNTERS]);
            self.handed_on.extend(end.edges().map(|edge| (edge.to, counts.clone())));
        } else {
            self.count_pending();
        }
    }

    fn end(&mut self, end: &End) -> Result<(), CompileError> {
        self.hand_on_pending(end);
        match end {
            End::Exit(exit) => {
                let stub = self.exit_stub(*exit);
                self.code.push(Machine::Leave(stub));
            }
            End::Jump(edge) => self.go(edge),
            End::Branch { then, other, .. } if leads_to_slow_way(self.region, other) => self.go(then),
            End::Branch { cond, then, other } => {
                let all = self.demand.conjuncts(&self.values, self.block, *cond);
                let (last, first) = all.split_last().unwrap_or((cond, &[]));
                let cold = self.region.block(other.to).cold;
                let here = self.region.block(self.block).cold && self.block != BlockId(0);
                // All but the last lead to the other way by blocks of their own.
                let mut ways = Vec::new();
                for &cond in first {
                    let (next, out) = (self.code.block(here), self.code.block(cold));
                    let flags = self.condition(cond)?;
                    self.code.push(Machine::Branch(flags, next, out));
                    self.code.begin(next);
                    ways.push((other, out));
                }
                let flags = self.condition(*last)?;
                let (yes, no) = (self.way(then, 1), self.way(other, all.len()));
                self.code.push(Machine::Branch(flags, yes.0, no.0));
                let last = [(then, yes), (other, no)].into_iter().filter(|(_, (_, is_new))| *is_new);
                for (edge, block) in last.map(|(edge, (block, _))| (edge, block)).chain(ways) {
                    self.begin(block);
                    self.go(edge);
                }
            }
        }
        Ok(())
    }

    /// Where an edge of a branch, which is there several times, leads: a block of its own, if it hands something on or others
    /// lead there too.
    fn way(&mut self, edge: &Edge, times: usize) -> (Block, bool) {
        let plain = times == 1 && self.values.incoming(edge.to) == 1 && self.region.block(edge.to).params.is_empty();
        if plain {
            return (self.blocks[&edge.to], false);
        }
        let cold = self.region.block(edge.to).cold;
        (self.code.block(cold), true)
    }

    fn go(&mut self, edge: &Edge) {
        let mut args = Vec::new();
        for (&arg, &param) in edge.args.iter().zip(&self.region.block(edge.to).params) {
            if !self.demand.is_demanded(param) {
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
        self.code.push(Machine::Jump(to, args));
    }

    /// The pointer that another one is a sum from, as far as that has been computed: they lead to one memory region.
    pub fn root_at_hand(&self, mut pointer: Value) -> Value {
        while let Some(sum) = self.values.inst(pointer)
            && matches!(sum.kind, Kind::Op { op: Op::PAdd, .. })
            && let base = sum.args[0]
            && (self.values.constant(base).is_some() || matches!(self.locations[base.index()], Location::One(_)))
        {
            pointer = base;
        }
        pointer
    }

    /// Adds an instruction of the target.
    pub fn push(&mut self, inst: T::Inst) {
        self.code.push(Machine::Plain(Box::new(inst)));
    }

    /// Notes in which register an instruction's result is.
    pub fn set(&mut self, inst: &Inst, r: VReg) {
        if let Some(v) = inst.result {
            self.locations[v.index()] = Location::One(r);
        }
    }

    /// Notes in which vectors an instruction's result is.
    pub fn set_pieces(&mut self, inst: &Inst, pieces: Vec<VReg>) {
        if let Some(v) = inst.result {
            self.locations[v.index()] = Location::Pieces(pieces);
        }
    }

    /// A word that the region is given.
    fn load_given_word(&mut self, word: usize) -> VReg {
        let words = self.load_word(Mem::at(Base::Context, offset_of!(Context, words) as i32));
        self.load_word(Mem::reg(words, 8 * word as i32))
    }

    /// The flags by which a uniform bool is true.
    pub(crate) fn condition(&mut self, v: Value) -> Result<T::Cond, CompileError> {
        let inst = self.values.inst(v);
        if let Some(inst) = inst {
            if matches!(inst.kind, Kind::Op { op: Op::Not, ty: Ty::Bool, .. }) {
                return Ok(T::inverted(self.condition(inst.args[0])?));
            }
            if (T::FORMS.sets_flags)(self.region, inst) {
                if let Some(cond) = T::flags(self, inst) {
                    return Ok(cond);
                }
                // Nobody else has made it.
                if !self.demand.is_demanded(v) {
                    self.general(inst)?;
                }
            }
        }
        let x = self.gpr(v);
        Ok(T::test(self, x))
    }

    /// A value that is made where it is demanded: once in a block.
    pub(super) fn late_pieces(&mut self, v: Value) -> Vec<VReg> {
        if let Some(made) = self.made_late.get(&v) {
            return made.clone();
        }
        let inst = self.values.inst(v).unwrap_or_else(|| unreachable!("{v} is no element put into a vector"));
        let pieces = T::insert(self, inst);
        self.made_late.insert(v, pieces.clone());
        pieces
    }
}
