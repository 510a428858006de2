//! What check mode finds: the table of kinds, and a finding as data.

use crate::observe::View;
use crate::trap::TrapFrame;
use crate::types::Ty;
use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::fmt;
use std::hash::{Hash, Hasher};

/// One row of the table of kinds.
#[derive(Clone, Copy, Debug)]
pub struct KindInfo {
    /// The kind.
    pub kind: FindingKind,
    /// Its name, as hosts and options write it.
    pub name: &'static str,
    /// Whether it is looked for unless something else is asked for.
    pub by_default: bool,
    /// What it is, in a few words.
    pub message: &'static str,
    /// What it means and what to do about it.
    pub explanation: &'static str,
}

macro_rules! define_kinds {
    ($( $Kind:ident $name:literal $default:literal $message:literal $explanation:literal ; )*) => {
        /// What is wrong; the rows of [`KINDS`], in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FindingKind {
            $( #[doc = $explanation] $Kind, )*
        }

        /// The table of kinds, indexed by `FindingKind as usize`.
        pub static KINDS: &[KindInfo] = &[
            $( KindInfo {
                kind: FindingKind::$Kind, name: $name, by_default: $default, message: $message, explanation: $explanation,
            }, )*
        ];
    };
}

define_kinds! {
    Uninitialised "uninitialised" true "use of a value that was never stored"
        "What an active lane used depends on a variable, or on memory of `new` or `alloca`, in which nothing had been stored. It is zero here; elsewhere it may be anything. Initialise it, or store on every way to its use.";
    OutOfBounds "out_of_bounds" true "index out of bounds"
        "Active lanes accessed memory outside the array, variable or allocation that their addresses belong to. The call traps for the lowest of them; the finding names all.";
    NullPointer "null_pointer" true "access through a null pointer"
        "Active lanes accessed memory through null. The call traps for the lowest of them; the finding names all.";
    UseAfterFree "use_after_free" true "use of memory that is gone"
        "Active lanes used a pointer to memory that has been freed, or to a variable of a call that has returned. The call traps.";
    InactiveLane "inactive_lane" true "read of an inactive lane"
        "A shuffle, rotation, broadcast or extraction gave an active lane the value of a lane that was not active, and the value was used. What inactive lanes hold is defined here, and elsewhere it is not.";
    StaleLane "stale_lane" true "use of a value computed under another mask"
        "An active lane used a value that was loaded or divided while the lane was not active, so that it is zero: inside `unmasked` or a `foreach`, or across lanes.";
    ConflictingStores "conflicting_stores" true "lanes store different values to one address"
        "Active lanes stored different values to the same memory in one instruction. The highest lane's stays; elsewhere it may be any. Equal values are no finding.";
    Race "race" true "tasks race"
        "Two tasks, or a task and what launched it, accessed the same memory, at least one of them to write, and nothing orders the two. Results then depend on the threads. Use atomic operations, or `sync` between the two.";
    RacyBranch "racy_branch" true "uniform control flow depends on a race"
        "Which way the whole gang goes depends on memory that tasks race for: not only values but what is executed then depends on the threads. Use `sync`, or read the memory once where tasks are ordered.";
    RacyRead "racy_read" false "read beside atomic accesses"
        "A task read memory that another one accesses atomically, and nothing orders the two. That is often meant; what is read then depends on the threads.";
    Leak "leak" false "memory that was not freed"
        "Memory of `new` or `alloca` was still allocated when the call of the host ended.";
    UnmaskedStore "unmasked_store" false "store of a lane that was inactive outside `unmasked`"
        "Inside `unmasked`, lanes that were not active outside stored to memory.";
    Overflow "overflow" false "signed integer overflow"
        "A sum, difference, product or negation of signed integers did not fit its type and wrapped.";
    LossyConversion "lossy_conversion" false "conversion that changes the value"
        "A conversion gave an integer that is not the value converted: it did not fit the type.";
    Nan "nan" false "NaN made of numbers"
        "An operation gave NaN, although no operand was NaN.";
    Shift "shift" false "shift by a count beyond the width"
        "The count of a shift was negative, or at least the width of the type; it is taken modulo the width.";
}

impl FindingKind {
    /// The kind's row.
    pub fn info(self) -> &'static KindInfo {
        &KINDS[self as usize]
    }

    /// Its name (`uninitialised`).
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The kind with this name, if there is one.
    pub fn from_name(name: &str) -> Option<FindingKind> {
        KINDS.iter().find(|row| row.name == name).map(|row| row.kind)
    }
}

/// A set of kinds: what to look for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checks(u32);

impl Checks {
    /// Nothing.
    pub const NONE: Checks = Checks(0);

    /// Every kind.
    pub fn all() -> Checks {
        KINDS.iter().fold(Checks::NONE, |set, row| set.with(row.kind))
    }

    /// What is looked for unless something else is asked for: what is wrong in any program.
    pub fn by_default() -> Checks {
        KINDS.iter().filter(|row| row.by_default).fold(Checks::NONE, |set, row| set.with(row.kind))
    }

    /// The set with one more kind.
    #[must_use]
    pub fn with(self, kind: FindingKind) -> Checks {
        Checks(self.0 | 1 << kind as u32)
    }

    /// Returns whether a kind is in the set.
    pub fn has(self, kind: FindingKind) -> bool {
        self.0 & 1 << kind as u32 != 0
    }

