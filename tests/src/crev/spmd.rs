//! Programs of the small language in the SPMD language.

use spmdvm::usimd::BinaryOp;
use spmdvm::usimd::crev::{Call, Expr, Function, Shape, Source, Stmt};
use std::fmt::Write as _;

/// The program with shared memory as the argument of its function `start`.
pub fn spmd_source(source: &Source) -> String {
    let mut text = String::new();
    for (i, function) in source.functions.iter().enumerate() {
        let is_last = i + 1 == source.functions.len();
        let _ = writeln!(text, "{} {{", head(function, is_last));
        for (shape, name, init) in &function.locals {
            let _ = writeln!(text, "    {} int64 {name} = {};", qualifier(*shape), expr(init));
        }
        block(&mut text, function, &function.body, 1);
        text += "}\n";
    }
    text
}

fn head(function: &Function, is_last: bool) -> String {
    let params = function.params.iter().map(|(shape, name)| format!(", {} int64 {name}", qualifier(*shape)));
    let params: String = params.collect();
    if is_last {
        return format!("export void start(uniform int64 mem[]{params})");
    }
    let result = function.result.map_or("void".to_owned(), |shape| format!("{} int64", qualifier(shape)));
    format!("static {result} {}(uniform int64 mem[]{params})", function.name)
}

fn qualifier(shape: Shape) -> &'static str {
    match shape {
        Shape::Uniform => "uniform",
        Shape::Varying => "varying",
    }
}

fn block(text: &mut String, function: &Function, stmts: &[Stmt], depth: usize) {
    for stmt in stmts {
        let indent = "    ".repeat(depth);
        let _ = match stmt {
            Stmt::Assign(name, e) => writeln!(text, "{indent}{name} = {};", expr(e)),
            Stmt::Store(address, value) => {
                writeln!(text, "{indent}mem[{}] = {};", store_address(function, address, value), expr(value))
            }
            Stmt::If(e, then, other) => {
                let _ = writeln!(text, "{indent}if ({} != 0) {{", expr(e));
                block(text, function, then, depth + 1);
                let _ = writeln!(text, "{indent}}} else {{");
                block(text, function, other, depth + 1);
                writeln!(text, "{indent}}}")
            }
            Stmt::While(e, body) => {
                let _ = writeln!(text, "{indent}while ({} != 0) {{", expr(e));
                block(text, function, body, depth + 1);
                writeln!(text, "{indent}}}")
            }
            Stmt::Everywhere(body) => {
                let _ = writeln!(text, "{indent}everywhere {{");
                block(text, function, body, depth + 1);
                writeln!(text, "{indent}}}")
            }
            Stmt::Call(c) => writeln!(text, "{indent}{};", call(c)),
            Stmt::Return(None) => writeln!(text, "{indent}return;"),
            Stmt::Return(Some(e)) => writeln!(text, "{indent}return {};", expr(e)),
        };
    }
}

/// A varying value can only be stored to varying addresses.
fn store_address(function: &Function, address: &Expr, value: &Expr) -> String {
    let of = |name: &str| function.shape_of(name).unwrap_or(Shape::Varying);
    match value.shape(&of) {
        Shape::Uniform => expr(address),
        Shape::Varying => format!("(varying int64){}", expr(address)),
    }
}

fn call(call: &Call) -> String {
    let args: String = call.args.iter().map(|arg| format!(", {}", expr(arg))).collect();
    let to = call.to.as_ref().map_or(String::new(), |to| format!("{to} = "));
    let crev = if call.crev { "crev " } else { "" };
    format!("{to}{crev}{}(mem{args})", call.function)
}

fn expr(e: &Expr) -> String {
    match e {
        Expr::Constant(c) => format!("((int64){c})"),
        Expr::Tid => "((int64)programIndex)".into(),
        Expr::Width => "((int64)programCount)".into(),
        Expr::Var(name) => name.clone(),
        Expr::Load(address) => format!("mem[{}]", expr(address)),
        Expr::Binary(op, a, b) => {
            let text = format!("({} {op} {})", expr(a), expr(b));
            match op {
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                    format!("({text} ? (int64)1 : (int64)0)")
                }
                _ => text,
            }
        }
    }
}
