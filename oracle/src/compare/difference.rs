//! Where two outcomes differ.

use crate::json;
use crate::outcome::{End, Outcome};
use crate::testcase::{Argument, Call};
use crate::words;
use serde_json::{Value as Json, json};
use spmdvm::Ty;
use std::collections::HashMap;
use std::fmt;

/// What counts as equal.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// So many units in the last place floats may differ; 0: not a bit. NaNs are always equal to each other.
    pub ulp: u64,
    /// The same for single arrays, or `result`.
    pub ulp_of: HashMap<String, u64>,
    /// Leave out programs that trap.
    pub ignore_traps: bool,
    /// Do not compare what is printed.
    pub ignore_prints: bool,
}

/// The first place where an outcome is not as expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// The runs ended otherwise.
    End {
        /// How the reference ended.
        expected: End,
        /// How the other ended.
        got: End,
    },
    /// A number differs.
    Element(Element),
    /// An array or the result has another type or length: it is described.
    Shape {
        /// The array, or `result`.
        name: String,
        /// What was expected.
        expected: String,
        /// What was there.
        got: String,
    },
    /// A line of what was printed differs; empty where there is none.
    Printed {
        /// Its number, from 1.
        line: usize,
        /// What was expected.
        expected: String,
        /// What was there.
        got: String,
    },
}

/// A number that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The array, or `result`.
    pub name: String,
    /// The number's place in it.
    pub index: usize,
    /// The lane that has this place, if lanes take elements in turn; `None` for a uniform result.
    pub lane: Option<usize>,
    /// Its type.
    pub ty: Ty,
    /// The bits that were expected.
    pub expected: u64,
    /// The bits that were there.
    pub got: u64,
    /// How many numbers of the array differ.
    pub differ: usize,
    /// How many there are.
    pub of: usize,
}

/// The first difference of two outcomes of a call with gangs of `lanes` lanes; `None` if there is none.
pub fn difference(call: &Call, lanes: usize, expected: &Outcome, got: &Outcome, rules: &Rules) -> Option<Difference> {
    if expected.end != got.end {
        return Some(Difference::End { expected: expected.end.clone(), got: got.end.clone() });
    }
    let result = (expected.result.as_ref(), got.result.as_ref());
    if let Some(found) = elements("result", result, lanes, rules) {
        return Some(found);
    }
    for (name, ty, words) in &expected.arrays {
        // What is as it was before need not be shown, nor what a trap left.
        let may_lack =
            call.argument(name) == Some(&Argument::Array(*ty, words.clone())) || expected.end != End::Returned;
        let other = got.array(name).map(|(ty, words)| (ty, words.to_vec()));
        if other.is_none() && may_lack {
            continue;
        }
        if let Some(found) = elements(name, (Some(&(*ty, words.clone())), other.as_ref()), lanes, rules) {
            return Some(found);
        }
    }
    match rules.ignore_prints {
        true => None,
        false => printed(&expected.printed, &got.printed),
    }
}

/// The type and the numbers of an array or a result.
type Words = (Ty, Vec<u64>);

fn elements(
    name: &str,
    (expected, got): (Option<&Words>, Option<&Words>),
    lanes: usize,
    rules: &Rules,
) -> Option<Difference> {
    let shape = |words: Option<&Words>| match words {
        None => "nothing".to_owned(),
        Some((ty, words)) => format!("{} of {ty}", words.len()),
    };
    let (Some((ty, expected_words)), Some((got_ty, got_words))) = (expected, got) else {
        let differs = expected.is_some() || got.is_some();
        return differs.then(|| Difference::Shape { name: name.into(), expected: shape(expected), got: shape(got) });
    };
    if ty != got_ty || expected_words.len() != got_words.len() {
        return Some(Difference::Shape { name: name.into(), expected: shape(expected), got: shape(got) });
    }
    let ulp = rules.ulp_of.get(name).copied().unwrap_or(rules.ulp);
    let pairs = || expected_words.iter().zip(got_words).enumerate();
    let mut differing = pairs().filter(|(_, (expected, got))| !equal(*ty, **expected, **got, ulp));
    let (index, (&expected, &got)) = differing.next()?;
    let lane = (name != "result" || expected_words.len() > 1).then_some(index % lanes);
    let (differ, of, name, ty) = (1 + differing.count(), expected_words.len(), name.to_owned(), *ty);
    Some(Difference::Element(Element { name, index, lane, ty, expected, got, differ, of }))
}

