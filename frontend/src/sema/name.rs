//! What names mean.

use super::expr::Operand;
use super::table::{Checker, DeclId, Entity, TemplateId};
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Capture, Expr, ExprKind, LocalId, Place, PlaceBase, TaskBuiltin, TypeId, TypeKind};
use crate::symbol::Symbol;
use foldhash::HashSet;
use spmdvm_vm::{Op, Ty};
use std::sync::Arc;

impl<'a> Checker<'a, '_> {
    /// A name used as a value.
    pub(super) fn name(&mut self, name: ast::Ident, args: Option<&'a [ast::TemplateArg<'a>]>) -> Operand<'a> {
        match self.lookup(name.name) {
            Some(Entity::Local(id, level)) => self.local_operand(id, level, name),
            Some(Entity::Global(id)) => {
                let global = self.global_id(id);
                let decl = self.global_decl(id);
                if let Some(value) = &decl.value {
                    return Operand::Constant(
                        Expr { span: name.span, ..value.clone() },
                        self.global_place(global, name),
                    );
                }
                Operand::Place(self.global_place(global, name))
            }
            Some(Entity::Constant(value)) => Operand::Value(Expr { span: name.span, ..value }),
            Some(Entity::Functions(decls, templates)) => Operand::Functions { name, decls, templates, args },
            None => match self.builtin(name) {
                Some(value) => Operand::Value(value),
                None => {
                    self.undefined(name);
                    Operand::Value(Expr::error(name.span))
                }
            },
        }
    }

    /// The entity of a name: locals, template constants, the file's, the library's. Functions of the file and of the
    /// library overload one another; of two with the same parameters the file's counts.
    pub(super) fn lookup(&self, name: Symbol) -> Option<Entity> {
        if let Some((entity, _)) = self.body.names.get(name) {
            return Some(entity.clone());
        }
        if let Some(bindings) = &self.body.bindings
            && let Some((_, value)) = bindings.values.iter().find(|(known, _)| *known == name)
        {
            return Some(Entity::Constant(value.clone()));
        }
        let own = self.table.names.get(&name);
        let library = self.base.and_then(|base| base.names.get(&name));
        match (own, library) {
            (Some(Entity::Functions(..)), Some(Entity::Functions(..))) if self.body.prelude => library.cloned(),
            (Some(own @ Entity::Functions(..)), Some(Entity::Functions(more, more_templates))) => {
                Some(self.merge_overloads(name, own, more, more_templates))
            }
            (Some(_), Some(entity)) if self.body.prelude => Some(entity.clone()),
            (Some(entity), _) | (None, Some(entity)) => Some(entity.clone()),
            (None, None) => None,
        }
    }

    /// The program's functions of a name with the library's, kept until the program declares another one.
    fn merge_overloads(&self, name: Symbol, own: &Entity, library: &[DeclId], more: &[TemplateId]) -> Entity {
        let Entity::Functions(decls, templates) = own else { return own.clone() };
        if let Some([Entity::Functions(known, known_templates), merged]) = self.merged.borrow().get(&name)
            && Arc::ptr_eq(known, decls)
            && Arc::ptr_eq(known_templates, templates)
        {
            return merged.clone();
        }
        let types = |id: DeclId| self.decl(id).params.iter().map(|&ty| self.without_const(ty)).collect();
        let hides: HashSet<Vec<TypeId>> = decls.iter().map(|&id| types(id)).collect();
        let visible = library.iter().copied().filter(|&id| !hides.contains(&types(id)));
        let merged = Entity::Functions(
            Arc::new(decls.iter().copied().chain(visible).collect()),
            Arc::new(templates.iter().chain(more).copied().collect()),
        );
        self.merged.borrow_mut().insert(name, [own.clone(), merged.clone()]);
        merged
    }

    fn global_place(&self, global: crate::hir::GlobalId, name: ast::Ident) -> Place {
        Place {
            base: PlaceBase::Global(global),
            projections: Vec::new(),
            ty: self.globals[global.0 as usize].ty,
            varying_address: false,
            span: name.span,
        }
    }

    fn local_operand(&mut self, id: LocalId, level: u32, name: ast::Ident) -> Operand<'a> {
        self.info(id).is_used = true;
        if self.info(id).is_behind {
            self.use_behind_block(id, name);
        }
        let id = self.captured(id, level, name);
        let place = self.local_place(id, name.span);
        match &self.body.infos[id.0 as usize].value {
            Some(value) => Operand::Constant(Expr { span: name.span, ..value.clone() }, place),
            None => Operand::Place(place),
        }
    }

    /// Notes that a variable is used behind the `unmasked` block that declares it; the first one is warned of.
    fn use_behind_block(&mut self, id: LocalId, name: ast::Ident) {
        self.local(id).outlives_block = true;
        let declared = self.local(id).span;
        if !std::mem::replace(&mut self.warned_of_unmasked, true) {
            let message = format!("`{}` is used behind the `unmasked` block that declares it", name.name);
            let warning = Diagnostic::new(Code::UsedBehindBlock, name.span, message).label(declared, "declared here");
            self.warn(warning.help("declare it in front of the block"));
        }
    }

    /// The place of a local; of a reference what it refers to.
    pub(super) fn local_place(&mut self, id: LocalId, span: crate::source::Span) -> Place {
        let ty = self.local(id).ty;
        let place = Place { base: PlaceBase::Local(id), projections: Vec::new(), ty, varying_address: false, span };
        self.through_reference(place)
    }

    /// If a reference lies there, the place it refers to.
    pub(super) fn through_reference(&mut self, place: Place) -> Place {
        let TypeKind::Reference(target) = *self.kind(place.ty) else { return place };
        let span = place.span;
        let reference = Expr { ty: place.ty, kind: ExprKind::Load(place), span };
        Place {
            base: PlaceBase::Deref(Box::new(reference)),
            projections: Vec::new(),
            ty: target,
            varying_address: false,
            span,
        }
    }

    /// Inside a nested `foreach`, the uniform variable that stands for a varying one from outside.
    fn captured(&mut self, id: LocalId, level: u32, name: ast::Ident) -> LocalId {
        let ty = self.local(id).ty;
        let depth = self.body.captures.len() as u32;
        if level >= depth || !self.is_varying_through_references(ty) {
            return id;
        }
        if let TypeKind::Reference(_) = self.kind(ty) {
            let message = format!("`{}` refers to varying data of the outer loop's lanes", name.name);
            let error = Diagnostic::new(Code::BadForeachUse, name.span, message).at("inside a nested `foreach`");
            self.error(error.help("copy it to a variable outside the nested `foreach` and use that"));
            return id;
        }
        let boundary = level as usize;
        if let Some(capture) = self.body.captures[boundary].iter().find(|capture| capture.outer == id) {
            return capture.inner;
        }
        let span = self.local(id).span;
        let (uniform, symbol) = (self.as_uniform(ty), self.local(id).name);
        let inner = self.new_local(symbol, uniform, span);
        self.body.infos[inner.0 as usize].frozen = self.body.infos[id.0 as usize].frozen;
        self.body.captures[boundary].push(Capture { outer: id, inner, written: false });
        inner
    }

    fn is_varying_through_references(&self, ty: crate::hir::TypeId) -> bool {
        match *self.kind(ty) {
            TypeKind::Reference(target) => self.is_varying(target),
            _ => self.is_varying(ty),
        }
    }

    /// The local a captured one stands for, if `id` is the inner variable of a capture.
    pub(super) fn capture_of(&mut self, id: LocalId) -> Option<&mut Capture> {
        self.body.captures.iter_mut().flatten().find(|capture| capture.inner == id)
    }

    /// Names the language itself knows.
    fn builtin(&mut self, name: ast::Ident) -> Option<Expr> {
        let text = name.name.as_str();
        let kind = match text {
            "programIndex" => {
                let ty = self.table.types.varying(Ty::I32);
                return Some(Expr { kind: ExprKind::ProgramIndex, ty, span: name.span });
            }
            // Constant as in ISPC, so it is a value and no variable.
            "__mask" => {
                let ty = self.table.types.varying(Ty::Bool);
                let kind = ExprKind::Op { op: Op::MaskGet, ty: Ty::Bool, from: Ty::Bool, args: Vec::new() };
                return Some(Expr { kind, ty, span: name.span });
            }
            "programCount" => ExprKind::Const(self.lanes() as u64),
            "taskIndex" => ExprKind::Task(TaskBuiltin::TaskIndex),
            "taskCount" => ExprKind::Task(TaskBuiltin::TaskCount),
            "taskIndex0" => ExprKind::Task(TaskBuiltin::TaskIndex0),
            "taskIndex1" => ExprKind::Task(TaskBuiltin::TaskIndex1),
            "taskIndex2" => ExprKind::Task(TaskBuiltin::TaskIndex2),
            "taskCount0" => ExprKind::Task(TaskBuiltin::TaskCount0),
            "taskCount1" => ExprKind::Task(TaskBuiltin::TaskCount1),
            "taskCount2" => ExprKind::Task(TaskBuiltin::TaskCount2),
            "threadIndex" => ExprKind::Task(TaskBuiltin::ThreadIndex),
            "threadCount" => ExprKind::Task(TaskBuiltin::ThreadCount),
            _ => return None,
        };
        if let ExprKind::Task(_) = kind
            && !self.body.is_task
        {
            let message = format!("`{text}` is known only inside tasks");
            let error = Diagnostic::new(Code::BadTask, name.span, message);
            self.error(error.help("declare the function `task`, or pass the value as a parameter"));
        }
        // As in ISPC: counts of tasks are unsigned, the number of lanes is not.
        let ty = if let ExprKind::Task(_) = kind { Ty::U32 } else { Ty::I32 };
        let ty = self.table.types.uniform(ty);
        Some(Expr { kind, ty, span: name.span })
    }

    /// Says that a name means nothing.
    pub(super) fn undefined(&mut self, name: ast::Ident) {
        let message = format!("there is no `{}` here", name.name);
        let mut error = Diagnostic::new(Code::UndefinedName, name.span, message).at("not declared");
        if self.diags.is_silent_at(name.span) {
            // Nobody will see what could be advised.
        } else if let Some(advice) = foreign_name(name.name.as_str()) {
            error = error.help(advice);
        } else if let Some(near) = self.nearest_value(name.name) {
            error = error.help(format!("did you mean `{near}`?"));
        } else if self.type_named(name.name).is_some() {
            error = error.help(format!("`{}` is a type, not a value", name.name));
        }
        self.error(error);
    }
}

