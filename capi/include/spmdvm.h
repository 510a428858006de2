/* spmdvm: compiles and runs SPMD programs (the ISPC language, extended), from C and C++.
 *
 *     spmdvm_error *error = NULL;
 *     spmdvm_module *module = spmdvm_compile("scale.ispc", text, strlen(text), NULL, &error);
 *     spmdvm_value args[] = {spmdvm_array(x, sizeof x), spmdvm_i32(n), spmdvm_f32(2)};
 *     if (!module || !spmdvm_call(module, "scale", args, 3, NULL, &error))
 *         fprintf(stderr, "%s\n", spmdvm_error_message(error));
 *     spmdvm_error_free(error);
 *     spmdvm_module_free(module);
 *
 * Link with libspmdvm.so, or with libspmdvm.a, -lpthread, -ldl and -lm.
 *
 * Rules. Functions that can fail take a last argument `spmdvm_error **error`, which may be NULL; if they fail they give
 * NULL or false and, if `error` is not NULL, store an error there, which the caller frees. Nothing is stored otherwise.
 * Texts are UTF-8; what a function gives belongs to the object that it came from. Modules may be used from any thread;
 * calls of a module with state (globals that change, `new`, bound memory) take turns. NULL may be passed for objects: the
 * function fails.
 *
 * Safety. Programs access the memory that they are given and their own, and nothing else: what goes beyond is an error
 * with the place in the source. The caller promises that memory which is passed has the size that is said, and stays
 * while it is used.
 */
#ifndef SPMDVM_H
#define SPMDVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled program. */
typedef struct spmdvm_module spmdvm_module;
/* What went wrong. */
typedef struct spmdvm_error spmdvm_error;

/* The types of elements. */
typedef enum spmdvm_type {
    SPMDVM_BOOL,
    SPMDVM_INT8,
    SPMDVM_INT16,
    SPMDVM_INT32,
    SPMDVM_INT64,
    SPMDVM_UINT8,
    SPMDVM_UINT16,
    SPMDVM_UINT32,
    SPMDVM_UINT64,
    SPMDVM_FLOAT16,
    SPMDVM_FLOAT,
    SPMDVM_DOUBLE
} spmdvm_type;

/* The kinds of errors. */
typedef enum spmdvm_error_kind {
    /* The program does not compile, or cannot be read. */
    SPMDVM_ERROR_COMPILE,
    /* An argument or option does not fit. */
    SPMDVM_ERROR_ARGUMENT,
    /* The program failed while it ran: see spmdvm_error_code. */
    SPMDVM_ERROR_TRAP,
    /* The library itself failed; please report it. */
    SPMDVM_ERROR_INTERNAL
} spmdvm_error_kind;

/* A function of the host, for programs that declare it `extern "C"`. It is called with the C calling convention, once per
 * gang (once per active lane, with that lane's values, if anything is declared varying), by any thread that runs the program,
 * and gets the machine's addresses for pointers. This ends memory safety: the function must have the signature that the program declares, and stay within the memory that it is given. */
typedef struct spmdvm_host {
    const char *name;
    void (*function)(void);
} spmdvm_host;

/* How to compile and what a call may take. All zero: the defaults. */
typedef struct spmdvm_options {
    /* Lanes of the gang, a power of two up to 64; 0: 16. */
    uint32_t width;
    /* Threads that run tasks; 0: as many as there are cores. */
    uint32_t task_threads;
    /* "auto", "interp", "ir", "clif" or "x86"; NULL: "auto". */
    const char *engine;
    /* "contract", "strict" or "fast"; NULL: "contract". */
    const char *fp;
    /* Folders that #include searches. */
    const char *const *include_paths;
    size_t n_include_paths;
    /* Macros: "NAME" or "NAME=TEXT". */
    const char *const *defines;
    size_t n_defines;
    /* Loop iterations and calls that one call may take; 0: no limit. */
    uint64_t fuel;
    /* Bytes that the program may allocate; 0: 4 GiB. */
    uint64_t memory;
    /* Seconds that one call, and compiling, may take; 0: no limit. */
    double timeout;
    /* Functions of the host. */
    const spmdvm_host *hosts;
    size_t n_hosts;
} spmdvm_options;

