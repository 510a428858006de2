//! The shell at a terminal, driven by keys as a person presses them.

#![cfg(unix)]

mod folder;

use folder::Folder;
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long the shell may take to say what is expected: only a shell that hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_R: &str = "\x12";
const TAB: &str = "\t";
const ENTER: &str = "\r";
const UP: &str = "\x1b[A";
const RIGHT: &str = "\x1b[C";

/// A shell at a pseudo-terminal.
struct Terminal {
    child: Child,
    keys: File,
    output: Receiver<Vec<u8>>,
    /// What it has shown, escape sequences left out.
    shown: String,
    /// With them.
    raw: String,
    /// How much of it has been looked at.
    seen: usize,
    /// How many prompts there have been.
    prompts: usize,
}

impl Terminal {
    fn start(folder: &Folder, args: &[&str], env: &[(&str, &str)]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("the terminal is ours");
        unlockpt(&master).expect("the terminal opens");
        tcsetwinsize(&master, Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
        let flags = OFlags::NOCTTY.bits() as i32;
        let slave = OpenOptions::new().read(true).write(true).custom_flags(flags).open(name).expect("it opens");
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
        command.args(["--width", "4", "repl"]).args(args).current_dir(&folder.path);
        command.env("HOME", &folder.path).env("TERM", "xterm").env_remove("XDG_STATE_HOME").env_remove("NO_COLOR");
        command.env_remove("COLUMNS").envs(env.iter().copied());
        let stdio = || Stdio::from(slave.try_clone().expect("a handle"));
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        // SAFETY: two system calls between fork and exec, which touch no memory of this process. Standard input is the
        // terminal.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                Ok(())
            });
        }
        let child = command.spawn().expect("the command starts");
        let (send, output) = channel();
        let mut screen = File::from(master.try_clone().expect("a handle"));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut buffer) {
                if send.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Terminal {
            child,
            keys: File::from(master),
            output,
            shown: String::new(),
            raw: String::new(),
            seen: 0,
            prompts: 0,
        };
        terminal.prompt();
        terminal
    }

    fn press(&mut self, keys: &str) -> &mut Terminal {
        self.keys.write_all(keys.as_bytes()).expect("it listens");
        self
    }

    /// Types a line.
    fn line(&mut self, text: &str) -> &mut Terminal {
        self.press(text).press(ENTER)
    }

    /// Waits until a text is shown, behind what was waited for last.
    fn expect(&mut self, text: &str) -> &mut Terminal {
        let start = Instant::now();
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return self;
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => panic!("`{text}` is not shown, but:\n{}", &self.shown[self.seen..]),
            }
        }
    }

    /// Waits until it reads the next input: what is typed before that is lost.
    fn prompt(&mut self) -> &mut Terminal {
        // With this it asks the terminal to mark what is pasted. A dumb one is not asked.
        const READS: &str = "\x1b[?2004h";
        let start = Instant::now();
        let is_dumb = |raw: &str| !raw.contains('\x1b') && raw.contains("» ");
        while self.raw.matches(READS).count() <= self.prompts && !is_dumb(&self.raw) {
            match self.output.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => panic!("there is no prompt, but:\n{}", &self.shown[self.seen..]),
            }
        }
        self.prompts += 1;
        self
    }

    fn take(&mut self, bytes: &[u8]) {
        self.raw += &String::from_utf8_lossy(bytes);
        self.shown = plain(&self.raw);
    }

    /// Types a line and waits for the answer, and for the next prompt.
    fn answers(&mut self, line: &str, answer: &str) -> &mut Terminal {
        self.line(line).expect(answer).prompt()
    }

    /// Types a line that has no answer.
    fn done(&mut self, line: &str) -> &mut Terminal {
        self.line(line).prompt()
    }

    /// Waits until it ends.
    fn ends(mut self) -> String {
        let start = Instant::now();
        while self.child.try_wait().expect("it can be waited for").is_none() {
            assert!(start.elapsed() < PATIENCE, "it does not end: {}", self.shown);
            std::thread::sleep(Duration::from_millis(5));
        }
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
            self.take(&bytes);
        }
        std::mem::take(&mut self.raw)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A text without escape sequences.
fn plain(raw: &str) -> String {
    let mut text = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' if chars.clone().next() == Some('[') => {
                chars.next();
                chars.by_ref().find(char::is_ascii_alphabetic);
            }
            '\x1b' => drop(chars.next()),
            '\r' | '\x07' => {}
            c => text.push(c),
        }
    }
    text
}

#[test]
fn expressions_and_mistakes() {
    let folder = Folder::new("terminal-expressions");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell
        .answers("programIndex * 2", "varying int32 = 0 2 4 6")
        .done("int x = programIndex; int y = 0; if (x > 1) y = 3;")
        .answers("y", "varying int32 = 0 0 3 3")
        .answers("z", "there is no `z` here")
        .answers("x = 5; 1 / (x - 5)", "division by zero")
        .answers("x", "varying int32 = 0 1 2 3")
        .answers(":widht 8", "did you mean `:width`?")
        .answers(":width 2", "2 lanes")
        .answers("x", "varying int32 = 0 1");
    shell.line(":quit");
    shell.ends();
}

