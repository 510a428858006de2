//! Makes programs out of programs by changes that know the grammar: tokens are exchanged for others of their kind,
//! statements move between programs, and now and then something is repeated without measure.

use crate::driver::{Random, change_bytes};

/// A longer text would only take longer.
const MAX_TEXT: usize = 1 << 14;

/// What a token is, as far as exchanging it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    String,
    Operator,
    Bracket,
    Newline,
}

/// A token with the blanks in front of it.
#[derive(Clone)]
struct Token {
    kind: Kind,
    text: String,
}

impl Token {
    fn spelling(&self) -> &str {
        self.text.trim_start_matches([' ', '\t'])
    }
}

/// A program as its tokens, without comments.
pub struct Program(Vec<Token>);

impl Program {
    /// Splits a text; what is no token stands with the operators.
    pub fn new(text: &[u8]) -> Program {
        let text = String::from_utf8_lossy(text);
        let mut tokens = Vec::new();
        let mut blanks = String::new();
        let mut rest = &text[..];
        while let Some(first) = rest.chars().next() {
            let (len, kind) = match first {
                '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), None),
                '/' if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |at| at + 2), None),
                '\n' => (1, Some(Kind::Newline)),
                c if c.is_whitespace() => (c.len_utf8(), None),
                c if c.is_ascii_digit() => {
                    (length_while(rest, |c| c.is_ascii_alphanumeric() || c == '_'), Some(Kind::Number))
                }
                c if c.is_alphabetic() || c == '_' => {
                    (length_while(rest, |c| c.is_alphanumeric() || c == '_'), Some(Kind::Word))
                }
                '"' => (rest[1..].find(['"', '\n']).map_or(rest.len(), |at| at + 2), Some(Kind::String)),
                '(' | ')' | '[' | ']' | '{' | '}' => (1, Some(Kind::Bracket)),
                ';' | ',' => (1, Some(Kind::Operator)),
                c if c.is_ascii_punctuation() => {
                    (length_while(rest, |c| "+-*/%<>=!&|^.#:".contains(c)).clamp(1, 3), Some(Kind::Operator))
                }
                c => (c.len_utf8(), Some(Kind::Operator)),
            };
            let (piece, remainder) = rest.split_at(len);
            rest = remainder;
            match kind {
                Some(kind) => tokens.push(Token { kind, text: std::mem::take(&mut blanks) + piece }),
                None => blanks = " ".to_owned(),
            }
        }
        Program(tokens)
    }

    /// The places where a statement or an item begins: after `;`, `{` and `}`.
    fn starts(&self) -> Vec<usize> {
        let ends = |t: &Token| matches!(t.spelling(), ";" | "{" | "}");
        self.0.iter().enumerate().filter(|(_, t)| ends(t)).map(|(at, _)| at + 1).collect()
    }

    /// Where the statement that begins at `from` ends: after its `;` or its block.
    fn statement_end(&self, from: usize) -> usize {
        let mut depth = 0usize;
        for (at, token) in self.0.iter().enumerate().skip(from) {
            match token.spelling() {
                "{" | "(" | "[" => depth += 1,
                "}" if depth <= 1 => return at + usize::from(depth == 1),
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => return at + 1,
                _ => {}
            }
        }
        self.0.len()
    }

    fn text(&self) -> String {
        self.0.iter().map(|t| t.text.as_str()).collect()
    }
}

fn length_while(text: &str, holds: impl Fn(char) -> bool) -> usize {
    text.find(|c| !holds(c)).unwrap_or(text.len())
}

