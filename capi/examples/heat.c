/* Heat spreads along a rod: SPMD code that calls functions of the C program it is part of.
 *
 *     cargo build --release -p spmdvm-capi
 *     cc capi/examples/heat.c -Icapi/include -Ltarget/release -lspmdvm -Wl,-rpath,target/release -o heat
 */
#include <spmdvm.h>
#include <stdio.h>

static const char source[] =
    "extern \"C\" uniform float left_end(uniform float time);\n"
    "extern \"C\" uniform bool show(uniform float time, const uniform float *uniform rod, uniform int n);\n"
    "export uniform int simulate(uniform float rod[], uniform float next[], uniform int n) {\n"
    "    uniform float *uniform now = rod, *uniform then = next;\n"
    "    for (uniform int step = 0;; ++step) {\n"
    "        uniform float time = step * 0.01f;\n"
    "        now[0] = left_end(time);\n"
    "        if (step % 2500 == 0 && !show(time, now, n)) return step;\n"
    "        foreach (i = 1 ... n - 1) then[i] = now[i] + 0.4f * (now[i - 1] - 2 * now[i] + now[i + 1]);\n"
    "        then[n - 1] = then[n - 2];\n"
    "        uniform float *uniform last = now;\n"
    "        now = then;\n"
    "        then = last;\n"
    "    }\n"
    "}\n";

enum { LENGTH = 64 };

/* How hot the rod's left end is held: it is heated for a while. */
static float left_end(float time) { return time < 100 ? 1.0f : 0.0f; }

/* Draws the rod. Returns whether to go on. */
static bool show(float time, const float *rod, int32_t n) {
    static const char shades[] = " .:-=+*#%@";
    printf("%4.0f s |", time);
    for (int32_t i = 0; i < n; ++i) putchar(shades[(int)(rod[i] * 9.99f)]);
    printf("|\n");
    return time < 200;
}

int main(void) {
    const spmdvm_host functions[] = {{"left_end", (void (*)(void))left_end}, {"show", (void (*)(void))show}};
    float rod[LENGTH] = {0}, next[LENGTH] = {0};
    spmdvm_options options = {0};
    spmdvm_error *error = NULL;
    spmdvm_value steps;
    options.hosts = functions;
    options.n_hosts = 2;
    spmdvm_module *module = spmdvm_compile("heat.ispc", source, sizeof source - 1, &options, &error);
    spmdvm_value args[] = {spmdvm_array(rod, sizeof rod), spmdvm_array(next, sizeof next), spmdvm_i32(LENGTH)};
    if (!module || !spmdvm_call(module, "simulate", args, 3, &steps, &error)) {
        fprintf(stderr, "%s\n", spmdvm_error_message(error));
        spmdvm_error_free(error);
        spmdvm_module_free(module);
        return 1;
    }
    printf("%llu steps\n", (unsigned long long)steps.bits);
    spmdvm_module_free(module);
    return 0;
}
