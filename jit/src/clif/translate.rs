//! The walk over the blocks and instructions of a region.
//!
//! Effects are translated where they stand. Pure instructions wait until a value of theirs is demanded (`demand`); so do loads
//! of vectors, until the next instruction that may write to memory, so that instructions can take them as operands.

use super::constants::{Constants, Keeping};
use super::demand::{lane_type, mask_type, scalar_type};
use super::exit_stubs::ExitStubs;
use super::gather::{Checked, Indices};
use super::homes::{Home, Homes};
use super::host::Features;
use super::plan::Plan;
use super::stubs::{self, Stubs};
use crate::backend::{CompileError, Limit, Rule, Rules};
use crate::exec_ir::meaning::Meaning;
use crate::ir::{BlockId, End, Inst, Kind, Region, Value};
use crate::lowering::runtime::Address;
use crate::lowering::{Area, Held, Retired, Values, is_left_out, leads_to_slow_way, mask_word, visiting_word};
use cranelift_codegen::ir::{
    self as clif, InstBuilder, MemFlagsData, SigRef, StackSlot, StackSlotData, StackSlotKind, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::mem::offset_of;
use std::sync::Arc;

/// What regions are translated with.
#[derive(Clone, Copy)]
pub(super) struct Means<'a> {
    pub features: Features,
    pub stubs: &'a Stubs,
    /// Of baseline code: what its polls look at.
    pub retired: Option<&'a Retired>,
    /// The rule of selection that a test does without.
    pub without: Option<Rule>,
}

/// A region on its way to Cranelift.
pub(super) struct Translator<'a> {
    pub region: &'a Region,
    pub values: Values<'a>,
    pub plan: Plan,
    pub homes: Homes,
    /// By cache entry: whether it is of a value with a home, and so valid in its block only.
    pub(super) local: Vec<bool>,
    /// By cache entry: where on the stack what is made is stored.
    pub(super) kept: Vec<Option<u32>>,
    /// Homes on the stack.
    pub(super) stack: Option<StackSlot>,
    pub features: Features,
    pub lanes: usize,
    pub b: FunctionBuilder<'a>,
    pub stubs: &'a Stubs,
    pub retired: Option<&'a Retired>,
    pub without: Option<Rule>,
    /// The function's parameter.
    pub context: clif::Value,
    /// The fuel of the slice: in a register, and in the context when the region is left or calls what looks at it.
    pub(super) ticks: Variable,
    /// Loads that wait, in the block that is being translated.
    waiting: Vec<Value>,
    /// What the code refers to by address.
    pub held: Vec<Held>,
    /// Where each block goes.
    pub(super) blocks: Vec<clif::Block>,
    /// The block of the region that is being translated.
    pub(super) block: BlockId,
    /// Values made so far, by slot of the plan, and the block in which they were made.
    pub(super) cache: Vec<Option<(BlockId, clif::Value)>>,
    /// In code that the rest of the block does not go through: the slots to be forgotten at its end.
    pub(super) trail: Option<Vec<usize>>,
    pub(super) constants: Constants,
    pub(super) keeping: Option<Keeping>,
    /// Where the constants used last in a block lie: the address, and the value that holds it.
    pub(super) chunk: Option<(i64, clif::Block, clif::Value)>,
    /// The address of each [`Area`], in the block that loaded it last.
    pub(super) bases: [Option<(clif::Block, clif::Value)>; 3],
    /// The exits that have been met.
    pub(super) exit_stubs: ExitStubs,
    scratch: Option<StackSlot>,
    /// Where stubs leave the runtime's answer.
    answer: Option<StackSlot>,
    /// What the last guard has checked, if it is indices.
    pub(super) checked: Option<Checked>,
    /// The indices of the last gather.
    pub(super) indices: Option<Indices>,
    /// Where inactive lanes load from, and store to.
    pub(super) own: [Option<StackSlot>; 2],
    signatures: [Option<SigRef>; 6],
}

