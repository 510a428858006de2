//! Which statement does it first: checkpoints that print values are put behind statements, on both back ends.
//!
//! A checkpoint prints the bits of what its statement declares, assigns and uses; inactive lanes do not count. All statements get one
//! first; the first line of print that differs, in the order of execution, names the statement. Checkpoints can make a difference
//! vanish, since they change what an optimiser sees: then ever smaller halves of the statements get them.

use super::{Backend, Job};
use crate::outcome::{End, Outcome};
use crate::testcase::TestCase;
use crate::tree::{Edits, NodeId, Tree};
use serde_json::{Value as Json, json};
use spmdvm::frontend::ast::{Basic, ExprKind, StmtKind, TypeKind};
use spmdvm::frontend::bumpalo::Bump;
use spmdvm::{Module, Options};
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// How often programs with checkpoints are run at most.
const MAX_RUNS: usize = 40;

/// What the lines of checkpoints begin with.
const MARK: &str = "@@";

/// The functions that give the bits of values; a NaN is the usual one.
const BITS: &str = "
static inline int64 checkpoint_bits(bool x) { return x ? 1 : 0; }
static inline int64 checkpoint_bits(int8 x) { return x; }
static inline int64 checkpoint_bits(int16 x) { return x; }
static inline int64 checkpoint_bits(int32 x) { return x; }
static inline int64 checkpoint_bits(int64 x) { return x; }
static inline int64 checkpoint_bits(unsigned int8 x) { return x; }
static inline int64 checkpoint_bits(unsigned int16 x) { return x; }
static inline int64 checkpoint_bits(unsigned int32 x) { return x; }
static inline int64 checkpoint_bits(unsigned int64 x) { return (int64)x; }
static inline int64 checkpoint_bits(float x) { return x != x ? 0x7fc00000 : (int64)(unsigned int32)intbits(x); }
static inline int64 checkpoint_bits(double x) { return x != x ? (int64)0x7ff8000000000000 : (int64)intbits(x); }
";

/// The first statement behind which a value differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// Its line in the source, from 1.
    pub line: usize,
    /// Its text, or the beginning of it.
    pub statement: String,
    /// The variable, or the target of an assignment.
    pub variable: String,
    /// The lane; `None` if the back ends do not even come here with the same lanes active.
    pub lane: Option<usize>,
    /// What the reference has there: a value's bits as a number, or the lanes' values.
    pub expected: String,
    /// What the other has.
    pub got: String,
}

/// A statement that can have a checkpoint.
struct Spot {
    id: NodeId,
    line: usize,
    statement: String,
    values: Vec<String>,
}

/// Finds the first statement that differs. The error says why none is found.
pub fn first_statement(job: &Job<'_>, reference: &dyn Backend, other: &dyn Backend) -> Result<FirstDifference, String> {
    let arena = Bump::new();
    let options = options(job);
    let tree = Tree::parse(&arena, &job.case.name, &job.case.text, &options).map_err(|wrong| wrong.0.join("\n"))?;
    let mut spots = spots(&tree);
    if Module::compile(&job.case.name, &with_checkpoints(&tree, &spots, 0..spots.len()), &options).is_err() {
        // Not every target has a type that can be printed.
        spots.iter_mut().for_each(|spot| spot.values.retain(|value| is_name(value)));
        spots.retain(|spot| !spot.values.is_empty());
    }
    let mut parts = VecDeque::new();
    parts.push_back(0..spots.len());
    let mut runs = 0;
    while let Some(part) = parts.pop_front().filter(|part| !part.is_empty() && runs < MAX_RUNS) {
        runs += 1;
        let text = with_checkpoints(&tree, &spots, part.clone());
        if let Some(place) = differing(&text, job, &options, (reference, other), &spots)? {
            return Ok(place);
        }
        let middle = part.start + part.len() / 2;
        if part.len() > 1 {
            parts.extend([part.start..middle, middle..part.end]);
        }
    }
    Err(format!("no value differs behind any of {} statements (in {runs} runs)", spots.len()))
}

/// The options of a job, for a program that is given as text; tasks run in order.
fn options(job: &Job<'_>) -> Options {
    let mut options = Options { threads: Some(1), ..job.options.clone() };
    options.include_paths.extend(job.path.and_then(Path::parent).map(Path::to_owned));
    options
}

fn spots(tree: &Tree<'_>) -> Vec<Spot> {
    let spot = |id: NodeId| {
        let values = values(tree, id);
        let (range, true) = (tree.range(id)?, tree.insert_after(id, "").is_some() && !values.is_empty()) else {
            return None;
        };
        let line = tree.text()[..range.start].matches('\n').count() + 1;
        let statement = tree.source(id)?.lines().next().unwrap_or_default().trim_end().to_owned();
        Some(Spot { id, line, statement, values })
    };
    tree.statements().filter_map(spot).collect()
}

