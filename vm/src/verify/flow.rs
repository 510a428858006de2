//! Follows the code of a function: kinds on the mask stack, emptiness of the mask, and jumps that must count fuel.

use super::facts::{EntryKind, FunctionFacts, PointFacts, StackId, StackNode, StackUse, stack_use};
use super::limits::MAX_MASK_DEPTH;
use super::{Errors, Rule};
use crate::flow::edges;
use crate::isa::{Effect, Op};
use crate::program::{Function, Inst};
use crate::types::Shape;
use foldhash::{HashMap, HashMapExt};

/// Returns whether it jumps depending on a uniform condition or none, rather than on the mask.
fn is_uniform_jump(op: Op) -> bool {
    matches!(op, Op::Jmp | Op::BrTrue | Op::BrFalse)
}

/// What was found out by following a function.
pub(super) struct Graph {
    facts: FunctionFacts,
}

impl Graph {
    pub fn is_reachable(&self, at: usize) -> bool {
        self.facts.is_reachable(at)
    }

    pub fn into_facts(self) -> FunctionFacts {
        self.facts
    }
}

pub(super) fn check(f: &Function, errors: &mut Errors) -> Graph {
    let facts = FunctionFacts { points: vec![None; f.code.len()], stacks: Vec::new() };
    let mut walk = Walk { f, errors, facts, interned: HashMap::new(), todo: Vec::new(), mismatched: Vec::new() };
    walk.mismatched.resize(f.code.len(), false);
    walk.run();
    Graph { facts: walk.facts }
}

struct Walk<'a, 's> {
    f: &'a Function,
    errors: &'a mut Errors<'s>,
    facts: FunctionFacts,
    interned: HashMap<(StackId, EntryKind), StackId>,
    todo: Vec<usize>,
    /// Instructions where a disagreement has been reported.
    mismatched: Vec<bool>,
}

impl Walk<'_, '_> {
    /// An instruction is visited when it is first reached, and once more if it turns out that the mask may be empty there.
    fn run(&mut self) {
        self.arrive(0, PointFacts { stack: StackId::EMPTY, may_be_empty: false });
        while let Some(at) = self.todo.pop() {
            if self.errors.is_over() {
                return;
            }
            let before = self.facts.points[at].expect("only reached instructions are visited");
            let op = self.f.code[at].op;
            let stack = self.apply(at, op, before.stack);
            let code = &self.f.code;
            for edge in edges(code, at) {
                let may_be_empty = empties(op, edge.jumps).unwrap_or(before.may_be_empty);
                self.arrive(edge.to, PointFacts { stack, may_be_empty });
            }
        }
        for at in 0..self.f.code.len() {
            if self.errors.is_over() {
                return;
            }
            if let Some(point) = self.facts.points[at] {
                self.point(at, point);
            }
        }
    }

    fn arrive(&mut self, at: usize, new: PointFacts) {
        let Some(old) = &mut self.facts.points[at] else {
            self.facts.points[at] = Some(new);
            return self.todo.push(at);
        };
        let emptier = new.may_be_empty && !old.may_be_empty;
        old.may_be_empty |= new.may_be_empty;
        let was = old.stack;
        if was != new.stack && !std::mem::replace(&mut self.mismatched[at], true) {
            let (a, b) = (self.render(was), self.render(new.stack));
            self.errors.at(at, Rule::StackJoin, format!("reached with the mask stack {a} and with {b}"));
        }
        if emptier {
            self.todo.push(at);
        }
    }

    fn render(&self, mut stack: StackId) -> String {
        let mut kinds = Vec::new();
        while let Some(node) = self.facts.node(stack) {
            kinds.push(node.kind);
            stack = node.below;
        }
        kinds.reverse();
        format!("{kinds:?}")
    }

    /// The stack after an instruction. Errors are reported by [`point`](Self::point), once.
    fn apply(&mut self, at: usize, op: Op, stack: StackId) -> StackId {
        match stack_use(op) {
            StackUse::Push(kind) => self.push(at, stack, kind),
            // An entry of the wrong kind stays, lest one mistake is reported many times.
            StackUse::Pop(kind) => self.facts.node(stack).filter(|n| n.kind == kind).map_or(stack, |n| n.below),
            _ => stack,
        }
    }

