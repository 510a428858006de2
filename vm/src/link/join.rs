//! One program of the parts that are needed, renumbered.

use super::identical::{Classes, Numbers};
use super::object::Reference;
use super::reach::Reached;
use super::resolve::Resolution;
use super::{Flat, Objects};
use crate::builder::FunctionBuilder;
use crate::isa::Op;
use crate::program::*;
use crate::types::Ty;
use crate::verify::{FunctionFacts, VerifiedProgram, VerifyError, verify_joined};
use foldhash::{HashMap, HashSet};
use std::sync::Arc;

/// No number: what is not in the program.
const ABSENT: u32 = u32::MAX;

pub(super) fn join(
    all: &Objects<'_>,
    resolution: &Resolution,
    reached: &Reached,
    classes: &Classes<'_>,
) -> Result<VerifiedProgram, Vec<VerifyError>> {
    let chosen = |reached: &[bool], classes: &[Flat]| -> Vec<Flat> {
        (0..reached.len()).filter(|&flat| reached[flat] && classes[flat] == flat).collect()
    };
    let functions = chosen(&reached.functions, &classes.functions);
    let globals = chosen(&reached.globals, &classes.globals);
    let number = |chosen: &[Flat], total: usize, stands_for: &dyn Fn(Flat) -> Flat| -> Vec<u32> {
        let mut own = vec![ABSENT; total];
        chosen.iter().enumerate().for_each(|(new, &flat)| own[flat] = new as u32);
        (0..total).map(|flat| own[stands_for(flat)]).collect()
    };
    let join = Join {
        all,
        resolution,
        classes,
        function_numbers: number(&functions, all.functions.len(), &|f| classes.functions[resolution.functions[f]]),
        global_numbers: number(&globals, all.globals.len(), &|g| classes.globals[resolution.globals[g]]),
    };
    let function_names = join.function_names(&functions);
    let global_names = join.global_names(&globals);
    let mut facts = Vec::with_capacity(functions.len());
    let mut program = Program {
        width: all.list.first().map(|object| object.width).unwrap_or_default(),
        formats: classes.tables.formats.iter().map(|format| format.to_vec()).collect(),
        messages: classes.tables.messages.iter().map(|&message| message.to_owned()).collect(),
        sources: classes.tables.sources.iter().map(|&source| source.clone()).collect(),
        exports: join.exports(),
        imports: join.imports(),
        variables: join.variables(),
        ..Program::default()
    };
    for (&flat, name) in functions.iter().zip(function_names) {
        let (function, known) = join.function(flat, name);
        program.functions.push(function);
        facts.push(known);
    }
    for (&flat, name) in globals.iter().zip(global_names) {
        program.globals.push(join.global(flat, name));
    }
    verify_joined(program, facts)
}

struct Join<'a, 'o> {
    all: &'a Objects<'o>,
    resolution: &'a Resolution,
    classes: &'a Classes<'o>,
    /// By function of an object, and by global: its number in the program, or [`ABSENT`].
    function_numbers: Vec<u32>,
    global_numbers: Vec<u32>,
}

