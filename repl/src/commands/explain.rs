//! `spmdvm explain CODE`: the tables of diagnostics, traps and findings of check mode, for people.

use crate::Failure;
use spmdvm::tools::{KINDS, TRAPS, closest};
use spmdvm::{Code, FindingKind, TrapKind};

/// Explains one code, or lists all.
pub fn explain(code: Option<&str>) -> Result<(), Failure> {
    let Some(text) = code else {
        Code::ALL.iter().for_each(|c| println!("{}  {}", c.id(), c.name()));
        TRAPS.iter().for_each(|t| println!("{:<18} {}", t.name, t.message));
        KINDS.iter().for_each(|k| println!("{:<18} {}", k.name, k.message));
        return Ok(());
    };
    match explanation(text) {
        Some(explanation) => {
            print!("{explanation}");
            Ok(())
        }
        None => {
            let names = Code::ALL.iter().flat_map(|c| [c.id(), c.name()]);
            let names = names.chain(TRAPS.iter().map(|t| t.name)).chain(KINDS.iter().map(|k| k.name));
            let hint = closest(text, names)
                .map_or("`spmdvm explain` lists all".into(), |name| format!("did you mean `{name}`?"));
            Err(Failure::usage(format!("`{text}` is neither a diagnostic nor a trap nor a finding; {hint}")))
        }
    }
}

/// What a code or name means.
pub fn explanation(text: &str) -> Option<String> {
    let said = |name: &str, message: &str, explanation: &str| format!("{name}: {message}\n\n{explanation}\n");
    if let Some(code) = Code::ALL.iter().find(|c| c.id().eq_ignore_ascii_case(text)) {
        return Some(said(code.id(), code.name(), code.explanation()));
    }
    if let Some(kind) = TrapKind::from_name(text) {
        return Some(said(kind.name(), kind.info().message, kind.info().explanation));
    }
    FindingKind::from_name(text).map(|kind| said(kind.name(), kind.info().message, kind.info().explanation))
}
