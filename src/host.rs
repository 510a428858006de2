//! Functions that the host provides to programs.
//!
//! What a program declares `extern "C"` is looked up in the [`Hosts`] of the options when its module is made. A function that is called
//! may call the module again, on the same thread: such a call runs on a machine of its own ([`nested`]) over the same memory.

use crate::error::CompileError;
use crate::module::Module;
use crate::options::Options;
use crate::value::{Element, Value};
use spmdvm_frontend::diag::{Code, Diagnostic, closest};
use spmdvm_frontend::source::SourceMap;
use spmdvm_vm::interp::{self, HostCallee, HostResult, HostTable, Machine};
use spmdvm_vm::link::bind;
use spmdvm_vm::program::{HostFunction, HostValue, Import};
pub use spmdvm_vm::trap::HostError;
use spmdvm_vm::trap::Trap;
use spmdvm_vm::{Pointee, Program, VerifiedProgram};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function of the host, in Rust.
pub type HostClosure = dyn Fn(&HostCall<'_>) -> Result<Option<Value<'static>>, HostError> + Send + Sync;

/// The functions that a host provides, by name, and where further ones are looked for.
#[derive(Clone, Default)]
pub struct Hosts {
    functions: BTreeMap<String, Provided>,
    libraries: Vec<Arc<crate::foreign::Library>>,
    /// What functions given by their addresses need to stay.
    kept: Vec<Arc<dyn Any + Send + Sync>>,
}

#[derive(Clone)]
enum Provided {
    Closure(Arc<HostClosure>),
    /// The same, called for each lane.
    PerLane(Arc<HostClosure>),
    Address(usize),
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let libraries = self.libraries.iter().map(|library| library.name());
        f.debug_list().entries(self.functions.keys()).entries(libraries).finish()
    }
}

impl Options {
    /// Provides a function: what the program declares `extern "C"` by this name is a call of the closure. It is called once
    /// for the gang, by whatever thread executes (of tasks several at once). Of varying parameters it gets the values of the
    /// active lanes ([`HostCall::lanes`]); a varying result is a scalar, for all of these, or [`Value::Lanes`] with a word for
    /// each of them. What it fails with stops the program, as a trap `host_error` with that error.
    ///
    /// ```
    /// use spmdvm::{Module, Options, Value};
    /// let source = "extern \"C\" uniform float price(uniform int item);
    ///               export uniform float total(uniform int n) {
    ///                   uniform float sum = 0;
    ///                   for (uniform int i = 0; i < n; ++i) sum += price(i);
    ///                   return sum;
    ///               }";
    /// let options = Options::default().with_host("price", |call| Ok(Some((2.5 * call.get::<i32>(0)? as f32).into())));
    /// let module = Module::compile("total.ispc", source, &options).unwrap();
    /// let total = module.call("total", &[4i32.into()]).unwrap();
    /// assert!(matches!(total, Some(Value::Scalar { bits, .. }) if f32::from_bits(bits as u32) == 15.0));
    /// ```
    #[must_use]
    pub fn with_host(
        mut self,
        name: impl Into<String>,
        function: impl Fn(&HostCall<'_>) -> Result<Option<Value<'static>>, HostError> + Send + Sync + 'static,
    ) -> Options {
        self.hosts.functions.insert(name.into(), Provided::Closure(Arc::new(function)));
        self
    }

    /// Provides a function that is called once for each active lane, the lowest first, with that lane's values of varying
    /// parameters, and gives a scalar. Where nothing is declared varying it is called once for the gang.
    ///
    /// ```
    /// use spmdvm::{Module, Options, Value};
    /// let source = "extern \"C\" int gcd(int a, int b);
    ///               export uniform int f() { return reduce_add(programIndex < 3 ? gcd(programIndex * 4, 6) : 0); }";
    /// fn gcd(a: i32, b: i32) -> i32 {
    ///     if b == 0 { a } else { gcd(b, a % b) }
    /// }
    /// let options = Options::default().with_host_per_lane("gcd", |call| Ok(Some(gcd(call.get(0)?, call.get(1)?).into())));
    /// let module = Module::compile("gcd.ispc", source, &options).unwrap();
    /// let sum = module.call("f", &[]).unwrap();
    /// assert!(matches!(sum, Some(Value::Scalar { bits, .. }) if bits == 6 + 2 + 2));
    /// ```
    #[must_use]
    pub fn with_host_per_lane(
        mut self,
        name: impl Into<String>,
        function: impl Fn(&HostCall<'_>) -> Result<Option<Value<'static>>, HostError> + Send + Sync + 'static,
    ) -> Options {
        self.hosts.functions.insert(name.into(), Provided::PerLane(Arc::new(function)));
        self
    }

    /// Provides a function by its address, of the C calling convention. Pointers that it is given are addresses of the host. If
    /// anything is declared varying it is called once for each active lane, as in [`with_host_per_lane`](Self::with_host_per_lane).
    ///
    /// # Safety
    /// This ends memory safety. There is such a function at the address for as long as the module is; it has the signature that
    /// the program declares, whatever the program is; and it stays within the memory that it is given.
    #[must_use]
    pub unsafe fn with_host_address(mut self, name: impl Into<String>, address: usize) -> Options {
        self.hosts.functions.insert(name.into(), Provided::Address(address));
        self
    }

    /// Keeps something for as long as the options, and modules made with them: what owns a function given by its address.
    #[must_use]
    pub fn keeping(mut self, owner: Arc<dyn Any + Send + Sync>) -> Options {
        self.hosts.kept.push(owner);
        self
    }

    /// Provides all functions of a shared library, such as `libm.so.6`, in C. Functions provided by name come first.
    ///
    /// # Errors
    /// If the library cannot be loaded, or the machine is one for which there is no way to call it.
    ///
    /// # Safety
    /// As for [`with_host_address`](Self::with_host_address), for every function of the library that the program declares.
    pub unsafe fn with_host_library(mut self, path: &str) -> Result<Options, String> {
        // SAFETY: the caller's promise.
        self.hosts.libraries.push(Arc::new(unsafe { crate::foreign::Library::load(path) }?));
        Ok(self)
    }
}

/// A call of a function of the host by a program.
pub struct HostCall<'c> {
    inner: &'c interp::HostCall<'c>,
    signature: &'c HostFunction,
    /// The lane for which it is called, if it is called for each.
    lane: Option<u32>,
}

impl HostCall<'_> {
    /// The name that the program calls.
    pub fn name(&self) -> &str {
        &self.inner.import().symbol.name
    }

