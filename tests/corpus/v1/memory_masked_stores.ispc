// Lanes that are off leave memory as it is.
export void f(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        if (i % 4 == 1) out[i] = -i;
        else if (i % 4 == 3) out[i ^ 1] += 50;
    }
}
// call: f(out=iota:i32:28, n=28)
