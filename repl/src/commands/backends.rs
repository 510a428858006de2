//! Other back ends, as the command line names them.

use crate::cli::CompilerArgs;
use crate::{Failure, words};
use spmdvm::Width;
use spmdvm_oracle::compare::Backend;
use spmdvm_oracle::compare::c::{self, C};
use spmdvm_oracle::compare::command::Command;
use spmdvm_oracle::compare::ispc::{self, Ispc};
use std::path::Path;
use std::time::Duration;

/// How long a run may take, if that is not said.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// A back end, or why there is none.
pub type Other = Result<Box<dyn Backend>, String>;

/// A back end as [`Other`].
pub fn boxed(backend: impl Backend + 'static) -> Other {
    Ok(Box::new(backend))
}

/// The back ends that are named.
pub struct Foreign<'a> {
    compilers: &'a CompilerArgs,
    commands: Vec<Vec<String>>,
    timeout: Duration,
}

impl<'a> Foreign<'a> {
    /// Fails if a command is empty or cannot be run, or the compiler cannot.
    pub fn new(commands: &[String], compilers: &'a CompilerArgs, timeout: Duration) -> Result<Foreign<'a>, Failure> {
        let command = |text: &String| {
            let why = |why| Failure::usage(format!("`{text}` is no command of a back end: {why}"));
            match words::split(text).map_err(why)? {
                words if words.is_empty() => {
                    Err(Failure::usage("a command is empty: give one, such as 'backend {source} {width}'"))
                }
                words => Command::check(&words).map_err(why).map(|()| words),
            }
        };
        let commands = commands.iter().map(command).collect::<Result<_, _>>()?;
        if let Some(compiler) = &compilers.ispc {
            let why = |why| Failure::usage(format!("--ispc: {why} (give its path: --ispc=PATH)"));
            ispc::version(compiler).map_err(why)?;
        }
        if let Some(compiler) = &compilers.c {
            let why = |why| Failure::usage(format!("--c: {why} (give its path: --c=PATH)"));
            c::version(compiler).map_err(why)?;
        }
        Ok(Foreign { compilers, commands, timeout })
    }

    /// Returns whether none is named.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.compilers.ispc.is_none() && self.compilers.c.is_none()
    }

    /// Those for gangs of a width.
    pub fn at(&self, width: Width) -> Vec<Other> {
        let commands = self.commands.iter().cloned();
        let mut others: Vec<Other> = commands.map(|words| boxed(Command { words, timeout: self.timeout })).collect();
        others.extend(self.compilers.ispc.iter().flat_map(|compiler| self.with_ispc(compiler, width)));
        let c = self.compilers.c.iter();
        others.extend(c.map(|compiler| boxed(C { compiler: compiler.to_owned(), timeout: self.timeout })));
        others
    }

    /// `ispc` for the targets of a width, at each level of optimisation.
    fn with_ispc(&self, compiler: &Path, width: Width) -> Vec<Other> {
        let targets = match self.compilers.ispc_target.as_slice() {
            [] => ispc::targets(width),
            given => given.iter().filter(|target| ispc::width_of(target) == Some(width)).cloned().collect(),
        };
        if targets.is_empty() {
            return vec![Err(format!("there is no target of ispc with gangs of {width} lanes"))];
        }
        let (levels, timeout) = (&self.compilers.ispc_opt, self.timeout);
        let at = |target: String, level: u32| boxed(Ispc { compiler: compiler.to_owned(), target, level, timeout });
        targets.iter().flat_map(|target| levels.iter().map(move |&level| at(target.clone(), level))).collect()
    }
}
