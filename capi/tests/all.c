/* Uses every function of the C library, and checks what it gives. Valid C and valid C++. */
#include <spmdvm.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, spmdvm_error_message(error)); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

static const char source[] =
    "struct Pair { uniform float a, b; };\n"
    "struct Node { uniform int value; Node *uniform next; };\n"
    "struct Span { uniform float *uniform x; uniform int64 n; };\n"
    "uniform int calls = 0;\n"
    "extern uniform float table[];\n"
    "export uniform Pair swapped(uniform Pair p) { ++calls; uniform Pair q = { p.b, p.a }; return q; }\n"
    "export Node *uniform push(Node *uniform list, uniform int value) {\n"
    "    Node *uniform node = uniform new uniform Node;\n"
    "    node->value = value;\n"
    "    node->next = list;\n"
    "    return node;\n"
    "}\n"
    "export uniform int total(const Node *uniform list) {\n"
    "    uniform int sum = 0;\n"
    "    for (; list != NULL; list = list->next) sum += list->value;\n"
    "    return sum;\n"
    "}\n"
    "export uniform float look(uniform int i) { return table[i]; }\n"
    "export uniform double half(uniform double x) { return x / 2; }\n"
    "export uniform bool negated(uniform bool b) { return !b; }\n"
    "export float lanes(float x) { return x + programIndex; }\n"
    "export int scaled(int x, uniform int k, int plus = 1) { return x * k + plus; }\n"
    "export uniform float sum(const uniform Span &span) {\n"
    "    float s = 0;\n"
    "    foreach (i = 0 ... span.n) s += span.x[i];\n"
    "    return reduce_add(s);\n"
    "}\n"
    "export void say(uniform int n) { print(\"n = %\\n\", n); }\n"
    "export void spin() { while (true) {} }\n";

static void keep(void *user, const char *text, size_t length) {
    char *kept = (char *)user;
    strncat(kept, text, length < 100 ? length : 100);
}

static float half_of(float x) { return x / 2; }

static int32_t total_of(const int32_t *numbers, int32_t n) {
    int32_t sum = 0, i;
    for (i = 0; i < n; ++i) sum += numbers[i];
    return sum;
}

static void hosts(const char *const *files) {
    static const char program[] =
        "extern \"C\" uniform float half_of(uniform float x);\n"
        "extern \"C\" uniform int total_of(const uniform int *uniform numbers, uniform int n);\n"
        "export uniform float f(const uniform int numbers[], uniform int n) { return half_of(total_of(numbers, n)); }\n";
    spmdvm_error *error = NULL;
    spmdvm_host functions[2];
    spmdvm_options options;
    int32_t numbers[3] = {1, 2, 4};
    spmdvm_value args[2], result;
    spmdvm_module *module;
    functions[0].name = "half_of";
    functions[0].function = (void (*)(void))half_of;
    functions[1].name = "total_of";
    functions[1].function = (void (*)(void))total_of;
    memset(&options, 0, sizeof options);
    options.hosts = functions;
    options.n_hosts = 2;
    module = spmdvm_compile("f.ispc", program, sizeof program - 1, &options, &error);
    CHECK(module);
    args[0] = spmdvm_const_array(numbers, sizeof numbers);
    args[1] = spmdvm_i32(3);
    CHECK(spmdvm_call(module, "f", args, 2, &result, &error) && spmdvm_as_float(result) == 3.5f);
    spmdvm_module_free(module);
    options.n_hosts = 1;
    module = spmdvm_compile("f.ispc", program, sizeof program - 1, &options, &error);
    CHECK(module && !spmdvm_call(module, "f", args, 2, &result, &error));
    CHECK(strcmp(spmdvm_error_code(error), "E0233") == 0);
    spmdvm_error_free(error), error = NULL;
    spmdvm_module_free(module);
    if (files) {
        module = spmdvm_compile_files(files, 2, NULL, &error);
        CHECK(module && spmdvm_n_exports(module) == 1);
        args[0] = spmdvm_i32(20);
        CHECK(spmdvm_call(module, "f", args, 1, &result, &error) && result.bits == 41);
        spmdvm_module_free(module);
    }
}

