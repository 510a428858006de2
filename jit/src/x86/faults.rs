//! Faults of the back end: machine instructions that it would make if it were wrong.

use super::X86;
use super::inst::{Arg, Base, Cond, Plain};
use super::level::Level;
use crate::vcode::{ExitStub, Inst, StubValue, VCode};
use iced_x86::Code;
use spmdvm_vm::faults::{Fault, Turns, planted};
use std::collections::HashMap;
use std::sync::OnceLock;

/// What a fault does.
#[derive(Clone, Copy)]
pub enum Act {
    /// Another instruction of the encoder for one that it concerns.
    Plain(fn(&Encoded) -> Option<Encoded>),
    /// Another condition of a guard.
    Guard(fn(u8) -> Option<u8>),
    /// Other writes on a side exit.
    SideExit(fn(&Leaving) -> Option<Leaving>),
}

/// An instruction.
#[derive(Clone)]
pub struct Encoded(Plain);

/// A side exit.
#[derive(Clone)]
pub struct Leaving(ExitStub);

macro_rules! faults {
    ($($name:literal, $what:literal, $act:expr;)*) => {
        /// The faults.
        pub static TABLE: &[Fault<Act>] = &[$(Fault { name: $name, part: "x86", what: $what, act: $act }),*];
    };
}

