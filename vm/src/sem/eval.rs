//! From an operation of the table to its scalar meaning, on raw bits.

use super::{self as sem, Convert, Scalar};
use crate::isa::Op;
use crate::types::Ty;

/// Matches on an element type and expands the expression with `$T` bound to its Rust type; `None` for other types.
#[macro_export]
macro_rules! dispatch_type {
    (SCALAR, $ty:expr, $T:ident => $e:expr) => {
        $crate::dispatch_type!(@ $ty, $T => $e; Bool Bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32,
            U64 u64, F16 f16, F32 f32, F64 f64)
    };
    (ARITH, $ty:expr, $T:ident => $e:expr) => {
        $crate::dispatch_type!(@ $ty, $T => $e; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, F32 f32, F64 f64)
    };
    (INT, $ty:expr, $T:ident => $e:expr) => {
        $crate::dispatch_type!(@ $ty, $T => $e; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    (BITS, $ty:expr, $T:ident => $e:expr) => {
        $crate::dispatch_type!(@ $ty, $T => $e; Bool Bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    (FLOAT, $ty:expr, $T:ident => $e:expr) => {
        $crate::dispatch_type!(@ $ty, $T => $e; F16 f16, F32 f32, F64 f64)
    };
    (@ $ty:expr, $T:ident => $e:expr; $($Variant:ident $rust:ident),*) => {
        match $ty {
            $( $crate::types::Ty::$Variant => { type $T = $crate::sem::$rust; Some($e) } )*
            #[allow(unreachable_patterns)]
            _ => None,
        }
    };
}

macro_rules! eval_row {
    (unary $types:ident $f:ident $ty:ident $a:ident) => {
        dispatch_type!($types, $ty, T => sem::$f(T::from_word($a[0])).to_word())
    };
    (binary $types:ident $f:ident $ty:ident $a:ident) => {
        dispatch_type!($types, $ty, T => sem::$f(T::from_word($a[0]), T::from_word($a[1])).to_word())
    };
    (checked $types:ident $f:ident $ty:ident $a:ident) => {
        eval_row!(binary $types $f $ty $a)
    };
    (reduce $types:ident $f:ident $ty:ident $a:ident) => {
        eval_row!(binary $types $f $ty $a)
    };
    (ternary $types:ident $f:ident $ty:ident $a:ident) => {
        dispatch_type!($types, $ty, T => sem::$f(T::from_word($a[0]), T::from_word($a[1]), T::from_word($a[2])).to_word())
    };
    (compare $types:ident $f:ident $ty:ident $a:ident) => {
        dispatch_type!($types, $ty, T => sem::$f(T::from_word($a[0]), T::from_word($a[1])) as u64)
    };
    (special $($rest:tt)*) => {
        None
    };
}

macro_rules! define_eval {
    ($( $Name:ident $text:literal $form:ident ( $types:ident $(, $arg:ident)* ) [ $($prop:ident)? ] $doc:literal ; )*) => {
        fn eval_regular(op: Op, ty: Ty, a: [u64; 3]) -> Option<u64> {
            match op { $( Op::$Name => define_eval!(@arm $form $types ty a $(, $arg)*), )* }
        }
    };
    (@arm special $types:ident $ty:ident $a:ident $(, $arg:ident)*) => { eval_row!(special) };
    (@arm $form:ident $types:ident $ty:ident $a:ident, $f:ident) => { eval_row!($form $types $f $ty $a) };
}

crate::for_each_op!(define_eval);

/// The result bits of an elementwise operation (or of the step of a reduction) of type `ty` on operand bits.
///
/// `from` is the second type of `cvt` and `bitcast`. Gives `None` for operations without a scalar meaning (memory, lanes,
/// control) and for types the operation is not defined for. A zero divisor gives 0: whether that traps is the caller's matter.
pub fn eval(op: Op, ty: Ty, from: Ty, a: [u64; 3]) -> Option<u64> {
    match op {
        Op::Mov | Op::Assign => Some(a[0]),
        Op::Select => Some(if a[0] != 0 { a[1] } else { a[2] }),
        Op::Convert => eval_convert(ty, from, a[0]),
        Op::Bitcast => (ty.size() == from.size()).then(|| sem::bitcast(from, a[0])),
        Op::PAdd => Some(sem::padd(a[0], a[1] as i64)),
        _ => eval_regular(op, ty, a),
    }
}

fn eval_convert(ty: Ty, from: Ty, a: u64) -> Option<u64> {
    fn to<D: Convert<S>, S: Scalar>(a: u64) -> u64 {
        D::convert(S::from_word(a)).to_word()
    }
    dispatch_type!(SCALAR, from, S => dispatch_type!(SCALAR, ty, D => to::<D, S>(a)))?
}

/// The bits that an inactive lane contributes to a reduction; `None` if `op` is not a reduction of that type.
pub fn reduce_neutral(op: Op, ty: Ty) -> Option<u64> {
    use sem::Arith;
    match op {
        Op::ReduceAdd => dispatch_type!(ARITH, ty, T => T::ADD_NEUTRAL.to_word()),
        Op::ReduceMul => dispatch_type!(ARITH, ty, T => T::ONE.to_word()),
        Op::ReduceMin => dispatch_type!(ARITH, ty, T => T::HIGHEST.to_word()),
        Op::ReduceMax => dispatch_type!(ARITH, ty, T => T::LOWEST.to_word()),
        Op::ReduceAnd => dispatch_type!(BITS, ty, T => sem::not(T::default()).to_word()),
        Op::ReduceOr | Op::ReduceXor => dispatch_type!(BITS, ty, T => T::default().to_word()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Form, OPS};

    #[test]
    fn every_regular_row_has_a_meaning_for_exactly_its_types() {
        for row in OPS.iter().filter(|r| r.form != Form::Special) {
            for ty in Ty::ALL {
                let one = [1u64; 3];
                assert_eq!(eval(row.op, ty, ty, one).is_some(), row.types.contains(ty), "{}.{ty}", row.name);
                if row.form == Form::Reduce {
                    assert_eq!(reduce_neutral(row.op, ty).is_some(), row.types.contains(ty), "{}.{ty}", row.name);
                }
            }
        }
    }

    #[test]
    fn neutral_elements_are_neutral() {
        for row in OPS.iter().filter(|r| r.form == Form::Reduce) {
            for ty in row.types.iter() {
                let n = reduce_neutral(row.op, ty).unwrap();
                for x in [0, 1] {
                    assert_eq!(eval(row.op, ty, ty, [n, x, 0]), Some(x), "{}.{ty}", row.name);
                }
            }
        }
    }

    #[test]
    fn conversions_saturate_and_wrap() {
        let cvt = |ty, from, a| eval(Op::Convert, ty, from, [a, 0, 0]).unwrap();
        assert_eq!(cvt(Ty::I32, Ty::F32, f32::NAN.to_bits() as u64), 0);
        assert_eq!(cvt(Ty::I32, Ty::F32, 1e20f32.to_bits() as u64), i32::MAX as u64);
        assert_eq!(cvt(Ty::U8, Ty::F64, (-3.0f64).to_bits()), 0);
        assert_eq!(cvt(Ty::U8, Ty::I32, 0x1ff), 0xff);
        assert_eq!(cvt(Ty::I64, Ty::I8, 0xff), u64::MAX);
        assert_eq!(cvt(Ty::Bool, Ty::F32, 0x8000_0000), 0);
    }

    #[test]
    fn integer_edges() {
        let e = |op, ty, a, b| eval(op, ty, ty, [a, b, 0]).unwrap();
        assert_eq!(e(Op::IDiv, Ty::I32, i32::MIN as u32 as u64, u32::MAX as u64), i32::MIN as u32 as u64);
        assert_eq!(e(Op::IRem, Ty::I32, i32::MIN as u32 as u64, u32::MAX as u64), 0);
        assert_eq!(e(Op::Shl, Ty::I32, 1, 33), 2);
        assert_eq!(e(Op::Shr, Ty::I8, 0x80, 9), 0xc0);
        assert_eq!(e(Op::MulHi, Ty::U64, u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(e(Op::Clz, Ty::I16, 1, 0), 15);
    }

    #[test]
    fn pointers_stay_in_their_region() {
        let p = (7 << sem::OFFSET_BITS) | 16;
        assert_eq!(sem::padd(p, -20) >> sem::OFFSET_BITS, 7);
        let poison = sem::padd(p, i64::MAX);
        assert_eq!(poison, (7 << sem::OFFSET_BITS) | (1 << (sem::OFFSET_BITS - 1)));
        assert_eq!(sem::padd(poison, 5), poison);
    }
}
