//! What a run leaves behind, on any back end.

use spmdvm::{TrapKind, Ty};

/// All that can be seen of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// The result, if the function has one: one word, or one per lane.
    pub result: Option<(Ty, Vec<u64>)>,
    /// The array arguments afterwards, by name.
    pub arrays: Vec<(String, Ty, Vec<u64>)>,
    /// What the program printed.
    pub printed: String,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum End {
    /// It returned.
    #[default]
    Returned,
    /// It trapped.
    Trapped {
        /// Why.
        kind: TrapKind,
        /// The first lane that it concerns, if it concerns lanes.
        lane: Option<u32>,
    },
    /// It was stopped by a limit, or the back end failed; the text says what happened.
    Stopped(String),
}

impl Outcome {
    /// A run that was stopped, or could not be made.
    pub fn stopped(why: impl Into<String>) -> Outcome {
        Outcome { end: End::Stopped(why.into()), ..Outcome::default() }
    }

    /// The elements of an array.
    pub fn array(&self, name: &str) -> Option<(Ty, &[u64])> {
        self.arrays.iter().find(|(known, ..)| known == name).map(|(_, ty, words)| (*ty, words.as_slice()))
    }
}
