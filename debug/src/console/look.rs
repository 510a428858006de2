//! The commands that show, and what is shown after motions.

use super::moves::place_of;
use super::table::Table;
use super::{Console, Reply, Shown, lane_list, nothing_more};
use crate::expr::{self, Scope, Value};
use crate::layout;
use crate::masks::Strip;
use crate::session::{Call, Seen, State};
use crate::variables::{Lanes, Storage, named, register};
use crate::why;
use crate::writes::Write as Written;
use spmdvm::vm::asm;
use std::fmt::Write;

/// Most writes to memory that are shown after a motion.
const MAX_WRITES: usize = 8;

/// Most causes that `:why` looks for, if not said otherwise.
const MAX_CAUSES: usize = 24;

impl Console<'_, '_> {
    /// Where the run is: the line, the masks, and the variables that have changed.
    pub(super) fn here(&mut self) -> String {
        let Some(state) = self.session.state() else { return self.at_the_end() };
        let mut text = self.heading(&state);
        text += &self.source_line();
        text += &self.trap();
        text += &self.changes(&state);
        text
    }

    /// The same with the instruction.
    pub(super) fn here_in_code(&mut self) -> String {
        let Some(state) = self.session.state() else { return self.at_the_end() };
        let mut text = self.heading(&state);
        text += &self.source_line();
        let _ = writeln!(text, "   pc {} │ {}", state.pc, state.instruction);
        text += &self.trap();
        text += &self.changes(&state);
        text
    }

    fn at_the_end(&self) -> String {
        let mut text = format!("step {}: the function has returned\n", self.session.recording.position());
        let results = self.session.recording.stepping().results();
        for result in results.iter().flat_map(|results| results.to_vec()) {
            let is_uniform = result.shape == spmdvm::Shape::Uniform;
            let lanes = Lanes { ty: result.ty, is_uniform, words: result.words };
            if is_uniform {
                let _ = writeln!(text, "  result = {}", lanes.text(0));
            } else {
                let mut table = Table::new(&self.lanes, self.session.mask(), self.color);
                table.values("result", &lanes, 0);
                text += &table.render();
            }
        }
        text
    }

    fn heading(&self, state: &State) -> String {
        let place = match (&state.file, state.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => "no source".into(),
        };
        let depth = if state.depth > 0 { format!(", {} deep", state.depth) } else { String::new() };
        format!("step {} at {place} in {}{depth}\n", state.position, state.function)
    }

    fn source_line(&self) -> String {
        let Some(place) = self.session.place() else { return String::new() };
        let text = self.session.line_text(place).unwrap_or_default();
        format!("{:>5} │ {}\n", place.line, text.trim_end())
    }

    fn trap(&self) -> String {
        self.session.trap().map_or(String::new(), |trap| format!("trap: {trap}\n"))
    }

    /// The strips that say something, and the variables that are other than when they were last shown.
    fn changes(&mut self, state: &State) -> String {
        let before = self.shown.take();
        let known = before.filter(|shown| shown.function == state.function && shown.depth == state.depth);
        let mut table = Table::new(&self.lanes, state.mask, self.color);
        let mut others = String::new();
        for strip in
            state.strips.iter().filter(|strip| strip.lanes != 0 && strip.name != "entry" || strip.name == "current")
        {
            table.mask(strip.name, strip.lanes);
        }
        for seen in &state.variables {
            let old = known.as_ref().map(|shown| shown.variables.iter().find(|old| old.name == seen.name));
            self.change(seen, old.flatten(), state.lanes, &mut table, &mut others);
        }
        let shown = Shown { function: state.function.clone(), depth: state.depth, variables: state.variables.clone() };
        self.shown = Some(shown);
        table.render() + &others
    }

