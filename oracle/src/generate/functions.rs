//! Functions: those without effects, whose calls are expressions; those that change what they are handed; tasks.

use super::Feature;
use super::arguments::Input;
use super::memory::LENGTH;
use super::scope::{Context, Function, Mask, Param, Procedure, Returns, Sharing};
use super::types::{Range, name};
use super::writer::Writer;
use spmdvm::Ty;

/// Functions that a feature brings, and what writes one.
type Kind = (Feature, fn(&mut Writer));

impl Writer {
    /// The functions of the program.
    pub fn declare_functions(&mut self) {
        let most = 1 + u64::from(self.config.size) / 16;
        let kinds: [Kind; 8] = [
            (Feature::Calls, Writer::pure_function),
            (Feature::Overloads, Writer::overloads),
            (Feature::Templates, Writer::template),
            (Feature::Polymorphism, Writer::polymorphic_function),
            (Feature::Recursion, Writer::recursive_function),
            (Feature::FunctionPointers, Writer::call_through_pointer),
            (Feature::Calls, Writer::procedure),
            (Feature::Crev, Writer::crev_function),
        ];
        for (feature, write) in kinds {
            if self.has(feature) {
                for _ in 0..self.rng.draw(most.min(2) + 1) {
                    write(self);
                }
            }
        }
    }

    /// Writes a function: its head, and what is in it at a place. Gives the cost of a call.
    fn function(&mut self, head: &str, place: Context, statements: u32, write: impl FnOnce(&mut Writer)) -> u64 {
        let takes_inputs = head.starts_with("task ");
        let variables = self.as_seen_by_functions();
        let outer = std::mem::replace(&mut self.variables, variables);
        let arrays = self.arrays.clone();
        let inputs: Vec<String> = self.inputs.iter().map(|i| i.name.clone()).collect();
        self.arrays
            .retain(|array| array.sharing == Sharing::Constant && (takes_inputs || !inputs.contains(&array.name)));
        let (left, cost) = (std::mem::replace(&mut self.left, statements), std::mem::take(&mut self.cost));
        self.block(head, Context { depth: 1, ..place }, "}", write);
        (self.variables, self.arrays, self.left) = (outer, arrays, left);
        1 + std::mem::replace(&mut self.cost, cost)
    }

    /// The place of a function that is called wherever lanes are.
    fn anywhere(own: Option<String>, returns: Returns) -> Context {
        Context { level: 2, in_foreach: true, ..Context::function(Mask::Divergent, own, returns) }
    }

    fn params(&mut self, params: &[Param]) -> (String, Vec<String>) {
        let names: Vec<String> = params.iter().map(|_| self.name("x")).collect();
        let text: Vec<String> = params.iter().zip(&names).map(|(p, n)| declared(p, n)).collect();
        (text.join(", "), names)
    }

    fn show_params(&mut self, params: &[Param], names: Vec<String>) {
        for (param, name) in params.iter().zip(names) {
            self.push_variable(name, param.ty, param.varying, true);
        }
    }

    /// A function without effects: lanes may leave it at different times.
    fn pure_function(&mut self) {
        let (function, ty) = (self.name("f"), self.any_type());
        let params: Vec<Param> =
            (0..1 + self.rng.draw(3)).map(|_| Param { ty: self.any_type(), varying: self.rng.draw(4) > 0 }).collect();
        self.pure(function, ty, params);
    }

    fn pure(&mut self, function: String, ty: Ty, params: Vec<Param>) {
        let (text, names) = self.params(&params);
        let storage = self.rng.pick(&["static ", "static inline ", "static noinline ", ""]);
        let head = format!("{storage}{} {function}({text}) {{", name(ty));
        let statements = 1 + self.config.size / 10;
        let cost = self.function(&head, Writer::anywhere(None, Returns::Value(ty)), statements, |w| {
            w.show_params(&params, names);
            w.some_statements(3);
            let result = w.value(ty, true, 2);
            w.line(&format!("return {};", result.text));
        });
        let range = self.range_of(ty);
        self.functions.push(Function { name: function, params, ty, varying: true, range, cost, crev: false });
    }

    /// Functions of one name.
    fn overloads(&mut self) {
        let function = self.name("o");
        let types = self.types.clone();
        for param in types.into_iter().take(2 + self.rng.draw(2) as usize) {
            let ty = self.any_type();
            self.pure(function.clone(), ty, vec![Param { ty: param, varying: true }]);
        }
    }

