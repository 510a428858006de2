//! The verifier: the only way from a [`Program`] to a [`VerifiedProgram`], which engines run (invariant P1). What the linker
//! joins has been verified function by function; of that only the rest is checked.
//!
//! [`verify`] reports the errors it finds, each with the [`Rule`] it breaks. It goes in this order: `tables` (globals,
//! formats, exports, limits), then for each function `operands` (every instruction against its signature), `flow` (kinds on
//! the mask stack, emptiness of the mask, fuel) and `assigned` (definite assignment). The last two need a function whose
//! indices are in range, so they are left out for one where `operands` found some that are not.
//!
//! # What is proved
//!
//! Every index is in range and every operand has the type and shape its signature asks for. The kinds on the mask stack
//! are known at each reachable instruction (M3). Every register is written before it is read on every path, where a path
//! is one in the control-flow graph (P2). Every cycle passes an instruction that counts fuel (X3).
//!
//! Invariant M1, in full: given that functions are entered with a lane active, an instruction that writes a uniform
//! register or has an effect is reached only with a lane active. The proof is by edges: a mask operation that falls
//! through leaves a lane active, one that jumps may leave none, and `loop.back` is the other way round. It follows that the
//! verifier refuses a program in which an emptying jump *could* reach such an instruction although no run ever does.
//!
//! # What is not
//!
//! Bounds of memory accesses, divisors, the callee of `call.ind` and termination are checked at run time.

mod assigned;
mod facts;
mod flow;
mod limits;
mod operands;
mod rules;
mod tables;

pub use facts::{EntryKind, FunctionFacts, stack_change};
pub use limits::*;
pub use rules::{RULES, Rule, RuleInfo, VerifyError};

use crate::program::{FuncId, Function, Program};
use crate::stop::{Stop, Stopped};
use foldhash::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// A program that keeps every rule of the verifier; cheap to clone.
#[derive(Clone, Debug)]
pub struct VerifiedProgram {
    program: Arc<Program>,
    facts: Arc<[Arc<FunctionFacts>]>,
}

impl VerifiedProgram {
    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What the verifier found out about a function.
    pub fn facts(&self, function: FuncId) -> &FunctionFacts {
        &self.facts[function.0 as usize]
    }

    /// The same, to be kept.
    pub(crate) fn shared_facts(&self, function: FuncId) -> Arc<FunctionFacts> {
        Arc::clone(&self.facts[function.0 as usize])
    }
}

impl Deref for VerifiedProgram {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

/// Checks a program against every rule and gives either the right to run it or its errors (all of them, unless there are
/// more than [`MAX_ERRORS`]).
pub fn verify(program: Program) -> Result<VerifiedProgram, Vec<VerifyError>> {
    verify_shared(Arc::new(program))
}

/// [`verify`] for a program that is shared already.
pub fn verify_shared(program: Arc<Program>) -> Result<VerifiedProgram, Vec<VerifyError>> {
    check(program, &Stop::never())
}

/// [`verify`], unless it is called off meanwhile.
pub fn verify_until(program: Program, stop: &Stop) -> Result<VerifiedProgram, Unverified> {
    let checked = check(Arc::new(program), stop);
    match stop.reason() {
        Some(stopped) => Err(Unverified::Stopped(stopped)),
        None => checked.map_err(Unverified::Wrong),
    }
}

/// Why a program was not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unverified {
    /// It breaks rules.
    Wrong(Vec<VerifyError>),
    /// The verifier was stopped.
    Stopped(Stopped),
}

/// [`verify`] for what the linker puts together from verified programs: functions whose facts are given are those of their
/// programs but for the numbers of what they refer to, and that is of the same kind and signature as before. (Debug builds
/// look at them all the same.)
pub(crate) fn verify_joined(
    program: Program,
    facts: Vec<Option<Arc<FunctionFacts>>>,
) -> Result<VerifiedProgram, Vec<VerifyError>> {
    let program = Arc::new(program);
    if cfg!(debug_assertions) {
        verify_shared(Arc::clone(&program))?;
    }
    check_new(program, facts, &Stop::never())
}

fn check(program: Arc<Program>, stop: &Stop) -> Result<VerifiedProgram, Vec<VerifyError>> {
    let none = vec![None; program.functions.len()];
    check_new(program, none, stop)
}