typedef enum spmdvm_value_kind {
    /* No value: the result of a function without one. */
    SPMDVM_NOTHING,
    /* One value of type `type`: its bits are the low ones of `bits`. */
    SPMDVM_SCALAR,
    /* One value of type `type` per lane: `bytes` bytes at `data`. */
    SPMDVM_LANES,
    /* Memory of the caller that the program may read and write: `bytes` bytes at `data`. For a struct or short vector by
     * value, its bytes. */
    SPMDVM_ARRAY,
    /* The same, only read. */
    SPMDVM_CONST_ARRAY,
    /* An address in the program's memory, in `bits`; 0 is null. */
    SPMDVM_POINTER
} spmdvm_value_kind;

/* An argument or a result. */
typedef struct spmdvm_value {
    spmdvm_value_kind kind;
    spmdvm_type type;
    uint64_t bits;
    void *data;
    size_t bytes;
} spmdvm_value;

/* Compiling */

/* Compiles `length` bytes of source text; messages call it `name`. #include reads from the include paths only. */
spmdvm_module *spmdvm_compile(const char *name, const char *text, size_t length, const spmdvm_options *options,
                              spmdvm_error **error);
/* Compiles a file. #include also reads whatever the process may. */
spmdvm_module *spmdvm_compile_file(const char *path, const spmdvm_options *options, spmdvm_error **error);
/* Compiles `n` files, each by itself, and links them to one program. */
spmdvm_module *spmdvm_compile_files(const char *const *paths, size_t n, const spmdvm_options *options,
                                    spmdvm_error **error);
void spmdvm_module_free(spmdvm_module *module);

/* Warnings of the compilation as text; "" if there are none. */
const char *spmdvm_warnings(const spmdvm_module *module);
/* Lanes of the gang. */
size_t spmdvm_width(const spmdvm_module *module);
/* The engine that runs the program. */
const char *spmdvm_engine(const spmdvm_module *module);

/* Exported functions, counted from 0. */
size_t spmdvm_n_exports(const spmdvm_module *module);
/* The name of an export; NULL if there is none of that number. Overloads share one. */
const char *spmdvm_export_name(const spmdvm_module *module, size_t index);
/* Its declaration as the source has it. */
const char *spmdvm_export_declaration(const spmdvm_module *module, size_t index);

/* Calling */

/* Calls the exported function of this name whose parameters fit the arguments, all lanes on.
 *
 * `result` may be NULL. A number goes into its `bits`, a pointer too (NULL pointers are 0). One value per lane, or a
 * struct or short vector, goes to the `bytes` bytes at its `data`, which the caller sets before; it fails if there is too
 * little room. */
bool spmdvm_call(spmdvm_module *module, const char *name, const spmdvm_value *args, size_t n_args,
                 spmdvm_value *result, spmdvm_error **error);

/* Calls an exported function for each of `n` elements, as many at once as the gang has lanes. A varying parameter takes
 * a scalar, or an array with one element of the parameter's type for each; other parameters are as above. `result` is the
 * array for the results, or NULL. */
bool spmdvm_map(spmdvm_module *module, const char *name, const spmdvm_value *args, size_t n_args, size_t n,
                const spmdvm_value *result, spmdvm_error **error);

/* Ends running calls of the module, from any thread, until it is set to false again; calls that begin meanwhile end too. */
void spmdvm_interrupt(spmdvm_module *module, bool stop);

/* Where prints go, instead of standard output: each call gets the text of one print. `print` may be called by threads of
 * the library, one at a time, and must not call the module. NULL: standard output. */
void spmdvm_set_print(spmdvm_module *module, void (*print)(void *user, const char *text, size_t length), void *user);

/* Memory */

/* The memory of a global variable of the file that is not `extern`, for reading and, if it is neither `static` nor
 * `const`, for writing while no call runs. It stays while the module does. NULL if there is none. */
void *spmdvm_global(spmdvm_module *module, const char *name, size_t *bytes, spmdvm_error **error);
/* Lets an `extern` variable be `bytes` bytes at `data`, which stay until the module is freed or the variable supplied
 * anew; `data` NULL takes them away. */
bool spmdvm_supply(spmdvm_module *module, const char *name, void *data, size_t bytes, spmdvm_error **error);
/* Gives memory an address, for pointers in structs that are passed, until spmdvm_unbind: what the pointers of the
 * program hold, not those of the machine. 0 if it fails. The memory stays until it is unbound and no call runs. */
