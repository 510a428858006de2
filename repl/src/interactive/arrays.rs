//! Arrays that `:let` makes: of `.npy` files, of ranges, of random numbers.

use super::show::numbers_of;
use super::variables::{Stored, Variable, Variables};
use crate::npy::MappedNpy;
use spmdvm::{InfoKind, Ty, TypeInfo, TypeShape};
use std::path::Path;
use std::sync::Arc;

/// An array of numbers.
#[derive(Clone, Debug)]
pub struct Array {
    /// The type of its elements.
    pub ty: Ty,
    /// The lengths of its dimensions, outermost first; none for a number.
    pub shape: Vec<u64>,
    /// Its elements.
    pub bytes: Vec<u8>,
}

/// A function of `:let`: how it is written, and what it gives.
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("load(\"file.npy\")", "the array in a file"),
    ("linspace(a, b, n)", "n numbers from a to b, both included"),
    ("arange(n), arange(a, b), arange(a, b, step)", "the numbers from a (or 0) up to b, without b"),
    ("zeros(n), zeros(n, m), …", "zeros, in one or more dimensions"),
    ("ones(n), …", "ones"),
    ("full(value, n), …", "the same number everywhere"),
    ("random(n), …", "uniform random numbers of [0, 1), or of all integers; seed=N chooses others"),
    ("normal(n), …", "normally distributed random numbers; seed=N"),
    ("reshape(x, n, m), …", "the elements of an array in other dimensions"),
];

/// The names of types that `type=` takes, and what they stand for.
const TYPES: &[(&str, Ty)] = &[
    ("float", Ty::F32),
    ("double", Ty::F64),
    ("float16", Ty::F16),
    ("int", Ty::I32),
    ("int8", Ty::I8),
    ("int16", Ty::I16),
    ("int32", Ty::I32),
    ("int64", Ty::I64),
    ("uint", Ty::U32),
    ("uint8", Ty::U8),
    ("uint16", Ty::U16),
    ("uint32", Ty::U32),
    ("uint64", Ty::U64),
];

/// Most bytes of an array that is made.
const MAX_BYTES: u64 = 1 << 31;

/// What stands behind `=` in `:let`.
pub fn evaluate(text: &str, variables: &Variables) -> Result<Array, String> {
    let text = text.trim().trim_end_matches(';').trim_end();
    if let Some(number) = Number::read(text) {
        return Ok(Array { ty: number.ty(), shape: Vec::new(), bytes: number.to(number.ty()) });
    }
    let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let Some((name, arguments)) = call else { return Err(unknown(text)) };
    let call = Call::read(name.trim(), arguments)?;
    match call.name {
        "load" => load(&call),
        "linspace" => linspace(&call),
        "arange" => arange(&call),
        "zeros" => filled(&call, Number::Int(0), 0),
        "ones" => filled(&call, Number::Int(1), 0),
        "full" => filled(&call, call.number(0)?, 1),
        "random" => random(&call, false),
        "normal" => random(&call, true),
        "reshape" => reshape(&call, variables),
        _ => Err(unknown(text)),
    }
}

fn unknown(text: &str) -> String {
    let list: String = FUNCTIONS.iter().map(|(form, what)| format!("  {form:<44} {what}\n")).collect();
    format!("`{text}` is no array that `:let` can make; it makes\n{list}")
}

/// A number as it was written.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn read(text: &str) -> Option<Number> {
        let starts = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+' || c == '.');
        let int = text.parse().ok().map(Number::Int);
        int.or_else(|| text.trim_end_matches('f').parse().ok().map(Number::Float)).filter(|_| starts)
    }

    fn float(self) -> f64 {
        match self {
            Number::Int(i) => i as f64,
            Number::Float(f) => f,
        }
    }

    fn ty(self) -> Ty {
        match self {
            Number::Int(i) if i32::try_from(i).is_ok() => Ty::I32,
            Number::Int(_) => Ty::I64,
            Number::Float(_) => Ty::F32,
        }
    }

    fn to(self, ty: Ty) -> Vec<u8> {
        let int = match self {
            Number::Int(i) => i,
            Number::Float(f) => f as i64,
        };
        element(ty, int, self.float())
    }
}

/// The bytes of a number.
fn element(ty: Ty, int: i64, float: f64) -> Vec<u8> {
    match ty {
        Ty::F16 => half::f16::from_f64(float).to_le_bytes().to_vec(),
        Ty::F32 => (float as f32).to_le_bytes().to_vec(),
        Ty::F64 => float.to_le_bytes().to_vec(),
        _ => int.to_le_bytes()[..ty.size()].to_vec(),
    }
}

/// A call with its arguments.
struct Call<'t> {
    name: &'t str,
    arguments: Vec<&'t str>,
    ty: Option<Ty>,
    seed: u64,
}

