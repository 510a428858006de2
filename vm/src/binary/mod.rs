//! The binary form of programs: compact, versioned, and safe to read whatever the bytes are.
//!
//! ```text
//! "SPMD"  version u16  checksum u32 (CRC-32 of the rest)  length u64 of the rest   (all little-endian)
//! width, operation names, sources, messages, formats, globals, exports, functions, variables, imports, symbols
//! ```
//!
//! Numbers are LEB128 varints (signed ones zigzag), strings and lists have their length in front. Instructions name their
//! operation by position in the file's own list of operation names, so that files outlive changes of the operation table.
//! Any program round-trips exactly, verified or not.

mod read;
mod write;

use crate::program::Program;
use std::fmt;

/// The first bytes of a file.
pub const MAGIC: [u8; 4] = *b"SPMD";
/// The version that [`encode`] writes and [`decode`] reads.
pub const VERSION: u16 = 5;

const HEADER: usize = 18;

/// Why bytes are no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The byte at which reading failed.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for DecodeError {}

/// The binary form of a program.
pub fn encode(program: &Program) -> Vec<u8> {
    let mut out = vec![0; HEADER];
    write::program(program, &mut out);
    seal(&mut out);
    out
}

/// Reads the binary form. What it gives is not verified.
pub fn decode(bytes: &[u8]) -> Result<Program, DecodeError> {
    check_header(bytes)?;
    read::program(bytes, HEADER)
}

/// Writes the header over the first bytes, given what follows.
fn seal(bytes: &mut [u8]) {
    let (header, rest) = bytes.split_at_mut(HEADER);
    header[..4].copy_from_slice(&MAGIC);
    header[4..6].copy_from_slice(&VERSION.to_le_bytes());
    header[6..10].copy_from_slice(&crc32fast::hash(rest).to_le_bytes());
    header[10..].copy_from_slice(&(rest.len() as u64).to_le_bytes());
}

fn check_header(bytes: &[u8]) -> Result<(), DecodeError> {
    let fail = |offset, message: String| Err(DecodeError { offset, message });
    if bytes.first_chunk() != Some(&MAGIC) {
        return fail(0, "this is no program in binary form: it does not begin with `SPMD`".into());
    }
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return fail(bytes.len(), "the file ends in its header".into());
    };
    let version = u16::from_le_bytes([header[4], header[5]]);
    if version != VERSION {
        return fail(4, format!("the file has version {version} of the binary form, this program reads {VERSION}"));
    }
    let length = header[10..].iter().rev().fold(0u64, |n, &b| n << 8 | b as u64);
    if length != rest.len() as u64 {
        return fail(bytes.len(), format!("the file is cut off or has grown: {} of {length} bytes", rest.len()));
    }
    if header[6..10] != crc32fast::hash(rest).to_le_bytes() {
        return fail(6, "the file is damaged: its checksum does not match".into());
    }
    Ok(())
}

/// Reads bytes as if they stood behind a header that fits them: for fuzzing past the checksum.
#[doc(hidden)]
pub fn decode_body(body: &[u8]) -> Result<Program, DecodeError> {
    read::program(body, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::*;

    #[test]
    fn an_empty_program_round_trips() {
        let program = Program::default();
        assert_eq!(decode(&encode(&program)), Ok(program));
    }

    #[test]
    fn variables_round_trip_in_both_forms() {
        let shape = ArrayShape { stride: 4, extents: vec![3, 5] };
        let home = |global| if global { Home::Global(GlobalId(2)) } else { Home::Frame(FuncId(7)) };
        let variable = |global, name: &str| Variable {
            home: home(global),
            name: name.into(),
            offset: 16,
            shape: shape.clone(),
            layout: None,
            varying: false,
        };
        let layout = Some(HostType::Array(Box::new(HostType::Scalar(crate::types::Ty::F64)), 3));
        let scalar = Variable {
            shape: ArrayShape { stride: 8, extents: Vec::new() },
            layout,
            varying: true,
            ..variable(false, "")
        };
        let variables = vec![variable(true, "a \"b\""), variable(false, "c"), scalar];
        let program = Program { variables, ..Program::default() };
        assert_eq!(decode(&encode(&program)).as_ref(), Ok(&program));
        let text = crate::asm::disassemble(&program, crate::asm::Style::Full);
        assert_eq!(crate::asm::assemble(&text), Ok(program), "{text}");
    }

    #[test]
    fn what_is_linked_by_round_trips_in_both_forms() {
        let span = Span { file: 2, lo: 5, hi: 9 };
        let symbol = |item, name: &str| Symbol {
            name: name.into(),
            item,
            ty: "void (uniform S * uniform)".into(),
            structs: vec![("S".into(), u64::MAX), ("enum \"E\"".into(), 0)],
            span,
        };
        let param = ExportParam { name: "s".into(), value: HostValue::Uniform(crate::Ty::I32), default: None };
        let host = HostFunction { params: vec![param], result: Some(HostValue::Uniform(crate::Ty::F32)) };
        let import =
            |item, host| Import { symbol: symbol(item, "f(uniform S * uniform)"), used: span, host, near: None };
        let near = Some(("f(int32)".to_string(), Span { file: 1, lo: 0, hi: 1 }));
        let global = Global {
            name: "function".into(),
            size: 16,
            init: vec![1],
            constant: true,
            relocations: vec![(0, Target::Function(FuncId(3))), (8, Target::Global(GlobalId(0), -4))],
            host: None,
        };
        let program = Program {
            globals: vec![global],
            imports: vec![
                import(Item::Function(FuncId(7)), Some(host)),
                Import { near, used: Span::default(), ..import(Item::Global(GlobalId(0)), None) },
            ],
            symbols: vec![symbol(Item::Global(GlobalId(1)), "x"), symbol(Item::Function(FuncId(0)), "g")],
            ..Program::default()
        };
        assert_eq!(decode(&encode(&program)).as_ref(), Ok(&program));
        let text = crate::asm::disassemble(&program, crate::asm::Style::Full);
        assert_eq!(crate::asm::assemble(&text).as_ref(), Ok(&program), "{text}");
    }

    #[test]
    fn headers_are_checked() {
        let good = encode(&Program::default());
        let message = |bytes: &[u8]| decode(bytes).unwrap_err().message;
        assert!(message(b"").contains("`SPMD`") && message(b"SPM").contains("`SPMD`"));
        assert!(message(b"SPMD").contains("ends in its header"));
        assert!(message(&good[..good.len() - 1]).contains("cut off"));
        let mut other = good.clone();
        other[4] = 9;
        assert!(message(&other).contains("version 9"));
        let mut damaged = good;
        *damaged.last_mut().unwrap() ^= 1;
        assert!(message(&damaged).contains("checksum"));
    }
}
