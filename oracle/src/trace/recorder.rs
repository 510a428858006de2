//! Records a run: an observer of the interpreter that makes events of what it sees.

use super::event::{
    Access, At, Call, Effect, End, Enter, Event, Header, How, Print, Reason, Region, Register, Return, SCHEMA, Site,
    SourceSpan, SourceText, Step, Trap, VERSION, Values,
};
use super::filter::in_source;
use super::sink::Sink;
use crate::number::Number;
use spmdvm::vm::trap::{Access as Mode, RegionKind};
use spmdvm::vm::{Accessed, FuncId, Observer, Op, Program, Reg, Span, View, asm};
use spmdvm::{CallError, Export, Module, Run, Shape, TrapError, Value};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What was recorded, and how the run ended.
pub struct Recorded {
    /// What the call gave; `None` if the sink asked for no more, so that the run was stopped.
    pub result: Option<Result<Option<Value<'static>>, CallError>>,
    /// Whether the sink could take it all.
    pub written: io::Result<()>,
}

/// Calls an export with `run` and hands what happens to a sink. `interrupt` stops the run from outside.
pub fn record(
    module: &Module,
    run: Run<'_>,
    (export, args, mask): (&Export, &[Value<'_>], u64),
    interrupt: Arc<AtomicBool>,
    sink: &mut dyn Sink,
) -> Recorded {
    let printed = Arc::new(Mutex::new(String::new()));
    let header = header(module, export, mask);
    let mut recorder = Recorder {
        sink,
        header: Some(header),
        printed: Arc::clone(&printed),
        stop: Arc::clone(&interrupt),
        state: State::Recording,
        sites: HashMap::new(),
        frames: Vec::new(),
        pending: None,
        steps: 0,
    };
    let keep = move |text: &str| printed.lock().unwrap_or_else(|e| e.into_inner()).push_str(text);
    let result = run.output(keep).interrupt(interrupt).call_observed(export, args, &mut recorder);
    recorder.finish(result)
}

/// The header of a trace of a call.
fn header(module: &Module, export: &Export, mask: u64) -> Header {
    let program = module.program();
    let width = module.lanes() as u32;
    let is_library = |name: &str| spmdvm::frontend::prelude::FILES.iter().any(|(file, _)| *file == name);
    let own = program.sources.iter().filter(|source| !is_library(&source.name));
    let sources: Vec<SourceText> =
        own.map(|source| SourceText { name: source.name.clone(), text: source.text.to_string() }).collect();
    let function = &program.functions[export.function.0 as usize];
    let file = function.spans.iter().find(|s| s.hi > 0).and_then(|s| program.sources.get(s.file as usize));
    Header {
        schema: SCHEMA.into(),
        version: VERSION,
        generator: format!("spmdvm {}", env!("CARGO_PKG_VERSION")),
        program: file.map_or(String::new(), |source| source.name.clone()),
        digest: digest(&sources),
        width,
        entry: export.name.clone(),
        mask: mask & module.options().width.full_mask(),
        fp: module.options().fp.to_string(),
        lanes: (0..width).collect(),
        sources,
    }
}

/// FNV-1a (Fowler, Noll, Vo) of names and texts, each ended by a zero byte.
fn digest(sources: &[SourceText]) -> String {
    let bytes = sources.iter().flat_map(|source| [&source.name, &source.text]).flat_map(|text| text.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

/// Whether events are still wanted.
enum State {
    Recording,
    /// The sink has asked for no more.
    Stopped,
    /// The sink has failed.
    Failed(io::Error),
}

/// A call that executes.
struct Frame {
    function: FuncId,
    /// The registers that have been written, by index.
    known: Vec<bool>,
    /// How it was entered, and by which instruction of the frame below.
    how: How,
    call: Option<u32>,
}

/// An instruction that executes.
struct Pending {
    step: Step,
    accessed: Vec<(usize, Accessed)>,
    /// What the registers held that it writes.
    before: Vec<(Reg, Option<Vec<u64>>)>,
    opens: bool,
}

struct Recorder<'s> {
    sink: &'s mut dyn Sink,
    /// The header, until it has been handed on.
    header: Option<Header>,
    printed: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
    state: State,
    sites: HashMap<(FuncId, u32), Arc<Site>>,
    frames: Vec<Frame>,
    pending: Option<Pending>,
    steps: u64,
}

impl Recorder<'_> {
    fn finish(mut self, result: Result<Option<Value<'static>>, CallError>) -> Recorded {
        self.flush(None);
        let last = match &result {
            Ok(_) => Some(Event::End(End { reason: Reason::Returned, steps: self.steps })),
            Err(CallError::Trap(error)) => Some(Event::Trap(trap(error))),
            // The call was never made.
            Err(_) => None,
        };
        if let Some(last) = last {
            self.begin();
            self.emit(last);
        }
        let finished = self.sink.finish();
        match self.state {
            State::Recording => Recorded { result: Some(result), written: finished },
            State::Stopped => Recorded { result: None, written: finished },
            State::Failed(error) => Recorded { result: None, written: Err(error) },
        }
    }

    fn is_recording(&self) -> bool {
        matches!(self.state, State::Recording)
    }

    fn begin(&mut self) {
        if let Some(header) = self.header.take()
            && let Err(error) = self.sink.begin(&header)
        {
            self.end(State::Failed(error));
        }
    }

    fn emit(&mut self, event: Event) {
        if !self.is_recording() {
            return;
        }
        match self.sink.event(&event) {
            Ok(flow) if flow.is_continue() => {}
            Ok(_) => self.end(State::Stopped),
            Err(error) => self.end(State::Failed(error)),
        }
    }

    fn end(&mut self, state: State) {
        self.state = state;
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Hands on the instruction that executes; `view` is of it, if it has done its work and its registers are still there.
    fn flush(&mut self, view: Option<&View<'_>>) {
        if let Some(mut pending) = self.pending.take() {
            if let Some(view) = view {
                self.complete(&mut pending, view);
            }
            self.emit(Event::Step(pending.step));
        }
        let text = std::mem::take(&mut *self.printed.lock().unwrap_or_else(|e| e.into_inner()));
        if !text.is_empty() {
            self.emit(Event::Print(Print { text }));
        }
    }

    /// Adds what an instruction has done.
    fn complete(&mut self, pending: &mut Pending, view: &View<'_>) {
        let mask = view.mask();
        pending.step.mask_after = (mask != pending.step.mask).then_some(mask);
        for (reg, before) in pending.before.drain(..) {
            let mut register = register(view, reg);
            let words = &register.values.words;
            register.changed = Some((0..words.len()).fold(0, |changed, l| {
                let differs = before.as_ref().is_none_or(|before| before.get(l) != words.get(l));
                changed | (differs as u64) << l
            }));
            pending.step.writes.push(register);
            self.know(reg);
        }
        for (effect, accessed) in &pending.accessed {
            let effect = &mut pending.step.memory[*effect];
            let at = effect.at.iter_mut().find(|at| at.lane == accessed.lane);
            if let (Some(at), Some(ty)) = (at, effect.ty) {
                at.new = word(view, accessed).map(|bits| Number(ty, bits));
            }
        }
    }

    fn know(&mut self, reg: Reg) {
        if let Some(known) = self.frames.last_mut().and_then(|frame| frame.known.get_mut(reg.index())) {
            *known = true;
        }
    }

    fn site(&mut self, view: &View<'_>) -> Arc<Site> {
        let site = self.sites.entry((view.function_id(), view.pc()));
        Arc::clone(site.or_insert_with(|| {
            let (program, function) = (view.program(), view.function());
            Arc::new(Site {
                function: function.name.as_str().into(),
                pc: view.pc(),
                op: view.inst().op.info().name.into(),
                text: asm::format_inst(program, function, view.pc() as usize),
                span: source_span(program, view.span()),
            })
        }))
    }

    fn leave(&mut self, view: &View<'_>) {
        let function = view.function();
        let results = function.results.iter().map(|&r| register(view, r)).collect();
        let mut into = Vec::new();
        if let Some(Frame { how: How::Call, call: Some(pc), .. }) = self.frames.pop()
            && let Some(caller) = self.frames.last_mut()
        {
            let code = &view.program().functions[caller.function.0 as usize];
            for &reg in code.list(code.code[pc as usize].rets) {
                into.push(name_of(code, reg));
                caller.known[reg.index()] = true;
            }
        }
        let (depth, mask) = (view.depth() as u32, view.mask());
        self.emit(Event::Return(Return { function: function.name.as_str().into(), depth, mask, results, into }));
    }
}

impl Observer for Recorder<'_> {
    fn entered(&mut self, view: &View<'_>) {
        if !self.is_recording() {
            return;
        }
        let call = self.pending.as_ref().filter(|pending| pending.opens).map(|pending| pending.step.site.pc);
        self.flush(None);
        self.begin();
        let function = view.function();
        let task = view.task();
        let how = match (task, self.frames.is_empty()) {
            (Some(_), _) => How::Task,
            (None, true) => How::Host,
            (None, false) => How::Call,
        };
        let mut known = vec![false; function.regs.len()];
        known[..function.n_params as usize].fill(true);
        self.frames.push(Frame { function: view.function_id(), known, how, call });
        self.emit(Event::Enter(Enter {
            function: function.name.as_str().into(),
            how,
            task,
            depth: view.depth() as u32,
            mask: view.mask(),
            parameters: (0..function.n_params).map(|r| register(view, Reg(r))).collect(),
        }));
    }

    fn before(&mut self, view: &View<'_>) {
        if !self.is_recording() {
            return;
        }
        self.flush(None);
        let site = self.site(view);
        let inst = view.inst();
        let rets = if inst.op == Op::HostCall { view.function().list(inst.rets) } else { &[] };
        let written = [inst.dst].into_iter().filter(|r| !r.is_none()).chain(rets.iter().copied());
        let known = self.frames.last().map_or(&[][..], |frame| &frame.known);
        let is_known = |r: Reg| known.get(r.index()).copied().unwrap_or(false);
        let before = written.map(|r| (r, is_known(r).then(|| view.register(r).words))).collect();
        let (memory, accessed) = effects(view);
        let step = Step {
            n: self.steps,
            site,
            depth: view.depth() as u32,
            mask: view.mask(),
            mask_after: None,
            mask_depth: view.mask_depth() as u32,
            writes: Vec::new(),
            memory,
        };
        self.steps += 1;
        let opens = matches!(inst.op, Op::Call | Op::CallInd | Op::Launch | Op::LaunchInd);
        self.pending = Some(Pending { step, accessed, before, opens });
        if inst.op == Op::Ret {
            self.flush(None);
            self.leave(view);
        }
    }

    fn after(&mut self, view: &View<'_>) {
        if self.is_recording() {
            self.flush(Some(view));
        }
    }
}

/// What an instruction is about to do to memory, and the accesses whose outcome is wanted, with the index of their effect.
fn effects(view: &View<'_>) -> (Vec<Effect>, Vec<(usize, Accessed)>) {
    let accesses = view.accesses();
    if accesses.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let op = view.inst().op;
    let is_range = matches!(op, Op::MemCopy | Op::MemSet);
    let ty = (!is_range).then_some(view.inst().ty);
    let mut effects: Vec<Effect> = Vec::new();
    let mut wanted = Vec::new();
    for accessed in accesses {
        let access = match accessed.access {
            Mode::Read => Access::Read,
            Mode::Write if op.info().sig.dst.is_some() => Access::Atomic,
            Mode::Write => Access::Write,
        };
        if effects.last().is_none_or(|effect| effect.access != access) {
            effects.push(Effect { access, ty, at: Vec::new() });
        }
        let number = effects.len() - 1;
        let mut at = at(view, &accessed);
        at.bytes = is_range.then_some(accessed.bytes);
        if let Some(ty) = ty.filter(|_| access != Access::Read) {
            at.old = word(view, &accessed).map(|bits| Number(ty, bits));
            wanted.push((number, accessed));
        }
        effects[number].at.push(at);
    }
    (effects, wanted)
}

fn at(view: &View<'_>, accessed: &Accessed) -> At {
    let lane = accessed.lane;
    match view.place(accessed) {
        Some(place) => {
            let (region, offset) = (region(place.kind), place.offset);
            At { lane, region, array: place.name, offset, index: place.indices, bytes: None, old: None, new: None }
        }
        None => {
            let (region, offset) = (Region::Dead, accessed.offset);
            At { lane, region, array: None, offset, index: Vec::new(), bytes: None, old: None, new: None }
        }
    }
}

fn region(kind: RegionKind) -> Region {
    match kind {
        RegionKind::Host => Region::Host,
        RegionKind::Global => Region::Global,
        RegionKind::Frame => Region::Frame,
        RegionKind::Heap => Region::Heap,
        RegionKind::Unbound => Region::Unbound,
    }
}

/// The element that an access is to, if it may be read.
fn word(view: &View<'_>, accessed: &Accessed) -> Option<u64> {
    let mut bytes = [0; 8];
    view.read_accessed(accessed, bytes.get_mut(..accessed.bytes as usize)?).then(|| u64::from_le_bytes(bytes))
}

fn register(view: &View<'_>, reg: Reg) -> Register {
    let function = view.function();
    let values = view.register(reg);
    let is_uniform = values.shape == Shape::Uniform;
    Register {
        register: name_of(function, reg),
        variable: function.reg(reg).name.clone(),
        values: Values { ty: values.ty, is_uniform, words: values.words },
        changed: None,
    }
}

/// A register as the text of instructions has it.
fn name_of(function: &spmdvm::vm::Function, reg: Reg) -> String {
    let letter = if function.reg(reg).shape == Shape::Uniform { 'u' } else { 'v' };
    format!("{letter}{}", reg.0)
}

/// A span in lines and columns.
fn source_span(program: &Program, span: Span) -> Option<SourceSpan> {
    let (source, line, column) = program.line_col(span)?;
    let (_, end_line, end_column) = program.line_col(Span { lo: span.hi, ..span })?;
    let [line, column, end_line, end_column] = [line, column, end_line, end_column].map(|n| n as u32);
    Some(SourceSpan { file: source.name.as_str().into(), line, column, end_line, end_column })
}

fn trap(error: &TrapError) -> Trap {
    let trap = error.trap();
    let calls = trap.stack.iter().map(|frame| Call {
        function: in_source(&frame.name).to_owned(),
        task: frame.task,
        span: source_span(error.program(), frame.span),
    });
    Trap { kind: trap.kind.name().into(), message: trap.to_string(), lane: trap.lane, calls: calls.collect() }
}
