//! The state of a running program: registers, mask stack, call frames, and what bounds it.
//!
//! One thread runs one call of the host at a time. Register frames are carved from one block of memory; the frame that
//! executes lies at `base`. No VM call uses the host's stack.

use super::code::{Code, PreparedFunction, Step};
use super::masks::MaskEntry;
use crate::memory::Memory;
use crate::trap::{Trap, TrapDetail, TrapFrame, TrapKind};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{NonNull, null};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Back-edges and calls between two polls of the clock and the interruption flag.
const POLL_INTERVAL: u64 = 1024;

/// Alignment of frames.
pub(crate) const FRAME_ALIGN: usize = 64;

/// The memory that holds register frames. It is zeroed once, so no read of a register reads uninitialised memory.
pub(crate) struct Stack {
    block: NonNull<u8>,
    layout: Layout,
    start: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory, owned by the stack.
unsafe impl Send for Stack {}

impl Stack {
    /// A stack of so many bytes; `None` if the host has not as much.
    pub fn new(bytes: usize) -> Option<Stack> {
        // Asking for the alignment would make the allocator fill the block itself: this way pages are zero on first use.
        let layout = Layout::from_size_align(bytes.checked_add(FRAME_ALIGN)?, 16).ok()?;
        // SAFETY: the size is not 0.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let padding = block.as_ptr().align_offset(FRAME_ALIGN);
        Some(Stack { block, layout, start: block.as_ptr().wrapping_add(padding), bytes })
    }

    /// Its first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Bytes from an address in the stack to its end.
    #[inline(always)]
    pub fn left(&self, at: *mut u8) -> usize {
        self.bytes - (at as usize - self.start as usize)
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.block.as_ptr(), self.layout) }
    }
}

/// A caller that waits for its callee.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub function: *const PreparedFunction,
    /// The call instruction.
    pub step: *const Step,
    pub base: *mut u8,
    pub mask: u64,
    /// Height of the mask stack where its entries begin.
    pub floor: usize,
    /// Region of its frame memory, or 0.
    pub region: u32,
}

/// What bounds a run, besides the stack.
pub(crate) struct Budget {
    /// Fuel left beyond the current slice.
    pub fuel: u64,
    pub slice: u64,
    pub deadline: Option<Instant>,
    pub interrupt: Arc<AtomicBool>,
}

/// Where `print` goes.
pub(crate) type Sink = Box<dyn FnMut(&str) + Send>;

/// The state of a run.
pub(crate) struct Thread {
    /// The executing frame.
    pub base: *mut u8,
    /// Active lanes.
    pub mask: u64,
    /// All lanes.
    pub full: u64,
    pub lanes: usize,
    /// Fuel left in the current slice.
    pub ticks: i64,
    pub function: *const PreparedFunction,
    pub masks: Vec<MaskEntry>,
    pub floor: usize,
    pub region: u32,
    pub frames: Vec<Frame>,
    pub max_depth: usize,
    pub stack: Stack,
    pub memory: Arc<Memory>,
    pub code: Arc<Code>,
    pub budget: Budget,
    pub sink: Sink,
    pub trap: Option<Box<Trap>>,
    /// Scratch of the memory operations: the host address each lane accesses.
    pub addresses: [usize; super::lanes::MAX_LANES],
    /// Text that `print` builds.
    pub text: String,
    pub epoch: Instant,
}

// SAFETY: the raw pointers point into `stack` and `code`, which the thread owns or shares immutably.
unsafe impl Send for Thread {}

impl Thread {
    /// The address of a register.
    #[inline(always)]
    pub fn reg(&self, offset: u32) -> *mut u8 {
        // SAFETY: offsets come from prepared code and lie within the frame, which lies within the stack.
        unsafe { self.base.add(offset as usize) }
    }

    /// Counts one unit of fuel; `false` if the run must end (the trap is set).
    #[inline(always)]
    pub fn tick(&mut self, step: *const Step) -> bool {
        self.ticks -= 1;
        self.ticks >= 0 || self.refill(step)
    }

    /// The slice is used up: polls, and takes the next slice.
    #[cold]
    fn refill(&mut self, step: *const Step) -> bool {
        if self.budget.fuel == 0 {
            self.ticks = 0;
            self.raise(step, TrapKind::OutOfFuel, None, TrapDetail::None);
            return false;
        }
        if self.budget.interrupt.load(Ordering::Relaxed) {
            self.raise(step, TrapKind::Interrupted, None, TrapDetail::None);
            return false;
        }
        if self.budget.deadline.is_some_and(|end| Instant::now() >= end) {
            self.raise(step, TrapKind::Timeout, None, TrapDetail::None);
            return false;
        }
        self.take_slice();
        self.ticks -= 1;
        true
    }

    /// Would a poll end the run?
    pub fn must_end(&self) -> bool {
        self.budget.fuel == 0
            || self.budget.interrupt.load(Ordering::Relaxed)
            || self.budget.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Moves fuel from the budget into the next slice.
    pub fn take_slice(&mut self) {
        self.budget.slice = self.budget.fuel.min(POLL_INTERVAL);
        self.budget.fuel -= self.budget.slice;
        self.ticks = self.budget.slice as i64;
    }

    /// Ends the run with a trap at a step, and gives the null step.
    #[cold]
    pub fn raise(&mut self, step: *const Step, kind: TrapKind, lane: Option<usize>, detail: TrapDetail) -> *const Step {
        let stack = self.call_stack(step);
        self.trap = Some(Box::new(Trap { kind, lane: lane.map(|l| l as u32), detail, stack }));
        null()
    }

    /// Ends the run with a trap that came from elsewhere, adding where it happened.
    #[cold]
    pub fn raise_trap(&mut self, step: *const Step, trap: Trap, lane: Option<usize>) -> *const Step {
        self.raise(step, trap.kind, lane, trap.detail)
    }

    /// The active calls, innermost first.
    fn call_stack(&self, step: *const Step) -> Vec<TrapFrame> {
        let mut stack = Vec::with_capacity(self.frames.len() + 1);
        let mut top = self.masks.len();
        let mut add = |function: *const PreparedFunction, step: *const Step, floor: usize| {
            // SAFETY: frames point to functions of `self.code`.
            let prepared = unsafe { &*function };
            let pc = prepared.pc(step);
            let function = &self.code.program.functions[prepared.id.0 as usize];
            let span = function.spans.get(pc as usize).copied().unwrap_or_default();
            let entries = self.masks.get(floor..top).unwrap_or_default();
            top = floor;
            let each_lanes = entries.iter().filter_map(MaskEntry::visited_lane).collect();
            stack.push(TrapFrame { function: prepared.id, name: function.name.clone(), pc, span, each_lanes });
        };
        add(self.function, step, self.floor);
        for frame in self.frames.iter().rev() {
            add(frame.function, frame.step, frame.floor);
        }
        stack
    }

    /// Back to the state between two calls of the host, whatever happened.
    pub fn reset(&mut self) {
        let regions = self.frames.iter().map(|f| f.region).chain([self.region]);
        for region in regions.filter(|&r| r != 0) {
            self.memory.unmap_frame(region);
        }
        self.region = 0;
        self.frames.clear();
        self.masks.clear();
        self.floor = 0;
        self.base = self.stack.start();
        self.mask = 0;
    }
}
