//! C as a back end: each construct comes to what the interpreter says, what has no meaning lane by lane is refused by name and
//! line, and a program that says otherwise is seen.

use spmdvm::{Engine, Fp, Module, Options, Width};
use spmdvm_oracle::compare::c::{self, C};
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::{Backend, Expected, Job, Rules, Verdict, difference};
use spmdvm_oracle::{End, TestCase};
use std::path::Path;
use std::time::Duration;

/// The compiler, if there is one; tests without it say that they are skipped.
fn compiler() -> Option<C> {
    let compiler = C { compiler: "cc".into(), timeout: Duration::from_secs(30) };
    match c::version(Path::new("cc")) {
        Ok(_) => Some(compiler),
        Err(why) => {
            eprintln!("skipped: no C compiler `cc` on PATH ({why})");
            None
        }
    }
}

/// Does something with the first call in a program.
fn with_job<T>(text: &str, lanes: u32, act: impl FnOnce(&Job<'_>) -> T) -> T {
    let options = Options { width: Width::new(lanes).expect("a width"), fp: Fp::Strict, ..Options::default() };
    let module = Module::compile("p.ispc", text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let case = TestCase::of_module("p.ispc", text, &module).expect("it has a call").remove(0);
    let export = case.call.export(&module).expect("an export").clone();
    act(&Job { case: &case, path: None, options: &options, export: &export })
}

fn verdict(text: &str, lanes: u32, backend: &dyn Backend) -> Verdict {
    let reference = OwnEngine { engine: Engine::Interp };
    with_job(text, lanes, |job| {
        Expected::of(&reference, job).expect("the reference runs it").compare(backend, job, &Rules::default())
    })
}

/// Programs that are inside, by what they are about.
const INSIDE: &[(&str, &str)] = &[
    ("integers", "
export void f(uniform int a[], uniform int8 b[], uniform uint16 c[], uniform int64 d[], uniform uint64 u[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = a[i];
        int8 y = b[i];
        uint16 z = c[i];
        int64 w = d[i];
        a[i] = (x * x - (x << 33) + (x >> 35)) ^ ~(x | 5) & -x;
        b[i] = y * y + (y >> 9) - (y << 7) + (y / -1) + y % 7;
        c[i] = z * z + (z >> 3) - z / 3 + (uint16)y;
        d[i] = w / (x | 1) + w % (y | 1) - (w << 65) + (int64)z;
        u[i] = u[i] * u[i] + (u[i] >> 63) + (uint64)x + count_leading_zeros(w) + popcnt(u[i]) + count_trailing_zeros(u[i]);
    }
}
// call: f(a=random:i32:40:1, b=random:i8:40:2, c=random:u16:40:3, d=random:i64:40:4, u=random:u64:40:5, n=40)
"),
    ("floats and conversions", "
export void f(uniform float x[], uniform double y[], uniform float16 h[], uniform int a[], uniform int8 b[], uniform uint64 u[],
              uniform int n) {
    foreach (i = 0 ... n) {
        float p = x[i] * 1e5f;
        double q = y[i] * 1e20d;
        float16 r = h[i];
        a[i] = (int)(p * p) + (int)q + (int)(r * (float16)900);
        b[i] = (int8)q;
        u[i] = (uint64)q + (uint64)p + (uint64)a[i];
        x[i] = p * p + p / (p - 0.5f) - sqrt(abs(p)) + floor(p) + ceil(p) - trunc(p) + round(p) + (float)u[i] + (float)r;
        y[i] = q / 3 + fmod(q, 7) + fma(q, q, y[i]) + (double)p + min(y[i], (double)p) + max(y[i], 0.25d);
        h[i] = r * r + (float16)p - r / (float16)3 + (float16)a[i] + sqrt(abs(r)) + (float16)y[i];
        if (intbits(p) > 1000 && isnan(p / 0.0f - p / 0.0f)) a[i] ^= intbits(r) + intbits((p - p) / (p - p));
    }
}
// call: f(x=random:f32:40:1, y=random:f64:40:2, h=random:f16:40:3, a=zeros:i32:40, b=zeros:i8:40, u=zeros:u64:40, n=40)
"),
    ("control of lanes", "
static int steps(int x) {
    int n = 0;
    while (x > 1) {
        if (n > 50) return -1;
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        if (x == 16) { n += 100; break; }
        ++n;
    }
    return n;
}
export void f(uniform int a[], uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = a[i] & 63 | 1, y = 0;
        switch (x % 5) {
        case 0: y += 1;
        case 1: y += 10; break;
        default: y = 7; break;
        case 3: if (x > 20) break; y = 9;
        }
        do { y += x; if (y > 30 && x != 9) continue; ++y; } while (y < 40 || y % 7 == 0 && y < 90);
        for (int k = 0; k < x; ++k) { if (k == 7) continue; if (k * k > 200) break; y += k && x > 9 || k == 3 ? k : 1; }
        if (x == 13) continue;
        if (x == 44) break;
        out[i] = y * 1000 + steps(x);
    }
}
// call: f(a=random:i32:70:9, out=zeros:i32:70, n=70)
"),
    ("uniform control in lanes", "
export void f(uniform int a[], uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int sum = 0;
        uniform float weight = 1;
        for (uniform int k = 0; k < 6; ++k) {
            uniform int odd = k & 1;
            if (odd) { weight *= 2; }
            sum += (int)weight * k + odd;
        }
        for (uniform int k = 0; k < 6; ++k) { uniform int twice = k * 2; if (a[i] == k) continue; sum += twice; }
        uniform int m = 3;
        while (m > 0) { sum *= 2; --m; }
        out[i] = sum;
    }
}
// call: f(a=iota:i32:19, out=zeros:i32:19, n=19)
"),
    ("structs, vectors, arrays, enums, pointers", "
struct P { float tag; float x[3]; float w; };
struct Q { int8 a; double b; int16 c; };
enum E { A = 3, B, C = 9 };
typedef float<3> vec;
static void bump(P &p, float by) { p.x[1] += by; p.tag++; }
static P made(float x) { P p = { 1, { x, x * 2, x * 3 }, 7 }; return p; }
static void through(varying float *uniform at, float by) { *at += by; at[0] *= 2; }
export void f(uniform P ps[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        P p = ps[i];
        bump(p, out[i]);
        P q = made(p.x[1]);
        if (q.x[2] > 3) q = p;
        vec v = { p.x[0], q.x[1], (float)p.w };
        v = v * v + 2.0f;
        v.x += v.z;
        float local[5];
        for (uniform int k = 0; k < 5; ++k) local[k] = v.y * k;
        float one = local[(int)(i % 5)];
        through(&one, v.x);
        E e = i % 3 == 0 ? A : C;
        uniform P *at = &ps[i];
        at->w += e + (int)(e == C);
        Q odd = { (int8)i, p.w, (int16)3 };
        Q same = odd;
        same.a += odd.c;
        ps[i].tag = p.tag + q.tag + same.a + (float)same.b;
        out[i] = one + v[i % 3] + (float)e;
    }
}
// call: f(ps=random:f32:50:3, out=random:f32:10:4, n=10)
"),
    ("short-circuits and mathematics", "
export void f(uniform float x[], uniform int n) {
    foreach (i = 0 ... n) {
        float v = x[i] * 40;
        x[i] = sin(v) + exp(v / 8) + (v > 0 ? log(v) : pow(-v, 1.5f)) + atan2(v, 2.0f) + tanh(v);
    }
}
// call: f(x=random:f32:40:1, n=40)
"),
    ("what the gang does together", "
static float total;
static uniform int calls;
static inline float twice(float x) { ++calls; return x + rotate(x, 1); }
export uniform float f(uniform float x[], uniform int n, uniform int seen[]) {
    float sum = 0, low = x[0];
    foreach (i = 0 ... n) { sum += x[i] * 3; low = min(low, x[i]); total += x[i]; }
    for (uniform int k = 0; k < 3; ++k) {
        float moved = twice(sum);
        if (programIndex > k) sum += moved / 2;
        seen[k] = reduce_max((int)(sum * 8)) + popcnt(sum > 1);
    }
    if (any(sum > 0) && !all(sum > 0)) seen[3] = packmask(sum > 0);
    int place = programIndex * 2;
    foreach_active (l) { seen[4] = seen[4] * 3 + (uniform int)l; }
    print(\"sum %, lanes %\\n\", reduce_add((int)sum), place);
    return reduce_add(sum) + reduce_min(low) + extract(sum, 1) + reduce_add(total) + calls;
}
// call: f(x=random:f32:43:1, n=43, seen=zeros:i32:5)
"),
    ("lanes that leave the gang", "
export void f(uniform int a[], uniform int out[]) {
    int x = a[programIndex];
    if (x % 3 == 0) return;
    for (uniform int k = 0; k < 8; ++k) { if (x > 100) break; x *= 3; }
    out[programIndex] = x;
}
// call: f(a=iota:i32:16, out=zeros:i32:16)
"),
    ("dimensions, tiles, tasks, memory", "
static uniform int table[4] = { 3, 1, 4, 1 };
task void part(uniform int a[], uniform int w) { foreach (i = 0 ... w) a[taskIndex * w + i] += taskIndex * 100 + i + taskCount1; }
export void f(uniform int a[], uniform int w, uniform int h) {
    foreach (y = 0 ... h, x = 0 ... w) a[y * w + x] = y * 10 + x + table[x & 3];
    foreach_tiled (y = 0 ... h, x = 0 ... w) { if (x == y) continue; a[y * w + x] *= 2; }
    launch[1, h] part(a, w);
    sync;
    foreach (i = 0 ... w) {
        int *own = new int[i + 1];
        for (int k = 0; k <= i; ++k) own[k] = k * k;
        a[i] += own[i];
        delete[] own;
    }
}
// call: f(a=zeros:i32:35, w=7, h=5)
"),
    ("sums that commute", "
export void f(uniform int a[], uniform int count[], uniform int n) {
    foreach (i = 0 ... n) { atomic_add_global(&count[a[i] & 3], 1); atomic_max_local(&count[4], a[i]); }
}
// call: f(a=random:i32:50:2, count=zeros:i32:5, n=50)
"),
];

#[test]
fn each_construct_comes_to_the_same() {
    let Some(compiler) = compiler() else { return };
    for (about, text) in INSIDE {
        for lanes in [4, 8] {
            assert_eq!(verdict(text, lanes, &compiler), Verdict::Equal, "{about}, width {lanes}");
        }
    }
}

/// Programs that are refused, with the reason.
const OUTSIDE: &[(&str, &str)] = &[
    (
        "foreach (i = 0 ... n) {\n a[i] = rotate(a[i], 1); }",
        "line 3: no translation lane by lane: lanes see each other (`shuffle`)",
    ),
    (
        "foreach (i = 0 ... n) {\n if (a[i] > 3) m += 1; }\n a[0] = m;",
        "line 3: no translation lane by lane: a uniform variable is set once for all lanes",
    ),
    (
        "foreach (i = 0 ... n) { uniform int k = 0;\n while (a[i] > k) k += 1;\n a[i] = k; }",
        "line 3: no translation lane by lane: a uniform variable is set where lanes have parted",
    ),
    ("foreach (i = 0 ... n) {\n print(\"%\", i); }", "line 3: no translation lane by lane: `print` by single lanes"),
    (
        "foreach (i = 0 ... n)\n foreach (k = 0 ... 3) a[i] += reduce_add(k);",
        "line 3: no translation lane by lane: `foreach` in code of single lanes",
    ),
    (
        "int x = programIndex;\n foreach_unique (v in x) { a[v] = 1; break; }",
        "line 3: no translation lane by lane: `break` of a loop over lanes",
    ),
    (
        "foreach (i = 0 ... n) {\n unmasked { a[programIndex] = 1; } }",
        "line 3: no translation lane by lane: `unmasked`",
    ),
    (
        "for (uniform int k = 0; k < n; ++k) {\n int x = a[k]; if (x > 2) break;\n a[k] = reduce_add(crev own(x)); }",
        "line 3: no translation lane by lane: `break` of single lanes out of a loop of the gang",
    ),
    // What only shows as it runs.
    (
        "foreach (i = 0 ... n) {\n int x = a[0];\n a[i] = x + 1; }",
        "line 3: lanes touch what other lanes write, where only the order tells the outcome",
    ),
    (
        "foreach (i = 0 ... n) {\n a[i / 2] = i; }",
        "line 3: lanes touch what other lanes write, where only the order tells the outcome",
    ),
    (
        "foreach (i = 0 ... n)\n a[0] += 1;",
        "line 3: lanes touch what other lanes write, where only the order tells the outcome",
    ),
];

#[test]
fn what_has_no_meaning_lane_by_lane_is_refused_by_name_and_line() {
    let Some(compiler) = compiler() else { return };
    for (body, reason) in OUTSIDE {
        let text = format!(
            "static uniform int own(uniform int x) {{ return x; }} export void f(uniform int a[], uniform int n) {{ uniform int m = 0;\n {body}\n }}\n// call: f(a=iota:i32:16, n=16)\n"
        );
        assert_eq!(verdict(&text, 4, &compiler), Verdict::NotComparable((*reason).to_owned()), "{body}");
    }
}

#[test]
fn uniform_stores_of_one_value_are_no_conflict() {
    let Some(compiler) = compiler() else { return };
    let text = "export void f(uniform int a[], uniform int n) { foreach (i = 0 ... n) { a[0] = n; a[i + 1] = i; } }\n\
                // call: f(a=zeros:i32:20, n=19)\n";
    assert_eq!(verdict(text, 4, &compiler), Verdict::Equal);
}

#[test]
fn an_array_may_be_called_result() {
    let Some(compiler) = compiler() else { return };
    for head in ["void", "uniform int"] {
        let value = if head == "void" { "" } else { "7" };
        let text = format!(
            "export {head} f(uniform float result[]) {{ result[1] = 2.5f; return {value}; }}\n// call: f(result=zeros:f32:3)\n"
        );
        assert_eq!(verdict(&text, 4, &compiler), Verdict::Equal, "{head}");
    }
}

#[test]
fn a_planted_difference_is_seen() {
    let Some(compiler) = compiler() else { return };
    let (_, text) = INSIDE[0];
    with_job(text, 4, |job| {
        let expected = OwnEngine { engine: Engine::Interp }.run(job).expect("it runs");
        let source = c::source(job).expect("it is translated");
        let differs = |source: &str| {
            let got = compiler.run_text(source, job).expect("it runs");
            difference(&job.case.call, 4, &expected, &got, &Rules::default())
        };
        assert_eq!(differs(&source), None);
        for (right, wrong) in [
            ("~a >> n", "a >> n"),
            ("(T)(a % b)", "(T)(a / b)"),
            ("who = lane;", "who = lane; if (lane == 2) continue;"),
        ] {
            let altered = source.replace(right, wrong);
            assert_ne!(altered, source, "{right}");
            assert!(differs(&altered).is_some(), "{right}");
        }
    });
}

#[test]
fn what_is_no_strict_call_of_one_gang_is_refused() {
    let refused = |text: &str, fp: Fp| {
        with_job(text, 4, |job| {
            let options = Options { fp, ..job.options.clone() };
            c::source(&Job { options: &options, ..*job }).expect_err("it is refused")
        })
    };
    let plain = "export void f(uniform int a[]) { a[0] = 1; }\n// call: f(a=zeros:i32:4)";
    assert_eq!(
        refused(plain, Fp::Contract),
        "a C compiler does not fuse as `--fp contract` asks for: use `--fp strict`"
    );
    let masked = format!("{plain} mask=0b1");
    assert_eq!(refused(&masked, Fp::Strict), "the call has a mask, which a C program cannot set");
    let varying =
        "export void g(uniform float a[], float x) { a[programIndex] = x; }\n// call: g(a=zeros:f32:4, x=[1, 2, 3, 4])";
    assert_eq!(refused(varying, Fp::Strict), "its parameter `x` is varying");
}

#[test]
fn a_trap_of_the_translation_alone_is_a_difference() {
    let Some(compiler) = compiler() else { return };
    let text = "export void f(uniform int a[]) { assert(a[0] == 0); }\n// call: f(a=zeros:i32:4)";
    with_job(text, 4, |job| {
        let source = c::source(job).expect("it is translated");
        assert_eq!(compiler.run_text(&source, job).expect("it runs").end, End::Returned);
        let altered = source.replace(") trap(\"assertion\")", " || true) trap(\"assertion\")");
        assert_ne!(altered, source);
        let end = compiler.run_text(&altered, job).expect("it runs").end;
        assert!(matches!(end, End::Trapped { kind: spmdvm::TrapKind::Assertion, .. }), "{end:?}");
    });
}
