//! Why a lane has a value: the instructions that made it, those that made what they read, and the branches that led to
//! them. That is a dynamic slice of the run, found by going backwards.

mod control;
mod render;
mod sources;

pub use render::render;
pub use sources::Key;

use crate::lines::LinePlace;
use crate::recording::{Failure, Found, Probe};
use crate::session::Session;
use crate::translation::Translation;
use crate::variables::{bytes, word};
use control::Control;
use sources::{makes, sources};
use spmdvm::Shape;
use spmdvm::vm::{FuncId, Op, Reg, View, asm};
use spmdvm_oracle::number::{Number, shown};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// How an instruction came to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It made a value that was read.
    Made,
    /// It decided, with others, that the other one was executed.
    Decided,
    /// The value was there from the start.
    Given,
}

/// An instruction of the slice, or a value that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// How it came to count for the first that it is a cause of.
    pub role: Role,
    /// The position at which it is executed.
    pub position: u64,
    /// Its line.
    pub place: Option<LinePlace>,
    /// The instruction, with names of variables, or what was given.
    pub text: String,
    /// Whether it only copies what one of its causes has made.
    pub copies: bool,
    /// What it made, in the lane that counts; of a branch, its condition.
    pub value: String,
    /// The lane that counts; `None`: it is one value for all.
    pub lane: Option<usize>,
    /// The lanes that were active.
    pub mask: u64,
    /// Its own causes, by index.
    pub causes: Vec<usize>,
}

/// The answer: causes, the first one last in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// All causes.
    pub causes: Vec<Cause>,
    /// Those of the value itself.
    pub roots: Vec<usize>,
    /// Whether there are more, which were not looked for.
    pub is_cut: bool,
}

/// Something whose origin is looked for.
struct Wanted {
    what: What,
    /// Which cause wants it; `None`: it is what was asked for.
    by: Option<usize>,
    /// What it is, as a value.
    value: String,
    lane: Option<usize>,
}

enum What {
    Value(Key),
    /// One of these branches, in the call with so many calls around it.
    Decision {
        depth: usize,
        branches: Rc<[u32]>,
    },
}

impl What {
    /// The number of calls around the call that it belongs to.
    fn depth(&self) -> Option<usize> {
        match *self {
            What::Value(Key::Register { depth, .. }) | What::Decision { depth, .. } => Some(depth),
            What::Value(Key::Memory { .. }) => None,
        }
    }
}

/// Looks for instructions that made what is wanted, or began the call in which it is.
struct Makers<'w>(&'w [Wanted]);

impl Probe for Makers<'_> {
    fn arrived(&mut self, view: &View<'_>, _: u64) -> bool {
        self.0.iter().any(|wanted| is_origin(view, &wanted.what) || begins(view, &wanted.what))
    }
}

fn is_origin(view: &View<'_>, what: &What) -> bool {
    match what {
        What::Value(key) => makes(view, key),
        What::Decision { depth, branches } => view.depth() == *depth && branches.contains(&view.pc()),
    }
}

/// Whether the instruction calls the function in which something is wanted, or is the first one of a task.
fn begins(view: &View<'_>, what: &What) -> bool {
    let Some(depth) = what.depth() else { return false };
    let calls = matches!(view.inst().op, Op::Call | Op::CallInd) && view.depth() + 1 == depth;
    calls || view.depth() == depth && view.pc() == 0 && view.task().is_some()
}

/// The causes of a value at the position where the session is, at most so many.
pub fn why(session: &mut Session<'_>, key: Key, most: usize) -> Result<Slice, Failure> {
    let here = session.recording.position();
    let mut search = Search {
        slice: Slice::default(),
        wanted: Vec::new(),
        control: HashMap::new(),
        at: HashMap::new(),
        translation: session.lines.translation().cloned(),
    };
    if let Some(view) = session.view() {
        search.want_value(&view, key, None);
    }
    let found = search.run(session, most);
    session.recording.go_to(here)?;
    found.map(|()| search.slice)
}

struct Search {
    slice: Slice,
    wanted: Vec<Wanted>,
    control: HashMap<FuncId, Control>,
    /// The causes so far, by position and lane.
    at: HashMap<(u64, Option<usize>), usize>,
    translation: Option<Arc<Translation>>,
}

impl Search {
    fn run(&mut self, session: &mut Session<'_>, most: usize) -> Result<(), Failure> {
        while !self.wanted.is_empty() {
            if self.slice.causes.len() >= most {
                self.slice.is_cut = true;
                break;
            }
            let found = session.recording.backward(&mut Makers(&self.wanted))?;
            let position = session.recording.position();
            let Some(view) = session.recording.view() else { break };
            if found == Found::No {
                self.given(&view);
                break;
            }
            let place = session.lines.place(view.function_id(), view.pc());
            self.visit(&view, position, place);
        }
        Ok(())
    }

