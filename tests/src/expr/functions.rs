//! The built-in functions of expectations.

use super::Value;
use half::f16;

/// Calls a built-in function.
pub(super) fn call(name: &str, args: &[Value]) -> Result<Value, String> {
    if let Some(result) = conversion(name, args).or_else(|| comparison(name, args)) {
        return result;
    }
    let floats = args.iter().map(Value::as_f64).collect::<Result<Vec<_>, _>>()?;
    if let Some(result) = bit_patterns(name, args, &floats) {
        return result;
    }
    let value = match (name, floats.as_slice()) {
        ("sqrt", [x]) => x.sqrt(),
        ("floor", [x]) => x.floor(),
        ("ceil", [x]) => x.ceil(),
        ("trunc", [x]) => x.trunc(),
        ("round", [x]) => x.round_ties_even(),
        ("fma32", [a, b, c]) => (*a as f32).mul_add(*b as f32, *c as f32) as f64,
        ("fma64", [a, b, c]) => a.mul_add(*b, *c),
        ("pow2", [x]) => x.exp2(),
        ("int", [x]) => return Ok(Value::Int(*x as i128)),
        _ => return Err(format!("no function `{name}` of {} arguments", args.len())),
    };
    Ok(Value::Float(value))
}

/// `i8(x)` … `u64(x)` wrap integers and saturate floats, `f16(x)` … `f64(x)` round.
fn conversion(name: &str, args: &[Value]) -> Option<Result<Value, String>> {
    macro_rules! convert {
        ($($ty:ident)*) => {
            match (name, args) {
                $((stringify!($ty), [Value::Int(v)]) => Value::Int(*v as $ty as i128),
                  (stringify!($ty), [Value::Float(v)]) => Value::Int(*v as $ty as i128),)*
                ("f16", [Value::Int(v)]) => Value::Float(f16::from_f64(*v as f64).to_f64()),
                ("f16", [Value::Float(v)]) => Value::Float(f16::from_f64(*v).to_f64()),
                ("f32", [Value::Int(v)]) => Value::Float(*v as f32 as f64),
                ("f32", [Value::Float(v)]) => Value::Float(*v as f32 as f64),
                ("f64", [Value::Int(v)]) => Value::Float(*v as f64),
                ("f64", [Value::Float(v)]) => Value::Float(*v),
                _ => return None,
            }
        };
    }
    Some(Ok(convert!(i8 i16 i32 i64 u8 u16 u32 u64)))
}

/// `min` and `max` of any number of values as the language defines them (`a < b ? a : b`), and `abs`.
fn comparison(name: &str, args: &[Value]) -> Option<Result<Value, String>> {
    match (name, args) {
        ("min", [first, rest @ ..]) => {
            Some(rest.iter().try_fold(first.clone(), |a, b| Ok(if less(&a, b)? { a } else { b.clone() })))
        }
        ("max", [first, rest @ ..]) => {
            Some(rest.iter().try_fold(first.clone(), |a, b| Ok(if less(b, &a)? { a } else { b.clone() })))
        }
        ("abs", [Value::Int(v)]) => Some(Ok(Value::Int(v.abs()))),
        ("abs", [Value::Float(v)]) => Some(Ok(Value::Float(v.abs()))),
        _ => None,
    }
}

fn less(a: &Value, b: &Value) -> Result<bool, String> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a < b),
        (a, b) => Ok(a.as_f64()? < b.as_f64()?),
    }
}

/// `bits16/32/64(x)`: the bits of a float; `float16/32/64(bits)`: the float with these bits; `popcount`, `isnan`.
fn bit_patterns(name: &str, args: &[Value], floats: &[f64]) -> Option<Result<Value, String>> {
    Some(Ok(match (name, args, floats) {
        ("bits16", _, [x]) => Value::Int(f16::from_f64(*x).to_bits().into()),
        ("bits32", _, [x]) => Value::Int((*x as f32).to_bits().into()),
        ("bits64", _, [x]) => Value::Int(x.to_bits().into()),
        ("float16", [Value::Int(v)], _) => Value::Float(f16::from_bits(*v as u16).to_f64()),
        ("float32", [Value::Int(v)], _) => Value::Float(f32::from_bits(*v as u32).into()),
        ("float64", [Value::Int(v)], _) => Value::Float(f64::from_bits(*v as u64)),
        ("popcount", [Value::Int(v)], _) => Value::Int((*v as u64).count_ones().into()),
        ("isnan", _, [x]) => Value::Int(x.is_nan() as i128),
        _ => return None,
    }))
}
