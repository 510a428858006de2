//! Campaigns as a user starts them.

mod folder;

use folder::Folder;
use std::process::{Command, Output};

fn fuzz(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
    command.arg("fuzz").args(args).args(["--jobs", "1", "-o", "campaign"]).current_dir(&folder.path);
    command.output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_campaign_goes_on_where_it_stood() {
    let folder = Folder::new("fuzz-goes-on");
    let args = ["--programs", "12", "--width", "4", "--size", "3"];
    let programs = |output: &Output| {
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout).lines().next().unwrap_or_default().to_owned()
    };
    let (first, second) = (programs(&fuzz(&folder, &args)), programs(&fuzz(&folder, &args)));
    assert!(first.starts_with("12 programs, ") && second.starts_with("24 programs, "), "{first}\n{second}");
    assert!(folder.path.join("campaign/state.json").exists());
    assert!(!folder.path.join("campaign/current-0.ispc").exists());
    let other = fuzz(&folder, &["--programs", "1", "--width", "8"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("holds a campaign with other settings"), "{}", text(&other.stderr));
}

#[test]
fn coverage_is_told_as_text_and_as_json() {
    let folder = Folder::new("fuzz-coverage");
    let shown = text(&fuzz(&folder, &["--programs", "5", "--width", "4"]).stdout);
    assert!(shown.contains("operations: ") && shown.contains("not reached ("), "{shown}");
    let json = text(&fuzz(&folder, &["--programs", "5", "--width", "4", "--json"]).stdout);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((json["programs"].as_u64(), json["findings"].as_u64()), (Some(10), Some(0)));
    assert!(json["operations"]["reached"].as_u64() > Some(20), "{json}");
}

#[test]
fn a_back_end_that_is_wrong_is_found_and_its_program_reduced() {
    let folder = Folder::new("fuzz-finds");
    // It has no words but these.
    folder.file("backend.sh", "echo 'sum: 7'\n");
    let output = fuzz(&folder, &["--programs", "3", "--width", "4", "--cmd", "sh backend.sh", "--stop"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}{}", text(&output.stderr));
    assert!(said.contains("finding 1: ") && said.contains("reduced to "), "{said}");
    let reduced = std::fs::read_to_string(folder.path.join("campaign/findings/1.reduced.ispc")).expect("a program");
    let whole = std::fs::read_to_string(folder.path.join("campaign/findings/1.ispc")).expect("a program");
    assert!(reduced.lines().count() < whole.lines().count() && reduced.contains("// call: "), "{reduced}");
}

#[test]
fn what_a_process_died_of_is_a_finding() {
    let folder = Folder::new("fuzz-died");
    let args = ["--programs", "1", "--width", "4"];
    assert!(fuzz(&folder, &args).status.success());
    folder.file("campaign/current-0.ispc", "// the last words\n");
    let output = fuzz(&folder, &args);
    assert!(text(&output.stderr).contains("the process died of campaign/findings/1.ispc"), "{}", text(&output.stderr));
    let kept = std::fs::read_to_string(folder.path.join("campaign/findings/1.ispc")).expect("a program");
    assert_eq!(kept, "// the last words\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn programs_on_which_a_back_end_has_no_word_are_counted_and_named() {
    let folder = Folder::new("fuzz-no-word");
    // What would interpret it is not there.
    let path = folder.file("no-such-back-end", "#!/no/such/interpreter\n");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
    let output = fuzz(&folder, &["--programs", "2", "--width", "4", "--size", "5", "--cmd", "./no-such-back-end"]);
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && shown.contains(", 2 not comparable, "), "{shown}{said}");
    assert!(said.contains("seed-1.ispc on no-such-back-end is not comparable: cannot run"), "{said}");
}
