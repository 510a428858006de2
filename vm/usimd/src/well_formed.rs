//! Well-formedness (definition 3.4): each `everywhere` has an `end_everywhere` that is control equivalent to it.
//!
//! Control equivalence is an equivalence relation whose classes dominance orders. So the pairs are found as one pairs
//! parentheses, in each class by itself. What stays without a partner violates the definition; the message shows a path
//! of the control-flow graph on which it is so. The definition admits a loop that holds one of both only
//! (`everywhere` before it, `end_everywhere` in it); such a program is refused too, for it ends a context twice.
//!
//! The same is asked of `enter` and `leave`, which tell the machine where the bodies of called functions are.

use super::error::{Error, ErrorKind};
use super::flow::Flow;
use super::program::{Inst, Pc, Program};
use std::collections::{HashMap, HashSet, VecDeque};

/// Paths in messages show at most so many instructions.
const MAX_SHOWN: usize = 14;

/// A program that may be run: it is well-formed.
#[derive(Clone, Debug)]
pub struct WellFormed {
    program: Program,
    flow: Flow,
}

impl WellFormed {
    /// Checks a program. All violations are reported.
    pub fn check(program: Program) -> Result<WellFormed, Vec<Error>> {
        let flow = Flow::of(&program);
        let mut errors = Vec::new();
        for brackets in [Brackets::EVERYWHERE, Brackets::BODY] {
            let checker = Checker { program: &program, flow: &flow, brackets };
            let found = checker.unpaired();
            match found.is_empty() {
                true => errors.extend(checker.unbalanced()),
                false => errors.extend(found),
            }
        }
        errors.sort_by_key(|e| e.span.start);
        if errors.is_empty() { Ok(WellFormed { program, flow }) } else { Err(errors) }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Its control flow.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }
}

/// Two instructions that come in pairs.
#[derive(Clone, Copy)]
struct Brackets {
    open: &'static str,
    close: &'static str,
    is_open: fn(&Inst) -> bool,
    is_close: fn(&Inst) -> bool,
}

impl Brackets {
    const EVERYWHERE: Brackets = Brackets {
        open: "everywhere",
        close: "end_everywhere",
        is_open: |inst| matches!(inst, Inst::Everywhere),
        is_close: |inst| matches!(inst, Inst::EndEverywhere),
    };
    const BODY: Brackets = Brackets {
        open: "enter",
        close: "leave",
        is_open: |inst| matches!(inst, Inst::Enter(_)),
        is_close: |inst| matches!(inst, Inst::Leave),
    };
}

struct Checker<'p> {
    program: &'p Program,
    flow: &'p Flow,
    brackets: Brackets,
}

/// Which way a walk goes.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Forward,
    Backward,
}

