//! Declarations and the state of a compilation.

use super::Instances;
use super::body::Body;
use super::overload::ByStruct;
use crate::ast;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::hir::{self, Expr, FuncId, GlobalId, LocalId, StructId, TypeId, TypeTable};
use crate::source::{SourceMap, Span};
use crate::symbol::{Symbol, SymbolMap};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use spmdvm_vm::Width;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A function declaration of a [`DeclTable`] (the library's first, then the program's).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct DeclId(pub u32);

/// A template of a [`DeclTable`], counted likewise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct TemplateId(pub u32);

/// A global variable of a [`DeclTable`], counted likewise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct GlobalDeclId(pub u32);

/// What a name that stands for a value means.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// A local variable, and how many nested `foreach` it is declared in.
    Local(LocalId, u32),
    /// A global variable.
    Global(GlobalDeclId),
    /// A constant: an enumerator or template argument.
    Constant(Expr),
    /// Functions and templates.
    Functions(Arc<Vec<DeclId>>, Arc<Vec<TemplateId>>),
}

/// A function, declared.
#[derive(Clone, Debug)]
pub(super) struct FunctionDecl<'a> {
    /// The syntax: the definition if there is one.
    pub ast: &'a ast::Function<'a>,
    /// Parameter types.
    pub params: Vec<TypeId>,
    /// Default arguments.
    pub defaults: Vec<Option<&'a ast::Expr<'a>>>,
    /// The type of the result.
    pub result: TypeId,
    /// The flags of all declarations together.
    pub flags: ast::FunctionFlags,
    /// What the template's parameters stand for.
    pub bindings: Option<Arc<Bindings>>,
    /// Whether it is the library's.
    pub prelude: bool,
    /// The text of its `deprecated` attribute.
    pub deprecated: Option<String>,
}

/// What names stand for inside an instance of a template.
#[derive(Clone, Debug, Default)]
pub(super) struct Bindings {
    /// How many of the type parameters were written: they are not deduced.
    pub n_written: usize,
    /// Type parameters.
    pub types: Vec<(Symbol, TypeId)>,
    /// Constant parameters.
    pub values: Vec<(Symbol, Expr)>,
    /// Polymorphic types: class and quantifier, and the scalar type.
    pub classes: Vec<((ast::TypeClass, Option<u32>), spmdvm_vm::Ty)>,
}

/// A function template, or a polymorphic function (whose `params` are empty).
#[derive(Clone, Copy, Debug)]
pub(super) struct TemplateDecl<'a> {
    /// The parameters.
    pub params: &'a [ast::TemplateParam<'a>],
    /// The function.
    pub function: &'a ast::Function<'a>,
    /// Whether it is the library's.
    pub prelude: bool,
}

/// A global variable, declared.
#[derive(Clone, Debug)]
pub(super) struct GlobalDecl {
    /// What it becomes.
    pub global: hir::Global,
    /// Its value, if it is a constant that can stand for it.
    pub value: Option<Expr>,
    /// Whether a declaration had an initialiser.
    pub is_initialised: bool,
}

/// The declarations of a file.
#[derive(Debug, Default)]
pub(super) struct DeclTable<'a> {
    /// Names of values.
    pub names: SymbolMap<Entity>,
    /// Names of types: typedefs, structs, enums; perhaps unbound.
    pub type_names: SymbolMap<TypeId>,
    /// Functions.
    pub functions: Vec<FunctionDecl<'a>>,
    /// Functions by name and parameters.
    pub signatures: HashMap<(Symbol, Vec<TypeId>), DeclId>,
    /// Templates.
    pub templates: Vec<TemplateDecl<'a>>,
    /// Explicit specialisations and instances made, by template and arguments.
    pub instances: HashMap<(TemplateId, String), DeclId>,
    /// Globals.
    pub globals: Vec<GlobalDecl>,
    /// Types.
    pub types: TypeTable,
    /// Types of struct members as declared, perhaps unbound.
    pub raw_fields: HashMap<StructId, Vec<TypeId>>,
    /// The members of structs by name.
    pub field_indices: HashMap<(StructId, Symbol), u32>,
    /// Structs with members that have a variability of their own, somewhere inside.
    pub bound_structs: HashSet<StructId>,
    /// Structs that are named somewhere (`struct S *p`) and were never declared by themselves.
    pub only_named: HashSet<StructId>,
    /// What was wrong with the library.
    pub errors: Vec<Diagnostic>,
}

