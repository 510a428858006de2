//! Tables of lanes: masks as strips, values in columns under the numbers of their lanes.

use crate::variables::Lanes;
use std::fmt::Write;

/// Most characters of a value in a column.
const MAX_COLUMN: usize = 12;

/// How wide tables are before the rest of the lanes gets a table of its own.
const MAX_WIDTH: usize = 110;

/// A table under construction.
pub struct Table {
    /// The lanes that are shown, ascending.
    lanes: Vec<usize>,
    mask: u64,
    rows: Vec<(String, Vec<String>)>,
    color: bool,
}

impl Table {
    /// A table of these lanes, of which some are active.
    pub fn new(lanes: &[usize], mask: u64, color: bool) -> Table {
        Table { lanes: lanes.to_vec(), mask, rows: Vec::new(), color }
    }

    /// A row of a mask.
    pub fn mask(&mut self, name: &str, mask: u64) {
        let cell = |&l: &usize| if mask >> l & 1 == 1 { "■" } else { "·" }.to_owned();
        self.rows.push((name.to_owned(), self.lanes.iter().map(cell).collect()));
    }

    /// A row of values. Those of inactive lanes stand in parentheses; changed ones have a star.
    pub fn values(&mut self, name: &str, values: &Lanes, changed: u64) {
        let cell = |&l: &usize| {
            let text: String = values.text(l).chars().take(MAX_COLUMN).collect();
            let star = if changed >> l & 1 == 1 { "*" } else { "" };
            if self.mask >> l & 1 == 1 { format!("{text}{star}") } else { format!("({text}){star}") }
        };
        let cells = self.lanes.iter().map(cell).collect();
        self.rows.push((name.to_owned(), cells));
    }

    /// The table as text; nothing if it has no rows.
    pub fn render(&self) -> String {
        let mut text = String::new();
        if self.rows.is_empty() {
            return text;
        }
        let name_width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(4);
        let column = self.rows.iter().flat_map(|(_, cells)| cells).map(|cell| cell.chars().count()).max();
        let column = column.unwrap_or(0).max(2) + 1;
        let per_row = ((MAX_WIDTH.saturating_sub(name_width + 2)) / column).max(1);
        for from in (0..self.lanes.len()).step_by(per_row) {
            let to = self.lanes.len().min(from + per_row);
            let _ = write!(text, "  {:<name_width$}", "lane");
            for &lane in &self.lanes[from..to] {
                let _ = write!(text, "{lane:>column$}");
            }
            text.push('\n');
            for (name, cells) in &self.rows {
                let _ = write!(text, "  {name:<name_width$}");
                for (cell, &lane) in cells[from..to].iter().zip(&self.lanes[from..to]) {
                    let dim = self.color && self.mask >> lane & 1 == 0;
                    let (on, off) = if dim { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
                    let _ = write!(text, "{on}{cell:>column$}{off}");
                }
                text.push('\n');
            }
        }
        text
    }
}
