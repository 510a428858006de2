//! Traps: what can stop a running program, as one table, and what is reported about it.
//!
//! A trap is data: the place (function, instruction, span), the lane, the call stack and what went wrong. `Display` gives
//! one sentence; hosts render more from the public fields.

use crate::program::{FuncId, Span};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// One row of the trap table.
#[derive(Clone, Copy, Debug)]
pub struct TrapInfo {
    /// The kind.
    pub kind: TrapKind,
    /// Its name, as test files and hosts write it.
    pub name: &'static str,
    /// What happened, in a few words.
    pub message: &'static str,
    /// What it means and what to do about it.
    pub explanation: &'static str,
}

macro_rules! define_traps {
    ($( $Kind:ident $name:literal $message:literal $explanation:literal ; )*) => {
        /// Why a program stopped; the rows of [`TRAPS`], in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TrapKind {
            $( #[doc = $explanation] $Kind, )*
        }

        /// The trap table, indexed by `TrapKind as usize`.
        pub static TRAPS: &[TrapInfo] = &[
            $( TrapInfo { kind: TrapKind::$Kind, name: $name, message: $message, explanation: $explanation }, )*
        ];
    };
}

define_traps! {
    OutOfBounds "out_of_bounds" "index out of bounds"
        "An active lane accessed memory outside the array, variable or allocation its address belongs to.";
    NullPointer "null_pointer" "access through a null pointer"
        "An active lane accessed memory through a pointer that is null.";
    BadPointer "bad_pointer" "access through a dangling pointer"
        "An active lane accessed memory through a pointer whose memory has been freed or never existed.";
    ReadOnly "read_only" "write to read-only memory"
        "An active lane wrote to a constant, or to an array that the host passed as read-only.";
    UnboundExtern "unbound_extern" "extern variable without a value"
        "An active lane accessed an `extern` variable that the host has not supplied.";
    DivisionByZero "division_by_zero" "integer division by zero"
        "An active lane divided an integer by zero.";
    Assertion "assertion" "assertion failed"
        "The condition of an assert was false in an active lane.";
    Abort "abort" "program aborted"
        "The program asked to be stopped.";
    StackOverflow "stack_overflow" "call stack exhausted"
        "Calls nested deeper than the machine's limit allows; often a recursion that does not end.";
    OutOfFuel "out_of_fuel" "out of fuel"
        "The program took more loop iterations and calls than its fuel allowed.";
    Timeout "timeout" "out of time"
        "The program ran longer than its time limit.";
    Interrupted "interrupted" "interrupted"
        "The host asked the program to stop.";
    OutOfMemory "out_of_memory" "out of memory"
        "An allocation would exceed the machine's memory limit.";
    BadFree "bad_free" "invalid free"
        "A pointer was freed that is not the start of a live allocation.";
    BadFunction "bad_function" "call through an invalid function value"
        "An indirect call went through null, or through a function with another signature.";
    HostError "host_error" "a function of the host failed"
        "A function that the host provides said that it failed, or the host provides none of that name.";
}

impl TrapKind {
    /// The kind's row.
    pub fn info(self) -> &'static TrapInfo {
        &TRAPS[self as usize]
    }

    /// Its name (`out_of_bounds`).
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The kind with this name, if there is one.
    pub fn from_name(name: &str) -> Option<TrapKind> {
        TRAPS.iter().find(|row| row.name == name).map(|row| row.kind)
    }
}

/// How memory was accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read.
    Read,
    /// Written (or read and written, by an atomic operation).
    Write,
}

/// What a region of memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// An array of the host.
    Host,
    /// A global variable.
    Global,
    /// Local variables of a call.
    Frame,
    /// An allocation of the program.
    Heap,
    /// An `extern` variable that the host has not supplied.
    Unbound,
}

