//! `--global NAME=VALUE`, and what programs leave in their globals.

use crate::Failure;
use crate::data::{Content, parse_argument, scalar_of};
use spmdvm::{ArgumentError, ExportParam, Global, GlobalMemory, HostAccess, HostType, HostValue, Module, Ty, Value};
use std::sync::Arc;

/// Elements of a global: name, type, shape, bytes.
pub type Elements = (String, Ty, Vec<u64>, Vec<u8>);

/// The globals that the command line sets. Values of files are kept here while the program runs.
pub struct Globals {
    set: Vec<(String, Arc<Content>)>,
}

impl Globals {
    /// Sets and supplies the globals of a module.
    pub fn set(module: &Module, words: &[String]) -> Result<Globals, Failure> {
        let mut globals = Globals { set: Vec::new() };
        for word in words {
            let (name, text) = word
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--global takes NAME=VALUE, not `{word}`")))?;
            if globals.set.iter().any(|(known, _)| known == name) {
                return Err(Failure::usage(format!("--global: `{name}` is given twice")));
            }
            let content = set(&module.global(name).map_err(usage)?, text, module.lanes())?;
            globals.set.push((name.to_owned(), content));
        }
        Ok(globals)
    }

    /// Fails if a mapped file was cut off.
    pub fn check(&self) -> Result<(), Failure> {
        self.set.iter().try_for_each(|(_, content)| content.check())
    }

    /// What is in the variables that were set, in order.
    pub fn elements(&self, module: &Module) -> Vec<Elements> {
        let read = |(name, _): &(String, Arc<Content>)| elements(&module.global(name).ok()?).ok();
        self.set.iter().filter_map(read).collect()
    }
}

fn set(global: &Global<'_>, text: &str, lanes: usize) -> Result<Arc<Content>, Failure> {
    if global.access() == HostAccess::Read {
        return Err(usage(global.read_only()));
    }
    let value = match global.layout() {
        HostType::Scalar(ty) => HostValue::Uniform(*ty),
        HostType::Enum(_) => HostValue::Uniform(Ty::U32),
        HostType::Array(elem, _) => HostValue::Array { elem: (**elem).clone(), writable: true, reference: false },
        other => HostValue::Array { elem: other.clone(), writable: true, reference: true },
    };
    let param = ExportParam { name: global.name().to_owned(), value, default: None };
    let named = |error: Failure| Failure::Usage(format!("--global: {}", error.message()));
    let mut content = parse_argument(&param, text, lanes).map_err(named)?;
    let (ty, start, bytes) = match content.value() {
        Value::Array(array) => (array.ty(), array.start(), array.bytes()),
        Value::Scalar { ty, bits } => {
            global.check_element(ty).map_err(usage)?;
            global.write_bytes(&bits.to_le_bytes()[..ty.size()]).map_err(usage)?;
            return Ok(Arc::new(content));
        }
        Value::Lanes { .. } | Value::Record(_) | Value::Pointer(_) => {
            return Err(Failure::usage(format!("--global: `{}` takes other values", param.name)));
        }
    };
    ty.map_or(Ok(()), |ty| global.check_element(ty)).map_err(usage)?;
    let content = Arc::new(content);
    match global.access() {
        HostAccess::Supply => {
            // SAFETY: the content, which is the owner, keeps this memory where it is; it is private to this process,
            // and is read again only when the program has ended.
            unsafe { global.supply_memory(GlobalMemory::from_raw(start, bytes, content.clone())) }.map_err(usage)?;
        }
        _ => global.write_bytes(content.array().map_or(&[], |(_, _, bytes)| bytes)).map_err(usage)?,
    }
    Ok(content)
}

/// What is in a global.
fn elements(global: &Global<'_>) -> Result<Elements, Failure> {
    let name = global.name();
    let ty = scalar_of(global.layout())
        .ok_or_else(|| Failure::usage(format!("`{name}` holds structs, which no .npy file is written of")))?;
    let bytes = global.read_bytes().map_err(usage)?;
    Ok((name.to_owned(), ty, shape(global.layout(), bytes.len() as u64), bytes))
}

/// The lengths of arrays in arrays, outermost first; the numbers in a struct are one more dimension.
fn shape(layout: &HostType, bytes: u64) -> Vec<u64> {
    match layout {
        HostType::Array(elem, n) => {
            let n = if *n == 0 { bytes / elem.size().max(1) } else { *n };
            let mut shape = vec![n];
            shape.extend(self::shape(elem, elem.size()));
            shape
        }
        HostType::Struct { size, .. } => vec![size / scalar_of(layout).map_or(1, |ty| ty.size() as u64)],
        _ => Vec::new(),
    }
}

/// What is in the global of this name.
pub fn elements_of(module: &Module, name: &str) -> Result<Elements, Failure> {
    elements(&module.global(name).map_err(usage)?)
}

fn usage(error: ArgumentError) -> Failure {
    Failure::usage(format!("--global: {error}"))
}
