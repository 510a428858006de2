//! Globals: their images and the addresses in them.

use super::Lowerer;
use crate::hir::RelocationTarget;
use spmdvm_vm::GlobalId;
use spmdvm_vm::program::Global;
use spmdvm_vm::verify::MAX_GLOBAL_BYTES;

impl Lowerer<'_> {
    /// Lays out the globals, with the same ids as in the HIR.
    pub(super) fn globals(&mut self) {
        let module = self.module;
        let total = module.globals.iter().fold(0u64, |sum, global| sum.saturating_add(global.size));
        if let Some(largest) = module.globals.iter().max_by_key(|g| g.size).filter(|_| total > MAX_GLOBAL_BYTES) {
            let message = format!("the globals are too large: {total} bytes, where {MAX_GLOBAL_BYTES} are possible");
            self.unsupported(largest.span, message);
        }
        for global in &module.globals {
            let mut image = Global {
                name: global.name.clone(),
                size: global.size,
                init: global.init.clone(),
                constant: global.constant,
                relocations: Vec::new(),
            };
            for relocation in &global.relocations {
                match relocation.target {
                    RelocationTarget::Global(target, offset) => {
                        image.relocations.push((relocation.at, GlobalId(target.0), offset));
                    }
                    RelocationTarget::Function(target) => {
                        let value = u64::from(self.func_id(target).0) + 1;
                        write_word(&mut image.init, relocation.at as usize, value);
                    }
                }
            }
            self.program.globals.push(image);
        }
    }
}

fn write_word(image: &mut Vec<u8>, at: usize, value: u64) {
    if image.len() < at + 8 {
        image.resize(at + 8, 0);
    }
    image[at..at + 8].copy_from_slice(&value.to_le_bytes());
}
