//! Calls of functions in C by their addresses: the one place where programs leave the sandbox.
//!
//! Both calling conventions known here pass the first integers in one set of registers and the first floating-point numbers in
//! another. So one call that fills all of both serves every signature that needs no stack.

use crate::host::{HostCall, HostError};
use spmdvm_vm::Ty;
use spmdvm_vm::program::{HostFunction, HostValue};
#[cfg(unix)]
use std::ffi::CString;

/// Integer and floating-point registers for arguments.
const INTEGERS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 6 };
const FLOATS: usize = 8;

/// Returns whether this is a machine whose calling convention is known.
const IS_KNOWN: bool = cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")));

/// A shared library.
pub(crate) struct Library {
    name: String,
    #[cfg(unix)]
    handle: *mut std::ffi::c_void,
}

// SAFETY: handles of libraries may be used by all threads.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads a library, for good.
    ///
    /// # Safety
    /// Loading runs its initialisers.
    #[cfg(not(unix))]
    pub unsafe fn load(path: &str) -> Result<Library, String> {
        Err(format!("`{path}` is not loaded: functions in C cannot be called on this machine"))
    }

    /// The address of a function.
    #[cfg(not(unix))]
    pub fn find(&self, _: &str) -> Option<usize> {
        None
    }

    /// Loads a library, for good.
    ///
    /// # Safety
    /// Loading runs its initialisers.
    #[cfg(unix)]
    pub unsafe fn load(path: &str) -> Result<Library, String> {
        use std::ffi::CStr;
        if !IS_KNOWN {
            return Err("functions in C cannot be called on this machine".into());
        }
        let c_path = CString::new(path).map_err(|_| format!("`{path}` is no path"))?;
        // SAFETY: the path is a C string; the caller promised the rest.
        let handle = unsafe { libc::dlopen(c_path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: `dlerror` gives null or a C string that lasts until the next call of this thread.
            let why = unsafe { libc::dlerror() };
            // SAFETY: as above.
            let why = (!why.is_null()).then(|| unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned());
            return Err(why.unwrap_or_else(|| format!("`{path}` cannot be loaded")));
        }
        Ok(Library { name: path.to_owned(), handle })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of a function.
    #[cfg(unix)]
    pub fn find(&self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle is a library's, which is never closed, and the name a C string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!address.is_null()).then_some(address as usize)
    }
}

fn is_float(value: &HostValue) -> bool {
    matches!(value, HostValue::Uniform(Ty::F32 | Ty::F64) | HostValue::Varying(Ty::F32 | Ty::F64))
}

/// Whether functions of this signature can be called here; why not, if not.
pub(crate) fn can_call(signature: &HostFunction) -> Result<(), String> {
    let floats = signature.params.iter().filter(|param| is_float(&param.value)).count();
    let values = || signature.params.iter().map(|param| &param.value).chain(&signature.result);
    if !IS_KNOWN {
        return Err("functions in C cannot be called on this machine".into());
    }
    if values().any(|value| matches!(value, HostValue::Uniform(Ty::F16) | HostValue::Varying(Ty::F16))) {
        return Err("functions in C have no `float16`".into());
    }
    if floats > FLOATS || signature.params.len() - floats > INTEGERS {
        return Err(format!(
            "functions in C have at most {INTEGERS} integers and pointers, and {FLOATS} floating-point numbers"
        ));
    }
    Ok(())
}

/// Calls the function at an address, for a lane if anything is varying.
///
/// # Safety
/// There is a function with the signature of the call, which [`can_call`] approves of; it stays within the memory that it is given.
pub(crate) unsafe fn call(address: usize, call: &HostCall<'_>) -> Result<u64, HostError> {
    let (mut integers, mut floats) = ([0u64; 8], [0f64; FLOATS]);
    let (mut n_integers, mut n_floats) = (0, 0);
    for (i, param) in call.signature().params.iter().enumerate() {
        let word = call.word(i);
        match &param.value {
            value if is_float(value) => {
                // A `float` lies in the low half of its register.
                floats[n_floats] = f64::from_bits(word);
                n_floats += 1;
            }
            value => {
                integers[n_integers] = match value {
                    HostValue::Uniform(ty) | HostValue::Varying(ty) => extended(*ty, word),
                    _ => host_address(call, i)?,
                };
                n_integers += 1;
            }
        }
    }
    let result = call.signature().result.as_ref();
    // SAFETY: the caller's promise: registers beyond those of its parameters mean nothing to the function.
    unsafe {
        if result.is_some_and(is_float) {
            return Ok(call_float(address, &integers, &floats).to_bits());
        }
        let word = call_integer(address, &integers, &floats);
        Ok(match result {
            Some(HostValue::Uniform(ty) | HostValue::Varying(ty)) => narrowed(*ty, word),
            Some(_) => handle(call, word)?,
            None => 0,
        })
    }
}

#[cfg(target_arch = "aarch64")]
macro_rules! in_registers {
    ($address:expr, $i:expr, $f:expr, $result:ty) => {{
        type Function = unsafe extern "C" fn(
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
            f64,
        ) -> $result;
        let ([a, b, c, d, e, f, g, h], [p, q, r, s, t, u, v, w]) = (*$i, *$f);
        std::mem::transmute::<usize, Function>($address)(a, b, c, d, e, f, g, h, p, q, r, s, t, u, v, w)
    }};
}

#[cfg(not(target_arch = "aarch64"))]
macro_rules! in_registers {
    ($address:expr, $i:expr, $f:expr, $result:ty) => {{
        type Function =
            unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, f64, f64, f64, f64, f64, f64, f64, f64) -> $result;
        let ([a, b, c, d, e, f, ..], [p, q, r, s, t, u, v, w]) = (*$i, *$f);
        std::mem::transmute::<usize, Function>($address)(a, b, c, d, e, f, p, q, r, s, t, u, v, w)
    }};
}

