//! What a run may bring so that more is known of lanes.
//!
//! Of a uniform divisor, mask or operand of `|` and `^` it is assumed that its low bits are what those of a multiple of the gang's width
//! would make of them: those of `step - 1` are ones then. Of a varying operand, where nothing else is missing, that it is a multiple of
//! the width in lane 0, and, if it is divided, that it is not negative: quotients are rounded toward zero.

use super::Lanes;
use crate::flow::each_written;
use crate::isa::Op;
use crate::program::{Function, Reg};
use crate::sem;
use crate::types::{Shape, Width};
use std::cell::RefCell;

/// Something about what a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The register. Of a varying one it is about lane 0, or where lane 0 would be.
    pub reg: Reg,
    /// The distance of its lanes.
    pub stride: i64,
    /// What is assumed of it.
    pub what: Assumed,
}

/// What is assumed of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumed {
    /// The remainder by the gang's width, of the bits taken as a number without a sign.
    Low(u64),
    /// Taken as the count of a shift, at least the logarithm of the gang's width.
    Count,
    /// Not negative.
    NotNegative,
}

/// Most of a function.
const MOST: usize = 32;

/// How many instructions lead from a register to what it was computed from, at most.
const STEPS: usize = 8;

/// The assumptions of a function: of its uniform registers, then others as they are found to help.
pub(super) struct Assumptions(RefCell<Vec<Assumption>>);

impl Assumptions {
    pub fn of(f: &Function, width: Width) -> Option<Assumptions> {
        let mut found: Vec<Assumption> = Vec::new();
        for inst in f.code.iter().filter(|inst| inst.ty.is_int() && is_varying(f, inst.dst)) {
            let operands = match inst.op {
                Op::IDiv | Op::IRem => &inst.src[1..2],
                Op::And | Op::Or | Op::Xor => &inst.src[..2],
                _ => continue,
            };
            let free = |r: &&Reg| !is_varying(f, **r) && f.constant_bits(**r).is_none();
            for &reg in operands.iter().filter(free) {
                let (low, derived) = low_bits(f, reg);
                let most = width.lanes() as u64 - 1;
                let low = if inst.op == Op::And && !derived { most } else { low & most };
                let helps = low == 0 || low == most && inst.op == Op::And;
                if helps && !found.iter().any(|a| a.reg == reg) {
                    found.push(Assumption { reg, stride: 0, what: Assumed::Low(low) });
                }
            }
        }
        let shifts = f.code.iter().any(|i| {
            i.op == Op::Shr && is_varying(f, i.dst) && !is_varying(f, i.src[1]) && f.constant_bits(i.src[1]).is_none()
        });
        // Quotients by constants, too, may need a dividend that is not negative.
        let divides = f.code.iter().any(|i| matches!(i.op, Op::IDiv | Op::IRem) && is_varying(f, i.dst));
        found.truncate(MOST);
        (shifts || divides || !found.is_empty()).then(|| Assumptions(RefCell::new(found)))
    }

    pub fn with(known: &[Assumption]) -> Assumptions {
        Assumptions(RefCell::new(known.to_vec()))
    }

    pub fn into_inner(self) -> Vec<Assumption> {
        self.0.into_inner()
    }

    /// The bit that stands for an assumption; `None` if there are too many.
    pub fn bit(&self, assumption: Assumption) -> Option<u32> {
        let mut all = self.0.borrow_mut();
        let at = all.iter().position(|a| *a == assumption).unwrap_or(all.len());
        if at == all.len() && at < MOST {
            all.push(assumption);
        }
        (at < MOST).then(|| 1 << at)
    }

    /// Those about a register, as bits.
    pub fn about(&self, reg: Reg) -> u32 {
        let all = self.0.borrow();
        all.iter().enumerate().filter(|(_, a)| a.reg == reg).fold(0, |bits, (i, _)| bits | 1 << i)
    }

    /// What is known of a uniform register with what is assumed of it.
    pub fn assume(&self, reg: Reg, lanes: Lanes, width: Width) -> Lanes {
        let all = self.0.borrow();
        let low = all.iter().enumerate().find_map(|(i, a)| match a.what {
            Assumed::Low(low) if a.reg == reg && a.stride == 0 => Some((1 << i, low)),
            _ => None,
        });
        match low {
            Some((bit, low)) if lanes.is_uniform() => {
                lanes.assumed_low(low, width).map_or(lanes, |more| more.given(bit))
            }
            _ => lanes,
        }
    }
}

fn is_varying(f: &Function, reg: Reg) -> bool {
    !reg.is_none() && f.reg(reg).shape == Shape::Varying
}

/// The low bits of a register if what it is computed from is a multiple of a large power of two; and whether it is computed from
/// something at all.
fn low_bits(f: &Function, reg: Reg) -> (u64, bool) {
    let mut steps = Vec::new();
    let mut at = reg;
    while steps.len() < STEPS
        && let Some(inst) = only_write(f, at)
    {
        let [a, b, _] = inst.src;
        let is_constant = |r: Reg| !r.is_none() && f.constant_bits(r).is_some();
        let from = match inst.op {
            Op::Mov | Op::Not | Op::Neg => a,
            Op::Convert if inst.from.is_int() => a,
            Op::Add | Op::Sub | Op::Mul | Op::Shl if inst.ty.is_int() && is_constant(b) => a,
            Op::Add | Op::Sub | Op::Mul if inst.ty.is_int() && is_constant(a) => b,
            _ => break,
        };
        steps.push((inst, from));
        at = from;
    }
    let derived = steps.iter().any(|(inst, _)| !matches!(inst.op, Op::Mov | Op::Convert));
    let value = steps.iter().rev().fold(0, |value, (inst, from)| {
        let operand = |r: Reg| if r == *from { value } else { f.constant_bits(r).unwrap_or(0) };
        let args = inst.src.map(|r| if r.is_none() { 0 } else { operand(r) });
        match inst.op {
            Op::Mov | Op::Convert => value,
            _ => sem::eval(inst.op, inst.ty, inst.from, args).unwrap_or(value),
        }
    });
    // `1 << k` is such a multiple itself.
    (value, derived || only_write(f, at).is_some_and(|inst| inst.op == Op::Shl))
}

/// The one instruction that writes a register, if there is just one.
fn only_write(f: &Function, reg: Reg) -> Option<&crate::program::Inst> {
    if reg.index() < f.n_params as usize {
        return None;
    }
    let mut writes = f.code.iter().filter(|inst| {
        let mut writes = false;
        each_written(f, inst, false, |r| writes |= r == reg);
        writes
    });
    let first = writes.next()?;
    (writes.next().is_none() && first.dst == reg).then_some(first)
}
