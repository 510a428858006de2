//! A command at a pseudo-terminal, driven by keys.

#![allow(dead_code, reason = "each test uses a part of it")]

use crate::folder::Folder;
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

/// With this a command that reads a line asks the terminal to mark what is pasted. (A dumb terminal is not asked.)
const READS: &str = "\x1b[?2004h";

/// How long the shell may take to say what is expected: only a shell that hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Interrupts.
pub const CTRL_C: &str = "\x03";
/// Ends the input.
pub const CTRL_D: &str = "\x04";
/// Searches the history.
pub const CTRL_R: &str = "\x12";
/// Completes.
pub const TAB: &str = "\t";
/// Ends a line.
pub const ENTER: &str = "\r";
/// The line before.
pub const UP: &str = "\x1b[A";
/// Moves, and takes a hint.
pub const RIGHT: &str = "\x1b[C";

/// A shell at a pseudo-terminal.
pub struct Terminal {
    child: Child,
    keys: File,
    output: Receiver<Vec<u8>>,
    /// What it has shown, escape sequences left out.
    shown: String,
    /// With them.
    raw: String,
    /// The same as it came.
    bytes: Vec<u8>,
    /// How much of it has been looked at.
    seen: usize,
    /// How many prompts there have been.
    prompts: usize,
}

impl Terminal {
    /// The shell, with a gang of four lanes.
    pub fn start(folder: &Folder, args: &[&str], env: &[(&str, &str)]) -> Terminal {
        Terminal::command(folder, &[&["--width", "4", "repl"], args].concat(), env, (40, 100))
    }

    /// A command at a terminal with so many rows and columns, when it first reads.
    pub fn command(folder: &Folder, args: &[&str], env: &[(&str, &str)], (rows, columns): (u16, u16)) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("the terminal is ours");
        unlockpt(&master).expect("the terminal opens");
        tcsetwinsize(&master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
        let flags = OFlags::NOCTTY.bits() as i32;
        let slave = OpenOptions::new().read(true).write(true).custom_flags(flags).open(name).expect("it opens");
        let mut command = Command::new(env!("CARGO_BIN_EXE_spmdvm"));
        command.args(args).current_dir(&folder.path);
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
            bytes: Vec::new(),
            seen: 0,
            prompts: 0,
        };
        terminal.prompt();
        terminal
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) -> &mut Terminal {
        self.keys.write_all(keys.as_bytes()).expect("it listens");
        self
    }

    /// Types a line.
    pub fn line(&mut self, text: &str) -> &mut Terminal {
        self.press(text).press(ENTER)
    }

    /// Waits until a text is shown, behind what was waited for last.
    pub fn expect(&mut self, text: &str) -> &mut Terminal {
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
    pub fn prompt(&mut self) -> &mut Terminal {
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
        self.bytes.extend_from_slice(bytes);
        self.raw = String::from_utf8_lossy(&self.bytes).into_owned();
        self.shown = plain(&self.raw);
    }

    /// What it has said up to where it reads the last time, with escape sequences.
    pub fn said(&self) -> &str {
        self.raw.rfind(READS).map_or(&self.raw, |end| &self.raw[..end])
    }

    /// Types a line and waits for the answer, and for the next prompt.
    pub fn answers(&mut self, line: &str, answer: &str) -> &mut Terminal {
        self.line(line).expect(answer).prompt()
    }

    /// Types a line that has no answer.
    pub fn done(&mut self, line: &str) -> &mut Terminal {
        self.line(line).prompt()
    }

    /// Waits until it ends.
    pub fn ends(mut self) -> String {
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
