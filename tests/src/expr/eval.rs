//! The value of an expression.

use super::functions::call;
use super::{Binary, Expr, Unary, Value};

/// What names mean.
pub trait Scope {
    /// The value of a variable.
    fn variable(&self, name: &str) -> Option<Value>;
    /// The element of an array, at `path` within it.
    fn element(&self, array: &str, index: i128, path: &str) -> Result<Value, String>;
}

/// A scope with one more variable, as inside `sum(k, …)`.
struct Inner<'a> {
    outer: &'a dyn Scope,
    name: &'a str,
    value: i128,
}

impl Scope for Inner<'_> {
    fn variable(&self, name: &str) -> Option<Value> {
        if name == self.name { Some(Value::Int(self.value)) } else { self.outer.variable(name) }
    }
    fn element(&self, array: &str, index: i128, path: &str) -> Result<Value, String> {
        self.outer.element(array, index, path)
    }
}

/// Evaluates an expression.
pub fn eval(expr: &Expr, scope: &dyn Scope) -> Result<Value, String> {
    match expr {
        Expr::Literal(value) => Ok(value.clone()),
        Expr::Name(name) => scope.variable(name).ok_or_else(|| format!("unknown name `{name}`")),
        Expr::Element(array, index, path) => scope.element(array, eval(index, scope)?.as_int()?, path),
        Expr::Unary(op, operand) => unary(*op, eval(operand, scope)?),
        Expr::Binary(op, left, right) => match (op, eval(left, scope)?) {
            (Binary::And, l) if !l.truth() => Ok(Value::Int(0)),
            (Binary::Or, l) if l.truth() => Ok(Value::Int(1)),
            (_, l) => binary(*op, l, eval(right, scope)?),
        },
        Expr::Choose(cond, yes, no) => eval(if eval(cond, scope)?.truth() { yes } else { no }, scope),
        Expr::Call(name, args) => {
            let args = args.iter().map(|arg| eval(arg, scope)).collect::<Result<Vec<_>, _>>()?;
            call(name, &args)
        }
        Expr::Fold(name, var, parts) => fold(name, var, parts, scope),
    }
}

fn unary(op: Unary, value: Value) -> Result<Value, String> {
    Ok(match (op, value) {
        (Unary::Neg, Value::Int(v)) => Value::Int(-v),
        (Unary::Neg, value) => Value::Float(-value.as_f64()?),
        (Unary::Not, value) => Value::Int(!value.truth() as i128),
        (Unary::Complement, value) => Value::Int(!value.as_int()?),
    })
}

fn binary(op: Binary, left: Value, right: Value) -> Result<Value, String> {
    if let (Value::Int(l), Value::Int(r)) = (&left, &right) {
        return integers(op, *l, *r).map(Value::Int);
    }
    if let (Value::Text(l), Value::Text(r), Binary::Add) = (&left, &right, op) {
        return Ok(Value::Text(format!("{l}{r}")));
    }
    if matches!(op, Binary::And | Binary::Or) {
        return Ok(Value::Int(right.truth() as i128));
    }
    floats(op, left.as_f64()?, right.as_f64()?)
}

fn integers(op: Binary, l: i128, r: i128) -> Result<i128, String> {
    let overflow = || "the exact integer result is too large".to_owned();
    let count = |r: i128| u32::try_from(r).ok().filter(|r| *r < 128).ok_or(format!("shift by {r}"));
    Ok(match op {
        Binary::Or | Binary::And => (r != 0) as i128,
        Binary::BitOr => l | r,
        Binary::BitXor => l ^ r,
        Binary::BitAnd => l & r,
        Binary::Eq => (l == r) as i128,
        Binary::Ne => (l != r) as i128,
        Binary::Lt => (l < r) as i128,
        Binary::Le => (l <= r) as i128,
        Binary::Gt => (l > r) as i128,
        Binary::Ge => (l >= r) as i128,
        Binary::Shl => l.checked_mul(1i128.checked_shl(count(r)?).ok_or_else(overflow)?).ok_or_else(overflow)?,
        Binary::Shr => l >> count(r)?,
        Binary::Add => l.checked_add(r).ok_or_else(overflow)?,
        Binary::Sub => l.checked_sub(r).ok_or_else(overflow)?,
        Binary::Mul => l.checked_mul(r).ok_or_else(overflow)?,
        Binary::Div => l.checked_div(r).ok_or("division by zero in an expectation")?,
        Binary::Rem => l.checked_rem(r).ok_or("division by zero in an expectation")?,
    })
}

