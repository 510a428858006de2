//! numpy's dtypes and the program's types.

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::{HostType, Ty};

/// Type numbers of numpy's own types end here; others were registered by other libraries.
const FIRST_USER_TYPE: i32 = 24;

/// The element type that a plain dtype of native byte order stands for.
pub fn element(dtype: &Bound<'_, PyArrayDescr>) -> Option<Ty> {
    if dtype.num() >= FIRST_USER_TYPE || dtype.is_native_byteorder() == Some(false) {
        return None;
    }
    Some(match (dtype.kind(), dtype.itemsize()) {
        (b'b', 1) => Ty::Bool,
        (b'i', 1) => Ty::I8,
        (b'i', 2) => Ty::I16,
        (b'i', 4) => Ty::I32,
        (b'i', 8) => Ty::I64,
        (b'u', 1) => Ty::U8,
        (b'u', 2) => Ty::U16,
        (b'u', 4) => Ty::U32,
        (b'u', 8) => Ty::U64,
        (b'f', 2) => Ty::F16,
        (b'f', 4) => Ty::F32,
        (b'f', 8) => Ty::F64,
        _ => return None,
    })
}

/// numpy's name of an element type.
pub fn name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::I8 => "int8",
        Ty::I16 => "int16",
        Ty::I32 => "int32",
        Ty::I64 => "int64",
        Ty::U8 => "uint8",
        Ty::U16 => "uint16",
        Ty::U32 => "uint32",
        Ty::U64 => "uint64",
        Ty::F16 => "float16",
        Ty::F32 => "float32",
        Ty::F64 => "float64",
    }
}

/// The name after `np.`.
pub fn spelled(ty: Ty) -> &'static str {
    if ty == Ty::Bool { "bool_" } else { name(ty) }
}

/// numpy's dtype of an element type.
pub fn of(py: Python<'_>, ty: Ty) -> PyResult<Bound<'_, PyArrayDescr>> {
    Ok(match ty {
        Ty::Bool => numpy::dtype::<bool>(py),
        Ty::I8 => numpy::dtype::<i8>(py),
        Ty::I16 => numpy::dtype::<i16>(py),
        Ty::I32 => numpy::dtype::<i32>(py),
        Ty::I64 => numpy::dtype::<i64>(py),
        Ty::U8 => numpy::dtype::<u8>(py),
        Ty::U16 => numpy::dtype::<u16>(py),
        Ty::U32 => numpy::dtype::<u32>(py),
        Ty::U64 => numpy::dtype::<u64>(py),
        Ty::F16 => PyArrayDescr::new(py, name(ty))?,
        Ty::F32 => numpy::dtype::<f32>(py),
        Ty::F64 => numpy::dtype::<f64>(py),
    })
}

/// What arrays of `elem` are called in messages: a dtype, or what it must be like.
pub fn expected(elem: &HostType) -> String {
    match elem {
        HostType::Scalar(ty) => name(*ty).into(),
        HostType::Enum(name) => format!("int32 or uint32 (enum {name})"),
        HostType::Array(inner, _) => expected(inner),
        HostType::Struct { name, .. } => format!("struct {name}, {}", expression(elem)),
        HostType::Pointer => "uint64 (addresses)".into(),
        HostType::Byte => "any dtype without Python objects".into(),
    }
}

/// A Python expression for the dtype of `elem`.
pub fn expression(elem: &HostType) -> String {
    let (base, extents) = flattened(elem);
    let base = match base {
        HostType::Scalar(ty) => format!("np.{}", spelled(*ty)),
        HostType::Enum(_) => "np.uint32".into(),
        HostType::Pointer => "np.uint64".into(),
        HostType::Byte | HostType::Array(..) => "np.uint8".into(),
        HostType::Struct { size, fields, .. } => {
            let names: Vec<_> = fields.iter().map(|(name, ..)| format!("'{name}'")).collect();
            let formats: Vec<_> = fields.iter().map(|(.., ty)| expression(ty)).collect();
            let offsets: Vec<_> = fields.iter().map(|(_, offset, _)| offset.to_string()).collect();
            let [names, formats, offsets] = [names, formats, offsets].map(|list| list.join(", "));
            format!(
                "np.dtype({{'names': [{names}], 'formats': [{formats}], 'offsets': [{offsets}], 'itemsize': {size}}})"
            )
        }
    };
    if extents.is_empty() {
        return base;
    }
    let extents: Vec<_> = extents.iter().map(|n| format!("{n},")).collect();
    format!("({base}, ({}))", extents.join(" "))
}

/// numpy's dtype of a layout.
pub fn layout<'py>(py: Python<'py>, elem: &HostType) -> PyResult<Bound<'py, PyArrayDescr>> {
    let (base, extents) = flattened(elem);
    let base = match base {
        HostType::Scalar(ty) => of(py, *ty)?,
        HostType::Enum(_) => of(py, Ty::U32)?,
        HostType::Pointer => of(py, Ty::U64)?,
        HostType::Byte | HostType::Array(..) => of(py, Ty::U8)?,
        HostType::Struct { size, fields, .. } => {
            let dict = PyDict::new(py);
            let formats = fields.iter().map(|(.., ty)| layout(py, ty)).collect::<PyResult<Vec<_>>>()?;
            dict.set_item("names", fields.iter().map(|(name, ..)| name).collect::<Vec<_>>())?;
            dict.set_item("formats", formats)?;
            dict.set_item("offsets", fields.iter().map(|(_, offset, _)| offset).collect::<Vec<_>>())?;
            dict.set_item("itemsize", size)?;
            PyArrayDescr::new(py, dict)?
        }
    };
    match extents.is_empty() {
        true => Ok(base),
        false => PyArrayDescr::new(py, (base, PyTuple::new(py, extents)?)),
    }
}

