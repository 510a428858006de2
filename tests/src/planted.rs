//! Long random programs, and back ends with a fault: our interpreter, given a program in which an operation is replaced by a wrong one.

use spmdvm::frontend::ast::{BinaryOp, ExprKind, Node, Role, StmtKind, UnaryOp};
use spmdvm::frontend::bumpalo::Bump;
use spmdvm::{Engine, Limits, Module, Options, Width};
use spmdvm_oracle::generate::{Config, Dialect, Feature, Features, generate};
use spmdvm_oracle::tree::{Edit, Edits, NodeId, Tree};
use spmdvm_oracle::{Outcome, TestCase, run};

/// Lines of a program, at least and at most.
const LINES: std::ops::Range<usize> = 270..340;
/// Fuel of a run: a fault may keep a loop from ending.
const FUEL: u64 = 1 << 20;

/// A fault of a back end.
pub struct Fault {
    /// What it does.
    pub name: &'static str,
    /// The wrong operation for a node, if it is one that the fault concerns.
    wrong: fn(&Tree<'_>, NodeId) -> Option<Edit>,
}

/// Ten faults.
pub const FAULTS: [Fault; 10] = [
    Fault { name: "shifts to the right bring in zeros", wrong: logical_shift },
    Fault { name: "`%` of a negative number is positive", wrong: positive_remainder },
    Fault { name: "loops stop one iteration early", wrong: short_loop },
    Fault { name: "`foreach` leaves out the last element", wrong: short_foreach },
    Fault { name: "`else` is done by no lane", wrong: no_else },
    Fault { name: "`continue` leaves the loop", wrong: continue_breaks },
    Fault { name: "`-` swaps its operands", wrong: swapped_difference },
    Fault { name: "`^` is `|`", wrong: or_for_xor },
    Fault { name: "`<=` is `<`", wrong: strict_comparison },
    Fault { name: "`?:` takes the wrong side", wrong: wrong_side },
];

fn binary(tree: &Tree<'_>, id: NodeId, wanted: BinaryOp) -> Option<(String, String)> {
    let mut operands = match tree.as_expr(id)?.kind {
        ExprKind::Binary { op, .. } if op == wanted => tree.children(id),
        _ => return None,
    };
    let (lhs, rhs) = (operands.next()?, operands.next()?);
    Some((tree.source(lhs)?.to_owned(), tree.source(rhs)?.to_owned()))
}

fn logical_shift(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let (lhs, rhs) = binary(tree, id, BinaryOp::Shr)?;
    tree.replace(id, format!("((int)((unsigned int)({lhs}) >> ({rhs})))"))
}

fn positive_remainder(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let (lhs, rhs) = binary(tree, id, BinaryOp::Rem)?;
    tree.replace(id, format!("abs(({lhs}) % ({rhs}))"))
}

fn short_loop(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let StmtKind::For { .. } = tree.as_stmt(tree.parent(id)?)?.kind else { return None };
    let (lhs, rhs) = binary(tree, id, BinaryOp::Lt).filter(|_| tree.role(id) == Role::Condition)?;
    tree.replace(id, format!("({lhs}) < ({rhs}) - 1"))
}

fn short_foreach(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let Node::ForeachDim(_) = tree.node(id) else { return None };
    let end = tree.children(id).nth(1)?;
    tree.replace(end, format!("({}) - 1", tree.source(end)?))
}

fn no_else(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    tree.as_stmt(id)?;
    tree.delete(id).filter(|_| tree.role(id) == Role::Else)
}

fn continue_breaks(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let StmtKind::Continue = tree.as_stmt(id)?.kind else { return None };
    tree.replace(id, "break;")
}

fn swapped_difference(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let (lhs, rhs) = binary(tree, id, BinaryOp::Sub)?;
    tree.replace(id, format!("(({rhs}) - ({lhs}))"))
}

fn or_for_xor(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let (lhs, rhs) = binary(tree, id, BinaryOp::BitXor)?;
    tree.replace(id, format!("(({lhs}) | ({rhs}))"))
}

fn strict_comparison(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let (lhs, rhs) = binary(tree, id, BinaryOp::Le)?;
    tree.replace(id, format!("(({lhs}) < ({rhs}))"))
}

fn wrong_side(tree: &Tree<'_>, id: NodeId) -> Option<Edit> {
    let ExprKind::Conditional { .. } = tree.as_expr(id)?.kind else { return None };
    let condition = tree.child(id, Role::Condition)?;
    let is_negated = matches!(tree.as_expr(condition)?.kind, ExprKind::Unary { op: UnaryOp::Not, .. });
    let negated = if is_negated { "!" } else { "" };
    tree.replace(condition, format!("{negated}!({})", tree.source(condition)?))
}

/// How programs are compiled and run.
pub fn options() -> Options {
    let limits = Limits { fuel: Some(FUEL), ..Limits::default() };
    Options { width: Width::default(), engine: Engine::Interp, limits, ..Options::default() }
}

impl Fault {
    /// The program as the faulty back end understands it.
    fn understood(&self, text: &str) -> Option<String> {
        let arena = Bump::new();
        let tree = Tree::parse(&arena, "t.ispc", text, &options()).ok()?;
        let mut edits = Edits::new();
        // What lies within another one that is wrong is understood rightly.
        tree.nodes().filter_map(|id| (self.wrong)(&tree, id)).for_each(|edit| drop(edits.add(edit)));
        (!edits.is_empty()).then(|| edits.apply(text))
    }

    /// Whether the faulty back end gives other outcomes than a right one.
    pub fn shows(&self, text: &str) -> bool {
        let outcomes = |text: &str| -> Option<Vec<Outcome>> {
            let module = Module::compile("t.ispc", text, &options()).ok()?;
            let cases = TestCase::of_module("t.ispc", text, &module).ok()?;
            Some(cases.iter().map(|case| run(case, &module)).collect())
        };
        let Some(understood) = self.understood(text) else { return false };
        match (outcomes(text), outcomes(&understood)) {
            (Some(right), Some(wrong)) => right != wrong,
            _ => false,
        }
    }

    /// The first of the long programs, from a seed on, that shows the fault.
    pub fn example(&self, first: u64) -> String {
        (first..)
            .map(long_program)
            .filter(|text| LINES.contains(&text.lines().count()))
            .find(|text| self.shows(text))
            .expect("there are many programs")
    }
}

/// What long programs contain: the faults concern operations of 32 bits and statements.
const FEATURES: [Feature; 9] = [
    Feature::Loops,
    Feature::Leaving,
    Feature::Switch,
    Feature::Structs,
    Feature::LocalArrays,
    Feature::Globals,
    Feature::Calls,
    Feature::Floats,
    Feature::WidthIndependent,
];

/// A random program and a call of it.
fn long_program(seed: u64) -> String {
    let features = FEATURES.into_iter().fold(Features::NONE, Features::with);
    let config = Config { size: 150, features, dialect: Dialect::Ispc };
    generate(seed, &config).text
}