faults! {
    "x86-compare-equal", "`lt` of integers is `le`, and `gt` is `ge`", Act::Plain(|i| match i.name_has("EVEX_Vpcmp") {
        true => i.with_imm(|imm| match imm {
            1 => Some(2),
            6 => Some(5),
            _ => None,
        }),
        false => None,
    });
    "x86-compare-sign", "vectors of integers are compared without their sign", Act::Plain(|i| {
        ["b", "w", "d", "q"].iter().find_map(|size| i.renamed(&format!("EVEX_Vpcmp{size}_"), &format!("EVEX_Vpcmpu{size}_")))
    });
    "x86-compare-nan", "comparisons of floats hold for NaNs", Act::Plain(|i| match i.name_has("EVEX_Vcmpp") {
        true => i.with_imm(|imm| match imm {
            1 | 2 | 17 | 18 => Some(imm + 8),
            13 | 14 | 29 | 30 => Some(imm - 8),
            _ => None,
        }),
        false => None,
    });
    "x86-blend-arms", "a blend takes the other operand", Act::Plain(|i| i.renamed("blendm", "blendm")?.exchanged(1, 2));
    "x86-blend-mask", "a blend has no mask", Act::Plain(|i| i.renamed("blendm", "blendm")?.unmasked());
    "x86-store-mask", "a masked store has no mask", Act::Plain(|i| match i.0.args[0] {
        Some(Arg::Mem(_)) => i.unmasked(),
        _ => None,
    });
    "x86-merge-mask", "an instruction that changes some lanes changes all", Act::Plain(|i| match i.0.args[0] {
        Some(Arg::Tied { .. }) if !i.0.zeroing => i.unmasked(),
        _ => None,
    });
    "x86-zero-mask", "lanes that should become 0 do not", Act::Plain(|i| match i.0.args[1] {
        Some(Arg::Use(..)) if i.0.zeroing => i.unmasked(),
        _ => None,
    });
    "x86-shift-sign", "vectors are shifted without their sign", Act::Plain(|i| i.renamed("EVEX_Vpsra", "EVEX_Vpsrl"));
    "x86-scalar-shift-sign", "scalars are shifted without their sign", Act::Plain(|i| i.renamed("Sar_", "Shr_").or_else(|| i.renamed("Sarx_", "Shrx_")));
    "x86-extreme-sign", "minimum and maximum of integers do not mind the sign", Act::Plain(|i| {
        i.renamed("Vpmins", "Vpminu").or_else(|| i.renamed("Vpmaxs", "Vpmaxu"))
    });
    "x86-float-extreme", "the operands of minimum and maximum of floats are exchanged", Act::Plain(|i| {
        ["Vminp", "Vmaxp"].iter().find_map(|name| i.renamed(name, name)?.exchanged(1, 2))
    });
    "x86-floor", "`floor` and `ceil` round toward zero", Act::Plain(|i| match i.name_has("Vrndscale") {
        true => i.with_imm(|imm| matches!(imm, 9 | 10).then_some(11)),
        false => None,
    });
    "x86-extend-sign", "vectors of small integers are extended without their sign", Act::Plain(|i| i.renamed("EVEX_Vpmovsx", "EVEX_Vpmovzx"));
    "x86-scalar-extend-sign", "small scalars are extended without their sign", Act::Plain(|i| i.renamed("Movsx_", "Movzx_"));
    "x86-from-unsigned", "unsigned integers become floats as if they had a sign", Act::Plain(|i| {
        i.renamed("Vcvtudq2p", "Vcvtdq2p").or_else(|| i.renamed("Vcvtuqq2p", "Vcvtqq2p"))
    });
    "x86-truncation", "floats are rounded when they become integers", Act::Plain(|i| {
        ["Vcvttps2", "Vcvttpd2"].iter().find_map(|name| i.renamed(name, &name.replace("tt", "t")))
    });
    "x86-narrowing", "integers that are made smaller saturate", Act::Plain(|i| {
        ["db", "dw", "qb", "qw", "qd", "wb"].iter().find_map(|size| i.renamed(&format!("Vpmov{size}_"), &format!("Vpmovs{size}_")))
    });
    "x86-load-element", "loads of vectors begin one element later", Act::Plain(|i| {
        let loads = matches!((i.0.args[0], i.0.args[1]), (Some(Arg::Def(..)), Some(Arg::Mem(mem))) if matches!(mem.base, Base::Reg(_)));
        let mut other = i.clone();
        match &mut other.0.args[1] {
            Some(Arg::Mem(mem)) if loads && i.name_has("EVEX_Vmov") => mem.disp += 4,
            _ => return None,
        }
        Some(other)
    });
    "x86-upper-half", "the upper half of a vector is the lower one", Act::Plain(|i| match i.name_has("EVEX_Vextracti") {
        true => i.with_imm(|imm| (imm == 1).then_some(0)),
        false => None,
    });
    "x86-extract-lane", "an element is taken from the lane beside", Act::Plain(|i| match i.name_has("EVEX_Vpextr") || i.name_has("EVEX_Vextractps") {
        true => i.with_imm(|imm| Some(imm ^ 1)),
        false => None,
    });
    "x86-insert-lane", "an element is put into the lane beside", Act::Plain(|i| match (i.name_has("EVEX_Vpinsr"), i.name_has("EVEX_Vinsertps")) {
        (true, _) => i.with_imm(|imm| Some(imm ^ 1)),
        (_, true) => i.with_imm(|imm| Some(imm ^ 0x10)),
        _ => None,
    });
    "x86-permutation", "a permutation takes its indices for the values", Act::Plain(|i| i.renamed("Vpermd_", "Vpermd_")?.exchanged(1, 2));
    "x86-mask-or", "masks are joined where they should be intersected", Act::Plain(|i| i.renamed("VEX_Kandq_", "VEX_Korq_"));
    "x86-mask-without", "a mask without another is the other without it", Act::Plain(|i| i.renamed("VEX_Kandnq_", "VEX_Kandnq_")?.exchanged(1, 2));
    "x86-mask-part", "the part of a mask for a vector begins one lane early", Act::Plain(|i| match i.name_has("VEX_Kshiftrq_") {
        true => i.with_imm(|imm| Some(imm - 1)),
        false => None,
    });
    "x86-fma-operands", "a product and sum multiplies by what it should add", Act::Plain(|i| {
        i.renamed("Vfmadd213", "Vfmadd231").or_else(|| i.renamed("Vfmadd231", "Vfmadd213"))
    });
    "x86-fma-sign", "a product that is to be subtracted is added", Act::Plain(|i| {
        i.renamed("Vfnmadd", "Vfmadd").or_else(|| i.renamed("Vfnmsub", "Vfmsub"))
    });
    "x86-rotation", "bits go round the other way", Act::Plain(|i| i.renamed("EVEX_Vprol", "EVEX_Vpror"));
    "x86-test-bits", "a test for common bits tells where there are none", Act::Plain(|i| i.renamed("Vptestm", "Vptestnm"));
    "x86-bound", "a guard lets one index more pass", Act::Guard(|cond| match Cond(cond) {
        Cond::ABOVE_OR_EQUAL => Some(Cond::ABOVE.0),
        _ => None,
    });
    "x86-exit-write", "a side exit leaves out what it should write last", Act::SideExit(|out| {
        let mut out = out.clone();
        out.0.writes.pop()?;
        Some(out)
    });
    "x86-exit-computed", "a side exit does not compute what it should compute last", Act::SideExit(|out| {
        let mut out = out.clone();
        out.0.computed.pop()?;
        Some(out)
    });
    "x86-exit-masks", "a side exit writes one mask in the place of another", Act::SideExit(|out| {
        let mut out = out.clone();
        let masks = out.0.writes.iter().filter_map(|write| match write.what {
            StubValue::MaskBits(r) => Some(r),
            _ => None,
        });
        let masks: Vec<_> = masks.collect();
        let other = *masks.iter().find(|&&r| r != masks[0])?;
        let first = out.0.writes.iter_mut().find(|write| matches!(write.what, StubValue::MaskBits(_)))?;
        first.what = StubValue::MaskBits(other);
        Some(out)
    });
}

