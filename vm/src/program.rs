//! Programs: functions of masked vector bytecode, globals, formats, exports and debug information.

use crate::isa::Op;
use crate::memory::region_start;
use crate::sem::padd;
use crate::types::{Shape, Ty, Width};
use std::sync::{Arc, OnceLock};

/// A register of a function, by index into [`Function::regs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

impl Reg {
    /// "No register": an absent destination or source.
    pub const NONE: Reg = Reg(u32::MAX);

    /// Returns whether it is [`Reg::NONE`].
    pub fn is_none(self) -> bool {
        self == Reg::NONE
    }

    /// Its index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The first parameters of a task: its three indices and the three counts of its launch, uniform `i32`.
pub const TASK_PARAMS: u32 = 6;

/// The first arguments of a launch: the numbers of tasks in three dimensions, uniform `i32`.
pub const LAUNCH_COUNTS: usize = 3;

/// What stands behind the name of an exported function in the name of the one through which hosts run it over arrays.
pub const MAP_SUFFIX: &str = "$map";

/// A function of a program, by index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// A global of a program, by index into [`Program::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// A range of [`Function::pool`]: the arguments or results of a call, the arguments of a print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct List {
    /// First element.
    pub start: u32,
    /// Number of elements.
    pub len: u32,
}

/// A range of source text, in bytes of a file of [`Program::sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Index of the file.
    pub file: u32,
    /// First byte.
    pub lo: u32,
    /// One past the last byte; `lo == hi == 0` means "no span".
    pub hi: u32,
}

/// A declared register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegDecl {
    /// One value, or one per lane.
    pub shape: Shape,
    /// Its element type.
    pub ty: Ty,
    /// The source variable it holds, if any.
    pub name: Option<Arc<str>>,
}

/// One instruction. What the fields mean for an operation stands in its [`Signature`](crate::isa::Signature).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Its type; `Bool` for operations that have none.
    pub ty: Ty,
    /// The second type of conversions (the source's) and of memory operands (the index's); else equal to `ty`.
    pub from: Ty,
    /// The destination or `Reg::NONE`.
    pub dst: Reg,
    /// The sources; unused ones are `Reg::NONE`.
    pub src: [Reg; 3],
    /// Label (instruction index), scale, function, global, format or message.
    pub aux: u32,
    /// Displacement or offset in bytes.
    pub imm: i64,
    /// Arguments of calls and prints.
    pub args: List,
    /// Results of calls.
    pub rets: List,
}

impl Inst {
    /// An instruction with no operands; fields are filled in with struct update syntax.
    pub fn new(op: Op, ty: Ty) -> Inst {
        Inst {
            op,
            ty,
            from: ty,
            dst: Reg::NONE,
            src: [Reg::NONE; 3],
            aux: 0,
            imm: 0,
            args: List::default(),
            rets: List::default(),
        }
    }
}

/// A function. What linking does not change is shared by a program and those it was linked from.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Function {
    /// Its name; unique in the program.
    pub name: String,
    /// All registers; the first `n_params` are the parameters.
    pub regs: Arc<[RegDecl]>,
    /// Number of parameters.
    pub n_params: u32,
    /// Registers read when the function returns.
    pub results: Vec<Reg>,
    /// Constant registers and their bits: uniform, read-only, loaded at entry. One that has a name stands for what that
    /// variable holds before anything is stored in it: check mode reports its uses.
    pub consts: Arc<[(Reg, u64)]>,
    /// The code; ends in `ret` or a jump.
    pub code: Vec<Inst>,
    /// The source of each instruction; as long as `code`.
    pub spans: Vec<Span>,
    /// Register lists of calls and prints.
    pub pool: Arc<[Reg]>,
    /// Bytes of frame memory; 0 if it has none. Zeroed at entry.
    pub frame_size: u64,
    /// Whether it may be launched as a task. Then its first [`TASK_PARAMS`] parameters are its indices and the counts.
    pub is_task: bool,
}

impl Function {
    /// The registers of a list.
    pub fn list(&self, list: List) -> &[Reg] {
        &self.pool[list.start as usize..][..list.len as usize]
    }

    /// The declaration of a register.
    pub fn reg(&self, r: Reg) -> &RegDecl {
        &self.regs[r.index()]
    }

