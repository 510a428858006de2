/* Draws the Mandelbrot set as text: a C program that compiles and calls SPMD code.
 *
 *     cargo build --release -p spmdvm-capi
 *     cc capi/examples/mandelbrot.c -Icapi/include -Ltarget/release -lspmdvm -Wl,-rpath,target/release -o mandelbrot
 */
#include <spmdvm.h>
#include <stdio.h>

static const char source[] =
    "struct View { uniform float<2> center; uniform float size; };\n"
    "export uniform View zoomed(uniform View view, uniform float factor) { view.size /= factor; return view; }\n"
    "export void draw(const uniform View &view, uniform int width, uniform int height, uniform int8 out[]) {\n"
    "    for (uniform int y = 0; y < height; ++y)\n"
    "        foreach (x = 0 ... width) {\n"
    "            float cx = view.center.x + view.size * ((x + 0.5f) / width - 0.5f);\n"
    "            float cy = view.center.y + view.size * ((y + 0.5f) / height - 0.5f);\n"
    "            float re = cx, im = cy;\n"
    "            int n = 0;\n"
    "            for (; n < 99 && re * re + im * im < 4; ++n) {\n"
    "                float next = re * re - im * im + cx;\n"
    "                im = 2 * re * im + cy;\n"
    "                re = next;\n"
    "            }\n"
    "            out[y * width + x] = n;\n"
    "        }\n"
    "}\n";

/* Laid out as the program has it: a short vector of two floats takes the room of four. */
typedef struct {
    float center[4];
    float size;
    float padding[3];
} View;

enum { WIDTH = 72, HEIGHT = 24 };

int main(void) {
    static const char shades[] = " .:-=+*#%@";
    View view = {{-0.7f, 0}, 5, {0}}, zoomed;
    int8_t rounds[HEIGHT][WIDTH];
    spmdvm_error *error = NULL;
    spmdvm_module *module = spmdvm_compile("mandelbrot.ispc", source, sizeof source - 1, NULL, &error);
    spmdvm_value zoom[] = {spmdvm_const_array(&view, sizeof view), spmdvm_f32(1.8f)};
    spmdvm_value room = spmdvm_room(&zoomed, sizeof zoomed);
    spmdvm_value draw[] = {spmdvm_const_array(&zoomed, sizeof zoomed), spmdvm_i32(WIDTH), spmdvm_i32(HEIGHT),
                           spmdvm_array(rounds, sizeof rounds)};
    if (!module || !spmdvm_call(module, "zoomed", zoom, 2, &room, &error) ||
        !spmdvm_call(module, "draw", draw, 4, NULL, &error)) {
        fprintf(stderr, "%s\n", spmdvm_error_message(error));
        spmdvm_error_free(error);
        spmdvm_module_free(module);
        return 1;
    }
    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = 0; x < WIDTH; ++x) putchar(shades[rounds[y][x] / 10]);
        putchar('\n');
    }
    spmdvm_module_free(module);
    return 0;
}
