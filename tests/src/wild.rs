//! Random programs that may do anything: they read and write memory that overlaps, at indices that may be out of bounds,
//! divide by what may be zero, ask about lanes, call, launch nothing but run out of fuel. What they do depends on the width,
//! and many trap; so engines are compared at one width each, traps, prints and all memory included.
//!
//! A program has `f(a, b, x, t, c, n, k)` and `peek(out)`, which shows its globals. [`WildProgram`] says what to pass.

use crate::data::random;
use crate::sheet::Sheet;
use std::fmt::Write as _;

/// Elements of every array.
pub const LENGTH: u64 = 40;
/// Most statements nested in each other.
const MAX_DEPTH: u32 = 3;

/// The element types of `t` and `c`, as the language calls them, and in bytes.
const TYPES: [(&str, usize); 11] = [
    ("int8", 1),
    ("unsigned int8", 1),
    ("int16", 2),
    ("unsigned int16", 2),
    ("int", 4),
    ("unsigned int", 4),
    ("int64", 8),
    ("unsigned int64", 8),
    ("float", 4),
    ("double", 8),
    ("float16", 2),
];

/// A program and its arguments.
pub struct WildProgram {
    /// Its text.
    pub text: String,
    /// The type of `t` and `c`: its name, and its size.
    pub elem: (&'static str, usize),
    /// Where in `a` the array `b` begins; outside of it, `b` is memory of its own.
    pub alias: u64,
    /// The arguments `n` and `k`.
    pub scalars: [i32; 2],
    /// Fuel of each call, if it is bounded.
    pub fuel: Option<u64>,
    /// Lanes that are active, as far as there are any.
    pub mask: u64,
}

/// The program of a seed.
pub fn wild_program(seed: u64) -> WildProgram {
    let mut w = Writer { sheet: Sheet::new(!seed), names: 0, loops: 0, place: Place::Function, elem: "", left: 0 };
    let elem = TYPES[w.sheet.draw(TYPES.len() as u64) as usize];
    w.elem = elem.0;
    w.program();
    let scalars = [w.sheet.draw(LENGTH + 1) as i32, w.sheet.draw(100) as i32 - 20];
    let (bounded, fuel) = (w.sheet.draw(4) == 0, w.sheet.draw(150));
    let (partial, bits) = (w.sheet.draw(4) == 0, random(seed, 3) | 1 << w.sheet.draw(2));
    WildProgram {
        elem,
        alias: w.sheet.draw(2 * LENGTH),
        scalars,
        fuel: bounded.then_some(fuel),
        mask: if partial { bits } else { u64::MAX },
        text: w.sheet.text,
    }
}

/// What a statement may do here.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In a function that returns a varying `int`.
    Function,
    /// In the exported function, which returns nothing.
    Kernel,
    /// Where no lane may leave.
    Closed,
}

struct Writer {
    sheet: Sheet,
    names: u32,
    /// Loops around the statement being written that lanes may leave.
    loops: u32,
    place: Place,
    elem: &'static str,
    /// Statements that may still be written: small programs compile fast, so many can be tried.
    left: u32,
}

