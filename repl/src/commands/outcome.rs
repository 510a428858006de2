//! `spmdvm outcome`: what the calls in a program leave behind.

use super::{compare, load};
use crate::cli::{Global, OutcomeArgs};
use crate::{Failure, files};
use spmdvm::{Engine, Module, Options};
use spmdvm_oracle::{TestCase, run};

/// Prints the outcome of each call as a line of JSON.
pub fn outcome(global: &Global, args: &OutcomeArgs) -> Result<(), Failure> {
    let options = options(global);
    let text = files::text(&args.file)?;
    let module = load(&args.file, &options, global.color())?;
    let name = args.file.display().to_string();
    let cases = TestCase::of_module(&name, &text, &module).map_err(|error| Failure::usage(error.to_string()))?;
    for case in &cases {
        // What a program leaves in its globals is not there at the next call.
        let fresh = Module::from_program(module.verified().clone(), &options);
        println!("{}", run::run(case, &fresh).to_json());
    }
    Ok(())
}

/// Those of `compare`, on the reference VM unless an engine is named.
fn options(global: &Global) -> Options {
    let options = compare::options(global);
    let engine = if global.engine_is_given { options.engine } else { Engine::Interp };
    Options { engine, ..options }
}
