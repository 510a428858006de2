// What is `static` cannot come from another file.
static uniform int later(uniform int x);
template <typename T> T never(T x);
export uniform int f() {
    return later(1); //~ error: E0233
}
export int g() {
    return never<int>(programIndex); //~ error: E0233
}
