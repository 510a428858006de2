// Every lane of every task adds, to one place and to several, integers and floats.
//~ run: f(out=zeros:9, sum=zeros:1) out[i] == (i < 8 ? 50 * W : 0); sum[0] == 200 * W
task void count(uniform int out[], uniform float sum[]) {
    for (uniform int k = 0; k < 8; ++k) {
        const int i = (programIndex + k) % 8;
        atomic_add_global(&out[i], 1);
        if (k % 2 == 0) atomic_add_global(&sum[0], (varying float)1);
    }
}
export void f(uniform int out[], uniform float sum[]) {
    launch[50] count(out, sum);
}
