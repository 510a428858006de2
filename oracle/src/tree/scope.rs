//! Where a statement stands, and what may be named there.

use super::{NodeId, Tree};
use spmdvm::frontend::ast::{Basic, Function, Node, Role, StmtKind, TypeExpr, TypeKind, Variability};
use spmdvm::frontend::symbol::Symbol;

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The function around it.
    pub function: Option<NodeId>,
    /// The block whose list it is in, itself or with a statement around it.
    pub block: Option<NodeId>,
    /// Its number, or that of the statement around it, in that list.
    pub index: usize,
    /// Loops around it, within the function.
    pub loop_depth: usize,
}

/// Something that holds a value and can be named.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'a> {
    /// The name.
    pub name: Symbol,
    /// What declares it: a variable, a parameter, a dimension of `foreach`, or the statement `foreach_active` or `foreach_unique`.
    pub declared_by: NodeId,
    /// Its type as written; none for what loops declare: those of `foreach` are varying `int`.
    pub ty: Option<&'a TypeExpr<'a>>,
    /// Whether it stands outside of functions.
    pub is_global: bool,
}

impl Visible<'_> {
    /// The built-in type that it has, if it is a single value of one, as far as that is written.
    pub fn basic(&self) -> Option<Basic> {
        match self.ty?.kind {
            TypeKind::Basic(basic) => Some(basic),
            _ => None,
        }
    }

    /// Whether it can be assigned to, as far as its own type says.
    pub fn is_assignable(&self) -> bool {
        self.ty.is_some_and(|ty| !ty.quals.is_const && !matches!(ty.kind, TypeKind::Array { .. } | TypeKind::Error))
    }

    /// The variability of a single value: as written, or varying.
    pub fn variability(&self) -> Variability {
        self.ty.and_then(|ty| ty.quals.variability).unwrap_or(Variability::Varying)
    }
}

impl<'a> Tree<'a> {
    /// Where a node stands.
    pub fn position(&self, id: NodeId) -> Position {
        let function = self.ancestors(id).find(|&around| self.as_function(around).is_some());
        let listed = std::iter::once(id).chain(self.ancestors(id)).find(|&id| self.role(id) == Role::Statement);
        let block = listed.and_then(|listed| self.parent(listed));
        let index = block.map_or(0, |block| self.children(block).take_while(|&child| Some(child) != listed).count());
        let inside = self.ancestors(id).take_while(|&around| Some(around) != function);
        Position { function, block, index, loop_depth: inside.filter(|&around| self.is_loop(around)).count() }
    }

    /// Whether a node is a loop.
    pub fn is_loop(&self, id: NodeId) -> bool {
        use StmtKind::{DoWhile, For, Foreach, ForeachActive, ForeachUnique, While};
        let is_loop = |kind: &StmtKind<'_>| {
            matches!(
                kind,
                While { .. }
                    | DoWhile { .. }
                    | For { .. }
                    | Foreach { .. }
                    | ForeachActive { .. }
                    | ForeachUnique { .. }
            )
        };
        self.as_stmt(id).is_some_and(|stmt| is_loop(&stmt.kind))
    }

    /// What can be named just before a node, the innermost first; what is hidden is left out. Declarations in an `unmasked`
    /// block, which are seen after it too, are told only within it.
    pub fn visible_at(&self, id: NodeId) -> Vec<Visible<'a>> {
        let mut found = Vec::new();
        let mut below = id;
        for around in self.ancestors(id) {
            self.declared_before(around, below, &mut found);
            below = around;
        }
        let items = self.nodes().filter(|&item| self.parent(item).is_none());
        let before: Vec<NodeId> = items.take_while(|&item| item < below).collect();
        for item in before.into_iter().rev() {
            self.variables_of(item, true, &mut found);
        }
        let mut seen = Vec::new();
        found.retain(|visible| {
            !seen.contains(&visible.name) && {
                seen.push(visible.name);
                true
            }
        });
        found
    }

    /// What a node declares that its part `below` sees.
    fn declared_before(&self, around: NodeId, below: NodeId, found: &mut Vec<Visible<'a>>) {
        match self.node(around) {
            Node::Block(_) => {
                let before: Vec<NodeId> = self.children(around).take_while(|&child| child < below).collect();
                before.into_iter().rev().for_each(|stmt| self.variables_of(stmt, false, found));
            }
            Node::Function(function) => self.params_of(around, function, found),
            Node::Stmt(stmt) => match stmt.kind {
                StmtKind::For { .. } if self.role(below) != Role::First => {
                    self.child(around, Role::First)
                        .into_iter()
                        .for_each(|first| self.variables_of(first, false, found));
                }
                StmtKind::Variables(_) => {
                    let earlier: Vec<NodeId> = self.children(around).take_while(|&child| child < below).collect();
                    earlier.into_iter().rev().for_each(|variable| self.variable(variable, false, found));
                }
                StmtKind::Foreach { .. } if self.role(below) == Role::Body => {
                    self.children_as(around, Role::Dim).for_each(|dim| self.counter(dim, found));
                }
                StmtKind::ForeachActive { .. } | StmtKind::ForeachUnique { .. } if self.role(below) == Role::Body => {
                    self.counter(around, found);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn variables_of(&self, declaration: NodeId, is_global: bool, found: &mut Vec<Visible<'a>>) {
        let variables: Vec<NodeId> = self.children_as(declaration, Role::Declared).collect();
        variables.into_iter().rev().for_each(|variable| self.variable(variable, is_global, found));
    }

    fn variable(&self, id: NodeId, is_global: bool, found: &mut Vec<Visible<'a>>) {
        if let Node::Variable(variable) = self.node(id) {
            found.push(Visible { name: variable.name.name, declared_by: id, ty: Some(variable.ty), is_global });
        }
    }

    fn params_of(&self, id: NodeId, function: &'a Function<'a>, found: &mut Vec<Visible<'a>>) {
        for (param, declared_by) in function.params.iter().zip(self.children_as(id, Role::Param)) {
            let visible = |name| Visible { name, declared_by, ty: Some(param.ty), is_global: false };
            found.extend(param.name.map(|name| visible(name.name)));
        }
    }

    fn counter(&self, id: NodeId, found: &mut Vec<Visible<'a>>) {
        let name = self.node(id).declared_name();
        found.extend(name.map(|name| Visible { name: name.name, declared_by: id, ty: None, is_global: false }));
    }
}
