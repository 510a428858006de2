//! `spmdvm play`: serves the playground.

use crate::Failure;
use crate::cli::{Global, PlayArgs};
use spmdvm::Limits;
use spmdvm_play::{Server, Settings};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Limits of programs, where none are given.
const FUEL: u64 = 20_000_000_000;
const SECONDS: u64 = 20;
const MEMORY: u64 = 1 << 30;

/// Serves the page until Ctrl-C.
pub fn play(global: &Global, args: &PlayArgs) -> Result<(), Failure> {
    let mut options = global.options();
    options.limits = Limits {
        fuel: options.limits.fuel.or(Some(FUEL)),
        timeout: options.limits.timeout.or(Some(Duration::from_secs(SECONDS))),
        memory: options.limits.memory.or(Some(MEMORY)),
    };
    let settings = Settings { port: args.port, options, steps: args.steps, keep: args.keep << 20 };
    let server = Server::start(settings)
        .map_err(|error| Failure::usage(format!("cannot serve on port {} of this machine: {error}", args.port)))?;
    match global.json {
        true => println!("{}", serde_json::json!({ "url": server.url() })),
        false => println!("The playground is at {}\nCtrl-C ends it.", server.url()),
    }
    // Whoever reads this from a pipe waits for it.
    let _ = std::io::stdout().flush();
    if !args.no_open {
        open(server.ticket_url().unwrap_or(server.url()));
    }
    server.wait();
    Ok(())
}

/// Shows an address in the browser, if there is a way to.
fn open(url: &str) {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("explorer", &[])
    } else {
        ("xdg-open", &[])
    };
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    if cfg!(target_os = "linux") && !has_screen {
        return;
    }
    let mut command = Command::new(program);
    command.args(args).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The address has been printed: whoever has no such program opens it by hand.
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}
