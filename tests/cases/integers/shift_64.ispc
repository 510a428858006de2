// 64-bit shifts take counts up to 63.
//~ run: f() out[i] == i64(1 << i)
export void f(uniform int64 out[]) {
    foreach (i = 0 ... 64) {
        int64 one = 1;
        out[i] = one << i;
    }
}