impl<'o> Join<'_, 'o> {
    fn function_id(&self, object: usize, id: FuncId) -> Option<FuncId> {
        let number = self.function_numbers[self.all.flat_function(object, id)];
        (number != ABSENT).then_some(FuncId(number))
    }

    fn global_id(&self, object: usize, id: GlobalId) -> Option<GlobalId> {
        let number = self.global_numbers[self.all.flat_global(object, id)];
        (number != ABSENT).then_some(GlobalId(number))
    }

    fn item(&self, object: usize, item: Item) -> Option<Item> {
        match item {
            Item::Function(id) => self.function_id(object, id).map(Item::Function),
            Item::Global(id) => self.global_id(object, id).map(Item::Global),
        }
    }

    fn numbers(&self, object: usize) -> &Numbers {
        &self.classes.tables.by_object[object]
    }

    fn span(&self, object: usize, span: Span) -> Span {
        match self.numbers(object).sources.get(span.file as usize) {
            Some(&file) if span.hi != 0 => Span { file, ..span },
            _ => Span::default(),
        }
    }

    /// The names of functions. Those that others know come first; what goes along with a function is called after it.
    fn function_names(&self, functions: &[Flat]) -> Vec<String> {
        let mut names = Names::default();
        let named = self.known_by_name(self.all.functions.len(), |object, item| match item {
            Item::Function(id) => Some(self.all.flat_function(object, id)),
            Item::Global(_) => None,
        });
        let (mut wrappers, mut rest) = (Vec::new(), Vec::new());
        for &flat in functions {
            let f = self.all.function(flat).1;
            match named[flat] {
                _ if f.name.contains('$') => wrappers.push(flat),
                true => names.give(flat, &f.name),
                false => rest.push(flat),
            }
        }
        rest.into_iter().for_each(|flat| names.give(flat, &self.all.function(flat).1.name));
        // A wrapper of a wrapper is called after that.
        wrappers.sort_by_key(|&flat| self.all.function(flat).1.name.matches('$').count());
        let mut known: HashMap<(u32, &str), Flat> = HashMap::default();
        let exported = functions.iter().filter(|&&flat| named[flat] || self.all.function(flat).1.name.contains('$'));
        exported.for_each(|&flat| {
            known.insert((self.all.functions[flat].0, &self.all.function(flat).1.name), flat);
        });
        for flat in wrappers {
            let name = &self.all.function(flat).1.name;
            let base = name.rsplit_once('$').and_then(|(base, suffix)| {
                let base = known.get(&(self.all.functions[flat].0, base))?;
                Some(format!("{}${suffix}", names.of.get(base)?))
            });
            names.give(flat, &base.unwrap_or_else(|| name.clone()));
        }
        functions.iter().map(|flat| names.of.remove(flat).unwrap_or_default()).collect()
    }

    fn global_names(&self, globals: &[Flat]) -> Vec<String> {
        let mut names = Names::default();
        let named = self.known_by_name(self.all.globals.len(), |object, item| match item {
            Item::Global(id) => Some(self.all.flat_global(object, id)),
            Item::Function(_) => None,
        });
        let (first, rest): (Vec<Flat>, Vec<Flat>) = globals.iter().partition(|&&flat| named[flat]);
        first.into_iter().chain(rest).for_each(|flat| names.give(flat, &self.all.global(flat).name));
        globals.iter().map(|flat| names.of.remove(flat).unwrap_or_default()).collect()
    }

    /// By function (or global): whether others know it by its name, or hosts.
    fn known_by_name(&self, total: usize, flat: impl Fn(usize, Item) -> Option<Flat>) -> Vec<bool> {
        let mut known = vec![false; total];
        let exports = self.all.list.iter().enumerate().flat_map(|(object, program)| {
            program.exports.iter().map(move |export| (object, Item::Function(export.function)))
        });
        let symbols = self.all.symbols().map(|(object, symbol)| (object, symbol.item));
        let imports = self.all.imports().map(|(object, import)| (object, import.symbol.item));
        symbols.chain(imports).chain(exports).filter_map(|(object, item)| flat(object, item)).for_each(|flat| {
            known[flat] = true;
        });
        known
    }

    fn function(&self, flat: Flat, name: String) -> (Function, Option<Arc<FunctionFacts>>) {
        let (object, n) = self.all.functions[flat];
        let (object, id) = (object as usize, FuncId(n));
        if let Some(&target) = self.resolution.bridges.get(&flat) {
            return (self.bridge(flat, target, name), None);
        }
        let source = self.all.function(flat).1;
        let numbers = self.numbers(object);
        let mut code = source.code.clone();
        for &(pc, reference) in &self.all.list[object].outline(id).references {
            code[pc as usize].aux = match reference {
                Reference::Function(id) => self.function_numbers[self.all.flat_function(object, id)],
                Reference::Global(id) => self.global_numbers[self.all.flat_global(object, id)],
                Reference::Format(n) => numbers.formats[n as usize],
                Reference::Message(n) => numbers.messages[n as usize],
                Reference::Import(n) => self.import_number(object, n),
            };
        }
        let function = Function {
            name,
            regs: source.regs.clone(),
            n_params: source.n_params,
            results: source.results.clone(),
            consts: source.consts.clone(),
            code,
            spans: source.spans.iter().map(|&span| self.span(object, span)).collect(),
            pool: source.pool.clone(),
            frame_size: source.frame_size,
            is_task: source.is_task,
        };
        (function, Some(self.all.list[object].program().shared_facts(id)))
    }

    /// A function with the parameters and results of a stub that calls another with all lanes on.
    fn bridge(&self, stub: Flat, target: Flat, name: String) -> Function {
        let source = self.all.function(stub).1;
        let mut b = FunctionBuilder::new(name);
        let span = source.spans.first().copied().unwrap_or_default();
        b.set_span(self.span(self.all.functions[stub].0 as usize, span));
        let declared = &source.regs[..source.n_params as usize];
        let params: Vec<Reg> =
            declared.iter().map(|r| b.param(r.shape, r.ty, r.name.as_deref().unwrap_or_default())).collect();
        let results: Vec<Reg> = source.results.iter().map(|&r| b.reg(source.reg(r).shape, source.reg(r).ty)).collect();
        let (args, rets) = (b.list(&params), b.list(&results));
        b.plain(Op::Everywhere);
        b.push(Inst { aux: self.function_numbers[target], args, rets, ..Inst::new(Op::Call, Ty::Bool) });
        let end = b.label();
        b.control(Op::EverywhereEnd, None, end);
        b.bind(end);
        results.into_iter().for_each(|r| b.result(r));
        b.ret();
        b.finish()
    }

    fn global(&self, flat: Flat, name: String) -> Global {
        let object = self.all.globals[flat].0 as usize;
        let source = self.all.global(flat);
        let relocation = |&(at, target): &(u64, Target)| {
            let target = match target {
                Target::Global(id, offset) => Target::Global(self.global_id(object, id)?, offset),
                Target::Function(id) => Target::Function(self.function_id(object, id)?),
            };
            Some((at, target))
        };
        let relocations = source.relocations.iter().filter_map(relocation).collect();
        Global { name, relocations, ..source.clone() }
    }

    /// The exports of all objects. An instance that two of them export is one.
    fn exports(&self) -> Vec<Export> {
        let mut exports = Vec::new();
        let mut seen: HashMap<FuncId, &str> = HashMap::default();
        for (i, object) in self.all.list.iter().enumerate() {
            for export in &object.exports {
                let Some(function) = self.function_id(i, export.function) else { continue };
                if seen.insert(function, &export.name) != Some(&export.name) {
                    exports.push(Export { function, ..export.clone() });
                }
            }
        }
        exports
    }

    fn symbol(&self, object: usize, symbol: &Symbol) -> Option<Symbol> {
        let item = self.item(object, symbol.item)?;
        Some(Symbol { item, span: self.span(object, symbol.span), ..symbol.clone() })
    }

    fn imports(&self) -> Vec<Import> {
        let open = self.resolution.open.iter().filter_map(|(object, import)| {
            Some(Import {
                symbol: self.symbol(*object, &import.symbol)?,
                used: self.span(*object, import.used),
                host: import.host.clone(),
                near: import.near.as_ref().map(|(name, span)| (name.clone(), self.span(*object, *span))),
            })
        });
        open.collect()
    }

    /// The number of an object's import among those that are left. It is one of them: who calls it is its stub.
    fn import_number(&self, object: usize, n: u32) -> u32 {
        let item = self.item(object, self.all.list[object].imports[n as usize].symbol.item);
        let open = self.resolution.open.iter().filter_map(|(object, import)| self.item(*object, import.symbol.item));
        open.into_iter().position(|open| Some(open) == item).unwrap_or_default() as u32
    }

    fn variables(&self) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (i, object) in self.all.list.iter().enumerate() {
            for variable in &object.variables {
                let (flat, home) = match variable.home {
                    Home::Frame(id) => {
                        let flat = self.all.flat_function(i, id);
                        (
                            self.resolution.functions[flat] == flat && self.classes.functions[flat] == flat,
                            self.function_id(i, id).map(Home::Frame),
                        )
                    }
                    Home::Global(id) => {
                        let flat = self.all.flat_global(i, id);
                        (
                            self.resolution.globals[flat] == flat && self.classes.globals[flat] == flat,
                            self.global_id(i, id).map(Home::Global),
                        )
                    }
                };
                // Of copies the one that stands for all.
                if let (true, Some(home)) = (flat, home) {
                    variables.push(Variable { home, ..variable.clone() });
                }
            }
        }
        variables
    }
}

/// Names that are given once each.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// How often a name was asked for.
    asked: HashMap<String, u32>,
    of: HashMap<Flat, String>,
}

impl Names {
    /// Gives what is called `name` in its object that name, or, if it is taken, one with a number behind it.
    fn give(&mut self, flat: Flat, name: &str) {
        let mut new = name.to_owned();
        while !self.taken.insert(new.clone()) {
            let n = self.asked.entry(name.to_owned()).or_insert(1);
            *n += 1;
            new = format!("{name}.{n}");
        }
        self.of.insert(flat, new);
    }
}
