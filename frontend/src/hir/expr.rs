//! Expressions and places.

use super::{FuncId, GlobalId, LocalId, TypeId};
use crate::source::Span;
use spmdvm_vm::{Op, Ty};

/// A value. Every conversion is explicit, so operands have exactly the types their operation needs.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type; `void` for calls without result, `delete` and such.
    pub ty: TypeId,
    /// Where it stands; for an inserted conversion, that of its operand.
    pub span: Span,
}

/// The kinds of values.
///
/// "Elementwise" operations take scalars or short vectors (both operands of one type, shape included).
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Stands for what was reported already. Does not occur in a module without errors.
    Error,
    /// A constant: the bits of a uniform scalar, enumerator, or pointer (0: null).
    Const(u64),
    /// Zero of any type: all members, elements and lanes.
    Zero,
    /// `programIndex`: the lane's index, varying `int32`.
    ProgramIndex,
    /// What a task knows of itself, uniform `int32` (or `uint32`).
    Task(TaskBuiltin),
    /// Reads a place. Of array type only as the initialiser of an array: a copy.
    Load(Place),
    /// The address of a place: of pointer or reference type. An array that decays is the address of the array, typed as
    /// a pointer to its element.
    AddressOf(Place),
    /// A function as a value.
    FunctionAddress(FuncId),
    /// A conversion.
    Cast(Cast, Box<Expr>),
    /// An elementwise operation: `Neg`, `Not` (complement of integers, "not" of bools).
    Unary(Op, Box<Expr>),
    /// An elementwise operation: `Add Sub Mul IDiv IRem FDiv FRem And Or Xor Shl Shr`, or a comparison `Eq Ne Lt Le Gt
    /// Ge`, whose type is bool of the operands' shape (a vector of bools for vectors). Pointers are compared as `u64`.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `pointer + index` (or `-`), the index an `int32` or `int64` scalar (or unsigned) of any shape, counted in elements
    /// (instances for `soa`) of the pointer's pointee. The result is varying if either is.
    PointerOffset {
        /// The pointer.
        pointer: Box<Expr>,
        /// How many elements.
        index: Box<Expr>,
        /// Whether backward.
        subtract: bool,
    },
    /// The number of elements between two pointers of one type and shape, `int64`.
    PointerDifference(Box<Expr>, Box<Expr>),
    /// `a && b` (`is_or`: `a || b`) of bools of one shape. Uniform: `rhs` is evaluated only if `lhs` does not decide.
    /// Varying: `rhs` is evaluated for the lanes where `lhs` does not decide; where [`Expr::is_speculable`] says that
    /// cannot be told apart, both may be computed and combined.
    Logical {
        /// Whether `||`.
        is_or: bool,
        /// The left operand.
        lhs: Box<Expr>,
        /// The right operand.
        rhs: Box<Expr>,
    },
    /// `condition ? then : otherwise`, of any type. A uniform condition chooses which one is evaluated; a varying one
    /// evaluates each for its lanes (both for all lanes where [`Expr::is_speculable`] allows).
    Conditional {
        /// A bool; varying only if the type is varying. A short vector of bools selects componentwise; then both sides
        /// are evaluated for all.
        condition: Box<Expr>,
        /// If it holds.
        then: Box<Expr>,
        /// If not.
        otherwise: Box<Expr>,
    },
    /// Evaluates the first, gives the second.
    Comma(Box<Expr>, Box<Expr>),
    /// Writes a value to a place (active lanes) and gives the value. The value has the place's type with the shape of
    /// [`Place::varying_address`] taken into account.
    Assign(Box<Place>, Box<Expr>),
    /// `place op= rhs`: reads the place (evaluated once), converts to the type of `rhs`, applies the elementwise operation,
    /// converts back to the place's type, writes, and gives the value written.
    CompoundAssign {
        /// What is changed.
        place: Box<Place>,
        /// The operation.
        op: Op,
        /// The right operand, of the type the operation is done in.
        rhs: Box<Expr>,
    },
    /// `pointer += index` (or `-=`), giving the new pointer; operands as of `PointerOffset`.
    PointerAssign {
        /// What is changed.
        place: Box<Place>,
        /// How many elements.
        index: Box<Expr>,
        /// Whether `-=`.
        subtract: bool,
    },
    /// `++` or `--` of numbers, short vectors, enums or pointers.
    IncDec {
        /// What is changed.
        place: Box<Place>,
        /// Whether `--`.
        decrement: bool,
        /// Whether the value before is given.
        postfix: bool,
    },
    /// Components of a short vector value: one gives a scalar, several a vector.
    Swizzle(Box<Expr>, Vec<u8>),
    /// A member of a struct value.
    FieldValue(Box<Expr>, u32),
    /// A struct, short vector or array made of all its members; arrays may give fewer: the rest is zero. Of a scalar (or
    /// enum, or pointer) of `soa<n>` shape: a uniform value for each element of an instance.
    Aggregate(Vec<Expr>),
    /// A varying scalar (or enum, or pointer) made of a uniform value for each lane.
    Lanes(Vec<Expr>),
    /// Calls a function with arguments of its parameters' types. The result is varying if a varying function pointer
    /// is called (each distinct function in turn for its lanes).
    Call(Callee, Vec<Expr>),
    /// `crev f(…)`: for each active lane, ascending, calls with all lanes on. Each argument has the parameter's type or
    /// differs from it in shape alone: of a varying argument that lane's value is taken, and a varying parameter gets it
    /// broadcast. The lane's element of the result (the result itself if uniform) becomes the lane's value of the
    /// expression, which is varying or `void`.
    Crev(FuncId, Vec<Expr>),
    /// Launches tasks.
    Launch {
        /// The numbers of tasks in three dimensions, uniform `int32`; the first varies fastest.
        counts: [Box<Expr>; 3],
        /// The task.
        callee: Callee,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// An operation of the table, for the prelude. Sources in order; for `Convert` and `Bitcast` `from` is the source's type.
    Op {
        /// The operation.
        op: Op,
        /// Its type.
        ty: Ty,
        /// Its second type.
        from: Ty,
        /// Its sources.
        args: Vec<Expr>,
    },
    /// Allocates `count` (one if absent) of `elem`: one allocation if the type is a uniform pointer, else one per active
    /// lane. Zeroed; `init` is written to each element. Each lane of a varying allocation has its own `count`.
    New {
        /// The allocated type.
        elem: TypeId,
        /// How many, `int64`; of the shape of the result.
        count: Option<Box<Expr>>,
        /// The initial value of type `elem` (for varying allocations of uniform types: of its varying counterpart).
        init: Option<Box<Expr>>,
    },
    /// `alloca(bytes)`, bytes uniform `int64`: zeroed memory that lives until the function returns.
    Alloca(Box<Expr>),
}

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function.
    Function(FuncId),
    /// A function value, uniform or varying.
    Pointer(Box<Expr>),
}

