//! Lowering of one function: registers of parameters, results and variables; what all other parts build on.

use super::control::Frame;
use super::uniformity::{Analysis, analyse};
use super::{FpMode, Lowerer};
use crate::hir::{self, Leaf, LocalId, StmtKind, TypeId};
use crate::source::Span;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use spmdvm_vm::program::{FuncId, Home, Inst, Reg, Variable};
use spmdvm_vm::verify::{MAX_CODE, MAX_FRAME_BYTES, MAX_LIST, MAX_REGS};
use spmdvm_vm::{Function, FunctionBuilder, Label, Op, Shape, Ty};
use std::rc::Rc;

/// The registers of a value, one per leaf.
pub(super) type Value = Vec<Reg>;

/// Where a variable lives.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    /// In registers, one per leaf.
    Regs(Value),
    /// In memory, at this address (a uniform `u64`).
    Memory(Reg),
}

/// A register that is the same uniform value plus the lane's index in every lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    /// The value of lane 0: uniform, of the same type.
    pub base: Reg,
}

/// The function whose body is being lowered: the one itself, or one that replaces a call of it.
pub(super) struct Body<'m> {
    pub function: &'m hir::Function,
    pub analysis: Analysis,
    pub storage: Vec<Option<Storage>>,
    /// How floating-point expressions may be combined.
    pub fp: FpMode,
}

/// Lowers one function.
pub(super) struct FunctionLowerer<'l, 'm> {
    pub cx: &'l mut Lowerer<'m>,
    pub b: FunctionBuilder,
    pub body: Body<'m>,
    /// Functions whose bodies replace calls at this point, the outermost first.
    pub inlining: Vec<hir::FuncId>,
    /// Open constructs, the innermost last.
    pub frames: Vec<Frame>,
    /// The end of the function.
    pub end: Label,
    /// Whether something jumps there.
    pub jumps_to_end: bool,
    /// Registers of the results.
    pub results: Value,
    /// Labels of `goto`.
    pub labels: HashMap<hir::LabelId, Label>,
    /// Instructions that stand in front of all others.
    prologue: Vec<Inst>,
    constants: HashMap<Reg, u64>,
    /// Registers that are written more than once: reading them later may give another value.
    pub variables: HashSet<Reg>,
    /// Registers that something will read later: they keep what they have.
    pub held: HashSet<Reg>,
    pub linear: HashMap<Reg, Linear>,
    /// Values made once in the prologue.
    broadcast: HashMap<Reg, Reg>,
    globals: HashMap<hir::GlobalId, Reg>,
    iota: Option<Reg>,
    /// Bytes of frame memory so far.
    frame_bytes: u64,
    /// The variables there, for messages and debuggers.
    in_frame: Vec<Variable>,
    /// Number of instructions when the last label was bound: what came before is not the only way here.
    pub barrier: usize,
    /// The hidden parameters of a task: indices and counts.
    pub task: Option<[Reg; 6]>,
}

/// Lowers a function with all registers and instructions.
pub(super) fn lower_function(cx: &mut Lowerer, id: hir::FuncId) -> Function {
    let function = cx.module.function(id);
    let analysis = analyse(cx, function, &[]);
    let mut b = FunctionBuilder::new(function.mangled.clone());
    let end = b.label();
    let body = Body { function, analysis, storage: vec![None; function.locals.len()], fp: cx.fp_of(function) };
    let mut lowerer = FunctionLowerer {
        cx,
        b,
        body,
        inlining: Vec::new(),
        frames: Vec::new(),
        end,
        jumps_to_end: false,
        results: Vec::new(),
        labels: HashMap::new(),
        prologue: Vec::new(),
        constants: HashMap::new(),
        variables: HashSet::new(),
        held: HashSet::new(),
        linear: HashMap::new(),
        broadcast: HashMap::new(),
        globals: HashMap::new(),
        iota: None,
        frame_bytes: 0,
        in_frame: Vec::new(),
        barrier: 0,
        task: None,
    };
    lowerer.whole(function);
    let in_frame = std::mem::take(&mut lowerer.in_frame);
    let lowered = lowerer.finish();
    let home = Home::Frame(cx.func_id(id));
    cx.program.variables.extend(in_frame.into_iter().map(|variable| Variable { home, ..variable }));
    lowered
}

