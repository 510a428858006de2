//! In what two events differ.

use crate::number::{Number, shown};
use crate::trace::event::{Access, At, Event, Region, Register, Step};

/// In what two aligned events differ.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// In the active lanes: before or after the instruction.
    Masks(u64, u64),
    /// In values: what they are of, and the lanes (`None`: one value for the gang) with both.
    Values(String, Vec<(Option<u32>, String, String)>),
    /// In what is printed.
    Printed(String, String),
    /// In how the run ends.
    Ends(String, String),
    /// Something that others see happens in one of them alone.
    Alone,
    /// The traces have nothing in common from here on.
    Parted,
}

/// The first difference of two events that are alike.
pub fn events(a: &Event, b: &Event, lanes: &[u32]) -> Option<What> {
    match (a, b) {
        (Event::Step(a), Event::Step(b)) => steps(a, b, lanes),
        (Event::Enter(a), Event::Enter(b)) => {
            masks(a.mask, b.mask).or_else(|| registers(&a.parameters, &b.parameters, a.mask, lanes))
        }
        (Event::Return(a), Event::Return(b)) => {
            masks(a.mask, b.mask).or_else(|| registers(&a.results, &b.results, a.mask, lanes))
        }
        (Event::Print(a), Event::Print(b)) => (a.text != b.text).then(|| What::Printed(a.text.clone(), b.text.clone())),
        (a, b) => {
            let (a, b) = (ending(a), ending(b));
            (a != b).then_some(What::Ends(a, b))
        }
    }
}

/// How a run ends, in words. Where exactly a trap is, compilers may see differently.
fn ending(event: &Event) -> String {
    match event {
        Event::Trap(trap) => {
            let lane = trap.lane.map_or(String::new(), |lane| format!(" in lane {lane}"));
            format!("traps with {}{lane}", trap.kind)
        }
        _ => "ends without a trap".into(),
    }
}

fn masks(a: u64, b: u64) -> Option<What> {
    (a != b).then_some(What::Masks(a, b))
}

fn steps(a: &Step, b: &Step, lanes: &[u32]) -> Option<What> {
    let after = |step: &Step| step.mask_after.unwrap_or(step.mask);
    let active = a.mask | after(a);
    masks(a.mask, b.mask)
        .or_else(|| memory(a, b))
        .or_else(|| if is_own(&a.site.op) { None } else { registers(&a.writes, &b.writes, active, lanes) })
        .or_else(|| masks(after(a), after(b)))
}

/// Returns whether what an operation gives is a matter of the run or the compiler: addresses and times.
fn is_own(op: &str) -> bool {
    matches!(op, "padd" | "global.addr" | "frame.addr" | "func.addr" | "alloc" | "clock" | "thread.index")
}

/// Registers in the order they are listed, in active lanes. Where there are more on one side, those are the compiler's.
fn registers(a: &[Register], b: &[Register], active: u64, lanes: &[u32]) -> Option<What> {
    a.iter().zip(b).find_map(|(a, b)| {
        let both_uniform = a.values.is_uniform && b.values.is_uniform;
        let places = if both_uniform { 0..1 } else { 0..lanes.len() };
        let differing = places.filter_map(|i| {
            let lane = (!both_uniform).then(|| lanes[i]);
            let (a, b) = (a.values.at(i)?, b.values.at(i)?);
            let is_active = lane.is_none_or(|lane| active >> lane & 1 == 1);
            (is_active && !are_same(a, b)).then(|| (lane, shown(a), shown(b)))
        });
        let differing: Vec<_> = differing.collect();
        let name = a.variable.as_deref().map_or(a.register.clone(), |v| format!("`{v}` ({})", a.register));
        (!differing.is_empty()).then_some(What::Values(name, differing))
    })
}

/// All NaNs are the same; other numbers by their bits, or, of different types, by what they say.
fn are_same(a: Number, b: Number) -> bool {
    let is_nan = |n: Number| n.0.is_float() && shown(n) == "NaN";
    a == b || is_nan(a) && is_nan(b) || a.0 != b.0 && shown(a) == shown(b)
}

