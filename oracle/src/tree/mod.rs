//! A source with its syntax tree, and edits of its text by the spans of nodes.
//!
//! A [`Tree`] lists the nodes of a program in the order of the text, outer ones before what they hold, and makes [`Edit`]s of
//! them: replace, delete, insert before or behind. [`Edits`] composes those that do not overlap and applies them. Nothing that
//! comes from a macro or an included file can be edited ([`written`](self::written)). What may be named at a place, and where a
//! statement stands, tells [`scope`](self::scope).
//!
//! The tree lives in an arena of its caller: `Tree::parse(&arena, "a.ispc", text, &options)`, then, say,
//! `tree.statements().filter_map(|id| tree.delete(id))`.

mod edit;
mod scope;
mod written;

pub use edit::{Edit, Edits, Overlap};
pub use scope::{Position, Visible};
pub use written::{Written, WrittenToken};

use spmdvm::frontend::Input;
use spmdvm::frontend::ast::{Expr, ExprKind, Function, Node, Role, Stmt, StmtKind, TranslationUnit};
use spmdvm::frontend::bumpalo::Bump;
use spmdvm::frontend::compile::syntax;
use spmdvm::frontend::lex::{Token, TokenKind};
use spmdvm::frontend::source::FileId;
use spmdvm::frontend::symbol::Symbol;
use spmdvm::{Options, Severity};
use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;

/// A node of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A source and its syntax tree.
pub struct Tree<'a> {
    text: &'a str,
    nodes: Vec<Entry<'a>>,
    /// After preprocessing, and whose text they are of: what `written` is made of when it is first asked for.
    tokens: Vec<Token>,
    main: FileId,
    written: OnceCell<Written>,
}

/// What is known of a node.
struct Entry<'a> {
    node: Node<'a>,
    role: Role,
    parent: Option<NodeId>,
    /// The node behind all that this one holds.
    end: u32,
}

/// Why a text has no tree: what is wrong with its syntax, a message each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unparsed(pub Vec<String>);

impl std::fmt::Display for Unparsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.join("\n"))
    }
}

impl std::error::Error for Unparsed {}

impl<'a> Tree<'a> {
    /// The tree of a text. `#include` reads only from the options' folders.
    pub fn parse(arena: &'a Bump, name: &str, text: &str, options: &Options) -> Result<Tree<'a>, Unparsed> {
        Tree::of(arena, Input::Text { name, text }, text, options)
    }

    /// The tree of a text that is to be read as if it stood in this file.
    pub fn parse_as(arena: &'a Bump, path: &Path, text: &str, options: &Options) -> Result<Tree<'a>, Unparsed> {
        Tree::of(arena, Input::Read { path, text }, text, options)
    }

    fn of(arena: &'a Bump, input: Input<'_>, text: &str, options: &Options) -> Result<Tree<'a>, Unparsed> {
        let Some(syntax) = syntax(input, &options.to_compile_options(), arena) else {
            return Err(Unparsed(vec!["the program is too long".into()]));
        };
        let errors = syntax.diagnostics.iter().filter(|diagnostic| diagnostic.code.severity() == Severity::Error);
        let errors: Vec<String> = errors.map(|diagnostic| diagnostic.message.clone()).collect();
        if !errors.is_empty() {
            return Err(Unparsed(errors));
        }
        let (text, written) = (arena.alloc_str(text), OnceCell::new());
        let mut tree = Tree { text, nodes: Vec::new(), tokens: syntax.tokens, main: syntax.main, written };
        tree.enter(syntax.unit);
        Ok(tree)
    }

    fn enter(&mut self, unit: &TranslationUnit<'a>) {
        unit.children(&mut |role, node| self.add(role, node, None));
    }

    fn add(&mut self, role: Role, node: Node<'a>, parent: Option<NodeId>) {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Entry { node, role, parent, end: 0 });
        node.children(&mut |role, child| self.add(role, child, Some(id)));
        self.nodes[id.index()].end = self.nodes.len() as u32;
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The tokens of the text before preprocessing.
    pub fn written(&self) -> &Written {
        self.written.get_or_init(|| Written::new(&self.tokens, self.main, self.text))
    }

    /// All nodes, in the order of the text.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The node itself.
    pub fn node(&self, id: NodeId) -> Node<'a> {
        self.nodes[id.index()].node
    }

    /// What the node is to the one that holds it.
    pub fn role(&self, id: NodeId) -> Role {
        self.nodes[id.index()].role
    }

    /// The node that holds this one; none for an item.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.index()].parent
    }

