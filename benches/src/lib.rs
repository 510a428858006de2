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

/// The files of a program, each with so many lines and named after its number: they share a header, and every file calls
/// functions of the next one, which are of the same kind as those of [`typical_program`].
pub fn typical_files(files: usize, lines: usize) -> Vec<(String, String)> {
    (0..files)
        .map(|file| {
            let next = (file + 1) % files;
            let mut text = format!(
                "#define SCALE {file}.5f
static uniform int rounds = 8;
inline float shared(float x) {{ return x > 0 ? sqrt(x) : exp(x); }}
extern float step{next}_0(float x, uniform int k);
"
            );
            for i in 0..lines.saturating_sub(4) / 20 {
                let _ = write!(
                    text,
                    "
// Function number {i} of file {file}.
float step{file}_{i}(float x, uniform int k) {{
    if (x > 1)
        return shared(x) - k;
    return x * x + {i};
}}
export void kernel{file}_{i}(uniform float a[], const uniform float b[], uniform int n, uniform float scale) {{
    foreach (i = 0 ... n) {{
        float x = b[i] * scale * SCALE;
        float sum = 0;
        for (uniform int k = 0; k < rounds; ++k) {{
            x = step{file}_{i}(x, k);
            sum += step{next}_0(x, k);
        }}
        a[i] = sum > 0 ? sum : -sum;
    }}
}}

"
                );
            }
            (format!("file{file}.ispc"), text)
        })
        .collect()
}
