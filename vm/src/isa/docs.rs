//! Writes `docs/isa.md` from the operation table.

use super::{ElemTy, Extra, Inactive, OPS, OpInfo, OperandShape, Slot};
use crate::types::{Ty, TypeSet};
use std::fmt::Write;

/// A section of the document: the operations from `first` up to the next section's.
struct Section {
    first: &'static str,
    title: &'static str,
    text: &'static str,
}

/// Sections in the order of the table. A test checks that each `first` is an operation and that they ascend.
const SECTIONS: &[Section] = &[
    Section { first: "mov", title: "Moves", text: "" },
    Section {
        first: "add",
        title: "Arithmetic",
        text: "Floats follow IEEE 754, rounding to nearest even, with subnormal numbers.",
    },
    Section { first: "and", title: "Bits", text: "" },
    Section { first: "eq", title: "Comparisons", text: "Booleans are ordered: false is less than true." },
    Section {
        first: "iota",
        title: "Lanes",
        text: "Reductions combine lanes by a fixed tree, so that their bits do not depend on the machine.",
    },
    Section {
        first: "padd",
        title: "Addresses",
        text: "An address is a region number (24 bits) above a signed offset (40 bits).",
    },
    Section {
        first: "load",
        title: "Memory",
        text: "Every access is checked before any of its effects; the lowest lane that fails traps. \
               With uniform operands only, an access happens once; otherwise once for each active lane, ascending.",
    },
    Section { first: "print", title: "Other effects", text: "" },
    Section {
        first: "launch",
        title: "Tasks",
        text: "A task is a function marked `task`, whose first six parameters are uniform `i32`: its indices and the counts.",
    },
    Section {
        first: "jmp",
        title: "Uniform control",
        text: "Jumps backward count fuel and can be interrupted; so do calls.",
    },
    Section {
        first: "mask.if",
        title: "The mask stack",
        text: "What each operation does with the execution mask and the entries of the stack stands in `docs/internals/bytecode.md`. \
               A label is where to go on when no lane is left; `loop.back` jumps when one is.",
    },
];

/// How an operand may be shaped, by its mark in a form.
const LEGEND: &str = "\
| mark | the register is |
|---|---|
| `u:` | uniform |
| `v:` | varying |
| none, among sources | of either shape |
| none, as destination | varying if an unmarked source is, else uniform |
| `*:` | of either shape; a varying source needs a varying destination |
| `?` | optional |
";

const EFFECTS: &str = "\
| effect | the operation |
|---|---|
| pure | depends on its operands only |
| mask | depends on the execution mask too |
| trap | may trap, else has no effect |
| read, write | accesses memory, may trap |
| effect | is visible outside in another way |
| call | calls a function |
| control | changes the program counter or the mask |
";

const INACTIVE: &str = "\
| inactive lanes | get |
|---|---|
| computed | the value, like active ones |
| zero | 0 |
| kept | what they held before |
| – | nothing: there is no destination, or it is uniform |
";

/// The text of `docs/isa.md`.
pub fn isa_markdown() -> String {
    let mut out = String::from("# The instruction set\n\n");
    out.push_str("Generated from the operation table, `vm/src/isa/ops.rs`; a test fails when it is stale");
    out.push_str(" (`UPDATE_DOCS=1 cargo test -p spmdvm-vm --test docs_fresh` writes it anew).\n\n");
    let _ = writeln!(
        out,
        "There are {} operations. `docs/internals/bytecode.md` says how they work together.\n",
        OPS.len()
    );
    out.push_str(
        "An instruction is written `d = op.type operands`. `T` is its type; `S` is its second type, the source's of a",
    );
    out.push_str(" conversion or the index's of a memory operand, written behind the first: `cvt.f32.i32`.");
    out.push_str(" A type that is the only one, or equal to the first, may be left out.\n\n");
    for table in [LEGEND, EFFECTS, INACTIVE] {
        out.push_str(table);
        out.push('\n');
    }
    contents(&mut out);
    for (i, section) in SECTIONS.iter().enumerate() {
        let end = SECTIONS.get(i + 1).map_or(OPS.len(), |next| position(next.first));
        let _ = writeln!(out, "\n## {}\n", section.title);
        if !section.text.is_empty() {
            let _ = writeln!(out, "{}\n", section.text);
        }
        out.push_str("| operation | types | effect | inactive lanes | |\n|---|---|---|---|---|\n");
        for row in &OPS[position(section.first)..end] {
            operation(&mut out, row);
        }
    }
    out
}