uint64_t spmdvm_bind(spmdvm_module *module, void *data, size_t bytes, bool writable, spmdvm_error **error);
void spmdvm_unbind(spmdvm_module *module, uint64_t address);

/* Errors */

/* What went wrong, with source snippets; "" for NULL. */
const char *spmdvm_error_message(const spmdvm_error *error);
spmdvm_error_kind spmdvm_error_get_kind(const spmdvm_error *error);
/* Of a trap its kind, such as "out_of_bounds"; of a compilation the code of the first error, such as "E0201"; else "". */
const char *spmdvm_error_code(const spmdvm_error *error);
/* The file and the line, from 1, of the trap or the first error; "" and 0 if there is none. */
const char *spmdvm_error_file(const spmdvm_error *error);
size_t spmdvm_error_line(const spmdvm_error *error);
void spmdvm_error_free(spmdvm_error *error);

/* The version of the library. */
const char *spmdvm_version(void);

/* Values */

#define SPMDVM_INTEGER(name, type_of, unsigned_type, code)                          \
    static inline spmdvm_value spmdvm_##name(type_of x) {                           \
        spmdvm_value value = {SPMDVM_SCALAR, code, (unsigned_type)x, NULL, 0};      \
        return value;                                                               \
    }
SPMDVM_INTEGER(i8, int8_t, uint8_t, SPMDVM_INT8)
SPMDVM_INTEGER(i16, int16_t, uint16_t, SPMDVM_INT16)
SPMDVM_INTEGER(i32, int32_t, uint32_t, SPMDVM_INT32)
SPMDVM_INTEGER(i64, int64_t, uint64_t, SPMDVM_INT64)
SPMDVM_INTEGER(u8, uint8_t, uint8_t, SPMDVM_UINT8)
SPMDVM_INTEGER(u16, uint16_t, uint16_t, SPMDVM_UINT16)
SPMDVM_INTEGER(u32, uint32_t, uint32_t, SPMDVM_UINT32)
SPMDVM_INTEGER(u64, uint64_t, uint64_t, SPMDVM_UINT64)
#undef SPMDVM_INTEGER

static inline spmdvm_value spmdvm_f32(float x) {
    spmdvm_value value = {SPMDVM_SCALAR, SPMDVM_FLOAT, 0, NULL, 0};
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    value.bits = bits;
    return value;
}
static inline spmdvm_value spmdvm_f64(double x) {
    spmdvm_value value = {SPMDVM_SCALAR, SPMDVM_DOUBLE, 0, NULL, 0};
    memcpy(&value.bits, &x, sizeof x);
    return value;
}
static inline spmdvm_value spmdvm_bool(bool x) {
    spmdvm_value value = {SPMDVM_SCALAR, SPMDVM_BOOL, x, NULL, 0};
    return value;
}
/* Memory that the program may read and write. */
static inline spmdvm_value spmdvm_array(void *data, size_t bytes) {
    spmdvm_value value = {SPMDVM_ARRAY, SPMDVM_BOOL, 0, data, bytes};
    return value;
}
/* Memory that the program may only read; or a struct or short vector by value. */
static inline spmdvm_value spmdvm_const_array(const void *data, size_t bytes) {
    spmdvm_value value = {SPMDVM_CONST_ARRAY, SPMDVM_BOOL, 0, (void *)data, bytes};
    return value;
}
/* An address in the program's memory. */
static inline spmdvm_value spmdvm_pointer(uint64_t address) {
    spmdvm_value value = {SPMDVM_POINTER, SPMDVM_BOOL, address, NULL, 0};
    return value;
}
/* Room for a result that is a struct, a short vector, or one value per lane. */
static inline spmdvm_value spmdvm_room(void *data, size_t bytes) {
    spmdvm_value value = {SPMDVM_NOTHING, SPMDVM_BOOL, 0, data, bytes};
    return value;
}
/* Floating-point numbers that were given. */
static inline float spmdvm_as_float(spmdvm_value value) {
    uint32_t bits = (uint32_t)value.bits;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline double spmdvm_as_double(spmdvm_value value) {
    double x;
    memcpy(&x, &value.bits, sizeof x);
    return x;
}

#ifdef __cplusplus
}
#endif

#endif
