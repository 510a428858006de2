// Each lane recurses as deep as it needs.
int fib(int n) {
    if (n < 2) return n;
    return fib(n - 1) + fib(n - 2);
}
uniform int sum_to(uniform int n) {
    if (n <= 0) return 0;
    return n + sum_to(n - 1);
}
int depth(int n) {
    if (n <= 0) return 0;
    return 1 + depth(n / 2);
}
export void f(uniform int out[]) {
    out[programIndex] = depth(programIndex * 5) * 100 + sum_to(10);
    if (programIndex < 4) out[programIndex] += fib(programIndex + 3) * 1000;
}
// call: f(out=zeros:i32:16)
