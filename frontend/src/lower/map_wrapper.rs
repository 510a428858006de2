//! Functions through which hosts run an exported function with varying parameters over whole arrays.
//!
//! For an export whose function is called `NAME` there is a function `NAME$map` with these uniform parameters, in order:
//!
//! - for each varying parameter `p` of the export: its array (`u64` address) and the distance of its elements in bytes
//!   (`i64`; 0 gives every element the same value);
//! - for each other parameter: the parameter itself;
//! - if there is a result: the array it is written to (`u64`) and the distance of its elements (`i64`). A uniform result is
//!   written as if every lane had it;
//! - which elements to compute (`u64` address of bools, or 0 for all of them) and their distance (`i64`);
//! - the number of elements (`i64`).
//!
//! It calls the function gang by gang with the lanes on whose elements exist and are asked for. Its result (`i64`) is
//! the number of the first element of the gang it is at: after a trap, that of the gang that trapped.

use super::Lowerer;
use foldhash::{HashSet, HashSetExt};
use spmdvm_vm::program::{Export, HostValue, Inst, Reg};
use spmdvm_vm::{Function, FunctionBuilder, Label, Op, Shape, Ty};

/// What is appended to the function's name.
pub const SUFFIX: &str = spmdvm_vm::program::MAP_SUFFIX;

/// Adds the wrappers of all exports that have something varying, unless their result is a struct or short vector: there
/// is one only, whatever the elements.
pub(super) fn add_all(lowerer: &mut Lowerer) {
    let is_varying = |value: &HostValue| matches!(value, HostValue::Varying(_));
    let mut wrappers: Vec<Function> = Vec::new();
    let mut wrapped = HashSet::new();
    for export in &lowerer.program.exports {
        let varying = export.params.iter().any(|p| is_varying(&p.value)) || export.result.iter().any(is_varying);
        let function = &lowerer.functions[export.function.0 as usize];
        let name = format!("{}{SUFFIX}", function.name);
        if !varying || export.result_in_memory() || !wrapped.insert(export.function) {
            continue;
        }
        let span = function.spans.first().copied().unwrap_or_default();
        let mut wrapper = Wrapper::new(name, lowerer.lanes());
        wrapper.b.set_span(span);
        wrappers.push(wrapper.build(export));
    }
    lowerer.functions.extend(wrappers);
}

/// An array the wrapper reads or writes.
#[derive(Clone, Copy)]
struct Column {
    ty: Ty,
    base: Reg,
    stride: Reg,
}

struct Wrapper {
    b: FunctionBuilder,
    lanes: usize,
    /// Number of the gang's first element.
    first: Reg,
    /// The element's number, varying.
    element: Reg,
}

impl Wrapper {
    fn new(name: String, lanes: usize) -> Wrapper {
        Wrapper { b: FunctionBuilder::new(name), lanes, first: Reg::NONE, element: Reg::NONE }
    }

    fn column(&mut self, ty: Ty, name: &str) -> Column {
        let base = self.b.param(Shape::Uniform, Ty::U64, name);
        let stride = self.b.param(Shape::Uniform, Ty::I64, &format!("{name}.stride"));
        Column { ty, base, stride }
    }

    fn build(mut self, export: &Export) -> Function {
        let mut params: Vec<Result<Column, Reg>> = Vec::new();
        for param in &export.params {
            params.push(match param.value {
                HostValue::Varying(ty) => Ok(self.column(ty, &param.name)),
                HostValue::Uniform(ty) => Err(self.b.param(Shape::Uniform, ty, &param.name)),
                HostValue::Array { .. } => Err(self.b.param(Shape::Uniform, Ty::U64, &param.name)),
            });
        }
        let result = export.result.as_ref().map(|value| match value {
            HostValue::Varying(ty) => (Shape::Varying, *ty),
            HostValue::Uniform(ty) => (Shape::Uniform, *ty),
            HostValue::Array { .. } => (Shape::Uniform, Ty::U64),
        });
        let out = result.map(|(_, ty)| self.column(ty, "result"));
        let chosen = self.column(Ty::Bool, "where");
        let n = self.b.param(Shape::Uniform, Ty::I64, "n");
        let zero = self.b.constant(Ty::I64, 0);
        self.first = self.b.named(Shape::Uniform, Ty::I64, "first");
        self.b.mov(self.first, zero);
        self.b.result(self.first);
        let (body, test, end) = (self.b.label(), self.b.label(), self.b.label());
        let zero64 = self.b.constant(Ty::U64, 0);
        let has_where = self.b.binary(Op::Ne, Ty::U64, chosen.base, zero64);
        self.b.control(Op::Jmp, None, test);
        self.b.bind(body);
        let after = self.mask(n, chosen, has_where, end);
        let args: Vec<Reg> = params.iter().map(|param| param.map_or_else(|r| r, |c| self.load(c))).collect();
        let results: Vec<Reg> = result.iter().map(|&(shape, ty)| self.b.reg(shape, ty)).collect();
        let (args, rets) = (self.b.list(&args), self.b.list(&results));
        self.b.push(Inst { aux: export.function.0, args, rets, ..Inst::new(Op::Call, Ty::Bool) });
        if let (Some(out), Some(&r)) = (out, results.first()) {
            self.store(out, r);
        }
        self.b.bind(after);
        self.b.control(Op::MaskEndif, None, end);
        let lanes = self.b.constant(Ty::I64, self.lanes as u64);
        let next = self.b.binary(Op::Add, Ty::I64, self.first, lanes);
        self.b.mov(self.first, next);
        self.b.bind(test);
        let more = self.b.binary(Op::Lt, Ty::I64, self.first, n);
        self.b.control(Op::BrTrue, Some(more), body);
        self.b.bind(end);
        self.b.ret();
        self.b.finish()
    }

