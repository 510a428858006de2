//! Random programs with `crev` calls.
//!
//! They end: every loop counts up to a small bound in variables that nothing else assigns, and functions call only those
//! before them. They never fail: addresses are masked to shared memory's size, and divisors are constants. How much work a
//! program makes is estimated as it grows, and kept small.
//!
//! They are trees in the paper's own semantics, which a model evaluates beside; so the generator of `spmdvm gen`, which writes
//! text of the whole language, does not take their place.

use crate::data::random;
use spmdvm::Width;
use spmdvm::usimd::BinaryOp;
use spmdvm::usimd::crev::{Call, Expr, Function, Shape, Source, Stmt};

/// Cells of shared memory; a power of two.
const CELLS: i64 = 64;

/// Instructions that a run may take, about.
const MAX_WORK: u64 = 60_000;

/// Instructions of the listing, about.
const MAX_SIZE: u64 = 1500;

/// Most statements nested in each other.
const MAX_DEPTH: usize = 3;

/// Most turns of a loop.
const MAX_TURNS: u64 = 3;

/// A random program, and the width it is for.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The program.
    pub source: Source,
    /// Lanes.
    pub width: Width,
}

/// The program of a seed.
pub fn generate(seed: u64) -> Generated {
    let mut writer =
        Writer { seed, drawn: 0, width: 0, done: Vec::new(), function: empty(""), work: 0, size: 0, turns: 1 };
    let lanes = [1, 2, 4, 4, 8, 8, 16][writer.draw(7) as usize];
    let width = Width::new(lanes).unwrap_or(Width::DEFAULT);
    writer.width = width.lanes() as u64;
    for i in 0..1 + writer.draw(4) {
        writer.function(&format!("f{i}"));
    }
    writer.main();
    let shared = (0..CELLS as u64).map(|i| random(seed ^ 0x5eed, i) as i64 >> (random(seed, i) % 60)).collect();
    let source = Source { functions: writer.done.into_iter().map(|done| done.function).collect(), shared };
    Generated { source, width }
}

fn empty(name: &str) -> Function {
    Function { name: name.into(), params: Vec::new(), result: None, locals: Vec::new(), body: Vec::new() }
}

/// A function that is written, with the work of a call and its size.
struct Done {
    function: Function,
    work: u64,
    size: u64,
}

struct Writer {
    seed: u64,
    drawn: u64,
    width: u64,
    done: Vec<Done>,
    /// The function that is being written, and what it takes so far.
    function: Function,
    work: u64,
    size: u64,
    /// How often the statement that is being written is executed, at most.
    turns: u64,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Surroundings {
    depth: usize,
    in_everywhere: bool,
}

impl Writer {
    fn draw(&mut self, n: u64) -> u64 {
        self.drawn += 1;
        random(self.seed, self.drawn) % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.draw(100) < percent
    }

    fn shape(&mut self) -> Shape {
        if self.chance(40) { Shape::Uniform } else { Shape::Varying }
    }

    fn begin(&mut self, name: &str) {
        self.function = empty(name);
        (self.work, self.size, self.turns) = (0, 0, 1);
    }

    fn end(&mut self) {
        let function = std::mem::replace(&mut self.function, empty(""));
        self.done.push(Done { function, work: self.work, size: self.size });
    }

    fn function(&mut self, name: &str) {
        self.begin(name);
        for i in 0..self.draw(4) {
            let shape = self.shape();
            self.function.params.push((shape, format!("p{i}")));
        }
        let result = self.shape();
        self.function.result = self.chance(50).then_some(result);
        self.locals();
        let mut body = self.block(Surroundings { depth: 0, in_everywhere: false }, 5);
        if self.chance(50) {
            let at = self.draw(body.len() as u64 + 1) as usize;
            let call = self.call(true);
            body.splice(at..at, call);
        }
        if let Some(shape) = self.function.result {
            body.push(Stmt::Return(Some(self.expr(shape, 2, true))));
        }
        self.function.body = body;
        self.end();
    }

