//! Mutants of a program that mean the same for the inputs of its calls.
//!
//! What is done, each at places that a seed chooses: dead code is put under masks that are empty and under conditions that do
//! not hold for these inputs; statements that concern each lane alone are done in two parts, by some lanes and by the others,
//! or under a mask that holds for all; values take a way round through a variable that all lanes are given. Every edit is
//! tried: what does not compile, or does anything else, is left out.

use crate::random::Rng;
use crate::testcase::{Argument, CaseError};
use crate::tree::{Edit, Edits, NodeId, Tree, Visible};
use crate::{Outcome, TestCase, run};
use spmdvm::frontend::ast::{Basic, ExprKind, StmtKind, UnaryOp, Variability};
use spmdvm::frontend::bumpalo::Bump;
use spmdvm::{Checks, Engine, FindingKind, Limits, Module, Options};

/// Edits of a mutant, at most.
const MOST_EDITS: u64 = 5;
/// Edits that are tried for one that is made.
const TRIALS: u64 = 4;
/// Loop iterations and calls that the original may take.
const FUEL: u64 = 1 << 24;

/// What no lane does.
const EMPTY: [&str; 4] = [
    "programIndex < 0",
    "(programIndex & 64) != 0",
    "programIndex >= programCount",
    "(programIndex ^ programIndex) != 0",
];
/// What all lanes do.
const WHOLE: [&str; 3] = ["programIndex >= 0", "programIndex < programCount", "(programIndex & 64) == 0"];
/// What divides the lanes.
const PARTS: [&str; 4] =
    ["(programIndex & 1) == 0", "programIndex < 3", "programIndex * 2 >= programCount", "(programIndex & 5) != 4"];

/// A mutant of a program with calls.
///
/// # Errors
///
/// The program or its calls are wrong, the original does not end, or no place for a change was found; the text says which.
pub fn equivalent(name: &str, text: &str, seed: u64, options: &Options) -> Result<String, String> {
    let limits = Limits { fuel: Some(options.limits.fuel.unwrap_or(FUEL)), ..options.limits };
    let options =
        Options { engine: Engine::Interp, threads: Some(1), check: Checks::by_default(), limits, ..options.clone() };
    let original = Behaviour::of(name, text, &options)?;
    if original.outcomes.iter().any(|outcome| matches!(outcome.end, crate::End::Stopped(_))) {
        return Err(format!("{name}: a call does not end; --fuel gives it more time"));
    }
    let arena = Bump::new();
    let tree = Tree::parse(&arena, name, text, &options).map_err(|unparsed| unparsed.to_string())?;
    let mut mutator = Mutator::new(&tree, &original.cases, seed);
    let wanted = 1 + mutator.rng.draw(MOST_EDITS);
    let (mut edits, mut made) = (Vec::new(), 0);
    for _ in 0..wanted * TRIALS {
        let Some(edit) = mutator.edit() else { continue };
        let mut tried = Edits::new();
        edits.push(edit);
        let fits = tried.add_all(edits.iter().cloned()).is_ok();
        match fits && Behaviour::of(name, &tried.apply(text), &options).is_ok_and(|came| came.is_like(&original)) {
            true => made += 1,
            false => drop(edits.pop()),
        }
        if made == wanted {
            break;
        }
    }
    let mut all = Edits::new();
    all.add_all(edits).map_err(|_| "edits overlap".to_owned())?;
    match made {
        0 => Err(format!("{name}: no place for a change was found; another --seed may find one")),
        _ => Ok(all.apply(text)),
    }
}

/// What a program does in its calls.
struct Behaviour {
    cases: Vec<TestCase>,
    outcomes: Vec<Outcome>,
    findings: Vec<FindingKind>,
}

impl Behaviour {
    fn of(name: &str, text: &str, options: &Options) -> Result<Behaviour, String> {
        let module = Module::compile(name, text, options).map_err(|error| error.render(false))?;
        let cases = TestCase::of_module(name, text, &module).map_err(|error| match error {
            CaseError::Compile(error) => error.render(false),
            CaseError::Call { name, message, .. } => format!("{name}: {message}"),
        })?;
        let outcomes = cases.iter().map(|case| run(case, &module)).collect();
        let findings = module.report().findings().iter().map(|finding| finding.kind()).collect();
        Ok(Behaviour { cases, outcomes, findings })
    }

