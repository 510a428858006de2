//! `.npy` files: mapped as input, written as output.

use crate::{Failure, files};
use half::f16;
use memmap2::{MmapMut, MmapOptions};
use npyz::{DType, NpyHeader, WriteOptions, WriterBuilder};
use spmdvm::Ty;
use spmdvm::shrunk::{self, Watch};
use std::fs::File;
use std::io::{BufWriter, Cursor, Write};
use std::path::Path;

/// A mapped `.npy` file. Writes of a program stay in memory; the file is not changed.
pub struct MappedNpy {
    map: MmapMut,
    /// Notices when the file gets shorter than the mapping.
    watch: Watch,
    name: String,
    offset: usize,
    bytes: usize,
    /// Element type.
    pub ty: Ty,
    /// Lengths of the dimensions, outermost first.
    pub shape: Vec<u64>,
}

impl MappedNpy {
    /// Maps a file in C order with a type that programs know.
    pub fn open(path: &Path) -> Result<MappedNpy, Failure> {
        let name = path.display();
        files::check(path)?;
        let file = File::open(path).map_err(|e| files::unreadable(path, &e))?;
        // SAFETY: a private copy-on-write mapping. What another process does to the file may show in it; accesses to what
        // another process cuts off find zeros (see `shrunk`).
        let map = unsafe { MmapOptions::new().map_copy(&file) }
            .map_err(|e| Failure::usage(format!("cannot map {name}: {e}")))?;
        let watch = shrunk::watch(map.as_ptr(), map.len());
        if !has_sizes(&map) {
            return Err(Failure::usage(format!("{name} is cut off: its header promises more bytes than there can be")));
        }
        let mut cursor = Cursor::new(&map[..]);
        let header = NpyHeader::from_reader(&mut cursor)
            .map_err(|e| Failure::usage(format!("{name} is not a .npy file: {e}")))?;
        let offset = cursor.position() as usize;
        let ty = element_type(&header.dtype()).ok_or_else(|| {
            Failure::usage(format!("{name} holds {}, which no program type matches", header.dtype().descr()))
        })?;
        if header.order() != npyz::Order::C && header.shape().len() > 1 {
            return Err(Failure::usage(format!("{name} is in Fortran order; save it with np.ascontiguousarray")));
        }
        let shape = header.shape().to_vec();
        let bytes = shape.iter().try_fold(ty.size() as u64, |bytes, &n| bytes.checked_mul(n));
        let Some(bytes) = bytes.filter(|&bytes| bytes <= (map.len() - offset) as u64) else {
            let promised = bytes.map_or("more bytes than there can be".into(), |n| format!("{n} bytes"));
            return Err(Failure::usage(format!("{name} is cut off: its header promises {promised} of data")));
        };
        let bytes = bytes as usize;
        Ok(MappedNpy { map, watch, name: name.to_string(), offset, bytes, ty, shape })
    }

    /// Fails if a part of the file that was accessed is gone.
    pub fn check(&self) -> Result<(), Failure> {
        if !self.watch.has_shrunk() {
            return Ok(());
        }
        Err(Failure::Usage(format!("{} was cut off while the program ran; the results are not valid", self.name)))
    }

    /// The elements.
    pub fn data(&self) -> &[u8] {
        &self.map[self.offset..][..self.bytes]
    }

    /// The elements, to be written in memory only.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.map[self.offset..][..self.bytes]
    }
}

/// Returns whether the numbers in a header's shape have a product, which the library that reads it takes for granted.
pub fn has_sizes(file: &[u8]) -> bool {
    let header = String::from_utf8_lossy(&file[..file.len().min(1 << 12)]);
    let shape = header.split_once("'shape'").and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    let numbers = shape.map_or("", |(numbers, _)| numbers).split(',').filter_map(|n| n.trim().parse::<u64>().ok());
    numbers.filter(|&n| n > 0).try_fold(16u64, u64::checked_mul).is_some()
}

/// The type of programs for elements of a file.
pub fn element_type(dtype: &DType) -> Option<Ty> {
    let DType::Plain(t) = dtype else { return None };
    let text = t.to_string();
    let mut chars = text.chars();
    let endianness = chars.next()?;
    if endianness == '>' && !text.ends_with('1') {
        return None;
    }
    Some(match chars.as_str() {
        "b1" => Ty::Bool,
        "i1" => Ty::I8,
        "i2" => Ty::I16,
        "i4" => Ty::I32,
        "i8" => Ty::I64,
        "u1" => Ty::U8,
        "u2" => Ty::U16,
        "u4" => Ty::U32,
        "u8" => Ty::U64,
        "f2" => Ty::F16,
        "f4" => Ty::F32,
        "f8" => Ty::F64,
        _ => return None,
    })
}

/// Writes elements to a new `.npy` file.
pub fn write(path: &Path, ty: Ty, shape: &[u64], data: &[u8]) -> Result<(), Failure> {
    let attempt = || write_to(BufWriter::new(File::create(path)?), ty, shape, data);
    attempt().map_err(|e| files::unwritable(path, &e))
}

/// Writes elements as a `.npy` file has them.
pub fn write_to(file: impl Write, ty: Ty, shape: &[u64], data: &[u8]) -> std::io::Result<()> {
    match ty {
        Ty::Bool => write_as(file, shape, data.iter().map(|&b| b != 0)),
        Ty::I8 => write_as(file, shape, data.iter().map(|&b| b as i8)),
        Ty::U8 => write_as(file, shape, data.iter().copied()),
        Ty::I16 => write_as(file, shape, elements(data).map(i16::from_le_bytes)),
        Ty::U16 => write_as(file, shape, elements(data).map(u16::from_le_bytes)),
        Ty::F16 => write_as(file, shape, elements(data).map(f16::from_le_bytes)),
        Ty::I32 => write_as(file, shape, elements(data).map(i32::from_le_bytes)),
        Ty::U32 => write_as(file, shape, elements(data).map(u32::from_le_bytes)),
        Ty::F32 => write_as(file, shape, elements(data).map(f32::from_le_bytes)),
        Ty::I64 => write_as(file, shape, elements(data).map(i64::from_le_bytes)),
        Ty::U64 => write_as(file, shape, elements(data).map(u64::from_le_bytes)),
        Ty::F64 => write_as(file, shape, elements(data).map(f64::from_le_bytes)),
    }
}

fn elements<const N: usize>(data: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    data.as_chunks::<N>().0.iter().copied()
}

fn write_as<T: npyz::AutoSerialize>(
    file: impl Write,
    shape: &[u64],
    items: impl Iterator<Item = T>,
) -> std::io::Result<()> {
    let mut writer = WriteOptions::new().default_dtype().shape(shape).writer(file).begin_nd()?;
    writer.extend(items)?;
    writer.finish()
}
