// Fields of records whose numbers lie in a row, up and down, under masks, with a constant taken away: each is what it would be alone.
//~ run: f(a=iota:200) out[i] == (i < 48 ? (i % 3 == 1 ? -1 : 7 * i + 4 * (47 - i) + 3) : 0)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 48) {
        int up = a[i + 1], down = a[47 - i];
        int sum = -1;
        if (i % 3 != 1) {
            sum = a[up * 3 - 3] + a[3 * up - 2] + a[(up - 1) * 3 + 2] - 2 * a[up - 1];
            sum += 2 * a[down * 2] - a[down * 3 + 1] + a[3 * down + 1];
        }
        out[i] = sum;
    }
}
