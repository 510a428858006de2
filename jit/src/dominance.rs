//! Which blocks of a region every path to a block goes through.
//!
//! The iterative algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).

use crate::ir::{BlockId, Region};

/// A step of a tour of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To a block.
    Enter(BlockId),
    /// Away from the block entered last that has not been left.
    Leave,
}

/// The dominator tree of a region.
pub struct Dominators {
    /// Reachable blocks, each before its successors but for back edges.
    order: Vec<BlockId>,
    /// Position in `order`; `usize::MAX` for unreachable blocks.
    position: Vec<usize>,
    /// Immediate dominator, by position.
    parent: Vec<usize>,
    /// When a walk over the tree enters and leaves each node, by position: a node is below another if it is entered and left
    /// while the walk is in that.
    during: Vec<(u32, u32)>,
}

impl Dominators {
    /// Computes the tree: quadratic at worst, linear in practice.
    pub fn new(region: &Region) -> Dominators {
        Dominators::of(region.blocks.len(), |block, i| Some(region.block(block).end.edges().nth(i)?.to))
    }

    /// The same, of so many blocks. `successor` gives a block's successor of a number, and `None` after the last.
    pub fn of(n: usize, successor: impl Fn(BlockId, usize) -> Option<BlockId>) -> Dominators {
        let order = reverse_postorder(n, &successor);
        let mut position = vec![usize::MAX; n];
        for (i, b) in order.iter().enumerate() {
            position[b.index()] = i;
        }
        let mut predecessors = vec![Vec::new(); order.len()];
        for (i, &b) in order.iter().enumerate() {
            for to in (0..).map_while(|i| successor(b, i)) {
                predecessors[position[to.index()]].push(i);
            }
        }
        let mut tree = Dominators { parent: vec![usize::MAX; order.len()], order, position, during: Vec::new() };
        tree.parent[0] = 0;
        while tree.improve(&predecessors) {}
        tree.number();
        tree
    }

    /// Numbers the nodes for [`dominates`](Self::dominates). A parent comes before its children.
    fn number(&mut self) {
        let n = self.order.len();
        let mut size = vec![1u32; n];
        for i in (1..n).rev() {
            size[self.parent[i]] += size[i];
        }
        let mut next = vec![1u32; n];
        self.during = vec![(0, n as u32); n];
        for (i, &size) in size.iter().enumerate().skip(1) {
            let parent = self.parent[i];
            let enter = self.during[parent].0 + next[parent];
            next[parent] += size;
            self.during[i] = (enter, enter + size);
        }
    }

    fn improve(&mut self, predecessors: &[Vec<usize>]) -> bool {
        let mut changed = false;
        for (i, before) in predecessors.iter().enumerate().skip(1) {
            let known = before.iter().copied().filter(|&p| self.parent[p] != usize::MAX);
            let Some(best) = known.reduce(|a, b| self.meet(a, b)) else { continue };
            changed |= self.parent[i] != best;
            self.parent[i] = best;
        }
        changed
    }

    fn meet(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            while a > b {
                a = self.parent[a];
            }
            while b > a {
                b = self.parent[b];
            }
        }
        a
    }

    /// Returns whether the block can be reached.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position.get(block.index()).is_some_and(|&p| p != usize::MAX)
    }

    /// Returns whether every path to `b` goes through `a`. (A block dominates itself.)
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (a, b) = (self.position[a.index()], self.position[b.index()]);
        if a == usize::MAX || b == usize::MAX {
            return false;
        }
        let ((from, to), (at, _)) = (self.during[a], self.during[b]);
        (from..to).contains(&at)
    }

    /// Returns whether every loop of a region is entered by its first block alone.
    pub fn is_reducible(&self, region: &Region) -> bool {
        let leads_back = |from: BlockId, to: BlockId| self.position[to.index()] <= self.position[from.index()];
        let mut edges = self.order.iter().flat_map(|&b| region.block(b).end.edges().map(move |edge| (b, edge.to)));
        edges.all(|(from, to)| !leads_back(from, to) || self.dominates(to, from))
    }

    /// The immediate dominator of a reachable block; the entry's is itself.
    pub fn parent(&self, block: BlockId) -> BlockId {
        self.order[self.parent[self.position[block.index()]]]
    }

    /// A tour of the tree: every reachable block is entered, then all that it dominates, then it is left.
    pub fn tour(&self) -> Vec<Step> {
        let mut children = vec![Vec::new(); self.order.len()];
        (1..self.order.len()).for_each(|i| children[self.parent[i]].push(i));
        let mut steps = Vec::with_capacity(2 * self.order.len());
        let mut stack = vec![(0, false)];
        while let Some((i, entered)) = stack.pop() {
            if entered {
                steps.push(Step::Leave);
                continue;
            }
            steps.push(Step::Enter(self.order[i]));
            stack.push((i, true));
            stack.extend(children[i].iter().rev().map(|&child| (child, false)));
        }
        steps
    }

    /// Reachable blocks in reverse postorder.
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }
}

/// Of so many blocks those that are reachable, in the reverse of the order in which a depth-first walk leaves them. `successor` gives
/// a block's successor of a number, in the order in which they are to be visited, and `None` after the last.
pub fn reverse_postorder(n: usize, successor: impl Fn(BlockId, usize) -> Option<BlockId>) -> Vec<BlockId> {
    let mut seen = vec![false; n];
    let mut order = Vec::new();
    let mut stack = vec![(BlockId(0), 0)];
    seen[0] = true;
    while let Some((block, next)) = stack.pop() {
        match successor(block, next) {
            Some(to) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}
