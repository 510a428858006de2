//! Many variables, functions and overloads.

use super::{Family, around, body, each};

pub(super) const FAMILIES: &[Family] = &[
    Family::compiles("locals", |n| {
        body("uniform int a[]", n, |i| {
            format!("uniform int x{i} = {};\n", if i == 0 { "a[0]".into() } else { format!("x{} + a[{i}]", i - 1) })
        })
    }),
    Family::compiles("varying locals", |n| {
        body("uniform int a[]", n, |i| {
            format!("int x{i} = a[programIndex + {i}]; x{i} += {i}; a[programIndex + {i}] = x{i};\n")
        })
    }),
    Family::compiles("locals that live across a branch", |n| {
        let declare = each(n, |i| format!("uniform int x{i} = a[{i}];\n"));
        let used = each(n, |i| format!("a[{i}] = x{i};\n"));
        format!("export void f(uniform int a[]) {{\n{declare} if (a[0] > 0) a[1] = 3;\n{used}}}\n")
    }),
    Family::compiles("locals given values in two branches", |n| {
        let declare = each(n, |i| format!("uniform int x{i};\n"));
        let (first, second) = (each(n, |i| format!("x{i} = a[{i}];\n")), each(n, |i| format!("x{i} = a[{i} + 1];\n")));
        let used = each(n, |i| format!("a[{i}] = x{i};\n"));
        format!(
            "export void f(uniform int a[]) {{\n{declare} if (a[0] > 0) {{ {first} }} else {{ {second} }}\n{used}}}\n"
        )
    }),
    Family::compiles("locals in memory", |n| {
        body("uniform int a[]", n, |i| format!("uniform int x{i}[2] = {{ a[{i}], 1 }}; a[{i}] = x{i}[a[0] & 1];\n"))
    }),
    Family::compiles("locals in scopes", |n| {
        body("uniform int a[]", n, |i| format!("{{ uniform int x = a[{i}]; {{ uniform int y = x; a[{i}] = y; }} }}\n"))
    }),
    Family::compiles("local constants", |n| {
        body("uniform int a[]", n, |i| {
            format!(
                "const uniform int x{i} = {};\n a[{i}] = x{i};\n",
                if i == 0 { "1".into() } else { format!("x{} + 1", i - 1) }
            )
        })
    }),
    Family::compiles("statics in a function", |n| {
        body("uniform int a[]", n, |i| format!("static uniform int s{i} = {i}; a[{i}] += ++s{i};\n"))
    }),
    Family::compiles("locals that depend on later ones", |n| {
        let declare = each(n + 1, |i| format!("int x{i} = 0;\n"));
        let shift = each(n, |i| format!("x{i} = x{};\n", i + 1));
        format!(
            "export void f(uniform int a[]) {{\n{declare} for (uniform int k = 0; k < 3; ++k) {{\n{shift} x{n} = programIndex; }}\n a[programIndex] = x0; }}\n"
        )
    }),
    Family::compiles("globals", |n| {
        each(n, |i| format!("uniform int g{i} = {i};\n")) + &body("uniform int a[]", n, |i| format!("a[{i}] = g{i};\n"))
    }),
    Family::compiles("global constants", |n| {
        each(n, |i| {
            format!("const uniform int c{i} = {};\n", if i == 0 { "1".into() } else { format!("c{} + 1", i - 1) })
        }) + &body("uniform int a[]", n, |i| format!("a[{i}] = c{i};\n"))
    }),
    Family::compiles("functions", |n| {
        let functions = each(n, |i| {
            format!(
                "static noinline int f{i}(int x) {{ return {} + {i}; }}\n",
                if i == 0 { "x".into() } else { format!("f{}(x)", i - 1) }
            )
        });
        format!("{functions}export int f(int x) {{ return f{}(x); }}\n", n - 1)
    }),
    Family::compiles("functions that hand on", |n| {
        let functions = each(n, |i| {
            format!(
                "static inline int f{i}(int x) {{ return {}; }}\n",
                if i == 0 { "x".into() } else { format!("f{}(x)", i - 1) }
            )
        });
        format!("{functions}export int f(int x) {{ return f{}(x); }}\n", n - 1)
    }),
    Family::compiles("functions declared first", |n| {
        each(n, |i| format!("int f{i}(int x);\n"))
            + &each(n, |i| format!("int f{i}(int x) {{ return x > {i} ? f{}(x - 1) : x; }}\n", (i + 1) % n))
    }),
    Family::compiles("exports", |n| {
        each(n, |i| format!("/// Number {i}.\nexport int f{i}(int x, uniform int a[]) {{ return x + a[{i}]; }}\n"))
    }),
    Family::compiles("polymorphic exports", |n| {
        each(n / 16, |i| format!("export void f{i}(uniform number a[]) {{ a[programIndex] += {i}; }}\n"))
    }),
    Family::compiles("overloads", |n| {
        let types = each(n, |i| format!("struct S{i} {{ int x; }};\n"));
        let functions = each(n, |i| format!("static int f(S{i} s) {{ return s.x + {i}; }}\n"));
        let calls = body("uniform int a[]", n, |i| format!("{{ S{i} s; s.x = {i}; a[programIndex] = f(s); }}\n"));
        types + &functions + &calls
    }),
    Family::compiles("overloads of references", |n| {
        let types = each(n, |i| format!("struct S{i} {{ int x; }};\n"));
        let functions = each(n, |i| format!("static int f(const S{i} &s) {{ return s.x + {i}; }}\n"));
        let calls = body("uniform int a[]", n, |i| format!("{{ S{i} s; s.x = {i}; a[programIndex] = f(s); }}\n"));
        types + &functions + &calls
    }),
    Family::compiles("operators", |n| {
        let types = each(n, |i| {
            format!(
                "struct S{i} {{ int x; }};\nstatic S{i} operator+(S{i} a, S{i} b) {{ S{i} s; s.x = a.x + b.x; return s; }}\n"
            )
        });
        let calls =
            body("uniform int a[]", n, |i| format!("{{ S{i} s; s.x = {i}; s = s + s; a[programIndex] = s.x; }}\n"));
        types + &calls
    }),
    Family::compiles("parameters", |n| {
        let count = |i: usize| if i == 0 { "int x0".into() } else { format!(", int x{i}") };
        around("", n / 256, |k| around(&format!("export int f{k}("), 256, count, ") { return x0 + x255; }\n"), "")
    }),
    Family::compiles("templates", |n| {
        each(n, |i| format!("template <typename T> noinline T f{i}(T x) {{ return x + {i}; }}\n"))
            + &body("uniform int a[]", n.min(1000), |i| format!("a[programIndex] = f{i}<int>(a[{i}]);\n"))
    }),
    Family::compiles("template specialisations", |n| {
        let given = each(n, |i| format!("template <> noinline int f<{}>(int x) {{ return x - {i}; }}\n", i + 1));
        let calls = body("uniform int a[]", n, |i| format!("a[programIndex] = f<{}>(a[{i}]);\n", i + 1));
        format!("template <int N> noinline int f(int x) {{ return x + N; }}\n{given}{calls}")
    }),
    Family::fails(
        "template instances",
        |n| {
            let calls = body("uniform int a[]", n.max(12_000), |i| format!("a[programIndex] = f<{i}>(a[{i}]);\n"));
            format!("template <int N> noinline int f(int x) {{ return x + N; }}\n{calls}")
        },
        "E0240",
    ),
    Family::fails(
        "template instances without end",
        |_| {
            "template <int N> noinline int f(int x) { return f<N + 1>(x) + N; }\nexport int g(int x) { return f<0>(x); }\n".into()
        },
        "E0240",
    ),
    Family::fails(
        "types of template instances without end",
        |_| "template <typename T> noinline void f(T x) { f(&x); }\nexport void g() { f(1); }\n".into(),
        "E0108",
    ),
    Family::compiles("tasks", |n| {
        each(n, |i| format!("static task void t{i}(uniform int a[]) {{ a[taskIndex] = {i}; }}\n"))
            + &body("uniform int a[]", n, |i| format!("launch[2] t{i}(a);\n"))
    }),
];
