//! What code lowering makes. That it means the right thing is tested by the case files, which run on the machine.

use crate::compile::{CompileOptions, Input, compile};
use crate::diag::Code;
use crate::lower::FpMode;
use spmdvm_vm::isa::{Effect, Extra};
use spmdvm_vm::program::Function;
use spmdvm_vm::{Op, Shape, VerifiedProgram};

fn program_with(text: &str, fp: FpMode) -> VerifiedProgram {
    let options = CompileOptions { fp, ..CompileOptions::default() };
    let compilation = compile(Input::Text { name: "test", text }, &options);
    let messages: Vec<_> = compilation.diagnostics.iter().map(|d| &d.message).collect();
    compilation.program.unwrap_or_else(|| panic!("{messages:?}"))
}

fn program(text: &str) -> VerifiedProgram {
    program_with(text, FpMode::Contract)
}

fn function(program: &VerifiedProgram, name: &str) -> Function {
    program.functions.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("no `{name}`")).clone()
}

fn ops(text: &str) -> Vec<Op> {
    function(&program(text), "f").code.iter().map(|inst| inst.op).collect()
}

fn count(ops: &[Op], op: Op) -> usize {
    ops.iter().filter(|&&o| o == op).count()
}

/// Operations that work on the mask stack.
fn mask_ops(ops: &[Op]) -> Vec<Op> {
    let uniform = [Op::Jmp, Op::BrTrue, Op::BrFalse, Op::Ret];
    ops.iter().copied().filter(|op| op.info().effect == Effect::Control && !uniform.contains(op)).collect()
}

#[test]
fn a_varying_loop_counter_that_is_uniform_costs_nothing() {
    let text = "export void f(uniform float a[]) {
        float sum = 0;
        for (int i = 0; i < 10; ++i) sum += a[i * programCount + programIndex];
        a[programIndex] = sum;
    }";
    assert_eq!(mask_ops(&ops(text)), []);
    let f = function(&program(text), "f");
    let i = f.regs.iter().find(|r| r.name.as_deref() == Some("i")).unwrap();
    assert_eq!(i.shape, Shape::Uniform);
}

#[test]
fn a_counter_of_lanes_that_leave_apart_is_varying() {
    let text = "export void f(uniform int a[]) {
        int i;
        for (i = 0; i < 10; ++i) if (i > a[programIndex]) break;
        a[programIndex] = i;
    }";
    let ops = ops(text);
    assert_eq!(mask_ops(&ops), [Op::LoopBegin, Op::LoopTest, Op::MaskBreakIf, Op::LoopBack, Op::LoopEnd]);
    assert!(count(&ops, Op::Assign) == 1, "{ops:?}");
}

#[test]
fn what_inactive_lanes_hold_is_kept_where_it_can_be_seen() {
    let seen = "export void f(uniform int a[]) {
        if (programIndex < 3) { int i = 1; i = 2; unmasked { a[programIndex] = i; } }
    }";
    assert_eq!(count(&ops(seen), Op::Assign), 1);
    let unseen = "export void f(uniform int a[]) {
        if (programIndex < 3) { int i = 1; i = 2; a[programIndex] = i; }
    }";
    assert_eq!(count(&ops(unseen), Op::Assign), 0);
}

#[test]
fn assignments_before_lanes_leave_are_exact_and_later_ones_are_not() {
    let text = "export void f(uniform int a[]) {
        int x = a[programIndex];
        x = x * x;
        if (x > 9) return;
        x = x + a[programIndex + 1];
        a[programIndex] = x;
    }";
    assert_eq!(count(&ops(text), Op::Assign), 1);
}

#[test]
fn neighbouring_elements_are_one_access() {
    let text = "export void f(uniform float a[], uniform float b[], uniform int w, uniform int h) {
        foreach (y = 0 ... h, x = 1 ... w) b[y * w + x] = a[y * w + x - 1] + a[(y + 1) * w + x];
    }";
    let ops = ops(text);
    assert_eq!((count(&ops, Op::LoadLane), count(&ops, Op::StoreLane)), (2, 1));
    assert_eq!((count(&ops, Op::Load), count(&ops, Op::Store)), (0, 0));
}

