//! Programs in which nearly everything is wrong: what would be said about it costs no more than the rest.

use super::{Family, around, body, each};

pub(super) const FAMILIES: &[Family] = &[
    Family::fails(
        "names that are not declared",
        |n| body("uniform int a[]", n, |i| format!("int good{i} = 1; a[{i}] = goof{i};\n")),
        "E0200",
    ),
    Family::fails(
        "types that are not declared",
        |n| each(n, |i| format!("struct Good{i} {{ int x; }};\nGoof{i} x{i};\n")),
        "E0104",
    ),
    Family::fails(
        "members that are not there",
        |n| {
            around("struct S {\n", n, |i| format!("int good{i};\n"), "};\n")
                + "uniform S s;\n"
                + &body("", n, |i| format!("s.goof{i} = 1;\n"))
        },
        "E0210",
    ),
    Family::fails("labels that are not there", |n| body("", n, |i| format!("good{i}: goto goof{i};\n")), "E0220"),
    Family::fails(
        "calls that fit nothing",
        |n| {
            each(n, |i| format!("struct S{i} {{ int x; }};\nstatic void g(S{i} s) {{ }}\n"))
                + &body("uniform int a[]", n, |i| format!("g({i});\n"))
        },
        "E0207",
    ),
    Family::fails("names declared twice", |n| body("", n, |_| "int x;\n".into()), "E0201"),
    Family::fails("members declared twice", |n| around("struct S {\n", n, |_| "int x;\n".into(), "};\n"), "E0201"),
    Family::fails(
        "cases that stand twice",
        |n| body("int x", 1, |_| around("switch (x) {", n, |_| "case 1: x = 2;\n".into(), "}\n")),
        "E0219",
    ),
    Family::fails("syntax errors", |n| each(n, |i| format!("void f{i}() {{ int = ; }}\n")), "E0105"),
    Family::fails("words that mean nothing", |n| "forech whle ".repeat(n), "E0104"),
    Family::fails("characters that mean nothing", |n| "@ ".repeat(n), "E0001"),
    Family::fails("closing braces", |n| "}".repeat(n), "E0100"),
    Family::fails("opening braces", |n| "void f() { if (1) {".repeat(n), "E0109"),
    Family::fails("opening parentheses in statements", |n| body("", n, |_| "x = (1;\n".into()), "E0101"),
    Family::fails("angle brackets", |n| format!("void f() {{ x = {} }}", "a < ".repeat(n.max(1001))), "E0108"),
    Family::fails("templates that are none", |n| body("uniform int a[]", n, |_| "x = a<a<a<a<1;\n".into()), "E0200"),
    Family::fails("missing files", |n| each(n, |i| format!("#include \"missing{i}.isph\"\n")), "E0013"),
];
