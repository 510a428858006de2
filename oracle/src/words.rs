//! Words that stand for arguments: `3`, `2.5`, `iota:i32:40`, `random:f32:40:7`, `[1, 2, 3]`, `null`, `@file.npy`.
//!
//! The command line (`spmdvm run`) and test cases (`// call: f(…)`) read and write the same words. A word is read for a parameter
//! of an export, which says its type. Elements are words of memory that hold the bits of a value, above them zeros.

use spmdvm::vm::sem;
use spmdvm::{Export, ExportParam, HostType, HostValue, Ty};
use std::path::PathBuf;

/// The longest array that a word may stand for.
pub const MAX_LENGTH: u64 = 1 << 36;

/// What a word stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// One number.
    Scalar(Ty, u64),
    /// One number per lane.
    Lanes(Ty, Vec<u64>),
    /// An array.
    Elements(Elements),
    /// The array in a file.
    File(PathBuf),
    /// No memory.
    Null,
}

/// The elements of an array, as they are described.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    /// Their type.
    pub ty: Ty,
    /// Their number.
    pub length: usize,
    /// The lengths of the dimensions, outermost first.
    pub shape: Vec<u64>,
    pattern: Pattern,
}

#[derive(Clone, Debug, PartialEq)]
enum Pattern {
    Zeros,
    Ones,
    Iota,
    /// Of this seed.
    Random(u64),
    List(Vec<u64>),
}

impl Elements {
    fn flat(ty: Ty, length: usize, pattern: Pattern) -> Elements {
        Elements { ty, length, shape: vec![length as u64], pattern }
    }

    /// The bits of element `i`.
    pub fn bits(&self, i: usize) -> u64 {
        match &self.pattern {
            Pattern::Zeros => 0,
            Pattern::Ones => number_bits(self.ty, 1.0),
            Pattern::Iota => number_bits(self.ty, i as f64),
            Pattern::Random(seed) => random_bits(self.ty, *seed, i as u64),
            Pattern::List(words) => words[i],
        }
    }

    /// All of them.
    pub fn to_vec(&self) -> Vec<u64> {
        (0..self.length).map(|i| self.bits(i)).collect()
    }

    /// As they lie in memory, in words, so that they are aligned; `None` if there is no room for them.
    pub fn packed(&self) -> Option<Vec<u64>> {
        let size = self.ty.size();
        let mut data: Vec<u64> = Vec::new();
        data.try_reserve_exact((self.length * size).div_ceil(8)).ok()?;
        let per_word = 8 / size;
        for first in (0..self.length).step_by(per_word) {
            let within = (first..self.length.min(first + per_word)).enumerate();
            data.push(within.fold(0, |word, (at, i)| word | self.bits(i) << (8 * size * at)));
        }
        Some(data)
    }

    /// The shortest description of these elements.
    pub fn of(ty: Ty, words: &[u64]) -> Elements {
        let length = words.len();
        let patterns = [Pattern::Zeros, Pattern::Ones, Pattern::Iota].into_iter();
        let mut known = patterns.map(|pattern| Elements::flat(ty, length, pattern));
        let found = known.find(|elements| words.iter().enumerate().all(|(i, &word)| elements.bits(i) == word));
        found.unwrap_or_else(|| Elements::flat(ty, length, Pattern::List(words.to_vec())))
    }

    /// The word that stands for them.
    pub fn word(&self) -> String {
        let (ty, length) = (self.ty, self.length);
        match &self.pattern {
            Pattern::Zeros => format!("zeros:{ty}:{length}"),
            Pattern::Ones => format!("ones:{ty}:{length}"),
            Pattern::Iota => format!("iota:{ty}:{length}"),
            Pattern::Random(seed) => format!("random:{ty}:{length}:{seed}"),
            Pattern::List(words) => list(ty, words),
        }
    }
}

/// The bits of element `i` of those that lie in bytes.
pub fn element_bits(ty: Ty, bytes: &[u8], i: usize) -> u64 {
    let mut word = [0; 8];
    word[..ty.size()].copy_from_slice(&bytes[i * ty.size()..][..ty.size()]);
    u64::from_le_bytes(word)
}