/// What is accessed, and what is stored there.
fn memory(a: &Step, b: &Step) -> Option<What> {
    a.memory.iter().zip(&b.memory).find_map(|(x, y)| {
        if x.access != y.access || x.at.len() != y.at.len() {
            let texts = [x, y].map(|effect| format!("{:?} by {} lanes", effect.access, effect.at.len()).to_lowercase());
            let [a, b] = texts;
            return Some(What::Values("the access".into(), vec![(None, a, b)]));
        }
        let differing = x.at.iter().zip(&y.at).filter_map(|(a, b)| {
            let (place_a, place_b) = (place(a), place(b));
            if a.lane != b.lane || has_place(a) && has_place(b) && place_a != place_b {
                return Some((a.lane, place_a, place_b));
            }
            match (a.new, b.new) {
                (Some(new_a), Some(new_b)) if !are_same(new_a, new_b) => Some((a.lane, shown(new_a), shown(new_b))),
                _ => None,
            }
        });
        let differing: Vec<_> = differing.collect();
        let verb = if x.access == Access::Read { "what is read" } else { "what is stored" };
        (!differing.is_empty()).then_some(What::Values(verb.into(), differing))
    })
}

/// Returns whether a place is one that two compilers agree on: frames and allocations have no fixed layout and order.
fn has_place(at: &At) -> bool {
    at.array.is_some() || matches!(at.region, Region::Host | Region::Global | Region::Unbound)
}

/// A place as the source would write it.
pub fn place(at: &At) -> String {
    let name = at.array.as_deref().unwrap_or(match at.region {
        Region::Host => "an array",
        Region::Global => "a global",
        Region::Frame => "a local",
        Region::Heap => "an allocation",
        Region::Unbound => "an extern variable",
        Region::Dead => "no memory",
    });
    match at.index.as_slice() {
        [] => format!("{name} + {} bytes", at.offset),
        index => name.to_owned() + &index.iter().map(|i| format!("[{i}]")).collect::<String>(),
    }
}

/// The first difference in what two traces do before they run in step again, if others see it: the places of its events.
pub fn passed_over(a: &[&Event], b: &[&Event], lanes: &[u32]) -> Option<([Option<usize>; 2], What)> {
    let visible = |events: &[&Event]| -> Vec<usize> { (0..events.len()).filter(|&i| is_visible(events[i])).collect() };
    let (seen_a, seen_b) = (visible(a), visible(b));
    // An operator that was replaced by another: the same number of instructions, which should give the same.
    let replaced = if a.len() == b.len() { (0..a.len()).collect() } else { Vec::new() };
    let pairs = replaced.iter().map(|&i| (i, i)).chain(seen_a.iter().copied().zip(seen_b.iter().copied()));
    for (i, j) in pairs {
        let what = match (a[i], b[j]) {
            (Event::Step(x), Event::Step(y)) => steps(x, y, lanes),
            (Event::Print(_), Event::Print(_)) => events(a[i], b[j], lanes),
            _ => None,
        };
        if let Some(what) = what {
            return Some(([Some(i), Some(j)], what));
        }
    }
    match (seen_a.get(seen_b.len()), seen_b.get(seen_a.len())) {
        (None, None) => None,
        (i, j) => Some(([i.copied(), j.copied()], What::Alone)),
    }
}

/// Returns whether others than the function itself see it: what it stores outside its frame, prints, and traps.
fn is_visible(event: &Event) -> bool {
    match event {
        Event::Step(step) => step
            .memory
            .iter()
            .any(|effect| effect.access != Access::Read && effect.at.iter().any(|at| at.region != Region::Frame)),
        Event::Print(_) | Event::Trap(_) => true,
        Event::Enter(_) | Event::Return(_) | Event::End(_) => false,
    }
}