impl<'t> Call<'t> {
    fn read(name: &'t str, arguments: &'t str) -> Result<Call<'t>, String> {
        let mut call = Call { name, arguments: Vec::new(), ty: None, seed: 0 };
        for argument in arguments.split(',').map(str::trim).filter(|argument| !argument.is_empty()) {
            let named = argument.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
            match named {
                Some(("seed", value)) => {
                    call.seed = value.parse().map_err(|_| format!("the seed is a number from 0 on, not `{value}`"))?;
                }
                Some(("type", value)) => call.ty = Some(type_named(value)?),
                Some((name, _)) => {
                    return Err(format!("`{name}=` is nothing that {}() takes; there are type= and seed=", call.name));
                }
                None => match TYPES.iter().find(|(name, _)| *name == argument) {
                    Some(&(_, ty)) => call.ty = Some(ty),
                    None => call.arguments.push(argument),
                },
            }
        }
        Ok(call)
    }

    fn number(&self, at: usize) -> Result<Number, String> {
        let Some(text) = self.arguments.get(at) else {
            let form = FUNCTIONS.iter().find(|(form, _)| form.starts_with(self.name)).map_or("", |(form, _)| form);
            return Err(format!("{}() takes more arguments: {form}", self.name));
        };
        Number::read(text).ok_or_else(|| format!("{}(): `{text}` is no number", self.name))
    }

    /// The lengths from an argument on.
    fn shape(&self, from: usize) -> Result<Vec<u64>, String> {
        self.number(from)?;
        let length = |at: usize| match self.number(at)? {
            Number::Int(n) if n > 0 => Ok(n as u64),
            _ => Err(format!("{}(): a length is a number from 1 on, not `{}`", self.name, self.arguments[at])),
        };
        (from..self.arguments.len()).map(length).collect()
    }
}

fn type_named(name: &str) -> Result<Ty, String> {
    TYPES.iter().find(|(known, _)| *known == name).map(|&(_, ty)| ty).ok_or_else(|| {
        let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        format!("there is no type `{name}`; choose one of {}", names.join(", "))
    })
}

/// An array whose elements a function gives: as an integer and as a floating-point number.
fn make(ty: Ty, shape: Vec<u64>, mut each: impl FnMut(u64) -> (i64, f64)) -> Result<Array, String> {
    let n = shape.iter().try_fold(1u64, |n, &length| n.checked_mul(length));
    let bytes = n.and_then(|n| n.checked_mul(ty.size() as u64)).filter(|&bytes| bytes <= MAX_BYTES);
    let (Some(n), Some(_)) = (n, bytes) else { return Err("the array is larger than 2 GiB".into()) };
    let bytes = (0..n)
        .flat_map(|i| {
            let (int, float) = each(i);
            element(ty, int, float)
        })
        .collect();
    Ok(Array { ty, shape, bytes })
}

fn load(call: &Call<'_>) -> Result<Array, String> {
    let [path] = call.arguments.as_slice() else { return Err("load() takes the name of a file".into()) };
    let npy = MappedNpy::open(Path::new(path.trim_matches('"'))).map_err(|failure| failure.message())?;
    if npy.data().is_empty() {
        return Err(format!("{path} holds no elements"));
    }
    Ok(Array { ty: npy.ty, shape: npy.shape.clone(), bytes: npy.data().to_vec() })
}

fn linspace(call: &Call<'_>) -> Result<Array, String> {
    let (a, b) = (call.number(0)?.float(), call.number(1)?.float());
    let shape = call.shape(2)?;
    let [n] = shape[..] else { return Err("linspace() takes one length".into()) };
    let at = |i: u64| if i + 1 == n && n > 1 { b } else { a + (b - a) * i as f64 / (n.max(2) - 1) as f64 };
    make(call.ty.unwrap_or(Ty::F32), shape, |i| (at(i) as i64, at(i)))
}

fn arange(call: &Call<'_>) -> Result<Array, String> {
    let numbers = (0..call.arguments.len().max(1)).map(|at| call.number(at)).collect::<Result<Vec<_>, _>>()?;
    let (start, end, step) = match numbers[..] {
        [end] => (Number::Int(0), end, Number::Int(1)),
        [start, end] => (start, end, Number::Int(1)),
        [start, end, step] => (start, end, step),
        _ => return Err("arange() takes up to three numbers: the first, the end, the step".into()),
    };
    let all_ints = [start, end, step].iter().all(|n| matches!(n, Number::Int(_)));
    let n = ((end.float() - start.float()) / step.float()).ceil();
    if !(1.0..4e9).contains(&n) {
        return Err(format!("arange({}) has no elements, or too many", call.arguments.join(", ")));
    }
    let ty = call.ty.unwrap_or(if all_ints { Ty::I32 } else { Ty::F32 });
    make(ty, vec![n as u64], |i| {
        let float = start.float() + step.float() * i as f64;
        (float as i64, float)
    })
}

fn filled(call: &Call<'_>, value: Number, shape_at: usize) -> Result<Array, String> {
    let default = if shape_at == 0 { Ty::F32 } else { value.ty() };
    let number = value.float();
    make(call.ty.unwrap_or(default), call.shape(shape_at)?, |_| (number as i64, number))
}