/// The lengths of the last dimensions that an array must have to be seen as `elem`s: an array of numbers (rather than
/// of structs) also has one for the members of a struct.
pub fn inner_shape(elem: &HostType, of_numbers: bool) -> Vec<u64> {
    let (base, mut extents) = flattened(elem);
    if let (HostType::Struct { size, .. }, Some(ty)) = (base, uniform_leaf(base).filter(|_| of_numbers)) {
        extents.push(size / ty.size() as u64);
    }
    extents
}

/// The element of nested arrays, and their lengths, outermost first.
pub fn flattened(mut elem: &HostType) -> (&HostType, Vec<u64>) {
    let mut extents = Vec::new();
    while let HostType::Array(inner, n) = elem {
        extents.push(*n);
        elem = inner;
    }
    (elem, extents)
}

/// Says what differs if an array of this dtype cannot be seen as `elem`s.
pub fn check(elem: &HostType, dtype: &Bound<'_, PyArrayDescr>) -> Result<(), String> {
    if dtype.has_object() {
        return Err("it holds Python objects".into());
    }
    match elem {
        HostType::Scalar(ty) if element(dtype) == Some(*ty) => Ok(()),
        HostType::Enum(_) if matches!(element(dtype), Some(Ty::I32 | Ty::U32)) => Ok(()),
        HostType::Pointer if element(dtype) == Some(Ty::U64) => Ok(()),
        HostType::Byte => Ok(()),
        HostType::Array(..) if dtype.has_subarray() => check_subarray(elem, dtype),
        // The dimensions of the numpy array stand for those of the parameter.
        HostType::Array(inner, _) => check(inner, dtype),
        HostType::Struct { .. } if dtype.has_fields() => check_struct(elem, dtype),
        HostType::Struct { .. } if uniform_leaf(elem).is_some_and(|ty| element(dtype) == Some(ty)) => Ok(()),
        _ => Err(String::new()),
    }
}

/// The type of all numbers in `elem`, if they are of one type and nothing lies between them.
pub fn uniform_leaf(elem: &HostType) -> Option<Ty> {
    match elem {
        HostType::Scalar(ty) => Some(*ty),
        HostType::Array(inner, _) => uniform_leaf(inner),
        HostType::Struct { size, fields, .. } => {
            let ty = uniform_leaf(&fields.first()?.2)?;
            let packed: u64 = fields.iter().map(|(.., t)| t.size()).sum();
            (packed == *size && fields.iter().all(|(.., t)| uniform_leaf(t) == Some(ty))).then_some(ty)
        }
        HostType::Enum(_) | HostType::Pointer | HostType::Byte => None,
    }
}

fn check_subarray(elem: &HostType, dtype: &Bound<'_, PyArrayDescr>) -> Result<(), String> {
    let (base, extents) = flattened(elem);
    let shape = dtype.shape();
    let given: usize = shape.iter().product();
    if given as u64 != extents.iter().product::<u64>() {
        return Err(format!("its shape is {shape:?}, but {extents:?} is needed"));
    }
    check(base, &dtype.base())
}

