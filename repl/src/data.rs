//! Arguments of a program from words of the command line.

use crate::Failure;
use crate::npy::MappedNpy;
use half::f16;
use spmdvm::vm::sem;
use spmdvm::{Array, Export, ExportParam, HostType, HostValue, Pointer, Ty, Value};
use std::path::Path;

/// The arguments of one call, and the memory they live in.
pub struct CallData {
    slots: Vec<Slot>,
}

/// One argument.
struct Slot {
    name: String,
    content: Content,
}

/// A value, and the memory it lives in.
pub enum Content {
    Scalar(Ty, u64),
    Lanes(Ty, Vec<u64>),
    Null,
    Owned { ty: Ty, shape: Vec<u64>, data: Vec<u64>, bytes: usize },
    Mapped(MappedNpy),
}

impl CallData {
    /// Reads the words for the parameters of an export: in order, then `NAME=VALUE`.
    pub fn parse(export: &Export, words: &[String], lanes: usize) -> Result<CallData, Failure> {
        let mut given: Vec<Option<&str>> = vec![None; export.params.len()];
        for (i, word) in words.iter().enumerate() {
            let (at, text) = place_word(export, i, word)?;
            if given[at].replace(text).is_some() {
                return Err(Failure::usage(format!("`{}` is given twice", export.params[at].name)));
            }
        }
        let mut slots = Vec::new();
        for (param, text) in export.params.iter().zip(given) {
            let content = match (text, param.default) {
                (Some(text), _) => parse_argument(param, text, lanes)?,
                (None, Some(bits)) => default_argument(param, bits),
                (None, None) => return Err(missing(export, param)),
            };
            slots.push(Slot { name: param.name.clone(), content });
        }
        Ok(CallData { slots })
    }

    /// The arguments as values that borrow this memory.
    pub fn values(&mut self) -> Vec<Value<'_>> {
        self.slots.iter_mut().map(|slot| slot.content.value()).collect()
    }

    /// Fails if a mapped file was cut off.
    pub fn check(&self) -> Result<(), Failure> {
        self.slots.iter().try_for_each(|slot| slot.content.check())
    }

    /// The elements of the array argument of this name: type, shape, bytes.
    pub fn array(&self, name: &str) -> Option<(Ty, &[u64], &[u8])> {
        self.slots.iter().find(|slot| slot.name == name)?.content.array()
    }

    /// The array arguments.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, Ty, &[u64], &[u8])> {
        self.slots.iter().filter_map(|slot| {
            let (ty, shape, bytes) = slot.content.array()?;
            Some((slot.name.as_str(), ty, shape, bytes))
        })
    }
}

impl Content {
    /// Fails if it is a mapped file that was cut off.
    pub fn check(&self) -> Result<(), Failure> {
        match self {
            Content::Mapped(npy) => npy.check(),
            _ => Ok(()),
        }
    }

    /// It as a value that borrows its memory.
    pub fn value(&mut self) -> Value<'_> {
        match self {
            Content::Scalar(ty, bits) => Value::scalar(*ty, *bits),
            Content::Lanes(ty, words) => Value::Lanes { ty: *ty, words: words.clone() },
            Content::Null => Value::Pointer(Pointer::NULL),
            Content::Owned { ty, data, bytes, .. } => {
                // SAFETY: the words outlive the borrow and hold plain bytes.
                Value::Array(unsafe { Array::from_raw(data.as_mut_ptr().cast(), *bytes, Some(*ty), true) })
            }
            Content::Mapped(npy) => {
                let (ty, data) = (npy.ty, npy.data_mut());
                // SAFETY: the private mapping outlives the borrow.
                Value::Array(unsafe { Array::from_raw(data.as_mut_ptr(), data.len(), Some(ty), true) })
            }
        }
    }

    /// The elements of an array: type, shape, bytes.
    pub fn array(&self) -> Option<(Ty, &[u64], &[u8])> {
        match self {
            Content::Owned { ty, shape, data, bytes } => {
                // SAFETY: `data` holds at least `bytes` initialised bytes.
                let all = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), *bytes) };
                Some((*ty, shape, all))
            }
            Content::Mapped(npy) => Some((npy.ty, &npy.shape, npy.data())),
            _ => None,
        }
    }
}