    fn push(&mut self, at: usize, below: StackId, kind: EntryKind) -> StackId {
        let depth = self.facts.node(below).map_or(0, |n| n.depth) + 1;
        if depth as usize > MAX_MASK_DEPTH {
            if !std::mem::replace(&mut self.mismatched[at], true) {
                self.errors.at(at, Rule::Limit, format!("more than {MAX_MASK_DEPTH} entries on the mask stack"));
            }
            return below;
        }
        let (breaks, continues) = self.facts.node(below).map_or((false, false), |n| (n.breaks, n.continues));
        let is_loop = matches!(kind, EntryKind::Loop | EntryKind::Each);
        let node = StackNode {
            kind,
            below,
            depth,
            breaks: breaks || is_loop || kind == EntryKind::Switch,
            continues: continues || is_loop,
        };
        let stacks = &mut self.facts.stacks;
        *self.interned.entry((below, kind)).or_insert_with(|| {
            stacks.push(node);
            StackId(stacks.len() as u32)
        })
    }

    /// Reports what is wrong with one reachable instruction, given the final facts about it.
    fn point(&mut self, at: usize, point: PointFacts) {
        let inst = &self.f.code[at];
        let name = inst.op.info().name;
        self.stack_errors(at, point.stack, inst.op);
        if point.may_be_empty && needs_lane(self.f, inst) {
            self.errors.at(at, Rule::EmptyMask, format!("`{name}` can be reached with no lane active"));
        }
        let backward = inst.op.info().sig.has_label() && inst.aux as usize <= at;
        if inst.op == Op::LoopBack && !backward {
            self.errors.at(at, Rule::BackwardJump, "`loop.back` jumps forward");
        }
        let counted = is_uniform_jump(inst.op) || inst.op == Op::LoopBack;
        if backward && !counted && !counts_fuel(self.f.code[inst.aux as usize].op) {
            self.errors.at(at, Rule::BackwardJump, format!("`{name}` jumps backward"));
        }
    }

    fn stack_errors(&mut self, at: usize, stack: StackId, op: Op) {
        let name = op.info().name;
        let top = self.facts.node(stack).map(|n| n.kind);
        match stack_use(op) {
            StackUse::Top(kind) | StackUse::Pop(kind) if top != Some(kind) => {
                let found = top.map_or("nothing".into(), |k| format!("{k:?}"));
                let message = format!("`{name}` needs {kind:?} at the top of the mask stack, but finds {found}");
                self.errors.at(at, Rule::StackKind, message);
            }
            StackUse::Break | StackUse::Continue => {
                let node = self.facts.node(stack);
                let found = node.is_some_and(|n| if stack_use(op) == StackUse::Break { n.breaks } else { n.continues });
                if !found {
                    self.errors.at(at, Rule::NoTarget, format!("`{name}` stands in nothing it could leave"));
                }
            }
            _ if op == Op::Ret && top.is_some() => {
                let stack = self.render(stack);
                self.errors.at(at, Rule::StackAtReturn, format!("`ret` is reached with the mask stack {stack}"));
            }
            _ => {}
        }
    }
}

/// Returns whether the mask may be empty after an operation, on its jump or its way on. `None`: as before.
fn empties(op: Op, jumps: bool) -> Option<bool> {
    match op {
        Op::LoopBack => Some(!jumps),
        Op::Everywhere => Some(false),
        _ if is_uniform_jump(op) || !op.info().sig.has_label() => None,
        _ => Some(jumps),
    }
}

/// Returns whether the operation is one of the steps of an Each loop, which count fuel themselves.
fn counts_fuel(op: Op) -> bool {
    matches!(op, Op::EachLane | Op::EachAll | Op::EachUnique)
}

/// Returns whether a lane must be active for the instruction to be executed (invariant M1).
fn needs_lane(f: &Function, inst: &Inst) -> bool {
    let writes_uniform = !inst.dst.is_none() && f.reg(inst.dst).shape == Shape::Uniform;
    match inst.op.info().effect {
        // The steps of an Each loop write their destination only when there is a lane to visit.
        Effect::Control => inst.op == Op::Everywhere,
        Effect::Pure | Effect::Mask => writes_uniform,
        // These check and do nothing for inactive lanes; with only uniform operands they act whenever they are executed.
        Effect::Trap | Effect::Read | Effect::Write | Effect::Effect | Effect::Call => true,
    }
}