    /// The function that is run: it has at least one `crev` call.
    fn main(&mut self) {
        self.begin("main");
        self.locals();
        let place = Surroundings { depth: 0, in_everywhere: false };
        let mut body = self.block(place, 4);
        let at = self.draw(body.len() as u64 + 1) as usize;
        let divides = self.expr(Shape::Varying, 2, true);
        let call = self.call(true);
        let call = if self.chance(60) {
            Stmt::If(divides, call, Vec::new())
        } else {
            Stmt::If(Expr::Constant(1), call, Vec::new())
        };
        body.insert(at, call);
        self.function.body = body;
        self.end();
    }

    fn locals(&mut self) {
        for (shape, name) in [
            (Shape::Uniform, "u0"),
            (Shape::Uniform, "u1"),
            (Shape::Varying, "v0"),
            (Shape::Varying, "v1"),
            (Shape::Varying, "v2"),
        ] {
            let init = self.expr(shape, 1, false);
            self.function.locals.push((shape, name.into(), init));
        }
    }

    fn block(&mut self, place: Surroundings, most: u64) -> Vec<Stmt> {
        (0..1 + self.draw(most)).flat_map(|_| self.stmt(place)).collect()
    }

    /// A statement, with what must come before it.
    fn stmt(&mut self, place: Surroundings) -> Vec<Stmt> {
        self.work += 4 * self.turns;
        self.size += 4;
        let simple = place.depth >= MAX_DEPTH || self.size > MAX_SIZE / 2;
        let inner = Surroundings { depth: place.depth + 1, ..place };
        match self.draw(if simple { 60 } else { 100 }) {
            0..35 => vec![self.assign()],
            35..58 => vec![self.store()],
            58..60 => self.return_(place),
            60..72 => {
                let shape = self.shape();
                let condition = self.expr(shape, 2, true);
                let then = self.block(inner, 3);
                let other = if self.chance(50) { self.block(inner, 2) } else { Vec::new() };
                vec![Stmt::If(condition, then, other)]
            }
            72..79 => self.loop_(inner),
            79..85 => vec![Stmt::Everywhere(self.block(Surroundings { in_everywhere: true, ..inner }, 3))],
            85..95 => self.call(true),
            _ => self.call(false),
        }
    }

    fn assign(&mut self) -> Stmt {
        let params = self.function.params.clone();
        let locals = ["u0", "u1", "v0", "v1", "v2"];
        let at = self.draw((params.len() + locals.len()) as u64) as usize;
        let name = params.get(at).map_or_else(|| locals[at - params.len()].to_owned(), |(_, name)| name.clone());
        let shape = self.function.shape_of(&name).unwrap_or(Shape::Varying);
        Stmt::Assign(name, self.expr(shape, 3, true))
    }

    /// `mem[a] = e`, or a change of few cells that shows in which order changes were made.
    fn store(&mut self) -> Stmt {
        let (shape, address) = (self.shape(), self.shape());
        if self.chance(50) {
            return Stmt::Store(self.address(address), self.expr(shape, 2, true));
        }
        let address = Expr::binary(BinaryOp::And, self.expr(address, 2, true), Expr::Constant(7));
        let tripled = Expr::binary(BinaryOp::Mul, Expr::Load(Box::new(address.clone())), Expr::Constant(3));
        Stmt::Store(address, Expr::binary(BinaryOp::Add, tripled, self.expr(shape, 2, true)))
    }

    fn return_(&mut self, place: Surroundings) -> Vec<Stmt> {
        match self.function.result {
            _ if place.in_everywhere || place.depth == 0 => vec![self.assign()],
            Some(Shape::Uniform) => vec![self.assign()],
            Some(Shape::Varying) => vec![Stmt::Return(Some(self.expr(Shape::Varying, 2, true)))],
            None => vec![Stmt::Return(None)],
        }
    }