/// A compilation: the declarations and the module in the making.
pub(super) struct Checker<'a, 'd> {
    /// The gang width.
    pub width: Width,
    /// The library's declarations.
    pub base: Option<&'a DeclTable<'static>>,
    /// The program's own declarations; `types` and `raw_fields` start as copies of the library's.
    pub table: DeclTable<'a>,
    /// The source files.
    pub sources: &'d SourceMap,
    /// Where errors go.
    pub diags: &'d mut Diagnostics,
    /// The module's globals.
    pub globals: Vec<hir::Global>,
    /// Variables that functions declare `extern` and the file does not.
    pub local_externs: SymbolMap<GlobalDeclId>,
    /// Which module global a declaration became.
    pub global_ids: HashMap<GlobalDeclId, GlobalId>,
    /// String constants.
    pub strings: HashMap<Vec<u8>, GlobalId>,
    /// The module's functions.
    pub functions: Vec<hir::Function>,
    /// Which module function a declaration became.
    pub function_ids: HashMap<DeclId, FuncId>,
    /// Instances of templates that the program asks for.
    pub explicit_instances: Vec<DeclId>,
    /// Types that are exported by themselves.
    pub exported_types: Vec<TypeId>,
    /// Exported polymorphic functions.
    pub exported_templates: Vec<TemplateId>,
    /// Which of their instances get bodies.
    pub instances: Instances,
    /// Whether others are to be told what the file defines.
    pub is_object: bool,
    /// Whether the mode is `fast`.
    pub is_fast: bool,
    /// Those that do not, unless something calls them.
    pub deferred: BTreeMap<DeclId, FuncId>,
    /// Those that nothing has called.
    pub left_out: Vec<FuncId>,
    /// Where functions are first used.
    pub first_uses: HashMap<DeclId, Span>,
    /// Functions whose bodies are still to be checked.
    pub queue: Vec<(DeclId, FuncId)>,
    /// Functions of one name, the program's and the library's, with those that they were made of.
    pub merged: RefCell<SymbolMap<[Entity; 2]>>,
    /// Functions of names that have many, told apart by the struct of their first parameter.
    pub by_struct: SymbolMap<ByStruct>,
    /// Names given to functions.
    pub mangled: HashMap<String, u32>,
    /// The function being checked.
    pub body: Body<'a>,
    /// Whether there was a warning of a variable that is used behind its `unmasked` block.
    pub warned_of_unmasked: bool,
    /// Where `float` constants stand that were rounded.
    pub rounded: HashSet<Span>,
    /// How deep the analysis is nested in itself.
    pub depth: u32,
    /// How many instances of templates there are.
    pub instances_made: usize,
    /// Where the first one too many was asked for.
    pub too_many_instances: Option<Span>,
    /// The value to be shown.
    pub shown: Option<hir::Shown>,
}

impl<'a, 'd> Checker<'a, 'd> {
    pub fn new(
        width: Width,
        base: Option<&'a DeclTable<'static>>,
        sources: &'d SourceMap,
        diags: &'d mut Diagnostics,
    ) -> Checker<'a, 'd> {
        let mut table = DeclTable::default();
        if let Some(base) = base {
            table.types = base.types.clone();
            table.raw_fields = base.raw_fields.clone();
            table.bound_structs = base.bound_structs.clone();
            table.field_indices = base.field_indices.clone();
        }
        Checker {
            width,
            base,
            table,
            sources,
            diags,
            globals: Vec::new(),
            local_externs: SymbolMap::default(),
            global_ids: HashMap::new(),
            strings: HashMap::new(),
            functions: Vec::new(),
            function_ids: HashMap::new(),
            explicit_instances: Vec::new(),
            exported_types: Vec::new(),
            exported_templates: Vec::new(),
            instances: Instances::All,
            is_object: false,
            is_fast: false,
            deferred: BTreeMap::new(),
            left_out: Vec::new(),
            first_uses: HashMap::new(),
            queue: Vec::new(),
            merged: RefCell::default(),
            by_struct: SymbolMap::default(),
            mangled: HashMap::new(),
            body: Body::default(),
            warned_of_unmasked: false,
            rounded: HashSet::new(),
            depth: 0,
            instances_made: 0,
            too_many_instances: None,
            shown: None,
        }
    }

