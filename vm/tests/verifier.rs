//! Every rule of the verifier is broken here at least once, and sound programs of every shape are let through.

use spmdvm_vm::asm::assemble;
use spmdvm_vm::program::*;
use spmdvm_vm::verify::{EntryKind, MAX_FRAME_BYTES, MAX_GLOBAL_BYTES, RULES, Rule, verify};
use spmdvm_vm::{Program, Ty};
use std::sync::Arc;

fn program(text: &str) -> Program {
    assemble(text).unwrap_or_else(|e| panic!("{e:#?}\n{text}"))
}

/// A function with registers of many kinds around the given lines.
fn body(lines: &str) -> String {
    format!(
        "func f(v0:f32, v1:bool, v2:i32, u3:i32, u4:u64, u5:bool, u6:f32, v7:u64) frame 16 {{\n\
         const u8:i32 = 1\n var v9:f32, u10:f32, v11:bool, v12:i32, u13:u64, u14:i32\n{lines}\n}}\n"
    )
}

/// Rules the program breaks, with messages.
fn broken(program: Program) -> Vec<(Rule, String)> {
    match verify(program) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|e| (e.rule, e.to_string())).collect(),
    }
}

/// Programs in text form, each with the one rule it breaks and part of the message.
fn texts() -> Vec<(Rule, &'static str, String)> {
    let f = |lines: &str| body(&format!("{lines}\nret"));
    let two = |callee: &str, lines: &str| format!("{callee}{}", body(&format!("{lines}\nret")));
    let callee = "func g(v0:f32, u1:i32) -> (v0) {\n ret\n}\n";
    let task = "func g(u0:i32, u1:i32, u2:i32, u3:i32, u4:i32, u5:i32, v6:f32) task {\n ret\n}\n";
    vec![
        (Rule::Limit, "bytes of frame memory", format!("func f() frame {} {{\nret\n}}\n", MAX_FRAME_BYTES + 1)),
        (Rule::Limit, "the globals have", format!(".global g {} {{\n}}\n", MAX_GLOBAL_BYTES + 1)),
        (Rule::DuplicateName, "both called `f`", "func f() {\nret\n}\nfunc f() {\nret\n}\n".into()),
        (Rule::DuplicateName, "globals 0 and 1", ".global g 1 {\n}\n.global g 1 {\n}\n".into()),
        (Rule::GlobalImage, "has 3 initial bytes", ".global g 2 {\n text \"abc\"\n}\n".into()),
        (Rule::GlobalImage, "at byte 1 does not fit", ".global g 8 {\n reloc 1 g\n}\n".into()),
        (Rule::GlobalImage, "names global 7", ".global g 8 {\n reloc 0 #7\n}\n".into()),
        (Rule::GlobalImage, "names function 2", ".global g 8 {\n function 0 #2\n}\nfunc f() {\nret\n}\n".into()),
        (Rule::SymbolItem, "names global 1", ".symbol \"x\" global #1 \"int32\" {\n}\n.global g 4 {\n}\n".into()),
        (Rule::SymbolItem, "names function 1", ".import \"f()\" function #1 \"void ()\" {\n}\n".into()),
        (
            Rule::SymbolItem,
            "is a variable with parameters",
            ".import \"x\" global g \"int32\" {\n host (a: uniform i32)\n}\n.global g 4 {\n}\n".into(),
        ),
        (
            Rule::ExportShape,
            "import `f` describes 0 parameters of 1",
            ".import \"f\" function f \"void (int32)\" {\n host ()\n}\nfunc f(u0:i32) {\nret\n}\n".into(),
        ),
        (Rule::Reference, "there is no import 0", f("u14 = host.call #0(u3)")),
        (
            Rule::CallShape,
            "no host can provide `x`",
            format!(".import \"x\" function f \"void ()\" {{\n}}\n{}", f("host.call #0()")),
        ),
        (
            Rule::CallShape,
            "the arguments of `f` are not those of its import",
            ".import \"f\" function f \"void (int32)\" {\n host (a: uniform i32)\n}\n\
             func f(u0:i32) {\nvar v1:i32\nv1 = mov.i32 u0\nhost.call #0(v1)\nret\n}\n"
                .into(),
        ),
        (
            Rule::CallShape,
            "the results of `f` are not those of its import",
            ".import \"f\" function f \"int32 (int32)\" {\n host (a: varying i32) -> varying i32\n}\n\
             func f(v0:i32) -> (v1) {\nvar u2:i32\nvar v1:i32\nu2 = host.call #0(v0)\nv1 = mov.i32 u2\nret\n}\n"
                .into(),
        ),
        (Rule::GlobalHost, "the size of what hosts see", ".global g 4 {\n host writable f64\n}\n".into()),
        (Rule::GlobalHost, "is constant, but", ".global g 4 const {\n host writable i32\n}\n".into()),
        (Rule::GlobalHost, "has an image", ".global g 4 {\n hex \"00\"\n host extern i32\n}\n".into()),
        (Rule::FormatPiece, "conversion 'q'", ".format 0 {value conversion \"q\"}\n".into()),
        (Rule::FormatPiece, "width or precision of 60000", ".format 0 {value width 60000}\n".into()),
        (Rule::ExportShape, "0 parameters of 1", ".export e f() {\n}\nfunc f(u0:i32) {\nret\n}\n".into()),
        (Rule::ExportShape, "names function 3", ".export e #3() {\n}\nfunc f(u0:i32) {\nret\n}\n".into()),
        (Rule::ExportShape, "uniform u64", ".export e f(a: array f32) {\n}\nfunc f(u0:i32) {\nret\n}\n".into()),
        (Rule::ExportShape, "result", ".export e f() -> uniform i32 {\n}\nfunc f() {\nret\n}\n".into()),
        (
            Rule::ExportShape,
            "the default",
            ".export e f(a: uniform bool = bits(2)) {\n}\nfunc f(u0:bool) {\nret\n}\n".into(),
        ),
        (
            Rule::ExportShape,
            "too large or ill-formed",
            ".export e f(a: array struct \"S\" 4 { \"x\" 2 f32 }) {\n}\nfunc f(u0:u64) {\nret\n}\n".into(),
        ),
        (
            Rule::ExportShape,
            "too large or ill-formed",
            ".export e f(a: array [[f64 * 9999999999] * 9999999999]) {\n}\nfunc f(u0:u64) {\nret\n}\n".into(),
        ),
        (Rule::SourceSpan, "the span 2-9", ".source 0 \"a\" \"abc\"\nfunc f() {\nret @0:2-9\n}\n".into()),
        (Rule::Constant, "is varying", "func f() {\nconst v0:i32 = 1\nret\n}\n".into()),
        (Rule::Constant, "no value of its type", "func f() {\nconst u0:bool = bits(2)\nret\n}\n".into()),
        (Rule::Constant, "no value of its type", "func f() {\nconst u0:i8 = bits(0x100)\nret\n}\n".into()),
        (Rule::ConstantWritten, "r8 is a constant", f("u8 = mov.i32 u3")),
        (Rule::ConstantWritten, "r8 is a constant", two("func g(u0:i32) -> (u0) {\nret\n}\n", "u8 = call g(u3)")),
        (Rule::OpType, "`sqrt` is not defined for i32", f("v12 = sqrt.i32 v2")),
        (Rule::OpType, "no bitcast from i32 to u64", f("u13 = bitcast.u64.i32 u3")),
        (
            Rule::OpType,
            "no bitcast from i8 to bool",
            "func f(u0:i8, u1:bool) {\nu1 = bitcast.bool.i8 u0\nret\n}\n".into(),
        ),
        (Rule::Presence, "lacks its source `b`", f("v9 = add.f32 v0, _")),
        (Rule::OperandType, "source `b` must be f32, r2 is i32", f("v9 = add.f32 v0, v2")),
        (Rule::OperandType, "destination `d` must be bool", f("v9 = lt.f32 v0, v0")),
        (Rule::OperandType, "source `base` must be u64", f("v9 = load.f32 [v2]")),
        (Rule::OperandType, "source `index` must be i64, r2 is i32", f("v9 = load.f32.i64 [u4 + v2*4]")),
        (Rule::OperandShape, "do not make a uniform destination", f("u10 = add.f32 v0, u6")),
        (Rule::OperandShape, "do not make a varying destination", f("v9 = add.f32 u6, u6")),
        (Rule::OperandShape, "do not make a uniform destination", f("u10 = mov.f32 v0")),
        (Rule::OperandShape, "do not make a varying destination", f("v9 = load.f32 [u4]")),
        (Rule::OperandShape, "`v` may not be uniform", f("u10 = reduce.add.f32 u6")),
        (Rule::OperandShape, "`d` may not be uniform", f("u14 = iota")),
        (Rule::OperandShape, "`c` may not be varying", f("br.true v1, L\nL:")),
        (Rule::OperandShape, "`c` may not be uniform", f("mask.if u5, L\nL:\nmask.endif M\nM:")),
        (Rule::LabelRange, "no instruction", body("jmp #99")),
        (Rule::CallShape, "1 arguments for `g`, which has 2", two(callee, "v9 = call g(v0)")),
        (Rule::CallShape, "0 results for `g`", two(callee, "call g(v0, u3)")),
        (
            Rule::CallShape,
            "argument 0 of `g` is varying f32, the register uniform f32",
            two(callee, "v9 = call g(u6, u3)"),
        ),
        (Rule::CallShape, "result 0 of `g`", two(callee, "v12 = call g(v0, u3)")),
        (Rule::CallShape, "receives two results", f("v9, v9 = call.ind u4()")),
        (Rule::LaunchShape, "three counts", two(task, "launch g(u3, u3)")),
        (Rule::LaunchShape, "three counts", two(task, "launch g(u3, v2, u3, v0)")),
        (Rule::LaunchShape, "three counts", f("launch.ind u4(u3, u3, u4)")),
        (Rule::LaunchShape, "`g` is no task", two(callee, "launch g(u3, u3, u3)")),
        (Rule::LaunchShape, "six parameters", "func g(u0:i32) task {\nret\n}\n".into()),
        (Rule::CallShape, "0 arguments for `g`, which has 1", two(task, "launch g(u3, u3, u3)")),
        (Rule::CallShape, "argument 0 of `g`", two(task, "launch g(u3, u3, u3, u6)")),
        (Rule::Reference, "there is no function 9", f("launch #9(u3, u3, u3)")),
        (Rule::Reference, "there is no function 9", f("call #9()")),
        (Rule::Reference, "there is no function 9", f("u13 = func.addr #9")),
        (Rule::Reference, "there is no global 0", f("u13 = global.addr #0")),
        (Rule::Reference, "outside the global", format!(".global g 8 {{\n}}\n{}", f("u13 = global.addr g + 9"))),
        (Rule::Reference, "outside the frame's memory", f("u13 = frame.addr 17")),
        (Rule::Reference, "outside the frame's memory", f("u13 = frame.addr -1")),
        (Rule::Reference, "no frame memory", "func f(u0:u64) {\nu0 = frame.addr 0\nret\n}\n".into()),
        (Rule::Reference, "there is no format 2", f("print #2()")),
        (Rule::Reference, "there is no message 0", f("assert u5, #0")),
        (Rule::PrintArgs, "0 arguments for a format with 1", format!(".format 0 {{value}}\n{}", f("print #0()"))),
        (Rule::PrintArgs, "as an address but is f32", format!(".format 0 {{pointer}}\n{}", f("print #0(v0)"))),
        (Rule::MemoryOperand, "a scale of 2147483649", f("v9 = load.f32.i32 [u4 + v2*2147483649]")),
        (Rule::MemoryOperand, "a displacement of", f("u10 = load.f32 [u4 + 549755813888]")),
        (Rule::MemoryOperand, "an index of type f32", f("v9 = load.f32 [u4 + v0*4]")),
        (Rule::FallsOff, "does not end", body("v9 = mov.f32 v0")),
        (Rule::FallsOff, "does not end", "func f() {\n}\n".into()),
        (Rule::StackKind, "needs If at the top of the mask stack, but finds nothing", f("mask.endif L\nL:")),
        (Rule::StackKind, "needs Loop", f("mask.if v1, L\nloop.end L\nL:\nmask.endif M\nM:")),
        (Rule::StackJoin, "[] and with [If]", f("br.true u5, L\nmask.if v1, L\nL:")),
        (Rule::StackAtReturn, "mask stack [Every]", f("everywhere")),
        (Rule::NoTarget, "`mask.break` stands in nothing", f("mask.break L\nL:")),
        (Rule::NoTarget, "`mask.continue.if`", f("switch.begin L\nL:\nmask.continue.if v1, M\nM:\nswitch.end N\nN:")),
        (Rule::BackwardJump, "`mask.return` jumps backward", f("L:\nmask.return L")),
        (Rule::BackwardJump, "`loop.back` jumps forward", f("loop.begin\nloop.back L\nL:\nloop.end M\nM:")),
        (
            Rule::EmptyMask,
            "`add` can be reached with no lane active",
            f("mask.if v1, L\nL:\nu10 = add.f32 u6, u6\nmask.endif M\nM:"),
        ),
        (Rule::EmptyMask, "`store` can be", f("mask.return.if v1, L\nL:\nstore.f32 [u4], u6")),
        (Rule::EmptyMask, "`everywhere` can be", f("mask.return L\nL:\neverywhere\neverywhere.end M\nM:")),
        (Rule::Unassigned, "r9 may be read", f("v0 = mov.f32 v9")),
        (Rule::Unassigned, "r9 may be read", f("v9 = assign.f32 v0")),
        (Rule::Unassigned, "r9 may be read", f("br.true u5, L\nv9 = mov.f32 v0\nL:\nv0 = mov.f32 v9")),
        (
            Rule::Unassigned,
            "r14 may be read",
            f("each.begin\nu14 = each.lane L\nL:\nv12 = mov.i32 u14\neach.end M\nM:"),
        ),
        (Rule::Unassigned, "(`x`) may be read", "func f() -> (u0) {\nvar u0:i32 \"x\"\nret\n}\n".into()),
    ]
}

