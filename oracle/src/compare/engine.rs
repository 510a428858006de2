//! Our own engines as back ends.

use super::{Backend, Job};
use crate::outcome::Outcome;
use crate::run::run;
use spmdvm::{Engine, Module, Options};

/// One of our engines. The program is compiled for each run, so that its globals are as they were.
pub struct OwnEngine {
    /// Which.
    pub engine: Engine,
}

impl OwnEngine {
    /// The engines with a JIT that run on this machine.
    pub fn compiling() -> Vec<OwnEngine> {
        let named = Engine::ALL.iter().filter(|engine| !matches!(engine, Engine::Auto | Engine::Interp));
        let here = named.filter(|engine| spmdvm::jit::available(engine.name()).is_ok());
        here.map(|&engine| OwnEngine { engine }).collect()
    }
}

impl Backend for OwnEngine {
    fn name(&self) -> String {
        self.engine.to_string()
    }

    fn run(&self, job: &Job<'_>) -> Result<Outcome, String> {
        let options = Options { engine: self.engine, ..job.options.clone() };
        let module = compile(job, &options).map_err(|error| format!("it does not compile:\n{error}"))?;
        module.check_engine().map_err(|error| error.to_string())?;
        Ok(run(job.case, &module))
    }
}

/// The module of a job's program: of its file, if it has one, for what it includes.
fn compile(job: &Job<'_>, options: &Options) -> Result<Module, spmdvm::CompileError> {
    match job.path {
        Some(path) => Module::compile_file(path, options),
        None => Module::compile(&job.case.name, &job.case.text, options),
    }
}
