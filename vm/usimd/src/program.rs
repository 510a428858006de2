//! Programs: P in the rules, a sequence of instructions indexed by the program counter.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// A program counter.
pub type Pc = usize;

/// A variable of the threads' local memories, by its number in [`Program::variables`].
pub type Var = usize;

/// An instruction of figure 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inst {
    /// `stop`: halts the machine.
    Stop,
    /// `jmp l`.
    Jmp(Pc),
    /// `bz v, l`: threads in which `v` is zero go to `l`.
    Bz(Operand, Pc),
    /// `jmp_mask v, l`: goes to `l` if thread `v` was active before the innermost `everywhere`.
    JmpMask(Operand, Pc),
    /// `sync`: threads that a branch has parted meet here.
    Sync,
    /// `everywhere`: all threads on.
    Everywhere,
    /// `end_everywhere`: back to the threads and branches of before.
    EndEverywhere,
    /// `enter f`: the body of a called function begins. Not in figure 1: it changes nothing but the
    /// [statistics](super::Statistics), and stands for the `"call" f` of figure 8.
    Enter(String),
    /// `leave`: the body that was entered last ends.
    Leave,
    /// An instruction that changes memory only.
    Data(Data),
}

/// An instruction of figure 5: it changes local or shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// `v = c`.
    Constant(Var, i64),
    /// `v = o`.
    Copy(Var, Operand),
    /// `v = o ⊕ o`; operands may be expressions themselves.
    Binary(Var, Expr),
    /// `v = ↓ o`.
    Load(Var, Operand),
    /// `↑ o = o`.
    Store {
        /// The address.
        address: Operand,
        /// What is written there.
        value: Operand,
    },
    /// `v = shfl(v, o)`.
    Shuffle {
        /// The variable that is written.
        to: Var,
        /// The variable that is read in the other thread.
        from: Var,
        /// The number of the other thread.
        lane: Operand,
    },
}

impl Data {
    /// The variable it writes.
    pub fn written(&self) -> Option<Var> {
        match *self {
            Data::Constant(v, _) | Data::Copy(v, _) | Data::Binary(v, _) | Data::Load(v, _) => Some(v),
            Data::Shuffle { to, .. } => Some(to),
            Data::Store { .. } => None,
        }
    }
}

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number.
    Constant(i64),
    /// The thread's own number.
    Tid,
    /// The number of threads.
    Width,
    /// A variable.
    Var(Var),
}

/// The right side of a binary operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// An operand.
    Operand(Operand),
    /// `e ⊕ e`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

macro_rules! binary_ops {
    ($($name:ident $text:literal $binding:literal $doc:literal;)*) => {
        /// The operators ⊕, on 64-bit integers that wrap. Comparisons give 1 or 0.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum BinaryOp { $(#[doc = $doc] $name,)* }

        impl BinaryOp {
            /// All of them.
            pub const ALL: &[BinaryOp] = &[$(BinaryOp::$name,)*];

            /// As it is written.
            pub fn text(self) -> &'static str {
                match self { $(BinaryOp::$name => $text,)* }
            }

            /// How tightly it binds.
            pub(super) fn binding(self) -> u8 {
                match self { $(BinaryOp::$name => $binding,)* }
            }
        }
    };
}
binary_ops! {
    Or "|" 1 "Bits of either.";
    Xor "^" 2 "Bits of one of both.";
    And "&" 3 "Bits of both.";
    Eq "==" 4 "Equal.";
    Ne "!=" 4 "Not equal.";
    Lt "<" 5 "Less.";
    Le "<=" 5 "Less or equal.";
    Gt ">" 5 "Greater.";
    Ge ">=" 5 "Greater or equal.";
    Add "+" 6 "Sum.";
    Sub "-" 6 "Difference.";
    Mul "*" 7 "Product.";
    Div "/" 7 "Quotient, rounded towards zero.";
    Rem "%" 7 "Remainder, with the sign of the dividend.";
}

impl BinaryOp {
    /// Its result; `None` for a division by zero.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        Some(match self {
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::And => a & b,
            BinaryOp::Eq => (a == b).into(),
            BinaryOp::Ne => (a != b).into(),
            BinaryOp::Lt => (a < b).into(),
            BinaryOp::Le => (a <= b).into(),
            BinaryOp::Gt => (a > b).into(),
            BinaryOp::Ge => (a >= b).into(),
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div if b == 0 => return None,
            BinaryOp::Div => a.wrapping_div(b),
            BinaryOp::Rem if b == 0 => return None,
            BinaryOp::Rem => a.wrapping_rem(b),
        })
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// An assembled program. The last instruction is a `stop` or a `jmp`.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its text, into which the spans point.
    pub text: String,
    /// The instructions.
    pub code: Vec<Inst>,
    /// Where each stands in the text; empty for the `stop` that was not written.
    pub spans: Vec<Range<usize>>,
    /// The labels.
    pub labels: BTreeMap<String, Pc>,
    /// The names of the variables.
    pub variables: Vec<String>,
    /// What shared memory holds at the beginning.
    pub shared: Vec<i64>,
    /// The number of threads it is written for, if it says so.
    pub width: Option<usize>,
}

impl Program {
    /// An instruction as it was written.
    pub fn text_of(&self, pc: Pc) -> &str {
        match &self.text[self.spans[pc].clone()] {
            "" => "stop",
            text => text,
        }
    }

    /// The line an instruction stands in, from 1.
    pub fn line_of(&self, pc: Pc) -> usize {
        self.text[..self.spans[pc].start].matches('\n').count() + 1
    }

    /// Returns whether this `stop` was added by the assembler.
    pub fn is_implicit(&self, pc: Pc) -> bool {
        self.spans[pc].is_empty()
    }
}
