//! Cells in aligned rows.

/// How rows are laid out.
pub struct Rows {
    /// Blanks before each row.
    pub indent: usize,
    /// Columns of the terminal.
    pub columns: usize,
    /// The number of cells, of which some may be left out.
    pub total: usize,
}

impl Rows {
    /// Cells, the first of which has the index `first`, in rows of a power of two cells each.
    pub fn lay_out(
        &self,
        cells: &[String],
        first: usize,
        paint: &dyn Fn(usize, &str) -> String,
        gutter: &dyn Fn(&str) -> String,
    ) -> String {
        let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        let label = self.total.saturating_sub(1).to_string().len();
        let room = self.columns.saturating_sub(self.indent + label + 1);
        let fitting = (room / (width + 1)).max(1);
        let per_row = 1usize << fitting.ilog2().min(5);
        let mut out = String::new();
        for (row, chunk) in cells.chunks(per_row).enumerate() {
            let at = first + row * per_row;
            let cells: Vec<String> = chunk
                .iter()
                .enumerate()
                .map(|(i, cell)| paint(row * per_row + i, &format!("{cell:>width$}")))
                .collect();
            out += &format!("{:1$}{2} {3}\n", "", self.indent, gutter(&format!("{at:>label$}│")), cells.join(" "));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned() {
        let cells: Vec<String> = [1, 20, 3, 4, 5].iter().map(ToString::to_string).collect();
        let rows = Rows { indent: 1, columns: 16, total: 13 };
        let text = rows.lay_out(&cells, 8, &|_, cell| cell.to_owned(), &|text| text.to_owned());
        assert_eq!(text, "  8│  1 20  3  4\n 12│  5\n");
    }
}
