//! The commands that move, and those that say where to stop.

use super::{Console, Reply, count, nothing_more};
use crate::expr;
use crate::lines::LinePlace;
use crate::motion::Unit;
use crate::session::{Arrival, Session};
use crate::stops::{Break, Kind, Target, Watch};
use crate::variables::{Storage, named};
use crate::writes::Write;
use spmdvm_oracle::trace::is_named;

impl Console<'_, '_> {
    pub(super) fn next(&mut self, words: &str) -> Reply {
        self.forward(Unit::Line, words)
    }

    pub(super) fn step_in(&mut self, words: &str) -> Reply {
        self.forward(Unit::LineInto, words)
    }

    pub(super) fn out(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        self.forward(Unit::Out, "")
    }

    pub(super) fn instruction(&mut self, words: &str) -> Reply {
        self.forward(Unit::Instruction, words)
    }

    pub(super) fn over(&mut self, words: &str) -> Reply {
        self.forward(Unit::InstructionOver, words)
    }

    pub(super) fn back(&mut self, words: &str) -> Reply {
        self.backward(Unit::Line, words)
    }

    pub(super) fn back_in(&mut self, words: &str) -> Reply {
        self.backward(Unit::LineInto, words)
    }

    pub(super) fn back_out(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        self.backward(Unit::Out, "")
    }

    pub(super) fn back_instruction(&mut self, words: &str) -> Reply {
        let n = count(words)?;
        let position = self.session.recording.position();
        let to = position.saturating_sub(n);
        self.session.go_to(to).map_err(|failure| failure.to_string())?;
        let arrival = if n > position { Arrival::Start } else { Arrival::There };
        self.instructions(arrival, &[], 0)
    }

    pub(super) fn back_over(&mut self, words: &str) -> Reply {
        self.backward(Unit::InstructionOver, words)
    }

    fn forward(&mut self, unit: Unit, words: &str) -> Reply {
        let (mut written, mut more, mut arrival) = (Vec::new(), 0, Arrival::There);
        for _ in 0..count(words)? {
            let (here, writes, others) = self.session.forward(unit).map_err(|failure| failure.to_string())?;
            written.extend(writes);
            (arrival, more) = (here, more + others);
            if arrival != Arrival::There {
                break;
            }
        }
        match unit {
            Unit::Instruction | Unit::InstructionOver => self.instructions(arrival, &written, more),
            _ => self.lines(arrival, &written, more),
        }
    }

    fn backward(&mut self, unit: Unit, words: &str) -> Reply {
        let mut arrival = Arrival::There;
        for _ in 0..count(words)? {
            arrival = self.session.backward(unit).map_err(|failure| failure.to_string())?;
            if arrival != Arrival::There {
                break;
            }
        }
        match unit {
            Unit::InstructionOver => self.instructions(arrival, &[], 0),
            _ => self.lines(arrival, &[], 0),
        }
    }

    pub(super) fn resume(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        let arrival = self.session.resume().map_err(|failure| failure.to_string())?;
        self.lines(arrival, &[], 0)
    }

    pub(super) fn resume_backward(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        let arrival = self.session.resume_backward().map_err(|failure| failure.to_string())?;
        self.lines(arrival, &[], 0)
    }

    pub(super) fn run_to_end(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        self.to(u64::MAX)
    }

    pub(super) fn go_to(&mut self, words: &str) -> Reply {
        let position = self.session.recording.position();
        let wrong = || format!("`{words}` is no step: give a number, `start`, `end`, `+N` or `-N`");
        let to = match (words, words.strip_prefix('+'), words.strip_prefix('-')) {
            ("start", ..) => 0,
            ("end", ..) => u64::MAX,
            (_, Some(n), _) => position.saturating_add(n.parse().map_err(|_| wrong())?),
            (_, _, Some(n)) => position.saturating_sub(n.parse().map_err(|_| wrong())?),
            _ => words.parse().map_err(|_| wrong())?,
        };
        self.to(to)
    }

    fn to(&mut self, position: u64) -> Reply {
        let arrival = self.session.go_to(position).map_err(|failure| failure.to_string())?;
        self.lines(arrival, &[], 0)
    }

    /// What is shown after a motion by lines.
    fn lines(&mut self, arrival: Arrival, written: &[Write], more: u64) -> Reply {
        let text = self.arrived(arrival);
        Ok(text + &self.here() + &self.written(written, more))
    }

    /// What is shown after a motion by instructions.
    fn instructions(&mut self, arrival: Arrival, written: &[Write], more: u64) -> Reply {
        let text = self.arrived(arrival);
        Ok(text + &self.here_in_code() + &self.written(written, more))
    }

    fn arrived(&mut self, arrival: Arrival) -> String {
        match self.arrival.insert(arrival) {
            Arrival::There | Arrival::End => String::new(),
            Arrival::Start => "this is the start of the run\n".into(),
            Arrival::Stopped(hit) => {
                let stop = self.session.stops().iter().find(|stop| stop.id == hit.id);
                let stop = stop.map_or(String::new(), ToString::to_string);
                let what = if hit.what.is_empty() { String::new() } else { format!(" ({})", hit.what) };
                format!("stopped by {stop}{what}\n")
            }
        }
    }

