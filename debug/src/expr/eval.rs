//! The value of an expression at a position.

use super::{Binary, Expr, Unary};
use crate::layout::{per_lane, scalar, type_text};
use crate::lines::Lines;
use crate::variables::{Lanes, Storage, bytes, named, register, word};
use spmdvm::vm::{Op, View, sem};
use spmdvm::{Export, HostType, Ty};

/// What names mean: the variables that can be seen at a position of a call of an export.
#[derive(Clone, Copy)]
pub struct Scope<'v, 'm> {
    /// The position.
    pub view: &'v View<'m>,
    /// What the host called.
    pub export: &'v Export,
    /// What is known of the code.
    pub lines: &'v Lines,
}

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Numbers.
    Lanes(Lanes),
    /// A value in memory, at an address per lane or one for all.
    Memory {
        /// Where.
        address: Lanes,
        /// What lies there.
        layout: HostType,
    },
    /// The first of several elements: an address as a value.
    Pointer {
        /// Where.
        address: Lanes,
        /// What an element is.
        elem: HostType,
    },
}

/// Its value; or what is wrong with it.
pub fn eval(expr: &Expr, scope: Scope<'_, '_>) -> Result<Value, String> {
    match expr {
        Expr::Int(value) if *value <= i32::MAX as u64 => Ok(uniform(Ty::I32, *value)),
        Expr::Int(value) => Ok(uniform(Ty::I64, *value)),
        Expr::Float(value) => Ok(uniform(Ty::F64, value.to_bits())),
        Expr::Bool(value) => Ok(uniform(Ty::Bool, *value as u64)),
        Expr::Name(name) => by_name(name, scope),
        Expr::Field(..) | Expr::Index(..) if scalar_of(expr, scope).is_some() => {
            scalar_of(expr, scope).ok_or_else(String::new)
        }
        Expr::Index(array, index) => {
            let (array, index) = (eval(array, scope)?, number(index, scope)?);
            element(array, &index, scope)
        }
        Expr::Field(of, name) => field(eval(of, scope)?, name),
        Expr::Deref(pointer) => element(eval(pointer, scope)?, &constant(Ty::I32, 0), scope),
        Expr::Unary(op, of) => unary(*op, &number(of, scope)?).map(Value::Lanes),
        Expr::Binary(op, a, b) => {
            let (a_value, b_value) = (number(a, scope)?, number(b, scope)?);
            let types = common(&a_value, &b_value, (a, b));
            binary(*op, &a_value, &b_value, types).map(Value::Lanes)
        }
    }
}

/// A scalar of a struct or short vector that is held in registers, which has a name of its own there: `p.x`, `v[2]`.
fn scalar_of(expr: &Expr, scope: Scope<'_, '_>) -> Option<Value> {
    fn name(expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => Some(name.clone()),
            Expr::Field(of, field) => Some(format!("{}.{field}", name(of)?)),
            Expr::Index(of, index) => match **index {
                Expr::Int(i) => Some(format!("{}[{i}]", name(of)?)),
                _ => None,
            },
            _ => None,
        }
    }
    let variable = named(scope.view, scope.export, scope.lines, &name(expr)?)?;
    match variable.place {
        Storage::Register(reg) => Some(Value::Lanes(register(scope.view, reg))),
        _ => None,
    }
}

/// The value of an expression that is to be a number per lane, or one.
pub fn number(expr: &Expr, scope: Scope<'_, '_>) -> Result<Lanes, String> {
    match eval(expr, scope)? {
        Value::Lanes(lanes) => Ok(lanes),
        Value::Pointer { address, .. } => Ok(address),
        Value::Memory { address, layout } => read(&address, &layout, scope),
    }
}

fn constant(ty: Ty, bits: u64) -> Lanes {
    Lanes { ty, is_uniform: true, words: vec![bits] }
}

fn uniform(ty: Ty, bits: u64) -> Value {
    Value::Lanes(constant(ty, bits))
}

