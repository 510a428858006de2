// A static local array keeps what is written.
//~ run: f() result == 1
//~ run: f() result == 2
export uniform int f() {
    static uniform int t[2];
    t[1] += 1;
    return t[1];
}