/// Types and qualifiers.
#[rustfmt::skip]
const TYPES: &[&str] = &[
    "int", "float", "double", "bool", "int8", "uint16", "int64", "uint64", "float16", "void", "uniform", "varying",
    "const", "unsigned", "struct", "float<3>", "int *", "uniform float * uniform", "soa<4>", "number", "T", "S &",
];
/// Literals and other operands.
#[rustfmt::skip]
const OPERANDS: &[&str] = &[
    "0", "1", "-1", "2147483648", "0xffffffffffffffff", "99999999999999999999999", "1e999", "1.5f", "0x1p-1074d",
    "3.0f16", "64", "1000000000", "NULL", "true", "\"text\"", "programIndex", "programCount", "x", "'\\0'",
    "{1, 2}",
];
/// Operators.
#[rustfmt::skip]
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "<<", ">>", "<", ">=", "==", "&", "|", "^", "&&", "||", "=", "+=", ">>=", "->", ".",
    "?", ":", "++", "--", "!", "~", "...", ",", ";", "::", "#", "##",
];
/// Statements, put where one may begin.
#[rustfmt::skip]
const STATEMENTS: &[&str] = &[
    "return;", "break;", "continue;", "return programIndex;", "foreach (q = 0 ... 3) { }", "sync;", "if (programCount > 3) goto done; if (programIndex > 1) break; done: ;", "goto done;",
    "done: ;", "foreach_active (q) { }", "foreach_unique (q in programIndex) print(\"%\", q);", "unmasked { }",
    "else { }", "static varying int s = 3;", "struct S { int a; float<3> b; S * next; };", "typedef int T[4];",
    "case 3: default: ;", "if (programIndex > 1) ", "while (true) ", "do ",
    "switch (programIndex) { case 1: break; default: }", "soa<8> struct S z[2];", "float a[] = { 1, 2, 3 };",
    "crev f(1);", "launch[2] f(1);", "assert(false);", "delete p;", "int * p = new int[3];",
    "print(\"%d %\\n\", programIndex, 1.5);", "enum E { A = 1 << 40, B };", "uniform int n[0];",
    "template <typename T, int N> T g(T x) { return g<T, N + 1>(x); }", "g<float, 1>(2);",
    "number h(number x) { return x; }",
];
/// What can be nested, and what closes it.
#[rustfmt::skip]
const NESTS: &[(&str, &str)] = &[
    ("(", ")"), ("{", "}"), ("[", "]"), ("-", ""), ("*", ""), ("&", ""), ("(int)", ""), ("f(", ")"), ("a[", "]"),
    ("x ? ", " : 1"), ("if (x) ", ""), ("else if (x) ", ""), ("for (;;) ", ""), ("foreach (i = 0 ... 2) ", ""),
    ("unmasked { ", "}"), ("struct { ", "};"), ("x = ", ""), ("1 + ", ""), ("sizeof ", ""), ("crev f(", ")"),
    ("float<", ">"), ("T<", ">"), ("uniform ", ""), ("new int[", "]"), ("x.", ""), ("!", ""), ("case 1: ", ""),
    ("do ", " while (x);"), ("1, ", ""), ("foreach_active (l) ", ""), ("\n#if 1\n", "\n#endif\n"),
    ("int f(int x = ", ")"), ("<", ""), ("x + (", ")"), ("a && ", ""),
];

/// A program made of others.
pub fn make(random: &mut Random, seeds: &[Program]) -> Vec<u8> {
    let mut program = Program(seeds[random.below(seeds.len())].0.clone());
    for _ in 0..1 + random.below(4) {
        change(random, &mut program, seeds);
    }
    let mut text = program.text();
    match random.below(40) {
        0 => text.insert_str(0, &macros(random)),
        1 => text.insert_str(0, &" ".repeat(MAX_TEXT)),
        _ => {}
    }
    let mut bytes = text.into_bytes();
    if random.below(30) == 0 {
        change_bytes(random, &mut bytes);
    }
    bytes.truncate(MAX_TEXT);
    bytes
}

fn change(random: &mut Random, program: &mut Program, seeds: &[Program]) {
    if program.0.is_empty() {
        return;
    }
    let at = random.below(program.0.len());
    let to = (at + 1 + random.below(6)).min(program.0.len());
    match random.below(20) {
        0 | 1 => drop(program.0.drain(at..to)),
        2 => {
            let copy = program.0[at..to].to_vec();
            let at = random.below(program.0.len() + 1);
            program.0.splice(at..at, copy);
        }
        3 => {
            let other = random.below(program.0.len());
            program.0.swap(at, other);
        }
        4..=8 => exchange(random, &mut program.0, at),
        9..=11 => {
            let from = &seeds[random.below(seeds.len())];
            move_statement(random, program, from);
        }
        12 | 13 => {
            let statement = Program::new(random.pick(STATEMENTS).as_bytes());
            insert_at_start(random, program, &statement.0);
        }
        14 => insert(program, at, Kind::Word, &format!(" {} ", random.pick(TYPES))),
        15 => insert(program, at, Kind::Operator, &format!(" {} ", random.pick(OPERATORS))),
        16 => rename(random, program, at),
        17 => remove_statement(random, program),
        18 if random.below(4) == 0 => nest(random, program, at, to),
        19 if random.below(8) == 0 => {
            let digits = "1234567890".repeat(1 + random.below(800));
            insert(
                program,
                at,
                Kind::Number,
                &format!(" {}{digits} ", random.pick(&["", "0x", "0b", "1.", "1e", "."])),
            );
        }
        _ => exchange(random, &mut program.0, at),
    }
}