/// Changes machine instructions as the fault that is planted does.
pub(super) fn spoil<L: Level>(code: &mut VCode<X86<L>>) {
    let Some(fault) = planted(TABLE) else { return };
    let mut turns = Turns::default();
    match fault.act {
        Act::Plain(act) => code.insts.iter_mut().for_each(|inst| {
            if let Inst::Plain(plain) = inst {
                let other = act(&Encoded((**plain).clone())).map(|other| other.0);
                turns.put(&mut **plain, other);
            }
        }),
        Act::Guard(act) => code.insts.iter_mut().for_each(|inst| {
            if let Inst::Guard(cond, _) = inst {
                turns.put(cond, act(cond.0).map(Cond));
            }
        }),
        Act::SideExit(act) => {
            code.exit_stubs.iter_mut().for_each(|out| turns.put(out, act(&Leaving(out.clone())).map(|other| other.0)));
        }
    }
}

impl Encoded {
    fn name(&self) -> String {
        format!("{:?}", self.0.code)
    }

    fn name_has(&self, part: &str) -> bool {
        self.name().contains(part)
    }

    /// The instruction whose name differs in a part, on the same operands.
    fn renamed(&self, part: &str, other: &str) -> Option<Encoded> {
        let name = self.name();
        let renamed = name.contains(part).then(|| name.replace(part, other))?;
        // Instructions that round have another way to say that they raise no exceptions.
        let code = code_named(&renamed).or_else(|| code_named(&renamed.replace("_sae", "_er")))?;
        Some(Encoded(Plain { code, ..self.0.clone() }))
    }

    /// With another number as the last operand.
    fn with_imm(&self, other: fn(i64) -> Option<i64>) -> Option<Encoded> {
        let mut plain = self.0.clone();
        let imm = plain.args.iter_mut().flatten().rev().find_map(|arg| match arg {
            Arg::Imm(_, imm) => Some(imm),
            _ => None,
        })?;
        *imm = other(*imm)?;
        Some(Encoded(plain))
    }

    /// With two operands in the other order, if both are in registers and not the same.
    fn exchanged(&self, a: usize, b: usize) -> Option<Encoded> {
        let mut plain = self.0.clone();
        let registers =
            matches!((plain.args[a], plain.args[b]), (Some(Arg::Use(x, _)), Some(Arg::Use(y, _))) if x != y);
        plain.args.swap(a, b);
        registers.then_some(Encoded(plain))
    }

    fn unmasked(&self) -> Option<Encoded> {
        self.0.mask.map(|_| Encoded(Plain { mask: None, zeroing: false, ..self.0.clone() }))
    }
}

/// The instruction of a name.
fn code_named(name: &str) -> Option<Code> {
    static CODES: OnceLock<HashMap<String, Code>> = OnceLock::new();
    let codes = CODES.get_or_init(|| Code::values().map(|code| (format!("{code:?}"), code)).collect());
    codes.get(name).copied()
}