    /// Returns whether all that can be seen is the same, and check mode finds nothing of another kind.
    fn is_like(&self, original: &Behaviour) -> bool {
        self.outcomes == original.outcomes && self.findings.iter().all(|kind| original.findings.contains(kind))
    }
}

/// Chooses edits.
struct Mutator<'t, 'a> {
    tree: &'t Tree<'a>,
    cases: &'t [TestCase],
    rng: Rng,
    /// The statements in blocks of functions.
    statements: Vec<NodeId>,
    /// Those of them that give a varying variable of the function a value, each lane its own.
    of_lanes: Vec<NodeId>,
}

impl<'t, 'a> Mutator<'t, 'a> {
    fn new(tree: &'t Tree<'a>, cases: &'t [TestCase], seed: u64) -> Mutator<'t, 'a> {
        let movable = |&id: &NodeId| {
            tree.position(id).function.is_some()
                && tree.as_stmt(id).is_some_and(|stmt| is_movable(&stmt.kind))
                && tree.insert_before(id, "").is_some()
                && !leaves(tree, id)
        };
        let statements: Vec<NodeId> = tree.statements().filter(movable).collect();
        let of_lanes = statements.iter().copied().filter(|&id| assigned(tree, id).is_some()).collect();
        Mutator { tree, cases, rng: Rng::new(seed), statements, of_lanes }
    }

    fn edit(&mut self) -> Option<Edit> {
        if self.statements.is_empty() {
            return None;
        }
        match self.rng.draw(6) {
            0 => self.dead_under_mask(),
            1 => self.dead_for_inputs(),
            2 => self.in_two_parts(),
            3 => self.under_whole_mask(),
            4 => self.round_way(),
            _ => self.under_condition(),
        }
    }

    fn lane_statement(&mut self) -> Option<NodeId> {
        (!self.of_lanes.is_empty()).then(|| self.rng.pick(&self.of_lanes))
    }

    /// An assignment that no lane makes.
    fn dead_under_mask(&mut self) -> Option<Edit> {
        let dead = self.lane_statement()?;
        // Elsewhere, what it names is often not visible.
        let at = if self.rng.one_in(2) { dead } else { self.rng.pick(&self.statements) };
        let (condition, source) = (self.rng.pick(&EMPTY), self.tree.source(dead)?);
        self.tree.insert_before(at, &format!("if ({condition}) {{ {source} }}"))
    }

    /// Any statement, under a condition on an argument that no call meets.
    fn dead_for_inputs(&mut self) -> Option<Edit> {
        let (at, dead) = (self.rng.pick(&self.statements), self.rng.pick(&self.statements));
        let condition = self.unmet(at).unwrap_or_else(|| "programCount < 1".to_owned());
        let source = self.tree.source(dead)?;
        self.tree.insert_before(at, &format!("if ({condition}) {{ {source} }}"))
    }

    /// A condition on a uniform argument, of the function that is called, which holds in no call.
    fn unmet(&mut self, at: NodeId) -> Option<String> {
        let visible = self.tree.visible_at(at);
        let scalars =
            self.cases.iter().flat_map(|case| &case.call.arguments).filter_map(|(name, argument)| match argument {
                Argument::Scalar(ty, bits) if ty.is_int() && ty.size() == 4 => Some((name, *bits)),
                _ => None,
            });
        let known: Vec<(&String, u64)> = scalars
            .filter(|(name, _)| {
                visible.iter().any(|v| v.name.as_str() == name.as_str() && v.variability() == Variability::Uniform)
            })
            .collect();
        if known.is_empty() {
            return None;
        }
        let (name, _) = self.rng.pick(&known);
        let free = (1000..).find(|value| known.iter().all(|(_, bits)| bits != value))?;
        Some(format!("{name} == {free}"))
    }

    /// A statement done by some lanes, and then by the others.
    fn in_two_parts(&mut self) -> Option<Edit> {
        let at = self.lane_statement()?;
        let (condition, source) = (self.rng.pick(&PARTS), self.tree.source(at)?);
        self.tree.replace(at, format!("if ({condition}) {{ {source} }} else {{ {source} }}"))
    }

