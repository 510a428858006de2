//! A second executor, as plain as can be: lane by lane, a word for each lane of each register, sets of lanes as vectors of
//! booleans, memory as byte vectors. It shares nothing with the interpreter but the scalar meanings (`vm::sem`) and the
//! appearance of printed values, and serves as the interpreter's judge in differential tests.

mod masks;
mod memory;

use masks::Entry;
use memory::Regions;
use spmdvm_vm::isa::{Effect, Form};
use spmdvm_vm::program::*;
use spmdvm_vm::sem::{self, OFFSET_BITS};
use spmdvm_vm::{Op, Program, Shape, TrapKind, Ty, print};

/// A trap: why, for which lane, in which function at which instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleTrap {
    pub kind: TrapKind,
    pub lane: Option<usize>,
    pub function: u32,
    pub pc: usize,
}

/// What happened, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An instruction is reached: function, instruction, mask, depth of the mask stack.
    At(u32, u32, u64, usize),
    /// It has written a register: the type and the bits of each lane.
    Wrote(Ty, Vec<u64>),
    /// It has printed.
    Printed(String),
}

/// Returns whether the value that an operation writes should be compared. Clocks differ, and so may the numbers of regions.
pub fn comparable(op: Op) -> bool {
    op.info().effect != Effect::Control && !matches!(op, Op::Clock | Op::FrameAddr | Op::Alloc)
}

/// What of a written word is compared: of a pointer the offset only.
pub fn comparable_bits(op: Op, word: u64) -> u64 {
    if op == Op::PAdd { word & ((1 << OFFSET_BITS) - 1) } else { word }
}

/// The bits of a register, lane by lane; one word if uniform.
type Value = Vec<u64>;

type Run<T> = Result<T, OracleTrap>;

pub struct Oracle<'p> {
    program: &'p Program,
    lanes: usize,
    regions: Regions,
    pub events: Vec<Event>,
    /// Back-edges, steps of Each loops and calls so far, and how many there may be.
    pub fuel_used: u64,
    fuel: u64,
}

/// A call being executed.
struct Frame<'p> {
    id: u32,
    f: &'p Function,
    regs: Vec<Value>,
    mask: Vec<bool>,
    stack: Vec<Entry>,
    pc: usize,
    /// The region of the frame's memory.
    region: u32,
}

impl Frame<'_> {
    fn trap(&self, kind: TrapKind, lane: Option<usize>) -> OracleTrap {
        OracleTrap { kind, lane, function: self.id, pc: self.pc }
    }

    fn is_varying(&self, r: Reg) -> bool {
        !r.is_none() && self.f.reg(r).shape == Shape::Varying
    }

    /// One lane of a register; a uniform one has the same value in all.
    fn get(&self, r: Reg, lane: usize) -> u64 {
        let value = &self.regs[r.index()];
        if value.len() == 1 { value[0] } else { value[lane] }
    }

    fn active(&self) -> Vec<usize> {
        (0..self.mask.len()).filter(|&l| self.mask[l]).collect()
    }

    /// Active lanes where a condition holds.
    fn holding(&self, condition: Reg) -> Vec<bool> {
        (0..self.mask.len()).map(|l| self.mask[l] && self.get(condition, l) != 0).collect()
    }
}

impl<'p> Oracle<'p> {
    pub fn new(program: &'p Program, fuel: u64) -> Self {
        let (lanes, regions) = (program.width.lanes(), Regions::of(program));
        Oracle { program, lanes, regions, events: Vec::new(), fuel_used: 0, fuel }
    }

    /// The bytes of a global.
    pub fn global(&self, id: GlobalId) -> &[u8] {
        self.regions.bytes(id.0 + 1)
    }

    /// Calls a function and gives its results.
    pub fn call(&mut self, id: FuncId, args: Vec<Value>, mask: Vec<bool>) -> Run<Vec<Value>> {
        let f = &self.program.functions[id.0 as usize];
        let one = |shape| if shape == Shape::Uniform { 1 } else { self.lanes };
        // What is not written yet is made conspicuous.
        let mut regs: Vec<Value> = f.regs.iter().map(|d| vec![0xdead_beef_dead_beef; one(d.shape)]).collect();
        regs.iter_mut().zip(args).for_each(|(r, arg)| *r = arg);
        for &(r, bits) in f.consts.iter() {
            regs[r.index()] = vec![bits];
        }
        let region = if f.frame_size > 0 { self.regions.add(f.frame_size, false) } else { 0 };
        let mut frame = Frame { id: id.0, f, regs, mask, stack: Vec::new(), pc: 0, region };
        loop {
            let inst = &f.code[frame.pc];
            let bits = masks::to_bits(&frame.mask);
            self.events.push(Event::At(id.0, frame.pc as u32, bits, frame.stack.len()));
            if inst.op == Op::Ret {
                self.regions.remove(region);
                return Ok(f.results.iter().map(|r| frame.regs[r.index()].clone()).collect());
            }
            frame.pc = self.step(&mut frame, inst)?;
            if !inst.dst.is_none() && comparable(inst.op) {
                let words = frame.regs[inst.dst.index()].iter().map(|&w| comparable_bits(inst.op, w));
                self.events.push(Event::Wrote(f.reg(inst.dst).ty, words.collect()));
            }
        }
    }

