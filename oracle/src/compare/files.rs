//! All calls in a file, at several widths, on several back ends.

use super::bisect::{FirstDifference, first_statement};
use super::{Backend, Expected, Job, Rules, Verdict};
use crate::testcase::{self, Call, CaseError, TestCase};
use serde_json::{Value as Json, json};
use spmdvm::{Module, Options, Width};
use std::fmt;
use std::path::Path;

/// What is compared, and how.
pub struct Setup<'a> {
    /// How programs are compiled and run; the width is one of `widths`.
    pub options: &'a Options,
    /// The widths.
    pub widths: &'a [Width],
    /// The back end that says what is expected.
    pub reference: &'a dyn Backend,
    /// The others, for a width. A text in place of one says why there is none.
    pub others: &'a dyn Fn(Width) -> Vec<Result<Box<dyn Backend>, String>>,
    /// What counts as equal.
    pub rules: &'a Rules,
    /// Whether the first statement that differs is looked for.
    pub bisect: bool,
    /// Calls in place of those that stand in the file.
    pub calls: &'a [String],
}

/// One call on one back end.
pub struct Comparison {
    /// The file.
    pub name: String,
    /// The line of the call in it; `None` if the call was given apart.
    pub line: Option<usize>,
    /// The call.
    pub call: Call,
    /// The width.
    pub width: Width,
    /// The back end.
    pub backend: String,
    /// What came out.
    pub verdict: Verdict,
    /// The first statement that differs, or why there is none, if it was looked for.
    pub place: Option<Result<FirstDifference, String>>,
}

/// Compares what a file's calls do. Each comparison is given to `each` as soon as it is made.
pub fn compare(path: &Path, text: &str, setup: &Setup<'_>, each: &mut dyn FnMut(Comparison)) -> Result<(), CaseError> {
    let name = path.display().to_string();
    for &width in setup.widths {
        let options = setup.options.clone().with_width(width);
        let module = Module::compile_file(path, &options).map_err(CaseError::Compile)?;
        let others = (setup.others)(width);
        let cases = cases(&name, text, &module, setup.calls)?;
        let lines = testcase::calls(text).map(|(line, _)| setup.calls.is_empty().then_some(line));
        for (case, line) in cases.iter().zip(lines.chain(std::iter::repeat(None))) {
            let Some(export) = case.call.export(&module) else { continue };
            let job = Job { case, path: Some(path), options: &options, export };
            let expected = Expected::of(setup.reference, &job);
            for other in &others {
                let (backend, verdict) = match (other, &expected) {
                    (Err(why), _) => ("?".to_owned(), Verdict::NotComparable(why.clone())),
                    (Ok(other), Err(why)) => (other.name(), Verdict::NotComparable(why.clone())),
                    (Ok(other), Ok(expected)) => (other.name(), expected.compare(&**other, &job, setup.rules)),
                };
                let place = match (other, &verdict) {
                    (Ok(other), Verdict::Different(_)) if setup.bisect => {
                        Some(first_statement(&job, setup.reference, &**other))
                    }
                    _ => None,
                };
                each(Comparison { name: name.clone(), line, call: case.call.clone(), width, backend, verdict, place });
            }
        }
    }
    Ok(())
}

/// The test cases: of the calls that are given, else of those in the text.
fn cases(name: &str, text: &str, module: &Module, calls: &[String]) -> Result<Vec<TestCase>, CaseError> {
    if calls.is_empty() {
        return TestCase::of_module(name, text, module);
    }
    let case = |call: &String| match Call::parse(call, module) {
        Ok(call) => Ok(TestCase { name: name.to_owned(), text: text.to_owned(), call }),
        Err(message) => Err(CaseError::Call { name: name.to_owned(), line: None, message }),
    };
    calls.iter().map(case).collect()
}

impl Comparison {
    /// It as JSON.
    pub fn to_json(&self) -> Json {
        let (verdict, more) = match &self.verdict {
            Verdict::Equal => ("equal", Json::Null),
            Verdict::Different(difference) => ("different", difference.to_json()),
            Verdict::NotComparable(why) => ("not comparable", Json::from(why.as_str())),
        };
        let mut json = json!({
            "file": self.name, "line": self.line, "call": self.call.to_string(), "width": self.width.lanes(), "backend": self.backend,
            "verdict": verdict,
        });
        match &self.place {
            Some(Ok(place)) => json["first_statement"] = place.to_json(),
            Some(Err(why)) => json["first_statement"] = Json::from(why.as_str()),
            None => {}
        }
        match self.verdict {
            Verdict::Equal => {}
            Verdict::Different(_) => json["difference"] = more,
            Verdict::NotComparable(_) => json["reason"] = more,
        }
        json
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
        write!(f, ", width {}, {}: ", self.width, self.backend)?;
        match &self.verdict {
            Verdict::Equal => f.write_str("equal"),
            Verdict::Different(difference) => {
                write!(f, "differs in {}\n  {difference}", shortened(&self.call.to_string()))
            }
            Verdict::NotComparable(why) => write!(f, "not comparable: {why}"),
        }?;
        match &self.place {
            Some(Ok(place)) => write!(f, "\n  {place}"),
            Some(Err(why)) => write!(f, "\n  {why}"),
            None => Ok(()),
        }
    }
}

/// A call, if it is not too long for a line.
fn shortened(call: &str) -> String {
    match call.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &call[..end]),
        None => call.to_owned(),
    }
}
