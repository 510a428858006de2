// A lane's pointer becomes the call's: copies of rows, each by all lanes.
//~ run: f(from=iota) to[i] == (i < 60 && i / 20 < W && i / 20 != 1 ? i : 0)
static void copy(const uniform int * uniform s, uniform int * uniform d, uniform int n) {
    foreach (k = 0 ... n) d[k] = s[k];
}
export void f(uniform int from[], uniform int to[]) {
    uniform int * row = &from[programIndex * 20];
    if (programIndex < 3 && programIndex != 1) crev copy(row, &to[programIndex * 20], 20);
}
