//! The command line of spmdvm.

fn main() {}
