//! Instructions of the IR: every operation in every type and shape.

use spmdvm_jit::ir::{Kind, Type};
use spmdvm_vm::Op;
use spmdvm_vm::isa::{Effect, Form, OPS};
use spmdvm_vm::sem;
use spmdvm_vm::types::{Shape, Ty};

/// An instruction to try.
#[derive(Clone, Debug)]
pub struct Case {
    pub kind: Kind,
    pub args: Vec<Type>,
    pub result: Type,
    /// An argument that is to be a constant, and its bits.
    pub constant: Option<(usize, u64)>,
}

impl Case {
    /// Returns whether it moves elements between lanes, or in or out of them.
    pub fn is_across_lanes(&self) -> bool {
        matches!(self.kind, Kind::Op { op: Op::Shuffle | Op::Extract | Op::Insert, .. })
    }
}

/// Every combination of shapes of `n` arguments.
fn shapes(n: usize) -> impl Iterator<Item = Vec<Shape>> {
    let shape = |bits: usize, i: usize| if bits >> i & 1 == 0 { Shape::Varying } else { Shape::Uniform };
    (0..1usize << n).map(move |bits| (0..n).map(|i| shape(bits, i)).collect())
}

/// All forms of the elementwise operations.
pub fn elementwise() -> Vec<Case> {
    let mut cases = Vec::new();
    for row in OPS {
        let special = matches!(row.op, Op::Select | Op::Convert | Op::Bitcast | Op::PAdd | Op::Mov);
        let pure = matches!(row.effect, Effect::Pure) || row.form == Form::Checked;
        if !(pure && row.form != Form::Special || special) {
            continue;
        }
        for ty in row.types.iter() {
            for from in if row.sig.has_from { Ty::ALL.to_vec() } else { vec![ty] } {
                let to_bool = row.op == Op::Bitcast && (ty == Ty::Bool || from == Ty::Bool) && ty != from;
                if sem::eval(row.op, ty, from, [1; 3]).is_none() || to_bool {
                    continue;
                }
                for shapes in shapes(row.sig.src.len()) {
                    let types = row.sig.src.iter().map(|s| s.ty.resolve(ty, from));
                    let args: Vec<Type> = types.zip(&shapes).map(|(ty, &shape)| Type { shape, ty }).collect();
                    let varying = args.iter().any(|a| a.is_varying());
                    let result = row.sig.dst.unwrap().ty.resolve(ty, from);
                    let result = if varying { Type::varying(result) } else { Type::uniform(result) };
                    cases.push(Case { kind: Kind::Op { op: row.op, ty, from }, args, result, constant: None });
                }
            }
        }
    }
    cases
}

/// Shifts by constants, divisions by constants.
pub fn by_constants() -> Vec<Case> {
    let mut cases = Vec::new();
    for (op, ty) in [Op::Shl, Op::Shr, Op::IDiv, Op::IRem].into_iter().flat_map(|op| ints().map(move |ty| (op, ty))) {
        for bits in [1, 3, 7, 8 * ty.size() as u64 - 1, u64::MAX >> (64 - 8 * ty.size())] {
            let args = vec![Type::varying(ty), Type::uniform(ty)];
            let kind = Kind::Op { op, ty, from: ty };
            cases.push(Case { kind, args, result: Type::varying(ty), constant: Some((1, bits)) });
        }
    }
    cases
}

fn ints() -> impl Iterator<Item = Ty> {
    Ty::ALL.into_iter().filter(|t| t.is_int())
}

/// Operations on lanes, masks and whole gangs.
pub fn lanes() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kind, args: &[Type], result| cases.push(Case { kind, args: args.to_vec(), result, constant: None });
    let (index, i32_) = (Type::uniform(Ty::I32), Type::varying(Ty::I32));
    let op = |op, ty| Kind::Op { op, ty, from: ty };
    for ty in Ty::ALL {
        let (u, v) = (Type::uniform(ty), Type::varying(ty));
        add(op(Op::Shuffle, ty), &[v, i32_], v);
        add(op(Op::Extract, ty), &[v, index], u);
        add(op(Op::Insert, ty), &[v, index, u], v);
        add(Kind::Splat, &[u], v);
    }
    for row in OPS.iter().filter(|r| r.form == Form::Reduce) {
        for ty in row.types.iter() {
            add(Kind::Reduce { op: row.op, ty }, &[Type::varying(ty)], Type::uniform(ty));
        }
    }
    add(op(Op::Iota, Ty::I32), &[], i32_);
    add(Kind::MaskBits, &[Type::MASK], Type::uniform(Ty::U64));
    add(Kind::MaskFromBits, &[Type::uniform(Ty::U64)], Type::MASK);
    add(Kind::AnyLane, &[Type::MASK], Type::BOOL);
    for ty in Ty::ALL {
        for at in [0, 1, 5, 30, 63, u32::MAX as u64] {
            let (u, v) = (Type::uniform(ty), Type::varying(ty));
            let extract = Case { kind: op(Op::Extract, ty), args: vec![v, index], result: u, constant: Some((1, at)) };
            let insert = Case { kind: op(Op::Insert, ty), args: vec![v, index, u], result: v, constant: Some((1, at)) };
            cases.extend([extract, insert]);
        }
    }
    cases
}
