//! Tests of the preprocessor: text in, text out.

use super::*;
use crate::lex::SPACE_BEFORE;

const HEADERS: &[(&str, &str)] = &[
    ("once.h", "#pragma once\nonce"),
    ("self.h", "#include \"self.h\"\n"),
    ("sub.h", "#define FROM_SUB 1\nsub __FILE__ __LINE__\n"),
    ("open.h", "#if 1\nx\n"),
];

/// The tokens after preprocessing, separated where the source separates them, and the codes of the messages.
fn run(text: &str) -> (String, Vec<&'static str>) {
    run_with(text, &[])
}

fn run_with(text: &str, defines: &[(String, String)]) -> (String, Vec<&'static str>) {
    let (text, codes, _) = run_to_end(text, defines);
    (text, codes)
}

/// The tokens, the diagnostics, and the file and place of the end.
fn run_to_end(text: &str, defines: &[(String, String)]) -> (String, Vec<&'static str>, (String, u32)) {
    let mut sources = SourceMap::new();
    let main = sources.add("main.ispc", text);
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessOptions { defines, loader: &HeaderLoader, main_path: None };
    let result = preprocess(&mut sources, main, &options, &arena, &mut diagnostics);
    let mut out = String::new();
    for token in &result.tokens {
        if !out.is_empty() && token.flags & (SPACE_BEFORE | FIRST_ON_LINE) != 0 {
            out.push(' ');
        }
        out.push_str(result.texts.spelling(token));
    }
    let end = result.tokens.last().expect("the end is a token").span;
    let file = sources.get(end.file).expect("the end is in a file").name.clone();
    (out.trim().to_string(), diagnostics.iter().map(|diagnostic| diagnostic.code.id()).collect(), (file, end.lo))
}

struct HeaderLoader;

impl IncludeLoader for HeaderLoader {
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Included, IncludeError> {
        HEADERS.load(request)
    }
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(run(text), (expect.to_string(), vec![]), "{text}");
}

#[track_caller]
fn check_codes(text: &str, codes: &[&str]) {
    assert_eq!(run(text).1, codes, "{text}");
}

#[test]
fn object_macros() {
    check("#define A 1 + B\n#define B 2\nA;", "1 + 2;");
    check("#define A A B\nA", "A B");
    check("#define A B\n#define B A\nA B", "A B");
    check("#define A\n[A]", "[]");
    check("#define A 1\n#undef A\nA", "A");
    check("#define float double\nfloat x;", "double x;");
}

#[test]
fn function_macros() {
    check("#define F(x, y) x-y\nF(1, (2,3)) F", "1-(2,3) F");
    check("#define F() z\nF() F ()", "z z");
    check("#define F(x) [x]\nF(F(1)) F()", "[[1]] []");
    check("#define F(x) x G\n#define G(x) (x)\nF(1)(2)", "1 (2)");
    check("#define F(x) F(x)\nF(F(2))", "F(F(2))");
    check("#define F(x) x\nF(\n1\n)", "1");
    check("#define LPAREN (\n#define F(x) [x]\nF LPAREN 1)", "F ( 1)");
}

#[test]
fn stringify_and_paste() {
    check(
        r#"#define S(x) #x
S( a  + "b\n" )"#,
        r#""a + \"b\\n\"""#,
    );
    check("#define P(a,b) a##b\nP(x, 1) P(1, 2) P(<, <=) P(,y)", "x1 12 <<= y");
    check("#define P(a,b,c) x a##b##c;\nP(,y,z) P(,,z) P(y,,z) P(,,) P(y z,,)", "x yz; x z; x yz; x; x y z;");
    check("#define X 1\n#define P(a) a##X a\nP(X)", "XX 1");
    check("#define V(f, ...) p(f, ## __VA_ARGS__)\nV(1) V(1, 2, 3)", "p(1) p(1, 2, 3)");
    check("#define V(rest...) [rest]\nV(a, b) V()", "[a, b] []");
    check_codes("#define P(a,b) a##b\nP(+, x)", &["E0016"]);
}

#[test]
fn conditionals() {
    check("#if 1\na\n#else\nb\n#endif\nc", "a c");
    check("#if 0\n#if 1\nx\n#else\ny\n#endif\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif", "b");
    check("#ifdef X\na\n#endif\n#ifndef X\nb\n#endif", "b");
    check("#define X\n#ifdef X\na\n#elifdef Y\nc\n#else\nb\n#endif", "a");
    check("#if 0\ndon't \"\n@ $ #bogus\n#endif\nx", "x");
}

#[test]
fn conditional_expressions() {
    let holds = [
        "1 + 2 * 3 == 7",
        "-1 < 0",
        "-1 > 0u",
        "defined X && !defined(Y) && X == 5",
        "(1 ? 2 : 3) == 2",
        "0 && 1 / 0 || 1",
        "0x10 == 16 && 010 == 8 && 'a' == 97",
        "1 << 40 >> 38 == 4",
        "~0 == -1",
        "F(2) == 4",
        "true && !false && !unknown",
        "-9223372036854775807 - 1 < 0",
    ];
    for condition in holds {
        check(&format!("#define X 5\n#define F(x) x*2\n#if {condition}\nyes\n#endif"), "yes");
    }
    for malformed in ["", "1 +", "(1", "1 2", "1 / 0", "1.5", "\"s\"", "1 ? 2"] {
        check_codes(&format!("#if {malformed}\n#endif"), &["E0008"]);
    }
    let deep = format!("#if {}1{}\n#endif", "(".repeat(100_000), ")".repeat(100_000));
    check_codes(&deep, &["E0008"]);
    check_codes(&format!("#if {}1\n#endif", "!".repeat(100_000)), &["E0008"]);
}

