//! Sources compiled apart, to be linked. What was compiled is kept, for the life of the process: a source is compiled again only if
//! its text, the options or what it includes have changed.

use spmdvm_frontend::compile::{self, CompileOptions, Include, Input};
use spmdvm_frontend::diag::{Code, Diagnostic, LeftOut};
use spmdvm_frontend::limits::Limits;
use spmdvm_frontend::lower::FpMode;
use spmdvm_frontend::source::SourceMap;
use spmdvm_vm::link::Object;
use spmdvm_vm::stop::Stopped;
use spmdvm_vm::types::Width;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes of sources and number of objects that are kept; beyond, those that were not asked for longest go.
const MAX_KEPT_BYTES: usize = 64 << 20;
const MAX_KEPT: usize = 2048;

/// A source compiled.
pub(crate) struct Compiled {
    /// What it gave; `None` if there was an error.
    pub object: Option<Arc<Object>>,
    pub diagnostics: Vec<Diagnostic>,
    pub left_out: LeftOut,
    pub stopped: Option<Stopped>,
    pub sources: SourceMap,
    includes: Vec<Include>,
}

/// What an object depends on besides what it includes.
#[derive(PartialEq)]
struct Key {
    name: String,
    path: Option<PathBuf>,
    text: String,
    width: Width,
    fp: FpMode,
    include_paths: Vec<PathBuf>,
    sandbox_includes: Option<bool>,
    defines: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    hints: bool,
    no_warn: Vec<Code>,
    limits: Limits,
    check: bool,
    keep_variables: bool,
}

/// An object that is kept.
struct Entry {
    digest: u64,
    key: Key,
    compiled: Arc<Compiled>,
    /// When it was asked for last.
    asked: u64,
}

#[derive(Default)]
struct Store {
    entries: Vec<Entry>,
    bytes: usize,
    /// How often something was asked for.
    clock: u64,
}

fn store() -> &'static Mutex<Store> {
    static STORE: OnceLock<Mutex<Store>> = OnceLock::new();
    STORE.get_or_init(Mutex::default)
}

/// Compiles every source, on as many threads as there are cores, in the order given.
pub(crate) fn compile_all(inputs: &[Input<'_>], options: &CompileOptions) -> Vec<Arc<Compiled>> {
    let results: Vec<OnceLock<Arc<Compiled>>> = inputs.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < inputs.len()) {
            let _ = results[i].set(compile_one(inputs[i], options));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..cores.min(inputs.len()) {
            // Where no thread can be made this one does it all.
            let _ = std::thread::Builder::new().name("spmdvm compiler".into()).spawn_scoped(scope, work);
        }
        work();
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

fn compile_one(input: Input<'_>, options: &CompileOptions) -> Arc<Compiled> {
    let read;
    let input = match input {
        Input::File(path) => match std::fs::read(path) {
            Ok(bytes) => {
                read = String::from_utf8_lossy(&bytes).into_owned();
                Input::Read { path, text: &read }
            }
            // The compilation says why not.
            Err(_) => return Arc::new(compile_now(input, options)),
        },
        other => other,
    };
    let key = Key::of(input, options);
    let digest = key.digest();
    let kept = store().lock().unwrap_or_else(PoisonError::into_inner).find(digest, &key);
    if let Some(kept) = kept.filter(|kept| compile::includes_are_current(input, options, &kept.includes)) {
        return kept;
    }
    let compiled = Arc::new(compile_now(input, options));
    if compiled.object.is_some() {
        store().lock().unwrap_or_else(PoisonError::into_inner).keep(digest, key, Arc::clone(&compiled));
    }
    compiled
}

fn compile_now(input: Input<'_>, options: &CompileOptions) -> Compiled {
    let compilation = compile::compile(input, options);
    Compiled {
        object: compilation.program.map(|program| Arc::new(Object::new(program))),
        diagnostics: compilation.diagnostics,
        left_out: compilation.left_out,
        stopped: compilation.stopped,
        sources: compilation.sources,
        includes: compilation.includes,
    }
}

impl Key {
    fn of(input: Input<'_>, options: &CompileOptions) -> Key {
        let (name, path, text) = match input {
            Input::Text { name, text } => (name.to_owned(), None, text.to_owned()),
            Input::Read { path, text } => (path.display().to_string(), Some(path.to_owned()), text.to_owned()),
            Input::File(path) => (path.display().to_string(), Some(path.to_owned()), String::new()),
        };
        // All of them, so that none is forgotten. How long a compilation may take is none of what it gives.
        let CompileOptions {
            width,
            fp,
            include_paths,
            sandbox_includes,
            defines,
            headers,
            hints,
            no_warn,
            instances: _,
            limits,
            object: _,
            check,
            keep_variables,
            interrupt: _,
            deadline: _,
            prompt: _,
        } = options.clone();
        Key {
            name,
            path,
            text,
            width,
            fp,
            include_paths,
            sandbox_includes,
            defines,
            headers,
            hints,
            no_warn,
            limits,
            check,
            keep_variables,
        }
    }

    /// To find it among others soon. Those that are found are compared.
    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.name, self.text.len(), self.width, &self.defines).hash(&mut hasher);
        hasher.finish()
    }
}

