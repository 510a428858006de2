//! A program's globals, as hosts read, write and supply them.

use crate::error::ArgumentError;
use crate::module::Module;
use crate::run::{holds, type_name};
use crate::value::Element;
use spmdvm_vm::memory::{Globals, MAX_REGION_LEN};
use spmdvm_vm::program::{HostAccess, HostGlobal, HostType};
use spmdvm_vm::trap::how_to_set;
use spmdvm_vm::{GlobalId, Program, Ty};
use std::any::Any;
use std::sync::Arc;

/// A global variable of a module.
///
/// Hosts see the variables of the file: plain ones are read and written, `static` and `const` ones only read, and
/// `extern` ones [supplied](Self::supply). A call that runs meanwhile accesses the same memory, without any order
/// between the two.
///
/// ```
/// use spmdvm::{Module, Options};
/// let source = "uniform int calls = 0;
///               extern uniform float x[];
///               extern uniform int n;
///               export void twice() { ++calls; foreach (i = 0 ... n) x[i] *= 2; }";
/// let module = Module::compile("twice.ispc", source, &Options::default()).unwrap();
/// module.global("x")?.supply(vec![1.0f32, 2.0, 3.0])?;
/// module.global("n")?.supply(vec![3i32])?;
/// module.call("twice", &[]).unwrap();
/// assert_eq!(module.global("x")?.read::<f32>()?, [2.0, 4.0, 6.0]);
/// assert_eq!(module.global("calls")?.read::<i32>()?, [1]);
/// # Ok::<(), spmdvm::ArgumentError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Global<'m> {
    module: &'m Module,
    id: GlobalId,
    host: &'m HostGlobal,
}

/// The memory of a global. It stays for as long as somebody holds this, whatever becomes of the module.
#[derive(Clone)]
pub struct GlobalMemory {
    start: *mut u8,
    bytes: usize,
    owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the owner, which may be used by any thread, keeps the memory; it is accessed by raw reads and writes only.
unsafe impl Send for GlobalMemory {}
// SAFETY: as above.
unsafe impl Sync for GlobalMemory {}

impl GlobalMemory {
    /// Memory of a host, which its owner keeps.
    ///
    /// # Safety
    /// `start .. start + bytes` stays allocated and may be read and written (only read, for a `const` global and
    /// [`Module::bind_read_only`]) for as long as `owner` is not dropped. Others may access it meanwhile as raw memory,
    /// but no Rust reference to it may be relied upon.
    pub unsafe fn from_raw(start: *mut u8, bytes: usize, owner: Arc<dyn Any + Send + Sync>) -> GlobalMemory {
        GlobalMemory { start, bytes, owner }
    }

    /// Memory with these elements, which it owns.
    pub fn of<T: Element>(elements: Vec<T>) -> GlobalMemory {
        GlobalMemory::copy_of(&bytes_of(&elements))
    }

    fn copy_of(bytes: &[u8]) -> GlobalMemory {
        // Words, so that elements are aligned.
        let mut words = vec![0u64; bytes.len().div_ceil(8)].into_boxed_slice();
        let start = words.as_mut_ptr().cast::<u8>();
        // SAFETY: `words` is at least as long, and new.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        let owner = OwnedWords(Box::into_raw(words));
        // SAFETY: the owner keeps the words, to which there is no reference.
        unsafe { GlobalMemory::from_raw(start, bytes.len(), Arc::new(owner)) }
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The owner: what the host gave as such, or something of the module.
    pub fn owner(&self) -> &(dyn Any + Send + Sync) {
        &*self.owner
    }

    fn read_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        // SAFETY: the memory is as long and readable; `bytes` is new.
        unsafe { std::ptr::copy_nonoverlapping(self.start, bytes.as_mut_ptr(), self.bytes) };
        bytes
    }

    /// # Safety
    /// The memory may be written, and is as long.
    unsafe fn write_bytes(&self, bytes: &[u8]) {
        // SAFETY: the caller's promise. `bytes` may be part of this memory.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.start, bytes.len()) };
    }
}

impl Module {
    /// The globals that hosts see, in the order of their declarations.
    pub fn globals(&self) -> impl Iterator<Item = Global<'_>> {
        let globals = self.program().globals.iter().enumerate();
        globals.filter_map(|(i, global)| {
            Some(Global { module: self, id: GlobalId(i as u32), host: global.host.as_ref()? })
        })
    }

