uniform int later(uniform int x);
export uniform int f() {
    return later(1); //~ error: E0233
}
