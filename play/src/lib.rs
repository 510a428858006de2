//! The playground: a page to explore SPMD programs on, served on the loopback interface.
//!
//! ```text
//! browser ─ http ─► guard ─► api ─► check    (compile: diagnostics, functions and words for their arguments)
//!  (page)   one      token,   JSON  runs     (call: results, arrays, prints, a trap, what became of each line)
//!           request  host,    in    stepping (record a call; show any of its steps)
//!           each     origin   and out
//! ```
//!
//! [`Server`] listens; [`http`] reads requests; `guard` refuses those that do not come from the page it served ([`page`], with
//! the programs in [`examples`]); `api` has one row per thing that can be asked. Everything else is the facade's and the stepper's.
//! Programs come from the page and run under limits ([`Settings`]); nothing that a page sends names a file.

mod api;
mod arguments;
mod check;
pub mod examples;
mod guard;
pub mod http;
mod numbers;
pub mod page;
mod runs;
mod server;
mod stepping;
mod timeline;

pub use server::{MAX_BODY, Server, Settings};
