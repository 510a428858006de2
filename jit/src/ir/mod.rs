//! The trace IR: what a hot loop becomes between the bytecode and a back end.
//!
//! A [`Region`] is a small control-flow graph in SSA form with block parameters and one entry. Its values are uniform (one
//! scalar) or varying (one element per lane; lanes are a count, not a machine type); a varying `bool` is a mask, and
//! execution masks are ordinary values of that type. There is no execution mask beside them: what the bytecode masks, the
//! IR says with `select`, masked memory operations and branches.
//!
//! Elementwise operations are the rows of the VM's operation table, with the meaning `vm::sem` gives them; [`Kind`] adds
//! what a region needs besides. An operation that can fail (a [`Kind::Guard`], a memory access) names an [`Exit`]: the
//! whole state of the interpreter just before the instruction it stands for. The region then ends, and the interpreter does
//! that instruction itself: it traps, prints, or goes the rare way, exactly as it always does.
//!
//! Invariants ([`verify`] checks them): definitions dominate uses, block 0 has no parameters and no predecessors, types
//! and shapes fit, effects stay in order.

mod build;
mod display;
mod exit;
mod kind;
mod verify;

pub use build::Builder;
pub use exit::{Cell, EntryKind, EntryState, Exit, ExitReason, FrameState, LiveMemory, PrivateMemory, RegState};
pub use kind::{Address, EntryMask, Kind, SPARE_INDICES};
pub use verify::verify;
pub(crate) use verify::{unsigned, unsigned_of};

use crate::settings::Variant;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Reg};
use spmdvm_vm::types::{Shape, Ty, Width};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// One scalar, or one element per lane.
    pub shape: Shape,
    /// The element type.
    pub ty: Ty,
}

impl Type {
    /// A mask: one bool per lane.
    pub const MASK: Type = Type::varying(Ty::Bool);
    /// A uniform bool: what branches test.
    pub const BOOL: Type = Type::uniform(Ty::Bool);

    /// One scalar.
    pub const fn uniform(ty: Ty) -> Type {
        Type { shape: Shape::Uniform, ty }
    }

    /// One element per lane.
    pub const fn varying(ty: Ty) -> Type {
        Type { shape: Shape::Varying, ty }
    }

    /// Returns whether there is one element per lane.
    pub fn is_varying(self) -> bool {
        self.shape == Shape::Varying
    }
}

macro_rules! index {
    ($(#[$doc:meta])* $Name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $Name(pub u32);

        impl $Name {
            /// Its number, as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A value, by index into [`Region::types`].
    Value
}
index! {
    /// A block, by index into [`Region::blocks`].
    BlockId
}
index! {
    /// An exit, by index into [`Region::exits`].
    ExitId
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub kind: Kind,
    /// Its arguments.
    pub args: Vec<Value>,
    /// Its result, if it has one.
    pub result: Option<Value>,
}

/// A jump with the values of the target's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block.
    pub to: BlockId,
    /// One value per parameter.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Goes on.
    Jump(Edge),
    /// Goes on by a uniform bool.
    Branch {
        /// The condition.
        cond: Value,
        /// Taken if it is true.
        then: Edge,
        /// Taken if it is false.
        other: Edge,
    },
    /// Leaves the region.
    Exit(ExitId),
}

impl End {
    /// The edges to other blocks.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        let (a, b) = match self {
            End::Jump(edge) => (Some(edge), None),
            End::Branch { then, other, .. } => (Some(then), Some(other)),
            End::Exit(_) => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// The edges to other blocks, to be changed.
    pub fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let (a, b) = match self {
            End::Jump(edge) => (Some(edge), None),
            End::Branch { then, other, .. } => (Some(then), Some(other)),
            End::Exit(_) => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Values that every edge to it brings.
    pub params: Vec<Value>,
    /// Its instructions.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub end: End,
    /// Whether it is entered rarely. Back ends place it out of the way.
    pub cold: bool,
}

/// A call of the interpreter's handler: an instruction that a region has it do without being left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerCall {
    /// Its operation.
    pub op: Op,
    /// The function.
    pub function: FuncId,
    /// The instruction.
    pub pc: u32,
    /// Byte offset of its frame from the base of the entered one.
    pub at: u32,
    /// The registers of its operands: offset in the frame, and type.
    pub operands: Vec<(u32, Type)>,
    /// The register of its result.
    pub result: Option<(u32, Type)>,
}

/// A call of a known function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The function.
    pub callee: FuncId,
    /// Byte offset of its frame from the base of the entered one.
    pub at: u32,
    /// Its parameters: offset in its frame, and type.
    pub params: Vec<(u32, Type)>,
    /// Whether it, or what it calls, may free memory.
    pub frees: bool,
}

/// Whether a variant suited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Its code ran.
    Hit,
    /// Its test failed, and other code ran.
    Missed,
}