/// Conversions. The target is the type of the expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// Elementwise to another element type, of the same shape: `Op::Convert`.
    Convert,
    /// To a type held alike (pointer to pointer, pointer to `u64`, enum to `u32`, `const` or not): nothing to do.
    Reinterpret,
    /// From uniform to varying: of scalars, pointers, vectors, structs.
    Broadcast,
    /// From a scalar to a short vector of it.
    Splat,
}

/// The uniform values that tasks can ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum TaskBuiltin {
    TaskIndex,
    TaskCount,
    TaskIndex0,
    TaskIndex1,
    TaskIndex2,
    TaskCount0,
    TaskCount1,
    TaskCount2,
    ThreadIndex,
    ThreadCount,
}

/// Memory, or a variable in registers: what can be read, assigned and (where it is memory) pointed to.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where it starts.
    pub base: PlaceBase,
    /// The way from there, outermost first.
    pub projections: Vec<Projection>,
    /// The type of what lies there.
    pub ty: TypeId,
    /// Whether lanes have different addresses. If so, what is read is varying even if `ty` is uniform (a gather), and of
    /// a varying `ty` each lane reads its own element at its own address.
    pub varying_address: bool,
    /// Where it stands.
    pub span: Span,
}

/// Where a place starts.
#[derive(Clone, Debug)]
pub enum PlaceBase {
    /// A local variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// What a pointer or reference points to; its type is that of the pointer.
    Deref(Box<Expr>),
    /// A value that is no place, kept aside so that parts of it can be read.
    Value(Box<Expr>),
}