/// A list of numbers as a word.
pub fn list(ty: Ty, words: &[u64]) -> String {
    let numbers: Vec<String> = words.iter().map(|&bits| number(ty, bits)).collect();
    format!("[{}]", numbers.join(", "))
}

/// A number as a word: the shortest decimal that gives these bits; the bits in hexadecimal for NaNs other than the usual one.
pub fn number(ty: Ty, bits: u64) -> String {
    let float = |text: String, is_nan: bool| match is_nan && number_bits(ty, f64::NAN) != bits {
        true => format!("{bits:#x}"),
        false => text.to_lowercase(),
    };
    match ty {
        Ty::Bool => (bits != 0).to_string(),
        Ty::I8 => (bits as i8).to_string(),
        Ty::I16 => (bits as i16).to_string(),
        Ty::I32 => (bits as i32).to_string(),
        Ty::I64 => (bits as i64).to_string(),
        Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => bits.to_string(),
        Ty::F16 | Ty::F32 => {
            let x =
                if ty == Ty::F16 { half::f16::from_bits(bits as u16).to_f32() } else { f32::from_bits(bits as u32) };
            float(format!("{x:?}"), x.is_nan())
        }
        Ty::F64 => float(format!("{:?}", f64::from_bits(bits)), f64::from_bits(bits).is_nan()),
    }
}

/// The bits of a type in a word; others are zero.
pub const fn bits_of(ty: Ty, word: u64) -> u64 {
    match ty {
        Ty::Bool => (word & 0xff != 0) as u64,
        _ => word & (u64::MAX >> (64 - 8 * ty.size())),
    }
}

/// A number as an element of any type.
pub fn number_bits(ty: Ty, x: f64) -> u64 {
    let word = match ty {
        Ty::F64 => x.to_bits(),
        Ty::F32 => (x as f32).to_bits() as u64,
        Ty::F16 => sem::f16_from_f64(x).to_bits() as u64,
        Ty::Bool => (x != 0.0) as u64,
        _ => x as i64 as u64,
    };
    bits_of(ty, word)
}