impl Checker<'_> {
    /// An error for each bracket without a partner in its class.
    fn unpaired(&self) -> Vec<Error> {
        let mut alone = HashSet::new();
        for class in self.classes() {
            let mut open = Vec::new();
            for pc in class {
                if self.opens(pc) {
                    open.push(pc);
                } else if open.pop().is_none() {
                    alone.insert(pc);
                }
            }
            alone.extend(open);
        }
        let mut errors = Vec::new();
        let mut explained = HashSet::new();
        let mut pcs: Vec<Pc> = alone.iter().copied().collect();
        pcs.sort_unstable();
        for pc in pcs {
            if !explained.contains(&pc) {
                let (error, partner) = self.explain(pc);
                explained.extend(partner);
                errors.push(error);
            }
        }
        errors
    }

    /// The brackets that can be reached, by classes of control equivalence, each in the order of dominance.
    fn classes(&self) -> Vec<Vec<Pc>> {
        let mut classes: Vec<Vec<Pc>> = Vec::new();
        for pc in (0..self.program.code.len()).filter(|&pc| self.flow.is_reachable(pc) && self.is_bracket(pc)) {
            let same = |class: &&mut Vec<Pc>| {
                self.flow.control_equivalent(class[0], pc) || self.flow.control_equivalent(pc, class[0])
            };
            match classes.iter_mut().find(same) {
                Some(class) => class.push(pc),
                None => classes.push(vec![pc]),
            }
        }
        for class in &mut classes {
            class.sort_by(|&a, &b| self.flow.dominates(b, a).cmp(&self.flow.dominates(a, b)));
        }
        classes
    }

    fn is_bracket(&self, pc: Pc) -> bool {
        self.opens(pc) || self.closes(pc)
    }

    fn opens(&self, pc: Pc) -> bool {
        self.program.code.get(pc).is_some_and(self.brackets.is_open)
    }

    fn closes(&self, pc: Pc) -> bool {
        self.program.code.get(pc).is_some_and(self.brackets.is_close)
    }

    /// Why a bracket has no partner, and the bracket that would be it but for the path that is shown.
    fn explain(&self, pc: Pc) -> (Error, Option<Pc>) {
        let Brackets { open, close, .. } = self.brackets;
        if self.opens(pc) {
            let Some(end) = self.nearest_partner(pc, Way::Forward) else {
                let message = format!("this `{open}` is never ended: no `{close}` can come after it");
                return (self.error(pc, message, open, self.flow.path_avoiding(pc, self.flow.exit(), None)), None);
            };
            return (self.explain_pair(pc, end), Some(end));
        }
        let Some(begin) = self.nearest_partner(pc, Way::Backward) else {
            let message = format!("this `{close}` ends nothing: no `{open}` can come before it");
            return (self.error(pc, message, close, self.flow.path_avoiding(0, pc, None)), None);
        };
        (self.explain_pair(begin, pc), Some(begin))
    }

    fn explain_pair(&self, begin: Pc, end: Pc) -> Error {
        let Brackets { open, close, .. } = self.brackets;
        let (at_begin, at_end) = (format!("this `{open}`"), format!("this `{close}`"));
        if let Some(path) = self.flow.path_avoiding(begin, self.flow.exit(), Some(end)) {
            let message = format!("`{open}` can be left without its `{close}`");
            let place = self.program.spans[end].clone();
            return self.error(begin, message, &at_begin, Some(path)).place(place, format!("{at_end} is passed by"));
        }
        let path = if begin == 0 { None } else { self.flow.path_avoiding(0, end, Some(begin)) };
        let message = match path {
            Some(_) => format!("`{close}` can be reached without its `{open}`"),
            None => format!("`{open}` and `{close}` are not control equivalent to what they enclose"),
        };
        let place = self.program.spans[begin].clone();
        self.error(end, message, &at_end, path).place(place, format!("{at_begin} is passed by"))
    }

    /// The first bracket that brings the nesting back to where it was before `from`, on a shortest walk.
    fn nearest_partner(&self, from: Pc, way: Way) -> Option<Pc> {
        let mut seen = HashSet::from([(from, 1usize)]);
        let mut queue = VecDeque::from([(from, 1usize)]);
        while let Some((pc, depth)) = queue.pop_front() {
            for next in self.neighbours(pc, way) {
                let (deeper, back) = (self.is_start(next, way), self.is_start(next, way.other()));
                if back && depth == 1 {
                    return Some(next);
                }
                let depth = depth + usize::from(deeper) - usize::from(back);
                if depth <= self.program.code.len() && seen.insert((next, depth)) {
                    queue.push_back((next, depth));
                }
            }
        }
        None
    }

    /// Returns whether it begins what is enclosed, seen in this direction.
    fn is_start(&self, pc: Pc, way: Way) -> bool {
        if way == Way::Forward { self.opens(pc) } else { self.closes(pc) }
    }

    fn neighbours(&self, pc: Pc, way: Way) -> Vec<Pc> {
        match way {
            Way::Forward => self.flow.successors(pc).to_vec(),
            Way::Backward => {
                let before = |&p: &Pc| self.flow.is_reachable(p) && self.flow.successors(p).contains(&pc);
                (0..self.program.code.len()).filter(before).collect()
            }
        }
    }

    /// An error if some instruction can be reached at two depths of nesting.
    fn unbalanced(&self) -> Option<Error> {
        let mut depths: HashMap<Pc, i64> = HashMap::from([(0, 0)]);
        let mut queue = VecDeque::from([0]);
        while let Some(pc) = queue.pop_front() {
            let after = depths[&pc] + i64::from(self.opens(pc)) - i64::from(self.closes(pc));
            for &next in self.flow.successors(pc).iter().filter(|&&next| next < self.program.code.len()) {
                match depths.get(&next) {
                    None => {
                        depths.insert(next, after);
                        queue.push_back(next);
                    }
                    Some(&depth) if depth == after => {}
                    Some(_) => return Some(self.explain_loop(pc, next)),
                }
            }
        }
        None
    }

    fn explain_loop(&self, from: Pc, to: Pc) -> Error {
        let Brackets { open, close, .. } = self.brackets;
        let mut path = self.flow.path_avoiding(to, from, None).unwrap_or_else(|| vec![from]);
        path.push(to);
        let message = format!("a loop holds an `{open}` or `{close}` without the other");
        self.error(from, message, "the loop closes here", Some(path))
    }

    fn error(&self, pc: Pc, message: String, label: &str, path: Option<Vec<Pc>>) -> Error {
        let error = Error::new(ErrorKind::IllFormed, self.program.spans[pc].clone(), message).label(label);
        match path {
            Some(path) => error.note(format!("the path: {}", self.show(&path))),
            None => error,
        }
    }

    /// A path as text; of a long one the middle is left out.
    fn show(&self, path: &[Pc]) -> String {
        let one = |&pc: &Pc| match pc == self.flow.exit() {
            true => "the end".to_owned(),
            false => format!("line {} `{}`", self.program.line_of(pc), self.program.text_of(pc)),
        };
        let step = |pcs: &[Pc]| pcs.iter().map(one).collect::<Vec<_>>().join(" → ");
        let half = MAX_SHOWN / 2;
        match path.len() <= MAX_SHOWN {
            true => step(path),
            false => format!("{} → … → {}", step(&path[..half]), step(&path[path.len() - half..])),
        }
    }
}

impl Way {
    fn other(self) -> Way {
        if self == Way::Forward { Way::Backward } else { Way::Forward }
    }
}
