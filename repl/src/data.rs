//! Arguments of a program from words of the command line.

use crate::Failure;
use crate::npy::MappedNpy;
use crate::npz;
use half::f16;
use spmdvm::{Array, Export, ExportParam, Pointer, Ty, Value};
use spmdvm_oracle::words::{self, Elements, Word};
pub use spmdvm_oracle::words::{element_bits, scalar_of};
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
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let given = words::place(export, &words).map_err(Failure::Usage)?;
        let mut slots = Vec::new();
        for (param, text) in export.params.iter().zip(given) {
            let content = match text {
                Some(text) => parse_argument(param, text, lanes)?,
                None => content(param, words::default_of(export, param).map_err(Failure::Usage)?)?,
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

/// Reads the word for a parameter.
pub fn parse_argument(param: &ExportParam, text: &str, lanes: usize) -> Result<Content, Failure> {
    content(param, words::parse(param, text, lanes).map_err(Failure::Usage)?)
}

/// What a word stands for, with the memory of arrays.
fn content(param: &ExportParam, word: Word) -> Result<Content, Failure> {
    match word {
        Word::Scalar(ty, bits) => Ok(Content::Scalar(ty, bits)),
        Word::Lanes(ty, words) => Ok(Content::Lanes(ty, words)),
        Word::Elements(elements) => owned(param, &elements),
        Word::File(path) => file(param, &path),
        Word::Null => Ok(Content::Null),
    }
}

/// The array in a file. Of a `.npz` file it is the one that is named behind a colon, or like the parameter.
fn file(param: &ExportParam, path: &Path) -> Result<Content, Failure> {
    match npz::member_of(path) {
        Some((path, member)) => npz::read(path, member.unwrap_or(&param.name)),
        None => Ok(Content::Mapped(MappedNpy::open(path)?)),
    }
}

fn owned(param: &ExportParam, elements: &Elements) -> Result<Content, Failure> {
    let ty = elements.ty;
    let bytes = elements.length * ty.size();
    let none = || Failure::usage(format!("`{}`: there is no memory for {bytes} bytes", param.name));
    let data = elements.packed().ok_or_else(none)?;
    Ok(Content::Owned { ty, shape: elements.shape.clone(), data, bytes })
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

/// A number of any type as a floating-point one.
pub fn as_float(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::Bool => f64::from(u8::from(bits != 0)),
        Ty::I8 => f64::from(bits as i8),
        Ty::I16 => f64::from(bits as i16),
        Ty::I32 => f64::from(bits as i32),
        Ty::I64 => bits as i64 as f64,
        Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => bits as f64,
        Ty::F16 => f64::from(f16::from_bits(bits as u16)),
        Ty::F32 => f64::from(f32::from_bits(bits as u32)),
        Ty::F64 => f64::from_bits(bits),
    }
}

/// The numbers of an array, as floating-point ones.
pub fn as_floats(ty: Ty, bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    (0..bytes.len() / ty.size()).map(move |i| as_float(ty, element_bits(ty, bytes, i)))
}