/// What went wrong, beyond the kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrapDetail {
    /// Nothing more to say.
    None,
    /// An access to a live region, at a bad place or of a forbidden kind.
    Access {
        /// Read or written.
        access: Access,
        /// Index of the accessed element in its array, or from the start of the region in elements of `elem_size`; rounded
        /// down. Of several dimensions that of the first in which it is out of bounds.
        index: i64,
        /// Number of elements there.
        len: u64,
        /// Bytes of an element of the array, or those accessed at once.
        elem_size: u64,
        /// What the region is.
        region: RegionKind,
        /// Its name: a parameter, a global or a local variable.
        name: Option<Arc<str>>,
        /// Of an array with several dimensions: index and length in each.
        indices: Box<[(i64, u64)]>,
    },
    /// A pointer that belongs to no live region.
    Pointer(u64),
    /// The name of an `extern` variable without a value.
    Extern(Arc<str>),
    /// The text of an assertion or abort.
    Message(String),
    /// A limit that was reached: bytes, calls or steps.
    Limit(u64),
    /// The operating system has refused so many bytes of address space.
    Refused(u64),
    /// What a function of the host gave as its error.
    Host(HostError),
}

/// What a function of the host fails with: a text, and anything that who called the program wants back as it is.
#[derive(Clone)]
pub struct HostError {
    message: Arc<str>,
    payload: Arc<dyn Any + Send + Sync>,
}

impl HostError {
    /// An error with a text alone.
    pub fn new(message: impl Into<String>) -> HostError {
        HostError::with_payload(message, ())
    }

    /// An error with something that goes along.
    pub fn with_payload(message: impl Into<String>, payload: impl Any + Send + Sync) -> HostError {
        HostError { message: message.into().into(), payload: Arc::new(payload) }
    }

    /// Its text.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What goes along.
    pub fn payload(&self) -> &(dyn Any + Send + Sync) {
        &*self.payload
    }
}

/// With `?` any error becomes one that goes along as the payload.
impl<E: std::error::Error + Send + Sync + 'static> From<E> for HostError {
    fn from(error: E) -> HostError {
        HostError::with_payload(error.to_string(), error)
    }
}

impl PartialEq for HostError {
    fn eq(&self, other: &HostError) -> bool {
        Arc::ptr_eq(&self.payload, &other.payload) && self.message == other.message
    }
}

impl Eq for HostError {}

impl fmt::Debug for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostError").field(&self.message).finish()
    }
}

/// A call that was active at a trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapFrame {
    /// The function.
    pub function: FuncId,
    /// Its name.
    pub name: String,
    /// The instruction: in the innermost frame the one that trapped, in the others the call.
    pub pc: u32,
    /// Its source.
    pub span: Span,
    /// If it is a task: its index in its launch. The next frame is the one that launched it.
    pub task: Option<u64>,
    /// The lanes that enclosing `each.all` loops were visiting, outermost first.
    pub each_lanes: Vec<u32>,
    /// Whether it has turned on all lanes (`everywhere`) around the first of these loops. The lanes within are then not its
    /// caller's.
    pub unmasked: bool,
}

/// A program that was stopped: why, where and for which lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Why.
    pub kind: TrapKind,
    /// The lowest lane that failed; `None` if the operation was uniform or the trap concerns no lane.
    pub lane: Option<u32>,
    /// What exactly.
    pub detail: TrapDetail,
    /// The calls, innermost first; empty if the trap did not happen in a function.
    pub stack: Vec<TrapFrame>,
}

impl Trap {
    /// A trap outside any function.
    pub fn new(kind: TrapKind, detail: TrapDetail) -> Trap {
        Trap { kind, lane: None, detail, stack: Vec::new() }
    }

    /// The function that trapped.
    pub fn function(&self) -> Option<FuncId> {
        self.stack.first().map(|f| f.function)
    }

    /// The instruction that trapped.
    pub fn pc(&self) -> Option<u32> {
        self.stack.first().map(|f| f.pc)
    }

    /// The lane of the outermost call that it happened for. `None` if it concerns no lane, or the lanes were others by
    /// then: those of a task, or of code that runs with all of them on.
    pub fn outermost_lane(&self) -> Option<u32> {
        for frame in self.stack.iter().rev() {
            match frame.each_lanes.first() {
                _ if frame.unmasked || frame.task.is_some() => return None,
                Some(&lane) => return Some(lane),
                None => {}
            }
        }
        self.lane
    }