    /// `k = 0; n = e & 3; while (k < n) { …; k = k + 1; }`
    fn loop_(&mut self, inner: Surroundings) -> Vec<Stmt> {
        let shape = self.shape();
        let number = self.function.locals.len();
        let (counter, bound) = (format!("k{number}"), format!("n{number}"));
        for name in [&counter, &bound] {
            self.function.locals.push((shape, name.clone(), Expr::Constant(0)));
        }
        let limit = self.expr(shape, 2, true);
        self.turns *= MAX_TURNS;
        let mut body = self.block(inner, 3);
        self.turns /= MAX_TURNS;
        body.push(Stmt::Assign(counter.clone(), Expr::binary(BinaryOp::Add, Expr::var(&counter), Expr::Constant(1))));
        let condition = Expr::binary(BinaryOp::Lt, Expr::var(&counter), Expr::var(&bound));
        vec![
            Stmt::Assign(counter, Expr::Constant(0)),
            Stmt::Assign(bound, Expr::binary(BinaryOp::And, limit, Expr::Constant(MAX_TURNS as i64))),
            Stmt::While(condition, body),
        ]
    }

    /// A call of a function before this one, if there is one whose work is not too much.
    fn call(&mut self, crev: bool) -> Vec<Stmt> {
        if self.done.is_empty() {
            return vec![self.assign()];
        }
        // The last ones are called most, so that calls nest.
        let back = self.draw(2).min(self.draw(self.done.len() as u64)) as usize;
        let Done { function: callee, work, size } = &self.done[self.done.len() - 1 - back];
        let (callee, size) = (callee.clone(), size + 20);
        let work = self.turns * if crev { self.width * (work + 10) } else { work + 10 };
        if self.work + work > MAX_WORK || self.size + size > MAX_SIZE {
            return vec![self.assign()];
        }
        self.work += work;
        self.size += size;
        let args = callee.params.iter().map(|(shape, _)| match crev {
            true => {
                let shape = self.shape();
                self.expr(shape, 2, true)
            }
            false => self.expr(*shape, 2, false),
        });
        let args = args.collect();
        let to = callee.result.filter(|_| self.chance(80)).map(|result| {
            let uniform = result == Shape::Uniform && !crev && self.chance(40);
            let names: &[&str] = if uniform { &["u0", "u1"] } else { &["v0", "v1", "v2"] };
            names[self.draw(names.len() as u64) as usize].to_owned()
        });
        vec![Stmt::Call(Call { crev, function: callee.name, args, to })]
    }

    fn address(&mut self, shape: Shape) -> Expr {
        Expr::binary(BinaryOp::And, self.expr(shape, 2, true), Expr::Constant(CELLS - 1))
    }

    /// An expression; one that is computed in idle threads too neither loads nor divides.
    fn expr(&mut self, shape: Shape, depth: u32, active: bool) -> Expr {
        if depth == 0 || self.chance(25) {
            return self.leaf(shape);
        }
        if active && self.chance(20) {
            return Expr::Load(Box::new(self.address(shape)));
        }
        let op = BinaryOp::ALL[self.draw(BinaryOp::ALL.len() as u64) as usize];
        let a = self.expr(shape, depth - 1, active);
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
        let op = if divides && !active { BinaryOp::Add } else { op };
        let b = match op {
            BinaryOp::Div | BinaryOp::Rem => Expr::Constant([-3, -1, 1, 2, 7][self.draw(5) as usize]),
            _ => self.expr(shape, depth - 1, active),
        };
        Expr::binary(op, a, b)
    }

    fn leaf(&mut self, shape: Shape) -> Expr {
        match self.draw(8) {
            0 | 1 => Expr::Constant(self.draw(12) as i64 - 3),
            2 => Expr::Width,
            3 | 4 if shape == Shape::Varying => Expr::Tid,
            _ => self.variable(shape),
        }
    }

    fn variable(&mut self, shape: Shape) -> Expr {
        let fits = |s: Shape| shape == Shape::Varying || s == Shape::Uniform;
        let params = self.function.params.iter().filter(|(s, _)| fits(*s)).map(|(_, name)| name);
        let locals = self.function.locals.iter().filter(|(s, ..)| fits(*s)).map(|(_, name, _)| name);
        let names: Vec<String> = params.chain(locals).cloned().collect();
        match names.len() {
            0 => Expr::Constant(5),
            n => Expr::Var(names[self.draw(n as u64) as usize].clone()),
        }
    }
}