type Change = fn(&mut Function);

/// Changes that the text form cannot express, each with the rule it breaks.
fn changes() -> Vec<(Rule, Change)> {
    vec![
        (Rule::Limit, |f| {
            f.regs = vec![RegDecl { shape: spmdvm_vm::Shape::Varying, ty: Ty::F64, name: None }; 1 << 19].into()
        }),
        (Rule::SourceSpan, |f| f.spans.clear()),
        (Rule::Registers, |f| f.n_params = 3),
        (Rule::Registers, |f| f.results = vec![Reg(9)]),
        (Rule::Constant, |f| f.consts = Arc::new([(Reg(9), 0)])),
        (Rule::Constant, |f| f.consts = Arc::new([(Reg(1), 0), (Reg(1), 0)])),
        (Rule::Constant, |f| f.consts = Arc::new([(Reg(0), 0)])),
        (Rule::Presence, |f| f.code[0].aux = 1),
        (Rule::Presence, |f| f.code[0].imm = 1),
        (Rule::Presence, |f| f.code[0].src[2] = Reg(0)),
        (Rule::Presence, |f| f.code[1].dst = Reg(0)),
        (Rule::OpType, |f| f.code[0].from = Ty::F32),
        (Rule::OpType, |f| f.code[1].ty = Ty::F32),
        (Rule::RegisterRange, |f| f.code[0].src[1] = Reg(77)),
        (Rule::ListRange, |f| f.code[1].args = List { start: 5, len: 1 }),
    ]
}

