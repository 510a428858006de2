//! Edges between blocks: what they hand over in registers, and what to homes on the stack.

use super::homes::Home;
use super::translate::Translator;
use crate::ir::Edge;
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder};
use spmdvm_vm::types::Ty;

/// What an edge hands over.
pub(super) struct Passing {
    to: clif::Block,
    args: Vec<BlockArg>,
    /// What goes to homes on the stack.
    stored: Vec<(clif::Value, u32)>,
}

impl Translator<'_> {
    /// What an edge hands to the parameters of its block.
    pub(super) fn edge(&mut self, edge: &Edge) -> Passing {
        let region = self.region;
        let (mut args, mut stored) = (Vec::new(), Vec::new());
        for (&param, &arg) in region.block(edge.to).params.iter().zip(&edge.args) {
            let n = self.types_of(param).len();
            for i in 0..n {
                let x = match region.ty(arg) {
                    ty if !ty.is_varying() => self.scalar(arg),
                    ty if ty.ty == Ty::Bool => self.mask(arg, self.plan.lane_width(param), i),
                    _ => self.piece(arg, i),
                };
                match self.homes.of(param) {
                    // It may be at home already: what does not change in a loop.
                    Some(Home::Stack(_)) if arg == param => {}
                    Some(Home::Stack(at)) => stored.push((x, at + 16 * i as u32)),
                    _ => args.push(x.into()),
                }
            }
        }
        let again = self.keeping.as_ref().filter(|_| edge.to == self.block);
        Passing { to: again.map_or(self.blocks[edge.to.index()], |k| k.head), args, stored }
    }

    /// Where a branch leads to take an edge: if values are to be stored, to a block of the edge's own.
    pub(super) fn way(&mut self, edge: Passing) -> (clif::Block, Vec<BlockArg>, Option<Passing>) {
        if edge.stored.is_empty() {
            (edge.to, edge.args, None)
        } else {
            (self.b.create_block(), Vec::new(), Some(edge))
        }
    }

    /// Takes an edge.
    pub(super) fn go(&mut self, edge: Passing) {
        for (x, at) in edge.stored {
            self.store_home(x, at);
        }
        self.b.ins().jump(edge.to, &edge.args);
    }
}
