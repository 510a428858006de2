//! The disassembler: everything around the functions.

use super::literal::{constant_text, name, quote};
use super::print::{Printer, Style, displacement, put};
use crate::program::{
    ArgFormat, ArgKind, Export, ExportParam, Global, Home, HostAccess, HostType, HostValue, Import, Item, Piece, Span,
    Symbol, Target, Variable,
};
use crate::verify::MAX_TYPE_DEPTH;
use std::fmt::Write;

pub(super) fn tables(p: &mut Printer<'_>) {
    let program = p.program;
    put!(p, ".width {}\n", program.width);
    if p.style == Style::Full {
        for (i, source) in program.sources.iter().enumerate() {
            put!(p, ".source {i} {} {}\n", quote(&source.name), quote(&source.text));
        }
    }
    for (i, message) in program.messages.iter().enumerate() {
        put!(p, ".message {i} {}\n", quote(message));
    }
    for (i, format) in program.formats.iter().enumerate() {
        put!(p, ".format {i}");
        for piece in format {
            put!(p, " {}", piece_text(piece));
        }
        put!(p, "\n");
    }
    for g in &program.globals {
        global(p, g);
    }
    for e in &program.exports {
        export(p, e);
    }
    program.imports.iter().for_each(|i| import(p, i));
    if p.style == Style::Full {
        program.symbols.iter().for_each(|s| defined(p, s));
        program.variables.iter().for_each(|v| variable(p, v));
    }
}

fn defined(p: &mut Printer<'_>, s: &Symbol) {
    put!(p, ".symbol ");
    symbol(p, s);
    put!(p, " {{\n");
    structs(p, s);
    put!(p, "}}\n");
}

fn import(p: &mut Printer<'_>, i: &Import) {
    put!(p, ".import ");
    symbol(p, &i.symbol);
    if p.style == Style::Full && i.used.hi != 0 {
        put!(p, " used{}", span(i.used));
    }
    put!(p, " {{\n");
    structs(p, &i.symbol);
    if let Some(host) = &i.host {
        put!(p, "  host {}\n", signature(&host.params, host.result.as_ref()));
    }
    if let (Some((name, place)), Style::Full) = (&i.near, p.style) {
        let place = if place.hi != 0 { span(*place) } else { String::new() };
        put!(p, "  near {}{place}\n", quote(name));
    }
    put!(p, "}}\n");
}

fn symbol(p: &mut Printer<'_>, s: &Symbol) {
    let item = match s.item {
        Item::Function(id) => format!("function {}", p.function_ref(id.0)),
        Item::Global(id) => format!("global {}", p.global_ref(id.0)),
    };
    put!(p, "{} {item} {}", quote(&s.name), quote(&s.ty));
    if p.style == Style::Full && s.span.hi != 0 {
        put!(p, "{}", span(s.span));
    }
}

fn structs(p: &mut Printer<'_>, s: &Symbol) {
    if p.style == Style::Full {
        for (name, digest) in &s.structs {
            put!(p, "  struct {} {digest}\n", quote(name));
        }
    }
}

fn span(span: Span) -> String {
    format!(" @{}:{}-{}", span.file, span.lo, span.hi)
}

fn variable(p: &mut Printer<'_>, v: &Variable) {
    let (home, index) = match v.home {
        Home::Frame(function) => ("frame", function.0),
        Home::Global(global) => ("global", global.0),
    };
    put!(p, ".variable {home} {index} at {} {} {}", v.offset, quote(&v.name), v.shape.stride);
    for n in &v.shape.extents {
        put!(p, " * {n}");
    }
    if let Some(layout) = &v.layout {
        let mut text = String::new();
        host_type(&mut text, layout, 0);
        let varying = if v.varying { "varying " } else { "" };
        put!(p, " : {varying}{text}");
    }
    put!(p, "\n");
}

fn piece_text(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => quote(text),
        Piece::Arg(arg) => format!("{{{}}}", arg_format(arg)),
    }
}

fn arg_format(arg: &ArgFormat) -> String {
    let mut words = vec![match arg.kind {
        ArgKind::Value => "value".to_string(),
        ArgKind::Pointer => "pointer".into(),
        ArgKind::Text => "text".into(),
    }];
    words.extend(arg.conversion.map(|c| format!("conversion {}", quote(c.encode_utf8(&mut [0; 4])))));
    words.extend(arg.width.map(|n| format!("width {n}")));
    words.extend(arg.precision.map(|n| format!("precision {n}")));
    words.extend(arg.zero.then(|| "zero".into()));
    words.extend(arg.left.then(|| "left".into()));
    words.extend(arg.plus.then(|| "plus".into()));
    words.join(" ")
}

