//! Ternary logic: operations on bits, one after the other, become one instruction, which looks up each bit of its result by those of three
//! operands, in a table.
//!
//! An operation goes into the one that takes its result, if that is the only one to do so and stands in the same block, and if both
//! together have three operands at most, of which one may be a constant in memory. The instruction writes its result over one of its
//! operands, so where others still need all of those, and just one operation is saved, it would take a move as well: then both stay.

use super::X86;
use super::inst::{Arg, Base, Plain, Size};
use super::level::Level;
use super::select::imm8;
use super::values::sized;
use crate::vcode::{Inst, VCode};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use iced_x86::{Code, Mnemonic};
use regalloc2::VReg;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// The columns of a truth table: what its rows have for the first operand, the second and the third.
const COLUMNS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// What an operation takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Vector(VReg),
    /// A constant in memory, whose elements have so many bytes.
    Constant(Arg, usize),
}

/// A function of the bits of some inputs, up to three.
#[derive(Clone, Debug)]
struct Function {
    inputs: SmallVec<[Input; 3]>,
    /// By the bits of the inputs, those of the first one being the highest.
    table: u8,
}

/// Operations that are done together so far, by the last of them.
struct Done {
    function: Function,
    form: Size,
    /// How many there were, and where the last one stands.
    count: usize,
    at: usize,
}

/// Does operations together in all blocks.
pub(super) fn run<L: Level>(code: &mut VCode<X86<L>>) {
    if !code.insts.iter().any(|inst| operation(inst).is_some()) {
        return;
    }
    let mut together = Together { uses: uses(code), kept: vec![true; code.insts.len()] };
    for block in code.blocks() {
        // By register: what makes it. And those that are loaded.
        let (mut made, mut loaded) = (HashMap::new(), HashSet::new());
        for at in block {
            if let Some((to, form, own)) = operation(&code.insts[at]) {
                let done = together.done(Done { function: own, form, count: 1, at }, &made);
                if done.count > 1 {
                    let plain = together.instruction(&done, to, &loaded);
                    code.insts[at] = Inst::Plain(Box::new(plain));
                }
                made.insert(to, done);
            } else if let Inst::Plain(plain) = &code.insts[at]
                && let [Some(Arg::Def(to, _)), Some(Arg::Mem(_)), None, None] = plain.args
            {
                loaded.insert(to);
            }
        }
    }
    code.retain(&together.kept);
}

/// How many instructions read each register.
fn uses<L: Level>(code: &mut VCode<X86<L>>) -> Vec<u32> {
    let mut uses = code.uses();
    for inst in &code.insts {
        if let (Inst::Plain(plain), Some((_, _, function))) = (inst, operation(inst)) {
            let reads = |r| {
                let reads = |arg: &&Arg| matches!(**arg, Arg::Use(x, _) | Arg::Tied { from: x, .. } if x == r);
                plain.args.iter().flatten().filter(reads).count() as u32
            };
            function.vectors().for_each(|r| uses[r.vreg()] -= reads(r) - 1);
        }
    }
    uses
}

/// The operation on bits that an instruction is, and what it writes.
fn operation<L: Level>(inst: &Inst<X86<L>>) -> Option<(VReg, Size, Function)> {
    let Inst::Plain(plain) = inst else { return None };
    if plain.mask.is_some() {
        return None;
    }
    let [a, b, _] = COLUMNS;
    let table = match plain.code.mnemonic() {
        Mnemonic::Vpandd | Mnemonic::Vpandq => a & b,
        Mnemonic::Vpandnd | Mnemonic::Vpandnq => !a & b,
        Mnemonic::Vpord | Mnemonic::Vporq => a | b,
        Mnemonic::Vpxord | Mnemonic::Vpxorq => a ^ b,
        Mnemonic::Vpternlogd | Mnemonic::Vpternlogq => match plain.args[3] {
            Some(Arg::Imm(_, table)) => table as u8,
            _ => return None,
        },
        _ => return None,
    };
    let element = plain.code.op_code().memory_size().element_size();
    let input = |arg: Option<Arg>| match arg? {
        Arg::Use(r, _) => Some(Input::Vector(r)),
        Arg::Broadcast(mem) if mem.base == Base::Pool && mem.index.is_none() => {
            Some(Input::Constant(Arg::Broadcast(mem), element))
        }
        Arg::Mem(mem) if mem.base == Base::Pool && mem.index.is_none() => Some(Input::Constant(Arg::Mem(mem), element)),
        _ => None,
    };
    let (to, form, inputs) = match plain.args {
        [Some(Arg::Def(to, form)), x, y, None] => (to, form, SmallVec::from_slice(&[input(x)?, input(y)?])),
        [Some(Arg::Tied { from, to, form }), x, y, _] => {
            (to, form, SmallVec::from_slice(&[Input::Vector(from), input(x)?, input(y)?]))
        }
        _ => return None,
    };
    Some((to, form, Function { inputs, table }.with(|_| None)?))
}

/// What a table says of columns.
fn look_up(table: u8, columns: [u8; 3]) -> u8 {
    let row = |row: u32| columns.iter().fold(0, |bits, column| bits << 1 | column >> row & 1);
    (0..8).fold(0, |all, at| all | (table >> row(at) & 1) << at)
}

