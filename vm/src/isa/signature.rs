//! Operand signatures: which registers, labels and immediates an instruction of an operation has.

use crate::types::Ty;

/// The element type an operand must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElemTy {
    /// The instruction's type `ty`.
    Own,
    /// The instruction's second type `from` (conversion source, index type of memory operands).
    From,
    /// A fixed type.
    Fixed(Ty),
}

impl ElemTy {
    /// The concrete type in an instruction with types `ty` and `from`.
    pub fn resolve(self, ty: Ty, from: Ty) -> Ty {
        match self {
            ElemTy::Own => ty,
            ElemTy::From => from,
            ElemTy::Fixed(t) => t,
        }
    }
}

/// The shape an operand must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandShape {
    /// Source: either. Destination: varying exactly if one of the elementwise sources is.
    Elementwise,
    /// One value.
    Uniform,
    /// One value per lane.
    Varying,
    /// Source or destination: either, whatever the others are.
    Either,
}

/// One register operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name in documentation.
    pub name: &'static str,
    /// Its element type.
    pub ty: ElemTy,
    /// Its shape.
    pub shape: OperandShape,
    /// Whether it may be absent (the index of a memory operand).
    pub optional: bool,
}

/// What an instruction carries besides registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Nothing.
    None,
    /// A label: `aux` is the target, an instruction index.
    Label,
    /// `aux` is the scale of the index, `imm` the displacement in bytes.
    Memory,
    /// `aux` is a function; `args` and `rets` its arguments and results.
    Call,
    /// `args` and `rets`; the callee's signature must match at run time.
    CallInd,
    /// `aux` is a task; `args` its three counts, then its arguments beyond the indices and counts.
    Launch,
    /// `args` as of `Launch`; the task's signature must match at run time.
    LaunchInd,
    /// `aux` is a global, `imm` a byte offset into it.
    Global,
    /// `imm` is a byte offset into the frame's memory.
    Frame,
    /// `aux` is a function.
    Func,
    /// `aux` is a format; `args` its arguments.
    Print,
    /// `aux` is a message.
    Message,
    /// `aux` is an import that a host can provide; `args` and `rets` its arguments and results.
    Host,
}

/// The operands of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The destination, if any.
    pub dst: Option<Slot>,
    /// The sources, in the order of `Inst::src`.
    pub src: &'static [Slot],
    /// The second type, if the instruction has one: whether `from` must be written.
    pub has_from: bool,
    /// Whether the destination is also read (its old value kept in part).
    pub dst_is_read: bool,
    /// What else it carries.
    pub extra: Extra,
}

impl Extra {
    /// Returns whether it is the function value of the first source that is called or launched.
    pub fn is_indirect(self) -> bool {
        matches!(self, Extra::CallInd | Extra::LaunchInd)
    }

    /// Returns whether the instruction receives results.
    pub fn has_results(self) -> bool {
        matches!(self, Extra::Call | Extra::CallInd | Extra::Host)
    }

    /// Returns whether it has a list of arguments.
    pub fn has_arguments(self) -> bool {
        use Extra::*;
        matches!(self, Call | CallInd | Launch | LaunchInd | Print | Host)
    }
}

impl Signature {
    /// Returns whether it has a label.
    pub fn has_label(&self) -> bool {
        self.extra == Extra::Label
    }
}

/// The signatures the table names.
#[allow(missing_docs)]
pub mod sig {
    use super::ElemTy::{Fixed, From, Own};
    use super::OperandShape::{Either, Elementwise, Uniform, Varying};
    use super::{ElemTy, Extra, OperandShape, Signature, Slot};
    use crate::types::Ty;

    const fn slot(name: &'static str, ty: ElemTy, shape: OperandShape) -> Slot {
        Slot { name, ty, shape, optional: false }
    }

    const fn optional(name: &'static str, ty: ElemTy, shape: OperandShape) -> Slot {
        Slot { name, ty, shape, optional: true }
    }

    const fn make(dst: Option<Slot>, src: &'static [Slot], extra: Extra) -> Signature {
        Signature { dst, src, has_from: false, dst_is_read: false, extra }
    }

    const BOOL: ElemTy = Fixed(Ty::Bool);
    const I32: ElemTy = Fixed(Ty::I32);
    const I64: ElemTy = Fixed(Ty::I64);
    const U64: ElemTy = Fixed(Ty::U64);
    const D: Option<Slot> = Some(slot("d", Own, Elementwise));
    const ADDRESS: [Slot; 2] = [slot("base", U64, Elementwise), optional("index", From, Elementwise)];

    pub const UNARY: Signature = make(D, &[slot("a", Own, Elementwise)], Extra::None);
    pub const BINARY: Signature = make(D, &[slot("a", Own, Elementwise), slot("b", Own, Elementwise)], Extra::None);
    pub const TERNARY: Signature =
        make(D, &[slot("a", Own, Elementwise), slot("b", Own, Elementwise), slot("c", Own, Elementwise)], Extra::None);
    pub const COMPARE: Signature = make(
        Some(slot("d", BOOL, Elementwise)),
        &[slot("a", Own, Elementwise), slot("b", Own, Elementwise)],
        Extra::None,
    );
    pub const REDUCE: Signature = make(Some(slot("d", Own, Uniform)), &[slot("v", Own, Varying)], Extra::None);

