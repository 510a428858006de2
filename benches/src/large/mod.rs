//! Large programs of every kind, as generators are wont to write them and as an enemy would. What compiling them takes
//! must grow with their size and no faster: `tests/suites/large.rs` asserts it, `benches/large.rs` shows the times.

mod declarations;
mod errors;
mod expressions;
mod preprocessor;
mod statements;
mod types;

use std::fmt::Write as _;

/// Programs of one kind, of any size.
pub struct Family {
    /// What there is much of.
    pub name: &'static str,
    /// The program with so many of them.
    pub make: fn(usize) -> String,
    /// The code of the error it has, if it has one.
    pub error: Option<&'static str>,
}

impl Family {
    const fn compiles(name: &'static str, make: fn(usize) -> String) -> Family {
        Family { name, make, error: None }
    }

    const fn fails(name: &'static str, make: fn(usize) -> String, code: &'static str) -> Family {
        Family { name, make, error: Some(code) }
    }
}

/// Every family.
pub fn families() -> impl Iterator<Item = &'static Family> {
    let all = [
        declarations::FAMILIES,
        types::FAMILIES,
        statements::FAMILIES,
        expressions::FAMILIES,
        preprocessor::FAMILIES,
        errors::FAMILIES,
    ];
    all.into_iter().flatten()
}

/// A text for each of `0..n`, one after another.
fn each(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

/// `start`, `n` parts, `end`.
fn around(start: &str, n: usize, part: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = start.to_owned();
    for i in 0..n {
        let _ = write!(text, "{}", part(i));
    }
    text + end
}

/// `n` parts in the body of an exported function with these parameters.
fn body(params: &str, n: usize, part: impl Fn(usize) -> String) -> String {
    around(&format!("export void f({params}) {{\n"), n, part, "}\n")
}

/// The headers that some of the programs include: name and text.
pub fn headers() -> Vec<(String, String)> {
    preprocessor::HEADERS.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
}
