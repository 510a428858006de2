//! Random programs in the source language: kernels that compute each element of their output from the element's index
//! alone, so that they must give the same bits at every width, on every engine.

use crate::sheet::Sheet;

/// Most statements nested in each other.
const MAX_DEPTH: u32 = 4;
/// Local variables of each type.
const VARIABLES: u64 = 3;

/// The program of a seed: `export void f(uniform int ints[], uniform float floats[], uniform int n)`.
///
/// Every loop ends (its counter is out of reach of the other statements), no division can trap, and every index is in
/// bounds; so a trap is a failure.
pub fn random_program(seed: u64) -> String {
    let mut sheet = Sheet::new(seed);
    let has_struct = sheet.draw(2) == 0;
    let mut writer = Writer { sheet, loops: 0, in_loop: 0, within: Within::Kernel, has_struct };
    if has_struct {
        writer.touch();
    }
    writer.helper();
    writer.kernel();
    writer.sheet.text
}

struct Writer {
    sheet: Sheet,
    /// Loops so far, for the names of their counters.
    loops: u32,
    /// Loops around the statement being written.
    in_loop: u32,
    within: Within,
    /// Is there a local struct, which is handed on by reference, instead of a local array?
    has_struct: bool,
}

/// The function being written.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Kernel,
    /// `g`, which may return early.
    Helper,
    /// `touch`, which changes a struct and may return early.
    Touch,
}

impl Writer {
    /// A function that changes a struct; lanes leave it at different times.
    fn touch(&mut self) {
        self.sheet.text += "struct S { int a; float b; int c; };\nstatic void touch(S &s, int i, float x0) {\n";
        self.within = Within::Touch;
        self.variables();
        self.statements(1, 4);
        self.sheet.text += "}\n";
    }

    /// A function that lanes leave at different times.
    fn helper(&mut self) {
        self.sheet.text += "static int g(int i, float x0) {\n";
        self.within = Within::Helper;
        self.variables();
        self.statements(0, 3);
        self.within = Within::Kernel;
        let result = self.int(2);
        self.sheet.line(0, &format!("return {result};"));
        self.sheet.text += "}\n";
    }

    fn kernel(&mut self) {
        self.sheet.text += "export void f(uniform int ints[], uniform float floats[], uniform int n) {\n";
        self.sheet.text += "  foreach (i = 0 ... n) {\n    float x0 = i * 0.25f - 3;\n";
        self.variables();
        self.statements(1, 6);
        let (int, float) = (self.int(2), self.float(2));
        self.sheet.line(1, &format!("ints[i] = {int} + g(i, x0) + a1 * 31 + a2;"));
        self.sheet.line(1, &format!("floats[i] = {float} + x1 - x2;"));
        self.sheet.text += "  }\n}\n";
    }

    fn variables(&mut self) {
        self.sheet.line(0, "int a0 = i, a1 = i * 7 - 20, a2;");
        self.sheet.line(0, "float x1 = x0 * x0, x2;");
        match (self.has_struct, self.within) {
            (false, _) => self.sheet.line(0, "int table[4] = { 0, 0, 0, 0 };"),
            (true, Within::Touch) => {}
            (true, _) => self.sheet.line(0, "S s; s.c = a1;"),
        }
    }

    fn statements(&mut self, depth: u32, most: u64) {
        for _ in 0..1 + self.sheet.draw(most) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let choices = if depth < MAX_DEPTH { 11 } else { 5 };
        match self.sheet.draw(choices) {
            0 | 1 => {
                let (name, op) = (self.int_variable(), self.sheet.pick(&["=", "+=", "-=", "^=", "*="]));
                let value = self.int(2);
                self.sheet.line(depth, &format!("{name} {op} {value};"));
            }
            2 => {
                let (name, op) = (self.float_variable(), self.sheet.pick(&["=", "+=", "-=", "*="]));
                let value = self.float(2);
                self.sheet.line(depth, &format!("{name} {op} {value};"));
            }
            3 if self.has_struct => self.member(depth),
            3 => {
                let (index, value) = (self.int(1), self.int(1));
                self.sheet.line(depth, &format!("table[({index}) & 3] = {value};"));
            }
            4 => self.leave(depth),
            5..=7 => self.branch(depth),
            8 => self.counted_loop(depth),
            9 => self.open_loop(depth),
            _ => self.switch(depth),
        }
    }

    /// Changes a member, or has a function change some.
    fn member(&mut self, depth: u32) {
        match self.sheet.draw(4) {
            0 if self.within != Within::Touch => self.sheet.line(depth, "touch(s, i, x0);"),
            0 | 1 => {
                let value = self.float(1);
                self.sheet.line(depth, &format!("s.b += {value}; x2 = s.b;"));
            }
            _ => {
                let (name, op) = (self.sheet.pick(&["a", "c"]), self.sheet.pick(&["=", "+=", "^="]));
                let value = self.int(1);
                self.sheet.line(depth, &format!("s.{name} {op} {value};"));
            }
        }
    }

