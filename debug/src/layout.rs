//! Values in memory: parts of them, and how they look.

use crate::variables::word;
use spmdvm::{HostType, Ty};
use spmdvm_oracle::number::{Number, shown};

/// Most elements of an array that are shown.
const MAX_ELEMENTS: u64 = 8;

/// A value of this layout as text: `{x = 1, y = [1, 2, 3]}`. The bytes may be fewer than it has.
pub fn text(layout: &HostType, bytes: &[u8]) -> String {
    match layout {
        HostType::Scalar(ty) => shown(Number(*ty, word(part(bytes, 0, ty.size() as u64)))),
        HostType::Enum(_) => word(part(bytes, 0, 4)).to_string(),
        HostType::Byte => word(part(bytes, 0, 1)).to_string(),
        HostType::Pointer => address(word(part(bytes, 0, 8))),
        HostType::Array(elem, n) => {
            let size = elem.size();
            let shown = (0..(*n).min(MAX_ELEMENTS)).map(|i| text(elem, part(bytes, i * size, size)));
            let more = (*n > MAX_ELEMENTS).then(|| "…".to_owned());
            format!("[{}]", shown.chain(more).collect::<Vec<_>>().join(", "))
        }
        HostType::Struct { fields, .. } => {
            let members =
                fields.iter().map(|(name, at, ty)| format!("{name} = {}", text(ty, part(bytes, *at, ty.size()))));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// How many bytes of a value [`text`] looks at, at most.
pub fn looked_at(layout: &HostType) -> u64 {
    match layout {
        HostType::Array(elem, n) => elem.size() * (*n).min(MAX_ELEMENTS),
        other => other.size(),
    }
}

/// The type as text: `float[4]` is `f32[4]` here.
pub fn type_text(layout: &HostType) -> String {
    let (mut elem, mut lengths) = (layout, String::new());
    while let HostType::Array(inner, n) = elem {
        lengths += &format!("[{n}]");
        elem = inner;
    }
    let name = match elem {
        HostType::Scalar(ty) => ty.name().to_owned(),
        HostType::Enum(name) => name.clone(),
        HostType::Struct { name, .. } => name.clone(),
        HostType::Pointer => "pointer".to_owned(),
        HostType::Byte | HostType::Array(..) => "byte".to_owned(),
    };
    name + &lengths
}

/// The element type, if the value is one scalar per lane: lanes are the innermost array.
pub fn per_lane(layout: &HostType, lanes: usize) -> Option<Ty> {
    match layout {
        HostType::Array(elem, n) if *n == lanes as u64 => scalar(elem),
        _ => None,
    }
}

/// The type of a scalar.
pub fn scalar(layout: &HostType) -> Option<Ty> {
    match layout {
        HostType::Scalar(ty) => Some(*ty),
        HostType::Enum(_) => Some(Ty::U32),
        HostType::Pointer => Some(Ty::U64),
        HostType::Byte => Some(Ty::U8),
        _ => None,
    }
}

/// An address as text.
pub fn address(bits: u64) -> String {
    if bits == 0 { "null".into() } else { format!("{bits:#x}") }
}

fn part(bytes: &[u8], at: u64, n: u64) -> &[u8] {
    let (at, n) = (at as usize, n as usize);
    bytes.get(at..bytes.len().min(at + n)).unwrap_or_default()
}
