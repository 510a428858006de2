//! What the program and others know of each other by name.

use super::Lowerer;
use crate::hir;
use spmdvm_vm::GlobalId;
use spmdvm_vm::program::{Import, Item, Symbol};

impl Lowerer<'_> {
    /// Has all lowered that other files can use.
    pub(super) fn symbols(&mut self) {
        let module = self.module;
        for symbol in &module.symbols {
            let symbol = self.symbol(symbol);
            self.program.symbols.push(symbol);
        }
    }

    /// What the lowered functions need. Called when there are no more of them.
    pub(super) fn imports(&mut self) {
        let module = self.module;
        for import in &module.imports {
            if matches!(import.symbol.item, hir::Item::Function(id) if !self.ids.contains_key(&id)) {
                continue;
            }
            let symbol = self.symbol(&import.symbol);
            let used = import.used.map_or_else(Default::default, |span| self.span(span));
            self.program.imports.push(Import { symbol, used, host: import.host.clone(), near: None });
        }
    }

    fn symbol(&mut self, symbol: &hir::LinkSymbol) -> Symbol {
        let item = match symbol.item {
            hir::Item::Function(id) => Item::Function(self.func_id(id)),
            hir::Item::Global(id) => Item::Global(GlobalId(id.0)),
        };
        Symbol {
            name: symbol.name.clone(),
            item,
            ty: symbol.ty.clone(),
            structs: symbol.structs.clone(),
            span: self.span(symbol.span),
        }
    }
}