#[test]
fn includes() {
    check("#include \"sub.h\"\nFROM_SUB __LINE__", "sub \"sub.h\" 2 1 2");
    check("#include <once.h>\n#include \"once.h\"", "once");
    check("#define H <sub.h>\n#include H", "sub \"sub.h\" 2");
    check_codes("#include \"none.h\"", &["E0012"]);
    check_codes("#include", &["E0006"]);
    check_codes("#include \"open.h\"", &["E0007"]);
    // What cannot be included is the only error.
    check_codes("#include \"self.h\"\n#include \"open.h\"", &["E0014"]);
}

#[test]
fn builtins_and_line() {
    check("__LINE__\n__LINE__ __FILE__ __DATE__", "1 2 \"main.ispc\" \"Jan  1 1970\"");
    check("#line 50 \"other\"\n__LINE__ __FILE__", "50 \"other\"");
    check("__COUNTER__ __COUNTER__", "0 1");
    check("#define L __LINE__\n\nL", "3");
}

#[test]
fn defines_from_outside() {
    let defines = [("A".to_string(), "1 + 2".to_string()), ("F(x)".to_string(), "x x".to_string())];
    assert_eq!(run_with("A F(b)", &defines), ("1 + 2 b b".to_string(), vec![]));
    // The program ends in its own file.
    for defines in [&defines[..], &[]] {
        assert_eq!(run_to_end("A F(b)", defines).2, ("main.ispc".to_string(), 6));
    }
}

#[test]
fn messages() {
    check_codes("#define A 1\n#define A 1\n#define A 2\n", &["W0002"]);
    check_codes("#define F(x, x) 1\n#define F(1) 2\n#define F(x\n#define 3\n#define\n", &["E0009"; 5]);
    check_codes("#define F(x) #y\n#define G ## a\n", &["E0009"; 2]);
    check_codes("#define F(x) x\nF(1, 2)", &["E0010"]);
    check_codes("#define F(x) x\nF(1, 2", &["E0010"]);
    check_codes("#error it is broken\n#warning careful\n", &["E0015", "W0001"]);
    check_codes("#bogus\n#else\n#endif\n#endif x\n", &["E0006", "E0007", "E0007", "W0004", "E0007"]);
    check_codes(
        "#pragma omp parallel\n#pragma\n#pragma unroll(0)\n#pragma ignore warning(x)\n",
        &["W0003", "E0006", "E0006"],
    );
    check_codes("#define W _Pragma(\"unroll(0)\")\nW _Pragma(\"omp\") _Pragma unroll", &["E0006", "W0003", "E0006"]);
    check_codes("#if 1\n#else\n#else\n#endif\n#if 1", &["E0007", "E0007"]);
    check_codes("\"abc\n'x\n` /* ", &["E0003", "E0003", "E0001", "E0002"]);
}

#[test]
fn pragmas() {
    let mut sources = SourceMap::new();
    let main = sources.add(
        "m",
        "#define N 4\n#define U(text) _Pragma(#text)\n#pragma unroll N\n#pragma nounroll\n#pragma unroll\nU(unroll 8)",
    );
    let (arena, mut diagnostics) = (Bump::new(), Diagnostics::new());
    let options = PreprocessOptions { defines: &[], loader: &HeaderLoader, main_path: None };
    let tokens = preprocess(&mut sources, main, &options, &arena, &mut diagnostics).tokens;
    assert_eq!(tokens[0].unroll_count(), Some(4));
    assert_eq!(tokens[1].kind, TokenKind::PragmaNoUnroll);
    assert_eq!((tokens[2].kind, tokens[2].unroll_count()), (TokenKind::PragmaUnroll, None));
    assert_eq!(tokens[3].unroll_count(), Some(8));
}

#[test]
fn limits_hold() {
    let mut bomb = String::from("#define A0 x x\n");
    for i in 1..60 {
        bomb += &format!("#define A{i} A{} A{}\n", i - 1, i - 1);
    }
    check_codes(&(bomb + "A59"), &["E0011"]);
    let mut pastes = String::from("#define P(a) P2(a##a)\n#define P0(a) a##a\n");
    for i in 1..60 {
        pastes += &format!("#define P{i}(a) P{}(a##a)\n", i - 1);
    }
    assert!(run(&(pastes + "P59(xxxxxxxx)")).1.contains(&"E0011"));
    let deep = format!("#define F(x) x\n{}1{}", "F(".repeat(20_000), ")".repeat(20_000));
    check_codes(&deep, &["E0011"]);
    let chain: String = (1..5000).map(|i| format!("#define C{i} C{}\n", i - 1)).collect();
    check(&(chain + "C4999"), "C0");
}
