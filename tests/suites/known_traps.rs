//! What tracing compilers of such programs get wrong: memory that overlaps, lanes that left and are read all the same,
//! indices that wrap, the floating-point environment of the thread. `jit/tests/README.md` lists where each is tested.

use spmdvm::{Engine, JitSettings, Module, Options, Value, Width};
use spmdvm_tests::agree::{Input, agree, modes};
use spmdvm_tests::subject::engines;

fn program(body: &str) -> String {
    format!("export void f(uniform int a[], uniform int b[], uniform int n) {{ {body} }}")
}

/// `b` begins at each of these elements of `a`.
fn overlapping() -> Vec<Input> {
    [0, 1, 3, 4, 15, 16, 17, 40].map(|at| Input { overlap: Some(at), n: 39, calls: 2, ..Input::default() }).to_vec()
}

#[test]
fn arrays_may_overlap() {
    for body in [
        "foreach (i = 0 ... n) b[i] = a[i] * 3 + 1;",
        "foreach (i = 0 ... n) a[i] = b[i] - 7;",
        "for (uniform int i = 0; i < n; ++i) b[i] = a[i] + i;",
        // A load between two stores through another name.
        "foreach (i = 0 ... n) { a[i] = i; int x = b[i]; a[i] = x + 1; b[i] += a[i]; }",
        "for (uniform int i = 0; i < n; ++i) { uniform int x = a[0]; b[0] = x + 1; b[i] = a[0] + a[i]; }",
        // What does not change in the loop, unless it does.
        "for (uniform int i = 0; i < n; ++i) { b[i] = a[3] + i; a[3] = b[2]; }",
        // Scatters that lanes do onto each other, gathers of what was just scattered.
        "foreach (i = 0 ... n) { a[i / 2] = i; b[(i * 7) & 31] += a[i / 3]; }",
        "foreach (i = 0 ... n) { if (i & 1) b[i] = a[i]; else a[i] = b[i ^ 1]; }",
    ] {
        agree(&program(body), &overlapping());
    }
}

/// A pointer as an element of the memory it points to, seen through arrays of another type.
#[test]
fn one_memory_may_have_two_types() {
    let text = program(
        "uniform int16 * uniform s = (uniform int16 * uniform)b;
         foreach (i = 0 ... n) { a[i] = i * 70000; s[i * 2 + 1] = (int16)i; a[i] += b[i]; }",
    );
    agree(&text, &overlapping());
}

#[test]
fn lanes_that_left_are_read() {
    for body in [
        // Lanes leave the loop at different times; all of them are looked at then and while it runs.
        "foreach (i = 0 ... n) { int x = i; for (int k = 0; k < (i & 7); ++k) { x = x * 3 + k; a[i] += shuffle(x, programIndex ^ 1); } a[i] ^= rotate(x, 1); }",
        "foreach (i = 0 ... n) { int x = i; for (int k = 0; k < (i & 7); ++k) { int y = x * 2; x += broadcast(y, 3); unmasked { b[programIndex] = y; } } a[i] = x; }",
        "int x = programIndex, last = 0; while (x < 20) { last = x * 5; x += programIndex + 1; if (x == 7) break; } unmasked { a[programIndex] = last + x; }",
        "int x = 3; for (uniform int r = 0; r < 9; ++r) { int y = 0; if ((programIndex + r) & 1) { y = r; x += y; } int z = y * 2 + x; unmasked { b[programIndex] += z + y; } } a[programIndex] = x;",
        "int x = programIndex; for (uniform int r = 0; r < 9; ++r) if (programIndex > r) { x += 5; a[extract(x, r) & 63] += 1; }",
        "int x = 0; for (int k = 0; k < programIndex; ++k) { x += k; if (k == 3) continue; foreach_active (l) { a[l] += extract(x, l + 1); } }",
    ] {
        agree(
            &program(body),
            &[Input { n: 37, calls: 2, ..Input::default() }, Input { mask: 0x96, n: 37, ..Input::default() }],
        );
    }
}

#[test]
fn indices_wrap() {
    // Far out of bounds after a few rounds, and back in bounds when 32 bits have wrapped.
    let strides = [1 << 30, (1 << 30) + 1, 1 << 31, -1, i32::MIN + 3, 7];
    let inputs = strides.map(|n| Input { n, ..Input::default() });
    for body in [
        "for (uniform int j = 0; j < 9; ++j) foreach (i = 0 ... 8) a[j * n + i] += j + 1;",
        "for (uniform int j = 0; j < 9; ++j) a[i32(j * n) & 127] += j + 1;",
        "for (uniform int j = 0; j < 9; ++j) a[(j * 4) * n + j] += j + 1;",
        "foreach (i = 0 ... 40) a[i * n] = b[i * n];",
        "for (uniform unsigned int j = 0; j < 9; ++j) a[j * (uniform unsigned int)n] += 1;",
        "for (uniform int j = 2147483600; j > 0; j += 16) foreach (i = 0 ... 8) a[(j - 2147483600) + i] += 1;",
        "for (uniform int64 j = 0; j < 9; ++j) a[j * n * 4294967296 + j] += 1;",
    ] {
        agree(&program(&body.replace("i32(j * n)", "(j * n)")), &inputs);
    }
}

