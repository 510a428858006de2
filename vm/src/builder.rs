//! Building functions instruction by instruction, with labels that are bound later.

use crate::isa::Op;
use crate::program::{Function, Inst, List, Reg, RegDecl, Span};
use crate::types::{Shape, Ty};
use foldhash::HashMap;
use std::sync::Arc;

/// A place in the code that jumps can name before it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(u32);

/// Builds one [`Function`].
///
/// ```
/// use spmdvm_vm::{FunctionBuilder, Op, Shape, Ty};
/// let mut b = FunctionBuilder::new("double");
/// let x = b.param(Shape::Varying, Ty::F32, "x");
/// let y = b.binary(Op::Add, Ty::F32, x, x);
/// b.result(y);
/// b.ret();
/// assert_eq!(b.finish().code.len(), 2);
/// ```
pub struct FunctionBuilder {
    /// All but the lists that follow.
    f: Function,
    regs: Vec<RegDecl>,
    consts: Vec<(Reg, u64)>,
    pool: Vec<Reg>,
    labels: Vec<Option<u32>>,
    known_consts: HashMap<(Ty, u64), Reg>,
    span: Span,
}

impl FunctionBuilder {
    /// An empty function.
    pub fn new(name: impl Into<String>) -> Self {
        let f = Function { name: name.into(), ..Function::default() };
        FunctionBuilder {
            f,
            regs: Vec::new(),
            consts: Vec::new(),
            pool: Vec::new(),
            labels: Vec::new(),
            known_consts: HashMap::default(),
            span: Span::default(),
        }
    }

    /// Declares the next parameter; all parameters come before any other register.
    pub fn param(&mut self, shape: Shape, ty: Ty, name: &str) -> Reg {
        assert_eq!(self.regs.len() as u32, self.f.n_params, "parameters are the first registers");
        self.f.n_params += 1;
        self.named(shape, ty, name)
    }

    /// Declares a result.
    pub fn result(&mut self, r: Reg) {
        self.f.results.push(r);
    }

    /// A fresh register.
    pub fn reg(&mut self, shape: Shape, ty: Ty) -> Reg {
        self.regs.push(RegDecl { shape, ty, name: None });
        Reg(self.regs.len() as u32 - 1)
    }

    /// A fresh register that holds a source variable.
    pub fn named(&mut self, shape: Shape, ty: Ty, name: &str) -> Reg {
        let name = (!name.is_empty()).then(|| Arc::from(name));
        self.regs.push(RegDecl { shape, ty, name });
        Reg(self.regs.len() as u32 - 1)
    }

