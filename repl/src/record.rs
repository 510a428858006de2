//! Values in memory (structs, short vectors, arrays) as text and as JSON.

use crate::data::{element_bits, show_element};
use serde_json::{Map, Value as Json};
use spmdvm::{HostType, Ty};

/// A value of this layout as text: `{origin = [0, 1, 2], depth = 3}`.
pub fn text(layout: &HostType, bytes: &[u8]) -> String {
    match layout {
        HostType::Scalar(ty) => show_element(*ty, element_bits(*ty, bytes, 0)),
        HostType::Enum(_) => element_bits(Ty::U32, bytes, 0).to_string(),
        HostType::Byte => bytes.first().map_or(String::new(), u8::to_string),
        HostType::Pointer => address(element_bits(Ty::U64, bytes, 0)),
        HostType::Array(elem, n) => {
            let elements: Vec<String> = elements(elem, *n, bytes).map(|part| text(elem, part)).collect();
            format!("[{}]", elements.join(", "))
        }
        HostType::Struct { fields, .. } => {
            let members = fields.iter().map(|(name, at, ty)| format!("{name} = {}", text(ty, part(bytes, *at, ty))));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The same as JSON: structs are objects, addresses texts.
pub fn json(layout: &HostType, bytes: &[u8], number: &impl Fn(Ty, u64) -> Json) -> Json {
    match layout {
        HostType::Scalar(ty) => number(*ty, element_bits(*ty, bytes, 0)),
        HostType::Enum(_) => number(Ty::U32, element_bits(Ty::U32, bytes, 0)),
        HostType::Byte => bytes.first().copied().map_or(Json::Null, Json::from),
        HostType::Pointer => Json::String(address(element_bits(Ty::U64, bytes, 0))),
        HostType::Array(elem, n) => elements(elem, *n, bytes).map(|part| json(elem, part, number)).collect(),
        HostType::Struct { fields, .. } => {
            let member =
                |(name, at, ty): &(String, u64, HostType)| (name.clone(), json(ty, part(bytes, *at, ty), number));
            Json::Object(fields.iter().map(member).collect::<Map<_, _>>())
        }
    }
}

/// An address in the program's memory.
pub fn address(bits: u64) -> String {
    if bits == 0 { "null".into() } else { format!("{bits:#x}") }
}

fn elements<'b>(elem: &HostType, n: u64, bytes: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
    let size = elem.size() as usize;
    (0..n as usize).filter_map(move |i| bytes.get(i * size..(i + 1) * size))
}

fn part<'b>(bytes: &'b [u8], at: u64, ty: &HostType) -> &'b [u8] {
    let at = at as usize;
    bytes.get(at..at + ty.size() as usize).unwrap_or_default()
}