    /// Counts a back-edge, a step of an Each loop or a call.
    fn tick(&mut self, frame: &Frame<'_>) -> Run<()> {
        self.spend(frame, 1)
    }

    /// Counts the bytes that an instruction moves: a unit for every whole KiB.
    fn move_bytes(&mut self, frame: &Frame<'_>, bytes: u64) -> Run<()> {
        self.spend(frame, bytes / 1024)
    }

    fn spend(&mut self, frame: &Frame<'_>, units: u64) -> Run<()> {
        if self.fuel - self.fuel_used < units {
            self.fuel_used = self.fuel;
            return Err(frame.trap(TrapKind::OutOfFuel, None));
        }
        self.fuel_used += units;
        Ok(())
    }

    /// Executes one instruction and gives the next.
    fn step(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<usize> {
        match (inst.op.info().form, inst.op.info().effect) {
            (Form::Reduce, _) => self.reduce(frame, inst),
            (Form::Special, Effect::Control) => return self.control(frame, inst),
            (Form::Special, Effect::Read | Effect::Write) => self.memory(frame, inst)?,
            (Form::Special, Effect::Call) => self.call_step(frame, inst)?,
            (Form::Special, _) => self.special(frame, inst)?,
            _ => self.elementwise(frame, inst)?,
        }
        Ok(frame.pc + 1)
    }

    /// Writes a register lane by lane.
    fn write(&self, frame: &mut Frame<'_>, dst: Reg, value: impl Fn(&Frame<'_>, usize) -> u64) {
        let lanes = frame.regs[dst.index()].len();
        frame.regs[dst.index()] = (0..lanes).map(|l| value(frame, l)).collect();
    }

