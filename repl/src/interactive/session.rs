//! The state of a session, and how an input is carried out.
//!
//! An input becomes a program of its own: what it needs of what was defined before ([`Units`], [`Variables`]), and itself as
//! a header, which the front end compiles as what was typed at a prompt. Its values come from and go back to
//! `Variables` once it has run: an input that fails at any point changes nothing.

use super::parts::{blank, declare, directive_names, unit_of};
use super::show::{Gang, Painter};
use super::units::{Composition, Unit, UnitKind, Units, has_loops, words};
use super::variables::{Stored, Target, Variable, Variables};
use super::waiting::Waiting;
use crate::commands::{call_failure_text, interrupt_flag};
use spmdvm::tools::{PROMPT_FUNCTION, closest, render_list};
use spmdvm::{
    CallError, Code, CompileError, Diagnostic, Engine, LeftOut, Module, Options, Part, PartKind, PromptInfo, Reading,
    Run, TypeInfo, Unread, Value,
};
use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What messages call the input.
pub const INPUT: &str = "<input>";

/// The state between inputs.
#[derive(Clone)]
pub struct Session {
    /// How inputs are compiled.
    pub options: Options,
    /// How answers look.
    pub painter: Painter,
    /// The lanes that are active when an input begins.
    pub mask: u64,
    pub(super) units: Units,
    pub(super) variables: Variables,
    pub(super) waiting: Vec<Waiting>,
    /// What was typed and worked, commands included.
    pub log: Vec<String>,
    /// The expression that was shown last.
    pub last_expression: Option<String>,
    /// The program that ran last.
    pub last_module: Option<Module>,
}

/// Why an input has no answer.
#[derive(Debug)]
pub enum Problem {
    /// It ends in the middle of something. The text says what is wrong if no more comes.
    Unfinished(String),
    /// It failed, and changed nothing.
    Failed(String),
}

impl Problem {
    /// What it says.
    pub fn into_text(self) -> String {
        match self {
            Problem::Unfinished(text) | Problem::Failed(text) => text,
        }
    }
}

/// Text to show.
pub type Answer = Result<String, Problem>;

/// An input that was compiled.
pub struct Prepared {
    /// The program.
    pub module: Module,
    /// What is known of it.
    pub info: PromptInfo,
    reading: Reading,
    state: (Units, Variables),
}

/// Where prints go.
#[derive(Clone)]
pub enum Sink {
    /// To standard output.
    Stdout,
    /// Nowhere.
    Nowhere,
    /// Here.
    Text(Arc<Mutex<String>>),
}

/// A value that an input has given.
pub struct Shown {
    /// Its type.
    pub ty: TypeInfo,
    /// It.
    pub value: Stored,
    /// Whether it is one value of a constant text.
    pub text: Option<String>,
}

