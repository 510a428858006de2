//! The number types of random programs: names, ranges, literals.

use spmdvm::Ty;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Range {
    /// An integer between two, both included.
    Int(i128, i128),
    /// A float whose magnitude is at most this; infinity means anything, NaN included.
    Float(f64),
}

impl Range {
    /// The range of all values of a type that variables may hold, where floats are kept small or not.
    pub fn of(ty: Ty, tame: bool) -> Range {
        match ty.is_float() {
            false => Range::Int(least(ty), greatest(ty)),
            true if tame => Range::Float(limit(ty)),
            true => Range::Float(f64::INFINITY),
        }
    }

    /// The bounds of an integer; those of a float are rounded away from zero.
    pub fn bounds(self) -> (i128, i128) {
        match self {
            Range::Int(low, high) => (low, high),
            Range::Float(max) => (-(max.ceil() as i128), max.ceil() as i128),
        }
    }

    /// The greatest magnitude.
    pub fn magnitude(self) -> f64 {
        match self {
            Range::Int(low, high) => low.unsigned_abs().max(high.unsigned_abs()) as f64,
            Range::Float(max) => max,
        }
    }
}

/// The name in the language. The long ones are those that every version of ISPC knows.
pub(super) fn name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::I8 => "int8",
        Ty::I16 => "int16",
        Ty::I32 => "int",
        Ty::I64 => "int64",
        Ty::U8 => "unsigned int8",
        Ty::U16 => "unsigned int16",
        Ty::U32 => "unsigned int",
        Ty::U64 => "unsigned int64",
        Ty::F16 => "float16",
        Ty::F32 => "float",
        Ty::F64 => "double",
    }
}

/// The bits of a value.
pub(super) fn bits(ty: Ty) -> u32 {
    8 * ty.size() as u32
}

/// The least value of an integer type.
pub(super) fn least(ty: Ty) -> i128 {
    if ty.is_signed() { -(1 << (bits(ty) - 1)) } else { 0 }
}

/// The greatest value of an integer type.
pub(super) fn greatest(ty: Ty) -> i128 {
    if ty.is_signed() { (1 << (bits(ty) - 1)) - 1 } else { (1 << bits(ty)) - 1 }
}

/// The unsigned type of the same size.
pub(super) fn unsigned(ty: Ty) -> Ty {
    match ty {
        Ty::I8 => Ty::U8,
        Ty::I16 => Ty::U16,
        Ty::I32 => Ty::U32,
        Ty::I64 => Ty::U64,
        other => other,
    }
}

/// The greatest magnitude of floats that variables hold where floats are kept small.
pub(super) fn limit(ty: Ty) -> f64 {
    match ty {
        Ty::F16 => 1024.0,
        Ty::F32 => 1_048_576.0,
        _ => 1_099_511_627_776.0,
    }
}

/// The greatest magnitude within an expression there: far from where a type overflows.
pub(super) fn ceiling(ty: Ty) -> f64 {
    match ty {
        Ty::F16 => 32_768.0,
        Ty::F32 => 1e30,
        _ => 1e250,
    }
}

/// An integer as a constant of its type.
pub(super) fn literal(ty: Ty, value: i128) -> String {
    let decimal = match value {
        v if v == least(Ty::I64) => "(-9223372036854775807 - 1)".to_owned(),
        v if v == least(Ty::I32) && ty == Ty::I32 => return "(-2147483647 - 1)".to_owned(),
        v if v > greatest(Ty::I64) => format!("{v:#x}"),
        v => v.to_string(),
    };
    match ty {
        Ty::I32 if value < 0 => format!("({decimal})"),
        Ty::I32 => decimal,
        Ty::U32 => format!("{decimal}u"),
        ty => format!("({}){decimal}", name(ty)),
    }
}

/// A float as a constant of its type; it must have a short decimal form.
pub(super) fn float_literal(ty: Ty, value: f64) -> String {
    let suffix = match ty {
        Ty::F16 => "f16",
        Ty::F32 => "f",
        _ => "d",
    };
    if value < 0.0 { format!("({value:?}{suffix})") } else { format!("{value:?}{suffix}") }
}
