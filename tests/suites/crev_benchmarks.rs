//! The programs of `examples/crev` give right answers, in every variant, at every width, on every engine, and re-vectorised calls
//! execute no more instructions than tasks.

use spmdvm::{Engine, JitSettings, Module, Options, Width};
use spmdvm_benches::crev::inputs::{Graph, Random};
use spmdvm_benches::crev::problems::{self, Data, Problem, Sizes};
use spmdvm_benches::crev::{BENCHMARKS, Benchmark, benchmark};
use spmdvm_tests::subject::engines;

const WIDTHS: [u32; 5] = [4, 8, 16, 32, 64];

/// Small, but several gangs long, and with a rest.
fn small() -> Sizes {
    Sizes {
        book_lines: 70,
        book_length: 90,
        book_pattern: 6,
        text: 5000,
        text_pattern: 7,
        graph: 40,
        tree: 2,
        numbers: 300,
    }
}

/// A benchmark's program at a width, and the same one on every engine; a JIT compiles every loop in its first round.
fn on_every_engine(benchmark: &Benchmark, width: u32) -> Vec<(Engine, Module)> {
    let options = Options { engine: Engine::Interp, width: Width::new(width).unwrap(), ..Options::default() };
    let module = benchmark.compile(&options).unwrap();
    let on = |&engine: &Engine| {
        let options = Options { engine, jit: JitSettings::eager(), ..options.clone() };
        (engine, Module::from_program(module.verified().clone(), &options))
    };
    engines().iter().map(on).collect()
}

/// Calls variants everywhere, each with its problems.
fn check(name: &str, problems: &[(&[&str], Problem)]) {
    let benchmark = benchmark(name).unwrap();
    let expected: Vec<Vec<Data>> = problems.iter().map(|(_, problem)| (problem.seq)(&problem.arguments)).collect();
    for width in WIDTHS {
        for (engine, module) in on_every_engine(benchmark, width) {
            for ((variants, problem), expected) in problems.iter().zip(&expected) {
                for variant in *variants {
                    let outcome = benchmark.call(&module, variant, problem).unwrap();
                    let case = format!("{name} {variant} of {} on {engine} at width {width}", problem.size);
                    assert!(outcome.outputs == *expected, "{case} differs from the plain Rust program");
                }
            }
        }
    }
}

/// A benchmark's own problem, for all variants.
fn own(name: &str, sizes: &Sizes) -> (&'static [&'static str], Problem) {
    let benchmark = benchmark(name).unwrap();
    (benchmark.variants, (benchmark.problem)(sizes))
}

#[test]
fn book_filter() {
    check("bk", &[own("bk", &small())]);
}

#[test]
fn string_matching() {
    check("sm", &[own("sm", &small())]);
}

#[test]
fn bellman_ford() {
    let random = &mut Random::new(10);
    let graph = Graph::sparse(random, 60, 70);
    let dense = own("bf", &small());
    let sparse = (dense.0, problems::paths(random, graph));
    check("bf", &[dense, sparse]);
}

#[test]
fn depth_first_search() {
    let graph = Graph::sparse(&mut Random::new(11), 40, 90);
    // In other graphs than trees the order decides, which tasks do not keep.
    let ordered = ["seq", "par", "crev"];
    check("df", &[own("df", &small()), (&ordered, problems::search(graph))]);
}

#[test]
fn leader_election() {
    let graph = Graph::sparse(&mut Random::new(12), 120, 70);
    let tree = own("le", &small());
    let parts = (tree.0, problems::election(graph));
    check("le", &[tree, parts]);
}

#[test]
fn quicksort() {
    check_sort("qs");
}

#[test]
fn mergesort() {
    check_sort("ms");
}

fn check_sort(name: &str) {
    check(name, &[300, 1, 2, 9].map(|numbers| own(name, &Sizes { numbers, ..small() })));
}

/// What the plain Rust programs compute is right, by other means.
mod references {
    use super::*;

    fn result(name: &str) -> (Problem, Vec<Data>) {
        let problem = (benchmark(name).unwrap().problem)(&small());
        let result = (problem.seq)(&problem.arguments);
        (problem, result)
    }

    #[test]
    fn some_lines_match_and_some_do_not() {
        let (_, result) = result("bk");
        let Data::Bytes(out) = &result[0] else { panic!("characters") };
        let copied = out.chunks(90).filter(|line| line[0] != 0).count();
        assert!((10..60).contains(&copied), "{copied} of 70 lines");
    }

    #[test]
    fn the_sentence_is_found_where_it_is() {
        let (problem, result) = result("sm");
        let problems::Argument::In(Data::Bytes(text)) = &problem.arguments[0] else { panic!("characters") };
        let text: String = text.iter().map(|&c| c as u8 as char).collect();
        let mut expected = vec![0; text.len()];
        let mut from = 0;
        while let Some(at) = text[from..].find("She had") {
            expected[from + at] = 1;
            from += at + 1;
        }
        assert!(expected.contains(&1));
        assert_eq!(result, [Data::Bytes(expected)]);
    }

    #[test]
    fn a_tree_has_one_leader() {
        let (_, result) = result("le");
        assert_eq!(result, [Data::Ints(vec![0; 73])]);
    }

    #[test]
    fn a_complete_tree_is_as_deep_as_it_is() {
        let (_, result) = result("df");
        let Data::Ints(depth) = &result[1] else { panic!("numbers") };
        let expected: Vec<i32> = (0..73)
            .map(|node| {
                if node == 0 {
                    0
                } else if node < 9 {
                    1
                } else {
                    2
                }
            })
            .collect();
        assert_eq!(depth, &expected);
    }

    #[test]
    fn sorts_sort() {
        for name in ["qs", "ms"] {
            let (problem, result) = result(name);
            let problems::Argument::Out(Data::Ints(numbers)) = &problem.arguments[0] else { panic!("numbers") };
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert_eq!(result, [Data::Ints(sorted)]);
        }
    }
}

/// The counts of a variant at a width.
fn counts(benchmark: &Benchmark, variant: &str, width: u32) -> (u64, u64) {
    let options = Options { engine: Engine::Interp, width: Width::new(width).unwrap(), ..Options::default() };
    let module = benchmark.compile(&options).unwrap();
    let (_, counts) = benchmark.count(&module, variant, &(benchmark.problem)(&small())).unwrap();
    (counts.instructions, counts.vector)
}

#[test]
fn crev_executes_no_more_than_launch() {
    for benchmark in BENCHMARKS {
        for width in WIDTHS {
            let (crev, launch) = (counts(benchmark, "crev", width), counts(benchmark, "launch", width));
            let name = benchmark.name;
            assert!(crev.0 <= launch.0 && crev.1 <= launch.1, "{name} at width {width}: {crev:?}, launch {launch:?}");
        }
    }
}

#[test]
fn crev_executes_fewer_vector_instructions_than_par_where_the_paper_does() {
    for name in ["bk", "sm"] {
        for width in WIDTHS {
            let benchmark = benchmark(name).unwrap();
            let (crev, par) = (counts(benchmark, "crev", width), counts(benchmark, "par", width));
            assert!(crev.1 < par.1, "{name} at width {width}: {crev:?}, par {par:?}");
        }
    }
}
