//! Making a region, instruction by instruction.

use super::{Block, BlockId, Edge, End, Exit, ExitId, Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::{Ty, Width};

/// Appends instructions to the current block of a region.
pub struct Builder {
    /// The region so far.
    pub region: Region,
    current: BlockId,
    /// By value: where the instruction is that computes it.
    defined: Vec<Option<(BlockId, u32)>>,
}

impl Builder {
    /// A region with an empty entry block.
    pub fn new(width: Width, function: FuncId, pc: u32) -> Builder {
        let region = Region {
            width,
            function,
            pc,
            types: Vec::new(),
            blocks: Vec::new(),
            exits: Vec::new(),
            handler_calls: Vec::new(),
            call_sites: Vec::new(),
            unknown_calls_free: false,
            private: Vec::new(),
            counters: Vec::new(),
            arguments: Vec::new(),
            is_divided: false,
            frame_bytes: 0,
            depth: 0,
        };
        let mut builder = Builder { region, current: BlockId(0), defined: Vec::new() };
        builder.block();
        builder
    }

    /// A new block, which ends in an exit that does not exist until [`end`](Self::end) is called for it.
    pub fn block(&mut self) -> BlockId {
        let end = End::Exit(ExitId(u32::MAX));
        self.region.blocks.push(Block { params: Vec::new(), insts: Vec::new(), end, cold: false });
        BlockId(self.region.blocks.len() as u32 - 1)
    }

    /// A parameter of a block.
    pub fn param(&mut self, block: BlockId, ty: Type) -> Value {
        let v = self.value(ty);
        self.region.blocks[block.index()].params.push(v);
        v
    }

    /// Where instructions are appended from now on.
    pub fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Where instructions are appended.
    pub fn current(&self) -> BlockId {
        self.current
    }

    /// An instruction with a result.
    pub fn inst(&mut self, kind: Kind, args: &[Value], ty: Type) -> Value {
        let v = self.value(ty);
        let at = self.region.block(self.current).insts.len() as u32;
        self.defined.resize(v.index() + 1, None);
        self.defined[v.index()] = Some((self.current, at));
        self.push(Inst { kind, args: args.to_vec(), result: Some(v) });
        v
    }

    /// What computes a value, if it is an instruction.
    pub fn definition(&self, v: Value) -> Option<&Inst> {
        let (block, at) = (*self.defined.get(v.index())?)?;
        self.region.block(block).insts.get(at as usize)
    }

    /// Bytes of a pointer's region that may be read, or written.
    pub fn region_len(&mut self, pointer: Value, write: bool) -> Value {
        let ty = self.region.ty(pointer);
        let readable = self.inst(Kind::RegionLen { write: false }, &[pointer], ty);
        if write { self.inst(Kind::RegionLen { write }, &[pointer, readable], ty) } else { readable }
    }

    /// The host address of byte 0 of a pointer's region.
    pub fn region_base(&mut self, pointer: Value) -> Value {
        let len = self.region_len(pointer, false);
        self.inst(Kind::RegionBase, &[pointer, len], self.region.ty(pointer))
    }

    /// The host address of a pointer plus a displacement.
    pub fn host_address(&mut self, pointer: Value, disp: i64) -> Value {
        let len = self.region_len(pointer, false);
        self.inst(Kind::HostAddress { disp }, &[pointer, len], Type::uniform(Ty::U64))
    }

    /// An instruction without a result.
    pub fn effect(&mut self, kind: Kind, args: &[Value]) {
        self.push(Inst { kind, args: args.to_vec(), result: None });
    }

    /// An operation of the table whose result has the type of its operands (or is a bool, for comparisons).
    pub fn op(&mut self, op: Op, ty: Ty, args: &[Value]) -> Value {
        let varying = args.iter().any(|&a| self.region.ty(a).is_varying());
        let elem = if matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge) { Ty::Bool } else { ty };
        let result = if varying { Type::varying(elem) } else { Type::uniform(elem) };
        self.inst(Kind::Op { op, ty, from: ty }, args, result)
    }

    /// A constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.inst(Kind::Const(bits), &[], Type::uniform(ty))
    }

    /// A snapshot.
    pub fn exit(&mut self, exit: Exit) -> ExitId {
        self.region.exits.push(exit);
        ExitId(self.region.exits.len() as u32 - 1)
    }

    /// Ends the current block.
    pub fn end(&mut self, end: End) {
        self.region.blocks[self.current.index()].end = end;
    }

    /// Ends the current block with a jump.
    pub fn jump(&mut self, to: BlockId, args: &[Value]) {
        self.end(End::Jump(Edge { to, args: args.to_vec() }));
    }

    /// Ends the current block with a branch.
    pub fn branch(&mut self, cond: Value, then: (BlockId, &[Value]), other: (BlockId, &[Value])) {
        let edge = |(to, args): (BlockId, &[Value])| Edge { to, args: args.to_vec() };
        self.end(End::Branch { cond, then: edge(then), other: edge(other) });
    }

    fn value(&mut self, ty: Type) -> Value {
        self.region.new_value(ty)
    }

    fn push(&mut self, inst: Inst) {
        self.region.blocks[self.current.index()].insts.push(inst);
    }
}
