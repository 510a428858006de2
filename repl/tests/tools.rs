//! The command line around running: arguments by name, archives, pictures, measuring; starters, completions, manual pages.

mod folder;

use folder::Folder;
use std::process::{Command, Output};

fn spmdvm(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.args(args).current_dir(&folder.path).env("HOME", &folder.path).output().expect("the command starts")
}

/// What a command that succeeds says, on standard output and standard error.
fn said(folder: &Folder, args: &[&str]) -> (String, String) {
    let output = spmdvm(folder, args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// What a command that fails says.
fn fails(folder: &Folder, args: &[&str], code: i32) -> String {
    let output = spmdvm(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn arguments_by_name() {
    let folder = Folder::new("tools-arguments");
    let total = |args: &[&str]| said(&folder, &[&["run", "scale.ispc", "-e", "total"], args].concat()).0;
    let expected = "result = 6\na: i32[4] = [0, 1, 2, 3]\n";
    assert_eq!(total(&["--arg", "n=4", "--arg", "a=iota:i32:4"]), expected);
    assert_eq!(total(&["iota:i32:4", "--arg", "n=4"]), expected);
    let wrong = |args: &[&str]| fails(&folder, &[&["run", "scale.ispc", "-e", "total"], args].concat(), 2);
    assert!(wrong(&["--arg", "4"]).contains("NAME=VALUE"));
    assert!(wrong(&["--arg", "m=4"]).contains("no parameter `m`"));
    assert!(wrong(&["iota:i32:4", "--arg", "a=[1]"]).contains("given twice"));
}

#[test]
fn archives() {
    let folder = Folder::new("tools-archives");
    let args = ["run", "scale.ispc", "-e", "scale", "a=iota:f32:4", "n=4", "k=2"];
    said(&folder, &[&args[..], &["-o", "a=out.npz"]].concat());
    let args = ["run", "scale.ispc", "-e", "scale", "n=4", "k=10"];
    let shown = said(&folder, &[&args[..], &["a=@out.npz"]].concat()).0;
    assert_eq!(shown, "a: f32[4] = [0, 20, 40, 60]\n");
    assert_eq!(said(&folder, &[&args[..], &["a=@out.npz:a"]].concat()).0, shown);
    assert!(fails(&folder, &[&args[..], &["a=@out.npz:b"]].concat(), 2).contains("no array `b` (it has a)"));
    assert!(fails(&folder, &[&args[..], &["a=@none.npz"]].concat(), 2).contains("no such file"));
    folder.file("broken.npz", b"PK");
    assert!(fails(&folder, &[&args[..], &["a=@broken.npz"]].concat(), 2).contains("not a .npz file"));
}

#[test]
fn pictures() {
    let folder = Folder::new("tools-pictures");
    let args = ["run", "scale.ispc", "-e", "scale", "n=12", "k=2"];
    said(&folder, &[&args[..], &["a=iota:f32:3x4", "-o", "a=out.png"]].concat());
    let picture = std::fs::read(folder.path.join("out.png")).expect("a picture");
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((info.width, info.height), (4, 3));
    let expected: Vec<u8> = (0..12).map(|i| (f64::from(i) / 11.0 * 255.0).round() as u8).collect();
    assert_eq!(&pixels[..info.buffer_size()], expected);
    let flat = fails(&folder, &[&args[..], &["a=iota:f32:12", "-o", "a=out.png"]].concat(), 2);
    assert!(flat.contains("an array of rows"), "{flat}");
}

#[test]
fn measuring() {
    let folder = Folder::new("tools-measuring");
    folder.file(
        "lines.ispc",
        b"noinline float half(float x) {\n    return x / 2;\n}\nexport void f(uniform float a[], uniform int n) {\n    foreach (i = 0 ... n) {\n        if (a[i] > 4)\n            a[i] = sin(half(a[i]));\n    }\n}\n",
    );
    let args = ["run", "--width", "8", "lines.ispc", "a=iota:f32:8", "n=8"];
    let (_, time) = said(&folder, &[&args[..], &["--time"]].concat());
    assert!(time.starts_with("compiled in ") && time.contains(" ms, ran in "), "{time}");
    let (plain, _) = said(&folder, &args);
    let (shown, profile) = said(&folder, &[&args[..], &["--profile"]].concat());
    assert_eq!(shown, plain);
    let line = profile.lines().find(|line| line.contains("lines.ispc:7")).unwrap_or_else(|| panic!("{profile}"));
    // Three of eight lanes are active, and most of it is in the library.
    let percent =
        |at: usize| line.split_whitespace().nth(at).and_then(|word| word.strip_suffix('%')?.parse::<f64>().ok());
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[1], "1", "{profile}");
    assert!(percent(2).is_some_and(|active| (30.0..40.0).contains(&active)), "{profile}");
    assert!(percent(3).is_some_and(|share| share > 50.0), "{profile}");
    assert!(line.contains("a[i] = sin(half(a[i]));"), "{profile}");
    assert!(profile.contains("lines.ispc:2") && profile.contains("lines.ispc:6"), "{profile}");
    let (_, progress) = said(&folder, &[&args[..], &["--progress"]].concat());
    assert!(!progress.contains("error"), "{progress}");
}

#[test]
fn a_starter_runs() {
    let folder = Folder::new("tools-new");
    let (shown, _) = said(&folder, &["new", "my-first"]);
    let command = shown.lines().find_map(|line| line.strip_prefix("try: spmdvm ")).expect("a command");
    let (shown, warnings) = said(&folder, &command.split(' ').collect::<Vec<_>>());
    assert!(shown.starts_with("x: f32[20] = [0, 3, 6, 9,"), "{shown}");
    assert_eq!(warnings, "");
    for file in ["run.py", "test_my_first.py", "README.md"] {
        let text = std::fs::read_to_string(folder.path.join("my-first").join(file)).expect(file);
        assert!(!text.contains("NAME"), "{text}");
    }
    assert!(fails(&folder, &["new", "my-first"], 2).contains("there already"));
    assert!(fails(&folder, &["new", "1 2"], 2).contains("cannot be the name"));
}

#[test]
fn the_doctor_tries_every_engine() {
    let folder = Folder::new("tools-doctor");
    let (shown, _) = said(&folder, &["doctor"]);
    for engine in ["interp", "ir", "clif"] {
        let line = shown.lines().find(|line| line.starts_with(engine)).unwrap_or_else(|| panic!("{shown}"));
        assert!(line.contains("runs here"), "{line}");
    }
    assert!(shown.contains("x86") && shown.contains("auto"), "{shown}");
}

#[test]
fn completions_and_manual_pages() {
    let folder = Folder::new("tools-manual");
    for shell in ["bash", "zsh", "fish"] {
        let (text, _) = said(&folder, &["completions", shell]);
        assert!(text.contains("spmdvm") && text.contains("doctor"), "{shell}");
    }
    assert!(said(&folder, &["man"]).0.contains(".TH spmdvm"));
    said(&folder, &["man", "pages"]);
    let page = std::fs::read_to_string(folder.path.join("pages/spmdvm-run.1")).expect("a page");
    assert!(page.contains("profile"), "{page}");
}

#[test]
fn scripts() {
    let folder = Folder::new("tools-scripts");
    folder.file("good.txt", b"int x = 3;\nif (x > 5)\n    x = 4;\nelse\n    x = 5;\nx\n");
    folder.file("bad.txt", b"1 + 1\nnothing\n2 + 2\n");
    folder.file("trap.txt", b"uniform int z = 0;\n1 / z\n2 + 2\n");
    let run = |file: &str, args: &[&str]| {
        let script = std::fs::File::open(folder.path.join(file)).expect("a script");
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
        let output = command.args(["--width", "2", "repl"]).args(args).current_dir(&folder.path).stdin(script).output();
        let output = output.expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, shown, said) = run("good.txt", &[]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!(shown.ends_with("varying int32 = 5 5\n"), "{shown}");
    let inputs = b"int f(int a) { return a + 1; }\n:let v = arange(4)\nint w = f(v[1]);\nw = 7; nothing\n:save kept.txt\n:reset\n:load kept.txt\nw\n";
    folder.file("saved.txt", inputs);
    let (_, shown, _) = run("saved.txt", &[]);
    assert!(shown.ends_with("loaded\nvarying int32 = 2 2\n"), "{shown}");
    let (code, shown, said) = run("bad.txt", &[]);
    assert_eq!((code, shown.as_str()), (Some(0), "uniform int32 = 2\nuniform int32 = 4\n"));
    assert!(said.contains("there is no `nothing` here"));
    let (code, shown, _) = run("bad.txt", &["--batch"]);
    assert_eq!((code, shown.as_str()), (Some(1), "uniform int32 = 2\n"));
    assert_eq!(run("trap.txt", &["--batch"]).0, Some(3));
}