    /// The task that trapped, the one that launched it, and so on: index and name.
    pub fn tasks(&self) -> impl Iterator<Item = (u64, &str)> {
        self.stack.iter().filter_map(|frame| Some((frame.task?, frame.name.as_str())))
    }

    /// The source of the instruction that trapped; empty if unknown.
    pub fn span(&self) -> Span {
        self.stack.first().map(|f| f.span).unwrap_or_default()
    }
}

/// How hosts give an `extern` variable its value, as their messages say it.
pub fn how_to_set(name: &str) -> String {
    format!("set module.globals[\"{name}\"] in Python, --global {name}=… on the command line")
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.info().message)?;
        match &self.detail {
            TrapDetail::None => {}
            TrapDetail::Access { access, index, len, region, name, indices, .. } => {
                let verb = if *access == Access::Read { "read of" } else { "write to" };
                let brackets = |numbers: Vec<String>| numbers.iter().map(|n| format!("[{n}]")).collect::<String>();
                let (index, len, one) = match **indices {
                    [] => (index.to_string(), len.to_string(), *len == 1),
                    _ => (
                        brackets(indices.iter().map(|(i, _)| i.to_string()).collect()),
                        brackets(indices.iter().map(|(_, n)| n.to_string()).collect()),
                        false,
                    ),
                };
                let elements = if one { "element" } else { "elements" };
                write!(f, ": {verb} index {index} of ")?;
                match (name, region) {
                    (Some(name), _) => write!(f, "`{name}`")?,
                    (None, RegionKind::Host) => write!(f, "an array")?,
                    (None, RegionKind::Global) => write!(f, "a global variable")?,
                    (None, RegionKind::Frame) => write!(f, "a local variable")?,
                    (None, RegionKind::Heap) => write!(f, "an allocation")?,
                    (None, RegionKind::Unbound) => write!(f, "an extern variable")?,
                }
                write!(f, ", which has {len} {elements}")?;
            }
            TrapDetail::Pointer(0) => {}
            TrapDetail::Pointer(p) => write!(f, " (0x{p:x})")?,
            TrapDetail::Extern(name) => write!(f, ": `{name}` ({})", how_to_set(name))?,
            TrapDetail::Message(text) if text.is_empty() => {}
            TrapDetail::Message(text) => write!(f, ": {text}")?,
            TrapDetail::Limit(n) => write!(f, " (the limit is {n})")?,
            TrapDetail::Host(error) => write!(f, ": {}", error.message())?,
            TrapDetail::Refused(n) => write!(f, ": the operating system refused {n} bytes of address space")?,
        }
        if let Some(lane) = self.lane {
            write!(f, " (lane {lane})")?;
        }
        if let Some(frame) = self.stack.first() {
            write!(f, " in `{}`", frame.name)?;
        }
        let mut tasks = self.tasks();
        if let Some((index, name)) = tasks.next() {
            write!(f, " (task {index} of `{name}`")?;
            tasks.try_for_each(|(index, name)| write!(f, " <- task {index} of `{name}`"))?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl std::error::Error for Trap {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_with_unique_names() {
        for (i, row) in TRAPS.iter().enumerate() {
            assert_eq!(row.kind as usize, i);
            assert_eq!(TrapKind::from_name(row.name), Some(row.kind));
            assert!(row.explanation.ends_with('.'));
        }
    }

    #[test]
    fn a_trap_reads_as_a_sentence() {
        let trap = Trap {
            kind: TrapKind::OutOfBounds,
            lane: Some(5),
            detail: TrapDetail::Access {
                access: Access::Read,
                index: -1,
                len: 8,
                elem_size: 4,
                region: RegionKind::Host,
                name: Some("x".into()),
                indices: Box::default(),
            },
            stack: Vec::new(),
        };
        assert_eq!(trap.to_string(), "index out of bounds: read of index -1 of `x`, which has 8 elements (lane 5)");
    }
}
