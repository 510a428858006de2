//! Checks of what surrounds the functions: names, globals, formats, exports.

use super::limits::*;
use super::operands::{describe, is_canonical};
use super::{Errors, Rule, check_unique};
use crate::program::*;
use crate::types::{Shape, Ty};

/// Conversions that a print argument may ask for.
const CONVERSIONS: &str = "diuxXobcfFeEgGaAsp";

pub(super) fn check(program: &Program, errors: &mut Errors) {
    check_unique("function", program.functions.iter().map(|f| f.name.as_str()), errors);
    check_unique("global", program.globals.iter().map(|g| g.name.as_str()), errors);
    let own = program.globals.iter().filter(|g| !g.is_extern());
    let total = own.fold(0u64, |sum, g| sum.saturating_add(g.size));
    if total > MAX_GLOBAL_BYTES {
        errors.whole(Rule::Limit, format!("the globals have {total} bytes, more than {MAX_GLOBAL_BYTES}"));
    }
    for global in &program.globals {
        check_global(program, global, errors);
    }
    for (i, format) in program.formats.iter().enumerate() {
        for piece in format {
            if let Piece::Arg(arg) = piece {
                check_format(i, arg, errors);
            }
        }
    }
    for export in &program.exports {
        check_export(program, export, errors);
    }
    program.symbols.iter().for_each(|symbol| check_symbol(program, symbol, errors));
    program.imports.iter().for_each(|import| check_import(program, import, errors));
}

fn check_global(program: &Program, global: &Global, errors: &mut Errors) {
    let name = &global.name;
    if global.init.len() as u64 > global.size {
        let (n, size) = (global.init.len(), global.size);
        errors.whole(Rule::GlobalImage, format!("global `{name}` of {size} bytes has {n} initial bytes"));
    }
    for &(at, target) in &global.relocations {
        if at.checked_add(8).is_none_or(|end| end > global.size) {
            errors.whole(Rule::GlobalImage, format!("global `{name}`: the relocation at byte {at} does not fit"));
        }
        let (item, offset) = match target {
            Target::Global(target, offset) => (Item::Global(target), offset),
            Target::Function(target) => (Item::Function(target), 0),
        };
        if let Some(what) = missing(program, item) {
            errors.whole(Rule::GlobalImage, format!("global `{name}`: a relocation names {what}"));
        }
        if !(-MAX_DISPLACEMENT..=MAX_DISPLACEMENT).contains(&offset) {
            errors.whole(Rule::GlobalImage, format!("global `{name}`: a relocation has the offset {offset}"));
        }
    }
    if let Some(host) = &global.host {
        check_host_global(global, host, errors);
    }
}

/// What an item is called that the program does not have.
fn missing(program: &Program, item: Item) -> Option<String> {
    match item {
        Item::Global(id) => (id.0 as usize >= program.globals.len()).then(|| format!("global {}", id.0)),
        Item::Function(id) => (id.0 as usize >= program.functions.len()).then(|| format!("function {}", id.0)),
    }
}

fn check_symbol(program: &Program, symbol: &Symbol, errors: &mut Errors) {
    let name = &symbol.name;
    if let Some(what) = missing(program, symbol.item) {
        errors.whole(Rule::SymbolItem, format!("symbol `{name}` names {what}"));
    }
}

/// A host that provides a function relies on what is said of its registers.
fn check_import(program: &Program, import: &Import, errors: &mut Errors) {
    check_symbol(program, &import.symbol, errors);
    let Some(host) = &import.host else { return };
    let Item::Function(id) = import.symbol.item else {
        errors.whole(Rule::SymbolItem, format!("import `{}` is a variable with parameters", import.symbol.name));
        return;
    };
    let Some(f) = program.functions.get(id.0 as usize) else { return };
    check_signature(&format!("import `{}`", import.symbol.name), &host.params, host.result.as_ref(), f, errors);
}

fn check_host_global(global: &Global, host: &HostGlobal, errors: &mut Errors) {
    let name = &global.name;
    if checked_size(&host.layout, 0) != Some(global.size) {
        errors.whole(Rule::GlobalHost, format!("global `{name}` does not have the size of what hosts see"));
    }
    if host.access == HostAccess::Write && global.constant {
        errors.whole(Rule::GlobalHost, format!("global `{name}` is constant, but hosts may write it"));
    }
    if host.access == HostAccess::Supply && !(global.init.is_empty() && global.relocations.is_empty()) {
        errors.whole(Rule::GlobalHost, format!("global `{name}` is supplied by the host, but has an image"));
    }
}

