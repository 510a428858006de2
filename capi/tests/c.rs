//! C and C++ programs that are compiled against the header, linked with the library and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the profile that this test was built in, with the library built there.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE").to_owned();
    let mut cargo = Command::new(env!("CARGO"));
    // Beside the command line, whose dependencies ask for the same features as those of the package: they are compiled once.
    cargo.args(["build", "--quiet", "-p", "spmdvm-capi", "-p", "spmdvm-cli"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.file_name().is_some_and(|name| name == "release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo starts").success());
    folder
}

/// Compiles a program, and gives what it prints.
fn run(compiler: &str, source: &str, name: &str, args: &[&str]) -> Option<String> {
    if Command::new(compiler).arg("--version").output().is_err() {
        eprintln!("there is no {compiler}: not tested");
        return None;
    }
    let (library, here) = (built(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let program = std::env::temp_dir().join(format!("spmdvm-capi-{}-{name}", std::process::id()));
    let mut compile = Command::new(compiler);
    compile.args(["-Wall", "-Wextra", "-Werror", "-O1"]).args(if compiler == "c++" {
        &["-x", "c++"]
    } else {
        &["-x", "c"]
    });
    compile.arg(here.join(source)).args(["-x", "none", "-I"]).arg(here.join("include"));
    compile.arg("-L").arg(&library).arg("-lspmdvm").arg(format!("-Wl,-rpath,{}", library.display()));
    let output = compile.arg("-o").arg(&program).output().expect("the compiler starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&program).args(args).output().expect("the program starts");
    let _ = std::fs::remove_file(&program);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn every_function_does_what_the_header_says() {
    let files = ["../examples/saxpy.ispc", "tests/main.ispc", "tests/twice.ispc"];
    let files = files.map(|file| format!("{}/{file}", env!("CARGO_MANIFEST_DIR")));
    if let Some(said) = run("cc", "tests/all.c", "all", &files.each_ref().map(String::as_str)) {
        assert!(said.ends_with("all is well\n"), "{said}");
    }
}

#[test]
fn the_header_is_valid_in_cpp() {
    if let Some(said) = run("c++", "tests/all.c", "all-cpp", &[]) {
        assert!(said.ends_with("all is well\n"), "{said}");
    }
}

#[test]
fn the_example_draws() {
    let Some(drawn) = run("cc", "examples/mandelbrot.c", "mandelbrot", &[]) else { return };
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines.len(), 24);
    assert!(lines.iter().all(|line| line.len() == 72));
    // The set is black in the middle, symmetric, and white around.
    assert!(lines[12].contains("@@@@@@@@@@@@"), "{drawn}");
    assert!(lines.iter().eq(lines.iter().rev()), "{drawn}");
    assert!(lines[0].starts_with("          "), "{drawn}");
}

#[test]
fn the_example_with_functions_of_the_host_simulates() {
    let Some(drawn) = run("cc", "examples/heat.c", "heat", &[]) else { return };
    let lines: Vec<&str> = drawn.lines().collect();
    let [rows @ .., steps] = &lines[..] else { panic!("nothing is drawn") };
    assert_eq!((rows.len(), *steps), (9, "20000 steps"), "{drawn}");
    // The heat comes from the left while that end is hot, and stays inside afterwards.
    assert!(rows[0].contains("|@   "), "{drawn}");
    assert!(rows[3].contains("|@@") && !rows[3].ends_with(" |"), "{drawn}");
    assert!(rows[8].contains("| "), "{drawn}");
}
