//! Which functions and constants are copies of one another.
//!
//! Two functions are assumed to be the same if they are but for the numbers of what they refer to. Then assumptions fall
//! until all that are left bear each other out: what the same functions refer to at the same place is the same too. So
//! functions that call each other in a circle are found to be copies as well.

use super::object::Reference;
use super::reach::Reached;
use super::resolve::Resolution;
use super::{Flat, Objects};
use crate::program::{FuncId, Function, Item, Source, Target};
use foldhash::{HashMap, HashSet};
use std::sync::Arc;

/// What stands for what, and the tables that all objects share from here on.
pub(super) struct Classes<'a> {
    /// By function, and by global, that stands for itself so far: the first one that is the same.
    pub functions: Vec<Flat>,
    pub globals: Vec<Flat>,
    pub tables: Tables<'a>,
}

/// Sources, formats and messages of all objects, each once.
#[derive(Default)]
pub(super) struct Tables<'a> {
    pub sources: Vec<&'a Source>,
    pub formats: Vec<&'a [crate::program::Piece]>,
    pub messages: Vec<&'a str>,
    /// By object: their numbers here by their numbers there.
    pub by_object: Vec<Numbers>,
}

/// The numbers of an object's sources, formats and messages in the shared tables.
#[derive(Default)]
pub(super) struct Numbers {
    pub sources: Vec<u32>,
    pub formats: Vec<u32>,
    pub messages: Vec<u32>,
}

impl<'a> Tables<'a> {
    fn of(all: &Objects<'a>) -> Tables<'a> {
        let mut tables = Tables::default();
        let (mut formats, mut messages) = (HashMap::default(), HashMap::default());
        let mut sources: HashMap<(&str, usize), Vec<u32>> = HashMap::default();
        for object in all.list {
            let program: &'a crate::Program = object.program();
            let mut numbers = Numbers::default();
            for source in &program.sources {
                let candidates = sources.entry((&source.name, source.text.len())).or_default();
                let same = |&&i: &&u32| {
                    let known = &tables.sources[i as usize].text;
                    Arc::ptr_eq(known, &source.text) || *known == source.text
                };
                let known = candidates.iter().find(same).copied();
                numbers.sources.push(known.unwrap_or_else(|| {
                    tables.sources.push(source);
                    candidates.push(tables.sources.len() as u32 - 1);
                    tables.sources.len() as u32 - 1
                }));
            }
            for format in &program.formats {
                let next = formats.len() as u32;
                let number = *formats.entry(&format[..]).or_insert(next);
                if number == next {
                    tables.formats.push(format);
                }
                numbers.formats.push(number);
            }
            for message in &program.messages {
                let next = messages.len() as u32;
                let number = *messages.entry(message.as_str()).or_insert(next);
                if number == next {
                    tables.messages.push(message);
                }
                numbers.messages.push(number);
            }
            tables.by_object.push(numbers);
        }
        tables
    }
}

pub(super) fn fold<'a>(all: &Objects<'a>, resolution: &Resolution, reached: &Reached) -> Classes<'a> {
    let mut classes = Classes {
        functions: (0..all.functions.len()).collect(),
        globals: (0..all.globals.len()).collect(),
        tables: Tables::of(all),
    };
    let unique = unique_functions(all);
    let mut groups: HashMap<(&str, u64), Vec<Vec<Flat>>> = HashMap::default();
    for flat in (0..all.functions.len()).filter(|flat| reached.functions[*flat] && !unique.contains(flat)) {
        let f = all.function(flat).1;
        let (object, n) = all.functions[flat];
        let outline = all.list[object as usize].outline(FuncId(n));
        let candidates = groups.entry((source_name(&f.name), outline.digest)).or_default();
        match candidates.iter_mut().find(|group| classes.same_but_for_references(all, group[0], flat)) {
            Some(group) => group.push(flat),
            None => candidates.push(vec![flat]),
        }
    }
    let mut constants: HashMap<(&str, u64, &[u8], usize), Vec<Flat>> = HashMap::default();
    for flat in (0..all.globals.len()).filter(|&flat| reached.globals[flat]) {
        let global = all.global(flat);
        if global.constant && global.host.is_none() {
            let key = (source_name(&global.name), global.size, &global.init[..], global.relocations.len());
            constants.entry(key).or_default().push(flat);
        }
    }
    let several = |group: &Vec<Flat>| group.len() > 1;
    let functions = groups.into_values().flatten().filter(several).collect();
    let globals = constants.into_values().filter(several).collect();
    classes.settle(all, resolution, functions, globals);
    classes
}

/// A name without what tells functions (or globals) of one name apart.
fn source_name(name: &str) -> &str {
    match name.find('.') {
        Some(end) if end > 0 => &name[..end],
        _ => name,
    }
}

/// Functions that are not the same as any other: those that others know by name, and what goes along with them.
fn unique_functions(all: &Objects<'_>) -> HashSet<Flat> {
    let mut unique = HashSet::default();
    for (i, object) in all.list.iter().enumerate() {
        let symbols = object.symbols.iter().chain(object.imports.iter().map(|import| &import.symbol));
        let by_name = symbols.filter_map(|symbol| match symbol.item {
            Item::Function(id) => Some(id),
            Item::Global(_) => None,
        });
        let exports = object.exports.iter().map(|export| export.function);
        let wrappers = object.functions.iter().enumerate().filter(|(_, f)| f.name.contains('$'));
        let wrappers = wrappers.map(|(n, _)| FuncId(n as u32));
        unique.extend(by_name.chain(exports).chain(wrappers).map(|id| all.flat_function(i, id)));
    }
    unique
}

