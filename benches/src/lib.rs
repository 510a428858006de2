//! What the benchmarks share: programs and inputs. Run them with `make bench`; they are never part of the tests.

pub mod crev;
pub mod large;

use std::fmt::Write as _;

/// A program of so many functions that looks like what people write: loops, branches, calls of the library.
pub fn typical_program(functions: usize) -> String {
    let mut text = String::new();
    for i in 0..functions {
        let _ = write!(
            text,
            "
// Function number {i}.
export void kernel{i}(uniform float a[], const uniform float b[], uniform int n, uniform float scale) {{
    foreach (i = 0 ... n) {{
        float x = b[i] * scale;
        float sum = 0;
        for (int k = 0; k < 8; ++k) {{
            if (x > 1) {{
                x = sqrt(x) - k;
            }} else {{
                x = x * x + {i};
            }}
            sum += x;
        }}
        a[i] = sum > 0 ? sum : -sum;
    }}
}}
"
        );
    }
    text
}
