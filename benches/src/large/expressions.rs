//! Long expressions, deep ones, and initialisers.

use super::{Family, around, body, each};

/// Statements with an expression of 100 parts each.
fn chains(n: usize, start: &str, link: &str, end: &str) -> String {
    body("uniform int a[], int x", n / 100, |_| format!("{start}{}{end}\n", link.repeat(100)))
}

/// Statements with an expression as long as it may be.
fn long(n: usize, start: &str, link: &str, end: &str) -> String {
    body("uniform int a[], int x", n / 900, |_| format!("{start}{}{end}\n", link.repeat(900)))
}

/// Statements with an expression nested 60 times.
fn nested(n: usize, start: &str, open: &str, inner: &str, close: &str, end: &str) -> String {
    body("uniform int a[], int x", n / 60, |_| format!("{start}{}{inner}{}{end}\n", open.repeat(60), close.repeat(60)))
}

pub(super) const FAMILIES: &[Family] = &[
    Family::compiles("sums", |n| chains(n, "a[programIndex] = x", " + a[1]", ";")),
    Family::compiles("long sums", |n| long(n, "a[programIndex] = x", " + a[1]", ";")),
    Family::compiles("long sums of structs", |n| {
        "struct S { float x; };\nstatic S operator+(S a, S b) { S s; s.x = a.x + b.x; return s; }\n".to_owned()
            + &body("uniform S a[]", n / 900, |_| {
                format!("{{ S s = a[0]{}; a[programIndex].x = s.x; }}\n", " + a[1]".repeat(900))
            })
    }),
    Family::compiles("long conditions", |n| long(n, "if (x > 1", " && a[x] > 2", ") a[0] = 1;")),
    Family::compiles("long lists with commas", |n| long(n, "(x = 1", ", ++x", ");")),
    Family::compiles("long comparisons", |n| long(n, "if ((x < 2", " | x == 3", ")) a[0] = 1;")),
    Family::compiles("long chains of strings", |n| body("", 1, |_| format!("print(\"a\"{});\n", " \"b\"".repeat(n)))),
    Family::compiles("nested parentheses", |n| nested(n, "a[0] = ", "(", "1", ")", ";")),
    Family::compiles("nested conditionals", |n| nested(n, "a[programIndex] = ", "x > 1 ? x + 1 : (", "1", ")", ";")),
    Family::compiles("nested assignments", |n| nested(n, "", "a[programIndex] = (x += ", "1", ")", ";")),
    Family::compiles("nested compound assignments", |n| nested(n, "", "a[a[0] += ", "1", "]++", ";")),
    Family::compiles("nested indices", |n| nested(n, "a[programIndex] = ", "a[", "x", "]", ";")),
    Family::compiles("nested operators", |n| nested(n, "a[programIndex] = ", "-~", "x", "", ";")),
    Family::compiles("nested casts", |n| nested(n, "a[programIndex] = ", "(int)(float)", "x", "", ";")),
    Family::compiles("nested calls of the library", |n| {
        nested(n, "a[programIndex] = ", "max(min(", "x", ", 3), 4)", ";")
    }),
    Family::compiles("nested calls", |n| {
        "static int g(int x) { return x + 1; }\nstatic noinline int h(int x, int y) { return x + y; }\n".to_owned()
            + &nested(n, "a[programIndex] = ", "g(h(1, ", "x", "))", ";")
    }),
    Family::compiles("nested sizes", |n| nested(n, "a[0] = ", "sizeof(1 + ", "x", ")", ";")),
    Family::compiles("nested addresses", |n| nested(n, "a[0] = ", "*&", "a[1]", "", ";")),
    Family::compiles("nested vectors", |n| {
        "static float<4> g(float<4> v, float<4> w) { return v * w; }\n".to_owned()
            + &body("uniform float a[]", n / 60, |_| {
                format!(
                    "{{ float<4> v = {{ a[0], 1, 2, 3 }}; v = {}v{}; a[programIndex] = v.x; }}\n",
                    "g(v, (".repeat(60),
                    ").wzyx)".repeat(60)
                )
            })
    }),
    Family::compiles("initialisers", |n| {
        around("uniform int g[] = {", n, |i| format!("{i},\n"), "};\nexport void f() { g[0] = 1; }\n")
    }),
    Family::compiles("initialisers of rows", |n| {
        around(
            "uniform float g[][4] = {",
            n / 4,
            |i| format!("{{ {i}, 1, 2.5, 3 }},\n"),
            "};\nexport void f() { g[0][0] = 1; }\n",
        )
    }),
    Family::compiles("initialisers of structs", |n| {
        around(
            "struct S { int x; float y[2]; const int8 *name; };\nuniform S g[] = {",
            n / 4,
            |i| format!("{{ {i}, {{ 1, 2 }}, 0 }},\n"),
            "};\nexport void f() { g[0].x = 1; }\n",
        )
    }),
    Family::compiles("initialisers with addresses", |n| {
        each(n / 4, |i| format!("uniform int g{i} = {i};\n"))
            + &around(
                "uniform int *uniform p[] = {",
                n / 4,
                |i| format!("&g{i},\n"),
                "};\nexport void f() { *p[3] = 1; }\n",
            )
    }),
    Family::compiles("local initialisers", |n| {
        body("uniform int a[]", 1, |_| {
            around("uniform int t[] = {", n, |i| format!("a[{i}],\n"), "}; a[0] = t[a[1]];\n")
        })
    }),
    Family::compiles("nested initialisers", |n| {
        let dims = "[1]".repeat(60);
        each(n / 60, |i| format!("uniform int g{i}{dims} = {}1{};\n", "{".repeat(60), "}".repeat(60)))
            + "export void f() { }\n"
    }),
    Family::compiles("strings", |n| {
        body("", n, |i| format!("{{ const uniform int8 *uniform s = \"text {i}\"; print(\"%\", s[0]); }}\n"))
    }),
    Family::compiles("one long string", |n| body("", 1, |_| format!("print(\"{}\");\n", "long ".repeat(n)))),
    Family::compiles("comments", |n| each(n, |i| format!("/* {i} */ // more\n")) + "export void f() { }\n"),
    Family::compiles("blank lines", |n| "\n \t".repeat(n) + "export void f() { }\n"),
    Family::fails(
        "parentheses nested too deep",
        |n| format!("uniform int x = {}1{};\n", "(".repeat(n.max(300)), ")".repeat(n.max(300))),
        "E0108",
    ),
    Family::fails("a sum that is too long", |n| format!("uniform int x = 1{};\n", " + 1".repeat(n.max(1001))), "E0108"),
    Family::fails(
        "braces nested too deep",
        |n| format!("uniform int x = {}1{};\n", "{".repeat(n.max(300)), "}".repeat(n.max(300))),
        "E0108",
    ),
];
