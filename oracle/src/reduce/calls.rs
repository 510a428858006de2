//! The calls in a program's comments made smaller: fewer lanes, shorter arrays, plainer numbers, fewer arguments.

use super::defined::Defined;
use super::passes::{Unit, declarations};
use crate::testcase::{Argument, Call};
use crate::tree::{Edit, NodeId, Tree};
use spmdvm::frontend::ast::Role;
use std::ops::Range;

/// A call and the line that it stands on, its end included.
pub struct CallLine {
    line: Range<usize>,
    call: Call,
    /// The lanes that there are.
    lanes: u64,
}

impl CallLine {
    fn replaced(&self, call: &Call) -> Edit {
        Edit::replace(self.line.clone(), call.line() + "\n")
    }
}

/// Whether a line of a program is a comment with a call.
pub fn is_call(line: &str) -> bool {
    line.trim().strip_prefix("//").is_some_and(|comment| comment.trim_start().starts_with("call:"))
}

/// The calls of a program.
pub fn of(text: &str, defined: &Defined) -> Vec<CallLine> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        if is_call(line) {
            lines.push(range);
        }
    }
    let cases = defined.cases(text).unwrap_or_default();
    let lanes = u64::MAX >> (u64::BITS as usize - defined.options().width.lanes());
    lines.into_iter().zip(cases).map(|(line, case)| CallLine { line, call: case.call, lanes }).collect()
}

/// Whole calls, as long as there are several.
pub fn whole(_: &Tree<'_>, calls: &[CallLine]) -> Vec<Unit> {
    let deletions = calls.iter().map(|call| vec![Edit::delete(call.line.clone())]);
    if calls.len() > 1 { deletions.collect() } else { Vec::new() }
}

/// One lane instead of many, and each lane less.
pub fn masks(_: &Tree<'_>, calls: &[CallLine]) -> Vec<Unit> {
    let fewer = |mask: u64| {
        let set = move |&lane: &u32| mask >> lane & 1 == 1;
        let single = (0..u64::BITS).filter(set).map(|lane| 1 << lane);
        let without = (0..u64::BITS).filter(set).map(move |lane| mask & !(1 << lane));
        single.chain(without).filter(move |&fewer| fewer != mask && fewer != 0)
    };
    let with = |line: &CallLine, mask| vec![line.replaced(&Call { mask, ..line.call.clone() })];
    calls.iter().flat_map(|line| fewer(line.call.mask & line.lanes).map(move |mask| with(line, mask))).collect()
}

/// Plainer arguments, those that take most away first.
pub fn arguments(_: &Tree<'_>, calls: &[CallLine]) -> Vec<Unit> {
    let mut units = Vec::new();
    for line in calls {
        for (index, (_, argument)) in line.call.arguments.iter().enumerate() {
            for plainer in plainer(argument) {
                let mut call = line.call.clone();
                call.arguments[index].1 = plainer;
                units.push(vec![line.replaced(&call)]);
            }
        }
    }
    units
}

/// What may stand in the place of an argument.
fn plainer(argument: &Argument) -> Vec<Argument> {
    match argument {
        Argument::Scalar(ty, bits) => [0, 1, bits / 2, bits.wrapping_sub(1)]
            .into_iter()
            .filter(|plain| plain < bits)
            .map(|bits| Argument::Scalar(*ty, bits))
            .collect(),
        Argument::Lanes(ty, words) => plainer_elements(words).map(|words| Argument::Lanes(*ty, words)).collect(),
        Argument::Array(ty, words) => {
            let shorter = [1, words.len() / 4, words.len() / 2, words.len().saturating_sub(1)];
            let shorter = shorter.into_iter().filter(|&len| len > 0 && len < words.len());
            let shorter = shorter.map(|len| Argument::Array(*ty, words[..len].to_vec()));
            shorter.chain(plainer_elements(words).map(|words| Argument::Array(*ty, words))).collect()
        }
        Argument::Alias { of, from } if *from > 0 => vec![Argument::Alias { of: of.clone(), from: 0 }],
        Argument::Alias { .. } | Argument::Null => Vec::new(),
    }
}

/// Elements with zeros: all of them, halves, single ones.
fn plainer_elements(words: &[u64]) -> impl Iterator<Item = Vec<u64>> + '_ {
    let n = words.len();
    let ranges = [0..n, 0..n / 2, n / 2..n].into_iter().chain((0..n).map(|i| i..i + 1));
    let zeroed = |range: Range<usize>| {
        let mut words = words.to_vec();
        words[range].fill(0);
        words
    };
    ranges.map(zeroed).filter(move |plain| plain != words)
}

/// Parameters of the called function with their arguments; where one is read, 0 is.
pub fn parameters(tree: &Tree<'_>, calls: &[CallLine]) -> Vec<Unit> {
    let mut units = Vec::new();
    for line in calls {
        let named = |id: &NodeId| tree.as_function(*id).is_some_and(|f| f.name.name.as_str() == line.call.entry);
        let Some(function) = tree.functions().find(named) else { continue };
        for index in 0..tree.children_as(function, Role::Param).count().min(line.call.arguments.len()) {
            let mut call = line.call.clone();
            let (removed, _) = call.arguments.remove(index);
            let is_alias = |argument: &Argument| matches!(argument, Argument::Alias { of, .. } if *of == removed);
            if call.arguments.iter().any(|(_, argument)| is_alias(argument)) {
                continue;
            }
            if let Some(mut unit) = declarations::without_parameter(tree, function, index) {
                unit.push(line.replaced(&call));
                units.push(unit);
            }
        }
    }
    units
}