/// Element `i` of the random numbers of a seed: integers of all sizes, floats from -1 to 1 (in steps that each type has).
fn random_bits(ty: Ty, seed: u64, i: u64) -> u64 {
    // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators), started at each element apart.
    let mut z = seed.wrapping_mul(0xd1b5_4a32_d192_ed03).wrapping_add((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let steps = |bits: u32| (z >> (63 - bits)) as f64 / (1u64 << bits) as f64 - 1.0;
    match ty {
        Ty::Bool => z >> 63,
        Ty::F16 => number_bits(ty, steps(10)),
        Ty::F32 => number_bits(ty, steps(23)),
        Ty::F64 => number_bits(ty, steps(52)),
        _ => bits_of(ty, z >> (64 - 8 * ty.size())),
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

/// The type of the numbers in the result of a function; of a struct with several types, bytes. `None` if it gives none.
pub fn result_type(export: &Export) -> Option<Ty> {
    match export.result.as_ref()? {
        HostValue::Uniform(ty) | HostValue::Varying(ty) => Some(*ty),
        HostValue::Array { elem, reference: true, .. } => Some(scalar_of(elem).unwrap_or(Ty::U8)),
        HostValue::Array { .. } => Some(Ty::I64),
    }
}

/// Reads the word for a parameter. The error says what is wrong, and what was expected.
pub fn parse(param: &ExportParam, text: &str, lanes: usize) -> Result<Word, String> {
    match &param.value {
        HostValue::Uniform(ty) => Ok(Word::Scalar(*ty, parse_number(&param.name, *ty, text)?)),
        HostValue::Varying(ty) if text.starts_with('[') => parse_lanes(&param.name, *ty, text, lanes),
        HostValue::Varying(ty) if text == "iota" => {
            Ok(Word::Lanes(*ty, (0..lanes).map(|i| number_bits(*ty, i as f64)).collect()))
        }
        HostValue::Varying(ty) => Ok(Word::Scalar(*ty, parse_number(&param.name, *ty, text)?)),
        HostValue::Array { elem, .. } => parse_array(param, elem, text),
    }
}

/// One value per lane.
fn parse_lanes(name: &str, ty: Ty, text: &str, lanes: usize) -> Result<Word, String> {
    let words = parse_list(name, ty, text)?;
    if words.len() == lanes {
        return Ok(Word::Lanes(ty, words));
    }
    let n = words.len();
    let values = if n == 1 { "value" } else { "values" };
    Err(format!(
        "`{name}` is varying: give one number for all lanes, or one for each of the {lanes} lanes, not {n} {values} \
         (--width sets the number of lanes)"
    ))
}

fn parse_array(param: &ExportParam, elem: &HostType, text: &str) -> Result<Word, String> {
    if text == "null" && !param.value.is_reference() {
        return Ok(Word::Null);
    }
    if let Some(path) = text.strip_prefix('@') {
        return Ok(Word::File(path.into()));
    }
    let expected = scalar_of(elem);
    if text.starts_with('[') {
        let ty = expected.ok_or_else(|| format!("`{}` takes structs: give @file.npy", param.name))?;
        let words = parse_list(&param.name, ty, text)?;
        return Ok(Word::Elements(Elements::flat(ty, words.len(), Pattern::List(words))));
    }
    parse_pattern(text, expected).map(Word::Elements).map_err(|why| {
        format!(
            "`{}` is an array: give zeros:TYPE:LENGTH, ones:TYPE:LENGTH, iota:TYPE:LENGTH, random:TYPE:LENGTH:SEED, [1,2,3] or \
             @file.npy, not `{text}`{why}",
            param.name
        )
    })
}

/// `KIND:TYPE:LENGTH` (of several dimensions: `240x320`), or `KIND:LENGTH` where the type is known; `random` has a seed behind.
/// What is wrong with it, if one part is, begins with a colon.
fn parse_pattern(text: &str, expected: Option<Ty>) -> Result<Elements, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let [kind @ ("zeros" | "ones" | "iota" | "random"), rest @ ..] = &parts[..] else { return Err(String::new()) };
    let (ty, rest) = match rest {
        [first, rest @ ..] if first.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let no_type = || format!(": there is no type `{first}` (i8, u8, …, i64, u64, f16, f32, f64, bool)");
            (Ty::from_name(first).ok_or_else(no_type)?, rest)
        }
        _ => (expected.ok_or(": its type is missing")?, rest),
    };
    let [length, rest @ ..] = rest else { return Err(": its length is missing".into()) };
    let shape = length.split('x').map(|n| n.parse().ok()).collect::<Option<Vec<u64>>>();
    let shape = shape.ok_or_else(|| format!(": `{length}` is no length, such as 100 or 240x320"))?;
    let elements = shape.iter().try_fold(1u64, |n, &length| n.checked_mul(length)).filter(|&n| n <= MAX_LENGTH);
    let elements = elements.ok_or_else(|| format!(": an array has at most {MAX_LENGTH} elements"))?;
    let pattern = match (*kind, rest) {
        ("zeros", []) => Pattern::Zeros,
        ("ones", []) => Pattern::Ones,
        ("iota", []) => Pattern::Iota,
        ("random", []) => return Err(": its seed, a whole number behind the length, is missing".into()),
        ("random", [seed]) => {
            Pattern::Random(seed.parse().map_err(|_| format!(": its seed is a whole number, not `{seed}`"))?)
        }
        (_, [more, ..]) => return Err(format!(": nothing is expected behind the length, and there is `{more}`")),
        _ => return Err(String::new()),
    };
    Ok(Elements { ty, length: elements as usize, shape, pattern })
}

fn parse_list(name: &str, ty: Ty, text: &str) -> Result<Vec<u64>, String> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("`{name}`: a list ends in `]`"))?;
    match inner.trim() {
        "" => Ok(Vec::new()),
        inner => inner.split(',').map(|item| parse_number(name, ty, item.trim())).collect(),
    }
}