/// Translates a region into a function; gives what the code will refer to.
pub(super) fn region(
    region: &Region,
    Means { features, stubs, retired, without }: Means<'_>,
    target: TargetFrontendConfig,
    mut b: FunctionBuilder<'_>,
) -> Result<Vec<Held>, CompileError> {
    if region.frame_bytes > i32::MAX as u64 {
        return Err(CompileError::TooLarge(Limit::Frames));
    }
    for inst in region.blocks.iter().flat_map(|b| &b.insts) {
        Meaning::of(region, inst)?;
    }
    let values = Values::new(region);
    let plan = Plan::new(&values, without);
    let homes = Homes::new(&values, &plan);
    let cache = vec![None; plan.n_slots()];
    let (local, kept) = (vec![false; plan.n_slots()], vec![None; plan.n_slots()]);
    let ticks = b.declare_var(types::I64);
    let mut t = Translator {
        region,
        values,
        features,
        lanes: region.width.lanes(),
        b,
        stubs,
        retired,
        without,
        context: clif::Value::from_u32(0),
        ticks,
        waiting: Vec::new(),
        held: Vec::new(),
        blocks: Vec::new(),
        block: BlockId(0),
        cache,
        trail: None,
        constants: Constants::default(),
        keeping: None,
        chunk: None,
        bases: [None; 3],
        exit_stubs: ExitStubs::default(),
        scratch: None,
        answer: None,
        checked: None,
        indices: None,
        own: [None; 2],
        signatures: [None; 6],
        plan,
        homes,
        local,
        kept,
        stack: None,
    };
    t.make_homes();
    t.make_blocks();
    for block in t.values.dominators.order().to_vec() {
        t.block(block);
    }
    t.make_exit_stubs();
    let Translator { mut b, mut held, constants, .. } = t;
    held.push(Arc::new(constants));
    b.seal_all_blocks();
    b.finalize(target);
    Ok(held)
}