#[test]
fn fused_only_where_asked_for() {
    let text = "export float f(float a, float b, float c) { return a * b + c; }";
    let has_fma = |fp| function(&program_with(text, fp), "f").code.iter().any(|inst| inst.op == Op::Fma);
    assert!(has_fma(FpMode::Contract) && has_fma(FpMode::Fast) && !has_fma(FpMode::Strict));
    let subtract = "export float f(float a, float b, float c) { return c - a * b; }";
    assert_eq!(ops(subtract), [Op::Neg, Op::Fma, Op::Ret]);
    let apart = "export float f(float a, float b, float c) { float p = a * b; return p + c; }";
    assert_eq!(ops(apart), [Op::Mul, Op::Add, Op::Ret]);
}

#[test]
fn small_functions_take_the_place_of_their_calls() {
    let text = "export float f(float x) { return clamp(abs(x), 0.0f, 1.0f); }";
    assert_eq!(count(&ops(text), Op::Call), 0);
    let recursive = "int g(int n) { return n < 2 ? 1 : n * g(n - 1); } export int f(int n) { return g(n); }";
    assert_eq!(count(&ops(recursive), Op::Call), 1);
    let may_trap = "int g(int a, int b) { return a / b; } export int f(int a, int b) { return g(a, b); }";
    assert_eq!(count(&ops(may_trap), Op::Call), 1);
}

#[test]
fn sides_that_may_trap_are_evaluated_for_their_lanes() {
    let text = "export int f(int a, int b) { return b != 0 && a / b > 1 ? a : b; }";
    assert_eq!(mask_ops(&ops(text)), [Op::MaskIf, Op::MaskEndif]);
    let harmless = "export int f(int a, int b) { return b != 0 && a + b > 1 ? a : b; }";
    assert_eq!(mask_ops(&ops(harmless)), []);
}

#[test]
fn invariant_and_equal_computations_are_done_once() {
    let text = "export void f(uniform float a[], uniform int n, uniform float k) {
        foreach (i = 0 ... n) a[i] = a[i] * sqrt(k) + sqrt(k);
    }";
    let f = function(&program(text), "f");
    let at = |op| f.code.iter().position(|inst| inst.op == op).unwrap();
    assert_eq!(f.code.iter().filter(|inst| inst.op == Op::Sqrt).count(), 1);
    assert!(at(Op::Sqrt) < at(Op::LoadLane) && at(Op::Sqrt) < at(Op::Jmp));
}

#[test]
fn constant_bounds_that_leave_nothing_need_no_test_of_lanes() {
    let of = |bounds: &str| {
        let text = format!("export void f(uniform int a[]) {{ foreach (i = {bounds}) a[i + 1] = i; }}");
        count(&ops(&text), Op::LoopTest)
    };
    assert_eq!(["0 ... 32", "-3 ... 13", "1 ... 33"].map(of), [0, 0, 0]);
    assert_eq!(["0 ... 31", "5 ... 0", "0 ... a[0]"].map(of), [1, 1, 1]);
}

#[test]
fn a_row_that_fits_into_one_gang_is_no_loop() {
    let of = |bounds: &str, body: &str| {
        let text = format!("export void f(uniform int a[]) {{ foreach (i = {bounds}) {{ {body} a[i + 1] = i; }} }}");
        let ops = ops(&text);
        assert_eq!(count(&ops, Op::Jmp) + count(&ops, Op::BrTrue) + count(&ops, Op::BrFalse), 0, "{bounds}");
        let all = mask_ops(&ops);
        assert_eq!([all[0], all[all.len() - 1]], [Op::Everywhere, Op::EverywhereEnd]);
        all[1..all.len() - 1].to_vec()
    };
    assert_eq!(of("0 ... 3", ""), [Op::MaskIf, Op::MaskEndif]);
    assert_eq!(of("-7 ... 8", ""), [Op::MaskIf, Op::MaskEndif]);
    assert_eq!(of("-7 ... 9", ""), []);
    let leave = "if (a[i] > 0) break;";
    assert_eq!(of("4 ... 8", leave), [Op::LoopBegin, Op::LoopTest, Op::MaskBreakIf, Op::LoopEnd]);
    assert_eq!(of("0 ... 16", leave), [Op::LoopBegin, Op::MaskBreakIf, Op::LoopEnd]);
}

