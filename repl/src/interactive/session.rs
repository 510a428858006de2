//! What the shell remembers, and how it runs what is typed.
//!
//! Each input is compiled afresh together with all definitions so far, and runs as the body of one function on a gang
//! with all lanes on. Variables are globals; their bytes are carried from the module of one input to that of the next.
//! The text typed is a file of its own (`<input>`), included where it belongs, so that messages point into it.

use super::input::{Input, classify};
use crate::commands::{call_failure_text, interrupt_flag};
use spmdvm::{Module, Options, Run};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The file that holds what was typed.
const INPUT: &str = "<input>";
/// The function that an input becomes.
const ENTRY: &str = "__input";

/// The state between inputs.
pub struct Session {
    /// How inputs are compiled.
    pub options: Options,
    definitions: Vec<Definition>,
    variables: Vec<Definition>,
    values: BTreeMap<String, Vec<u8>>,
    color: bool,
}

/// A text kept for all later inputs.
#[derive(Clone)]
struct Definition {
    names: Vec<String>,
    text: String,
}

/// What an input led to: text to show.
pub type Answer = Result<String, String>;

impl Session {
    /// Nothing defined.
    pub fn new(options: Options, color: bool) -> Session {
        Session { options, definitions: Vec::new(), variables: Vec::new(), values: BTreeMap::new(), color }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Session::new(self.options.clone(), self.color);
    }

    /// Forgets the values of variables (after a change of width, which changes their layout); they are zero again.
    pub fn forget_values(&mut self) {
        self.values.clear();
    }

    /// The names and texts of all variables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().flat_map(|d| &d.names).map(String::as_str)
    }

    /// Evaluates what was typed and gives what is to be shown.
    pub fn eval(&mut self, text: &str) -> Answer {
        match classify(&self.definitions_text(), text) {
            Input::Nothing => Ok(String::new()),
            Input::Definition(names) => self.define(names, text),
            Input::Variables { declaration, names, initialisers } => {
                self.declare(&declaration, names, &initialisers, text)
            }
            Input::Statements => self.run("", "", text),
            Input::Expression => self.run("print(\"%\\n\", (", "));", text),
        }
    }

    /// Adds a file's definitions.
    pub fn load(&mut self, text: &str) -> Answer {
        self.define(Vec::new(), text)
    }

    /// The module of a function definition or of everything so far, for looking at its code.
    pub fn module(&self) -> Result<Module, String> {
        self.compile(&self.program_text(""), "")
    }

    /// The type of an expression.
    pub fn type_of(&self, text: &str) -> Answer {
        let main = self.program_text(&format!("export void {ENTRY}() {{\n(\n#include \"{INPUT}\"\n);\n}}\n"));
        let options = self.options_with(text);
        Module::type_of_last_expression(&main, ENTRY, &options).map_err(|e| e.render(self.color))
    }

    fn define(&mut self, names: Vec<String>, text: &str) -> Answer {
        let mut with = self.definitions.clone();
        // A definition typed again replaces the old one; functions of one name with other parameters are overloads.
        if let Some(head) = function_head(text) {
            with.retain(|d| function_head(&d.text).is_none_or(|other| other != head));
        } else {
            with.retain(|d| names.is_empty() || d.names.iter().all(|n| !names.contains(n)));
        }
        let before = std::mem::replace(&mut self.definitions, with);
        let checked = self.compile(&format!("{}\n#include \"{INPUT}\"\n", self.program_text("")), text);
        match checked {
            Ok(module) => {
                self.definitions.push(Definition { names, text: text.to_owned() });
                Ok(module.render_warnings(self.color))
            }
            Err(message) => {
                self.definitions = before;
                Err(message)
            }
        }
    }

    fn declare(
        &mut self,
        declaration: &str,
        names: Vec<String>,
        initialisers: &[(String, std::ops::Range<usize>)],
        text: &str,
    ) -> Answer {
        let before = self.variables.clone();
        for definition in &mut self.variables {
            definition.names.retain(|n| !names.contains(n));
        }
        self.variables.retain(|d| !d.names.is_empty());
        names.iter().for_each(|n| drop(self.values.remove(n)));
        self.variables.push(Definition { names: names.clone(), text: declaration.to_owned() });
        let mut body = String::new();
        for (name, range) in initialisers {
            let blank: String =
                text.char_indices().map(|(i, c)| if range.contains(&i) { c } else { blank(c) }).collect();
            body += &format!("{name} = (\n#include \"{INPUT}{name}\"\n);\n");
            self.options.headers.push((format!("{INPUT}{name}"), blank));
        }
        for name in &names {
            body += &format!("print(\"{name} = %\\n\", {name});\n");
        }
        let shown = self.run_body(&body, declaration).or_else(|message| match initialisers.is_empty() {
            // Not everything can be printed (structs, arrays).
            true => self.run_body("", declaration).map_err(|_| message),
            false => Err(message),
        });
        self.options.headers.clear();
        if shown.is_err() {
            self.variables = before;
        }
        shown
    }

    fn run(&mut self, before: &str, after: &str, text: &str) -> Answer {
        self.run_body(&format!("{before}\n#include \"{INPUT}\"\n{after}"), text)
    }

    fn run_body(&mut self, body: &str, text: &str) -> Answer {
        let main = self.program_text(&format!("export void {ENTRY}() {{\n{body}\n}}\n"));
        let module = self.compile(&main, text)?;
        for (name, bytes) in &self.values {
            module.write_state(name, bytes);
        }
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&printed);
        let run = Run::new(&module).interrupt(crate::commands::interrupt_flag());
        let result = run.output(move |s| sink.lock().unwrap_or_else(|e| e.into_inner()).push_str(s)).call(ENTRY, &[]);
        let names: Vec<String> = self.variables().map(str::to_owned).collect();
        for name in names {
            if let Some(bytes) = module.read_state(&name) {
                self.values.insert(name, bytes);
            }
        }
        let printed = std::mem::take(&mut *printed.lock().unwrap_or_else(|e| e.into_inner()));
        let warnings = module.render_warnings(self.color);
        match result {
            Ok(_) => Ok(warnings + &printed),
            Err(e) => Err(warnings + &printed + &call_failure_text(e, self.color)),
        }
    }

    fn compile(&self, main: &str, text: &str) -> Result<Module, String> {
        Module::compile("<session>", main, &self.options_with(text)).map_err(|e| e.render(self.color))
    }

    fn options_with(&self, text: &str) -> Options {
        let mut options = self.options.clone();
        options.headers.push((INPUT.to_owned(), text.to_owned()));
        options.interrupt = Some(interrupt_flag());
        options
    }

    fn definitions_text(&self) -> String {
        self.definitions.iter().map(|d| d.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn program_text(&self, rest: &str) -> String {
        let variables: Vec<&str> = self.variables.iter().map(|d| d.text.as_str()).collect();
        format!("{}\n{}\n{rest}", self.definitions_text(), variables.join("\n"))
    }
}

/// A blank in place of a character: line breaks stay, so that lines and columns do.
fn blank(c: char) -> char {
    if c == '\n' { '\n' } else { ' ' }
}

/// A function definition's head without blanks, if the text is one.
fn function_head(text: &str) -> Option<String> {
    let (head, _) = text.split_once('{')?;
    (head.contains('(') && !head.contains(';')).then(|| head.split_whitespace().collect::<Vec<_>>().join(" "))
}