impl Translator<'_> {
    /// Returns whether there is this rule of selection: a test may do without it.
    pub(super) fn has_rule(&self, rules: Rules, op: Op) -> bool {
        self.without != Some(Rule { rules, op })
    }

    fn make_blocks(&mut self) {
        self.blocks = self.region.blocks.iter().map(|_| self.b.create_block()).collect();
        self.b.append_block_params_for_function_params(self.blocks[0]);
        self.context = self.b.block_params(self.blocks[0])[0];
        for id in self.values.dominators.order().to_vec() {
            let (block, from) = (self.blocks[id.index()], &self.region.blocks[id.index()]);
            for &param in from.params.iter().filter(|&&p| !self.homes.is_on_stack(p)) {
                for ty in self.types_of(param) {
                    self.b.append_block_param(block, ty);
                }
            }
            if from.cold && id != BlockId(0) {
                self.b.set_cold_block(block);
            }
        }
    }

    /// The types of the pieces in which a value passes between blocks.
    pub(super) fn types_of(&self, v: Value) -> Vec<clif::Type> {
        vec![self.piece_type(v); self.plan.n_pieces(v).max(1)]
    }

    /// The type of one of them.
    pub(super) fn piece_type(&self, v: Value) -> clif::Type {
        match self.region.ty(v) {
            ty if !ty.is_varying() => scalar_type(ty.ty),
            ty if ty.ty == Ty::Bool => mask_type(self.plan.lane_width(v)),
            ty => lane_type(ty.ty),
        }
    }

    fn block(&mut self, id: BlockId) {
        self.block = id;
        let block = self.blocks[id.index()];
        self.b.switch_to_block(block);
        let block = self.keep_constants(id, block);
        let region = self.region;
        let from = region.block(id);
        if id == BlockId(0) {
            self.load_ticks();
        } else {
            let mut at = 0;
            for &param in &from.params {
                if self.homes.is_on_stack(param) {
                    continue;
                }
                for i in 0..self.types_of(param).len() {
                    let x = self.b.block_params(block)[at];
                    let slot = self.home_slot(param, i);
                    self.record(slot, x);
                    at += 1;
                }
            }
        }
        for inst in &from.insts {
            self.inst(inst);
        }
        self.end(id);
        self.keeping = None;
    }

    fn inst(&mut self, inst: &Inst) {
        match (inst.kind, inst.result) {
            // What is read from the frame and the words must be read before an exit writes there.
            (Kind::EntryReg { .. } | Kind::EntryMask(_) | Kind::EntryVisiting(_), Some(v)) => {
                if self.plan.is_used(v) && !matches!(self.homes.of(v), Some(Home::Frame(_))) {
                    self.entry(inst, v);
                }
            }
            (kind, Some(v)) if kind.is_pure() => {
                if self.plan.is_deep(v) && self.plan.is_used(v) {
                    self.force(&[v]);
                }
            }
            (kind, Some(v)) if kind.is_plain_load() && !self.plan.is_used(v) => {}
            (Kind::LoadLanes { ty }, Some(v)) if self.loads_pieces(ty) => self.waiting.push(v),
            _ => self.effect(inst),
        }
    }

    /// Makes what an instruction needs, then all that still waits to be loaded.
    fn finish_loads(&mut self, args: &[Value]) {
        if !self.waiting.is_empty() {
            self.force(args);
            let waiting = std::mem::take(&mut self.waiting);
            self.force(&waiting);
        }
    }

    /// Reads what the region is given.
    fn entry(&mut self, inst: &Inst, v: Value) {
        let flags = MemFlagsData::trusted();
        let load = |t: &mut Self, ty, at: usize| {
            let words = t.base(Area::Words);
            t.b.ins().load(ty, flags, words, at as i32)
        };
        match inst.kind {
            Kind::EntryReg { at } => self.load_register(v, at),
            Kind::EntryMask(mask) => {
                let bits = load(self, types::I64, 8 * mask_word(mask));
                let full = self.region.width.full_mask();
                let bits = if full == u64::MAX { bits } else { self.b.ins().band_imm_u(bits, full as i64) };
                // As bits: most are only handed back at exits.
                self.record(self.plan.bits_slot(v), bits);
            }
            Kind::EntryVisiting(i) => {
                let x = load(self, types::I32, 8 * visiting_word(i));
                self.record(self.plan.scalar_slot(v), x);
            }
            _ => unreachable!("no part of the entry"),
        }
    }

    /// Reads a register of a frame, at an offset from the entered one.
    fn load_register(&mut self, v: Value, at: u32) {
        let base = self.base(Area::Frame);
        let flags = MemFlagsData::trusted();
        self.take_result(v, |t, ty, i| t.b.ins().load(ty, flags, base, at as i32 + 16 * i as i32));
    }

    fn effect(&mut self, inst: &Inst) {
        let leaves_memory =
            matches!(inst.kind, Kind::Guard { .. }) || inst.kind.only_counts() || inst.kind.is_plain_load();
        if !leaves_memory {
            self.finish_loads(&inst.args);
        }
        match inst.kind {
            Kind::Guard { exit } if is_left_out(self.region, exit) => {}
            Kind::Guard { exit } => {
                let holds = self.guarded(inst.args[0]);
                self.leave_unless(holds, exit);
            }
            Kind::Tick { units, exit } => self.tick(units, exit),
            Kind::Ticks { each } => self.ticks(inst, each),
            Kind::Count(n) => {
                let counters = self.context_word(offset_of!(Context, counters));
                self.count(counters, n as i32 * 8);
            }
            Kind::FramePass => self.count(self.context, offset_of!(Context, passed_over) as i32),
            Kind::FramePasses { each } => {
                let rounds = self.scalar(inst.args[0]);
                let n = self.b.ins().imul_imm_s(rounds, i64::from(each));
                self.add_to_word(self.context, offset_of!(Context, passed_over) as i32, n);
            }
            Kind::Interpret { site, exit } => self.interpret(inst, site, exit),
            Kind::Call { site, exit } => self.call_function(inst, site, exit),
            Kind::CallIndirect { exit } => self.call_indirect(exit),
            Kind::Returned { at } => {
                if let Some(v) = inst.result.filter(|&v| self.plan.is_used(v)) {
                    self.load_register(v, at);
                }
            }
            Kind::Atomic { op, .. } => self.atomic(inst, op),
            Kind::FrameClose | Kind::Chance { .. } => {
                self.general(inst);
            }
            Kind::FrameOpen { exit, .. } => {
                // It counts the fuel of clearing the memory, or gives a unit back.
                self.store_ticks();
                let done = self.general(inst);
                self.load_ticks();
                self.leave_unless((done, false), exit);
            }
            Kind::LoadAny { exit, .. } | Kind::StoreAny { exit, .. } => {
                let done = self.checked(inst);
                // The result is there only if the instruction has not left, but nothing of an exit can name it.
                self.leave_unless((done, false), exit);
            }
            _ => self.access(inst),
        }
    }

    /// A uniform bool, and whether it is to be taken for its opposite: a branch sees through `not`.
    pub(super) fn condition(&mut self, mut v: Value) -> (clif::Value, bool) {
        let mut negated = false;
        while let Some(of) = self.negation(v) {
            (v, negated) = (of, !negated);
        }
        (self.scalar(v), negated)
    }

    /// What a bool is the negation of, if that is at hand here.
    pub(super) fn negation(&self, v: Value) -> Option<Value> {
        // What is negated in another block may not be at hand.
        let inst = self.values.inst_in(self.block, v)?;
        matches!(inst.kind, Kind::Op { op: Op::Not, ty: Ty::Bool, .. }).then(|| inst.args[0])
    }

    fn end(&mut self, id: BlockId) {
        let region = self.region;
        let block = region.block(id);
        let results = block.insts.iter().filter(|i| i.kind.is_pure()).filter_map(|i| i.result);
        let results = std::mem::take(&mut self.waiting).into_iter().chain(results);
        let mut roots: Vec<Value> = results.filter(|&v| self.plan.leaves_block(v) && !self.is_constant(v)).collect();
        roots.extend(block.end.edges().flat_map(|e| &e.args));
        self.force(&roots);
        match &block.end {
            End::Exit(exit) => self.leave(*exit),
            End::Jump(edge) => {
                let edge = self.edge(edge);
                self.go(edge);
            }
            End::Branch { then, other, .. } if leads_to_slow_way(self.region, other) => {
                let edge = self.edge(then);
                self.go(edge);
            }
            End::Branch { cond, then, other } => {
                let (mut a, mut b) = (self.edge(then), self.edge(other));
                let (cond, negated) = self.condition(*cond);
                if negated {
                    std::mem::swap(&mut a, &mut b);
                }
                let ways = [a, b].map(|edge| self.way(edge));
                let [(to, a, _), (or, b, _)] = &ways;
                self.b.ins().brif(cond, *to, a, *or, b);
                for (block, _, edge) in ways {
                    if let Some(edge) = edge {
                        self.b.switch_to_block(block);
                        self.go(edge);
                    }
                }
            }
        }
    }

    /// Makes all pieces of some values: first piece 0 of every one, then piece 1, so that few wait at a time.
    fn force(&mut self, values: &[Value]) {
        let counts: Vec<usize> = values.iter().map(|&v| self.types_of(v).len()).collect();
        for i in 0..counts.iter().copied().max().unwrap_or(0) {
            for (&v, &n) in values.iter().zip(&counts) {
                if i < n {
                    self.home_piece(v, i);
                }
            }
        }
    }

    fn context_word(&mut self, at: usize) -> clif::Value {
        self.b.ins().load(types::I64, MemFlagsData::trusted(), self.context, at as i32)
    }

    /// Adds one to a word.
    fn count(&mut self, base: clif::Value, at: i32) {
        let one = self.b.ins().iconst(types::I64, 1);
        self.add_to_word(base, at, one);
    }

    fn add_to_word(&mut self, base: clif::Value, at: i32, n: clif::Value) {
        let flags = MemFlagsData::trusted();
        let x = self.b.ins().load(types::I64, flags, base, at);
        let x = self.b.ins().iadd(x, n);
        self.b.ins().store(flags, x, base, at);
    }

    /// Calls a stub with some words; gives the runtime's answer.
    pub(super) fn call(&mut self, stub: Address, words: &[clif::Value]) -> clif::Value {
        let n = words.len() + 1;
        let signature = *self.signatures[n].get_or_insert_with(|| self.b.import_signature(stubs::signature(n)));
        let answer = *self.answer.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 4, 2))
        });
        let answer = self.b.ins().stack_addr(types::I64, answer, 0);
        let callee = self.b.ins().iconst(types::I64, stub);
        let args = [words, &[answer]].concat();
        self.b.ins().call_indirect(signature, callee, &args);
        self.b.ins().load(types::I32, MemFlagsData::trusted(), answer, 0)
    }

    /// Stack memory of at least so many bytes, for one instruction.
    pub(super) fn scratch(&mut self, bytes: usize) -> StackSlot {
        let slot = *self.scratch.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 0, 4))
        });
        let size = &mut self.b.func.sized_stack_slots[slot].size;
        *size = (*size).max(bytes as u32);
        slot
    }

    pub(super) fn stack_store(&mut self, x: clif::Value, slot: StackSlot, at: usize) {
        let memory = self.b.ins().stack_addr(types::I64, slot, at as i32);
        self.b.ins().store(MemFlagsData::trusted(), x, memory, 0);
    }
}