impl Writer {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("k{}", self.names)
    }

    fn program(&mut self) {
        let elem = self.elem;
        let arrays = format!(
            "uniform int a[], uniform int b[], uniform float x[], uniform {elem} t[], const uniform {elem} c[]"
        );
        self.sheet.text += "uniform int total = 3;\nuniform int glob[16];\nint kept = 1;\n";
        self.sheet.text += "static uniform int sum(uniform int u) {\n    varying int mine = u + programIndex;\n";
        self.sheet.text += "    if (u & 1) mine ^= 5;\n    return reduce_add(mine);\n}\n";
        let _ = writeln!(self.sheet.text, "static int h(int i, uniform int u0, {elem} t0, {arrays}) {{");
        self.variables("i");
        self.left = 2 + self.sheet.draw(4) as u32;
        self.statements(0, 3);
        let result = self.int(1);
        let _ = writeln!(self.sheet.text, "    return {result};\n}}");
        let _ = writeln!(self.sheet.text, "export void f({arrays}, uniform int n, uniform int k) {{");
        self.sheet.line(0, "uniform int u0 = k;");
        self.place = Place::Kernel;
        self.kernel();
        self.sheet.text += "}\nexport void peek(uniform int out[]) {\n";
        self.sheet.text += "    for (uniform int i = 0; i < 16; ++i) out[i] = glob[i];\n";
        self.sheet.text += "    out[16] = total; out[17] = reduce_add(kept);\n}\n";
    }

    fn variables(&mut self, index: &str) {
        self.sheet.line(0, &format!("int v0 = {index}, v1 = 7 - {index} * 3, v2;"));
        self.sheet.line(0, &format!("float x0 = {index} * 0.75f - 3, x1; uniform int u1 = 2; int table[4];"));
    }

    fn kernel(&mut self) {
        let elem = self.elem;
        let outer = self.sheet.draw(4);
        let count = 2 + self.sheet.draw(4);
        let close = match outer {
            0 => {
                self.sheet.line(0, &format!("int i = programIndex; {elem} t0 = ({elem})i;"));
                self.variables("i");
                self.sheet.line(0, &format!("for (uniform int r = 0; r < {count}; ++r) {{"));
                "}"
            }
            1 => {
                self.sheet.line(0, "for (uniform int r = 0; r < n; r += programCount) {");
                self.sheet.line(0, &format!("int i = r + programIndex; {elem} t0 = ({elem})(r - i);"));
                self.variables("i");
                "}"
            }
            2 => {
                self.sheet.line(0, "foreach (j = 0 ... 3, i = 0 ... n / 3) {");
                self.sheet.line(0, &format!("{elem} t0 = ({elem})(j * 5 - i);"));
                self.variables("i");
                "}"
            }
            _ => {
                self.sheet.line(0, "foreach (i = 0 ... n) {");
                self.sheet.line(0, &format!("{elem} t0 = ({elem})(i * 3);"));
                self.variables("i");
                "}"
            }
        };
        self.loops = 1;
        self.left = 3 + self.sheet.draw(7) as u32;
        self.statements(1, 5);
        self.sheet.line(1, "a[i] += v0 ^ v1 + v2; x[i] = x0 - x1; t[i] = t0;");
        self.sheet.line(0, close);
    }

    fn statements(&mut self, depth: u32, most: u64) {
        for _ in 0..1 + self.sheet.draw(most) {
            if self.left > 0 {
                self.left -= 1;
                self.statement(depth);
            }
        }
    }

    fn block(&mut self, depth: u32, head: &str, most: u64, tail: &str) {
        self.sheet.line(depth, head);
        self.statements(depth + 1, most);
        self.sheet.line(depth, tail);
    }

    fn statement(&mut self, depth: u32) {
        let choices = if depth < MAX_DEPTH { 24 } else { 14 };
        match self.sheet.draw(choices) {
            0..=2 => self.assignment(depth),
            3..=6 => self.store(depth),
            7 => self.uniform(depth),
            8 => self.call(depth),
            9 | 10 => self.leave(depth),
            11 => self.rare(depth),
            12 | 13 => self.atomic(depth),
            14..=16 => self.branch(depth),
            17..=19 => self.counted(depth),
            20 => self.open_loop(depth),
            21 => self.each(depth),
            22 => self.switch(depth),
            _ => self.everywhere(depth),
        }
    }

    fn assignment(&mut self, depth: u32) {
        let text = match self.sheet.draw(5) {
            0 => format!("x{} {} {};", self.sheet.draw(2), self.sheet.pick(&["=", "+=", "*="]), self.float(1)),
            1 => format!("t0 = {};", self.other(1)),
            2 => format!("kept += {};", self.int(0)),
            _ => {
                format!("v{} {} {};", self.sheet.draw(3), self.sheet.pick(&["=", "+=", "-=", "^=", "*="]), self.int(2))
            }
        };
        self.sheet.line(depth, &text);
    }

    /// An index of any shape.
    fn index(&mut self) -> String {
        if self.sheet.draw(6) == 0 { format!("({} & 31)", self.uniform_int()) } else { self.varying_index() }
    }

    /// An index that may differ between lanes: in bounds most of the time.
    fn varying_index(&mut self) -> String {
        match self.sheet.draw(40) {
            0..=15 => "i".into(),
            16..=22 => format!("(({} | i) & 31)", self.int(1)),
            23..=26 => format!("(i ^ {})", self.sheet.draw(4)),
            27..=29 => "(i * u1 & 31)".into(),
            30 => "((u1 & 7) + programIndex)".into(),
            31..=33 => "(i + u0 & 31)".into(),
            34 => "programIndex".into(),
            35 => format!("(i + {})", self.sheet.draw(3)),
            36 => format!("((int64){} + i & 31)", self.int(0)),
            37 => format!("((unsigned int)({} + i) % 41)", self.int(0)),
            38 => format!("(i + {})", self.int(1)),
            _ => "(i & 31)".into(),
        }
    }

    fn store(&mut self, depth: u32) {
        let op = self.sheet.pick(&["=", "+=", "^="]);
        if self.sheet.draw(5) == 0 {
            return self.store_uniform(depth, op);
        }
        let index = self.varying_index();
        let text = match self.sheet.draw(7) {
            0 => format!("b[{index}] {op} {};", self.int(1)),
            1 => format!("x[{index}] = {};", self.float(1)),
            2 => format!("t[{index}] = {};", self.other(1)),
            3 => format!("glob[{index} & 15] {op} {};", self.uniform_int()),
            4 => format!("table[{index} & 3] {op} {};", self.int(1)),
            _ => format!("a[{index}] {op} {};", self.int(1)),
        };
        self.sheet.line(depth, &text);
    }

    /// To one place, which takes a uniform value.
    fn store_uniform(&mut self, depth: u32, op: &str) {
        let (elem, index, value) = (self.elem, self.uniform_int(), self.uniform_int());
        let text = match self.sheet.draw(5) {
            0 => format!("x[{index} & 31] = (uniform float)({value});"),
            1 => format!("t[{index} & 31] = (uniform {elem})({value});"),
            2 => format!("b[{index} & 31] {op} {value};"),
            3 => format!("a[{index} & 63] {op} {value};"),
            _ => format!("glob[{index} & 15] {op} {value};"),
        };
        self.sheet.line(depth, &text);
    }

    fn uniform(&mut self, depth: u32) {
        let target = self.sheet.pick(&["u0", "u1", "total"]);
        let value = self.uniform_int();
        self.sheet.line(depth, &format!("{target} = {value};"));
    }

    fn uniform_int(&mut self) -> String {
        match self.sheet.draw(7) {
            0 => format!("reduce_add({})", self.int(0)),
            1 => "popcnt(lanemask())".into(),
            2 => format!("extract({}, {})", self.int(0), self.sheet.draw(9)),
            3 => format!("(u0 {} u1)", self.sheet.pick(&["+", "-", "*", "&"])),
            4 => format!("a[u{} & 31]", self.sheet.draw(2)),
            5 => format!("(any({}) ? u0 : 5)", self.condition()),
            _ => self.sheet.draw(30).to_string(),
        }
    }

    fn call(&mut self, depth: u32) {
        let (v, arg) = (self.sheet.draw(3), self.int(0));
        let text = match self.sheet.draw(3) {
            0 => format!("v{v} += crev sum(v{});", self.sheet.draw(3)),
            // The function does not call itself.
            _ if self.place == Place::Function => format!("v{v} = clamp({arg}, -9, v1);"),
            _ => format!("v{v} ^= h({arg}, u1, t0, a, b, x, t, c);"),
        };
        self.sheet.line(depth, &text);
    }

    fn leave(&mut self, depth: u32) {
        let condition = self.condition();
        let text = match (self.loops, self.place, self.sheet.draw(4)) {
            (1.., _, 0 | 1) => format!("if ({condition}) break;"),
            (1.., _, 2) => format!("if ({condition}) continue;"),
            (_, Place::Function, _) => format!("if ({condition}) return {};", self.int(0)),
            (_, Place::Kernel, 3) => format!("if ({condition}) return;"),
            _ => format!("v2 = {condition} ? 1 : v1;"),
        };
        self.sheet.line(depth, &text);
    }

    /// What may trap, prints, or only the interpreter does.
    fn rare(&mut self, depth: u32) {
        let elem = self.elem;
        let text = match self.sheet.draw(7) {
            0 => format!("v1 = {} / ({} & 3);", self.int(0), self.int(0)),
            1 => format!("u1 = u0 {} (u1 & 3);", self.sheet.pick(&["/", "%"])),
            2 => format!("assert({} != 77);", self.int(0)),
            3 => format!("print(\"% %\\n\", v{}, u{});", self.sheet.draw(3), self.sheet.draw(2)),
            4 => format!("t0 /= ({elem})(({}) | 1);", self.int(0)),
            5 => {
                let (p, size) = (self.name(), 1 + self.sheet.draw(5));
                format!(
                    "{{ uniform int * uniform {p} = uniform new uniform int[{size}]; {p}[u1 & 3] = u0; u0 += {p}[0]; delete {p}; }}"
                )
            }
            _ => format!("v2 = v0 % ({});", self.int(0)),
        };
        self.sheet.line(depth, &text);
    }

    fn atomic(&mut self, depth: u32) {
        let (op, value) = (self.sheet.pick(&["add", "max", "xor"]), self.int(0));
        let text = match self.sheet.draw(4) {
            0 => format!("atomic_{op}_global(&total, {value});"),
            1 => format!("v1 = atomic_{op}_local(&a[{} & 31], {value});", self.int(0)),
            2 => format!("atomic_{op}_global(&glob[u1 & 15], {});", self.uniform_int()),
            _ => format!("x1 = {};", self.float(2)),
        };
        self.sheet.line(depth, &text);
    }

    fn branch(&mut self, depth: u32) {
        let condition = match self.sheet.draw(4) {
            0 => format!("({} & 1) != 0", self.uniform_int()),
            _ => self.condition(),
        };
        let keyword = self.sheet.pick(&["if", "if", "cif"]);
        self.sheet.line(depth, &format!("{keyword} ({condition}) {{"));
        self.statements(depth + 1, 2);
        if self.sheet.draw(2) == 0 {
            self.block(depth, "} else {", 2, "}");
        } else {
            self.sheet.line(depth, "}");
        }
    }

    fn counted(&mut self, depth: u32) {
        let (name, turns) = (self.name(), 1 + self.sheet.draw(4));
        let head = match self.sheet.draw(4) {
            0 => format!("for (uniform int {name} = 0; {name} < {turns}; ++{name}) {{"),
            1 => format!("for (uniform int {name} = (u1 & 3); {name} >= 0; --{name}) {{"),
            2 => format!("for (int {name} = 0; {name} < {turns}; ++{name}) {{"),
            _ => format!("for (int {name} = (i >> {turns}) & 3; {name} < 4; ++{name}) {{"),
        };
        self.in_loop(|w| w.block(depth, &head, 2, "}"));
    }

    fn in_loop(&mut self, write: impl FnOnce(&mut Self)) {
        self.loops += 1;
        write(self);
        self.loops -= 1;
    }

    fn open_loop(&mut self, depth: u32) {
        let (name, condition) = (self.name(), self.condition());
        self.sheet.line(depth, &format!("int {name} = 0;"));
        let (head, tail) = match self.sheet.draw(2) {
            0 => (format!("while (++{name} < 5 && ({condition})) {{"), "}".to_owned()),
            _ => ("do {".to_owned(), format!("}} while (++{name} < 4 && ({condition}));")),
        };
        self.in_loop(|w| w.block(depth, &head, 2, &tail));
    }

    fn each(&mut self, depth: u32) {
        let (name, value) = (self.name(), self.int(0));
        let head = match self.sheet.draw(2) {
            0 => format!("foreach_active ({name}) {{ u0 += (uniform int){name};"),
            _ => format!("foreach_unique ({name} in ({value} + i) & 3) {{ u1 ^= {name};"),
        };
        self.in_loop(|w| w.block(depth, &head, 2, "}"));
    }

    fn switch(&mut self, depth: u32) {
        let value = self.int(1);
        self.sheet.line(depth, &format!("switch (({value}) & 3) {{"));
        let around = std::mem::take(&mut self.loops);
        for label in ["case 0:", "default:", "case 1:"] {
            self.sheet.line(depth, label);
            self.statements(depth + 1, 1);
            if self.sheet.draw(3) > 0 {
                self.sheet.line(depth + 1, "break;");
            }
        }
        self.loops = around;
        self.sheet.line(depth, "}");
    }

    fn everywhere(&mut self, depth: u32) {
        let (loops, place) = (std::mem::take(&mut self.loops), std::mem::replace(&mut self.place, Place::Closed));
        self.block(depth, "unmasked {", 2, "}");
        (self.loops, self.place) = (loops, place);
    }

    fn int(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.sheet.draw(9) {
                0 => "i".into(),
                1 => (self.sheet.draw(40) as i64 - 20).to_string(),
                2 => "table[i & 3]".into(),
                3 => "programIndex".into(),
                4 => "u0".into(),
                5 => "kept".into(),
                _ => format!("v{}", self.sheet.draw(3)),
            };
        }
        let (x, y) = (self.int(depth - 1), self.int(depth - 1));
        match self.sheet.draw(20) {
            0 => format!("a[{}]", self.index()),
            1 => format!("b[{}]", self.index()),
            2 => format!("(int)c[{}]", self.index()),
            3 => format!("shuffle({x}, {y})"),
            4 => format!("rotate({x}, {})", self.sheet.draw(5)),
            5 => format!("broadcast({x}, {})", self.sheet.draw(5)),
            6 => format!("(({}) ? {x} : {y})", self.condition()),
            7 => format!("(int)({})", self.float(depth - 1)),
            8 => format!("(int)({})", self.other(depth - 1)),
            9 => format!("({x} {} ({y} & 7))", self.sheet.pick(&["<<", ">>"])),
            10 => format!("({x} / (({y}) | 1))"),
            11 => self.uniform_int(),
            12 => format!("{}({x}, {y})", self.sheet.pick(&["min", "max"])),
            13 => format!("glob[{} & 15]", self.index()),
            _ => format!("({x} {} {y})", self.sheet.pick(&["+", "-", "*", "&", "|", "^"])),
        }
    }

    fn float(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.sheet.draw(4) {
                0 => "0.75f".into(),
                1 => format!("(float)v{}", self.sheet.draw(3)),
                2 => format!("x[{}]", self.index()),
                _ => format!("x{}", self.sheet.draw(2)),
            };
        }
        let (x, y) = (self.float(depth - 1), self.float(depth - 1));
        match self.sheet.draw(9) {
            0 => format!("sqrt({x})"),
            1 => format!("max({x}, {y})"),
            2 => format!("(({}) ? {x} : {y})", self.condition()),
            3 => format!("floor({x})"),
            4 => format!("(float)({})", self.other(0)),
            5 => format!("reduce_add({x})"),
            _ => format!("({x} {} {y})", self.sheet.pick(&["+", "-", "*", "/"])),
        }
    }

    /// An expression of the program's own type.
    fn other(&mut self, depth: u32) -> String {
        let elem = self.elem;
        match self.sheet.draw(if depth == 0 { 4 } else { 8 }) {
            0 => format!("({elem})({})", self.int(0)),
            1 => format!("({elem})({})", self.float(0)),
            2 => format!("c[{}]", self.index()),
            3 => "t0".into(),
            4 => format!("t[{}]", self.index()),
            5 => format!("(({}) ? {} : t0)", self.condition(), self.other(depth - 1)),
            6 => format!("min({}, t0)", self.other(depth - 1)),
            _ => format!("({elem})({} {} t0)", self.other(depth - 1), self.sheet.pick(&["+", "-", "*"])),
        }
    }

    fn condition(&mut self) -> String {
        let comparison = self.sheet.pick(&["<", "<=", ">", "==", "!="]);
        match self.sheet.draw(6) {
            0 => format!("{} {comparison} {}", self.float(0), self.float(0)),
            1 => format!("{} {comparison} t0", self.other(0)),
            2 => format!("({} & {}) == 0", self.int(0), 1 + self.sheet.draw(6)),
            3 => format!("({} < {} && v0 {comparison} {})", self.int(0), self.int(0), self.sheet.draw(20)),
            _ => format!("{} {comparison} {}", self.int(0), self.int(0)),
        }
    }
}
