//! The instruction set as data: what [`ops`] tabulates, read by everything that handles programs.

pub mod docs;
pub mod ops;
mod signature;

pub use signature::{ElemTy, Extra, OperandShape, Signature, Slot, sig};

use crate::types::{Ty, TypeSet};

/// What an operation does besides computing its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing; depends on its operands only.
    Pure,
    /// Nothing; depends on the execution mask too.
    Mask,
    /// May trap, else pure: not to be moved above a mask change or another effect.
    Trap,
    /// Reads memory, may trap.
    Read,
    /// Writes memory, may trap.
    Write,
    /// Visible outside in another way.
    Effect,
    /// Calls a function.
    Call,
    /// Changes the program counter or the mask.
    Control,
}

/// What inactive lanes of the destination get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inactive {
    /// The computed value, like active lanes.
    Computed,
    /// Zero.
    Zero,
    /// What they held before.
    Kept,
    /// There is no destination (or it is uniform): inactive lanes do nothing.
    Skipped,
}

/// The form of a row, by which the signature of regular operations is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Elementwise, one operand.
    Unary,
    /// Elementwise, two operands.
    Binary,
    /// Elementwise, three operands.
    Ternary,
    /// Elementwise, two operands; traps on a zero divisor.
    Checked,
    /// Elementwise, two operands, `bool` result.
    Compare,
    /// Varying operand, uniform result.
    Reduce,
    /// Described by its signature alone.
    Special,
}

/// One row of the operation table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: Op,
    /// Its name in the text form.
    pub name: &'static str,
    /// Its form.
    pub form: Form,
    /// The types it is defined for; empty if it has none.
    pub types: TypeSet,
    /// Its operands.
    pub sig: Signature,
    /// What it does besides.
    pub effect: Effect,
    /// What inactive lanes get.
    pub inactive: Inactive,
    /// Whether the two operands may be exchanged.
    pub commutative: bool,
    /// A sentence or two of documentation.
    pub doc: &'static str,
}

impl OpInfo {
    /// The element type of the destination of an instruction of this operation with type `ty`.
    pub fn result_ty(&self, ty: Ty) -> Option<Ty> {
        self.sig.dst.map(|slot| slot.ty.resolve(ty, ty))
    }

    /// The type that need not be written: the only one of the operation, or `Bool` if it has none.
    pub fn implied_ty(&self) -> Option<Ty> {
        let mut types = self.types.iter();
        match (types.next(), types.next()) {
            (None, _) => Some(Ty::Bool),
            (only, None) => only,
            _ => None,
        }
    }
}

macro_rules! form_info {
    (unary $types:ident) => {
        (Form::Unary, TypeSet::$types, sig::UNARY, Effect::Pure, Inactive::Computed)
    };
    (binary $types:ident) => {
        (Form::Binary, TypeSet::$types, sig::BINARY, Effect::Pure, Inactive::Computed)
    };
    (ternary $types:ident) => {
        (Form::Ternary, TypeSet::$types, sig::TERNARY, Effect::Pure, Inactive::Computed)
    };
    (checked $types:ident) => {
        (Form::Checked, TypeSet::$types, sig::BINARY, Effect::Trap, Inactive::Zero)
    };
    (compare $types:ident) => {
        (Form::Compare, TypeSet::$types, sig::COMPARE, Effect::Pure, Inactive::Computed)
    };
    (reduce $types:ident) => {
        (Form::Reduce, TypeSet::$types, sig::REDUCE, Effect::Mask, Inactive::Computed)
    };
    (special $types:ident $sig:ident $effect:ident $inactive:ident) => {
        (Form::Special, TypeSet::$types, sig::$sig, Effect::$effect, Inactive::$inactive)
    };
}

macro_rules! is_commutative {
    () => {
        false
    };
    (commutative) => {
        true
    };
}

macro_rules! define_ops {
    ($( $Name:ident $text:literal $form:ident ( $types:ident $(, $arg:ident)* ) [ $($prop:ident)? ] $doc:literal ; )*) => {
        /// An operation of the bytecode; the rows of [`OPS`], in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $( #[doc = $doc] $Name, )*
        }

        /// The operation table, indexed by `Op as usize`.
        pub static OPS: &[OpInfo] = &[ $( define_ops!(@row $Name $text $form ($types $(, $arg)*) [$($prop)?] $doc) ),* ];
    };
    (@row $Name:ident $text:literal special ($types:ident, $sig:ident, $effect:ident, $inactive:ident) [$($prop:ident)?] $doc:literal) => {
        define_ops!(@info $Name $text [$($prop)?] $doc form_info!(special $types $sig $effect $inactive))
    };
    (@row $Name:ident $text:literal $form:ident ($types:ident, $sem:ident) [$($prop:ident)?] $doc:literal) => {
        define_ops!(@info $Name $text [$($prop)?] $doc form_info!($form $types))
    };
    (@info $Name:ident $text:literal [$($prop:ident)?] $doc:literal $info:expr) => {{
        const INFO: (Form, TypeSet, Signature, Effect, Inactive) = $info;
        OpInfo {
            op: Op::$Name, name: $text, form: INFO.0, types: INFO.1, sig: INFO.2, effect: INFO.3, inactive: INFO.4,
            commutative: is_commutative!($($prop)?), doc: $doc,
        }
    }};
}

crate::for_each_op!(define_ops);

macro_rules! define_special {
    (@rows [$($Found:ident $found_doc:literal)*]) => {
        /// The special operations: those that the table does not tell all about. Whoever executes or records them matches
        /// on this, so that the compiler says where one is missing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Special {
            $( #[doc = $found_doc] $Found, )*
        }

        impl Op {
            /// The operation as a special one, if it is.
            #[inline]
            pub fn special(self) -> Option<Special> {
                match self {
                    $( Op::$Found => Some(Special::$Found), )*
                    _ => None,
                }
            }
        }
    };
    (@rows [$($found:tt)*] $Name:ident $text:literal special $args:tt $props:tt $doc:literal ; $($rest:tt)*) => {
        define_special!(@rows [$($found)* $Name $doc] $($rest)*);
    };
    (@rows $found:tt $Name:ident $text:literal $form:ident $args:tt $props:tt $doc:literal ; $($rest:tt)*) => {
        define_special!(@rows $found $($rest)*);
    };
    ($($rows:tt)*) => {
        define_special!(@rows [] $($rows)*);
    };
}

crate::for_each_op!(define_special);

impl Op {
    /// The operation's row.
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// The operation with this encoding, if there is one.
    pub fn from_code(code: u8) -> Option<Op> {
        OPS.get(code as usize).map(|row| row.op)
    }

    /// The operation with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.name == name).map(|row| row.op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rows_are_in_order_with_unique_names_and_documentation() {
        let mut names = HashSet::new();
        for (i, row) in OPS.iter().enumerate() {
            assert_eq!(row.op as usize, i);
            assert!(names.insert(row.name), "{} stands twice", row.name);
            assert!(row.doc.ends_with(['.', '?']), "{}: documentation is a sentence", row.name);
        }
    }
}
