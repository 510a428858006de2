//! From SPMD source text to a verified bytecode program.
