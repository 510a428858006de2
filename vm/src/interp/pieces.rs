//! Work on many bytes, in pieces: between two of them the thread looks whether the run must end.
//!
//! The fuel of an instruction is counted before it has any effect, so running out of fuel never leaves half of one
//! done. The clock and an interruption do: of a long copy or fill some pieces have been done then, in the order in
//! which they are.

use super::code::Step;
use super::fuel::fuel_of;
use super::thread::Thread;
use crate::memory::{copy_bytes, fill_bytes};
use crate::trap::{TrapDetail, TrapKind};
use std::ops::Range;

/// Bytes between two looks.
const PIECE: usize = 1 << 20;

/// Why the run must end in the middle of an instruction.
pub(crate) type Cut = Result<(), TrapKind>;

impl Thread {
    /// Counts the fuel of an instruction for the bytes that it moves, as [`charge`](Thread::charge) does.
    pub fn charge_bytes(&mut self, step: *const Step, bytes: u64) -> bool {
        let units = fuel_of(bytes);
        units == 0 || self.charge(step, units)
    }

    /// In the middle of an instruction, returns whether the run must end. What native code does is never so long.
    pub fn look(&self) -> Cut {
        if self.in_native { Ok(()) } else { self.must_end().map_or(Ok(()), Err) }
    }

    /// Ends the run in the middle of an instruction.
    #[cold]
    pub fn cut(&mut self, step: *const Step, why: TrapKind) -> *const Step {
        self.raise(step, why, None, TrapDetail::None)
    }

    /// Copies bytes, which may overlap.
    ///
    /// # Safety
    /// `len` bytes are valid for reads at `from` and for writes at `to`.
    pub unsafe fn copy_in_pieces(&self, to: *mut u8, from: *const u8, len: usize) -> Cut {
        // Bytes that are yet to be copied are not overwritten.
        let descends = to.addr() > from.addr();
        in_pieces(self, len, |Range { start, end }| {
            let at = if descends { len - end } else { start };
            // SAFETY: the caller's promise.
            unsafe { copy_bytes(to.add(at), from.add(at), end - start) }
        })
    }

    /// Fills bytes.
    ///
    /// # Safety
    /// `len` bytes are valid for writes at `to`.
    pub unsafe fn fill_in_pieces(&self, to: *mut u8, value: u8, len: usize) -> Cut {
        // SAFETY: the caller's promise.
        in_pieces(self, len, |piece| unsafe { fill_bytes(to.add(piece.start), value, piece.len()) })
    }
}

fn in_pieces(t: &Thread, len: usize, mut work: impl FnMut(Range<usize>)) -> Cut {
    let mut done = 0;
    while len - done > PIECE {
        work(done..done + PIECE);
        done += PIECE;
        t.look()?;
    }
    work(done..len);
    Ok(())
}
