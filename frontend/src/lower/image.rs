//! Globals: their images and the addresses in them.

use super::Lowerer;
use crate::hir::{self, Linkage, RelocationTarget, Shape, TypeId, TypeKind};
use spmdvm_vm::GlobalId;
use spmdvm_vm::program::{ArrayShape, Global, Home, HostAccess, HostGlobal, Target, Variable};
use spmdvm_vm::verify::MAX_GLOBAL_BYTES;

impl Lowerer<'_> {
    /// Lays out the globals, with the same ids as in the HIR.
    pub(super) fn globals(&mut self) {
        let module = self.module;
        let own = module.globals.iter().filter(|global| global.linkage != Linkage::Extern);
        let total = own.clone().fold(0u64, |sum, global| sum.saturating_add(global.size));
        if let Some(largest) = own.max_by_key(|g| g.size).filter(|_| total > MAX_GLOBAL_BYTES) {
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
                host: host_global(global),
            };
            for relocation in &global.relocations {
                match relocation.target {
                    RelocationTarget::Global(target, offset) => {
                        image.relocations.push((relocation.at, Target::Global(GlobalId(target.0), offset)));
                    }
                    RelocationTarget::Function(target) => {
                        image.relocations.push((relocation.at, Target::Function(self.func_id(target))));
                    }
                }
            }
            self.program.globals.push(image);
        }
        for (index, global) in module.globals.iter().enumerate() {
            let home = Home::Global(GlobalId(index as u32));
            let shape = self.array_shape(global.ty);
            let (name, layout) = (global.name.clone(), None);
            self.program.variables.push(Variable { home, name, offset: 0, shape, layout, varying: false });
        }
    }

    /// How the elements of a type follow one another, for messages about indices: what is no array is one element.
    pub(super) fn array_shape(&self, ty: TypeId) -> ArrayShape {
        let types = &self.module.types;
        let (mut elem, mut extents) = (ty, Vec::new());
        while let TypeKind::Array(inner, len) = *types.kind(elem) {
            extents.push(len.unwrap_or(0));
            elem = inner;
        }
        match *types.kind(elem) {
            TypeKind::Vector(component, len) if extents.is_empty() => {
                (elem, extents) = (component, vec![u64::from(len)]);
            }
            _ if extents.is_empty() => extents.push(1),
            _ => {}
        }
        // Arrays of `soa` count instances, of which a block holds several: nothing is said of them.
        let stride = if matches!(types.shape(elem), Shape::Soa(_)) { 0 } else { types.size(elem, self.lanes()) };
        ArrayShape { stride, extents }
    }
}

/// How hosts see a global.
fn host_global(global: &hir::Global) -> Option<HostGlobal> {
    let access = match global.linkage {
        Linkage::Internal => return None,
        Linkage::Extern => HostAccess::Supply,
        Linkage::Shared if !global.constant => HostAccess::Write,
        Linkage::Shared | Linkage::File => HostAccess::Read,
    };
    Some(HostGlobal { layout: global.layout.clone()?, access })
}
