//! The frozen corpus: our engines do what it says, and what is wrong with a corpus is told.

use spmdvm::{Checks, Module, Options, Width};
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::files::{Comparison, Setup, compare};
use spmdvm_oracle::compare::{Backend, Rules, Verdict};
use spmdvm_oracle::corpus::{Corpus, Program};
use spmdvm_oracle::{TestCase, run};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root").join("tests/corpus/v1")
}

/// A corpus of one program, as a copy that may be damaged.
fn copy(test: &str) -> PathBuf {
    let to = std::env::temp_dir().join(format!("spmdvm-corpus-{}-{test}", std::process::id()));
    for file in ["corpus.json", "masks_if_else.ispc", "outcomes/masks_if_else.json", "traces/masks_if_else.jsonl"] {
        let target = to.join(file);
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        std::fs::copy(folder().join(file), target).expect("it can be copied");
    }
    to
}

fn change(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(path, text.replacen(from, to, 1)).expect("it can be written");
}

/// The comparisons of a program with the interpreter, and at one of the widths with the engines that compile.
fn comparisons(corpus: &Corpus, program: &Program, number: usize) -> Vec<Comparison> {
    let compiled_at = corpus.widths()[number % corpus.widths().len()];
    let frozen = corpus.frozen(program).expect("its outcomes are frozen");
    let others = |width: Width| -> Vec<Result<Box<dyn Backend>, String>> {
        let interpreter = OwnEngine { engine: spmdvm::Engine::Interp };
        let compiling = OwnEngine::compiling().into_iter().filter(|_| width == compiled_at);
        let all = std::iter::once(interpreter).chain(compiling);
        all.map(|engine| Ok(Box::new(engine) as Box<dyn Backend>)).collect()
    };
    let (options, widths, rules) = (corpus.options(), corpus.widths(), Rules::default());
    let setup = Setup {
        options: &options,
        widths: &widths,
        reference: &frozen,
        others: &others,
        rules: &rules,
        bisect: false,
        calls: &[],
    };
    let mut made = Vec::new();
    compare(&program.path, &program.text, &setup, &mut |comparison| made.push(comparison)).expect("it compiles");
    made
}

#[test]
fn our_engines_do_what_the_corpus_says() {
    let corpus = Corpus::open(&folder()).expect("the corpus");
    let programs = corpus.programs().expect("programs");
    assert!(programs.len() >= 60);
    let mut equal = 0;
    for (number, program) in programs.iter().enumerate() {
        for comparison in comparisons(&corpus, program, number) {
            assert!(comparison.verdict == Verdict::Equal, "{comparison}");
            equal += 1;
        }
    }
    assert!(equal >= 3 * programs.len());
}

/// What the corpus says follows from the language: check mode finds nothing.
#[test]
fn programs_are_defined() {
    let corpus = Corpus::open(&folder()).expect("the corpus");
    let check = Checks::NONE.and("default").expect("what check mode looks for");
    let width = Width::new(8).expect("a width");
    let options = Options { check, ..corpus.options() }.with_width(width);
    for program in corpus.programs().expect("programs").iter().filter(|program| !program.name.starts_with("trap_")) {
        let module = Module::compile(&program.name, &program.text, &options).expect("it compiles");
        for case in TestCase::of_module(&program.name, &program.text, &module).expect("it has calls") {
            run(&case, &module);
            let report = module.report();
            assert!(report.findings().is_empty(), "{}: {}", program.name, report.render(false));
        }
    }
}

#[test]
fn traces_are_as_they_were() {
    let corpus = Corpus::open(&folder()).expect("the corpus");
    let programs = corpus.programs().expect("programs");
    let traced: Vec<&Program> = programs.iter().filter(|program| corpus.is_traced(program)).collect();
    assert!(traced.len() >= 5);
    for program in traced {
        assert_eq!(corpus.check_trace(program), Ok(None), "{}", program.name);
    }
}

#[test]
fn a_wrong_outcome_is_found() {
    let folder = copy("outcome");
    change(&folder, "outcomes/masks_if_else.json", "100,1,3,101", "100,1,3,102");
    let corpus = Corpus::open(&folder).expect("the corpus");
    let program = &corpus.programs().expect("programs")[0];
    let wrong: Vec<String> = comparisons(&corpus, program, 0)
        .iter()
        .filter(|comparison| matches!(comparison.verdict, Verdict::Different(_)))
        .map(Comparison::to_string)
        .collect();
    assert!(!wrong.is_empty() && wrong[0].contains("out[3] (lane 3): expected 102"), "{wrong:?}");
    std::fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn a_trace_with_another_value_is_found() {
    let folder = copy("trace");
    change(&folder, "traces/masks_if_else.jsonl", "\"new\":101", "\"new\":777");
    let corpus = Corpus::open(&folder).expect("the corpus");
    let program = &corpus.programs().expect("programs")[0];
    let difference = corpus.check_trace(program).expect("it can be compared").expect("it differs");
    assert!(difference.contains("777"), "{difference}");
    std::fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn what_is_frozen_stays() {
    let folder = copy("freeze");
    let corpus = Corpus::open(&folder).expect("the corpus");
    let program = || corpus.programs().expect("programs").remove(0);
    assert_eq!(corpus.freeze(&program()), Ok(false));
    change(&folder, "masks_if_else.ispc", "x * 2", "x * 3");
    let why = corpus.freeze(&program()).expect_err("the program has changed");
    assert!(why.contains("programs of a corpus do not change"), "{why}");
    std::fs::remove_file(folder.join("outcomes/masks_if_else.json")).expect("it is there");
    assert_eq!(corpus.freeze(&program()), Ok(true));
    assert_eq!(corpus.frozen(&program()).map(|frozen| frozen.len()), Ok(6));
    change(&folder, "corpus.json", "\"version\": 1", "\"version\": 2");
    assert!(
        Corpus::open(&folder).err().is_some_and(|why| why.ends_with("has version 2, and this program reads version 1"))
    );
    change(&folder, "corpus.json", "spmdvm-corpus", "other");
    assert!(Corpus::open(&folder).err().is_some_and(|why| why.ends_with("this is no corpus")));
    std::fs::remove_dir_all(folder).expect("it is there");
}
