// __LINE__ is the line.
//~ run: f() result == 4
export uniform int f() {
    return __LINE__;
}
