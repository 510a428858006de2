//! Numbers as JSON and as text, exactly.
//!
//! Integers are JSON numbers of up to 64 bits, bools `true` and `false`. Floats are JSON numbers where they are finite, with as few
//! digits as tell them apart from others of their type; else `"nan"`, `"inf"` or `"-inf"`. A NaN other than the usual one is
//! its bits in hexadecimal (`"0x7fc00001"`).

use half::f16;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use spmdvm::Ty;
use spmdvm::vm::sem;

/// A value of a type: its bits, above them zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub Ty, pub u64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Number(ty, bits) = *self;
        match ty {
            Ty::Bool => serializer.serialize_bool(bits != 0),
            Ty::I8 => serializer.serialize_i8(bits as i8),
            Ty::I16 => serializer.serialize_i16(bits as i16),
            Ty::I32 => serializer.serialize_i32(bits as i32),
            Ty::I64 => serializer.serialize_i64(bits as i64),
            Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => serializer.serialize_u64(bits),
            _ if !float(ty, bits).is_finite() => serializer.serialize_str(&special(ty, bits)),
            Ty::F32 => serializer.serialize_f32(f32::from_bits(bits as u32)),
            Ty::F16 | Ty::F64 => serializer.serialize_f64(float(ty, bits)),
        }
    }
}

/// A number as a value of JSON.
pub fn to_json(Number(ty, bits): Number) -> Json {
    let x = f32::from_bits(bits as u32);
    match ty {
        // Values hold no floats of 32 bits; the f64 that has the same digits is read back as the same number.
        Ty::F32 if x.is_finite() => Json::from(x.to_string().parse().unwrap_or(x as f64)),
        _ => serde_json::to_value(Number(ty, bits)).unwrap_or_default(),
    }
}

/// The value of a float.
fn float(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::F16 => f16::from_bits(bits as u16).to_f64(),
        Ty::F32 => f32::from_bits(bits as u32) as f64,
        _ => f64::from_bits(bits),
    }
}

/// The bits of a float.
fn float_bits(ty: Ty, x: f64) -> u64 {
    match ty {
        Ty::F16 => sem::f16_from_f64(x).to_bits() as u64,
        Ty::F32 => (x as f32).to_bits() as u64,
        _ => x.to_bits(),
    }
}

/// A float that JSON has no number for.
fn special(ty: Ty, bits: u64) -> String {
    let x = float(ty, bits);
    match x.is_nan() {
        false => x.to_string(),
        true if bits == float_bits(ty, f64::NAN) => "nan".into(),
        true => format!("{bits:#x}"),
    }
}

/// The bits of a number of JSON; `None` if it is no value of the type.
pub fn from_json(ty: Ty, value: &Json) -> Option<u64> {
    match value {
        Json::Bool(value) => (ty == Ty::Bool).then_some(*value as u64),
        Json::Number(number) if ty.is_float() => number.as_f64().map(|x| float_bits(ty, x)),
        Json::Number(number) if ty.is_int() => integer(ty, number.as_i128()?),
        Json::String(text) if ty.is_float() => match text.as_str() {
            "nan" => Some(float_bits(ty, f64::NAN)),
            "inf" => Some(float_bits(ty, f64::INFINITY)),
            "-inf" => Some(float_bits(ty, f64::NEG_INFINITY)),
            text => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok().filter(|bits| fits(ty, *bits)),
        },
        _ => None,
    }
}

fn integer(ty: Ty, value: i128) -> Option<u64> {
    let bits = 8 * ty.size() as u32;
    let low = if ty.is_signed() { -(1i128 << (bits - 1)) } else { 0 };
    let high = low + (1i128 << bits);
    (low..high).contains(&value).then_some(value as u64 & (u64::MAX >> (64 - bits)))
}

/// Returns whether the bits above those of the type are zeros.
fn fits(ty: Ty, bits: u64) -> bool {
    bits & (u64::MAX >> (64 - 8 * ty.size())) == bits
}

/// A number as tables show it.
pub fn shown(Number(ty, bits): Number) -> String {
    match ty {
        Ty::Bool => (bits != 0).to_string(),
        Ty::I8 => (bits as i8).to_string(),
        Ty::I16 => (bits as i16).to_string(),
        Ty::I32 => (bits as i32).to_string(),
        Ty::I64 => (bits as i64).to_string(),
        Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => bits.to_string(),
        Ty::F16 => f16::from_bits(bits as u16).to_string(),
        Ty::F32 => f32::from_bits(bits as u32).to_string(),
        Ty::F64 => f64::from_bits(bits).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(ty: Ty, bits: u64) {
        let text = serde_json::to_string(&Number(ty, bits)).expect("a number");
        let json: Json = serde_json::from_str(&text).expect("JSON");
        assert_eq!(from_json(ty, &json), Some(bits), "{ty} {text}");
        assert_eq!(from_json(ty, &to_json(Number(ty, bits))), Some(bits), "{ty} {text}");
    }

    #[test]
    fn numbers_survive_json() {
        let mut seed = 1u64;
        for ty in Ty::ALL {
            let mask = u64::MAX >> (64 - 8 * ty.size());
            for round in 0..20_000u64 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let bits = match ty {
                    Ty::Bool => seed >> 63,
                    // All halves, and their like.
                    _ if round < 10_000 => (seed ^ seed >> 32) & mask,
                    _ => (round * 7) & mask,
                };
                round_trip(ty, bits);
            }
        }
    }

    #[test]
    fn f32_has_as_few_digits_as_tell_it_apart() {
        let text = |ty, bits| serde_json::to_string(&Number(ty, bits)).expect("a number");
        assert_eq!(text(Ty::F32, 0.1f32.to_bits() as u64), "0.1");
        assert_eq!(to_json(Number(Ty::F32, 0.1f32.to_bits() as u64)).to_string(), "0.1");
        assert_eq!(text(Ty::F32, (-0.0f32).to_bits() as u64), "-0.0");
        assert_eq!(text(Ty::F64, f64::NEG_INFINITY.to_bits()), "\"-inf\"");
        assert_eq!(text(Ty::F32, f32::NAN.to_bits() as u64), "\"nan\"");
        assert_eq!(text(Ty::F32, 0x7fc0_0001), "\"0x7fc00001\"");
        assert_eq!(text(Ty::U64, u64::MAX), "18446744073709551615");
        assert_eq!(text(Ty::I8, 0xff), "-1");
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (ty, text) in [
            (Ty::I8, "128"),
            (Ty::U8, "-1"),
            (Ty::I32, "1.5"),
            (Ty::F32, "\"x\""),
            (Ty::Bool, "1"),
            (Ty::F16, "\"0x12345\""),
        ] {
            let json: Json = serde_json::from_str(text).expect("JSON");
            assert_eq!(from_json(ty, &json), None, "{ty} {text}");
        }
    }
}