fn place_word<'w>(export: &Export, position: usize, word: &'w str) -> Result<(usize, &'w str), Failure> {
    if let Some((name, text)) = word.split_once('=')
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    {
        let at = export.params.iter().position(|p| p.name == name);
        let names: Vec<&str> = export.params.iter().map(|p| p.name.as_str()).collect();
        return at.map(|at| (at, text)).ok_or_else(|| {
            Failure::usage(format!("{}() has no parameter `{name}` (it has {})", export.name, names.join(", ")))
        });
    }
    if position >= export.params.len() {
        let n = export.params.len();
        return Err(Failure::usage(format!("{}() takes {n} arguments: {}", export.name, export.declaration)));
    }
    Ok((position, word))
}

fn missing(export: &Export, param: &ExportParam) -> Failure {
    let example = match &param.value {
        HostValue::Array { elem, .. } => match scalar_of(elem) {
            Some(ty) => format!("zeros:{ty}:1024"),
            None => "@file.npy".into(),
        },
        HostValue::Uniform(ty) | HostValue::Varying(ty) if ty.is_float() => "1.5".into(),
        _ => "3".into(),
    };
    let message = format!(
        "{}() needs a value for `{}`, for instance {}={example}\n       {}",
        export.name, param.name, param.name, export.declaration
    );
    Failure::Usage(message)
}

fn default_argument(param: &ExportParam, bits: u64) -> Content {
    match param.value {
        HostValue::Varying(ty) | HostValue::Uniform(ty) => Content::Scalar(ty, bits),
        HostValue::Array { .. } => Content::Scalar(Ty::U64, bits),
    }
}

/// The scalar type that memory of this layout consists of, if it is one.
pub fn scalar_of(elem: &HostType) -> Option<Ty> {
    match elem {
        HostType::Scalar(ty) => Some(*ty),
        HostType::Enum(_) => Some(Ty::U32),
        HostType::Array(inner, _) => scalar_of(inner),
        HostType::Byte => Some(Ty::U8),
        HostType::Pointer => Some(Ty::U64),
        HostType::Struct { fields, .. } => {
            let mut types = fields.iter().map(|f| scalar_of(&f.2));
            let first = types.next()??;
            types.all(|t| t == Some(first)).then_some(first)
        }
    }
}

/// Reads the word for a parameter.
pub fn parse_argument(param: &ExportParam, text: &str, lanes: usize) -> Result<Content, Failure> {
    match &param.value {
        HostValue::Uniform(ty) => Ok(Content::Scalar(*ty, parse_number(param, *ty, text)?)),
        HostValue::Varying(ty) => match text.strip_prefix('[') {
            Some(_) => parse_lanes(param, *ty, text, lanes),
            None if text == "iota" => {
                let words = (0..lanes).map(|i| number_bits(*ty, i as f64)).collect();
                Ok(Content::Lanes(*ty, words))
            }
            None => Ok(Content::Scalar(*ty, parse_number(param, *ty, text)?)),
        },
        HostValue::Array { elem, .. } => parse_array(param, elem, text),
    }
}

/// One value per lane.
fn parse_lanes(param: &ExportParam, ty: Ty, text: &str, lanes: usize) -> Result<Content, Failure> {
    let words = parse_list(param, ty, text)?;
    if words.len() == lanes {
        return Ok(Content::Lanes(ty, words));
    }
    let (name, n) = (&param.name, words.len());
    let values = if n == 1 { "value" } else { "values" };
    Err(Failure::usage(format!(
        "`{name}` is varying: give one number for all lanes, or one for each of the {lanes} lanes, not {n} {values} \
         (--width sets the number of lanes)"
    )))
}

