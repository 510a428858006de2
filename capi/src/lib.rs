//! The C library: `include/spmdvm.h` says what each function does, to those who call it.
//!
//! What flows: an entry point turns its pointers into Rust values (`value`), calls the facade, and stores an error as an
//! object of its own (`error`). Nothing unwinds into C: every entry point ends panics in [`guarded`]. Whether the
//! declarations here and those of the header agree is shown by `tests/c.rs`, whose C programs use all of them.

mod error;
mod value;

use crate::error::{Error, Kind, store};
use crate::value::{CValue, Fitting};
use facade::{Binding, Export, GlobalMemory, HostAccess, Limits, Module, Options, Run, Source, Width};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// `spmdvm_module`.
pub struct CModule {
    module: Module,
    warnings: CString,
    engine: CString,
    exports: Vec<(CString, CString)>,
    interrupt: Arc<AtomicBool>,
    print: Mutex<Option<Print>>,
    bound: Mutex<HashMap<u64, Binding>>,
}

/// Where prints go.
#[derive(Clone, Copy)]
struct Print {
    function: extern "C" fn(*mut c_void, *const c_char, usize),
    user: *mut c_void,
}

// SAFETY: the header asks for a function that any thread may call.
unsafe impl Send for Print {}

/// `spmdvm_options`.
#[repr(C)]
pub struct COptions {
    width: u32,
    task_threads: u32,
    engine: *const c_char,
    fp: *const c_char,
    include_paths: *const *const c_char,
    n_include_paths: usize,
    defines: *const *const c_char,
    n_defines: usize,
    fuel: u64,
    memory: u64,
    timeout: f64,
    hosts: *const CHost,
    n_hosts: usize,
}

/// `spmdvm_host`.
#[repr(C)]
pub struct CHost {
    name: *const c_char,
    function: Option<extern "C" fn()>,
}

/// Does the work of an entry point; what fails, panics included, becomes an error object. Gives the default then.
fn guarded<R>(error: *mut *mut Error, failed: R, work: impl FnOnce() -> Result<R, Error>) -> R {
    let done = catch_unwind(AssertUnwindSafe(work));
    let why = match done {
        Ok(Ok(result)) => return result,
        Ok(Err(why)) => why,
        Err(panic) => Error::of_panic(&*panic),
    };
    // SAFETY: the caller's promise: null, or a place for a pointer.
    unsafe { store(error, why) };
    failed
}

/// A text that is given.
///
/// # Safety
/// Null, or ends in a zero byte, and stays for `'a`.
unsafe fn text<'a>(given: *const c_char, what: &str) -> Result<&'a str, Error> {
    if given.is_null() {
        return Err(Error::argument(format!("{what} is NULL")));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(given) };
    bytes.to_str().map_err(|_| Error::argument(format!("{what} is not UTF-8")))
}

/// The elements of an array that is given; none for null.
///
/// # Safety
/// Null, or `n` elements that stay for `'a`.
unsafe fn slice<'a, T>(given: *const T, n: usize, what: &str) -> Result<&'a [T], Error> {
    match (given.is_null(), n) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::argument(format!("{what} is NULL, but has {n} elements"))),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(given, n) }),
    }
}

/// An object that is given.
///
/// # Safety
/// Null, or what this library gave, which stays for `'a`.
unsafe fn object<'a>(module: *const CModule) -> Result<&'a CModule, Error> {
    // SAFETY: the caller's promise.
    unsafe { module.as_ref() }.ok_or_else(|| Error::argument("the module is NULL".into()))
}

