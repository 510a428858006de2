//! What every instruction does, on words. Native back ends call it for whatever they have no code for.

use super::bounds::{index_low, index_span};
use crate::backend::CompileError;
use crate::ir::{Address, HandlerCall, Inst, Kind, Region, Type};
use crate::lowering::{mask_word, visiting_word};
use spmdvm_vm::interp::native::{Context, Operand};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem;
use spmdvm_vm::types::{Shape, Ty};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// An instruction without its surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Meaning {
    pub kind: Kind,
    /// The types of its arguments.
    pub args: Vec<Type>,
    /// The type of its result, if it has one.
    pub result: Option<Type>,
    /// What an `interpret` executes.
    site: Option<HandlerCall>,
    lanes: usize,
}

/// Arguments: for each its words, one or one per lane.
type Args<'a> = [&'a [u64]];

/// A word of an argument; uniform arguments have the same in every lane.
fn word(arg: &[u64], lane: usize) -> u64 {
    if arg.len() == 1 { arg[0] } else { arg[lane] }
}

/// The lanes of a mask as bits.
pub(super) fn bits_of(mask: &[u64]) -> u64 {
    mask.iter().enumerate().fold(0, |bits, (lane, &m)| bits | m << lane)
}

/// What lanes of gathers hold that nobody sees: a number that would not go unnoticed.
const DONT_CARE: u64 = 0x5eed_5eed_5eed_5eed;

/// Bits as a word of a type: what is beyond its size is 0, and a bool is 0 or 1.
pub(crate) fn normalised(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::Bool => (bits as u8 != 0) as u64,
        _ => bits & (u64::MAX >> (64 - 8 * ty.size())),
    }
}

/// Reads an element as a word; any byte but 0 is a true bool.
///
/// # Safety
/// Its bytes at `at` are valid for reads.
pub(crate) unsafe fn read_element(ty: Ty, at: *const u8) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the caller's promise; no element is larger than the buffer.
    unsafe { std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), ty.size()) };
    normalised(ty, u64::from_le_bytes(bytes))
}

/// Writes an element.
///
/// # Safety
/// Its bytes at `at` are valid for writes.
pub(crate) unsafe fn write_element(ty: Ty, at: *mut u8, word: u64) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(word.to_le_bytes().as_ptr(), at, ty.size()) };
}

/// An index as the number that is multiplied by the scale, modulo 2⁶⁴.
pub(crate) fn extended(ty: Ty, word: u64) -> u64 {
    sem::eval(Op::Convert, Ty::I64, ty, [word, 0, 0]).unwrap_or(word)
}

impl Meaning {
    /// What an instruction of a region does; the error says that it cannot stand in one.
    pub fn of(region: &Region, inst: &Inst) -> Result<Meaning, CompileError> {
        if let Kind::Op { op, ty, from } = inst.kind {
            let lanes = matches!(op, Op::Iota | Op::Shuffle | Op::Extract | Op::Insert);
            // Ones are operands that every operation is defined for.
            if !lanes && sem::eval(op, ty, from, [1; 3]).is_none() {
                return Err(CompileError::Unsupported(inst.kind));
            }
        }
        let args = inst.args.iter().map(|&a| region.ty(a)).collect();
        let result = inst.result.map(|v| region.ty(v));
        let site = match inst.kind {
            Kind::Interpret { site, .. } => region.handler_calls.get(site as usize).cloned(),
            _ => None,
        };
        Ok(Meaning { kind: inst.kind, args, result, site, lanes: region.width.lanes() })
    }

    /// Words of the result.
    pub fn result_lanes(&self) -> usize {
        if self.result.is_some_and(Type::is_varying) { self.lanes } else { 1 }
    }