    /// What the program has declared.
    pub fn signature(&self) -> &HostFunction {
        self.signature
    }

    /// The lanes that are active where it is called; bit *i* is lane *i*.
    pub fn mask(&self) -> u64 {
        self.inner.mask()
    }

    /// The lane for which the function is called, if it is called for each.
    pub fn lane(&self) -> Option<u32> {
        self.lane
    }

    /// An argument as bits; of a pointer, what the program holds. Of a varying one, that of [`lane`](Self::lane), or of the first
    /// active lane. 0 if there is none.
    pub fn word(&self, i: usize) -> u64 {
        self.inner.arg(i, self.lane.unwrap_or_else(|| self.mask().trailing_zeros()))
    }

    /// A varying argument as bits, in the active lanes, the lowest first.
    pub fn words(&self, i: usize) -> Vec<u64> {
        self.active_lanes().map(|lane| self.inner.arg(i, lane)).collect()
    }

    fn active_lanes(&self) -> impl Iterator<Item = u32> + use<> {
        let mask = self.mask();
        (0..u64::BITS).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// A scalar argument: a uniform one, or a varying one if the function is called for each lane.
    ///
    /// # Errors
    /// If it is declared with another type, or has a value for each lane.
    pub fn get<T: Element>(&self, i: usize) -> Result<T, HostError> {
        match self.signature.params.get(i).map(|param| &param.value) {
            Some(HostValue::Varying(ty)) if *ty == T::TY && self.lane.is_none() => {
                Err(HostError::new(format!("argument {i} of `{}` is varying: `lanes` has its values", self.name())))
            }
            Some(HostValue::Uniform(ty) | HostValue::Varying(ty)) if *ty == T::TY => Ok(T::from_word(self.word(i))),
            _ => Err(self.other_type(i, T::TY)),
        }
    }

    /// The values of a varying argument in the active lanes ([`mask`](Self::mask)), the lowest first.
    ///
    /// # Errors
    /// If it is not declared varying, or with another type.
    pub fn lanes<T: Element>(&self, i: usize) -> Result<Vec<T>, HostError> {
        match self.signature.params.get(i).map(|param| &param.value) {
            Some(HostValue::Varying(ty)) if *ty == T::TY => Ok(self.words(i).into_iter().map(T::from_word).collect()),
            Some(HostValue::Uniform(_) | HostValue::Array { .. }) => {
                Err(HostError::new(format!("argument {i} of `{}` is not varying", self.name())))
            }
            _ => Err(self.other_type(i, T::TY)),
        }
    }

    fn other_type(&self, i: usize, ty: spmdvm_vm::Ty) -> HostError {
        HostError::new(format!("argument {i} of `{}` is not declared as {ty}", self.name()))
    }

    /// Copies elements from where an argument points.
    ///
    /// # Errors
    /// If they do not lie in one live array, variable or allocation.
    pub fn read<T: Element>(&self, i: usize, n: usize) -> Result<Vec<T>, HostError> {
        let size = T::TY.size();
        let mut bytes = vec![0; n * size];
        if !self.inner.memory().read_bytes(self.word(i), &mut bytes) {
            return Err(self.no_access(i, n, "read"));
        }
        let word = |element: &[u8]| element.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Ok(bytes.chunks_exact(size).map(|element| T::from_word(word(element))).collect())
    }

    /// Copies elements to where an argument points.
    ///
    /// # Errors
    /// If they do not fit one live array, variable or allocation that may be written.
    pub fn write<T: Element>(&self, i: usize, elements: &[T]) -> Result<(), HostError> {
        let bytes: Vec<u8> = elements.iter().flat_map(|e| e.word().to_le_bytes()[..T::TY.size()].to_vec()).collect();
        match self.inner.memory().write_bytes(self.word(i), &bytes) {
            true => Ok(()),
            false => Err(self.no_access(i, elements.len(), "written")),
        }
    }

    fn no_access(&self, i: usize, n: usize, done: &str) -> HostError {
        let message = format!("`{}`: argument {i} does not point to {n} elements that can be {done}", self.name());
        HostError::new(message)
    }

    /// What an argument points to. The address may be used while the call lasts, by raw reads and writes, as long as the program
    /// does not free the memory.
    pub fn pointee(&self, i: usize) -> Option<Pointee> {
        self.inner.memory().pointee(self.word(i))
    }

    /// Copies bytes from where an argument points on. `false` (and nothing is copied) if there are not so many.
    pub fn copy_out(&self, i: usize, into: &mut [u8]) -> bool {
        self.inner.memory().read_bytes(self.word(i), into)
    }

    /// Copies bytes to where an argument points. `false` (and nothing is copied) if there is no room, or it may not be written.
    pub fn copy_in(&self, i: usize, from: &[u8]) -> bool {
        self.inner.memory().write_bytes(self.word(i), from)
    }

    /// What keeps the memory that an argument points to for as long as one wants, if it is that of a variable of the module.
    pub fn keeper(&self, i: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        let memory = self.inner.memory();
        let id = memory.pointee(self.word(i))?.global?;
        memory.globals().place(id).map(|_| Arc::clone(memory.globals()) as Arc<dyn Any + Send + Sync>)
    }

    pub(crate) fn inner(&self) -> &interp::HostCall<'_> {
        self.inner
    }
}