    /// The bits of a constant register, if `r` is one.
    pub fn constant_bits(&self, r: Reg) -> Option<u64> {
        self.consts.iter().find(|c| c.0 == r).map(|c| c.1)
    }
}

/// A global variable: a region of memory that lives as long as a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name; unique in the program.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its first bytes; the rest is zero.
    pub init: Vec<u8>,
    /// Whether it is read-only.
    pub constant: bool,
    /// Addresses in the initial image: at byte `.0` stands that of `.1`.
    pub relocations: Vec<(u64, Target)>,
    /// How hosts see it; `None` if they do not (constants of the compiler, variables of functions and of the library).
    pub host: Option<HostGlobal>,
}

impl Global {
    /// Returns whether the host supplies its memory: the program only declares it.
    pub fn is_extern(&self) -> bool {
        self.host.as_ref().is_some_and(|host| host.access == HostAccess::Supply)
    }

    /// So many bytes from an offset on, at most 8, if nothing ever changes them: the lowest first.
    pub fn constant_at(&self, offset: u64, bytes: u64) -> Option<u64> {
        let end = offset.checked_add(bytes)?;
        let may_change = !self.constant || self.host.as_ref().is_some_and(|host| host.access != HostAccess::Read);
        if may_change || end > self.size || bytes > 8 {
            return None;
        }
        let mut addresses = self.relocations.iter().filter(|(at, _)| *at < end && offset < at.saturating_add(8));
        match (addresses.next(), addresses.next()) {
            (None, _) => Some((offset..end).rev().fold(0, |bits, at| {
                let byte = usize::try_from(at).ok().and_then(|at| self.init.get(at));
                bits << 8 | u64::from(byte.copied().unwrap_or(0))
            })),
            (Some(&(at, target)), None) => ((at, bytes) == (offset, 8)).then(|| target.address()),
            // One has been written over another.
            (Some(_), Some(_)) => None,
        }
    }
}

/// What an address in an initial image is the address of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A byte of a global.
    Global(GlobalId, i64),
    /// A function, as a value: its index plus one.
    Function(FuncId),
}

impl Target {
    /// The address.
    pub fn address(self) -> u64 {
        match self {
            Target::Global(global, delta) => padd(region_start(global.0 + 1), delta),
            Target::Function(function) => u64::from(function.0) + 1,
        }
    }
}

/// How hosts see a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostGlobal {
    /// Its layout. Lanes of varying variables are the innermost array.
    pub layout: HostType,
    /// What hosts may do with it.
    pub access: HostAccess,
}

/// What hosts may do with a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostAccess {
    /// Read it.
    Read,
    /// Read and write it.
    Write,
    /// Supply its memory (`extern`). Until they do, it has none, and an access traps. An outermost array of length 0 in
    /// its layout takes memory of any length.
    Supply,
}

impl HostAccess {
    /// All of them, with the words of the text form.
    pub const WORDS: [(HostAccess, &str); 3] =
        [(HostAccess::Read, "readonly"), (HostAccess::Write, "writable"), (HostAccess::Supply, "extern")];
}

/// A variable as the source has it, in the memory of a frame or a global: what messages about indices say, and debuggers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Where it lies.
    pub home: Home,
    /// Its name in the source.
    pub name: String,
    /// Its first byte there.
    pub offset: u64,
    /// How its elements follow one another.
    pub shape: ArrayShape,
    /// Its layout, as [`HostGlobal::layout`] has it; `None` if it is not known. Globals have theirs there.
    pub layout: Option<HostType>,
    /// Whether it is varying: the innermost arrays of its layout are of lanes.
    pub varying: bool,
}

/// The memory that a [`Variable`] lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The frames of a function.
    Frame(FuncId),
    /// A global.
    Global(GlobalId),
}

/// How the elements of an array of any number of dimensions follow one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayShape {
    /// Bytes from one element to the next.
    pub stride: u64,
    /// The lengths, outermost first. That of an array of the host is not known: it is as long as its memory.
    pub extents: Vec<u64>,
}

impl ArrayShape {
    /// The size of the whole in bytes.
    pub fn size(&self) -> u64 {
        self.extents.iter().fold(self.stride, |size, &n| size.saturating_mul(n))
    }
}

/// A piece of a print format.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// The next argument.
    Arg(ArgFormat),
}

