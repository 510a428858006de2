//! The code that exits share.
//!
//! Exits of a region write much the same: what the loop was entered with, what its rounds change. So the writes of all exits
//! form a tree, those of most exits nearest to the root; an exit enters it at the last of its own writes, and every node goes
//! on to its parent, up to the root, which returns. (A prefix tree, as Han, Pei and Yin made it of sets in "Mining Frequent
//! Patterns without Candidate Generation", 2000.)
//!
//! A node uses values that were at hand at each of the exits below it, so they dominate the node.

use super::exit_values::{Materialisation, Slot};
use super::translate::Translator;
use crate::ir::ExitId;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types};
use foldhash::HashMap;
use std::cmp::Reverse;

/// A write, by its number.
type Number = usize;

/// The exits met in translation.
#[derive(Default)]
pub(super) struct ExitStubs {
    numbers: HashMap<(Slot, Materialisation), Number>,
    exits: Vec<ExitStub>,
    /// Where the exit's number waits to be returned.
    number_slot: Option<StackSlot>,
}

struct ExitStub {
    /// The jump that ends the exit's own code, and its target, which is empty so far.
    jump: clif::Inst,
    block: clif::Block,
    writes: Vec<Number>,
}

/// The tree of writes.
struct Tree {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// What is written; nothing at the root.
    write: Option<Number>,
    parent: usize,
    children: HashMap<Number, usize>,
    /// The exits that enter here, by index.
    exits: Vec<usize>,
}

impl Tree {
    fn new(exits: &[ExitStub], n_writes: usize) -> Tree {
        let mut holders = vec![0usize; n_writes];
        exits.iter().flat_map(|e| &e.writes).for_each(|&w| holders[w] += 1);
        let mut tree = Tree { nodes: vec![Node::default()] };
        for (i, exit) in exits.iter().enumerate() {
            let mut writes = exit.writes.clone();
            writes.sort_by_key(|&w| (Reverse(holders[w]), w));
            let at = writes.into_iter().fold(0, |at, write| tree.child(at, write));
            tree.nodes[at].exits.push(i);
        }
        tree
    }

    fn child(&mut self, parent: usize, write: Number) -> usize {
        let next = self.nodes.len();
        let child = *self.nodes[parent].children.entry(write).or_insert(next);
        if child == next {
            self.nodes.push(Node { write: Some(write), parent, ..Node::default() });
        }
        child
    }

    /// Returns whether code comes here from more than one place, or from an exit.
    fn is_entered(&self, node: usize) -> bool {
        let node = &self.nodes[node];
        !node.exits.is_empty() || node.children.len() > 1
    }
}

impl Translator<'_> {
    /// Ends the code of an exit: the rest of what it writes may be shared.
    pub(super) fn leave_by(&mut self, exit: ExitId, writes: Vec<(Slot, Materialisation)>) {
        let number = self.b.ins().iconst(types::I32, exit.0 as i64);
        let slot = self.number_slot();
        self.stack_store(number, slot, 0);
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        let jump = self.b.ins().jump(block, &[]);
        let numbers = &mut self.exit_stubs.numbers;
        let mut number = |write| {
            let next = numbers.len();
            *numbers.entry(write).or_insert(next)
        };
        let writes = writes.into_iter().map(&mut number).collect();
        self.exit_stubs.exits.push(ExitStub { jump, block, writes });
    }

    fn number_slot(&mut self) -> StackSlot {
        *self.exit_stubs.number_slot.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 4, 2))
        })
    }

    /// Makes the code that exits share.
    pub(super) fn make_exit_stubs(&mut self) {
        let ExitStubs { numbers, exits, number_slot } = std::mem::take(&mut self.exit_stubs);
        let mut writes: Vec<_> = numbers.into_iter().collect();
        writes.sort_unstable_by_key(|&(_, number)| number);
        let tree = Tree::new(&exits, writes.len());
        let blocks: Vec<_> = (0..tree.nodes.len()).map(|node| self.entrance(&tree, &exits, node)).collect();
        for (node, block) in blocks.iter().enumerate() {
            let Some(block) = *block else { continue };
            self.b.switch_to_block(block);
            let mut at = node;
            while let Some(write) = tree.nodes[at].write {
                let (place, materialisation) = &writes[write].0;
                let pieces = self.materialise(materialisation);
                self.write(*place, &pieces);
                at = tree.nodes[at].parent;
                if blocks[at].is_some() {
                    break;
                }
            }
            match blocks[at] {
                Some(next) if at != node => {
                    self.b.ins().jump(next, &[]);
                }
                _ => self.return_number(number_slot),
            }
        }
    }

    /// The block with which the code from a node on begins, if code from elsewhere comes there.
    fn entrance(&mut self, tree: &Tree, exits: &[ExitStub], node: usize) -> Option<clif::Block> {
        if !tree.is_entered(node) {
            return None;
        }
        let Some((first, others)) = tree.nodes[node].exits.split_first() else {
            let block = self.b.create_block();
            self.b.set_cold_block(block);
            return Some(block);
        };
        let block = exits[*first].block;
        for &other in others {
            let ExitStub { jump, block: empty, .. } = exits[other];
            self.b.change_jump_destination(jump, empty, block);
        }
        Some(block)
    }

    fn return_number(&mut self, slot: Option<StackSlot>) {
        let slot = slot.expect("an exit has stored its number");
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        let number = self.b.ins().load(types::I32, MemFlagsData::trusted(), at, 0);
        self.b.ins().return_(&[number]);
    }
}
