//! The mode `fast`: sums and products of several operands, in an order of our own.
//!
//! What is taken apart is a chain as it is read from left to right, `a + b - c + d` or `a * b * c * d`; an operand in
//! parentheses to the right of an operator stays what it is, so that `a - (s - b)` does. Of the operands of a chain, those
//! of uniform types are combined first, then the others in a tree: `(a + b) + (c + d)`. (Uniform is what a type says, not
//! what is found out: the latter may depend on what is inlined.) Products in a sum are added to the rest one after another,
//! fused. So operators and types decide, and every engine has the same bits at every width.

use super::FpMode;
use super::function::{FunctionLowerer, Value};
use crate::hir::{Cast, Expr, ExprKind};
use spmdvm_vm::program::Reg;
use spmdvm_vm::{Op, Ty};

/// An operand of a sum: a product, if it has several factors.
struct Term<'m> {
    negative: bool,
    factors: Vec<&'m Expr>,
}

/// A value.
#[derive(Clone, Copy)]
struct Operand {
    value: Reg,
    /// Whether its type says so.
    is_varying: bool,
}

/// A value that is added, or subtracted.
#[derive(Clone, Copy)]
struct Signed {
    negative: bool,
    operand: Operand,
}

/// A product that is added, or subtracted.
#[derive(Clone, Copy)]
struct SignedProduct {
    negative: bool,
    factors: [Operand; 2],
}

impl SignedProduct {
    fn is_varying(&self) -> bool {
        self.factors.iter().any(|factor| factor.is_varying)
    }
}