    /// Returns whether there is nothing to look for.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names of its kinds.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        KINDS.iter().filter(move |row| self.has(row.kind)).map(|row| row.name)
    }

    /// The set with what a word means: the name of a kind, `default` or `all`. The error says what there is.
    pub fn and(self, word: &str) -> Result<Checks, String> {
        let more = match word {
            "all" => Checks::all(),
            "default" => Checks::by_default(),
            name => {
                let found = FindingKind::from_name(name).map(|kind| Checks::NONE.with(kind));
                found.ok_or_else(|| {
                    let names: Vec<&str> = KINDS.iter().map(|row| row.name).collect();
                    format!("there is no check `{name}`; there are default, all, {}", names.join(", "))
                })?
            }
        };
        Ok(Checks(self.0 | more.0))
    }
}

/// Something wrong at a place of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// In words.
    pub message: String,
    /// The lanes it concerns, when it was found first; empty if the instruction is uniform.
    pub lanes: Vec<u32>,
    /// A value for each of these lanes (one if there are none), as bits: the index that was accessed, the lane that was read,
    /// the value that was stored, used, or came of an operation. Empty where there is nothing to show.
    pub values: Vec<u64>,
    /// The type of the values.
    pub ty: Ty,
    /// The calls, innermost first, up to what the host called.
    pub stack: Vec<TrapFrame>,
    /// The other place that it has to do with: the other access of a race, where memory was allocated or freed.
    pub related: Option<Related>,
    /// How often it was found at this place.
    pub times: u64,
}

/// Another place that a finding has to do with.
#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    /// What happened there.
    pub message: String,
    /// The calls, innermost first.
    pub stack: Vec<TrapFrame>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Lanes in words: `lane 3`, `lanes 1, 3, 5`, `lanes 4 to 7`.
pub(super) fn lanes_text(lanes: &[u32]) -> String {
    match lanes {
        [] => "all lanes".to_owned(),
        [one] => format!("lane {one}"),
        [first, .., last] if (last - first) as usize + 1 == lanes.len() => format!("lanes {first} to {last}"),
        _ => format!("lanes {}", list_text(lanes)),
    }
}

/// Numbers with commas.
pub(super) fn list_text<T: fmt::Display>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The lanes of a mask as numbers.
pub(super) fn numbers(mask: u64) -> Vec<u32> {
    (0..u64::BITS).filter(|l| mask >> l & 1 == 1).collect()
}

/// Most places that findings are kept of; of further ones only the number.
const MAX_SITES: usize = 1000;

/// What has been found.
#[derive(Default)]
pub(super) struct Findings {
    pub checks: Checks,
    /// In the order they were found.
    pub list: Vec<Finding>,
    /// By kind and chain of calls.
    sites: HashMap<(FindingKind, u64), usize>,
    /// Those of places that are not in the list.
    pub left_out: u64,
}

impl Findings {
    pub fn new(checks: Checks) -> Findings {
        Findings { checks, ..Findings::default() }
    }

    /// Counts a finding at the instruction; the first one at a place is made. Kinds that nobody asked for are none.
    pub fn report(&mut self, view: &View<'_>, kind: FindingKind, make: impl FnOnce() -> Finding) {
        if self.checks.has(kind) {
            self.add(kind, site(view), make);
        }
    }

    /// Counts a finding at a place.
    pub fn add(&mut self, kind: FindingKind, site: u64, make: impl FnOnce() -> Finding) {
        let next = self.list.len();
        match self.sites.entry((kind, site)) {
            Entry::Occupied(at) => self.list[*at.get()].times += 1,
            Entry::Vacant(_) if next >= MAX_SITES => self.left_out += 1,
            Entry::Vacant(new) => {
                new.insert(next);
                self.list.push(make());
            }
        }
    }
}

/// A number for the instruction and the calls around it.
pub(super) fn site(view: &View<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (view.function_id(), view.pc()).hash(&mut hasher);
    view.thread.frames.iter().for_each(|frame| (frame.step as usize).hash(&mut hasher));
    hasher.finish()
}

/// The same for calls that are over.
pub(super) fn site_of(stack: &[TrapFrame]) -> u64 {
    let mut hasher = DefaultHasher::new();
    stack.iter().for_each(|frame| (frame.function, frame.pc).hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_with_unique_names() {
        for (i, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, i);
            assert_eq!(FindingKind::from_name(row.name), Some(row.kind));
            assert!(row.explanation.ends_with('.'));
        }
    }

    #[test]
    fn checks_are_named() {
        assert!(Checks::NONE.is_empty());
        let some = Checks::NONE.and("race").and_then(|set| set.and("nan")).unwrap();
        assert_eq!(some.names().collect::<Vec<_>>(), ["race", "nan"]);
        assert!(Checks::all().has(FindingKind::Leak) && !Checks::by_default().has(FindingKind::Leak));
        assert!(
            Checks::NONE
                .and("rase")
                .unwrap_err()
                .contains("there is no check `rase`; there are default, all, uninitialised")
        );
    }

    #[test]
    fn lanes_in_words() {
        assert_eq!(lanes_text(&[3]), "lane 3");
        assert_eq!(lanes_text(&[3, 5]), "lanes 3, 5");
        assert_eq!(lanes_text(&[4, 5, 6]), "lanes 4 to 6");
        assert_eq!(lanes_text(&[4, 5, 7]), "lanes 4, 5, 7");
    }
}
