//! Flags that are there already: one test of a mask tells whether it has all lanes and whether it has any, and where both are asked one
//! after the other, the second test is left out.
//!
//! Rules: the flags of a block's last instruction but its branch are those that its successors begin with; no other way leads to them, and
//! nothing is between but what counts in vectors. What the register allocator puts there moves values. Neither changes flags.

use super::X86;
use super::inst::Plain;
use super::level::Level;
use crate::vcode::{Inst, VCode};
use iced_x86::Code;

/// Leaves tests out that have just been made.
pub(super) fn run<L: Level>(code: &mut VCode<X86<L>>) {
    let blocks = code.blocks();
    let mut kept = vec![true; code.insts.len()];
    for (block, range) in blocks.iter().enumerate() {
        let before =
            code.only_predecessor(block).map(|before| blocks[before].clone()).filter(|before| before.len() > 1);
        let known = before.and_then(|before| test_at(code, before.end - 2));
        // The last instruction is the branch.
        let first = (range.start..range.end - 1).find(|&at| !counts(&code.insts[at]));
        if let Some(at) = first.filter(|&at| known.is_some() && known == test_at(code, at)) {
            kept[at] = false;
        }
    }
    code.retain(&kept);
}

/// The test of a mask that an instruction is.
fn test_at<L: Level>(code: &VCode<X86<L>>, at: usize) -> Option<&Plain> {
    let Inst::Plain(plain) = &code.insts[at] else { return None };
    let tests = matches!(
        plain.code,
        Code::VEX_Kortestb_kr_kr | Code::VEX_Kortestw_kr_kr | Code::VEX_Kortestd_kr_kr | Code::VEX_Kortestq_kr_kr
    );
    tests.then_some(plain)
}

/// Returns whether an instruction adds to the counters.
fn counts<L: Level>(inst: &Inst<X86<L>>) -> bool {
    let codes = [Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32, Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32];
    matches!(inst, Inst::Plain(plain) if codes.contains(&plain.code))
}