    /// A statement under a mask that takes no lane away.
    fn under_whole_mask(&mut self) -> Option<Edit> {
        let at = self.lane_statement()?;
        let (condition, source) = (self.rng.pick(&WHOLE), self.tree.source(at)?);
        self.tree.replace(at, format!("if ({condition}) {{ {source} }}"))
    }

    /// A statement under a condition that holds in every call.
    fn under_condition(&mut self) -> Option<Edit> {
        let at = self.rng.pick(&self.statements);
        let condition = self.unmet(at).unwrap_or_else(|| "programCount < 1".to_owned());
        self.tree.replace(at, format!("if (!({condition})) {{ {} }}", self.tree.source(at)?))
    }

    /// After an assignment the value goes through another variable, which all lanes copy.
    fn round_way(&mut self) -> Option<Edit> {
        let at = self.lane_statement()?;
        let (name, ty) = assigned(self.tree, at)?;
        let copy = format!("all_lanes_{}", self.rng.draw(1000));
        let ty = type_name(ty)?;
        self.tree
            .insert_after(at, &format!("{{ {ty} {copy} = {name}; unmasked {{ {copy} = {name}; }} {name} = {copy}; }}"))
    }
}

/// Returns whether a statement may get a condition of its own: it declares nothing that others see, and is no label.
fn is_movable(kind: &StmtKind<'_>) -> bool {
    matches!(
        kind,
        StmtKind::Expr(_)
            | StmtKind::Block(_)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::DoWhile { .. }
            | StmtKind::For { .. }
            | StmtKind::Switch { .. }
    )
}

/// Returns whether a statement has a `break`, `continue` or `return` in it: whether these may stand in a place is a matter of
/// its own.
fn leaves(tree: &Tree<'_>, id: NodeId) -> bool {
    let mut inner = tree.within(id).filter_map(|inner| tree.as_stmt(inner));
    inner.any(|stmt| {
        matches!(
            stmt.kind,
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Label { .. }
        )
    })
}

/// The varying number that a statement gives a value, if it does nothing else and no lane looks at another one.
fn assigned<'a>(tree: &Tree<'a>, id: NodeId) -> Option<(&'a str, Basic)> {
    let StmtKind::Expr(expr) = tree.as_stmt(id)?.kind else { return None };
    let ExprKind::Assign { target, .. } = expr.kind else { return None };
    let ExprKind::Name { name, .. } = target.kind else { return None };
    let inner = tree.within(id).filter_map(|inner| tree.as_expr(inner));
    if inner.filter(|inner| !std::ptr::eq(*inner, expr)).any(|inner| !is_of_lane(&inner.kind)) {
        return None;
    }
    let visible: Visible<'a> = tree.visible_at(id).into_iter().find(|visible| visible.name == name.name)?;
    let is_varying = visible.is_assignable() && visible.variability() == Variability::Varying;
    let basic = visible.basic().filter(|_| is_varying && !visible.is_global)?;
    Some((name.name.as_str(), basic))
}

/// Returns whether an expression has no effect, and each lane its own value.
fn is_of_lane(kind: &ExprKind<'_>) -> bool {
    use ExprKind::{Binary, Bool, Cast, Conditional, Float, Index, Int, Member, Name, Unary};
    match kind {
        Int { .. } | Float { .. } | Bool(_) | Name { .. } | Binary { .. } | Conditional { .. } | Cast { .. } => true,
        Index { .. } | Member { .. } => true,
        Unary { op, .. } => {
            matches!(op, UnaryOp::Neg | UnaryOp::Plus | UnaryOp::Not | UnaryOp::BitNot | UnaryOp::Deref)
        }
        _ => false,
    }
}

fn type_name(ty: Basic) -> Option<&'static str> {
    Some(match ty {
        Basic::Void => return None,
        Basic::Bool => "bool",
        Basic::Int8 => "int8",
        Basic::Int16 => "int16",
        Basic::Int32 => "int",
        Basic::Int64 => "int64",
        Basic::UInt8 => "unsigned int8",
        Basic::UInt16 => "unsigned int16",
        Basic::UInt32 => "unsigned int",
        Basic::UInt64 => "unsigned int64",
        Basic::Float16 => "float16",
        Basic::Float => "float",
        Basic::Double => "double",
    })
}