    pub(super) fn set_break(&mut self, words: &str) -> Reply {
        if words.is_empty() {
            let stops: String = self.session.stops().iter().map(|stop| format!("  {stop}\n")).collect();
            return Ok(if stops.is_empty() { "there are no stops\n".into() } else { stops });
        }
        let (at, condition) = match words.split_once(" if") {
            Some((at, condition)) if condition.is_empty() || condition.starts_with([' ', '(']) => {
                (at.trim(), Some(condition.trim()))
            }
            _ => (words, None),
        };
        let condition = condition.map(|text| Ok::<_, String>((text.to_owned(), expr::parse(text)?))).transpose()?;
        let asked = place_of(self.session, at)?;
        let place = self.session.lines.with_code(asked).ok_or_else(|| format!("there is no code at {at} or below"))?;
        let text = name_of(self.session, place);
        let id = self.session.add_stop(Kind::Break(Break { place, text: text.clone(), condition }));
        let moved = if place == asked { "" } else { ", the next line with code" };
        Ok(format!("{id}: break at {text}{moved}\n"))
    }

    pub(super) fn set_watch(&mut self, words: &str) -> Reply {
        if words.is_empty() {
            return Err("name a variable, such as `x`, `x[3]` for one lane, or an element of an array".into());
        }
        let Some(view) = self.session.view() else { return Err("the run is at its end".into()) };
        let (name, lane) = match words.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((name, lane)) => (name.trim(), lane.trim().parse::<usize>().ok()),
            None => (words, None),
        };
        let export = &self.session.export;
        let target = match (named(&view, export, &self.session.lines, name).map(|variable| variable.place), lane) {
            (Some(Storage::Register(reg)), lane) if lane.is_some() == (words != name) => {
                let lanes = view.lanes();
                if let Some(lane) = lane.filter(|&lane| lane >= lanes) {
                    return Err(format!("there is no lane {lane}; there are {lanes}"));
                }
                let watch = Watch {
                    text: words.to_owned(),
                    target: Target::Register { function: view.function_id(), depth: view.depth(), reg },
                    lane,
                };
                let id = self.session.add_stop(Kind::Watch(watch));
                return Ok(format!("{id}: watch {words}, in this call of the function\n"));
            }
            _ => {
                let scope = expr::Scope { view: &view, export, lines: &self.session.lines };
                match expr::eval(&expr::parse(words)?, scope)? {
                    expr::Value::Memory { address, layout } if address.is_uniform => {
                        let ty = crate::layout::scalar(&layout);
                        Target::Memory { address: address.word(0), bytes: layout.size() as usize, ty }
                    }
                    expr::Value::Memory { .. } => return Err("this is another place in each lane".into()),
                    _ => return Err(format!("`{words}` is no place: watch a variable or an element of an array")),
                }
            }
        };
        let id = self.session.add_stop(Kind::Watch(Watch { text: words.to_owned(), target, lane: None }));
        Ok(format!("{id}: watch {words}, in memory\n"))
    }

    pub(super) fn delete(&mut self, words: &str) -> Reply {
        let id = match words {
            "" | "all" => None,
            _ => Some(words.parse().map_err(|_| format!("`{words}` is no number of a stop (`:break` lists them)"))?),
        };
        match (self.session.delete_stops(id), id) {
            (true, Some(id)) => Ok(format!("deleted stop {id}\n")),
            (true, None) => Ok("deleted all stops\n".into()),
            (false, Some(id)) => Err(format!("there is no stop {id} (`:break` lists them)")),
            (false, None) => Ok("there are no stops\n".into()),
        }
    }
}

/// The line that `12`, `file.ispc:12` or the name of a function means.
pub(super) fn place_of(session: &Session<'_>, text: &str) -> Result<LinePlace, String> {
    let program = session.recording.program();
    if let Ok(line) = text.parse::<u32>() {
        return Ok(LinePlace { file: session.file(), line: line.max(1) });
    }
    if let Some((name, line)) = text.rsplit_once(':')
        && let Ok(line) = line.parse::<u32>()
    {
        let is_meant = |file: &str| file == name || file.ends_with(&format!("/{name}"));
        let file = session.lines.file_names().position(is_meant);
        let file = file.ok_or_else(|| format!("the program has no file `{name}`"))?;
        return Ok(LinePlace { file: file as u32, line: line.max(1) });
    }
    let is_meant = |name: &str| is_named(name, text) || session.lines.function_name(name) == text;
    let named = (0..program.functions.len()).filter(|&at| is_meant(&program.functions[at].name));
    let mut places = named.filter_map(|at| session.lines.place(spmdvm::vm::FuncId(at as u32), 0));
    let place = places.find(|place| !session.lines.is_library(place.file));
    place.ok_or_else(|| format!("`{text}` is no line, and no function of the program"))
}

/// `file:line`, or `line` in the file where the run is.
pub(super) fn name_of(session: &Session<'_>, place: LinePlace) -> String {
    if place.file == session.file() {
        return format!("line {}", place.line);
    }
    let name = session.lines.file_name(place.file).unwrap_or_default();
    format!("{name}:{}", place.line)
}
