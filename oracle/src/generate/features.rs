//! What random programs may contain, by name.

use super::Dialect;

/// Something that programs may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Feature {
    /// `for`, `while`, `do`.
    Loops,
    /// `break`, `continue`, `return` under conditions.
    Leaving,
    /// `switch`.
    Switch,
    /// `goto`.
    Goto,
    /// Structs.
    Structs,
    /// Pointers.
    Pointers,
    /// Pointers in memory.
    Tables,
    /// Short vectors.
    Vectors,
    /// Enums.
    Enums,
    /// Arrays of the function.
    LocalArrays,
    /// Global variables.
    Globals,
    /// Calls.
    Calls,
    /// Overloaded functions.
    Overloads,
    /// Templates.
    Templates,
    /// Functions of polymorphic types.
    Polymorphism,
    /// Operators of structs.
    Operators,
    /// Functions that call themselves, or one another.
    Recursion,
    /// Calls through function pointers.
    FunctionPointers,
    /// Reading other lanes.
    Lanes,
    /// Reductions, votes and scans.
    Reductions,
    /// Packed loads and stores.
    Packed,
    /// Indices that differ from lane to lane in any way.
    Gathers,
    /// Atomic operations.
    Atomics,
    /// Tasks.
    Tasks,
    /// `foreach` of several dimensions, and `foreach_tiled`.
    Tiles,
    /// `foreach_active`.
    ForeachActive,
    /// `foreach_unique`.
    ForeachUnique,
    /// `unmasked`.
    Unmasked,
    /// 8- and 16-bit integers.
    Small,
    /// 64-bit integers.
    Wide,
    /// `float`.
    Floats,
    /// `double`.
    Doubles,
    /// `float16`.
    Halves,
    /// `new` and `delete`.
    Heap,
    /// `print` in the middle.
    Prints,
    /// Overlapping arguments.
    Aliases,
    /// Results that do not depend on the width.
    WidthIndependent,
    /// Transcendental functions.
    Math,
    /// `crev`.
    Crev,
    /// `foreach` in `foreach`.
    Nested,
    /// What ISPC leaves open.
    Open,
    /// Some lanes off from the start.
    Mask,
    /// Traps.
    Traps,
}

/// What is told about a feature.
pub struct FeatureRow {
    /// Which.
    pub feature: Feature,
    /// Its name in lists.
    pub name: &'static str,
    /// What it adds.
    pub what: &'static str,
    /// Whether programs may have it unless told otherwise.
    pub by_default: bool,
    /// Whether only the dialect `spmdvm` can have it.
    pub extension: bool,
}

const fn row(feature: Feature, name: &'static str, what: &'static str) -> FeatureRow {
    FeatureRow { feature, name, what, by_default: true, extension: false }
}

const fn on_request(row: FeatureRow) -> FeatureRow {
    FeatureRow { by_default: false, ..row }
}

const fn extension(row: FeatureRow) -> FeatureRow {
    FeatureRow { extension: true, ..row }
}