fn by_name(name: &str, scope: Scope<'_, '_>) -> Result<Value, String> {
    let view = scope.view;
    let Some(variable) = named(view, scope.export, scope.lines, name) else {
        let n = view.lanes() as u64;
        return match name {
            "programCount" => Ok(uniform(Ty::I32, n)),
            "taskIndex" if view.task().is_some() => Ok(uniform(Ty::I32, view.task().unwrap_or(0))),
            "programIndex" => Ok(Value::Lanes(Lanes { ty: Ty::I32, is_uniform: false, words: (0..n).collect() })),
            _ => Err(format!(
                "there is no variable `{name}` here (`:vars` lists them; those that nothing reads are not kept)"
            )),
        };
    };
    Ok(match variable.place {
        Storage::Register(reg) => Value::Lanes(register(view, reg)),
        Storage::Pointer { reg, elem } => Value::Pointer { address: register(view, reg), elem },
        Storage::Memory { address, layout, .. } => {
            let layout = layout.ok_or_else(|| format!("the type of `{name}` is not known"))?;
            Value::Memory { address: constant(Ty::U64, address), layout }
        }
    })
}

/// The element at an index, which may differ between lanes.
fn element(of: Value, index: &Lanes, scope: Scope<'_, '_>) -> Result<Value, String> {
    if !index.ty.is_int() {
        return Err(format!("an index is an integer, and this is a {}", index.ty));
    }
    let (address, elem) = match of {
        Value::Memory { address, layout: HostType::Array(elem, _) } => (address, *elem),
        Value::Pointer { address, elem } => (address, elem),
        Value::Memory { layout, .. } => return Err(format!("a {} has no elements", type_text(&layout))),
        // A lane of a value.
        Value::Lanes(lanes) if index.is_uniform => {
            let lane = signed(index, 0);
            let within = (0..scope.view.lanes() as i64).contains(&lane) && !lanes.is_uniform;
            let known = within.then(|| lanes.word(lane as usize));
            let none = || match lanes.is_uniform {
                true => "this is uniform: it has no lanes".to_owned(),
                false => format!("there is no lane {lane}; there are 0 to {}", scope.view.lanes() - 1),
            };
            return known.map(|bits| uniform(lanes.ty, bits)).ok_or_else(none);
        }
        Value::Lanes(_) => return Err("this has no elements; a lane of it is `x[3]`".into()),
    };
    let size = elem.size() as i64;
    let n = if address.is_uniform && index.is_uniform { 1 } else { scope.view.lanes() };
    let words = (0..n).map(|l| sem::padd(address.word(l), signed(index, l).saturating_mul(size))).collect();
    Ok(Value::Memory { address: Lanes { ty: Ty::U64, is_uniform: n == 1, words }, layout: elem })
}

fn signed(of: &Lanes, lane: usize) -> i64 {
    let bits = of.word(lane);
    let wide = sem::eval(Op::Convert, Ty::I64, of.ty, [bits, 0, 0]);
    wide.unwrap_or(bits) as i64
}

fn field(of: Value, name: &str) -> Result<Value, String> {
    let (address, layout) = match of {
        Value::Memory { address, layout } => (address, layout),
        Value::Pointer { address, elem } => (address, elem),
        Value::Lanes(_) => return Err(format!("a number has no member `{name}`")),
    };
    let HostType::Struct { fields, .. } = &layout else {
        return Err(format!("a {} has no member `{name}`", type_text(&layout)));
    };
    let Some((_, offset, ty)) = fields.iter().find(|(field, ..)| field == name) else {
        let names: Vec<&str> = fields.iter().map(|(name, ..)| name.as_str()).collect();
        return Err(format!("there is no member `{name}`; there are {}", names.join(", ")));
    };
    let words = address.words.iter().map(|&at| sem::padd(at, *offset as i64)).collect();
    Ok(Value::Memory { address: Lanes { words, ..address }, layout: ty.clone() })
}

/// What lies in memory, as a number per lane. Inactive lanes that lead nowhere read zero, as loads do.
pub fn read(address: &Lanes, layout: &HostType, scope: Scope<'_, '_>) -> Result<Lanes, String> {
    let (view, lanes) = (scope.view, scope.view.lanes());
    let (ty, stride) = match (scalar(layout), per_lane(layout, lanes)) {
        (Some(ty), _) => (ty, 0),
        (None, Some(ty)) => (ty, ty.size() as i64),
        _ => return Err(format!("this is a {}, and no number", type_text(layout))),
    };
    let is_uniform = address.is_uniform && stride == 0;
    let n = if is_uniform { 1 } else { lanes };
    let mut words = vec![0; n];
    for (l, read) in words.iter_mut().enumerate() {
        let at = sem::padd(address.word(l), l as i64 * stride);
        match bytes(view, at, ty.size()) {
            Some(bytes) => *read = word(&bytes),
            None if is_uniform => return Err("this lies outside of the array, or of any memory".into()),
            None if view.mask() >> l & 1 == 1 => {
                return Err(format!("in lane {l} this lies outside of the array, or of any memory"));
            }
            None => {}
        }
    }
    Ok(Lanes { ty, is_uniform, words })
}