impl Session {
    /// Nothing defined.
    pub fn new(options: Options, painter: Painter) -> Session {
        let (units, variables) = (Units::default(), Variables::default());
        Session {
            options,
            painter,
            mask: u64::MAX,
            units,
            variables,
            waiting: Vec::new(),
            log: Vec::new(),
            last_expression: None,
            last_module: None,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Session::new(self.options.clone(), self.painter);
    }

    /// The variables.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// The variables, to be changed.
    pub fn variables_mut(&mut self) -> &mut Variables {
        &mut self.variables
    }

    /// What was defined.
    pub fn units(&self) -> &Units {
        &self.units
    }

    /// The lanes of the gang, and which are active.
    pub fn gang(&self) -> Gang {
        Gang { lanes: self.options.width.lanes(), mask: self.mask }
    }

    /// Carries out what was typed and gives what is to be shown.
    pub fn eval(&mut self, text: &str) -> Answer {
        self.eval_as(text, INPUT)
    }

    /// Carries out a text that messages call `label`: what was typed, or a file.
    pub fn eval_as(&mut self, text: &str, label: &str) -> Answer {
        let prepared = match self.prepare(text, label) {
            Ok(prepared) => prepared,
            Err(problem) => return self.keep_waiting(text, label, problem),
        };
        let warnings = self.warnings(&prepared.module, label);
        if !warnings.is_empty() {
            eprint!("{warnings}");
        }
        let mut prepared = prepared;
        let shown = self.run(&mut prepared, &Sink::Stdout).map_err(Problem::Failed)?;
        let parts = prepared.reading.parts.clone();
        self.commit(prepared, text, label);
        let awoken = self.wake();
        if parts.last().is_some_and(|part| part.kind == PartKind::Expression) {
            self.last_expression = parts.last().and_then(|part| text.get(part.range.clone())).map(str::to_owned);
        }
        Ok(match shown {
            Some(shown) => self.show(&shown),
            None => self.show_declared(parts.last()),
        } + &awoken)
    }

    /// The type of an expression.
    pub fn type_of(&self, text: &str) -> Result<TypeInfo, Problem> {
        let prepared = self.prepare(text, INPUT)?;
        match prepared.info.shown {
            Some(shown) => Ok(shown.ty),
            None => Ok(TypeInfo { name: "void".into(), size: 0, kind: spmdvm::InfoKind::Void }),
        }
    }

    /// Compiles what was typed.
    pub fn prepare(&self, text: &str, label: &str) -> Result<Prepared, Problem> {
        self.compile(text, label, &self.options, true)
    }

    /// [`prepare`](Self::prepare) with other options of the same width, on the engine that they name.
    pub fn prepare_with(&self, text: &str, label: &str, options: &Options) -> Result<Prepared, Problem> {
        self.compile(text, label, options, false)
    }

    fn compile(&self, text: &str, label: &str, options: &Options, chooses: bool) -> Result<Prepared, Problem> {
        let mentioned = words(text);
        let mut composed = self.units.compose(&self.variables, &mentioned);
        composed.include_prompt(label, text);
        let reading = self.read(&composed, label, options)?;
        let (mut units, variables) = self.without_replaced(&reading, text);
        let compile = |units: &Units| {
            let mut composed = units.compose(&variables, &mentioned);
            composed.include_prompt(label, text);
            let engine = if chooses { engine_for(text, &composed, options.engine) } else { options.engine };
            let options = with_headers(&Options { engine, ..options.clone() }, &composed);
            Module::compile_prompt(&composed.text, label, &options)
        };
        let mut made = compile(&units);
        if made.as_ref().is_err_and(|error| error.diagnostics().iter().any(|d| d.code == Code::Redefinition)) {
            // The same parameters can be written in several ways.
            reading.parts.iter().for_each(|part| units.remove_functions(part));
            made = compile(&units).or(made);
        }
        let (module, info) = match made {
            Ok(made) => made,
            Err(error) => return Err(Problem::Failed(self.explain(&units, &variables, &error))),
        };
        let nameless = info.variables.iter().find(|variable| variable.declaration.is_none());
        if let Some(variable) = nameless {
            let text = format!(
                "error: the type of `{}` has no name, so that later inputs could not know it; give it one\n",
                variable.name
            );
            return Err(Problem::Failed(text));
        }
        Ok(Prepared { module, info, reading, state: (units, variables) })
    }

    pub(super) fn read(&self, composed: &Composition, label: &str, options: &Options) -> Result<Reading, Problem> {
        let options = with_headers(options, composed);
        Module::read_prompt(&composed.text, label, &options).map_err(|unread| match unread {
            Unread::Unfinished(error) => Problem::Unfinished(error.render(self.painter.color)),
            Unread::Wrong(error) => Problem::Failed(error.render(self.painter.color)),
        })
    }

    /// What was defined, without what the input defines anew.
    pub(super) fn without_replaced(&self, reading: &Reading, text: &str) -> (Units, Variables) {
        let (mut units, mut variables) = (self.units.clone(), self.variables.clone());
        for part in &reading.parts {
            match &part.kind {
                PartKind::Function(name, _) | PartKind::Template(name) => variables.remove(name),
                PartKind::Types(names) | PartKind::Variables(names) => names.iter().for_each(|name| {
                    units.remove(name);
                    variables.remove(name);
                }),
                _ => {}
            }
            if let PartKind::Function(name, parameters) = &part.kind {
                units.remove_overload(name, parameters);
            }
        }
        for range in &reading.directives {
            units.remove_directive(&directive_names(&text[range.clone()]));
        }
        (units, variables)
    }

    /// What is wrong, as a program that has everything that was defined would have it, so that names can be suggested.
    fn explain(&self, units: &Units, variables: &Variables, error: &CompileError) -> String {
        let has_undeclared = error.diagnostics().iter().any(|d| d.code == Code::UndefinedName && d.help.is_none());
        if !has_undeclared || error.stopped().is_some() {
            return error.render(self.painter.color);
        }
        let mut list: Vec<Diagnostic> = error.diagnostics().to_vec();
        for diagnostic in list.iter_mut().filter(|d| d.code == Code::UndefinedName && d.help.is_none()) {
            let name = error.sources().text(diagnostic.span()).to_owned();
            let names = units.iter().flat_map(|unit| &unit.names).map(String::as_str).chain(variables.names());
            let waiting = self.waiting.iter().find(|waiting| waiting.unit.names.contains(&name));
            if let Some(waiting) = waiting {
                let missing = waiting.missing.join("`, `");
                diagnostic.help = Some(format!("it waits for `{missing}` to be defined"));
            } else if let Some(close) = closest(&name, names) {
                diagnostic.help = Some(format!("did you mean `{close}`?"));
            }
        }
        render_list(&list, LeftOut::default(), error.sources(), self.painter.color)
    }

    /// Warnings about the input itself: those about earlier ones have been shown.
    fn warnings(&self, module: &Module, label: &str) -> String {
        let sources = module.sources();
        let is_own = |d: &&Diagnostic| sources.get(d.span().file).is_some_and(|file| file.name == label);
        let own: Vec<Diagnostic> = module.warnings().iter().filter(is_own).cloned().collect();
        render_list(&own, LeftOut::default(), sources, self.painter.color)
    }

    /// Runs a program; the values it leaves are in `prepared`.
    pub fn run(&self, prepared: &mut Prepared, sink: &Sink) -> Result<Option<Shown>, String> {
        let Prepared { module, info, state: (_, variables), .. } = prepared;
        if !module.exports().iter().any(|export| export.name == PROMPT_FUNCTION) {
            return Ok(None);
        }
        variables.write_to(module);
        // The function that the input becomes has no name that anybody has given.
        let own_name = format!(" in `{PROMPT_FUNCTION}`");
        let failed = |error| call_failure_text(error, self.painter.color).replace(&own_name, "");
        self.call(module, sink).map_err(failed)?;
        Ok(info.shown.as_ref().and_then(|shown| read_shown(module, shown)))
    }

    /// Calls the program of an input.
    pub fn call(&self, module: &Module, sink: &Sink) -> Result<Option<Value<'static>>, CallError> {
        let sink = sink.clone();
        let print = move |text: &str| match &sink {
            Sink::Stdout => {
                print!("{text}");
                let _ = std::io::stdout().flush();
            }
            Sink::Nowhere => {}
            Sink::Text(whole) => whole.lock().unwrap_or_else(PoisonError::into_inner).push_str(text),
        };
        Run::new(module).interrupt(interrupt_flag()).mask(self.mask).output(print).call(PROMPT_FUNCTION, &[])
    }