    /// Executes the instruction: writes the result's words, and gives `false` if it leaves by its exit.
    ///
    /// # Safety
    /// The contract of [`Executable::run`](crate::backend::Executable::run), and what the instruction says about the host
    /// addresses it is given.
    pub unsafe fn execute(&self, args: &Args, out: &mut [u64], context: &mut Context) -> bool {
        use Kind::*;
        // SAFETY: the caller's promise.
        unsafe {
            match self.kind {
                kind if kind.is_plain_load() => self.load(args, out),
                kind if kind.is_plain_store() => self.store(args),
                LoadAny { ty, address, .. } => return self.load_any(ty, address, args, out, context),
                StoreAny { ty, address, .. } => return self.store_any(ty, address, args, context),
                Atomic { op, ty } => out[0] = atomic(op, ty, args),
                Guard { .. } => return args[0][0] != 0,
                Tick { units, .. } => return tick(units, context),
                Ticks { each } => out[0] = ticks(args[0][0], each, context),
                Count(n) => *context.counters.add(n as usize) += 1,
                Chance { counter, odds } => {
                    let count = context.counters.add(counter as usize);
                    out[0] = crate::stress::is_lucky(counter, odds, count.read()) as u64;
                    count.write(count.read().wrapping_add(1));
                }
                EntryReg { .. } | EntryMask(_) | EntryVisiting(_) | FrameAddress | IsShared | Returned { .. } => {
                    self.entry(out, context);
                }
                FrameHost { at, .. } => out[0] = (context.memory_base as u64).wrapping_add(at),
                FrameOpen { function, at, .. } => {
                    out[0] = context.open_frame(function, at);
                    // The interpreter, which does the call, counts its unit of fuel again.
                    context.ticks += (out[0] == 0) as i64;
                    return out[0] != 0;
                }
                FrameClose => context.close_frame(args[0][0]),
                FramePass => context.passed_over += 1,
                FramePasses { each } => context.passed_over += args[0][0] * u64::from(each),
                Interpret { .. } => return self.interpret(args, out, context),
                RegionBase => {
                    for (out, &pointer) in out.iter_mut().zip(args[0]) {
                        *out = context.region_base(pointer);
                    }
                }
                HostAddress { disp } => out[0] = context.host_address(args[0][0], disp),
                RegionLen { write } => {
                    for (lane, &pointer) in args[0].iter().enumerate() {
                        let most = if write { args[1][lane] } else { u64::MAX };
                        out[lane] = context.region_len(pointer, write).min(most);
                    }
                }
                _ => self.compute(args, out),
            }
        }
        true
    }

    /// Executes an instruction by the interpreter's handler.
    ///
    /// # Safety
    /// The contract of [`Executable::run`](crate::backend::Executable::run).
    unsafe fn interpret(&self, args: &Args, out: &mut [u64], context: &mut Context) -> bool {
        let (Some(site), Some((mask, operands))) = (&self.site, args.split_last()) else { return false };
        let frame = context.base.wrapping_add(site.at as usize);
        for (&(at, ty), words) in site.operands.iter().zip(operands) {
            for lane in 0..if ty.is_varying() { self.lanes } else { 1 } {
                // SAFETY: the register lies in the frame, for which there is room, and has this lane.
                unsafe { write_element(ty.ty, frame.add(at as usize + lane * ty.ty.size()), word(words, lane)) };
            }
        }
        // SAFETY: the recorder makes sites only of instructions that go on with the next one; the operands are in place.
        if !unsafe { context.interpret(site.function, site.pc, site.at, bits_of(mask)) } {
            return false;
        }
        if let Some((at, ty)) = site.result {
            for (lane, out) in out.iter_mut().enumerate().take(self.result_lanes()) {
                // SAFETY: as above.
                *out = unsafe { read_element(ty.ty, frame.add(at as usize + lane * ty.ty.size())) };
            }
        }
        true
    }