/// A step into a place.
#[derive(Clone, Debug)]
pub enum Projection {
    /// A member of a struct; `ty` is the member's type.
    Field {
        /// Which one.
        field: u32,
        /// Its type.
        ty: TypeId,
    },
    /// An element of an array or a short vector: steps by the size of `ty`. After a `Deref` of a pointer to an element
    /// it may come first: `p[i]` is `Deref(p)` and `Index(i)` with the pointee's type.
    Index {
        /// An integer of any type and shape.
        index: Box<Expr>,
        /// The element's type.
        ty: TypeId,
        /// The length of the array or vector, where known.
        len: Option<u64>,
    },
    /// An instance in `soa<n>` memory (see [`layout`](super::layout)).
    Instance {
        /// An integer of any type and shape, counted in instances.
        index: Box<Expr>,
        /// The instance's type, of shape `Soa(n)`.
        ty: TypeId,
    },
    /// Components of a short vector, one (a scalar) or several (a vector); only as the last step.
    Swizzle {
        /// Which ones.
        components: Vec<u8>,
        /// The type of the result.
        ty: TypeId,
    },
}

impl Expr {
    /// A constant.
    pub fn constant(bits: u64, ty: TypeId, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(bits), ty, span }
    }

    /// What was reported already.
    pub fn error(span: Span) -> Expr {
        Expr { kind: ExprKind::Error, ty: super::TypeTable::ERROR, span }
    }

    /// The bits of a constant, seen through broadcasts.
    pub fn constant_bits(&self) -> Option<u64> {
        match &self.kind {
            ExprKind::Const(bits) => Some(*bits),
            ExprKind::Cast(Cast::Broadcast | Cast::Reinterpret, operand) => operand.constant_bits(),
            _ => None,
        }
    }

    /// Whether computing it for lanes (or at times) that the program does not ask for cannot be noticed and costs little:
    /// no effect, no trap, no memory access, no call.
    pub fn is_speculable(&self) -> bool {
        self.speculation_cost().is_some_and(|cost| cost <= SPECULATION_LIMIT)
    }

    fn speculation_cost(&self) -> Option<u32> {
        let all = |exprs: &[&Expr]| exprs.iter().try_fold(1, |sum, expr| Some(sum + expr.speculation_cost()?));
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Zero | ExprKind::ProgramIndex | ExprKind::Task(_) => Some(0),
            ExprKind::FunctionAddress(_) => Some(0),
            ExprKind::Load(place) => match place.base {
                PlaceBase::Local(_) if place.projections.iter().all(Projection::is_static) => Some(0),
                _ => None,
            },
            ExprKind::Cast(_, operand) | ExprKind::Unary(_, operand) => all(&[operand]),
            ExprKind::Binary(Op::IDiv | Op::IRem, ..) => None,
            ExprKind::Binary(_, lhs, rhs) | ExprKind::Logical { lhs, rhs, .. } => all(&[lhs, rhs]),
            ExprKind::PointerOffset { pointer, index, .. } => all(&[pointer, index]),
            ExprKind::Conditional { condition, then, otherwise } => all(&[condition, then, otherwise]),
            ExprKind::Swizzle(operand, _) | ExprKind::FieldValue(operand, _) => operand.speculation_cost(),
            _ => None,
        }
    }
}

/// How many operations a speculated expression may have.
const SPECULATION_LIMIT: u32 = 8;

impl Projection {
    /// Whether it needs no address computed at run time: members, components, constant indices in range.
    pub fn is_static(&self) -> bool {
        match self {
            Projection::Field { .. } | Projection::Swizzle { .. } => true,
            Projection::Index { index, len, .. } => match (index.constant_bits(), len) {
                (Some(bits), Some(len)) => bits < *len,
                _ => false,
            },
            Projection::Instance { .. } => false,
        }
    }

    /// The type of what it leads to.
    pub fn ty(&self) -> TypeId {
        match self {
            Projection::Field { ty, .. }
            | Projection::Index { ty, .. }
            | Projection::Instance { ty, .. }
            | Projection::Swizzle { ty, .. } => *ty,
        }
    }
}
