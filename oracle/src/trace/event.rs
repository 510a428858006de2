//! What a trace consists of: a header, then events in the order they happened. `docs/trace.md` describes them as JSON.

use crate::number::{self, Number};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use spmdvm::Ty;
use std::sync::Arc;

/// The `schema` of a header.
pub const SCHEMA: &str = "spmdvm-trace";

/// The version of the schema that is written. Versions grow where old readers would misread; new members come without.
pub const VERSION: u32 = 1;

/// The first line of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// Who has recorded it.
    pub generator: String,
    /// The file of the function that was called; empty if it is not known.
    pub program: String,
    /// A digest of the sources: FNV-1a of 64 bits over names and texts, in hexadecimal.
    pub digest: String,
    /// Number of lanes.
    pub width: u32,
    /// The function that was called.
    pub entry: String,
    /// The lanes that were active at its start.
    pub mask: u64,
    /// The floating-point mode.
    pub fp: String,
    /// The lanes that the values of varying registers are of, in this order; all of them, unless some were asked for.
    pub lanes: Vec<u32>,
    /// The sources, without the standard library's.
    pub sources: Vec<SourceText>,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceText {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Header {
    /// A line of a source, from 1.
    pub fn source_line(&self, file: &str, line: u32) -> Option<&str> {
        let source = self.sources.iter().find(|source| source.name == file)?;
        source.text.lines().nth(line.checked_sub(1)? as usize)
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A function has been entered.
    Enter(Enter),
    /// An instruction has executed.
    Step(Step),
    /// The program has printed.
    Print(Print),
    /// A function is left.
    Return(Return),
    /// The program trapped: the last event.
    Trap(Trap),
    /// The trace ends: the last event of runs that do not trap.
    End(End),
}

/// A function has been entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enter {
    /// The function.
    pub function: Arc<str>,
    /// How it came to that.
    pub how: How,
    /// Of a task: its index in its launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// Number of calls and launches around it.
    pub depth: u32,
    /// The active lanes.
    pub mask: u64,
    /// Its parameters.
    pub parameters: Vec<Register>,
}

/// How a function came to be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// By the host.
    Host,
    /// By a call.
    Call,
    /// By a launch.
    Task,
}

/// An instruction has executed, or is the one that trapped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How many instructions executed before it, those included that the trace leaves out.
    pub n: u64,
    /// Which instruction it is.
    #[serde(flatten)]
    pub site: Arc<Site>,
    /// Number of calls and launches around its function.
    pub depth: u32,
    /// The active lanes when it began.
    pub mask: u64,
    /// The active lanes afterwards, if they are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_after: Option<u64>,
    /// Number of entries on the mask stack of the call when it began.
    pub mask_depth: u32,
    /// The registers it wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Register>,
    /// What it accessed in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Effect>,
}

/// An instruction of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Its function.
    pub function: Arc<str>,
    /// Its index there.
    pub pc: u32,
    /// The operation (`docs/isa.md`).
    pub op: String,
    /// The instruction as text.
    pub text: String,
    /// Its source, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<SourceSpan>,
}

/// A range of source text. Lines and columns count from 1, columns in bytes; the end is behind the last byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SourceSpan {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// A register and what it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Register {
    /// Its name in the text of the instruction (`v3`).
    pub register: String,
    /// The variable of the source that it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<Arc<str>>,
    /// Its values.
    #[serde(flatten)]
    pub values: Values,
    /// Of what an instruction writes: the lanes whose value is another than before; bit 0 of a uniform register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
}

/// A value for the gang, or one for each of the header's lanes; in JSON `"type"` and `"value"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Their type.
    pub ty: Ty,
    /// Whether it is one for the gang.
    pub is_uniform: bool,
    /// Their bits.
    pub words: Vec<u64>,
}

