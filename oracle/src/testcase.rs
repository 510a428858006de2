//! A program and one call of it.
//!
//! In a file the call stands in a comment, in the [words](crate::words) of `spmdvm run`:
//!
//! ```text
//! // call: f(a=iota:i32:40, x=[1, 2.5], n=40, b=a+8) mask=0b1011
//! ```
//!
//! `b=a+8` is the memory of the argument `a`, from its element 8 on. Several such lines are several test cases.

use crate::words::{self, Elements, Word};
use spmdvm::{CompileError, Export, ExportParam, HostType, HostValue, Module, Options, Ty};
use std::fmt;

/// The longest array in a call.
const MAX_LENGTH: usize = 1 << 26;

/// How a comment with a call begins, blanks aside.
const MARK: &str = "call:";

/// A program with what is needed to run it once.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    /// What messages call it: the name of its file, or its seed.
    pub name: String,
    /// The source.
    pub text: String,
    /// The call.
    pub call: Call,
}

/// A call of an exported function.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub entry: String,
    /// The arguments, by the names of the parameters, in their order.
    pub arguments: Vec<(String, Argument)>,
    /// Lanes that are active at the start; bits from the width on are ignored.
    pub mask: u64,
}

/// An argument. Elements are words that hold the bits of a value, above them zeros.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A uniform number.
    Scalar(Ty, u64),
    /// A varying number, one word per lane.
    Lanes(Ty, Vec<u64>),
    /// An array of numbers.
    Array(Ty, Vec<u64>),
    /// The memory of an earlier array argument, from one of its elements on.
    Alias {
        /// The parameter that the memory was given to.
        of: String,
        /// The element it begins at.
        from: u64,
    },
    /// No memory.
    Null,
}

/// Why there is no test case.
#[derive(Clone, Debug)]
pub enum CaseError {
    /// The program does not compile.
    Compile(CompileError),
    /// A call is wrong.
    Call {
        /// The file.
        name: String,
        /// The line of the call, from 1; `None` if it stands in none.
        line: Option<usize>,
        /// What is wrong, and what was expected.
        message: String,
    },
}

impl TestCase {
    /// The test cases of a source, which is compiled with these options for the types of the parameters. There is at least one.
    pub fn from_source(name: &str, text: &str, options: &Options) -> Result<Vec<TestCase>, CaseError> {
        let module = Module::compile(name, text, options).map_err(CaseError::Compile)?;
        TestCase::of_module(name, text, &module)
    }

    /// The test cases of a source that the module was compiled from.
    pub fn of_module(name: &str, text: &str, module: &Module) -> Result<Vec<TestCase>, CaseError> {
        let error = |line, message| CaseError::Call { name: name.to_owned(), line, message };
        let read = |(line, call): (usize, &str)| {
            let call = Call::parse(call, module).map_err(|message| error(Some(line), message))?;
            Ok(TestCase { name: name.to_owned(), text: text.to_owned(), call })
        };
        let cases = calls(text).map(read).collect::<Result<Vec<TestCase>, CaseError>>()?;
        if cases.is_empty() {
            let declared =
                module.exports().first().map_or(String::new(), |e| format!(", which is `{}`", e.declaration));
            let example = module.exports().first().map_or("f", |e| &e.name);
            let message = format!("there is no line `// call: {example}(…)` with the arguments of an export{declared}");
            return Err(error(None, message));
        }
        Ok(cases)
    }

    /// The source with this call as its only one: in place of the first line with a call, else at the end. Lines in front of it
    /// stay where they are.
    pub fn to_source(&self) -> String {
        let mut text = String::new();
        let mut is_placed = false;
        for line in self.text.split_inclusive('\n') {
            match call_in(line) {
                None => text += line,
                Some(_) if is_placed => {}
                Some(_) => {
                    text += &(self.call.line() + "\n");
                    is_placed = true;
                }
            }
        }
        if !is_placed {
            text += if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text += &(self.call.line() + "\n");
        }
        text
    }
}