/// Fields are matched by name; if they are called otherwise, the numbers must lie alike.
fn check_struct(elem: &HostType, dtype: &Bound<'_, PyArrayDescr>) -> Result<(), String> {
    check_fields(elem, dtype).or_else(|why| {
        let (mut wanted, mut given) = (Vec::new(), Vec::new());
        let can_tell = numbers_of(elem, 0, &mut wanted) && numbers_of_dtype(dtype, 0, &mut given);
        let alike = |(a, b): (&(u64, Ty), &(u64, Ty))| a == b || a.0 == b.0 && is_enum_pair(a.1, b.1);
        let fits = can_tell && wanted.len() == given.len() && wanted.iter().zip(&given).all(alike);
        if fits && dtype.itemsize() as u64 == elem.size() { Ok(()) } else { Err(why) }
    })
}

/// Returns whether they are what enumerations may be held as.
fn is_enum_pair(a: Ty, b: Ty) -> bool {
    matches!((a, b), (Ty::U32, Ty::I32))
}

/// Structs of more numbers are matched by name only.
const MAX_NUMBERS: usize = 4096;

/// The numbers of a type with their offsets; `false` if there are too many.
fn numbers_of(elem: &HostType, at: u64, out: &mut Vec<(u64, Ty)>) -> bool {
    match elem {
        HostType::Scalar(ty) => out.push((at, *ty)),
        HostType::Enum(_) => out.push((at, Ty::U32)),
        HostType::Pointer => out.push((at, Ty::U64)),
        HostType::Byte => return false,
        HostType::Array(inner, n) => {
            return (0..*n).all(|i| numbers_of(inner, at + i * inner.size(), out));
        }
        HostType::Struct { fields, .. } => {
            return fields.iter().all(|(_, offset, ty)| numbers_of(ty, at + offset, out));
        }
    }
    out.len() <= MAX_NUMBERS
}

fn numbers_of_dtype(dtype: &Bound<'_, PyArrayDescr>, at: u64, out: &mut Vec<(u64, Ty)>) -> bool {
    if dtype.has_subarray() {
        let base = dtype.base();
        let n: usize = dtype.shape().iter().product();
        return (0..n as u64).all(|i| numbers_of_dtype(&base, at + i * base.itemsize() as u64, out));
    }
    if let Some(names) = dtype.names() {
        return names.iter().all(|name| {
            dtype.get_field(name).is_ok_and(|(field, offset)| numbers_of_dtype(&field, at + offset as u64, out))
        });
    }
    element(dtype).is_some_and(|ty| {
        out.push((at, ty));
        out.len() <= MAX_NUMBERS
    })
}

fn check_fields(elem: &HostType, dtype: &Bound<'_, PyArrayDescr>) -> Result<(), String> {
    let HostType::Struct { name, size, fields } = elem else { return Err(String::new()) };
    let given = dtype.names().unwrap_or_default();
    if let Some(extra) = given.iter().find(|field| fields.iter().all(|(name, ..)| name != *field)) {
        return Err(format!("struct {name} has no field `{extra}`"));
    }
    for (field, offset, ty) in fields {
        let Ok((given, at)) = dtype.get_field(field) else {
            return Err(format!("it has no field `{field}`"));
        };
        if at as u64 != *offset {
            return Err(format!("field `{field}` lies at byte {at}, but at byte {offset} in struct {name}"));
        }
        check_field(ty, &given).map_err(|why| {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            format!("field `{field}` is {given}, but {} in struct {name}{why}", expected_field(ty))
        })?;
    }
    if dtype.itemsize() as u64 != *size {
        return Err(format!("its elements have {} bytes, but struct {name} has {size}", dtype.itemsize()));
    }
    Ok(())
}

/// As [`check`], where sizes must agree exactly.
fn check_field(ty: &HostType, dtype: &Bound<'_, PyArrayDescr>) -> Result<(), String> {
    check(ty, dtype)?;
    if dtype.itemsize() as u64 == ty.size() { Ok(()) } else { Err(String::new()) }
}

fn expected_field(ty: &HostType) -> String {
    let (base, extents) = flattened(ty);
    let extents: String = extents.iter().map(|n| format!("[{n}]")).collect();
    match base {
        HostType::Struct { name, .. } => format!("struct {name}{extents}"),
        base => expected(base) + &extents,
    }
}