/// # Safety
/// Null, or as the header describes it.
unsafe fn options(given: *const COptions) -> Result<Options, Error> {
    // SAFETY: the caller's promise.
    let Some(given) = (unsafe { given.as_ref() }) else { return Ok(Options::default()) };
    let mut options = Options::default();
    if given.width != 0 {
        let wrong = || Error::argument(format!("width is {}, no power of two from 1 to 64", given.width));
        options.width = Width::new(given.width).ok_or_else(wrong)?;
    }
    // SAFETY: the caller's promise, for these and those that follow.
    unsafe {
        if !given.engine.is_null() {
            options.engine = text(given.engine, "engine")?.parse().map_err(Error::argument)?;
        }
        if !given.fp.is_null() {
            options.fp = text(given.fp, "fp")?.parse().map_err(Error::argument)?;
        }
        for &path in slice(given.include_paths, given.n_include_paths, "include_paths")? {
            options.include_paths.push(PathBuf::from(text(path, "an include path")?));
        }
        for &define in slice(given.defines, given.n_defines, "defines")? {
            let define = text(define, "a macro")?;
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            options.defines.push((name.into(), value.into()));
        }
    }
    // SAFETY: the caller's promise.
    for host in unsafe { slice(given.hosts, given.n_hosts, "hosts")? } {
        // SAFETY: as above.
        let name = unsafe { text(host.name, "the name of a function of the host")? };
        let function = host.function.ok_or_else(|| Error::argument(format!("the host's function `{name}` is NULL")))?;
        // SAFETY: the header asks for a function with the signature that the program declares, which stays.
        options = unsafe { options.with_host_address(name, function as usize) };
    }
    let timeout = match given.timeout {
        0.0 => None,
        t => Some(Duration::try_from_secs_f64(t).map_err(|_| Error::argument(format!("timeout is {t}")))?),
    };
    let some = |n: u64| (n != 0).then_some(n);
    options.limits = Limits { fuel: some(given.fuel), timeout, memory: some(given.memory) };
    options.threads = (given.task_threads != 0).then_some(given.task_threads as usize);
    Ok(options)
}

impl CModule {
    fn new(module: Module) -> *mut CModule {
        let texts = |e: &Export| (c_text(&e.name), c_text(&e.declaration));
        let made = CModule {
            warnings: c_text(&module.render_warnings(false)),
            engine: c_text(module.engine_name()),
            exports: module.exports().iter().map(texts).collect(),
            interrupt: Arc::default(),
            print: Mutex::default(),
            bound: Mutex::default(),
            module,
        };
        Box::into_raw(Box::new(made))
    }

    /// A call, with prints and interruption wired up.
    fn run(&self) -> Run<'_> {
        let run = Run::new(&self.module).interrupt(Arc::clone(&self.interrupt));
        match *self.print.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(print) => run.output(move |text| {
                let Print { function, user } = { print };
                function(user, text.as_ptr().cast(), text.len());
            }),
            None => run,
        }
    }

    /// The export of this name that takes the arguments, and the arguments as it takes them.
    fn choose<T>(&self, name: &str, fit: impl Fn(&Export) -> Result<T, Error>) -> Result<(&Export, T), Error> {
        let mut first = None;
        for export in self.module.overloads(name) {
            match fit(export) {
                Ok(fitting) => return Ok((export, fitting)),
                Err(why) => first = first.or(Some(why)),
            }
        }
        Err(first.unwrap_or_else(|| Error::of_argument(self.module.no_such_export(name))))
    }
}

/// A text for C; a zero byte, which it cannot hold, ends it.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// `spmdvm_compile`.
///
/// # Safety
/// As the header says: texts that end in zero bytes, `length` bytes at `source`, options and a place for the error or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_compile(
    name: *const c_char,
    source: *const c_char,
    length: usize,
    given: *const COptions,
    error: *mut *mut Error,
) -> *mut CModule {
    guarded(error, std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (name, bytes, options) =
            unsafe { (text(name, "name")?, slice(source.cast::<u8>(), length, "text")?, options(given)?) };
        let source = std::str::from_utf8(bytes).map_err(|_| Error::argument("the program is not UTF-8".into()))?;
        let module = Module::compile(name, source, &options).map_err(|why| Error::of_compile(&why))?;
        module.check_engine().map_err(|why| Error::of_call(&why))?;
        Ok(CModule::new(module))
    })
}

/// `spmdvm_compile_file`.
///
/// # Safety
/// As for [`spmdvm_compile`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_compile_file(
    path: *const c_char,
    given: *const COptions,
    error: *mut *mut Error,
) -> *mut CModule {
    guarded(error, std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (path, options) = unsafe { (text(path, "path")?, options(given)?) };
        let module = Module::compile_file(path, &options).map_err(|why| Error::of_compile(&why))?;
        module.check_engine().map_err(|why| Error::of_call(&why))?;
        Ok(CModule::new(module))
    })
}

/// `spmdvm_compile_files`.
///
/// # Safety
/// As for [`spmdvm_compile`]; `n` texts at `paths`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_compile_files(
    paths: *const *const c_char,
    n: usize,
    given: *const COptions,
    error: *mut *mut Error,
) -> *mut CModule {
    guarded(error, std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (paths, options) = unsafe { (slice(paths, n, "paths")?, options(given)?) };
        // SAFETY: as above.
        let path = |&path: &*const c_char| unsafe { text(path, "a path") }.map(Path::new);
        let paths = paths.iter().map(path).collect::<Result<Vec<_>, Error>>()?;
        let sources: Vec<Source<'_>> = paths.into_iter().map(Source::File).collect();
        let module = Module::compile_all(&sources, &options).map_err(|why| Error::of_compile(&why))?;
        module.check_engine().map_err(|why| Error::of_call(&why))?;
        Ok(CModule::new(module))
    })
}

