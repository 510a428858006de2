//! C programs that call one function with the arguments of a test case, and write what it leaves behind.
//!
//! The program is linked with an object that has the function. It writes the lines of [`form`](super::form) to the file that its first
//! argument names; its standard output is the called function's. Data stand in it bit by bit. It has what ISPC's objects ask of their
//! host for `launch` and `sync`; tasks run one after another.

use super::Job;
use crate::testcase::Argument;
use spmdvm::{Export, ExportParam, HostValue, Ty};
use std::fmt::Write as _;

/// The longest array that is written into a program.
const MAX_LENGTH: usize = 1 << 20;

/// What all programs begin with.
const PRELUDE: &str = r#"#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FROM_BITS(NAME, TYPE, BITS) \
    static inline TYPE NAME(BITS bits) { TYPE value; memcpy(&value, &bits, sizeof value); return value; }
FROM_BITS(float_of, float, uint32_t)
FROM_BITS(double_of, double, uint64_t)

/* One element: signed integers in decimal, all else in hexadecimal. */
static void put(FILE *to, const unsigned char *at, int size, bool is_signed) {
    uint64_t word = 0;
    for (int i = size; i-- > 0;) word = word << 8 | at[i];
    if (is_signed) fprintf(to, " %" PRId64, (int64_t)(word << (64 - 8 * size)) >> (64 - 8 * size));
    else fprintf(to, " 0x%" PRIx64, word);
}

static void put_all(FILE *to, const char *name, const void *data, size_t n, int size, bool is_signed) {
    fprintf(to, "%s:", name);
    for (size_t i = 0; i < n; i++) put(to, (const unsigned char *)data + i * size, size, is_signed);
    fprintf(to, "\n");
}

static void put_bools(FILE *to, const char *name, const unsigned char *data, size_t n) {
    fprintf(to, "%s:", name);
    for (size_t i = 0; i < n; i++) fprintf(to, " %d", data[i] != 0);
    fprintf(to, "\n");
}

/* What ISPC's objects ask for. A handle is the last of a chain of allocations. */
typedef void (*Task)(void *data, int thread, int threads, int index, int count, int x, int y, int z, int nx, int ny, int nz);
struct Block { struct Block *earlier; };

void *ISPCAlloc(void **handle, int64_t size, int32_t alignment) {
    size_t front = alignment < 64 ? 64 : (size_t)alignment;
    struct Block *block = aligned_alloc(front, front + ((size_t)size + front - 1) / front * front);
    if (!block) abort();
    block->earlier = *handle;
    *handle = block;
    return (char *)block + front;
}

void ISPCLaunch(void **handle, void *task, void *data, int nx, int ny, int nz) {
    (void)handle;
    int count = nx * ny * nz;
    for (int index = 0; index < count; index++)
        ((Task)task)(data, 0, 1, index, count, index % nx, index / nx % ny, index / nx / ny, nx, ny, nz);
}

void ISPCSync(void *handle) {
    for (struct Block *block = handle; block;) {
        struct Block *earlier = block->earlier;
        free(block);
        block = earlier;
    }
}
"#;

/// The C program for a job. The error says why such a program cannot make the call.
pub fn source(job: &Job<'_>) -> Result<String, String> {
    let (call, export) = (&job.case.call, job.export);
    if call.mask & job.options.width.full_mask() != job.options.width.full_mask() {
        return Err("the call has a mask, which a C program cannot set".into());
    }
    let mut text = PRELUDE.to_owned();
    if uses_halves(export) {
        text += "FROM_BITS(half_of, _Float16, uint16_t)\n";
    }
    let _ = writeln!(text, "\n{}", prototype(export)?);
    let mut passed = Vec::new();
    for (i, (param, (_, argument))) in export.params.iter().zip(&call.arguments).enumerate() {
        passed.push(match argument {
            Argument::Scalar(ty, bits) => scalar(*ty, *bits),
            Argument::Lanes(..) => return Err("it has varying parameters".into()),
            Argument::Array(ty, words) => {
                text += &array(i, param, *ty, words)?;
                format!("data{i}")
            }
            Argument::Alias { of, from } => alias(job, of, *from),
            Argument::Null => "NULL".to_owned(),
        });
    }
    text +=
        "\nint main(int argc, char **argv) {\n    FILE *to = fopen(argv[argc - 1], \"w\");\n    if (!to) return 99;\n";
    let called = format!("{}({})", export.name, passed.join(", "));
    match &export.result {
        Some(HostValue::Uniform(ty)) => {
            let _ = writeln!(text, "    {} result = {called};\n{}", c_type(*ty), put("result", "&result", *ty, 1));
        }
        _ => {
            let _ = writeln!(text, "    {called};");
        }
    }
    for (i, (name, argument)) in call.arguments.iter().enumerate() {
        if let Argument::Array(ty, words) = argument {
            text += &(put(name, &format!("data{i}"), *ty, words.len()) + "\n");
        }
    }
    text += "    return fclose(to) ? 98 : 0;\n}\n";
    Ok(text)
}

