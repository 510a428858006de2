//! The convention of the files: which function is the test, how it is called, and where the file is to be run.

use regex_lite::Regex;
use spmdvm::Width;
use std::sync::LazyLock;

/// What a test function takes, and the number that `TEST_SIG` has for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The function's name.
    pub name: &'static str,
    /// The value of the macro `TEST_SIG`.
    pub number: u32,
    /// How its outcome is judged.
    pub kind: Kind,
    /// Parameters after `RET`.
    pub inputs: &'static [Input],
}

/// How a test is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The function fills an array; `result` fills in what is expected.
    Values,
    /// No function: the size of a struct in the host's layout is the one value.
    Size,
    /// The function prints; `print_result` prints the same.
    Prints,
}

/// An argument of a test function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// `float a[]`: 1, 2, 3 …
    Floats,
    /// `double a[]`: 1, 2, 3 …
    Doubles,
    /// `int b[]`: 2, 4, 6 …
    EvenInts,
    /// `int b[]`: 5, 6, 7 …
    IntsFromFive,
    /// `float b`: 5.
    Float,
    /// `double b`: 5.
    Double,
}

use Input::{Double, Doubles, EvenInts, Float, Floats, IntsFromFive};

/// Every signature of the convention.
pub const SIGNATURES: &[Signature] = &[
    Signature { name: "f_v", number: 0, kind: Kind::Values, inputs: &[] },
    Signature { name: "f_f", number: 1, kind: Kind::Values, inputs: &[Floats] },
    Signature { name: "f_fu", number: 2, kind: Kind::Values, inputs: &[Floats, Float] },
    Signature { name: "f_fi", number: 3, kind: Kind::Values, inputs: &[Floats, EvenInts] },
    Signature { name: "f_du", number: 4, kind: Kind::Values, inputs: &[Doubles, Double] },
    Signature { name: "f_duf", number: 5, kind: Kind::Values, inputs: &[Doubles, Float] },
    Signature { name: "f_di", number: 6, kind: Kind::Values, inputs: &[Doubles, IntsFromFive] },
    Signature { name: "f_sz", number: 7, kind: Kind::Size, inputs: &[] },
    Signature { name: "print_uf", number: 32, kind: Kind::Prints, inputs: &[Float] },
    Signature { name: "print_f", number: 33, kind: Kind::Prints, inputs: &[Floats] },
    Signature { name: "print_fuf", number: 34, kind: Kind::Prints, inputs: &[Floats, Float] },
];

impl Kind {
    /// The function that gives what is expected.
    pub fn expectation(self) -> &'static str {
        match self {
            Kind::Values | Kind::Size => "result",
            Kind::Prints => "print_result",
        }
    }
}

impl Input {
    /// The parameter as it is declared.
    pub fn declaration(self) -> &'static str {
        match self {
            Floats => "uniform float a[]",
            Doubles => "uniform double a[]",
            EvenInts | IntsFromFive => "uniform int b[]",
            Float => "uniform float b",
            Double => "uniform double b",
        }
    }
}

/// The signature of a program: that of the last test function (or struct) that a declaration with `export`, `task` or
/// `struct` names.
pub fn signature(text: &str) -> Option<&'static Signature> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z_]\w*|[(;{}]").expect("a correct pattern"));
    let text = without_comments(text);
    let words: Vec<&str> = WORD.find_iter(&text).map(|m| m.as_str()).collect();
    let (mut found, mut is_declared) = (None, false);
    for (i, &word) in words.iter().enumerate() {
        match word {
            "export" | "task" | "struct" => is_declared = true,
            ";" | "{" | "}" => is_declared = false,
            _ if is_declared => {
                let is_function = words.get(i + 1) == Some(&"(");
                let fits = |s: &&Signature| s.name == word && (is_function || s.kind == Kind::Size);
                found = SIGNATURES.iter().find(fits).or(found);
            }
            _ => {}
        }
    }
    found
}

fn without_comments(text: &str) -> String {
    static COMMENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"//[^\n]*|(?s:/\*.*?\*/)").expect("a correct pattern"));
    COMMENT.replace_all(text, " ").into_owned()
}

/// The first word of the rule that keeps a program from running here, if one does. Later rules override earlier ones.
pub fn skip_rule(text: &str, width: Width) -> Result<Option<String>, String> {
    static RULE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"// *rule: (run|skip) on (arch|OS|cpu|target|jit)=(.*)").expect("a correct pattern")
    });
    let mut skipped_by = None;
    for line in text.lines().filter(|line| line.contains("rule:")) {
        let Some(rule) = RULE.captures(line) else { continue };
        let (action, key, pattern) = (&rule[1], &rule[2], rule[3].trim_end());
        if matches(pattern, &identity(key, width)).map_err(|e| format!("`{}`: {e}", rule[0].trim()))? {
            skipped_by = (action == "skip").then(|| format!("{key}={pattern}"));
        }
    }
    Ok(skipped_by)
}

/// Returns whether a rule's value fits. `!` negates, `*` is anything, and everything else is a pattern for the whole word.
fn matches(pattern: &str, value: &str) -> Result<bool, String> {
    let (negated, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
    let pattern = if pattern == "*" { ".*" } else { pattern };
    let whole = Regex::new(&format!("^(?:{pattern})$")).map_err(|_| "this is no regular expression".to_owned())?;
    Ok(whole.is_match(value) != negated)
}

/// What we are, for rules; the same on every engine.
fn identity(key: &str, width: Width) -> String {
    match key {
        "arch" => "x86-64".into(),
        "OS" => "linux".into(),
        "cpu" => "unspec".into(),
        "target" => format!("avx2-i32x{}", width.lanes()),
        _ => "false".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_in(text: &str) -> Option<&'static str> {
        signature(text).map(|s| s.name)
    }

    #[test]
    fn signatures_are_found_by_name() {
        assert_eq!(name_in("export void f_v(uniform float RET[]) { }"), Some("f_v"));
        assert_eq!(name_in("task void\n  f_fu (uniform float RET[],"), Some("f_fu"));
        assert_eq!(name_in("task void print_fuf(uniform float a[], uniform float b)"), Some("print_fuf"));
        assert_eq!(name_in("struct f_sz { int a; };"), Some("f_sz"));
        assert_eq!(name_in("task void f_f_task(uniform float a[]);\ntask void f_f(uniform float r[]);"), Some("f_f"));
    }

    #[test]
    fn what_is_not_declared_is_no_test() {
        assert_eq!(name_in("// export void f_v(uniform float RET[])\nvoid f_f(int a) { }"), None);
        assert_eq!(name_in("export void g() { f_v(1); }"), None);
        assert_eq!(name_in("/* task void f_v( */"), None);
    }

    fn is_skipped(text: &str) -> bool {
        skip_rule(text, Width::default()).expect("correct rules").is_some()
    }

    #[test]
    fn later_rules_override() {
        assert!(is_skipped("// rule: skip on arch=*"));
        assert!(!is_skipped("// rule: skip on arch=*\n//rule: run on arch=x86-64"));
        assert!(is_skipped("// rule: run on OS=linux\n// rule: skip on target=avx2.*"));
    }

    #[test]
    fn patterns_fit_whole_words() {
        assert!(!is_skipped("// rule: skip on arch=x86"));
        assert!(is_skipped("// rule: skip on arch=!x86"));
        assert!(is_skipped("// rule: skip on target=avx2-i32x16"));
        assert!(!is_skipped("// rule: skip on jit=true"));
        assert!(!is_skipped("// rule: this is some other comment"));
        assert!(skip_rule("// rule: skip on arch=(", Width::default()).is_err());
    }
}
