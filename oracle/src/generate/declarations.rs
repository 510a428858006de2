//! Enums, structs, global variables, and the variables of composed types.

use super::Feature;
use super::scope::{Array, Mask, Record, Sharing, Struct, Variable, Vector};
use super::types::name;
use super::writer::Writer;
use spmdvm::Ty;

/// Components of short vectors, by name.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Writer {
    /// Chooses the number types.
    pub fn choose_types(&mut self) {
        self.types = vec![Ty::I32, Ty::U32];
        let groups: [(Feature, &[Ty]); 5] = [
            (Feature::Small, &[Ty::I8, Ty::U8, Ty::I16, Ty::U16]),
            (Feature::Wide, &[Ty::I64, Ty::U64]),
            (Feature::Floats, &[Ty::F32]),
            (Feature::Doubles, &[Ty::F64]),
            (Feature::Halves, &[Ty::F16]),
        ];
        for (feature, types) in groups {
            for ty in types {
                if self.has(feature) && self.rng.one_in(2) {
                    self.types.push(*ty);
                }
            }
        }
    }

    /// The types that the program declares.
    pub fn declare_types(&mut self) {
        if self.has(Feature::Enums) && self.rng.one_in(2) {
            let name = self.name("Enum");
            let names: Vec<String> = (0..3).map(|_| self.name("E")).collect();
            let gap = self.rng.draw(100);
            self.line(&format!("enum {name} {{ {}, {} = {}, {} }};", names[0], names[1], 3 + gap, names[2]));
            self.enums.push(names);
        }
        if self.has(Feature::Structs) && self.rng.draw(3) > 0 {
            self.declare_struct();
        }
    }

    fn declare_struct(&mut self) {
        let name_of = self.name("S");
        let members: Vec<(&'static str, Ty)> =
            ["a", "b", "c"][..1 + self.rng.draw(3) as usize].iter().map(|member| (*member, self.any_type())).collect();
        let array = self.rng.one_in(2).then(|| self.any_type());
        let mut text: Vec<String> = members.iter().map(|(member, ty)| format!("{} {member};", name(*ty))).collect();
        text.extend(array.map(|ty| format!("{} list[4];", name(ty))));
        self.line(&format!("struct {name_of} {{ {} }};", text.join(" ")));
        let shape = Struct { name: name_of.clone(), members, array, alias: None, operators: Vec::new() };
        self.structs.push(shape);
        if self.rng.one_in(3) {
            let alias = self.name("T");
            self.line(&format!("typedef {name_of} {alias};"));
            self.structs.last_mut().expect("it was pushed").alias = Some(alias);
        }
        if self.has(Feature::Operators) {
            self.declare_operators();
        }
    }

    /// Operators of the last struct: each does something else with the members.
    fn declare_operators(&mut self) {
        let shape = self.structs.last().expect("one was declared").clone();
        let of = shape.alias.clone().unwrap_or(shape.name.clone());
        let mut operators = vec!["+", "-", "*", "|", "<<", "==", "-=", "!"];
        operators.retain(|_| self.rng.one_in(2));
        for operator in &operators {
            let assigns = *operator == "-=";
            let (result, first) = match *operator {
                "==" => ("bool".to_owned(), format!("{of} x")),
                "-=" => (format!("{of} &"), format!("{of} &x")),
                _ => (of.clone(), format!("{of} x")),
            };
            let second = if *operator == "!" { String::new() } else { format!(", {of} y") };
            self.line(&format!("static {result} operator{operator}({first}{second}) {{"));
            if *operator == "==" {
                let (member, _) = shape.members[0];
                self.line(&format!("    return x.{member} == y.{member};\n}}"));
                continue;
            }
            let y = if second.is_empty() { "x" } else { "y" };
            let r = if assigns { "x" } else { "r" };
            if !assigns {
                self.line(&format!("    {of} r = x;"));
            }
            for (member, ty) in &shape.members {
                let (a, b) = (format!("x.{member}"), format!("{y}.{member}"));
                let value = self.mixed(*ty, &a, &b);
                self.line(&format!("    {r}.{member} = {value};"));
            }
            if shape.array.is_some() {
                self.line(&format!("    {r}.list[1] = {y}.list[2];"));
            }
            self.line(&format!("    return {r};\n}}"));
        }
        self.structs.last_mut().expect("one was declared").operators = operators;
    }

    /// A value made of two of a type, which variables may hold if they may hold both.
    fn mixed(&mut self, ty: Ty, a: &str, b: &str) -> String {
        if ty.is_float() {
            let half = super::types::float_literal(ty, 0.5);
            return match self.rng.one_in(2) {
                true => format!("{a} * {half} + {b} * {half}"),
                false => format!("{a} < {b} ? {b} : {a}"),
            };
        }
        let ops: &[&str] = if ty.is_signed() { &["^", "|", "&"] } else { &["+", "-", "*", "^"] };
        format!("{a} {} {b}", self.rng.pick(ops))
    }

    /// The global variables.
    pub fn declare_globals(&mut self) {
        if !self.has(Feature::Globals) {
            return;
        }
        for _ in 0..self.rng.draw(3) {
            let (global, ty) = (self.name("g"), self.any_type());
            let (value, storage) = (self.small_literal(ty), self.rng.pick(&["", "static "]));
            self.line(&format!("{storage}uniform {} {global} = {value};", name(ty)));
            self.push_variable(global, ty, false, true);
        }
        if self.sees_gang() && self.rng.one_in(3) {
            let (global, ty) = (self.name("g"), self.any_type());
            let value = self.small_literal(ty);
            self.line(&format!("static varying {} {global} = {value};", name(ty)));
            self.push_variable(global, ty, true, true);
        }
        if self.rng.one_in(2) {
            let (global, ty) = (self.name("g"), self.any_type());
            let values: Vec<String> = (0..8).map(|_| self.small_literal(ty)).collect();
            self.line(&format!("static const uniform {} {global}[8] = {{ {} }};", name(ty), values.join(", ")));
            self.push_array(global, ty, 8, Sharing::Constant);
        }
        if let (Some(record), true) = (self.structs.first().cloned(), self.rng.one_in(2)) {
            let global = self.name("g");
            self.line(&format!("static uniform {} {global}[64];", record.name));
            for (member, ty) in &record.members {
                let member = [".a", ".b", ".c"][["a", "b", "c"].iter().position(|m| m == member).unwrap_or(0)];
                let array = Array {
                    name: global.clone(),
                    member,
                    ty: *ty,
                    len: 64,
                    sharing: Sharing::Shared,
                    full: true,
                    level: self.place.level,
                };
                self.arrays.push(array);
            }
        }
    }

    /// A new struct variable, or one assigned whole.
    pub fn record(&mut self) {
        if self.structs.is_empty() {
            return self.declare();
        }
        let fitting: Vec<Record> =
            self.records.iter().filter(|r| r.varying && (r.full || !self.place.all_on)).cloned().collect();
        if fitting.len() >= 2 && self.rng.draw(3) > 0 {
            let (a, b) = (self.rng.pick(&fitting), self.rng.pick(&fitting));
            if a.of == b.of && a.name != b.name {
                return self.assign_record(&a, &b);
            }
        }
        if self.rng.one_in(4) && !fitting.is_empty() {
            let record = self.rng.pick(&fitting);
            return self.point_to_record(&record);
        }
        let of = self.rng.draw(self.structs.len() as u64) as usize;
        self.declare_record(of);
    }

    /// Assigns a struct of one type to another, or what an operator makes of both.
    fn assign_record(&mut self, a: &Record, b: &Record) {
        let (a, b, operators) = (&a.name, &b.name, self.structs[a.of].operators.clone());
        let text = match operators.is_empty() || self.rng.one_in(3) {
            true => format!("{a} = {b};"),
            false => match self.rng.pick(&operators) {
                "-=" => format!("{a} -= {b};"),
                "!" => format!("{a} = !{b};"),
                "==" => format!("if ({a} == {b}) {a} = {b};"),
                operator => format!("{a} = {b} {operator} {a};"),
            },
        };
        self.line(&text);
    }

    /// A pointer to a struct, whose members have two names from here on.
    fn point_to_record(&mut self, record: &Record) {
        let (pointer, shape) = (self.name("p"), self.structs[record.of].clone());
        self.line(&format!("varying {} * uniform {pointer} = &{};", shape.name, record.name));
        for (member, ty) in shape.members {
            let (text, full) = (format!("{pointer}->{member}"), record.full);
            self.push_variable(text, ty, true, false);
            self.variables.last_mut().expect("it was pushed").full &= full;
        }
    }

    /// A new struct variable with all its members set.
    pub fn declare_record(&mut self, of: usize) {
        let (record, shape) = (self.name("s"), self.structs[of].clone());
        let varying = self.varies() && self.rng.draw(4) > 0;
        let written = shape.alias.as_ref().unwrap_or(&shape.name);
        self.line(&format!("{}{written} {record};", if varying { "" } else { "uniform " }));
        for (member, ty) in &shape.members {
            let value = self.value(*ty, varying, 1);
            self.line(&format!("{record}.{member} = {};", value.text));
        }
        if let Some(ty) = shape.array {
            for at in 0..4 {
                let value = self.value(ty, varying, 0);
                self.line(&format!("{record}.list[{at}] = {};", value.text));
            }
        }
        self.show_record(&record, of, varying);
    }

    /// Makes a struct and its members visible.
    pub fn show_record(&mut self, record: &str, of: usize, varying: bool) {
        let shape = self.structs[of].clone();
        for (member, ty) in shape.members {
            self.push_variable(format!("{record}.{member}"), ty, varying, false);
        }
        if let Some(ty) = shape.array {
            let sharing = if varying { Sharing::PerLane } else { Sharing::Shared };
            self.push_array(format!("{record}.list"), ty, 4, sharing);
            if let Some(array) = self.arrays.last_mut() {
                array.full = self.place.mask == Mask::Full || !varying;
            }
        }
        let full = self.place.mask == Mask::Full;
        self.records.push(Record { name: record.to_owned(), of, varying, full });
    }

    /// A new short vector, or an operation on whole ones.
    pub fn short_vector(&mut self) {
        let fitting: Vec<Vector> = self.vectors.iter().filter(|v| v.full || !self.place.all_on).cloned().collect();
        if fitting.is_empty() || self.rng.one_in(3) || !self.varies() {
            return self.declare_vector();
        }
        let (a, b) = (self.rng.pick(&fitting), self.rng.pick(&fitting));
        if a.n != b.n || a.ty != b.ty {
            return self.declare_vector();
        }
        match a.ty {
            ty if ty.is_float() => {
                let half = super::types::float_literal(ty, 0.5);
                self.line(&format!("{} = {} * {half};", a.name, b.name));
            }
            ty => {
                let ops: &[&str] = if ty.is_signed() { &["^", "|", "&"] } else { &["+", "-", "*", "^", "&"] };
                let op = self.rng.pick(ops);
                self.line(&format!("{} = {} {op} {};", a.name, a.name, b.name));
            }
        }
    }

    fn declare_vector(&mut self) {
        if !self.varies() {
            return self.declare();
        }
        let types: Vec<Ty> = self.types.iter().copied().filter(|ty| ty.size() >= 4).collect();
        let (vector, ty, n) = (self.name("w"), self.rng.pick(&types), 2 + self.rng.draw(3));
        let values: Vec<String> = (0..n).map(|_| self.value(ty, true, 1).text).collect();
        self.line(&format!("{}<{n}> {vector} = {{ {} }};", name(ty), values.join(", ")));
        for component in &COMPONENTS[..n as usize] {
            self.push_variable(format!("{vector}.{component}"), ty, true, false);
        }
        let full = self.place.mask == Mask::Full;
        self.vectors.push(Vector { name: vector, ty, n, full });
    }

    /// The variables of the program as functions see them, which may not change them.
    pub fn as_seen_by_functions(&self) -> Vec<Variable> {
        self.variables.iter().cloned().map(|v| Variable { assignable: false, addressable: false, ..v }).collect()
    }
}