    /// Instructions whose result depends on their arguments alone.
    pub fn compute(&self, args: &Args, out: &mut [u64]) {
        let lanes = 0..self.result_lanes();
        match self.kind {
            Kind::Const(bits) => out[0] = normalised(self.result.map_or(Ty::U64, |r| r.ty), bits),
            Kind::Op { op: Op::Iota, .. } => lanes.for_each(|l| out[l] = l as u64),
            Kind::Op { op: Op::Shuffle, .. } => lanes.for_each(|l| out[l] = args[0][args[1][l] as usize % self.lanes]),
            Kind::Op { op: Op::Extract, .. } => out[0] = args[0][args[1][0] as usize % self.lanes],
            Kind::Op { op: Op::Insert, .. } => {
                out[..self.lanes].copy_from_slice(args[0]);
                out[args[1][0] as usize % self.lanes] = args[2][0];
            }
            Kind::Op { op, ty, from } => {
                for l in lanes {
                    let operand = |i: usize| args.get(i).map_or(0, |a| word(a, l));
                    out[l] = sem::eval(op, ty, from, [operand(0), operand(1), operand(2)]).unwrap_or(0);
                }
            }
            Kind::Zeros => out[0] = zeros(),
            Kind::LoadedPointer { .. } => out[0] = args[2][0],
            Kind::RawBits { .. } => lanes.for_each(|l| out[l] = args[0][l]),
            Kind::Splat => lanes.for_each(|l| out[l] = args[0][0]),
            Kind::MaskBits => out[0] = bits_of(args[0]),
            Kind::MaskFromBits => lanes.for_each(|l| out[l] = args[0][0] >> l & 1),
            Kind::AnyLane => out[0] = (bits_of(args[0]) != 0) as u64,
            Kind::Reduce { op, ty } => out[0] = reduce(op, ty, args[0]),
            Kind::IndexLow { scale, disp, ty } => out[0] = index_low(args[0][0], scale, disp, ty),
            Kind::IndexSpan { scale, disp, need, ty } => {
                out[0] = index_span(args[0][0], args[1][0], scale, disp, need, ty);
            }
            _ => unreachable!("{} has effects", self.kind),
        }
    }

    /// What the region is given.
    ///
    /// # Safety
    /// The contract of [`Executable::run`](crate::backend::Executable::run).
    unsafe fn entry(&self, out: &mut [u64], context: &Context) {
        // SAFETY: the caller's promise.
        let word = |i: usize| unsafe { context.words.add(i).read() };
        match self.kind {
            Kind::EntryReg { at } | Kind::Returned { at } => {
                let ty = self.result.map_or(Ty::U64, |r| r.ty);
                for (lane, out) in out.iter_mut().enumerate().take(self.result_lanes()) {
                    // SAFETY: the register lies in the frame and has this lane.
                    *out = unsafe { read_element(ty, context.base.add(at as usize + lane * ty.size())) };
                }
            }
            Kind::EntryVisiting(i) => out[0] = normalised(Ty::I32, word(visiting_word(i))),
            Kind::FrameAddress => out[0] = context.frame_address,
            Kind::IsShared => out[0] = context.is_shared,
            Kind::EntryMask(mask) => {
                let bits = word(mask_word(mask));
                (0..self.lanes).for_each(|l| out[l] = bits >> l & 1);
            }
            _ => unreachable!("{} is no part of the entry", self.kind),
        }
    }