/// What a checkpoint behind a statement prints: single values of built-in types that it declares or uses, and what it assigns to.
fn values(tree: &Tree<'_>, id: NodeId) -> Vec<String> {
    let Some(stmt) = tree.as_stmt(id) else { return Vec::new() };
    if tree.ancestors(id).all(|around| tree.as_function(around).is_none()) {
        return Vec::new();
    }
    let is_printed = |basic: Option<Basic>| basic.is_some_and(|b| !matches!(b, Basic::Void | Basic::Float16));
    let visible = tree.visible_at(id);
    let used =
        visible.iter().filter(|v| !v.is_global && is_printed(v.basic()) && tree.uses(id, v.name).next().is_some());
    let mut values: Vec<String> = used.map(|v| v.name.to_string()).collect();
    match stmt.kind {
        StmtKind::Variables(variables) => {
            let printed = variables.iter().filter(|v| matches!(v.ty.kind, TypeKind::Basic(b) if is_printed(Some(b))));
            values.extend(printed.map(|variable| variable.name.name.to_string()));
        }
        StmtKind::Expr(expr) if matches!(expr.kind, ExprKind::Assign { .. }) => {
            let target = tree.children(id).next().and_then(|assign| tree.children(assign).next());
            let text = target.and_then(|target| tree.source(target)).unwrap_or_default();
            // It is evaluated once more.
            let is_pure = !text.is_empty() && !["++", "--", "(", "=", "\""].iter().any(|mark| text.contains(mark));
            values.extend(is_pure.then(|| text.to_owned()));
        }
        StmtKind::Return { .. } | StmtKind::Break { .. } | StmtKind::Continue { .. } | StmtKind::Block(_) => {
            return Vec::new();
        }
        _ => {}
    }
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The program with checkpoints behind some of the statements.
fn with_checkpoints(tree: &Tree<'_>, spots: &[Spot], part: Range<usize>) -> String {
    let mut edits = Edits::new();
    for (i, spot) in spots.iter().enumerate().take(part.end).skip(part.start) {
        let prints = spot.values.iter().enumerate();
        let prints = prints.map(|(v, value)| format!("print(\"\\n{MARK}{i} {v} %\\n\", checkpoint_bits({value}));"));
        // Two that would stand in one place: the first of them does.
        let _ = edits.add_all(tree.insert_after(spot.id, &prints.collect::<Vec<_>>().join(" ")));
    }
    BITS.to_owned() + &edits.apply(tree.text())
}

/// The first checkpoint that differs.
fn differing(
    text: &str,
    job: &Job<'_>,
    options: &Options,
    (reference, other): (&dyn Backend, &dyn Backend),
    spots: &[Spot],
) -> Result<Option<FirstDifference>, String> {
    let case = TestCase { text: text.to_owned(), ..job.case.clone() };
    let module = Module::compile(&case.name, text, options).map_err(|error| error.to_string())?;
    let export = case.call.export(&module).ok_or("the call fits no function any more")?;
    let job = Job { case: &case, path: None, options, export };
    let (expected, got) = (reference.run(&job)?, other.run(&job)?);
    let (mut expected_lines, mut got_lines) = (lines(&expected), lines(&got));
    loop {
        match (expected_lines.next(), got_lines.next()) {
            (None, None) => return Ok(None),
            // What a program that was ended had printed may be lost.
            (Some(_), None) if matches!(got.end, End::Stopped(_)) => return Ok(None),
            (e, g) if e == g => {}
            (e, g) => return Ok(place(e, g, spots)),
        }
    }
}

/// What checkpoints have printed with active lanes: number of the spot and of its value, and the value of each lane.
fn lines(outcome: &Outcome) -> impl Iterator<Item = (usize, usize, Vec<&str>)> {
    let read = |line| {
        let mut words = str::strip_prefix(line, MARK)?.splitn(3, ' ');
        let (spot, value) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let lanes = words.next()?.trim_matches(['[', ']']).split(',');
        // What a lane holds that is not active is nobody's.
        let lanes: Vec<&str> =
            lanes.map(str::trim).map(|lane| if lane.starts_with("((") { "-" } else { lane }).collect();
        lanes.iter().any(|lane| *lane != "-").then_some((spot, value, lanes))
    };
    outcome.printed.lines().filter_map(read)
}

fn place(
    expected: Option<(usize, usize, Vec<&str>)>,
    got: Option<(usize, usize, Vec<&str>)>,
    spots: &[Spot],
) -> Option<FirstDifference> {
    let (spot, value, _) = expected.as_ref().or(got.as_ref())?;
    let (spot, value) = (spots.get(*spot)?, spots.get(*spot)?.values.get(*value)?);
    let place = |lane, expected: String, got: String| FirstDifference {
        line: spot.line,
        statement: spot.statement.clone(),
        variable: value.clone(),
        lane,
        expected,
        got,
    };
    let same_checkpoint = expected.as_ref().map(|e| (e.0, e.1)) == got.as_ref().map(|g| (g.0, g.1));
    let shown = |line: Option<(usize, usize, Vec<&str>)>| match line {
        Some((i, _, lanes)) => format!("{} behind line {}", lanes.join(" "), spots.get(i).map_or(0, |spot| spot.line)),
        None => "nothing".to_owned(),
    };
    if let (true, Some((_, _, e)), Some((_, _, g))) = (same_checkpoint, &expected, &got)
        && let Some(lane) = e.iter().zip(g).position(|(e, g)| e != g)
    {
        return Some(place(Some(lane), e[lane].to_owned(), g[lane].to_owned()));
    }
    Some(place(None, shown(expected), shown(got)))
}

impl FirstDifference {
    /// It as JSON.
    pub fn to_json(&self) -> Json {
        json!({
            "line": self.line, "statement": self.statement, "variable": self.variable, "lane": self.lane,
            "expected": self.expected, "got": self.got,
        })
    }
}

impl fmt::Display for FirstDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = |text: &str| match text.parse::<i64>() {
            Ok(number) => format!("{number} ({number:#x})"),
            Err(_) if text == "-" => "that it is not active".to_owned(),
            Err(_) => text.to_owned(),
        };
        let lane = self.lane.map_or(String::new(), |lane| format!(" of lane {lane}"));
        write!(f, "first behind line {}, `{}`: the bits of `{}`{lane}: ", self.line, self.statement, self.variable)?;
        write!(f, "expected {}, got {}", bits(&self.expected), bits(&self.got))
    }
}
