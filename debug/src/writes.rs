//! What a motion writes to memory.

use crate::recording::Probe;
use serde::Serialize;
use spmdvm::Ty;
use spmdvm::vm::isa::Effect;
use spmdvm::vm::trap::{Access, RegionKind};
use spmdvm::vm::{Accessed, Op, View};
use spmdvm_oracle::number::{Number, shown};
use std::sync::Arc;

/// Most writes that are told one by one.
const MAX_TOLD: usize = 256;

/// An element that has been written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Write {
    /// What was written: `a[3]`, or `a local variable + 8 bytes` where there is no name.
    pub place: String,
    /// The lane that wrote it; `None`: it was one write for all.
    pub lane: Option<u32>,
    /// What was there, and what is there now, as text; `None` for copies and fills.
    pub values: Option<(String, String)>,
    /// Number of bytes.
    pub bytes: u64,
}

/// Collects writes while another probe looks for a position.
pub struct Writes<P> {
    /// The other one.
    pub inner: P,
    /// What has been written, the first few.
    pub told: Vec<Write>,
    /// How many more there were.
    pub more: u64,
    pending: Vec<(Accessed, Option<Ty>, Option<u64>)>,
}

impl<P> Writes<P> {
    /// Collects what is written up to where a probe stops.
    pub fn new(inner: P) -> Writes<P> {
        Writes { inner, told: Vec::new(), more: 0, pending: Vec::new() }
    }

    fn settle(&mut self, view: &View<'_>) {
        for (accessed, ty, before) in std::mem::take(&mut self.pending) {
            let value = |bits: Option<u64>| Some(shown(Number(ty?, bits?)));
            let values = value(before).zip(value(ty.and_then(|ty| element(view, &accessed, ty))));
            self.told.push(Write { place: place(view, &accessed), lane: accessed.lane, values, bytes: accessed.bytes });
        }
    }
}

impl<P: Probe> Probe for Writes<P> {
    fn arrived(&mut self, view: &View<'_>, position: u64) -> bool {
        self.settle(view);
        self.inner.arrived(view, position)
    }

    fn leaving(&mut self, view: &View<'_>, position: u64) {
        self.inner.leaving(view, position);
        let inst = view.inst();
        if inst.op.info().effect != Effect::Write {
            return;
        }
        let ty = (!matches!(inst.op, Op::MemCopy | Op::MemSet)).then_some(inst.ty);
        for accessed in view.accesses().into_iter().filter(|accessed| accessed.access == Access::Write) {
            if self.told.len() + self.pending.len() >= MAX_TOLD {
                self.more += 1;
                continue;
            }
            let before = ty.and_then(|ty| element(view, &accessed, ty));
            self.pending.push((accessed, ty, before));
        }
    }
}

fn element(view: &View<'_>, accessed: &Accessed, ty: Ty) -> Option<u64> {
    let mut bytes = [0; 8];
    view.read_accessed(accessed, &mut bytes[..ty.size()]).then(|| u64::from_le_bytes(bytes))
}

/// What the source calls the place of an access.
pub fn place(view: &View<'_>, accessed: &Accessed) -> String {
    let Some(place) = view.place(accessed) else { return "memory that is gone".into() };
    let name: Option<Arc<str>> = place.name;
    let what = match (&name, place.kind) {
        (Some(name), _) => name.to_string(),
        (None, RegionKind::Frame) => "a local variable".into(),
        (None, RegionKind::Heap) => "an allocation".into(),
        (None, _) => "an array".into(),
    };
    let indices: String = place.indices.iter().map(|i| format!("[{i}]")).collect();
    match name.is_some() && !indices.is_empty() {
        true => what + &indices,
        false if place.offset == 0 => what,
        false => format!("{what} + {} bytes", place.offset),
    }
}