    /// A template, and its instances.
    fn template(&mut self) {
        if self.rng.one_in(2) {
            return self.template_of_number();
        }
        let (template, op) = (self.name("t"), self.rng.pick(&["<", ">", "<=", "=="]));
        self.line(&format!("template <typename T> noinline T {template}(T a, T b) {{"));
        self.line(&format!("    if (a {op} b)\n        return b;\n    return a;\n}}"));
        for ty in self.types.clone() {
            let (function, range) = (format!("{template}<{}>", name(ty)), self.range_of(ty));
            let params = vec![Param { ty, varying: true }; 2];
            self.functions.push(Function { name: function, params, ty, varying: true, range, cost: 2, crev: false });
        }
    }

    /// A template with a number as parameter.
    fn template_of_number(&mut self) {
        let (template, op) = (self.name("t"), self.rng.pick(&["*", "+", "^"]));
        self.line(&format!("template <typename T, int N> noinline T {template}(T a) {{"));
        self.line("    T r = a;\n    for (uniform int k = 0; k < N; ++k)");
        self.line(&format!("        r = (r {op} a) + (T)N;\n    return r;\n}}"));
        for ty in self.int_types().into_iter().filter(|ty| !ty.is_signed()) {
            let (n, range) = (1 + self.rng.draw(4), self.range_of(ty));
            let function = format!("{template}<{}, {n}>", name(ty));
            let params = vec![Param { ty, varying: true }];
            self.functions.push(Function { name: function, params, ty, varying: true, range, cost: n, crev: false });
        }
    }

    /// A function of a polymorphic type, which is called with each type of its class.
    fn polymorphic_function(&mut self) {
        let (function, op) = (self.name("n"), self.rng.pick(&["<", ">", "<=", "=="]));
        let (class, other): (_, fn(Ty) -> bool) = match self.rng.draw(3) {
            0 => ("integer", Ty::is_int),
            1 => ("floating", Ty::is_float),
            _ => ("number", |_| true),
        };
        let combined = if class == "integer" { self.rng.pick(&["a ^ b", "a & b", "a | b"]) } else { "b" };
        self.line(&format!("static {class} {function}({class} a, {class} b) {{"));
        self.line(&format!("    if (a {op} b)\n        return {combined};\n    return a;\n}}"));
        for ty in self.types.clone().into_iter().filter(|ty| other(*ty)) {
            let (params, range) = (vec![Param { ty, varying: true }; 2], self.range_of(ty));
            let name = function.clone();
            self.functions.push(Function { name, params, ty, varying: true, range, cost: 2, crev: false });
        }
    }

    /// A function that calls itself, or another one that calls it, and one that others call, which bounds how deep.
    fn recursive_function(&mut self) {
        let (ty, twice, mutual) = (self.any_type(), self.rng.one_in(3), self.rng.one_in(2));
        let (first, second) = (self.name("r"), self.name("r"));
        let params = vec![Param { ty, varying: true }, Param { ty: Ty::I32, varying: true }];
        let last = if mutual { &second } else { &first };
        if mutual {
            self.line(&format!("static {0} {second}({0} x, int n);", name(ty)));
        }
        let mut cost = self.recursive(&first, last, ty, &params, twice);
        if mutual {
            cost += self.recursive(&second, &first, ty, &params, false);
        }
        let most = if twice { 3 } else { self.rng.pick(&[3, 7, 15]) };
        let calls = if twice { 15 } else { most + 1 };
        let function = self.name("f");
        self.line(&format!("static {0} {function}({0} x, int n) {{ return {first}(x, n & {most}); }}", name(ty)));
        let (range, cost) = (self.range_of(ty), calls * cost);
        self.functions.push(Function { name: function, params, ty, varying: true, range, cost, crev: false });
    }

    /// A function that calls `next` unless its last parameter is 0; gives what a call costs without that.
    fn recursive(&mut self, function: &str, next: &str, ty: Ty, params: &[Param], twice: bool) -> u64 {
        let (text, names) = self.params(params);
        let storage = self.rng.pick(&["static ", "static noinline "]);
        let head = format!("{storage}{} {function}({text}) {{", name(ty));
        let (x, depth) = (names[0].clone(), names[1].clone());
        self.function(&head, Writer::anywhere(None, Returns::Value(ty)), 1 + self.config.size / 12, |w| {
            w.push_variable(x, ty, true, true);
            w.some_statements(2);
            let result = w.value(ty, true, 1);
            w.line(&format!("if ({depth} <= 0) return {};", result.text));
            for _ in 0..1 + u64::from(twice) {
                let (value, found) = (w.value(ty, true, 1), w.name("v"));
                w.line(&format!("{} {found} = {next}({}, {depth} - 1);", name(ty), value.text));
                w.push_variable(found, ty, true, true);
            }
            w.some_statements(2);
            let result = w.value(ty, true, 2);
            w.line(&format!("return {};", result.text));
        })
    }

