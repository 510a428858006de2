//! The inputs of a program.

use super::memory::LENGTH;
use super::scope::Sharing;
use super::writer::Writer;
use super::{Feature, kernel, types};
use crate::{Argument, Call, TestCase};
use spmdvm::Ty;

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
    let (mut arguments, mut words) = (Vec::new(), Vec::new());
    let mut give = |name: &str, (argument, word): (Argument, String)| {
        words.push(format!("{name}={word}"));
        arguments.push((name.to_owned(), argument));
    };
    for input in inputs {
        give(&input.name, w.content(input));
    }
    give("sum", filled("zeros", Ty::U64, 1, |_| 0));
    let (n, k) = (w.rng.draw(LENGTH + 1), w.rng.draw(120) as i64 - 20);
    give("n", (Argument::Scalar(Ty::I32, n), n.to_string()));
    give("k", (Argument::Scalar(Ty::I32, k as u32 as u64), k.to_string()));
    let partial = w.has(Feature::Mask) && w.rng.one_in(2);
    let mask = if partial { w.rng.bits() | 1 << w.rng.draw(2) } else { u64::MAX };
    let call = Call { entry: "f".to_owned(), arguments, mask };
    let mut line = format!("f({})", words.join(", "));
    if partial {
        line += &format!(" mask={mask:#x}");
    }
    let text = kernel::head(seed, &w.config, &line) + &w.text;
    TestCase { name: format!("seed-{seed}.ispc"), text, call }
}

impl Writer {
    /// What an array holds at first.
    fn content(&mut self, input: &Input) -> (Argument, String) {
        let (ty, len) = (input.ty, input.len);
        if let Some((of, from)) = &input.alias {
            return (Argument::Alias { of: of.clone(), from: *from }, format!("alias({of}, {from})"));
        }
        match self.rng.draw(5) {
            _ if input.zero => filled("zeros", ty, len, |_| 0),
            0 => filled("iota", ty, len, |i| i as i64),
            1 => filled("ones", ty, len, |_| 1),
            _ => self.list(ty, len),
        }
    }

    fn list(&mut self, ty: Ty, len: u64) -> (Argument, String) {
        let (mut words, mut texts) = (Vec::new(), Vec::new());
        for _ in 0..len {
            if ty.is_float() {
                let halves = self.rng.draw(400) as i64 - 150;
                words.push(float_bits(ty, halves as f64 * 0.5));
                texts.push((halves as f64 * 0.5).to_string());
                continue;
            }
            let value = match self.rng.draw(6) {
                0 => (self.rng.bits() as i128 & types::greatest(ty)) + types::least(ty) / 2,
                1 => types::greatest(ty) - self.rng.draw(2) as i128,
                _ => (self.rng.draw(90) as i128 - 30).max(types::least(ty)),
            };
            words.push(value as u64 & (u64::MAX >> (64 - types::bits(ty))));
            texts.push(value.to_string());
        }
        (Argument::Array(ty, words), format!("[{}]", texts.join(", ")))
    }
}

/// An array whose elements follow from their indices, and its name.
fn filled(kind: &str, ty: Ty, len: u64, element: impl Fn(u64) -> i64) -> (Argument, String) {
    let bits = |i: u64| if ty.is_float() { float_bits(ty, element(i) as f64) } else { element(i) as u64 };
    (Argument::Array(ty, (0..len).map(bits).collect()), format!("{kind}:{}:{len}", ty.name()))
}

/// The bits of a number that the type has exactly.
fn float_bits(ty: Ty, value: f64) -> u64 {
    match ty {
        Ty::F16 => spmdvm::vm::sem::f16_from_f64(value).to_bits().into(),
        Ty::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}
