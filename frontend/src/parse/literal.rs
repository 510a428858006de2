//! The values of literals.

use crate::ast::{FloatLiteral, IntLiteral};

/// The value of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    /// An integer.
    Int {
        /// The value.
        value: u64,
        /// Its type.
        ty: IntLiteral,
        /// Whether the value did not fit into the type that the suffix demands.
        truncated: bool,
    },
    /// A floating-point number.
    Float {
        /// The value, rounded to the type unless that is `float16`.
        value: f64,
        /// Its type.
        ty: FloatLiteral,
        /// Whether it has neither point nor exponent, as `1f`.
        without_point: bool,
        /// The number as it stands there, if it is a `float` for want of a suffix and has another value.
        written: Option<f64>,
    },
}

/// The value of a number, or why it has none.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        if digits.contains('p') {
            return hex_float(digits);
        }
        return integer(text, digits, 16);
    }
    if let Some(digits) = lower.strip_prefix("0b") {
        return integer(text, digits, 2);
    }
    if lower.bytes().all(|byte| byte.is_ascii_digit()) {
        return integer(text, &lower, if lower.starts_with('0') { 8 } else { 10 });
    }
    if is_float(&lower) {
        return decimal_float(text, &lower);
    }
    integer(text, &lower, if lower.starts_with('0') { 8 } else { 10 })
}

fn is_float(lower: &str) -> bool {
    lower.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'd' | b'f'))
}

/// `text` is the whole literal, `digits` what follows the prefix, in lower case.
fn integer(text: &str, digits: &str, radix: u32) -> Result<Number, String> {
    let end = digits.find(|c: char| !c.is_digit(radix.max(10))).unwrap_or(digits.len());
    let end = if radix == 2 { digits.find(|c| c != '0' && c != '1').unwrap_or(digits.len()) } else { end };
    let (digits, _) = digits.split_at(end);
    let suffix = &text[text.len() - (text.len() - prefix_len(radix) - end)..];
    if digits.is_empty() {
        return Err(format!("`{text}` has no digits"));
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| match radix {
        8 if digits.contains(['8', '9']) => {
            format!("`{text}` begins with 0 and so is octal, where the digits 8 and 9 do not occur")
        }
        _ => format!("`{text}` does not fit into 64 bits"),
    })?;
    let (factor, suffix) = match suffix.as_bytes().first() {
        Some(b'k') => (1 << 10, &suffix[1..]),
        Some(b'M') => (1 << 20, &suffix[1..]),
        Some(b'G') => (1 << 30, &suffix[1..]),
        _ => (1, suffix),
    };
    let value = value.checked_mul(factor).ok_or_else(|| format!("`{text}` does not fit into 64 bits"))?;
    let (unsigned, longs) = int_suffix(suffix).ok_or_else(|| bad_suffix(text, suffix))?;
    let ty = match (longs, unsigned) {
        (2, true) => IntLiteral::UInt64,
        (2, false) => IntLiteral::Int64,
        (1, true) => IntLiteral::UInt32,
        (1, false) => IntLiteral::Int32,
        (_, true) if value <= u64::from(u32::MAX) => IntLiteral::UInt32,
        (_, true) => IntLiteral::UInt64,
        _ if value <= i32::MAX as u64 => IntLiteral::Int32,
        _ if value <= u64::from(u32::MAX) => IntLiteral::UInt32,
        _ if value <= i64::MAX as u64 => IntLiteral::Int64,
        _ => IntLiteral::UInt64,
    };
    let truncated = longs == 1 && value > u64::from(u32::MAX);
    let value = if longs == 1 { value & u64::from(u32::MAX) } else { value };
    Ok(Number::Int { value, ty, truncated })
}

fn prefix_len(radix: u32) -> usize {
    if matches!(radix, 2 | 16) { 2 } else { 0 }
}

fn bad_suffix(text: &str, suffix: &str) -> String {
    format!("`{suffix}` is no suffix for the number `{}`", &text[..text.len() - suffix.len()])
}

/// Whether a suffix says unsigned, and how many `l` it has.
fn int_suffix(suffix: &str) -> Option<(bool, u32)> {
    Some(match suffix {
        "" => (false, 0),
        "u" | "U" => (true, 0),
        "l" | "L" => (false, 1),
        "ll" | "LL" => (false, 2),
        "ul" | "Ul" | "uL" | "UL" | "lu" | "lU" | "Lu" | "LU" => (true, 1),
        "ull" | "Ull" | "uLL" | "ULL" | "llu" | "llU" | "LLu" | "LLU" => (true, 2),
        _ => return None,
    })
}