    /// Two functions, and one that calls one of them through a pointer: the same for the gang, or of each lane's own.
    fn call_through_pointer(&mut self) {
        let (result, ty) = (self.any_type(), self.any_type());
        let (first, second) = (self.name("f"), self.name("f"));
        for function in [&first, &second] {
            self.pure(function.clone(), result, vec![Param { ty, varying: true }]);
        }
        let cost = self.functions.iter().rev().take(2).map(|f| f.cost).sum::<u64>() + 2;
        let (function, pointer, varying) = (self.name("f"), self.name("Pointer"), self.rng.draw(3) > 0);
        let shape = if varying { "varying" } else { "uniform" };
        self.line(&format!("typedef {} (*{pointer})({});", name(result), name(ty)));
        self.line(&format!("static {} {function}({} x, {shape} int k) {{", name(result), name(ty)));
        self.line(&format!("    {shape} {pointer} f = {first};"));
        self.line(&format!("    if (k & 1) f = {second};\n    return f(x);\n}}"));
        let params = vec![Param { ty, varying: true }, Param { ty: Ty::I32, varying }];
        let range = self.range_of(result);
        self.functions.push(Function { name: function, params, ty: result, varying: true, range, cost, crev: false });
    }

    /// A function that each lane calls with the whole gang.
    fn crev_function(&mut self) {
        if !self.sees_gang() {
            return;
        }
        let (function, ty) = (self.name("c"), self.rng.pick(&[Ty::U32, Ty::I32]));
        let params = vec![Param { ty, varying: false }];
        let (text, names) = self.params(&params);
        let head = format!("static uniform {} {function}({text}) {{", name(ty));
        let place = Context { level: 2, in_foreach: true, ..Context::function(Mask::Full, None, Returns::Not) };
        let cost = self.function(&head, place, 3, |w| {
            w.show_params(&params, names);
            w.declare_as(ty, true);
            w.some_statements(3);
            let value = w.int(ty, true, 2);
            let reduce = w.rng.pick(&["reduce_add", "reduce_max", "reduce_min"]);
            w.line(&format!("return ({}){reduce}((varying {}){});", name(ty), name(ty), value.text));
        });
        let range = Range::of(ty, true);
        let cost = 8 * cost;
        self.functions.push(Function { name: function, params, ty, varying: false, range, cost, crev: true });
    }

    /// A function that changes elements of each lane's own, and perhaps a struct.
    fn procedure(&mut self) {
        let (procedure, own) = (self.name("p"), self.name("i"));
        let mut params = vec![format!("int {own}")];
        let mut taken: Vec<(Ty, Sharing, String)> = Vec::new();
        for array in self.arrays.clone() {
            let plain =
                array.member.is_empty() && array.len == LENGTH && array.name != "state" && array.name != "tasks";
            if plain && matches!(array.sharing, Sharing::Shared | Sharing::Constant) && self.rng.one_in(2) {
                taken.push((array.ty, array.sharing, self.name("a")));
            }
        }
        let record =
            (!self.structs.is_empty() && self.rng.one_in(2)).then(|| self.rng.draw(self.structs.len() as u64) as usize);
        params.extend(taken.iter().map(|(ty, sharing, array)| array_param(*ty, *sharing, array)));
        params.extend(record.map(|of| format!("varying {} &r", self.structs[of].name)));
        let head = format!(
            "static {}void {procedure}({}) {{",
            self.rng.pick(&["", "inline ", "noinline "]),
            params.join(", ")
        );
        let place = Writer::anywhere(Some(own), Returns::Nothing);
        let statements = 2 + self.config.size / 10;
        let cost = self.function(&head, place, statements, |w| {
            for (ty, sharing, array) in &taken {
                w.push_array(array.clone(), *ty, LENGTH, *sharing);
                // The caller's: whatever the caller does with it as a whole is not done here.
                w.arrays.last_mut().expect("it was pushed").level = 1;
            }
            if let Some(of) = record {
                w.show_record("r", of, true);
            }
            w.declare();
            w.some_statements(4);
            w.store();
        });
        let arrays = taken.iter().map(|(ty, sharing, _)| (*ty, *sharing)).collect();
        self.procedures.push(Procedure { name: procedure, arrays, record, cost });
    }

