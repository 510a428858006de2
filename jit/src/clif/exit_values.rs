//! What an exit writes, and how: as materialisations, from which the code is made once the region is translated.
//!
//! A snapshot has the interpreter's registers, its masks, and a few words besides. Each is *something* that goes to a *place*.
//! Where an exit stands, what goes there is often at hand: it has been made, or lies in its home, or is a constant. Then a
//! materialisation says what to make of it, and exits with the same materialisation for the same place can share the code (`exit_stubs`).

use super::demand::lane_type;
use super::homes::Home;
use super::memory::UNALIGNED;
use super::translate::Translator;
use crate::ir::{ExitId, Kind, Type, Value};
use crate::lowering::{Area, ExitValue, ExitWrite, exit_writes};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::types::Ty;

/// Where something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub area: Area,
    pub at: i32,
}

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Made(clif::Value),
    /// From its home.
    Home(Home, clif::Type),
    Constant(Ty, u64),
}

/// How.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum How {
    /// As it is, piece after piece.
    Plain,
    /// One scalar in every lane of so many vectors.
    Splat(Ty, usize),
    /// The pieces of a mask as bytes 0 or 1.
    Bytes,
    /// The pieces of a mask as a word.
    Bits,
    /// 32 bits as 64.
    Wide,
}

/// How to make a value of what is at hand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Materialisation {
    form: How,
    sources: Vec<Source>,
}

impl Materialisation {
    fn of(form: How, source: Source) -> Materialisation {
        Materialisation { form, sources: vec![source] }
    }
}