    /// An operation with a scalar meaning.
    fn elementwise(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<()> {
        let checked = inst.op.info().form == Form::Checked;
        if checked && let Some(&lane) = frame.active().iter().find(|&&l| frame.get(inst.src[1], l) == 0) {
            let varying = frame.is_varying(inst.dst);
            return Err(frame.trap(TrapKind::DivisionByZero, varying.then_some(lane)));
        }
        self.write(frame, inst.dst, |frame, l| {
            let operand = |r: Reg| if r.is_none() { 0 } else { frame.get(r, l) };
            if checked && frame.is_varying(inst.dst) && !frame.mask[l] {
                return 0;
            }
            sem::eval(inst.op, inst.ty, inst.from, inst.src.map(operand)).expect("the operation has a scalar meaning")
        });
        Ok(())
    }

    /// Halves the gang again and again, the upper half going into the lower.
    fn reduce(&mut self, frame: &mut Frame<'_>, inst: &Inst) {
        let neutral = sem::reduce_neutral(inst.op, inst.ty).expect("a reduction");
        let mut v: Value =
            (0..self.lanes).map(|l| if frame.mask[l] { frame.get(inst.src[0], l) } else { neutral }).collect();
        while v.len() > 1 {
            let upper = v.split_off(v.len() / 2);
            for (a, b) in v.iter_mut().zip(upper) {
                *a = sem::eval(inst.op, inst.ty, inst.ty, [*a, b, 0]).expect("a reduction");
            }
        }
        frame.regs[inst.dst.index()] = v;
    }

    fn special(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<()> {
        let [a, b, c] = inst.src;
        let wrap = |word: u64| (word as u32 as i32).rem_euclid(self.lanes as i32) as usize;
        let held = |frame: &Frame<'_>| frame.active().into_iter().map(|l| frame.get(a, l) != 0).collect::<Vec<_>>();
        let bits = |set: Vec<bool>| masks::to_bits(&set);
        match inst.op {
            Op::Mov | Op::Select | Op::Convert | Op::Bitcast | Op::PAdd => return self.elementwise(frame, inst),
            Op::Assign => {
                self.write(frame, inst.dst, |f, l| if f.mask[l] { f.get(a, l) } else { f.get(inst.dst, l) });
            }
            Op::Iota => self.write(frame, inst.dst, |_, l| l as u64),
            Op::Shuffle => self.write(frame, inst.dst, |f, l| f.get(a, wrap(f.get(b, l)))),
            Op::Extract => self.write(frame, inst.dst, |f, _| f.get(a, wrap(f.get(b, 0)))),
            Op::Insert => {
                self.write(frame, inst.dst, |f, l| if l == wrap(f.get(b, 0)) { f.get(c, 0) } else { f.get(a, l) })
            }
            Op::MaskGet => self.write(frame, inst.dst, |f, l| f.mask[l] as u64),
            Op::MaskBits => self.write(frame, inst.dst, |f, _| bits(f.mask.clone())),
            Op::PackMask => self.write(frame, inst.dst, |f, _| bits(f.holding(a))),
            Op::Any => self.write(frame, inst.dst, |f, _| held(f).contains(&true) as u64),
            Op::All => self.write(frame, inst.dst, |f, _| !held(f).contains(&false) as u64),
            Op::GlobalAddr => {
                let pointer = sem::padd((inst.aux as u64 + 1) << OFFSET_BITS, inst.imm);
                self.write(frame, inst.dst, |_, _| pointer);
            }
            Op::FrameAddr => self.write(frame, inst.dst, |f, _| sem::padd((f.region as u64) << OFFSET_BITS, inst.imm)),
            Op::FuncAddr => self.write(frame, inst.dst, |_, _| inst.aux as u64 + 1),
            Op::Clock => self.write(frame, inst.dst, |_, _| 0),
            Op::Abort => return Err(frame.trap(TrapKind::Abort, None)),
            Op::Assert => {
                if let Some(&lane) = frame.active().iter().find(|&&l| frame.get(a, l) == 0) {
                    return Err(frame.trap(TrapKind::Assertion, frame.is_varying(a).then_some(lane)));
                }
            }
            Op::Print => self.print(frame, inst)?,
            op => unreachable!("{op:?} is executed elsewhere"),
        }
        Ok(())
    }

    fn print(&mut self, frame: &Frame<'_>, inst: &Inst) -> Run<()> {
        let mut text = String::new();
        let mut args = frame.f.list(inst.args).iter();
        for piece in &self.program.formats[inst.aux as usize] {
            let format = match piece {
                Piece::Text(t) => {
                    text.push_str(t);
                    continue;
                }
                Piece::Arg(format) => format,
            };
            let &r = args.next().expect("an argument for each place");
            let ty = frame.f.reg(r).ty;
            if frame.is_varying(r) {
                let mask = masks::to_bits(&frame.mask);
                print::varying(&mut text, ty, self.lanes, (mask, 0), |out, l| {
                    print::scalar(out, format, ty, frame.get(r, l))
                });
            } else {
                print::scalar(&mut text, format, ty, frame.get(r, 0));
            }
        }
        self.move_bytes(frame, text.len() as u64)?;
        self.events.push(Event::Printed(text));
        Ok(())
    }

    fn call_step(&mut self, frame: &mut Frame<'_>, inst: &Inst) -> Run<()> {
        let kinds = |f: &Function, regs: &[Reg]| -> Vec<(Shape, Ty)> {
            regs.iter().map(|&r| (f.reg(r).shape, f.reg(r).ty)).collect()
        };
        let (args, rets) = (frame.f.list(inst.args), frame.f.list(inst.rets));
        let mut callee = inst.aux;
        if inst.op == Op::CallInd {
            let value = frame.get(inst.src[0], 0);
            let fits = value.checked_sub(1).and_then(|i| self.program.functions.get(i as usize)).is_some_and(|f| {
                let params: Vec<Reg> = (0..f.n_params).map(Reg).collect();
                kinds(f, &params) == kinds(frame.f, args) && kinds(f, &f.results) == kinds(frame.f, rets)
            });
            if !fits {
                return Err(frame.trap(TrapKind::BadFunction, None));
            }
            callee = value as u32 - 1;
        }
        self.spend(frame, 1 + self.program.functions[callee as usize].frame_size / 1024)?;
        let values = args.iter().map(|r| frame.regs[r.index()].clone()).collect();
        let results = self.call(FuncId(callee), values, frame.mask.clone())?;
        for (r, value) in rets.iter().zip(results) {
            frame.regs[r.index()] = value;
        }
        Ok(())
    }
}
