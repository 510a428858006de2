//! Tests of the interpreter, by what they test.