    /// Takes over what an input has defined and changed.
    fn commit(&mut self, prepared: Prepared, text: &str, label: &str) {
        let Prepared { module, info, reading, state: (mut units, mut variables) } = prepared;
        let origin = if label == INPUT { "" } else { label };
        for range in &reading.directives {
            let line = &text[range.clone()];
            let unit = Unit::new(UnitKind::Directive, directive_names(line), String::new(), blank(text, range));
            units.add(unit, origin);
        }
        for part in &reading.parts {
            if let PartKind::Variables(names) = &part.kind {
                declare(names, part, text, &info, &mut units, &mut variables, origin);
            } else if let Some(unit) = unit_of(part, text) {
                unit.names.iter().for_each(|name| variables.forget_statics(name));
                self.waiting.retain(|waiting| waiting.unit.names != unit.names);
                units.add(unit, origin);
            }
        }
        for variable in &info.variables {
            variables.set_type(&variable.name, &variable.ty);
        }
        if module.exports().iter().any(|export| export.name == PROMPT_FUNCTION) {
            variables.read_from(&module);
            self.last_module = Some(module);
        }
        (self.units, self.variables) = (units, variables);
    }

    /// A value as text.
    pub fn show(&self, shown: &Shown) -> String {
        match &shown.text {
            Some(text) => format!("{}\n", self.painter.typed(&shown.ty.name, &format!("{text:?}"))),
            None => self.painter.value(&shown.ty, &shown.value, self.gang()),
        }
    }

    /// The variables that the last part of an input has declared.
    fn show_declared(&self, last: Option<&Part>) -> String {
        let Some(Part { kind: PartKind::Variables(names), .. }) = last else { return String::new() };
        names.iter().map(|name| self.show_variable(name)).collect()
    }

    /// A variable with its value.
    pub fn show_variable(&self, name: &str) -> String {
        let Some(variable) = self.variables.get(name) else { return String::new() };
        match &variable.value {
            Some(value) => self.painter.variable(name, &variable.ty, value, self.gang()),
            None => format!("{name}: {}\n", variable.ty.name),
        }
    }