/// The calls in the comments of a text, with their lines from 1.
pub(crate) fn calls(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(i, line)| Some((i + 1, call_in(line)?)))
}

fn call_in(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix("//")?.trim_start().strip_prefix(MARK)?.trim())
}

impl Call {
    /// Reads a call, such as `f(a=iota:i32:40, n=40) mask=0b11`, of an export of the module.
    pub fn parse(text: &str, module: &Module) -> Result<Call, String> {
        let form = || format!("a call has the form `f(NAME=WORD, …)`, maybe with ` mask=0b…` behind, not `{text}`");
        let (entry, rest) = text.split_once('(').ok_or_else(form)?;
        let (inner, rest) = rest.rsplit_once(')').ok_or_else(form)?;
        let mask = match rest.trim() {
            "" => u64::MAX,
            rest => parse_mask(rest.strip_prefix("mask=").ok_or_else(form)?)?,
        };
        let (entry, words) = (entry.trim(), split(inner));
        let mut candidates = module.overloads(entry).map(|export| arguments(export, &words, module.lanes()));
        let first = candidates.next().ok_or_else(|| module.no_such_export(entry).message)?;
        // Of several of this name the first that takes the words.
        let arguments = first.or_else(|wrong| candidates.find_map(Result::ok).ok_or(wrong))?;
        Ok(Call { entry: entry.to_owned(), arguments, mask })
    }

    /// The comment that holds the call.
    pub fn line(&self) -> String {
        format!("// {MARK} {self}")
    }

    /// The argument of this name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(known, _)| known == name).map(|(_, argument)| argument)
    }

    /// The export of a module that takes the arguments.
    pub fn export<'m>(&self, module: &'m Module) -> Option<&'m Export> {
        module.overloads(&self.entry).find(|export| {
            let pairs = || export.params.iter().zip(&self.arguments);
            export.params.len() == self.arguments.len() && pairs().all(|(param, (_, argument))| argument.fits(param))
        })
    }
}

impl Argument {
    /// Returns whether a parameter takes it.
    fn fits(&self, param: &ExportParam) -> bool {
        match (&param.value, self) {
            (HostValue::Uniform(ty) | HostValue::Varying(ty), Argument::Scalar(given, _)) => ty == given,
            (HostValue::Varying(ty), Argument::Lanes(given, _)) => ty == given,
            (HostValue::Array { elem, .. }, Argument::Array(ty, _)) => holds(elem, *ty),
            (HostValue::Array { .. }, Argument::Alias { .. } | Argument::Null) => true,
            _ => false,
        }
    }

