//! Runs the benchmarks of re-vectorised calls, each variant checked against the plain Rust program before it is timed, and writes what
//! it measures as JSON, an object per line. `benches/crev.py` makes tables of it.
//!
//! ```text
//! crev [--figure 11|12] [--only bk,sm] [--scale F] [--width N] [--engine E] [--rounds N] [--no-counts]
//! ```

use spmdvm::{Engine, Module, Options, Width};
use spmdvm_benches::crev::problems::{Data, Problem, Sizes};
use spmdvm_benches::crev::{BENCHMARKS, Benchmark, benchmark};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long each variant runs before it is timed: a JIT compiles its loops meanwhile.
const WARM_UP: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    match Settings::parse(std::env::args().skip(1)).and_then(|settings| settings.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// What is asked for.
struct Settings {
    figure: u32,
    only: Vec<String>,
    scale: f64,
    options: Options,
    rounds: usize,
    counts: bool,
}

impl Settings {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Settings, String> {
        // Eight lanes, as on the paper's machine.
        let options = Options::default().with_width(Width::new(8).expect("8 is a width"));
        let mut settings = Settings { figure: 11, only: Vec::new(), scale: 0.01, options, rounds: 5, counts: true };
        while let Some(word) = words.next() {
            if word == "--no-counts" {
                settings.counts = false;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("`{word}` is unknown, or lacks its value"))?;
            settings.set(&word, &value).map_err(|e| format!("{word} {value}: {e}"))?;
        }
        Ok(settings)
    }

    fn set(&mut self, word: &str, value: &str) -> Result<(), String> {
        match word {
            "--figure" => self.figure = value.parse().map_err(|_| "there are figures 11 and 12")?,
            "--only" => self.only = value.split(',').map(str::to_owned).collect(),
            "--scale" => self.scale = value.parse().map_err(|_| "not a number")?,
            "--rounds" => self.rounds = value.parse().map_err(|_| "not a number")?,
            "--engine" => self.options.engine = value.parse::<Engine>().map_err(|e| e.to_string())?,
            "--width" => {
                let width = value.parse().ok().and_then(Width::new);
                self.options.width = width.ok_or("there is no such width")?;
            }
            _ => return Err("there is no such option".into()),
        }
        Ok(())
    }

    fn run(&self) -> Result<(), String> {
        let sizes = Sizes::scaled(self.scale);
        match self.figure {
            11 => self.figure11(&sizes),
            12 => self.figure12(&sizes),
            _ => Err("there are figures 11 and 12".into()),
        }
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    fn figure11(&self, sizes: &Sizes) -> Result<(), String> {
        BENCHMARKS.iter().filter(|b| self.wants(b.name)).try_for_each(|b| self.measure(b, sizes, None))
    }

    /// String matching by the length of the pattern, leader election by the number of edges.
    fn figure12(&self, sizes: &Sizes) -> Result<(), String> {
        let (sm, le) = (benchmark("sm").expect("it is there"), benchmark("le").expect("it is there"));
        for length in (4..=32).step_by(4).filter(|_| self.wants("sm")) {
            self.measure(sm, &Sizes { text_pattern: length, ..sizes.clone() }, Some(length))?;
        }
        for levels in (2..=sizes.tree).filter(|_| self.wants("le")) {
            let edges = (1..=levels).map(|level| 8usize.pow(level)).sum();
            self.measure(le, &Sizes { tree: levels, ..sizes.clone() }, Some(edges))?;
        }
        Ok(())
    }

    /// Checks, counts and times all variants of a benchmark.
    fn measure(&self, benchmark: &Benchmark, sizes: &Sizes, x: Option<usize>) -> Result<(), String> {
        let problem = (benchmark.problem)(sizes);
        let expected = (problem.seq)(&problem.arguments);
        let module = benchmark.compile(&self.options)?;
        // Native code does not show what it executes.
        let interp = Options { engine: Engine::Interp, ..self.options.clone() };
        let counted = Module::from_program(module.verified().clone(), &interp);
        let mut counts = Vec::new();
        for variant in benchmark.variants {
            let name = format!("{} {variant}", benchmark.name);
            let outcome = benchmark.call(&module, variant, &problem).map_err(|e| format!("{name}: {e}"))?;
            check(&name, &outcome.outputs, &expected)?;
            counts.push(self.count(benchmark, &counted, variant, &problem, &expected)?);
        }
        let seconds = self.times(benchmark, &module, &problem)?;
        let x = x.map_or(String::new(), |x| format!(r#""x": {x}, "#));
        let head = format!(r#""benchmark": "{}", {x}"size": "{}""#, benchmark.name, problem.size);
        println!(r#"{{{head}, "variant": "rust", "seconds": {}}}"#, seconds[0]);
        for ((variant, counts), seconds) in benchmark.variants.iter().zip(counts).zip(&seconds[1..]) {
            println!(r#"{{{head}, "variant": "{variant}"{counts}, "seconds": {seconds}}}"#);
        }
        Ok(())
    }

    fn count(
        &self,
        benchmark: &Benchmark,
        module: &Module,
        variant: &str,
        problem: &Problem,
        expected: &[Data],
    ) -> Result<String, String> {
        if !self.counts {
            return Ok(String::new());
        }
        let (outcome, counts) = benchmark.count(module, variant, problem)?;
        check(&format!("{} {variant}, observed", benchmark.name), &outcome.outputs, expected)?;
        Ok(format!(r#", "instructions": {}, "vector": {}"#, counts.instructions, counts.vector))
    }

    /// The medians of the plain Rust program and of all variants, which take turns. Each is called twice in its turn, and the second call
    /// counts: the caches are what it leaves itself, not what others do, of which some take a hundred times as long.
    fn times(&self, benchmark: &Benchmark, module: &Module, problem: &Problem) -> Result<Vec<f64>, String> {
        for variant in benchmark.variants {
            let start = Instant::now();
            while start.elapsed() < WARM_UP {
                benchmark.call(module, variant, problem)?;
            }
        }
        let plain = || {
            let start = Instant::now();
            std::hint::black_box((problem.seq)(std::hint::black_box(&problem.arguments)));
            start.elapsed().as_secs_f64()
        };
        let mut times = vec![Vec::new(); 1 + benchmark.variants.len()];
        for _ in 0..self.rounds.max(1) {
            plain();
            times[0].push(plain());
            for (variant, times) in benchmark.variants.iter().zip(&mut times[1..]) {
                benchmark.call(module, variant, problem)?;
                times.push(benchmark.call(module, variant, problem)?.seconds);
            }
        }
        Ok(times.into_iter().map(median).collect())
    }
}

fn check(name: &str, outputs: &[Data], expected: &[Data]) -> Result<(), String> {
    if outputs == expected { Ok(()) } else { Err(format!("{name}: the result differs from the plain Rust program's")) }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
