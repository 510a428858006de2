//! Upper bounds on what a program may ask for, so that no file can make the machine allocate absurd amounts.

/// Registers of a function.
pub const MAX_REGS: usize = 1 << 18;
/// Parameters, results and arguments of one function or instruction.
pub const MAX_LIST: usize = 1 << 12;
/// Instructions of a function.
pub const MAX_CODE: usize = 1 << 22;
/// Bytes that the registers of one call occupy (a varying one counts whole blocks of 16 lanes).
pub const MAX_REGISTER_BYTES: u64 = 1 << 26;
/// Bytes of memory of one call.
pub const MAX_FRAME_BYTES: u64 = 1 << 28;
/// Bytes of all globals together.
pub const MAX_GLOBAL_BYTES: u64 = 1 << 32;
/// Entries on the mask stack of one call.
pub const MAX_MASK_DEPTH: usize = 1 << 12;
/// Nesting of the types that describe exports.
pub const MAX_TYPE_DEPTH: usize = 64;
/// Greatest scale of an index.
pub const MAX_SCALE: u32 = 1 << 31;
/// Displacements are between minus this and this.
pub const MAX_DISPLACEMENT: i64 = (1 << 39) - 1;
/// Width and precision of a print argument.
pub const MAX_PRINT_WIDTH: u16 = 1 << 12;
/// Bound on the work of the definite-assignment analysis: instructions × registers that no single write settles / 64.
pub const MAX_FLOW_WORK: usize = 1 << 28;
/// Errors after which the verifier gives up.
pub const MAX_ERRORS: usize = 1000;