fn contents(out: &mut String) {
    for section in SECTIONS {
        let _ = writeln!(out, "- [{}](#{})", section.title, section.title.to_lowercase().replace(' ', "-"));
    }
}

fn position(name: &str) -> usize {
    OPS.iter().position(|row| row.name == name).unwrap_or(OPS.len())
}

fn operation(out: &mut String, row: &OpInfo) {
    let effect = format!("{:?}", row.effect).to_lowercase();
    let inactive = match row.inactive {
        Inactive::Computed if row.sig.dst.is_some_and(|d| d.shape == OperandShape::Uniform) => "–",
        Inactive::Computed => "computed",
        Inactive::Zero => "zero",
        Inactive::Kept => "kept",
        Inactive::Skipped => "–",
    };
    let doc = row.doc.replace('|', "\\|");
    let commutes = if row.commutative { " Commutative." } else { "" };
    let _ = writeln!(
        out,
        "| `{}` | {} | {effect} | {inactive} | {doc}{commutes} |",
        form(row).replace('|', "\\|"),
        types(row.types)
    );
}

/// `d = add.T a, b`.
fn form(row: &OpInfo) -> String {
    let sig = &row.sig;
    let mut text = String::new();
    if let Some(dst) = &sig.dst {
        let _ = write!(text, "{} = ", operand(dst));
    } else if sig.extra.has_results() {
        text.push_str("d… = ");
    }
    text.push_str(row.name);
    if row.implied_ty().is_none() {
        text.push_str(".T");
    }
    if sig.has_from {
        text.push_str(".S");
    }
    let mut operands: Vec<String> = sig.src.iter().map(operand).collect();
    match sig.extra {
        Extra::None => {}
        Extra::Label => operands.push("L".into()),
        Extra::Memory => {
            let (base, index) = (operands[0].clone(), operands[1].trim_end_matches('?').to_string());
            operands.splice(..2, [format!("[{base} + {index}*scale? + disp?]")]);
        }
        Extra::Call => operands.push("function(args…)".into()),
        Extra::CallInd => operands[0].push_str("(args…)"),
        Extra::Launch => operands.push("task(n0, n1, n2, args…)".into()),
        Extra::LaunchInd => operands[0].push_str("(n0, n1, n2, args…)"),
        Extra::Global => operands.push("global + offset?".into()),
        Extra::Frame => operands.push("offset".into()),
        Extra::Func => operands.push("function".into()),
        Extra::Print => operands.push("#format(args…)".into()),
        Extra::Message => operands.push("#message".into()),
        Extra::Host => operands.push("#import(args…)".into()),
    }
    if !operands.is_empty() {
        let _ = write!(text, " {}", operands.join(", "));
    }
    text
}

/// `v:index i32`: shape mark, name, type unless it is the instruction's own.
fn operand(slot: &Slot) -> String {
    let mark = match slot.shape {
        OperandShape::Elementwise => "",
        OperandShape::Uniform => "u:",
        OperandShape::Varying => "v:",
        OperandShape::Either => "*:",
    };
    let ty = match slot.ty {
        ElemTy::Own => String::new(),
        ElemTy::From => " S".into(),
        ElemTy::Fixed(ty) => format!(" {ty}"),
    };
    let optional = if slot.optional { "?" } else { "" };
    format!("{mark}{}{ty}{optional}", slot.name)
}

fn types(set: TypeSet) -> String {
    let named = [
        (TypeSet::NONE, "–"),
        (TypeSet::SCALAR, "all"),
        (TypeSet::INT, "integers"),
        (TypeSet::BITS, "bool, integers"),
        (TypeSet::FLOAT, "floats"),
        (TypeSet::ARITH, "integers, floats"),
    ];
    match named.iter().find(|(named, _)| *named == set) {
        Some((_, name)) => name.to_string(),
        None => set.iter().map(Ty::name).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_follow_the_table() {
        let starts: Vec<usize> = SECTIONS.iter().map(|s| position(s.first)).collect();
        assert_eq!(starts[0], 0);
        assert!(starts.windows(2).all(|w| w[0] < w[1]) && starts.iter().all(|&s| s < OPS.len()), "{starts:?}");
    }

    #[test]
    fn forms_read_well() {
        let form = |name: &str| super::form(&OPS[position(name)]);
        assert_eq!(form("add"), "d = add.T a, b");
        assert_eq!(form("shuffle"), "v:d = shuffle.T v:v, v:index i32");
        assert_eq!(form("call"), "d… = call function(args…)");
        assert_eq!(form("mask.if"), "mask.if v:c bool, L");
        assert_eq!(form("load"), "d = load.T.S [base u64 + index S*scale? + disp?]");
    }
}
