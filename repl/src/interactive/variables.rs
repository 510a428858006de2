//! The variables of a session: their types, and their values between inputs.
//!
//! Each input is a program of its own, so an address means something to it only. What a variable keeps of a pointer is
//! the variable (or function) that it points to.

use super::units::words;
use spmdvm::{InfoKind, Module, TypeInfo, TypeShape};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A pointer to memory that was there in an earlier input only: any access to it traps.
pub const GONE: u64 = ((1 << 24) - 1) << 40;

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its declaration, without semicolon.
    pub declaration: String,
    /// Its type.
    pub ty: TypeInfo,
    /// Whether it is only declared, and the host has the memory.
    pub is_extern: bool,
    /// Its value; `None` if it has none. Sessions are copied often, and arrays may be large.
    pub value: Option<Arc<Stored>>,
    words: Vec<String>,
}

/// A value between inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Its bytes, with zeros for pointers that lead to variables.
    pub bytes: Vec<u8>,
    /// Where there are such, and what they point to.
    pub pointers: Vec<(usize, Target)>,
}

/// What a pointer that is kept points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A byte of a variable.
    Variable(String, i64),
    /// A function.
    Function(String),
}

/// All variables, and what functions keep in `static` ones.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    variables: BTreeMap<String, Variable>,
    order: Vec<String>,
    statics: BTreeMap<String, Vec<u8>>,
}

impl Variable {
    /// A variable with no value.
    pub fn new(declaration: String, ty: TypeInfo, is_extern: bool) -> Variable {
        let mut mentioned: Vec<String> = words(&declaration).into_iter().collect();
        mentioned.sort_unstable();
        Variable { declaration, ty, is_extern, value: None, words: mentioned }
    }

    /// Returns whether it is a pointer that leads to a function.
    pub fn points_to_function(&self) -> bool {
        self.declared() != self.declaration
    }

    /// Its declaration in a program: with the function that it points to, which the program would not have else.
    pub fn declared(&self) -> String {
        let target = self.value.iter().flat_map(|value| &value.pointers).next();
        match (&self.ty.kind, target) {
            (InfoKind::Function(_), Some((_, Target::Function(name)))) => {
                format!("{} = {}", self.declaration, in_source(name))
            }
            _ => self.declaration.clone(),
        }
    }

    /// The names that its program must know: those of its declaration, and of what its pointers point to.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let targets = self.value.iter().flat_map(|value| &value.pointers).map(|(_, target)| match target {
            Target::Variable(name, _) => name.as_str(),
            Target::Function(name) => in_source(name),
        });
        self.words.iter().map(String::as_str).chain(targets)
    }
}

impl Variables {
    /// The variable of this name.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    /// Their names, in the order of their declarations.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }

    /// Adds a variable, in place of any other of its name.
    pub fn insert(&mut self, name: &str, variable: Variable) {
        self.order.retain(|n| n != name);
        self.order.push(name.to_owned());
        self.variables.insert(name.to_owned(), variable);
    }

    /// Forgets a variable.
    pub fn remove(&mut self, name: &str) {
        self.order.retain(|n| n != name);
        self.variables.remove(name);
    }

    /// Sets a value.
    pub fn set(&mut self, name: &str, value: Stored) {
        if let Some(variable) = self.variables.get_mut(name) {
            variable.value = Some(Arc::new(value));
        }
    }

    /// Notes a variable's type, which is another one when a struct is defined anew; its value is gone then.
    pub fn set_type(&mut self, name: &str, ty: &TypeInfo) {
        let Some(variable) = self.variables.get_mut(name) else { return };
        if variable.ty != *ty {
            variable.ty = ty.clone();
            variable.value = None;
        }
    }

    /// Forgets what a function keeps in `static` variables.
    pub fn forget_statics(&mut self, function: &str) {
        let prefix = format!("{function}.");
        self.statics.retain(|name, _| !name.starts_with(&prefix));
    }

    /// Forgets what all functions keep in `static` variables.
    pub fn forget_all_statics(&mut self) {
        self.statics.clear();
    }

