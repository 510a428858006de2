//! `spmdvm new`: a program to start from, with a script and a test.

use crate::{Failure, files};
use std::path::Path;

const PROGRAM: &str = "\
// NAME: what each lane does with one element of an array.

// Makes each element of `x` larger by the factor `k`, and clips it to at most `limit`.
export void scale(uniform float x[], uniform int n, uniform float k, uniform float limit) {
    foreach (i = 0 ... n) {
        float y = k * x[i];
        if (y > limit)
            y = limit;
        x[i] = y;
    }
}
";

const SCRIPT: &str = "\
\"\"\"Runs NAME.ispc on an array: python run.py\"\"\"

from pathlib import Path

import numpy as np
import spmdvm

module = spmdvm.compile_file(Path(__file__).with_name(\"NAME.ispc\"))

if __name__ == \"__main__\":
    x = np.linspace(0, 10, 11, dtype=np.float32)
    module.scale(x, len(x), 3.0, 20.0)
    print(x)
";

const TEST: &str = "\
\"\"\"Tests NAME.ispc: python -m pytest\"\"\"

import numpy as np
from run import module


def test_scale():
    x = np.arange(100, dtype=np.float32)
    expected = np.minimum(x * 3, 20)
    module.scale(x, len(x), 3.0, 20.0)
    np.testing.assert_array_equal(x, expected)
";

const README: &str = "\
# NAME

    spmdvm run NAME.ispc x=iota:f32:20 n=20 k=3 limit=30    # on the command line
    spmdvm repl NAME.ispc                                   # to explore it
    python run.py                                           # from Python
    python -m pytest                                        # the test
";

/// Makes a folder with the files of a starter.
pub fn new(path: &Path) -> Result<(), Failure> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !is_name {
        return Err(Failure::usage(format!(
            "`{name}` cannot be the name of a program: take letters, digits, `_` and `-`"
        )));
    }
    if path.exists() {
        return Err(Failure::usage(format!("{} is there already; choose another name", path.display())));
    }
    std::fs::create_dir_all(path).map_err(|e| files::unwritable(path, &e))?;
    let program = format!("{name}.ispc");
    let test = format!("test_{}.py", name.replace('-', "_"));
    let all = [(program.as_str(), PROGRAM), ("run.py", SCRIPT), (&test, TEST), ("README.md", README)];
    for (file, text) in all {
        files::write(&path.join(file), text.replace("NAME", name).as_bytes())?;
        println!("{}", path.join(file).display());
    }
    println!("try: spmdvm run {} x=iota:f32:20 n=20 k=3 limit=30", path.join(&program).display());
    Ok(())
}