    /// Everything that the instruction is the origin of gets it as its cause.
    fn visit(&mut self, view: &View<'_>, position: u64, place: Option<LinePlace>) {
        let all = std::mem::take(&mut self.wanted);
        let (made, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|wanted| is_origin(view, &wanted.what));
        let (begun, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|wanted| begins(view, &wanted.what));
        self.wanted = others;
        for wanted in made {
            if let (What::Value(key @ Key::Register { .. }), Op::Ret) = (&wanted.what, view.inst().op) {
                // What is returned has been made elsewhere.
                sources(view, key).into_iter().for_each(|key| self.want_value(view, key, wanted.by));
                continue;
            }
            let (is_new, cause) = self.cause(view, position, place, &wanted);
            self.link(wanted.by, cause);
            if !is_new {
                continue;
            }
            match &wanted.what {
                What::Value(key) => {
                    sources(view, key).into_iter().for_each(|key| self.want_value(view, key, Some(cause)));
                    // Temporary values are made where they are needed: what decided that, decided this.
                    if is_kept(view, key) {
                        self.want_decision(view, Some(cause), wanted.lane);
                    }
                }
                What::Decision { .. } => {
                    if let Some(condition) = condition(view) {
                        let uniform = view.function().reg(condition).shape == Shape::Uniform;
                        let lane = if uniform { 0 } else { wanted.lane.unwrap_or(0) };
                        let key = Key::Register { depth: view.depth(), reg: condition, lane };
                        self.want_value(view, key, Some(cause));
                    }
                    self.want_decision(view, Some(cause), wanted.lane);
                }
            }
        }
        for wanted in begun {
            self.begun(view, position, place, wanted);
        }
    }

    /// A call begins: parameters come from the caller, and what decided about the call decided about all within.
    fn begun(&mut self, view: &View<'_>, position: u64, place: Option<LinePlace>, wanted: Wanted) {
        let is_task = view.task().is_some() && view.pc() == 0 && wanted.what.depth() == Some(view.depth());
        match (&wanted.what, is_task) {
            (What::Value(Key::Register { reg, lane, .. }), false) => {
                let args = view.function().list(view.inst().args);
                if let Some(&arg) = args.get(reg.index()) {
                    let lane = if view.function().reg(arg).shape == Shape::Uniform { 0 } else { *lane };
                    let key = Key::Register { depth: view.depth(), reg: arg, lane };
                    self.want_value(view, key, wanted.by);
                }
            }
            (What::Value(Key::Register { reg, .. }), true) => {
                let name = view.function().reg(*reg).name.clone().map_or("a value".into(), |name| self.shown(name));
                let text = format!("{name} of task {}", view.task().unwrap_or(0));
                self.leaf(text, &wanted, position, place, view.mask());
            }
            (What::Decision { .. }, false) => self.want_decision(view, wanted.by, wanted.lane),
            _ => {}
        }
    }

    /// What nobody has made was there at the start.
    fn given(&mut self, view: &View<'_>) {
        for wanted in std::mem::take(&mut self.wanted) {
            let text = match &wanted.what {
                What::Value(Key::Register { reg, .. }) if reg.0 < view.function().n_params => {
                    let name =
                        view.function().reg(*reg).name.clone().map_or("a parameter".into(), |name| self.shown(name));
                    format!("{name}, a parameter")
                }
                What::Value(Key::Memory { address, bytes: n, .. }) => match element(view, *address, *n) {
                    Some(place) => format!("{place}, as it was at the start"),
                    None => "memory in which nothing was stored".to_owned(),
                },
                _ => continue,
            };
            self.leaf(text, &wanted, 0, None, view.mask());
        }
    }

    /// What the user calls a variable.
    fn shown(&self, name: Arc<str>) -> Arc<str> {
        let written = self.translation.as_ref().and_then(|from| from.variable(&name));
        written.unwrap_or(name)
    }

    fn leaf(&mut self, text: String, wanted: &Wanted, position: u64, place: Option<LinePlace>, mask: u64) {
        let (value, lane) = (wanted.value.clone(), wanted.lane);
        let cause =
            Cause { role: Role::Given, position, place, text, copies: false, value, lane, mask, causes: Vec::new() };
        self.slice.causes.push(cause);
        self.link(wanted.by, self.slice.causes.len() - 1);
    }

