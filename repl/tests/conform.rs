//! `spmdvm conform` as a user meets it: what passes, what fails and why, what is skipped, and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("spmdvm-conform-{}-{test}", std::process::id()));
        std::fs::create_dir_all(path.join("cases")).expect("a folder");
        Folder(path)
    }

    /// Writes a program into the folder `cases`.
    fn case(&self, name: &str, text: &str) {
        std::fs::write(self.0.join("cases").join(name), text).expect("a file");
    }

    /// Runs the command over the folder `cases`.
    fn conform(&self, more: &[&str]) -> Ran {
        let cases = self.0.join("cases");
        conform(&[&[cases.to_str().expect("a plain path")], more].concat())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the command did.
struct Ran {
    code: Option<i32>,
    shown: String,
    said: String,
}

fn conform(args: &[&str]) -> Ran {
    let output: Output =
        Command::new(env!("CARGO_BIN_EXE_spmdvm")).arg("conform").args(args).output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), shown: text(&output.stdout), said: text(&output.stderr) }
}

impl Ran {
    #[track_caller]
    fn last_line_is(&self, expected: &str) {
        assert_eq!(self.shown.lines().last(), Some(expected), "{}{}", self.shown, self.said);
    }

    /// The one line about a file.
    #[track_caller]
    fn line_about(&self, file: &str) -> &str {
        let mut lines = self.shown.lines().filter(|line| line.contains(file));
        let line = lines.next().unwrap_or_else(|| panic!("no line about {file}: {}", self.shown));
        assert!(lines.next().is_none(), "several lines about {file}: {}", self.shown);
        line
    }
}

/// A program whose test is `function` and expects `expected` in every lane.
fn program(function: &str, expected: &str) -> String {
    format!("{function}\nexport void result(uniform float RET[]) {{ RET[programIndex] = {expected}; }}\n")
}

/// Every signature, with a test that sees all its arguments.
const SIGNATURES: [(&str, &str, &str); 7] = [
    ("f_v", "export void f_v(uniform float RET[]) { RET[programIndex] = TEST_SIG + 7; }", "7"),
    (
        "f_f",
        "export void f_f(uniform float RET[], uniform float a[]) { RET[programIndex] = a[programIndex] + 10 * TEST_SIG; }",
        "programIndex + 11",
    ),
    (
        "f_fu",
        "export void f_fu(uniform float RET[], uniform float a[], uniform float b) { RET[programIndex] = a[programIndex] * b + TEST_SIG; }",
        "5 * programIndex + 7",
    ),
    (
        "f_fi",
        "export void f_fi(uniform float RET[], uniform float a[], uniform int b[]) { RET[programIndex] = a[programIndex] + 100 * b[programIndex] + TEST_SIG; }",
        "201 * programIndex + 204",
    ),
    (
        "f_du",
        "export void f_du(uniform float RET[], uniform double a[], uniform double b) { RET[programIndex] = a[programIndex] * b + TEST_SIG; }",
        "5 * programIndex + 9",
    ),
    (
        "f_duf",
        "export void f_duf(uniform float RET[], uniform double a[], uniform float b) { RET[programIndex] = a[programIndex] * b + TEST_SIG; }",
        "5 * programIndex + 10",
    ),
    (
        "f_di",
        "export void f_di(uniform float RET[], uniform double a[], uniform int b[]) { RET[programIndex] = a[programIndex] + 100 * b[programIndex] + TEST_SIG; }",
        "101 * programIndex + 507",
    ),
];

#[test]
fn every_signature_gets_its_arguments() {
    let folder = Folder::new("signatures");
    for (name, function, expected) in SIGNATURES {
        folder.case(&format!("{name}.ispc"), &program(function, expected));
        folder.case(&format!("{name}_wrong.ispc"), &program(function, &format!("{expected} + 1")));
    }
    let ran = folder.conform(&["--width", "1,8,64"]);
    ran.last_line_is("21 passed, 21 failed, 0 skipped");
    assert!(ran.shown.contains("width 8, auto: 7 passed, 7 failed, 0 skipped"), "{}", ran.shown);
    assert_eq!(ran.code, Some(1));
}

