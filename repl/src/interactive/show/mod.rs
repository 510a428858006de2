//! How values look: type first, then every lane.
//!
//! What fits stands on one line; what does not is laid out in aligned rows behind the index of their first element. Lanes
//! that are off stand in double parentheses, as the interpreter prints them.

mod numbers;
mod rows;

pub use numbers::{histogram, scalar};
pub use rows::Rows;

use super::variables::{Stored, Target, count};
use spmdvm::{InfoKind, Ty, TypeInfo, TypeShape};

/// Elements of an array that are shown at either end of it.
const ENDS: usize = 24;
/// Arrays of so many elements are shown whole.
const WHOLE: usize = 64;

/// The lanes of a gang, and which of them are active.
#[derive(Clone, Copy, Debug)]
pub struct Gang {
    /// How many there are.
    pub lanes: usize,
    /// The active ones.
    pub mask: u64,
}

impl Gang {
    /// Returns whether a lane is active.
    pub fn is_active(self, lane: usize) -> bool {
        self.mask >> lane & 1 != 0
    }
}

/// Whether there are colours, and how wide lines are.
#[derive(Clone, Copy, Debug)]
pub struct Painter {
    /// Whether escape sequences are understood.
    pub color: bool,
    /// Columns.
    pub columns: usize,
}

/// A value and where a part of it begins.
#[derive(Clone, Copy)]
struct Part<'v> {
    ty: &'v TypeInfo,
    value: &'v Stored,
    at: usize,
}