    /// The cause that the instruction is, and whether it is a new one.
    fn cause(&mut self, view: &View<'_>, position: u64, place: Option<LinePlace>, wanted: &Wanted) -> (bool, usize) {
        let decided = matches!(wanted.what, What::Decision { .. });
        // A uniform condition decides for all lanes.
        let is_shared = decided && condition(view).is_some_and(|reg| view.function().reg(reg).shape == Shape::Uniform);
        let lane = wanted.lane.filter(|_| !is_shared);
        if let Some(&known) = self.at.get(&(position, lane)) {
            return (false, known);
        }
        let (role, value) = match decided {
            true => (Role::Decided, decision(view, wanted.lane)),
            false => (Role::Made, wanted.value.clone()),
        };
        let cause = Cause {
            role,
            position,
            place,
            text: if view.inst().op == Op::Iota {
                "programIndex".into()
            } else {
                text(view, self.translation.as_deref())
            },
            copies: matches!(view.inst().op, Op::Assign | Op::Mov | Op::Store | Op::StoreLane),
            value,
            lane,
            mask: view.mask(),
            causes: Vec::new(),
        };
        self.slice.causes.push(cause);
        let index = self.slice.causes.len() - 1;
        self.at.insert((position, lane), index);
        (true, index)
    }

    fn link(&mut self, by: Option<usize>, cause: usize) {
        let causes = match by {
            Some(by) => &mut self.slice.causes[by].causes,
            None => &mut self.slice.roots,
        };
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }

    /// Looks for who made a value, unless it is a constant.
    fn want_value(&mut self, view: &View<'_>, key: Key, by: Option<usize>) {
        let (value, lane) = match key {
            Key::Register { reg, lane, depth } => {
                let own = view.depth() == depth;
                let decl = view.function().reg(reg);
                if own && view.function().constant_bits(reg).is_some() {
                    return;
                }
                let value = shown(Number(decl.ty, view.lane(reg, lane)));
                (value, (decl.shape == Shape::Varying).then_some(lane))
            }
            Key::Memory { address, bytes: n, ty } => {
                let bits = bytes(view, address, n as usize).map(|bytes| word(&bytes));
                let lane = by.and_then(|by| self.slice.causes[by].lane);
                (bits.map_or(String::new(), |bits| shown(Number(ty, bits))), lane)
            }
        };
        self.wanted.push(Wanted { what: What::Value(key), by, value, lane });
    }

    /// Looks for what decided that the instruction is executed.
    fn want_decision(&mut self, view: &View<'_>, by: Option<usize>, lane: Option<usize>) {
        let control = self.control.entry(view.function_id()).or_insert_with(|| Control::new(view.function()));
        let branches: Rc<[u32]> = control.of(&view.function().code, view.pc()).into();
        // What is done once for all lanes is done if one of them is active.
        let lane = lane.or_else(|| (view.mask() != 0).then(|| view.mask().trailing_zeros() as usize));
        // Without one, the call decides.
        self.wanted.push(Wanted {
            what: What::Decision { depth: view.depth(), branches },
            by,
            value: String::new(),
            lane,
        });
    }
}

/// Whether a value stays: a variable's, or one in memory.
fn is_kept(view: &View<'_>, key: &Key) -> bool {
    match key {
        Key::Register { .. } => !view.inst().dst.is_none() && view.function().reg(view.inst().dst).name.is_some(),
        Key::Memory { .. } => true,
    }
}

/// The register by which an instruction decides.
fn condition(view: &View<'_>) -> Option<Reg> {
    Some(view.inst().src[0]).filter(|reg| !reg.is_none())
}

/// What a branch decided: its condition, in the lane that counts.
fn decision(view: &View<'_>, lane: Option<usize>) -> String {
    let Some(reg) = condition(view) else { return String::new() };
    let decl = view.function().reg(reg);
    let lane = if decl.shape == Shape::Uniform { 0 } else { lane.unwrap_or(0) };
    shown(Number(decl.ty, view.lane(reg, lane)))
}

/// The instruction with names of variables and constants in place of registers.
fn text(view: &View<'_>, translation: Option<&Translation>) -> String {
    let function = view.function();
    let plain = asm::format_inst(view.program(), function, view.pc() as usize);
    let mut text = String::new();
    let mut rest = plain.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        text += &rest[..start];
        let end = rest[start..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let end = end.map_or(rest.len(), |end| start + end);
        text += &named(view, translation, &rest[start..end]).unwrap_or_else(|| rest[start..end].to_owned());
        rest = &rest[end..];
    }
    text + rest
}

/// What the source calls a register.
fn named(view: &View<'_>, translation: Option<&Translation>, name: &str) -> Option<String> {
    let number = name.strip_prefix(['u', 'v'])?.parse::<u32>().ok()?;
    let decl = view.function().regs.get(number as usize)?;
    if let Some(name) = &decl.name {
        let written = translation.and_then(|from| from.variable(name));
        return Some(written.as_ref().unwrap_or(name).to_string());
    }
    view.function().constant_bits(Reg(number)).map(|bits| shown(Number(decl.ty, bits)))
}

/// What the source calls an element in memory.
fn element(view: &View<'_>, address: u64, n: u64) -> Option<String> {
    let offset = spmdvm::vm::memory::offset_of(address);
    let access = spmdvm::vm::trap::Access::Read;
    let accessed = spmdvm::vm::Accessed { lane: None, access, base: address, offset, bytes: n };
    view.place(&accessed)?;
    Some(crate::writes::place(view, &accessed))
}
