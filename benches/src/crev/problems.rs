//! What the benchmarks are called with, and what must come out.

use super::inputs::{Graph, Random, SOUGHT, bits, shuffled, text};
use super::seq;
use spmdvm::Value;

/// How large the inputs are.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Lines of the book.
    pub book_lines: usize,
    /// Characters of a line.
    pub book_length: usize,
    /// Characters of the pattern that lines are filtered by.
    pub book_pattern: usize,
    /// Characters of the text.
    pub text: usize,
    /// Characters of the pattern that is searched for in it, at most 44.
    pub text_pattern: usize,
    /// Nodes of the graph of Bellman–Ford.
    pub graph: usize,
    /// Levels of the trees of depth-first search and leader election below their roots.
    pub tree: u32,
    /// How many numbers are sorted.
    pub numbers: usize,
}

impl Sizes {
    /// Those of the paper's figure 11.
    pub fn paper() -> Sizes {
        Sizes {
            book_lines: 10_000,
            book_length: 20_000,
            book_pattern: 16,
            text: 256 << 20,
            text_pattern: 16,
            graph: 2048,
            tree: 5,
            numbers: 16 << 10,
        }
    }

    /// Those of the paper, the work of the three large ones (book, text, graph) times a factor.
    pub fn scaled(factor: f64) -> Sizes {
        let paper = Sizes::paper();
        let times = |n: usize, factor: f64| ((n as f64 * factor) as usize).max(1);
        Sizes {
            book_lines: times(paper.book_lines, factor),
            text: times(paper.text, factor).max(SOUGHT.len()),
            graph: times(paper.graph, factor.sqrt()),
            ..paper
        }
    }
}

/// Memory that a program gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Characters.
    Bytes(Vec<i8>),
    /// Numbers.
    Ints(Vec<i32>),
}

/// An argument.
pub enum Argument {
    /// Is read.
    In(Data),
    /// Is written; what it contains before.
    Out(Data),
    /// Room to work in; what it contains before.
    Room(Data),
    /// A number.
    Int(i32),
}

/// A call.
pub struct Problem {
    /// How large it is, in words.
    pub size: String,
    /// The arguments of all variants.
    pub arguments: Vec<Argument>,
    /// The outputs that a plain Rust program computes from them.
    pub seq: fn(&[Argument]) -> Vec<Data>,
}

impl Argument {
    /// A copy of what the program may write to.
    pub(super) fn fresh(&self) -> Option<Data> {
        match self {
            Argument::Out(data) | Argument::Room(data) => Some(data.clone()),
            Argument::In(_) | Argument::Int(_) => None,
        }
    }

    /// The value that is passed.
    pub(super) fn value<'a>(&'a self, fresh: Option<&'a mut Data>) -> Value<'a> {
        match (self, fresh) {
            (_, Some(Data::Bytes(bytes))) => Value::slice_mut(bytes),
            (_, Some(Data::Ints(ints))) => Value::slice_mut(ints),
            (Argument::Int(n), None) => (*n).into(),
            (Argument::In(data) | Argument::Out(data) | Argument::Room(data), None) => match data {
                Data::Bytes(bytes) => Value::slice(bytes),
                Data::Ints(ints) => Value::slice(ints),
            },
        }
    }

    pub(super) fn is_output(&self) -> bool {
        matches!(self, Argument::Out(_))
    }

    /// Its characters.
    pub(super) fn bytes(&self) -> &[i8] {
        match self {
            Argument::In(Data::Bytes(bytes)) | Argument::Out(Data::Bytes(bytes)) => bytes,
            _ => panic!("an argument that has no characters"),
        }
    }

    /// Its numbers.
    pub(super) fn ints(&self) -> &[i32] {
        match self {
            Argument::In(Data::Ints(ints)) | Argument::Out(Data::Ints(ints)) => ints,
            _ => panic!("an argument that has no numbers"),
        }
    }

    /// Its value.
    pub(super) fn int(&self) -> usize {
        match self {
            Argument::Int(n) => *n as usize,
            _ => panic!("an argument that is no number"),
        }
    }
}

fn bytes_in(bytes: Vec<i8>) -> Argument {
    Argument::In(Data::Bytes(bytes))
}

fn ints_in(ints: Vec<i32>) -> Argument {
    Argument::In(Data::Ints(ints))
}

fn int(n: usize) -> Argument {
    Argument::Int(i32::try_from(n).expect("inputs have less than 2^31 elements"))
}

fn zeros(n: usize) -> Data {
    Data::Ints(vec![0; n])
}

