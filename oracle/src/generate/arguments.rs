//! The inputs of a program.

use super::memory::LENGTH;
use super::scope::Sharing;
use super::writer::Writer;
use super::{Feature, kernel, types};
use crate::{Argument, Call, TestCase};
use spmdvm::Ty;

/// Floats that operations treat in a way of their own: where what they mean is defined.
const SPECIAL: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -3e9, 3e9, 1e19];

/// An array parameter.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub name: String,
    pub ty: Ty,
    pub sharing: Sharing,
    pub len: u64,
    /// What else has its memory, and from which element on.
    pub alias: Option<(String, u64)>,
    pub zero: bool,
}

impl Input {
    /// One of the usual length, with any content.
    pub fn of(name: String, ty: Ty, sharing: Sharing) -> Input {
        Input { name, ty, sharing, len: LENGTH, alias: None, zero: false }
    }

    /// One for results.
    pub fn zeros(name: &str, ty: Ty, sharing: Sharing, len: u64) -> Input {
        Input { name: name.to_owned(), ty, sharing, len, alias: None, zero: true }
    }
}

/// The program with its call.
pub(super) fn test_case(seed: u64, mut w: Writer, inputs: &[Input]) -> TestCase {
    let mut arguments: Vec<(String, Argument)> = inputs.iter().map(|i| (i.name.clone(), w.content(i))).collect();
    let (n, k) = (w.rng.draw(LENGTH + 1), w.rng.draw(120) as i64 - 20);
    arguments.push(("sum".to_owned(), Argument::Array(Ty::U64, vec![0])));
    arguments.push(("n".to_owned(), Argument::Scalar(Ty::I32, n)));
    arguments.push(("k".to_owned(), Argument::Scalar(Ty::I32, (k as u32).into())));
    let partial = w.has(Feature::Mask) && w.rng.one_in(2);
    let mask = if partial { w.rng.bits() | 1 << w.rng.draw(2) } else { u64::MAX };
    let call = Call { entry: "f".to_owned(), arguments, mask };
    let text = kernel::head(seed, &w.config, &call) + &w.text;
    TestCase { name: format!("seed-{seed}.ispc"), text, call }
}

impl Writer {
    /// What an array holds at first.
    fn content(&mut self, input: &Input) -> Argument {
        let (ty, len) = (input.ty, input.len);
        if let Some((of, from)) = &input.alias {
            return Argument::Alias { of: of.clone(), from: *from };
        }
        let kind = if input.zero { 5 } else { self.rng.draw(5) };
        let element = |i: u64| match kind {
            0 => number(ty, i as i128 * 2),
            1 => number(ty, 2),
            5 => 0,
            _ => self.element(ty),
        };
        Argument::Array(ty, (0..len).map(element).collect())
    }

    /// An element: mostly a small number.
    fn element(&mut self, ty: Ty) -> u64 {
        if ty.is_float() {
            if self.open() && self.rng.one_in(8) {
                return float_bits(ty, self.rng.pick(&SPECIAL));
            }
            let halves = self.rng.draw(400) as i128 - 150;
            return number(ty, halves);
        }
        let value = match self.rng.draw(6) {
            0 => (self.rng.bits() as i128 & types::greatest(ty)) + types::least(ty) / 2,
            1 => types::greatest(ty) - self.rng.draw(2) as i128,
            _ => (self.rng.draw(90) as i128 - 30).max(types::least(ty)),
        };
        number(ty, 2 * value)
    }
}

/// The bits of half a whole number, as an integer or as a float that has it exactly.
fn number(ty: Ty, halves: i128) -> u64 {
    if ty.is_float() {
        float_bits(ty, halves as f64 * 0.5)
    } else {
        (halves / 2) as u64 & (u64::MAX >> (64 - types::bits(ty)))
    }
}

/// The bits of a number that the type has exactly.
fn float_bits(ty: Ty, value: f64) -> u64 {
    match ty {
        Ty::F16 => spmdvm::vm::sem::f16_from_f64(value).to_bits().into(),
        Ty::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}
