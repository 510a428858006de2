// Loops over local arrays whose length is not a multiple of the gang's: the last lanes stay out of them and of what lies behind.
//~ run: f(n=200) out[0] == 82500; out[1] == 7; out[2] == 9; out[3] == 209
struct Boxed {
    uniform int before;
    uniform int a[21];
    uniform int after;
};
export void f(uniform int n, uniform int out[]) {
    uniform int sum = 0;
    uniform Boxed box;
    for (uniform int r = 0; r < n; ++r) {
        uniform int few[3];
        box.before = 7;
        box.after = 9;
        foreach (j = 0 ... 21) box.a[j] = j + r;
        foreach (j = 0 ... 3) few[j] = box.a[18 + j] - box.a[j];
        foreach (j = 0 ... 3) few[j] += 2 * box.a[j + 9];
        int part = 0;
        foreach (j = 0 ... 3) part += few[j] - r;
        sum += reduce_add(part);
    }
    out[0] = sum;
    out[1] = box.before;
    out[2] = box.after;
    out[3] = box.a[10];
}
