//! Random programs: well-formed, verified, terminating, and the same for the same seed.
//!
//! They exercise the whole operation table: what is elementwise or otherwise regular is drawn from [`OPS`](spmdvm_vm::OPS) by
//! its signature, and only memory, calls and control have code of their own here. Values have all types; control nests
//! every kind of mask-stack entry, uniform branches and loops, and leaves them in every way. Memory accesses stay in
//! bounds, except that a program with [`Options::trapping`] now and then goes astray.
//!
//! A program exports `main(varying i32, varying f32, uniform i32, uniform f64)`. It calls a random function and writes all its
//! results to globals called `out.TYPE`, so that comparing memory compares everything. Memory that holds floats is
//! accessed only as such, because the bits of a NaN are not specified; for the same reason pointers never become data.
//!
//! ```
//! use spmdvm_generate::{Options, generate};
//! let program = generate(7, &Options::default());
//! assert_eq!(program, generate(7, &Options::default()));
//! spmdvm_vm::verify(program).unwrap();
//! ```

mod control;
mod function;
mod inputs;
mod memory;
mod ops;
mod rng;

use function::FunctionGenerator;
pub use inputs::{arguments, elements, mask};
use memory::Object;
use rng::Rng;
use spmdvm_vm::builder::FunctionBuilder;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::*;
use spmdvm_vm::types::{Shape, Ty, Width};

/// What random programs have not: they run on one thread, and no host goes along with them.
pub const NOT_GENERATED: [Op; 7] =
    [Op::Launch, Op::LaunchInd, Op::Sync, Op::Fence, Op::ThreadIndex, Op::ThreadCount, Op::HostCall];

/// What programs to make.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The gang width.
    pub width: Width,
    /// About how many statements the program has.
    pub budget: u32,
    /// Whether some runs may trap.
    pub trapping: bool,
    /// Whether programs may print.
    pub printing: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { width: Width::DEFAULT, budget: 150, trapping: false, printing: true }
    }
}

/// Bound on the instructions that a run executes, as estimated without looking at masks.
const MAX_COST: u64 = 200_000;

/// Elements types of the globals; those that hold integers are accessed as any integer type.
const GLOBAL_TYPES: [Ty; 6] = [Ty::I32, Ty::U8, Ty::F32, Ty::F64, Ty::F16, Ty::Bool];

/// Bytes of each global: room for a gang of the widest elements, and as much again.
const GLOBAL_BYTES: u64 = 1024;

/// The program for a seed.
pub fn generate(seed: u64, options: &Options) -> Program {
    let mut rng = Rng::new(seed);
    let wild = options.trapping && rng.chance(2, 3);
    let mut generator =
        Generator { rng, options: *options, wild, program: Program::default(), objects: Vec::new(), costs: Vec::new() };
    generator.program.width = options.width;
    generator.globals();
    generator.program.messages.push("random assertion".into());
    let n = 1 + generator.rng.below(4);
    for i in 0..n {
        let budget = (options.budget as usize / n).max(3);
        FunctionGenerator::generate(&mut generator, &format!("f{i}"), budget);
    }
    generator.entry();
    generator.program
}

/// What all functions of a program share.
struct Generator {
    rng: Rng,
    options: Options,
    /// Whether this program may do what traps.
    wild: bool,
    program: Program,
    /// Memory objects that are globals, by global.
    objects: Vec<Object>,
    /// Estimated cost of a call of each function.
    costs: Vec<u64>,
}

impl Generator {
    fn globals(&mut self) {
        for (i, elem) in GLOBAL_TYPES.into_iter().enumerate() {
            let writable = i == 0 || self.rng.chance(4, 5);
            self.global(format!("data{i}.{elem}"), elem, writable);
        }
        // A table of pointers to the others.
        let relocations: Vec<_> =
            (0..GLOBAL_TYPES.len()).map(|i| (8 * i as u64, Target::Global(GlobalId(i as u32), 0))).collect();
        let size = 8 * GLOBAL_TYPES.len() as u64;
        self.program.globals.push(Global {
            name: "pointers".into(),
            size,
            init: Vec::new(),
            constant: true,
            relocations,
            host: None,
        });
    }

    fn global(&mut self, name: String, elem: Ty, writable: bool) {
        let count = GLOBAL_BYTES / elem.size() as u64;
        let initialised = self.rng.below(count as usize + 1);
        let mut init = Vec::new();
        for _ in 0..initialised {
            let bits = ops::random_bits(&mut self.rng, elem);
            init.extend_from_slice(&bits.to_le_bytes()[..elem.size()]);
        }
        let id = GlobalId(self.program.globals.len() as u32);
        self.objects.push(Object { elem, bytes: GLOBAL_BYTES, writable, home: memory::Home::Global(id) });
        let constant = !writable;
        self.program.globals.push(Global {
            name,
            size: GLOBAL_BYTES,
            init,
            constant,
            relocations: Vec::new(),
            host: None,
        });
    }

    /// The pointer table's global.
    fn pointer_table(&self) -> GlobalId {
        GlobalId(GLOBAL_TYPES.len() as u32)
    }

