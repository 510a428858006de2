//! Addresses that hosts hold: what programs give them, and what they give to programs for longer than a call.

use crate::error::{ArgumentError, CallError, TrapError};
use crate::global::GlobalMemory;
use crate::module::Module;
use spmdvm_vm::memory::MAX_REGION_LEN;

/// An address in a program's memory, as a pointer of the program holds it. It means something to the module that gave it
/// only, and to the program whatever its pointers mean: every access is checked, so that one to memory that is gone traps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pointer {
    address: u64,
    argument: Option<(usize, i64)>,
}

impl Pointer {
    /// The null pointer.
    pub const NULL: Pointer = Pointer::from_address(0);

    /// The pointer with this address.
    pub const fn from_address(address: u64) -> Pointer {
        Pointer { address, argument: None }
    }

    /// The address, as memory holds it.
    pub const fn address(self) -> u64 {
        self.address
    }

    /// Returns whether it is null.
    pub const fn is_null(self) -> bool {
        self.address == 0
    }

    /// For a result that points into an argument, which has an address during the call only: which parameter, and how
    /// many bytes from the argument's first.
    pub const fn argument(self) -> Option<(usize, i64)> {
        self.argument
    }

    pub(crate) fn in_argument(self, index: usize, offset: i64) -> Pointer {
        Pointer { argument: Some((index, offset)), ..self }
    }
}

/// Memory of a host that a program may access for longer than a call, by its address: what structs that are passed point
/// to. The address is good until this is dropped; then accesses trap.
///
/// ```
/// use spmdvm::{GlobalMemory, Module, Options, Value};
/// let source = "struct Mesh { uniform float *uniform x; uniform int n; };
///               export uniform float total(const uniform Mesh &mesh) {
///                   float sum = 0;
///                   foreach (i = 0 ... mesh.n) sum += mesh.x[i];
///                   return reduce_add(sum);
///               }";
/// let module = Module::compile("total.ispc", source, &Options::default()).unwrap();
/// let x = module.bind(GlobalMemory::of(vec![1.0f32, 2.0, 3.0])).unwrap();
/// let mesh = [x.pointer().address(), 3];
/// let total = module.call("total", &[Value::bytes_of(&mesh)]).unwrap();
/// assert!(matches!(total, Some(Value::Scalar { bits, .. }) if f32::from_bits(bits as u32) == 6.0));
/// ```
pub struct Binding {
    module: Module,
    memory: GlobalMemory,
    address: u64,
}

impl Module {
    /// Gives memory of the host an address. The program may read and write it.
    ///
    /// From then on the calls of the module take turns, because an address means something on one machine only. Waits
    /// for a call that runs.
    pub fn bind(&self, memory: GlobalMemory) -> Result<Binding, CallError> {
        // SAFETY: whoever made a `GlobalMemory` promised that it may be written, unless a constant global is made of it.
        unsafe { self.bind_as(memory, true) }
    }

    /// As [`bind`](Self::bind), for memory that the program may only read.
    pub fn bind_read_only(&self, memory: GlobalMemory) -> Result<Binding, CallError> {
        // SAFETY: it is not written.
        unsafe { self.bind_as(memory, false) }
    }

    /// # Safety
    /// The memory may be written, if `writable`.
    unsafe fn bind_as(&self, memory: GlobalMemory, writable: bool) -> Result<Binding, CallError> {
        if memory.bytes() as u64 >= MAX_REGION_LEN {
            let message = format!("memory that is bound has less than {MAX_REGION_LEN} bytes");
            return Err(CallError::Argument(ArgumentError { parameter: String::new(), message, is_type: false }));
        }
        if !self.pool().can_bind() {
            let message =
                "memory is bound for the first time before the call, not by a function of the host that it calls";
            let (parameter, message) = (String::new(), message.to_owned());
            return Err(CallError::Argument(ArgumentError { parameter, message, is_type: false }));
        }
        // SAFETY: the caller's promise.
        let bound = unsafe { self.pool().bind(&memory, writable, "") };
        let address = bound.map_err(|trap| CallError::Trap(TrapError::new(trap, self.program())))?;
        Ok(Binding { module: self.clone(), memory, address })
    }
}

impl Binding {
    /// The address of the first byte.
    pub fn pointer(&self) -> Pointer {
        Pointer::from_address(self.address)
    }

    /// The memory.
    pub fn memory(&self) -> &GlobalMemory {
        &self.memory
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        self.module.pool().unbind(self.address, self.memory.clone());
    }
}