/// Sets the floating-point control register of the thread until dropped: flush to zero, denormals are zero, round up.
#[cfg(target_arch = "x86_64")]
struct Disturbed(u32);

#[cfg(target_arch = "x86_64")]
impl Disturbed {
    const CONTROL: u32 = 0x1f80 | 0x8000 | 0x40 | 0x4000;

    fn now() -> u32 {
        let mut value = 0u32;
        // SAFETY: stores the register to a local.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags)) };
        value
    }

    fn set(value: u32) {
        // SAFETY: all exceptions stay masked, and no reserved bit is set.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, preserves_flags, readonly)) };
    }

    fn begin() -> Disturbed {
        let saved = Disturbed(Self::now());
        Self::set(Self::CONTROL);
        saved
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for Disturbed {
    fn drop(&mut self) {
        Self::set(self.0);
    }
}

/// Denormals, sums that round, and in `shared` what tasks on other threads compute.
const FLOATS: &str = "task void part(uniform float x[], uniform float k) {
    for (uniform int i = taskIndex * 16; i < taskIndex * 16 + 16; ++i) x[i] = x[i] * 0.5f + k * 1e-12f;
}
export void f(uniform float x[], uniform float k, uniform float j) {
    foreach (i = 0 ... 64) { for (uniform int r = 0; r < 50; ++r) x[i] = x[i] * 1.0000001f + k * j; x[i] *= 0.5f; }
    for (uniform int i = 0; i < 64; ++i) x[i] += (k * j) / 3.0f;
    launch[4] part(x, k);
}";

#[cfg(target_arch = "x86_64")]
#[test]
fn the_threads_floating_point_environment_does_not_matter() {
    let start: Vec<f32> = (0..64).map(|i| i as f32 * 1e-41).collect();
    let run = |engine, jit: &JitSettings, disturbed: bool| {
        let options = Options { engine, jit: jit.clone(), threads: Some(3), ..Options::default() };
        let module = Module::compile("floats.ispc", FLOATS, &options).unwrap_or_else(|e| panic!("{e}"));
        let mut x = start.clone();
        let environment = disturbed.then(Disturbed::begin);
        for _ in 0..5 {
            let args = [Value::slice_mut(&mut x), 1e-30f32.into(), 1.3e-12f32.into()];
            module.call("f", &args).unwrap();
            // Background compilation gets its chance.
            if jit.background {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        if environment.is_some() {
            assert_eq!(Disturbed::now() & !0x3f, Disturbed::CONTROL, "the register is as it was");
        }
        drop(environment);
        x.iter().map(|x| x.to_bits()).collect::<Vec<u32>>()
    };
    let expected = run(Engine::Interp, &JitSettings::default(), false);
    assert!(expected.iter().any(|&bits| bits != 0 && bits < 0x0080_0000), "there are denormals");
    for &engine in engines() {
        let background = JitSettings { hot: 2, same_arguments: 2, observe: 100, ..JitSettings::default() };
        for jit in modes().map(|(_, jit)| jit).iter().chain([&background]) {
            assert_eq!(run(engine, jit, true), expected, "{engine}, {jit:?}");
            assert_eq!(run(engine, jit, false), expected, "{engine}, {jit:?}");
        }
    }
}

/// Operations that Cranelift has no vector instructions for, in compiled loops.
#[test]
fn what_the_native_back_end_has_no_instructions_for() {
    for (ty, body) in [
        ("int", "x = (x << (i & 31)) ^ (x >> (k & 31)) + x / (i | 1) - x % (k + 5);"),
        ("int8", "x = (x << (int8)(i & 7)) + (x >> (int8)(k & 7)) * x / (int8)(i | 1);"),
        ("unsigned int64", "x = (x << (i & 63)) ^ (x >> (k & 63)) * x + (unsigned int64)i;"),
        ("float16", "x = x * (float16)0.5 + (float16)(i - k);"),
        ("float", "x = x * 1.5f + (float)i; x += (float)(int8)(x * 100) + (float)(unsigned int64)x;"),
        ("double", "x = x * 1.5 + i; x -= (double)(int64)(x * 1e15) + (double)(unsigned int16)x;"),
    ] {
        let text = program(&format!(
            "foreach (i = 0 ... n) {{ {ty} x = ({ty})i; for (int k = 0; k < 4; ++k) {{ {body} }} a[i] = (int)x; b[i] = x > 3 ? 1 : 2; }}"
        ));
        agree(&text, &[Input { n: 43, ..Input::default() }]);
    }
    assert!(Width::ALL.len() == 7, "narrow gangs, whose vectors are padded, among them");
}