impl Painter {
    /// Dimmed text.
    pub fn dim(&self, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Text that stands out.
    pub fn bold(&self, text: &str) -> String {
        if self.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A type and what is of it.
    pub fn typed(&self, ty: &str, value: &str) -> String {
        format!("{} = {value}", self.dim(ty))
    }

    /// A value with its type.
    pub fn value(&self, ty: &TypeInfo, value: &Stored, gang: Gang) -> String {
        self.part("", Part { ty, value, at: 0 }, gang, 0)
    }

    /// A variable with its type and value.
    pub fn variable(&self, name: &str, ty: &TypeInfo, value: &Stored, gang: Gang) -> String {
        self.part(name, Part { ty, value, at: 0 }, gang, 0)
    }

    fn head(&self, name: &str, ty: &str, indent: usize) -> String {
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        format!("{:indent$}{name}{}", "", self.dim(ty))
    }

    fn part(&self, name: &str, part: Part<'_>, gang: Gang, indent: usize) -> String {
        let head = self.head(name, &part.ty.name, indent);
        let plain = indent + name.len() + part.ty.name.chars().count() + 5;
        match &part.ty.kind {
            InfoKind::Void => String::new(),
            InfoKind::Struct(members) => {
                let member = |(name, offset, ty): &(String, u64, TypeInfo)| {
                    let part = Part { ty, at: part.at + *offset as usize, ..part };
                    self.part(&format!(".{name}"), part, gang, indent + 2)
                };
                format!("{head}\n{}", members.iter().map(member).collect::<String>())
            }
            InfoKind::Vector(elem, n) => {
                let component = |i: usize| {
                    let part = Part { ty: elem, at: part.at + i * elem.size as usize, ..part };
                    match part.texts(gang.lanes).as_slice() {
                        [one] => Ok(one.clone()),
                        _ => Err(self.part(&format!(".{}", component_name(i, *n)), part, gang, indent + 2)),
                    }
                };
                match (0..*n as usize).map(component).collect::<Result<Vec<_>, _>>() {
                    Ok(all) => format!("{head} = {{{}}}\n", all.join(", ")),
                    Err(_) => {
                        let all = (0..*n as usize).map(|i| component(i).unwrap_or_else(|text| text));
                        format!("{head}\n{}", all.collect::<String>())
                    }
                }
            }
            InfoKind::Array(..) => self.array(&head, plain, part, gang, indent),
            _ => self.lanes(&head, plain, part, gang, indent),
        }
    }

    /// What has one value, or one per lane.
    fn lanes(&self, head: &str, plain: usize, part: Part<'_>, gang: Gang, indent: usize) -> String {
        let texts = part.texts(gang.lanes);
        if let [one] = texts.as_slice() {
            return format!("{head} = {one}\n");
        }
        if let InfoKind::Scalar(Ty::Bool, _) = part.ty.kind {
            let lanes: Vec<bool> = (0..texts.len()).map(|lane| part.word(1, lane) != 0).collect();
            return format!("{head} = {}\n", self.strip(&lanes, gang));
        }
        let is_off = |lane: usize| !gang.is_active(lane);
        let cells: Vec<String> = texts
            .into_iter()
            .enumerate()
            .map(|(i, text)| if is_off(i) { format!("(({text}))") } else { text })
            .collect();
        let line: usize = cells.iter().map(|cell| cell.chars().count() + 1).sum();
        if plain + line <= self.columns {
            let cells: Vec<String> = cells
                .iter()
                .enumerate()
                .map(|(i, cell)| if is_off(i) { self.dim(cell) } else { cell.clone() })
                .collect();
            return format!("{head} = {}\n", cells.join(" "));
        }
        let rows = Rows { indent: indent + 2, columns: self.columns, total: cells.len() };
        format!(
            "{head}\n{}",
            rows.lay_out(&cells, 0, &|i, cell| if is_off(i) { self.dim(cell) } else { cell.to_owned() }, &|text| self
                .dim(text))
        )
    }

    /// Lanes that are on, as a strip.
    pub fn strip(&self, lanes: &[bool], gang: Gang) -> String {
        let sign = |(i, &on): (usize, &bool)| match (gang.is_active(i), on) {
            (true, true) => "█".to_owned(),
            (true, false) => "·".to_owned(),
            (false, on) => self.dim(if on { "▒" } else { "-" }),
        };
        let active = (0..lanes.len()).filter(|&i| gang.is_active(i)).count();
        let on = lanes.iter().enumerate().filter(|&(i, &on)| on && gang.is_active(i)).count();
        let of = if active == lanes.len() { format!("{active}") } else { format!("{active} active") };
        let strip: String = lanes.iter().enumerate().map(sign).collect();
        format!("{strip}  {}", self.dim(&format!("{on} of {of}")))
    }

    fn array(&self, head: &str, plain: usize, part: Part<'_>, gang: Gang, indent: usize) -> String {
        let (elem, lengths) = innermost(part.ty);
        let n: usize = lengths.iter().product();
        let size = elem.size as usize;
        let element = |i: usize| Part { ty: elem, at: part.at + i * size, ..part };
        if elem.texts_per_value(gang.lanes) != Some(1) {
            // Structs, and gangs of values: one below the other.
            let name = |i: usize| format!("[{}]", indices(i, &lengths));
            let shown = |i: usize| self.part(&name(i), element(i), gang, indent + 2);
            let first: String = (0..n.min(8)).map(shown).collect();
            let more = if n > 8 { format!("{:1$}… {2} more\n", "", indent + 2, n - 8) } else { String::new() };
            return format!("{head}\n{first}{more}");
        }
        let text = |i: usize, short: bool| element(i).text(0, short);
        let is_short = n > WHOLE / 2;
        if n <= WHOLE / 2 && lengths.len() == 1 {
            let all: Vec<String> = (0..n).map(|i| text(i, false)).collect();
            let line = format!("{{{}}}", all.join(", "));
            if plain + line.chars().count() <= self.columns {
                return format!("{head} = {line}\n");
            }
        }
        let summary = match &elem.kind {
            InfoKind::Scalar(ty, _) if n > 8 => histogram(*ty, &part.value.bytes[part.at..part.at + n * size]),
            _ => String::new(),
        };
        let summary = if summary.is_empty() { String::new() } else { format!("  {summary}") };
        let row = lengths.last().copied().unwrap_or(1).max(1);
        let rows = Rows { indent: indent + 2, columns: self.columns, total: n };
        let ends = if n <= WHOLE { n } else { ENDS };
        let mut body = String::new();
        let plain_cell = |_: usize, cell: &str| cell.to_owned();
        let gutter = |text: &str| self.dim(text);
        if lengths.len() > 1 {
            body += &self.matrix(&lengths, row, n, &|i| text(i, is_short), indent);
        } else {
            let first: Vec<String> = (0..ends).map(|i| text(i, is_short)).collect();
            body += &rows.lay_out(&first, 0, &plain_cell, &gutter);
            if n > ends {
                let last_at = n - ENDS / 3;
                let last: Vec<String> = (last_at..n).map(|i| text(i, is_short)).collect();
                body += &format!("{:1$}{2}\n", "", indent + 2, self.dim(&format!("… {} more", last_at - ends)));
                body += &rows.lay_out(&last, last_at, &plain_cell, &gutter);
            }
        }
        format!("{head}{summary}\n{body}")
    }

    /// The first and last rows of an array of several dimensions.
    fn matrix(&self, lengths: &[usize], row: usize, n: usize, text: &dyn Fn(usize) -> String, indent: usize) -> String {
        const ROWS: usize = 4;
        const CELLS: usize = 5;
        let n_rows = n / row;
        let shown: Vec<usize> = match n_rows > 2 * ROWS {
            true => (0..ROWS).chain(n_rows - ROWS..n_rows).collect(),
            false => (0..n_rows).collect(),
        };
        let picks: Vec<Option<usize>> = match row > 2 * CELLS {
            true => (0..CELLS).map(Some).chain([None]).chain((row - CELLS..row).map(Some)).collect(),
            false => (0..row).map(Some).collect(),
        };
        let table: Vec<(usize, Vec<String>)> = shown
            .iter()
            .map(|&r| (r, picks.iter().map(|pick| pick.map_or("…".into(), |i| text(r * row + i))).collect()))
            .collect();
        let width = table.iter().flat_map(|(_, cells)| cells).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let outer = &lengths[..lengths.len() - 1];
        let labels: Vec<String> = table.iter().map(|(r, _)| format!("[{}]", indices(*r, outer))).collect();
        let label_width = labels.iter().map(String::len).max().unwrap_or(0);
        let mut out = String::new();
        let mut last = None;
        for ((r, cells), label) in table.iter().zip(labels) {
            if last.is_some_and(|last| last + 1 != *r) {
                out += &format!("{:1$}{2}\n", "", indent + 2, self.dim("…"));
            }
            last = Some(*r);
            let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>width$}")).collect();
            out += &format!(
                "{:1$}{2} {3}\n",
                "",
                indent + 2,
                self.dim(&format!("{label:>label_width$}│")),
                cells.join(" ")
            );
        }
        out
    }
}

impl Part<'_> {
    /// The texts of its lanes, or of its one value.
    fn texts(&self, lanes: usize) -> Vec<String> {
        let n = self.ty.texts_per_value(lanes).unwrap_or(0);
        (0..n).map(|lane| self.text(lane, false)).collect()
    }