#[test]
fn several_lines() {
    let folder = Folder::new("terminal-lines");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.line("float twice(float a) { // {").line("/* } */ return a").done("* 2; }");
    shell.answers("twice(4)", "varying float = 8 8 8 8");
    shell.line("1 +").line("2").expect("uniform int32 = 3").prompt();
    shell.line("(1 +").line("2").line(")").expect("uniform int32 = 3").prompt();
    shell.line("\"(\"").expect("= \"(\"").prompt();
    // An empty line ends what is unfinished.
    shell.line("1 +").line("").expect("expected a value").prompt();
    shell.line("if (programIndex > 1) {").line("print(\"%\\n\", 7);").line("}").expect("7").prompt();
    // What is pasted comes at once.
    shell.press("\x1b[200~int a = 1;\nint b = a + 1;\x1b[201~").press(ENTER).expect("b: varying int32 = 2").prompt();
}

#[test]
fn completion() {
    let folder = Folder::new("terminal-completion");
    folder.file("program.ispc", b"float thrice(float a) { return a * 3; }\n");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.press("programI").press(TAB).expect("programIndex").press(ENTER).expect("= 0 1 2 3").prompt();
    shell.press(":comp").press(TAB).expect(":compare").press(CTRL_C).prompt();
    shell.press(":width 6").press(TAB).expect("64").press(CTRL_C).prompt();
    // All that fits, with signatures.
    shell.press("reduce_m").press(TAB).press(TAB).expect("reduce_max(").expect("reduce_min(").press(CTRL_C).prompt();
    shell.done("struct Point { float far, near; };").answers("Point p;", "p: varying Point");
    shell.press("p.f").press(TAB).expect("p.far").press(ENTER).expect("varying float = 0 0 0 0").prompt();
    shell.press("int long_name = 3;").press(ENTER).expect("= 3 3 3 3").prompt();
    shell.press("long_n").press(TAB).press(ENTER).expect("= 3 3 3 3").prompt();
    shell.press(":load prog").press(TAB).press(ENTER).expect("loaded").prompt();
    shell.press("thri").press(TAB).press("(2)").press(ENTER).expect("= 6 6 6 6").prompt();
    // Nothing fits: nothing happens.
    shell.press("qqq").press(TAB).press(CTRL_C).prompt();
}

#[test]
fn hints() {
    let folder = Folder::new("terminal-hints");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.press("atan2(").expect("T atan2(").press(CTRL_C).prompt();
    shell.press(":compare ").expect("WIDTHS").press(CTRL_C).prompt();
    shell.answers("11 * 11", "uniform int32 = 121");
    // The rest of an earlier input; the right arrow takes it.
    shell.press("11").expect("11 * 11").press(RIGHT).press(ENTER).expect("uniform int32 = 121").prompt();
}

#[test]
fn the_program_is_stopped_and_not_the_shell() {
    let folder = Folder::new("terminal-stop");
    let mut shell = Terminal::start(&folder, &[], &[]);
    shell.answers("int kept = 7;", "= 7 7 7 7");
    shell.line("kept = 8; print(\"begun\\n\"); while (true) kept = 9;").expect("begun\n");
    shell.press(CTRL_C).expect("interrupted").prompt();
    shell.answers("kept", "= 7 7 7 7");
    // A line that is dropped.
    shell.press("kept = 1").press(CTRL_C).prompt();
    shell.answers("kept", "= 7 7 7 7");
    shell.press(CTRL_D);
    shell.ends();
}

#[test]
fn history() {
    let folder = Folder::new("terminal-history");
    folder.file(".spmdvm_history", b"#V2\n40 + 1\n");
    let mut shell = Terminal::start(&folder, &[], &[]);
    // That of earlier versions.
    shell.press(UP).press(ENTER).expect("uniform int32 = 41").prompt();
    shell.answers("40 + 2", "uniform int32 = 42").answers("\"other\"", "= \"other\"");
    shell.press(CTRL_R).press("40 + 2").expect("40 + 2").press(ENTER).expect("uniform int32 = 42").prompt();
    shell.press(CTRL_D);
    shell.ends();
    assert!(folder.path.join(".local/state/spmdvm/history").is_file());
    let mut again = Terminal::start(&folder, &[], &[]);
    again.press(UP).press(ENTER).expect("uniform int32 = 42").prompt().line(":quit");
    again.ends();
}

/// Returns whether there is an escape sequence that changes how text looks.
fn has_colours(raw: &str) -> bool {
    raw.split("\x1b[")
        .skip(1)
        .any(|part| part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'))
}

#[test]
fn colours() {
    let folder = Folder::new("terminal-colours");
    let shown = |env: &[(&str, &str)]| {
        let mut shell = Terminal::start(&folder, &[], env);
        shell.answers("uniform int colour = 5; nothing", "there is no `nothing`").line(":quit");
        shell.ends()
    };
    let is_colour = |raw: &str| raw.contains("\x1b[35muniform\x1b[0m") && raw.contains("\x1b[31m");
    assert!(is_colour(&shown(&[])));
    let plain = shown(&[("NO_COLOR", "1")]);
    assert!(!has_colours(&plain), "{plain:?}");
    let dumb = shown(&[("TERM", "dumb")]);
    assert!(!dumb.contains('\x1b'), "{dumb:?}");
}
