//! The typed program: what semantic analysis makes of the syntax tree and lowering turns into bytecode.
//!
//! Everything is resolved: names are ids, overloads functions, templates their instances, conversions explicit, constants
//! folded, every type uniform, varying or `soa` (never "unbound"). Values ([`Expr`]) and places ([`Place`]) are told
//! apart. Structured control is kept; masks are lowering's matter.

mod describe;
mod expr;
mod host;
pub mod layout;
mod stmt;
mod types;
pub mod walk;

pub use describe::{InfoKind, TypeInfo};
pub use expr::*;
pub use layout::{Layout, Leaf};
pub use stmt::*;
pub use types::*;

use crate::source::Span;
use crate::symbol::Symbol;
use spmdvm_vm::Width;
use spmdvm_vm::program::{ExportParam, HostFunction, HostType, HostValue};

/// A function of a [`Module`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FuncId(pub u32);

/// A global of a [`Module`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct GlobalId(pub u32);

/// A local variable of a [`Function`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LocalId(pub u32);

/// A struct of a [`TypeTable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StructId(pub u32);

/// An enum of a [`TypeTable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EnumId(pub u32);

/// A whole program, typed, for one gang width.
#[derive(Clone, Debug)]
pub struct Module {
    /// The number of lanes.
    pub width: Width,
    /// All types.
    pub types: TypeTable,
    /// Globals by id: global variables, static locals and string constants.
    pub globals: Vec<Global>,
    /// Functions by id: the user's, and those of the prelude that are reachable.
    pub functions: Vec<Function>,
    /// What hosts may call.
    pub exports: Vec<Export>,
    /// Types that are described to hosts though no export may have them (`export { T };`).
    pub exported_types: Vec<TypeId>,
    /// Instances of exported polymorphic functions that have not been compiled: they trap.
    pub deferred: Vec<FuncId>,
    /// What it uses and does not define.
    pub imports: Vec<Import>,
    /// What other files may use; only if it is to be linked with them.
    pub symbols: Vec<LinkSymbol>,
    /// The value of the expression with which the text typed at a prompt ends.
    pub shown: Option<Shown>,
}

/// A value to be shown ([`ast::StmtKind::Show`](crate::ast::StmtKind::Show)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    /// Where it is, once the program has run.
    pub global: GlobalId,
    /// Its type.
    pub ty: TypeId,
    /// Whether the global has its address instead: it is an array.
    pub by_address: bool,
}

impl Module {
    /// The function with this id.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The global with this id.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }
}

/// A struct.
#[derive(Clone, Debug)]
pub struct StructDef {
    /// Its name.
    pub name: Symbol,
    /// Its members.
    pub fields: Vec<Field>,
    /// Whether it was only declared.
    pub is_opaque: bool,
    /// The alignment asked for.
    pub align: Option<u64>,
    /// Whether members are packed without padding.
    pub packed: bool,
    /// Where it is defined.
    pub span: Span,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct EnumDef {
    /// Its name.
    pub name: Symbol,
    /// Its enumerators and their values.
    pub enumerators: Vec<(Symbol, u32)>,
    /// Where it is defined.
    pub span: Span,
}

/// A variable that lives as long as the program, or a string constant.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name, unique in the module.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Its size in bytes.
    pub size: u64,
    /// The first bytes of its initial image; the rest is zero.
    pub init: Vec<u8>,
    /// Addresses in the initial image.
    pub relocations: Vec<Relocation>,
    /// Whether it is read-only.
    pub constant: bool,
    /// Who knows it, and where its memory comes from.
    pub linkage: Linkage,
    /// Its layout as hosts see it; `None` if they do not.
    pub layout: Option<HostType>,
    /// Where it is declared.
    pub span: Span,
}

/// Who knows a global, and where its memory comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// Nobody else: it belongs to a function, the library or the compiler.
    Internal,
    /// The file alone (`static`).
    File,
    /// Everybody.
    Shared,
    /// It is declared (`extern`) and not defined: somebody else has it.
    Extern,
}

/// An address in the initial image of a global.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// At which byte of the image the eight bytes stand.
    pub at: u64,
    /// What they are the address of.
    pub target: RelocationTarget,
}

/// What an address in an image points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocationTarget {
    /// A byte of a global.
    Global(GlobalId, i64),
    /// A function.
    Function(FuncId),
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name in the source.
    pub name: Symbol,
    /// A name that tells overloads and template instances apart; unique in the module.
    pub mangled: String,
    /// The parameters: the first locals.
    pub params: Vec<LocalId>,
    /// The type of the result.
    pub result: TypeId,
    /// All local variables by id.
    pub locals: Vec<Local>,
    /// The body. `None`: declared but not defined; it is called nowhere in a module without errors.
    pub body: Option<Vec<Stmt>>,
    /// What it was declared as.
    pub flags: FunctionFlags,
    /// The number of labels for `goto`.
    pub n_labels: u32,
    /// The declaration without the body.
    pub head_span: Span,
    /// All of it.
    pub span: Span,
}

/// What a function was declared as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FunctionFlags {
    /// `export`.
    pub export: bool,
    /// `task`.
    pub task: bool,
    /// `unmasked`: runs with all lanes on, whatever the caller's mask.
    pub unmasked: bool,
    /// `inline`.
    pub inline: bool,
    /// `noinline`.
    pub noinline: bool,
    /// `static`: not needed unless something refers to it.
    pub is_static: bool,
    /// Whether it is only declared here: the body is a stub.
    pub is_import: bool,
    /// Whether it is the library's.
    pub prelude: bool,
}

/// A local variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; empty for anonymous parameters.
    pub name: Symbol,
    /// Its type.
    pub ty: TypeId,
    /// Whether it must live in memory: its address is taken, a reference is bound to it, or it is an array (or vector)
    /// that is indexed by something other than a constant. Others can live in registers, one per scalar of the type.
    pub needs_memory: bool,
    /// Whether it is written after its declaration.
    pub is_assigned: bool,
    /// Whether it is used behind the `unmasked` block that declares it.
    pub outlives_block: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A function that hosts may call.
#[derive(Clone, Debug)]
pub struct Export {
    /// The function.
    pub function: FuncId,
    /// The name hosts use.
    pub name: String,
    /// The parameters as hosts see them.
    pub params: Vec<ExportParam>,
    /// The result as hosts see it.
    pub result: Option<HostValue>,
    /// The documentation comment.
    pub doc: String,
    /// The declaration as written.
    pub declaration: String,
}

/// A function or global of a [`Module`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A function.
    Function(FuncId),
    /// A global.
    Global(GlobalId),
}

/// What files know each other's functions and variables by; see [`spmdvm_vm::program::Symbol`].
#[derive(Clone, Debug)]
pub struct LinkSymbol {
    /// The name to link by.
    pub name: String,
    /// What it is here.
    pub item: Item,
    /// Its type as messages show it.
    pub ty: String,
    /// The structs and enumerations that its type is made of, each with a digest of its definition.
    pub structs: Vec<(String, u64)>,
    /// Where it is declared.
    pub span: Span,
}

/// What is used and not defined; see [`spmdvm_vm::program::Import`].
#[derive(Clone, Debug)]
pub struct Import {
    /// What it is. Of a function there is a stub.
    pub symbol: LinkSymbol,
    /// Where it is first used.
    pub used: Option<Span>,
    /// What a function of the host in its place takes and gives.
    pub host: Option<HostFunction>,
}
