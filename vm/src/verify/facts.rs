//! What the verifier finds out about a function and engines may rely on.

use crate::isa::Op;

/// The kind of an entry on the mask stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// Pushed by `mask.if`.
    If,
    /// Pushed by `loop.begin`.
    Loop,
    /// Pushed by `switch.begin`.
    Switch,
    /// Pushed by `everywhere`.
    Every,
    /// Pushed by `each.begin`.
    Each,
}

/// What an operation does with the mask stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackUse {
    /// Nothing.
    None,
    /// Pushes an entry.
    Push(EntryKind),
    /// Works on the top entry, which is of this kind.
    Top(EntryKind),
    /// Pops the top entry, which is of this kind.
    Pop(EntryKind),
    /// Leaves to the innermost Loop, Switch or Each entry.
    Break,
    /// Leaves to the innermost Loop or Each entry.
    Continue,
}

pub(super) fn stack_use(op: Op) -> StackUse {
    use EntryKind::*;
    match op {
        Op::MaskIf => StackUse::Push(If),
        Op::MaskElse => StackUse::Top(If),
        Op::MaskEndif => StackUse::Pop(If),
        Op::LoopBegin => StackUse::Push(Loop),
        Op::LoopTest | Op::LoopNext | Op::LoopBack => StackUse::Top(Loop),
        Op::LoopEnd => StackUse::Pop(Loop),
        Op::SwitchBegin => StackUse::Push(Switch),
        Op::SwitchCase => StackUse::Top(Switch),
        Op::SwitchEnd => StackUse::Pop(Switch),
        Op::MaskBreak | Op::MaskBreakIf => StackUse::Break,
        Op::MaskContinue | Op::MaskContinueIf => StackUse::Continue,
        Op::Everywhere => StackUse::Push(Every),
        Op::EverywhereEnd => StackUse::Pop(Every),
        Op::EachBegin => StackUse::Push(Each),
        Op::EachLane | Op::EachAll | Op::EachUnique => StackUse::Top(Each),
        Op::EachEnd => StackUse::Pop(Each),
        _ => StackUse::None,
    }
}

/// How many entries more there are on the mask stack after an operation: 1 if it pushes one, -1 if it pops one.
pub fn stack_change(op: Op) -> i16 {
    match stack_use(op) {
        StackUse::Push(_) => 1,
        StackUse::Pop(_) => -1,
        _ => 0,
    }
}

/// A mask stack, as an index into a table in which each differs from another by one pushed entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackId(pub u32);

impl StackId {
    /// The empty stack.
    pub const EMPTY: StackId = StackId(0);
}

#[derive(Clone, Copy, Debug)]
pub(super) struct StackNode {
    pub kind: EntryKind,
    pub below: StackId,
    pub depth: u32,
    /// Whether a `break` finds something to leave in the stack, and whether a `continue` does.
    pub breaks: bool,
    pub continues: bool,
}

/// What is known at one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointFacts {
    pub stack: StackId,
    pub may_be_empty: bool,
}

/// Facts about a function, by instruction.
#[derive(Clone, Debug, Default)]
pub struct FunctionFacts {
    pub(super) points: Vec<Option<PointFacts>>,
    pub(super) stacks: Vec<StackNode>,
}

impl FunctionFacts {
    /// Returns whether the instruction can be reached, as far as the control-flow graph tells.
    pub fn is_reachable(&self, inst: usize) -> bool {
        self.points.get(inst).is_some_and(Option::is_some)
    }

    /// Returns whether the mask may be empty before the instruction.
    pub fn may_be_empty(&self, inst: usize) -> bool {
        self.points.get(inst).copied().flatten().is_some_and(|p| p.may_be_empty)
    }

    /// Kinds of the entries on the mask stack before the instruction, the innermost first; none if it cannot be reached.
    pub fn entries(&self, inst: usize) -> impl Iterator<Item = EntryKind> + '_ {
        let mut at = self.points.get(inst).copied().flatten().map_or(StackId::EMPTY, |p| p.stack);
        std::iter::from_fn(move || {
            let node = self.node(at)?;
            at = node.below;
            Some(node.kind)
        })
    }

    /// Number of entries on the mask stack before the instruction.
    pub fn depth(&self, inst: usize) -> usize {
        let stack = self.points.get(inst).copied().flatten().map_or(StackId::EMPTY, |p| p.stack);
        self.node(stack).map_or(0, |n| n.depth as usize)
    }

    /// The greatest number of entries that stand on the mask stack at once.
    pub fn max_depth(&self) -> usize {
        self.stacks.iter().map(|n| n.depth as usize).max().unwrap_or(0)
    }

    pub(super) fn node(&self, stack: StackId) -> Option<&StackNode> {
        self.stacks.get((stack.0 as usize).checked_sub(1)?)
    }
}