#[test]
fn arrays_hold_256_elements_and_ret_starts_low() {
    let folder = Folder::new("arrays");
    let sum = "export void f_f(uniform float RET[], uniform float a[]) {
        uniform float last = a[255];
        RET[programIndex] = (RET[programIndex] < -9e19 && RET[255] < -9e19) ? last : 0;
    }";
    folder.case("whole.ispc", &program(sum, "256"));
    folder.case("beyond.ispc", &program(&sum.replace("a[255]", "a[256]"), "256"));
    // `result` starts from zeros.
    folder.case(
        "zeros.ispc",
        "export void f_v(uniform float RET[]) { RET[programIndex] = 0; }
         export void result(uniform float RET[]) { }",
    );
    let ran = folder.conform(&["--width", "4"]);
    ran.last_line_is("2 passed, 1 failed, 0 skipped");
    let line = ran.line_about("beyond.ispc");
    assert!(line.contains("trap out_of_bounds") && line.contains("beyond.ispc:2:"), "{line}");
}

#[test]
fn tasks_are_run_with_and_without_a_header() {
    let folder = Folder::new("tasks");
    let header = "#if TEST_SIG == 2
task void f_fu(uniform float r[], uniform float a[], uniform float b);
export void f_fu_cpu_entry_point(uniform float r[], uniform float a[], uniform float b) { launch[1] f_fu(r, a, b); }
#endif
task void result(uniform float r[]);
export void result_cpu_entry_point(uniform float r[]) { launch[1] result(r); }
";
    std::fs::create_dir_all(folder.0.join("headers")).expect("a folder");
    std::fs::write(folder.0.join("headers/entries.isph"), header).expect("a file");
    let tasks =
        "task void f_fu(uniform float RET[], uniform float a[], uniform float b) { RET[programIndex] = a[0] + b; }
task void result(uniform float RET[]) { RET[programIndex] = 6; }
";
    folder.case("with.ispc", &format!("#include \"entries.isph\"\n{tasks}"));
    folder.case("without.ispc", tasks);
    let headers = folder.0.join("headers");
    let ran = folder.conform(&["-I", headers.to_str().expect("a plain path")]);
    ran.last_line_is("2 passed, 0 failed, 0 skipped");
    assert_eq!(ran.code, Some(0));
    let ran = folder.conform(&[]);
    ran.last_line_is("1 passed, 1 failed, 0 skipped");
    assert!(ran.line_about("with.ispc").contains("E0012"), "{}", ran.shown);
}

#[test]
fn sizes_of_structs_are_those_of_the_host() {
    let folder = Folder::new("sizes");
    let size = "struct f_sz { uniform int8 c; int a; };
export void result(uniform float RET[]) { RET[0] = sizeof(f_sz) + OFF; }\n";
    let exported = "export void keep(varying f_sz * uniform p) { }\n";
    folder.case("exported.ispc", &format!("{size}{exported}").replace("OFF", "0"));
    folder.case("inner.ispc", &size.replace("OFF", "0"));
    folder.case("wrong.ispc", &size.replace("OFF", "1"));
    let ran = folder.conform(&["--width", "4"]);
    ran.last_line_is("2 passed, 1 failed, 0 skipped");
    assert!(ran.line_about("wrong.ispc").contains("lane 0 is 32.0, but should be 33.0"), "{}", ran.shown);
}

