//! What decides when and how loops are compiled: one table of numbers, and a switch for every dynamic variant.

use std::fmt;

/// The table of settings: documentation, name, type and default of each. The names are those that users write.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $Type:ty = $default:expr $(, at least $least:literal)?;)*) => {
        /// When and how loops are compiled. [`Settings::default`] has the usual values; [`Settings::set`] changes one by its name.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $($(#[$doc])* pub $name: $Type,)*
            /// The variants that may be chosen.
            pub variants: Variants,
        }

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $($name: $default,)* variants: Variants::ALL }
            }
        }

        /// The names of what is no variant.
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        impl Settings {
            /// Changes what is no variant.
            fn set_own(&mut self, name: &str, value: &str) -> Result<(), String> {
                $(if name == stringify!($name) {
                    self.$name = <$Type>::read(name, value)?$(.max($least))?;
                    return Ok(());
                })*
                Err(unknown(name))
            }

            /// The value of what is no variant.
            fn get_own(&self, name: &str) -> Option<String> {
                $(if name == stringify!($name) {
                    return self.$name.show();
                })*
                None
            }
        }
    };
}

settings! {
    /// Rounds that a loop is interpreted before it is compiled.
    hot: u32 = 40;
    /// Calls of a function that are interpreted before it is compiled on its own. Where compiled code calls it, `hot` counts.
    calls: u32 = 1000;
    /// Most instructions that are executed under observation when a loop has become hot, for the profile: a third of them, and
    /// the others too if the loop has not gone round twenty times by then. 0: no profile, and of
    /// the variants that depend on one none is chosen (unless `every_variant`).
    observe: u32 = 12_000;
    /// Most versions of a loop, by what holds at its head.
    versions: u32 = 3, at least 1;
    /// Entries after which a version is judged by how it was left.
    trial: u64 = 200;
    /// How often a way that was left out must be taken before the loop is recompiled with it.
    hot_exit: u64 = 30, at least 1;
    /// How often a region that holds only a part of what belongs together, as the whole was too large, must lead on to others before it is
    /// recompiled with up to four times as much in it.
    hot_links: u64 = 1000, at least 1;
    /// How often a loop is recompiled at most.
    recompiles: u32 = 6;
    /// Entries with the same uniform arguments after which a version for just these is made.
    same_arguments: u32 = 100;
    /// Whether loops are compiled on another thread while the interpreter goes on. Otherwise the thread that finds a loop hot compiles it,
    /// which makes what is compiled when a matter of the program alone.
    background: bool = true;
    /// Whether variants are also judged by the time that rounds take with and without them, and how often somebody
    /// looks whether they suit what the program does now by the time that takes. Only in the `background`.
    measure: bool = true;
    /// Whether large loops are compiled quickly first, to slower code, which is entered until better code is there. Only in
    /// the `background`.
    tiers: bool = true;
    /// Whether what could be entered as baseline code stays that, in the `background` or not. For tests.
    only_baseline: bool = false;
    /// Most bytes of machine code that the program may have at a time. A loop for which there is no room is interpreted.
    code_limit: usize = 64 << 20;
    /// Leaves compiled code at random, by this seed. For tests: see [`stress`](crate::stress).
    stress: Option<u64> = None;
    /// Links calls and cuts regions at random, by this seed, instead of where code would be too large. For tests.
    links: Option<u64> = None;
    /// Whether every variant is chosen everywhere, whatever the profile says. For tests.
    every_variant: bool = false;
    /// Whether the text of regions as they were recorded, before the passes, is kept. To be shown.
    keep_recorded: bool = false;
}

/// What a setting may be: read from text, and shown as text.
trait Setting: Sized {
    fn read(name: &str, value: &str) -> Result<Self, String>;

    /// `None` if it is not set.
    fn show(&self) -> Option<String>;
}

macro_rules! numbers {
    ($($Type:ty),*) => {
        $(impl Setting for $Type {
            fn read(name: &str, value: &str) -> Result<Self, String> {
                let wrong = |_| format!("the JIT setting `{name}` takes a number from 0 up, not `{value}`");
                value.parse().map_err(wrong)
            }

            fn show(&self) -> Option<String> {
                Some(self.to_string())
            }
        })*
    };
}

numbers!(u32, u64, usize);

impl Setting for bool {
    fn read(name: &str, value: &str) -> Result<Self, String> {
        match value {
            "on" | "true" | "True" | "1" => Ok(true),
            "off" | "false" | "False" | "0" => Ok(false),
            _ => Err(format!("the JIT setting `{name}` takes `on` or `off`, not `{value}`")),
        }
    }

    fn show(&self) -> Option<String> {
        Some(if *self { "on" } else { "off" }.to_owned())
    }
}

impl Setting for Option<u64> {
    fn read(name: &str, value: &str) -> Result<Self, String> {
        u64::read(name, value).map(Some)
    }

    fn show(&self) -> Option<String> {
        self.as_ref().and_then(u64::show)
    }
}

impl Settings {
    /// Compiles every loop in its first round and never gives one up: what tests use.
    pub fn eager() -> Settings {
        Settings { hot: 0, calls: u32::MAX, observe: 0, trial: u64::MAX, background: false, ..Settings::default() }
    }

    /// As [`eager`](Self::eager), with every variant of every place.
    pub fn eager_in_every_variant() -> Settings {
        Settings { every_variant: true, ..Settings::eager() }
    }

