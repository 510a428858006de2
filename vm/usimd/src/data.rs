//! The rules of figure 5: memory. Each is a function named after its rule.
//!
//! An instruction reads before it writes: TL looks at β and Σ as they were before it, and then carries out what each
//! thread does, thread by thread. So `shfl(v, l)`, which reads what it writes, gives the same in any order of threads;
//! only where several threads write one address does the order show.

use super::error::{Error, ErrorKind};
use super::program::{BinaryOp, Data, Expr, Operand, Var};
use super::state::{Cell, State};

/// What an instruction does in one thread.
enum Effect {
    /// σ\[v ↦ c].
    Local(Var, Cell),
    /// Σ\[address ↦ c].
    Shared(usize, i64),
}

/// TL: the instruction in each active thread, in this order.
pub(super) fn tl(m: &mut State<'_>, data: &Data, order: &[usize]) -> Result<(), Error> {
    let active = m.active;
    let mut effects = Vec::with_capacity(active.len());
    // Of several threads that fail, the lowest is reported, whatever the order.
    for t in active.iter() {
        effects.push((t, thread(m, t, data)?));
    }
    if !order.is_empty() {
        effects.sort_by_key(|(t, _)| order.iter().position(|o| o == t));
    }
    for (t, effect) in effects {
        match effect {
            Effect::Local(v, cell) => m.bank.set(t, v, cell),
            Effect::Shared(address, c) => m.shared[address] = c,
        }
    }
    Ok(())
}

fn thread(m: &State<'_>, t: usize, data: &Data) -> Result<Effect, Error> {
    match *data {
        Data::Constant(v, c) => Ok(ct(v, c)),
        Data::Copy(v, from) => as_(m, t, v, from),
        Data::Binary(v, ref e) => bp(m, t, e).map(|c| Effect::Local(v, Cell::Value(c))),
        Data::Load(v, address) => ld(m, t, v, address),
        Data::Store { address, value } => st(m, t, address, value),
        Data::Shuffle { to, from, lane } => {
            let lane = operand(m, t, lane)?;
            match m.mask().contains(lane) {
                true => sv(m, to, from, lane),
                false => Ok(si_shfl(m, to, lane)),
            }
        }
    }
}

/// What an operand is in a thread: MV for variables, MT for `tid`; a constant is its value.
pub(super) fn operand(m: &State<'_>, t: usize, o: Operand) -> Result<i64, Error> {
    match o {
        Operand::Constant(c) => Ok(c),
        Operand::Tid => Ok(mt(t)),
        Operand::Width => Ok(m.width() as i64),
        Operand::Var(v) => mv(m, t, v),
    }
}

/// MT: `tid` is the thread's number.
fn mt(t: usize) -> i64 {
    t as i64
}

/// MV: a variable is what the thread's local memory holds.
fn mv(m: &State<'_>, t: usize, v: Var) -> Result<i64, Error> {
    let program = m.program();
    let cell = m.bank.get(t, v);
    if let Cell::Value(c) = cell {
        return Ok(c);
    }
    let name = &program.variables[v];
    let message = format!("thread {t} uses `{name}`, which has no value in it");
    let error = Error::new(ErrorKind::UndefinedValue, program.spans[m.pc].clone(), message);
    let error = error.label(format!("`{name}` is used here"));
    Err(match cell {
        Cell::Lost { pc, lane } => error
            .place(program.spans[pc].clone(), format!("thread {t} read it here from thread {lane}, outside the mask"))
            .note("`shfl` gives a value only from threads that were active before the innermost `everywhere`"),
        _ => error.note(format!("thread {t} was not active when `{name}` was assigned, or it never was")),
    })
}

/// MM: what shared memory holds at an address.
fn mm(m: &State<'_>, t: usize, address: i64) -> Result<i64, Error> {
    cell_of(m, t, address, "reads").map(|i| m.shared[i])
}

fn cell_of(m: &State<'_>, t: usize, address: i64, verb: &str) -> Result<usize, Error> {
    usize::try_from(address).ok().filter(|&i| i < m.shared.len()).ok_or_else(|| {
        let message = format!("thread {t} {verb} address {address}, but shared memory has {} cells", m.shared.len());
        Error::new(ErrorKind::Address, m.program().spans[m.pc].clone(), message)
            .label(format!("the address is {address} in thread {t}"))
            .note("`.shared` and `.zeros` say what shared memory there is")
    })
}

/// BP: a binary operation; its operands may be operations themselves.
fn bp(m: &State<'_>, t: usize, e: &Expr) -> Result<i64, Error> {
    match e {
        Expr::Operand(o) => operand(m, t, *o),
        Expr::Binary(op, a, b) => apply(m, t, *op, bp(m, t, a)?, bp(m, t, b)?),
    }
}

fn apply(m: &State<'_>, t: usize, op: BinaryOp, a: i64, b: i64) -> Result<i64, Error> {
    op.apply(a, b).ok_or_else(|| {
        let message = format!("thread {t} divides {a} by zero");
        Error::new(ErrorKind::DivisionByZero, m.program().spans[m.pc].clone(), message).label("here")
    })
}

/// CT: a constant goes into a variable.
fn ct(v: Var, c: i64) -> Effect {
    Effect::Local(v, Cell::Value(c))
}

/// AS: a variable is copied.
fn as_(m: &State<'_>, t: usize, v: Var, from: Operand) -> Result<Effect, Error> {
    operand(m, t, from).map(|c| Effect::Local(v, Cell::Value(c)))
}

/// LD: a variable gets what shared memory holds.
fn ld(m: &State<'_>, t: usize, v: Var, address: Operand) -> Result<Effect, Error> {
    let address = operand(m, t, address)?;
    mm(m, t, address).map(|c| Effect::Local(v, Cell::Value(c)))
}

/// ST: a value goes into shared memory.
fn st(m: &State<'_>, t: usize, address: Operand, value: Operand) -> Result<Effect, Error> {
    let address = operand(m, t, address)?;
    let c = operand(m, t, value)?;
    cell_of(m, t, address, "writes").map(|i| Effect::Shared(i, c))
}

/// SV: a `shfl` from a thread of the mask gives what the variable is there.
fn sv(m: &State<'_>, to: Var, from: Var, lane: i64) -> Result<Effect, Error> {
    mv(m, lane as usize, from).map(|c| Effect::Local(to, Cell::Value(c)))
}

/// SI (of `shfl`): from a thread outside the mask, or from none at all, it gives no value.
fn si_shfl(m: &State<'_>, to: Var, lane: i64) -> Effect {
    Effect::Local(to, Cell::Lost { pc: m.pc, lane })
}