/// Returns whether two numbers are equal: NaNs are, and floats that are no more than `ulp` units in the last place apart.
pub fn equal(ty: Ty, a: u64, b: u64, ulp: u64) -> bool {
    if a == b || !ty.is_float() {
        return a == b;
    }
    match (is_nan(ty, a), is_nan(ty, b)) {
        (false, false) => ulp > 0 && distance(ty, a, b) <= ulp,
        (a, b) => a && b,
    }
}

/// The bits of a float's exponent and fraction, and of an infinity.
fn layout(ty: Ty) -> (u64, u64) {
    match ty {
        Ty::F16 => (0x7fff, 0x7c00),
        Ty::F32 => (0x7fff_ffff, 0x7f80_0000),
        _ => (i64::MAX as u64, 0x7ff0_0000_0000_0000),
    }
}

fn is_nan(ty: Ty, bits: u64) -> bool {
    let (magnitude, infinity) = layout(ty);
    ty.is_float() && bits & magnitude > infinity
}

/// How many floats lie between two, which are no NaNs; both zeros are one.
fn distance(ty: Ty, a: u64, b: u64) -> u64 {
    let (magnitude, _) = layout(ty);
    let place = |bits: u64| match bits & magnitude {
        size if bits > magnitude => -(size as i128),
        size => size as i128,
    };
    u64::try_from((place(a) - place(b)).abs()).unwrap_or(u64::MAX)
}

fn printed(expected: &str, got: &str) -> Option<Difference> {
    let (mut expected, mut got, mut line) = (expected.lines(), got.lines(), 0);
    loop {
        line += 1;
        match (expected.next(), got.next()) {
            (None, None) => return None,
            (e, g) if e == g => {}
            (e, g) => {
                let text = |line: Option<&str>| line.unwrap_or_default().to_owned();
                return Some(Difference::Printed { line, expected: text(e), got: text(g) });
            }
        }
    }
}

impl Difference {
    /// It as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Difference::End { expected, got } => {
                json!({ "what": "end", "expected": expected.to_string(), "got": got.to_string() })
            }
            Difference::Element(e) => json!({
                "what": "element", "name": e.name, "index": e.index, "lane": e.lane, "type": e.ty.name(),
                "expected": json::number(e.ty, e.expected), "got": json::number(e.ty, e.got),
                "expected_bits": hex(e.ty, e.expected), "got_bits": hex(e.ty, e.got),
                "differ": e.differ, "of": e.of,
            }),
            Difference::Shape { name, expected, got } => {
                json!({ "what": "shape", "name": name, "expected": expected, "got": got })
            }
            Difference::Printed { line, expected, got } => {
                json!({ "what": "printed", "line": line, "expected": expected, "got": got })
            }
        }
    }
}

/// Bits in hexadecimal, as many as the type has.
fn hex(ty: Ty, bits: u64) -> String {
    format!("{bits:#0width$x}", width = 2 + 2 * ty.size())
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::End { expected, got } => write!(f, "expected that it {expected}, but it {got}"),
            Difference::Element(element) => element.fmt(f),
            Difference::Shape { name, expected, got } => write!(f, "{name}: expected {expected}, got {got}"),
            Difference::Printed { line, expected, got } => {
                write!(f, "line {line} of what is printed: expected {expected:?}, got {got:?}")
            }
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.lane {
            Some(lane) if self.name == "result" => write!(f, " of lane {lane}")?,
            Some(lane) => write!(f, "[{}] (lane {lane})", self.index)?,
            None => {}
        }
        let shown = |bits| format!("{} ({})", words::number(self.ty, bits), hex(self.ty, bits));
        write!(f, ": expected {}, got {}", shown(self.expected), shown(self.got))?;
        if self.ty.is_float() && !is_nan(self.ty, self.expected) && !is_nan(self.ty, self.got) {
            write!(f, ", {} ULP apart", distance(self.ty, self.expected, self.got))?;
        }
        match self.of {
            1 => Ok(()),
            of => write!(f, "; {} of {of} differ", self.differ),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Returned => f.write_str("returned"),
            End::Trapped { kind, lane: None } => write!(f, "trapped: {}", kind.name()),
            End::Trapped { kind, lane: Some(lane) } => write!(f, "trapped: {} (lane {lane})", kind.name()),
            End::Stopped(why) => write!(f, "stopped: {why}"),
        }
    }
}