/// How a print argument is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArgFormat {
    /// What the argument is.
    pub kind: ArgKind,
    /// The conversion asked for, as in C's `printf`; `None`: by type (`%`).
    pub conversion: Option<char>,
    /// Minimum width.
    pub width: Option<u16>,
    /// Precision.
    pub precision: Option<u16>,
    /// Pad with zeros.
    pub zero: bool,
    /// Pad on the right.
    pub left: bool,
    /// Always show the sign.
    pub plus: bool,
}

/// What a print argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgKind {
    /// A number or bool of its register's type.
    Value,
    /// An address.
    Pointer,
    /// An address of NUL-terminated text.
    Text,
}

/// A function that hosts may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name hosts use; several exports may share it (overloads).
    pub name: String,
    /// The function.
    pub function: FuncId,
    /// Its parameters, in order.
    pub params: Vec<ExportParam>,
    /// Its result. An array is a pointer that the function gives, or, if it is a `reference`, a value in memory: then the
    /// function has one more parameter, the last, which points to where the value goes, and gives nothing.
    pub result: Option<HostValue>,
    /// Its documentation comment, if any.
    pub doc: String,
    /// The declaration as written.
    pub declaration: String,
}

impl Export {
    /// Returns whether the function writes its result to memory of the caller.
    pub fn result_in_memory(&self) -> bool {
        self.result.as_ref().is_some_and(HostValue::is_reference)
    }

    /// The size of such a result in bytes.
    pub fn result_size(&self) -> Option<usize> {
        match &self.result {
            Some(HostValue::Array { elem, reference: true, .. }) => Some(elem.size() as usize),
            _ => None,
        }
    }
}

/// A parameter of an exported function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportParam {
    /// Its name (may be empty).
    pub name: String,
    /// What it takes.
    pub value: HostValue,
    /// Its default, as bits of a scalar.
    pub default: Option<u64>,
}

/// What an exported function takes or gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostValue {
    /// One value for the gang.
    Uniform(Ty),
    /// One value per lane: such a function maps over arrays.
    Varying(Ty),
    /// A pointer to (or reference to, or array of) elements in memory.
    Array {
        /// The element.
        elem: HostType,
        /// Whether the program may write to it.
        writable: bool,
        /// Whether it is a reference, to exactly one element.
        reference: bool,
    },
}

impl HostValue {
    /// Returns whether it is a reference: one value in memory.
    pub fn is_reference(&self) -> bool {
        matches!(self, HostValue::Array { reference: true, .. })
    }
}

/// A function or global by which programs are linked: one declares it, another (or the host) defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name to link by: that of the source, and for functions the types of the parameters behind it, unless it is to
    /// be called as functions of C are.
    pub name: String,
    /// What it is in this program.
    pub item: Item,
    /// Its type as messages show it; both sides must agree.
    pub ty: String,
    /// The structs and enumerations that are defined here and reached from its type, each with a digest of its
    /// definition: where both sides know one, it must be the same.
    pub structs: Vec<(String, u64)>,
    /// Where it is declared.
    pub span: Span,
}

/// A function or global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// A function.
    Function(FuncId),
    /// A global.
    Global(GlobalId),
}

/// What a program declares and does not define. For a function it has a stub that traps, for a variable a global whose
/// memory the host may supply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// What is wanted.
    pub symbol: Symbol,
    /// Where it is first used; "no span" if nowhere.
    pub used: Span,
    /// Of a function that is declared `extern "C"`, and that a host can therefore provide: what it takes and gives.
    pub host: Option<HostFunction>,
    /// A definition that has the name and is not meant, say for its parameters: its name to link by, and where it is.
    pub near: Option<(String, Span)>,
}

/// What a function of the host takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFunction {
    /// Its parameters, in order.
    pub params: Vec<ExportParam>,
    /// Its result.
    pub result: Option<HostValue>,
}

/// The layout of a value in memory shared with hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostType {
    /// A scalar.
    Scalar(Ty),
    /// An enumeration, held as `u32`.
    Enum(String),
    /// A fixed-size array, short vector, or array of lanes.
    Array(Box<HostType>, u64),
    /// A struct.
    Struct {
        /// Its name.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// Fields: name, byte offset, type.
        fields: Vec<(String, u64, HostType)>,
    },
    /// An address (of this machine's sandbox; meaningless outside).
    Pointer,
    /// Untyped bytes (`void *`).
    Byte,
}

