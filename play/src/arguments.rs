//! The arguments of a call, from the words that the page sends, and the memory they live in.

use crate::numbers::Elements;
use spmdvm::{Array, Export, ExportParam, HostType, HostValue, Pointer, Ty, Value};
use spmdvm_oracle::words::{self, Word, scalar_of};

/// The arguments of one call.
pub struct Arguments {
    slots: Vec<(String, Content)>,
}

/// A value, and the memory it lives in.
enum Content {
    Scalar(Ty, u64),
    Lanes(Ty, Vec<u64>),
    Null,
    Array(Block),
}

/// The memory of an array.
struct Block {
    ty: Ty,
    /// Whether the program sees elements of that type, and not structs of several.
    is_plain: bool,
    shape: Vec<u64>,
    /// Words, so that elements are aligned.
    data: Vec<u64>,
    bytes: usize,
    /// What it was at the start.
    before: Vec<u64>,
}

impl Arguments {
    /// Reads the words for the parameters of an export, `NAME=WORD` or in order; arrays may have so many bytes together.
    pub fn parse(export: &Export, given: &[String], lanes: usize, most: u64) -> Result<Arguments, String> {
        let given: Vec<&str> = given.iter().map(|word| word.trim()).filter(|word| !word.ends_with('=')).collect();
        let mut left = most;
        let mut slots = Vec::new();
        for (param, word) in export.params.iter().zip(words::place(export, &given)?) {
            let word = match word {
                Some(word) => words::parse(param, word, lanes)?,
                None => words::default_of(export, param)?,
            };
            slots.push((param.name.clone(), content(param, word, &mut left)?));
        }
        Ok(Arguments { slots })
    }

    /// The arguments as values that borrow this memory.
    pub fn values(&mut self) -> Vec<Value<'_>> {
        self.slots.iter_mut().map(|(_, content)| content.value()).collect()
    }

    /// The arrays, and whether they are other than at the start.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, Elements<'_>, bool)> {
        self.slots.iter().filter_map(|(name, content)| {
            let Content::Array(block) = content else { return None };
            Some((name.as_str(), block.elements(), block.data != block.before))
        })
    }
}

impl Content {
    fn value(&mut self) -> Value<'_> {
        match self {
            Content::Scalar(ty, bits) => Value::scalar(*ty, *bits),
            Content::Lanes(ty, words) => Value::Lanes { ty: *ty, words: words.clone() },
            Content::Null => Value::Pointer(Pointer::NULL),
            Content::Array(Block { ty, is_plain, data, bytes, .. }) => {
                // SAFETY: the words hold these bytes, outlive the borrow, and are not looked at meanwhile.
                Value::Array(unsafe {
                    Array::from_raw(data.as_mut_ptr().cast(), *bytes, is_plain.then_some(*ty), true)
                })
            }
        }
    }
}

impl Block {
    fn elements(&self) -> Elements<'_> {
        // SAFETY: `data` holds at least `bytes` initialised bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.data.as_ptr().cast::<u8>(), self.bytes) };
        Elements { ty: self.ty, shape: &self.shape, bytes }
    }
}

fn content(param: &ExportParam, word: Word, left: &mut u64) -> Result<Content, String> {
    match word {
        Word::Scalar(ty, bits) => Ok(Content::Scalar(ty, bits)),
        Word::Lanes(ty, words) => Ok(Content::Lanes(ty, words)),
        Word::Null => Ok(Content::Null),
        Word::File(_) => Err(format!("`{}`: the playground reads no files", param.name)),
        Word::Elements(elements) => {
            let bytes = elements.length as u64 * elements.ty.size() as u64;
            // Twice: what it was at the start is kept.
            *left = left
                .checked_sub(bytes.saturating_mul(2))
                .ok_or_else(|| format!("`{}`: arrays of so many bytes are beyond the memory limit", param.name))?;
            let (ty, bytes) = (elements.ty, bytes as usize);
            let data = elements.packed().ok_or_else(|| format!("`{}`: there is no memory", param.name))?;
            let is_plain = match &param.value {
                HostValue::Array { elem, .. } => scalar_of(elem).is_some(),
                HostValue::Uniform(_) | HostValue::Varying(_) => true,
            };
            Ok(Content::Array(Block { ty, is_plain, shape: elements.shape.clone(), before: data.clone(), data, bytes }))
        }
    }
}

/// Elements of arrays for which nothing better is known.
const LENGTH: usize = 16;

/// A word to begin with for a parameter.
pub fn suggested(param: &ExportParam) -> String {
    let elements = |ty: Ty, pattern: &str, inner: String| format!("{pattern}:{ty}:{LENGTH}{inner}");
    match &param.value {
        HostValue::Uniform(ty) | HostValue::Varying(ty) if param.default.is_some() => {
            words::number(*ty, param.default.unwrap_or(0))
        }
        HostValue::Uniform(Ty::Bool) | HostValue::Varying(Ty::Bool) => "true".into(),
        HostValue::Uniform(ty) if ty.is_float() => "1".into(),
        HostValue::Uniform(_) => LENGTH.to_string(),
        HostValue::Varying(_) => "iota".into(),
        HostValue::Array { elem, .. } => match scalar_of(elem) {
            Some(Ty::Bool) => elements(Ty::Bool, "zeros", lengths(elem)),
            Some(ty) => elements(ty, "iota", lengths(elem)),
            None => format!("zeros:u8:{}", LENGTH as u64 * elem.size()),
        },
    }
}

/// The lengths within an element, as in `16x4`.
fn lengths(elem: &HostType) -> String {
    match elem {
        HostType::Array(inner, n) => format!("x{n}{}", lengths(inner)),
        HostType::Struct { size, .. } => format!("x{}", size / scalar_of(elem).map_or(1, |ty| ty.size() as u64)),
        _ => String::new(),
    }
}