impl Function {
    fn vectors(&self) -> impl Iterator<Item = VReg> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Vector(r) => Some(*r),
            Input::Constant(..) => None,
        })
    }

    fn takes(&self, r: VReg) -> bool {
        self.vectors().any(|vector| vector == r)
    }

    /// The same with functions in place of some inputs, each input once, if there are not too many then.
    fn with<'a>(&self, instead: impl Fn(VReg) -> Option<&'a Function>) -> Option<Function> {
        let inner = |input: &Input| match input {
            Input::Vector(r) => instead(*r),
            Input::Constant(..) => None,
        };
        let mut inputs: SmallVec<[Input; 3]> = SmallVec::new();
        for input in &self.inputs {
            for input in inner(input).map_or(std::slice::from_ref(input), |function| &function.inputs) {
                if !inputs.contains(input) {
                    inputs.push(*input);
                }
            }
        }
        let constants = inputs.iter().filter(|input| matches!(input, Input::Constant(..))).count();
        if inputs.len() > COLUMNS.len() || constants > 1 {
            return None;
        }
        let column = |input: &Input| inputs.iter().position(|other| other == input).map_or(0, |i| COLUMNS[i]);
        let columns =
            |of: &[Input], column: &dyn Fn(&Input) -> u8| std::array::from_fn(|i| of.get(i).map_or(0, column));
        let table = look_up(
            self.table,
            columns(&self.inputs, &|input| match inner(input) {
                Some(function) => look_up(function.table, columns(&function.inputs, &column)),
                None => column(input),
            }),
        );
        Some(Function { inputs, table })
    }
}

struct Together {
    /// By register: how many instructions read it.
    uses: Vec<u32>,
    /// By instruction.
    kept: Vec<bool>,
}

impl Together {
    /// An operation with those of its operands that it can do, too.
    fn done(&mut self, own: Done, made: &HashMap<VReg, Done>) -> Done {
        let is_inner = |r: &VReg| self.uses[r.vreg()] == 1 && made.get(r).is_some_and(|inner| inner.form == own.form);
        let inner: SmallVec<[VReg; 3]> = own.function.vectors().filter(is_inner).collect();
        // Some of them, as bits.
        let parts =
            |some: u32| inner.iter().enumerate().filter(move |(i, _)| some >> i & 1 != 0).map(|(_, r)| (*r, &made[r]));
        let with = |some: u32| {
            let function =
                own.function.with(|r| parts(some).find(|(part, _)| *part == r).map(|(_, done)| &done.function))?;
            let readers = |r| {
                parts(some).filter(|(_, done)| done.function.takes(r)).count() as u32 + own.function.takes(r) as u32
            };
            let overwrites = function.vectors().any(|r| self.uses[r.vreg()] == readers(r));
            let has_vector = function.vectors().next().is_some();
            (has_vector && (overwrites || some.count_ones() > 1)).then_some((some, function))
        };
        let count = |some: u32| parts(some).map(|(_, done)| done.count).sum::<usize>();
        // As many as can be, and of as many, those that stand for the fewest.
        let best =
            (1..1 << inner.len()).filter_map(with).min_by_key(|&(some, _)| (Reverse(some.count_ones()), count(some)));
        let Some((some, function)) = best else { return own };
        for (_, part) in parts(some) {
            self.kept[part.at] = false;
            part.function.vectors().for_each(|r| self.uses[r.vreg()] -= 1);
        }
        let count = own.count + count(some);
        own.function.vectors().for_each(|r| self.uses[r.vreg()] -= 1);
        function.vectors().for_each(|r| self.uses[r.vreg()] += 1);
        Done { function, count, ..own }
    }

    /// The instruction that does operations together. Some registers are loaded.
    fn instruction(&self, done: &Done, to: VReg, loaded: &HashSet<VReg>) -> Plain {
        let Done { function, form, .. } = done;
        let form = *form;
        let ends = |r: VReg| self.uses[r.vreg()] == 1;
        // What is loaded for this alone may be read from memory, as the last operand; what else nobody needs any more is overwritten.
        let last = |input: &Input| match *input {
            Input::Constant(..) => 0,
            Input::Vector(r) if !ends(r) => 2,
            Input::Vector(r) if loaded.contains(&r) => 1,
            Input::Vector(_) => 3,
        };
        let mut order = function.inputs.clone();
        order.sort_by_key(|input| Reverse(last(input)));
        while order.len() < COLUMNS.len() {
            order.insert(0, order[0]);
        }
        let columns = std::array::from_fn(|i| {
            let at = function.inputs.get(i).and_then(|input| order.iter().position(|other| other == input));
            at.map_or(0, |at| COLUMNS[at])
        });
        let table = look_up(function.table, columns);
        let element = order.iter().find_map(|input| match input {
            Input::Constant(_, element) => Some(*element),
            Input::Vector(_) => None,
        });
        let code = match element {
            Some(8) => Code::EVEX_Vpternlogq_xmm_k1z_xmm_xmmm128b64_imm8,
            _ => Code::EVEX_Vpternlogd_xmm_k1z_xmm_xmmm128b32_imm8,
        };
        let arg = |input: Input| match input {
            Input::Vector(r) => Arg::Use(r, form),
            Input::Constant(arg, _) => arg,
        };
        let [Input::Vector(from), second, third] = order[..] else { unreachable!("a vector comes first") };
        Plain::new(sized(code, form), &[Arg::Tied { from, to, form }, arg(second), arg(third), imm8(table)])
    }
}
