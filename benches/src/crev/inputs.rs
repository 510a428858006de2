//! Inputs like those of the paper, the same in every run.

use std::collections::BTreeSet;

/// Random numbers: SplitMix64 (Steele, Lea, Flood, 2014).
pub struct Random(u64);

impl Random {
    /// A generator that always gives the same numbers for a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A number from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// True with a probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64 <= probability
    }
}

/// So many characters `0` and `1`.
pub fn bits(random: &mut Random, n: usize) -> Vec<i8> {
    (0..n).map(|_| if random.chance(0.5) { b'1' } else { b'0' } as i8).collect()
}

/// The sentence of the paper whose beginnings are searched for; the text has it every now and then.
pub const SOUGHT: &str = "She had been watching him the last half hour";

/// How sentences begin.
const OPENINGS: &[&str] =
    &["She", "He", "It", "They", "The", "Mr.", "Such", "But", "She had", "Some", "You", "So", "In"];

/// Words in the order of how often they occur.
const WORDS: &[&str] = &[
    "the",
    "to",
    "of",
    "and",
    "a",
    "her",
    "in",
    "was",
    "I",
    "she",
    "that",
    "it",
    "not",
    "you",
    "he",
    "his",
    "be",
    "as",
    "had",
    "with",
    "for",
    "but",
    "is",
    "have",
    "at",
    "him",
    "on",
    "my",
    "by",
    "all",
    "they",
    "so",
    "were",
    "been",
    "which",
    "could",
    "very",
    "from",
    "no",
    "would",
    "this",
    "your",
    "their",
    "them",
    "what",
    "an",
    "when",
    "are",
    "will",
    "said",
    "if",
    "one",
    "much",
    "sister",
    "must",
    "such",
    "know",
    "time",
    "think",
    "house",
    "letter",
    "family",
    "nothing",
    "evening",
    "carriage",
    "opinion",
    "acquaintance",
    "happiness",
    "daughter",
    "manner",
    "conversation",
];

/// English-looking text in lines of about 53 characters, as the paper's books have.
pub fn text(random: &mut Random, n: usize) -> Vec<i8> {
    let mut text = String::with_capacity(n + 256);
    let mut column = 0;
    while text.len() < n {
        for word in sentence(random).split(' ') {
            column += word.len() + 1;
            text += word;
            text.push(if column < 50 { ' ' } else { '\n' });
            column = if column < 50 { column } else { 0 };
        }
        // The sentence that is sought stands on one line.
        if random.below(50) == 0 {
            text += SOUGHT;
            text += ".\n";
            column = 0;
        }
    }
    text.truncate(n);
    text.bytes().map(|c| c as i8).collect()
}

fn sentence(random: &mut Random) -> String {
    let mut sentence = OPENINGS[random.below(OPENINGS.len())].to_owned();
    for _ in 0..5 + random.below(15) {
        // The product of two even distributions prefers the front, as words do.
        let at = random.below(WORDS.len()) * random.below(WORDS.len()) / WORDS.len();
        sentence.push(' ');
        sentence += WORDS[at];
    }
    sentence + "."
}

/// A graph: the neighbours of node *u* are `target[first[u] .. first[u + 1]]`, in ascending order.
pub struct Graph {
    /// Where the neighbours of each node begin, and the end.
    pub first: Vec<i32>,
    /// The neighbours of all nodes.
    pub target: Vec<i32>,
}

impl Graph {
    /// A graph of so many nodes with these edges.
    pub fn new(nodes: usize, edges: &BTreeSet<(usize, usize)>) -> Graph {
        let mut first = vec![0; nodes + 1];
        for &(from, _) in edges {
            first[from + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        Graph { first, target: edges.iter().map(|&(_, to)| to as i32).collect() }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// A directed graph in which each edge is there with a probability (Erdős and Rényi).
    pub fn erdos_renyi(random: &mut Random, nodes: usize, probability: f64) -> Graph {
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let edges = pairs.filter(|(from, to)| from != to && random.chance(probability)).collect();
        Graph::new(nodes, &edges)
    }

    /// An undirected graph of so many random edges.
    pub fn sparse(random: &mut Random, nodes: usize, edges: usize) -> Graph {
        let pairs: Vec<_> = (0..edges).map(|_| (random.below(nodes), random.below(nodes))).collect();
        let both = pairs.into_iter().filter(|(a, b)| a != b).flat_map(|(a, b)| [(a, b), (b, a)]);
        Graph::new(nodes, &both.collect())
    }

    /// The complete tree of an arity with so many levels below its root, undirected. The nodes are numbered level by level; `names`
    /// gives them other numbers.
    pub fn tree(arity: usize, levels: u32, names: impl FnOnce(usize) -> Vec<usize>) -> Graph {
        let nodes = (0..=levels).map(|level| arity.pow(level)).sum();
        let names = names(nodes);
        let parent = |node: usize| (node - 1) / arity;
        let both = (1..nodes).flat_map(|n| [(names[n], names[parent(n)]), (names[parent(n)], names[n])]);
        Graph::new(nodes, &both.collect())
    }
}

/// The numbers below `n` in any order (Fisher and Yates).
pub fn shuffled(random: &mut Random, n: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        numbers.swap(last, random.below(last + 1));
    }
    numbers
}
