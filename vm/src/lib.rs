//! The program, its semantics and the reference interpreter.