fn insert(program: &mut Program, at: usize, kind: Kind, text: &str) {
    program.0.insert(at, Token { kind, text: text.to_owned() });
}

/// Exchanges a token for another of its kind.
fn exchange(random: &mut Random, tokens: &mut [Token], at: usize) {
    let kind = tokens[at].kind;
    let text = match kind {
        Kind::Word if random.below(2) == 0 => random.pick(TYPES).to_owned(),
        Kind::Number | Kind::String => random.pick(OPERANDS).to_owned(),
        Kind::Operator => random.pick(OPERATORS).to_owned(),
        Kind::Bracket => random.pick(&["(", ")", "[", "]", "{", "}"]).to_owned(),
        Kind::Newline => return,
        Kind::Word => {
            let words: Vec<&Token> = tokens.iter().filter(|t| t.kind == Kind::Word).collect();
            words[random.below(words.len())].spelling().to_owned()
        }
    };
    tokens[at].text = format!(" {text}");
}

/// Renames one word everywhere to another of the program's words.
fn rename(random: &mut Random, program: &mut Program, at: usize) {
    let tokens = &mut program.0;
    if tokens[at].kind != Kind::Word {
        return;
    }
    let (from, to) = (tokens[at].spelling().to_owned(), random.below(tokens.len()));
    if tokens[to].kind != Kind::Word {
        return;
    }
    let to = format!(" {}", tokens[to].spelling());
    tokens.iter_mut().filter(|t| t.spelling() == from).for_each(|t| t.text = to.clone());
}

/// Copies a statement, perhaps of another program, to where one may begin.
fn move_statement(random: &mut Random, program: &mut Program, from: &Program) {
    let starts = from.starts();
    if starts.is_empty() {
        return;
    }
    let start = starts[random.below(starts.len())];
    let statement = from.0[start..from.statement_end(start).max(start)].to_vec();
    insert_at_start(random, program, &statement);
}

fn insert_at_start(random: &mut Random, program: &mut Program, tokens: &[Token]) {
    let starts = program.starts();
    let at = if starts.is_empty() { 0 } else { starts[random.below(starts.len())] };
    program.0.splice(at..at, tokens.iter().cloned());
}

fn remove_statement(random: &mut Random, program: &mut Program) {
    let starts = program.starts();
    if starts.is_empty() {
        return;
    }
    let start = starts[random.below(starts.len())];
    program.0.drain(start..program.statement_end(start).max(start));
}

/// Puts a range deep into something.
fn nest(random: &mut Random, program: &mut Program, from: usize, to: usize) {
    let (open, close) = NESTS[random.below(NESTS.len())];
    let depth = [3, 60, 250, 900, 4000][random.below(5)];
    insert(program, to, Kind::Operator, &close.repeat(depth));
    insert(program, from, Kind::Operator, &format!(" {}", open.repeat(depth)));
}

/// Macros that expand to much, to each other or to themselves; words of programs among them.
fn macros(random: &mut Random) -> String {
    match random.below(4) {
        0 => (0..40).map(|i| format!("#define M{i} M{} M{}\n", i + 1, i + 1)).collect::<String>() + "int x = M0;\n",
        1 => (0..900).map(|i| format!("#define M{i} M{}\n", i + 1)).collect::<String>() + "int y = M0;\n",
        2 => "#define F(x) F(x) G(F(x))\n#define G(x) (x, F(x)) #x a##x\nF(G(F(1)))\n".to_owned() + &"F(".repeat(300),
        _ => {
            let word = random.pick(&["int", "uniform", "x", "out", "a", "return", "i"]);
            let body =
                random.pick(&["", "(", "int x;", "x", "uniform", "{", "1 +", "#", "##", "__VA_ARGS__", "defined"]);
            format!("#define {word} {body}\n")
        }
    }
}
