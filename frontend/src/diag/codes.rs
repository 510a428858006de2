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
    E0012 IncludeNotFound: "The file named by `#include` was not found from the including file's folder or in the include paths.";
    E0013 IncludeForbidden: "An `#include` that would leave the folders that a sandboxed program may read: below the main file's folder and the given include paths. Programs given as strings are sandboxed, and may include only built-in headers where no include paths are given; files are if that is asked for (`--sandbox-includes`).";
    E0014 IncludeLimit: "Files include one another deeper, or are more or larger, than the limits allow. Use `#pragma once`.";
    E0015 ErrorDirective: "The program contains an `#error` that was reached.";
    E0016 BadPaste: "`##` joined two tokens to something that is no token.";
    E0017 UnreadableFile: "The file to compile cannot be read: it does not exist, is a folder, or may not be opened.";
    E0018 SourceTooLarge: "The program is larger than the limits allow: 64 MiB of source in all its files, or 4,194,304 tokens after preprocessing. Split it, or read tables from arrays that are passed; hosts can allow more.";

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
    E0117 CommaInBrackets: "A comma in the brackets of an index, as in `x[i, j]`. Each dimension has brackets of its own: `x[i][j]`. (In C the comma operator would drop `i` and give `x[j]`; where that is meant, parentheses say so: `x[(i, j)]`.)";

    // Meaning.
    E0200 UndefinedName: "A name that is declared nowhere in sight.";
    E0201 Redefinition: "A name declared again with another meaning in the same scope, or a function defined twice.";
    E0202 TypeMismatch: "A value whose type cannot become the one needed. Some conversions need a cast.";
    E0203 VaryingToUniform: "A varying value (one per lane) where a uniform one (one for the gang) is needed. Declare the target `varying`, or make one value of many: `reduce_add(v)`, `reduce_max(v)`, `extract(v, lane)`.";
    E0204 NotAssignable: "An assignment, `++`, `&` or reference to something that is no variable or memory.";
    E0205 AssignToConst: "An assignment to something declared `const`, or to a loop variable that must not be changed.";
    E0206 BadOperand: "An operator applied to values it is not defined for.";
    E0207 NoMatchingFunction: "No function of that name accepts these arguments. Each candidate is listed with the reason why it does not.";
    E0208 AmbiguousCall: "Several functions of that name fit equally well. Cast arguments to the types meant.";
    E0209 NotCallable: "Something is called that is no function.";
    E0210 NoSuchMember: "A struct has no member, or a short vector no component, of that name.";
    E0211 NotIndexable: "`[…]` applied to something that is no array, pointer or short vector, or an index that is no integer.";
    E0212 NotAPointer: "`*` or `->` applied to something that is no pointer, or to a `void` pointer.";
    E0213 BadInitializer: "An initialiser that does not fit what it initialises: too many values, braces around the wrong thing.";
    E0214 NotConstant: "A value that must be known when the program is compiled, and is not.";
    E0215 BadArrayLength: "The length of an array or short vector is negative, too large or unknown.";
    E0216 IncompleteType: "A type of which the size is not known here: a struct that is only declared, `void`, or an array without a length.";
    E0217 MisplacedControl: "`break`, `continue`, `case` or `default` outside the statement it belongs to, or where it cannot be.";
    E0218 BadReturn: "A `return` without the value the function must give, or with one that it must not give.";
    E0219 BadSwitch: "A `switch` with labels that repeat one another, or with a selector that is no integer.";
    E0220 BadGoto: "A `goto` to a label that does not exist, a label that stands twice, or a `goto` under varying control flow, where lanes could part.";
    E0221 BadForeachUse: "A `foreach` whose bounds are not uniform integers, or something that is impossible inside one.";
    E0222 BadTask: "`launch` of something that is no task, a call of a task without `launch`, or a task that gives a value.";
    E0223 BadCrev: "A `crev` call of something that cannot be called lane by lane.";
    E0224 BadExport: "An exported function whose parameters or result hosts cannot give or take.";
    E0225 BadFunction: "A function declared with qualifiers that exclude one another or do not fit its definition.";
    E0226 BadTemplateUse: "Template arguments that do not fit the template, cannot be deduced, or name no template.";
    E0227 BadFormat: "A `print` format that does not fit its arguments.";
    E0228 BadCast: "A cast between types that cannot be converted into one another.";
    E0229 BadReference: "A reference that is bound to something it cannot refer to, such as memory at different addresses in different lanes.";
    E0230 BadSoa: "A `soa<n>` type that makes no sense: `n` must be a power of two, and members must have no `uniform` or `varying` of their own.";
    E0231 StaticAssertFailed: "The condition of a `static_assert` does not hold.";
    E0232 BadAllocation: "A `new`, `delete` or `alloca` of something that cannot be allocated or freed.";
    E0233 UndefinedFunction: "A function that is declared and called but defined nowhere. If another file defines it, link that: `sources=[…]` in Python, `--with FILE` on the command line, `Module::compile_all` in Rust. If it is declared `extern \"C\"`, the host may provide it. (A program may be compiled without; it is an error to call what needs the function, and `spmdvm check --link` tells before.)";
    E0234 BadOperation: "A use of `__op_…` that names no operation or gives it the wrong operands; only the library uses it.";
    E0235 BadType: "A type that makes no sense, such as an array of functions, a reference to a reference or a `void` variable.";
    E0236 VaryingInNestedForeach: "A varying value assigned to a variable of the outer loop's lane inside a nested `foreach`. There, an outer varying variable is the one value of the current outer lane. Combine the inner lanes first: `reduce_add(v)`.";
    E0237 BadPolymorphism: "A polymorphic type (`integer`, `floating`, `number`) for which the arguments give no or different types.";
    E0238 UnknownIntrinsic: "A call of an LLVM intrinsic. They are tied to one machine and do not exist here; the library has functions for what they do.";
    E0239 BadOperatorOverload: "An overloaded operator with the wrong parameters, or for types that have the operator already.";
    E0240 TooManyInstances: "The program's templates and polymorphic functions have more instances than the limit allows (10,000). Often an instance asks for another one with ever new arguments.";

    // Linking.
    E0300 DefinedTwice: "Two files define a function or variable of the same name. What belongs to one file alone is declared `static`; what several use is defined in one of them and declared (`extern`) in the others.";
    E0301 DeclaredDifferently: "A file declares a function or variable of another file with another type than it has there, or a struct in it is not the same in both. Share one header.";
    E0302 CannotLink: "Files that each compile cannot be one program, for instance because all their variables together are too large.";

    E0303 BadHostFunction: "A function that the host is to provide takes or gives what hosts do not have: structs by value, or varying pointers. Pass such things through uniform pointers. What is called for each lane gives a result for each.";

    // Lowering.
    E0900 CannotLower: "Something that the bytecode cannot express, such as a struct of thousands of members passed by value. The message says what.";
    E0901 InternalError: "The compiler contradicts itself. The program may be right; please report it.";

    W0001 WarningDirective: "The program contains a `#warning` that was reached.";
    W0002 MacroRedefined: "A macro is defined again with another meaning. Write `#undef` first if this is intended.";
    W0003 UnknownPragma: "A `#pragma` that means nothing here; it is ignored.";
    W0004 ExtraTokens: "Something stands after a directive that should be at its end; it is ignored.";
    W0005 FloatWithoutPoint: "A `float` literal without a point, such as `1f`. It is read as `1.0f`.";
    W0006 ImplicitInt: "A declaration without a type. `int` is assumed.";
    W0007 LiteralTruncated: "A literal's value does not fit into the type its suffix demands; it wraps.";
    W0008 Deprecated: "An old form that still works. The message says what to write instead.";
    W0009 DigitsLost: "A number without a suffix is a `float`, and this one has digits that a `float` does not keep: about seven count. Write `3.14159265358979d` for a `double`; with the suffix `f`, or fewer digits, the `float` is meant.";
    W0010 EmptyDeclaration: "A declaration without a name, such as `int;`. It declares nothing.";

    W0200 UnusedVariable: "A variable that is never used. A name that begins with `_` is not reported.";
    W0201 UnreachableCode: "Statements that can never run.";
    W0202 AmbiguousConversion: "Another function of that name fits some argument better than the one chosen. Cast arguments to the types meant.";
    W0203 DiscardsConst: "A pointer to `const` becomes a pointer through which one may write.";
    W0204 NoEffect: "A statement that computes a value and does nothing with it.";
    W0205 ConstantDivisionByZero: "An integer division by the constant zero. It traps if an active lane reaches it.";
    W0206 DeprecatedFunction: "A function declared as deprecated.";
    W0207 LossyAssignment: "A compound assignment converts its right side to the type of its left side first: `i *= 0.5` with an integer `i` multiplies by 0. Write `i = i * 0.5`.";
    W0208 MissingReturn: "A function that should give a value can end without `return`. It then gives 0.";
    W0209 ConstantOutOfRange: "A constant that does not fit into the type it is converted to; it wraps.";
    W0210 ReferenceToValue: "A reference that is not `const` is bound to a value, which is kept in a variable that nobody else sees.";
    W0211 FormatMismatch: "A conversion letter in a `print` format that is not for the type of its value.";
    W0212 AssignmentAsCondition: "An assignment where a condition is expected, as in `if (a = b)`. To compare write `==`; if the assignment is meant, put it in parentheses.";
    W0213 ExportedVaryingArray: "An exported function takes an array without `uniform`. Each of its elements is then a whole gang of values, one per lane, which is rarely meant. Write `uniform T a[]`, or `varying T a[]` if it is.";
    W0214 FloatAsDouble: "A constant such as `0.1`, which is a `float` for want of a suffix and no sum of few powers of two, becomes a `double`: it was rounded to single precision first, so the result is not as exact as the type suggests. Write `0.1d`; or `0.1f` if the `float` is meant.";
    W0215 SignLost: "A comparison of a uniform and a varying integer of which one is signed and the other unsigned. Both become unsigned, so a negative value counts as a huge one. Give both the same type; a cast says that it is meant.";
    W0216 DecidedComparison: "A comparison with a constant that gives the same for every value of the other side's type: an unsigned number is never below 0, an `int8` never 200, a `float` never equal to the double `0.1d`.";
    W0217 FractionLost: "A `float` together with a 64-bit integer: their common type is the integer's, as in ISPC, so the fraction is lost before anything is computed. Cast the integer to `float` or `double`.";
    W0218 UsedBehindBlock: "A variable that is used behind the `unmasked` block that declares it. An `unmasked` block opens no scope, as in ISPC, which is easily overlooked: declare the variable in front of it. Only the first one is reported.";
    W0219 FractionOfOffset: "A float is added to a pointer. As in ISPC it becomes an integer first, so its fraction is lost. A cast says that it is meant.";

    // Performance: only for who asks (`spmdvm check`, `hints` in Python and Rust), about loops.
    W0900 Gather: "A load in a loop for which every lane has an address of its own. It takes about as long as one load for each lane, where elements in a row are one vector.";
    W0901 Scatter: "A store in a loop for which every lane has an address of its own. It takes about as long as one store for each lane, where elements in a row are one vector.";
    W0902 StridedAccess: "Lanes access elements at a constant distance in a loop, such as a member of the structs of an array. That takes several loads or stores, and most of what is fetched from memory is not used.";
    W0903 LaneDivision: "A division of integers in a loop by divisors that differ between lanes. It is done for one lane after another.";
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

    /// Whether it is a warning of something superfluous, which is not given for headers.
    pub fn is_style(self) -> bool {
        matches!(self, Code::UnusedVariable | Code::UnreachableCode)
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
