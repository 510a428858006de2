//! Addresses as sums: two that differ by a constant only are so far apart. And where no pointer leads to the memory of frames, what
//! pointers lead to is apart from that.
//!
//! Everything is computed modulo 2⁶⁴, as the machine does, so a sum of the same terms is the same address wherever it is computed.

use super::defs::{Def, Defs};
use crate::ir::{Block, Kind, Region, Value};
use spmdvm_vm::isa::Op;

/// How deep addresses are looked into.
const DEPTH: usize = 12;

/// What is added, times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    /// A value.
    Value(Value),
    /// Where the memory of frames is told by.
    Frames,
    /// Likewise, where all that the region accesses there is private.
    PrivateFrames,
    /// The host address of a pointer, of a region with this length.
    Host([Value; 2]),
}

/// Terms times factors, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    terms: Vec<(Term, u64)>,
    constant: u64,
}

/// Takes addresses apart.
#[derive(Clone, Copy)]
pub(super) struct Sums<'a> {
    pub region: &'a Region,
    pub defs: &'a Defs,
    /// A block that changes the values that it computes, as it goes back to itself: what it makes of pointers is not looked into.
    pub within: Option<&'a Block>,
    /// Whether the frames that are accessed [are private](super::mem2reg::frames_are_private).
    pub frames_are_private: bool,
}

impl Sum {
    fn add(&mut self, term: Term, factor: u64) {
        match self.terms.iter_mut().find(|(of, _)| *of == term) {
            Some((_, all)) => *all = all.wrapping_add(factor),
            None => self.terms.push((term, factor)),
        }
    }

    fn sorted(mut self) -> Sum {
        self.terms.sort_unstable();
        self
    }

    /// The values that it depends on.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.terms
            .iter()
            .flat_map(|(term, _)| match *term {
                Term::Value(v) => [Some(v), None],
                Term::Host([pointer, length]) => [Some(pointer), Some(length)],
                Term::Frames | Term::PrivateFrames => [None, None],
            })
            .flatten()
    }

    /// Returns whether so many bytes from here on, if that is known, are certainly none of so many others.
    pub fn is_apart(&self, bytes: Option<u64>, from: &Sum, others: Option<u64>) -> bool {
        if self.is_private() && from.is_of_pointer() || self.is_of_pointer() && from.is_private() {
            return true;
        }
        let distance = self.constant.wrapping_sub(from.constant);
        let far = |bytes, others| distance >= others && distance.wrapping_neg() >= bytes;
        self.terms == from.terms && bytes.zip(others).is_some_and(|(bytes, others)| far(bytes, others))
    }

    /// Returns whether it lies in private memory of frames.
    fn is_private(&self) -> bool {
        self.terms.contains(&(Term::PrivateFrames, 1))
    }

    /// Returns whether a pointer leads to it. What is accessed lies in the memory of that pointer, whatever is added.
    fn is_of_pointer(&self) -> bool {
        let is_frames = |term: &Term| matches!(term, Term::Frames | Term::PrivateFrames);
        let is_host = |(term, factor): &(Term, u64)| matches!(term, Term::Host(_)) && *factor == 1;
        self.terms.iter().any(is_host) && !self.terms.iter().any(|(term, _)| is_frames(term))
    }
}

impl Sums<'_> {
    /// An address as a sum.
    pub fn of(self, address: Value) -> Sum {
        let mut sum = Sum::default();
        self.add_to(&mut sum, address, 1, DEPTH);
        sum.sorted()
    }

    /// A sum with other values, for those that have one.
    pub fn with(self, sum: &Sum, other: impl Fn(Value) -> Option<Value>) -> Sum {
        let mut changed = Sum { terms: Vec::new(), constant: sum.constant };
        for &(term, factor) in &sum.terms {
            match term {
                Term::Value(v) => match other(v) {
                    Some(v) => self.add_to(&mut changed, v, factor, DEPTH),
                    None => changed.add(term, factor),
                },
                Term::Host(of) => changed.add(Term::Host(of.map(|v| other(v).unwrap_or(v))), factor),
                Term::Frames | Term::PrivateFrames => changed.add(term, factor),
            }
        }
        changed.sorted()
    }

    fn add_to(self, sum: &mut Sum, v: Value, factor: u64, depth: usize) {
        let mut constant = |bits: u64| sum.constant = sum.constant.wrapping_add(factor.wrapping_mul(bits));
        if let Some(bits) = self.defs.known(v) {
            return constant(bits);
        }
        let Some(def) = self.defs.get(v).filter(|_| depth > 0) else { return sum.add(Term::Value(v), factor) };
        match def.kind {
            Kind::FrameHost { at, .. } => {
                constant(at);
                let private = self.frames_are_private;
                sum.add(if private { Term::PrivateFrames } else { Term::Frames }, factor);
            }
            Kind::HostAddress { disp } if !self.is_within(v) => {
                constant(disp as u64);
                sum.add(Term::Host([def.arg(0), def.arg(1)]), factor);
            }
            Kind::Op { op, ty, from } if [ty, from].iter().all(|ty| ty.is_int() && ty.size() == 8) => {
                if self.region.ty(v).is_varying() {
                    return sum.add(Term::Value(v), factor);
                }
                self.add_operation(sum, v, (op, def), factor, depth - 1);
            }
            _ => sum.add(Term::Value(v), factor),
        }
    }

    fn add_operation(self, sum: &mut Sum, v: Value, (op, def): (Op, Def), factor: u64, depth: usize) {
        let known = |i: usize| self.defs.known(def.arg(i));
        match op {
            Op::Add => (0..2).for_each(|i| self.add_to(sum, def.arg(i), factor, depth)),
            Op::Sub => {
                self.add_to(sum, def.arg(0), factor, depth);
                self.add_to(sum, def.arg(1), factor.wrapping_neg(), depth);
            }
            Op::Shl if known(1).is_some() => {
                let by = known(1).unwrap_or(0) as u32 % 64;
                self.add_to(sum, def.arg(0), factor << by, depth);
            }
            Op::Mul if known(1).is_some() => {
                self.add_to(sum, def.arg(0), factor.wrapping_mul(known(1).unwrap_or(1)), depth);
            }
            Op::Bitcast => self.add_to(sum, def.arg(0), factor, depth),
            _ => sum.add(Term::Value(v), factor),
        }
    }

    fn is_within(self, v: Value) -> bool {
        self.within.is_some_and(|block| block.insts.iter().any(|inst| inst.result == Some(v)))
    }
}
