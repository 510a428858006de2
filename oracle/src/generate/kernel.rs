//! The program around: types, globals, functions, the body, and the exported function with its checksum.

use super::arguments::{self, Input};
use super::memory::LENGTH;
use super::scope::{Array, Context, Mask, Returns, Sharing, Variable};
use super::statements::bits_of;
use super::types::Range;
use super::writer::Writer;
use super::{Config, Feature, Features, functions::array_param};
use crate::{Call, TestCase};
use spmdvm::Ty;

/// Begins a checksum, and mixes into it: FNV-1a on whole words.
const OFFSET: &str = "0xcbf29ce484222325";
const PRIME: &str = "1099511628211";

/// The program of a seed.
pub(super) fn program(seed: u64, config: &Config) -> TestCase {
    let place = Context { depth: 0, ..Context::function(Mask::Full, None, Returns::Not) };
    let mut w = Writer::new(seed, *config, place);
    w.choose_types();
    w.declare_types();
    w.declare_globals();
    let globals = (w.variables.clone(), w.arrays.clone());
    let inputs = w.choose_inputs();
    w.inputs.clone_from(&inputs);
    w.declare_keeper();
    w.declare_functions();
    w.declare_task();
    w.body(&inputs);
    w.export(&inputs, &globals);
    arguments::test_case(seed, w, &inputs)
}

impl Writer {
    /// The array parameters.
    fn choose_inputs(&mut self) -> Vec<Input> {
        let large = u64::from(self.config.size > 20);
        let mut inputs = Vec::new();
        for _ in 0..1 + self.rng.draw(2 + large) {
            // Of one type there are to be several, for tables.
            let again = inputs.first().map(|first: &Input| first.ty).filter(|_| self.has(Feature::Tables));
            let ty = match again {
                Some(ty) if self.rng.one_in(2) => ty,
                _ => self.any_type(),
            };
            inputs.push(Input::of(self.name("a"), ty, Sharing::Shared));
        }
        for _ in 0..1 + self.rng.draw(1 + large) {
            inputs.push(Input::of(self.name("c"), self.any_type(), Sharing::Constant));
        }
        if self.has(Feature::Aliases) && self.sees_gang() {
            let (first, ty) = (inputs[0].name.clone(), inputs[0].ty);
            inputs[0].len = 2 * LENGTH;
            let from = 1 + self.rng.draw(LENGTH - 1);
            inputs.push(Input { alias: Some((first, from)), ..Input::of(self.name("b"), ty, Sharing::Shared) });
        }
        inputs.push(Input::zeros("state", Ty::U64, Sharing::Shared, LENGTH));
        if self.has(Feature::Tasks) {
            inputs.push(Input::zeros("tasks", Ty::U64, Sharing::Shared, LENGTH));
        }
        inputs.push(Input::zeros("count", Ty::U32, Sharing::Counter, 4));
        for input in &inputs {
            self.show(input);
        }
        inputs
    }

    fn show(&mut self, input: &Input) {
        // What the checksum is kept in is no array like others.
        if input.name != "state" {
            let (name, ty, sharing) = (input.name.clone(), input.ty, input.sharing);
            let len = input.len.min(LENGTH);
            self.arrays.push(Array { name, member: "", ty, len, sharing, full: true, level: self.place.level });
        }
    }

    /// The function that does the work.
    fn body(&mut self, inputs: &[Input]) {
        let params: Vec<String> = inputs.iter().map(|i| array_param(i.ty, i.sharing, &i.name)).collect();
        let head = format!("static void body({}, uniform int n, uniform int k) {{", params.join(", "));
        let own = self.sees_gang().then(|| "programIndex".to_owned());
        let place = Context { own, depth: 1, returns: Returns::Together, ..self.place.clone() };
        self.left = self.config.size;
        self.cost = 0;
        self.block(&head, place, "}", |w| {
            let from = w.variables.len();
            w.constant_here("n".to_owned(), Ty::I32, Range::Int(0, LENGTH as i128));
            w.constant_here("k".to_owned(), Ty::I32, Range::of(Ty::I32, true));
            w.declare();
            w.some_statements(2);
            w.foreach();
            if w.keeper.is_some() {
                w.call_keeper();
            }
            while w.left > 0 {
                w.statement();
            }
            w.fold_all(from);
        });
    }

    /// Adds what the body has left to the checksum.
    fn fold_all(&mut self, from: usize) {
        self.place.returns = Returns::Not;
        let uniform: Vec<Variable> =
            self.variables[from..].iter().filter(|v| v.assignable && !v.varying).cloned().collect();
        for variable in uniform {
            self.fold_uniform(variable.ty, &variable.text);
        }
        if self.sees_gang() {
            self.fold_lanes(from);
        }
    }

    /// The exported function.
    fn export(&mut self, inputs: &[Input], globals: &(Vec<Variable>, Vec<Array>)) {
        let tamers: Vec<String> = self
            .types
            .iter()
            .flat_map(|ty| [(*ty, true), (*ty, false)])
            .filter(|(ty, varying)| self.tamers.contains(&(*ty as u8, *varying)))
            .map(|(ty, varying)| Writer::tamer(ty, varying))
            .collect();
        self.text.insert_str(0, &tamers.concat());
        let params: Vec<String> = inputs.iter().map(|i| array_param(i.ty, i.sharing, &i.name)).collect();
        let names: Vec<&str> = inputs.iter().map(|i| i.name.as_str()).collect();
        let head = format!(
            "export void f({}, uniform unsigned int64 sum[], uniform int n, uniform int k) {{",
            params.join(", ")
        );
        self.block(&head, self.place.inner(), "}", |w| {
            w.line(&format!("body({}, n, k);", names.join(", ")));
            w.line(&format!("uniform unsigned int64 h = {OFFSET};"));
            for input in inputs.iter().filter(|i| i.sharing != Sharing::Constant && i.alias.is_none()) {
                w.sum_array(&input.name, "", input.ty, input.len);
            }
            for array in globals.1.iter().filter(|a| a.sharing == Sharing::Shared) {
                w.sum_array(&array.name, array.member, array.ty, array.len);
            }
            for global in &globals.0 {
                w.sum_global(global);
            }
            w.line("print(\"%\\n\", h);");
            w.line("sum[0] = h;");
        });
    }

    fn sum_array(&mut self, array: &str, member: &str, ty: Ty, len: u64) {
        let bits = bits_of(ty, &format!("{array}[j]{member}"));
        self.line(&format!("for (uniform int j = 0; j < {len}; ++j)"));
        self.line(&format!("    h = (h ^ {bits}) * {PRIME};"));
    }

    fn sum_global(&mut self, global: &Variable) {
        if !global.varying {
            let bits = bits_of(global.ty, &global.text);
            return self.line(&format!("h = (h ^ {bits}) * {PRIME};"));
        }
        let bits = bits_of(global.ty, &format!("extract({}, j)", global.text));
        self.line("for (uniform int j = 0; j < programCount; ++j)");
        self.line(&format!("    h = (h ^ {bits}) * {PRIME};"));
    }
}

/// What stands in front of a program: how it was made, and how it is called.
pub(super) fn head(seed: u64, config: &Config, call: &Call) -> String {
    let (dialect, size) = (config.dialect.name(), config.size);
    let features = match config.features == Features::by_default(config.dialect) {
        true => String::new(),
        false => format!(" --features {}", config.features.names().collect::<Vec<_>>().join(",")),
    };
    format!("// spmdvm gen --seed {seed} --size {size} --dialect {dialect}{features}\n{}\n", call.line())
}
