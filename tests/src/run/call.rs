//! Makes the calls of a case.

use crate::case::{Arg, Case, Fill, Run};
use crate::data::{Array, Layout, random_value, to_bits};
use crate::expr::{Expr, Scope, Value, eval};
use crate::subject::{Argument, Kind, Param, Subject, Trapped};
use spmdvm::Ty;

/// How many elements arrays have that do not say.
const DEFAULT_LEN: usize = 64;

/// What a call did.
pub struct Outcome<'c> {
    /// The call.
    pub run: &'c Run,
    /// What was passed.
    pub passed: Passed,
    /// The arrays afterwards, by name.
    pub after: Vec<(String, Array)>,
    /// What it returned, unless it trapped or returns nothing.
    pub result: Option<Returned>,
    /// How it trapped.
    pub trap: Option<Trapped>,
    /// What it printed.
    pub printed: String,
}

/// A returned value: one scalar, or one per lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    /// The type.
    pub ty: Ty,
    /// Whether there is one per lane.
    pub varying: bool,
    /// The bits.
    pub bits: Vec<u64>,
}

/// What was passed to a call: the meaning of names in expectations.
#[derive(Default)]
pub struct Passed {
    width: u32,
    scalars: Vec<(String, Value)>,
    lanes: Vec<(String, Vec<Value>)>,
    arrays: Vec<(String, Array)>,
    /// The lanes that are on.
    pub mask: u64,
}

/// The names of an expression: arguments, the width, and where one stands.
pub struct Names<'a> {
    /// What was passed.
    pub passed: &'a Passed,
    /// The element.
    pub i: Option<i128>,
    /// The lane.
    pub lane: Option<i128>,
}

impl Scope for Names<'_> {
    fn variable(&self, name: &str) -> Option<Value> {
        let here = match name {
            "W" => Some(i128::from(self.passed.width)),
            "i" => self.i,
            "lane" => self.lane,
            _ => None,
        };
        let scalar = || self.passed.scalars.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        let varying = || {
            let (_, lanes) = self.passed.lanes.iter().find(|(n, _)| n == name)?;
            lanes.get(usize::try_from(self.lane?).ok()?).cloned()
        };
        here.map(Value::Int).or_else(scalar).or_else(varying)
    }

    fn element(&self, array: &str, index: i128, path: &str) -> Result<Value, String> {
        let found = self.passed.arrays.iter().find(|(name, _)| name == array);
        found.ok_or_else(|| format!("unknown array `{array}`"))?.1.value(index, path)
    }
}

/// Returns whether the condition over `W` holds (absent: yes).
pub fn holds(when: &Option<Expr>, width: u32) -> Result<bool, String> {
    let passed = Passed { width, ..Passed::default() };
    let names = Names { passed: &passed, i: None, lane: None };
    when.as_ref().map_or(Ok(true), |when| Ok(eval(when, &names)?.truth()))
}

/// The warnings that should have come and did not.
pub fn check_warnings(case: &Case, subject: &Subject) -> Vec<String> {
    let came = subject.warnings();
    let missing =
        case.diagnostics.iter().filter(|(line, code)| !came.iter().any(|w| w.line == *line && w.code == *code));
    missing.map(|(line, code)| format!("{code} did not come in line {line}; there came {came:?}")).collect()
}

/// Makes the calls of a case, in order.
pub fn execute<'c>(case: &'c Case, subject: &Subject, width: u32) -> Result<Vec<Outcome<'c>>, String> {
    let mut outcomes = Vec::new();
    for run in &case.runs {
        if holds(&run.when, width)? {
            outcomes.push(call(subject, run, width).map_err(|e| format!("line {}: {e}", run.line))?);
        }
    }
    Ok(outcomes)
}

/// The arguments of a call, and the memory of its arrays.
struct Frame {
    passed: Passed,
    buffers: Vec<Vec<u8>>,
    /// Name, layout, buffer, first byte, bytes.
    arrays: Vec<(String, Layout, usize, usize, usize)>,
    arguments: Vec<Option<Argument>>,
}

fn call<'c>(subject: &Subject, run: &'c Run, width: u32) -> Result<Outcome<'c>, String> {
    let params = subject.params(&run.function)?;
    if let Some((name, _)) = run.args.iter().find(|(name, _)| params.iter().all(|p| p.name != *name)) {
        return Err(format!("`{}` has no parameter `{name}`", run.function));
    }
    let passed = Passed { width, ..Passed::default() };
    let mut frame = Frame { passed, buffers: Vec::new(), arrays: Vec::new(), arguments: Vec::new() };
    for param in &params {
        let arg = run.args.iter().find(|(name, _)| *name == param.name).map(|(_, arg)| arg);
        let argument = frame.argument(param, arg)?;
        frame.arguments.push(argument);
    }
    frame.passed.mask = frame.mask(&run.mask)?;
    frame.passed.arrays = frame.views();
    let Frame { arguments, buffers, passed, .. } = &mut frame;
    let answer = subject.call(&run.function, arguments, buffers, passed.mask)?;
    let after = frame.views();
    let (trap, printed) = (answer.trap, answer.printed);
    Ok(Outcome { run, passed: frame.passed, after, result: answer.result, trap, printed })
}