/// Checks the tables, and the functions of which no facts are known.
fn check_new(
    program: Arc<Program>,
    known: Vec<Option<Arc<FunctionFacts>>>,
    stop: &Stop,
) -> Result<VerifiedProgram, Vec<VerifyError>> {
    let mut errors = Errors { list: Vec::new(), function: None, stop };
    tables::check(&program, &mut errors);
    let mut facts = Vec::with_capacity(program.functions.len());
    for (function, known) in program.functions.iter().zip(known) {
        if errors.is_over() {
            break;
        }
        facts.push(known.unwrap_or_else(|| Arc::new(check_function(&program, function, &mut errors))));
    }
    let complete = facts.len() == program.functions.len();
    if errors.list.is_empty() && complete {
        return Ok(VerifiedProgram { program, facts: facts.into() });
    }
    Err(errors.list)
}

fn check_function(program: &Program, function: &Function, errors: &mut Errors) -> FunctionFacts {
    errors.function = Some(function.name.clone());
    if !operands::check(program, function, errors) {
        return FunctionFacts::default();
    }
    let graph = flow::check(function, errors);
    assigned::check(function, &graph, errors);
    graph.into_facts()
}

/// Collects errors of the function being checked.
struct Errors<'s> {
    list: Vec<VerifyError>,
    function: Option<String>,
    stop: &'s Stop,
}

impl Errors<'_> {
    /// Reports an error at an instruction.
    fn at(&mut self, inst: usize, rule: Rule, message: impl Into<String>) {
        self.push(rule, Some(inst), message.into());
    }

    /// Reports an error of the function (or the program) as a whole.
    fn whole(&mut self, rule: Rule, message: impl Into<String>) {
        self.push(rule, None, message.into());
    }

    fn push(&mut self, rule: Rule, inst: Option<usize>, message: String) {
        if self.list.len() < MAX_ERRORS {
            self.list.push(VerifyError { rule, function: self.function.clone(), inst, message });
        }
    }

    /// Whether to give up: the work was called off, or there are too many errors. Asked at every step.
    fn is_over(&self) -> bool {
        self.stop.poll() || self.list.len() >= MAX_ERRORS
    }
}

/// Reports names that stand twice.
fn check_unique<'a>(what: &str, names: impl Iterator<Item = &'a str>, errors: &mut Errors) {
    let mut seen = HashMap::default();
    for (i, name) in names.enumerate() {
        if let Some(first) = seen.insert(name, i) {
            errors.whole(Rule::DuplicateName, format!("{what}s {first} and {i} are both called `{name}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FunctionBuilder, Op, Shape, Ty};

    #[test]
    fn a_small_function_is_verified() {
        let mut b = FunctionBuilder::new("f");
        let x = b.param(Shape::Varying, Ty::F32, "x");
        let zero = b.constant(Ty::F32, 0);
        let y = b.reg(Shape::Varying, Ty::F32);
        b.mov(y, zero);
        let c = b.binary(Op::Lt, Ty::F32, x, zero);
        let end = b.label();
        b.control(Op::MaskIf, Some(c), end);
        b.assign(y, x);
        b.bind(end);
        let out = b.label();
        b.control(Op::MaskEndif, None, out);
        b.bind(out);
        b.result(y);
        b.ret();
        let program = Program { functions: vec![b.finish()], ..Program::default() };
        let verified = verify(program).unwrap();
        let facts = verified.facts(FuncId(0));
        assert_eq!(facts.max_depth(), 1);
        assert_eq!(facts.entries(3).collect::<Vec<_>>(), [EntryKind::If]);
        assert!(facts.may_be_empty(4) && !facts.may_be_empty(3));
    }

    #[test]
    fn an_unassigned_register_is_reported() {
        let mut b = FunctionBuilder::new("f");
        let y = b.reg(Shape::Varying, Ty::F32);
        b.result(y);
        b.ret();
        let program = Program { functions: vec![b.finish()], ..Program::default() };
        let errors = verify(program).unwrap_err();
        assert_eq!(errors.iter().map(|e| e.rule).collect::<Vec<_>>(), [Rule::Unassigned]);
    }
}
