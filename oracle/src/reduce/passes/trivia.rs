//! What has no meaning: comments, empty lines, indentation.

use super::Unit;
use super::calls::is_call;
use crate::tree::{Edit, Tree};
use std::ops::Range;

/// Comments, but for those that say which call is meant.
pub fn comments(tree: &Tree<'_>) -> Vec<Unit> {
    let mut units = Vec::new();
    for gap in gaps(tree) {
        let mut at = gap.start;
        while let Some(comment) = next_comment(tree.text(), at..gap.end) {
            at = comment.end;
            if !is_call(&tree.text()[comment.clone()]) {
                units.push(vec![Edit::replace(comment, " ")]);
            }
        }
    }
    units
}

/// What stands between the tokens of the text: blanks and comments.
fn gaps(tree: &Tree<'_>) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut end = 0;
    for token in tree.written().tokens() {
        gaps.push(end..token.range().start.max(end));
        end = token.range().end;
    }
    gaps.push(end..tree.text().len());
    gaps
}

/// The first comment of a gap.
fn next_comment(text: &str, gap: Range<usize>) -> Option<Range<usize>> {
    let rest = &text[gap.clone()];
    let start = rest.find("//").into_iter().chain(rest.find("/*")).min()?;
    let comment = &rest[start..];
    let len = match comment.starts_with("//") {
        true => comment.find('\n').unwrap_or(comment.len()),
        false => comment.find("*/")? + 2,
    };
    Some(gap.start + start..gap.start + start + len)
}

/// Lines with nothing but blanks, and blanks at the ends of lines.
pub fn empty_lines(tree: &Tree<'_>) -> Vec<Unit> {
    let lines = tree.text().lines().map(str::trim_end).filter(|line| !line.is_empty());
    whole(tree, lines.map(|line| format!("{line}\n")).collect())
}

/// Lines indented by the braces around them.
pub fn indentation(tree: &Tree<'_>) -> Vec<Unit> {
    let (mut depth, mut text) = (0usize, String::new());
    for line in tree.text().lines() {
        let line = line.trim();
        let closes = line.chars().take_while(|&c| c == '}').count();
        let level = if line.starts_with('#') { 0 } else { depth.saturating_sub(closes) };
        text += &format!("{:width$}{line}\n", "", width = 2 * level);
        let braces = line.split("//").next().unwrap_or_default();
        depth = (depth + braces.matches('{').count()).saturating_sub(braces.matches('}').count());
    }
    whole(tree, text)
}

fn whole(tree: &Tree<'_>, text: String) -> Vec<Unit> {
    let changed = text != tree.text();
    changed.then(|| vec![Edit::replace(0..tree.text().len(), text)]).into_iter().collect()
}
