//! The passes: each lists small simplifications of a program, as edits that belong together.
//!
//! They are tried in order, those that take most away first, again and again until none of them helps. A pass knows nothing of
//! types: what does not compile is not asked about.

mod control;
pub mod declarations;
mod expressions;
mod inlining;
mod tokens;
mod trivia;

use super::calls::{self, CallLine};
use crate::tree::{Edit, Tree};

/// Edits that belong together.
pub type Unit = Vec<Edit>;

/// A pass.
pub struct Pass {
    /// What it does, for statistics.
    pub name: &'static str,
    /// The simplifications of a program, in the order of its text.
    pub units: Units,
}

/// What a pass looks at.
pub enum Units {
    /// The program.
    Tree(fn(&Tree<'_>) -> Vec<Unit>),
    /// The program and its calls.
    Calls(fn(&Tree<'_>, &[CallLine]) -> Vec<Unit>),
}

/// All passes.
pub const PASSES: &[Pass] = &[
    of_tree("comments", trivia::comments),
    of_tree("items", declarations::items),
    of_tree("functions with their calls", declarations::functions_with_calls),
    of_tree("statements", control::statements),
    of_tree("branches to their first part", control::to_then),
    of_tree("branches to their second part", control::to_else),
    of_tree("loops to their bodies", control::to_body),
    of_tree("switches to their bodies", control::without_cases),
    of_tree("case labels", control::case_labels),
    of_tree("variables with what uses them", declarations::variables_with_uses),
    of_tree("variables to zero", declarations::variables_to_zero),
    of_tree("parameters with their arguments", declarations::parameters),
    of_tree("members with what uses them", declarations::members),
    of_tree("elements of declarations", declarations::elements),
    of_tree("calls to bodies", inlining::calls),
    of_tree("expressions to their first part", expressions::to_first),
    of_tree("expressions to their second part", expressions::to_second),
    of_tree("expressions to their third part", expressions::to_third),
    of_tree("expressions to 0", expressions::to_zero),
    of_tree("expressions to 1", expressions::to_one),
    of_tree("compound assignments", expressions::plain_assignments),
    of_tree("variables to initialisers", inlining::variables),
    of_tree("assignments to values", inlining::assignments),
    of_tree("blocks", control::blocks),
    of_tree("words", tokens::without_words),
    of_tree("types", tokens::simpler_types),
    of_tree("halved numbers", expressions::halved),
    of_tree("numbers less one", expressions::decremented),
    of_calls("calls", calls::whole),
    of_calls("lanes of calls", calls::masks),
    of_calls("arguments of calls", calls::arguments),
    of_calls("parameters of calls", calls::parameters),
    of_tree("parentheses", tokens::parentheses),
    of_tree("empty lines", trivia::empty_lines),
    of_tree("indentation", trivia::indentation),
];

const fn of_tree(name: &'static str, units: fn(&Tree<'_>) -> Vec<Unit>) -> Pass {
    Pass { name, units: Units::Tree(units) }
}

const fn of_calls(name: &'static str, units: fn(&Tree<'_>, &[CallLine]) -> Vec<Unit>) -> Pass {
    Pass { name, units: Units::Calls(units) }
}