    /// The word that stands for it.
    fn word(&self) -> String {
        match self {
            Argument::Scalar(ty, bits) => words::number(*ty, *bits),
            Argument::Lanes(ty, words) => words::list(*ty, words),
            Argument::Array(ty, words) => Elements::of(*ty, words).word(),
            Argument::Alias { of, from: 0 } => of.clone(),
            Argument::Alias { of, from } => format!("{of}+{from}"),
            Argument::Null => "null".to_owned(),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argument = |(name, argument): &(String, Argument)| match name.as_str() {
            "" => argument.word(),
            name => format!("{name}={}", argument.word()),
        };
        let arguments: Vec<String> = self.arguments.iter().map(argument).collect();
        write!(f, "{}({})", self.entry, arguments.join(", "))?;
        match self.mask {
            u64::MAX => Ok(()),
            mask => write!(f, " mask={mask:#b}"),
        }
    }
}

fn parse_mask(text: &str) -> Result<u64, String> {
    let parsed = match (text.strip_prefix("0b"), text.strip_prefix("0x")) {
        (Some(bits), _) => u64::from_str_radix(bits, 2),
        (_, Some(hex)) => u64::from_str_radix(hex, 16),
        _ => text.parse(),
    };
    parsed.map_err(|_| format!("a mask is a number such as 0b1011, 0xff or 3, not `{text}`"))
}

/// The words between commas, those in brackets aside.
fn split(inner: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut words: Vec<&str> = inner
        .split(|c: char| {
            depth += (c == '[') as i32 - (c == ']') as i32;
            c == ',' && depth <= 0
        })
        .map(str::trim)
        .collect();
    if words == [""] {
        words.clear();
    }
    words
}

/// The arguments of a call, checked against the parameters of an export.
fn arguments(export: &Export, words: &[&str], lanes: usize) -> Result<Vec<(String, Argument)>, String> {
    let mut arguments: Vec<(String, Argument)> = Vec::new();
    for (param, word) in export.params.iter().zip(words::place(export, words)?) {
        let alias = word.and_then(|word| alias(param, word, &arguments));
        let argument = match (alias, word) {
            (Some(alias), _) => alias?,
            (None, Some(word)) => argument(param, words::parse(param, word, lanes)?)?,
            (None, None) => argument(param, words::default_of(export, param)?)?,
        };
        arguments.push((param.name.clone(), argument));
    }
    Ok(arguments)
}

fn argument(param: &ExportParam, word: Word) -> Result<Argument, String> {
    let name = &param.name;
    match (word, &param.value) {
        (Word::Scalar(ty, bits), _) => Ok(Argument::Scalar(ty, bits)),
        (Word::Lanes(ty, words), _) => Ok(Argument::Lanes(ty, words)),
        (Word::Null, _) => Ok(Argument::Null),
        (Word::File(_), _) => Err(format!("`{name}`: a call holds its arrays itself, and reads no files")),
        (Word::Elements(elements), _) if elements.length > MAX_LENGTH => {
            Err(format!("`{name}`: a call has arrays of up to {MAX_LENGTH} elements, not {}", elements.length))
        }
        (Word::Elements(elements), HostValue::Array { elem, .. }) if !holds(elem, elements.ty) => {
            let expected = words::scalar_of(elem).map_or("structs of several types".into(), |ty| ty.to_string());
            Err(format!("`{name}` is an array of {expected}, not of {}", elements.ty))
        }
        (Word::Elements(elements), _) => Ok(Argument::Array(elements.ty, elements.to_vec())),
    }
}

/// `NAME` or `NAME+ELEMENT`, if `NAME` is that of an array in front of it.
fn alias(param: &ExportParam, word: &str, earlier: &[(String, Argument)]) -> Option<Result<Argument, String>> {
    let (of, from) = word.split_once('+').map_or((word, "0"), |(of, from)| (of.trim(), from.trim()));
    let (_, memory) = earlier.iter().find(|(name, _)| name == of)?;
    let (HostValue::Array { .. }, Argument::Array(_, words)) = (&param.value, memory) else { return None };
    Some(match from.parse() {
        Ok(from) if from <= words.len() as u64 => Ok(Argument::Alias { of: of.to_owned(), from }),
        _ => Err(format!("`{}`: `{of}` has no element `{from}` ({} elements)", param.name, words.len())),
    })
}

/// Returns whether memory of elements of type `ty` can be seen as `elem`.
fn holds(elem: &HostType, ty: Ty) -> bool {
    match elem {
        HostType::Byte => true,
        HostType::Enum(_) => matches!(ty, Ty::U32 | Ty::I32),
        HostType::Array(inner, _) => holds(inner, ty),
        HostType::Struct { fields, .. } => fields.iter().all(|(_, _, inner)| holds(inner, ty)),
        HostType::Scalar(_) | HostType::Pointer => words::scalar_of(elem) == Some(ty),
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaseError::Compile(error) => error.fmt(f),
            CaseError::Call { name, line: Some(line), message } => write!(f, "{name}:{line}: {message}"),
            CaseError::Call { name, line: None, message } => write!(f, "{name}: {message}"),
        }
    }
}

impl std::error::Error for CaseError {}