impl Store {
    fn find(&mut self, digest: u64, key: &Key) -> Option<Arc<Compiled>> {
        self.clock += 1;
        let found = self.entries.iter_mut().find(|entry| entry.digest == digest && entry.key == *key)?;
        found.asked = self.clock;
        Some(Arc::clone(&found.compiled))
    }

    /// Keeps an object in place of the one that it follows, if there is one.
    fn keep(&mut self, digest: u64, key: Key, compiled: Arc<Compiled>) {
        if let Some(i) = self.entries.iter().position(|entry| entry.digest == digest && entry.key == key) {
            self.bytes -= self.entries.swap_remove(i).key.text.len();
        }
        self.bytes += key.text.len();
        self.entries.push(Entry { digest, key, compiled, asked: self.clock });
        while self.bytes > MAX_KEPT_BYTES || self.entries.len() > MAX_KEPT {
            let oldest = self.entries.iter().enumerate().min_by_key(|(_, entry)| entry.asked).map(|(i, _)| i);
            let Some(oldest) = oldest else { return };
            self.bytes -= self.entries.swap_remove(oldest).key.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(text: &str, options: &CompileOptions) -> Arc<Compiled> {
        compile_all(&[Input::Text { name: "objects-test.ispc", text }], options).remove(0)
    }

    #[test]
    fn what_has_not_changed_is_not_compiled_again() {
        let text = "#include \"k.isph\"\nuniform float k() { return K; }";
        let header = |text: &str| vec![("k.isph".to_owned(), text.to_owned())];
        let options = CompileOptions { object: true, headers: header("#define K 1.5f"), ..CompileOptions::default() };
        let first = compiled(text, &options);
        assert!(first.object.is_some(), "{:?}", first.diagnostics);
        assert!(Arc::ptr_eq(&first, &compiled(text, &options)));
        assert!(!Arc::ptr_eq(&first, &compiled(&format!("{text}\n"), &options)));
        let narrow = CompileOptions { width: Width::new(4).unwrap(), ..options.clone() };
        assert!(!Arc::ptr_eq(&first, &compiled(text, &narrow)));
        assert!(Arc::ptr_eq(&first, &compiled(text, &options)));
    }

    #[test]
    fn a_header_that_changes_has_its_sources_compiled_again() {
        let folder = std::env::temp_dir().join(format!("spmdvm-objects-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (main, header) = (folder.join("main.ispc"), folder.join("k.isph"));
        std::fs::write(&main, "#include \"k.isph\"\nuniform float k() { return K; }").unwrap();
        std::fs::write(&header, "#define K 1.5f\n").unwrap();
        let options = CompileOptions { object: true, ..CompileOptions::default() };
        let compile = || compile_all(&[Input::File(&main)], &options).remove(0);
        let first = compile();
        assert!(first.object.is_some() && Arc::ptr_eq(&first, &compile()));
        std::fs::write(&header, "#define K 2.5f\n").unwrap();
        let second = compile();
        assert!(second.object.is_some() && !Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &compile()));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