fn prototype(export: &Export) -> Result<String, String> {
    let result = match &export.result {
        None => "void",
        Some(HostValue::Uniform(ty)) => c_type(*ty),
        Some(HostValue::Varying(_)) => return Err("its result is varying".into()),
        Some(HostValue::Array { .. }) => return Err("its result is a struct or an address".into()),
    };
    let param = |param: &ExportParam| match &param.value {
        HostValue::Uniform(ty) => Ok(c_type(*ty)),
        HostValue::Varying(_) => Err(format!("its parameter `{}` is varying", param.name)),
        HostValue::Array { .. } => Ok("void *"),
    };
    let params = export.params.iter().map(param).collect::<Result<Vec<&str>, String>>()?;
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    Ok(format!("extern {result} {}({params});", export.name))
}

/// Whether a function takes or gives halves.
pub(super) fn uses_halves(export: &Export) -> bool {
    let is_half = |value: &HostValue| matches!(value, HostValue::Uniform(Ty::F16));
    export.params.iter().any(|param| is_half(&param.value)) || export.result.as_ref().is_some_and(is_half)
}

/// A type in C, as hosts have it.
pub(super) fn c_type(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::I8 => "int8_t",
        Ty::I16 => "int16_t",
        Ty::I32 => "int32_t",
        Ty::I64 => "int64_t",
        Ty::U8 => "uint8_t",
        Ty::U16 => "uint16_t",
        Ty::U32 => "uint32_t",
        Ty::U64 => "uint64_t",
        Ty::F16 => "_Float16",
        Ty::F32 => "float",
        Ty::F64 => "double",
    }
}

/// The type that holds a type's bits.
fn word_type(ty: Ty) -> &'static str {
    match ty.size() {
        1 => "uint8_t",
        2 => "uint16_t",
        4 => "uint32_t",
        _ => "uint64_t",
    }
}

fn scalar(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::F16 => format!("half_of({bits:#x})"),
        Ty::F32 => format!("float_of({bits:#x})"),
        Ty::F64 => format!("double_of({bits:#x})"),
        _ => format!("({})UINT64_C({bits:#x})", c_type(ty)),
    }
}

/// The definition of an array, aligned as compilers like it.
fn array(i: usize, param: &ExportParam, ty: Ty, words: &[u64]) -> Result<String, String> {
    if words.len() > MAX_LENGTH {
        return Err(format!("`{}` has {} elements, more than a C program is made with", param.name, words.len()));
    }
    let mut text = format!("static _Alignas(64) {} data{i}[{}] = {{", word_type(ty), words.len().max(1));
    for (at, word) in words.iter().enumerate() {
        text += if at % 16 == 0 { "\n    " } else { " " };
        let _ = write!(text, "{word:#x},");
    }
    text += if words.is_empty() { "0};\n" } else { "\n};\n" };
    Ok(text)
}

fn alias(job: &Job<'_>, of: &str, from: u64) -> String {
    let at = job.case.call.arguments.iter().position(|(name, _)| name == of);
    at.map_or("NULL".to_owned(), |i| format!("data{i} + {from}"))
}

fn put(name: &str, data: &str, ty: Ty, n: usize) -> String {
    match ty {
        Ty::Bool => format!("    put_bools(to, \"{name}\", (const unsigned char *){data}, {n});"),
        _ => {
            let is_signed = ty.is_int() && ty.is_signed();
            format!("    put_all(to, \"{name}\", {data}, {n}, {}, {is_signed});", ty.size())
        }
    }
}
