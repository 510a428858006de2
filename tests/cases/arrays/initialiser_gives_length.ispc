// Without a length the initialiser gives it.
//~ run: f() result == 4 * 4 + 40
export uniform int f() {
    uniform int t[] = { 10, 20, 30, 40 };
    return sizeof(t) + t[3];
}