    /// A variable that is new, or has changed; the lanes that have get a star.
    fn change(&self, seen: &Seen, old: Option<&Seen>, n: usize, table: &mut Table, others: &mut String) {
        match (&seen.lanes, &seen.text) {
            (Some(lanes), _) if !lanes.is_uniform => {
                let before = old.and_then(|old| old.lanes.as_ref()).filter(|old| old.ty == lanes.ty && !old.is_uniform);
                let changed = before.map(|old| old.differing(lanes, n));
                if changed != Some(0) {
                    table.values(&seen.name, lanes, changed.unwrap_or(0));
                }
            }
            (Some(lanes), _) => {
                let was = old.and_then(|old| old.lanes.as_ref()).map(|old| old.text(0));
                let now = lanes.text(0);
                match was {
                    Some(was) if was == now => {}
                    Some(was) => {
                        let _ = writeln!(others, "  {} = {now}  (was {was})", seen.name);
                    }
                    None => {
                        let _ = writeln!(others, "  {} = {now}", seen.name);
                    }
                }
            }
            (None, Some(text)) if old.and_then(|old| old.text.as_ref()) != Some(text) => {
                let _ = writeln!(others, "  {} = {text}", seen.name);
            }
            _ => {}
        }
    }

    /// What a motion has written to memory.
    pub(super) fn written(&self, written: &[Written], more: u64) -> String {
        let is_shown = |written: &&Written| written.lane.is_none_or(|lane| self.lanes.contains(&(lane as usize)));
        let mut text = String::new();
        let all: Vec<&Written> = written.iter().filter(is_shown).collect();
        for written in all.iter().take(MAX_WRITES) {
            let lane = written.lane.map_or(String::new(), |lane| format!(" by lane {lane}"));
            let _ = match &written.values {
                Some((old, new)) => writeln!(text, "  wrote {}: {old} → {new}{lane}", written.place),
                None => writeln!(text, "  wrote {} bytes at {}{lane}", written.bytes, written.place),
            };
        }
        let left = all.len().saturating_sub(MAX_WRITES) as u64 + more;
        if left > 0 {
            let _ = writeln!(text, "  … and {left} more writes");
        }
        text
    }

    fn state(&self) -> Result<State, String> {
        self.session.state().ok_or_else(|| "the function has returned: go back first (`:back`)".into())
    }

    pub(super) fn masks(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        let state = self.state()?;
        let mut table = Table::new(&self.lanes, state.mask, self.color);
        let mut meanings = String::new();
        for strip in &state.strips {
            let name = self.strip_name(strip, &state);
            table.mask(&name, strip.lanes);
            let _ = writeln!(meanings, "  {name}: {}", strip.meaning);
        }
        Ok(table.render() + &meanings)
    }

    /// A strip's name with the line of the construct that it belongs to.
    fn strip_name(&self, strip: &Strip, _: &State) -> String {
        let indent = "  ".repeat(strip.level.map_or(0, |level| level + 1));
        let line = strip.pushed_at.and_then(|pc| {
            let view = self.session.view()?;
            self.session.lines.place(view.function_id(), pc)
        });
        line.map_or(format!("{indent}{}", strip.name), |place| format!("{indent}{} (line {})", strip.name, place.line))
    }

    pub(super) fn vars(&mut self, words: &str) -> Reply {
        let mut state = self.state()?;
        match words {
            "" => {}
            "all" => state.variables.extend(self.session.globals()),
            _ => return Err(format!("`{words}`: give nothing, or `all`")),
        }
        if state.variables.is_empty() {
            return Ok("there are no variables here\n".into());
        }
        let mut table = Table::new(&self.lanes, state.mask, self.color);
        let mut others = String::new();
        for seen in &state.variables {
            match (&seen.lanes, &seen.text) {
                (Some(lanes), _) if !lanes.is_uniform => table.values(&seen.name, lanes, 0),
                (Some(lanes), _) => {
                    let _ = writeln!(others, "  {}: {} = {}", seen.name, seen.ty, lanes.text(0));
                }
                (None, text) => {
                    let text = text.as_deref().unwrap_or_default();
                    let _ = writeln!(others, "  {}: {} = {text}", seen.name, seen.ty);
                }
            }
        }
        Ok(table.render() + &others)
    }

