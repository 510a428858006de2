//! Words of other languages, and what to write instead of them.

/// Words in front of types and functions that mean nothing here: what to do about each. They are skipped.
pub(super) fn specifier(word: &str) -> Option<&'static str> {
    Some(match word {
        "volatile" | "register" | "mutable" | "__restrict__" | "__forceinline" | "__restrict" => "remove it",
        "constexpr" => "write `const`",
        "__global__" | "__kernel" | "kernel" => {
            "write `export` in front of what hosts call; it runs once for a gang, and `foreach` goes over the elements"
        }
        "__device__" | "__host__" => "remove it: any function can be called from any other",
        "__shared__" | "groupshared" => "remove it: a `uniform` array is one array for all lanes",
        "__global" | "global" | "__local" | "local" | "__constant" | "__private" => {
            "remove it: there is one memory; write `uniform` for what all lanes share"
        }
        _ => return None,
    })
}

/// What to write instead of a word used as a type.
pub(super) fn type_name(word: &str) -> Option<String> {
    let advice = match word {
        "def" | "fn" | "func" | "function" => "a function is written `float f(float x) { … }`",
        "let" | "var" => "a variable is declared with its type: `float x = 1.0;`",
        "size_t" | "usize" | "uintptr_t" => "write `uint64`",
        "ptrdiff_t" | "ssize_t" | "isize" | "intptr_t" => "write `int64`",
        "byte" => "write `uint8`",
        "string" | "str" => "a string is a `const uniform int8 *`",
        "real" | "f32" => "write `float`",
        "f64" => "write `double`",
        "i32" => "write `int`",
        _ => return short_vector(word).or_else(|| standard_integer(word)),
    };
    Some(advice.to_owned())
}

/// `float4`, `vec3`, `ivec2`, `int8` … of shading languages.
fn short_vector(word: &str) -> Option<String> {
    let (name, count) = word.split_at(word.len().checked_sub(1)?);
    let element = match name {
        "float" | "vec" => "float",
        "double" | "dvec" => "double",
        "int" | "ivec" => "int",
        "uint" | "uvec" => "uint",
        "bool" | "bvec" => "bool",
        "half" => "float16",
        _ => return None,
    };
    matches!(count, "2" | "3" | "4").then(|| format!("a short vector is written `{element}<{count}>`"))
}

/// `uint32_t` and its relatives.
fn standard_integer(word: &str) -> Option<String> {
    let plain = word.strip_suffix("_t")?;
    let bits = plain.trim_start_matches("uint").trim_start_matches("int");
    matches!(bits, "8" | "16" | "32" | "64").then(|| format!("write `{plain}`"))
}

/// What to do where the word after a finished statement or value shows another language.
pub(super) fn after_value(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "write `&&`",
        "or" => "write `||`",
        "not" => "write `!`",
        "is" => "write `==`",
        _ => return None,
    })
}

/// What to do about a word that begins what no statement begins with.
pub(super) fn statement(word: &str) -> Option<&'static str> {
    Some(match word {
        "elif" | "elsif" | "elseif" => "write `else if (…)`",
        "try" | "catch" => "there are no exceptions; return a value that says what went wrong",
        "loop" => "write `while (true)`",
        _ => return None,
    })
}

/// What to write instead of `std::word`.
pub(super) fn scoped_name(word: &str) -> String {
    match word {
        "cout" | "cerr" => "write `print(\"… %\\n\", value)`".to_owned(),
        "vector" | "array" => "use an array, or allocate with `uniform new`".to_owned(),
        "string" => "a string is a `const uniform int8 *`".to_owned(),
        _ => format!("write `{word}`: names have no prefix"),
    }
}

/// Whether `#include` names a header of C's or C++'s library.
pub(crate) fn is_standard_header(name: &str) -> bool {
    const OF_C: &[&str] =
        &["math.h", "stdio.h", "stdlib.h", "stdint.h", "string.h", "stdbool.h", "assert.h", "float.h"];
    OF_C.contains(&name) || !name.contains(['.', '/'])
}
