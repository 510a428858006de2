// A function may be declared to give or take a struct that is defined later.
//~ run: f() result == 12
struct Box;
struct Box make(uniform int side);
uniform int volume(const struct Box box, uniform int lane);
struct Box { int x, y; };
static uniform int twice(uniform int lane) { return volume(make(2), lane) * 2; }
struct Box make(uniform int side) { Box b = { side, side + 1 }; return b; }
uniform int volume(const Box box, uniform int lane) { return extract(box.x * box.y, lane); }
export uniform int f() { return twice(0); }