/// The features, in the order of [`Feature`].
pub const FEATURES: &[FeatureRow] = &[
    row(Feature::Loops, "loops", "for, while and do, with uniform or varying conditions, nested; cfor, cwhile, cdo"),
    row(Feature::Leaving, "leaving", "break, continue and return under conditions that differ between lanes"),
    row(Feature::Switch, "switch", "switch with fallthrough and default anywhere, uniform or varying"),
    row(Feature::Goto, "goto", "goto, forwards and backwards, out of loops and ifs, where all lanes go the same way"),
    row(
        Feature::Structs,
        "structs",
        "structs with arrays as members, assigned whole, passed by reference, in global arrays, through pointers; typedef",
    ),
    row(
        Feature::Pointers,
        "pointers",
        "uniform and varying pointers into arrays and to variables, and pointers that loops advance",
    ),
    row(
        Feature::Tables,
        "tables",
        "pointers in tables, which are loaded at each access, and change; some lead to arrays of functions",
    ),
    row(Feature::Vectors, "vectors", "short vectors, whole and by component"),
    row(Feature::Enums, "enums", "enums as values and in switch"),
    row(Feature::LocalArrays, "local-arrays", "arrays of varying and of uniform elements in functions"),
    row(Feature::Globals, "globals", "global variables and arrays, uniform and varying, static and const"),
    row(Feature::Calls, "calls", "functions, also such as lanes leave at different times"),
    row(Feature::Overloads, "overloads", "functions of one name that differ in their parameters"),
    row(Feature::Templates, "templates", "function templates with types and numbers as parameters"),
    extension(row(
        Feature::Polymorphism,
        "polymorphism",
        "functions of integer, floating and number types, called with several",
    )),
    row(Feature::Operators, "operators", "overloaded operators of structs"),
    row(
        Feature::Recursion,
        "recursion",
        "functions that call themselves or one another, to a depth of each lane's own",
    ),
    row(Feature::FunctionPointers, "function-pointers", "calls through function pointers, uniform and varying"),
    row(Feature::Lanes, "lanes", "shuffle, rotate, shift, broadcast, extract, insert, programIndex"),
    row(Feature::Reductions, "reductions", "reduce_add and its like, any, all, none, packmask, popcnt, scans"),
    row(Feature::Packed, "packed", "packed_load_active and packed_store_active"),
    row(Feature::Gathers, "gathers", "loads and stores at indices that are computed lane by lane"),
    row(Feature::Atomics, "atomics", "atomic operations, global and local"),
    row(Feature::Tasks, "tasks", "launch with one to three counts, and sync"),
    row(Feature::Tiles, "tiles", "foreach with two dimensions, and foreach_tiled"),
    row(Feature::ForeachActive, "foreach-active", "foreach_active"),
    row(Feature::ForeachUnique, "foreach-unique", "foreach_unique"),
    row(Feature::Unmasked, "unmasked", "unmasked blocks"),
    row(Feature::Small, "small", "integers of 8 and 16 bits"),
    row(Feature::Wide, "wide", "integers of 64 bits"),
    row(Feature::Floats, "floats", "float"),
    row(Feature::Doubles, "doubles", "double"),
    on_request(row(Feature::Halves, "halves", "float16")),
    row(Feature::Heap, "heap", "new and delete, for the gang and for each lane"),
    row(Feature::Prints, "prints", "print in the middle of the program"),
    on_request(row(Feature::Aliases, "aliases", "two array arguments that overlap")),
    on_request(row(
        Feature::WidthIndependent,
        "width-independent",
        "results are the same at every width: nothing asks for lanes",
    )),
    on_request(row(Feature::Math, "math", "sin, exp, pow and other functions without a prescribed rounding")),
    extension(row(Feature::Crev, "crev", "calls that every lane makes with the whole gang")),
    extension(row(Feature::Nested, "nested", "foreach in foreach")),
    extension(row(
        Feature::Open,
        "open",
        "what ISPC leaves open and is defined here: wrap-around, any shift count and conversion, NaNs, inactive lanes' values",
    )),
    extension(on_request(row(Feature::Mask, "mask", "lanes that are off from the start"))),
    extension(on_request(row(
        Feature::Traps,
        "traps",
        "indices out of bounds, division by zero, assertions that fail",
    ))),
];

/// A set of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(u64);

impl Features {
    /// No feature: integers of 32 bits, arrays, `if` and `foreach` are left.
    pub const NONE: Features = Features(0);

    /// What programs of a dialect may contain unless told otherwise.
    pub fn by_default(dialect: Dialect) -> Features {
        let rows = FEATURES.iter().filter(|row| row.by_default && (dialect == Dialect::Spmdvm || !row.extension));
        rows.fold(Features::NONE, |set, row| set.with(row.feature))
    }

    /// All that has a meaning at one width, traps included.
    pub fn all() -> Features {
        let rows = FEATURES.iter().filter(|row| row.feature != Feature::WidthIndependent);
        rows.fold(Features::NONE, |set, row| set.with(row.feature))
    }

    /// The set with one more.
    pub const fn with(self, feature: Feature) -> Features {
        Features(self.0 | 1 << feature as u8)
    }

    /// The set without one.
    pub const fn without(self, feature: Feature) -> Features {
        Features(self.0 & !(1 << feature as u8))
    }

    /// Those that bits choose of it: of a random word, about half.
    pub const fn some(self, bits: u64) -> Features {
        Features(self.0 & bits)
    }

    /// Whether it contains one.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 != 0
    }

    /// The names, in the order of the table.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        FEATURES.iter().filter(move |row| self.has(row.feature)).map(|row| row.name)
    }

    /// Reads a list such as `loops,switch` or `default,-tasks,+halves`. A list that begins with `+` or `-` goes on from the
    /// default.
    ///
    /// # Errors
    ///
    /// The text says which name is unknown, or that the dialect cannot have it.
    pub fn parse(list: &str, dialect: Dialect) -> Result<Features, String> {
        let begins_with_sign = list.starts_with(['+', '-']);
        let mut set = if begins_with_sign { Features::by_default(dialect) } else { Features::NONE };
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (remove, name) = match item.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, item.strip_prefix('+').unwrap_or(item)),
            };
            set = match (remove, name) {
                (false, "default") => Features(set.0 | Features::by_default(dialect).0),
                (true, "default") => Features(set.0 & !Features::by_default(dialect).0),
                (true, name) => set.without(known(name)?.feature),
                (false, name) => set.with(allowed(known(name)?, dialect)?),
            };
        }
        Ok(set)
    }
}

fn known(name: &str) -> Result<&'static FeatureRow, String> {
    let row = FEATURES.iter().find(|row| row.name == name);
    row.ok_or_else(|| format!("there is no feature `{name}`; `spmdvm gen --list-features` shows all"))
}

fn allowed(row: &FeatureRow, dialect: Dialect) -> Result<Feature, String> {
    match row.extension && dialect == Dialect::Ispc {
        true => Err(format!("ISPC has no `{}` that is defined; it needs --dialect spmdvm", row.name)),
        false => Ok(row.feature),
    }
}
