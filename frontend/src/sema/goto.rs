//! `goto` and labels.
//!
//! All lanes must jump together, and arrive where the mask is the one they come with. So neither may stand under a
//! varying condition, and between them may be no `unmasked` block and no loop or `switch` that lanes leave one by one
//! (*parted*): those have an execution mask of their own. Whether a loop is parted is known only at its end, so jumps are
//! checked at the end of the function.

use super::body::{Control, Jump, Label, Nest};
use super::suggest::nearest;
use super::table::Checker;
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{LabelId, StmtKind};
use crate::source::Span;
use crate::symbol::Symbol;

impl<'a> Checker<'a, '_> {
    /// Enters a statement that `break` and `continue` may mean; `varying` says whether its own condition is.
    pub(super) fn enter_nest(&mut self, control: Control, varying: bool) {
        let id = self.body.n_nests;
        self.body.n_nests += 1;
        self.body.varying_depth += u32::from(varying);
        self.body.nests.push(Nest { control, id, depth: self.body.varying_depth });
        if control == Control::Unmasked {
            self.body.parted.insert(id);
        }
    }

    /// Leaves it again.
    pub(super) fn leave_nest(&mut self, varying: bool) {
        self.body.varying_depth -= u32::from(varying);
        self.body.nests.pop();
    }

    /// Notes that active lanes leave this statement, or end their turn; perhaps not all that are in it.
    pub(super) fn leaves(&mut self, nest: Nest) {
        if self.body.varying_depth > nest.depth {
            self.body.parted.insert(nest.id);
        }
    }

    fn label(&mut self, name: Symbol) -> &mut Label {
        let next = LabelId(self.body.labels.len() as u32);
        self.body.labels.entry(name).or_insert_with(|| Label::new(next))
    }

    fn path(&self) -> Vec<u32> {
        self.body.nests.iter().map(|nest| nest.id).collect()
    }

    /// A label's definition.
    pub(super) fn define_label(&mut self, name: ast::Ident) -> LabelId {
        let path = self.path();
        let label = self.label(name.name);
        let first = label.defined.as_ref().map(|first| first.span);
        let id = label.id;
        label.defined.get_or_insert(Jump { span: name.span, path });
        if let Some(first) = first {
            let error = Diagnostic::new(Code::BadGoto, name.span, format!("the label `{}` stands twice", name.name));
            self.error(error.label(first, "first here"));
        }
        if self.body.varying_depth > 0 {
            let message = "a label under varying control flow: lanes that jump there would not be those that came";
            self.error_at(Code::BadGoto, name.span, message);
        }
        id
    }

    /// `goto name;`
    pub(super) fn goto(&mut self, name: ast::Ident, span: Span) -> StmtKind {
        if self.body.varying_depth > 0 || self.body.foreach_depth > 0 {
            let error = Diagnostic::new(Code::BadGoto, span, "`goto` under varying control flow");
            self.error(error.at("not all lanes come here").help("use `if`, `break`, `continue` or `return`"));
        }
        let path = self.path();
        let label = self.label(name.name);
        label.uses.push(Jump { span: name.span, path });
        StmtKind::Goto(label.id)
    }

    /// Reports jumps to labels that do not exist, or that the mask cannot follow.
    pub(super) fn check_labels(&mut self) {
        let mut labels: Vec<(Symbol, Label)> = std::mem::take(&mut self.body.labels).into_iter().collect();
        labels.sort_by_key(|(_, label)| label.id.0);
        let defined: Vec<Symbol> =
            labels.iter().filter(|(_, label)| label.defined.is_some()).map(|(name, _)| *name).collect();
        for (name, label) in &labels {
            match &label.defined {
                Some(place) => label.uses.iter().for_each(|jump| self.check_jump(jump, place)),
                None => self.report_missing_label(*name, label, &defined),
            }
        }
        self.body.labels = labels.into_iter().collect();
    }

    fn report_missing_label(&mut self, name: Symbol, label: &Label, defined: &[Symbol]) {
        let Some(first) = label.uses.first() else { return };
        let defined = if self.diags.is_silent_at(first.span) { &[] } else { defined };
        let error = Diagnostic::new(Code::BadGoto, first.span, format!("there is no label `{name}` in this function"));
        self.error(match nearest(name, defined.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        });
    }

    fn check_jump(&mut self, jump: &Jump, label: &Jump) {
        let common = jump.path.iter().zip(&label.path).take_while(|(a, b)| a == b).count();
        let mut crossed = jump.path[common..].iter().chain(&label.path[common..]);
        if crossed.any(|id| self.body.parted.contains(id)) {
            let message =
                "`goto` cannot enter or leave an `unmasked` block, or a loop or `switch` that lanes leave one by one";
            let error = Diagnostic::new(Code::BadGoto, jump.span, message).label(label.span, "the label is here");
            self.error(error.help("set a variable, and test it after the statement"));
        }
    }
}