#[test]
fn exports_with_varying_parameters_have_a_function_over_arrays() {
    let p = program("export float f(float x, uniform int n) { return x * n; } export void g(uniform int a[]) {}");
    let wrapper = function(&p, "f$map");
    let names: Vec<_> = wrapper.regs[..wrapper.n_params as usize].iter().map(|r| r.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["x", "x.stride", "n", "result", "result.stride", "where", "where.stride", "n"]);
    assert!(p.functions.iter().all(|f| f.name != "g$map"));
}

#[test]
fn only_functions_that_are_reached_are_there() {
    let p = program("int unused() { return exp(1.0f); } export void f(uniform int a[]) { a[0] = 1; }");
    let names: Vec<_> = p.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["f"]);
}

#[test]
fn spans_of_inlined_code_are_those_of_the_call() {
    let text = "inline float g(float x) { return x * 3; }\nexport float f(float x) {\n    return g(x);\n}";
    let p = program(text);
    let f = function(&p, "f");
    let at = f.code.iter().position(|inst| inst.op == Op::Mul).unwrap();
    assert_eq!(p.line_col(f.spans[at]).map(|(_, line, _)| line), Some(3));
}

#[test]
fn labels_and_pools_are_tidy() {
    let text = "export void f(uniform int a[], uniform int n) {
        for (uniform int i = 0; i < n; ++i) { if (i == 3) continue; if (i == 5) break; a[i] = i; }
        while (true) { if (a[0] > 0) return; a[0]++; }
    }";
    let f = function(&program(text), "f");
    let mentioned = |r: usize| {
        f.code.iter().any(|inst| inst.dst.index() == r || inst.src.iter().any(|s| s.index() == r))
            || r < f.n_params as usize
    };
    assert!((0..f.regs.len()).all(mentioned));
    let to_next = |(at, inst): (usize, &spmdvm_vm::Inst)| {
        inst.op == Op::Jmp && inst.op.info().sig.extra == Extra::Label && inst.aux as usize == at + 1
    };
    assert!(!f.code.iter().enumerate().any(to_next));
}

#[test]
fn variables_that_nobody_reads_are_kept_if_asked_for() {
    let text = "export void f(uniform float a[], uniform int n) {
        foreach (i = 0 ... n) {
            float unused = a[i] + 1;
            a[i] = 2;
        }
    }";
    let names = |keep_variables: bool| {
        let options = CompileOptions { keep_variables, ..CompileOptions::default() };
        let program = compile(Input::Text { name: "test", text }, &options).program.unwrap();
        let names = function(&program, "f").regs.iter().filter_map(|r| r.name.as_deref().map(str::to_owned)).collect();
        let names: Vec<String> = names;
        names
    };
    assert_eq!(names(false), ["a", "n"]);
    assert_eq!(names(true), ["a", "n", "i", "unused"]);
}

#[test]
fn what_is_too_large_is_said() {
    let code = |text: &str| {
        let compilation = compile(Input::Text { name: "test", text }, &CompileOptions::default());
        assert!(compilation.program.is_none());
        compilation.diagnostics.first().map(|d| d.code)
    };
    let by_value = "struct S { float a[100000]; };
        uniform float g(uniform S s) { return s.a[0]; }
        export uniform float f(uniform S s[]) { return g(s[0]); }";
    assert_eq!(code(by_value), Some(Code::CannotLower));
    let local =
        "export void f(uniform int a[], uniform int n) { uniform int b[100000000]; b[n] = 1; a[0] = b[n + 1]; }";
    assert_eq!(code(local), Some(Code::CannotLower));
}
