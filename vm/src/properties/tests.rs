//! What is said of lanes, in small functions and against what random programs do.

use super::*;
use crate::asm::assemble;
use crate::generate::{Options, generate};
use crate::observe::{Observer, View};
use crate::program::FuncId;
use crate::{Arg, Limits, Machine, Shape, verify};

fn parse(text: &str) -> Function {
    let program = assemble(&format!(".width 8\n{text}")).unwrap_or_else(|e| panic!("{e:?}"));
    verify(program.clone()).unwrap_or_else(|e| panic!("{e:?}"));
    program.functions[0].clone()
}

/// The loads and stores of a function, in their order.
fn accesses(text: &str) -> Vec<Access> {
    let f = parse(text);
    let found = Properties::new(&f, Width::new(8).unwrap());
    (0..f.code.len() as u32).filter_map(|at| found.access(at)).collect()
}

/// `for (int i = programIndex; i < n; i += 8) b[i] = a[i] + a[3 * i]`, with an `if` around the store.
const LOOP: &str = "func f(u0:i32, u1:u64, u2:u64) {
  const u3:i32 = 8
  const u4:i32 = 3
  var v5:i32, v6:bool, v7:f32, v8:i32, v9:f32, v10:f32, v11:i32, v12:bool
  v5 = iota
  loop.begin
L1:
  v6 = lt.i32 v5, u0
  loop.test v6, L2
  v7 = load.f32.i32 [u1 + v5*4]
  v8 = mul.i32 v5, u4
  v9 = load.f32.i32 [u1 + v8*4]
  v10 = add.f32 v7, v9
  v12 = lt.f32 v7, v9
  mask.if v12, L3
  store.f32.i32 [u2 + v5*4], v10
L3:
  mask.endif L6
  store.f32.i32 [u2 + v5*4], v9
  v11 = add.i32 v5, u3
  v5 = assign.i32 v11
L6:
  loop.back L1
L2:
  loop.end L5
L5:
  ret
}";

#[test]
fn a_counter_that_is_assigned_under_a_mask_stays_consecutive_in_active_lanes() {
    let row = Access::Consecutive { aligned: true };
    assert_eq!(accesses(LOOP), [row, Access::Strided(12), row, row]);
    let f = parse(LOOP);
    let found = Properties::new(&f, Width::new(8).unwrap());
    assert_eq!(found.loops().len(), 1);
    assert!(found.loops()[0].divergent);
    let at = |op| f.code.iter().position(|i| i.op == op).unwrap() as u32;
    assert_eq!(found.mask(at(Op::LoopBegin)), Some(Mask::Entry));
    assert_eq!(found.mask(at(Op::Store)), Some(Mask::Some));
    // It is reached without lanes too.
    assert_eq!(found.mask(at(Op::Ret)), Some(Mask::Some));
    // After the loop lanes that left it early hold other values.
    assert_eq!(found.lanes(&f, Width::new(8).unwrap(), Reg(5), at(Op::Ret)), Some(Lanes::VARYING));
}

#[test]
fn lanes_that_come_back_bring_what_they_had() {
    let text = "func f(v0:bool, u1:u64) {
  const u2:i32 = 16
  var v3:i32, v4:i32, v5:i32, v6:f32
  v3 = iota
  v4 = add.i32 v3, u2
  v5 = mov.i32 v4
  mask.if v0, L1
  v5 = assign.i32 v3
  v6 = load.f32.i32 [u1 + v5*4]
L1:
  mask.else L2
  v6 = load.f32.i32 [u1 + v5*4]
  v6 = load.f32.i32 [u1 + v4*4]
L2:
  mask.endif L3
  v6 = load.f32.i32 [u1 + v5*4]
L3:
  ret
}";
    let row = |aligned| Access::Consecutive { aligned };
    // In the second part v5 is still v4 in fact, but it may have been written.
    assert_eq!(accesses(text), [row(true), Access::Varying, row(true), Access::Varying]);
}

#[test]
fn uniform_loops_do_not_part_lanes() {
    let text = "func f(u0:i32, v1:f32) {
  const u2:i32 = 1
  const u3:i32 = 0
  var u4:i32, u5:bool
  u4 = mov.i32 u3
  everywhere
L1:
  u4 = add.i32 u4, u2
  u5 = lt.i32 u4, u0
  br.true u5, L1
  everywhere.end L2
L2:
  ret
}";
    let f = parse(text);
    let found = Properties::new(&f, Width::new(8).unwrap());
    assert_eq!(found.loops(), [LoopInfo { head: 2, back: 4, divergent: false }]);
    assert_eq!(found.mask(3), Some(Mask::All));
}

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
