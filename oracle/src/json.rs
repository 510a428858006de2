//! Test cases, calls and outcomes as JSON (`docs/oracle.md` has the schema).
//!
//! [Numbers](crate::number) are exact.

use crate::number::{Number, to_json};
use crate::outcome::{End, Outcome};
use crate::testcase::{Argument, Call, TestCase};
use crate::words;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};
use spmdvm::{TrapKind, Ty};

/// A number.
pub fn number(ty: Ty, bits: u64) -> Json {
    to_json(Number(ty, bits))
}

/// The bits of a number; `name` is what messages call it.
pub fn bits(name: &str, ty: Ty, value: &Json) -> Result<u64, String> {
    match value {
        Json::String(text) => words::parse_number(name, ty, text),
        Json::Bool(value) if ty == Ty::Bool => Ok(*value as u64),
        // Some write whole floats without a point, and integers with one.
        Json::Number(number) if ty.is_float() => {
            let x = number.as_f64().ok_or_else(|| format!("`{name}`: {number} is no {ty}"))?;
            Ok(words::number_bits(ty, x))
        }
        Json::Number(number) => words::parse_number(name, ty, number.to_string().trim_end_matches(".0")),
        other => Err(format!("`{name}` is of type {ty}, and {other} is no such value")),
    }
}

fn numbers(ty: Ty, words: &[u64]) -> Json {
    words.iter().map(|&bits| number(ty, bits)).collect()
}

fn all_bits(name: &str, ty: Ty, value: &Json) -> Result<Vec<u64>, String> {
    match value {
        Json::Array(items) => items.iter().map(|item| bits(name, ty, item)).collect(),
        one => Ok(vec![bits(name, ty, one)?]),
    }
}

fn field<'j>(json: &'j Json, name: &str) -> Result<&'j Json, String> {
    json.get(name).ok_or_else(|| format!("there is no \"{name}\" in {}", shortened(json)))
}

fn text<'j>(json: &'j Json, name: &str) -> Result<&'j str, String> {
    let value = field(json, name)?;
    value.as_str().ok_or_else(|| format!("\"{name}\" is a text, not {}", shortened(value)))
}

fn type_in(json: &Json) -> Result<Ty, String> {
    let name = text(json, "type")?;
    Ty::from_name(name)
        .ok_or_else(|| format!("there is no type \"{name}\": it is bool, i8 … i64, u8 … u64, f16, f32 or f64"))
}