/// The bits of a number of a type. `0x…` is an integer's value, or a float's bits.
pub fn parse_number(name: &str, ty: Ty, text: &str) -> Result<u64, String> {
    let wrong = || format!("`{name}` is of type {ty}, and `{text}` is no such value");
    let hex = text.strip_prefix("0x").map(|hex| i128::from_str_radix(hex, 16).map_err(|_| wrong())).transpose()?;
    let bits = 8 * ty.size() as u32;
    let within = |value: i128, low: i128, high: i128| match (low..high).contains(&value) {
        true => Ok(bits_of(ty, value as u64)),
        false => Err(format!("`{name}` is of type {ty}, which cannot hold {text}")),
    };
    match (ty, hex) {
        (Ty::Bool, _) => match text {
            "true" | "1" => Ok(1),
            "false" | "0" => Ok(0),
            _ => Err(wrong()),
        },
        (Ty::F16 | Ty::F32 | Ty::F64, Some(value)) => within(value, 0, 1 << bits),
        // Rounded once.
        (Ty::F32, None) => text.parse().map(|x: f32| x.to_bits() as u64).map_err(|_| wrong()),
        (Ty::F16 | Ty::F64, None) => text.parse().map(|x| number_bits(ty, x)).map_err(|_| wrong()),
        (_, hex) => {
            let value = hex.map_or_else(|| text.parse().map_err(|_| wrong()), Ok)?;
            match ty.is_signed() {
                true => within(value, -(1 << (bits - 1)), 1 << (bits - 1)),
                false => within(value, 0, 1 << bits),
            }
        }
    }
}

/// The word for each parameter, of words in order, then `NAME=WORD`.
pub fn place<'w>(export: &Export, words: &[&'w str]) -> Result<Vec<Option<&'w str>>, String> {
    let mut given: Vec<Option<&str>> = vec![None; export.params.len()];
    for (i, word) in words.iter().enumerate() {
        let (at, text) = place_word(export, i, word)?;
        if given[at].replace(text).is_some() {
            return Err(format!("`{}` is given twice", export.params[at].name));
        }
    }
    Ok(given)
}

fn place_word<'w>(export: &Export, position: usize, word: &'w str) -> Result<(usize, &'w str), String> {
    if let Some((name, text)) = word.split_once('=')
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    {
        let at = export.params.iter().position(|p| p.name == name);
        let names: Vec<&str> = export.params.iter().map(|p| p.name.as_str()).collect();
        return at
            .map(|at| (at, text))
            .ok_or_else(|| format!("{}() has no parameter `{name}` (it has {})", export.name, names.join(", ")));
    }
    if position >= export.params.len() {
        let n = export.params.len();
        return Err(format!("{}() takes {n} arguments: {}", export.name, export.declaration));
    }
    Ok((position, word))
}

/// What a parameter gets for which no word is given: its default, if it has one.
pub fn default_of(export: &Export, param: &ExportParam) -> Result<Word, String> {
    match (&param.value, param.default) {
        (HostValue::Varying(ty) | HostValue::Uniform(ty), Some(bits)) => Ok(Word::Scalar(*ty, bits)),
        (HostValue::Array { .. }, Some(_)) => Ok(Word::Null),
        (_, None) => Err(missing(export, param)),
    }
}

fn missing(export: &Export, param: &ExportParam) -> String {
    let example = match &param.value {
        HostValue::Array { elem, .. } => match scalar_of(elem) {
            Some(ty) => format!("zeros:{ty}:1024"),
            None => "@file.npy".into(),
        },
        HostValue::Uniform(ty) | HostValue::Varying(ty) if ty.is_float() => "1.5".into(),
        _ => "3".into(),
    };
    format!(
        "{}() needs a value for `{}`, for instance {}={example}\n       {}",
        export.name, param.name, param.name, export.declaration
    )
}
