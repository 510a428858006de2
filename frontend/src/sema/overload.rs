//! Which function a call means.
//!
//! As in ISPC each conversion of an argument has a cost, and the function with the least sum is called. The costs are scaled
//! such that one worse conversion outweighs any number of better ones; conversions of constants cost less than all others.
//!
//! | cost | conversion |
//! |---|---|
//! | 0 | none; `NULL` to any pointer |
//! | 1 | `const` dropped or added |
//! | 2 | to a reference; from a reference variable to a value; a variable to a `const` reference (2 more) |
//! | 8 | widening (to a type that can hold more, of the same kind or from bool) |
//! | 16 | uniform to varying |
//! | 64 | any other, shape kept |
//! | 128 | uniform to varying and widening |
//! | 192 | uniform to varying and any other |
//!
//! Of functions that cost the same, the one that changes fewer integers between signed and unsigned is called (where ISPC
//! finds the call ambiguous).

use super::convert::Mismatch;
use super::expr::Operand;
use super::table::{Checker, DeclId, TemplateId};
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, Place, PlaceBase, StructId, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use crate::symbol::Symbol;
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::Ty;
use std::sync::Arc;

/// An argument of a call whose function is not known yet.
#[derive(Clone, Debug)]
pub(super) struct Argument<'a> {
    /// What it is.
    pub value: ArgumentValue<'a>,
    /// Its type as a value.
    pub ty: TypeId,
    /// Where it stands.
    pub span: Span,
}

/// What an argument is.
#[derive(Clone, Debug)]
pub(super) enum ArgumentValue<'a> {
    /// A value.
    Value(Expr),
    /// A place, with the value it is known to have.
    Place(Place, Option<Expr>),
    /// A name of functions.
    Functions(Operand<'a>, Arc<Vec<DeclId>>),
    /// `{…}`.
    Aggregate(&'a ast::Expr<'a>),
}

impl<'a> Argument<'a> {
    /// The operand that it was made of.
    pub(super) fn into_operand(self) -> Operand<'a> {
        match self.value {
            ArgumentValue::Value(value) => Operand::Value(value),
            ArgumentValue::Place(place, None) => Operand::Place(place),
            ArgumentValue::Place(place, Some(value)) => Operand::Constant(value, place),
            ArgumentValue::Functions(operand, _) => operand,
            ArgumentValue::Aggregate(_) => Operand::Value(Expr::error(self.span)),
        }
    }

    fn place(&self) -> Option<&Place> {
        match &self.value {
            ArgumentValue::Place(place, _) => Some(place),
            _ => None,
        }
    }

    fn constant(&self) -> Option<&Expr> {
        match &self.value {
            ArgumentValue::Value(value) | ArgumentValue::Place(_, Some(value)) => {
                value.constant_bits().is_some().then_some(value)
            }
            _ => None,
        }
    }

    /// Whether it is a variable of reference type.
    fn is_reference(&self, checker: &Checker<'_, '_>) -> bool {
        self.place().is_some_and(|place| match &place.base {
            PlaceBase::Deref(pointer) if place.projections.is_empty() => {
                matches!(checker.kind(pointer.ty), TypeKind::Reference(_))
            }
            _ => false,
        })
    }
}

/// So many functions of one name are tried one after another.
const FEW: usize = 32;

/// Functions of one name by the struct of their first parameter, if that is one or a reference to one.
#[derive(Debug)]
pub(super) struct ByStruct {
    all: Arc<Vec<DeclId>>,
    groups: HashMap<Option<StructId>, Arc<Vec<DeclId>>>,
    /// Whether the first parameter of one is of a type that could not be made out, which accepts everything.
    has_errors: bool,
}

