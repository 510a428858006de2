//! `spmdvm_error`.

use crate::c_text;
use facade::{ArgumentError, CallError, CompileError, Severity, TrapError};
use std::any::Any;
use std::ffi::CString;

/// `spmdvm_error_kind`.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Kind {
    /// The program does not compile.
    Compile,
    /// An argument or option does not fit.
    Argument,
    /// The program failed.
    Trap,
    /// The library failed.
    Internal,
}

/// What went wrong.
pub struct Error {
    pub kind: Kind,
    pub message: CString,
    pub code: CString,
    pub file: CString,
    pub line: usize,
}

/// Stores an error where the caller wants it, if he does.
///
/// # Safety
/// Null, or a place for a pointer.
pub unsafe fn store(place: *mut *mut Error, error: Error) {
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(Box::into_raw(Box::new(error))) };
    }
}

impl Error {
    fn new(kind: Kind, message: &str, code: &str, place: Option<(&str, usize)>) -> Error {
        let (file, line) = place.unwrap_or_default();
        Error { kind, message: c_text(message), code: c_text(code), file: c_text(file), line }
    }

    /// What the caller gave does not fit.
    pub fn argument(message: String) -> Error {
        Error::new(Kind::Argument, &message, "", None)
    }

    /// The same, as the facade says it.
    pub fn of_argument(error: ArgumentError) -> Error {
        Error::argument(error.message)
    }

    /// A program that does not compile.
    pub fn of_compile(error: &CompileError) -> Error {
        let first = error.diagnostics().iter().find(|diagnostic| diagnostic.code.severity() == Severity::Error);
        let code = first.map_or(String::new(), |diagnostic| diagnostic.code.id().to_owned());
        let place = first.map(|diagnostic| error.sources().locate(diagnostic.span()));
        let place = place.as_ref().map(|(file, line, _)| (*file, *line as usize));
        Error::new(Kind::Compile, error.render(false).trim_end(), &code, place)
    }

    /// A call that gave no result.
    pub fn of_call(error: &CallError) -> Error {
        match error {
            CallError::Trap(error) => Error::of_trap(error),
            CallError::Compile(error) => Error::of_compile(error),
            CallError::Argument(_) | CallError::Engine(_) => Error::argument(error.to_string()),
        }
    }

    fn of_trap(error: &TrapError) -> Error {
        let place = error.place().map(|(file, line, _)| (file, line));
        Error::new(Kind::Trap, error.render(false).trim_end(), error.trap().kind.name(), place)
    }

    /// A mistake of the library.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Error {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Error::new(Kind::Internal, &format!("the library failed, please report it: {text}"), "", None)
    }
}
