//! The facade of spmdvm: compile SPMD source and run it.