#[test]
fn every_rule_is_enforced() {
    let mut seen = vec![false; RULES.len()];
    for (rule, message, text) in texts() {
        let errors = broken(program(&text));
        seen[rule as usize] = true;
        assert!(errors.iter().all(|e| e.0 == rule), "{rule:?}: {errors:#?}\n{text}");
        assert!(errors.iter().any(|e| e.1.contains(message)), "{message}: {errors:#?}\n{text}");
    }
    for (i, (rule, change)) in changes().into_iter().enumerate() {
        let mut p = program("func f(u0:i32) {\nvar u1:i32\nu1 = add.i32 u0, u0\nret\n}\n");
        change(&mut p.functions[0]);
        let errors = broken(p);
        seen[rule as usize] = true;
        assert!(errors.iter().any(|e| e.0 == rule), "change {i}, {rule:?}: {errors:#?}");
    }
    let missing: Vec<_> = RULES.iter().filter(|r| !seen[r.rule as usize]).map(|r| r.name).collect();
    assert!(missing.is_empty(), "no test breaks {missing:?}");
}

#[test]
fn every_error_is_reported_with_its_place() {
    let text = "func f(v0:f32) {\nvar v1:i32\nv1 = iota\nv1 = add.i32 v0, v1\nv1 = mov.i32 v0\nret\n}\nfunc g() {\njmp #7\n}\n";
    let shown: Vec<String> = broken(program(text)).into_iter().map(|e| e.1).collect();
    assert_eq!(
        shown,
        [
            "function `f`, instruction 1: `add`: source `a` must be i32, r0 is f32 [operand-type]",
            "function `f`, instruction 2: `mov`: source `a` must be i32, r0 is f32 [operand-type]",
            "function `g`, instruction 0: `jmp` has a label that is no instruction [label-range]",
        ]
    );
}