    /// The constant register with these bits; each constant stands once.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Reg {
        if let Some(&r) = self.known_consts.get(&(ty, bits)) {
            return r;
        }
        let r = self.reg(Shape::Uniform, ty);
        self.consts.push((r, bits));
        self.known_consts.insert((ty, bits), r);
        r
    }

    /// A register for a variable in which nothing has been stored: a constant, zero, that has the variable's name, by which
    /// check mode knows it.
    pub fn unset(&mut self, ty: Ty, name: &str) -> Reg {
        let r = self.named(Shape::Uniform, ty, name);
        self.consts.push((r, 0));
        r
    }

    /// The bits of a constant register, if `r` is one.
    pub fn constant_bits(&self, r: Reg) -> Option<u64> {
        self.consts.iter().find(|c| c.0 == r).map(|c| c.1)
    }

    /// Declaration of a register.
    pub fn decl(&self, r: Reg) -> &RegDecl {
        &self.regs[r.index()]
    }

    /// Shape of a register.
    pub fn shape(&self, r: Reg) -> Shape {
        self.regs[r.index()].shape
    }

    /// Element type of a register.
    pub fn ty(&self, r: Reg) -> Ty {
        self.regs[r.index()].ty
    }

    /// The source position that following instructions get.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// The current source position.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Appends an instruction and gives its index.
    pub fn push(&mut self, inst: Inst) -> usize {
        self.f.code.push(inst);
        self.f.spans.push(self.span);
        self.f.code.len() - 1
    }

    /// Changes the instruction appended last.
    pub fn amend_last(&mut self, change: impl FnOnce(&mut Inst)) {
        if let Some(inst) = self.f.code.last_mut() {
            change(inst);
        }
    }

    /// A new label, to be bound with [`bind`](Self::bind).
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds a label to the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.f.code.len() as u32);
    }

    /// Returns whether a label is bound already (so that a jump to it goes backward).
    pub fn is_bound(&self, label: Label) -> bool {
        self.labels[label.0 as usize].is_some()
    }

    /// The shape an elementwise operation on these sources has.
    pub fn join(&self, sources: &[Reg]) -> Shape {
        let varying = sources.iter().any(|&r| !r.is_none() && self.shape(r) == Shape::Varying);
        if varying { Shape::Varying } else { Shape::Uniform }
    }

    /// Appends an elementwise operation and gives its fresh destination.
    pub fn elementwise(&mut self, op: Op, ty: Ty, from: Ty, sources: &[Reg]) -> Reg {
        let shape = self.join(sources);
        let dst_ty = op.info().result_ty(ty).unwrap_or(ty);
        let dst = self.reg(shape, dst_ty);
        let mut src = [Reg::NONE; 3];
        src[..sources.len()].copy_from_slice(sources);
        self.push(Inst { from, dst, src, ..Inst::new(op, ty) });
        dst
    }

    /// Appends an elementwise operation with one operand.
    pub fn unary(&mut self, op: Op, ty: Ty, a: Reg) -> Reg {
        self.elementwise(op, ty, ty, &[a])
    }

    /// Appends an elementwise operation (arithmetic or comparison) with two operands.
    pub fn binary(&mut self, op: Op, ty: Ty, a: Reg, b: Reg) -> Reg {
        self.elementwise(op, ty, ty, &[a, b])
    }

    /// Appends `mov` into `dst`.
    pub fn mov(&mut self, dst: Reg, a: Reg) {
        let ty = self.ty(dst);
        self.push(Inst { dst, src: [a, Reg::NONE, Reg::NONE], ..Inst::new(Op::Mov, ty) });
    }

    /// Appends a masked assignment into the varying register `dst`.
    pub fn assign(&mut self, dst: Reg, a: Reg) {
        let ty = self.ty(dst);
        self.push(Inst { dst, src: [a, Reg::NONE, Reg::NONE], ..Inst::new(Op::Assign, ty) });
    }

    /// Appends a control operation with a label and, for tests and branches, a condition.
    pub fn control(&mut self, op: Op, condition: Option<Reg>, label: Label) {
        let src = [condition.unwrap_or(Reg::NONE), Reg::NONE, Reg::NONE];
        self.push(Inst { src, aux: label.0, ..Inst::new(op, Ty::Bool) });
    }

    /// Appends a control operation without operands (`loop.begin`, `everywhere`, `each.begin`).
    pub fn plain(&mut self, op: Op) {
        self.push(Inst::new(op, Ty::Bool));
    }

    /// Appends `ret`.
    pub fn ret(&mut self) {
        self.plain(Op::Ret);
    }

    /// Puts registers into the pool.
    pub fn list(&mut self, regs: &[Reg]) -> List {
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(regs);
        List { start, len: regs.len() as u32 }
    }

    /// Reserves frame memory (`align` a power of two) and gives its offset.
    pub fn frame_slot(&mut self, size: u64, align: u64) -> u64 {
        let at = self.f.frame_size.next_multiple_of(align.max(1));
        self.f.frame_size = at + size;
        at
    }

    /// Names a register after a source variable, unless it has a name or is a constant.
    pub fn set_name(&mut self, r: Reg, name: &str) {
        let decl = &mut self.regs[r.index()];
        if decl.name.is_none() && !name.is_empty() {
            decl.name = Some(Arc::from(name));
        }
    }

    /// The last instruction, if there is one.
    pub fn last_inst(&mut self) -> Option<&mut Inst> {
        self.f.code.last_mut()
    }

    /// Number of instructions so far.
    pub fn len(&self) -> usize {
        self.f.code.len()
    }

    /// Returns whether there is no instruction yet.
    pub fn is_empty(&self) -> bool {
        self.f.code.is_empty()
    }

    /// Marks the function as a task.
    pub fn set_task(&mut self) {
        self.f.is_task = true;
    }

    /// Resolves labels and gives the function. A label that was never bound points past the end: the verifier reports it.
    pub fn finish(mut self) -> Function {
        for inst in &mut self.f.code {
            if inst.op.info().sig.has_label() {
                inst.aux = self.labels[inst.aux as usize].unwrap_or(u32::MAX);
            }
        }
        Function { regs: self.regs.into(), consts: self.consts.into(), pool: self.pool.into(), ..self.f }
    }
}