    /// The lanes that a plain memory instruction accesses, ascending, and their addresses. `index` and `mask` are
    /// argument numbers.
    fn lanes_at<'a>(
        &self,
        args: &'a Args<'a>,
        index: Option<(usize, u32)>,
        ty: Ty,
        mask: Option<usize>,
        n: usize,
    ) -> impl Iterator<Item = (usize, *mut u8)> + 'a {
        let index_ty = index.map(|(i, _)| self.args[i].ty);
        let stride = self.stride(ty);
        let packed = matches!(self.kind, Kind::LoadPacked { .. } | Kind::StorePacked { .. });
        let active = move |&l: &usize| mask.is_none_or(|m| args[m][l] != 0);
        (0..n).filter(active).enumerate().map(move |(before, l)| {
            let offset = match (index, index_ty) {
                (Some((i, scale)), Some(index_ty)) => extended(index_ty, args[i][l]).wrapping_mul(scale as u64),
                _ if packed => (before * ty.size()) as u64,
                _ => (l as i64 * stride) as u64,
            };
            (l, args[0][0].wrapping_add(offset) as *mut u8)
        })
    }

    /// Bytes from lane to lane of an access without an index.
    fn stride(&self, ty: Ty) -> i64 {
        match self.kind {
            Kind::LoadStrided { stride, .. } | Kind::StoreStrided { stride, .. } => stride as i64,
            _ => ty.size() as i64,
        }
    }

    /// # Safety
    /// The elements of active lanes may be read.
    unsafe fn load(&self, args: &Args, out: &mut [u64]) {
        let (ty, index, mask) = match self.kind {
            Kind::Gather { ty, scale, .. } => (ty, Some((1, scale)), Some(2)),
            Kind::LoadPacked { ty } => (ty, None, Some(1)),
            Kind::LoadLanes { ty } | Kind::LoadStrided { ty, .. } | Kind::Load { ty } => (ty, None, None),
            _ => unreachable!("no load"),
        };
        // What is in lanes that nobody sees had better not matter.
        let dont_care = matches!(self.kind, Kind::Gather { clears: false, .. });
        out.fill(if dont_care { normalised(ty, DONT_CARE) } else { 0 });
        for (lane, at) in self.lanes_at(args, index, ty, mask, self.result_lanes()) {
            // SAFETY: the caller's promise.
            out[lane] = unsafe { read_element(ty, at) };
        }
    }

    /// # Safety
    /// The elements of active lanes may be written.
    unsafe fn store(&self, args: &Args) {
        if let Kind::Clear { bytes } = self.kind {
            let at = std::ptr::with_exposed_provenance_mut::<u8>(args[0][0] as usize);
            // SAFETY: the caller's promise.
            return unsafe { at.write_bytes(0, bytes as usize) };
        }
        let (ty, value, index, mask, n) = match self.kind {
            Kind::Scatter { ty, scale, .. } => (ty, 2, Some((1, scale)), Some(3), self.lanes),
            Kind::StoreMasked { ty } | Kind::StorePacked { ty } => (ty, 1, None, Some(2), self.lanes),
            Kind::StoreLanes { ty } | Kind::StoreStrided { ty, .. } => (ty, 1, None, None, self.lanes),
            Kind::Store { ty } => (ty, 1, None, None, 1),
            _ => unreachable!("no store"),
        };
        for (lane, at) in self.lanes_at(args, index, ty, mask, n) {
            // SAFETY: the caller's promise.
            unsafe { write_element(ty, at, args[value][lane]) };
        }
    }

    /// The operand of a checked memory operation. `index` receives the elements of the index.
    fn operand(&self, ty: Ty, address: Address, args: &Args, index: &mut [u8; 512]) -> Operand {
        let varying = |i: usize| self.args[i].shape == Shape::Varying;
        if let Some(index_ty) = address.index {
            for (&w, to) in args[1].iter().zip(index.chunks_exact_mut(index_ty.size())) {
                to.copy_from_slice(&w.to_le_bytes()[..index_ty.size()]);
            }
        }
        Operand {
            ty,
            base: args[0].as_ptr(),
            varying_base: varying(0),
            index_ty: address.index,
            index: index.as_ptr(),
            varying_index: address.index.is_some() && varying(1),
            scale: address.scale,
            disp: address.disp,
            by_lane: address.by_lane,
        }
    }

    unsafe fn load_any(&self, ty: Ty, address: Address, args: &Args, out: &mut [u64], context: &mut Context) -> bool {
        let mut index = [0; 512];
        let mut elements = [0u8; 512];
        let operand = self.operand(ty, address, args, &mut index);
        let mask = args.last().map_or(0, |m| bits_of(m));
        // SAFETY: the operand's fields tell what they point to; 512 bytes hold 64 lanes of any type.
        if !unsafe { context.load(&operand, mask, elements.as_mut_ptr()) } {
            return false;
        }
        // A uniform result is what any active lane has read: they all have the same address.
        let uniform = self.result.is_some_and(|r| !r.is_varying());
        let first = if uniform { (mask.trailing_zeros() as usize) % self.lanes } else { 0 };
        for (lane, out) in out.iter_mut().enumerate().take(self.result_lanes()) {
            // SAFETY: within the buffer.
            *out = unsafe { read_element(ty, elements.as_ptr().add((first + lane) * ty.size())) };
        }
        true
    }

    unsafe fn store_any(&self, ty: Ty, address: Address, args: &Args, context: &mut Context) -> bool {
        let mut index = [0; 512];
        let mut elements = [0u8; 512];
        let operand = self.operand(ty, address, args, &mut index);
        let [.., value, mask] = args else { return false };
        for (&w, to) in value.iter().zip(elements.chunks_exact_mut(ty.size())) {
            to.copy_from_slice(&w.to_le_bytes()[..ty.size()]);
        }
        let varying = self.args[args.len() - 2].is_varying();
        // SAFETY: as in `load_any`.
        unsafe { context.store(&operand, bits_of(mask), elements.as_ptr(), varying) }
    }
}

