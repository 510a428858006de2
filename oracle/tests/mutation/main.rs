//! The mutation score: faults are planted one at a time, and a campaign of a fixed number of programs looks for each.
//!
//! A process of its own has the fault, for what it makes native code do may end the process: that counts as found, and so does
//! a program that does not end. Without a fault the same campaign must find nothing.
//!
//! ```text
//! make mutation-score [SCORE='--programs N --size N --seed S --jobs J --only PART-OF-A-NAME,… --json FILE']
//! ```

mod child;
mod parent;

use std::process::ExitCode;

/// What is asked for.
#[derive(Clone, Debug)]
struct Wanted {
    /// Programs for each fault.
    programs: u64,
    /// Their size at most.
    size: u32,
    seed: u64,
    /// How many faults are looked for at a time.
    jobs: usize,
    /// Parts of the names of the faults, with commas between them.
    only: String,
    /// Where the score goes as JSON.
    json: Option<String>,
    /// The fault that this process is to have; an empty name for none.
    fault: Option<String>,
    /// The least score in percent.
    least: f64,
}

fn main() -> ExitCode {
    let wanted = match Wanted::read(std::env::args().skip(1)) {
        Ok(wanted) => wanted,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    match &wanted.fault {
        Some(fault) => child::look_for(fault, &wanted),
        None => parent::score(&wanted),
    }
}

impl Wanted {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut wanted = Wanted {
            programs: 10_000,
            size: 40,
            seed: 1,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            only: String::new(),
            json: None,
            fault: None,
            least: 95.0,
        };
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("{name} takes a value"))?;
            let wrong = |_| format!("{name} takes a number, not `{value}`");
            match name.as_str() {
                "--programs" => wanted.programs = value.parse().map_err(wrong)?,
                "--size" => wanted.size = value.parse().map_err(wrong)?,
                "--seed" => wanted.seed = value.parse().map_err(wrong)?,
                "--jobs" => wanted.jobs = value.parse().map_err(wrong)?,
                "--least" => wanted.least = value.parse::<u32>().map_err(wrong)?.into(),
                "--only" => wanted.only = value,
                "--json" => wanted.json = Some(value),
                "--fault" => wanted.fault = Some(value),
                _ => return Err(format!("there is no option {name}; see oracle/tests/mutation/main.rs")),
            }
        }
        Ok(wanted)
    }
}