impl HostType {
    /// How the elements of an array of these follow one another, the array's own length aside.
    pub fn array_shape(&self) -> ArrayShape {
        let (mut elem, mut extents) = (self, vec![0]);
        while let HostType::Array(inner, n) = elem {
            extents.push(*n);
            elem = inner;
        }
        ArrayShape { stride: elem.size(), extents }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            HostType::Scalar(t) => t.size() as u64,
            HostType::Enum(_) => 4,
            HostType::Array(elem, n) => elem.size() * n,
            HostType::Struct { size, .. } => *size,
            HostType::Pointer => 8,
            HostType::Byte => 1,
        }
    }
}

/// A source file kept for messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name as messages show it.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// Where its lines begin, once somebody asks: reports ask for thousands of places.
    line_starts: OnceLock<Box<[u32]>>,
}

impl Source {
    /// A file with a name and a text.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Source {
        Source { name: name.into(), text: text.into(), line_starts: OnceLock::new() }
    }

    /// Offsets at which lines begin, in order.
    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let ends = self.text.match_indices('\n').map(|(i, _)| i as u32 + 1);
            std::iter::once(0).chain(ends).collect()
        })
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

impl Eq for Source {}

/// A whole program, compiled for one gang width.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// Number of lanes.
    pub width: Width,
    /// Functions.
    pub functions: Vec<Function>,
    /// Globals.
    pub globals: Vec<Global>,
    /// Print formats.
    pub formats: Vec<Vec<Piece>>,
    /// Messages of assertions and aborts.
    pub messages: Vec<String>,
    /// What hosts may call.
    pub exports: Vec<Export>,
    /// Source files, by [`Span::file`].
    pub sources: Vec<Source>,
    /// The arrays of the source, for messages.
    pub variables: Vec<Variable>,
    /// What it needs and does not define.
    pub imports: Vec<Import>,
    /// What others may link to; only of programs that were compiled to be linked, and have not been.
    pub symbols: Vec<Symbol>,
}

impl Program {
    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        let i = self.functions.iter().position(|f| f.name == name)?;
        Some(FuncId(i as u32))
    }

    /// Line and column (both from 1) where a span begins, with its file; `None` for "no span".
    pub fn line_col(&self, span: Span) -> Option<(&Source, usize, usize)> {
        if span.hi == 0 {
            return None;
        }
        let source = self.sources.get(span.file as usize)?;
        if !source.text.is_char_boundary(span.lo as usize) {
            return None;
        }
        let starts = source.line_starts();
        let line = starts.partition_point(|&start| start <= span.lo);
        Some((source, line, (span.lo - starts[line - 1]) as usize + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_known_as_far_as_nothing_changes_them() {
        let global = Global {
            name: "g".into(),
            size: 24,
            init: vec![1, 2, 3, 4, 5],
            constant: true,
            relocations: vec![(8, Target::Global(GlobalId(2), 4)), (16, Target::Function(FuncId(6)))],
            host: None,
        };
        let at = |offset, bytes| global.constant_at(offset, bytes);
        assert_eq!([at(0, 1), at(1, 2), at(0, 8), at(6, 2)], [Some(1), Some(0x302), Some(0x5_0403_0201), Some(0)]);
        assert_eq!([at(8, 8), at(16, 8)], [Some((3 << 40) + 4), Some(7)]);
        assert_eq!([at(8, 4), at(12, 4), at(4, 8), at(20, 8), at(24, 1), at(u64::MAX, 1)], [None; 6]);
        assert_eq!(Global { constant: false, ..global.clone() }.constant_at(0, 1), None);
        let mut overwritten = global.clone();
        overwritten.relocations.push((12, Target::Function(FuncId(1))));
        assert_eq!([overwritten.constant_at(8, 8), overwritten.constant_at(0, 8)], [None, Some(0x5_0403_0201)]);
        let layout = HostType::Scalar(Ty::U64);
        let with = |access| {
            let host = Some(HostGlobal { layout: layout.clone(), access });
            Global { host, ..global.clone() }.constant_at(0, 1)
        };
        assert_eq!([HostAccess::Read, HostAccess::Write, HostAccess::Supply].map(with), [Some(1), None, None]);
    }
}