    /// The program of all functions that were defined.
    pub fn definitions(&self) -> Result<Module, String> {
        let composed = self.units.compose_all(&self.variables);
        let options = with_headers(&self.options, &composed);
        Module::compile_definitions(&composed.text, &options).map_err(|error| error.render(self.painter.color))
    }

    /// What is known of everything that was defined: types and heads of functions.
    pub fn whole_info(&self) -> PromptInfo {
        self.whole_info_checked().unwrap_or_default()
    }

    /// The same, or why not everything that was defined can be compiled.
    pub fn whole_info_checked(&self) -> Result<PromptInfo, String> {
        let composed = self.units.compose_all(&self.variables);
        let options = with_headers(&Options { engine: Engine::Interp, ..self.options.clone() }, &composed);
        let made = Module::compile_prompt(&composed.text, INPUT, &options);
        made.map(|(_, info)| info).map_err(|error| error.render(self.painter.color))
    }

    /// The input with a loop that was run last.
    pub fn last_loop(&self) -> Option<String> {
        self.log.iter().rev().find(|input| !input.starts_with(':') && has_loops(input)).cloned()
    }

    /// The lanes in which a condition holds.
    pub fn mask_of(&self, condition: &str) -> Result<u64, Problem> {
        let mut whole = self.clone();
        whole.mask = u64::MAX;
        let mut prepared = whole.prepare(&format!("(varying bool)({condition})"), INPUT)?;
        let shown = whole.run(&mut prepared, &Sink::Stdout).map_err(Problem::Failed)?;
        let lanes = shown.map_or(Vec::new(), |shown| shown.value.bytes);
        Ok(lanes.iter().enumerate().fold(0, |mask, (lane, &on)| mask | u64::from(on != 0) << lane))
    }

    /// Declares a variable that has its value already.
    pub fn declare(&mut self, name: &str, variable: Variable) -> Result<(), Problem> {
        let mut changed = self.clone();
        changed.units.remove(name);
        changed.variables.insert(name, variable);
        // It may be no name, or one that functions use for something else.
        let mentioned = HashSet::from([name.to_owned()]);
        let composed = changed.units.compose(&changed.variables, &mentioned);
        let options = with_headers(&Options { engine: Engine::Interp, ..self.options.clone() }, &composed);
        Module::compile_prompt(&composed.text, INPUT, &options)
            .map_err(|error| Problem::Failed(error.render(self.painter.color)))?;
        *self = changed;
        Ok(())
    }

    /// Returns whether a text ends in the middle of something.
    pub fn is_unfinished(&self, text: &str) -> bool {
        let mut composed = self.units.compose(&self.variables, &words(text));
        composed.include_prompt(INPUT, text);
        matches!(self.read(&composed, INPUT, &self.options), Err(Problem::Unfinished(_)))
    }

    /// Reads definitions, or a session that was saved, from the text of a file.
    pub fn load(&mut self, path: &Path, text: &str) -> Answer {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        if !self.options.include_paths.contains(&folder) {
            self.options.include_paths.push(folder);
        }
        self.eval_as(text, &path.display().to_string())
    }
}

impl Prepared {
    /// Gives the program the values of the variables.
    pub fn write_values(&self) {
        self.state.1.write_to(&self.module);
    }
}

/// The value that a program has left to be shown.
fn read_shown(module: &Module, shown: &spmdvm::ShownInfo) -> Option<Shown> {
    let ty = &shown.ty;
    let mut bytes = module.read_state(&shown.global)?;
    if shown.by_address {
        let address = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        bytes = module.read_memory(address, ty.size as usize)?;
    }
    let value = Stored::of(bytes, ty, module);
    let text = match value.pointers.as_slice() {
        [(0, Target::Variable(name, offset))] if name.starts_with("string.") => {
            let bytes = module.read_state(name)?;
            let rest = bytes.get(*offset as usize..).unwrap_or_default();
            let end = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        }
        _ => None,
    };
    Some(Shown { ty: ty.clone(), value, text })
}

/// Options with the headers of a program.
pub fn with_headers(options: &Options, composed: &Composition) -> Options {
    let mut options = options.clone();
    options.headers.extend(composed.headers.iter().cloned());
    options.interrupt = Some(interrupt_flag());
    options
}

/// The engine for an input: what has no loop and calls nothing is done before another one has started.
fn engine_for(text: &str, composed: &Composition, engine: Engine) -> Engine {
    let is_short = !composed.has_functions && !has_loops(text);
    if engine == Engine::Auto && is_short { Engine::Interp } else { engine }
}
