//! What is tested: the facade, as the runner uses it.

use crate::case::Case;
use crate::data::{Layout, Leaf};
use crate::run::Returned;
use spmdvm::vm::Op;
use spmdvm::{
    Array, CallError, CompileError, Diagnostic, Engine, Fp, HostType, HostValue, JitSettings, Limits, LoopInfo, Module,
    Options, Report, Run, TrapError, Ty, Value, Width,
};
use std::sync::{Arc, Mutex, OnceLock};

/// Loop iterations and calls of a case that does not say: enough for every honest one.
const FUEL: u64 = 20_000_000;
/// Bytes of heap of a case that does not say.
const MEMORY: u64 = 64 << 20;

/// The engines that run here, the reference interpreter first.
pub fn engines() -> &'static [Engine] {
    static ENGINES: OnceLock<Vec<Engine>> = OnceLock::new();
    ENGINES.get_or_init(|| {
        let mut engines = vec![Engine::Interp];
        let others = Engine::ALL.iter().filter(|e| !matches!(e, Engine::Interp | Engine::Auto));
        engines.extend(others.filter(|engine| is_available(**engine)));
        engines
    })
}

fn is_available(engine: Engine) -> bool {
    let options = Options { engine, ..Options::default() };
    let probe = Module::compile("probe", "export void f() { }", &options);
    probe.is_ok_and(|module| !matches!(module.call("f", &[]), Err(CallError::Engine(_))))
}

/// The options of a case at a width, for the reference engine.
pub fn options(case: &Case, width: u32) -> Result<Options, String> {
    let width = Width::new(width).ok_or_else(|| format!("there is no width {width}"))?;
    let fp: Fp = case.fp.as_deref().map_or(Ok(Fp::default()), str::parse)?;
    let limits =
        Limits { fuel: Some(case.fuel.unwrap_or(FUEL)), memory: Some(case.memory.unwrap_or(MEMORY)), timeout: None };
    let defines = case.defines.clone();
    let threads = Some(1);
    Ok(Options { width, fp, defines, limits, threads, engine: Engine::Interp, ..Options::default() })
}

/// A diagnostic, placed.
#[derive(Debug)]
pub struct Diagnosed {
    /// Its line.
    pub line: usize,
    /// Its code.
    pub code: &'static str,
    /// Its message.
    pub text: String,
}

fn placed<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &spmdvm::frontend::source::SourceMap,
) -> Vec<Diagnosed> {
    let place = |d: &Diagnostic| {
        let (_, line, _) = sources.locate(d.span());
        Diagnosed { line: line as usize, code: d.code.id(), text: d.message.clone() }
    };
    diagnostics.into_iter().map(place).collect()
}

/// All diagnostics of a program, and whether it compiles.
pub fn diagnostics(name: &str, source: &str, options: &Options) -> Vec<Diagnosed> {
    match Module::compile(name, source, options) {
        Ok(module) => placed(module.warnings(), module.sources()),
        Err(error) => placed(error.diagnostics(), error.sources()),
    }
}

/// A parameter.
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: Kind,
    /// Whether it may be left out.
    pub has_default: bool,
}

/// What a parameter takes.
pub enum Kind {
    /// One scalar.
    Uniform(Ty),
    /// One per lane.
    Varying(Ty),
    /// An array, or one element by reference.
    Array {
        /// The element.
        layout: Layout,
        /// Whether it is a reference.
        reference: bool,
    },
}

/// An argument.
pub enum Argument {
    /// The bits of a scalar.
    Uniform(Ty, u64),
    /// The bits of each lane.
    Varying(Ty, Vec<u64>),
    /// A part of a buffer.
    Array {
        /// Which buffer.
        buffer: usize,
        /// Its first byte.
        from: usize,
        /// Its length.
        bytes: usize,
        /// Whether it is for reading only.
        read_only: bool,
    },
}

/// A trap, reduced to what engines must agree on.
#[derive(Clone, Debug, PartialEq)]
pub struct Trapped {
    /// Its kind.
    pub kind: &'static str,
    /// The lane it names.
    pub lane: Option<u32>,
    /// The line it names.
    pub line: Option<usize>,
    /// Its message.
    pub message: String,
}

impl std::fmt::Display for Trapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.kind, self.message)?;
        self.line.map_or(Ok(()), |line| write!(f, " in line {line}"))
    }
}

/// What a call gave.
#[derive(Default)]
pub struct Answer {
    /// The result.
    pub result: Option<Returned>,
    /// The trap.
    pub trap: Option<Trapped>,
    /// What was printed.
    pub printed: String,
}

/// A compiled case.
pub struct Subject {
    module: Module,
}

impl Subject {
    /// Compiles a program for the reference engine.
    pub fn compile(name: &str, source: &str, options: &Options) -> Result<Subject, String> {
        let module = Module::compile(name, source, options).map_err(|e: CompileError| {
            let list: Vec<String> = placed(e.diagnostics(), e.sources())
                .iter()
                .filter(|d| d.code.starts_with('E'))
                .map(|d| format!("line {}: {} {}", d.line, d.code, d.text))
                .collect();
            format!("does not compile: {}", list.join("; "))
        })?;
        Ok(Subject { module })
    }

    /// The same program, in its initial state, on another engine. A JIT compiles its loops in their first round.
    pub fn on(&self, engine: Engine) -> Subject {
        self.compiled(engine, JitSettings::eager())
    }

    /// The same program, in its initial state, on another engine that compiles loops as the settings say.
    pub fn compiled(&self, engine: Engine, jit: JitSettings) -> Subject {
        let options = Options { engine, jit, ..self.module.options().clone() };
        Subject { module: Module::from_program(self.module.verified().clone(), &options) }
    }

