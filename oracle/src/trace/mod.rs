//! Recordings of what a run does, instruction by instruction.
