//! `spmdvm_value`.

use crate::error::Error;
use facade::{Array, Export, ExportParam, HostValue, MapArg, Pointer, Strided, Ty, Value};
use std::ffi::c_void;

/// The kinds of values, as the header numbers them.
mod kind {
    pub const NOTHING: u32 = 0;
    pub const SCALAR: u32 = 1;
    pub const LANES: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const CONST_ARRAY: u32 = 4;
    pub const POINTER: u32 = 5;
}

/// An argument or a result. Kind and type are numbers here: C may leave any number there.
#[repr(C)]
pub struct CValue {
    kind: u32,
    ty: u32,
    bits: u64,
    data: *mut c_void,
    bytes: usize,
}

impl CValue {
    fn ty(&self) -> Result<Ty, Error> {
        let found = Ty::ALL.get(self.ty as usize).copied();
        found.ok_or_else(|| Error::argument(format!("there is no type {}", self.ty)))
    }

    fn memory(&self) -> Result<*mut u8, Error> {
        match (self.data.is_null(), self.bytes) {
            (true, 0) => Ok(std::ptr::dangling_mut()),
            (true, n) => Err(Error::argument(format!("an array of {n} bytes is at NULL"))),
            (false, _) => Ok(self.data.cast()),
        }
    }

    /// The bits of a scalar: others than its type has do not count.
    fn word(&self) -> Result<u64, Error> {
        let ty = self.ty()?;
        let bits = self.bits & (u64::MAX >> (64 - 8 * ty.size()));
        Ok(if ty == Ty::Bool { u64::from(bits != 0) } else { bits })
    }

    /// # Safety
    /// Its memory is as long as it says, stays for `'a`, and is writable unless it is a `CONST_ARRAY` or lanes.
    pub unsafe fn to_value<'a>(&self) -> Result<Value<'a>, Error> {
        Ok(match self.kind {
            kind::SCALAR => Value::scalar(self.ty()?, self.word()?),
            kind::POINTER => Value::Pointer(Pointer::from_address(self.bits)),
            kind::ARRAY | kind::CONST_ARRAY => {
                // SAFETY: the caller's promise.
                Value::Array(unsafe { Array::from_raw(self.memory()?, self.bytes, None, self.kind == kind::ARRAY) })
            }
            kind::LANES => {
                let (ty, start) = (self.ty()?, self.memory()?);
                let lane = |i: usize| {
                    let mut word = [0u8; 8];
                    // SAFETY: the memory has `bytes` bytes, a multiple of the size at least as large.
                    unsafe { std::ptr::copy_nonoverlapping(start.add(i * ty.size()), word.as_mut_ptr(), ty.size()) };
                    let word = u64::from_le_bytes(word);
                    if ty == Ty::Bool { u64::from(word != 0) } else { word }
                };
                Value::Lanes { ty, words: (0..self.bytes / ty.size()).map(lane).collect() }
            }
            kind::NOTHING => return Err(Error::argument("an argument is SPMDVM_NOTHING".into())),
            other => return Err(Error::argument(format!("there is no kind of value {other}"))),
        })
    }

    /// Becomes a result.
    ///
    /// # Safety
    /// Its room is as long as it says.
    pub unsafe fn set(&mut self, value: Option<Value<'_>>) -> Result<(), Error> {
        let bytes = match value {
            None => {
                self.kind = kind::NOTHING;
                return Ok(());
            }
            Some(Value::Scalar { ty, bits }) => {
                (self.kind, self.ty, self.bits) = (kind::SCALAR, ty as u32, bits);
                return Ok(());
            }
            Some(Value::Pointer(pointer)) => {
                (self.kind, self.bits) = (kind::POINTER, pointer.address());
                return Ok(());
            }
            Some(Value::Lanes { ty, words }) => {
                (self.kind, self.ty) = (kind::LANES, ty as u32);
                words.iter().flat_map(|word| word.to_le_bytes()[..ty.size()].to_vec()).collect()
            }
            Some(Value::Record(bytes)) => {
                self.kind = kind::ARRAY;
                bytes
            }
            Some(Value::Array(_)) => return Err(Error::argument("the result has no form in C".into())),
        };
        if self.data.is_null() || self.bytes < bytes.len() {
            let message = format!("the result has {} bytes, and there is room for {}", bytes.len(), self.bytes);
            return Err(Error::argument(message));
        }
        // SAFETY: there is room, and `bytes` is new.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len()) };
        self.bytes = bytes.len();
        Ok(())
    }
}

