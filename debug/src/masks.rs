//! The masks of a call as strips of lanes, with what they mean.

use serde::Serialize;
use spmdvm::vm::{EntryKind, Function, MaskLevel, Op, View};

/// A mask with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Strip {
    /// What it is: `entry`, `current`, `if`, `else`, `loop`, `break`, `continue`, `switch`, `case`, `return`, `outside`, `each`, `turn`.
    pub name: &'static str,
    /// The lanes.
    pub lanes: u64,
    /// In a sentence.
    pub meaning: &'static str,
    /// How many entries of the mask stack lie below the one it belongs to; `None` if it belongs to the whole call.
    pub level: Option<usize>,
    /// The instruction that pushed that entry.
    pub pushed_at: Option<u32>,
}

/// The strips of the executing call. `entry` is the mask it began with.
pub fn strips(view: &View<'_>, entry: u64) -> Vec<Strip> {
    let stack = view.mask_stack();
    let mask = view.mask();
    let of_call = |name, lanes, meaning| Strip { name, lanes, meaning, level: None, pushed_at: None };
    let mut strips = vec![
        of_call("entry", entry, "lanes that the function was called with"),
        of_call("current", mask, "lanes that execute now"),
    ];
    let pushed = opened(view.function(), view.pc());
    let at = |level: usize| pushed.get(level).copied().filter(|_| pushed.len() == stack.len());
    for (level, found) in stack.iter().enumerate() {
        // Lanes that are still within: here, or waiting somewhere above.
        let within = stack[level + 1..].iter().fold(mask, |sum, above| sum | above.restore | above.waiting);
        let own = of_level(found, within).into_iter();
        strips.extend(own.map(|strip| Strip { level: Some(level), pushed_at: at(level), ..strip }));
    }
    let left = match stack.first() {
        Some(bottom) => entry & !(bottom.restore | bottom.waiting),
        None => entry & !mask,
    };
    strips.push(of_call("return", left, "lanes that have returned"));
    strips
}

/// The strips of an entry of the mask stack.
fn of_level(entry: &MaskLevel, within: u64) -> Vec<Strip> {
    let strip = |name, lanes, meaning| Strip { name, lanes, meaning, level: None, pushed_at: None };
    let out = entry.restore & !(within | entry.waiting);
    match entry.kind {
        EntryKind::If => vec![
            strip("if", entry.restore, "lanes that come back behind the `if`"),
            strip("else", entry.waiting, "lanes that wait for the else part"),
        ],
        EntryKind::Loop => vec![
            strip("loop", entry.restore, "lanes that come back behind the loop"),
            strip("continue", entry.waiting, "lanes that wait for the next round"),
            strip("break", out, "lanes that have left the loop, by `break` or its condition"),
        ],
        EntryKind::Switch => vec![
            strip("switch", entry.restore, "lanes that come back behind the `switch`"),
            strip("case", entry.waiting, "lanes whose case has not come yet"),
            strip("break", out, "lanes that have left the `switch`"),
        ],
        EntryKind::Every => vec![strip("outside", entry.restore, "lanes that were active where all were switched on")],
        EntryKind::Each => vec![
            strip("each", entry.restore, "lanes that come back behind the loop over lanes"),
            strip("turn", entry.waiting, "lanes whose turn has not come yet"),
        ],
    }
}

/// The instructions that opened what is open at an instruction, the outermost first: constructs nest in the code.
fn opened(function: &Function, pc: u32) -> Vec<u32> {
    let mut open = Vec::new();
    for (at, inst) in function.code.iter().enumerate().take(pc as usize) {
        match inst.op {
            Op::MaskIf | Op::LoopBegin | Op::SwitchBegin | Op::Everywhere | Op::EachBegin => open.push(at as u32),
            Op::MaskEndif | Op::LoopEnd | Op::SwitchEnd | Op::EverywhereEnd | Op::EachEnd => drop(open.pop()),
            _ => {}
        }
    }
    open
}