    // A uniform destination with a varying source is refused by the verifier (`Either` sources may be broadcast only).
    pub const MOVE: Signature = make(Some(slot("d", Own, Either)), &[slot("a", Own, Either)], Extra::None);
    pub const ASSIGN: Signature =
        Signature { dst_is_read: true, ..make(Some(slot("d", Own, Varying)), &[slot("a", Own, Either)], Extra::None) };
    pub const SELECT: Signature =
        make(D, &[slot("c", BOOL, Elementwise), slot("a", Own, Elementwise), slot("b", Own, Elementwise)], Extra::None);
    pub const CONVERT: Signature =
        Signature { has_from: true, ..make(D, &[slot("a", From, Elementwise)], Extra::None) };
    pub const BITCAST: Signature = CONVERT;

    pub const IOTA: Signature = make(Some(slot("d", Own, Varying)), &[], Extra::None);
    pub const SHUFFLE: Signature =
        make(Some(slot("d", Own, Varying)), &[slot("v", Own, Varying), slot("index", I32, Varying)], Extra::None);
    pub const EXTRACT: Signature =
        make(Some(slot("d", Own, Uniform)), &[slot("v", Own, Varying), slot("index", I32, Uniform)], Extra::None);
    pub const INSERT: Signature = make(
        Some(slot("d", Own, Varying)),
        &[slot("v", Own, Varying), slot("index", I32, Uniform), slot("x", Own, Uniform)],
        Extra::None,
    );
    pub const MASK_GET: Signature = make(Some(slot("d", Own, Varying)), &[], Extra::None);
    pub const MASK_BITS: Signature = make(Some(slot("d", Own, Uniform)), &[], Extra::None);
    pub const PACK_MASK: Signature = make(Some(slot("d", Own, Uniform)), &[slot("v", BOOL, Varying)], Extra::None);
    pub const VOTE: Signature = make(Some(slot("d", Own, Uniform)), &[slot("v", BOOL, Varying)], Extra::None);

    pub const PTR_ADD: Signature =
        make(D, &[slot("base", Own, Elementwise), slot("offset", I64, Elementwise)], Extra::None);
    pub const GLOBAL: Signature = make(Some(slot("d", Own, Uniform)), &[], Extra::Global);
    pub const FRAME: Signature = make(Some(slot("d", Own, Uniform)), &[], Extra::Frame);
    pub const FUNC: Signature = make(Some(slot("d", Own, Uniform)), &[], Extra::Func);

    pub const LOAD: Signature = Signature { has_from: true, ..make(D, &ADDRESS, Extra::Memory) };
    pub const LOAD_LANE: Signature =
        Signature { has_from: true, ..make(Some(slot("d", Own, Varying)), &ADDRESS, Extra::Memory) };
    pub const STORE: Signature = Signature {
        has_from: true,
        ..make(None, &[ADDRESS[0], ADDRESS[1], slot("value", Own, Elementwise)], Extra::Memory)
    };
    pub const STORE_LANE: Signature = Signature {
        has_from: true,
        ..make(None, &[ADDRESS[0], ADDRESS[1], slot("value", Own, Either)], Extra::Memory)
    };
    pub const MEM_COPY: Signature = make(
        None,
        &[slot("to", U64, Elementwise), slot("from", U64, Elementwise), slot("bytes", I64, Elementwise)],
        Extra::None,
    );
    pub const MEM_SET: Signature = make(
        None,
        &[slot("to", U64, Elementwise), slot("value", I32, Elementwise), slot("bytes", I64, Elementwise)],
        Extra::None,
    );
    pub const ALLOC: Signature = make(D, &[slot("bytes", I64, Elementwise)], Extra::None);
    pub const FREE: Signature = make(None, &[slot("p", U64, Elementwise)], Extra::None);
    pub const ATOMIC: Signature = make(D, &[slot("p", U64, Elementwise), slot("value", Own, Elementwise)], Extra::None);
    pub const ATOMIC_CAS: Signature = make(
        D,
        &[slot("p", U64, Elementwise), slot("expected", Own, Elementwise), slot("new", Own, Elementwise)],
        Extra::None,
    );

    pub const PRINT: Signature = make(None, &[], Extra::Print);
    pub const ASSERT: Signature = make(None, &[slot("c", Own, Either)], Extra::Message);
    pub const ABORT: Signature = make(None, &[], Extra::Message);
    pub const CLOCK: Signature = make(Some(slot("d", Own, Uniform)), &[], Extra::None);

    pub const PLAIN: Signature = make(None, &[], Extra::None);
    pub const JUMP: Signature = make(None, &[], Extra::Label);
    pub const BRANCH: Signature = make(None, &[slot("c", BOOL, Uniform)], Extra::Label);
    pub const HOST: Signature = make(None, &[], Extra::Host);
    pub const CALL: Signature = make(None, &[], Extra::Call);
    pub const CALL_IND: Signature = make(None, &[slot("f", U64, Uniform)], Extra::CallInd);
    pub const LAUNCH: Signature = make(None, &[], Extra::Launch);
    pub const LAUNCH_IND: Signature = make(None, &[slot("f", U64, Uniform)], Extra::LaunchInd);
    pub const MASK_TEST: Signature = make(None, &[slot("c", BOOL, Varying)], Extra::Label);
    pub const MASK_JUMP: Signature = make(None, &[], Extra::Label);
    pub const BACK: Signature = make(None, &[], Extra::Label);
    pub const EACH: Signature = make(Some(slot("d", Own, Uniform)), &[], Extra::Label);
    pub const EACH_UNIQUE: Signature = make(Some(slot("d", Own, Uniform)), &[slot("v", Own, Varying)], Extra::Label);
}
