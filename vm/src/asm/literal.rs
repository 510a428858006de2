//! Constants and strings of the text form, both ways.

use crate::sem::{Float, Scalar, f16, f16_from_f64};
use crate::types::Ty;
use std::fmt::Write;

/// The text of a constant with these bits: what a reader expects where that reads back as the same bits, else `bits(…)`.
pub(super) fn constant_text(ty: Ty, bits: u64) -> String {
    let text = match ty {
        Ty::Bool => (bits != 0).to_string(),
        Ty::I8 => (bits as i8).to_string(),
        Ty::I16 => (bits as i16).to_string(),
        Ty::I32 => (bits as i32).to_string(),
        Ty::I64 => (bits as i64).to_string(),
        Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => bits.to_string(),
        Ty::F16 => float_text(f16::from_word(bits).to_f32()),
        Ty::F32 => float_text(f32::from_word(bits)),
        Ty::F64 => float_text(f64::from_word(bits)),
    };
    if parse_constant(ty, &text) == Some(bits) { text } else { format!("bits({bits:#x})") }
}

fn float_text<T: Float + std::fmt::Debug>(x: T) -> String {
    if x.is_nan() { "nan".into() } else { format!("{x:?}") }
}

/// The bits of a constant from its text (`bits(…)` aside).
pub(super) fn parse_constant(ty: Ty, text: &str) -> Option<u64> {
    match ty {
        Ty::Bool => match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        Ty::F16 if text == "nan" => Some(f16::CANONICAL_NAN.to_word()),
        Ty::F32 if text == "nan" => Some(f32::NAN.to_word()),
        Ty::F64 if text == "nan" => Some(f64::NAN.to_word()),
        Ty::F16 => decimal(text).map(|x: f64| f16_from_f64(x).to_word()),
        Ty::F32 => decimal(text).map(|x: f32| x.to_word()),
        Ty::F64 => decimal(text).map(|x: f64| x.to_word()),
        _ => parse_int(text).and_then(|n| int_bits(ty, n)),
    }
}

fn decimal<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// An integer, decimal or `0x…`.
pub(super) fn parse_int(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(i128::from),
        None => text.parse().ok(),
    }
}

fn int_bits(ty: Ty, n: i128) -> Option<u64> {
    let width = ty.size() as u32 * 8;
    let (low, high) =
        if ty.is_signed() { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) };
    (low..=high).contains(&n).then_some(n as u64 & (u64::MAX >> (64 - width)))
}

/// A string with quotes.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A name: bare if it looks like one, else quoted.
pub(super) fn name(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if starts && text.chars().all(bare) { text.into() } else { quote(text) }
}

/// Undoes [`quote`]; the error is what is wrong.
pub(super) fn unquote(quoted: &str) -> Result<String, String> {
    let inner = quoted.strip_prefix('"').and_then(|s| s.strip_suffix('"')).ok_or("a string without its quotes")?;
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('0') => '\0',
            Some(c @ ('"' | '\\')) => c,
            Some('u') => unicode_escape(&mut chars).ok_or("a `\\u{…}` escape that names no character")?,
            other => return Err(format!("unknown escape `\\{}`", other.map_or(String::new(), String::from))),
        });
    }
    Ok(out)
}

fn unicode_escape(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let rest = chars.as_str().strip_prefix('{')?;
    let end = rest.find('}').filter(|&n| n <= 6)?;
    let c = char::from_u32(u32::from_str_radix(&rest[..end], 16).ok()?)?;
    *chars = rest[end + 1..].chars();
    Some(c)
}

/// Bytes from hexadecimal digits, blanks ignored.
pub(super) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[a, b]| Some(digit(a)? << 4 | digit(b)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_round_trip() {
        let samples =
            [0, 1, 2, 0x7f, 0x80, 0x3c01, 0x7c00, 0x7e00, 0xfc00, 0x3f800000, 0x7fc00000, 0x7fc00001, 0xff80_0000];
        for ty in Ty::ALL {
            for sample in samples.into_iter().chain([u64::MAX, 1 << 63, 0x7ff8 << 48, 0x3fb999999999999a]) {
                let bits = sample & (u64::MAX >> (64 - ty.size() * 8));
                let text = constant_text(ty, bits);
                assert!(text.starts_with("bits(") || parse_constant(ty, &text) == Some(bits), "{ty} {bits:#x} {text}");
            }
        }
        assert_eq!(constant_text(Ty::F32, 0x3dcccccd), "0.1");
        assert_eq!(constant_text(Ty::F32, 0x7fc00001), "bits(0x7fc00001)");
        assert_eq!(constant_text(Ty::I32, 0xffff_ffff), "-1");
        assert_eq!(parse_constant(Ty::U8, "256"), None);
    }

    #[test]
    fn strings_round_trip() {
        for text in ["", "plain", "a\"b\\c\n\t\0\u{7f}\r", "π ≤ 4", "{x}"] {
            assert_eq!(unquote(&quote(text)).as_deref(), Ok(text));
        }
        assert!(unquote("\"\\q\"").is_err() && unquote("\"\\u{110000}\"").is_err() && unquote("\"\\u{\"").is_err());
    }
}
