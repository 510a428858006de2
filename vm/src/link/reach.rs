//! What can be reached: from exports and from what hosts see; and which imports a function can come to.

use super::bind::is_bound;
use super::object::{Reference, reference};
use super::resolve::Resolution;
use super::{Flat, Objects};
use crate::program::{FuncId, Global, Import, Item, Program, Target};
use foldhash::HashSet;

/// By function, and by global: whether the linked program needs it. Only what stands for itself is needed.
pub(super) struct Reached {
    pub functions: Vec<bool>,
    pub globals: Vec<bool>,
}

/// What is still to be looked at.
enum Todo {
    Function(Flat),
    Global(Flat),
}

pub(super) fn reach(all: &Objects<'_>, resolution: &Resolution) -> Reached {
    let mut reached = Reached { functions: vec![false; all.functions.len()], globals: vec![false; all.globals.len()] };
    let mut todo = Vec::new();
    for (object, program) in all.list.iter().enumerate() {
        let exports = program.exports.iter().map(|export| export.function);
        let exports: HashSet<FuncId> = exports.collect();
        let names: HashSet<&str> = exports.iter().map(|id| program.functions[id.0 as usize].name.as_str()).collect();
        todo.extend(exports.iter().map(|&id| Todo::Function(all.flat_function(object, id))));
        // What goes along with an export.
        for (i, function) in program.functions.iter().enumerate() {
            if function.name.rsplit_once('$').is_some_and(|(base, _)| names.contains(base)) {
                todo.push(Todo::Function(all.flat_function(object, FuncId(i as u32))));
            }
        }
    }
    todo.extend((0..all.globals.len()).filter(|&flat| all.global(flat).host.is_some()).map(Todo::Global));
    while let Some(next) = todo.pop() {
        match next {
            Todo::Function(flat) => reached.function(all, resolution, flat, &mut todo),
            Todo::Global(flat) => reached.global(all, resolution, flat, &mut todo),
        }
    }
    reached
}

impl Reached {
    fn function(&mut self, all: &Objects<'_>, resolution: &Resolution, flat: Flat, todo: &mut Vec<Todo>) {
        let flat = resolution.functions[flat];
        if std::mem::replace(&mut self.functions[flat], true) {
            return;
        }
        if let Some(&target) = resolution.bridges.get(&flat) {
            return todo.push(Todo::Function(target));
        }
        let (object, n) = all.functions[flat];
        let object = object as usize;
        for &(_, reference) in &all.list[object].outline(FuncId(n)).references {
            match reference {
                Reference::Function(id) => todo.push(Todo::Function(all.flat_function(object, id))),
                Reference::Global(id) => todo.push(Todo::Global(all.flat_global(object, id))),
                Reference::Format(_) | Reference::Message(_) | Reference::Import(_) => {}
            }
        }
    }

    fn global(&mut self, all: &Objects<'_>, resolution: &Resolution, flat: Flat, todo: &mut Vec<Todo>) {
        let flat = resolution.globals[flat];
        if std::mem::replace(&mut self.globals[flat], true) {
            return;
        }
        let object = all.globals[flat].0 as usize;
        for &(_, target) in &all.global(flat).relocations {
            todo.push(match target {
                Target::Function(id) => Todo::Function(all.flat_function(object, id)),
                Target::Global(id, _) => Todo::Global(all.flat_global(object, id)),
            });
        }
    }
}

/// The functions that neither a program nor its host defines and that a function of it can come to: by calls and launches, and by
/// addresses that are taken of functions, also in the images of globals.
pub fn needed(program: &Program, from: FuncId) -> Vec<&Import> {
    let mut seen: HashSet<Item> = HashSet::default();
    let mut todo = vec![Item::Function(from)];
    while let Some(item) = todo.pop() {
        if !seen.insert(item) {
            continue;
        }
        match item {
            Item::Function(id) => {
                let code = program.functions.get(id.0 as usize).into_iter().flat_map(|f| &f.code);
                todo.extend(code.filter_map(reference).filter_map(|reference| match reference {
                    Reference::Function(id) => Some(Item::Function(id)),
                    Reference::Global(id) => Some(Item::Global(id)),
                    Reference::Format(_) | Reference::Message(_) | Reference::Import(_) => None,
                }));
            }
            Item::Global(id) => todo.extend(program.globals.get(id.0 as usize).into_iter().flat_map(targets)),
        }
    }
    let is_open = |import: &&Import| match import.symbol.item {
        Item::Function(id) => program.functions.get(id.0 as usize).is_none_or(|f| !is_bound(f)),
        Item::Global(_) => false,
    };
    program.imports.iter().filter(is_open).filter(|import| seen.contains(&import.symbol.item)).collect()
}

fn targets(global: &Global) -> impl Iterator<Item = Item> {
    global.relocations.iter().map(|&(_, target)| match target {
        Target::Function(id) => Item::Function(id),
        Target::Global(id, _) => Item::Global(id),
    })
}