impl Classes<'_> {
    /// Splits groups until what the members of each refer to is the same.
    fn settle(
        &mut self,
        all: &Objects<'_>,
        resolution: &Resolution,
        mut functions: Vec<Vec<Flat>>,
        mut globals: Vec<Vec<Flat>>,
    ) {
        functions.iter().for_each(|group| group.iter().for_each(|&flat| self.functions[flat] = group[0]));
        globals.iter().for_each(|group| group.iter().for_each(|&flat| self.globals[flat] = group[0]));
        loop {
            let split = |groups: &[Vec<Flat>], refers: &dyn Fn(Flat) -> Vec<(bool, Flat, i64)>| {
                let mut new = Vec::with_capacity(groups.len());
                for group in groups {
                    let mut parts: HashMap<Vec<(bool, Flat, i64)>, Vec<Flat>> = HashMap::default();
                    group.iter().for_each(|&flat| parts.entry(refers(flat)).or_default().push(flat));
                    new.extend(parts.into_values());
                }
                new
            };
            let new_functions = split(&functions, &|flat| self.references(all, resolution, flat));
            let new_globals = split(&globals, &|flat| self.addresses(all, resolution, flat));
            if new_functions.len() == functions.len() && new_globals.len() == globals.len() {
                return;
            }
            (functions, globals) = (new_functions, new_globals);
            functions.iter().for_each(|group| group.iter().for_each(|&flat| self.functions[flat] = group[0]));
            globals.iter().for_each(|group| group.iter().for_each(|&flat| self.globals[flat] = group[0]));
        }
    }

    /// The classes of what a function refers to.
    fn references(&self, all: &Objects<'_>, resolution: &Resolution, flat: Flat) -> Vec<(bool, Flat, i64)> {
        let (object, n) = all.functions[flat];
        let object = object as usize;
        let class = |&(_, reference): &(u32, Reference)| match reference {
            Reference::Function(id) => {
                Some((true, self.functions[resolution.functions[all.flat_function(object, id)]], 0))
            }
            Reference::Global(id) => Some((false, self.globals[resolution.globals[all.flat_global(object, id)]], 0)),
            Reference::Format(_) | Reference::Message(_) | Reference::Import(_) => None,
        };
        all.list[object].outline(FuncId(n)).references.iter().filter_map(class).collect()
    }

    /// The classes of what the addresses in a global's image are of.
    fn addresses(&self, all: &Objects<'_>, resolution: &Resolution, flat: Flat) -> Vec<(bool, Flat, i64)> {
        let object = all.globals[flat].0 as usize;
        let place = |&(at, target): &(u64, Target)| {
            let class = match target {
                Target::Function(id) => (true, self.functions[resolution.functions[all.flat_function(object, id)]], 0),
                Target::Global(id, offset) => {
                    (false, self.globals[resolution.globals[all.flat_global(object, id)]], offset)
                }
            };
            [(false, at as Flat, 0), class]
        };
        all.global(flat).relocations.iter().flat_map(place).collect()
    }

    /// Returns whether two functions are the same, the numbers of functions and globals aside.
    fn same_but_for_references(&self, all: &Objects<'_>, a: Flat, b: Flat) -> bool {
        let (f, g) = (all.function(a).1, all.function(b).1);
        let heads = |f: &Function| (f.n_params, f.frame_size, f.is_task);
        heads(f) == heads(g)
            && f.regs == g.regs
            && f.results == g.results
            && f.consts == g.consts
            && f.pool == g.pool
            && f.code.len() == g.code.len()
            && self.same_code(all, a, b)
            && self.same_spans(all, a, b)
    }

    fn same_code(&self, all: &Objects<'_>, a: Flat, b: Flat) -> bool {
        let (f, g) = (all.function(a).1, all.function(b).1);
        let outline = |flat: Flat| {
            let (object, n) = all.functions[flat];
            (&self.tables.by_object[object as usize], all.list[object as usize].outline(FuncId(n)))
        };
        let ((numbers_a, a), (numbers_b, b)) = (outline(a), outline(b));
        let same_reference = |(x, y): (&(u32, Reference), &(u32, Reference))| {
            x.0 == y.0
                && match (x.1, y.1) {
                    (Reference::Format(m), Reference::Format(n)) => {
                        numbers_a.formats.get(m as usize) == numbers_b.formats.get(n as usize)
                    }
                    (Reference::Message(m), Reference::Message(n)) => {
                        numbers_a.messages.get(m as usize) == numbers_b.messages.get(n as usize)
                    }
                    (m, n) => std::mem::discriminant(&m) == std::mem::discriminant(&n),
                }
        };
        let mut at = a.references.iter().map(|r| r.0).peekable();
        a.references.len() == b.references.len()
            && a.references.iter().zip(&b.references).all(same_reference)
            && f.code.iter().zip(&g.code).enumerate().all(|(pc, (x, y))| {
                let refers = at.next_if_eq(&(pc as u32)).is_some();
                x == y || (refers && crate::Inst { aux: 0, ..*x } == crate::Inst { aux: 0, ..*y })
            })
    }

    fn same_spans(&self, all: &Objects<'_>, a: Flat, b: Flat) -> bool {
        let files = |flat: Flat| &self.tables.by_object[all.functions[flat].0 as usize].sources;
        let (files_a, files_b) = (files(a), files(b));
        let spans = all.function(a).1.spans.iter().zip(&all.function(b).1.spans);
        all.function(a).1.spans.len() == all.function(b).1.spans.len()
            && spans.into_iter().all(|(x, y)| {
                (x.lo, x.hi) == (y.lo, y.hi)
                    && (x.hi == 0 || files_a.get(x.file as usize) == files_b.get(y.file as usize))
            })
    }
}
