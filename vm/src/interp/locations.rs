//! What a failed access reached, in terms of the source: the array's name and the indices, one per dimension.
//!
//! A region is an array of the host, a global, or all variables of a call that lie in memory. Which variable of a call is
//! meant follows from the instruction's base address; how its elements follow one another is in the program's table.

use super::code::Step;
use super::thread::Thread;
use crate::accesses::MemoryLocation;
use crate::isa::Op;
use crate::memory::{offset_of, region_of};
use crate::program::{ArrayShape, FuncId, Function, GlobalId, Home, Reg, Variable};
use crate::trap::{RegionKind, TrapDetail};
use std::sync::Arc;

/// An access that failed: its base pointer, the exact offset from its region's start, and the index in it with its scale.
pub(crate) struct Reached {
    pub base: u64,
    pub offset: i128,
    pub index: Option<(i128, u64)>,
}

/// An array and where it begins in its region.
struct Found {
    name: Option<Arc<str>>,
    start: i128,
    shape: ArrayShape,
}

impl Thread {
    /// What a step failed to reach, as the source calls it.
    #[cold]
    pub(crate) fn in_source_terms(&self, step: *const Step, reached: &Reached, mut detail: TrapDetail) -> TrapDetail {
        let TrapDetail::Access { index, len, elem_size, region, name, indices, .. } = &mut detail else {
            return detail;
        };
        let Some(found) = self.array_at(step, reached, *region, name.clone(), *len * *elem_size) else { return detail };
        let digits = found.shape.indices(reached.offset - found.start, reached.index);
        let all: Vec<(i64, u64)> = digits.into_iter().zip(found.shape.extents.iter().copied()).collect();
        let outside = all.iter().find(|&&(i, n)| i < 0 || i as u64 >= n);
        if let Some(&(i, n)) = outside.or(all.first()) {
            (*index, *len, *elem_size) = (i, n, found.shape.stride);
        }
        if found.name.is_some() {
            *name = found.name;
        }
        *indices = if all.len() > 1 { all.into() } else { Box::default() };
        detail
    }

    /// The array that an access was meant for.
    fn array_at(
        &self,
        step: *const Step,
        reached: &Reached,
        kind: RegionKind,
        name: Option<Arc<str>>,
        bytes: u64,
    ) -> Option<Found> {
        let number = region_of(reached.base);
        match kind {
            RegionKind::Heap | RegionKind::Unbound => None,
            RegionKind::Host => {
                let shape = self.memory.shape(number).filter(|shape| shape.stride > 0)?;
                Some(Found { name, start: 0, shape: shape.with_length_of(bytes) })
            }
            RegionKind::Global => {
                let home = Home::Global(GlobalId(number.checked_sub(1)?));
                let shape = &self.variables().find(|v| v.home == home)?.shape;
                // An `extern` array of open length is as long as what the host has supplied.
                let is_open = shape.extents.first() == Some(&0);
                let shape = if is_open { shape.with_length_of(bytes) } else { shape.clone() };
                Some(Found { name, start: 0, shape })
            }
            RegionKind::Frame => {
                let own = (self.region == number).then(|| self.own_address(step)).flatten();
                let (function, at) = match own {
                    Some(at) => (self.function_of_region(number)?, at),
                    None => (self.function_of_region(number)?, offset_of(reached.base)),
                };
                let home = Home::Frame(function);
                let before = self.variables().filter(|v| v.home == home && v.offset as i128 <= at as i128);
                let variable = before.max_by_key(|v| v.offset)?;
                let found = Found {
                    name: Some(variable.name.as_str().into()),
                    start: variable.offset as i128,
                    shape: variable.shape.clone(),
                };
                Some(found)
            }
        }
    }

    /// A byte of a region as the source calls it: the array or variable that holds it, and which of its elements that is. `None` if
    /// the region is not live.
    pub(crate) fn place(&self, pointer: u64, byte: i64) -> Option<MemoryLocation> {
        let number = region_of(pointer);
        let (kind, region_name) = self.memory.describe(pointer)?;
        let home = match kind {
            RegionKind::Global => number.checked_sub(1).map(|id| Home::Global(GlobalId(id))),
            RegionKind::Frame => self.function_of_region(number).map(Home::Frame),
            _ => None,
        };
        let holds = |v: &&Variable| {
            let (start, end) = (v.offset as i64, v.offset.saturating_add(v.shape.size()) as i64);
            // Of a global there is one, which an `extern` array of open length fills.
            Some(v.home) == home && (kind == RegionKind::Global || (start..end).contains(&byte))
        };
        let variable = self.variables().find(holds);
        let shape = match variable {
            Some(variable) => Some(variable.shape.clone()),
            None => self.memory.shape(number).filter(|shape| shape.stride > 0 && kind == RegionKind::Host),
        };
        let start = variable.filter(|_| kind == RegionKind::Frame).map_or(0, |v| v.offset as i64);
        let offset = byte.saturating_sub(start);
        let name = variable.map(|v| v.name.as_str().into()).or(region_name);
        let indices = shape.map_or(Vec::new(), |shape| shape.indices(offset as i128, None));
        Some(MemoryLocation { kind, name, offset, indices })
    }

    fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.code.program.variables.iter().filter(|v| v.shape.stride > 0 && !v.shape.extents.is_empty())
    }

    /// The function whose frame memory is this region.
    fn function_of_region(&self, number: u32) -> Option<FuncId> {
        let own = (self.region == number).then_some(self.function);
        let function = own.or_else(|| self.frames.iter().rev().find(|f| f.region == number).map(|f| f.function))?;
        // SAFETY: frames point to functions of `self.code`.
        Some(unsafe { (*function).id })
    }

    /// The offset of the variable of the executing call whose address a memory operand begins with, if that is seen from
    /// the code.
    fn own_address(&self, step: *const Step) -> Option<i64> {
        // SAFETY: `self.function` points to a function of `self.code`, and the step is one of it.
        let prepared = unsafe { &*self.function };
        let function = &self.code.program.functions[prepared.id.0 as usize];
        let inst = function.code.get(prepared.pc(step) as usize)?;
        frame_offset(function, inst.src[0])
    }
}

/// The operand of the `frame.addr` that an address comes from by steps alone.
fn frame_offset(function: &Function, mut address: Reg) -> Option<i64> {
    for _ in 0..function.code.len() {
        let mut definitions = function.code.iter().filter(|inst| inst.dst == address);
        let inst = definitions.next().filter(|_| definitions.next().is_none())?;
        match inst.op {
            Op::FrameAddr => return Some(inst.imm),
            Op::PAdd | Op::Mov => address = inst.src[0],
            _ => return None,
        }
    }
    None
}

impl ArrayShape {
    /// The same for memory of the host with so many bytes: its own length follows from them.
    fn with_length_of(&self, bytes: u64) -> ArrayShape {
        let mut shape = self.clone();
        let row = shape.strides().first().copied().unwrap_or(0).max(1);
        if let Some(first) = shape.extents.first_mut() {
            *first = bytes / row;
        }
        shape
    }

    /// Bytes between neighbours in each dimension.
    fn strides(&self) -> Vec<u64> {
        let mut strides = vec![self.stride; self.extents.len()];
        for d in (1..self.extents.len()).rev() {
            strides[d - 1] = strides[d].saturating_mul(self.extents[d]);
        }
        strides
    }

    /// The indices that lead to a byte, one per dimension. The index of the instruction, with its scale, is that of the
    /// dimension with such a stride, however far outside it is; the rest is counted off.
    fn indices(&self, byte: i128, index: Option<(i128, u64)>) -> Vec<i64> {
        let strides = self.strides();
        let mut indices = vec![0i128; strides.len()];
        let mut rest = byte;
        if let Some((value, scale)) = index
            && let Some(d) = strides.iter().position(|&stride| stride == scale)
        {
            indices[d] = value;
            rest -= value * scale as i128;
        }
        for (i, &stride) in indices.iter_mut().zip(&strides) {
            let steps = rest.div_euclid(stride.max(1) as i128);
            *i += steps;
            rest -= steps * stride as i128;
        }
        indices.into_iter().map(|i| i.clamp(i64::MIN as i128, i64::MAX as i128) as i64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_a_byte() {
        let shape = ArrayShape { stride: 4, extents: vec![3, 5] };
        assert_eq!(shape.size(), 60);
        assert_eq!(shape.indices(4 * (2 * 5 + 3), None), [2, 3]);
        assert_eq!(shape.indices(4 * (2 * 5 + 9), Some((9, 4))), [2, 9]);
        assert_eq!(shape.indices(4 * (7 * 5 + 1), Some((7, 20))), [7, 1]);
        assert_eq!(shape.indices(-4, Some((-1, 4))), [0, -1]);
        assert_eq!(shape.indices(-20, None), [-1, 0]);
        let host = ArrayShape { stride: 4, extents: vec![0, 5] };
        assert_eq!(host.with_length_of(40).extents, [2, 5]);
        // A table that makes no sense harms nothing.
        let empty = ArrayShape { stride: 8, extents: vec![0, 0] };
        assert_eq!(empty.with_length_of(16).indices(24, Some((1, 0))), [25, 3]);
    }
}