    /// Gives a program the values of the variables that it has.
    pub fn write_to(&self, module: &Module) {
        for (name, variable) in &self.variables {
            match &variable.value {
                Some(value) if variable.is_extern => {
                    let _ = module.global(name).and_then(|global| global.write_bytes(&value.bytes));
                }
                Some(value) if module.address_of(name, 0).is_some() => {
                    module.write_state(name, &value.bytes_for(module));
                }
                Some(_) => {}
                None => {}
            }
        }
        for (name, bytes) in &self.statics {
            module.write_state(name, bytes);
        }
    }

    /// Takes over the values that a program has left.
    pub fn read_from(&mut self, module: &Module) {
        for global in module.program().globals.iter().filter(|global| !global.constant) {
            let name = &global.name;
            match self.variables.get_mut(name) {
                Some(variable) if variable.is_extern => {
                    if let (true, Ok(global)) = (variable.value.is_some(), module.global(name)) {
                        let bytes = global.read_bytes().unwrap_or_default();
                        variable.value = Some(Arc::new(Stored { bytes, pointers: Vec::new() }));
                    }
                }
                Some(variable) => {
                    let bytes = module.read_state(name);
                    variable.value = bytes.map(|bytes| Arc::new(Stored::of(bytes, &variable.ty, module)));
                }
                None if name.contains('.') => {
                    if let Some(bytes) = module.read_state(name) {
                        self.statics.insert(name.clone(), bytes);
                    }
                }
                None => {}
            }
        }
    }
}

impl Stored {
    /// A value that a program has left.
    pub fn of(mut bytes: Vec<u8>, ty: &TypeInfo, module: &Module) -> Stored {
        let mut pointers = Vec::new();
        each_pointer(ty, 0, module.lanes(), &mut |at, is_function| {
            let Some(word) = bytes.get_mut(at..at + 8) else { return };
            let address = u64::from_le_bytes(word.try_into().unwrap_or_default());
            if address == 0 {
                return;
            }
            let target = match is_function {
                true => module.function_at(address).map(|name| Target::Function(name.to_owned())),
                false => module.variable_at(address).map(|(name, offset)| Target::Variable(name.to_owned(), offset)),
            };
            let kept = if target.is_some() { 0 } else { GONE };
            word.copy_from_slice(&kept.to_le_bytes());
            pointers.extend(target.map(|target| (at, target)));
        });
        Stored { bytes, pointers }
    }

    /// The bytes of it in a program.
    fn bytes_for(&self, module: &Module) -> Cow<'_, [u8]> {
        if self.pointers.is_empty() {
            return Cow::Borrowed(&self.bytes);
        }
        let mut bytes = self.bytes.clone();
        for (at, target) in &self.pointers {
            let address = match target {
                Target::Variable(name, offset) => module.address_of(name, *offset),
                Target::Function(name) => {
                    let found = module.program().functions.iter().position(|function| function.name == *name);
                    found.map(|index| index as u64 + 1)
                }
            };
            bytes[*at..at + 8].copy_from_slice(&address.unwrap_or(GONE).to_le_bytes());
        }
        Cow::Owned(bytes)
    }
}

/// The name of a function as the source has it.
fn in_source(name: &str) -> &str {
    name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(name)
}

/// How many values there are of a shape.
pub fn count(shape: TypeShape, lanes: usize) -> usize {
    match shape {
        TypeShape::Uniform => 1,
        TypeShape::Varying => lanes,
        TypeShape::Soa(n) => n as usize,
    }
}

/// Calls a function with the place of each pointer in a value, and whether it is one to a function.
fn each_pointer(ty: &TypeInfo, at: usize, lanes: usize, each: &mut dyn FnMut(usize, bool)) {
    match &ty.kind {
        InfoKind::Pointer(_, _, shape) => (0..count(*shape, lanes)).for_each(|i| each(at + 8 * i, false)),
        InfoKind::Function(shape) => (0..count(*shape, lanes)).for_each(|i| each(at + 8 * i, true)),
        InfoKind::Array(elem, n) | InfoKind::Vector(elem, n) if has_pointers(elem) => {
            (0..*n as usize).for_each(|i| each_pointer(elem, at + i * elem.size as usize, lanes, each));
        }
        InfoKind::Struct(members) => {
            members.iter().for_each(|(_, offset, ty)| each_pointer(ty, at + *offset as usize, lanes, each));
        }
        _ => {}
    }
}