impl<'m> FunctionLowerer<'_, 'm> {
    /// The value of a sum or product in the mode `fast`, if it has operands to be put in order.
    pub fn reassociated(&mut self, op: Op, expr: &'m Expr) -> Option<Value> {
        let types = &self.cx.module.types;
        let ty = types.element_ty(expr.ty).filter(|ty| ty.is_float())?;
        if self.body.fp != FpMode::Fast || !matches!(op, Op::Add | Op::Sub | Op::Mul) {
            return None;
        }
        let terms = if op == Op::Mul { vec![Term { negative: false, factors: factors(expr) }] } else { terms(expr) };
        if terms.len() < 3 && terms.iter().all(|term| term.factors.len() < 3) {
            return None;
        }
        let operands: Vec<&'m Expr> = terms.iter().flat_map(|term| term.factors.iter().copied()).collect();
        let varying: Vec<bool> =
            operands.iter().map(|operand| types.is_varying(without_broadcast(operand).ty)).collect();
        let values: Vec<Value> =
            (0..operands.len()).map(|i| self.value_before(operands[i], &operands[i + 1..])).collect();
        self.at(expr.span);
        let n = values.iter().map(Vec::len).max().unwrap_or(0);
        let element = |i: usize| {
            let part = |value: &Value| value[if value.len() == 1 { 0 } else { i }];
            let operands = values.iter().zip(&varying);
            operands.map(|(value, &is_varying)| Operand { value: part(value), is_varying }).collect::<Vec<_>>()
        };
        Some((0..n).map(|i| self.reassociated_element(ty, &terms, &element(i))).collect())
    }

    /// One element of the value, of those of the operands.
    fn reassociated_element(&mut self, ty: Ty, terms: &[Term<'m>], mut operands: &[Operand]) -> Reg {
        let (mut plain, mut products) = (Vec::new(), Vec::new());
        for term in terms {
            let negative = term.negative;
            let (factors, rest) = operands.split_at(term.factors.len());
            operands = rest;
            match *factors {
                [operand] => plain.push(Signed { negative, operand }),
                _ => products.push(SignedProduct { negative, factors: self.two_factors(ty, factors) }),
            }
        }
        let (mut plain, fixed): (Vec<_>, Vec<_>) = plain.into_iter().partition(|term| term.operand.is_varying);
        let (products, fixed_products): (Vec<_>, Vec<_>) = products.into_iter().partition(SignedProduct::is_varying);
        plain.extend(self.sum(ty, &fixed, fixed_products));
        match self.sum(ty, &plain, products) {
            Some(Signed { negative: true, operand }) => self.unary(Op::Neg, ty, operand.value),
            Some(Signed { operand, .. }) => operand.value,
            None => self.constant(ty, 0),
        }
    }

    /// Two factors with the product of several: the uniform ones and the others, or halves.
    fn two_factors(&mut self, ty: Ty, factors: &[Operand]) -> [Operand; 2] {
        let (varying, uniform): (Vec<_>, Vec<_>) = factors.iter().partition(|factor| factor.is_varying);
        let (first, second) = match (&*varying, &*uniform) {
            (all, []) | ([], all) => all.split_at(all.len().div_ceil(2)),
            (varying, uniform) => (varying, uniform),
        };
        [first, second].map(|part| self.tree(part, &mut |this, a, b| this.operand(Op::Mul, ty, a, b)))
    }

    fn operand(&mut self, op: Op, ty: Ty, a: Operand, b: Operand) -> Operand {
        let value = self.binary(op, ty, a.value, b.value);
        Operand { value, is_varying: a.is_varying || b.is_varying }
    }

    /// The sum of a tree of values and of products, which are added one after another; none if there are none.
    fn sum(&mut self, ty: Ty, plain: &[Signed], mut products: Vec<SignedProduct>) -> Option<Signed> {
        products.sort_by_key(|product| product.negative);
        let mut products = products.into_iter();
        let mut sum = match plain {
            [] => {
                let SignedProduct { negative, factors: [a, b] } = products.next()?;
                Signed { negative, operand: self.operand(Op::Mul, ty, a, b) }
            }
            _ => self.tree(plain, &mut |this, a, b| this.signed_pair(ty, a, b)),
        };
        for product in products {
            let [mut a, b] = product.factors.map(|factor| factor.value);
            let mut c = sum.operand.value;
            match (product.negative, sum.negative) {
                (false, true) => c = self.unary(Op::Neg, ty, c),
                (true, false) => a = self.unary(Op::Neg, ty, a),
                _ => {}
            }
            sum.negative &= product.negative;
            sum.operand.value = self.fma(ty, a, b, c);
        }
        Some(sum)
    }

    fn signed_pair(&mut self, ty: Ty, a: Signed, b: Signed) -> Signed {
        let (op, [a_or_b, other]) = match (a.negative, b.negative) {
            (false, true) => (Op::Sub, [a, b]),
            (true, false) => (Op::Sub, [b, a]),
            _ => (Op::Add, [a, b]),
        };
        Signed { negative: a.negative && b.negative, operand: self.operand(op, ty, a_or_b.operand, other.operand) }
    }

    /// All combined in a balanced tree; there is at least one.
    fn tree<T: Copy>(&mut self, all: &[T], combine: &mut impl FnMut(&mut Self, T, T) -> T) -> T {
        match *all {
            [one] => one,
            _ => {
                let (left, right) = all.split_at(all.len().div_ceil(2));
                let left = self.tree(left, combine);
                let right = self.tree(right, combine);
                combine(self, left, right)
            }
        }
    }
}

/// The operands of a chain of sums and differences.
fn terms(expr: &Expr) -> Vec<Term<'_>> {
    let is_sum = |op| matches!(op, Op::Add | Op::Sub);
    let chain = chain(expr, is_sum);
    chain.into_iter().map(|(op, operand)| Term { negative: op == Op::Sub, factors: factors(operand) }).collect()
}

/// The operands of a chain of products: one, if it is none.
fn factors(expr: &Expr) -> Vec<&Expr> {
    chain(expr, |op| op == Op::Mul).into_iter().map(|(_, operand)| operand).collect()
}

/// The operands of a chain of such operations, with the operator before each: `Add` before the first.
fn chain(expr: &Expr, is_part: impl Fn(Op) -> bool) -> Vec<(Op, &Expr)> {
    let mut operands = Vec::new();
    let mut rest = expr;
    loop {
        match &without_broadcast(rest).kind {
            ExprKind::Binary(op, lhs, rhs) if is_part(*op) => {
                operands.push((*op, &**rhs));
                rest = lhs;
            }
            _ => break,
        }
    }
    operands.push((Op::Add, rest));
    operands.reverse();
    operands
}

/// The uniform value that a varying one is made of.
fn without_broadcast(mut expr: &Expr) -> &Expr {
    while let ExprKind::Cast(Cast::Broadcast, inner) = &expr.kind {
        expr = inner;
    }
    expr
}