/// Tells modules apart: functions of the host must know which module called them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner(u64);

impl Owner {
    pub fn new() -> Owner {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Owner(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A program with what the host provides.
pub(crate) struct Bound {
    pub program: VerifiedProgram,
    /// `None` if it needs nothing of the host.
    pub table: Option<HostTable>,
}

/// Gives a program what it needs of the host and the host provides.
pub(crate) fn provide(program: VerifiedProgram, hosts: &Hosts, owner: Owner) -> Result<Bound, CompileError> {
    let found: Vec<Option<HostCallee>> = program
        .imports
        .iter()
        .map(|import| Ok(hosts.find(import)?.map(|found| callee(import, found, owner))))
        .collect::<Result<_, Box<Unsuitable>>>()
        .map_err(|wrong| refused(&program, &wrong))?;
    if found.iter().all(Option::is_none) {
        return Ok(Bound { program, table: None });
    }
    let index = |import: &Import| program.imports.iter().position(|other| std::ptr::eq(other, import));
    let provides = |import: &Import| index(import).is_some_and(|i| found[i].is_some());
    let bound = bind(&program, provides).map_err(|errors| {
        let message = errors.first().map(ToString::to_string).unwrap_or_default();
        CompileError::of_program(
            vec![Diagnostic::new(Code::InternalError, Default::default(), message)],
            SourceMap::new(),
        )
    })?;
    Ok(Bound { program: bound, table: Some(found.into()) })
}

/// A function of the host whose declaration asks for what hosts do not have.
struct Unsuitable {
    import: Import,
    why: String,
}

fn refused(program: &VerifiedProgram, wrong: &Unsuitable) -> CompileError {
    let mut files = crate::link::Files::default();
    let span = files.span(program, wrong.import.symbol.span);
    let message = format!("the host cannot provide `{}`: {}", wrong.import.symbol.name, wrong.why);
    let error = Diagnostic::new(Code::BadHostFunction, span, message).at("declared here");
    let help = "functions of the host take and give numbers, uniform pointers and references";
    CompileError::of_program(vec![error.help(help)], files.into_map())
}

impl Hosts {
    /// Returns whether nothing is provided.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.libraries.is_empty()
    }

    /// What was perhaps meant for a function that is missing: of the functions given by name that the program calls none of
    /// (one host may serve several programs), the only one, or the one of a similar name.
    pub(crate) fn mistaken_for(&self, missing: &str, program: &Program) -> Option<&str> {
        let given = self.functions.keys().map(String::as_str);
        let is_idle = |name: &&str| program.imports.iter().all(|import| import.symbol.name != **name);
        let idle: Vec<&str> = given.filter(is_idle).collect();
        match idle[..] {
            [only] => Some(only),
            _ => closest(missing, idle.iter().copied()),
        }
    }

    /// What is provided for an import; an error if its declaration is not one that a host can follow.
    fn find(&self, import: &Import) -> Result<Option<Provided>, Box<Unsuitable>> {
        let name = import.symbol.name.as_str();
        let library = || self.libraries.iter().find_map(|library| library.find(name)).map(Provided::Address);
        let is_function = matches!(import.symbol.item, spmdvm_vm::program::Item::Function(_));
        let Some(found) = self.functions.get(name).cloned().or_else(library).filter(|_| is_function) else {
            return Ok(None);
        };
        let unsuitable = |why: String| Err(Box::new(Unsuitable { import: import.clone(), why }));
        let Some(signature) = &import.host else {
            let why =
                "it takes or gives a struct by value, a varying pointer, or something else that is not one number";
            return unsuitable(why.into());
        };
        let for_each_lane = !matches!(found, Provided::Closure(_)) && is_varying(signature);
        if for_each_lane && matches!(signature.result, Some(HostValue::Uniform(_) | HostValue::Array { .. })) {
            return unsuitable("it is called for each lane, and declared to give one result for all of them".into());
        }
        if let (Provided::Address(_), Err(why)) = (&found, crate::foreign::can_call(signature)) {
            return unsuitable(why);
        }
        Ok(Some(found))
    }
}

/// Returns whether a parameter or the result has a value for each lane.
fn is_varying(signature: &HostFunction) -> bool {
    let values = signature.params.iter().map(|param| &param.value).chain(&signature.result);
    values.into_iter().any(|value| matches!(value, HostValue::Varying(_)))
}

/// What the machine calls for an import.
fn callee(import: &Import, found: Provided, owner: Owner) -> HostCallee {
    // `find` has looked.
    let signature = import.host.clone().unwrap_or(HostFunction { params: Vec::new(), result: None });
    // SAFETY: who gave the address promised that it is a function with what the program declares.
    let of_address = |address: usize| move |call: &HostCall<'_>| unsafe { crate::foreign::call(address, call) };
    match found {
        Provided::Address(address) => called(owner, signature, per_lane(of_address(address))),
        Provided::PerLane(function) => {
            called(owner, signature, per_lane(move |call| result_word(call, function(call)?)))
        }
        Provided::Closure(function) => called(owner, signature, move |call| gang_result(call, function(call)?)),
    }
}

/// What calls a function with what the machine has.
fn called(
    owner: Owner,
    signature: HostFunction,
    function: impl Fn(&HostCall<'_>) -> Result<HostResult, HostError> + Send + Sync + 'static,
) -> HostCallee {
    Arc::new(move |inner| {
        let _active = Active::enter(owner, inner);
        function(&HostCall { inner, signature: &signature, lane: None })
    })
}

/// Calls a function for each active lane, if anything is declared varying; once if not.
fn per_lane(
    function: impl Fn(&HostCall<'_>) -> Result<u64, HostError>,
) -> impl Fn(&HostCall<'_>) -> Result<HostResult, HostError> {
    move |call| {
        if !is_varying(call.signature) {
            return function(call).map(HostResult::Word);
        }
        let mut words = vec![0; call.inner.lanes()];
        for lane in call.active_lanes() {
            words[lane as usize] = function(&HostCall { lane: Some(lane), ..*call })?;
        }
        Ok(HostResult::Words(words))
    }
}

/// The result of a call for the gang.
fn gang_result(call: &HostCall<'_>, result: Option<Value<'static>>) -> Result<HostResult, HostError> {
    match (&call.signature.result, result) {
        (Some(HostValue::Varying(expected)), Some(Value::Lanes { ty, words })) if ty == *expected => {
            let n = call.mask().count_ones() as usize;
            if words.len() != n {
                let message = format!("`{}` must give a value for each of {n} lanes, not {}", call.name(), words.len());
                return Err(HostError::new(message));
            }
            let mut lanes = vec![0; call.inner.lanes()];
            call.active_lanes().zip(words).for_each(|(lane, word)| lanes[lane as usize] = word);
            Ok(HostResult::Words(lanes))
        }
        (_, result) => result_word(call, result).map(HostResult::Word),
    }
}

/// The bits of a result, if it is of the type that the program declares.
fn result_word(call: &HostCall<'_>, result: Option<Value<'static>>) -> Result<u64, HostError> {
    let expected = match &call.signature.result {
        None => return Ok(0),
        Some(HostValue::Uniform(ty) | HostValue::Varying(ty)) => *ty,
        Some(HostValue::Array { .. }) => spmdvm_vm::Ty::U64,
    };
    match result {
        Some(Value::Scalar { ty, bits }) if ty == expected => Ok(bits),
        Some(other) => {
            Err(HostError::new(format!("`{}` must give a {expected}, not {}", call.name(), other.describe())))
        }
        None => Err(HostError::new(format!("`{}` must give a {expected}, and gave nothing", call.name()))),
    }
}

thread_local! {
    /// The functions of the host that are running on this thread, innermost last, with the modules that called them.
    static ACTIVE: RefCell<Vec<(Owner, *const interp::HostCall<'static>)>> = const { RefCell::new(Vec::new()) };
}

/// Says, while it lives, that a function of the host is running on this thread.
struct Active;

impl Active {
    fn enter(owner: Owner, call: &interp::HostCall<'_>) -> Active {
        ACTIVE.with_borrow_mut(|active| active.push((owner, std::ptr::from_ref(call).cast())));
        Active
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.with_borrow_mut(Vec::pop);
    }
}

/// A machine for a call of a module by a function of the host that the module has called.
pub(crate) struct Nested {
    pub machine: Machine,
    call: *const interp::HostCall<'static>,
}

/// The machine for a call of this module, if one of its calls is waiting on this thread for the function of the host that makes it.
pub(crate) fn nested(owner: Owner) -> Option<Result<Nested, Trap>> {
    let found =
        ACTIVE.with_borrow(|active| active.iter().rev().find(|(other, _)| *other == owner).map(|entry| entry.1))?;
    // SAFETY: an entry is there for as long as the call, which is further up on this thread's stack.
    let machine = unsafe { (*found).machine() };
    Some(machine.map(|machine| Nested { machine, call: found }))
}

impl Drop for Nested {
    fn drop(&mut self) {
        // SAFETY: as above; who calls from within ends before the function does.
        unsafe { (*self.call).spend(self.machine.fuel_used()) };
    }
}

impl Module {
    /// The names of the functions that the program needs of others: those that the host provides, and those that nobody does.
    pub fn imports(&self) -> impl Iterator<Item = &Import> {
        self.program().imports.iter()
    }
}