    /// A call of such a function.
    pub fn call_procedure(&mut self) {
        let fitting: Vec<usize> =
            (0..self.procedures.len()).filter(|&at| self.affords(self.procedures[at].cost)).collect();
        if fitting.is_empty() || self.place.own.is_none() || self.place.in_task {
            return self.assign();
        }
        let at = self.rng.pick(&fitting);
        let procedure = self.procedures[at].clone();
        let mut arguments: Vec<String> = self.own_index().into_iter().collect();
        for (ty, sharing) in procedure.arrays {
            match self.array(|a| a.ty == ty && a.sharing == sharing && a.len == LENGTH && a.member.is_empty()) {
                Some(array) => arguments.push(array.name),
                None => return self.assign(),
            }
        }
        if let Some(of) = procedure.record {
            let found = self.records.iter().rev().find(|r| r.of == of && r.varying && (r.full || !self.place.all_on));
            match found {
                Some(record) => arguments.push(record.name.clone()),
                None => return self.declare_record(of),
            }
        }
        self.spend(procedure.cost);
        self.line(&format!("{}({});", procedure.name, arguments.join(", ")));
    }

    /// The task of the program: it fills its part of an array.
    pub fn declare_task(&mut self) {
        if !self.has(Feature::Tasks) || self.rng.one_in(2) {
            return;
        }
        let task = self.name("work");
        let index = self.name("i");
        let constants: Vec<Input> = self.inputs.iter().filter(|i| i.sharing == Sharing::Constant).cloned().collect();
        let mut params = vec!["uniform unsigned int64 tasks[], uniform unsigned int count[]".to_owned()];
        params.extend(constants.iter().map(|i| array_param(i.ty, i.sharing, &i.name)));
        let head = format!("task void {task}({}, uniform int given) {{", params.join(", "));
        let outer = Context { level: 2, ..Context::function(Mask::Full, None, Returns::Not) };
        let statements = 3 + self.config.size / 10;
        self.function(&head, outer, statements, |w| {
            w.line("uniform int first = (uniform int)taskIndex * 16;");
            let own = Some(format!("(first + {index})"));
            let place = Context { own, in_foreach: true, in_task: true, ..w.place.diverged() };
            w.block(&format!("foreach ({index} = 0 ... 16) {{"), place, "}", |w| {
                w.constant_here("given".to_owned(), Ty::I32, Range::of(Ty::I32, true));
                w.push_array("tasks".to_owned(), Ty::U64, LENGTH, Sharing::Shared);
                w.push_array("count".to_owned(), Ty::U32, 4, Sharing::Counter);
                w.arrays.last_mut().expect("it was pushed").level = 1;
                w.declare();
                w.some_statements(5);
                let bits = w.int(Ty::U32, true, 2);
                w.line(&format!("tasks[first + {index}] += {};", bits.text));
            });
        });
        let names: Vec<&str> = constants.iter().map(|i| i.name.as_str()).collect();
        let given = [["tasks", "count"].as_slice(), &names].concat().join(", ");
        self.task = Some((task, given));
    }

    /// A launch of all tasks, which end before anything else happens.
    pub fn launch(&mut self) {
        let here = self.place.mask == Mask::Full && !self.place.in_foreach && !self.place.all_on;
        let Some((task, arrays)) = self.task.clone().filter(|_| here && self.affords(32)) else { return self.assign() };
        self.spend(16);
        let given = self.int(Ty::I32, false, 1);
        let counts = self.rng.pick(&["4", "4", "2, 2", "2, 2, 1"]);
        self.line(&format!("launch[{counts}] {task}({arrays}, {});", given.text));
        self.line("sync;");
    }
}

/// A parameter that takes a number.
fn declared(param: &Param, text: &str) -> String {
    format!("{}{} {text}", if param.varying { "" } else { "uniform " }, name(param.ty))
}

/// A parameter that takes an array.
pub(super) fn array_param(ty: Ty, sharing: Sharing, text: &str) -> String {
    let constant = if sharing == Sharing::Constant { "const " } else { "" };
    format!("{constant}uniform {} {text}[]", name(ty))
}