impl Values {
    /// The value of the lane that is at this place in the header's list.
    pub fn at(&self, i: usize) -> Option<Number> {
        let i = if self.is_uniform { 0 } else { i };
        self.words.get(i).map(|&bits| Number(self.ty, bits))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    One(Number),
    Lanes(Vec<Number>),
}

#[derive(Serialize)]
struct TypedValue {
    r#type: &'static str,
    value: Value,
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut numbers = self.words.iter().map(|&bits| Number(self.ty, bits));
        let value = match (self.is_uniform, self.words.first()) {
            (true, Some(&bits)) => Value::One(Number(self.ty, bits)),
            _ => Value::Lanes(numbers.by_ref().collect()),
        };
        TypedValue { r#type: self.ty.name(), value }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            r#type: String,
            value: Json,
        }
        let raw = Raw::deserialize(deserializer)?;
        let ty = type_named(&raw.r#type).map_err(D::Error::custom)?;
        let (is_uniform, words) = match &raw.value {
            Json::Array(values) => (false, values.iter().map(|value| word(ty, value)).collect::<Result<_, _>>()),
            value => (true, word(ty, value).map(|bits| vec![bits])),
        };
        Ok(Values { ty, is_uniform, words: words.map_err(D::Error::custom)? })
    }
}

fn type_named(name: &str) -> Result<Ty, String> {
    Ty::from_name(name).ok_or_else(|| format!("`{name}` is no type"))
}

fn word(ty: Ty, value: &Json) -> Result<u64, String> {
    number::from_json(ty, value).ok_or_else(|| format!("{value} is no value of type {ty}"))
}

/// What an instruction accessed in memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// In which way.
    pub access: Access,
    /// The type of the elements; of copies and fills there is none.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", serialize_with = "type_name")]
    pub ty: Option<Ty>,
    /// Where, lane by lane.
    pub at: Vec<At>,
}

fn type_name<S: Serializer>(ty: &Option<Ty>, serializer: S) -> Result<S::Ok, S::Error> {
    ty.map(Ty::name).serialize(serializer)
}

/// In which way memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written by an atomic operation.
    Atomic,
}

/// An access of a lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct At {
    /// The lane; absent if it is one access for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<u32>,
    /// Which memory.
    pub region: Region,
    /// The array or variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<Arc<str>>,
    /// The byte of that array or variable; without a name, of that memory.
    pub offset: i64,
    /// Which element of the array that is, one index per dimension.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub index: Vec<i64>,
    /// Number of bytes, of copies and fills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What was there before it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Number>,
    /// What is there afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Number>,
}

/// What memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// An array of the host.
    Host,
    /// A global variable.
    Global,
    /// Local variables of a call.
    Frame,
    /// An allocation of the program.
    Heap,
    /// An `extern` variable that the host has not supplied.
    Unbound,
    /// None: the pointer is null, or its memory gone.
    Dead,
}

/// [`At`] with numbers whose type is not known yet.
#[derive(Deserialize)]
struct RawAt {
    lane: Option<u32>,
    region: Region,
    array: Option<Arc<str>>,
    offset: i64,
    #[serde(default)]
    index: Vec<i64>,
    bytes: Option<u64>,
    old: Option<Json>,
    new: Option<Json>,
}

impl RawAt {
    fn typed(self, ty: Option<Ty>) -> Result<At, String> {
        let number = |value: Option<Json>| match (value, ty) {
            (None, _) => Ok(None),
            (Some(_), None) => Err("a value without a type".to_owned()),
            (Some(value), Some(ty)) => word(ty, &value).map(|bits| Some(Number(ty, bits))),
        };
        let RawAt { lane, region, array, offset, index, bytes, old, new } = self;
        Ok(At { lane, region, array, offset, index, bytes, old: number(old)?, new: number(new)? })
    }
}

impl<'de> Deserialize<'de> for Effect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Effect, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            access: Access,
            r#type: Option<String>,
            at: Vec<RawAt>,
        }
        let raw = Raw::deserialize(deserializer)?;
        let ty = raw.r#type.as_deref().map(type_named).transpose().map_err(D::Error::custom)?;
        let at = raw.at.into_iter().map(|at| at.typed(ty)).collect::<Result<_, _>>().map_err(D::Error::custom)?;
        Ok(Effect { access: raw.access, ty, at })
    }
}

/// The program has printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Print {
    /// What.
    pub text: String,
}

/// A function is left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Return {
    /// The function.
    pub function: Arc<str>,
    /// Number of calls and launches around it.
    pub depth: u32,
    /// The active lanes.
    pub mask: u64,
    /// What it gives: registers of it.
    pub results: Vec<Register>,
    /// The registers of the caller that take them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub into: Vec<String>,
}

/// The program trapped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trap {
    /// Why, by the name of `spmdvm explain`.
    pub kind: String,
    /// What exactly, as a sentence.
    pub message: String,
    /// The lowest lane that failed, if it concerns lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<u32>,
    /// The calls, innermost first.
    pub calls: Vec<Call>,
}

/// A call that was active at a trap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The function.
    pub function: String,
    /// Of a task: its index in its launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// The instruction that trapped, or the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<SourceSpan>,
}

/// The trace ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Why.
    pub reason: Reason,
    /// How many instructions executed, those included that the trace leaves out.
    pub steps: u64,
}

/// Why a trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The function returned.
    Returned,
    /// It was recorded until here.
    Until,
}