fn floats(op: Binary, l: f64, r: f64) -> Result<Value, String> {
    let truth = |b: bool| Value::Int(b as i128);
    Ok(match op {
        Binary::Eq => truth(l == r),
        Binary::Ne => truth(l != r),
        Binary::Lt => truth(l < r),
        Binary::Le => truth(l <= r),
        Binary::Gt => truth(l > r),
        Binary::Ge => truth(l >= r),
        Binary::Add => Value::Float(l + r),
        Binary::Sub => Value::Float(l - r),
        Binary::Mul => Value::Float(l * r),
        Binary::Div => Value::Float(l / r),
        Binary::Rem => Value::Float(l % r),
        _ => return Err("a bit operation on a float".to_owned()),
    })
}

fn fold(name: &str, var: &str, [lo, hi, body]: &[Expr; 3], scope: &dyn Scope) -> Result<Value, String> {
    let (lo, hi) = (eval(lo, scope)?.as_int()?, eval(hi, scope)?.as_int()?);
    let values = (lo..hi).map(|value| eval(body, &Inner { outer: scope, name: var, value }));
    let mut values = values.collect::<Result<Vec<_>, _>>()?.into_iter();
    match name {
        "sum" => values.try_fold(Value::Int(0), |a, b| binary(Binary::Add, a, b)),
        "product" => values.try_fold(Value::Int(1), |a, b| binary(Binary::Mul, a, b)),
        "count" => Ok(Value::Int(values.filter(Value::truth).count() as i128)),
        "anyof" => Ok(Value::Int(values.any(|v| v.truth()) as i128)),
        "allof" => Ok(Value::Int(values.all(|v| v.truth()) as i128)),
        _ => {
            let all: Vec<Value> = values.collect();
            call(if name == "minof" { "min" } else { "max" }, &all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    struct Test;

    impl Scope for Test {
        fn variable(&self, name: &str) -> Option<Value> {
            match name {
                "i" => Some(Value::Int(5)),
                "W" => Some(Value::Int(8)),
                "x" => Some(Value::Float(0.5)),
                _ => None,
            }
        }
        fn element(&self, array: &str, index: i128, path: &str) -> Result<Value, String> {
            match (array, index, path) {
                ("a", 0..10, "") => Ok(Value::Int(index * 10)),
                ("p", 2, "pos[1].y") => Ok(Value::Float(1.25)),
                _ => Err("no such element".to_owned()),
            }
        }
    }

    fn check(text: &str, expected: &str) {
        let got = parse(text).and_then(|e| eval(&e, &Test)).map_or_else(|e| format!("error: {e}"), |v| v.to_string());
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn precedence_is_that_of_c() {
        check("1 + 2 * 3 - 4", "3");
        check("10 - 4 - 3", "3");
        check("1 << 2 + 1", "8");
        check("1 | 2 ^ 3 & 1", "3");
        check("1 < 2 == 1", "1");
        check("i == 5 && W != 8 || 1", "1");
        check("-2 * -3", "6");
        check("!0 + ~0", "0");
        check("1 ? 2 : 0 ? 3 : 4", "2");
        check("(0 ? 2 : 0) ? 3 : 4", "4");
    }

    #[test]
    fn integers_are_exact_and_conversions_wrap() {
        check("1000000007 * 1000000007 * 1000000007", "1000000021000000147000000343");
        check("i32(0x7fffffff + 1)", "-2147483648");
        check("u8(-1) + i8(255)", "254");
        check("-7 / 2", "-3");
        check("-7 % 2", "-1");
        check("-7 >> 1", "-4");
        check("f32(16777217)", "16777216.0");
        check("7 / 2.0", "3.5");
        check("f16(0.1)", "0.0999755859375");
    }

    #[test]
    fn only_the_needed_side_is_evaluated() {
        check("i > 9 ? 1 / 0 : 2", "2");
        check("0 && 1 / 0", "0");
        check("1 / 0", "error: division by zero in an expectation");
        check("a[10]", "error: no such element");
    }

    #[test]
    fn folds_bind_a_variable() {
        check("sum(k, 0, W, k * k)", "140");
        check("sum(k, 3, 3, k)", "0");
        check("count(k, 0, W, k % 3 == 0)", "3");
        check("maxof(k, 0, 10, a[k] % 70)", "60");
        check("sum(k, 0, 3, sum(j, 0, k, j + k))", "6");
        check("anyof(k, 0, 4, k == 9)", "0");
    }

    #[test]
    fn elements_texts_and_special_numbers() {
        check("a[i + 1]", "60");
        check("p[2].pos[1].y", "1.25");
        check("i > 2 ? \"yes\" : \"no\"", "yes");
        check("min(nan, 1.0)", "1.0");
        check("-inf", "-inf");
        check("1.5e3 + .5 + 1e-1", "1500.6");
        check("bits32(1.0)", "1065353216");
        check("sqrt(x * x)", "0.5");
        check("y", "error: unknown name `y`");
        check("1 +", "error: expected a value before ``");
        check("1 2", "error: cannot read `2` in `1 2`");
    }
}