fn parse_array(param: &ExportParam, elem: &HostType, text: &str) -> Result<Content, Failure> {
    if text == "null" && matches!(param.value, HostValue::Array { reference: false, .. }) {
        return Ok(Content::Null);
    }
    if let Some(path) = text.strip_prefix('@') {
        return Ok(Content::Mapped(MappedNpy::open(Path::new(path))?));
    }
    let expected = scalar_of(elem);
    if text.starts_with('[') {
        let ty = expected.ok_or_else(|| Failure::usage(format!("`{}` takes structs: give @file.npy", param.name)))?;
        let words = parse_list(param, ty, text)?;
        return owned(param, ty, words.len(), |i| words[i]);
    }
    let bad = || {
        Failure::usage(format!(
            "`{}` is an array: give zeros:TYPE:LENGTH, ones:TYPE:LENGTH, iota:TYPE:LENGTH, [1,2,3] or @file.npy, not `{text}`",
            param.name
        ))
    };
    let mut parts = text.split(':');
    let kind = parts.next().ok_or_else(bad)?;
    let (first, second) = (parts.next().ok_or_else(bad)?, parts.next());
    let (ty, length) = match (second, expected) {
        (Some(length), _) => (Ty::from_name(first).ok_or_else(bad)?, length),
        (None, Some(ty)) => (ty, first),
        (None, None) => return Err(bad()),
    };
    let length: usize = length.parse().ok().filter(|&n| n <= 1 << 36).ok_or_else(bad)?;
    match kind {
        "zeros" => owned(param, ty, length, |_| 0),
        "ones" => owned(param, ty, length, |_| number_bits(ty, 1.0)),
        "iota" => owned(param, ty, length, |i| number_bits(ty, i as f64)),
        _ => Err(bad()),
    }
}

fn owned(param: &ExportParam, ty: Ty, n: usize, element: impl Fn(usize) -> u64) -> Result<Content, Failure> {
    let bytes = n * ty.size();
    // Words, so that elements are aligned.
    let mut data: Vec<u64> = Vec::new();
    data.try_reserve_exact(bytes.div_ceil(8))
        .map_err(|_| Failure::usage(format!("`{}`: there is no memory for {bytes} bytes", param.name)))?;
    let per_word = 8 / ty.size();
    for first in (0..n).step_by(per_word) {
        let elements = (first..n.min(first + per_word)).enumerate();
        let mask = u64::MAX >> (64 - 8 * ty.size());
        data.push(elements.fold(0, |word, (at, i)| word | (element(i) & mask) << (8 * ty.size() * at)));
    }
    Ok(Content::Owned { ty, shape: vec![n as u64], data, bytes })
}

fn parse_list(param: &ExportParam, ty: Ty, text: &str) -> Result<Vec<u64>, Failure> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.ok_or_else(|| Failure::usage(format!("`{}`: a list ends in `]`", param.name)))?;
    match inner.trim() {
        "" => Ok(Vec::new()),
        inner => inner.split(',').map(|item| parse_number(param, ty, item.trim())).collect(),
    }
}

fn parse_number(param: &ExportParam, ty: Ty, text: &str) -> Result<u64, Failure> {
    let wrong = || Failure::usage(format!("`{}` is of type {ty}, and `{text}` is no such value", param.name));
    if ty == Ty::Bool {
        return match text {
            "true" | "1" => Ok(1),
            "false" | "0" => Ok(0),
            _ => Err(wrong()),
        };
    }
    if ty.is_float() {
        return text.parse().map(|x| number_bits(ty, x)).map_err(|_| wrong());
    }
    let value: i128 = match text.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).map_err(|_| wrong())?,
        None => text.parse().map_err(|_| wrong())?,
    };
    let bits = 8 * ty.size() as u32;
    let (low, high) = if ty.is_signed() { (-(1i128 << (bits - 1)), 1i128 << (bits - 1)) } else { (0, 1i128 << bits) };
    if value < low || value >= high {
        return Err(Failure::usage(format!("`{}` is of type {ty}, which cannot hold {text}", param.name)));
    }
    Ok(value as u64)
}

/// A number as an element of any type.
fn number_bits(ty: Ty, x: f64) -> u64 {
    match ty {
        Ty::F64 => x.to_bits(),
        Ty::F32 => (x as f32).to_bits() as u64,
        Ty::F16 => sem::f16_from_f64(x).to_bits() as u64,
        Ty::Bool => (x != 0.0) as u64,
        _ => x as i64 as u64,
    }
}

/// One element as text.
pub fn show_element(ty: Ty, bits: u64) -> String {
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

/// The bits of element `i`.
pub fn element_bits(ty: Ty, bytes: &[u8], i: usize) -> u64 {
    let mut word = [0; 8];
    word[..ty.size()].copy_from_slice(&bytes[i * ty.size()..][..ty.size()]);
    u64::from_le_bytes(word)
}
