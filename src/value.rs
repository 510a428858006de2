//! Values that hosts pass and get.

use crate::binding::Pointer;
use spmdvm_vm::types::Ty;
use std::marker::PhantomData;

/// An argument or a result.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// One value for the gang, as bits in the low end of a word.
    Scalar {
        /// Its type.
        ty: Ty,
        /// Its bits.
        bits: u64,
    },
    /// One value per lane, as bits.
    Lanes {
        /// Their type.
        ty: Ty,
        /// One word per lane.
        words: Vec<u64>,
    },
    /// Memory of the host.
    Array(Array<'a>),
    /// A struct or short vector by value, as a result: its bytes, laid out as the export's
    /// [`HostType`](spmdvm_vm::program::HostType) says.
    Record(Vec<u8>),
    /// An address, which a parameter that takes an array takes too.
    Pointer(Pointer),
}

/// Memory of the host that a program may access while a call lasts.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    pub(crate) start: *mut u8,
    pub(crate) bytes: usize,
    pub(crate) ty: Option<Ty>,
    pub(crate) writable: bool,
    lifetime: PhantomData<&'a mut [u8]>,
}

// SAFETY: an `Array` stands for the borrow of a slice of plain numbers, or for memory whose owner promised as much.
unsafe impl Send for Array<'_> {}

impl<'a> Array<'a> {
    /// Memory of any owner.
    ///
    /// # Safety
    /// `start .. start + bytes` stays allocated for `'a`, and is writable if `writable`. Others may read and write it
    /// meanwhile (as raw memory), but no Rust reference to it may be relied upon.
    pub unsafe fn from_raw(start: *mut u8, bytes: usize, ty: Option<Ty>, writable: bool) -> Array<'a> {
        Array { start, bytes, ty, writable, lifetime: PhantomData }
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Element type, if known.
    pub fn ty(&self) -> Option<Ty> {
        self.ty
    }
}

/// Rust types that are elements of arrays.
pub trait Element: Copy + private::Sealed {
    /// The element type.
    const TY: Ty;
    /// Its bits in a word.
    fn word(self) -> u64;
    /// The value of these bits; others of the word do not count.
    fn from_word(word: u64) -> Self;
}

mod private {
    pub trait Sealed {}
}

/// Memory may hold any byte for a `bool`.
macro_rules! element_from {
    (bool $via:ty, $word:expr) => {
        $word as u8 != 0
    };
    ($t:ident $via:ty, $word:expr) => {
        $word as $t
    };
}

macro_rules! element {
    ($($t:ident $ty:ident $via:ty;)*) => { $(
        impl private::Sealed for $t {}
        impl Element for $t {
            const TY: Ty = Ty::$ty;
            fn word(self) -> u64 { self as $via as u64 }
            fn from_word(word: u64) -> Self { element_from!($t $via, word) }
        }
        impl From<$t> for Value<'_> {
            fn from(x: $t) -> Self { Value::Scalar { ty: Ty::$ty, bits: x.word() } }
        }
    )* };
}
element! { i8 I8 u8; i16 I16 u16; i32 I32 u32; i64 I64 u64; u8 U8 u8; u16 U16 u16; u32 U32 u32; u64 U64 u64; bool Bool u8; }

macro_rules! float_element {
    ($($t:ident $ty:ident;)*) => { $(
        impl private::Sealed for $t {}
        impl Element for $t {
            const TY: Ty = Ty::$ty;
            fn word(self) -> u64 { self.to_bits() as u64 }
            fn from_word(word: u64) -> Self { $t::from_bits(word as _) }
        }
        impl From<$t> for Value<'_> {
            fn from(x: $t) -> Self { Value::Scalar { ty: Ty::$ty, bits: x.word() } }
        }
    )* };
}
float_element! { f32 F32; f64 F64; }

impl<'a> Value<'a> {
    /// An array that the program may only read.
    pub fn slice<T: Element>(data: &'a [T]) -> Value<'a> {
        // SAFETY: the borrow keeps the memory; the program cannot write to it.
        let array = unsafe { Array::from_raw(data.as_ptr() as *mut u8, size_of_val(data), Some(T::TY), false) };
        Value::Array(array)
    }

    /// An array that the program may read and write. (Not of `bool`: a program could leave other bytes than 0 and 1.)
    pub fn slice_mut<T: Element>(data: &'a mut [T]) -> Value<'a> {
        let writable = T::TY != Ty::Bool;
        // SAFETY: the borrow keeps the memory, and every bit pattern is a value of `T` where it may be written.
        let array = unsafe { Array::from_raw(data.as_mut_ptr().cast(), size_of_val(data), Some(T::TY), writable) };
        Value::Array(array)
    }

    /// Numbers as bytes that the program may only read: for a struct whose members are laid out like them.
    pub fn bytes_of<T: Element>(data: &'a [T]) -> Value<'a> {
        // SAFETY: the borrow keeps the memory; the program cannot write to it.
        Value::Array(unsafe { Array::from_raw(data.as_ptr() as *mut u8, size_of_val(data), None, false) })
    }

    /// A scalar of any type from its bits.
    pub fn scalar(ty: Ty, bits: u64) -> Value<'static> {
        Value::Scalar { ty, bits }
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Value::Scalar { ty, .. } => format!("a scalar of type {ty}"),
            Value::Lanes { ty, words } => format!("{} of type {ty}", words.len()),
            Value::Array(Array { ty: Some(ty), .. }) => format!("an array of {ty}"),
            Value::Array(_) => "an array".into(),
            Value::Record(bytes) => format!("a value of {} bytes", bytes.len()),
            Value::Pointer(_) => "a pointer".into(),
        }
    }
}
