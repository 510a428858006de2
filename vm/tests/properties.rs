//! What is said of lanes before a run, against what random programs do.

use spmdvm_generate::{Options, generate};
use spmdvm_vm::observe::{Observer, View};
use spmdvm_vm::program::{FuncId, Function, Reg};
use spmdvm_vm::properties::{Lanes, Mask, Properties};
use spmdvm_vm::types::{Shape, Width};
use spmdvm_vm::{Arg, Limits, Machine, verify};

/// Compares what is said of registers with what they hold.
struct Witness {
    properties: Vec<Properties>,
    /// For each function and instruction, the operands with what is said of them.
    said: Vec<Vec<Vec<(Reg, Lanes)>>>,
    telling: usize,
}

impl Observer for Witness {
    fn before(&mut self, view: &View<'_>) {
        let (f, at) = (view.function_id().0 as usize, view.pc());
        let mask = self.properties[f].mask(at).expect("it is reached");
        assert!(mask != Mask::All || view.mask().count_ones() as usize == view.lanes(), "{f} at {at}");
        for &(r, said) in &self.said[f][at as usize] {
            let Some(stride) = said.stride else { continue };
            let decl = view.function().reg(r);
            if decl.shape == Shape::Uniform || !decl.ty.is_int() {
                continue;
            }
            let most = u64::MAX >> (64 - 8 * decl.ty.size());
            let held = view.register(r);
            let active: Vec<usize> = (0..view.lanes()).filter(|&l| view.mask() >> l & 1 != 0).collect();
            let firsts: Vec<u64> = active
                .iter()
                .map(|&l| held.words[l].wrapping_sub((stride as u64).wrapping_mul(l as u64)) & most)
                .collect();
            let zeros = (1u64 << said.zeros) - 1;
            let fits = firsts.windows(2).all(|w| w[0] == w[1]) && firsts.iter().all(|x| x & zeros & most == 0);
            assert!(fits, "{f} at {at}: {r:?} is not {said:?}: {held:?} under {:#x}", view.mask());
            self.telling += (active.len() > 1) as usize;
        }
    }
}

#[test]
fn what_is_said_of_lanes_is_so_in_random_programs() {
    let mut telling = 0;
    for seed in 0..60 {
        let program = generate(seed, &Options::default());
        let width = program.width;
        let properties: Vec<Properties> = program.functions.iter().map(|f| Properties::new(f, width)).collect();
        let said = program.functions.iter().zip(&properties).map(|(f, p)| said(f, width, p)).collect();
        let mut witness = Witness { properties, said, telling: 0 };
        let limits = Limits { fuel: Some(2000), ..Limits::default() };
        let params: Vec<usize> = program.functions.iter().map(|f| f.n_params as usize).collect();
        let mut machine = Machine::new(verify(program).unwrap(), limits).unwrap();
        for (f, &n) in params.iter().enumerate() {
            let args = vec![Arg::Word(3); n];
            let _ = machine.call_observed(FuncId(f as u32), &args, width.full_mask(), &mut witness);
        }
        telling += witness.telling;
    }
    assert!(telling > 1000, "{telling}");
}

fn said(f: &Function, width: Width, p: &Properties) -> Vec<Vec<(Reg, Lanes)>> {
    let operands = |at: usize| {
        let regs = f.code[at].src.into_iter().filter(|r| !r.is_none());
        regs.filter_map(|r| Some((r, p.lanes(f, width, r, at as u32)?))).collect()
    };
    (0..f.code.len()).map(operands).collect()
}