impl<'m> FunctionLowerer<'_, 'm> {
    fn whole(&mut self, function: &'m hir::Function) {
        self.at(function.head_span);
        self.parameters(function);
        let Some(body) = &function.body else {
            self.cx.internal(function.head_span, "a function without a body is called");
            return self.b.ret();
        };
        let direct = self.declare_results(function, body);
        if function.n_labels > 0 {
            self.declare_all_locals();
        }
        if function.flags.unmasked {
            self.b.plain(Op::Everywhere);
            let resume = self.b.label();
            self.frames.push(Frame::Every { resume });
        }
        match body.split_last() {
            Some((last, rest)) if direct => {
                self.stmts(rest);
                if let StmtKind::Return(Some(value)) = &last.kind {
                    let regs = self.value(value);
                    self.store_results(&regs, value.span);
                }
            }
            _ => self.stmts(body),
        }
        if let Some(Frame::Every { resume }) = self.frames.pop() {
            self.bind(resume);
            self.b.control(Op::EverywhereEnd, None, self.end);
        }
        let end = self.end;
        self.bind(end);
        self.b.ret();
        if direct && self.jumps_to_end {
            // Only if no lane were left, which cannot be, but the verifier does not know.
            for r in self.results.clone() {
                self.zero_in_prologue(r);
            }
        }
        for r in self.results.clone() {
            self.b.result(r);
        }
    }

    /// Makes the registers of the results. Tells whether the only `return` is the last statement, so that they are written
    /// once.
    fn declare_results(&mut self, function: &'m hir::Function, body: &'m [hir::Stmt]) -> bool {
        let Some(leaves) = self.leaves(function.result, function.head_span) else { return false };
        self.results = leaves.iter().map(|leaf| self.b.reg(shape_of(leaf), leaf.ty)).collect();
        let mut returns = 0;
        hir::walk::any_stmt(body, &mut |stmt| {
            returns += usize::from(matches!(stmt.kind, StmtKind::Return(_)));
            false
        });
        let last = body.last().is_some_and(|stmt| matches!(stmt.kind, StmtKind::Return(Some(_))));
        let direct = returns == 1 && last && !function.flags.unmasked;
        if !direct {
            for r in self.results.clone() {
                self.zero_in_prologue(r);
                self.variables.insert(r);
            }
        }
        direct
    }

    fn store_results(&mut self, value: &[Reg], span: Span) {
        self.at(span);
        let results = self.results.clone();
        self.initialise_all(&results, value);
    }

    /// Parameters become registers; those that need memory are copied there.
    fn parameters(&mut self, function: &'m hir::Function) {
        if function.flags.task {
            self.b.set_task();
            let names = ["taskIndex0", "taskIndex1", "taskIndex2", "taskCount0", "taskCount1", "taskCount2"];
            self.task = Some(names.map(|name| self.b.param(Shape::Uniform, Ty::I32, name)));
        }
        let mut all = Vec::new();
        for &param in &function.params {
            let local = &function.locals[param.0 as usize];
            let Some(leaves) = self.leaves(local.ty, local.span) else { continue };
            let names = self.cx.module.types.leaf_names(local.name.as_str(), local.ty);
            let regs: Value =
                leaves.iter().zip(names).map(|(leaf, name)| self.b.param(shape_of(leaf), leaf.ty, &name)).collect();
            all.push((param, regs));
        }
        for (param, regs) in all {
            self.bind_parameter(param, regs);
        }
    }

    fn bind_parameter(&mut self, param: LocalId, regs: Value) {
        let local = &self.body.function.locals[param.0 as usize];
        if !local.needs_memory {
            if self.body.analysis.is_assigned(param) {
                self.variables.extend(regs.iter().copied());
            }
            self.body.storage[param.0 as usize] = Some(Storage::Regs(regs));
            return;
        }
        let address = self.frame_variable(param);
        self.body.storage[param.0 as usize] = Some(Storage::Memory(address));
        self.initialise_memory(address, local.ty, &regs, local.span);
    }

    /// Makes registers (or memory) of all variables in advance, because jumps may pass by their declarations.
    pub fn declare_all_locals(&mut self) {
        for at in 0..self.body.function.locals.len() {
            self.declare_in_advance(LocalId(at as u32));
        }
    }

    /// Makes registers (or memory) of a variable that may be used where its declaration was not executed; zero then.
    pub fn declare_in_advance(&mut self, local: LocalId) {
        if self.body.storage[local.0 as usize].is_some() {
            return;
        }
        let Some(storage) = self.new_storage(local) else { return };
        if let Storage::Regs(regs) = &storage {
            for &r in regs {
                self.zero_in_prologue(r);
            }
        }
        self.body.storage[local.0 as usize] = Some(storage);
    }

    /// Fresh registers or memory for a variable.
    pub fn new_storage(&mut self, local: LocalId) -> Option<Storage> {
        let declared = &self.body.function.locals[local.0 as usize];
        let leaves = if declared.needs_memory { None } else { self.cx.leaves(declared.ty) };
        let Some(leaves) = leaves else {
            return Some(Storage::Memory(self.frame_variable(local)));
        };
        let uniform = self.body.analysis.is_uniform_local(local);
        let names = self.cx.module.types.leaf_names(declared.name.as_str(), declared.ty);
        let shape = |leaf: &Leaf| if uniform { Shape::Uniform } else { shape_of(leaf) };
        let regs: Value =
            leaves.iter().zip(names).map(|(leaf, name)| self.b.named(shape(leaf), leaf.ty, &name)).collect();
        self.variables.extend(regs.iter().copied());
        Some(Storage::Regs(regs))
    }

    /// Frame memory for a variable; gives its address.
    pub fn frame_variable(&mut self, local: LocalId) -> Reg {
        let declared = &self.body.function.locals[local.0 as usize];
        let (address, offset) = self.frame_slot(declared.ty);
        let shape = self.cx.array_shape(declared.ty);
        let layout = self.cx.module.types.host_type(declared.ty, self.cx.lanes());
        // Whose frame it is is known in the end.
        let home = Home::Frame(FuncId(0));
        let (name, is_varying) = (declared.name.as_str().to_owned(), self.cx.module.types.shape(declared.ty));
        let varying = is_varying == hir::Shape::Varying;
        self.in_frame.push(Variable { home, name, offset, shape, layout, varying });
        address
    }

    /// Frame memory for a value of a type; gives its address.
    pub fn frame_memory(&mut self, ty: TypeId) -> Reg {
        self.frame_slot(ty).0
    }

    /// Frame memory for a value of a type: its address, and where it lies in the frame.
    fn frame_slot(&mut self, ty: TypeId) -> (Reg, u64) {
        let layout = self.cx.module.types.layout(ty, self.cx.lanes());
        self.frame_bytes = self.frame_bytes.saturating_add(layout.size.saturating_add(layout.align));
        let fits = self.frame_bytes <= MAX_FRAME_BYTES;
        if !fits {
            let name = self.cx.module.types.display(ty);
            let message =
                format!("the variables of this function are too large: {} bytes with this `{name}`", self.frame_bytes);
            self.cx.unsupported(self.body.function.head_span, message);
        }
        let offset = if fits { self.b.frame_slot(layout.size.max(1), layout.align) } else { 0 };
        let dst = self.b.reg(Shape::Uniform, Ty::U64);
        self.prologue.push(Inst { dst, imm: offset as i64, ..Inst::new(Op::FrameAddr, Ty::U64) });
        (dst, offset)
    }

    /// The scalars of a type. If there are too many this is reported.
    pub fn leaves(&mut self, ty: TypeId, span: Span) -> Option<Rc<[Leaf]>> {
        let leaves = self.cx.leaves(ty);
        if leaves.is_none() {
            let name = self.cx.module.types.display(ty);
            let message = format!("a value of type `{name}` is too large to be copied as a whole");
            self.cx.unsupported(span, message);
        }
        leaves
    }

    /// What follows stands at this place in the source. Code of a function that replaces a call stands at the call.
    pub fn at(&mut self, span: Span) {
        if self.inlining.is_empty() {
            let span = self.cx.span(span);
            self.b.set_span(span);
        }
    }

    pub fn internal(&mut self, span: Span, what: &str) {
        self.cx.internal(span, what);
    }

    // Instructions

    /// Binds a label here.
    pub fn bind(&mut self, label: Label) {
        self.b.bind(label);
        self.barrier = self.b.len();
    }

    /// The constant register with these bits.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Reg {
        let r = self.b.constant(ty, bits);
        self.constants.insert(r, bits);
        r
    }

    /// An `i64` constant.
    pub fn int(&mut self, value: i64) -> Reg {
        self.constant(Ty::I64, value as u64)
    }

    /// The bits of a constant register.
    pub fn constant_bits(&self, r: Reg) -> Option<u64> {
        self.constants.get(&r).copied()
    }

    pub fn is_varying(&self, r: Reg) -> bool {
        self.b.shape(r) == Shape::Varying
    }

    /// Appends an instruction with these operands.
    pub fn push(&mut self, op: Op, ty: Ty, from: Ty, dst: Reg, sources: &[Reg]) {
        let mut src = [Reg::NONE; 3];
        src[..sources.len()].copy_from_slice(sources);
        self.b.push(Inst { from, dst, src, ..Inst::new(op, ty) });
    }

    /// The lane's index, varying `i32`.
    pub fn iota(&mut self) -> Reg {
        if let Some(r) = self.iota {
            return r;
        }
        let dst = self.b.reg(Shape::Varying, Ty::I32);
        self.prologue.push(Inst { dst, ..Inst::new(Op::Iota, Ty::I32) });
        let base = self.constant(Ty::I32, 0);
        self.linear.insert(dst, Linear { base });
        self.iota = Some(dst);
        dst
    }

    /// The address of a global.
    pub fn global_address(&mut self, global: hir::GlobalId) -> Reg {
        if let Some(&r) = self.globals.get(&global) {
            return r;
        }
        let dst = self.b.reg(Shape::Uniform, Ty::U64);
        self.prologue.push(Inst { dst, aux: global.0, ..Inst::new(Op::GlobalAddr, Ty::U64) });
        self.globals.insert(global, dst);
        dst
    }

    /// Gives a register zero before anything else happens.
    pub fn zero_in_prologue(&mut self, dst: Reg) {
        let zero = self.constant(self.b.ty(dst), 0);
        let ty = self.b.ty(dst);
        self.prologue.push(Inst { dst, src: [zero, Reg::NONE, Reg::NONE], ..Inst::new(Op::Mov, ty) });
    }

    /// The value in a varying register.
    pub fn in_lanes(&mut self, r: Reg) -> Reg {
        if self.is_varying(r) {
            return r;
        }
        let ty = self.b.ty(r);
        if self.constants.contains_key(&r) {
            if let Some(&known) = self.broadcast.get(&r) {
                return known;
            }
            let dst = self.b.reg(Shape::Varying, ty);
            self.prologue.push(Inst { dst, src: [r, Reg::NONE, Reg::NONE], ..Inst::new(Op::Mov, ty) });
            self.broadcast.insert(r, dst);
            return dst;
        }
        let dst = self.b.reg(Shape::Varying, ty);
        self.b.mov(dst, r);
        dst
    }

    /// The value in a register of a shape.
    pub fn in_shape(&mut self, r: Reg, shape: Shape, span: Span) -> Reg {
        match shape {
            Shape::Varying => self.in_lanes(r),
            Shape::Uniform if self.is_varying(r) => {
                self.internal(span, "a varying value where a uniform one was promised");
                self.constant(self.b.ty(r), 0)
            }
            Shape::Uniform => r,
        }
    }

    fn finish(mut self) -> Function {
        let head = self.cx.span(self.body.function.head_span);
        let prologue = std::mem::take(&mut self.prologue);
        if self.cx.diagnostics.has_errors() || self.cx.diagnostics.poll() {
            // Half a function may have labels without a place.
            let name = self.body.function.mangled.clone();
            let mut empty = FunctionBuilder::new(name);
            empty.ret();
            return empty.finish();
        }
        let mut function = self.b.finish();
        let n = prologue.len() as u32;
        for inst in function.code.iter_mut().filter(|inst| inst.op.info().sig.has_label()) {
            inst.aux += n;
        }
        function.code.splice(0..0, prologue);
        function.spans.splice(0..0, std::iter::repeat_n(head, n as usize));
        super::tidy::tidy(&mut function, self.cx.options.keeps_variables, self.cx.diagnostics.stop());
        let too_many = [
            (function.regs.len(), MAX_REGS, "values"),
            (function.code.len(), MAX_CODE, "instructions"),
            (function.n_params as usize, MAX_LIST, "parameters, counting members of structs"),
        ];
        for (n, most, what) in too_many.into_iter().filter(|(n, most, _)| n > most) {
            let message = format!("this function has too many {what}: {n}, where {most} are possible");
            self.cx.unsupported(self.body.function.head_span, message);
        }
        function
    }
}

/// The shape of a leaf's register.
pub(super) fn shape_of(leaf: &Leaf) -> Shape {
    match leaf.shape {
        hir::Shape::Uniform => Shape::Uniform,
        _ => Shape::Varying,
    }
}
