//! How many of the faults that are planted a campaign finds.

use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt;

/// How it went with a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// An engine did something else than the interpreter, or its compiler said that its work is wrong.
    Found(String),
    /// The process died, with these words.
    Crashed(String),
    /// A program did not come to its end.
    Hung,
    /// All engines agreed.
    Missed,
    /// There was no place in which it could act.
    NeverActed,
}

impl Fate {
    /// Whether the campaign would have told somebody that something is wrong.
    pub fn is_found(&self) -> bool {
        matches!(self, Fate::Found(_) | Fate::Crashed(_) | Fate::Hung)
    }

    fn name(&self) -> &'static str {
        match self {
            Fate::Found(_) => "found",
            Fate::Crashed(_) => "crashed",
            Fate::Hung => "hung",
            Fate::Missed => "missed",
            Fate::NeverActed => "never acted",
        }
    }

    fn detail(&self) -> &str {
        match self {
            Fate::Found(how) | Fate::Crashed(how) => how,
            _ => "",
        }
    }
}

/// A fault and what came of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The part that was wrong.
    pub part: String,
    /// What was wrong with it.
    pub what: String,
    /// In how many places it acted.
    pub places: u64,
    /// How many programs were run, the one that showed it included.
    pub programs: u64,
    /// What came of it.
    pub fate: Fate,
}

/// What came of all.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// The faults.
    pub entries: Vec<Entry>,
}

impl Score {
    /// How many were found.
    pub fn found(&self) -> usize {
        self.entries.iter().filter(|entry| entry.fate.is_found()).count()
    }

    /// The share of them, in percent; of no faults all are found.
    pub fn percent(&self) -> f64 {
        100.0 * self.found() as f64 / self.entries.len().max(1) as f64
            + if self.entries.is_empty() { 100.0 } else { 0.0 }
    }

    /// Those that were not found.
    pub fn missed(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| !entry.fate.is_found())
    }

    /// The programs after which half of those that were found had been; 0 if none was.
    pub fn median(&self) -> u64 {
        let mut programs: Vec<u64> =
            self.entries.iter().filter(|entry| entry.fate.is_found()).map(|entry| entry.programs).collect();
        programs.sort_unstable();
        programs.get(programs.len() / 2).copied().unwrap_or(0)
    }

    /// By part: how many faults there are, and how many were found.
    pub fn by_part(&self) -> BTreeMap<&str, (usize, usize)> {
        let mut parts = BTreeMap::new();
        for entry in &self.entries {
            let (all, found) = parts.entry(entry.part.as_str()).or_insert((0, 0));
            (*all, *found) = (*all + 1, *found + entry.fate.is_found() as usize);
        }
        parts
    }

    /// It as JSON.
    pub fn to_json(&self) -> Json {
        let entry = |entry: &Entry| {
            json!({
                "fault": entry.name, "part": entry.part, "what": entry.what, "places": entry.places,
                "programs": entry.programs, "fate": entry.fate.name(), "detail": entry.fate.detail(),
            })
        };
        let faults: Vec<Json> = self.entries.iter().map(entry).collect();
        json!({ "faults": faults, "found": self.found(), "of": self.entries.len(), "percent": self.percent() })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { name, part, programs, places, what, fate } = self;
        write!(f, "{name:24} {part:12} {:11} {programs:8} {places:8}  {what}", fate.name())
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:24} {:12} {:11} {:>8} {:>8}  what is wrong", "fault", "part", "fate", "programs", "places")?;
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))?;
        for (part, (all, found)) in self.by_part() {
            writeln!(f, "{part}: {found} of {all}")?;
        }
        let (found, all) = (self.found(), self.entries.len());
        write!(f, "score: {found} of {all} ({:.1} %), half of them within {} programs", self.percent(), self.median())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(part: &str, programs: u64, fate: Fate) -> Entry {
        Entry { name: format!("{part}-{programs}"), part: part.into(), what: "wrong".into(), places: 3, programs, fate }
    }

    #[test]
    fn crashes_count_as_found_and_what_never_acted_does_not() {
        let score = Score {
            entries: vec![
                entry("clif", 7, Fate::Found("differs".into())),
                entry("clif", 2, Fate::Crashed("signal 11".into())),
                entry("x86", 9, Fate::Hung),
                entry("x86", 100, Fate::Missed),
                entry("x86", 100, Fate::NeverActed),
            ],
        };
        assert_eq!((score.found(), score.percent(), score.median()), (3, 60.0, 7));
        assert_eq!(score.missed().count(), 2);
        assert_eq!(score.by_part(), BTreeMap::from([("clif", (2, 2)), ("x86", (3, 1))]));
        assert_eq!(score.to_json()["faults"][1]["fate"], "crashed");
        assert!(score.to_string().ends_with("score: 3 of 5 (60.0 %), half of them within 7 programs"));
    }

    #[test]
    fn of_nothing_all_is_found() {
        assert_eq!(Score::default().percent(), 100.0);
        assert_eq!(Score::default().median(), 0);
    }
}
