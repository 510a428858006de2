//! Which nodes of a control-flow graph every path to a node goes through: instructions, or basic blocks.
//!
//! The algorithm of Lengauer and Tarjan in its simple form, "A Fast Algorithm for Finding Dominators in a Flowgraph"
//! (1979), without recursion: the time is that of sorting the edges, whatever the graph.

/// The dominator tree of a graph whose entry is node 0.
pub struct Dominators {
    /// When a walk over the tree enters and has left each node; (0, 0) for nodes that are not reached.
    during: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

impl Dominators {
    /// Of a graph of so many nodes, by the successors of each.
    pub fn new(n: usize, successors: &[Vec<u32>]) -> Dominators {
        if n == 0 {
            return Dominators { during: Vec::new() };
        }
        let (order, parent) = depth_first(n, successors);
        let mut number = vec![NONE; n];
        order.iter().enumerate().for_each(|(i, &node)| number[node as usize] = i as u32);
        let mut predecessors = vec![Vec::new(); order.len()];
        for (from, &node) in order.iter().enumerate() {
            for &to in &successors[node as usize] {
                predecessors[number[to as usize] as usize].push(from as u32);
            }
        }
        let idom = immediate(&parent, &predecessors);
        Dominators { during: intervals(n, &order, &idom) }
    }

    /// Returns whether every path to `b` goes through `a`, another node. Both are reached.
    pub fn strictly_dominates(&self, a: usize, b: usize) -> bool {
        let ((from, to), (at, _)) = (self.during[a], self.during[b]);
        a != b && from <= at && at < to
    }
}

/// The nodes that are reached, in the order of a depth-first walk, and the parent of each in that walk (by position).
fn depth_first(n: usize, successors: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>) {
    let (mut order, mut parent, mut seen) = (Vec::new(), Vec::new(), vec![false; n]);
    let mut todo = vec![(0u32, 0u32)];
    while let Some((node, from)) = todo.pop() {
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        let at = order.len() as u32;
        order.push(node);
        parent.push(from);
        todo.extend(successors[node as usize].iter().filter(|&&next| !seen[next as usize]).map(|&next| (next, at)));
    }
    (order, parent)
}

/// The immediate dominators; all nodes by their position in the depth-first order.
fn immediate(parent: &[u32], predecessors: &[Vec<u32>]) -> Vec<u32> {
    let n = parent.len();
    let mut semi: Vec<u32> = (0..n as u32).collect();
    let mut idom = vec![0u32; n];
    let mut buckets = vec![Vec::new(); n];
    let mut forest = Forest { ancestor: vec![NONE; n], label: (0..n as u32).collect(), path: Vec::new() };
    for w in (1..n).rev() {
        for &v in &predecessors[w] {
            let u = forest.least(v, &semi);
            semi[w] = semi[w].min(semi[u as usize]);
        }
        buckets[semi[w] as usize].push(w as u32);
        let p = parent[w];
        forest.ancestor[w] = p;
        for v in std::mem::take(&mut buckets[p as usize]) {
            let u = forest.least(v, &semi);
            idom[v as usize] = if semi[u as usize] < semi[v as usize] { u } else { p };
        }
    }
    for w in 1..n {
        if idom[w] != semi[w] {
            idom[w] = idom[idom[w] as usize];
        }
    }
    idom
}

/// The nodes dealt with so far, as trees with compressed paths.
struct Forest {
    ancestor: Vec<u32>,
    /// On the way to the ancestor, the node with the least semidominator.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node with the least semidominator between `v` and the root of its tree, the root left out.
    fn least(&mut self, v: u32, semi: &[u32]) -> u32 {
        if self.ancestor[v as usize] == NONE {
            return v;
        }
        let mut at = v;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(node) = self.path.pop() {
            let above = self.ancestor[node as usize] as usize;
            if semi[self.label[above] as usize] < semi[self.label[node as usize] as usize] {
                self.label[node as usize] = self.label[above];
            }
            self.ancestor[node as usize] = self.ancestor[above];
        }
        self.label[v as usize]
    }
}

/// When a walk over the tree enters and has left each node. A node's dominator stands before it in `order`.
fn intervals(n: usize, order: &[u32], idom: &[u32]) -> Vec<(u32, u32)> {
    let mut size = vec![1u32; order.len()];
    for i in (1..order.len()).rev() {
        size[idom[i] as usize] += size[i];
    }
    let mut next = vec![1u32; order.len()];
    let mut during = vec![(0, 0); n];
    let mut enter = vec![0u32; order.len()];
    during[order[0] as usize] = (0, size[0]);
    for i in 1..order.len() {
        let above = idom[i] as usize;
        enter[i] = enter[above] + next[above];
        next[above] += size[i];
        during[order[i] as usize] = (enter[i], enter[i] + size[i]);
    }
    during
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: `a` dominates `b` if without `a` the entry does not reach `b`.
    fn dominates(successors: &[Vec<u32>], a: usize, b: usize) -> bool {
        let reaches = |without: Option<usize>| {
            let mut seen = vec![false; successors.len()];
            let mut todo = vec![0usize];
            while let Some(at) = todo.pop() {
                if Some(at) != without && !std::mem::replace(&mut seen[at], true) {
                    todo.extend(successors[at].iter().map(|&next| next as usize));
                }
            }
            seen[b]
        };
        a != b && reaches(None) && !reaches(Some(a))
    }

    #[test]
    fn agrees_with_the_definition() {
        let mut random = 1u64;
        let mut below = |n: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % n
        };
        for _ in 0..300 {
            let n = 1 + below(12);
            let successors: Vec<Vec<u32>> = (0..n).map(|_| (0..below(3)).map(|_| below(n) as u32).collect()).collect();
            let tree = Dominators::new(n, &successors);
            for a in 0..n {
                for b in (0..n).filter(|&b| (0..n).any(|x| x == b && (b == 0 || dominates(&successors, 0, b)))) {
                    if a == 0 || dominates(&successors, 0, a) {
                        assert_eq!(
                            tree.strictly_dominates(a, b),
                            dominates(&successors, a, b),
                            "{a} {b} {successors:?}"
                        );
                    }
                }
            }
        }
    }
}
