//! Which definition every import means.

use super::{Flat, LinkError, ObjectSpan, Objects};
use crate::program::{FuncId, Function, GlobalId, Import, Item, RegDecl, Span, Symbol};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// What names stand for.
pub(super) struct Resolution {
    /// By function, and by global: what it stands for. That is itself, unless it is an import with a definition, or one of several
    /// of the same thing.
    pub functions: Vec<Flat>,
    pub globals: Vec<Flat>,
    /// Imports of functions as C has them, and the definitions that they call.
    pub bridges: BTreeMap<Flat, Flat>,
    /// Imports without a definition, with their objects. Of several of the same thing it is the first.
    pub open: Vec<(usize, Import)>,
}

/// Definitions by name: those of functions, and those of globals.
#[derive(Default)]
struct Definitions<'a> {
    functions: HashMap<&'a str, Vec<(usize, &'a Symbol)>>,
    globals: HashMap<&'a str, Vec<(usize, &'a Symbol)>>,
    /// Functions by the name without parameters.
    by_source_name: HashMap<&'a str, (usize, &'a Symbol)>,
}

/// Returns whether a symbol is a function by its name of C, which has no parameter types.
fn is_c(symbol: &Symbol) -> bool {
    matches!(symbol.item, Item::Function(_)) && !symbol.name.contains('(')
}

/// The imports that have been looked at, and what came of them.
struct Resolver<'a, 'o> {
    all: &'o Objects<'a>,
    definitions: Definitions<'a>,
    /// By name, and whether it is defined in C: the first import of several, which stands for the others.
    first: HashMap<(&'a str, bool), (usize, &'a Import)>,
    resolution: Resolution,
}

pub(super) fn resolve(all: &Objects<'_>) -> Result<Resolution, Vec<LinkError>> {
    let mut resolution = Resolution {
        functions: (0..all.functions.len()).collect(),
        globals: (0..all.globals.len()).collect(),
        bridges: BTreeMap::new(),
        open: Vec::new(),
    };
    let mut errors = Vec::new();
    let definitions = define(all, &mut resolution, &mut errors);
    let mut resolver = Resolver { all, definitions, first: HashMap::default(), resolution };
    for (object, import) in all.imports() {
        let result = match import.symbol.item {
            Item::Function(id) => resolver.function(object, import, id),
            Item::Global(id) => resolver.global(object, import, id),
        };
        errors.extend(result.err().map(|error| *error));
    }
    if errors.is_empty() { Ok(resolver.resolution) } else { Err(errors) }
}

/// Collects the definitions, each of which must be the only one: except of constants that have the same value everywhere,
/// and of exports that share a name and differ in their parameters.
fn define<'a>(all: &Objects<'a>, resolution: &mut Resolution, errors: &mut Vec<LinkError>) -> Definitions<'a> {
    let mut definitions = Definitions::default();
    for (object, symbol) in all.symbols() {
        let list = match symbol.item {
            Item::Function(_) => {
                let source_name = symbol.name.split('(').next().unwrap_or_default();
                definitions.by_source_name.entry(source_name).or_insert((object, symbol));
                definitions.functions.entry(&symbol.name).or_default()
            }
            Item::Global(_) => definitions.globals.entry(&symbol.name).or_default(),
        };
        match (list.first(), symbol.item) {
            (Some(_), _) if is_c(symbol) => list.push((object, symbol)),
            (Some(&(first, known)), Item::Global(id)) if same_constant(all, (first, known), (object, symbol)) => {
                let Item::Global(known) = known.item else { continue };
                resolution.globals[all.flat_global(object, id)] = all.flat_global(first, known);
            }
            (Some(&(first, known)), _) => {
                let places = [ObjectSpan { object: first, span: known.span }, ObjectSpan { object, span: symbol.span }];
                errors.push(LinkError::Twice { name: symbol.name.clone(), places });
            }
            (None, _) => list.push((object, symbol)),
        }
    }
    definitions
}

/// Returns whether two globals are constants of one type and value, as headers define them.
fn same_constant(all: &Objects<'_>, a: (usize, &Symbol), b: (usize, &Symbol)) -> bool {
    let (Item::Global(id_a), Item::Global(id_b)) = (a.1.item, b.1.item) else { return false };
    let (x, y) = (all.global(all.flat_global(a.0, id_a)), all.global(all.flat_global(b.0, id_b)));
    let plain = x.relocations.is_empty() && y.relocations.is_empty();
    x.constant && y.constant && plain && x.size == y.size && x.init == y.init && a.1.ty == b.1.ty
}