    /// The nodes around this one, the innermost first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |&id| self.parent(id))
    }

    /// The node and all that it holds.
    pub fn within(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        (id.0..self.nodes[id.index()].end).map(NodeId)
    }

    /// The nodes that this one holds directly.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.nodes[id.index()].end;
        let next = move |&child: &NodeId| Some(NodeId(self.nodes[child.index()].end)).filter(|next| next.0 < end);
        std::iter::successors(Some(NodeId(id.0 + 1)).filter(|first| first.0 < end), next)
    }

    /// The first child that is this to the node.
    pub fn child(&self, id: NodeId, role: Role) -> Option<NodeId> {
        self.children(id).find(|&child| self.role(child) == role)
    }

    /// The children that are this to the node.
    pub fn children_as(&self, id: NodeId, role: Role) -> impl Iterator<Item = NodeId> + '_ {
        self.children(id).filter(move |&child| self.role(child) == role)
    }

    /// The bytes that the node takes; none if a macro or another file has a part in it.
    pub fn range(&self, id: NodeId) -> Option<Range<usize>> {
        self.written().range(self.node(id).span())
    }

    /// The text of a node that has a range.
    pub fn source(&self, id: NodeId) -> Option<&'a str> {
        self.text.get(self.range(id)?)
    }

    /// The node as a statement.
    pub fn as_stmt(&self, id: NodeId) -> Option<&'a Stmt<'a>> {
        match self.node(id) {
            Node::Stmt(stmt) => Some(stmt),
            _ => None,
        }
    }

    /// The node as an expression.
    pub fn as_expr(&self, id: NodeId) -> Option<&'a Expr<'a>> {
        match self.node(id) {
            Node::Expr(expr) => Some(expr),
            _ => None,
        }
    }

    /// The node as a function.
    pub fn as_function(&self, id: NodeId) -> Option<&'a Function<'a>> {
        match self.node(id) {
            Node::Function(function) => Some(function),
            _ => None,
        }
    }

    /// The statements, in the order of the text, those that hold others before them.
    pub fn statements(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes().filter(|&id| self.as_stmt(id).is_some())
    }

    /// The expressions, likewise.
    pub fn expressions(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes().filter(|&id| self.as_expr(id).is_some())
    }

    /// The functions, defined and declared.
    pub fn functions(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes().filter(|&id| self.as_function(id).is_some())
    }

    /// The name that an expression is, if it is one.
    pub fn name(&self, id: NodeId) -> Option<Symbol> {
        match self.as_expr(id)?.kind {
            ExprKind::Name { name, .. } => Some(name.name),
            _ => None,
        }
    }

    /// The uses of a name within a node, as expressions.
    pub fn uses(&self, within: NodeId, name: Symbol) -> impl Iterator<Item = NodeId> + '_ {
        self.within(within).filter(move |&id| self.name(id) == Some(name))
    }

    /// Puts a text in the place of a node. An expression that does not stand by itself should be in parentheses.
    pub fn replace(&self, id: NodeId, text: impl Into<String>) -> Option<Edit> {
        Some(Edit::replace(self.range(id)?, text))
    }

    /// Puts a text in front of a statement of a block, on a line of its own, or of an item.
    pub fn insert_before(&self, id: NodeId, text: &str) -> Option<Edit> {
        let range = self.range(self.listed(id)?)?;
        Some(Edit::insert(range.start, format!("{text}\n{}", self.indentation(range.start))))
    }

    /// Likewise behind one.
    pub fn insert_after(&self, id: NodeId, text: &str) -> Option<Edit> {
        let id = self.listed(id)?;
        let range = self.with_semicolon(id, self.range(id)?);
        Some(Edit::insert(range.end, format!("\n{}{text}", self.indentation(range.start))))
    }

    /// The node if others can stand beside it.
    fn listed(&self, id: NodeId) -> Option<NodeId> {
        let is_item = matches!(self.node(id), Node::Item(_));
        (is_item || self.role(id) == Role::Statement).then_some(id)
    }

    /// Takes a node away, with the comma or semicolon that belongs to it, and the line if nothing else stands there. A
    /// statement that something must stand in the place of becomes an empty one. Other nodes that cannot be left out have none.
    pub fn delete(&self, id: NodeId) -> Option<Edit> {
        let range = self.range(id)?;
        match (self.node(id), self.role(id)) {
            (Node::Item(_), _) | (Node::Stmt(_), Role::Statement) => {
                Some(Edit::delete(self.whole_lines(self.with_semicolon(id, range))))
            }
            (Node::Stmt(_), Role::Else) => {
                let keyword = self.written().last_before(range.start).filter(|token| token.kind == TokenKind::Else)?;
                Some(Edit::delete(self.whole_lines(keyword.range().start..range.end)))
            }
            (Node::Stmt(_), Role::First) => Some(Edit::replace(range, ";")),
            (Node::Stmt(_), _) => Some(Edit::replace(range, "{}")),
            (Node::Variable(variable), Role::Declared) => self.delete_variable(id, variable.name.span.lo as usize),
            (Node::Member(_), _) if !self.is_comma_behind(&range) => {
                Some(Edit::delete(self.whole_lines(self.with_semicolon(id, range))))
            }
            (
                Node::Param(_) | Node::Enumerator(_) | Node::Member(_) | Node::ForeachDim(_) | Node::TemplateParam(_),
                _,
            ) => Some(Edit::delete(self.with_comma(range))),
            (Node::Expr(_), Role::Argument) => Some(Edit::delete(self.with_comma(range))),
            (Node::Expr(_), Role::Step) => Some(Edit::delete(range)),
            (Node::Expr(_), Role::Init) => {
                let equals = self.written().last_before(range.start).filter(|token| token.kind == TokenKind::Eq)?;
                Some(Edit::delete(self.with_blanks_before(equals.range().start..range.end)))
            }
            _ => None,
        }
    }

    /// One of several variables of a declaration; the only one is deleted as a statement or an item.
    fn delete_variable(&self, id: NodeId, name: usize) -> Option<Edit> {
        let (parent, range) = (self.parent(id)?, self.range(id)?);
        let declared: Vec<NodeId> = self.children_as(parent, Role::Declared).collect();
        match declared.as_slice() {
            [_] => self.delete(parent),
            [first, ..] if *first == id => Some(Edit::delete(self.with_comma(name..range.end))),
            _ => Some(Edit::delete(self.with_comma(range))),
        }
    }

    fn is_comma_behind(&self, range: &Range<usize>) -> bool {
        self.written().first_from(range.end).is_some_and(|token| token.kind == TokenKind::Comma)
    }

    /// The range with the comma behind it, or else the one before it.
    fn with_comma(&self, range: Range<usize>) -> Range<usize> {
        let tokens = self.written().tokens();
        let behind = tokens.partition_point(|token| token.range().start < range.end);
        if self.is_comma_behind(&range) {
            let end = tokens.get(behind + 1).map_or(tokens[behind].range().end, |next| next.range().start);
            return range.start..end;
        }
        match self.written().last_before(range.start) {
            Some(token) if token.kind == TokenKind::Comma => token.range().start..range.end,
            _ => range,
        }
    }

    /// The range with the semicolon that ends the definition of a type, or a member.
    fn with_semicolon(&self, id: NodeId, range: Range<usize>) -> Range<usize> {
        let ends_before = match self.node(id) {
            Node::Stmt(stmt) => matches!(stmt.kind, StmtKind::Struct(_) | StmtKind::Enum(_) | StmtKind::Function(_)),
            Node::Item(_) | Node::Member(_) => !self.text[range.clone()].ends_with(';'),
            _ => false,
        };
        match self.written().first_from(range.end).filter(|token| token.kind == TokenKind::Semi) {
            Some(token) if ends_before => range.start..token.range().end,
            _ => range,
        }
    }

    fn with_blanks_before(&self, range: Range<usize>) -> Range<usize> {
        self.text[..range.start].trim_end_matches([' ', '\t']).len()..range.end
    }

    /// The range with all of its first and last lines, if nothing else stands on them.
    fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let before = self.with_blanks_before(range.clone()).start;
        let begins_line = before == 0 || self.text[..before].ends_with('\n');
        let behind = self.text[range.end..].trim_start_matches([' ', '\t', '\r']);
        match behind.strip_prefix('\n') {
            Some(next) if begins_line => before..self.text.len() - next.len(),
            None if begins_line && behind.is_empty() => before..self.text.len(),
            _ if !begins_line => before..range.end,
            _ => range,
        }
    }

    /// The blanks that the line of an offset begins with.
    fn indentation(&self, offset: usize) -> &'a str {
        let line = self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let blanks = self.text[line..offset].find(|c| !matches!(c, ' ' | '\t')).unwrap_or(offset - line);
        &self.text[line..line + blanks]
    }
}

#[cfg(test)]
mod tests;
