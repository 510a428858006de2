// `struct T;` says nothing new where `T` is another name of a struct.
//~ run: f() result == 6
struct Col3 { float r, g, b; };
typedef Col3 Color;
struct Color;
static uniform float sum(const uniform struct Color &c) { return c.r + c.g + c.b; }
export uniform float f() {
    uniform Color c = { 1, 2, 3 };
    return sum(c);
}
