//! One function on its way into C: its variables, and where statements go.
//!
//! Each operation becomes a statement that sets a fresh variable, so that the order of evaluation is that of the language, whatever C
//! leaves open. The code is either *lane code*, in which every value is that of the one lane that runs (`lane`), or *gang code*,
//! which runs once; there a varying variable is an array over the lanes, and what is done with it is a loop of lane code.

use super::layout;
use super::unit::{Made, Refusal, Unit, refuse};
use spmdvm::frontend::hir::{Function, LocalId, Module, Stmt, TypeId};
use spmdvm::frontend::source::Span;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The forms of functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// For one lane.
    Lane,
    /// For the gang, all lanes on.
    Gang,
}

/// Where a local variable lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// In lane code: a variable of that lane alone, declared at a depth of divergence.
    Own(u32),
    /// In gang code: one for the gang.
    Gang,
    /// In gang code: one for each lane.
    Lanes,
}

/// What leaves to where.
#[derive(Clone, Copy, Default)]
pub struct Exits {
    /// The label behind the innermost loop or `switch`; with what holds for leaving.
    pub on_break: Option<Exit>,
    /// The label at the end of a turn of the innermost loop.
    pub on_continue: Option<Exit>,
}

/// A label to leave to.
#[derive(Clone, Copy)]
pub struct Exit {
    /// Its number.
    pub label: u32,
    /// Whether it lies in lane code.
    pub in_lanes: bool,
    /// Whether the lane takes no part in further turns of a `foreach` (that loop's number).
    pub ends_part: bool,
}

/// A function on its way.
pub struct Body<'u, 'm> {
    /// The program.
    pub unit: &'u mut Unit<'m>,
    /// What is translated.
    pub module: &'m Module,
    /// The function.
    pub function: &'m Function,
    /// Its form.
    pub mode: Mode,
    /// Whether this is lane code.
    pub in_lanes: bool,
    /// Whether lanes run one by one in the program too, so that nothing can come between them.
    pub is_serial: bool,
    /// Why the lane's number is not known, if it is not.
    pub no_lane: Option<&'static str>,
    /// How many conditions that differ between lanes are around.
    pub divergence: u32,
    /// Where `break` and `continue` lead.
    pub exits: Exits,
    /// The label at which a lane has returned, in gang code that leaves returning to lane code.
    pub returned: Option<u32>,
    /// The statements so far.
    pub code: String,
    homes: Vec<Option<Home>>,
    /// The declarations of variables at the function's beginning.
    declared: BTreeMap<String, String>,
    next: u32,
}

/// What is restored when something else is tried.
pub struct Mark {
    code: usize,
    homes: Vec<Option<Home>>,
    declared: BTreeMap<String, String>,
    exits: Exits,
    state: (bool, bool, Option<&'static str>, u32, Option<u32>),
}

impl<'u, 'm> Body<'u, 'm> {
    /// A function before its first statement.
    pub fn new(unit: &'u mut Unit<'m>, function: &'m Function, mode: Mode) -> Made<Body<'u, 'm>> {
        let module = unit.module;
        if function.flags.is_import || function.body.is_none() {
            return refuse(format!("`{}`, which is defined elsewhere", function.name.as_str()), function.head_span);
        }
        Ok(Body {
            unit,
            module,
            function,
            mode,
            in_lanes: mode == Mode::Lane,
            is_serial: false,
            no_lane: None,
            divergence: 0,
            exits: Exits::default(),
            returned: None,
            code: String::new(),
            homes: vec![None; function.locals.len()],
            declared: BTreeMap::new(),
            next: 0,
        })
    }

    /// The head of the function, and what stands in its braces.
    pub fn function(mut self, name: &str) -> Made<(String, String)> {
        let function = self.function;
        let head = self.head(name)?;
        let body = function.body.as_deref().unwrap_or_default();
        match self.mode {
            Mode::Lane => self.lane_function(body)?,
            Mode::Gang => self.gang_function(body)?,
        }
        let mut text = String::new();
        for declaration in self.declared.values() {
            let _ = writeln!(text, "    {declaration}");
        }
        Ok((head, text + &self.code))
    }

    fn lane_function(&mut self, body: &'m [Stmt]) -> Made<()> {
        if self.function.flags.unmasked || self.function.flags.task {
            return refuse("a function with all lanes on, called by single lanes", self.function.head_span);
        }
        for &param in &self.function.params {
            self.homes[param.0 as usize] = Some(Home::Own(0));
        }
        self.stmts(body)?;
        if self.result_is_value() {
            let ty = self.c_type(self.function.result, self.function.head_span)?;
            let zero = self.zero_of(&ty);
            self.line(format!("return {zero};"));
        }
        Ok(())
    }

    /// The parameters in C, and the function's name in front.
    fn head(&mut self, name: &str) -> Made<String> {
        let function = self.function;
        let result = self.c_type(function.result, function.head_span)?;
        let mut params = Vec::new();
        if self.mode == Mode::Lane {
            params.push("int lane".to_owned());
        }
        let by_lanes = self.mode == Mode::Gang && self.is_varying(function.result);
        if by_lanes {
            params.push(format!("{result} *result"));
        }
        for &param in &function.params {
            let ty = self.c_type(self.local_type(param), function.head_span)?;
            let by_lanes = self.mode == Mode::Gang && self.is_varying(self.local_type(param));
            // Parameters of the gang are copied to where variables live.
            let (star, prefix) =
                (if by_lanes { "const *" } else { "" }, if self.mode == Mode::Gang { "p" } else { "v" });
            params.push(format!("{ty} {star}{prefix}{}", param.0));
        }
        let result = if by_lanes { "void" } else { &result };
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        Ok(format!("static {result} {name}({params})"))
    }