fn has_pointers(ty: &TypeInfo) -> bool {
    match &ty.kind {
        InfoKind::Pointer(..) | InfoKind::Function(_) => true,
        InfoKind::Array(elem, _) | InfoKind::Vector(elem, _) => has_pointers(elem),
        InfoKind::Struct(members) => members.iter().any(|member| has_pointers(&member.2)),
        _ => false,
    }
}

/// A value of one gang width for another: lanes that both have keep their values; new ones have the value of the others if
/// these were all equal, and zero else. Returns with it whether nothing is lost or made up.
pub fn change_width(value: &Stored, old: (&TypeInfo, usize), new: (&TypeInfo, usize)) -> (Stored, bool) {
    let mut moved = Stored { bytes: vec![0; new.0.size as usize], pointers: Vec::new() };
    let mut whole = true;
    move_lanes(value, (old.0, 0, old.1), (new.0, 0, new.1), &mut moved, &mut whole);
    (moved, whole)
}

/// A type, where a value of it begins, and the number of lanes.
type Position<'t> = (&'t TypeInfo, usize, usize);

fn move_lanes(value: &Stored, old: Position<'_>, new: Position<'_>, moved: &mut Stored, whole: &mut bool) {
    match (&old.0.kind, &new.0.kind) {
        (InfoKind::Array(a, n), InfoKind::Array(b, _)) | (InfoKind::Vector(a, n), InfoKind::Vector(b, _)) => {
            for i in 0..*n as usize {
                let (from, to) = (old.1 + i * a.size as usize, new.1 + i * b.size as usize);
                move_lanes(value, (a, from, old.2), (b, to, new.2), moved, whole);
            }
        }
        (InfoKind::Struct(a), InfoKind::Struct(b)) => {
            for ((_, from, a), (_, to, b)) in a.iter().zip(b) {
                let (from, to) = (old.1 + *from as usize, new.1 + *to as usize);
                move_lanes(value, (a, from, old.2), (b, to, new.2), moved, whole);
            }
        }
        _ => move_leaf(value, old, new, moved, whole),
    }
}

fn move_leaf(value: &Stored, old: Position<'_>, new: Position<'_>, moved: &mut Stored, whole: &mut bool) {
    let Some((size, shape)) = leaf(old.0) else { return };
    let (n_old, n_new) = (count(shape, old.2), count(shape, new.2));
    let target = |at: usize| value.pointers.iter().find(|(place, _)| *place == at).map(|(_, target)| target);
    let lane = |i: usize| {
        let at = old.1 + i * size;
        (value.bytes.get(at..at + size), target(at))
    };
    let is_same = (1..n_old).all(|i| lane(i) == lane(0));
    *whole &= is_same || n_old == n_new;
    for i in 0..n_new {
        let (Some(bytes), target) = lane(if is_same { 0 } else { i.min(n_old - 1) }) else { return };
        if i >= n_old && !is_same {
            continue;
        }
        let at = new.1 + i * size;
        moved.bytes[at..at + size].copy_from_slice(bytes);
        moved.pointers.extend(target.map(|target| (at, target.clone())));
    }
}

/// Size and shape of what is one value, or one per lane.
fn leaf(ty: &TypeInfo) -> Option<(usize, TypeShape)> {
    match &ty.kind {
        InfoKind::Scalar(ty, shape) => Some((ty.size(), *shape)),
        InfoKind::Enum(_, shape) => Some((4, *shape)),
        InfoKind::Pointer(_, _, shape) | InfoKind::Function(shape) => Some((8, *shape)),
        InfoKind::Void | InfoKind::Array(..) | InfoKind::Vector(..) | InfoKind::Struct(_) => None,
    }
}