fn shortened(json: &Json) -> String {
    let text = json.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Call {
    /// It as JSON.
    pub fn to_json(&self) -> Json {
        let arguments = self.arguments.iter().map(|(name, argument)| {
            let mut json = argument.to_json();
            json["name"] = Json::from(name.as_str());
            json
        });
        json!({ "entry": self.entry, "mask": self.mask, "arguments": arguments.collect::<Vec<Json>>() })
    }

    /// A call of JSON. Without a mask all lanes are active.
    pub fn from_json(json: &Json) -> Result<Call, String> {
        let arguments = field(json, "arguments")?.as_array().ok_or("\"arguments\" is a list")?;
        let argument = |json: &Json| Ok((text(json, "name")?.to_owned(), Argument::from_json(json)?));
        let mask = match json.get("mask") {
            None => u64::MAX,
            Some(mask) => bits("mask", Ty::U64, mask)?,
        };
        let arguments = arguments.iter().map(argument).collect::<Result<_, String>>()?;
        Ok(Call { entry: text(json, "entry")?.to_owned(), arguments, mask })
    }
}

impl Argument {
    fn to_json(&self) -> Json {
        match self {
            Argument::Scalar(ty, bits) => json!({ "kind": "scalar", "type": ty.name(), "value": number(*ty, *bits) }),
            Argument::Lanes(ty, words) => json!({ "kind": "lanes", "type": ty.name(), "data": numbers(*ty, words) }),
            Argument::Array(ty, words) => json!({ "kind": "array", "type": ty.name(), "data": numbers(*ty, words) }),
            Argument::Alias { of, from } => json!({ "kind": "alias", "of": of, "from": from }),
            Argument::Null => json!({ "kind": "null" }),
        }
    }

    fn from_json(json: &Json) -> Result<Argument, String> {
        let name = text(json, "name")?;
        let data = || Ok::<_, String>((type_in(json)?, all_bits(name, type_in(json)?, field(json, "data")?)?));
        match text(json, "kind")? {
            "scalar" => Ok(Argument::Scalar(type_in(json)?, bits(name, type_in(json)?, field(json, "value")?)?)),
            "lanes" => data().map(|(ty, words)| Argument::Lanes(ty, words)),
            "array" => data().map(|(ty, words)| Argument::Array(ty, words)),
            "alias" => {
                let from = bits("from", Ty::U64, field(json, "from")?)?;
                Ok(Argument::Alias { of: text(json, "of")?.to_owned(), from })
            }
            "null" => Ok(Argument::Null),
            other => Err(format!("`{name}`: there is no kind \"{other}\": it is scalar, lanes, array, alias or null")),
        }
    }
}

impl Outcome {
    /// It as JSON.
    pub fn to_json(&self) -> Json {
        let mut json = match &self.end {
            End::Returned => json!({ "end": "returned" }),
            End::Trapped { kind, lane } => json!({ "end": "trapped", "trap": kind.name(), "lane": lane }),
            End::Stopped(why) => json!({ "end": "stopped", "reason": why }),
        };
        let result = self.result.as_ref().map(|(ty, words)| json!({ "type": ty.name(), "data": numbers(*ty, words) }));
        let arrays = self
            .arrays
            .iter()
            .map(|(name, ty, words)| json!({ "name": name, "type": ty.name(), "data": numbers(*ty, words) }));
        json["result"] = Json::from(result);
        json["arrays"] = arrays.collect();
        json["printed"] = Json::from(self.printed.as_str());
        json
    }

    /// An outcome of JSON.
    pub fn from_json(json: &Json) -> Result<Outcome, String> {
        Outcome::read(json, |_| None)
    }

    /// An outcome of JSON as other back ends write it. What they leave out is empty, and types are those that `known` has for an
    /// array or `result`; arrays may be members of an object, and stand without their type.
    pub fn read(json: &Json, known: impl Fn(&str) -> Option<Ty>) -> Result<Outcome, String> {
        if !json.is_object() {
            return Err(format!("an outcome is an object of JSON, not {}", shortened(json)));
        }
        let elements = |name: &str, value: &Json| match value.get("data") {
            Some(data) => {
                let ty = type_in(value).or_else(|why| known(name).ok_or(why))?;
                Ok((ty, all_bits(name, ty, data)?))
            }
            None => {
                let ty = known(name).ok_or_else(|| format!("`{name}` has no \"type\""))?;
                Ok::<_, String>((ty, all_bits(name, ty, value)?))
            }
        };
        let array = |name: &str, value: &Json| {
            let (ty, words) = elements(name, value)?;
            Ok((name.to_owned(), ty, words))
        };
        let arrays = match json.get("arrays") {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(list)) => {
                list.iter().map(|value| array(text(value, "name")?, value)).collect::<Result<_, String>>()?
            }
            Some(Json::Object(members)) => {
                members.iter().map(|(name, value)| array(name, value)).collect::<Result<_, String>>()?
            }
            Some(other) => return Err(format!("\"arrays\" is a list or an object, not {}", shortened(other))),
        };
        let result = match json.get("result") {
            None | Some(Json::Null) => None,
            Some(value) => Some(elements("result", value)?),
        };
        let printed = json.get("printed").map_or(Ok(""), |_| text(json, "printed"))?;
        Ok(Outcome { end: end(json)?, result, arrays, printed: printed.to_owned() })
    }
}

fn end(json: &Json) -> Result<End, String> {
    match json.get("end").map_or(Some("returned"), Json::as_str) {
        Some("returned") => Ok(End::Returned),
        Some("stopped") => Ok(End::Stopped(text(json, "reason")?.to_owned())),
        Some("trapped") => {
            let name = text(json, "trap")?;
            let kind = TrapKind::from_name(name).ok_or_else(|| format!("there is no trap \"{name}\""))?;
            let lane = json.get("lane").and_then(Json::as_u64).map(|lane| lane as u32);
            Ok(End::Trapped { kind, lane })
        }
        _ => Err("\"end\" is \"returned\", \"trapped\" or \"stopped\"".to_owned()),
    }
}

impl TestCase {
    /// It as JSON.
    pub fn to_json(&self) -> Json {
        json!({ "name": self.name, "text": self.text, "call": self.call.to_json() })
    }

    /// A test case of JSON.
    pub fn from_json(json: &Json) -> Result<TestCase, String> {
        let call = Call::from_json(field(json, "call")?)?;
        Ok(TestCase { name: text(json, "name")?.to_owned(), text: text(json, "text")?.to_owned(), call })
    }
}

macro_rules! as_json {
    ($($Type:ty),*) => { $(
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.to_json().serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$Type>::from_json(&Json::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    )* };
}
as_json!(Call, Outcome, TestCase);