#[test]
fn prints_are_compared_by_halves() {
    let folder = Folder::new("prints");
    let print =
        |what: &str, expected: &str| format!("export void {what}\nexport void print_result() {{ {expected} }}\n");
    let uf = "print_uf(uniform float b) { print(\"% %\\n\", b, TEST_SIG); }";
    let f = "print_f(uniform float a[]) { print(\"%\\n\", a[1]); }";
    let fuf = "print_fuf(uniform float a[], uniform float b) { print(\"%\\n\", a[2] + b); }";
    folder.case("uf.ispc", &print(uf, "print(\"5.000000 32\\n\");"));
    folder.case("f.ispc", &print(f, "print(\"2.000000\\n\");"));
    folder.case("fuf.ispc", &print(fuf, "print(\"8.000000\\n\");"));
    folder.case("other.ispc", &print(f, "print(\"3.000000\\n\");"));
    folder.case("longer.ispc", &print(f, "print(\"2.000000\\n\\n\");"));
    folder.case("nothing.ispc", &print("print_uf(uniform float b) { }", ""));
    let ran = folder.conform(&[]);
    ran.last_line_is("3 passed, 3 failed, 0 skipped");
    assert!(ran.line_about("other.ispc").contains("line 1 is \"2.000000\""), "{}", ran.shown);
    assert!(ran.line_about("longer.ispc").contains("3 lines"), "{}", ran.shown);
    assert!(ran.line_about("nothing.ispc").contains("prints nothing"), "{}", ran.shown);
}

#[test]
fn failures_have_reasons() {
    let folder = Folder::new("reasons");
    folder.case(
        "values.ispc",
        &program("export void f_v(uniform float RET[]) { RET[programIndex] = programIndex; }", "0"),
    );
    folder
        .case("close.ispc", &program("export void f_v(uniform float RET[]) { RET[programIndex] = 1.0000001f; }", "1"));
    folder.case(
        "nan.ispc",
        &program(
            "export void f_v(uniform float RET[]) { RET[programIndex] = floatbits(0x7fc00000); }",
            "floatbits(0x7fc00000)",
        ),
    );
    folder.case("error.ispc", "export void f_v(uniform float RET[]) {\n    RET[0] = missing;\n}\n");
    folder.case(
        "trap.ispc",
        &program("export void f_v(uniform float RET[]) { uniform int z = 0;\n RET[0] = 1 / z; }", "0"),
    );
    folder.case("signature.ispc", "export void g(uniform float RET[]) { }\n");
    folder.case("result.ispc", "export void f_v(uniform float RET[]) { }\n");
    let ran = folder.conform(&["--width", "4"]);
    ran.last_line_is("0 passed, 7 failed, 0 skipped");
    for (file, reason) in [
        ("values.ispc", "lane 1 is 1.0, but should be 0.0 (3 of 4 lanes differ)"),
        ("close.ispc", "lane 0 is 1.0000001, but should be 1.0"),
        ("nan.ispc", "lane 0 is NaN, but should be NaN"),
        ("error.ispc", "error.ispc:2:14"),
        ("trap.ispc", "trap division_by_zero"),
        ("signature.ispc", "declares no test function"),
        ("result.ispc", "`result`"),
    ] {
        let line = ran.line_about(file);
        assert!(line.contains(reason), "{reason}: {line}");
    }
}

#[test]
fn a_runaway_program_fails() {
    let folder = Folder::new("runaway");
    folder
        .case("endless.ispc", &program("export void f_v(uniform float RET[]) { while (true) { RET[0] += 1; } }", "0"));
    folder.case("fine.ispc", &program("export void f_v(uniform float RET[]) { RET[programIndex] = 1; }", "1"));
    let ran = folder.conform(&["--fuel", "10000"]);
    ran.last_line_is("1 passed, 1 failed, 0 skipped");
    let ran = folder.conform(&["--timeout", "1"]);
    ran.last_line_is("1 passed, 1 failed, 0 skipped");
    assert!(ran.line_about("endless.ispc").contains("trap"), "{}", ran.shown);
}

