// Loads in a side of `?:` happen only in its lanes: each array has only the elements that are asked for.
//~ run: f(lo=fill(i + 100):10, hi=fill(i + 200):54) out[i] == (i < 10 ? i + 100 : i - 10 + 200)
export void f(uniform int lo[], uniform int hi[], uniform int out[]) {
    foreach (i = 0 ... 64)
        out[i] = i < 10 ? lo[i] : hi[i - 10];
}
