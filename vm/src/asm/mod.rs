//! The text form of programs: [`disassemble`] writes it, [`assemble`] reads it back.
//!
//! ```text
//! .width 16
//! .message 0 "x is not negative"
//! .format 0 "x = " {value} "\n"
//! .global table 64 const {
//!   hex "0000803f"
//!   reloc 8 table + 16
//! }
//! .export "clamp" clamp(x: varying f32) -> varying f32 {
//! }
//!
//! func clamp(v0:f32 "x") -> (v2) {
//!   const u1:f32 = 0.0
//!   var v2:f32 "y", v3:bool
//!   v2 = mov.f32 u1
//!   v3 = gt.f32 v0, u1
//!   mask.if v3, L4
//!   v2 = assign.f32 v0
//! L4:
//!   mask.endif L5
//! L5:
//!   ret
//! }
//! ```
//!
//! A register is written `u7` if it is uniform and `v7` if it is varying. Labels may have any name; the disassembler calls
//! the one at instruction 4 `L4`. A memory operand is `[base + index*scale + displacement]`; a call is
//! `v1, u2 = call f(v0, u3)`. `#3` names something by its number: a format, a message, or a function or global whose name is
//! not its own. A comment begins with `;`.
//!
//! What is declared and defined elsewhere: `.import "f(varying float)" function f "float (varying float)" {`. A global's
//! image may hold functions: `function 8 f`.
//!
//! [`Style::Full`] adds what a reader seldom wants: the sources' text, each instruction's span, `@file:lo-hi`, and what others may
//! link to (`.symbol`). Then
//! `assemble(disassemble(p)) == p` for every verified program `p` in [normal form](normalize).

mod lex;
mod literal;
mod parse;
mod parse_function;
mod parse_tables;
mod print;
mod print_tables;

pub use parse::{AsmError, assemble};
pub use print::{Style, disassemble, format_inst};

use crate::program::{List, Program, Span};

/// Brings what has no text form of its own into the one form that the assembler makes: register lists stand in the pool in the order
/// of the code, arguments before results, and the span of an instruction that has none is zero.
pub fn normalize(program: &mut Program) {
    for f in &mut program.functions {
        let old = std::mem::take(&mut f.pool);
        let mut pool = Vec::with_capacity(old.len());
        let mut copy = |list: List| {
            let start = list.start as usize;
            match old.get(start..start.saturating_add(list.len as usize)) {
                Some(regs) if !regs.is_empty() => {
                    pool.extend_from_slice(regs);
                    List { start: (pool.len() - regs.len()) as u32, len: list.len }
                }
                _ => List::default(),
            }
        };
        for inst in &mut f.code {
            inst.args = copy(inst.args);
            inst.rets = copy(inst.rets);
        }
        f.pool = pool.into();
        f.spans.iter_mut().for_each(normal_span);
    }
    for import in &mut program.imports {
        normal_span(&mut import.symbol.span);
        normal_span(&mut import.used);
        import.near.iter_mut().for_each(|near| normal_span(&mut near.1));
    }
    program.symbols.iter_mut().for_each(|symbol| normal_span(&mut symbol.span));
}

fn normal_span(span: &mut Span) {
    if span.hi == 0 {
        *span = Span::default();
    }
}
