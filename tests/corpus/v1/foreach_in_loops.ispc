// foreach in a uniform loop, with a variable that is carried on.
export void f(uniform int out[], uniform int n) {
    uniform int total = 0;
    for (uniform int round = 1; round <= 3; ++round) {
        int sum = 0;
        foreach (i = 0 ... n) {
            out[i] += round * i;
            sum += out[i];
        }
        total += (uniform int)reduce_add(sum);
    }
    out[n] = total;
}
// call: f(out=zeros:i32:22, n=21)