/// Reduces by halving: lane *i* takes in lane *i* + *h*.
fn reduce(op: Op, ty: Ty, lanes: &[u64]) -> u64 {
    let mut v = [0; 64];
    let mut n = lanes.len();
    v[..n].copy_from_slice(lanes);
    while n > 1 {
        n /= 2;
        for l in 0..n {
            v[l] = sem::eval(op, ty, ty, [v[l], v[l + n], 0]).unwrap_or(0);
        }
    }
    v[0]
}

/// Counts so many units of fuel; `false` if the run must end.
pub(crate) fn tick(units: u32, context: &mut Context) -> bool {
    if context.ticks < i64::from(units) {
        return context.poll(units.into());
    }
    context.ticks -= i64::from(units);
    true
}

/// [`Kind::Ticks`].
pub(crate) fn ticks(most: u64, each: u32, context: &mut Context) -> u64 {
    let n = most.min(context.ticks.max(0) as u64 >> Kind::ticks_shift(each));
    context.ticks -= n as i64 * i64::from(each);
    n
}

/// Changes an element at an aligned host address; gives what was there.
///
/// # Safety
/// The element may be read and written.
unsafe fn atomic(op: Op, ty: Ty, args: &Args) -> u64 {
    let operand = |i: usize| args.get(i).map_or(0, |words| words[0]);
    macro_rules! change {
        ($Atomic:ident, $Word:ty) => {{
            let at = std::ptr::with_exposed_provenance_mut::<$Word>(operand(0) as usize);
            // SAFETY: the caller's promise; the address is aligned.
            let cell = unsafe { $Atomic::from_ptr(at) };
            let x = operand(1) as $Word;
            match op {
                Op::AtomicAdd => cell.fetch_add(x, Ordering::SeqCst),
                Op::AtomicSub => cell.fetch_sub(x, Ordering::SeqCst),
                Op::AtomicSwap => cell.swap(x, Ordering::SeqCst),
                Op::AtomicCas => {
                    let next = operand(2) as $Word;
                    cell.compare_exchange(x, next, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|old| old)
                }
                op => unreachable!("{op:?} is not one of these operations"),
            }
        }};
    }
    let old = if ty.size() == 8 { change!(AtomicU64, u64) } else { u64::from(change!(AtomicU32, u32)) };
    normalised(ty, old)
}

/// The host address of eight bytes that are zero.
pub(crate) fn zeros() -> u64 {
    static ZEROS: u64 = 0;
    (&raw const ZEROS).expose_provenance() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::sem::Scalar;

    #[test]
    fn indices_are_extended_by_their_sign() {
        assert_eq!(extended(Ty::I32, 0xffff_ffff), u64::MAX);
        assert_eq!(extended(Ty::U32, 0xffff_ffff), 0xffff_ffff);
    }

    #[test]
    fn sums_are_taken_by_halving() {
        let lanes = [1e8f32, 1.0, -1e8, 1.0].map(|x| x.to_word());
        assert_eq!(f32::from_word(reduce(Op::ReduceAdd, Ty::F32, &lanes)), 2.0);
    }
}
