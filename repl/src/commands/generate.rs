//! `spmdvm gen`: random programs.

use crate::cli::{GenArgs, Global, ProgramArgs};
use crate::{Failure, files};
use spmdvm_oracle::generate::{self, Config, Dialect, FEATURES, Features};

/// Writes a random program or a changed one, or lists what programs may contain.
pub fn generate(global: &Global, args: &GenArgs) -> Result<(), Failure> {
    if args.list_features {
        list_features();
        return Ok(());
    }
    let seed = args.programs.seed;
    let text = match &args.mutate {
        None => generate::generate(seed, &config(&args.programs)?).text,
        Some(path) => {
            let name = path.display().to_string();
            generate::equivalent(&name, &files::text(path)?, seed, &global.options()).map_err(Failure::Program)?
        }
    };
    match &args.output {
        None => print!("{text}"),
        Some(path) => {
            std::fs::write(path, text).map_err(|e| Failure::Program(format!("cannot write {}: {e}", path.display())))?
        }
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
