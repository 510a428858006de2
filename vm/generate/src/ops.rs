//! Random instructions: those the operation table describes completely, calls, prints and checks.

use super::function::FunctionGenerator;
use super::rng::Rng;
use spmdvm_vm::isa::{Effect, Extra, Form, OPS, Op, OpInfo, OperandShape};
use spmdvm_vm::program::{ArgFormat, ArgKind, Inst, Piece, Reg};
use spmdvm_vm::types::{Shape, Ty};

pub(super) fn random_ty(rng: &mut Rng) -> Ty {
    const COMMON: [Ty; 4] = [Ty::I32, Ty::F32, Ty::Bool, Ty::U32];
    if rng.chance(1, 3) { *rng.pick(&COMMON) } else { *rng.pick(&Ty::ALL) }
}

/// A value of a type: often one at which operations have an edge. NaNs have their canonical bits.
pub(super) fn random_bits(rng: &mut Rng, ty: Ty) -> u64 {
    let n = ty.size() as u32 * 8;
    let all = u64::MAX >> (64 - n);
    if ty == Ty::Bool {
        return rng.next() & 1;
    }
    if ty.is_float() {
        let (exponent_bits, mantissa) = match ty {
            Ty::F16 => (5, 10),
            Ty::F32 => (8, 23),
            _ => (11, 52),
        };
        let infinity = ((1u64 << exponent_bits) - 1) << mantissa;
        let one = (infinity >> 1) & !((1 << mantissa) - 1);
        let sign = (rng.next() & 1) << (n - 1);
        let magnitude = match rng.below(9) {
            0 => 0,
            1 => one,
            2 => infinity,
            3 => return infinity | 1 << (mantissa - 1),
            4 => 1 + rng.next() % 3,
            5 => infinity - 1 - rng.next() % 3,
            6 => rng.next() % infinity,
            // Between 2⁻⁴ and 2⁴.
            _ => one - (4 << mantissa) + rng.next() % (8 << mantissa),
        };
        return sign | magnitude;
    }
    let small = rng.next() % 9;
    let bits = match rng.below(6) {
        0 => small,
        1 => small.wrapping_neg(),
        2 => 1u64 << rng.below(n as usize),
        3 => (1 << (n - 1)) - small % 2,
        _ => rng.next(),
    };
    bits & all
}

/// Returns whether the table tells all there is to know about making an instruction of this operation.
fn is_regular(row: &OpInfo) -> bool {
    let pure = matches!(row.effect, Effect::Pure | Effect::Mask) || row.form == Form::Checked;
    pure && row.sig.extra == Extra::None && !row.types.is_empty()
}