/// `spmdvm_module_free`.
///
/// # Safety
/// Null, or a module that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_module_free(module: *mut CModule) {
    if !module.is_null() {
        // SAFETY: it came from `CModule::new`, and the caller gives it up.
        let module = unsafe { Box::from_raw(module) };
        guarded(std::ptr::null_mut(), (), || {
            drop(module);
            Ok(())
        });
    }
}

/// `spmdvm_warnings`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_warnings(module: *const CModule) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { object(module) }.map_or(c"".as_ptr(), |module| module.warnings.as_ptr())
}

/// `spmdvm_width`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_width(module: *const CModule) -> usize {
    // SAFETY: the caller's promise.
    unsafe { object(module) }.map_or(0, |module| module.module.lanes())
}

/// `spmdvm_engine`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_engine(module: *const CModule) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { object(module) }.map_or(c"".as_ptr(), |module| module.engine.as_ptr())
}

/// `spmdvm_n_exports`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_n_exports(module: *const CModule) -> usize {
    // SAFETY: the caller's promise.
    unsafe { object(module) }.map_or(0, |module| module.exports.len())
}

/// `spmdvm_export_name`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_export_name(module: *const CModule, index: usize) -> *const c_char {
    // SAFETY: the caller's promise.
    let found = unsafe { object(module) }.ok().and_then(|module| module.exports.get(index));
    found.map_or(std::ptr::null(), |(name, _)| name.as_ptr())
}

/// `spmdvm_export_declaration`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_export_declaration(module: *const CModule, index: usize) -> *const c_char {
    // SAFETY: the caller's promise.
    let found = unsafe { object(module) }.ok().and_then(|module| module.exports.get(index));
    found.map_or(std::ptr::null(), |(_, declaration)| declaration.as_ptr())
}

/// `spmdvm_call`.
///
/// # Safety
/// As the header says: `n_args` arguments whose memory is as long as they say, and a result and a place for the error or
/// null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_call(
    module: *mut CModule,
    name: *const c_char,
    args: *const CValue,
    n_args: usize,
    result: *mut CValue,
    error: *mut *mut Error,
) -> bool {
    guarded(error, false, || {
        // SAFETY: the caller's promise.
        let (module, name, args) = unsafe { (object(module)?, text(name, "name")?, slice(args, n_args, "args")?) };
        // SAFETY: the memory stays while the call lasts.
        let values = args.iter().map(|arg| unsafe { arg.to_value() }).collect::<Result<Vec<_>, Error>>()?;
        let value = module.run().call(name, &values).map_err(|why| Error::of_call(&why))?;
        // SAFETY: the caller's promise.
        unsafe { result.as_mut() }.map_or(Ok(()), |result| {
            // SAFETY: its room is as long as it says.
            unsafe { result.set(value) }
        })?;
        Ok(true)
    })
}

/// `spmdvm_map`.
///
/// # Safety
/// As for [`spmdvm_call`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_map(
    module: *mut CModule,
    name: *const c_char,
    args: *const CValue,
    n_args: usize,
    n: usize,
    result: *const CValue,
    error: *mut *mut Error,
) -> bool {
    guarded(error, false, || {
        // SAFETY: the caller's promise.
        let (module, name, args, result) =
            unsafe { (object(module)?, text(name, "name")?, slice(args, n_args, "args")?, result.as_ref()) };
        let (export, fitting) = module.choose(name, |export| Fitting::new(export, args, result, n))?;
        // SAFETY: the caller's promise about the memory of arguments; `Fitting` has compared its size with what is accessed.
        let done = unsafe { module.run().map(export, &fitting.arguments, fitting.result, None, n) };
        done.map_err(|why| Error::of_call(&why))?;
        Ok(true)
    })
}

/// `spmdvm_interrupt`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_interrupt(module: *mut CModule, stop: bool) {
    // SAFETY: the caller's promise.
    if let Ok(module) = unsafe { object(module) } {
        module.interrupt.store(stop, Ordering::Relaxed);
    }
}