#[test]
fn facts_follow_the_code() {
    let text = body(
        "loop.begin\nH:\nloop.test v1, E\nmask.if v1, X\nmask.break X\nX:\nmask.endif N\nN:\nloop.next E\nloop.back H\nE:\nloop.end R\nR:\nret",
    );
    let verified = verify(program(&text)).unwrap_or_else(|e| panic!("{e:#?}"));
    let facts = verified.facts(FuncId(0));
    assert_eq!(facts.max_depth(), 2);
    assert_eq!(facts.entries(3).collect::<Vec<_>>(), [EntryKind::If, EntryKind::Loop]);
    assert_eq!((facts.depth(0), facts.depth(1), facts.depth(8)), (0, 1, 0));
    assert!(facts.may_be_empty(8) && !facts.may_be_empty(6) && facts.is_reachable(7));
    let text = body("jmp L\nv9 = mov.f32 v9\nL:\nret");
    let verified = verify(program(&text)).unwrap();
    assert!(!verified.facts(FuncId(0)).is_reachable(1), "what cannot be reached need not be assigned");
}

#[test]
fn a_turn_of_an_each_loop_may_end_by_going_back() {
    let text = body(
        "each.begin\nS:\nu14 = each.lane E\nmask.if v1, X\nmask.continue X\nX:\nmask.endif S\njmp S\nE:\neach.end R\nR:\nret",
    );
    verify(program(&text)).unwrap_or_else(|e| panic!("{e:#?}"));
}

#[test]
fn long_functions_are_verified_quickly() {
    let mut text = String::from("func f(u0:bool, v1:bool) {\n");
    for i in 0..3000 {
        text += &format!("var u{}:i32\n", i + 2);
    }
    for i in 0..3000 {
        text += &format!("u{} = popcnt.i32 u{}\n", i + 2, if i == 0 { 3001 } else { i + 1 });
        text += &format!("br.true u0, L{i}\nmask.if v1, M{i}\nM{i}:\nmask.endif R\nL{i}:\n");
    }
    text += "R:\nret\n}\n";
    let errors = broken(program(&text));
    assert_eq!(errors.len(), 1, "only the first read comes before its write: {errors:#?}");
}