impl<'a> Resolver<'a, '_> {
    fn function(&mut self, object: usize, import: &'a Import, id: FuncId) -> Result<(), Box<LinkError>> {
        let (all, symbol) = (self.all, &import.symbol);
        let flat = all.flat_function(object, id);
        let same_type = |list: &&Vec<(usize, &'a Symbol)>| list.iter().find(|(_, s)| s.ty == symbol.ty).copied();
        let found = self.definitions.functions.get(symbol.name.as_str());
        let found = found.and_then(|list| same_type(&list).or_else(|| list.first().copied()));
        if let Some((other, defined)) = found {
            agree((object, symbol), (other, defined), true)?;
            let Item::Function(target) = defined.item else { return Ok(()) };
            let target = all.flat_function(other, target);
            if !same_signature(all.function(flat).1, all.function(target).1) {
                return Err(Box::new(differs((object, symbol), (other, defined), None, true)));
            }
            if !is_c(symbol) {
                self.resolution.functions[flat] = target;
                return Ok(());
            }
            // Of several imports the first becomes the function that they all call.
            match self.first.get(&(symbol.name.as_str(), true)) {
                Some(&(first, known)) if known.symbol.ty == symbol.ty => {
                    let Item::Function(known) = known.symbol.item else { return Ok(()) };
                    self.resolution.functions[flat] = all.flat_function(first, known);
                }
                _ => {
                    self.first.insert((&symbol.name, true), (object, import));
                    self.resolution.bridges.insert(flat, target);
                }
            }
            return Ok(());
        }
        match self.first.get(&(symbol.name.as_str(), false)) {
            Some(&(first, known)) => {
                agree((object, symbol), (first, &known.symbol), false)?;
                let Item::Function(known) = known.symbol.item else { return Ok(()) };
                self.resolution.functions[flat] = all.flat_function(first, known);
            }
            None => {
                self.first.insert((&symbol.name, false), (object, import));
                let source_name = symbol.name.split('(').next().unwrap_or_default();
                let near = self.definitions.by_source_name.get(source_name).copied();
                self.leave_open(object, import, near);
            }
        }
        Ok(())
    }

    fn global(&mut self, object: usize, import: &'a Import, id: GlobalId) -> Result<(), Box<LinkError>> {
        let (all, symbol) = (self.all, &import.symbol);
        let flat = all.flat_global(object, id);
        let found = self.definitions.globals.get(symbol.name.as_str()).and_then(|list| list.first().copied());
        let known = self.first.get(&(symbol.name.as_str(), false)).map(|&(first, import)| (first, &import.symbol));
        let (other, is_defined) = match (found, known) {
            (Some(found), _) => (found, true),
            (None, Some(known)) => (known, false),
            (None, None) => {
                self.first.insert((&symbol.name, false), (object, import));
                self.leave_open(object, import, None);
                return Ok(());
            }
        };
        agree((object, symbol), other, is_defined)?;
        let Item::Global(target) = other.1.item else { return Ok(()) };
        self.resolution.globals[flat] = all.flat_global(other.0, target);
        Ok(())
    }

    fn leave_open(&mut self, object: usize, import: &Import, near: Option<(usize, &Symbol)>) {
        // Places are of the import's object still; that of the definition nearby is found by its file there, or left out.
        let near = near.and_then(|(other, symbol)| {
            let (files, own) = (&self.all.list[other].program().sources, &self.all.list[object].program().sources);
            let source = files.get(symbol.span.file as usize)?;
            let file = own.iter().position(|s| s == source);
            Some((
                symbol.name.clone(),
                file.map_or_else(Default::default, |file| Span { file: file as u32, ..symbol.span }),
            ))
        });
        self.resolution.open.push((object, Import { near: near.or_else(|| import.near.clone()), ..import.clone() }));
    }
}

/// Checks that a declaration means what another, or a definition, is.
fn agree(a: (usize, &Symbol), b: (usize, &Symbol), is_defined: bool) -> Result<(), Box<LinkError>> {
    if !same_type(&a.1.ty, &b.1.ty) {
        return Err(Box::new(differs(a, b, None, is_defined)));
    }
    let known: HashMap<&str, u64> = b.1.structs.iter().map(|(name, digest)| (name.as_str(), *digest)).collect();
    let other = a.1.structs.iter().find(|(name, digest)| known.get(name.as_str()).is_some_and(|known| known != digest));
    match other {
        Some((name, _)) => Err(Box::new(differs(a, b, Some(name.clone()), is_defined))),
        None => Ok(()),
    }
}

fn differs(a: (usize, &Symbol), b: (usize, &Symbol), structure: Option<String>, is_defined: bool) -> LinkError {
    LinkError::Differs {
        name: a.1.name.clone(),
        places: [ObjectSpan { object: a.0, span: a.1.span }, ObjectSpan { object: b.0, span: b.1.span }],
        types: [a.1.ty.clone(), b.1.ty.clone()],
        structure,
        is_defined,
    }
}

/// Returns whether two types are one, where a declaration may leave the first length of an array open.
fn same_type(a: &str, b: &str) -> bool {
    let closes = |open: &str, closed: &str| {
        let Some((before, after)) = open.split_once("[]") else { return false };
        let rest = closed.strip_prefix(before).and_then(|rest| rest.strip_prefix('['));
        rest.and_then(|rest| rest.split_once(']'))
            .is_some_and(|(n, rest)| n.bytes().all(|b| b.is_ascii_digit()) && rest == after)
    };
    a == b || closes(a, b) || closes(b, a)
}

/// Returns whether calls of one function are calls of another: parameters and results have the same types and shapes.
fn same_signature(f: &Function, g: &Function) -> bool {
    let kind = |decl: &RegDecl| (decl.shape, decl.ty);
    let params = |f: &Function| f.regs[..f.n_params as usize].iter().map(kind).collect::<Vec<_>>();
    let results = |f: &Function| f.results.iter().map(|&r| kind(f.reg(r))).collect::<Vec<_>>();
    f.is_task == g.is_task && params(f) == params(g) && results(f) == results(g)
}
