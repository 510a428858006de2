//! Reduces ten long programs that show a planted fault, and tells how small they become, with how many trials, and how fast:
//! `cargo run --release -p spmdvm-tests --example reduction [N]`; with a number, the one of that fault is shown.

use spmdvm_oracle::reduce::{Settings, lines, reduce};
use spmdvm_tests::planted::{FAULTS, options};

fn main() {
    let shown: Option<usize> = std::env::args().nth(1).and_then(|number| number.parse().ok());
    println!("lines before, after, trials, candidates, seconds, fault");
    for (number, fault) in FAULTS.iter().enumerate().filter(|(number, _)| shown.is_none_or(|shown| shown == *number)) {
        let text = fault.example(1 + 1000 * number as u64);
        let settings = Settings { options: options(), ..Settings::default() };
        match reduce(&text, &|text| fault.shows(text), &settings, &mut |_| {}) {
            Ok(reduced) => {
                let (before, after, seconds) = (lines(&text), lines(&reduced.text), reduced.elapsed.as_secs_f64());
                let (trials, candidates) = (reduced.trials, reduced.candidates);
                println!("{before:4} {after:3} {trials:6} {candidates:6} {seconds:7.1} {}", fault.name);
                if shown.is_some() {
                    reduced.passes.iter().for_each(|pass| println!("{pass:?}"));
                    println!("{}", reduced.text);
                }
            }
            Err(error) => println!("{}: {error}", fault.name),
        }
    }
}