/// bk: lines of zeros and ones, and a pattern of them.
pub fn book_filter(sizes: &Sizes) -> Problem {
    let random = &mut Random::new(1);
    let Sizes { book_lines: lines, book_length: length, .. } = *sizes;
    let pattern = bits(random, sizes.book_pattern);
    let book = bits(random, lines * length);
    let out = Data::Bytes(vec![0; book.len()]);
    Problem {
        size: format!("{lines} lines of {length}"),
        arguments: vec![
            bytes_in(book),
            int(lines),
            int(length),
            bytes_in(pattern),
            int(sizes.book_pattern),
            Argument::Out(out),
        ],
        seq: |a| vec![Data::Bytes(seq::book_filter(a[0].bytes(), a[2].int(), a[3].bytes()))],
    }
}

/// sm: a text, and the beginning of a sentence in it.
pub fn string_matching(sizes: &Sizes) -> Problem {
    let text = text(&mut Random::new(2), sizes.text);
    let pattern: Vec<i8> = SOUGHT.bytes().take(sizes.text_pattern).map(|c| c as i8).collect();
    let (n, size) = (text.len(), pattern.len());
    Problem {
        size: format!("{n} characters, pattern of {size}"),
        arguments: vec![
            bytes_in(text),
            int(n),
            bytes_in(pattern),
            int(size),
            Argument::Room(zeros(size)),
            Argument::Out(Data::Bytes(vec![0; n])),
        ],
        seq: |a| vec![Data::Bytes(seq::string_matching(a[0].bytes(), a[2].bytes()))],
    }
}

/// bf: a random graph that has 80 % of all edges.
pub fn bellman_ford(sizes: &Sizes) -> Problem {
    let random = &mut Random::new(3);
    let graph = Graph::erdos_renyi(random, sizes.graph, 0.8);
    paths(random, graph)
}

/// The shortest ways in a graph, with random weights.
pub fn paths(random: &mut Random, graph: Graph) -> Problem {
    let (nodes, edges) = (graph.nodes(), graph.target.len());
    let weight = (0..edges).map(|_| 1 + random.below(100) as i32).collect();
    Problem {
        size: format!("{nodes} nodes, {edges} edges"),
        arguments: vec![
            int(nodes),
            ints_in(graph.first),
            ints_in(graph.target),
            ints_in(weight),
            Argument::Out(zeros(nodes)),
            Argument::Room(zeros(nodes)),
            Argument::Room(zeros(nodes)),
        ],
        seq: |a| vec![Data::Ints(seq::bellman_ford(a[1].ints(), a[2].ints(), a[3].ints()))],
    }
}

/// df: a tree in which every node has eight children.
pub fn depth_first_search(sizes: &Sizes) -> Problem {
    search(Graph::tree(8, sizes.tree, |nodes| (0..nodes).collect()))
}

/// Depth-first search in a graph.
pub fn search(graph: Graph) -> Problem {
    let (nodes, edges) = (graph.nodes(), graph.target.len());
    Problem {
        size: format!("{nodes} nodes, {} edges", edges / 2),
        arguments: vec![
            ints_in(graph.first),
            ints_in(graph.target),
            Argument::Out(Data::Ints(vec![-1; nodes])),
            Argument::Out(zeros(nodes)),
            Argument::Room(zeros(2 * edges + 2)),
        ],
        seq: |a| {
            let (parent, depth) = seq::depth_first_search(a[0].ints(), a[1].ints());
            vec![Data::Ints(parent), Data::Ints(depth)]
        },
    }
}

/// le: the same tree, its nodes numbered in any order.
pub fn leader_election(sizes: &Sizes) -> Problem {
    let random = &mut Random::new(5);
    election(Graph::tree(8, sizes.tree, |nodes| shuffled(random, nodes)))
}

/// The leaders in a graph.
pub fn election(graph: Graph) -> Problem {
    let (nodes, edges) = (graph.nodes(), graph.target.len());
    Problem {
        size: format!("{nodes} nodes, {} edges", edges / 2),
        arguments: vec![
            int(nodes),
            ints_in(graph.first),
            ints_in(graph.target),
            Argument::Out(zeros(nodes)),
            Argument::Room(zeros(nodes)),
            Argument::Room(zeros(nodes)),
        ],
        seq: |a| vec![Data::Ints(seq::leader_election(a[1].ints(), a[2].ints()))],
    }
}

/// qs: random numbers below 100,000.
pub fn quicksort(sizes: &Sizes) -> Problem {
    sort(sizes, |a| vec![Data::Ints(seq::quicksort(a[0].ints()))])
}

/// ms: the same numbers.
pub fn mergesort(sizes: &Sizes) -> Problem {
    sort(sizes, |a| vec![Data::Ints(seq::mergesort(a[0].ints()))])
}

fn sort(sizes: &Sizes, seq: fn(&[Argument]) -> Vec<Data>) -> Problem {
    let random = &mut Random::new(6);
    let n = sizes.numbers;
    let numbers = (0..n).map(|_| random.below(100_000) as i32).collect();
    let arguments = vec![Argument::Out(Data::Ints(numbers)), int(n), Argument::Room(zeros(n))];
    Problem { size: format!("{n} numbers"), arguments, seq }
}
