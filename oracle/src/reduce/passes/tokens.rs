//! Words and parentheses that may not be needed.

use super::Unit;
use crate::tree::{Edit, Tree};
use spmdvm::frontend::lex::TokenKind;

/// Words that say something about a declaration, and coherence of control flow.
pub fn without_words(tree: &Tree<'_>) -> Vec<Unit> {
    use TokenKind::{Const, Inline, Noinline, Signed, Static, Unsigned, Varying};
    let mut units = Vec::new();
    let tokens = tree.written().tokens();
    for (index, token) in tokens.iter().enumerate() {
        if token.is_own && matches!(token.kind, Const | Inline | Noinline | Signed | Static | Unsigned | Varying) {
            let end = tokens.get(index + 1).map_or(token.range().end, |next| next.range().start);
            units.push(vec![Edit::delete(token.range().start..end)]);
        }
    }
    units
}

/// Types of fewer or more usual values, and control flow without a hint.
pub fn simpler_types(tree: &Tree<'_>) -> Vec<Unit> {
    let simpler = |word: &str| match word {
        "int8" | "int16" | "int64" | "bool" => Some("int"),
        "uint8" | "uint16" | "uint64" => Some("uint32"),
        "uint" | "uint32" => Some("int"),
        "double" | "float16" => Some("float"),
        "cif" => Some("if"),
        "cfor" => Some("for"),
        "cwhile" => Some("while"),
        "cdo" => Some("do"),
        "foreach_tiled" => Some("foreach"),
        _ => None,
    };
    let tokens = tree.written().tokens().iter().filter(|token| token.is_own);
    tokens.filter_map(|token| Some(vec![Edit::replace(token.range(), simpler(&tree.text()[token.range()])?)])).collect()
}

/// Pairs of parentheses.
pub fn parentheses(tree: &Tree<'_>) -> Vec<Unit> {
    let tokens = tree.written().tokens();
    let pair = |(index, token): (usize, &crate::tree::WrittenToken)| {
        let closing = tokens.get(tree.written().closing(index)?)?;
        (token.is_own && closing.is_own && token.kind == TokenKind::LParen)
            .then(|| vec![Edit::delete(token.range()), Edit::delete(closing.range())])
    };
    tokens.iter().enumerate().filter_map(pair).collect()
}
