//! Faults of the back end: what it would hand to Cranelift if it were wrong.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData as Data, Opcode, types};
use spmdvm_vm::faults::{Fault, Turns, planted};

/// What stands for an instruction of a block that a fault concerns.
pub type Act = fn(&mut Function, Block, Inst) -> Option<Data>;

macro_rules! faults {
    ($($name:literal, $what:literal, $act:expr;)*) => {
        /// The faults.
        pub static TABLE: &[Fault<Act>] = &[$(Fault { name: $name, part: "clif", what: $what, act: $act }),*];
    };
}

faults! {
    "clif-compare-equal", "`lt` of signed integers is `le`", |f, _, i| {
        compared(f, i, |cond| (cond == IntCC::SignedLessThan).then_some(IntCC::SignedLessThanOrEqual))
    };
    "clif-compare-sign", "integers are compared without their sign", |f, _, i| {
        compared(f, i, |cond| Some(cond.unsigned()).filter(|&unsigned| unsigned != cond))
    };
    "clif-compare-nan", "`lt` and `le` of floats hold for NaNs", |f, _, i| {
        let Data::FloatCompare { opcode, args, cond } = f.dfg.insts[i] else { return None };
        let cond = match cond {
            FloatCC::LessThan => FloatCC::UnorderedOrLessThan,
            FloatCC::LessThanOrEqual => FloatCC::UnorderedOrLessThanOrEqual,
            _ => return None,
        };
        Some(Data::FloatCompare { opcode, args, cond })
    };
    "clif-greater-nan", "`gt` and `ge` of floats hold for NaNs", |f, _, i| {
        let Data::FloatCompare { opcode, args, cond } = f.dfg.insts[i] else { return None };
        let cond = match cond {
            FloatCC::GreaterThan => FloatCC::UnorderedOrGreaterThan,
            FloatCC::GreaterThanOrEqual => FloatCC::UnorderedOrGreaterThanOrEqual,
            _ => return None,
        };
        Some(Data::FloatCompare { opcode, args, cond })
    };
    "clif-blend-arms", "a blend of vectors takes the other one", |f, _, i| {
        ternary(f, i, &[Opcode::Bitselect, Opcode::Blendv], |[c, a, b]| [c, b, a])
    };
    "clif-select-arms", "a selection of scalars takes the other one", |f, _, i| ternary(f, i, &[Opcode::Select], |[c, a, b]| [c, b, a]);
    "clif-fma-operands", "a product and sum multiplies by what it should add", |f, _, i| ternary(f, i, &[Opcode::Fma], |[a, b, c]| [a, c, b]);
    "clif-shift-sign", "shifts right do not shift in the sign", |f, _, i| renamed(f, i, &[(Opcode::Sshr, Opcode::Ushr)]);
    "clif-extend-sign", "scalars are extended without their sign", |f, _, i| renamed(f, i, &[(Opcode::Sextend, Opcode::Uextend)]);
    "clif-widen-sign", "vectors of small integers are extended without their sign", |f, _, i| {
        renamed(f, i, &[(Opcode::SwidenLow, Opcode::UwidenLow), (Opcode::SwidenHigh, Opcode::UwidenHigh)])
    };
    "clif-widen-half", "the upper lanes of what is extended are the lower ones", |f, _, i| {
        renamed(f, i, &[(Opcode::SwidenHigh, Opcode::SwidenLow), (Opcode::UwidenHigh, Opcode::UwidenLow)])
    };
    "clif-extreme-sign", "minimum and maximum of integers do not mind the sign", |f, _, i| {
        renamed(f, i, &[(Opcode::Smin, Opcode::Umin), (Opcode::Smax, Opcode::Umax)])
    };
    "clif-floor", "`floor` and `ceil` round toward zero", |f, _, i| renamed(f, i, &[(Opcode::Floor, Opcode::Trunc), (Opcode::Ceil, Opcode::Trunc)]);
    "clif-from-unsigned", "unsigned integers become floats as if they had a sign", |f, _, i| {
        renamed(f, i, &[(Opcode::FcvtFromUint, Opcode::FcvtFromSint)])
    };
    "clif-to-unsigned", "floats become unsigned integers as if these had a sign", |f, _, i| {
        renamed(f, i, &[(Opcode::FcvtToUintSat, Opcode::FcvtToSintSat)])
    };
    "clif-any-lane", "whether a lane is active is whether all are", |f, _, i| renamed(f, i, &[(Opcode::VanyTrue, Opcode::VallTrue)]);
    "clif-insert-lane", "an element is put into the lane beside", |f, _, i| {
        let Data::TernaryImm8 { opcode: opcode @ Opcode::Insertlane, args, imm } = f.dfg.insts[i] else { return None };
        Some(Data::TernaryImm8 { opcode, args, imm: imm ^ 1 })
    };
    "clif-extract-lane", "an element is taken from the lane beside", |f, _, i| {
        let Data::BinaryImm8 { opcode: opcode @ Opcode::Extractlane, arg, imm } = f.dfg.insts[i] else { return None };
        Some(Data::BinaryImm8 { opcode, arg, imm: imm ^ 1 })
    };
    "clif-shuffle-lanes", "a fixed permutation has its halves exchanged", |f, _, i| {
        let Data::Shuffle { opcode, args, imm } = f.dfg.insts[i] else { return None };
        let mut picks = f.dfg.immediates.get(imm)?.as_slice().to_vec();
        picks.rotate_left(8);
        let imm = f.dfg.immediates.push(picks.into());
        Some(Data::Shuffle { opcode, args, imm })
    };
    "clif-load-element", "loads of vectors begin one element later", |f, block, i| {
        let Data::Load { opcode: opcode @ Opcode::Load, arg, flags, offset } = f.dfg.insts[i] else { return None };
        let ty = f.dfg.value_type(f.dfg.first_result(i));
        let moved = offset.try_add_i64(ty.lane_type().bytes() as i64)?;
        (ty.is_vector() && !f.layout.is_cold(block)).then_some(Data::Load { opcode, arg, flags, offset: moved })
    };
    "clif-exit-write", "what a side exit should write is left out", |f, block, i| {
        let stores = matches!(f.dfg.insts[i], Data::Store { opcode: Opcode::Store, .. });
        (stores && f.layout.is_cold(block)).then_some(Data::NullAry { opcode: Opcode::Nop })
    };
    "clif-exit-order", "a side exit writes a scalar beside its place", |f, block, i| {
        let Data::Store { opcode: opcode @ Opcode::Store, args, flags, offset } = f.dfg.insts[i] else { return None };
        let is_word = f.dfg.value_type(args[0]) == types::I64 && f.layout.is_cold(block);
        let moved = offset.try_add_i64(-8).filter(|_| i32::from(offset) >= 8)?;
        is_word.then_some(Data::Store { opcode, args, flags, offset: moved })
    };
}

