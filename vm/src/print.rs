//! How values look when printed: as C's `printf` shows them, with a default by type.
//!
//! A varying value prints as `[1,2,((3)),4]`: lanes in double parentheses are inactive. The bools of inactive lanes are not
//! shown: each prints as nine underscores. In check mode what holds no value prints as `((_))`. NaN prints as `nan` whatever its
//! sign and payload, because these are unspecified.

use crate::dispatch_type;
use crate::program::{ArgFormat, ArgKind};
use crate::sem::{self, Convert, Scalar};
use crate::types::Ty;
use std::fmt::Write;

/// Appends one value, given as the bits of a scalar of type `ty`.
///
/// A conversion that does not fit the type (`%d` of a float, `%f` of a bool, …) falls back to the type's own way, except
/// that integers may be printed as floats.
pub fn scalar(out: &mut String, format: &ArgFormat, ty: Ty, bits: u64) {
    let body = Body::of(format, ty, bits);
    pad(out, format, &body);
}

/// Appends text; the precision is the most characters to print.
pub fn text(out: &mut String, format: &ArgFormat, text: &str) {
    let most = format.precision.map_or(usize::MAX, usize::from);
    let body = Body { sign: "", prefix: "", digits: text.chars().take(most).collect(), zeros_fit: false };
    pad(out, format, &body);
}

/// What stands for the bool of an inactive lane, as in ISPC.
const HIDDEN_BOOL: &str = "_________";

/// What stands for a lane that holds no value, in check mode.
pub const UNSET: &str = "((_))";

/// Appends a value of type `ty` for every lane; `lane` appends the value of one. Of the two masks one has the active lanes, the
/// other those that hold no value.
pub fn varying(
    out: &mut String,
    ty: Ty,
    lanes: usize,
    (mask, unset): (u64, u64),
    mut lane: impl FnMut(&mut String, usize),
) {
    out.push('[');
    for l in 0..lanes {
        if l > 0 {
            out.push(',');
        }
        if unset >> l & 1 != 0 {
            out.push_str(UNSET);
            continue;
        }
        match mask >> l & 1 != 0 {
            true => lane(out, l),
            false if ty == Ty::Bool => out.push_str(HIDDEN_BOOL),
            false => {
                out.push_str("((");
                lane(out, l);
                out.push_str("))");
            }
        }
    }
    out.push(']');
}

/// A value in parts, before padding.
struct Body {
    sign: &'static str,
    prefix: &'static str,
    digits: String,
    /// Whether zeros may be put between prefix and digits.
    zeros_fit: bool,
}

impl Body {
    fn of(format: &ArgFormat, ty: Ty, bits: u64) -> Body {
        if format.kind == ArgKind::Pointer || format.conversion == Some('p') {
            return Body { sign: "", prefix: "0x", digits: format!("{bits:x}"), zeros_fit: true };
        }
        match format.conversion {
            Some(c @ ('x' | 'X' | 'o' | 'b')) if ty.is_int() => Body::unsigned(c, format, bits),
            Some('c') if ty.is_int() => {
                let c = char::from_u32(bits as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                Body { sign: "", prefix: "", digits: c.to_string(), zeros_fit: false }
            }
            Some('u') if ty.is_int() => Body::integer(format, false, bits as i128),
            Some('d' | 'i') if ty == Ty::Bool => Body::integer(format, false, bits as i128),
            Some(c) if "fFeEgG".contains(c) && ty != Ty::Bool => Body::float(c, format, to_f64(ty, bits)),
            _ if ty.is_float() => Body::float('f', format, to_f64(ty, bits)),
            _ if ty == Ty::Bool => {
                let digits = if bits != 0 { "true" } else { "false" };
                Body { sign: "", prefix: "", digits: digits.into(), zeros_fit: false }
            }
            _ => Body::integer(format, ty.is_signed(), to_integer(ty, bits)),
        }
    }

    fn integer(format: &ArgFormat, signed: bool, value: i128) -> Body {
        let sign = if value < 0 { "-" } else { plus(format, signed) };
        let precision = format.precision.map_or(0, usize::from);
        let digits = format!("{:0>precision$}", value.unsigned_abs());
        Body { sign, prefix: "", digits, zeros_fit: format.precision.is_none() }
    }

    fn unsigned(conversion: char, format: &ArgFormat, bits: u64) -> Body {
        let digits = match conversion {
            'x' => format!("{bits:x}"),
            'X' => format!("{bits:X}"),
            'o' => format!("{bits:o}"),
            _ => format!("{bits:b}"),
        };
        let precision = format.precision.map_or(0, usize::from);
        Body { sign: "", prefix: "", digits: format!("{digits:0>precision$}"), zeros_fit: format.precision.is_none() }
    }

    fn float(conversion: char, format: &ArgFormat, value: f64) -> Body {
        let upper = conversion.is_ascii_uppercase();
        let cased = |s: String| if upper { s.to_uppercase() } else { s };
        if value.is_nan() {
            return Body { sign: "", prefix: "", digits: cased("nan".into()), zeros_fit: false };
        }
        let sign = if value.is_sign_negative() { "-" } else { plus(format, true) };
        let magnitude = value.abs();
        if magnitude.is_infinite() {
            return Body { sign, prefix: "", digits: cased("inf".into()), zeros_fit: false };
        }
        let precision = format.precision.map_or(6, usize::from);
        let digits = match conversion.to_ascii_lowercase() {
            'e' => exponential(magnitude, precision),
            'g' => general(magnitude, precision),
            _ => format!("{magnitude:.precision$}"),
        };
        Body { sign, prefix: "", digits: cased(digits), zeros_fit: true }
    }
}

fn plus(format: &ArgFormat, signed: bool) -> &'static str {
    if format.plus && signed { "+" } else { "" }
}