    pub(super) fn print(&mut self, words: &str) -> Reply {
        let expr = expr::parse(words)?;
        let Some(view) = self.session.view() else {
            return Err("the function has returned: go back first (`:back`)".into());
        };
        let scope = Scope { view: &view, export: &self.session.export, lines: &self.session.lines };
        let value = match expr::eval(&expr, scope)? {
            Value::Memory { address, layout } => match expr::read(&address, &layout, scope) {
                Ok(lanes) => Value::Lanes(lanes),
                Err(why) if layout::scalar(&layout).is_some() => return Err(why),
                Err(_) => Value::Memory { address, layout },
            },
            other => other,
        };
        match value {
            Value::Lanes(lanes) if lanes.is_uniform => {
                Ok(format!("{words} = {}  ({}, uniform)\n", lanes.text(0), lanes.ty))
            }
            Value::Lanes(lanes) => {
                let mut table = Table::new(&self.lanes, view.mask(), self.color);
                table.values(words, &lanes, 0);
                Ok(table.render())
            }
            Value::Memory { address, layout } | Value::Pointer { address, elem: layout } => {
                self.in_memory(words, &address, &layout)
            }
        }
    }

    /// What lies at an address, or at one of each lane.
    fn in_memory(&self, words: &str, address: &crate::variables::Lanes, of: &spmdvm::HostType) -> Reply {
        let Some(view) = self.session.view() else { return Ok(String::new()) };
        let shown = |at: u64| match crate::variables::bytes(&view, at, layout::looked_at(of) as usize) {
            Some(bytes) => layout::text(of, &bytes),
            None => "no memory".into(),
        };
        if address.is_uniform {
            return Ok(format!("{words} = {}  ({})\n", shown(address.word(0)), layout::type_text(of)));
        }
        let active = self.lanes.iter().filter(|&&l| view.mask() >> l & 1 == 1);
        Ok(active.map(|&l| format!("  lane {l}: {}\n", shown(address.word(l)))).collect())
    }

    pub(super) fn why(&mut self, words: &str) -> Reply {
        let (what, most) = match words.rsplit_once(char::is_whitespace) {
            Some((what, n)) if n.parse::<usize>().is_ok() => (what.trim(), n.parse().unwrap_or(MAX_CAUSES)),
            _ => (words, MAX_CAUSES),
        };
        let (key, value) = self.asked(what)?;
        let slice = why::why(self.session, key, most).map_err(|failure| failure.to_string())?;
        Ok(why::render(self.session, &slice, &format!("{what} = {value}")))
    }

