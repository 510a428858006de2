//! What becomes of the parts of an input once it has worked.

use super::units::{Unit, UnitKind, Units};
use super::variables::{Variable, Variables};
use spmdvm::{Part, PartKind, PromptInfo};

/// The unit that a part of an input becomes; `None` for what is run.
pub fn unit_of(part: &Part, text: &str) -> Option<Unit> {
    let (kind, names, parameters) = match &part.kind {
        PartKind::Function(name, parameters) => (UnitKind::Function, vec![name.clone()], parameters.clone()),
        PartKind::Template(name) => {
            (UnitKind::Function, vec![name.clone()], format!("template {}", &text[part.range.clone()]))
        }
        PartKind::Types(names) => (UnitKind::Type, names.clone(), String::new()),
        _ => return None,
    };
    let mut source = blank(text, &part.range);
    if kind == UnitKind::Type && !source.ends_with(';') {
        source.push(';');
    }
    Some(Unit::new(kind, names, parameters, source))
}

/// Keeps the variables of a declaration; constants as what was typed.
pub fn declare(
    names: &[String],
    part: &Part,
    text: &str,
    info: &PromptInfo,
    units: &mut Units,
    variables: &mut Variables,
    origin: &str,
) {
    let declared: Vec<_> = info.variables.iter().filter(|variable| names.contains(&variable.name)).collect();
    if declared.iter().all(|variable| variable.is_constant) {
        let mut source = blank(text, &part.range);
        if !source.ends_with(';') {
            source.push(';');
        }
        return units.add(Unit::new(UnitKind::Type, names.to_vec(), String::new(), source), origin);
    }
    for name in names {
        let Some(variable) = declared.iter().find(|variable| variable.name == *name) else { continue };
        let declaration = variable.declaration.clone().unwrap_or_default();
        let declaration = declaration.strip_prefix("const ").unwrap_or(&declaration);
        let prefix = if variable.is_extern { "extern " } else { "" };
        variables
            .insert(name, Variable::new(format!("{prefix}{declaration}"), variable.ty.clone(), variable.is_extern));
    }
}

/// A part of a text, with blanks for what is before it: so it keeps its line and column.
pub fn blank(text: &str, range: &std::ops::Range<usize>) -> String {
    let before = text[..range.start].chars().map(|c| if c == '\n' { '\n' } else { ' ' });
    before.chain(text[range.clone()].chars()).collect()
}

/// The macro that a directive is about.
pub fn directive_names(line: &str) -> Vec<String> {
    let rest = line.trim_start().trim_start_matches('#').trim_start();
    let rest = rest.strip_prefix("define").or_else(|| rest.strip_prefix("undef"));
    let name = rest.map(|rest| rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    name.and_then(|mut words| words.next()).map(str::to_owned).into_iter().collect()
}