fn random(call: &Call<'_>, is_normal: bool) -> Result<Array, String> {
    let mut state = call.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut word = move || {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let fraction = |word: u64| (word >> 40) as f64 / (1u64 << 24) as f64;
    make(call.ty.unwrap_or(Ty::F32), call.shape(0)?, |_| {
        let first = word();
        match is_normal {
            false => (first as i64, fraction(first)),
            true => {
                // Box and Muller.
                let (u, v) = (1.0 - fraction(first), fraction(word()));
                let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
                (normal as i64, normal)
            }
        }
    })
}

fn reshape(call: &Call<'_>, variables: &Variables) -> Result<Array, String> {
    let name = call.arguments.first().copied().unwrap_or_default();
    let array = of_variable(name, variables)?;
    let shape = call.shape(1)?;
    let (n, wanted) = (array.bytes.len() as u64 / array.ty.size() as u64, shape.iter().product::<u64>());
    if n != wanted {
        return Err(format!("`{name}` has {n} elements, not {wanted}"));
    }
    Ok(Array { shape, ..array })
}

/// The numbers in a variable.
pub fn of_variable(name: &str, variables: &Variables) -> Result<Array, String> {
    let Some(variable) = variables.get(name) else {
        let close = spmdvm::tools::closest(name, variables.names());
        let hint = close.map_or("`:vars` lists them".into(), |close| format!("did you mean `{close}`?"));
        return Err(format!("there is no variable `{name}`; {hint}"));
    };
    let Some(value) = &variable.value else { return Err(format!("`{name}` has no value yet")) };
    match numbers_of(&variable.ty, value) {
        Some((ty, shape, bytes)) => Ok(Array { ty, shape, bytes: bytes.to_vec() }),
        None => Err(format!("`{name}` is {}, which holds other things than numbers of one type", variable.ty.name)),
    }
}

impl Array {
    /// A variable that holds it.
    pub fn into_variable(self, name: &str) -> Variable {
        let ty = self.type_info();
        let lengths: String = self.shape.iter().map(|n| format!("[{n}]")).collect();
        let declaration = format!("uniform {} {name}{lengths}", language_name(self.ty));
        let mut variable = Variable::new(declaration, ty, false);
        variable.value = Some(Arc::new(Stored { bytes: self.bytes, pointers: Vec::new() }));
        variable
    }

    fn type_info(&self) -> TypeInfo {
        let size = self.ty.size() as u64;
        let element = TypeInfo {
            name: format!("uniform {}", type_name(self.ty)),
            size,
            kind: InfoKind::Scalar(self.ty, TypeShape::Uniform),
        };
        let element_name = element.name.clone();
        let mut lengths = String::new();
        self.shape.iter().rev().fold(element, |elem, &n| {
            lengths = format!("[{n}]{lengths}");
            TypeInfo {
                name: format!("{element_name}{lengths}"),
                size: elem.size * n,
                kind: InfoKind::Array(Box::new(elem), n),
            }
        })
    }
}

/// A type as the compiler's messages name it.
fn type_name(ty: Ty) -> &'static str {
    match ty {
        Ty::I32 => "int32",
        Ty::U32 => "uint32",
        _ => language_name(ty),
    }
}

/// A type as programs write it.
fn language_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::I32 => "int",
        Ty::U32 => "uint",
        _ => TYPES.iter().find(|(_, known)| *known == ty).map_or("float", |(name, _)| name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(text: &str) -> Vec<f32> {
        let array = evaluate(text, &Variables::default()).expect("an array");
        assert_eq!(array.ty, Ty::F32);
        array.bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }

    #[test]
    fn ranges() {
        assert_eq!(floats("linspace(0, 1, 5)"), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(floats("arange(0, 1, 0.5)"), [0.0, 0.5]);
        assert_eq!(evaluate("arange(3)", &Variables::default()).unwrap().bytes.len(), 12);
        assert_eq!(evaluate("zeros(2, 3, type=double)", &Variables::default()).unwrap().shape, [2, 3]);
    }

    #[test]
    fn random_numbers_follow_from_the_seed() {
        assert_eq!(floats("random(9, seed=3)"), floats("random(9, seed=3)"));
        assert_ne!(floats("random(9, seed=3)"), floats("random(9, seed=4)"));
        assert!(floats("random(100)").iter().all(|x| (0.0..1.0).contains(x)));
    }

    #[test]
    fn mistakes() {
        let wrong = |text: &str| evaluate(text, &Variables::default()).expect_err(text);
        assert!(wrong("linspace(0, 1)").contains("linspace(a, b, n)"));
        assert!(wrong("zeros(0)").contains("from 1 on"));
        assert!(wrong("zeros(3, type=number)").contains("no type"));
        assert!(wrong("sin(x)").contains("arange(n)"));
        assert!(wrong("zeros(4000000000, 4000000000)").contains("2 GiB"));
    }
}