    fn word(&self, size: usize, lane: usize) -> u64 {
        let mut word = [0; 8];
        let at = self.at + lane * size;
        if let Some(bytes) = self.value.bytes.get(at..at + size) {
            word[..size].copy_from_slice(bytes);
        }
        u64::from_le_bytes(word)
    }

    /// One lane as text; `short` rounds floating-point numbers.
    fn text(&self, lane: usize, short: bool) -> String {
        match &self.ty.kind {
            InfoKind::Scalar(ty, _) => scalar(*ty, self.word(ty.size(), lane), short),
            InfoKind::Enum(names, _) => {
                let value = self.word(4, lane);
                let name = names.iter().find(|(_, v)| u64::from(*v) == value);
                name.map_or(value.to_string(), |(name, _)| name.clone())
            }
            InfoKind::Pointer(_, size, _) => self.pointer(lane, *size),
            InfoKind::Function(_) => self.pointer(lane, 0),
            _ => String::new(),
        }
    }

    fn pointer(&self, lane: usize, size: u64) -> String {
        let at = self.at + lane * 8;
        let target = self.value.pointers.iter().find(|(place, _)| *place == at).map(|(_, target)| target);
        match target {
            Some(Target::Function(name)) => name.split('$').next().unwrap_or(name).to_owned(),
            Some(Target::Variable(name, 0)) if size == 0 => format!("&{name}"),
            Some(Target::Variable(name, offset)) => {
                let size = size.max(1) as i64;
                let (index, rest) = (offset.div_euclid(size), offset.rem_euclid(size));
                let rest = if rest == 0 { String::new() } else { format!(" + {rest} bytes") };
                format!("&{name}[{index}]{rest}")
            }
            None if self.word(8, lane) == 0 => "null".into(),
            None => "gone".into(),
        }
    }
}

/// More about types, for showing.
trait Texts {
    /// How many values there are of it, if it is neither struct, vector nor array.
    fn texts_per_value(&self, lanes: usize) -> Option<usize>;
}

impl Texts for TypeInfo {
    fn texts_per_value(&self, lanes: usize) -> Option<usize> {
        match &self.kind {
            InfoKind::Scalar(_, shape)
            | InfoKind::Enum(_, shape)
            | InfoKind::Pointer(_, _, shape)
            | InfoKind::Function(shape) => Some(count(*shape, lanes)),
            _ => None,
        }
    }
}

/// The elements of nested arrays, and the lengths, outermost first.
pub fn innermost(ty: &TypeInfo) -> (&TypeInfo, Vec<usize>) {
    let (mut ty, mut lengths) = (ty, Vec::new());
    while let InfoKind::Array(elem, n) = &ty.kind {
        lengths.push(*n as usize);
        ty = elem;
    }
    (ty, lengths)
}

/// The element type, shape and bytes of an array of uniform numbers.
pub fn numbers_of<'v>(ty: &TypeInfo, value: &'v Stored) -> Option<(Ty, Vec<u64>, &'v [u8])> {
    let (elem, lengths) = innermost(ty);
    match elem.kind {
        InfoKind::Scalar(scalar, TypeShape::Uniform) => {
            Some((scalar, lengths.iter().map(|&n| n as u64).collect(), &value.bytes[..]))
        }
        // Each gang is one more dimension.
        InfoKind::Scalar(scalar, TypeShape::Varying) => {
            let lanes = elem.size / scalar.size() as u64;
            let shape = lengths.iter().map(|&n| n as u64).chain([lanes]).collect();
            Some((scalar, shape, &value.bytes[..]))
        }
        _ => None,
    }
}

fn indices(mut flat: usize, lengths: &[usize]) -> String {
    let mut parts = Vec::new();
    for &length in lengths.iter().rev() {
        parts.push((flat % length.max(1)).to_string());
        flat /= length.max(1);
    }
    parts.reverse();
    parts.join("][")
}

fn component_name(i: usize, n: u64) -> String {
    match (n <= 4).then(|| "xyzw".get(i..i + 1)).flatten() {
        Some(name) => name.to_owned(),
        None => i.to_string(),
    }
}