static void compiling(void) {
    spmdvm_error *error = NULL;
    spmdvm_options options;
    const char *defines[] = {"N=3", "FLAG"};
    const char *good = "export uniform int f() { return N + FLAG; }";
    const char *wrong = "export void f() {\n  x = 1; }";
    spmdvm_value result = {SPMDVM_NOTHING, SPMDVM_BOOL, 0, NULL, 0};
    spmdvm_module *module;
    memset(&options, 0, sizeof options);
    options.width = 8;
    options.engine = "interp";
    options.fp = "strict";
    options.defines = defines;
    options.n_defines = 2;
    options.fuel = 1000;
    options.timeout = 10;
    options.memory = 1 << 20;
    options.task_threads = 1;
    module = spmdvm_compile("f.ispc", good, strlen(good), &options, &error);
    CHECK(module && !error);
    CHECK(spmdvm_width(module) == 8 && strcmp(spmdvm_engine(module), "interp") == 0);
    CHECK(strcmp(spmdvm_warnings(module), "") == 0);
    CHECK(spmdvm_n_exports(module) == 1 && strcmp(spmdvm_export_name(module, 0), "f") == 0);
    CHECK(strcmp(spmdvm_export_declaration(module, 0), "export uniform int f()") == 0);
    CHECK(!spmdvm_export_name(module, 1) && !spmdvm_export_declaration(module, 1));
    CHECK(spmdvm_call(module, "f", NULL, 0, &result, &error));
    CHECK(result.kind == SPMDVM_SCALAR && result.type == SPMDVM_INT32 && result.bits == 4);
    spmdvm_module_free(module);

    CHECK(!spmdvm_compile("f.ispc", wrong, strlen(wrong), NULL, &error));
    CHECK(spmdvm_error_get_kind(error) == SPMDVM_ERROR_COMPILE && strstr(spmdvm_error_message(error), "`x`"));
    CHECK(spmdvm_error_code(error)[0] == 'E' && spmdvm_error_line(error) == 2);
    CHECK(strcmp(spmdvm_error_file(error), "f.ispc") == 0);
    spmdvm_error_free(error), error = NULL;
    options.width = 7;
    CHECK(!spmdvm_compile("f.ispc", good, strlen(good), &options, &error));
    CHECK(strcmp(spmdvm_error_message(error), "width is 7, no power of two from 1 to 64") == 0);
    spmdvm_error_free(error), error = NULL;
    CHECK(!spmdvm_compile(NULL, good, strlen(good), NULL, &error));
    CHECK(strcmp(spmdvm_error_message(error), "name is NULL") == 0);
    spmdvm_error_free(error), error = NULL;
    CHECK(!spmdvm_compile_file("no/such/file.ispc", NULL, &error));
    CHECK(spmdvm_error_get_kind(error) == SPMDVM_ERROR_COMPILE);
    spmdvm_error_free(error), error = NULL;
    CHECK(!spmdvm_compile_file("no/such/file.ispc", NULL, NULL));
    spmdvm_error_free(NULL);
    spmdvm_module_free(NULL);
    CHECK(spmdvm_error_message(NULL)[0] == 0 && spmdvm_n_exports(NULL) == 0 && spmdvm_version()[0] == '0');
}