/// The arguments of a call over `n` elements, for an export.
struct Fit<'e> {
    export: &'e Export,
    n: usize,
}

/// The same, as the facade takes them.
pub struct Fitting {
    pub arguments: Vec<MapArg>,
    pub result: Option<Strided>,
    /// The values that all elements share, which `arguments` point to.
    _words: Vec<[u8; 8]>,
}

impl Fitting {
    /// Compares what is given with what an export takes.
    pub fn new(export: &Export, args: &[CValue], result: Option<&CValue>, n: usize) -> Result<Fitting, Error> {
        let fit = Fit { export, n };
        // With room for all, so that no word moves.
        let (mut arguments, mut words) = (fit.arguments(args)?, Vec::with_capacity(export.params.len()));
        for (arg, param) in arguments.iter_mut().zip(&export.params) {
            if let (MapArg::Uniform(bits), HostValue::Varying(ty)) = (&*arg, &param.value) {
                words.push(bits.to_le_bytes());
                let start = words.last_mut().map_or(std::ptr::null_mut(), |word: &mut [u8; 8]| word.as_mut_ptr());
                *arg = MapArg::Varying(Strided { start, stride: 0, len: n, ty: *ty });
            }
        }
        Ok(Fitting { arguments, result: fit.result(result)?, _words: words })
    }
}

impl Fit<'_> {
    fn arguments(&self, args: &[CValue]) -> Result<Vec<MapArg>, Error> {
        let (given, params) = (args.len(), &self.export.params);
        let needed = params.iter().filter(|param| param.default.is_none()).count();
        if given < needed || given > params.len() {
            let message = format!("{}() takes {} arguments, but {given} were given", self.export.name, params.len());
            return Err(Error::argument(message));
        }
        let of = |(i, param): (usize, &ExportParam)| match args.get(i) {
            Some(arg) => self.argument(param, arg),
            None => Ok(MapArg::Uniform(param.default.unwrap_or(0))),
        };
        params.iter().enumerate().map(of).collect()
    }

    fn argument(&self, param: &ExportParam, arg: &CValue) -> Result<MapArg, Error> {
        let is_array = matches!(arg.kind, kind::ARRAY | kind::CONST_ARRAY);
        match &param.value {
            HostValue::Varying(ty) if is_array => Ok(MapArg::Varying(self.elements(&param.name, *ty, arg)?)),
            HostValue::Varying(ty) | HostValue::Uniform(ty) => match arg.kind {
                kind::SCALAR if arg.ty()? == *ty => Ok(MapArg::Uniform(arg.word()?)),
                _ => Err(self.wrong(&param.name, format!("a scalar of type {ty}"))),
            },
            HostValue::Array { .. } if arg.kind == kind::POINTER => Ok(MapArg::Uniform(arg.bits)),
            HostValue::Array { elem, writable, reference } => {
                let fits = is_array && !(*writable && arg.kind == kind::CONST_ARRAY);
                if !fits || *reference && (arg.bytes as u64) < elem.size() {
                    let access = if *writable { "an array that can be written" } else { "an array" };
                    return Err(self.wrong(&param.name, format!("{access}, with elements of {} bytes", elem.size())));
                }
                Ok(MapArg::Array { start: arg.memory()?, bytes: arg.bytes, writable: *writable })
            }
        }
    }

    fn result(&self, result: Option<&CValue>) -> Result<Option<Strided>, Error> {
        match (&self.export.result, result) {
            (None, None) => Ok(None),
            (Some(HostValue::Varying(ty)), Some(out)) if out.kind == kind::ARRAY => {
                self.elements("result", *ty, out).map(Some)
            }
            (None, Some(_)) => Err(Error::argument(format!("{}() has no result", self.export.name))),
            _ => Err(self.wrong("result", "an array for varying results".into())),
        }
    }

    fn elements(&self, name: &str, ty: Ty, arg: &CValue) -> Result<Strided, Error> {
        let needed = self.n.checked_mul(ty.size()).ok_or_else(|| self.wrong(name, "fewer elements".into()))?;
        if arg.bytes < needed {
            return Err(
                self.wrong(name, format!("{} elements of type {ty}, {needed} bytes, not {}", self.n, arg.bytes))
            );
        }
        Ok(Strided { start: arg.memory()?, stride: ty.size() as isize, len: self.n, ty })
    }

    fn wrong(&self, name: &str, expected: String) -> Error {
        Error::argument(format!("{}(): `{name}` expects {expected}", self.export.name))
    }
}