fn check_format(index: usize, arg: &ArgFormat, errors: &mut Errors) {
    if let Some(c) = arg.conversion.filter(|&c| !CONVERSIONS.contains(c)) {
        errors.whole(Rule::FormatPiece, format!("format {index} has the conversion {c:?}"));
    }
    for n in [arg.width, arg.precision].into_iter().flatten().filter(|&n| n > MAX_PRINT_WIDTH) {
        errors.whole(Rule::FormatPiece, format!("format {index} has a width or precision of {n}"));
    }
}

fn check_export(program: &Program, export: &Export, errors: &mut Errors) {
    let name = &export.name;
    let Some(f) = program.functions.get(export.function.0 as usize) else {
        errors.whole(Rule::ExportShape, format!("export `{name}` names function {}", export.function.0));
        return;
    };
    check_signature(&format!("export `{name}`"), &export.params, export.result.as_ref(), f, errors);
}

/// Checks what hosts are told of a function's parameters and result.
fn check_signature(what: &str, params: &[ExportParam], result: Option<&HostValue>, f: &Function, errors: &mut Errors) {
    let n = params.len() + usize::from(result.is_some_and(HostValue::is_reference));
    if n != f.n_params as usize {
        let m = f.n_params;
        errors.whole(Rule::ExportShape, format!("{what} describes {n} parameters of {m}"));
    }
    for (i, (param, decl)) in params.iter().zip(f.regs.iter()).enumerate() {
        check_value(&format!("{what}, parameter {i}"), &param.value, decl, errors);
        check_default(&format!("{what}, parameter {i}"), param, errors);
    }
    check_result(what, params.len(), result, f, errors);
}

/// Largest result in memory, which whoever calls allocates.
const MAX_RESULT_BYTES: u64 = 1 << 24;

fn check_result(what: &str, n_params: usize, result: Option<&HostValue>, f: &Function, errors: &mut Errors) {
    let place = format!("{what}, result");
    match (result, f.results.as_slice()) {
        (None, []) => {}
        (Some(value @ HostValue::Array { elem, reference: true, .. }), []) => {
            if checked_size(elem, 0).is_some_and(|bytes| bytes > MAX_RESULT_BYTES) {
                errors.whole(Rule::ExportShape, format!("{place}: it has more than {MAX_RESULT_BYTES} bytes"));
            }
            if let Some(decl) = f.regs.get(n_params) {
                check_value(&place, value, decl, errors);
            }
        }
        (Some(value), [r]) if !value.is_reference() => {
            if let Some(decl) = f.regs.get(r.index()) {
                check_value(&place, value, decl, errors);
            }
        }
        (_, results) => {
            let n = results.len();
            errors.whole(Rule::ExportShape, format!("{place}: the function has {n}, the description another number"));
        }
    }
}

fn check_value(place: &str, value: &HostValue, decl: &RegDecl, errors: &mut Errors) {
    let wanted = match value {
        HostValue::Uniform(ty) => (Shape::Uniform, *ty),
        HostValue::Varying(ty) => (Shape::Varying, *ty),
        HostValue::Array { elem, .. } => {
            if checked_size(elem, 0).is_none() {
                errors.whole(Rule::ExportShape, format!("{place}: the element's type is too large or ill-formed"));
            }
            (Shape::Uniform, Ty::U64)
        }
    };
    if wanted != (decl.shape, decl.ty) {
        let (given, wanted) = (describe(decl.shape, decl.ty), describe(wanted.0, wanted.1));
        errors.whole(Rule::ExportShape, format!("{place}: described as {wanted}, but the register is {given}"));
    }
}

fn check_default(place: &str, param: &ExportParam, errors: &mut Errors) {
    let (HostValue::Uniform(ty) | HostValue::Varying(ty)) = param.value else { return };
    if let Some(bits) = param.default.filter(|&bits| !is_canonical(ty, bits)) {
        errors.whole(Rule::ExportShape, format!("{place}: the default {bits:#x} is no {ty}"));
    }
}

/// The size of a type whose fields lie within it, if it can be told without overflow.
fn checked_size(ty: &HostType, depth: usize) -> Option<u64> {
    if depth > MAX_TYPE_DEPTH {
        return None;
    }
    match ty {
        HostType::Array(elem, n) => checked_size(elem, depth + 1)?.checked_mul(*n).filter(|&s| s <= i64::MAX as u64),
        HostType::Struct { size, fields, .. } => {
            for (_, at, field) in fields {
                let end = at.checked_add(checked_size(field, depth + 1)?)?;
                if end > *size {
                    return None;
                }
            }
            Some(*size).filter(|&s| s <= i64::MAX as u64)
        }
        scalar => Some(scalar.size()),
    }
}
