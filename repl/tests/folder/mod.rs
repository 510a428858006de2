//! A folder for a test, with programs and files that the tests of bad input name.

use std::path::PathBuf;

/// A folder of its own for each test, removed at the end.
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
}

/// A program with arrays.
pub const SCALE: &str = "export void scale(uniform float a[], uniform int n, uniform float k) {
    foreach (i = 0 ... n) a[i] *= k;
}
export uniform int total(const uniform int a[], uniform int n) {
    int sum = 0;
    foreach (i = 0 ... n) sum += a[i];
    return reduce_add(sum);
}
";

const VARYING: &str = "export float twice(float x) { return 2 * x; }
export uniform int choose(uniform bool b) { return b ? 1 : 2; }
";

const GLOBALS: &str = "struct Point { float x; int8 tag; };
extern uniform float x[];
extern uniform float grid[][2];
extern uniform int n;
uniform int fixed[2];
uniform Point point;
static uniform int hidden;
const uniform int limit = 5;
export uniform float sum() {
    uniform float s = hidden;
    for (uniform int i = 0; i < n; ++i) s += x[i];
    return s;
}
";

impl Folder {
    /// A folder with all files.
    pub fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("spmdvm-tests-{}-{test}", std::process::id()));
        std::fs::create_dir_all(path.join("folder")).expect("a folder");
        let folder = Folder { path };
        folder.file("scale.ispc", SCALE.as_bytes());
        folder.file("varying.ispc", VARYING.as_bytes());
        folder.file("globals.ispc", GLOBALS.as_bytes());
        folder.file("loop.ispc", b"export void f() { while (true) { } }");
        folder.file("empty.ispc", b"");
        folder.file("zeros.ispc", [0; 2]);
        folder.file("latin1.ispc", b"// a comment\nexport void gr\xfc\xdfe() { }\n");
        folder.file("latin1.spmdasm", b".width 4\n// gr\xfc\xdfe\n");
        folder.file("latin1.usimd", b"x = 1\n# gr\xfc\xdfe\n");
        folder.file("wrong.spmdasm", b"func f() {\n  nonsense\n}\n");
        folder.file("good.spmdasm", b"func f() {\n  ret\n}\n");
        folder.file("garbage.spmdb", b"SPMDgarbage that is long enough for a header");
        folder.file("cut.spmdb", b"SPMD");
        folder.arrays();
        folder
    }

    fn arrays(&self) {
        let data = [0u8; 16];
        self.npy("cut.npy", "<f4", "(100,)", false, &data);
        self.npy("huge.npy", "<f4", "(4611686018427387904, 8)", false, &data);
        self.npy("fortran.npy", "<f4", "(2, 2)", true, &data);
        self.npy("object.npy", "|O", "(2,)", false, &data);
        self.npy("bigendian.npy", ">f4", "(4,)", false, &data);
        self.npy("int.npy", "<i4", "(4,)", false, &data);
        self.file("garbage.npy", b"no numbers here");
        self.file("empty.npy", b"");
    }

    fn npy(&self, name: &str, descr: &str, shape: &str, fortran: bool, data: &[u8]) {
        let fortran = if fortran { "True" } else { "False" };
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        while !(header.len() + 11).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        self.file(name, &bytes);
    }

    /// Writes a file; gives its path.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
