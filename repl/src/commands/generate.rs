//! `spmdvm gen`: random programs.

use crate::Failure;
use crate::cli::{GenArgs, ProgramArgs};
use spmdvm_oracle::generate::{self, Config, Dialect, FEATURES, Features};

/// Writes a random program, or lists what programs may contain.
pub fn generate(args: &GenArgs) -> Result<(), Failure> {
    if args.list_features {
        list_features();
        return Ok(());
    }
    let case = generate::generate(args.programs.seed, &config(&args.programs)?);
    match &args.output {
        None => print!("{}", case.text),
        Some(path) => std::fs::write(path, case.text)
            .map_err(|e| Failure::Program(format!("cannot write {}: {e}", path.display())))?,
    }
    Ok(())
}

/// What programs are asked for.
pub fn config(args: &ProgramArgs) -> Result<Config, Failure> {
    let dialect = args.dialect.unwrap_or(Dialect::Ispc);
    let mut config = Config::of(dialect);
    config.size = args.size.unwrap_or(config.size);
    if let Some(list) = &args.features {
        config.features = Features::parse(list, dialect).map_err(Failure::usage)?;
    }
    Ok(config)
}

fn list_features() {
    for row in FEATURES {
        let when = match (row.by_default, row.extension) {
            (true, false) => "",
            (false, false) => " (on request)",
            (true, true) => " (dialect spmdvm)",
            (false, true) => " (dialect spmdvm, on request)",
        };
        println!("{:18} {}{when}", row.name, row.what);
    }
}
