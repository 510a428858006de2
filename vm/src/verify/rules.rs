//! The rules a program must keep, as a table, and the errors that report a breach.

use std::fmt;

/// One row of the table of rules.
#[derive(Clone, Copy, Debug)]
pub struct RuleInfo {
    /// The rule.
    pub rule: Rule,
    /// Its name, as errors show it.
    pub name: &'static str,
    /// What it demands.
    pub doc: &'static str,
}

macro_rules! rules {
    ($( $Name:ident $text:literal $doc:literal; )*) => {
        /// A rule of the verifier; the rows of [`RULES`], in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $( #[doc = $doc] $Name, )*
        }

        /// Every rule.
        pub const RULES: &[RuleInfo] = &[ $( RuleInfo { rule: Rule::$Name, name: $text, doc: $doc } ),* ];
    };
}

rules! {
    Limit "limit" "Nothing is larger than the machine allows.";
    DuplicateName "duplicate-name" "Functions have different names, and so have globals.";
    GlobalImage "global-image" "A global's initial bytes and relocations lie within its size.";
    GlobalHost "global-host" "Hosts see a global in its size; they write no constant, and what they supply has no image.";
    FormatPiece "format-piece" "Print formats use known conversions and sane widths.";
    ExportShape "export-shape" "An export describes its function's parameters and result as they are.";
    SymbolItem "symbol-item" "Symbols and imports name functions and globals that there are; what hosts can provide is a function.";
    SourceSpan "source-span" "Every instruction has a span, and spans lie within their source.";
    Registers "registers" "Parameters are the first registers; registers named by the header exist.";
    Constant "constant" "A constant register is uniform, no parameter, stands once, and its bits are a value of its type.";
    ConstantWritten "constant-written" "Constant registers are read-only.";
    OpType "op-type" "An operation is defined for the instruction's types.";
    Presence "presence" "Operands the operation has are there, others are not, and unused fields are zero.";
    RegisterRange "register-range" "Operands are registers of the function.";
    OperandType "operand-type" "Operands have the element type the operation asks for.";
    OperandShape "operand-shape" "Operands have the shape the operation asks for.";
    LabelRange "label-range" "Labels are instructions of the function.";
    ListRange "list-range" "Register lists lie in the pool and do not overlap.";
    CallShape "call-shape" "A call passes what its callee takes and receives what it gives, in type and shape.";
    LaunchShape "launch-shape" "A launch gives three counts and what its task takes; a task takes its indices and counts first and gives nothing.";
    Reference "reference" "Functions, globals, formats, messages and bytes of memory that instructions name exist.";
    PrintArgs "print-args" "A print has one argument for each place of its format, of a fitting type.";
    MemoryOperand "memory-operand" "Index types, scales and displacements are in range.";
    FallsOff "falls-off" "Code ends in `ret` or a jump.";
    StackKind "stack-kind" "A mask operation finds the entry it works on at the top of the mask stack.";
    StackJoin "stack-join" "All ways to an instruction bring the same kinds of entries on the mask stack.";
    StackAtReturn "stack-at-return" "`ret` is reached with an empty mask stack.";
    NoTarget "no-target" "A break or continue has an entry on the mask stack to leave to.";
    BackwardJump "backward-jump" "Only jumps that count fuel go backward; `loop.back` goes nowhere else.";
    EmptyMask "empty-mask" "Uniform registers are written, and effects happen, only where a lane is active.";
    Unassigned "unassigned" "Registers are written on every path before they are read.";
}

impl Rule {
    /// The rule's row.
    pub fn info(self) -> &'static RuleInfo {
        &RULES[self as usize]
    }
}

/// A breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The rule.
    pub rule: Rule,
    /// The function; `None` for errors of the program's tables.
    pub function: Option<String>,
    /// The instruction's index, if the error is one instruction's.
    pub inst: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = &self.function {
            write!(f, "function `{function}`")?;
            if let Some(inst) = self.inst {
                write!(f, ", instruction {inst}")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{} [{}]", self.message, self.rule.info().name)
    }
}

impl std::error::Error for VerifyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        for (i, row) in RULES.iter().enumerate() {
            assert_eq!(row.rule as usize, i);
            assert!(row.doc.ends_with('.'));
        }
    }
}
