//! Checks of a function's header and of every instruction against its row of the operation table.

use super::limits::*;
use super::{Errors, Rule};
use crate::dispatch_type;
use crate::isa::{Extra, Op, OpInfo, OperandShape, Slot};
use crate::program::{
    ArgKind, Function, HostValue, Import, Inst, LAUNCH_COUNTS, List, Piece, Program, Reg, TASK_PARAMS,
};
use crate::sem::Scalar;
use crate::types::{Shape, Ty};

/// Checks a function. The result tells whether all its indices are in range, so that its code can be followed.
pub(super) fn check(program: &Program, f: &Function, errors: &mut Errors) -> bool {
    let mut checker = Checker { program, f, errors, is_const: vec![false; f.regs.len()], in_range: true, at: 0 };
    checker.header();
    for (i, inst) in f.code.iter().enumerate() {
        if checker.errors.is_over() {
            return false;
        }
        checker.at = i;
        checker.inst(inst);
    }
    checker.spans();
    checker.in_range
}

/// "varying f32".
pub(super) fn describe(shape: Shape, ty: Ty) -> String {
    match shape {
        Shape::Uniform => format!("uniform {ty}"),
        Shape::Varying => format!("varying {ty}"),
    }
}

/// Returns whether these are the bits of a value of the type, with nothing above.
pub(super) fn is_canonical(ty: Ty, bits: u64) -> bool {
    dispatch_type!(SCALAR, ty, T => T::from_word(bits).to_word() == bits).unwrap_or(false)
}

struct Checker<'a, 's> {
    program: &'a Program,
    f: &'a Function,
    errors: &'a mut Errors<'s>,
    is_const: Vec<bool>,
    /// Whether all registers, labels and lists seen so far are in range, and none where none belongs.
    in_range: bool,
    /// The current instruction.
    at: usize,
}

impl Checker<'_, '_> {
    fn error(&mut self, rule: Rule, message: impl Into<String>) {
        self.errors.at(self.at, rule, message);
    }

    fn header(&mut self) {
        let f = self.f;
        self.limits();
        if f.n_params as usize > f.regs.len() {
            self.in_range = false;
            let (n, m) = (f.n_params, f.regs.len());
            self.errors.whole(Rule::Registers, format!("{n} parameters but {m} registers"));
        }
        for r in &f.results {
            if r.index() >= f.regs.len() {
                self.in_range = false;
                self.errors.whole(Rule::Registers, format!("the result r{} is no register", r.0));
            }
        }
        if f.is_task {
            self.task_header();
        }
        for &(r, bits) in f.consts.iter() {
            self.constant(r, bits);
        }
        if f.code.last().is_none_or(|inst| crate::flow::falls_through(inst.op)) {
            self.in_range = false;
            self.errors.whole(Rule::FallsOff, "the code does not end in `ret` or a jump");
        }
        let listed: u64 = f.code.iter().map(|i| i.args.len as u64 + i.rets.len as u64).sum();
        if listed > f.pool.len() as u64 {
            self.in_range = false;
            self.errors.whole(Rule::ListRange, format!("{listed} listed registers, but the pool has {}", f.pool.len()));
        }
    }

    fn limits(&mut self) {
        let f = self.f;
        let lanes = self.program.width.lanes().next_multiple_of(16) as u64;
        let bytes = f
            .regs
            .iter()
            .fold(0u64, |sum, r| sum + r.ty.size() as u64 * if r.shape == Shape::Varying { lanes } else { 1 });
        let limits = [
            ("registers", f.regs.len() as u64, MAX_REGS as u64),
            ("parameters", f.n_params as u64, MAX_LIST as u64),
            ("results", f.results.len() as u64, MAX_LIST as u64),
            ("instructions", f.code.len() as u64, MAX_CODE as u64),
            ("bytes of registers", bytes, MAX_REGISTER_BYTES),
            ("bytes of frame memory", f.frame_size, MAX_FRAME_BYTES),
        ];
        for (what, n, max) in limits {
            if n > max {
                self.in_range = false;
                self.errors.whole(Rule::Limit, format!("{n} {what}, more than {max}"));
            }
        }
    }