/// Splits a floating-point literal into its digits and the type its suffix gives it.
fn float_suffix(lower: &str) -> (&str, FloatLiteral) {
    if let Some(digits) = lower.strip_suffix("f16") {
        (digits, FloatLiteral::Float16)
    } else if let Some(digits) = lower.strip_suffix('d') {
        (digits, FloatLiteral::Double)
    } else {
        (lower.strip_suffix('f').unwrap_or(lower), FloatLiteral::Float)
    }
}

fn decimal_float(text: &str, lower: &str) -> Result<Number, String> {
    let (digits, mut ty) = float_suffix(lower);
    let mut digits = digits.to_string();
    // `1.5d3`: an exponent that makes it a double.
    if let Some(at) = digits.find('d') {
        digits.replace_range(at..=at, "e");
        ty = FloatLiteral::Double;
    }
    let without_point = !digits.contains(['.', 'e']);
    if without_point && ty != FloatLiteral::Float {
        return Err(format!(
            "the floating-point literal `{text}` needs a point: write `{digits}.{}`",
            &text[digits.len()..]
        ));
    }
    let well_formed = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-'));
    let parsed = match ty {
        FloatLiteral::Float => digits.parse::<f32>().map(f64::from),
        _ => digits.parse::<f64>(),
    };
    match parsed {
        Ok(value) if well_formed => {
            let is_plain = digits == lower && ty == FloatLiteral::Float;
            let written = digits.parse::<f64>().ok().filter(|&written| is_plain && written != value);
            Ok(Number::Float { value, ty, without_point, written })
        }
        _ => {
            let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '_');
            let is_number = number.len() < text.len() && number.parse::<f64>().is_ok();
            Err(if is_number { bad_suffix(text, &text[number.len()..]) } else { format!("`{text}` is no number") })
        }
    }
}

/// Whether a decimal literal, whose value was rounded to a `float`, has more digits than those that any `float` needs, or is
/// a whole number that became another, or infinite.
pub(crate) fn loses_digits(text: &str, value: f64, written: f64) -> bool {
    const ENOUGH: usize = 9;
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_start_matches('0').trim_end_matches('0').len();
    // Of numbers like 1e30 nobody expects every digit.
    let counts = written.fract() == 0.0 && mantissa.len() == text.len();
    significant > ENOUGH || counts || value.is_infinite()
}

/// `digits` is what follows `0x`, in lower case: `1.8p-3f`.
fn hex_float(digits: &str) -> Result<Number, String> {
    let malformed = || format!("`0x{digits}` is no hexadecimal floating-point number");
    let (mantissa, exponent) = digits.split_once('p').ok_or_else(malformed)?;
    let (exponent, ty) = float_suffix(exponent);
    let exponent: i32 = exponent.parse().map_err(|_| malformed())?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(malformed());
    }
    // Up to 60 bits of digits are kept; what is beyond only decides rounding, so it is kept as one sticky bit.
    let mut bits: u64 = 0;
    let mut scale: i64 = 0;
    for (index, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(digit.to_digit(16).ok_or_else(malformed)?);
        if bits >> 60 == 0 {
            bits = bits << 4 | digit;
        } else {
            bits |= u64::from(digit != 0);
            scale += 4;
        }
        if index >= whole.len() {
            scale -= 4;
        }
    }
    let exponent = scale.saturating_add(i64::from(exponent)).clamp(-5000, 5000);
    let value = match ty {
        FloatLiteral::Float => f64::from(scaled(bits, exponent, 24, -149) as f32),
        _ => scaled(bits, exponent, 53, -1074),
    };
    Ok(Number::Float { value, ty, without_point: false, written: None })
}

/// `bits * 2^exponent`, rounded to nearest even with `precision` bits and no bit below `2^lowest`.
fn scaled(bits: u64, exponent: i64, precision: u32, lowest: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let len = 64 - bits.leading_zeros();
    let surplus = i64::from(len.saturating_sub(precision)).max(lowest - exponent).max(0);
    if surplus > 64 {
        return 0.0;
    }
    let wide = u128::from(bits);
    let kept = wide >> surplus;
    let rest = wide - (kept << surplus);
    let half = (1u128 << surplus) >> 1;
    let up = surplus > 0 && (rest > half || (rest == half && kept & 1 == 1));
    let rounded = (kept + u128::from(up)) as f64;
    let exponent = exponent + surplus;
    // In two steps, so that neither overflows before the value does.
    let half_exponent = exponent / 2;
    rounded * 2f64.powi(half_exponent as i32) * 2f64.powi((exponent - half_exponent) as i32)
}

