//! The tracing JIT.