/// `spmdvm_set_print`.
///
/// # Safety
/// Null, or a module; the function may be called by any thread, one at a time, until another is set and no call runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_set_print(
    module: *mut CModule,
    print: Option<extern "C" fn(*mut c_void, *const c_char, usize)>,
    user: *mut c_void,
) {
    // SAFETY: the caller's promise.
    if let Ok(module) = unsafe { object(module) } {
        let print = print.map(|function| Print { function, user });
        *module.print.lock().unwrap_or_else(PoisonError::into_inner) = print;
    }
}

/// `spmdvm_global`.
///
/// # Safety
/// Null, or a module, a text, a place for the size, a place for the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_global(
    module: *mut CModule,
    name: *const c_char,
    bytes: *mut usize,
    error: *mut *mut Error,
) -> *mut c_void {
    guarded(error, std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (module, name) = unsafe { (object(module)?, text(name, "name")?) };
        let global = module.module.global(name).map_err(Error::of_argument)?;
        if global.access() == HostAccess::Supply {
            let message = format!("`{name}` is extern: its memory is what spmdvm_supply was given");
            return Err(Error::argument(message));
        }
        let memory = global.memory().map_err(Error::of_argument)?;
        // SAFETY: the caller's promise.
        if let Some(bytes) = unsafe { bytes.as_mut() } {
            *bytes = memory.bytes();
        }
        // The module owns the memory, and stays.
        Ok(memory.start().cast())
    })
}

/// `spmdvm_supply`.
///
/// # Safety
/// As the header says: the memory stays until the module is freed or the variable supplied anew.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_supply(
    module: *mut CModule,
    name: *const c_char,
    data: *mut c_void,
    bytes: usize,
    error: *mut *mut Error,
) -> bool {
    guarded(error, false, || {
        // SAFETY: the caller's promise.
        let (module, name) = unsafe { (object(module)?, text(name, "name")?) };
        let global = module.module.global(name).map_err(Error::of_argument)?;
        let done = match data.is_null() {
            true => global.withdraw(),
            // SAFETY: the caller's promise.
            false => unsafe { global.supply_memory(GlobalMemory::from_raw(data.cast(), bytes, Arc::new(()))) },
        };
        done.map_err(Error::of_argument)?;
        Ok(true)
    })
}

/// `spmdvm_bind`.
///
/// # Safety
/// As the header says: the memory stays until it is unbound and no call runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_bind(
    module: *mut CModule,
    data: *mut c_void,
    bytes: usize,
    writable: bool,
    error: *mut *mut Error,
) -> u64 {
    guarded(error, 0, || {
        // SAFETY: the caller's promise.
        let module = unsafe { object(module)? };
        if data.is_null() {
            return Err(Error::argument("data is NULL".into()));
        }
        // SAFETY: the caller's promise.
        let memory = unsafe { GlobalMemory::from_raw(data.cast(), bytes, Arc::new(())) };
        let bound = if writable { module.module.bind(memory) } else { module.module.bind_read_only(memory) };
        let bound = bound.map_err(|why| Error::of_call(&why))?;
        let address = bound.pointer().address();
        module.bound.lock().unwrap_or_else(PoisonError::into_inner).insert(address, bound);
        Ok(address)
    })
}

/// `spmdvm_unbind`.
///
/// # Safety
/// Null, or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_unbind(module: *mut CModule, address: u64) {
    // SAFETY: the caller's promise.
    if let Ok(module) = unsafe { object(module) } {
        drop(module.bound.lock().unwrap_or_else(PoisonError::into_inner).remove(&address));
    }
}

/// `spmdvm_error_message`.
///
/// # Safety
/// Null, or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_error_message(error: *const Error) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// `spmdvm_error_get_kind`.
///
/// # Safety
/// Null, or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_error_get_kind(error: *const Error) -> Kind {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(Kind::Internal, |error| error.kind)
}

/// `spmdvm_error_code`.
///
/// # Safety
/// Null, or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_error_code(error: *const Error) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.code.as_ptr())
}

/// `spmdvm_error_file`.
///
/// # Safety
/// Null, or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_error_file(error: *const Error) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.file.as_ptr())
}

/// `spmdvm_error_line`.
///
/// # Safety
/// Null, or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_error_line(error: *const Error) -> usize {
    // SAFETY: the caller's promise.
    unsafe { error.as_ref() }.map_or(0, |error| error.line)
}

/// `spmdvm_error_free`.
///
/// # Safety
/// Null, or an error that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spmdvm_error_free(error: *mut Error) {
    if !error.is_null() {
        // SAFETY: it came from `store`, and the caller gives it up.
        drop(unsafe { Box::from_raw(error) });
    }
}

/// `spmdvm_version`.
#[unsafe(no_mangle)]
pub extern "C" fn spmdvm_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