fn global(p: &mut Printer<'_>, g: &Global) {
    let constant = if g.constant { " const" } else { "" };
    put!(p, ".global {} {}{constant} {{\n", name(&g.name), g.size);
    let readable = |b: &u8| (0x20..0x7f).contains(b) || b"\n\t\0".contains(b);
    if let (true, Ok(text)) = (g.init.iter().all(readable) && !g.init.is_empty(), std::str::from_utf8(&g.init)) {
        put!(p, "  text {}\n", quote(text));
    } else {
        for line in g.init.chunks(32) {
            put!(p, "  hex \"");
            for (i, byte) in line.iter().enumerate() {
                put!(p, "{}{byte:02x}", if i % 4 == 0 && i > 0 { " " } else { "" });
            }
            put!(p, "\"\n");
        }
    }
    for &(at, target) in &g.relocations {
        match target {
            Target::Global(id, offset) => put!(p, "  reloc {at} {}{}\n", p.global_ref(id.0), displacement(offset)),
            Target::Function(id) => put!(p, "  function {at} {}\n", p.function_ref(id.0)),
        }
    }
    if let Some(host) = &g.host {
        let mut layout = String::new();
        host_type(&mut layout, &host.layout, 0);
        put!(p, "  host {} {layout}\n", HostAccess::WORDS[host.access as usize].1);
    }
    put!(p, "}}\n");
}

fn export(p: &mut Printer<'_>, e: &Export) {
    let function = p.function_ref(e.function.0);
    put!(p, ".export {} {function}{} {{\n", quote(&e.name), signature(&e.params, e.result.as_ref()));
    if !e.doc.is_empty() {
        put!(p, "  doc {}\n", quote(&e.doc));
    }
    if !e.declaration.is_empty() {
        put!(p, "  declaration {}\n", quote(&e.declaration));
    }
    put!(p, "}}\n");
}

fn signature(params: &[ExportParam], result: Option<&HostValue>) -> String {
    let params: Vec<String> = params.iter().map(param).collect();
    let result = result.map_or(String::new(), |result| format!(" -> {}", host_value(result)));
    format!("({}){result}", params.join(", "))
}

fn param(param: &ExportParam) -> String {
    let mut text = format!("{}: {}", name(&param.name), host_value(&param.value));
    if let Some(bits) = param.default {
        let _ = match param.value {
            HostValue::Uniform(ty) | HostValue::Varying(ty) => write!(text, " = {}", constant_text(ty, bits)),
            HostValue::Array { .. } => write!(text, " = {bits:#x}"),
        };
    }
    text
}

fn host_value(value: &HostValue) -> String {
    match value {
        HostValue::Uniform(ty) => format!("uniform {ty}"),
        HostValue::Varying(ty) => format!("varying {ty}"),
        HostValue::Array { elem, writable, reference } => {
            let mut text = String::from(if *reference { "reference " } else { "array " });
            text.push_str(if *writable { "writable " } else { "" });
            host_type(&mut text, elem, 0);
            text
        }
    }
}

fn host_type(out: &mut String, ty: &HostType, depth: usize) {
    if depth > MAX_TYPE_DEPTH {
        return out.push_str("...");
    }
    match ty {
        HostType::Scalar(ty) => out.push_str(ty.name()),
        HostType::Enum(name) => {
            let _ = write!(out, "enum {}", quote(name));
        }
        HostType::Array(elem, n) => {
            out.push('[');
            host_type(out, elem, depth + 1);
            let _ = write!(out, " * {n}]");
        }
        HostType::Struct { name, size, fields } => {
            let _ = write!(out, "struct {} {size} {{", quote(name));
            for (i, (field, at, ty)) in fields.iter().enumerate() {
                let comma = if i > 0 { "," } else { "" };
                let _ = write!(out, "{comma} {} {at} ", quote(field));
                host_type(out, ty, depth + 1);
            }
            out.push_str(" }");
        }
        HostType::Pointer => out.push_str("pointer"),
        HostType::Byte => out.push_str("byte"),
    }
}
