//! Which registers of variables hold something at an instruction, however it is come to; and of what a translator declares, if
//! it has been assigned on some way.

use spmdvm::vm::flow::{each_written, edges};
use spmdvm::vm::{Function, Reg};

/// By instruction: the registers with names that have been written on every way there.
pub struct Assigned {
    /// By register: its bit, if it has a name.
    bits: Vec<Option<u32>>,
    /// By instruction: a set of bits in words.
    sets: Sets,
    /// Those that something other than a declaration has written on some way, if there are such declarations.
    written: Option<Sets>,
}

type Sets = Vec<Option<Vec<u64>>>;

impl Assigned {
    /// That of a function; `declares` tells of instructions whether they only declare.
    pub fn new(function: &Function, declares: impl Fn(usize) -> bool) -> Assigned {
        let mut n = 0;
        let is_constant = |reg: u32| function.constant_bits(Reg(reg)).is_some();
        let bit = |(reg, decl): (usize, &spmdvm::vm::program::RegDecl)| {
            let has_name = decl.name.is_some() && !is_constant(reg as u32);
            n += has_name as u32;
            has_name.then(|| n - 1)
        };
        let bits: Vec<Option<u32>> = function.regs.iter().enumerate().map(bit).collect();
        let mut assigned = Assigned { bits, sets: Vec::new(), written: None };
        let mut entry = vec![0; (n as usize).div_ceil(64)];
        (0..function.n_params).for_each(|reg| assigned.put(&mut entry, Reg(reg), true));
        assigned.sets = assigned.spread(function, entry.clone(), |_| true, |a, b| a & b);
        if (0..function.code.len()).any(&declares) {
            assigned.written = Some(assigned.spread(function, entry, |at| !declares(at), |a, b| a | b));
        }
        assigned
    }

    fn put(&self, set: &mut [u64], reg: Reg, is_in: bool) {
        if let Some(bit) = self.bits[reg.index()] {
            let word = &mut set[bit as usize / 64];
            *word = *word & !(1 << (bit % 64)) | (is_in as u64) << (bit % 64);
        }
    }

    /// From the first instruction on: what is known at an instruction is what is known on the ways to it, merged. What instructions
    /// write that do not count is not known any more.
    fn spread(
        &self,
        function: &Function,
        entry: Vec<u64>,
        counts: impl Fn(usize) -> bool,
        merge: impl Fn(u64, u64) -> u64,
    ) -> Sets {
        let mut sets: Sets = vec![None; function.code.len()];
        if function.code.is_empty() {
            return sets;
        }
        sets[0] = Some(entry);
        let mut todo = vec![0];
        while let Some(at) = todo.pop() {
            let Some(known) = sets[at].clone() else { continue };
            for edge in edges(&function.code, at) {
                let mut set = known.clone();
                let is_value = counts(at);
                each_written(function, &function.code[at], edge.jumps, |reg| self.put(&mut set, reg, is_value));
                let merged = match &sets[edge.to] {
                    Some(old) => old.iter().zip(&set).map(|(&a, &b)| merge(a, b)).collect(),
                    None => set,
                };
                if sets[edge.to].as_ref() != Some(&merged) {
                    sets[edge.to] = Some(merged);
                    todo.push(edge.to);
                }
            }
        }
        sets
    }

    /// Whether a register holds its variable at an instruction.
    pub fn is_assigned(&self, reg: Reg, pc: u32) -> bool {
        let bit = self.bits.get(reg.index()).copied().flatten();
        let is_in = |sets: &Sets| {
            let set = sets.get(pc as usize).and_then(Option::as_ref);
            set.zip(bit).is_some_and(|(set, bit)| set[bit as usize / 64] >> (bit % 64) & 1 == 1)
        };
        is_in(&self.sets) && self.written.as_ref().is_none_or(is_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_on_one_way_only_is_not_known() {
        let source = "export uniform int f(uniform int n) {
            uniform int a = 1;
            if (n > 3) { uniform int b = n * 2; a = b + n; } else { uniform int c = n * 3; a = c * n; }
            return a * 7;
        }";
        let module = spmdvm::Module::compile("t.ispc", source, &spmdvm::Options::default()).expect("it is right");
        let function = &module.program().functions[module.exports()[0].function.0 as usize];
        let assigned = Assigned::new(function, |_| false);
        let last = function.code.len() as u32 - 1;
        let known = |pc: u32| {
            let regs = (0..function.regs.len() as u32).filter(|&reg| assigned.is_assigned(Reg(reg), pc));
            let names = regs.filter_map(|reg| function.regs[reg as usize].name.as_deref());
            names.collect::<Vec<_>>()
        };
        assert_eq!(known(0), ["n"]);
        assert_eq!(known(last), ["n", "a"]);
        assert!((0..last).any(|pc| known(pc).contains(&"b")));
        assert!((0..last).all(|pc| !(known(pc).contains(&"b") && known(pc).contains(&"c"))));
    }
}
