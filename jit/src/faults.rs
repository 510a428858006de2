//! The faults that tests are to find, of all stages. Only with the feature `planted-faults`; see [`spmdvm_vm::faults`].

pub use spmdvm_vm::faults::{Fault, INTERPRETER, places, plant};

/// Every fault, in the order of the stages.
pub fn all() -> Vec<Fault<()>> {
    let interpreter = INTERPRETER.iter().map(Fault::row);
    let passes = crate::passes::faults::TABLE.iter().map(Fault::row);
    let clif = crate::clif::faults::TABLE.iter().map(Fault::row);
    let x86 = crate::x86::faults::TABLE.iter().map(Fault::row);
    interpreter.chain(passes).chain(clif).chain(x86).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique() {
        let names: HashSet<&str> = all().iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn every_pass_that_is_named_exists() {
        let passes: Vec<&str> = crate::passes::PASSES.iter().map(|pass| pass.0).chain(["record"]).collect();
        for fault in crate::passes::faults::TABLE {
            assert!(passes.contains(&fault.part), "{}: there is no pass {}", fault.name, fault.part);
        }
    }
}