impl FunctionGenerator<'_> {
    /// An instruction of any regular row of the table.
    pub(super) fn table_operation(&mut self) {
        let rows = OPS.iter().filter(|row| is_regular(row)).count();
        let nth = self.g.rng.below(rows);
        let Some(row) = OPS.iter().filter(|row| is_regular(row)).nth(nth) else { return };
        let types: Vec<Ty> = row.types.iter().collect();
        let ty = *self.g.rng.pick(&types);
        let from = if row.sig.has_from { self.second_type(row.op, ty) } else { ty };
        let mut src = [Reg::NONE; 3];
        for (to, slot) in src.iter_mut().zip(row.sig.src) {
            let shape = match slot.shape {
                OperandShape::Uniform => Some(Shape::Uniform),
                OperandShape::Varying => Some(Shape::Varying),
                _ => None,
            };
            *to = self.operand(slot.ty.resolve(ty, from), shape);
        }
        if row.form == Form::Checked && !(self.g.wild && self.g.rng.chance(1, 12)) {
            src[1] = self.never_zero(ty, src[1]);
        }
        let Some(dst) = self.destination(row, ty, from, &src) else { return };
        self.push(Inst { from, dst, src, ..Inst::new(row.op, ty) });
    }

    fn second_type(&mut self, op: Op, ty: Ty) -> Ty {
        let fits = |from: &Ty| op != Op::Bitcast || from.size() == ty.size() && (ty != Ty::Bool || *from == Ty::Bool);
        let types: Vec<Ty> = Ty::ALL.into_iter().filter(fits).collect();
        *self.g.rng.pick(&types)
    }

    fn never_zero(&mut self, ty: Ty, divisor: Reg) -> Reg {
        let one = self.b.constant(ty, 1);
        self.b.binary(Op::Or, ty, divisor, one)
    }

    /// Where an instruction's result goes: a fresh register, or now and then a variable. `None` if there is no fitting one.
    fn destination(&mut self, row: &OpInfo, ty: Ty, from: Ty, src: &[Reg; 3]) -> Option<Reg> {
        let slot = row.sig.dst?;
        let ty = slot.ty.resolve(ty, from);
        let shape = match slot.shape {
            OperandShape::Uniform => Shape::Uniform,
            OperandShape::Varying => Shape::Varying,
            OperandShape::Either if self.g.rng.chance(1, 2) => Shape::Varying,
            _ => self.b.join(src),
        };
        self.result_register(shape, ty, row.sig.dst_is_read)
    }

    /// A register to write, which must be a variable if `exists`.
    pub(super) fn result_register(&mut self, shape: Shape, ty: Ty, exists: bool) -> Option<Reg> {
        if exists || self.g.rng.chance(1, 4) {
            let fits = |r: &Reg| self.b.shape(*r) == shape && self.b.ty(*r) == ty;
            let variables: Vec<Reg> = self.variables.iter().copied().filter(fits).collect();
            if !variables.is_empty() {
                return Some(*self.g.rng.pick(&variables));
            }
        }
        (!exists).then(|| {
            let r = self.b.reg(shape, ty);
            self.values.push(r);
            r
        })
    }

    /// A call, direct or not, of a function made before.
    pub(super) fn call(&mut self) {
        let callees = self.g.program.functions.len();
        if callees == 0 {
            return self.table_operation();
        }
        let callee = self.g.rng.below(callees);
        if self.cost + self.weight * self.g.costs[callee] > super::MAX_COST / 4 {
            return self.table_operation();
        }
        let f = &self.g.program.functions[callee];
        let params: Vec<_> = f.regs[..f.n_params as usize].iter().map(|d| (d.shape, d.ty)).collect();
        let results: Vec<_> = f.results.iter().map(|&r| (f.reg(r).shape, f.reg(r).ty)).collect();
        let args: Vec<Reg> = params.into_iter().map(|(shape, ty)| self.operand(ty, Some(shape))).collect();
        let mut inst = Inst { args: self.b.list(&args), aux: callee as u32, ..Inst::new(Op::Call, Ty::Bool) };
        if self.g.rng.chance(1, 3) {
            (inst.op, inst.aux) = (Op::CallInd, 0);
            inst.src[0] = self.function_value(callee as u32);
        }
        let rets: Vec<Reg> = results.into_iter().map(|(shape, ty)| self.b.reg(shape, ty)).collect();
        inst.rets = self.b.list(&rets);
        self.push(inst);
        self.values.extend(rets);
        self.cost += self.weight * self.g.costs[callee];
    }

    fn function_value(&mut self, function: u32) -> Reg {
        if self.g.wild && self.g.rng.chance(1, 8) {
            return self.b.constant(Ty::U64, self.g.rng.next() % 6);
        }
        let r = self.b.reg(Shape::Uniform, Ty::U64);
        self.push(Inst { dst: r, aux: function, ..Inst::new(Op::FuncAddr, Ty::U64) });
        r
    }

    pub(super) fn print(&mut self) {
        let mut pieces = vec![Piece::Text(format!("p{} ", self.g.program.formats.len()))];
        let mut args = Vec::new();
        for _ in 0..self.g.rng.below(3) {
            let ty = random_ty(&mut self.g.rng);
            args.push(self.operand(ty, None));
            let rng = &mut self.g.rng;
            let width = rng.chance(1, 3).then(|| rng.below(12) as u16);
            let precision = rng.chance(1, 3).then(|| rng.below(8) as u16);
            let (zero, left, plus) = (rng.chance(1, 6), rng.chance(1, 6), rng.chance(1, 6));
            let kind = ArgKind::Value;
            pieces.push(Piece::Arg(ArgFormat { kind, conversion: None, width, precision, zero, left, plus }));
            pieces.push(Piece::Text(" ".into()));
        }
        pieces.push(Piece::Text("\n".into()));
        self.g.program.formats.push(pieces);
        let aux = self.g.program.formats.len() as u32 - 1;
        let inst = Inst { aux, args: self.b.list(&args), ..Inst::new(Op::Print, Ty::Bool) };
        self.push(inst);
    }

    /// An assertion (one that holds, unless the program may trap), or a look at the clock.
    pub(super) fn check(&mut self) {
        if self.g.rng.chance(1, 4) {
            let dst = self.b.reg(Shape::Uniform, Ty::U64);
            return self.push(Inst { dst, ..Inst::new(Op::Clock, Ty::U64) });
        }
        if self.g.wild && self.g.rng.chance(1, 12) {
            return self.push(Inst::new(Op::Abort, Ty::Bool));
        }
        let mut condition = self.operand(Ty::Bool, None);
        if !(self.g.wild && self.g.rng.chance(1, 6)) {
            let yes = self.b.constant(Ty::Bool, 1);
            condition = self.b.binary(Op::Or, Ty::Bool, condition, yes);
        }
        self.push(Inst { src: [condition, Reg::NONE, Reg::NONE], ..Inst::new(Op::Assert, Ty::Bool) });
    }
}
