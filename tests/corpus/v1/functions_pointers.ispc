// Functions as values, one for the gang.
typedef int (*Step)(int, uniform int);
int plus(int x, uniform int k) { return x + k; }
int minus(int x, uniform int k) { return x - k; }
export void f(uniform int out[], uniform int n) {
    int x = programIndex;
    for (uniform int i = 0; i < n; ++i) {
        uniform Step step = plus;
        if (i % 3 == 0) step = minus;
        x = step(x, i * i);
    }
    out[programIndex] = x;
}
// call: f(out=zeros:i32:16, n=8)
