//! Stress: compiled code is left at random, as if guards failed.
//!
//! Every exit is a promise: whatever happens, interpreting goes on from its snapshot as if there had been no native code.
//! Ordinary runs take few of the exits of a region, and most of those never. Under stress every guard, checked access and
//! poll takes its exit in some of its executions, each by odds of its own, so that programs show whether the promise holds
//! at all of them. It is done to the optimised region, so that the code that is tested is the code that is used.
//!
//! What happens depends on the seed and the program alone, if the program runs on one thread.
//!
//! Links between regions have a seed of their own (`Settings::links`): calls are links, and regions are cut, at places that are
//! chosen at random, and now and then a link is not followed.

use crate::ir::{Counter, Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::Ty;

/// Makes a region leave by its exits at random.
pub fn run(region: &mut Region, seed: u64) {
    let mut dice = Dice(mix(seed ^ (region.function.0 as u64) << 32 ^ region.pc as u64));
    for at in 0..region.blocks.len() {
        let insts = std::mem::take(&mut region.blocks[at].insts);
        let mut stressed = Vec::with_capacity(insts.len());
        for inst in insts {
            stress(region, inst, &mut stressed, &mut dice);
        }
        region.blocks[at].insts = stressed;
    }
}

/// Puts an instruction behind what makes it leave at random.
fn stress(region: &mut Region, mut inst: Inst, to: &mut Vec<Inst>, dice: &mut Dice) {
    let exit = match inst.kind {
        // It is the second half of a call, whose unit of fuel has been counted.
        Kind::FrameOpen { .. } => None,
        kind => kind.exit(),
    };
    let odds = dice.odds(matches!(inst.kind, Kind::Tick { .. }));
    let (Some(exit), true) = (exit, odds > 0) else { return to.push(inst) };
    let chance = Kind::Chance { counter: counter(region), odds };
    let luck = push(region, to, chance, &[]);
    if let Kind::Guard { .. } = inst.kind {
        let both = Kind::Op { op: Op::And, ty: Ty::Bool, from: Ty::Bool };
        inst.args[0] = push(region, to, both, &[inst.args[0], luck]);
    } else {
        to.push(Inst { kind: Kind::Guard { exit }, args: vec![luck], result: None });
    }
    to.push(inst);
}

/// An instruction that gives a uniform bool.
fn push(region: &mut Region, to: &mut Vec<Inst>, kind: Kind, args: &[Value]) -> Value {
    let result = region.new_value(Type::BOOL);
    to.push(Inst { kind, args: args.to_vec(), result: Some(result) });
    result
}

fn counter(region: &mut Region) -> u32 {
    region.counters.push(Counter::Chance);
    region.counters.len() as u32 - 1
}

/// What [`Kind::Chance`] gives: an execution is told by how many there were before.
pub(crate) fn is_lucky(counter: u32, odds: u32, before: u64) -> bool {
    mix(before ^ (counter as u64) << 40) >> 48 >= odds as u64
}

/// Returns whether a place is one of those that are chosen at random: one of so many.
pub(crate) fn is_chosen(seed: u64, (function, pc): (FuncId, u32), of: u64) -> bool {
    mix(seed ^ (function.0 as u64) << 32 ^ pc as u64).is_multiple_of(of)
}

/// Bits that look random, from bits that do not (the finaliser of the generator splitmix64).
pub(crate) fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Random numbers for making a region.
struct Dice(u64);

impl Dice {
    /// How often of 65536 times an exit is taken. Some never, so that what lies behind is reached; some always.
    fn odds(&mut self, is_poll: bool) -> u32 {
        self.0 = mix(self.0);
        let odds = [0, 1 << 8, 1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16];
        let polls = [0, 0, 0, 0, 0, 1 << 8, 1 << 11, 1 << 13];
        let choices = if is_poll { polls } else { odds };
        choices[(self.0 % 8) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_is_as_the_odds_say() {
        let unlucky = |odds| (0..10_000).filter(|&n| !is_lucky(3, odds, n)).count();
        assert_eq!(unlucky(0), 0);
        assert_eq!(unlucky(1 << 16), 10_000);
        assert!((4_500..5_500).contains(&unlucky(1 << 15)));
    }
}
