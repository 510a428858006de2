//! The disassembler: functions and instructions.

use super::literal::{constant_text, name, quote};
use super::print_tables::tables;
use crate::isa::Extra;
use crate::program::{Function, Inst, List, Piece, Program, Reg, Span};
use crate::types::{Shape, Ty};
use std::collections::HashMap;
use std::fmt::Write;

/// What the disassembler writes beside the program's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For readers: source lines, messages and formats as comments; spans and sources are left out.
    Human,
    /// Everything, for reading back.
    Full,
}

/// The text form of a program. Programs that are not verified are shown as far as possible.
pub fn disassemble(program: &Program, style: Style) -> String {
    let mut printer = Printer::new(program, style);
    tables(&mut printer);
    for f in &program.functions {
        printer.function(f);
    }
    printer.out
}

/// One instruction of a function as a line of text, without label and comment.
pub fn format_inst(program: &Program, f: &Function, pc: usize) -> String {
    let mut printer = Printer::new(program, Style::Human);
    if let Some(inst) = f.code.get(pc) {
        printer.inst(f, inst);
    }
    printer.out.trim().to_owned()
}

pub(super) struct Printer<'a> {
    pub program: &'a Program,
    pub style: Style,
    pub out: String,
    functions: HashMap<&'a str, usize>,
    globals: HashMap<&'a str, usize>,
}

/// Writes formatted text; writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($arg:tt)*) => { { let _ = write!($printer.out, $($arg)*); } };
}
pub(super) use put;

impl<'a> Printer<'a> {
    fn new(program: &'a Program, style: Style) -> Self {
        let first = |names: &mut dyn Iterator<Item = &'a str>| {
            let mut map = HashMap::new();
            names.enumerate().for_each(|(i, n)| {
                map.entry(n).or_insert(i);
            });
            map
        };
        Printer {
            functions: first(&mut program.functions.iter().map(|f| f.name.as_str())),
            globals: first(&mut program.globals.iter().map(|g| g.name.as_str())),
            program,
            style,
            out: String::new(),
        }
    }

    fn function(&mut self, f: &Function) {
        let params: Vec<String> = (0..f.n_params.min(f.regs.len() as u32)).map(|i| declaration(f, Reg(i))).collect();
        put!(self, "\nfunc {}({})", name(&f.name), params.join(", "));
        if !f.results.is_empty() {
            put!(self, " -> ({})", registers(f, &f.results));
        }
        if f.is_task {
            put!(self, " task");
        }
        if f.frame_size != 0 {
            put!(self, " frame {}", f.frame_size);
        }
        put!(self, " {{\n");
        self.declarations(f);
        self.code(f);
        put!(self, "}}\n");
    }

    fn declarations(&mut self, f: &Function) {
        let mut declared: Vec<bool> = (0..f.regs.len()).map(|i| i < f.n_params as usize).collect();
        for &(r, bits) in f.consts.iter() {
            let ty = f.regs.get(r.index()).map_or(Ty::U64, |d| d.ty);
            put!(self, "  const {} = {}\n", declaration(f, r), constant_text(ty, bits));
            declared.iter_mut().skip(r.index()).take(1).for_each(|d| *d = true);
        }
        let rest: Vec<String> =
            (0..f.regs.len()).filter(|&i| !declared[i]).map(|i| declaration(f, Reg(i as u32))).collect();
        for line in rest.chunks(8) {
            put!(self, "  var {}\n", line.join(", "));
        }
    }

    fn code(&mut self, f: &Function) {
        let mut is_target = vec![false; f.code.len()];
        for inst in f.code.iter().filter(|i| i.op.info().sig.has_label()) {
            is_target.iter_mut().skip(inst.aux as usize).take(1).for_each(|t| *t = true);
        }
        let mut last_line = None;
        for (at, inst) in f.code.iter().enumerate() {
            if is_target[at] {
                put!(self, "L{at}:\n");
            }
            put!(self, "  ");
            self.inst(f, inst);
            let span = f.spans.get(at).copied().unwrap_or_default();
            match self.style {
                Style::Full if span.hi != 0 => put!(self, " @{}:{}-{}", span.file, span.lo, span.hi),
                Style::Full => {}
                Style::Human => self.comment(inst, span, &mut last_line),
            }
            put!(self, "\n");
        }
    }

    /// The source line, when it is another than the line before, and the text an instruction refers to.
    fn comment(&mut self, inst: &Inst, span: Span, last: &mut Option<(u32, usize)>) {
        let mut parts = Vec::new();
        if let Some((source, line, _)) = self.program.line_col(span)
            && last.replace((span.file, line)) != Some((span.file, line))
        {
            let file = source.name.replace(['\n', '\r'], " ");
            parts.push(format!("{file}:{line}"));
        }
        match inst.op.info().sig.extra {
            Extra::Message => parts.extend(self.program.messages.get(inst.aux as usize).map(|m| quote(m))),
            Extra::Host => parts.extend(self.program.imports.get(inst.aux as usize).map(|i| quote(&i.symbol.name))),
            Extra::Print => parts.extend(self.program.formats.get(inst.aux as usize).map(|p| format_sketch(p))),
            _ => {}
        }
        if !parts.is_empty() {
            put!(self, "  ; {}", parts.join("  "));
        }
    }

    fn inst(&mut self, f: &Function, inst: &Inst) {
        let info = inst.op.info();
        if inst.rets.len != 0 {
            put!(self, "{} = ", registers(f, list(f, inst.rets)));
        } else if !inst.dst.is_none() {
            put!(self, "{} = ", register(f, inst.dst));
        }
        put!(self, "{}", info.name);
        if info.implied_ty() != Some(inst.ty) || inst.from != inst.ty {
            put!(self, ".{}", inst.ty);
        }
        if inst.from != inst.ty {
            put!(self, ".{}", inst.from);
        }
        let mut operands = self.operands(f, inst);
        match info.sig.extra {
            Extra::Call | Extra::Launch => {
                let callee = self.function_ref(inst.aux);
                operands = vec![format!("{callee}({})", registers(f, list(f, inst.args)))];
            }
            Extra::CallInd | Extra::LaunchInd => {
                operands = vec![format!("{}({})", register(f, inst.src[0]), registers(f, list(f, inst.args)))];
            }
            Extra::Print | Extra::Host => operands.push(format!("#{}({})", inst.aux, registers(f, list(f, inst.args)))),
            Extra::Label if (inst.aux as usize) < f.code.len() => operands.push(format!("L{}", inst.aux)),
            Extra::Label | Extra::Message => operands.push(format!("#{}", inst.aux)),
            Extra::Global => operands.push(format!("{}{}", self.global_ref(inst.aux), displacement(inst.imm))),
            Extra::Frame => operands.push(inst.imm.to_string()),
            Extra::Func => operands.push(self.function_ref(inst.aux)),
            Extra::None | Extra::Memory => {}
        }
        if !operands.is_empty() {
            put!(self, " {}", operands.join(", "));
        }
    }

    /// The registers among the operands, and the memory operand.
    fn operands(&self, f: &Function, inst: &Inst) -> Vec<String> {
        let sig = &inst.op.info().sig;
        let last = inst.src.iter().rposition(|r| !r.is_none()).map_or(0, |i| i + 1);
        let n = sig.src.len().max(last);
        let mut operands: Vec<String> = inst.src[..n].iter().map(|&r| register(f, r)).collect();
        if sig.extra == Extra::Memory {
            let mut address = format!("[{}", operands[0]);
            if !inst.src[1].is_none() || inst.aux != 0 {
                let _ = write!(address, " + {}*{}", operands[1], inst.aux);
            }
            address.push_str(&displacement(inst.imm));
            address.push(']');
            operands.splice(..2, [address]);
        }
        operands
    }

    /// A function by name, or by number if the name is another's.
    pub fn function_ref(&self, index: u32) -> String {
        let named = self.program.functions.get(index as usize).map(|f| f.name.as_str());
        by_name(named.filter(|n| self.functions.get(n) == Some(&(index as usize))), index)
    }

    /// A global by name, or by number if the name is another's.
    pub fn global_ref(&self, index: u32) -> String {
        let named = self.program.globals.get(index as usize).map(|g| g.name.as_str());
        by_name(named.filter(|n| self.globals.get(n) == Some(&(index as usize))), index)
    }
}