/// Why a function does not accept an argument.
enum Refusal {
    /// The conversion is impossible.
    Type(Mismatch),
    /// A reference cannot be bound to it.
    Reference(&'static str),
}

impl<'a> Checker<'a, '_> {
    /// Evaluates the arguments of a call. `None` if one has an error.
    pub(super) fn arguments(&mut self, args: &'a [&'a ast::Expr<'a>]) -> Option<Vec<Argument<'a>>> {
        let mut arguments = Vec::with_capacity(args.len());
        for arg in args {
            let argument = if let ast::ExprKind::Aggregate(_) = arg.kind {
                Argument { value: ArgumentValue::Aggregate(arg), ty: TypeTable::VOID, span: arg.span }
            } else {
                let operand = self.operand(arg);
                self.argument(operand, arg.span)
            };
            arguments.push(argument);
        }
        arguments.iter().all(|argument| argument.ty != TypeTable::ERROR).then_some(arguments)
    }

    /// An operand as an argument.
    pub(super) fn argument(&mut self, operand: Operand<'a>, span: Span) -> Argument<'a> {
        match operand {
            Operand::Value(value) => {
                let place = matches!(self.kind(value.ty), TypeKind::Reference(_));
                if place {
                    let place = self.temporary(value);
                    return self.argument(Operand::Place(place), span);
                }
                let ty = value.ty;
                Argument { value: ArgumentValue::Value(value), ty, span }
            }
            Operand::Place(place) => {
                let ty = self.decayed_type(&place);
                Argument { value: ArgumentValue::Place(place, None), ty, span }
            }
            Operand::Constant(value, place) => {
                let ty = value.ty;
                Argument { value: ArgumentValue::Place(place, Some(value)), ty, span }
            }
            Operand::Functions { ref decls, args, .. } => {
                let decls = decls.clone();
                let ty = match decls.as_slice() {
                    [decl] if args.is_none() => {
                        let function = self.function_type(*decl);
                        self.pointer_to(function, crate::hir::Shape::Uniform)
                    }
                    _ => TypeTable::VOID,
                };
                Argument { value: ArgumentValue::Functions(operand, decls), ty, span }
            }
        }
    }

    /// The type of a place's value, without reading it.
    fn decayed_type(&mut self, place: &Place) -> TypeId {
        match *self.kind(place.ty) {
            TypeKind::Array(elem, _) => {
                let shape = if place.varying_address { crate::hir::Shape::Varying } else { crate::hir::Shape::Uniform };
                self.pointer_to(elem, shape)
            }
            TypeKind::Function(_) => self.pointer_to(place.ty, crate::hir::Shape::Uniform),
            _ => self.value_type(place),
        }
    }

    /// The function a call means; reported if there is none or no single one.
    pub(super) fn resolve_overload(
        &mut self,
        name: ast::Ident,
        decls: &Arc<Vec<DeclId>>,
        templates: &[TemplateId],
        template_args: Option<&'a [ast::TemplateArg<'a>]>,
        args: &[Argument<'a>],
        span: Span,
    ) -> Option<DeclId> {
        let none = Arc::default();
        let functions = if template_args.is_some() { &none } else { decls };
        let likely = self.likely(name.name, functions, args);
        let best = self.best(&likely, args);
        let instances: Vec<DeclId> =
            templates.iter().filter_map(|&template| self.deduce(template, template_args, args, span)).collect();
        let best_instance = self.best(&instances, args);
        let chosen = match (best, best_instance) {
            (Some(a), Some(b)) if b.cost < a.cost => b,
            (Some(a), _) => a,
            (None, Some(b)) => b,
            (None, None) => {
                self.report_no_match(name, functions, templates, args, span);
                return None;
            }
        };
        if let [single] = chosen.decls.as_slice() {
            self.warn_better_elsewhere(name, *single, &likely, args, span);
            return Some(*single);
        }
        self.report_ambiguous(name, &chosen.decls, span);
        None
    }

    /// The function for an overloaded operator, if one fits; nothing is reported.
    pub(super) fn quiet_overload(
        &mut self,
        name: Symbol,
        decls: &Arc<Vec<DeclId>>,
        templates: &[TemplateId],
        args: &[Argument<'a>],
        span: Span,
    ) -> Option<DeclId> {
        let likely = self.likely(name, decls, args);
        let best = self.best(&likely, args);
        let instances: Vec<DeclId> =
            templates.iter().filter_map(|&template| self.deduce(template, None, args, span)).collect();
        let best = best.or_else(|| self.best(&instances, args))?;
        best.decls.first().copied()
    }

    /// Of many functions of one name those that can accept the arguments, as far as their first struct tells: what is a
    /// struct converts to no other one and to nothing else, and numbers convert to no struct.
    fn likely(&mut self, name: Symbol, decls: &Arc<Vec<DeclId>>, args: &[Argument<'a>]) -> Arc<Vec<DeclId>> {
        let Some(first) = args.first().filter(|_| decls.len() > FEW) else { return Arc::clone(decls) };
        let is_value = matches!(first.value, ArgumentValue::Value(_) | ArgumentValue::Place(..));
        let is_null = first.constant().is_some_and(|value| self.is_null(value));
        let key = match *self.kind(first.ty) {
            TypeKind::Struct(id, _) => Some(id),
            TypeKind::Scalar(..) | TypeKind::Enum(..) => None,
            _ => return Arc::clone(decls),
        };
        if !is_value || is_null {
            return Arc::clone(decls);
        }
        if self.by_struct.get(&name).is_none_or(|known| !Arc::ptr_eq(&known.all, decls)) {
            let sorted = self.sort_by_struct(decls);
            self.by_struct.insert(name, sorted);
        }
        match self.by_struct.get(&name) {
            Some(known) if !known.has_errors => known.groups.get(&key).cloned().unwrap_or_default(),
            _ => Arc::clone(decls),
        }
    }

    fn sort_by_struct(&self, decls: &Arc<Vec<DeclId>>) -> ByStruct {
        let mut groups: HashMap<Option<StructId>, Vec<DeclId>> = HashMap::new();
        let mut has_errors = false;
        for &decl in decls.iter() {
            let Some(&param) = self.decl(decl).params.first() else { continue };
            let target = match *self.kind(param) {
                TypeKind::Reference(target) => target,
                _ => param,
            };
            has_errors |= matches!(self.kind(target), TypeKind::Error);
            let key = match *self.kind(target) {
                TypeKind::Struct(id, _) => Some(id),
                _ => None,
            };
            groups.entry(key).or_default().push(decl);
        }
        let groups = groups.into_iter().map(|(key, list)| (key, Arc::new(list))).collect();
        ByStruct { all: Arc::clone(decls), groups, has_errors }
    }

    fn best(&mut self, decls: &[DeclId], args: &[Argument<'a>]) -> Option<Best> {
        let mut best: Option<Best> = None;
        for &decl in decls {
            let Some(costs) = self.costs(decl, args) else { continue };
            let cost = (costs.iter().sum(), self.splats(decl, args), self.sign_changes(decl, args));
            match &mut best {
                Some(best) if cost == best.cost => best.decls.push(decl),
                Some(best) if cost > best.cost => {}
                _ => best = Some(Best { cost, decls: vec![decl] }),
            }
        }
        best
    }

    /// How many numbers become short vectors: decides between functions that cost the same.
    fn splats(&self, decl: DeclId, args: &[Argument<'a>]) -> usize {
        let pairs = args.iter().zip(&self.decl(decl).params).map(|(arg, &param)| (self.kind(arg.ty), self.kind(param)));
        pairs.filter(|pair| matches!(pair, (TypeKind::Scalar(..), TypeKind::Vector(..)))).count()
    }

    /// How many integer arguments change between signed and unsigned: decides where that does not, either.
    fn sign_changes(&self, decl: DeclId, args: &[Argument<'a>]) -> usize {
        let signed = |ty: TypeId| match *self.kind(ty) {
            TypeKind::Scalar(ty, _) if ty.is_int() => Some(ty.is_signed()),
            _ => None,
        };
        let params = &self.decl(decl).params;
        let pairs = args.iter().zip(params).map(|(arg, &param)| (signed(arg.ty), signed(param)));
        pairs.filter(|pair| matches!(pair, (Some(from), Some(to)) if from != to)).count()
    }

    /// The cost of each argument, if the function accepts them all.
    fn costs(&mut self, decl: DeclId, args: &[Argument<'a>]) -> Option<Vec<u64>> {
        if !self.accepts_count(decl, args.len()) {
            return None;
        }
        let scale = args.len() as u64 + 1;
        let mut costs = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let param = self.decl(decl).params[index];
            let weight = if arg.constant().is_some() { scale } else { scale * 512 };
            costs.push(self.cost(param, arg).ok()? * weight);
        }
        Some(costs)
    }

    fn accepts_count(&self, decl: DeclId, count: usize) -> bool {
        let decl = self.decl(decl);
        count <= decl.params.len() && decl.defaults[count.min(decl.defaults.len())..].iter().all(Option::is_some)
    }

    fn cost(&mut self, param: TypeId, arg: &Argument<'a>) -> Result<u64, Refusal> {
        match &arg.value {
            ArgumentValue::Aggregate(_) => return self.aggregate_cost(param),
            ArgumentValue::Functions(_, decls) => return self.functions_cost(param, decls, arg.ty),
            _ => {}
        }
        if let TypeKind::Reference(target) = *self.kind(param) {
            return self.reference_cost(target, arg);
        }
        let is_pointer = matches!(self.kind(param), TypeKind::Pointer { .. });
        if is_pointer && arg.constant().is_some_and(|value| self.is_null(value)) {
            return Ok(0);
        }
        let is_const = arg.place().is_some_and(|place| self.is_const(place.ty));
        let from_reference = if arg.is_reference(self) { 2 } else { 0 };
        let (from, to) = (self.strip_const(arg.ty), self.strip_const(param));
        if from == to {
            let differs = is_const != self.is_const(param) || from_reference != 0;
            return Ok(from_reference + u64::from(differs));
        }
        self.can_convert(from, to).map_err(Refusal::Type)?;
        Ok(from_reference + self.conversion_cost(from, to))
    }

    fn conversion_cost(&mut self, from: TypeId, to: TypeId) -> u64 {
        let broadcast = !self.is_varying(from) && self.is_varying(to);
        let source = if broadcast { self.as_varying(from) } else { from };
        if source == to {
            return 16;
        }
        let widens = match (self.kind(source), self.kind(to)) {
            (TypeKind::Scalar(a, _), TypeKind::Scalar(b, _)) => widens(*a, *b),
            _ => false,
        };
        match (broadcast, widens) {
            (false, true) => 8,
            (false, false) => 64,
            (true, true) => 128,
            (true, false) => 192,
        }
    }

    fn reference_cost(&mut self, target: TypeId, arg: &Argument<'a>) -> Result<u64, Refusal> {
        let wanted = self.strip_const(target);
        let is_const = self.is_const(target);
        let Some(place) = arg.place().filter(|place| self.is_addressable(place)) else {
            let from = self.strip_const(arg.ty);
            return match from == wanted {
                true if is_const => Ok(4),
                true => Ok(2),
                false => Err(Refusal::Type(Mismatch::Incompatible)),
            };
        };
        let found = self.strip_const(place.ty);
        let same_array = matches!((self.kind(found), self.kind(wanted)),
            (TypeKind::Array(a, _), TypeKind::Array(b, None)) if a == b);
        if found != wanted && !same_array {
            return Err(Refusal::Type(Mismatch::Incompatible));
        }
        if place.varying_address {
            return Err(Refusal::Reference("a reference cannot refer to a different address in each lane"));
        }
        match (self.is_const(place.ty), is_const) {
            (true, false) => Err(Refusal::Reference("a reference that is not `const` cannot refer to what is `const`")),
            (false, true) => Ok(4),
            _ if arg.is_reference(self) => Ok(0),
            _ => Ok(2),
        }
    }

    fn aggregate_cost(&self, param: TypeId) -> Result<u64, Refusal> {
        match self.kind(param) {
            TypeKind::Struct(..) | TypeKind::Vector(..) => Ok(0),
            TypeKind::Scalar(..) => Ok(64),
            _ => Err(Refusal::Type(Mismatch::Incompatible)),
        }
    }

    fn functions_cost(&mut self, param: TypeId, decls: &[DeclId], ty: TypeId) -> Result<u64, Refusal> {
        if let TypeKind::Pointer { pointee, shape } = *self.kind(param) {
            if decls.iter().any(|&decl| self.function_type(decl) == pointee) {
                return Ok(if shape == crate::hir::Shape::Varying { 16 } else { 0 });
            }
            if ty != TypeTable::VOID && self.can_convert(ty, param).is_ok() {
                return Ok(64);
            }
        }
        Err(Refusal::Type(Mismatch::Incompatible))
    }

    /// The arguments of a call to `decl`, converted; defaults are filled in.
    pub(super) fn convert_arguments(&mut self, decl: DeclId, args: Vec<Argument<'a>>) -> Vec<Expr> {
        let params = self.decl(decl).params.clone();
        let count = args.len();
        let mut values: Vec<Expr> = args.into_iter().zip(&params).map(|(arg, &param)| self.pass(arg, param)).collect();
        self.add_defaults(decl, &params, count, &mut values);
        values
    }

    /// Appends the default arguments of the parameters from number `count` on.
    pub(super) fn add_defaults(&mut self, decl: DeclId, params: &[TypeId], count: usize, values: &mut Vec<Expr>) {
        for (index, &param) in params.iter().enumerate().skip(count) {
            if let Some(default) = self.decl(decl).defaults[index] {
                let value = self.at_file_scope(decl, |checker| checker.initializer(default, param));
                values.push(value);
            }
        }
    }

    /// An argument as a parameter of type `param` gets it.
    pub(super) fn pass(&mut self, arg: Argument<'a>, param: TypeId) -> Expr {
        if let ArgumentValue::Aggregate(init) = arg.value {
            return self.initializer(init, param);
        }
        let span = arg.span;
        let operand = arg.into_operand();
        if let TypeKind::Reference(_) = self.kind(param) {
            return self.bind_reference(operand, param, span, "this argument");
        }
        let value = self.value_of_for(operand, param);
        self.convert(value, param, "this argument")
    }

    fn report_no_match(
        &mut self,
        name: ast::Ident,
        decls: &[DeclId],
        templates: &[TemplateId],
        args: &[Argument<'a>],
        span: Span,
    ) {
        if self.too_many_instances.is_some() {
            return;
        }
        if self.diags.is_silent_at(span) {
            return self.error_at(Code::NoMatchingFunction, span, format!("no function `{}` fits", name.name));
        }
        let types: Vec<String> = args.iter().map(|arg| self.show_argument(arg)).collect();
        let message = match (decls.len() + templates.len(), args.len()) {
            (1, _) => format!("`{}` does not accept these arguments", name.name),
            _ => format!("no function `{}` accepts ({})", name.name, types.join(", ")),
        };
        let mut error = Diagnostic::new(Code::NoMatchingFunction, span, message);
        if let ([only], []) = (decls, templates) {
            let reason = self.refusal(*only, args);
            error = error.at(reason.1);
            if let Some(place) = reason.0 {
                error.labels[0].span = place;
            }
            let decl = self.decl(*only);
            if !decl.prelude {
                error = error.label(decl.ast.head_span, "declared here");
            }
            let signature = self.signature(*only);
            self.error(error.note(format!("it is declared as `{signature}`")));
            return;
        }
        // The library's overloads differ only in their types.
        let shown = if decls.iter().all(|&decl| self.decl(decl).prelude) { 3 } else { 8 };
        let mut listed: Vec<(bool, String)> = Vec::new();
        for &decl in decls {
            let fits_count = self.accepts_count(decl, args.len());
            let (_, reason) = self.refusal(decl, args);
            listed.push((!fits_count, format!("`{}`: {reason}", self.signature(decl))));
        }
        for &template in templates {
            let function = &self.template(template).function;
            let (name, head) = (function.name.name.as_str(), self.sources.text(function.head_span));
            // A template that a macro made has the span of the macro's use.
            let written = head.contains(name);
            let head =
                if written { head.split_whitespace().collect::<Vec<_>>().join(" ") } else { format!("{name}(…)") };
            listed.push((true, format!("template `{head}`: its parameters cannot be deduced to fit")));
        }
        // Those with the right number of parameters are the likelier ones.
        listed.sort_by_key(|(unlikely, _)| *unlikely);
        let more = listed.len().saturating_sub(shown);
        for (_, line) in listed.into_iter().take(shown) {
            error = error.note(line);
        }
        if more > 0 {
            error = error.note(format!("and {more} more"));
        }
        self.error(error);
    }

    fn show_argument(&self, arg: &Argument<'a>) -> String {
        match &arg.value {
            ArgumentValue::Aggregate(_) => "{…}".into(),
            ArgumentValue::Functions(..) => "a function".into(),
            _ => self.show(arg.ty),
        }
    }

    /// Why a function does not accept the arguments, and which one is to blame.
    fn refusal(&mut self, decl: DeclId, args: &[Argument<'a>]) -> (Option<Span>, String) {
        if !self.accepts_count(decl, args.len()) {
            let decl = self.decl(decl);
            let (most, least) = (decl.params.len(), decl.defaults.iter().take_while(|d| d.is_none()).count());
            let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
            let s = if most == 1 && least == 1 { "" } else { "s" };
            return (None, format!("it takes {count} argument{s}, not {}", args.len()));
        }
        for (index, arg) in args.iter().enumerate() {
            let param = self.decl(decl).params[index];
            let Err(refusal) = self.cost(param, arg) else { continue };
            let (from, to) = (self.show_argument(arg), self.show(param));
            let reason = match refusal {
                Refusal::Type(Mismatch::VaryingToUniform) => {
                    format!("argument {} is varying (`{from}`), but must be `{to}`", index + 1)
                }
                Refusal::Type(_) => format!("argument {} is `{from}`, but must be `{to}`", index + 1),
                Refusal::Reference(why) => format!("argument {} must be `{to}`: {why}", index + 1),
            };
            return (Some(arg.span), reason);
        }
        (None, "it does not fit".into())
    }

    /// A function's declaration as shown in messages.
    pub(super) fn signature(&self, decl: DeclId) -> String {
        let decl = self.decl(decl);
        let params = self.table.types.display_list(&decl.params);
        format!("{} {}({params})", self.show(decl.result), decl.ast.name.name)
    }

    fn report_ambiguous(&mut self, name: ast::Ident, decls: &[DeclId], span: Span) {
        let message = format!("it is not clear which `{}` is meant", name.name);
        let mut error = Diagnostic::new(Code::AmbiguousCall, span, message).at("several fit equally well");
        for &decl in decls.iter().take(6) {
            error = error.note(format!("candidate: `{}`", self.signature(decl)));
        }
        self.error(error.help("cast the arguments to the types meant"));
    }

    /// ISPC calls a call ambiguous if another function fits some argument better than the chosen one.
    fn warn_better_elsewhere(
        &mut self,
        name: ast::Ident,
        chosen: DeclId,
        decls: &[DeclId],
        args: &[Argument<'a>],
        span: Span,
    ) {
        if decls.len() < 2 || args.len() < 2 || self.in_prelude() || self.decl(chosen).prelude {
            return;
        }
        let Some(costs) = self.costs(chosen, args) else { return };
        for &other in decls.iter().filter(|&&other| other != chosen) {
            let Some(others) = self.costs(other, args) else { continue };
            if others.iter().zip(&costs).any(|(theirs, ours)| theirs < ours) {
                let message = format!("another `{}` fits an argument better than the one chosen", name.name);
                let warning = Diagnostic::new(Code::AmbiguousConversion, span, message)
                    .note(format!("chosen: `{}`", self.signature(chosen)))
                    .note(format!("other: `{}`", self.signature(other)));
                self.warn(warning.help("cast the arguments to the types meant"));
                return;
            }
        }
    }
}

/// The best functions found.
struct Best {
    /// The sum of the costs, and what decides between equal ones.
    cost: (u64, usize, usize),
    decls: Vec<DeclId>,
}

/// Whether a conversion between element types is a widening in ISPC's sense.
fn widens(from: Ty, to: Ty) -> bool {
    match from {
        Ty::Bool => true,
        Ty::I8 | Ty::U8 => to != Ty::Bool,
        Ty::I16 | Ty::U16 => !matches!(to, Ty::Bool | Ty::I8 | Ty::U8),
        Ty::I32 | Ty::U32 => matches!(to, Ty::I32 | Ty::U32 | Ty::I64 | Ty::U64),
        Ty::F16 => matches!(to, Ty::F32 | Ty::F64),
        Ty::F32 => to == Ty::F64,
        Ty::I64 | Ty::U64 => matches!(to, Ty::I64 | Ty::U64),
        Ty::F64 => false,
    }
}