#[test]
fn rules_and_names_skip_files() {
    let folder = Folder::new("skip");
    let fails = program("export void f_v(uniform float RET[]) { }", "0");
    folder.case("elsewhere.ispc", &format!("// rule: skip on arch=*\n// rule: run on arch=arm\n{fails}"));
    folder.case("narrow.ispc", &format!("// rule: skip on target=.*x16\n{fails}"));
    folder.case("broken.ispc", &format!("// rule: skip on target=(\n{fails}"));
    folder.case("named.ispc", &fails);
    let ran = folder.conform(&["--width", "8,16"]);
    ran.last_line_is("0 passed, 5 failed, 3 skipped");
    assert!(ran.shown.contains("no regular expression"), "{}", ran.shown);
    let ran = folder.conform(&["--width", "16", "--skip", "named", "broken.ispc", "absent"]);
    ran.last_line_is("0 passed, 0 failed, 4 skipped");
    assert_eq!(ran.code, Some(0));
    assert!(ran.said.contains("absent"), "{}", ran.said);
}

#[test]
fn folders_are_searched_below() {
    let folder = Folder::new("below");
    std::fs::create_dir_all(folder.0.join("cases/deep/er")).expect("a folder");
    folder.case("deep/er/a.ispc", &program("export void f_v(uniform float RET[]) { RET[programIndex] = 1; }", "1"));
    folder.case("notes.txt", "no program");
    folder.conform(&[]).last_line_is("1 passed, 0 failed, 0 skipped");
    let file = folder.0.join("cases/deep/er/a.ispc");
    conform(&[path(&file), path(&folder.0)]).last_line_is("2 passed, 0 failed, 0 skipped");
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn json_is_one_object() {
    let folder = Folder::new("json");
    folder.case("a.ispc", &program("export void f_v(uniform float RET[]) { RET[programIndex] = 1; }", "1"));
    folder.case("b.ispc", &program("export void f_v(uniform float RET[]) { RET[programIndex] = 1; }", "2"));
    folder.case("c.ispc", "// rule: skip on OS=linux");
    let ran = folder.conform(&["--json", "--width", "4,8", "--engine", "interp"]);
    let report: serde_json::Value = serde_json::from_str(&ran.shown).expect("JSON");
    assert_eq!((&report["passed"], &report["failed"], &report["skipped"]), (&2.into(), &2.into(), &2.into()));
    let results = report["results"].as_array().expect("a list");
    assert_eq!(results.len(), 6);
    let wrong = &results[3];
    assert!(wrong["file"].as_str().expect("a path").ends_with("b.ispc"));
    assert_eq!((&wrong["width"], &wrong["engine"]), (&8.into(), &"interp".into()));
    assert_eq!((&wrong["status"], &wrong["stage"]), (&"failed".into(), &"values".into()));
    assert_eq!(ran.code, Some(1));
}

#[test]
fn wrong_command_lines_are_explained() {
    let folder = Folder::new("usage");
    let ran = conform(&["no/such/folder"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.said.contains("no/such/folder"), "{}", ran.said);
    let ran = folder.conform(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.said.contains("no .ispc file"), "{}", ran.said);
    folder.case("a.ispc", "");
    let ran = folder.conform(&["--width", "5"]);
    assert_eq!(ran.code, Some(2));
    let check = Command::new(env!("CARGO_BIN_EXE_spmdvm")).args(["check", "--width", "4,8", "a.ispc"]).output();
    let check = check.expect("the command starts");
    assert_eq!(check.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&check.stderr).contains("only `conform`"));
}

#[test]
fn runs_can_be_checked() {
    let folder = Folder::new("checked");
    let test = |body: &str| format!("export void f_f(uniform float RET[], uniform float a[]) {{ {body} }}");
    folder.case("clean.ispc", &program(&test("RET[programIndex] = a[programIndex];"), "programIndex + 1"));
    let reads =
        "float x = a[programIndex]; RET[programIndex] = 1; if (programIndex > 0) RET[programIndex] = broadcast(x, 0);";
    folder.case("inactive.ispc", &program(&test(reads), "1"));
    folder.conform(&["--width", "4"]).last_line_is("2 passed, 0 failed, 0 skipped");
    let ran = folder.conform(&["--width", "4", "--check"]);
    ran.last_line_is("1 passed, 1 failed, 0 skipped");
    assert!(ran.line_about("inactive").contains("inactive_lane: "), "{}", ran.line_about("inactive"));
}