    /// Turns on the lanes whose elements exist and are asked for. Gives the label of the `mask.endif`.
    fn mask(&mut self, n: Reg, chosen: Column, has_where: Reg, end: Label) -> Label {
        let lane = self.b.reg(Shape::Varying, Ty::I32);
        self.b.push(Inst { dst: lane, ..Inst::new(Op::Iota, Ty::I32) });
        let lane = self.b.elementwise(Op::Convert, Ty::I64, Ty::I32, &[lane]);
        self.element = self.b.binary(Op::Add, Ty::I64, lane, self.first);
        let exists = self.b.binary(Op::Lt, Ty::I64, self.element, n);
        let on = self.b.reg(Shape::Varying, Ty::Bool);
        self.b.mov(on, exists);
        let all = self.b.label();
        self.b.control(Op::BrFalse, Some(has_where), all);
        // Nothing is read for lanes without an element.
        let endif = self.b.label();
        self.b.control(Op::MaskIf, Some(exists), endif);
        let asked = self.load(chosen);
        self.b.assign(on, asked);
        self.b.bind(endif);
        self.b.control(Op::MaskEndif, None, end);
        self.b.bind(all);
        let endif = self.b.label();
        self.b.control(Op::MaskIf, Some(on), endif);
        endif
    }

    fn is_dense(&mut self, column: Column) -> Reg {
        let size = self.b.constant(Ty::I64, column.ty.size() as u64);
        self.b.binary(Op::Eq, Ty::I64, column.stride, size)
    }

    /// Each lane's element of an array. Neighbouring elements are one access, and so is one element for all lanes.
    fn load(&mut self, column: Column) -> Reg {
        let value = self.b.reg(Shape::Varying, column.ty);
        let (apart, strided, done) = (self.b.label(), self.b.label(), self.b.label());
        let dense = self.is_dense(column);
        self.b.control(Op::BrFalse, Some(dense), apart);
        let scale = column.ty.size() as u32;
        let src = [column.base, self.first, Reg::NONE];
        self.b.push(Inst { dst: value, src, from: Ty::I64, aux: scale, ..Inst::new(Op::LoadLane, column.ty) });
        self.b.control(Op::Jmp, None, done);
        self.b.bind(apart);
        let zero = self.b.constant(Ty::I64, 0);
        let same = self.b.binary(Op::Eq, Ty::I64, column.stride, zero);
        self.b.control(Op::BrFalse, Some(same), strided);
        let one = self.b.reg(Shape::Uniform, column.ty);
        let src = [column.base, Reg::NONE, Reg::NONE];
        self.b.push(Inst { dst: one, src, ..Inst::new(Op::Load, column.ty) });
        self.b.mov(value, one);
        self.b.control(Op::Jmp, None, done);
        self.b.bind(strided);
        let src = [column.base, self.offset(column), Reg::NONE];
        self.b.push(Inst { dst: value, src, from: Ty::I64, aux: 1, ..Inst::new(Op::Load, column.ty) });
        self.b.bind(done);
        value
    }

    fn store(&mut self, column: Column, value: Reg) {
        let (strided, done) = (self.b.label(), self.b.label());
        let dense = self.is_dense(column);
        self.b.control(Op::BrFalse, Some(dense), strided);
        let scale = column.ty.size() as u32;
        let src = [column.base, self.first, value];
        self.b.push(Inst { src, from: Ty::I64, aux: scale, ..Inst::new(Op::StoreLane, column.ty) });
        self.b.control(Op::Jmp, None, done);
        self.b.bind(strided);
        let src = [column.base, self.offset(column), value];
        self.b.push(Inst { src, from: Ty::I64, aux: 1, ..Inst::new(Op::Store, column.ty) });
        self.b.bind(done);
    }

    fn offset(&mut self, column: Column) -> Reg {
        self.b.binary(Op::Mul, Ty::I64, self.element, column.stride)
    }
}