fn to_f64(ty: Ty, bits: u64) -> f64 {
    dispatch_type!(SCALAR, ty, T => f64::convert(T::from_word(bits))).unwrap_or(0.0)
}

fn to_integer(ty: Ty, bits: u64) -> i128 {
    match ty {
        Ty::U64 => bits as i128,
        _ => dispatch_type!(INT, ty, T => sem::convert::<T, i64>(T::from_word(bits)) as i128).unwrap_or(0),
    }
}

/// C's `%e`: an exponent has a sign and at least two digits.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// C's `%g`: `%e` for very small and very large values, else `%f`; without trailing zeros.
fn general(magnitude: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let scientific = exponential(magnitude, precision - 1);
    let exponent: i64 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= precision as i64 {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = (precision as i64 - 1 - exponent) as usize;
    trimmed(&format!("{magnitude:.decimals$}")).into()
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

fn pad(out: &mut String, format: &ArgFormat, body: &Body) {
    let len = body.sign.len() + body.prefix.len() + body.digits.chars().count();
    let missing = format.width.map_or(0, usize::from).saturating_sub(len);
    let zeros = format.zero && !format.left && body.zeros_fit;
    let spaces = if zeros { 0 } else { missing };
    let (before, after) = if format.left { (0, spaces) } else { (spaces, 0) };
    let zeros = missing - spaces;
    let (sign, prefix, digits) = (body.sign, body.prefix, &body.digits);
    // Writing to a string does not fail.
    let _ = write!(out, "{:before$}{sign}{prefix}{:0<zeros$}{digits}{:after$}", "", "", "");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(conversion: Option<char>) -> ArgFormat {
        ArgFormat {
            kind: ArgKind::Value,
            conversion,
            width: None,
            precision: None,
            zero: false,
            left: false,
            plus: false,
        }
    }

    fn show(format: ArgFormat, ty: Ty, bits: u64) -> String {
        let mut out = String::new();
        scalar(&mut out, &format, ty, bits);
        out
    }

    #[test]
    fn defaults_by_type() {
        let f = format(None);
        assert_eq!(show(f, Ty::F32, 1.5f32.to_bits() as u64), "1.500000");
        assert_eq!(show(f, Ty::F64, (-0.0f64).to_bits()), "-0.000000");
        assert_eq!(show(f, Ty::F64, (-f64::NAN).to_bits()), "nan");
        assert_eq!(show(f, Ty::F32, f32::NEG_INFINITY.to_bits() as u64), "-inf");
        assert_eq!(show(f, Ty::F64, 1e22f64.to_bits()), "10000000000000000000000.000000");
        assert_eq!(show(f, Ty::I8, 0xff), "-1");
        assert_eq!(show(f, Ty::U8, 0xff), "255");
        assert_eq!(show(f, Ty::U64, u64::MAX), "18446744073709551615");
        assert_eq!(show(f, Ty::I64, 1 << 63), "-9223372036854775808");
        assert_eq!(show(f, Ty::Bool, 1), "true");
    }

    #[test]
    fn conversions_as_in_c() {
        let bits = |x: f64| x.to_bits();
        assert_eq!(show(format(Some('e')), Ty::F64, bits(12345.678)), "1.234568e+04");
        assert_eq!(show(format(Some('g')), Ty::F64, bits(0.0001)), "0.0001");
        assert_eq!(show(format(Some('g')), Ty::F64, bits(0.00001)), "1e-05");
        assert_eq!(show(format(Some('g')), Ty::F64, bits(1e6)), "1e+06");
        assert_eq!(show(format(Some('g')), Ty::F64, bits(100000.0)), "100000");
        assert_eq!(show(format(Some('x')), Ty::I32, 0xffff_ffff), "ffffffff");
        assert_eq!(show(format(Some('c')), Ty::I32, 65), "A");
        assert_eq!(show(format(Some('f')), Ty::I32, 3), "3.000000");
        let padded = ArgFormat { width: Some(8), precision: Some(2), zero: true, ..format(Some('f')) };
        assert_eq!(show(padded, Ty::F64, bits(-2.5112)), "-0002.51");
        let left = ArgFormat { width: Some(5), left: true, plus: true, ..format(Some('d')) };
        assert_eq!(show(left, Ty::I32, 7), "+7   ");
        let mut out = String::new();
        text(&mut out, &ArgFormat { width: Some(5), precision: Some(2), ..format(Some('s')) }, "abc");
        assert_eq!(out, "   ab");
    }

    #[test]
    fn inactive_lanes_stand_in_parentheses() {
        let mut out = String::new();
        varying(&mut out, Ty::I32, 3, (0b101, 0), |out, l| scalar(out, &format(None), Ty::I32, l as u64));
        assert_eq!(out, "[0,((1)),2]");
        out.clear();
        varying(&mut out, Ty::Bool, 2, (0b10, 0), |out, l| scalar(out, &format(None), Ty::Bool, l as u64));
        assert_eq!(out, "[_________,true]");
    }
}
