//! Random programs that always end, stay in bounds, and in the dialect of ISPC do nothing that ISPC leaves open.
//!
//! The rules that programs obey are numbered in `docs/oracle.md`; they hold by construction: expressions carry the range of what
//! they may be ([`types::Range`]), variables where they were declared, statements know which lanes may be active
//! ([`scope::Mask`]) and which expression differs from lane to lane, so that stores do not meet. A `Writer` ([`writer`]) writes a
//! text: [`kernel`] the program around, [`functions`] functions, [`statements`] and [`control`] statements, [`gang`] what looks at
//! other lanes, [`memory`] arrays and pointers, [`tables`] pointers in memory, [`integers`] and [`floats`] expressions.
//! [`arguments`] chooses inputs.
//! [`equivalent`](mod@equivalent) changes given programs so that they mean the same.

mod arguments;
mod control;
mod declarations;
mod each;
mod equivalent;
mod features;
mod floats;
mod functions;
mod gang;
mod integers;
mod kernel;
mod memory;
mod scope;
mod statements;
mod tables;
mod types;
mod writer;

pub use equivalent::equivalent;
pub use features::{FEATURES, Feature, FeatureRow, Features};

use crate::TestCase;
use std::str::FromStr;

/// Which language programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// What ISPC compiles, and defines.
    Ispc,
    /// With what is defined here alone.
    Spmdvm,
}

impl Dialect {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Ispc => "ispc",
            Dialect::Spmdvm => "spmdvm",
        }
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(name: &str) -> Result<Dialect, String> {
        let found = [Dialect::Ispc, Dialect::Spmdvm].into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| "a dialect is ispc or spmdvm".to_owned())
    }
}

/// What programs are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// About how many statements a program has.
    pub size: u32,
    /// What it may contain.
    pub features: Features,
    /// What it is written in.
    pub dialect: Dialect,
}

impl Config {
    /// The size of programs that compile and run within a millisecond or two.
    pub const SMALL: u32 = 10;

    /// What a dialect has by default, in programs of some hundred lines.
    pub fn of(dialect: Dialect) -> Config {
        Config { size: 40, features: Features::by_default(dialect), dialect }
    }

    /// The same with another size.
    pub fn sized(self, size: u32) -> Config {
        Config { size, ..self }
    }

    /// The same with one more feature.
    pub fn with(self, feature: Feature) -> Config {
        Config { features: self.features.with(feature), ..self }
    }

    /// The same without a feature.
    pub fn without(self, feature: Feature) -> Config {
        Config { features: self.features.without(feature), ..self }
    }
}

/// The program of a seed, and a call of it. It is the same on every machine.
///
/// The exported function is `f`. It prints a checksum of all state, and stores it in the array argument `sum`.
pub fn generate(seed: u64, config: &Config) -> TestCase {
    kernel::program(seed, config)
}
