//! Many macros, conditionals and files.

use super::{Family, body, each};

const END: &str = "export void f() { }\n";

pub(super) const FAMILIES: &[Family] = &[
    Family::compiles("macros", |n| {
        each(n, |i| format!("#define M{i} {i}\n")) + &body("uniform int a[]", n, |i| format!("a[{i}] = M{i};\n"))
    }),
    Family::compiles("macros with parameters", |n| {
        each(n, |i| format!("#define M{i}(x, y) ((x) + (y) * {i})\n"))
            + &body("uniform int a[]", n, |i| format!("a[{i}] = M{i}(a[1], 2);\n"))
    }),
    Family::compiles("macros defined by others", |n| {
        format!("#define M0 1\n{}uniform int x = M{};\n{END}", each(n, |i| format!("#define M{} M{i}\n", i + 1)), n)
    }),
    Family::compiles("macros redefined", |n| each(n, |i| format!("#undef M\n#define M {i}\n")) + END),
    Family::compiles("macros in arguments of themselves", |n| {
        let nest = "M(".repeat(60) + "1" + &")".repeat(60);
        format!("#define M(x) (x)\n{}{END}", each(n / 60, |i| format!("uniform int g{i} = {nest};\n")))
    }),
    Family::compiles("a macro with a large body", |n| {
        format!("#define M {}\nexport void f(uniform int a[]) {{ M }}\n", "a[1] += 2; ".repeat(n))
    }),
    Family::compiles("a macro with many parameters", |n| {
        let names = |n: usize| (0..n).map(|i| format!("x{i}")).collect::<Vec<_>>().join(", ");
        let uses = (0..n).map(|i| format!("+ x{i}")).collect::<String>();
        format!(
            "#define M({}) x0\n#define N({}) {uses}\nuniform int x = M({});\n{END}",
            names(n),
            names(n),
            (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",")
        )
    }),
    Family::compiles("pasted names", |n| {
        format!("#define M(x) uniform int g##x;\n{}{END}", each(n, |i| format!("M({i})\n")))
    }),
    Family::compiles("texts of arguments", |n| {
        format!("#define M(x) print(#x);\n{}", body("", n, |i| format!("M(a + {i})\n")))
    }),
    Family::compiles("conditionals", |n| {
        each(n, |i| format!("#if {i} > 3 && defined(X)\nint no;\n#elif 1\n#else\n#endif\n")) + END
    }),
    Family::compiles("nested conditionals", |n| "#if 1\n".repeat(n) + &"#endif\n".repeat(n) + END),
    Family::compiles("conditionals left out", |n| {
        format!("#if 0\n{}{}#endif\n{END}", "#if 1\n".repeat(n), "#else\n#endif\n".repeat(n))
    }),
    Family::compiles("a conditional with many parts", |n| {
        format!("#if 0\n{}#endif\n{END}", each(n, |i| format!("#elif {i} == -1\nint x;\n")))
    }),
    Family::compiles("a long condition", |n| format!("#if 1{}\n#endif\n{END}", " && 1".repeat(n))),
    Family::compiles("line numbers", |n| body("uniform int a[]", n, |_| "a[0] = __LINE__;\n".into())),
    Family::compiles("line numbers on one line", |n| body("uniform int a[]", n, |_| "a[0] = __LINE__; ".into())),
    Family::compiles("numbers counted", |n| body("uniform int a[]", n, |_| "a[0] = __COUNTER__;\n".into())),
    Family::compiles("pragmas", |n| {
        body("uniform int a[]", n, |i| {
            format!(
                "#pragma ignore warning(perf)\na[{i}] = 1;\n#pragma unroll\nfor (uniform int i = 0; i < 2; ++i) a[i] = 1;\n"
            )
        })
    }),
    Family::compiles("warnings left out", |n| {
        body("uniform int a[]", n, |i| format!("#pragma ignore warning\na[{i}];\n"))
    }),
    Family::compiles("lines continued", |n| format!("#define M {}1\nuniform int x = M;\n{END}", "\\\n".repeat(n))),
    Family::fails(
        "macros that double",
        |_| {
            format!(
                "{}#define M60 x\nuniform int x = M0;\n",
                each(60, |i| format!("#define M{i} M{0} + M{0}\n", i + 1))
            )
        },
        "E0011",
    ),
    Family::fails(
        "macros with arguments that double",
        |_| "#define D(x) x x\n#define E(x) D(D(D(D(D(D(D(D(x))))))))\nuniform int x = E(E(E(E(1))));\n".into(),
        "E0011",
    ),
    Family::fails(
        "texts that double",
        |_| {
            "#define S(x) #x\n#define T(x) S(x)\n#define D(x) T(x x)\n#define E(x) D(D(D(D(D(D(D(D(x))))))))\nvoid f() { print(E(E(E(E(a))))); }\n"
                .into()
        },
        "E0011",
    ),
    Family::fails(
        "names that double",
        |_| {
            let doubles = each(60, |i| format!("#define P{}(x) P{i}(x##x)\n", i + 1));
            format!("#define P0(x) x\n{doubles}int P60(abc);\n")
        },
        "E0011",
    ),
    Family::fails("a file that includes itself", |_| "#include \"self.isph\"\nexport void f() { }\n".into(), "E0014"),
    Family::fails(
        "files that include one another",
        |_| "#include \"ping.isph\"\nexport void f() { }\n".into(),
        "E0014",
    ),
    Family::fails(
        "a file that includes itself twice",
        |_| "#include \"twice.isph\"\nexport void f() { }\n".into(),
        "E0014",
    ),
    Family::compiles("a file included often", |n| "#include \"small.isph\"\n".repeat(n.min(9000)) + END),
    Family::compiles("a file included once", |n| "#include \"once.isph\"\n".repeat(n.min(9000)) + END),
];

/// The headers that these programs include.
pub(super) const HEADERS: &[(&str, &str)] = &[
    ("self.isph", "#include \"self.isph\"\n"),
    ("ping.isph", "#include \"pong.isph\"\n"),
    ("pong.isph", "#include \"ping.isph\"\n"),
    ("twice.isph", "#include \"twice.isph\"\n#include \"twice.isph\"\n"),
    ("small.isph", "extern void nothing();\n"),
    ("once.isph", "#pragma once\nint something(int x) { return x; }\n"),
];
