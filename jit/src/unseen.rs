//! Registers of which nobody sees what they hold in lanes that are not active and do not come back until their function returns:
//! don't-care lanes, of which `passes/dont_care.rs` finds others.
//!
//! Lanes that were not active where the function began are such, and those that have returned, unless all lanes are turned on,
//! which the function itself shows. What a register holds there can only be seen through what reads lanes whatever the mask is:
//! operations across lanes, prints, and the results of the function, which its caller has in all lanes. From these on it is
//! followed back: an operation that computes in all lanes hands on what its operands hold there, a call what its arguments hold
//! for parameters that are seen. Assignments, loads and stores do not.
//!
//! So where a call is recorded for one lane (`record/one_lane.rs`), the vectors around its scalars need not be computed for
//! snapshots: they hold 0 there. Registers that hold lanes' numbers are left alone, with all that is in their function: strides are
//! proved by what all lanes hold.

use spmdvm_vm::flow::each_read;
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::program::{FuncId, Function, Inst, Program, Reg};

/// By function and register: whether it is seen.
pub(crate) struct Unseen(Box<[Box<[bool]>]>);

/// How an instruction reads lanes that are not active.
enum Reads {
    /// Not at all.
    Nothing,
    /// It computes those of its result from them.
    LaneByLane,
    /// Those of arguments, as the callee does those of its parameters.
    Arguments,
    /// Somebody may see them.
    All,
}

impl Unseen {
    /// Analyses a program: passes over its instructions until nothing more is seen.
    pub fn new(program: &Program) -> Unseen {
        let mut seen: Box<[Box<[bool]>]> = program.functions.iter().map(at_first).collect();
        loop {
            let before = seen.clone();
            for (at, f) in program.functions.iter().enumerate() {
                f.code.iter().rev().for_each(|inst| follow(f, inst, at, &mut seen));
            }
            if seen == before {
                return Unseen(seen);
            }
        }
    }

    /// Returns whether nobody sees those lanes of a register.
    pub fn has(&self, function: FuncId, reg: Reg) -> bool {
        !self.0[function.0 as usize][reg.index()]
    }
}

/// What is seen of a function's registers by what is about the function as a whole.
fn at_first(f: &Function) -> Box<[bool]> {
    let is_seen = f.code.iter().any(|inst| matches!(inst.op, Op::Everywhere | Op::EachAll | Op::Iota));
    let mut seen = vec![is_seen; f.regs.len()];
    f.results.iter().for_each(|r| seen[r.index()] = true);
    seen.into()
}

/// Notes what is seen of the registers that an instruction of a function reads.
fn follow(f: &Function, inst: &Inst, at: usize, seen: &mut [Box<[bool]>]) {
    match reads(inst) {
        Reads::Nothing => {}
        Reads::LaneByLane if !seen[at][inst.dst.index()] => {}
        Reads::LaneByLane | Reads::All => each_read(f, inst, |r| seen[at][r.index()] = true),
        Reads::Arguments => {
            for (param, arg) in f.list(inst.args).iter().enumerate() {
                seen[at][arg.index()] |= seen[inst.aux as usize][param];
            }
        }
    }
}

fn reads(inst: &Inst) -> Reads {
    let info = inst.op.info();
    match (inst.op, info.form) {
        (_, Form::Unary | Form::Binary | Form::Ternary | Form::Compare) => Reads::LaneByLane,
        (Op::Mov | Op::Select | Op::Convert | Op::Bitcast | Op::PAdd, _) => Reads::LaneByLane,
        (Op::Call, _) => Reads::Arguments,
        (_, Form::Checked | Form::Reduce) => Reads::Nothing,
        (Op::Load | Op::LoadLane | Op::Store | Op::StoreLane | Op::Assign, _) => Reads::Nothing,
        (Op::MaskGet | Op::MaskBits | Op::PackMask | Op::Any | Op::All | Op::Assert, _) => Reads::Nothing,
        (Op::Jmp | Op::BrTrue | Op::BrFalse | Op::Ret, _) => Reads::Nothing,
        (Op::MaskIf | Op::MaskElse | Op::MaskEndif, _) => Reads::Nothing,
        (Op::LoopBegin | Op::LoopTest | Op::LoopNext | Op::LoopBack | Op::LoopEnd, _) => Reads::Nothing,
        (Op::SwitchBegin | Op::SwitchCase | Op::SwitchEnd, _) => Reads::Nothing,
        (Op::MaskBreak | Op::MaskBreakIf | Op::MaskContinue | Op::MaskContinueIf, _) => Reads::Nothing,
        (Op::MaskReturn | Op::MaskReturnIf, _) => Reads::Nothing,
        _ => Reads::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::asm::assemble;

    /// The registers of the functions of a program that nobody sees.
    fn unseen(text: &str) -> Vec<Vec<u32>> {
        let program = assemble(text).unwrap_or_else(|e| panic!("{e:?}"));
        let unseen = Unseen::new(&program);
        let of = |(at, f): (usize, &Function)| {
            let all = (0..f.regs.len() as u32).map(Reg);
            all.filter(|r| unseen.has(FuncId(at as u32), *r)).map(|r| r.0).collect()
        };
        program.functions.iter().enumerate().map(of).collect()
    }

    #[test]
    fn what_leads_to_other_lanes_is_seen() {
        let text = "
func f(v0:i32, v1:i32, v2:i32, u3:i32) -> (v4) {
  var v4:i32, v5:i32, v6:i32, v7:i32
  v4 = add.i32 v0, v0
  v5 = mul.i32 v1, v2
  v4 = assign.i32 v5
  v6 = sub.i32 v2, v0
  u3 = extract.i32 v6, u3
  v7 = call g(v5, v1)
  ret
}
func g(v0:i32, v1:i32) -> (v2) {
  var v2:i32
  v2 = shuffle.i32 v1, v0
  ret
}
";
        // What the product is assigned to keeps what it held, but `g` sees the product and a factor.
        assert_eq!(unseen(text), [vec![7], vec![]]);
        assert_eq!(unseen(&text.replace("v2 = shuffle.i32 v1, v0", "v2 = mov.i32 v1")), [vec![5, 7], vec![0]]);
    }

    #[test]
    fn where_all_lanes_are_turned_on_all_is_seen() {
        let text = "
func f(v0:i32) -> (v1) {
  var v1:i32, v2:i32
  v1 = mov.i32 v0
  v2 = add.i32 v0, v0
  everywhere
  v1 = assign.i32 v0
  everywhere.end L5
L5:
  ret
}
";
        assert_eq!(unseen(text), [vec![]]);
        let none = text.replace("  everywhere\n", "").replace("  everywhere.end L5\nL5:\n", "");
        assert_eq!(unseen(&none), [vec![2]]);
    }
}