/// # Safety
/// As for [`call`].
unsafe fn call_integer(address: usize, integers: &[u64; 8], floats: &[f64; FLOATS]) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { in_registers!(address, integers, floats, u64) }
}

/// # Safety
/// As for [`call`].
unsafe fn call_float(address: usize, integers: &[u64; 8], floats: &[f64; FLOATS]) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { in_registers!(address, integers, floats, f64) }
}

/// An integer as a register holds it: signed ones keep their sign.
fn extended(ty: Ty, word: u64) -> u64 {
    match ty {
        Ty::I8 => word as i8 as u64,
        Ty::I16 => word as i16 as u64,
        Ty::I32 => word as i32 as u64,
        _ => word,
    }
}

/// The part of a register that is the result.
fn narrowed(ty: Ty, word: u64) -> u64 {
    match ty.size() {
        1 => word & 0xff,
        2 => word & 0xffff,
        4 => word & 0xffff_ffff,
        _ => word,
    }
}

/// The address of the host that a pointer stands for.
fn host_address(call: &HostCall<'_>, i: usize) -> Result<u64, HostError> {
    if call.word(i) == 0 {
        return Ok(0);
    }
    let memory = call.pointee(i);
    memory.map(|memory| memory.start as u64).ok_or_else(|| {
        HostError::new(format!("`{}`: argument {i} points to memory that is not there (any more)", call.name()))
    })
}

/// What the program gets of an address that a function gives: a pointer that it can hand back, but not look through.
fn handle(call: &HostCall<'_>, address: u64) -> Result<u64, HostError> {
    if address == 0 {
        return Ok(0);
    }
    let memory = call.inner().memory();
    let name = memory.name(call.name());
    // SAFETY: no byte of it is accessed.
    let pointer = unsafe { memory.map_host(address as *mut u8, 0, false, name) };
    pointer.map_err(|trap| HostError::new(trap.to_string()))
}