impl Outcome {
    /// Its name, as statistics have it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Hit => "hit",
            Outcome::Missed => "missed",
        }
    }
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// How a variant does at a place.
    Variant {
        /// The variant.
        variant: Variant,
        /// The instruction it was made for.
        place: (FuncId, u32),
        /// Which outcome is counted.
        outcome: Outcome,
    },
    /// Executions of a [`Kind::Chance`].
    Chance,
}

/// A region.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Number of lanes.
    pub width: Width,
    /// The function whose loop it is.
    pub function: FuncId,
    /// The loop's head: the instruction at which the region is entered.
    pub pc: u32,
    /// The type of every value.
    pub types: Vec<Type>,
    /// Blocks; block 0 is the entry.
    pub blocks: Vec<Block>,
    /// Snapshots.
    pub exits: Vec<Exit>,
    /// What [`Kind::Interpret`] names.
    pub handler_calls: Vec<HandlerCall>,
    /// What [`Kind::Call`] names.
    pub call_sites: Vec<CallSite>,
    /// Whether what a [`Kind::CallIndirect`] calls may free memory.
    pub unknown_calls_free: bool,
    /// Memory of frames that is private.
    pub private: Vec<PrivateMemory>,
    /// What the counters count.
    pub counters: Vec<Counter>,
    /// Uniform registers of the entered frame that the loop does not change and that decide something in it: what is worth
    /// to be a constant.
    pub arguments: Vec<Reg>,
    /// Whether something was left to other regions because it would have been too much.
    pub is_divided: bool,
    /// Bytes of register frames, from the base of the entered one, that the region needs.
    pub frame_bytes: u64,
    /// Most frames above the entered one.
    pub depth: usize,
}

impl Region {
    /// The type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.types[v.index()]
    }

    /// Returns whether an instruction may free memory.
    fn frees(&self, kind: Kind) -> bool {
        match kind {
            Kind::Interpret { site, .. } => self.handler_calls[site as usize].op == Op::Free,
            Kind::Call { site, .. } => self.call_sites[site as usize].frees,
            Kind::CallIndirect { .. } => self.unknown_calls_free,
            _ => false,
        }
    }

    /// Returns whether memory of a frame begins or ends, which a call may make, or memory is freed.
    pub fn makes_or_ends_memory(&self, kind: Kind) -> bool {
        kind.is_call() || matches!(kind, Kind::FrameOpen { .. } | Kind::FrameClose) || self.frees(kind)
    }

    /// Returns whether memory may be freed in it, or by what it calls.
    pub fn may_free(&self) -> bool {
        self.blocks.iter().flat_map(|b| &b.insts).any(|inst| self.frees(inst.kind))
    }

    /// Returns whether it makes frames with memory, or may call what does, or memory may be freed.
    pub fn may_end_memory(&self) -> bool {
        self.blocks.iter().flat_map(|b| &b.insts).any(|inst| self.makes_or_ends_memory(inst.kind))
    }

    /// Registers of the entered frame that calls write, by their offsets: with the value that is written before a call, if that is so.
    pub fn written_by_calls(&self) -> impl Iterator<Item = (u32, Option<Value>)> {
        let insts = self.blocks.iter().flat_map(|b| &b.insts);
        insts.flat_map(|inst| {
            let (result, exit) = match inst.kind {
                Kind::Returned { at } => (Some((at, None)), None),
                Kind::CallIndirect { exit } => (None, Some(exit)),
                _ => (None, None),
            };
            let own = exit.and_then(|exit| self.exits[exit.index()].frames.first());
            let before = own.into_iter().flat_map(|frame| &frame.regs).map(|r| (r.at, Some(r.value)));
            result.into_iter().chain(before)
        })
    }

    /// Returns whether it ends, whatever happens, before the first instruction of the loop.
    pub fn leaves_at_once(&self) -> bool {
        match self.blocks[0].end {
            End::Exit(exit) => matches!(&self.exits[exit.index()].frames[..], [frame] if frame.pc == self.pc),
            _ => false,
        }
    }

    /// A new value, to be defined.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// The block.
    pub fn block(&self, b: BlockId) -> &Block {
        &self.blocks[b.index()]
    }

    /// Every use of a value in a block: by its instructions, by their snapshots, by its end, and by what it hands on.
    pub fn each_use(&self, b: BlockId, mut used: impl FnMut(Value)) {
        self.each_use_at(b, |v, _| used(v));
    }

    /// The same, with the number of the instruction in the block; its end is behind the last one.
    pub fn each_use_at(&self, b: BlockId, mut used: impl FnMut(Value, usize)) {
        let (block, exit) = (self.block(b), |e: ExitId| self.exits[e.index()].values());
        for (at, inst) in block.insts.iter().enumerate() {
            inst.args.iter().for_each(|&v| used(v, at));
            inst.kind.exit().into_iter().flat_map(exit).for_each(|v| used(v, at));
        }
        let at = block.insts.len();
        match &block.end {
            End::Exit(e) => exit(*e).for_each(|v| used(v, at)),
            End::Branch { cond, .. } => used(*cond, at),
            End::Jump(_) => {}
        }
        block.end.edges().flat_map(|edge| &edge.args).for_each(|&v| used(v, at));
    }
}