/// The value of a character literal, or why it has none.
pub(crate) fn character(text: &str) -> Result<i8, String> {
    let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    let bytes = unescape(inner)?;
    match bytes[..] {
        [byte] => Ok(byte as i8),
        [] => Err("an empty character literal".into()),
        _ => Err("a character literal holds one byte; write strings with `\"`".into()),
    }
}

/// The content of a string literal with escapes replaced, or why it has none.
pub(crate) fn string(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('L').unwrap_or(text);
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    if !inner.contains('\\') {
        return Ok(inner.to_string());
    }
    String::from_utf8(unescape(inner)?).map_err(|_| "the escapes do not make valid UTF-8 text".into())
}

fn unescape(inner: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let escape = chars.next().unwrap_or('\\');
        bytes.push(match escape {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' => 27,
            '\\' | '\'' | '"' | '?' => escape as u8,
            // A line continued within the literal.
            '\n' => continue,
            '\r' => {
                chars.next_if_eq(&'\n');
                continue;
            }
            'x' => {
                let mut value = 0u32;
                let mut digits = 0;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    chars.next();
                    value = value.saturating_mul(16).saturating_add(digit);
                    digits += 1;
                }
                if digits == 0 {
                    return Err("`\\x` needs hexadecimal digits".into());
                }
                u8::try_from(value).map_err(|_| "a `\\x` escape larger than a byte".to_string())?
            }
            '0'..='7' => {
                let mut value = escape.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    chars.next();
                    value = value * 8 + digit;
                }
                u8::try_from(value).map_err(|_| "an octal escape larger than a byte".to_string())?
            }
            other => {
                return Err(format!("`\\{}` is no escape sequence", other.escape_debug()));
            }
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> (u64, IntLiteral) {
        match number(text) {
            Ok(Number::Int { value, ty, .. }) => (value, ty),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn float(text: &str) -> (f64, FloatLiteral) {
        match number(text) {
            Ok(Number::Float { value, ty, .. }) => (value, ty),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn integers() {
        use IntLiteral::{Int32, Int64, UInt32, UInt64};
        let cases = [
            ("0", 0, Int32),
            ("017", 15, Int32),
            ("0x7fffffff", 0x7fff_ffff, Int32),
            ("0xffffFFFF", 0xffff_ffff, UInt32),
            ("0b101", 5, Int32),
            ("5000000000", 5_000_000_000, Int64),
            ("0xffffffffffffffff", u64::MAX, UInt64),
            ("7u", 7, UInt32),
            ("7l", 7, Int32),
            ("7ull", 7, UInt64),
            ("7LLU", 7, UInt64),
            ("2k", 2048, Int32),
            ("1Mu", 1 << 20, UInt32),
            ("4G", 4 << 30, Int64),
            ("0x10k", 16384, Int32),
        ];
        for (text, value, ty) in cases {
            assert_eq!(int(text), (value, ty), "{text}");
        }
        for text in ["09", "0x", "12abc", "1lL", "1uk", "99999999999999999999", "0b2", "1uu", "0xfg"] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn floats() {
        use FloatLiteral::{Double, Float, Float16};
        let cases = [
            ("1.", 1.0, Float),
            (".5f", 0.5, Float),
            ("1e3", 1000.0, Float),
            ("0.1", f64::from(0.1f32), Float),
            ("0.1d", 0.1, Double),
            ("1.5d3", 1500.0, Double),
            ("1d-3", 0.001, Double),
            ("1.5f16", 1.5, Float16),
            ("1e2F16", 100.0, Float16),
            ("1f", 1.0, Float),
            ("0x1p-3", 0.125, Float),
            ("0x1.8p1d", 3.0, Double),
            ("0x1p-149", f64::from(f32::from_bits(1)), Float),
            ("0x1p-1074d", f64::from_bits(1), Double),
            ("0x1.ffffffp0", 2.0, Float),
            ("0x1.fffffffffffff8p0d", 2.0, Double),
        ];
        for (text, value, ty) in cases {
            assert_eq!(float(text), (value, ty), "{text}");
        }
        for text in ["1d", "1f16", "1.2.3", "1e", "1.0x", "0x1p", "0x.p1"] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn strings_and_characters() {
        assert_eq!(string(r#""a\n\x41\102\\""#).unwrap(), "a\nAB\\");
        assert_eq!(character("'a'"), Ok(97));
        assert_eq!(character(r"'\0'"), Ok(0));
        assert!(string(r#""\q""#).is_err());
        assert!(string(r#""\x""#).is_err());
        assert!(character("''").is_err());
        assert!(character("'ab'").is_err());
    }
}
