//! Programs of many sources: how long it takes to compile and link them all, and again after a change of one.
//! `cargo bench -p spmdvm-benches --bench link -- [FILES [LINES]]`.

use spmdvm::vm::link::{Object, link};
use spmdvm::{Engine, Module, Options, Source};
use spmdvm_benches::typical_files;
use std::sync::Arc;
use std::time::Instant;

/// Changes of one file that are timed.
const ROUNDS: usize = 5;

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let (n, lines) = (args.next().unwrap_or(100), args.next().unwrap_or(1000));
    let mut files = typical_files(n, lines);
    let total: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
    println!("{n} files, {total} lines");
    // The library is made once in a process.
    Module::compile("nothing.ispc", "", &Options::default()).expect("it compiles");
    for (engine, what) in [(Engine::Interp, "interpreter"), (Engine::Auto, "with a JIT")] {
        let options = Options { engine, ..Options::default() };
        // Another text each time, so that nothing has been kept.
        files.iter_mut().for_each(|(_, text)| text.push_str("// changed\n"));
        let start = Instant::now();
        let module = compile(&files, &options);
        println!("{what}: {:.0} ms for all, {} functions", ms(start), module.program().functions.len());
        let best = (0..ROUNDS).map(|round| {
            let at = round * 7 % files.len();
            files[at].1.push_str("// changed\n");
            let start = Instant::now();
            drop(compile(&files, &options));
            ms(start)
        });
        println!("{what}: {:.1} ms after a change of one", best.fold(f64::INFINITY, f64::min));
    }
    // Of which the linker takes:
    let objects: Vec<Arc<Object>> = files.iter().map(object).collect();
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        drop(link(&objects).expect("they link"));
        ms(start)
    });
    println!("the linker alone: {:.1} ms", best.fold(f64::INFINITY, f64::min));
}

fn compile(files: &[(String, String)], options: &Options) -> Module {
    let sources: Vec<Source<'_>> = files.iter().map(|(name, text)| Source::Text { name, text }).collect();
    Module::compile_all(&sources, options).unwrap_or_else(|e| panic!("{e}"))
}

fn object((name, text): &(String, String)) -> Arc<Object> {
    use spmdvm::frontend::compile::{CompileOptions, compile};
    let options = CompileOptions { object: true, ..CompileOptions::default() };
    let compilation = compile(Source::Text { name, text }, &options);
    Arc::new(Object::new(compilation.program.expect("it compiles")))
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
