//! The table of all messages.
//!
//! Adding one is adding a row. Numbers are never used again for something else: E0001–E0099 preprocessor and lexer,
//! E0100–E0199 syntax, from E0200 on meaning; W0001–W0099 likewise preprocessor, lexer and syntax, from W0200 on meaning,
//! from W0900 on performance.

use super::Severity;

macro_rules! codes {
    ($($id:ident $name:ident: $explanation:literal;)*) => {
        /// A row of the table of messages.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Code {
            $(#[doc = concat!(stringify!($id), ". ", $explanation)] $name,)*
        }

        impl Code {
            /// All rows in order.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// The number, such as `E0101`.
            pub fn id(self) -> &'static str {
                match self { $(Code::$name => stringify!($id),)* }
            }

            /// The name, such as `ExpectedToken`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$name => stringify!($name),)* }
            }

            /// What the message means and what to do about it, for the documentation.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$name => $explanation,)* }
            }
        }
    };
}

codes! {
    // Preprocessor and lexer.
    E0001 UnexpectedCharacter: "A character that no token begins with, such as `$` or a typographic quote.";
    E0002 UnterminatedComment: "A `/*` without the `*/` that ends the comment.";
    E0003 UnterminatedLiteral: "A string or character literal that does not end on its line. Close the quote; a long string can be written as several literals one after another.";
    E0004 BadEscape: "A backslash sequence that is none, or whose value does not fit into a character.";
    E0005 BadNumber: "A number that is malformed or too large for every type, such as `12abc`, `0xg`, `09` or `1d`.";
    E0006 BadDirective: "A line that begins with `#` but is no directive, or a directive that is malformed.";
    E0007 UnbalancedConditional: "An `#else`, `#elif` or `#endif` without its `#if`, or an `#if` without `#endif`.";
    E0008 BadConditionalExpression: "The expression of an `#if` or `#elif` is malformed: it may hold integers, `defined`, macros and operators.";
    E0009 BadMacroDefinition: "A `#define` that is malformed: a bad parameter list, `#` or `##` in the wrong place, or a name that cannot be defined.";
    E0010 BadMacroUse: "A macro used with the wrong number of arguments or without its closing parenthesis.";
    E0011 MacroLimit: "Macros expand to more tokens, or are nested deeper, than the limits allow.";
    E0012 IncludeNotFound: "The file named by `#include` was not found below the including file's folder or in the include paths.";
    E0013 IncludeForbidden: "An `#include` that would leave the folders a program may read: below the including file's folder and the given include paths; programs given as strings may include only built-in headers.";
    E0014 IncludeLimit: "Files include one another deeper, or are more or larger, than the limits allow. Use `#pragma once`.";
    E0015 ErrorDirective: "The program contains an `#error` that was reached.";
    E0016 BadPaste: "`##` joined two tokens to something that is no token.";

    // Syntax.
    E0100 UnexpectedToken: "Something stands where the grammar allows it not. The message says what could stand there.";
    E0101 ExpectedToken: "A certain token is missing, such as `;` or `)`. The message says which and where.";
    E0102 ExpectedExpression: "A value is missing, such as after an operator or in an empty `()`.";
    E0103 ExpectedType: "A type is missing, or a name that is no type stands where a type must be.";
    E0104 UnknownType: "A name used as a type that is not declared as one. Types of other languages have other names here: `int64` for `long long`.";
    E0105 ExpectedName: "A name is missing in a declaration.";
    E0106 BadSpecifiers: "Specifiers that contradict or repeat one another, such as `uniform varying int` or `unsigned float`.";
    E0107 BadDeclaration: "A declaration that makes no sense, such as a function that returns an array or a parameter list after a variable.";
    E0108 NestingTooDeep: "Expressions, statements or types are nested deeper than the limit allows.";
    E0109 UnclosedDelimiter: "A `{`, `(` or `[` is never closed.";
    E0110 UnsupportedSyntax: "Syntax of C or C++ that the language does not have. The help says what to write instead.";
    E0111 MisplacedStatement: "A statement or declaration that cannot stand there, such as code outside a function or `else` without `if`.";
    E0112 BadLaunch: "A malformed `launch`: it is `launch f(…)`, `launch[n] f(…)`, or with two or three counts.";
    E0113 BadForeach: "A malformed `foreach`: it is `foreach (i = start ... end, …)`.";
    E0114 BadTemplate: "A malformed template: bad parameters, or something other than a function.";
    E0115 BadOperatorName: "`operator` is followed by something that cannot be overloaded.";
    E0116 BadAttribute: "A malformed `__attribute__`.";

    W0001 WarningDirective: "The program contains a `#warning` that was reached.";
    W0002 MacroRedefined: "A macro is defined again with another meaning. Write `#undef` first if this is intended.";
    W0003 UnknownPragma: "A `#pragma` that means nothing here; it is ignored.";
    W0004 ExtraTokens: "Something stands after a directive that should be at its end; it is ignored.";
    W0005 FloatWithoutPoint: "A `float` literal without a point, such as `1f`. It is read as `1.0f`.";
    W0006 ImplicitInt: "A declaration without a type. `int` is assumed.";
    W0007 LiteralTruncated: "A literal's value does not fit into the type its suffix demands; it wraps.";
    W0008 Deprecated: "An old form that still works. The message says what to write instead.";
}

impl Code {
    /// Errors begin with `E`.
    pub fn severity(self) -> Severity {
        if self.id().starts_with('E') { Severity::Error } else { Severity::Warning }
    }

    /// Whether it is a warning about performance.
    pub fn is_performance(self) -> bool {
        self.id().starts_with("W09")
    }

    /// The row with this number.
    pub fn from_id(id: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_well_formed_and_unique() {
        for (index, code) in Code::ALL.iter().enumerate() {
            let (letter, digits) = code.id().split_at(1);
            assert!(matches!(letter, "E" | "W") && digits.len() == 4 && digits.parse::<u32>().is_ok(), "{code:?}");
            assert!(Code::ALL[..index].iter().all(|other| other.id() != code.id()), "{} used twice", code.id());
            assert_eq!(Code::from_id(code.id()), Some(*code));
        }
    }
}