    /// The same program, in its initial state, with so many threads for its tasks.
    pub fn with_threads(&self, threads: usize) -> Subject {
        let options = Options { threads: Some(threads), ..self.module.options().clone() };
        Subject { module: Module::from_program(self.module.verified().clone(), &options) }
    }

    /// Returns whether it launches tasks.
    pub fn launches(&self) -> bool {
        let code = self.module.program().functions.iter().flat_map(|f| &f.code);
        code.into_iter().any(|inst| matches!(inst.op, Op::Launch | Op::LaunchInd))
    }

    /// What check mode has found in its calls.
    pub fn report(&self) -> Report {
        self.module.report()
    }

    /// Why a loop of it is interpreted that the compiler failed on.
    pub fn defect(&self) -> Option<String> {
        self.module.loops().iter().find_map(LoopInfo::defect)
    }

    /// The engine it runs on.
    pub fn engine(&self) -> Engine {
        self.module.options().engine
    }

    /// The warnings it was compiled with.
    pub fn warnings(&self) -> Vec<Diagnosed> {
        placed(self.module.warnings(), self.module.sources())
    }

    /// The parameters of an exported function.
    pub fn params(&self, function: &str) -> Result<Vec<Param>, String> {
        let export = self.module.overloads(function).next();
        let export = export.ok_or_else(|| format!("there is no exported function `{function}`"))?;
        let param = |p: &spmdvm::ExportParam| {
            let kind = match &p.value {
                HostValue::Uniform(ty) => Kind::Uniform(*ty),
                HostValue::Varying(ty) => Kind::Varying(*ty),
                HostValue::Array { elem, reference, .. } => Kind::Array { layout: layout(elem), reference: *reference },
            };
            Param { name: p.name.clone(), kind, has_default: p.default.is_some() }
        };
        Ok(export.params.iter().map(param).collect())
    }

    /// Calls an exported function.
    pub fn call(
        &self,
        function: &str,
        arguments: &[Option<Argument>],
        buffers: &mut [Vec<u8>],
        mask: u64,
    ) -> Result<Answer, String> {
        let memory: Vec<*mut u8> = buffers.iter_mut().map(|buffer| buffer.as_mut_ptr()).collect();
        let given = arguments.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let mut values = Vec::new();
        for argument in &arguments[..given] {
            values.push(match argument {
                None => return Err("only trailing arguments can be left out".to_owned()),
                Some(Argument::Uniform(ty, bits)) => Value::scalar(*ty, *bits),
                Some(Argument::Varying(ty, words)) => Value::Lanes { ty: *ty, words: words.clone() },
                Some(Argument::Array { buffer, from, bytes, read_only }) => {
                    let start = memory[*buffer].wrapping_add(*from);
                    // SAFETY: the runner made sure that the part lies within the buffer, which outlives the call and is
                    // not touched meanwhile.
                    Value::Array(unsafe { Array::from_raw(start, *bytes, None, !read_only) })
                }
            });
        }
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&printed);
        let run = Run::new(&self.module).mask(mask).output(move |text| {
            sink.lock().expect("no print panics").push_str(text);
        });
        let mut answer = Answer::default();
        match run.call(function, &values) {
            Ok(result) => answer.result = result.and_then(returned),
            Err(CallError::Trap(error)) => answer.trap = Some(trapped(&error)),
            Err(other) => return Err(other.to_string()),
        }
        answer.printed = std::mem::take(&mut printed.lock().expect("no print panics"));
        Ok(answer)
    }
}

fn returned(value: Value) -> Option<Returned> {
    match value {
        Value::Scalar { ty, bits } => Some(Returned { ty, varying: false, bits: vec![bits] }),
        Value::Lanes { ty, words } => Some(Returned { ty, varying: true, bits: words }),
        Value::Pointer(pointer) => Some(Returned { ty: Ty::U64, varying: false, bits: vec![pointer.address()] }),
        // `tests/suites/by_value.rs` has those.
        Value::Array(_) | Value::Record(_) => None,
    }
}

fn trapped(error: &TrapError) -> Trapped {
    let trap = error.trap();
    Trapped {
        kind: trap.kind.name(),
        lane: trap.lane,
        line: error.place().map(|(_, line, _)| line),
        message: error.to_string(),
    }
}

/// The layout of an array's elements: an array of arrays is seen as one long array.
fn layout(elem: &HostType) -> Layout {
    let mut elem = elem;
    while let HostType::Array(inner, _) = elem {
        elem = inner;
    }
    let mut leaves = Vec::new();
    collect_leaves(elem, String::new(), 0, &mut leaves);
    Layout { size: elem.size(), leaves }
}

fn collect_leaves(ty: &HostType, path: String, offset: u64, leaves: &mut Vec<Leaf>) {
    let mut leaf = |ty| leaves.push(Leaf { path: path.clone(), offset, ty });
    match ty {
        HostType::Scalar(ty) => leaf(*ty),
        HostType::Enum(_) => leaf(Ty::U32),
        HostType::Pointer => leaf(Ty::U64),
        HostType::Byte => leaf(Ty::U8),
        HostType::Array(inner, len) => {
            for at in 0..*len {
                collect_leaves(inner, format!("{path}[{at}]"), offset + at * inner.size(), leaves);
            }
        }
        HostType::Struct { fields, .. } => {
            for (name, at, ty) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                collect_leaves(ty, format!("{path}{dot}{name}"), offset + at, leaves);
            }
        }
    }
}