    /// `main`: calls the last function and writes its results to memory, all lanes of them.
    fn entry(&mut self) {
        let callee = FuncId(self.program.functions.len() as u32 - 1);
        let mut b = FunctionBuilder::new("main");
        let params = [
            (Shape::Varying, Ty::I32, "v"),
            (Shape::Varying, Ty::F32, "x"),
            (Shape::Uniform, Ty::I32, "n"),
            (Shape::Uniform, Ty::F64, "y"),
        ];
        let given: Vec<Reg> = params.iter().map(|&(shape, ty, name)| b.param(shape, ty, name)).collect();
        let f = &self.program.functions[callee.0 as usize];
        let declared: Vec<(Shape, Ty)> = f.regs.iter().map(|d| (d.shape, d.ty)).collect();
        let args: Vec<Reg> =
            declared[..f.n_params as usize].iter().map(|&(shape, ty)| adapt(&mut b, &given, shape, ty)).collect();
        let results: Vec<(Shape, Ty)> = f.results.iter().map(|r| declared[r.index()]).collect();
        let rets: Vec<Reg> = results.iter().map(|&(shape, ty)| b.reg(shape, ty)).collect();
        let (args, ret_list) = (b.list(&args), b.list(&rets));
        b.push(Inst { aux: callee.0, args, rets: ret_list, ..Inst::new(Op::Call, Ty::Bool) });
        b.plain(Op::Everywhere);
        for (&r, (shape, ty)) in rets.iter().zip(results) {
            self.write_out(&mut b, r, shape, ty);
        }
        let end = b.label();
        b.control(Op::EverywhereEnd, None, end);
        b.bind(end);
        b.ret();
        let function = FuncId(self.program.functions.len() as u32);
        self.program.functions.push(b.finish());
        let params = params.iter().map(|&(shape, ty, name)| ExportParam {
            name: name.into(),
            value: if shape == Shape::Varying { HostValue::Varying(ty) } else { HostValue::Uniform(ty) },
            default: None,
        });
        let (params, doc) = (params.collect(), String::new());
        let export = Export { name: "main".into(), function, params, result: None, declaration: doc.clone(), doc };
        self.program.exports.push(export);
    }

    /// Appends a register to the global `out.TYPE`.
    fn write_out(&mut self, b: &mut FunctionBuilder, r: Reg, shape: Shape, ty: Ty) {
        let name = format!("out.{ty}");
        let globals = &mut self.program.globals;
        let id = globals.iter().position(|g| g.name == name).unwrap_or_else(|| {
            globals.push(Global {
                name,
                size: 0,
                init: Vec::new(),
                constant: false,
                relocations: Vec::new(),
                host: None,
            });
            globals.len() - 1
        });
        let (at, lanes) = (globals[id].size, if shape == Shape::Varying { self.options.width.lanes() } else { 1 });
        globals[id].size += (lanes * ty.size()) as u64;
        let base = b.reg(Shape::Uniform, Ty::U64);
        b.push(Inst { dst: base, aux: id as u32, imm: at as i64, ..Inst::new(Op::GlobalAddr, Ty::U64) });
        let op = if shape == Shape::Varying { Op::StoreLane } else { Op::Store };
        b.push(Inst { src: [base, Reg::NONE, r], ..Inst::new(op, ty) });
    }
}

/// A value of the wanted shape and type made from one of the given registers.
fn adapt(b: &mut FunctionBuilder, given: &[Reg], shape: Shape, ty: Ty) -> Reg {
    let source = given.iter().copied().find(|&r| b.shape(r) == shape && (b.ty(r).is_float() == ty.is_float()));
    let source = source.or_else(|| given.iter().copied().find(|&r| b.shape(r) == shape)).unwrap_or(given[0]);
    let from = b.ty(source);
    if from == ty { source } else { b.elementwise(Op::Convert, ty, from, &[source]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::isa::OPS;
    use spmdvm_vm::verify;

    #[test]
    fn programs_are_verified_and_cover_the_table() {
        let mut seen = vec![false; OPS.len()];
        for seed in 0..300 {
            let width = Width::ALL[seed as usize % Width::ALL.len()];
            let options = Options { width, trapping: seed % 2 == 0, ..Options::default() };
            let program = generate(seed, &options);
            program.functions.iter().flat_map(|f| &f.code).for_each(|inst| seen[inst.op as usize] = true);
            if let Err(errors) = verify(program.clone()) {
                let text = spmdvm_vm::asm::disassemble(&program, spmdvm_vm::asm::Style::Human);
                panic!("seed {seed}: {:#?}\n{text}", errors.iter().map(|e| e.to_string()).collect::<Vec<_>>());
            }
        }
        let expected = OPS.iter().filter(|row| !NOT_GENERATED.contains(&row.op));
        let missing: Vec<&str> = expected.filter(|row| !seen[row.op as usize]).map(|row| row.name).collect();
        assert!(missing.is_empty(), "never generated: {missing:?}");
    }
}
