//! Many statements, and deep ones.

use super::{Family, body, each};

/// Statements nested so deep as they may be, as often as there are `n` in all.
fn nests(n: usize, depth: usize, open: &str, inner: &str, close: &str) -> String {
    body("uniform int a[], uniform int n", n / depth, |_| {
        format!("{}{inner}{}\n", open.repeat(depth), close.repeat(depth))
    })
}

pub(super) const FAMILIES: &[Family] = &[
    Family::compiles("assignments", |n| body("uniform int a[]", n, |i| format!("a[{i}] = a[{}] + {i};\n", i + 1))),
    Family::compiles("assignments on one line", |n| {
        body("uniform int a[]", n, |i| format!("a[{i}] = a[{}] + {i}; ", i + 1))
    }),
    Family::compiles("changes of one variable", |n| {
        format!("export int f(int x) {{\n{}return x;\n}}\n", each(n, |i| format!("x = x * 3 + {i};\n")))
    }),
    Family::compiles("varying ifs", |n| {
        format!(
            "export int f(int x) {{\n{}return x;\n}}\n",
            each(n, |i| format!("if (x > {i}) x += {i}; else x -= 2;\n"))
        )
    }),
    Family::compiles("uniform ifs", |n| {
        format!(
            "export uniform int f(uniform int x) {{\n{}return x;\n}}\n",
            each(n, |i| format!("if (x > {i}) x += {i}; else x -= 2;\n"))
        )
    }),
    Family::compiles("returns", |n| {
        format!("export int f(int x) {{\n{}return x;\n}}\n", each(n, |i| format!("if (x == {i}) return {};\n", i + 1)))
    }),
    Family::compiles("loops", |n| {
        body("uniform int a[]", n, |i| format!("for (uniform int i = 0; i < 3; ++i) a[i] += {i} + a[0] * a[1];\n"))
    }),
    Family::compiles("masked loops", |n| {
        format!(
            "export int f(int x) {{\n{}return x;\n}}\n",
            each(n, |i| format!("while (x < {i}) {{ x = x * 2 + 1; if (x == 7) break; }}\n"))
        )
    }),
    Family::compiles("foreach loops", |n| {
        body("uniform int a[], uniform int n", n / 4, |i| format!("foreach (i = 0 ... n) a[i] += {i};\n"))
    }),
    Family::compiles("foreach loops of other kinds", |n| {
        body("uniform int a[], int x", n / 8, |i| {
            format!(
                "foreach_active (i) a[i] = {i};\nforeach_unique (u in x) a[u] = {i};\nforeach_tiled (i = 0 ... 4, j = 0 ... 3) a[i * 3 + j] += 1;\nunmasked {{ a[programIndex] = 1; }}\n"
            )
        })
    }),
    Family::compiles("nested uniform ifs", |n| nests(n, 80, "if (a[1] > n) { ++a[2]; ", "a[0] = 1;", "}")),
    Family::compiles("nested varying ifs", |n| nests(n, 80, "if (a[programIndex] > n) { ++a[2]; ", "a[0] = 1;", "}")),
    Family::compiles("nested loops", |n| nests(n, 80, "while (a[1] > n) { ++a[1]; ", "a[0] = 1;", "}")),
    Family::compiles("nested masked loops", |n| {
        nests(n, 80, "for (int i = 0; i < a[programIndex]; ++i) {", "a[0] = 1;", "}")
    }),
    Family::compiles("nested blocks", |n| nests(n, 80, "{ uniform int x = a[1]; a[2] = x;", "a[0] = 1;", "}")),
    Family::compiles("nested switches", |n| nests(n, 60, "switch (a[1]) { case 3: ", "a[0] = 1;", "}")),
    Family::compiles("uniform cases", |n| {
        format!(
            "export uniform int f(uniform int x) {{\nswitch (x) {{\n{}}}\nreturn x;\n}}\n",
            each(n, |i| format!("case {i}: x += {i}; break;\n"))
        )
    }),
    Family::compiles("varying cases", |n| {
        format!(
            "export int f(int x) {{\nswitch (x) {{\n{}}}\nreturn x;\n}}\n",
            each(n, |i| format!("case {i}: x += {i}; break;\n"))
        )
    }),
    Family::compiles("switches", |n| {
        format!(
            "export int f(int x) {{\n{}return x;\n}}\n",
            each(n, |i| format!("switch (x) {{ case 1: int y = {i}; x += y; break; default: x = 2; }}\n"))
        )
    }),
    Family::compiles("labels", |n| {
        body("uniform int a[]", n, |i| format!("l{i}: if (a[0] < {i}) {{ ++a[0]; goto l{}; }}\n", i.saturating_sub(1)))
    }),
    Family::compiles("jumps forward", |n| {
        body("uniform int a[]", n, |i| format!("if (a[{i}] < 3) goto end{};\n", i % 7)).replace("}\n", "")
            + &each(7, |i| format!("end{i}: a[{i}] = 1;\n"))
            + "}\n"
    }),
    Family::compiles("prints", |n| body("uniform int a[]", n, |i| format!("print(\"number {i}: %\\n\", a[{i}]);\n"))),
    Family::compiles("asserts", |n| body("uniform int a[]", n, |i| format!("assert(a[{i}] > {i});\n"))),
    Family::compiles("calls of the library", |n| {
        body("uniform float a[]", n / 4, |i| {
            format!("a[programIndex] = sin(a[{i}]) + max(a[1], {i}.0f) + sqrt(a[2]) + clamp(a[3], 0.0f, 1.0f);\n")
        })
    }),
    Family::compiles("calls of an inline function with much in it that costs nothing", |n| {
        let idle = each(n, |i| format!("int x{i};\n")) + &"{ }".repeat(n) + &"assume(x > 0);\n".repeat(n);
        format!("static inline int f(int x) {{\n{idle}return x + 1; }}\n")
            + &body("uniform int a[]", n, |i| format!("a[programIndex] = f({i});\n")).replace("void f", "void g")
    }),
    Family::compiles("allocations", |n| {
        body("uniform int a[]", n, |i| {
            format!("{{ uniform int *uniform p = uniform new uniform int[{i} + 1]; p[0] = a[{i}]; delete p; }}\n")
        })
    }),
    Family::compiles("atomics", |n| body("uniform int a[]", n / 4, |i| format!("atomic_add_global(&a[{i}], 1);\n"))),
    Family::compiles("re-vectorised calls", |n| {
        "static void g(uniform int x, uniform int a[]) { a[x] = 1; }\n".to_owned()
            + &body("uniform int a[], int x", n / 4, |i| format!("crev g(x + {i}, a);\n"))
    }),
    Family::fails(
        "ifs nested too deep",
        |n| format!("export void f(uniform int a[]) {{ {}a[0] = 1; }}\n", "if (a[0] > 1) ".repeat(n.max(300))),
        "E0108",
    ),
    Family::fails(
        "blocks nested too deep",
        |n| format!("export void f() {{ {} {} }}\n", "{".repeat(n.max(300)), "}".repeat(n.max(300))),
        "E0108",
    ),
];