    fn constant(&mut self, r: Reg, bits: u64) {
        let Some(decl) = self.f.regs.get(r.index()) else {
            self.in_range = false;
            return self.errors.whole(Rule::Constant, format!("the constant r{} is no register", r.0));
        };
        let wrong = if decl.shape == Shape::Varying {
            "is varying"
        } else if r.0 < self.f.n_params {
            "is a parameter"
        } else if std::mem::replace(&mut self.is_const[r.index()], true) {
            "stands twice"
        } else if !is_canonical(decl.ty, bits) {
            "has bits that are no value of its type"
        } else {
            return;
        };
        self.errors.whole(Rule::Constant, format!("the constant r{} ({}, {bits:#x}) {wrong}", r.0, decl.ty));
    }

    fn spans(&mut self) {
        let f = self.f;
        if f.spans.len() != f.code.len() {
            let (n, m) = (f.code.len(), f.spans.len());
            self.errors.whole(Rule::SourceSpan, format!("{n} instructions, but {m} spans"));
        }
        for (i, span) in f.spans.iter().enumerate().filter(|(_, s)| s.hi != 0) {
            let Some(source) = self.program.sources.get(span.file as usize) else { continue };
            if source.text.get(span.lo as usize..span.hi as usize).is_none() {
                let (lo, hi, name) = (span.lo, span.hi, &source.name);
                self.errors.at(i, Rule::SourceSpan, format!("the span {lo}-{hi} is no text of `{name}`"));
            }
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let info = inst.op.info();
        self.types(inst, info);
        if let Some(decl_shape) = self.operand(inst.dst, info.sig.dst.as_ref(), inst, "destination") {
            self.destination(inst, info, decl_shape);
        }
        for (k, &r) in inst.src.iter().enumerate() {
            self.operand(r, info.sig.src.get(k), inst, "source");
        }
        self.extra(inst, info);
        self.unused(inst, info);
    }

    fn types(&mut self, inst: &Inst, info: &OpInfo) {
        let none = info.types.is_empty();
        if if none { inst.ty != Ty::Bool } else { !info.types.contains(inst.ty) } {
            self.error(Rule::OpType, format!("`{}` is not defined for {}", info.name, inst.ty));
        }
        if !info.sig.has_from && inst.from != inst.ty {
            self.error(
                Rule::OpType,
                format!("`{}` has no second type, but the instruction has {}", info.name, inst.from),
            );
        }
        if inst.op == Op::Bitcast {
            let bool_made = inst.ty == Ty::Bool && inst.from != Ty::Bool;
            if inst.ty.size() != inst.from.size() || bool_made {
                self.error(Rule::OpType, format!("no bitcast from {} to {}", inst.from, inst.ty));
            }
        }
    }

    /// Checks presence, type and shape of one operand and gives its shape.
    fn operand(&mut self, r: Reg, slot: Option<&Slot>, inst: &Inst, what: &str) -> Option<Shape> {
        let name = inst.op.info().name;
        let Some(slot) = slot else {
            if !r.is_none() {
                self.in_range = false;
                self.error(Rule::Presence, format!("`{name}` has a {what} r{} too many", r.0));
            }
            return None;
        };
        if r.is_none() {
            if !slot.optional {
                self.error(Rule::Presence, format!("`{name}` lacks its {what} `{}`", slot.name));
            }
            return None;
        }
        let decl = self.register(r)?;
        let (shape, ty) = (decl.shape, decl.ty);
        let wanted = slot.ty.resolve(inst.ty, inst.from);
        if ty != wanted {
            let of = slot.name;
            self.error(Rule::OperandType, format!("`{name}`: {what} `{of}` must be {wanted}, r{} is {ty}", r.0));
        }
        let fits = match slot.shape {
            OperandShape::Uniform => shape == Shape::Uniform,
            OperandShape::Varying => shape == Shape::Varying,
            OperandShape::Elementwise | OperandShape::Either => true,
        };
        if !fits {
            let (of, given) = (slot.name, describe(shape, ty));
            self.error(Rule::OperandShape, format!("`{name}`: {what} `{of}` may not be {given} (r{})", r.0));
        }
        Some(shape)
    }

    fn register(&mut self, r: Reg) -> Option<&crate::program::RegDecl> {
        let f = self.f;
        if r.index() >= f.regs.len() {
            self.in_range = false;
            self.error(Rule::RegisterRange, format!("r{} is not among the {} registers", r.0, f.regs.len()));
        }
        f.regs.get(r.index())
    }

    fn destination(&mut self, inst: &Inst, info: &OpInfo, shape: Shape) {
        self.not_constant(inst.dst);
        let Some(slot) = info.sig.dst else { return };
        let varying = |wanted: OperandShape| {
            info.sig.src.iter().zip(inst.src).any(|(slot, r)| {
                slot.shape == wanted && self.f.regs.get(r.index()).is_some_and(|d| d.shape == Shape::Varying)
            })
        };
        let wrong = match slot.shape {
            OperandShape::Elementwise => varying(OperandShape::Elementwise) != (shape == Shape::Varying),
            OperandShape::Either => varying(OperandShape::Either) && shape == Shape::Uniform,
            _ => false,
        };
        if wrong {
            let given = if shape == Shape::Varying { "varying" } else { "uniform" };
            self.error(Rule::OperandShape, format!("`{}`: these sources do not make a {given} destination", info.name));
        }
    }

    fn not_constant(&mut self, r: Reg) {
        if self.is_const.get(r.index()) == Some(&true) {
            self.error(Rule::ConstantWritten, format!("r{} is a constant", r.0));
        }
    }

    fn extra(&mut self, inst: &Inst, info: &OpInfo) {
        let p = self.program;
        match info.sig.extra {
            Extra::None => {}
            Extra::Label => {
                if inst.aux as usize >= self.f.code.len() {
                    self.in_range = false;
                    self.error(Rule::LabelRange, format!("`{}` has a label that is no instruction", info.name));
                }
            }
            Extra::Memory => self.memory(inst),
            Extra::Call => {
                if let Some(callee) = self.reference("function", inst.aux, &p.functions) {
                    self.call(inst, callee);
                }
            }
            Extra::CallInd => {
                self.lists(inst);
            }
            Extra::Launch => {
                if let Some(task) = self.reference("function", inst.aux, &p.functions) {
                    self.launch(inst, task);
                }
            }
            Extra::LaunchInd => {
                self.counts(inst);
            }
            Extra::Global => {
                if let Some(global) = self.reference("global", inst.aux, &p.globals) {
                    self.offset(inst.imm, global.size, "the global");
                }
            }
            Extra::Frame => {
                if self.f.frame_size == 0 {
                    self.error(Rule::Reference, "the function has no frame memory");
                }
                self.offset(inst.imm, self.f.frame_size, "the frame's memory");
            }
            Extra::Func => {
                self.reference("function", inst.aux, &p.functions);
            }
            Extra::Print => {
                if let Some(format) = self.reference("format", inst.aux, &p.formats) {
                    self.print(inst, format);
                }
            }
            Extra::Host => {
                if let Some(import) = self.reference("import", inst.aux, &p.imports) {
                    self.host(inst, import);
                }
            }
            Extra::Message => {
                self.reference("message", inst.aux, &p.messages);
            }
        }
    }

    fn reference<'t, T>(&mut self, what: &str, index: u32, table: &'t [T]) -> Option<&'t T> {
        let found = table.get(index as usize);
        if found.is_none() {
            self.error(Rule::Reference, format!("there is no {what} {index}"));
        }
        found
    }

    /// One past the last byte is an address too.
    fn offset(&mut self, offset: i64, size: u64, of: &str) {
        if offset < 0 || offset as u64 > size {
            self.error(Rule::Reference, format!("byte {offset} is outside {of} of {size} bytes"));
        }
    }

    fn memory(&mut self, inst: &Inst) {
        if inst.aux > MAX_SCALE {
            self.error(Rule::MemoryOperand, format!("a scale of {}", inst.aux));
        }
        if !(-MAX_DISPLACEMENT..=MAX_DISPLACEMENT).contains(&inst.imm) {
            self.error(Rule::MemoryOperand, format!("a displacement of {}", inst.imm));
        }
        let has_index = !inst.src[1].is_none();
        if has_index && !matches!(inst.from, Ty::I32 | Ty::I64 | Ty::U32 | Ty::U64) {
            self.error(Rule::MemoryOperand, format!("an index of type {}", inst.from));
        }
    }

    /// The registers of a list, if all are in range.
    fn list(&mut self, list: List) -> Option<Vec<Reg>> {
        if list.len as usize > MAX_LIST {
            self.error(Rule::Limit, format!("{} arguments or results, more than {MAX_LIST}", list.len));
        }
        if list.len == 0 {
            return Some(Vec::new());
        }
        let start = list.start as usize;
        let Some(regs) = self.f.pool.get(start..start + list.len as usize) else {
            self.in_range = false;
            self.error(Rule::ListRange, format!("the list {start}+{} is not in the pool", list.len));
            return None;
        };
        let regs = regs.to_vec();
        let fine = regs.iter().filter(|&&r| self.register(r).is_some()).count() == regs.len();
        fine.then_some(regs)
    }

    fn lists(&mut self, inst: &Inst) -> Option<(Vec<Reg>, Vec<Reg>)> {
        let args = self.list(inst.args);
        let rets = self.list(inst.rets);
        for &r in rets.iter().flatten() {
            self.not_constant(r);
        }
        let mut sorted = rets.clone().unwrap_or_default();
        sorted.sort_unstable();
        if sorted.windows(2).any(|w| w[0] == w[1]) {
            self.error(Rule::CallShape, "a register receives two results");
        }
        args.zip(rets)
    }

    fn call(&mut self, inst: &Inst, callee: &Function) {
        let Some((args, rets)) = self.lists(inst) else { return };
        self.pairs("argument", &args, (0..callee.n_params).map(Reg), callee);
        self.pairs("result", &rets, callee.results.iter().copied(), callee);
    }

    /// A host takes and gives what its import says: values for the gang, or for each lane.
    fn host(&mut self, inst: &Inst, import: &Import) {
        let Some((args, rets)) = self.lists(inst) else { return };
        let name = &import.symbol.name;
        let Some(host) = &import.host else {
            return self.error(Rule::CallShape, format!("no host can provide `{name}`"));
        };
        let kind = |value: &HostValue| match value {
            HostValue::Uniform(ty) => (Shape::Uniform, *ty),
            HostValue::Varying(ty) => (Shape::Varying, *ty),
            HostValue::Array { .. } => (Shape::Uniform, Ty::U64),
        };
        let params: Vec<(Shape, Ty)> = host.params.iter().map(|param| kind(&param.value)).collect();
        let results: Vec<(Shape, Ty)> = host.result.iter().map(kind).collect();
        for (what, given, wanted) in [("arguments", &args, params), ("results", &rets, results)] {
            let given: Vec<(Shape, Ty)> = given.iter().map(|&r| (self.f.reg(r).shape, self.f.reg(r).ty)).collect();
            if given != wanted {
                self.error(Rule::CallShape, format!("the {what} of `{name}` are not those of its import"));
            }
        }
    }

    /// The arguments of a launch beyond the counts, which are checked.
    fn counts(&mut self, inst: &Inst) -> Option<Vec<Reg>> {
        let (args, _) = self.lists(inst)?;
        let counts = args.iter().take(LAUNCH_COUNTS).map(|&r| self.f.reg(r));
        let fine = counts.filter(|r| (r.shape, r.ty) == (Shape::Uniform, Ty::I32)).count() == LAUNCH_COUNTS;
        if !fine {
            self.error(Rule::LaunchShape, "a launch begins with three counts, uniform i32");
        }
        fine.then(|| args[LAUNCH_COUNTS..].to_vec())
    }

    fn launch(&mut self, inst: &Inst, task: &Function) {
        let Some(args) = self.counts(inst) else { return };
        if !task.is_task {
            return self.error(Rule::LaunchShape, format!("`{}` is no task", task.name));
        }
        // The header of a task is checked with the task.
        self.pairs("argument", &args, (TASK_PARAMS..task.n_params.max(TASK_PARAMS)).map(Reg), task);
    }

    /// The first parameters of a task are its indices and counts, and it gives nothing.
    fn task_header(&mut self) {
        let f = self.f;
        let own = f.regs.iter().take(f.n_params.min(TASK_PARAMS) as usize);
        let fitting = own.filter(|r| (r.shape, r.ty) == (Shape::Uniform, Ty::I32)).count();
        if fitting != TASK_PARAMS as usize || !f.results.is_empty() {
            let message = "a task begins with six parameters of uniform i32, and has no results";
            self.errors.whole(Rule::LaunchShape, message);
        }
    }

    fn pairs(&mut self, what: &str, given: &[Reg], wanted: impl ExactSizeIterator<Item = Reg>, callee: &Function) {
        if given.len() != wanted.len() {
            let (n, m) = (given.len(), wanted.len());
            return self.error(Rule::CallShape, format!("{n} {what}s for `{}`, which has {m}", callee.name));
        }
        for (i, (r, w)) in given.iter().zip(wanted).enumerate() {
            let (r, Some(w)) = (self.f.reg(*r), callee.regs.get(w.index())) else { continue };
            if (r.shape, r.ty) != (w.shape, w.ty) {
                let (given, wanted) = (describe(r.shape, r.ty), describe(w.shape, w.ty));
                let name = &callee.name;
                self.error(Rule::CallShape, format!("{what} {i} of `{name}` is {wanted}, the register {given}"));
            }
        }
    }

    fn print(&mut self, inst: &Inst, format: &[Piece]) {
        let Some(args) = self.list(inst.args) else { return };
        let places = format.iter().filter(|p| matches!(p, Piece::Arg(_))).count();
        if places != args.len() {
            let n = args.len();
            return self.error(Rule::PrintArgs, format!("{n} arguments for a format with {places} places"));
        }
        let kinds = format.iter().filter_map(|p| if let Piece::Arg(a) = p { Some(a.kind) } else { None });
        for (i, (kind, &r)) in kinds.zip(&args).enumerate() {
            let ty = self.f.reg(r).ty;
            if kind != ArgKind::Value && ty != Ty::U64 {
                self.error(Rule::PrintArgs, format!("argument {i} is printed as an address but is {ty}"));
            }
        }
    }

    /// Fields that the operation does not use are zero, so that a program has one text form.
    fn unused(&mut self, inst: &Inst, info: &OpInfo) {
        let extra = info.sig.extra;
        let no_aux = matches!(extra, Extra::None | Extra::Frame) || extra.is_indirect();
        let no_imm = !matches!(extra, Extra::Memory | Extra::Global | Extra::Frame);
        let no_args = !extra.has_arguments();
        let no_rets = !extra.has_results();
        let unused = [
            (no_aux, inst.aux != 0, "aux"),
            (no_imm, inst.imm != 0, "imm"),
            (no_args, inst.args.len != 0, "args"),
            (no_rets, inst.rets.len != 0, "rets"),
        ];
        for (_, _, field) in unused.into_iter().filter(|u| u.0 && u.1) {
            self.in_range = false;
            self.error(Rule::Presence, format!("`{}` does not use `{field}`", info.name));
        }
    }
}
