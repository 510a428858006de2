//! The machine's registers, and what each is for.

use super::level::Level;
use iced_x86::Register;
use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

/// The context that the region was entered with.
pub(super) const CONTEXT: Register = Register::R15;
/// The base of the entered frame.
pub(super) const FRAME: Register = Register::R14;
/// The fuel of the slice. It is in the context when the region is left or calls what looks at it.
pub(super) const TICKS: Register = Register::R13;
/// Of the code between instructions, which has no registers of its own.
pub(super) const SPARE: Register = Register::R11;
/// Likewise, for addresses.
pub(super) const SPARE_BASE: Register = Register::R10;
/// Likewise, for masks.
pub(super) const SPARE_MASK: Register = Register::K7;

/// General registers that are allocated and that a call may destroy.
pub(super) const LOST: [Register; 7] =
    [Register::RAX, Register::RCX, Register::RDX, Register::RSI, Register::RDI, Register::R8, Register::R9];

/// General registers that are allocated and that calls keep, so that entering must save them.
const KEPT: [Register; 3] = [Register::RBX, Register::RBP, Register::R12];

/// Counters, see `counts`. It comes after the vectors that are allocated, and is kept as they are.
pub(super) const COUNTS: Register = Register::ZMM30;

/// Bytes at the end of a frame on the stack: for the counters while the runtime is called, and, last, the stack pointer of the caller.
pub(super) const OWN_BYTES: i32 = 128;

/// Registers as the register allocator numbers them.
pub(super) fn preg(register: Register) -> PReg {
    let (class, first) = match register {
        r if r.is_gpr64() => (RegClass::Int, Register::RAX),
        r if r.is_zmm() => (RegClass::Float, Register::ZMM0),
        _ => (RegClass::Vector, Register::K0),
    };
    PReg::new(register as usize - first as usize, class)
}

/// The register of a number: 64 bits of a general one, 512 of a vector.
pub(super) fn register(preg: PReg) -> Register {
    let first = match preg.class() {
        RegClass::Int => Register::RAX,
        RegClass::Float => Register::ZMM0,
        RegClass::Vector => Register::K0,
    };
    first + preg.hw_enc() as u32
}

/// What registers there are.
#[derive(Debug)]
pub struct Environment {
    /// Those that are allocated.
    pub machine: MachineEnv,
    /// Those of them that a call may destroy.
    pub lost: PRegSet,
}

impl Environment {
    pub(super) fn of<L: Level>() -> Environment {
        let set = |first, n, class| {
            let mut set = PRegSet::empty();
            (first..first + n).for_each(|i| set.add(PReg::new(i, class)));
            set
        };
        let (vectors, masks) = (set(0, L::N_VECTORS, RegClass::Float), set(1, L::N_MASKS, RegClass::Vector));
        let mut general = PRegSet::empty();
        LOST.iter().chain(&KEPT).for_each(|&r| general.add(preg(r)));
        let machine = MachineEnv {
            preferred_regs_by_class: [general, vectors, masks],
            non_preferred_regs_by_class: [PRegSet::empty(); 3],
            scratch_by_class: [None; 3],
            fixed_stack_slots: Vec::new(),
        };
        let mut lost = vectors;
        lost.union_from(masks);
        LOST.iter().for_each(|&r| lost.add(preg(r)));
        Environment { machine, lost }
    }
}