fn by_name(named: Option<&str>, index: u32) -> String {
    named.map_or_else(|| format!("#{index}"), name)
}

pub(super) fn displacement(imm: i64) -> String {
    match imm {
        0 => String::new(),
        n if n < 0 => format!(" - {}", n.unsigned_abs()),
        n => format!(" + {n}"),
    }
}

fn register(f: &Function, r: Reg) -> String {
    match f.regs.get(r.index()) {
        Some(d) if d.shape == Shape::Uniform => format!("u{}", r.0),
        Some(_) => format!("v{}", r.0),
        None if r.is_none() => "_".into(),
        None => format!("r{}", r.0),
    }
}

fn registers(f: &Function, regs: &[Reg]) -> String {
    regs.iter().map(|&r| register(f, r)).collect::<Vec<_>>().join(", ")
}

/// `v3:f32 "x"`.
fn declaration(f: &Function, r: Reg) -> String {
    let Some(d) = f.regs.get(r.index()) else { return register(f, r) };
    let named = d.name.as_ref().map_or(String::new(), |n| format!(" {}", quote(n)));
    format!("{}:{}{named}", register(f, r), d.ty)
}

/// The registers of a list; none if it is out of range.
fn list(f: &Function, list: List) -> &[Reg] {
    let start = list.start as usize;
    f.pool.get(start..start.saturating_add(list.len as usize)).unwrap_or(&[])
}

/// A format with `%` for each argument.
fn format_sketch(pieces: &[Piece]) -> String {
    let texts = pieces.iter().map(|p| if let Piece::Text(t) = p { t.as_str() } else { "%" });
    quote(&texts.collect::<String>())
}
