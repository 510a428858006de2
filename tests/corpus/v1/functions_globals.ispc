// Globals, uniform and varying, and static locals; each call starts anew.
uniform int counter = 3;
varying int state;
const uniform int table[4] = { 2, 3, 5, 7 };
uniform int tick() {
    static uniform int ticks = 10;
    ++ticks;
    return ticks;
}
export void f(uniform int out[]) {
    state = programIndex;
    if (programIndex > 1) state += table[programIndex & 3];
    ++counter;
    out[programIndex] = state * 100 + counter + tick() + tick();
}
// call: f(out=zeros:i32:16)