/// Changes a function as the fault that is planted does.
pub(super) fn spoil(f: &mut Function) {
    let Some(fault) = planted(TABLE) else { return };
    let mut turns = Turns::default();
    let blocks: Vec<Block> = f.layout.blocks().collect();
    for block in blocks {
        let insts: Vec<Inst> = f.layout.block_insts(block).collect();
        for inst in insts {
            let other = (fault.act)(f, block, inst);
            turns.put(&mut f.dfg.insts[inst], other);
        }
    }
}

fn compared(f: &Function, inst: Inst, other: fn(IntCC) -> Option<IntCC>) -> Option<Data> {
    let Data::IntCompare { opcode, args, cond } = f.dfg.insts[inst] else { return None };
    Some(Data::IntCompare { opcode, args, cond: other(cond)? })
}

type Operands = [cranelift_codegen::ir::Value; 3];

fn ternary(f: &Function, inst: Inst, which: &[Opcode], order: fn(Operands) -> Operands) -> Option<Data> {
    let Data::Ternary { opcode, args } = f.dfg.insts[inst] else { return None };
    which.contains(&opcode).then(|| Data::Ternary { opcode, args: order(args) })
}

/// The instruction with another opcode on the same operands.
fn renamed(f: &Function, inst: Inst, names: &[(Opcode, Opcode)]) -> Option<Data> {
    let to = |opcode: Opcode| names.iter().find(|(from, _)| *from == opcode).map(|(_, to)| *to);
    match f.dfg.insts[inst] {
        Data::Unary { opcode, arg } => Some(Data::Unary { opcode: to(opcode)?, arg }),
        Data::Binary { opcode, args } => Some(Data::Binary { opcode: to(opcode)?, args }),
        _ => None,
    }
}
