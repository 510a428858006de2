//! The back end `ir`: interprets a region with the scalar meanings of `vm::sem`.
//!
//! It is the specification of the IR. Every value is a row of words, one per lane (or one in all, if it is uniform), and
//! every instruction is executed by [`meaning`] in the most direct way. When this differs from the interpreter, the
//! recorder or a pass is wrong; when native code differs from this, its back end is.

pub(crate) mod bounds;
mod exits;
pub(crate) mod meaning;

use crate::backend::{Backend, CompileError, Executable};
use crate::ir::{BlockId, Edge, End, ExitId, Inst, Kind, Region, Value};
use crate::lowering::runtime;
use meaning::{Meaning, bits_of};
use spmdvm_vm::interp::native::Context;
use std::sync::Arc;

/// The back end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ir;

impl Backend for Ir {
    fn name(&self) -> &'static str {
        "ir"
    }

    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
        let meanings = |insts: &[Inst]| insts.iter().map(|inst| Meaning::of(&region, inst)).collect();
        let meanings = region.blocks.iter().map(|b| meanings(&b.insts)).collect::<Result<_, _>>()?;
        let mut starts = Vec::with_capacity(region.types.len());
        let mut words = 0;
        for ty in &region.types {
            starts.push(words);
            words += if ty.is_varying() { region.width.lanes() } else { 1 };
        }
        Ok(Box::new(Interpreted { region, meanings, starts, words }))
    }
}

/// A region, ready to be interpreted.
struct Interpreted {
    region: Arc<Region>,
    /// For every block, what its instructions do.
    meanings: Vec<Vec<Meaning>>,
    /// Where each value's words start.
    starts: Vec<usize>,
    /// Words of all values.
    words: usize,
}

impl Executable for Interpreted {
    unsafe fn run(&self, context: &mut Context) -> ExitId {
        let mut state = State { code: self, words: vec![0; self.words], is_written: false };
        let mut block = BlockId(0);
        loop {
            // SAFETY: the caller's promise.
            if let Some(exit) = unsafe { state.block(block, context) } {
                if !state.is_written {
                    // SAFETY: the caller's promise: frames and `words` have room for what exits write.
                    unsafe { exits::write(&self.region, exit, context, |v| state.value(v)) };
                }
                return exit;
            }
            match &self.region.block(block).end {
                End::Jump(edge) => block = state.follow(edge),
                End::Branch { cond, then, other } => {
                    block = state.follow(if state.value(*cond)[0] != 0 { then } else { other });
                }
                End::Exit(_) => unreachable!("the block has left"),
            }
        }
    }
}

/// Operands for which no memory is allocated.
const FEW: usize = 4;

/// The values of a run.
struct State<'a> {
    code: &'a Interpreted,
    words: Vec<u64>,
    /// Whether the state has been written of the exit that is taken.
    is_written: bool,
}

impl State<'_> {
    fn value(&self, v: Value) -> &[u64] {
        let start = self.code.starts[v.index()];
        let lanes = if self.code.region.ty(v).is_varying() { self.code.region.width.lanes() } else { 1 };
        &self.words[start..start + lanes]
    }

    fn set(&mut self, v: Value, words: &[u64]) {
        let start = self.code.starts[v.index()];
        self.words[start..start + words.len()].copy_from_slice(words);
    }

    /// Executes a block's instructions; gives the exit if it leaves the region.
    ///
    /// # Safety
    /// The contract of [`Executable::run`].
    unsafe fn block(&mut self, block: BlockId, context: &mut Context) -> Option<ExitId> {
        let code = self.code;
        let body = code.region.block(block);
        let mut out = [0; 64];
        for (inst, meaning) in body.insts.iter().zip(&code.meanings[block.index()]) {
            if let Some(exit) = inst.kind.exit().filter(|_| inst.kind.is_call()) {
                // SAFETY: the caller's promise, as where the region is left; the exit is the region's own.
                match unsafe { self.call(inst, exit, context) } {
                    true => continue,
                    false => return Some(exit),
                }
            }
            out[..code.region.width.lanes()].fill(0);
            let (mut few, many): ([&[u64]; FEW], Vec<&[u64]>);
            let args = if inst.args.len() <= FEW {
                few = [&[]; FEW];
                few.iter_mut().zip(&inst.args).for_each(|(arg, &a)| *arg = self.value(a));
                &few[..inst.args.len()]
            } else {
                many = inst.args.iter().map(|&a| self.value(a)).collect();
                &many
            };
            // SAFETY: the caller's promise.
            if !unsafe { meaning.execute(args, &mut out, context) } {
                return inst.kind.exit();
            }
            if let Some(result) = inst.result {
                let n = self.value(result).len();
                self.set(result, &out[..n]);
            }
        }
        match body.end {
            End::Exit(exit) => Some(exit),
            _ => None,
        }
    }

    /// Makes a call; gives `false` if the region is to be left by the exit.
    ///
    /// # Safety
    /// As for [`block`](Self::block).
    unsafe fn call(&mut self, inst: &Inst, exit: ExitId, context: &mut Context) -> bool {
        let region = &*self.code.region;
        let mut mask = 0;
        if let (Kind::Call { site, .. }, Some((&lanes, args))) = (inst.kind, inst.args.split_last()) {
            let site = &region.call_sites[site as usize];
            let frame = context.base.wrapping_add(site.at as usize);
            for (&(at, ty), &arg) in site.params.iter().zip(args) {
                // SAFETY: the caller's promise: there is room for the frames that the region makes.
                unsafe {
                    exits::write_register(frame.wrapping_add(at as usize), ty, self.value(arg), region.width.lanes())
                };
            }
            mask = bits_of(self.value(lanes));
        } else {
            // SAFETY: as where the region is left.
            unsafe { exits::write(region, exit, context, |v| self.value(v)) };
        }
        // SAFETY: likewise.
        let has_returned = unsafe { runtime::call(context, exit.0.into(), mask) != 0 };
        self.is_written = !has_returned && matches!(inst.kind, Kind::CallIndirect { .. });
        has_returned
    }

    /// Hands the arguments of an edge to the block's parameters, all at once.
    fn follow(&mut self, edge: &Edge) -> BlockId {
        let args: Vec<Vec<u64>> = edge.args.iter().map(|&a| self.value(a).to_vec()).collect();
        let code = self.code;
        for (&param, words) in code.region.block(edge.to).params.iter().zip(&args) {
            self.set(param, words);
        }
        edge.to
    }
}