    /// A conditional `break`, `continue` or `return`, where there is something to leave.
    fn leave(&mut self, depth: u32) {
        let condition = self.condition(1);
        match (self.in_loop, self.within, self.sheet.draw(3)) {
            (1.., _, 0) => self.sheet.line(depth, &format!("if ({condition}) break;")),
            (1.., _, 1) => self.sheet.line(depth, &format!("if ({condition}) continue;")),
            (_, Within::Touch, _) => self.sheet.line(depth, &format!("if ({condition}) return;")),
            (_, Within::Helper, _) => {
                let value = self.int(1);
                self.sheet.line(depth, &format!("if ({condition}) return {value};"));
            }
            _ => self.sheet.line(depth, &format!("a0 += {condition} ? 1 : -1;")),
        }
    }

    fn branch(&mut self, depth: u32) {
        let (keyword, condition) = (self.sheet.pick(&["if", "if", "cif"]), self.condition(2));
        self.sheet.line(depth, &format!("{keyword} ({condition}) {{"));
        self.statements(depth + 1, 3);
        if self.sheet.draw(2) == 0 {
            self.sheet.line(depth, "} else {");
            self.statements(depth + 1, 3);
        }
        self.sheet.line(depth, "}");
    }

    /// A loop whose number of turns is uniform or differs from lane to lane.
    fn counted_loop(&mut self, depth: u32) {
        let name = self.counter();
        let turns = self.sheet.draw(5);
        let bound = if self.sheet.draw(2) == 0 { turns.to_string() } else { format!("((i >> {turns}) & 7)") };
        self.sheet.line(depth, &format!("for (int {name} = 0; {name} < {bound}; ++{name}) {{"));
        self.body(depth);
        self.sheet.line(depth, "}");
    }

    fn open_loop(&mut self, depth: u32) {
        let name = self.counter();
        let condition = self.condition(1);
        self.sheet.line(depth, &format!("int {name} = 0;"));
        if self.sheet.draw(2) == 0 {
            self.sheet.line(depth, &format!("while (++{name} < 6 && ({condition})) {{"));
            self.body(depth);
            self.sheet.line(depth, "}");
        } else {
            self.sheet.line(depth, "do {");
            self.body(depth);
            self.sheet.line(depth, &format!("}} while (++{name} < 5 && ({condition}));"));
        }
    }

    fn body(&mut self, depth: u32) {
        self.in_loop += 1;
        self.statements(depth + 1, 3);
        self.in_loop -= 1;
    }

    fn switch(&mut self, depth: u32) {
        let value = self.int(1);
        self.sheet.line(depth, &format!("switch (({value}) & 3) {{"));
        // A `continue` in a switch belongs to a loop around it; `break` belongs to the switch.
        let around = std::mem::take(&mut self.in_loop);
        for label in ["case 0:", "case 2:", "default:", "case 1:"] {
            if self.sheet.draw(3) == 0 {
                continue;
            }
            self.sheet.line(depth, label);
            self.statements(depth + 1, 2);
            if self.sheet.draw(3) > 0 {
                self.sheet.line(depth + 1, "break;");
            }
        }
        self.in_loop = around;
        self.sheet.line(depth, "}");
    }

    fn counter(&mut self) -> String {
        self.loops += 1;
        format!("k{}", self.loops)
    }

    fn int_variable(&mut self) -> String {
        format!("a{}", self.sheet.draw(VARIABLES))
    }

    fn float_variable(&mut self) -> String {
        format!("x{}", self.sheet.draw(VARIABLES))
    }

    fn int(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.sheet.draw(4) {
                0 => "i".into(),
                1 => (self.sheet.draw(40) as i64 - 20).to_string(),
                2 if self.has_struct => format!("s.{}", self.sheet.pick(&["a", "c"])),
                2 => "table[i & 3]".into(),
                _ => self.int_variable(),
            };
        }
        let (a, b) = (self.int(depth - 1), self.int(depth - 1));
        match self.sheet.draw(9) {
            0 => format!("({a} / (({b}) | 1))"),
            1 => format!("({a} % ((({b}) & 15) + 1))"),
            2 => format!("({a} << (({b}) & 7))"),
            3 => format!("({a} >> (({b}) & 7))"),
            4 => format!("(({}) ? {a} : {b})", self.condition(0)),
            5 => format!("(int)({})", self.float(depth - 1)),
            6 => format!("min({a}, {b})"),
            _ => format!("({a} {} {b})", self.sheet.pick(&["+", "-", "*", "&", "|", "^"])),
        }
    }

    fn float(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.sheet.draw(3) {
                0 => "0.75f".into(),
                1 => format!("(float)({})", self.int_variable()),
                _ => self.float_variable(),
            };
        }
        let (a, b) = (self.float(depth - 1), self.float(depth - 1));
        match self.sheet.draw(8) {
            0 => format!("sqrt(abs({a}))"),
            1 => format!("max({a}, {b})"),
            2 => format!("(({}) ? {a} : {b})", self.condition(0)),
            3 => format!("floor({a})"),
            4 => format!("sin({a})"),
            _ => format!("({a} {} {b})", self.sheet.pick(&["+", "-", "*", "/"])),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let comparison = self.sheet.pick(&["<", "<=", ">", "==", "!="]);
        let simple = match self.sheet.draw(3) {
            0 => format!("{} {comparison} {}", self.float(depth.min(1)), self.float(0)),
            _ => format!("{} {comparison} {}", self.int(depth.min(1)), self.int(0)),
        };
        if depth > 0 && self.sheet.draw(3) == 0 {
            let (other, op) = (self.condition(depth - 1), self.sheet.pick(&["&&", "||"]));
            return format!("({simple}) {op} !({other})");
        }
        simple
    }
}