fn unary(op: Unary, a: &Lanes) -> Result<Lanes, String> {
    let (op, ty) = match op {
        Unary::Not => (Op::Not, Ty::Bool),
        Unary::Neg if a.ty.is_float() => (Op::Neg, a.ty),
        Unary::Neg => (Op::Neg, at_least_int(a.ty)),
        Unary::Complement if a.ty.is_float() => return Err(format!("`~` is for integers, and this is a {}", a.ty)),
        Unary::Complement => (Op::Not, at_least_int(a.ty)),
    };
    each(op, ty, ty, &[&convert(a, ty)])
}

fn binary(op: Binary, a: &Lanes, b: &Lanes, common: Ty) -> Result<Lanes, String> {
    let (op, ty, result) = match op {
        Binary::AndAlso => (Op::And, Ty::Bool, Ty::Bool),
        Binary::OrElse => (Op::Or, Ty::Bool, Ty::Bool),
        Binary::Number(op) => (op, common, common),
        Binary::Divide(_, op) if common.is_float() => (op, common, common),
        Binary::Divide(op, _) => (op, common, common),
        Binary::Bits(op) if common.is_float() => {
            return Err(format!("`{}` is for integers, and this is a {common}", op.info().name));
        }
        Binary::Bits(op) => (op, common, common),
        Binary::Compare(op) => (op, common, Ty::Bool),
    };
    each(op, ty, result, &[&convert(a, ty), &convert(b, ty)])
}

/// The type in which two operands meet. A number of the text takes the type of what it meets, if it can.
fn common(a: &Lanes, b: &Lanes, (a_expr, b_expr): (&Expr, &Expr)) -> Ty {
    let adapts = |expr: &Expr, ty: Ty| match expr {
        Expr::Float(_) => ty.is_float(),
        Expr::Int(_) => ty != Ty::Bool,
        _ => false,
    };
    match (a.ty, b.ty) {
        (ty, _) if adapts(b_expr, ty) => at_least_int(ty),
        (_, ty) if adapts(a_expr, ty) => at_least_int(ty),
        _ if [a_expr, b_expr].iter().any(|expr| matches!(expr, Expr::Float(_))) => Ty::F32,
        (a, b) => at_least_int(if rank(a) > rank(b) { a } else { b }),
    }
}

/// Which of two types wins: floats, then the larger, then the one without a sign.
fn rank(ty: Ty) -> (bool, usize, bool) {
    (ty.is_float(), ty.size(), !ty.is_signed())
}

/// Small integers are computed with as `int`.
fn at_least_int(ty: Ty) -> Ty {
    if ty.is_float() || ty.size() >= 4 { ty } else { Ty::I32 }
}

fn convert(a: &Lanes, ty: Ty) -> Lanes {
    let word = |&bits: &u64| sem::eval(Op::Convert, ty, a.ty, [bits, 0, 0]).unwrap_or(bits);
    Lanes { ty, is_uniform: a.is_uniform, words: a.words.iter().map(word).collect() }
}

fn each(op: Op, ty: Ty, result: Ty, operands: &[&Lanes]) -> Result<Lanes, String> {
    let is_uniform = operands.iter().all(|lanes| lanes.is_uniform);
    let n = operands.iter().map(|lanes| lanes.words.len()).max().unwrap_or(1);
    let word = |l: usize| {
        let mut given = [0; 3];
        operands.iter().zip(&mut given).for_each(|(lanes, to)| *to = lanes.word(l));
        sem::eval(op, ty, ty, given).ok_or_else(|| format!("`{}` is not for a {ty}", op.info().name))
    };
    let words = (0..n).map(word).collect::<Result<_, _>>()?;
    Ok(Lanes { ty: result, is_uniform, words })
}