    /// The declarations alone, for the library.
    pub fn into_table(self) -> DeclTable<'a> {
        self.table
    }

    /// Lanes per gang.
    pub fn lanes(&self) -> usize {
        self.width.lanes()
    }

    /// Reports.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.diags.emit(diagnostic);
    }

    /// Reports with message and nothing else.
    pub fn error_at(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diags.emit(Diagnostic::new(code, span, message));
    }

    /// Reports a warning, unless the place is the library's, or it is one of style in a header: those are often not the
    /// user's, and what one program does not need another does.
    pub fn warn(&mut self, diagnostic: Diagnostic) {
        let is_header = || self.sources.inclusions(diagnostic.span().file).next().is_some();
        let is_unwanted = self.in_prelude() || (diagnostic.code.is_style() && is_header());
        if !is_unwanted {
            self.diags.emit(diagnostic);
        }
    }

    /// Whether the library's code is being checked.
    pub fn in_prelude(&self) -> bool {
        self.base.is_none() || self.body.prelude
    }

    fn base_functions(&self) -> usize {
        self.base.map_or(0, |base| base.functions.len())
    }

    /// A function declaration.
    pub fn decl(&self, id: DeclId) -> &FunctionDecl<'a> {
        let index = id.0 as usize;
        match self.base {
            Some(base) if index < base.functions.len() => &base.functions[index],
            Some(base) => &self.table.functions[index - base.functions.len()],
            None => &self.table.functions[index],
        }
    }

    /// A declaration of the program itself, to be changed.
    pub fn decl_mut(&mut self, id: DeclId) -> Option<&mut FunctionDecl<'a>> {
        let index = (id.0 as usize).checked_sub(self.base_functions())?;
        self.table.functions.get_mut(index)
    }

    /// Adds a function declaration.
    pub fn add_decl(&mut self, decl: FunctionDecl<'a>) -> DeclId {
        self.table.functions.push(decl);
        DeclId((self.base_functions() + self.table.functions.len() - 1) as u32)
    }

    /// A template.
    pub fn template(&self, id: TemplateId) -> TemplateDecl<'a> {
        let index = id.0 as usize;
        match self.base {
            Some(base) if index < base.templates.len() => base.templates[index],
            Some(base) => self.table.templates[index - base.templates.len()],
            None => self.table.templates[index],
        }
    }

    /// Adds a template.
    pub fn add_template(&mut self, template: TemplateDecl<'a>) -> TemplateId {
        self.table.templates.push(template);
        let base = self.base.map_or(0, |base| base.templates.len());
        TemplateId((base + self.table.templates.len() - 1) as u32)
    }

    /// The instance of a template with these arguments, if made already.
    pub fn instance(&self, key: &(TemplateId, String)) -> Option<DeclId> {
        let own = self.table.instances.get(key);
        own.or_else(|| self.base.and_then(|base| base.instances.get(key))).copied()
    }

    /// A global's declaration.
    pub fn global_decl(&self, id: GlobalDeclId) -> &GlobalDecl {
        let index = id.0 as usize;
        match self.base {
            Some(base) if index < base.globals.len() => &base.globals[index],
            Some(base) => &self.table.globals[index - base.globals.len()],
            None => &self.table.globals[index],
        }
    }

    /// A global of the program itself, to be changed.
    pub fn global_decl_mut(&mut self, id: GlobalDeclId) -> Option<&mut GlobalDecl> {
        let base = self.base.map_or(0, |base| base.globals.len());
        self.table.globals.get_mut((id.0 as usize).checked_sub(base)?)
    }

    /// Adds a global.
    pub fn add_global(&mut self, decl: GlobalDecl) -> GlobalDeclId {
        self.table.globals.push(decl);
        let base = self.base.map_or(0, |base| base.globals.len());
        GlobalDeclId((base + self.table.globals.len() - 1) as u32)
    }

    /// The module's global for a declaration. Addresses in its image are module ids already, except in the library's,
    /// whose images have none.
    pub fn global_id(&mut self, decl: GlobalDeclId) -> GlobalId {
        if let Some(&id) = self.global_ids.get(&decl) {
            return id;
        }
        let global = self.global_decl(decl).global.clone();
        let id = self.push_global(global);
        self.global_ids.insert(decl, id);
        id
    }

    /// Adds a global to the module and makes its name unique.
    pub fn push_global(&mut self, mut global: hir::Global) -> GlobalId {
        global.name = self.unique_name(&global.name);
        self.globals.push(global);
        GlobalId(self.globals.len() as u32 - 1)
    }

    /// A name that no function or global of the module has yet.
    pub fn unique_name(&mut self, name: &str) -> String {
        let count = self.mangled.entry(name.to_string()).or_insert(0);
        *count += 1;
        match *count {
            1 => name.to_string(),
            n => {
                let next = format!("{name}.{n}");
                self.unique_name(&next)
            }
        }
    }

    /// The module's function for a declaration, its body to be checked later.
    pub fn function_id(&mut self, decl: DeclId) -> FuncId {
        if let Some(&id) = self.function_ids.get(&decl) {
            if self.deferred.remove(&decl).is_some() {
                self.queue.push((decl, id));
            }
            return id;
        }
        let id = FuncId(self.functions.len() as u32);
        let function = self.empty_function(decl);
        self.functions.push(function);
        self.function_ids.insert(decl, id);
        self.queue.push((decl, id));
        id
    }

    fn empty_function(&mut self, id: DeclId) -> hir::Function {
        let decl = self.decl(id);
        let (ast, flags, prelude, result) = (decl.ast, decl.flags, decl.prelude, decl.result);
        let params = decl.params.clone();
        let is_instance = decl.bindings.is_some();
        let name = ast.name.name.as_str();
        let is_known = self.mangled.contains_key(name);
        let mangled = if is_known || is_instance || ast.operator.is_some() {
            self.mangle(name, &params)
        } else {
            name.to_string()
        };
        let mangled = self.unique_name(&mangled);
        hir::Function {
            name: ast.name.name,
            mangled,
            params: Vec::new(),
            result,
            locals: Vec::new(),
            body: None,
            flags: hir::FunctionFlags {
                export: flags.export,
                task: flags.task,
                unmasked: flags.unmasked,
                inline: flags.inline,
                noinline: flags.noinline,
                is_static: flags.is_static,
                is_import: false,
                prelude,
            },
            n_labels: 0,
            head_span: ast.head_span,
            span: ast.span,
        }
    }

    /// A name that tells functions of one name apart: with the types of the parameters.
    fn mangle(&self, name: &str, params: &[TypeId]) -> String {
        let mut mangled = name.to_string();
        for &param in params {
            mangled.push('.');
            self.mangle_type(param, &mut mangled);
        }
        mangled
    }

    fn mangle_type(&self, ty: TypeId, out: &mut String) {
        use hir::{Shape, TypeKind};
        let shape = |shape: Shape| match shape {
            Shape::Uniform => "u".to_string(),
            Shape::Varying => "v".to_string(),
            Shape::Soa(n) => format!("s{n}"),
        };
        match *self.table.types.kind(ty) {
            TypeKind::Scalar(scalar, s) => out.push_str(&format!("{}{scalar}", shape(s))),
            TypeKind::Enum(id, s) => out.push_str(&format!("{}{}", shape(s), self.table.types.enum_def(id).name)),
            TypeKind::Struct(id, s) => out.push_str(&format!("{}{}", shape(s), self.table.types.struct_def(id).name)),
            TypeKind::Pointer { pointee, shape: s } => {
                out.push_str(&format!("{}p_", shape(s)));
                self.mangle_type(pointee, out);
            }
            TypeKind::Reference(target) => {
                out.push_str("r_");
                self.mangle_type(target, out);
            }
            TypeKind::Array(elem, len) => {
                out.push_str(&format!("a{}_", len.unwrap_or(0)));
                self.mangle_type(elem, out);
            }
            TypeKind::Vector(elem, len) => {
                self.mangle_type(elem, out);
                out.push_str(&format!("x{len}"));
            }
            TypeKind::Function(_) => out.push_str("fn"),
            TypeKind::Void => out.push_str("void"),
            TypeKind::Error => out.push_str("error"),
        }
    }

    /// A file-scope type.
    pub fn file_type(&self, name: Symbol) -> Option<TypeId> {
        let own = self.table.type_names.get(&name);
        own.or_else(|| self.base.and_then(|base| base.type_names.get(&name))).copied()
    }
}