impl Frame {
    fn names(&self, i: Option<i128>, lane: Option<i128>) -> Names<'_> {
        Names { passed: &self.passed, i, lane }
    }

    fn mask(&self, mask: &Option<Expr>) -> Result<u64, String> {
        let Some(mask) = mask else { return Ok(u64::MAX >> (64 - self.passed.width)) };
        let mut bits = 0;
        for lane in 0..self.passed.width {
            bits |= u64::from(eval(mask, &self.names(None, Some(lane.into())))?.truth()) << lane;
        }
        Ok(bits)
    }

    /// Copies of all arrays.
    fn views(&self) -> Vec<(String, Array)> {
        let view = |(name, layout, buffer, from, len): &(String, Layout, usize, usize, usize)| {
            let bytes = self.buffers[*buffer][*from..*from + *len].to_vec();
            (name.clone(), Array { layout: layout.clone(), bytes })
        };
        self.arrays.iter().map(view).collect()
    }

    fn argument(&mut self, param: &Param, arg: Option<&Arg>) -> Result<Option<Argument>, String> {
        match (&param.kind, arg) {
            (Kind::Uniform(ty), Some(Arg::Scalar(expr))) => {
                let value = self.rounded(eval(expr, &self.names(None, None))?, *ty)?;
                self.passed.scalars.push((param.name.clone(), value.clone()));
                Ok(Some(Argument::Uniform(*ty, to_bits(&value, *ty)?)))
            }
            (Kind::Varying(ty), Some(Arg::Scalar(expr))) => {
                let mut values = Vec::new();
                for lane in 0..self.passed.width {
                    values.push(self.rounded(eval(expr, &self.names(None, Some(lane.into())))?, *ty)?);
                }
                let bits = values.iter().map(|value| to_bits(value, *ty)).collect::<Result<_, _>>()?;
                self.passed.lanes.push((param.name.clone(), values));
                Ok(Some(Argument::Varying(*ty, bits)))
            }
            (Kind::Uniform(_) | Kind::Varying(_), None) if param.has_default => Ok(None),
            (Kind::Array { layout, reference }, arg) => self.array(&param.name, layout, *reference, arg).map(Some),
            (_, None) => Err(format!("no argument for `{}`", param.name)),
            (_, Some(_)) => Err(format!("`{}` is no array", param.name)),
        }
    }

    /// A scalar as the parameter holds it.
    fn rounded(&self, value: Value, ty: Ty) -> Result<Value, String> {
        Ok(crate::data::from_bits(to_bits(&value, ty)?, ty))
    }

    fn array(&mut self, name: &str, layout: &Layout, reference: bool, arg: Option<&Arg>) -> Result<Argument, String> {
        let zeros = Fill::Each(Expr::Literal(Value::Int(0)));
        let (fill, len, read_only) = match arg {
            None => (&zeros, &None, false),
            Some(Arg::Array { fill, len, read_only }) => (fill, len, *read_only),
            Some(Arg::Scalar(_)) => return Err(format!("`{name}` is an array")),
        };
        let default = match fill {
            Fill::List(list) => list.len(),
            _ if reference => 1,
            _ => DEFAULT_LEN,
        };
        let len = match len {
            None => default,
            Some(len) => usize::try_from(eval(len, &self.names(None, None))?.as_int()?).map_err(|_| "a bad length")?,
        };
        let (buffer, from) = match fill {
            Fill::Alias(other, from) => self.alias(other, from)?,
            _ => {
                let array = self.filled(layout, fill, len)?;
                self.buffers.push(array.bytes);
                (self.buffers.len() - 1, 0)
            }
        };
        let bytes = len * layout.size as usize;
        if from + bytes > self.buffers[buffer].len() {
            return Err(format!("`{name}` would reach beyond the array it aliases"));
        }
        self.arrays.push((name.to_owned(), layout.clone(), buffer, from, bytes));
        Ok(Argument::Array { buffer, from, bytes, read_only })
    }

    fn alias(&self, other: &str, from: &Expr) -> Result<(usize, usize), String> {
        let found = self.arrays.iter().find(|(name, ..)| name == other);
        let (_, layout, buffer, start, _) = found.ok_or_else(|| format!("`{other}` must come before its alias"))?;
        let from = usize::try_from(eval(from, &self.names(None, None))?.as_int()?).map_err(|_| "a bad start")?;
        Ok((*buffer, start + from * layout.size as usize))
    }

    fn filled(&self, layout: &Layout, fill: &Fill, len: usize) -> Result<Array, String> {
        let mut array = Array::zeros(layout.clone(), len);
        for at in 0..len {
            let names = self.names(Some(at as i128), None);
            let value = match fill {
                Fill::Each(expr) => eval(expr, &names)?,
                Fill::List(list) => match list.get(at) {
                    Some(expr) => eval(expr, &names)?,
                    None => Value::Int(0),
                },
                Fill::Random(seed) => random_value(*seed, at as u64, layout.leaves[0].ty),
                Fill::Alias(..) => Value::Int(0),
            };
            array.set(at, &value)?;
        }
        Ok(array)
    }
}