    /// Changes a setting: `hot=10`, `background=off`; or switches a variant, by its name: `consecutive=off`. The error says
    /// which there are.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match Variant::from_name(name) {
            Some(variant) => self.variants.switch(variant, bool::read(name, value)?),
            None => self.set_own(name, value)?,
        }
        Ok(())
    }

    /// As [`eager`](Self::eager), with functions compiled at their first call, and regions linked at random.
    pub fn eager_with_links(seed: u64) -> Settings {
        Settings { calls: 0, links: Some(seed), ..Settings::eager() }
    }

    /// The value of a setting, as [`set`](Self::set) takes it; `None` if there is none of this name, or it has no value.
    pub fn get(&self, name: &str) -> Option<String> {
        match Variant::from_name(name) {
            Some(variant) => self.variants.has(variant).show(),
            None => self.get_own(name),
        }
    }

    /// Names of settings and variants.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().copied().chain(Variant::ALL.iter().map(|v| v.name()))
    }

    /// What differs from the default: names and values.
    pub fn changes(&self) -> Vec<(String, String)> {
        let default = Settings::default();
        let changed = Settings::names().filter(|name| self.get(name) != default.get(name));
        changed.filter_map(|name| Some((name.to_owned(), self.get(name)?))).collect()
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<String> = Settings::names().map(|name| format!("`{name}`")).collect();
    format!("there is no JIT setting `{name}`; there are {}", names.join(", "))
}

/// A way in which code is made for what usually happens; if it does not happen, other code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// Bodies without masks while all lanes are active.
    AllActive,
    /// Code for which no lane is active is skipped, even where a few instructions under a mask would do.
    SkipInactive,
    /// A value loaded for every lane is the same in all of them: what follows from it is computed once.
    Uniform,
    /// Lanes that choose their addresses access consecutive elements: one vector.
    Consecutive,
    /// They access elements at a constant distance: no address of each lane is computed.
    Strided,
    /// A test of uniform numbers, such as whether a step is a multiple of the gang's width, proves how addresses lie.
    Aligned,
    /// One lane is left in a loop: scalar code for it.
    OneLane,
    /// A pointer that is loaded in every round of a loop is the same in all of them: what is asked about its memory is asked before the
    /// loop. Where another one comes after all, the loop is recompiled.
    SamePointer,
    /// Uniform arguments that do not change between calls are constants.
    Constant,
    /// Ways that were never taken are not compiled; when they are taken after all, the loop is recompiled.
    Prune,
}

impl Variant {
    /// All of them.
    pub const ALL: [Variant; 10] = [
        Variant::AllActive,
        Variant::SkipInactive,
        Variant::Uniform,
        Variant::Consecutive,
        Variant::Strided,
        Variant::Aligned,
        Variant::OneLane,
        Variant::SamePointer,
        Variant::Constant,
        Variant::Prune,
    ];

    /// Its name, as settings and statistics have it.
    pub fn name(self) -> &'static str {
        match self {
            Variant::AllActive => "all_active",
            Variant::SkipInactive => "skip_inactive",
            Variant::Uniform => "uniform",
            Variant::Consecutive => "consecutive",
            Variant::Strided => "strided",
            Variant::Aligned => "aligned",
            Variant::OneLane => "one_lane",
            Variant::SamePointer => "same_pointer",
            Variant::Constant => "constant",
            Variant::Prune => "prune",
        }
    }

    /// Those whose cost is measured, by a version without them. (Versions without masks or for constants are entered
    /// for what holds there, and ways that were left out are put back when they are taken.)
    pub(crate) const MEASURED: [Variant; 6] = [
        Variant::SkipInactive,
        Variant::Uniform,
        Variant::Consecutive,
        Variant::Strided,
        Variant::Aligned,
        Variant::OneLane,
    ];

    /// Those that are chosen by how the addresses or values of lanes lie.
    pub(crate) const BY_LANES: [Variant; 3] = [Variant::Uniform, Variant::Consecutive, Variant::Strided];

    /// The variant with a name.
    pub fn from_name(name: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|v| v.name() == name)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variants(u32);

impl Variants {
    /// All.
    pub const ALL: Variants = Variants((1 << Variant::ALL.len()) - 1);

    /// Returns whether a variant is among them.
    pub fn has(self, variant: Variant) -> bool {
        self.0 & (1 << variant as u32) != 0
    }

    /// Puts a variant in or takes it out.
    pub fn switch(&mut self, variant: Variant, on: bool) {
        self.0 = if on { self.0 | (1 << variant as u32) } else { self.0 & !(1 << variant as u32) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_can_be_set_and_got() {
        for name in Settings::names() {
            let mut settings = Settings::default();
            let other = match settings.get(name).as_deref() {
                Some("on") => "off",
                Some("off") => "on",
                _ => "7",
            };
            settings.set(name, other).unwrap();
            assert_eq!(settings.get(name).as_deref(), Some(other));
            assert_eq!(settings.changes(), [(name.to_owned(), other.to_owned())]);
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let mut settings = Settings::default();
        assert!(settings.set("hott", "1").unwrap_err().contains("there are `hot`, `calls`"));
        assert!(settings.set("hot", "-1").unwrap_err().contains("a number from 0 up, not `-1`"));
        assert!(settings.set("one_lane", "maybe").unwrap_err().contains("`on` or `off`"));
        assert_eq!(settings, Settings::default());
    }
}
