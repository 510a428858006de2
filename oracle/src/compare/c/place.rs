//! Places: where they are in C, how they are read and written, and what of that is watched.

use super::body::{Body, Home};
use super::layout;
use super::unit::{Made, refuse};
use spmdvm::frontend::hir::{Expr, Place, PlaceBase, Projection, Shape, TypeId, TypeKind};
use spmdvm::frontend::source::Span;

/// A place, evaluated.
pub struct At {
    /// The variable, or the address of the bytes as a `u8 *`.
    path: Path,
    /// Whether lanes may meet here.
    is_watched: bool,
    /// The type of what lies there; of the vector, if components of it are meant.
    ty: TypeId,
    components: Option<Vec<u8>>,
    span: Span,
}

enum Path {
    Variable(String),
    Address(String),
}

/// The way to a place while it is made.
struct Way {
    address: String,
    ty: TypeId,
    /// Whether it leads through memory in which a varying value takes one element per lane.
    is_of_lanes: bool,
}

impl<'m> Body<'_, 'm> {
    /// Evaluates a place.
    pub fn place(&mut self, place: &'m Place) -> Made<At> {
        let span = place.span;
        let (mut variable, mut is_watched, mut is_of_lanes) = (None, true, false);
        let (mut address, ty) = match &place.base {
            PlaceBase::Local(local) => {
                let name = self.variable(*local, span)?;
                is_watched = self.has_address(*local) && !matches!(self.home(*local), Some(Home::Own(_)));
                variable = Some(name.clone());
                (format!("(u8 *)&{name}"), self.local_type(*local))
            }
            PlaceBase::Global(id) => {
                let global = self.module.global(*id);
                self.c_type(global.ty, span)?;
                is_watched = !global.constant;
                is_of_lanes = self.is_varying(global.ty);
                (self.unit.global(*id), global.ty)
            }
            PlaceBase::Deref(pointer) => {
                let value = self.value(pointer)?;
                (format!("(u8 *){value}"), self.pointee(pointer.ty, span)?)
            }
            PlaceBase::Value(value) => {
                let (c_type, value_ty) = (self.c_type(value.ty, span)?, value.ty);
                let value = self.value(value)?;
                let name = self.temp(&c_type, value);
                is_watched = false;
                variable = Some(name.clone());
                (format!("(u8 *)&{name}"), value_ty)
            }
        };
        let mut components = None;
        let mut way = Way { address: std::mem::take(&mut address), ty, is_of_lanes };
        for projection in &place.projections {
            match projection {
                Projection::Swizzle { components: which, .. } => components = Some(which.clone()),
                _ => self.project(projection, &mut way, span)?,
            }
        }
        let path = match variable {
            Some(name) if place.projections.is_empty() => Path::Variable(name),
            _ => {
                self.pick_lane(&mut way, components.is_some(), span)?;
                Path::Address(self.temp("u8 *", &way.address))
            }
        };
        Ok(At { path, is_watched, ty: way.ty, components, span })
    }

    /// What a pointer or reference leads to.
    fn pointee(&self, pointer: TypeId, span: Span) -> Made<TypeId> {
        match *self.module.types.kind(pointer) {
            TypeKind::Pointer { pointee, .. } => Ok(pointee),
            TypeKind::Reference(target) => Ok(target),
            _ => refuse("a dereference of what is no pointer", span),
        }
    }

    fn project(&mut self, projection: &'m Projection, way: &mut Way, span: Span) -> Made<()> {
        let (module, lanes) = (self.module, self.unit.lanes());
        match projection {
            Projection::Field { field, ty } => {
                let Some(id) = layout::struct_of(module, way.ty) else {
                    return refuse("a member of what is no struct", span);
                };
                let offset = match way.is_of_lanes {
                    true => module.types.field_offset(id, Shape::Varying, *field as usize, lanes),
                    false => layout::offset(module, id, *field),
                };
                way.address = format!("{} + {offset}", way.address);
                way.ty = *ty;
            }
            Projection::Index { index, ty, .. } => {
                self.c_type(*ty, span)?;
                let size = if way.is_of_lanes { module.types.size(*ty, lanes) } else { layout::size(module, *ty) };
                let index = self.value(index)?;
                way.address = format!("{} + (i64){index} * {size}", way.address);
                way.ty = *ty;
            }
            Projection::Instance { .. } => return refuse("`soa` memory", span),
            Projection::Swizzle { .. } => {}
        }
        Ok(())
    }

    /// Goes to the lane's own element, if there is one for each lane.
    fn pick_lane(&mut self, way: &mut Way, has_components: bool, span: Span) -> Made<()> {
        if !way.is_of_lanes {
            return Ok(());
        }
        let Some(ty) = self.module.types.register_ty(way.ty).filter(|_| !has_components) else {
            return refuse("a varying global variable of a struct or vector type, as a whole", span);
        };
        way.address = format!("{} + {} * {}", way.address, self.lane(span)?, ty.size());
        Ok(())
    }

    /// The value in a place.
    pub fn read(&mut self, at: &At) -> Made<String> {
        let c_type = self.c_type(at.ty, at.span)?;
        let Some(components) = &at.components else {
            return Ok(match &at.path {
                Path::Variable(name) => {
                    self.watch_read(at, &format!("&{name}"), &format!("sizeof {name}"));
                    self.temp(&c_type, name)
                }
                Path::Address(address) => self.read_at(at, address, &c_type),
            });
        };
        let (elem, address) = (self.element_type(at)?, at.address());
        let size = elem.size() as u64;
        let name = layout::scalar(elem);
        if let [one] = components[..] {
            return Ok(self.read_at(at, &format!("({address} + {})", u64::from(one) * size), name));
        }
        let block = self.block_of(components.len(), size);
        let whole = self.temp(&block, format!("({block}){{{{0}}}}"));
        for (i, &component) in components.iter().enumerate() {
            let part = self.read_at(at, &format!("({address} + {})", u64::from(component) * size), name);
            self.line(format!("put_{name}(&{whole}, {i}, {part});"));
        }
        Ok(whole)
    }

    /// The type of a block that holds so many components.
    fn block_of(&mut self, n: usize, size: u64) -> String {
        let size = n.next_power_of_two().max(4) as u64 * size;
        self.unit.block(size);
        format!("B{size}")
    }

    fn element_type(&self, at: &At) -> Made<spmdvm::Ty> {
        match layout::elements(self.module, at.ty) {
            Some((ty, ..)) => Ok(ty),
            None => refuse("components of what is no vector", at.span),
        }
    }

    fn read_at(&mut self, at: &At, address: &str, c_type: &str) -> String {
        self.watch_read(at, address, &format!("sizeof({c_type})"));
        let name = format!("t{}", self.number());
        self.line(format!("{c_type} {name}; memcpy(&{name}, {address}, sizeof {name});"));
        name
    }

    /// Writes a value to a place.
    pub fn write(&mut self, at: &At, value: &str) -> Made<()> {
        let c_type = self.c_type(at.ty, at.span)?;
        let Some(components) = &at.components else {
            match &at.path {
                Path::Variable(name) if !at.is_watched => self.line(format!("{name} = {value};")),
                Path::Variable(name) => self.write_at(at, &format!("&{name}"), &c_type, value),
                Path::Address(address) => self.write_at(at, address, &c_type, value),
            }
            return Ok(());
        };
        let (elem, address) = (self.element_type(at)?, at.address());
        let (name, size) = (layout::scalar(elem), elem.size() as u64);
        for (i, &component) in components.iter().enumerate() {
            let part = if components.len() == 1 { value.to_owned() } else { format!("get_{name}(&{value}, {i})") };
            self.write_at(at, &format!("({address} + {})", u64::from(component) * size), name, &part);
        }
        Ok(())
    }

    fn write_at(&mut self, at: &At, address: &str, c_type: &str, value: &str) {
        let value = self.temp(c_type, value);
        if at.is_watched && self.in_lanes {
            let line = self.unit.line(at.span);
            self.line(format!("before_write({address}, &{value}, sizeof {value}, {line});"));
        }
        self.line(format!("memcpy({address}, &{value}, sizeof {value});"));
    }

    fn watch_read(&mut self, at: &At, address: &str, size: &str) {
        if at.is_watched && self.in_lanes {
            let line = self.unit.line(at.span);
            self.line(format!("before_read({address}, {size}, {line});"));
        }
    }

    /// Fails where assigning to a place would not be the same lane by lane.
    pub fn check_assignment(&self, place: &Place) -> Made<()> {
        let PlaceBase::Local(local) = place.base else { return Ok(()) };
        if !self.in_lanes || self.is_serial || self.is_varying(self.local_type(local)) {
            return Ok(());
        }
        match self.home(local) {
            Some(Home::Own(depth)) if self.divergence > depth => {
                refuse("a uniform variable is set where lanes have parted", place.span)
            }
            Some(Home::Own(_)) if place.varying_address => refuse("lanes share a uniform variable", place.span),
            Some(Home::Gang) if !self.has_address(local) => {
                refuse("a uniform variable is set once for all lanes", place.span)
            }
            _ => Ok(()),
        }
    }

    /// The address of a place.
    pub fn address_of(&mut self, place: &'m Place) -> Made<String> {
        match place.base {
            PlaceBase::Local(local) => {
                let is_shared = self.in_lanes && !self.is_serial && !self.is_varying(self.local_type(local));
                if is_shared && matches!(self.home(local), Some(Home::Own(_))) {
                    return refuse("the address of a uniform variable that lanes share", place.span);
                }
            }
            PlaceBase::Global(id) if self.is_varying(self.module.global(id).ty) => {
                return refuse("the address of a varying global variable", place.span);
            }
            _ => {}
        }
        let at = self.place(place)?;
        let offset = match (&at.components, layout::elements(self.module, at.ty)) {
            (Some(which), Some((ty, ..))) => which.first().map_or(0, |&c| u64::from(c) * ty.size() as u64),
            _ => 0,
        };
        Ok(self.temp("u64", format!("(u64)({} + {offset})", at.address())))
    }

    /// The place of an expression that only names a variable or something fixed in it.
    pub fn is_fixed(place: &Place) -> bool {
        matches!(place.base, PlaceBase::Local(_)) && place.projections.iter().all(Projection::is_static)
    }

    /// What `++`, `+=` and such do with a place: reads it, and writes what `change` makes of the value; gives both.
    pub fn change(
        &mut self,
        place: &'m Place,
        operand: Option<&'m Expr>,
        change: impl FnOnce(&mut Self, &str, Option<&str>) -> Made<String>,
    ) -> Made<(String, String)> {
        self.check_assignment(place)?;
        let at = self.place(place)?;
        let operand = operand.map(|operand| self.value(operand)).transpose()?;
        let old = self.read(&at)?;
        let new = change(self, &old, operand.as_deref())?;
        self.write(&at, &new)?;
        Ok((old, new))
    }
}

impl At {
    fn address(&self) -> String {
        match &self.path {
            Path::Variable(name) => format!("(u8 *)&{name}"),
            Path::Address(address) => address.clone(),
        }
    }
}