/// Names of other languages that people expect.
fn foreign_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "printf" | "puts" | "cout" | "println" => "write `print(\"… %\\n\", value)`",
        "fabs" | "fabsf" | "fmin" | "fminf" | "fmax" | "fmaxf" | "sinf" | "cosf" | "sqrtf" | "expf" | "logf"
        | "powf" => "the library's functions are overloaded: `abs`, `min`, `max`, `sin`, `sqrt` …",
        "threadIdx" | "laneId" | "get_local_id" | "get_global_id" => {
            "the lane's index is `programIndex`; `foreach (i = 0 ... n)` gives the element's"
        }
        "blockDim" | "warpSize" | "get_local_size" => "the number of lanes is `programCount`",
        "blockIdx" | "get_group_id" => "the number of a task is `taskIndex`",
        "gridDim" | "get_num_groups" => "the number of tasks is `taskCount`",
        "__syncthreads" | "barrier" | "__syncwarp" => {
            "remove it: the lanes of a gang are always in step; `sync` waits for tasks"
        }
        "static_cast" | "reinterpret_cast" | "const_cast" => "a conversion is written `(int)value`",
        "True" => "write `true`",
        "False" => "write `false`",
        "None" | "nil" | "null" => "write `NULL`",
        "range" | "len" => "the lengths of arrays are passed as parameters; `foreach (i = 0 ... n)` goes over a range",
        "make_float2" | "make_float3" | "make_float4" | "vec2" | "vec3" | "vec4" => {
            "a short vector is initialised in its declaration: `float<3> v = { x, y, z };`"
        }
        "malloc" | "calloc" => "write `new`, or `uniform new` for one allocation for the gang",
        "free" => "write `delete`",
        "nullptr" => "write `NULL`",
        "std" => "there are no namespaces; the library's functions have plain names",
        _ => return None,
    })
}