    /// The global of this name that hosts see.
    pub fn global(&self, name: &str) -> Result<Global<'_>, ArgumentError> {
        let found = self.globals().find(|global| global.name() == name);
        found.ok_or_else(|| self.no_such_global(name))
    }

    fn no_such_global(&self, name: &str) -> ArgumentError {
        let names: Vec<&str> = self.globals().map(|global| global.name()).collect();
        let hint = match spmdvm_frontend::diag::closest(name, names.iter().copied()) {
            Some(close) => format!("; did you mean `{close}`?"),
            None if names.is_empty() => "; it has none".into(),
            None => format!("; it has {}", names.join(", ")),
        };
        wrong(name, format!("the program has no global variable `{name}`{hint}"), false)
    }
}

impl<'m> Global<'m> {
    /// Its name.
    pub fn name(&self) -> &'m str {
        &self.module.program().globals[self.id.0 as usize].name
    }

    /// Its layout in memory. Lanes of varying variables are the innermost array.
    pub fn layout(&self) -> &'m HostType {
        &self.host.layout
    }

    /// What hosts may do with it.
    pub fn access(&self) -> HostAccess {
        self.host.access
    }

    /// Returns whether the program only reads it.
    pub fn is_constant(&self) -> bool {
        self.module.program().globals[self.id.0 as usize].constant
    }

    /// Returns whether it is an `extern` array of any length.
    pub fn is_open(&self) -> bool {
        self.access() == HostAccess::Supply && matches!(self.layout(), HostType::Array(_, 0))
    }

    /// Returns whether it has memory: all but `extern` variables that the host has not supplied.
    pub fn is_set(&self) -> bool {
        self.access() != HostAccess::Supply || self.module.pool().supplied(self.id).is_some()
    }

    /// Its memory, for raw reads and (if hosts may write it, or have supplied it) writes.
    pub fn memory(&self) -> Result<GlobalMemory, ArgumentError> {
        if self.access() == HostAccess::Supply {
            return self.module.pool().supplied(self.id).ok_or_else(|| {
                let name = self.name();
                self.wrong(format!("the extern variable `{name}` has no value; {}", how_to_set(name)), false)
            });
        }
        let none = || self.wrong(format!("there is no memory for the global `{}`", self.name()), false);
        let globals = self.module.pool().globals().map_err(|_| none())?;
        let (start, bytes) = globals.place(self.id).ok_or_else(none)?;
        Ok(GlobalMemory { start, bytes, owner: Arc::<Globals>::clone(globals) })
    }

    /// Its bytes.
    pub fn read_bytes(&self) -> Result<Vec<u8>, ArgumentError> {
        Ok(self.memory()?.read_bytes())
    }

    /// Sets its bytes. An `extern` variable that is not set, or has another length, is supplied with a copy of them.
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<(), ArgumentError> {
        match self.access() {
            HostAccess::Read => Err(self.read_only()),
            HostAccess::Supply => self.supply_copy(bytes),
            HostAccess::Write => {
                self.check_size(bytes.len())?;
                let memory = self.memory()?;
                // SAFETY: the module's own memory for a variable of this size.
                unsafe { memory.write_bytes(bytes) };
                Ok(())
            }
        }
    }

    /// Its elements, whatever arrays they are in. Structs of several types are read as bytes.
    pub fn read<T: Element>(&self) -> Result<Vec<T>, ArgumentError> {
        self.check_element(T::TY)?;
        let bytes = self.read_bytes()?;
        let word = |element: &[u8]| {
            let mut word = [0; 8];
            word[..element.len()].copy_from_slice(element);
            u64::from_le_bytes(word)
        };
        Ok(bytes.chunks_exact(T::TY.size()).map(|element| T::from_word(word(element))).collect())
    }

    /// Sets its elements. An `extern` variable is [supplied](Self::supply) with a copy of them.
    pub fn write<T: Element>(&self, elements: &[T]) -> Result<(), ArgumentError> {
        self.check_element(T::TY)?;
        self.write_bytes(&bytes_of(elements))
    }

    /// Gives an `extern` variable its memory, which the module then owns. What a running call sees does not change; the
    /// calls that follow read and write it.
    pub fn supply<T: Element>(&self, elements: Vec<T>) -> Result<(), ArgumentError> {
        self.check_element(T::TY)?;
        self.check_supplies()?;
        self.supply_copy(&bytes_of(&elements))
    }

    fn supply_copy(&self, bytes: &[u8]) -> Result<(), ArgumentError> {
        // SAFETY: it is the module's own memory then.
        unsafe { self.supply_memory(GlobalMemory::copy_of(bytes)) }
    }

    /// As [`supply`](Self::supply), for memory that the host keeps and shares with the program.
    ///
    /// # Safety
    /// The memory may be written, unless the variable is `const`.
    pub unsafe fn supply_memory(&self, memory: GlobalMemory) -> Result<(), ArgumentError> {
        self.check_supplies()?;
        self.check_size(memory.bytes)?;
        if memory.bytes as u64 >= MAX_REGION_LEN {
            let message = format!("the global `{}` takes less than {MAX_REGION_LEN} bytes", self.name());
            return Err(self.wrong(message, false));
        }
        self.module.pool().supply(self.id, Some(memory));
        Ok(())
    }

    /// Takes its memory from an `extern` variable.
    pub fn withdraw(&self) -> Result<(), ArgumentError> {
        self.check_supplies()?;
        self.module.pool().supply(self.id, None);
        Ok(())
    }

    fn check_supplies(&self) -> Result<(), ArgumentError> {
        match self.access() {
            HostAccess::Supply => Ok(()),
            _ => Err(self.wrong(format!("`{}` has memory of its own: it is not `extern`", self.name()), false)),
        }
    }

    fn check_size(&self, bytes: usize) -> Result<(), ArgumentError> {
        let fits = match self.layout() {
            HostType::Array(elem, 0) if self.is_open() => (bytes as u64).is_multiple_of(elem.size().max(1)),
            layout => layout.size() == bytes as u64,
        };
        if fits {
            return Ok(());
        }
        let (name, layout) = (self.name(), type_name(self.layout()));
        let wanted = match self.layout() {
            HostType::Array(elem, 0) if self.is_open() => format!("elements of {} bytes each", elem.size()),
            whole => format!("{} bytes", whole.size()),
        };
        Err(self.wrong(format!("the global `{name}` ({layout}) takes {wanted}, not {bytes} bytes"), false))
    }

    /// Checks that elements of a type can be seen as the variable.
    pub fn check_element(&self, ty: Ty) -> Result<(), ArgumentError> {
        if holds(self.layout(), ty) {
            return Ok(());
        }
        Err(self.wrong(format!("the global `{}` is {}, not {ty}", self.name(), type_name(self.layout())), true))
    }

    /// The error of writing what hosts may only read.
    pub fn read_only(&self) -> ArgumentError {
        let why = if self.is_constant() { "const" } else { "static" };
        self.wrong(format!("the global `{}` is `{why}`: hosts only read it", self.name()), false)
    }

    fn wrong(&self, message: String, is_type: bool) -> ArgumentError {
        wrong(self.name(), message, is_type)
    }
}

fn wrong(name: &str, message: String, is_type: bool) -> ArgumentError {
    ArgumentError { parameter: name.to_owned(), message, is_type }
}

fn bytes_of<T: Element>(elements: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(elements));
    elements.iter().for_each(|x| bytes.extend_from_slice(&x.word().to_le_bytes()[..T::TY.size()]));
    bytes
}

/// Words of the module, without a reference to them while programs access them.
struct OwnedWords(*mut [u64]);

// SAFETY: plain memory with one owner.
unsafe impl Send for OwnedWords {}
// SAFETY: as above; it offers no access.
unsafe impl Sync for OwnedWords {}

impl Drop for OwnedWords {
    fn drop(&mut self) {
        // SAFETY: it came from `Box::into_raw`, and who shares the memory holds this.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Returns whether the program leaves variables to the host.
pub(crate) fn has_externs(program: &Program) -> bool {
    program.globals.iter().any(|global| global.is_extern())
}
