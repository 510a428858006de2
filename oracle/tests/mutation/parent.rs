//! Looks for every fault, each in a process of its own, and counts.

use super::Wanted;
use serde_json::Value as Json;
use spmdvm::jit::faults::{self, Fault};
use spmdvm_oracle::campaign::score::{Entry, Fate, Score};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a program may take on all engines, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(120);

/// The campaign without a fault: what it must not find.
const CONTROL: Fault<()> = Fault { name: "", part: "", what: "nothing", act: () };

/// Looks for all faults and prints the score. Fails if it is too low, or if something is found that was not planted.
pub fn score(wanted: &Wanted) -> ExitCode {
    let is_wanted = |fault: &Fault<()>| wanted.only.split(',').any(|part| fault.name.contains(part));
    let faults: Vec<Fault<()>> = faults::all().into_iter().filter(is_wanted).collect();
    let all: Vec<Fault<()>> = std::iter::once(CONTROL).chain(faults).collect();
    println!("{} faults, {} programs for each, seed {}", all.len() - 1, wanted.programs, wanted.seed);
    let entries = in_parallel(&all, wanted);
    let (control, entries) = entries.split_first().expect("the control is always there");
    let score = Score { entries: entries.to_vec() };
    println!("\n{score}");
    score.missed().for_each(|entry| println!("not found: {} ({}): {}", entry.name, entry.part, entry.what));
    if let Some(path) = &wanted.json
        && let Err(error) = std::fs::write(path, format!("{:#}\n", score.to_json()))
    {
        eprintln!("{path}: {error}");
        return ExitCode::FAILURE;
    }
    if control.fate != Fate::NeverActed {
        eprintln!("without a fault: {:?} after {} programs", control.fate, control.programs);
        return ExitCode::FAILURE;
    }
    match score.percent() >= wanted.least {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn in_parallel(all: &[Fault<()>], wanted: &Wanted) -> Vec<Entry> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((at, fault)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, all.get(at)?)))
        {
            let entry = look_for(fault, wanted);
            println!("{entry}");
            done.lock().expect("no worker panics").push((at, entry));
        }
    };
    std::thread::scope(|scope| {
        (0..wanted.jobs.max(1)).for_each(|_| {
            scope.spawn(work);
        });
    });
    let mut done = done.into_inner().expect("no worker panics");
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, entry)| entry).collect()
}

/// Runs the campaign in another process that has the fault.
fn look_for(fault: &Fault<()>, wanted: &Wanted) -> Entry {
    let mut child = start(fault, wanted);
    let lines = lines_of(&mut child);
    let mut last = Json::Null;
    let in_time = loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => last = line,
            Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => break false,
        }
    };
    let number = |name: &str| last[name].as_u64().unwrap_or(0);
    let fate = match (last["found"].as_str(), last["missed"].as_bool(), in_time) {
        (Some(how), ..) => Fate::Found(how.to_owned()),
        (_, Some(_), _) if number("places") == 0 => Fate::NeverActed,
        (_, Some(_), _) => Fate::Missed,
        (.., true) => Fate::Crashed(child.wait().map_or_else(|e| e.to_string(), |status| status.to_string())),
        (.., false) => Fate::Hung,
    };
    // It has ended already, unless it hangs.
    let _ = child.kill();
    let _ = child.wait();
    Entry {
        name: fault.name.to_owned(),
        part: fault.part.to_owned(),
        what: fault.what.to_owned(),
        places: number("places"),
        programs: number("programs"),
        fate,
    }
}

fn start(fault: &Fault<()>, wanted: &Wanted) -> Child {
    let program = std::env::current_exe().expect("this program has a path");
    let [programs, size, seed] = [wanted.programs, wanted.size.into(), wanted.seed].map(|number| number.to_string());
    let mut command = Command::new(program);
    command.args(["--fault", fault.name, "--programs", &programs, "--size", &size, "--seed", &seed]);
    // Panics that are caught are findings; what they say is in these.
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("this program can be started again")
}

/// The lines that a process writes, as they come.
fn lines_of(child: &mut Child) -> Receiver<Json> {
    let (send, lines) = channel();
    let output = child.stdout.take().expect("it is piped");
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Ok(line) = serde_json::from_str(&line)
                && send.send(line).is_err()
            {
                return;
            }
        }
    });
    lines
}