    /// The value that `x`, `x[3]` or `a[i + 1]` means, to ask where it comes from.
    fn asked(&self, what: &str) -> Result<(why::Key, String), String> {
        let Some(view) = self.session.view() else {
            return Err("the function has returned: go back first (`:back`)".into());
        };
        let export = &self.session.export;
        let (name, lane) = match what.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((name, lane)) => (name.trim(), lane.trim().parse::<usize>().ok()),
            None => (what, None),
        };
        if let (Some(Storage::Register(reg)), true) =
            (named(&view, export, &self.session.lines, name).map(|v| v.place), lane.is_some() || name == what)
        {
            let lanes = register(&view, reg);
            if lanes.is_uniform && lane.is_some() {
                return Err(format!("`{name}` is uniform: it has no lanes"));
            }
            let first = view.mask().trailing_zeros() as usize % view.lanes();
            let lane = if lanes.is_uniform { 0 } else { lane.unwrap_or(first) };
            if lane >= view.lanes() {
                return Err(format!("there is no lane {lane}; there are 0 to {}", view.lanes() - 1));
            }
            return Ok((why::Key::Register { depth: view.depth(), reg, lane }, lanes.text(lane)));
        }
        let scope = Scope { view: &view, export, lines: &self.session.lines };
        let Value::Memory { address, layout } = expr::eval(&expr::parse(what)?, scope)? else {
            return Err(format!("`{what}` is no variable, lane of a variable or element of an array"));
        };
        if !address.is_uniform || layout::scalar(&layout).is_none() {
            return Err(format!("`{what}` is more than one number: name an element of it"));
        }
        let value = expr::read(&address, &layout, scope)?;
        let key = why::Key::Memory { address: address.word(0), bytes: layout.size(), ty: value.ty };
        Ok((key, value.text(0)))
    }

    pub(super) fn set_lanes(&mut self, words: &str) -> Reply {
        let n = self.session.recording.program().width.lanes();
        let all: Vec<usize> = (0..n).collect();
        self.lanes = match words {
            "all" => all,
            "" => return Ok(format!("showing {}\n", lane_list(self.lanes.iter().fold(0, |mask, &l| mask | 1 << l)))),
            _ => lanes_of(words, n)?,
        };
        Ok(format!("showing {}\n", lane_list(self.lanes.iter().fold(0, |mask, &l| mask | 1 << l))))
    }

    pub(super) fn calls(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        if self.session.view().is_none() {
            return Ok(self.at_the_end());
        }
        let line = |(at, call): (usize, Call)| {
            let task = call.task.map_or(String::new(), |index| format!(" (task {index})"));
            let place = call.file.zip(call.line);
            let place = place.map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
            format!("  #{at} {}{task}{place}\n", call.function)
        };
        Ok(self.session.calls().into_iter().enumerate().map(line).collect())
    }

    pub(super) fn list(&mut self, words: &str) -> Reply {
        let here = self.session.place();
        let centre = match words {
            "" => here.ok_or("the function has returned: name a line, such as `:list 3`")?,
            _ => place_of(self.session, words)?,
        };
        let broken = |line: u32| {
            self.session.stops().iter().any(|stop| match &stop.kind {
                crate::stops::Kind::Break(at) => at.place.file == centre.file && at.place.line == line,
                crate::stops::Kind::Watch(_) => false,
            })
        };
        let mut text = String::new();
        for line in centre.line.saturating_sub(5).max(1)..=centre.line + 5 {
            let place = crate::lines::LinePlace { line, ..centre };
            let Some(source) = self.session.line_text(place) else { break };
            let arrow = if here == Some(place) { '▶' } else { ' ' };
            let dot = if broken(line) { '●' } else { ' ' };
            let _ = writeln!(text, "{arrow}{dot}{line:>4} │ {source}");
        }
        if text.is_empty() { Err(format!("there is no line {}", centre.line)) } else { Ok(text) }
    }

    pub(super) fn code(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        let Some(view) = self.session.view() else { return Ok(self.at_the_end()) };
        let (program, function) = (view.program(), view.function());
        let (pc, mut text) = (view.pc() as usize, String::new());
        for at in pc.saturating_sub(6)..function.code.len().min(pc + 7) {
            let arrow = if at == pc { '▶' } else { ' ' };
            let line = self.session.lines.place(view.function_id(), at as u32);
            let line = line.map_or(String::new(), |place| place.line.to_string());
            let _ = writeln!(text, "{arrow} {at:>4} {line:>5} │ {}", asm::format_inst(program, function, at));
        }
        Ok(text)
    }

    pub(super) fn info(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        let recording = &self.session.recording;
        let (snapshots, bytes) = recording.size();
        let known = match recording.last() {
            Some(last) => format!("the run ends at step {last}"),
            None => format!("the run has been recorded up to step {}", recording.frontier()),
        };
        let position = recording.position();
        Ok(format!("step {position}; {known}; {snapshots} snapshots in {} KiB are kept\n", bytes.div_ceil(1024)))
    }
}

/// `3`, `0,2,5` or `4-7`, as ascending numbers.
fn lanes_of(words: &str, n: usize) -> Result<Vec<usize>, String> {
    let mut mask = 0u64;
    for part in words.split(',').map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            text.trim().parse::<usize>().map_err(|_| format!("`{part}` is no lane: give numbers such as 3,5 or 0-7"))
        };
        let (from, to) = (number(from)?, number(to)?);
        if from > to {
            return Err(format!("`{part}` goes backwards: give the lower lane first"));
        }
        if to >= n {
            return Err(format!("there is no lane {to}; there are 0 to {}", n - 1));
        }
        mask = (from..=to).fold(mask, |mask, l| mask | 1 << l);
    }
    Ok((0..n).filter(|l| mask >> l & 1 == 1).collect())
}
