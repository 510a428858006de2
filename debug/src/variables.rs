//! What the variables of the source hold at a position: those in registers, and those in memory.

use crate::lines::Lines;
use serde::Serialize;
use spmdvm::vm::program::{Home, Variable as InMemory};
use spmdvm::vm::sem::OFFSET_BITS;
use spmdvm::vm::{Function, Reg, View};
use spmdvm::{Export, HostType, HostValue, Shape, Ty};
use spmdvm_oracle::number::{Number, shown};
use std::sync::Arc;

/// A variable that can be seen at a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name in the source.
    pub name: Arc<str>,
    /// What it is.
    pub origin: Origin,
    /// Where it is.
    pub place: Storage,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Origin {
    /// A parameter of the function.
    Parameter,
    /// A variable of the function.
    Local,
    /// A variable outside functions.
    Global,
}

/// Where a variable is.
#[derive(Clone, Debug, PartialEq)]
pub enum Storage {
    /// In a register of the executing call.
    Register(Reg),
    /// In memory, from this address on.
    Memory {
        /// Its first byte.
        address: u64,
        /// Its type, if it is known.
        layout: Option<HostType>,
        /// Whether it may be one value per lane: lanes are the innermost array then.
        varying: bool,
    },
    /// It is an address, in a register, of elements.
    Pointer {
        /// The register.
        reg: Reg,
        /// The element.
        elem: HostType,
    },
}

/// The values of a register, or of one value in memory per lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lanes {
    /// The element type, as the source of the bytecode has it.
    #[serde(serialize_with = "type_name")]
    pub ty: Ty,
    /// Whether it is one value for all lanes.
    pub is_uniform: bool,
    /// The bits of each lane; one word if it is uniform.
    pub words: Vec<u64>,
}

fn type_name<S: serde::Serializer>(ty: &Ty, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(ty.name())
}

impl Lanes {
    /// The bits of a lane.
    pub fn word(&self, lane: usize) -> u64 {
        self.words.get(if self.is_uniform { 0 } else { lane }).copied().unwrap_or(0)
    }

    /// A lane as text.
    pub fn text(&self, lane: usize) -> String {
        shown(Number(self.ty, self.word(lane)))
    }

    /// The lanes in which two values differ; of two uniform ones, all or none.
    pub fn differing(&self, other: &Lanes, n_lanes: usize) -> u64 {
        (0..n_lanes).fold(0, |mask, l| mask | ((self.word(l) != other.word(l)) as u64) << l)
    }
}

/// The value of a register.
pub fn register(view: &View<'_>, reg: Reg) -> Lanes {
    let values = view.register(reg);
    Lanes { ty: values.ty, is_uniform: values.shape == Shape::Uniform, words: values.words }
}

/// The variables that can be seen: parameters, locals that hold something, and globals if wanted. `export` is what the host
/// called.
pub fn visible(view: &View<'_>, export: &Export, lines: &Lines, globals: bool) -> Vec<Variable> {
    let mut seen = in_registers(view, export, lines, None);
    seen.extend(in_frame(view, lines));
    if globals {
        seen.extend(in_globals(view));
    }
    seen
}

/// The variable of this name that the source means: a local before a global.
pub fn named(view: &View<'_>, export: &Export, lines: &Lines, name: &str) -> Option<Variable> {
    let is_meant = |variable: &Variable| &*variable.name == name;
    let local = in_registers(view, export, lines, Some(name)).pop();
    local.or_else(|| in_frame(view, lines).into_iter().chain(in_globals(view)).find(is_meant))
}

/// Those in registers; if a name is given, that one.
fn in_registers(view: &View<'_>, export: &Export, lines: &Lines, only: Option<&str>) -> Vec<Variable> {
    let function = view.function();
    let mut seen: Vec<(u32, Variable)> = Vec::new();
    let named = function
        .regs
        .iter()
        .enumerate()
        .filter_map(|(at, decl)| Some((Reg(at as u32), lines.variable_name(decl.name.as_ref()?)?)));
    for (reg, name) in named.filter(|(_, name)| only.is_none_or(|only| only == &**name)) {
        let Some(since) = declared_at(function, reg).filter(|_| lines.is_assigned(view, reg)) else { continue };
        let origin = if reg.0 < function.n_params { Origin::Parameter } else { Origin::Local };
        let is_entry = view.function_id() == export.function && origin == Origin::Parameter;
        let param = export.params.get(reg.index()).filter(|_| is_entry);
        let place = match param.map(|param| &param.value) {
            Some(HostValue::Array { elem, .. }) => Storage::Pointer { reg, elem: elem.clone() },
            _ => Storage::Register(reg),
        };
        let variable = Variable { name, origin, place };
        // Of several variables of a name, that of the innermost block is declared last.
        match seen.iter_mut().find(|(_, other)| other.name == variable.name) {
            Some(other) if other.0 <= since => *other = (since, variable),
            Some(_) => {}
            None => seen.push((since, variable)),
        }
    }
    seen.into_iter().map(|(_, variable)| variable).collect()
}

/// The instruction from which on a register holds its variable; `None` for constants.
fn declared_at(function: &Function, reg: Reg) -> Option<u32> {
    if reg.0 < function.n_params {
        return Some(0);
    }
    let writes = |inst: &spmdvm::vm::Inst| inst.dst == reg || function.list(inst.rets).contains(&reg);
    function.code.iter().position(writes).map(|at| at as u32 + 1)
}

fn in_frame(view: &View<'_>, lines: &Lines) -> Vec<Variable> {
    let Some(frame) = view.frame() else { return Vec::new() };
    let home = Home::Frame(view.function_id());
    let own = view.program().variables.iter().filter(|variable| variable.home == home);
    let seen = own.filter_map(|variable| {
        let name = lines.variable_name(&variable.name.as_str().into())?;
        Some(Variable { name, ..in_memory(variable, frame + variable.offset, Origin::Local) })
    });
    seen.collect()
}

fn in_globals(view: &View<'_>) -> Vec<Variable> {
    let own = view.program().globals.iter().enumerate();
    let seen = own.filter_map(|(id, global)| {
        let layout = global.host.as_ref()?.layout.clone();
        let address = (id as u64 + 1) << OFFSET_BITS;
        // What hosts see does not tell lanes from elements.
        let place = Storage::Memory { address, layout: Some(layout), varying: true };
        Some(Variable { name: global.name.as_str().into(), origin: Origin::Global, place })
    });
    seen.collect()
}

fn in_memory(variable: &InMemory, address: u64, origin: Origin) -> Variable {
    let layout = variable.layout.clone();
    let place = Storage::Memory { address, layout, varying: variable.varying };
    Variable { name: variable.name.as_str().into(), origin, place }
}

/// Bytes of memory; `None` if they are not to be read.
pub fn bytes(view: &View<'_>, address: u64, n: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; n];
    view.memory().read_bytes(address, &mut bytes).then_some(bytes)
}

/// How many elements of a size follow an address in its array, and the name of that.
pub fn extent(view: &View<'_>, address: u64, size: u64) -> Option<u64> {
    let pointee = view.memory().pointee(address)?;
    Some(pointee.bytes / size.max(1))
}

/// An element in memory as a word.
pub fn word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, &b| word << 8 | b as u64)
}
