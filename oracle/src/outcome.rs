//! What a run leaves behind, on any back end.

use spmdvm::{TrapKind, Ty};

/// All that can be seen of a run.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// It returned.
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
