//! What is said of lanes before a run, against what random programs do.

use spmdvm_generate::{Options, generate};
use spmdvm_vm::isa::Op;
use spmdvm_vm::observe::{Observer, View};
use spmdvm_vm::program::{FuncId, Function, Reg};
use spmdvm_vm::properties::{Assumed, Lanes, Mask, Properties};
use spmdvm_vm::types::{Shape, Ty, Width};
use spmdvm_vm::{Arg, Limits, Machine, verify};

/// Compares what is said of registers with what they hold.
struct Witness {
    properties: Vec<Properties>,
    /// For each function and instruction, the operands with what is said of them.
    said: Vec<Vec<Vec<(Reg, Lanes)>>>,
    /// Likewise, the registers that are said to hold the same in all lanes.
    same: Vec<Vec<Vec<bool>>>,
    telling: usize,
    telling_of_all: usize,
}

impl Witness {
    /// Returns whether what is said to be assumed is so.
    fn holds(&self, view: &View<'_>, lanes: Lanes) -> bool {
        let active = active(view);
        self.properties[view.function_id().0 as usize].given(lanes).all(|assumed| {
            let (ty, most) = (view.function().reg(assumed.reg).ty, view.lanes() as u64 - 1);
            let words = view.register(assumed.reg).words;
            let l = if words.len() == 1 { 0 } else { active[0] };
            let first = words[l].wrapping_sub((assumed.stride as u64).wrapping_mul(l as u64)) & mask_of(ty);
            match assumed.what {
                Assumed::Low(low) => first & most == low,
                Assumed::Count => first % (8 * ty.size() as u64) >= view.lanes().trailing_zeros().into(),
                Assumed::NotNegative => !ty.is_signed() || first >> (8 * ty.size() - 1) == 0,
            }
        })
    }
}

fn mask_of(ty: Ty) -> u64 {
    u64::MAX >> (64 - 8 * ty.size())
}

fn active(view: &View<'_>) -> Vec<usize> {
    (0..view.lanes()).filter(|&l| view.mask() >> l & 1 != 0).collect()
}

impl Observer for Witness {
    fn before(&mut self, view: &View<'_>) {
        let (f, at) = (view.function_id().0 as usize, view.pc());
        let mask = self.properties[f].mask(at).expect("it is reached");
        assert!(mask != Mask::All || view.mask().count_ones() as usize == view.lanes(), "{f} at {at}");
        for (r, _) in (0..).map(Reg).zip(&self.same[f][at as usize]).filter(|(_, same)| **same) {
            let words = view.register(r).words;
            assert!(words.windows(2).all(|w| w[0] == w[1]), "{f} at {at}: {r:?} differs: {words:?}");
            self.telling_of_all += (words.len() > 1) as usize;
        }
        for &(r, said) in &self.said[f][at as usize] {
            let Some(stride) = said.stride else { continue };
            let decl = view.function().reg(r);
            // Of pointers it is said as long as they stay within the range of their region.
            let may_be_far = view.function().code.iter().any(|inst| inst.op == Op::PAdd && inst.dst == r);
            let says_nothing = decl.shape == Shape::Uniform && said.bits == 0 || may_be_far;
            if says_nothing || !decl.ty.is_int() || !self.holds(view, said) {
                continue;
            }
            let most = mask_of(decl.ty);
            let held = view.register(r);
            let active = active(view);
            let word = |l: usize| held.words[l.min(held.words.len() - 1)];
            let firsts: Vec<u64> =
                active.iter().map(|&l| word(l).wrapping_sub((stride as u64).wrapping_mul(l as u64)) & most).collect();
            let known = if said.bits == 0 { 0 } else { u64::MAX >> (64 - said.bits) };
            let fits =
                firsts.windows(2).all(|w| w[0] == w[1]) && firsts.iter().all(|x| (x ^ said.low) & known & most == 0);
            assert!(fits, "{f} at {at}: {r:?} is not {said:?}: {held:?} under {:#x}", view.mask());
            self.telling += (active.len() > 1 && (decl.shape == Shape::Varying || said.given != 0)) as usize;
        }
    }
}

/// How often something is said that can be wrong.
fn compare(analyse: impl Fn(&Function, Width) -> Option<Properties>, counts: impl Fn(Lanes) -> bool) -> [usize; 2] {
    let (mut telling, mut telling_of_all) = (0, 0);
    for seed in 0..90 {
        let program = generate(seed, &Options::default());
        let width = program.width;
        let properties: Vec<Properties> =
            program.functions.iter().map(|f| analyse(f, width).unwrap_or_else(|| Properties::new(f, width))).collect();
        let said = |(f, p): (&Function, &Properties)| {
            let mut said = said(f, width, p);
            said.iter_mut().for_each(|operands| operands.retain(|(_, lanes)| counts(*lanes)));
            said
        };
        let said = program.functions.iter().zip(&properties).map(said).collect();
        let same = |(f, p): (&Function, &Properties)| {
            (0..f.code.len() as u32).map(|at| p.same_in_all_lanes(f, width, at)).collect()
        };
        let same = program.functions.iter().zip(&properties).map(same).collect();
        let mut witness = Witness { properties, said, same, telling: 0, telling_of_all: 0 };
        let limits = Limits { fuel: Some(2000), ..Limits::default() };
        let params: Vec<usize> = program.functions.iter().map(|f| f.n_params as usize).collect();
        let mut machine = Machine::new(verify(program).unwrap(), limits).unwrap();
        for (f, &n) in params.iter().enumerate() {
            for word in [3, 64] {
                let args = vec![Arg::Word(word); n];
                let _ = machine.call_observed(FuncId(f as u32), &args, width.full_mask(), &mut witness);
            }
        }
        telling += witness.telling;
        telling_of_all += witness.telling_of_all;
    }
    [telling, telling_of_all]
}

#[test]
fn what_is_said_of_lanes_is_so_in_random_programs() {
    let [telling, of_all] = compare(|f, width| Some(Properties::new(f, width)), |_| true);
    assert!(telling > 1000 && of_all > 1000, "{telling}, {of_all}");
}

#[test]
fn what_is_said_under_assumptions_is_so_where_they_hold() {
    let [telling, _] = compare(Properties::assuming, |lanes| lanes.given != 0);
    assert!(telling > 20, "{telling}");
}

fn said(f: &Function, width: Width, p: &Properties) -> Vec<Vec<(Reg, Lanes)>> {
    let operands = |at: usize| {
        let regs = f.code[at].src.into_iter().filter(|r| !r.is_none());
        regs.filter_map(|r| Some((r, p.lanes(f, width, r, at as u32)?))).collect()
    };
    (0..f.code.len()).map(operands).collect()
}