static void calling(spmdvm_module *module) {
    spmdvm_error *error = NULL;
    float pair[2] = {1, 2}, swapped[2], lanes[64], values[3] = {5, 6, 7};
    int32_t numbers[5] = {1, 2, 3, 4, 5}, results[5];
    struct {
        uint64_t x;
        int64_t n;
    } span;
    size_t i, bytes = 0;
    char said[100] = "";
    int32_t *calls;
    spmdvm_value args[3], result = spmdvm_room(swapped, sizeof swapped), out;

    args[0] = spmdvm_const_array(pair, sizeof pair);
    CHECK(spmdvm_call(module, "swapped", args, 1, &result, &error));
    CHECK(result.kind == SPMDVM_ARRAY && swapped[0] == 2 && swapped[1] == 1);
    result = spmdvm_room(swapped, 4);
    CHECK(!spmdvm_call(module, "swapped", args, 1, &result, &error));
    CHECK(strcmp(spmdvm_error_message(error), "the result has 8 bytes, and there is room for 4") == 0);
    spmdvm_error_free(error), error = NULL;
    calls = (int32_t *)spmdvm_global(module, "calls", &bytes, &error);
    CHECK(calls && bytes == 4 && *calls == 2);

    args[0] = spmdvm_pointer(0);
    for (i = 1; i <= 10; ++i) {
        args[1] = spmdvm_i32((int32_t)i);
        CHECK(spmdvm_call(module, "push", args, 2, &result, &error) && result.kind == SPMDVM_POINTER);
        args[0] = spmdvm_pointer(result.bits);
    }
    CHECK(spmdvm_call(module, "total", args, 1, &result, &error) && result.bits == 55);
    args[0] = spmdvm_pointer(12345);
    CHECK(!spmdvm_call(module, "total", args, 1, &result, &error));
    CHECK(spmdvm_error_get_kind(error) == SPMDVM_ERROR_TRAP && spmdvm_error_line(error) == 15);
    CHECK(strcmp(spmdvm_error_code(error), "null_pointer") == 0);
    spmdvm_error_free(error), error = NULL;

    args[0] = spmdvm_i32(1);
    CHECK(!spmdvm_call(module, "look", args, 1, &result, &error));
    CHECK(strcmp(spmdvm_error_code(error), "unbound_extern") == 0);
    spmdvm_error_free(error), error = NULL;
    CHECK(spmdvm_supply(module, "table", values, sizeof values, &error));
    CHECK(spmdvm_call(module, "look", args, 1, &result, &error) && spmdvm_as_float(result) == 6);
    CHECK(!spmdvm_global(module, "table", &bytes, NULL) && !spmdvm_global(module, "nothing", &bytes, NULL));
    CHECK(spmdvm_supply(module, "table", NULL, 0, &error));
    CHECK(!spmdvm_call(module, "look", args, 1, &result, NULL));

    args[0] = spmdvm_f64(5);
    CHECK(spmdvm_call(module, "half", args, 1, &result, &error) && spmdvm_as_double(result) == 2.5);
    args[0] = spmdvm_bool(true);
    CHECK(spmdvm_call(module, "negated", args, 1, &result, &error) && result.bits == 0);
    args[0] = spmdvm_i8(-1);
    CHECK(args[0].bits == 255 && spmdvm_i16(-1).bits == 0xffff && spmdvm_i64(-1).bits == UINT64_MAX);
    CHECK(spmdvm_u8(1).bits + spmdvm_u16(1).bits + spmdvm_u32(1).bits + spmdvm_u64(1).bits == 4);
    CHECK(!spmdvm_call(module, "half", args, 1, &result, &error));
    CHECK(spmdvm_error_get_kind(error) == SPMDVM_ERROR_ARGUMENT);
    CHECK(strcmp(spmdvm_error_message(error), "half(): `x` expects a scalar of type f64, but was given a scalar of type i8") == 0);
    spmdvm_error_free(error), error = NULL;
    CHECK(!spmdvm_call(module, "hlaf", args, 1, &result, &error) && strstr(spmdvm_error_message(error), "`half`"));
    spmdvm_error_free(error), error = NULL;

    args[0] = spmdvm_f32(0.5f);
    result = spmdvm_room(lanes, sizeof lanes);
    CHECK(spmdvm_call(module, "lanes", args, 1, &result, &error) && result.kind == SPMDVM_LANES);
    CHECK(result.bytes == 4 * spmdvm_width(module) && lanes[3] == 3.5f);
    args[0] = result;
    result = spmdvm_room(lanes, sizeof lanes);
    CHECK(spmdvm_call(module, "lanes", args, 1, &result, &error) && lanes[3] == 6.5f);

    args[0] = spmdvm_const_array(numbers, sizeof numbers);
    args[1] = spmdvm_i32(10);
    out = spmdvm_array(results, sizeof results);
    CHECK(spmdvm_map(module, "scaled", args, 2, 5, &out, &error) && results[0] == 11 && results[4] == 51);
    args[2] = spmdvm_i32(7);
    CHECK(spmdvm_map(module, "scaled", args, 3, 5, &out, &error) && results[4] == 57);
    CHECK(!spmdvm_map(module, "scaled", args, 2, 6, &out, &error));
    CHECK(strcmp(spmdvm_error_message(error), "scaled(): `x` expects 6 elements of type i32, 24 bytes, not 20") == 0);
    spmdvm_error_free(error), error = NULL;

    span.x = spmdvm_bind(module, values, sizeof values, true, &error);
    span.n = 3;
    args[0] = spmdvm_const_array(&span, sizeof span);
    CHECK(span.x && spmdvm_call(module, "sum", args, 1, &result, &error) && spmdvm_as_float(result) == 18);
    spmdvm_unbind(module, span.x);
    CHECK(!spmdvm_call(module, "sum", args, 1, &result, &error));
    CHECK(strcmp(spmdvm_error_code(error), "bad_pointer") == 0);
    spmdvm_error_free(error), error = NULL;

    spmdvm_set_print(module, keep, said);
    args[0] = spmdvm_i32(42);
    CHECK(spmdvm_call(module, "say", args, 1, NULL, &error) && strcmp(said, "n = 42\n") == 0);
    spmdvm_set_print(module, NULL, NULL);

    spmdvm_interrupt(module, true);
    CHECK(!spmdvm_call(module, "spin", NULL, 0, NULL, &error));
    CHECK(strcmp(spmdvm_error_code(error), "interrupted") == 0);
    spmdvm_error_free(error), error = NULL;
    spmdvm_interrupt(module, false);
    CHECK(spmdvm_call(module, "say", args, 1, NULL, &error));
}

int main(int argc, char **argv) {
    spmdvm_error *error = NULL;
    spmdvm_module *module = spmdvm_compile("all.ispc", source, sizeof source - 1, NULL, &error);
    CHECK(module);
    compiling();
    calling(module);
    spmdvm_module_free(module);
    hosts(argc > 3 ? (const char *const *)argv + 2 : NULL);
    if (argc > 1) {
        module = spmdvm_compile_file(argv[1], NULL, &error);
        CHECK(module && spmdvm_n_exports(module) == 2);
        spmdvm_module_free(module);
    }
    puts("all is well");
    return 0;
}
