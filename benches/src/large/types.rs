//! Many types and members.

use super::{Family, around, body, each};

pub(super) const FAMILIES: &[Family] = &[
    Family::compiles("struct members", |n| {
        around("struct S {\n", n, |i| format!("int m{i};\n"), "};\n")
            + "uniform S s;\n"
            + &body("", n, |i| format!("s.m{i} += {i};\n"))
    }),
    Family::compiles("locals of a large struct", |n| {
        around("struct S {\n", n, |i| format!("int m{i};\n"), "};\n")
            + "uniform S s[100];\n"
            + &body("", n, |i| format!("uniform S *uniform p{i} = &s[{}]; p{i}->m{i} = 1;\n", i % 100))
    }),
    Family::compiles("structs by value", |n| {
        around("struct S {\n", 500, |i| format!("int m{i};\n"), "};\n")
            + &body("uniform S s[]", n / 50, |i| format!("{{ uniform S t = s[{i}]; t.m3 += t.m4; s[{i} + 1] = t; }}\n"))
    }),
    Family::compiles("structs", |n| {
        each(n, |i| {
            format!(
                "struct S{i} {{ int x; uniform float y[3]; {} }};\n",
                if i % 40 == 0 { String::new() } else { format!("S{} *p;", i - 1) }
            )
        }) + &format!("export void f(uniform S{} &s) {{ s.x += 1; }}\n", n - 1)
    }),
    Family::compiles("structs in structs", |n| {
        each(n, |i| {
            format!(
                "struct S{i} {{ int x; {} }};\n",
                if i % 20 == 0 { "int y, z;".into() } else { format!("S{0} y; S{0} z;", i - 1) }
            )
        }) + "export int f(int x) { return x; }\n"
    }),
    Family::compiles("structs of soa", |n| {
        each(n, |i| format!("struct S{i} {{ float x, y; }};\nsoa<8> S{i} g{i}[4];\n"))
            + &body("uniform int i", n, |i| format!("g{i}[i].x += 1;\n"))
    }),
    Family::compiles("enumerators", |n| {
        around("enum E {\n", n, |i| format!("E{i},\n"), "};\n")
            + &body("uniform int a[]", n, |i| format!("a[{i}] = E{i};\n"))
    }),
    Family::compiles("enumerators with values", |n| {
        around("enum E {\n", n, |i| if i == 0 { "E0 = 0,".into() } else { format!("E{i} = E{} + 1,\n", i - 1) }, "};\n")
            + &body("uniform E e", 1, |_| "print(\"%\\n\", e);".into())
    }),
    Family::compiles("enums", |n| {
        each(n, |i| format!("enum E{i} {{ A{i}, B{i} }};\n"))
            + &body("uniform int a[]", n, |i| format!("{{ E{i} e = B{i}; a[programIndex] = e; }}\n"))
    }),
    Family::compiles("typedefs", |n| {
        each(n, |i| format!("typedef {} T{i};\n", if i == 0 { "int".into() } else { format!("T{}", i - 1) }))
            + &format!("export T{} f(int x) {{ return x; }}\n", n - 1)
    }),
    Family::compiles("local types", |n| {
        body("uniform int a[]", n, |i| {
            format!("typedef int T{i}; struct S{i} {{ T{i} x; }}; S{i} s{i}; s{i}.x = {i}; a[programIndex] = s{i}.x;\n")
        })
    }),
    Family::compiles("function types", |n| {
        each(n, |i| format!("typedef void (*F{i})(uniform int x{});\n", ", uniform float *uniform y".repeat(i % 30)))
            + "export void f() { }\n"
    }),
    Family::compiles("vectors", |n| {
        body("uniform float a[]", n, |i| {
            format!("{{ float<3> v = {{ a[{i}], 1, 2 }}; v = v.yzx * v; a[{i} + programIndex] = v.x; }}\n")
        })
    }),
    Family::fails(
        "arrays too large for any memory",
        |_| "uniform int a[4294967296][4294967296][4294967296];\nexport void f() { a[1][2][3] = 4; }\n".into(),
        "E0900",
    ),
    Family::fails(
        "a struct that doubles",
        |_| {
            let doubles = each(40, |i| format!("struct S{} {{ S{i} a[1000]; S{i} b; }};\n", i + 1));
            format!(
                "struct S0 {{ int x; }};\n{doubles}uniform S40 s;\nexport void f() {{ s.b.b.b.a[1].b.b.b.b.b.a[1].a[2].a[3].b.b; }}\n"
            )
        },
        "E0900",
    ),
];
