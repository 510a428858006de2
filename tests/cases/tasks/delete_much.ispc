// Tasks free more than may wait for the others: who frees waits until those have let go of it, in compiled code too.
//~ run: f(n=90) out[i] == (i < 4 ? 90 * 89 / 2 + 90 * i : 0)
task void churn(uniform int out[], uniform int n) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform p = uniform new uniform int[65536];
        p[i * 700] = i;
        p[65535 - i] = 0;
        s += p[i * 700] + p[65535 - i] + taskIndex;
        delete[] p;
    }
    out[taskIndex] = s;
}

export void f(uniform int out[], uniform int n) {
    launch[4] churn(out, n);
}