impl Translator<'_> {
    /// The place of a cell of memory, if it is one scalar or whole vectors.
    pub(super) fn cell_place(&self, at: u64, ty: Type) -> Option<Slot> {
        let whole = !ty.is_varying() || (ty.ty.size() * self.lanes).is_multiple_of(16);
        let at = i32::try_from(at).ok().filter(|_| whole)?;
        Some(Slot { area: Area::Memory, at })
    }

    /// All that an exit writes, but for cells that have no place; cells first.
    pub(super) fn snapshot(&self, exit: ExitId) -> Vec<(Slot, ExitValue)> {
        let mut writes = exit_writes(self.region, exit);
        writes.sort_by_key(|write| write.area != Area::Memory);
        let placed = |write: ExitWrite| match write.what {
            ExitValue::Value(ty, _) if write.area == Area::Memory => Some((self.cell_place(write.at, ty)?, write.what)),
            _ => Some((Slot { area: write.area, at: write.at as i32 }, write.what)),
        };
        writes.into_iter().filter_map(placed).collect()
    }

    /// How to make a value of what is at hand here; `None` if something must be computed first.
    pub(super) fn materialisation(&self, value: ExitValue) -> Option<Materialisation> {
        match value {
            ExitValue::Zero => Some(Materialisation::of(How::Plain, Source::Constant(Ty::U64, 0))),
            ExitValue::Word(v) => {
                let form = if self.region.ty(v).ty.size() == 8 { How::Plain } else { How::Wide };
                Some(Materialisation::of(form, self.scalar_source(v)?))
            }
            ExitValue::MaskBits(v) => self.bits_materialisation(v),
            ExitValue::Value(ty, v) if !ty.is_varying() => {
                Some(Materialisation::of(How::Plain, self.scalar_source(v)?))
            }
            ExitValue::Value(ty, v) if ty.ty == Ty::Bool => {
                self.region.ty(v).is_varying().then(|| self.mask_materialisation(How::Bytes, v))?
            }
            ExitValue::Value(Type { ty, .. }, v) => {
                let n = self.plan.pieces(ty.size());
                if let Some(bits) = self.values.constant_lanes(v) {
                    return Some(Materialisation::of(How::Splat(ty, n), Source::Constant(ty, bits)));
                }
                if !self.region.ty(v).is_varying() {
                    return Some(Materialisation::of(How::Splat(ty, n), self.scalar_source(v)?));
                }
                let sources = (0..n).map(|i| self.source_of(v, i)).collect::<Option<_>>()?;
                Some(Materialisation { form: How::Plain, sources })
            }
        }
    }

    fn bits_materialisation(&self, v: Value) -> Option<Materialisation> {
        if let Some(bits) = self.values.mask_bits(v) {
            return Some(Materialisation::of(How::Plain, Source::Constant(Ty::U64, bits)));
        }
        let made = || Some(Materialisation::of(How::Plain, Source::Made(self.made(self.plan.bits_slot(v))?)));
        // The pieces first: those are the same wherever they are needed.
        if self.is_entry_mask(v) { made() } else { self.mask_materialisation(How::Bits, v).or_else(made) }
    }

    fn mask_materialisation(&self, form: How, v: Value) -> Option<Materialisation> {
        if self.values.mask_bits(v).is_some() || self.is_entry_mask(v) {
            return None;
        }
        let sources = (0..self.plan.n_pieces(v)).map(|i| self.source_of(v, i)).collect::<Option<_>>()?;
        Some(Materialisation { form, sources })
    }

    fn is_entry_mask(&self, v: Value) -> bool {
        self.values.inst(v).is_some_and(|inst| matches!(inst.kind, Kind::EntryMask(_)))
    }

    fn scalar_source(&self, v: Value) -> Option<Source> {
        match self.values.constant(v) {
            Some(bits) => Some(Source::Constant(self.region.ty(v).ty, bits)),
            None => self.source_of(v, 0),
        }
    }

    /// Piece `i` of a value in the form in which it passes between blocks.
    fn source_of(&self, v: Value, i: usize) -> Option<Source> {
        let made = self.made(self.home_slot(v, i));
        let is_at_home = match self.homes.of(v) {
            Some(Home::Frame(_)) => true,
            Some(Home::Stack(_)) => made.is_some() || self.values.inst_in(self.block, v).is_none(),
            None => false,
        };
        match self.homes.of(v) {
            Some(home) if is_at_home => Some(Source::Home(home.piece(i), self.piece_type(v))),
            _ => made.map(Source::Made),
        }
    }

    /// Makes a value by its materialisation: pieces, to be written one after another.
    pub(super) fn materialise(&mut self, materialisation: &Materialisation) -> Vec<clif::Value> {
        let sources = &materialisation.sources;
        match materialisation.form {
            How::Plain => sources.iter().map(|&s| self.source_value(s)).collect(),
            How::Splat(ty, n) => match sources[0] {
                Source::Constant(_, bits) => vec![self.constant_vector(lane_type(ty), bits); n],
                source => {
                    let x = self.source_value(source);
                    vec![self.b.ins().splat(lane_type(ty), x); n]
                }
            },
            How::Bytes => {
                let bytes = self.mask_bytes(sources);
                bytes.into_iter().map(|x| self.zero_or_one(x)).collect()
            }
            How::Bits => {
                let bytes = self.mask_bytes(sources);
                vec![self.bits_of_bytes(&bytes)]
            }
            How::Wide => {
                let x = self.source_value(sources[0]);
                vec![self.b.ins().uextend(types::I64, x)]
            }
        }
    }

    fn source_value(&mut self, source: Source) -> clif::Value {
        match source {
            Source::Made(x) => x,
            Source::Home(home, ty) => self.read_home(home, ty),
            Source::Constant(ty, bits) => self.constant(ty, bits),
        }
    }

    /// The pieces of a mask in the lane width of bytes.
    fn mask_bytes(&mut self, sources: &[Source]) -> Vec<clif::Value> {
        let mut pieces: Vec<_> = sources.iter().map(|&s| self.source_value(s)).collect();
        while self.b.func.dfg.value_type(pieces[0]) != types::I8X16 {
            pieces = pieces.chunks(2).map(|pair| self.narrow_mask(pair[0], pair[pair.len() - 1])).collect();
        }
        pieces
    }

    /// Makes a value by computing what it takes: pieces, to be written one after another.
    pub(super) fn compute(&mut self, value: ExitValue) -> Vec<clif::Value> {
        match value {
            ExitValue::Zero => vec![self.b.ins().iconst(types::I64, 0)],
            ExitValue::Word(v) => {
                let x = self.scalar(v);
                let is_word = self.region.ty(v).ty.size() == 8;
                vec![if is_word { x } else { self.b.ins().uextend(types::I64, x) }]
            }
            ExitValue::MaskBits(v) => vec![self.mask_bits(v)],
            ExitValue::Value(ty, v) if !ty.is_varying() => vec![self.scalar(v)],
            // Whole vectors: a register has room for 16 lanes at least.
            ExitValue::Value(Type { ty, .. }, v) => (0..self.plan.pieces(ty.size()))
                .map(|i| if ty == Ty::Bool { self.bool_bytes(v, i) } else { self.piece(v, i) })
                .collect(),
        }
    }

    /// The address from which places are counted; loaded once in a block.
    pub(super) fn base(&mut self, area: Area) -> clif::Value {
        let here = self.b.current_block();
        if let Some((block, address)) = self.bases[area as usize]
            && Some(block) == here
        {
            return address;
        }
        let address = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.context, area.offset() as i32);
        self.bases[area as usize] = here.map(|block| (block, address));
        address
    }

    /// Writes the pieces of a value.
    pub(super) fn write(&mut self, place: Slot, pieces: &[clif::Value]) {
        let base = self.base(place.area);
        let flags = if place.area == Area::Memory { UNALIGNED } else { MemFlagsData::trusted() };
        for (i, &x) in pieces.iter().enumerate() {
            self.b.ins().store(flags, x, base, place.at + 16 * i as i32);
        }
    }
}
