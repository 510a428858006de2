//! Figure 6's program gives figure 7's trace, but for the errata that `docs/usimd.md` lists.

use super::super::{Entry, Row, RunOptions, trace};
use super::program;

const FIGURE_6: &str = include_str!("../../../../examples/usimd/figure6.usimd");

/// Figure 7, mended: label, instruction, variable, values or outcomes, active threads.
const FIGURE_7: &str = "
     | v0 = ↓tid          | v0 | 0 1 1 0     | ✓✓✓✓
     | v1 = (v0 == 0)     | v1 | 1 0 0 1     | ✓✓✓✓
     | bz v1, Done        |    | F T T F     | ✓✓✓✓
     | v2 = 4 * (tid + 1) | v2 | 4 * * 16    | ✓••✓
     | everywhere         |    |             | ✓••✓
     | v8 = 0             | v8 | 0 0 0 0     | ✓✓✓✓
Loop | jmp_mask v8, Call  |    | T T T T     | ✓✓✓✓
Call | v3 = shfl(v2, v8)  | v3 | 4 4 4 4     | ✓✓✓✓
     | v4 = v3 + tid      | v4 | 4 5 6 7     | ✓✓✓✓
     | v5 = ↓v4           | v5 | 2 1 3 4     | ✓✓✓✓
     | v6 = v5 + 1        | v6 | 3 2 4 5     | ✓✓✓✓
     | ↑v4 = v6           |    |             | ✓✓✓✓
Next | v8 = v8 + 1        | v8 | 1 1 1 1     | ✓✓✓✓
     | v7 = (v8 == 4)     | v7 | 0 0 0 0     | ✓✓✓✓
     | bz v7, Loop        |    | T T T T     | ✓✓✓✓
Loop | jmp_mask v8, Call  |    | F F F F     | ✓✓✓✓
     | jmp Next           |    | T T T T     | ✓✓✓✓
Next | v8 = v8 + 1        | v8 | 2 2 2 2     | ✓✓✓✓
     | v7 = (v8 == 4)     | v7 | 0 0 0 0     | ✓✓✓✓
     | bz v7, Loop        |    | T T T T     | ✓✓✓✓
Loop | jmp_mask v8, Call  |    | F F F F     | ✓✓✓✓
     | jmp Next           |    | T T T T     | ✓✓✓✓
Next | v8 = v8 + 1        | v8 | 3 3 3 3     | ✓✓✓✓
     | v7 = (v8 == 4)     | v7 | 0 0 0 0     | ✓✓✓✓
     | bz v7, Loop        |    | T T T T     | ✓✓✓✓
Loop | jmp_mask v8, Call  |    | T T T T     | ✓✓✓✓
Call | v3 = shfl(v2, v8)  | v3 | 16 16 16 16 | ✓✓✓✓
     | v4 = v3 + tid      | v4 | 16 17 18 19 | ✓✓✓✓
     | v5 = ↓v4           | v5 | 1 3 4 0     | ✓✓✓✓
     | v6 = v5 + 1        | v6 | 2 4 5 1     | ✓✓✓✓
     | ↑v4 = v6           |    |             | ✓✓✓✓
Next | v8 = v8 + 1        | v8 | 4 4 4 4     | ✓✓✓✓
     | v7 = (v8 == 4)     | v7 | 1 1 1 1     | ✓✓✓✓
     | bz v7, Loop        |    | F F F F     | ✓✓✓✓
     | end_everywhere     |    |             | ✓••✓
     | ↑tid = 1           |    |             | ✓••✓
Done | sync               |    |             | ✓••✓
Done | sync               |    |             | •✓✓•
";

fn shown(row: &Row) -> String {
    let values: Vec<String> = row.values.iter().map(Entry::to_string).collect();
    let marks: String = (0..4).map(|t| if row.active.contains(t) { '✓' } else { '•' }).collect();
    let (label, variable) = (row.label.as_deref().unwrap_or(""), row.variable.as_deref().unwrap_or(""));
    format!("{label} | {} | {variable} | {} | {marks}", row.instruction, values.join(" "))
}

/// The cells of a line, without the space that aligns them.
fn cells(line: &str) -> Vec<&str> {
    line.split('|').map(str::trim).collect()
}

#[test]
fn the_trace_is_figure_7() {
    let (trace, result) = trace(&program(FIGURE_6), &RunOptions::with_width(4), usize::MAX);
    result.expect("it ends");
    let expected: Vec<&str> = FIGURE_7.lines().skip(1).collect();
    for (i, (row, expected)) in trace.rows.iter().zip(&expected).enumerate() {
        assert_eq!(cells(&shown(row)), cells(expected), "row {i}");
    }
    assert_eq!(trace.rows.len(), expected.len());
}

#[test]
fn rows_0_and_3_of_the_matrix_are_incremented() {
    let expected = [1, 1, 1, 1, 3, 2, 4, 5, 1, 5, 6, 1, 2, 3, 1, 7, 2, 4, 5, 1];
    super::leaves(FIGURE_6, 4, &expected);
}

#[test]
fn the_table_has_figure_7s_columns() {
    let (trace, _) = trace(&program(FIGURE_6), &RunOptions::with_width(4), usize::MAX);
    let table = trace.table();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>().join(" "), "Instructions Var 0 1 2 3 0 1 2 3");
    assert!(table.contains("v2 = 4 * (tid + 1)  v2    4  *  * 16  ✓ • • ✓\n"), "{table}");
    assert!(table.contains("\nCall v3 = shfl(v2, v8)   v3    4  4  4  4  ✓ ✓ ✓ ✓\n"), "{table}");
}

#[test]
fn rows_beyond_the_wanted_are_counted() {
    let (trace, _) = trace(&program(FIGURE_6), &RunOptions::with_width(4), 10);
    assert_eq!((trace.rows.len(), trace.left_out), (10, 28));
}
