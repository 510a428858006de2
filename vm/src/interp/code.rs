//! Prepared code: what a program becomes before it runs.
//!
//! Every instruction becomes one [`Step`]: the address of its handler, byte offsets of its operands from the frame's base,
//! and immediates. Step *i* of a function is instruction *i*, so a step's address tells the instruction.

use super::elementwise::Isa;
use super::hot_count::HotCount;
use super::native::Tracer;
use super::prepare::{Preparation, Signatures};
use super::thread::Thread;
use crate::program::{FuncId, Program, Reg};
use crate::types::{Shape, Ty};
use std::sync::{Arc, Mutex, OnceLock};

/// Executes one step and gives the next one; null ends the run.
///
/// Safety contract of all handlers: the thread runs the function the step belongs to, its frame lies at `Thread::base`,
/// and the function is verified (so offsets name registers of the types and shapes the handler was chosen for, and all of
/// them have been written).
pub(crate) type Handler = unsafe fn(&mut Thread, *const Step) -> *const Step;

/// A prepared instruction.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Step {
    /// What it does.
    pub handler: Handler,
    /// Offset of the destination, in bytes from the frame's base; likewise the sources.
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    /// Scale, call site, format or message.
    pub aux: u32,
    /// Blocks of a varying register.
    pub blocks: u16,
    /// Properties of operands that the handler looks at; see [`flags`].
    pub flags: u16,
    /// Displacement, constant, or the distance to the target in steps.
    pub imm: i64,
}

/// Bits of [`Step::flags`].
pub(crate) mod flags {
    /// Source `a` is varying.
    pub const A_VARYING: u16 = 1;
    /// Source `b` is varying.
    pub const B_VARYING: u16 = 2;
    /// Source `c` is varying.
    pub const C_VARYING: u16 = 4;
    /// Scale and displacement are not small: addresses need arithmetic wider than 64 bits.
    pub const WIDE: u16 = 8;
    /// There is an index (source `b`).
    pub const INDEXED: u16 = 16;
    /// Lanes lie one after another (`load.lane`, `store.lane`).
    pub const BY_LANE: u16 = 32;
    /// Where the index type starts.
    pub const TY_SHIFT: u16 = 8;
}

impl Step {
    /// Number of blocks.
    #[inline(always)]
    pub fn blocks(&self) -> usize {
        self.blocks as usize
    }

    /// Returns whether a flag is set.
    #[inline(always)]
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// Where a register lies in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegSlot {
    /// Byte offset from the frame's base.
    pub at: u32,
    /// Size in bytes of all of it, with padding lanes.
    pub size: u32,
    pub shape: Shape,
    pub ty: Ty,
}

/// Arguments and results of a call, launch or print.
pub(crate) struct CallSite {
    /// The callee of a direct call or launch; the format of a print.
    pub callee: u32,
    pub args: Box<[RegSlot]>,
    pub rets: Box<[RegSlot]>,
    /// The callee's signature, by index; see [`PreparedFunction::signature`].
    pub signature: u32,
}

/// A function, ready to run.
pub(crate) struct PreparedFunction {
    pub id: FuncId,
    pub steps: Box<[Step]>,
    /// Size of a frame: registers, then memory; a multiple of 64. `usize::MAX` if no stack can hold it.
    pub frame_bytes: usize,
    /// The frame's memory: offset from its base (in the block of memories), and size.
    pub memory_at: usize,
    pub memory_bytes: u64,
    /// Fuel of a call: one unit, and what clearing the memory takes.
    pub fuel: u64,
    /// The first registers of every frame: its constants.
    pub constants: Box<[u64]>,
    /// All registers.
    pub slots: Box<[RegSlot]>,
    pub params: Box<[RegSlot]>,
    pub results: Box<[RegSlot]>,
    /// Where results lie when they have been taken out of the frame, and the bytes of all of them.
    pub results_apart: Box<[RegSlot]>,
    pub results_bytes: usize,
    pub calls: Box<[CallSite]>,
    /// Equal for functions with equal parameters and results.
    pub signature: u32,
    /// In a traced program, where its calls are counted: an index into [`Code::hot_counts`].
    pub hot_count: u32,
    /// Most mask entries a frame can have.
    pub mask_depth: usize,
}

impl PreparedFunction {
    /// The instruction a step came from.
    pub fn pc(&self, step: *const Step) -> u32 {
        let distance = (step as usize).wrapping_sub(self.steps.as_ptr() as usize) / size_of::<Step>();
        distance as u32
    }

    /// The call at an instruction.
    pub fn call_site(&self, pc: u32) -> &CallSite {
        &self.calls[self.steps[pc as usize].aux as usize]
    }

    /// Returns whether it has the parameters and results of a call.
    pub fn fits(&self, site: &CallSite) -> bool {
        self.signature == site.signature
    }

    /// Where a register lies.
    pub fn slot(&self, reg: Reg) -> RegSlot {
        self.slots[reg.index()]
    }
}

/// A verified program with its prepared code. Cheap to clone; machines and threads share one.
#[derive(Clone)]
pub struct PreparedProgram(pub(crate) Arc<Code>);

/// What [`PreparedProgram`] shares.
pub(crate) struct Code {
    pub program: Arc<Program>,
    /// Each is prepared when it is first asked for: most functions of a large program are never called in a run.
    pub functions: Box<[OnceLock<PreparedFunction>]>,
    /// Of which handlers are chosen.
    pub isa: Isa,
    pub signatures: Mutex<Signatures>,
    pub lanes: usize,
    /// Who is asked about hot loops and functions, and their countdowns; a back-edge's `d` is an index into them.
    pub tracer: Option<Arc<dyn Tracer>>,
    pub hot_counts: Box<[HotCount]>,
    /// By function: its first hot count; its loops are counted from there. Empty without a tracer.
    pub first_hot_counts: Box<[u32]>,
}

impl Code {
    /// A function of the program.
    #[inline(always)]
    pub fn function(&self, id: FuncId) -> &PreparedFunction {
        let function = &self.functions[id.0 as usize];
        match function.get() {
            Some(prepared) => prepared,
            None => self.prepare(id),
        }
    }

    /// The function that a function value is of; `None` if there is none.
    pub fn function_of_value(&self, value: u64) -> Option<&PreparedFunction> {
        self.function_at(usize::try_from(value.checked_sub(1)?).ok()?)
    }

    /// The function that an index from a program is of; `None` if there is none.
    pub fn function_at(&self, index: usize) -> Option<&PreparedFunction> {
        (index < self.functions.len()).then(|| self.function(FuncId(index as u32)))
    }

    #[cold]
    #[inline(never)]
    fn prepare(&self, id: FuncId) -> &PreparedFunction {
        self.functions[id.0 as usize].get_or_init(|| Preparation::new(self, id).run())
    }
}

impl PreparedProgram {
    /// The program.
    pub fn program(&self) -> &Program {
        &self.0.program
    }
}