    /// Whether it gives a value by `return`.
    pub fn result_is_value(&self) -> bool {
        let is_void = layout::c_type(self.module, self.function.result) == "void";
        !(is_void || self.mode == Mode::Gang && self.is_varying(self.function.result))
    }

    // Text.

    /// Appends a statement.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.code += "    ";
        self.code += text.as_ref();
        self.code.push('\n');
    }

    /// A fresh number.
    pub fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Takes all but the first of so many numbers in a row.
    pub fn skip_numbers(&mut self, n: usize) {
        self.next += n.saturating_sub(1) as u32;
    }

    /// A fresh variable that is set.
    pub fn temp(&mut self, ty: &str, value: impl AsRef<str>) -> String {
        let name = format!("t{}", self.number());
        self.line(format!("{ty} {name} = {};", value.as_ref()));
        name
    }

    /// A fresh variable with a value for each lane, which lane code is to set.
    pub fn lanes_temp(&mut self, ty: &str) -> String {
        let (name, lanes) = (format!("t{}", self.number()), self.unit.lanes());
        self.line(format!("{ty} {name}[{lanes}];"));
        name
    }

    /// Zero of a type.
    pub fn zero_of(&self, ty: &str) -> String {
        if ty.starts_with('B') { format!("({ty}){{{{0}}}}") } else { "0".to_owned() }
    }

    /// Declares something at the beginning of the function.
    pub fn declare(&mut self, name: &str, declaration: String) {
        self.declared.insert(name.to_owned(), declaration);
    }

    /// What is to be restored if something cannot be done.
    pub fn mark(&self) -> Mark {
        Mark {
            code: self.code.len(),
            homes: self.homes.clone(),
            declared: self.declared.clone(),
            exits: self.exits,
            state: (self.in_lanes, self.is_serial, self.no_lane, self.divergence, self.returned),
        }
    }

    /// Goes back to a mark.
    pub fn reset(&mut self, mark: Mark) {
        self.code.truncate(mark.code);
        (self.homes, self.declared, self.exits) = (mark.homes, mark.declared, mark.exits);
        (self.in_lanes, self.is_serial, self.no_lane, self.divergence, self.returned) = mark.state;
    }

    /// Does something, or nothing at all.
    pub fn attempt<T>(&mut self, act: impl FnOnce(&mut Self) -> Made<T>) -> Made<T> {
        let mark = self.mark();
        let made = act(self);
        if made.is_err() {
            self.reset(mark);
        }
        made
    }

    /// The first way that can be gone; if none can, why the first cannot.
    pub fn either<T>(
        &mut self,
        first: impl FnOnce(&mut Self) -> Made<T>,
        second: impl FnOnce(&mut Self) -> Made<T>,
    ) -> Made<T> {
        self.attempt(first).or_else(|why: Refusal| self.attempt(second).map_err(|_| why))
    }

    // Types and variables.

    /// The type in C of one lane's value.
    pub fn c_type(&mut self, ty: TypeId, span: Span) -> Made<String> {
        self.unit.c_type(ty, span)
    }

    /// Whether a type has one value per lane.
    pub fn is_varying(&self, ty: TypeId) -> bool {
        self.module.types.is_varying(ty)
    }

    /// The type of a local variable.
    pub fn local_type(&self, local: LocalId) -> TypeId {
        self.function.locals[local.0 as usize].ty
    }

    /// Whether a local variable lives in memory that is watched.
    pub fn has_address(&self, local: LocalId) -> bool {
        self.function.locals[local.0 as usize].needs_memory
    }

    /// Where a local lives.
    pub fn home(&self, local: LocalId) -> Option<Home> {
        self.homes[local.0 as usize]
    }

    /// Lets a local begin to live where the code is now; gives its home.
    pub fn settle(&mut self, local: LocalId, span: Span) -> Made<Home> {
        let (ty, lanes) = (self.local_type(local), self.unit.lanes());
        let (c_type, n) = (self.c_type(ty, span)?, local.0);
        let (home, name, declaration) = if self.in_lanes {
            (Home::Own(self.divergence), format!("v{n}"), format!("{c_type} v{n};"))
        } else if self.is_varying(ty) {
            let declaration = match self.has_address(local) {
                true => format!("{c_type} *g{n} = take_room(sizeof({c_type}) * {lanes});"),
                false => format!("{c_type} g{n}[{lanes}];"),
            };
            (Home::Lanes, format!("g{n}"), declaration)
        } else {
            let declaration = match self.has_address(local) {
                true => format!("{c_type} *m{n} = take_room(sizeof({c_type}));"),
                false => format!("{c_type} w{n};"),
            };
            (Home::Gang, format!("m{n}"), declaration)
        };
        self.homes[n as usize] = Some(home);
        self.declare(&name, declaration);
        Ok(home)
    }

    /// A local variable as C names it.
    pub fn variable(&mut self, local: LocalId, span: Span) -> Made<String> {
        let n = local.0;
        match self.home(local) {
            Some(Home::Own(_)) => Ok(format!("v{n}")),
            Some(Home::Gang) if self.has_address(local) => Ok(format!("(*m{n})")),
            Some(Home::Gang) => Ok(format!("w{n}")),
            Some(Home::Lanes) if self.in_lanes => Ok(format!("g{n}[{}]", self.lane(span)?)),
            Some(Home::Lanes) => refuse("a varying value where one for the gang is wanted", span),
            None => refuse("a variable whose declaration is jumped over", span),
        }
    }

    /// The number of the lane.
    pub fn lane(&self, span: Span) -> Made<&'static str> {
        match self.no_lane {
            None => Ok("lane"),
            Some(why) => refuse(why, span),
        }
    }
}
